//! The rows of reports and comparisons: one for each distinct function, file, line, address, binary or attribute value.

use std::borrow::Cow;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::look::label::AttributeText;
use crate::look::options::{By, Options};
use crate::model::dictionary::{Dictionary, Line};
use crate::model::id::LocationId;
use crate::model::row_index::RowIndex;

/// Renames a function or a file before it is compared; `None` keeps the name.
pub type Rename<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// What identifies a node. Texts are numbers in [`Nodes::texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    name: u32,
    file: u32,
    line: i64,
    column: i64,
    address: u64,
    /// The binary of a frame without a name, or the exact text of an attribute value that is printed in another unit.
    object: u32,
    start_line: i64,
}

/// The nodes of one or more dictionaries. Dictionaries share the nodes that they have in common.
#[derive(Debug)]
pub(crate) struct Nodes<'a> {
    keys: Vec<Key>,
    by_key: HashMap<Key, u32, RandomState>,
    texts: Vec<Cow<'a, str>>,
    by_text: RowIndex,
    seed: RandomState,
    /// Whether a name alone is printed if the row also has a file.
    is_short: bool,
    /// By node: how many details tell it apart from rows that would look alike.
    details: Vec<u8>,
}

/// The nodes of the locations of a dictionary.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// By location: where its nodes end in `items`, innermost first.
    ends: Vec<u32>,
    items: Vec<u32>,
}

/// How frames become nodes.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'o> {
    pub(crate) by: &'o By,
    pub(crate) inlines: bool,
    pub(crate) columns: bool,
    pub(crate) trim_path: &'o str,
    /// The rows are compared with those of other builds, in which functions start at other lines.
    pub(crate) across_builds: bool,
    pub(crate) rename: Option<Rename<'o>>,
}

impl<'o> Rules<'o> {
    pub(super) fn of(options: &'o Options) -> Self {
        let Options { by, inlines, columns, trim_path, .. } = options;
        let (across_builds, rename) = (false, None);
        Self { by, inlines: *inlines, columns: *columns, trim_path, across_builds, rename }
    }

    /// The rules of a comparison.
    pub(crate) fn of_diff(by: &'o By, rename: Option<Rename<'o>>) -> Self {
        Self { by, inlines: true, columns: false, trim_path: "", across_builds: true, rename }
    }

    fn renamed<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        self.rename.and_then(|rename| rename(&text)).map_or(text, Cow::Owned)
    }
}

impl<'a> Nodes<'a> {
    pub(crate) fn new(rules: Rules<'_>) -> Self {
        let mut nodes = Self {
            keys: Vec::new(),
            by_key: HashMap::default(),
            texts: Vec::new(),
            by_text: RowIndex::default(),
            seed: RandomState::default(),
            is_short: rules.across_builds && *rules.by == By::FileFunction,
            details: Vec::new(),
        };
        // Number 0 is the empty text, so 0 in a key means that a part is absent.
        nodes.text(Cow::Borrowed(""));
        nodes
    }

    /// Adds the nodes of all locations of a dictionary.
    pub(crate) fn frames(&mut self, dictionary: &'a Dictionary, rules: Rules<'_>) -> Frames {
        let mut frames = Frames::default();
        match rules.by {
            By::Mapping => frames.of_each(dictionary, |location| {
                let file = self.text(Cow::Borrowed(object(dictionary, location)));
                self.intern(Key { file, ..Key::default() })
            }),
            By::Attribute(key) => frames.of_each(dictionary, |location| {
                self.named(frame_attribute(dictionary, location, key).unwrap_or_default())
            }),
            _ => self.lines(dictionary, rules, &mut frames),
        }
        frames
    }

