//! Index of the parts of a payload, and its tables, which events reference by row.
//!
//! ```text
//! payload ─► Parts::of   one pass: the places of rows and types, the number of events
//!         ─► Tables::of  strings, attributes, mappings, functions, locations, links, stacks: in this order,
//!                        because each refers only to earlier ones
//!         ─► the events, in a second pass (`read`)
//! ```
//!
//! Every index is resolved when its row is read, so no later validation is needed, unlike for OTLP.

use crate::error::{Error, Result, Shown};
use crate::format::assembly::Assembly;
use crate::limits::within;
use crate::losses;
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::tables::fields::fields;
use crate::tables::read::common::{any_indices, find};
use crate::tables::read::string_interner::StringInterner;
use crate::wire::read::Reader;

/// The parts of a payload. Tables may be split and mixed with events, so all parts are located first.
#[derive(Default)]
pub(super) struct Parts<'a> {
    /// `event_types`, read after the tables, because their names are rows of `strings`.
    pub(super) types: Vec<&'a [u8]>,
    /// Clocks, read before the types, which refer to them.
    pub(super) clocks: Vec<&'a [u8]>,
    /// The rows of each table as slices of the payload.
    strings: Vec<&'a [u8]>,
    attributes: Vec<&'a [u8]>,
    mappings: Vec<&'a [u8]>,
    functions: Vec<&'a [u8]>,
    locations: Vec<&'a [u8]>,
    links: Vec<&'a [u8]>,
    stacks: Vec<&'a [u8]>,
    /// Rows of `strings`, in the order of the payload.
    pub(super) comments: Vec<u32>,
    /// The end time of the profile.
    ///
    /// 0 if unknown. The model stores the start time instead: the end time less the duration.
    pub(super) time_unix_nano: u64,
    /// May be negative in a malformed payload; then every event is outside the time range, which is reported.
    pub(super) duration_nanos: i64,
    /// The number of events, for the limit. Events are not collected.
    pub(super) events: usize,
}

impl<'a> Parts<'a> {
    /// Locates the rows of each table in one pass, and counts the events, which are read after the tables.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_table_entries` or `max_samples` is exceeded.
    pub(super) fn of(payload: &'a [u8], cx: &mut ReadContext) -> Result<Self> {
        let mut parts = Self::default();
        let mut reader = Reader::new(payload);
        fields!(reader, PROFILE in Version::Events, cx; {
            "events" => {
                reader.bytes()?;
                parts.events += 1;
            },
            "event_types" => {
                cx.budget.push(&mut parts.types, reader.bytes()?)?;
            },
            "stack_table" => {
                cx.budget.push(&mut parts.stacks, reader.bytes()?)?;
            },
            "location_table" => {
                cx.budget.push(&mut parts.locations, reader.bytes()?)?;
            },
            "function_table" => {
                cx.budget.push(&mut parts.functions, reader.bytes()?)?;
            },
            "mapping_table" => {
                cx.budget.push(&mut parts.mappings, reader.bytes()?)?;
            },
            "attribute_table" => {
                cx.budget.push(&mut parts.attributes, reader.bytes()?)?;
            },
            "link_table" => {
                cx.budget.push(&mut parts.links, reader.bytes()?)?;
            },
            "string_table" => {
                cx.budget.push(&mut parts.strings, reader.bytes()?)?;
            },
            "clocks" => {
                cx.budget.push(&mut parts.clocks, reader.bytes()?)?;
            },
            "time_unix_nano" => {
                parts.time_unix_nano = reader.fixed64()?;
            },
            "duration_nano" => {
                parts.duration_nanos = reader.varint()? as i64;
            },
            "comment_strindices" as tag => any_indices(tag, &mut reader, &mut parts.comments, cx)?,
        });
        parts.check(cx)?;
        Ok(parts)
    }

    /// Checks the limits on the numbers of rows and events, before any row is parsed.
    fn check(&self, cx: &mut ReadContext) -> Result<()> {
        let tables = [
            ("event_types", &self.types),
            ("clocks", &self.clocks),
            ("strings", &self.strings),
            ("attributes", &self.attributes),
            ("mappings", &self.mappings),
            ("functions", &self.functions),
            ("locations", &self.locations),
            ("links", &self.links),
            ("stacks", &self.stacks),
        ];
        let most = cx.limits().max_table_entries;
        for (name, rows) in tables {
            within("max_table_entries", most, rows.len() as u64).map_err(|e| e.within(name))?;
        }
        within("max_samples", cx.limits().max_samples, self.events as u64)
    }
}

/// The id of each row of each table.
///
/// Index 0 is an ordinary row in `locations`, `functions`, `links` and `attributes`; in `strings` and
/// `stacks` it must be empty. So the index itself selects the id, and an unset reference is an omitted field
/// or an index 0 into an empty table.
pub(super) struct Tables {
    /// The dictionary under construction. Equal rows are merged, so two indices may have the same id.
    pub(super) assembly: Assembly,
    /// Ids of strings, and of the rows of other tables, by index.
    pub(super) texts: StringInterner,
    pub(super) attributes: Vec<AttributeId>,
    pub(super) mappings: Vec<MappingId>,
    pub(super) functions: Vec<FunctionId>,
    pub(super) locations: Vec<LocationId>,
    pub(super) links: Vec<LinkId>,
    pub(super) stacks: Vec<StackId>,
    /// The number of strings in the payload.
    ///
    /// Set right after the table is read. Strings that the model adds (`_duration`, keys of attributes)
    /// follow them, and are not written back as strings of the payload.
    pub(super) source_strings: u32,
    /// The attribute indices of the current row.
    ///
    /// A buffer that each row clears and reuses.
    pub(super) indices: Vec<u32>,
}

