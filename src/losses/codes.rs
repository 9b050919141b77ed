//! The table of loss codes: name, kind and description of each.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// How serious a loss is, in ascending order.
///
/// Each [`LossCode`] has a fixed kind. The worst kind determines the [`Verdict`](crate::Verdict).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum LossKind {
    /// Tables were changed; the data is the same.
    Note,
    /// The source has no value, and a rule chose one.
    Synthesized,
    /// A value was kept in another form.
    Approximated,
    /// Data is missing from the output.
    Dropped,
    /// Malformed input was repaired, under [`Policy::Repair`](crate::Policy).
    Rejected,
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Synthesized => "synthesized",
            Self::Approximated => "approximated",
            Self::Dropped => "dropped",
            Self::Rejected => "rejected",
        })
    }
}

/// A stable name for a kind of loss, with its severity and a description.
///
/// `docs/LOSSES.md` lists the formats that report each code, with examples.
///
/// ```
/// use otlp_profiles::losses::{LossCode, LossKind};
///
/// let code: LossCode = "temporality.dropped".parse()?;
/// assert_eq!(code.kind(), LossKind::Dropped);
/// assert_eq!(code.meaning(), "the aggregation temporality was dropped");
/// assert!(LossCode::ALL.contains(&code));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LossCode {
    code: &'static str,
    kind: LossKind,
    meaning: &'static str,
}

impl LossCode {
    /// Returns the name, such as `temporality.dropped`.
    pub const fn as_str(self) -> &'static str {
        self.code
    }

    /// Returns how serious the loss is.
    pub const fn kind(self) -> LossKind {
        self.kind
    }

    /// Returns a short description of the loss.
    pub const fn meaning(self) -> &'static str {
        self.meaning
    }
}

impl LossCode {
    /// Returns what a repair does with the malformed data.
    pub(crate) fn repair(self) -> &'static str {
        match self {
            VALUE_COUNT => "drops the sample",
            BAD_LINE => "skips it",
            BAD_ID => "drops the id",
            EQUAL_ID => "keeps one entry",
            BAD_STRING_INDEX => "takes an empty string",
            INVALID_UTF8 => "replaces the bytes by U+FFFD",
            ROW_0 => "repairs row 0",
            DANGLING_LOCATION | DANGLING_FUNCTION | DANGLING_MAPPING | INDEX_OUT_OF_RANGE => {
                "drops the reference"
            }
            _ => "reads the rest",
        }
    }
}

impl fmt::Display for LossCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for LossCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code)
    }
}

impl fmt::Debug for LossCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LossCode({})", self.code)
    }
}

impl FromStr for LossCode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|code| code.code == name);
        let unknown = || Error::new(ErrorKind::Unrecognised, format!("unknown loss code {name:?}"));
        found.ok_or_else(unknown)
    }
}

macro_rules! codes {
    ($($kind:ident { $($name:ident = $code:literal: $when:literal;)* })*) => {
        $($(
            #[doc = $when]
            pub(crate) const $name: LossCode =
                LossCode { code: $code, kind: LossKind::$kind, meaning: $when };
        )*)*

        impl LossCode {
            /// All codes, ordered by [`LossKind`], the least serious first.
            pub const ALL: &'static [Self] = &[$($($name,)*)*];
        }
    };
}