    /// Adds a node for each line of each location.
    fn lines(&mut self, dictionary: &'a Dictionary, rules: Rules<'_>, frames: &mut Frames) {
        // By function: the numbers of its name and its file, and the node if it depends on nothing else.
        let functions = dictionary.functions();
        let texts: Vec<(u32, u32)> = (functions.iter())
            .map(|function| {
                let file = clean(dictionary.text(function.filename), rules.trim_path);
                let name = Cow::Borrowed(dictionary.text(function.name));
                (self.text(rules.renamed(name)), self.text(rules.renamed(file)))
            })
            .collect();
        let mut known: Vec<Option<u32>> = vec![None; functions.len()];
        let is_simple = matches!(rules.by, By::Function | By::FileFunction);
        for row in 0..dictionary.locations().len() {
            let location = LocationId(row as u32);
            let mut lines = dictionary.locations().lines(location);
            if !rules.inlines {
                // The last line is the function into which the others were inlined.
                lines = &lines[lines.len().saturating_sub(1)..];
            }
            let absent = [Line::default()];
            for line in if lines.is_empty() { &absent[..] } else { lines } {
                let function = line.function.row();
                if is_simple && let Some(node) = known[function] {
                    frames.items.push(node);
                    continue;
                }
                let mut key = self.key(dictionary, location, line, texts[function], rules);
                if key.name == 0 && !rules.across_builds {
                    key.start_line = functions[function].start_line;
                }
                let node = self.intern(key);
                frames.items.push(node);
                // Without a name the node also depends on the binary, which differs between locations.
                if is_simple && key.name != 0 {
                    known[function] = Some(node);
                }
            }
            frames.ends.push(frames.items.len() as u32);
        }
    }

    /// The key of a line, at the granularity of the rules.
    fn key(
        &mut self,
        dictionary: &'a Dictionary,
        location: LocationId,
        line: &Line,
        (name, file): (u32, u32),
        rules: Rules<'_>,
    ) -> Key {
        let has_address = *rules.by == By::Address;
        let address = if has_address { dictionary.locations().address(location) } else { 0 };
        let mut object = || self.text(Cow::Borrowed(object(dictionary, location)));
        let Some(_) = line.function.some() else {
            return Key { address, object: object(), ..Key::default() };
        };
        let has_line = matches!(rules.by, By::Line | By::Address);
        let has_column = has_line && (rules.columns || (has_address && rules.inlines));
        let name = if *rules.by == By::File { 0 } else { name };
        let file = if *rules.by == By::Function { 0 } else { file };
        Key {
            name,
            file,
            line: if has_line { line.line } else { 0 },
            column: if has_column { line.column } else { 0 },
            address,
            // Other builds may have the same source file in another binary.
            object: if name == 0 && (file == 0 || !rules.across_builds) { object() } else { 0 },
            start_line: 0,
        }
    }

    /// The number of a text.
    fn text(&mut self, text: Cow<'a, str>) -> u32 {
        let hash = self.seed.hash_one(&*text);
        let same = |row: u32| self.texts[row as usize] == text;
        self.by_text.find(hash, same).unwrap_or_else(|| {
            let number = self.texts.len() as u32;
            self.texts.push(text);
            self.by_text.add(hash, number);
            number
        })
    }

    fn intern(&mut self, key: Key) -> u32 {
        let keys = &mut self.keys;
        *self.by_key.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }

    /// The node with a name and nothing else.
    pub(crate) fn named(&mut self, name: String) -> u32 {
        let name = self.text(Cow::Owned(name));
        self.intern(Key { name, ..Key::default() })
    }

