//! Which of the candidates a payload is.
//!
//! In this order: what contradicts the bytes is out; of the rest those count that have the fewest misfits of the
//! heaviest kind; a caller's hint decides among those that fit, then an endpoint among those that fit equally well; then
//! rules of likelihood. What still reads differently is said, not hidden.
//!
//! ```text
//! Trials ─► best, by rank ─► endpoint ─► hint fits? ─► winner ─► certainty ─► Detected
//!                   none: was it broken? ─► TOLERANT walk, or None: the caller's word, text or an error
//! ```
//!
//! What is likely beyond counting decides between 1.8 or 1.9 and 1.10: `Sample` field 2 is values in those
//! and attributes in this. If every sample has as many of these numbers as timestamps, either may be right;
//! `is_either` names the case and `is_preferred` decides it.

use super::bounds::Bounds;
use super::candidates::{Answer, Candidate};
use super::grammar::{Grammar, bit};
use super::score::HARD;
use super::trials::{Trial, Trials, is_equivalent};
use super::walk::{is_prose, walk};
use super::{Certainty, Depth, Detected, Endpoint, unreleased, words};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::schema::{Noun, Role, SAMPLE, Table};
use crate::wire::read::Reader;

/// Which candidate `payload` is, if any is likely.
///
/// `Ok(None)`: nothing is likely, and the hint may be taken at its word.
///
/// # Errors
///
/// What is named but not read, and a hint that the bytes contradict.
pub(super) fn decide(
    candidates: &[Candidate],
    payload: &[u8],
    hint: Option<Format>,
    endpoint: Option<Endpoint>,
    depth: Depth,
) -> Result<Option<Detected>> {
    let Trials { all: trials, whole } = Trials::of(candidates, payload, depth);
    let mut ties = best(&trials);
    let misses = endpoint.filter(|endpoint| !keep_sent_to(*endpoint, &mut ties));
    let hinted = hint.and_then(|hint| trials.iter().find(|trial| trial.format() == Some(hint)));
    let asked = hinted.filter(|trial| trial.is_likely());
    let Some(winner) = asked.or(ties.first().copied()) else {
        return match hint {
            Some(_) => Ok(None),
            None => unreleased::check(payload).map(|()| broken(candidates, payload)),
        };
    };
    let format = match (winner.candidate.answer, hint) {
        (Answer::Format(format), _) if asked.is_some() || hint.is_none() => format,
        // What was asked for and is not impossible goes before what it looks like.
        _ if hinted.is_some_and(Trial::is_possible) => return Ok(None),
        (Answer::Format(_), hint) => return Err(contradicted(hint, hinted, winner)),
        (Answer::Other(what, advice), _) => return Err(unrecognised(what, advice)),
        (Answer::Signal(what, advice), _) => return Err(unrecognised(what, advice).signal()),
    };
    let certainty = certainty(winner, &ties, whole, asked.is_some());
    let mut evidence = words::evidence(winner, &trials);
    if let Certainty::Preferred(others) = &certainty {
        if asked.is_some() {
            evidence.push(format!("{} was requested", winner.name()));
            let best = ties.first().filter(|_| !ties.iter().any(|trial| trial.is_named(winner)));
            evidence.extend(
                best.map(|best| format!("{} fits better: {}", best.name(), words::fault(winner))),
            );
        } else {
            if ties.iter().any(|trial| is_either(winner, trial)) {
                evidence.push(words::preference(winner, others));
            }
            evidence.extend((!whole).then(|| words::partly(others)));
        }
    }
    evidence.extend(misses.filter(|_| asked.is_none()).map(words::sent_elsewhere));
    Ok(Some(Detected { format, certainty, evidence }))
}

/// The error of what is recognised but not read.
pub(super) fn unrecognised(what: &str, advice: &str) -> Error {
    Error::new(ErrorKind::Unrecognised, format!("this is {what}, which is not supported: {advice}"))
}

/// The trials that fit best and equally well, in the order of the candidates.
///
/// Empty where nothing is likely. A signal that is not profiles wins over formats that fit as well,
/// as it is one only if a record of it was seen without a fault.
fn best<'a, 'c>(trials: &'a [Trial<'c>]) -> Vec<&'a Trial<'c>> {
    let likely = || trials.iter().filter(|trial| trial.is_likely());
    let Some(least) = likely().map(|trial| trial.outcome.score).min() else {
        return Vec::new();
    };
    let mut ties: Vec<&Trial> = likely().filter(|trial| trial.outcome.score == least).collect();
    if let Some(&signal) = ties.iter().find(|trial| trial.is_other_signal()) {
        return vec![signal];
    }
    if ties.iter().any(|trial| trial.format().is_some()) {
        ties.retain(|trial| trial.format().is_some());
    }
    if ties.iter().all(|trial| trial.candidate.grammar.is_series() && !trial.outcome.cut) {
        by_orphans(&mut ties);
    }
    if let Some(preferred) =
        ties.iter().position(|trial| ties.iter().all(|other| is_preferred(trial, other)))
    {
        let preferred = ties.remove(preferred);
        ties.insert(0, preferred);
    }
    ties
}

/// Puts those first that are sent to `endpoint`, if there are any, and drops the others but for those
/// that read the payload alike.
///
/// `false`, and nothing is dropped, where none of those that fit is sent there.
fn keep_sent_to(endpoint: Endpoint, ties: &mut Vec<&Trial>) -> bool {
    let is_taken = |trial: &&Trial| {
        let schema = trial.format().and_then(Format::schema);
        schema.is_some_and(|schema| endpoint.takes(schema))
    };
    let Some(first) = ties.iter().copied().find(is_taken) else {
        return false;
    };
    ties.retain(|trial| is_taken(trial) || is_equivalent(first, trial));
    ties.sort_by_key(|trial| !is_taken(trial));
    true
}

