//! The nouns of the dictionary.

use crate::build::interner::{Interner, Spot};
use crate::build::key::Key;
use crate::build::lists;
use crate::build::parts::{AnyValue, Binary, Frame, Place, Symbol, Text};
use crate::build::room::at_most;
use crate::build::seen::Words;
use crate::build::{Builder, Full};
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Link, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::value::{KeyValue, Value};

impl Builder {
    /// A text.
    pub fn string(&mut self, text: &str) -> Key<StringId> {
        let id = self.interner.string(text);
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// A function of the source code or the binary.
    pub fn function(&mut self, symbol: Symbol<'_>) -> Key<FunctionId> {
        let row = self.function_row(symbol);
        self.brand.key(row)
    }

    fn function_row(&mut self, symbol: Symbol<'_>) -> Option<u32> {
        let function = Function {
            name: self.text(symbol.name)?,
            system_name: self.text(symbol.system_name)?,
            filename: self.text(symbol.file)?,
            start_line: symbol.start_line.into(),
        };
        if (Function { start_line: 0, ..function }) == Function::default() {
            return Some(0);
        }
        let id = self.interner.function(function);
        self.fit(id).map(|id| id.0)
    }

    /// A binary mapped into memory.
    pub fn mapping(&mut self, binary: Binary<'_>) -> Key<MappingId> {
        let row = self.mapping_row(binary);
        self.brand.key(row)
    }

    fn mapping_row(&mut self, binary: Binary<'_>) -> Option<u32> {
        let Binary { memory_start, memory_limit, file_offset, .. } = binary;
        let filename = self.text(binary.file)?;
        let (memory_start, memory_limit) =
            if memory_start < memory_limit { (memory_start, memory_limit) } else { (0, 0) };
        let mapping = Mapping { memory_start, memory_limit, file_offset, filename };
        self.attribute_set(binary.attributes);
        let id = self.interner.mapping(mapping, &self.set);
        self.fit(id).map(|id| id.0)
    }

    /// A place in the code.
    pub fn location(&mut self, place: Place<'_>) -> Key<LocationId> {
        let row = self.location_row(place);
        self.brand.key(row)
    }

    /// A place known by its address alone.
    pub fn address(&mut self, mapping: Key<MappingId>, address: u64) -> Key<LocationId> {
        self.location(Place { mapping, address, ..Place::default() })
    }

    fn location_row(&mut self, place: Place<'_>) -> Option<u32> {
        let mapping =
            self.brand.row(place.mapping, self.interner.dictionary.mappings.rows.len())?;
        self.attribute_set(place.attributes);
        self.lines.clear();
        for line in place.lines {
            let function =
                self.brand.row(line.function, self.interner.dictionary.functions.len())?;
            if function != 0 {
                let (line, column) = (line.line.into(), line.column.into());
                self.lines.push(Line { function: FunctionId(function), line, column });
            }
        }
        if mapping == 0 && place.address == 0 && self.lines.is_empty() && self.set.is_empty() {
            return Some(0);
        }
        let mapping = MappingId(mapping);
        let spot =
            Spot { mapping, address: place.address, lines: &self.lines, attributes: &self.set };
        let id = self.interner.location(spot);
        self.fit(id).map(|id| id.0)
    }

    /// The location of a frame known by names: a function, its file, a line (from 1; 0 is unknown).
    #[inline]
    pub fn frame(&mut self, name: &str, file: &str, line: u32) -> Key<LocationId> {
        self.named_frame(Frame { name, file, line, kind: "" })
    }

    /// The location of a frame known by names; none when it has neither name nor file.
    #[inline]
    pub fn named_frame(&mut self, frame: Frame<'_>) -> Key<LocationId> {
        let id = self.frames.location(&mut self.interner, &frame);
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// The stack of these locations, from the leaf to the root. Those that are none are left out.
    #[inline]
    pub fn stack(&mut self, leaf_first: &[Key<LocationId>]) -> Key<StackId> {
        self.brand.check(leaf_first);
        match self.interner.find_stack(leaf_first) {
            Ok(id) => self.brand.key(Some(id.0)),
            Err(hash) => self.new_stack(leaf_first, hash),
        }
    }

    /// A stack that was not seen; what was seen has locations that are some.
    #[cold]
    fn new_stack(&mut self, leaf_first: &[Key<LocationId>], hash: u64) -> Key<StackId> {
        let rows = self.interner.dictionary.locations.len();
        if !self.brand.all_rows(leaf_first, rows) {
            return self.stack_of_some(leaf_first);
        }
        let id = self.interner.add_stack(hash, leaf_first);
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// The stack of the locations that are any.
    fn stack_of_some(&mut self, leaf_first: &[Key<LocationId>]) -> Key<StackId> {
        let rows = self.interner.dictionary.locations.len();
        self.locations.clear();
        for &key in leaf_first {
            match self.brand.row(key, rows) {
                None => return self.brand.key(None),
                Some(0) => {}
                Some(row) => self.locations.push(LocationId(row)),
            }
        }
        let id = self.interner.stack(&self.locations);
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// The stack of these frames, from the root to the leaf.
    #[inline]
    pub fn path<'a, F: Into<Frame<'a>>>(
        &mut self,
        root_first: impl IntoIterator<Item = F>,
    ) -> Key<StackId> {
        let id = self.frames.stack(&mut self.interner, root_first);
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// A span of a trace; none when either id is all zero.
    pub fn link(&mut self, trace_id: [u8; 16], span_id: [u8; 8]) -> Key<LinkId> {
        if trace_id == [0; 16] || span_id == [0; 8] {
            return Key::NONE;
        }
        let id = self.interner.link(Link { trace_id, span_id });
        let id = self.fit(id);
        self.brand.key(id.map(|id| id.0))
    }

    /// A key and a value; none when the key is empty.
    pub fn attribute<'a>(
        &mut self,
        key: impl Into<Text<'a>>,
        value: impl Into<AnyValue<'a>>,
    ) -> Key<AttributeId> {
        self.attribute_in(key, value, "")
    }

    /// A key and a value in a unit, such as `ms` or `By`.
    pub fn attribute_in<'a>(
        &mut self,
        key: impl Into<Text<'a>>,
        value: impl Into<AnyValue<'a>>,
        unit: impl Into<Text<'a>>,
    ) -> Key<AttributeId> {
        let row = self.attribute_row(key.into(), value.into(), unit.into());
        self.brand.key(row)
    }

    #[inline(never)]
    pub(crate) fn attribute_row(
        &mut self,
        key: Text<'_>,
        value: AnyValue<'_>,
        unit: Text<'_>,
    ) -> Option<u32> {
        match (key, value, unit) {
            (Text::Str(key), AnyValue::Text(Text::Str(text)), Text::Str("")) => {
                let texts = [text, key];
                let words = Words { texts, number: 0 };
                match self.labels.row(&words, &self.interner.dictionary.strings) {
                    Some(row) => Some(row),
                    None => self.label_row(&words),
                }
            }
            _ => self.other_attribute_row(key, value, unit),
        }
    }

    /// The attribute of a key and a text, remembered.
    #[cold]
    fn label_row(&mut self, words: &Words<'_>) -> Option<u32> {
        let [text, key] = words.texts.map(Text::Str);
        let row = self.other_attribute_row(key, AnyValue::Text(text), Text::default())?;
        let Interner { dictionary, room, .. } = &mut self.interner;
        let Dictionary { strings, attributes, .. } = &*dictionary;
        if let Some(&Attribute { key, value: Value::String(text), .. }) =
            attributes.get(row as usize)
        {
            self.labels.remember(words, StringId::NONE, [text, key], row, strings, room);
        }
        Some(row)
    }

    #[inline(never)]
    fn other_attribute_row(
        &mut self,
        key: Text<'_>,
        value: AnyValue<'_>,
        unit: Text<'_>,
    ) -> Option<u32> {
        let key = self.text(key)?;
        if key == StringId::NONE {
            return Some(0);
        }
        let attribute = Attribute { key, value: self.value(value, 1)?, unit: self.text(unit)? };
        let id = self.interner.attribute(attribute);
        self.fit(id).map(|id| id.0)
    }

    /// The id of a text.
    pub(crate) fn text(&mut self, text: Text<'_>) -> Option<StringId> {
        match text {
            Text::Str(text) => {
                let id = self.interner.string(text);
                self.fit(id)
            }
            Text::Key(key) => {
                self.brand.row(key, self.interner.dictionary.strings.len()).map(StringId)
            }
        }
    }

    /// A value, `depth` lists deep.
    pub(crate) fn value(&mut self, value: AnyValue<'_>, depth: u64) -> Option<Value> {
        let fits = self.value_fits(depth);
        self.fit(fits)?;
        Some(match value {
            AnyValue::Empty => Value::Empty,
            AnyValue::Text(text) => Value::String(self.text(text)?),
            AnyValue::Bool(truth) => Value::Bool(truth),
            AnyValue::Int(number) => Value::Int(number),
            AnyValue::Double(number) => Value::Double(number),
            AnyValue::Bytes(bytes) => Value::Bytes(bytes.into()),
            AnyValue::Array(values) => Value::Array(
                values.iter().map(|&value| self.value(value, depth + 1)).collect::<Option<_>>()?,
            ),
            AnyValue::KeyValues(pairs) => {
                let mut list = Vec::with_capacity(pairs.len());
                for &(key, value) in pairs {
                    let pair = KeyValue {
                        key: self.text(key.into())?,
                        value: self.value(value, depth + 1)?,
                    };
                    let put = lists::put_pair(&mut list, pair, &self.interner.room.limits);
                    self.fit(put)?;
                }
                Value::KeyValues(list.into())
            }
        })
    }

    /// A value is three messages inside one another, in three more of the payload.
    fn value_fits(&self, depth: u64) -> Result<(), Full> {
        at_most("max_nesting", self.interner.room.limits.max_nesting, 3 * depth + 4)
    }

    /// Puts the attributes of a mapping or a location together as a set: sorted, one a key.
    fn attribute_set(&mut self, keys: &[Key<AttributeId>]) {
        self.set.clear();
        for &key in keys {
            let Self { interner, brand, set, .. } = self;
            let row = brand.row(key, interner.dictionary.attributes.len()).map(AttributeId);
            let put =
                row.map(|id| lists::put(set, id, &interner.dictionary, &interner.room.limits));
            if put.and_then(|put| self.fit(put)).is_none() {
                self.dropped.attributes += 1;
            }
        }
        self.set.sort_unstable();
    }
}
