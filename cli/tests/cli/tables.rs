//! `export` and `import`: datasets.

use crate::*;

/// Copies the files of testdata that hold profiles into a directory.
fn inputs(room: &Path) {
    for name in PPROFS.iter().chain(&[OTLP_1_3, "otlp-1.11-aggregated-memory.binpb"]) {
        copy(name, &room.join("in").join(name));
    }
}

/// All types and sums of the files of a directory.
fn sums_of(room: &Path, folder: &str) -> Vec<(String, String, i64)> {
    let names = files(&room.join(folder));
    let mut all: Vec<_> =
        names.iter().flat_map(|name| sums(room, &format!("{folder}/{name}"))).collect();
    all.sort();
    all
}

fn tables(room: &Path, folder: &str) -> Vec<String> {
    let names = files(&room.join(folder)).into_iter();
    names.filter(|name| name.ends_with(".parquet")).collect()
}

#[test]
fn import_gives_back_what_export_took() {
    let room = room("tables-back");
    inputs(&room);
    let expected = sums_of(&room, "in");
    for partition in ["none", "service", "service,date"] {
        run(&room, &format!("export in -o {partition} --partition {partition}"), 0);
        run(&room, &format!("import {partition} -o {partition}.otlp"), 0);
        assert_eq!(sums(&room, &format!("{partition}.otlp")), expected, "{partition}");
    }
    // One file after the other, and compacted.
    for name in files(&room.join("in")) {
        run(&room, &format!("export in/{name} -o runs"), 0);
    }
    run(&room, "import runs -o runs.otlp", 0);
    assert_eq!(sums(&room, "runs.otlp"), expected);
    run(&room, "export runs -o compact --compression lz4", 0);
    assert!(tables(&room, "compact").len() < tables(&room, "runs").len());
    run(&room, "import compact -o compact.otlp", 0);
    assert_eq!(sums(&room, "compact.otlp"), expected);
    // The bytes of a single profile are those of a conversion.
    run(&room, "export in/go-heap.pb.gz -o one", 0);
    run(&room, "import one --to pprof -o one.pb", 0);
    run(&room, "convert in/go-heap.pb.gz -o heap.pb", 0);
    assert_eq!(sums(&room, "one.pb"), sums(&room, "heap.pb"));
}

#[test]
fn inputs_are_exported_once_and_give_equal_bytes() {
    let room = room("tables-once");
    inputs(&room);
    run(&room, "export in -o one", 0);
    run(&room, "export in -o other", 0);
    let bytes = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let read = |name: String| (name.clone(), fs::read(room.join(folder).join(name)).unwrap());
        files(&room.join(folder)).into_iter().map(read).collect()
    };
    let first = bytes("one");
    assert!(first.len() > 5 && first == bytes("other"));
    assert!(first.iter().all(|(name, _)| name.ends_with(".parquet")), "nothing else is left");
    // Another order, or other files, are the same inputs.
    for again in ["in", "in/*.pb.gz in/*.binpb --partition none"] {
        says(&run(&room, &format!("export {again} -o one"), 4), "--force replaces");
        assert_eq!(bytes("one"), first);
    }
    run(&room, "export in -o one --force", 0);
    assert_eq!(bytes("one"), first);
    run(&room, "export in -o one --force --partition none", 0);
    assert_eq!(tables(&room, "one").len(), 4, "the files of the other partition are gone");
    // Options that change rows make another segment.
    run(&room, "export in -o one --resource a=b", 0);
    says(&run(&room, "export in -o few --max-partitions 1", 5), "--max-partitions");
    says(&run(&room, "export in -o few --max-segment-stacks 9", 5), "--max-segment-stacks");
    assert!(files(&room.join("few")).is_empty());
}

