//! Lookup tables of a payload or of a profile: the rows to write, and their indices.
//!
//! ```text
//! rows of the model ─► choose: attributes, rows 0, units ─► indices ─► mark and number strings ─► check sizes
//! ```
//!
//! All of this is determined before the first byte, because in some generations samples precede the tables.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::error::Result;
use crate::losses::{self, Losses};
use crate::model::Profiles;
use crate::model::dictionary::{Dictionary, Function, Mapping};
use crate::model::id::{AttributeId, FunctionId, MappingId, StringId};
use crate::model::profile::Profile;
use crate::model::value::Value;
use crate::schema::{Generation, Rows};
use crate::semconv::{FRAME_TYPES, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE};
use crate::tables::attributes::attributes_to_fields::{AttributesToFields, is_profile_field};
use crate::tables::attributes::frame_types::FrameType;
use crate::tables::attributes::semantic_attributes::{self, AttributeRole, AttributeRoles};
use crate::tables::attributes::units::Units;
use crate::tables::layout::Order;
use crate::tables::profile::columns::DefaultTypeCarrier;
use crate::tables::write::parts::{Part, ScopeParts};
use crate::tables::write::refs::refer_all;
use crate::tables::write::select::{RowSelection, holds_none, marks};
use crate::tables::write::sizes::check_rows;
use crate::tables::write::strings::StringTable;
use crate::wire::codes::EncodedIndices;
use crate::write_options::StringEncoding;

/// The tables of a payload or of a profile, and the indices of their rows.
pub(crate) struct TableWriter<'a, G> {
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) roles: &'a AttributeRoles,
    pub(super) row_fields: AttributesToFields<'a, G>,
    /// The rows to write. Attributes that become fields or labels are excluded.
    pub(crate) rows: Order,
    /// Only strings that are referenced, and added ones: old names of frame types, keys of defaults.
    pub(crate) strings: StringTable<'a>,
    /// Units by key, in generations that store units by key.
    pub(crate) units: Units,
    /// Whether the model's row 0 is written, so that index 0 means unset. The same for the next three fields.
    pub(crate) mapping_row_0: bool,
    pub(crate) location_row_0: bool,
    pub(crate) function_row_0: bool,
    pub(crate) link_row_0: bool,
    /// The index of each location, function and attribute.
    pub(super) locations: EncodedIndices,
    pub(super) functions: EncodedIndices,
    pub(super) attributes: EncodedIndices,
    /// The default sample types that profiles represent by an attribute: rows after the others.
    pub(super) defaults: Vec<StringId>,
    /// The index of each of these rows.
    pub(super) default_rows: HashMap<StringId, usize, foldhash::fast::RandomState>,
}

impl<'a, G: Generation> TableWriter<'a, G> {
    /// Builds the tables shared by all profiles of a payload.
    ///
    /// # Errors
    ///
    /// More rows than a signed 32-bit index can reference.
    pub(crate) fn shared(
        payload: &'a Profiles,
        roles: &'a AttributeRoles,
        references: StringEncoding,
        scopes: &[ScopeParts],
        rows: Order,
        losses: &mut Losses,
    ) -> Result<Self> {
        let profiles: Vec<&Profile> = payload.iter().collect();
        let mut tables = Self::new(&payload.dictionary, roles, rows);
        if G::CAPABILITIES.string_references && references != StringEncoding::Inline {
            refer_all(&mut tables.strings, payload, &tables.rows.attributes, scopes);
        }
        let saying =
            scopes.iter().filter(|scope| scope.default_carrier == DefaultTypeCarrier::Profiles);
        for profile in saying.flat_map(|scope| &scope.scope.profiles) {
            tables.add_default(profile.default_sample_type);
        }
        // Last, because it numbers the strings and rows that were requested above.
        tables.plan(&profiles, StringId::NONE, losses)?;
        Ok(tables)
    }

    /// Builds the tables of one profile.
    ///
    /// `default` is the name of the default sample type that the profile's field references.
    pub(crate) fn own(
        dictionary: &'a Dictionary,
        roles: &'a AttributeRoles,
        part: &Part,
        default: StringId,
        rows: Order,
        losses: &mut Losses,
    ) -> Result<Self> {
        let mut tables = Self::new(dictionary, roles, rows);
        tables.plan(part.profiles(), default, losses)?;
        Ok(tables)
    }

