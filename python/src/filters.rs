//! Filters by keyword, named as the options of the command.

use std::ffi::CString;

use otlp_profiles::Profiles;
use otlp_profiles::look::{Filter, Pattern, TagFilter, drop_declared_frames};
use otlp_profiles::transform::Caution;
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use regex::Regex;

use crate::error::Failure;

/// What `**filters` of a function selects.
#[derive(Default)]
pub(crate) struct Filters {
    filter: Filter,
    /// Whether frames stay that the profiles declare to be of no interest.
    all_frames: bool,
}

const NAMES: &str = "focus, ignore, hide, show, show_from, prune_from, tagfocus, tagignore, tagshow, taghide, tagroot, \
                     tagleaf, all_frames";

impl Filters {
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut new = Self::default();
        for (name, value) in given.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
            let (name, filter) = (name.extract::<String>()?, &mut new.filter);
            let pattern = || pattern(&name, value.extract()?);
            let tag = || TagFilter::parse(value.extract()?, |text| self::pattern(&name, text));
            match name.as_str() {
                "focus" => filter.focus = Some(pattern()?),
                "ignore" => filter.ignore = Some(pattern()?),
                "hide" => filter.hide = Some(pattern()?),
                "show" => filter.show = Some(pattern()?),
                "show_from" => filter.show_from = Some(pattern()?),
                "prune_from" => filter.prune_from = Some(pattern()?),
                "tagshow" => filter.tag_show = Some(pattern()?),
                "taghide" => filter.tag_hide = Some(pattern()?),
                "tagfocus" => filter.tag_focus = Some(tag()?),
                "tagignore" => filter.tag_ignore = Some(tag()?),
                "tagroot" => filter.tag_root = texts(&value)?,
                "tagleaf" => filter.tag_leaf = texts(&value)?,
                "all_frames" => new.all_frames = value.extract()?,
                _ => {
                    let message = format!("unexpected argument {name:?}; the filters are {NAMES}");
                    return Err(PyTypeError::new_err(message));
                }
            }
        }
        Ok(new)
    }

    /// Returns the filter, without the frames that the profiles declare to be of no interest.
    pub(crate) fn filter(&self) -> Filter {
        self.filter.clone()
    }

    /// Drops the frames that the profiles declare to be of no interest.
    pub(crate) fn drop_declared(&self, profiles: &mut Profiles) -> Result<(), Failure> {
        let compile = |text: &str| compile(text).map_err(|error| error.to_string());
        if !self.all_frames {
            drop_declared_frames(profiles, compile)
                .map_err(|error| Failure::Frames(error.message().to_owned()))?;
        }
        Ok(())
    }

    /// Filters profiles. Returns the names of filters without a match.
    pub(crate) fn apply(&self, profiles: &mut Profiles) -> Result<Vec<&'static str>, Failure> {
        self.drop_declared(profiles)?;
        Ok(self.filter.apply(profiles)?)
    }
}

/// Warns of filters that match nothing.
pub(crate) fn warn(py: Python<'_>, unmatched: &[&str]) -> PyResult<()> {
    if unmatched.is_empty() {
        return Ok(());
    }
    let message = format!("no sample matches {}\0", unmatched.join(", "));
    let message = std::ffi::CStr::from_bytes_with_nul(message.as_bytes()).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), message, 1)
}

/// Warns of what a report leaves out.
pub(crate) fn warn_of(py: Python<'_>, cautions: &[Caution]) -> PyResult<()> {
    for caution in cautions {
        let message = CString::new(caution.to_string().replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    Ok(())
}

fn compile(text: &str) -> Result<Pattern, regex::Error> {
    let regex = Regex::new(text)?;
    Ok(Pattern::new(text, move |name| regex.is_match(name)))
}

/// Compiles the regular expression of an argument.
pub(crate) fn pattern(argument: &str, text: &str) -> PyResult<Pattern> {
    compile(text).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        PyValueError::new_err(format!("{argument} is not a regular expression: {last}: {text:?}"))
    })
}

/// One text, or several.
pub(crate) fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match value.extract::<String>() {
        Ok(text) => Ok(vec![text]),
        Err(_) => value.extract(),
    }
}
