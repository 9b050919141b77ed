//! The tables of a segment: which files there are, and the rows of each.

use crate::calendar::date;
use std::cmp::Ordering;
use std::io::{Cursor, Read, Seek, Write};

use crate::columns::batch::{Batch, Row};
use crate::columns::folders::Folders;
use crate::columns::rows::{Exact, Frames, Source};
use crate::columns::schema::Table;
use crate::columns::segment::{Partition, Segment, SegmentOptions};
use crate::columns::segment_rows::SegmentRows;
use crate::columns::spill::{Spill, Spilled};
use crate::error::Result;
use crate::model::{Profiles, StringId};
use crate::wire::hex::hex;

/// The tables of a segment, by part. A part becomes one file.
///
/// See [`tables()`] for an example.
pub struct Tables<S> {
    source: Source,
    spill: Spill<S>,
    exact: Exact,
    parts: Vec<Part>,
}

/// The rows of a table that belong into one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The table.
    pub table: Table,
    /// The service, if the tables are divided by service; empty if the resource names no service.
    pub service: Option<String>,
    /// The day as `2026-01-31`, for samples divided by day.
    pub date: Option<String>,
    /// The directory of the file in a dataset, such as `samples/service=checkout/date=2026-01-31`.
    pub directory: String,
    group: usize,
    /// The rows of the table of profiles, for profiles and samples.
    heads: Vec<u32>,
}

impl Part {
    /// Returns the path of the file in a dataset. `segment` is [`Tables::id`].
    pub fn path(&self, segment: [u8; 12], extension: &str) -> String {
        format!("{}/{}.{extension}", self.directory, hex(&segment))
    }
}

/// Arranges profiles as tables in memory, undivided.
///
/// ```
/// use otlp_profiles::columns::{Table, Values, tables};
///
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let mut tables = tables(&[profiles])?;
/// for part in tables.parts().to_vec() {
///     tables.each(&part, |batch| {
///         for (column, array) in batch.columns() {
///             match &array.values {
///                 Values::Int64(numbers) => println!("{}: {numbers:?}", column.name),
///                 _ => {}
///             }
///         }
///         Ok(())
///     })?;
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// # Errors
///
/// The profiles exceed a limit of [`SegmentOptions`].
pub fn tables(profiles: &[Profiles]) -> Result<Tables<Cursor<Vec<u8>>>> {
    let options = SegmentOptions { partition: Partition::None, ..SegmentOptions::default() };
    let mut segment = Segment::new(options, Cursor::new(Vec::new()))?;
    for profiles in profiles {
        // The caller still has the profiles, so losses are not reported.
        let _ = segment.add(profiles, "", "")?;
    }
    segment.finish([0; 12])
}

impl<S: Read + Write + Seek> Segment<S> {
    /// Ends the segment. `id` is the id of the segment: equal segments must have equal ids, and different ones
    /// different ids.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written.
    pub fn finish(self, id: [u8; 12]) -> Result<Tables<S>> {
        Tables::new(self, id)
    }
}

impl<S: Read + Write + Seek> Tables<S> {
    pub(super) fn new(mut segment: Segment<S>, id: [u8; 12]) -> Result<Self> {
        segment.spill.flush()?;
        let parts = parts(&segment);
        let Segment { spill, .. } = segment;
        Ok(Self { source: Source::new(segment.rows, id), spill, exact: Exact::default(), parts })
    }

    /// Returns the id of the segment.
    pub fn id(&self) -> [u8; 12] {
        self.source.id
    }

    /// Returns the parts that have rows. Each refers only to parts before it.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Passes all rows of a part to `f`, in batches.
    ///
    /// # Errors
    ///
    /// `f` fails, or the temporary file cannot be read.
    pub fn each(&mut self, part: &Part, mut f: impl FnMut(&Batch<'_>) -> Result<()>) -> Result<()> {
        let Self { source, spill, exact, .. } = self;
        let mut output = Output { batch: source.batch(part.table), source, f: &mut f };
        let group = source.groups.get(part.group);
        match part.table {
            Table::Mappings => {
                for (row, mapping) in group.into_iter().flat_map(|group| &group.mappings) {
                    source.put_mapping(output.row()?, *row, *mapping, exact)?;
                }
            }
            Table::Stacks => {
                let mut frames = Frames::default();
                for (row, stack) in group.into_iter().flat_map(|group| &group.stacks) {
                    frames.fill(source, part.group as u32, *stack, exact)?;
                    frames.put(output.row()?, source.key(*row));
                }
            }
            Table::Profiles => {
                for row in &part.heads {
                    source.put_head(output.row()?, *row, spill)?;
                }
            }
            Table::Samples => {
                let mut samples = Spilled::default();
                for row in &part.heads {
                    let head = &source.heads[*row as usize];
                    samples.decode(spill.get(head.rows)?)?;
                    for sample in 0..samples.stacks.len() {
                        source.put_sample(output.row()?, *row, (&samples, sample), exact)?;
                    }
                }
            }
        }
        output.finish()
    }
}

/// Batches on their way to the caller.
struct Output<'a, 'f> {
    source: &'a Source,
    batch: Batch<'a>,
    f: &'f mut dyn FnMut(&Batch<'_>) -> Result<()>,
}

