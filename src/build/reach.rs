//! Which rows of a dictionary are reached from some profiles, and the dictionary of these alone.
//!
//! Requirement: time by what is reached, not by the tables, so that 100,000 profiles of one payload
//! cost no more than they hold. What was reached is forgotten row by row; the memory stays.
//!
//! ```text
//! profile ─► stacks ─► locations ─► mappings ─► attributes ─► strings
//!    ├─────► attributes      └────► functions ──────────────────┘
//!    └─────► links
//! new      by row: NONE, or reached; after `finish` the new id
//! rows     the rows reached, ascending
//! ```
//!
//! A table is walked only after everything that refers to it was marked, so one pass over each is
//! enough.

mod order;

use std::ops::Deref;

use crate::build::merge::Remap;
use crate::model::dictionary::{Dictionary, Mapping};
use crate::model::id::{Id, LocationId, MappingId, StringId};
use crate::model::profile::Profile;

/// The rows that are reached, in every table.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By row: none where it is not reached; else, once all are, its new id.
    pub(crate) new: Remap,
    pub(crate) rows: Rows,
}

/// The rows of every table that are reached. Row 0 is none of them.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) strings: List,
    pub(crate) mappings: List,
    pub(crate) functions: List,
    pub(crate) locations: List,
    pub(crate) links: List,
    pub(crate) attributes: List,
    pub(crate) stacks: List,
}

/// The rows of a table that are reached, ascending once all are.
#[derive(Debug, Default)]
pub(crate) struct List {
    rows: Vec<u32>,
    /// Whether they are found by walking the table, not listed.
    ///
    /// Listing costs a push for each row and a sort; where most rows are reached, walking the table
    /// is cheaper.
    walked: bool,
}

impl Deref for List {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.rows
    }
}

