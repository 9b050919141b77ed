//! Writing a payload: resources, scopes and profiles around what [`tables`] and [`samples`] write.
//!
//! Written in one go, front to back. What comes first refers to what comes last, so the numbers of rows are
//! decided before a byte is written: which attributes are rows and which fields ([`lower`]), which strings are
//! in the table ([`tables`]), where stacks lie in a list ([`slices`]). Lengths go before messages; room for them
//! is left and closed up ([`field_large`]).
//!
//! | step | decides |
//! |---|---|
//! | [`parts`] | which columns become a profile, which profiles are put together; the order they had |
//! | `known_attributes` | which attributes the generation has fields for |
//! | [`notes`] | what the payload cannot say, before anything is written |
//! | [`refs`], [`tables`] | which strings and attributes are rows, and the index of each |
//! | [`profile`], [`samples`], [`rows`] | nothing about rows any more: they write |

mod attributes;
mod common;
mod frame_types;
mod lower;
mod notes;
mod own_texts;
mod parts;
mod profile;
mod refs;
mod rows;
mod samples;
pub(crate) mod sizes;
mod slices;
mod tables;
mod units;

use crate::builder::reach::Reach;
use crate::error::{Error, ErrorKind, Result};
use crate::format::columns::{self, DefaultSaid, Joined};
use crate::format::fields::{emit, number};
use crate::format::fingerprint::Fingerprints;
use crate::format::known::KnownAttributes;
use crate::format::layout::{self, Order, Target};
use crate::format::losses::{self, Losses};
use crate::format::options::{Layout, WriteOptions};
use crate::format::orphans::{self, Kept};
use crate::format::otlp::write::lower::is_profile_field;
use crate::format::otlp::write::parts::{Column, Part, ScopeParts, scopes};
use crate::format::otlp::write::profile::{Packed, ProfileWriter, Said};
use crate::format::otlp::write::refs::TextRefs;
use crate::format::otlp::write::sizes::{
    estimate, profile_estimate, stacks_estimate, tables_estimate,
};
use crate::format::otlp::write::slices::Slices;
use crate::format::otlp::write::tables::TableWriter;
use crate::format::subset::Subsets;
use crate::limits::within;
use crate::model::dictionary::Dictionary;
use crate::model::id::StringId;
use crate::model::profile::{Profile, ProfileId};
use crate::model::{Profiles, ResourceProfiles};
use crate::schema::{Generation, Home, PROFILES_DATA, PROFILES_DICTIONARY, Rows};
use crate::wire::write::{field_bytes_nonempty, field_large, field_message};

/// Writes one payload of the generation.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes` or `max_expanded_samples`;
/// [`Unrepresentable`](crate::ErrorKind::Unrepresentable) for a table of more rows than an `int32` counts;
/// [`Option`](crate::ErrorKind::InvalidOption) for one id of several profiles.
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
    let known = known_attributes::<G>(dictionary, &scopes);
    notes::lost_texts::<G>(profiles, losses);
    // One profile has the tables as they are; of several, each has what it reaches.
    let parts = scopes.iter().map(|scope| scope.parts.len()).sum::<usize>();
    let whole = G::CAPABILITIES.home != Home::Profile || parts == 1;
    note_changes::<G>(profiles, &known, whole, order.as_ref(), losses);
    let shared = match G::CAPABILITIES.home {
        Home::Profile => None,
        Home::Data | Home::Dictionary => {
            let all: Vec<&Profile> = profiles.iter().collect();
            let rows =
                order.take().unwrap_or_else(|| default_order::<G>(dictionary, &all, options));
            let refs = TextRefs::of::<G>(profiles, &rows.attributes, &scopes, options);
            Some(TableWriter::<G>::shared(profiles, &known, refs, &scopes, rows, losses)?)
        }
    };
    let subsets = (!whole).then(|| Subsets::of(dictionary, order.take()));
    let writer = Writer::<G> {
        dictionary,
        known: &known,
        inline: TextRefs::default(),
        shared,
        order,
        subsets,
        slices: Slices::default(),
        room: 0,
        fingerprints: Fingerprints::of(dictionary, &known, profiles.iter().count()),
        options,
        losses,
    };
    writer.payload(out, profiles, &scopes)
}

/// `Ok` unless several profiles would get the caller's id.
fn check_id(scopes: &[ScopeParts], options: &WriteOptions) -> Result<()> {
    let parts = scopes.iter().flat_map(|scope| &scope.parts);
    // Of a profile that becomes several, the first has the id.
    let having =
        parts.filter(|part| !matches!(part, Part::Column(Column { column: 1.., .. }))).count();
    if options.profile_id.is_none() || having < 2 {
        return Ok(());
    }
    let message = format!("profile-id sets one profile's id; the payload has {having} profiles");
    Err(Error::new(ErrorKind::InvalidOption, message))
}

/// Whether rows and samples are brought into another order while they are written.
fn ordered<G: Generation>(options: &WriteOptions) -> bool {
    !G::CAPABILITIES.stack_table && options.layout == Layout::Default
}

