//! Edits profiles: removes resources, profiles, sample types and samples, and changes attributes and strings.

mod attributes;
mod entities;
mod new_rows;
mod owners;
mod retain;
mod rewrite;
mod scope;
mod walk;

pub use crate::model::edit::attributes::{AttributesMut, Scalar};
pub use crate::model::edit::owners::AttributeOwner;
pub use crate::model::edit::rewrite::StringField;
