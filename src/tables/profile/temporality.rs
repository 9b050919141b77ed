//! Temporality of sample types whose format does not represent it.
//!
//! OTLP 1.3 to 1.8 require `aggregation_temporality`, which pprof and later generations lack. A rule chooses
//! one by the name of the sample type. Dropping a value that the rule would choose again is no loss.

use crate::model::dictionary::Dictionary;
use crate::model::profile::{AggregationTemporality, ValueType};

/// Returns the temporality of a sample type by its name: cumulative for a state, delta for events.
pub(crate) fn assumed(name: &str, duration_nanos: i128) -> AggregationTemporality {
    match name {
        "goroutine" | "threadcreate" | "thread" | "objects" | "space" => {
            AggregationTemporality::CUMULATIVE
        }
        name if name.starts_with("inuse_") => AggregationTemporality::CUMULATIVE,
        // Totals since the process started, unless the profile is the difference of two.
        "contentions" | "delay" if duration_nanos == 0 => AggregationTemporality::CUMULATIVE,
        name if name.starts_with("alloc_") && duration_nanos == 0 => {
            AggregationTemporality::CUMULATIVE
        }
        "cpu" | "samples" | "wall" | "off_cpu" => AggregationTemporality::DELTA,
        _ if duration_nanos > 0 => AggregationTemporality::DELTA,
        _ => AggregationTemporality::UNSPECIFIED,
    }
}

/// Returns the temporality to write if the format requires one: the stored one, or else the assumed one.
pub(crate) fn written(
    value_type: ValueType,
    duration_nanos: i128,
    dictionary: &Dictionary,
) -> AggregationTemporality {
    let name = dictionary.text(value_type.name);
    value_type.temporality.unwrap_or_else(|| assumed(name, duration_nanos))
}

/// Returns whether a format without temporality loses it: it is set, and differs from the assumed one.
pub(crate) fn is_lost(
    value_type: ValueType,
    duration_nanos: i128,
    dictionary: &Dictionary,
) -> bool {
    let name = dictionary.text(value_type.name);
    value_type.temporality.is_some_and(|temporality| {
        temporality != AggregationTemporality::UNSPECIFIED
            && temporality != assumed(name, duration_nanos)
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
