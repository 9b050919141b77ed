//! A payload without errors is readable and writable.
#![no_main]

otlp_profiles_fuzz::target!("validate");
