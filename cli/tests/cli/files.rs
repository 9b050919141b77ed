//! Files and pipes: which outputs are written, and which files are kept.

use std::fs;

use crate::*;

#[test]
fn a_pprof_comes_back_with_its_sums() {
    let room = room("back");
    for name in PPROFS {
        copy(name, &room.join(name));
        let before = sums(&room, name);
        for to in ["otlp-1.10", "otlp-1.3"] {
            let (there, back) = (format!("{name}.{to}.otlp"), format!("{name}.{to}.pb.gz"));
            run(&room, &format!("convert {name} -o {there} --to {to}"), 0);
            run(&room, &format!("convert {there} --from {to} -o {back}"), 0);
            assert_eq!(info(&room, &there)["messages"][0]["format"], to);
            assert_eq!(sums(&room, &there), before, "{there}");
            assert_eq!(sums(&room, &back), before, "{back}");
        }
    }
}

#[test]
fn equal_input_gives_equal_bytes() {
    let room = room("equal");
    for name in PPROFS {
        copy(name, &room.join(name));
        for out in ["a.otlp", "b.otlp", "a.pb.gz", "b.pb.gz"] {
            run(&room, &format!("convert {name} -f -o {out}"), 0);
        }
        for end in ["otlp", "pb.gz"] {
            let read = |stem: &str| fs::read(room.join(format!("{stem}.{end}"))).unwrap();
            assert_eq!(read("a"), read("b"), "{name}");
        }
    }
}

