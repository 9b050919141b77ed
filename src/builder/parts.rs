//! Rows of the dictionary, as a caller describes them.

use crate::builder::key::Key;
use crate::builder::value::StringRef;
use crate::model::id::{AttributeId, FunctionId, MappingId};

/// A function: its names and where it begins. One without any name is [`Key::NONE`].
///
/// [`Builder::function`](crate::Builder::function) takes it.
///
/// ```
/// use otlp_profiles::{Builder, builder::NewFunction};
///
/// let write = NewFunction::new("core::fmt::write")
///     .system_name("_ZN4core3fmt5writeE")
///     .filename("fmt/mod.rs")
///     .start_line(1480);
/// let key = Builder::new().function(write);
/// # let _ = key;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewFunction<'a> {
    /// The name as people read it.
    pub name: StringRef<'a>,
    /// The name as the system knows it, such as a mangled one.
    pub system_name: StringRef<'a>,
    /// The source file.
    pub filename: StringRef<'a>,
    /// The line where it begins, from 1; 0 is unknown.
    pub start_line: u32,
}

impl<'a> NewFunction<'a> {
    /// A function of this name.
    /// All else is unknown.
    pub fn new(name: impl Into<StringRef<'a>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the name as the system knows it.
    /// Producers that do not demangle give this alone, or the same text as both.
    #[must_use]
    pub fn system_name(self, system_name: impl Into<StringRef<'a>>) -> Self {
        Self { system_name: system_name.into(), ..self }
    }

    /// Sets the source file.
    /// A path, as the debug information has it.
    #[must_use]
    pub fn filename(self, filename: impl Into<StringRef<'a>>) -> Self {
        Self { filename: filename.into(), ..self }
    }

    /// Sets the line where it begins, from 1.
    /// It tells two functions of one name apart, and lets a backend say how far into one a line is.
    #[must_use]
    pub fn start_line(self, start_line: u32) -> Self {
        Self { start_line, ..self }
    }
}

/// A binary, or a part of one, mapped into memory.
///
/// The specification asks for a build id on every mapping, as an attribute named in
/// [`semconv`](crate::semconv). [`ProcessMappings`](super::ProcessMappings) reads those of a running
/// process.
///
/// [`Builder::mapping`](crate::Builder::mapping) takes it.
///
/// ```
/// use otlp_profiles::{Builder, builder::NewMapping, semconv};
///
/// let mut builder = Builder::new();
/// let build_id = builder.attribute(semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293");
/// let libc = NewMapping::new("/lib/libc.so.6").memory(0x7f00_0000, 0x7f10_0000).file_offset(0x2_8000);
/// let libc = builder.mapping(libc.attributes(&[build_id]));
/// let leaf = builder.address(libc, 0x7f00_1234);
/// # let _ = leaf;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewMapping<'a> {
    /// The path or name of the file.
    pub filename: StringRef<'a>,
    /// The address where the mapping begins.
    pub memory_start: u64,
    /// The address where it ends. Unless it is past `memory_start`, both are taken for unknown.
    pub memory_limit: u64,
    /// The offset in the file of the first byte mapped.
    pub file_offset: u64,
    /// Its attributes; of two with the same key the later one counts.
    pub attributes: &'a [Key<AttributeId>],
}

impl<'a> NewMapping<'a> {
    /// A mapping of this file.
    /// Where it lies in memory is unknown yet.
    pub fn new(filename: impl Into<StringRef<'a>>) -> Self {
        Self { filename: filename.into(), ..Self::default() }
    }

    /// Sets the addresses where it begins and ends.
    /// The end is the first address behind it, as in `/proc/PID/maps`.
    #[must_use]
    pub fn memory(self, memory_start: u64, memory_limit: u64) -> Self {
        Self { memory_start, memory_limit, ..self }
    }

