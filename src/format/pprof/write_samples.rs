//! Writer of pprof's samples, which copies encoded stacks and labels.
//!
//! A sample of the model becomes one record, unless it has timestamps or is a series. pprof has no field for
//! timestamps: each becomes a separate record with a numeric label in nanoseconds
//! ([`LABEL_END_TIMESTAMP_NS`]). If that would give more samples than `max_expanded_samples`, timestamps are
//! dropped, with a loss.
//!
//! ```text
//! Sample       location_id [ids of the stack]   value [one per column]  label …   label of the link, of the time
//! source       the same bytes in an             varints, encoded here   label_of  encode_links, time_label
//!              earlier sample
//! ```
//!
//! Samples of the model that pprof cannot represent directly:
//!
//! | sample | written as |
//! |---|---|
//! | n timestamps and n values, or no values | n samples of one value each |
//! | n timestamps and one total for each column | n samples that share each total |
//! | no timestamps and several values of its one type | a sample for each value, with a loss |
//! | no value | a sample of zeros, with a loss |

use crate::error::Result;
use crate::format::pprof::labels::{LabelValue, put_label, write_label};
use crate::format::pprof::write::Writer;
use crate::limits::within;
use crate::losses;
use crate::model::id::{AttributeId, LinkId, LocationId};
use crate::model::measures;
use crate::model::ragged::Ragged;
use crate::model::samples::SampleRef;
use crate::schema::Version::Pprof;
use crate::semconv::{LABEL_END_TIMESTAMP_NS, LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::tables::fields::number;
use crate::tables::profile::expand_samples::{Columns, Walk};
use crate::wire::hex::hex;
use crate::wire::record::{Fields, Records, records};
use crate::write_options::Timestamps;

impl Writer<'_, '_> {
    /// Writes all samples.
    ///
    /// Samples without timestamps and with one value per column take the fast path. The limit is checked
    /// after each sample, because expanding timestamps may multiply their number.
    ///
    /// `one` is whether there is one sample type, so that values may belong to timestamps. `alone` is whether
    /// one profile holds all values.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_output_bytes` is exceeded.
    pub(crate) fn samples(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let joined = self.joined;
        let links = self.encode_links();
        let timestamps = self.choose_timestamps();
        self.find_time_labels();
        let samples = &joined.first().samples;
        let alone = joined.profiles.len() == 1;
        let one = alone && joined.first().sample_types.len() < 2;
        let limit = self.options.max_output_bytes;
        records(out, |out| {
            let mut walk = Walk::of(samples);
            let mut columns = Columns::of(joined);
            let mut totals = Vec::with_capacity(joined.profiles.len());
            for row in 0..samples.len() {
                let sample = walk.next(row);
                let mut values = sample.values;
                if !alone {
                    let columns = columns.next(row).iter();
                    totals.clear();
                    totals.extend(columns.map(|values| measures::total(values, &[])));
                    values = &totals;
                }
                if sample.timestamps_unix_nano.is_empty() && (!one || values.len() == 1) {
                    self.sample(out, &sample, values, [], &links);
                } else if alone {
                    self.expand_sample(out, row, one, timestamps, &links);
                } else {
                    self.expand_columns(out, row, timestamps, columns.row(), &links);
                }
                within("max_output_bytes", limit, out.end() as u64)?;
            }
            Ok(())
        })
    }

    /// Writes a sample with timestamps whose values are in several profiles.
    ///
    /// A timestamp without a value counts 1.
    ///
    /// With [`Timestamps::Drop`], the values of a column are added up, because pprof has one value per
    /// column.
    #[cold]
    fn expand_columns(
        &mut self,
        out: &mut Records,
        row: usize,
        timestamps: Timestamps,
        columns: &[&[i64]],
        links: &Ragged<u8>,
    ) {
        let Some(sample) = &self.joined.first().samples.get(row) else {
            return;
        };
        let times = sample.timestamps_unix_nano;
        if timestamps == Timestamps::Drop {
            self.losses.add_many(losses::TIMESTAMPS_DROPPED, times.len() as u64, || {
                format!("samples[{row}]")
            });
            let totals: Vec<i64> =
                columns.iter().map(|values| self.total(values, times, row)).collect();
            return self.part(out, sample, &totals, None, links);
        }
        for (at, &time) in times.iter().enumerate() {
            let value = |values: &&[i64]| values.get(at).copied().unwrap_or(1);
            let values: Vec<i64> = columns.iter().map(value).collect();
            self.part(out, sample, &values, Some(time), links);
        }
    }

    /// Returns how to write timestamps: they are dropped if expanding them exceeds the limit.
    ///
    /// Decided for the whole payload, because a part of the timestamps would be misleading.
    fn choose_timestamps(&mut self) -> Timestamps {
        let times = self.joined.first().samples.timestamps.items.len() as u64;
        match self.options.timestamps {
            Timestamps::Label if times <= self.options.max_expanded_samples => Timestamps::Label,
            _ => Timestamps::Drop,
        }
    }

    /// Writes a sample with timestamps, or with zero or several values for its one sample type.
    ///
    /// The total of several timestamps is divided among them, and counted as split if the parts may differ.
    ///
    /// `series` is whether each timestamp has a value, or counts 1.
    #[cold]
    fn expand_sample(
        &mut self,
        out: &mut Records,
        row: usize,
        one: bool,
        timestamps: Timestamps,
        links: &Ragged<u8>,
    ) {
        let Some(sample) = &self.joined.first().samples.get(row) else {
            return;
        };
        let times = sample.timestamps_unix_nano;
        let place = || format!("samples[{row}]");
        let series = one && (sample.values.is_empty() || sample.values.len() == times.len());
        if times.is_empty() {
            let (values, code) = match sample.values {
                [] => (&[0][..], losses::COLUMNS_ZERO_FILLED),
                values => (values, losses::SERIES_EXPANDED),
            };
            self.losses.add(code, place);
            values.iter().for_each(|&value| self.part(out, sample, &[value], None, links));
        } else if timestamps == Timestamps::Drop {
            self.losses.add_many(losses::TIMESTAMPS_DROPPED, times.len() as u64, place);
            let total = match sample.values {
                values if series => vec![self.total(values, times, row)],
                values => values.to_vec(),
            };
            self.part(out, sample, &total, None, links);
        } else {
            let split = !series
                && (times.len() > 1)
                // A total that equals the number of timestamps gives each of them 1, so no part differs.
                && sample.values.iter().any(|&value| value != times.len() as i64);
            self.losses.add_many(losses::VALUE_SPLIT, u64::from(split), place);
            for (at, &time) in times.iter().enumerate() {
                let values: Vec<i64> = match sample.values {
                    [] => vec![1],
                    // `series` with values means one for each timestamp.
                    values if series => vec![values[at]],
                    values => values
                        .iter()
                        .map(|&total| measures::share(total, times.len(), at))
                        .collect(),
                };
                self.part(out, sample, &values, Some(time), links);
            }
        }
    }

    /// Adds up the values of a sample whose timestamps are dropped.
    ///
    /// A sum that overflows 64 signed bits is clamped and counted.
    fn total(&mut self, values: &[i64], times: &[u64], row: usize) -> i64 {
        if i64::try_from(measures::sum(values, times)).is_err() {
            self.losses.add(losses::VALUE_OVERFLOW, || format!("samples[{row}]"));
        }
        measures::total(values, times)
    }

    /// Writes one of the samples that a sample with timestamps becomes.
    ///
    /// It has the link and the attributes of that sample.
    #[inline(never)]
    fn part(
        &mut self,
        out: &mut Records,
        sample: &SampleRef,
        values: &[i64],
        time: Option<u64>,
        links: &Ragged<u8>,
    ) {
        let Some(time) = time else {
            return self.sample(out, sample, values, [], links);
        };
        let label = self.time_label(time);
        let is_time = |id: &AttributeId| self.time_labels.contains(id);
        if !sample.attributes.iter().any(is_time) {
            return self.sample(out, sample, values, [&label], links);
        }
        // Readers treat a label with this key as the time, so other labels must not have it.
        let kept: Vec<AttributeId> =
            sample.attributes.iter().copied().filter(|id| !is_time(id)).collect();
        self.losses.add(losses::TIMESTAMP_LABEL_CONFLICT, || {
            format!("sample.attribute[{LABEL_END_TIMESTAMP_NS}]")
        });
        self.sample(out, &SampleRef { attributes: &kept, ..*sample }, values, [&label], links);
    }

    /// Encodes the label of a timestamp.
    ///
    /// A time past 63 bits, in the year 2262, becomes the maximum, with a loss.
    fn time_label(&mut self, time: u64) -> Vec<u8> {
        let key = self.strings.add(LABEL_END_TIMESTAMP_NS.into());
        let unit = self.strings.add("nanoseconds".into());
        let number = i64::try_from(time).unwrap_or_else(|_| {
            self.losses.add(losses::TIME_OVERFLOW, || "sample.timestamps_unix_nano".to_owned());
            i64::MAX
        });
        let mut label = Vec::new();
        put_label(&mut label, key, 0, number, unit);
        label
    }

    /// Finds the attributes whose labels have the key of timestamps.
    ///
    /// Ignores attributes without labels, such as empty ones.
    fn find_time_labels(&mut self) {
        if self.joined.first().samples.timestamps.items.is_empty() {
            return;
        }
        let rows = (0..).zip(&self.dictionary.attributes);
        let same = rows.filter(|(_, a)| self.dictionary.text(a.key) == LABEL_END_TIMESTAMP_NS);
        let ids = same.map(|(row, _)| AttributeId(row));
        self.time_labels = ids.filter(|id| !self.label_of(*id).is_empty()).collect();
    }

    /// Writes a sample with additional encoded labels.
    ///
    /// Reserves an upper bound of its size: ids by their count, ten bytes per value, labels by their lengths.
    /// `links` are the labels of all links; `last` are the labels after all others.
    ///
    /// The place of each stack is recorded by row. Later samples with the same stack copy its bytes from the
    /// output, so each stack is encoded once.
    // Always inlined. Without any in the library, encoding pprof takes up to 9 % more instructions.
    #[inline(always)]
    fn sample<const N: usize>(
        &mut self,
        out: &mut Records,
        sample: &SampleRef,
        values: &[i64],
        last: [&[u8]; N],
        links: &Ragged<u8>,
    ) {
        let locations = self.dictionary.stack(sample.stack);
        let stack = sample.stack.row();
        let link = if sample.link == LinkId::NONE {
            &[]
        } else {
            self.link_labels(sample.link, sample.attributes, links)
        };
        let mut labels = link.len();
        for label in last {
            labels += label.len();
        }
        for id in sample.attributes {
            labels += self.label_of(*id).len();
        }
        let ids = self.locations.expected(locations.len());
        let expected = ids + 2 + 4 * values.len() + labels;
        let room = Fields::indices(locations.len()) + Fields::values(values.len()) + labels;
        let mut stack_len = 0;
        let body = out.large(number!(PROFILE "samples" in Pprof), expected, room, |fields| {
            let begin = fields.at();
            match self.stacks.get(stack) {
                Some(&[begin, end]) if begin != end => fields.again(begin as usize..end as usize),
                _ => fields.rows(
                    number!(SAMPLE "location_index" in Pprof),
                    locations,
                    &self.locations,
                    LocationId::row,
                ),
            }
            stack_len = fields.at() - begin;
            let values = values.iter().map(|&value| value as u64);
            fields.varints(number!(SAMPLE "values" in Pprof), values);
            for id in sample.attributes {
                fields.copy(&self.labels, self.label_of(*id));
            }
            if !link.is_empty() {
                fields.copy(link, 0..link.len());
            }
            for label in last {
                fields.copy(label, 0..label.len());
            }
        });
        // Only now, because a length that takes more bytes than reserved moves the body.
        let (stack, end) = (self.stacks.get_mut(stack), body + stack_len);
        // Places past 4 GiB are not recorded: later samples encode the stack again.
        if let (Some(stack), Ok(end)) = (stack, u32::try_from(end)) {
            *stack = [body as u32, end];
        }
    }

    /// Encodes the two labels of every link. A link with only one id gets no labels, because the reader
    /// requires both.
    ///
    /// The result has a row for each link of the dictionary, empty if it has no labels.
    fn encode_links(&mut self) -> Ragged<u8> {
        let mut encoded = Ragged::default();
        if self.joined.first().samples.links.is_empty() || !self.options.links {
            return encoded;
        }
        for link in &self.dictionary.links {
            if link.trace_id != [0; 16] && link.span_id != [0; 8] {
                for (key, id) in
                    [(LABEL_TRACE_ID, hex(&link.trace_id)), (LABEL_SPAN_ID, hex(&link.span_id))]
                {
                    let key = self.strings.add(key.to_owned().into());
                    write_label(&mut encoded.items, key, &LabelValue::Made(id), &mut self.strings);
                }
            }
            encoded.end_row();
        }
        encoded
    }

    /// Returns the labels of a sample's link. If the sample has labels with these keys, returns no labels and
    /// counts a loss.
    ///
    /// The three codes: the keys are taken, the link lacks an id, the caller dropped links.
    #[inline(never)]
    fn link_labels<'k>(
        &mut self,
        link: LinkId,
        attributes: &[AttributeId],
        links: &'k Ragged<u8>,
    ) -> &'k [u8] {
        let key = |id: &AttributeId| {
            self.dictionary
                .attribute(*id)
                .map_or("", |attribute| self.dictionary.text(attribute.key))
        };
        let taken = attributes.iter().any(|id| matches!(key(id), LABEL_TRACE_ID | LABEL_SPAN_ID));
        let code = match taken {
            true => losses::LINK_LABEL_CONFLICT,
            false if self.options.links => losses::LINK_INVALID,
            false => losses::LINK_DROPPED,
        };
        let labels = links.row(link.row());
        if taken || labels.is_empty() {
            self.losses.add(code, || "sample.link_index".to_owned());
            return &[];
        }
        labels
    }
}
