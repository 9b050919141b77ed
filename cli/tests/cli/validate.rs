//! `validate`: the output in each form, and the exit code.

use std::fs;

use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use serde_json::Value;

use crate::*;

/// A payload of OTLP 1.10 whose only sample refers to a missing stack.
const BROKEN: &[u8] = b"\x0a\x0a\x12\x08\x12\x06\x12\x04\x08\x09\x22\x00\
    \x12\x0e\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x3a\x00";

#[test]
fn findings_are_grouped_by_rule_with_a_summary() {
    let room = room("validate_text");
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    copy(PPROFS[0], &room.join("good.pb.gz"));
    let page = stdout(&run(&room, "validate bad.otlp --from otlp", 1));
    assert_eq!(page.lines().next(), Some("bad.otlp: otlp-1.10"), "{page}");
    let line = "  error   OP3101 index-sample-stack-index: resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index: stack index 9 is out of range: the stack table has 1 entry";
    assert!(page.lines().nth(1).unwrap().starts_with(line), "{page}");
    assert!(page.contains("\notlp-1.10: 2 errors, "), "{page}");
    assert!(
        page.ends_with("\nRun `otlp-profiles validate --explain OP3101` to read about a rule.\n")
    );
    let page = stdout(&run(&room, "validate bad.otlp --from otlp --all", 1));
    let line = "bad.otlp: resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index: error OP3101 index-sample-stack-index: stack index 9 is out of range: the stack table has 1 entry";
    assert!(page.lines().any(|found| found.starts_with(line)), "{page}");
    let page = stdout(&run(&room, "validate good.pb.gz --strict", 0));
    assert!(page.contains("\npprof: 0 errors, 0 warnings, 2 infos\n"), "{page}");
    assert!(page.lines().nth(1).unwrap().ends_with(" … and 1 more"), "{page}");
    // A default value that is written explicitly is an info.
    copy("gperftools-cpu.pb.gz", &room.join("default.pb.gz"));
    let page = stdout(&run(&room, "validate default.pb.gz", 0));
    let totals =
        "\npprof: 0 errors, 0 warnings, 1 info\nRun with --fix to repair up to 1 finding.\n";
    assert!(page.contains(totals), "{page}");
}

#[test]
fn several_files_are_counted_by_rule_and_equal_ones_share_their_lines() {
    let room = room("validate_several_files");
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    copy("gperftools-cpu.pb.gz", &room.join("a.pb.gz"));
    copy("gperftools-cpu.pb.gz", &room.join("b.pb.gz"));
    copy("crlf.folded", &room.join("c.folded"));
    copy("odd-frames.folded", &room.join("d.folded"));
    let page = stdout(&run(&room, "validate a.pb.gz bad.otlp b.pb.gz c.folded d.folded", 3));
    let lines: Vec<_> = page.lines().collect();
    assert_eq!(lines[0], "a.pb.gz, b.pb.gz: pprof", "{page}");
    assert!(
        lines[1].starts_with("  info    OP1027 default-encoded: default_sample_type: "),
        "{page}"
    );
    assert!(lines[2].starts_with("bad.otlp: otlp-1."), "{page}");
    assert!(page.contains("\nerror   OP0004 format-unknown: 2 files; "), "{page}");
    assert!(page.contains("\n  c.folded, d.folded: "), "{page}");
    assert!(
        page.contains("\nBy rule:\n       2  error   OP0004 format-unknown (2 files)\n"),
        "{page}"
    );
    let row = "\n       2  info    OP1027 default-encoded (2 files, --fix)\n";
    assert!(page.contains(row) && page.contains("\n5 files: "), "{page}");
    // -q omits infos from the printed text, and --min-severity from all forms.
    let quiet = stdout(&run(&room, "-q validate a.pb.gz bad.otlp b.pb.gz c.folded d.folded", 3));
    assert!(!quiet.contains("info") && quiet.contains("; 2 files without findings\n"), "{quiet}");
    assert!(quiet.lines().last().unwrap().starts_with("5 files: "), "{quiet}");
    let json = stdout(&run(&room, "validate a.pb.gz --min-severity warning --format json", 0));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["files"][0]["rules"].as_array().unwrap().len(), 0);
    assert_eq!(json["files"][0]["infos"], 0);
}

