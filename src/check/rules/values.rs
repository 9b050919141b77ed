//! The values of samples, their sums, and the rules about both.

use super::*;
use crate::check::canonical::Place;
use crate::check::sink::Sink;
use crate::wire::read::Reader;
use crate::wire::write::varint_len;

/// Cell of the values of a sample.
const VALUES: usize = SAMPLE.cell("values");
/// Cell of the samples of a profile.
const SAMPLES: usize = PROFILE.cell("samples");

/// The values of a sample, summed up.
///
/// Two bit sets keep the loop over values free of branches: `bits` is empty if all values are 0, `not_one` if all
/// are 1.
#[derive(Clone, Copy, Default)]
pub(super) struct Values {
    pub(super) count: usize,
    pub(super) sum: i128,
    /// Bits set in any value.
    bits: u64,
    /// Bits in which any value differs from 1.
    not_one: u64,
}

impl Values {
    // Always inlined. Without any in the library, validating takes up to 28 % more instructions.
    #[inline(always)]
    pub(super) fn of(values: impl Iterator<Item = u64>) -> Self {
        values.fold(Self::default(), Self::and)
    }

    /// These values and one more.
    #[inline(always)]
    pub(super) fn and(self, value: u64) -> Self {
        Self {
            count: self.count + 1,
            sum: self.sum + i128::from(value as i64),
            bits: self.bits | value,
            not_one: self.not_one | (value ^ 1),
        }
    }

    /// Whether all values are 1. True without values.
    pub(super) fn are_one(self) -> bool {
        self.not_one == 0
    }

    /// Reports the first negative value.
    #[inline(always)]
    pub(super) fn rules(self, cx: &mut CheckContext<'_>, out: &impl Sink) -> Option<()> {
        // The sign bit is set if any value has it.
        if (self.bits as i64) < 0 {
            out.found(cx, |cx, at| {
                let mut values = cx.numbers(at, VALUES).map(|value| value as i64).enumerate();
                if let Some((row, value)) = values.find(|(_, value)| *value < 0) {
                    let spot = cx.element(&OP4016, at, VALUES, row);
                    cx.report(&OP4016, spot, value, "");
                }
            })?;
        }
        Some(())
    }

    /// Reports values that are all 0. Profilers write many such samples, so this does not end canonical decoding.
    #[inline(always)]
    pub(super) fn note(self, cx: &mut CheckContext<'_>, place: impl Place) {
        if self.bits == 0 && self.count > 0 && cx.check_zero_values {
            cx.tell(&OP4019, place, "", "");
        }
    }
}

/// Adds values to the sums of their columns.
#[inline(always)]
pub(super) fn add_up(cx: &mut CheckContext<'_>, values: impl Iterator<Item = i64>) {
    for (column, value) in values.enumerate() {
        match cx.profile.sums.get_mut(column) {
            Some(sum) => *sum += i128::from(value),
            // Columns past the sample types have no sum.
            None if column < cx.profile.types.max(1) => cx.profile.sums.push(value.into()),
            None => {}
        }
    }
}

/// The values of a canonical sample before 1.8 or of pprof, one per column.
#[derive(Clone, Copy, Default)]
pub(super) struct Columns {
    values: [i64; Self::MOST],
    count: usize,
}

impl Columns {
    /// Samples with more columns are walked. Go's heap profiles have four.
    const MOST: usize = 8;

    /// Decodes a packed field of shortest-form varints, one for each sample type.
    ///
    /// Fails for the first sample of a profile, which the walk decodes: that adds the sums.
    #[inline(always)]
    pub(super) fn canonical(cx: &CheckContext<'_>, (start, end): (usize, usize)) -> Option<Self> {
        let mut found = Self::default();
        let mut rest = Reader::within(cx.bytes, start, end);
        while rest.left() > 0 {
            let before = rest.left();
            let value = rest.varint().ok()?;
            let length = before - rest.left();
            (length == 1 || length == varint_len(value)).then_some(())?;
            *found.values.get_mut(found.count)? = value as i64;
            found.count += 1;
        }
        (found.count > 0 && found.count == cx.profile.sums.len()).then_some(found)
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = i64> {
        self.values.iter().take(self.count).copied()
    }
}

/// Reports a profile whose values became attribute indices: no sample has values, and indices dangle.
fn misread(cx: &mut CheckContext<'_>, record: &Record) {
    let dangles = cx.findings.tally(&OP3102) > cx.profile.dangling_before;
    if dangles && cx.profile.sums.is_empty() {
        let found = Counted(record.count(SAMPLES), "sample");
        cx.report(&OP4026, Position::at(record.start), found, "");
    }
}

/// Reports sums of a profile that do not fit into 64 bits, after its samples were walked.
///
/// Only the final sum counts: an intermediate overflow may cancel out, depending on the order of the samples. Also
/// reports a hint if each value is 1 and each sample has timestamps: the values could have been omitted.
pub(crate) fn after(cx: &mut CheckContext<'_>, record: &Record) {
    let rule = if cx.version == Version::Pprof { &PP1039 } else { &OP4017 };
    for column in 0..cx.profile.sums.len() {
        let sum = cx.profile.sums.get(column).copied().unwrap_or_default();
        if i64::try_from(sum).is_err() {
            let found = format_args!("column {column} adds up to {sum}").to_string();
            cx.report(rule, record.field(SAMPLES), found, "");
        }
    }
    if cx.version >= Version::V1_10 {
        misread(cx, record);
    }
    if cx.profile.ones && cx.profile.shape == Some((true, true)) {
        cx.report(&OP9103, Position::at(record.start), "", "");
    }
}
