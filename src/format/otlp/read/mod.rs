//! Reader of OTLP payloads: resources, scopes, profiles and the tables that they reference.
//!
//! It parses a payload in two passes. The first pass counts rows and collects the string table. So memory is
//! allocated once, and inline strings get ids after those of the table. The second pass reads everything.
//! References stay as encoded until all tables are read, because a dictionary may follow the profiles that use it:
//!
//! ```text
//! count ─► payload ─► normalize ─────────► convert ─► validate ─────► finish
//! strings  columns    row 0, OTEP's ids    fields     ranges, rows    Dictionary
//! ```
//!
//! The later steps rely on these invariants:
//!
//! | invariant | established by |
//! |---|---|
//! | every row of a table has its number in the model; row 0 is the empty row | `normalize` |
//! | ids of inline strings start at the number of table strings | the first pass, which collects the whole table first |
//! | the locations of a stack are contiguous in one column | [`Stacks`](crate::tables::read::stacks::Stacks) |
//! | every reference is in range and a row of the model | `validate`, column by column; not checked while rows are read |
//! | every string is UTF-8 | `finish::validate_texts`, over the whole arena |
//!
//! If tables are shared, these steps run once at the end of the payload. Up to 1.5 they run at the end of
//! each profile, whose dictionary is then merged into that of the payload. A payload of many profiles
//! therefore needs memory for the merged dictionary and for the tables of one profile.
//!
//! Errors are built from the inside out: a row adds its field, the reader of the table adds the row, and
//! `ReadContext::inside` adds the resource, scope and profile. Places are formatted only after an error.

mod assemble;
mod location_list;
mod profile;
mod samples;

use crate::error::Result;
use crate::format::otlp::read::assemble::{PerProfileTables, Users};
use crate::format::otlp::read::profile::RawProfile;
use crate::model::profile::{Profile, ProfileParts};
use crate::model::{Profiles, ResourceParts, ResourceProfiles, ScopeParts, ScopeProfiles};
use crate::read_context::ReadContext;
use crate::schema;
use crate::schema::{Generation, TableLocation};
use crate::tables::attributes::fields_to_attributes::LegacyFields;
use crate::tables::fields::{fields, is, unknown};
use crate::tables::read::common;
use crate::tables::read::tables::Tables;
use crate::wire::read::Reader;
use crate::wire::{LEN, tag};

/// The state of reading one payload.
///
/// The generation is a parameter of the methods, not of the type, because the state is the same for all
/// generations.
struct Reading {
    /// The resources read so far. Ids of their profiles are those of the payload.
    resources: Vec<ResourceProfiles>,
    /// The tables of the whole payload. If each profile has its own tables, only the inline strings.
    tables: Tables,
    /// For shared tables: data that profiles store in fields of older generations, not yet validated, with
    /// the number of the profile.
    legacy: Vec<(usize, LegacyFields)>,
    /// The number of profiles read so far, in all scopes and including empty ones: the number of the next profile in
    /// `legacy`.
    profiles: usize,
    /// The dictionary, if each profile has its own tables.
    own: PerProfileTables,
}

/// Reads one payload of the generation.
///
/// # Errors
///
/// Input that is not protobuf, exceeds a limit, or breaks a rule of the generation ([`Policy`](crate::Policy)
/// decides). Each error names its place by the fields of the schema.
pub(crate) fn read<G: Generation>(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let several = G::CAPABILITIES.table_location == TableLocation::Profile
        && has_several_profiles(payload, cx.limits().max_nesting);
    let shared =
        if G::CAPABILITIES.table_location == TableLocation::Profile { 0 } else { payload.len() };
    let mut reading = Reading {
        resources: Vec::new(),
        tables: Tables::new(G::CAPABILITIES.rows, shared),
        legacy: Vec::new(),
        profiles: 0,
        own: PerProfileTables::new(several, cx),
    };
    reading.count::<G>(payload, cx)?;
    reading.payload::<G>(payload, cx)?;
    let Reading { resources, tables, legacy, own, .. } = reading;
    match G::CAPABILITIES.table_location {
        TableLocation::Profile => assemble::by_profile(resources, tables.texts, own, cx),
        TableLocation::Data | TableLocation::Dictionary => {
            assemble::shared::<G>(resources, tables, legacy, cx)
        }
    }
}

