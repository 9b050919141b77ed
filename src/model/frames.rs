//! The frames of a stack, with their names.

use std::fmt::{self, Debug, Display, Formatter};

use crate::model::attributes::Attributes;
use crate::model::dictionary::{Dictionary, Function, Line, Mapping};
use crate::model::id::{FunctionId, LocationId, MappingId, StackId};
use crate::semconv;

impl Dictionary {
    /// The frames of a stack, the leaf first; `.rev()` begins at the root.
    ///
    /// A location with several lines is several frames: a function and those it was inlined into,
    /// outward. A location without a line is one frame of which an address is known.
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    /// let frames = profiles.dictionary().frames(sample.stack);
    /// for frame in frames.clone() {
    ///     println!("{frame} at {}:{}", frame.filename(), frame.line());
    /// }
    /// let folded: Vec<&str> = frames.rev().map(|frame| frame.name()).collect();
    /// println!("{} {}", folded.join(";"), sample.values[0]);
    /// # Ok(()) }
    /// ```
    pub fn frames(
        &self,
        stack: StackId,
    ) -> impl DoubleEndedIterator<Item = FrameRef<'_>> + Clone + use<'_> {
        self.stack(stack).iter().flat_map(|&location| self.location_frames(location))
    }

    /// The frames of a location, innermost first: one, or one for each line.
    ///
    /// For the rows of [`stacks`](Self::stacks), or for one location of a stack of which the others are known.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/rust-cpu.pb.gz").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let dictionary = profiles.dictionary();
    /// let [leaf, ..] = dictionary.stacks().row(1) else { unreachable!() };
    /// let mut frames = dictionary.location_frames(*leaf);
    /// assert_eq!(frames.next().unwrap().name(), "arena_ptr_array_flush_impl_small");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn location_frames(
        &self,
        location: LocationId,
    ) -> impl DoubleEndedIterator<Item = FrameRef<'_>> + ExactSizeIterator + Clone + use<'_> {
        let lines = self.locations.lines(location);
        let frames = lines.len().max(1);
        (0..frames).map(move |at| FrameRef {
            dictionary: self,
            location,
            line: lines.get(at).copied().unwrap_or_default(),
            is_inlined: at + 1 < frames,
        })
    }
}

/// A frame of a stack: a function, where in it the program was, and the binary it is of.
///
/// As text it is the name of its function, else the function's system name, else its address:
/// `main.serve`, `_ZN4main5serveEv`, `0x401234`.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Builder;
/// use otlp_profiles::build::{Frame, root_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first([Frame::new("main"), Frame::new("parse").at("parse.rs", 40).frame_type("native")])).value(1);
///
/// let profiles = builder.finish()?;
/// let stack = profiles.iter().next().unwrap().samples().get(0).unwrap().stack;
/// let leaf = profiles.dictionary().frames(stack).next().unwrap();
/// assert_eq!((leaf.name(), leaf.filename(), leaf.line()), ("parse", "parse.rs", 40));
/// assert_eq!(leaf.frame_type(), Some("native"));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct FrameRef<'a> {
    /// The tables that the ids below are of.
    dictionary: &'a Dictionary,
    location: LocationId,
    /// Which of the location's lines; the default where it has none.
    line: Line,
    is_inlined: bool,
}

impl<'a> FrameRef<'a> {
    /// The name of the function, as people read it; empty when unknown.
    /// As text the frame is this, or the next best: see [`FrameRef`].
    pub fn name(&self) -> &'a str {
        self.dictionary.text(self.function().name)
    }

    /// The name of the function as the system knows it, such as a mangled one; empty when unknown.
    pub fn system_name(&self) -> &'a str {
        self.dictionary.text(self.function().system_name)
    }

    /// The source file; empty when unknown.
    pub fn filename(&self) -> &'a str {
        self.dictionary.text(self.function().filename)
    }

    /// The line in the source file, from 1; 0 is unknown.
    /// Where in the function the program was; [`start_line`](Self::start_line) is where the function is.
    pub fn line(&self) -> i64 {
        self.line.line
    }

    /// The column, from 1; 0 is unknown.
    /// Few producers say it.
    pub fn column(&self) -> i64 {
        self.line.column
    }

    /// The line where the function begins, from 1; 0 is unknown.
    pub fn start_line(&self) -> i64 {
        self.function().start_line
    }

    /// The address of the location; 0 is unknown. Frames inlined into one another share it.
    /// For return addresses producers differ: the specification asks for one that lies within the call.
    pub fn address(&self) -> u64 {
        self.dictionary.locations.address(self.location)
    }

    /// Whether the function was inlined into that of the next frame toward the root.
    /// The last frame of a location never is.
    pub fn is_inlined(&self) -> bool {
        self.is_inlined
    }

    /// The row of the function.
    /// The empty row where no line is known.
    pub fn function(&self) -> Function {
        self.dictionary.function(self.line.function)
    }

    /// The number of the function's row.
    pub(crate) fn function_id(&self) -> FunctionId {
        self.line.function
    }

    /// The location the frame is of.
    /// Several frames share one where code was inlined.
    pub fn location(&self) -> LocationId {
        self.location
    }

    /// The mapping the location lies in.
    /// [`MappingId::NONE`] where the binary is not known.
    pub fn mapping(&self) -> MappingId {
        self.dictionary.locations.mapping(self.location)
    }

    /// The name of the binary; empty when unknown.
    /// A path, as a rule, or a name such as `[vdso]`.
    pub fn mapping_filename(&self) -> &'a str {
        let Mapping { filename, .. } = self.dictionary.mappings.get(self.mapping());
        self.dictionary.text(filename)
    }

    /// The build id of the binary: the GNU linker's, else Go's, else the hash of head and tail.
    /// By it a server finds the symbols. Of pprof's own field `build_id` the reader makes one of these.
    pub fn build_id(&self) -> Option<&'a str> {
        let attributes = self.mapping_attributes();
        semconv::BUILD_IDS.iter().find_map(|key| attributes.get_str(key))
    }

    /// What kind of code it is, such as `native`, `kernel` or `cpython`.
    /// The names are [those of the conventions](https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/).
    pub fn frame_type(&self) -> Option<&'a str> {
        self.attributes().get_str(semconv::PROFILE_FRAME_TYPE)
    }

    /// What else is known of the location.
    /// The frame type is among them.
    pub fn attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(self.dictionary.locations.attributes(self.location))
    }

    /// What else is known of the binary.
    /// The build ids are among them.
    pub fn mapping_attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(self.dictionary.mappings.attributes(self.mapping()))
    }
}

impl Debug for FrameRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameRef")
            .field("name", &self.name())
            .field("filename", &self.filename())
            .field("line", &self.line())
            .field("address", &self.address())
            .field("is_inlined", &self.is_inlined)
            .finish_non_exhaustive()
    }
}

impl Display for FrameRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.name(), self.system_name()) {
            ("", "") => write!(f, "{:#x}", self.address()),
            ("", name) | (name, _) => f.pad(name),
        }
    }
}
