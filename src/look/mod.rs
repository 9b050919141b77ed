//! Reports about profiles, for people: the hottest functions, their callers, and single stacks.
//!
//! | question | function |
//! |---|---|
//! | Where is the time or the memory spent? | [`top()`] |
//! | Who calls whom, and at what cost? | [`tree()`] |
//! | Who calls this function, and what does it call? | [`peek()`] |
//! | Which stacks were sampled? | [`traces()`] |
//!
//! Numbers, order and text are those of [pprof](https://github.com/google/pprof), except that sums do not overflow and
//! several profiles of one sample type are added up. [`Options`] set the granularity of rows, the limits on their number, and
//! the [`Filter`] of samples and frames.
//!
//! ```
//! use otlp_profiles::look::{self, Filter, Options, Pattern};
//! # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
//! let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//!
//! let mut filter = Filter::default();
//! filter.ignore = Some(Pattern::new("runtime/pprof", |name| name.starts_with("runtime/pprof")));
//! let options = Options::default().cum(true).node_count(5).filter(filter);
//! print!("{}", look::top(&profiles, &options)?);
//! # Ok::<(), otlp_profiles::Error>(())
//! ```

mod declared;
mod filter;
mod frames;
mod graph;
mod header;
mod label;
mod node;
mod options;
mod pattern;
mod report;
mod select;
mod tag;
mod text;
mod top;
mod traces;

pub use declared::drop_declared_frames;
pub use filter::Filter;
pub(crate) use graph::{Values, Weights};
pub(crate) use label::Labels;
pub use label::attribute_keys;
pub use node::Rename;
pub(crate) use node::{Frames, Nodes, Rules};
pub use options::{By, Options};
pub use pattern::Pattern;
pub use report::{Call, Header, Inline, Row, Top, Trace, Traces, Tree, TreeRow, Trimmed};
pub use tag::{TagFilter, retain_by_attributes};
pub use top::{peek, top, tree};
pub use traces::traces;
