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
    let output = logged(&room, "convert in --to otlp -o out/", 3);
    assert_eq!(lines(&output, "ERROR").len(), 1, "{}", stderr(&output));
    let names = ["cpu.otlp", "deep/er/heap.otlp", "rust.pb.gz.otlp", "rust.pb.otlp"];
    assert_eq!(files(&room.join("out")), names);
    // A trailing separator marks a directory, whatever its extension.
    run(&room, "convert in/cpu.pb.gz in/rust.pb --to otlp -o named.otlp/", 0);
    assert_eq!(files(&room.join("named.otlp")), ["cpu.otlp", "rust.otlp"]);
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

/// Regression: a second run read the outputs of the first.
#[test]
fn outputs_below_the_directory_of_inputs_are_not_read() {
    let room = room("outputs-below");
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    copy(PPROFS[0], &room.join("in/x/b.pb.gz"));
    for _ in 0..2 {
        run(&room, "convert in --to otlp -f -o in/x/out", 0);
        run(&room, "convert in/**/*.* --to otlp -f -o in/x/out", 0);
        assert_eq!(files(&room.join("in/x/out")), ["a.otlp", "x/b.otlp"]);
    }
    // If the arguments name it, each output must replace its input.
    says(&run(&room, "convert in/x/out --to pprof -o in/x/out", 2), "is a folder of inputs, too");
    run(&room, "convert in/x/out --to otlp -f -o in/x/out", 0);
    assert_eq!(files(&room.join("in/x/out")), ["a.otlp", "x/b.otlp"]);
}

/// Regression: a pipe below a directory was opened, and the run never ended.
#[cfg(unix)]
#[test]
fn only_files_are_read_below_a_directory_and_by_a_pattern() {
    let room = room("special");
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    for name in ["in/pipe", "in/pipe.pb.gz"] {
        assert!(Command::new("mkfifo").arg(room.join(name)).status().unwrap().success());
    }
    std::os::unix::fs::symlink("/dev/zero", room.join("in/zero")).unwrap();
    for (arguments, more) in [
        ("info in", " (2 more)"),
        ("convert in --to otlp -o out", " (2 more)"),
        ("info in/*.gz", ""),
        ("convert in/*.gz --to otlp -f -o out", ""),
        ("validate in", " (2 more)"),
    ] {
        let output = run(&room, arguments, 0);
        says(&output, &format!("was skipped: it is neither a file nor a directory{more}"));
    }
    let said = "in/pipe: File skipped: it is neither a file nor a directory\n";
    says(&run(&room, "-v info in", 0), said);
    assert_eq!(files(&room.join("out")), ["a.otlp"]);
    says(&run(&room, "info in/p*", 3), "no file matches the pattern");
}

