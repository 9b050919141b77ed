//! What pprof and older generations say in fields of their own becomes what the conventions name:
//! attributes. Then the tables and the samples are proved and handed over.

use crate::build::interner::Interner;
use crate::build::reach::Reach;
use crate::error::{Error, Result};
use crate::format::build_id;
use crate::format::intake::Intake;
use crate::format::known::is_pprof;
use crate::format::losses;
use crate::format::otlp::prove::{self, Target};
use crate::format::otlp::samples::RawSamples;
use crate::format::otlp::schema::Generation;
use crate::format::otlp::tables::{MappingPprof, Tables, unknown};
use crate::format::otlp::{common, settle::Shifts, time_unit};
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::{Profile, ValueType};
use crate::model::samples::Samples;
use crate::model::value::{KeyValue, Value};
use crate::semconv;
use crate::wire::read::Reader;

/// A profile being read: what the model holds already, and what is not yet proved or lifted.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The rows of its resource, its scope and itself.
    pub(crate) at: [usize; 3],
    pub(crate) profile: Profile,
    pub(crate) samples: RawSamples,
    /// Whether it has locations for its samples to slice.
    pub(crate) slices: bool,
    pub(crate) attributes: Vec<u32>,
    pub(crate) attributes_in_place: Vec<KeyValue>,
    pub(crate) comments: Vec<u32>,
    pub(crate) default_sample_type: u32,
    pub(crate) drop_frames: u32,
    pub(crate) keep_frames: u32,
    /// The container's times.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where every profile has tables of its own.
    pub(crate) tables: Option<Box<Tables>>,
}

impl Draft {
    /// The error of something in this profile, with its place.
    pub(crate) fn place(&self, error: Error) -> Error {
        let [resource, scope, profile] = self.at;
        error
            .within_row("profiles", profile)
            .within_row("scope_profiles", scope)
            .within_row("resource_profiles", resource)
    }

    /// Makes attributes of what this generation says in fields.
    pub(crate) fn lift<G: Generation>(
        &mut self,
        tables: &mut Tables,
        shifts: &Shifts,
        intake: &mut Intake,
    ) -> Result<()> {
        let raw = std::mem::take(&mut self.attributes);
        let place = |error: Error, row: usize| error.element(row).within("attribute_indices");
        self.profile.attributes = prove::column(raw, shifts.attributes, intake, place)?;
        for KeyValue { key, value } in std::mem::take(&mut self.attributes_in_place) {
            let unit = shifts.unit_of(key);
            self.profile
                .attributes
                .push(tables.new_attributes.intern(Attribute { key, value, unit }, intake)?);
        }
        self.lift_comments(tables, intake)?;
        for (index, key) in [
            (self.drop_frames, semconv::PPROF_PROFILE_DROP_FRAMES),
            (self.keep_frames, semconv::PPROF_PROFILE_KEEP_FRAMES),
        ] {
            if index != 0 {
                let text = common::table_text(index, &tables.texts, intake)?;
                let id = tables.new_attributes.named(
                    key,
                    Value::String(text),
                    &mut tables.texts,
                    intake,
                )?;
                self.profile.attributes.push(id);
            }
        }
        self.lift_times(intake);
        self.lift_value_types(tables, intake)?;
        self.profile.default_sample_type = self.default_name::<G>(tables, intake)?;
        Ok(())
    }

    fn lift_comments(&mut self, tables: &mut Tables, intake: &mut Intake) -> Result<()> {
        if self.comments.is_empty() {
            return Ok(());
        }
        let texts = &tables.texts;
        let comments: Result<Vec<Value>> = self
            .comments
            .iter()
            .map(|&index| {
                common::table_text(index, texts, intake)
                    .map(Value::String)
                    .map_err(|e| e.within("comment_strindices"))
            })
            .collect();
        let value = Value::Array(comments?.into());
        let id = tables.new_attributes.named(
            semconv::PPROF_PROFILE_COMMENT,
            value,
            &mut tables.texts,
            intake,
        )?;
        self.profile.attributes.push(id);
        Ok(())
    }