#[test]
fn a_file_that_exists_is_kept() {
    let room = room("exists");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    fs::write(room.join("out.otlp"), "precious").unwrap();
    run(&room, "convert in.pb.gz -o out.otlp", 4);
    assert_eq!(fs::read(room.join("out.otlp")).unwrap(), b"precious");
    let before = fs::read(room.join("in.pb.gz")).unwrap();
    let output = run(&room, "convert in.pb.gz -o ./in.pb.gz --to otlp", 4);
    says(&output, "is the input itself");
    assert_eq!(fs::read(room.join("in.pb.gz")).unwrap(), before);
    run(&room, "convert in.pb.gz -o out.otlp --force", 0);
    run(&room, "convert in.pb.gz -o in.pb.gz --force", 0);
    assert_eq!(sums(&room, "out.otlp"), sums(&room, "in.pb.gz"));
    assert_eq!(files(&room), ["in.pb.gz", "out.otlp"]);
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_stays_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let room = room("mode");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    fs::write(room.join("out.otlp"), "").unwrap();
    fs::set_permissions(room.join("out.otlp"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out.otlp", room.join("link.otlp")).unwrap();
    run(&room, "convert in.pb.gz -o link.otlp --force", 0);
    let metadata = fs::symlink_metadata(room.join("out.otlp")).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o640);
    assert!(metadata.len() > 0);
    assert!(room.join("link.otlp").is_symlink());
    // The same holds for links to missing files, through other links and directories.
    fs::create_dir(room.join("deep")).unwrap();
    symlink("deep/next", room.join("far.otlp")).unwrap();
    symlink("../new.otlp", room.join("deep/next")).unwrap();
    run(&room, "convert in.pb.gz -o far.otlp", 4);
    run(&room, "convert in.pb.gz -o far.otlp --force", 0);
    assert!(room.join("far.otlp").is_symlink() && room.join("deep/next").is_symlink());
    assert!(!room.join("new.otlp").is_symlink());
    assert_eq!(fs::read(room.join("new.otlp")).unwrap(), fs::read(room.join("out.otlp")).unwrap());
    symlink("round.otlp", room.join("round.otlp")).unwrap();
    says(&run(&room, "convert in.pb.gz -o round.otlp --force", 4), "too many links");
    assert!(room.join("round.otlp").is_symlink());
}

/// Regression: a temporary name longer than the final name exceeded the limit of the system.
#[test]
fn a_name_may_be_as_long_as_the_system_allows() {
    let room = room("long_name");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    for name in ["x".repeat(250) + ".otlp", "é".repeat(125) + ".otlp"] {
        run(&room, &format!("convert in.pb.gz -o {name}"), 0);
        assert_eq!(sums(&room, &name), sums(&room, "in.pb.gz"));
    }
    // Several files of one input have temporary names at the same time.
    let name = "y".repeat(240) + ".folded";
    run(&room, &format!("convert in.pb.gz --type all -o {name}"), 0);
    assert_eq!(files(&room).iter().filter(|name| name.starts_with('y')).count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_4_and_a_broken_pipe_is_quiet() {
    let room = room("full");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for arguments in [
        "convert a.pb.gz --to otlp",
        "info a.pb.gz",
        "info --json a.pb.gz",
        "--help",
        "help convert",
        "--version",
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(arguments).current_dir(&room).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command(arguments).current_dir(&room).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    }
    run(&room, "convert a.pb.gz --to otlp -o /dev/full", 4);
    run(&room, "convert a.pb.gz --to otlp -o /dev/null", 0);
    run(&room, "convert a.pb.gz --to otlp -o /proc/none/x.otlp", 4);
    run(&room, "convert a.pb.gz --to otlp -o a.pb.gz/x.otlp", 4);
    run(&room, "convert a.pb.gz --to otlp -o absent/x.otlp", 4);
    assert_eq!(files(&room), ["a.pb.gz"]);
}

/// Regression: the payload was written uncompressed under a name that ends in `.zst`.
#[cfg(not(feature = "zstd"))]
#[test]
fn what_is_built_without_zstd_refuses_it() {
    let room = room("files_no_zstd");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    for name in ["a.otlp.zst", "a.pb.ZST"] {
        let output = run(&room, &format!("convert in.pb.gz -o {name}"), 2);
        says(&output, "this build writes no zstd");
        says(&output, "--features zstd");
    }
    assert_eq!(files(&room), ["in.pb.gz"]);
    run(&room, "convert in.pb.gz -o a.otlp.zst --no-gzip", 0);
}

/// What senders compress is read, as a whole and message by message, as the Collector's file exporter writes it.
#[test]
fn compressions_of_senders_are_read() {
    use std::io::Write;

    use otlp_profiles::Limits;
    use otlp_profiles::framing::{Framing, frame};
    use otlp_profiles::stream::MessageReader;

    let room = room("files_senders");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    run(&room, "convert in.pb.gz -o a.otlp", 0);
    let plain = fs::read(room.join("a.otlp")).unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&plain).unwrap();
    let packed = [
        ("gzip", otlp_profiles::compression::deflate(&plain, Default::default())),
        ("zlib", zlib.finish().unwrap()),
        #[cfg(feature = "zstd")]
        ("zstd", otlp_profiles::compression::zstd(&plain, Default::default())),
    ];
    for (name, packed) in packed {
        fs::write(room.join("whole"), &packed).unwrap();
        let page = String::from_utf8(run(&room, "info whole", 0).stdout).unwrap();
        assert!(page.contains(&format!("inflated ({name})")), "{page}");
        run(&room, "convert whole --to otlp -f -o back.otlp", 0);
        assert!(fs::read(room.join("back.otlp")).unwrap() == plain, "{name}");
        for framing in [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited] {
            fs::write(room.join("framed"), frame(framing, [&packed, &packed]).unwrap()).unwrap();
            run(&room, "convert framed --to otlp -f -o back.otlp", 0);
            let back = MessageReader::open(room.join("back.otlp"), Limits::file()).unwrap();
            let back: Vec<_> = back.map(Result::unwrap).collect();
            assert!(back == [&plain[..], &plain[..]], "{name} {framing}");
        }
        fs::write(room.join("cut"), &packed[..packed.len() - 9]).unwrap();
        says(&run(&room, "info cut", 3), &format!("the file ends inside the {name} data"));
    }
}

#[test]
fn other_compressions_are_named_with_a_command() {
    let room = room("files_others");
    for (file, command) in [
        (&b"\x04\x22\x4d\x18\x64\x70"[..], "`lz4 -dc < 'a b' > payload`"),
        (b"\xff\x06\0\0sNaPpY", "`szip -d < 'a b' > payload` (`cargo install szip`)"),
        (b"\x08\x1caaaaaaaa", "`szip -d --raw < 'a b' > payload` (`cargo install szip`)"),
    ] {
        fs::write(room.join("a b"), file).unwrap();
        let output = crate::command("info").arg("a b").current_dir(&room).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        says(&output, command);
    }
}

#[test]
fn the_name_decides_compression_and_pprof_is_gzip() {
    let room = room("compression");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let is_gzip = |bytes: &[u8]| bytes.starts_with(&[0x1f, 0x8b]);
    for to in ["otlp", "otlp-1.7", "otlp-1.3", "otlp-json"] {
        for (name, gzip) in [("x.otlp", false), ("x.otlp.gz", true), ("x", false)] {
            run(&room, &format!("convert a.pb.gz --to {to} -f -o {name}"), 0);
            assert_eq!(is_gzip(&fs::read(room.join(name)).unwrap()), gzip, "{to} {name}");
        }
        let output = run(&room, &format!("convert a.pb.gz --to {to}"), 0);
        assert!(!is_gzip(&output.stdout), "{to}");
        run(&room, &format!("convert a.pb.gz --to {to} -f -o out/"), 0);
    }
    assert_eq!(files(&room.join("out")), ["a.json", "a.otlp"]);
    for name in ["x.pb", "x.pb.gz", "x.pprof"] {
        run(&room, &format!("convert a.pb.gz -f -o {name}"), 0);
        assert!(is_gzip(&fs::read(room.join(name)).unwrap()), "{name}");
    }
    run(&room, "convert a.pb.gz -f -o x.otlp.gz --no-gzip", 0);
    assert!(!is_gzip(&fs::read(room.join("x.otlp.gz")).unwrap()));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_get_the_extension_of_the_format() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let room = room("latin1");
    let name = OsStr::from_bytes(b"caf\xe9.pb.gz");
    copy(PPROFS[0], &room.join("in").join(name));
    run(&room, "convert in --to otlp -o out", 0);
    let written = fs::read_dir(room.join("out")).unwrap().next().unwrap().unwrap().file_name();
    assert_eq!(written, OsStr::from_bytes(b"caf\xe9.otlp"));
    // Patterns match such names, too.
    for (row, pattern) in ["in/*.gz", "in/caf*", "in/caf?.pb.gz", "**/c*"].into_iter().enumerate() {
        run(&room, &format!("convert {pattern} --to otlp -o by-{row}/"), 0);
        let written = room.join(format!("by-{row}"));
        let written = if row == 3 { written.join("in") } else { written };
        assert!(written.join(OsStr::from_bytes(b"caf\xe9.otlp")).exists(), "{pattern}");
    }
    run(&room, "info in/bar*", 3);
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_is_read_and_written_by_name() {
    let room = room("files_zstd");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    run(&room, "convert in.pb.gz -o a.otlp.zst", 0);
    run(&room, "convert in.pb.gz -o b.otlp.zst", 0);
    run(&room, "convert in.pb.gz -o a.otlp", 0);
    let file = |name: &str| fs::read(room.join(name)).unwrap();
    assert!(file("a.otlp.zst").starts_with(b"\x28\xb5\x2f\xfd"));
    assert!(file("a.otlp.zst") == file("b.otlp.zst"));
    run(&room, "convert a.otlp.zst -o back.otlp", 0);
    assert!(file("back.otlp") == file("a.otlp"));
    run(&room, "convert in.pb.gz -o c.pb.zst", 0);
    assert!(file("c.pb.zst").starts_with(b"\x28\xb5\x2f\xfd"));
    let page = String::from_utf8(run(&room, "info a.otlp.zst", 0).stdout).unwrap();
    assert!(page.contains("inflated (zstd)"), "{page}");
    run(&room, "convert in.pb.gz -o d.otlp.zst --no-gzip", 0);
    assert!(file("d.otlp.zst") == file("a.otlp"));
}

#[test]
fn one_sample_type_is_written_where_it_is_chosen() {
    let room = room("type");
    let cpu = testdata("go-cpu-labels.pb.gz");
    let cpu = cpu.display();
    let output = run(&room, &format!("convert {cpu} -o all.folded --type all"), 0);
    says(&output, "otlp-profiles: wrote all.samples.folded, all.cpu.folded\n");
    assert_eq!(files(&room), ["all.cpu.folded", "all.samples.folded"]);
    run(&room, &format!("convert {cpu} -o cpu.folded --type cpu:nanoseconds"), 0);
    let text = std::fs::read_to_string(room.join("cpu.folded")).unwrap();
    assert_eq!(text, std::fs::read_to_string(room.join("all.cpu.folded")).unwrap());
    let sum = |text: &str| -> i64 {
        text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap()).sum()
    };
    assert_eq!(sum(&text), 1_630_000_000);
    run(&room, &format!("convert {cpu} -o cpu.firefox.json --type cpu"), 0);
    let output = run(&room, &format!("convert {cpu} -o no.folded --type heap:bytes"), 3);
    says(
        &output,
        "no sample type is called as --type asks: there are samples:count, cpu:nanoseconds",
    );
    // Folded stacks do not store types, so --type describes the input.
    run(&room, "convert cpu.folded -o again.folded --type cpu:nanoseconds", 0);
    let again = std::fs::read_to_string(room.join("again.folded")).unwrap();
    assert_eq!(sum(&again), 1_630_000_000);
    // Formats with several types take only the selected ones, too.
    for output in ["cpu.otlp", "cpu.pb"] {
        run(&room, &format!("convert {cpu} -o {output} --type cpu:nanoseconds"), 0);
        let sums = sums(&room, output);
        assert!(sums.len() == 1 && sums[0].2 == 1_630_000_000, "{sums:?}");
    }
}

#[test]
fn layouts_are_asked_for_by_name() {
    let room = room("files_layouts");
    copy(PPROFS[1], &room.join("in.pb.gz"));
    let before = sums(&room, "in.pb.gz");
    for to in ["otlp-1.10", "otlp-1.3", "pprof"] {
        let written = |flags: &str, file: &str| {
            let flags = flags.trim();
            run(&room, &format!("convert in.pb.gz {flags} --to {to} -f -o {file}"), 0);
            assert_eq!(sums(&room, &format!("{file} --from {to}")), before, "{to} {flags}");
            fs::read(room.join(file)).unwrap()
        };
        let plain = |flags: &str| written(&format!("--no-gzip {flags}"), "out");
        let (default, compact) = (plain("--layout default"), plain("--layout compact"));
        assert!(default == plain(""), "{to}");
        assert!(plain("--layout keep") != compact, "{to}");
        assert!(compact == plain("--compact"), "{to}");
        assert!(compact.len() <= default.len(), "{to}");
        let gzipped = |flags: &str| written(&format!("--gzip {flags}"), "out.gz");
        assert!(gzipped("--compact") == gzipped("--layout compact --level 9"), "{to}");
        assert!(gzipped("--compact").len() < gzipped("").len(), "{to}");
    }
    let wrong = run(&room, "convert in.pb.gz -o a.otlp --layout smallest", 2);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("smallest") && said.contains("compact"), "{said}");
    run(&room, "convert in.pb.gz -o a.otlp --layout keep --compact", 2);
}

#[test]
fn a_long_text_is_the_same_from_a_file_from_stdin_and_in_gzip() {
    use otlp_profiles::compression::{Level, deflate};
    let room = room("long_text");
    let text = "main;run;poll 42\nmain;idle 7\n".repeat(10_000);
    let gzip = deflate(text.as_bytes(), Level::FAST);
    fs::write(room.join("long.folded"), &text).unwrap();
    fs::write(room.join("long.folded.gz"), &gzip).unwrap();
    let wanted = run(&room, "convert long.folded --to otlp -o -", 0).stdout;
    assert_eq!(run(&room, "convert long.folded.gz --to otlp -o -", 0).stdout, wanted);
    for stdin in [text.as_bytes(), &gzip] {
        assert_eq!(run_with_stdin(&room, "convert - --to otlp -o -", stdin, 0).stdout, wanted);
    }
    let described = info(&room, "long.folded.gz");
    assert_eq!(described["bytes"], gzip.len());
    assert_eq!(described["inflated_bytes"], text.len());
    assert_eq!(described["messages"][0]["bytes"], text.len());
    assert_eq!(sums(&room, "long.folded")[0].2, 490_000);
    run(&room, "convert long.folded --type cpu:ms --to otlp -o typed.otlp", 0);
    assert_eq!(sums(&room, "typed.otlp")[0].0, "cpu");
    // An error names its line.
    fs::write(room.join("broken.folded"), text + "main;run\n").unwrap();
    let output = run(&room, "convert broken.folded --to otlp -o -", 3);
    says(&output, "line 20001: the stack \"main;run\" has no value after it");
    let output = run(&room, "convert long.folded.gz --max-decompressed 100000 --to otlp -o -", 5);
    says(&output, "--max-decompressed");
}

/// Lines have a stack and a number only, because flame graph tools skip other lines.
#[test]
fn folded_stacks_are_plain_unless_labels_are_asked_for() {
    let room = room("folded_plain");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let is_plain = |text: &str| {
        let is_number = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<i64>().is_ok();
        text.lines().all(is_number)
    };
    let read = |name: &str| fs::read_to_string(room.join(name)).unwrap();
    let output = run(&room, "convert cpu.pb.gz -o a.folded", 0);
    says(&output, "cpu.pb.gz: folded keeps names and values only; 9 kinds of data left out");
    let wrote =
        "wrote cpu:nanoseconds and left out samples:count (--type all writes every sample type)";
    says(&output, &format!("otlp-profiles: cpu.pb.gz: {wrote}\n"));
    assert!(is_plain(&read("a.folded")));
    assert_eq!(stdout(&run(&room, "convert cpu.pb.gz --to folded", 0)), read("a.folded"));
    // The same type in OTLP, whose profiles have one type each.
    run(&room, "convert cpu.pb.gz -o cpu.otlp", 0);
    says(&run(&room, "convert cpu.otlp -o b.folded", 0), wrote);
    assert!(read("b.folded") == read("a.folded"));
    run(&room, "convert cpu.pb.gz -o a.otep.folded", 0);
    run(&room, "convert cpu.pb.gz -o labels.folded --folded-labels", 0);
    assert!(!is_plain(&read("a.otep.folded")) && read("labels.folded") == read("a.otep.folded"));
    run(&room, "convert cpu.pb.gz -o all.otep.folded --type all", 0);
    assert!(room.join("all.samples.otep.folded").exists());
    run(&room, "convert cpu.pb.gz -o x.otep.folded --to otlp", 0);
}

/// Stacks of several messages are lines of one file. A pprof file holds one profile.
#[test]
fn several_messages_of_stacks_share_a_file() {
    use otlp_profiles::framing::{Framing, frame};
    let room = room("folded_messages");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    run(&room, "convert cpu.pb.gz -o cpu.otlp", 0);
    let message = fs::read(room.join("cpu.otlp")).unwrap();
    let twice = frame(Framing::LengthPrefixed, [&message, &message]).unwrap();
    fs::write(room.join("twice.otlp"), twice).unwrap();
    let one = run(&room, "convert cpu.otlp --to folded", 0).stdout;
    assert_eq!(run(&room, "convert twice.otlp --to folded", 0).stdout, one.repeat(2));
    let output = run(&room, "convert twice.otlp -o x.pb.gz", 0);
    says(&output, "otlp-profiles: wrote x.cpu.pb.gz, x.cpu-2.pb.gz\n");
    assert_eq!(sums(&room, "x.cpu-2.pb.gz"), sums(&room, "cpu.pb.gz"));
}

#[test]
fn a_missing_folder_is_named_with_the_command_that_makes_it() {
    let room = room("no_folder");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let output = run(&room, "convert a.pb.gz -o dir/sub/x.otlp", 4);
    let said = "dir/sub/x.otlp cannot be written: its folder does not exist; make it with `mkdir -p dir/sub`";
    says(&output, said);
    let output = run(&room, "convert a.pb.gz b.otlp", 2);
    says(
        &output,
        "b.otlp does not exist; to write it, did you mean: otlp-profiles convert a.pb.gz -o b.otlp",
    );
    assert_eq!(files(&room), ["a.pb.gz"]);
}
