//! Values with their strings resolved.

use crate::wire::hex::hex;
use std::fmt::{self, Debug, Display, Formatter, Write};

use crate::model::dictionary::Dictionary;
use crate::model::id::AttributeId;
use crate::model::strings::Strings;
use crate::model::value::{KeyValue, Value};

/// A value with its strings resolved.
///
/// Strings display as themselves and bytes as hex digits. Lists display as JSON: `["a",1]`, `{"num":5}`, where
/// bytes are a string of hex digits, and doubles that JSON lacks are strings (`"NaN"`). An empty value displays as an
/// empty string, and as `null` in a list.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{Builder, builder};
///
/// let mut builder = Builder::new();
/// builder.resource().attr("service.name", "checkout");
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, builder::root_first(["main"])).value(1).attr("thread.id", 42);
///
/// let profiles = builder.finish()?;
/// let entry = profiles.entries().next().unwrap();
/// let service = entry.resource_attributes().get("service.name").unwrap();
/// assert_eq!((service.as_str(), service.as_i64()), (Some("checkout"), None));
/// let sample = entry.profile().samples().get(0).unwrap();
/// let thread = profiles.dictionary().resolve(sample.attributes).get("thread.id").unwrap();
/// assert_eq!((thread.as_i64(), thread.to_string()), (Some(42), "42".to_owned()));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct ValueRef<'a> {
    pub(crate) value: &'a Value,
    pub(crate) strings: &'a Strings,
}

impl Dictionary {
    /// Resolves the strings of a value of these tables.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// let dictionary = profiles.dictionary();
    /// for row in dictionary.attributes() {
    ///     println!("{}: {}", dictionary.text(row.key), dictionary.value(&row.value));
    /// }
    /// # Ok(()) }
    /// ```
    pub fn value<'a>(&'a self, value: &'a Value) -> ValueRef<'a> {
        ValueRef { value, strings: &self.strings }
    }
}

impl<'a> ValueRef<'a> {
    /// Returns the value itself.
    /// Its strings are ids.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Returns the string, if the value is one.
    /// It does not convert numbers: [`Display`] does.
    pub fn as_str(&self) -> Option<&'a str> {
        if let Value::String(text) = self.value { Some(self.strings.get(*text)) } else { None }
    }

    /// Returns the integer, if the value is one.
    /// A string of digits is not an integer. An unsigned number beyond `i64::MAX` is stored as a string, by OpenTelemetry's
    /// [mapping of attribute types](https://opentelemetry.io/docs/specs/otel/common/attribute-type-mapping/).
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Int(number) = self.value { Some(*number) } else { None }
    }

    /// Returns the double, if the value is one.
    /// An integer is not a double.
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::Double(number) = self.value { Some(*number) } else { None }
    }

    /// Returns the boolean, if the value is one.
    /// A number is not a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(bool) = self.value { Some(*bool) } else { None }
    }

    /// Returns the bytes, if the value is bytes. For a string, use `as_str()?.as_bytes()`.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self.value { Some(bytes) } else { None }
    }

    /// Iterates over the values of an array; empty for any other value.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::{Builder, builder, builder::NewValue};
    ///
    /// let mut builder = Builder::new();
    /// builder.resource().attr("process.command_args", NewValue::Array(vec!["serve".into(), "--fast".into()]));
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, builder::root_first(["main"])).value(1);
    ///
    /// let profiles = builder.finish()?;
    /// let args = profiles.entries().next().unwrap().resource_attributes().get("process.command_args").unwrap();
    /// assert_eq!(args.items().filter_map(|arg| arg.as_str()).collect::<Vec<_>>(), ["serve", "--fast"]);
    /// assert_eq!(args.to_string(), r#"["serve","--fast"]"#);
    /// # Ok(()) }
    /// ```
    pub fn items(&self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + use<'a> {
        let strings = self.strings;
        let items = if let Value::Array(items) = self.value { &items[..] } else { &[] };
        items.iter().map(move |value| Self { value, strings })
    }

    /// Iterates over the pairs of a list of pairs; empty for any other value.
    /// [`items`](Self::items) returns the values of an array.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// use otlp_profiles::{Builder, builder, builder::NewValue};
    ///
    /// let mut builder = Builder::new();
    /// builder.resource().attr("k8s.labels", NewValue::key_values([("tier", "web"), ("zone", "a")]));
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// builder.sample(cpu, builder::root_first(["main"])).value(1);
    ///
    /// let profiles = builder.finish()?;
    /// let labels = profiles.entries().next().unwrap().resource_attributes().get("k8s.labels").unwrap();
    /// let keys: Vec<&str> = labels.pairs().map(|pair| pair.key).collect();
    /// assert_eq!(keys, ["tier", "zone"]);
    /// # Ok(()) }
    /// ```
    pub fn pairs(
        &self,
    ) -> impl DoubleEndedIterator<Item = AttributeRef<'a>> + ExactSizeIterator + use<'a> {
        let strings = self.strings;
        let pairs = if let Value::KeyValues(pairs) = self.value { &pairs[..] } else { &[] };
        pairs.iter().map(move |pair| AttributeRef::of_pair(Some(pair), strings))
    }
}

