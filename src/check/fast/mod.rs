//! The usual: messages that make up nearly all of a payload, proved fine as a whole.
//!
//! Each function here reads a message once, in whatever order its fields come, and either shows that no rule has
//! anything to say of it, what it refers to included, and notes what other rules need to know of it; or changes
//! nothing and says so. Then it is walked as any other message is. So nothing is decided twice: what is odd is
//! told by the rules alone.
//!
//! | message | what is shown of it | walked all the same |
//! |---|---|---|
//! | sample | references and slices lead somewhere, shape and counts fit, times within the profile, sums within 64 bits, no other of the same | the first of a profile, with a negative value, with timestamps before 1.8 |
//! | location | mapping, lines and attributes are there, its address within its mapping, no line twice | row 0 of OTLP, more than eight lines, longer than 64 bytes |
//! | function | its names are there, and one of them is set; of pprof its id is that of its row | row 0 of OTLP |
//! | stack | every location is there, none is null | row 0, an empty one, longer than 16 kB |
//! | attribute | key and unit are there, one text or integer as value, one type and unit for its key | a key that the conventions know, before 1.8 |
//!
//! Messages of more than 64 bytes are walked, but for stacks and pprof's samples. Numbers have to be in their shortest form and of seven bytes at most, fields said once and not 0: everything else is
//! odd, not wrong. A row whose fields also come by number is noted as [plain](super::plain): then its bytes are its form.

mod attributes;
mod columned;
mod frames;
mod message;
mod samples;

use super::cx::Cx;
use super::shape::Kind;
use crate::schema::Version;

pub(crate) use frames::start_lines;
pub(crate) use message::Message;

/// Whether there is nothing to say of a message; if so, that was all to be done with it.
#[inline(always)]
pub(crate) fn is_fine(cx: &mut Cx<'_>, message: Message) -> bool {
    let found = match message.shape.kind {
        _ if !cx.fast => return false,
        Kind::Sample if cx.version == Version::Pprof => columned::of_pprof(cx, message),
        Kind::Sample if cx.version < Version::V1_8 => columned::sliced(cx, message),
        Kind::Sample => samples::sample(cx, message),
        Kind::Location => frames::location(cx, message),
        Kind::Function => frames::function(cx, message),
        Kind::Stack => frames::stack(cx, message),
        Kind::KeyValueAndUnit => attributes::entry(cx, message),
        _ => return false,
    };
    found.is_some()
}

#[cfg(test)]
mod tests;
