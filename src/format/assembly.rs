//! Profiles put together row by row, for the readers of formats without tables.
//!
//! A reader of text or JSON asks for a row of each thing it meets and gets the id of an equal one
//! if there is any. Ids are right from the start, so nothing is proved afterwards, unlike in
//! formats whose tables refer to each other by index.
//!
//! ```text
//! line of text ─► Named ─► Line ─► LocationId ─► StackId ┐
//!                           attributes, link ────────────┼─► sample(Rows) ─► Group ─► Profiles
//! ```

use hashbrown::HashMap;

use crate::builder::interner::Interner;
use crate::builder::row::Spot;
use crate::builder::samples::{Identity, identity_hash};
use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::limits::{Limits, within};
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::row_index::RowIndex;
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv::PROFILE_FRAME_TYPE;

/// A dictionary that holds every row once, and what the budget was told of its size.
pub(crate) struct Assembly {
    pub(crate) interner: Interner,
    /// Of the interner's bytes, those that the budget was told of.
    spent: u64,
    /// Of all profiles: the limit is on the payload.
    samples: usize,
}

/// A function at a place, as texts have it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) file: &'a [u8],
    /// From 1; 0 is unknown, and so of the column.
    pub(crate) line: i64,
    pub(crate) column: i64,
}

impl Assembly {
    pub(crate) fn new(intake: &Intake) -> Self {
        // What it takes is spent by `settle`.
        let limits = Limits { max_owned_bytes: u64::MAX, ..*intake.limits() };
        Self { interner: Interner::new(limits), spent: 0, samples: 0 }
    }

    /// Spends what the tables grew by.
    pub(crate) fn settle(&mut self, intake: &mut Intake) -> Result<()> {
        let spent = self.interner.room.spent();
        let grown = usize::try_from(spent - self.spent).unwrap_or(usize::MAX);
        self.spent = spent;
        if grown == 0 { Ok(()) } else { intake.budget.take::<u8>(grown) }
    }

    /// A text, which need not be UTF-8.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> Result<StringId> {
        Ok(self.interner.string(bytes)?)
    }

    /// A line of a function; none of one without a name.
    pub(crate) fn line(&mut self, named: &Named) -> Result<Line> {
        let name = self.text(named.name)?;
        // What addr2line and its like print where they know neither file nor line.
        let is_unknown = matches!(named.file, b"??" | b"?");
        let named =
            if is_unknown { &Named { name: named.name, ..Named::default() } } else { named };
        let filename = self.text(named.file)?;
        let function = Function { name, filename, ..Function::default() };
        let function = self.interner.intern(function)?;
        Ok(Line { function, line: named.line, column: named.column })
    }

    /// A location of these lines, innermost first, of code of this type.
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
        let spot = Spot { mapping, address, lines, attributes: frame_type.as_slice() };
        Ok(self.interner.intern(spot)?)
    }

    /// A mapping without attributes.
    pub(crate) fn mapping(&mut self, mapping: Mapping) -> Result<MappingId> {
        Ok(self.interner.intern((mapping, &[][..]))?)
    }

    /// A stack, leaf first.
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

    /// An attribute that is a text.
    pub(crate) fn text_attribute(&mut self, key: &str, value: &str) -> Result<AttributeId> {
        let value = Value::String(self.text(value.as_bytes())?);
        self.attribute(key.as_bytes(), value)
    }

    /// An attribute of a resource.
    pub(crate) fn pair(&mut self, key: &str, value: Value) -> Result<KeyValue> {
        Ok(KeyValue { key: self.text(key.as_bytes())?, value })
    }

    /// What is measured, and its unit.
    pub(crate) fn value_type(&mut self, (name, unit): (&str, &str)) -> Result<ValueType> {
        let [name, unit] = [self.text(name.as_bytes())?, self.text(unit.as_bytes())?];
        Ok(ValueType { name, unit, temporality: None })
    }

    /// Adds a sample to others. Of `sums`, one that is there already gets the values added.
    ///
    /// A sample with timestamps is never added to another: [`gathered`] joins those.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_samples` or the budget; a sum past 64 bits.
    pub(crate) fn sample(
        &mut self,
        rows: &mut Rows,
        identity: Identity<'_>,
        (values, times): (&[i64], &[u64]),
        intake: &mut Intake,
    ) -> Result<()> {
        let hash = identity_hash(&self.interner.seed, identity);
        if times.is_empty()
            && let Some(row) = rows.find(hash, identity)
        {
            return rows.add_to(row as usize, values);
        }
        within("max_samples", intake.limits().max_samples, self.samples as u64 + 1)?;
        let bytes = size_of_val(identity.attributes) + size_of_val(values) + size_of_val(times);
        intake.budget.take::<u8>(bytes + 40)?;
        self.samples += 1;
        rows.push(hash, identity, values, times);
        Ok(())
    }

    /// The profiles of these resources, without the resources that have none.
    ///
    /// Samples stay in the order of the text: who reads such a file finds his lines again.
    pub(crate) fn finish(self, groups: Vec<Group>) -> Profiles {
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

/// The same samples, of which those that are equal but for their times and values became one.
///
/// In the order of the first of each; values and times are appended in the order of the samples.
pub(crate) fn gathered(samples: &Samples) -> Samples {
    let mut met = Met::default();
    let number = |row: usize| {
        let is_timed = !samples.timestamps.row(row).is_empty();
        let identity = (samples.stacks[row], samples.attributes.row(row), samples.link(row));
        (met.number((identity, is_timed)).0, row)
    };
    let mut rows: Vec<(usize, usize)> = (0..samples.len()).map(number).collect();
    rows.sort_unstable();
    let mut gathered = Samples::default();
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
        let row = gathered.push(samples.stacks[first], attributes, samples.link(first));
        gathered.values.push(&values);
        gathered.timestamps.push_at(row, &times);
    }
    gathered
}

/// What is known of a resource, and its profiles.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) resource: Vec<KeyValue>,
    pub(crate) profiles: Vec<Profile>,
}

/// The samples of a profile.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) samples: Samples,
    /// Of samples that may be added up.
    index: RowIndex,
    /// Whether every sample stays one of its own.
    apart: bool,
}

impl Rows {
    /// Samples that stay apart though they are of the same.
    pub(crate) fn apart() -> Self {
        Self { apart: true, ..Self::default() }
    }

    /// From now on samples stay apart.
    pub(crate) fn set_apart(&mut self) {
        self.apart = true;
    }

    /// Samples with timestamps are never found: they are joined at the end, if at all.
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

/// Numbers in the order in which keys were met first.
#[derive(Default)]
pub(crate) struct Met<K>(HashMap<K, usize, foldhash::fast::RandomState>);

impl<K: std::hash::Hash + Eq> Met<K> {
    /// The number of a key, and whether it is new.
    pub(crate) fn number(&mut self, key: K) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }

    /// The number of a key that was met.
    pub(crate) fn get<Q: std::hash::Hash + hashbrown::Equivalent<K> + ?Sized>(
        &self,
        key: &Q,
    ) -> Option<usize> {
        self.0.get(key).copied()
    }

    /// The keys, by their numbers.
    pub(crate) fn in_order(self) -> Vec<K> {
        let mut keys: Vec<(K, usize)> = self.0.into_iter().collect();
        keys.sort_unstable_by_key(|(_, number)| *number);
        keys.into_iter().map(|(key, _)| key).collect()
    }
}
