//! Which inputs the arguments mean: files, globs, directories, stdin.
//!
//! A file that was named must be readable; one that was found in a directory may be no profile
//! at all and is passed over then. What is no file there, such as a pipe, is passed over and said.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use otlp_profiles::{Error, ErrorKind, Format};

use crate::exit::{Exit, Failure};
use crate::text::shown;

/// One input; by default stdin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    /// The file; `None` is stdin.
    pub(crate) path: Option<PathBuf>,
    /// Its name in a directory of outputs, still with its own extension.
    pub(crate) relative: PathBuf,
    /// Whether it was found in a directory, and not meant by name or pattern.
    pub(crate) found: bool,
}

impl Input {
    /// Called `stdin` in a directory of outputs: `stdin.otlp`.
    fn stdin() -> Self {
        Self { path: None, relative: PathBuf::from("stdin"), found: false }
    }

    /// An input that was named; one that a walk finds is made by [`Walk::input`].
    fn file(path: &Path, relative: &Path) -> Self {
        let (path, relative) = (Some(path.to_owned()), relative.to_owned());
        Self { path, relative, found: false }
    }

    /// Whether a failure to read it is none: a README in a directory of profiles, but nothing that
    /// has the name of one. Any JSON has the name of OTLP/JSON.
    pub(crate) fn may_be_skipped(&self, failure: &Failure) -> bool {
        let named = self.path.as_deref().and_then(Format::of_path);
        self.found && failure.is_no_profile && named.is_none_or(Format::is_json)
    }

    /// Returns the failure of the library to read the input, which may be gzip.
    ///
    /// Replaces words of the library with those of the command: `the option scale` with `--scale`, and a hint to name
    /// the format with the flag for it.
    pub(crate) fn failure(&self, error: &Error, gzip: bool) -> Failure {
        let mut failure = Failure::of(error, Exit::Input);
        failure.message = failure.message.replace("the option scale", "--scale");
        if error.kind() == ErrorKind::Unrecognised {
            let message = failure.message.replace("name its format", "name its format with --from");
            // Users can copy the suggested command.
            failure.message = self.named_in(&message, gzip);
        }
        failure
    }

    /// `message` with the file's name for `FILE`, as a shell takes it. Commands, which are in
    /// backquotes, get a gzip inflated: not all of them read it.
    fn named_in(&self, message: &str, gzip: bool) -> String {
        let Some(path) = self.path.as_deref().and_then(Path::to_str) else {
            return message.to_owned();
        };
        let name = quoted(path);
        let inflated = match path.strip_suffix(".gz") {
            Some(stem) => quoted(stem),
            None => quoted(&format!("{path}.inflated")),
        };
        let parts = message.split('`').enumerate().map(|(row, part)| match row % 2 == 1 && gzip {
            true if with_file(part, &name) != part => {
                format!("gunzip -c {name} > {inflated} && {}", with_file(part, &inflated))
            }
            _ => with_file(part, &name),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// The name as it is given, which may hold anything.
    pub(crate) fn name(&self) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        path.to_string_lossy().into_owned()
    }

    /// The bytes it is known to have.
    ///
    /// 0 for stdin and for what has no size: it is for the progress only.
    pub(crate) fn size(&self) -> u64 {
        let metadata = self.path.as_deref().and_then(|path| fs::metadata(path).ok());
        metadata.map_or(0, |metadata| metadata.len())
    }
}

/// Replaces the word `FILE` of a command by a name.
pub(crate) fn with_file(command: &str, name: &str) -> String {
    let mut named = String::new();
    let mut rest = command;
    while let Some((before, behind)) = rest.split_once("FILE") {
        let is_word =
            !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
        named.extend([before, if is_word { name } else { "FILE" }]);
        rest = behind;
    }
    named + rest
}

/// A name as a shell takes it.
///
/// As POSIX shells read it; a name that begins with a dash gets `./` before it.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:@%/".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    let dash = if name.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", name.replace('\'', "'\\''"))
}

/// What the arguments mean.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// In the order of the arguments; in a directory and for a glob in the order of the names.
    pub(crate) all: Vec<Input>,
    /// Arguments that mean nothing that can be read, and why.
    pub(crate) missing: Vec<(String, Failure)>,
    /// What was found and is no file, such as a pipe or a device.
    pub(crate) passed_over: Vec<(String, Failure)>,
    /// Whether a single file or stdin was named, and nothing else.
    pub(crate) single: bool,
}

