//! The inputs that the arguments name: files, globs, directories, stdin.
//!
//! A named file must be readable. A file found in a directory may be skipped if it is not a
//! profile. Pipes, sockets and devices in a directory are skipped and reported.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use otlp_profiles::{Error, ErrorKind, Format};

use crate::exit::{Exit, Failure};
use crate::text::shown;

/// One input; stdin by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    /// The path of the file; `None` for stdin.
    pub(crate) path: Option<PathBuf>,
    /// The name in a directory of outputs, before its extension is replaced.
    pub(crate) relative: PathBuf,
    /// Whether a directory walk found it, in contrast to a name or a pattern.
    pub(crate) found: bool,
    /// Whether the walk of a directory or a pattern found it.
    pub(crate) is_walked: bool,
}

impl Input {
    /// Creates the input for stdin, whose output in a directory is `stdin.otlp`.
    fn stdin() -> Self {
        Self { path: None, relative: PathBuf::from("stdin"), ..Self::default() }
    }

    /// Creates a named input. [`Walk::input`] creates those that a walk finds.
    fn file(path: &Path, relative: &Path) -> Self {
        let (path, relative) = (Some(path.to_owned()), relative.to_owned());
        Self { path, relative, found: false, is_walked: false }
    }

    /// Whether the run may skip the input after this failure, such as a README in a directory of
    /// profiles. Files with the extension of a format may not be skipped, except JSON, which
    /// OTLP/JSON shares with other files.
    pub(crate) fn may_be_skipped(&self, failure: &Failure) -> bool {
        let named = self.path.as_deref().and_then(Format::of_path);
        self.found && failure.is_no_profile && named.is_none_or(Format::is_json)
    }

    /// Converts the library's error about reading the input. `compression` is that of the
    /// input.
    ///
    /// Replaces terms of the library by those of the command: `the option scale` by `--scale`, and
    /// a hint to name the format by the flag for it.
    pub(crate) fn failure(&self, error: &Error, compression: Option<&str>) -> Failure {
        let mut failure = Failure::of(error, Exit::Input);
        failure.message = failure.message.replace("the option scale", "--scale");
        if error.kind() == ErrorKind::Unrecognised {
            let message = failure.message.replace("name its format", "name its format with --from");
            // Users can copy the suggested command.
            failure.message = self.named_in(&message, compression);
        }
        failure
    }

    /// Replaces `FILE` in `message` by the quoted name of the file. In commands, which are in
    /// backquotes, the file is first inflated, because some tools do not read compressed files.
    fn named_in(&self, message: &str, compression: Option<&str>) -> String {
        let Some(path) = self.path.as_deref().and_then(Path::to_str) else {
            return message.to_owned();
        };
        let name = quoted(path);
        let inflated = match path.strip_suffix(".gz").or_else(|| path.strip_suffix(".zst")) {
            Some(stem) => quoted(stem),
            None => quoted(&format!("{path}.inflated")),
        };
        let inflate = match compression {
            Some("gzip") => "gunzip -c",
            Some("zlib") => "pigz -dc",
            _ => "zstd -dc",
        };
        // Parts with odd numbers are between backquotes.
        let is_command = |row| row % 2 == 1 && compression.is_some();
        let parts = message.split('`').enumerate().map(|(row, part)| match is_command(row) {
            true if with_file(part, &name) != part => {
                format!("{inflate} < {name} > {inflated} && {}", with_file(part, &inflated))
            }
            _ => with_file(part, &name),
        });
        parts.collect::<Vec<_>>().join("`")
    }

    /// The name as given; it may contain any characters.
    pub(crate) fn name(&self) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        path.to_string_lossy().into_owned()
    }

    /// The size of the file in bytes.
    ///
    /// 0 for stdin and for files without a size. Use it for progress and scheduling only.
    pub(crate) fn size(&self) -> u64 {
        let metadata = self.path.as_deref().and_then(|path| fs::metadata(path).ok());
        metadata.map_or(0, |metadata| metadata.len())
    }
}

