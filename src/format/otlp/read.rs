//! Reading a payload: resources, scopes, profiles. The tables are read by [`tables`](super::tables),
//! ids proved and pprof's fields lifted by [`lift`](super::lift).

use crate::error::Result;
use crate::format::fields::{fields, is, unknown};
use crate::format::intake::Intake;
use crate::format::losses;
use crate::format::otlp::gather::{OwnTables, Users};
use crate::format::otlp::lift::Said;
use crate::format::otlp::location_list::LocationList;
use crate::format::otlp::samples::{RawSamples, sample};
use crate::format::otlp::schema::{Generation, Home};
use crate::format::otlp::tables::{Tables, indices};
use crate::format::otlp::{common, gather, prove};
use crate::limits::within;
use crate::model::id::StringId;
use crate::model::profile::{AggregationTemporality, Profile, ProfileParts, ValueType};
use crate::model::{Profiles, ResourceParts, ResourceProfiles, ScopeParts, ScopeProfiles};
use crate::schema;
use crate::wire::read::Reader;
use crate::wire::{FIXED64, LEN, VARINT, tag};

/// What is read so far.
pub(crate) struct Reading {
    pub(crate) resources: Vec<ResourceProfiles>,
    /// The tables of the whole payload, or the texts in place where each profile has its own.
    pub(crate) tables: Tables,
    /// Where the tables are shared: what is said in fields of some profiles, which are not yet
    /// proved, by their number.
    pub(crate) said: Vec<(usize, Said)>,
    /// How many profiles there are so far.
    profiles: usize,
    /// The dictionary, where profiles have tables of their own.
    pub(crate) own: OwnTables,
}

/// Reads one payload of the generation.
pub(crate) fn read<G: Generation>(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let several = G::SCHEMA.home == Home::Profile
        && has_several_profiles(payload, intake.limits().max_nesting);
    let mut reading = Reading {
        resources: Vec::new(),
        tables: Tables::new(G::SCHEMA.rows),
        said: Vec::new(),
        profiles: 0,
        own: OwnTables::new(several, intake),
    };
    reading.count::<G>(payload, intake)?;
    reading.payload::<G>(payload, intake)?;
    match G::SCHEMA.home {
        Home::Profile => gather::by_profile(reading, intake),
        Home::Data | Home::Dictionary => gather::shared::<G>(reading, intake),
    }
}

