//! The least document or pprof that still fails: what is left out one by one as long as it does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use otlp_profiles::proto::pprof;
use proptest::test_runner::TestCaseError;

use super::doc::{Doc, Profile, Sample, Tables, Type, Val};

/// Tries a property; where it fails, says on which least input, and how.
pub fn check<T: Clone + std::fmt::Debug>(
    input: &T,
    edits: impl Fn(&T) -> Vec<T>,
    property: impl Fn(&T) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let failure = |input: &T| match catch_unwind(AssertUnwindSafe(|| property(input))) {
        Ok(result) => result.err().map(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Some(
                text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                    .unwrap_or_default(),
            )
        }
    };
    let Some(mut failed) = failure(input) else {
        return Ok(());
    };
    std::panic::set_hook(Box::new(|_| {}));
    let mut least = input.clone();
    while let Some((smaller, how)) =
        edits(&least).into_iter().find_map(|edit| failure(&edit).map(|how| (edit, how)))
    {
        (least, failed) = (smaller, how);
    }
    let _ = std::panic::take_hook();
    Err(TestCaseError::fail(format!("{failed}\non {least:?}")))
}

/// All ways to leave something out of a list.
fn without<T: Clone>(list: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
    (0..list.len()).map(|at| [&list[..at], &list[at + 1..]].concat())
}

/// The document with one thing less, in every way that leaves its references whole.
pub fn docs(doc: &Doc) -> Vec<Doc> {
    let mut out: Vec<Doc> =
        without(&doc.resources).map(|resources| Doc { resources, ..doc.clone() }).collect();
    for (r, resource) in doc.resources.iter().enumerate() {
        let mut with = |edit: &dyn Fn(&mut super::doc::Resource)| {
            let mut doc = doc.clone();
            edit(&mut doc.resources[r]);
            out.push(doc);
        };
        for scopes in without(&resource.scopes) {
            with(&|r| r.scopes = scopes.clone());
        }
        with(&|r| {
            let scopes = std::mem::take(&mut r.scopes);
            *r = super::doc::Resource { scopes, ..Default::default() };
        });
        for (s, scope) in resource.scopes.iter().enumerate() {
            with(&|r| {
                let profiles = std::mem::take(&mut r.scopes[s].profiles);
                r.scopes[s] = super::doc::Scope { profiles, ..Default::default() };
            });
            for profiles in without(&scope.profiles) {
                with(&|r| r.scopes[s].profiles = profiles.clone());
            }
            for (p, profile) in scope.profiles.iter().enumerate() {
                for smaller in profile_edits(profile) {
                    with(&|r| r.scopes[s].profiles[p] = smaller.clone());
                }
            }
        }
    }
    out.extend(
        table_edits(&doc.tables)
            .into_iter()
            .map(|tables| Doc { resources: doc.resources.clone(), tables }),
    );
    out.retain(|edit| edit != doc && whole(edit));
    out
}

fn profile_edits(profile: &Profile) -> Vec<Profile> {
    let mut out = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Profile)| {
        let mut smaller = profile.clone();
        edit(&mut smaller);
        out.push(smaller);
    };
    for samples in without(&profile.samples) {
        with(&|p| p.samples = samples.clone());
    }
    for attributes in without(&profile.attributes) {
        with(&|p| p.attributes = attributes.clone());
    }
    for comments in without(&profile.comments) {
        with(&|p| p.comments = comments.clone());
    }
    if profile.types.len() > 1 {
        for at in 0..profile.types.len() {
            with(&|p| {
                p.types.remove(at);
                p.samples.iter_mut().for_each(|s| {
                    s.values.remove(at);
                });
            });
        }
    }
    with(&|p| (p.time, p.duration) = (0, 0));
    with(&|p| p.default.clear());
    with(&|p| (p.period, p.period_type) = (0, Type::default()));
    with(&|p| p.drop_frames.clear());
    with(&|p| p.keep_frames.clear());
    with(&|p| p.dropped = 0);
    with(&|p| p.original = Default::default());
    with(&|p| p.types.iter_mut().for_each(|t| (t.unit, t.temporality) = (String::new(), 0)));
    for at in 0..profile.samples.len() {
        let mut sample = |edit: &dyn Fn(&mut Sample)| with(&|p| edit(&mut p.samples[at]));
        sample(&|s| s.stack = None);
        sample(&|s| s.link = None);
        sample(&|s| s.stacktrace_id.clear());
        for attributes in without(&profile.samples[at].attributes) {
            sample(&|s| s.attributes = attributes.clone());
        }
        sample(&|s| {
            s.times.pop();
            s.values.truncate(s.values.len().max(1));
        });
        sample(&|s| {
            s.times.pop();
            s.values.pop();
        });
        sample(&|s| s.values.iter_mut().for_each(|value| *value = 2));
    }
    out.retain(|p| {
        let shape = |s: &Sample| {
            let one = p.types.len() == 1
                && (s.times.len() == s.values.len() || s.values.is_empty())
                && !s.times.is_empty();
            s.values.len() == p.types.len() || one
        };
        p.samples.iter().all(shape)
    });
    out
}

