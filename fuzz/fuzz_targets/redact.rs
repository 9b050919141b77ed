//! Redaction keeps the sum and leaves no name.
#![no_main]

otlp_profiles_fuzz::target!("redact");
