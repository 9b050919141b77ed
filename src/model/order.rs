//! The order of sample types, if the columns of one pprof are separate profiles.
//!
//! A pprof with several sample types becomes several profiles in OTLP 1.8 and later. The attribute
//! `pprof.scope.sample_type_order` contains the column of each, so that a conversion back restores the file.

use crate::model::dictionary::Dictionary;
use crate::model::profiles::ScopeProfiles;
use crate::model::value::Value;
use crate::semconv::PPROF_SCOPE_SAMPLE_TYPE_ORDER;

/// Returns the column of each profile of a scope. `None` if the scope has no such attribute, `Err` if it is not a
/// valid order.
pub(crate) fn sample_type_order(
    scope: &ScopeProfiles,
    dictionary: &Dictionary,
) -> Option<Result<Vec<usize>, ()>> {
    let attributes = dictionary.resolve(&*scope.scope.attributes);
    let Value::Array(values) = attributes.get(PPROF_SCOPE_SAMPLE_TYPE_ORDER)?.value() else {
        return Some(Err(()));
    };
    let order: Option<Vec<usize>> = values
        .iter()
        .map(|value| match value {
            Value::Int(column) => usize::try_from(*column).ok(),
            _ => None,
        })
        .collect();
    Some(order.filter(|order| is_permutation(order, scope.profiles.len())).ok_or(()))
}

/// Replaces the order of sample types, if the scope has one.
pub(crate) fn set_sample_type_order(
    scope: &mut ScopeProfiles,
    order: &[usize],
    dictionary: &Dictionary,
) {
    let mut pairs = scope.scope.attributes.iter_mut();
    let found = pairs.find(|pair| dictionary.text(pair.key) == PPROF_SCOPE_SAMPLE_TYPE_ORDER);
    if let Some(pair) = found {
        pair.value = Value::Array(order.iter().map(|&column| Value::Int(column as i64)).collect());
    }
}

/// Returns whether `order` contains each number below `length` once.
pub(crate) fn is_permutation(order: &[usize], length: usize) -> bool {
    let mut seen = vec![false; length];
    order.len() == length
        && order
            .iter()
            .all(|&at| seen.get_mut(at).is_some_and(|seen| !std::mem::replace(seen, true)))
}

/// Returns for each profile of an order the first profile of the same pprof, and its column in that pprof. The
/// profiles of a pprof are consecutive, and so are their columns.
pub(crate) fn columns(order: &[usize]) -> Vec<(usize, usize)> {
    let (mut start, mut found) = (0, Vec::with_capacity(order.len()));
    while start < order.len() {
        // Extend the group up to its largest column: the columns of a pprof are consecutive.
        let (mut at, mut end) = (start, start);
        while at <= end {
            // The order is a permutation, so `end` stays below its length and `at` in range.
            end = end.max(order[at]);
            at += 1;
        }
        found.extend(order[start..at].iter().map(|column| (start, column - start)));
        start = at;
    }
    found
}

/// Returns for each number how many of the numbers are smaller.
pub(crate) fn ranks(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sorted: Vec<(usize, usize)> = numbers.enumerate().map(|(at, n)| (n, at)).collect();
    sorted.sort_unstable();
    let mut ranks = vec![0; sorted.len()];
    for (rank, (_, at)) in sorted.into_iter().enumerate() {
        if let Some(place) = ranks.get_mut(at) {
            *place = rank;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_part_of_an_order_are_an_order() {
        assert_eq!(ranks([4, 0, 2].into_iter()), [2, 0, 1]);
        assert_eq!(columns(&[1, 0, 2, 5, 3, 4]), [(0, 1), (0, 0), (2, 0), (3, 2), (3, 0), (3, 1)]);
        assert_eq!(columns(&[]), []);
        assert!(is_permutation(&[2, 0, 1], 3));
        assert!(!is_permutation(&[0, 0], 2) && !is_permutation(&[0, 2], 2));
    }
}
