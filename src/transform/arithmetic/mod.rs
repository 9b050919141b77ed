//! Arithmetic with the values of samples.

mod derive;
mod expression;

pub use derive::derive;
pub(super) use derive::{Sources, derive_types, number, whole};
pub use expression::Expression;
pub(super) use expression::Operands;
