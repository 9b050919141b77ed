//! How much an input may cost: every budget is spent before memory is taken.

use crate::error::{Error, ErrorKind, Result};

/// What an input may ask for. All limits are checked before the memory they guard is taken;
/// nothing is ever cut short to fit.
///
/// ```
/// use otlp_profiles::{ErrorKind, Limits, ReadOptions};
///
/// let limits = Limits::network().max_samples(10);
/// let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let error = otlp_profiles::read(&profile, &ReadOptions::default().limits(limits)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// assert!(error.to_string().contains("max_samples"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the input as it is stored.
    pub max_input_bytes: u64,
    /// Bytes after inflating; deflate reaches 1032 : 1.
    pub max_decompressed_bytes: u64,
    /// Members of one gzip stream; one is normal.
    pub max_gzip_members: u64,
    /// Messages, values and groups inside one another.
    pub max_nesting: u64,
    /// Samples of one payload.
    pub max_samples: u64,
    /// Strings of one payload.
    pub max_strings: u64,
    /// Rows of any other table.
    pub max_table_entries: u64,
    /// Bytes of one string.
    pub max_string_bytes: u64,
    /// Locations of one stack.
    pub max_stack_depth: u64,
    /// Lines of one location.
    pub max_lines_per_location: u64,
    /// Attributes of one sample, location, mapping, profile, resource or scope.
    pub max_attributes_per_item: u64,
    /// Bytes the model may take.
    pub max_owned_bytes: u64,
    /// Bytes a writer may produce.
    pub max_output_bytes: u64,
}

/// A setter for each field of an options type, so that types that may grow can be made in one
/// expression: `Options::default().one(1).two(2)`.
macro_rules! setters {
    ($type:ident { $($field:ident: $value:ty,)* }) => {
        impl $type {$(
            #[doc = concat!("With [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
            #[must_use]
            pub fn $field(mut self, value: $value) -> Self {
                self.$field = value.into();
                self
            }
        )*}
    };
}
pub(crate) use setters;

setters! { Limits {
    max_input_bytes: u64,
    max_decompressed_bytes: u64,
    max_gzip_members: u64,
    max_nesting: u64,
    max_samples: u64,
    max_strings: u64,
    max_table_entries: u64,
    max_string_bytes: u64,
    max_stack_depth: u64,
    max_lines_per_location: u64,
    max_attributes_per_item: u64,
    max_owned_bytes: u64,
    max_output_bytes: u64,
} }

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// For payloads from strangers: what the OTLP specification recommends for a request.
    pub const fn network() -> Self {
        Self {
            max_input_bytes: 64 * MIB,
            max_decompressed_bytes: 64 * MIB,
            max_gzip_members: 16,
            max_nesting: 256,
            max_samples: 4 * MIB,
            max_strings: 4 * MIB,
            max_table_entries: 4 * MIB,
            max_string_bytes: MIB,
            max_stack_depth: 16_384,
            max_lines_per_location: 4_096,
            max_attributes_per_item: 1_024,
            max_owned_bytes: 512 * MIB,
            max_output_bytes: 512 * MIB,
        }
    }

    /// For files of one's own: what the command uses.
    pub const fn file() -> Self {
        Self {
            max_input_bytes: GIB,
            max_decompressed_bytes: GIB,
            max_gzip_members: 1_024,
            max_nesting: 256,
            max_samples: 64 * MIB,
            max_strings: 64 * MIB,
            max_table_entries: 64 * MIB,
            max_string_bytes: 64 * MIB,
            max_stack_depth: MIB,
            max_lines_per_location: 65_536,
            max_attributes_per_item: 65_536,
            max_owned_bytes: 8 * GIB,
            max_output_bytes: 4 * GIB,
        }
    }

    /// None but the model's own: 2³² rows, 4 GiB of text, 256 levels of nesting.
    pub const fn unlimited() -> Self {
        const ALL: u64 = u64::MAX;
        Self {
            max_input_bytes: ALL,
            max_decompressed_bytes: ALL,
            max_gzip_members: ALL,
            max_nesting: 256,
            max_samples: u32::MAX as u64,
            max_strings: u32::MAX as u64,
            max_table_entries: u32::MAX as u64,
            max_string_bytes: u32::MAX as u64,
            max_stack_depth: u32::MAX as u64,
            max_lines_per_location: u32::MAX as u64,
            max_attributes_per_item: u32::MAX as u64,
            max_owned_bytes: ALL,
            max_output_bytes: ALL,
        }
    }
}

impl Default for Limits {
    /// [`Limits::network`].
    fn default() -> Self {
        Self::network()
    }
}

/// `Ok` when `wanted` is within `limit`, whose name is `name`.
#[inline]
pub(crate) fn within(name: &'static str, limit: u64, wanted: u64) -> Result<()> {
    if wanted > limit { Err(past(name, limit, wanted)) } else { Ok(()) }
}

#[cold]
#[inline(never)]
pub(crate) fn past(name: &'static str, limit: u64, wanted: u64) -> Error {
    let message = format!("needs {wanted}, more than {name} allows ({limit})");
    if name == "max_nesting" && limit >= Limits::unlimited().max_nesting {
        return Error::new(ErrorKind::Limit, message + "; the model has no room for more");
    }
    Error::limit_reached(name, message)
}

/// The limits of one reading and what it has spent of them.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    owned: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, owned: 0 }
    }

    /// Spends the memory of `rows` rows of `T`.
    #[inline]
    pub(crate) fn take<T>(&mut self, rows: usize) -> Result<()> {
        self.owned = self.owned.saturating_add((rows as u64).saturating_mul(size_of::<T>() as u64));
        within("max_owned_bytes", self.limits.max_owned_bytes, self.owned)
    }

    /// The rows of `T` that could still be taken.
    pub(crate) fn left<T>(&self) -> usize {
        let bytes = self.limits.max_owned_bytes.saturating_sub(self.owned);
        usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_error_names_limit_need_and_option() {
        let error = within("max_samples", 10, 11).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(
            error.to_string(),
            "needs 11, more than max_samples allows (10); Limits::max_samples raises it"
        );
        // What a command says of flags instead.
        assert_eq!(error.message(), "needs 11, more than max_samples allows (10)");
        assert_eq!(error.limit(), Some("max_samples"));
        let error = within("max_output_bytes", 10, 11).unwrap_err().to_string();
        assert!(error.ends_with("; WriteOptions::max_output_bytes raises it"), "{error}");
    }

    #[test]
    fn what_cannot_be_raised_names_no_option() {
        let error = within("max_nesting", 256, 257).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Limit, None));
        assert_eq!(within("max_nesting", 9, 10).unwrap_err().limit(), Some("max_nesting"));
    }

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(Limits::network().max_owned_bytes(16));
        assert!(budget.take::<u64>(2).is_ok());
        assert!(budget.take::<u8>(1).is_err());
    }
}
