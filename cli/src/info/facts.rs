//! Facts computed from profiles, for both forms of a description.
//!
//! Sums are `i128` and stay exact in JSON: a number if 64 bits suffice, else a string of digits.
//!
//! `text` and `json` only format these facts, so both forms of a description agree.

use std::cell::Cell;
use std::collections::HashMap;

use otlp_profiles::model::{AttributeId, KeyValue, StringId, Value};
use otlp_profiles::{Dictionary, Summary};
use serde_json::{Map, Number, Value as Json, json};

use crate::numbers::grouped;
use crate::text::{beginning, hex_beginning};

/// The most messages of a file that are listed, and the most resources, scopes and profiles of all
/// its messages. It is more than people read, and few enough to keep in memory until they are
/// printed. The rest are counted.
pub(super) const MOST_LISTED: usize = 10_000;

/// The sums of all profiles of a message by type and unit, in order of first appearance.
///
/// Types are compared by the ids of their strings, because equal strings usually share a row.
///
/// Several profiles may have types of the same name; their sums are added. `i128` cannot overflow,
/// because no file holds enough `i64` values.
pub(crate) fn total(summary: &Summary, most: usize) -> Vec<(String, String, i128)> {
    let text = |id| text(summary.outline().dictionary(), id, most);
    let mut rows: HashMap<(StringId, StringId), usize> = HashMap::new();
    let mut total: Vec<(String, String, i128)> = Vec::new();
    for profile in summary.profiles() {
        for (of, sum) in profile.profile.sample_types().iter().zip(profile.sums) {
            let row = *rows.entry((of.name, of.unit)).or_insert(total.len());
            match total.get_mut(row) {
                Some((_, _, known)) => *known += sum,
                None => total.push((text(of.name), text(of.unit), *sum)),
            }
        }
    }
    total
}

