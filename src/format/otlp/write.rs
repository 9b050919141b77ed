//! Writing a payload: resources, scopes and profiles around what [`tables`](super::write_tables)
//! and [`samples`](super::write_samples) write.

use std::marker::PhantomData;

use crate::error::{Error, ErrorKind, Result};
use crate::format::columns::{self, DefaultSaid, Join, Joined};
use crate::format::known::KnownAttributes;
use crate::format::losses::{self, Losses};
use crate::format::options::WriteOptions;
use crate::format::otlp::read::single_sample_type;
use crate::format::otlp::refs::TextRefs;
use crate::format::otlp::schema::{Generation, Home};
use crate::format::otlp::shape_losses;
use crate::format::otlp::slices::Slices;
use crate::format::otlp::write_common;
use crate::format::otlp::write_notes;
use crate::format::otlp::write_tables::{TableWriter, is_profile_field};
use crate::format::select::Selection;
use crate::format::temporality;
use crate::limits::within;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};
use crate::model::value::Value;
use crate::model::{Profiles, ResourceProfiles, ScopeProfiles};
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::wire::record::field_varint;
use crate::wire::write::{
    field_bytes, field_bytes_nonempty, field_fixed64, field_large, field_message,
};

/// Writes one payload of the generation.
pub(crate) fn write<G: Generation>(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    mut out: Vec<u8>,
) -> Result<Vec<u8>> {
    let dictionary = &profiles.dictionary;
    let mut known = KnownAttributes::of(dictionary);
    if G::SCHEMA.profile.default_sample_type() != 0 && !G::SCHEMA.has_default_by_name() {
        columns::mark_default_columns(profiles, &mut known);
    }
    let refs = TextRefs::of::<G>(profiles, options);
    note_lost_texts::<G>(profiles, losses);
    let all: Vec<&Profile> = profiles.iter().collect();
    let written = match G::SCHEMA.home {
        Home::Profile if all.len() != 1 => Selection::of(dictionary, &all),
        _ => Selection::all(dictionary),
    };
    write_notes::orphans::<G>(profiles, &known, &written, losses);
    write_notes::unknown_flags::<G>(dictionary, &known, &written, losses);
    let shared = match G::SCHEMA.home {
        Home::Profile => None,
        Home::Data | Home::Dictionary => {
            Some(TableWriter::<G>::shared(profiles, &known, refs, &all, losses)?)
        }
    };
    let refs = shared.as_ref().map(|tables| tables.refs.clone()).unwrap_or_default();
    let only = all.len() <= 1;
    let mut writer = Writer::<G> {
        dictionary,
        known: &known,
        refs: &refs,
        only,
        options,
        losses,
        generation: PhantomData,
    };
    let expected = estimate::<G>(profiles);
    out.reserve(expected);
    for (row, resource) in profiles.resources.iter().enumerate() {
        let mut result = Ok(());
        field_large(&mut out, 1, expected, |out| {
            result = writer
                .resource(out, resource, shared.as_ref())
                .map_err(|e| e.within_row("resource_profiles", row));
        });
        result?;
        within("max_output_bytes", options.max_output_bytes, out.len() as u64)?;
    }
    if let Some(tables) = shared {
        match G::SCHEMA.home {
            Home::Dictionary => {
                field_large(&mut out, 2, tables.estimate(), |out| tables.write_all(out));
            }
            Home::Data | Home::Profile => tables.write_all(&mut out),
        }
    }
    Ok(out)
}

/// About how many bytes a payload takes; only time depends on it.
fn estimate<G: Generation>(profiles: &Profiles) -> usize {
    let dictionary = &profiles.dictionary;
    let tables = dictionary.strings.text_len()
        + dictionary.strings.len() * 3
        + dictionary.locations.len() * 22
        + dictionary.functions.len() * 14
        + dictionary.stacks.items.len() * 5 / 2
        + dictionary.stacks.len() * 5
        + dictionary.attributes.len() * 24;
    let samples: usize = profiles.iter().map(|profile| profile_estimate::<G>(profile)).sum();
    tables + samples + 1024
}

fn profile_estimate<G: Generation>(profile: &Profile) -> usize {
    let samples = &profile.samples;
    let row = samples.len() * 8 + samples.attributes.items.len() * 2;
    let columns = if single_sample_type::<G>() { profile.sample_types.len().max(1) } else { 1 };
    row * columns + samples.values.items.len() * 5 + samples.timestamps.items.len() * 9 + 256
}

