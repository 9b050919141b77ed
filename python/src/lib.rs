//! The native part of the Python package `otlp_profiles`. Plain records are classes of `_records.py`, which need no
//! bindings; this crate has what holds profiles.

#![forbid(unsafe_code)]

mod content;
mod error;
mod export;
mod options;
mod profile;
mod profiles;
mod records;
mod reports;
mod source;
mod table;

/// See `otlp_profiles`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::export::export;
    #[pymodule_export]
    use crate::profile::{Profile, Samples};
    #[pymodule_export]
    use crate::profiles::{Profiles, Reader, convert, detect, merge, read};
    #[pymodule_export]
    use crate::records::{formats, loss_codes};
    #[pymodule_export]
    use crate::reports::{diff, top, validate};
    #[pymodule_export]
    use crate::table::{Table, Tables, tables};
}
