//! The checker: each rule fires where it is broken, and nowhere else.

#![cfg(feature = "proto-all")]

mod bases;
mod bend;
mod bytes;
mod cases;
mod docs;
mod hostile;
mod profcheck;
mod receivers;
mod tree;
#[path = "../support/profcheck_verdict.rs"]
mod verdict;
#[path = "../support/wire.rs"]
#[expect(dead_code, reason = "not all of it is wanted here")]
mod wire;
