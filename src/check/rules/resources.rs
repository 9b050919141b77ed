//! Resources, scopes and the entities of resources.
//!
//! ```text
//! ResourceProfiles ─► Resource ─► attributes, entity_refs ─► EntityRef { type, id_keys, description_keys }
//!    └─ ScopeProfiles ─► Scope ─► name, attributes
//! ```
//!
//! [`structure`] compares resources and scopes with each other, one level higher.

use super::attributes::{bodies, key_of, of_message};
use super::structure::schema_url;
use super::*;

/// Cell of the name of a scope.
const SCOPE_NAME: usize = INSTRUMENTATION_SCOPE.cell("name");

/// Checks a scope: its name and its attributes. A missing version raises no finding.
pub(crate) fn scope(cx: &mut CheckContext<'_>, record: &Record) {
    if cx.body(record, SCOPE_NAME).is_empty() {
        cx.report(&OP5023, record.field(SCOPE_NAME), "", "");
    }
    of_message(cx, record);
}

/// Cells of `Resource`.
const ENTITIES: usize = RESOURCE.cell("entity_refs");
const RESOURCE_ATTRIBUTES: usize = RESOURCE.cell("attributes");

/// Checks a resource.
///
/// If the resource has entities, collects the fingerprints of its keys for [`entity`], which the walk calls next. A
/// key by reference counts by its text.
pub(crate) fn resource(cx: &mut CheckContext<'_>, record: &Record) {
    of_message(cx, record);
    cx.payload.resource_keys.clear();
    let Some(pair) = cx.shapes.find(MessageKind::KeyValue).filter(|_| record.has(ENTITIES)) else {
        return;
    };
    let list: Vec<_> = bodies(cx, record, RESOURCE_ATTRIBUTES).collect();
    for (start, end) in list {
        let key = key_of(cx, &cx.peek(pair, start, end)).unwrap_or_default();
        let print = cx.memo.fingerprint(key);
        cx.payload.resource_keys.insert(print);
    }
}

/// Cells of `EntityRef`, which is new in 1.6.
const ENTITY_URL: usize = ENTITY_REF.cell("schema_url");
const ENTITY_TYPE: usize = ENTITY_REF.cell("type");
const ID_KEYS: usize = ENTITY_REF.cell("id_keys");
const DESCRIPTION_KEYS: usize = ENTITY_REF.cell("description_keys");

/// Checks a reference to an entity.
///
/// Both lists share one set: an identifying key must not be a descriptive one as well. Each key is looked up among
/// those of the resource, so the cost is linear in the reference.
pub(crate) fn entity(cx: &mut CheckContext<'_>, record: &Record) {
    schema_url(cx, record, ENTITY_URL);
    if cx.body(record, ENTITY_TYPE).is_empty() {
        cx.report(&OP5025, record.field(ENTITY_TYPE), "", "");
    }
    if !record.has(ID_KEYS) {
        cx.report(&OP5026, Position::at(record.start).field("id_keys"), "", "");
    }
    let mut seen = Set::default();
    for cell in [ID_KEYS, DESCRIPTION_KEYS] {
        let list: Vec<_> = bodies(cx, record, cell).collect();
        for (row, (start, end)) in list.into_iter().enumerate() {
            let key = cx.bytes.get(start..end).unwrap_or_default();
            let spot = Position::at(start).field(record.shape.name_of(cell)).row(row);
            let print = cx.memo.fingerprint(key);
            if !cx.payload.resource_keys.contains(&print) {
                cx.report(&OP5027, spot, Shown(key), "");
            }
            if !seen.insert(print) {
                cx.report(&OP5028, spot, Shown(key), "");
            }
        }
    }
}
