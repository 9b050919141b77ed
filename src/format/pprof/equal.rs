//! Rows of a pprof's tables that are equal in all but their ids become the first of them.
//!
//! Nearly no file has any, so a look at a few bits of each row comes first: equal rows set the
//! same bit of a filter, and only those that found theirs set are compared.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::Result;
use crate::format::intake::Intake;
use crate::format::losses::{self, Code};
use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, LocationId, MappingId, StackId};
use crate::model::profile::Profile;
use crate::model::ragged::Ragged;
use crate::model::value::Value;

/// Merges equal mappings, then functions, then locations, which may be equal only now, then the
/// stacks that are equal because their locations are.
pub(crate) fn merge(
    dictionary: &mut Dictionary,
    profile: &mut Profile,
    intake: &mut Intake,
) -> Result<()> {
    merge_mappings(dictionary, intake)?;
    merge_functions(dictionary, intake)?;
    if merge_locations(dictionary, intake)? {
        merge_stacks(dictionary, profile);
    }
    Ok(())
}

fn merge_mappings(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<()> {
    let mappings = &dictionary.mappings;
    let keys = mappings.rows.iter().map(|row| {
        let name = u64::from(row.filename.0) << 40;
        name.wrapping_add(row.memory_start) ^ row.memory_limit.rotate_left(20)
    });
    // That a flag is not set is said of one mapping only, for all of them.
    let said = |id: &&crate::model::id::AttributeId| {
        let attribute = dictionary.attributes.get(id.row());
        attribute.is_none_or(|attribute| attribute.value != Value::Bool(false))
    };
    let places = Places::of(keys, "mapping", losses::DEDUP_MAPPING, intake, |row| {
        let attributes: Vec<_> = mappings.attributes.row(row).iter().filter(said).collect();
        (mappings.rows[row], attributes)
    })?;
    let Some(places) = places else { return Ok(()) };
    places.retain(&mut dictionary.mappings.rows);
    places.retain_rows(&mut dictionary.mappings.attributes);
    for mapping in &mut dictionary.locations.mappings {
        *mapping = MappingId(places.of_row(mapping.0));
    }
    Ok(())
}

fn merge_functions(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<()> {
    let functions = &dictionary.functions;
    let keys = functions.iter().map(|function| {
        let names = u64::from(function.name.0) | u64::from(function.system_name.0) << 32;
        names ^ (function.start_line as u64).rotate_left(48)
    });
    let (table, code) = ("function", losses::DEDUP_FUNCTION);
    let Some(places) = Places::of(keys, table, code, intake, |row| functions[row])? else {
        return Ok(());
    };
    places.retain(&mut dictionary.functions);
    for line in &mut dictionary.locations.lines.items {
        line.function = FunctionId(places.of_row(line.function.0));
    }
    Ok(())
}

/// Whether any were merged.
fn merge_locations(dictionary: &mut Dictionary, intake: &mut Intake) -> Result<bool> {
    let locations = &dictionary.locations;
    let lines = locations.lines.rows();
    let keys = locations
        .addresses
        .iter()
        .zip(lines)
        .map(|(address, lines)| {
            let first = lines.first().copied().unwrap_or_default();
            let line = u64::from(first.function.0) << 40 ^ (first.line as u64) << 24;
            address.wrapping_add(line)
        });
    let (table, code) = ("location", losses::DEDUP_LOCATION);
    let places = Places::of(keys, table, code, intake, |row| {
        let (mapping, address) = (locations.mappings[row], locations.addresses[row]);
        let attributes = locations.attributes.row(row);
        (mapping, address, locations.lines.row(row), attributes)
    })?;
    let Some(places) = places else {
        return Ok(false);
    };
    let locations = &mut dictionary.locations;
    places.retain(&mut locations.mappings);
    places.retain(&mut locations.addresses);
    places.retain_rows(&mut locations.lines);
    places.retain_rows(&mut locations.attributes);
    for location in &mut dictionary.stacks.items {
        *location = LocationId(places.of_row(location.0));
    }
    Ok(true)
}

fn merge_stacks(dictionary: &mut Dictionary, profile: &mut Profile) {
    let stacks = &dictionary.stacks;
    let all: Vec<u32> = (1..stacks.len() as u32).collect();
    let merged = Places::among(&all, stacks.len(), |row| stacks.row(row));
    if let Some(places) = merged {
        places.retain_rows(&mut dictionary.stacks);
        for stack in &mut profile.samples.stacks {
            *stack = StackId(places.of_row(stack.0));
        }
    }
}

/// Where each row of a table is, once equal rows are one.
#[derive(Debug)]
struct Places {
    /// By row: its new row.
    new: Vec<u32>,
    /// By row: whether it is the first of its equals.
    kept: Vec<bool>,
}

impl Places {
    /// Finds the rows that are equal, whose keys are; `None` where there are none.
    fn of<T: Hash + Eq>(
        keys: impl ExactSizeIterator<Item = u64> + Clone,
        table: &'static str,
        code: Code,
        intake: &mut Intake,
        row: impl Fn(usize) -> T,
    ) -> Result<Option<Self>> {
        let rows = keys.len();
        intake.budget.take::<u64>(rows)?;
        let alike = alike(keys);
        if alike.is_empty() {
            return Ok(None);
        }
        intake.budget.take::<[u32; 8]>(alike.len())?;
        let places = Self::among(&alike, rows, row);
        if let Some(Self { kept, .. }) = &places {
            let dropped = kept.iter().enumerate().filter(|(_, kept)| !**kept);
            for (row, _) in dropped {
                let place = || format!("{table}[{}]", row - 1);
                intake.note(code, place, || "is equal to an earlier one".to_owned());
            }
        }
        Ok(places)
    }

    /// As [`of`](Self::of), by comparing the rows `alike` of a table of `rows`.
    fn among<T: Hash + Eq>(alike: &[u32], rows: usize, row: impl Fn(usize) -> T) -> Option<Self> {
        let hasher = RandomState::default();
        let mut index: HashTable<u32> = HashTable::with_capacity(alike.len());
        let mut equal: Vec<(u32, u32)> = Vec::new();
        for &at in alike {
            let this = row(at as usize);
            let hash = hasher.hash_one(&this);
            match index.find(hash, |&first| row(first as usize) == this) {
                Some(&first) => equal.push((at, first)),
                None => {
                    index.insert_unique(hash, at, |&at| hasher.hash_one(row(at as usize)));
                }
            }
        }
        if equal.is_empty() {
            return None;
        }
        let mut kept = vec![true; rows];
        equal.iter().for_each(|&(at, _)| kept[at as usize] = false);
        let mut next = 0;
        let mut new: Vec<u32> = kept
            .iter()
            .map(|&kept| {
                next += u32::from(kept);
                next - 1
            })
            .collect();
        for (at, first) in equal {
            new[at as usize] = new[first as usize];
        }
        Some(Self { new, kept })
    }

    fn of_row(&self, row: u32) -> u32 {
        self.new.get(row as usize).copied().unwrap_or(0)
    }

    fn retain<T>(&self, rows: &mut Vec<T>) {
        let mut kept = self.kept.iter();
        rows.retain(|_| kept.next().copied().unwrap_or(true));
    }

    fn retain_rows<T: Copy>(&self, rows: &mut Ragged<T>) {
        let mut retained = Ragged::default();
        for (row, _) in rows.rows().zip(&self.kept).filter(|(_, kept)| **kept) {
            retained.items.extend_from_slice(row);
            retained.end_row();
        }
        *rows = retained;
    }
}

/// The rows, row 0 not among them, whose key another row has too, or seems to have.
fn alike(keys: impl ExactSizeIterator<Item = u64> + Clone) -> Vec<u32> {
    let mut seen = Filter::with_room(keys.len());
    let mut again: Option<Filter> = None;
    for key in keys.clone().skip(1) {
        if seen.insert(key) {
            again
                .get_or_insert_with(|| Filter::with_room(keys.len()))
                .insert(key);
        }
    }
    let Some(again) = again else {
        return Vec::new();
    };
    let rows = keys.enumerate().skip(1);
    rows.filter(|&(_, key)| again.contains(key))
        .map(|(row, _)| row as u32)
        .collect()
}

/// A set of keys that may hold others too.
#[derive(Debug)]
struct Filter {
    bits: Vec<u64>,
    /// What is left of a 64-bit product to number the bits.
    shift: u32,
}

impl Filter {
    /// With 16 to 32 bits for each of `rows` keys.
    fn with_room(rows: usize) -> Self {
        let bits = (rows.saturating_mul(16)).next_power_of_two().max(64);
        Self {
            bits: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        }
    }

    #[inline]
    fn place(&self, key: u64) -> (usize, u64) {
        let bit = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    /// Adds a key; whether it seems to have been there.
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        let Some(word) = self.bits.get_mut(word) else {
            return true;
        };
        let was = *word & bit != 0;
        *word |= bit;
        was
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let (word, bit) = self.place(key);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_may_be_equal_are_found() {
        let keys = [7, 1, 2, 1, 3, 2, 7];
        assert_eq!(alike(keys.iter().copied()), [1, 2, 3, 5]);
        assert_eq!(alike([0, 1, 2, 3].iter().copied()), [0; 0]);
        assert_eq!(alike([].iter().copied()), [0; 0]);
        let many: Vec<u64> = (0..5000).map(|row| row * 64).collect();
        let found = alike(many.iter().copied()).len();
        assert!(found < 500, "{found} of 5000 are taken for equal");
    }

    #[test]
    fn equal_rows_become_the_first_of_them() {
        let rows = ["", "a", "b", "a", "", "b", "c"];
        let places = Places::among(&[1, 2, 3, 4, 5, 6], rows.len(), |row| rows[row]).unwrap();
        assert_eq!(places.new, [0, 1, 2, 1, 3, 2, 4]);
        let mut kept = rows.to_vec();
        places.retain(&mut kept);
        assert_eq!(kept, ["", "a", "b", "", "c"]);
        assert!(Places::among(&[1, 2], rows.len(), |row| rows[row]).is_none());
    }
}
