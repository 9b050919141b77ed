//! Names of output files.
//!
//! | name | stem | extension |
//! |---|---|---|
//! | `cpu.pb.gz` | `cpu` | `.pb.gz` |
//! | `trace.otlp` | `trace` | `.otlp` |
//! | `notes.txt` | `notes.txt` | empty: `.txt` belongs to no format |
//!
//! Names are bytes on Unix and need not be UTF-8. Extensions are compared case-insensitively.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use otlp_profiles::Format;
use otlp_profiles::compression::{self, Level};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    /// Deflated by flate2; deterministic.
    Gzip,
    /// One zstd frame; requires the feature `zstd`.
    Zstd,
}

impl Packing {
    /// The compression that the extension of a file names.
    pub(crate) fn of_path(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default();
        match () {
            () if extension.eq_ignore_ascii_case("gz") => Self::Gzip,
            () if extension.eq_ignore_ascii_case("zst") => Self::Zstd,
            () => Self::None,
        }
    }

    /// Whether this build can write it.
    pub(crate) fn is_built(self) -> bool {
        self != Self::Zstd || cfg!(feature = "zstd")
    }

    /// The extension of files compressed this way.
    fn extension(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }

    /// Compresses bytes. Call it only if the compression [is built](Self::is_built).
    ///
    /// Takes the bytes by value, so that uncompressed output is not copied.
    pub(crate) fn pack(self, bytes: Vec<u8>, level: Level) -> Vec<u8> {
        match self {
            Self::Gzip => compression::deflate_in_parallel(&bytes, level),
            #[cfg(feature = "zstd")]
            Self::Zstd => compression::zstd(&bytes, level),
            _ => bytes,
        }
    }
}

/// Splits a file name into its stem and its extension, including `.gz` or `.zst`.
///
/// The longest known extension applies, because one may end like another.
fn split_name(name: &OsStr) -> (OsString, OsString) {
    let bytes = name.as_encoded_bytes();
    let bare = stem(bytes, "gz").or_else(|| stem(bytes, "zst")).unwrap_or(bytes.len());
    let gz = bytes.get(..bare).unwrap_or(bytes);
    let at = known_extensions().filter_map(|extension| stem(gz, extension)).min();
    cut(name, at.unwrap_or(bare))
}

/// Splits a name at a byte. Names need not be UTF-8.
#[cfg(unix)]
fn cut(name: &OsStr, at: usize) -> (OsString, OsString) {
    use std::os::unix::ffi::OsStrExt;
    let (stem, end) = name.as_bytes().split_at_checked(at).unwrap_or((name.as_bytes(), &[]));
    (OsStr::from_bytes(stem).to_owned(), OsStr::from_bytes(end).to_owned())
}

/// Splits a name at a byte. Replaces characters that are not Unicode on systems whose names are not
/// bytes.
#[cfg(not(unix))]
fn cut(name: &OsStr, at: usize) -> (OsString, OsString) {
    let end = name.as_encoded_bytes().len().saturating_sub(at);
    let name = name.to_string_lossy();
    let (stem, end) = name.split_at_checked(name.len().saturating_sub(end)).unwrap_or((&name, ""));
    (stem.into(), end.into())
}

/// The extensions of all formats.
pub(crate) fn known_extensions() -> impl Iterator<Item = &'static str> {
    Format::ALL.iter().flat_map(|format| format.extensions()).copied()
}

/// The offset of `.extension` at the end of `name`, in any case. The stem must not be empty.
fn stem(name: &[u8], extension: &str) -> Option<usize> {
    let at = name.len().checked_sub(extension.len() + 1).filter(|at| *at > 0)?;
    let end = name.get(at..)?.strip_prefix(b".")?;
    end.eq_ignore_ascii_case(extension.as_bytes()).then_some(at)
}

/// The extension of a format's files, with that of the compression.
pub(crate) fn extension(format: Format, packing: Packing) -> String {
    let own = format.extensions().first().copied().unwrap_or(format.name());
    format!(".{own}{}", packing.extension())
}

/// Replaces the extension of `path` by `suffix`, or appends `suffix` if `keep` is set.
pub(crate) fn renamed(path: &Path, suffix: &str, keep: bool) -> PathBuf {
    let Some(name) = path.file_name() else {
        return path.to_owned();
    };
    let mut name = if keep { name.to_owned() } else { split_name(name).0 };
    name.push(suffix);
    path.with_file_name(name)
}

