//! Flags that filter samples and frames, named as in pprof.

use std::collections::BTreeSet;

use otlp_profiles::Profiles;
use otlp_profiles::look::{self, Filter, Pattern, TagFilter, drop_declared_frames};
use regex::Regex;
use strsim::levenshtein;

use crate::exit::{Exit, Failure};
use crate::text::shown;

/// The choice of samples by their attributes, for all subcommands that read profiles.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Input")]
#[group(skip)]
pub(crate) struct Selection {
    /// Keep samples with an attribute that matches: of the sample, profile, scope or resource; repeatable, all must match
    #[arg(long = "where", hide_short_help = true, alias = "where-resource", value_name = "KEY=REGEX", value_parser = keyed_filter)]
    filters: Vec<TagFilter>,
}

/// The result of a [`Selection`] for the messages of an input.
#[derive(Default)]
pub(crate) struct Selected {
    is_left: bool,
    /// Why the first message without a match has none.
    unmatched: Option<String>,
}

impl Selected {
    /// Fails if no message of the input has a sample to select. A run [skips](crate::session::Session::skip) such an
    /// input.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.unmatched.filter(|_| !self.is_left) {
            Some(message) => {
                Err(Failure { is_unmatched: true, ..Failure::new(Exit::Input, message) })
            }
            None => Ok(()),
        }
    }
}

impl Selection {
    /// Whether no filter is given.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Keeps the samples that match, and drops profiles, scopes and resources of which nothing is left.
    pub(crate) fn apply(&self, profiles: &mut Profiles, selected: &mut Selected) {
        if self.filters.is_empty() {
            return;
        }
        let resources = profiles.resource_profiles().len();
        let keys = self.filters.iter().filter_map(TagFilter::key);
        let advice = unknown_keys(&[profiles], keys);
        let is_left = look::retain_by_attributes(profiles, &self.filters);
        if profiles.resource_profiles().len() < resources {
            // The binary that heads a report must be one of the resources that stay.
            profiles.compact();
        }
        selected.is_left |= is_left;
        if !is_left && selected.unmatched.is_none() {
            let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
            selected.unmatched = Some(format!("no sample matches --where{advice}"));
        }
    }
}

/// Says which keys no attribute has, with the nearest one that exists.
pub(crate) fn unknown_keys<'k>(
    profiles: &[&Profiles],
    wanted: impl IntoIterator<Item = &'k str>,
) -> Option<String> {
    let mut wanted = wanted.into_iter().peekable();
    wanted.peek()?;
    let known: BTreeSet<&str> =
        profiles.iter().flat_map(|profiles| look::attribute_keys(profiles)).collect();
    let unknown = wanted.filter(|key| !known.contains(key)).map(|key| {
        // A long key is no typo of another, and comparing takes the product of the lengths.
        let near = known.iter().filter(|other| other.len() < 2 * key.len().min(64));
        let nearest = near.min_by_key(|other| levenshtein(key, other));
        let advice = nearest.map(|other| format!(": the nearest is {}", shown(other)));
        format!("no attribute has the key {}{}", shown(key), advice.unwrap_or_default())
    });
    Some(unknown.collect::<Vec<_>>().join("; ")).filter(|message| !message.is_empty())
}

/// The flags for [`Filter`]. Regular expressions are unanchored.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Keep samples with a frame whose function, file or binary matches
    #[arg(long, value_name = "REGEX", value_parser = compile)]
    focus: Option<Pattern>,
    /// Drop samples with a frame that matches
    #[arg(long, value_name = "REGEX", value_parser = compile)]
    ignore: Option<Pattern>,
    /// Remove frames that match; their values go to the callers
    #[arg(long, value_name = "REGEX", value_parser = compile)]
    hide: Option<Pattern>,
    /// Keep only frames that match
    #[arg(long, value_name = "REGEX", value_parser = compile)]
    show: Option<Pattern>,
    /// Remove frames above the outermost match, and samples without one
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    show_from: Option<Pattern>,
    /// Remove frames below the innermost match of a function's name
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    prune_from: Option<Pattern>,
    /// Keep samples with an attribute in a range or that matches, such as KEY=REGEX or bytes=1kb:4kb
    #[arg(long, value_name = "ATTRIBUTE", value_parser = tag_filter)]
    tagfocus: Option<TagFilter>,
    /// Drop samples with such an attribute
    #[arg(long, value_name = "ATTRIBUTE", value_parser = tag_filter)]
    tagignore: Option<TagFilter>,
    /// Keep only attributes of samples whose key matches
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    tagshow: Option<Pattern>,
    /// Remove attributes of samples whose key matches
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    taghide: Option<Pattern>,
    /// Add a frame for the value of each of these attributes at the root of stacks
    #[arg(long, value_name = "KEY", value_delimiter = ',', hide_short_help = true)]
    tagroot: Vec<String>,
    /// Add a frame for the value of each of these attributes at the leaf of stacks
    #[arg(long, value_name = "KEY", value_delimiter = ',', hide_short_help = true)]
    tagleaf: Vec<String>,
    /// Keep the frames that the profile declares to be of no interest
    #[arg(long, hide_short_help = true)]
    all_frames: bool,
    /// Fail if a filter matches nothing
    #[arg(long, hide_short_help = true)]
    require_match: bool,
}

