//! Conversion of the labels of samples to attributes and links.
//!
//! Most profilers use few distinct labels, or one unique label per sample, such as a time. Both cases are
//! cheap: a known label is found by its bytes; a new one costs one row.
//!
//! ```text
//! sample.label bytes ─► ByteStrings ─► number ─► Single { key, row of the attribute, half of a link }
//! ```
//!
//! The keys of a sample's attributes must differ, so several labels with one key cannot be separate
//! attributes. Samples with such labels are rare; [`labels::group`] merges their labels, which are decoded
//! again for that.
//!
//! | labels of a sample | converted to |
//! |---|---|
//! | `trace_id` and `span_id`, in lower-case hex digits | the sample's link |
//! | one label with a key | an attribute |
//! | several labels with one key | one attribute, a list |

use std::hash::BuildHasher;

use crate::error::Result;
use crate::format::pprof::strings::Table;
use crate::losses;
use crate::model::dictionary::{Attribute, Link};
use crate::model::id::{AttributeId, LinkId, StringId};
use crate::model::value::Value;
use crate::read_context::{Policy, ReadContext};
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::tables::attributes::labels::{self, Label};
use crate::tables::read::string_interner::{StringInterner, hash_bytes};
use crate::tables::read::tables::Tables;

use crate::format::pprof::samples::{MAX_RESERVED, PartialLink, SampleReader, Single};

/// The number of labels up to which pairwise comparison is faster than sorting.
const FEW_LABELS: usize = 16;

impl<'a> SampleReader<'a> {
    /// Adds a label to the current sample.
    ///
    /// # Errors
    ///
    /// A label that is not protobuf, with its field.
    #[inline]
    pub(super) fn own_label(
        &mut self,
        body: &'a [u8],
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let label = self.label(body, table, tables, cx).map_err(|e| e.within("label"))?;
        if cx.policy == Policy::Repair && self.singles[label as usize].key == StringId::NONE {
            let message = || "a label has no key".to_owned();
            cx.note(losses::LABEL_WITHOUT_KEY, || "sample.label".to_owned(), message);
            return Ok(());
        }
        self.own.push(label);
        Ok(())
    }

