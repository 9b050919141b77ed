//! Checks the contents of Firefox Profiler files.
#![cfg(feature = "firefox")]

use crate::support::sized;
use otlp_profiles::builder::{WhenFull, root_first};
use otlp_profiles::format::SourceOptions;
use otlp_profiles::{
    Builder, ErrorKind, Format, Limits, Losses, Profiles, ReadOptions, WriteOptions, read,
    write_all,
};
use serde_json::Value;

fn testdata(name: &str) -> Profiles {
    let path = format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"));
    read(&std::fs::read(path).unwrap(), &ReadOptions::default()).unwrap().profiles
}

fn files(profiles: &Profiles) -> (Vec<Value>, Losses) {
    let (payloads, losses) =
        write_all(profiles, Format::FIREFOX, &WriteOptions::default()).unwrap();
    let again = write_all(profiles, Format::FIREFOX, &WriteOptions::default()).unwrap().0;
    assert!(payloads == again, "the same bytes");
    let files = payloads.iter().map(|payload| serde_json::from_slice(payload).unwrap());
    (files.collect(), losses)
}

fn list<'v>(value: &'v Value, path: &str) -> &'v Vec<Value> {
    value.pointer(path).and_then(Value::as_array).unwrap_or_else(|| panic!("{path} in {value}"))
}

/// Every sample of a thread: its time in milliseconds, its stack, its weight.
fn samples(thread: &Value) -> Vec<(f64, String, f64)> {
    let row = |path: &str, at: usize| list(thread, path)[at].as_u64().map(|row| row as usize);
    let mut time = 0.0;
    let mut samples = Vec::new();
    for (at, delta) in list(thread, "/samples/timeDeltas").iter().enumerate() {
        time += delta.as_f64().unwrap();
        let mut names = Vec::new();
        let mut stack = row("/samples/stack", at);
        while let Some(at) = stack {
            let frame = row("/stackTable/frame", at).unwrap();
            let function = row("/frameTable/func", frame).unwrap();
            let name = row("/funcTable/name", function).unwrap();
            names.push(list(thread, "/stringArray")[name].as_str().unwrap());
            stack = row("/stackTable/prefix", at);
        }
        names.reverse();
        let weight = list(thread, "/samples/weight")[at].as_f64().unwrap();
        samples.push((time, names.join(";"), weight));
    }
    samples
}

fn sum(file: &Value) -> f64 {
    let threads = list(file, "/threads").iter();
    threads.flat_map(samples).map(|(_, _, weight)| weight).sum()
}

fn folded(text: &str, source: SourceOptions) -> Profiles {
    let options = ReadOptions::default().format(Format::FOLDED).source(source);
    read(text.as_bytes(), &options).unwrap().profiles
}

#[test]
fn every_sample_type_is_a_file_whose_weights_are_its_values() {
    let (files, losses) = files(&testdata("go-cpu-labels.pb.gz"));
    assert_eq!(files.len(), 2);
    for (file, kind, total) in [(&files[0], "samples", 163.0), (&files[1], "tracing-ms", 1_630.0)] {
        assert_eq!(file["meta"]["preprocessedProfileVersion"], 55);
        assert_eq!(file["meta"]["interval"], 10.0, "the period");
        assert_eq!(file["meta"]["symbolicated"], true);
        assert_eq!(file["threads"][0]["samples"]["weightType"], kind);
        assert!((sum(file) - total).abs() < 1e-6, "{}", sum(file));
    }
    // If values are CPU time, the viewer draws it.
    let has_cpu = |file: &Value| file["threads"][0]["samples"].get("threadCPUDelta").is_some();
    assert!(!has_cpu(&files[0]) && has_cpu(&files[1]));
    // Functions have file names.
    let thread = &files[1]["threads"][0];
    let named = list(thread, "/funcTable/fileName").iter().filter_map(Value::as_u64);
    let strings = list(thread, "/stringArray");
    let go = named.filter(|file| strings[*file as usize].as_str().unwrap().ends_with(".go"));
    assert!(go.count() > 5);
    let codes: Vec<&str> = losses.iter().map(|loss| loss.code.as_str()).collect();
    // For samples without times, the file contains neither the duration nor the sample type.
    for code in [
        "attr.sample.dropped",
        "link.dropped",
        "location.address_dropped",
        "mapping.dropped",
        "period.dropped",
        "sample_type.dropped",
        "time.dropped",
    ] {
        assert!(codes.contains(&code), "{code} is not in {codes:?}");
    }
    for code in ["timestamps.dropped", "frame_type.dropped"] {
        assert!(!codes.contains(&code), "{code} is in {codes:?}");
    }
}

