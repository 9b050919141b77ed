//! Writer of one profile: its fields in ascending order, and OTEP 0239's container around it.
//!
//! Protobuf's own serializers write fields in ascending order, too.
//!
//! ```text
//! 1.3          ProfileContainer { id, times, attributes, …, Profile { tables, samples, … } }
//! 1.4, 1.5     Profile { tables, samples, location_indices, … }
//! 1.6, 1.7     Profile { samples, location_indices, … }           tables in the payload
//! 1.8 on       Profile { samples, … }                             stacks in the payload, too
//! ```

use crate::error::Result;
use crate::format::WriteOptions;
use crate::format::otlp::write::slices::Slices;
use crate::losses::{self, Losses};
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::{AggregationTemporality, Profile, ProfileId, ValueType};
use crate::schema::{Generation, Table};
use crate::tables::attributes::semantic_attributes::AttributeRole;
use crate::tables::fields::emit;
use crate::tables::profile::{columns, temporality};
use crate::tables::write::parts::Part;
use crate::tables::write::sizes::{locations_estimate, profile_estimate, tables_estimate};
use crate::tables::write::tables::TableWriter;
use crate::wire::record::{field_varint, field_varints};
use crate::wire::write::{
    field_bytes, field_bytes_nonempty, field_fixed64, field_large, field_message,
};

/// Data to write for a profile that is not taken from it unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfileExtras {
    /// The id. Unset for all columns of a profile except the first, because ids must be unique.
    pub(crate) id: ProfileId,
    /// The default sample type.
    pub(crate) default: StringId,
    /// The default sample type, if an attribute of the profile must represent it.
    pub(crate) own: StringId,
}

/// Writes a profile that refers to a set of tables.
///
/// Created once per profile; `slices` is passed on to reuse its memory.
pub(crate) struct ProfileWriter<'a, 't, G> {
    /// The profile's own tables, or those of the payload.
    pub(crate) tables: &'a TableWriter<'t, G>,
    /// The start of each stack in `location_indices`; unused since 1.8.
    pub(crate) slices: &'a mut Slices,
    pub(crate) options: &'a WriteOptions,
    pub(crate) losses: &'a mut Losses,
    /// Tracked per profile, so that each profile alone identifies its generation.
    pub(crate) packed: Packed,
    /// The estimated size of all profiles without lists of locations. Set for the first profile only, which
    /// reserves memory for it.
    pub(crate) capacity: usize,
}

/// Whether the profile already has a packed list of each kind. Detection distinguishes generations by which
/// of a sample's numbers are lists, so the first list of each kind is packed in every layout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packed {
    values: bool,
    attributes: bool,
}

impl Packed {
    /// Returns whether values, and attributes, were packed before this sample.
    #[inline]
    pub(super) fn next(&mut self, values: &[i64], attributes: &[AttributeId]) -> [bool; 2] {
        let before = [self.values, self.attributes];
        self.values |= !values.is_empty();
        self.attributes |= !attributes.is_empty();
        before
    }
}

impl<G: Generation> ProfileWriter<'_, '_, G> {
    /// Writes a profile, and the container around it if the generation has one.
    ///
    /// # Errors
    ///
    /// Those of the samples.
    pub(crate) fn write(
        mut self,
        out: &mut Vec<u8>,
        part: &Part,
        extras: ProfileExtras,
    ) -> Result<()> {
        if !G::CAPABILITIES.containers {
            return self.profile(out, part, extras);
        }
        self.container(out, part, extras)
    }

