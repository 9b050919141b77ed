//! The fields of a message, as readers go through them.

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::schema::{MessageType, Version};
use crate::wire::read::Reader;

/// The number of a field by its [key](crate::schema::Field::key), a constant; 0 if the version has no such field.
macro_rules! number {
    ($message:ident $key:literal in $version:expr) => {
        const { $crate::schema::$message.number($version, $key) }
    };
}
pub(crate) use number;

/// Whether a tag is that of a field by its key. A list of numbers has two: that of one value, and that of `packed`
/// ones.
///
/// `false` if the version has no such field, also for 0: kernels look at bytes that nothing has checked yet.
macro_rules! is {
    ($tag:ident, $message:ident $key:literal in $version:expr) => {
        $crate::format::fields::is!(@ $tag, $crate::schema::$message.tag($version, $key))
    };
    ($tag:ident, $message:ident packed $key:literal in $version:expr) => {
        $crate::format::fields::is!(@ $tag, $crate::schema::$message.packed_tag($version, $key))
    };
    (@ $tag:ident, $expected:expr) => {
        (const { $expected != 0 } && $tag == const { $expected })
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

/// Writes the fields of a message: an arm for each, by its key, in any order. The compiler puts them in ascending
/// order of the version's numbers, and drops those that the version lacks; each has its number as a constant.
///
/// ```text
/// emit!(SAMPLE in G; {
///     "stack_index" => |number| fields.index(number, stack),       1.8: 1, 1.10: 1
///     "values" => |number| fields.varints(number, values),         1.8: 2, 1.10: 4
///     "link_index" => |number| fields.index(number, link),         1.8: 4, 1.10: 3
/// });
/// ```
///
/// The arms are repeated for each turn, and all but one are dropped before code is generated.
macro_rules! emit {
    ($message:ident in $generation:ident; { $($arms:tt)* }) => {
        $crate::format::fields::emit!(@count $message $generation, (0) [] $($arms)*)
    };
    // Gives each arm its place.
    (@count $message:ident $generation:ident, $place:tt [$($arms:tt)*]
        $key:literal => |$number:tt| $then:expr, $($rest:tt)*
    ) => {
        $crate::format::fields::emit!(@count $message $generation, ($place + 1)
            [$($arms)* { $place $key |$number| ($then) }] $($rest)*)
    };
    (@count $message:ident $generation:ident, $count:tt [$({ $place:tt $key:literal $($arm:tt)* })*]) => {{
        /// Evaluated once for each generation, not once for each arm and turn.
        struct Order<G>(std::marker::PhantomData<G>);
        impl<G: $crate::schema::Generation> Order<G> {
            const TURNS: [(usize, u32); $count] =
                $crate::format::fields::turns(&$crate::schema::$message, G::VERSION, [$($key),*]);
        }
        $crate::format::fields::emit!(@turns $generation, [$($place)*] [$({ $place $($arm)* })*]);
    }};
    (@turns $generation:ident, [$($turn:tt)*] $arms:tt) => {
        $($crate::format::fields::emit!(@turn $generation, $turn $arms);)*
    };
    (@turn $generation:ident, $turn:tt [$({ $place:tt |$number:tt| ($then:expr) })*]) => {
        $(if const { Order::<$generation>::TURNS[$turn].0 == $place } {
            let $number = const { Order::<$generation>::TURNS[$turn].1 };
            $then;
        })*
    };
}
pub(crate) use emit;

/// The places of keys in ascending order of their numbers, with the number; `N` for each key that the version lacks.
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
