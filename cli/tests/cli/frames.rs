//! The identity and the names of frames in `top`, `diff` and `view`.

use serde_json::json;

use crate::*;

/// A frame: the binary, the address, the function and its file.
type Frame = (&'static str, u64, &'static str, &'static str);

/// OTLP/JSON with a sample for each frame, below a caller `main`.
fn payload(frames: &[(Frame, i64)]) -> String {
    let mut strings = vec!["".to_owned(), "cpu".to_owned(), "ns".to_owned(), "main".to_owned()];
    let mut text = |text: &str| {
        strings.push(text.to_owned());
        strings.len() - 1
    };
    let (mut mappings, mut locations) = (vec![json!({})], vec![json!({})]);
    let mut functions = vec![json!({}), json!({ "nameStrindex": 3 })];
    let (mut stacks, mut samples) = (vec![json!({})], Vec::new());
    locations.push(json!({ "lines": [{ "functionIndex": 1 }] }));
    for ((binary, address, name, file), value) in frames {
        mappings.push(json!({ "filenameStrindex": text(binary), "memoryStart": address & !0xfff, "memoryLimit": address + 0x1000 }));
        let mut location = json!({ "mappingIndex": mappings.len() - 1, "address": address });
        if !name.is_empty() {
            functions.push(json!({ "nameStrindex": text(name), "filenameStrindex": text(file) }));
            location["lines"] = json!([{ "functionIndex": functions.len() - 1, "line": 7 }]);
        }
        locations.push(location);
        stacks.push(json!({ "locationIndices": [locations.len() - 1, 1] }));
        samples.push(json!({ "stackIndex": stacks.len() - 1, "values": [value.to_string()] }));
    }
    let profile =
        json!({ "sampleType": { "typeStrindex": 1, "unitStrindex": 2 }, "samples": samples });
    json!({
        "resourceProfiles": [{ "scopeProfiles": [{ "profiles": [profile] }] }],
        "dictionary": {
            "mappingTable": mappings, "locationTable": locations, "functionTable": functions,
            "linkTable": [{}], "attributeTable": [{}], "stackTable": stacks, "stringTable": strings,
        },
    })
    .to_string()
}

/// The rows of `top --json` or `diff --format json`: the names.
fn names(room: &Path, arguments: &str) -> Vec<String> {
    let document: Value = serde_json::from_slice(&run(room, arguments, 0).stdout).unwrap();
    let rows = document["rows"].as_array().unwrap().iter();
    let mut names: Vec<_> = rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

const LIBC: Frame = ("/usr/lib/libc.so.6", 0x7f86_41c4_5304, "", "");
const MOVED: Frame = ("/usr/lib/libc.so.6", 0x7ffa_1234_5304, "", "");

#[test]
fn unsymbolized_frames_of_two_runs_match() {
    let room = room("frames-aslr");
    fs::write(room.join("a.json"), payload(&[(LIBC, 40), (("/bin/app", 0x5000, "", ""), 2)]))
        .unwrap();
    fs::write(room.join("b.json"), payload(&[(MOVED, 50), (("/bin/app", 0x9000, "", ""), 2)]))
        .unwrap();
    for by in ["function", "file", "line", "mapping", "stack"] {
        let rows = names(&room, &format!("diff a.json a.json --by {by} --format json"));
        assert!(rows.is_empty(), "{by}: {rows:?}");
        let text = stdout(&run(&room, &format!("diff a.json b.json --by {by}"), 0));
        assert!(!text.contains("new") && !text.contains("gone"), "{by}: {text}");
        assert!(!text.contains("0x"), "{by}: {text}");
    }
    let changed = names(&room, "diff a.json b.json --format json");
    assert_eq!(changed, ["[libc.so.6]", "main"]);
    assert_eq!(names(&room, "top a.json --json"), ["[app]", "[libc.so.6]", "main"]);
    assert!(stdout(&run(&room, "diff a.json b.json --fail-over 99%", 0)).contains("[libc.so.6]"));
}

#[test]
fn rows_that_look_alike_are_told_apart() {
    let room = room("frames-alike");
    let other = ("/opt/lib/libc.so.6", 0x1000, "", "");
    let get = |file: &'static str| ("/bin/app", 0x5000, "get", file);
    let frames =
        |a: i64, b: i64| payload(&[(LIBC, a), (other, b), (get("/a.js"), a), (get("/b.js"), b)]);
    fs::write(room.join("a.json"), frames(60, 40)).unwrap();
    fs::write(room.join("b.json"), frames(40, 60)).unwrap();
    let libc = ["[/opt/lib/libc.so.6]", "[/usr/lib/libc.so.6]"];
    // As in pprof, a function is its name.
    assert_eq!(names(&room, "top a.json --json"), [libc[0], libc[1], "get", "main"]);
    assert_eq!(
        names(&room, "diff a.json b.json --format json"),
        [libc[0], libc[1], "get /a.js", "get /b.js"]
    );
    // A row that only one side has counts, too.
    fs::write(room.join("one.json"), payload(&[(get("/a.js"), 1)])).unwrap();
    fs::write(room.join("two.json"), payload(&[(get("/b.js"), 1)])).unwrap();
    assert_eq!(names(&room, "diff one.json two.json --format json"), ["get /a.js", "get /b.js"]);
    fs::write(room.join("none.json"), payload(&[(LIBC, 1)])).unwrap();
    assert!(names(&room, "diff one.json none.json --format json").contains(&"get".to_owned()));
    let flame = stdout(&run(&room, "view a.json --flame", 0));
    assert_eq!(flame.matches("libc.so.6]").count(), 2, "{flame}");
}

#[test]
fn names_of_two_runs_become_equal_without_their_hashes() {
    let room = room("frames-hashes");
    fs::write(
        room.join("a.folded"),
        "run;j.LambdaForm$MH/0x000000080144c000.invoke 5\nrun;jdk.proxy2.$Proxy12.call 7\nrun;main.main.func1.2 3\nrun;f.isra.0 2\n",
    )
    .unwrap();
    fs::write(
        room.join("b.folded"),
        "run;j.LambdaForm$MH/0x0000000801660000.invoke 5\nrun;jdk.proxy3.$Proxy15.call 7\nrun;main.main.func2 3\nrun;f.cold 2\n",
    )
    .unwrap();
    let differ = stdout(&run(&room, "diff a.folded b.folded", 0));
    assert!(differ.contains("gone"), "{differ}");
    for by in ["function", "stack"] {
        let same = run(&room, &format!("diff a.folded b.folded --strip-hashes --by {by}"), 0);
        assert!(stdout(&same).contains("No difference"), "{}", stdout(&same));
    }
    let file = |hash: &str| -> Frame {
        let path = format!("https://x/js/main.{hash}.js");
        ("/bin/app", 0x5000, "render", path.leak())
    };
    fs::write(room.join("a.json"), payload(&[(file("4f3c2b1a"), 5)])).unwrap();
    fs::write(room.join("b.json"), payload(&[(file("00ff00ff"), 5)])).unwrap();
    let same = run(&room, "diff a.json b.json --strip-hashes", 0);
    assert!(stdout(&same).contains("No difference"), "{}", stdout(&same));
}

/// The percentages of `pprof -relative_percentages`: samples whose frames are all hidden do not count.
#[test]
fn relative_percentages_leave_out_samples_without_a_visible_frame() {
    let room = room("frames-relative");
    fs::write(room.join("a.folded"), "main;a;b 40\nmain;c 30\nmain 20\nd 10\n").unwrap();
    let total = |arguments: &str| {
        let output = run(&room, &format!("top a.folded --json --relative {arguments}"), 0);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["total"].as_i64().unwrap()
    };
    for (arguments, expected) in [
        ("--hide main", 80),
        ("--show ^a$", 40),
        ("--show ^[ac]$", 70),
        ("--focus main --hide main|c", 40),
        ("--ignore d --hide ^main$", 70),
        ("--show-from ^a$", 40),
    ] {
        assert_eq!(total(arguments), expected, "{arguments}");
    }
    // Such samples leave a profile that a filter writes, too.
    run(&room, "filter a.folded --hide main -o b.pb.gz", 0);
    assert_eq!(sums(&room, "b.pb.gz")[0].2, 80);
}
