//! The arguments of functions that read.

use std::collections::BTreeMap;

use otlp_profiles::detect::Endpoint;
use otlp_profiles::{Ambiguity, Format, Limits, Policy, ReadOptions, WriteOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Failure;

/// The argument `limits`: a preset, changes of the default, or both by default.
#[derive(FromPyObject)]
pub(crate) enum LimitsArg {
    Preset(String),
    Changes(BTreeMap<String, u64>),
}

/// The options of a read, and the limits of a write after it.
#[derive(Clone)]
pub(crate) struct Options {
    read: ReadOptions,
    /// The limits if the caller chose a preset.
    preset: Option<Limits>,
    changes: BTreeMap<String, u64>,
}

impl Options {
    pub(crate) fn new(
        format: Option<&str>,
        endpoint: Option<&str>,
        repair: bool,
        guess: bool,
        limits: Option<LimitsArg>,
    ) -> PyResult<Self> {
        let format = format.map(parse_format).transpose()?;
        let endpoint = endpoint.map(str::parse::<Endpoint>).transpose().map_err(Failure::from)?;
        let policy = if repair { Policy::Repair } else { Policy::Refuse };
        let ambiguity = if guess { Ambiguity::Prefer } else { Ambiguity::Refuse };
        let read = ReadOptions::default().format(format).endpoint(endpoint);
        let read = read.policy(policy).ambiguity(ambiguity);
        Self { read, ..Self::limited(limits)? }.checked()
    }

    /// The default options, with these limits.
    pub(crate) fn limited(limits: Option<LimitsArg>) -> PyResult<Self> {
        let (preset, changes) = match limits {
            None => (None, BTreeMap::new()),
            Some(LimitsArg::Preset(name)) => (Some(preset(&name)?), BTreeMap::new()),
            Some(LimitsArg::Changes(changes)) => (None, changes),
        };
        Self { read: ReadOptions::default(), preset, changes }.checked()
    }

    fn checked(self) -> PyResult<Self> {
        let known = |name: &&String| {
            *name == EXPANDED || set(&mut Limits::network(), name.as_str(), 0).is_some()
        };
        match self.changes.keys().find(|name| !known(name)) {
            None => Ok(self),
            Some(name) => {
                let message = format!("unknown limit {name:?}; the limits are {NAMES}, {EXPANDED}");
                Err(PyValueError::new_err(message))
            }
        }
    }

    /// The limits: larger by default for files, which the user chose, than for bytes, which may come from anywhere.
    pub(crate) fn limits(&self, is_file: bool) -> Limits {
        let default = if is_file { Limits::file() } else { Limits::network() };
        let mut limits = self.preset.unwrap_or(default);
        for (name, value) in &self.changes {
            set(&mut limits, name, *value);
        }
        limits
    }

    pub(crate) fn read(&self, is_file: bool) -> ReadOptions {
        self.read.clone().limits(self.limits(is_file))
    }

    pub(crate) fn format(&self) -> Option<Format> {
        self.read.format
    }

    pub(crate) fn write(&self) -> WriteOptions {
        let mut options = WriteOptions::default();
        options.max_output_bytes = self.limits(true).max_output_bytes;
        if let Some(samples) = self.changes.get(EXPANDED) {
            options.max_expanded_samples = *samples;
        }
        options
    }
}

/// A limit of writing that is not one of reading.
const EXPANDED: &str = "max_expanded_samples";

macro_rules! limits {
    ($first:ident $($name:ident)*) => {
        const NAMES: &str = concat!(stringify!($first) $(, ", ", stringify!($name))*);

        /// Sets a limit by name; `None` if there is no such limit.
        fn set(limits: &mut Limits, name: &str, value: u64) -> Option<()> {
            match name {
                stringify!($first) => limits.$first = value,
                $(stringify!($name) => limits.$name = value,)*
                _ => return None,
            }
            Some(())
        }
    };
}

limits! {
    max_input_bytes max_decompressed_bytes max_gzip_members max_nesting max_samples max_strings max_table_entries
    max_string_bytes max_stack_depth max_lines_per_location max_attributes_per_item max_owned_bytes
    max_owned_per_byte max_output_bytes
}

fn preset(name: &str) -> PyResult<Limits> {
    match name {
        "network" => Ok(Limits::network()),
        "file" => Ok(Limits::file()),
        "unlimited" => Ok(Limits::unlimited()),
        _ => {
            let message = format!("limits is network, file, unlimited or a mapping, not {name:?}");
            Err(PyValueError::new_err(message))
        }
    }
}

pub(crate) fn parse_format(name: &str) -> PyResult<Format> {
    Ok(name.parse::<Format>().map_err(Failure::from)?)
}
