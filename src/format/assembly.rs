//! Assembly of profiles row by row, for readers of formats without tables.
//!
//! A reader of text or JSON interns each row that it parses and gets the id of an equal row if the table
//! already has one. Ids are valid from the start. Formats whose tables refer to each other by index need a
//! validation pass afterwards; these do not.
//!
//! ```text
//! line of text ─► FrameName ─► Line ─► LocationId ─► StackId ┐
//!                               attributes, link ────────────┼─► sample(Rows) ─► Group ─► Profiles
//! ```

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::limits::{Limits, within};
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::read_context::ReadContext;
use crate::semconv::PROFILE_FRAME_TYPE;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::row::BorrowedLocation;
use crate::tables::rows::samples::{Identity, identity_hash};

/// A dictionary under construction that holds every row once. It tracks how much of its size the budget was
/// charged.
pub(crate) struct Assembly {
    pub(crate) interner: Interner,
    /// The bytes of the interner that the budget was charged for.
    spent: u64,
    /// The samples of all profiles: the limit applies to the whole payload.
    samples: usize,
}

/// A function at a source position, as text formats name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameName<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) file: &'a [u8],
    /// The line, counted from 1; 0 if unknown. The column is the same.
    pub(crate) line: i64,
    pub(crate) column: i64,
}

impl Assembly {
    pub(crate) fn new(cx: &ReadContext) -> Self {
        // `charge` charges the budget, so the interner itself has no limit.
        let limits = Limits { max_owned_bytes: u64::MAX, ..*cx.limits() };
        Self { interner: Interner::new(limits), spent: 0, samples: 0 }
    }

    /// Charges the budget for the growth of the tables since the last call.
    pub(crate) fn charge(&mut self, cx: &mut ReadContext) -> Result<()> {
        let spent = self.interner.budget.spent();
        let grown = usize::try_from(spent - self.spent).unwrap_or(usize::MAX);
        self.spent = spent;
        if grown == 0 { Ok(()) } else { cx.budget.charge::<u8>(grown) }
    }

    /// Interns a string that may not be UTF-8.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> Result<StringId> {
        Ok(self.interner.string(bytes)?)
    }

    /// Builds a line of a function. The function is row 0 if name and file are unknown.
    pub(crate) fn line(&mut self, named: &FrameName) -> Result<Line> {
        let name = self.text(named.name)?;
        // addr2line and similar tools print these if file and line are unknown.
        let is_unknown = matches!(named.file, b"??" | b"?");
        let named = if is_unknown {
            &FrameName { name: named.name, ..FrameName::default() }
        } else {
            named
        };
        let filename = self.text(named.file)?;
        let function = Function { name, filename, ..Function::default() };
        let function = self.interner.intern(function)?;
        Ok(Line { function, line: named.line, column: named.column })
    }

    /// Interns a location with the given lines, innermost first, and the given frame type; empty means no
    /// frame type.
    pub(crate) fn location(
        &mut self,
        place: (MappingId, u64),
        lines: &[Line],
        frame_type: &str,
    ) -> Result<LocationId> {
        let frame_type = match frame_type {
            "" => None,
            frame_type => Some(self.text_attribute(PROFILE_FRAME_TYPE, frame_type)?),
        };
        let (mapping, address) = place;
        let location =
            BorrowedLocation { mapping, address, lines, attributes: frame_type.as_slice() };
        Ok(self.interner.intern(location)?)
    }

    /// Interns a mapping without attributes.
    pub(crate) fn mapping(&mut self, mapping: Mapping) -> Result<MappingId> {
        Ok(self.interner.intern((mapping, &[][..]))?)
    }

    /// Interns a stack, leaf first.
    pub(crate) fn stack(&mut self, locations: &[LocationId]) -> Result<StackId> {
        Ok(self.interner.intern(locations)?)
    }

    pub(crate) fn link(&mut self, link: Link) -> Result<LinkId> {
        Ok(self.interner.intern(link)?)
    }

    pub(crate) fn attribute(&mut self, key: &[u8], value: Value) -> Result<AttributeId> {
        let key = self.text(key)?;
        Ok(self.interner.attribute(Attribute { key, value, unit: StringId::NONE })?)
    }

    /// Interns an attribute with a string value.
    pub(crate) fn text_attribute(&mut self, key: &str, value: &str) -> Result<AttributeId> {
        let value = Value::String(self.text(value.as_bytes())?);
        self.attribute(key.as_bytes(), value)
    }

    /// Builds a resource attribute.
    pub(crate) fn pair(&mut self, key: &str, value: Value) -> Result<KeyValue> {
        Ok(KeyValue { key: self.text(key.as_bytes())?, value })
    }

    /// Builds a value type from its name and unit.
    pub(crate) fn value_type(&mut self, (name, unit): (&str, &str)) -> Result<ValueType> {
        let [name, unit] = [self.text(name.as_bytes())?, self.text(unit.as_bytes())?];
        Ok(ValueType { name, unit, temporality: None })
    }

    /// Adds a sample. If the profile already has an equal sample, and samples of this profile are added up,
    /// adds the values to it.
    ///
    /// Samples with timestamps are never added up here: [`merge_samples`] merges those.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_samples` or the budget is exceeded; an error if a sum
    /// overflows 64 bits.
    pub(crate) fn sample(
        &mut self,
        rows: &mut Rows,
        identity: Identity<'_>,
        (values, times): (&[i64], &[u64]),
        cx: &mut ReadContext,
    ) -> Result<()> {
        let hash = identity_hash(&self.interner.seed, identity);
        if times.is_empty()
            && let Some(row) = rows.find(hash, identity)
        {
            return rows.add_to(row as usize, values);
        }
        within("max_samples", cx.limits().max_samples, self.samples as u64 + 1)?;
        let bytes = size_of_val(identity.attributes) + size_of_val(values) + size_of_val(times);
        cx.budget.charge::<u8>(bytes + 40)?;
        self.samples += 1;
        rows.push(hash, identity, values, times);
        Ok(())
    }

    /// Returns the profiles of the given resources. Resources without profiles are dropped.
    ///
    /// Samples keep the order of the text, so that users find their lines again.
    pub(crate) fn finish(self, groups: Vec<ResourceGroup>) -> Profiles {
        let mut resources: Vec<ResourceProfiles> = Vec::new();
        for group in groups {
            if group.profiles.is_empty() {
                continue;
            }
            let mut scope = ScopeProfiles::default();
            scope.profiles = group.profiles;
            scope.profiles.iter_mut().for_each(|profile| profile.in_order = true);
            let mut resource = ResourceProfiles::default();
            resource.resource.attributes = group.resource;
            resource.scopes.push(scope);
            resources.push(resource);
        }
        Profiles { dictionary: self.interner.dictionary, resources }
    }
}

