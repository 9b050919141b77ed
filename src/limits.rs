//! Limits on input, and the budget of one read. The budget is charged before memory is allocated.

use crate::error::{Error, ErrorKind, Result};

/// Limits on input. All limits are checked before the memory they guard is allocated;
/// input is never truncated to fit.
///
/// Choose one of three presets: [`network`](Self::network), the default, [`file`](Self::file) and
/// [`unlimited`](Self::unlimited). A setter named like each field changes it. Real profiles are far below
/// `network`. The error of a limit names the limit ([`Error::limit`](crate::Error::limit)).
///
/// ```
/// use otlp_profiles::{ErrorKind, Limits, ReadOptions};
///
/// let limits = Limits::network().max_samples(10);
/// let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let error = otlp_profiles::read(&profile, &ReadOptions::default().limits(limits)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// assert_eq!(error.limit(), Some("max_samples"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the input as stored.
    /// A framed file is read message by message, and the limit applies to each message.
    pub max_input_bytes: u64,
    /// Bytes of compressed input after inflating. Deflate reaches 1032 : 1.
    /// Inflating stops at this limit. In a framed file it applies to each message. `max_input_bytes` limits uncompressed
    /// input.
    pub max_decompressed_bytes: u64,
    /// Members of one gzip stream; one is normal.
    /// Frames of zstd count as members.
    pub max_gzip_members: u64,
    /// Nesting of values, groups and JSON.
    /// OTLP values count by messages: 4 for a value in no other value, plus 2 for each enclosing array and 3 for each enclosing
    /// map. Groups, which no schema contains, count 1 each. So do objects and arrays of JSON that is not OTLP. The messages
    /// of a format nest only as deep as its schema and count only in [`check`](crate::check). Values are walked by recursion,
    /// so a limit above 256, the value of [`unlimited`](Self::unlimited), counts as 256.
    pub max_nesting: u64,
    /// Samples of one payload.
    /// The sum over all its profiles.
    pub max_samples: u64,
    /// Strings of one payload.
    /// Inline strings (OTLP's names of attributes, scopes) count too.
    pub max_strings: u64,
    /// Rows of each other table.
    /// Applies to mappings, locations, functions, links, attributes and stacks, and to the messages of one file.
    pub max_table_entries: u64,
    /// Bytes of one string.
    pub max_string_bytes: u64,
    /// Locations of one stack.
    /// In OTLP 1.3 to 1.7, a slice of a few bytes can encode a stack of thousands.
    pub max_stack_depth: u64,
    /// Lines of one location.
    pub max_lines_per_location: u64,
    /// Attributes of one sample, location, mapping, profile, resource or scope.
    pub max_attributes_per_item: u64,
    /// Bytes of memory for the model.
    /// Rows are counted before they are allocated. The allocator's overhead is not included.
    pub max_owned_bytes: u64,
    /// Bytes of memory for the model per byte of the inflated payload. The first 128 MiB are always allowed.
    /// Real profiles use two to six.
    pub max_owned_per_byte: u64,
    /// Bytes that a writer may produce.
    /// [`check`](crate::check) applies it where it writes; [`write()`](crate::write()) applies [`WriteOptions::max_output_bytes`](crate::WriteOptions::max_output_bytes).
    pub max_output_bytes: u64,
}

/// Defines a setter for each field of an options type, so that callers can build a `#[non_exhaustive]` type in one
/// expression: `Options::default().one(1).two(2)`.
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $value:ty,)* }) => {
        impl $(<$life>)? $type $(<$life>)? {$(
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
    max_owned_per_byte: u64,
    max_output_bytes: u64,
} }

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Limits {
    /// Limits for untrusted payloads, as the OTLP specification recommends for a request.
    /// 64 MiB after inflating, 4 Mi samples, 512 MiB of memory.
    ///
    /// ```
    /// use otlp_profiles::Limits;
    /// assert_eq!(Limits::network(), Limits::default());
    /// assert!(Limits::network().max_samples < Limits::file().max_samples);
    /// ```
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
            max_owned_per_byte: 12,
            max_output_bytes: 512 * MIB,
        }
    }

    /// Limits for your own files. The command uses them.
    /// 1 GiB after inflating, 64 Mi samples, 8 GiB of memory.
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
            max_owned_per_byte: 12,
            max_output_bytes: 4 * GIB,
        }
    }

    /// Limits for trusted input: only those of the model, which are 2³² rows, 4 GiB of text and 256 levels of nesting.
    /// The time of a reader stays linear in the input.
    ///
    /// ```
    /// use otlp_profiles::{Limits, ReadOptions, read};
    /// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// assert!(read(&bytes, &ReadOptions::default().limits(Limits::unlimited())).is_ok());
    /// ```
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
            max_owned_per_byte: ALL,
            max_output_bytes: ALL,
        }
    }
}

