//! Strings of resources, scopes and values that are written as references into the string table.
//!
//! In 1.10 either all of these strings of a payload are inline or all are references. Current receivers
//! support one of the two forms ([`Receiver`](crate::format::Receiver)), but no mixture. Equal strings share the
//! first row, so a reference never points to a duplicate.

use hashbrown::HashMap;

use crate::model::Profiles;
use crate::model::id::StringId;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::profile::columns::DefaultTypeCarrier;
use crate::tables::write::parts::ScopeParts;
use crate::tables::write::select::RowSelection;
use crate::tables::write::strings::StringTable;

/// Marks the strings that are references, and requests the keys that the writer adds to scopes.
pub(crate) fn refer_all(
    table: &mut StringTable,
    profiles: &Profiles,
    attributes: &RowSelection,
    scopes: &[ScopeParts],
) {
    table.has_references = true;
    let mut first: HashMap<&str, StringId, foldhash::fast::RandomState> = HashMap::default();
    for_each_text(profiles, attributes, scopes, &mut |id| {
        if id != StringId::NONE {
            // The dictionary may have equal strings in several rows.
            table.refer(id, *first.entry(table.strings.get(id)).or_insert(id));
        }
    });
    if scopes.iter().any(|scope| scope.order.is_some()) {
        table.request(PPROF_SCOPE_SAMPLE_TYPE_ORDER);
    }
    if scopes.iter().any(|scope| matches!(scope.default_carrier, DefaultTypeCarrier::Scope(_))) {
        table.request(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE);
    }
}

/// Calls `f` for every string that may be a reference: those of resources, scopes and values, and of default
/// sample types that become values.
fn for_each_text(
    profiles: &Profiles,
    attributes: &RowSelection,
    scopes: &[ScopeParts],
    f: &mut impl FnMut(StringId),
) {
    for resource in &profiles.resources {
        resource.resource.attributes.iter().for_each(|pair| pair.for_each_text(f));
        for scope in &resource.scopes {
            scope.scope.attributes.iter().for_each(|pair| pair.for_each_text(f));
        }
    }
    for row in attributes.rows() {
        profiles.dictionary.attributes[row].value.for_each_text(f);
    }
    for parts in scopes {
        match parts.default_carrier {
            DefaultTypeCarrier::Unwritten => {}
            DefaultTypeCarrier::Scope(name) => f(name),
            DefaultTypeCarrier::Profiles => {
                parts.scope.profiles.iter().for_each(|profile| f(profile.default_sample_type));
            }
        }
    }
}
