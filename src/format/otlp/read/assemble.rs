//! Assembles the result: one dictionary, and each profile in its scope.
//!
//! Tables belong either to all profiles ([`shared`]) or to each profile ([`by_profile`]). In both cases,
//! [`resolve_tables`] processes a set of tables and the profiles that use it.
//!
//! ```text
//! shared       tables ──────────────► resolve_tables ─► Dictionary ─┐
//!              all profiles ────────► resolve_tables                ├─► Profiles
//! by profile   tables + profile ────► resolve_tables ─► absorb ─────┘   once a profile
//! ```
//!
//! `resolve_tables` runs the steps of [`read`](super) in order. Attributes are made of fields before validation, because
//! that adds attributes. Samples come last because they refer to all tables.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::model::dictionary::Dictionary;
use crate::model::id::{Id, StringId};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::strings::Strings;
use crate::model::{Profiles, ResourceProfiles};
use crate::read_context::{ReadContext, placed};
use crate::schema::{Generation, Table, TableLocation};
use crate::tables::attributes::fields_to_attributes::{self, LegacyFields};
use crate::tables::read::string_interner::StringInterner;
use crate::tables::read::tables::Tables;
use crate::tables::resolve::finish::validate_texts;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Remap, absorb};

/// The profiles that use a set of tables. Their ids are not validated yet.
pub(crate) enum Users<'a> {
    /// A single profile with its own tables.
    One(&'a mut Profile, LegacyFields),
    /// All profiles of a payload, and the data from fields of older generations, with the number of the
    /// profile.
    All(&'a mut [ResourceProfiles], Vec<(usize, LegacyFields)>),
}

/// The place of a profile: the rows of its resource, its scope and itself.
///
/// `None` if the caller adds the place, which it does when it reads one profile at a time.
type At = Option<[usize; 3]>;

impl Users<'_> {
    /// Calls `f` with every nonempty profile, and with the data from its fields on the first call.
    fn each(
        &mut self,
        cx: &mut ReadContext,
        mut f: impl FnMut(&mut ProfileParts, LegacyFields, &mut ReadContext) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::One(profile, legacy) => f(profile, std::mem::take(legacy), cx),
            Self::All(resources, legacy) => {
                let mut legacy = std::mem::take(legacy).into_iter().peekable();
                for_each_profile(resources, |number, profile, at| {
                    // Entries are in the order of the profiles, so the next one belongs to this profile or
                    // to a later one.
                    let legacy = legacy.next_if(|(of, _)| *of == number);
                    if legacy.is_none() && profile.parts_mut().is_none() {
                        return Ok(());
                    }
                    // A profile may contain only fields of older generations.
                    let legacy = legacy.map(|(_, legacy)| legacy).unwrap_or_default();
                    cx.inside(&rows(at), |cx| f(profile, legacy, cx))
                })
            }
        }
    }

    /// Returns all profiles with their places.
    fn profiles(&self) -> impl Iterator<Item = (At, &Profile)> {
        let (one, all) = match self {
            Self::One(profile, _) => (Some((None, &**profile)), &[][..]),
            Self::All(resources, _) => (None, &**resources),
        };
        let all = all.iter().enumerate().flat_map(|(resource, parts)| {
            parts.scopes.iter().enumerate().flat_map(move |(scope, parts)| {
                let profiles = parts.profiles.iter().enumerate();
                profiles.map(move |(row, profile)| (Some([resource, scope, row]), profile))
            })
        });
        one.into_iter().chain(all)
    }

    /// Returns, for each stack, the first profile and sample that use it.
    ///
    /// Up to 1.7 the payload has no rows of stacks, so an error in a stack must name a sample. Called only
    /// after an error, because it walks all samples.
    fn first_samples(&self, stacks: usize) -> Vec<Option<(At, usize)>> {
        let mut first = vec![None; stacks];
        for (at, profile) in self.profiles() {
            for (sample, stack) in profile.samples.stacks.iter().enumerate() {
                if let Some(first) = first.get_mut(stack.row()) {
                    first.get_or_insert((at, sample));
                }
            }
        }
        first
    }
}