impl Tables {
    /// Reads the tables in the order of their references.
    ///
    /// # Errors
    ///
    /// A malformed row, with its table and index; an index past a table; a limit.
    pub(super) fn of(parts: &Parts, cx: &mut ReadContext) -> Result<Self> {
        let mut tables = Self {
            assembly: Assembly::new(cx),
            texts: StringInterner::merged(),
            attributes: Vec::new(),
            mappings: Vec::new(),
            functions: Vec::new(),
            locations: Vec::new(),
            links: Vec::new(),
            stacks: Vec::new(),
            source_strings: 0,
            indices: Vec::new(),
        };
        let one = &mut tables;
        one.table("strings", &parts.strings, cx, Self::string, |t| {
            t.texts.merged.get_or_insert_default()
        })?;
        one.source_strings = one.assembly.interner.dictionary.strings.len() as u32 - 1;
        one.table("attributes", &parts.attributes, cx, Self::attribute, |t| &mut t.attributes)?;
        one.table("mappings", &parts.mappings, cx, Self::mapping, |t| &mut t.mappings)?;
        one.table("functions", &parts.functions, cx, Self::function, |t| &mut t.functions)?;
        one.table("locations", &parts.locations, cx, Self::location, |t| &mut t.locations)?;
        one.table("links", &parts.links, cx, Self::link, |t| &mut t.links)?;
        one.table("stacks", &parts.stacks, cx, Self::stack, |t| &mut t.stacks)?;
        Ok(tables)
    }

    /// Reads the rows of a table.
    ///
    /// `read` returns the id of one row, and `ids` selects the list to append to. The list is in `self`, so
    /// it cannot be borrowed while the row is read. Each row is charged to the budget before the next is
    /// read.
    fn table<I>(
        &mut self,
        name: &'static str,
        rows: &[&[u8]],
        cx: &mut ReadContext,
        read: impl Fn(&mut Self, &[u8], &mut ReadContext) -> Result<I>,
        ids: impl Fn(&mut Self) -> &mut Vec<I>,
    ) -> Result<()> {
        for (row, body) in rows.iter().enumerate() {
            let inside = [(name, row)];
            let id = cx.inside(&inside, |cx| {
                let id = read(self, body, cx)?;
                self.assembly.charge(cx)?;
                Ok(id)
            })?;
            cx.budget.push(ids(self), id)?;
        }
        Ok(())
    }

    /// Reads a string of the table. The first must be empty, because 0 means unset.
    ///
    /// Invalid UTF-8 is an error, or kept with a finding under `Policy::Repair`; the model stores strings as
    /// bytes.
    fn string(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<StringId> {
        if self.texts.merged.as_ref().is_some_and(Vec::is_empty) && !body.is_empty() {
            let shown = Shown(body);
            let error = Error::malformed(format!("string 0 must be empty, found {shown}"));
            cx.repair(losses::ROW_0, error.at(body))?;
            return Ok(StringId::NONE);
        }
        if std::str::from_utf8(body).is_err() {
            let error = Error::malformed(format!("{} is not UTF-8", Shown(body)));
            cx.repair(losses::INVALID_UTF8, error.at(body))?;
        }
        self.assembly.text(body)
    }

    /// Reads a stack, leaf first. The first of the table must be empty, because events without a stack refer
    /// to it.
    ///
    /// # Errors
    ///
    /// More locations than `max_stack_depth`, an index past `locations`.
    fn stack(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<StackId> {
        let mut reader = Reader::new(body);
        self.indices.clear();
        fields!(reader, STACK in Version::Events, cx; {
            "location_indices" as tag => any_indices(tag, &mut reader, &mut self.indices, cx)?,
        });
        cx.check_depth(self.indices.len())?;
        if self.stacks.is_empty() && !self.indices.is_empty() {
            let error = Error::malformed("the first stack must be empty");
            cx.repair(losses::ROW_0, error.at(body))?;
            return Ok(StackId::NONE);
        }
        let mut stack = Vec::with_capacity(self.indices.len());
        for index in &self.indices {
            let location =
                find(&self.locations, *index, cx).map_err(|e| e.within("location_index"))?;
            // Skip a location that a repair unset.
            stack.extend(location.some());
        }
        self.assembly.stack(&stack)
    }

    /// Resolves attributes by row, sorted and without duplicates.
    ///
    /// Sorted, so that lists that differ only in order give the same sample. The indices are those in
    /// `self.indices`, which the reader of the row has filled.
    pub(super) fn attributes(&self, cx: &mut ReadContext) -> Result<Vec<AttributeId>> {
        let mut attributes = Vec::with_capacity(self.indices.len());
        for (at, index) in self.indices.iter().enumerate() {
            let id = find(&self.attributes, *index, cx)
                .map_err(|e| e.element(at).within("attribute_indices"))?;
            attributes.extend(id.some());
        }
        attributes.sort_unstable();
        attributes.dedup();
        Ok(attributes)
    }
}
