//! The mappings of a running process, and the mapping of an address.

use crate::wire::hex::hex_number;
use std::borrow::Borrow;
use std::io;

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::parts::NewMapping;
use crate::builder::stack::{Order, OrderedFrames};
use crate::error::{Error, Result};
use crate::model::id::{MappingId, StackId};

/// The executable mappings of a process. It finds the mapping of an address by binary search.
///
/// A mapping becomes a row of a builder when an address in it first appears, in each interval
/// after [`finish_interval`](Builder::finish_interval). Read the mappings again after libraries were loaded.
///
/// ```
/// use otlp_profiles::builder::{ProcessMappings, leaf_first};
/// use otlp_profiles::{Builder, semconv};
///
/// // `ProcessMappings::of_self()?` on Linux.
/// let maps = "\
/// 55d0c0000000-55d0c0004000 r--p 00000000 08:02 1313 /usr/bin/server
/// 55d0c0004000-55d0c0020000 r-xp 00004000 08:02 1313 /usr/bin/server
/// 7f2c10028000-7f2c101bd000 r-xp 00028000 08:02 2407 /usr/lib/libc.so.6
/// ";
/// let mut mappings = ProcessMappings::parse(maps)?.build_ids(|mapping| match &*mapping.filename {
///     "/usr/bin/server" => Some((semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293".into())),
///     _ => None,
/// });
/// assert_eq!(mappings.find(0x7f2c_1002_8010).unwrap().filename, "/usr/lib/libc.so.6");
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// // An unwinder returns the current instruction, then return addresses.
/// let stack = mappings.stack(&mut builder, leaf_first([0x7f2c_1002_8010, 0x55d0_c000_4242]));
/// builder.sample(cpu, stack).value(10_000_000);
/// # let profiles = builder.finish()?;
/// # assert_eq!(profiles.dictionary().mappings().rows().len(), 3);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProcessMappings {
    /// Sorted by address, each with its key in the builder that last used it.
    mappings: Vec<(ProcessMapping, Key<MappingId>)>,
}

/// An executable mapping of a process.
///
/// ```
/// use otlp_profiles::builder::ProcessMappings;
///
/// let maps = "55d0c0004000-55d0c0020000 r-xp 00004000 08:02 1313 /usr/bin/server\n";
/// let mappings = ProcessMappings::parse(maps)?;
/// let server = mappings.iter().next().unwrap();
/// assert_eq!((server.file_offset, server.filename.as_str()), (0x4000, "/usr/bin/server"));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessMapping {
    /// The first address.
    pub memory_start: u64,
    /// The end address, exclusive.
    pub memory_limit: u64,
    /// The offset in the file of the first byte mapped.
    pub file_offset: u64,
    /// The path of the file, or a name such as `[vdso]`; empty for memory without either.
    pub filename: String,
    /// The name and the value of the attribute that is its build id, if known.
    pub build_id: Option<(&'static str, String)>,
}

