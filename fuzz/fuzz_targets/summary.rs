//! Summaries equal full readings.
#![no_main]

otlp_profiles_fuzz::target!("summary");
