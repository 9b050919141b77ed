//! Writing pprof's samples: stacks and labels are ready to be copied.

use crate::error::Result;
use crate::format::Timestamps;
use crate::format::columns;
use crate::format::losses;
use crate::format::pprof::labels::{Said, write_label};
use crate::format::pprof::write::Writer;
use crate::format::spread::{Columns, Walk};
use crate::limits::within;
use crate::model::id::{LinkId, LocationId};
use crate::model::ragged::Ragged;
use crate::model::samples::SampleRef;
use crate::semconv::{LABEL_END_TIMESTAMP_NS, LABEL_SPAN_ID, LABEL_TRACE_ID};
use crate::wire::record::{field_codes, field_varint, field_varints};
use crate::wire::write::{copy, field_large, field_message};

impl Writer<'_, '_> {
    /// All samples.
    pub(crate) fn samples(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let joined = self.joined;
        let links = self.encode_links();
        let timestamps = self.choose_timestamps();
        let samples = &joined.first().samples;
        let mut walk = Walk::of(samples);
        let mut columns = Columns::of(&joined.profiles);
        let mut row_values = Vec::with_capacity(joined.profiles.len());
        for row in 0..samples.len() {
            let sample = &walk.next(row);
            if let [profile] = joined.profiles[..] {
                let one = profile.sample_types.len() < 2;
                if sample.timestamps_unix_nano.is_empty() && (!one || sample.values.len() == 1) {
                    self.sample(out, sample, sample.values, None, &links);
                } else {
                    self.spread(out, sample, row, one, timestamps, &links);
                }
            } else if sample.timestamps_unix_nano.is_empty() {
                row_values.clear();
                let totals = columns.next().iter();
                row_values.extend(totals.map(|values| columns::total(values, &[])));
                self.sample(out, sample, &row_values, None, &links);
            } else {
                self.spread_columns(out, sample, row, timestamps, columns.next(), &links);
            }
            within(
                "max_output_bytes",
                self.options.max_output_bytes,
                out.len() as u64,
            )?;
        }
        Ok(())
    }

    /// A sample with timestamps, whose values are in several profiles.
    #[cold]
    fn spread_columns(
        &mut self,
        out: &mut Vec<u8>,
        sample: &SampleRef,
        row: usize,
        timestamps: Timestamps,
        columns: &[&[i64]],
        links: &Ragged<u8>,
    ) {
        let times = sample.timestamps_unix_nano;
        if timestamps == Timestamps::Drop {
            self.losses
                .add_many(losses::TIMESTAMPS_DROPPED, times.len() as u64, || {
                    format!("samples[{row}]")
                });
            let totals: Vec<i64> = columns
                .iter()
                .map(|values| columns::total(values, times))
                .collect();
            return self.sample(out, sample, &totals, None, links);
        }
        for (at, &time) in times.iter().enumerate() {
            let value = |values: &&[i64]| values.get(at).copied().unwrap_or(1);
            let values: Vec<i64> = columns.iter().map(value).collect();
            self.sample(out, sample, &values, Some(time), links);
        }
    }

    /// Expanding timestamps may take more samples than allowed: then they are left out.
    fn choose_timestamps(&mut self) -> Timestamps {
        let times = self.joined.first().samples.timestamps.items.len() as u64;
        match self.options.timestamps {
            Timestamps::Label if times <= self.options.max_expanded_samples => Timestamps::Label,
            _ => Timestamps::Drop,
        }
    }

    /// A sample with timestamps, or with other than one value for its one sample type.
    #[cold]
    fn spread(
        &mut self,
        out: &mut Vec<u8>,
        sample: &SampleRef,
        row: usize,
        one: bool,
        timestamps: Timestamps,
        links: &Ragged<u8>,
    ) {
        let times = sample.timestamps_unix_nano;
        let place = || format!("samples[{row}]");
        let series = one && (sample.values.is_empty() || sample.values.len() == times.len());
        if times.is_empty() {
            let values = if sample.values.is_empty() {
                &[0][..]
            } else {
                sample.values
            };
            self.losses
                .add_many(losses::SERIES_EXPANDED, u64::from(values.len() > 1), place);
            values
                .iter()
                .for_each(|&value| self.sample(out, sample, &[value], None, links));
        } else if timestamps == Timestamps::Drop {
            self.losses
                .add_many(losses::TIMESTAMPS_DROPPED, times.len() as u64, place);
            let total = match sample.values {
                [] => vec![times.len() as i64],
                values if series => vec![
                    values
                        .iter()
                        .fold(0i64, |sum, value| sum.wrapping_add(*value)),
                ],
                values => values.to_vec(),
            };
            self.sample(out, sample, &total, None, links);
        } else {
            let split = !series
                && (times.len() > 1)
                && sample
                    .values
                    .iter()
                    .any(|&value| value != times.len() as i64);
            self.losses
                .add_many(losses::VALUE_SPLIT, u64::from(split), place);
            for (at, &time) in times.iter().enumerate() {
                let values: Vec<i64> = match sample.values {
                    [] => vec![1],
                    values if series => vec![values[at]],
                    values => values
                        .iter()
                        .map(|&total| columns::share(total, times.len(), at))
                        .collect(),
                };
                self.sample(out, sample, &values, Some(time), links);
            }
        }
    }

