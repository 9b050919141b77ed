//! The rows that a whole payload reaches, in an order of the caller's.

use crate::build::reach::{List, Reach, Rows, mark, name};
use crate::model::Profiles;
use crate::model::id::{Id, LocationId};

impl Reach {
    /// The rows that a payload reaches, but for its strings, and its mappings whether or not they are reached:
    /// pprof has them for what they are. `uses` says how often its stacks have each location, which needs a walk
    /// through all of them that is not made again.
    pub(crate) fn rows_of_payload(profiles: &Profiles, uses: &[u32]) -> Rows {
        let mut reach = Self::of_most(&profiles.dictionary);
        profiles.iter().for_each(|profile| reach.profile(profile));
        mark_each(&mut reach.new.mappings, &mut reach.rows.mappings);
        for (row, _) in (0..).zip(uses).filter(|(_, uses)| **uses > 0) {
            mark(&mut reach.new.locations, &mut reach.rows.locations, LocationId(row));
        }
        reach.locations(&profiles.dictionary);
        reach.list();
        reach.rows
    }

    /// Puts the strings reached into another order.
    pub(crate) fn order_strings(&mut self, rows: Vec<u32>) {
        order(&mut self.new.strings, &mut self.rows.strings, rows);
    }

    /// Puts the functions reached into another order.
    pub(crate) fn order_functions(&mut self, rows: Vec<u32>) {
        order(&mut self.new.functions, &mut self.rows.functions, rows);
    }

    /// Puts the locations reached into another order.
    pub(crate) fn order_locations(&mut self, rows: Vec<u32>) {
        order(&mut self.new.locations, &mut self.rows.locations, rows);
    }

    /// Puts the stacks reached into another order.
    pub(crate) fn order_stacks(&mut self, rows: Vec<u32>) {
        order(&mut self.new.stacks, &mut self.rows.stacks, rows);
    }
}

/// Marks every row but the first; what all are named is their number.
fn mark_each<I: Id>(new: &mut [I], list: &mut List) {
    (1..new.len() as u32).for_each(|row| mark(new, list, I::from_row(row)));
}

fn order<I: Id>(new: &mut [I], list: &mut List, rows: Vec<u32>) {
    name(new, &rows);
    list.rows = rows;
}