/// Puts those first that leave the fewest attributes unused, and drops those that leave more:
/// a misread value uses no attribute. Where one list may be either, orphans are only a hint.
fn by_orphans(ties: &mut Vec<&Trial>) {
    ties.sort_by_key(|trial| trial.outcome.orphans);
    if let Some(&first) = ties.first() {
        let fewest = first.outcome.orphans;
        ties.retain(|trial| trial.outcome.orphans == fewest || is_either(first, trial));
    }
}

/// Whether a reading is more likely than another that fits as well: the one that leaves fewer
/// attributes unused; else, where one list may be either, the one that takes it for attributes.
/// Profilers on CPU write timestamps and attributes; values of each time without any attribute
/// nobody is known to write.
fn is_preferred(trial: &Trial, other: &Trial) -> bool {
    let (ours, theirs) = (trial.outcome.orphans, other.outcome.orphans);
    let likelier = if ours == theirs { lists(trial) == Some(ATTRIBUTES) } else { ours < theirs };
    is_equivalent(trial, other) || is_either(trial, other) && likelier
}

/// Whether every sample has timestamps and as many numbers in one list, which one reading takes
/// for attributes and the other for values.
fn is_either(one: &Trial, other: &Trial) -> bool {
    let timed =
        |trial: &Trial| trial.outcome.samples > 0 && trial.outcome.timed == trial.outcome.samples;
    timed(one)
        && timed(other)
        && lists(one).is_some()
        && lists(other).is_some()
        && lists(one) != lists(other)
}

const ATTRIBUTES: Role = Role::Ref(Table::Attribute);

/// What all numbers of all samples are by a reading, if they are one thing.
fn lists(trial: &Trial) -> Option<Role> {
    let used = |role: Role| {
        let mut fields = trial.candidate.grammar.fields(&SAMPLE);
        fields.any(|field| {
            field.role == role && trial.outcome.used(Noun::Sample) & bit(field.number) != 0
        })
    };
    match (used(ATTRIBUTES), used(Role::Values)) {
        (true, false) => Some(ATTRIBUTES),
        (false, true) => Some(Role::Values),
        _ => None,
    }
}

/// How sure a reading is beside the others that fit best. What is alike is equivalent only if it was looked at as a
/// `whole`.
///
/// If it was `asked` for, certain only where nothing fits as well; `Preferred` where others read it differently,
/// as the caller decided and not the bytes.
fn certainty(winner: &Trial, ties: &[&Trial], whole: bool, asked: bool) -> Certainty {
    let tied = ties.iter().any(|trial| trial.is_named(winner));
    let others = ties.iter().copied().filter(|trial| !trial.is_named(winner));
    let others: Vec<_> = others.filter(|trial| trial.format().is_some()).collect();
    let differs = |other: &&&Trial| !tied || !whole || !is_equivalent(winner, other);
    let different: Vec<_> = others.iter().filter(differs).copied().collect();
    let formats = |trials: &[&Trial]| trials.iter().filter_map(|trial| trial.format()).collect();
    if others.is_empty() {
        Certainty::Certain
    } else if different.is_empty() {
        Certainty::Equivalent(formats(&others))
    } else if asked || different.iter().all(|other| is_preferred(winner, other)) {
        Certainty::Preferred(formats(&different))
    } else {
        Certainty::Ambiguous(formats(&different))
    }
}

/// The error of a hint that cannot be true, with what speaks most against it.
fn contradicted(hint: Option<Format>, hinted: Option<&Trial>, winner: &Trial) -> Error {
    let fault = hinted.map(|trial| format!(" ({})", words::fault(trial))).unwrap_or_default();
    let (hint, name) = (hint.map_or("", |hint| hint.name()), winner.name());
    Error::malformed(format!(
        "the payload is {name}, not {hint}{fault}: omit the format, or choose {name}"
    ))
}

/// What a payload was before it broke, if enough of it is left to tell. The reader then says where
/// it is broken.
///
/// At least 32 known fields for each contradiction: less is chance. A payload whose fields are whole has those that a
/// format always has, such as the string table of a pprof; one without is another message of protobuf.
/// A text of which one letter is repeated is such fields, too: but a message has control characters at its beginning.
fn broken(candidates: &[Candidate], payload: &[u8]) -> Option<Detected> {
    if payload.get(..1024).is_some_and(is_prose) {
        return None;
    }
    let seen = fields(payload);
    let lacks =
        |grammar: &Grammar| seen.is_some_and(|seen| grammar.missing(grammar.root, seen).is_some());
    let known = candidates.iter().filter(|candidate| matches!(candidate.answer, Answer::Format(_)));
    let known = known.filter(|candidate| !lacks(&candidate.grammar));
    let trials: Vec<Trial> = known
        .map(|candidate| Trial::of(candidate, walk(&candidate.grammar, payload, Bounds::TOLERANT)))
        .filter(|trial| trial.outcome.is_plausible())
        .filter(|trial| trial.outcome.known / 32 >= trial.outcome.score[HARD])
        .collect();
    let winner = trials.iter().min_by_key(|trial| trial.outcome.score)?;
    let evidence = vec![format!(
        "the payload is damaged and most similar to {}: {}",
        winner.name(),
        words::fault(winner)
    )];
    Some(Detected { format: winner.format()?, certainty: Certainty::Nearest, evidence })
}

/// The numbers of the fields that a payload is made of, a bit for each up to 31; `None` where it is not fields to its
/// end.
pub(super) fn fields(payload: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(payload);
    let mut seen = 0;
    while let Some(tag) = reader.tag().ok()? {
        reader.skip(tag, 16).ok()?;
        seen |= bit(tag >> 3);
    }
    Some(seen)
}
