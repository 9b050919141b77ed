//! Filters and removed details keep the sum.
#![no_main]

otlp_profiles_fuzz::target!("strip");
