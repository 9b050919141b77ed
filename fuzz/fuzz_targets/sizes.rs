//! Sizes of fields add up to the payload.
#![no_main]

otlp_profiles_fuzz::target!("sizes");
