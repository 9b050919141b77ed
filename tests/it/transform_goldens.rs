//! Merges and differences, compared with the recorded answers of pprof.
#![cfg(feature = "proto-all")]

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::corpus::{canonical, sha256};
use otlp_profiles::transform::{Columns, DiffProfile, MergeOptions, Merged, Merger, diff_profile};
use otlp_profiles::{Format, Limits, Profiles, ReadOptions};

/// The folders of the corpus and of pprof's answers, if both are there.
fn goldens() -> Option<(PathBuf, PathBuf)> {
    let corpus = PathBuf::from(std::env::var_os("OTLP_PROFILES_CORPUS")?);
    let goldens = corpus.join("../goldens/pprof");
    goldens.exists().then_some((corpus, goldens))
}

/// Answers that differ from pprof's on purpose: the files, the fields and the reason.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("rust/cpu", "period", "periods differ: pprof takes the largest, we drop it"),
    ("gperftools", "period", "the same"),
    ("rust/heap", "period", "the same"),
    ("time-", "period", "the same"),
    ("types-", "period", "the same"),
    ("time-", "time_nanos", "in pprof, a profile without a time erases the times before it"),
    ("gperftools", "time_nanos", "the same"),
    ("diff-a.pb dropframes.pb", "time_nanos", "the same"),
    ("base=", "time_nanos", "a difference has the time of the new profile"),
    ("base=", "duration_nanos", "a difference has the duration of the new profile"),
    ("unit-", "samples", "pprof drops samples that have no value after conversion to a unit"),
    ("unit-", "locations", "the same"),
    ("unit-", "functions", "the same"),
    ("unit-", "sums", "the same"),
    ("aslr-3", "samples", "sizes of binaries with a build id are compared exactly, not in pages"),
    ("aslr-3", "locations", "the same"),
    ("columns", "samples", "pprof unites inlined frames that differ in their column only"),
    ("columns", "locations", "the same"),
    ("big.pb big.pb", "value.overflow", "pprof's sum wraps"),
    ("min.pb min.pb", "value.overflow", "pprof's sum wraps"),
    ("dropframes", "samples differ", "pprof drops frames before it merges"),
];

/// A recorded merge or difference.
struct Case {
    name: String,
    files: Vec<String>,
    base: Option<String>,
    cancel: bool,
    normalize: bool,
    header: Json,
}

