//! Profiles in memory, shared by the Python objects that show their parts.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use otlp_profiles::detect::Detected;
use otlp_profiles::format::Layout;
use otlp_profiles::transform::{Covered, InputTypes, Merged, Snapshots};
use otlp_profiles::{
    Format, Losses, Profile, Profiles, ReadFinding, Reading, Severity, Verdict, WriteOptions,
    Written, write, write_all,
};

use xxhash_rust::xxh3::Xxh3;

use crate::error::Failure;
use crate::origin::Origin;
use crate::table::{Collector, Dataset};
use crate::types::chosen;

/// Profiles, how they were read, and the places of each profile.
pub(crate) struct Content {
    pub(crate) profiles: Profiles,
    /// `None` of merged profiles.
    pub(crate) detected: Option<Detected>,
    pub(crate) findings: Vec<ReadFinding>,
    /// The losses of a merge or of another transform.
    pub(crate) losses: Losses,
    /// The time that each profile of a merge covers.
    pub(crate) covered: Vec<Covered>,
    /// The sample types of the sources of a merge.
    pub(crate) inputs: InputTypes,
    /// The snapshots that a merge added up.
    pub(crate) snapshots: Vec<Snapshots>,
    /// The name of the file; empty for bytes and merged profiles.
    pub(crate) input: String,
    /// The hash of the input as it was read; `None` for one of several messages, and for profiles that were made.
    pub(crate) hash: Option<u128>,
    /// The tables, if they were asked for.
    dataset: OnceLock<Dataset>,
    places: Vec<Place>,
}

/// The rows of the resource, the scope and the profile.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Place(pub(crate) u32, pub(crate) u32, u32);

impl Content {
    pub(crate) fn new(reading: Reading, path: Option<&Path>, hash: Option<u128>) -> Arc<Self> {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        Arc::new(Self {
            places: places(&reading.profiles),
            profiles: reading.profiles,
            detected: Some(reading.detected),
            findings: reading.findings,
            losses: Losses::default(),
            covered: Vec::new(),
            inputs: InputTypes::default(),
            snapshots: Vec::new(),
            input: name.to_string_lossy().into_owned(),
            hash,
            dataset: OnceLock::new(),
        })
    }

    pub(crate) fn merged(
        merged: Merged,
        findings: Vec<ReadFinding>,
        inputs: InputTypes,
    ) -> Arc<Self> {
        let are_summed = merged.losses.get("merge.snapshots_summed").is_some();
        let snapshots = if are_summed { merged.snapshots } else { Vec::new() };
        Arc::new(Self {
            snapshots,
            inputs,
            places: places(&merged.profiles),
            profiles: merged.profiles,
            detected: None,
            findings,
            losses: merged.losses,
            covered: merged.covered,
            input: String::new(),
            hash: None,
            dataset: OnceLock::new(),
        })
    }

    /// Profiles that a transform made of these.
    pub(crate) fn made(&self, profiles: Profiles, losses: &Losses) -> Arc<Self> {
        let mut all = self.losses.clone();
        all.merge(losses);
        let places = places(&profiles);
        let times = |profiles: &Profiles| -> Vec<_> {
            profiles.iter().map(|of| (of.time_unix_nano(), of.duration_nanos())).collect()
        };
        let is_same = times(&profiles) == times(&self.profiles);
        Arc::new(Self {
            places,
            profiles,
            detected: self.detected.clone(),
            findings: self.findings.clone(),
            losses: all,
            covered: self.covered.iter().filter(|_| is_same).cloned().collect(),
            inputs: self.inputs.clone(),
            snapshots: self.snapshots.clone(),
            input: self.input.clone(),
            hash: None,
            dataset: OnceLock::new(),
        })
    }

    /// Restores pickled profiles.
    pub(crate) fn restored(
        reading: Reading,
        is_merged: bool,
        (input, hash): (String, Option<u128>),
        covered: Vec<Covered>,
    ) -> Arc<Self> {
        Arc::new(Self {
            places: places(&reading.profiles),
            profiles: reading.profiles,
            detected: Some(reading.detected).filter(|_| !is_merged),
            findings: Vec::new(),
            losses: Losses::default(),
            covered,
            inputs: InputTypes::default(),
            snapshots: Vec::new(),
            input,
            hash,
            dataset: OnceLock::new(),
        })
    }