    /// Sets the offset in the file of the first byte mapped.
    /// By it and the beginning an address of the process becomes one of the file.
    #[must_use]
    pub fn file_offset(self, file_offset: u64) -> Self {
        Self { file_offset, ..self }
    }

    /// Sets its attributes.
    /// Those of before are replaced, not added to. A build id is one.
    #[must_use]
    pub fn attributes(self, attributes: &'a [Key<AttributeId>]) -> Self {
        Self { attributes, ..self }
    }
}

/// A line of source code: one of the functions at a [`NewLocation`]. One without a function says
/// nothing and is left out.
///
/// ```
/// use otlp_profiles::{Builder, builder::{NewFunction, NewLine}};
///
/// let main = Builder::new().function(NewFunction::new("main"));
/// let line = NewLine::new(main).line(12).column(5);
/// # let _ = line;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct NewLine {
    /// The function.
    pub function: Key<FunctionId>,
    /// The line, from 1; 0 is unknown.
    pub line: u32,
    /// The column, from 1; 0 is unknown.
    pub column: u32,
}

impl NewLine {
    /// An unknown line of this function.
    /// A key of another builder makes the key of the location foreign.
    pub fn new(function: Key<FunctionId>) -> Self {
        Self { function, ..Self::default() }
    }

    /// Sets the line, from 1.
    /// Of what was executing: at a call, the line of the call.
    #[must_use]
    pub fn line(self, line: u32) -> Self {
        Self { line, ..self }
    }

    /// Sets the column, from 1.
    #[must_use]
    pub fn column(self, column: u32) -> Self {
        Self { column, ..self }
    }
}

/// A location in the code: an address, the lines there, or both. One of which nothing is known is
/// [`Key::NONE`].
///
/// Several lines are functions inlined into one another, the innermost first.
///
/// [`Builder::location`](crate::Builder::location) takes it; [`Builder::address`](crate::Builder::address) is shorter
/// where there is an address alone.
///
/// ```
/// use otlp_profiles::{Builder, builder::{NewFunction, NewLine, NewLocation, NewMapping}};
///
/// let mut builder = Builder::new();
/// let server = builder.mapping(NewMapping::new("/usr/bin/server").memory(0x1000, 0x9000));
/// let [inner, outer] = ["inner", "outer"].map(|name| builder.function(NewFunction::new(name)));
/// let lines = [NewLine::new(inner).line(3), NewLine::new(outer).line(40)];
/// let location = builder.location(NewLocation::new().address(server, 0x1234).lines(&lines).frame_type("native"));
/// # let _ = location;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct NewLocation<'a> {
    /// The mapping it lies in.
    pub mapping: Key<MappingId>,
    /// The address; 0 is unknown.
    pub address: u64,
    /// The lines, the innermost first.
    pub lines: &'a [NewLine],
    /// The attribute `profile.frame.type`, such as `native`, `kernel` or `cpython`; none if empty.
    pub frame_type: &'a str,
    /// Its attributes; of two with the same key the later one counts.
    pub attributes: &'a [Key<AttributeId>],
}

impl<'a> NewLocation<'a> {
    /// A location of which nothing is known yet.
    /// As it is it is [`Key::NONE`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the address and the mapping it lies in; [`Key::NONE`] if that is unknown.
    /// An address of the process, not of the file.
    #[must_use]
    pub fn address(self, mapping: Key<MappingId>, address: u64) -> Self {
        Self { mapping, address, ..self }
    }

    /// Sets the lines, the innermost first.
    /// The last is the function that has a frame of its own; the others were inlined.
    #[must_use]
    pub fn lines(self, lines: &'a [NewLine]) -> Self {
        Self { lines, ..self }
    }

    /// Sets the frame type, such as `native`, `kernel` or `cpython`.
    /// The names are [those of the conventions](https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/).
    #[must_use]
    pub fn frame_type(self, frame_type: &'a str) -> Self {
        Self { frame_type, ..self }
    }