    /// Writes a container. The attributes of the profile become the container's, with inline keys.
    ///
    /// The container's times are `fixed64`, unsigned. The inner profile keeps its times as well.
    ///
    /// # Errors
    ///
    /// Those of the samples.
    fn container(&mut self, out: &mut Vec<u8>, part: &Part, extras: ProfileExtras) -> Result<()> {
        let profile = part.first();
        // If unsigned fields cannot represent the times, only the inner profile stores them.
        let end = profile.time_unix_nano + profile.duration_nanos.max(0);
        let times = profile.time_unix_nano.try_into().ok().zip(end.try_into().ok());
        let (start, end) = times.unwrap_or_default();
        emit!(rare PROFILE_CONTAINER in G; {
            "profile_id" => |number| field_bytes(out, number, &extras.id.0),
            "start_time_unix_nano" => |number| field_fixed64(out, number, start),
            "end_time_unix_nano" => |number| field_fixed64(out, number, end),
            "attributes" => |number| self.attributes(out, number, profile),
            "dropped_attributes_count" => |number| {
                field_varint(out, number, profile.dropped_attributes_count.into());
            },
            "original_payload_format" => |number| {
                let format = self.tables.dictionary.text(profile.original_payload_format);
                field_bytes_nonempty(out, number, format.as_bytes());
            },
            "original_payload" => |number| {
                field_bytes_nonempty(out, number, &profile.original_payload);
            },
            "profile" => |number| {
                let expected =
                    tables_estimate(self.tables.dictionary) + profile_estimate::<G>(profile);
                field_large(out, number, expected, |out| self.profile(out, part, extras))?;
            },
        });
        Ok(())
    }

    /// Writes inline attributes, except those that fields represent.
    fn attributes(&self, out: &mut Vec<u8>, number: u32, profile: &Profile) {
        for id in self.tables.profile_attributes(profile) {
            if let Some(attribute) = self.tables.dictionary.attribute(id) {
                field_message(out, number, |out| {
                    self.tables.attribute_in_place(out, id, attribute)
                });
            }
        }
    }

    /// Writes a profile with its fields in ascending order.
    ///
    /// Lays out the stacks first, because samples precede `location_indices` and refer to it.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_expanded_samples` is exceeded.
    fn profile(&mut self, out: &mut Vec<u8>, part: &Part, extras: ProfileExtras) -> Result<()> {
        if !G::CAPABILITIES.stack_table {
            let locations = self.tables.dictionary.locations.len();
            self.slices.lay_out(&self.tables.dictionary.stacks, locations, part.stacks());
            let list = locations_estimate(&self.tables.dictionary.stacks.items, self.slices.length);
            // A margin, as in `estimate`: a buffer that is one byte too small doubles its size.
            let list = list + list / 16;
            match self.capacity {
                // For later profiles, `reserve` grows geometrically, so the output is not copied once per
                // profile.
                0 => out.reserve(list),
                capacity => out.reserve_exact(capacity + list),
            }
        }
        self.fields(out, part, extras)
    }

    /// Writes the fields of a profile, and its tables if it has its own.
    fn fields(&mut self, out: &mut Vec<u8>, part: &Part, extras: ProfileExtras) -> Result<()> {
        let profile = part.first();
        let tables = self.tables;
        emit!(rare PROFILE in G; {
            "mapping_table" => |_| tables.write(out, Table::Mapping),
            "location_table" => |_| tables.write(out, Table::Location),
            "function_table" => |_| tables.write(out, Table::Function),
            "link_table" => |_| tables.write(out, Table::Link),
            "string_table" => |_| tables.write(out, Table::String),
            "attribute_table" => |_| tables.write(out, Table::Attribute),
            "attribute_units" => |_| tables.write(out, Table::AttributeUnit),
            "sample_type" => |number| self.sample_types(out, number, part),
            "samples" => |_| self.samples(out, part)?,
            "location_indices" => |number| {
                let parts = self.slices.parts(&tables.dictionary.stacks);
                tables.location_indices(out, number, (self.slices.length, parts));
            },
            "time_unix_nano" => |number| self.time(out, number, profile),
            "duration_nano" => |number| {
                field_varint(out, number, self.nanos(profile.duration_nanos, "duration_nano"));
            },
            "period_type" => |number| self.period_type(out, number, profile.period_type),
            "period" => |number| field_varint(out, number, profile.period as u64),
            "comment_strindices" => |number| {
                let texts = tables.profile_texts(profile, AttributeRole::Comments);
                field_varints(out, number, texts.into_iter());
            },
            "default_sample_type_strindex" => |number| {
                field_varint(out, number, tables.string(extras.default).into());
            },
            "default_sample_type_index" => |number| {
                let types = part.sample_types();
                let column = columns::default_column(&types, extras.default, tables.dictionary);
                field_varint(out, number, column as u32 as u64);
            },
            "drop_frames" => |number| self.texts(out, number, profile, AttributeRole::DropFrames),
            "keep_frames" => |number| self.texts(out, number, profile, AttributeRole::KeepFrames),
            "profile_id" => |number| if extras.id != ProfileId::NONE {
                field_bytes(out, number, &extras.id.0);
            },
            "attributes" => |number| self.attributes(out, number, profile),
            "dropped_attributes_count" => |number| {
                field_varint(out, number, profile.dropped_attributes_count.into());
            },
            "original_payload_format" => |number| {
                let format = tables.dictionary.text(profile.original_payload_format);
                field_bytes_nonempty(out, number, format.as_bytes());
            },
            "original_payload" => |number| {
                field_bytes_nonempty(out, number, &profile.original_payload);
            },
            "attribute_indices" => |number| {
                let rows = tables.profile_attribute_rows(profile, extras.own);
                field_varints(out, number, rows.into_iter());
            },
        });
        Ok(())
    }