    /// Returns the number of a label. Labels with equal bytes share a number. The first occurrence is
    /// decoded; the decoded value is kept until the end of the sample.
    ///
    /// # Errors
    ///
    /// An index past the string table; the budget.
    #[inline]
    pub(super) fn label(
        &mut self,
        body: &'a [u8],
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<u32> {
        let hash = hash_bytes(&self.hasher, body) as u32;
        if let Some(label) = self.labels.find(hash, body) {
            return Ok(label);
        }
        let label = Label::read(body, cx)?;
        label.note(cx);
        let texts = &mut tables.texts;
        let attribute = label
            .attribute(|index, field| table.text(index, texts, cx).map_err(|e| e.within(field)))?;
        let mut single = Single { key: attribute.key, id: AttributeId::NONE, half: 0 };
        if cx.links
            && let Some(half) = half(&attribute, texts)
        {
            cx.budget.push(&mut self.halves, half)?;
            single.half = self.halves.len() as u32;
        }
        // Charge for the place of its bytes, and for its hash and slots in the index.
        cx.budget.charge::<[u64; 4]>(1)?;
        cx.budget.push_row(&mut self.singles, single)?;
        let label = self.labels.add(hash, body);
        self.fresh.push((label, attribute));
        Ok(label)
    }

    /// Returns the attribute that represents a label.
    ///
    /// Uses the value decoded for this sample if the label is new in it. Otherwise decodes it again, which
    /// only samples with repeated keys and labels that were once part of a link need.
    pub(super) fn attribute(
        &self,
        label: u32,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<Attribute> {
        // Labels are numbered in the order of first occurrence, so `fresh` is sorted.
        if let Ok(at) = self.fresh.binary_search_by_key(&label, |(fresh, _)| *fresh) {
            return Ok(self.fresh[at].1.clone());
        }
        let body = self.labels.get(label).unwrap_or_default();
        let texts = &mut tables.texts;
        Label::read(body, cx)?.attribute(|index, _| table.text(index, texts, cx))
    }

    /// Converts the labels of a sample to its attributes and its link.
    ///
    /// There are three cases, the most frequent one last: repeated keys, labels that are parts of a link, and
    /// other labels. A label that was converted before costs one lookup by number.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_attributes_per_item` or the budget is exceeded.
    pub(super) fn attach(
        &mut self,
        row: usize,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        cx.charge_attributes(self.own.len())?;
        if self.repeats_key() {
            return self.attach_repeated(table, tables, cx);
        }
        if self.own.iter().any(|&label| self.singles[label as usize].half != 0) {
            self.link(row, tables, cx)?;
        }
        let attributes = &mut self.samples.attributes;
        if attributes.items.is_empty() {
            // If one sample has labels, most have as many.
            // No underflow: the stack of sample `row` was pushed, so `row` is below the capacity.
            let more = (self.samples.stacks.capacity() - row).min(MAX_RESERVED);
            attributes.items.reserve(more * self.own.len());
            attributes.ends.reserve(row + more);
        }
        // By position, because `self.attribute` borrows all of `self`.
        for at in 0..self.own.len() {
            let label = self.own[at];
            let mut id = self.singles[label as usize].id;
            if id == AttributeId::NONE {
                let attribute = self.attribute(label, table, tables, cx)?;
                id = tables.new_attributes.intern(attribute, cx)?;
                self.singles[label as usize].id = id;
            }
            self.samples.attributes.items.push(id);
        }
        Ok(())
    }

    /// Returns whether several labels of the sample have the same key. Compares few labels pairwise and sorts
    /// many, because input determines their number.
    #[inline]
    fn repeats_key(&self) -> bool {
        let key = |label: &u32| self.singles[*label as usize].key;
        if self.own.len() > FEW_LABELS {
            let mut keys: Vec<StringId> = self.own.iter().map(key).collect();
            keys.sort_unstable();
            return keys.windows(2).any(|pair| pair[0] == pair[1]);
        }
        (1..self.own.len())
            .any(|at| self.own[..at].iter().any(|earlier| key(earlier) == key(&self.own[at])))
    }

    /// Attaches labels with repeated keys: the values of each key become a list ([`labels::group`]).
    ///
    /// # Errors
    ///
    /// The budget, an index past the string table.
    #[cold]
    pub(super) fn attach_repeated(
        &mut self,
        table: &mut Table,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let labels = self.own.iter();
        let singles: Result<Vec<Attribute>> =
            labels.map(|&label| self.attribute(label, table, tables, cx)).collect();
        let singles = singles?;
        let out = &mut self.samples.attributes.items;
        labels::group(&singles, out, &mut tables.texts, &mut tables.new_attributes, cx)
    }

    /// Returns the trace or span id of a label, if it is one.
    ///
    /// [`Single`] stores only its number, so other labels cost four bytes.
    pub(super) fn half(&self, label: u32) -> Option<PartialLink> {
        let number = self.singles[label as usize].half as usize;
        self.halves.get(number.checked_sub(1)?).copied()
    }

    /// Removes the two labels of a link from a sample's labels, if both are present. A single one stays an
    /// attribute, because a link needs both.
    ///
    /// A link consists of two labels, `LABEL_TRACE_ID` and `LABEL_SPAN_ID`. Equal links share a row.
    ///
    /// Keys do not repeat here: the caller handles samples with repeated keys separately.
    ///
    /// # Errors
    ///
    /// The budget.
    pub(super) fn link(
        &mut self,
        row: usize,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let (mut trace, mut span) = (None, None);
        for &label in &self.own {
            match self.half(label) {
                Some(PartialLink::Trace(id)) => _ = trace.get_or_insert(id),
                Some(PartialLink::Span(id)) => _ = span.get_or_insert(id),
                None => {}
            }
        }
        let (Some(trace_id), Some(span_id)) = (trace, span) else {
            return Ok(());
        };
        let singles = &self.singles;
        self.own.retain(|&label| singles[label as usize].half == 0);
        let link = Link { trace_id, span_id };
        let hash = self.hasher.hash_one((trace_id, span_id));
        let links = &mut tables.dictionary.links;
        let id = match self.links.find(hash, |&row| links[row as usize] == link) {
            Some(&row) => row,
            None => {
                let id = links.len() as u32;
                cx.budget.charge::<[u64; 2]>(1)?;
                cx.budget.push(links, link)?;
                let hasher = &self.hasher;
                self.links.insert_unique(hash, id, |&row| {
                    let Link { trace_id, span_id } = links[row as usize];
                    hasher.hash_one((trace_id, span_id))
                });
                id
            }
        };
        self.samples.set_link(row, LinkId(id));
        Ok(())
    }
}

/// Returns the trace or span id that a label represents. Requires that writing the id restores the string.
///
/// Upper-case digits stay an attribute, because the writer emits lower-case digits.
fn half(attribute: &Attribute, texts: &StringInterner) -> Option<PartialLink> {
    let Value::String(value) = attribute.value else {
        return None;
    };
    let text = |id: StringId| texts.raw.get(id.row()).unwrap_or_default();
    match std::str::from_utf8(text(attribute.key)) {
        Ok(LABEL_TRACE_ID) => hex(text(value)).map(PartialLink::Trace),
        Ok(LABEL_SPAN_ID) => hex(text(value)).map(PartialLink::Span),
        _ => None,
    }
}

/// Parses lower-case hex digits of the given length that are not all zero.
pub(crate) fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    // The writer emits no labels for an id of zeros, so such a string stays an attribute.
    (bytes != [0; N]).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_hex_is_an_id() {
        assert_eq!(hex::<2>(b"0aff"), Some([10, 255]));
        for text in [&b"0AFF"[..], b"0000", b"0aff0", b"0xff", b""] {
            assert_eq!(hex::<2>(text), None);
        }
    }
}
