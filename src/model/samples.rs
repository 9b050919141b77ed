//! The samples of a profile, by column.

use crate::model::id::{AttributeId, LinkId, StackId, StringId};
use crate::model::lazy_box::LazyBox;
use crate::model::ragged::Ragged;

/// The samples of a profile, by column. A column that no sample uses is empty.
///
/// ```text
/// stack       s1    │ s2 │ s1
/// attributes  a1 a2 │    │ a1
/// link        ─     │ l1 │ ─
/// values      10    │ 20 │ 5      one for each sample type; with one sample type also none (each
/// timestamps        │    │        timestamp counts 1) or one for each timestamp
/// ```
///
/// Read column `c` of sample `row` with [`get`](Self::get), or all samples with
/// [`iter`](Self::iter); both borrow and allocate nothing. Samples keep the order of the payload.
/// Two of them may be equal except for their values: reading does not add them up.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let samples = profiles.iter().next().unwrap().samples();
/// let cpu: i64 = samples.iter().map(|sample| sample.values[1]).sum();
/// assert_eq!(cpu, 1_630_000_000);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The only column with an entry for every sample. Its length is the number of samples.
    pub(crate) stacks: Vec<StackId>,
    /// Ends with the last link, so it may be shorter than `stacks`.
    pub(crate) links: LazyBox<Vec<LinkId>>,
    pub(crate) attributes: Ragged<AttributeId>,
    /// Values in one of the shapes that [`Profile::totals`](crate::model::Profile::totals) explains.
    pub(crate) values: Ragged<i64>,
    /// Nanoseconds since 1970 in the order of the source, sorted or not.
    pub(crate) timestamps: LazyBox<Ragged<u64>>,
    /// OTEP 0239's id of the stack trace. Ends with the last id, so it may be shorter than `stacks`.
    pub(crate) stacktrace_ids: LazyBox<Vec<StringId>>,
}

/// One sample.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
/// assert_eq!(sample.values.len(), 2);
/// assert!(sample.timestamps_unix_nano.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleRef<'a> {
    /// The stack.
    /// [`Dictionary::frames`](crate::Dictionary::frames) returns its frames; [`StackId::NONE`] is a sample without a stack.
    pub stack: StackId,
    /// The attributes, which pprof calls labels; keys are unique.
    /// [`Dictionary::resolve`](crate::Dictionary::resolve) returns them with their strings.
    pub attributes: &'a [AttributeId],
    /// The span of the sample.
    /// [`LinkId::NONE`] if unset.
    pub link: LinkId,
    /// The values.
    /// One for each sample type. With one sample type, there may also be none, so that each timestamp counts 1, or
    /// one for each timestamp. [`Profile::totals`](crate::model::Profile::totals) interprets every shape.
    pub values: &'a [i64],
    /// The times of the occurrences.
    /// In nanoseconds since 1970; empty for aggregated samples.
    pub timestamps_unix_nano: &'a [u64],
    /// OTEP 0239's id of the stack trace.
    /// [`StringId::NONE`] in every other generation.
    pub stacktrace_id: StringId,
}

impl Samples {
    pub(crate) const NONE: Self = Self {
        stacks: Vec::new(),
        links: LazyBox::NONE,
        attributes: Ragged::NONE,
        values: Ragged::NONE,
        timestamps: LazyBox::NONE,
        stacktrace_ids: LazyBox::NONE,
    };

    /// Returns the number of samples.
    /// A sample with several timestamps counts once.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Returns sample `row`.
    /// `None` past the last. It takes constant time.
    ///
    /// ```
    /// # let bytes = std::fs::read("testdata/otlp-1.11-timestamped-cpu.binpb").unwrap();
    /// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
    /// let samples = profiles.iter().next().unwrap().samples();
    /// let first = samples.get(0).unwrap();
    /// assert_eq!((first.values, first.timestamps_unix_nano.len()), (&[10, 10][..], 2));
    /// assert_eq!(samples.get(samples.len()), None);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    #[inline]
    pub fn get(&self, row: usize) -> Option<SampleRef<'_>> {
        (row < self.len()).then(|| self.at(row))
    }

    /// Returns sample `row`, which must exist.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> SampleRef<'_> {
        SampleRef {
            stack: self.stacks[row],
            attributes: self.attributes.row(row),
            link: self.link(row),
            values: self.values.row(row),
            timestamps_unix_nano: self.timestamps.row(row),
            stacktrace_id: self.stacktrace_ids.get(row).copied().unwrap_or_default(),
        }
    }

    /// Returns the link of a sample; NONE past the end of the column.
    #[inline]
    pub(crate) fn link(&self, row: usize) -> LinkId {
        self.links.get(row).copied().unwrap_or_default()
    }

    /// Sets the link of `row`. No later sample may have a link, because the column ends with the last one.
    pub(crate) fn set_link(&mut self, row: usize, link: LinkId) {
        if link != LinkId::NONE {
            if self.links.capacity() == 0 {
                // If one sample has a link, most have one.
                self.links.reserve(self.stacks.capacity());
            }
            // Fills in the samples since the last link, which have no link.
            self.links.resize(row, LinkId::NONE);
            self.links.push(link);
        }
    }

    /// Adds a sample without values. Returns its row.
    pub(crate) fn push(
        &mut self,
        stack: StackId,
        attributes: &[AttributeId],
        link: LinkId,
    ) -> usize {
        let row = self.stacks.len();
        self.stacks.push(stack);
        self.attributes.push_at(row, attributes);
        self.set_link(row, link);
        row
    }
}
