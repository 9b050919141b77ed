//! Tries all candidates on a payload, reading as much of it as the decision needs and its size permits.
//!
//! ```text
//! FIRST ─► decided? ─► SECOND ─► decided? ─► WHOLE, up to 64 KiB
//!            └─ alike ─────┴─► scan of the rest ─► probes walked by those that are left
//! ```
//!
//! Only candidates that fit as well as the best so far walk the next round. A worse candidate cannot improve,
//! because misfits only add up. So most candidates walk once.

use super::Depth;
use super::bounds::Bounds;
use super::candidates::{Answer, Candidate};
use super::grammar::{Grammar, bit, inner};
use super::scan::scan;
use super::score::{HARD, MisfitKind, Outcome, SEMANTIC, SOFT, Score, UNPACKED};
use super::walk::{walk, walk_probes};
use crate::format::Format;
use crate::schema::{MessageKind, MessageType, NUMBERS, PROFILES_DATA, Version};
use crate::wire::read::Reader;

/// Payloads up to this size are walked completely if necessary.
const SMALL: usize = 1 << 16;

/// A candidate, and how well the payload fits it.
pub(super) struct Trial<'c> {
    pub(super) candidate: &'c Candidate,
    /// The outcome of the widest walk so far.
    pub(super) outcome: Outcome,
    /// Whether the candidate walked in this round.
    walked: bool,
}

impl<'c> Trial<'c> {
    pub(super) fn of(candidate: &'c Candidate, outcome: Outcome) -> Self {
        Self { candidate, outcome, walked: false }
    }
}

impl Trial<'_> {
    pub(super) fn name(&self) -> &'static str {
        self.candidate.grammar.name
    }

    /// Returns `None` for candidates that are only named.
    pub(super) fn format(&self) -> Option<Format> {
        match self.candidate.answer {
            Answer::Format(format) => Some(format),
            Answer::Other(..) | Answer::Signal(..) => None,
        }
    }

    /// Returns whether both have the same name.
    pub(super) fn is_named(&self, other: &Self) -> bool {
        self.name() == other.name()
    }

    /// Returns whether the walk found no contradiction.
    pub(super) fn is_possible(&self) -> bool {
        self.outcome.score[HARD] == 0
    }

    /// Returns whether this candidate may be the answer.
    pub(super) fn is_likely(&self) -> bool {
        let little = matches!(self.candidate.answer, Answer::Other(..));
        let outcome = &self.outcome;
        let enough = !little || outcome.score == Score::default() && outcome.unknown == 0;
        self.is_possible() && outcome.is_plausible() && enough
    }

    /// Returns whether it is another signal of which the walk read a record, without newer fields or unpacked
    /// lists.
    pub(super) fn is_other_signal(&self) -> bool {
        let signal = matches!(self.candidate.answer, Answer::Signal(..));
        signal && self.outcome.used(MessageKind::Record) != 0 && self.outcome.is_usual()
    }

    /// Returns whether it fits as well as the best, or is worse only by unpacked lists or an id of the wrong
    /// length. Some writers never pack lists. To the other format, such an id is a list of references, whose
    /// targets may not be known yet.
    fn fits(&self, least: Score) -> bool {
        let score = self.outcome.score;
        let is_tolerated = score[UNPACKED] > 0 || self.has_id_of_wrong_length();
        score <= least || is_tolerated && score[..=SOFT] <= least[..=SOFT]
    }

    /// Returns whether its heaviest misfit is an id of the wrong length.
    fn has_id_of_wrong_length(&self) -> bool {
        self.outcome.worst.is_some_and(|misfit| misfit.cause == MisfitKind::IdLength)
    }
}

/// The outcomes of all candidates.
pub(super) struct Trials<'c> {
    pub(super) all: Vec<Trial<'c>>,
    /// Whether the walks read everything in which the best candidates may differ.
    ///
    /// If not, formats that read the same so far are `Preferred` and not `Equivalent`.
    pub(super) whole: bool,
}

