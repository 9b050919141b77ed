//! What OTEP 0239's samples say that no other's do: locations of their own, pprof's labels, a stack trace id.
//!
//! | field of 1.3's `Sample` | from | in the model |
//! |---|---|---|
//! | `location_index` | pprof, of which 1.3 is an extension | a stack, where there is no slice |
//! | `label` | pprof | an attribute of the sample |
//! | `stacktrace_id_index` | the OTEP | the model's own column |
//!
//! Kept out of the loop over usual samples: it has fewer branches and more registers then.

use crate::error::Result;
use crate::format::fields::{is, unknown};
use crate::format::intake::Intake;
use crate::format::labels::{self, Label};
use crate::format::otlp::read::common;
use crate::format::otlp::read::tables::Tables;
use crate::format::otlp::schema::Generation;
use crate::schema;
use crate::wire::indices::packed_indices;
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;
use crate::wire::{LEN, VARINT};

/// What only OTEP 0239's samples have.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// Indices into the location table, as they are on the wire.
    pub(super) locations: Vec<u32>,
    /// Read but not looked up: the same key may come several times.
    pub(super) labels: Vec<Label>,
    /// An index into the string table; 0 is none.
    pub(super) stacktrace_id: u32,
}

impl Rare {
    /// A field that the usual loop does not know; what nothing knows is noted or an error.
    ///
    /// Takes the reader by value and gives it back, so that the caller's own need not be in memory.
    ///
    /// # Errors
    ///
    /// What is no protobuf, a field that the generation does not have where that is refused, the
    /// budget.
    #[inline(never)]
    pub(super) fn field<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        intake: &mut Intake,
    ) -> Result<Reader<'a>> {
        if is!(tag, G::SCHEMA.sample.location_index, LEN) {
            let body = reader.message()?;
            let count = self.locations.len() + count_packed(body.rest());
            if count > self.locations.capacity() {
                intake.budget.take::<u32>(count)?;
            }
            packed_indices(body, &mut self.locations)?;
        } else if is!(tag, G::SCHEMA.sample.location_index, VARINT) {
            let location = reader.index()?;
            intake.budget.push(&mut self.locations, location)?;
        } else if is!(tag, G::SCHEMA.sample.label, LEN) {
            let label = Label::read(reader.bytes()?, intake)?;
            intake.budget.push(&mut self.labels, label)?;
        } else if is!(tag, G::SCHEMA.sample.stacktrace_id, VARINT) {
            self.stacktrace_id = reader.index()?;
        } else {
            unknown(&mut reader, tag, &schema::SAMPLE, G::SCHEMA.version, intake)?;
        }
        Ok(reader)
    }
}

/// Adds a sample's labels to its attributes.
///
/// Labels of one key become one attribute, as in pprof's reader ([`labels::group`]).
#[inline(never)]
pub(super) fn attach(
    labels: &[Label],
    out: &mut Vec<u32>,
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<()> {
    let Tables { texts, new_attributes, .. } = tables;
    let mut singles = Vec::with_capacity(labels.len());
    for label in labels {
        label.note(intake);
        singles.push(label.attribute(|index, field| {
            common::table_text(index, texts, intake).map_err(|e| e.within(field))
        })?);
    }
    let before = out.len();
    labels::group(&singles, out, texts, new_attributes, intake)?;
    // The ids are the model's; the column is shifted by the model's own row 0 later.
    out[before..].iter_mut().for_each(|id| *id = id.saturating_sub(1));
    Ok(())
}
