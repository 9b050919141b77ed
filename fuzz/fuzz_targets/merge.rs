//! Merging keeps the sum.
#![no_main]

otlp_profiles_fuzz::target!("merge");
