//! What a format says of every field of its messages: what detection walks a payload with.
//!
//! A grammar is flat: one list of fields, and for each message and number which of them it is, so that looking
//! one up is two indices and all grammars together are few allocations. It is derived from the schema for formats
//! that are read, and written down for what is only named.

use crate::format::otlp::schema::Rows;
pub(super) use crate::schema::Table;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

macro_rules! messages {
    ($($(#[$doc:meta])* $message:ident = $name:literal,)*) => {
        /// The messages of all the formats that are told apart, by what they are for.
        ///
        /// A message holds only messages further down this list, so a walk is as deep as the list is
        /// long at most, whatever the payload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Message {
            $($(#[$doc])* $message,)*
        }

        impl Message {
            pub(super) const ALL: [Self; Self::COUNT] = [$(Self::$message),*];
            pub(super) const COUNT: usize = Self::AnyValue as usize + 1;

            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$message => $name,)*
                }
            }
        }
    };
}

messages! {
    Data = "ProfilesData",
    Dictionary = "ProfilesDictionary",
    ResourceProfiles = "ResourceProfiles",
    ScopeProfiles = "ScopeProfiles",
    Resource = "Resource",
    Scope = "InstrumentationScope",
    EntityRef = "EntityRef",
    Container = "ProfileContainer",
    Profile = "Profile",
    /// A span, a metric or a log record; the status of a response.
    Record = "record",
    Event = "Event",
    EventType = "EventType",
    Clock = "Clock",
    Sample = "Sample",
    Label = "Label",
    ValueType = "ValueType",
    Mapping = "Mapping",
    Location = "Location",
    Line = "Line",
    Function = "Function",
    Link = "Link",
    Stack = "Stack",
    AttributeUnit = "AttributeUnit",
    KeyValueAndUnit = "KeyValueAndUnit",
    KeyValue = "KeyValue",
    AnyValue = "AnyValue",
}

/// What a field holds.
///
/// It says more than the type: whether numbers are references decides whether they can lead nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Of up to 64 bits, with no meaning that can be checked.
    Number,
    /// 0 or 1.
    Flag,
    /// A number of at most 31 bits.
    Small,
    /// A row of a table.
    Index(Table),
    /// Where a slice begins, and how long it is.
    SliceStart,
    SliceLength,
    Fixed64,
    Text,
    /// A text for people: without control characters.
    Prose,
    /// Of any length; not looked into.
    Bytes,
    /// Bytes of one length, or none.
    Id(u8),
    One(Message),
    Many(Message),
    /// A row of a table.
    Row(Table, Message),
    /// A text of the string table.
    Strings,
    /// One of several texts.
    Texts,
    /// One of several messages that are not looked into.
    Opaques,
    Fixed32,
    /// Rows of a table.
    Indices(Table),
    /// The same, and a list that slices are taken of.
    SliceIndices(Table),
    /// Numbers that are not references by row.
    Numbers,
    /// Of a sample: as many as timestamps or sample types.
    Values,
    /// Varints.
    Times,
    /// Of eight bytes each.
    FixedTimes,
}

impl Holds {
    /// The kind its bytes have where an encoder packs what can be packed.
    /// Lists of numbers are packed as a rule: `LEN`.
    pub(super) fn kind(self) -> u32 {
        match self {
            Self::Number
            | Self::Flag
            | Self::Small
            | Self::Index(_)
            | Self::SliceStart
            | Self::SliceLength => VARINT,
            Self::Fixed64 => FIXED64,
            Self::Fixed32 => FIXED32,
            _ => LEN,
        }
    }

    /// The kind its bytes have where each number is a field of its own.
    pub(super) fn unpacked_kind(self) -> Option<u32> {
        match self {
            Self::Indices(_)
            | Self::SliceIndices(_)
            | Self::Numbers
            | Self::Values
            | Self::Times => Some(VARINT),
            Self::FixedTimes => Some(FIXED64),
            _ => None,
        }
    }

    pub(super) fn repeats(self) -> bool {
        let list = matches!(
            self,
            Self::Many(_) | Self::Row(..) | Self::Strings | Self::Texts | Self::Opaques
        );
        list || self.unpacked_kind().is_some()
    }

    /// The message that it is.
    pub(super) fn message(self) -> Option<Message> {
        match self {
            Self::One(inner) | Self::Many(inner) | Self::Row(_, inner) => Some(inner),
            _ => None,
        }
    }

    /// The list that an occurrence of the field makes longer by one.
    pub(super) fn table(self) -> Option<Table> {
        match self {
            Self::Row(table, _) => Some(table),
            Self::Strings => Some(Table::String),
            Self::SliceIndices(_) => Some(Table::Slice),
            _ => None,
        }
    }
}

/// A field: its name, and what it holds. Equal are those that mean the same, whatever their name.
#[derive(Clone, Copy, Debug, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    /// What the same field is called in every format.
    pub(super) key: &'static str,
    pub(super) holds: Holds,
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.holds) == (other.key, other.holds)
    }
}

