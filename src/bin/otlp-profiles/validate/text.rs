//! Findings as lines, one each, and a summary.
//!
//! ```text
//! x.otlp: resource_profiles[0].resource: info OP5019 resource-missing: absent (…) (byte 4)
//! otlp-1.5: 0 errors, 0 warnings, 1 info
//! ```
//!
//! A line begins with the file, as compilers write it, so that editors and `grep` find their way.

use std::fmt::Write;

use otlp_profiles::Severity;
use otlp_profiles::check::Rule;

use super::Checked;
use crate::input::Inputs;
use crate::text::shown;

/// What was mended comes first, then what could not be, then what is left: the order in which a
/// person works through it. A file that could not be read has its line on stderr.
pub(super) fn page(files: &[Checked], inputs: &Inputs) -> String {
    let mut page = String::new();
    for file in files {
        let name = shown(&file.name);
        for change in file.fixed.iter().flat_map(|fixed| &fixed.changes) {
            let _ = writeln!(page, "{name}: {change}");
        }
        for left in file.fixed.iter().flat_map(|fixed| &fixed.not_fixed) {
            let colon = if left.path.is_empty() { "" } else { ": " };
            let why = shown(&left.why);
            let _ = writeln!(page, "{name}: {}{colon}not fixed: {why}", left.path);
        }
        for finding in file.report.iter().flat_map(|report| report.findings()) {
            let _ = writeln!(page, "{name}: {finding}");
        }
    }
    summary(&mut page, files, inputs.single);
    page
}

/// `3 files: 1 error, 2 warnings, 5 infos, 1 not read`
///
/// Of one file the format is named, as it may not be the one that was expected; of several their
/// number.
fn summary(page: &mut String, files: &[Checked], single: bool) {
    let reports = || files.iter().filter_map(|file| file.report.as_ref().ok());
    let count = |severity| reports().map(|report| report.count(severity)).sum::<u64>();
    let of = |number: u64, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    let [errors, warnings, infos] =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "info")]
            .map(|(severity, what)| of(count(severity), what));
    let format = reports().next().and_then(|report| report.format).filter(|_| single);
    let what = match format {
        Some(format) => format.to_string(),
        None => of(files.len() as u64, "file"),
    };
    let fixed = files.iter().filter_map(|file| file.fixed.as_ref());
    let fixes = fixed.clone().flat_map(|fixed| &fixed.changes).map(|change| change.count).sum();
    let left = fixed.clone().any(|fixed| !fixed.not_fixed.is_empty());
    let fixed = match (fixed.count(), fixes) {
        (0, _) => String::new(),
        (_, 0) if left => "; nothing fixed".to_owned(),
        (_, 0) => "; nothing to fix".to_owned(),
        (_, fixes) => format!("; {fixes} fixed"),
    };
    let unread = match files.iter().filter(|file| file.report.is_err()).count() {
        0 => String::new(),
        unread => format!(", {unread} not read"),
    };
    let _ = writeln!(page, "{what}: {errors}, {warnings}, {infos}{unread}{fixed}");
}

/// A line for each rule.
///
/// In the order of their ids, which is that of the catalogue; columns line up.
pub(super) fn catalogue() -> String {
    let mut page = String::new();
    for rule in Rule::all() {
        let (id, severity, name) = (rule.id(), rule.severity(), rule.name());
        let generations = rule.generations();
        let _ = writeln!(page, "{id} {severity:<12} {generations:<6} {name}: {}", rule.statement());
    }
    page
}
