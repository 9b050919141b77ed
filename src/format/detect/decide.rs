//! Decides which candidate a payload is.
//!
//! 1. Exclude candidates that the bytes contradict.
//! 2. Of the rest, keep those with the fewest misfits of the heaviest kind.
//! 3. Apply the caller's hint among those that fit, then the endpoint among those that fit equally well.
//! 4. Apply rules of likelihood. The result names the formats that read the payload differently.
//!
//! ```text
//! Trials ─► best, by rank ─► endpoint ─► does the hint fit? ─► winner ─► certainty ─► Detected
//!                   no candidate: damaged? ─► TOLERANT walk, or None: trust the hint, try text, or fail
//! ```
//!
//! Counting misfits does not always separate 1.8 and 1.9 from 1.10: `Sample` field 2 holds values in the
//! former and attributes in the latter. If every sample has as many of these numbers as timestamps, both
//! readings are possible. `is_either` recognises this case and `is_preferred` decides it.

use super::bounds::Bounds;
use super::candidates::{Answer, Candidate};
use super::grammar::{Grammar, bit};
use super::score::HARD;
use super::trials::{Trial, Trials, is_equivalent};
use super::walk::{is_prose, walk};
use super::{Certainty, Depth, Detected, Endpoint, evidence, unreleased};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::schema::{MessageKind, Role, SAMPLE, Table};
use crate::wire::read::Reader;

/// Decides which candidate `payload` is.
///
/// Returns `Ok(None)` if no candidate is likely; the caller may then trust the hint.
///
/// # Errors
///
/// The payload is recognised but not supported, or the bytes contradict the hint.
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
        // A requested format that is possible takes precedence over what the payload resembles.
        _ if hinted.is_some_and(Trial::is_possible) => return Ok(None),
        (Answer::Format(_), hint) => return Err(contradicted(hint, hinted, winner)),
        (Answer::Other(what, advice), _) => return Err(unrecognised(what, advice)),
        (Answer::Signal(what, advice), _) => return Err(unrecognised(what, advice).signal()),
    };
    let certainty = certainty(winner, &ties, whole, asked.is_some());
    let mut evidence = evidence::evidence(winner, &trials);
    if let Certainty::Preferred(others) = &certainty {
        if asked.is_some() {
            evidence.push(format!("{} was requested", winner.name()));
            let best = ties.first().filter(|_| !ties.iter().any(|trial| trial.is_named(winner)));
            evidence.extend(
                best.map(|best| {
                    format!("{} fits better: {}", best.name(), evidence::fault(winner))
                }),
            );
        } else {
            if ties.iter().any(|trial| is_either(winner, trial)) {
                evidence.push(evidence::preference(winner, others));
            }
            evidence.extend((!whole).then(|| evidence::partly(others)));
        }
    }
    evidence.extend(misses.filter(|_| asked.is_none()).map(evidence::sent_elsewhere));
    Ok(Some(Detected { format, certainty, evidence }))
}

/// Returns the error for a payload that is recognised but not supported.
pub(super) fn unrecognised(what: &str, advice: &str) -> Error {
    Error::new(ErrorKind::Unrecognised, format!("this is {what}, which is not supported: {advice}"))
}

/// Returns the trials that fit best and equally well, in the order of the candidates.
///
/// The result is empty if no candidate is likely. Another signal wins over formats that fit as well, because
/// it qualifies only if the walk read one of its records without a fault.
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
    // Only complete walks know which attributes are unused.
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

/// Moves the trials that `endpoint` accepts to the front, and drops the others except those that read the
/// payload the same.
///
/// Returns `false` and drops no trial if `endpoint` accepts none of them.
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

/// Keeps the trials with the fewest unused attributes, because a misread value uses no attribute. Also keeps
/// trials that differ only in whether a list holds values or attributes: there, unused attributes are only a
/// hint. Sorts by unused attributes.
fn by_orphans(ties: &mut Vec<&Trial>) {
    ties.sort_by_key(|trial| trial.outcome.orphans);
    if let Some(&first) = ties.first() {
        let fewest = first.outcome.orphans;
        ties.retain(|trial| trial.outcome.orphans == fewest || is_either(first, trial));
    }
}