/// What no row of the payload can say.
fn note_lost_texts<G: Generation>(profiles: &Profiles, losses: &mut Losses) {
    let strings = &profiles.dictionary.strings;
    losses.add_many(losses::INVALID_UTF8, strings.not_utf8().len() as u64, || {
        strings.not_utf8().next().map_or(String::new(), |(id, _)| format!("{:?}", strings.get(id)))
    });
    if G::SCHEMA.entity_refs == 0 {
        let lost: usize =
            profiles.resources.iter().map(|resource| resource.resource.entity_refs.len()).sum();
        losses.add_many(losses::ENTITY_REFS_DROPPED, lost as u64, || {
            "resource.entity_refs".to_owned()
        });
    }
    if G::SCHEMA.sample.stacktrace_id == 0 {
        profiles.iter().for_each(|profile| shape_losses::stacktrace_ids(profile, losses));
    }
}

pub(crate) struct Writer<'a, G> {
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) known: &'a KnownAttributes,
    pub(crate) refs: &'a TextRefs,
    /// Whether there is one profile, so that its tables are the dictionary.
    only: bool,
    pub(crate) options: &'a WriteOptions,
    pub(crate) losses: &'a mut Losses,
    generation: PhantomData<G>,
}

/// What becomes one profile on the wire.
pub(crate) enum Part<'a> {
    /// A column of a profile, where a profile has one sample type.
    Column(&'a Profile, usize),
    /// All columns, where it may have several.
    Joined(Joined<'a>),
}

/// The default sample type of a profile on the wire.
#[derive(Clone, Copy, Debug)]
struct Default {
    name: StringId,
    /// The same, where the profile must say it by an attribute.
    own: StringId,
}

/// Whether a profile has values of no sample type: they measure something that has no name.
pub(crate) fn is_untyped(profile: &Profile) -> bool {
    profile.sample_types.is_empty() && !profile.samples.values.items.is_empty()
}

impl<'a> Part<'a> {
    fn default(&self, scope: &ScopeProfiles, dictionary: &Dictionary) -> StringId {
        columns::default_of(self.first(), scope, dictionary)
    }

    pub(crate) fn first(&self) -> &'a Profile {
        match self {
            Self::Column(profile, _) => profile,
            Self::Joined(joined) => joined.first(),
        }
    }

    fn sample_types(&self) -> Vec<ValueType> {
        match self {
            Self::Column(profile, column) => {
                profile.sample_types.get(*column).copied().into_iter().collect()
            }
            Self::Joined(joined) if is_untyped(joined.first()) => vec![ValueType::default()],
            Self::Joined(joined) => joined.sample_types().collect(),
        }
    }
}

impl<'a, G: Generation> Writer<'a, G> {
    fn resource(
        &mut self,
        out: &mut Vec<u8>,
        resource: &'a ResourceProfiles,
        shared: Option<&TableWriter<'_, G>>,
    ) -> Result<()> {
        if !resource.resource.is_empty() {
            field_message(out, 1, |out| {
                write_common::resource::<G>(
                    out,
                    &resource.resource,
                    &self.dictionary.strings,
                    self.refs,
                );
            });
        }
        for (row, scope) in resource.scopes.iter().enumerate() {
            let expected = scope.profiles.iter().map(profile_estimate::<G>).sum();
            let mut result = Ok(());
            field_large(out, 2, expected, |out| {
                result =
                    self.scope(out, scope, shared).map_err(|e| e.within_row("scope_profiles", row));
            });
            result?;
        }
        field_bytes_nonempty(out, 3, self.dictionary.text(resource.schema_url).as_bytes());
        Ok(())
    }

