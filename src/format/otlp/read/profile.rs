//! Reader of profiles, and of OTEP 0239's container around a profile.
//!
//! A profile is read in two passes as well. The first counts its samples and reads `location_indices`, which
//! may follow the samples that reference it.
//!
//! ```text
//! first pass   count samples ─► allocate all columns;  location_indices ─► LocationList
//!              (up to 1.5: count table rows, collect strings)
//! second pass  samples ─► RawSamples;  other fields ─► ProfileParts or LegacyFields
//! into_parts   RawSamples ─► Samples, ids not validated yet
//! ```
//!
//! Fields that the model has are stored in the profile. Fields that it represents by attributes or not at all
//! are stored in [`LegacyFields`], which `fields_to_attributes` converts after all tables are read.

use crate::error::Result;
use crate::format::otlp::read::location_list::LocationList;
use crate::format::otlp::read::samples::{RawSamples, sample};
use crate::losses;
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ValueType};
use crate::read_context::ReadContext;
use crate::schema::{Generation, TableLocation};
use crate::tables::attributes::fields_to_attributes::LegacyFields;
use crate::tables::fields::{fields, is};
use crate::tables::read::common;
use crate::tables::read::references::attribute_ids;
use crate::tables::read::string_interner::StringInterner;
use crate::tables::read::tables::Tables;
use crate::wire::LEN;
use crate::wire::read::Reader;

/// A profile that is being read.
#[derive(Debug, Default)]
pub(crate) struct RawProfile {
    /// The profile, with ids as in the payload.
    profile: Profile,
    /// The columns of its samples.
    samples: RawSamples,
    /// Fields that the model lacks.
    legacy: LegacyFields,
}

impl RawProfile {
    /// Returns the profile, whose ids are not validated yet, and the fields that the model lacks.
    pub(crate) fn into_parts(self) -> (Profile, LegacyFields) {
        let Self { mut profile, samples, legacy } = self;
        let samples = samples.into_samples();
        if !samples.is_empty() {
            // Only if there are samples, because a write allocates the fields of an empty `LazyBox`.
            profile.samples = samples;
        }
        (profile, legacy)
    }

