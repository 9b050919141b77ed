//! Names of output files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use otlp_profiles::Format;

/// A file name in two: what it is called, and the extension that says what it is, `.gz` included.
pub(crate) fn split_name(name: &str) -> (&str, &str) {
    let bare = strip(name, "gz").unwrap_or(name);
    let stem = known_extensions()
        .filter_map(|extension| strip(bare, extension))
        .min_by_key(|stem| stem.len());
    name.split_at(stem.unwrap_or(bare).len())
}

/// Every extension that means a format.
pub(crate) fn known_extensions() -> impl Iterator<Item = &'static str> {
    Format::ALL.iter().flat_map(|format| format.extensions()).copied()
}

/// `name` without `.extension`, in any case; something has to be left.
fn strip<'a>(name: &'a str, extension: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(extension.len() + 1)?;
    let (stem, end) = name.split_at_checked(at)?;
    let same = end.strip_prefix('.')?.eq_ignore_ascii_case(extension);
    (same && !stem.is_empty()).then_some(stem)
}

/// Whether a path ends with `.gz`.
pub(crate) fn is_gz(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// The extension of a format's files.
pub(crate) fn extension(format: Format, gzip: bool) -> String {
    let own = format.extensions().first().copied().unwrap_or(format.name());
    let gz = if gzip { ".gz" } else { "" };
    format!(".{own}{gz}")
}

/// `path` with `suffix` in the place of its extension, or after it if `keep`.
pub(crate) fn renamed(path: &Path, suffix: &str, keep: bool) -> PathBuf {
    let Some(name) = path.file_name() else {
        return path.to_owned();
    };
    let name: OsString = match name.to_str() {
        Some(name) if !keep => (split_name(name).0.to_owned() + suffix).into(),
        _ => {
            let mut name = name.to_owned();
            name.push(suffix);
            name
        }
    };
    path.with_file_name(name)
}

/// `path`, or with several files, `path` with a number before its extension: `x-0.pb.gz`.
pub(crate) fn numbered(path: &Path, row: usize, of: usize) -> PathBuf {
    if of == 1 {
        return path.to_owned();
    }
    let name = path.file_name().unwrap_or_default();
    let name: OsString = match name.to_str() {
        Some(name) => {
            let (stem, extension) = split_name(name);
            format!("{stem}-{row}{extension}").into()
        }
        None => {
            let mut name = name.to_owned();
            name.push(format!("-{row}"));
            name
        }
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_what_is_known() {
        assert_eq!(split_name("a.b.PB.gz"), ("a.b", ".PB.gz"));
        assert_eq!(split_name("cpu.2026.11"), ("cpu.2026.11", ""));
        assert_eq!(split_name("cpu.2026.gz"), ("cpu.2026", ".gz"));
        assert_eq!(split_name(".pb"), (".pb", ""));
        assert_eq!(numbered(Path::new("d/x.pb.gz"), 1, 2), Path::new("d/x-1.pb.gz"));
        assert_eq!(numbered(Path::new("d/x.pb.gz"), 0, 1), Path::new("d/x.pb.gz"));
    }

    #[test]
    fn an_old_generation_has_the_extension_of_its_family() {
        assert_eq!(extension(Format::OTLP_1_4, true), ".otlp.gz");
        assert_eq!(extension(Format::PPROF, false), ".pb");
    }
}
