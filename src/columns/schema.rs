//! The declaration of all tables and columns. Schemas, headers and docs/EXPORT.md derive from it.

use std::fmt;

#[cfg(feature = "parquet")]
use crate::schema::is_equal;

/// The version of the schema, as in the metadata of files. New versions only add columns.
pub const SCHEMA_VERSION: u32 = 1;

/// The key of the version of the schema in the metadata of a file.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) const SCHEMA_KEY: &str = "otlp_profiles.schema";
/// The key of the number of bytes before the footer of a Parquet file, and of their hash.
#[cfg(feature = "parquet")]
pub(super) const HASH_KEY: &str = "otlp_profiles.xxh3";
/// The key of the id of the segment.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) const SEGMENT_KEY: &str = "otlp_profiles.segment";

/// A table of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row for each mapping that a stack refers to.
    Mappings,
    /// One row for each stack that a sample refers to.
    Stacks,
    /// One row for each sample type of each profile.
    Profiles,
    /// One row for each sample type of each sample.
    Samples,
}

impl Table {
    /// All tables, each after those that it refers to.
    pub const ALL: [Self; 4] = [Self::Mappings, Self::Stacks, Self::Profiles, Self::Samples];

    /// Returns the name of the table, which is also the name of its directory.
    ///
    /// ```
    /// assert_eq!(otlp_profiles::columns::Table::Samples.name(), "samples");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mappings => "mappings",
            Self::Stacks => "stacks",
            Self::Profiles => "profiles",
            Self::Samples => "samples",
        }
    }

    /// Returns the columns in order.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Mappings => MAPPINGS,
            Self::Stacks => STACKS,
            Self::Profiles => PROFILES,
            Self::Samples => SAMPLES,
        }
    }

    /// Returns the position of a column. In a constant, a name without a column does not compile.
    #[cfg(feature = "parquet")]
    pub(super) const fn position(self, name: &str) -> usize {
        let columns = self.columns();
        let mut at = 0;
        while !is_equal(columns[at].name, name) {
            at += 1;
        }
        at
    }

    /// Returns the columns that the rows of a file are sorted by.
    pub const fn sorted_by(self) -> &'static [&'static str] {
        match self {
            Self::Mappings => &["mapping_id"],
            Self::Stacks => &["stack_id"],
            Self::Profiles => &["profile_key"],
            Self::Samples => &["service_name", "type", "time", "profile_key", "sample_index"],
        }
    }
}

/// The type of a value, or of the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A boolean.
    Bool,
    /// A signed integer of 32 bits.
    Int32,
    /// A signed integer of 64 bits.
    Int64,
    /// An unsigned integer of 64 bits.
    UInt64,
    /// Microseconds since 1970, UTC.
    Time,
    /// UTF-8 text.
    Text,
    /// 16 bytes that identify a row: 12 of the segment, 4 of the row, big endian. Stored with a fixed length, except
    /// in lists, where pandas does not read it.
    Id,
    /// Bytes.
    Bytes,
    /// A map from text to text.
    Map,
}

/// How Parquet stores a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A dictionary of the distinct values. Integers fall back to deltas if it becomes too large.
    Dictionary,
    /// The differences of successive integers.
    Delta,
    /// The values one after the other.
    Plain,
}

/// A column of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name: a term of OTLP in snake case.
    pub name: &'static str,
    /// The type of a value; for lists, of each item.
    pub kind: Kind,
    /// Whether a value is a list.
    pub is_list: bool,
    /// Whether values may be null.
    pub is_nullable: bool,
    /// Whether items of the lists may be null.
    pub has_nullable_items: bool,
    /// The encoding in Parquet.
    pub encoding: Encoding,
    /// A short description.
    pub about: &'static str,
}

/// Displays the type as in docs/EXPORT.md: `LIST<STRING>?`, where `?` marks what may be null.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Bool => "BOOLEAN",
            Kind::Int32 => "INT32",
            Kind::Int64 => "INT64",
            Kind::UInt64 => "UINT64",
            Kind::Time => "TIMESTAMP",
            Kind::Text => "STRING",
            Kind::Id if self.is_list => "BINARY",
            Kind::Id => "FIXED(16)",
            Kind::Bytes => "BINARY",
            Kind::Map => "MAP<STRING,STRING>",
        };
        let mark = |is_nullable| if is_nullable { "?" } else { "" };
        match self.is_list {
            true => write!(f, "LIST<{kind}{}>", mark(self.has_nullable_items))?,
            false => f.write_str(kind)?,
        }
        f.write_str(mark(self.is_nullable))
    }
}

const fn of(name: &'static str, kind: Kind, encoding: Encoding, about: &'static str) -> Column {
    let (is_list, is_nullable, has_nullable_items) = (false, false, false);
    Column { name, kind, is_list, is_nullable, has_nullable_items, encoding, about }
}

/// A column with a dictionary, the most frequent case.
const fn dict(name: &'static str, kind: Kind, about: &'static str) -> Column {
    of(name, kind, Encoding::Dictionary, about)
}