/// Returns whether a reading is the same as another that fits as well, or likelier. If a list may hold values
/// or attributes, the likelier reading leaves fewer attributes unused; on a tie, it is the one with
/// attributes. CPU profilers write timestamps and attributes. No known profiler writes a value for each
/// timestamp, but no attributes.
fn is_preferred(trial: &Trial, other: &Trial) -> bool {
    let (ours, theirs) = (trial.outcome.orphans, other.outcome.orphans);
    let likelier = if ours == theirs { lists(trial) == Some(ATTRIBUTES) } else { ours < theirs };
    is_equivalent(trial, other) || is_either(trial, other) && likelier
}

/// Returns whether every sample has timestamps and one list of as many numbers, which one reading takes for
/// attributes and the other for values.
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

/// Returns the role of the numbers in all samples, if a reading gives them all the same one.
fn lists(trial: &Trial) -> Option<Role> {
    let used = |role: Role| {
        let mut fields = trial.candidate.grammar.fields(&SAMPLE);
        fields.any(|field| {
            field.role == role && trial.outcome.used(MessageKind::Sample) & bit(field.number) != 0
        })
    };
    match (used(ATTRIBUTES), used(Role::Values)) {
        (true, false) => Some(ATTRIBUTES),
        (false, true) => Some(Role::Values),
        _ => None,
    }
}

/// Returns how certain a reading is, given the others that fit best. Readings that agree are `Equivalent`
/// only if the `whole` payload was examined.
///
/// A reading that the caller `asked` for is certain only if no other fits as well. If others read the payload
/// differently, it is `Preferred`, because the caller decided and not the bytes.
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

/// Returns the error for a hint that the bytes contradict, with the heaviest misfit.
fn contradicted(hint: Option<Format>, hinted: Option<&Trial>, winner: &Trial) -> Error {
    let fault = hinted.map(|trial| format!(" ({})", evidence::fault(trial))).unwrap_or_default();
    // A relay of the winner's generation reads the values of the hinted one as attributes.
    let number = |trial: &Trial, role| {
        let mut fields = trial.candidate.grammar.fields(&SAMPLE);
        fields.find(|field| field.role == role).map(|field| field.number)
    };
    let is_misread = lists(winner) == Some(ATTRIBUTES)
        && hinted.and_then(|hinted| number(hinted, Role::Values)) == number(winner, ATTRIBUTES);
    let (hint, name) = (hint.map_or("", |hint| hint.name()), winner.name());
    let advice = if is_misread {
        format!(
            "; its samples have attribute indices and no values, as after a relay that took {hint} for {name}: the values are lost"
        )
    } else {
        format!(": omit the format, or choose {name}")
    };
    Error::malformed(format!("the payload is {name}, not {hint}{fault}{advice}"))
}

/// Finds the format of a damaged payload, if enough of it is intact. The reader then reports the position of
/// the damage.
///
/// Requires at least 32 known fields for each contradiction, because fewer match by chance. If the top-level
/// fields are intact, they must include those that the format requires, such as the string table of pprof:
/// otherwise it is another protobuf message. A text that repeats one letter also parses as fields, so text is
/// excluded first; the beginning of a message contains control characters.
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
        evidence::fault(winner)
    )];
    Some(Detected { format: winner.format()?, certainty: Certainty::Nearest, evidence })
}

/// Returns the numbers of the top-level fields of a payload, a bit for each up to 31, or `None` if the fields
/// end early.
pub(super) fn fields(payload: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(payload);
    let mut seen = 0;
    while let Some(tag) = reader.tag().ok()? {
        reader.skip(tag, 16).ok()?;
        seen |= bit(tag >> 3);
    }
    Some(seen)
}
