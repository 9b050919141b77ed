//! Reads OSProfiler messages and reports in all envelopes.

#[cfg(feature = "osprofiler-headers")]
use crate::support::files;
use crate::support::sized;
use otlp_profiles::format::OsProfilerHeaders;
use otlp_profiles::format::SourceOptions;
#[cfg(feature = "osprofiler-headers")]
use otlp_profiles::model::Link;
use otlp_profiles::{
    ErrorKind, Format, Limits, Policy, Profiles, ReadOptions, Reader, WriteOptions, detect, read,
    write, write_all,
};
use serde_json::{Value, json};

const CASES: [&str; 14] = [
    "child-outlives-parent",
    "clock-skew",
    "dashes-in-name",
    "duplicates",
    "exception",
    "lost-start",
    "lost-stop",
    "nested",
    "newest-first",
    "non-uuid-ids",
    "orphan-parent",
    "parallel-children",
    "sub-millisecond",
    "two-traces",
];

fn fixture(name: &str) -> Option<Vec<u8>> {
    files::corpus(&format!("made/osprofiler/{name}"))
}

fn profiles(bytes: &[u8]) -> Profiles {
    let reading = read(bytes, &ReadOptions::default()).unwrap();
    assert_eq!(reading.detected.format, Format::OSPROFILER);
    assert!(!reading.detected.evidence.is_empty());
    reading.profiles
}

fn with(bytes: &[u8], source: SourceOptions) -> Profiles {
    let options = ReadOptions::default().format(Format::OSPROFILER).source(source);
    read(bytes, &options).unwrap().profiles
}

const BASE: &str = "4e3e0ec6-2938-40b1-8504-09eb1d4b0dee";

fn id(number: u32) -> String {
    match number {
        0 => BASE.to_owned(),
        number => format!("00000000-0000-4000-8000-{number:012x}"),
    }
}

/// A message of the point `trace`, called by `parent`, some milliseconds after the first.
fn message(name: &str, trace: u32, parent: u32, millis: u32, info: Value) -> Value {
    json!({
        "name": name, "base_id": BASE, "trace_id": id(trace), "parent_id": id(parent),
        "timestamp": format!("2026-01-02T03:04:{:02}.{:03}000", 5 + millis / 1000, millis % 1000),
        "info": info, "project": "nova", "service": "api",
    })
}

/// `wsgi` from 0 to 100 ms, which calls `db` from 10 to 30 ms.
fn messages() -> Vec<Value> {
    let request = json!({"request": {"path": "/v2.1/servers", "query": "detail=1", "method": "POST", "scheme": "http"}, "host": "h1"});
    let statement = json!({"db": {"statement": "SELECT * FROM t WHERE id = :1", "params": {"1": "hush"}}, "host": "h1"});
    vec![
        message("wsgi-start", 1, 0, 0, request),
        message("db-start", 2, 1, 10, statement),
        message("db-stop", 2, 1, 30, json!({"host": "h1", "etype": "DBError", "message": "gone"})),
        message("wsgi-stop", 1, 0, 100, json!({"host": "h1"})),
    ]
}

fn lines(messages: &[Value]) -> Vec<u8> {
    messages.iter().map(|message| format!("{message}\n")).collect::<String>().into_bytes()
}

/// Formats every sample as `service: root;leaf self at time {attributes} trace/span`.
fn said(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let mut lines = Vec::new();
    for entry in profiles.entries() {
        let resource = entry.resource_attributes();
        for sample in entry.profile().samples() {
            let frames = dictionary.frames(sample.stack).rev();
            let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
            let link = dictionary.link(sample.link);
            let hex = |id: &[u8]| id.iter().map(|b| format!("{b:02x}")).collect::<String>();
            lines.push(format!(
                "{resource:?}: {} {:?} at {:?} {:?} {}/{}",
                names.join(";"),
                sample.values,
                sample.timestamps_unix_nano,
                dictionary.resolve(sample.attributes),
                hex(&link.trace_id),
                hex(&link.span_id),
            ));
        }
    }
    lines.sort();
    lines
}

