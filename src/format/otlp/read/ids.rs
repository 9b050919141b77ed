//! OTEP 0239's references: indices as its text says, or pprof's ids, when a pprof was put inside
//! the container, or ids without the rows saying them, as the OTEP's own converter wrote.
//!
//! Three kinds of payloads claim to be 1.3, and nothing in them says which. They are tried in this order, all
//! references of a set of tables at once, and the first that holds counts:
//!
//! | references are | from | seen by |
//! |---|---|---|
//! | indices from 0 | the OTEP's text | all are within their tables, and stacks are slices or no row says an id |
//! | ids that rows say | a pprof inside the container | every reference is an id of a row |
//! | ids that no row says | the OTEP's own converter | every reference is in 1 … rows |
//!
//! A wrong answer would give other stacks without an error. So ids are taken only if every
//! reference is one, and what fits as indices *and* has slices stays indices. Later generations
//! have no ids: nothing here runs for them.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::read::id_column::{IdColumn, Ids};
use crate::format::otlp::read::prove::Target;
use crate::format::otlp::read::tables::Tables;
use crate::format::otlp::read::targets::Targets;
use crate::schema::{Generation, Rows};

/// The row of each id.
type Rowed = HashMap<u64, u32, foldhash::fast::RandomState>;

impl Tables {
    /// Decides once for a set of tables whether references are ids, and if so resolves them.
    ///
    /// The maps are given back to the budget at the end: they live only in here. Linear in rows and
    /// references.
    pub(crate) fn resolve_ids<G: Generation>(
        &mut self,
        targets: &mut Targets,
        intake: &mut Intake,
    ) -> Result<()> {
        if G::CAPABILITIES.rows != Rows::FromZero {
            return Ok(());
        }
        let by_index = self.indices_hold(targets);
        let said = self.ids.location.is_said();
        if by_index && (self.slices || !said) {
            return Ok(());
        }
        let Ids { mapping, location, function } = &self.ids;
        let rows = mapping.len() + location.len() + function.len();
        let mark = intake.budget.mark();
        intake.budget.take::<[u64; 6]>(rows)?;
        let resolved = self.resolve(said, targets, intake);
        intake.budget.give_back(mark);
        if resolved || by_index { Ok(()) } else { self.refuse_large_ids(intake) }
    }

    /// Where references are neither indices nor ids: because ids are too large for them, if any is.
    #[cold]
    fn refuse_large_ids(&self, intake: &mut Intake) -> Result<()> {
        let Ids { mapping, location, function } = &self.ids;
        let tables = [
            (location, "location_table"),
            (function, "function_table"),
            (mapping, "mapping_table"),
        ];
        for (ids, table) in tables {
            if let Some((row, id)) = ids.beyond() {
                let message = format!("id {id} exceeds 32 bits, the maximum supported in otlp-1.3");
                let error = Error::malformed(message).within("id").within_row(table, row);
                intake.repair(losses::BAD_ID, error)?;
            }
        }
        Ok(())
    }

    /// Takes references as ids if every one of them is one, and says whether they are; else they stay
    /// indices, and proving them says what is wrong.
    fn resolve(&mut self, said: bool, targets: &mut Targets, intake: &mut Intake) -> bool {
        let (Some(location), Some(function), Some(mapping)) = (
            said_or_counted(&self.ids.location),
            said_or_counted(&self.ids.function),
            said_or_counted(&self.ids.mapping),
        ) else {
            return false;
        };
        if !self.ids_hold(targets, &location, &function, &mapping) {
            return false;
        }
        if !said {
            intake.note(losses::G1_ONE_BASED, String::new, || {
                "indices start at 1 instead of 0 in this payload".to_owned()
            });
        }
        self.follow(targets, &location, &function, &mapping);
        true
    }

    /// Whether all references are within their tables when taken as indices.
    fn indices_hold(&self, targets: &Targets) -> bool {
        // The first of an empty table is none. All are compared: a loop that may end early takes longer.
        let rows = |target: Target| target.rows.max(target.own as usize + 1) as u32;
        let on_the_wire = rows(targets.location) - 1;
        let function = rows(targets.function);
        let mapping = rows(targets.mapping);
        let lines = self.lines.items.iter();
        let mappings = self.location_mappings.iter();
        // Of the wire, as it is one less than that of the model; or larger than any.
        let largest = self.stacks.most.unwrap_or(0);
        let mut stacks = self.stacks.rows.items.iter();
        !(largest >= on_the_wire && stacks.any(|&row| on_wire(row) >= on_the_wire)
            || lines.fold(false, |out, line| out | (line.function.0 >= function))
            || mappings.fold(false, |out, &index| out | (index >= mapping)))
    }

    /// Whether all references are ids of rows; a function or mapping may be 0, which is none.
    fn ids_hold(
        &self,
        targets: &Targets,
        location: &Rowed,
        function: &Rowed,
        mapping: &Rowed,
    ) -> bool {
        let own = targets.function.own;
        let none_or = |rows: &Rowed, id: u32| id == 0 || rows.contains_key(&u64::from(id));
        self.stacks.rows.items.iter().all(|&row| location.contains_key(&u64::from(on_wire(row))))
            && self.lines.items.iter().all(|line| none_or(function, line.function.0 - own))
            && self.raw_mappings.iter().all(|id| none_or(mapping, *id))
    }

    /// Puts rows of the model in place of ids. Where settling dropped an empty first row, rows are one less.
    ///
    /// Mappings and functions are one less if their own empty first row was dropped.
    fn follow(
        &mut self,
        targets: &mut Targets,
        location: &Rowed,
        function: &Rowed,
        mapping: &Rowed,
    ) {
        let row = |rows: &Rowed, id: u32, dropped: u32| {
            rows.get(&u64::from(id)).map_or(0, |row| row + 1 - dropped)
        };
        self.stacks.rows.items.iter_mut().for_each(|id| *id = row(location, on_wire(*id), 0));
        self.stacks.most = None;
        let own = targets.function.own;
        self.lines
            .items
            .iter_mut()
            .for_each(|line| line.function.0 = row(function, line.function.0 - own, 1 - own));
        let dropped = u32::from(self.ids.mapping.len() + 1 != self.mappings.len());
        self.location_mappings =
            self.raw_mappings.iter().map(|&id| row(mapping, id, dropped)).collect();
        for target in [&mut targets.location, &mut targets.function, &mut targets.mapping] {
            (target.own, target.none) = (0, 0);
        }
    }
}

/// What a stack has on the wire: the model's row 0 was made room for.
fn on_wire(location: u32) -> u32 {
    location.wrapping_sub(1)
}

/// The rows on the wire by their ids; `None` when an id is 0 or occurs twice.
///
/// pprof's `profile.proto` asks for ids that are unique and not 0; a table that breaks that has
/// none.
fn rows_of(ids: &[u64]) -> Option<Rowed> {
    let mut rows = Rowed::with_capacity_and_hasher(ids.len(), Default::default());
    for (row, &id) in ids.iter().enumerate() {
        if id == 0 || rows.insert(id, row as u32).is_some() {
            return None;
        }
    }
    Some(rows)
}

/// Ids 1, 2, 3 ….
fn counted(rows: usize) -> Option<Rowed> {
    Some((0..rows).map(|row| (row as u64 + 1, row as u32)).collect())
}

/// The rows by the ids they say, or by 1, 2, 3 … where they say none.
fn said_or_counted(ids: &IdColumn) -> Option<Rowed> {
    if ids.is_said() { rows_of(ids.as_slice()) } else { counted(ids.len()) }
}
