//! The table of profiles as headers: profiles without their samples.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::columns::batch::Array;
use crate::columns::exact;
use crate::columns::get::by_name;
use crate::columns::restored::{Columns, ProfileRow, Restored};
use crate::columns::texts::Texts;
use crate::error::{Error, Result};
use crate::model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};
use crate::model::ragged::Ragged;
use crate::model::value::{KeyValue, Value};
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles, StringId};
use crate::tables::rows::interner::Interner;
use crate::wire::hex::hex_bytes;

/// The headers of profiles.
#[derive(Default)]
pub(super) struct Headers {
    /// By key of a row: the profile, if it is selected, and the sample type.
    rows: HashMap<[u8; 16], Option<(u32, u32)>, FixedState>,
    headers: Vec<Header>,
    /// The key of the last profile, and the number of its types so far.
    last: ([u8; 16], u32),
}

struct Header {
    resource: ResourceProfiles,
    scope: ScopeProfiles,
    profile: Profile,
    samples: i64,
    source: (StringId, StringId),
}

impl Headers {
    /// Returns the position of a selected profile and its sample type, and `None` if there is no such row.
    pub(super) fn find(&self, key: [u8; 16]) -> Option<Option<(usize, usize)>> {
        let row = self.rows.get(&key)?;
        Some(row.map(|(profile, sample_type)| (profile as usize, sample_type as usize)))
    }