#[test]
fn points_are_samples_of_their_own_time() {
    let profiles = profiles(&lines(&messages()));
    let service = r#"{"service.name": "nova-api", "service.namespace": "nova", "host.name": "h1"}"#;
    let trace = "4e3e0ec6293840b1850409eb1d4b0dee";
    assert_eq!(
        said(&profiles),
        [
            format!(
                r#"{service}: wsgi [80000000] at [1767323045000000000] {{"http.request.method": "POST", "url.path": "/v2.1/servers", "url.query": "detail=1", "url.scheme": "http"}} {trace}/8000000000000001"#
            ),
            format!(
                r#"{service}: wsgi;db [20000000] at [1767323045010000000] {{"db.query.text": "SELECT * FROM t WHERE id = :1", "error.type": "DBError", "exception.message": "gone"}} {trace}/8000000000000002"#
            ),
        ]
    );
    let profile = profiles.iter().next().unwrap();
    let kind = profile.sample_types()[0];
    let [name, unit] = [kind.name, kind.unit].map(|id| profiles.dictionary().text(id));
    assert_eq!((name, unit), ("wall", "nanoseconds"));
    assert_eq!(profile.time_unix_nano(), 1_767_323_045_000_000_000);
    assert_eq!(profile.duration_nanos(), 100_000_000);
    let folded = write(&profiles, Format::FOLDED, &WriteOptions::default()).unwrap();
    assert_eq!(folded.payload, b"wsgi 80000000\nwsgi;db 20000000\n");
}

#[test]
fn every_envelope_is_the_same() {
    let plain = messages();
    let expected = said(&profiles(&lines(&plain)));
    let each = |wrap: &dyn Fn(&Value) -> Value| plain.iter().map(wrap).collect::<Vec<Value>>();
    let sample = |message: &Value| {
        let mut metadata = json!({"event_type": "profiler.db"});
        for key in ["name", "base_id", "trace_id", "parent_id", "project", "service"] {
            metadata[key] = message[key].clone();
        }
        metadata["host"] = message["info"]["host"].clone();
        for (part, value) in message["info"].as_object().unwrap() {
            match value.as_object() {
                None => metadata[format!("info.{part}")] = value.clone(),
                Some(members) => members.iter().for_each(|(name, value)| {
                    metadata[format!("info.{part}:{name}")] = value.clone();
                }),
            }
        }
        json!({
            "meter": "db-start", "timestamp": message["timestamp"], "type": "gauge", "unit": "sample",
            "volume": 1.0, "resource_id": format!("profiler-{BASE}"), "metadata": metadata,
        })
    };
    let event = |message: &Value| json!({"traits": [{"name": "a", "value": "b"}], "raw": {"payload": message}});
    let document = |message: &Value| {
        let mut document = message.clone();
        document["_id"] = json!({"$oid": "0123"});
        document["timestamp"] = json!({"$date": message["timestamp"]});
        document
    };
    let row = |message: &Value| {
        let mut row = message.clone();
        row.as_object_mut().unwrap().remove("info");
        row["data"] = json!(json!({"info": message["info"]}).to_string());
        row
    };
    let hit = |message: &Value| json!({"_index": "osprofiler", "_source": message});
    let wrapped: [(&str, Vec<Value>); 5] = [
        ("ceilometer samples", each(&sample)),
        ("ceilometer events", each(&event)),
        ("documents", each(&document)),
        ("rows", each(&row)),
        ("hits", each(&hit)),
    ];
    for (name, messages) in wrapped {
        assert_eq!(said(&profiles(&lines(&messages))), expected, "{name}");
    }
    let joined: String = plain.iter().map(Value::to_string).collect();
    assert_eq!(said(&profiles(joined.as_bytes())), expected, "one after the other");
    assert_eq!(said(&profiles(json!(plain).to_string().as_bytes())), expected, "a list");
    let mut turned = plain.clone();
    turned.reverse();
    assert_eq!(said(&profiles(&lines(&turned))), expected, "the newest first");
}

