//! Attributes as labels.
//!
//! A pprof label is a key with a text, or with a number and its unit. An OTLP attribute can say
//! more:
//!
//! | attribute | labels | loss |
//! |---|---|---|
//! | a text, an integer with its unit | one | none |
//! | an array | one for each element | of one element, that it was an array |
//! | a list of pairs, as labels of several kinds are read ([`PAIR_TEXT`], [`PAIR_NUMBER`]) | those it says | of one kind and unit, or with a unit of its own, that it was pairs: OTLP 1.3 to 1.7 say so a label whose unit is not its key's |
//! | a boolean, a double, bytes, key-values | its text | one code for each kind |
//! | empty | none | `attr.empty` |

use foldhash::fast::RandomState;

use crate::format::fields::{emit, number};
use crate::format::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::format::losses::{self, Losses};
use crate::format::select::StringTable;
use crate::format::texts::hash_bytes;
use crate::model::dictionary::{Attribute, Dictionary};
use crate::model::id::StringId;
use crate::model::row_index::RowIndex;
use crate::model::strings::Strings;
use crate::model::value::{KeyValue, Value};
use crate::schema::{Generation, Pprof};
use crate::wire::record::field_varint;
use crate::wire::write::field_message;

/// The strings of a pprof: those of the dictionary that it uses, and those made for it.
///
/// Indices of the dictionary's strings are known before any is made, so what is made lies behind
/// them and moves none.
pub(crate) struct PprofStrings<'a> {
    /// Those of the dictionary.
    texts: &'a Strings,
    /// The strings of the dictionary that are used, and the index of each.
    pub(crate) table: StringTable,
    /// Behind those of the table, in the order in which they were made.
    pub(crate) made: Vec<String>,
    /// Finds the index of a text, once a text is made.
    by_text: RowIndex,
    hasher: RandomState,
}

impl<'a> PprofStrings<'a> {
    /// None of the strings is used.
    pub(crate) fn new(texts: &'a Strings) -> Self {
        Self {
            texts,
            table: StringTable::new(texts.len()),
            made: Vec::new(),
            by_text: RowIndex::default(),
            hasher: RandomState::default(),
        }
    }

    /// The index of a text that the dictionary need not have. Only after the table was numbered.
    ///
    /// A text that is written already is not written again. Most payloads make none, so the table is
    /// looked through when the first is made.
    pub(crate) fn make(&mut self, text: String) -> u32 {
        let Self { texts, table, made, by_text, hasher } = self;
        if by_text.is_empty() {
            by_text.reserve(table.len());
            for (index, id) in (0..).zip(table.ids()) {
                by_text.add(hash_bytes(hasher, texts.bytes(*id)), index);
            }
        }
        let hash = hash_bytes(hasher, text.as_bytes());
        let found = by_text.find(hash, |index| {
            let index = index as usize;
            let known = table.ids().get(index).map(|id| texts.bytes(*id));
            let known = known.or_else(|| made.get(index - table.len()).map(String::as_bytes));
            known == Some(text.as_bytes())
        });
        found.unwrap_or_else(|| {
            let next = (table.len() + made.len()) as u32;
            by_text.add(hash, next);
            made.push(text);
            next
        })
    }
}

/// What one label says: a text or a number with a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A text of the dictionary: `Label.str`.
    Text(StringId),
    /// A text that no string table has.
    Made(String),
    /// With its unit.
    ///
    /// `Label.num` and `Label.num_unit`; the unit may be none.
    Number(i64, StringId),
}

/// Appends the labels an attribute becomes.
///
/// Each attribute is asked once however many samples have it, so losses are counted by attribute.
///
/// An array becomes several labels of one key, which reading makes an array again.
pub(crate) fn said(
    attribute: &Attribute,
    dictionary: &Dictionary,
    losses: &mut Losses,
    out: &mut Vec<Said>,
) {
    let place = || format!("attribute[{}]", dictionary.text(attribute.key));
    match &attribute.value {
        Value::Array(values) => {
            if let Some(labels) = paired(values, dictionary) {
                if attribute.unit != StringId::NONE || !is_mixed(&labels, dictionary) {
                    losses.add(losses::LABEL_PAIRS, place);
                }
                out.extend(labels);
                return;
            }
            match values.len() {
                0 => losses.add(losses::ATTR_EMPTY, place),
                1 => losses.add(losses::ATTR_ARRAY1, place),
                _ => {}
            }
            for value in values {
                out.extend(scalar(value, attribute, dictionary, losses));
            }
        }
        value => out.extend(scalar(value, attribute, dictionary, losses)),
    }
}

