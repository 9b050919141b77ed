//! Writing the lookup tables, wherever a generation keeps them.

use std::marker::PhantomData;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::error::Result;
use crate::format::build_id;
use crate::format::columns::DefaultSaid;
use crate::format::known::{self, BuildId, Known, KnownAttributes};
use crate::format::labels::{PAIR_NUMBER, PAIR_TEXT, PAIR_UNIT};
use crate::format::losses::{self, Losses};
use crate::format::otlp::frame_types::FrameType;
use crate::format::otlp::own_texts::OwnTexts;
use crate::format::otlp::parts::{Part, ScopeParts};
use crate::format::otlp::refs::TextRefs;
use crate::format::otlp::schema::{Generation, Rows};
use crate::format::otlp::units::Units;
use crate::format::otlp::write::check_rows;
use crate::format::otlp::write_common;
use crate::format::select::{Select, StringTable, holds_none};
use crate::model::Profiles;
use crate::model::dictionary::{Attribute, Dictionary, Function, Line, Mapping};
use crate::model::id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::value::{KeyValue, Value};
use crate::semconv::{FRAME_TYPES, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE};
use crate::wire::record::{Codes, Fields, field_codes, field_varint, field_varints, record};
use crate::wire::write::{
    field_bytes, field_bytes_nonempty, field_large, field_message, field_text,
};

/// What a line of a location may take.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

/// The tables of a payload or of a profile, and how their rows are referred to.
pub(crate) struct TableWriter<'a, G> {
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) known: &'a KnownAttributes,
    /// The attributes that are written; of the other tables all rows are.
    chosen: Select,
    pub(crate) strings: StringTable,
    pub(crate) refs: TextRefs,
    pub(crate) units: Units,
    /// Whether the model's row 0 is written, so that 0 means none.
    mapping_row_0: bool,
    location_row_0: bool,
    function_row_0: bool,
    link_row_0: bool,
    /// The index of each location, function and attribute.
    locations: Codes,
    functions: Codes,
    attributes: Codes,
    /// The default sample types that profiles must say by an attribute: rows after the others.
    defaults: Vec<StringId>,
    /// Which of these rows each is.
    default_rows: HashMap<StringId, usize, foldhash::fast::RandomState>,
    /// Texts that the dictionary need not have: old names of frame types, keys of defaults.
    own_texts: OwnTexts,
    generation: PhantomData<G>,
}

impl<'a, G: Generation> TableWriter<'a, G> {
    /// The tables that all profiles of a payload share.
    pub(crate) fn shared(
        payload: &'a Profiles,
        known: &'a KnownAttributes,
        refs: TextRefs,
        scopes: &[ScopeParts],
        losses: &mut Losses,
    ) -> Result<Self> {
        let profiles: Vec<&Profile> = payload.iter().collect();
        let mut tables = Self::new(&payload.dictionary, known, refs);
        let saying = scopes.iter().filter(|scope| scope.said == DefaultSaid::Profiles);
        for profile in saying.flat_map(|scope| &scope.scope.profiles) {
            tables.add_default(profile.default_sample_type);
        }
        tables.settle(&profiles, StringId::NONE, losses)?;
        Ok(tables)
    }

    /// The tables of one profile.
    pub(crate) fn own(
        dictionary: &'a Dictionary,
        known: &'a KnownAttributes,
        part: &Part,
        default: StringId,
        losses: &mut Losses,
    ) -> Result<Self> {
        let mut tables = Self::new(dictionary, known, TextRefs::default());
        tables.settle(part.profiles(), default, losses)?;
        Ok(tables)
    }

    fn new(dictionary: &'a Dictionary, known: &'a KnownAttributes, refs: TextRefs) -> Self {
        Self {
            dictionary,
            known,
            chosen: Select::All(dictionary.attributes.len()),
            strings: StringTable::new(dictionary.strings.len()),
            refs,
            units: Units::default(),
            mapping_row_0: true,
            location_row_0: true,
            function_row_0: true,
            link_row_0: true,
            locations: Codes::default(),
            functions: Codes::default(),
            attributes: Codes::default(),
            defaults: Vec::new(),
            default_rows: HashMap::default(),
            own_texts: OwnTexts::default(),
            generation: PhantomData,
        }
    }