impl<'c> Trials<'c> {
    /// Walks the beginnings of all lists by all candidates, then more of the payload by the remaining ones,
    /// until one fits without a fault or everything was read. Of a large payload, the last round walks the
    /// parts that a scan over it finds.
    pub(super) fn of(candidates: &'c [Candidate], payload: &[u8], depth: Depth) -> Self {
        let untried = |candidate| Trial::of(candidate, Outcome { cut: true, ..Outcome::default() });
        let mut trials = Self { all: candidates.iter().map(untried).collect(), whole: true };
        let is_small = payload.len() <= SMALL;
        let rounds = [Bounds::FIRST, Bounds::SECOND].into_iter();
        for bounds in rounds.chain(is_small.then_some(Bounds::WHOLE)) {
            trials.walk_on(|grammar| walk(grammar, payload, bounds));
            trials.exclude_signals(payload);
            match trials.decision() {
                Decision::Decided => return trials,
                // More beginnings decide nothing. A scan finds later differences faster.
                Decision::Alike => break,
                Decision::Open => {}
            }
        }
        trials.scan(payload, if is_small { Depth::Whole } else { depth });
        trials
    }

    /// Excludes other signals if a dictionary follows the walked part of the payload: only profiles have one.
    ///
    /// The rest of a sparse profile may also be metrics or spans, and thousands of them often precede the
    /// dictionary.
    fn exclude_signals(&mut self, payload: &[u8]) {
        let is_cut = |trial: &&mut Trial| trial.is_other_signal() && trial.outcome.cut;
        let mut signals = self.all.iter_mut().filter(is_cut).peekable();
        if signals.peek().is_some() && has_dictionary(payload) {
            signals.for_each(|trial| trial.outcome.score[HARD] += 1);
        }
    }

    /// Looks over the whole payload if several candidates fit best and have not walked all of it.
    fn scan(&mut self, payload: &[u8], depth: Depth) {
        let contenders = self.contenders();
        let seen = contenders.iter().all(|trial| !trial.outcome.cut);
        let (Some((ours, others)), false) = (grammars(&contenders), seen) else {
            return;
        };
        let names: Vec<_> = contenders.iter().map(|trial| trial.name()).collect();
        let found = scan(ours, &others, used(&contenders), payload, depth);
        if found.differs && payload.len() <= SMALL {
            return self.walk_on(|grammar| walk(grammar, payload, Bounds::WHOLE));
        }
        if found.differs {
            self.walk_on(|grammar| walk_probes(grammar, payload, &found));
        }
        let mut left = self.contenders();
        left.retain(|trial| trial.format().is_some());
        self.whole = left.iter().all(|trial| names.contains(&trial.name()))
            && grammars(&left).is_none_or(|(ours, others)| found.saw_all(ours, &others));
    }

    /// Lets the best candidates walk on, and then every candidate that fits as well as they do. Worse
    /// candidates cannot improve.
    fn walk_on(&mut self, walk: impl Fn(&Grammar) -> Outcome) {
        self.all.iter_mut().for_each(|trial| trial.walked = false);
        loop {
            let least = self.least();
            let next = self.all.iter_mut().find(|trial| {
                let fits = least.is_none_or(|least| trial.fits(least));
                fits && trial.is_possible() && trial.outcome.cut && !trial.walked
            });
            let Some(trial) = next else { return };
            trial.outcome = walk(&trial.candidate.grammar);
            trial.walked = true;
        }
    }

    /// Returns the score of the best candidates.
    fn least(&self) -> Option<Score> {
        let likely = self.all.iter().filter(|trial| trial.is_likely());
        likely.map(|trial| trial.outcome.score).min()
    }