#[test]
fn threads_have_their_time_line() {
    let text = "main;a 1 thread.id=7,thread.name=work 1700000000000000000\n\
                main;b 1 thread.id=8 1700000000500000000\n\
                main;c 2 thread.id=7,thread.name=work 1700000000250000000,1700000000100000000\n";
    let source = SourceOptions::default().sample_type("wall", "milliseconds");
    let (files, losses) = files(&folded(text, source));
    assert!(losses.is_empty(), "{losses:?}");
    assert_eq!(files[0]["meta"]["startTime"], 1_700_000_000_000.0);
    let threads = list(&files[0], "/threads");
    let work = threads.iter().find(|thread| thread["name"] == "work").unwrap();
    assert_eq!((&work["tid"], &work["pid"]), (&Value::from("7"), &Value::from("1")));
    let expected = [(0.0, "main;a"), (100.0, "main;c"), (250.0, "main;c")];
    let got = samples(work);
    for ((time, stack, weight), (at, of)) in got.iter().zip(expected) {
        assert!((time - at).abs() < 1e-6 && *weight == 1.0, "{got:?}");
        assert_eq!(stack, of);
    }
    assert_eq!((got.len(), threads.len()), (3, 2));
}

#[test]
fn samples_without_times_are_evenly_spaced() {
    let source = SourceOptions::default().sample_type("heap", "bytes");
    let (files, _) = files(&folded("a 30000000000\nb -2\nc 3\n", source));
    let thread = &files[0]["threads"][0];
    assert_eq!(thread["samples"]["weightType"], "bytes");
    let expected = [(0.0, "a", 3e10), (1.0, "b", -2.0), (2.0, "c", 3.0)];
    let expected: Vec<_> = expected.map(|(at, name, value)| (at, name.to_owned(), value)).into();
    assert_eq!(samples(thread), expected);
}

#[test]
fn kinds_of_code_have_a_colour_and_addresses_their_library() {
    let source = SourceOptions::default().annotations(true);
    let (files, losses) = files(&folded("main;read_[k] 1\nmain;run_[j] 2\n", source));
    assert!(losses.get("frame_type.dropped").is_none());
    let names: Vec<&str> =
        list(&files[0], "/meta/categories").iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["Other", "kernel", "jvm"]);
    let (files, _) = self::files(&testdata("gperftools-cpu.prof"));
    let libraries = list(&files[0], "/libs");
    assert!(libraries.iter().any(|library| library["name"] == "gperf"), "{libraries:?}");
    assert_eq!(files[0]["meta"]["symbolicated"], false);
    let addresses = list(&files[0], "/threads/0/frameTable/address").iter();
    assert!(addresses.filter_map(Value::as_i64).any(|address| address > 0));
}

