//! The frames of a stack, with their names.

use std::fmt::{self, Debug, Display, Formatter};

use crate::model::attributes::Attributes;
use crate::model::dictionary::{Dictionary, Function, Line, Mapping};
use crate::model::id::{FunctionId, LocationId, MappingId, StackId};
use crate::semconv;

impl Dictionary {
    /// Iterates over the frames of a stack, leaf first; `.rev()` starts at the root.
    ///
    /// A location with several lines yields several frames: a function, then the functions it was inlined into,
    /// outward. A location without a line yields one frame with its address.
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

    /// Iterates over the frames of a location, innermost first: one, or one for each line.
    ///
    /// Use it for the rows of [`stacks`](Self::stacks), or for a single location of a stack.
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
        // A location that is not symbolized is a frame as well.
        let frames = lines.len().max(1);
        (0..frames).map(move |at| FrameRef {
            dictionary: self,
            location,
            line: lines.get(at).copied().unwrap_or_default(),
            is_inlined: at + 1 < frames,
        })
    }
}

/// A frame of a stack: a function, the position in it, and its binary.
///
/// It displays as the name of its function, or the function's system name, or its address:
/// `main.serve`, `_ZN4main5serveEv`, `0x401234`.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::Builder;
/// use otlp_profiles::builder::{Frame, root_first};
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
    /// The tables that the ids refer to.
    dictionary: &'a Dictionary,
    location: LocationId,
    /// A line of the location; the default if it has no lines.
    line: Line,
    is_inlined: bool,
}

impl<'a> FrameRef<'a> {
    /// Returns the human-readable name of the function; empty if unknown.
    /// To fall back to other names, display the frame: see [`FrameRef`].
    pub fn name(&self) -> &'a str {
        self.dictionary.text(self.function().name)
    }

    /// Returns the name of the function used by the system, such as a mangled one; empty if unknown.
    pub fn system_name(&self) -> &'a str {
        self.dictionary.text(self.function().system_name)
    }

    /// Returns the source file; empty if unknown.
    pub fn filename(&self) -> &'a str {
        self.dictionary.text(self.function().filename)
    }

    /// Returns the line in the source file, from 1; 0 is unknown.
    /// It is the current position; [`start_line`](Self::start_line) is the beginning of the function.
    pub fn line(&self) -> i64 {
        self.line.line
    }

    /// Returns the column, from 1; 0 is unknown.
    /// Few producers set this field.
    pub fn column(&self) -> i64 {
        self.line.column
    }

    /// Returns the line where the function begins, from 1; 0 is unknown.
    pub fn start_line(&self) -> i64 {
        self.function().start_line
    }

    /// Returns the address of the location; 0 is unknown. Frames inlined into one another share it.
    /// Producers differ in return addresses: the specification requires one within the call.
    pub fn address(&self) -> u64 {
        self.dictionary.locations.address(self.location)
    }

    /// Returns whether the function was inlined into that of the next frame toward the root.
    /// Always false for the last frame of a location.
    pub fn is_inlined(&self) -> bool {
        self.is_inlined
    }

    /// Returns the function.
    /// The empty row if the location has no lines.
    pub fn function(&self) -> Function {
        self.dictionary.function(self.line.function)
    }

    /// Returns the id of the function.
    pub(crate) fn function_id(&self) -> FunctionId {
        self.line.function
    }

    /// Returns the location of the frame.
    /// Inlined frames share one location.
    pub fn location(&self) -> LocationId {
        self.location
    }

    /// Returns the mapping of the location.
    /// [`MappingId::NONE`] if the binary is unknown.
    pub fn mapping(&self) -> MappingId {
        self.dictionary.locations.mapping(self.location)
    }

    /// Returns the name of the binary; empty if unknown.
    /// It is usually a path, or a name such as `[vdso]`.
    pub fn mapping_filename(&self) -> &'a str {
        let Mapping { filename, .. } = self.dictionary.mappings.get(self.mapping());
        self.dictionary.text(filename)
    }

    /// Returns the build id of the binary: the GNU linker's, else Go's, else the hash of head and tail.
    /// A server uses it to find the symbols. The reader converts pprof's field `build_id` to one of these.
    pub fn build_id(&self) -> Option<&'a str> {
        let attributes = self.mapping_attributes();
        semconv::BUILD_IDS.iter().find_map(|key| attributes.get_str(key))
    }

    /// Returns the kind of code, such as `native`, `kernel` or `cpython`.
    /// The names are [those of the conventions](https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/).
    pub fn frame_type(&self) -> Option<&'a str> {
        self.attributes().get_str(semconv::PROFILE_FRAME_TYPE)
    }

    /// Returns the attributes of the location.
    /// They include the frame type.
    pub fn attributes(&self) -> Attributes<'a> {
        self.dictionary.resolve(self.dictionary.locations.attributes(self.location))
    }

    /// Returns the attributes of the binary.
    /// They include the build ids.
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
