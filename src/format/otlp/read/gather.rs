//! Puts what was read together: one dictionary, and every profile in its scope.
//!
//! Generations differ in whose the tables are: all profiles' ([`shared`]), or each profile's own
//! ([`by_profile`]). A set of tables and its users go through [`unit`](fn@unit) in both cases.
//!
//! ```text
//! shared       tables ─────────────────────► unit ─► Dictionary ─┐
//!              all profiles ───────────────► unit                ├─► Profiles
//! by profile   tables + profile ─► unit ─► add (merge, remap) ───┘   once a profile
//! ```
//!
//! `unit` runs settle, resolve_ids, lift, prove and finish in this order. Lifting comes before
//! proving as it adds attributes, and samples come last as they refer to all the rest.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::builder::interner::Interner;
use crate::builder::merge::{Remap, absorb};
use crate::error::{Error, Result};
use crate::format::intake::{Intake, placed};
use crate::format::otlp::read::finish::prove_texts;
use crate::format::otlp::read::lift::{self, Said};
use crate::format::otlp::read::tables::Tables;
use crate::format::texts::Texts;
use crate::limits::Limits;
use crate::model::dictionary::Dictionary;
use crate::model::id::{Id, StringId};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::strings::Strings;
use crate::model::{Profiles, ResourceProfiles};
use crate::schema::{Generation, Home};

/// The profiles that a set of tables is of: their ids are not yet proved.
pub(crate) enum Users<'a> {
    /// One that has the tables to itself.
    One(&'a mut Profile, Said),
    /// All of a payload; what is said in fields of some, by their number.
    All(&'a mut [ResourceProfiles], Vec<(usize, Said)>),
}

/// Where a profile is, unless whoever reads it knows: its resource, its scope and itself.
///
/// `None` where the caller has put the place around already, which it does when it reads one
/// profile at a time.
type At = Option<[usize; 3]>;

impl Users<'_> {
    /// Calls `f` with every profile that has anything, and what was said in its fields the first
    /// time.
    fn each(
        &mut self,
        intake: &mut Intake,
        mut f: impl FnMut(&mut ProfileParts, Said, &mut Intake) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::One(profile, said) => f(profile, std::mem::take(said), intake),
            Self::All(resources, said) => {
                let mut said = std::mem::take(said).into_iter().peekable();
                for_each_profile(resources, |number, profile, at| {
                    let said = said.next_if(|(of, _)| *of == number);
                    if said.is_none() && profile.parts_mut().is_none() {
                        return Ok(());
                    }
                    // One may have nothing but what is said in fields.
                    let said = said.map(|(_, said)| said).unwrap_or_default();
                    intake.inside(&rows(at), |intake| f(profile, said, intake))
                })
            }
        }
    }

    /// Whether a test holds for any of the profiles.
    fn any(&self, test: fn(&Profile) -> bool) -> bool {
        match self {
            Self::One(profile, _) => test(profile),
            Self::All(resources, _) => {
                let scopes = resources.iter().flat_map(|resource| &resource.scopes);
                scopes.flat_map(|scope| &scope.profiles).any(test)
            }
        }
    }

    /// By stack: the profile of the first sample that has it, and that sample.
    ///
    /// Up to 1.7 stacks are no rows of the wire, so an error in one must name a sample. It is asked
    /// for only when there is an error: it walks all samples.
    fn first_samples(&self, stacks: usize) -> Vec<Option<(At, usize)>> {
        let mut first = vec![None; stacks];
        let mut note = |profile: &Profile, at: At| {
            for (sample, stack) in profile.samples.stacks.iter().enumerate() {
                if let Some(first) = first.get_mut(stack.row()) {
                    first.get_or_insert((at, sample));
                }
            }
        };
        match self {
            Self::One(profile, _) => note(profile, None),
            Self::All(resources, _) => {
                for (resource, in_resource) in resources.iter().enumerate() {
                    for (scope, in_scope) in in_resource.scopes.iter().enumerate() {
                        for (row, profile) in in_scope.profiles.iter().enumerate() {
                            note(profile, Some([resource, scope, row]));
                        }
                    }
                }
            }
        }
        first
    }
}

/// Calls `f` with every profile, its number and where it is.
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

