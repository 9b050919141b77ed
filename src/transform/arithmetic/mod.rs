//! Arithmetic with the values of samples.

mod derive;
mod expression;

pub use derive::derive;
pub use expression::Expression;
