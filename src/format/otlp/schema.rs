//! What differs between the generations of OTLP profiles, as numbers.

/// One generation: its field numbers (0: it has no such field), and how it says what all say.
///
/// The reader and the writer are generic over a constant schema, so these numbers are constants
/// of the machine code. The newest generation's file states the whole; each older one what differs.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// `otlp-1.10`.
    pub name: &'static str,
    /// Where the lookup tables live.
    pub home: Home,
    /// How table rows are referred to.
    pub rows: Rows,
    pub tables: Tables,
    pub container: Container,
    pub profile: Profile,
    pub sample: Sample,
    pub mapping: Mapping,
    pub location: Location,
    pub function: Function,
    /// `KeyValue.key_strindex` and `AnyValue.string_value_strindex`.
    pub key_strindex: u32,
    pub string_value_strindex: u32,
    /// `Resource.entity_refs`.
    pub entity_refs: u32,
    /// `ValueType.aggregation_temporality`.
    pub temporality: u32,
}

/// Where the lookup tables live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In every profile.
    Profile,
    /// In `ProfilesData` itself, which export requests lack.
    Data,
    /// In `ProfilesDictionary`, field 2.
    Dictionary,
}

/// How table rows are referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Row 0 is a row like any other, and a reference left out is a reference to it.
    FromZero,
    /// Row 0 is a row like any other; mapping and link references say whether they are there.
    Presence,
    /// Row 0 of every table is the empty row.
    NullFirst,
}

/// The tables, in the message that holds them.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    pub mapping: u32,
    pub location: u32,
    pub function: u32,
    pub link: u32,
    pub string: u32,
    pub attribute: u32,
    /// `AttributeUnit`s: units by key. Where absent, an attribute carries its unit.
    pub attribute_units: u32,
    /// Where absent, samples refer to slices of `Profile.location_indices`.
    pub stack: u32,
}

/// `ProfileContainer`: only OTEP 0239 has it.
#[derive(Clone, Copy, Debug)]
pub struct Container {
    pub profile_id: u32,
    pub start: u32,
    pub end: u32,
    pub attributes: u32,
    pub dropped_attributes_count: u32,
    pub original_payload_format: u32,
    pub original_payload: u32,
    pub profile: u32,
}

impl Container {
    pub const NONE: Self = Self {
        profile_id: 0,
        start: 0,
        end: 0,
        attributes: 0,
        dropped_attributes_count: 0,
        original_payload_format: 0,
        original_payload: 0,
        profile: 0,
    };
}

#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub sample_type: u32,
    pub samples: u32,
    pub location_indices: u32,
    pub time: u32,
    pub duration: u32,
    /// Time is fixed64 and duration uint64, not int64 both.
    pub unsigned_time: bool,
    pub period_type: u32,
    pub period: u32,
    pub comment: u32,
    pub default_sample_type: u32,
    /// The default is a string index, not a column's number.
    pub default_by_name: bool,
    pub drop_frames: u32,
    pub keep_frames: u32,
    pub profile_id: u32,
    /// Attributes in place.
    pub attributes: u32,
    pub dropped_attributes_count: u32,
    pub original_payload_format: u32,
    pub original_payload: u32,
    pub attribute_indices: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub location_index: u32,
    pub label: u32,
    pub slice_start: u32,
    pub slice_length: u32,
    pub stack: u32,
    pub values: u32,
    pub attributes: u32,
    pub link: u32,
    pub timestamps: u32,
    /// Timestamps are fixed64, not varints.
    pub fixed_timestamps: bool,
    pub stacktrace_id: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub id: u32,
    pub memory_start: u32,
    pub memory_limit: u32,
    pub file_offset: u32,
    pub filename: u32,
    pub build_id: u32,
    pub build_id_kind: u32,
    /// `has_functions`; `has_filenames`, `has_line_numbers` and `has_inline_frames` follow it.
    pub has_functions: u32,
    pub attributes: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Location {
    pub id: u32,
    pub mapping: u32,
    pub address: u32,
    pub lines: u32,
    pub is_folded: u32,
    pub frame_type: u32,
    pub attributes: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub id: u32,
    pub name: u32,
    pub system_name: u32,
    pub filename: u32,
    pub start_line: u32,
}

/// A generation, as a type: what the reader and the writer are generic over.
pub trait Generation: Sync + 'static {
    const SCHEMA: Schema;
}
