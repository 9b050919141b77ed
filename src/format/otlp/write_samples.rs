//! Writing samples: the hot path.

use crate::error::Result;
use crate::format::columns;
use crate::format::losses;
use crate::format::otlp::schema::Generation;
use crate::format::otlp::slices::Slices;
use crate::format::otlp::write::{Part, Writer};
use crate::format::otlp::write_tables::TableWriter;
use crate::format::spread::{Spread, column_counts_events, spread};
use crate::limits::within;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::wire::write::{field_fixed64s, field_message, field_varint, field_varints};

impl<G: Generation> Writer<'_, G> {
    /// All samples of a profile.
    pub(crate) fn samples(
        &mut self,
        out: &mut Vec<u8>,
        part: &Part,
        tables: &TableWriter<'_, G>,
        slices: Option<&Slices>,
    ) -> Result<()> {
        match part {
            Part::Column(profile, column) => self.column(out, profile, *column, tables),
            Part::Joined(joined) => match &joined.profiles[..] {
                [profile] => self.rows(out, profile, tables, slices),
                profiles => {
                    let mut values = Vec::with_capacity(profiles.len());
                    for (row, sample) in profiles[0].samples.iter().enumerate() {
                        values.clear();
                        values.extend(profiles.iter().map(|profile| columns::total(profile, row)));
                        self.sample(
                            out,
                            sample,
                            &values,
                            sample.timestamps_unix_nano,
                            tables,
                            slices,
                        );
                    }
                    Ok(())
                }
            },
        }
    }

    /// A column, where a profile has one sample type.
    fn column(
        &mut self,
        out: &mut Vec<u8>,
        profile: &Profile,
        column: usize,
        tables: &TableWriter<'_, G>,
    ) -> Result<()> {
        let single = profile.sample_types.len() < 2;
        let timed = !profile.samples.timestamps.items.is_empty();
        let events = timed && column_counts_events(profile, column);
        let mut series = Vec::new();
        for (row, sample) in profile.samples.iter().enumerate() {
            let values = if single {
                sample.values
            } else {
                sample.values.get(column..=column).unwrap_or_default()
            };
            let times = sample.timestamps_unix_nano;
            let total_of_many = timed
                && values.len() == 1
                && !times.is_empty()
                && (times.len() > 1 || events || !single);
            if total_of_many && events {
                self.sample(out, sample, &[], times, tables, None);
            } else if total_of_many && times.len() > 1 {
                self.losses
                    .add(losses::VALUE_SPLIT, || format!("samples[{row}]"));
                series.clear();
                series
                    .extend((0..times.len()).map(|at| columns::share(values[0], times.len(), at)));
                self.sample(out, sample, &series, times, tables, None);
            } else {
                self.sample(out, sample, values, times, tables, None);
            }
        }
        Ok(())
    }

    /// All columns, where a profile may have several; what has a value for each timestamp becomes
    /// a total, or several samples.
    fn rows(
        &mut self,
        out: &mut Vec<u8>,
        profile: &Profile,
        tables: &TableWriter<'_, G>,
        slices: Option<&Slices>,
    ) -> Result<()> {
        let several = profile.sample_types.len() > 1;
        let mut written = 0;
        for (row, sample) in profile.samples.iter().enumerate() {
            let (values, times) = (sample.values, sample.timestamps_unix_nano);
            let plain = several || values.len() == 1 || profile.sample_types.is_empty();
            let how = if plain {
                Spread::Plain
            } else {
                spread(values, times)
            };
            match how {
                Spread::Plain => self.sample(out, sample, values, times, tables, slices),
                Spread::Total(total) => self.sample(out, sample, &[total], times, tables, slices),
                Spread::Each => {
                    if times.is_empty() {
                        self.losses
                            .add(losses::SERIES_EXPANDED, || format!("samples[{row}]"));
                    }
                    for (at, &value) in values.iter().enumerate() {
                        self.sample(
                            out,
                            sample,
                            &[value],
                            times.get(at..=at).unwrap_or_default(),
                            tables,
                            slices,
                        );
                    }
                    written += values.len() as u64;
                    within(
                        "max_expanded_samples",
                        self.options.max_expanded_samples,
                        written,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// One sample, its fields in ascending order.
    #[inline]
    fn sample(
        &self,
        out: &mut Vec<u8>,
        sample: SampleRef,
        values: &[i64],
        times: &[u64],
        tables: &TableWriter<'_, G>,
        slices: Option<&Slices>,
    ) {
        let fields = const { &G::SCHEMA.sample };
        let write_values = |out: &mut Vec<u8>| {
            field_varints(out, fields.values, values.iter().map(|&value| value as u64))
        };
        field_message(out, G::SCHEMA.profile.samples, |out| {
            let mut labels = false;
            if G::SCHEMA.tables.stack != 0 {
                field_varint(out, fields.stack, tables.stack(sample.stack).into());
                if fields.values < fields.attributes {
                    write_values(out);
                }
            } else {
                if fields.values < fields.slice_start {
                    write_values(out);
                }
                labels = fields.label != 0 && self.labels(out, sample.attributes, tables);
                let length = self.dictionary.stack(sample.stack).len();
                if let Some(slices) = slices.filter(|_| length != 0) {
                    field_varint(out, fields.slice_start, slices.start(sample.stack).into());
                    field_varint(out, fields.slice_length, length as u64);
                }
                field_varint(
                    out,
                    fields.stacktrace_id,
                    tables.string(sample.stacktrace_id).into(),
                );
                if fields.values > fields.slice_start {
                    write_values(out);
                }
            }
            if labels {
                let kept: Vec<AttributeId> = sample
                    .attributes
                    .iter()
                    .copied()
                    .filter(|id| !tables.as_label(*id))
                    .collect();
                tables.attribute_indices(out, fields.attributes, &kept);
            } else {
                tables.attribute_indices(out, fields.attributes, sample.attributes);
            }
            let values_after = G::SCHEMA.tables.stack != 0 && fields.values > fields.attributes;
            if values_after && fields.values < fields.link {
                write_values(out);
            }
            tables.link(out, sample.link);
            if values_after && fields.values > fields.link {
                write_values(out);
            }
            if fields.fixed_timestamps {
                field_fixed64s(out, fields.timestamps, times);
            } else {
                field_varints(out, fields.timestamps, times.iter().copied());
            }
        });
    }

    /// Writes the attributes whose unit is not that of their key as labels; whether there was one.
    #[inline]
    fn labels(
        &self,
        out: &mut Vec<u8>,
        attributes: &[AttributeId],
        tables: &TableWriter<'_, G>,
    ) -> bool {
        if !tables.units.any_conflict() {
            return false;
        }
        let mut any = false;
        for id in attributes.iter().filter(|id| tables.as_label(**id)) {
            let Some(attribute) = self.dictionary.attribute(*id) else {
                continue;
            };
            let (text, number) = match attribute.value {
                Value::Int(number) => (StringId::NONE, number),
                Value::String(text) => (text, 0),
                _ => continue,
            };
            any = true;
            field_message(out, G::SCHEMA.sample.label, |out| {
                field_varint(out, 1, tables.string(attribute.key).into());
                field_varint(out, 2, tables.string(text).into());
                field_varint(out, 3, number as u64);
                field_varint(out, 4, tables.string(attribute.unit).into());
            });
        }
        any
    }
}
