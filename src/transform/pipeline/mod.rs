//! Pipelines: profiles walk through stages one by one.
//!
//! ```text
//! Profiles ─► Item ─► Stage ─► Stage ─► … ─► Published
//!   divided into profiles; │  a stage may hold, drop or combine them
//!   columns stay together  └─ flush: what it held enters the next stage
//! ```

mod aggregator;
mod arithmetic;
mod chain;
mod change;
mod grouping;
mod item;
mod stage;
mod target;
mod unit_conversion;

pub use aggregator::AggregatorOptions;
pub use chain::{Pipeline, Published};
pub use change::RateOptions;
pub use grouping::Keep;
pub use stage::Stage;
pub use target::Target;
