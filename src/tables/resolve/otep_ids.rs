//! Resolution of OTEP 0239's references. They are indices, as its text specifies; or pprof's ids, if a pprof
//! is embedded in the container; or ids that the rows omit, as the OTEP's own converter wrote them.
//!
//! Payloads of OTLP 1.3 do not declare which of these they use. The reader tries them in this order, with all
//! references of a set of tables at once, and uses the first that fits:
//!
//! | references | producer | condition |
//! |---|---|---|
//! | indices from 0 | follows the text of the OTEP | all are in range, and stacks are slices or rows have no ids |
//! | ids stored in rows | a pprof inside the container | every reference is the id of a row |
//! | ids missing from rows | the OTEP's own converter | every reference is in 1 … rows |
//!
//! A wrong choice would give different stacks without an error. So references are ids only if all of them
//! are. If they fit as indices *and* stacks are slices, they stay indices. Later generations have no ids and
//! skip this module.

use crate::error::{Error, Result};
use crate::losses;
use crate::model::dictionary::Locations;
use crate::read_context::ReadContext;
use crate::schema::Table;
use crate::tables::read::id_column::{Ids, RowsById};
use crate::tables::read::tables::Tables;
use crate::tables::resolve::targets::Targets;

impl Tables {
    /// Decides for a set of tables whether references are ids, and resolves them if so.
    ///
    /// Takes time linear in rows and references. Refunds the budget for its maps at the end, because they are
    /// temporary.
    pub(super) fn resolve_ids(
        &mut self,
        targets: &mut Targets,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let by_index = self.indices_hold(targets);
        let legacy = self.ids.location.has_ids();
        if by_index && (self.slices || !legacy) {
            return Ok(());
        }
        let Ids { mapping, location, function } = &self.ids;
        let rows = mapping.len() + location.len() + function.len();
        let mark = cx.budget.mark();
        cx.budget.charge::<[u64; 6]>(rows)?;
        let resolved = self.resolve(legacy, targets, cx);
        cx.budget.give_back(mark);
        if resolved || by_index { Ok(()) } else { self.refuse_large_ids(cx) }
    }

    /// Reports ids of more than 32 bits, which explain why references fit neither as indices nor as ids.
    #[cold]
    fn refuse_large_ids(&self, cx: &mut ReadContext) -> Result<()> {
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
                cx.repair(losses::BAD_ID, error)?;
            }
        }
        Ok(())
    }

    /// Resolves references as ids if all of them are ids, and returns whether they are. Otherwise they stay
    /// indices, and validation reports errors.
    fn resolve(&mut self, legacy: bool, targets: &mut Targets, cx: &mut ReadContext) -> bool {
        let Ids { mapping, location, function } = &self.ids;
        let (Some(location), Some(function), Some(mapping)) =
            (location.rows(), function.rows(), mapping.rows())
        else {
            return false;
        };
        if !self.ids_hold(&location, &function, &mapping) {
            return false;
        }
        if !legacy {
            cx.note(losses::G1_ONE_BASED, String::new, || {
                "indices start at 1 instead of 0 in this payload".to_owned()
            });
        }
        self.follow(targets, &location, &function, &mapping);
        true
    }

    /// Returns whether all references are in range as indices.
    fn indices_hold(&self, targets: &Targets) -> bool {
        // Index 0 into an empty table means unset. Compare all rows: a loop with an early exit is slower.
        let rows = |table| targets.of(table).rows.max(1);
        let location = rows(Table::Location);
        let function = rows(Table::Function);
        let mapping = rows(Table::Mapping);
        let Locations { lines, mappings, .. } = &self.dictionary.locations;
        // An upper bound of the largest index.
        let largest = self.stacks.most.unwrap_or(0);
        let mut stacks = self.stacks.rows.items.iter();
        !(largest >= location && stacks.any(|&row| on_wire(row) >= location)
            || lines.items.iter().fold(false, |out, line| out | (line.function.0 >= function))
            || mappings.iter().fold(false, |out, id| out | (id.0 >= mapping)))
    }

    /// Returns whether all references are ids of rows. A function or mapping may be 0, which means unset.
    fn ids_hold(&self, location: &RowsById, function: &RowsById, mapping: &RowsById) -> bool {
        let none_or = |rows: &RowsById, id: u32| id == 0 || rows.row(id.into()).is_some();
        let Locations { lines, mappings, .. } = &self.dictionary.locations;
        self.stacks.rows.items.iter().all(|&row| location.row(on_wire(row).into()).is_some())
            && lines.items.iter().all(|line| none_or(function, line.function.0))
            && mappings.iter().all(|id| none_or(mapping, id.0))
    }

    /// Replaces ids by rows of the model.
    fn follow(
        &mut self,
        targets: &mut Targets,
        location: &RowsById,
        function: &RowsById,
        mapping: &RowsById,
    ) {
        // Rows of `RowsById` count from 1, so the subtraction does not underflow.
        let row =
            |rows: &RowsById, id: u32, own| rows.row(id.into()).map_or(0, |row| row - 1 + own);
        // The model always puts its row 0 before the locations of 1.3.
        self.stacks.rows.items.iter_mut().for_each(|id| *id = row(location, on_wire(*id), 1));
        // The bound was that of the ids.
        self.stacks.most = None;
        let Locations { lines, mappings, .. } = &mut self.dictionary.locations;
        let own = targets.own(Table::Function);
        lines
            .items
            .iter_mut()
            .for_each(|line| line.function.0 = row(function, line.function.0, own));
        let own = targets.own(Table::Mapping);
        mappings.iter_mut().for_each(|id| id.0 = row(mapping, id.0, own));
        for table in [Table::Location, Table::Function, Table::Mapping] {
            // The references are rows of the model now, so validation adds nothing.
            targets.tables[table as usize].1 = 0;
        }
    }
}

/// Returns the index of a location in the payload: the model inserted row 0 before it.
fn on_wire(location: u32) -> u32 {
    location.wrapping_sub(1)
}
