//! Detection is deterministic and does not depend on the order of fields.
#![no_main]

otlp_profiles_fuzz::target!("detect");
