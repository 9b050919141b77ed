//! Checks that results serialise with the keys of the command's JSON.

#![cfg(feature = "serde")]

use otlp_profiles::check::output::{Checked, Document, Form};
use otlp_profiles::check::{Options, validate};
use otlp_profiles::losses::{LossCode, LossKind};
use otlp_profiles::summary::Sizes;
use otlp_profiles::{
    Certainty, Format, ReadOptions, Severity, Summary, Verdict, WriteOptions, detect, read, write,
};
use serde_json::{Value, json};

const FILES: [&str; 4] = [
    "go-heap.pb.gz",
    "ambiguous-1.10-or-1.9.otlp",
    "otlp-1.3-simple-completed.binpb",
    "pyspy.folded",
];

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("testdata/{name}")).unwrap()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn names_and_words_serialise_as_they_display() {
    use {LossKind::*, Severity::*, Verdict::*};
    let severities = [Info, Warning, Error].map(|it| (json!(it), it.to_string()));
    let verdicts = [Exact, Semantic, Lossy].map(|it| (json!(it), it.to_string()));
    let kinds = [Note, Synthesized, Approximated, Dropped, Rejected];
    let kinds = kinds.map(|it| (json!(it), it.to_string()));
    let formats = Format::ALL.iter().map(|it| (json!(it), it.to_string()));
    let codes = LossCode::ALL.iter().map(|it| (json!(it), it.to_string()));
    let all = severities.into_iter().chain(verdicts).chain(kinds).chain(formats).chain(codes);
    for (serialised, displayed) in all {
        assert_eq!(serialised, displayed);
    }
}

#[test]
fn a_certainty_is_a_word_and_the_other_formats() {
    for (certainty, word, others) in [
        (Certainty::Certain, "certain", json!([])),
        (Certainty::Nearest, "nearest", json!([])),
        (Certainty::Equivalent(vec![Format::OTLP_1_9]), "equivalent", json!(["otlp-1.9"])),
        (Certainty::Preferred(vec![Format::OTLP_1_9]), "preferred", json!(["otlp-1.9"])),
        (Certainty::Ambiguous(vec![Format::PPROF]), "ambiguous", json!(["pprof"])),
    ] {
        assert_eq!(json!(certainty), json!({ "certainty": word, "others": others }));
    }
}

#[test]
fn objects_have_the_members_of_their_types() {
    let options = ReadOptions::default().ambiguity(otlp_profiles::Ambiguity::Prefer);
    for name in FILES {
        let bytes = file(name);
        let detected = detect(&bytes, &options).unwrap();
        let object = json!({
            "format": detected.format.name(),
            "about": detected.format.about(),
            "deprecated": detected.format.deprecated(),
            "certainty": json!(detected.certainty)["certainty"],
            "others": detected.certainty.others(),
            "evidence": detected.evidence,
        });
        assert_eq!(json!(detected), object, "{name}");

        let summary = Summary::of(&bytes, &options).unwrap();
        let rows = summary.tables();
        let mut object = json!(summary.detected());
        object["tables"] = json!({
            "strings": rows.strings,
            "functions": rows.functions,
            "locations": rows.locations,
            "mappings": rows.mappings,
            "stacks": rows.stacks,
            "attributes": rows.attributes,
            "links": rows.links,
        });
        object["findings"] = json!(summary.findings());
        if !summary.is_checked() {
            object["checked"] = false.into();
        }
        assert_eq!(json!(summary), object, "{name}");

        let profiles = read(&bytes, &options).unwrap().profiles;
        let losses = write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap().losses;
        let list = losses.iter().map(|loss| {
            json!({
                "kind": loss.code.kind().to_string(),
                "code": loss.code.as_str(),
                "count": loss.count,
                "meaning": loss.code.meaning(),
                "first": loss.first,
            })
        });
        assert_eq!(json!(losses), list.collect::<Value>(), "{name}");
        assert_eq!(losses.is_empty(), name == "pyspy.folded", "{name}");
    }
}

