//! The command blocks of README.md and docs/ run as printed, in order, as in a fresh clone.
//!
//! Blocks marked `sh` must succeed. In blocks marked `console`, each line that begins with `$ ` is a command, and the lines
//! below it are its output, which `BLESS=1` rewrites. A comment above a block, which a rendered page hides, changes this:
//! `<!-- needs TOOL … -->` skips the block where a tool is missing, `<!-- not run: REASON -->` everywhere, and
//! `<!-- file NAME -->` writes the block into a file.

use std::os::unix::fs::symlink;

use crate::*;

/// A part of a page.
enum Part<'p> {
    Line(&'p str),
    Block { opening: Opening<'p>, lines: Vec<&'p str> },
}

/// The line that opens a block, and the comment above it.
struct Opening<'p> {
    number: usize,
    language: &'p str,
    indent: usize,
    comment: &'p str,
}

impl Opening<'_> {
    fn runs(&self) -> bool {
        let tools = self.comment.strip_prefix("needs ").unwrap_or_default();
        matches!(self.language, "sh" | "console")
            && !self.comment.starts_with("not run: ")
            && tools.split_whitespace().all(installed)
    }
}

/// Splits a page into blocks and other lines. The lines of a block exclude the fences.
fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut comment = "";
    let mut lines = page.lines().enumerate();
    while let Some((row, line)) = lines.next() {
        parts.push(Part::Line(line));
        let text = line.trim_start();
        if let Some(language) = text.strip_prefix("```") {
            let opening =
                Opening { number: row + 1, language, indent: line.len() - text.len(), comment };
            let mut closing = None;
            let block = lines.by_ref().map(|(_, line)| line).take_while(|line| {
                closing = (line.trim_start() == "```").then_some(*line);
                closing.is_none()
            });
            parts.push(Part::Block { opening, lines: block.collect() });
            parts.extend(closing.map(Part::Line));
        }
        comment =
            text.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")).unwrap_or("");
    }
    parts
}

fn installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

/// A folder that looks like a fresh clone. What a block writes stays out of the real one.
fn clone(name: &str) -> PathBuf {
    let clone = room(&format!("blocks-{name}"));
    for entry in fs::read_dir(ROOT).unwrap().map(Result::unwrap) {
        if !matches!(entry.file_name().to_str(), Some("target" | ".git")) {
            symlink(fs::canonicalize(entry.path()).unwrap(), clone.join(entry.file_name()))
                .unwrap();
        }
    }
    clone
}

/// Runs a script in `clone`, where `otlp-profiles` is this build.
fn bash(clone: &Path, script: &str) -> Output {
    let command = Path::new(env!("CARGO_BIN_EXE_otlp-profiles")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(command.to_owned()).chain(std::env::split_paths(&path));
    (Command::new("bash").args(["-euo", "pipefail", "-c", script]).current_dir(clone))
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env_remove("OTLP_PROFILES_LOG")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the blocks of a page. Returns the page with their actual output, and how many blocks ran.
#[track_caller]
fn ran(page: &str, clone: &Path) -> (String, usize) {
    let (mut text, mut count) = (String::new(), 0);
    for part in parts(page) {
        let (opening, lines) = match part {
            Part::Block { opening, lines } => (opening, lines),
            Part::Line(line) => {
                text.extend([line, "\n"]);
                continue;
            }
        };
        count += usize::from(opening.runs());
        if opening.runs() && opening.language == "console" {
            for line in lines.iter().filter(|line| line.starts_with("$ ")) {
                let output = bash(clone, &line[2..]);
                text.extend([line, "\n", &stdout(&output), &stderr(&output)]);
                if let Some(code) = output.status.code().filter(|code| *code != 0) {
                    text += &format!("(exit status {code})\n");
                }
            }
            continue;
        }
        let script: Vec<&str> =
            lines.iter().map(|line| line.get(opening.indent..).unwrap_or_default()).collect();
        let script = script.join("\n");
        if opening.runs() {
            let output = bash(clone, &script);
            assert!(
                output.status.success(),
                "line {}: {script}\n{}",
                opening.number,
                stderr(&output)
            );
        } else if let Some(name) = opening.comment.strip_prefix("file ") {
            fs::write(clone.join(name), script).unwrap();
        }
        lines.iter().for_each(|line| text.extend([line, "\n"]));
    }
    (text, count)
}

/// Runs the blocks of a page of the repository, and compares or rewrites it.
#[track_caller]
fn check(name: &str, least: usize) -> String {
    let path = Path::new(ROOT).join(name);
    let page = fs::read_to_string(&path).unwrap();
    let clone = clone(&name.replace('/', "-"));
    let (ran, count) = ran(&page, &clone);
    assert!(count >= least, "{name}: {count} blocks ran");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &ran).unwrap();
    } else {
        assert!(ran == page, "{name} is out of date: run with BLESS=1\n{ran}");
    }
    ran
}

#[test]
fn readme() {
    check("README.md", 7);
}

#[test]
fn tasks() {
    let page = check("docs/TASKS.md", 14);
    assert!(page.contains("(exit status 7)"), "{page}");
}

#[test]
fn queries() {
    let page = check("docs/QUERIES.md", 13);
    for question in sql::QUESTIONS {
        let name = question.split(' ').next().unwrap();
        assert!(page.contains(&format!("$ otlp-profiles sql {name}")), "{name} is not shown");
    }
}

#[test]
fn other_guides() {
    for (name, least) in [
        ("docs/CLI.md", 10),
        ("docs/VIEW.md", 1),
        ("docs/PIPELINES.md", 1),
        ("docs/EXPORT.md", 2),
        ("docs/SCALE.md", 2),
        ("docs/GENERATIONS.md", 3),
        ("docs/VALIDATE_IN_CI.md", 4),
        ("docs/FUZZING.md", 1),
        ("docs/LOSSES.md", 0),
        ("docs/start/ci.md", 1),
        ("docs/start/data-engineer.md", 1),
        ("docs/start/performance-engineer.md", 1),
    ] {
        check(name, least);
    }
}

/// A page that nobody listed above would not be checked.
#[test]
fn every_page_is_checked() {
    let tests = include_str!("blocks.rs");
    for path in
        fs::read_dir(Path::new(ROOT).join("docs")).unwrap().map(|entry| entry.unwrap().path())
    {
        let Some(name) =
            path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with(".md"))
        else {
            continue;
        };
        let page = fs::read_to_string(&path).unwrap();
        let runs = parts(&page)
            .into_iter()
            .any(|part| matches!(part, Part::Block { opening, .. } if opening.runs()));
        let needs = page.contains("<!-- needs ");
        assert!(
            !(runs || needs) || tests.contains(&format!("docs/{name}")),
            "{name} is not checked"
        );
    }
}
