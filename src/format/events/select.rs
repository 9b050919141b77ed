//! Selection of the table rows of a payload: those that its events reach.
//!
//! ```text
//! series ─► events ─► stacks ─► locations ─► functions, mappings ─► strings
//!        └► types ─► attributes ──────────────────────────────────┘
//! ```
//!
//! Each payload has its own tables, so rows that only other payloads need are dropped. Places are positions
//! among the selected rows ([`RowSelection`]), counted from 1; 0 means unset. To get the index in a table without
//! an empty row, subtract one.

use std::collections::HashMap;

use super::series::Series;
use super::values::each_text;
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::value::Value;
use crate::tables::attributes::semantic_attributes::{AttributeRole, AttributeRoles, BuildId};
use crate::tables::write::select::RowSelection;

/// The rows of each table to write, and which attributes become fields.
///
/// Built once per payload, then only read.
pub(super) struct Selected<'a> {
    pub(super) dictionary: &'a Dictionary,
    /// The classification of attributes: which of mappings and locations are fields here ([`is_field`]).
    pub(super) roles: &'a AttributeRoles,
    /// The rows of each table, in the order of the dictionary.
    pub(super) stacks: RowSelection,
    pub(super) locations: RowSelection,
    pub(super) functions: RowSelection,
    pub(super) mappings: RowSelection,
    pub(super) links: RowSelection,
    pub(super) attributes: RowSelection,
    pub(super) strings: RowSelection,
    /// Names of types that the dictionary lacks.
    ///
    /// They follow all others in the string table, in the order of the series.
    pub(super) made: Vec<&'a str>,
    /// The index of each name of a type.
    ///
    /// Types are few, and each is looked up once.
    pub(super) names: HashMap<&'a str, u32>,
}

/// Whether a row is reached, by table.
///
/// One flag per row, because the order of marking does not matter and rows are marked repeatedly. Allocated
/// for each payload, so the dictionary must be that of the payload alone (`write` ensures it).
struct Marks {
    stacks: Vec<bool>,
    locations: Vec<bool>,
    functions: Vec<bool>,
    mappings: Vec<bool>,
    links: Vec<bool>,
    attributes: Vec<bool>,
    strings: Vec<bool>,
    /// The number of leading strings that are marked because the profiles were read with them.
    source_strings: usize,
}

/// Returns whether an attribute of a mapping or a location is written as a field.
///
/// A row uses only one of the two forms, because a field and an attribute would be read back as two
/// attributes.
pub(super) fn is_field(role: AttributeRole) -> bool {
    match role {
        AttributeRole::MappingFlag(_) | AttributeRole::Folded | AttributeRole::FrameType => true,
        AttributeRole::BuildId(kind) => kind != BuildId::Other,
        _ => false,
    }
}

impl<'a> Selected<'a> {
    /// Selects the rows that series of events reach: from events and types to stacks, from those to
    /// locations, functions and mappings, and from all of them to strings.
    pub(super) fn of(
        dictionary: &'a Dictionary,
        roles: &'a AttributeRoles,
        series: &'a [Series],
        (comment, comments): (AttributeId, &[StringId]),
    ) -> Self {
        let mut marks = Marks::none(dictionary);
        for series in series {
            let of_type = series.profile.attributes.iter();
            let of_type = of_type.filter(|id| **id != comment);
            of_type.for_each(|id| mark(&mut marks.attributes, id.row()));
            mark(&mut marks.strings, series.unit.row());
            marks.mark_source_strings(series.profile.event_form.texts as usize);
            for event in &series.events {
                let (stack, link, attributes) = series.of(event);
                mark(&mut marks.stacks, stack.row());
                mark(&mut marks.links, link.row());
                attributes.iter().for_each(|id| mark(&mut marks.attributes, id.row()));
            }
        }
        comments.iter().for_each(|text| mark(&mut marks.strings, text.row()));
        marks.follow(dictionary, roles);
        let names = series.iter().map(|series| &series.name[..]);
        let found = marks.find(dictionary, names.clone());
        let strings = RowSelection::marked(&marks.strings);
        let mut selected = Self {
            dictionary,
            roles,
            stacks: RowSelection::marked(&marks.stacks),
            locations: RowSelection::marked(&marks.locations),
            functions: RowSelection::marked(&marks.functions),
            mappings: RowSelection::marked(&marks.mappings),
            links: RowSelection::marked(&marks.links),
            attributes: RowSelection::marked(&marks.attributes),
            strings,
            made: Vec::new(),
            names: HashMap::new(),
        };
        for name in names {
            selected.name(name, &found);
        }
        selected
    }

    /// Assigns an index to the name of a type: that of an equal string, or one after all others.
    ///
    /// Index 0 is the empty string, which is never selected.
    fn name(&mut self, name: &'a str, found: &HashMap<&str, StringId>) {
        if self.names.contains_key(name) {
            return;
        }
        let index = match found.get(name) {
            _ if name.is_empty() => 0,
            Some(id) => self.strings.position(id.0),
            None => {
                self.made.push(name);
                (self.strings.len() + self.made.len()) as u32
            }
        };
        self.names.insert(name, index);
    }

    /// Returns the index of a string; 0 for the empty one.
    pub(super) fn string(&self, id: StringId) -> u32 {
        self.strings.position(id.0)
    }

