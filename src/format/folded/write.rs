//! Writes folded stacks: one payload for each sample type.
//!
//! ```text
//! profiles ─► columns of one sample type ─► a payload each      samples.folded, cpu.folded …
//!               plain      a line for each distinct stack, with the sum of its values
//!               extended   a line for each sample, if labels are requested and any sample has some
//! ```
//!
//! Either all lines of all files are extended or none, so the output of a conversion has one form. Data that
//! a line cannot represent is a loss: sample types become file names at best, and frames become names.

use std::io::Write as _;

use crate::error::Result;
use crate::escape::folded_byte;
use crate::format::folded::attributes::write_text;
use crate::format::folded::dialect::UNKNOWN;
use crate::format::folded::line::{is_comment, is_extended};
use crate::format::lines::is_disguised;
use crate::format::tool_losses::{self, Column, SupportedData};
use crate::limits::within;
use crate::losses::{self, LossCode, Losses};
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{LinkId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::model::{FrameRef, Profiles};
use crate::tables::rows::seed::Seed;
use crate::write_options::WriteOptions;

/// Writes the profiles: columns of the same sample type share a payload.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes`.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let extended = options.folded_labels
        && profiles.iter().any(|profile| needs_extended_lines(profile, options.links));
    tool_losses::count_unsupported(
        profiles,
        SupportedData { samples: extended, ..SupportedData::default() },
        losses,
    );
    let mut spare = Some(spare);
    let mut payloads = Vec::new();
    for columns in tool_losses::by_type(profiles) {
        let out = spare.take().unwrap_or_default();
        // Profiles without samples leave no lines, so they count as merged, too.
        let empty = columns.iter().filter(|column| column.profile.samples.is_empty()).count();
        let merged = empty.max(columns.len() - 1) as u64;
        losses.add_many(losses::PROFILES_MERGED, merged, String::new);
        let mut writer = Writer::new(&profiles.dictionary, options, losses, out);
        for Column { profile, column, .. } in columns {
            writer.column(profile, column, extended)?;
        }
        payloads.push(writer.finish()?);
    }
    // Without sample types, an empty file represents the empty input.
    payloads.extend(spare.filter(|_| payloads.is_empty()));
    Ok(payloads)
}

/// Returns whether samples have data that only extended lines represent.
fn needs_extended_lines(profile: &Profile, links: bool) -> bool {
    let samples = &profile.samples;
    !samples.attributes.items.is_empty()
        || links && samples.links.iter().any(|link| *link != LinkId::NONE)
        || !samples.timestamps.items.is_empty()
}

/// Writes one payload.
///
/// Builds the text of each used stack once. Stacks with equal text share it: locations may differ in data
/// that a line omits, such as addresses.
struct Writer<'a, 'l> {
    dictionary: &'a Dictionary,
    options: &'a WriteOptions,
    losses: &'l mut Losses,
    /// The payload so far. A plain one is empty until all sums are known.
    out: Vec<u8>,
    /// The text number of each stack, or `None` until a sample uses it.
    texts: Vec<Option<u32>>,
    /// The distinct texts.
    distinct: Ragged<u8>,
    /// Text numbers by hash.
    by_text: RowIndex,
    seed: Seed,
    /// The sum of each text in a plain payload.
    ///
    /// It has 128 bits, so that it is clamped to 64 only once, at the end, with a loss.
    sums: Vec<i128>,
}

impl<'a, 'l> Writer<'a, 'l> {
    /// Creates a writer into `out`, which is empty and may have capacity.
    fn new(
        dictionary: &'a Dictionary,
        options: &'a WriteOptions,
        losses: &'l mut Losses,
        out: Vec<u8>,
    ) -> Self {
        Self {
            dictionary,
            options,
            losses,
            out,
            texts: vec![None; dictionary.stacks.len()],
            distinct: Ragged::default(),
            by_text: RowIndex::default(),
            seed: Seed::default(),
            sums: Vec::new(),
        }
    }

    /// Writes a column: a line for each sample, or adds its values to the sums of a plain payload.
    ///
    /// A sample with several values and no timestamps becomes several lines, because a line has one value for
    /// each timestamp or a single one.
    fn column(&mut self, profile: &Profile, column: usize, extended: bool) -> Result<()> {
        for sample in profile.samples.iter() {
            let text = self.text(sample.stack)?;
            if !extended {
                let value = profile.total(sample, column);
                self.sums[text as usize] += i128::from(value);
                continue;
            }
            let observed: Vec<_> = profile.observations(sample, column).collect();
            if sample.timestamps_unix_nano.is_empty() && observed.len() > 1 {
                self.losses.add(losses::SERIES_EXPANDED, String::new);
                observed.iter().for_each(|one| self.line(text, &sample, std::slice::from_ref(one)));
            } else {
                self.line(text, &sample, &observed);
            }
            self.check()?;
        }
        Ok(())
    }

