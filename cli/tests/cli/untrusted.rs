//! Files and folders that are hostile, change, or are used by several runs at once.

use std::os::unix::fs::symlink;

#[allow(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../tests/support/shapes.rs"]
mod shapes;
#[allow(dead_code, reason = "shared with the tests of the library")]
#[path = "../../../tests/support/wire.rs"]
mod wire;

use crate::pipeline::{heap, save};
use crate::*;

/// Runs a shell script with the command as `$0`.
fn script(room: &Path, script: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_otlp-profiles")]);
    command.current_dir(room).stdin(Stdio::null()).output().unwrap()
}

fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
}

#[test]
fn an_export_reads_each_input_once() {
    let room = room("untrusted-pipes");
    PPROFS.iter().for_each(|name| copy(name, &room.join(name)));
    let [first, second, third] = PPROFS;
    let both = format!("\"$0\" export <(cat {first}) -o d && \"$0\" export <(cat {second}) -o d");
    succeeds(&script(&room, &both));
    succeeds(&script(&room, &format!("mkfifo fifo; cat {third} > fifo & \"$0\" export fifo -o d")));
    // A file and a pipe of equal bytes are one input.
    for name in PPROFS {
        says(&run(&room, &format!("export {name} -o d"), 4), "were exported before");
    }
    let stdin = fs::read(room.join(first)).unwrap();
    says(&run_with_stdin(&room, "export - -o d", &stdin, 4), "were exported before");
}

#[test]
fn of_concurrent_exports_of_one_input_one_succeeds() {
    let room = room("untrusted-concurrent");
    copy(PPROFS[1], &room.join("in.pb.gz"));
    let all = |arguments: &str| -> Vec<i32> {
        let run = |_| command(arguments).current_dir(&room).stderr(Stdio::null()).spawn().unwrap();
        let runs: Vec<_> = (0..8).map(run).collect();
        let mut codes: Vec<i32> =
            runs.into_iter().map(|mut run| run.wait().unwrap().code().unwrap()).collect();
        codes.sort_unstable();
        codes
    };
    assert_eq!(all("export in.pb.gz -o d"), [0, 4, 4, 4, 4, 4, 4, 4]);
    let found = files(&room.join("d"));
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(all("export in.pb.gz -o d --force"), [0; 8]);
    assert_eq!(files(&room.join("d")), found);
    assert_eq!(fs::read_dir(room.join("d")).unwrap().count(), 4, "no folder is left");
}

#[test]
fn a_link_in_a_dataset_is_refused() {
    for place in ["samples", "stacks/service=unknown_service"] {
        let room = room("untrusted-link");
        copy(PPROFS[1], &room.join("in.pb.gz"));
        fs::create_dir(room.join("outside")).unwrap();
        let place = room.join("d").join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(room.join("outside"), &place).unwrap();
        for force in ["", " --force"] {
            says(&run(&room, &format!("export in.pb.gz -o d{force}"), 4), "it is a link");
            assert_eq!(files(&room.join("outside")), [""; 0]);
        }
    }
}

