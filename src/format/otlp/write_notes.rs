//! What writing changes though no meaning is lost.

use crate::format::known::KnownAttributes;
use crate::format::losses::{self, Losses};
use crate::format::otlp::schema::{Generation, Home, Rows};
use crate::format::otlp::write_tables::is_profile_field;
use crate::format::select::Selection;
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::AttributeId;
use crate::model::profile::Profile;

/// Counts the attributes that nothing refers to, where only those in use are written.
pub(crate) fn orphans<G: Generation>(
    profiles: &Profiles,
    known: &KnownAttributes,
    losses: &mut Losses,
) {
    let dictionary = &profiles.dictionary;
    let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
    let chosen = G::SCHEMA.rows != Rows::NullFirst
        || of_profiles.any(|id| is_profile_field::<G>(known.get(*id)));
    if !chosen || dictionary.attributes.len() < 2 {
        return;
    }
    let mut used = vec![false; dictionary.attributes.len()];
    let samples = profiles.iter().flat_map(|p| &p.samples.attributes.items);
    let own = profiles.iter().flat_map(|profile| &profile.attributes);
    let mappings = &dictionary.mappings.attributes.items;
    let locations = &dictionary.locations.attributes.items;
    for id in samples.chain(own).chain(mappings).chain(locations) {
        if let Some(used) = used.get_mut(id.row()) {
            *used = true;
        }
    }
    let orphans = used.iter().skip(1).filter(|used| !**used).count();
    losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, || {
        "attribute_table".to_owned()
    });
}

/// Says that mappings whose flags are not known get none: read back, they have none.
pub(crate) fn unknown_flags<G: Generation>(
    dictionary: &Dictionary,
    known: &KnownAttributes,
    selection: &Selection,
    profiles: &[&Profile],
    losses: &mut Losses,
) {
    if G::SCHEMA.mapping.has_functions == 0 || selection.mappings.len() == 0 {
        return;
    }
    let mut locations = selection.locations.rows();
    let lined = locations.any(|row| !dictionary.locations.lines.row(row).is_empty());
    let from_pprof = match G::SCHEMA.home {
        Home::Profile => known.from_pprof && says_pprof(dictionary, selection, profiles),
        Home::Data | Home::Dictionary => known.from_pprof,
    };
    if lined && !from_pprof {
        let mappings = selection.mappings.len() as u64;
        losses.add_many(losses::FLAGS_INFERRED, mappings, || {
            "mapping_table".to_owned()
        });
    }
}

/// Whether any attribute that some profiles and their rows have is of pprof's namespace.
fn says_pprof(dictionary: &Dictionary, selection: &Selection, profiles: &[&Profile]) -> bool {
    let pprof = |id: &AttributeId| {
        let attribute = dictionary.attribute(*id);
        attribute.is_some_and(|a| dictionary.text(a.key).starts_with("pprof."))
    };
    let mut mappings = selection.mappings.rows();
    let mut locations = selection.locations.rows();
    let (of_mapping, of_location) = (
        &dictionary.mappings.attributes,
        &dictionary.locations.attributes,
    );
    profiles.iter().any(|profile| {
        let samples = profile.samples.attributes.items.iter();
        profile.attributes.iter().chain(samples).any(pprof)
    }) || mappings.any(|row| of_mapping.row(row).iter().any(pprof))
        || locations.any(|row| of_location.row(row).iter().any(pprof))
}