/// Regression: a link to a parent directory was followed forty times.
#[cfg(unix)]
#[test]
fn patterns_leave_out_what_directories_do() {
    use std::os::unix::fs::symlink;
    let room = room("patterns");
    for name in
        ["in/a.pb.gz", "in/.hidden.pb.gz", "in/x/b.pb.gz", "in/.x/c.pb.gz", "in/x/y/d.pb.gz"]
    {
        copy(PPROFS[0], &room.join(name));
    }
    for link in ["in/x/loop", "in/x/again"] {
        symlink("..", room.join(link)).unwrap();
    }
    symlink("a.pb.gz", room.join("in/link.pb.gz")).unwrap();
    for (pattern, wanted) in [
        ("in/**/*.pb.gz", &["a.otlp", "link.otlp", "x/b.otlp", "x/y/d.otlp"][..]),
        ("./in//x/../**/[a-z].pb.gz", &["a.otlp", "x/b.otlp", "x/y/d.otlp"]),
        ("in/*.pb.gz", &["a.otlp", "link.otlp"]),
        ("in/*", &["a.otlp", "link.otlp"]),
        ("in/?/*.gz", &["x/b.otlp"]),
        ("in/.*.gz", &[".hidden.otlp"]),
        ("in/.x/*.gz", &["c.otlp"]),
        ("in/.[x]/*.gz", &[".x/c.otlp"]),
    ] {
        let _ = fs::remove_dir_all(room.join("out"));
        run(&room, &format!("convert {pattern} --to otlp -o out"), 0);
        assert_eq!(files(&room.join("out")), wanted, "{pattern}");
    }
    let mut here = command("convert *.gz --to otlp -o ../out/");
    assert!(here.current_dir(room.join("in/x")).status().unwrap().success());
    assert!(room.join("in/out/b.otlp").is_file());
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
    let delimited = ("delimited.otlp", Framing::Delimited);
    for (name, framing) in
        [("file.otlp", Framing::LengthPrefixed), ("grpc.otlp", Framing::Grpc), delimited]
    {
        fs::write(room.join(name), frame(framing, &messages).unwrap()).unwrap();
        run(&room, &format!("convert {name} -o to-{name}"), 0);
        assert_eq!(info(&room, &format!("to-{name}"))["framing"], framing.to_string());
        assert_eq!(sums(&room, &format!("to-{name}")), sums(&room, name));
    }
    let [one, other] = [PPROFS[0], PPROFS[1]];
    let output = run(&room, &format!("convert {one} {other} --to otlp -o {one}/"), 4);
    says(&output, &format!("{one} is not a directory"));
    let output = run(&room, "convert file.otlp --to pprof", 4);
    assert!(output.stdout.is_empty());
    run(&room, "convert file.otlp -o x.pb.gz", 0);
    for (label, name) in ["cpu", "inuse_space"].iter().zip(PPROFS) {
        assert_eq!(sums(&room, &format!("x.{label}.pb.gz")), sums(&room, name));
    }
    fs::remove_file(room.join("x.cpu.pb.gz")).unwrap();
    run(&room, "convert file.otlp -o x.pb.gz", 4);
    assert!(!room.join("x.cpu.pb.gz").exists(), "all are written or none");
}

/// Regression: numbered files were created next to the pipe, and its reader waited forever.
#[cfg(unix)]
#[test]
fn several_files_do_not_go_to_one_pipe() {
    let room = room("several_to_a_pipe");
    copy(PPROFS[1], &room.join("heap.pb.gz"));
    assert!(Command::new("mkfifo").arg(room.join("pipe")).status().unwrap().success());
    let output = run(&room, "convert heap.pb.gz --to folded --type all -o pipe", 4);
    says(
        &output,
        "these profiles need 4 files (alloc_objects:count, alloc_space:bytes, inuse_objects:count, inuse_space:bytes): choose one with --type, or give -o OUT",
    );
    std::os::unix::fs::symlink("/dev/null", room.join("null")).unwrap();
    run(&room, "convert heap.pb.gz heap.pb.gz --to otlp -o null", 0);
    let output = run(&room, "convert heap.pb.gz --to folded --type all -o null --json", 0);
    let report = stderr(&output);
    let report: serde_json::Value = serde_json::from_str(report.lines().next().unwrap()).unwrap();
    assert_eq!(report["outputs"], serde_json::json!(["null"]));
    assert_eq!(files(&room), ["heap.pb.gz", "null", "pipe"]);
}

/// JSON lines, as the Collector's file exporter writes them: one message per line.
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
    // Files can be concatenated.
    let [a, b] = [message(PPROFS[0]), message(PPROFS[1])];
    fs::write(room.join("both.json"), [a, b].concat()).unwrap();
    assert_eq!(info(&room, "both.json")["framing"], "json-lines");
    assert_eq!(sums(&room, "both.json"), sums(&room, "lines.json"));
    assert!(run(&room, "convert to.otlp --to otlp-json", 0).stdout.ends_with(b"}\n"));
    fs::write(room.join("cut.json"), &lines[..lines.len() - 9]).unwrap();
    let output = run(&room, "convert cut.json -o cut.otlp", 3);
    says(&output, "message[1]");
}

