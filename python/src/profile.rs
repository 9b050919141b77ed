//! `Profile` and the iterator of its samples.

use std::collections::HashMap;
use std::sync::Arc;

use otlp_profiles::model::{FrameRef, LocationId, StackId, StringId, ValueType};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::content::{Content, Place};
use crate::error::raise;
use crate::profiles::{Profiles, row_of};
use crate::records::{attributes, class, record};

/// One profile: sample types, times, attributes, and samples. Iterating yields the samples.
#[pyclass(frozen, module = "otlp_profiles")]
pub(crate) struct Profile {
    content: Arc<Content>,
    place: Place,
}

impl Profile {
    pub(crate) fn new(content: &Arc<Content>, row: usize) -> Self {
        Self { content: content.clone(), place: content.place(row) }
    }

    fn get(&self) -> &otlp_profiles::Profile {
        self.content.profile(self.place)
    }

    fn text(&self, id: StringId) -> &str {
        self.content.profiles.dictionary().text(id)
    }

    fn resource_profiles(&self) -> &otlp_profiles::model::ResourceProfiles {
        &self.content.profiles.resource_profiles()[self.place.0 as usize]
    }

    fn scope(&self) -> &otlp_profiles::model::Scope {
        self.resource_profiles().scope_profiles()[self.place.1 as usize].scope()
    }

    fn value_type<'py>(&self, py: Python<'py>, of: ValueType) -> PyResult<Bound<'py, PyAny>> {
        let temporality = of.temporality.map(|temporality| temporality.to_string());
        record(py, "ValueType", (self.text(of.name), self.text(of.unit), temporality))
    }
}

#[pymethods]
impl Profile {
    /// The profile id as 32 hex digits; None if unset.
    #[getter]
    fn profile_id(&self) -> Option<String> {
        let id = self.get().profile_id();
        (id != otlp_profiles::model::ProfileId::NONE).then(|| id.to_string())
    }

    /// The start, in nanoseconds since 1970; 0 if unknown.
    #[getter]
    fn time_unix_nano(&self) -> i128 {
        self.get().time_unix_nano()
    }

    /// The duration in nanoseconds; 0 if unknown.
    #[getter]
    fn duration_nanos(&self) -> i128 {
        self.get().duration_nanos()
    }

    /// The name and unit of each value of a sample.
    #[getter]
    fn sample_types<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.get().sample_types().iter().map(|of| self.value_type(py, *of)).collect()
    }

    /// The name of the sample type to show first; None if unset.
    #[getter]
    fn default_sample_type(&self) -> Option<&str> {
        Some(self.text(self.get().default_sample_type())).filter(|name| !name.is_empty())
    }

    /// The event that triggers samples, with its unit; None if unknown.
    #[getter]
    fn period_type<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of = self.get().period_type();
        if of.is_none() { Ok(None) } else { self.value_type(py, of).map(Some) }
    }

    /// The number of `period_type` between two samples; 0 if unknown.
    #[getter]
    fn period(&self) -> i64 {
        self.get().period()
    }

    /// The sum of all samples for each sample type.
    #[getter]
    fn sums(&self, py: Python<'_>) -> Vec<i128> {
        py.detach(|| self.get().sums())
    }

    /// The attributes of the profile.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        attributes(py, self.content.profiles.dictionary().resolve(self.get().attributes()))
    }

    /// The attributes of the resource, such as `service.name`.
    #[getter]
    fn resource_attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let resource = self.resource_profiles().resource();
        attributes(py, self.content.profiles.dictionary().resolve(resource.attributes()))
    }

    /// The attributes of the scope.
    #[getter]
    fn scope_attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        attributes(py, self.content.profiles.dictionary().resolve(self.scope().attributes()))
    }

    /// The name of the scope: the profiler.
    #[getter]
    fn scope_name(&self) -> &str {
        self.text(self.scope().name())
    }

    /// The version of the scope.
    #[getter]
    fn scope_version(&self) -> &str {
        self.text(self.scope().version())
    }

    fn __len__(&self) -> usize {
        self.get().samples().len()
    }

    fn __iter__(&self) -> Samples {
        let profile = Self { content: self.content.clone(), place: self.place };
        Samples { profile, row: 0, locations: HashMap::new(), stacks: HashMap::new(), cached: 0 }
    }

    /// Returns a sample.
    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let row = row_of(index, self.__len__(), "samples")?;
        let sample = Samples { row, ..self.__iter__() }.__next__(py)?;
        sample.ok_or_else(|| PyIndexError::new_err(index))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Profiles, Option<usize>))> {
        let get = py.import("operator")?.getattr("getitem")?;
        Ok((get, (Profiles(self.content.clone()), self.content.row(self.place))))
    }

    fn __repr__(&self) -> String {
        let of = |of: &ValueType| format!("{}:{}", self.text(of.name), self.text(of.unit));
        let types: Vec<_> = self.get().sample_types().iter().map(of).collect();
        format!("<Profile {}, {} samples>", types.join(" "), self.__len__())
    }
}

