//! The format-independent model: OTLP's current data model, stored by column.
//!
//! # Reading
//!
//! | what | where |
//! |---|---|
//! | profiles | `for profile in &profiles`, or [`Profiles::entries`] with resource and scope |
//! | samples | `for sample in profile.samples()` |
//! | values | [`Profile::totals`], [`Profile::observations`], [`Profile::sums`] |
//! | frames | [`Dictionary::frames`], the leaf first, `.rev()` the root first |
//! | attributes | [`Dictionary::resolve`] for each item that has attributes, then [`Attributes::get`] |
//! | times | [`Profile::time`], [`Profile::duration`], [`SampleRef::times`] |
//!
//! Print the folded stack and the value of every sample:
//!
//! ```
//! # fn main() -> otlp_profiles::Result<()> {
//! # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
//! let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! for profile in &profiles {
//!     for sample in profile.samples() {
//!         let frames = profiles.dictionary().frames(sample.stack).rev();
//!         let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
//!         let totals: Vec<i64> = profile.totals(sample).collect();
//!         println!("{} {totals:?}", names.join(";"));
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Editing
//!
//! | task | method |
//! |---|---|
//! | filter | [`Profiles::retain_resources`], [`retain_profiles`](Profiles::retain_profiles), [`retain_sample_types`](Profiles::retain_sample_types), [`retain_samples`](Profiles::retain_samples) |
//! | set, rename or remove attributes | [`Profiles::edit_attributes`] |
//! | rewrite names of functions, files, sample types, scopes | [`Profiles::rewrite_strings`] |
//!
//! An edit changes only what its name states. It takes time linear in the size of the profiles.
//!
//! Unreferenced rows stay in the tables and are written until you call [`Profiles::compact`]: call it once, at the end.
//! Edits keep the ids of profiles. They also keep the original payloads that producers attached, unedited, until
//! you call [`Profiles::drop_original_payloads`].
//!
//! Keep the profiles of one service, remove a label, and rename functions:
//!
//! ```
//! # fn main() -> otlp_profiles::Result<()> {
//! # let bytes = std::fs::read("testdata/otlp-1.11-aggregated-cpu.binpb").unwrap();
//! use otlp_profiles::model::{AttributeOwner, StringField};
//!
//! let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! profiles.retain_resources(|resource| resource.get_str("service.name") == Some("checkout"));
//! profiles.edit_attributes(AttributeOwner::Sample, |labels| {
//!     labels.remove("session.id");
//! })?;
//! profiles.rewrite_strings(&[StringField::FunctionName], |name| Some(name.split("::h").next()?.to_owned()))?;
//! profiles.compact();
//! # Ok(()) }
//! ```

mod attributes;
mod counts;
pub(crate) mod dictionary;
mod edit;
mod entries;
pub(crate) mod event_form;
mod frames;
pub(crate) mod id;
pub(crate) mod lazy_box;
pub(crate) mod measures;
pub(crate) mod order;
pub(crate) mod profile;
pub(crate) mod profiles;
pub(crate) mod ragged;
pub(crate) mod row_index;
pub(crate) mod sample_types;
pub(crate) mod samples;
pub(crate) mod strings;
mod time;
pub(crate) mod value;
mod value_ref;

pub use attributes::{AttributeList, Attributes};
pub use dictionary::{Attribute, Dictionary, Function, Line, Link, Locations, Mapping, Mappings};
pub use edit::{AttributeOwner, AttributesMut, Scalar, StringField};
pub use entries::{Entry, ProfileIter, SampleIter};
pub use frames::FrameRef;
pub use id::{AttributeId, FunctionId, LinkId, LocationId, MappingId, StackId, StringId};
pub use profile::{AggregationTemporality, Profile, ProfileId, ValueType};
pub use profiles::{EntityRef, Profiles, Resource, ResourceProfiles, Scope, ScopeProfiles};
pub(crate) use profiles::{ResourceParts, ScopeParts};
pub use ragged::Ragged;
pub use sample_types::SampleType;
pub use samples::{SampleRef, Samples};
pub use strings::Strings;
pub use value::{KeyValue, Value};
pub use value_ref::{AttributeRef, ValueRef};