/// The rows of some tables where the layout says nothing of them.
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

/// What every attribute is to the generation.
///
/// In 1.6 and 1.7 a default sample type is the number of a column; attributes that a profile has of
/// defaults are marked here so that the field says them.
fn known_attributes<G: Generation>(
    dictionary: &Dictionary,
    scopes: &[ScopeParts],
) -> KnownAttributes {
    let mut known = KnownAttributes::of(dictionary);
    if G::CAPABILITIES.default_by_column {
        let joined = scopes.iter().flat_map(|scope| {
            scope.parts.iter().filter_map(|part| match part {
                Part::Joined(joined) => Some((joined, scope.default(part, dictionary))),
                Part::Column(..) => None,
            })
        });
        columns::mark_default_columns(dictionary, joined, &mut known);
    }
    known
}

/// Counts the rows that are left out, and the flags that are not known.
///
/// `whole` says that the rows of `order` are written, or all, used or not; else only what `Reach` finds is.
fn note_changes<G: Generation>(
    profiles: &Profiles,
    known: &KnownAttributes,
    whole: bool,
    order: Option<&Order>,
    losses: &mut Losses,
) {
    let dictionary = &profiles.dictionary;
    let reach = (!whole).then(|| Reach::by(dictionary, profiles.iter()));
    let mut of_profiles = profiles.iter().flat_map(|profile| &profile.attributes);
    let chosen = G::CAPABILITIES.rows != Rows::NullFirst
        || of_profiles.any(|id| is_profile_field::<G>(known.get(*id)));
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
    notes::unknown_flags::<G>(dictionary, known, reach.as_ref(), losses);
}

/// Everything that profiles share while they are written.
///
/// One for a payload. Either `shared` is set, or every profile makes its own tables.
struct Writer<'a, G> {
    dictionary: &'a Dictionary,
    /// What each attribute is to formats with a field for it.
    known: &'a KnownAttributes,
    /// Where profiles have their own tables, no text is said by reference.
    inline: TextRefs,
    /// The tables that all profiles share, where they do.
    shared: Option<TableWriter<'a, G>>,
    /// Of the tables that the one profile has for its own, where the layout says it.
    order: Option<Order>,
    /// Where several profiles have tables of their own.
    subsets: Option<Subsets<'a>>,
    /// One memory for the lists of all profiles.
    slices: Slices,
    /// What the payload takes beside these lists, before the first of them is laid out.
    room: usize,
    /// Ids for profiles that must have one and have none.
    fingerprints: Fingerprints<'a>,
    /// The caller's; the layout was applied before, but for the generations that order rows
    /// themselves.
    options: &'a WriteOptions,
    losses: &'a mut Losses,
}

