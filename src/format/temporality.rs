//! Which temporality a sample type has when its format cannot say it.
//!
//! OTLP 1.3 to 1.8 ask for `aggregation_temporality`, which pprof and later generations do not have. A rule by the sample
//! type's name chooses one; and because it is a rule, what it chose is no loss when it is left out again.

use crate::model::dictionary::Dictionary;
use crate::model::profile::{AggregationTemporality, ValueType};

/// The temporality of a sample type, by its name: a state is a total, an event a change.
pub(crate) fn assumed(name: &str, duration_nanos: i128) -> AggregationTemporality {
    match name {
        "goroutine" | "threadcreate" | "thread" | "objects" | "space" => {
            AggregationTemporality::CUMULATIVE
        }
        name if name.starts_with("inuse_") => AggregationTemporality::CUMULATIVE,
        // Totals since the process started, unless taken as the difference of two.
        "contentions" | "delay" if duration_nanos == 0 => AggregationTemporality::CUMULATIVE,
        name if name.starts_with("alloc_") && duration_nanos == 0 => {
            AggregationTemporality::CUMULATIVE
        }
        "cpu" | "samples" | "wall" | "off_cpu" => AggregationTemporality::DELTA,
        _ if duration_nanos > 0 => AggregationTemporality::DELTA,
        _ => AggregationTemporality::UNSPECIFIED,
    }
}

/// The temporality of a sample type where one must be said: its own, or the one assumed.
pub(crate) fn written(
    value_type: ValueType,
    duration_nanos: i128,
    dictionary: &Dictionary,
) -> AggregationTemporality {
    let name = dictionary.text(value_type.name);
    value_type.temporality.unwrap_or_else(|| assumed(name, duration_nanos))
}

/// Whether a sample type loses its temporality where none can be said: it says one, and not the
/// one that would be assumed again.
pub(crate) fn is_lost(
    value_type: ValueType,
    duration_nanos: i128,
    dictionary: &Dictionary,
) -> bool {
    let name = dictionary.text(value_type.name);
    value_type.temporality.is_some_and(|said| {
        said != AggregationTemporality::UNSPECIFIED && said != assumed(name, duration_nanos)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_totals_and_events_are_changes() {
        assert_eq!(assumed("inuse_space", 5), AggregationTemporality::CUMULATIVE);
        assert_eq!(assumed("alloc_space", 0), AggregationTemporality::CUMULATIVE);
        assert_eq!(assumed("alloc_space", 5), AggregationTemporality::DELTA);
        assert_eq!(assumed("cpu", 0), AggregationTemporality::DELTA);
        assert_eq!(assumed("other", 0), AggregationTemporality::UNSPECIFIED);
    }
}