    /// The node of an attribute value: its printed form, and its exact one.
    pub(super) fn valued(&mut self, AttributeText { printed, exact, .. }: AttributeText) -> u32 {
        if printed == exact {
            return self.named(printed);
        }
        let [name, object] = [printed, exact].map(|text| self.text(Cow::Owned(text)));
        self.intern(Key { name, object, ..Key::default() })
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Finds the rows that would look alike, and adds details to their names: the file, the line where the function
    /// starts, the path of the binary, the exact value. Call it when all nodes are known.
    pub(crate) fn tell_apart(&mut self) {
        self.details = vec![0; self.keys.len()];
        let may_collide = |key: &Key| key.name == 0 || key.object != 0 || self.is_short;
        let nodes: Vec<usize> =
            (0..self.keys.len()).filter(|node| may_collide(&self.keys[*node])).collect();
        for detail in 1..=2 {
            let mut counts: HashMap<Key, u32, RandomState> = HashMap::default();
            let printed: Vec<Key> = nodes.iter().map(|node| self.printed(*node)).collect();
            printed.iter().for_each(|key| *counts.entry(*key).or_default() += 1);
            for (node, key) in nodes.iter().zip(&printed) {
                if counts.get(key).is_some_and(|count| *count > 1) {
                    self.details[*node] = detail;
                }
            }
        }
    }

    /// The parts of a node's key that its name contains.
    fn printed(&mut self, node: usize) -> Key {
        let (mut key, detail) = (self.keys[node], self.details[node]);
        let is_value = key.name != 0 && key.object != 0;
        match (detail, key.file) {
            (0, 0) if key.name == 0 && key.object != 0 => {
                let path = self.texts[key.object as usize].clone();
                key.object = self.text(Cow::Owned(base(&path).to_owned()));
            }
            (0, 0) if is_value => key.object = 0,
            (0, _) => (key.object, key.start_line) = (0, 0),
            (1, 1..) => key.object = 0,
            _ => {}
        }
        if detail == 0 && self.is_short && key.name != 0 {
            key.file = 0;
        }
        key
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: u32) -> String {
        let key = self.keys[node as usize];
        let detail = self.details.get(node as usize).copied().unwrap_or_default();
        let text = |number: u32| &*self.texts[number as usize];
        if key.name != 0 && key.object != 0 {
            return text(if detail > 0 { key.object } else { key.name }).to_owned();
        }
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        if key.address != 0 {
            parts.push(format!("{:016x}", key.address).into());
        }
        if key.name != 0 {
            parts.push(text(key.name).into());
        }
        let line = if key.line == 0 && detail > 0 { key.start_line } else { key.line };
        let place: Cow<'_, str> = match (line, key.column) {
            _ if key.file == 0 && key.line == 0 => "".into(),
            _ if self.is_short && key.name != 0 && detail == 0 => "".into(),
            (0, _) => text(key.file).into(),
            (line, 0) => format!("{}:{line}", text(key.file)).into(),
            (line, column) => format!("{}:{line}:{column}", text(key.file)).into(),
        };
        let has_place = !place.is_empty();
        if has_place {
            parts.push(place);
        }
        if key.object != 0 && (detail == 2 || !has_place) {
            let path = text(key.object);
            parts.push(match (detail, line) {
                (0, _) => format!("[{}]", base(path)).into(),
                (_, 0) => format!("[{path}]").into(),
                (_, line) => format!("[{path}]:{line}").into(),
            });
        }
        if parts.is_empty() || (key.address != 0 && parts.len() == 1) {
            parts.push("<unknown>".into());
        }
        parts.join(" ")
    }

    /// The file of a node; empty if it has none.
    pub(crate) fn file(&self, node: u32) -> &str {
        &self.texts[self.keys[node as usize].file as usize]
    }

    /// Returns at least the bytes of a name, without making it.
    pub(super) fn name_bytes(&self, node: u32) -> u64 {
        let Key { name, file, object, .. } = self.keys[node as usize];
        let texts = [name, file, object].map(|text| self.texts[text as usize].len() as u64);
        // An address, a line, a column, and what divides them.
        texts.iter().sum::<u64>() + 64
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

impl Frames {
    /// Adds one node for each location.
    fn of_each(&mut self, dictionary: &Dictionary, node: impl FnMut(LocationId) -> u32) {
        let locations = dictionary.locations().len() as u32;
        self.items = (0..locations).map(LocationId).map(node).collect();
        self.ends = (1..=locations).collect();
    }

    /// The nodes of a location, innermost first.
    #[inline]
    pub(crate) fn of(&self, location: LocationId) -> &[u32] {
        let row = location.row();
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start as usize..self.ends[row] as usize]
    }

    /// Whether some location has a node that was inlined into another.
    pub(super) fn has_inlined(&self) -> bool {
        self.items.len() > self.ends.len()
    }
}

/// The path of the binary of a location.
fn object(dictionary: &Dictionary, location: LocationId) -> &str {
    let mapping = dictionary.locations().mapping(location);
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
pub(super) fn base(path: &str) -> &str {
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
