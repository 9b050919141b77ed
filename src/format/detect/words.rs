//! What a decision rests on, in sentences.
//!
//! Sentences are made once, for the winner, from the clashes that walks kept: walking itself formats nothing.
//!
//! A clash is stored as numbers (path, field, kind, reason). Only here does it get names: those of
//! the grammar it is a clash by, or those of the winner's where the winner reads the same bytes
//! rightly.

use std::fmt;

use super::grammar::{Field, Grammar, Message};
use super::score::{Clash, Why};
use super::trials::Trial;
use super::{Endpoint, names};
use crate::format::Format;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// More sentences tell nobody more.
const SENTENCES: usize = 6;

/// Room for the names of those that one thing speaks against.
const NAMES: usize = 96;

/// Why the winner, and not the other formats: a sentence for each thing that speaks against some of
/// them, in the order of the candidates, then what is odd about the winner itself.
pub(super) fn evidence(winner: &Trial, trials: &[Trial]) -> Vec<String> {
    let ours = &winner.candidate.grammar;
    let rivals = trials
        .iter()
        .filter(|trial| trial.candidate.format().is_some() && trial.name() != winner.name());
    let mut against: Vec<(Clash, &Grammar, String)> = Vec::with_capacity(trials.len());
    for (rival, clash) in rivals.filter_map(|rival| Some((rival, rival.outcome.worst?))) {
        if Some(clash) == winner.outcome.worst {
            continue;
        }
        match against.iter_mut().find(|(other, ..)| *other == clash) {
            Some((_, _, names)) => names.extend([", ", rival.name()]),
            None => {
                let mut names = String::with_capacity(NAMES);
                names.push_str(rival.name());
                against.push((clash, &rival.candidate.grammar, names));
            }
        }
    }
    let sentences =
        against.iter().map(|(clash, theirs, names)| sentence(ours, theirs, clash, names));
    let mut evidence: Vec<String> = sentences.take(SENTENCES).collect();
    evidence.extend(odd(winner));
    evidence
}

/// What speaks against one reading most.
pub(super) fn fault(trial: &Trial) -> String {
    let grammar = &trial.candidate.grammar;
    match &trial.outcome.worst {
        Some(clash) => format!("{} {}", Place(grammar, clash), Says(grammar, clash)),
        None => "nothing speaks against it but attributes that are not used".to_owned(),
    }
}

/// Why a reading is preferred to others that fit.
pub(super) fn preference(name: &str, others: &[Format], orphans: u32) -> String {
    let others = names(others);
    let unused = if orphans == 0 { "uses all attributes" } else { "uses no fewer attributes" };
    format!(
        "every sample has as many numbers as timestamps, values of one and attributes of the other: {name} {unused}, {others} would fit too"
    )
}

/// What is not known where not all of a payload was looked at.
pub(super) fn partly(others: &[Format]) -> String {
    format!(
        "not all of it was looked at, since that would take as long as reading it: {} may read the rest differently",
        names(others)
    )
}

/// That an endpoint was said which nothing that fits is sent to.
pub(super) fn sent_elsewhere(endpoint: Endpoint) -> String {
    format!("it was sent to {endpoint}, which no format that fits is sent to")
}

/// What is odd about the winner.
fn odd(winner: &Trial) -> Option<String> {
    let clash = winner.outcome.worst.as_ref()?;
    let grammar = &winner.candidate.grammar;
    let place = Place(grammar, clash);
    Some(match clash.why {
        Why::Beyond => {
            format!("{place} is above all of {}: a newer generation, or an extension", grammar.name)
        }
        _ => format!("odd for {}: {place} {}", grammar.name, Says(grammar, clash)),
    })
}

