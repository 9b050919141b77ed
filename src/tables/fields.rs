//! Macros that read and write the fields of a message by key.

use crate::error::{Error, Result};
use crate::losses;
use crate::read_context::ReadContext;
use crate::schema::{MessageType, Version};
use crate::wire::read::Reader;

/// Looks up the number of a field by its [key](crate::schema::Field::key) at compile time; 0 if the version
/// lacks the field.
macro_rules! number {
    ($message:ident $key:literal in $version:expr) => {
        const { $crate::schema::$message.number($version, $key) }
    };
}
pub(crate) use number;

/// Tests whether a tag is that of a field, by its key. A list of numbers has two tags: one for a single
/// value, and one for `packed` values.
///
/// `false` if the version lacks the field, even if the tag is 0: kernels test bytes that are not validated
/// yet.
macro_rules! is {
    ($tag:ident, $message:ident $key:literal in $version:expr) => {
        $crate::tables::fields::is!(@ $tag, $crate::schema::$message.tag($version, $key))
    };
    ($tag:ident, $message:ident packed $key:literal in $version:expr) => {
        $crate::tables::fields::is!(@ $tag, $crate::schema::$message.packed_tag($version, $key))
    };
    (@ $tag:ident, $expected:expr) => {
        (const { $expected != 0 } && $tag == const { $expected })
    };
}
pub(crate) use is;

/// Reads the fields of a message, with an arm for each field by its [key](crate::schema::Field::key). The
/// compiler looks up the number and the wire type. A field without an arm is reported as unknown. It is an
/// error if the schema has the field with another wire type.
///
/// A list of numbers may be packed or not. Its arm accepts both tags and binds the tag to a name.
///
/// ```text
/// fields!(reader, CLOCK in version, cx; {
///     "frequency" => clock.frequency = reader.varint()?,
///     "attribute_indices" as tag => indices(tag, &mut reader, attributes, cx)?,
/// });
/// ```
///
/// With `tag of` before the reader, it reads only the field of that tag. Loops that test other fields first
/// use this.
macro_rules! fields {
    (@is $tag:ident $message:ident $version:expr, $key:literal) => {
        // A field that the version lacks has tag 0, which a reader never returns.
        $tag == const { $crate::schema::$message.tag($version, $key) }
    };
    (@is $tag:ident $message:ident $version:expr, $key:literal $list:ident) => {
        $crate::tables::fields::fields!(@is $tag $message $version, $key)
            || $tag == const { $crate::schema::$message.packed_tag($version, $key) }
    };
    ($reader:ident, $message:ident in $version:expr, $cx:expr; $arms:tt) => {
        while let Some(tag) = $reader.tag()? {
            $crate::tables::fields::fields!(tag of $reader, $message in $version, $cx; $arms);
        }
    };
    ($tag:ident of $reader:ident, $message:ident in $version:expr, $cx:expr; {
        $($key:literal $(as $list:ident)? => $then:expr,)*
    }) => {
        $(if $crate::tables::fields::fields!(@is $tag $message $version, $key $($list)?) {
            $(let $list = $tag;)?
            $then;
        } else)* {
            let message = &$crate::schema::$message;
            $crate::tables::fields::unknown(&mut $reader, $tag, message, $version, $cx)?;
        }
    };
}
pub(crate) use fields;