/// Whether there is more than one profile; what is broken is met again when it is read, and refused.
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
    fn count<G: Generation>(&mut self, payload: &[u8], intake: &mut Intake) -> Result<()> {
        let max_nesting = intake.limits().max_nesting;
        let mut reader = Reader::new(payload);
        while let Some((_, tag, record)) = reader.next_record(max_nesting)? {
            if G::SCHEMA.home == Home::Dictionary && tag == const { self::tag(2, LEN) } {
                let mut dictionary = record;
                while let Some((_, tag, row)) =
                    dictionary.next_record(max_nesting).map_err(|e| e.within("dictionary"))?
                {
                    self.tables.count::<G>(tag, row, intake).map_err(|e| e.within("dictionary"))?;
                }
            } else if G::SCHEMA.home == Home::Data {
                self.tables.count::<G>(tag, record, intake)?;
            }
        }
        self.tables.reserve::<G>(intake)
    }

    fn payload<G: Generation>(&mut self, payload: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(payload);
        while let Some(tag) = reader.tag()? {
            if is!(tag, 1, LEN) {
                let row = self.resources.len();
                let body = reader.bytes()?;
                self.resource::<G>(body, intake)
                    .map_err(|e| e.within_row("resource_profiles", row))?;
            } else if G::SCHEMA.home == Home::Dictionary && tag == const { self::tag(2, LEN) } {
                self.dictionary::<G>(reader.bytes()?, intake)
                    .map_err(|e| e.within("dictionary"))?;
            } else if G::SCHEMA.home != Home::Data
                || !self.tables.read::<G>(tag, &mut reader, intake)?
            {
                unknown(&mut reader, tag, &schema::PROFILES_DATA, G::SCHEMA.version, intake)?;
            }
        }
        Ok(())
    }

    fn dictionary<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let mut reader = Reader::new(body);
        while let Some(tag) = reader.tag()? {
            if !self.tables.read::<G>(tag, &mut reader, intake)? {
                unknown(&mut reader, tag, &schema::PROFILES_DICTIONARY, G::SCHEMA.version, intake)?;
            }
        }
        Ok(())
    }

    fn resource<G: Generation>(&mut self, body: &[u8], intake: &mut Intake) -> Result<()> {
        let row = self.resources.len();
        intake.budget.push(&mut self.resources, ResourceProfiles::default())?;
        intake.budget.take::<ResourceParts>(usize::from(!body.is_empty()))?;
        let mut reader = Reader::new(body);
        fields!(reader, RESOURCE_PROFILES in G::SCHEMA.version, intake; {
            (1, LEN) => {
                let (body, texts) = (reader.bytes()?, &mut self.tables.texts);
                common::resource::<G>(body, &mut self.resources[row].resource, texts, intake)
                    .map_err(|e| e.within("resource"))?;
            },
            (2, LEN) => {
                let scope = self.resources[row].scopes.len();
                self.scope::<G>(reader.bytes()?, row, intake)
                    .map_err(|e| e.within_row("scope_profiles", scope))?;
            },
            (3, LEN) => {
                let url = self.tables.texts.intern(reader.bytes()?, intake)?;
                self.resources[row].schema_url = url;
            },
        });
        Ok(())
    }

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
        fields!(reader, SCOPE_PROFILES in G::SCHEMA.version, intake; {
            (1, LEN) => {
                let Self { resources, tables, .. } = self;
                let scope = &mut resources[resource].scopes[row].scope;
                common::scope::<G>(reader.bytes()?, scope, &mut tables.texts, intake)
                    .map_err(|e| e.within("scope"))?;
            },
            (2, LEN) => {
                let profile = self
                    .profile::<G>(reader.bytes()?, intake)
                    .map_err(|e| e.within_row("profiles", profiles))?;
                profiles += 1;
                intake.budget.push(&mut self.resources[resource].scopes[row].profiles, profile)?;
            },
            (3, LEN) => {
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
        if G::SCHEMA.home != Home::Profile {
            draft.body::<G>(body, &mut self.tables, intake)?;
            let (profile, said) = draft.park();
            if said != Said::default() {
                intake.budget.push(&mut self.said, (number, said))?;
            }
            return Ok(profile);
        }
        let mut tables = Tables::new(G::SCHEMA.rows);
        match G::SCHEMA.container.profile {
            0 => draft.body::<G>(body, &mut tables, intake)?,
            _ => draft.container::<G>(body, &mut tables, intake)?,
        }
        let (mut profile, said) = draft.park();
        let users = Users::One(&mut profile, said);
        let dictionary = gather::unit::<G>(tables, users, self.own.is_single(), intake)?;
        self.own.add(dictionary, &mut profile, mark, intake)?;
        Ok(profile)
    }
}

/// A profile being read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    profile: Profile,
    samples: RawSamples,
    attributes: Vec<u32>,
    said: Said,
}

impl Draft {
    /// The profile, its ids not yet proved, and what is said of it in fields.
    fn park(self) -> (Profile, Said) {
        let Self { mut profile, samples, attributes, said } = self;
        let samples = samples.settle();
        if !samples.is_empty() {
            profile.samples = samples;
        }
        if !attributes.is_empty() {
            profile.attributes = prove::ids(attributes).into();
        }
        (profile, said)
    }

