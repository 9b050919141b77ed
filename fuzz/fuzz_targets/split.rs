//! The parts have the sum of the whole.
#![no_main]

otlp_profiles_fuzz::target!("split");
