//! Rows of the dictionary, as callers describe them.

use crate::builder::key::Key;
use crate::builder::value::StringRef;
use crate::model::id::{AttributeId, FunctionId, MappingId};

/// A function: its names and the line where it begins. Without any name it becomes [`Key::NONE`].
///
/// Pass it to [`Builder::function`](crate::Builder::function).
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
    /// The human-readable name.
    pub name: StringRef<'a>,
    /// The system name, such as a mangled one.
    pub system_name: StringRef<'a>,
    /// The source file.
    pub filename: StringRef<'a>,
    /// The line where it begins, from 1; 0 is unknown.
    pub start_line: u32,
}

impl<'a> NewFunction<'a> {
    /// Creates a function with a name and no other fields.
    pub fn new(name: impl Into<StringRef<'a>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the system name. Producers that do not demangle set only this name, or both names to the same text.
    #[must_use]
    pub fn system_name(self, system_name: impl Into<StringRef<'a>>) -> Self {
        Self { system_name: system_name.into(), ..self }
    }

    /// Sets the source file, as a path from the debug information.
    #[must_use]
    pub fn filename(self, filename: impl Into<StringRef<'a>>) -> Self {
        Self { filename: filename.into(), ..self }
    }

    /// Sets the line where it begins, from 1. It distinguishes functions of equal names, and gives backends the
    /// offset of a line in its function.
    #[must_use]
    pub fn start_line(self, start_line: u32) -> Self {
        Self { start_line, ..self }
    }
}

/// A binary, or a part of one, mapped into memory.
///
/// The specification requires a build id on every mapping, as an attribute named in [`semconv`](crate::semconv).
/// [`ProcessMappings`](super::ProcessMappings) reads the mappings of a running process.
///
/// Pass it to [`Builder::mapping`](crate::Builder::mapping).
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
    /// The address where it ends. Unless it exceeds `memory_start`, both count as unknown.
    pub memory_limit: u64,
    /// The offset in the file of the first byte mapped.
    pub file_offset: u64,
    /// Its attributes. If two have the same key, the later one wins.
    pub attributes: &'a [Key<AttributeId>],
}

impl<'a> NewMapping<'a> {
    /// Creates a mapping of a file at unknown addresses.
    pub fn new(filename: impl Into<StringRef<'a>>) -> Self {
        Self { filename: filename.into(), ..Self::default() }
    }

    /// Sets the addresses where it begins and ends. The end is exclusive, as in `/proc/PID/maps`.
    #[must_use]
    pub fn memory(self, memory_start: u64, memory_limit: u64) -> Self {
        Self { memory_start, memory_limit, ..self }
    }

    /// Sets the offset in the file of the first byte mapped. Backends use it to convert addresses of the process to
    /// offsets in the file.
    #[must_use]
    pub fn file_offset(self, file_offset: u64) -> Self {
        Self { file_offset, ..self }
    }

    /// Sets its attributes, such as a build id. Replaces earlier attributes.
    #[must_use]
    pub fn attributes(self, attributes: &'a [Key<AttributeId>]) -> Self {
        Self { attributes, ..self }
    }
}

/// A line of source code: one of the functions at a [`NewLocation`]. A line without a function is left out.
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
    /// Creates an unknown line of a function. An invalid key makes the key of the location invalid.
    pub fn new(function: Key<FunctionId>) -> Self {
        Self { function, ..Self::default() }
    }

    /// Sets the line that was executing, from 1. At a call, it is the line of the call.
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

/// A location in the code: an address, its lines, or both. An empty location becomes [`Key::NONE`].
///
/// Several lines are functions inlined into one another, the innermost first.
///
/// Pass it to [`Builder::location`](crate::Builder::location). For a location with only an address,
/// [`Builder::address`](crate::Builder::address) is shorter.
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
    /// The mapping that contains it.
    pub mapping: Key<MappingId>,
    /// The address; 0 is unknown.
    pub address: u64,
    /// The lines, the innermost first.
    pub lines: &'a [NewLine],
    /// The attribute `profile.frame.type`, such as `native`, `kernel` or `cpython`. Omitted if empty.
    pub frame_type: &'a str,
    /// Its attributes. If two have the same key, the later one wins.
    pub attributes: &'a [Key<AttributeId>],
}

impl<'a> NewLocation<'a> {
    /// Creates an empty location, which would become [`Key::NONE`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the address and the mapping that contains it ([`Key::NONE`] if unknown). The address is one of the
    /// process, not of the file.
    #[must_use]
    pub fn address(self, mapping: Key<MappingId>, address: u64) -> Self {
        Self { mapping, address, ..self }
    }

    /// Sets the lines, the innermost first. The last one is the function with the actual stack frame; the others
    /// were inlined.
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

    /// Sets its attributes without the frame type. Replaces earlier attributes.
    #[must_use]
    pub fn attributes(self, attributes: &'a [Key<AttributeId>]) -> Self {
        Self { attributes, ..self }
    }
}

/// A frame identified by names: a function, its file, a line and the frame type.
///
/// A string is a frame, too, and so is a tuple of a function, a file and a line.
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
    /// The attribute `profile.frame.type`, such as `native`, `kernel` or `cpython`. Omitted if empty.
    pub frame_type: &'a str,
}

impl<'a> Frame<'a> {
    /// Creates a frame of a function with this name.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::Frame};
    /// let mut builder = Builder::new();
    /// // A string is the same frame.
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

/// An entity that a resource represents: OTLP's `EntityRef`, by keys of the resource's attributes.
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
    /// Creates an entity of this type, identified by these keys.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::NewEntity};
    /// let mut builder = Builder::new();
    /// // The resource lacks the only identifying key, so the entity is left out.
    /// builder.resource().attr("host.name", "web-1").entity(NewEntity::new("host", &["host.id"]));
    /// ```
    pub const fn new(entity_type: &'a str, id_keys: &'a [&'a str]) -> Self {
        Self { entity_type, id_keys, description_keys: &[], schema_url: "" }
    }

    /// Sets the keys that describe it. Their values may change while the entity stays the same, such as a version
    /// or a display name.
    #[must_use]
    pub const fn description_keys(self, description_keys: &'a [&'a str]) -> Self {
        Self { description_keys, ..self }
    }

    /// Sets the schema of the entity, which gives the version of the conventions that its keys use.
    #[must_use]
    pub const fn schema_url(self, schema_url: &'a str) -> Self {
        Self { schema_url, ..self }
    }
}