impl<G: Generation> Writer<'_, G> {
    /// All resources, then the tables. The limit is looked at after each.
    fn payload(
        mut self,
        mut out: Vec<u8>,
        profiles: &Profiles,
        mut scopes: &[ScopeParts],
    ) -> Result<Vec<u8>> {
        let expected = estimate::<G>(profiles);
        match G::CAPABILITIES.stack_table {
            true => out.reserve(expected),
            // Room comes once stacks are laid out: that takes some itself, and tells how long their list is.
            false => self.room = expected - stacks_estimate(&self.dictionary.stacks),
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
            match G::CAPABILITIES.home {
                // A lone string table would be taken for a pprof's.
                Home::Data if out.is_empty() && tables.is_empty() => {}
                Home::Dictionary => {
                    let expected = tables_estimate(self.dictionary);
                    let number = number!(PROFILES_DATA "dictionary" in G::VERSION);
                    field_large(&mut out, number, expected, |out| {
                        tables.write_all(out, &PROFILES_DICTIONARY);
                    });
                }
                Home::Data | Home::Profile => tables.write_all(&mut out, &PROFILES_DATA),
            }
        }
        Ok(out)
    }

    /// The texts said by reference.
    fn refs(&self) -> &TextRefs {
        self.shared.as_ref().map_or(&self.inline, |tables| &tables.refs)
    }

    /// A `ResourceProfiles`: the resource, its scopes, its schema.
    fn resource(
        &mut self,
        out: &mut Vec<u8>,
        resource: &ResourceProfiles,
        scopes: &[ScopeParts],
    ) -> Result<()> {
        let WriteOptions { empty_messages: required, max_output_bytes: most, .. } = *self.options;
        let strings = &self.dictionary.strings;
        let url = strings.get(resource.schema_url).as_bytes();
        emit!(RESOURCE_PROFILES in G; {
            "resource" => |number| if required || !resource.resource.is_empty() {
                let (resource, refs) = (&resource.resource, self.refs());
                let write = |out: &mut _| common::resource::<G>(out, resource, strings, refs, most);
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

    /// A `ScopeProfiles`, with what its attributes have to say for the profiles that become several or one.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) past `max_output_bytes`, looked at after each profile.
    fn scope(&mut self, out: &mut Vec<u8>, parts: &ScopeParts) -> Result<()> {
        let dictionary = self.dictionary;
        let added = common::ScopeSaid {
            scope: &parts.scope.scope,
            hidden: &parts.hidden(),
            order: parts.order.as_deref(),
            default: match parts.said {
                DefaultSaid::Scope(name) => Some(name),
                DefaultSaid::Nowhere | DefaultSaid::Profiles => None,
            },
        };
        let WriteOptions { empty_messages: required, max_output_bytes: most, .. } = *self.options;
        let url = dictionary.text(parts.scope.schema_url).as_bytes();
        emit!(SCOPE_PROFILES in G; {
            "scope" => |number| if required || !added.is_empty(dictionary) {
                let (added, refs) = (&added, self.refs());
                let write = |out: &mut _| common::scope::<G>(out, added, dictionary, refs, most);
                field_message(out, number, write);
            },
            "profiles" => |number| for (row, part) in parts.parts.iter().enumerate() {
                let said = self.said(parts, part);
                let expected = profile_estimate::<G>(part.first());
                field_large(out, number, expected, |out| self.part(out, part, said))
                    .map_err(|e| e.within_row("profiles", row))?;
                within("max_output_bytes", most, out.len() as u64)?;
            },
            "schema_url" => |number| field_bytes_nonempty(out, number, url),
        });
        Ok(())
    }

    /// What a profile does not say by itself.
    fn said(&mut self, parts: &ScopeParts, part: &Part) -> Said {
        let default = parts.default(part, self.dictionary);
        let own = match parts.said {
            DefaultSaid::Profiles => part.first().default_sample_type,
            DefaultSaid::Nowhere | DefaultSaid::Scope(_) => StringId::NONE,
        };
        Said { id: self.id(part, default), default, own }
    }

    /// The caller's id, or the profile's own; where one is required, else one made of the content.
    ///
    /// 1.3 to 1.7 need an id (decision 9). A profile split into columns keeps its id in the first only.
    fn id(&mut self, part: &Part, default: StringId) -> ProfileId {
        let known = self.options.profile_id.unwrap_or(part.first().profile_id);
        match part {
            Part::Column(Column { column: 1.., .. }) => {
                let dropped = u64::from(known != ProfileId::NONE);
                self.losses.add_many(losses::PROFILE_ID_FIRST, dropped, || "profile_id".to_owned());
                ProfileId::NONE
            }
            Part::Joined(joined) if known == ProfileId::NONE => {
                self.losses.add(losses::PROFILE_ID_SYNTHESIZED, || "profile_id".to_owned());
                self.fingerprints.id(joined, default)
            }
            Part::Column(..) | Part::Joined(_) => known,
        }
    }

    /// One profile, with its samples in the order of the layout.
    fn part(&mut self, out: &mut Vec<u8>, part: &Part, said: Said) -> Result<()> {
        match part {
            Part::Joined(joined) if ordered::<G>(self.options) => {
                let order = layout::grouped(joined.first(), self.dictionary);
                let profiles = joined.profiles.clone();
                self.in_order(out, &Part::Joined(Joined { profiles, order, ..*joined }), said)
            }
            Part::Joined(_) | Part::Column(..) => self.in_order(out, part, said),
        }
    }

    /// One profile as it is, and its tables where it has them.
    ///
    /// Where several profiles have tables of their own, each gets a dictionary of the rows it
    /// reaches, so that the payload does not hold the whole dictionary once a profile.
    fn in_order(&mut self, out: &mut Vec<u8>, part: &Part, said: Said) -> Result<()> {
        let Self { dictionary, known, options, losses, slices, .. } = self;
        let (packed, room) = (Packed::default(), std::mem::take(&mut self.room));
        match (&self.shared, part, &mut self.subsets) {
            (Some(tables), ..) => ProfileWriter { tables, slices, options, losses, packed, room }
                .write(out, part, said),
            (None, Part::Joined(joined), Some(subsets)) => {
                let (subset, [default, own]) =
                    subsets.take(joined, [said.default, said.own], losses);
                let (dictionary, slices) = (&subset.dictionary, &mut Slices::default());
                let known = KnownAttributes::of(dictionary);
                let part = Part::Joined(subset.joined(joined));
                let said = Said { default, own, ..said };
                let rows = default_order::<G>(dictionary, part.profiles(), options);
                let tables =
                    &TableWriter::<G>::own(dictionary, &known, &part, default, rows, losses)?;
                ProfileWriter { tables, slices, options, losses, packed, room }
                    .write(out, &part, said)
            }
            (None, part, _) => {
                let default = || default_order::<G>(dictionary, part.profiles(), options);
                let rows = self.order.take().unwrap_or_else(default);
                let tables =
                    &TableWriter::<G>::own(dictionary, known, part, said.default, rows, losses)?;
                ProfileWriter { tables, slices, options, losses, packed, room }
                    .write(out, part, said)
            }
        }
    }
}
