//! The limit on the size of an output: a payload, a report, a picture or a table.

use std::fmt::{self, Write};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::within;
use crate::model::Profiles;
use crate::model::value::heap_bytes;
use crate::write_options::WriteOptions;

/// Bytes that any output may take, however small the profiles are.
const ALWAYS: u64 = 32 << 20;

/// The most bytes that an output of given profiles may take: the tighter of
/// [`max_output_bytes`](WriteOptions::max_output_bytes) and [`max_output_per_byte`](WriteOptions::max_output_per_byte).
///
/// Formats that name each frame repeat a name for each reference to it, so a file of 8 kB can make an output of 8 GB.
/// Writers check the limit before they take memory.
///
/// ```
/// use otlp_profiles::{ErrorKind, WriteOptions};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// # let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let limit = WriteOptions::default().max_output_bytes(8_u64).output_limit(&profiles);
/// assert_eq!(limit.text(|out| out.write_str("main 17"))?, "main 17");
/// assert_eq!(limit.text(|out| out.write_str("main 1700")).unwrap_err().kind(), ErrorKind::Limit);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// The name of the option that sets it.
    name: &'static str,
    bytes: u64,
}

impl WriteOptions {
    /// Returns the most bytes that an output of these profiles may take. It takes time linear in the number of profiles
    /// and attributes.
    pub fn output_limit(&self, profiles: &Profiles) -> OutputLimit {
        let strings = profiles.dictionary.strings.text_len() as u64;
        let of_rows = self.max_output_per_byte.saturating_mul(row_bytes(profiles) as u64);
        let of_profiles = of_rows.saturating_add(4 * strings).max(ALWAYS);
        if of_profiles < self.max_output_bytes {
            OutputLimit { name: "max_output_per_byte", bytes: of_profiles }
        } else {
            OutputLimit { name: "max_output_bytes", bytes: self.max_output_bytes }
        }
    }

    /// These options for a writer that knows the size of an output only.
    pub(crate) fn limited(&self, limit: OutputLimit) -> Self {
        self.clone().max_output_bytes(limit.bytes)
    }
}

/// Returns the bytes of memory of all rows and samples, without strings.
fn row_bytes(profiles: &Profiles) -> usize {
    let Profiles { dictionary, .. } = profiles;
    let locations = &dictionary.locations;
    let attributes = &dictionary.attributes;
    let values = attributes.iter().map(|attribute| heap_bytes(&attribute.value)).sum::<usize>();
    let of_profiles = profiles.iter().map(|profile| profile.owned_bytes()).sum::<usize>();
    let pairs = |entry: &crate::model::Entry<'_>| {
        let all = [entry.scope_attributes().len(), entry.resource_attributes().len()];
        64 * all.iter().sum::<usize>()
    };
    size_of_val(&attributes[..])
        + values
        + size_of_val(&dictionary.functions[..])
        + size_of_val(&dictionary.links[..])
        + size_of_val(&dictionary.mappings.rows[..])
        + size_of_val(&locations.mappings[..])
        + size_of_val(&locations.addresses[..])
        + locations.lines.owned_bytes()
        + locations.attributes.owned_bytes()
        + dictionary.mappings.attributes.owned_bytes()
        + dictionary.stacks.owned_bytes()
        + of_profiles
        + profiles.entries().map(|entry| pairs(&entry)).sum::<usize>()
}

impl OutputLimit {
    /// Returns the limit if one is given, or else the default one of all profiles together.
    #[cfg(feature = "transform")]
    pub(crate) fn or_default<'a>(
        given: Option<Self>,
        profiles: impl IntoIterator<Item = &'a Profiles>,
    ) -> Self {
        let options = WriteOptions::default();
        let limits = profiles.into_iter().map(|profiles| options.output_limit(profiles));
        given
            .or_else(|| limits.reduce(Self::and))
            .unwrap_or_else(|| options.output_limit(&Profiles::default()))
    }

    /// Returns the limit of an output of two profiles together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let per_byte = self.name == other.name && self.name == "max_output_per_byte";
        let bytes = if per_byte {
            self.bytes.saturating_add(other.bytes)
        } else {
            self.bytes.max(other.bytes)
        };
        let name = if self.bytes > other.bytes { self.name } else { other.name };
        Self { name, bytes }
    }

    /// Checks a number of bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`], with the option that raises it.
    pub fn check(self, bytes: u64) -> Result<()> {
        within(self.name, self.bytes, bytes)
    }

    /// Returns the text that `write` writes. `write` runs twice: first to count, so that a text beyond the limit takes no
    /// memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`], with the option that raises it.
    pub fn text(self, write: impl Fn(&mut dyn Write) -> fmt::Result) -> Result<String> {
        let bytes = self.count(&write)?;
        let mut text = String::with_capacity(usize::try_from(bytes).unwrap_or_default());
        // Writing to memory does not fail.
        _ = write(&mut text);
        Ok(text)
    }

    /// Returns the number of bytes that `write` writes. Stops it at the limit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`], with the option that raises it.
    pub fn count(self, write: impl Fn(&mut dyn Write) -> fmt::Result) -> Result<u64> {
        let mut counter = Counter { bytes: 0, limit: self.bytes };
        _ = write(&mut counter);
        self.check(counter.bytes)?;
        Ok(counter.bytes)
    }

    /// Names the option of this limit in the error of a writer that got it as `max_output_bytes`.
    pub(crate) fn named(self, error: Error) -> Error {
        let is_other =
            error.kind() == ErrorKind::Limit && error.limit() == Some("max_output_bytes");
        if is_other { self.check(u64::MAX).err().unwrap_or(error) } else { error }
    }
}

/// Counts what is written, and fails beyond the limit.
struct Counter {
    bytes: u64,
    limit: u64,
}

impl Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes = self.bytes.saturating_add(text.len() as u64);
        if self.bytes > self.limit { Err(fmt::Error) } else { Ok(()) }
    }
}