#[test]
fn severities_have_colours_where_they_are_asked_for() {
    let room = room("validate_colours");
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    let page = stdout(&run(&room, "--color always validate bad.otlp --from otlp", 1));
    assert!(
        page.contains("  \u{1b}[1m\u{1b}[31merror  \u{1b}[0m \u{1b}[1mOP3101\u{1b}[0m "),
        "{page:?}"
    );
    for flags in ["", "--color never "] {
        let page = stdout(&run(&room, &format!("{flags}validate bad.otlp --from otlp"), 1));
        assert!(!page.contains('\u{1b}'), "{page:?}");
    }
}

/// Reports are not kept: lines of many different files are printed in parts, in order, and counted as a whole.
#[test]
fn results_of_many_files_are_printed_in_parts() {
    let room = room("validate_parts");
    fs::create_dir(room.join("in")).unwrap();
    // Each with another number of unused strings, and a file of text after each hundred.
    for number in 0..200 {
        let mut bytes = BROKEN.to_vec();
        let spare = [b"\x2a\x01s".repeat(number + 1)].concat();
        bytes.push(0x12);
        let mut length = spare.len();
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend(spare);
        fs::write(room.join(format!("in/{number:03}.otlp")), bytes).unwrap();
    }
    let page = stdout(&run(&room, "validate in --from otlp", 1));
    let heads: Vec<_> = page.lines().filter(|line| line.starts_with("in")).collect();
    assert_eq!(heads.len(), 200, "{page}");
    assert!(heads.is_sorted(), "{page}");
    assert!(page.contains("\n200 files: "), "{page}");
    for form in ["json", "sarif", "junit", "github"] {
        let page = stdout(&run(&room, &format!("validate in --from otlp --format {form}"), 1));
        let places: Vec<_> =
            (0..200).map(|number| page.find(&format!("in/{number:03}.otlp"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form}");
    }
}

/// Every file of `testdata` together, as a person would try it first.
#[test]
fn a_folder_of_all_kinds_of_files_fits_on_two_screens() {
    let testdata = Path::new(ROOT).join("testdata");
    let mut names: Vec<_> =
        fs::read_dir(&testdata).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let names: Vec<_> = names.iter().map(|name| name.to_str().unwrap()).collect();
    let page = stdout(&run(&testdata, &format!("validate {}", names.join(" ")), 3));
    assert!(page.lines().count() <= 100, "{} lines", page.lines().count());
    // Formats of other tools are named, and files of the same kind share a line.
    let legacy = "  go-goroutine.txt, go-heap.txt, go-mutex.txt, go-threadcreate.txt, gperftools-cpu.prof, gperftools.heap: ";
    let speedscope = "  speedscope-evented.json, speedscope.json: it is a speedscope file: ";
    for start in [legacy, speedscope] {
        assert!(page.lines().any(|line| line.starts_with(start)), "{start:?} in {page}");
    }
}

#[test]
fn known_findings_are_kept_in_a_baseline() {
    let room = room("validate_baseline");
    fs::write(room.join("a.otlp"), BROKEN).unwrap();
    let validate = "validate --from otlp --only OP3101,OP5019 --baseline known.json";
    says(&run(&room, &format!("{validate} a.otlp"), 3), "known.json cannot be read: ");
    says(&run(&room, &format!("{validate} a.otlp"), 3), "; --update-baseline writes it");
    says(&run(&room, "validate --update-baseline a.otlp", 2), "--baseline <FILE>");
    let page = stdout(&run(&room, &format!("{validate} --update-baseline a.otlp"), 0));
    assert!(
        page.ends_with(": 0 errors, 0 warnings, 0 infos\nBaseline: 2 findings recorded.\n"),
        "{page}"
    );
    let written = fs::read_to_string(room.join("known.json")).unwrap();
    let json: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(json["schema"], "otlp-profiles/baseline/1");
    assert!(json["findings"].as_array().unwrap().iter().any(|found| found["rule"] == "OP3101"));
    // The same findings, with another spelling of the file's path.
    let page = stdout(&run(&room, &format!("{validate} ./a.otlp"), 0));
    assert!(page.ends_with("Baseline: 2 findings known.\n"), "{page}");
    let json = stdout(&run(&room, &format!("{validate} a.otlp --format json"), 0));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["files"][0]["verdict"], &json["files"][0]["errors"]),
        (&"accept".into(), &0.into())
    );
    // A new file has new findings, and the first one no longer has its known ones.
    fs::write(room.join("b.otlp"), BROKEN).unwrap();
    let page = stdout(&run(&room, &format!("{validate} a.otlp b.otlp"), 1));
    assert!(
        page.starts_with("b.otlp: ") && page.contains("; 1 file without new findings\n"),
        "{page}"
    );
    copy("otlp-1.11-aggregated-cpu.binpb", &room.join("a.otlp"));
    let page = stdout(&run(&room, &format!("{validate} a.otlp"), 0));
    let gone = "Baseline: 1 finding known, 1 gone; run with --update-baseline to drop those.\n";
    assert!(page.contains(gone), "{page}");
    let before = fs::read_to_string(room.join("known.json")).unwrap();
    assert_eq!(before, written, "only --update-baseline writes");
    // An input that is missing or cannot be opened would lose its known findings.
    for inputs in ["typo.otlp", "a.otlp typo.otlp"] {
        let output = run(&room, &format!("{validate} --update-baseline {inputs}"), 3);
        says(&output, "known.json was not updated");
        assert_eq!(fs::read_to_string(room.join("known.json")).unwrap(), written);
    }
    fs::write(room.join("known.json"), "[]").unwrap();
    says(
        &run(&room, &format!("{validate} a.otlp"), 3),
        "known.json cannot be read: expected an object",
    );
}

