//! Kinds of sample types: changes, totals and states.

use crate::model::dictionary::Dictionary;
use crate::model::profile::{AggregationTemporality, ValueType};
use crate::tables::profile::temporality;

/// How the values of a sample type relate to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A change during the profile, such as CPU time.
    Delta,
    /// A total since a start, such as `alloc_space`.
    Cumulative,
    /// A state at one moment, such as `inuse_space`.
    Gauge,
}

/// The kind of a sample type, by its temporality or its name.
pub(super) fn kind_of(of: ValueType, duration_nanos: i128, dictionary: &Dictionary) -> Kind {
    let name = dictionary.text(of.name);
    let states = ["goroutine", "threadcreate", "thread", "objects", "space"];
    let is_state = name.starts_with("inuse_") || states.contains(&name);
    match temporality::written(of, duration_nanos, dictionary) {
        AggregationTemporality::DELTA => Kind::Delta,
        AggregationTemporality::CUMULATIVE if is_state => Kind::Gauge,
        AggregationTemporality::CUMULATIVE => Kind::Cumulative,
        _ => Kind::Gauge,
    }
}