    /// Reads OTEP 0239's container around a profile.
    ///
    /// Reads the inner profile first, wherever its field is, because its tables determine the ids of the
    /// container's inline strings. Data that both have, such as attributes, is kept from both.
    ///
    /// # Errors
    ///
    /// Those of the profile, with `profile` in their place; a `profile_id` that is not 16 bytes long.
    pub(crate) fn container<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let inner = inner_profile::<G>(body, cx)?;
        self.body::<G>(&inner, tables, cx).map_err(|e| e.within("profile"))?;
        let mut reader = Reader::new(body);
        let Self { profile, legacy, .. } = self;
        let texts = &mut tables.texts;
        fields!(reader, PROFILE_CONTAINER in G::VERSION, cx; {
            // `inner_profile` has already read it.
            "profile" => reader.bytes()?,
            "profile_id" => profile_id(reader.bytes()?, profile, cx)?,
            "start_time_unix_nano" => legacy.start = reader.fixed64()?,
            "end_time_unix_nano" => legacy.end = reader.fixed64()?,
            "attributes" => {
                common::attribute_in_place::<G>(&mut reader, &mut legacy.attributes, texts, cx)?;
            },
            "dropped_attributes_count" => {
                profile.dropped_attributes_count = reader.varint()? as u32;
            },
            "original_payload_format" => {
                profile.original_payload_format = texts.intern(reader.bytes()?, cx)?;
            },
            "original_payload" => {
                original_payload(reader.bytes()?, profile, cx)?;
            },
        });
        Ok(())
    }

    /// Reads a profile in two passes.
    ///
    /// # Errors
    ///
    /// Input that is not protobuf or exceeds a limit. Indices out of range are found later, by validation.
    pub(crate) fn body<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut locations = self.count::<G>(body, tables, cx)?;
        // `otep_ids` uses it to tell indices from ids in 1.3.
        tables.slices |= !locations.is_empty();
        let mut reader = Reader::new(body);
        if G::CAPABILITIES.table_location == TableLocation::Profile {
            // `count` has counted these tables. Shared tables were reserved before the first profile.
            tables.reserve::<G>(cx)?;
        }
        while let Some(tag) = reader.tag()? {
            if is!(tag, PROFILE "samples" in G::VERSION) {
                self.sample::<G>(reader.message()?, &mut locations, tables, cx)?;
            } else if G::CAPABILITIES.table_location == TableLocation::Profile
                && tables.read::<G>(tag, &mut reader, cx)?
            {
                continue;
            } else if is!(tag, PROFILE packed "location_indices" in G::VERSION) {
                reader.bytes()?;
            } else if is!(tag, PROFILE "location_indices" in G::VERSION) {
                reader.varint()?;
            } else {
                reader = self.field::<G>(tag, reader, &mut tables.texts, cx)?;
            }
        }
        if !G::CAPABILITIES.stack_table {
            locations.finish(&mut tables.stacks, &mut self.samples.stacks, cx)?;
        }
        Ok(())
    }

    /// Reads one sample. Adds its row to errors.
    // Always inlined. Without any in the library, decoding 1.10 takes up to 36 % more instructions.
    #[inline(always)]
    fn sample<G: Generation>(
        &mut self,
        message: Reader,
        locations: &mut LocationList,
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<()> {
        sample::<G>(message, &mut self.samples, locations, tables, cx)
            .map_err(|e| e.within_row("samples", self.samples.stacks.len()))
    }

    /// Counts the rows of a profile and reads the locations that its samples slice.
    ///
    /// `location_indices` may be split into several fields, packed or not, and may follow the samples. So it
    /// is read here, and the second pass skips it.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_samples` is exceeded, and errors of the location list and
    /// of strings.
    fn count<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<LocationList> {
        let mut reader = Reader::new(body);
        let mut samples = 0;
        let mut locations = LocationList::of(&tables.stacks);
        while let Some(tag) = reader.tag()? {
            if is!(tag, PROFILE "samples" in G::VERSION) {
                samples += 1;
                reader.bytes()?;
            } else if is!(tag, PROFILE packed "location_indices" in G::VERSION)
                || is!(tag, PROFILE "location_indices" in G::VERSION)
            {
                locations.read(tag, &mut reader, cx).map_err(|e| e.within("location_indices"))?;
            } else if G::CAPABILITIES.table_location == TableLocation::Profile && tag & 7 == LEN {
                tables.count::<G>(tag, reader.message()?, cx)?;
            } else {
                reader.skip(tag, cx.limits().max_nesting)?;
            }
        }
        cx.check_samples(samples)?;
        self.samples.reserve(samples, body.len(), cx)?;
        if !G::CAPABILITIES.stack_table {
            locations.end(samples, cx)?;
        }
        Ok(locations)
    }

    /// Reads a field other than samples and tables. Not inlined, to keep the loop over samples small.
    ///
    /// Up to 1.7 times are `int64` and may be negative, as in pprof; since 1.8 they are unsigned. Both fit
    /// the model's `i128`.
    ///
    /// The current proto dropped `comment` and similar fields. The semantic conventions name them
    /// `pprof.profile.comment`, `pprof.profile.drop_frames` and so on.
    #[inline(never)]
    fn field<'a, G: Generation>(
        &mut self,
        tag: u32,
        mut reader: Reader<'a>,
        texts: &mut StringInterner,
        cx: &mut ReadContext,
    ) -> Result<Reader<'a>> {
        let Self { profile, legacy, .. } = self;
        fields!(tag of reader, PROFILE in G::VERSION, cx; {
            "sample_type" => sample_type::<G>(reader.bytes()?, profile, cx)?,
            "period_type" => {
                value_type::<G>(reader.bytes()?, &mut profile.period_type, cx)
                    .map_err(|e| e.within("period_type"))?;
            },
            "period" => profile.period = reader.varint()? as i64,
            "time_unix_nano" => profile.time_unix_nano = match G::CAPABILITIES.unsigned_time {
                true => reader.fixed64()?.into(),
                false => (reader.varint()? as i64).into(),
            },
            "duration_nano" => {
                let nanos = reader.varint()?;
                let signed = !G::CAPABILITIES.unsigned_time;
                profile.duration_nanos = if signed { (nanos as i64).into() } else { nanos.into() };
            },
            "comment_strindices" as tag => {
                common::any_indices(tag, &mut reader, &mut legacy.comments, cx)?;
            },
            "default_sample_type_strindex" => legacy.default_sample_type = reader.index()?,
            "default_sample_type_index" => legacy.default_sample_type = reader.index()?,
            "drop_frames" => legacy.drop_frames = reader.index()?,
            "keep_frames" => legacy.keep_frames = reader.index()?,
            "profile_id" => profile_id(reader.bytes()?, profile, cx)?,
            "attributes" => {
                common::attribute_in_place::<G>(&mut reader, &mut legacy.attributes, texts, cx)?;
            },
            "dropped_attributes_count" => {
                profile.dropped_attributes_count = reader.varint()? as u32;
            },
            "original_payload_format" => {
                profile.original_payload_format = texts.intern(reader.bytes()?, cx)?;
            },
            "original_payload" => original_payload(reader.bytes()?, profile, cx)?,
            "attribute_indices" as tag => {
                attribute_ids(tag, &mut reader, &mut profile.attributes, 0, cx)?;
            },
        });
        Ok(reader)
    }
}

