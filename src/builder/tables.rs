//! Adds rows of the dictionary: strings, functions, mappings, locations, links and attributes.

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::parts::{NewFunction, NewLocation, NewMapping};
use crate::builder::stack::IntoFrame;
use crate::builder::unique_keys::UniqueKeys;
use crate::builder::value::{NewValue, StringRef, ValueAndUnit};
use crate::model::dictionary::{Attribute, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, Id, LinkId, LocationId, MappingId, StringId};
use crate::model::value::{KeyValue, Value};
use crate::tables::rows::budget::at_most;
use crate::tables::rows::row::BorrowedLocation;

impl Builder {
    /// Returns the key of a string.
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// assert_eq!(builder.string("src/lib.rs"), builder.string("src/lib.rs"));
    /// ```
    pub fn string(&mut self, text: &str) -> Key<StringId> {
        self.key(|builder| builder.str(text))
    }

    /// Returns the key of an id, or an invalid one if it did not fit.
    fn key<I: Id>(&mut self, id: impl FnOnce(&mut Self) -> Option<I>) -> Key<I> {
        let id = id(self);
        self.generation.key_of(id)
    }

    /// Returns the key of a function. See [`NewFunction`].
    /// Equal functions have the same key.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{NewFunction, NewLine, NewLocation, leaf_first}};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// let parse = builder.function(NewFunction::new("parse").filename("src/parse.rs"));
    /// let location = builder.location(NewLocation::new().lines(&[NewLine::new(parse).line(40)]));
    /// builder.sample(cpu, leaf_first([location])).value(1);
    /// assert_eq!(builder.finish()?.dictionary().functions().len(), 2, "and the empty row");
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn function(&mut self, function: NewFunction<'_>) -> Key<FunctionId> {
        self.key(|builder| {
            let function = Function {
                name: builder.text(&function.name)?,
                system_name: builder.text(&function.system_name)?,
                filename: builder.text(&function.filename)?,
                start_line: function.start_line.into(),
            };
            // A line alone does not make a function: without any string, use row 0.
            match (Function { start_line: 0, ..function }) == Function::default() {
                true => Some(FunctionId::NONE),
                false => builder.intern(function),
            }
        })
    }

    /// Returns the key of a mapped binary. See [`NewMapping`].
    /// Equal mappings with equal attributes have the same key.
    pub fn mapping(&mut self, mapping: NewMapping<'_>) -> Key<MappingId> {
        let NewMapping { memory_start, memory_limit, file_offset, filename, attributes } = mapping;
        let (memory_start, memory_limit) =
            if memory_start < memory_limit { (memory_start, memory_limit) } else { (0, 0) };
        self.key(|builder| {
            let filename = builder.text(&filename)?;
            builder.set(AttributeId::NONE, attributes);
            let mapping = Mapping { memory_start, memory_limit, file_offset, filename };
            let id = builder.interner.intern((mapping, &builder.set[..]));
            builder.fit(id)
        })
    }

    /// Returns the key of a location in the code. See [`NewLocation`].
    /// Equal locations have the same key. An invalid key in the location makes the returned key invalid, too.
    pub fn location(&mut self, location: NewLocation<'_>) -> Key<LocationId> {
        self.key(|builder| builder.location_id(&location))
    }

    /// Returns the key of the location of an address in a mapping ([`Key::NONE`] if unknown).
    ///
    /// The leaf of a stack is the current instruction. All other frames of an unwinder are return
    /// addresses, which point after the call, possibly into the next line or function: pass
    /// `address - 1` for those. [`ProcessMappings::stack`](super::ProcessMappings::stack) does so.
    ///
    /// ```
    /// use otlp_profiles::builder::{NewMapping, leaf_first};
    /// use otlp_profiles::Builder;
    ///
    /// let mut builder = Builder::new();
    /// let server = builder.mapping(NewMapping::new("/usr/bin/server").memory(0x40_0000, 0x80_0000));
    /// let [leaf, caller] = [0x40_1234, 0x40_5678 - 1].map(|address| builder.address(server, address));
    /// let stack = builder.stack(leaf_first([leaf, caller]));
    /// # let _ = stack;
    /// ```
    pub fn address(&mut self, mapping: Key<MappingId>, address: u64) -> Key<LocationId> {
        self.location(NewLocation::new().address(mapping, address))
    }

    /// Interns a location. `None` if a key in it is invalid, or if it does not fit. Lines and attributes are
    /// collected in lists of the builder, so that an existing location takes no memory.
    fn location_id(&mut self, new: &NewLocation<'_>) -> Option<LocationId> {
        let mapping = self.generation.id(new.mapping)?;
        let frame_type = self.frame_type(new.frame_type)?;
        self.set(frame_type, new.attributes);
        self.lines.clear();
        for &line in new.lines {
            let function = self.generation.id(line.function)?;
            if function != FunctionId::NONE {
                let (line, column) = (line.line.into(), line.column.into());
                self.lines.push(Line { function, line, column });
            }
        }
        let address = new.address;
        let location =
            BorrowedLocation { mapping, address, lines: &self.lines, attributes: &self.set };
        if location == BorrowedLocation::default() {
            return Some(LocationId::NONE);
        }
        let id = self.interner.intern(location);
        self.fit(id)
    }