impl Display for ValueRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Empty => Ok(()),
            Value::String(text) => f.pad(self.strings.get(*text)),
            // Debug formatting keeps the decimal point of whole numbers, which distinguishes them from integers.
            Value::Double(number) => write!(f, "{number:?}"),
            Value::Bytes(bytes) => f.write_str(&hex(bytes)),
            value => json(f, value, self.strings),
        }
    }
}

/// Formats the value as in a list: strings are quoted.
impl Debug for ValueRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        json(f, self.value, self.strings)
    }
}

/// Formats a value as it appears in a list, and any value in `{:?}`: as valid JSON.
fn json(f: &mut Formatter<'_>, value: &Value, strings: &Strings) -> fmt::Result {
    match value {
        Value::Empty => f.write_str("null"),
        Value::String(text) => json_text(f, strings.get(*text)),
        Value::Bool(bool) => write!(f, "{bool}"),
        Value::Int(number) => write!(f, "{number}"),
        Value::Double(number) if number.is_finite() => write!(f, "{number:?}"),
        Value::Double(number) => write!(f, "\"{number}\""),
        Value::Bytes(bytes) => {
            f.write_char('"')?;
            f.write_str(&hex(bytes))?;
            f.write_char('"')
        }
        Value::Array(values) => list(f, '[', values, ']', |f, value| json(f, value, strings)),
        Value::KeyValues(pairs) => list(f, '{', pairs, '}', |f, KeyValue { key, value }| {
            json_text(f, strings.get(*key))?;
            f.write_char(':')?;
            json(f, value, strings)
        }),
    }
}

/// Formats items between two brackets, separated by commas.
fn list<T>(
    f: &mut Formatter<'_>,
    open: char,
    items: &[T],
    close: char,
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_char(',')?;
        }
        write(f, item)?;
    }
    f.write_char(close)
}

/// Quotes a string with the escapes that JSON requires.
fn json_text(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            char if char < ' ' => write!(f, "\\u{:04x}", u32::from(char))?,
            char => f.write_char(char)?,
        }
    }
    f.write_char('"')
}

/// An attribute with its strings resolved.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let samples = profiles.iter().next().unwrap().samples();
/// let labelled = samples.iter().find(|sample| !sample.attributes.is_empty()).unwrap();
/// let label = profiles.dictionary().resolve(labelled.attributes).iter().next().unwrap();
/// assert_eq!((label.key, label.value.to_string(), label.unit), ("endpoint", "/v1/sort".into(), ""));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AttributeRef<'a> {
    /// The key.
    pub key: &'a str,
    /// The value.
    pub value: ValueRef<'a>,
    /// The unit of the value; empty if unset, as always on resources and scopes.
    pub unit: &'a str,
}

/// The value of a missing row or pair. Lists contain no such items.
const EMPTY: &Value = &Value::Empty;

impl<'a> AttributeRef<'a> {
    /// Returns the attribute of a row of the table, or the empty one if the row is missing.
    pub(crate) fn of_row(id: Option<AttributeId>, dictionary: &'a Dictionary) -> Self {
        let row = id.and_then(|id| dictionary.attribute(id));
        let (key, unit) = row.map(|row| (row.key, row.unit)).unwrap_or_default();
        let value = row.map_or(EMPTY, |row| &row.value);
        let strings = &dictionary.strings;
        let value = ValueRef { value, strings };
        Self { key: strings.get(key), value, unit: strings.get(unit) }
    }

    /// Returns the attribute in a pair of a resource, a scope or a list.
    pub(crate) fn of_pair(pair: Option<&'a KeyValue>, strings: &'a Strings) -> Self {
        let (key, value) = pair.map_or((Default::default(), EMPTY), |pair| (pair.key, &pair.value));
        Self { key: strings.get(key), value: ValueRef { value, strings }, unit: "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_said_as_text() {
        let mut dictionary = Dictionary::default();
        let [name, key] = ["a \"b\"\n", "k"].map(|text| dictionary.strings.push(text));
        let text = || Value::String(name);
        let pair = |value| Value::KeyValues([KeyValue { key, value }].into());
        for (value, expected) in [
            (Value::Empty, ""),
            (text(), "a \"b\"\n"),
            (Value::Bool(true), "true"),
            (Value::Int(-5), "-5"),
            (Value::Double(1.0), "1.0"),
            (Value::Double(f64::NAN), "NaN"),
            (Value::Bytes([1, 255].into()), "01ff"),
            (Value::Array([Value::Empty, text()].into()), r#"[null,"a \"b\"\u000a"]"#),
            (Value::Array([Value::Double(f64::INFINITY)].into()), r#"["inf"]"#),
            (pair(Value::Bytes([0].into())), r#"{"k":"00"}"#),
            (Value::Array([].into()), "[]"),
        ] {
            assert_eq!(dictionary.value(&value).to_string(), expected);
        }
    }
}