    /// OTEP 0239's container around a profile.
    fn container<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let inner = inner_profile::<G>(body, intake)?;
        self.body::<G>(&inner, tables, intake).map_err(|e| e.within("profile"))?;
        let mut reader = Reader::new(body);
        let Self { profile, said, .. } = self;
        let texts = &mut tables.texts;
        fields!(reader, PROFILE_CONTAINER in G::SCHEMA.version, intake; {
            (G::SCHEMA.container.profile, LEN) => reader.bytes()?,
            (G::SCHEMA.container.profile_id, LEN) => profile_id(reader.bytes()?, profile, intake)?,
            (G::SCHEMA.container.start, FIXED64) => said.start = reader.fixed64()?,
            (G::SCHEMA.container.end, FIXED64) => said.end = reader.fixed64()?,
            (G::SCHEMA.container.attributes, LEN) => {
                common::attribute_in_place::<G>(&mut reader, &mut said.attributes, texts, intake)?;
            },
            (G::SCHEMA.container.dropped_attributes_count, VARINT) => {
                profile.dropped_attributes_count = reader.varint()? as u32;
            },
            (G::SCHEMA.container.original_payload_format, LEN) => {
                profile.original_payload_format = texts.intern(reader.bytes()?, intake)?;
            },
            (G::SCHEMA.container.original_payload, LEN) => {
                original_payload(reader.bytes()?, profile, intake)?;
            },
        });
        Ok(())
    }

    /// A profile: first what must be known before its samples are read, then all of it.
    pub(crate) fn body<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let mut locations = self.count::<G>(body, tables, intake)?;
        tables.slices |= !locations.is_empty();
        let mut reader = Reader::new(body);
        if G::SCHEMA.home == Home::Profile {
            tables.reserve::<G>(intake)?;
        }
        while let Some(tag) = reader.tag()? {
            if is!(tag, G::SCHEMA.profile.samples, LEN) {
                self.sample::<G>(reader.message()?, &mut locations, tables, intake)?;
            } else if G::SCHEMA.home == Home::Profile
                && tables.read::<G>(tag, &mut reader, intake)?
            {
                continue;
            } else if is!(tag, G::SCHEMA.profile.location_indices, LEN) {
                reader.bytes()?;
            } else if is!(tag, G::SCHEMA.profile.location_indices, VARINT) {
                reader.varint()?;
            } else {
                let mut rare = reader;
                self.field::<G>(tag, &mut rare, tables, intake)?;
                reader = rare;
            }
        }
        if G::SCHEMA.tables.stack == 0 {
            locations.finish(&mut tables.stacks, &mut self.samples.stacks, intake)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn sample<G: Generation>(
        &mut self,
        message: Reader,
        locations: &mut LocationList,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        sample::<G>(message, &mut self.samples, locations, tables, intake)
            .map_err(|e| e.within_row("samples", self.samples.stacks.len()))
    }

    /// Counts the rows of a profile and takes the locations its samples slice.
    fn count<G: Generation>(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<LocationList> {
        let mut reader = Reader::new(body);
        let mut samples = 0;
        let mut locations = LocationList::after(&tables.stacks);
        while let Some(tag) = reader.tag()? {
            if is!(tag, G::SCHEMA.profile.samples, LEN) {
                samples += 1;
                reader.bytes()?;
            } else if tag & 7 == LEN {
                let body = reader.message()?;
                if G::SCHEMA.home == Home::Profile && tables.count::<G>(tag, body, intake)? {
                    continue;
                } else if is!(tag, G::SCHEMA.profile.location_indices, LEN) {
                    locations
                        .extend(body, &mut tables.stacks, intake)
                        .map_err(|e| e.within("location_indices"))?;
                }
            } else if is!(tag, G::SCHEMA.profile.location_indices, VARINT) {
                locations.push(reader.index()?, &mut tables.stacks, intake)?;
            } else {
                reader.skip(tag, intake.limits().max_nesting)?;
            }
        }
        within("max_samples", intake.limits().max_samples, samples as u64)?;
        self.samples.reserve(samples, body.len(), intake)?;
        if G::SCHEMA.tables.stack == 0 {
            locations.reserve(samples, intake)?;
        }
        Ok(locations)
    }

    #[inline(never)]
    fn field<G: Generation>(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let profile = &mut self.profile;
        if is!(tag, G::SCHEMA.profile.sample_type, LEN) {
            let body = reader.bytes()?;
            let row = profile.sample_types.len();
            // Where a profile has one sample type, a second occurrence adds to the first.
            if row == 0 || !single_sample_type::<G>() {
                intake.budget.push(&mut profile.sample_types, no_value_type::<G>())?;
            }
            if let Some(last) = profile.sample_types.last_mut() {
                value_type::<G>(body, last, intake)
                    .map_err(|e| e.within_row("sample_type", row))?;
            }
        } else if is!(tag, G::SCHEMA.profile.period_type, LEN) {
            value_type::<G>(reader.bytes()?, &mut profile.period_type, intake)
                .map_err(|e| e.within("period_type"))?;
        } else if is!(tag, G::SCHEMA.profile.period, VARINT) {
            profile.period = reader.varint()? as i64;
        } else if is!(tag, G::SCHEMA.profile.time, FIXED64) && G::SCHEMA.has_unsigned_time {
            profile.time_unix_nano = reader.fixed64()?.into();
        } else if is!(tag, G::SCHEMA.profile.time, VARINT) && !G::SCHEMA.has_unsigned_time {
            profile.time_unix_nano = (reader.varint()? as i64).into();
        } else if is!(tag, G::SCHEMA.profile.duration, VARINT) {
            let nanos = reader.varint()?;
            let signed = !G::SCHEMA.has_unsigned_time;
            profile.duration_nanos = if signed { (nanos as i64).into() } else { nanos.into() };
        } else {
            return self.field_rare::<G>(tag, reader, tables, intake);
        }
        Ok(())
    }

    fn field_rare<G: Generation>(
        &mut self,
        tag: u32,
        reader: &mut Reader,
        tables: &mut Tables,
        intake: &mut Intake,
    ) -> Result<()> {
        let profile = &mut self.profile;
        if is!(tag, G::SCHEMA.profile.comment, LEN) || is!(tag, G::SCHEMA.profile.comment, VARINT) {
            indices(tag, reader, &mut self.said.comments, intake)?;
        } else if is!(tag, G::SCHEMA.profile.default_sample_type(), VARINT) {
            self.said.default_sample_type = reader.index()?;
        } else if is!(tag, G::SCHEMA.profile.drop_frames, VARINT) {
            self.said.drop_frames = reader.index()?;
        } else if is!(tag, G::SCHEMA.profile.keep_frames, VARINT) {
            self.said.keep_frames = reader.index()?;
        } else if is!(tag, G::SCHEMA.profile.profile_id, LEN) {
            profile_id(reader.bytes()?, profile, intake)?;
        } else if is!(tag, G::SCHEMA.profile.attributes, LEN) {
            common::attribute_in_place::<G>(
                reader,
                &mut self.said.attributes,
                &mut tables.texts,
                intake,
            )?;
        } else if is!(tag, G::SCHEMA.profile.dropped_attributes_count, VARINT) {
            profile.dropped_attributes_count = reader.varint()? as u32;
        } else if is!(tag, G::SCHEMA.profile.original_payload_format, LEN) {
            profile.original_payload_format = tables.texts.intern(reader.bytes()?, intake)?;
        } else if is!(tag, G::SCHEMA.profile.original_payload, LEN) {
            original_payload(reader.bytes()?, profile, intake)?;
        } else if is!(tag, G::SCHEMA.profile.attribute_indices, LEN)
            || is!(tag, G::SCHEMA.profile.attribute_indices, VARINT)
        {
            indices(tag, reader, &mut self.attributes, intake)?;
        } else {
            unknown(reader, tag, &schema::PROFILE, G::SCHEMA.version, intake)?;
        }
        Ok(())
    }
}

/// Whether a profile has one sample type, and the format cannot say several.
pub(crate) const fn single_sample_type<G: Generation>() -> bool {
    G::SCHEMA.tables.stack != 0
}

/// A value type nothing was said of.
fn no_value_type<G: Generation>() -> ValueType {
    let temporality = (G::SCHEMA.temporality != 0).then_some(AggregationTemporality::UNSPECIFIED);
    ValueType { temporality, ..ValueType::default() }
}

fn value_type<G: Generation>(
    body: &[u8],
    value_type: &mut ValueType,
    intake: &mut Intake,
) -> Result<()> {
    let mut reader = Reader::new(body);
    fields!(reader, VALUE_TYPE in G::SCHEMA.version, intake; {
        (1, VARINT) => value_type.name = StringId(reader.index()?),
        (2, VARINT) => value_type.unit = StringId(reader.index()?),
        (G::SCHEMA.temporality, VARINT) => {
            value_type.temporality = Some(AggregationTemporality(reader.varint()? as i32));
        },
    });
    Ok(())
}

fn profile_id(id: &[u8], profile: &mut Profile, intake: &mut Intake) -> Result<()> {
    common::fixed_id(id, &mut profile.profile_id.0, losses::PROFILE_ID_DROPPED, intake)
        .map_err(|e| e.within("profile_id"))
}

fn original_payload(bytes: &[u8], profile: &mut Profile, intake: &mut Intake) -> Result<()> {
    intake.budget.take::<u8>(bytes.len())?;
    profile.original_payload = bytes.to_vec().into();
    Ok(())
}

/// The profile in a container. Said several times, its parts are one message after another.
fn inner_profile<'a, G: Generation>(
    body: &'a [u8],
    intake: &mut Intake,
) -> Result<std::borrow::Cow<'a, [u8]>> {
    let mut reader = Reader::new(body);
    let mut inner: Option<std::borrow::Cow<'a, [u8]>> = None;
    while let Some(tag) = reader.tag()? {
        if is!(tag, G::SCHEMA.container.profile, LEN) {
            let part = reader.bytes()?;
            inner = Some(match inner {
                None => part.into(),
                Some(before) => {
                    intake.budget.take::<u8>(before.len() + part.len())?;
                    [&before, part].concat().into()
                }
            });
        } else {
            reader.skip(tag, intake.limits().max_nesting)?;
        }
    }
    Ok(inner.unwrap_or_default())
}
