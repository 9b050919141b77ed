//! Records: instances of the classes of `_records.py`, and values of attributes.

use otlp_profiles::losses::{LossCode, Losses};
use otlp_profiles::model::{Attributes, Value, ValueRef};
use otlp_profiles::{Format, ReadFinding};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Returns a class of `_records.py`.
pub(crate) fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("otlp_profiles._records")?.getattr(name)
}

/// Creates an instance of a class of `_records.py`.
pub(crate) fn record<'py>(
    py: Python<'py>,
    name: &str,
    fields: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    class(py, name)?.call1(fields)
}

/// Lists all formats, for `FORMATS`.
#[pyfunction]
pub(crate) fn formats(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let format = |format: &Format| {
        let (aliases, extensions) = (format.aliases().to_vec(), format.extensions().to_vec());
        let can = (format.can_read(), format.can_write());
        record(py, "Format", (format.name(), format.about(), can.0, can.1, aliases, extensions))
    };
    Format::ALL.iter().map(format).collect()
}

/// Lists all loss codes, for `LOSS_CODES`.
#[pyfunction]
pub(crate) fn loss_codes(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let code = |code: &LossCode| {
        record(py, "LossCode", (code.as_str(), code.kind().to_string(), code.meaning()))
    };
    LossCode::ALL.iter().map(code).collect()
}

/// Formats rows for a notebook.
pub(crate) fn html<'py>(
    py: Python<'py>,
    table: impl PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    class(py, "_html")?.call1(table)
}

pub(crate) fn losses<'py>(py: Python<'py>, losses: &Losses) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for loss in losses {
        let (kind, meaning) = (loss.code.kind().to_string(), loss.code.meaning());
        let first = loss.first.clone();
        list.append(record(py, "Loss", (loss.code.as_str(), kind, loss.count, meaning, first))?)?;
    }
    Ok(list)
}

/// Repairs and remarks of a read, as findings.
pub(crate) fn findings<'py>(
    py: Python<'py>,
    findings: &[ReadFinding],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for finding in findings {
        let ReadFinding { severity, code, count, place, message, .. } = finding;
        let fields = (*code, place, message, severity.to_string(), None::<u64>, *count);
        list.append(record(py, "Finding", fields)?)?;
    }
    Ok(list)
}

/// Creates an `Attributes`: a dictionary of the first value of each key, and the list of all.
pub(crate) fn attributes<'py>(
    py: Python<'py>,
    attributes: Attributes<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = class(py, "Attribute")?;
    let list = PyList::empty(py);
    for attribute in attributes.iter() {
        list.append(class.call1((attribute.key, value(py, attribute.value)?, attribute.unit))?)?;
    }
    record(py, "Attributes", (list,))
}

/// Converts the value of an attribute. Recursion ends at the nesting limit of the reader.
fn value<'py>(py: Python<'py>, value: ValueRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.value() {
        Value::String(_) => value.as_str().into_pyobject(py)?.into_any(),
        Value::Bool(bool) => bool.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Double(number) => number.into_pyobject(py)?.into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Array(_) => {
            let list = PyList::empty(py);
            for item in value.items() {
                list.append(self::value(py, item)?)?;
            }
            list.into_any()
        }
        Value::KeyValues(_) => {
            let dict = PyDict::new(py);
            for pair in value.pairs() {
                dict.set_item(pair.key, self::value(py, pair.value)?)?;
            }
            dict.into_any()
        }
        // An attribute without a value, and kinds that later releases of the library add.
        _ => py.None().into_bound(py),
    })
}