/// Writes the fields of a message, with an arm for each field by its key, in any order. The compiler puts
/// fields in ascending order of the version's numbers and drops those that the version lacks. Each arm gets
/// the field's number as a constant.
///
/// ```text
/// emit!(SAMPLE in G; {
///     "stack_index" => |number| fields.index(number, stack),       1.8: 1, 1.10: 1
///     "values" => |number| fields.varints(number, values),         1.8: 2, 1.10: 4
///     "link_index" => |number| fields.index(number, link),         1.8: 4, 1.10: 3
/// });
/// ```
///
/// The macro repeats all arms for each position in the output; the compiler keeps one of them. With `rare` before the
/// message, a loop takes the arms in order, and the number is not a constant: the compiler takes seconds for the square of
/// many fields.
macro_rules! emit {
    (rare $message:ident in $generation:ident; { $($arms:tt)* }) => {
        $crate::tables::fields::emit!(@count each $message $generation, (0) [] $($arms)*)
    };
    ($message:ident in $generation:ident; { $($arms:tt)* }) => {
        $crate::tables::fields::emit!(@count turns $message $generation, (0) [] $($arms)*)
    };
    // Numbers the arms.
    (@count $how:ident $message:ident $generation:ident, $place:tt [$($arms:tt)*]
        $key:literal => |$number:tt| $then:expr, $($rest:tt)*
    ) => {
        $crate::tables::fields::emit!(@count $how $message $generation, ($place + 1)
            [$($arms)* { $place $key |$number| ($then) }] $($rest)*)
    };
    (@count $how:ident $message:ident $generation:ident, $count:tt [$({ $place:tt $key:literal $($arm:tt)* })*]) => {{
        /// The order of the arms, computed once for each generation instead of once for each arm and
        /// position.
        struct Order<G>(std::marker::PhantomData<G>);
        impl<G: $crate::schema::Generation> Order<G> {
            const TURNS: [(usize, u32); $count] =
                $crate::tables::fields::turns(&$crate::schema::$message, G::VERSION, [$($key),*]);
        }
        $crate::tables::fields::emit!(@$how $generation, [$($place)*] [$({ $place $($arm)* })*]);
    }};
    (@each $generation:ident, $turns:tt [$({ $place:tt |$number:tt| ($then:expr) })*]) => {
        for (place, number) in Order::<$generation>::TURNS {
            $(if place == $place {
                let $number = number;
                $then;
            })*
        }
    };
    (@turns $generation:ident, [$($turn:tt)*] $arms:tt) => {
        $($crate::tables::fields::emit!(@turn $generation, $turn $arms);)*
    };
    (@turn $generation:ident, $turn:tt [$({ $place:tt |$number:tt| ($then:expr) })*]) => {
        $(if const { Order::<$generation>::TURNS[$turn].0 == $place } {
            let $number = const { Order::<$generation>::TURNS[$turn].1 };
            $then;
        })*
    };
}
pub(crate) use emit;

/// Returns the index and the number of each key, in ascending order of numbers. The index is `N` for entries
/// after the last key that the version has.
pub(crate) const fn turns<const N: usize>(
    message: &MessageType,
    version: Version,
    keys: [&str; N],
) -> [(usize, u32); N] {
    let mut turns = [(N, 0); N];
    let (mut place, mut len) = (0, 0);
    while place < N {
        let number = message.number(version, keys[place]);
        if number != 0 {
            // Insertion sort: a `const fn` cannot call `sort`.
            let mut at = len;
            while at > 0 && turns[at - 1].1 > number {
                turns[at] = turns[at - 1];
                at -= 1;
            }
            turns[at] = (place, number);
            len += 1;
        }
        place += 1;
    }
    turns
}

/// Skips and reports a field that the schema lacks. Returns an error if the schema has the field with another
/// wire type.
// Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
#[inline(always)]
pub(crate) fn unknown(
    reader: &mut Reader,
    tag: u32,
    message: &'static MessageType,
    version: Version,
    cx: &mut ReadContext,
) -> Result<()> {
    // Pass the reader by value, so that the surrounding loop can keep its own in registers.
    *reader = past_unknown(*reader, tag, message, version, cx)?;
    Ok(())
}

/// Skips an unknown field and returns the reader after it.
///
/// # Errors
///
/// A known field with another wire type. Protobuf would skip it and lose its contents.
#[cold]
#[inline(never)]
fn past_unknown<'a>(
    mut reader: Reader<'a>,
    tag: u32,
    message: &'static MessageType,
    version: Version,
    cx: &mut ReadContext,
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
    reader.skip(tag, cx.limits().max_nesting)?;
    let place = || format!("{name}.{number}");
    cx.note(losses::UNKNOWN_FIELD, place, || {
        format!("dropped the unknown field {number} of {name}")
    });
    Ok(reader)
}