    fn time(&mut self, out: &mut Vec<u8>, number: u32, profile: &Profile) {
        let nanos = self.nanos(profile.time_unix_nano, "time_unix_nano");
        match G::CAPABILITIES.unsigned_time {
            true => field_fixed64(out, number, nanos),
            false => field_varint(out, number, nanos),
        }
    }

    fn sample_types(&mut self, out: &mut Vec<u8>, number: u32, part: &Part) {
        for value_type in part.sample_types() {
            let value_type = self.with_temporality(value_type, part.first().duration_nanos);
            field_message(out, number, |out| self.tables.value_type(out, value_type));
        }
    }

    /// Writes a field for each string of an attribute.
    fn texts(&self, out: &mut Vec<u8>, number: u32, profile: &Profile, role: AttributeRole) {
        for index in self.tables.profile_texts(profile, role) {
            field_varint(out, number, index);
        }
    }

    /// Converts a time or a duration to the range of the generation.
    ///
    /// 1.8 and later: a negative time becomes 0. Up to 1.7: a time that overflows 64 signed bits becomes the
    /// maximum. Both are counted.
    fn nanos(&mut self, nanos: i128, field: &'static str) -> u64 {
        if G::CAPABILITIES.unsigned_time {
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

    /// Adjusts the temporality of a sample type to the generation.
    ///
    /// Up to 1.8 the field exists and requires a value, so a rule chooses a missing one. Since 1.9 the field
    /// does not exist, so the temporality is dropped.
    fn with_temporality(&mut self, value_type: ValueType, duration_nanos: i128) -> ValueType {
        let place = || self.tables.dictionary.text(value_type.name).to_owned();
        if !G::CAPABILITIES.temporality {
            let lost = temporality::is_lost(value_type, duration_nanos, self.tables.dictionary);
            self.losses.add_many(losses::TEMPORALITY_DROPPED, u64::from(lost), place);
            return value_type;
        }
        let is_assumed = value_type.temporality.is_none();
        self.losses.add_many(losses::TEMPORALITY_ASSUMED, u64::from(is_assumed), place);
        let written = temporality::written(value_type, duration_nanos, self.tables.dictionary);
        ValueType { temporality: Some(written), ..value_type }
    }

    /// Writes the period type. No rule covers its temporality.
    ///
    /// Omitted if empty, unless the receiver requires it.
    fn period_type(&mut self, out: &mut Vec<u8>, number: u32, period_type: ValueType) {
        let temporality = period_type.temporality.unwrap_or_default();
        let extras = temporality != AggregationTemporality::UNSPECIFIED;
        if extras && !G::CAPABILITIES.temporality {
            self.losses.add(losses::TEMPORALITY_DROPPED, || {
                self.tables.dictionary.text(period_type.name).to_owned()
            });
        }
        let required = self.options.empty_messages;
        if required || extras && G::CAPABILITIES.temporality || !period_type.is_none() {
            field_message(out, number, |out| self.tables.value_type(out, period_type));
        }
    }
}
