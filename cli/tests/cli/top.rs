//! `top`: reports, filters, several inputs, invalid arguments.

use crate::*;

/// The rows of a report: `flat cum name`.
fn rows(output: &Output) -> Vec<String> {
    let text = stdout(output);
    let rows = text.lines().skip_while(|line| !line.contains("flat%")).skip(1);
    rows.map(|row| {
        let mut words = row.split_whitespace();
        let (flat, cum) = (words.next().unwrap(), words.nth(2).unwrap());
        format!("{flat} {cum} {}", words.skip(1).collect::<Vec<_>>().join(" "))
    })
    .collect()
}

fn json(room: &Path, arguments: &str) -> Value {
    let output = run(room, &format!("top --json {arguments}"), 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "otlp-profiles/top/1");
    document
}

#[test]
fn reports_have_the_columns_of_pprof() {
    let room = room("top");
    fs::write(room.join("a.folded"), "main;a;b 40\nmain;a;c 30\nmain;d 20\nmain 10\n").unwrap();
    let file = "a.folded --type cpu:nanoseconds";
    for (arguments, expected) in [
        ("", &["40ns 40ns b", "30ns 30ns c", "20ns 20ns d", "10ns 100ns main", "0 70ns a"][..]),
        ("--cum -n 2", &["10ns 100ns main", "0 70ns a"]),
        ("--focus ^[bc]$ --hide ^main$", &["40ns 40ns b", "30ns 30ns c", "0 70ns a"]),
        ("--by mapping", &["100ns 100ns <unknown>"]),
    ] {
        let output = run(&room, format!("top {file} {arguments}").trim_end(), 0);
        assert_eq!(rows(&output), expected, "{arguments}");
    }
    let tree = stdout(&run(&room, &format!("top {file} --tree"), 0));
    assert!(tree.contains("40ns 57.14% |   b\n"), "{tree}");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for form in ["--tree", "--traces", "--peek hash"] {
        let output = run(&room, &format!("top cpu.pb.gz {form} --by attribute:endpoint"), 2);
        says(&output, "--tagroot KEY adds attributes of samples to the stacks");
    }
    let peek = json(&room, &format!("{file} --peek ^a$"));
    assert_eq!(peek["rows"].as_array().unwrap().len(), 1);
    assert_eq!(
        peek["rows"][0]["callers"][0],
        serde_json::json!({ "name": "main", "value": 70, "inline": false })
    );
    let traces = json(&room, &format!("{file} --traces"));
    assert_eq!(traces["traces"][1]["frames"][0]["name"], "c");
    assert_eq!(traces["traces"][1]["value"], 30);
}

#[test]
fn values_of_several_inputs_are_added_up() {
    let room = room("top-several");
    copy(PPROFS[1], &room.join("a/heap.pb.gz"));
    run(&room, "convert a/heap.pb.gz -o a/heap.otlp", 0);
    let one = json(&room, "a/heap.pb.gz --type alloc_space");
    let both = json(&room, "a --type alloc_space");
    assert_eq!(both["total"].as_i64().unwrap(), 2 * one["total"].as_i64().unwrap());
    for (one, both) in one["rows"].as_array().unwrap().iter().zip(both["rows"].as_array().unwrap())
    {
        assert_eq!(one["name"], both["name"]);
        assert_eq!(both["cum"].as_i64().unwrap(), 2 * one["cum"].as_i64().unwrap());
    }
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let routes = json(&room, "cpu.pb.gz --by attribute:endpoint");
    assert!(routes["rows"].as_array().unwrap().iter().any(|row| row["name"] == "/v1/sort"));
    // The other inputs are reported although one is missing.
    let output = run(&room, "top a/heap.pb.gz none.pb.gz", 3);
    assert!(!rows(&output).is_empty());
}

#[test]
fn wrong_arguments_and_filters_without_a_match_are_reported() {
    let room = room("top-wrong");
    copy(PPROFS[1], &room.join("heap.pb.gz"));
    for (arguments, message) in [
        ("--focus (", "unclosed group"),
        (
            "--by lines",
            "expected function, filefunction, file, line, address, mapping or attribute:KEY",
        ),
        ("--peek zzz", "no row matches zzz"),
        ("--focus zzz --require-match", "no sample matches --focus"),
        ("--tree --traces", "cannot be used with"),
    ] {
        says(&run(&room, &format!("top heap.pb.gz {arguments}"), 2), message);
    }
    let message = "no profile has the sample type wall: there are alloc_objects:count, alloc_space";
    says(&run(&room, "top heap.pb.gz --type wall", 3), message);
    let output = run(&room, "top heap.pb.gz --show-from zzz", 0);
    says(&output, "no sample matches --show-from");
    assert!(rows(&output).is_empty());
}
