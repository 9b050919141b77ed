//! Where everything is in a payload, and the tables, which events refer to by rows.

use super::references::{Texts, all, find};
use crate::error::{Error, Result};
use crate::format::assembly::Assembly;
use crate::format::fields::fields;
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::tables::indices;
use crate::limits::within;
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::schema::Version;
use crate::wire::read::Reader;

/// The parts of a payload: tables may be split, and lie between events, so all are found first.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) types: Vec<&'a [u8]>,
    pub(super) clocks: Vec<&'a [u8]>,
    strings: Vec<&'a [u8]>,
    attributes: Vec<&'a [u8]>,
    mappings: Vec<&'a [u8]>,
    functions: Vec<&'a [u8]>,
    locations: Vec<&'a [u8]>,
    links: Vec<&'a [u8]>,
    stacks: Vec<&'a [u8]>,
    pub(super) comments: Vec<u32>,
    /// When the profile ended.
    pub(super) time_unix_nano: u64,
    pub(super) duration_nanos: i64,
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
            "comment_string_index" as tag => indices(tag, &mut reader, &mut parts.comments, intake)?,
        });
        parts.check(intake)?;
        Ok(parts)
    }

    /// The limits that a pass over the bytes can tell, before anything is made of them.
    fn check(&self, intake: &mut Intake) -> Result<()> {
        let Self { types, clocks, strings, attributes, mappings, functions, .. } = self;
        let Self { locations, links, stacks, .. } = self;
        let tables =
            [types, clocks, strings, attributes, mappings, functions, locations, links, stacks];
        let largest = tables.into_iter().map(Vec::len).max().unwrap_or(0);
        within("max_table_entries", intake.limits().max_table_entries, largest as u64)?;
        within("max_samples", intake.limits().max_samples, self.events as u64)
    }
}

/// The id of each row of each table.
pub(super) struct Tables {
    pub(super) assembly: Assembly,
    pub(super) texts: Texts,
    pub(super) attributes: Vec<AttributeId>,
    pub(super) mappings: Vec<MappingId>,
    pub(super) functions: Vec<FunctionId>,
    pub(super) locations: Vec<LocationId>,
    pub(super) links: Vec<LinkId>,
    pub(super) stacks: Vec<StackId>,
    /// How many texts there are by themselves.
    pub(super) own_texts: u32,
    /// Of the row that is read.
    pub(super) indices: Vec<u32>,
}

impl Tables {
    /// Reads the tables, those first that others refer to.
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
    fn string(&mut self, body: &[u8], intake: &mut Intake) -> Result<StringId> {
        if self.texts.is_empty() && !body.is_empty() {
            let shown = String::from_utf8_lossy(body);
            let error = Error::malformed(format!("string 0 must be empty, found {shown:?}"));
            intake.repair(losses::ROW_0, error.at(body))?;
            return Ok(StringId::NONE);
        }
        if std::str::from_utf8(body).is_err() {
            let shown = String::from_utf8_lossy(body);
            let error = Error::malformed(format!("{shown:?} is not UTF-8"));
            intake.repair(losses::INVALID_UTF8, error.at(body))?;
        }
        self.assembly.text(body)
    }

    /// A stack, leaf first. The first of the table must be empty, as an event without a stack refers to it.
    fn stack(&mut self, body: &[u8], intake: &mut Intake) -> Result<StackId> {
        let mut reader = Reader::new(body);
        self.indices.clear();
        fields!(reader, EVENT_STACK in Version::Events, intake; {
            "location_index" as tag => all(tag, &mut reader, &mut self.indices, intake)?,
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
