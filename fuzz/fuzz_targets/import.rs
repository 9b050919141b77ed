//! Files of a dataset in Parquet, with edits of bytes.
#![no_main]

otlp_profiles_fuzz::target!("import");