    fn scope(
        &mut self,
        out: &mut Vec<u8>,
        scope: &'a ScopeProfiles,
        shared: Option<&TableWriter<'_, G>>,
    ) -> Result<()> {
        let parts = self.parts(scope);
        let said = self.default_said(scope, &parts);
        let order = self.order(scope);
        let hidden = self.hidden_attributes(scope, &parts, order.is_some());
        let default = match said {
            DefaultSaid::Scope(name) => Some(name),
            DefaultSaid::Nowhere | DefaultSaid::Profiles => None,
        };
        let added = write_common::ScopeSaid {
            scope: &scope.scope,
            hidden: &hidden,
            order: order.as_deref(),
            default,
        };
        if !added.is_empty(self.dictionary) {
            field_message(out, 1, |out| {
                write_common::scope::<G>(out, &added, self.dictionary, self.refs)
            });
        }
        for (row, part) in parts.iter().enumerate() {
            let mut result = Ok(());
            let own = if said == DefaultSaid::Profiles {
                part.first().default_sample_type
            } else {
                StringId::NONE
            };
            let default = Default { name: part.default(scope, self.dictionary), own };
            field_large(out, 2, profile_estimate::<G>(part.first()), |out| {
                result = self
                    .part(out, part, default, shared)
                    .map_err(|e| e.within_row("profiles", row));
            });
            result?;
            within("max_output_bytes", self.options.max_output_bytes, out.len() as u64)?;
        }
        field_bytes_nonempty(out, 3, self.dictionary.text(scope.schema_url).as_bytes());
        Ok(())
    }

    /// The profiles the scope has on the wire.
    fn parts(&mut self, scope: &'a ScopeProfiles) -> Vec<Part<'a>> {
        if !single_sample_type::<G>() {
            let joined = columns::join(scope, self.dictionary, Join::Ordered, self.losses);
            return joined.into_iter().map(Part::Joined).collect();
        }
        let mut parts = Vec::new();
        for profile in &scope.profiles {
            parts.extend(
                self.split_order(scope, profile)
                    .into_iter()
                    .map(|column| Part::Column(profile, column)),
            );
        }
        parts
    }

    fn split_order(&self, scope: &ScopeProfiles, profile: &Profile) -> Vec<usize> {
        let default = columns::default_of(profile, scope, self.dictionary);
        let column = columns::default_column(profile, default, self.dictionary);
        columns::split_order(profile.sample_types.len().max(1), column)
    }

    /// Where profiles become several, the order their sample types had.
    fn order(&self, scope: &ScopeProfiles) -> Option<Vec<i64>> {
        if !single_sample_type::<G>()
            || scope.profiles.iter().all(|profile| profile.sample_types.len() < 2)
        {
            return None;
        }
        let mut order = Vec::new();
        for profile in &scope.profiles {
            let first = order.len();
            order.extend(
                self.split_order(scope, profile).into_iter().map(|column| (first + column) as i64),
            );
        }
        Some(order)
    }

    /// What the generation must add to say the default sample types.
    fn default_said(&self, scope: &ScopeProfiles, parts: &[Part]) -> DefaultSaid {
        let by_name = G::SCHEMA.has_default_by_name();
        if by_name || G::SCHEMA.profile.default_sample_type() != 0 && self.columns_say(scope, parts)
        {
            DefaultSaid::Nowhere
        } else {
            columns::default_said(scope, self.dictionary)
        }
    }

    /// The scope's attributes that this generation says in other ways.
    fn hidden_attributes(
        &self,
        scope: &ScopeProfiles,
        parts: &[Part],
        ordered: bool,
    ) -> Vec<&'static str> {
        let mut hidden = Vec::new();
        let joined = |part: &Part| matches!(part, Part::Joined(joined) if joined.ordered && joined.profiles.len() > 1);
        if ordered || parts.iter().any(joined) {
            hidden.push(PPROF_SCOPE_SAMPLE_TYPE_ORDER);
        }
        if !single_sample_type::<G>()
            && !parts.is_empty()
            && (G::SCHEMA.has_default_by_name() || self.columns_say(scope, parts))
        {
            hidden.push(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE);
        }
        hidden
    }

    /// Whether the numbers of columns say the defaults' names: the last stands for none.
    fn columns_say(&self, scope: &ScopeProfiles, parts: &[Part]) -> bool {
        parts.iter().all(|part| {
            let default = part.default(scope, self.dictionary);
            let types = part.sample_types();
            default == StringId::NONE || self.default_column(&types, default) + 1 < types.len()
        })
    }

    /// One profile, and the container around it where there is one.
    fn part(
        &mut self,
        out: &mut Vec<u8>,
        part: &Part<'a>,
        default: Default,
        shared: Option<&TableWriter<'_, G>>,
    ) -> Result<()> {
        let own;
        let tables = match (shared, part) {
            (Some(tables), _) => tables,
            (None, Part::Joined(joined)) => {
                own = TableWriter::<G>::own(
                    self.dictionary,
                    self.known,
                    &joined.profiles,
                    self.only,
                    default.name,
                    self.losses,
                )?;
                &own
            }
            (None, Part::Column(..)) => return Ok(()),
        };
        if G::SCHEMA.container.profile == 0 {
            return self.profile(out, part, default, tables);
        }
        self.container(out, part, default, tables)
    }