    /// Sets its attributes.
    /// Those of before are replaced, not added to. The frame type is not among them.
    #[must_use]
    pub fn attributes(self, attributes: &'a [Key<AttributeId>]) -> Self {
        Self { attributes, ..self }
    }
}

/// A frame by its names, for those who have nothing else: a function, its file, a line, and the
/// frame type.
///
/// A text is a frame, and so is a tuple of a function, a file and a line.
///
/// ```
/// use otlp_profiles::{Builder, builder::{Frame, root_first}};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let frames = [Frame::new("<module>").at("app.py", 3).frame_type("cpython"), Frame::new("memcpy").frame_type("native")];
/// builder.sample(cpu, root_first(frames)).value(10_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The name of the function.
    pub name: &'a str,
    /// Its source file.
    pub filename: &'a str,
    /// The line, from 1; 0 is unknown.
    pub line: u32,
    /// The attribute `profile.frame.type`, such as `native`, `kernel` or `cpython`; none if empty.
    pub frame_type: &'a str,
}

impl<'a> Frame<'a> {
    /// A frame in the function of this name.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::Frame};
    /// let mut builder = Builder::new();
    /// // A text alone is the same frame.
    /// assert_eq!(builder.frame(Frame::new("main")), builder.frame("main"));
    /// ```
    #[inline]
    pub const fn new(name: &'a str) -> Self {
        Self { name, filename: "", line: 0, frame_type: "" }
    }

    /// Sets the source file and the line, from 1; 0 is unknown.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::Frame};
    /// let mut builder = Builder::new();
    /// let parse = builder.frame(Frame::new("parse").at("src/parse.rs", 40));
    /// assert_eq!(parse, builder.frame(("parse", "src/parse.rs", 40)));
    /// ```
    #[must_use]
    #[inline]
    pub const fn at(self, filename: &'a str, line: u32) -> Self {
        Self { filename, line, ..self }
    }

    /// Sets the frame type, such as `native`, `kernel` or `cpython`.
    /// The names are [those of the conventions](https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/).
    #[must_use]
    #[inline]
    pub const fn frame_type(self, frame_type: &'a str) -> Self {
        Self { frame_type, ..self }
    }
}

/// An entity a resource represents: OTLP's `EntityRef`, by keys of the resource's attributes.
///
/// ```
/// use otlp_profiles::builder::NewEntity;
///
/// let service = NewEntity::new("service", &["service.name", "service.namespace"])
///     .description_keys(&["service.version"])
///     .schema_url("https://opentelemetry.io/schemas/1.37.0");
/// # let _ = service;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct NewEntity<'a> {
    /// Its type, such as `service` or `host`.
    pub entity_type: &'a str,
    /// The keys that identify it; at least one.
    pub id_keys: &'a [&'a str],
    /// The keys that describe it.
    pub description_keys: &'a [&'a str],
    /// The schema of the entity.
    pub schema_url: &'a str,
}

impl<'a> NewEntity<'a> {
    /// An entity of this type, identified by these keys.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::NewEntity};
    /// let mut builder = Builder::new();
    /// // A key that the resource does not have identifies nothing: the entity is left out.
    /// builder.resource().attr("host.name", "web-1").entity(NewEntity::new("host", &["host.id"]));
    /// ```
    pub const fn new(entity_type: &'a str, id_keys: &'a [&'a str]) -> Self {
        Self { entity_type, id_keys, description_keys: &[], schema_url: "" }
    }

    /// Sets the keys that describe it.
    /// They may change while the entity stays the same: a version, a display name.
    #[must_use]
    pub const fn description_keys(self, description_keys: &'a [&'a str]) -> Self {
        Self { description_keys, ..self }
    }

    /// Sets the schema of the entity.
    /// By it the names of the keys can be told to be of a version of the conventions.
    #[must_use]
    pub const fn schema_url(self, schema_url: &'a str) -> Self {
        Self { schema_url, ..self }
    }
}