fn table_edits(tables: &Tables) -> Vec<Tables> {
    let mut out = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Tables)| {
        let mut smaller = tables.clone();
        edit(&mut smaller);
        out.push(smaller);
    };
    with(&|t| _ = t.mappings.pop());
    with(&|t| _ = t.locations.pop());
    with(&|t| _ = t.functions.pop());
    with(&|t| _ = t.stacks.pop());
    with(&|t| _ = t.links.pop());
    with(&|t| _ = t.attributes.pop());
    with(&|t| t.empty_rows = false);
    with(&|t| t.repeat_strings = false);
    for at in 0..tables.stacks.len() {
        for stack in without(&tables.stacks[at]) {
            with(&|t| t.stacks[at] = stack.clone());
        }
    }
    for at in 0..tables.locations.len() {
        with(&|t| t.locations[at].mapping = None);
        with(&|t| t.locations[at].attributes.clear());
        with(&|t| t.locations[at].lines.clear());
        with(&|t| t.locations[at].address = 1);
        with(&|t| t.locations[at].frame_type.clear());
        with(&|t| t.locations[at].folded = false);
    }
    for at in 0..tables.mappings.len() {
        with(&|t| t.mappings[at].attributes.clear());
        with(&|t| t.mappings[at].build_id.clear());
        with(&|t| t.mappings[at].flags = 0);
        with(&|t| t.mappings[at].filename.clear());
    }
    for at in 0..tables.attributes.len() {
        with(&|t| t.attributes[at].value = Val::Int(7));
        with(&|t| t.attributes[at].unit.clear());
    }
    out.retain(|edit| edit != tables);
    out
}

/// Whether every reference has its row.
fn whole(doc: &Doc) -> bool {
    let Tables { mappings, locations, functions, stacks, links, attributes, .. } = &doc.tables;
    let known = |rows: &[usize]| rows.iter().all(|&row| row < attributes.len());
    let profiles = || doc.resources.iter().flat_map(|r| &r.scopes).flat_map(|s| &s.profiles);
    mappings.iter().all(|m| known(&m.attributes))
        && locations.iter().all(|l| {
            let lines = l
                .lines
                .iter()
                .all(|(function, ..)| function.is_none_or(|row| row < functions.len()));
            known(&l.attributes) && lines && l.mapping.is_none_or(|row| row < mappings.len())
        })
        && stacks.iter().flatten().all(|&row| row < locations.len())
        && profiles().all(|p| known(&p.attributes))
        && profiles().flat_map(|p| &p.samples).all(|s| {
            let stack = s.stack.is_none_or(|row| row < stacks.len());
            stack && s.link.is_none_or(|row| row < links.len()) && known(&s.attributes)
        })
}

/// The pprof with one thing less, in every way; strings stay.
pub fn pprofs(profile: &pprof::Profile) -> Vec<pprof::Profile> {
    let mut out = Vec::new();
    let mut with = |edit: &dyn Fn(&mut pprof::Profile)| {
        let mut smaller = profile.clone();
        edit(&mut smaller);
        out.push(smaller);
    };
    for sample in without(&profile.sample) {
        with(&|p| p.sample = sample.clone());
    }
    for at in 0..profile.sample.len() {
        for label in without(&profile.sample[at].label) {
            with(&|p| p.sample[at].label = label.clone());
        }
        for stack in without(&profile.sample[at].location_id) {
            with(&|p| p.sample[at].location_id = stack.clone());
        }
    }
    for at in 0..profile.location.len() {
        with(&|p| p.location[at].line.clear());
        with(&|p| p.location[at].mapping_id = 0);
        if profile.sample.iter().all(|s| !s.location_id.contains(&profile.location[at].id)) {
            with(&|p| _ = p.location.remove(at));
        }
    }
    for at in 0..profile.mapping.len() {
        if profile.location.iter().all(|l| l.mapping_id != profile.mapping[at].id) {
            with(&|p| _ = p.mapping.remove(at));
        }
    }
    for at in 0..profile.function.len() {
        if profile
            .location
            .iter()
            .flat_map(|l| &l.line)
            .all(|l| l.function_id != profile.function[at].id)
        {
            with(&|p| _ = p.function.remove(at));
        }
    }
    with(&|p| (p.time_nanos, p.duration_nanos) = (0, 0));
    with(&|p| (p.period, p.period_type) = (0, None));
    with(&|p| (p.drop_frames, p.keep_frames, p.doc_url) = (0, 0, 0));
    with(&|p| p.comment.clear());
    with(&|p| p.default_sample_type = 0);
    if profile.sample_type.len() > 1 {
        with(&|p| {
            p.sample_type.pop();
            p.sample.iter_mut().for_each(|s| _ = s.value.pop());
        });
    }
    out.retain(|edit| edit != profile);
    out
}
