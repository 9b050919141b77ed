//! Inflating against flate2.
#![no_main]

otlp_profiles_fuzz::target!("gunzip");
