//! Checks that files import each other in one direction, and that functions are short enough to read at once.
//!
//! Imports are taken from `use` statements outside tests. `mod` lines do not count as imports: the front file of a
//! folder may re-export its files, as long as these import nothing from it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::sources;

/// Maximum number of lines of a function.
const LONGEST_FUNCTION: usize = 60;

/// The sources of the library and the command, with the minimum number of imports and functions that the test must
/// find there.
const PACKAGES: [(&str, usize, usize); 2] = [("src", 800, 1_500), ("cli/src", 50, 200)];

/// Returns the code of every file of a package by module path, without tests and comments.
fn modules(package: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let code = |path: PathBuf| {
        let inside = path.strip_prefix(&root).ok()?.with_extension("");
        let steps: Vec<_> = inside.iter().filter_map(|step| step.to_str()).collect();
        let steps = steps.strip_suffix(&["mod"]).unwrap_or(&steps);
        let name = steps.join("::");
        let skipped = name == "lib" || name.ends_with("tests");
        let text = std::fs::read_to_string(&path).ok()?;
        let code = text.split("#[cfg(test)]\nmod ").next()?.split("#[cfg(all(test").next()?;
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        (!skipped).then(|| (name, lines.collect::<Vec<_>>().join("\n")))
    };
    files.into_iter().filter_map(code).collect()
}

/// Expands the paths of a `use` statement: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(tree: &str, before: &str, out: &mut Vec<String>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((head, list)) => {
                let list = list.strip_suffix('}').unwrap_or(list);
                paths(list, &format!("{before}{head}"), out);
            }
            None => out.push(format!("{before}{part}")),
        }
    }
}

/// Returns the modules that a file imports from.
fn imports(name: &str, code: &str, all: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut named = Vec::new();
    for statement in code.split(';') {
        let line = statement.rsplit("\n\n").next().unwrap_or(statement);
        let uses = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        let tree = line.lines().enumerate().find_map(|(at, first)| {
            let first = first.trim_start();
            let tree = uses.iter().find_map(|word| first.strip_prefix(word))?;
            let rest: Vec<_> = line.lines().skip(at + 1).collect();
            Some(format!("{tree} {}", rest.join(" ")))
        });
        if let Some(tree) = tree {
            paths(&tree, "", &mut named);
        }
    }
    let module = |path: String| {
        let path = path.split(" as ").next().unwrap_or_default().replace(' ', "");
        let mut steps: Vec<&str> = path.split("::").collect();
        let mut full: Vec<&str> = name.split("::").collect();
        match *steps.first()? {
            "crate" => full.clear(),
            "super" => _ = full.pop(),
            // The front file of a folder names its files without a prefix.
            first if all.contains_key(&format!("{name}::{first}")) => steps.insert(0, ""),
            _ => return None,
        }
        full.extend(&steps[1..]);
        while !full.is_empty() && !all.contains_key(&full.join("::")) {
            full.pop();
        }
        (!full.is_empty()).then(|| full.join("::")).filter(|found| found != name)
    };
    named.into_iter().filter_map(module).collect()
}

/// Returns all modules that a module imports directly or indirectly.
fn reached<'a>(from: &'a str, edges: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        for next in edges.get(name).into_iter().flatten() {
            if reached.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    reached
}

#[test]
fn files_import_in_one_direction() {
    for (package, least, _) in PACKAGES {
        let all = modules(package);
        let edges: BTreeMap<_, _> =
            all.iter().map(|(name, code)| (name.clone(), imports(name, code, &all))).collect();
        let count: usize = edges.values().map(BTreeSet::len).sum();
        assert!(count > least, "{package}: {count} imports found");
        let circle = edges.keys().filter(|name| reached(name, &edges).contains(name.as_str()));
        let circle: Vec<_> = circle.collect();
        assert!(circle.is_empty(), "files of {package} import each other: {circle:#?}");
    }
}

#[test]
fn functions_are_read_at_one_go() {
    for (package, _, least) in PACKAGES {
        let functions = functions_of(package);
        assert!(functions.len() > least, "{package}: {} functions found", functions.len());
        let wrong: Vec<_> =
            functions.iter().filter(|(_, length)| *length > LONGEST_FUNCTION).collect();
        assert!(wrong.is_empty(), "more than {LONGEST_FUNCTION} lines in {package}: {wrong:#?}");
    }
}

/// Returns the place and the number of lines of code of every function.
fn functions_of(package: &str) -> Vec<(String, usize)> {
    let mut functions = Vec::new();
    for (name, code) in modules(package) {
        let lines: Vec<&str> = code.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let words: Vec<_> = line.split_whitespace().take(6).collect();
            let is_function = words.contains(&"fn") && !line.trim_start().starts_with('|');
            if !is_function || line.trim_end().ends_with(';') {
                continue;
            }
            // rustfmt aligns the end of a function with its beginning.
            let end = format!("{}}}", " ".repeat(indent));
            // Comments are empty lines here. They do not count, so an explanation never makes a function too long.
            let is_code = |line: &&&str| !line.trim().is_empty();
            let length = lines[at..]
                .iter()
                .filter(is_code)
                .position(|line| line.trim_end() == end)
                .map_or(1, |at| at + 1);
            let is_one_line = line.trim_end().ends_with('}');
            functions
                .push((format!("{name}, line {}", at + 1), if is_one_line { 1 } else { length }));
        }
    }
    functions
}

#[test]
fn paths_are_found_in_every_form() {
    let all: BTreeMap<String, String> =
        ["a", "a::b", "a::c", "d", "d::e"].map(|name| (name.to_owned(), String::new())).into();
    let code = "use crate::a::{b::X, c::{Y, Z}};\npub use c::Y;\nuse super::d::e as f;\nuse std::fmt;\nlet x = 1;";
    let found: Vec<_> = imports("a", code, &all).into_iter().collect();
    assert_eq!(found, ["a::b", "a::c", "d::e"]);
    let edges: BTreeMap<String, BTreeSet<String>> = [
        ("x".to_owned(), BTreeSet::from(["y".to_owned()])),
        ("y".to_owned(), BTreeSet::from(["z".to_owned()])),
        ("z".to_owned(), BTreeSet::from(["y".to_owned()])),
    ]
    .into();
    assert!(reached("y", &edges).contains("y") && !reached("x", &edges).contains("x"));
}
