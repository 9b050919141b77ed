//! What a decision rests on, in sentences.
//!
//! Sentences are made once, for the winner, from the clashes that walks kept: walking itself formats nothing.
//!
//! A clash is stored as numbers (path, field, kind, reason). Only here does it get names: those of
//! the grammar it is a clash by, or those of the winner's where the winner reads the same bytes
//! rightly.

use std::fmt::{Arguments, Display, Formatter, Result, Write};

use super::grammar::{Grammar, inner};
use super::score::{Clash, Why};
use super::trials::Trial;
use super::{Endpoint, names};
use crate::format::Format;
use crate::schema::{Field, MessageType};
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// More sentences tell nobody more.
const SENTENCES: usize = 6;

/// Nearly every sentence is shorter, so that it is allocated once.
const SENTENCE: usize = 192;

/// Why the winner, and not the other formats: a sentence for each thing that speaks against some of
/// them, in the order of the candidates, then what is odd about the winner itself.
pub(super) fn evidence(winner: &Trial, trials: &[Trial]) -> Vec<String> {
    let is_rival = |trial: &&Trial| {
        let worst = trial.outcome.worst;
        let clashes = worst.is_some() && worst != winner.outcome.worst;
        clashes && trial.format().is_some() && !trial.is_named(winner)
    };
    let rivals = || trials.iter().filter(is_rival);
    let mut evidence = Vec::new();
    for (at, rival) in rivals().enumerate() {
        let Some(clash) = &rival.outcome.worst else { continue };
        let is_alike = |other: &&Trial| other.outcome.worst == rival.outcome.worst;
        if evidence.len() < SENTENCES && !rivals().take(at).any(|other| is_alike(&other)) {
            let names = Joined(rivals().filter(is_alike).map(Trial::name));
            let (ours, theirs) = (&winner.candidate.grammar, &rival.candidate.grammar);
            evidence.push(sentence(ours, theirs, clash, &names));
        }
    }
    evidence.extend(odd(winner));
    evidence
}

/// Names with commas between them.
struct Joined<I>(I);

impl<I: Iterator<Item = &'static str> + Clone> Display for Joined<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, name) in self.0.clone().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A sentence, in room for most of them.
fn said(sentence: Arguments) -> String {
    let mut said = String::with_capacity(SENTENCE);
    // Writing into a `String` cannot fail.
    let _ = said.write_fmt(sentence);
    said
}

/// What speaks against one reading most.
pub(super) fn fault(trial: &Trial) -> String {
    let grammar = &trial.candidate.grammar;
    match &trial.outcome.worst {
        Some(clash) => format!("{} {}", place(grammar, clash), says(grammar, clash)),
        None => "it only leaves attributes unused".to_owned(),
    }
}

/// Why a reading is preferred to others that fit.
pub(super) fn preference(winner: &Trial, others: &[Format]) -> String {
    let (name, others) = (winner.name(), names(others));
    let unused = if winner.outcome.orphans == 0 {
        "uses all attributes"
    } else {
        "uses no fewer attributes"
    };
    format!(
        "every sample has as many numbers as timestamps: they can be values or attribute indices; {name} {unused}, {others} would fit too"
    )
}

/// What is not known where not all of a payload was looked at.
pub(super) fn partly(others: &[Format]) -> String {
    format!(
        "only a part of the payload was examined: {} may read the rest differently",
        names(others)
    )
}

/// That an endpoint was said which nothing that fits is sent to.
pub(super) fn sent_elsewhere(endpoint: Endpoint) -> String {
    format!("it was sent to {endpoint}, which takes none of the formats that fit")
}

/// What is odd about the winner.
fn odd(winner: &Trial) -> Option<String> {
    let clash = winner.outcome.worst.as_ref()?;
    let grammar = &winner.candidate.grammar;
    let place = place(grammar, clash);
    Some(match clash.why {
        Why::Beyond => {
            format!("{place} is unknown in {}: a newer generation, or an extension", grammar.name)
        }
        _ => format!("unusual for {}: {place} {}", grammar.name, says(grammar, clash)),
    })
}

/// What speaks for one format and against others.
fn sentence(ours: &Grammar, theirs: &Grammar, clash: &Clash, names: &impl Display) -> String {
    let speaks = matches!(
        clash.why,
        Why::Kind | Why::Unknown | Why::Later | Why::Beyond | Why::Repeated | Why::Broken
    );
    let Some((message, number, field, inside)) = seen_by(ours, clash).filter(|_| speaks) else {
        return said(format_args!("as {names}, {} {}", place(theirs, clash), says(theirs, clash)));
    };
    let what = match clash.why {
        _ if inside => "length-delimited",
        Why::Repeated => "repeated",
        _ => kind(clash.kind, field),
    };
    let message = message.name;
    let (name, ours) = (field.name, ours.name);
    said(format_args!("{message} field {number} is {what}: {name} of {ours}, not of {names}"))
}

/// The field where a clash is, as another grammar sees it: the field itself, or one that is not
/// looked into and has it inside.
///
/// `true` in the last place: the clash lies inside a field that `ours` does not look into.
fn seen_by(
    ours: &Grammar,
    clash: &Clash,
) -> Option<(&'static MessageType, u32, &'static Field, bool)> {
    let mut message = ours.root;
    for number in clash.path.numbers() {
        let field = ours.field(message, number)?;
        match inner(field) {
            Some(inner) => message = inner,
            None => return Some((message, number, field, true)),
        }
    }
    Some((message, clash.number, ours.field(message, clash.number)?, false))
}

/// `Sample field 4`, by a grammar's names.
fn place(grammar: &Grammar, clash: &Clash) -> String {
    let message =
        grammar.follow(clash.path.numbers()).map_or("the message", |message| message.name);
    match clash.number {
        0 => message.to_owned(),
        number => format!("{message} field {number}"),
    }
}

/// What is wrong with a field, by the grammar it is wrong by: what the bytes would be, "would be 8 bytes".
fn says(grammar: &Grammar, clash: &Clash) -> String {
    let message = grammar.follow(clash.path.numbers());
    let field = message.and_then(|message| grammar.field(message, clash.number));
    let would = match clash.why {
        Why::Unknown | Why::Later | Why::Beyond => return "would not exist".to_owned(),
        Why::Shape => {
            return "would end a sample whose values fit neither its timestamps nor the sample types"
                .to_owned();
        }
        Why::Kind => format!("be {}", field.map_or("absent", expected)),
        Why::Past(table) => format!("point past the {}", table.name()),
        Why::RowZero(table) => {
            format!("start the {} with a row that is not empty", table.name())
        }
        Why::Broken => "be broken".to_owned(),
        Why::Repeated => "occur twice".to_owned(),
        Why::Large => "be too large".to_owned(),
        Why::Text => "be text that is not UTF-8".to_owned(),
        Why::Unpacked => "be unpacked".to_owned(),
        Why::IdLength => "have the wrong length".to_owned(),
        Why::Null => "hold the empty attribute".to_owned(),
        Why::Twice => "hold an attribute twice".to_owned(),
        Why::Missing => "be missing".to_owned(),
    };
    format!("({}) would {would}", field.map_or("no field", |field| field.name))
}

/// What the bytes of a field would be by its grammar.
fn expected(field: &Field) -> &'static str {
    kind(if field.is_list() { LEN } else { field.kind.wire() }, field)
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
