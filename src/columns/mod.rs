//! Profiles as tables, for engines that query thousands of them.
//!
//! ```text
//! Profiles ─► Segment ─► Tables ─► batches of rows ─► Parquet, Arrow, CSV
//! ```
//!
//! A dataset has four tables: [`Table::Samples`] refers to [`Table::Stacks`] and [`Table::Profiles`], and stacks to
//! [`Table::Mappings`]. Ids are unique to the segment that one run adds, so a plain join is always right, and
//! segments may be copied into one directory. [`Table::columns`] declares the columns;
//! [docs/EXPORT.md](https://github.com/otlp-profiles/otlp-profiles/blob/main/docs/EXPORT.md) describes them.
//!
//! [`tables()`] arranges profiles in memory. A [`Segment`] takes any number of payloads, one after the other, and keeps
//! their samples in a temporary file. A `Dataset` is the directory that receives it.
//!
//! ```
//! use otlp_profiles::columns::{Table, tables};
//!
//! let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
//! let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! let mut tables = tables(&[profiles])?;
//! for part in tables.parts().to_vec() {
//!     println!("{}, sorted by {:?}", part.path(tables.id(), "parquet"), part.table.sorted_by());
//!     tables.each(&part, |batch| {
//!         assert_eq!(batch.columns().len(), part.table.columns().len());
//!         Ok(())
//!     })?;
//! }
//! # Ok::<(), otlp_profiles::Error>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
mod batch;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod dataset;
mod exact;
mod folders;
#[cfg(feature = "parquet")]
mod get;
#[cfg(feature = "parquet")]
mod headers;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod restore;
#[cfg(feature = "parquet")]
mod restored;
mod rows;
mod schema;
mod segment;
mod segment_rows;
mod spill;
mod tables;
#[cfg(feature = "parquet")]
mod texts;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(feature = "parquet")]
mod write;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowWriter, arrow_schema, record_batches};
pub use batch::{Array, BATCH_ROWS, Batch, Values};
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub use dataset::{Dataset, TableFormat, hash_of, segment_id, write_part};
#[cfg(feature = "parquet")]
pub use restore::{SegmentFiles, restore};
#[cfg(feature = "parquet")]
pub use restored::{ProfileRow, Restored};
pub use schema::{Column, Encoding, Kind, SCHEMA_VERSION, Table};
pub use segment::{Partition, Segment, SegmentOptions};
pub use tables::{Part, Tables, tables};
#[cfg(feature = "parquet")]
pub use write::{PageCompression, ParquetWriter};