/// Paths in a baseline are relative to it.
#[test]
fn a_baseline_matches_from_every_folder() {
    let room = room("validate_baseline_paths");
    fs::create_dir_all(room.join("out/deep")).unwrap();
    fs::create_dir_all(room.join("ci")).unwrap();
    fs::write(room.join("out/deep/a.otlp"), BROKEN).unwrap();
    let rules = "validate --from otlp --only OP3101 --baseline";
    run(&room, &format!("{rules} ci/known.json --update-baseline out/deep/a.otlp"), 0);
    let written = fs::read_to_string(room.join("ci/known.json")).unwrap();
    assert!(written.contains("\"file\": \"../out/deep/a.otlp\""), "{written}");
    let absolute = room.join("out/deep/a.otlp");
    let known = room.join("ci/known.json");
    for (folder, baseline, file) in [
        (".", "ci/known.json", "./out/deep/a.otlp"),
        (".", "./ci/../ci/known.json", "out"),
        ("out", "../ci/known.json", "deep/a.otlp"),
        ("out/deep", "../../ci/known.json", "a.otlp"),
        ("ci", "known.json", "../out/deep/a.otlp"),
        ("ci", known.to_str().unwrap(), absolute.to_str().unwrap()),
    ] {
        let page = stdout(&run(&room.join(folder), &format!("{rules} {baseline} {file}"), 0));
        assert!(page.ends_with("Baseline: 1 finding known.\n"), "{folder} {file}: {page}");
    }
    // Names as earlier releases wrote them.
    fs::write(&known, written.replace("../out", "out")).unwrap();
    run(&room, &format!("{rules} ci/known.json out/deep/a.otlp"), 0);
    fs::write(room.join("b.otlp"), BROKEN).unwrap();
    run(&room, &format!("{rules} ci/known.json b.otlp"), 1);
}