#[test]
fn the_lines_of_a_file_are_one_payload() {
    let bytes = lines(&messages());
    let readings: Vec<_> = Reader::new(&bytes[..], &ReadOptions::default()).unwrap().collect();
    assert_eq!(readings.len(), 1);
    let detected = detect(&bytes, &ReadOptions::default()).unwrap();
    assert_eq!(detected.format, Format::OSPROFILER);
    assert!(detected.evidence[0].contains("OSProfiler"), "{:?}", detected.evidence);
    // Other lines of JSON are separate messages.
    let other = b"{\"resourceProfiles\":[]}\n{\"resourceProfiles\":[]}\n";
    assert_eq!(Reader::new(&other[..], &ReadOptions::default()).unwrap().count(), 2);
}

#[test]
fn a_report_is_its_messages() {
    let plain = messages();
    let raw = |kind: &str, start: usize, stop: usize, children: Value, from: u32, to: u32| {
        json!({
            "info": {
                "name": kind, "project": "nova", "service": "api", "host": "h1",
                "started": from, "finished": to, "exception": "None",
                format!("meta.raw_payload.{kind}-start"): plain[start],
                format!("meta.raw_payload.{kind}-stop"): plain[stop],
            },
            "trace_id": plain[start]["trace_id"], "parent_id": plain[start]["parent_id"],
            "children": children,
        })
    };
    let db = raw("db", 1, 2, json!([]), 10, 30);
    let mut report = json!({
        "info": {"name": "total", "started": 0, "finished": 100, "last_trace_started": 10},
        "children": [raw("wsgi", 0, 3, json!([db]), 0, 100)],
        "stats": {"wsgi": {"count": 1, "duration": 100}},
    });
    let whole = profiles(report.to_string().as_bytes());
    assert_eq!(said(&whole), said(&profiles(&lines(&plain))));
    // Without the messages, only milliseconds from an arbitrary start remain.
    for path in ["/children/0/info", "/children/0/children/0/info"] {
        let info = report.pointer_mut(path).unwrap().as_object_mut().unwrap();
        info.retain(|key, _| !key.starts_with("meta."));
    }
    report["children"][0]["children"][0]["info"]["exception"] = json!("DBError");
    let reading = read(report.to_string().as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(reading.findings[0].code, "time.no_anchor");
    let profile = reading.profiles.iter().next().unwrap();
    assert_eq!((profile.time_unix_nano(), profile.duration_nanos()), (0, 100_000_000));
    let values: Vec<i64> = profile.samples().iter().map(|sample| sample.values[0]).collect();
    assert_eq!(values, [80_000_000, 20_000_000]);
    let said = said(&reading.profiles);
    assert!(said[1].contains("at [] {\"error.type\": \"DBError\"}"), "{}", said[1]);
    assert!(said[1].ends_with("/8000000000000002"), "{}", said[1]);
}

#[test]
fn secrets_are_kept_when_asked_for() {
    let mut messages = messages();
    messages[0]["info"]["function"] = json!({"name": "m.F", "args": "('hush',)", "kwargs": "{}"});
    messages[0]["info"]["flag"] = json!([true, 1.5, null, {"a": 1}]);
    let bytes = lines(&messages);
    let all = |source: SourceOptions| said(&with(&bytes, source)).join("\n");
    let plain = all(SourceOptions::default());
    assert!(!plain.contains("hush") && !plain.contains("flag"), "{plain}");
    assert!(plain.contains("\"code.function.name\": \"m.F\""), "{plain}");
    let info = all(SourceOptions::default().all_info(true));
    assert!(info.contains("osprofiler.info.flag") && !info.contains("hush"), "{info}");
    let secrets = all(SourceOptions::default().secrets(true));
    assert!(secrets.contains("\"osprofiler.info.db.params.1\": \"hush\""), "{secrets}");
    assert!(secrets.contains("\"osprofiler.info.function.args\": \"('hush',)\""), "{secrets}");
    assert!(!secrets.contains("flag"), "{secrets}");
    let detail = all(SourceOptions::default().detail_frames(true));
    assert!(detail.contains(": WSGI_POST_/v2.1/servers;SQL_SELECT [20000000]"), "{detail}");
    assert!(detail.contains("\"osprofiler.point\": \"db\""), "{detail}");
    let error =
        read(b"a 1\n", &ReadOptions::default().source(SourceOptions::default().secrets(true)));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidOption);
}

