//! Names the files of other profilers, each with a working command, or with the reason why there is no command.

use std::path::{Path, PathBuf};

use otlp_profiles::{Error, ErrorKind, Limits, ReadOptions, Reader};

/// Returns the error of a file; `None` if it can be read.
fn refusal(path: &Path) -> Option<Error> {
    let options = ReadOptions::default().limits(Limits::file());
    match Reader::open(path, &options) {
        Ok(mut reader) => reader.next()?.err(),
        Err(error) => Some(error),
    }
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// The name of each kind, and the command that converts it.
#[test]
fn other_profilers_files_come_with_a_command() {
    for (file, what, command) in [
        ("java.jfr", "a Java Flight Recorder file", "`jfrconv -o pb.gz FILE profile.pb.gz`"),
        (
            "linux.perf.data",
            "a perf.data file",
            "`perf script -i FILE | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it, and so",
        ),
        ("linux-pipe.perf.data", "a perf.data file", "`perf script -i FILE | otlp-profiles"),
        (
            "python.pstat",
            "Python's cProfile statistics",
            "`flameprof --format=log FILE | otlp-profiles convert - --type cpu:microseconds -o ",
        ),
        (
            "austin.mojo",
            "an austin recording in MOJO form",
            "`mojo2austin FILE profile.austin && otlp-profiles convert profile.austin --dialect austin ",
        ),
        ("node.cpuprofile", "a V8 CPU profile", "https://www.speedscope.app"),
        ("node.heapprofile", "a V8 heap profile", "https://www.speedscope.app"),
        ("firefox.json", "a Firefox profile", "https://www.speedscope.app"),
        ("firefox.json.gz", "a Firefox profile", "https://www.speedscope.app"),
        ("chrome-trace.json", "a Chrome trace", "https://www.speedscope.app"),
        ("pyinstrument.json", "a pyinstrument session", "`py-spy record --format raw"),
        ("callgrind.out", "a callgrind file", "`perf record -g PROGRAM`"),
        ("yappi.callgrind", "yappi's callgrind file", "`yappi -f pstat"),
        ("bpftrace.txt", "output of bpftrace", "`stackcollapse-bpftrace.pl FILE | otlp-profiles"),
        ("dtrace.txt", "output of DTrace", "`stackcollapse.pl FILE | otlp-profiles convert - -o "),
    ] {
        let error = refusal(&testdata(file)).unwrap();
        assert_eq!(error.kind(), ErrorKind::Unrecognised, "{file}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("this is {what}")), "{file}: {text}");
        assert!(text.contains(command), "{file}: {command} is not in: {text}");
        assert!(!error.is_no_profile(), "{file}");
    }
}

/// Kinds without a sample file in this repository.
#[test]
fn what_is_known_by_its_first_lines_is_named() {
    for (bytes, what) in [
        (&b"{\"dhatFileVersion\":2\n,\"mode\":\"heap\"}"[..], "a DHAT heap profile"),
        (b"desc: --massif-out-file=m\ncmd: ./busy\ntime_unit: i\n", "a massif heap profile"),
        (b"[{\"name\":\"f\",\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":35940}]", "a Chrome trace"),
        (b"memray\0\x0b\0\0\0", "a memray recording"),
        (b"\x04\x22\x4d\x18\x40\x40\xc0\x0d\x39\0\0\xf9\x05memray\0", "a memray recording"),
        (b"allocator,num_allocations,size,tid,thread_name,stack_trace\n", "memray's table"),
        (b"{\n  \"total_num_allocations\": 3,\n", "memray's statistics"),
        (b"go 1.22 trace\0\0\0\x01", "a Go execution trace"),
        (b"goroutine 1 [running]:\nmain.main()\n", "a dump of goroutines"),
        (b"{\n\t\"linux-perf-json-version\": 1,\n", "perf.data as JSON"),
        (b"@[\n    read+13\n    main+9\n]: 7\n", "output of bpftrace"),
        (b"@stacks_1[bash,\n    read+13\n]: 7\n", "output of bpftrace"),
        (
            b"@ inst_retired.any [35705 samples]\n\n20.86%  [7447]     lz4 @ /boot/zfs.ko\n",
            "a call graph of FreeBSD's pmcstat",
        ),
        (b"version: 1\nevents: Ir\nfn=f\n1 2\n", "a callgrind file"),
        (b"# proto-file: profile.proto\nsample {}\n", "protobuf in text form"),
        (
            b"# proto-file: perf_data.proto\nevents: {\n  header: {\n    type: 1\n  }\n}\n",
            "protobuf in text form",
        ),
        (b"\xfb\xa9\x03\xfa\x05a.py", "Python's cProfile statistics"),
    ] {
        let error = otlp_profiles::read(bytes, &ReadOptions::default()).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&format!("this is {what}")), "{what}: {text}");
        assert!(text.contains('`') || text.contains("no converter"), "{what}: {text}");
        assert!(!error.is_no_profile(), "{what}");
    }
}

