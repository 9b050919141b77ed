//! The checker: each rule fires where it is broken, and nowhere else.

#![cfg(feature = "proto-all")]

mod bases;
mod bytes;
mod cases;
mod docs;
mod hostile;
mod receivers;
mod tree;