#[test]
fn findings_of_the_reader_have_five_members() {
    // A pprof whose only sample refers to location 9, which does not exist.
    let options =
        ReadOptions::default().format(Format::PPROF).policy(otlp_profiles::Policy::Repair);
    let findings =
        read(b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00", &options).unwrap().findings;
    let list = findings.iter().map(|finding| {
        json!({
            "severity": finding.severity.to_string(),
            "code": finding.code,
            "count": finding.count,
            "place": finding.place,
            "message": finding.message,
        })
    });
    assert_eq!(json!(findings), list.collect::<Value>());
    assert!(!findings.is_empty());
}

#[test]
fn a_report_serialises_as_its_file_in_the_document() {
    for bytes in [&b"garbage text"[..], b"\x0a\x00", b""]
        .into_iter()
        .map(<[u8]>::to_vec)
        .chain(FILES.map(file))
    {
        let report = validate(&bytes, &Options::default());
        let document =
            Document::of(Form::Json, Severity::Error, &[Checked::new("a", report.clone())]);
        let mut of_file = serde_json::from_str::<Value>(&document).unwrap()["files"][0].take();
        let members = of_file.as_object_mut().unwrap();
        assert_eq!(members.remove("path").unwrap(), "a");
        assert!(members.remove("verdict").unwrap().is_string());
        assert_eq!(json!(report), of_file);
        let findings = report.findings().map(|finding| json!(finding));
        assert_eq!(of_file["findings"], findings.collect::<Value>());
        assert_eq!(
            of_file["rules"],
            report.rule_counts().map(|tally| json!(tally)).collect::<Value>()
        );
    }
}

#[test]
fn sizes_have_the_members_of_their_parts() {
    let measured = Sizes::of(&file("go-cpu-labels.pb.gz"), &ReadOptions::default()).unwrap();
    let sizes = json!(measured);
    for (object, members) in [
        (&sizes, vec!["bytes", "compact", "gzipped_bytes", "stacks", "strings", "tables"]),
        (&sizes["compact"], vec!["bytes", "gzipped_bytes", "losses"]),
        (&sizes["tables"][0], vec!["bytes", "field", "fields", "in_gzip", "message", "rows"]),
        (&sizes["tables"][0]["fields"][0], vec!["bytes", "in_gzip", "is_message", "path", "times"]),
        (&sizes["strings"][0], vec!["bytes", "field", "row", "start"]),
        (&sizes["stacks"][0], vec!["bytes", "depth", "times"]),
    ] {
        assert_eq!(keys(object), members);
    }
    let compact = measured.compact().unwrap();
    let codes: Vec<_> = compact.losses.iter().map(|loss| loss.code.as_str()).collect();
    assert_eq!(sizes["gzipped_bytes"], measured.gzipped());
    assert_eq!(
        sizes["compact"],
        json!({ "bytes": compact.bytes, "gzipped_bytes": compact.gzipped, "losses": codes })
    );

    // The only sample refers to location 9, which does not exist, so no layout can be written.
    let options = ReadOptions::default().format(Format::PPROF);
    let broken = Sizes::of(b"\x0a\x00\x12\x05\x0a\x01\x09\x12\x00\x32\x00", &options).unwrap();
    let error = broken.compact().unwrap_err();
    let error = json!({ "place": error.place(), "message": error.message(), "byte": error.byte() });
    assert_eq!(json!(broken)["compact"], json!({ "error": error }));
}

/// Numbers beyond 64 bits are strings.
#[cfg(feature = "transform")]
#[test]
fn reports_of_values_serialise_with_their_rows() {
    use otlp_profiles::look::{self, Options as Look};
    use otlp_profiles::transform::{
        DiffOptions, Gate, GateKind, GateRule, MergeOptions, Merger, diff, judge,
    };
    let base = read(&file("go-cpu-labels.pb.gz"), &ReadOptions::default()).unwrap().profiles;

    let top = look::top(&base, &Look::default().node_count(5)).unwrap();
    let object = json!(top);
    assert_eq!(object["total"], json!(top.header.total as i64));
    assert_eq!(object["other_types"], json!([{ "type": "samples", "unit": "count" }]));
    assert_eq!(object["further_rows"], json!(top.trimmed.rows - 5));
    let row = &top.rows[0];
    let (flat, cum) = (row.flat as i64, row.cum as i64);
    assert_eq!(
        object["rows"][0],
        json!({ "name": row.name, "flat": flat, "cum": cum, "inline": "no" })
    );
    let tree = look::tree(&base, &Look::default()).unwrap();
    assert_eq!(
        keys(&json!(tree)["rows"][0]),
        ["callees", "callers", "cum", "flat", "inline", "name"]
    );
    let traces = look::traces(&base, &Look::default()).unwrap();
    let trace = &json!(traces)["traces"][0];
    assert_eq!(keys(trace), ["frames", "labels", "value"]);
    assert_eq!(
        trace["frames"][0]["name"],
        json!(traces.frames(&traces.traces[0]).next().unwrap().0)
    );

    let mut new = base.clone();
    let mut row = 0;
    new.retain_samples(|_, _| {
        row += 1;
        row % 2 == 0
    });
    let difference = diff(&base, &new, &DiffOptions::default()).unwrap();
    let object = json!(difference);
    assert_eq!(object["rows"].as_array().unwrap().len(), difference.rows.len());
    assert_eq!(object["rows"][0]["difference"], json!(difference.rows[0].exact.unwrap() as i64));
    assert_eq!(object["covered_nanos"].as_array().unwrap().len(), 2);
    let gate = Gate::new([GateRule::over(GateKind::Function, 0.5)]);
    let object = json!(judge(&[&base], &[&new], &gate).unwrap());
    assert_eq!(object["rows"][0]["kind"], "function");
    assert_eq!(object["rows"][0]["limit"], 0.5);
    assert!(object["rows"][0]["z"].is_number());

    let mut merger = Merger::new(MergeOptions::default());
    merger.add(&base).unwrap();
    let object = json!(merger.finish().unwrap());
    assert_eq!(keys(&object), ["covered_nanos", "inputs", "losses", "snapshots"]);
    let mut call = look::Call::default();
    call.weight = i128::MAX;
    assert_eq!(json!(call)["value"], i128::MAX.to_string());
}
