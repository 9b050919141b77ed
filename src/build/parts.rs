//! What a caller says of a function, a binary, a location, a frame, a value.

use crate::build::key::Key;
use crate::model::id::{AttributeId, FunctionId, MappingId, StringId};

/// A text, or the key of one that was interned before.
///
/// ```
/// use otlp_profiles::{Builder, build::Symbol};
///
/// let mut builder = Builder::new();
/// let file = builder.string("src/lib.rs");
/// let parse = builder.function(Symbol::new("parse").file(file));
/// assert_eq!(parse, builder.function(Symbol::new("parse").file("src/lib.rs")));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// The text itself.
    Str(&'a str),
    /// The key of a text.
    Key(Key<StringId>),
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self::Str("")
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Str(text)
    }
}

impl<'a> From<&'a String> for Text<'a> {
    fn from(text: &'a String) -> Self {
        Self::Str(text)
    }
}

impl From<Key<StringId>> for Text<'_> {
    fn from(key: Key<StringId>) -> Self {
        Self::Key(key)
    }
}

/// The value of an attribute, as a caller has it.
///
/// ```
/// use otlp_profiles::{Builder, build::AnyValue};
///
/// let mut builder = Builder::new();
/// let worker = builder.attribute("thread.name", "worker-1");
/// let thread = builder.attribute("thread.id", 42);
/// let notes = ["first".into(), "second".into()];
/// let comment = builder.attribute("pprof.profile.comment", AnyValue::Array(&notes));
/// # let _ = (worker, thread, comment);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub enum AnyValue<'a> {
    /// No value.
    #[default]
    Empty,
    /// A text.
    Text(Text<'a>),
    /// A truth.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Double(f64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A list.
    Array(&'a [AnyValue<'a>]),
    /// Named values; of two with the same name the later one counts.
    KeyValues(&'a [(&'a str, AnyValue<'a>)]),
}

macro_rules! any_value_from {
    ($($type:ty => |$value:ident| $any:expr;)*) => {$(
        impl<'a> From<$type> for AnyValue<'a> {
            fn from($value: $type) -> Self {
                $any
            }
        }
    )*};
}

any_value_from! {
    &'a str => |text| Self::Text(text.into());
    &'a String => |text| Self::Text(text.into());
    Text<'a> => |text| Self::Text(text);
    Key<StringId> => |key| Self::Text(key.into());
    bool => |truth| Self::Bool(truth);
    i64 => |number| Self::Int(number);
    i32 => |number| Self::Int(number.into());
    u32 => |number| Self::Int(number.into());
    f64 => |number| Self::Double(number);
    &'a [u8] => |bytes| Self::Bytes(bytes);
}

/// A function: its names and where it begins. One without any name is none.
///
/// ```
/// use otlp_profiles::{Builder, build::Symbol};
///
/// let symbol = Symbol::new("core::fmt::write").system_name("_ZN4core3fmt5writeE").file("fmt/mod.rs").start_line(1480);
/// let key = Builder::new().function(symbol);
/// # let _ = key;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Symbol<'a> {
    /// The name as people read it.
    pub name: Text<'a>,
    /// The name as the system knows it, such as a mangled one.
    pub system_name: Text<'a>,
    /// The source file.
    pub file: Text<'a>,
    /// The line where it begins, from 1; 0 is unknown.
    pub start_line: u32,
}

impl<'a> Symbol<'a> {
    /// A function of this name.
    pub fn new(name: impl Into<Text<'a>>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// With the name as the system knows it.
    #[must_use]
    pub fn system_name(self, name: impl Into<Text<'a>>) -> Self {
        Self { system_name: name.into(), ..self }
    }

    /// In this source file.
    #[must_use]
    pub fn file(self, file: impl Into<Text<'a>>) -> Self {
        Self { file: file.into(), ..self }
    }

    /// Beginning at this line, from 1.
    #[must_use]
    pub fn start_line(self, start_line: u32) -> Self {
        Self { start_line, ..self }
    }
}

/// A binary mapped into memory.
///
/// A range that is empty or ends before it begins is taken for unknown. The specification asks for
/// a build id on every mapping, as an attribute named in [`semconv`](crate::semconv).
///
/// ```
/// use otlp_profiles::{Builder, build::Binary, semconv};
///
/// let mut builder = Builder::new();
/// let build_id = builder.attribute(semconv::BUILD_ID_GNU, "c89b11207f6479603b0d49bf291c092c2b719293");
/// let libc = builder.mapping(Binary::new("/lib/libc.so.6").range(0x7f00_0000, 0x7f10_0000, 0).attributes(&[build_id]));
/// let leaf = builder.address(libc, 0x7f00_1234);
/// # let _ = leaf;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Binary<'a> {
    /// The path or name of the file.
    pub file: Text<'a>,
    /// The address where the mapping begins.
    pub memory_start: u64,
    /// The address where it ends.
    pub memory_limit: u64,
    /// The offset in the file of the first byte mapped.
    pub file_offset: u64,
    /// What else is known of it; of two with the same key the later one counts.
    pub attributes: &'a [Key<AttributeId>],
}

