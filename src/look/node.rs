//! The rows of reports: one for each distinct function, file, line, address, binary or attribute value.

use std::borrow::Cow;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::look::options::{By, Options};
use crate::model::dictionary::{Dictionary, Line};
use crate::model::id::{LocationId, MappingId};

/// What identifies a node. Texts are numbers in [`Nodes::texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    name: u32,
    file: u32,
    line: i64,
    column: i64,
    address: u64,
    object: u32,
    start_line: i64,
}

/// The nodes of a dictionary.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    keys: Vec<Key>,
    by_key: HashMap<Key, u32, RandomState>,
    texts: Vec<Cow<'a, str>>,
    by_text: HashMap<Cow<'a, str>, u32, RandomState>,
    /// By location: where its nodes end in `items`, innermost first.
    ends: Vec<u32>,
    items: Vec<u32>,
}

/// How frames become nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'o> {
    pub(super) by: &'o By,
    pub(super) inlines: bool,
    pub(super) columns: bool,
    pub(super) trim_path: &'o str,
}

impl<'o> Rules<'o> {
    pub(super) fn of(options: &'o Options) -> Self {
        let Options { by, inlines, columns, trim_path, .. } = options;
        Self { by, inlines: *inlines, columns: *columns, trim_path }
    }
}

impl<'a> Nodes<'a> {
    /// The nodes of all locations.
    pub(super) fn new(dictionary: &'a Dictionary, rules: Rules<'_>) -> Self {
        let mut nodes = Self {
            keys: Vec::new(),
            by_key: HashMap::default(),
            texts: Vec::new(),
            by_text: HashMap::default(),
            ends: Vec::with_capacity(dictionary.locations().len()),
            items: Vec::new(),
        };
        // Number 0 is the empty text, so 0 in a key means that a part is absent.
        nodes.text(Cow::Borrowed(""));
        // By function: the numbers of its name and its file, and the node if it depends on nothing else.
        let functions = dictionary.functions();
        let texts: Vec<(u32, u32)> = (functions.iter())
            .map(|function| {
                let file = clean(dictionary.text(function.filename), rules.trim_path);
                (nodes.text(Cow::Borrowed(dictionary.text(function.name))), nodes.text(file))
            })
            .collect();
        let mut known: Vec<Option<u32>> = vec![None; functions.len()];
        let is_simple = matches!(rules.by, By::Function | By::FileFunction);
        for row in 0..dictionary.locations().len() {
            let location = LocationId(row as u32);
            let object = object(dictionary, dictionary.locations().mapping(location));
            let mut lines = dictionary.locations().lines(location);
            if !rules.inlines {
                // The last line is the function into which the others were inlined.
                lines = &lines[lines.len().saturating_sub(1)..];
            }
            match rules.by {
                By::Mapping => {
                    let file = nodes.text(Cow::Borrowed(object));
                    nodes.push(Key { file, ..Key::default() });
                }
                By::Attribute(key) => {
                    let value = frame_attribute(dictionary, location, key);
                    nodes.push_named(value.unwrap_or_default());
                }
                _ => {
                    let absent = [Line::default()];
                    for line in if lines.is_empty() { &absent[..] } else { lines } {
                        let function = line.function.row();
                        if is_simple && let Some(node) = known[function] {
                            nodes.items.push(node);
                            continue;
                        }
                        let address = dictionary.locations().address(location);
                        let mut key = nodes.key(line, texts[function], (address, object), rules);
                        if key.name == 0 {
                            key.start_line = functions[function].start_line;
                        }
                        let node = nodes.push(key);
                        // Without a name the node also depends on the binary, which differs between locations.
                        if is_simple && key.name != 0 {
                            known[function] = Some(node);
                        }
                    }
                }
            }
            nodes.ends.push(nodes.items.len() as u32);
        }
        nodes
    }