impl Column {
    const fn optional(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    const fn list(self) -> Self {
        Self { is_list: true, ..self }
    }

    const fn nullable_items(self) -> Self {
        Self { has_nullable_items: true, ..self }
    }
}

use Encoding::{Delta, Plain};
use Kind::{Bool, Bytes, Id, Int32, Int64, Map, Text, Time, UInt64};

const SAMPLES: &[Column] = &[
    dict("service_name", Text, "`service.name` of the resource; empty if missing"),
    dict("service_version", Text, "`service.version` of the resource").optional(),
    dict("type", Text, "sample type, such as `cpu`"),
    dict("unit", Text, "its unit, such as `nanoseconds`"),
    dict("time", Time, "start of the profile, for engines; null: unknown").optional(),
    dict("time_unix_nano", Int64, "start of the profile, exact; 0: unknown"),
    dict("profile_key", Id, "joins `profiles`"),
    of("sample_index", Int32, Delta, "position of the sample in its profile"),
    dict("type_index", Int32, "position of the sample type in its profile"),
    dict("stack_id", Id, "joins `stacks`"),
    dict("value", Int64, "sum of `values`; number of timestamps if there are no values"),
    of("values", Int64, Delta, "null: exactly `[value]`, and no timestamps").list().optional(),
    of("timestamps", Int64, Delta, "nanoseconds since 1970").list().optional(),
    dict("trace_id", Text, "the trace of the link, hex").optional(),
    dict("span_id", Text, "the span of the link, hex").optional(),
    dict("attributes", Map, "all attributes, values as text"),
    dict("attributes_exact", Bytes, "null: all values are texts without unit").optional(),
];

const STACKS: &[Column] = &[
    of("stack_id", Id, Plain, "joins `samples`"),
    dict("function_names", Text, "null item: no line; empty: no name").list().nullable_items(),
    dict("system_names", Text, "null: equal to `function_names`").list().optional(),
    dict("filenames", Text, "source files").list().optional(),
    dict("frame_types", Text, "attribute `profile.frame.type`").list().optional(),
    dict("lines", Int64, "0: unknown").list().optional(),
    dict("columns", Int64, "0: unknown").list().optional(),
    dict("start_lines", Int64, "line where the function begins; 0: unknown").list().optional(),
    dict("inlined", Bool, "true: inlined into the next; a location ends at false")
        .list()
        .optional(),
    dict("addresses", UInt64, "0: unknown").list().optional(),
    dict("mapping_filenames", Text, "binaries").list().optional(),
    dict("build_ids", Text, "build ids of the binaries").list().optional(),
    dict("mapping_ids", Id, "joins `mappings`; null item: no mapping").list().nullable_items(),
    dict("location_attributes", Bytes, "other attributes of locations, as `attributes_exact`")
        .list()
        .optional(),
];

const MAPPINGS: &[Column] = &[
    of("mapping_id", Id, Plain, "joins `stacks`"),
    dict("memory_start", UInt64, "address where the mapping begins"),
    dict("memory_limit", UInt64, "address where it ends"),
    dict("file_offset", UInt64, "offset in the binary"),
    dict("filename", Text, "the binary"),
    dict("build_id", Text, "build id of the binary").optional(),
    dict("attributes", Map, "all attributes, values as text"),
    dict("attributes_exact", Bytes, "null: all values are texts without unit").optional(),
];

const PROFILES: &[Column] = &[
    of("profile_key", Id, Plain, "joins `samples`"),
    dict("type_index", Int32, "position of the sample type in its profile"),
    dict("profile_id", Text, "hex").optional(),
    dict("time", Time, "start, for engines; null: unknown").optional(),
    dict("time_unix_nano", Int64, "start, exact; 0: unknown"),
    dict("duration_nano", Int64, "duration; 0: unknown"),
    dict("type", Text, "sample type"),
    dict("unit", Text, "its unit"),
    dict("temporality", Int32, "1: delta, 2: cumulative").optional(),
    dict("default_sample_type", Text, "as pprof has it").optional(),
    dict("period_type", Text, "what is counted between samples"),
    dict("period_unit", Text, "its unit"),
    dict("period", Int64, "events between two samples; 0: unknown"),
    dict("service_name", Text, "`service.name` of the resource; empty if missing"),
    dict("service_version", Text, "`service.version` of the resource").optional(),
    dict("host_name", Text, "`host.name` of the resource").optional(),
    dict("resource_attributes", Map, "values as text"),
    dict("scope_attributes", Map, "values as text"),
    dict("attributes", Map, "values as text"),
    dict("scope_name", Text, "the profiler"),
    dict("scope_version", Text, "its version"),
    dict("sample_count", Int64, "samples of the profile"),
    dict("value_sum", Int64, "sum of `value`, at most 2⁶³−1"),
    dict("input", Text, "name of the file"),
    dict("format", Text, "format of the file, such as `otlp-1.7`"),
    dict("exact", Bytes, "null: the columns hold everything; else OTLP 1.10").optional(),
];
