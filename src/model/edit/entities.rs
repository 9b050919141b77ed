//! Updates entities when the keys of their resource's attributes change.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::model::id::StringId;
use crate::model::profiles::EntityRef;
use crate::model::strings::Strings;

/// The keys of a resource's attributes before and after an edit.
pub(super) struct Keys {
    pub(super) old: Vec<StringId>,
    /// Old and new key of every remaining attribute. The old key is NONE for a new attribute.
    pub(super) kept: Vec<(StringId, StringId)>,
}

/// Renames the keys of entities like those of the attributes, and removes the keys of removed attributes. Removes
/// an entity that has lost all identifying keys.
pub(super) fn follow(entities: &mut Vec<EntityRef>, keys: &Keys, strings: &Strings) {
    let unchanged = keys.old.iter().copied().eq(keys.kept.iter().map(|(_, now)| *now));
    if entities.is_empty() || unchanged {
        return;
    }
    // Compares strings, not ids, because the table may contain equal strings.
    let mut now: HashMap<&str, Option<StringId>, RandomState> =
        keys.old.iter().map(|old| (strings.get(*old), None)).collect();
    // Later entries replace earlier ones: a key that is still there is not removed, and a renamed key leads to its
    // new name even if another attribute now has the old one.
    now.extend(keys.kept.iter().map(|(_, now)| (strings.get(*now), Some(*now))));
    let renamed = keys.kept.iter().filter(|(old, _)| old.some().is_some());
    now.extend(renamed.map(|(old, now)| (strings.get(*old), Some(*now))));
    entities.retain_mut(|entity| {
        let mut seen: HashSet<StringId, RandomState> = HashSet::default();
        let identified = !entity.id_keys.is_empty();
        for list in [&mut entity.id_keys, &mut entity.description_keys] {
            list.retain_mut(|key| match now.get(strings.get(*key)) {
                Some(Some(now)) => {
                    *key = *now;
                    // Renaming may make two keys equal. The first one stays, so an identifying key wins over a
                    // describing one.
                    seen.insert(*now)
                }
                Some(None) => false,
                None => true,
            });
        }
        !(identified && entity.id_keys.is_empty())
    });
}
