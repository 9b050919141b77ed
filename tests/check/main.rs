//! The checker: each rule fires where it is broken, and nowhere else.

#![cfg(all(feature = "fuzzing", feature = "proto-all"))]

mod baseline;
mod bases;
mod bytes;
mod canonical;
mod cases;
#[path = "../support/doc.rs"]
mod doc;
mod docs;
mod fix;
#[path = "../support/forms.rs"]
mod forms;
mod growth;
mod hints;
mod hostile;
mod json;
mod ours;
#[path = "../support/pprof.rs"]
mod pprof;
mod profcheck;
mod receivers;
#[path = "../support/sized.rs"]
#[expect(dead_code, reason = "no test of prefixes is here")]
mod sized;
mod tree;
mod twice;
#[path = "../support/profcheck_verdict.rs"]
mod verdict;
#[path = "../support/wire.rs"]
#[expect(dead_code, reason = "not all of it is wanted here")]
mod wire;