/// Replaces the word `FILE` in a command by a name.
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

/// Quotes a name for POSIX shells. A name that begins with a dash gets the prefix `./`.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:@%/".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    let dash = if name.starts_with('-') { "./" } else { "" };
    format!("'{dash}{}'", name.replace('\'', "'\\''"))
}

/// The inputs of a run.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// In the order of the arguments; those of a directory or a glob are sorted by name.
    pub(crate) all: Vec<Input>,
    /// Arguments without readable inputs, with the reason.
    pub(crate) missing: Vec<(String, Failure)>,
    /// Files that a walk skipped: pipes, sockets, devices, and the output of the run.
    pub(crate) passed_over: Vec<(String, Failure)>,
    /// Whether the arguments are a single file or stdin.
    pub(crate) single: bool,
    /// Whether the directory of outputs is walked.
    pub(crate) walks_outputs: bool,
}

/// Why a walk skips a file that this run, or an earlier one, writes.
const OUTPUT: &str = "it is an output of this run";

impl Inputs {
    /// Resolves the arguments. Directories are walked in the order of names, so runs over a tree
    /// are reproducible.
    pub(crate) fn of(arguments: &[PathBuf]) -> Self {
        Self::but(arguments, None)
    }

    /// Resolves the arguments, and skips the directory of outputs if it is inside a directory of
    /// inputs, so that a second run does not read the outputs of the first.
    pub(crate) fn but(arguments: &[PathBuf], outputs: Option<&Path>) -> Self {
        let mut inputs = Self::default();
        let mut found = 0;
        for argument in arguments {
            if argument.as_os_str() == "-" {
                inputs.all.push(Input::stdin());
            } else if let Some(address) = address(argument) {
                inputs.miss(argument, &format!("is an address, and only files are read: download it first with `curl -f -o profile.pb.gz {}`", quoted(address)));
            } else if argument.is_dir() {
                found += 1;
                let before = inputs.found();
                let walk = Walk { root: argument, pattern: None, outputs };
                inputs.walks_outputs |= walk.is_of_outputs(argument);
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

    /// The number of arguments that name stdin.
    pub(crate) fn stdins(&self) -> usize {
        self.all.iter().filter(|input| input.path.is_none()).count()
    }

    /// The number of inputs so far, readable or missing.
    fn found(&self) -> usize {
        self.all.len() + self.missing.len()
    }

    /// Collects the files in `directory` and in `levels` levels of directories.
    ///
    /// ```text
    /// entry                         result
    /// a directory                   walked, up to `levels`; a link to one is not, because it may form a cycle;
    ///                               the directory of outputs is not, unless it was named
    /// a file that the walk takes    an input
    /// a pipe, a socket, a device    skipped and reported
    /// cannot be examined            an input: opening it reports the error
    /// ```
    ///
    /// Recurses once per level; the operating system's limit on paths bounds the depth.
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
            // A link to a directory may form a cycle.
            match kind {
                Ok(kind) if kind.is_dir() && (levels == 1 || path.is_symlink()) => {}
                Ok(kind) if kind.is_dir() && walk.is_of_outputs(&path) => {}
                Ok(kind) if kind.is_file() && walk.takes(&path) && walk.is_of_outputs(&path) => {
                    self.pass_over(&path, OUTPUT);
                }
                // Two levels or more: the first arm takes 1, and a pattern has a wildcard.
                Ok(kind) if kind.is_dir() => self.walk(walk, &path, levels - 1),
                _ if !walk.takes(&path) => {}
                // Reading a pipe or a device may block forever.
                Ok(kind) if !kind.is_file() => {
                    self.pass_over(&path, "it is neither a file nor a directory");
                }
                _ => self.all.push(walk.input(&path)),
            }
        }
    }

    /// Collects the files that match a pattern, with names relative to its literal prefix.
    ///
    /// The walk begins in the directory before the first wildcard, so `/a/b/*.pb` reads `/a/b` and
    /// not the root. Without `**`, it descends only as deep as the pattern.
    fn glob(&mut self, pattern: &Path, outputs: Option<&Path>) {
        // Normalises the pattern: paths have no double separators.
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
                    "cannot be read: no such file, and not a valid pattern: {why} (character {at})"
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
            let why = "cannot be read: no such file, and no file matches the pattern";
            self.miss(&pattern, why);
        }
    }