#[test]
fn traces_are_profiles_of_their_own_unless_they_are_merged() {
    let mut messages = messages();
    for mut message in self::messages() {
        message["base_id"] = json!("7253ca8c-33b3-4f84-b4f1-f5a4311ddfa4");
        messages.push(message);
    }
    let bytes = lines(&messages);
    assert_eq!(profiles(&bytes).iter().count(), 2);
    let merged = with(&bytes, SourceOptions::default().merge(true));
    assert_eq!(merged.iter().count(), 1);
    assert_eq!(said(&merged), said(&profiles(&bytes)));
}

#[test]
fn what_is_broken_is_said_with_its_place() {
    let broken = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut messages = messages();
        change(&mut messages);
        let options = ReadOptions::default().format(Format::OSPROFILER);
        read(&lines(&messages), &options).unwrap_err().to_string()
    };
    type Change<'a> = (&'a dyn Fn(&mut Vec<Value>), &'a str);
    let cases: [Change; 8] = [
        (&|m| m[2] = json!({"a": 1}), "message[2]: expected an OSProfiler message or report"),
        (&|m| m[1]["name"] = json!(7), "message[1].name: expected a string"),
        (&|m| m[1]["base_id"] = json!(null), "message[1].base_id: expected a string"),
        (
            &|m| drop(m[3].as_object_mut().unwrap().remove("parent_id")),
            "message[3].parent_id: expected a string",
        ),
        (
            &|m| m[3]["timestamp"] = json!("yesterday"),
            "message[3].timestamp: expected a time since 1970, such as 2026-01-02T03:04:05.000000",
        ),
        (
            &|m| drop(m[0].as_object_mut().unwrap().remove("timestamp")),
            "message[0].timestamp: the message and its envelope have no timestamp",
        ),
        (
            &|m| m[0]["parent_id"] = json!(id(2)),
            "parent_id: the point 00000000-0000-4000-8000-000000000001 (wsgi) is its own ancestor: the parent ids form a cycle",
        ),
        (&|m| m.clear(), "the file contains no OSProfiler message or report"),
    ];
    for (change, message) in cases {
        let error = broken(change);
        assert!(error.starts_with(message), "{error}\nnot {message}");
    }
    let bytes = lines(&messages());
    let cut = &bytes[..bytes.len() / 2];
    let error = read(cut, &ReadOptions::default().format(Format::OSPROFILER)).unwrap_err();
    assert!(error.to_string().starts_with("message["), "{error}");
    assert!(error.byte().is_some());
}

#[test]
fn what_is_broken_is_passed_over_when_asked_for() {
    let mut messages = messages();
    messages.push(json!({"a": 1}));
    messages.push(message("x-start", 8, 8, 20, json!({})));
    let options = ReadOptions::default().format(Format::OSPROFILER).policy(Policy::Repair);
    let reading = read(&lines(&messages), &options).unwrap();
    let codes: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
    assert_eq!(codes, [("text.bad_line", 2), ("point.unmatched", 1), ("source.left_out", 1)]);
    let said = said(&reading.profiles);
    assert!(
        said.iter()
            .any(|line| line.contains("x [0]")
                && line.contains("\"osprofiler.unmatched\": \"stop\"")),
        "{said:?}"
    );
}

#[test]
fn a_point_that_stops_before_it_starts_takes_no_time() {
    let mut messages = messages();
    messages[2]["timestamp"] = json!("2026-01-02T03:04:05.005000");
    let reading = read(&lines(&messages), &ReadOptions::default()).unwrap();
    let codes: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
    assert_eq!(codes, [("point.skewed", 1), ("source.left_out", 1)]);
    let said = said(&reading.profiles);
    assert!(said[1].contains("wsgi;db [0]") && said[1].contains("osprofiler.skewed"), "{said:?}");
}

