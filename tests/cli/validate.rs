//! `validate`: what it prints in each form, and how it ends.

use std::fs;

use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::framing::{Framing, frame};
use serde_json::Value;

use crate::*;

/// A payload of OTLP 1.10 whose only sample refers to a stack that is not there.
const BROKEN: &[u8] = b"\x0a\x0a\x12\x08\x12\x06\x12\x04\x08\x09\x22\x00\
    \x12\x0e\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x3a\x00";

#[test]
fn findings_are_lines_with_a_summary() {
    let room = room("validate_text");
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    copy(PPROFS[0], &room.join("good.pb.gz"));
    let page = stdout(&run(&room, "validate bad.otlp --from otlp", 1));
    let line = "bad.otlp: resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index: error OP3101 index-sample-stack-index: 9, wanted an index below 1";
    assert!(page.lines().any(|found| found.starts_with(line)), "{page}");
    assert!(page.lines().last().unwrap().starts_with("otlp-1.10: "), "{page}");
    let page = stdout(&run(&room, "validate good.pb.gz --strict", 0));
    assert!(page.ends_with("pprof: 0 errors, 0 warnings, 2 infos\n"), "{page}");
    let page = stdout(&run(&room, "validate good.pb.gz bad.otlp", 1));
    assert!(page.lines().last().unwrap().starts_with("2 files: "), "{page}");
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
    let page = stdout(&run(&room, "validate --explain index-sample-stack-index", 0));
    assert!(page.starts_with("OP3101 index-sample-stack-index\n"), "{page}");
    assert_eq!(stdout(&run(&room, "validate --explain all", 0)).lines().count(), 293);
    // What decides about findings was passed over where there are none.
    for flag in ["--format json", "--only OP3101", "--compat profcheck", "--fix", "a.otlp"] {
        run(&room, &format!("validate --explain all {flag}"), 2);
    }
}