    /// Leaves out the files of walks that a run writes itself.
    pub(crate) fn leave_out_outputs(&mut self, is_output: impl Fn(&Path) -> bool) {
        for input in std::mem::take(&mut self.all) {
            match input.path.as_deref().filter(|path| input.is_walked && is_output(path)) {
                Some(path) => self.pass_over(path, OUTPUT),
                None => self.all.push(input),
            }
        }
    }

    /// Records a file that a walk skipped.
    fn pass_over(&mut self, path: &Path, why: &str) {
        let failure = Failure::new(Exit::Input, why);
        self.passed_over.push((path.to_string_lossy().into_owned(), failure));
    }

    /// Records an argument without inputs. It fails the run at its end; the other arguments are
    /// still read.
    fn miss(&mut self, path: &Path, why: &str) {
        let failure = Failure::new(Exit::Input, shown(why));
        self.missing.push((path.to_string_lossy().into_owned(), failure));
    }
}

/// The settings of a directory walk.
struct Walk<'a> {
    /// The directory where the walk begins.
    root: &'a Path,
    /// The pattern that paths must match; `None` accepts all files.
    pattern: Option<&'a Pattern>,
    /// The directory for outputs.
    outputs: Option<&'a Path>,
}

impl Walk<'_> {
    /// Whether to skip an entry with this name and everything in it: hidden entries, unless the
    /// pattern contains a name with a leading dot.
    fn leaves_out(&self, name: &OsStr) -> bool {
        let says_dot = |pattern: &Pattern| {
            let mut parts = Path::new(pattern.as_str()).components();
            parts.any(|part| matches!(part, Component::Normal(name) if is_hidden(name)))
        };
        is_hidden(name) && !self.pattern.is_some_and(says_dot)
    }

    /// Whether a directory is the one for outputs, even by another path.
    fn is_of_outputs(&self, directory: &Path) -> bool {
        self.outputs.is_some_and(|outputs| same_file(directory, outputs))
    }

    /// Whether the pattern matches the path. Separators and leading dots are literal, as in a
    /// shell: `*.pb` matches neither `a/b.pb` nor `.b.pb`.
    fn takes(&self, path: &Path) -> bool {
        let exactly = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        // Names that are not UTF-8 match with replacement characters.
        let text = path.to_string_lossy();
        self.pattern.is_none_or(|pattern| pattern.matches_with(&text, exactly))
    }

    /// Creates the input, with a name relative to the root of the walk, so that outputs form the
    /// same tree. A file that matches a pattern must be readable, unlike one that a directory walk
    /// found.
    fn input(&self, path: &Path) -> Input {
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        let found = self.pattern.is_none();
        Input { path: Some(path.to_owned()), relative: relative.to_owned(), found, is_walked: true }
    }
}

/// Whether a name begins with a dot, as hidden files on Unix. Windows has no such rule, but tools
/// from Unix follow it there.
fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether a path is empty and so means the current directory.
fn is_here(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// The address that an argument is, unless a file has this name.
fn address(argument: &Path) -> Option<&str> {
    let is_address = |text: &&str| text.starts_with("http://") || text.starts_with("https://");
    argument.to_str().filter(is_address).filter(|_| !argument.exists())
}

/// Whether a path is a pattern. An existing file of that name takes precedence.
fn is_glob(path: &Path) -> bool {
    has_wildcard(&path.to_string_lossy()) && !path.exists()
}

/// Whether a text contains a character that is special in a [`Pattern`].
fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether two paths refer to the same file.
#[cfg(unix)]
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Whether two paths refer to the same file.
#[cfg(not(unix))]
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// The failure of an input that the operating system cannot open or read.
pub(crate) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Input, format!("cannot be read: {error}"))
}