    /// The container, and the profile in it: its id may be made of that, so it is put in last.
    fn container(
        &mut self,
        out: &mut Vec<u8>,
        part: &Part<'a>,
        default: Default,
        tables: &TableWriter<'_, G>,
    ) -> Result<()> {
        let profile = part.first();
        let fields = const { &G::SCHEMA.container };
        field_bytes(out, fields.profile_id, &ProfileId::NONE.0);
        let id_end = out.len();
        let clock = |nanos: i128| u64::try_from(nanos).unwrap_or(0);
        let start = clock(profile.time_unix_nano);
        field_fixed64(out, fields.start, start);
        field_fixed64(out, fields.end, start.saturating_add(clock(profile.duration_nanos)));
        for attribute in &profile.attributes {
            let kept = self
                .dictionary
                .attribute(*attribute)
                .filter(|_| !is_profile_field::<G>(self.known.get(*attribute)));
            if let Some(kept) = kept {
                field_message(out, fields.attributes, |out| {
                    tables.attribute_in_place(out, *attribute, kept)
                });
            }
        }
        field_varint(out, fields.dropped_attributes_count, profile.dropped_attributes_count.into());
        let format = self.dictionary.text(profile.original_payload_format);
        field_bytes_nonempty(out, fields.original_payload_format, format.as_bytes());
        field_bytes_nonempty(out, fields.original_payload, &profile.original_payload);
        let expected = tables.estimate() + profile_estimate::<G>(profile);
        let mut result = Ok(());
        let body = field_large(out, fields.profile, expected, |out| {
            result = self.profile(out, part, default, tables);
        });
        let id = self.required_id(profile.profile_id, &out[body..]);
        out[id_end - id.0.len()..id_end].copy_from_slice(&id.0);
        result
    }

    /// The id where one is required: the profile's own, the caller's, or one made of the content.
    fn required_id(&mut self, id: ProfileId, body: &[u8]) -> ProfileId {
        if let Some(id) = self.options.profile_id.or((id != ProfileId::NONE).then_some(id)) {
            return id;
        }
        self.losses.add(losses::PROFILE_ID_SYNTHESIZED, || "profile_id".to_owned());
        ProfileId((xxhash_rust::xxh3::xxh3_128(body) | 1).to_be_bytes())
    }

