//! Formats the evidence for a decision as sentences.
//!
//! Walks format no text: they store misfits as numbers (path, field, wire type, reason). This module formats
//! sentences once, for the winner. It uses the names of the grammar that has the misfit, or those of the
//! winner if that reads the same bytes without one.

use std::fmt::{Arguments, Display, Formatter, Result, Write};

use super::grammar::{Grammar, inner};
use super::score::{Misfit, MisfitKind};
use super::trials::Trial;
use super::{Endpoint, names};
use crate::format::Format;
use crate::schema::{Field, MessageType};
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// More sentences would not help the reader.
const SENTENCES: usize = 6;

/// Capacity for nearly every sentence, so that it is allocated once.
const SENTENCE: usize = 192;

/// Explains why the winner was chosen: a sentence for each misfit that excludes other formats, in the order
/// of the candidates, then the winner's own misfit.
pub(super) fn evidence(winner: &Trial, trials: &[Trial]) -> Vec<String> {
    let is_rival = |trial: &&Trial| {
        let worst = trial.outcome.worst;
        let clashes = worst.is_some() && worst != winner.outcome.worst;
        clashes && trial.format().is_some() && !trial.is_named(winner)
    };
    let rivals = || trials.iter().filter(is_rival);
    let mut evidence = Vec::new();
    for (at, rival) in rivals().enumerate() {
        let Some(misfit) = &rival.outcome.worst else { continue };
        let is_alike = |other: &&Trial| other.outcome.worst == rival.outcome.worst;
        if evidence.len() < SENTENCES && !rivals().take(at).any(|other| is_alike(&other)) {
            let names = Joined(rivals().filter(is_alike).map(Trial::name));
            let (ours, theirs) = (&winner.candidate.grammar, &rival.candidate.grammar);
            evidence.push(sentence(ours, theirs, misfit, &names));
        }
    }
    evidence.extend(unusual_field(winner));
    evidence
}

/// Displays names separated by commas.
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

/// Formats a sentence into a string with enough capacity for most.
fn formatted(sentence: Arguments) -> String {
    let mut text = String::with_capacity(SENTENCE);
    // Writing into a `String` cannot fail.
    let _ = text.write_fmt(sentence);
    text
}

/// Describes the heaviest misfit of a reading.
pub(super) fn fault(trial: &Trial) -> String {
    let grammar = &trial.candidate.grammar;
    match &trial.outcome.worst {
        Some(misfit) => {
            format!("{} {}", field_name(grammar, misfit), describe_fault(grammar, misfit))
        }
        None => "it only leaves attributes unused".to_owned(),
    }
}

/// Explains why a reading is preferred to others that fit.
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

/// Explains what remains uncertain if only part of a payload was examined.
pub(super) fn partly(others: &[Format]) -> String {
    format!(
        "only a part of the payload was examined: {} may read the rest differently",
        names(others)
    )
}

/// Reports that the given endpoint accepts no format that fits.
pub(super) fn sent_elsewhere(endpoint: Endpoint) -> String {
    format!("it was sent to {endpoint}, which takes none of the formats that fit")
}

/// Describes the misfit of the winner.
fn unusual_field(winner: &Trial) -> Option<String> {
    let misfit = winner.outcome.worst.as_ref()?;
    let grammar = &winner.candidate.grammar;
    let field = field_name(grammar, misfit);
    Some(match misfit.cause {
        MisfitKind::Beyond => {
            format!("{field} is unknown in {}: a newer generation, or an extension", grammar.name)
        }
        _ => format!("unusual for {}: {field} {}", grammar.name, describe_fault(grammar, misfit)),
    })
}

/// Explains a misfit: by the winner's field that fits instead, or by the misfit alone.
fn sentence(ours: &Grammar, theirs: &Grammar, misfit: &Misfit, names: &impl Display) -> String {
    let speaks = matches!(
        misfit.cause,
        MisfitKind::Kind
            | MisfitKind::Unknown
            | MisfitKind::Later
            | MisfitKind::Beyond
            | MisfitKind::Repeated
            | MisfitKind::Broken
    );
    let Some((message, number, field, inside)) = seen_by(ours, misfit).filter(|_| speaks) else {
        return formatted(format_args!(
            "as {names}, {} {}",
            field_name(theirs, misfit),
            describe_fault(theirs, misfit)
        ));
    };
    let what = match misfit.cause {
        _ if inside => "length-delimited",
        MisfitKind::Repeated => "repeated",
        _ => kind(misfit.kind, field),
    };
    let message = message.name;
    let (name, ours) = (field.name, ours.name);
    formatted(format_args!("{message} field {number} is {what}: {name} of {ours}, not of {names}"))
}

/// Finds the field of a misfit in another grammar: the field itself, or an outer field that this grammar does
/// not look into.
///
/// The last element is `true` if it is an outer field.
fn seen_by(
    ours: &Grammar,
    misfit: &Misfit,
) -> Option<(&'static MessageType, u32, &'static Field, bool)> {
    let mut message = ours.root;
    for number in misfit.path.numbers() {
        let field = ours.field(message, number)?;
        match inner(field) {
            Some(inner) => message = inner,
            None => return Some((message, number, field, true)),
        }
    }
    Some((message, misfit.number, ours.field(message, misfit.number)?, false))
}

/// Names a field by a grammar: `Sample field 4`.
fn field_name(grammar: &Grammar, misfit: &Misfit) -> String {
    let message =
        grammar.follow(misfit.path.numbers()).map_or("the message", |message| message.name);
    match misfit.number {
        0 => message.to_owned(),
        number => format!("{message} field {number}"),
    }
}

/// Describes the fault of a field under the grammar that has the misfit, as in "would be 8 bytes".
fn describe_fault(grammar: &Grammar, misfit: &Misfit) -> String {
    let message = grammar.follow(misfit.path.numbers());
    let field = message.and_then(|message| grammar.field(message, misfit.number));
    let would = match misfit.cause {
        MisfitKind::Unknown | MisfitKind::Later | MisfitKind::Beyond => {
            return "would not exist".to_owned();
        }
        MisfitKind::Shape => {
            return "would end a sample whose values fit neither its timestamps nor the sample types"
                .to_owned();
        }
        MisfitKind::Kind => format!("be {}", field.map_or("absent", expected)),
        MisfitKind::Past(table) => format!("point past the {}", table.name()),
        MisfitKind::RowZero(table) => {
            format!("start the {} with a row that is not empty", table.name())
        }
        MisfitKind::Broken => "be broken".to_owned(),
        MisfitKind::Repeated => "occur twice".to_owned(),
        MisfitKind::Large => "be too large".to_owned(),
        MisfitKind::Text => "be text that is not UTF-8".to_owned(),
        MisfitKind::Unpacked => "be unpacked".to_owned(),
        MisfitKind::IdLength => "have the wrong length".to_owned(),
        MisfitKind::Null => "hold the empty attribute".to_owned(),
        MisfitKind::DuplicateAttribute => "hold an attribute twice".to_owned(),
        MisfitKind::Missing => "be missing".to_owned(),
    };
    format!("({}) would {would}", field.map_or("no field", |field| field.name))
}

/// Describes the bytes that a grammar expects in a field.
fn expected(field: &Field) -> &'static str {
    kind(if field.is_list() { LEN } else { field.kind.wire() }, field)
}

/// Describes the bytes of a field by their wire type.
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
