//! Pipes, directories, patterns, and files of several messages.

use std::fs;

use otlp_profiles::framing::{Framing, frame};

use crate::*;

#[test]
fn pipes_are_files() {
    let room = room("pipes");
    copy(PPROFS[1], &room.join("a.pb.gz"));
    let bytes = fs::read(room.join("a.pb.gz")).unwrap();
    let otlp = run_with_stdin(&room, "convert - --to otlp", &bytes, 0);
    run(&room, "convert a.pb.gz -o a.otlp", 0);
    assert_eq!(fs::read(room.join("a.otlp")).unwrap(), otlp.stdout);
    let back = run_with_stdin(&room, "convert - --to pprof -o -", &otlp.stdout, 0);
    assert_eq!(back.stdout[..2], [0x1f, 0x8b], "a pprof is gzip");
    fs::write(room.join("back.pb.gz"), &back.stdout).unwrap();
    assert_eq!(sums(&room, "back.pb.gz"), sums(&room, "a.pb.gz"));
    let info = run_with_stdin(&room, "info -", &bytes, 0);
    assert!(String::from_utf8_lossy(&info.stdout).contains("pprof (certain"));
    run_with_stdin(&room, "convert - --to otlp -o d/", &bytes, 0);
    assert!(room.join("d/stdin.otlp").is_file());
}

#[test]
fn directories_and_patterns_convert_in_one_call() {
    let room = room("many");
    copy(PPROFS[0], &room.join("in/cpu.pb.gz"));
    copy(PPROFS[1], &room.join("in/deep/er/heap.pb.gz"));
    copy("rust-cpu.pb", &room.join("in/rust.pb"));
    copy("rust-cpu.pb.gz", &room.join("in/rust.pb.gz"));
    copy("java.jfr", &room.join("in/bad.pb.gz"));
    copy("java.jfr", &room.join("in/.hidden"));
    let output = run(&room, "convert in --to otlp -o out/", 3);
    assert_eq!(lines(&output, "ERROR").len(), 1, "{}", stderr(&output));
    let names = ["cpu.otlp", "deep/er/heap.otlp", "rust.pb.gz.otlp", "rust.pb.otlp"];
    assert_eq!(files(&room.join("out")), names);
    run(&room, "convert in/**/[hr]*.gz --to otlp -o globbed", 0);
    assert_eq!(files(&room.join("globbed")), ["deep/er/heap.otlp", "rust.otlp"]);
    run(&room, "convert out --to pprof -o back", 0);
    let back = files(&room.join("back"));
    let heap = back.iter().find(|name| name.starts_with("deep/er/heap.")).unwrap();
    assert!(heap.ends_with(".gz"), "a pprof is gzip: {heap}");
    let heap = format!("back/{heap}");
    assert_eq!(sums(&room, &heap), sums(&room, "in/deep/er/heap.pb.gz"));
    run(&room, "convert back --to otlp-1.3 -o old", 0);
    assert!(files(&room.join("old")).contains(&"deep/er/heap.otlp".to_owned()));
}

#[test]
fn several_messages_stay_several() {
    let room = room("framed");
    for name in &PPROFS[..2] {
        copy(name, &room.join(name));
        run(&room, &format!("convert {name} -o {name}.otlp"), 0);
    }
    let message = |name: &str| fs::read(room.join(format!("{name}.otlp"))).unwrap();
    let messages = [message(PPROFS[0]), message(PPROFS[1])];
    for (name, framing) in [("file.otlp", Framing::LengthPrefixed), ("grpc.otlp", Framing::Grpc)] {
        fs::write(room.join(name), frame(framing, &messages).unwrap()).unwrap();
        run(&room, &format!("convert {name} -o to-{name}"), 0);
        assert_eq!(info(&room, &format!("to-{name}"))["framing"], framing.to_string());
        assert_eq!(sums(&room, &format!("to-{name}")), sums(&room, name));
    }
    let output = run(&room, "convert file.otlp --to pprof", 4);
    assert!(output.stdout.is_empty());
    run(&room, "convert file.otlp -o x.pb.gz", 0);
    for (row, name) in PPROFS[..2].iter().enumerate() {
        assert_eq!(sums(&room, &format!("x-{row}.pb.gz")), sums(&room, name));
    }
    fs::remove_file(room.join("x-0.pb.gz")).unwrap();
    run(&room, "convert file.otlp -o x.pb.gz", 4);
    assert!(!room.join("x-0.pb.gz").exists(), "all are written or none");
}

/// As the Collector's file exporter writes JSON: a message a line.
#[test]
fn lines_of_json_are_messages() {
    let room = room("lines");
    for name in &PPROFS[..2] {
        copy(name, &room.join(name));
        run(&room, &format!("convert {name} -o {name}.json"), 0);
    }
    let message = |name: &str| fs::read(room.join(format!("{name}.json"))).unwrap();
    let lines = [message(PPROFS[0]), message(PPROFS[1])];
    let lines = frame(Framing::JsonLines, lines).unwrap();
    fs::write(room.join("lines.json"), &lines).unwrap();
    let described = info(&room, "lines.json");
    assert_eq!(described["framing"], "json-lines");
    assert_eq!(described["messages"][1]["format"], "otlp-json");
    for (to, framing) in [("to.json", "json-lines"), ("to.otlp", "length-prefixed")] {
        run(&room, &format!("convert lines.json -o {to}"), 0);
        assert_eq!(info(&room, to)["framing"], framing);
        assert_eq!(sums(&room, to), sums(&room, "lines.json"));
    }
    run(&room, "convert to.otlp -o back.json", 0);
    assert_eq!(sums(&room, "back.json"), sums(&room, "lines.json"));
    fs::write(room.join("cut.json"), &lines[..lines.len() - 9]).unwrap();
    let output = run(&room, "convert cut.json -o cut.otlp", 3);
    says(&output, "message[1]");
}
