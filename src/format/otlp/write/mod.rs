//! Writer of OTLP payloads: resources, scopes and profiles; `tables::write` and [`samples`] write the rest.
//!
//! A payload is written in one pass, front to back. Early fields refer to later ones, so the numbers of rows
//! are determined before the first byte: which attributes are rows and which are fields (`attributes_to_fields`), which
//! strings are in the table (`tables::write`), where stacks are in the list ([`slices`]). Lengths precede
//! messages: the writer reserves bytes for them and closes the gap afterwards ([`field_large`]).
//!
//! | step | determines |
//! |---|---|
//! | `parts` | which columns become a profile, which profiles are joined; their original order |
//! | `known_attributes` | which attributes the generation has fields for |
//! | [`notes`] | the data that the payload cannot represent |
//! | `tables::write` | which strings and attributes are rows, and the index of each |
//! | [`profile`], [`samples`], `tables::write::rows` | no row numbers; these steps write |

mod notes;
mod profile;
mod samples;
mod slices;

use crate::error::{Error, ErrorKind, Result};
use crate::format::otlp::write::profile::{Packed, ProfileExtras, ProfileWriter};
use crate::format::otlp::write::slices::Slices;
use crate::limits::within;
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ProfileId};
use crate::model::{Profiles, ResourceProfiles};
use crate::schema::{Generation, PROFILES_DATA, PROFILES_DICTIONARY, Rows, TableLocation};
use crate::tables::attributes::attributes_to_fields::is_profile_field;
use crate::tables::attributes::semantic_attributes::AttributeRoles;
use crate::tables::fields::{emit, number};
use crate::tables::layout::{self, Order, Target};
use crate::tables::profile::columns::{self, DefaultTypeCarrier, Joined};
use crate::tables::profile::fingerprint::Fingerprints;
use crate::tables::rows::orphans::{self, Kept};
use crate::tables::rows::reach::Reach;
use crate::tables::rows::subset::Subsets;
use crate::tables::write::common;
use crate::tables::write::parts::{Column, Part, ScopeParts, scopes};
use crate::tables::write::sizes::{estimate, profile_estimate, stacks_estimate, tables_estimate};
use crate::tables::write::strings::StringTable;
use crate::tables::write::tables::TableWriter;
use crate::wire::write::{field_bytes_nonempty, field_large, field_message};
use crate::write_options::{Layout, WriteOptions};

/// Writes one payload of the generation.
///
/// # Errors
///
/// * [`Limit`](crate::ErrorKind::Limit) if `max_output_bytes` or `max_expanded_samples` is exceeded.
/// * [`Unrepresentable`](crate::ErrorKind::Unrepresentable) for a table of more rows than an `int32` counts.
/// * [`InvalidOption`](crate::ErrorKind::InvalidOption) for one id for several profiles.
pub(crate) fn write<G: Generation>(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    out: Vec<u8>,
) -> Result<Vec<u8>> {
    let dictionary = &profiles.dictionary;
    let target = Target::otlp(G::VERSION);
    let (mut order, resources) = layout::laid_out(profiles, options.layout, target);
    let scopes = scopes::<G>(&resources, dictionary, losses);
    check_id(&scopes, options)?;
    let roles = known_attributes::<G>(dictionary, &scopes);
    notes::lost_texts::<G>(profiles, losses);
    // A single profile keeps the tables as they are; each of several gets the rows that it reaches.
    let parts = scopes.iter().map(|scope| scope.parts.len()).sum::<usize>();
    let whole = G::CAPABILITIES.table_location != TableLocation::Profile || parts == 1;
    note_changes::<G>(profiles, &roles, whole, order.as_ref(), losses);
    let shared = match G::CAPABILITIES.table_location {
        TableLocation::Profile => None,
        TableLocation::Data | TableLocation::Dictionary => {
            let all: Vec<&Profile> = profiles.iter().collect();
            let rows =
                order.take().unwrap_or_else(|| default_order::<G>(dictionary, &all, options));
            let encoding = options.string_encoding;
            Some(TableWriter::<G>::shared(profiles, &roles, encoding, &scopes, rows, losses)?)
        }
    };
    let subsets = (!whole).then(|| Subsets::of(dictionary, order.take()));
    let writer = Writer::<G> {
        dictionary,
        roles: &roles,
        inline: StringTable::new(&dictionary.strings),
        shared,
        order,
        subsets,
        slices: Slices::default(),
        capacity: 0,
        fingerprints: Fingerprints::of(dictionary, &roles, profiles.iter().count()),
        options,
        losses,
    };
    writer.payload(out, profiles, &scopes)
}