impl ProcessMappings {
    /// Reads the mappings of this process from `/proc/self/maps`.
    ///
    /// # Errors
    ///
    /// The file does not exist (only Linux has it) or cannot be read.
    ///
    /// ```no_run
    /// let mappings = otlp_profiles::builder::ProcessMappings::of_self()?;
    /// assert!(mappings.iter().len() > 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of_self() -> io::Result<Self> {
        Self::of_file("/proc/self/maps")
    }

    /// Reads the mappings of another process from `/proc/{pid}/maps`.
    ///
    /// # Errors
    ///
    /// The same as [`of_self`](Self::of_self), or missing permission.
    /// It needs the same permissions as `ptrace`.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Self::of_file(&format!("/proc/{pid}/maps"))
    }

    /// Reads mappings from a file.
    fn of_file(path: &str) -> io::Result<Self> {
        let maps = std::fs::read(path)?;
        Self::parse(&String::from_utf8_lossy(&maps))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Parses the text of a `/proc/{pid}/maps`. Ignores mappings without the permission `x`, which are not
    /// executable.
    ///
    /// # Errors
    ///
    /// A line has another form. The error contains its number.
    ///
    /// ```
    /// use otlp_profiles::builder::ProcessMappings;
    ///
    /// let error = ProcessMappings::parse("what is this\n").unwrap_err();
    /// assert!(error.to_string().contains("line 1"), "{error}");
    /// ```
    pub fn parse(maps: &str) -> Result<Self> {
        let mut mappings = Vec::new();
        for (row, line) in maps.lines().enumerate() {
            let parsed = parse_line(line).ok_or_else(|| not_a_mapping(row + 1, line))?;
            mappings.extend(parsed.map(|mapping| (mapping, Key::NONE)));
        }
        // `row` searches by halves, which needs this order.
        mappings.sort_by_key(|(mapping, _)| mapping.memory_start);
        Ok(Self { mappings })
    }

    /// Sets the build id of each mapping: the name of the attribute, one of [`semconv`](crate::semconv), and its
    /// value.
    ///
    /// The specification requires a build id on every mapping, so that a backend finds the symbols.
    /// `builder::htlhash` (feature `build-id`) computes one for any file.
    #[must_use]
    pub fn build_ids(
        mut self,
        mut build_id: impl FnMut(&ProcessMapping) -> Option<(&'static str, String)>,
    ) -> Self {
        for (mapping, key) in &mut self.mappings {
            mapping.build_id = build_id(mapping);
            *key = Key::NONE;
        }
        self
    }

    /// Iterates over all mappings in the order of their addresses.
    /// It includes mappings without samples, which the profiles omit.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ProcessMapping> {
        self.mappings.iter().map(|(mapping, _)| mapping)
    }

    /// Returns the mapping that contains an address.
    /// The time is logarithmic in the number of mappings.
    ///
    /// ```
    /// use otlp_profiles::builder::ProcessMappings;
    ///
    /// let mappings = ProcessMappings::parse("1000-2000 r-xp 00000000 08:02 7 /bin/a\n")?;
    /// assert!(mappings.find(0x1fff).is_some());
    /// assert!(mappings.find(0x2000).is_none());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn find(&self, address: u64) -> Option<&ProcessMapping> {
        Some(&self.mappings.get(self.row(address)?)?.0)
    }

    /// Returns the row of the mapping that contains an address. Mappings do not overlap, so it can only be the last
    /// one that begins at or before the address.
    fn row(&self, address: u64) -> Option<usize> {
        let behind = self.mappings.partition_point(|(mapping, _)| mapping.memory_start <= address);
        let row = behind.checked_sub(1)?;
        (address < self.mappings.get(row)?.0.memory_limit).then_some(row)
    }

    /// Returns the builder's mapping that contains an address, or [`Key::NONE`].
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{NewLocation, ProcessMappings}};
    ///
    /// let mut mappings = ProcessMappings::parse("55d0c0004000-55d0c0020000 r-xp 00004000 08:02 1313 /bin/a")?;
    /// let mut builder = Builder::new();
    /// let mapping = mappings.mapping(&mut builder, 0x55d0_c000_4242);
    /// let location = NewLocation::new().address(mapping, 0x55d0_c000_4242).frame_type("native");
    /// let location = builder.location(location);
    /// # let _ = location;
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn mapping(&mut self, builder: &mut Builder, address: u64) -> Key<MappingId> {
        let found = self.row(address).and_then(|row| self.mappings.get_mut(row));
        let Some((mapping, key)) = found else { return Key::NONE };
        // Keys are valid in one generation of one builder: make others again.
        if !builder.generation.made(*key) {
            *key = mapping.add_to(builder);
        }
        *key
    }

    /// Builds the stack of the addresses from an unwinder.
    ///
    /// The leaf is the current instruction; all other addresses are return addresses. A return address points
    /// after its call, possibly into the next line or function, so the method subtracts one from it.
    ///
    /// An address outside all mappings becomes a location without a mapping. The address 0 outside all mappings, with which
    /// unwinders end, is left out. [`Builder::address`] takes addresses unchanged.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{ProcessMappings, leaf_first}};
    ///
    /// let mut mappings = ProcessMappings::parse("1000-2000 r-xp 00000000 08:02 7 /bin/a\n")?;
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// let stack = mappings.stack(&mut builder, leaf_first([0x1010_u64, 0x1800]));
    /// builder.sample(cpu, stack).value(1);
    ///
    /// let profiles = builder.finish()?;
    /// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    /// let addresses = profiles.dictionary().frames(sample.stack).map(|frame| frame.address());
    /// assert_eq!(addresses.collect::<Vec<_>>(), [0x1010, 0x17ff]);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn stack<I: IntoIterator<Item: Borrow<u64>>>(
        &mut self,
        builder: &mut Builder,
        addresses: OrderedFrames<I>,
    ) -> Key<StackId> {
        let OrderedFrames { frames, order } = addresses;
        let mut addresses = frames.into_iter().peekable();
        let mut first = true;
        let addresses = std::iter::from_fn(|| {
            let address: u64 = *addresses.next()?.borrow();
            let is_leaf = match order {
                Order::LeafFirst => first,
                Order::RootFirst => addresses.peek().is_none(),
            };
            first = false;
            Some(if is_leaf { address } else { address.saturating_sub(1) })
        });
        builder.stack_of(addresses, order, |builder, address| {
            let mapping = self.mapping(builder, address);
            builder.address(mapping, address)
        })
    }
}

