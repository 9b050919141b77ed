//! Writing folded stacks: a payload for each kind of value.
//!
//! ```text
//! profiles ─► columns that measure the same ─► a payload each      samples.folded, cpu.folded …
//!               plain      a line for each distinct stack, with the sum of its values
//!               extended   a line for each sample, if labels are asked for and any sample has some
//! ```
//!
//! Whether lines are extended is decided for the whole input, so that all files of a conversion
//! have one form. What a line cannot say has a loss: types are names of files at best, and frames
//! are names.

use std::io::Write as _;

use crate::builder::seed::Seed;
use crate::error::Result;
use crate::format::folded::attributes::write_text;
use crate::format::folded::dialect::UNKNOWN;
use crate::format::folded::line::{is_comment, is_extended};
use crate::format::lines::is_disguised;
use crate::format::losses::{self, LossCode, Losses};
use crate::format::options::WriteOptions;
use crate::format::view::{self, Column, Says};
use crate::limits::within;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::{LinkId, StackId, StringId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::row_index::RowIndex;
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::model::{FrameRef, Profiles};

/// Writes the profiles: those that measure the same share a payload.
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
    let extended =
        options.folded_labels && profiles.iter().any(|profile| says_more(profile, options.links));
    view::unsaid(profiles, Says { samples: extended, ..Says::default() }, losses);
    let mut spare = Some(spare);
    let mut payloads = Vec::new();
    for columns in view::by_type(profiles) {
        let out = spare.take().unwrap_or_default();
        // What has no sample is not there, either.
        let empty = columns.iter().filter(|column| column.profile.samples.is_empty()).count();
        let merged = empty.max(columns.len() - 1) as u64;
        losses.add_many(losses::PROFILES_MERGED, merged, String::new);
        let mut writer = Writer::new(&profiles.dictionary, options, losses, out);
        for Column { profile, column, .. } in columns {
            writer.column(profile, column, extended)?;
        }
        payloads.push(writer.finish()?);
    }
    // A file without lines says that there is nothing.
    payloads.extend(spare.filter(|_| payloads.is_empty()));
    Ok(payloads)
}

/// Whether samples have what only extended lines say.
fn says_more(profile: &Profile, links: bool) -> bool {
    let samples = &profile.samples;
    !samples.attributes.items.is_empty()
        || links && samples.links.iter().any(|link| *link != LinkId::NONE)
        || !samples.timestamps.items.is_empty()
}

/// One payload.
///
/// Texts are made once for each stack that is used, and stacks that read alike share one: locations
/// differ by what a line does not say, such as addresses.
struct Writer<'a, 'l> {
    dictionary: &'a Dictionary,
    options: &'a WriteOptions,
    losses: &'l mut Losses,
    /// The payload so far; of a plain one nothing until all sums are known.
    out: Vec<u8>,
    /// The texts of stacks, by their rows as they are needed.
    ///
    /// By stack; none until a sample has it.
    texts: Vec<Option<u32>>,
    /// The texts that differ, end to end.
    distinct: Ragged<u8>,
    /// From the hash of a text to its number.
    by_text: RowIndex,
    seed: Seed,
    /// Of a plain payload: what was counted of each text.
    ///
    /// In 128 bits, so that a sum is cut to 64 once, at the end, with a loss.
    sums: Vec<i128>,
}

impl<'a, 'l> Writer<'a, 'l> {
    /// `out` is empty, and may have room.
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

    /// A column: a line for each sample, or where no line has more than a stack and a value, a sum for each stack.
    ///
    /// A sample of several values without times is several lines, as a line has one value for each
    /// timestamp or a single one.
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

    /// The limit of what is written, with the texts that are still to be.
    fn check(&self) -> Result<()> {
        let bytes = (self.out.len() + self.distinct.items.len()) as u64;
        within("max_output_bytes", self.options.max_output_bytes, bytes)
    }