/// Annotations have their rule and severity in other members; the advice is what a reader needs.
#[test]
fn annotations_do_not_repeat_themselves() {
    let room = room("validate_annotations");
    fs::write(room.join("a.otlp"), BROKEN).unwrap();
    let page = stdout(&run(&room, "validate --from otlp --only OP3101 --format github a.otlp", 1));
    assert_eq!(page.matches("OP3101").count(), 1, "{page}");
    assert!(page.contains("; write an index within the table"), "{page}");
    let page = stdout(&run(&room, "validate --from otlp --only OP3101 --format sarif a.otlp", 1));
    let sarif: Value = serde_json::from_str(&page).unwrap();
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    assert!(rule["fullDescription"]["text"].as_str().unwrap().contains(". Source: "), "{rule}");
}

/// What the command writes has no findings that it could not have avoided.
#[test]
fn own_output_has_no_notes_about_what_the_source_lacked() {
    let room = room("validate_own");
    for name in PPROFS {
        copy(name, &room.join(name));
        run(&room, &format!("convert {name} -o own.otlp -f"), 0);
        let page = stdout(&run(&room, "validate own.otlp", 0));
        for rule in ["OP3006", "OP3007", "OP4019", "OP5019", "OP5023"] {
            assert!(!page.contains(rule), "{name}: {page}");
        }
    }
}

#[test]
fn rules_are_chosen_and_weighed() {
    let room = room("validate_rules");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "validate a.pb.gz --deny PP1038", 1);
    run(&room, "validate a.pb.gz --deny PP1038 --ignore pprof-orphan", 0);
    let page = stdout(&run(&room, "validate a.pb.gz --only PP1001,PP1002", 0));
    assert_eq!(page, "pprof: 0 errors, 0 warnings, 0 infos\n");
    says(&run(&room, "validate a.pb.gz --only OP9999", 2), "no such rule");
    says(&run(&room, "validate --explain OP310", 2), "no such rule; similar ones are OP3101 ");
    says(&run(&room, "validate --only index-stack", 2), "no such rule");
    let near = "similar ones are OP3101 index-sample-stack-index";
    says(&run(&room, "validate --explain index-sampl-stack-indx", 2), near);
    let page = stdout(&run(&room, "validate --explain index-sample-stack-index", 0));
    assert!(
        page.starts_with("OP3101 index-sample-stack-index: a stack index is out of range\n"),
        "{page}"
    );
    let rules = otlp_profiles::check::Rule::all().count();
    assert_eq!(stdout(&run(&room, "validate --explain all", 0)).lines().count(), rules);
    // What decides about findings was passed over where there are none.
    for flag in ["--format json", "--only OP3101", "--compat profcheck", "--fix", "a.otlp"] {
        run(&room, &format!("validate --explain all {flag}"), 2);
    }
}

#[test]
fn another_checker_is_followed() {
    let room = room("validate_compat");
    // An unused string, and a payload without rows.
    let orphan = b"\x0a\x06\x12\x04\x12\x00\x12\x00\x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";
    fs::write(room.join("orphan.otlp"), orphan).unwrap();
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let page = stdout(&run(&room, "validate --compat profcheck orphan.otlp", 0));
    assert_eq!(page, "otlp-1.10: 0 errors, 0 warnings, 0 infos\n");
    let page =
        stdout(&run(&room, "validate --compat profcheck --check-orphans --all orphan.otlp", 1));
    assert!(page.contains("dictionary.string_table[1]: error OP3301"), "{page}");
    run(&room, "validate --compat profcheck bad.otlp", 1);
    // profcheck does not inflate.
    run(&room, "validate --compat profcheck a.pb.gz", 3);
    says(&run(&room, "validate --compat profcheck --only OP3101 bad.otlp", 2), "--compat");
    says(&run(&room, "validate --check-dupes bad.otlp", 2), "--compat");
}

#[test]
fn the_worst_file_decides() {
    let room = room("validate_exit");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    fs::write(room.join("cut.pb"), &fs::read(testdata("rust-cpu.pb")).unwrap()[..500]).unwrap();
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    run(&room, "validate a.pb.gz cut.pb", 3);
    run(&room, "validate a.pb.gz bad.otlp --max-input 100", 5);
    run(&room, "validate absent.pb", 3);
    run(&room, "validate", 2);
}

