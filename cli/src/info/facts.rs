//! What is computed from profiles for both forms of a description.
//!
//! Sums are `i128` and stay exact in JSON: a number if 64 bits hold it, else a text of its digits.
//!
//! `text` and `json` word these facts, and neither computes any: so both forms of one file agree.

use std::cell::Cell;
use std::collections::HashMap;

use otlp_profiles::model::{AttributeId, KeyValue, StringId, Value};
use otlp_profiles::{Dictionary, Summary};
use serde_json::{Map, Number, Value as Json, json};

use crate::numbers::grouped;
use crate::text::{beginning, hex_beginning};

/// The messages of a file that are listed, and of all of them together the resources, scopes and
/// profiles: more than anybody reads, and few enough to be kept until they are printed. The rest are
/// counted.
pub(super) const MOST_LISTED: usize = 10_000;

/// The sums of all profiles of a message by type and unit, in the order they are met.
///
/// By ids of the dictionary, in which equal texts are usually one row.
///
/// Several messages may describe the same process by types of the same name; their sums are added,
/// as a person would. Overflow is impossible: `i128` holds more `i64` than a file has.
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

/// How many rows each table has, besides the empty row 0 that all have.
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

/// A number, exactly: as a text where 64 bits do not hold it.
pub(crate) fn number(number: i128) -> Json {
    Number::from_i128(number).map_or_else(|| number.to_string().into(), Json::Number)
}

/// A text of the payload, cut where it has more than `most` characters.
///
/// All that a description says goes through here or through [`value`]: a text that the payload has
/// once may be that of every profile.
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

/// Of a key that is there twice, the last value is shown.
fn object<'a>(
    dictionary: &Dictionary,
    pairs: impl Iterator<Item = (StringId, &'a Value)>,
    most: usize,
) -> Json {
    let mut object = Map::new();
    for (key, one) in pairs {
        object.insert(text(dictionary, key, most), value(dictionary, one, &mut Room(most)));
    }
    Json::Object(object)
}

/// A value; what JSON cannot say is a text, and bytes are hex digits.
///
/// Cut where it is long: an attribute that the payload has once may be that of every profile.
fn value(dictionary: &Dictionary, of: &Value, room: &mut Room) -> Json {
    match of {
        Value::Empty => Json::Null,
        Value::String(text) => room.text(dictionary.text(*text)).into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(int) => (*int).into(),
        Value::Double(double) => {
            Number::from_f64(*double).map_or_else(|| double.to_string().into(), Json::Number)
        }
        Value::Bytes(bytes) => json!({ "bytes": room.hex(bytes) }),
        Value::Array(values) => array(dictionary, values, room),
        Value::KeyValues(list) => key_values(dictionary, list, room),
        other => room.text(&dictionary.value(other).to_string()).into(),
    }
}

/// As many values as there is room for, and how many more there are.
fn array(dictionary: &Dictionary, values: &[Value], room: &mut Room) -> Json {
    let mut shown: Vec<Json> = Vec::new();
    for (row, one) in values.iter().enumerate() {
        if !room.take(Room::ITEM) {
            shown.push(format!("… ({} more)", grouped((values.len() - row) as u64)).into());
            break;
        }
        shown.push(value(dictionary, one, room));
    }
    shown.into()
}

/// The same of a list of named values.
fn key_values(dictionary: &Dictionary, list: &[KeyValue], room: &mut Room) -> Json {
    let mut shown = Map::new();
    for (row, pair) in list.iter().enumerate() {
        if !room.take(Room::PAIR) {
            let more = format!("({} more)", grouped((list.len() - row) as u64));
            shown.insert("…".to_owned(), more.into());
            break;
        }
        let key = room.text(dictionary.text(pair.key));
        shown.insert(key, value(dictionary, &pair.value, room));
    }
    shown.into()
}

/// How many characters of a value are still shown.
struct Room(usize);

impl Room {
    /// What a value in a list takes besides its text, so that lists of very many end as well.
    const ITEM: usize = 4;
    /// More in an object, which takes more memory than its characters.
    const PAIR: usize = 16;

    /// Takes room of this length; whether there is some left for a text, so that none is cut to nothing.
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

/// How many resources, scopes and profiles of a file are still listed, and the profiles that are not.
///
/// In cells, as what is listed asks while it is made of borrowed parts.
///
/// One budget for resources, scopes and profiles of all messages together: a file of a million
/// empty resources is as long to print as one of a million profiles, in one message or in many.
pub(crate) struct Listed {
    /// How many more are listed.
    left: Cell<usize>,
    /// Profiles of this message that were not; resources and scopes are not counted, as nobody asks
    /// for them.
    unlisted: Cell<usize>,
}

impl Listed {
    /// Room for [`MOST_LISTED`]; made anew for each file.
    pub(crate) fn new() -> Self {
        Self { left: Cell::new(MOST_LISTED), unlisted: Cell::new(0) }
    }

    /// Whether one more is listed.
    pub(crate) fn has_room(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// The same of a profile, which is counted if not.
    pub(crate) fn has_room_for_profile(&self) -> bool {
        let listed = self.has_room();
        self.unlisted.set(self.unlisted.get() + usize::from(!listed));
        listed
    }

    /// Asked at the end of each message, for the line `more`; the next one counts anew.
    pub(crate) fn take_unlisted(&self) -> usize {
        self.unlisted.take()
    }
}
