//! The codes of losses: one declaration of what each is called, how much it matters and when it happens.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// How much a loss matters, from the least to the most.
/// Of each [`LossCode`] it is fixed. A [`Verdict`](crate::Verdict) sums it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossKind {
    /// A change of tables that changes no meaning.
    Note,
    /// The source did not say; a rule decided.
    Synthesized,
    /// A value is kept in another form.
    Approximated,
    /// Gone.
    Dropped,
    /// Malformed input, repaired because it was asked for.
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

/// What a loss is called, how much it matters and when it happens. The names are stable.
///
/// `README.md` says which conversion raises which.
///
/// ```
/// use otlp_profiles::losses::{LossCode, LossKind};
///
/// let code: LossCode = "temporality.dropped".parse()?;
/// assert_eq!(code.kind(), LossKind::Dropped);
/// assert_eq!(code.meaning(), "the format has no aggregation temporality");
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
    /// The name, such as `temporality.dropped`.
    pub const fn as_str(self) -> &'static str {
        self.code
    }

    /// How much it matters.
    pub const fn kind(self) -> LossKind {
        self.kind
    }

    /// When it happens, in a few words.
    pub const fn meaning(self) -> &'static str {
        self.meaning
    }
}

impl fmt::Display for LossCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code)
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
        let unknown = || {
            Error::new(
                ErrorKind::Unrecognised,
                format!("unknown loss code {name:?}; docs/LOSSES.md lists them"),
            )
        };
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
            /// Every code there is.
            /// The least of them first, by [`LossKind`].
            pub const ALL: &'static [Self] = &[$($($name,)*)*];
        }
    };
}

