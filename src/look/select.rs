//! The samples of one type.

use crate::error::{Error, ErrorKind, Result};
use crate::look::label::{LabelValue, labels};
use crate::model::{Entry, Profiles, SampleType};

/// The profiles with one sample type, with the column of each and the factor that converts its values.
#[derive(Debug)]
pub(super) struct Selection<'a> {
    pub(super) columns: Vec<(Entry<'a>, usize, i128)>,
    pub(super) sample_type: SampleType<'a>,
    /// All others, each once.
    pub(super) others: Vec<SampleType<'a>>,
}

/// Selects the samples of a type, or of the default one.
///
/// # Errors
///
/// There is no profile, or no such type.
pub(super) fn select<'a>(profiles: &'a Profiles, wanted: Option<&str>) -> Result<Selection<'a>> {
    let empty = || Error::new(ErrorKind::Unrepresentable, "there is no profile to show");
    let default = profiles.default_sample_type().ok_or_else(empty)?;
    let sample_type = match wanted {
        None => default,
        Some(wanted) => profiles.find_sample_type(wanted)?,
    };
    let column = |entry: Entry<'a>| {
        let (column, factor) = sample_type.column(entry.profile(), entry.dictionary())?;
        Some((entry, column, factor))
    };
    let columns = profiles.entries().filter_map(column).collect();
    let mut others = profiles.sample_types();
    others.retain(|of| !of.converts_to(sample_type));
    Ok(Selection { columns, sample_type, others })
}

impl Selection<'_> {
    /// The sum of absolute values, of samples with the label `pprof::base` only if there are any; in a mean, divided by
    /// the sum of the first column.
    pub(super) fn total(&self, mean: bool) -> i128 {
        let (mut all, mut base) = ((0, 0), (0, 0));
        let Some((first, ..)) = self.columns.first() else { return 0 };
        let dictionary = first.dictionary();
        let is_base: Vec<bool> = (dictionary.attributes().iter())
            .map(|row| dictionary.text(row.key) == "pprof::base")
            .collect();
        for (entry, column, factor) in &self.columns {
            for sample in entry.profile().samples() {
                let value = factor * i128::from(entry.profile().total(sample, *column)).abs();
                let divisor = if mean { entry.profile().total(sample, 0).into() } else { 0 };
                all = (all.0 + value, all.1 + divisor);
                let labelled = sample.attributes.iter().any(|id| is_base[id.row()]);
                if labelled
                    && labels(dictionary, &sample).iter().any(|label| {
                        let LabelValue::Text(text) = &label.value else { return false };
                        (label.key, &**text) == ("pprof::base", "true")
                    })
                {
                    base = (base.0 + value, base.1 + divisor);
                }
            }
        }
        // As in pprof, the total of a difference is that of its base.
        let (total, divisor) = if base.0 > 0 { base } else { all };
        if divisor == 0 { total } else { total / divisor }
    }
}