/// The most frames of one stack. A short payload can describe a stack of millions of frames: locations that occur
/// many times, each with many inlined functions.
const MAX_FRAMES: usize = 1 << 20;

/// An iterator over the samples of a profile.
#[pyclass(module = "otlp_profiles")]
pub(crate) struct Samples {
    profile: Profile,
    row: usize,
    /// Frames and stacks that occurred before: they are created once.
    locations: HashMap<LocationId, Vec<Py<PyAny>>>,
    stacks: HashMap<StackId, Py<PyTuple>>,
    /// The number of frames in `stacks`.
    cached: usize,
}

#[pymethods]
impl Samples {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __len__(&self) -> usize {
        self.profile.get().samples().len() - self.row
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let content = self.profile.content.clone();
        let (profile, dictionary) =
            (content.profile(self.profile.place), content.profiles.dictionary());
        let Some(sample) = profile.samples().get(self.row) else {
            return Ok(None);
        };
        let stack = self.stack(py, &content, sample.stack)?;
        self.row += 1;
        let totals = PyTuple::new(py, profile.totals(sample))?;
        let values = PyTuple::new(py, sample.values)?;
        let times = PyTuple::new(py, sample.timestamps_unix_nano)?;
        let attributes = attributes(py, dictionary.resolve(sample.attributes))?;
        let link = dictionary.link(sample.link);
        let (trace, span) = (hex(&link.trace_id), hex(&link.span_id));
        record(py, "Sample", (stack, totals, values, times, attributes, trace, span)).map(Some)
    }
}

impl Samples {
    fn stack<'py>(
        &mut self,
        py: Python<'py>,
        content: &Content,
        id: StackId,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if let Some(stack) = self.stacks.get(&id) {
            return Ok(stack.bind(py).clone());
        }
        let (class, frames) = (class(py, "Frame")?, PyList::empty(py));
        for location in content.profiles.dictionary().stack(id) {
            if !self.locations.contains_key(location) {
                let of = content.profiles.dictionary().location_frames(*location);
                let of: PyResult<_> = of.map(|of| Ok(frame(&class, of)?.unbind())).collect();
                self.locations.insert(*location, of?);
            }
            for frame in &self.locations[location] {
                frames.append(frame)?;
            }
            if frames.len() > MAX_FRAMES {
                let message = format!("a stack has more than {MAX_FRAMES} frames");
                let place = format!("samples[{}]", self.row);
                return Err(raise(message, "limit", &place, None, None));
            }
        }
        if self.cached > MAX_FRAMES {
            self.stacks.clear();
            self.cached = 0;
        }
        self.cached += frames.len();
        let stack = frames.to_tuple();
        self.stacks.insert(id, stack.clone().unbind());
        Ok(stack)
    }
}

fn frame<'py>(class: &Bound<'py, PyAny>, frame: FrameRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    let mapping = Some(frame.mapping_filename()).filter(|name| !name.is_empty());
    let names = (frame.name(), frame.system_name(), frame.filename());
    let lines = (frame.line(), frame.column(), frame.start_line());
    let (address, inlined) = (frame.address(), frame.is_inlined());
    class.call1((
        names.0,
        names.2,
        lines.0,
        address,
        mapping,
        inlined,
        names.1,
        lines.1,
        lines.2,
        frame.build_id(),
        frame.frame_type(),
    ))
}

/// Returns an id as hex digits; `None` if it is unset.
fn hex(id: &[u8]) -> Option<String> {
    let digits = || id.iter().map(|byte| format!("{byte:02x}")).collect();
    id.iter().any(|byte| *byte != 0).then(digits)
}
