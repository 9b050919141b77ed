//! Conversion of pprof's labels to attributes: one attribute for each key.
//!
//! A label has a key and either a string or a number with a unit
//! ([`Label`](https://github.com/google/pprof/blob/main/proto/profile.proto)). A sample may have several
//! labels with one key, but OTLP's attributes are unique by key. So labels with the same key become a list,
//! in their order: a list of plain values if these convert back to the same labels, and a list of pairs
//! otherwise.

use crate::error::Result;
use crate::losses;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::tables::fields::fields;
use crate::tables::read::string_interner::{NewAttributes, StringInterner};
use crate::wire::read::Reader;

/// A label as encoded. Strings are indices into the string table. 0 means unset for all fields, the number
/// included: pprof does not distinguish an unset number from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) key: u32,
    pub(crate) text: u32,
    /// The number, in the unit below. Ignored if the label has a string.
    pub(crate) number: i64,
    pub(crate) unit: u32,
}

impl Label {
    /// Decodes a label. Fields may be in any order; unknown fields are reported.
    pub(crate) fn read(body: &[u8], cx: &mut ReadContext) -> Result<Self> {
        let mut reader = Reader::new(body);
        let mut label = Self::default();
        fields!(reader, LABEL in Version::Pprof, cx; {
            "key_strindex" => label.key = reader.index()?,
            "str_strindex" => label.text = reader.index()?,
            "num" => label.number = reader.varint()? as i64,
            "num_unit_strindex" => label.unit = reader.index()?,
        });
        Ok(label)
    }

    /// Reports a label without a value, or with both a string and a number.
    ///
    /// Neither is an error.
    pub(crate) fn note(self, cx: &mut ReadContext) {
        if (self.text, self.number, self.unit) == (0, 0, 0) {
            cx.note(losses::LABEL_ZERO, String::new, || {
                "the label has neither a string nor a number: read as the number 0".to_owned()
            });
        } else if self.text != 0 && (self.number, self.unit) != (0, 0) {
            let unit = if self.unit == 0 { "" } else { " with a unit" };
            cx.note(losses::LABEL_STR_AND_NUM, String::new, || {
                format!("the label has a string and the number {}{unit}", self.number)
            });
        }
    }

    /// Builds the attribute for the only label of a key. `text` resolves string indices. If the label has a
    /// string, the number is ignored, as in pprof's own reader.
    pub(crate) fn attribute(
        self,
        mut text: impl FnMut(u32, &'static str) -> Result<StringId>,
    ) -> Result<Attribute> {
        let key = text(self.key, "key")?;
        let (value, unit) = match self.text {
            0 => (Value::Int(self.number), text(self.unit, "num_unit")?),
            // pprof defines the unit for numbers only.
            index => (Value::String(text(index, "str")?), StringId::NONE),
        };
        Ok(Attribute { key, value, unit })
    }
}

/// Merges the attributes of a sample that have the same key. The merged attribute takes the place of the
/// first.
pub(crate) fn group(
    singles: &[Attribute],
    out: &mut Vec<AttributeId>,
    texts: &mut StringInterner,
    attributes: &mut NewAttributes,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut rows: Vec<usize> = (0..singles.len()).collect();
    // The sort is stable, so rows with the same key keep their order.
    rows.sort_by_key(|&row| singles[row].key);
    let mut keys: Vec<&[usize]> =
        rows.chunk_by(|&row, &next| singles[row].key == singles[next].key).collect();
    // Back to the order of the labels. The first rows of two keys differ, so the order is unique.
    keys.sort_unstable_by_key(|rows| rows[0]);
    for rows in keys {
        let attribute = match rows {
            [row] => singles[*row].clone(),
            rows => {
                let same: Vec<&Attribute> = rows.iter().map(|&row| &singles[row]).collect();
                list(&same, texts, cx)?
            }
        };
        out.push(attributes.intern(attribute, cx)?);
    }
    Ok(())
}

/// Merges attributes with the same key into one. It holds plain values if all have the same type and unit,
/// and pairs otherwise.
fn list(
    same: &[&Attribute],
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<Attribute> {
    let Attribute { key, unit, .. } = *same[0];
    let all_equal = same.iter().all(|other| {
        other.unit == unit
            && std::mem::discriminant(&other.value) == std::mem::discriminant(&same[0].value)
    });
    if all_equal {
        let value = Value::Array(same.iter().map(|other| other.value.clone()).collect());
        return Ok(Attribute { key, value, unit });
    }
    cx.note(losses::LABEL_MIXED, String::new, || {
        "labels with the same key and different types became a list".to_owned()
    });
    let pairs: Result<Vec<Value>> = same.iter().map(|other| pair(other, texts, cx)).collect();
    Ok(Attribute { key, value: Value::Array(pairs?.into()), unit: StringId::NONE })
}

/// The key of the string in a pair, for labels that plain values cannot represent.
pub(crate) const PAIR_TEXT: &str = "str";
/// The key of a number.
pub(crate) const PAIR_NUMBER: &str = "num";
/// The key of a number's unit.
pub(crate) const PAIR_UNIT: &str = "unit";

/// Builds `{"str": s}` or `{"num": n, "unit": u}`: one label in a list of pairs. The writer of pprof converts
/// it back.
pub(crate) fn pair(
    attribute: &Attribute,
    texts: &mut StringInterner,
    cx: &mut ReadContext,
) -> Result<Value> {
    let mut pairs = Vec::with_capacity(2);
    let name = if matches!(attribute.value, Value::String(_)) { PAIR_TEXT } else { PAIR_NUMBER };
    pairs.push(KeyValue { key: texts.name(name, cx)?, value: attribute.value.clone() });
    if attribute.unit != StringId::NONE {
        pairs.push(KeyValue {
            key: texts.name(PAIR_UNIT, cx)?,
            value: Value::String(attribute.unit),
        });
    }
    Ok(Value::KeyValues(pairs.into()))
}
