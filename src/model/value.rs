//! Attribute values and lists.

use crate::model::id::StringId;

/// The value of an attribute: OpenTelemetry's `AnyValue`. Strings are ids of the string table.
///
/// [`Dictionary::value`](crate::Dictionary::value) resolves its strings and returns a
/// [`ValueRef`](crate::model::ValueRef), which reads and prints it. A value has three words and owns no strings.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// use otlp_profiles::model::Value;
///
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let dictionary = profiles.dictionary();
/// for attribute in dictionary.attributes() {
///     if let Value::String(text) = attribute.value {
///         println!("{}: {}", dictionary.text(attribute.key), dictionary.text(text));
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// An attribute without a value.
    #[default]
    Empty,
    /// A string.
    /// In OTLP 1.10 it is in place or a row of the string table on the wire; here it is a row.
    String(StringId),
    /// A boolean.
    Bool(bool),
    /// An integer, such as the number of a pprof label.
    Int(i64),
    /// A double.
    Double(f64),
    /// Bytes.
    Bytes(Box<[u8]>),
    /// A list of values.
    Array(Box<[Value]>),
    /// A list of named values.
    /// The order is that of the payload.
    KeyValues(Box<[KeyValue]>),
}

/// Compares doubles by their bits, so that a NaN equals itself and a table holds it once.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Empty, Self::Empty) => true,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::KeyValues(a), Self::KeyValues(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Empty => {}
            Self::String(text) => text.hash(state),
            Self::Bool(truth) => truth.hash(state),
            Self::Int(number) => number.hash(state),
            Self::Double(number) => number.to_bits().hash(state),
            Self::Bytes(bytes) => bytes.hash(state),
            Self::Array(values) => values.hash(state),
            Self::KeyValues(pairs) => pairs.hash(state),
        }
    }
}

/// A named value, used in resources, scopes and other values.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{Builder, builder::root_first, model::Value};
///
/// let mut builder = Builder::new();
/// builder.resource().attr("process.pid", 42);
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main"])).value(1);
/// let profiles = builder.finish()?;
/// let pair = &profiles.resource_profiles()[0].resource().attributes()[0];
/// assert_eq!(profiles.dictionary().text(pair.key), "process.pid");
/// assert_eq!(pair.value, Value::Int(42));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KeyValue {
    /// The name.
    pub key: StringId,
    /// The value.
    pub value: Value,
}

impl Value {
    /// Calls `f` for every string in the value, including keys.
    /// The recursion is as deep as the value, which [`max_nesting`](crate::Limits::max_nesting) bounds.
    pub(crate) fn for_each_text(&self, f: &mut impl FnMut(StringId)) {
        match self {
            Self::String(text) => f(*text),
            Self::Array(values) => values.iter().for_each(|value| value.for_each_text(f)),
            Self::KeyValues(pairs) => pairs.iter().for_each(|pair| pair.for_each_text(f)),
            Self::Empty | Self::Bool(_) | Self::Int(_) | Self::Double(_) | Self::Bytes(_) => {}
        }
    }

    /// Returns the value with every string replaced by the result of `f`.
    pub(crate) fn map_texts(&self, f: &mut impl FnMut(StringId) -> StringId) -> Self {
        match self {
            Self::String(text) => Self::String(f(*text)),
            Self::Array(values) => {
                Self::Array(values.iter().map(|value| value.map_texts(f)).collect())
            }
            Self::KeyValues(pairs) => {
                Self::KeyValues(pairs.iter().map(|pair| pair.map_texts(f)).collect())
            }
            other => other.clone(),
        }
    }
}

impl KeyValue {
    /// Calls `f` for the key and every string in the value.
    pub(crate) fn for_each_text(&self, f: &mut impl FnMut(StringId)) {
        f(self.key);
        self.value.for_each_text(f);
    }

    /// Returns the pair with every string replaced by the result of `f`.
    pub(crate) fn map_texts(&self, f: &mut impl FnMut(StringId) -> StringId) -> Self {
        Self { key: f(self.key), value: self.value.map_texts(f) }
    }
}

/// Returns the memory that a value owns, in bytes, without the value itself.
pub(crate) fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(values) => {
            size_of_val::<[_]>(values) + values.iter().map(heap_bytes).sum::<usize>()
        }
        Value::KeyValues(pairs) => {
            let inner = pairs.iter().map(|pair| heap_bytes(&pair.value)).sum::<usize>();
            size_of_val::<[_]>(pairs) + inner
        }
        Value::Empty | Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Double(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_three_words() {
        assert_eq!(size_of::<Value>(), 3 * size_of::<usize>());
    }
}
