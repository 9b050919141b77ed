//! Payloads that this crate writes for real profiles break no rules that the profile itself does
//! not break.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use otlp_profiles::builder::WhenFull;
use otlp_profiles::check::{Options, fix, validate};
use otlp_profiles::{Builder, Format, Limits, Policy, ReadOptions, Severity, WriteOptions};

/// Warnings about the contents of a profile, whatever its format:
///
/// * OP32, OP33: attributes that are equal or unreferenced, which stay
/// * OP40: samples with equal stacks and labels, several shapes, or times out of range or coarse
/// * OP50: values of bytes, and schema URLs without a version
/// * OP60, PP1029: no time, or a time in another unit than nanoseconds
/// * OP70, OP80: functions without a name, and frames without a function
/// * PP10: the same for pprof
const DESERVED: &[&str] = &[
    "OP3206", "OP3306", "OP4003", "OP4004", "OP4012", "OP4014", "OP5006", "OP5024", "OP6011",
    "OP6014", "OP6015", "PP1029", "OP7008", "OP7009", "OP7010", "OP8003", "OP8012", "PP1017",
    "PP1018", "PP1020", "PP1022", "PP1023", "PP1025", "PP1027", "PP1028", "PP1036", "PP1039",
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        match path.is_dir() {
            true => files(&path, out),
            false => out.push(path),
        }
    }
    out.sort();
}

#[test]
fn what_is_written_of_real_profiles_breaks_nothing_of_its_own() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"), &mut all);
    match std::env::var_os("OTLP_PROFILES_CORPUS") {
        Some(corpus) => files(Path::new(&corpus), &mut all),
        None => eprintln!("without OTLP_PROFILES_CORPUS, the files of testdata alone"),
    }
    let (mut read, mut wrong) = (0, BTreeMap::new());
    let formats = Format::ALL.iter().filter(|format| {
        format.name() == "pprof" || (format.name().starts_with("otlp-") && format.can_write())
    });
    let formats: Vec<Format> = formats.copied().collect();
    assert_eq!(formats.len(), 10);
    for path in all {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if bytes.len() > 300_000 {
            continue;
        }
        let options = ReadOptions::default().limits(Limits::file()).policy(Policy::Refuse);
        let Ok(reading) = otlp_profiles::read(&bytes, &options) else { continue };
        read += 1;
        // Findings about the source apply to its conversions, too.
        let own = validate(&bytes, &Options::default().limits(Limits::file()));
        let own: Vec<&str> = own.rule_counts().map(|tally| tally.rule.id()).collect();
        let mut look = |how: &str, format: Format, payload: &[u8]| {
            let options = Options::default().limits(Limits::file()).format(format);
            for found in validate(payload, &options).findings() {
                let id = found.rule.id();
                let warns = DESERVED.contains(&id) && found.severity < Severity::Error;
                let deserved = warns || own.contains(&id);
                let matters = found.severity > Severity::Info || id == "PP1031";
                if matters && !deserved {
                    let line = format!("{} {how} {}: {found}", path.display(), format.name());
                    wrong.entry(found.rule.id()).or_insert(line);
                }
            }
        };
        for format in &formats {
            let written =
                otlp_profiles::write(&reading.profiles, *format, &WriteOptions::default());
            let Ok(written) = written else { continue };
            look("as", *format, &written.payload);
        }
        let mut builder = Builder::with_limits(Limits::file(), WhenFull::Refuse);
        builder.add(&reading.profiles).expect("it fits");
        let built = builder.finish().expect("what was read can be built");
        let built = otlp_profiles::write(&built, Format::OTLP, &WriteOptions::default());
        look("built as", Format::OTLP, &built.expect("what was built can be written").payload);
    }
    assert!(read > 10, "{read} files were read");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Writes the pprofs among `files`: `validate --strict` passes, and `--fix` changes no bytes.
///
/// `nameless` holds files with functions without a name, which equal the empty row of a table.
fn pprofs_pass_a_strict_check(files: &[PathBuf], formats: &[Format], nameless: &[&str]) -> usize {
    let mut pprofs = 0;
    for path in files {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let options = ReadOptions::default().limits(Limits::file());
        let Ok(reading) = otlp_profiles::read(&bytes, &options) else { continue };
        let own = validate(&bytes, &Options::default().limits(Limits::file()));
        let clean = own.worst() <= Some(Severity::Info);
        if own.format != Some(Format::PPROF) || !clean {
            continue;
        }
        pprofs += 1;
        for format in formats {
            let written =
                otlp_profiles::write(&reading.profiles, *format, &WriteOptions::default());
            let written = written.expect("a pprof fits all formats").payload;
            let options = Options::default().limits(Limits::file()).format(*format);
            let fixed = fix(&written, &options);
            let report =
                if fixed.changes.is_empty() { fixed.report } else { validate(&written, &options) };
            let place = format!("{} as {}", path.display(), format.name());
            assert!(
                report.worst() <= Some(Severity::Info),
                "{place}: {:#?}",
                report.rule_counts().collect::<Vec<_>>()
            );
            if !nameless.iter().any(|name| path.ends_with(name)) {
                assert!(
                    fixed.changes.is_empty() && fixed.not_fixed.is_empty(),
                    "{place}: {:#?} {:#?}",
                    fixed.changes,
                    fixed.not_fixed
                );
            }
        }
    }
    pprofs
}

#[test]
fn converted_pprofs_pass_a_strict_check() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"), &mut all);
    assert!(pprofs_pass_a_strict_check(&all, &[Format::OTLP, Format::PPROF], &[]) >= 13);
}

#[test]
#[ignore = "takes minutes: every generation, and the files of OTLP_PROFILES_CORPUS"]
fn converted_pprofs_pass_a_strict_check_in_every_generation() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"), &mut all);
    if let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS") {
        files(Path::new(&corpus), &mut all);
    }
    let of_otlp = |format: &&Format| format.name().starts_with("otlp-") && format.can_write();
    let mut formats: Vec<Format> = Format::ALL.iter().filter(of_otlp).copied().collect();
    formats.push(Format::PPROF);
    let nameless = ["parca/profile-with-labels.pb.gz"];
    assert!(pprofs_pass_a_strict_check(&all, &formats, &nameless) >= 13);
}
