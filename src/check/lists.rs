//! Lists of references to attributes: no key twice, no more than the limit, no reference to the null attribute.
//!
//! Lists of up to eight references, which nearly all are, are checked by a bit set of their keys; longer ones with
//! a hash table. Keys are compared by text, not by reference: two equal strings are one key.
//!
//! Profiles, samples, mappings and locations have such lists. The key of each row of the table is determined once
//! ([`attributes`]), so a reference costs one array access.

use super::catalogue::{OP5002, OP5012, OP5014, OP9010};
use super::context::{CheckContext, FEW};
use super::fields::Fields;
use super::findings::{Counted, Shown};
use super::record::Record;
use super::state::{Attribute, Class, KeyState, Map};
use crate::schema::{KEY_VALUE, KEY_VALUE_AND_UNIT, MessageKind, Table, Version};

/// The maximum number of attributes that an SDK records by default.
///
/// `AttributeCountLimit` of the specification's common part.
const USUAL: usize = 128;

/// Determines the key and the class of each row of the attribute tables.
///
/// Numbers keys in the order of their first occurrence; equal texts share a number. Uses two hash tables: by row of
/// the string, which answers nearly all lookups, and by text. Costs a scan over the headers of each row.
pub(crate) fn attributes<'a>(cx: &mut CheckContext<'a>) {
    let number = match cx.shapes.find(MessageKind::KeyValueAndUnit) {
        Some(_) => KEY_VALUE_AND_UNIT.number(cx.version, "key_strindex"),
        None => KEY_VALUE.number(cx.version, "key"),
    };
    let in_place = cx.version < Version::V1_8;
    let mut keys: Map<&[u8], u32> = Map::default();
    let mut states: Vec<KeyState> = Vec::new();
    let bytes = cx.bytes;
    let mut known = |place: Option<(usize, usize)>| match place {
        Some((start, end)) => {
            let text = bytes.get(start..end).unwrap_or_default();
            let key = *keys.entry(text).or_insert_with(|| {
                let text = (start as u32, end as u32);
                states.push(KeyState { text, ..KeyState::default() });
                states.len() as u32 - 1
            });
            // Two keys may share a bit. `Distinct` then rejects the list, and `all` compares the keys.
            Attribute { key, bit: 1 << (key % u64::BITS), class: class(text), kept: None }
        }
        None => Attribute { key: Attribute::NO_KEY, bit: 0, class: Class::Known, kept: None },
    };
    let rows = &cx.tables.rows[Table::Attribute as usize];
    let mut attributes: Vec<Attribute> = Vec::with_capacity(rows.len());
    // Cache by row: consecutive attributes mostly share a key, or refer to one string.
    let mut by_row: Map<u64, Attribute> = Map::default();
    for (start, end) in rows {
        let (start, end) = (*start as usize, *end as usize);
        attributes.push(match in_place {
            true => known(Some(text_field(bytes, number, start, end))),
            false => {
                let row = number_field(cx.bytes, number, start, end);
                *by_row.entry(row).or_insert_with(|| known(cx.tables.row(Table::String, row)))
            }
        });
    }
    // Row 0 is the null attribute since 1.8. Without a bit it always leads to `all`, which reports it.
    if let (Some(null), false) = (attributes.first_mut(), in_place) {
        null.bit = 0;
    }
    cx.payload.keys = states;
    cx.attributes = attributes;
}

/// The class of a key: whether other rules need it.
///
/// [`Class::Known`] keeps a row from passing without a look at its value. Every key that
/// [`conventions`](super::rules::conventions) checks must have it.
fn class(key: &[u8]) -> Class {
    match key {
        b"process.executable.build_id.htlhash" => Class::Htlhash,
        b"process.executable.build_id.gnu" | b"process.executable.build_id.go" => Class::BuildId,
        b"" | b"profile.frame.type" => Class::Known,
        _ if key.starts_with(b"pprof.") => Class::Known,
        _ if key.starts_with(b"process.executable.build_id.") => Class::Known,
        _ => Class::Other,
    }
}

