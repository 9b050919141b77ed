//! Filters of frames: they change the lines of locations and the locations of stacks.

use crate::look::pattern::Pattern;
use crate::model::dictionary::{Dictionary, Line};
use crate::model::id::{LocationId, StringId};
use crate::model::ragged::Ragged;

/// Which functions and binaries match a pattern, by row.
pub(super) struct Matches {
    functions: Vec<bool>,
    /// By mapping.
    pub(super) mappings: Vec<bool>,
}

impl Matches {
    /// By the names and files of functions, and the files of binaries.
    pub(super) fn new(dictionary: &Dictionary, pattern: &Pattern) -> Self {
        let mut memo = vec![None; dictionary.strings.len()];
        let mut test = |id: StringId| {
            *memo[id.row()].get_or_insert_with(|| pattern.matches(dictionary.text(id)))
        };
        let mut functions: Vec<bool> = (dictionary.functions.iter())
            .map(|function| test(function.name) || test(function.filename))
            .collect();
        let mut mappings: Vec<bool> =
            dictionary.mappings.rows.iter().map(|mapping| test(mapping.filename)).collect();
        // Row 0 is an absent one.
        functions[0] = false;
        mappings[0] = false;
        Self { functions, mappings }
    }

    /// By the names of functions without their arguments.
    pub(super) fn of_names(dictionary: &Dictionary, test: impl Fn(&str) -> bool) -> Self {
        let mut memo = vec![None; dictionary.strings.len()];
        let names = dictionary.functions.iter().map(|function| function.name);
        let functions = names.map(|id| {
            let name = dictionary.text(id);
            *memo[id.row()].get_or_insert_with(|| !name.is_empty() && test(without_arguments(name)))
        });
        Self { functions: functions.collect(), mappings: Vec::new() }
    }

    pub(super) fn function(&self, line: &Line) -> bool {
        self.functions[line.function.row()]
    }

    /// Whether a location matches, by its mapping or any of its lines.
    pub(super) fn any(&self, mapping: usize, lines: &[Line]) -> bool {
        self.mappings[mapping] || lines.iter().any(|line| self.function(line))
    }
}

/// A name as far as its arguments. The leading dot of PowerPC's ABI is cut as well.
pub(super) fn without_arguments(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    let mut from = 0;
    while let Some(at) = name[from..].find('(').map(|at| from + at) {
        if name[at..].starts_with("(anonymous namespace)") {
            from = at + "(anonymous namespace)".len();
        } else if name[at..].starts_with("()") && name[from..at].ends_with("operator") {
            from = at + 2;
        } else {
            return &name[..at];
        }
    }
    name
}

/// Removes the frames above the rootmost match. Returns which stacks have one, and whether any location matches.
pub(super) fn show_from(dictionary: &mut Dictionary, pattern: &Pattern) -> (Vec<bool>, bool) {
    let matches = Matches::new(dictionary, pattern);
    let mut states = vec![false; dictionary.locations.len()];
    map_lines(dictionary, |location, mapping, lines, out| {
        let end = if matches.mappings[mapping] {
            Some(lines.len())
        } else {
            lines.iter().rposition(|line| matches.function(line)).map(|at| at + 1)
        };
        states[location] = end.is_some();
        out.extend_from_slice(&lines[..end.unwrap_or(lines.len())]);
    });
    let kept = map_stacks(dictionary, |stack, out| {
        let end = stack.iter().rposition(|location| states[location.row()]);
        out.extend_from_slice(&stack[..end.map_or(0, |at| at + 1)]);
        end.is_some()
    });
    (kept, states.contains(&true))
}

/// Removes the frames below the leafmost match. Returns whether any location matches.
pub(super) fn prune_from(dictionary: &mut Dictionary, pattern: &Pattern) -> bool {
    let matches = Matches::of_names(dictionary, |name| pattern.matches(name));
    let mut states = vec![false; dictionary.locations.len()];
    map_lines(dictionary, |location, _, lines, out| {
        let from = lines.iter().position(|line| matches.function(line));
        states[location] = from.is_some();
        out.extend_from_slice(&lines[from.unwrap_or(0)..]);
    });
    let _: Vec<bool> = map_stacks(dictionary, |stack, out| {
        let from = stack.iter().position(|location| states[location.row()]);
        out.extend_from_slice(&stack[from.unwrap_or(0)..]);
        true
    });
    states.contains(&true)
}

/// Replaces the lines of every location: `map` gets its row, the row of its mapping and its lines, and appends the new
/// ones to an empty list.
pub(super) fn map_lines(
    dictionary: &mut Dictionary,
    mut map: impl FnMut(usize, usize, &[Line], &mut Vec<Line>),
) {
    let locations = &mut dictionary.locations;
    let mut mapped = Ragged::default();
    let mut lines = Vec::new();
    for row in 0..locations.len() {
        lines.clear();
        map(row, locations.mappings[row].row(), locations.lines.row(row), &mut lines);
        mapped.push_at(row, &lines);
    }
    locations.lines = mapped;
}

/// Replaces every stack, the empty one in row 0 as well: `map` gets it and appends the new frames to an empty list.
/// Returns the answers of `map`, by row.
pub(super) fn map_stacks(
    dictionary: &mut Dictionary,
    mut map: impl FnMut(&[LocationId], &mut Vec<LocationId>) -> bool,
) -> Vec<bool> {
    let mut mapped = Ragged::default();
    let mut frames = Vec::new();
    let kept = dictionary.stacks.rows().map(|stack| {
        frames.clear();
        let kept = map(stack, &mut frames);
        mapped.items.extend_from_slice(&frames);
        mapped.end_row();
        kept
    });
    let kept = kept.collect();
    dictionary.stacks = mapped;
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_their_arguments() {
        for (name, cut) in [
            ("f", "f"),
            ("f(int)", "f"),
            (".f(int)", "f"),
            ("ns::(anonymous namespace)::run(int)", "ns::(anonymous namespace)::run"),
            ("Foo::operator()(int) const", "Foo::operator()"),
            ("main.(*T).run", "main."),
            ("operator(int)", "operator"),
        ] {
            assert_eq!(without_arguments(name), cut);
        }
    }
}