    /// Decides which rows there are, and what each is referred to by.
    fn settle(
        &mut self,
        profiles: &[&Profile],
        default: StringId,
        losses: &mut Losses,
    ) -> Result<()> {
        let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
        if G::SCHEMA.rows != Rows::NullFirst {
            self.choose_attributes(profiles);
            self.choose_rows_0();
        } else if of_profiles.any(|id| is_profile_field::<G>(self.known.get(*id))) {
            self.choose_attributes(profiles);
        }
        if G::SCHEMA.tables.attribute_units != 0 {
            self.choose_units(profiles, losses);
        }
        self.encode_indices();
        self.mark_strings(profiles, default);
        self.check_sizes()
    }

    /// Makes an attribute of a default sample type that profiles must say by one.
    fn add_default(&mut self, name: StringId) {
        if name != StringId::NONE
            && let Entry::Vacant(new) = self.default_rows.entry(name)
        {
            new.insert(self.defaults.len());
            self.defaults.push(name);
        }
    }

    /// Gives every key its unit, and leaves out the attributes that are labels for it.
    fn choose_units(&mut self, profiles: &[&Profile], losses: &mut Losses) {
        let in_place = profiles
            .iter()
            .filter(|_| G::SCHEMA.profile.attribute_indices == 0)
            .flat_map(|p| &p.attributes);
        let in_place: Vec<usize> = in_place
            .filter(|id| !is_profile_field::<G>(self.known.get(**id)))
            .map(|id| id.row())
            .collect();
        let written = self.chosen.rows().chain(in_place.iter().copied());
        self.units = Units::of(self.dictionary, written);
        if self.units.any_conflict() {
            self.choose_attributes(profiles);
        }
        let written = self.chosen.rows().chain(in_place.iter().copied());
        let conflicts = written.filter(|&row| self.units.conflict(AttributeId(row as u32)));
        losses.add_many(losses::UNIT_KEY_CONFLICT, conflicts.count() as u64, || {
            "attribute_table".to_owned()
        });
    }

    /// Leaves out the attributes that are said in fields, or by labels.
    fn choose_attributes(&mut self, profiles: &[&Profile]) {
        let mut used = vec![false; self.dictionary.attributes.len()];
        let mut mark = |id: AttributeId| {
            if let Some(used) = used.get_mut(id.row()) {
                *used = true;
            }
        };
        for profile in profiles {
            let samples = profile.samples.attributes.items.iter();
            samples.filter(|id| !self.as_label(**id)).for_each(|&id| mark(id));
            if G::SCHEMA.profile.attribute_indices != 0 {
                let own = profile.attributes.iter();
                own.filter(|id| !is_profile_field::<G>(self.known.get(**id)))
                    .for_each(|&id| mark(id));
            }
        }
        for row in self.mappings() {
            self.mapping_attributes(row).for_each(&mut mark);
        }
        for row in self.location_rows() {
            self.location_attributes(row).for_each(&mut mark);
        }
        self.chosen = Select::marked(&used);
    }

    /// Writes the empty row 0 where a reference to none must be told from one to the first row.
    fn choose_rows_0(&mut self) {
        let Dictionary { mappings, locations, functions, links, stacks, .. } = self.dictionary;
        let from_zero = G::SCHEMA.rows == Rows::FromZero;
        self.mapping_row_0 = mappings.rows.get(1).is_some_and(|first| {
            let empty = *first == Mapping::default()
                && self.mapping_attributes(1).next().is_none()
                && self.mapping_flags(1) == 0
                && self.build_id(1).is_none();
            // Where index 0 is a guess, it must be the right one for every location.
            let guessed = |row: usize| match locations.mappings[row] {
                MappingId::NONE => true,
                MappingId(1) => !first.may_hold(locations.addresses[row]),
                _ => false,
            };
            empty || from_zero && self.location_rows().any(guessed)
        });
        self.location_row_0 = holds_none(&stacks.items);
        self.function_row_0 = functions.get(1).is_some_and(|row| *row == Function::default())
            || locations.lines.items.iter().any(|line| line.function == FunctionId::NONE);
        self.link_row_0 = links.get(1).is_some_and(|row| from_zero || *row == Default::default());
    }