impl Default for Limits {
    /// Returns [`Limits::network`].
    fn default() -> Self {
        Self::network()
    }
}

/// Returns an error if `wanted` exceeds `limit`; `name` is the name of the limit.
#[inline]
pub(crate) fn within(name: &'static str, limit: u64, wanted: u64) -> Result<()> {
    if wanted > limit { Err(past(name, limit, wanted)) } else { Ok(()) }
}

/// Returns the error of a limit that was exceeded.
#[cold]
#[inline(never)]
pub(crate) fn past(name: &'static str, limit: u64, wanted: u64) -> Error {
    let what = match name {
        "max_input_bytes" => "bytes of input",
        "max_decompressed_bytes" => "decompressed bytes",
        "max_gzip_members" => "gzip members",
        "max_nesting" => "levels of nesting",
        "max_samples" => "samples",
        "max_expanded_samples" => "samples of one timestamp each",
        "max_strings" => "strings",
        "max_string_bytes" => "bytes of one string",
        "max_stack_depth" => "locations of one stack",
        "max_lines_per_location" => "lines of one location",
        "max_attributes_per_item" => "attributes of one item",
        "max_table_entries" => "rows of one table",
        "max_partitions" => "files of samples",
        "max_segment_stacks" => "stacks of one segment",
        "max_output_bytes" | "max_output_per_byte" => "bytes of output",
        _ => "bytes of memory",
    };
    let message = match name {
        // Writers stop at the limit, so the size of the complete output is unknown.
        "max_output_bytes" | "max_output_per_byte" => {
            format!("this takes more than the limit of {limit} {what}")
        }
        _ => format!("{wanted} {what} exceed the limit of {limit}"),
    };
    if name == "max_nesting" && limit >= Limits::unlimited().max_nesting {
        return Error::new(ErrorKind::Limit, message + ", which cannot be raised");
    }
    Error::limit_reached(name, message)
}

/// Bytes of memory that any payload may use, however small it is. 200,000 profiles of one sample, each in its own
/// resource, use 90 MB.
const ALWAYS: u64 = 128 * MIB;

/// A bound that depends on the size of an input, raised to what is always allowed.
pub(crate) fn floored(bytes: u64) -> u64 {
    bytes.max(ALWAYS)
}

/// Factor on the memory limit for stacks that share their locations on the wire but not in the model: a slice of a
/// few bytes can encode a stack of hundreds of frames.
const SHARED: u64 = 8;

/// The limits of one read, and the memory charged so far.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) limits: Limits,
    /// Size of the inflated payload in bytes.
    payload: u64,
    /// Maximum of `owned`, computed from the limits and the size of the payload.
    allowed: u64,
    /// Bytes charged so far.
    owned: u64,
    /// Bytes charged for locations that stacks share on the wire. They have a separate budget.
    shared: u64,
}

impl Budget {
    /// Creates the budget for a payload of `payload` bytes.
    pub(crate) fn new(mut limits: Limits, payload: usize) -> Self {
        limits.max_nesting = limits.max_nesting.min(Limits::unlimited().max_nesting);
        let mut budget = Self { limits, payload: payload as u64, allowed: 0, owned: 0, shared: 0 };
        budget.allowed = budget.allows(1);
        budget
    }

    /// Returns the bytes of memory allowed if the limit per payload byte is multiplied by `times`.
    fn allows(&self, times: u64) -> u64 {
        let per_byte = self.limits.max_owned_per_byte.saturating_mul(times);
        self.limits.max_owned_bytes.min(floored(per_byte.saturating_mul(self.payload)))
    }

    /// Raises the budget of a streamed payload to match the `payload` bytes read so far.
    pub(crate) fn grow_with(&mut self, payload: u64) {
        if payload > self.payload {
            self.payload = payload;
            self.allowed = self.allows(1);
        }
    }

    /// Charges the memory of `rows` rows of `T`.
    #[inline]
    pub(crate) fn charge<T>(&mut self, rows: usize) -> Result<()> {
        self.owned = self.owned.saturating_add((rows as u64).saturating_mul(size_of::<T>() as u64));
        if self.owned > self.allowed { Err(self.spent(self.owned, self.allowed)) } else { Ok(()) }
    }

    /// Returns an error if a single allocation of `bytes` exceeds the whole budget. Ignores and changes no other
    /// charges.
    pub(crate) fn holds(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        if bytes > self.allowed { Err(self.spent(bytes, self.allowed)) } else { Ok(()) }
    }

