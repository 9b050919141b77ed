//! Every format to every format.
#![no_main]

otlp_profiles_fuzz::target!("convert");