impl ProcessMapping {
    /// Adds the mapping to a builder.
    fn add_to(&self, builder: &mut Builder) -> Key<MappingId> {
        let build_id = self.build_id.as_ref();
        let build_id = build_id.map(|(name, value)| builder.attribute(*name, value));
        let mapping = NewMapping::new(&self.filename)
            .memory(self.memory_start, self.memory_limit)
            .file_offset(self.file_offset)
            .attributes(build_id.as_slice());
        builder.mapping(mapping)
    }
}

/// Parses a line such as `55d0c0004000-55d0c0020000 r-xp 00004000 08:02 1313 /usr/bin/a`. `None` if the line is
/// invalid, `Some(None)` if the mapping is not executable.
fn parse_line(line: &str) -> Option<Option<ProcessMapping>> {
    let (range, rest) = line.split_once(' ')?;
    let (permissions, rest) = rest.split_once(' ')?;
    let (offset, rest) = rest.split_once(' ')?;
    let (_device, rest) = rest.split_once(' ')?;
    let (_inode, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let (start, limit) = range.split_once('-')?;
    let hex = |text: &str| hex_number(text.as_bytes());
    let (memory_start, memory_limit, file_offset) = (hex(start)?, hex(limit)?, hex(offset)?);
    Some(permissions.contains('x').then(|| ProcessMapping {
        memory_start,
        memory_limit,
        file_offset,
        filename: filename(path),
        build_id: None,
    }))
}

/// Returns the name of a file, which may have been deleted. The kernel escapes newlines in it.
fn filename(path: &str) -> String {
    let path = path.trim_start();
    path.strip_suffix(" (deleted)").unwrap_or(path).replace("\\012", "\n")
}

/// Returns the error of an invalid line.
#[cold]
fn not_a_mapping(number: usize, line: &str) -> Error {
    let begin: String = line.chars().take(80).collect();
    Error::malformed(format!(
        "line {number} of the mappings is {begin:?}; expected `start-end rwxp offset device inode path`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/with a space
00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/with a space
7f0000000000-7f0000010000 r-xp 00000000 00:00 0
7f0000010000-7f0000020000 r-xp 00010000 08:02 135522 /lib/new\\012line.so (deleted)
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";

    #[test]
    fn executable_mappings_are_found_by_address() {
        let mappings = ProcessMappings::parse(MAPS).unwrap();
        let find = |address| mappings.find(address).map(|mapping| mapping.filename.as_str());
        assert_eq!(mappings.iter().len(), 4);
        assert_eq!(find(0x3f_ffff), None);
        assert_eq!(find(0x40_0000), Some("/usr/bin/with a space"));
        assert_eq!(find(0x45_1fff), Some("/usr/bin/with a space"));
        assert_eq!(find(0x45_2000), None);
        assert_eq!(find(0x65_1000), None, "not executable");
        assert_eq!(find(0x7f00_0000_ffff), Some(""));
        assert_eq!(find(0x7f00_0001_0000), Some("/lib/new\nline.so"));
        assert_eq!(find(0xffff_ffff_ff60_0fff), Some("[vsyscall]"));
        assert_eq!(find(u64::MAX), None);
    }

    #[test]
    fn a_line_that_is_no_mapping_is_named() {
        let error =
            ProcessMappings::parse("00400000-00452000 r-xp 0 08:02 1 /a\nnonsense").unwrap_err();
        assert!(error.to_string().starts_with("line 2 of the mappings is \"nonsense\""), "{error}");
        assert!(ProcessMappings::parse("004x0000-00452000 r-xp 0 08:02 1").is_err());
        assert_eq!(ProcessMappings::parse("").unwrap().iter().len(), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_test_is_in_a_mapping_of_its_process() {
        let mappings = ProcessMappings::of_self().unwrap();
        let own = mappings.find(parse_line as *const () as u64).unwrap();
        let program = std::env::current_exe().unwrap();
        assert_eq!(own.filename, program.to_string_lossy());
        assert_eq!(
            ProcessMappings::of_process(std::process::id()).unwrap().iter().len(),
            mappings.iter().len()
        );
    }
}