    /// Creates tables without a selection of rows; [`plan`](Self::plan) makes it.
    pub(crate) fn new(dictionary: &'a Dictionary, roles: &'a AttributeRoles, rows: Order) -> Self {
        Self {
            dictionary,
            roles,
            row_fields: AttributesToFields::new(dictionary, roles),
            rows,
            strings: StringTable::new(&dictionary.strings),
            units: Units::default(),
            mapping_row_0: true,
            location_row_0: true,
            function_row_0: true,
            link_row_0: true,
            locations: EncodedIndices::default(),
            functions: EncodedIndices::default(),
            attributes: EncodedIndices::default(),
            defaults: Vec::new(),
            default_rows: HashMap::default(),
        }
    }

    /// Selects the rows and determines their indices.
    ///
    /// Attributes precede units, because conflicting units may exclude further attributes. Strings come last,
    /// because they depend on everything else.
    fn plan(
        &mut self,
        profiles: &[&Profile],
        default: StringId,
        losses: &mut Losses,
    ) -> Result<()> {
        let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
        if G::CAPABILITIES.rows != Rows::NullFirst {
            self.choose_attributes(profiles);
            self.choose_rows_0();
        // Since 1.8, the rows chosen by the layout stay, unless a profile has an attribute that becomes a field.
        } else if of_profiles.any(|id| is_profile_field::<G>(self.roles.get(*id))) {
            self.choose_attributes(profiles);
        }
        if !G::CAPABILITIES.attribute_units {
            self.choose_units(profiles, losses);
        }
        self.number(profiles, default)
    }

    /// Has the keys and values of the selected attributes refer to their strings.
    pub(crate) fn refer_to_values(&mut self) {
        self.strings.has_references = true;
        let mut refer = |id: StringId| self.strings.refer(id, id);
        for attribute in self.rows.attributes.rows().map(|row| &self.dictionary.attributes[row]) {
            refer(attribute.key);
            attribute.value.for_each_text(&mut refer);
        }
    }

    /// Determines the indices of the selected rows and of their strings.
    pub(crate) fn number(&mut self, profiles: &[&Profile], default: StringId) -> Result<()> {
        self.encode_indices();
        self.mark_strings(profiles, default);
        self.strings.number(&self.rows.strings);
        self.check_sizes()
    }

    /// Adds an attribute row for a default sample type.
    fn add_default(&mut self, name: StringId) {
        if name != StringId::NONE
            && let Entry::Vacant(new) = self.default_rows.entry(name)
        {
            new.insert(self.defaults.len());
            self.defaults.push(name);
        }
    }

    /// Chooses the unit of every key, and excludes attributes that become labels as a result.
    ///
    /// Inline attributes of profiles need a unit by key too, although they are not rows.
    fn choose_units(&mut self, profiles: &[&Profile], losses: &mut Losses) {
        let in_place = profiles
            .iter()
            .filter(|_| !G::CAPABILITIES.profile_attribute_rows)
            .flat_map(|p| &p.attributes);
        let in_place: Vec<usize> = in_place
            .filter(|id| !is_profile_field::<G>(self.roles.get(**id)))
            .map(|id| id.row())
            .collect();
        let written = self.rows.attributes.rows().chain(in_place.iter().copied());
        self.units = Units::of(self.dictionary, self.roles, written);
        if self.units.any_conflict() {
            self.choose_attributes(profiles);
        }
        // Again, because `choose_attributes` changed the selection.
        let written = self.rows.attributes.rows().chain(in_place.iter().copied());
        let conflicts = written.filter(|&row| self.units.conflict(AttributeId(row as u32)));
        losses.add_many(losses::UNIT_KEY_CONFLICT, conflicts.count() as u64, || {
            "attribute_table".to_owned()
        });
    }

