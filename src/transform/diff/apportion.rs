//! Scaling of whole numbers.

/// `value` × `to` / `from`, rounded half away from zero.
pub(super) fn scale(value: i128, to: i128, from: i128) -> i128 {
    match value.checked_mul(to) {
        Some(product) => {
            let (product, from, sign) =
                (product.unsigned_abs(), from.unsigned_abs(), product.signum() * from.signum());
            let (whole, rest) = (product / from, product % from);
            // Compares with half of `from` without doubling, which could overflow.
            let rounded = whole + u128::from(rest >= from - rest);
            sign * i128::try_from(rounded).unwrap_or(i128::MAX)
        }
        // The product exceeds 128 bits: round a double instead.
        None => (value as f64 * (to as f64 / from as f64)).round() as i128,
    }
}

/// Scales values whose sum is the second total to sum up to the first: whole numbers, those with the largest
/// fractions rounded up.
pub(super) fn apportion(values: &[i128], [to, from]: [i128; 2]) -> Vec<i128> {
    let product = |value: i128| value.checked_mul(to);
    if from == 0 || values.iter().any(|value| product(*value).is_none()) {
        return values
            .iter()
            .map(|value| if from == 0 { 0 } else { scale(*value, to, from) })
            .collect();
    }
    let exact = values.iter().map(|value| product(*value).unwrap_or_default());
    // Rounded down, whatever the signs.
    let sign = from.signum();
    let parts: Vec<(i128, i128)> = exact
        .map(|product| {
            ((sign * product).div_euclid(sign * from), (sign * product).rem_euclid(sign * from))
        })
        .collect();
    let mut scaled: Vec<i128> = parts.iter().map(|(whole, _)| *whole).collect();
    let missing = (to - scaled.iter().sum::<i128>()).clamp(0, values.len() as i128);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(parts[*at].1), *at));
    order.iter().take(missing as usize).for_each(|at| scaled[*at] += 1);
    scaled
}

/// The change of a share in percentage points: one division of exact numbers, so that 7 of 100 is 7, not more.
pub(super) fn points((base, base_total): (i128, i128), (new, new_total): (i128, i128)) -> f64 {
    let exact = || {
        let change = new.checked_mul(base_total)?.checked_sub(base.checked_mul(new_total)?)?;
        Some(change.checked_mul(100)? as f64 / base_total.checked_mul(new_total)? as f64)
    };
    exact().unwrap_or_else(|| {
        100.0 * (new as f64 / new_total as f64 - base as f64 / base_total as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_values_add_up_to_the_total() {
        for (values, totals, expected) in [
            (vec![1500, 300, 0, 200], [1000, 2000], vec![750, 150, 0, 100]),
            (vec![1, 1, 1], [10, 3], vec![4, 3, 3]),
            (vec![5, -1, -1], [7, 3], vec![12, -2, -3]),
            (vec![-1, -1], [5, -2], vec![3, 2]),
            (vec![1, -1], [5, 0], vec![0, 0]),
        ] {
            assert_eq!(apportion(&values, totals), expected, "{values:?}");
        }
        assert_eq!([scale(5, 1, 2), scale(-5, 1, 2), scale(1, 1, 3)], [3, -3, 0]);
        assert_eq!(scale(i128::MAX, 2, 4), i128::MAX / 2 + 1);
        assert_eq!([scale(i128::MAX, 1, 4), scale(i128::MIN, 1, 1)], [1 << 125, -i128::MAX]);
    }
}
