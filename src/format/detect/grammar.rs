//! What a format says of every field of its messages: what detection walks a payload with.
//!
//! A grammar is flat: one list of fields, and for each message and number which of them it is, so that looking
//! one up is two indices and all grammars together are few allocations. It is derived from the schema for formats
//! that are read, and written down for what is only named.

use crate::format::otlp::schema::Rows;
use crate::schema::{self, Kind, MessageType, Version};
pub(super) use crate::schema::{Role, Table};
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

macro_rules! messages {
    ($($(#[$doc:meta])* $message:ident: $($of:ident)*;)*) => {
        /// The messages of all the formats that are told apart, by what they are for. Lists and maps
        /// of values are not among them: they nest without end.
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

            /// What the schema calls it: the generations, then events.
            fn types(self) -> &'static [&'static MessageType] {
                match self {
                    $(Self::$message => const { &[$(&schema::$of),*] },)*
                }
            }
        }
    };
}

messages! {
    Data: PROFILES_DATA;
    Dictionary: PROFILES_DICTIONARY;
    ResourceProfiles: RESOURCE_PROFILES;
    ScopeProfiles: SCOPE_PROFILES;
    Resource: RESOURCE;
    Scope: INSTRUMENTATION_SCOPE;
    EntityRef: ENTITY_REF;
    Container: PROFILE_CONTAINER;
    Profile: PROFILE EVENT_PROFILE;
    /// A span, a metric or a log record; the status of a response.
    Record: ;
    Event: EVENT;
    EventType: EVENT_TYPE;
    Clock: CLOCK;
    Sample: SAMPLE;
    Label: LABEL;
    ValueType: VALUE_TYPE;
    Mapping: MAPPING EVENT_MAPPING;
    Location: LOCATION EVENT_LOCATION;
    Line: LINE EVENT_LINE;
    Function: FUNCTION EVENT_FUNCTION;
    Link: LINK EVENT_LINK;
    Stack: STACK EVENT_STACK;
    AttributeUnit: ATTRIBUTE_UNIT;
    KeyValueAndUnit: KEY_VALUE_AND_UNIT EVENT_KEY_VALUE;
    KeyValue: KEY_VALUE;
    AnyValue: ANY_VALUE;
}

impl Message {
    pub(super) fn name(self) -> &'static str {
        self.types().first().map_or("record", |known| known.name)
    }

    /// None for messages that are not looked into.
    fn of(schema: &MessageType) -> Option<Self> {
        let is = |known: &&MessageType| std::ptr::eq(*known, schema);
        Self::ALL.into_iter().find(|message| message.types().iter().any(is))
    }

    /// All rows of the schema for it.
    pub(super) fn rows(self) -> impl Iterator<Item = &'static schema::Field> {
        self.types().iter().flat_map(|known| known.fields)
    }
}

/// What a field holds, or each of several: as much as a walk can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Of up to 64 bits.
    Number,
    /// 0 or 1.
    Flag,
    /// A number of at most 31 bits.
    Small,
    Fixed64,
    Fixed32,
    Text,
    /// A text for people: without control characters.
    Prose,
    /// Of any length; not looked into.
    Bytes,
    /// Bytes of one length, or none.
    Id(u8),
    Message(Message),
}

/// A field. Equal are those that mean the same, whatever their name.
#[derive(Clone, Copy, Debug, Eq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    /// What the same field is called in every format.
    pub(super) key: &'static str,
    pub(super) holds: Holds,
    pub(super) many: bool,
    /// Whether numbers are references decides whether they can lead nowhere.
    pub(super) role: Role,
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        let means = |field: &Self| (field.key, field.holds, field.many, field.role);
        means(self) == means(other)
    }
}

/// A field that is there once.
pub(super) const fn one(number: u32, name: &'static str, holds: Holds) -> Field {
    Field { number, name, key: name, holds, many: false, role: Role::Plain }
}

/// A repeated field.
pub(super) const fn many(number: u32, name: &'static str, holds: Holds) -> Field {
    Field { many: true, ..one(number, name, holds) }
}

impl Field {
    /// A field of the schema in a version.
    fn of(known: &schema::Field, version: Version) -> Self {
        let many = known.is_repeated();
        let role = match known.role {
            // Neither leads to a row of that number.
            Role::RefById | Role::Ref(Table::SampleType) => Role::Plain,
            // Where row 0 is a row like any other, encoders wrote pprof's ids here as well.
            Role::Ref(Table::Mapping | Table::Function)
                if Rows::of(version) == Rows::FromZero && !many =>
            {
                Role::Plain
            }
            role => role,
        };
        let holds = match known.kind {
            Kind::Message(inner) => Message::of(inner).map_or(Holds::Bytes, Holds::Message),
            Kind::String => Holds::Text,
            Kind::Bytes => match role {
                Role::Id(length) => Holds::Id(length),
                _ => Holds::Bytes,
            },
            Kind::Bool => Holds::Flag,
            Kind::Fixed64 | Kind::Double => Holds::Fixed64,
            Kind::Enum(_) | Kind::Int32 | Kind::Uint32 if !many && role == Role::Plain => {
                Holds::Small
            }
            _ => Holds::Number,
        };
        Self { number: known.number, name: known.name, key: known.key, holds, many, role }
    }

    /// The kind of the bytes of one such value.
    pub(super) fn unpacked(&self) -> u32 {
        match self.holds {
            Holds::Number | Holds::Flag | Holds::Small => VARINT,
            Holds::Fixed64 => FIXED64,
            Holds::Fixed32 => FIXED32,
            _ => LEN,
        }
    }

    /// Whether it is a list of numbers, which encoders pack as a rule.
    pub(super) fn is_list(&self) -> bool {
        self.many && self.unpacked() != LEN
    }

