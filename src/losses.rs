//! The losses of a conversion: data that was dropped, changed or chosen by a rule.
//!
//! ```
//! use otlp_profiles::losses::{LossCode, LossKind};
//!
//! let dropped = LossCode::ALL.iter().filter(|code| code.kind() == LossKind::Dropped);
//! assert!(dropped.clone().any(|code| code.as_str() == "link.dropped"));
//! ```

mod codes;

pub(crate) use codes::*;
pub use codes::{LossCode, LossKind};

use std::fmt;

#[cfg(feature = "serde")]
use serde::ser::SerializeStruct;

/// How faithful a conversion was.
///
/// ```
/// use otlp_profiles::{Format, Verdict, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// let verdict = |format| write(&profiles, format, &WriteOptions::default()).map(|w| w.losses.verdict());
/// assert_eq!(verdict(Format::PPROF)?, Verdict::Exact);
/// assert_eq!(verdict(Format::SPEEDSCOPE)?, Verdict::Lossy);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Verdict {
    /// No losses.
    Exact,
    /// The meaning is the same: only notes and synthesized values.
    Semantic,
    /// A value was approximated, dropped or rejected.
    Lossy,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact",
            Self::Semantic => "semantic",
            Self::Lossy => "lossy",
        })
    }
}

/// One kind of loss, with its count and first places.
/// Displays as `dropped 56 × mapping.dropped (mapping_table[1])`.
///
/// ```
/// use otlp_profiles::{Format, WriteOptions, read, write};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let profiles = read(&bytes, &Default::default())?.profiles;
/// for loss in write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default())?.losses.iter() {
///     assert!(loss.count > 0 && loss.first.len() <= 3);
///     println!("{} × {}: {}", loss.count, loss.code, loss.code.meaning());
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The kind of loss.
    pub code: LossCode,
    /// The number of occurrences.
    pub count: u64,
    /// The places of the first occurrences, at most three.
    /// They use the names of the schema, like [`Error::place`](crate::Error::place).
    pub first: Vec<String>,
}

/// Serializes the `kind` and the `meaning` of the code as well.
#[cfg(feature = "serde")]
impl serde::Serialize for Loss {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Loss", 5)?;
        object.serialize_field("kind", &self.code.kind())?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("count", &self.count)?;
        object.serialize_field("meaning", self.code.meaning())?;
        object.serialize_field("first", &self.first)?;
        object.end()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} × {}", self.code.kind(), self.count, self.code)?;
        if !self.first.is_empty() {
            write!(f, " ({})", self.first.join(", "))?;
        }
        Ok(())
    }
}

/// The losses of a conversion. Every value that was dropped, guessed or changed has an entry here.
///
/// Its size depends on the number of codes, not on the number of occurrences.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// use otlp_profiles::{Format, Verdict};
///
/// let pprof = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let reading = otlp_profiles::read(&pprof, &Default::default())?;
/// let written = otlp_profiles::write(&reading.profiles, Format::OTLP, &Default::default())?;
/// assert!(written.losses.verdict() <= Verdict::Semantic, "{:?}", written.losses);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
#[must_use = "a loss nobody reads is silent"]
pub struct Losses {
    entries: Vec<Loss>,
}

impl<'a> IntoIterator for &'a Losses {
    type Item = &'a Loss;
    type IntoIter = std::slice::Iter<'a, Loss>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}

impl Losses {
    /// Iterates over the entries, the worst kind first, then by code.
    /// Each displays as one line for a log.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Loss> {
        self.entries.iter()
    }

    /// Returns the number of distinct codes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no losses. If so, the [verdict](Self::verdict) is [`Verdict::Exact`].
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how faithful the conversion was. The worst entry determines it.
    pub fn verdict(&self) -> Verdict {
        match self.entries.first() {
            None => Verdict::Exact,
            Some(worst) if worst.code.kind() <= LossKind::Synthesized => Verdict::Semantic,
            Some(_) => Verdict::Lossy,
        }
    }

    /// Returns the entry of a code, such as `temporality.dropped`, if it occurred.
    ///
    /// ```
    /// use otlp_profiles::{Format, WriteOptions, read, write};
    /// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    /// let profiles = read(&bytes, &Default::default())?.profiles;
    /// let losses = write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default())?.losses;
    /// assert!(losses.get("mapping.dropped").unwrap().count > 0);
    /// assert_eq!(losses.get("temporality.dropped"), None);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn get(&self, code: &str) -> Option<&Loss> {
        self.entries.iter().find(|loss| loss.code.as_str() == code)
    }

    /// Adds one loss of `code` at `place`.
    pub(crate) fn add(&mut self, code: LossCode, place: impl FnOnce() -> String) {
        self.add_many(code, 1, place);
    }

    /// Adds `count` losses of `code`, the first of them at `place`.
    ///
    /// For programs that filter data between reading and writing and report all losses together.
    ///
    /// ```
    /// use otlp_profiles::losses::{LossCode, Losses};
    ///
    /// let mut losses = Losses::default();
    /// let left_out: LossCode = "sample_type.left_out".parse()?;
    /// losses.add_many(left_out, 2, || "alloc_space:bytes".to_owned());
    /// assert_eq!(losses.get("sample_type.left_out").unwrap().count, 2);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn add_many(&mut self, code: LossCode, count: u64, place: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let key = |code: LossCode| (std::cmp::Reverse(code.kind()), code.as_str());
        let at = match self.entries.binary_search_by_key(&key(code), |loss| key(loss.code)) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, Loss { code, count: 0, first: Vec::new() });
                at
            }
        };
        let loss = &mut self.entries[at];
        loss.count += count;
        if loss.first.len() < 3 {
            let place = cut(place());
            if !place.is_empty() && !loss.first.contains(&place) {
                loss.first.push(place);
            }
        }
    }

    /// Adds the losses of another conversion.
    ///
    /// For programs that convert several payloads and report once.
    ///
    /// ```
    /// use otlp_profiles::losses::Losses;
    /// let mut all = Losses::default();
    /// all.merge(&Losses::default());
    /// assert!(all.is_empty());
    /// ```
    pub fn merge(&mut self, other: &Losses) {
        for loss in other.iter() {
            let mut places = loss.first.iter();
            self.add_many(loss.code, loss.count, || places.next().cloned().unwrap_or_default());
        }
    }
}

/// The maximum length of a place in characters.
const PLACE: usize = 1_000;

/// Shortens a place, which may contain a long name from the payload.
fn cut(mut place: String) -> String {
    if let Some((end, _)) = place.char_indices().nth(PLACE) {
        place.truncate(end);
        place.push('…');
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_and_sorted() {
        let mut losses = Losses::default();
        assert_eq!(losses.verdict(), Verdict::Exact);
        losses.add(IDS_RENUMBERED, String::new);
        assert_eq!(losses.verdict(), Verdict::Semantic);
        for row in 0..5 {
            losses.add(TEMPORALITY_DROPPED, || format!("profiles[{row}]"));
        }
        losses.add(ATTR_BOOL, String::new);
        assert_eq!(losses.verdict(), Verdict::Lossy);
        let codes: Vec<_> = losses.iter().map(|loss| (loss.code.as_str(), loss.count)).collect();
        assert_eq!(
            codes,
            [("temporality.dropped", 5), ("attr.type_bool", 1), ("ids.renumbered", 1)]
        );
        assert_eq!(losses.get("temporality.dropped").unwrap().first.len(), 3);
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = LossCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), LossCode::ALL.len());
    }
}
