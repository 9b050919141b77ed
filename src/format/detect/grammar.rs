//! The fields that the messages of a format have. Detection walks a payload with them.
//!
//! A grammar copies no data: it refers to a version of the schema and to the message type of the payload. It
//! adds only constraints that no field declares: which fields are always present, and which occur in pairs.

use crate::schema::{Field, Kind, MessageKind, MessageType, NUMBERS, Role, Rows, Table, Version};

/// The schema of a format's payloads.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// The message type of the payload.
    pub(super) root: &'static MessageType,
    pub(super) version: Version,
    pub(super) texts: Texts,
    /// Required fields as (message, mask, number): a message with all fields of the mask has field `number`.
    pub(super) needs: Vec<(MessageKind, u32, u32)>,
}

/// How the encoders of a format write strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Any bytes. pprof's encoders also need not pack numbers, and may add custom fields.
    Any,
    Utf8,
    /// Text for people: UTF-8 without control characters.
    Prose,
}

impl Grammar {
    /// Creates the grammar of a message type and its nested messages, in one version of the schema.
    pub(super) fn new(name: &'static str, root: &'static MessageType, version: Version) -> Self {
        let texts = if version == Version::Pprof { Texts::Any } else { Texts::Utf8 };
        Self { name, root, version, texts, needs: Vec::new() }
    }

    /// Returns whether encoders follow the rules of protobuf: they pack numbers, and strings are UTF-8.
    pub(super) fn is_strict(&self) -> bool {
        self.texts != Texts::Any
    }

    /// Returns the meaning of reference 0.
    pub(super) fn rows(&self) -> Rows {
        self.version.capabilities().rows
    }

    /// Returns whether a profile has one sample type, and the values and times of a sample form a series. The
    /// release that made row 0 the null row introduced this as well.
    pub(super) fn is_series(&self) -> bool {
        self.rows() == Rows::NullFirst
    }

    /// Returns a field by its number, or `None` if the format lacks it.
    #[inline]
    pub(super) fn field(&self, message: &MessageType, number: u32) -> Option<&'static Field> {
        message.numbered(number, self.version)
    }

    /// Iterates over the fields of a message, by number.
    pub(super) fn fields(&self, message: &MessageType) -> impl Iterator<Item = &'static Field> {
        (1..NUMBERS as u32).filter_map(|number| self.field(message, number))
    }

    /// Returns the role of a field, as far as detection can check it from the bytes.
    #[inline]
    pub(super) fn role(&self, field: &Field) -> Role {
        match field.role {
            // Neither refers to the row of that number.
            Role::RefById | Role::Ref(Table::SampleType) => Role::Plain,
            // Where row 0 is an ordinary row, encoders also wrote pprof's ids here.
            Role::Ref(Table::Mapping | Table::Function)
                if self.rows() == Rows::FromZero && !field.is_repeated() =>
            {
                Role::Plain
            }
            role => role,
        }
    }

    /// Iterates over the tables of a message, and over other lists to count before walking it: the field
    /// number and the table of each.
    pub(super) fn tables(&self, message: &MessageType) -> impl Iterator<Item = (u32, Table)> {
        self.fields(message).filter_map(|field| Some((field.number, table(field)?)))
    }

    /// Returns the field of the payload that holds the dictionary, and its message type.
    pub(super) fn dictionary(&self) -> Option<(u32, &'static MessageType)> {
        let of = |field: &Field| Some((field.number, inner(field)?));
        self.fields(self.root)
            .filter_map(of)
            .find(|(_, inner)| inner.kind == MessageKind::Dictionary)
    }

    /// Returns the number of a required field that is not among those `seen`.
    pub(super) fn missing(&self, message: &MessageType, seen: u32) -> Option<u32> {
        let is_missing = |&&(of, with, number): &&(MessageKind, u32, u32)| {
            of == message.kind && seen & with == with && seen & bit(number) == 0
        };
        self.needs.iter().find(is_missing).map(|need| need.2)
    }

    /// Returns whether the number of an unknown field is above all known fields of the message.
    pub(super) fn is_beyond(&self, message: &MessageType, number: u32) -> bool {
        self.fields(message).all(|field| field.number < number)
    }

    /// Returns whether an unknown field exists in later generations: no encoder of this generation writes it.
    pub(super) fn is_later(&self, message: &MessageType, number: u32) -> bool {
        let is_it = |row: &Field| row.number == number && row.since > self.version;
        self.is_strict() && message.fields.iter().any(is_it)
    }

    /// Returns the message type that a path of field numbers leads to.
    pub(super) fn follow(
        &self,
        mut numbers: impl Iterator<Item = u32>,
    ) -> Option<&'static MessageType> {
        numbers.try_fold(self.root, |message, number| inner(self.field(message, number)?))
    }

    /// Returns whether a field means the same in another grammar. A repeated message and a single one count
    /// as the same.
    pub(super) fn is_same(&self, message: &MessageType, number: u32, other: &Self) -> bool {
        let (ours, theirs) = match (self.field(message, number), other.field(message, number)) {
            (Some(ours), Some(theirs)) => (ours, theirs),
            (ours, theirs) => return ours.is_none() && theirs.is_none(),
        };
        let roles = (self.role(ours), other.role(theirs));
        let holds = match (ours.kind, theirs.kind) {
            (Kind::Message(ours), Kind::Message(theirs)) => ours.kind == theirs.kind,
            (ours, theirs) => ours.wire() == theirs.wire(),
        };
        let is_alone = |role| matches!(role, Role::Plain | Role::Row(Table::SampleType));
        let alone = inner(ours).is_some() && is_alone(roles.0) && is_alone(roles.1);
        let often = ours.is_repeated() == theirs.is_repeated() && roles.0 == roles.1;
        ours.key == theirs.key && holds && (alone || often)
    }
}

/// Returns the message type that a field holds, or `None` for lists and maps of values, which nest without
/// limit.
#[inline]
pub(super) fn inner(field: &Field) -> Option<&'static MessageType> {
    match field.kind {
        Kind::Message(inner) => {
            (!matches!(inner.kind, MessageKind::ArrayValue | MessageKind::KeyValueList))
                .then_some(inner)
        }
        _ => None,
    }
}

/// Returns the table to which each occurrence of the field adds a row.
pub(super) fn table(field: &Field) -> Option<Table> {
    match field.role {
        Role::Row(table) => Some(table),
        Role::Sliced(_) => Some(Table::Slice),
        _ => None,
    }
}

/// Returns the bit of a field number in a bit set, or 0 for numbers above 31.
#[inline]
pub(super) fn bit(number: u32) -> u32 {
    1u32.checked_shl(number).unwrap_or(0)
}