/// Compiles a regular expression. The error is the last line of the report, as the others repeat
/// the expression.
pub(crate) fn compile(text: &str) -> Result<Pattern, String> {
    let regex = Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        last.strip_prefix("error: ").unwrap_or(last).to_owned()
    })?;
    Ok(Pattern::new(text, move |name| regex.is_match(name)))
}

/// Drops the frames that profiles declare to be of no interest; `hint` follows the message about a wrong expression.
pub(crate) fn drop_declared(profiles: &mut Profiles, hint: &str) -> Result<(), Failure> {
    drop_declared_frames(profiles, compile).map_err(|error| {
        let failure = Failure::of(&error, Exit::Input);
        Failure { message: failure.message.clone() + hint, ..failure }
    })
}

/// Parses a filter of the attributes of one key.
fn keyed_filter(text: &str) -> Result<TagFilter, String> {
    tag_filter(text).and_then(|filter| match filter.key() {
        Some(key) if !key.is_empty() => Ok(filter),
        _ => Err("expected KEY=REGEX, such as service.name=cart".to_owned()),
    })
}

/// Parses a filter of attributes.
fn tag_filter(text: &str) -> Result<TagFilter, String> {
    TagFilter::parse(text, compile)
}

impl FilterArgs {
    /// Returns whether a filter of samples, frames or attributes was given.
    pub(crate) fn are_given(&self) -> bool {
        let Self { focus, ignore, hide, show, show_from, prune_from, tagshow, taghide, .. } = self;
        let patterns = [focus, ignore, hide, show, show_from, prune_from, tagshow, taghide];
        let tags = [&self.tagfocus, &self.tagignore];
        patterns.iter().any(|one| one.is_some())
            || tags.iter().any(|one| one.is_some())
            || !(self.tagroot.is_empty() && self.tagleaf.is_empty())
    }

    /// Drops the frames that the profiles declare to be of no interest, unless `--all-frames` was given.
    ///
    /// # Errors
    ///
    /// A regular expression that the profiles declare does not compile.
    pub(crate) fn drop_declared(&self, profiles: &mut Profiles) -> Result<(), Failure> {
        if self.all_frames { Ok(()) } else { drop_declared(profiles, "; --all-frames keeps them") }
    }

    /// Builds the filter.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        self.focus.clone_into(&mut filter.focus);
        self.ignore.clone_into(&mut filter.ignore);
        self.hide.clone_into(&mut filter.hide);
        self.show.clone_into(&mut filter.show);
        self.show_from.clone_into(&mut filter.show_from);
        self.prune_from.clone_into(&mut filter.prune_from);
        self.tagfocus.clone_into(&mut filter.tag_focus);
        self.tagignore.clone_into(&mut filter.tag_ignore);
        self.tagshow.clone_into(&mut filter.tag_show);
        self.taghide.clone_into(&mut filter.tag_hide);
        self.tagroot.clone_into(&mut filter.tag_root);
        self.tagleaf.clone_into(&mut filter.tag_leaf);
        filter
    }

    /// Returns a warning about filters without a match.
    ///
    /// # Errors
    ///
    /// There are such filters, and `--require-match` was given.
    pub(crate) fn unmatched(
        &self,
        names: &[&str],
        profiles: &Profiles,
    ) -> Result<Option<String>, Failure> {
        let tested = [&self.tagfocus, &self.tagignore].into_iter().flatten();
        let keys = tested.filter_map(TagFilter::key);
        let keys = keys.chain(self.tagroot.iter().chain(&self.tagleaf).map(|key| &**key));
        let mut parts: Vec<String> = unknown_keys(&[profiles], keys).into_iter().collect();
        if !names.is_empty() {
            let flags = names.iter().map(|name| format!("--{}", name.replace('_', "-")));
            let flags = flags.collect::<Vec<_>>().join(", ");
            parts.insert(0, format!("no sample matches {flags}"));
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let message = parts.join("; ");
        if self.require_match {
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(Some(message))
    }
}
