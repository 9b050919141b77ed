//! The labels of samples, which become attributes and links.
//!
//! Profilers that label samples do so with few distinct labels, or with one of its own each, such as a time. Both
//! are cheap: a label met before is found by its bytes; one that is new costs one row.
//!
//! ```text
//! sample.label bytes ─► Seen ─► number ─► Single { key, attribute's row, half of a link }
//! ```
//!
//! A label that is one of many of its key cannot be an attribute by itself, as the keys of a sample
//! must differ; those samples are rare and take the way of [`labels::group`], which decodes their
//! labels again.
//!
//! | labels of a sample | become |
//! |---|---|
//! | `trace_id` and `span_id`, of lower-case hex digits | the sample's link |
//! | one of a key | an attribute |
//! | several of a key | one attribute, a list |

use std::hash::BuildHasher;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::labels::{self, Label};
use crate::format::otlp::read::tables::Tables;
use crate::format::pprof::strings::Table;
use crate::format::texts::{Texts, hash_bytes};
use crate::model::dictionary::{Attribute, Link};
use crate::model::id::{AttributeId, LinkId, StringId};
use crate::model::value::Value;
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};

use crate::format::pprof::samples::{Half, MOST_ROOM, SampleReader, Single};

/// As many labels are compared with each other sooner than sorted.
const FEW_LABELS: usize = 16;

impl<'a> SampleReader<'a> {
    /// Takes a label as one of the sample's own.
    ///
    /// # Errors
    ///
    /// A label that is no protobuf, with its field.
    #[inline]
    pub(super) fn own_label(
        &mut self,
        body: &'a [u8],
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let label = self.label(body, table, tables, intake);
        self.own.push(label.map_err(|e| e.within("label"))?);
        Ok(())
    }

