//! The tables that all profiles of a payload share.

use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::ragged::Ragged;
use crate::model::strings::Strings;
use crate::model::value::Value;

/// The tables that all profiles of a payload share. Row 0 of each is the empty row, and every id in a table is a
/// valid row of the table it refers to.
///
/// ```text
/// Sample ─► stacks ─► locations ─► lines ─► functions ─► strings
///    │                    └─► mappings ─► strings
///    ├─► attributes ─► strings
///    └─► links
/// ```
///
/// Rows keep the order of the payload, and equal rows stay separate. Rows may be
/// unreferenced; [`Profiles::compact`](crate::Profiles::compact) removes such rows.
///
/// | table | a row is | in memory |
/// |---|---|---|
/// | [`strings`](Self::strings) | a string | one arena, with the end of each |
/// | [`mappings`](Self::mappings) | a binary in memory | rows, and a column of attributes |
/// | [`functions`](Self::functions) | a function | rows |
/// | [`locations`](Self::locations) | an address, its lines | columns |
/// | [`links`](Self::links) | a span | rows |
/// | [`attributes`](Self::attributes) | key, value, unit | rows |
/// | [`stacks`](Self::stacks) | locations, leaf first | one array, with the end of each |
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let dictionary = profiles.dictionary();
/// let names: Vec<&str> = dictionary.functions().iter().map(|f| dictionary.text(f.name)).collect();
/// assert!(names.contains(&"main.main"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    pub(crate) strings: Strings,
    pub(crate) mappings: Mappings,
    pub(crate) functions: Vec<Function>,
    pub(crate) locations: Locations,
    pub(crate) links: Vec<Link>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) stacks: Ragged<LocationId>,
}

impl Default for Dictionary {
    /// Creates tables with only the empty row 0.
    fn default() -> Self {
        let mut stacks = Ragged::default();
        stacks.end_row();
        Self {
            strings: Strings::default(),
            mappings: Mappings::default(),
            functions: vec![Function::default()],
            locations: Locations::default(),
            links: vec![Link::default()],
            attributes: vec![Attribute::default()],
            stacks,
        }
    }
}

impl Dictionary {
    /// Returns all strings.
    /// [`text`](Self::text) returns one by its id.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// Returns the string of `id`.
    /// Empty for [`StringId::NONE`], and for an id of another dictionary beyond the end.
    ///
    /// ```
    /// use otlp_profiles::model::StringId;
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let dictionary = profiles.dictionary();
    /// assert_eq!(dictionary.text(StringId::NONE), "");
    /// assert_eq!(dictionary.text(dictionary.functions()[1].name), "runtime/pprof.writeHeapInternal");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn text(&self, id: StringId) -> &str {
        self.strings.get(id)
    }

    /// Returns the mapping table.
    /// A [`MappingId`] indexes it.
    pub fn mappings(&self) -> &Mappings {
        &self.mappings
    }

    /// Returns the function table; row 0 is the empty function.
    /// Index it with [`FunctionId::row`].
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the function of `id`; the empty one for an id of another dictionary beyond the end.
    pub fn function(&self, id: FunctionId) -> Function {
        self.functions.get(id.row()).copied().unwrap_or_default()
    }

    /// Returns the location table.
    /// A [`LocationId`] indexes it.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// Returns the link table; row 0 is the empty link.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Returns the link of `id`; the empty one for an id of another dictionary beyond the end.
    ///
    /// ```
    /// use otlp_profiles::model::{Link, LinkId};
    /// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let samples = profiles.iter().next().unwrap().samples();
    /// // The reader converts the pprof labels trace_id and span_id to links.
    /// let linked = samples.iter().find(|sample| sample.link != LinkId::NONE).unwrap();
    /// assert_ne!(profiles.dictionary().link(linked.link), Link::default());
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn link(&self, id: LinkId) -> Link {
        self.links.get(id.row()).copied().unwrap_or_default()
    }

    /// Returns the attribute table; row 0 is the empty attribute.
    /// It holds those of samples, profiles, locations and mappings; resources and scopes store pairs instead.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns the attribute of `id`, if it is in range.
    /// [`resolve`](Self::resolve) returns the attributes of a list with their strings.
    pub fn attribute(&self, id: AttributeId) -> Option<&Attribute> {
        self.attributes.get(id.row())
    }

    /// Returns the stack table: the locations of each stack, leaf first; row 0 is the empty stack.
    ///
    /// Generations without a stack table (before 1.8) and pprof store the locations in every sample. Here each
    /// distinct list is one row.
    pub fn stacks(&self) -> &Ragged<LocationId> {
        &self.stacks
    }

    /// Returns the locations of a stack, leaf first.
    ///
    /// [`frames`](Self::frames) returns the functions, including inlined ones.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let dictionary = profiles.dictionary();
    /// let sample = profiles.iter().next().unwrap().samples().get(1).unwrap();
    /// let leaf = dictionary.stack(sample.stack)[0];
    /// assert_eq!(dictionary.location_frames(leaf).next().unwrap().name(), "main.leak");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn stack(&self, id: StackId) -> &[LocationId] {
        self.stacks.row(id.row())
    }
}

/// A function of the source code or the binary.
///
/// Functions with equal names may have several rows, for example one for each file or binary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Function {
    /// The human-readable name.
    pub name: StringId,
    /// The name used by the system, such as a mangled one.
    /// Empty if the producer has only one name.
    pub system_name: StringId,
    /// The source file.
    pub filename: StringId,
    /// The line where it begins, from 1; 0 is unknown.
    pub start_line: i64,
}

