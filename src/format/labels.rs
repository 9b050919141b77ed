//! pprof's labels as attributes: one attribute a key, whatever the labels of that key are.
//!
//! A label is a key and either a text or a number with a unit
//! ([`Label`](https://github.com/google/pprof/blob/main/proto/profile.proto)), and a sample may have several of one key. OTLP's
//! attributes are unique by key. So several become a list, in their order; and where a list of plain values would
//! not come back as the same labels, a list of pairs.

use crate::error::Result;
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::texts::{NewAttributes, Texts};
use crate::model::dictionary::Attribute;
use crate::model::id::StringId;
use crate::model::value::{KeyValue, Value};
use crate::schema::Version;
use crate::wire::read::Reader;

/// A label as it is on the wire: texts are indices into the string table.
/// 0 is none in all of them, a number that is 0 as well: pprof cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) key: u32,
    pub(crate) text: u32,
    /// In the unit that follows; not asked for where there is a text.
    pub(crate) number: i64,
    pub(crate) unit: u32,
}

impl Label {
    /// The fields may come in any order; what is not of the schema is noted.
    pub(crate) fn read(body: &[u8], intake: &mut Intake) -> Result<Self> {
        let mut reader = Reader::new(body);
        let mut label = Self::default();
        fields!(reader, LABEL in Version::Pprof, intake; {
            "key_strindex" => label.key = reader.index()?,
            "str_strindex" => label.text = reader.index()?,
            "num" => label.number = reader.varint()? as i64,
            "num_unit_strindex" => label.unit = reader.index()?,
        });
        Ok(label)
    }

    /// Notes what is odd about it.
    ///
    /// Neither is an error.
    pub(crate) fn note(self, intake: &mut Intake) {
        if (self.text, self.number, self.unit) == (0, 0, 0) {
            intake.note(losses::LABEL_ZERO, String::new, || {
                "the label has neither a string nor a number: read as the number 0".to_owned()
            });
        } else if self.text != 0 && (self.number, self.unit) != (0, 0) {
            let unit = if self.unit == 0 { "" } else { " with a unit" };
            intake.note(losses::LABEL_STR_AND_NUM, String::new, || {
                format!("the label has a string and the number {}{unit}", self.number)
            });
        }
    }

    /// The attribute the label is when it is the only one of its key; `text` is asked for the texts
    /// of its fields. Where there is a text, pprof's own reader does not ask for a number either.
    pub(crate) fn attribute(
        self,
        mut text: impl FnMut(u32, &'static str) -> Result<StringId>,
    ) -> Result<Attribute> {
        let key = text(self.key, "key")?;
        let (value, unit) = match self.text {
            0 => (Value::Int(self.number), text(self.unit, "num_unit")?),
            index => (Value::String(text(index, "str")?), StringId::NONE),
        };
        Ok(Attribute { key, value, unit })
    }
}

/// The attributes of a sample from those of its single labels: those of one key become one, where
/// the first of them was.
pub(crate) fn group(
    singles: &[Attribute],
    out: &mut Vec<u32>,
    texts: &mut Texts,
    attributes: &mut NewAttributes,
    intake: &mut Intake,
) -> Result<()> {
    let mut rows: Vec<usize> = (0..singles.len()).collect();
    // A stable sort: rows of one key stay in their order.
    rows.sort_by_key(|&row| singles[row].key);
    let mut keys: Vec<&[usize]> =
        rows.chunk_by(|&row, &next| singles[row].key == singles[next].key).collect();
    keys.sort_unstable_by_key(|rows| rows[0]);
    for rows in keys {
        let attribute = match rows {
            [row] => singles[*row].clone(),
            rows => {
                let same: Vec<&Attribute> = rows.iter().map(|&row| &singles[row]).collect();
                list(&same, texts, intake)?
            }
        };
        out.push(attributes.intern(attribute, intake)?.0);
    }
    Ok(())
}

/// One attribute from several of one key.
/// Plain values where all are of one kind and unit, and pairs otherwise.
fn list(same: &[&Attribute], texts: &mut Texts, intake: &mut Intake) -> Result<Attribute> {
    let Attribute { key, unit, .. } = *same[0];
    let alike = same.iter().all(|other| {
        other.unit == unit
            && std::mem::discriminant(&other.value) == std::mem::discriminant(&same[0].value)
    });
    if alike {
        let value = Value::Array(same.iter().map(|other| other.value.clone()).collect());
        return Ok(Attribute { key, value, unit });
    }
    intake.note(losses::LABEL_MIXED, String::new, || {
        "labels with the same key and different types became a list".to_owned()
    });
    let pairs: Result<Vec<Value>> = same.iter().map(|other| pair(other, texts, intake)).collect();
    Ok(Attribute { key, value: Value::Array(pairs?.into()), unit: StringId::NONE })
}

/// The names of the pairs a label is said by, where a list of plain values cannot say it.
pub(crate) const PAIR_TEXT: &str = "str";
/// The name of a number.
pub(crate) const PAIR_NUMBER: &str = "num";
/// The name of a number's unit.
pub(crate) const PAIR_UNIT: &str = "unit";

/// `{"str": s}` or `{"num": n, "unit": u}`.
/// What a list of pairs has for one label; writing pprof makes the label of it again.
pub(crate) fn pair(attribute: &Attribute, texts: &mut Texts, intake: &mut Intake) -> Result<Value> {
    let mut pairs = Vec::with_capacity(2);
    let name = if matches!(attribute.value, Value::String(_)) { PAIR_TEXT } else { PAIR_NUMBER };
    pairs.push(KeyValue { key: texts.name(name, intake)?, value: attribute.value.clone() });
    if attribute.unit != StringId::NONE {
        pairs.push(KeyValue {
            key: texts.name(PAIR_UNIT, intake)?,
            value: Value::String(attribute.unit),
        });
    }
    Ok(Value::KeyValues(pairs.into()))
}