/// The rows a profile is inside of, and its own.
fn rows([resource, scope, profile]: [usize; 3]) -> [(&'static str, usize); 3] {
    [("resource_profiles", resource), ("scope_profiles", scope), ("profiles", profile)]
}

/// The dictionary of a payload whose profiles have tables of their own.
pub(crate) struct OwnTables {
    /// Those of the one profile.
    dictionary: Option<Dictionary>,
    /// Where there are several profiles, their tables are merged here.
    merged: Option<Interner>,
}

impl OwnTables {
    /// `several` says whether there is anything to merge.
    pub(crate) fn new(several: bool, intake: &Intake) -> Self {
        // What it takes is spent by `add`.
        let limits = Limits { max_owned_bytes: u64::MAX, ..*intake.limits() };
        let merged = several.then(|| Interner::new(limits));
        Self { dictionary: None, merged }
    }

    /// Whether the tables of the one profile are those of the payload.
    pub(crate) fn is_single(&self) -> bool {
        self.merged.is_none()
    }

    /// Adds the tables of one profile; what was spent on reading them since `mark` is given back.
    ///
    /// The dictionary that was read is dropped afterwards; what stays is what the merged one grew
    /// by, and the budget is charged with that alone.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) when the merged dictionary outgrows the budget.
    pub(crate) fn add(
        &mut self,
        dictionary: Dictionary,
        profile: &mut Profile,
        mark: u64,
        intake: &mut Intake,
    ) -> Result<()> {
        let Some(merged) = &mut self.merged else {
            self.dictionary = Some(dictionary);
            return Ok(());
        };
        let spent = merged.room.spent();
        let remap = absorb(merged, &dictionary)?;
        remap.profile(profile);
        intake.budget.give_back(mark);
        let grown = usize::try_from(merged.room.spent() - spent).unwrap_or(usize::MAX);
        intake.budget.take::<u8>(grown.saturating_add(profile.owned_bytes()))
    }

    /// The dictionary of all.
    /// What pprof's flags say by their absence is said now that all profiles are known.
    fn finish(self, resources: &[ResourceProfiles]) -> Result<Dictionary> {
        let Some(mut merged) = self.merged else {
            return Ok(self.dictionary.unwrap_or_default());
        };
        let scopes = resources.iter().flat_map(|resource| &resource.scopes);
        let profiles: Vec<&Profile> = scopes.flat_map(|scope| &scope.profiles).collect();
        lift::unset_flag_of_all(&mut merged, &profiles)?;
        Ok(merged.dictionary)
    }
}

/// The generations whose tables are shared by all profiles.
pub(crate) fn shared<G: Generation>(
    mut resources: Vec<ResourceProfiles>,
    tables: Tables,
    said: Vec<(usize, Said)>,
    intake: &mut Intake,
) -> Result<Profiles> {
    let without_tables = tables.counts.string == 0;
    let users = Users::All(&mut resources, said);
    let dictionary = unit::<G>(tables, users, true, intake).map_err(|e| match G::CAPABILITIES.home {
        // The request has no field for them; only a file of ProfilesData does.
        Home::Data if without_tables => Error::new(
            e.kind(),
            format!("{e}; an export request of this generation has no field for the tables: send ProfilesData, or another generation"),
        ),
        _ => e,
    })?;
    Ok(Profiles { dictionary, resources })
}

/// The generations whose tables are in every profile.
///
/// Texts of resources and scopes were interned beside all tables, since they belong to no profile;
/// they get ids in the merged dictionary here.
pub(crate) fn by_profile(
    mut resources: Vec<ResourceProfiles>,
    texts: Texts,
    own: OwnTables,
    intake: &mut Intake,
) -> Result<Profiles> {
    let mut dictionary = own.finish(&resources)?;
    let texts = prove_texts(texts, intake)?;
    intake.budget.take::<[u64; 8]>(texts.len())?;
    let places = places(&texts, &mut dictionary.strings);
    let mut remap = Remap::default();
    remap.0[StringId::TABLE] = places.into_iter().map(|id| id.0).collect();
    resources.iter_mut().for_each(|resource| remap.around_profiles(resource));
    Ok(Profiles { dictionary, resources })
}

/// Where each of some texts is among `strings`, which get those they lack.
///
/// A text that the dictionary has several times gets the first row of it.
fn places(texts: &Strings, strings: &mut Strings) -> Vec<StringId> {
    let found: HashMap<&str, usize> = texts.iter().zip(0..).collect();
    let mut places = vec![None; texts.len()];
    // Few texts against many strings: most are told apart by their lengths.
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

/// Settles, lifts and proves one set of tables, which may be `all` of the payload's, and the
/// profiles that use it.
pub(crate) fn unit<G: Generation>(
    mut tables: Tables,
    mut users: Users,
    all: bool,
    intake: &mut Intake,
) -> Result<Dictionary> {
    // What is wrong with the tables is wrong where they are; with the profiles, inside of them.
    let of_tables = |error: Error| match G::CAPABILITIES.home {
        Home::Dictionary => error.within("dictionary"),
        Home::Data | Home::Profile => error,
    };
    tables.stacks.settle();
    let uses = |test: fn(&Profile) -> bool| users.any(test);
    let mut targets = tables.settle::<G>(&uses, intake).map_err(of_tables)?;
    tables.resolve_ids::<G>(&mut targets, intake).map_err(of_tables)?;
    users.each(intake, |profile, said, intake| {
        targets.move_references(profile);
        said.lift::<G>(profile, &mut tables, &targets, intake)
    })?;
    if G::CAPABILITIES.labels {
        targets.count_new_attributes(&tables);
    }
    let stacks = targets.stack;
    let first_samples = OnceCell::new();
    let place = |error: Error, row: usize, at| {
        let error = error.element(at).within("location_indices");
        if G::CAPABILITIES.stack_table {
            return of_tables(error.within_row("stack_table", row - stacks.own as usize));
        }
        let first = first_samples.get_or_init(|| users.first_samples(stacks.rows));
        match first.get(row).copied().flatten() {
            Some((at, sample)) => {
                let inside = at.map(rows);
                placed(error.within_row("samples", sample), inside.as_ref().map_or(&[], |at| at))
            }
            None => of_tables(error),
        }
    };
    let mut proved = tables.prove_rows::<G>(&targets, all, intake).map_err(of_tables)?;
    let rows = tables.prove_stacks::<G>(&mut proved, &targets, place, intake)?;
    let dictionary = tables.finish(proved, rows, intake).map_err(of_tables)?;
    users.each(intake, |profile, _, intake| lift::prove_samples::<G>(profile, &targets, intake))?;
    Ok(dictionary)
}