    /// The number of a label.
    /// Labels of equal bytes are one number; what it says is decoded when it is first met, and kept no longer than the
    /// sample.
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
        intake: &mut Intake,
    ) -> Result<u32> {
        let hash = hash_bytes(&self.hasher, body) as u32;
        if let Some(label) = self.labels.find(hash, body) {
            return Ok(label);
        }
        let label = Label::read(body, intake)?;
        label.note(intake);
        let texts = &mut tables.texts;
        let attribute = label.attribute(|index, field| {
            table.text(index, texts, intake).map_err(|e| e.within(field))
        })?;
        let mut single = Single { key: attribute.key, id: AttributeId::NONE, half: 0 };
        if intake.links
            && let Some(half) = half(&attribute, texts)
        {
            intake.budget.push(&mut self.halves, half)?;
            single.half = self.halves.len() as u32;
        }
        // Where its bytes are, and in the index its hash and some slots.
        intake.budget.take::<[u64; 4]>(1)?;
        intake.budget.push_row(&mut self.singles, single)?;
        let label = self.labels.add(hash, body);
        self.fresh.push((label, attribute));
        Ok(label)
    }

    /// What a label says.
    ///
    /// Of a label that this sample is the first to have, what was decoded a moment ago; else it is
    /// decoded again, which only samples with repeated keys and labels that were once half of a
    /// link ask for.
    pub(super) fn attribute(
        &self,
        label: u32,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<Attribute> {
        // Labels are numbered in the order in which they are met.
        if let Ok(at) = self.fresh.binary_search_by_key(&label, |(fresh, _)| *fresh) {
            return Ok(self.fresh[at].1.clone());
        }
        let body = self.labels.get(label).unwrap_or_default();
        let texts = &mut tables.texts;
        Label::read(body, intake)?.attribute(|index, _| table.text(index, texts, intake))
    }

    /// Makes the labels of a sample its attributes and its link.
    ///
    /// Three cases, the frequent one last: labels of one key more than once, labels that are halves
    /// of a link, and labels that are attributes by themselves. A label that was an attribute
    /// before costs one look at its number.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_attributes_per_item` or the budget.
    pub(super) fn attach(
        &mut self,
        row: usize,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        intake.take_attributes(self.own.len())?;
        if self.repeats_key() {
            return self.attach_repeated(table, tables, intake);
        }
        if self.own.iter().any(|&label| self.singles[label as usize].half != 0) {
            self.link(row, tables, intake)?;
        }
        let attributes = &mut self.samples.attributes;
        if attributes.items.is_empty() {
            // Where one sample has labels, most have as many.
            let more = (self.samples.stacks.capacity() - row).min(MOST_ROOM);
            attributes.items.reserve(more * self.own.len());
            attributes.ends.reserve(row + more);
        }
        for at in 0..self.own.len() {
            let label = self.own[at];
            let mut id = self.singles[label as usize].id;
            if id == AttributeId::NONE {
                let attribute = self.attribute(label, table, tables, intake)?;
                id = tables.new_attributes.intern(attribute, intake)?;
                self.singles[label as usize].id = id;
            }
            self.samples.attributes.items.push(id);
        }
        Ok(())
    }

    /// Whether several labels of the sample are of one key.
    /// Few are compared with each other; many are sorted, as their number is the sender's choice.
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

    /// A sample with several labels of one key: their values become a list ([`labels::group`]).
    ///
    /// # Errors
    ///
    /// The budget, an index past the string table.
    #[cold]
    pub(super) fn attach_repeated(
        &mut self,
        table: &mut Table,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let labels = self.own.iter();
        let singles: Result<Vec<Attribute>> =
            labels.map(|&label| self.attribute(label, table, tables, intake)).collect();
        let singles = singles?;
        let mut ids = Vec::new();
        labels::group(&singles, &mut ids, &mut tables.texts, &mut tables.new_attributes, intake)?;
        self.samples.attributes.items.extend(ids.into_iter().map(AttributeId));
        Ok(())
    }

    /// Whether a label is the id of a trace or of a span.
    ///
    /// Found by a number in [`Single`], so labels that are no ids pay four bytes and no more.
    pub(super) fn half(&self, label: u32) -> Option<Half> {
        let number = self.singles[label as usize].half as usize;
        self.halves.get(number.checked_sub(1)?).copied()
    }

    /// Takes the two labels of a link out of a sample's, if both are there.
    /// One without the other stays an attribute, as it would make no link.
    ///
    /// A link is two labels, `LABEL_TRACE_ID` and `LABEL_SPAN_ID`; equal links are one row.
    ///
    /// Of several ids of a kind the first counts, and none of the others stays: `repeats_key` has
    /// taken samples with two equal keys before.
    ///
    /// # Errors
    ///
    /// The budget.
    pub(super) fn link(
        &mut self,
        row: usize,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let (mut trace, mut span) = (None, None);
        for &label in &self.own {
            match self.half(label) {
                Some(Half::Trace(id)) => _ = trace.get_or_insert(id),
                Some(Half::Span(id)) => _ = span.get_or_insert(id),
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
        let links = &mut tables.links;
        let id = match self.links.find(hash, |&row| links[row as usize] == link) {
            Some(&row) => row,
            None => {
                let id = links.len() as u32;
                intake.budget.take::<[u64; 2]>(1)?;
                intake.budget.push(links, link)?;
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

/// The half of a link that a label is: only a text that comes back as it was is one.
///
///
/// Upper-case digits stay an attribute, since writing makes lower-case ones.
fn half(attribute: &Attribute, texts: &Texts) -> Option<Half> {
    let Value::String(value) = attribute.value else {
        return None;
    };
    let text = |id: StringId| texts.raw.get(id.row()).unwrap_or_default();
    match std::str::from_utf8(text(attribute.key)) {
        Ok(LABEL_TRACE_ID) => hex(text(value)).map(Half::Trace),
        Ok(LABEL_SPAN_ID) => hex(text(value)).map(Half::Span),
        _ => None,
    }
}

/// The bytes that lower-case hex digits say, if they are of that length and not all zero.
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
