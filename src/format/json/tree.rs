//! A JSON value as a tree.
//!
//! Readers of other tools' reports use it for small elements that have many forms. Whole files go through
//! [`Lexer`] and [`object`](super::object) without a tree. Every node is charged to the budget.
//!
//! A string without escapes borrows from the payload, so a tree allocates only its nodes.

use std::borrow::Cow;

use crate::error::Result;
use crate::format::json::lexer::Lexer;
use crate::limits::within;
use crate::read_context::ReadContext;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// As written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// Members in the order of the text. If a key occurs twice, the last one counts.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Reads the next value.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or [`Limit`](crate::ErrorKind::Limit) past `max_nesting` or the budget.
    pub(crate) fn of(text: &mut Lexer<'a>, cx: &mut ReadContext) -> Result<Self> {
        Self::at_depth(text, cx, 1)
    }

    /// Reads a value recursively. [`check`](Self::check) limits the depth.
    fn at_depth(text: &mut Lexer<'a>, cx: &mut ReadContext, depth: u64) -> Result<Self> {
        cx.budget.charge::<Self>(1)?;
        let mut first = true;
        Ok(match text.peek() {
            Some(b'{') => {
                Self::check(text, cx, depth)?;
                text.open(b'{', "an object")?;
                let mut members = Vec::new();
                while let Some(key) = text.key(&mut first)? {
                    let value = Self::at_depth(text, cx, depth + 1)?;
                    cx.budget.push(&mut members, (key, value))?;
                }
                Self::Object(members)
            }
            Some(b'[') => {
                Self::check(text, cx, depth)?;
                text.open(b'[', "a list")?;
                let mut values = Vec::new();
                while text.another(&mut first, b']')? {
                    let value = Self::at_depth(text, cx, depth + 1)?;
                    cx.budget.push(&mut values, value)?;
                }
                Self::List(values)
            }
            Some(b'"') => {
                let string = text.string("a value")?;
                let owned = if let Cow::Owned(text) = &string { text.len() } else { 0 };
                cx.budget.charge::<u8>(owned)?;
                Self::Text(string)
            }
            _ if text.word("null") => Self::Null,
            _ if text.word("true") => Self::Bool(true),
            _ if text.word("false") => Self::Bool(false),
            _ => Self::Number(text.number("a value")?.into()),
        })
    }

    /// Rejects a value that is nested too deeply.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_nesting`, at the bracket.
    fn check(text: &Lexer<'a>, cx: &ReadContext, depth: u64) -> Result<()> {
        let most = cx.limits().max_nesting;
        within("max_nesting", most, depth).map_err(|error| error.at(text.rest()))
    }

    /// Copies borrowed strings, so that the value outlives its text.
    ///
    /// For JSON within a JSON string, whose unescaped text is temporary.
    pub(crate) fn into_owned<'o>(self) -> Json<'o> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        match self {
            Self::Null => Json::Null,
            Self::Bool(truth) => Json::Bool(truth),
            Self::Number(number) => Json::Number(owned(number)),
            Self::Text(text) => Json::Text(owned(text)),
            Self::List(values) => Json::List(values.into_iter().map(Self::into_owned).collect()),
            Self::Object(members) => {
                let pair = |(key, value): (Cow<'a, str>, Self)| (owned(key), value.into_owned());
                Json::Object(members.into_iter().map(pair).collect())
            }
        }
    }

    /// Returns the value of a key, or `None` if it is absent or null, or this is not an object.
    ///
    /// Searches from the end, because the last member of a key counts. Takes linear time: objects here have a
    /// dozen members.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let found = members.iter().rev().find(|(name, _)| *name == key);
        found.map(|(_, value)| value).filter(|value| **value != Self::Null)
    }

    pub(crate) fn text(&self) -> Option<&Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a number as a double; [`int_of`](super::object::int_of) keeps integers exact.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }
}