    /// A profile, its fields in ascending order.
    fn profile(
        &mut self,
        out: &mut Vec<u8>,
        part: &Part<'a>,
        default: Default,
        tables: &TableWriter<'_, G>,
    ) -> Result<()> {
        let slices = (G::SCHEMA.tables.stack == 0).then(|| {
            Slices::of(
                &self.dictionary.stacks,
                self.dictionary.locations.len(),
                part.first().samples.stacks.iter().copied(),
            )
        });
        for number in 1..=22 {
            if G::SCHEMA.home == Home::Profile {
                tables.write(out, number);
            }
            if number == G::SCHEMA.profile.samples {
                self.samples(out, part, tables, slices.as_ref())?;
            } else if number == G::SCHEMA.profile.location_indices {
                if let Some(slices) = &slices {
                    tables.location_indices(out, number, &slices.locations);
                }
            } else {
                self.field(out, number, part, default, tables);
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        out: &mut Vec<u8>,
        number: u32,
        part: &Part,
        default: Default,
        tables: &TableWriter<'_, G>,
    ) {
        let fields = const { &G::SCHEMA.profile };
        let profile = part.first();
        if number == fields.sample_type {
            for value_type in part.sample_types() {
                let value_type = self.with_temporality(value_type, profile);
                field_message(out, number, |out| tables.value_type(out, value_type));
            }
        } else if number == fields.period_type {
            let temporality = self.kept_temporality(profile.period_type);
            let said = temporality.is_some_and(|said| said != AggregationTemporality::UNSPECIFIED);
            if said || !profile.period_type.is_none() {
                let value_type = ValueType { temporality, ..profile.period_type };
                field_message(out, number, |out| tables.value_type(out, value_type));
            }
        } else if number == fields.time {
            let nanos = self.nanos(profile.time_unix_nano, "time_unix_nano");
            if G::SCHEMA.has_unsigned_time() {
                field_fixed64(out, number, nanos)
            } else {
                field_varint(out, number, nanos)
            }
        } else if number == fields.duration {
            let nanos = self.nanos(profile.duration_nanos, "duration_nano");
            field_varint(out, number, nanos);
        } else if number == fields.period {
            field_varint(out, number, profile.period as u64);
        } else {
            self.rare_field(out, number, part, default, tables);
        }
    }

    fn rare_field(
        &mut self,
        out: &mut Vec<u8>,
        number: u32,
        part: &Part,
        default: Default,
        tables: &TableWriter<'_, G>,
    ) {
        let fields = const { &G::SCHEMA.profile };
        let profile = part.first();
        if number == fields.profile_id {
            let id = match part {
                _ if G::SCHEMA.tables.stack == 0 => self.required_id(profile.profile_id, out),
                // No two profiles may have one id.
                Part::Column(_, 1..) => ProfileId::NONE,
                _ => self.options.profile_id.unwrap_or(profile.profile_id),
            };
            if id != ProfileId::NONE {
                field_bytes(out, number, &id.0);
            }
        } else if number == fields.dropped_attributes_count {
            field_varint(out, number, profile.dropped_attributes_count.into());
        } else if number == fields.original_payload_format {
            field_bytes_nonempty(
                out,
                number,
                self.dictionary.text(profile.original_payload_format).as_bytes(),
            );
        } else if number == fields.original_payload {
            field_bytes_nonempty(out, number, &profile.original_payload);
        } else if number == fields.default_sample_type() {
            let value = if G::SCHEMA.has_default_by_name() {
                tables.string(default.name)
            } else {
                self.default_column(&part.sample_types(), default.name) as u32
            };
            field_varint(out, number, value.into());
        } else {
            tables.profile_attributes(out, number, profile, default.own);
        }
    }

    fn default_column(&self, types: &[ValueType], default: StringId) -> usize {
        let wanted = self.dictionary.text(default);
        let named =
            types.iter().position(|value_type| self.dictionary.text(value_type.name) == wanted);
        named.filter(|_| default != StringId::NONE).unwrap_or(types.len().saturating_sub(1))
    }

    /// A time or duration as this generation holds it.
    fn nanos(&mut self, nanos: i128, field: &'static str) -> u64 {
        if G::SCHEMA.has_unsigned_time() {
            return u64::try_from(nanos).unwrap_or_else(|_| {
                self.losses.add(losses::TIME_NEGATIVE, || field.to_owned());
                0
            });
        }
        i64::try_from(nanos).unwrap_or_else(|_| {
            self.losses.add(losses::TIME_OVERFLOW, || field.to_owned());
            i64::MAX
        }) as u64
    }

    fn with_temporality(&mut self, value_type: ValueType, profile: &Profile) -> ValueType {
        let temporality = match value_type.temporality {
            None if G::SCHEMA.temporality != 0 => {
                self.losses.add(losses::TEMPORALITY_ASSUMED, || {
                    self.dictionary.text(value_type.name).to_owned()
                });
                Some(temporality::assumed(
                    self.dictionary.text(value_type.name),
                    profile.duration_nanos,
                ))
            }
            _ => self.kept_temporality(value_type),
        };
        ValueType { temporality, ..value_type }
    }

    fn kept_temporality(&mut self, value_type: ValueType) -> Option<AggregationTemporality> {
        if G::SCHEMA.temporality != 0 {
            return value_type.temporality;
        }
        if value_type.temporality.is_some_and(|said| said != AggregationTemporality::UNSPECIFIED) {
            self.losses.add(losses::TEMPORALITY_DROPPED, || {
                self.dictionary.text(value_type.name).to_owned()
            });
        }
        None
    }
}

/// The error of more rows than the generation's indices can count.
pub(crate) fn check_rows(table: &'static str, rows: usize) -> Result<()> {
    if rows > i32::MAX as usize {
        let message =
            format!("{table} has {rows} rows, more than the 2147483647 an index can count");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    Ok(())
}

/// An attribute's value as OTLP has it in place.
pub(crate) fn ints(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|&value| Value::Int(value)).collect())
}
