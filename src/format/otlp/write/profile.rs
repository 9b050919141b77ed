//! Writing one profile: its fields in ascending order, and OTEP 0239's container around it.
//!
//! The loop is over field numbers and asks at each which field it is; the answers are constants, so
//! it unrolls to the fields of the generation in their order. Ascending order is what protobuf's
//! own serializers produce.
//!
//! ```text
//! 1.3          ProfileContainer { id, times, attributes, …, Profile { tables, samples, … } }
//! 1.4, 1.5     Profile { tables, samples, location_indices, … }
//! 1.6, 1.7     Profile { samples, location_indices, … }           tables in the payload
//! 1.8 on       Profile { samples, … }                             stacks in the payload, too
//! ```

use crate::error::Result;
use crate::format::columns;
use crate::format::losses::{self, Losses};
use crate::format::otlp::schema::{Generation, Home};
use crate::format::otlp::write::lower::is_profile_field;
use crate::format::otlp::write::parts::Part;
use crate::format::otlp::write::sizes::{locations_estimate, profile_estimate, tables_estimate};
use crate::format::otlp::write::slices::Slices;
use crate::format::otlp::write::tables::TableWriter;
use crate::format::{WriteOptions, temporality};
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::{AggregationTemporality, ProfileId, ValueType};
use crate::schema;
use crate::wire::record::field_varint;
use crate::wire::write::{
    field_bytes, field_bytes_nonempty, field_fixed64, field_large, field_message,
};

/// What is said of a profile beside what it says itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// None for all columns of a profile but the first: no two profiles may have one id.
    pub(crate) id: ProfileId,
    /// The default sample type.
    pub(crate) default: StringId,
    /// The same, where the profile must say it by an attribute.
    pub(crate) own: StringId,
}

/// Writes a profile that refers to some tables.
///
/// One for a profile; `slices` is handed from one to the next for its memory.
pub(crate) struct ProfileWriter<'a, 't, G> {
    /// Its own, or those of the payload.
    pub(crate) tables: &'a TableWriter<'t, G>,
    /// Where each stack begins in `location_indices`; not used since 1.8.
    pub(crate) slices: &'a mut Slices,
    pub(crate) options: &'a WriteOptions,
    pub(crate) losses: &'a mut Losses,
    /// Of this profile, so each one alone tells its generation.
    pub(crate) packed: Packed,
    /// What all profiles write beside lists of locations; 0 for all but the first, which makes room for it.
    pub(crate) room: usize,
}

/// Which lists of numbers a profile has had packed. A generation is told from the next by which of a sample's
/// numbers are lists: so the first of each is packed in every layout, and the bytes tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packed {
    values: bool,
    attributes: bool,
}

impl Packed {
    /// Whether values, and attributes, were packed before a sample that has these.
    #[inline(always)]
    pub(super) fn next(&mut self, values: &[i64], attributes: &[AttributeId]) -> [bool; 2] {
        let before = [self.values, self.attributes];
        self.values |= !values.is_empty();
        self.attributes |= !attributes.is_empty();
        before
    }
}

impl<G: Generation> ProfileWriter<'_, '_, G> {
    /// A profile, and the container around it where there is one.
    ///
    /// # Errors
    ///
    /// Those of the samples.
    pub(crate) fn write(mut self, out: &mut Vec<u8>, part: &Part, said: Said) -> Result<()> {
        if G::SCHEMA.container.profile == 0 {
            return self.profile(out, part, said);
        }
        self.container(out, part, said)
    }

    /// Attributes of the profile are the container's, with their keys in place.
    ///
    /// Its times are `fixed64`, unsigned; a profile's own are kept in the inner profile either way.
    ///
    /// # Errors
    ///
    /// Those of the samples.
    fn container(&mut self, out: &mut Vec<u8>, part: &Part, said: Said) -> Result<()> {
        let profile = part.first();
        let fields = const { &G::SCHEMA.container };
        field_bytes(out, fields.profile_id, &said.id.0);
        // Where its unsigned times cannot say what the profile's can, it has none.
        let end = profile.time_unix_nano + profile.duration_nanos.max(0);
        if let (Ok(start), Ok(end)) = (profile.time_unix_nano.try_into(), end.try_into()) {
            field_fixed64(out, fields.start, start);
            field_fixed64(out, fields.end, end);
        }
        for id in profile.attributes.iter().copied() {
            if let Some(attribute) = self.tables.dictionary.attribute(id)
                && !is_profile_field::<G>(self.tables.known.get(id))
            {
                field_message(out, fields.attributes, |out| {
                    self.tables.attribute_in_place(out, id, attribute)
                });
            }
        }
        field_varint(out, fields.dropped_attributes_count, profile.dropped_attributes_count.into());
        let format = self.tables.dictionary.text(profile.original_payload_format);
        field_bytes_nonempty(out, fields.original_payload_format, format.as_bytes());
        field_bytes_nonempty(out, fields.original_payload, &profile.original_payload);
        let expected = tables_estimate(self.tables.dictionary) + profile_estimate::<G>(profile);
        let mut result = Ok(());
        field_large(out, fields.profile, expected, |out| result = self.profile(out, part, said));
        result
    }