#[test]
fn the_cases_mean_what_the_rules_say() {
    for name in CASES.iter().map(|case| format!("edge/{case}")).chain(["notifications".to_owned()])
    {
        let Some(bytes) = fixture(&format!("{name}.jsonl")) else { return };
        let expected = fixture(&format!("{name}.expected.json")).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let profiles = profiles(&bytes);
        let mut ours = samples(&profiles);
        let mut theirs: Vec<Value> = expected["samples"].as_array().unwrap().to_vec();
        for sample in &mut theirs {
            let sample = sample.as_object_mut().unwrap();
            // Without a span there is no link that contains the trace.
            if sample["span_id"].is_null() {
                sample.insert("trace_id".into(), Value::Null);
            }
            for key in ["duration_nano", "parent_span_id"] {
                sample.remove(key);
            }
        }
        let by_text = |values: &mut Vec<Value>| values.sort_by_key(Value::to_string);
        by_text(&mut ours);
        by_text(&mut theirs);
        assert_eq!(ours, theirs, "{name}");
        // The order of lines has no meaning.
        let mut shuffled: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        shuffled.reverse();
        let middle = shuffled.len() / 2;
        shuffled.rotate_left(middle);
        assert_eq!(said(&self::profiles(&shuffled.concat())), said(&profiles), "{name}");
        for format in [Format::OTLP, Format::EVENTS, Format::FOLDED, Format::PPROF] {
            assert!(!write_all(&profiles, format, &WriteOptions::default()).unwrap().0.is_empty());
        }
    }
}

/// The samples in the form of the facts.
fn samples(profiles: &Profiles) -> Vec<Value> {
    let dictionary = profiles.dictionary();
    let mut samples = Vec::new();
    for entry in profiles.entries() {
        let resource = entry.resource_attributes();
        let text = |key: &str| resource.get_str(key).map(str::to_owned);
        let (project, host) = (text("service.namespace").unwrap(), text("host.name"));
        let service = text("service.name").unwrap();
        let service = service.strip_prefix(&format!("{project}-")).unwrap().to_owned();
        for sample in entry.profile().samples() {
            let frames = dictionary.frames(sample.stack).rev();
            let names: Vec<String> = frames.map(|frame| frame.to_string()).collect();
            let attributes = dictionary.resolve(sample.attributes);
            let link = (sample.link != Default::default()).then(|| dictionary.link(sample.link));
            let hex = |id: &[u8]| id.iter().map(|b| format!("{b:02x}")).collect::<String>();
            samples.push(json!({
                "path": names.join(";"),
                "start_unix_nano": sample.timestamps_unix_nano[0],
                "self_nano": sample.values[0],
                "trace_id": link.map(|link| hex(&link.trace_id)),
                "span_id": link.map(|link| hex(&link.span_id)),
                "project": project, "service": service, "host": host,
                "exception": attributes.get_str("error.type"),
                "unmatched": attributes.get_str("osprofiler.unmatched"),
                "skewed": attributes.get("osprofiler.skewed").is_some(),
            }));
        }
    }
    samples
}

#[test]
fn the_reports_of_the_cases_are_their_messages() {
    for case in CASES.iter().filter(|case| **case != "two-traces") {
        let Some(bytes) = fixture(&format!("edge/{case}.jsonl")) else { return };
        let report = fixture(&format!("edge/{case}.report.json")).unwrap();
        let of_messages = profiles(&bytes);
        assert_eq!(said(&profiles(&report)), said(&of_messages), "{case}");
        let mut report: Value = serde_json::from_slice(&report).unwrap();
        strip(&mut report);
        let relative = read(report.to_string().as_bytes(), &ReadOptions::default()).unwrap();
        assert!(relative.findings.iter().any(|finding| finding.code == "time.no_anchor"));
        let own = |profiles: &Profiles| {
            let samples = profiles.iter().flat_map(|profile| profile.samples().iter());
            samples.map(|sample| sample.values[0]).collect::<Vec<i64>>()
        };
        let (ours, theirs) = (own(&relative.profiles), own(&of_messages));
        assert_eq!(ours.len(), theirs.len(), "{case}");
        let sum = |values: &[i64]| values.iter().sum::<i64>();
        assert!((sum(&ours) - sum(&theirs)).abs() <= 2_000_000 * ours.len() as i64, "{case}");
    }
    for name in ["trace-show.json", "edge/two-traces.4e3e0ec6.report.json"] {
        let Some(bytes) = fixture(name) else { return };
        assert!(profiles(&bytes).iter().all(|profile| profile.time_unix_nano() > 0), "{name}");
    }
}