/// Fields of messages: the number of each, its name, and what it holds.
pub(super) type Fields = &'static [(Message, &'static [(u32, &'static str, Holds)])];

/// The fields of all messages of one format, by number.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// What the payload is.
    pub(super) root: Message,
    /// What a reference of 0 means.
    pub(super) rows: Rows,
    /// Whether its encoders pack numbers.
    pub(super) packs: bool,
    /// Whether its texts are UTF-8.
    pub(super) utf8: bool,
    /// Whether a profile has one sample type, and values and times are a series.
    pub(super) series: bool,
    fields: Vec<Field>,
    /// By message and number: 0, or which of the fields it is, from 1.
    numbers: [[u8; LAST_NUMBER as usize + 1]; Message::COUNT],
    /// The highest number a field of each message has.
    last: [u32; Message::COUNT],
    /// By message: a bit for each field past its last that only later generations have.
    later: [u32; Message::COUNT],
    /// By message: a bit for each field that is always there.
    required: [u32; Message::COUNT],
    /// Fields that are both there or neither.
    pair: Option<(Message, u32, u32)>,
}

/// Fields up to this number can be told to have been seen; no format has one past 24.
pub(super) const LAST_NUMBER: u32 = 31;

/// As many fields as the messages of a format have together.
const MOST_FIELDS: usize = 96;

impl Grammar {
    /// With what OTLP's newest generation has: row 0 is none, lists are packed, texts are UTF-8.
    pub(super) fn new(name: &'static str, root: Message) -> Self {
        Self {
            name,
            root,
            rows: Rows::NullFirst,
            packs: true,
            utf8: true,
            series: true,
            fields: Vec::with_capacity(MOST_FIELDS),
            numbers: [[0; LAST_NUMBER as usize + 1]; Message::COUNT],
            last: [0; Message::COUNT],
            later: [0; Message::COUNT],
            required: [0; Message::COUNT],
            pair: None,
        }
    }

    /// Adds a field to a message.
    pub(super) fn add(
        &mut self,
        message: Message,
        number: u32,
        name: &'static str,
        key: &'static str,
        holds: Holds,
    ) {
        debug_assert!((1..=LAST_NUMBER).contains(&number), "{name} has number {number}");
        let numbers = self.numbers.get_mut(message as usize);
        let Some(at) = numbers.and_then(|numbers| numbers.get_mut(number as usize)) else { return };
        let field = Field { name, key, holds };
        match self.fields.get_mut(usize::from(*at).wrapping_sub(1)) {
            Some(known) => *known = field,
            None => {
                self.fields.push(field);
                debug_assert!(self.fields.len() < 256);
                *at = self.fields.len() as u8;
                let last = &mut self.last[message as usize];
                *last = number.max(*last);
            }
        }
    }

    /// Adds the fields of several messages.
    pub(super) fn add_all(&mut self, messages: Fields) -> &mut Self {
        for (message, fields) in messages {
            for &(number, name, holds) in *fields {
                self.add(*message, number, name, name, holds);
            }
        }
        self
    }

    /// Says that a later generation has this field. What this one has as well stays its own.
    pub(super) fn add_later(&mut self, message: Message, number: u32) {
        let known = number <= self.last(message);
        if let Some(later) = self.later.get_mut(message as usize).filter(|_| !known) {
            *later |= bit(number);
        }
    }

    /// Says that every such message has this field.
    pub(super) fn require(&mut self, message: Message, number: u32) -> &mut Self {
        if let Some(required) = self.required.get_mut(message as usize) {
            *required |= bit(number);
        }
        self
    }

    /// Says that a message has both fields or neither.
    pub(super) fn pair(&mut self, message: Message, one: u32, other: u32) -> &mut Self {
        debug_assert!(self.pair.is_none());
        self.pair = Some((message, one, other));
        self
    }

    /// None where the format has no field of this number.
    #[inline]
    pub(super) fn field(&self, message: Message, number: u32) -> Option<&Field> {
        let at = *self.numbers.get(message as usize)?.get(number as usize)?;
        self.fields.get(usize::from(at).wrapping_sub(1))
    }

    /// The highest number a field of the message has.
    pub(super) fn last(&self, message: Message) -> u32 {
        self.last.get(message as usize).copied().unwrap_or(0)
    }

    /// Whether only generations after this one have the field: nothing of this one holds it.
    pub(super) fn is_later(&self, message: Message, number: u32) -> bool {
        self.later.get(message as usize).is_some_and(|later| later & bit(number) != 0)
    }

    /// A field that such a message has, and that is not among those `seen`.
    pub(super) fn missing(&self, message: Message, seen: u32) -> Option<u32> {
        let missing = self.required.get(message as usize)? & !seen;
        if missing != 0 {
            return Some(missing.trailing_zeros());
        }
        let has = |number: u32| seen & bit(number) != 0;
        let (_, one, other) = self.pair.filter(|pair| pair.0 == message)?;
        match (has(one), has(other)) {
            (true, false) => Some(other),
            (false, true) => Some(one),
            _ => None,
        }
    }

    /// Whether the message holds a table or another list that is counted before it is walked.
    pub(super) fn counts(&self, message: Message) -> bool {
        self.fields(message).any(|(_, field)| field.holds.table().is_some())
    }

    /// The fields of a message, by number.
    pub(super) fn fields(&self, message: Message) -> impl Iterator<Item = (u32, &Field)> {
        (1..=LAST_NUMBER).filter_map(move |number| Some((number, self.field(message, number)?)))
    }

    /// The message that the numbers of fields lead to.
    pub(super) fn follow(&self, mut numbers: impl Iterator<Item = u32>) -> Option<Message> {
        numbers.try_fold(self.root, |message, number| self.inner(message, number))
    }

    /// The message a field holds.
    pub(super) fn inner(&self, message: Message, number: u32) -> Option<Message> {
        self.field(message, number)?.holds.message()
    }
}

/// The bit of a field number in a set of them; numbers past the last have none.
#[inline]
pub(super) fn bit(number: u32) -> u32 {
    1u32.checked_shl(number).unwrap_or(0)
}