    /// Returns the key of a frame by name; [`Key::NONE`] if it has neither name nor file.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::Frame};
    ///
    /// let mut builder = Builder::new();
    /// let main = builder.frame("main");
    /// let serve = builder.frame(("serve", "src/main.rs", 7));
    /// let module = builder.frame(Frame::new("<module>").at("app.py", 3).frame_type("cpython"));
    /// # let _ = (main, serve, module);
    /// ```
    #[inline]
    pub fn frame(&mut self, frame: impl IntoFrame) -> Key<LocationId> {
        frame.location(self)
    }

    /// Returns the key of a span of a trace; [`Key::NONE`] if either id is all zero.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::root_first};
    ///
    /// let mut builder = Builder::new();
    /// let cpu = builder.profile("cpu", "nanoseconds");
    /// let span = builder.link([7; 16], [9; 8]);
    /// builder.sample(cpu, root_first(["main"])).value(1).link(span);
    /// ```
    pub fn link(&mut self, trace_id: [u8; 16], span_id: [u8; 8]) -> Key<LinkId> {
        if trace_id == [0; 16] || span_id == [0; 8] {
            return Key::NONE;
        }
        self.key(|builder| builder.intern(Link { trace_id, span_id }))
    }

    /// Returns the key of an attribute: a key, a value and an optional unit; [`Key::NONE`] if the key is empty.
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// let worker = builder.attribute("thread.name", "worker-1");
    /// let size = builder.attribute("request.size", (512, "By"));
    /// # let _ = (worker, size);
    /// ```
    pub fn attribute<'a>(
        &mut self,
        key: impl Into<StringRef<'a>>,
        value: impl Into<ValueAndUnit<'a>>,
    ) -> Key<AttributeId> {
        self.key(|builder| builder.attribute_id(&key.into(), &value.into()))
    }

    /// Interns an attribute, through the cache if its value is a string.
    #[inline]
    pub(crate) fn attribute_id(
        &mut self,
        key: &StringRef<'_>,
        value: &ValueAndUnit<'_>,
    ) -> Option<AttributeId> {
        match (key.as_str(), value.as_str()) {
            (Some(key), Some(text)) => self.label(key, text),
            _ => self.other_attribute(key, value),
        }
    }

    /// Interns an attribute without the cache.
    #[inline(never)]
    pub(super) fn other_attribute(
        &mut self,
        key: &StringRef<'_>,
        value: &ValueAndUnit<'_>,
    ) -> Option<AttributeId> {
        let key = self.text(key)?;
        if key == StringId::NONE {
            return Some(AttributeId::NONE);
        }
        let (value, unit) = (self.value(&value.value, 1)?, self.text(&value.unit)?);
        self.intern(Attribute { key, value, unit })
    }

    /// Returns the id of a string.
    pub(crate) fn str(&mut self, text: &str) -> Option<StringId> {
        let id = self.interner.string(text.as_bytes());
        self.fit(id)
    }

    /// Returns the id of a string or of its key.
    pub(crate) fn text(&mut self, text: &StringRef<'_>) -> Option<StringId> {
        match text {
            StringRef::Str(text) => self.str(text),
            StringRef::Owned(text) => self.str(text),
            StringRef::Key(key) => self.generation.id(*key),
        }
    }

    /// Interns a value in `depth` lists.
    pub(crate) fn value(&mut self, value: &NewValue<'_>, depth: u64) -> Option<Value> {
        // A value has three nested messages, within another three of the payload.
        let max_nesting = self.interner.budget.limits.max_nesting;
        self.fit(at_most("max_nesting", max_nesting, 3 * depth + 4))?;
        Some(match value {
            NewValue::Empty => Value::Empty,
            NewValue::String(text) => Value::String(self.text(text)?),
            NewValue::Bool(boolean) => Value::Bool(*boolean),
            NewValue::Int(integer) => Value::Int(*integer),
            NewValue::Double(double) => Value::Double(*double),
            NewValue::Bytes(bytes) => Value::Bytes((**bytes).into()),
            NewValue::Array(values) => {
                let values = values.iter().map(|value| self.value(value, depth + 1));
                Value::Array(values.collect::<Option<_>>()?)
            }
            NewValue::KeyValues(pairs) => self.key_values(pairs, depth)?,
        })
    }

    /// Interns a list of pairs with unique keys.
    fn key_values(&mut self, pairs: &[(StringRef<'_>, NewValue<'_>)], depth: u64) -> Option<Value> {
        let (mut list, mut keys) = (Vec::with_capacity(pairs.len()), UniqueKeys::default());
        for (key, value) in pairs {
            let key = self.text(key)?;
            if key == StringId::NONE {
                self.dropped.attributes += 1;
                continue;
            }
            let pair = KeyValue { key, value: self.value(value, depth + 1)? };
            let put = self.interner.put_pair(&mut list, &mut keys, pair);
            self.fit(put)?;
        }
        Some(Value::KeyValues(list.into()))
    }

    /// Collects the attributes of a mapping or a location in `self.set`: sorted, with unique keys.
    pub(super) fn set(&mut self, frame_type: AttributeId, keys: &[Key<AttributeId>]) {
        self.set.clear();
        let mut known = UniqueKeys::default();
        let generation = self.generation.same();
        let ids = keys.iter().map(|&key| generation.id(key));
        for id in std::iter::once(Some(frame_type)).chain(ids) {
            let put = id.map(|id| self.interner.put(&mut self.set, &mut known, id));
            if put.and_then(|put| self.fit(put)).is_none() {
                self.dropped.attributes += 1;
            }
        }
        self.set.sort_unstable();
    }
}
