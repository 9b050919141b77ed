//! Writer of samples: the hot path.
//!
//! Memory for a sample is reserved once, from the lengths of its lists. Then its fields are written without
//! bounds checks ([`record`]).
//!
//! ```text
//! model row        generation       samples written
//! n values         one type, 1.8+   one for each column, each with the stack and the attributes
//! n values         several types    one
//! 1 total, times   1.8+             the total divided among the timestamps, or omitted if each counts 1
//! a series         several types    one total if its values are equal, else one for each value
//! ```
//!
//! [`expand_samples`] chooses between these forms; this module only writes the samples.

use crate::error::Result;
use crate::format::otlp::write::profile::ProfileWriter;
use crate::limits::within;
use crate::losses;
use crate::model::id::{AttributeId, StringId};
use crate::model::measures;
use crate::model::samples::SampleRef;
use crate::model::value::Value;
use crate::schema::Generation;
use crate::tables::fields::{emit, number};
use crate::tables::layout::written_rows;
use crate::tables::profile::columns::Joined;
use crate::tables::profile::expand_samples::{self, Expansion, Row, Walk, column_counts_events};
use crate::tables::write::parts::{Column, Part};
use crate::wire::record::{Fields, record};
use crate::write_options::Layout;

/// The maximum size of a label.
const LABEL: usize = Fields::MESSAGE + 3 * Fields::INDEX + Fields::VARINT;

impl<G: Generation> ProfileWriter<'_, '_, G> {
    /// Writes all samples of a profile.
    ///
    /// # Errors
    ///
    /// Those of [`rows`](Self::rows).
    pub(crate) fn samples(&mut self, out: &mut Vec<u8>, part: &Part) -> Result<()> {
        match part {
            Part::Column(column) => self.column(out, *column),
            Part::Joined(joined) => self.rows(out, joined)?,
        }
        Ok(())
    }

    /// Writes a column, for generations with one sample type per profile.
    ///
    /// In the compact layout, rows with value 0 may be dropped from columns other than the first
    /// ([`written_rows`]).
    ///
    /// If all values count their timestamps (`events`), they are omitted.
    fn column(&mut self, out: &mut Vec<u8>, Column { profile, column, first }: Column) {
        let single = profile.sample_types.len() < 2;
        let timed = !profile.samples.timestamps.items.is_empty();
        let events = timed && column_counts_events(profile, column);
        let compact = self.options.layout == Layout::Compact && !single;
        let written = if compact { written_rows(profile, column, first) } else { Vec::new() };
        let mut series = Vec::new();
        let mut walk = Walk::of(&profile.samples);
        for row in 0..profile.samples.len() {
            let sample = &walk.next(row);
            if written.get(row) == Some(&false) {
                continue;
            }
            let values = if single {
                sample.values
            } else {
                sample.values.get(column..=column).unwrap_or_default()
            };
            let times = sample.timestamps_unix_nano;
            // A total that belongs to timestamps, instead of a value for each.
            // With one sample type, one value beside one timestamp already is the value of that timestamp.
            let total_of_many = timed
                && values.len() == 1
                && !times.is_empty()
                && (times.len() > 1 || events || !single);
            if total_of_many && events {
                self.sample(out, sample, &[], times);
            } else if total_of_many && times.len() > 1 {
                self.losses.add(losses::VALUE_SPLIT, || format!("samples[{row}]"));
                series.clear();
                series
                    .extend((0..times.len()).map(|at| measures::share(values[0], times.len(), at)));
                self.sample(out, sample, &series, times);
            } else {
                self.sample(out, sample, values, times);
            }
        }
    }

    /// Writes all columns, for generations with several sample types per profile.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if series expand to more than `max_expanded_samples` samples.
    fn rows(&mut self, out: &mut Vec<u8>, joined: &Joined) -> Result<()> {
        let mut expanded = 0;
        expand_samples::rows(joined, |Row { at: [row, part], sample, how, values, times }| {
            let place = || format!("samples[{row}]");
            match how {
                Expansion::Plain => {}
                Expansion::Total(_) => {
                    let none = sample.values.is_empty() && times.is_empty();
                    self.losses.add_many(losses::COLUMNS_ZERO_FILLED, u64::from(none), place);
                }
                Expansion::Each => {
                    let untimed = part == 0 && times.is_empty();
                    self.losses.add_many(losses::SERIES_EXPANDED, u64::from(untimed), place);
                    expanded += 1;
                    within("max_expanded_samples", self.options.max_expanded_samples, expanded)?;
                }
            }
            self.sample(out, sample, values, times);
            Ok(())
        })
    }