    /// An extended line.
    ///
    /// Where each observation is worth 1, as in profiles of timestamps alone, their number stands
    /// for them, which is what reading takes for it.
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
            // So many digits are nanoseconds.
            for (at, time) in times.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                _ = write!(self.out, "{comma}{time:017}");
            }
        } else if !has_attributes && self.out.get(start..).is_some_and(is_extended) {
            self.out.extend_from_slice(b" -");
        }
        self.out.push(b'\n');
    }

    /// The attributes and the link, by their keys; whether there is any.
    ///
    /// Sorted, so the same sample is the same line in whatever order its attributes are. A link is
    /// left out where labels of its name are there: two of a key would be refused when reading.
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

    /// A value as reading takes it for the same; what has no such form is a text, and counted.
    fn value(&mut self, key: &[u8], value: &Value) {
        let said = self.dictionary.value(value);
        match value {
            Value::String(text) => {
                write_text(&mut self.out, self.dictionary.strings.bytes(*text), false)
            }
            Value::Bytes(_) => _ = write!(self.out, "0x{said}"),
            Value::Bool(_) | Value::Int(_) => _ = write!(self.out, "{said}"),
            Value::Double(number) if number.is_finite() => _ = write!(self.out, "{said}"),
            Value::Double(_) => {
                self.lost(losses::ATTR_DOUBLE, key);
                write_text(&mut self.out, said.to_string().as_bytes(), false);
            }
            _ => {
                self.lost(losses::ATTR_KVLIST, key);
                write_text(&mut self.out, said.to_string().as_bytes(), false);
            }
        }
    }

    /// Counts a loss at the attribute of a key.
    fn lost(&mut self, code: LossCode, key: &[u8]) {
        self.losses.add(code, || format!("attribute[{}]", String::from_utf8_lossy(key)));
    }

    /// The number of a stack's text among those that differ.
    ///
    /// # Errors
    ///
    /// More than 4 GiB of texts, or the limit of the output.
    fn text(&mut self, stack: StackId) -> Result<u32> {
        if let Some(Some(text)) = self.texts.get(stack.row()) {
            return Ok(*text);
        }
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

    /// The name of a frame, without what would end it.
    ///
    /// A `;` or a line end inside a name would make two frames or two lines of it, so it is
    /// replaced, with a loss. A name is preferred to the name of the linker, and an address to
    /// nothing.
    fn frame(&mut self, frame: &FrameRef, text: &mut Vec<u8>) {
        let function = frame.function();
        let strings = &self.dictionary.strings;
        let name = match (strings.bytes(function.name), strings.bytes(function.system_name)) {
            (b"", name) | (name, _) => name,
        };
        if name.is_empty() {
            match frame.address() {
                0 => text.extend_from_slice(UNKNOWN),
                address => _ = write!(text, "{address:#x}"),
            }
            return;
        }
        let mut altered = false;
        for byte in name {
            let safe = match byte {
                b';' => b':',
                b'\n' | b'\r' => b' ',
                byte => *byte,
            };
            altered |= safe != *byte;
            text.push(safe);
        }
        if altered {
            self.losses.add(losses::FRAME_TEXT, || frame.to_string());
        }
    }

    /// Writes the sums of a plain payload, and makes sure that the first line is taken for what it is.
    ///
    /// A name may begin with the mark of UTF-16, of gzip or of a frame, and a file with it would be
    /// read as such.
    fn finish(mut self) -> Result<Vec<u8>> {
        // Of an extended payload, every line is there.
        let plain = self.out.is_empty();
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
            // Behind an empty line, a name is a name whatever its bytes are.
            self.out.insert(0, b'\n');
        }
        within("max_output_bytes", self.options.max_output_bytes, self.out.len() as u64)?;
        Ok(self.out)
    }
}

/// An id of a link as an attribute, which is written as any other.
fn bytes_of(id: &[u8]) -> Attribute {
    let (key, unit) = Default::default();
    Attribute { key, value: Value::Bytes(id.into()), unit }
}

/// A number in decimal.
fn decimal(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    // Writing to memory does not fail.
    _ = write!(out, "{number}");
}

/// Numbers with commas between them.
fn list(out: &mut Vec<u8>, numbers: impl Iterator<Item: std::fmt::Display>) {
    for (at, number) in numbers.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        decimal(out, number);
    }
}