    /// Adds rows of the table.
    pub(super) fn add(
        &mut self,
        arrays: &[Array],
        interner: &mut Interner,
        texts: &mut Texts,
        select: &impl Fn(&ProfileRow<'_>) -> bool,
    ) -> Result<()> {
        by_name!(arrays, Profiles: key = "profile_key", index = "type_index", time = "time_unix_nano", service = "service_name");
        for row in 0..key.len() {
            let (key, index) = (key.key(row), index.int(row) as u32);
            interner.budget.bytes(size_of::<Header>() + 48)?;
            if index > 0 {
                self.add_type(arrays, row, (key, index))?;
                continue;
            }
            self.last = (key, 1);
            let service_name = interner.dictionary.text(service.text(row));
            let time_unix_nano = time.int(row);
            if !select(&ProfileRow { profile_key: key, service_name, time_unix_nano }) {
                self.rows.insert(key, None);
                continue;
            }
            let header = header(arrays, row, interner, texts)?;
            self.rows.insert(key, Some((self.headers.len() as u32, 0)));
            self.headers.push(header);
        }
        Ok(())
    }

    /// Adds a further sample type of the last profile.
    fn add_type(&mut self, arrays: &[Array], row: usize, at: ([u8; 16], u32)) -> Result<()> {
        let (key, index) = at;
        let (first, types) = self.last;
        let number = |key: [u8; 16]| u128::from_be_bytes(key);
        if index != types || number(key).checked_sub(number(first)) != Some(index.into()) {
            return Err(Error::malformed("sample types of a profile are missing, or not in order"));
        }
        self.last.1 += 1;
        let found = self.rows.get(&first).copied().flatten().map(|(profile, _)| (profile, index));
        self.rows.insert(key, found);
        if let Some(header) = found.and_then(|(profile, _)| self.headers.get_mut(profile as usize))
        {
            header.profile.sample_types.push(value_type(arrays, row));
        }
        Ok(())
    }

    /// Joins headers and samples.
    pub(super) fn finish(self, interner: Interner, columns: Vec<Columns>) -> Result<Restored> {
        let dictionary = interner.dictionary;
        let mut resources: Vec<ResourceProfiles> = Vec::new();
        let mut sources = Vec::new();
        let mut columns = columns.into_iter();
        // The resource and the scope of the profiles so far, without their profiles.
        let mut last: Option<(ResourceProfiles, ScopeProfiles)> = None;
        for Header { resource, scope, mut profile, samples, source } in self.headers {
            let Columns { samples: of, mut values, counts } = columns.next().unwrap_or_default();
            let types = profile.sample_types.len().max(1);
            let is_whole = counts.iter().all(|count| *count as i64 == samples);
            if !is_whole || samples > 0 && counts.len() != types {
                return Err(Error::malformed(
                    "a profile lacks samples: files of the segment are missing",
                ));
            }
            profile.samples = of;
            profile.samples.values = match &mut values[..] {
                [values] => std::mem::take(values),
                values => joined(values, samples as usize),
            };
            let text = |id| dictionary.text(id).to_owned();
            sources.push((text(source.0), text(source.1)));
            let has_resource = last.as_ref().is_some_and(|last| last.0 == resource);
            let has_scope = has_resource && last.as_ref().is_some_and(|last| last.1 == scope);
            if !has_resource {
                resources.push(resource.clone());
            }
            if let Some(of) = resources.last_mut() {
                if !has_scope {
                    of.scopes.push(scope.clone());
                }
                if let Some(scope) = of.scopes.last_mut() {
                    scope.profiles.push(profile);
                }
            }
            last = Some((resource, scope));
        }
        Ok(Restored { profiles: Profiles { dictionary, resources }, sources })
    }
}

/// Joins the values of each type by sample.
fn joined(types: &[Ragged<i64>], samples: usize) -> Ragged<i64> {
    let mut joined = Ragged::default();
    let mut row = Vec::new();
    for at in 0..samples {
        row.clear();
        types.iter().for_each(|values| row.extend_from_slice(values.row(at)));
        joined.push_at(at, &row);
    }
    joined
}

fn value_type(arrays: &[Array], row: usize) -> ValueType {
    by_name!(arrays, Profiles: name = "type", unit = "unit", temporality = "temporality");
    let number = temporality.is_valid(row).then(|| temporality.int(row) as i32);
    let temporality = number.map(AggregationTemporality);
    ValueType { name: name.text(row), unit: unit.text(row), temporality }
}

/// Reads the header of a profile.
fn header(
    arrays: &[Array],
    row: usize,
    interner: &mut Interner,
    texts: &mut Texts,
) -> Result<Header> {
    by_name!(
        arrays,
        Profiles: resource_map = "resource_attributes",
        scope_map = "scope_attributes",
        map = "attributes",
        name = "scope_name",
        version = "scope_version",
        count = "sample_count",
        input = "input",
        format = "format",
        exact = "exact",
    );
    let (mut resource, mut scope, mut profile) = match exact.bytes_of(row) {
        Some(bytes) => exact_header(bytes, interner)?,
        None => {
            let mut profile = Profile::default();
            profile.sample_types.push(ValueType::default());
            let attributes = texts.attributes(map, exact, row, interner)?;
            profile.attributes.extend_from_slice(attributes);
            let scope = (scope_map, name.text(row), version.text(row));
            let (resource, scope) = around(resource_map, scope, row);
            (resource, scope, profile)
        }
    };
    resource.scopes.clear();
    scope.profiles.clear();
    if let Some(of) = profile.sample_types.first_mut() {
        *of = value_type(arrays, row);
    }
    set_fields(&mut profile, arrays, row, interner)?;
    let source = (input.text(row), format.text(row));
    Ok(Header { resource, scope, profile, samples: count.int(row), source })
}

/// Sets the id, the times and the period of a profile.
fn set_fields(
    profile: &mut Profile,
    arrays: &[Array],
    row: usize,
    interner: &Interner,
) -> Result<()> {
    by_name!(
        arrays,
        Profiles: id = "profile_id",
        time = "time_unix_nano",
        duration = "duration_nano",
        default = "default_sample_type",
        name = "period_type",
        unit = "period_unit",
        period = "period",
        exact = "exact",
    );
    if let Some(text) = id.some_text(row) {
        let id = hex_bytes(interner.dictionary.text(text)).and_then(|id| id.try_into().ok());
        let malformed = || Error::malformed("a profile_id is not in hex digits");
        profile.profile_id = ProfileId(id.ok_or_else(malformed)?);
    }
    // An exact header has the times that 64 bits with a sign cannot represent.
    let has_exact = exact.bytes_of(row).is_some();
    if !has_exact || time.int(row) != i64::MAX {
        profile.time_unix_nano = time.int(row).into();
    }
    if !has_exact || duration.int(row) != i64::MAX {
        profile.duration_nanos = duration.int(row).into();
    }
    profile.default_sample_type = default.text(row);
    let (name, unit) = (name.text(row), unit.text(row));
    profile.period_type = ValueType { name, unit, temporality: None };
    profile.period = period.int(row);
    Ok(())
}

/// Returns the resource and the scope that columns hold.
fn around(
    resource_map: &Array,
    (scope_map, name, version): (&Array, StringId, StringId),
    row: usize,
) -> (ResourceProfiles, ScopeProfiles) {
    let (mut resource, mut scope) = (ResourceProfiles::default(), ScopeProfiles::default());
    resource.resource.attributes = key_values(resource_map, row);
    scope.scope.attributes = key_values(scope_map, row);
    (scope.scope.name, scope.scope.version) = (name, version);
    (resource, scope)
}

fn key_values(map: &Array, row: usize) -> Vec<KeyValue> {
    map.pairs_of(row).map(|(key, text)| KeyValue { key, value: Value::String(text) }).collect()
}

/// Decodes a header that columns cannot represent.
fn exact_header(
    bytes: &[u8],
    interner: &mut Interner,
) -> Result<(ResourceProfiles, ScopeProfiles, Profile)> {
    interner.budget.bytes(bytes.len())?;
    let (mut profiles, remap) = exact::decode(bytes, interner)?;
    let lacks = || Error::malformed("a profile lacks its exact header");
    let mut resource = profiles.resources.pop().ok_or_else(lacks)?;
    remap.resource_profiles(&mut resource);
    let mut scope = resource.scopes.pop().ok_or_else(lacks)?;
    let profile = scope.profiles.pop().ok_or_else(lacks)?;
    Ok((resource, scope, profile))
}
