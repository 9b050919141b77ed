//! Puts what was read together: one dictionary, and every profile in its scope.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::build::interner::Interner;
use crate::build::merge::absorb;
use crate::error::{Error, Result};
use crate::format::alike::merge_stacks;
use crate::format::intake::Intake;
use crate::format::otlp::lift::{self, Draft};
use crate::format::otlp::read::Reading;
use crate::format::otlp::schema::{Generation, Home};
use crate::format::otlp::settle::prove_texts;
use crate::format::otlp::tables::Tables;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::Profile;
use crate::model::strings::Strings;
use crate::model::value::KeyValue;
use crate::model::{Profiles, ResourceProfiles};

/// A profile, and where it belongs.
struct Placed {
    at: [usize; 3],
    profile: Profile,
}

/// The generations whose tables are shared by all profiles.
pub(crate) fn shared<G: Generation>(reading: Reading, intake: &mut Intake) -> Result<Profiles> {
    let Reading { mut resources, tables, drafts } = reading;
    let without_tables = tables.counts.string == 0;
    let (dictionary, placed) =
        unit::<G>(tables, drafts, true, intake).map_err(|e| match G::SCHEMA.home {
            Home::Dictionary if !e.place().starts_with("resource_profiles") => {
                e.within("dictionary")
            }
            // The request has no field for them; only a file of ProfilesData does.
            Home::Data if without_tables => Error::new(
                e.kind(),
                format!("{e}; an export request of this generation cannot carry its tables"),
            ),
            _ => e,
        })?;
    place(placed, &mut resources);
    Ok(Profiles { dictionary, resources })
}

/// The generations whose tables are in every profile: the first one's become the payload's, the
/// others' are added to them.
pub(crate) fn by_profile<G: Generation>(reading: Reading, intake: &mut Intake) -> Result<Profiles> {
    let Reading { mut resources, tables: outer, drafts } = reading;
    let single = drafts.len() <= 1;
    let mut interner = Interner::new(*intake.limits());
    let mut dictionary = Dictionary::default();
    let mut placed = Vec::new();
    for mut draft in drafts {
        let at = draft.at;
        let tables =
            draft.tables.take().map_or_else(|| Tables::new(G::SCHEMA.rows), |tables| *tables);
        let (own, mut profiles) = unit::<G>(tables, vec![draft], single, intake).map_err(|e| {
            let located = e.place().starts_with("resource_profiles");
            if located { e } else { Draft { at, ..Draft::default() }.place(e) }
        })?;
        if single {
            dictionary = own;
        } else {
            let remap = absorb(&mut interner, &own)?;
            profiles.iter_mut().for_each(|placed| remap.profile(&mut placed.profile));
        }
        placed.append(&mut profiles);
    }
    if !single {
        let profiles: Vec<&Profile> = placed.iter().map(|placed| &placed.profile).collect();
        lift::unset_flag_of_all(&mut interner, &profiles)?;
        dictionary = interner.dictionary;
    }
    let texts = prove_texts(outer.texts, intake)?;
    let places = places(&texts, &mut dictionary.strings);
    rename_texts(&mut resources, &mut |id| places.get(id.row()).copied().unwrap_or_default());
    place(placed, &mut resources);
    Ok(Profiles { dictionary, resources })
}

/// Where each of some texts is among `strings`, which get those they lack.
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
fn unit<G: Generation>(
    mut tables: Tables,
    mut drafts: Vec<Draft>,
    all: bool,
    intake: &mut Intake,
) -> Result<(Dictionary, Vec<Placed>)> {
    tables.stacks.settle();
    if G::SCHEMA.tables.stack == 0
        && let Some(places) = merge_stacks(&mut tables.stacks.rows, intake)?
    {
        let samples = drafts.iter_mut().map(|draft| &mut draft.samples);
        for stack in samples.flat_map(|samples| &mut samples.stacks) {
            *stack = places.of(*stack);
        }
    }
    let mut shifts = tables.settle::<G>(intake)?;
    let slices = drafts.iter().any(|draft| draft.slices);
    tables.resolve_ids::<G>(&mut shifts, slices, intake);
    for draft in &mut drafts {
        draft.lift::<G>(&mut tables, &shifts, intake).map_err(|e| draft.place(e))?;
    }
    shifts.count_new_attributes(&tables);
    let stacks = tables.stacks.rows.len();
    let users = OnceCell::new();
    let place = |error: Error, row: usize, at| {
        let error = error.element(at).within("location_indices");
        if G::SCHEMA.tables.stack != 0 {
            return error.within_row("stack_table", row);
        }
        let first = users.get_or_init(|| first_users(&drafts, stacks));
        match first.get(row).copied().flatten() {
            Some((draft, sample)) => draft.place(error.within_row("samples", sample)),
            None => error,
        }
    };
    let dictionary = tables.finish::<G>(&shifts, all, place, intake)?;
    let mut placed = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let at = draft.at;
        placed.push(Placed { at, profile: draft.finish::<G>(&shifts, stacks, intake)? });
    }
    Ok((dictionary, placed))
}

/// By stack: the first sample that has it, and the profile that is in.
fn first_users(drafts: &[Draft], stacks: usize) -> Vec<Option<(&Draft, usize)>> {
    let mut users = vec![None; stacks];
    for draft in drafts {
        for (sample, &stack) in draft.samples.stacks.iter().enumerate() {
            if let Some(user) = users.get_mut(stack as usize) {
                user.get_or_insert((draft, sample));
            }
        }
    }
    users
}

/// Puts the profiles into their scopes.
fn place(placed: Vec<Placed>, resources: &mut [ResourceProfiles]) {
    for Placed { at: [resource, scope, _], profile } in placed {
        if let Some(scope) =
            resources.get_mut(resource).and_then(|resource| resource.scopes.get_mut(scope))
        {
            scope.profiles.push(profile);
        }
    }
}

/// Gives the texts of resources and scopes new ids.
fn rename_texts(resources: &mut [ResourceProfiles], push: &mut impl FnMut(StringId) -> StringId) {
    let mut renamed =
        hashbrown::HashMap::<StringId, StringId, foldhash::fast::RandomState>::default();
    let mut rename = |id: StringId| {
        if id == StringId::NONE { id } else { *renamed.entry(id).or_insert_with(|| push(id)) }
    };
    for resource in resources {
        rename_pairs(&mut resource.resource.attributes, &mut rename);
        resource.schema_url = rename(resource.schema_url);
        for entity in &mut resource.resource.entity_refs {
            entity.schema_url = rename(entity.schema_url);
            entity.entity_type = rename(entity.entity_type);
            entity
                .id_keys
                .iter_mut()
                .chain(&mut entity.description_keys)
                .for_each(|key| *key = rename(*key));
        }
        for scope in &mut resource.scopes {
            scope.schema_url = rename(scope.schema_url);
            scope.scope.name = rename(scope.scope.name);
            scope.scope.version = rename(scope.scope.version);
            rename_pairs(&mut scope.scope.attributes, &mut rename);
        }
    }
}

fn rename_pairs(pairs: &mut [KeyValue], rename: &mut impl FnMut(StringId) -> StringId) {
    pairs.iter_mut().for_each(|pair| *pair = pair.map_texts(rename));
}