    /// Appends to a list, and charges for the memory it grows by. A list of one element gets no spare capacity.
    #[inline]
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, element: T) -> Result<()> {
        if list.len() == list.capacity() {
            self.grow(list, 1)?;
        }
        list.push(element);
        Ok(())
    }

    /// Appends a row to a table, and charges for its growth. Below 8192 rows the capacity quadruples, as that of
    /// the table's index does: tables are few, unlike lists, so spare capacity costs little.
    #[inline]
    pub(crate) fn push_row<T>(&mut self, table: &mut Vec<T>, row: T) -> Result<()> {
        let rows = table.len();
        if rows == table.capacity() {
            self.grow(table, if rows < 1 << 13 { 3 * rows } else { rows }.max(1))?;
        }
        table.push(row);
        Ok(())
    }

    /// Doubles the length of a list, or adds `least` rows if that is more, and charges for the memory.
    #[cold]
    pub(crate) fn grow<T>(&mut self, list: &mut Vec<T>, least: usize) -> Result<()> {
        let more = list.len().max(least);
        self.charge::<T>(more)?;
        list.reserve_exact(more);
        Ok(())
    }

    /// Charges the memory of locations that stacks share on the wire.
    pub(crate) fn charge_shared<T>(&mut self, rows: usize) -> Result<()> {
        let bytes = (rows as u64).saturating_mul(size_of::<T>() as u64);
        self.shared = self.shared.saturating_add(bytes);
        let allowed = self.allows(SHARED);
        if self.shared > allowed { Err(self.spent(self.shared, allowed)) } else { Ok(()) }
    }

    /// Returns the error of the tighter of the two memory limits.
    #[cold]
    fn spent(&self, wanted: u64, allowed: u64) -> Error {
        if allowed == self.limits.max_owned_bytes {
            past("max_owned_bytes", allowed, wanted)
        } else {
            past("max_owned_per_byte", allowed, wanted)
        }
    }

    /// Returns the size of the inflated payload in bytes.
    pub(crate) fn payload(&self) -> usize {
        usize::try_from(self.payload).unwrap_or(usize::MAX)
    }

    /// Returns the bytes charged so far, for a later [`give_back`](Self::give_back).
    pub(crate) fn mark(&self) -> u64 {
        self.owned
    }

    /// Releases the charges made since `mark`.
    pub(crate) fn give_back(&mut self, mark: u64) {
        self.owned = self.owned.min(mark);
    }

    /// Returns the number of rows of `T` that still fit into the budget.
    pub(crate) fn remaining<T>(&self) -> usize {
        let bytes = self.allowed.saturating_sub(self.owned);
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
        assert_eq!(error.to_string(), "11 samples exceed the limit of 10");
        assert_eq!(error.hint().as_deref(), Some("Limits::max_samples raises it"));
        assert_eq!(format!("{error:?}"), format!("{error} (Limits::max_samples raises it)"));
        assert_eq!(error.limit(), Some("max_samples"));
        let error = within("max_output_bytes", 10, 11).unwrap_err();
        assert_eq!(error.to_string(), "this takes more than the limit of 10 bytes of output");
        assert_eq!(error.hint().as_deref(), Some("WriteOptions::max_output_bytes raises it"));
    }

    #[test]
    fn what_cannot_be_raised_names_no_option() {
        let error = within("max_nesting", 256, 257).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (ErrorKind::Limit, None));
        assert_eq!(within("max_nesting", 9, 10).unwrap_err().limit(), Some("max_nesting"));
    }

    #[test]
    fn values_are_never_nested_deeper_than_recursion_may_go() {
        let budget = Budget::new(Limits::unlimited().max_nesting(1 << 20), 0);
        assert_eq!(budget.limits.max_nesting, 256);
    }

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(Limits::network().max_owned_bytes(16), 1);
        assert!(budget.charge::<u64>(1).is_ok());
        let mark = budget.mark();
        assert!(budget.charge::<u64>(1).is_ok());
        let error = budget.charge::<u8>(1).unwrap_err();
        assert!(error.message().starts_with("17 bytes of memory exceed the limit of 16"));
        budget.give_back(mark);
        assert_eq!(budget.remaining::<u64>(), 1);
    }

    #[test]
    fn a_budget_grows_with_the_payload() {
        let limits = Limits::file().max_owned_per_byte(10);
        let left = |payload: u64| Budget::new(limits, payload as usize).remaining::<u8>() as u64;
        assert_eq!([left(0), left(MIB)], [ALWAYS; 2]);
        assert_eq!(left(14 * MIB), 140 * MIB);
        assert_eq!(left(GIB), limits.max_owned_bytes);
        let mut budget = Budget::new(limits, 14 << 20);
        assert!(budget.charge_shared::<[u8; 1 << 20]>(1120).is_ok());
        let error = budget.charge::<[u8; 1 << 20]>(141).unwrap_err();
        let message = "147849216 bytes of memory exceed the limit of 146800640";
        assert_eq!(
            (error.to_string().as_str(), error.limit()),
            (message, Some("max_owned_per_byte"))
        );
        assert!(budget.charge_shared::<u8>(1).is_err());
        budget.grow_with(13 << 20);
        assert!(budget.charge::<u8>(1).is_err());
        budget.grow_with(15 << 20);
        assert!(budget.charge::<u8>(1).is_ok());
    }
}