fn cases(goldens: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for file in ["made/merge-diff.json", "synthetic/goldens.json"] {
        let file: Json =
            serde_json::from_slice(&std::fs::read(goldens.join(file)).unwrap()).unwrap();
        for answer in file["cases"].as_array().unwrap() {
            let arguments: Vec<&str> = answer["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap())
                .collect();
            let files = answer.get("files").and_then(Json::as_array);
            let files: Vec<String> = match files {
                Some(files) => files.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
                None => answer["profile"].as_str().map(str::to_owned).into_iter().collect(),
            };
            let value = |flag: &str| arguments.iter().find_map(|one| one.strip_prefix(flag));
            let diff = value("-diff_base=");
            let base = diff.or(value("-base=")).map(str::to_owned);
            let is_profile = arguments.contains(&"-proto");
            let others = ["-sample_index", "-drop_negative"];
            let is_other =
                others.iter().any(|other| arguments.iter().any(|one| one.starts_with(other)));
            if !is_profile || is_other || files.len() + usize::from(base.is_some()) < 2 {
                continue;
            }
            let Some(header) = answer.get("header").cloned() else { continue };
            cases.push(Case {
                name: format!("{} {}", arguments.join(" "), files.join(" ")),
                files,
                base,
                cancel: diff.is_none(),
                normalize: arguments.contains(&"-normalize"),
                header,
            });
        }
    }
    cases
}

fn read(name: &str, corpus: &Path, goldens: &Path) -> Option<Profiles> {
    let folder = if name.contains('/') { corpus.to_owned() } else { goldens.join("synthetic") };
    let bytes = std::fs::read(folder.join(name)).ok()?;
    let options = ReadOptions::default().format(Format::PPROF).limits(Limits::file());
    Some(otlp_profiles::read(&bytes, &options).ok()?.profiles)
}

/// The fields in which our answer differs from pprof's.
fn differences(merged: &Merged, header: &Json) -> Vec<String> {
    let profiles = &merged.profiles;
    let mut different = Vec::new();
    let mut compare = |field: &str, ours: Json| {
        let theirs = header.get(field).cloned().unwrap_or_default();
        if ours != theirs {
            different.push(format!("{field}: {ours} and not {theirs}"));
        }
    };
    let dictionary = profiles.dictionary();
    let text = |id| Json::from(dictionary.text(id));
    let Some(profile) = profiles.iter().next().filter(|_| profiles.len() == 1) else {
        return vec![format!("profiles: {}", profiles.len())];
    };
    let types = profile.sample_types().iter();
    compare(
        "sample_types",
        types.map(|of| Json::from(vec![text(of.name), text(of.unit)])).collect(),
    );
    let kind = profile.period_type();
    compare("period_type", vec![text(kind.name), text(kind.unit)].into());
    compare("period", profile.period().into());
    compare("time_nanos", (profile.time_unix_nano() as i64).into());
    compare("duration_nanos", (profile.duration_nanos() as i64).into());
    compare("samples", profile.samples().len().into());
    compare("locations", (dictionary.locations().len() - 1).into());
    compare("functions", (dictionary.functions().len() - 1).into());
    let sums: Vec<Json> = profile.sums().iter().map(|sum| (*sum as i64).into()).collect();
    compare("sums", sums.into());
    if let Some(digest) = header.get("canon_sha256").filter(|_| !profile.samples().is_empty()) {
        let ours = sha256((canonical(profiles).join("\n") + "\n").as_bytes());
        if *digest != ours {
            different.push("samples differ".to_owned());
        }
    }
    different
}

#[test]
fn recorded_merges_and_differences_of_pprof() {
    let Some((corpus, goldens)) = goldens() else {
        let message =
            "SKIPPED: OTLP_PROFILES_CORPUS is not set or has no answers of pprof beside it\n";
        let _ = std::io::stderr().write_all(message.as_bytes());
        return;
    };
    let options = MergeOptions::default()
        .columns(Columns::Intersect)
        .sum_durations(true)
        .drop_zero(true)
        .join_periods(true);
    let (mut equal, mut explained, mut wrong) = (0, vec![0; DIFFERENT.len()], Vec::new());
    for case in cases(&goldens) {
        let inputs: Vec<Profiles> =
            case.files.iter().filter_map(|file| read(file, &corpus, &goldens)).collect();
        let merge = |inputs: &[Profiles]| {
            let mut merger = Merger::new(options.clone());
            inputs.iter().try_for_each(|input| merger.add(input))?;
            merger.finish()
        };
        let merged = merge(&inputs).and_then(|new| match &case.base {
            None => Ok(new),
            Some(base) => {
                let base = merge(&[read(base, &corpus, &goldens).unwrap()])?;
                let how = DiffProfile::default().cancel(case.cancel).normalize(case.normalize);
                diff_profile(&base.profiles, &new.profiles, &how)
            }
        });
        let different = match merged {
            Ok(merged) => differences(&merged, &case.header),
            Err(error) => vec![error.to_string()],
        };
        for difference in &different {
            let known = DIFFERENT.iter().position(|(name, field, _)| {
                case.name.contains(name) && difference.starts_with(field)
            });
            match known {
                Some(row) => explained[row] += 1,
                None => wrong.push(format!("{}: {difference}", case.name)),
            }
        }
        equal += usize::from(different.is_empty());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<_> =
        DIFFERENT.iter().zip(&explained).filter(|(_, count)| **count == 0).collect();
    assert!(equal > 10 && unused.is_empty(), "{equal} equal, {unused:?} do not differ");
}