    /// Returns `Decided` if exactly one format fits without a fault, or at most one candidate is left. A
    /// candidate that is only named counts here if a record of it fits.
    fn decision(&self) -> Decision {
        let possible = || self.all.iter().filter(|trial| trial.is_possible());
        let clean = possible().filter(|trial| {
            (trial.outcome.is_clean() || trial.has_id_of_wrong_length()) && trial.outcome.is_usual()
        });
        let is_rival = |trial: &&Trial| trial.format().is_some() || trial.is_other_signal();
        let mut rivals = clean.filter(is_rival);
        let is_alike = |one: &Trial, other: &Trial| {
            one.candidate.grammar.rows() == other.candidate.grammar.rows()
                && is_equivalent(one, other)
        };
        match (rivals.next(), rivals.next()) {
            (None, _) if possible().count() > 1 => Decision::Open,
            (None, _) | (_, None) => Decision::Decided,
            (Some(first), Some(second)) => {
                let are_similar =
                    is_alike(first, second) && rivals.all(|other| is_alike(first, other));
                if are_similar { Decision::Alike } else { Decision::Open }
            }
        }
    }

    /// Returns the candidates that fit best, or may do so once more of the payload is read.
    fn contenders(&self) -> Vec<&Trial<'c>> {
        let least = self.least();
        let fits = |trial: &&Trial| trial.is_likely() && least.is_some_and(|best| trial.fits(best));
        self.all.iter().filter(fits).collect()
    }
}

/// Returns whether a payload has a dictionary beside its resources, which it skips by length.
fn has_dictionary(payload: &[u8]) -> bool {
    let dictionary = const { PROFILES_DATA.tag(Version::V1_10, "dictionary") };
    let mut reader = Reader::new(payload);
    while let Some(Some(tag)) = reader.try_tag() {
        if tag == dictionary {
            return true;
        }
        if reader.skip(tag, 0).is_err() {
            return false;
        }
    }
    false
}

/// How far the decision is.
enum Decision {
    Decided,
    /// The formats without a fault read everything so far the same.
    Alike,
    /// Several formats read it differently, or too little was read.
    Open,
}

/// Returns the grammar of the first trial, and those of the others.
fn grammars<'c>(trials: &[&Trial<'c>]) -> Option<(&'c Grammar, Vec<&'c Grammar>)> {
    let mut grammars = trials.iter().map(|trial| &trial.candidate.grammar);
    let (ours, others): (_, Vec<_>) = (grammars.next()?, grammars.collect());
    (!others.is_empty()).then_some((ours, others))
}

/// Returns the fields that any of the trials read.
fn used(trials: &[&Trial]) -> [u32; MessageKind::COUNT] {
    let mut all = [0; MessageKind::COUNT];
    for trial in trials {
        all.iter_mut().zip(trial.outcome.used).for_each(|(all, used)| *all |= used);
    }
    all
}

/// Returns whether two candidates read the payload the same: everything read so far has the same meaning in
/// both.
pub(super) fn is_equivalent(a: &Trial, b: &Trial) -> bool {
    let (ours, theirs) = (&a.candidate.grammar, &b.candidate.grammar);
    let fields =
        std::ptr::eq(ours.root, theirs.root) && is_same(ours.root, &used(&[a, b]), ours, theirs);
    // If the newer rule holds, every row 0 is empty, and references to it mean no entry in the older rule as
    // well.
    let null = ours.rows() == theirs.rows()
        || a.outcome.score[SEMANTIC] == 0 && b.outcome.score[SEMANTIC] == 0;
    fields && null && (ours.is_series() == theirs.is_series() || a.outcome.samples == 0)
}

/// Returns whether all fields read in a message, and in its nested messages, mean the same in both grammars.
fn is_same(
    message: &'static MessageType,
    used: &[u32; MessageKind::COUNT],
    ours: &Grammar,
    theirs: &Grammar,
) -> bool {
    let is_used = |number: &u32| used[message.kind as usize] & bit(*number) != 0;
    (1..NUMBERS as u32).filter(is_used).all(|number| {
        let inner = ours.field(message, number).and_then(inner);
        ours.is_same(message, number, theirs)
            && inner.is_none_or(|inner| is_same(inner, used, ours, theirs))
    })
}
