//! A JSON value as a tree, for small ones that say the same in many forms.
//!
//! Readers of other tools' reports use it where an element is small and says the same in many
//! forms; whole files go through [`Text`] and [`object`](super::object) without a tree. The budget
//! pays for every node.
//!
//! A text without escapes is borrowed from the payload, so a tree costs its nodes alone.

use std::borrow::Cow;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::json::text::Text;
use crate::limits::within;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// As it is written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// In its order; of a key that is said twice, the last counts.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// The value that comes next, which is taken.
    ///
    /// # Errors
    ///
    /// What is no JSON; [`Limit`](crate::ErrorKind::Limit) past `max_nesting` or the budget.
    pub(crate) fn of(text: &mut Text<'a>, intake: &mut Intake) -> Result<Self> {
        Self::at_depth(text, intake, 1)
    }

    /// It recurses; [`check`](Self::check) bounds how deep before it does.
    fn at_depth(text: &mut Text<'a>, intake: &mut Intake, depth: u64) -> Result<Self> {
        intake.budget.take::<Self>(1)?;
        let mut first = true;
        Ok(match text.peek() {
            Some(b'{') => {
                Self::check(text, intake, depth)?;
                text.open(b'{', "an object")?;
                let mut members = Vec::new();
                while let Some(key) = text.key(&mut first)? {
                    let value = Self::at_depth(text, intake, depth + 1)?;
                    intake.budget.push(&mut members, (key, value))?;
                }
                Self::Object(members)
            }
            Some(b'[') => {
                Self::check(text, intake, depth)?;
                text.open(b'[', "a list")?;
                let mut values = Vec::new();
                while text.another(&mut first, b']')? {
                    let value = Self::at_depth(text, intake, depth + 1)?;
                    intake.budget.push(&mut values, value)?;
                }
                Self::List(values)
            }
            Some(b'"') => {
                let string = text.string("a value")?;
                let owned = if let Cow::Owned(text) = &string { text.len() } else { 0 };
                intake.budget.take::<u8>(owned)?;
                Self::Text(string)
            }
            _ if text.word("null") => Self::Null,
            _ if text.word("true") => Self::Bool(true),
            _ if text.word("false") => Self::Bool(false),
            _ => Self::Number(text.number("a value")?.into()),
        })
    }

    /// Refuses what is nested too deep before it is gone into.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_nesting`, at the bracket.
    fn check(text: &Text<'a>, intake: &Intake, depth: u64) -> Result<()> {
        let most = intake.limits().max_nesting;
        within("max_nesting", most, depth).map_err(|error| error.at(text.rest()))
    }

    /// The same, apart from the text that it was read from.
    ///
    /// For what was read out of a string, such as JSON within JSON, whose text does not outlive the
    /// call.
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

    /// The value of a key; none where it is null, or this is no object.
    ///
    /// From the last member to the first, as the last of a key counts. Linear: objects here have a
    /// dozen.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let found = members.iter().rev().find(|(name, _)| *name == key);
        found.map(|(_, value)| value).filter(|value| **value != Self::Null)
    }

    /// The text that this is.
    pub(crate) fn text(&self) -> Option<&Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number that this is.
    ///
    /// As a double; [`int_of`](super::object::int_of) keeps whole numbers exact.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// The elements of a list.
    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(values) => Some(values),
            _ => None,
        }
    }
}