/// Removes the messages from a report.
fn strip(node: &mut Value) {
    if let Some(info) = node["info"].as_object_mut() {
        info.retain(|key, _| !key.starts_with("meta."));
    }
    node["children"].as_array_mut().unwrap().iter_mut().for_each(strip);
}

#[test]
#[cfg(feature = "osprofiler-headers")]
fn signed_headers_are_a_link() {
    // Test data and keys, with the result of Python's hmac.
    let info = "eyJiYXNlX2lkIjogIjRlM2UwZWM2LTI5MzgtNDBiMS04NTA0LTA5ZWIxZDRiMGRlZSIsICJwYXJlbnRfaWQiOiAiNTBmZTRmNmEtZmE1Yy00OWRiLWE4ZGQtYjU2MzZmNmZhZjBmIn0=";
    let hmac = "64b5a0bcc36e221aed2e5ac3b750936ba8be1765";
    let link = Link::from_osprofiler_headers(info, hmac, &["other", "SECRET_KEY"]).unwrap();
    assert_eq!(link.trace_id[..4], [0x4e, 0x3e, 0x0e, 0xc6]);
    assert_eq!(link.span_id, 0xa8dd_b563_6f6f_af0f_u64.to_be_bytes());
    for (info, hmac, keys, why) in [
        (info, hmac, &["other"][..], "none of the keys matches the signature"),
        (info, "64b5", &["SECRET_KEY"], "none of the keys matches the signature"),
        (info, "", &["SECRET_KEY"], "missing"),
        ("", hmac, &["SECRET_KEY"], "missing"),
        (info, hmac, &[], "missing"),
    ] {
        let error = OsProfilerHeaders { info, hmac }.link(keys).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        assert!(error.to_string().contains(why), "{error}");
    }
    let Some(headers) = fixture("trace_headers.json") else { return };
    let headers: Value = serde_json::from_slice(&headers).unwrap();
    let [info, hmac] = ["X-Trace-Info", "X-Trace-HMAC"].map(|key| headers[key].as_str().unwrap());
    assert_eq!(Link::from_osprofiler_headers(info, hmac, &["SECRET_KEY"]).unwrap(), link);
}

#[test]
fn calls_are_counted_on_request() {
    let text = lines(&messages());
    let of = |source: SourceOptions| {
        let options = ReadOptions::default().format(Format::OSPROFILER).source(source);
        read(&text, &options).unwrap().profiles
    };
    let (without, with) = (of(SourceOptions::default()), of(SourceOptions::default().calls(true)));
    assert_eq!(with.iter().count(), 2 * without.iter().count());
    let profiles: Vec<_> = with.iter().collect();
    for ((pair, own), [wall, calls]) in without
        .iter()
        .enumerate()
        .map(|(at, own)| ((at, own), [profiles[2 * at], profiles[2 * at + 1]]))
    {
        let kind = calls.sample_types()[0];
        let text = |id| with.dictionary().text(id);
        assert_eq!((text(kind.name), text(kind.unit)), ("calls", "count"), "{pair}");
        assert_eq!(wall.sums(), own.sums());
        assert_eq!(calls.sums(), [calls.samples().len() as i128]);
        assert_eq!(calls.time_unix_nano(), own.time_unix_nano());
    }
}

#[test]
fn limits_hold() {
    type Set = fn(Limits) -> Limits;
    let cases: [(&str, Set); 8] = [
        ("max_samples", |l| l.max_samples(1)),
        ("max_strings", |l| l.max_strings(3)),
        ("max_string_bytes", |l| l.max_string_bytes(4)),
        ("max_stack_depth", |l| l.max_stack_depth(1)),
        ("max_table_entries", |l| l.max_table_entries(2)),
        ("max_attributes_per_item", |l| l.max_attributes_per_item(1)),
        ("max_nesting", |l| l.max_nesting(2)),
        ("max_owned_bytes", |l| l.max_owned_bytes(1_000)),
    ];
    for (name, set) in cases {
        let options = ReadOptions::default().format(Format::OSPROFILER);
        let options = options.limits(set(Limits::network()));
        let error = read(&lines(&messages()), &options).unwrap_err();
        assert_eq!(error.limit(), Some(name), "{error}");
    }
}