#[test]
fn unreferenced_mappings_survive_export_and_import() {
    let room = room("untrusted-mappings");
    copy("go-threadcreate.pb.gz", &room.join("in.pb.gz"));
    let output = run(&room, "export in.pb.gz -o d", 0);
    assert!(!stderr(&output).contains("dropped"), "{}", stderr(&output));
    run(&room, "import d -o out.otlp", 0);
    run(&room, "convert in.pb.gz -o direct.otlp", 0);
    let mappings = |name: &str| {
        let bytes = fs::read(room.join(name)).unwrap();
        let read = otlp_profiles::read(&bytes, &Default::default()).unwrap();
        let dictionary = read.profiles.dictionary().clone();
        let rows = dictionary.mappings().rows().iter();
        rows.map(|row| (row.memory_start, dictionary.text(row.filename).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(mappings("out.otlp"), mappings("direct.otlp"));
    assert_eq!(mappings("out.otlp").len(), 4, "row 0 and three binaries");
}

/// No flipped bit gives other data, and no panic of a decoder reaches stderr.
#[test]
fn a_damaged_table_is_an_error() {
    let room = room("untrusted-flips");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    for (compression, step) in [("lz4", 211), ("gzip", 397), ("none", 1009)] {
        let folder = format!("d-{compression}");
        run(&room, &format!("export in.pb.gz -o {folder} --compression {compression}"), 0);
        run(&room, &format!("import {folder} -o whole.otlp --force"), 0);
        let whole = fs::read(room.join("whole.otlp")).unwrap();
        let names = files(&room.join(&folder));
        let path =
            room.join(&folder).join(names.iter().find(|name| name.starts_with("samples")).unwrap());
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, flipped).unwrap();
            let output = command(&format!("import {folder} -o x.otlp --force"));
            let output = { output }.current_dir(&room).output().unwrap();
            assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
            // A bit of the footer may have no meaning, such as that of the name of the writer.
            let is_same =
                output.status.success() && fs::read(room.join("x.otlp")).unwrap() == whole;
            assert!(is_same || output.status.code() == Some(3), "byte {at}: {}", stderr(&output));
        }
        fs::write(&path, bytes).unwrap();
    }
}

fn sink(room: &Path, publishers: &str) {
    let yaml = format!(
        "sources: [{{name: a, meters: [cpu], sinks: [b]}}]\nsinks: [{{name: b, publishers: [{publishers}]}}]\n"
    );
    fs::write(room.join("p.yaml"), yaml).unwrap();
}

#[test]
fn a_profile_from_the_future_expires_no_file() {
    let room = room("untrusted-future");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let second = now - 1_767_225_600;
    save(&heap(second - 3_600, 1, 1), &room.join("now.otlp"));
    save(&heap(second + 70 * 365 * 86_400, 1, 1), &room.join("future.otlp"));
    save(&heap(second - 10 * 86_400, 1, 1), &room.join("old.otlp"));
    for query in ["ttl=86400", "max_bytes=1&backup_count=1"] {
        fs::create_dir_all(room.join("out")).unwrap();
        sink(&room, &format!("'file://out/heap-%Y%m%dT%H%M%S.otlp?{query}'"));
        run(&room, "pipeline -c p.yaml now.otlp", 0);
        let published = files(&room.join("out"));
        let output = run(&room, "pipeline -c p.yaml future.otlp", 0);
        says(&output, "future.otlp: a profile ends at 20");
        assert!(!stderr(&output).contains("expired"), "{}", stderr(&output));
        let found = files(&room.join("out"));
        assert!(found.len() == 2 && found.contains(&published[0]), "{found:?}");
        // What expires is named.
        if query.starts_with("ttl") {
            fs::write(room.join("out/heap-20200101T000000.otlp"), "old").unwrap();
            let output = run(&room, "pipeline -c p.yaml now.otlp --force", 0);
            says(
                &output,
                "1 file expired and removed (sink b, files out/heap-20200101T000000.otlp)",
            );
        }
        fs::remove_dir_all(room.join("out")).unwrap();
    }
}

#[test]
fn a_rotated_file_is_there_whatever_happens() {
    let room = room("untrusted-rotation");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    sink(&room, "'file://x.otlp?max_bytes=1&backup_count=2'");
    let names = ["x.otlp", "x.otlp.1", "x.otlp.2"];
    for text in ["one", "two", "three"] {
        fs::write(room.join("x.otlp"), text).unwrap();
        // The disk is full: nothing moves.
        let output = script(&room, "ulimit -f 1; exec \"$0\" pipeline -c p.yaml in.pb.gz");
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        assert_eq!(fs::read(room.join("x.otlp")).unwrap(), text.as_bytes());
        run(&room, "pipeline -c p.yaml in.pb.gz", 0);
    }
    let found = names.map(|name| fs::read(room.join(name)).unwrap());
    assert_eq!([&found[1], &found[2]], [&b"three"[..], b"two"]);
    // Killed between the copy and the replacement: the next run keeps no file twice.
    fs::remove_file(room.join("x.otlp.1")).unwrap();
    fs::hard_link(room.join("x.otlp"), room.join("x.otlp.1")).unwrap();
    run(&room, "pipeline -c p.yaml in.pb.gz", 0);
    assert_eq!(
        names.map(|name| fs::read(room.join(name)).unwrap()),
        [&found[0][..], &found[0], b"two"]
    );
    // A pipe is written and stays.
    sink(&room, "'file://fifo?max_bytes=1&backup_count=2'");
    succeeds(&script(
        &room,
        "mkfifo fifo; cat fifo > got & \"$0\" pipeline -c p.yaml in.pb.gz; wait",
    ));
    assert!(fs::read(room.join("got")).unwrap() == found[0]);
    assert!(script(&room, "test -p fifo").status.success());
}

#[test]
fn publishers_of_one_file_are_refused_in_any_spelling() {
    let room = room("untrusted-spellings");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    fs::create_dir(room.join("real")).unwrap();
    symlink("real", room.join("link")).unwrap();
    fs::write(room.join("same.otlp"), "old").unwrap();
    symlink("same.otlp", room.join("other.otlp")).unwrap();
    let absolute = room.join("same.otlp").display().to_string();
    for second in
        ["./same.otlp", "new/../same.otlp", "other.otlp", &absolute, "same.otlp?format=folded"]
    {
        sink(&room, &format!("'file://same.otlp', 'file://{second}'"));
        says(&run(&room, "pipeline -c p.yaml in.pb.gz", 2), "another publisher writes");
    }
    for pair in [
        "'file://link/a.otlp', 'file://real/a.otlp'",
        "'file://h-%Y.otlp', 'file://h-2026.otlp'",
        "'file://a.otlp?max_bytes=1&backup_count=3', 'file://a.otlp.2?format=otlp'",
        "stdout, '-'",
    ] {
        sink(&room, pair);
        says(&run(&room, "pipeline -c p.yaml in.pb.gz", 2), "another publisher writes");
    }
    sink(&room, "'file://a.otlp', 'file://real/a.otlp', 'file://a-%Y.otlp'");
    run(&room, "pipeline -c p.yaml in.pb.gz", 0);
}

#[test]
fn deep_configurations_are_refused_with_a_place() {
    let room = room("untrusted-depth");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    let chain: Vec<String> =
        (1..2_000).map(|row| format!("a{row}: &a{row} [*a{}]\n", row - 1)).collect();
    for yaml in [
        format!("? a\n: {}x\n", "- ".repeat(20_000)),
        format!("{}x\n", "- ".repeat(20_000)),
        format!("a: {}{}\n", "[".repeat(200), "]".repeat(200)),
        (0..400).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
        format!("a0: &a0 [x]\n{}", chain.concat()),
    ] {
        fs::write(room.join("p.yaml"), yaml).unwrap();
        let output = run(&room, "pipeline -c p.yaml in.pb.gz", 2);
        says(&output, "p.yaml:");
        says(&output, "more than 64 lists and mappings are in each other");
    }
}

/// A second run gives what the first gave.
#[test]
fn outputs_in_a_folder_of_inputs_are_not_read() {
    let room = room("untrusted-outputs");
    fs::create_dir(room.join("d")).unwrap();
    copy(PPROFS[1], &room.join("d/a.pb.gz"));
    for arguments in ["convert d -o d --to otlp", "split d --by type -o d --to pprof"] {
        says(&run(&room, arguments, 2), "d is a folder of inputs, too");
    }
    run(&room, "redact d -o d --to pprof --force", 0);
    for arguments in
        ["merge d -o d/all.pb.gz", "view d -o d/x.html", "diff -o d/y.pb.gz d/a.pb.gz -- d"]
    {
        run(&room, arguments, 0);
        let name = arguments.split("-o ").nth(1).unwrap().split(' ').next().unwrap();
        let file = room.join(name);
        let first = fs::read(&file).unwrap();
        let forced = arguments.replacen(' ', " --force ", 1);
        says(&run(&room, &forced, 0), "it is an output of this run");
        assert!(fs::read(&file).unwrap() == first, "{arguments}");
        fs::remove_file(file).unwrap();
    }
    let yaml = "sources: [{name: a, meters: ['*'], sinks: [b]}]
sinks: [{name: b, publishers: ['file://d/h-%Y.otlp', 'file://d/r.otlp?max_bytes=1&backup_count=2']}]
";
    fs::write(room.join("p.yaml"), yaml).unwrap();
    run(&room, "pipeline -c p.yaml d", 0);
    let first = files(&room.join("d"));
    let output = run(&room, "pipeline -c p.yaml d --force", 0);
    says(&output, "it is an output of this run");
    assert!(files(&room.join("d")).len() <= first.len() + 1, "one more backup at most");
}

#[test]
fn a_table_of_a_dataset_names_import() {
    let room = room("untrusted-table");
    copy(PPROFS[1], &room.join("in.pb.gz"));
    run(&room, "export in.pb.gz -o d", 0);
    says(&run(&room, "info d", 3), "otlp-profiles import DIR");
}

/// Labels without a key, of which OTLP has none.
#[test]
fn a_repaired_profile_has_no_label_without_a_key() {
    let room = room("untrusted-keys");
    for key in [0, 9] {
        // One sample with a label, whose value is string 1.
        let label = [0x1a, 4, 0x08, key, 0x10, 1];
        let sample = [&[0x12, 9, 0x12, 1, 1][..], &label].concat();
        let payload =
            [&[0x0a, 4, 0x08, 1, 0x10, 1][..], &sample, &[0x32, 0, 0x32, 1, b'a']].concat();
        fs::write(room.join("in.pb"), payload).unwrap();
        let output = run(&room, "convert --repair in.pb -o out.otlp --force", 0);
        says(&output, "pprof.label_without_key");
        let output = run(&room, "validate out.otlp", 0);
        assert!(!stdout(&output).contains("OP5003"), "{}", stdout(&output));
    }
}

/// Compressors of thousands of files use the memory of one.
#[test]
fn many_outputs_take_little_memory() {
    let room = room("untrusted-memory");
    let (_, _, at_different_times) = shapes::SHAPES[2];
    fs::write(room.join("in.otlp"), at_different_times(3_000)).unwrap();
    // Kilobytes of writable memory.
    succeeds(&script(&room, "ulimit -d 400000; exec \"$0\" convert in.otlp -o x.pb.gz"));
    assert_eq!(files(&room).len(), 3_001);
}

#[test]
fn limits_of_an_export_name_their_options() {
    let room = room("untrusted-limits");
    fs::create_dir(room.join("in")).unwrap();
    save(&heap(0, 1, 1), &room.join("in/a.otlp"));
    save(&heap(86_400, 1, 1), &room.join("in/b.otlp"));
    copy(PPROFS[0], &room.join("in.pb.gz"));
    let output = run(&room, "export in -o d --max-partitions 1", 5);
    says(&output, "2 files of samples exceed the limit of 1 (--max-partitions raises it)");
    let output = run(&room, "export in.pb.gz -o d --max-segment-stacks 1", 5);
    says(&output, "--max-segment-stacks raises it");
    assert_eq!(files(&room.join("d")), [""; 0], "nothing is left");
}

/// Many files with one type each: the columns of the sum would be mostly zeros.
#[test]
fn a_merge_does_not_multiply_its_inputs_by_zeros() {
    let room = room("untrusted-zeros");
    fs::create_dir(room.join("in")).unwrap();
    for row in 0..6_000 {
        let mut builder = otlp_profiles::Builder::new();
        let name = format!("t{row}");
        let key = builder.profile_of([(&*name, "count")]);
        builder.profile_mut(key).time(1_767_225_600_000_000_000_u64);
        let frame = format!("f{row}");
        builder.sample(key, otlp_profiles::builder::root_first([&*frame])).values([1]);
        save(&builder.finish().unwrap(), &room.join(format!("in/{row}.otlp")));
    }
    let script = script(&room, "ulimit -d 400000; exec \"$0\" merge in -o x.pb.gz");
    assert_eq!(script.status.code(), Some(5), "{}", stderr(&script));
    says(&script, "--max-owned-per-byte raises it");
}