/// SARIF forbids lines and byte offsets in one region unless they are equal, so the byte is a
/// property.
#[test]
fn sarif_has_no_bytes_of_what_was_inflated_or_framed() {
    let room = room("validate_regions");
    let bytes = |name: &str| -> Vec<Option<u64>> {
        let page =
            stdout(&run(&room, &format!("validate {name} --format sarif --only OP3101,OP0010"), 1));
        let sarif: Value = serde_json::from_str(&page).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        let place = |found: &Value| found["locations"][0]["physicalLocation"].clone();
        results
            .iter()
            .map(|found| {
                let region = &place(found)["region"];
                assert_eq!(
                    (&region["startLine"], &region["byteOffset"]),
                    (&1.into(), &Value::Null)
                );
                region["properties"]["byteOffset"].as_u64()
            })
            .collect()
    };
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    fs::write(room.join("bad.otlp.gz"), deflate(BROKEN, Level::default())).unwrap();
    let framed = frame(Framing::LengthPrefixed, [BROKEN, BROKEN]).unwrap();
    fs::write(room.join("framed.otlp"), framed).unwrap();
    let plain = bytes("bad.otlp --from otlp");
    assert!(plain.len() == 1 && plain[0] > Some(0), "{plain:?}");
    assert_eq!(bytes("bad.otlp.gz --from otlp"), [None]);
    assert_eq!(bytes("framed.otlp --from otlp"), [Some(0), None, None]);
    let mut cut = deflate(BROKEN, Level::default());
    cut.truncate(cut.len() - 3);
    fs::write(room.join("cut.otlp.gz"), &cut).unwrap();
    let page = stdout(&run(&room, "validate cut.otlp.gz --format sarif --only OP0021", 3));
    assert!(page.contains("\"byteOffset\""), "{page}");
}