/// Regression: of a file with a broken second message, only the first was described, as if it were
/// alone.
#[test]
fn what_follows_a_broken_message_is_described() {
    let room = room("broken");
    let messages = PPROFS.map(|name| {
        copy(name, &room.join(name));
        run(&room, &format!("convert {name} -o {name}.otlp"), 0);
        fs::read(room.join(format!("{name}.otlp"))).unwrap()
    });
    let messages = [&messages[0], &b"\x0a\x05\x00"[..], &messages[2]];
    fs::write(room.join("a.otlp"), frame(Framing::LengthPrefixed, messages).unwrap()).unwrap();
    let output = logged(&room, "info a.otlp", 3);
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(page.contains("length-prefixed, 3 messages"), "{page}");
    assert!(page.contains("unreadable") && page.contains("contentions"), "{page}");
    assert_eq!(lines(&output, "ERROR").len(), 1, "{}", stderr(&output));
    says(&output, "message[1]");
    let output = run(&room, "info --json a.otlp", 3);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = &document["files"][0];
    assert_eq!(file["error"]["place"], file["messages"][1]["error"]["place"]);
    assert_eq!(file["messages"][2]["format"], "otlp-1.10");
    run(&room, "convert a.otlp -o b.otlp", 3);
    assert!(!room.join("b.otlp").exists());
}

/// A crash leaves a file whose last message is truncated. The complete messages are still useful.
#[test]
fn repairing_passes_over_messages_that_cannot_be_read() {
    let room = room("salvage");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "convert a.pb.gz -o a.otlp", 0);
    let message = fs::read(room.join("a.otlp")).unwrap();
    let messages = [&message[..], b"\x0a\x05\x00", &message, &message];
    let whole = frame(Framing::LengthPrefixed, messages).unwrap();
    fs::write(room.join("cut.otlp"), &whole[..whole.len() - 9]).unwrap();
    run(&room, "convert cut.otlp -o b.otlp", 3);
    run(&room, "convert cut.otlp -o b.otlp --repair --deny-loss", 1);
    assert!(!room.join("b.otlp").exists());

    let output = run(&room, "convert cut.otlp -o b.otlp --repair", 0);
    says(&output, "cut.otlp: 2 unreadable messages skipped: message[1]");
    says(&output, "message.unreadable");
    let two = frame(Framing::LengthPrefixed, [&message, &message]).unwrap();
    assert_eq!(fs::read(room.join("b.otlp")).unwrap(), two);
    let output = run(&room, "convert cut.otlp -o c.otlp --repair --json", 0);
    let report: serde_json::Value =
        serde_json::from_str(stderr(&output).lines().next().unwrap()).unwrap();
    assert_eq!((&report["verdict"], &report["messages"]), (&"lossy".into(), &2.into()));
    let losses = report["losses"].as_array().unwrap();
    let loss = losses.iter().find(|loss| loss["code"] == "message.unreadable").unwrap();
    assert_eq!((&loss["kind"], &loss["count"]), (&"rejected".into(), &2.into()));

    // Limits do not count as broken messages, and a file without readable messages is an error.
    run(&room, "convert cut.otlp -o d.otlp --repair --max-table-entries 2", 5);
    let broken = frame(Framing::LengthPrefixed, [&b"\x0a\x05\x00"[..], b"\x12\x07"]).unwrap();
    fs::write(room.join("broken.otlp"), broken).unwrap();
    says(&run(&room, "convert broken.otlp -o d.otlp --repair", 3), "message[0]");
    assert!(!room.join("d.otlp").exists());
}

/// Memory is bounded by the listed entries, whatever their number.
#[test]
fn info_lists_the_first_of_very_many_and_counts_the_rest() {
    let room = room("info-many");
    // Messages of one empty resource, each after its length.
    fs::write(room.join("messages.otlp"), b"\0\0\0\x02\x0a\0".repeat(10_050)).unwrap();
    let page = info(&room, "messages.otlp");
    assert_eq!(page["messages"].as_array().unwrap().len(), 10_000);
    assert_eq!(page["messages_not_listed"], 50);
    let text = String::from_utf8(run(&room, "info messages.otlp", 0).stdout).unwrap();
    assert!(text.contains("10,050 messages") && text.contains("50 messages not listed"), "{text}");
    // One message of empty profiles. Its resource and scope count against the limit, too.
    let length = |bytes: Vec<u8>| {
        let mut message = vec![0x0a, 0x80 | (bytes.len() % 128) as u8];
        message.extend([0x80 | (bytes.len() / 128 % 128) as u8, (bytes.len() / 16_384) as u8]);
        message.extend(bytes);
        message
    };
    let message = |profiles| {
        let mut scope = length(b"\x12\0".repeat(profiles));
        scope[0] = 0x12;
        length(scope)
    };
    fs::write(room.join("profiles.otlp"), message(10_050)).unwrap();
    let page = info(&room, "profiles.otlp");
    assert_eq!(page["messages"][0]["profiles_not_listed"], 52);
    // All messages of a file share the limit. Otherwise they could list 100 million entries.
    let three = frame(Framing::LengthPrefixed, vec![message(9_000); 3]).unwrap();
    fs::write(room.join("three.otlp"), three).unwrap();
    let page = info(&room, "three.otlp");
    let left_out: Vec<_> =
        (0..3).map(|row| &page["messages"][row]["profiles_not_listed"]).collect();
    assert_eq!(left_out, [&Value::Null, &8_004.into(), &9_000.into()]);
    let text = String::from_utf8(run(&room, "info three.otlp", 0).stdout).unwrap();
    let more: Vec<_> = text.lines().filter(|line| line.starts_with("  more ")).collect();
    let more = more.iter().map(|line| line.split_whitespace().nth(1).unwrap());
    assert!(more.eq(["8,004", "9,000"]), "{text}");
}