    /// The rows of the mapping table that are not the empty one.
    fn mappings(&self) -> std::ops::Range<usize> {
        1..self.dictionary.mappings.rows.len()
    }

    fn location_rows(&self) -> std::ops::Range<usize> {
        1..self.dictionary.locations.len()
    }

    fn encode_indices(&mut self) {
        let Dictionary { locations, functions, attributes, .. } = self.dictionary;
        let all = |rows: usize, row_0: bool| {
            let below = Self::below(row_0);
            let indices: Vec<u32> = (0..rows as u32).map(|row| row.saturating_sub(below)).collect();
            Codes::of(&indices)
        };
        self.locations = all(locations.len(), self.location_row_0);
        self.functions = all(functions.len(), self.function_row_0);
        let below = Self::below(false);
        let place = |place: u32| place.saturating_sub(below);
        self.attributes = self.chosen.codes(attributes.len(), place);
    }

    fn mark_strings(&mut self, profiles: &[&Profile], default: StringId) {
        let Self { dictionary, chosen, strings, units, refs, own_texts, .. } = self;
        for function in dictionary.functions.iter().skip(1) {
            [function.name, function.system_name, function.filename]
                .into_iter()
                .for_each(|id| strings.mark(id));
        }
        dictionary.mappings.rows.iter().for_each(|mapping| strings.mark(mapping.filename));
        if G::SCHEMA.tables.attribute_units == 0 {
            for row in chosen.rows() {
                strings.mark(dictionary.attributes[row].key);
                strings.mark(dictionary.attributes[row].unit);
            }
        }
        for (key, unit) in &units.rows {
            strings.mark(*key);
            strings.mark(*unit);
        }
        if G::SCHEMA.has_default_by_name() {
            strings.mark(default);
        }
        refs.mark(strings, own_texts);
        profiles.iter().for_each(|profile| self.mark_profile(profile));
        self.mark_lowered_strings(profiles);
        if !self.defaults.is_empty() && G::SCHEMA.tables.attribute_units == 0 {
            self.own_texts.want(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE);
        }
        self.own_texts.find(self.dictionary, &mut self.strings);
        self.strings.number();
        self.own_texts.number(&self.strings);
        self.refs.number(&self.strings, &self.own_texts);
    }

    /// The strings of what a profile says in fields.
    fn mark_profile(&mut self, profile: &Profile) {
        let Self { dictionary, strings, known, .. } = self;
        for value_type in profile.sample_types.iter().chain([&profile.period_type]) {
            strings.mark(value_type.name);
            strings.mark(value_type.unit);
        }
        if G::SCHEMA.sample.stacktrace_id != 0 {
            profile.samples.stacktrace_ids.iter().for_each(|&id| strings.mark(id));
        }
        for id in &profile.attributes {
            let known = known.get(*id);
            if is_profile_field::<G>(known)
                && known != Known::DefaultColumn
                && let Some(attribute) = dictionary.attribute(*id)
            {
                known::texts(&attribute.value).for_each(|text| strings.mark(text));
            }
        }
    }

