//! Values of a YAML file, with errors that name the line and column.
//!
//! All errors of a file are collected: a wrong value is reported and left out.

use std::cell::RefCell;
use std::collections::BTreeMap;

use otlp_profiles::Error;
use saphyr::{MarkedYaml, YamlLoader};
use saphyr_parser::{Event, Parser, SpannedEventReceiver};

/// The most bytes of a file.
const MAX_BYTES: usize = 256 << 10;
/// The most lists and mappings in each other. A configuration needs six. The tree is walked and dropped by recursion.
const MAX_DEPTH: usize = 64;

/// A file and the errors in it.
pub(super) struct Document {
    name: String,
    errors: RefCell<Vec<(usize, usize, String)>>,
}

impl Document {
    pub(super) fn new(name: String) -> Self {
        Self { name, errors: RefCell::default() }
    }

    /// Reports an error at a line and a column, both counted from 1.
    fn report(&self, line: usize, column: usize, message: impl Into<String>) {
        self.errors.borrow_mut().push((line, column, message.into()));
    }

    /// The errors in the order of the file.
    pub(super) fn into_errors(self) -> Vec<String> {
        let mut errors = self.errors.into_inner();
        errors.sort_by_key(|(line, column, _)| (*line, *column));
        let line = |(line, column, message)| format!("{}:{line}:{column}: {message}", self.name);
        errors.into_iter().map(line).collect()
    }

    /// Parses the text, of which `f` gets the root.
    pub(super) fn parse<T>(&self, text: &str, f: impl FnOnce(Node<'_>) -> Option<T>) -> Option<T> {
        let documents = self.load(text)?;
        match &documents[..] {
            [root] => f(Node { yaml: root, document: self }),
            _ => {
                self.report(1, 1, format!("expected one document, found {}", documents.len()));
                None
            }
        }
    }

    /// Builds the trees of a file, unless it exceeds a limit. The parser's own loader recurses without a limit.
    fn load<'a>(&self, text: &'a str) -> Option<Vec<MarkedYaml<'a>>> {
        if text.len() > MAX_BYTES {
            let bytes = text.len();
            self.report(1, 1, format!("the file has {bytes} bytes, and the limit is {MAX_BYTES}"));
            return None;
        }
        let mut loader = YamlLoader::default();
        let mut depth = Depth::default();
        for event in Parser::new_from_str(text) {
            let event = event.and_then(|(event, span)| {
                let is_deep = depth.of(&event) > MAX_DEPTH;
                if is_deep {
                    let (line, column) = (span.start.line(), span.start.col() + 1);
                    let message =
                        format!("more than {MAX_DEPTH} lists and mappings are in each other");
                    self.report(line, column, message);
                } else {
                    loader.on_event(event, span);
                }
                loader.error().map_or(Ok(is_deep), |error| Err(error.clone()))
            });
            match event {
                Ok(false) => {}
                Ok(true) => return None,
                Err(error) => {
                    let at = error.marker();
                    self.report(at.line(), at.col() + 1, error.info());
                    return None;
                }
            }
        }
        Some(loader.into_documents())
    }
}

/// How deep lists and mappings are in each other.
#[derive(Default)]
struct Depth {
    /// The anchors of those that are open, and the levels in each so far.
    open: Vec<(usize, usize)>,
    /// The levels of each anchor, which its aliases repeat.
    anchors: BTreeMap<usize, usize>,
}

impl Depth {
    /// Returns the depth after an event.
    fn of(&mut self, event: &Event<'_>) -> usize {
        let levels = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                self.open.push((*anchor, 1));
                0
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, levels) = self.open.pop().unwrap_or_default();
                self.anchors.insert(anchor, levels);
                levels
            }
            Event::Alias(anchor) => self.anchors.get(anchor).copied().unwrap_or_default(),
            _ => 0,
        };
        if let Some((_, own)) = self.open.last_mut() {
            *own = levels.saturating_add(1).max(*own);
        }
        self.open.len().saturating_add(levels)
    }
}