#[test]
fn names_of_services_stay_in_the_directory() {
    let room = room("tables-names");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let long = "é".repeat(150);
    let names =
        ["a/b c", "..", ".", "", "../../x", "größe", "a\\b", "unknown_service", "A", "a", &long];
    for name in names {
        let mut command = command("export a.pb.gz -o d");
        let command = command.args(["--resource", &format!("service.name={name}")]);
        let output = command.current_dir(&room).output().unwrap();
        assert!(output.status.success(), "{name:?}: {}", stderr(&output));
        let mut command =
            command_of(&["import", "d", "-o", "back.otlp", "--force", "--service", name]);
        let output = command.current_dir(&room).output().unwrap();
        assert!(output.status.success(), "{name:?}: {}", stderr(&output));
        assert_eq!(sums(&room, "back.otlp"), sums(&room, "a.pb.gz"), "{name:?}");
    }
    let all = files(&room);
    let outside = all.iter().filter(|name| !name.starts_with("d/"));
    assert_eq!(outside.collect::<Vec<_>>(), ["a.pb.gz", "back.otlp"]);
    assert_eq!(tables(&room, "d/samples").len(), names.len());
}

fn command_of(arguments: &[&str]) -> Command {
    let mut all = command(arguments[0]);
    all.args(&arguments[1..]);
    all
}

#[test]
fn broken_inputs_do_not_stop_others() {
    let room = room("tables-broken");
    inputs(&room);
    fs::write(room.join("in/broken.pb.gz"), b"\x1f\x8b\x08\0\0").unwrap();
    says(&run(&room, "export in -o d", 3), "broken.pb.gz");
    fs::remove_file(room.join("in/broken.pb.gz")).unwrap();
    run(&room, "import d -o d.otlp", 0);
    assert_eq!(sums(&room, "d.otlp"), sums_of(&room, "in"));
    // Of a directory without profiles, nothing is written.
    fs::create_dir(room.join("none")).unwrap();
    fs::write(room.join("none/README"), "Read me.").unwrap();
    run(&room, "export none -o empty", 3);
    assert!(files(&room.join("empty")).is_empty());
}

#[test]
fn foreign_and_truncated_tables_are_errors() {
    let room = room("tables-foreign");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    says(
        &run(&room, "import . -o x.otlp", 2),
        "is not a directory that otlp-profiles export wrote",
    );
    run(&room, "export a.pb.gz -o d --partition none", 0);
    for table in ["mappings", "stacks", "profiles", "samples"] {
        let name = tables(&room, &format!("d/{table}")).remove(0);
        let path = room.join("d").join(table).join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        says(&run(&room, "import d -o x.otlp", 3), "not all of it");
        fs::remove_file(&path).unwrap();
        run(&room, "import d -o x.otlp", 3);
        fs::write(&path, bytes).unwrap();
    }
    says(&run(&room, "import d -o x.otlp --since 2100-01-01T00:00:00Z", 3), "no profile");
    assert!(!room.join("x.otlp").exists());
}

#[test]
fn text_has_the_same_rows() {
    let room = room("tables-text");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "export a.pb.gz -o d --to ndjson --partition none", 0);
    let name = files(&room.join("d/samples")).remove(0);
    let text = fs::read_to_string(room.join("d/samples").join(name)).unwrap();
    let mut totals = std::collections::BTreeMap::<String, i64>::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        *totals.entry(row["type"].as_str().unwrap().to_owned()).or_default() +=
            row["value"].as_i64().unwrap();
        assert!(row["attributes"].is_object() && row["values"].is_null());
    }
    let expected = sums(&room, "a.pb.gz").into_iter().map(|(name, _, sum)| (name, sum));
    assert!(totals.into_iter().eq(expected));
    run(&room, "export a.pb.gz -o d --to csv --partition none --force", 0);
    let name = files(&room.join("d/stacks")).remove(0);
    assert!(name.ends_with(".csv"), "the other format was replaced");
    let text = fs::read_to_string(room.join("d/stacks").join(name)).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    assert!(head.starts_with("stack_id,function_names,") && rows.contains(r#""[""runtime"#));
}
