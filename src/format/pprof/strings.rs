//! The string table of a file.
//!
//! A string is not decoded until something refers to it, and then only once. So a dictionary made
//! of a pprof has no unused texts, and no two rows with equal ones.

use crate::error::{Error, Result, Shown};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::texts::Texts;
use crate::model::id::StringId;

use crate::format::pprof::layout::Place;
/// The string table, as places in the file; a string becomes the model's when it is used, so that
/// equal ones become one and unused ones none.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// The whole file, which places are in.
    payload: &'a [u8],
    /// By index: where the string is in the payload.
    rows: &'a [Place],
    /// The model's id of each; [`UNUSED`] until it is used.
    ids: Vec<u32>,
}

/// What a file of several profiles is refused with.
pub(super) const CONCATENATED: &str =
    "the file is several concatenated profiles: split it into its profiles and convert each one";

/// The row at which a second string table begins: an empty string that does not lie right behind the string before it,
/// or wherever it lies if something else of a profile `is_repeated`.
///
/// Rows are where strings begin and end.
pub(crate) fn second_table(
    rows: impl Iterator<Item = (u32, u32)>,
    is_repeated: bool,
) -> Option<usize> {
    let mut last = None;
    rows.enumerate().find_map(|(row, (start, end))| {
        let is_apart = last.replace(end).is_some_and(|last| is_repeated || last + 2 != start);
        (start == end && is_apart).then_some(row)
    })
}

/// No string was given this id.
const UNUSED: u32 = u32::MAX;

impl Table<'_> {
    /// The model's id of a string.
    ///
    /// # Errors
    ///
    /// An index past the table, unless repairs are asked for: then it is the empty string.
    #[inline]
    pub(crate) fn text(
        &mut self,
        index: u32,
        texts: &mut Texts,
        intake: &mut Intake,
    ) -> Result<StringId> {
        match self.ids.get(index as usize) {
            Some(&id) if id != UNUSED => Ok(StringId(id)),
            _ => self.first_use(index, texts, intake),
        }
    }

    /// Interns the string, so that an equal one has the same id.
    ///
    /// Index 0 is the empty string also in a table that has no row at all, which a repair allows.
    fn first_use(
        &mut self,
        index: u32,
        texts: &mut Texts,
        intake: &mut Intake,
    ) -> Result<StringId> {
        let Some(text) = self.get(index as usize) else {
            if index != 0 {
                let shown = crate::format::otlp::read::common::show(index);
                let error = Error::malformed(format!(
                    "{shown} is out of range: the table has {} strings",
                    self.rows.len()
                ));
                intake.repair(losses::BAD_STRING_INDEX, error)?;
            }
            return Ok(StringId::NONE);
        };
        let id = texts.intern(text, intake)?;
        self.ids[index as usize] = id.0;
        Ok(id)
    }
}

impl<'a> Table<'a> {
    /// # Errors
    ///
    /// A table whose first string is not the empty one, unless repairs are asked for.
    pub(super) fn of(payload: &'a [u8], rows: &'a [Place], intake: &mut Intake) -> Result<Self> {
        intake.budget.take::<u32>(rows.len())?;
        let mut table = Self { payload, rows, ids: vec![UNUSED; rows.len()] };
        table.check(intake)?;
        Ok(table)
    }

    /// The first string must be there and empty.
    ///
    /// A repair keeps the table and reads string 0 as empty.
    fn check(&mut self, intake: &mut Intake) -> Result<()> {
        let error = match self.get(0) {
            Some([]) => return Ok(()),
            Some(first) => {
                format!("string 0 must be empty, found {}", Shown(first))
            }
            None => "the string table is empty: it must start with the empty string".to_owned(),
        };
        intake.repair(losses::ROW_0, Error::malformed(error).within_row("string_table", 0))?;
        if let Some(first) = self.ids.first_mut() {
            *first = 0;
        }
        Ok(())
    }

    /// The bytes of a string, which need not be UTF-8: `None` past the table.
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let &(start, length) = self.rows.get(row)?;
        self.payload.get(start as usize..)?.get(..length as usize)
    }
}
