//! Every public function has an example that runs, or its type, module or folder has one.
//!
//! Doctests run the examples. This reads the sources, because stable rustdoc has no output for machines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::sources;

/// A line of a file with the documentation above it.
struct Item<'t> {
    line: &'t str,
    has_example: bool,
}

/// Returns the items of a file outside its tests.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut has_example = false;
    let mut items = Vec::new();
    for line in text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines() {
        let code = line.trim_start();
        if code.starts_with("///") {
            has_example |= code.starts_with("/// ```");
        } else if !code.starts_with("#[") {
            items.push(Item { line, has_example });
            has_example = false;
        }
    }
    items
}

/// Returns the word after `start`, if the line starts with that.
fn name<'t>(line: &'t str, starts: &[&str]) -> Option<&'t str> {
    let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Returns the type of an `impl` block without a trait.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl").filter(|_| !line.contains(" for "))?;
    let after_parameters = match rest.strip_prefix('<') {
        Some(parameters) => parameters.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    name(after_parameters, &[""])
}

/// Returns whether the head of a file, or of the module that its folder is, has an example.
fn has_head(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    let heads = [path.to_owned(), folder.join("mod.rs"), folder.with_extension("rs")];
    heads.iter().any(|head| {
        let text = std::fs::read_to_string(head).unwrap_or_default();
        text.lines().take_while(|line| line.starts_with("//!")).any(|line| line == "//! ```")
    })
}

#[test]
fn every_public_function_has_an_example() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    let mut documented = BTreeSet::new();
    let mut missing = BTreeMap::new();
    let mut functions = 0;
    for (path, text) in &texts {
        let head = has_head(path);
        let mut of = None;
        for Item { line, has_example } in items(text) {
            if let Some(name) = name(line, &["pub struct ", "pub enum ", "pub trait "]) {
                documented.extend((head || has_example).then_some(name));
            } else if line.starts_with("impl") {
                of = implemented(line);
            } else if let Some(name) = name(line, &["    pub fn ", "    pub const fn "]) {
                functions += 1;
                missing.extend((!head && !has_example).then_some(((of, name), path)));
            } else if let Some(name) = name(line, &["pub fn ", "pub const fn "]) {
                functions += 1;
                missing.extend((!head && !has_example).then_some(((None, name), path)));
            }
        }
    }
    missing.retain(|(of, _), _| of.is_none_or(|of| !documented.contains(of)));
    assert!(functions > 400, "only {functions} public functions were found");
    assert!(missing.is_empty(), "without an example: {missing:#?}");
}