/// The position of the text in the last field of a number, as decoders take it; an empty range if the field is
/// absent.
fn text_field(bytes: &[u8], wanted: u32, start: usize, end: usize) -> (usize, usize) {
    let fields = Fields::new(bytes, start, end).filter(|(number, _)| *number == wanted);
    fields.last().and_then(|(_, body)| body).unwrap_or((start, start))
}

/// The last value of a numeric field, as decoders take it; 0 if the field is absent.
pub(crate) fn number_field(bytes: &[u8], wanted: u32, start: usize, end: usize) -> u64 {
    let mut fields = Fields::new(bytes, start, end);
    let mut found = 0;
    while let Some((number, body)) = fields.next() {
        if number == wanted && body.is_none() {
            found = fields.number();
        }
    }
    found
}

/// Checks a list of references to attributes.
#[inline]
pub(crate) fn unique(cx: &mut CheckContext<'_>, record: &Record, cell: usize) {
    let count = record.count(cell);
    let most = cx.limits.max_attributes_per_item;
    let (mut distinct, mut rows) = (Distinct::default(), cx.numbers(record, cell));
    if count > FEW || count as u64 > most || rows.any(|row| distinct.add(cx, row).is_none()) {
        all(cx, record, cell, count);
    }
}

/// A set of references to attributes, with a bit for each key.
#[derive(Default)]
pub(crate) struct Distinct {
    keys: u64,
    pub(crate) len: usize,
}

impl Distinct {
    /// Adds a reference.
    ///
    /// Returns `None` for the null attribute (since 1.8), for a row that does not exist or has no key, and for a
    /// key that occurred before or shares its bit with one that did.
    #[inline]
    pub(crate) fn add(&mut self, cx: &CheckContext<'_>, row: u64) -> Option<()> {
        let key = cx.attributes.get(usize::try_from(row).ok()?)?.bit;
        let is_new = key & !self.keys != 0;
        (self.keys, self.len) = (self.keys | key, self.len + 1);
        is_new.then_some(())
    }
}

/// Checks a list in full, after the fast path found a possible violation.
///
/// The finding about a key points to the second reference and names the first.
#[cold]
#[inline(never)]
fn all(cx: &mut CheckContext<'_>, record: &Record, cell: usize, count: usize) {
    let spot = record.field(cell);
    if count > USUAL {
        cx.report(&OP5014, spot, Counted(count, "attribute"), USUAL);
    }
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.report(&OP9010, spot, Counted(count, "attribute"), most);
    }
    let indices: Vec<u64> = cx.numbers(record, cell).collect();
    let mut seen: Map<u32, usize> = Map::default();
    for (row, index) in indices.into_iter().enumerate() {
        if index == 0 {
            let spot = cx.element(&OP5012, record, cell, row);
            cx.report(&OP5012, spot, 0, "");
        }
        let attribute = usize::try_from(index).ok().and_then(|index| cx.attributes.get(index));
        let Some(attribute) = attribute.filter(|attribute| attribute.key != Attribute::NO_KEY)
        else {
            continue;
        };
        if let Some(first) = seen.insert(attribute.key, row) {
            // Later repetitions also name the first reference.
            seen.insert(attribute.key, first);
            let key = key_of(cx, index);
            let found = format_args!("attribute index {index} (key {})", Shown(key)).to_string();
            let spot = cx.element(&OP5002, record, cell, row);
            cx.report(&OP5002, spot, found, first);
        }
    }
}

/// The key of a row of the attribute table; empty if the row has no key.
pub(crate) fn key_of<'a>(cx: &CheckContext<'a>, row: u64) -> &'a [u8] {
    let attribute = usize::try_from(row).ok().and_then(|row| cx.attributes.get(row));
    let key = attribute.and_then(|attribute| cx.payload.keys.get(attribute.key as usize));
    let text = key.map(|key| key.text.0 as usize..key.text.1 as usize);
    text.and_then(|text| cx.bytes.get(text)).unwrap_or_default()
}
