//! The choice of sample types, and labels for files of one type each.
//!
//! ```text
//! --type cpu      the types of that name
//! --type all      all types
//! neither         the default type for formats that hold one type per file, else all types
//! ```

use std::collections::BTreeSet;

use otlp_profiles::losses::LossCode;
use otlp_profiles::semconv::{PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_DEFAULT_SAMPLE_TYPE};
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

/// Whether a file of this format holds values of one type.
fn has_one_type(format: Format) -> bool {
    [Format::FOLDED, Format::FIREFOX].contains(&format)
}

/// Keeps the requested sample types, and counts the others as losses.
///
/// `asked` has the `--type` flags that select among types. It omits flags that describe an input
/// without types.
///
/// # Errors
///
/// No profile has a requested type. The message lists the types that exist.
pub(crate) fn choose(
    profiles: &mut Profiles,
    asked: &[(String, String)],
    to: Format,
    losses: &mut Losses,
    note: (&mut Notices, &str),
) -> Result<(), Failure> {
    // Formats that hold one type per file get the default type, unless flags select others.
    let all = asked.iter().any(is_all) || asked.is_empty() && !has_one_type(to);
    let default = default_type(profiles).filter(|_| asked.is_empty());
    if all || asked.is_empty() && default.is_none() {
        return Ok(());
    }
    let left_out = loss("sample_type.left_out")?;
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    profiles.retain_sample_types(|entry, kind| {
        let [name, unit] = [kind.name, kind.unit].map(|text| entry.dictionary().text(text));
        let fits = |(of, unit_of): &(String, String)| {
            of == name && (unit_of == unit || unit_of.is_empty() && default.is_none())
        };
        let wanted = asked.iter().chain(&default).any(fits);
        let shown = format!("{name}:{unit}");
        losses.add_many(left_out, u64::from(!wanted), || shown.clone());
        let list = if wanted { &mut kept } else { &mut others };
        if list.len() < MOST_LISTED && !list.contains(&shown) {
            list.push(shown);
        }
        wanted
    });
    if kept.is_empty() && !others.is_empty() {
        let there = others.join(", ");
        let message = format!("no sample type is called as --type asks: there are {there}");
        return Err(Failure::new(Exit::Usage, message));
    }
    if default.is_some() && !others.is_empty() {
        let (notices, input) = note;
        let (kept, others) = (kept.join(", "), others.join(", "));
        notices.note("one type", input, || {
            format!(
                "{input}: wrote {kept} and left out {others} (--type all writes every sample type)"
            )
        });
    }
    Ok(())
}

/// The name and unit of every sample type, in order.
fn types(profiles: &Profiles) -> impl Iterator<Item = (&str, &str)> {
    let dictionary = profiles.dictionary();
    let kinds = profiles.iter().flat_map(|profile| profile.sample_types());
    kinds.map(|kind| (dictionary.text(kind.name), dictionary.text(kind.unit)))
}

/// The sample type that viewers show first: the one that a profile or its scope names, else the
/// last type of the first profile, as in `go tool pprof`. OTLP since 1.8 stores the default type in
/// the first profile.
fn default_type(profiles: &Profiles) -> Option<(String, String)> {
    let named = profiles.entries().find_map(|entry| {
        let own = entry.dictionary().text(entry.profile().default_sample_type());
        let default = entry.attributes().get_str(PPROF_PROFILE_DEFAULT_SAMPLE_TYPE);
        let default =
            default.or_else(|| entry.scope_attributes().get_str(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE));
        Some(own).filter(|own| !own.is_empty()).or(default)
    });
    let named = types(profiles).find(|(name, _)| Some(*name) == named);
    let first = profiles.iter().next()?.sample_types().len();
    let (name, unit) = named.or_else(|| types(profiles).take(first).last())?;
    Some((name.to_owned(), unit.to_owned()))
}

/// Labels each payload with its sample type as `name:unit`, or with the default type if it has
/// several.
pub(crate) fn labels(profiles: &Profiles, payloads: &[Vec<u8>], to: Format) -> Vec<String> {
    let label = |(name, unit): (&str, &str)| format!("{name}:{unit}");
    let default = |profiles: &Profiles| {
        let (name, unit) = default_type(profiles).unwrap_or_default();
        label((&name, &unit))
    };
    if payloads.len() == 1 {
        return vec![default(profiles)];
    }
    if has_one_type(to) {
        let mut seen = BTreeSet::new();
        return types(profiles).filter(|kind| seen.insert(*kind)).map(label).collect();
    }
    let options = ReadOptions::default().limits(Limits::unlimited()).format(to);
    let of = |payload: &Vec<u8>| Summary::of(payload, &options).map(|of| default(of.outline()));
    payloads.iter().map(|payload| of(payload).unwrap_or_default()).collect()
}
