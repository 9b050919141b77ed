//! The nouns of the dictionary.

use crate::build::builder::Builder;
use crate::build::cache::Words;
use crate::build::interner::{Interner, Spot};
use crate::build::key::Key;
use crate::build::lists;
use crate::build::parts::{Frame, NewFunction, NewLocation, NewMapping};
use crate::build::room::Full;
use crate::build::room::at_most;
use crate::build::stack::IntoFrame;
use crate::build::value::{NewValue, StringRef, ValueAndUnit};
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StringId};
use crate::model::value::{KeyValue, Value};

impl Builder {
    /// A string.
    ///
    /// ```
    /// let mut builder = otlp_profiles::Builder::new();
    /// assert_eq!(builder.string("src/lib.rs"), builder.string("src/lib.rs"));
    /// ```
    pub fn string(&mut self, text: &str) -> Key<StringId> {
        let id = self.interner.string(text);
        let id = self.fit(id);
        self.generation.key(id.map(|id| id.0))
    }

    /// A function of the source code or the binary. See [`NewFunction`].
    /// The same words give the same key.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::{NewFunction, NewLine, NewLocation, leaf_first}};
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
        let row = self.function_row(&function);
        self.generation.key(row)
    }

    /// A line alone makes no function: what has no text is row 0.
    fn function_row(&mut self, function: &NewFunction<'_>) -> Option<u32> {
        let function = Function {
            name: self.text(&function.name)?,
            system_name: self.text(&function.system_name)?,
            filename: self.text(&function.filename)?,
            start_line: function.start_line.into(),
        };
        if (Function { start_line: 0, ..function }) == Function::default() {
            return Some(0);
        }
        let id = self.interner.function(function);
        self.fit(id).map(|id| id.0)
    }

    /// A binary mapped into memory. See [`NewMapping`].
    /// The same file at the same place with the same attributes is the same row.
    pub fn mapping(&mut self, mapping: NewMapping<'_>) -> Key<MappingId> {
        let row = self.mapping_row(&mapping);
        self.generation.key(row)
    }

    /// None where its texts or it do not fit.
    fn mapping_row(&mut self, mapping: &NewMapping<'_>) -> Option<u32> {
        let &NewMapping { memory_start, memory_limit, file_offset, .. } = mapping;
        let filename = self.text(&mapping.filename)?;
        let (memory_start, memory_limit) =
            if memory_start < memory_limit { (memory_start, memory_limit) } else { (0, 0) };
        self.set.clear();
        self.add_to_set(mapping.attributes);
        let mapping = Mapping { memory_start, memory_limit, file_offset, filename };
        let id = self.interner.mapping(mapping, &self.set);
        self.fit(id).map(|id| id.0)
    }

    /// A location in the code. See [`NewLocation`].
    /// The same place, lines and attributes are the same row. A foreign key in it makes its key foreign, too.
    pub fn location(&mut self, location: NewLocation<'_>) -> Key<LocationId> {
        let row = self.location_row(&location);
        self.generation.key(row)
    }

    /// The location of an address in a mapping ([`Key::NONE`] if that is unknown), and nothing else.
    ///
    /// The leaf of a stack is where the processor was. All other frames of an unwinder are return
    /// addresses, which lie behind the call, sometimes in the next line or function: give
    /// `address - 1` for those. [`ProcessMappings::stack`](super::ProcessMappings::stack) does.
    ///
    /// ```
    /// use otlp_profiles::build::{NewMapping, leaf_first};
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

    /// None where something in it is foreign, or does not fit. Lines and attributes are put together in lists of
    /// the builder, so that a location that is there already takes no memory.
    fn location_row(&mut self, new: &NewLocation<'_>) -> Option<u32> {
        let mapping = self.generation.row(new.mapping)?;
        let frame_type = self.frames.frame_type_attribute(&mut self.interner, new.frame_type);
        let frame_type = self.fit(frame_type)?;
        self.set.clear();
        self.set.extend(frame_type);
        self.add_to_set(new.attributes);
        self.lines.clear();
        for &line in new.lines {
            let function = self.generation.row(line.function)?;
            if function != 0 {
                let (line, column) = (line.line.into(), line.column.into());
                self.lines.push(Line { function: FunctionId(function), line, column });
            }
        }
        if mapping == 0 && new.address == 0 && self.lines.is_empty() && self.set.is_empty() {
            return Some(0);
        }
        let (mapping, address) = (MappingId(mapping), new.address);
        let spot = Spot { mapping, address, lines: &self.lines, attributes: &self.set };
        let id = self.interner.location(spot);
        self.fit(id).map(|id| id.0)
    }

    /// The location of a frame known by its names; none when it has neither name nor file.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::Frame};
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

    #[inline]
    pub(crate) fn location_of(&mut self, frame: &Frame<'_>) -> Key<LocationId> {
        let id = self.frames.location(&mut self.interner, frame);
        let id = self.fit(id);
        self.generation.key(id.map(|id| id.0))
    }

    /// A span of a trace; none when either id is all zero.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::root_first};
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
        let id = self.interner.link(Link { trace_id, span_id });
        let id = self.fit(id);
        self.generation.key(id.map(|id| id.0))
    }

    /// An attribute: a key, a value and perhaps a unit; none when the key is empty.
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
        let row = self.attribute_row(&key.into(), &value.into());
        self.generation.key(row)
    }

    #[inline(always)]
    pub(crate) fn attribute_row(
        &mut self,
        key: &StringRef<'_>,
        value: &ValueAndUnit<'_>,
    ) -> Option<u32> {
        match (key.as_str(), value.as_str()) {
            (Some(key), Some(text)) => self.label_row(key, text),
            _ => self.other_attribute_row(key, value),
        }
    }

    /// The attribute of a key and a text, which most are: seen before, or the long way.
    #[inline(never)]
    fn label_row(&mut self, key: &str, text: &str) -> Option<u32> {
        let words = Words { texts: [text, key], number: 0 };
        match self.labels.find(&words, &self.interner.dictionary.strings) {
            Some((row, _)) => Some(row),
            None => self.new_label_row(&words),
        }
    }

    /// The attribute of a key and a text, remembered.
    #[cold]
    fn new_label_row(&mut self, words: &Words<'_>) -> Option<u32> {
        let [text, key] = words.texts;
        let row = self.other_attribute_row(&key.into(), &text.into())?;
        let Interner { dictionary, room, .. } = &mut self.interner;
        let Dictionary { strings, attributes, .. } = &*dictionary;
        if let Some(&Attribute { key, value: Value::String(text), .. }) =
            attributes.get(row as usize)
        {
            self.labels.remember(words, [text, key], (row, StringId::NONE), strings, room);
        }
        Some(row)
    }

    #[inline(never)]
    fn other_attribute_row(
        &mut self,
        key: &StringRef<'_>,
        value: &ValueAndUnit<'_>,
    ) -> Option<u32> {
        let key = self.text(key)?;
        if key == StringId::NONE {
            return Some(0);
        }
        let (value, unit) = (self.value(&value.value, 1)?, self.text(&value.unit)?);
        let id = self.interner.attribute(Attribute { key, value, unit });
        self.fit(id).map(|id| id.0)
    }

    /// The id of a text.
    pub(crate) fn text(&mut self, text: &StringRef<'_>) -> Option<StringId> {
        let text = match text {
            StringRef::Str(text) => text,
            StringRef::Owned(text) => text.as_str(),
            StringRef::Key(key) => return self.generation.row(*key).map(StringId),
        };
        let id = self.interner.string(text);
        self.fit(id)
    }

    /// A value, `depth` lists deep.
    pub(crate) fn value(&mut self, value: &NewValue<'_>, depth: u64) -> Option<Value> {
        let fits = self.value_fits(depth);
        self.fit(fits)?;
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

    fn key_values(&mut self, pairs: &[(StringRef<'_>, NewValue<'_>)], depth: u64) -> Option<Value> {
        let mut list = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let pair = KeyValue { key: self.text(key)?, value: self.value(value, depth + 1)? };
            let put = lists::put_pair(&mut list, pair, &self.interner.room.limits);
            self.fit(put)?;
        }
        Some(Value::KeyValues(list.into()))
    }

    /// A value is three messages inside one another, in three more of the payload.
    fn value_fits(&self, depth: u64) -> Result<(), Full> {
        at_most("max_nesting", self.interner.room.limits.max_nesting, 3 * depth + 4)
    }

    /// Adds the attributes of a mapping or a location to the set: sorted, one a key.
    fn add_to_set(&mut self, keys: &[Key<AttributeId>]) {
        for &key in keys {
            let Self { interner, generation, set, .. } = self;
            let put = generation.row(key).map(|row| {
                lists::put(set, AttributeId(row), &interner.dictionary, &interner.room.limits)
            });
            if put.and_then(|put| self.fit(put)).is_none() {
                self.dropped.attributes += 1;
            }
        }
        self.set.sort_unstable();
    }
}
