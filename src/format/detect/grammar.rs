//! What a format says of the fields of its messages: what detection walks a payload with.
//!
//! A grammar copies nothing: it is a version of the schema, and the message that a payload is. Added by hand is only
//! what no field says: which fields are always there, and which come in pairs.

use crate::schema::{Field, Kind, MessageType, NUMBERS, Noun, Role, Rows, Table, Version};

/// What the payloads of a format are made of.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// What the payload is.
    pub(super) root: &'static MessageType,
    pub(super) version: Version,
    pub(super) texts: Texts,
    /// Fields that such a message has, if it has these: a bit for each.
    pub(super) needs: Vec<(Noun, u32, u32)>,
}

/// What the encoders of a format write as texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Whatever they have. pprof's also need not pack numbers, and may add fields of their own.
    Any,
    Utf8,
    /// For people: without control characters.
    Prose,
}

impl Grammar {
    /// A version of a message, and all that it holds.
    pub(super) fn new(name: &'static str, root: &'static MessageType, version: Version) -> Self {
        let texts = if version == Version::Pprof { Texts::Any } else { Texts::Utf8 };
        Self { name, root, version, texts, needs: Vec::new() }
    }

    /// Whether its encoders do as protobuf says: they pack numbers, and their texts are UTF-8.
    pub(super) fn is_strict(&self) -> bool {
        self.texts != Texts::Any
    }

    /// What a reference of 0 means.
    pub(super) fn rows(&self) -> Rows {
        self.version.capabilities().rows
    }

    /// Whether a profile has one sample type, and values and times are a series: since row 0 is none, as both came in
    /// the same release.
    pub(super) fn is_series(&self) -> bool {
        self.rows() == Rows::NullFirst
    }

    /// None where the format has no field of this number.
    #[inline]
    pub(super) fn field(&self, message: &MessageType, number: u32) -> Option<&'static Field> {
        message.numbered(number, self.version)
    }

    /// The fields of a message, by number.
    pub(super) fn fields(&self, message: &MessageType) -> impl Iterator<Item = &'static Field> {
        (1..NUMBERS as u32).filter_map(|number| self.field(message, number))
    }

    /// What a field is for, as far as bytes can tell.
    #[inline]
    pub(super) fn role(&self, field: &Field) -> Role {
        match field.role {
            // Neither leads to a row of that number.
            Role::RefById | Role::Ref(Table::SampleType) => Role::Plain,
            // Where row 0 is a row like any other, encoders wrote pprof's ids here as well.
            Role::Ref(Table::Mapping | Table::Function)
                if self.rows() == Rows::FromZero && !field.is_repeated() =>
            {
                Role::Plain
            }
            role => role,
        }
    }

    /// The tables that a message brings, and other lists that are counted before it is walked: their numbers and what
    /// they are.
    pub(super) fn tables(&self, message: &MessageType) -> impl Iterator<Item = (u32, Table)> {
        self.fields(message).filter_map(|field| Some((field.number, table(field)?)))
    }

    /// The field of the payload that is a dictionary of tables, and its message.
    pub(super) fn dictionary(&self) -> Option<(u32, &'static MessageType)> {
        let of = |field: &Field| Some((field.number, inner(field)?));
        self.fields(self.root).filter_map(of).find(|(_, inner)| inner.noun == Noun::Dictionary)
    }

    /// A field that such a message has, and that is not among those `seen`.
    pub(super) fn missing(&self, message: &MessageType, seen: u32) -> Option<u32> {
        let is_missing = |&&(of, with, number): &&(Noun, u32, u32)| {
            of == message.noun && seen & with == with && seen & bit(number) == 0
        };
        self.needs.iter().find(is_missing).map(|need| need.2)
    }

    /// Whether a field that the format does not have is above all of a message.
    pub(super) fn is_beyond(&self, message: &MessageType, number: u32) -> bool {
        self.fields(message).all(|field| field.number < number)
    }

    /// Whether such a field is one of later generations: then nothing of this one holds it.
    pub(super) fn is_later(&self, message: &MessageType, number: u32) -> bool {
        let is_it = |row: &Field| row.number == number && row.since > self.version;
        self.is_strict() && message.fields.iter().any(is_it)
    }

    /// The message that the numbers of fields lead to.
    pub(super) fn follow(
        &self,
        mut numbers: impl Iterator<Item = u32>,
    ) -> Option<&'static MessageType> {
        numbers.try_fold(self.root, |message, number| inner(self.field(message, number)?))
    }

    /// Whether the field of a number is the same to another grammar, whatever its name; a list of one and one alone are.
    pub(super) fn is_same(&self, message: &MessageType, number: u32, other: &Self) -> bool {
        let (ours, theirs) = match (self.field(message, number), other.field(message, number)) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            (ours, theirs) => return ours.is_none() && theirs.is_none(),
        };
        let roles = (self.role(ours), other.role(theirs));
        let holds = match (ours.kind, theirs.kind) {
            (Kind::Message(ours), Kind::Message(theirs)) => ours.noun == theirs.noun,
            (ours, theirs) => ours.wire() == theirs.wire(),
        };
        let is_alone = |role| matches!(role, Role::Plain | Role::Row(Table::SampleType));
        let alone = inner(ours).is_some() && is_alone(roles.0) && is_alone(roles.1);
        let often = ours.is_repeated() == theirs.is_repeated() && roles.0 == roles.1;
        ours.key == theirs.key && holds && (alone || often)
    }
}

/// The message that a field holds; none for lists and maps of values, which nest without end.
#[inline]
pub(super) fn inner(field: &Field) -> Option<&'static MessageType> {
    match field.kind {
        Kind::Message(inner) => {
            (!matches!(inner.noun, Noun::ArrayValue | Noun::KeyValueList)).then_some(inner)
        }
        _ => None,
    }
}

/// The list that an occurrence of the field makes longer by one.
pub(super) fn table(field: &Field) -> Option<Table> {
    match field.role {
        Role::Row(table) => Some(table),
        Role::Sliced(_) => Some(Table::Slice),
        _ => None,
    }
}

/// The bit of a field number in a set of them; numbers past the last have none.
#[inline]
pub(super) fn bit(number: u32) -> u32 {
    1u32.checked_shl(number).unwrap_or(0)
}
