//! Reading a payload: resources, scopes, profiles and the tables they refer to.
//!
//! A payload is gone through twice. The first pass counts rows and takes strings, so that memory is asked for
//! once and the texts met in place get ids behind those of the table; the second reads everything. Ids stay
//! numbers until all tables are known, since a dictionary may come behind the profiles that use it:
//!
//! ```text
//! count ─► payload ─► settle ─► resolve_ids ─► lift ─► prove ─► finish
//! strings  columns    row 0     OTEP's ids     fields  ranges   Dictionary
//! ```
//!
//! What the later steps rely on, and which step proves it:
//!
//! | | is true from |
//! |---|---|
//! | every row of a table has the model's number, row 0 being the empty row | `Tables::reserve`, `settle` |
//! | texts in place have ids from the number of table strings on | the first pass, which takes all of those before any other |
//! | a reference is a row of the model; of mappings and links of 1.3 it may yet be none | `references::row_of`, `settle` |
//! | a stack's locations lie in one column | [`Stacks`](crate::format::stacks::Stacks) |
//! | every id is in range | `prove`, column by column; nothing is checked while rows are read |
//! | every text is UTF-8 | `finish::prove_texts`, over the whole arena |
//!
//! Where tables are shared all of this happens once, at the end of the payload. Up to 1.5 it
//! happens at the end of each profile, whose dictionary is then merged into the payload's: the
//! memory of a payload of many profiles is that of the merged dictionary and of one profile's
//! tables.
//!
//! Errors are built from the inside out: a row says its field, whoever reads the table adds its
//! row, and `Intake::inside` the resource, scope and profile around. Nobody formats a place before
//! something is wrong.

pub(crate) mod common;
mod finish;
mod gather;
pub(crate) mod id_column;
mod ids;
pub(crate) mod lift;
mod location_list;
mod locations;
mod null_row;
mod profile;
pub(crate) mod prove;
pub(crate) mod references;
mod rows;
mod samples;
mod settle;
mod shape;
pub(crate) mod tables;
mod targets;
mod time_unit;
mod value_types;

use crate::error::Result;
use crate::format::fields::{fields, is, unknown};
use crate::format::intake::Intake;
use crate::format::otlp::read::gather::{OwnTables, Users};
use crate::format::otlp::read::lift::Said;
use crate::format::otlp::read::profile::Draft;
use crate::format::otlp::read::tables::Tables;
use crate::model::profile::{Profile, ProfileParts};
use crate::model::{Profiles, ResourceParts, ResourceProfiles, ScopeParts, ScopeProfiles};
use crate::schema;
use crate::schema::{Generation, Home};
use crate::wire::read::Reader;
use crate::wire::{LEN, tag};

/// What is read so far.
/// It belongs to one payload of one generation.
///
/// The generation is a parameter of the methods and not of the type: what is collected looks the
/// same for all of them.
struct Reading {
    /// With profiles whose ids are as on the wire.
    resources: Vec<ResourceProfiles>,
    /// The tables of the whole payload, or the texts in place where each profile has its own.
    tables: Tables,
    /// Where the tables are shared: what is said in fields of some profiles, which are not yet
    /// proved, by their number.
    said: Vec<(usize, Said)>,
    /// How many profiles there are so far.
    ///
    /// It is the number that `said` uses: profiles are counted through all scopes, also those of no
    /// bytes.
    profiles: usize,
    /// The dictionary, where profiles have tables of their own.
    own: OwnTables,
}

/// Reads one payload of the generation.
///
/// # Errors
///
/// What is no protobuf, breaks a rule of the generation ([`Policy`](crate::Policy) decides) or a limit; each
/// with its place in the words of the schema.
pub(crate) fn read<G: Generation>(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let several = G::CAPABILITIES.home == Home::Profile
        && has_several_profiles(payload, intake.limits().max_nesting);
    let shared = if G::CAPABILITIES.home == Home::Profile { 0 } else { payload.len() };
    let mut reading = Reading {
        resources: Vec::new(),
        tables: Tables::new(G::CAPABILITIES.rows, shared),
        said: Vec::new(),
        profiles: 0,
        own: OwnTables::new(several, intake),
    };
    reading.count::<G>(payload, intake)?;
    reading.payload::<G>(payload, intake)?;
    let Reading { resources, tables, said, own, .. } = reading;
    match G::CAPABILITIES.home {
        Home::Profile => gather::by_profile(resources, tables.texts, own, intake),
        Home::Data | Home::Dictionary => gather::shared::<G>(resources, tables, said, intake),
    }
}