    /// The inner profile's times win; where it has none the container's do.
    fn lift_times(&mut self, intake: &mut Intake) {
        let (start, end) = (i128::from(self.start), i128::from(self.end));
        if start == 0 && end == 0 {
            return;
        }
        let duration = (end - start).max(0);
        let profile = &mut self.profile;
        let (time, took) = (profile.time_unix_nano, profile.duration_nanos);
        let agrees =
            (time == 0 || time == start) && (took <= 0 || took == duration) && end >= start;
        if !agrees {
            intake.note(losses::TIME_CONFLICT, String::new, || {
                format!("the container says {start} to {end}, the profile {time} and {took}")
            });
        }
        if time == 0 {
            profile.time_unix_nano = start;
        }
        if took == 0 {
            profile.duration_nanos = duration;
        }
    }

    /// From when to when: as the container says, or else the profile.
    fn range(&self) -> (i128, i128) {
        if (self.start, self.end) != (0, 0) {
            return (self.start.into(), self.end.into());
        }
        let Profile { time_unix_nano, duration_nanos, .. } = self.profile;
        (time_unix_nano, time_unix_nano + duration_nanos)
    }

    fn lift_value_types(&mut self, tables: &Tables, intake: &mut Intake) -> Result<()> {
        let mut prove = |value_type: &mut ValueType, field: &'static str| -> Result<()> {
            value_type.name = common::table_text(value_type.name.0, &tables.texts, intake)
                .map_err(|e| e.within(field))?;
            value_type.unit = common::table_text(value_type.unit.0, &tables.texts, intake)
                .map_err(|e| e.within(field))?;
            Ok(())
        };
        self.profile
            .sample_types
            .iter_mut()
            .try_for_each(|value_type| prove(value_type, "sample_type"))?;
        prove(&mut self.profile.period_type, "period_type")
    }

    /// The name of the default sample type, where one is said.
    fn default_name<G: Generation>(
        &self,
        tables: &Tables,
        intake: &mut Intake,
    ) -> Result<StringId> {
        let types = &self.profile.sample_types;
        if G::SCHEMA.profile.default_sample_type() == 0 {
            return Ok(StringId::NONE);
        }
        if G::SCHEMA.has_default_by_name() {
            return common::table_text(self.default_sample_type, &tables.texts, intake)
                .map_err(|e| e.within("default_sample_type"));
        }
        // A column's number: left out is 0, and the last is what pprof shows by itself.
        let column = self.default_sample_type as usize;
        if column + 1 == types.len() {
            return Ok(StringId::NONE);
        }
        Ok(types.get(column).map_or(StringId::NONE, |default| default.name))
    }

    /// Proves the samples and hands the profile over.
    pub(crate) fn finish<G: Generation>(
        mut self,
        shifts: &Shifts,
        stacks: usize,
        intake: &mut Intake,
    ) -> Result<Profile> {
        let mut raw = std::mem::take(&mut self.samples);
        raw.settle();
        super::shape::check::<G>(&mut raw, self.profile.sample_types.len(), intake)
            .map_err(|e| self.place(e))?;
        let place = |field: &'static str| {
            let at = &self;
            move |error: Error, row: usize| at.place(error.within(field).within_row("samples", row))
        };
        let stacks = Target { rows: stacks, shift: 0 };
        if G::SCHEMA.container.profile != 0 {
            let (start, end) = self.range();
            time_unit::check(&raw.timestamps, start, end, intake);
        }
        let samples = Samples {
            stacks: prove::column(raw.stacks, stacks, intake, place("stack_index"))?,
            links: prove::column(
                shifts.links(raw.links),
                shifts.link,
                intake,
                place("link_index"),
            )?,
            attributes: prove::ragged(
                raw.attributes,
                shifts.sample_attributes,
                intake,
                |error, row, at| place("attribute_indices")(error.element(at), row),
            )?,
            values: raw.values,
            timestamps: raw.timestamps,
            stacktrace_ids: prove::column(
                raw.stacktrace_ids,
                shifts.strings,
                intake,
                place("stacktrace_id_index"),
            )?,
        };
        self.profile.samples = samples;
        Ok(self.profile)
    }
}