/// Merges the samples that differ only in timestamps and values.
///
/// Merged samples are in the order of their first occurrence. Values and timestamps are appended in the order
/// of the samples.
pub(crate) fn merge_samples(samples: &Samples) -> Samples {
    let mut numbering = Numbering::default();
    let number = |row: usize| {
        let is_timed = !samples.timestamps.row(row).is_empty();
        let identity = (samples.stacks[row], samples.attributes.row(row), samples.link(row));
        (numbering.number((identity, is_timed)).0, row)
    };
    let mut rows: Vec<(usize, usize)> = (0..samples.len()).map(number).collect();
    rows.sort_unstable();
    let mut merged = Samples::default();
    let (mut values, mut times) = (Vec::new(), Vec::new());
    for equal in rows.chunk_by(|one, other| one.0 == other.0) {
        values.clear();
        times.clear();
        for (_, row) in equal {
            values.extend_from_slice(samples.values.row(*row));
            times.extend_from_slice(samples.timestamps.row(*row));
        }
        let (_, first) = equal[0];
        let attributes = samples.attributes.row(first);
        let row = merged.push(samples.stacks[first], attributes, samples.link(first));
        merged.values.push(&values);
        merged.timestamps.push_at(row, &times);
    }
    merged
}

/// The attributes of a resource, and its profiles.
#[derive(Default)]
pub(crate) struct ResourceGroup {
    pub(crate) resource: Vec<KeyValue>,
    pub(crate) profiles: Vec<Profile>,
}

/// The samples of a profile under construction.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) samples: Samples,
    /// Finds samples that may be added up.
    index: RowIndex,
    /// Whether equal samples stay separate.
    apart: bool,
}

impl Rows {
    /// Creates samples that stay separate even if they are equal.
    pub(crate) fn apart() -> Self {
        Self { apart: true, ..Self::default() }
    }

    /// Keeps samples separate from now on.
    pub(crate) fn set_apart(&mut self) {
        self.apart = true;
    }

    /// Finds an equal sample. Skips samples with timestamps, because [`merge_samples`] merges those at the end.
    fn find(&self, hash: u64, identity: Identity<'_>) -> Option<u32> {
        let same = |row: u32| {
            let (samples, row) = (&self.samples, row as usize);
            samples.timestamps.row(row).is_empty() && Identity::of(samples, row) == identity
        };
        if self.apart { None } else { self.index.find(hash, same) }
    }

    /// Adds values to those of a sample.
    pub(crate) fn add_to(&mut self, row: usize, values: &[i64]) -> Result<()> {
        let values_of = &mut self.samples.values;
        let start = row.checked_sub(1).map_or(0, |before| values_of.ends[before] as usize);
        for (sum, value) in values_of.items[start..].iter_mut().zip(values) {
            *sum = sum.checked_add(*value).ok_or_else(|| {
                Error::malformed(format!("the sum of {sum} and {value} overflows 64 bits"))
            })?;
        }
        Ok(())
    }

    fn push(&mut self, hash: u64, identity: Identity<'_>, values: &[i64], times: &[u64]) {
        let samples = &mut self.samples;
        let row = samples.push(identity.stack, identity.attributes, identity.link);
        samples.values.push(values);
        if !times.is_empty() {
            samples.timestamps.push_at(row, times);
        }
        if !self.apart && times.is_empty() {
            self.index.add(hash, row as u32);
        }
    }
}

/// Assigns numbers to keys, in the order of first occurrence.
#[derive(Default)]
pub(crate) struct Numbering<K>(HashMap<K, usize, foldhash::fast::RandomState>);

impl<K: std::hash::Hash + Eq> Numbering<K> {
    /// Returns the number of a key, and whether the key is new.
    pub(crate) fn number(&mut self, key: K) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }

    /// Returns the number of a key if the key was numbered before.
    pub(crate) fn get<Q: std::hash::Hash + hashbrown::Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
    ) -> Option<usize> {
        self.0.get(key).copied()
    }

    /// Returns the keys in the order of their numbers.
    pub(crate) fn in_order(self) -> Vec<K> {
        let mut keys: Vec<(K, usize)> = self.0.into_iter().collect();
        keys.sort_unstable_by_key(|(_, number)| *number);
        keys.into_iter().map(|(key, _)| key).collect()
    }
}