    /// The strings of what mappings and locations say in fields, and of labels in place of
    /// attributes whose unit is not that of their key.
    fn mark_lowered_strings(&mut self, profiles: &[&Profile]) {
        let mut texts = Vec::new();
        let mut old_names = Vec::new();
        if G::SCHEMA.mapping.build_id != 0 {
            for row in self.mappings() {
                texts.extend(self.build_id(row).map(|(_, text, _)| text));
            }
        }
        if G::SCHEMA.location.frame_type != 0 {
            for row in self.location_rows() {
                match self.frame_type(row) {
                    Some((_, FrameType::Text(text))) => texts.push(text),
                    Some((_, FrameType::Old(name))) => old_names.push(name),
                    None => {}
                }
            }
            let used =
                FRAME_TYPES.iter().map(|(old, _)| *old).filter(|old| old_names.contains(old));
            used.for_each(|old| self.own_texts.want(old));
        }
        if G::SCHEMA.sample.label != 0 && self.units.any_conflict() {
            let samples = profiles.iter().flat_map(|p| &p.samples.attributes.items);
            for id in samples.filter(|id| self.as_label(**id)) {
                if let Some(attribute) = self.dictionary.attribute(*id) {
                    texts.extend([attribute.key, attribute.unit]);
                    texts.extend(known::texts(&attribute.value));
                }
            }
        }
        texts.into_iter().for_each(|text| self.strings.mark(text));
    }

    /// Whether an attribute of a sample is written as a label, since its unit is not that of its
    /// key: a label can say what it says.
    #[inline]
    pub(crate) fn as_label(&self, id: AttributeId) -> bool {
        G::SCHEMA.sample.label != 0 && self.units.conflict(id) && self.fits_label(id)
    }

    fn fits_label(&self, id: AttributeId) -> bool {
        self.dictionary.attribute(id).is_some_and(|attribute| match attribute.value {
            Value::Int(_) => true,
            Value::String(text) => {
                !self.dictionary.text(text).is_empty() && attribute.unit == StringId::NONE
            }
            _ => false,
        })
    }

    fn check_sizes(&self) -> Result<()> {
        check_rows("mapping_table", self.dictionary.mappings.rows.len())?;
        check_rows("location_table", self.dictionary.locations.len())?;
        check_rows("function_table", self.dictionary.functions.len())?;
        check_rows("attribute_table", self.chosen.len())?;
        check_rows("string_table", self.strings.len())?;
        check_rows("stack_table", self.dictionary.stacks.len())
    }

    /// About how many bytes the tables take.
    pub(crate) fn estimate(&self) -> usize {
        let dictionary = self.dictionary;
        dictionary.strings.text_len()
            + self.strings.len() * 2
            + dictionary.locations.len() * 12
            + dictionary.functions.len() * 8
            + dictionary.stacks.items.len() * 2
            + dictionary.stacks.len() * 4
    }

    /// All tables, in ascending order.
    pub(crate) fn write_all(&self, out: &mut Vec<u8>) {
        (1..=18).for_each(|number| self.write(out, number));
    }

    /// The table of field `number`, if there is one.
    pub(crate) fn write(&self, out: &mut Vec<u8>, number: u32) {
        let tables = const { &G::SCHEMA.tables };
        let Self { dictionary, chosen, .. } = self;
        if number == 0 {
        } else if number == tables.mapping {
            self.row_0(out, number, self.mapping_row_0);
            self.mappings().for_each(|row| self.mapping(out, row));
        } else if number == tables.location {
            self.row_0(out, number, self.location_row_0);
            self.location_rows().for_each(|row| self.location(out, row));
        } else if number == tables.function {
            self.row_0(out, number, self.function_row_0);
            (1..dictionary.functions.len()).for_each(|row| self.function(out, row));
        } else if number == tables.link {
            if self.link_row_0 {
                field_message(out, number, |out| self.link_row(out, 0));
            }
            (1..dictionary.links.len())
                .for_each(|row| field_message(out, number, |out| self.link_row(out, row)));
        } else if number == tables.string {
            let arena = dictionary.strings.arena().as_bytes();
            for id in self.strings.ids() {
                let part = dictionary.strings.range(id).unwrap_or_default();
                field_text(out, number, arena, part);
            }
            for text in self.own_texts.made() {
                field_bytes(out, number, text.as_bytes());
            }
        } else if number == tables.attribute {
            self.row_0(out, number, G::SCHEMA.rows == Rows::NullFirst);
            chosen
                .rows()
                .for_each(|row| field_message(out, number, |out| self.attribute(out, row)));
            self.defaults.iter().for_each(|&name| {
                field_message(out, number, |out| self.default_attribute(out, name))
            });
        } else if number == tables.attribute_units {
            for (key, unit) in &self.units.rows {
                field_message(out, number, |out| {
                    field_varint(out, 1, self.string(*key).into());
                    field_varint(out, 2, self.string(*unit).into());
                });
            }
        } else if number == tables.stack {
            for stack in dictionary.stacks.rows() {
                let expected = self.locations.expected(stack.len()) + 3;
                field_large(out, number, expected, |out| self.location_indices(out, 1, stack));
            }
        }
    }

