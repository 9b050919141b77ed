//! Writes the attributes and the link of a sample as a marker on the timeline of its thread.
//!
//! A sample of the viewer has only a stack, a time and a weight. A marker at the same time holds the rest,
//! where users can search for it.

use fxprof_processed_profile::{
    CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile, StaticSchemaMarker,
    StaticSchemaMarkerField, StringHandle, Timestamp,
};

use super::threads::Sample;
use crate::model::dictionary::Dictionary;
use crate::model::id::LinkId;
use crate::wire::hex::hex;

/// A marker: the sample type, the trace and span ids, and the attributes as text.
///
/// The encoder writes the schema once, and a row for each marker.
pub(super) struct Detail {
    /// The name of the row in the marker chart.
    name: StringHandle,
    /// Texts in the order of `FIELDS`.
    texts: [StringHandle; 3],
}

/// Declares a searchable string field.
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

    /// Returns the sample type, so that off-CPU times and allocations have separate rows.
    fn name(&self, _: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Profile) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    /// Returns a text by the number of its field.
    fn string_field_value(&self, field: u32) -> StringHandle {
        self.texts.get(field as usize).copied().unwrap_or(self.name)
    }

    /// Returns 0: there are no number fields.
    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

/// Returns whether the thread already shows an attribute, so that its markers omit it.
pub(super) fn is_of_thread(key: &str) -> bool {
    matches!(key, "thread.id" | "thread.name")
}

impl Detail {
    /// Creates the marker of a sample, or `None` if it has neither a link nor attributes and is no event.
    ///
    /// An event is any sample but CPU time. It always gets a marker, which shows when it happened.
    pub(super) fn of(
        sample: &Sample,
        (kind, is_event): (&str, bool),
        dictionary: &Dictionary,
        made: &mut Profile,
    ) -> Option<Self> {
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

/// Returns the time of a marker: an interval of `nanos` from `at`, or an instant if `nanos` is 0.
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