/// Reads a sample type. If the generation has only one per profile, a second occurrence adds to the first.
fn sample_type<G: Generation>(
    body: &[u8],
    profile: &mut Profile,
    cx: &mut ReadContext,
) -> Result<()> {
    let row = profile.sample_types.len();
    if row == 0 || G::CAPABILITIES.several_sample_types {
        cx.budget.push(&mut profile.sample_types, no_value_type::<G>())?;
    }
    let Some(last) = profile.sample_types.last_mut() else { return Ok(()) };
    value_type::<G>(body, last, cx).map_err(|e| e.within_row("sample_type", row))
}

/// Returns an empty value type.
///
/// Up to 1.8 an omitted temporality is UNSPECIFIED, 0. Later generations lack the field, and the model stores
/// `None`. The two are distinguished so that each generation round-trips.
fn no_value_type<G: Generation>() -> ValueType {
    let temporality = (G::CAPABILITIES.temporality).then_some(AggregationTemporality::UNSPECIFIED);
    ValueType { temporality, ..ValueType::default() }
}

/// Reads a value type. A second occurrence adds to the first.
///
/// Name and unit are fields 1 and 2 in every generation and in pprof.
fn value_type<G: Generation>(
    body: &[u8],
    value_type: &mut ValueType,
    cx: &mut ReadContext,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, VALUE_TYPE in G::VERSION, cx; {
        "type_strindex" => value_type.name = StringId(reader.index()?),
        "unit_strindex" => value_type.unit = StringId(reader.index()?),
        "aggregation_temporality" => {
            value_type.temporality = Some(AggregationTemporality(reader.varint()? as i32));
        },
    });
    Ok(())
}

/// Reads a profile id of 16 bytes, or an empty one.
fn profile_id(id: &[u8], profile: &mut Profile, cx: &mut ReadContext) -> Result<()> {
    common::fixed_id(id, &mut profile.profile_id.0, losses::PROFILE_ID_DROPPED, cx)
        .map_err(|e| e.within("profile_id"))
}

/// Stores the original payload of the profile without interpreting it.
fn original_payload(bytes: &[u8], profile: &mut Profile, cx: &mut ReadContext) -> Result<()> {
    cx.budget.charge::<u8>(bytes.len())?;
    profile.original_payload = bytes.to_vec().into();
    Ok(())
}

/// Returns the profile in a container. Further occurrences of the field are appended.
///
/// Borrows the usual single occurrence. Copies several into one buffer, charged to the budget.
fn inner_profile<'a, G: Generation>(
    body: &'a [u8],
    cx: &mut ReadContext,
) -> Result<std::borrow::Cow<'a, [u8]>> {
    let mut reader = Reader::new(body);
    let mut inner: Option<std::borrow::Cow<'a, [u8]>> = None;
    while let Some(tag) = reader.tag()? {
        if is!(tag, PROFILE_CONTAINER "profile" in G::VERSION) {
            let part = reader.bytes()?;
            inner = Some(match inner {
                None => part.into(),
                Some(before) => {
                    // The whole copy is charged each time. So a payload of many small parts exceeds the
                    // budget before copying takes quadratic time.
                    cx.budget.charge::<u8>(before.len() + part.len())?;
                    [&before, part].concat().into()
                }
            });
        } else {
            reader.skip(tag, cx.limits().max_nesting)?;
        }
    }
    Ok(inner.unwrap_or_default())
}
