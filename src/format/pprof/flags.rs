//! Inference of the four `has_*` flags of mappings for sources without these flags.
//!
//! Inferred flags count as `mapping.flags_inferred`. Decision 7 explains how to distinguish a source that
//! sets no flags from one that lacks them.

use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StringId};

/// Infers the flags of each mapping from its locations. Without flags, tools would look up symbols that are
/// already present.
///
/// Uses the `locations` that are written. Bit 0 is for functions, 1 for files, 2 for lines and 3 for inlined
/// frames. The first three are set if every location of the mapping has them, the last if any location has
/// inlined frames.
///
/// Takes time linear in the locations and their lines.
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
        let implied = u32::from(lines.iter().any(|line| function(line).name != StringId::NONE))
            | u32::from(lines.iter().any(|line| function(line).filename != StringId::NONE)) << 1
            | u32::from(lines.iter().any(|line| line.line != 0)) << 2;
        // A mapping has all three flags until a location lacks one. Without locations it gets no flags.
        let before = flags.unwrap_or(ALL);
        let inline = before & INLINE | u32::from(lines.len() > 1) << 3;
        *flags = Some(before & ALL & implied | inline);
    }
    flags.into_iter().map(Option::unwrap_or_default).collect()
}
