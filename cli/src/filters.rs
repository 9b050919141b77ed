//! Flags that filter samples and frames, named as in pprof.

use otlp_profiles::Profiles;
use otlp_profiles::look::{Filter, Pattern, TagFilter};
use regex::Regex;

use crate::exit::{Exit, Failure};

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
    /// Keep samples with a label in a range or that matches, such as KEY=REGEX or bytes=1kb:4kb
    #[arg(long, value_name = "LABEL", value_parser = tag_filter)]
    tagfocus: Option<TagFilter>,
    /// Drop samples with such a label
    #[arg(long, value_name = "LABEL", value_parser = tag_filter)]
    tagignore: Option<TagFilter>,
    /// Keep only labels whose key matches
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    tagshow: Option<Pattern>,
    /// Remove labels whose key matches
    #[arg(long, value_name = "REGEX", value_parser = compile, hide_short_help = true)]
    taghide: Option<Pattern>,
    /// Add a frame for the value of each label at the root of stacks
    #[arg(long, value_name = "KEY", value_delimiter = ',', hide_short_help = true)]
    tagroot: Vec<String>,
    /// Add a frame for the value of each label at the leaf of stacks
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

/// Sets the filter of the frames that profiles declare to be of no interest.
fn declared(filter: &mut Filter, profiles: &Profiles, hint: &str) -> Result<(), Failure> {
    filter.drop_declared(profiles, compile).map_err(|error| {
        let message = format!(
            "the profile declares frames to drop by a wrong regular expression: {error}{hint}"
        );
        Failure::new(Exit::Input, message)
    })
}

/// Drops the frames that profiles declare to be of no interest.
pub(crate) fn drop_declared(profiles: &mut Profiles) -> Result<(), Failure> {
    let mut filter = Filter::default();
    declared(&mut filter, profiles, "")?;
    filter.apply(profiles).map(drop).map_err(|error| Failure::of(&error, Exit::Input))
}

/// Parses a filter of labels.
fn tag_filter(text: &str) -> Result<TagFilter, String> {
    TagFilter::parse(text, compile)
}

impl FilterArgs {
    /// Returns whether a filter of samples, frames or labels was given.
    pub(crate) fn are_given(&self) -> bool {
        let Self { focus, ignore, hide, show, show_from, prune_from, tagshow, taghide, .. } = self;
        let patterns = [focus, ignore, hide, show, show_from, prune_from, tagshow, taghide];
        let tags = [&self.tagfocus, &self.tagignore];
        patterns.iter().any(|one| one.is_some())
            || tags.iter().any(|one| one.is_some())
            || !(self.tagroot.is_empty() && self.tagleaf.is_empty())
    }

    /// Builds the filter, with the drop expressions that the profiles declare.
    ///
    /// # Errors
    ///
    /// A regular expression that the profiles declare does not compile.
    pub(crate) fn filter(&self, profiles: &Profiles) -> Result<Filter, Failure> {
        let mut filter = Filter::default();
        if !self.all_frames {
            declared(&mut filter, profiles, "; --all-frames keeps them")?;
        }
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
        Ok(filter)
    }

    /// Returns a warning about filters without a match.
    ///
    /// # Errors
    ///
    /// There are such filters, and `--require-match` was given.
    pub(crate) fn unmatched(&self, names: &[&str]) -> Result<Option<String>, Failure> {
        if names.is_empty() {
            return Ok(None);
        }
        let flags: Vec<_> =
            names.iter().map(|name| format!("--{}", name.replace('_', "-"))).collect();
        let message = format!("no sample matches {}", flags.join(", "));
        if self.require_match {
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(Some(message))
    }
}
