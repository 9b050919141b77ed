//! What a sample says besides its stack and its value, as a marker on the time line of its thread.
//!
//! Samples of the viewer have a stack, a time and a weight. Attributes and the link of a sample
//! would be lost, so a marker at the same time has them, where people can search for them.

use fxprof_processed_profile::{
    CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile, StaticSchemaMarker,
    StaticSchemaMarkerField, StringHandle, Timestamp,
};

use super::threads::Sample;
use crate::model::dictionary::Dictionary;
use crate::model::id::LinkId;

/// A marker: the sample type, then its span and its attributes as texts.
///
/// Schema and fields are the crate's words: it writes the schema once, and a row for each marker.
pub(super) struct Detail {
    /// What the marker chart calls its row.
    name: StringHandle,
    /// In the order of `FIELDS`.
    texts: [StringHandle; 3],
}

/// A field that is a text.
const fn field(key: &'static str, label: &'static str) -> StaticSchemaMarkerField {
    let flags = MarkerFieldFlags::SEARCHABLE;
    StaticSchemaMarkerField { key, label, format: MarkerFieldFormat::String, flags }
}

impl StaticSchemaMarker for Detail {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Sample";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.attributes}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.attributes}");
    const FIELDS: &'static [StaticSchemaMarkerField] =
        &[field("traceId", "Trace"), field("spanId", "Span"), field("attributes", "Attributes")];

    /// The sample type, so that off-CPU times and allocations have rows of their own.
    fn name(&self, _: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Profile) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    /// The crate asks by the number of the field.
    fn string_field_value(&self, field: u32) -> StringHandle {
        self.texts.get(field as usize).copied().unwrap_or(self.name)
    }

    /// There are no fields that are numbers.
    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

/// Whether an attribute is said by the thread that a sample is of.
///
/// Not repeated in each marker of the thread.
pub(super) fn is_of_thread(key: &str) -> bool {
    matches!(key, "thread.id" | "thread.name")
}

impl Detail {
    /// What a sample of a type says besides; none of one that says nothing, unless it `is_event`.
    ///
    /// An event, which is anything but time on the CPU, is worth a marker by itself: it is what
    /// happened then.
    pub(super) fn of(
        sample: &Sample,
        (kind, is_event): (&str, bool),
        dictionary: &Dictionary,
        made: &mut Profile,
    ) -> Option<Self> {
        let hex = |id: &[u8]| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (trace, span) = match sample.link {
            LinkId::NONE => Default::default(),
            link => {
                let link = dictionary.link(link);
                (hex(&link.trace_id), hex(&link.span_id))
            }
        };
        let attributes = dictionary.resolve(sample.attributes);
        let pairs = attributes.iter().filter(|pair| !is_of_thread(pair.key));
        let pairs: Vec<String> = pairs.map(|pair| format!("{}={}", pair.key, pair.value)).collect();
        if pairs.is_empty() && trace.is_empty() && !is_event {
            return None;
        }
        let name = made.intern_string(if kind.is_empty() { "sample" } else { kind });
        let texts = [trace, span, pairs.join(", ")].map(|text| made.intern_string(&text));
        Some(Self { name, texts })
    }
}

/// When a marker is: from `at` on for so many nanoseconds, or at once.
pub(super) fn timing(at: u64, nanos: u64) -> MarkerTiming {
    let start = Timestamp::from_nanos_since_reference(at);
    match nanos {
        0 => MarkerTiming::Instant(start),
        nanos => {
            let end = Timestamp::from_nanos_since_reference(at.saturating_add(nanos));
            MarkerTiming::Interval(start, end)
        }
    }
}