/// Keys begin with the keys of their enclosing objects, and nodes of a report share the trace of its root.
#[test]
fn what_is_said_once_for_many_takes_no_memory_out_of_proportion() {
    let long = "A".repeat(200_000);
    let many: serde_json::Map<String, Value> =
        (0..500).map(|at| (format!("k{at}"), at.into())).collect();
    let messages: Vec<Value> =
        (0..8).map(|trace| message("a-start", trace, 0, 1, json!({ &long: many }))).collect();
    let node = |parent: &str, children: Vec<Value>| {
        let info = json!({ "name": "a", "started": 1, "finished": 2 });
        json!({ "info": info, "trace_id": "t", "parent_id": parent, "children": children })
    };
    let report = node("", vec![node(&long, vec![node("r", Vec::new()); 500])]);
    for text in [lines(&messages), lines(&[report])] {
        let options = ReadOptions::default().format(Format::OSPROFILER);
        let error = read(&text, &options).unwrap_err();
        assert_eq!(error.limit(), Some("max_owned_per_byte"), "{error}");
    }
}

/// Changes bytes at a position, in one of several ways.
fn change(bytes: &mut Vec<u8>, at: usize, next: &mut dyn FnMut() -> usize) {
    match next() % 6 {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << (next() % 8),
        2 => bytes[at] = b"{}[],:\"0-"[next() % 9],
        3 => drop(bytes.drain(at..(at + next() % 40).min(bytes.len()))),
        4 => {
            let end = (at + next() % 200).min(bytes.len());
            let part = bytes[at..end].to_vec();
            drop(bytes.splice(at..at, part));
        }
        _ => drop(bytes.splice(at..at, *b"null")),
    }
}

#[test]
fn broken_ones_are_refused_or_read() {
    let path = format!("{}/testdata/osprofiler.jsonl", env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![lines(&messages()), std::fs::read(path).unwrap()];
    files.extend(fixture("trace-show.json"));
    for file in files {
        let (mut refused, count) = (0, sized(500));
        for bytes in files::mutants(&file, count, change) {
            for policy in [Policy::Refuse, Policy::Repair] {
                let options = ReadOptions::default().format(Format::OSPROFILER).policy(policy);
                match read(&bytes, &options) {
                    Ok(reading) => {
                        let _ = write(&reading.profiles, Format::OTLP, &WriteOptions::default());
                    }
                    Err(error) => {
                        refused += 1;
                        // If the first line is not OSProfiler's, the lines are separate messages.
                        if error.kind() == ErrorKind::SeveralMessages {
                            continue;
                        }
                        let text = error.to_string();
                        let placed = error.byte().is_some() || text.contains("message[");
                        assert!(
                            placed
                                || text.contains("point")
                                || text.contains("no OSProfiler message"),
                            "{text}"
                        );
                    }
                }
            }
            let _ = read(&bytes, &ReadOptions::default());
        }
        assert!(refused > count / 5, "{refused}");
    }
}

#[test]
fn many_points_take_time_in_proportion() {
    let many = sized(100_000) as u32;
    let mut text = String::new();
    for at in 1..=many {
        // A wide tree, with a cycle of two at the end of each ten.
        let parent = if at == 1 { 0 } else { 1 };
        for (kind, millis) in [("start", at % (many / 2)), ("stop", at % (many / 2) + 3)] {
            text += &message(&format!("db-{kind}"), at, parent, millis, json!({"host": "h"}))
                .to_string();
        }
    }
    let options = ReadOptions::default().limits(Limits::file());
    let profiles = read(text.as_bytes(), &options).unwrap().profiles;
    assert_eq!(profiles.iter().next().unwrap().samples().len(), many as usize);
    let mut text = String::new();
    for at in 0..many / 2 {
        let (one, other) = (2 * at + 1, 2 * at + 2);
        text += &message("a-start", one, other, 1, json!({})).to_string();
        text += &message("b-start", other, one, 1, json!({})).to_string();
    }
    let profiles = read(text.as_bytes(), &options.policy(Policy::Repair)).unwrap().profiles;
    assert_eq!(profiles.iter().next().unwrap().samples().len(), many as usize);
}