/// What speaks for one format and against others.
fn sentence(ours: &Grammar, theirs: &Grammar, clash: &Clash, names: &str) -> String {
    let speaks = matches!(
        clash.why,
        Why::Kind | Why::Unknown | Why::Later | Why::Beyond | Why::Repeated | Why::Broken
    );
    let Some((message, number, field, inside)) = seen_by(ours, clash).filter(|_| speaks) else {
        let (place, says) = (Place(theirs, clash), Says(theirs, clash));
        return said(format_args!("as {names}, {place} {says}"));
    };
    let what = match clash.why {
        _ if inside => "length-delimited",
        Why::Repeated => "repeated",
        _ => kind(clash.kind, field),
    };
    let message = message.name();
    let (name, ours) = (field.name, ours.name);
    said(format_args!("{message} field {number} is {what}: {name} of {ours}, not of {names}"))
}

/// A sentence, in room for most; growing while it is written takes more than that.
fn said(sentence: fmt::Arguments) -> String {
    let mut text = String::with_capacity(160);
    // A text takes all that is written to it.
    let _ = fmt::write(&mut text, sentence);
    text
}

/// The field where a clash is, as another grammar sees it: the field itself, or one that is not
/// looked into and has it inside.
///
/// `true` in the last place: the clash lies inside a field that `ours` does not look into.
fn seen_by<'g>(ours: &'g Grammar, clash: &Clash) -> Option<(Message, u32, &'g Field, bool)> {
    let mut message = ours.root;
    for number in clash.path.numbers() {
        match ours.inner(message, number) {
            Some(inner) => message = inner,
            None => return Some((message, number, ours.field(message, number)?, true)),
        }
    }
    Some((message, clash.number, ours.field(message, clash.number)?, false))
}

/// `Sample field 4`, by a grammar's names.
struct Place<'a>(&'a Grammar, &'a Clash);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self(grammar, clash) = self;
        let message = grammar.follow(clash.path.numbers());
        f.write_str(message.map_or("the message", |message| message.name()))?;
        if clash.number != 0 {
            write!(f, " field {}", clash.number)?;
        }
        Ok(())
    }
}

/// What is wrong with a field, by the grammar it is wrong by.
struct Says<'a>(&'a Grammar, &'a Clash);

impl fmt::Display for Says<'_> {
    /// Every reason is said as what the bytes would be by that grammar: "would be 8 bytes".
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self(grammar, clash) = self;
        let field = grammar
            .follow(clash.path.numbers())
            .and_then(|message| grammar.field(message, clash.number));
        let name = field.map_or("no field", |field| field.name);
        match clash.why {
            Why::Kind => {
                let kind = field.map_or("absent", expected);
                write!(f, "({name}) would be {kind}")
            }
            Why::Broken => write!(f, "({name}) would be broken"),
            Why::Unknown | Why::Later | Why::Beyond => f.write_str("would not exist"),
            Why::Repeated => write!(f, "({name}) would be there twice"),
            Why::Past(table) => write!(f, "({name}) would lead past the {}", table.name()),
            Why::Large => write!(f, "({name}) would be too large"),
            Why::Text => write!(f, "({name}) would be text that is not UTF-8"),
            Why::Unpacked => write!(f, "({name}) would be unpacked"),
            Why::RowZero(table) => {
                let table = table.name();
                write!(f, "({name}) would begin the {table} with a row that is not empty")
            }
            Why::IdLength => write!(f, "({name}) would have a wrong length"),
            Why::Shape => f.write_str(
                "would end a sample whose values fit neither its timestamps nor the sample types",
            ),
            Why::Null => write!(f, "({name}) would hold the empty attribute"),
            Why::Twice => write!(f, "({name}) would hold an attribute twice"),
            Why::Missing => write!(f, "({name}) would be missing"),
        }
    }
}

/// What the bytes of a field would be by its grammar.
fn expected(field: &Field) -> &'static str {
    match field.kind() {
        VARINT => "a varint",
        FIXED64 => "8 bytes",
        FIXED32 => "4 bytes",
        _ if field.is_list() => "packed",
        _ => "length-delimited",
    }
}

/// What kind the bytes of a field are.
fn kind(kind: u32, field: &Field) -> &'static str {
    match kind {
        VARINT => "a varint",
        FIXED64 => "8 bytes",
        FIXED32 => "4 bytes",
        LEN if field.is_list() => "packed",
        LEN => "length-delimited",
        _ => "a group",
    }
}
