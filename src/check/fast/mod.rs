//! The usual: messages that make up nearly all of a payload, proved fine as a whole.
//!
//! Each function here reads a message once, in whatever order its fields come, and either shows that no rule has
//! anything to say of it, what it refers to included, and notes what other rules need to know of it; or changes
//! nothing and says so. Then it is walked as any other message is. So nothing is decided twice: what is odd is
//! told by the rules alone.

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
