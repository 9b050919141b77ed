//! The verdict does not depend on the order of fields and packing.
#![no_main]

otlp_profiles_fuzz::target!("wire_forms");
