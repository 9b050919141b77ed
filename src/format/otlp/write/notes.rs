//! What writing changes though no meaning is lost.
//!
//! In OTLP 1.3 to 1.7 the four flags of a mapping are fields that are false when they are left out; the model knows
//! also that nobody said anything.

use crate::build::reach::Reach;
use crate::format::known::{KnownAttributes, is_pprof};
use crate::format::losses::{self, Losses};
use crate::format::otlp::schema::Generation;
use crate::model::dictionary::Dictionary;

/// Says that mappings whose flags are not known get none: read back, they have none. `reach` is
/// what is written, where that is not all.
pub(crate) fn unknown_flags<G: Generation>(
    dictionary: &Dictionary,
    known: &KnownAttributes,
    reach: Option<&Reach>,
    losses: &mut Losses,
) {
    if G::SCHEMA.mapping.has_functions == 0 {
        return;
    }
    let lines = &dictionary.locations.lines;
    let lined = |row: &u32| !lines.row(*row as usize).is_empty();
    let pprof = |row: &u32| is_pprof(dictionary, *row as usize);
    let (mappings, lined, pprof) = match reach.map(|reach| &reach.rows) {
        None => (dictionary.mappings.rows.len() - 1, !lines.items.is_empty(), known.from_pprof),
        Some(rows) => (
            rows.mappings.len(),
            rows.locations.iter().any(lined),
            rows.attributes.iter().any(pprof),
        ),
    };
    if lined && !pprof {
        losses.add_many(losses::FLAGS_INFERRED, mappings as u64, || "mapping_table".to_owned());
    }
}
