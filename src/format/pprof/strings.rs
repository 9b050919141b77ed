//! The string table of a file.
//!
//! A string is decoded on first use, and only once. So the dictionary of a pprof has no unused and no
//! duplicate strings.

use crate::error::{Error, Result, Shown};
use crate::losses;
use crate::model::id::StringId;
use crate::read_context::ReadContext;
use crate::tables::read::string_interner::StringInterner;

use crate::format::pprof::layout::RowSpan;
/// The string table as places in the file. Strings are interned on first use, so duplicates are merged and
/// unused ones dropped.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    /// The whole file.
    payload: &'a [u8],
    /// The place of each string, by index.
    rows: &'a [RowSpan],
    /// The model's id of each string; [`UNUSED`] until its first use.
    ids: Vec<u32>,
}

/// The message that rejects a file of several profiles.
pub(super) const CONCATENATED: &str =
    "the file is several concatenated profiles: split it into its profiles and convert each one";

/// Returns the row at which a second string table begins: an empty string that does not directly follow the
/// previous string. If `is_repeated` is true, because another field or an id occurs twice, any empty string
/// after the first counts.
///
/// `rows` are the start and end of each string.
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

/// Marks a string without an id.
const UNUSED: u32 = u32::MAX;

impl Table<'_> {
    /// Returns the model's id of a string.
    ///
    /// # Errors
    ///
    /// An index past the table, unless the policy is to repair; then it is the empty string.
    #[inline]
    pub(crate) fn text(
        &mut self,
        index: u32,
        texts: &mut StringInterner,
        cx: &mut ReadContext,
    ) -> Result<StringId> {
        match self.ids.get(index as usize) {
            Some(&id) if id != UNUSED => Ok(StringId(id)),
            _ => self.first_use(index, texts, cx),
        }
    }

    /// Interns the string, so that equal strings share an id.
    ///
    /// Index 0 is the empty string even if the table has no rows, which a repair allows.
    fn first_use(
        &mut self,
        index: u32,
        texts: &mut StringInterner,
        cx: &mut ReadContext,
    ) -> Result<StringId> {
        let Some(text) = self.get(index as usize) else {
            if index != 0 {
                let shown = crate::tables::read::common::show(index);
                let error = Error::malformed(format!(
                    "{shown} is out of range: the table has {} strings",
                    self.rows.len()
                ));
                cx.repair(losses::BAD_STRING_INDEX, error)?;
            }
            return Ok(StringId::NONE);
        };
        let id = texts.intern(text, cx)?;
        self.ids[index as usize] = id.0;
        Ok(id)
    }
}

impl<'a> Table<'a> {
    /// Creates the table.
    ///
    /// # Errors
    ///
    /// A table whose first string is not empty, unless the policy is to repair.
    pub(super) fn of(payload: &'a [u8], rows: &'a [RowSpan], cx: &mut ReadContext) -> Result<Self> {
        cx.budget.charge::<u32>(rows.len())?;
        let mut table = Self { payload, rows, ids: vec![UNUSED; rows.len()] };
        table.check(cx)?;
        Ok(table)
    }

    /// Checks that the first string exists and is empty.
    ///
    /// A repair keeps the table and reads string 0 as empty.
    fn check(&mut self, cx: &mut ReadContext) -> Result<()> {
        let error = match self.get(0) {
            Some([]) => return Ok(()),
            Some(first) => {
                format!("string 0 must be empty, found {}", Shown(first))
            }
            None => "the string table is empty: it must start with the empty string".to_owned(),
        };
        cx.repair(losses::ROW_0, Error::malformed(error).within_row("string_table", 0))?;
        if let Some(first) = self.ids.first_mut() {
            *first = 0;
        }
        Ok(())
    }

    /// Returns the bytes of a string, which may be invalid UTF-8; `None` past the table.
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let &(start, length) = self.rows.get(row)?;
        self.payload.get(start as usize..)?.get(..length as usize)
    }
}
