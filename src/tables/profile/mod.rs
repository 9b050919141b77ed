//! The facts that writers derive from the rows of a profile: joined sample types, expanded samples, covered time,
//! temporality and the computed id.

pub(crate) mod columns;
pub(crate) mod covered;
pub(crate) mod expand_samples;
pub(crate) mod fingerprint;
pub(crate) mod temporality;
