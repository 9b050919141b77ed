//! Filters of samples and frames, with pprof's rules.

use crate::error::Result;
use crate::look::frames::{Matches, map_lines, map_stacks, prune_from, show_from};
use crate::look::label::Units;
use crate::look::pattern::Pattern;
use crate::look::tag::{self, TagFilter, each_profile};
use crate::model::dictionary::{Dictionary, Line};
use crate::model::id::StackId;
use crate::model::{AttributeOwner, Profiles};
use crate::semconv::{LABEL_SPAN_ID, LABEL_TRACE_ID};

/// Filters of samples, frames and attributes: those of `pprof`, with its rules. The fields are in the order in which
/// [`apply`](Self::apply) applies them.
///
/// A pattern matches a frame by the name of the function, its file, or the file of the binary; the pattern of
/// [`prune_from`](Self::prune_from) matches by the name of the function only.
///
/// ```
/// use otlp_profiles::look::{self, Filter, Pattern};
/// # let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
///
/// let mut filter = Filter::default();
/// filter.focus = Some(Pattern::new("main.leak", |name| name.contains("main.leak")));
/// assert!(filter.apply(&mut profiles)?.is_empty(), "every filter matched");
/// for sample in profiles.iter().next().unwrap().samples() {
///     assert!(profiles.dictionary().frames(sample.stack).any(|frame| frame.name() == "main.leak"));
/// }
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Add a frame for each of these attributes at the root of every stack; the first key becomes the root.
    pub tag_root: Vec<String>,
    /// Add a frame for each of these attributes at the leaf of every stack; the last key becomes the leaf.
    pub tag_leaf: Vec<String>,
    /// Keep samples with a frame that matches.
    pub focus: Option<Pattern>,
    /// Drop samples with a frame that matches.
    pub ignore: Option<Pattern>,
    /// Remove frames that match.
    pub hide: Option<Pattern>,
    /// Keep only frames that match.
    pub show: Option<Pattern>,
    /// Remove frames above the rootmost match; drop samples without a match.
    pub show_from: Option<Pattern>,
    /// Keep samples with an attribute that matches.
    pub tag_focus: Option<TagFilter>,
    /// Drop samples with an attribute that matches.
    pub tag_ignore: Option<TagFilter>,
    /// Keep only attributes of samples whose key matches.
    pub tag_show: Option<Pattern>,
    /// Remove attributes of samples whose key matches.
    pub tag_hide: Option<Pattern>,
    /// Remove frames below the leafmost match.
    pub prune_from: Option<Pattern>,
}

impl Filter {
    /// Returns whether no filter is set.
    pub fn is_empty(&self) -> bool {
        let Self { tag_root, tag_leaf, tag_focus, tag_ignore, .. } = self;
        let patterns = [
            &self.focus,
            &self.ignore,
            &self.hide,
            &self.show,
            &self.show_from,
            &self.tag_show,
            &self.tag_hide,
            &self.prune_from,
        ];
        tag_root.is_empty()
            && tag_leaf.is_empty()
            && tag_focus.is_none()
            && tag_ignore.is_none()
            && patterns.iter().all(|pattern| pattern.is_none())
    }

    /// The filters as pprof lists them above a report.
    pub(super) fn described(&self) -> Vec<String> {
        let named = |name: &str, pattern: &Option<Pattern>| {
            pattern.as_ref().map(|pattern| format!("{name}={}", pattern.text()))
        };
        let tagged = |name: &str, filter: &Option<TagFilter>| {
            filter.as_ref().map(|filter| format!("{name}={}", filter.text()))
        };
        let all = [
            named("focus", &self.focus),
            named("ignore", &self.ignore),
            named("hide", &self.hide),
            named("show", &self.show),
            named("show_from", &self.show_from),
            tagged("tagfocus", &self.tag_focus),
            tagged("tagignore", &self.tag_ignore),
            named("tagshow", &self.tag_show),
            named("taghide", &self.tag_hide),
        ];
        all.into_iter().flatten().collect()
    }

