//! Serialises members of sizes in a form that differs from their fields.

use serde::{Serialize, Serializer};

use super::parts::CompactSize;
use crate::error;
use crate::losses::Losses;

/// Serialises the codes of losses, without counts.
pub(super) fn codes<S: Serializer>(losses: &Losses, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(losses.iter().map(|loss| loss.code))
}

/// Serialises the compact size, or `{"error": {"place", "message", "byte"}}`.
pub(super) fn compact<S: Serializer>(
    compact: &error::Result<CompactSize>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Failure<'a> {
        place: String,
        message: &'a str,
        byte: Option<u64>,
    }
    match compact {
        Ok(compact) => compact.serialize(serializer),
        Err(error) => {
            let (place, message, byte) = (error.place(), error.message(), error.byte());
            serializer.collect_map([("error", Failure { place, message, byte })])
        }
    }
}