impl Reach {
    /// Nothing reached yet, where few rows of the tables may be.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        Self::new(dictionary, false)
    }

    /// The same, where most rows of the tables will be: they are not listed.
    pub(crate) fn of_most(dictionary: &Dictionary) -> Self {
        Self::new(dictionary, true)
    }

    fn new(dictionary: &Dictionary, walked: bool) -> Self {
        let new = Remap {
            strings: none(dictionary.strings.len()),
            mappings: none(dictionary.mappings.rows.len()),
            functions: none(dictionary.functions.len()),
            locations: none(dictionary.locations.len()),
            links: none(dictionary.links.len()),
            attributes: none(dictionary.attributes.len()),
            stacks: none(dictionary.stacks.len()),
        };
        let list = || List { rows: Vec::new(), walked };
        let rows = Rows {
            strings: list(),
            mappings: list(),
            functions: list(),
            locations: list(),
            links: list(),
            attributes: list(),
            stacks: list(),
        };
        Self { new, rows }
    }

    /// All that some profiles reach.
    pub(crate) fn by<'p>(
        dictionary: &Dictionary,
        profiles: impl IntoIterator<Item = &'p Profile>,
    ) -> Self {
        let mut reach = Self::of(dictionary);
        profiles.into_iter().for_each(|profile| reach.profile(profile));
        reach.finish(dictionary);
        reach
    }

    #[inline]
    pub(crate) fn text(&mut self, id: StringId) {
        mark(&mut self.new.strings, &mut self.rows.strings, id);
    }

    /// Marks what a profile refers to itself.
    pub(crate) fn profile(&mut self, profile: &Profile) {
        profile.texts().for_each(|id| self.text(id));
        let Self { new, rows } = self;
        let samples = &profile.samples;
        mark_all(&mut new.attributes, &mut rows.attributes, &profile.attributes);
        mark_all(&mut new.attributes, &mut rows.attributes, &samples.attributes.items);
        mark_all(&mut new.stacks, &mut rows.stacks, &samples.stacks);
        mark_all(&mut new.links, &mut rows.links, &samples.links);
        mark_all(&mut new.strings, &mut rows.strings, &samples.stacktrace_ids);
    }

    /// Marks rows by their ids.
    pub(crate) fn rows_of(&mut self, ids: &Remap) {
        let Self { new, rows } = self;
        mark_all(&mut new.strings, &mut rows.strings, &ids.strings);
        mark_all(&mut new.mappings, &mut rows.mappings, &ids.mappings);
        mark_all(&mut new.functions, &mut rows.functions, &ids.functions);
        mark_all(&mut new.locations, &mut rows.locations, &ids.locations);
        mark_all(&mut new.links, &mut rows.links, &ids.links);
        mark_all(&mut new.attributes, &mut rows.attributes, &ids.attributes);
        mark_all(&mut new.stacks, &mut rows.stacks, &ids.stacks);
    }

    /// Marks what the rows that are marked refer to, and gives all of them their new ids.
    pub(crate) fn finish(&mut self, dictionary: &Dictionary) {
        let Self { new, rows } = self;
        each(&new.stacks, &rows.stacks, |row| {
            mark_all(&mut new.locations, &mut rows.locations, dictionary.stacks.row(row));
        });
        self.locations(dictionary);
        self.texts(dictionary);
        let Self { new, rows } = self;
        number(&mut new.strings, &mut rows.strings);
        number(&mut new.mappings, &mut rows.mappings);
        number(&mut new.functions, &mut rows.functions);
        number(&mut new.locations, &mut rows.locations);
        number(&mut new.links, &mut rows.links);
        number(&mut new.attributes, &mut rows.attributes);
        number(&mut new.stacks, &mut rows.stacks);
    }

    /// What refers to a table is marked before the table is walked.
    fn locations(&mut self, dictionary: &Dictionary) {
        let Self { new, rows } = self;
        let Dictionary { locations, mappings, .. } = dictionary;
        each(&new.locations, &rows.locations, |row| {
            mark_all(&mut new.mappings, &mut rows.mappings, &locations.mappings[row..=row]);
            let attributes = locations.attributes.row(row);
            mark_all(&mut new.attributes, &mut rows.attributes, attributes);
            for line in locations.lines.row(row) {
                mark(&mut new.functions, &mut rows.functions, line.function);
            }
        });
        each(&new.mappings, &rows.mappings, |row| {
            let attributes = mappings.attributes.row(row);
            mark_all(&mut new.attributes, &mut rows.attributes, attributes);
        });
    }

    /// After all other tables, as strings are referred to by nearly each of them.
    fn texts(&mut self, dictionary: &Dictionary) {
        let Self { new, rows } = self;
        let text = &mut |id| mark(&mut new.strings, &mut rows.strings, id);
        each(&new.mappings, &rows.mappings, |row| text(dictionary.mappings.rows[row].filename));
        each(&new.functions, &rows.functions, |row| {
            let function = &dictionary.functions[row];
            text(function.name);
            text(function.system_name);
            text(function.filename);
        });
        each(&new.attributes, &rows.attributes, |row| {
            let attribute = &dictionary.attributes[row];
            text(attribute.key);
            text(attribute.unit);
            attribute.value.for_each_text(text);
        });
    }

    /// Whether every row of every table is reached.
    ///
    /// Then nothing would change, and nothing is copied.
    pub(crate) fn is_all(&self) -> bool {
        let Remap { strings, mappings, functions, locations, links, attributes, stacks } =
            &self.new;
        is_all(strings)
            && is_all(mappings)
            && is_all(functions)
            && is_all(locations)
            && is_all(links)
            && is_all(attributes)
            && is_all(stacks)
    }

    /// Lists the rows that are reached.
    pub(crate) fn list(&mut self) {
        let Self { new, rows } = self;
        list(&new.strings, &mut rows.strings);
        list(&new.mappings, &mut rows.mappings);
        list(&new.functions, &mut rows.functions);
        list(&new.locations, &mut rows.locations);
        list(&new.links, &mut rows.links);
        list(&new.attributes, &mut rows.attributes);
        list(&new.stacks, &mut rows.stacks);
    }

    /// Puts one of the mappings before the others.
    ///
    /// Only the order among the mappings changes; ids are named anew.
    pub(crate) fn put_first(&mut self, mapping: MappingId) {
        let mappings = &mut self.rows.mappings.rows;
        if let Some(at) = mappings.iter().position(|row| *row == mapping.0) {
            mappings[..=at].rotate_right(1);
            name(&mut self.new.mappings, mappings);
        }
    }

    /// Profiles whose rows were reached, by their new ids, and the dictionary of these.
    pub(crate) fn apart(
        &self,
        old: &Dictionary,
        profiles: &[&Profile],
    ) -> (Dictionary, Vec<Profile>) {
        let renumbered = profiles.iter().map(|profile| {
            let mut profile = (*profile).clone();
            self.new.profile(&mut profile);
            profile
        });
        (self.keep(old), renumbered.collect())
    }

    /// The dictionary of the rows reached, in their order.
    ///
    /// New rows are in the order of `rows`, which callers may have changed, with row 0 before them.
    pub(crate) fn keep(&self, old: &Dictionary) -> Dictionary {
        let Self { new: remap, rows } = self;
        let mut new = Dictionary::default();
        let texts = rows.strings.iter().filter_map(|&row| old.strings.range(StringId(row)));
        new.strings.reserve(rows.strings.len(), texts.map(|range| range.len()).sum());
        new.functions.reserve(rows.functions.len());
        new.attributes.reserve(rows.attributes.len());
        rows.strings.iter().for_each(|&row| _ = new.strings.push_from(&old.strings, StringId(row)));
        new.links.extend(of(&rows.links, &old.links).copied());
        new.functions.extend(of(&rows.functions, &old.functions).map(|row| remap.function(row)));
        new.attributes
            .extend(of(&rows.attributes, &old.attributes).map(|row| remap.attribute(row)));
        for (&row, mapping) in rows.mappings.iter().zip(of(&rows.mappings, &old.mappings.rows)) {
            let at = new.mappings.rows.len();
            let attributes = old.mappings.attributes.row(row as usize);
            new.mappings.attributes.items.extend(remap.attributes(attributes));
            new.mappings.attributes.end_row_at(at);
            new.mappings
                .rows
                .push(Mapping { filename: remap.string(mapping.filename), ..*mapping });
        }
        self.keep_locations(old, &mut new);
        new
    }

    /// By column, each with its room asked for once.
    fn keep_locations(&self, old: &Dictionary, new: &mut Dictionary) {
        let Self { new: remap, rows } = self;
        let (table, locations) = (&mut new.locations, &old.locations);
        table.mappings.reserve(rows.locations.len());
        table.addresses.reserve(rows.locations.len());
        new.stacks.ends.reserve(rows.stacks.len());
        new.stacks
            .items
            .reserve(rows.stacks.iter().map(|&row| old.stacks.row(row as usize).len()).sum());
        for id in rows.locations.iter().map(|&row| LocationId(row)) {
            let row = table.len();
            table.attributes.items.extend(remap.attributes(locations.attributes(id)));
            table.attributes.end_row_at(row);
            table.lines.items.extend(locations.lines(id).iter().map(|line| remap.line(line)));
            table.lines.end_row_at(row);
            table.addresses.push(locations.address(id));
            table.mappings.push(remap.mapping(locations.mapping(id)));
        }
        for &row in rows.stacks.iter() {
            let stack = old.stacks.row(row as usize).iter();
            new.stacks.items.extend(stack.map(|id| remap.location(*id)));
            new.stacks.end_row();
        }
    }

    /// Forgets what was reached.
    pub(crate) fn clear(&mut self) {
        let Self { new, rows } = self;
        forget(&mut new.strings, &mut rows.strings);
        forget(&mut new.mappings, &mut rows.mappings);
        forget(&mut new.functions, &mut rows.functions);
        forget(&mut new.locations, &mut rows.locations);
        forget(&mut new.links, &mut rows.links);
        forget(&mut new.attributes, &mut rows.attributes);
        forget(&mut new.stacks, &mut rows.stacks);
    }
}