    fn row_0(&self, out: &mut Vec<u8>, number: u32, written: bool) {
        if written {
            field_bytes(out, number, &[]);
        }
    }

    /// The index of a string.
    #[inline]
    pub(crate) fn string(&self, id: StringId) -> u32 {
        self.strings.index(id)
    }

    /// What is taken off a row's place to make its index.
    #[inline]
    fn below(row_0: bool) -> u32 {
        match G::SCHEMA.rows {
            Rows::NullFirst => 0,
            Rows::FromZero | Rows::Presence => u32::from(!row_0),
        }
    }

    /// A reference to a mapping or a link, which may be to none.
    #[inline(always)]
    fn reference(&self, fields: &mut Fields, number: u32, place: u32, row_0: bool) {
        let index = place.saturating_sub(Self::below(row_0));
        if index != 0 {
            fields.index(number, index);
        } else if G::SCHEMA.rows == Rows::Presence && place != 0 {
            fields.zero(number);
        }
    }

    /// A sample's reference to its link.
    #[inline(always)]
    pub(crate) fn link(&self, fields: &mut Fields, id: LinkId) {
        if id != LinkId::NONE {
            self.reference(fields, G::SCHEMA.sample.link, id.0, self.link_row_0);
        }
    }

    /// Indices of attributes.
    #[inline(always)]
    pub(crate) fn attribute_indices(&self, fields: &mut Fields, number: u32, ids: &[AttributeId]) {
        fields.codes(number, ids.iter().map(|id| self.attributes.get(id.row())));
    }

    /// Indices of locations.
    #[inline]
    pub(crate) fn location_indices(&self, out: &mut Vec<u8>, number: u32, ids: &[LocationId]) {
        field_codes(out, number, ids, &self.locations, LocationId::row);
    }

    /// The index of a stack: the table has them all.
    #[inline]
    pub(crate) fn stack(&self, id: StackId) -> u32 {
        id.0
    }

    #[inline(always)]
    fn line(&self, fields: &mut Fields, line: &Line) {
        fields.message(G::SCHEMA.location.lines, |fields| {
            fields.code(1, self.functions.get(line.function.row()));
            fields.varint(2, line.line as u64);
            fields.varint(3, line.column as u64);
        });
    }