    /// The key of a line, at the granularity of the rules.
    fn key(
        &mut self,
        line: &Line,
        (name, file): (u32, u32),
        (address, object): (u64, &'a str),
        rules: Rules<'_>,
    ) -> Key {
        let has_address = *rules.by == By::Address;
        let address = if has_address { address } else { 0 };
        let Some(_) = line.function.some() else {
            return Key { address, object: self.text(Cow::Borrowed(object)), ..Key::default() };
        };
        let has_line = matches!(rules.by, By::Line | By::Address);
        let has_column = has_line && (rules.columns || (has_address && rules.inlines));
        let name = if *rules.by == By::File { 0 } else { name };
        Key {
            name,
            file: if *rules.by == By::Function { 0 } else { file },
            line: if has_line { line.line } else { 0 },
            column: if has_column { line.column } else { 0 },
            address,
            object: if name == 0 { self.text(Cow::Borrowed(object)) } else { 0 },
            start_line: 0,
        }
    }

    /// The number of a text.
    fn text(&mut self, text: Cow<'a, str>) -> u32 {
        if let Some(number) = self.by_text.get(&text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.by_text.insert(text, number);
        number
    }

    /// Adds a node to the location that is open.
    fn push(&mut self, key: Key) -> u32 {
        let node = self.intern(key);
        self.items.push(node);
        node
    }

    fn push_named(&mut self, name: String) {
        let node = self.named(name);
        self.items.push(node);
    }

    fn intern(&mut self, key: Key) -> u32 {
        let keys = &mut self.keys;
        *self.by_key.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }

    /// The node with a name and nothing else.
    pub(super) fn named(&mut self, name: String) -> u32 {
        let name = self.text(Cow::Owned(name));
        self.intern(Key { name, ..Key::default() })
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The nodes of a location, innermost first.
    #[inline]
    pub(super) fn of(&self, location: LocationId) -> &[u32] {
        let row = location.row();
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start as usize..self.ends[row] as usize]
    }

    /// Whether some location has a node that was inlined into another.
    pub(super) fn has_inlined(&self) -> bool {
        self.items.len() > self.ends.len()
    }

    /// The name of a node.
    pub(super) fn name(&self, node: u32) -> String {
        let key = self.keys[node as usize];
        let text = |number: u32| &*self.texts[number as usize];
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        if key.address != 0 {
            parts.push(format!("{:016x}", key.address).into());
        }
        if key.name != 0 {
            parts.push(text(key.name).into());
        }
        let place = match (key.line, key.column) {
            (0, _) => text(key.file).into(),
            (line, 0) => format!("{}:{line}", text(key.file)).into(),
            (line, column) => format!("{}:{line}:{column}", text(key.file)).into(),
        };
        let place: Cow<'_, str> = place;
        if !place.is_empty() {
            parts.push(place);
        } else if key.name == 0 && key.object != 0 {
            parts.push(format!("[{}]", base(text(key.object))).into());
        } else if key.name == 0 {
            parts.push("<unknown>".into());
        }
        parts.join(" ")
    }

    /// Orders nodes of the same name and the same values.
    pub(super) fn tie(&self, node: u32) -> String {
        let key = self.keys[node as usize];
        let text = |number: u32| &*self.texts[number as usize];
        let (name, file, object) = (text(key.name), text(key.file), text(key.object));
        let Key { address, start_line, line, column, .. } = key;
        format!("{{{name}  {address} {file} {start_line} {line} {column} {object}}}")
    }
}

/// The file of a binary.
fn object(dictionary: &Dictionary, mapping: MappingId) -> &str {
    dictionary.text(dictionary.mappings().get(mapping).filename)
}

/// The value of an attribute of a location or of its binary.
fn frame_attribute(dictionary: &Dictionary, location: LocationId, key: &str) -> Option<String> {
    let mapping = dictionary.locations().mapping(location);
    let of_location = dictionary.resolve(dictionary.locations().attributes(location)).get(key);
    let value = of_location
        .or_else(|| dictionary.resolve(dictionary.mappings().attributes(mapping)).get(key))?;
    Some(value.to_string())
}

/// The last part of a path, as Go's `filepath.Base` returns it.
pub(crate) fn base(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit('/').next() {
        Some("") | None if !path.is_empty() => "/",
        Some("") | None => ".",
        Some(base) => base,
    }
}

/// A path without a prefix of the build and without `.`, `..` and double slashes, as Go's `filepath.Clean` returns it.
fn clean<'a>(path: &'a str, trim_path: &str) -> Cow<'a, str> {
    let prefixes = trim_path.split(':').filter(|prefix| !prefix.is_empty());
    let path = prefixes
        .chain(["/proc/self/cwd/.", "/proc/self/cwd"])
        .find_map(|prefix| path.strip_prefix(prefix.trim_end_matches('/'))?.strip_prefix('/'))
        .unwrap_or(path);
    let odd = |part: &str| matches!(part, "" | "." | "..");
    let rooted = path.starts_with('/');
    if path.is_empty() || !path[usize::from(rooted)..].split('/').any(odd) {
        return path.into();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => _ = parts.pop(),
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let path = format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"));
    Cow::Owned(if path.is_empty() { ".".to_owned() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (path, trim, cleaned) in [
            ("", "", ""),
            ("/a/./b/../c", "", "/a/c"),
            ("a//b/", "", "a/b"),
            ("../../a", "", "../../a"),
            ("/../a", "", "/a"),
            ("a/..", "", "."),
            ("/", "", "/"),
            ("/proc/self/cwd/./x.c", "", "x.c"),
            ("/proc/self/cwd/x.c", "", "x.c"),
            ("/build/x.c", "/src:/build/", "x.c"),
            ("/builder/x.c", "/build", "/builder/x.c"),
        ] {
            assert_eq!(clean(path, trim), cleaned, "{path}");
        }
        for (path, last) in [("/a/b", "b"), ("/a/b/", "b"), ("b", "b"), ("/", "/"), ("", ".")] {
            assert_eq!(base(path), last);
        }
    }
}
