//! What a profile is beyond its rows: joined sample types, expanded samples, temporality and the computed id.
//!
//! Writers of several formats derive their samples from these files.

pub(crate) mod columns;
pub(crate) mod expand_samples;
pub(crate) mod fingerprint;
pub(crate) mod temporality;