    fn location(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.location };
        let locations = &self.dictionary.locations;
        let mapping = locations.mappings[row].0;
        let lines = locations.lines.row(row);
        let attributes = locations.attributes.row(row);
        let room = 2 * Fields::INDEX
            + 2 * Fields::VARINT
            + LINE * lines.len()
            + Fields::MESSAGE
            + Fields::INDEX * attributes.len();
        record(out, G::SCHEMA.tables.location, room, |fields| {
            self.reference(fields, numbers.mapping, mapping, self.mapping_row_0);
            fields.varint(numbers.address, locations.addresses[row]);
            lines.iter().for_each(|line| self.line(fields, line));
            if !attributes.is_empty() {
                self.said_of_location(fields, row);
            }
        });
    }

    /// The fields of a location that its attributes are said in.
    fn said_of_location(&self, fields: &mut Fields, row: usize) {
        let numbers = const { &G::SCHEMA.location };
        if numbers.is_folded != 0 && self.folded(row) {
            fields.varint(numbers.is_folded, 1);
        }
        match self.frame_type(row) {
            Some((_, FrameType::Text(text))) => {
                fields.code(numbers.frame_type, self.strings.code(text));
            }
            Some((_, FrameType::Old(name))) => {
                fields.index(numbers.frame_type, self.own_texts.index(name, &self.strings));
            }
            None => {}
        }
        let attributes: Vec<AttributeId> = self.location_attributes(row).collect();
        self.attribute_indices(fields, numbers.attributes, &attributes);
    }

    fn function(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.function };
        let function = &self.dictionary.functions[row];
        let strings = &self.strings;
        record(out, G::SCHEMA.tables.function, 3 * Fields::INDEX + Fields::VARINT, |fields| {
            fields.code(numbers.name, strings.code(function.name));
            fields.code(numbers.system_name, strings.code(function.system_name));
            fields.code(numbers.filename, strings.code(function.filename));
            fields.varint(numbers.start_line, function.start_line as u64);
        });
    }

    fn mapping(&self, out: &mut Vec<u8>, row: usize) {
        let numbers = const { &G::SCHEMA.mapping };
        let mapping = &self.dictionary.mappings.rows[row];
        let attributes: Vec<AttributeId> = self.mapping_attributes(row).collect();
        let flags = self.mapping_flags(row);
        let build_id = self.build_id(row);
        let room = 10 * Fields::VARINT + Fields::MESSAGE + Fields::INDEX * attributes.len();
        record(out, G::SCHEMA.tables.mapping, room, |fields| {
            fields.varint(numbers.memory_start, mapping.memory_start);
            fields.varint(numbers.memory_limit, mapping.memory_limit);
            fields.varint(numbers.file_offset, mapping.file_offset);
            fields.code(numbers.filename, self.strings.code(mapping.filename));
            if numbers.attributes < numbers.has_functions || numbers.has_functions == 0 {
                self.attribute_indices(fields, numbers.attributes, &attributes);
            }
            if let Some((_, text, _)) = build_id {
                fields.code(numbers.build_id, self.strings.code(text));
            }
            if numbers.has_functions != 0 {
                (0..4)
                    .filter(|bit| flags & 1 << bit != 0)
                    .for_each(|bit| fields.varint(numbers.has_functions + bit, 1));
            }
            if let Some((_, _, kind)) = build_id {
                fields.varint(numbers.build_id_kind, kind);
            }
            if numbers.has_functions != 0 && numbers.attributes > numbers.has_functions {
                self.attribute_indices(fields, numbers.attributes, &attributes);
            }
        });
    }

    /// A link; one of nothing is empty only where the empty row is.
    fn link_row(&self, out: &mut Vec<u8>, row: usize) {
        let link = &self.dictionary.links[row];
        if *link != Default::default() || G::SCHEMA.rows != Rows::NullFirst {
            field_bytes(out, 1, &link.trace_id);
            field_bytes(out, 2, &link.span_id);
        }
    }

    fn attribute(&self, out: &mut Vec<u8>, row: usize) {
        let attribute = &self.dictionary.attributes[row];
        let strings = &self.dictionary.strings;
        if G::SCHEMA.tables.attribute_units != 0 {
            return self.attribute_in_place(out, AttributeId(row as u32), attribute);
        }
        field_varint(out, 1, self.string(attribute.key).into());
        if attribute.value != Value::Empty {
            field_message(out, 2, |out| {
                write_common::any_value::<G>(out, &attribute.value, strings, &self.refs)
            });
        }
        field_varint(out, 3, self.string(attribute.unit).into());
    }

    /// A default sample type that a profile says by an attribute.
    fn default_attribute(&self, out: &mut Vec<u8>, name: StringId) {
        if G::SCHEMA.tables.attribute_units == 0 {
            let key = self.own_texts.index(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, &self.strings);
            field_varint(out, 1, key.into());
        } else {
            field_bytes(out, 1, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE.as_bytes());
        }
        let (value, strings) = (Value::String(name), &self.dictionary.strings);
        field_message(out, 2, |out| write_common::any_value::<G>(out, &value, strings, &self.refs));
    }

    /// An attribute with its key in place; where its unit is not that of its key, as a pair.
    pub(crate) fn attribute_in_place(
        &self,
        out: &mut Vec<u8>,
        id: AttributeId,
        attribute: &Attribute,
    ) {
        let strings = &self.dictionary.strings;
        if !self.units.conflict(id) {
            let pair = KeyValue { key: attribute.key, value: attribute.value.clone() };
            return write_common::key_value::<G>(out, &pair, strings, &self.refs);
        }
        let named = |out: &mut Vec<u8>, name: &str, value: &Value| {
            field_message(out, 1, |out| {
                field_bytes(out, 1, name.as_bytes());
                field_message(out, 2, |out| {
                    write_common::any_value::<G>(out, value, strings, &self.refs)
                });
            });
        };
        let pair = |out: &mut Vec<u8>, value: &Value| {
            if matches!(value, Value::KeyValues(_)) {
                return field_message(out, 1, |out| {
                    write_common::any_value::<G>(out, value, strings, &self.refs);
                });
            }
            let name = if matches!(value, Value::String(_)) { PAIR_TEXT } else { PAIR_NUMBER };
            // AnyValue { kvlist_value { … } }
            field_message(out, 1, |out| {
                field_message(out, 6, |out| {
                    named(out, name, value);
                    if attribute.unit != StringId::NONE {
                        named(out, PAIR_UNIT, &Value::String(attribute.unit));
                    }
                });
            });
        };
        let values = match &attribute.value {
            Value::Array(values) => &values[..],
            value => std::slice::from_ref(value),
        };
        field_bytes_nonempty(out, 1, strings.get(attribute.key).as_bytes());
        field_message(out, 2, |out| {
            field_message(out, 5, |out| values.iter().for_each(|value| pair(out, value)))
        });
    }

    pub(crate) fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        field_varint(out, 1, self.string(value_type.name).into());
        field_varint(out, 2, self.string(value_type.unit).into());
        let temporality = value_type.temporality.map_or(0, |temporality| temporality.0);
        field_varint(out, G::SCHEMA.temporality, temporality as u64);
    }

    /// The fields a profile's attributes are said in.
    pub(crate) fn profile_attributes(
        &self,
        out: &mut Vec<u8>,
        number: u32,
        profile: &Profile,
        default: StringId,
    ) {
        let fields = const { &G::SCHEMA.profile };
        let attributes = || profile.attributes.iter().copied();
        if number == fields.attribute_indices {
            let kept: Vec<AttributeId> =
                attributes().filter(|id| !is_profile_field::<G>(self.known.get(*id))).collect();
            let below = Self::below(false);
            let default = self.default_rows.get(&default);
            let default = default.map(|at| (self.chosen.len() + 1 + at) as u32 - below);
            let places = kept.iter().map(|id| self.chosen.place(id.0).saturating_sub(below));
            let places: Vec<u32> = places.chain(default).collect();
            field_varints(out, number, places.into_iter().map(u64::from));
        } else if number == fields.attributes {
            for id in attributes().filter(|id| !is_profile_field::<G>(self.known.get(*id))) {
                if let Some(attribute) = self.dictionary.attribute(id) {
                    field_message(out, number, |out| self.attribute_in_place(out, id, attribute));
                }
            }
        }
        for (field, wanted) in [
            (fields.comment, Known::Comment),
            (fields.drop_frames, Known::DropFrames),
            (fields.keep_frames, Known::KeepFrames),
        ] {
            if number == field {
                let of = attributes()
                    .filter(|id| self.known.get(*id) == wanted)
                    .filter_map(|id| self.dictionary.attribute(id));
                let texts: Vec<u32> = of
                    .flat_map(|attribute| known::texts(&attribute.value))
                    .map(|id| self.string(id))
                    .collect();
                if wanted == Known::Comment {
                    field_varints(out, number, texts.into_iter().map(u64::from));
                } else {
                    texts.into_iter().for_each(|index| field_varint(out, number, index.into()));
                }
            }
        }
    }

    /// The mapping flags said in fields.
    fn mapping_flags(&self, row: usize) -> u32 {
        let set = |id: &AttributeId| match (
            self.known.get(*id),
            self.dictionary.attribute(*id).map(|a| &a.value),
        ) {
            (Known::MappingFlag(bit), Some(Value::Bool(true))) => 1 << bit,
            _ => 0,
        };
        self.dictionary
            .mappings
            .attributes
            .row(row)
            .iter()
            .map(set)
            .fold(0, |flags, flag| flags | flag)
    }

    /// The build id said in a field: the attribute, its text, and the kind's number.
    fn build_id(&self, row: usize) -> Option<(AttributeId, StringId, u64)> {
        if G::SCHEMA.mapping.build_id == 0 {
            return None;
        }
        let of = |id: &AttributeId| match (
            self.known.get(*id),
            &self.dictionary.attribute(*id)?.value,
        ) {
            (Known::BuildId(kind), Value::String(text)) if kind != BuildId::Other => {
                Some((kind, *id, *text))
            }
            _ => None,
        };
        let (kind, id, text) = self
            .dictionary
            .mappings
            .attributes
            .row(row)
            .iter()
            .filter_map(of)
            .min_by_key(|(kind, ..)| *kind)?;
        if kind == BuildId::Htlhash {
            return Some((id, text, 1));
        }
        // Read back, the text alone must say of which kind it is; and an empty one is none.
        let key = self.dictionary.text(self.dictionary.attribute(id)?.key);
        let same = build_id::key_of(self.dictionary.text(text).as_bytes()).0 == key;
        (same && text != StringId::NONE).then_some((id, text, 0))
    }

    /// The attributes of a mapping that are said as attributes.
    fn mapping_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let build_id = self.build_id(row).map(|(id, ..)| id);
        self.dictionary.mappings.attributes.row(row).iter().copied().filter(move |id| {
            match self.known.get(*id) {
                Known::MappingFlag(_) => G::SCHEMA.mapping.has_functions == 0,
                _ => Some(*id) != build_id,
            }
        })
    }

    fn folded(&self, row: usize) -> bool {
        self.dictionary.locations.attributes.row(row).iter().any(|id| {
            self.known.get(*id) == Known::Folded
                && self
                    .dictionary
                    .attribute(*id)
                    .is_some_and(|attribute| attribute.value == Value::Bool(true))
        })
    }

    /// The frame type said in a field. A name that would come back as another stays an attribute.
    fn frame_type(&self, row: usize) -> Option<(AttributeId, FrameType)> {
        if G::SCHEMA.location.frame_type == 0 {
            return None;
        }
        let ids = self.dictionary.locations.attributes.row(row);
        let id = ids.iter().find(|id| self.known.get(**id) == Known::FrameType)?;
        let Value::String(text) = self.dictionary.attribute(*id)?.value else {
            return None;
        };
        FrameType::of(self.dictionary.text(text), text).map(|said| (*id, said))
    }

    /// The attributes of a location that are said as attributes.
    fn location_attributes(&self, row: usize) -> impl Iterator<Item = AttributeId> + '_ {
        let ids = self.dictionary.locations.attributes.row(row);
        let frame_type = if ids.is_empty() { None } else { self.frame_type(row).map(|(id, _)| id) };
        ids.iter().copied().filter(move |id| match self.known.get(*id) {
            Known::Folded => G::SCHEMA.location.is_folded == 0,
            _ => Some(*id) != frame_type,
        })
    }
}

/// Whether the generation has a field for a profile's attribute.
pub(crate) fn is_profile_field<G: Generation>(known: Known) -> bool {
    match known {
        Known::Comment => G::SCHEMA.profile.comment != 0,
        Known::DropFrames => G::SCHEMA.profile.drop_frames != 0,
        Known::KeepFrames => G::SCHEMA.profile.keep_frames != 0,
        Known::DefaultSampleType => G::SCHEMA.has_default_by_name(),
        Known::DefaultColumn => true,
        _ => false,
    }
}
