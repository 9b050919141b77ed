//! Stages and formulas.
#![no_main]

otlp_profiles_fuzz::target!("pipeline");
