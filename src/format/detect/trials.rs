//! Trying all candidates on a payload, on as much of it as it takes and as its size pays for.
//!
//! ```text
//! FIRST ─► decided? ─► SECOND ─► decided? ─► WHOLE, up to 64 KiB
//!            └─ alike ─────┴─► look over the rest ─► probes walked by those that are left
//! ```
//!
//! Each round is walked only by candidates that fit as well as the best so far: one that is worse
//! already cannot become better, as misfits only add up. So most candidates are walked once.

use super::Depth;
use super::bounds::Bounds;
use super::candidates::{Answer, Candidate};
use super::grammar::{Grammar, bit, inner};
use super::look::look;
use super::score::{HARD, Outcome, SEMANTIC, SOFT, Score, UNPACKED, Why};
use super::walk::{walk, walk_found};
use crate::format::Format;
use crate::schema::{MessageType, NUMBERS, Noun, PROFILES_DATA, Version};
use crate::wire::read::Reader;

/// Payloads up to this size are walked whole, if it takes that to decide.
const SMALL: usize = 1 << 16;

/// A candidate, and how the payload fits it.
pub(super) struct Trial<'c> {
    pub(super) candidate: &'c Candidate,
    /// Of the widest walk so far.
    pub(super) outcome: Outcome,
    /// Whether it was walked in this round.
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

    /// None for what is only named.
    pub(super) fn format(&self) -> Option<Format> {
        match self.candidate.answer {
            Answer::Format(format) => Some(format),
            Answer::Other(..) | Answer::Signal(..) => None,
        }
    }

    /// Whether both have one name.
    pub(super) fn is_named(&self, other: &Self) -> bool {
        self.name() == other.name()
    }

    /// No contradiction was met.
    pub(super) fn is_possible(&self) -> bool {
        self.outcome.score[HARD] == 0
    }

    /// Whether it is a candidate for the answer.
    pub(super) fn is_likely(&self) -> bool {
        let little = matches!(self.candidate.answer, Answer::Other(..));
        let outcome = &self.outcome;
        let enough = !little || outcome.score == Score::default() && outcome.unknown == 0;
        self.is_possible() && outcome.is_plausible() && enough
    }

    /// Whether it is another signal, a record of it was seen, and nothing that it does not know.
    pub(super) fn is_other_signal(&self) -> bool {
        let signal = matches!(self.candidate.answer, Answer::Signal(..));
        signal && self.outcome.used(Noun::Record) != 0 && self.outcome.is_usual()
    }

    /// Whether it fits as well as what fits best, or is worse for nothing but lists written one number at a time, or an
    /// id of a wrong length. Some writers do the first always; and to the other format such an id is a list of
    /// references, of which it may not be known yet where they lead.
    fn fits(&self, least: Score) -> bool {
        let score = self.outcome.score;
        let odd = score[UNPACKED] > 0 || self.has_odd_id();
        score <= least || odd && score[..=SOFT] <= least[..=SOFT]
    }

    /// Whether nothing is wrong with it but an id of a wrong length.
    fn has_odd_id(&self) -> bool {
        self.outcome.worst.is_some_and(|clash| clash.why == Why::IdLength)
    }
}

/// All candidates, tried.
pub(super) struct Trials<'c> {
    pub(super) all: Vec<Trial<'c>>,
    /// Whether everything was looked at in which those that fit best may differ.
    ///
    /// If not, formats that read alike so far are `Preferred` and not `Equivalent`.
    pub(super) whole: bool,
}

impl<'c> Trials<'c> {
    /// Tries all candidates on the beginnings of all lists; those that are left on more of it, until
    /// one alone is without fault or all was seen; of a large payload on what a look over it finds.
    pub(super) fn of(candidates: &'c [Candidate], payload: &[u8], depth: Depth) -> Self {
        let untried = |candidate| Trial::of(candidate, Outcome { cut: true, ..Outcome::default() });
        let mut trials = Self { all: candidates.iter().map(untried).collect(), whole: true };
        let is_small = payload.len() <= SMALL;
        let rounds = [Bounds::FIRST, Bounds::SECOND].into_iter();
        for bounds in rounds.chain(is_small.then_some(Bounds::WHOLE)) {
            trials.walk_on(|grammar| walk(grammar, payload, bounds));
            trials.refute_signals(payload);
            match trials.standing() {
                Standing::Decided => return trials,
                // More of the same tells nothing; what differs further on a look finds faster.
                Standing::Alike => break,
                Standing::Open => {}
            }
        }
        trials.look(payload, if is_small { Depth::Whole } else { depth });
        trials
    }

    /// Rules other signals out where a dictionary stands behind what was walked of a payload: only profiles have one.
    ///
    /// Where profiles say little, all else of them may be metrics or spans, of which there are often thousands before
    /// the dictionary.
    fn refute_signals(&mut self, payload: &[u8]) {
        let is_cut = |trial: &&mut Trial| trial.is_other_signal() && trial.outcome.cut;
        let mut signals = self.all.iter_mut().filter(is_cut).peekable();
        if signals.peek().is_some() && has_dictionary(payload) {
            signals.for_each(|trial| trial.outcome.score[HARD] += 1);
        }
    }

