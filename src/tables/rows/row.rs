//! Hashing, comparison and insertion of dictionary rows.

use std::hash::Hash;

use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link, Mapping};
use crate::model::id::{
    AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StackId, StringId,
};
use crate::tables::rows::budget::{BuilderBudget, Full, at_most, column, heap_bytes};
use crate::tables::rows::seed::Seed;

/// A row to look up or add. Its ids are rows of the same dictionary. Its attributes are sorted, so that equal sets
/// are equal lists.
pub(crate) trait Row: Hash + Sized {
    type Id: Id;

    /// Returns the hash of the row.
    #[inline]
    fn hashed(&self, seed: &Seed) -> u64 {
        seed.of(self)
    }

    /// Returns whether row `id` of the dictionary equals this one.
    fn is_at(&self, id: Self::Id, dictionary: &Dictionary) -> bool;

    /// Appends the row to its table. Checks all limits first, so that a row that does not fit changes nothing.
    fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full>;
}

/// A string that may not be UTF-8. Rows compare the original bytes, so that different invalid strings with equal
/// repaired text stay separate.
impl Row for &[u8] {
    type Id = StringId;

    #[inline]
    fn hashed(&self, seed: &Seed) -> u64 {
        seed.bytes(self)
    }

    #[inline]
    fn is_at(&self, id: StringId, dictionary: &Dictionary) -> bool {
        dictionary.strings.bytes(id) == *self
    }

    fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full> {
        let strings = &mut dictionary.strings;
        budget.string(strings.len(), strings.text_len(), self.len())?;
        strings.push_bytes(self);
        Ok(())
    }
}

/// Implements `Row` for rows that are one element of a table; `$heap` is the memory they own outside it.
macro_rules! plain {
    ($($row:ty: $id:ty, $table:ident, |$of:ident| $heap:expr;)*) => {$(
        impl Row for $row {
            type Id = $id;

            fn is_at(&self, id: $id, dictionary: &Dictionary) -> bool {
                dictionary.$table[id.row()] == *self
            }

            fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full> {
                let $of = &self;
                budget.row(dictionary.$table.len(), size_of::<Self>() + $heap)?;
                dictionary.$table.push(self);
                Ok(())
            }
        }
    )*};
}

plain! {
    Function: FunctionId, functions, |_function| 0;
    Link: LinkId, links, |_link| 0;
    Attribute: AttributeId, attributes, |attribute| heap_bytes(&attribute.value);
}

/// A mapping and its attributes.
impl Row for (Mapping, &[AttributeId]) {
    type Id = MappingId;

    fn is_at(&self, id: MappingId, dictionary: &Dictionary) -> bool {
        let table = &dictionary.mappings;
        table.rows[id.row()] == self.0 && table.attributes(id) == self.1
    }

    fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full> {
        let ((mapping, attributes), table) = (self, &mut dictionary.mappings);
        column(table.attributes.items.len(), attributes.len())?;
        budget.row(table.rows.len(), size_of::<Mapping>() + size_of_val(attributes))?;
        table.attributes.push_at(table.rows.len(), attributes);
        table.rows.push(mapping);
        Ok(())
    }
}

/// A location whose lines and attributes are borrowed; they are copied only into a new row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Hash)]
pub(crate) struct BorrowedLocation<'a> {
    /// NONE if the binary is unknown.
    pub(crate) mapping: MappingId,
    pub(crate) address: u64,
    /// Innermost first.
    pub(crate) lines: &'a [Line],
    pub(crate) attributes: &'a [AttributeId],
}

impl Row for BorrowedLocation<'_> {
    type Id = LocationId;

    fn is_at(&self, id: LocationId, dictionary: &Dictionary) -> bool {
        let table = &dictionary.locations;
        table.addresses[id.row()] == self.address
            && table.mappings[id.row()] == self.mapping
            && table.lines(id) == self.lines
            && table.attributes(id) == self.attributes
    }

    fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full> {
        let (Self { mapping, address, lines, attributes }, table) =
            (self, &mut dictionary.locations);
        let row = table.len();
        at_most(
            "max_lines_per_location",
            budget.limits.max_lines_per_location,
            lines.len() as u64,
        )?;
        column(table.lines.items.len(), lines.len())?;
        column(table.attributes.items.len(), attributes.len())?;
        // The mapping (4 bytes), the address (8) and the ends of two rows (4 each) take 20 bytes.
        budget.row(row, 20 + size_of_val(lines) + size_of_val(attributes))?;
        table.mappings.push(mapping);
        table.addresses.push(address);
        table.lines.push_at(row, lines);
        table.attributes.push_at(row, attributes);
        Ok(())
    }
}

/// A stack, leaf first.
impl Row for &[LocationId] {
    type Id = StackId;

    #[inline]
    fn hashed(&self, seed: &Seed) -> u64 {
        seed.ids(self)
    }

    /// Compares without a branch per id, so that the compiler can use vector instructions.
    #[inline]
    fn is_at(&self, id: StackId, dictionary: &Dictionary) -> bool {
        let there = dictionary.stacks.row(id.row());
        let differ = |differ, (a, b): (&LocationId, &LocationId)| differ | (a.0 ^ b.0);
        there.len() == self.len() && there.iter().zip(*self).fold(0, differ) == 0
    }

    fn add(self, dictionary: &mut Dictionary, budget: &mut BuilderBudget) -> Result<(), Full> {
        let stacks = &mut dictionary.stacks;
        budget.stack(self.len())?;
        column(stacks.items.len(), self.len())?;
        budget.row(stacks.len(), size_of_val(self) + size_of::<u32>())?;
        stacks.push(self);
        Ok(())
    }
}
