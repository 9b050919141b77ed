//! Losses of a whole payload: data that it cannot represent, and unknown mapping flags.
//!
//! In OTLP 1.3 to 1.7 the four flags of a mapping are fields, and an omitted field is false. The model also
//! represents flags that are unknown.

use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, LocationId, MappingId};
use crate::schema::Generation;
use crate::tables::attributes::semantic_attributes::{AttributeRoles, is_pprof};
use crate::tables::rows::reach::Reach;
use crate::tables::write::unsupported;

/// Reports mappings with unknown flags: they read back as mappings without flags. `reach` is the set of
/// written rows, if not all are written.
///
/// Reports only if there are lines: without lines, all inferred flags are false too. In payloads converted
/// from pprof, flags are known, set or not.
pub(crate) fn unknown_flags<G: Generation>(
    dictionary: &Dictionary,
    roles: &AttributeRoles,
    reach: Option<&Reach>,
    losses: &mut Losses,
) {
    if !G::CAPABILITIES.mapping_flags {
        return;
    }
    let lines = &dictionary.locations.lines;
    let lined = |row: &u32| !lines.row(*row as usize).is_empty();
    let pprof = |row: &u32| is_pprof(dictionary, *row as usize);
    let (mappings, lined, pprof) = match reach.map(|reach| &reach.rows) {
        // Row 0, the empty row, always exists and is not written.
        None => (dictionary.mappings.rows.len() - 1, !lines.items.is_empty(), roles.from_pprof),
        Some(rows) => (
            rows.of::<MappingId>().len(),
            rows.of::<LocationId>().iter().any(lined),
            rows.of::<AttributeId>().iter().any(pprof),
        ),
    };
    if lined && !pprof {
        losses.add_many(losses::FLAGS_INFERRED, mappings as u64, || "mapping_table".to_owned());
    }
}

/// Counts data that no row of the payload can represent.
///
/// Counted once over the whole payload, because the losses do not depend on how profiles are split.
///
/// A `string` of proto3 is UTF-8, so invalid bytes were replaced in the model's strings. This counts these
/// strings.
pub(crate) fn lost_texts<G: Generation>(profiles: &Profiles, losses: &mut Losses) {
    let strings = &profiles.dictionary.strings;
    losses.add_many(losses::INVALID_UTF8, strings.not_utf8().len() as u64, || {
        strings.not_utf8().next().map_or(String::new(), |(id, _)| format!("{:?}", strings.get(id)))
    });
    if !G::CAPABILITIES.entities {
        let lost: usize =
            profiles.resources.iter().map(|resource| resource.resource.entity_refs.len()).sum();
        losses.add_many(losses::ENTITY_REFS_DROPPED, lost as u64, || {
            "resource.entity_refs".to_owned()
        });
    }
    if !G::CAPABILITIES.stacktrace_ids {
        profiles.iter().for_each(|profile| unsupported::stacktrace_ids(profile, losses));
    }
}
