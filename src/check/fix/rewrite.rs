//! Rewrites a payload: reads it with its defects repaired, removes equal and unused rows of tables, and writes it
//! in its generation.
//!
//! ```text
//! payload ─► read, repairing ─► Builder (equal rows one) ─► edit ─► compact (unused rows go) ─► write
//! ```
//!
//! The generation stays the same, so that the readers of the original payload can read the fixed one.

use crate::builder::{Builder, WhenFull};
use crate::error::{Error, ReadFinding, Result};
use crate::format::{Format, StringEncoding};
use crate::limits::{Limits, within};
use crate::losses::Losses;
use crate::model::Profiles;
use crate::model::id::{FunctionId, Id, LocationId, MappingId, StackId};
use crate::read_context::{Policy, ReadContext};
use crate::schema::MessageKind;
use crate::tables::rows::compact;
use crate::tables::rows::merge::Remap;
use crate::tables::rows::reach::Reach;
use crate::write_options::WriteOptions;

use super::edit;
use crate::check::fields::Body;
use crate::check::layout::{Layouts, MessageLayout, ROOT, Take};

/// A rewritten payload, with the repairs made while reading and the data lost while writing.
pub(super) struct Rewritten {
    /// In the same format.
    pub(super) payload: Vec<u8>,
    /// The number of resources and of scopes merged into an equal one.
    pub(super) joined: [u64; 2],
    /// The repairs that the reader counted; [`fix`](super) decides which are tolerable.
    pub(super) repairs: Vec<ReadFinding>,
    /// The data that the generation cannot represent: usually empty.
    pub(super) losses: Losses,
}

/// Rewrites a payload in its format, with strings in place or by reference as before.
///
/// Costs a read, a copy of the profiles and a write. Rejects a result of several payloads, because the file has a
/// place for only one.
pub(super) fn rewrite(payload: &[u8], format: Format, limits: &Limits) -> Result<Rewritten> {
    let mut context = ReadContext::new(*limits, Policy::Repair, payload.len());
    // Keep labels as they are.
    context.links = false;
    let read = format.read(payload, &mut context).map_err(|error| error.located(payload))?;
    let mut profiles = interned(&read, limits)?;
    let joined = joined(&read, &profiles);
    drop(read);
    edit::leave_out_empty(&mut profiles);
    edit::sort_timestamps(&mut profiles, format);
    let kept = kept(&profiles);
    compact::compact(&mut profiles, &[kept]);
    let forms = Encodings::of(payload, format, limits);
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

/// Copies profiles through a builder, which merges equal rows of tables, equal resources and equal scopes.
fn interned(profiles: &Profiles, limits: &Limits) -> Result<Profiles> {
    let mut builder = Builder::with_limits(*limits, WhenFull::Refuse);
    builder.add(profiles)?;
    builder.finish()
}

/// The number of resources and of scopes that merging removed.
///
/// For changes without a finding: the builder also merges resources whose attributes differ in order.
fn joined(before: &Profiles, after: &Profiles) -> [u64; 2] {
    let counts = |profiles: &Profiles| {
        let scopes = profiles.resources.iter().map(|resource| resource.scope_profiles().len());
        [profiles.resources.len() as u64, scopes.sum::<usize>() as u64]
    };
    let ([resources, scopes], after) = (counts(before), counts(after));
    [resources - after[0], scopes - after[1]]
}

/// The mappings, locations and functions that no stack reaches. They are kept: a profiler lists all mappings, and
/// the first mapping is the main binary.
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

/// The encoding that a payload chose where two are allowed. Readers differ in which they accept (`OP9202`,
/// `OP9203`, `OP9209`), so the choice of the sender is kept.
#[derive(Default)]
struct Encodings {
    /// Whether any key of a resource, scope or value is in place.
    in_place: bool,
    /// Whether any of their strings is by reference.
    by_reference: bool,
    /// Whether a resource, scope or period type is present but empty.
    empty_messages: bool,
}

impl Encodings {
    /// Determines the encoding of a payload. Bytes that cannot be decoded are ignored, as in the check.
    fn of(payload: &[u8], format: Format, limits: &Limits) -> Self {
        let mut forms = Self::default();
        if let Some(version) = format.schema() {
            let shapes = Layouts::of(version);
            let root = shapes.get(ROOT);
            forms.walk(payload, shapes, root, (0, payload.len()), limits.max_nesting);
        }
        forms
    }

    /// By reference only if all keys are: every reader supports strings in place.
    fn refs(&self) -> StringEncoding {
        if self.by_reference && !self.in_place {
            StringEncoding::Dictionary
        } else {
            StringEncoding::Inline
        }
    }

    /// Scans a message; `levels` limits the recursion.
    fn walk(
        &mut self,
        payload: &[u8],
        shapes: &'static Layouts,
        shape: &'static MessageLayout,
        body: Body,
        levels: u64,
    ) {
        let Some(levels) = levels.checked_sub(1) else { return };
        for found in shape.fields(payload, body) {
            let slot = found.slot;
            if let Some((inner, body)) = shapes.inner(&found) {
                let optional = ["resource", "scope", "period_type"].contains(&slot.field.name);
                self.empty_messages |= optional && body.0 == body.1;
                self.walk(payload, shapes, inner, body, levels);
            } else if matches!(shape.kind, MessageKind::KeyValue | MessageKind::AnyValue) {
                let is_text = slot.take == Take::Text && shape.kind == MessageKind::KeyValue;
                self.in_place |= is_text && found.body.is_some_and(|body| body.0 < body.1);
                self.by_reference |= slot.table.is_some() && found.number != 0;
            }
        }
    }
}