/// Returns whether there is more than one profile. Stops at the second.
///
/// Used if each profile has its own tables: those of a single profile need no merging. Ignores malformed
/// data, because the second pass reports it.
fn has_several_profiles(payload: &[u8], max_nesting: u64) -> bool {
    let bodies = |message, number: u32| {
        let mut reader = Reader::new(message);
        std::iter::from_fn(move || {
            while let Ok(Some((_, tag, body))) = reader.next_record(max_nesting) {
                if tag == self::tag(number, LEN) {
                    return Some(body.rest());
                }
            }
            None
        })
    };
    // `resource_profiles`, `scope_profiles` and `profiles` have these numbers in every generation.
    let scopes = bodies(payload, 1).flat_map(|resource| bodies(resource, 2));
    scopes.flat_map(|scope| bodies(scope, 2)).nth(1).is_some()
}

impl Reading {
    /// Runs the first pass: counts the rows of shared tables and collects their strings.
    ///
    /// If each profile has its own tables, this counts nothing, because each profile counts its own. The pass
    /// is cheap, because it skips all other fields by length.
    fn count<G: Generation>(&mut self, payload: &[u8], cx: &mut ReadContext) -> Result<()> {
        let max_nesting = cx.limits().max_nesting;
        let mut reader = Reader::new(payload);
        while let Some((_, tag, record)) = reader.next_record(max_nesting)? {
            if is!(tag, PROFILES_DATA "dictionary" in G::VERSION) {
                let mut dictionary = record;
                // An empty string at the start of a further dictionary shows that another payload was
                // appended.
                self.tables.begins = true;
                while let Some((_, tag, row)) =
                    dictionary.next_record(max_nesting).map_err(|e| e.within("dictionary"))?
                {
                    self.tables.count::<G>(tag, row, cx).map_err(|e| e.within("dictionary"))?;
                }
            } else if G::CAPABILITIES.table_location == TableLocation::Data {
                self.tables.begins |= is!(tag, PROFILES_DATA "resource_profiles" in G::VERSION);
                self.tables.count::<G>(tag, record, cx)?;
            }
        }
        // If profiles have their own tables, the shared ones stay empty.
        if G::CAPABILITIES.table_location == TableLocation::Profile {
            Ok(())
        } else {
            self.tables.reserve::<G>(cx)
        }
    }

    /// Runs the second pass over all fields in order.
    ///
    /// The dictionary may precede or follow the resources, or be split into parts. The order does not matter,
    /// because ids are validated later.
    fn payload<G: Generation>(&mut self, payload: &[u8], cx: &mut ReadContext) -> Result<()> {
        let mut reader = Reader::new(payload);
        while let Some(tag) = reader.tag()? {
            if is!(tag, PROFILES_DATA "resource_profiles" in G::VERSION) {
                let row = self.resources.len();
                let body = reader.bytes()?;
                let inside = [("resource_profiles", row)];
                cx.inside(&inside, |cx| self.resource::<G>(body, cx))?;
            } else if is!(tag, PROFILES_DATA "dictionary" in G::VERSION) {
                let body = reader.bytes()?;
                cx.within(Some("dictionary"), |cx| self.dictionary::<G>(body, cx))?;
            } else if G::CAPABILITIES.table_location != TableLocation::Data
                || !self.tables.read::<G>(tag, &mut reader, cx)?
            {
                unknown(&mut reader, tag, &schema::PROFILES_DATA, G::VERSION, cx)?;
            }
        }
        Ok(())
    }

