//! Resource attributes and scopes given on the command line.

use serde_json::{Value, json};

use crate::*;

/// The resources of the first message of a file, with their scopes.
fn resources(room: &Path, file: &str) -> Vec<Value> {
    info(room, file)["messages"][0]["resources"].as_array().unwrap().clone()
}

#[test]
fn a_pprof_gets_a_service_and_a_scope() {
    let room = room("origin");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for (row, to) in
        ["otlp-1.10", "otlp-1.9", "otlp-1.7", "otlp-1.3", "otlp-json"].iter().enumerate()
    {
        let origin = "--resource service.name=checkout --resource a=b=c --resource empty= --scope go.pprof@1.24";
        run(&room, &format!("convert a.pb.gz --to {to} -o {row}.otlp {origin} --deny-loss"), 0);
        let resources = resources(&room, &format!("{row}.otlp"));
        assert_eq!(resources.len(), 1);
        let wanted = json!({ "service.name": "checkout", "a": "b=c", "empty": "" });
        assert_eq!(resources[0]["attributes"], wanted, "{to}");
        let scope = &resources[0]["scopes"][0];
        assert_eq!((&scope["name"], &scope["version"]), (&json!("go.pprof"), &json!("1.24")));
        // The data of the pprof is unchanged.
        run(&room, &format!("convert {row}.otlp -o {row}.pb.gz"), 0);
        assert_eq!(sums(&room, &format!("{row}.pb.gz")), sums(&room, "a.pb.gz"), "{to}");
    }
}

#[test]
fn an_attribute_that_is_there_is_replaced_and_the_last_one_counts() {
    let room = room("origin-replaced");
    copy(OTLP_1_3, &room.join("old.otlp"));
    run(&room, "convert old.otlp -o a.otlp --resource service.name=a --resource host.name=h", 0);
    let first = resources(&room, "a.otlp")[0]["attributes"].clone();
    assert_eq!((&first["service.name"], &first["host.name"]), (&json!("a"), &json!("h")));
    run(&room, "convert a.otlp -o b.otlp --resource service.name=b --resource service.name=c", 0);
    // A long value is truncated.
    let long = "é".repeat(5_000);
    run(&room, &format!("convert a.otlp -o long.otlp --resource host.name={long}"), 0);
    let page = run(&room, "info long.otlp", 0).stdout;
    let shown = format!("{}… (10,000 bytes)", "é".repeat(200));
    assert!(String::from_utf8(page).unwrap().contains(&format!("host.name={shown}")));
    let shown = format!("{}… (10,000 bytes)", "é".repeat(1_000));
    assert_eq!(resources(&room, "long.otlp")[0]["attributes"]["host.name"], json!(shown));
    let second = resources(&room, "b.otlp")[0]["attributes"].clone();
    assert_eq!((&second["service.name"], &second["host.name"]), (&json!("c"), &json!("h")));
    let names = |file: &str| resources(&room, file)[0]["scopes"][0]["version"].clone();
    run(&room, "convert a.otlp -o c.otlp --scope @acme/profiler@2", 0);
    assert_eq!(names("c.otlp"), "2");
    run(&room, "convert c.otlp -o d.otlp --scope other", 0);
    assert_eq!(names("d.otlp"), "2", "a version that is not given stays");
}

/// The attributes apply to all messages of a file.
#[test]
fn every_message_and_every_input_gets_them() {
    let room = room("origin-all");
    PPROFS.iter().for_each(|name| copy(name, &room.join("in").join(name)));
    run(&room, "convert in --to otlp -o out --resource service.name=checkout", 0);
    for name in files(&room.join("out")) {
        for resource in resources(&room, &format!("out/{name}")) {
            assert_eq!(resource["attributes"]["service.name"], "checkout");
        }
    }
}

#[test]
fn what_a_format_has_no_place_for_is_wrong_usage() {
    let room = room("origin-usage");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for (arguments, hint) in [
        ("--to pprof --resource a=b", "--set-resource"),
        ("-o b.pb --scope a", "--scope"),
        ("--to otlp --resource a", "KEY=VALUE"),
        ("--to otlp --resource =a", "KEY=VALUE"),
        ("--to otlp --scope=", "expected a name"),
        ("--to otlp --for parca", "cannot be used with"),
        ("--for nobody", "pyroscope"),
    ] {
        says(&run(&room, &format!("convert a.pb.gz {arguments}"), 2), hint);
    }
    assert_eq!(files(&room), ["a.pb.gz"]);
}

/// Released receivers reject or misread payloads that others need: docs/GENERATIONS.md.
#[test]
fn a_backend_gets_what_it_reads() {
    let room = room("backend");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let convert = |backend: &str| {
        let origin = "--resource service.name=checkout -f -o a.otlp";
        run(&room, &format!("convert a.pb.gz --for {backend} {origin}"), 0);
        assert_eq!(info(&room, "a.otlp")["messages"][0]["format"], "otlp-1.10");
        let bytes = fs::read(room.join("a.otlp")).unwrap();
        // KeyValue.key as an inline string.
        bytes.windows(14).any(|part| part == b"\x0a\x0cservice.name")
    };
    assert!(convert("parca") && convert("pyroscope"));
    assert!(!convert("collector"));
}

/// Parca accesses the resource and the scope without a check for absence.
#[test]
fn parca_gets_messages_that_are_empty() {
    let room = room("empty-messages");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for (receiver, empty) in [("parca", true), ("pyroscope", false)] {
        run(&room, &format!("convert a.pb.gz --for {receiver} -f -o a.otlp"), 0);
        let bytes = fs::read(room.join("a.otlp")).unwrap();
        // ProfilesData.resource_profiles, and after its length an empty ResourceProfiles.resource.
        let length = 1 + bytes[1..].iter().take_while(|byte| **byte >= 0x80).count();
        assert_eq!(bytes[length + 1..].starts_with(b"\x0a\0"), empty, "{receiver}");
    }
}
