//! The usual: messages that make up nearly all of a payload, proved fine as a whole.
//!
//! Each function here reads a message once, its fields in the order that nearly all writers write them in, by number, and
//! either shows that no rule has anything to say of it, what it refers to included, and notes what other rules need to know
//! of it; or changes nothing and says so. Then it is walked as any other message is. So nothing is decided twice: what is
//! odd is told by the rules alone.
//!
//! ```text
//! run of rows   12 09 │ 10 81 02 1a 04 … │ 12 07 │ …      one loop for each kind of message
//! row           asked for field 1, 2, 3 … by the byte that each begins with in this version
//! ```
//!
//! What is not written so is no reason for a branch: a number that is 0 or not in its shortest form, a list that is empty
//! or goes on past its message, makes the message end where it does not ([`Short`](crate::wire::short::Short)), so one
//! comparison when all fields were asked for tells all of that, unknown and repeated fields and another order as well.
//!
//! | message | what is shown of it | walked all the same |
//! |---|---|---|
//! | sample | references and slices lead somewhere, shape and counts fit, times within the profile, no other of the same | the first of a profile, with a negative value, with timestamps before 1.8 |
//! | location | mapping, lines and attributes are there, its address within its mapping, no line twice | row 0 of OTLP |
//! | function | its names are there, and one of them is set; of pprof its id is that of its row | row 0 of OTLP |
//! | stack | every location is there, none is null | row 0, an empty one, longer than 16 kB |
//! | attribute | key and unit are there, one text or integer as value, one type and unit for its key | a key that the conventions know, before 1.8 |
//!
//! Messages of more than 256 bytes are walked, but for stacks and pprof's samples. A row of which nothing but its id says
//! what it is called, and whose sets are in order, is noted as [plain](super::canonical_form): then its bytes are its form.
//!
//! Three rules for who changes this room. A proof notes nothing before it can no longer fail. What
//! it notes is what the walk would have noted, to the last count. And a finding that is told here
//! is one that the walk tells in the same words; the tests compare both ways over bent payloads.

mod attributes;
mod columned;
mod frames;
mod message;
mod run;
mod samples;
mod stacks;

use super::context::CheckContext;
use crate::schema::{Noun, Version};

pub(crate) use frames::start_lines;
pub(crate) use message::Message;
pub(crate) use run::Run;

/// Passes over the messages of a run of which there is nothing to say, which is all to be done with them: whether those
/// are all that are left. Otherwise it stands at the next one that has to be walked.
pub(crate) fn pass(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> bool {
    let of_pprof = cx.version == Version::Pprof;
    // A row holds messages that hold messages, and the walk counts how deep.
    let deep = cx.depth + 2 > cx.limits.max_nesting;
    match run.message.shape.noun {
        _ if !cx.canonical || deep => false,
        Noun::Sample if of_pprof => run.pass(cx, columned::of_pprof),
        Noun::Sample if cx.version < Version::V1_8 => run.pass(cx, columned::sliced),
        Noun::Sample => run.pass(cx, samples::sample),
        Noun::Location if of_pprof => run.pass(cx, frames::location::<true>),
        Noun::Location => run.pass(cx, frames::location::<false>),
        Noun::Function if of_pprof => run.pass(cx, frames::function::<true>),
        Noun::Function => run.pass(cx, frames::function::<false>),
        Noun::Stack => stacks::stacks(cx, run),
        Noun::KeyValueAndUnit => run.pass(cx, attributes::entry),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