    /// Excludes the attributes that are written as fields or labels.
    fn choose_attributes(&mut self, profiles: &[&Profile]) {
        let of_samples = profiles.iter().flat_map(|profile| &profile.samples.attributes.items);
        let of_samples = of_samples.copied().filter(|id| !self.as_label(*id));
        let own = profiles.iter().filter(|_| G::CAPABILITIES.profile_attribute_rows);
        let own = own.flat_map(|profile| self.profile_attributes(profile));
        self.select_attributes(marks(self.dictionary.attributes.len(), of_samples.chain(own)));
    }

    /// Selects the marked attributes, and those of mappings and locations that do not become fields.
    pub(crate) fn select_attributes(&mut self, mut used: Vec<bool>) {
        let of_mappings = self.mappings().flat_map(|row| self.row_fields.mapping_attributes(row));
        let locations = self.rows.locations.rows();
        let of_locations = locations.flat_map(|row| self.row_fields.location_attributes(row));
        let of_rows = marks(used.len(), of_mappings.chain(of_locations));
        used.iter_mut().zip(of_rows).for_each(|(used, of_row)| *used |= of_row);
        self.rows.attributes = RowSelection::marked(&used);
    }

    /// Determines whether to write the empty row 0, which is needed if index 0 would otherwise be ambiguous.
    fn choose_rows_0(&mut self) {
        let Dictionary { mappings, locations, functions, links, stacks, .. } = self.dictionary;
        let rows = &self.rows;
        let from_zero = G::CAPABILITIES.rows == Rows::FromZero;
        self.mapping_row_0 = mappings.rows.get(1).is_some_and(|first| {
            let empty = *first == Mapping::default()
                && self.row_fields.mapping_attributes(1).next().is_none()
                && self.row_fields.mapping_flags(1) == 0
                && self.row_fields.build_id(1).is_none();
            // If index 0 is ambiguous, the reader's guess must be right for every location.
            let guessed = |row: usize| match locations.mappings[row] {
                MappingId::NONE => true,
                MappingId(1) => !first.may_hold(locations.addresses[row]),
                _ => false,
            };
            empty || from_zero && rows.locations.rows().any(guessed)
        });
        // Up to 1.7, references to locations and functions cannot be unset: index 0 is the first row.
        self.location_row_0 = rows.stacks.items(stacks).any(holds_none);
        let function = rows.functions.rows().next().and_then(|row| functions.get(row));
        let mut lines = rows.locations.items(&locations.lines).flatten();
        self.function_row_0 = function.is_some_and(|row| *row == Function::default())
            || lines.any(|line| line.function == FunctionId::NONE);
        let link = rows.links.rows().next().and_then(|row| links.get(row));
        // The reader of 1.3 treats link 0 as no link, so the first link must have another index.
        self.link_row_0 = link.is_some_and(|row| from_zero || *row == Default::default());
    }

    /// Returns the rows of the mapping table except the empty row.
    pub(super) fn mappings(&self) -> std::ops::Range<usize> {
        1..self.dictionary.mappings.rows.len()
    }

    /// Encodes the varint of each index once, however often it is referenced.
    fn encode_indices(&mut self) {
        let Dictionary { locations, functions, attributes, .. } = self.dictionary;
        let codes = |rows: &RowSelection, table: usize, row_0: bool| {
            let below = Self::below(row_0);
            rows.codes(table, |place| place.saturating_sub(below))
        };
        let rows = &self.rows;
        self.locations = codes(&rows.locations, locations.len(), self.location_row_0);
        self.functions = codes(&rows.functions, functions.len(), self.function_row_0);
        // No generation before 1.8 has an empty attribute.
        self.attributes = codes(&rows.attributes, attributes.len(), false);
    }

    /// Marks the strings of all written rows.
    fn mark_strings(&mut self, profiles: &[&Profile], default: StringId) {
        let Self { dictionary, rows, strings, units, .. } = self;
        strings.mark_rows(dictionary, &rows.functions, profiles.iter().copied());
        if G::CAPABILITIES.attribute_units {
            for row in rows.attributes.rows() {
                strings.mark(dictionary.attributes[row].key);
                strings.mark(dictionary.attributes[row].unit);
            }
        }
        for (key, unit) in &units.rows {
            strings.mark(*key);
            strings.mark(*unit);
        }
        if G::CAPABILITIES.default_by_name {
            strings.mark(default);
        }
        profiles.iter().for_each(|profile| self.mark_profile(profile));
        self.mark_lowered_strings(profiles);
        if !self.defaults.is_empty() && G::CAPABILITIES.attribute_units {
            self.strings.request(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE);
        }
    }

