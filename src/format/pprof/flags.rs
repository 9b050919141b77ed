//! The four `has_*` flags of mappings, where the source had no word for them.
//!
//! Inferring them counts as `mapping.flags_inferred`, as the source did not say them; decision 7 has the
//! other half, how a source that has the flags and sets none is told from one that lacks them.

use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StringId};

/// The flags of each mapping by what its locations say: a tool that finds none set looks for
/// symbols that are there already.
///
/// By mapping, from the `locations` that are written, with bit 0 for functions, 1 for files, 2 for lines and 3 for inlined frames. The first three are set
/// where every location of the mapping has them, the last where any has.
///
/// Linear in the locations and their lines.
pub(crate) fn infer(dictionary: &Dictionary, locations: impl Iterator<Item = usize>) -> Vec<u32> {
    const ALL: u32 = 0b111;
    const INLINE: u32 = 0b1000;
    let mut flags: Vec<Option<u32>> = vec![None; dictionary.mappings().rows().len()];
    for row in locations {
        let id = LocationId(row as u32);
        let Some(flags) = flags.get_mut(dictionary.locations().mapping(id).row()) else {
            continue;
        };
        let lines = dictionary.locations().lines(id);
        let function = |line: &crate::model::dictionary::Line| dictionary.function(line.function);
        let said = u32::from(lines.iter().any(|line| function(line).name != StringId::NONE))
            | u32::from(lines.iter().any(|line| function(line).filename != StringId::NONE)) << 1
            | u32::from(lines.iter().any(|line| line.line != 0)) << 2;
        let before = flags.unwrap_or(ALL);
        let inline = before & INLINE | u32::from(lines.len() > 1) << 3;
        *flags = Some(before & ALL & said | inline);
    }
    flags.into_iter().map(Option::unwrap_or_default).collect()
}
