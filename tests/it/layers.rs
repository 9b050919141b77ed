//! Checks that a module imports only from its own folder and from lower layers, that files are short, and that documents
//! name files that exist.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::sources;

/// Modules by the first word of their path, with their layer. They may import lower layers.
const LAYERS: &[(&str, u32)] = &[
    ("calendar", 0),
    ("error", 0),
    ("escape", 0),
    ("limits", 0),
    ("losses", 0),
    ("semconv", 0),
    ("serialize", 0),
    ("source_options", 0),
    ("units", 0),
    ("wire", 1),
    ("compression", 1),
    ("framing", 2),
    ("schema", 2),
    ("model", 2),
    ("write_options", 3),
    ("output_limit", 4),
    ("read_context", 3),
    ("stream", 3),
    ("tables", 4),
    ("builder", 5),
    ("format", 6),
    ("look", 7),
    ("writer", 7),
    ("reader", 8),
    ("check", 9),
    ("columns", 9),
    ("response", 9),
    ("summary", 9),
    ("transform", 9),
    ("fuzzing", 10),
    ("proto", 10),
];

fn layer(room: &str) -> Option<u32> {
    LAYERS.iter().find(|(name, _)| *name == room).map(|(_, layer)| *layer)
}

/// Returns the names that a file imports from the crate outside its tests: for `crate::a::b` and `crate::{a, b}`,
/// each `a` and `b` that follows `crate`.
fn imports(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    for (row, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for (at, _) in line.match_indices("crate::") {
            // The macro's `$crate` and a path in a string are the same paths.
            let rest = &line[at + "crate::".len()..];
            let names = match rest.strip_prefix('{') {
                Some(list) => list
                    .split(['}', ';'])
                    .next()
                    .unwrap_or_default()
                    .split(',')
                    .map(first_word)
                    .collect(),
                None => vec![first_word(rest)],
            };
            found.extend(
                names.into_iter().filter(|name| !name.is_empty()).map(|name| (row + 1, name)),
            );
        }
    }
    found
}

