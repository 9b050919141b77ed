//! JSON values, for documents and for serde.

use std::borrow::Cow;
use std::fmt::{self, Display};

use crate::escape;
use crate::format::json::object::write_string;

/// A JSON value. A list displays with one element a line.
pub(super) enum Json<'a> {
    Bool(bool),
    Number(Option<u64>),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(Members<'a>),
}

/// The members of an object.
pub(super) type Members<'a> = Vec<(&'static str, Json<'a>)>;

macro_rules! from {
    ($($type:ty, $value:ident => $json:expr;)*) => {$(
        impl<'a> From<$type> for Json<'a> {
            fn from($value: $type) -> Self {
                $json
            }
        }
    )*};
}

from! {
    bool, value => Self::Bool(value);
    u64, value => Self::Number(Some(value));
    Option<u64>, value => Self::Number(value);
    Members<'a>, value => Self::Object(value);
    &'a str, value => Self::Text(value.into());
    &'a String, value => Self::Text(value.into());
    String, value => Self::Text(value.into());
}

/// A list of objects.
impl<'a> FromIterator<Members<'a>> for Json<'a> {
    fn from_iter<T: IntoIterator<Item = Members<'a>>>(elements: T) -> Self {
        Self::List(elements.into_iter().map(Self::Object).collect())
    }
}

impl Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(None) => f.write_str("null"),
            Self::Number(Some(value)) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(elements) => f.write_str(&list(elements.iter().map(Self::to_string))),
            Self::Object(members) => {
                for (row, (key, value)) in members.iter().enumerate() {
                    let open = if row == 0 { "{" } else { ", " };
                    write!(f, r#"{open}"{key}": {value}"#)?;
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Json<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(elements) => serializer.collect_seq(elements),
            Self::Object(members) => serializer.collect_map(members.iter().map(|it| (it.0, &it.1))),
        }
    }
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    escape::json(&String::from_utf8_lossy(&out)).into_owned()
}

/// A JSON array that is written element by element.
#[derive(Debug, Default)]
pub(super) struct Array {
    has_elements: bool,
}

impl Array {
    pub(super) fn push(&mut self, text: &mut String, element: &str) {
        text.push_str(if self.has_elements { ",\n" } else { "[\n" });
        text.push_str(element);
        self.has_elements = true;
    }

    /// Returns the end of the array.
    pub(super) fn end(&self) -> &'static str {
        if self.has_elements { "\n]" } else { "[]" }
    }
}

/// Returns an array with an element a line.
pub(super) fn list(elements: impl Iterator<Item = String>) -> String {
    let (mut array, mut text) = (Array::default(), String::new());
    elements.for_each(|element| array.push(&mut text, &element));
    text + array.end()
}
