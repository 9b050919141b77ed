//! Entities go by the keys of their resource's attributes, and follow them.

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::model::id::StringId;
use crate::model::profiles::EntityRef;
use crate::model::strings::Strings;

/// The keys of a resource's attributes before and after an edit.
pub(super) struct Keys {
    pub(super) old: Vec<StringId>,
    /// For every attribute there is now its key then, none if it is new, and its key now.
    pub(super) kept: Vec<(StringId, StringId)>,
}

/// Renames the keys that entities go by as those of the attributes were, and leaves out those whose
/// attribute is gone; an entity without a key that identifies it is none.
pub(super) fn follow(entities: &mut Vec<EntityRef>, keys: &Keys, strings: &Strings) {
    let unchanged = keys.old.iter().copied().eq(keys.kept.iter().map(|(_, now)| *now));
    if entities.is_empty() || unchanged {
        return;
    }
    // By text: a string may be in the table twice.
    let mut now: HashMap<&str, Option<StringId>, RandomState> =
        keys.old.iter().map(|old| (strings.get(*old), None)).collect();
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
                    seen.insert(*now)
                }
                Some(None) => false,
                None => true,
            });
        }
        !(identified && entity.id_keys.is_empty())
    });
}