#[test]
fn an_id_is_given_to_one_profile() {
    let room = room("many_ids");
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    let id = "--profile-id 0102030405060708090a0b0c0d0e0f10";
    run(&room, &format!("convert in -o one/ --to otlp {id}"), 0);
    copy(PPROFS[1], &room.join("in/b.pb.gz"));
    let output = run(&room, &format!("convert in -o two/ --to otlp {id}"), 2);
    says(&output, "--profile-id sets one profile's id, and there are 2 inputs");
    let message = fs::read(room.join("one/a.otlp")).unwrap();
    let messages = frame(Framing::LengthPrefixed, [&message[..], &message]).unwrap();
    fs::write(room.join("two.otlp"), messages).unwrap();
    let output = run(&room, &format!("convert two.otlp -o out.otlp --to 1.7 {id}"), 2);
    says(&output, "message[1]: --profile-id sets one profile's id");
    // A profile with several types becomes one profile per type; the first type gets the id.
    let page = info(&room, "one/a.otlp");
    let ids: Vec<_> = profiles(&page["messages"][0])
        .iter()
        .map(|one| (one["sample_types"][0]["type"].clone(), one["profile_id"].clone()))
        .collect();
    let wanted = [("cpu", None), ("samples", Some("0102030405060708090a0b0c0d0e0f10"))];
    let wanted = wanted.map(|(name, id)| (name.into(), id.into()));
    assert_eq!(ids, wanted);
    copy("otlp-1.11-aggregated-memory.binpb", &room.join("memory.otlp"));
    let output = run(&room, &format!("convert memory.otlp -o out.otlp {id}"), 2);
    says(&output, "--profile-id sets one profile's id; the payload has 4 profiles");
    assert!(!room.join("out.otlp").exists() && !room.join("two").exists());
}

/// Inputs are processed in parallel; messages and outputs keep their order.
#[test]
fn results_have_the_order_of_the_inputs() {
    let room = room("order");
    for row in 0..40 {
        match row % 8 {
            7 => fs::write(room.join(format!("{row:02}.pb")), [b'x', row]).unwrap(),
            size => copy(PPROFS[size as usize % 3], &room.join(format!("{row:02}.pb"))),
        }
    }
    let names: Vec<String> = (0..40).map(|row| format!("{row:02}.pb")).collect();
    let inputs = names.join(" ");
    let documents = stdout(&run(&room, &format!("info --json {inputs}"), 3));
    let path = |line: &str| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        document["files"][0]["path"].as_str().unwrap().to_owned()
    };
    assert_eq!(documents.lines().map(path).collect::<Vec<_>>(), names);
    let page = stdout(&run(&room, &format!("info {inputs}"), 3));
    let heads: Vec<_> = page.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(heads.len() == 35 && heads.is_sorted(), "{heads:?}");
    for arguments in [format!("info {inputs}"), format!("convert {inputs} --to otlp -o out")] {
        let output = run(&room, &arguments, 3);
        let failed: Vec<_> = stderr(&output).lines().map(|line| line[15..20].to_owned()).collect();
        assert_eq!(failed, ["07.pb", "15.pb", "23.pb", "31.pb", "39.pb"], "{arguments}");
    }
    assert_eq!(files(&room.join("out")).len(), 35);
}