fn first_word(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn a_module_imports_only_from_its_own_folder_and_lower_layers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in files {
        let inside = path.strip_prefix(&root).unwrap();
        let room =
            inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if room == "lib" || room == "bin" || inside.ends_with("tests.rs") {
            continue;
        }
        let own = layer(&room).unwrap_or_else(|| {
            panic!("{room} is in no layer: add it to LAYERS and to docs/DESIGN.md")
        });
        let text = std::fs::read_to_string(&path).unwrap();
        for (row, name) in imports(&text) {
            *seen.entry(room.clone()).or_default() += 1;
            let place = format!("src/{}:{row}", inside.display());
            match layer(&name) {
                _ if name == room => {}
                Some(other) if other < own => {}
                // The modules of layer 0 may import each other.
                Some(0) if own == 0 => {}
                Some(other) => wrong
                    .push(format!("{place}: {room} (layer {own}) imports {name} (layer {other})")),
                // An item that lib.rs re-exports belongs to a module, which the import should name.
                None => wrong.push(format!("{place}: {name} is named without its room")),
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    // The test finds the files that it should check.
    assert!(seen["format"] > 100 && seen["tables"] > 100 && seen["reader"] > 3, "{seen:?}");
}

/// Paths in documents that are no files: examples, and a placeholder of a file name.
const EXAMPLES: &[&str] = &[
    "cli/src/NAME.rs",
    "cli/tests/cli/NAME.rs",
    "NAME.rs",
    "NAME/",
    ".proto",
    "proto/v1_12/",
    "fuzz_targets/fuzz_target_1.rs",
];

/// Lists all files and folders below a folder, without build outputs and hidden folders, as `/folder/file.rs`.
fn paths(root: &Path, folder: &Path, out: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_hidden = name.starts_with('.') && name != ".ci" && name != ".github";
        if is_hidden || ["target", "node_modules"].contains(&&name[..]) {
            continue;
        }
        out.push(format!("/{}", path.strip_prefix(root).unwrap().display()));
        if path.is_dir() {
            paths(root, &path, out);
        }
    }
}

/// A path in backquotes ends with `/` or with the extension of a source or a document, and may omit its first folders.
#[test]
fn paths_in_documents_about_the_code_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    paths(root, root, &mut files);
    let is_document = |path: &&String| {
        path.starts_with("/docs/decisions/") && path.ends_with(".md")
            || ["/CONTRIBUTING.md", "/SECURITY.md", "/docs/DESIGN.md", "/docs/FUZZING.md"]
                .contains(&&path[..])
    };
    let is_path = |word: &&str| {
        let named =
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
        let extensions = [".rs", ".md", ".txt", ".py", ".toml", ".proto"];
        named && (word.ends_with('/') || extensions.iter().any(|end| word.ends_with(end)))
    };
    let (mut count, mut wrong) = (0, Vec::new());
    for document in files.iter().filter(is_document) {
        let text = std::fs::read_to_string(root.join(&document[1..])).unwrap();
        let blocks = text.split("```").step_by(2);
        let words = blocks.flat_map(|text| text.split('`').skip(1).step_by(2)).filter(is_path);
        for word in words.filter(|word| !EXAMPLES.contains(word)) {
            let end = format!("/{}", word.trim_matches('/'));
            count += 1;
            if !files.iter().any(|file| file.ends_with(&end)) {
                wrong.push(format!("{}: {word}", &document[1..]));
            }
        }
    }
    assert!(wrong.is_empty(), "no such files: {wrong:#?}");
    assert!(count > 100, "{count} paths");
}

/// Maximum lines of a file without tests: of all files, and of 95 % of them.
const LONGEST: usize = 800;
const LONG: usize = 450;

#[test]
fn few_files_are_long_and_none_is_too_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("cli/src"), &mut files);
    let lines = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines().count()
    };
    let mut long: Vec<_> = files.iter().map(|path| (lines(path), path)).collect();
    long.retain(|(lines, _)| *lines > LONG);
    assert!(long.iter().all(|(lines, _)| *lines <= LONGEST), "{long:?}");
    assert!(long.len() * 20 <= files.len() && files.len() > 200, "{long:?}");
}

#[test]
fn the_command_uses_the_public_library_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(!files.is_empty());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let includes = text
            .lines()
            .any(|line| line.contains("#[path") && line.contains("..") && line.contains("src/"));
        assert!(!includes, "{} includes the library's source", path.display());
    }
}

/// Whether a line contains a literal field number: for a written field, or in a tag to read.
fn says_a_number(line: &str) -> bool {
    let is_digit = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    let written = line.match_indices("field_").any(|(at, _)| {
        let arguments = line[at..].split_once('(').map_or("", |(_, rest)| rest);
        arguments.split_once(", ").is_some_and(|(out, rest)| out.ends_with("out") && is_digit(rest))
    });
    let is =
        |name: &str| line.match_indices(name).any(|(at, _)| is_digit(&line[at + name.len()..]));
    written || is("is!(tag, ") || is(" tag(") || is("(tag(")
}

#[test]
fn numbers_of_fields_are_said_by_the_schema_alone() {
    assert!(says_a_number("    field_varint(&mut out, 7, value);"));
    assert!(
        says_a_number("    if is!(tag, 4, LEN) {") && says_a_number("let key = tag(1, VARINT);")
    );
    assert!(!says_a_number("    field_varint(out, numbers.unit, 7);"));
    let mut files = Vec::new();
    sources(Path::new("src/format"), &mut files);
    sources(Path::new("src/tables"), &mut files);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for (row, line) in code.lines().enumerate() {
            assert!(
                !says_a_number(line),
                "{}:{}: a number that the schema says: {line}",
                path.display(),
                row + 1
            );
        }
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::a::b;\nuse crate::{c::d, e};\nfn f() -> crate::g::H {} // crate::no\n#[cfg(test)]\nmod tests {\n    use crate::no;\n}\n";
    let names: Vec<_> = imports(text).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["a", "c", "e", "g"]);
}