impl<'a> Binary<'a> {
    /// A binary of this path.
    pub fn new(file: impl Into<Text<'a>>) -> Self {
        Self { file: file.into(), ..Self::default() }
    }

    /// Mapped at `start..limit`, from byte `file_offset` on.
    #[must_use]
    pub fn range(self, start: u64, limit: u64, file_offset: u64) -> Self {
        Self { memory_start: start, memory_limit: limit, file_offset, ..self }
    }

    /// With these attributes.
    #[must_use]
    pub fn attributes(self, attributes: &'a [Key<AttributeId>]) -> Self {
        Self { attributes, ..self }
    }
}

/// A line of source code: one of the functions at a [`Place`]. One without a function says nothing
/// and is left out.
///
/// ```
/// use otlp_profiles::{Builder, build::{SourceLine, Symbol}};
///
/// let function = Builder::new().function(Symbol::new("main"));
/// let line = SourceLine { function, line: 12, column: 5 };
/// # let _ = line;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceLine {
    /// The function.
    pub function: Key<FunctionId>,
    /// The line, from 1; 0 is unknown.
    pub line: u32,
    /// The column, from 1; 0 is unknown.
    pub column: u32,
}

/// A place in the code: an address, the lines there, or both. One of which nothing is known is none.
///
/// Several lines are functions inlined into one another, the innermost first.
///
/// ```
/// use otlp_profiles::{Builder, build::{Place, SourceLine, Symbol}};
///
/// let mut builder = Builder::new();
/// let (inner, outer) = (builder.function(Symbol::new("inner")), builder.function(Symbol::new("outer")));
/// let lines = [
///     SourceLine { function: inner, line: 3, column: 0 },
///     SourceLine { function: outer, line: 40, column: 0 },
/// ];
/// let location = builder.location(Place { address: 0x1234, lines: &lines, ..Place::default() });
/// # let _ = location;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// The binary it lies in.
    pub mapping: Key<MappingId>,
    /// The address; 0 is unknown.
    pub address: u64,
    /// The lines, the innermost first.
    pub lines: &'a [SourceLine],
    /// What else is known of it; of two with the same key the later one counts.
    pub attributes: &'a [Key<AttributeId>],
}

/// A frame by its names, for those who have nothing else: a function, its file, a line, and what
/// kind of code it is.
///
/// ```
/// use otlp_profiles::{Builder, build::Frame};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let frames = [Frame::new("<module>").at("app.py", 3).kind("cpython"), Frame::new("memcpy").kind("native")];
/// builder.sample(cpu, frames).value(10_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The function.
    pub name: &'a str,
    /// Its source file.
    pub file: &'a str,
    /// The line, from 1; 0 is unknown.
    pub line: u32,
    /// The value of `profile.frame.type`, such as `native`, `kernel` or `cpython`.
    pub kind: &'a str,
}

impl<'a> Frame<'a> {
    /// A frame in the function of this name.
    #[inline]
    pub const fn new(name: &'a str) -> Self {
        Self { name, file: "", line: 0, kind: "" }
    }

    /// At a line of a file.
    #[must_use]
    #[inline]
    pub const fn at(self, file: &'a str, line: u32) -> Self {
        Self { file, line, ..self }
    }

    /// Of this kind of code.
    #[must_use]
    #[inline]
    pub const fn kind(self, kind: &'a str) -> Self {
        Self { kind, ..self }
    }
}

impl<'a> From<&'a str> for Frame<'a> {
    #[inline]
    fn from(name: &'a str) -> Self {
        Self::new(name)
    }
}

impl<'a> From<(&'a str, &'a str, u32)> for Frame<'a> {
    #[inline]
    fn from((name, file, line): (&'a str, &'a str, u32)) -> Self {
        Self::new(name).at(file, line)
    }
}

/// An entity: something a resource stands for, by keys of the resource's attributes.
///
/// ```
/// use otlp_profiles::build::Entity;
///
/// let service = Entity::new("service", &["service.name", "service.namespace"])
///     .described_by(&["service.version"])
///     .schema("https://opentelemetry.io/schemas/1.37.0");
/// # let _ = service;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Entity<'a> {
    /// Its type, such as `service` or `host`.
    pub kind: &'a str,
    /// The keys that identify it; at least one.
    pub id_keys: &'a [&'a str],
    /// The keys that describe it.
    pub description_keys: &'a [&'a str],
    /// The schema of the entity.
    pub schema_url: &'a str,
}

impl<'a> Entity<'a> {
    /// An entity of this type, identified by these keys.
    pub const fn new(kind: &'a str, id_keys: &'a [&'a str]) -> Self {
        Self { kind, id_keys, description_keys: &[], schema_url: "" }
    }

    /// Described by these keys.
    #[must_use]
    pub const fn described_by(self, description_keys: &'a [&'a str]) -> Self {
        Self { description_keys, ..self }
    }

    /// Of this schema.
    #[must_use]
    pub const fn schema(self, schema_url: &'a str) -> Self {
        Self { schema_url, ..self }
    }
}