/// Returns an error if several profiles would get the caller's id.
fn check_id(scopes: &[ScopeParts], options: &WriteOptions) -> Result<()> {
    let parts = scopes.iter().flat_map(|scope| &scope.parts);
    // If a profile becomes several, only the first gets the id.
    let having =
        parts.filter(|part| !matches!(part, Part::Column(Column { column: 1.., .. }))).count();
    if options.profile_id.is_none() || having < 2 {
        return Ok(());
    }
    let message = format!("profile-id sets one profile's id; the payload has {having} profiles");
    Err(Error::new(ErrorKind::InvalidOption, message))
}

/// Returns whether rows and samples are reordered while they are written.
fn ordered<G: Generation>(options: &WriteOptions) -> bool {
    !G::CAPABILITIES.stack_table && options.layout == Layout::Default
}

/// Returns the default order of rows, for layouts that set none.
fn default_order<G: Generation>(
    dictionary: &Dictionary,
    profiles: &[&Profile],
    options: &WriteOptions,
) -> Order {
    match ordered::<G>(options) {
        true => Order::of_slices(dictionary, profiles, Target::otlp(G::VERSION)),
        false => Order::whole(dictionary),
    }
}

/// Classifies the attributes for the generation.
///
/// In 1.6 and 1.7 the default sample type is the number of a column. Attributes that this field represents
/// are marked here.
fn known_attributes<G: Generation>(
    dictionary: &Dictionary,
    scopes: &[ScopeParts],
) -> AttributeRoles {
    let mut roles = AttributeRoles::of(dictionary);
    if G::CAPABILITIES.default_by_column {
        let joined = scopes.iter().flat_map(|scope| {
            scope.parts.iter().filter_map(|part| match part {
                Part::Joined(joined) => Some((joined, scope.default(part, dictionary))),
                Part::Column(..) => None,
            })
        });
        columns::mark_default_columns(dictionary, joined, &mut roles);
    }
    roles
}

/// Counts the dropped rows and the unknown flags.
///
/// If `whole` is true, the rows of `order` are written, or without an order all rows, referenced or not.
/// Otherwise only rows that `Reach` finds are written.
fn note_changes<G: Generation>(
    profiles: &Profiles,
    roles: &AttributeRoles,
    whole: bool,
    order: Option<&Order>,
    losses: &mut Losses,
) {
    let dictionary = &profiles.dictionary;
    let reach = (!whole).then(|| Reach::by(dictionary, profiles.iter()));
    let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
    let chosen = G::CAPABILITIES.rows != Rows::NullFirst
        || of_profiles.any(|id| is_profile_field::<G>(roles.get(*id)));
    let kept = Kept {
        tables: whole,
        links: whole,
        attributes: !chosen,
        stacks: G::CAPABILITIES.stack_table,
    };
    match order.filter(|_| whole) {
        Some(order) => order.note(dictionary, losses),
        None => orphans::note(profiles, reach.as_ref(), kept, losses),
    }
    notes::unknown_flags::<G>(dictionary, roles, reach.as_ref(), losses);
}

/// The state of writing a payload.
///
/// Either `shared` is set, or every profile has its own tables.
struct Writer<'a, G> {
    dictionary: &'a Dictionary,
    /// The classification of attributes.
    roles: &'a AttributeRoles,
    /// The string table if profiles have their own tables: empty, because strings outside profiles are inline.
    inline: StringTable<'a>,
    /// The tables shared by all profiles.
    shared: Option<TableWriter<'a, G>>,
    /// The row order of the layout, if a single profile has its own tables.
    order: Option<Order>,
    /// Set if several profiles have their own tables.
    subsets: Option<Subsets<'a>>,
    /// Reused for the lists of all profiles.
    slices: Slices,
    /// The estimated size of the payload without these lists, until the first of them is laid out.
    capacity: usize,
    /// Computes ids for profiles that require one and lack it.
    fingerprints: Fingerprints<'a>,
    /// The caller's options. The layout is already applied, except for generations that reorder rows
    /// themselves.
    options: &'a WriteOptions,
    losses: &'a mut Losses,
}

