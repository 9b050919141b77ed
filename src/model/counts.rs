//! Row counts of the tables of a dictionary, and truncation to them.

use crate::model::dictionary::Dictionary;
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId, TABLES,
};

impl Dictionary {
    /// Returns the number of rows of each table, indexed by `Id::TABLE`.
    pub(crate) fn rows(&self) -> [usize; TABLES] {
        let Self { strings, mappings, functions, locations, links, attributes, stacks } = self;
        let mut rows = [0; TABLES];
        rows[StringId::TABLE] = strings.len();
        rows[MappingId::TABLE] = mappings.rows.len();
        rows[FunctionId::TABLE] = functions.len();
        rows[LocationId::TABLE] = locations.len();
        rows[LinkId::TABLE] = links.len();
        rows[AttributeId::TABLE] = attributes.len();
        rows[StackId::TABLE] = stacks.len();
        rows
    }

    /// Truncates each table to a number of rows but keeps the allocations.
    pub(crate) fn truncate(&mut self, rows: [usize; TABLES]) {
        let Self { strings, mappings, functions, locations, links, attributes, stacks } = self;
        let [of_mappings, of_locations] = [rows[MappingId::TABLE], rows[LocationId::TABLE]];
        strings.truncate(rows[StringId::TABLE]);
        mappings.rows.truncate(of_mappings);
        mappings.attributes.truncate_at(of_mappings);
        functions.truncate(rows[FunctionId::TABLE]);
        locations.mappings.truncate(of_locations);
        locations.addresses.truncate(of_locations);
        locations.lines.truncate_at(of_locations);
        locations.attributes.truncate_at(of_locations);
        links.truncate(rows[LinkId::TABLE]);
        attributes.truncate(rows[AttributeId::TABLE]);
        stacks.truncate(rows[StackId::TABLE]);
    }
}