impl Function {
    /// Returns the strings of the function, in the order of its fields.
    pub(crate) fn texts(&self) -> [StringId; 3] {
        [self.name, self.system_name, self.filename]
    }
}

/// A line of a location: a function, innermost first if code was inlined.
///
/// The last line of a location is the function with the actual stack frame; each earlier function was inlined into
/// the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Line {
    /// The function.
    pub function: FunctionId,
    /// The line, from 1; 0 is unknown.
    pub line: i64,
    /// The column, from 1; 0 is unknown.
    pub column: i64,
}

/// A binary mapped into memory.
///
/// Addresses of locations are those of the process, as in `/proc/PID/maps`. 0 means that the producer
/// did not set them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mapping {
    /// The address where the mapping begins.
    pub memory_start: u64,
    /// The address where it ends.
    pub memory_limit: u64,
    /// The offset in the binary of the first byte mapped.
    pub file_offset: u64,
    /// The name of the binary.
    pub filename: StringId,
}

impl Mapping {
    /// Returns whether a location with this address may be in the mapping. True if either has no address.
    pub(crate) fn may_hold(&self, address: u64) -> bool {
        address == 0
            || self.memory_limit == 0
            || (self.memory_start..self.memory_limit).contains(&address)
    }
}

/// A span of a trace.
///
/// Both are the bytes that [W3C trace context](https://www.w3.org/TR/trace-context/) writes as hex digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Link {
    /// The trace.
    pub trace_id: [u8; 16],
    /// The span.
    pub span_id: [u8; 8],
}

/// A key, a value and the unit it is in.
///
/// It is `KeyValueAndUnit` since 1.8. Older generations store units in a table beside the attributes, pprof on
/// each numeric label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Attribute {
    /// The key.
    pub key: StringId,
    /// The value.
    pub value: Value,
    /// The unit; [`StringId::NONE`] if unset.
    /// Always unset on attributes of resources and scopes, which have no field for it.
    pub unit: StringId,
}

impl Attribute {
    /// Calls `f` for every string of the attribute: key, unit, value.
    pub(crate) fn for_each_text(&self, f: &mut impl FnMut(StringId)) {
        f(self.key);
        f(self.unit);
        self.value.for_each_text(f);
    }
}

/// The mapping table: one row per mapped region, and the attributes of each.
///
/// A binary is mapped in parts, so it may have several rows.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let mappings = profiles.dictionary().mappings();
/// assert_eq!(mappings.rows()[0], Default::default());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mappings {
    /// The mappings; the first is empty.
    pub(crate) rows: Vec<Mapping>,
    pub(crate) attributes: Ragged<AttributeId>,
}

impl Default for Mappings {
    fn default() -> Self {
        Self { rows: vec![Mapping::default()], attributes: Ragged::default() }
    }
}

impl Mappings {
    /// Returns all mappings; row 0 is the empty one.
    pub fn rows(&self) -> &[Mapping] {
        &self.rows
    }

    /// Returns the mapping of `id`; the empty one for an id of another dictionary beyond the end.
    /// It returns a copy of a few words.
    pub fn get(&self, id: MappingId) -> Mapping {
        self.rows.get(id.row()).copied().unwrap_or_default()
    }

    /// Returns the attributes of a mapping.
    /// They include build ids: see [`FrameRef::build_id`](crate::model::FrameRef::build_id).
    pub fn attributes(&self, id: MappingId) -> &[AttributeId] {
        self.attributes.row(id.row())
    }
}

/// The location table by column: the mapping, the address, the lines and the attributes of each location.
///
/// Columns suit the usual uses: a walk over stacks needs only the lines, and a symbolizer only the addresses.
/// Columns of lists may be shorter than the table if the last rows have no items.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let locations = profiles.dictionary().locations();
/// let leaf = profiles.dictionary().stacks().row(1)[0];
/// assert!(!locations.lines(leaf).is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    /// The mapping of each location. NONE if the binary is unknown.
    pub(crate) mappings: Vec<MappingId>,
    /// Addresses in the process, in the order of the table.
    pub(crate) addresses: Vec<u64>,
    /// Innermost first.
    pub(crate) lines: Ragged<Line>,
    pub(crate) attributes: Ragged<AttributeId>,
}

impl Default for Locations {
    fn default() -> Self {
        Self {
            mappings: vec![MappingId::NONE],
            addresses: vec![0],
            lines: Ragged::default(),
            attributes: Ragged::default(),
        }
    }
}

impl Locations {
    /// Returns the number of locations, including the empty one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.mappings.len()
    }

    /// Returns the mapping of a location.
    /// [`MappingId::NONE`] if the binary is unknown.
    #[inline]
    pub fn mapping(&self, id: LocationId) -> MappingId {
        self.mappings.get(id.row()).copied().unwrap_or_default()
    }

    /// Returns the address of a location; 0 is unknown.
    /// A location without an address is identified by its lines.
    #[inline]
    pub fn address(&self, id: LocationId) -> u64 {
        self.addresses.get(id.row()).copied().unwrap_or_default()
    }

    /// Returns the lines of a location, innermost first.
    /// Empty if it is not symbolised.
    #[inline]
    pub fn lines(&self, id: LocationId) -> &[Line] {
        self.lines.row(id.row())
    }

    /// Returns the attributes of a location.
    /// They include the frame type: see [`FrameRef::frame_type`](crate::model::FrameRef::frame_type).
    #[inline]
    pub fn attributes(&self, id: LocationId) -> &[AttributeId] {
        self.attributes.row(id.row())
    }
}