#[test]
fn another_checker_is_followed() {
    let room = room("validate_compat");
    // Strings that nothing refers to, and a payload that has no rows at all.
    let orphan = b"\x0a\x06\x12\x04\x12\x00\x12\x00\x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";
    fs::write(room.join("orphan.otlp"), orphan).unwrap();
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let page = stdout(&run(&room, "validate --compat profcheck orphan.otlp", 0));
    assert_eq!(page, "otlp-1.10: 0 errors, 0 warnings, 0 infos\n");
    let page = stdout(&run(&room, "validate --compat profcheck --check-orphans orphan.otlp", 1));
    assert!(page.contains("dictionary.string_table[1]: error OP3301"), "{page}");
    run(&room, "validate --compat profcheck bad.otlp", 1);
    // It does not inflate.
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

/// A region counts in the file that it is of.
#[test]
fn sarif_has_no_bytes_of_what_was_inflated_or_framed() {
    let room = room("validate_regions");
    let bytes = |name: &str| -> Vec<Option<u64>> {
        let page =
            stdout(&run(&room, &format!("validate {name} --format sarif --only OP3101,OP0010"), 1));
        let sarif: Value = serde_json::from_str(&page).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        let place = |found: &Value| found["locations"][0]["physicalLocation"].clone();
        results.iter().map(|found| place(found)["region"]["byteOffset"].as_u64()).collect()
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
    let junit = form("junit --max-findings 0");
    assert!(junit.contains(failure) && junit.contains("1 more of OP3101"), "{junit}");
    let github = form("github");
    assert!(github.contains("::error file=bad.otlp,title=OP3101 index-sample"), "{github}");
}

/// A payload of OTLP 1.10 with a sample of 7, and a string that nothing refers to.
const ORPHAN: &[u8] = b"\x0a\x09\x12\x07\x12\x05\x12\x03\x22\x01\x07\
    \x12\x11\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x2a\x01a\x32\x00\x3a\x00";

#[test]
fn files_are_fixed_in_place_and_elsewhere() {
    let room = room("validate_fix");
    fs::write(room.join("a.otlp"), ORPHAN).unwrap();
    fs::write(room.join("bad.otlp"), BROKEN).unwrap();
    // Elsewhere: the input stays, and what is there is not replaced without being told to.
    let page = stdout(&run(&room, "validate --from otlp --fix a.otlp -o b.otlp", 0));
    let line = "a.otlp: dictionary.string_table[1]: fixed OP3301 orphan-string: the unused row was left out (byte 25)";
    assert_eq!(page.lines().next(), Some(line), "{page}");
    assert!(page.ends_with("; 1 fixed\n"), "{page}");
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), ORPHAN);
    let mended = fs::read(room.join("b.otlp")).unwrap();
    assert!(mended.len() < ORPHAN.len());
    says(&run(&room, "validate --from otlp --fix a.otlp -o b.otlp", 4), "exists; --force");
    run(&room, "validate --from otlp --fix a.otlp -o b.otlp --force", 0);
    // In place; what has no single right answer stays, and decides how it ends.
    let output = run(&room, "validate --from otlp --fix a.otlp bad.otlp --format json", 1);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["files"][0]["fixed"][0]["rule"], "OP3301");
    assert_eq!(document["files"][1]["fixed"].as_array().unwrap().len(), 0);
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), mended);
    assert_eq!(fs::read(room.join("bad.otlp")).unwrap(), BROKEN);
    let page = stdout(&run(&room, "validate --from otlp --fix a.otlp", 0));
    assert!(page.ends_with("; nothing to fix\n"), "{page}");
    // A field that nobody knows would be lost.
    fs::write(room.join("left.otlp"), [ORPHAN, b"\x7a\x01\x00"].concat()).unwrap();
    let page = stdout(&run(&room, "validate --from otlp --fix left.otlp", 0));
    assert!(page.contains("not fixed") && page.ends_with("; nothing fixed\n"), "{page}");
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
    // What is past the limit was not read, so nothing is written.
    run(&room, "validate --fix a.otlp -o cut --max-input-bytes 9", 5);
    assert!(!room.join("cut").exists());
    says(&run(&room, "validate --fix a.otlp a.otlp -o b", 2), "--output takes one input");
    run(&room, "validate a.otlp -o b", 2);
    let output = run(&room, "validate --from otlp --fix a.otlp -o - --force", 0);
    assert!(output.stdout.len() < ORPHAN.len() && output.stdout.starts_with(&ORPHAN[..11]));
}

/// What was mended was written into the pipe that it came from, and called fixed.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_fixed_in_place() {
    let room = room("fix_pipe");
    assert!(Command::new("mkfifo").arg(room.join("pipe")).status().unwrap().success());
    let output = run(&room, "validate --fix pipe", 2);
    says(&output, "a pipe or a device cannot be fixed in place: give -o OUT");
}

/// As the manual says of the files of the Collector's file exporter.
#[test]
fn files_of_several_messages_are_fine_where_they_are_meant() {
    use otlp_profiles::framing::{Framing, frame};
    let room = room("validate_several");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for (name, framing, from) in [
        ("several.otlp", Framing::LengthPrefixed, ""),
        ("several.json", Framing::JsonLines, " --from otlp-json"),
    ] {
        run(&room, &format!("convert cpu.pb.gz --force -o {name}"), 0);
        let message = fs::read(room.join(name)).unwrap();
        fs::write(room.join(name), frame(framing, [&message, &message]).unwrap()).unwrap();
        let page = stdout(&run(&room, &format!("validate {name}{from}"), 1));
        assert_eq!(page.matches(": error ").count(), 1, "{page}");
        assert!(page.contains("error OP0010 framed-stream"), "{page}");
        let page = stdout(&run(&room, &format!("validate --ignore OP0010 {name}{from}"), 0));
        assert!(page.contains("message[1]."), "{page}");
    }
}

#[test]
fn nothing_is_known_of_what_receivers_ask_of_pprof() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let said = "what parca asks of pprof is not known: only pprof's own rules are asked";
    says(&run(&testdata, "validate --for parca go-heap.pb.gz", 0), said);
    assert_eq!(stderr(&run(&testdata, "validate go-heap.pb.gz", 0)), "");
}
