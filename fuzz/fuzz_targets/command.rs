//! The command on any arguments, configuration and files.
#![no_main]

otlp_profiles_fuzz::target!("command");