/// No row of a table has a new id. Row 0 needs no memory for that.
fn none<I: Id>(rows: usize) -> Vec<I> {
    if rows < 2 { Vec::new() } else { vec![I::default(); rows] }
}

/// The given rows of a table.
fn of<'t, T>(rows: &[u32], table: &'t [T]) -> impl Iterator<Item = &'t T> {
    rows.iter().filter_map(|&row| table.get(row as usize))
}

#[inline]
fn mark<I: Id>(new: &mut [I], list: &mut List, id: I) {
    let row = id.number();
    if let Some(new) = new.get_mut(row as usize)
        && new.number() == 0
        && row != 0
    {
        *new = id;
        if !list.walked {
            list.rows.push(row);
        }
    }
}

fn mark_all<I: Id>(new: &mut [I], list: &mut List, ids: &[I]) {
    ids.iter().for_each(|&id| mark(new, list, id));
}

/// Calls `f` for every row that is marked.
fn each<I: Id>(new: &[I], list: &List, mut f: impl FnMut(usize)) {
    if list.walked {
        marked(new).for_each(|row| f(row as usize));
    } else {
        list.rows.iter().for_each(|&row| f(row as usize));
    }
}

/// The rows that are marked, ascending.
fn marked<I: Id>(new: &[I]) -> impl Iterator<Item = u32> {
    (0..).zip(new).filter(|(_, id)| id.number() != 0).map(|(row, _)| row)
}

/// Sorts the rows and gives them their new ids. Where they are many, walking the table is less than
/// sorting them.
fn number<I: Id>(new: &mut [I], list: &mut List) {
    if list.walked {
        let marked = new.iter_mut().filter(|id| id.number() != 0);
        marked.zip(1..).for_each(|(id, row)| *id = I::from_row(row));
        return;
    }
    if list.rows.len() > new.len() / 16 {
        list.rows.clear();
        list.rows.extend(marked(new));
    } else {
        list.rows.sort_unstable();
    }
    name(new, &list.rows);
}

fn name<I: Id>(new: &mut [I], rows: &[u32]) {
    for (&row, id) in rows.iter().zip(1..) {
        if let Some(new) = new.get_mut(row as usize) {
            *new = I::from_row(id);
        }
    }
}

/// Rows are named in ascending order: the last has the number of all of them.
fn is_all<I: Id>(new: &[I]) -> bool {
    new.last().is_none_or(|id| id.number() as usize + 1 == new.len())
}

fn list<I: Id>(new: &[I], list: &mut List) {
    if list.walked {
        list.rows.extend(marked(new));
    }
}

fn forget<I: Id>(new: &mut [I], list: &mut List) {
    for row in list.rows.drain(..) {
        if let Some(new) = new.get_mut(row as usize) {
            *new = I::default();
        }
    }
}
