//! Serialisation of numbers beyond 64 bits, which readers of JSON cannot hold.

use serde::{Serialize, Serializer};

/// A number, or a string of its digits if it is beyond 64 bits.
pub(crate) struct Number(pub(crate) i128);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.collect_str(&self.0),
        }
    }
}

/// Serialises one [`Number`].
pub(crate) fn number<S: Serializer>(number: &i128, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*number).serialize(serializer)
}

/// Serialises a list of [`Number`]s.
pub(crate) fn numbers<S: Serializer>(
    numbers: impl AsRef<[i128]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.as_ref().iter().map(|number| Number(*number)))
}
