//! Tests of the public API in one binary, which links faster than forty.

mod alloc;
mod builder;
mod builder_add;
mod builder_alloc;
mod builder_inputs;
mod builder_keys;
mod builder_model;
mod circles;
#[cfg(feature = "columns")]
mod columns;
mod columns_files;
mod columns_large;
mod conformance;
mod corpus;
mod cost;
mod defects_read;
mod defects_write;
mod detect;
mod detect_large;
mod doc_examples;
mod edit;
mod events;
mod examples;
mod firefox;
mod folded;
mod foreign;
#[cfg(feature = "fuzzing")]
mod fuzzing;
mod hostile;
mod io_faults;
mod json;
mod json_mutants;
mod known_crashes;
mod layers;
mod layouts;
mod look;
mod losses;
mod losses_page;
mod many_profiles;
mod members;
mod memory;
mod null_row;
mod oracle;
mod orphans;
mod osprofiler;
mod otep_table;
mod peers;
mod pipelines;
mod profile_ids;
mod proto_facts;
mod reports;
mod response;
mod roundtrip;
mod send_sync;
mod serde;
#[cfg(feature = "columns")]
mod shapes;
mod sizes;
mod stream;
mod summary;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod tools;
mod transform;
mod transform_goldens;
mod unicode;
mod wrapped;

use support::alloc::Counting;

// Counts by thread, so that tests that measure memory can run in parallel.
#[global_allocator]
static COUNTING: Counting = Counting;
