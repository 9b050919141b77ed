//! The builder against a naive model; its OTLP breaks no rule.
#![no_main]

otlp_profiles_fuzz::target!("builder");