    /// Checks the output limit, including the texts that are not written yet.
    fn check(&self) -> Result<()> {
        let bytes = (self.out.len() + self.distinct.items.len()) as u64;
        within("max_output_bytes", self.options.max_output_bytes, bytes)
    }

    /// Writes an extended line.
    ///
    /// If each observation counts 1, as in profiles of timestamps only, the line has their number instead,
    /// which the reader expands again.
    fn line(&mut self, text: u32, sample: &SampleRef, observed: &[(Option<u64>, i64)]) {
        let start = self.out.len();
        self.out.extend_from_slice(self.distinct.row(text as usize));
        self.out.push(b' ');
        let counted =
            sample.values.len() != observed.len() && observed.iter().all(|(_, value)| *value == 1);
        if observed.is_empty() || counted {
            decimal(&mut self.out, observed.len());
        } else {
            if sample.values.len() != observed.len() && observed.len() > 1 {
                self.losses.add(losses::VALUE_SPLIT, String::new);
            }
            list(&mut self.out, observed.iter().map(|(_, value)| value));
        }
        let has_attributes = self.attributes(sample);
        let times = sample.timestamps_unix_nano;
        if !times.is_empty() {
            self.out.extend_from_slice(if has_attributes { b" " } else { b" - " });
            // With 17 digits or more, the reader takes a timestamp for nanoseconds.
            for (at, time) in times.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                _ = write!(self.out, "{comma}{time:017}");
            }
        } else if !has_attributes && self.out.get(start..).is_some_and(is_extended) {
            self.out.extend_from_slice(b" -");
        }
        self.out.push(b'\n');
    }

    /// Writes the attributes and the link, and returns whether there were any.
    ///
    /// Sorts them by key, so the order of attributes does not matter. Drops a link if there are attributes
    /// with the same keys, because the reader rejects duplicate keys.
    fn attributes(&mut self, sample: &SampleRef) -> bool {
        let dictionary = self.dictionary;
        let rows = sample.attributes.iter().filter_map(|id| dictionary.attribute(*id));
        let mut pairs: Vec<(&[u8], &Attribute)> =
            rows.map(|row| (dictionary.strings.bytes(row.key), row)).collect();
        let link = dictionary.link(sample.link);
        let ids: [(&[u8], Attribute); 2] =
            [(b"trace_id", bytes_of(&link.trace_id)), (b"span_id", bytes_of(&link.span_id))];
        if sample.link != LinkId::NONE {
            let taken = pairs.iter().any(|(key, _)| ids.iter().any(|(id, _)| id == key));
            if !self.options.links {
                self.losses.add(losses::LINK_DROPPED, String::new);
            } else if taken {
                self.losses.add(losses::LINK_LABEL_CONFLICT, String::new);
            } else {
                pairs.extend(ids.iter().map(|(key, id)| (*key, id)));
            }
        }
        pairs.sort_by_key(|(key, _)| *key);
        let mut comma = b' ';
        for (key, attribute) in pairs {
            if let Value::Empty = attribute.value {
                self.lost(losses::ATTR_EMPTY, key);
                continue;
            }
            if attribute.unit != StringId::NONE {
                self.lost(losses::ATTR_UNIT_DROPPED, key);
            }
            self.out.push(comma);
            comma = b',';
            write_text(&mut self.out, key, true);
            self.out.push(b'=');
            self.value(key, &attribute.value);
        }
        comma == b','
    }

    /// Writes a value so that it reads back equal. A value without such a form becomes a string, with a loss.
    fn value(&mut self, key: &[u8], value: &Value) {
        let display = self.dictionary.value(value);
        match value {
            Value::String(text) => {
                write_text(&mut self.out, self.dictionary.strings.bytes(*text), false)
            }
            Value::Bytes(_) => _ = write!(self.out, "0x{display}"),
            Value::Bool(_) | Value::Int(_) => _ = write!(self.out, "{display}"),
            Value::Double(number) if number.is_finite() => _ = write!(self.out, "{display}"),
            Value::Double(_) => {
                self.lost(losses::ATTR_DOUBLE, key);
                write_text(&mut self.out, display.to_string().as_bytes(), false);
            }
            _ => {
                self.lost(losses::ATTR_KVLIST, key);
                write_text(&mut self.out, display.to_string().as_bytes(), false);
            }
        }
    }

    /// Counts a loss at an attribute.
    fn lost(&mut self, code: LossCode, key: &[u8]) {
        self.losses.add(code, || format!("attribute[{}]", String::from_utf8_lossy(key)));
    }

    /// Returns the number of a stack's text.
    ///
    /// # Errors
    ///
    /// The texts exceed 4 GiB or the output limit.
    fn text(&mut self, stack: StackId) -> Result<u32> {
        if let Some(Some(text)) = self.texts.get(stack.row()) {
            return Ok(*text);
        }
        // Before the text is built: a stack may repeat a long name thousands of times.
        let frames = self.dictionary.frames(stack).map(|frame| self.name(&frame).len() as u64 + 1);
        let bytes = frames.sum::<u64>() + self.out.len() as u64;
        within("max_output_bytes", self.options.max_output_bytes, bytes)?;
        let mut text = Vec::new();
        for frame in self.dictionary.frames(stack).rev() {
            if !text.is_empty() {
                text.push(b';');
            }
            self.frame(&frame, &mut text);
        }
        if text.is_empty() {
            self.losses.add(losses::STACK_EMPTY, String::new);
            text.extend_from_slice(UNKNOWN);
        }
        // A leading space distinguishes the line from a comment.
        if text.starts_with(b"#") && is_comment(&[&text, &b" 1"[..]].concat()) {
            self.losses.add(losses::FRAME_TEXT, || String::from_utf8_lossy(&text).into_owned());
            text.insert(0, b' ');
        }
        let hash = self.seed.bytes(&text);
        let found = self.by_text.find(hash, |row| self.distinct.row(row as usize) == text);
        let number = found.unwrap_or(self.sums.len() as u32);
        if found.is_none() {
            within(
                "max_output_bytes",
                u64::from(u32::MAX),
                (self.distinct.items.len() + text.len()) as u64,
            )?;
            self.distinct.push(&text);
            self.by_text.add(hash, number);
            self.sums.push(0);
            self.check()?;
        }
        if let Some(known) = self.texts.get_mut(stack.row()) {
            *known = Some(number);
        }
        Ok(number)
    }

    /// Returns the name of a frame, or else its system name.
    fn name(&self, frame: &FrameRef) -> &'a [u8] {
        let function = frame.function();
        let strings = &self.dictionary.strings;
        match (strings.bytes(function.name), strings.bytes(function.system_name)) {
            (b"", name) | (name, _) => name,
        }
    }

    /// Writes the name of a frame.
    ///
    /// Replaces a `;` or a line end in a name, which would split the frame or the line, with a loss. Prefers an address
    /// to no name.
    fn frame(&mut self, frame: &FrameRef, text: &mut Vec<u8>) {
        let name = self.name(frame);
        if name.is_empty() {
            match frame.address() {
                0 => text.extend_from_slice(UNKNOWN),
                address => _ = write!(text, "{address:#x}"),
            }
            return;
        }
        let mut altered = false;
        for byte in name {
            let safe = folded_byte(*byte);
            altered |= safe != *byte;
            text.push(safe);
        }
        if altered {
            self.losses.add(losses::FRAME_TEXT, || frame.to_string());
        }
    }

    /// Writes the sums of a plain payload, and ensures that the file is not taken for another format.
    ///
    /// A name may begin with the magic bytes of UTF-16, gzip or a framing.
    fn finish(mut self) -> Result<Vec<u8>> {
        // An extended payload already contains all its lines.
        let plain = self.out.is_empty();
        let numbers = 22 * self.sums.len();
        self.out.reserve_exact(if plain { self.distinct.items.len() + numbers } else { 0 });
        for (text, sum) in self.distinct.rows().zip(&self.sums).filter(|_| plain) {
            let value = i64::try_from(*sum).unwrap_or(if *sum < 0 { i64::MIN } else { i64::MAX });
            if i128::from(value) != *sum {
                self.losses
                    .add(losses::VALUE_OVERFLOW, || String::from_utf8_lossy(text).into_owned());
            }
            let start = self.out.len();
            self.out.extend_from_slice(text);
            self.out.push(b' ');
            decimal(&mut self.out, value);
            if self.options.folded_labels && self.out.get(start..).is_some_and(is_extended) {
                self.out.extend_from_slice(b" -");
            }
            self.out.push(b'\n');
        }
        if is_disguised(&self.out) {
            // After an empty line, the first bytes of a name have no special meaning.
            self.out.insert(0, b'\n');
        }
        within("max_output_bytes", self.options.max_output_bytes, self.out.len() as u64)?;
        Ok(self.out)
    }
}

/// Converts an id of a link to an attribute.
fn bytes_of(id: &[u8]) -> Attribute {
    let (key, unit) = Default::default();
    Attribute { key, value: Value::Bytes(id.into()), unit }
}

fn decimal(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    // Writing to memory does not fail.
    _ = write!(out, "{number}");
}

/// Writes numbers separated by commas.
fn list(out: &mut Vec<u8>, numbers: impl Iterator<Item: std::fmt::Display>) {
    for (at, number) in numbers.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        decimal(out, number);
    }
}