    /// Applies all filters to all profiles. Returns the names of those that matched nothing, as a caller should warn of
    /// them.
    ///
    /// Unreferenced rows stay in the tables: see [`Profiles::compact`]. It takes time linear in the
    /// size of the profiles, and tests each distinct name once per pattern.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the frames of [`tag_root`](Self::tag_root) and
    /// [`tag_leaf`](Self::tag_leaf) make more stacks than the model can hold.
    pub fn apply(&self, profiles: &mut Profiles) -> Result<Vec<&'static str>> {
        let mut unmatched = Vec::new();
        let mut note = |name, matched: bool| unmatched.extend((!matched).then_some(name));
        // Units come from all samples, so that filters of frames do not change the meaning of those of attributes.
        let tag_filters = [&self.tag_focus, &self.tag_ignore];
        let is_set = tag_filters.iter().any(|filter| filter.is_some());
        let units = if is_set { Units::of(profiles) } else { Units::default() };
        if !(self.tag_root.is_empty() && self.tag_leaf.is_empty()) {
            let [root, leaf] = tag::add_frames(profiles, &self.tag_root, &self.tag_leaf)?;
            note("tagroot", root || self.tag_root.is_empty());
            note("tagleaf", leaf || self.tag_leaf.is_empty());
        }
        if [&self.focus, &self.ignore, &self.hide, &self.show].iter().any(|one| one.is_some()) {
            let (kept, matched) = self.by_name(&mut profiles.dictionary);
            retain_stacks(profiles, &kept);
            ["focus", "ignore", "hide", "show"]
                .into_iter()
                .zip(matched)
                .for_each(|(n, m)| note(n, m));
        }
        if let Some(pattern) = &self.show_from {
            let (kept, matched) = show_from(&mut profiles.dictionary, pattern);
            retain_stacks(profiles, &kept);
            note("show_from", matched);
        }
        let wanted = [true, false];
        let tests = tag_filters.into_iter().zip(wanted);
        let tests: Vec<_> = tests.filter_map(|(test, is)| Some((test.as_ref()?, is))).collect();
        for ((_, is_focus), matched) in tests.iter().zip(tag::retain(profiles, &tests, &units).0) {
            note(if *is_focus { "tagfocus" } else { "tagignore" }, matched);
        }
        if self.tag_show.is_some() || self.tag_hide.is_some() {
            self.tags(profiles)?;
        }
        if let Some(pattern) = &self.prune_from {
            note("prune_from", prune_from(&mut profiles.dictionary, pattern));
        }
        Ok(unmatched)
    }

    /// Applies the four filters by name to the tables. Returns which stacks stay, and which filters matched.
    fn by_name(&self, dictionary: &mut Dictionary) -> (Vec<bool>, [bool; 4]) {
        let of =
            |pattern: &Option<Pattern>| pattern.as_ref().map(|one| Matches::new(dictionary, one));
        let [focus, ignore, hide, show] =
            [&self.focus, &self.ignore, &self.hide, &self.show].map(of);
        let mut matched = [focus.is_none(), ignore.is_none(), hide.is_none(), show.is_none()];
        // By location: whether it is hidden, ignored, in focus.
        let mut states = vec![(false, false, false); dictionary.locations.len()];
        map_lines(dictionary, |location, mapping, lines, out| {
            let (hidden, ignored, focused) = &mut states[location];
            *ignored = ignore.as_ref().is_some_and(|one| one.any(mapping, lines));
            *focused = !*ignored && focus.as_ref().is_none_or(|one| one.any(mapping, lines));
            let hit = hide.as_ref().filter(|one| one.any(mapping, lines));
            let whole = hit.is_some_and(|one| one.mappings[mapping]);
            let stays = |line: &&Line| hit.is_none_or(|one| !one.function(line));
            out.extend(lines.iter().filter(stays).filter(|_| !whole));
            *hidden = hit.is_some() && out.is_empty();
            if let Some(show) = &show {
                if !show.mappings[mapping] {
                    out.retain(|line| line.function.some().is_none() || show.function(line));
                }
                *hidden = out.is_empty();
                matched[3] |= !out.is_empty();
            }
            matched[0] |= *focused;
            matched[1] |= *ignored;
            matched[2] |= hit.is_some();
        });
        let any_hidden = states.iter().any(|state| state.0);
        let kept = map_stacks(dictionary, |stack, out| {
            out.extend(stack.iter().filter(|location| !states[location.row()].0));
            // As in pprof, hidden frames still decide whether a stack is in focus.
            let focused = stack.iter().any(|location| states[location.row()].2);
            let ignored = stack.iter().any(|location| states[location.row()].1);
            // As in pprof, a stack without frames stays unless some frame is hidden.
            focused && !ignored && !(any_hidden && out.is_empty())
        });
        (kept, matched)
    }

    /// Removes attributes of samples by key. A link has both of its keys or is removed.
    fn tags(&self, profiles: &mut Profiles) -> Result<()> {
        let keep = |key: &str| {
            self.tag_show.as_ref().is_none_or(|show| show.matches(key))
                && !self.tag_hide.as_ref().is_some_and(|hide| hide.matches(key))
        };
        profiles
            .edit_attributes(AttributeOwner::Sample, |labels| labels.retain(|one| keep(one.key)))?;
        if !(keep(LABEL_TRACE_ID) && keep(LABEL_SPAN_ID)) {
            each_profile(profiles, |profile| profile.samples.links.clear());
        }
        Ok(())
    }
}

/// Drops the samples whose stack is not kept.
fn retain_stacks(profiles: &mut Profiles, kept: &[bool]) {
    let is_kept = |stack: &StackId| kept.get(stack.row()).copied().unwrap_or_default();
    each_profile(profiles, |profile| {
        let keep: Vec<bool> = profile.samples.stacks.iter().map(is_kept).collect();
        if keep.contains(&false) {
            profile.samples.retain(&keep);
        }
    });
}