/// A field of a profile that this generation does not know.
pub(crate) fn unknown_field<G: Generation>(
    tag: u32,
    reader: &mut Reader,
    intake: &mut Intake,
) -> Result<()> {
    let (schema, tables) = const { (&G::SCHEMA.profile, &G::SCHEMA.tables) };
    let fields = [
        (schema.sample_type, "sample_type"),
        (schema.samples, "samples"),
        (schema.location_indices, "location_indices"),
        (schema.time, "time_unix_nano"),
        (schema.duration, "duration_nano"),
        (schema.period_type, "period_type"),
        (schema.period, "period"),
        (schema.comment, "comment_strindices"),
        (schema.default_sample_type(), "default_sample_type"),
        (schema.drop_frames, "drop_frames"),
        (schema.keep_frames, "keep_frames"),
        (schema.profile_id, "profile_id"),
        (schema.attributes, "attributes"),
        (schema.dropped_attributes_count, "dropped_attributes_count"),
        (schema.original_payload_format, "original_payload_format"),
        (schema.original_payload, "original_payload"),
        (schema.attribute_indices, "attribute_indices"),
    ];
    let own_tables = [
        (tables.mapping, "mapping_table"),
        (tables.location, "location_table"),
        (tables.function, "function_table"),
        (tables.link, "link_table"),
        (tables.string, "string_table"),
        (tables.attribute, "attribute_table"),
        (tables.attribute_units, "attribute_units"),
    ];
    let own: &[_] = if G::SCHEMA.home == super::schema::Home::Profile { &own_tables } else { &[] };
    let known: Vec<_> =
        fields.iter().chain(own).copied().filter(|(number, _)| *number != 0).collect();
    unknown(reader, tag, "Profile", &known, intake)
}

/// Makes attributes of what pprof says of mappings in fields.
pub(crate) fn mappings(
    tables: &mut Tables,
    first_row: usize,
    intake: &mut Intake,
) -> Result<Vec<Vec<AttributeId>>> {
    let mut lifted = vec![Vec::new(); tables.mapping_pprof.len()];
    for (row, pprof) in std::mem::take(&mut tables.mapping_pprof).into_iter().enumerate() {
        let wire = row.saturating_sub(first_row);
        let build_id = common::table_text(pprof.build_id, &tables.texts, intake)
            .map_err(|e| e.within("build_id").within_row("mapping_table", wire))?;
        mapping(pprof, build_id, tables, &mut lifted[row], intake)?;
    }
    Ok(lifted)
}

/// The attributes of what pprof says of one mapping.
pub(crate) fn mapping(
    pprof: MappingPprof,
    build_id: StringId,
    tables: &mut Tables,
    out: &mut Vec<AttributeId>,
    intake: &mut Intake,
) -> Result<()> {
    if build_id != StringId::NONE {
        let key = build_id_key(pprof.build_id_kind, build_id, tables, intake);
        out.push(tables.new_attributes.named(
            key,
            Value::String(build_id),
            &mut tables.texts,
            intake,
        )?);
    }
    for (bit, key) in semconv_flags().into_iter().enumerate() {
        if pprof.flags & 1 << bit != 0 {
            out.push(tables.new_attributes.named(
                key,
                Value::Bool(true),
                &mut tables.texts,
                intake,
            )?);
        }
    }
    Ok(())
}

/// An attribute that says a flag is not set, where otherwise nothing of pprof's would be said and
/// readers would infer the flags from the locations.
pub(crate) fn unset_flag(tables: &mut Tables, intake: &mut Intake) -> Result<Option<AttributeId>> {
    let Tables { texts, new_attributes, attributes, lines, .. } = &*tables;
    let pprof = |attribute: &Attribute| {
        texts.raw.get(attribute.key.row()).is_some_and(|key| key.starts_with(b"pprof."))
    };
    if lines.items.is_empty() || attributes.iter().chain(&new_attributes.rows).any(pprof) {
        return Ok(None);
    }
    let key = semconv::PPROF_MAPPING_HAS_FUNCTIONS;
    tables.new_attributes.named(key, Value::Bool(false), &mut tables.texts, intake).map(Some)
}

