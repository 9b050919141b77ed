//! Fixes keep all totals.
#![no_main]

otlp_profiles_fuzz::target!("fix");