impl<G: Generation> Writer<'_, G> {
    /// Writes all resources, then the tables. Checks the size limit after each resource.
    fn payload(
        mut self,
        mut out: Vec<u8>,
        profiles: &Profiles,
        mut scopes: &[ScopeParts],
    ) -> Result<Vec<u8>> {
        let expected = estimate::<G>(profiles);
        match G::CAPABILITIES.stack_table {
            true => out.reserve(expected),
            // Reserve memory after the stacks are laid out: the layout needs memory too, and determines the
            // length of the list.
            false => self.capacity = expected - stacks_estimate(&self.dictionary.stacks),
        }
        for (row, resource) in profiles.resources.iter().enumerate() {
            let own;
            (own, scopes) = scopes.split_at(resource.scopes.len());
            let number = number!(PROFILES_DATA "resource_profiles" in G::VERSION);
            field_large(&mut out, number, expected, |out| self.resource(out, resource, own))
                .map_err(|e| e.within_row("resource_profiles", row))?;
            within("max_output_bytes", self.options.max_output_bytes, out.len() as u64)?;
        }
        if let Some(tables) = self.shared {
            match G::CAPABILITIES.table_location {
                // Detection would mistake a lone string table for a pprof.
                TableLocation::Data if out.is_empty() && tables.is_empty() => {}
                TableLocation::Dictionary => {
                    let expected = tables_estimate(self.dictionary);
                    let number = number!(PROFILES_DATA "dictionary" in G::VERSION);
                    field_large(&mut out, number, expected, |out| {
                        tables.write_all(out, &PROFILES_DICTIONARY);
                    });
                }
                TableLocation::Data | TableLocation::Profile => {
                    tables.write_all(&mut out, &PROFILES_DATA)
                }
            }
        }
        Ok(out)
    }

    /// Returns the strings, and which of them are written as references.
    fn strings(&self) -> &StringTable<'_> {
        self.shared.as_ref().map_or(&self.inline, |tables| &tables.strings)
    }

    /// Writes a `ResourceProfiles`: the resource, its scopes, its schema URL.
    fn resource(
        &mut self,
        out: &mut Vec<u8>,
        resource: &ResourceProfiles,
        scopes: &[ScopeParts],
    ) -> Result<()> {
        let WriteOptions { empty_messages: required, max_output_bytes: most, .. } = *self.options;
        let url = self.dictionary.text(resource.schema_url).as_bytes();
        emit!(RESOURCE_PROFILES in G; {
            "resource" => |number| if required || !resource.resource.is_empty() {
                let (resource, strings) = (&resource.resource, self.strings());
                let write = |out: &mut _| common::resource::<G>(out, resource, strings, most);
                field_message(out, number, write);
            },
            "scope_profiles" => |number| for (row, parts) in scopes.iter().enumerate() {
                let profiles = &parts.scope.profiles;
                let expected = profiles.iter().map(profile_estimate::<G>).sum();
                field_large(out, number, expected, |out| self.scope(out, parts))
                    .map_err(|e| e.within_row("scope_profiles", row))?;
            },
            "schema_url" => |number| field_bytes_nonempty(out, number, url),
        });
        Ok(())
    }

    /// Writes a `ScopeProfiles`, with attributes that record how its profiles were split or joined.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if `max_output_bytes` is exceeded, checked after each profile.
    fn scope(&mut self, out: &mut Vec<u8>, parts: &ScopeParts) -> Result<()> {
        let dictionary = self.dictionary;
        let added = common::ScopeExtras {
            scope: &parts.scope.scope,
            hidden: &parts.hidden(),
            order: parts.order.as_deref(),
            default: match parts.default_carrier {
                DefaultTypeCarrier::Scope(name) => Some(name),
                DefaultTypeCarrier::Unwritten | DefaultTypeCarrier::Profiles => None,
            },
        };
        let WriteOptions { empty_messages: required, max_output_bytes: most, .. } = *self.options;
        let url = dictionary.text(parts.scope.schema_url).as_bytes();
        emit!(SCOPE_PROFILES in G; {
            "scope" => |number| if required || !added.is_empty(dictionary) {
                let (added, strings) = (&added, self.strings());
                let write = |out: &mut _| common::scope::<G>(out, added, dictionary, strings, most);
                field_message(out, number, write);
            },
            "profiles" => |number| for (row, part) in parts.parts.iter().enumerate() {
                let extras = self.profile_extras(parts, part);
                let expected = profile_estimate::<G>(part.first());
                field_large(out, number, expected, |out| self.part(out, part, extras))
                    .map_err(|e| e.within_row("profiles", row))?;
                within("max_output_bytes", most, out.len() as u64)?;
            },
            "schema_url" => |number| field_bytes_nonempty(out, number, url),
        });
        Ok(())
    }

    /// Determines the id and the default sample type to write for a profile.
    fn profile_extras(&mut self, parts: &ScopeParts, part: &Part) -> ProfileExtras {
        let default = parts.default(part, self.dictionary);
        let own = match parts.default_carrier {
            DefaultTypeCarrier::Profiles => part.first().default_sample_type,
            DefaultTypeCarrier::Unwritten | DefaultTypeCarrier::Scope(_) => StringId::NONE,
        };
        ProfileExtras { id: self.id(part, default), default, own }
    }

    /// Returns the caller's id, or else that of the profile; if an id is required, derives a missing one from
    /// the contents.
    ///
    /// 1.3 to 1.7 require an id (decision 9). If a profile is split into columns, only the first keeps the
    /// id.
    fn id(&mut self, part: &Part, default: StringId) -> ProfileId {
        let given = self.options.profile_id.unwrap_or(part.first().profile_id);
        match part {
            Part::Column(Column { column: 1.., .. }) => {
                let dropped = u64::from(given != ProfileId::NONE);
                self.losses.add_many(losses::PROFILE_ID_FIRST, dropped, || "profile_id".to_owned());
                ProfileId::NONE
            }
            Part::Joined(joined) if given == ProfileId::NONE => {
                self.losses.add(losses::PROFILE_ID_SYNTHESIZED, || "profile_id".to_owned());
                self.fingerprints.id(joined, default)
            }
            Part::Column(..) | Part::Joined(_) => given,
        }
    }

    /// Writes one profile, with its samples in the order of the layout.
    fn part(&mut self, out: &mut Vec<u8>, part: &Part, extras: ProfileExtras) -> Result<()> {
        match part {
            Part::Joined(joined) if ordered::<G>(self.options) => {
                let order = layout::grouped(joined.first(), self.dictionary);
                let profiles = joined.profiles.clone();
                self.in_order(out, &Part::Joined(Joined { profiles, order, ..*joined }), extras)
            }
            Part::Joined(_) | Part::Column(..) => self.in_order(out, part, extras),
        }
    }

    /// Writes one profile in the given order, and its tables if it has its own.
    ///
    /// If several profiles have their own tables, each gets a dictionary of the rows that it reaches.
    /// Otherwise the payload would contain the whole dictionary once per profile.
    fn in_order(&mut self, out: &mut Vec<u8>, part: &Part, extras: ProfileExtras) -> Result<()> {
        let Self { dictionary, roles, options, losses, slices, .. } = self;
        let (packed, capacity) = (Packed::default(), std::mem::take(&mut self.capacity));
        match (&self.shared, part, &mut self.subsets) {
            (Some(tables), ..) => {
                ProfileWriter { tables, slices, options, losses, packed, capacity }
                    .write(out, part, extras)
            }
            (None, Part::Joined(joined), Some(subsets)) => {
                let (subset, [default, own]) =
                    subsets.extract(joined, [extras.default, extras.own], losses);
                let (dictionary, slices) = (&subset.dictionary, &mut Slices::default());
                // Roles are stored by row, and the subset has other rows than the payload.
                let roles = AttributeRoles::of(dictionary);
                let part = Part::Joined(subset.joined(joined));
                let extras = ProfileExtras { default, own, ..extras };
                let rows = default_order::<G>(dictionary, part.profiles(), options);
                let tables =
                    &TableWriter::<G>::own(dictionary, &roles, &part, default, rows, losses)?;
                ProfileWriter { tables, slices, options, losses, packed, capacity }
                    .write(out, &part, extras)
            }
            (None, part, _) => {
                let default = || default_order::<G>(dictionary, part.profiles(), options);
                let rows = self.order.take().unwrap_or_else(default);
                let tables =
                    &TableWriter::<G>::own(dictionary, roles, part, extras.default, rows, losses)?;
                ProfileWriter { tables, slices, options, losses, packed, capacity }
                    .write(out, part, extras)
            }
        }
    }
}
