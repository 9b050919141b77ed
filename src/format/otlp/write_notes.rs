//! What writing changes though no meaning is lost.

use crate::format::known::{KnownAttributes, is_pprof};
use crate::format::losses::{self, Losses};
use crate::format::otlp::schema::{Generation, Rows};
use crate::format::otlp::write_tables::is_profile_field;
use crate::format::select::Selection;
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;

/// Counts the rows that nothing refers to and that are not `written`: those of all tables where
/// profiles have their own, stacks where they are slices, and attributes where only those in use
/// are written.
pub(crate) fn orphans<G: Generation>(
    profiles: &Profiles,
    known: &KnownAttributes,
    written: &Selection,
    losses: &mut Losses,
) {
    let dictionary = &profiles.dictionary;
    for (rows, select, table) in [
        (dictionary.mappings.rows.len(), &written.mappings, "mapping_table"),
        (dictionary.locations.len(), &written.locations, "location_table"),
        (dictionary.functions.len(), &written.functions, "function_table"),
        (dictionary.links.len(), &written.links, "link_table"),
    ] {
        let orphans = rows.saturating_sub(1 + select.len());
        losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, || table.to_owned());
    }
    if G::SCHEMA.tables.stack == 0 {
        let stacks = profiles.iter().flat_map(|p| &p.samples.stacks);
        let used = stacks.map(|id| id.row());
        note_unused(dictionary.stacks.len(), used, "stack_table", losses);
    }
    let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
    let chosen = G::SCHEMA.rows != Rows::NullFirst
        || of_profiles.any(|id| is_profile_field::<G>(known.get(*id)));
    if !chosen || dictionary.attributes.len() < 2 {
        return;
    }
    let samples = profiles.iter().flat_map(|p| &p.samples.attributes.items);
    let own = profiles.iter().flat_map(|profile| &profile.attributes);
    let of_mapping = |row| dictionary.mappings.attributes.row(row);
    let of_location = |row| dictionary.locations.attributes.row(row);
    let mappings = written.mappings.rows().flat_map(of_mapping);
    let locations = written.locations.rows().flat_map(of_location);
    let attributes = samples.chain(own).chain(mappings).chain(locations);
    let used = attributes.map(|id| id.row());
    note_unused(dictionary.attributes.len(), used, "attribute_table", losses);
}

/// Counts the rows of a table, row 0 not among them, that are not `used`.
fn note_unused(
    rows: usize,
    used: impl Iterator<Item = usize>,
    table: &'static str,
    losses: &mut Losses,
) {
    let mut marks = vec![false; rows];
    for row in used {
        if let Some(mark) = marks.get_mut(row) {
            *mark = true;
        }
    }
    let orphans = marks.iter().skip(1).filter(|mark| !**mark).count();
    losses.add_many(losses::ORPHAN_DROPPED, orphans as u64, || table.to_owned());
}

/// Says that mappings whose flags are not known get none: read back, they have none.
pub(crate) fn unknown_flags<G: Generation>(
    dictionary: &Dictionary,
    known: &KnownAttributes,
    written: &Selection,
    losses: &mut Losses,
) {
    if G::SCHEMA.mapping.has_functions == 0 || written.mappings.len() == 0 {
        return;
    }
    let lines = &dictionary.locations.lines;
    let lined = written.locations.rows().any(|row| !lines.row(row).is_empty());
    let pprof = |row| is_pprof(dictionary, row);
    if lined && !(known.from_pprof && written.attributes.rows().any(pprof)) {
        let mappings = written.mappings.len() as u64;
        losses.add_many(losses::FLAGS_INFERRED, mappings, || "mapping_table".to_owned());
    }
}
