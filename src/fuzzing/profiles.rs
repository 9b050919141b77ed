//! Random profiles, for properties of code that consumes them.

use crate::builder::{
    Builder, Key, NewFunction, NewLine, NewLocation, NewMapping, NewValue, leaf_first,
};
use crate::model::Profiles;
use crate::model::id::{AttributeId, LocationId, MappingId};
use crate::model::profile::Profile;

const TYPES: [(&str, &str); 4] = [
    ("cpu", "nanoseconds"),
    ("samples", "count"),
    ("alloc_space", "bytes"),
    ("wall", "nanoseconds"),
];
const NAMES: [&str; 10] =
    ["main", "serve", "parse", "a", "b", "ab", "日本語", "a;b", "std::vec::Vec<T>::push", "x y"];
const FILES: [&str; 4] = ["", "src/main.rs", "/usr/lib/libc.so", "über.c"];
const KEYS: [&str; 5] = ["thread.name", "endpoint", "request.size", "k", "ключ"];
const FRAME_TYPES: [&str; 3] = ["native", "kernel", "cpython"];
/// The first timestamp.
const TIME: u64 = 1_700_000_000_000_000_000;

/// Bytes that decide. At their end every choice is the first one.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn many<T>(&mut self, most: usize, mut one: impl FnMut(&mut Self, usize) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|row| one(self, row)).collect()
    }

    /// Returns a value of a sample: often small, sometimes at the edge of its type.
    fn value(&mut self) -> i64 {
        match self.byte() {
            255 => i64::MAX,
            254 => i64::MIN,
            253 => -1,
            byte => i64::from(byte) * i64::from(byte),
        }
    }
}

/// Builds profiles from bytes. Each byte is a choice, so shorter or smaller bytes give simpler profiles; no bytes give
/// no profile.
///
/// The profiles use everything that [`Builder`] offers: resources, scopes, mappings, inlined lines, attributes of all
/// kinds, links, timestamps, several sample types. Writing them as OTLP gives a payload without errors.
///
/// ```
/// use otlp_profiles::fuzzing::profiles;
///
/// let many = profiles(&[2; 500]);
/// assert!(many.iter().map(|profile| profile.samples().len()).sum::<usize>() > 0);
/// assert_eq!(profiles(b"").iter().count(), 0);
/// ```
pub fn profiles(bytes: &[u8]) -> Profiles {
    let choices = &mut Choices(bytes.iter());
    let mut builder = Builder::new();
    let attributes = choices.many(6, |choices, _| attribute(&mut builder, choices));
    let mappings = choices.many(3, |choices, row| {
        let start = 0x1000 * (1 + row as u64);
        let mapping = NewMapping::new(FILES[1 + row]).memory(start, start + 0xfff);
        let own = few(&attributes, choices);
        builder.mapping(mapping.file_offset(0x100 * row as u64).attributes(&own))
    });
    let locations = choices
        .many(9, |choices, row| location(&mut builder, choices, row, &mappings, &attributes));
    for _ in 0..choices.below(3) {
        resource(&mut builder, choices);
        for _ in 0..choices.below(3) {
            builder.scope(choices.pick::<&str>(&NAMES)).version("1.0");
            for _ in 0..choices.below(3) {
                let profile = profile(&mut builder, choices, &attributes);
                for _ in 0..choices.below(12) {
                    sample(&mut builder, choices, profile, &locations, &attributes);
                }
            }
        }
    }
    builder.finish().unwrap_or_default()
}

/// Up to three rows of a table.
fn few<T: Copy>(rows: &[T], choices: &mut Choices<'_>) -> Vec<T> {
    let most = if rows.is_empty() { 0 } else { 3 };
    choices.many(most, |choices, _| *choices.pick(rows))
}

