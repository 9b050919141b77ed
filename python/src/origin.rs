//! Attributes of resources that the caller sets, because a pprof has no resource.

use otlp_profiles::Profiles;
use otlp_profiles::model::AttributeOwner;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Failure;

/// The argument `resource`. Its debug text is part of the ids of segments, and equal to that of the command.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    resource: Vec<(String, String)>,
    #[allow(dead_code)] // Of the command only.
    scope: Option<(String, Option<String>)>,
}

impl Origin {
    pub(crate) fn new(resource: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let pairs = resource.into_iter().flatten();
        let pairs = pairs.map(|(key, value)| Ok((key.extract()?, value.extract()?)));
        Ok(Self { resource: pairs.collect::<PyResult<_>>()?, scope: None })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.resource.is_empty()
    }

    /// Returns the profiles with the attributes set; `None` if there are none to set.
    pub(crate) fn set(&self, profiles: &Profiles) -> Result<Option<Profiles>, Failure> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut profiles = profiles.clone();
        profiles.edit_attributes(AttributeOwner::Resource, |resource| {
            self.resource.iter().for_each(|(key, value)| resource.set(key, value.as_str()));
        })?;
        Ok(Some(profiles))
    }
}