    /// Marks the strings of a profile's fields.
    fn mark_profile(&mut self, profile: &Profile) {
        let Self { dictionary, strings, roles, .. } = self;
        if G::CAPABILITIES.stacktrace_ids {
            profile.samples.stacktrace_ids.iter().for_each(|&id| strings.mark(id));
        }
        for id in &profile.attributes {
            let role = roles.get(*id);
            if is_profile_field::<G>(role)
                && role != AttributeRole::DefaultColumn
                && let Some(attribute) = dictionary.attribute(*id)
            {
                semantic_attributes::texts(&attribute.value).for_each(|text| strings.mark(text));
            }
        }
    }

    /// Marks the strings of fields of mappings and locations, and of labels that replace attributes with
    /// conflicting units.
    fn mark_lowered_strings(&mut self, profiles: &[&Profile]) {
        let mut texts = Vec::new();
        let mut old_names = Vec::new();
        if G::CAPABILITIES.build_ids {
            for row in self.mappings() {
                texts.extend(self.row_fields.build_id(row).map(|(_, text, _)| text));
            }
        }
        if G::CAPABILITIES.frame_types {
            for row in self.rows.locations.rows() {
                match self.row_fields.frame_type(row) {
                    Some((_, FrameType::Text(text))) => texts.push(text),
                    Some((_, FrameType::Old(name))) => old_names.push(name),
                    None => {}
                }
            }
            // Each name once, in an order that does not depend on the locations.
            let used =
                FRAME_TYPES.iter().map(|(old, _)| *old).filter(|old| old_names.contains(old));
            used.for_each(|old| self.strings.request(old));
        }
        if G::CAPABILITIES.labels && self.units.any_conflict() {
            let samples = profiles.iter().flat_map(|p| &p.samples.attributes.items);
            for id in samples.filter(|id| self.as_label(**id)) {
                if let Some(attribute) = self.dictionary.attribute(*id) {
                    texts.extend([attribute.key, attribute.unit]);
                    texts.extend(semantic_attributes::texts(&attribute.value));
                }
            }
        }
        texts.into_iter().for_each(|text| self.strings.mark(text));
    }

    /// Returns whether an attribute of a sample is written as a label: its unit differs from that of its key,
    /// and a label can represent it.
    #[inline]
    pub(crate) fn as_label(&self, id: AttributeId) -> bool {
        G::CAPABILITIES.labels && self.units.conflict(id) && self.fits_label(id)
    }

    /// Returns whether a label of pprof can represent the attribute: a number with a unit, or a string
    /// without one.
    fn fits_label(&self, id: AttributeId) -> bool {
        self.dictionary.attribute(id).is_some_and(|attribute| match attribute.value {
            Value::Int(_) => true,
            Value::String(text) => {
                !self.dictionary.text(text).is_empty() && attribute.unit == StringId::NONE
            }
            _ => false,
        })
    }

    /// Returns whether the tables contain only the empty string.
    pub(crate) fn is_empty(&self) -> bool {
        let Order { functions, locations, links, attributes, .. } = &self.rows;
        let empty =
            [functions, locations, links, attributes].into_iter().all(|rows| rows.len() == 0);
        empty && self.dictionary.mappings.rows.len() <= 1 && self.strings.len() <= 1
    }

    /// Checks the sizes of tables. Indices are `int32` in every generation.
    ///
    /// # Errors
    ///
    /// The first table that is too long.
    fn check_sizes(&self) -> Result<()> {
        check_rows("mapping_table", self.dictionary.mappings.rows.len())?;
        check_rows("location_table", self.dictionary.locations.len())?;
        check_rows("function_table", self.dictionary.functions.len())?;
        check_rows("attribute_table", self.rows.attributes.len())?;
        check_rows("string_table", self.strings.len())?;
        check_rows("stack_table", self.dictionary.stacks.len())
    }
}