    /// Encodes the profiles without loss: in their own format, or in another that holds everything.
    pub(crate) fn encoded(&self) -> Result<(Vec<u8>, Format), Failure> {
        let own = self.detected.as_ref().map(|detected| detected.format);
        let all = WriteOptions::default().layout(Layout::Keep).max_output_bytes(u64::MAX);
        for format in own.into_iter().chain([Format::OTLP, Format::PPROF]) {
            match write(&self.profiles, format, &all) {
                Ok(written) if written.losses.verdict() != Verdict::Lossy => {
                    return Ok((written.payload, format));
                }
                _ => {}
            }
        }
        Err(Failure::Unpicklable)
    }

    /// Returns the tables. If threads ask for the first time together, they get the same rows.
    pub(crate) fn dataset(&self) -> Result<&Dataset, Failure> {
        if let Some(dataset) = self.dataset.get() {
            return Ok(dataset);
        }
        let mut collector = Collector::new()?;
        collector.add(self, &Origin::default())?;
        let dataset = collector.finish()?;
        Ok(self.dataset.get_or_init(|| dataset))
    }

    /// The name of the format; empty of merged profiles.
    pub(crate) fn format(&self) -> &'static str {
        self.detected.as_ref().map_or("", |detected| detected.format.name())
    }

    /// The hash of the input. That of profiles without one covers them and the name of their file.
    pub(crate) fn hash(&self) -> Result<u128, Failure> {
        if let Some(hash) = self.hash {
            return Ok(hash);
        }
        let all = WriteOptions::default().max_output_bytes(u64::MAX);
        let (payloads, _) = write_all(&self.profiles, Format::OTLP, &all)?;
        let parts = payloads.iter().map(|payload| &payload[..]).chain([self.input.as_bytes()]);
        let mut hash = Xxh3::new();
        parts.for_each(|part| hash.update(part));
        Ok(hash.digest128())
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn place(&self, row: usize) -> Place {
        self.places[row]
    }

    pub(crate) fn row(&self, place: Place) -> Option<usize> {
        self.places.iter().position(|one| *one == place)
    }

    pub(crate) fn profile(&self, Place(resource, scope, profile): Place) -> &Profile {
        let resource = &self.profiles.resource_profiles()[resource as usize];
        &resource.scope_profiles()[scope as usize].profiles()[profile as usize]
    }

    pub(crate) fn write(
        &self,
        format: Format,
        sample_type: Option<&str>,
        deny_loss: bool,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let chosen = chosen(&self.profiles, sample_type, format)?;
        let written = write(chosen.as_ref().unwrap_or(&self.profiles), format, options)?;
        self.check(deny_loss, &written.losses)?;
        Ok(written)
    }

    pub(crate) fn write_all(
        &self,
        format: Format,
        deny_loss: bool,
        options: &WriteOptions,
    ) -> Result<(Vec<Vec<u8>>, Losses), Failure> {
        let (payloads, losses) = write_all(&self.profiles, format, options)?;
        self.check(deny_loss, &losses)?;
        Ok((payloads, losses))
    }

    /// How faithful the payloads are to the input: repairs and losses of transforms count too.
    pub(crate) fn verdict(&self, losses: &Losses) -> Verdict {
        let worst = self.findings.iter().map(|finding| finding.severity).max();
        let reading = match worst {
            None => Verdict::Exact,
            Some(Severity::Info) => Verdict::Semantic,
            Some(_) => Verdict::Lossy,
        };
        losses.verdict().max(self.losses.verdict()).max(reading)
    }

    fn check(&self, deny_loss: bool, losses: &Losses) -> Result<(), Failure> {
        if deny_loss && self.verdict(losses) == Verdict::Lossy {
            return Err(Failure::Denied(losses.iter().cloned().collect(), self.findings.clone()));
        }
        Ok(())
    }
}

fn places(profiles: &Profiles) -> Vec<Place> {
    let mut places = Vec::new();
    for (r, resource) in (0..).zip(profiles.resource_profiles()) {
        for (s, scope) in (0..).zip(resource.scope_profiles()) {
            places.extend((0..).zip(scope.profiles()).map(|(p, _)| Place(r, s, p)));
        }
    }
    places
}
