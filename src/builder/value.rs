//! Strings and attribute values, as callers pass them.

use std::borrow::Cow;
use std::sync::Arc;

use crate::builder::key::Key;
use crate::model::id::StringId;

/// A string, or the key of an interned string.
///
/// ```
/// use otlp_profiles::{Builder, builder::NewFunction};
///
/// let mut builder = Builder::new();
/// let file = builder.string("src/lib.rs");
/// let parse = builder.function(NewFunction::new("parse").filename(file));
/// assert_eq!(parse, builder.function(NewFunction::new(String::from("parse")).filename("src/lib.rs")));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StringRef<'a> {
    /// A borrowed string.
    Str(&'a str),
    /// An owned string.
    Owned(String),
    /// The key of a string.
    Key(Key<StringId>),
}

impl StringRef<'_> {
    /// Returns the string, unless it is a key.
    #[inline]
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            Self::Owned(text) => Some(text),
            Self::Key(_) => None,
        }
    }
}

impl Default for StringRef<'_> {
    #[inline]
    fn default() -> Self {
        Self::Str("")
    }
}

/// The value of an attribute: OTLP's `AnyValue`.
///
/// Strings, owned or borrowed, vectors of them, booleans, integers,
/// floating point numbers and bytes convert to it; [`array`](Self::array) and [`key_values`](Self::key_values) create lists. An
/// unsigned integer beyond `i64::MAX`, which OTLP's integer cannot hold, becomes a string of decimal digits, as
/// OpenTelemetry's [mapping of attribute types](https://opentelemetry.io/docs/specs/otel/common/attribute-type-mapping/)
/// specifies.
///
/// ```
/// use otlp_profiles::{Builder, builder::NewValue};
///
/// let mut builder = Builder::new();
/// let worker = builder.attribute("thread.name", String::from("worker-1"));
/// let thread = builder.attribute("thread.id", 42_u64);
/// let comment = builder.attribute("pprof.profile.comment", NewValue::array(["first", "second"]));
/// let labels = builder.attribute("labels", NewValue::key_values([("canary", true)]));
/// assert_eq!(builder.attribute("id", u64::MAX), builder.attribute("id", "18446744073709551615"));
/// # let _ = (worker, thread, comment, labels);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum NewValue<'a> {
    /// No value.
    #[default]
    Empty,
    /// A string.
    String(StringRef<'a>),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A double.
    Double(f64),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// A list.
    Array(Vec<NewValue<'a>>),
    /// Named values; of two with the same name the later one wins, and one without a name is left out and counted.
    KeyValues(Vec<(StringRef<'a>, NewValue<'a>)>),
}

impl<'a> NewValue<'a> {
    /// Creates a list of values.
    ///
    /// ```
    /// use otlp_profiles::builder::NewValue;
    /// assert!(matches!(NewValue::array(["serve", "--fast"]), NewValue::Array(values) if values.len() == 2));
    /// ```
    pub fn array<V: Into<Self>>(values: impl IntoIterator<Item = V>) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }

    /// Creates named values. If two have the same name, the later one wins.
    ///
    /// ```
    /// use otlp_profiles::builder::NewValue;
    /// let labels = NewValue::key_values([("tier", "web"), ("zone", "a")]);
    /// assert!(matches!(labels, NewValue::KeyValues(pairs) if pairs.len() == 2));
    /// ```
    pub fn key_values<K: Into<StringRef<'a>>, V: Into<Self>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self::KeyValues(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// The value of an attribute with an optional unit: any [`NewValue`], or a pair of a value and a unit.
///
/// Attributes of resources and scopes have no unit, so they take a [`NewValue`].
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main"])).attr("request.size", (512, "By")).attr("thread.id", 42);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ValueAndUnit<'a> {
    pub(crate) value: NewValue<'a>,
    pub(crate) unit: StringRef<'a>,
}

impl ValueAndUnit<'_> {
    /// Returns the string, if the value is a string without a unit.
    #[inline]
    pub(crate) fn as_str(&self) -> Option<&str> {
        match (&self.value, &self.unit) {
            (NewValue::String(text), StringRef::Str("")) => text.as_str(),
            _ => None,
        }
    }
}

impl<'a> From<NewValue<'a>> for ValueAndUnit<'a> {
    #[inline]
    fn from(value: NewValue<'a>) -> Self {
        Self { value, unit: StringRef::default() }
    }
}

impl<'a, V: Into<NewValue<'a>>, U: Into<StringRef<'a>>> From<(V, U)> for ValueAndUnit<'a> {
    fn from((value, unit): (V, U)) -> Self {
        Self { value: value.into(), unit: unit.into() }
    }
}

macro_rules! from {
    (text $($type:ty => |$text:ident| $new:expr;)*) => {$(
        impl<'a> From<$type> for StringRef<'a> {
            #[inline]
            fn from($text: $type) -> Self {
                $new
            }
        }
        from!(value $type => |text| Self::String(text.into()););
    )*};
    (value $($type:ty => |$value:ident| $new:expr;)*) => {$(
        impl<'a> From<$type> for NewValue<'a> {
            #[inline]
            fn from($value: $type) -> Self {
                $new
            }
        }
        impl<'a> From<$type> for ValueAndUnit<'a> {
            #[inline]
            fn from(value: $type) -> Self {
                NewValue::from(value).into()
            }
        }
    )*};
}

from! { text
    &'a str => |text| Self::Str(text);
    &'a String => |text| Self::Str(text);
    String => |text| Self::Owned(text);
    Cow<'a, str> => |text| match text {
        Cow::Borrowed(text) => Self::Str(text),
        Cow::Owned(text) => Self::Owned(text),
    };
    &'a &'a str => |text| Self::Str(text);
    &'a Cow<'_, str> => |text| Self::Str(text);
    &'a Arc<str> => |text| Self::Str(text);
    Arc<str> => |text| Self::Owned((*text).to_owned());
    Box<str> => |text| Self::Owned(text.into());
    Key<StringId> => |key| Self::Key(key);
}

from! { value
    StringRef<'a> => |text| Self::String(text);
    bool => |boolean| Self::Bool(boolean);
    i64 => |integer| Self::Int(integer);
    i32 => |integer| Self::Int(integer.into());
    i16 => |integer| Self::Int(integer.into());
    i8 => |integer| Self::Int(integer.into());
    u32 => |integer| Self::Int(integer.into());
    u16 => |integer| Self::Int(integer.into());
    u8 => |integer| Self::Int(integer.into());
    u64 => |integer| int_or_digits(integer);
    usize => |integer| int_or_digits(integer);
    isize => |integer| int_or_digits(integer);
    f64 => |double| Self::Double(double);
    f32 => |float| Self::Double(float.into());
    Vec<&'a str> => |texts| Self::array(texts);
    Vec<String> => |texts| Self::array(texts);
    Vec<i64> => |integers| Self::array(integers);
    &'a [u8] => |bytes| Self::Bytes(bytes.into());
    Vec<u8> => |bytes| Self::Bytes(bytes.into());
}

/// Converts a number to an integer, or to a string of its decimal digits if it exceeds OTLP's integers.
fn int_or_digits<'a, I: TryInto<i64> + ToString + Copy>(integer: I) -> NewValue<'a> {
    match integer.try_into() {
        Ok(integer) => NewValue::Int(integer),
        Err(_) => NewValue::String(integer.to_string().into()),
    }
}