    /// The kind its bytes have where an encoder packs what can be packed.
    pub(super) fn kind(&self) -> u32 {
        if self.is_list() { LEN } else { self.unpacked() }
    }

    /// The message that it is.
    pub(super) fn message(&self) -> Option<Message> {
        match self.holds {
            Holds::Message(inner) => Some(inner),
            _ => None,
        }
    }

    pub(super) fn is_dictionary(&self) -> bool {
        self.holds == Holds::Message(Message::Dictionary)
    }

    /// The list that an occurrence of the field makes longer by one.
    pub(super) fn table(&self) -> Option<Table> {
        match self.role {
            Role::Row(table) => Some(table),
            Role::Sliced(_) => Some(Table::Slice),
            _ => None,
        }
    }
}

/// The fields of all messages of one format, by number.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// What the payload is.
    pub(super) root: Message,
    /// What a reference of 0 means.
    pub(super) rows: Rows,
    /// Whether its encoders pack numbers, and its texts are UTF-8.
    pub(super) strict: bool,
    fields: Vec<Field>,
    /// By message and number: 0, or which of the fields it is, from 1.
    numbers: [[u8; LAST_NUMBER as usize + 1]; Message::COUNT],
    /// The highest number a field of each message has.
    last: [u32; Message::COUNT],
    /// By message: a bit for each field past its last that only later generations have. Nothing of this one holds it.
    pub(super) later: [u32; Message::COUNT],
    /// Fields that such a message has, if it has these: a bit for each.
    pub(super) needs: Vec<(Message, u32, u32)>,
}

/// Fields up to this number can be told to have been seen; no format has one past 24.
pub(super) const LAST_NUMBER: u32 = 31;

impl Grammar {
    pub(super) fn new(name: &'static str, root: Message, version: Version) -> Self {
        Self {
            name,
            root,
            rows: Rows::of(version),
            strict: version != Version::Pprof,
            // As many as the messages of a format have together.
            fields: Vec::with_capacity(96),
            numbers: [[0; LAST_NUMBER as usize + 1]; Message::COUNT],
            last: [0; Message::COUNT],
            later: [0; Message::COUNT],
            needs: Vec::new(),
        }
    }

    /// Adds a field to a message.
    pub(super) fn add(&mut self, message: Message, field: Field) {
        debug_assert!((1..=LAST_NUMBER).contains(&field.number) && self.fields.len() < 255);
        self.fields.push(field);
        self.numbers[message as usize][field.number as usize] = self.fields.len() as u8;
        self.last[message as usize] = self.last[message as usize].max(field.number);
    }

    /// Takes a field out of a message.
    pub(super) fn remove(&mut self, message: Message, number: u32) {
        self.numbers[message as usize][number as usize] = 0;
    }

    /// Adds the fields that a version has of a message and of all in it, but for those that are there.
    pub(super) fn derive(&mut self, root: Message, version: Version) {
        let mut reached = bit(root as u32);
        // Messages hold only messages further down the list.
        for message in Message::ALL {
            for known in message.rows().filter(|known| known.is_in(version)) {
                let is_reached = reached & bit(message as u32) != 0;
                if is_reached && self.field(message, known.number).is_none() {
                    let field = Field::of(known, version);
                    reached |= field.message().map_or(0, |inner| bit(inner as u32));
                    self.add(message, field);
                }
            }
        }
    }

    /// None where the format has no field of this number.
    #[inline]
    pub(super) fn field(&self, message: Message, number: u32) -> Option<&Field> {
        let at = *self.numbers[message as usize].get(number as usize)?;
        self.fields.get(usize::from(at).wrapping_sub(1))
    }

    /// The highest number a field of the message has.
    pub(super) fn last(&self, message: Message) -> u32 {
        self.last[message as usize]
    }

    /// A field that such a message has, and that is not among those `seen`.
    pub(super) fn missing(&self, message: Message, seen: u32) -> Option<u32> {
        let is_missing = |&&(of, with, number): &&(Message, u32, u32)| {
            of == message && seen & with == with && seen & bit(number) == 0
        };
        self.needs.iter().find(is_missing).map(|need| need.2)
    }

    /// The fields of a message, by number.
    pub(super) fn fields(&self, message: Message) -> impl Iterator<Item = &Field> {
        (1..=self.last(message)).filter_map(move |number| self.field(message, number))
    }

    /// The tables that a message brings, and other lists that are counted before it is walked: their numbers and what
    /// they are.
    pub(super) fn tables(&self, message: Message) -> impl Iterator<Item = (u32, Table)> {
        self.fields(message).filter_map(|field| Some((field.number, field.table()?)))
    }

    /// The number of the field of the payload that is a dictionary of tables.
    pub(super) fn dictionary(&self) -> Option<u32> {
        self.fields(Message::Data).find(|field| field.is_dictionary()).map(|field| field.number)
    }

    /// Whether a profile has one sample type, and values and times are a series: since row 0 is none, as both came in
    /// the same release.
    pub(super) fn is_series(&self) -> bool {
        self.rows == Rows::NullFirst
    }

    /// The message that the numbers of fields lead to.
    pub(super) fn follow(&self, mut numbers: impl Iterator<Item = u32>) -> Option<Message> {
        numbers.try_fold(self.root, |message, number| self.inner(message, number))
    }

    /// The message a field holds.
    pub(super) fn inner(&self, message: Message, number: u32) -> Option<Message> {
        self.field(message, number)?.message()
    }
}

/// The bit of a field number in a set of them; numbers past the last have none.
#[inline]
pub(super) fn bit(number: u32) -> u32 {
    1u32.checked_shl(number).unwrap_or(0)
}
