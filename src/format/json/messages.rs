//! What a message is, of which JSON says the names and protobuf the numbers.
//!
//! The numbers are those of each generation's [`Schema`]; the [`table`](super::table) adds the
//! names and the kinds. A field whose number is 0 is one that the generation lacks, so one table
//! serves all of them.

use crate::format::otlp::schema::{Home, Schema};
use crate::wire::{FIXED64, LEN, VARINT};

/// A message: its name and its fields.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) name: &'static str,
    /// Whose home of the lookup tables this is; they are fields of it then.
    pub(super) tables: Option<Home>,
    pub(super) fields: &'static [Field],
}

/// Whether a generation is one of those up to some.
type Until = fn(&Schema) -> bool;

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in the schema; JSON says it in lowerCamelCase.
    pub(super) name: &'static str,
    /// Another name, and the generations that had that one.
    pub(super) old: Option<(&'static str, Until)>,
    pub(super) number: fn(&Schema) -> u32,
    pub(super) kind: Kind,
    pub(super) many: bool,
}

/// What a field holds, as far as JSON and the wire differ by it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Message(&'static Message),
    String,
    Bytes,
    /// Bytes that OTLP, unlike protobuf, says in hex digits.
    Hex,
    Bool,
    /// An index or a count. Some are of 64 bits in older generations.
    Int32,
    Uint32,
    Int64,
    Uint64,
    Fixed64,
    Double,
    /// The names of the values 0, 1, 2 …
    Enum(&'static [&'static str]),
}

impl Kind {
    /// The wire type of one such value.
    pub(super) fn wire(self) -> u32 {
        match self {
            Self::Message(_) | Self::String | Self::Bytes | Self::Hex => LEN,
            Self::Fixed64 | Self::Double => FIXED64,
            _ => VARINT,
        }
    }
}

impl Message {
    fn rows(&self, schema: &Schema) -> impl Iterator<Item = &'static Field> {
        let home = self.tables == Some(schema.home);
        let tables: &[Field] = if home { super::table::TABLES.fields } else { &[] };
        self.fields.iter().chain(tables)
    }

    /// The field that the generation calls `key`, and its number.
    pub(super) fn named(&self, key: &str, schema: &Schema) -> Option<(&'static Field, u32)> {
        self.rows(schema)
            .filter(|field| says(field.name_in(schema), key))
            .map(|field| (field, (field.number)(schema)))
            .find(|(_, number)| *number != 0)
    }

    /// The field of a number.
    pub(super) fn numbered(&self, number: u32, schema: &Schema) -> Option<&'static Field> {
        self.rows(schema).find(|field| (field.number)(schema) == number)
    }
}

impl Field {
    /// What the generation calls the field.
    pub(super) fn name_in(&self, schema: &Schema) -> &'static str {
        match self.old {
            Some((old, had)) if had(schema) => old,
            _ => self.name,
        }
    }
}

/// The bytes of a name of the schema as JSON says it.
pub(super) fn camel(name: &str) -> impl Iterator<Item = u8> {
    let mut after = false;
    name.bytes().filter_map(move |byte| {
        let begins = std::mem::replace(&mut after, byte == b'_');
        let byte_here = if begins { byte.to_ascii_uppercase() } else { byte };
        (byte != b'_').then_some(byte_here)
    })
}

/// Whether `key` is `name`, in either of its forms.
fn says(name: &str, key: &str) -> bool {
    name.as_bytes().first() == key.as_bytes().first()
        && (name == key || camel(name).eq(key.bytes()))
}

/// Messages, a row a field: `one` or `many`, its name (and another, until when), its kind and its
/// number in the schema `s`.
macro_rules! messages {
    ($s:ident: $($message:ident = $name:literal $(, tables of $home:ident)? {
        $($how:ident $field:literal $(($old:literal $had:ident))?: $kind:expr => $number:expr;)*
    })*) => {$(
        #[allow(unused_variables)]
        pub(super) static $message: Message = Message {
            name: $name,
            tables: messages!(@option $(Home::$home)?),
            fields: &[$(Field {
                name: $field,
                old: messages!(@option $(($old, $had))?),
                number: |$s: &Schema| $number,
                kind: $kind,
                many: messages!(@$how),
            },)*],
        };
    )*};
    (@one) => { false };
    (@many) => { true };
    (@option) => { None };
    (@option $some:expr) => { Some($some) };
}
pub(super) use messages;
