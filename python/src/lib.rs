//! The native part of the Python package `otlp_profiles`. Plain records are classes of `_records.py`, which need no
//! bindings; this crate has what holds profiles.

#![forbid(unsafe_code)]

mod content;
mod error;
mod export;
mod filters;
mod options;
mod origin;
// The page of the command, which needs nothing else of it.
#[allow(dead_code)]
#[path = "../../cli/src/view/page.rs"]
mod page;
mod profile;
mod profiles;
mod records;
mod reports;
mod source;
mod table;
mod transforms;
mod types;
mod view;

/// See `otlp_profiles`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::export::export;
    #[pymodule_export]
    use crate::profile::{Profile, Samples};
    #[pymodule_export]
    use crate::profiles::{Profiles, Reader, convert, detect, read, restore};
    #[pymodule_export]
    use crate::records::{formats, loss_codes};
    #[pymodule_export]
    use crate::reports::{diff, top, validate};
    #[pymodule_export]
    use crate::table::{Table, Tables, tables};
    #[pymodule_export]
    use crate::transforms::{filter, merge, redact, split};
    #[pymodule_export]
    use crate::view::view;
}