    /// Looks over all of the payload, if several fit best and have not seen it.
    ///
    /// Nothing to do where one is left, or those that are have seen all.
    fn look(&mut self, payload: &[u8], depth: Depth) {
        let contenders = self.contenders();
        let seen = contenders.iter().all(|trial| !trial.outcome.cut);
        let (Some((ours, others)), false) = (grammars(&contenders), seen) else {
            return;
        };
        let names: Vec<_> = contenders.iter().map(|trial| trial.name()).collect();
        let found = look(ours, &others, used(&contenders), payload, depth);
        if found.differs && payload.len() <= SMALL {
            return self.walk_on(|grammar| walk(grammar, payload, Bounds::WHOLE));
        }
        if found.differs {
            self.walk_on(|grammar| walk_found(grammar, payload, &found));
        }
        let mut left = self.contenders();
        left.retain(|trial| trial.format().is_some());
        self.whole = left.iter().all(|trial| names.contains(&trial.name()))
            && grammars(&left).is_none_or(|(ours, others)| found.saw_all(ours, &others));
    }

    /// Has those that fit best walk on, and whoever fits as well as they do then: what is worse
    /// already does not get better.
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

    /// How well those fit that fit best.
    fn least(&self) -> Option<Score> {
        let likely = self.all.iter().filter(|trial| trial.is_likely());
        likely.map(|trial| trial.outcome.score).min()
    }

    /// Whether one format is without fault and no other, or nothing is left to choose from. What is
    /// only named and is not without fault by its own records loses to a format that is.
    fn standing(&self) -> Standing {
        let possible = || self.all.iter().filter(|trial| trial.is_possible());
        let clean = possible().filter(|trial| {
            (trial.outcome.is_clean() || trial.has_odd_id()) && trial.outcome.is_usual()
        });
        let is_rival = |trial: &&Trial| trial.format().is_some() || trial.is_other_signal();
        let mut rivals = clean.filter(is_rival);
        let is_alike = |one: &Trial, other: &Trial| {
            one.candidate.grammar.rows() == other.candidate.grammar.rows()
                && is_equivalent(one, other)
        };
        match (rivals.next(), rivals.next()) {
            (None, _) if possible().count() > 1 => Standing::Open,
            (None, _) | (_, None) => Standing::Decided,
            (Some(first), Some(second)) => {
                let alike = is_alike(first, second) && rivals.all(|other| is_alike(first, other));
                if alike { Standing::Alike } else { Standing::Open }
            }
        }
    }

    /// Those that fit best, or may once more is seen.
    fn contenders(&self) -> Vec<&Trial<'c>> {
        let least = self.least();
        let fits = |trial: &&Trial| trial.is_likely() && least.is_some_and(|best| trial.fits(best));
        self.all.iter().filter(fits).collect()
    }
}

/// Whether a message stands beside the resources of a payload, which are passed over by their lengths.
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

/// How much is known.
enum Standing {
    Decided,
    /// Those that are without fault read all that was seen alike.
    Alike,
    /// Several differ in what they make of it, or too little was seen.
    Open,
}

/// The grammar of the first of several trials, and those of the others.
fn grammars<'c>(trials: &[&Trial<'c>]) -> Option<(&'c Grammar, Vec<&'c Grammar>)> {
    let mut grammars = trials.iter().map(|trial| &trial.candidate.grammar);
    let (ours, others): (_, Vec<_>) = (grammars.next()?, grammars.collect());
    (!others.is_empty()).then_some((ours, others))
}

/// The fields of messages that any of the trials met.
fn used(trials: &[&Trial]) -> [u32; Noun::COUNT] {
    let mut all = [0; Noun::COUNT];
    for trial in trials {
        all.iter_mut().zip(trial.outcome.used).for_each(|(all, used)| *all |= used);
    }
    all
}

/// Whether two candidates read the payload alike: what was seen of it has the same meaning in both.
pub(super) fn is_equivalent(a: &Trial, b: &Trial) -> bool {
    let (ours, theirs) = (&a.candidate.grammar, &b.candidate.grammar);
    let fields =
        std::ptr::eq(ours.root, theirs.root) && is_same(ours.root, &used(&[a, b]), ours, theirs);
    // Without a violation of the newer rule, rows 0 are empty, and those that are mean none before too.
    let null = ours.rows() == theirs.rows()
        || a.outcome.score[SEMANTIC] == 0 && b.outcome.score[SEMANTIC] == 0;
    fields && null && (ours.is_series() == theirs.is_series() || a.outcome.samples == 0)
}

/// Whether all fields of a message that were met are the same to both, and all in them.
fn is_same(
    message: &'static MessageType,
    used: &[u32; Noun::COUNT],
    ours: &Grammar,
    theirs: &Grammar,
) -> bool {
    let met = |number: &u32| used[message.noun as usize] & bit(*number) != 0;
    (1..NUMBERS as u32).filter(met).all(|number| {
        let inner = ours.field(message, number).and_then(inner);
        ours.is_same(message, number, theirs)
            && inner.is_none_or(|inner| is_same(inner, used, ours, theirs))
    })
}