/// Other files that a directory of profiles may contain.
#[test]
fn what_is_no_profile_is_known_as_such() {
    for bytes in [
        &b"# Profiles of checkout\n\nTaken on Friday.\n"[..],
        b"{\"name\": \"checkout\", \"version\": \"1.0.0\"}",
        b"<svg version=\"1.1\" width=\"1200\">",
        b"\x89PNG\r\n\x1a\n\0\0\0\x0d",
        b"\x7fELF\x02\x01\x01",
        b"# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total{level=\"0\"} 1\n",
        b"# TYPE up gauge\nup 1\nup{job=\"a;b\"} 2\n",
        b"File: godemo\nType: cpu\nShowing nodes accounting for 1.63s, 100% of 1.63s total\n",
    ] {
        let error = otlp_profiles::read(bytes, &ReadOptions::default()).unwrap_err();
        assert!(error.is_no_profile(), "{error}");
    }
    // Broken profiles, and profiles in unsupported compressions, may still be profiles.
    for bytes in [&b"\xff\xfe\xfd"[..], b"\x28\xb5\x2f\xfd\x24", b"\x1f\x8b\x08\0", b"\x78\x01"] {
        let error = otlp_profiles::read(bytes, &ReadOptions::default()).unwrap_err();
        assert!(!error.is_no_profile(), "{error}");
    }
}

/// Whether a file is in a directory of profiles but is not a profile.
fn is_beside(path: &str) -> bool {
    let ends = [
        ".md",
        "facts.json",
        "expected.json",
        "golden.json",
        "headers.json",
        "join.json",
        ".elf",
        ".top.txt",
        ".traces.txt",
        ".tags.txt",
        ".flamegraph",
    ];
    path.contains("/src/") || path.contains("/tools/") || ends.iter().any(|end| path.ends_with(end))
}

/// Every file is read, is named with a command or a reason, or is not a profile.
#[test]
fn every_file_of_the_corpus_is_read_or_named() {
    let mut left = vec![testdata("")];
    match std::env::var_os("OTLP_PROFILES_CORPUS") {
        Some(corpus) => left.push(corpus.into()),
        None => eprintln!("skipped for the corpus: OTLP_PROFILES_CORPUS is not set"),
    }
    let mut named = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.to_string_lossy();
        let Some(error) = refusal(&path).filter(|e| e.kind() == ErrorKind::Unrecognised) else {
            continue;
        };
        let text = error.to_string();
        assert_eq!(error.is_no_profile(), is_beside(&name), "{name}: {text}");
        if !error.is_no_profile() {
            let why = ["no converter", "have the producer write"];
            let helps = text.contains('`') || why.iter().any(|why| text.contains(why));
            assert!(text.contains("this is ") && helps, "{name}: {text}");
            named += 1;
        }
    }
    assert!(named >= 14, "{named}");
}

