//! The configuration: sources, sinks and their stages, in Ceilometer's words.
//!
//! ```text
//! sources: meters ─► names of sinks        sinks: transformers ─► publishers
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glob::Pattern;
use otlp_profiles::transform::Stage;

use crate::input::Inputs;
use crate::pipeline::publisher::Publisher;
use crate::pipeline::stages::stage;
use crate::pipeline::yaml::{Document, Map, Node};
use crate::text::shown_path;

/// Which profiles go where.
pub(super) struct Config {
    pub(super) sources: Vec<Source>,
    pub(super) sinks: Vec<Sink>,
    /// Parameters without effect.
    pub(super) warnings: Vec<String>,
}

/// Sample types, and the rows of the sinks that they go to.
pub(super) struct Source {
    pub(super) name: String,
    meters: Meters,
    pub(super) sinks: Vec<usize>,
}

/// A chain of stages, and where its profiles go.
pub(super) struct Sink {
    pub(super) name: String,
    pub(super) stages: Vec<Stage>,
    pub(super) publishers: Vec<Publisher>,
}

/// Names of sample types; exclusions come first.
#[derive(Default)]
struct Meters {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
    /// Everything that is not excluded.
    rest: bool,
}

impl Source {
    /// Whether the source selects a sample type.
    pub(super) fn has(&self, name: &str) -> bool {
        let Meters { included, excluded, rest } = &self.meters;
        let matches = |patterns: &[Pattern]| patterns.iter().any(|of| of.matches(name));
        !matches(excluded) && (*rest || matches(included))
    }
}

impl Config {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// All errors in it, each with its line and column.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Vec<String>> {
        let document = Document::new(name.to_owned());
        let config = document.parse(text, root);
        let errors = document.into_errors();
        config.filter(|_| errors.is_empty()).ok_or(errors)
    }
}

impl Config {
    /// Leaves out the files of a folder that publishers wrote in an earlier run.
    pub(super) fn leave_out_outputs(&self, inputs: &mut Inputs) {
        let publishers = || self.sinks.iter().flat_map(|sink| &sink.publishers);
        let owned = |path: &Path| publishers().any(|publisher| publisher.owns(path));
        inputs.leave_out_outputs(owned);
    }
}

fn root(root: Node<'_>) -> Option<Config> {
    let root = root.map(&["sources", "sinks"])?;
    let (mut warnings, mut targets) = (Vec::new(), BTreeSet::new());
    let (mut sinks, mut sources, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for node in root.needs("sinks")?.list()? {
        let map = node.map(&["name", "transformers", "publishers"])?;
        let name = unique(&map, &mut names).unwrap_or_default();
        sinks.push(sink(&map, name, &mut targets, &mut warnings));
    }
    let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    let mut names = Vec::new();
    for node in root.needs("sources")?.list()? {
        let map = node.map(&["name", "meters", "sinks", "interval", "resources"])?;
        let name = unique(&map, &mut names).unwrap_or_default();
        for key in ["interval", "resources"].iter().filter(|key| map.get(key).is_some()) {
            warnings.push(format!(
                "{key} of source {name} has no effect: inputs are the files of the command line"
            ));
        }
        let meters = map.needs("meters").and_then(meters).unwrap_or_default();
        let mut rows = Vec::new();
        for (sink, node) in map.needs("sinks").and_then(|node| node.texts()).unwrap_or_default() {
            match known.iter().position(|name| *name == sink) {
                Some(row) if rows.contains(&row) => {
                    node.error(format!("sink {sink:?} is listed twice"));
                }
                Some(row) => rows.push(row),
                None => {
                    let known = known.join(", ");
                    node.error(format!("sink {sink:?} is not defined: the sinks are {known}"));
                }
            }
        }
        sources.push(Source { name: name.to_owned(), meters, sinks: rows });
    }
    Some(Config { sources, sinks, warnings })
}

/// The name, which no other in the list may have.
fn unique<'a>(map: &Map<'a>, names: &mut Vec<(&'a str, Node<'a>)>) -> Option<&'a str> {
    let node = map.needs("name")?;
    let name = node.text()?;
    if let Some((_, first)) = names.iter().find(|(other, _)| *other == name) {
        node.error(format!("the name {name:?} is taken, at {}", first.place()));
    }
    names.push((name, node));
    Some(name)
}

fn meters(node: Node<'_>) -> Option<Meters> {
    let mut meters = Meters::default();
    let all = node.texts()?;
    if node.list()?.is_empty() {
        node.error("meters is empty: give \"*\", names such as \"alloc_*\", or exclusions such as \"!cpu\"");
    }
    let (mut included, mut wildcard) = (None, false);
    for (text, node) in &all {
        let (excludes, name) = text.strip_prefix('!').map_or((false, *text), |name| (true, name));
        let pattern = match Pattern::new(name) {
            Ok(pattern) => pattern,
            Err(error) => {
                node.error(format!("{name:?} is not a pattern: {}", error.msg));
                continue;
            }
        };
        match (excludes, name) {
            (true, _) => meters.excluded.push(pattern),
            (false, "*") => wildcard = true,
            (false, _) => {
                included.get_or_insert(*text);
                meters.included.push(pattern);
            }
        }
    }
    let excluded = all.iter().find(|(text, _)| text.starts_with('!'));
    match (included, excluded) {
        (Some(name), _) if wildcard => {
            node.error(format!("\"*\" includes {name:?}: leave out either"));
        }
        (Some(name), Some((excluded, node))) => {
            node.error(format!("{excluded:?} excludes, and {name:?} includes: leave out either"));
        }
        _ => {}
    }
    meters.rest = wildcard || included.is_none();
    Some(meters)
}

/// Reads a sink. `targets` has the outputs of all publishers so far.
fn sink(
    map: &Map<'_>,
    name: &str,
    targets: &mut BTreeSet<PathBuf>,
    warnings: &mut Vec<String>,
) -> Sink {
    let transformers = map.get("transformers").and_then(|node| node.list()).unwrap_or_default();
    let stages = transformers.into_iter().filter_map(stage).collect();
    let publishers = map.needs("publishers").and_then(|node| {
        let urls = node.texts()?;
        if node.list()?.is_empty() {
            let message =
                "publishers is empty: add one, such as file:///var/profiles/heap or stdout";
            node.error(message);
        }
        let publisher = |(url, node): (&str, Node<'_>)| match Publisher::parse(url) {
            Ok(publisher) => {
                let own = publisher.targets();
                if let Some(target) = own.iter().find(|target| targets.contains(*target)) {
                    node.error(format!("another publisher writes {}, too", shown_path(target)));
                }
                targets.extend(own);
                Some(publisher)
            }
            Err(message) => {
                node.error(format!("publisher {url:?}: {message}"));
                None
            }
        };
        Some(urls.into_iter().filter_map(publisher).collect::<Vec<_>>())
    });
    let publishers = publishers.unwrap_or_default();
    warnings.extend(publishers.iter().filter_map(Publisher::warning));
    Sink { name: name.to_owned(), stages, publishers }
}