    /// A profile, its fields in ascending order.
    ///
    /// Stacks are laid out before the first field: samples come before `location_indices` in the
    /// bytes, and refer to it.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_expanded_samples`.
    fn profile(&mut self, out: &mut Vec<u8>, part: &Part, said: Said) -> Result<()> {
        if G::SCHEMA.tables.stack == 0 {
            let locations = self.tables.dictionary.locations.len();
            self.slices.lay_out(&self.tables.dictionary.stacks, locations, part.stacks());
            let list = locations_estimate(&self.tables.dictionary.stacks.items, self.slices.length);
            let list = list + list / 16;
            match self.room {
                // Room for each of many profiles alone would move all that is written for each.
                0 => out.reserve(list),
                room => out.reserve_exact(room + list),
            }
        }
        for number in 1..=const { schema::PROFILE.last_number() } {
            if G::SCHEMA.home == Home::Profile {
                self.tables.write(out, number);
            }
            if number == G::SCHEMA.profile.samples {
                self.samples(out, part)?;
            } else if number == G::SCHEMA.profile.location_indices {
                let parts = self.slices.parts(&self.tables.dictionary.stacks);
                self.tables.location_indices(out, number, (self.slices.length, parts));
            } else {
                self.field(out, number, part, said);
            }
        }
        Ok(())
    }

    /// The field of this number, if the generation has one that is not samples or tables.
    ///
    /// Zeros, empty texts and fields of number 0 are left out by the functions that write.
    fn field(&mut self, out: &mut Vec<u8>, number: u32, part: &Part, said: Said) {
        let fields = const { &G::SCHEMA.profile };
        let profile = part.first();
        if number == fields.sample_type {
            for value_type in part.sample_types() {
                let value_type = self.with_temporality(value_type, profile.duration_nanos);
                field_message(out, number, |out| self.tables.value_type(out, value_type));
            }
        } else if number == fields.period_type {
            self.period_type(out, number, profile.period_type);
        } else if number == fields.time {
            let nanos = self.nanos(profile.time_unix_nano, "time_unix_nano");
            if G::SCHEMA.has_unsigned_time {
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
            self.rare_field(out, number, part, said);
        }
    }

    /// The fields of which most profiles have none.
    ///
    /// A number that is no field of the generation falls through to the attributes, which find
    /// nothing.
    fn rare_field(&mut self, out: &mut Vec<u8>, number: u32, part: &Part, said: Said) {
        let fields = const { &G::SCHEMA.profile };
        let profile = part.first();
        if number == fields.profile_id {
            if said.id != ProfileId::NONE {
                field_bytes(out, number, &said.id.0);
            }
        } else if number == fields.dropped_attributes_count {
            field_varint(out, number, profile.dropped_attributes_count.into());
        } else if number == fields.original_payload_format {
            let format = self.tables.dictionary.text(profile.original_payload_format);
            field_bytes_nonempty(out, number, format.as_bytes());
        } else if number == fields.original_payload {
            field_bytes_nonempty(out, number, &profile.original_payload);
        } else if number == fields.default_sample_type() {
            let value = if G::SCHEMA.has_default_by_name() {
                self.tables.string(said.default)
            } else {
                let types = part.sample_types();
                columns::default_column(&types, said.default, self.tables.dictionary) as u32
            };
            field_varint(out, number, value.into());
        } else {
            self.tables.profile_attributes(out, number, profile, said.own);
        }
    }

    /// A time or duration as this generation holds it.
    ///
    /// 1.8 and later: negative becomes 0. Up to 1.7: what 64 signed bits cannot hold becomes the
    /// latest time they can. Either is counted.
    fn nanos(&mut self, nanos: i128, field: &'static str) -> u64 {
        if G::SCHEMA.has_unsigned_time {
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

    /// A sample type as the generation says it: with the temporality that a rule assumes, or without the one it has.
    ///
    /// Up to 1.8 the field exists and unspecified is no answer, so a rule decides; since 1.9 it
    /// does not exist.
    fn with_temporality(&mut self, value_type: ValueType, duration_nanos: i128) -> ValueType {
        let place = || self.tables.dictionary.text(value_type.name).to_owned();
        if G::SCHEMA.value_type.temporality == 0 {
            let lost = temporality::is_lost(value_type, duration_nanos, self.tables.dictionary);
            self.losses.add_many(losses::TEMPORALITY_DROPPED, u64::from(lost), place);
            return value_type;
        }
        let unsaid = value_type.temporality.is_none();
        self.losses.add_many(losses::TEMPORALITY_ASSUMED, u64::from(unsaid), place);
        let written = temporality::written(value_type, duration_nanos, self.tables.dictionary);
        ValueType { temporality: Some(written), ..value_type }
    }

    /// What a period counts. No rule assumes a temporality for it.
    ///
    /// Left out where it is empty, unless the receiver fails without it.
    fn period_type(&mut self, out: &mut Vec<u8>, number: u32, period_type: ValueType) {
        let temporality = period_type.temporality.unwrap_or_default();
        let said = temporality != AggregationTemporality::UNSPECIFIED;
        if said && G::SCHEMA.value_type.temporality == 0 {
            self.losses.add(losses::TEMPORALITY_DROPPED, || {
                self.tables.dictionary.text(period_type.name).to_owned()
            });
        }
        let required = self.options.empty_messages;
        if required || said && G::SCHEMA.value_type.temporality != 0 || !period_type.is_none() {
            field_message(out, number, |out| self.tables.value_type(out, period_type));
        }
    }
}