impl Inputs {
    /// Directories are walked in the order of names, so a run over a tree is the same every time.
    pub(crate) fn of(arguments: &[PathBuf]) -> Self {
        Self::but(arguments, None)
    }

    /// The same, but for what lies in the directory of outputs, where that is below a directory of inputs: the outputs of
    /// one run are no inputs of the next.
    pub(crate) fn but(arguments: &[PathBuf], outputs: Option<&Path>) -> Self {
        let mut inputs = Self::default();
        let mut found = 0;
        for argument in arguments {
            if argument.as_os_str() == "-" {
                inputs.all.push(Input::stdin());
            } else if argument.is_dir() {
                found += 1;
                let before = inputs.found();
                let walk = Walk { root: argument, pattern: None, outputs };
                inputs.walk(&walk, argument, usize::MAX);
                if inputs.found() == before {
                    inputs.miss(argument, "holds no files");
                }
            } else if is_glob(argument) {
                found += 1;
                inputs.glob(argument, outputs);
            } else {
                let name = argument.file_name().unwrap_or_default();
                inputs.all.push(Input::file(argument, Path::new(name)));
            }
        }
        inputs.single = found == 0 && arguments.len() == 1;
        inputs
    }

    /// How many times stdin is named.
    pub(crate) fn stdins(&self) -> usize {
        self.all.iter().filter(|input| input.path.is_none()).count()
    }

    /// How much was found so far, that can be read or not.
    fn found(&self) -> usize {
        self.all.len() + self.missing.len()
    }

    /// The files in `directory` and so many levels below it, but for those that are left out.
    ///
    /// ```text
    /// entry                         what becomes of it
    /// a directory                   walked, up to `levels`; one behind a link is not: it may lead back here;
    ///                               that of outputs is not, unless it was named
    /// a file that the walk takes    an input
    /// a pipe, a socket, a device    passed over, and said
    /// cannot be examined            an input: opening it says why it cannot be read
    /// ```
    ///
    /// One call a level, so a tree is as deep here as the system lets paths be.
    fn walk(&mut self, walk: &Walk<'_>, directory: &Path, levels: usize) {
        let entries = fs::read_dir(if is_here(directory) { Path::new(".") } else { directory })
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        let mut names: Vec<OsString> = match entries {
            Ok(names) => names,
            Err(error) => return self.miss(directory, &format!("cannot be read: {error}")),
        };
        names.sort();
        for name in names.into_iter().filter(|name| !walk.leaves_out(name)) {
            let path = directory.join(name);
            let kind = fs::metadata(&path).map(|metadata| metadata.file_type());
            // A link to a directory may lead back to where it is.
            match kind {
                Ok(kind) if kind.is_dir() && (levels == 1 || path.is_symlink()) => {}
                Ok(kind) if kind.is_dir() && walk.is_of_outputs(&path) => {}
                Ok(kind) if kind.is_dir() => self.walk(walk, &path, levels - 1),
                _ if !walk.takes(&path) => {}
                // Reading a pipe or a device might never end.
                Ok(kind) if !kind.is_file() => {
                    let failure = Failure::new(Exit::Input, "it is neither a file nor a directory");
                    self.passed_over.push((path.to_string_lossy().into_owned(), failure));
                }
                _ => self.all.push(walk.input(&path)),
            }
        }
    }

