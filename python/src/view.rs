//! `view`: profiles as a page for a browser, by the code of the command.

use otlp_profiles::compression::{Level, deflate_in_parallel};
use otlp_profiles::transform::{sort_stacks, totals};
use otlp_profiles::{Format, Profiles, WriteOptions, write};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::content::Content;
use crate::error::Failure;
use crate::filters::{Filters, warn, warn_of};
use crate::options::{LimitsArg, Options};
use crate::page::{Embedded, Page};
use crate::profiles::each;

/// Returns an HTML page that shows profiles in a browser: `otlp-profiles view`. It refers to no other file.
///
/// `base` has sources to compare with. The filters are those of `filter`.
#[pyfunction]
#[pyo3(signature = (sources, *, base=None, sample_type=None, limits=None, **filters))]
pub(crate) fn view(
    py: Python<'_>,
    sources: &Bound<'_, PyAny>,
    base: Option<&Bound<'_, PyAny>>,
    sample_type: Option<String>,
    limits: Option<LimitsArg>,
    filters: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let (given, options) = (Filters::new(filters)?, Options::limited(limits)?);
    let is_filtered = filters.is_some();
    let mut page = Page::default();
    let mut unmatched = Vec::new();
    for (sources, is_base) in base.map(|base| (base, true)).into_iter().chain([(sources, false)]) {
        for source in each(sources)? {
            let source = source?;
            page.messages.push(py.detach(|| -> Result<_, Failure> {
                let content = source.load(&options)?;
                let mut profiles = content.profiles.clone();
                if is_filtered {
                    unmatched.extend(given.apply(&mut profiles)?);
                    profiles.compact();
                }
                embedded(profiles, &content, is_base)
            })?);
        }
    }
    warn(py, &unmatched)?;
    let cautions = py.detach(|| page.choose(sample_type.as_deref())).map_err(Failure::from)?;
    warn_of(py, &cautions)?;
    Ok(py.detach(|| page.document()))
}

fn embedded(mut profiles: Profiles, content: &Content, is_base: bool) -> Result<Embedded, Failure> {
    sort_stacks(&mut profiles);
    let written = write(&profiles, Format::OTLP_1_10, &WriteOptions::default())?;
    let losses = content.losses.iter().chain(written.losses.iter());
    let losses: Vec<_> = losses.map(ToString::to_string).collect();
    let detected = content.detected.as_ref();
    let about = json!({
        "file": if content.input.is_empty() { "profiles" } else { &content.input },
        "base": is_base,
        "format": detected.map_or("merged".to_owned(), |of| of.format.to_string()),
        "certainty": detected.map_or(String::new(), |of| of.certainty.to_string()),
        "evidence": detected.map_or(&[][..], |of| &of.evidence),
        "findings": content.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "losses": losses,
        "bytes": written.payload.len(),
    });
    let (totals, gzip) = (totals(&profiles), deflate_in_parallel(&written.payload, Level::BEST));
    Ok(Embedded { about, gzip, totals })
}
