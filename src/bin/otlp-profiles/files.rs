//! Names of output files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use otlp_profiles::{FORMATS, Format};

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
    FORMATS.iter().flat_map(|format| format.extensions()).copied()
}

/// `name` without `.extension`, in any case; something has to be left.
fn strip<'a>(name: &'a str, extension: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(extension.len() + 1)?;
    let (stem, end) = name.split_at_checked(at)?;
    let same = end.strip_prefix('.')?.eq_ignore_ascii_case(extension);
    (same && !stem.is_empty()).then_some(stem)
}

/// The format the extension of a path means; the newest of several.
pub(crate) fn format_of(path: &Path) -> Option<&'static dyn Format> {
    let name = path.file_name()?.to_string_lossy();
    let bare = strip(&name, "gz").unwrap_or(&name);
    let means = |format: &&dyn Format| {
        let extensions = format.extensions().iter();
        extensions
            .filter(|extension| strip(bare, extension).is_some())
            .map(|extension| extension.len())
            .max()
    };
    // A longer extension says more: `.otlp.json` is JSON, whatever `.otlp` is.
    let longest = FORMATS.iter().filter_map(means).max()?;
    FORMATS.iter().copied().find(|format| means(format) == Some(longest))
}

/// Whether a path ends with `.gz`.
pub(crate) fn is_gz(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// The extension of a format's files: an old generation's is that of its family.
pub(crate) fn extension(format: &dyn Format, gzip: bool) -> String {
    let family = format.name().split('-').next().unwrap_or_default();
    let newest = otlp_profiles::format(family);
    let mut extensions = format.extensions().iter();
    let inherited = || newest.and_then(|newest| newest.extensions().first());
    let own = extensions.next().or_else(inherited).copied();
    let gz = if gzip { ".gz" } else { "" };
    format!(".{}{gz}", own.unwrap_or(family))
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
    fn the_extension_decides() {
        let of = |name: &str| format_of(Path::new(name)).map(|format| format.name());
        assert_eq!(of("d/x.pb.gz"), Some("pprof"));
        assert_eq!(of("x.pprof"), Some("pprof"));
        assert_eq!(of("x.otlp"), otlp_profiles::format("otlp").map(|format| format.name()));
        assert_eq!(of("x.otlp.gz"), of("x.otlp"));
        let old = otlp_profiles::FORMATS.iter().find(|format| format.name() == "otlp-1.4");
        assert_eq!(old.map(|old| extension(*old, true)).as_deref(), Some(".otlp.gz"));
        assert_eq!(of("x.txt"), None);
        assert_eq!(of("x"), None);
    }
}
