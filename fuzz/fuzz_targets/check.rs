//! Both decoders of the checker agree, and fixes are complete.
#![no_main]

otlp_profiles_fuzz::target!("check");