/// A value.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    yaml: &'a MarkedYaml<'a>,
    document: &'a Document,
}

/// The values of a mapping, with the place of the mapping.
pub(super) struct Map<'a> {
    node: Node<'a>,
    values: BTreeMap<&'a str, Node<'a>>,
}

impl<'a> Node<'a> {
    pub(super) fn error(&self, message: impl Into<String>) {
        let start = self.yaml.span.start;
        self.document.report(start.line(), start.col() + 1, message);
    }

    /// Where it begins: `3:7`.
    pub(super) fn place(&self) -> String {
        let start = self.yaml.span.start;
        format!("{}:{}", start.line(), start.col() + 1)
    }

    fn expected<T>(&self, what: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.error(format!("expected {what}"));
        }
        value
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        self.expected("a string: quote it", self.yaml.data.as_str())
    }

    /// A string, or a number as it is written.
    pub(super) fn expression(&self) -> Option<String> {
        let data = &self.yaml.data;
        let number = data.as_floating_point().map(|number| number.to_string());
        let number = number.or_else(|| data.as_integer().map(|number| number.to_string()));
        let text = number.or_else(|| data.as_str().map(str::to_owned));
        self.expected("a number or an expression", text)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        self.expected("true or false", self.yaml.data.as_bool())
    }

    pub(super) fn number(&self) -> Option<f64> {
        let data = &self.yaml.data;
        let number = data.as_floating_point();
        let number = number.or_else(|| data.as_integer().map(|number| number as f64));
        self.expected("a number", number.filter(|number| number.is_finite()))
    }

    /// A whole number; `None` also for `null`.
    pub(super) fn count(&self) -> Option<u64> {
        if self.yaml.data.is_null() {
            return None;
        }
        let count = self.yaml.data.as_integer().and_then(|number| u64::try_from(number).ok());
        self.expected("a whole number", count)
    }

    pub(super) fn list(&self) -> Option<Vec<Node<'a>>> {
        let list = self.expected("a list", self.yaml.data.as_sequence())?;
        let document = self.document;
        Some(list.iter().map(|yaml| Node { yaml, document }).collect())
    }

    /// The strings in a list.
    pub(super) fn texts(&self) -> Option<Vec<(&'a str, Node<'a>)>> {
        let text = |node: Node<'a>| Some((node.text()?, node));
        Some(self.list()?.into_iter().filter_map(text).collect())
    }

    /// A mapping; each key that is not `known` is an error. Without `known` keys, any string is one.
    pub(super) fn map(&self, known: &[&str]) -> Option<Map<'a>> {
        let pairs = self.expected("a mapping", self.yaml.data.as_mapping())?;
        let document = self.document;
        let mut values = BTreeMap::new();
        for (key, value) in pairs {
            let key = Node { yaml: key, document };
            let Some(name) = key.text() else { continue };
            if known.is_empty() || known.contains(&name) {
                values.insert(name, Node { yaml: value, document });
            } else {
                key.error(format!("unknown key {name:?}: the keys are {}", known.join(", ")));
            }
        }
        Some(Map { node: *self, values })
    }

    /// Passes a value on, or reports the error of the library.
    pub(super) fn checked<T>(&self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.error(error.message())).ok()
    }
}

impl<'a> Map<'a> {
    /// A mapping without keys, whose errors are those of a node.
    pub(super) fn empty(node: Node<'a>) -> Self {
        Self { node, values: BTreeMap::new() }
    }

    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.values.get(key).copied()
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> + '_ {
        self.values.iter().map(|(key, value)| (*key, *value))
    }

    pub(super) fn needs(&self, key: &str) -> Option<Node<'a>> {
        let value = self.get(key);
        if value.is_none() {
            self.node.error(format!("the key {key:?} is missing"));
        }
        value
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    /// A mapping under a key.
    pub(super) fn map(&self, key: &str, known: &[&str]) -> Option<Map<'a>> {
        self.get(key)?.map(known)
    }
}