#[test]
fn machines_get_their_forms() {
    let room = room("validate_forms");
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    let form = |form: &str| {
        stdout(&run(&room, &format!("validate bad.otlp --from otlp --format {form}"), 1))
    };
    let document: Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!(document["schema"], "otlp-profiles/validate/1");
    let file = &document["files"][0];
    assert_eq!((&file["verdict"], &file["format"]), (&"reject".into(), &"otlp-1.10".into()));
    assert!(file["findings"].as_array().unwrap().iter().any(|found| found["rule"] == "OP3101"));

    fs::write(room.join("empty.otlp"), b"\x0a\0").unwrap();
    for (strict, verdict, exit) in [("", "warn", 0), (" --strict", "reject", 1)] {
        let page = run(&room, &format!("validate empty.otlp --format json{strict}"), exit);
        let document: Value = serde_json::from_str(&stdout(&page)).unwrap();
        assert_eq!(document["files"][0]["verdict"], verdict, "{strict}");
    }

    let sarif: Value = serde_json::from_str(&form("sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in sarif["runs"][0]["results"].as_array().unwrap() {
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        let help = rules[rule]["helpUri"].as_str().unwrap();
        let id = result["ruleId"].as_str().unwrap().to_lowercase();
        assert!(help.starts_with("https://") && help.ends_with(&format!("/docs/RULES.md#{id}")));
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
    }
    let absolute = room.join("bad.otlp").display().to_string();
    for (name, wanted) in
        [("./bad.otlp", "bad.otlp".to_owned()), (&absolute, format!("file://{absolute}"))]
    {
        if cfg!(unix) && !absolute.contains(' ') {
            let page =
                stdout(&run(&room, &format!("validate {name} --from otlp --format sarif"), 1));
            assert!(page.contains(&format!("\"uri\": \"{wanted}\"")), "{page}");
        }
    }
    let junit = form("junit");
    assert!(junit.contains("failures=\"1\" errors=\"0\"") && junit.contains("OP3101"), "{junit}");
    let failure = "<failure message=\"2 findings\"";
    assert!(junit.contains(failure), "{junit}");
    let lines = junit.lines().filter(|line| line.contains(": error OP")).count();
    assert!(lines == 2 && !junit.contains("\\n"), "a line each: {junit}");
    let junit = form("junit --max-findings 0");
    assert!(junit.contains(failure) && junit.contains("1 more of OP3101"), "{junit}");
    let github = form("github");
    assert!(github.contains("::error file=bad.otlp,title=OP3101 index-sample"), "{github}");
}

/// A finding keeps its fingerprint when its bytes and rows move; another finding has another.
#[test]
fn sarif_fingerprints_are_stable() {
    let room = room("validate_fingerprints");
    let fingerprints = |bytes: &[u8]| -> Vec<(String, String)> {
        fs::write(room.join("a.json"), bytes).unwrap();
        let validate = "validate a.json --from otlp-json --format sarif --only OP1019,OP3101";
        let sarif: Value = serde_json::from_str(&stdout(&run(&room, validate, 1))).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let print = |found: &Value| {
            let print = found["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap();
            let region = &found["locations"][0]["physicalLocation"]["region"];
            (print.to_owned(), format!("{}:{}", region["startLine"], region["startColumn"]))
        };
        results.iter().map(print).collect()
    };
    let text = |before: &str, samples: &str| {
        format!(
            "{before}{{\"resourceProfiles\":[{{\"scopeProfiles\":[{{\"profiles\":[{{\"samples\":[{samples}]}}]}}]}}],\n\"dictionary\":{{}},\n \"neu\": 1}}"
        )
    };
    let one = fingerprints(text("", r#"{"stackIndex":9}"#).as_bytes());
    assert_eq!((one.len(), one[0].1.as_str()), (2, "3:2"));
    let moved = fingerprints(text("\n\n", r#"{}, {}, {"stackIndex":7}"#).as_bytes());
    assert_eq!(moved[0].1, "5:2");
    let prints =
        |found: &[(String, String)]| found.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    assert_eq!(prints(&moved), prints(&one));
    let mut two =
        prints(&fingerprints(text("", r#"{"stackIndex":9}, {"stackIndex":9}"#).as_bytes()));
    assert!(prints(&one).iter().all(|print| two.contains(print)), "{one:?} {two:?}");
    two.dedup();
    assert_eq!(two.len(), 3, "each finding has a fingerprint of its own");
}

/// A payload of OTLP 1.10 with a sample of 7 and an unused string.
const ORPHAN: &[u8] = b"\x0a\x09\x12\x07\x12\x05\x12\x03\x22\x01\x07\
    \x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";

#[test]
fn files_are_fixed_in_place_and_elsewhere() {
    let room = room("validate_fix");
    fs::write(room.join("a.otlp"), ORPHAN).unwrap();
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    // With -o, the input stays unchanged, and existing files need --force.
    let page = stdout(&run(&room, "validate --from otlp --fix a.otlp -o b.otlp", 0));
    let line = "a.otlp: dictionary.string_table[1]: fixed OP3301 orphan-string: the unused row was left out (byte 25)";
    assert_eq!(page.lines().next(), Some(line), "{page}");
    assert!(page.contains("; 1 fixed\n") && !page.contains("--fix"), "{page}");
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), ORPHAN);
    let mended = fs::read(room.join("b.otlp")).unwrap();
    assert!(mended.len() < ORPHAN.len());
    says(&run(&room, "validate --from otlp --fix a.otlp -o b.otlp", 4), "exists; --force");
    run(&room, "validate --from otlp --fix a.otlp -o b.otlp --force", 0);
    // In place: findings without a single right answer remain, and decide the exit code.
    let output = run(&room, "validate --from otlp --fix a.otlp bad.otlp --format json", 1);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["files"][0]["fixed"][0]["rule"], "OP3301");
    assert_eq!(document["files"][1]["fixed"].as_array().unwrap().len(), 0);
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), mended);
    assert_eq!(fs::read(room.join("bad.otlp")).unwrap(), BROKEN);
    let page = stdout(&run(&room, "validate --from otlp --fix a.otlp", 0));
    assert!(page.contains("; nothing to fix\n"), "{page}");
    // Fixing would lose an unknown field.
    fs::write(room.join("left.otlp"), [ORPHAN, b"\x7a\x01\x00"].concat()).unwrap();
    let page = stdout(&run(&room, "validate --from otlp --fix left.otlp", 0));
    assert!(page.contains("not fixed") && page.contains("; nothing fixed\n"), "{page}");
    fs::remove_file(room.join("left.otlp")).unwrap();
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), mended);
    let names: Vec<_> =
        fs::read_dir(&room).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn fixing_asks_for_one_place() {
    let room = room("validate_fix_usage");
    fs::write(room.join("a.otlp"), ORPHAN).unwrap();
    says(&run(&room, "validate --fix -", 2), "stdin cannot be fixed in place");
    // Bytes beyond the limit were not read, so no file is written.
    run(&room, "validate --fix a.otlp -o cut --max-input-bytes 9", 5);
    assert!(!room.join("cut").exists());
    says(&run(&room, "validate --fix a.otlp a.otlp -o b", 2), "--output takes one input");
    run(&room, "validate a.otlp -o b", 2);
    let output = run(&room, "validate --from otlp --fix a.otlp -o - --force", 0);
    assert!(output.stdout.len() < ORPHAN.len() && output.stdout.starts_with(&ORPHAN[..11]));
}

/// Regression: the fixed bytes were written into the pipe that they came from.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_fixed_in_place() {
    let room = room("fix_pipe");
    assert!(Command::new("mkfifo").arg(room.join("pipe")).status().unwrap().success());
    let output = run(&room, "validate --fix pipe", 2);
    says(&output, "a pipe or a device cannot be fixed in place: give -o OUT");
}

/// Files of the Collector's file exporter, as described in the manual.
#[test]
fn files_of_several_messages_are_checked_and_are_no_requests() {
    use otlp_profiles::framing::{Framing, frame};
    let room = room("validate_several");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for (name, framing, wrong) in
        [("several.otlp", Framing::LengthPrefixed, 1), ("several.json", Framing::JsonLines, 3)]
    {
        run(&room, &format!("convert cpu.pb.gz --force -o {name}"), 0);
        let message = fs::read(room.join(name)).unwrap();
        fs::write(room.join(name), frame(framing, [&message, &message]).unwrap()).unwrap();
        let page = stdout(&run(&room, &format!("validate {name}"), 0));
        assert!(
            page.contains("info    OP0010 framed-stream: the input holds 2 messages"),
            "{page}"
        );
        let page = stdout(&run(&room, &format!("validate --all {name}"), 0));
        assert!(page.contains("message[1]."), "{page}");
        let page = stdout(&run(&room, &format!("validate --wire {name}"), wrong));
        assert!(page.contains("error   OP0010 framed-stream"), "{page}");
        let page = stdout(&run(&room, &format!("validate --for collector {name}"), 1));
        assert!(page.contains("error   OP0010 framed-stream"), "{page}");
        // A message that cannot be read is named by its number, and by its line in text.
        let damaged = fs::read(room.join(name)).unwrap();
        let cut = &damaged[..damaged.len() - 9];
        fs::write(room.join(name), cut).unwrap();
        let page = stdout(&run(&room, &format!("validate --all {name}"), 3));
        assert!(page.contains("message[1]"), "{page}");
        assert_eq!(page.contains(" (line "), framing == Framing::JsonLines, "{page}");
    }
    // Other JSON has no rules.
    fs::write(room.join("other.json"), "{\"hits\": []}").unwrap();
    let page = stdout(&run(&room, "validate other.json", 3));
    assert!(page.contains("OP0008"), "{page}");
}

#[test]
fn nothing_is_known_of_what_receivers_ask_of_pprof() {
    let testdata = Path::new(ROOT).join("testdata");
    let said = "the demands of parca on pprof are not known: only the rules of pprof are checked";
    says(&run(&testdata, "validate --for parca go-heap.pb.gz", 0), said);
    assert_eq!(stderr(&run(&testdata, "validate go-heap.pb.gz", 0)), "");
}
