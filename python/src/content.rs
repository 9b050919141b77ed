//! Profiles in memory, shared by the Python objects that show their parts.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use otlp_profiles::detect::Detected;
use otlp_profiles::transform::Merged;
use otlp_profiles::{
    Format, Losses, Profile, Profiles, ReadFinding, Reading, Severity, Verdict, WriteOptions,
    Written, write, write_all,
};

use xxhash_rust::xxh3::Xxh3;

use crate::error::Failure;
use crate::table::{Collector, Dataset};

/// Profiles, how they were read, and the places of each profile.
pub(crate) struct Content {
    pub(crate) profiles: Profiles,
    /// `None` of merged profiles.
    pub(crate) detected: Option<Detected>,
    pub(crate) findings: Vec<ReadFinding>,
    /// The losses of a merge.
    pub(crate) losses: Losses,
    /// The nanoseconds that each profile of a merge covers.
    pub(crate) covered_nanos: Vec<i128>,
    /// The name of the file; empty for bytes and merged profiles.
    pub(crate) input: String,
    /// The tables, if they were asked for.
    dataset: OnceLock<Dataset>,
    places: Vec<Place>,
}

/// The rows of the resource, the scope and the profile.
#[derive(Clone, Copy)]
pub(crate) struct Place(pub(crate) u32, pub(crate) u32, u32);

impl Content {
    pub(crate) fn new(reading: Reading, path: Option<&Path>) -> Arc<Self> {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        Arc::new(Self {
            places: places(&reading.profiles),
            profiles: reading.profiles,
            detected: Some(reading.detected),
            findings: reading.findings,
            losses: Losses::default(),
            covered_nanos: Vec::new(),
            input: name.to_string_lossy().into_owned(),
            dataset: OnceLock::new(),
        })
    }

    pub(crate) fn merged(merged: Merged, findings: Vec<ReadFinding>) -> Arc<Self> {
        Arc::new(Self {
            places: places(&merged.profiles),
            profiles: merged.profiles,
            detected: None,
            findings,
            losses: merged.losses,
            covered_nanos: merged.covered_nanos,
            input: String::new(),
            dataset: OnceLock::new(),
        })
    }

    /// Returns the tables. If threads ask for the first time together, they get the same rows.
    pub(crate) fn dataset(&self) -> Result<&Dataset, Failure> {
        if let Some(dataset) = self.dataset.get() {
            return Ok(dataset);
        }
        let mut collector = Collector::new()?;
        collector.add(self)?;
        let dataset = collector.finish()?;
        Ok(self.dataset.get_or_init(|| dataset))
    }

    /// The name of the format; empty of merged profiles.
    pub(crate) fn format(&self) -> &'static str {
        self.detected.as_ref().map_or("", |detected| detected.format.name())
    }

    /// The hash of the profiles and of the name of their file.
    pub(crate) fn hash(&self) -> Result<u128, Failure> {
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

    pub(crate) fn profile(&self, Place(resource, scope, profile): Place) -> &Profile {
        let resource = &self.profiles.resource_profiles()[resource as usize];
        &resource.scope_profiles()[scope as usize].profiles()[profile as usize]
    }

    pub(crate) fn write(
        &self,
        format: Format,
        deny_loss: bool,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let written = write(&self.profiles, format, options)?;
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

    /// How faithful the payloads are to the input: repairs and losses of a merge count too.
    pub(crate) fn verdict(&self, losses: &Losses) -> Verdict {
        let worst = self.findings.iter().map(|finding| finding.severity).max();
        let reading = match worst {
            None => Verdict::Exact,
            Some(Severity::Info) => Verdict::Semantic,
            Some(_) => Verdict::Lossy,
        };
        losses.verdict().max(reading)
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
