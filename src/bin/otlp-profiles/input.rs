//! Which inputs the arguments mean: files, globs, directories, stdin.

use std::fs;
use std::path::{Path, PathBuf};

use otlp_profiles::Format;

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
    found: bool,
}

impl Input {
    fn stdin() -> Self {
        Self { path: None, relative: PathBuf::from("stdin"), found: false }
    }

    fn file(path: &Path, relative: &Path) -> Self {
        let (path, relative) = (Some(path.to_owned()), relative.to_owned());
        Self { path, relative, found: false }
    }

    fn found(path: &Path, relative: &Path) -> Self {
        Self { found: true, ..Self::file(path, relative) }
    }

    /// Whether a failure to read it is none: a README in a directory of profiles, but nothing that
    /// has the name of one. Any JSON has the name of OTLP/JSON.
    pub(crate) fn may_be_skipped(&self, failure: &Failure) -> bool {
        let named = self.path.as_deref().and_then(Format::of_path);
        self.found && failure.is_no_profile && named.is_none_or(Format::is_json)
    }

    /// The name as a shell takes it, if there is a file.
    pub(crate) fn shell_name(&self) -> Option<String> {
        let name = self.path.as_deref()?.to_str()?;
        let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,:@%/".contains(c);
        if name.chars().all(is_plain) && !name.starts_with('-') {
            return Some(name.to_owned());
        }
        let dash = if name.starts_with('-') { "./" } else { "" };
        Some(format!("'{dash}{}'", name.replace('\'', "'\\''")))
    }

    /// The name as it is given, which may hold anything.
    pub(crate) fn name(&self) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        path.to_string_lossy().into_owned()
    }

    /// The bytes it is known to have.
    pub(crate) fn size(&self) -> u64 {
        let metadata = self.path.as_deref().and_then(|path| fs::metadata(path).ok());
        metadata.map_or(0, |metadata| metadata.len())
    }
}

/// What the arguments mean.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// In the order of the arguments; in a directory and for a glob in the order of the names.
    pub(crate) all: Vec<Input>,
    /// Arguments that mean nothing that can be read, and why.
    pub(crate) missing: Vec<(String, Failure)>,
    /// Whether a single file or stdin was named, and nothing else.
    pub(crate) single: bool,
}

impl Inputs {
    pub(crate) fn of(arguments: &[PathBuf]) -> Self {
        let mut inputs = Self::default();
        let mut found = 0;
        for argument in arguments {
            if argument.as_os_str() == "-" {
                inputs.all.push(Input::stdin());
            } else if argument.is_dir() {
                found += 1;
                if !inputs.directory(argument, argument) {
                    inputs.miss(argument, "holds no files");
                }
            } else if is_glob(argument) {
                found += 1;
                inputs.glob(argument);
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

    /// The files below `directory`, except the hidden ones; names are relative to `root`.
    ///
    /// Gives whether there is any.
    fn directory(&mut self, root: &Path, directory: &Path) -> bool {
        let entries = fs::read_dir(directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        let mut paths: Vec<PathBuf> = match entries {
            Ok(paths) => paths,
            Err(error) => {
                self.miss(directory, &format!("cannot be read: {error}"));
                return true;
            }
        };
        paths.sort();
        let mut any = false;
        for path in paths {
            let hidden =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            // A link to a directory may lead back to where it is.
            let is_directory = path.is_dir();
            if hidden || (is_directory && path.is_symlink()) {
                continue;
            }
            if is_directory {
                any |= self.directory(root, &path);
            } else {
                any = true;
                let relative = path.strip_prefix(root).unwrap_or(&path);
                self.all.push(Input::found(&path, relative));
            }
        }
        any
    }

    /// The files a pattern names, relative to the part of it that is no pattern.
    fn glob(&mut self, pattern: &Path) {
        let Some(text) = pattern.to_str() else {
            return self.miss(pattern, "cannot be read: the pattern is not UTF-8");
        };
        let mut matches = match glob::glob(text) {
            Ok(paths) => paths.filter_map(Result::ok).filter(|path| path.is_file()).peekable(),
            Err(error) => return self.miss(pattern, &format!("cannot be read: {error}")),
        };
        if matches.peek().is_none() {
            let why = "cannot be read: there is no such file, and no file matches the pattern";
            return self.miss(pattern, why);
        }
        let root: PathBuf = pattern
            .components()
            .take_while(|part| !has_wildcard(&part.as_os_str().to_string_lossy()))
            .collect();
        for path in matches {
            let relative = path.strip_prefix(&root).unwrap_or(&path);
            self.all.push(Input::file(&path, relative));
        }
    }

    fn miss(&mut self, path: &Path, why: &str) {
        let failure = Failure::new(Exit::Input, shown(why));
        self.missing.push((path.to_string_lossy().into_owned(), failure));
    }
}

/// Whether a path is a pattern: a file of that very name comes first.
fn is_glob(path: &Path) -> bool {
    has_wildcard(&path.to_string_lossy()) && !path.exists()
}

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