/// The same for a payload whose profiles have tables of their own, when these are one. What no
/// profile refers to is in none of the tables that are written, so it says nothing here.
pub(crate) fn unset_flag_of_all(interner: &mut Interner, profiles: &[&Profile]) -> Result<()> {
    let dictionary = &interner.dictionary;
    let used = Reach::by(dictionary, profiles.iter().copied()).rows;
    let lines = &dictionary.locations.lines;
    let lined = |row: &u32| !lines.row(*row as usize).is_empty();
    let pprof = |row: &u32| is_pprof(dictionary, *row as usize);
    let Some(&first) = used.mappings.first() else {
        return Ok(());
    };
    if !used.locations.iter().any(lined) || used.attributes.iter().any(pprof) {
        return Ok(());
    }
    let key = interner.bytes(semconv::PPROF_MAPPING_HAS_FUNCTIONS.as_bytes())?;
    let unset =
        interner.attribute(Attribute { key, value: Value::Bool(false), unit: StringId::NONE })?;
    let mappings = &mut interner.dictionary.mappings;
    let before = std::mem::take(&mut mappings.attributes);
    for row in 0..mappings.rows.len() {
        let attributes = &mut mappings.attributes;
        attributes.items.extend_from_slice(before.row(row));
        attributes.items.extend((row == first as usize).then_some(unset));
        attributes.end_row_at(row);
    }
    Ok(())
}

/// The keys of pprof's four mapping flags, in the order of their fields.
pub(crate) fn semconv_flags() -> [&'static str; 4] {
    [
        semconv::PPROF_MAPPING_HAS_FUNCTIONS,
        semconv::PPROF_MAPPING_HAS_FILENAMES,
        semconv::PPROF_MAPPING_HAS_LINE_NUMBERS,
        semconv::PPROF_MAPPING_HAS_INLINE_FRAMES,
    ]
}

fn build_id_key(kind: u32, text: StringId, tables: &Tables, intake: &mut Intake) -> &'static str {
    if kind == 1 {
        return semconv::BUILD_ID_HTLHASH;
    }
    let text = tables.texts.raw.get(text.row()).unwrap_or_default();
    let (key, sure) = build_id::key_of(text);
    if !sure {
        let shown = String::from_utf8_lossy(text).into_owned();
        intake.note(losses::BUILD_ID_GUESS, String::new, || {
            format!("{shown:?} was taken for a GNU build id")
        });
    }
    key
}

/// Makes attributes of what pprof says of locations in fields: pairs of a row and an attribute, by row.
pub(crate) fn locations(
    tables: &mut Tables,
    intake: &mut Intake,
) -> Result<Vec<(u32, AttributeId)>> {
    let mut lifted = Vec::new();
    for row in std::mem::take(&mut tables.folded) {
        let key = semconv::PPROF_LOCATION_IS_FOLDED;
        lifted.push((
            row,
            tables.new_attributes.named(key, Value::Bool(true), &mut tables.texts, intake)?,
        ));
    }
    for (row, frame_type) in std::mem::take(&mut tables.frame_types) {
        let text = common::table_text(frame_type, &tables.texts, intake)
            .map_err(|e| e.within("type_index"))?;
        let name = tables.texts.raw.get(text.row()).unwrap_or_default();
        let renamed = semconv::FRAME_TYPES.iter().find(|(old, _)| old.as_bytes() == name);
        let text = match renamed {
            Some((_, new)) => tables.texts.name(new, intake)?,
            None => text,
        };
        let key = semconv::PROFILE_FRAME_TYPE;
        lifted.push((
            row,
            tables.new_attributes.named(key, Value::String(text), &mut tables.texts, intake)?,
        ));
    }
    lifted.sort_unstable();
    Ok(lifted)
}
