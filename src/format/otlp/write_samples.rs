//! Writing samples: the hot path.

use crate::error::Result;
use crate::format::columns;
use crate::format::losses;
use crate::format::otlp::schema::Generation;
use crate::format::otlp::slices::Slices;
use crate::format::otlp::write::{Part, Writer, is_untyped};
use crate::format::otlp::write_tables::TableWriter;
use crate::format::spread::{Columns, Spread, Walk, column_counts_events, spread};
use crate::limits::within;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::wire::record::{Fields, record};

/// What a label may take.
const LABEL: usize = Fields::MESSAGE + 3 * Fields::INDEX + Fields::VARINT;

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
                    let mut walk = Walk::of(&profiles[0].samples);
                    let mut columns = Columns::of(profiles);
                    for row in 0..profiles[0].samples.len() {
                        let sample = &walk.next(row);
                        let times = sample.timestamps_unix_nano;
                        let totals = columns.next().iter();
                        values.clear();
                        values.extend(totals.map(|values| columns::total(values, times)));
                        self.sample(out, sample, &values, times, tables, slices);
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
        let mut walk = Walk::of(&profile.samples);
        for row in 0..profile.samples.len() {
            let sample = &walk.next(row);
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
                self.losses.add(losses::VALUE_SPLIT, || format!("samples[{row}]"));
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
        let none = profile.sample_types.is_empty() && !is_untyped(profile);
        let mut written = 0;
        let mut walk = Walk::of(&profile.samples);
        for row in 0..profile.samples.len() {
            let sample = &walk.next(row);
            let (values, times) = (sample.values, sample.timestamps_unix_nano);
            let plain = several || none || values.len() == 1;
            let how = if plain { Spread::Plain } else { spread(values, times) };
            match how {
                Spread::Plain => self.sample(out, sample, values, times, tables, slices),
                Spread::Total(total) => {
                    let none = values.is_empty() && times.is_empty();
                    self.losses.add_many(losses::COLUMNS_ZERO_FILLED, u64::from(none), || {
                        format!("samples[{row}]")
                    });
                    self.sample(out, sample, &[total], times, tables, slices);
                }
                Spread::Each => {
                    if times.is_empty() {
                        self.losses.add(losses::SERIES_EXPANDED, || format!("samples[{row}]"));
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
                    within("max_expanded_samples", self.options.max_expanded_samples, written)?;
                }
            }
        }
        Ok(())
    }

    /// One sample, its fields in ascending order.
    fn sample(
        &self,
        out: &mut Vec<u8>,
        sample: &SampleRef,
        values: &[i64],
        times: &[u64],
        tables: &TableWriter<'_, G>,
        slices: Option<&Slices>,
    ) {
        let numbers = const { &G::SCHEMA.sample };
        let attributes = sample.attributes;
        let labels = numbers.label != 0 && tables.units.any_conflict();
        let each = if labels { LABEL } else { Fields::INDEX };
        let room = 4 * Fields::INDEX
            + 3 * Fields::MESSAGE
            + each * attributes.len()
            + 10 * (values.len() + times.len());
        let write_values = |fields: &mut Fields| {
            fields.varints(numbers.values, values.iter().map(|&value| value as u64))
        };
        record(out, G::SCHEMA.profile.samples, room, |fields| {
            if G::SCHEMA.tables.stack != 0 {
                fields.index(numbers.stack, tables.stack(sample.stack));
                if numbers.values < numbers.attributes {
                    write_values(fields);
                }
            } else {
                if numbers.values < numbers.slice_start {
                    write_values(fields);
                }
                if labels {
                    self.labels(fields, attributes, tables);
                }
                let length = self.dictionary.stack(sample.stack).len();
                if let Some(slices) = slices.filter(|_| length != 0) {
                    fields.index(numbers.slice_start, slices.start(sample.stack));
                    fields.varint(numbers.slice_length, length as u64);
                }
                fields.code(numbers.stacktrace_id, tables.strings.code(sample.stacktrace_id));
                if numbers.values > numbers.slice_start {
                    write_values(fields);
                }
            }
            if labels {
                let kept: Vec<AttributeId> =
                    attributes.iter().copied().filter(|id| !tables.as_label(*id)).collect();
                tables.attribute_indices(fields, numbers.attributes, &kept);
            } else {
                tables.attribute_indices(fields, numbers.attributes, attributes);
            }
            let values_after = G::SCHEMA.tables.stack != 0 && numbers.values > numbers.attributes;
            if values_after && numbers.values < numbers.link {
                write_values(fields);
            }
            tables.link(fields, sample.link);
            if values_after && numbers.values > numbers.link {
                write_values(fields);
            }
            if G::SCHEMA.has_fixed_timestamps() {
                fields.fixed64s(numbers.timestamps, times);
            } else {
                fields.varints(numbers.timestamps, times.iter().copied());
            }
        });
    }

    /// Writes the attributes whose unit is not that of their key as labels.
    fn labels(&self, fields: &mut Fields, attributes: &[AttributeId], tables: &TableWriter<'_, G>) {
        for id in attributes.iter().filter(|id| tables.as_label(**id)) {
            let Some(attribute) = self.dictionary.attribute(*id) else {
                continue;
            };
            let (text, number) = match attribute.value {
                Value::Int(number) => (StringId::NONE, number),
                Value::String(text) => (text, 0),
                _ => continue,
            };
            fields.message(G::SCHEMA.sample.label, |fields| {
                fields.code(1, tables.strings.code(attribute.key));
                fields.code(2, tables.strings.code(text));
                fields.varint(3, number as u64);
                fields.code(4, tables.strings.code(attribute.unit));
            });
        }
    }
}
