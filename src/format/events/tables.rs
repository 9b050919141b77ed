//! Where everything is in a payload, and the tables, which events refer to by rows.
//!
//! ```text
//! payload ─► Parts::of   one pass: where rows and types begin, how many events there are
//!         ─► Tables::of  texts, attributes, mappings, functions, locations, links, stacks: in this order,
//!                        as each refers only to those before it
//!         ─► the events, in a second pass (`read`)
//! ```
//!
//! Every index is resolved as its row is read, so nothing is proved afterwards, as OTLP's readers
//! must.

use super::references::{Texts, find};
use crate::error::{Error, Result, Shown};
use crate::format::assembly::Assembly;
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::common::any_indices;
use crate::limits::within;
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::schema::Version;
use crate::wire::read::Reader;

/// The parts of a payload: tables may be split, and lie between events, so all are found first.
#[derive(Default)]
pub(super) struct Parts<'a> {
    /// `event_types`, read after the tables, as their names are rows of `strings`.
    pub(super) types: Vec<&'a [u8]>,
    /// Read before the types, which refer to them.
    pub(super) clocks: Vec<&'a [u8]>,
    /// The rows of each table as bytes of the payload: slices, so nothing is copied.
    strings: Vec<&'a [u8]>,
    attributes: Vec<&'a [u8]>,
    mappings: Vec<&'a [u8]>,
    functions: Vec<&'a [u8]>,
    locations: Vec<&'a [u8]>,
    links: Vec<&'a [u8]>,
    stacks: Vec<&'a [u8]>,
    /// Rows of `strings`, in the order of the payload.
    pub(super) comments: Vec<u32>,
    /// When the profile ended.
    ///
    /// 0 where it is not known. The model has the beginning instead, which is this less the
    /// duration.
    pub(super) time_unix_nano: u64,
    /// May be negative in a broken payload: then no event lies within it, which is noted.
    pub(super) duration_nanos: i64,
    /// How many there are, for the limit: they are not collected.
    pub(super) events: usize,
}

impl<'a> Parts<'a> {
    /// Where the rows of each table are, found in one pass; events are only counted: they are read when
    /// the tables are known.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_table_entries` or `max_samples`.
    pub(super) fn of(payload: &'a [u8], intake: &mut Intake) -> Result<Self> {
        let mut parts = Self::default();
        let mut reader = Reader::new(payload);
        fields!(reader, EVENT_PROFILE in Version::Events, intake; {
            "events" => {
                reader.bytes()?;
                parts.events += 1;
            },
            "event_types" => {
                intake.budget.push(&mut parts.types, reader.bytes()?)?;
            },
            "stacks" => {
                intake.budget.push(&mut parts.stacks, reader.bytes()?)?;
            },
            "locations" => {
                intake.budget.push(&mut parts.locations, reader.bytes()?)?;
            },
            "functions" => {
                intake.budget.push(&mut parts.functions, reader.bytes()?)?;
            },
            "mappings" => {
                intake.budget.push(&mut parts.mappings, reader.bytes()?)?;
            },
            "attributes" => {
                intake.budget.push(&mut parts.attributes, reader.bytes()?)?;
            },
            "links" => {
                intake.budget.push(&mut parts.links, reader.bytes()?)?;
            },
            "strings" => {
                intake.budget.push(&mut parts.strings, reader.bytes()?)?;
            },
            "clocks" => {
                intake.budget.push(&mut parts.clocks, reader.bytes()?)?;
            },
            "time_unix_nano" => {
                parts.time_unix_nano = reader.fixed64()?;
            },
            "duration_nanos" => {
                parts.duration_nanos = reader.varint()? as i64;
            },
            "comment_string_index" as tag => any_indices(tag, &mut reader, &mut parts.comments, intake)?,
        });
        parts.check(intake)?;
        Ok(parts)
    }

    /// The limits that a pass over the bytes can tell, before anything is made of them.
    fn check(&self, intake: &mut Intake) -> Result<()> {
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
        let most = intake.limits().max_table_entries;
        for (name, rows) in tables {
            within("max_table_entries", most, rows.len() as u64).map_err(|e| e.within(name))?;
        }
        within("max_samples", intake.limits().max_samples, self.events as u64)
    }
}

/// The id of each row of each table.
///
/// Index 0 is a row like any other in `locations`, `functions`, `links` and `attributes`; in
/// `strings` and `stacks` it must be the empty one. So an id is found by the index itself, and
/// "none" is a field that is left out, or an index 0 into an empty table.
pub(super) struct Tables {
    /// The dictionary that is made: equal rows become one, so two indices may have one id.
    pub(super) assembly: Assembly,
    /// Ids of the texts, and of the rows below, each by index.
    pub(super) texts: Texts,
    pub(super) attributes: Vec<AttributeId>,
    pub(super) mappings: Vec<MappingId>,
    pub(super) functions: Vec<FunctionId>,
    pub(super) locations: Vec<LocationId>,
    pub(super) links: Vec<LinkId>,
    pub(super) stacks: Vec<StackId>,
    /// How many texts there are by themselves.
    ///
    /// Known right after the table is read: texts that the model adds (`_duration`, keys of
    /// attributes) lie behind, and are not written back as texts of the payload.
    pub(super) own_texts: u32,
    /// Of the row that is read.
    ///
    /// Scratch, cleared by whoever fills it, so that no row allocates a list of its own.
    pub(super) indices: Vec<u32>,
}