/// Bodies and wrappers that a server, an archiver or a client sent instead of a profile.
#[test]
fn wrappings_and_error_pages_are_named_and_quoted() {
    let read = |bytes: &[u8]| otlp_profiles::read(bytes, &ReadOptions::default()).unwrap_err();
    let mut tar = vec![0; 1024];
    tar[..4].copy_from_slice(b"p.pb");
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, what, text) in [
        (&b"404 page not found\n"[..], "plain text", "begins with \"404 page not found\""),
        (b"<!DOCTYPE html>\n<p>502</p>", "an HTML page", "it may have refused the request"),
        (b"<HTML><BODY>Forbidden", "an HTML page", "begins with \"<HTML><BODY>Forbidden\""),
        (b"{\n \"error\": \"no token\"}", "JSON with a message of an error", "no token"),
        (b"HTTP/1.1 404 Not Found\r\n\r\nno", "an HTTP response", "begins with \"HTTP/1.1 404"),
        (b"HTTP/1.1 200 OK\r\n\r\n\x1f\x8b", "an HTTP response", "LC_ALL=C sed '1,/^\\r*$/d' FILE"),
        (b"--b\r\nContent-Type: x\r\n\r\n\x1f\x8b", "a multipart body", "`python3 -c"),
        (&tar, "a tar archive", "`tar -xf FILE`"),
        (b"H4sIAAAAAAAA/5VXe3SU1RF3X8mXzA==\n", "base64 text", "`base64 -d FILE > profile.pb.gz`"),
        (b"<?xml version=\"1.0\"?>\n<Error/>", "XML", "it may have refused the request"),
        (b"<?xml version=\"1.0\"?>\n<svg>", "a picture (SVG)", "the picture was made from"),
        (
            b"\x1e{\"resourceProfiles\":[]}\n",
            "a JSON text sequence",
            "`tr -d '\\036' < FILE | jq -c .",
        ),
    ] {
        let error = read(bytes);
        let message = error.message();
        assert!(message.starts_with(&format!("this is {what}")), "{what}: {message}");
        assert!(message.contains(text) && error.is_no_profile(), "{what}: {message}");
    }
    let mut etl = vec![0; 4096];
    etl[2] = 1;
    etl[0x48..0x4c].copy_from_slice(&[2, 0, 2, 0xc0]);
    for (bytes, what, command) in [
        (
            &b"{\"start_time\": 1.0, \"sample_count\": 8, \"start_call_stack\": []"[..],
            "a pyinstrument session (.pyisession)",
            "`pyinstrument --load FILE -r speedscope | otlp-profiles convert - -o profile.pb.gz`",
        ),
        (
            b"memray\0\x0b",
            "a memray recording",
            "`python -m memray transform csv -f -o allocations.csv FILE`",
        ),
        (
            b"v 10500 2\nX ./a\n",
            "a heaptrack recording",
            "`heaptrack_print -f FILE --flamegraph-cost-type peak -F profile.folded",
        ),
        (b"\x04\x08{\x0d:\x0cversion", "a stackprof dump", "`stackprof --stackcollapse FILE |"),
        (b"Nettrace\x14\0\0\0!", "a .NET trace", "`dotnet-trace convert --format Speedscope"),
        (&etl, "an event trace of Windows", "no converter is known"),
        (b"tr\xfdP\0", "a Tracy capture", "`tracy-csvexport FILE`"),
        (b"gmon\x01\0\0\0", "gmon.out of gprof", "`gprof PROGRAM FILE`"),
        (b"\x81rforpl\xff\x08", "raw counters of LLVM", "`llvm-profdata merge"),
        (
            b"version: 1\ncreator: xdebug 3\nevents: Time\n\nfl=a\n",
            "a cachegrind file of Xdebug",
            "`php -d xdebug.mode=trace",
        ),
        (
            b"Version: 3.2.0\nFile format: 4\nTRACE START [2026-11-27]\n",
            "a function trace of Xdebug",
            "`php stackcollapse-xdebug.php FILE | otlp-profiles convert - --type wall:microseconds --scale 1",
        ),
    ] {
        let message = read(bytes).message().to_owned();
        assert!(message.starts_with(&format!("this is {what}")), "{what}: {message}");
        assert!(message.contains(command), "{what}: {message}");
    }
    assert!(read(b"JAVA PROFILE 1.0.2\0").message().starts_with("this is a Java heap dump"));
}
