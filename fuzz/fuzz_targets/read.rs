//! Readers of every format, with either policy.
#![no_main]

otlp_profiles_fuzz::target!("read");