#[test]
fn it_is_only_written() {
    let profiles = folded("a 1\n", SourceOptions::default());
    let payload = write_all(&profiles, Format::FIREFOX, &WriteOptions::default()).unwrap().0;
    let error = read(&payload[0], &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrecognised);
    assert!(error.to_string().starts_with("this is a Firefox profile"), "{error}");
    assert!(Format::FIREFOX.can_write() && !Format::FIREFOX.can_read());
    assert_eq!(Format::of_path("cpu.firefox.json.gz".as_ref()), Some(Format::FIREFOX));
    let by = WriteOptions::default().by_thread(true);
    assert_eq!(
        write_all(&profiles, Format::FIREFOX, &by).unwrap_err().kind(),
        ErrorKind::InvalidOption
    );
    let little = WriteOptions::default().max_output_bytes(100);
    let error = write_all(&profiles, Format::FIREFOX, &little).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn all_that_is_read_can_be_written() {
    for entry in std::fs::read_dir(format!("{}/testdata", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        let Ok(reading) = read(&bytes, &ReadOptions::default()) else { continue };
        let (files, _) = files(&reading.profiles);
        let totals: i128 = reading.profiles.iter().map(|p| p.samples().len() as i128).sum();
        assert!(totals == 0 || files.iter().any(|file| !list(file, "/threads").is_empty()));
    }
}

#[test]
fn many_of_everything_take_time_in_proportion() {
    use std::fmt::Write as _;
    let many = sized(100_000);
    let mut text = String::new();
    for at in 0..many {
        let time = 1_700_000_000_000_000_000_u64 + (at as u64 * 7919) % 1_000_000;
        writeln!(text, "main;f{at} 1 thread.id={} {time}", at % (many / 2)).unwrap();
    }
    let options = ReadOptions::default().format(Format::FOLDED).limits(Limits::file());
    let profiles = read(text.as_bytes(), &options).unwrap().profiles;
    let payloads = write_all(&profiles, Format::FIREFOX, &WriteOptions::default()).unwrap().0;
    let file: Value = serde_json::from_slice(&payloads[0]).unwrap();
    assert_eq!(list(&file, "/threads").len(), many / 2);
    assert_eq!(sum(&file), many as f64);
    // All attributes of a resource are looked up at once.
    let mut builder = Builder::with_limits(Limits::unlimited(), WhenFull::Refuse);
    let mut resource = builder.resource();
    for at in 0..many {
        resource = resource.attr(format!("k{at}"), at as i64);
    }
    resource.attr("process.pid", 7);
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    let profiles = builder.finish().unwrap();
    let losses = write_all(&profiles, Format::FIREFOX, &WriteOptions::default()).unwrap().1;
    assert_eq!(losses.get("resource.dropped").map(|loss| loss.count), Some(many as u64));
}

#[test]
fn frames_have_their_lines_and_functions_are_one() {
    let text = b"a 7 1.5: 3 cycles:\n\t12 f (b)\n  a.c:3\n\t13 main (b)\n  a.c:9\n\n\
                 a 7 1.6: 3 cycles:\n\t14 f (b)\n  a.c:4\n\t13 main (b)\n  a.c:9\n\n\
                 a 7 1.7: 3 cycles:\n\t15 f (b)\n  b.c:4\n";
    let (files, losses) = files(&read(text, &ReadOptions::default()).unwrap().profiles);
    assert!(losses.get("function.source_dropped").is_none(), "{losses:?}");
    let thread = &files[0]["threads"][0];
    let text = |row: &Value| match row.as_u64() {
        Some(row) => list(thread, "/stringArray")[row as usize].as_str().unwrap(),
        None => "",
    };
    let functions: Vec<(&str, &str)> = list(thread, "/funcTable/name")
        .iter()
        .zip(list(thread, "/funcTable/fileName"))
        .map(|(name, file)| (text(name), text(file)))
        .collect();
    assert_eq!(functions, [("main", "a.c"), ("f", "a.c"), ("f", "b.c")]);
    let frames: Vec<_> = list(thread, "/frameTable/func")
        .iter()
        .zip(list(thread, "/frameTable/line"))
        .map(|(function, line)| (function.as_u64().unwrap(), line.as_u64().unwrap()))
        .collect();
    assert_eq!(frames, [(0, 9), (1, 3), (1, 4), (2, 4)]);
    let lengths =
        ["funcTable", "frameTable"].map(|table| thread[table]["length"].as_u64().unwrap());
    assert_eq!(lengths, [3, 4]);
    for (key, column) in thread["funcTable"].as_object().unwrap() {
        assert!(column.as_array().is_none_or(|rows| rows.len() == 3), "{key}");
    }
}

/// A file lists a binary only if frames have addresses in it.
#[test]
fn a_binary_that_no_frame_is_in_is_said() {
    let losses = |stack: u8| {
        let json = format!(
            r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{{"sampleType":{{}},"samples":[
            {{"stackIndex":{stack},"values":["1"]}}]}}]}}]}}],"dictionary":{{
            "mappingTable":[{{}},{{"memoryStart":"1","memoryLimit":"9","filenameStrindex":1}}],
            "locationTable":[{{}},{{"mappingIndex":1,"address":"2"}}],"functionTable":[{{}}],
            "linkTable":[{{}}],"attributeTable":[{{}}],
            "stackTable":[{{}}{}],"stringTable":["","/bin/x"]}}}}"#,
            if stack == 1 { r#",{"locationIndices":[1]}"# } else { "" }
        );
        let options = ReadOptions::default().format(Format::OTLP_JSON);
        let (_, losses) = files(&read(json.as_bytes(), &options).unwrap().profiles);
        losses.get("mapping.dropped").map_or(0, |loss| loss.count)
    };
    assert_eq!((losses(1), losses(0)), (0, 1));
}

/// Thread ids of pthreads on macOS and of py-spy; the viewer uses numbers of 32 bits.
#[test]
fn an_id_of_a_thread_that_is_too_large_is_said() {
    let count = |id: &str| {
        let text = format!("main;a 5 thread.id={id} 1700000000000000000\n");
        let source = SourceOptions::default().sample_type("wall", "milliseconds");
        let (_, losses) = files(&folded(&text, source));
        losses.get("attr.sample.dropped").map_or(0, |loss| loss.count)
    };
    assert_eq!((count("99999999999"), count("7")), (1, 0));
}