    #[inline]
    fn sample(
        &mut self,
        out: &mut Vec<u8>,
        sample: &SampleRef,
        row_values: &[i64],
        time: Option<u64>,
        links: &Ragged<u8>,
    ) {
        let locations = self.dictionary.stack(sample.stack);
        let expected = self.locations.expected(locations.len()) + 2;
        let mut stack_len = 0;
        let body = field_large(out, 2, expected + 4 * row_values.len(), |out| {
            let start = out.len();
            match self.stacks.get(sample.stack.row()) {
                Some(&[begin, end]) if begin != end => {
                    out.extend_from_within(begin as usize..end as usize)
                }
                _ => field_codes(out, 1, locations, &self.locations, LocationId::row),
            }
            stack_len = out.len() - start;
            field_varints(out, 2, row_values.iter().map(|&value| value as u64));
            for id in sample.attributes {
                copy(out, &self.labels, self.label_of(*id));
            }
            if sample.link != LinkId::NONE {
                self.link_labels(out, sample, links);
            }
            if let Some(time) = time {
                self.time_label(out, time);
            }
        });
        let (stack, end) = (self.stacks.get_mut(sample.stack.row()), body + stack_len);
        if let (Some(stack), Ok(end)) = (stack, u32::try_from(end)) {
            *stack = [body as u32, end];
        }
    }

    fn time_label(&mut self, out: &mut Vec<u8>, time: u64) {
        let key = self.strings.make(LABEL_END_TIMESTAMP_NS.to_owned());
        let unit = self.strings.make("nanoseconds".to_owned());
        field_message(out, 3, |out| {
            field_varint(out, 1, key.into());
            field_varint(out, 3, time);
            field_varint(out, 4, unit.into());
        });
    }

    /// The two labels of every link, ready to be copied.
    fn encode_links(&mut self) -> Ragged<u8> {
        let mut encoded = Ragged::default();
        if self.joined.first().samples.links.is_empty() || !self.options.links {
            return encoded;
        }
        for link in &self.dictionary.links {
            if link.trace_id != [0; 16] && link.span_id != [0; 8] {
                let hex = |bytes: &[u8]| {
                    bytes
                        .iter()
                        .map(|byte| format!("{byte:02x}"))
                        .collect::<String>()
                };
                for (key, id) in [
                    (LABEL_TRACE_ID, hex(&link.trace_id)),
                    (LABEL_SPAN_ID, hex(&link.span_id)),
                ] {
                    let key = self.strings.make(key.to_owned());
                    write_label(&mut encoded.items, key, &Said::Made(id), &mut self.strings);
                }
            }
            encoded.end_row();
        }
        encoded
    }

    /// The labels of a sample's link, unless it has labels of these keys already.
    fn link_labels(&mut self, out: &mut Vec<u8>, sample: &SampleRef, links: &Ragged<u8>) {
        let key = |id: &crate::model::id::AttributeId| {
            self.dictionary
                .attribute(*id)
                .map_or("", |attribute| self.dictionary.text(attribute.key))
        };
        let taken = sample
            .attributes
            .iter()
            .any(|id| matches!(key(id), LABEL_TRACE_ID | LABEL_SPAN_ID));
        let code = if taken {
            losses::LINK_LABEL_CONFLICT
        } else {
            losses::LINK_INVALID
        };
        if taken || !self.options.links || links.row(sample.link.row()).is_empty() {
            self.losses.add(code, || "sample.link_index".to_owned());
        } else {
            out.extend_from_slice(links.row(sample.link.row()));
        }
    }
}