    /// The files a pattern names, relative to the part of it that is no pattern.
    ///
    /// The directory to begin in is what stands before the first wildcard, so `/a/b/*.pb` reads
    /// `/a/b` and not the root; without `**` no level below the pattern's own is looked at.
    fn glob(&mut self, pattern: &Path, outputs: Option<&Path>) {
        // As a path has no double separators.
        let parts: Vec<_> = pattern.components().map(|part| part.as_os_str()).collect();
        let pattern: PathBuf = parts.iter().collect();
        let Some(text) = pattern.to_str() else {
            return self.miss(&pattern, "cannot be read: the pattern is not UTF-8");
        };
        let compiled = match Pattern::new(text) {
            Ok(compiled) => compiled,
            Err(error) => {
                let (why, at) = (error.msg, error.pos);
                let why = format!(
                    "cannot be read: there is no such file, and it is no pattern: {why} (character {at})"
                );
                return self.miss(&pattern, &why);
            }
        };
        let is_plain = |part: &&&OsStr| !has_wildcard(&part.to_string_lossy());
        let root: PathBuf = parts.iter().take_while(is_plain).collect();
        let wild = parts.iter().skip_while(is_plain);
        let any_level = wild.clone().any(|part| *part == "**");
        let levels = if any_level { usize::MAX } else { wild.count() };
        let before = self.found();
        let walk = Walk { root: &root, pattern: Some(&compiled), outputs };
        self.walk(&walk, &root, levels);
        if self.found() == before {
            let why = "cannot be read: there is no such file, and no file matches the pattern";
            self.miss(&pattern, why);
        }
    }

    /// An argument that gave nothing: it fails the run at its end, and the others are still read.
    fn miss(&mut self, path: &Path, why: &str) {
        let failure = Failure::new(Exit::Input, shown(why));
        self.missing.push((path.to_string_lossy().into_owned(), failure));
    }
}

/// What a walk through directories takes.
struct Walk<'a> {
    /// Where it begins.
    root: &'a Path,
    /// What the paths look like; of all files if none.
    pattern: Option<&'a Pattern>,
    /// The directory that outputs go to.
    outputs: Option<&'a Path>,
}

impl Walk<'_> {
    /// Whether what has this name is left out, with all that is in it: what is hidden, unless the
    /// pattern says the dot.
    fn leaves_out(&self, name: &OsStr) -> bool {
        let says_dot = |pattern: &Pattern| {
            let mut parts = Path::new(pattern.as_str()).components();
            parts.any(|part| matches!(part, Component::Normal(name) if is_hidden(name)))
        };
        is_hidden(name) && !self.pattern.is_some_and(says_dot)
    }

    /// Whether a directory is the one that outputs go to, by whichever path.
    fn is_of_outputs(&self, directory: &Path) -> bool {
        self.outputs.is_some_and(|outputs| same_file(directory, outputs))
    }

    /// With separators and leading dots literal, as a shell matches: `*.pb` finds neither `a/b.pb`
    /// nor `.b.pb`.
    fn takes(&self, path: &Path) -> bool {
        let exactly = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        // A name that is not UTF-8 is matched with a sign in the place of what is none.
        let text = path.to_string_lossy();
        self.pattern.is_none_or(|pattern| pattern.matches_with(&text, exactly))
    }

    /// Relative to the root of the walk, so that outputs in a directory form the same tree. A file
    /// that a pattern found was meant and must be readable, unlike one that a directory holds.
    fn input(&self, path: &Path) -> Input {
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        let found = self.pattern.is_none();
        Input { path: Some(path.to_owned()), relative: relative.to_owned(), found }
    }
}

/// As shells see it; on Windows too, where it is no rule but a habit of tools that come from Unix.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether a path is the nameless one, of the directory the command runs in.
fn is_here(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// Whether a path is a pattern: a file of that very name comes first.
fn is_glob(path: &Path) -> bool {
    has_wildcard(&path.to_string_lossy()) && !path.exists()
}

/// The characters by which [`Pattern`] means something else than themselves.
fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether two paths are one file.
#[cfg(unix)]
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether two paths are one file.
#[cfg(not(unix))]
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// An input that the system does not give.
pub(crate) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Input, format!("cannot be read: {error}"))
}