    /// Returns the number of dropped rows, which no event reaches.
    ///
    /// Counted as a loss only if there is a single payload.
    pub(super) fn orphans(&self) -> usize {
        let Dictionary { mappings, locations, functions, links, stacks, .. } = self.dictionary;
        let left = |rows: usize, chosen: &RowSelection| rows.saturating_sub(1 + chosen.len());
        left(mappings.rows.len(), &self.mappings)
            + left(locations.len(), &self.locations)
            + left(functions.len(), &self.functions)
            + left(links.len(), &self.links)
            + left(stacks.len(), &self.stacks)
    }
}

impl Marks {
    /// Allocates the marks, with one flag for each row of each table.
    fn none(dictionary: &Dictionary) -> Self {
        Self {
            stacks: vec![false; dictionary.stacks.len()],
            locations: vec![false; dictionary.locations.len()],
            functions: vec![false; dictionary.functions.len()],
            mappings: vec![false; dictionary.mappings.rows.len()],
            links: vec![false; dictionary.links.len()],
            attributes: vec![false; dictionary.attributes.len()],
            strings: vec![false; dictionary.strings.len()],
            source_strings: 0,
        }
    }

    /// Marks the first `texts` strings, with which the profiles were read.
    ///
    /// A payload that is read and written again keeps its unreferenced strings, and so its bytes. They are
    /// the first strings of the dictionary, because the reader adds them before all others.
    fn mark_source_strings(&mut self, texts: usize) {
        let new = texts.saturating_sub(self.source_strings);
        let marks = self.strings.iter_mut().skip(1 + self.source_strings);
        marks.take(new).for_each(|marked| *marked = true);
        self.source_strings += new;
    }

    /// Marks the rows that the marked rows reach.
    ///
    /// Walks each table once, in the order of references.
    fn follow(&mut self, dictionary: &Dictionary, roles: &AttributeRoles) {
        for row in marked(&self.stacks) {
            for location in dictionary.stacks.row(row) {
                mark(&mut self.locations, location.row());
            }
        }
        let locations = &dictionary.locations;
        for row in marked(&self.locations) {
            for line in locations.lines.row(row) {
                mark(&mut self.functions, line.function.row());
            }
            if let Some(mapping) = locations.mappings.get(row) {
                mark(&mut self.mappings, mapping.row());
            }
            let attributes = locations.attributes.row(row);
            attributes.iter().for_each(|id| self.attribute_of_row(*id, dictionary, roles));
        }
        for row in marked(&self.mappings) {
            if let Some(mapping) = dictionary.mappings.rows.get(row) {
                mark(&mut self.strings, mapping.filename.row());
            }
            let attributes = dictionary.mappings.attributes.row(row);
            attributes.iter().for_each(|id| self.attribute_of_row(*id, dictionary, roles));
        }
        for row in marked(&self.functions) {
            let function = dictionary.functions.get(row).copied().unwrap_or_default();
            for text in [function.name, function.system_name, function.filename] {
                mark(&mut self.strings, text.row());
            }
        }
        for row in marked(&self.attributes) {
            if let Some(attribute) = dictionary.attributes.get(row) {
                mark(&mut self.strings, attribute.key.row());
                each_text(&attribute.value, &mut |text| mark(&mut self.strings, text.row()));
            }
        }
    }

    /// Marks an attribute of a mapping or a location: its string if it becomes a field, otherwise its row.
    ///
    /// Flags and kinds are encoded as numbers; a build id or a frame type is a string, which must be in the
    /// table.
    fn attribute_of_row(
        &mut self,
        id: AttributeId,
        dictionary: &Dictionary,
        roles: &AttributeRoles,
    ) {
        if !is_field(roles.get(id)) {
            mark(&mut self.attributes, id.row());
        } else if let Some(Value::String(text)) = dictionary.attribute(id).map(|a| &a.value) {
            mark(&mut self.strings, text.row());
        }
    }

    /// Finds the names of types among the strings, and marks them.
    ///
    /// Walks from the last row to the first, so that the first of equal strings wins.
    fn find<'a>(
        &mut self,
        dictionary: &Dictionary,
        names: impl Iterator<Item = &'a str>,
    ) -> HashMap<&'a str, StringId> {
        let mut found: HashMap<&str, StringId> = names.map(|name| (name, StringId::NONE)).collect();
        for row in (1..dictionary.strings.len() as u32).rev() {
            let id = StringId(row);
            if let Some(of_name) = found.get_mut(dictionary.text(id)) {
                *of_name = id;
            }
        }
        found.retain(|_, id| *id != StringId::NONE);
        found.values().for_each(|id| mark(&mut self.strings, id.row()));
        found
    }
}

/// Marks a row; ignores a row past the table.
fn mark(marks: &mut [bool], row: usize) {
    if let Some(mark) = marks.get_mut(row) {
        *mark = true;
    }
}

/// Returns the marked rows except row 0.
///
/// Row 0 is the empty row of the model, which tables of this format lack by default.
fn marked(marks: &[bool]) -> Vec<usize> {
    let rows = marks.iter().enumerate().skip(1);
    rows.filter_map(|(row, marked)| marked.then_some(row)).collect()
}
