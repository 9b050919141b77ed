//! `corpus`: files that break each rule, with the verdict that `validate` gives.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::*;

fn manifest(room: &Path) -> Vec<Value> {
    let text = fs::read_to_string(room.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["schema"], "otlp-profiles/corpus/1");
    manifest["files"].as_array().unwrap().clone()
}

/// The corpus has a broken file and a near miss of almost every rule, and is the same each time.
#[test]
fn a_corpus_is_complete_and_reproducible() {
    let room = room("corpus");
    run(&room, "corpus one", 0);
    run(&room, "corpus two", 0);
    let entries = manifest(&room.join("one"));
    assert_eq!(entries, manifest(&room.join("two")));
    let mut rules = BTreeSet::new();
    for pair in entries.chunks(2) {
        let [broken, near] = pair else { panic!("a near miss is missing: {pair:?}") };
        assert_eq!((&broken["breaks"], &near["breaks"]), (&Value::Bool(true), &Value::Bool(false)));
        assert_eq!(broken["rule"], near["rule"]);
        for entry in pair {
            let file = entry["file"].as_str().unwrap();
            let bytes = fs::read(room.join("one").join(file)).unwrap();
            assert_eq!(bytes, fs::read(room.join("two").join(file)).unwrap(), "{file}");
        }
        rules.insert(broken["rule"].as_str().unwrap());
    }
    let all = stdout(&run(&room, "validate --explain all", 0));
    let ids = all.split_whitespace().filter(|word| {
        let digits = word.strip_prefix("OP").or_else(|| word.strip_prefix("PP"));
        digits.is_some_and(|digits| digits.len() == 4 && digits.parse::<u32>().is_ok())
    });
    let missing: Vec<&str> = ids.filter(|id| !rules.contains(id)).collect();
    assert_eq!(missing, ["OP0012", "OP9009"], "an unreadable file, and an output");
    // An existing corpus is replaced on request only.
    run(&room, "corpus one", 4);
    run(&room, "corpus one --force", 0);
}

/// The arguments of an entry give the verdict of the entry.
#[test]
fn the_manifest_is_the_verdict_of_validate() {
    let room = room("corpus_verdict");
    run(&room, "corpus all", 0);
    let entries = manifest(&room.join("all"));
    for entry in entries.iter().step_by(1 + entries.len() / 60) {
        let mut validate = command("validate --format json");
        validate.args(entry["arguments"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()));
        validate.arg(room.join("all").join(entry["file"].as_str().unwrap()));
        let output = validate.output().unwrap();
        let errors = !entry["errors"].as_array().unwrap().is_empty();
        assert!(
            matches!(
                (output.status.code(), errors),
                (Some(0), false) | (Some(1 | 3 | 5 | 6), true)
            ),
            "{entry} {output:?}"
        );
        let rule = entry["rule"].as_str().unwrap();
        assert_eq!(
            stdout(&output).contains(&format!("\"{rule}\"")),
            entry["breaks"] == true,
            "{entry}"
        );
    }
}