/// Calls `f` with every profile, its number and its place.
fn for_each_profile(
    resources: &mut [ResourceProfiles],
    mut f: impl FnMut(usize, &mut Profile, [usize; 3]) -> Result<()>,
) -> Result<()> {
    let mut number = 0;
    for (resource, parts) in resources.iter_mut().enumerate() {
        let scopes = parts.parts_mut().map(|parts| &mut parts.scopes[..]).unwrap_or_default();
        for (scope, parts) in scopes.iter_mut().enumerate() {
            let profiles = parts.parts_mut().map(|parts| &mut parts.profiles[..]);
            for (row, profile) in profiles.unwrap_or_default().iter_mut().enumerate() {
                f(number, profile, [resource, scope, row])?;
                number += 1;
            }
        }
    }
    Ok(())
}

/// Returns the place of a profile as field names and rows.
fn rows([resource, scope, profile]: [usize; 3]) -> [(&'static str, usize); 3] {
    [("resource_profiles", resource), ("scope_profiles", scope), ("profiles", profile)]
}

/// The dictionary of a payload whose profiles have their own tables.
pub(crate) struct PerProfileTables {
    /// The tables, if there is only one profile.
    dictionary: Option<Dictionary>,
    /// The merged tables, if there are several profiles.
    merged: Option<Interner>,
}

impl PerProfileTables {
    /// Creates an empty dictionary. `several` is whether there is more than one profile to merge.
    pub(crate) fn new(several: bool, cx: &ReadContext) -> Self {
        // `add` charges the budget, so the interner itself has no limit.
        let limits = Limits { max_owned_bytes: u64::MAX, ..*cx.limits() };
        let merged = several.then(|| Interner::new(limits));
        Self { dictionary: None, merged }
    }

    /// Returns whether the payload has only one set of tables.
    pub(crate) fn is_single(&self) -> bool {
        self.merged.is_none()
    }

    /// Adds the tables of one profile. Refunds the budget that reading them took since `mark`.
    ///
    /// The dictionary is dropped after the merge, so the budget is charged only for the growth of the merged
    /// one.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if the merged dictionary exceeds the budget.
    pub(crate) fn add(
        &mut self,
        dictionary: Dictionary,
        profile: &mut Profile,
        mark: u64,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let Some(merged) = &mut self.merged else {
            self.dictionary = Some(dictionary);
            return Ok(());
        };
        let spent = merged.budget.spent();
        let remap = absorb(merged, &dictionary)?;
        remap.profile(profile);
        cx.budget.give_back(mark);
        let grown = usize::try_from(merged.budget.spent() - spent).unwrap_or(usize::MAX);
        cx.budget.charge::<u8>(grown.saturating_add(profile.owned_bytes()))
    }

    /// Returns the dictionary of all profiles. Adds the attribute for unset pprof flags, which depends on all
    /// profiles.
    fn finish(self, resources: &[ResourceProfiles]) -> Result<Dictionary> {
        let Some(mut merged) = self.merged else {
            return Ok(self.dictionary.unwrap_or_default());
        };
        let scopes = resources.iter().flat_map(|resource| &resource.scopes);
        let profiles: Vec<&Profile> = scopes.flat_map(|scope| &scope.profiles).collect();
        fields_to_attributes::unset_flag_of_all(&mut merged, &profiles)?;
        Ok(merged.dictionary)
    }
}

/// Assembles the profiles of generations with shared tables.
pub(crate) fn shared<G: Generation>(
    mut resources: Vec<ResourceProfiles>,
    tables: Tables,
    legacy: Vec<(usize, LegacyFields)>,
    cx: &mut ReadContext,
) -> Result<Profiles> {
    // Read before `tables` moves. The first string of a table is the empty one, so no strings mean no
    // table.
    let without_tables = tables.counts[Table::String as usize] == 0;
    let users = Users::All(&mut resources, legacy);
    let dictionary = resolve_tables::<G>(tables, users, true, cx).map_err(|e| match G::CAPABILITIES.table_location {
        // The request has no field for tables; only files of ProfilesData do.
        TableLocation::Data if without_tables => Error::new(
            e.kind(),
            format!("{e}; an export request of this generation has no field for the tables: send ProfilesData, or another generation"),
        ),
        _ => e,
    })?;
    Ok(Profiles { dictionary, resources })
}

/// Assembles the profiles of generations with tables in every profile.
///
/// Strings of resources and scopes belong to no profile, so they were interned separately. Here they get ids
/// in the merged dictionary.
pub(crate) fn by_profile(
    mut resources: Vec<ResourceProfiles>,
    texts: StringInterner,
    own: PerProfileTables,
    cx: &mut ReadContext,
) -> Result<Profiles> {
    let mut dictionary = own.finish(&resources)?;
    let texts = validate_texts(texts, cx)?;
    // For the hash map and the ids in `places`.
    cx.budget.charge::<[u64; 8]>(texts.len())?;
    let places = places(&texts, &mut dictionary.strings);
    let mut remap = Remap::default();
    remap.0[StringId::TABLE] = places.into_iter().map(|id| id.0).collect();
    resources.iter_mut().for_each(|resource| remap.around_profiles(resource));
    Ok(Profiles { dictionary, resources })
}

/// Returns the id of each of `texts` among `strings`, and appends those that are missing.
///
/// For duplicates in the dictionary, returns the first.
fn places(texts: &Strings, strings: &mut Strings) -> Vec<StringId> {
    let found: HashMap<&str, usize> = texts.iter().zip(0..).collect();
    let mut places = vec![None; texts.len()];
    // There are few texts and many strings: a bitmap of lengths excludes most strings before hashing.
    let bit = |length: usize| 1u64 << (length % 64);
    let lengths = texts.iter().fold(0, |all, text| all | bit(text.len()));
    for id in (0..strings.len() as u32).map(StringId) {
        let length = strings.range(id).map_or(0, |range| range.len());
        if lengths & bit(length) != 0
            && let Some(&at) = found.get(strings.get(id))
        {
            places[at].get_or_insert(id);
        }
    }
    let rows = places.into_iter().zip(texts.iter());
    rows.map(|(place, text)| place.unwrap_or_else(|| strings.push(text))).collect()
}

/// Normalizes, converts and validates one set of tables, which are those of the payload if `all` is true, and the
/// profiles that use it.
pub(crate) fn resolve_tables<G: Generation>(
    mut tables: Tables,
    mut users: Users,
    all: bool,
    cx: &mut ReadContext,
) -> Result<Dictionary> {
    // Places in tables begin with the field that contains the tables; places in profiles with the profile.
    let is_inside = G::CAPABILITIES.table_location == TableLocation::Dictionary;
    let field = is_inside.then_some("dictionary");
    let of_tables = |error: Error| field.into_iter().fold(error, Error::within);
    tables.stacks.finish_rows();
    let uses = |test: fn(&Profile) -> bool| users.profiles().any(|(_, profile)| test(profile));
    let mut targets = cx.within(field, |cx| tables.normalize::<G>(&uses, cx))?;
    users.each(cx, |profile, legacy, cx| {
        legacy.into_attributes::<G>(profile, &mut tables, &targets, cx)
    })?;
    let (stacks, own) = (tables.stacks.rows.len(), targets.own(Table::Stack) as usize);
    let first_samples = OnceCell::new();
    let place = |error: Error, row: usize, at| {
        let error = error.element(at).within("location_indices");
        if G::CAPABILITIES.stack_table {
            return of_tables(error.within_row("stack_table", row - own));
        }
        let first = first_samples.get_or_init(|| users.first_samples(stacks));
        match first.get(row).copied().flatten() {
            Some((at, sample)) => {
                let inside = at.map(rows);
                placed(error.within_row("samples", sample), inside.as_ref().map_or(&[], |at| at))
            }
            None => of_tables(error),
        }
    };
    cx.within(field, |cx| tables.validate_rows::<G>(&targets, all, cx))?;
    tables.validate_stacks::<G>(&targets, place, cx)?;
    let dictionary = cx.within(field, |cx| tables.finish(cx))?;
    if G::CAPABILITIES.labels {
        // Samples refer to attributes made of labels, too.
        targets.tables[Table::Attribute as usize].0 = dictionary.attributes.len() as u32;
    }
    users.each(cx, |profile, _, cx| {
        fields_to_attributes::validate_samples::<G>(profile, &targets, cx)
    })?;
    Ok(dictionary)
}