/// pprof has texts and numbers; a value of another kind becomes a text, with a loss that says of which kind it was.
///
/// `None` only for a value that says nothing. An integer 0 without a unit is written as such,
/// though readers of pprof cannot tell it from no label; that is counted.
///
/// An empty text is written as a label of neither text nor number, as an empty string is index 0
/// and so not there: that is counted.
fn scalar(
    value: &Value,
    attribute: &Attribute,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Option<Said> {
    let place = || format!("attribute[{}]", dictionary.text(attribute.key));
    let said = match value {
        Value::Int(number) => {
            if *number == 0 && attribute.unit == StringId::NONE {
                losses.add(losses::LABEL_ZERO, place);
            }
            return Some(Said::Number(*number, attribute.unit));
        }
        Value::String(StringId::NONE) => {
            losses.add(losses::ATTR_EMPTY_STRING, place);
            return Some(Said::Number(0, StringId::NONE));
        }
        Value::String(text) => Said::Text(*text),
        Value::Empty => {
            losses.add(losses::ATTR_EMPTY, place);
            return None;
        }
        value => {
            let code = match value {
                Value::Bool(_) => losses::ATTR_BOOL,
                Value::Double(_) => losses::ATTR_DOUBLE,
                Value::Bytes(_) => losses::ATTR_BYTES,
                _ => losses::ATTR_KVLIST,
            };
            losses.add(code, place);
            Said::Made(dictionary.value(value).to_string())
        }
    };
    if attribute.unit != StringId::NONE {
        losses.add(losses::ATTR_UNIT_ON_STRING, place);
    }
    Some(said)
}

/// The labels that a list of pairs says, one at least.
///
/// None where any element is no pair: then the elements are labels of texts.
fn paired(values: &[Value], dictionary: &Dictionary) -> Option<Vec<Said>> {
    let labels: Option<Vec<Said>> = values.iter().map(|value| pair(value, dictionary)).collect();
    labels.filter(|labels| !labels.is_empty())
}

/// Whether labels are of several kinds or units, of which reading makes a list of pairs again.
///
/// Labels of one kind come back as a plain array, so having been pairs is then lost.
fn is_mixed(labels: &[Said], dictionary: &Dictionary) -> bool {
    let kind = |label: &Said| match label {
        Said::Number(_, unit) => Some(dictionary.text(*unit)),
        _ => None,
    };
    labels.iter().any(|label| kind(label) != kind(&labels[0]))
}

/// The label that was put into a pair, because a plain value could not say it.
/// An empty text or unit is none, and was in no label.
fn pair(value: &Value, dictionary: &Dictionary) -> Option<Said> {
    let Value::KeyValues(pairs) = value else {
        return None;
    };
    let named = |pair: &KeyValue, name: &str| dictionary.text(pair.key) == name;
    let is_some = |text: StringId| !dictionary.text(text).is_empty();
    match &pairs[..] {
        [KeyValue { value: Value::String(text), .. }]
            if named(&pairs[0], PAIR_TEXT) && is_some(*text) =>
        {
            Some(Said::Text(*text))
        }
        [KeyValue { value: Value::Int(number), .. }] if named(&pairs[0], PAIR_NUMBER) => {
            Some(Said::Number(*number, StringId::NONE))
        }
        [
            KeyValue { value: Value::Int(number), .. },
            KeyValue { value: Value::String(unit), .. },
        ] if named(&pairs[0], PAIR_NUMBER) && named(&pairs[1], PAIR_UNIT) && is_some(*unit) => {
            Some(Said::Number(*number, *unit))
        }
        _ => None,
    }
}

/// Writes a label of a key.
///
/// A text that is made takes the next index, so labels are written in an order that is always the
/// same.
pub(crate) fn write_label(out: &mut Vec<u8>, key: u32, said: &Said, strings: &mut PprofStrings) {
    let (text, number, unit) = match said {
        Said::Text(text) => (strings.table.index(*text), 0, 0),
        Said::Made(text) => (strings.make(text.clone()), 0, 0),
        Said::Number(number, unit) => (0, *number, strings.table.index(*unit)),
    };
    put_label(out, key, text, number, unit);
}

/// Writes a label; its texts are indices into the string table.
///
/// Zeros are left out, as in proto3: a label of the number 0 without a unit is its key alone.
pub(crate) fn put_label(out: &mut Vec<u8>, key: u32, text: u32, number: i64, unit: u32) {
    field_message(out, number!(SAMPLE "label" in Pprof::VERSION), |out| {
        emit!(LABEL in Pprof; {
            "key_strindex" => |field| field_varint(out, field, key.into()),
            "str_strindex" => |field| field_varint(out, field, text.into()),
            "num" => |field| field_varint(out, field, number as u64),
            "num_unit_strindex" => |field| field_varint(out, field, unit.into()),
        });
    });
}
