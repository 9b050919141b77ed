//! What rules ask, a family a file: each function is given a message that was taken apart.

pub(crate) mod attributes;
pub(crate) mod cardinality;
pub(crate) mod conventions;
pub(crate) mod duplicates;
pub(crate) mod entries;
pub(crate) mod frames;
pub(crate) mod identity;
pub(crate) mod labels;
pub(crate) mod limits;
pub(crate) mod original;
pub(crate) mod orphans;
pub(crate) mod pprof;
pub(crate) mod pprof_rows;
pub(crate) mod pprof_samples;
pub(crate) mod readers;
pub(crate) mod regexp;
pub(crate) mod repeats;
pub(crate) mod resources;
pub(crate) mod samples;
pub(crate) mod structure;
pub(crate) mod times;
pub(crate) mod ucum;
pub(crate) mod units;
pub(crate) mod value_types;
pub(crate) mod zero;
