//! Two sizes of long tests: a tenth by default, and all with `OTLP_PROFILES_SLOW=1`, as `.ci/run` sets.

use std::env;

/// Whether long tests run in full.
pub fn is_slow() -> bool {
    env::var_os("OTLP_PROFILES_SLOW").is_some_and(|value| value == "1")
}

/// Returns the number of cases, rows or bytes of a long test, or a tenth of it.
pub fn sized(full: usize) -> usize {
    if is_slow() { full } else { full.div_ceil(10) }
}

/// Returns the items of a long test, or every eleventh of them: eleven is coprime to periods of ten and of powers
/// of two.
pub fn some<T>(items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    items.step_by(if is_slow() { 1 } else { 11 })
}