fn value(choices: &mut Choices<'_>, depth: usize) -> NewValue<'static> {
    match choices.below(if depth == 0 { 5 } else { 7 }) {
        0 => (*choices.pick(&NAMES)).into(),
        1 => choices.value().into(),
        2 => (choices.byte() > 9).into(),
        3 => NewValue::Double(f64::from(choices.byte()) / 8.0),
        4 => NewValue::Bytes(choices.many(3, |choices, _| choices.byte()).into()),
        5 => NewValue::Array(choices.many(3, |choices, _| value(choices, depth - 1))),
        _ => NewValue::key_values(
            choices.many(3, |choices, row| (KEYS[row], value(choices, depth - 1))),
        ),
    }
}

fn attribute(builder: &mut Builder, choices: &mut Choices<'_>) -> Key<AttributeId> {
    let key = *choices.pick(&KEYS);
    let value = value(choices, 2);
    match key {
        "request.size" => builder.attribute(key, (value, "By")),
        _ => builder.attribute(key, value),
    }
}

fn location(
    builder: &mut Builder,
    choices: &mut Choices<'_>,
    row: usize,
    mappings: &[Key<MappingId>],
    attributes: &[Key<AttributeId>],
) -> Key<LocationId> {
    let lines = choices.many(3, |choices, _| {
        let (name, file) = (*choices.pick(&NAMES), *choices.pick(&FILES));
        let function = builder.function(NewFunction::new(name).filename(file).start_line(1));
        NewLine::new(function).line(1 + u32::from(choices.byte())).column(choices.below(3) as u32)
    });
    let own = few(attributes, choices);
    let mut location = NewLocation::new().lines(&lines).attributes(&own);
    if let Some(at) = choices.below(mappings.len() + 1).checked_sub(1) {
        location = location.address(mappings[at], 0x1000 * (1 + at as u64) + row as u64);
    }
    if choices.below(3) > 0 {
        location = location.frame_type(choices.pick::<&str>(&FRAME_TYPES));
    }
    match lines.is_empty() && mappings.is_empty() {
        // A location without an address and lines would be empty.
        true => builder.frame(NAMES[row]),
        false => builder.location(location),
    }
}

fn resource(builder: &mut Builder, choices: &mut Choices<'_>) {
    let value = value(choices, 2);
    let name = *choices.pick(&NAMES);
    builder.resource().attr("service.name", name).attr("host.extra", value);
}

fn profile(
    builder: &mut Builder,
    choices: &mut Choices<'_>,
    attributes: &[Key<AttributeId>],
) -> Key<Profile> {
    let types = 1 + choices.below(2);
    let first = choices.below(TYPES.len() - types + 1);
    let profile = builder.profile_of(&TYPES[first..first + types]);
    let own = few(attributes, choices);
    let duration = 1_000_000 * (1 + u64::from(choices.byte()));
    let of = builder.profile_mut(profile).time(TIME).duration(duration);
    let of = if choices.below(2) == 0 { of.period("cpu", "nanoseconds", 10_000) } else { of };
    own.iter().fold(of, |of, attribute| of.attribute(*attribute));
    profile
}

fn sample(
    builder: &mut Builder,
    choices: &mut Choices<'_>,
    profile: Key<Profile>,
    locations: &[Key<LocationId>],
    attributes: &[Key<AttributeId>],
) {
    let stack = few(locations, choices);
    let link = choices.below(4) as u8;
    let link = (link > 0).then(|| builder.link([link; 16], [link; 8]));
    let own = few(attributes, choices);
    let mut sample = builder.sample(profile, leaf_first(stack)).value(choices.value());
    for attribute in own {
        sample = sample.attribute(attribute);
    }
    if let Some(link) = link {
        sample = sample.link(link);
    }
    if choices.below(2) == 1 {
        sample.timestamp(TIME + u64::from(choices.byte()));
    }
}

/// Profiles from bytes of the fuzzer: see [`profiles`].
#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Profiles {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(profiles(<&[u8]>::arbitrary(u)?))
    }

    fn arbitrary_take_rest(u: arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(profiles(u.take_rest()))
    }
}

/// Profiles for properties: see [`profiles`]. They shrink to fewer and simpler ones.
#[cfg(feature = "proptest")]
impl proptest::arbitrary::Arbitrary for Profiles {
    type Parameters = ();
    type Strategy = proptest::strategy::Map<
        proptest::collection::VecStrategy<proptest::num::u8::Any>,
        fn(Vec<u8>) -> Self,
    >;

    fn arbitrary_with((): ()) -> Self::Strategy {
        use proptest::strategy::Strategy;
        proptest::collection::vec(proptest::num::u8::ANY, 0..1000)
            .prop_map(|bytes| profiles(&bytes))
    }
}
