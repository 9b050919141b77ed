//! The choice of sample types, and labels for files of one type each.
//!
//! ```text
//! --type cpu      the types of that name
//! --type all      all types
//! neither         the default type for formats that hold one type per file, else all types
//! ```

use std::collections::BTreeSet;

use otlp_profiles::losses::LossCode;
use otlp_profiles::model::SampleType;
use otlp_profiles::transform::convert_units;
use otlp_profiles::{Error, Format, Limits, Losses, Profiles, ReadOptions, Summary};

use crate::exit::{Exit, Failure};
use crate::notices::Notices;
use crate::source::is_all;

/// The most types that a message lists.
const MOST_LISTED: usize = 10;

/// Returns the code of a loss that the command itself causes.
///
/// # Errors
///
/// The library has no code with this name.
pub(crate) fn loss(code: &str) -> Result<LossCode, Failure> {
    code.parse().map_err(|error: Error| Failure::of(&error, Exit::Output))
}

/// Whether a file of this format holds values of one type. By name, as a build may lack one of them.
fn has_one_type(format: Format) -> bool {
    ["folded", "firefox"].contains(&format.name())
}

/// The choice of sample types for one output: all its messages get the same.
#[derive(Default)]
pub(crate) struct Choice {
    /// The default type of the first message, if the format holds one type.
    default: Option<(String, String)>,
    kept: Vec<String>,
    left_out: Vec<String>,
}

impl Choice {
    /// Keeps the requested sample types of a message, and counts the others as losses. Returns whether any profile is
    /// left.
    ///
    /// `asked` has the `--type` flags that select among types. It omits flags that describe an input
    /// without types.
    pub(crate) fn keep(
        &mut self,
        profiles: &mut Profiles,
        asked: &[(String, String)],
        to: Format,
        losses: &mut Losses,
    ) -> Result<bool, Failure> {
        if asked.iter().any(is_all) || asked.is_empty() && !has_one_type(to) {
            return Ok(true);
        }
        if asked.is_empty() && self.default.is_none() {
            let default = profiles.default_sample_type();
            self.default = default.map(|of| (of.name.to_owned(), of.unit.to_owned()));
        }
        let wanted: Vec<_> =
            if asked.is_empty() { self.default.iter().collect() } else { asked.iter().collect() };
        let loss = loss("sample_type.left_out")?;
        profiles.retain_sample_types(|entry, kind| {
            let [name, unit] = [kind.name, kind.unit].map(|text| entry.dictionary().text(text));
            let of = SampleType::new(name, unit);
            let is_wanted = wanted.iter().any(|(name, unit)| match &unit[..] {
                "" => name == of.name,
                unit => of.converts_to(SampleType::new(name, unit)),
            });
            losses.add_many(loss, u64::from(!is_wanted), || of.to_string());
            let list = if is_wanted { &mut self.kept } else { &mut self.left_out };
            let shown = of.to_string();
            if list.len() < MOST_LISTED && !list.contains(&shown) {
                list.push(shown);
            }
            is_wanted
        });
        if let Some((name, unit)) = &self.default
            && self.kept.len() > 1
        {
            let is_default = |of: &str, _unit: &str| of == name;
            let converted = convert_units(profiles, unit, is_default);
            losses.merge(&converted.map_err(|error| Failure::writing(&error))?);
            self.kept = vec![SampleType::new(name, unit).to_string()];
        }
        Ok(!profiles.is_empty() || self.left_out.is_empty())
    }

    /// Notes what was left out of an output of one type.
    ///
    /// # Errors
    ///
    /// No profile has a requested type. The message lists the types that exist.
    pub(crate) fn finish(&self, input: &str, notices: &mut Notices) -> Result<(), Failure> {
        let (kept, left_out) = (self.kept.join(", "), self.left_out.join(", "));
        if kept.is_empty() && !left_out.is_empty() {
            let message = format!("no sample type is called as --type asks: there are {left_out}");
            return Err(Failure::new(Exit::Input, message));
        }
        if self.default.is_some() && !left_out.is_empty() {
            notices.note("one type", input, || {
                format!("{input}: wrote {kept} and left out {left_out} (--type all writes every sample type)")
            });
        }
        Ok(())
    }
}

/// Labels each payload with its sample type as `name:unit`, or with the default type if it has
/// several.
pub(crate) fn labels(profiles: &Profiles, payloads: &[Vec<u8>], to: Format) -> Vec<String> {
    let default =
        |profiles: &Profiles| profiles.default_sample_type().unwrap_or_default().to_string();
    if payloads.len() == 1 {
        return vec![default(profiles)];
    }
    if has_one_type(to) {
        let mut seen = BTreeSet::new();
        let dictionary = profiles.dictionary();
        let kinds = profiles.iter().flat_map(|profile| profile.sample_types());
        let kinds =
            kinds.map(|of| SampleType::new(dictionary.text(of.name), dictionary.text(of.unit)));
        return kinds.filter(|kind| seen.insert(*kind)).map(|kind| kind.to_string()).collect();
    }
    let options = ReadOptions::default().limits(Limits::unlimited()).format(to);
    let of = |payload: &Vec<u8>| Summary::of(payload, &options).map(|of| default(of.outline()));
    payloads.iter().map(|payload| of(payload).unwrap_or_default()).collect()
}