/// Whether there is more than one profile; what is broken is met again when it is read, and refused.
/// Asked where each has tables of its own: those of only one need not be merged. It stops at the second.
fn has_several_profiles(payload: &[u8], max_nesting: u64) -> bool {
    let bodies = |message, wanted: u32| {
        let mut reader = Reader::new(message);
        std::iter::from_fn(move || {
            while let Ok(Some((_, tag, body))) = reader.next_record(max_nesting) {
                if tag == self::tag(wanted, LEN) {
                    return Some(body.rest());
                }
            }
            None
        })
    };
    let scopes = bodies(payload, 1).flat_map(|resource| bodies(resource, 2));
    scopes.flat_map(|scope| bodies(scope, 2)).nth(1).is_some()
}

impl Reading {
    /// The first pass: counts the rows of shared tables and takes their strings.
    ///
    /// A generation with tables in each profile counts nothing here: its profiles do, one by one.
    /// Everything else is passed over by its length, which is why the pass costs little beside the
    /// second.
    fn count<G: Generation>(&mut self, payload: &[u8], intake: &mut Intake) -> Result<()> {
        let max_nesting = intake.limits().max_nesting;
        let mut reader = Reader::new(payload);
        while let Some((_, tag, record)) = reader.next_record(max_nesting)? {
            if is!(tag, PROFILES_DATA "dictionary" in G::VERSION) {
                let mut dictionary = record;
                self.tables.begins = true;
                while let Some((_, tag, row)) =
                    dictionary.next_record(max_nesting).map_err(|e| e.within("dictionary"))?
                {
                    self.tables.count::<G>(tag, row, intake).map_err(|e| e.within("dictionary"))?;
                }
            } else if G::CAPABILITIES.home == Home::Data {
                self.tables.begins |= is!(tag, PROFILES_DATA "resource_profiles" in G::VERSION);
                self.tables.count::<G>(tag, record, intake)?;
            }
        }
        // Where profiles have tables of their own, these stay empty.
        if G::CAPABILITIES.home == Home::Profile {
            Ok(())
        } else {
            self.tables.reserve::<G>(intake)
        }
    }

    /// The second pass: everything, in the order of the bytes.
    ///
    /// The dictionary may stand before or behind the resources, or come in several parts; none of
    /// that matters, as ids are proved only afterwards.
    fn payload<G: Generation>(&mut self, payload: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(payload);
        while let Some(tag) = reader.tag()? {
            if is!(tag, PROFILES_DATA "resource_profiles" in G::VERSION) {
                let row = self.resources.len();
                let body = reader.bytes()?;
                let inside = [("resource_profiles", row)];
                intake.inside(&inside, |intake| self.resource::<G>(body, intake))?;
            } else if is!(tag, PROFILES_DATA "dictionary" in G::VERSION) {
                self.dictionary::<G>(reader.bytes()?, intake)
                    .map_err(|e| e.within("dictionary"))?;
            } else if G::CAPABILITIES.home != Home::Data
                || !self.tables.read::<G>(tag, &mut reader, intake)?
            {
                unknown(&mut reader, tag, &schema::PROFILES_DATA, G::VERSION, intake)?;
            }
        }
        Ok(())
    }

