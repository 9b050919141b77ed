//! Reading and writing twice gives the same bytes.
#![no_main]

otlp_profiles_fuzz::target!("roundtrip");