    /// Reads the rows of `ProfilesDictionary`. Further occurrences append rows, as protobuf specifies.
    fn dictionary<G: Generation>(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<()> {
        let mut reader = Reader::new(body);
        while let Some(tag) = reader.tag()? {
            if !self.tables.read::<G>(tag, &mut reader, cx)? {
                unknown(&mut reader, tag, &schema::PROFILES_DICTIONARY, G::VERSION, cx)?;
            }
        }
        Ok(())
    }

    /// Reads a `ResourceProfiles`. An empty one takes one word, because a payload of a few megabytes may
    /// contain millions.
    fn resource<G: Generation>(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<()> {
        let row = self.resources.len();
        cx.budget.push(&mut self.resources, ResourceProfiles::default())?;
        cx.budget.charge::<ResourceParts>(usize::from(!body.is_empty()))?;
        let mut reader = Reader::new(body);
        fields!(reader, RESOURCE_PROFILES in G::VERSION, cx; {
            "resource" => {
                let (body, texts) = (reader.bytes()?, &mut self.tables.texts);
                common::resource::<G>(body, &mut self.resources[row].resource, texts, cx)
                    .map_err(|e| e.within("resource"))?;
            },
            "scope_profiles" => {
                let scope = self.resources[row].scopes.len();
                let (body, inside) = (reader.bytes()?, [("scope_profiles", scope)]);
                cx.inside(&inside, |cx| self.scope::<G>(body, row, cx))?;
            },
            "schema_url" => {
                let url = self.tables.texts.intern(reader.bytes()?, cx)?;
                self.resources[row].schema_url = url;
            },
        });
        Ok(())
    }

    /// Reads a `ScopeProfiles` of resource `resource`.
    ///
    /// Addresses rows by number instead of by reference, because `cx` and the tables are mutably borrowed
    /// while the scope is read.
    fn scope<G: Generation>(
        &mut self,
        body: &[u8],
        resource: usize,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let scopes = &mut self.resources[resource].scopes;
        let row = scopes.len();
        cx.budget.push(scopes, ScopeProfiles::default())?;
        cx.budget.charge::<ScopeParts>(usize::from(!body.is_empty()))?;
        let mut reader = Reader::new(body);
        let mut profiles = 0;
        fields!(reader, SCOPE_PROFILES in G::VERSION, cx; {
            "scope" => {
                let Self { resources, tables, .. } = self;
                let scope = &mut resources[resource].scopes[row].scope;
                common::scope::<G>(reader.bytes()?, scope, &mut tables.texts, cx)
                    .map_err(|e| e.within("scope"))?;
            },
            "profiles" => {
                let (body, inside) = (reader.bytes()?, [("profiles", profiles)]);
                let profile = cx.inside(&inside, |cx| self.profile::<G>(body, cx))?;
                profiles += 1;
                cx.budget.push(&mut self.resources[resource].scopes[row].profiles, profile)?;
            },
            "schema_url" => {
                let url = self.tables.texts.intern(reader.bytes()?, cx)?;
                self.resources[resource].scopes[row].schema_url = url;
            },
        });
        Ok(())
    }

    /// Reads a profile. If it has its own tables, validates and merges them at once, so that only the tables
    /// of one profile are in memory.
    fn profile<G: Generation>(&mut self, body: &[u8], cx: &mut ReadContext) -> Result<Profile> {
        // Empty profiles count too: `for_each_profile` numbers all of them when it assigns `legacy`.
        let number = self.profiles;
        self.profiles += 1;
        if body.is_empty() {
            return Ok(Profile::default());
        }
        // Before the first charge: a merge in `PerProfileTables::add` refunds all charges from here on, and
        // charges what it keeps.
        let mark = cx.budget.mark();
        cx.budget.charge::<ProfileParts>(1)?;
        let mut raw = RawProfile::default();
        if G::CAPABILITIES.table_location != TableLocation::Profile {
            raw.body::<G>(body, &mut self.tables, cx)?;
            let (profile, legacy) = raw.into_parts();
            // Most profiles have no such fields. The entries are ascending, as `Users::each` requires.
            if legacy != LegacyFields::default() {
                cx.budget.push(&mut self.legacy, (number, legacy))?;
            }
            return Ok(profile);
        }
        let mut tables = Tables::new(G::CAPABILITIES.rows, body.len());
        match G::CAPABILITIES.containers {
            true => raw.container::<G>(body, &mut tables, cx)?,
            false => raw.body::<G>(body, &mut tables, cx)?,
        }
        let (mut profile, legacy) = raw.into_parts();
        let users = Users::One(&mut profile, legacy);
        let dictionary = assemble::resolve_tables::<G>(tables, users, self.own.is_single(), cx);
        let dictionary = dictionary.map_err(|error| match G::CAPABILITIES.containers {
            true => error.within("profile"),
            false => error,
        })?;
        self.own.add(dictionary, &mut profile, mark, cx)?;
        Ok(profile)
    }
}
