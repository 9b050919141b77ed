//! Edits the attributes of all owners of one kind: all resources, all samples, and so on.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::model::dictionary::Dictionary;
use crate::model::edit::attributes::{AttributesMut, List};
use crate::model::edit::entities;
use crate::model::edit::new_rows::{NewRows, at_most};
use crate::model::edit::walk::{profiles_of, scopes_of};
use crate::model::id::{AttributeId, StringId};
use crate::model::profiles::{Profiles, Resource};
use crate::model::ragged::Ragged;
use crate::model::value::KeyValue;

/// The kinds of items that have attributes.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// use otlp_profiles::model::AttributeOwner;
///
/// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
/// for owner in AttributeOwner::ALL {
///     profiles.edit_attributes(owner, |attributes| {
///         attributes.remove("user.email");
///     })?;
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeOwner {
    /// A resource: the profiled entity.
    Resource,
    /// A scope: the instrumentation.
    Scope,
    /// A profile.
    Profile,
    /// A sample. pprof calls its attributes labels.
    Sample,
    /// A location.
    Location,
    /// A mapping.
    Mapping,
}

impl AttributeOwner {
    /// All kinds, from the outermost to the innermost.
    ///
    /// ```
    /// use otlp_profiles::model::AttributeOwner;
    /// assert_eq!(AttributeOwner::ALL[0], AttributeOwner::Resource);
    /// ```
    pub const ALL: [Self; 6] =
        [Self::Resource, Self::Scope, Self::Profile, Self::Sample, Self::Location, Self::Mapping];
}

impl Profiles {
    /// Edits the attributes of every item of one kind, such as every resource or every sample.
    ///
    /// Everything else stays unchanged. Entities of a resource follow its attributes: they use the new key of a
    /// renamed attribute, and disappear with the last attribute that identifies them. Samples that become equal are
    /// not added up.
    ///
    /// Remove a label:
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// use otlp_profiles::model::AttributeOwner;
    ///
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.edit_attributes(AttributeOwner::Sample, |labels| {
    ///     labels.remove("endpoint");
    /// })?;
    /// profiles.compact(); // Remove the string, too.
    /// assert!(profiles.dictionary().strings().iter().all(|text| text != "endpoint"));
    /// # Ok(()) }
    /// ```
    ///
    /// Set the name of the service, and hide the users:
    ///
    /// ```
    /// # fn main() -> otlp_profiles::Result<()> {
    /// # let profile = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    /// use otlp_profiles::model::AttributeOwner;
    ///
    /// let mut profiles = otlp_profiles::read(&profile, &Default::default())?.profiles;
    /// profiles.edit_attributes(AttributeOwner::Resource, |resource| {
    ///     resource.set("service.name", "checkout");
    /// })?;
    /// profiles.edit_attributes(AttributeOwner::Sample, |labels| {
    ///     if labels.get("user.email").is_some() {
    ///         labels.set("user.email", "redacted");
    ///     }
    /// })?;
    /// profiles.compact();
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if a table would exceed its maximum of 4 GiB of strings or 2³¹
    /// rows. In this case only part of the edit is done.
    pub fn edit_attributes(
        &mut self,
        owner: AttributeOwner,
        mut edit: impl FnMut(&mut AttributesMut<'_>),
    ) -> Result<()> {
        let mut editor = Editor {
            dictionary: &mut self.dictionary,
            new: NewRows::default(),
            failed: None,
            edit: &mut edit,
        };
        let resources = &mut self.resources[..];
        match owner {
            AttributeOwner::Resource => {
                resources.iter_mut().for_each(|one| editor.resource(&mut one.resource));
            }
            AttributeOwner::Scope => scopes_of(resources).for_each(|one| {
                editor.pairs(&mut one.scope.attributes);
            }),
            AttributeOwner::Profile => {
                profiles_of(resources).for_each(|one| editor.rows(&mut one.attributes));
            }
            AttributeOwner::Sample => {
                profiles_of(resources).for_each(|one| {
                    editor.column(0..one.samples.len(), &mut one.samples.attributes);
                });
            }
            AttributeOwner::Location => editor.locations(),
            AttributeOwner::Mapping => editor.mappings(),
        }
        editor.failed.map_or(Ok(()), Err)
    }
}

/// The state of one call of [`Profiles::edit_attributes`].
struct Editor<'a> {
    dictionary: &'a mut Dictionary,
    new: NewRows,
    /// The first error.
    failed: Option<Error>,
    edit: &'a mut dyn FnMut(&mut AttributesMut<'_>),
}

impl Editor<'_> {
    /// Runs the caller's edit on one list.
    fn list(&mut self, list: &mut List) {
        let mut attributes = AttributesMut {
            list,
            dictionary: self.dictionary,
            new: &mut self.new,
            failed: &mut self.failed,
        };
        (self.edit)(&mut attributes);
    }

    /// Edits a list of rows, as in profiles and samples.
    fn rows(&mut self, rows: &mut Vec<AttributeId>) {
        let mut list = List::Rows(std::mem::take(rows));
        self.list(&mut list);
        if let List::Rows(edited) = list {
            *rows = edited;
        }
    }

    /// Edits pairs. Returns their keys before and after the edit.
    fn pairs(&mut self, pairs: &mut Vec<KeyValue>) -> entities::Keys {
        let old: Vec<StringId> = pairs.iter().map(|pair| pair.key).collect();
        let mut list = List::Pairs { pairs: std::mem::take(pairs), old: old.clone() };
        self.list(&mut list);
        let mut kept = Vec::new();
        if let List::Pairs { pairs: edited, old } = list {
            kept = old.into_iter().zip(edited.iter().map(|pair| pair.key)).collect();
            *pairs = edited;
        }
        entities::Keys { old, kept }
    }

    /// Edits a resource and updates its entities.
    fn resource(&mut self, resource: &mut Resource) {
        let keys = self.pairs(&mut resource.attributes);
        entities::follow(&mut resource.entity_refs, &keys, &self.dictionary.strings);
    }

    /// Edits rows of a column of lists.
    fn column(&mut self, rows: Range<usize>, column: &mut Ragged<AttributeId>) {
        let (mut edited, mut list, mut changed) = (Ragged::default(), Vec::new(), false);
        for row in rows {
            list.clear();
            list.extend_from_slice(column.row(row));
            self.rows(&mut list);
            let items = edited.items.len() + list.len();
            if let Err(error) = at_most(u32::MAX as usize, items, "references to attributes") {
                // The edited rows are dropped, so the column keeps its state.
                self.failed.get_or_insert(error);
                return;
            }
            changed |= list != column.row(row);
            edited.push_at(row, &list);
        }
        if changed {
            *column = edited;
        }
    }

    /// Edits the attributes of all locations. Row 0 is not a location and stays empty.
    fn locations(&mut self) {
        let rows = 1..self.dictionary.locations.len();
        let mut column = std::mem::take(&mut self.dictionary.locations.attributes);
        self.column(rows, &mut column);
        self.dictionary.locations.attributes = column;
    }

    /// Edits the attributes of all mappings. Row 0 is not a mapping and stays empty.
    fn mappings(&mut self) {
        let rows = 1..self.dictionary.mappings.rows.len();
        let mut column = std::mem::take(&mut self.dictionary.mappings.attributes);
        self.column(rows, &mut column);
        self.dictionary.mappings.attributes = column;
    }
}