#[test]
fn what_else_is_known_of_a_sample_is_a_marker() {
    let text = "main;a 5 region=us,span_id=0x0202020202020202,thread.id=7,trace_id=0x01010101010101010101010101010101 1700000000000000000\n\
                main;b 1 thread.id=7 1700000000250000000\nmain;c 2 region=eu\n";
    for (kind, expected) in [("wall", 2), ("cpu", 1)] {
        let source = SourceOptions::default().sample_type(kind, "milliseconds");
        let (files, losses) = files(&folded(text, source));
        let codes: Vec<&str> = losses.iter().map(|loss| loss.code.as_str()).collect();
        let lost = ["attr.sample.dropped", "sample_type.dropped"];
        assert_eq!(codes, lost, "of the sample without a time");
        let threads = list(&files[0], "/threads");
        let thread = threads.iter().find(|thread| thread["tid"] == "7").unwrap();
        let markers = list(thread, "/markers/data");
        assert_eq!(markers.len(), expected, "{kind}");
        let text = |field: &str| {
            let row = markers[0][field].as_u64().unwrap() as usize;
            list(thread, "/stringArray")[row].as_str().unwrap()
        };
        assert_eq!(
            ["traceId", "spanId", "attributes"].map(text),
            ["01010101010101010101010101010101", "0202020202020202", "region=us"]
        );
        assert!(markers[0]["cause"]["stack"].is_u64());
        let end = &list(thread, "/markers/endTime")[0];
        assert_eq!(end.as_f64(), Some(if kind == "wall" { 5.0 } else { 0.0 }));
        assert!(
            list(&files[0], "/meta/markerSchema").iter().any(|schema| schema["name"] == "Sample")
        );
    }
}

#[test]
fn a_process_and_its_only_thread_keep_their_names() {
    let mut builder = otlp_profiles::Builder::new();
    builder.resource().attr("process.pid", 42).attr("service.name", "shop").attr("host.name", "h");
    let cpu = builder.profile("cpu", "ns");
    let stack = otlp_profiles::builder::root_first(["main"]);
    builder.sample(cpu, stack).value(1).attr("thread.name", "worker-3");
    let (files, losses) = files(&builder.finish().unwrap());
    let thread = &list(&files[0], "/threads")[0];
    assert_eq!(
        [&thread["name"], &thread["processName"], &thread["pid"]],
        ["worker-3", "shop", "42"]
    );
    assert_eq!(thread["isMainThread"], true);
    let lost = losses.get("resource.dropped").unwrap();
    assert_eq!(
        (lost.count, lost.first[0].as_str()),
        (1, "resource_profiles[0].resource.host.name")
    );
}

#[test]
fn threads_past_the_limit_are_refused_before_they_are_made() {
    let text: String = (0..1000).map(|at| format!("a 1 thread.id={at} {at}\n")).collect();
    let options = ReadOptions::default().format(Format::FOLDED);
    let profiles = read(text.as_bytes(), &options).unwrap().profiles;
    let enough = write_all(&profiles, Format::FIREFOX, &WriteOptions::default()).unwrap().0;
    let limited = |bytes| {
        let options = WriteOptions::default().max_output_bytes(bytes).max_output_per_byte(u64::MAX);
        write_all(&profiles, Format::FIREFOX, &options)
    };
    let bytes = enough[0].len() as u64;
    assert_eq!(limited(bytes).unwrap().0, enough);
    for bytes in [bytes - 1, bytes / 2, 1000] {
        assert_eq!(limited(bytes).unwrap_err().kind(), ErrorKind::Limit);
    }
}

/// Each thread has separate tables. Their size is rejected long before they are written.
#[test]
fn tables_of_very_many_threads_are_refused() {
    let names: Vec<String> = (0..300).map(|at| format!("f{at}")).collect();
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "ns");
    for thread in 0..300_i64 {
        let stack = root_first(names.iter().map(String::as_str));
        builder.sample(cpu, stack).value(1).attr("thread.id", thread);
    }
    let profiles = builder.finish().unwrap();
    let limited = |bytes| {
        let options = WriteOptions::default().max_output_bytes(bytes).max_output_per_byte(u64::MAX);
        write_all(&profiles, Format::FIREFOX, &options)
    };
    let written = limited(1 << 30).unwrap().0[0].len() as u64;
    let error = limited(2 * written).unwrap_err();
    assert_eq!(error.limit(), Some("max_output_bytes"), "{error}");
}