/// Returns `path` for one label. For several, returns a path for each, with the label before the
/// extension: `x.cpu.pb.gz`. An extension of no known format counts if it consists of letters:
/// `x.cpu.txt`, but `cpu.2026.heap`.
///
/// Labels may be any text. Numbers distinguish labels that are equal, also if they differ only in
/// case, which some file systems ignore.
pub(crate) fn labelled(path: &Path, labels: &[&str]) -> Vec<PathBuf> {
    if labels.len() == 1 {
        return vec![path.to_owned()];
    }
    let (mut name, mut end) = split_name(path.file_name().unwrap_or_default());
    let own = Path::new(&name).extension().filter(|_| Format::of_path(path).is_none());
    if let Some(own) = own.filter(|own| own.as_encoded_bytes().iter().all(u8::is_ascii_alphabetic))
    {
        let at = name.len() - own.len() - 1;
        let (stem, mut own) = cut(&name, at);
        own.push(end);
        (name, end) = (stem, own);
    }
    let (mut taken, mut counts) = (HashSet::new(), HashMap::new());
    let path_of = |label: &&str| {
        let label = as_file_name(label);
        let count: &mut usize = counts.entry(label.to_lowercase()).or_default();
        // Try the label alone, then with numbers that equal labels have not used yet.
        let mut candidates = (*count..).map(|count| match count {
            0 => (1, label.clone()),
            count => (count + 1, format!("{label}-{}", count + 1)),
        });
        let free = candidates.find(|(_, label)| taken.insert(label.to_lowercase()));
        let (next, label) = free.unwrap_or_default();
        *count = next;
        let mut full = name.clone();
        full.extend([OsStr::new("."), OsStr::new(&label), &end]);
        path.with_file_name(full)
    };
    labels.iter().map(path_of).collect()
}

/// Converts a sample type, `name:unit`, to a part of a file name: at most 40 characters of its
/// name, with `_` in place of all but letters, digits and `-`.
fn as_file_name(label: &str) -> String {
    let name = label.split(':').next().unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    match name {
        "" => "profile".to_owned(),
        name => name.chars().take(40).map(safe).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_what_is_known() {
        for (name, stem, end) in [
            ("a.b.PB.gz", "a.b", ".PB.gz"),
            ("cpu.2026.11", "cpu.2026.11", ""),
            ("cpu.2026.gz", "cpu.2026", ".gz"),
            ("cpu.otlp.zst", "cpu", ".otlp.zst"),
            ("é.json.gz", "é", ".json.gz"),
            (".pb", ".pb", ""),
        ] {
            assert_eq!(split_name(OsStr::new(name)), (stem.into(), end.into()), "{name}");
        }
        assert_eq!(labelled(Path::new("d/x.pb.gz"), &["cpu"]), [Path::new("d/x.pb.gz")]);
        let labels = ["cpu", "CPU", "", "cpu-2", "a/b.c", "cpu"];
        let names = labelled(Path::new("d/x.otep.folded"), &labels);
        let wanted = ["cpu", "CPU-2", "profile", "cpu-2-2", "a_b_c", "cpu-3"];
        let wanted = wanted.map(|label| PathBuf::from(format!("d/x.{label}.otep.folded")));
        assert_eq!(names, wanted);
        for (name, first) in [
            ("x.txt", "x.a.txt"),
            ("x.y.txt.gz", "x.y.a.txt.gz"),
            ("x.y.otlp", "x.y.a.otlp"),
            ("cpu.2026", "cpu.2026.a"),
            (".txt", ".txt.a"),
            ("x", "x.a"),
        ] {
            assert_eq!(labelled(Path::new(name), &["a", "b"])[0], Path::new(first));
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_lose_their_extension_too() {
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        let renamed = renamed(path(b"d/caf\xe9.pb.gz"), ".otlp", false);
        assert_eq!(renamed, path(b"d/caf\xe9.otlp"));
        assert_eq!(labelled(path(b"caf\xe9.pb.gz"), &["a", "b"])[1], path(b"caf\xe9.b.pb.gz"));
    }

    #[test]
    fn an_old_generation_has_the_extension_of_its_family() {
        assert_eq!(extension(Format::OTLP_1_4, Packing::Gzip), ".otlp.gz");
        assert_eq!(extension(Format::PPROF, Packing::None), ".pb");
    }
}
