//! The parts of a measurement: tables, fields, strings, stacks, and the compact layout.

use crate::losses::Losses;

/// The bytes of a table: all rows of a repeated field, or a field outside the tables.
///
/// ```
/// use otlp_profiles::ReadOptions;
/// use otlp_profiles::summary::Sizes;
///
/// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let sizes = Sizes::of(&file, &ReadOptions::default())?;
/// let locations = sizes.tables().iter().find(|table| table.field == "location").unwrap();
/// assert_eq!(locations.message, "Profile");
/// assert_eq!(locations.fields.iter().map(|field| field.bytes).sum::<u64>(), locations.bytes);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TableSize {
    /// The message that contains the field, by its name in the schema: `ProfilesDictionary`.
    pub message: &'static str,
    /// The field's name in the schema: `string_table`. `unknown` for all fields that the schema lacks.
    pub field: &'static str,
    /// The number of occurrences.
    pub rows: u64,
    /// Its bytes. A message that contains tables counts only its tags and lengths here.
    pub bytes: u64,
    /// The bytes that the gzip of the payload at level 6 saves without this table. `None` if not
    /// measured: for messages that contain tables, and for all but the 20 largest tables and fields.
    #[cfg_attr(feature = "serde", serde(rename = "in_gzip"))]
    pub gzip: Option<i64>,
    /// The fields of its rows, the largest first; empty if it has no fields.
    pub fields: Vec<FieldSize>,
}

/// The bytes of a field of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FieldSize {
    /// The name of the field, after the names of its enclosing messages: `lines.function_index`. Empty for the rows
    /// themselves.
    pub path: String,
    /// Whether the field is a message. Its bytes are then only its tags and lengths.
    pub is_message: bool,
    /// The number of occurrences. A packed list counts once.
    pub times: u64,
    /// Its bytes: tags, lengths and values.
    pub bytes: u64,
    /// The same as [`TableSize::gzip`], for this field.
    #[cfg_attr(feature = "serde", serde(rename = "in_gzip"))]
    pub gzip: Option<i64>,
}

/// A large string.
///
/// ```
/// use otlp_profiles::ReadOptions;
/// use otlp_profiles::summary::Sizes;
///
/// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let sizes = Sizes::of(&file, &ReadOptions::default())?;
/// let longest = &sizes.strings()[0];
/// assert_eq!(longest.field, "Profile.string_table");
/// assert!(sizes.strings().is_sorted_by(|one, other| one.bytes >= other.bytes));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StringSize {
    /// The path of the field: `ProfilesDictionary.string_table`.
    pub field: String,
    /// The index of the string among all strings of the field, from 0.
    pub row: u64,
    /// Its bytes, without tag and length.
    pub bytes: u64,
    /// Its first 80 characters or fewer. Invalid UTF-8 is replaced.
    pub start: String,
}

/// A large stack.
///
/// ```
/// use otlp_profiles::ReadOptions;
/// use otlp_profiles::summary::Sizes;
///
/// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let sizes = Sizes::of(&file, &ReadOptions::default())?;
/// assert!(sizes.stacks()[0].depth >= sizes.stacks()[1].depth);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StackSize {
    /// The number of locations.
    pub depth: u64,
    /// The bytes of one occurrence: of a row of the stack table, a sample's list of locations, or a slice of a
    /// shared list.
    pub bytes: u64,
    /// The number of occurrences. For a slice, the number of samples with it.
    pub times: u64,
}

/// The size of a payload in the same format as [`Layout::Compact`](crate::format::Layout::Compact) writes it.
///
/// ```
/// use otlp_profiles::summary::Sizes;
/// use otlp_profiles::{ReadOptions, Verdict};
///
/// let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let sizes = Sizes::of(&file, &ReadOptions::default())?;
/// let compact = sizes.compact().expect("pprof can be written");
/// println!("{} bytes gzipped instead of {}", compact.gzipped, sizes.gzipped());
/// assert!(compact.losses.verdict() <= Verdict::Semantic);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CompactSize {
    /// Its bytes.
    pub bytes: u64,
    /// Its bytes as gzip of level 9, as the command's `--compact` writes it.
    #[cfg_attr(feature = "serde", serde(rename = "gzipped_bytes"))]
    pub gzipped: u64,
    /// The losses of writing it.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serialize::codes"))]
    pub losses: Losses,
}