codes! {
    Note {
        IDS_RENUMBERED = "ids.renumbered": "ids that were not 1, 2, 3 … became so";
        DEDUP_MAPPING = "dedup.mapping": "equal mappings became one";
        DEDUP_LOCATION = "dedup.location": "equal locations became one";
        DEDUP_FUNCTION = "dedup.function": "equal functions became one";
        ATTR_ROW_0 = "attr.row_0": "a list of attributes had row 0, which stands for none; it was left out";
        TIMESTAMP_LABEL_UNUSED = "timestamps.label_unused": "no label has the name of the one that was to be a time";
        VALUE_NEGATIVE = "value.negative": "a negative value was kept";
        LINK_AS_ATTRIBUTE = "link.as_attribute": "a trace id or a span id that makes no link stayed an attribute";
        TIMESTAMP_AS_ATTRIBUTE = "timestamps.as_attribute": "a label that was to be a time, and cannot be one, stayed an attribute";
        EVENT_OUTSIDE = "event.outside": "an event lies outside the time of its profile";
        EVENT_CLOCK_ATTRIBUTE = "event.clock_attribute": "an attribute of a clock became one of the events counted by it";
        EVENT_UNIT = "event.unit": "a unit of events is none of UCUM";
        EVENT_DEFAULT_UNUSED = "event.default_unused": "no event of a type with a default value rests on it";
        ATTR_DUPLICATE_KEY = "attr.duplicate_key": "an event has several attributes of one key";
        PROFILE_SPLIT = "profile.split": "samples with times and without became two profiles";
        STACK_HANDLER = "stack.handler": "an address that the profiler's handler of signals put into all stacks was left out";
        ORPHAN_DROPPED = "orphan.dropped": "table rows that nothing refers to were left out";
    }
    Synthesized {
        DEFAULT_SYNTHESIZED = "default.synthesized": "the default sample type is that of the first profile";
        DEFAULT_NO_MATCH = "default.no_match": "the default sample type names no sample type";
        PROFILE_ID_SYNTHESIZED = "profile_id.synthesized": "the generation requires a profile id; it was made from the content";
        TEMPORALITY_ASSUMED = "temporality.assumed": "the generation requires a temporality; a rule chose it by the sample type";
        FLAGS_INFERRED = "mapping.flags_inferred": "the mapping's has_* flags were not known: they were inferred from its locations, or none is set";
        BUILD_ID_GUESS = "mapping.build_id_guess": "a build id of no known form was taken for a GNU one";
        MAIN_ASSUMED = "mapping.main_assumed": "of the mappings a profile uses, the first that is no library was taken for the main binary";
        FUNCTION_SYNTHESIZED = "function.empty_synthesized": "a line without a function got an empty one";
        G1_ZERO_MAPPING = "g1.zero_mapping": "mapping index 0 was taken for the first mapping";
        G1_NO_MAPPING = "g1.no_mapping": "mapping index 0 was taken for none, as the address lies outside the first mapping";
        G1_ZERO_LINK = "g1.zero_link": "link index 0 was taken for none, though the first link is a real one";
        G1_ONE_BASED = "g1.one_based": "indices were taken to count from 1";
        G1_TIMESTAMP_UNIT = "g1.timestamp_unit": "timestamps lie outside the profile unless they are not nanoseconds";
        FRAME_UNCLOSED = "frame.unclosed": "a frame that was opened and never closed was taken to be open to the end of its profile";
        LABEL_PAIRS = "label.pairs": "a list of pairs that labels of one kind can say was taken for those labels";
        LABEL_ZERO = "label.zero_or_empty": "a label is a zero number or an empty text; pprof cannot tell which";
    }
    Approximated {
        INVALID_UTF8 = "string.invalid_utf8": "bytes that are not UTF-8 became U+FFFD";
        DEFAULT_AMBIGUOUS = "default.ambiguous": "the default sample type is said by its number and has no name of its own; another is taken for it";
        TIME_COARSE = "time.coarse": "times rest on a date of whole seconds whose time zone is unknown";
        TIME_NEGATIVE = "time.negative": "a negative time or duration became 0";
        TIME_OVERFLOW = "time.overflow": "a time or duration past 2⁶³ was cut there";
        POINT_UNMATCHED = "point.unmatched": "a point without a start or a stop takes no time";
        POINT_SKEWED = "point.skewed": "a point that stops before it starts takes no time";
        EVENT_SUM_CONFLICT = "event.sum_conflict": "an event has a sum and another value; the sum was read";
        VALUE_UNSIGNED = "value.unsigned": "a negative value became 0";
        VALUE_ROUNDED = "value.rounded": "a number that is not whole, in the unit it is kept in, was rounded";
        TIME_CONFLICT = "time.conflict": "two fields disagree about the time; the inner one won";
        VALUE_OVERFLOW = "value.overflow": "a sum past 2⁶³ was cut there";
        STACK_LOCATION_0 = "stack.location_0": "a frame that is location 0, which stands for none, became a location of which nothing is known";
        VALUE_SPLIT = "timestamps.value_split": "a total was divided among its timestamps";
        LABEL_MIXED = "label.mixed": "labels of one key and several kinds became a list of pairs";
        ATTR_BOOL = "attr.type_bool": "a bool became a text";
        ATTR_DOUBLE = "attr.type_double": "a double became a text";
        ATTR_BYTES = "attr.type_bytes": "bytes became a text of hex digits";
        ATTR_KVLIST = "attr.type_kvlist": "a list of pairs became JSON";
        ATTR_ARRAY1 = "attr.array1": "a list of one became its element";
        ATTR_EMPTY_STRING = "attr.empty_string": "an empty text comes back as the integer 0";
        ATTR_UNIT_ON_STRING = "attr.unit_on_string": "a text lost its unit";
        UNIT_KEY_CONFLICT = "unit.key_conflict": "a key has several units where the generation has one a key";
        UNIT_DUPLICATE = "unit.duplicate": "a key was given two units; the first won";
        COLUMNS_ZERO_FILLED = "columns.zero_filled": "a sample got the value 0 where it had none";
        LINK_HALF = "link.half": "a link has a trace id or a span id alone; the other became zero";
        PROFILES_MERGED = "profiles.merged": "samples of several profiles are in one, or a profile without samples is gone";
        FRAME_TEXT = "frame.text": "a name held what ends a frame or a line there; it was replaced";
        STACK_EMPTY = "stack.empty": "a stack without frames got one that is unknown";
        INLINE_SPREAD = "location.inline_spread": "functions inlined into another became frames like others";
        SERIES_EXPANDED = "series.expanded": "values without timestamps became samples of their own";
    }
    Dropped {
        TIME_NO_ANCHOR = "time.no_anchor": "times that count from an unknown beginning were left out";
        LEFT_OUT = "source.left_out": "something that the source says besides, or that an option would take, was left out";
        SAMPLE_TYPE_DROPPED = "sample_type.dropped": "the format does not say what its values measure";
        SAMPLE_TYPE_LEFT_OUT = "sample_type.left_out": "a sample type was left out with its values, as others were asked for";
        VALUE_NEGATIVE_DROPPED = "value.negative_dropped": "the format has no negative values: samples with one were left out";
        EVENT_COUNT_DROPPED = "event.count_dropped": "the format does not say how many events a value was added up of";
        EVENT_CLOCK_DROPPED = "event.clock_dropped": "the format does not say by which clock times were counted";
        PERIOD_DROPPED = "period.dropped": "the format has no period";
        TIME_DROPPED = "time.dropped": "the format has no time and no duration";
        ADDRESS_DROPPED = "location.address_dropped": "the format has no addresses";
        MAPPING_DROPPED = "mapping.dropped": "the format has no mappings";
        SOURCE_DROPPED = "function.source_dropped": "the format has no files and lines of functions, or not all of them";
        SYSTEM_NAME_DROPPED = "function.system_name_dropped": "the format has one name a function";
        ATTR_SAMPLE_DROPPED = "attr.sample.dropped": "the format has no attributes of samples";
        ATTR_UNIT_DROPPED = "attr.unit_dropped": "the format has no units of attributes";
        LINK_DROPPED = "link.dropped": "the format has no links";
        RESOURCE_DROPPED = "resource.dropped": "the format has no resource";
        SCOPE_DROPPED = "scope.dropped": "the format has no scope";
        SCHEMA_URL_DROPPED = "schema_url.dropped": "the format has no schema url";
        ENTITY_REFS_DROPPED = "entity_refs.dropped": "the format has no entity references";
        PROFILE_ID_DROPPED = "profile_id.dropped": "the format has no profile id, or one for several columns";
        DROPPED_COUNT_DROPPED = "dropped_count.dropped": "the format has no count of dropped attributes, or one for several columns";
        ORIGINAL_DROPPED = "original.dropped": "the format has no original payload";
        TEMPORALITY_DROPPED = "temporality.dropped": "the format has no aggregation temporality";
        TIMESTAMPS_DROPPED = "timestamps.dropped": "timestamps were left out";
        TIMESTAMP_LABEL_CONFLICT = "timestamps.label_conflict": "an attribute was left out because a timestamp has the label it would be";
        ATTR_PROFILE_DROPPED = "attr.profile.dropped": "the format has no such attribute of a profile";
        ATTR_LOCATION_DROPPED = "attr.location.dropped": "the format has no such attribute of a location";
        ATTR_MAPPING_DROPPED = "attr.mapping.dropped": "the format has no such attribute of a mapping";
        ATTR_EMPTY = "attr.empty": "an attribute without a value was left out";
        LINK_LABEL_CONFLICT = "link.label_conflict": "a link was left out because a label has its key";
        LINK_INVALID = "link.invalid": "a link whose ids are not 16 and 8 bytes, or all zero";
        BUILD_ID_EXTRA = "mapping.build_id_extra": "the format has one build id a mapping";
        BUILD_ID_KIND = "mapping.build_id_kind": "the format does not say of what kind a build id is, or said a kind that there is not";
        FIELD_CONFLICT = "field.conflict": "a field was left out because an attribute of its name says something else";
        STACKTRACE_ID_DROPPED = "stacktrace_id.dropped": "the format has no stacktrace id";
        FRAME_TYPE_DROPPED = "frame_type.dropped": "the format has no frame type";
        BAD_ORDER = "scope.bad_sample_type_order": "the order of sample types is not one of profiles that are columns of one";
        LABEL_STR_AND_NUM = "label.str_and_num": "a label was a text and a number or a unit; the text was read";
        UNKNOWN_FIELD = "field.unknown": "a field this crate does not know";
        DUPLICATE_KEY = "json.duplicate_key": "a key of a JSON object, or another case of a oneof, was said again; the last one counts";
    }
    Rejected {
        BAD_ID = "pprof.bad_id": "an id of 0, or one given twice";
        DANGLING_LOCATION = "pprof.dangling_location": "a sample names a location that does not exist";
        DANGLING_FUNCTION = "pprof.dangling_function": "a line names a function that does not exist";
        DANGLING_MAPPING = "pprof.dangling_mapping": "a location names a mapping that does not exist";
        BAD_STRING_INDEX = "pprof.bad_string_index": "an index past the string table";
        VALUE_COUNT = "pprof.value_count": "a sample with more or fewer values than sample types";
        ROW_0 = "table.row_0": "the first row of a table was not the empty one";
        MESSAGE_UNREADABLE = "message.unreadable": "a message of several that cannot be read; it was passed over";
        BAD_LINE = "text.bad_line": "a line, or what it belongs to, that cannot be read; it was passed over";
        INDEX_OUT_OF_RANGE = "index.out_of_range": "an index past its table";
    }
}