/// The number of rows of each table, without the empty row 0.
pub(crate) fn tables(of: &Summary) -> [(&'static str, u64); 7] {
    let rows = of.tables();
    [
        ("strings", rows.strings),
        ("functions", rows.functions),
        ("locations", rows.locations),
        ("mappings", rows.mappings),
        ("stacks", rows.stacks),
        ("attributes", rows.attributes),
        ("links", rows.links),
    ]
}

/// Converts to a JSON number, or to a string if 64 bits are too few.
pub(crate) fn number(number: i128) -> Json {
    Number::from_i128(number).map_or_else(|| number.to_string().into(), Json::Number)
}

/// A string of the payload, truncated to `most` characters.
///
/// All payload text of a description passes through here or through [`value`]. Without the limit,
/// one long string that every profile refers to would be printed for each profile.
pub(crate) fn text(dictionary: &Dictionary, id: StringId, most: usize) -> String {
    beginning(dictionary.text(id), most)
}

/// Attributes of a resource or a scope.
pub(crate) fn pairs(dictionary: &Dictionary, pairs: &[KeyValue], most: usize) -> Json {
    object(dictionary, pairs.iter().map(|pair| (pair.key, &pair.value)), most)
}

/// Attributes of a profile.
pub(crate) fn attributes(dictionary: &Dictionary, ids: &[AttributeId], most: usize) -> Json {
    let attributes = ids.iter().filter_map(|id| dictionary.attribute(*id));
    object(dictionary, attributes.map(|attribute| (attribute.key, &attribute.value)), most)
}

/// Converts attributes to an object. For a repeated key, the last value is shown.
fn object<'a>(
    dictionary: &Dictionary,
    pairs: impl Iterator<Item = (StringId, &'a Value)>,
    most: usize,
) -> Json {
    let mut object = Map::new();
    for (key, one) in pairs {
        object.insert(text(dictionary, key, most), value(dictionary, one, &mut Budget(most)));
    }
    Json::Object(object)
}

/// Converts a value. Numbers that JSON cannot represent become strings, and bytes become hex
/// digits.
///
/// Long values are truncated, because every profile may refer to one attribute.
fn value(dictionary: &Dictionary, of: &Value, budget: &mut Budget) -> Json {
    match of {
        Value::Empty => Json::Null,
        Value::String(text) => budget.text(dictionary.text(*text)).into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(int) => (*int).into(),
        Value::Double(double) => {
            Number::from_f64(*double).map_or_else(|| double.to_string().into(), Json::Number)
        }
        Value::Bytes(bytes) => json!({ "bytes": budget.hex(bytes) }),
        Value::Array(values) => array(dictionary, values, budget),
        Value::KeyValues(list) => key_values(dictionary, list, budget),
        other => budget.text(&dictionary.value(other).to_string()).into(),
    }
}

/// Converts an array up to the character budget, and appends the number of omitted values.
fn array(dictionary: &Dictionary, values: &[Value], budget: &mut Budget) -> Json {
    let mut shown: Vec<Json> = Vec::new();
    for (row, one) in values.iter().enumerate() {
        if !budget.take(Budget::ITEM) {
            shown.push(format!("… ({} more)", grouped((values.len() - row) as u64)).into());
            break;
        }
        shown.push(value(dictionary, one, budget));
    }
    shown.into()
}

/// Converts a list of named values in the same way.
fn key_values(dictionary: &Dictionary, list: &[KeyValue], budget: &mut Budget) -> Json {
    let mut shown = Map::new();
    for (row, pair) in list.iter().enumerate() {
        if !budget.take(Budget::PAIR) {
            let more = format!("({} more)", grouped((list.len() - row) as u64));
            shown.insert("…".to_owned(), more.into());
            break;
        }
        let key = budget.text(dictionary.text(pair.key));
        shown.insert(key, value(dictionary, &pair.value, budget));
    }
    shown.into()
}

/// The number of characters of a value that may still be shown.
struct Budget(usize);

impl Budget {
    /// The charge for an element of a list besides its text. It bounds lists of empty values.
    const ITEM: usize = 4;
    /// The charge for an entry of an object, which takes more memory than its characters.
    const PAIR: usize = 16;

    /// Charges the budget. Returns whether any is left, so that no text is truncated to nothing.
    fn take(&mut self, length: usize) -> bool {
        self.0 = self.0.saturating_sub(length);
        self.0 > 0
    }

    fn text(&mut self, text: &str) -> String {
        let shown = beginning(text, self.0);
        self.take(shown.len());
        shown
    }

    fn hex(&mut self, bytes: &[u8]) -> String {
        let shown = hex_beginning(bytes, self.0);
        self.take(shown.len() + Self::PAIR);
        shown
    }
}

/// The budget of resources, scopes and profiles listed for a file, and the number of profiles
/// beyond it.
///
/// All messages share one budget, because a file of a million empty resources is as long to print
/// as one of a million profiles, in one message or in many.
///
/// The fields are cells because iterators over borrowed parts update them.
pub(crate) struct Listed {
    /// The number of entries that may still be listed.
    left: Cell<usize>,
    /// Profiles of this message that were not listed. Resources and scopes are not counted.
    unlisted: Cell<usize>,
}

impl Listed {
    /// Creates the budget for one file: [`MOST_LISTED`] entries.
    pub(crate) fn new() -> Self {
        Self { left: Cell::new(MOST_LISTED), unlisted: Cell::new(0) }
    }

    /// Charges one entry, and returns whether it may be listed.
    pub(crate) fn has_room(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// Does the same for a profile, and counts it if it may not be listed.
    pub(crate) fn has_room_for_profile(&self) -> bool {
        let listed = self.has_room();
        self.unlisted.set(self.unlisted.get() + usize::from(!listed));
        listed
    }

    /// Returns the number of unlisted profiles of a message, and resets it for the next one.
    pub(crate) fn take_unlisted(&self) -> usize {
        self.unlisted.take()
    }
}
