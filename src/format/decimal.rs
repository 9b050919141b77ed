//! Decimal numbers that are rounded to 64-bit integers. Parsing through a double would lose digits and hide
//! that a number was rounded.

/// A decimal number: digits times a power of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decimal {
    digits: i128,
    exponent: i32,
    /// Whether nonzero digits were cut off.
    is_cut: bool,
}

/// The number of digits kept: enough for any 64-bit integer. The product of two such numbers fits into 128
/// bits.
const DIGITS: u32 = 20;

impl Decimal {
    /// Parses a number such as `-12.5` or `1e-3`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (sign, number) = text.strip_prefix('-').map_or((1, text), |number| (-1, number));
        let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (before, behind) = number.split_once('.').unwrap_or((number, ""));
        let digits = || before.bytes().chain(behind.bytes());
        let power = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_number(before) || !is_number(power) || !digits().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let far = if exponent.starts_with('-') { i32::MIN } else { i32::MAX };
        let point = i32::try_from(behind.len()).unwrap_or(i32::MAX);
        let mut this = Self {
            digits: 0,
            exponent: exponent.parse().unwrap_or(far).saturating_sub(point),
            is_cut: false,
        };
        let most = 10i128.pow(DIGITS - 1);
        for digit in digits().map(|digit| digit - b'0') {
            if this.digits < most {
                this.digits = this.digits * 10 + i128::from(digit);
            } else {
                this.exponent = this.exponent.saturating_add(1);
                this.is_cut |= digit != 0;
            }
        }
        this.digits *= sign;
        Some(this)
    }

    /// Multiplies two numbers and rounds the product, halves away from 0. Also returns whether rounding
    /// changed it.
    ///
    /// Returns `None` if the result overflows 64 bits.
    pub(crate) fn times(self, other: Self) -> Option<(i64, bool)> {
        let is_cut = self.is_cut || other.is_cut;
        let product = self.digits.checked_mul(other.digits)?;
        if product == 0 {
            return Some((0, is_cut));
        }
        let exponent = self.exponent.saturating_add(other.exponent);
        let Some(power) = 10i128.checked_pow(exponent.unsigned_abs()) else {
            // The power exceeds any product: the quotient rounds to 0, and the product would overflow.
            return (exponent < 0).then_some((0, true));
        };
        if exponent >= 0 {
            return Some((i64::try_from(product.checked_mul(power)?).ok()?, is_cut));
        }
        let (whole, rest) = (product / power, product % power);
        // Not `2 * rest >= power`, which may overflow.
        let up = if rest.abs() >= power - rest.abs() { rest.signum() } else { 0 };
        Some((i64::try_from(whole + up).ok()?, is_cut || rest != 0))
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        Self { digits: number.into(), exponent: 0, is_cut: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_rounded_once_and_known_to_be() {
        for (number, scale, expected) in [
            ("1.4", "1", Some((1, true))),
            ("-2.5", "1", Some((-3, true))),
            ("0.01", "1e9", Some((10_000_000, false))),
            ("0.07", "100", Some((7, false))),
            ("2.", "1.5e0", Some((3, false))),
            ("0.12345678912", "1000000", Some((123_457, true))),
            ("1.0000005", "1e6", Some((1_000_001, true))),
            ("9007199254740993", "1", Some((9_007_199_254_740_993, false))),
            ("9223372036854775807.4", "1", Some((i64::MAX, true))),
            ("-9223372036854775808", "1", Some((i64::MIN, false))),
            ("9223372036854775808", "1", None),
            ("1000000000000000000000000000000000000000000e-42", "1", Some((1, false))),
            ("0.1000000000000000055511151231257827", "10", Some((1, true))),
            ("1e-99999999999", "1e9", Some((0, true))),
            ("0e99999999999", "1", Some((0, false))),
            ("1e300", "1", None),
            ("99999999999999999999", "0.00000000012345678901234567", Some((12_345_678_901, true))),
        ] {
            let scale = Decimal::of(scale).unwrap();
            assert_eq!(Decimal::of(number).unwrap().times(scale), expected, "{number}");
        }
        for wrong in ["", "-", ".5", "inf", "NaN", "1e", "1e+", "--1", "1x", "1.x", "0x1", "+1"] {
            assert_eq!(Decimal::of(wrong), None, "{wrong}");
        }
    }
}
