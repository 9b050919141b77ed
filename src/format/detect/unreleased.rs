//! Recognises unreleased forms of the proto, from its main branch between two releases.
//!
//! Detection checks only payloads that fit no release.

use crate::error::{Error, ErrorKind, Result};
use crate::wire::read::Reader;
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// Fields of a `Profile` that no release combines, by number and wire type, and the releases before and
/// after.
type Form = (&'static [(u32, u32)], &'static str, &'static str);

const FORMS: [Form; 3] = [
    // Functions, strings and the time, without the container around the profile.
    (&[(5, LEN), (6, LEN), (9, VARINT)], "1.3", "1.4"),
    // Lists of locations, the time, and the profile id under the former number of the default sample type.
    (&[(3, LEN), (4, VARINT), (9, LEN)], "1.7", "1.8"),
    // Lists of locations and a time of 8 bytes.
    (&[(3, LEN), (4, FIXED64)], "1.7", "1.8"),
];

/// Returns an error if the first profile has one of the forms.
pub(super) fn check(payload: &[u8]) -> Result<()> {
    let step = |message, number| fields(message).find(|(seen, _)| *seen == tag(number, LEN))?.1;
    // Follows a resource and a scope to the profile.
    let profile = [1, 2, 2].into_iter().try_fold(Reader::new(payload), step);
    let has = |profile, (number, kind)| fields(profile).any(|(seen, _)| seen == tag(number, kind));
    let is_form = |(tags, ..): &&Form| {
        profile.is_some_and(|profile| tags.iter().all(|wanted| has(profile, *wanted)))
    };
    FORMS.iter().find(is_form).map_or(Ok(()), |(_, before, after)| {
        let message = format!(
            "this is the form of the proto between {before} and {after}, which no release has: update the profiler to OTLP {after} or later"
        );
        Err(Error::new(ErrorKind::Unrecognised, message).signal())
    })
}

/// Iterates over the fields of a message up to the first broken one: the tag, and the contents if
/// length-delimited.
fn fields(mut message: Reader<'_>) -> impl Iterator<Item = (u32, Option<Reader<'_>>)> {
    std::iter::from_fn(move || {
        let tag = message.try_tag()??;
        let inner = (tag & 7 == LEN).then(|| message.try_message());
        match inner {
            Some(inner) => Some((tag, Some(inner?))),
            None => message.skip(tag, 16).ok().map(|()| (tag, None)),
        }
    })
}
