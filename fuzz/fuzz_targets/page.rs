//! Pages of `view` as input.
#![no_main]

otlp_profiles_fuzz::target!("page");
