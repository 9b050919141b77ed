//! The codec against prost, in every generation.
#![no_main]

otlp_profiles_fuzz::target!("diff_prost");