impl Output<'_, '_> {
    /// Begins a row, after the batch is passed on if it is full.
    #[inline]
    fn row(&mut self) -> Result<Row<'_>> {
        if self.batch.is_full() {
            (self.f)(&self.batch)?;
            self.batch = self.source.batch(self.batch.table());
        }
        Ok(self.batch.row())
    }

    fn finish(self) -> Result<()> {
        if self.batch.len() > 0 { (self.f)(&self.batch) } else { Ok(()) }
    }
}

/// Lists the parts: tables in order, services by name, days ascending.
fn parts<S>(segment: &Segment<S>) -> Vec<Part> {
    let rows = &segment.rows;
    let text = |id: StringId| rows.interner.dictionary.text(id);
    let is_divided = segment.options.partition != Partition::None;
    let mut groups: Vec<usize> = (0..rows.groups.len()).collect();
    groups.sort_by_key(|group| text(rows.groups[*group].service));
    let mut folders = vec![String::new(); groups.len()];
    let mut names = Folders::default();
    for &group in groups.iter().filter(|_| is_divided) {
        folders[group] = format!("/service={}", names.name(text(rows.groups[group].service)));
    }
    let mut by_group = vec![Vec::new(); groups.len()];
    for (row, head) in (0..).zip(&rows.heads) {
        by_group[head.group as usize].push(row);
    }
    let mut parts = Vec::new();
    for table in Table::ALL {
        for &group in &groups {
            let of = &rows.groups[group];
            let service = is_divided.then(|| text(of.service).to_owned());
            let heads = &by_group[group];
            let part = |heads: Vec<u32>, date: Option<String>| {
                let (service, folder) = (service.clone(), &folders[group]);
                let day = date.as_ref().map_or(String::new(), |date| format!("/date={date}"));
                let directory = format!("{}{folder}{day}", table.name());
                Part { table, service, date, directory, group, heads }
            };
            match table {
                Table::Mappings if of.mappings.is_empty() => {}
                Table::Stacks if of.stacks.is_empty() => {}
                Table::Mappings | Table::Stacks => parts.push(part(Vec::new(), None)),
                Table::Profiles => parts.push(part(heads.clone(), None)),
                Table::Samples => {
                    let mut heads: Vec<u32> = heads.clone();
                    heads.retain(|row| rows.heads[*row as usize].samples > 0);
                    let by_day = segment.options.partition == Partition::ServiceDate;
                    let day = |row: &u32| if by_day { rows.heads[*row as usize].day() } else { 0 };
                    heads.sort_by(|a, b| day(a).cmp(&day(b)).then_with(|| in_order(rows, *a, *b)));
                    let days = heads.chunk_by(|a, b| day(a) == day(b));
                    let civil = |row: &u32| by_day.then(|| civil(day(row)));
                    parts.extend(days.map(|heads| part(heads.to_vec(), civil(&heads[0]))));
                }
            }
        }
    }
    parts
}

/// Compares rows of the table of profiles by the order of their samples.
fn in_order(rows: &SegmentRows, a: u32, b: u32) -> Ordering {
    let text = |id: StringId| rows.interner.dictionary.text(id);
    let key = |row: u32| {
        let head = &rows.heads[row as usize];
        (text(head.origin.service), text(head.name), head.micros(), row)
    };
    key(a).cmp(&key(b))
}

/// Returns the date of a day, counted from 1970-01-01.
fn civil(day: i64) -> String {
    let [year, month, day] = date(day);
    format!("{year:04}-{month:02}-{day:02}")
}
