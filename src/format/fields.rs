//! The fields of a message, as readers go through them.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::schema::{MessageType, Version};
use crate::wire::read::Reader;
use crate::wire::tag;

/// Whether a tag is that of a field by its number and wire type, both constants.
macro_rules! is {
    ($tag:ident, $number:expr, $wire:expr) => {
        $tag == const { $crate::format::fields::tag_of($number, $wire) }
    };
}
pub(crate) use is;

/// Reads the fields of a message: an arm for each that is taken, by its [key](crate::schema::Field::key),
/// from which the compiler finds number and wire type. What is none of them is unknown, or an error if the
/// schema knows it by another wire type.
///
/// A list of numbers is packed or not: its arm takes both, and names the tag by which it tells.
///
/// ```text
/// fields!(reader, CLOCK in version, intake; {
///     "frequency" => clock.frequency = reader.varint()?,
///     "attribute_indices" as tag => indices(tag, &mut reader, attributes, intake)?,
/// });
/// ```
///
/// With `tag of` before the reader it reads the one field of that tag, for loops that ask for other fields first.
macro_rules! fields {
    (@is $tag:ident $message:ident $version:expr, $key:literal) => {
        $tag == const { $crate::schema::$message.tag($version, $key) }
    };
    (@is $tag:ident $message:ident $version:expr, $key:literal $list:ident) => {
        $crate::format::fields::fields!(@is $tag $message $version, $key)
            || $tag == const { $crate::schema::$message.packed_tag($version, $key) }
    };
    ($reader:ident, $message:ident in $version:expr, $intake:expr; $arms:tt) => {
        while let Some(tag) = $reader.tag()? {
            $crate::format::fields::fields!(tag of $reader, $message in $version, $intake; $arms);
        }
    };
    ($tag:ident of $reader:ident, $message:ident in $version:expr, $intake:expr; {
        $($key:literal $(as $list:ident)? => $then:expr,)*
    }) => {
        $(if $crate::format::fields::fields!(@is $tag $message $version, $key $($list)?) {
            $(let $list = $tag;)?
            $then;
        } else)* {
            let message = &$crate::schema::$message;
            $crate::format::fields::unknown(&mut $reader, $tag, message, $version, $intake)?;
        }
    };
}
pub(crate) use fields;

/// The tag of a field; one that never occurs for a field that this version lacks. Kernels look at bytes that
/// nothing has checked yet, where a tag may be 0.
pub(crate) const fn tag_of(number: u32, wire: u32) -> u32 {
    match number {
        0 => u32::MAX,
        number => tag(number, wire),
    }
}

/// A field that is not of the schema is skipped and noted; one that is, of another wire type, is an
/// error.
#[inline(always)]
pub(crate) fn unknown(
    reader: &mut Reader,
    tag: u32,
    message: &'static MessageType,
    version: Version,
    intake: &mut Intake,
) -> Result<()> {
    // By value, so that the reader of the loop around it can stay in registers.
    *reader = past_unknown(*reader, tag, message, version, intake)?;
    Ok(())
}

/// # Errors
///
/// A known field of another wire type: protobuf would skip it, and lose what it says.
#[cold]
#[inline(never)]
fn past_unknown<'a>(
    mut reader: Reader<'a>,
    tag: u32,
    message: &'static MessageType,
    version: Version,
    intake: &mut Intake,
) -> Result<Reader<'a>> {
    const KINDS: [&str; 6] =
        ["varint", "fixed64", "length-delimited", "group", "group end", "fixed32"];
    let at = reader.rest();
    let (number, name) = (tag >> 3, message.name);
    if let Some(field) = message.numbered(number, version) {
        let kind = KINDS.get((tag & 7) as usize).copied().unwrap_or("reserved");
        let message =
            format!("field {name}.{} ({number}) cannot have the wire type {kind}", field.name);
        return Err(Error::malformed(message).at(at).within(field.name));
    }
    reader.skip(tag, intake.limits().max_nesting)?;
    let place = || format!("{name}.{number}");
    intake.note(losses::UNKNOWN_FIELD, place, || {
        format!("dropped the unknown field {number} of {name}")
    });
    Ok(reader)
}