    /// Writes one sample.
    ///
    /// `capacity` is an upper bound of its size: five bytes per index, ten per number.
    fn sample(&mut self, out: &mut Vec<u8>, sample: &SampleRef, values: &[i64], times: &[u64]) {
        let compact = self.options.layout == Layout::Compact;
        let attributes = sample.attributes;
        let packed = self.packed.next(values, attributes);
        let [values_alone, alone] = packed.map(|packed| compact && packed);
        let Self { tables, slices, .. } = &*self;
        let labels = G::CAPABILITIES.labels && tables.units.any_conflict();
        let each = if labels { LABEL } else { Fields::INDEX };
        // No generation has both `stack_index` and slices, so at most four fields are indices. The length
        // of a slice has 32 bits, as an index.
        let capacity = 4 * Fields::INDEX
            + 3 * Fields::MESSAGE
            + each * attributes.len()
            + 10 * (values.len() + times.len());
        record(out, number!(PROFILE "samples" in G::VERSION), capacity, |fields| {
            let length = match G::CAPABILITIES.stack_table {
                true => 0,
                false => tables.dictionary.stack(sample.stack).len(),
            };
            emit!(SAMPLE in G; {
                "stack_index" => |number| fields.index(number, tables.stack(sample.stack)),
                "locations_start_index" => |number| if length != 0 {
                    fields.index(number, slices.start(sample.stack));
                },
                "locations_length" => |number| fields.varint(number, length as u64),
                "values" => |number| {
                    let values = values.iter().map(|&value| value as u64);
                    fields.list(number, values, values_alone);
                },
                "label" => |number| if labels {
                    self.labels(fields, number, attributes);
                },
                "stacktrace_id_index" => |number| {
                    fields.code(number, tables.strings.code(sample.stacktrace_id));
                },
                "attribute_indices" => |number| {
                    let mut kept = Vec::new();
                    let attributes = match labels {
                        true => self.not_labels(attributes, &mut kept),
                        false => attributes,
                    };
                    tables.attribute_indices(fields, number, attributes, alone);
                },
                "link_index" => |number| tables.link(fields, number, sample.link),
                "timestamps_unix_nano" => |number| match G::CAPABILITIES.fixed_timestamps {
                    true => fields.fixed64s(number, times),
                    false => fields.list(number, times.iter().copied(), compact),
                },
            });
        });
    }

    /// Returns the attributes that are not written as labels.
    ///
    /// `kept` is the caller's buffer, which samples without labels leave unallocated.
    fn not_labels<'k>(
        &self,
        attributes: &[AttributeId],
        kept: &'k mut Vec<AttributeId>,
    ) -> &'k [AttributeId] {
        kept.extend(attributes.iter().copied().filter(|id| !self.tables.as_label(*id)));
        kept
    }

    /// Writes the attributes whose unit differs from that of their key as labels.
    ///
    /// Only 1.3 has labels beside attributes; each label has a unit.
    fn labels(&self, fields: &mut Fields, number: u32, attributes: &[AttributeId]) {
        let tables = self.tables;
        for id in attributes.iter().filter(|id| tables.as_label(**id)) {
            let Some(attribute) = self.tables.dictionary.attribute(*id) else {
                continue;
            };
            let (text, value) = match attribute.value {
                Value::Int(value) => (StringId::NONE, value),
                Value::String(text) => (text, 0),
                // `as_label` accepts only these two types.
                _ => continue,
            };
            fields.message(number, |fields| {
                emit!(LABEL in G; {
                    "key_strindex" => |number| {
                        fields.code(number, tables.strings.code(attribute.key));
                    },
                    "str_strindex" => |number| fields.code(number, tables.strings.code(text)),
                    "num" => |number| fields.varint(number, value as u64),
                    "num_unit_strindex" => |number| {
                        fields.code(number, tables.strings.code(attribute.unit));
                    },
                });
            });
        }
    }
}