codes! {
    Note {
        IDS_RENUMBERED = "ids.renumbered": "ids that were not 1, 2, 3, … were renumbered";
        DEDUP_MAPPING = "dedup.mapping": "equal mappings were merged";
        DEDUP_LOCATION = "dedup.location": "equal locations were merged";
        DEDUP_FUNCTION = "dedup.function": "equal functions were merged";
        ATTR_ROW_0 = "attr.row_0": "references to attribute 0, which means no attribute, were dropped";
        TIMESTAMP_LABEL_UNUSED = "timestamps.label_unused": "no label has the key that was to be read as a timestamp";
        VALUE_NEGATIVE = "value.negative": "a negative value was kept";
        LINK_AS_ATTRIBUTE = "link.as_attribute": "a trace id or span id that is not a valid link was kept as an attribute";
        TIMESTAMP_AS_ATTRIBUTE = "timestamps.as_attribute": "a label that cannot be read as a timestamp was kept as an attribute";
        ATTR_EMPTY_FIELD = "attr.empty_field": "an attribute for a field of pprof was an empty string, which equals the unset field: it was left out";
        BUILD_ID_UNKNOWN = "mapping.build_id_unknown": "the build id was the text `unknown`: it was left out";
        EVENT_OUTSIDE = "event.outside": "an event is outside the time range of its profile";
        EVENT_CLOCK_ATTRIBUTE = "event.clock_attribute": "an attribute of a clock was moved to its profile";
        EVENT_UNIT = "event.unit": "a unit of events is not a UCUM unit";
        EVENT_DEFAULT_UNUSED = "event.default_unused": "no event uses the default value of its type";
        ATTR_DUPLICATE_KEY = "attr.duplicate_key": "an event has several attributes with the same key";
        PROFILE_SPLIT = "profile.split": "samples with and without timestamps were split into two profiles";
        STACK_HANDLER = "stack.handler": "the address of the profiler's signal handler was dropped from all stacks";
        MAPPING_REBASED = "mapping.rebased": "a binary was loaded at several addresses: its locations were moved to one of them";
        UNIT_CONVERTED = "unit.converted": "values were converted to a finer unit of the same family";
        PROFILE_REPEATED = "profile.repeated": "a profile with the same id and contents occurred before: it was not added again";
        ORPHAN_DROPPED = "orphan.dropped": "table rows without references were dropped";
    }
    Synthesized {
        DELTA_RESET = "delta.reset": "a total fell between two snapshots or has a later start, so the process was restarted, or it is gone: later totals are the changes";
        DEFAULT_SYNTHESIZED = "default.synthesized": "the default sample type was set to that of the first profile";
        DEFAULT_NO_MATCH = "default.no_match": "the default sample type is not among the sample types";
        PROFILE_ID_SYNTHESIZED = "profile_id.synthesized": "the generation requires a profile id: it was computed from the content";
        PROFILE_ID_FIRST = "profile_id.first_only": "a profile with several sample types became several profiles: only the first keeps the profile id";
        ID_BASE64 = "json.id_base64": "an id was base64 instead of hexadecimal digits: it was decoded";
        TEMPORALITY_ASSUMED = "temporality.assumed": "the generation requires an aggregation temporality: it was inferred from the sample type";
        FLAGS_INFERRED = "mapping.flags_inferred": "the `has_*` flags of a mapping were unknown: they were inferred from its locations";
        BUILD_ID_GUESS = "mapping.build_id_guess": "a build id of unknown kind was read as a GNU build id";
        MAIN_ASSUMED = "mapping.main_assumed": "the main binary is unknown: the first mapping that is not a library was written first";
        FUNCTION_SYNTHESIZED = "function.empty_synthesized": "a line without a function got an empty function";
        G1_ZERO_MAPPING = "g1.zero_mapping": "mapping index 0 was read as the first mapping";
        G1_NO_MAPPING = "g1.no_mapping": "mapping index 0 was read as no mapping: the address is outside the first mapping";
        G1_ZERO_LINK = "g1.zero_link": "link index 0 was read as no link, although the first link is valid";
        G1_ONE_BASED = "g1.one_based": "indices were read as starting from 1";
        G1_TIMESTAMP_UNIT = "g1.timestamp_unit": "timestamps were read as nanoseconds, although only another unit puts them inside the profile's time range";
        TOTAL_NOT_DIVIDED = "split.total_not_divided": "a total that spans several time windows went to the first";
        TIME_UNKNOWN = "time.unknown": "some of the merged profiles have no start time: the others determine it";
        UNIT_KILOBYTE = "unit.kilobyte": "a unit such as kB was converted as a power of 1024";
        FRAME_UNCLOSED = "frame.unclosed": "a frame without an end was closed at the end of its profile";
        LABEL_MIXED = "label.mixed": "labels with the same key and different types became one list of pairs";
        LABEL_PAIRS = "label.pairs": "an attribute with a list of pairs was written as several labels";
        LABEL_ZERO = "label.zero_or_empty": "a label is the number 0 or an empty string: pprof cannot represent the difference";
        ROW_0_UNUSED = "table.row_0_unused": "the first row of a table, to which nothing refers, was not empty: it was emptied";
    }
    Approximated {
        INVALID_UTF8 = "string.invalid_utf8": "invalid UTF-8 was replaced by U+FFFD";
        DEFAULT_AMBIGUOUS = "default.ambiguous": "the default sample type shares its name with another: the first type with the name became the default";
        TIME_COARSE = "time.coarse": "times are based on a date in whole seconds of an unknown time zone, read as UTC";
        TIME_NEGATIVE = "time.negative": "a negative time or duration was set to 0";
        TIME_OVERFLOW = "time.overflow": "a time or duration beyond 2⁶³ ns was set to the maximum";
        POINT_UNMATCHED = "point.unmatched": "a point without a start or a stop got the duration 0";
        POINT_SKEWED = "point.skewed": "a point that stops before it starts got the duration 0";
        EVENT_SUM_CONFLICT = "event.sum_conflict": "an event has a sum and a different value: the sum was read";
        VALUE_UNSIGNED = "value.unsigned": "a negative value was set to 0: the format has unsigned values only";
        VALUE_ROUNDED = "value.rounded": "a value with a fraction was rounded to an integer of its unit";
        TIME_CONFLICT = "time.conflict": "two fields have different times: the inner one was read";
        VALUE_OVERFLOW = "value.overflow": "a sum beyond 2⁶³ was set to the maximum";
        STACK_LOCATION_0 = "stack.location_0": "a frame with location 0, which means no location, became an unknown location";
        VALUE_SPLIT = "timestamps.value_split": "a total was divided among its timestamps";
        ATTR_BOOL = "attr.type_bool": "a boolean was written as a string";
        ATTR_DOUBLE = "attr.type_double": "a floating-point number was written as a string";
        ATTR_BYTES = "attr.type_bytes": "bytes were written as a string of hexadecimal digits";
        ATTR_KVLIST = "attr.type_kvlist": "a list of pairs was written as JSON";
        ATTR_ARRAY1 = "attr.array1": "a list with one element was written as the element";
        ATTR_EMPTY_STRING = "attr.empty_string": "an empty string is read back as the integer 0";
        ATTR_UNIT_ON_STRING = "attr.unit_on_string": "the unit of a string was dropped";
        UNIT_KEY_CONFLICT = "unit.key_conflict": "a key has several units, and the generation has one unit for each key";
        UNIT_DUPLICATE = "unit.duplicate": "a key has two units: the first one was kept";
        COLUMNS_ZERO_FILLED = "columns.zero_filled": "a sample without a value got the value 0";
        COLUMNS_UNREAD = "columns.unread": "most lines end with several numbers and only the last was read: `--columns 2` reads two";
        LINK_HALF = "link.half": "a link has only a trace id or only a span id: the other was set to zero";
        SNAPSHOTS_SUMMED = "merge.snapshots_summed": "snapshots of one resource at several times were added up: the sum is not a state of the resource";
        PROFILES_MERGED = "profiles.merged": "the samples of several profiles were merged, or a profile without samples was dropped";
        FRAME_TEXT = "frame.text": "a separator of frames or lines in a name was replaced";
        STACK_EMPTY = "stack.empty": "a stack without frames became an unknown frame";
        INLINE_SPREAD = "location.inline_spread": "inlined functions were written as ordinary frames";
        SERIES_EXPANDED = "series.expanded": "several values without timestamps became several samples";
    }
    Dropped {
        TIME_NO_ANCHOR = "time.no_anchor": "times relative to an unknown start were dropped";
        LEFT_OUT = "source.left_out": "data without a place in the model, or that needs an option, was dropped";
        SAMPLE_TYPE_DROPPED = "sample_type.dropped": "the names or units of sample types were dropped";
        SAMPLE_TYPE_LEFT_OUT = "sample_type.left_out": "a sample type was dropped with its values: others were requested";
        COLUMNS_DROPPED = "columns.dropped": "a sample type that not all profiles have was dropped with its values";
        DELTA_FIRST = "delta.first": "a profile without an earlier snapshot was dropped";
        OUT_OF_ORDER = "profile.out_of_order": "a profile older than its predecessor was dropped";
        DERIVE_UNDEFINED = "derive.undefined": "a computed value is undefined, by a division by zero, a missing attribute or a missing sample type: the sample was left out";
        RATE_NO_DURATION = "rate.no_duration": "a profile without a duration has no rate: its values were kept";
        VALUE_ZERO_DROPPED = "value.zero_dropped": "samples without a value other than 0 were dropped";
        DEFAULT_DROPPED = "default.dropped": "merged profiles have different default sample types: only one was kept";
        VALUE_NEGATIVE_DROPPED = "value.negative_dropped": "samples with negative values were dropped";
        EVENT_COUNT_DROPPED = "event.count_dropped": "the number of events in a value was dropped";
        EVENT_CLOCK_DROPPED = "event.clock_dropped": "the clock of timestamps was dropped";
        PERIOD_DROPPED = "period.dropped": "the sampling period was dropped";
        TIME_DROPPED = "time.dropped": "the start time or the duration was dropped";
        ADDRESS_DROPPED = "location.address_dropped": "addresses were dropped";
        MAPPING_DROPPED = "mapping.dropped": "mappings were dropped";
        SOURCE_DROPPED = "function.source_dropped": "file names or line numbers were dropped";
        SYSTEM_NAME_DROPPED = "function.system_name_dropped": "the mangled name of a function was dropped";
        ATTR_SAMPLE_DROPPED = "attr.sample.dropped": "attributes of samples were dropped";
        ATTR_UNIT_DROPPED = "attr.unit_dropped": "the units of attributes were dropped";
        LINK_DROPPED = "link.dropped": "links to spans were dropped";
        RESOURCE_DROPPED = "resource.dropped": "attributes of the resource were dropped";
        SCOPE_DROPPED = "scope.dropped": "the instrumentation scope was dropped";
        SCHEMA_URL_DROPPED = "schema_url.dropped": "a schema URL was dropped";
        ENTITY_REFS_DROPPED = "entity_refs.dropped": "references to entities were dropped";
        PROFILE_ID_DROPPED = "profile_id.dropped": "a profile id was dropped";
        DROPPED_COUNT_DROPPED = "dropped_count.dropped": "a count of dropped attributes was dropped";
        ORIGINAL_DROPPED = "original.dropped": "the original payload was dropped";
        TEMPORALITY_DROPPED = "temporality.dropped": "the aggregation temporality was dropped";
        TIMESTAMPS_DROPPED = "timestamps.dropped": "timestamps were dropped";
        TIMESTAMP_LABEL_CONFLICT = "timestamps.label_conflict": "an attribute was dropped: its label is needed for a timestamp";
        ATTR_PROFILE_DROPPED = "attr.profile.dropped": "attributes of profiles were dropped";
        ATTR_LOCATION_DROPPED = "attr.location.dropped": "attributes of locations were dropped";
        ATTR_MAPPING_DROPPED = "attr.mapping.dropped": "attributes of mappings were dropped";
        ATTR_EMPTY = "attr.empty": "an attribute without a value was dropped";
        LINK_LABEL_CONFLICT = "link.label_conflict": "a link was dropped: the sample has a label with its key";
        LINK_INVALID = "link.invalid": "a link with ids of the wrong length, or zero, was dropped";
        BUILD_ID_EXTRA = "mapping.build_id_extra": "further build ids of a mapping were dropped: the format has one";
        BUILD_ID_KIND = "mapping.build_id_kind": "the kind of a build id was dropped";
        FIELD_CONFLICT = "field.conflict": "a field was dropped: an attribute with its name has another value";
        STACKTRACE_ID_DROPPED = "stacktrace_id.dropped": "stack trace ids were dropped";
        FRAME_TYPE_DROPPED = "frame_type.dropped": "frame types were dropped";
        BAD_ORDER = "scope.bad_sample_type_order": "the order of sample types does not match the profiles";
        LABEL_STR_AND_NUM = "label.str_and_num": "a label has a string and a number: the string was read";
        UNKNOWN_FIELD = "field.unknown": "an unknown field was dropped";
        DUPLICATE_KEY = "json.duplicate_key": "a key occurs twice, or two cases of a oneof are set: the last one was read";
    }
    Rejected {
        BAD_ID = "pprof.bad_id": "an id is 0 or occurs twice: the row was repaired";
        EQUAL_ID = "pprof.equal_id": "two equal entries have the same id: one was kept";
        DANGLING_LOCATION = "pprof.dangling_location": "a sample refers to a location that does not exist: the frame was dropped";
        DANGLING_FUNCTION = "pprof.dangling_function": "a line refers to a function that does not exist: the reference was dropped";
        DANGLING_MAPPING = "pprof.dangling_mapping": "a location refers to a mapping that does not exist: the reference was dropped";
        BAD_STRING_INDEX = "pprof.bad_string_index": "an index past the end of the string table was read as the empty string";
        LABEL_WITHOUT_KEY = "pprof.label_without_key": "a label without a key was dropped in a repair, as OTLP requires keys";
        VALUE_COUNT = "pprof.value_count": "a sample has more or fewer values than there are sample types: it was dropped";
        ROW_0 = "table.row_0": "the first row of a table was not empty";
        MESSAGE_UNREADABLE = "message.unreadable": "a damaged message was skipped: the others were read";
        BAD_LINE = "text.bad_line": "a line that cannot be parsed was dropped";
        INDEX_OUT_OF_RANGE = "index.out_of_range": "an index past the end of its table was read as no value";
    }
}
