//! Files around a payload, and the options with which they are checked.

use super::edit::bytes;
use crate::check::{Options, Rule};
use crate::compression::{Level, deflate};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{Format, Receiver};
use crate::framing::{Framing, frame};

/// The bytes of a file, the options with which it is checked, and the same options as arguments of
/// `otlp-profiles validate`.
#[derive(Clone, Debug)]
pub struct File {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The options.
    pub options: Options,
    /// The arguments, such as `--from otlp-1.10`.
    pub arguments: Vec<String>,
}

impl File {
    /// Creates a file that is checked as a format.
    pub(super) fn new(bytes: Vec<u8>, format: Format) -> Self {
        let options = Options::default().format(format);
        Self { bytes, options, arguments: vec!["--from".to_owned(), format.name().to_owned()] }
    }

    /// Applies the steps of a case, separated by spaces: see the head of `cases.txt`.
    pub(super) fn apply(&mut self, steps: &str) -> Result<()> {
        for step in steps.split_ascii_whitespace() {
            let (name, value) = step.split_once('=').unwrap_or((step, ""));
            self.step(name, value).ok_or_else(|| {
                Error::new(ErrorKind::InvalidOption, format!("{step} is not a step of a case"))
            })?;
        }
        Ok(())
    }

    fn step(&mut self, name: &str, value: &str) -> Option<()> {
        let (at, hex) = value.split_once(':').unwrap_or((value, ""));
        match name {
            "gzip" => self.bytes = deflate(&self.bytes, Level::DEFAULT),
            "frame" => self.bytes = frame(Framing::LengthPrefixed, [&self.bytes]).ok()?,
            "cut" => self.bytes.truncate(self.bytes.len().checked_sub(value.parse().ok()?)?),
            "add" => self.bytes.extend(bytes(value).ok()?),
            "bytes" => self.bytes = bytes(value).ok()?,
            "text" => self.bytes = value.as_bytes().to_vec(),
            "repeat" => self.bytes = self.bytes.repeat(value.parse().ok()?),
            "halves" => {
                let (head, tail) = self.bytes.split_at(self.bytes.len() / 2);
                self.bytes = [head, tail].map(|half| deflate(half, Level::DEFAULT)).concat();
            }
            "insert" => {
                let at = self.place(at)?;
                self.bytes.splice(at..at, bytes(hex).ok()?);
            }
            "set" => {
                let (at, new) = (self.place(at)?, bytes(hex).ok()?);
                self.bytes.get_mut(at..at + new.len())?.copy_from_slice(&new);
            }
            "auto" => {
                self.options.format = None;
                self.arguments.clear();
            }
            "wire" => {
                self.options.wire = true;
                self.arguments.push("--wire".to_owned());
            }
            _ => self.option(name, value)?,
        }
        Some(())
    }

    /// Parses an offset: -1 is that of the last byte.
    fn place(&self, text: &str) -> Option<usize> {
        match text.strip_prefix('-') {
            Some(back) => self.bytes.len().checked_sub(back.parse().ok()?),
            None => text.parse().ok().filter(|at| *at <= self.bytes.len()),
        }
    }

    /// Sets an option: a flag of `validate` with underscores.
    fn option(&mut self, name: &str, value: &str) -> Option<()> {
        let limits = &mut self.options.limits;
        match name {
            "from" => {
                self.step("auto", "")?;
                self.options.format = Some(value.parse().ok()?);
            }
            "only" => self.options.only = vec![Rule::find(value)?],
            "for" => self.options.receiver = Some(value.parse::<Receiver>().ok()?),
            "max_findings" => self.options.max_findings = value.parse().ok()?,
            "max_gzip_members" => limits.max_gzip_members = value.parse().ok()?,
            "max_nesting" => limits.max_nesting = value.parse().ok()?,
            "max_input_bytes" => limits.max_input_bytes = value.parse().ok()?,
            "max_decompressed_bytes" => limits.max_decompressed_bytes = value.parse().ok()?,
            "max_samples" => limits.max_samples = value.parse().ok()?,
            "max_strings" => limits.max_strings = value.parse().ok()?,
            "max_table_entries" => limits.max_table_entries = value.parse().ok()?,
            "max_string_bytes" => limits.max_string_bytes = value.parse().ok()?,
            "max_stack_depth" => limits.max_stack_depth = value.parse().ok()?,
            "max_lines_per_location" => limits.max_lines_per_location = value.parse().ok()?,
            "max_attributes_per_item" => limits.max_attributes_per_item = value.parse().ok()?,
            "max_owned_bytes" => limits.max_owned_bytes = value.parse().ok()?,
            _ => return None,
        }
        self.arguments.extend([format!("--{}", name.replace('_', "-")), value.to_owned()]);
        Some(())
    }
}
