//! A payload written anew: read with its defects repaired, tables without equal and unused rows, and
//! written as the generation it was.
//!
//! ```text
//! payload ─► read, repairing ─► Builder (equal rows one) ─► mend ─► compact (unused rows go) ─► write
//! ```
//!
//! Written as the generation it was, since a mended payload has to be readable by whoever read it
//! before.

use crate::builder::merge::Remap;
use crate::builder::reach::Reach;
use crate::builder::{Builder, WhenFull, compact};
use crate::error::{Error, ReadFinding, Result};
use crate::format::losses::Losses;
use crate::format::options::WriteOptions;
use crate::format::read_context::{Policy, ReadContext};
use crate::format::{Format, StringEncoding};
use crate::limits::{Limits, within};
use crate::model::Profiles;
use crate::model::id::{FunctionId, Id, LocationId, MappingId, StackId};
use crate::schema::Noun;

use super::mend;
use crate::check::fields::{Body, Fields};
use crate::check::layout::{Layouts, ROOT, Take};

/// A payload written anew, what reading it repaired and what writing it could not say.
pub(super) struct Rewritten {
    /// Of the same format.
    pub(super) payload: Vec<u8>,
    /// How many resources and how many scopes were put into an equal one.
    pub(super) joined: [u64; 2],
    /// As the reader counts them; whether each is tolerable is asked by [`fix`](super).
    pub(super) repairs: Vec<ReadFinding>,
    /// What the generation could not say of what it said before: usually nothing.
    pub(super) losses: Losses,
}

/// Writes a payload anew, in the format it is in and as it said its texts.
///
/// Costs a read, a copy of the profiles and a write. What needs several payloads is refused: a file
/// has one place for it.
pub(super) fn rewrite(payload: &[u8], format: Format, limits: &Limits) -> Result<Rewritten> {
    let mut context = ReadContext::new(*limits, Policy::Repair, payload.len());
    // A label stays a label.
    context.links = false;
    let read = format.read(payload, &mut context).map_err(|error| error.located(payload))?;
    let mut profiles = interned(&read, limits)?;
    let joined = joined(&read, &profiles);
    drop(read);
    mend::leave_out_empty(&mut profiles);
    mend::sort_timestamps(&mut profiles, format);
    let kept = kept(&profiles);
    compact::compact(&mut profiles, &[kept]);
    let forms = Forms::of(payload, format, limits);
    let options = WriteOptions::default()
        .string_encoding(forms.refs())
        .empty_messages(forms.empty_messages)
        .links(false)
        .max_output_bytes(limits.max_output_bytes);
    let mut losses = Losses::default();
    let mut payloads = format.write(&profiles, &options, &mut losses, Vec::new())?;
    let (Some(payload), true) = (payloads.pop(), payloads.is_empty()) else {
        return Err(Error::malformed("what was one payload needs several"));
    };
    within("max_output_bytes", limits.max_output_bytes, payload.len() as u64)?;
    Ok(Rewritten { payload, joined, repairs: context.findings, losses })
}

/// The same profiles, with equal rows of tables, equal resources and equal scopes made one.
///
/// By a builder, which makes equal rows one anyway.
fn interned(profiles: &Profiles, limits: &Limits) -> Result<Profiles> {
    let mut builder = Builder::with_limits(*limits, WhenFull::Refuse);
    builder.add(profiles)?;
    builder.finish()
}

/// How many resources and scopes there are no more.
///
/// For changes that no rule told: the builder joins resources whose attributes come in another
/// order, too.
fn joined(before: &Profiles, after: &Profiles) -> [u64; 2] {
    let counts = |profiles: &Profiles| {
        let scopes = profiles.resources.iter().map(|resource| resource.scope_profiles().len());
        [profiles.resources.len() as u64, scopes.sum::<usize>() as u64]
    };
    let ([resources, scopes], after) = (counts(before), counts(after));
    [resources - after[0], scopes - after[1]]
}

/// The mappings, locations and functions that no stack reaches. They stay: a profiler lists what was mapped, and the first
/// mapping is the main binary.
fn kept(profiles: &Profiles) -> Remap {
    let dictionary = profiles.dictionary();
    let mut reach = Reach::of(dictionary);
    (0..dictionary.stacks().len() as u32).for_each(|row| reach.mark(StackId(row)));
    reach.finish(dictionary);
    let mut kept = Remap::default();
    for table in [MappingId::TABLE, LocationId::TABLE, FunctionId::TABLE] {
        let rows = (0..).zip(&reach.new.0[table]);
        kept.0[table] = rows.filter(|(_, new)| **new == 0).map(|(row, _)| row).collect();
    }
    kept
}

/// How a payload says what can be said in two ways. Readers are of two minds about them (`OP9202`, `OP9203`, `OP9209`),
/// so what the sender chose is kept.
#[derive(Default)]
struct Forms {
    /// Some keys of resources, scopes and values are in their place.
    in_place: bool,
    /// Some of their texts are rows of the dictionary.
    by_reference: bool,
    /// A resource, scope or period type is there though it is empty.
    empty_messages: bool,
}

impl Forms {
    /// Those of a payload; what cannot be taken apart was not checked either.
    fn of(payload: &[u8], format: Format, limits: &Limits) -> Self {
        let mut forms = Self::default();
        if let Some(version) = format.schema() {
            let shapes = Layouts::of(version);
            forms.walk(payload, shapes, ROOT, (0, payload.len()), limits.max_nesting);
        }
        forms
    }

    /// By reference only where all keys are: every reader knows texts in their place.
    fn refs(&self) -> StringEncoding {
        if self.by_reference && !self.in_place {
            StringEncoding::Dictionary
        } else {
            StringEncoding::Inline
        }
    }

    /// `levels` ends the recursion.
    fn walk(
        &mut self,
        payload: &[u8],
        shapes: &'static Layouts,
        message: usize,
        (start, end): Body,
        levels: u64,
    ) {
        let Some(levels) = levels.checked_sub(1) else { return };
        let shape = shapes.get(message);
        let mut fields = Fields::new(payload, start, end);
        while let Some((number, body)) = fields.next() {
            let Some(slot) = shape.slot(number) else { continue };
            match (slot.take, body, shape.noun) {
                (Take::Message, Some(body), _) => {
                    let optional = ["resource", "scope", "period_type"].contains(&slot.field.name);
                    self.empty_messages |= optional && body.0 == body.1;
                    self.walk(payload, shapes, slot.child, body, levels);
                }
                (Take::Varint, None, Noun::KeyValue | Noun::AnyValue) if slot.table.is_some() => {
                    self.by_reference |= fields.number() != 0;
                }
                (Take::Text, Some(body), Noun::KeyValue) => self.in_place |= body.0 < body.1,
                _ => {}
            }
        }
    }
}
