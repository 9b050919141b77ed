//! Validation of the strings of sample types and of the period type, after all strings are known.
//!
//! They are read as indices and converted to ids here, where an error can name its place.

use crate::error::{Error, Result};
use crate::model::profile::{ProfileParts, ValueType};
use crate::read_context::ReadContext;
use crate::schema::{Generation, VALUE_TYPE};
use crate::tables::read::common::{table_name, table_text};
use crate::tables::read::string_interner::StringInterner;

/// Validates the names and units of the value types of a profile.
///
/// # Errors
///
/// An index past the string table, with its field, unless the policy is to repair; then the string is unset.
pub(crate) fn validate<G: Generation>(
    profile: &mut ProfileParts,
    texts: &StringInterner,
    cx: &mut ReadContext,
) -> Result<()> {
    let ProfileParts { sample_types, period_type, .. } = profile;
    for (row, sample_type) in sample_types.iter_mut().enumerate() {
        let place = |error: Error| match !G::CAPABILITIES.several_sample_types {
            true => error.within("sample_type"),
            false => error.within_row("sample_type", row),
        };
        value_type::<G>(sample_type, texts, cx, place)?;
    }
    // An unset type has no name, but `table_name` would give it string 0.
    if *period_type == ValueType::default() {
        return Ok(());
    }
    value_type::<G>(period_type, texts, cx, |error| error.within("period_type"))
}

/// Validates a value type. Errors have the field's name in that generation: `type` in 1.3, `type_strindex`
/// later.
fn value_type<G: Generation>(
    value_type: &mut ValueType,
    texts: &StringInterner,
    cx: &mut ReadContext,
    place: impl Fn(Error) -> Error,
) -> Result<()> {
    let place = |error: Error, key: &'static str| {
        let field = VALUE_TYPE.field(G::VERSION, key);
        place(error.within(field.map_or(key, |field| field.name)))
    };
    let ValueType { name, unit, .. } = value_type;
    name.0 = table_name(name.0, texts, cx).map_err(|e| place(e, "type_strindex"))?.0;
    unit.0 = table_text(unit.0, texts, cx).map_err(|e| place(e, "unit_strindex"))?.0;
    Ok(())
}