    /// The rows of `ProfilesDictionary`; in several parts, each adds to those before, as protobuf has it.
    fn dictionary<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(body);
        while let Some(tag) = reader.tag()? {
            if !self.tables.read::<G>(tag, &mut reader, intake)? {
                unknown(&mut reader, tag, &schema::PROFILES_DICTIONARY, G::VERSION, intake)?;
            }
        }
        Ok(())
    }

    /// A `ResourceProfiles`. An empty one takes one word: millions of them fit a payload of a few megabytes.
    fn resource<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let row = self.resources.len();
        intake.budget.push(&mut self.resources, ResourceProfiles::default())?;
        intake.budget.take::<ResourceParts>(usize::from(!body.is_empty()))?;
        let mut reader = Reader::new(body);
        fields!(reader, RESOURCE_PROFILES in G::VERSION, intake; {
            "resource" => {
                let (body, texts) = (reader.bytes()?, &mut self.tables.texts);
                common::resource::<G>(body, &mut self.resources[row].resource, texts, intake)
                    .map_err(|e| e.within("resource"))?;
            },
            "scope_profiles" => {
                let scope = self.resources[row].scopes.len();
                let (body, inside) = (reader.bytes()?, [("scope_profiles", scope)]);
                intake.inside(&inside, |intake| self.scope::<G>(body, row, intake))?;
            },
            "schema_url" => {
                let url = self.tables.texts.intern(reader.bytes()?, intake)?;
                self.resources[row].schema_url = url;
            },
        });
        Ok(())
    }

    /// A `ScopeProfiles` of resource `resource`.
    ///
    /// Rows are addressed by their numbers and not by references: `intake` and the tables are
    /// borrowed mutably while the scope is read.
    fn scope<G: Generation>(
        &mut self,
        body: &[u8],
        resource: usize,
        intake: &mut Intake,
    ) -> Result<()> {
        let scopes = &mut self.resources[resource].scopes;
        let row = scopes.len();
        intake.budget.push(scopes, ScopeProfiles::default())?;
        intake.budget.take::<ScopeParts>(usize::from(!body.is_empty()))?;
        let mut reader = Reader::new(body);
        let mut profiles = 0;
        fields!(reader, SCOPE_PROFILES in G::VERSION, intake; {
            "scope" => {
                let Self { resources, tables, .. } = self;
                let scope = &mut resources[resource].scopes[row].scope;
                common::scope::<G>(reader.bytes()?, scope, &mut tables.texts, intake)
                    .map_err(|e| e.within("scope"))?;
            },
            "profiles" => {
                let (body, inside) = (reader.bytes()?, [("profiles", profiles)]);
                let profile = intake.inside(&inside, |intake| self.profile::<G>(body, intake))?;
                profiles += 1;
                intake.budget.push(&mut self.resources[resource].scopes[row].profiles, profile)?;
            },
            "schema_url" => {
                let url = self.tables.texts.intern(reader.bytes()?, intake)?;
                self.resources[resource].scopes[row].schema_url = url;
            },
        });
        Ok(())
    }

    /// A profile; where it has tables of its own they are proved and merged at once, so that those of
    /// only one are in memory.
    fn profile<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<Profile> {
        let number = self.profiles;
        self.profiles += 1;
        if body.is_empty() {
            return Ok(Profile::default());
        }
        let mark = intake.budget.mark();
        intake.budget.take::<ProfileParts>(1)?;
        let mut draft = Draft::default();
        if G::CAPABILITIES.home != Home::Profile {
            draft.body::<G>(body, &mut self.tables, intake)?;
            let (profile, said) = draft.park();
            if said != Said::default() {
                intake.budget.push(&mut self.said, (number, said))?;
            }
            return Ok(profile);
        }
        let mut tables = Tables::new(G::CAPABILITIES.rows, body.len());
        match G::CAPABILITIES.containers {
            true => draft.container::<G>(body, &mut tables, intake)?,
            false => draft.body::<G>(body, &mut tables, intake)?,
        }
        let (mut profile, said) = draft.park();
        let users = Users::One(&mut profile, said);
        let dictionary = gather::unit::<G>(tables, users, self.own.is_single(), intake);
        let dictionary = dictionary.map_err(|error| match G::CAPABILITIES.containers {
            true => error.within("profile"),
            false => error,
        })?;
        self.own.add(dictionary, &mut profile, mark, intake)?;
        Ok(profile)
    }
}