impl Tables {
    /// Reads the tables, those first that others refer to.
    ///
    /// # Errors
    ///
    /// A row that is broken, with its table and index; an index past a table; a limit.
    pub(super) fn of(parts: &Parts, intake: &mut Intake) -> Result<Self> {
        let mut tables = Self {
            assembly: Assembly::new(intake),
            texts: Vec::new(),
            attributes: Vec::new(),
            mappings: Vec::new(),
            functions: Vec::new(),
            locations: Vec::new(),
            links: Vec::new(),
            stacks: Vec::new(),
            own_texts: 0,
            indices: Vec::new(),
        };
        let one = &mut tables;
        one.table("strings", &parts.strings, intake, Self::string, |t| &mut t.texts)?;
        one.own_texts = one.assembly.interner.dictionary.strings.len() as u32 - 1;
        one.table("attributes", &parts.attributes, intake, Self::attribute, |t| &mut t.attributes)?;
        one.table("mappings", &parts.mappings, intake, Self::mapping, |t| &mut t.mappings)?;
        one.table("functions", &parts.functions, intake, Self::function, |t| &mut t.functions)?;
        one.table("locations", &parts.locations, intake, Self::location, |t| &mut t.locations)?;
        one.table("links", &parts.links, intake, Self::link, |t| &mut t.links)?;
        one.table("stacks", &parts.stacks, intake, Self::stack, |t| &mut t.stacks)?;
        Ok(tables)
    }

    /// Reads the rows of a table.
    ///
    /// `read` makes one row's id, and `ids` says which list it goes to: the list is in `self`, so
    /// it cannot be borrowed while the row is read. The budget hears of each row before the next is
    /// read.
    fn table<I>(
        &mut self,
        name: &'static str,
        rows: &[&[u8]],
        intake: &mut Intake,
        read: impl Fn(&mut Self, &[u8], &mut Intake) -> Result<I>,
        ids: impl Fn(&mut Self) -> &mut Vec<I>,
    ) -> Result<()> {
        for (row, body) in rows.iter().enumerate() {
            let inside = [(name, row)];
            let id = intake.inside(&inside, |intake| {
                let id = read(self, body, intake)?;
                self.assembly.settle(intake)?;
                Ok(id)
            })?;
            intake.budget.push(ids(self), id)?;
        }
        Ok(())
    }

    /// A text of the table; the first must be empty, as 0 stands for none.
    ///
    /// Bytes that are not UTF-8 are an error, or kept with a finding under `Policy::Repair`; the
    /// model holds texts as bytes.
    fn string(&mut self, body: &[u8], intake: &mut Intake) -> Result<StringId> {
        if self.texts.is_empty() && !body.is_empty() {
            let shown = Shown(body);
            let error = Error::malformed(format!("string 0 must be empty, found {shown}"));
            intake.repair(losses::ROW_0, error.at(body))?;
            return Ok(StringId::NONE);
        }
        if std::str::from_utf8(body).is_err() {
            let error = Error::malformed(format!("{} is not UTF-8", Shown(body)));
            intake.repair(losses::INVALID_UTF8, error.at(body))?;
        }
        self.assembly.text(body)
    }

    /// A stack, leaf first. The first of the table must be empty, as an event without a stack refers to it.
    ///
    /// # Errors
    ///
    /// More locations than `max_stack_depth`, an index past `locations`.
    fn stack(&mut self, body: &[u8], intake: &mut Intake) -> Result<StackId> {
        let mut reader = Reader::new(body);
        self.indices.clear();
        fields!(reader, EVENT_STACK in Version::Events, intake; {
            "location_index" as tag => any_indices(tag, &mut reader, &mut self.indices, intake)?,
        });
        intake.check_depth(self.indices.len())?;
        if self.stacks.is_empty() && !self.indices.is_empty() {
            let error = Error::malformed("the first stack must be empty");
            intake.repair(losses::ROW_0, error.at(body))?;
            return Ok(StackId::NONE);
        }
        let mut stack = Vec::with_capacity(self.indices.len());
        for index in &self.indices {
            let location =
                find(&self.locations, *index, intake).map_err(|e| e.within("location_index"))?;
            // One that was repaired to none is no frame.
            stack.extend(location.some());
        }
        self.assembly.stack(&stack)
    }

    /// Attributes by their rows, in ascending order, each once.
    ///
    /// Sorted, as the identity of a sample is: lists that differ in their order alone are one
    /// sample. The indices are those in `self.indices`, left there by the reader of the row.
    pub(super) fn attributes(&self, intake: &mut Intake) -> Result<Vec<AttributeId>> {
        let mut attributes = Vec::with_capacity(self.indices.len());
        for (at, index) in self.indices.iter().enumerate() {
            let id = find(&self.attributes, *index, intake)
                .map_err(|e| e.element(at).within("attribute_indices"))?;
            attributes.extend(id.some());
        }
        attributes.sort_unstable();
        attributes.dedup();
        Ok(attributes)
    }
}
