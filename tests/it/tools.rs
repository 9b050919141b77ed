//! Reads formats of other tools: the facts that other readers found in real files hold, and broken files are
//! survived.

use crate::support::files;
use crate::support::{sized, some};
use std::collections::BTreeMap;

use otlp_profiles::format::SourceOptions;
use otlp_profiles::model::Value;
use otlp_profiles::{
    Certainty, ErrorKind, Format, Limits, Policy, Profiles, ReadOptions, WriteOptions, read, write,
};

fn testdata(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Reads bytes that must be detected as a format.
fn detected(bytes: &[u8], format: Format) -> Profiles {
    let reading = read(bytes, &ReadOptions::default()).unwrap();
    assert_eq!((reading.detected.format, reading.detected.certainty), (format, Certainty::Certain));
    assert!(!reading.detected.evidence.is_empty());
    reading.profiles
}

/// The number of samples and the sum of each type.
fn sums(profiles: &Profiles) -> BTreeMap<String, (usize, i128)> {
    let mut sums = BTreeMap::new();
    for profile in profiles {
        let types = profile.sample_types().iter().map(|kind| {
            let [name, unit] = [kind.name, kind.unit].map(|id| profiles.dictionary().text(id));
            format!("{name} {unit}")
        });
        for (name, sum) in types.zip(profile.sums()) {
            let entry = sums.entry(name).or_insert((0, 0));
            *entry = (entry.0 + profile.samples().len(), entry.1 + sum);
        }
    }
    sums
}

fn is(profiles: &Profiles, expected: &[(&str, usize, i128)]) {
    let expected = expected.iter().map(|(name, count, sum)| ((*name).to_owned(), (*count, *sum)));
    assert_eq!(sums(profiles), expected.collect());
}

/// The frames of the first sample, leaf first.
fn frames(profiles: &Profiles) -> Vec<String> {
    let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    let frames = profiles.dictionary().frames(sample.stack);
    frames.map(|f| format!("{f} {} {}", f.filename(), f.line())).collect()
}

#[test]
fn pprofs_old_forms_have_the_sums_that_go_finds() {
    let legacy = |name: &str| detected(&testdata(name), Format::PPROF_LEGACY);
    is(
        &legacy("go-heap.txt"),
        &[
            ("alloc_objects count", 77, 6_912_457),
            ("alloc_space bytes", 77, 285_436_847),
            ("inuse_objects count", 77, 3_132),
            ("inuse_space bytes", 77, 13_264_893),
        ],
    );
    is(
        &legacy("gperftools.heap"),
        &[
            ("alloc_objects count", 1, 2_000),
            ("alloc_space bytes", 1, 2_005_995),
            ("inuse_objects count", 1, 1_000),
            ("inuse_space bytes", 1, 1_002_998),
        ],
    );
    is(
        &legacy("go-mutex.txt"),
        &[("contentions count", 1, 199), ("delay nanoseconds", 1, 219_077_591)],
    );
    is(&legacy("go-goroutine.txt"), &[("goroutine count", 3, 9)]);
    is(&legacy("go-threadcreate.txt"), &[("threadcreate count", 1, 5)]);
    is(
        &legacy("gperftools-cpu.prof"),
        &[("samples count", 187, 187), ("cpu nanoseconds", 187, 935_000_000)],
    );
    let jemalloc = sums(&legacy("jemalloc.heap"));
    assert_eq!(jemalloc["inuse_space bytes"].0, 106, "a sample for each stack of the file");
    // Addresses are within their calls, and have the names that Go prints for people.
    let goroutines = legacy("go-goroutine.txt");
    let named = frames(&goroutines);
    assert_eq!(named[0], "0x437c95  0");
    assert!(
        named[3].starts_with("main.waitForever ") && named[3].ends_with("main.go 74"),
        "{named:?}"
    );
    let cpu = legacy("gperftools-cpu.prof");
    let sample = cpu.iter().next().unwrap().samples().get(0).unwrap();
    let leaf = cpu.dictionary().frames(sample.stack).next().unwrap();
    assert!(leaf.mapping_filename().ends_with("/gperf"), "{}", leaf.mapping_filename());
}

#[test]
fn perf_script_has_a_column_for_each_event() {
    let text = testdata("linux-perf-script.txt");
    let profiles = detected(&text, Format::PERF_SCRIPT);
    let all = sums(&profiles);
    assert!(all.contains_key("cpu nanoseconds"), "{all:?}");

    let text = b"# hostname : web-1\n\
a b 7/8 [003] 1.5: 64 page-faults/period=64/:\n\t 123a f+0x5e (/bin/a)\n\n\
x 7 2.5: sched:sched_switch: prev_comm=x prev_pid=7 ==> y=\n\tffff w+0x1 ([kernel.kallsyms])\n\t 10 [unknown] ([unknown])\n\n\
x 7/7 3.5: 10 cpu-clock:u:\n\t 98 in+0x1\n  a.c:3 (inlined)\n\t 98 out+0x1 (/bin/a)\n  b.c:9\n";
    let profiles = detected(text, Format::PERF_SCRIPT);
    is(
        &profiles,
        &[
            ("cpu nanoseconds", 1, 10),
            ("page-faults/period=64/ count", 1, 64),
            ("sched:sched_switch count", 1, 1),
        ],
    );
    let first = profiles.entries().next().unwrap();
    assert_eq!(first.resource_attributes().get_str("host.name"), Some("web-1"));
    let last = profiles.iter().find(|p| p.sums() == [10]).unwrap().samples().get(0).unwrap();
    let frames = profiles.dictionary().frames(last.stack);
    let said: Vec<_> = frames
        .map(|f| (f.to_string(), f.filename().to_owned(), f.line(), f.is_inlined()))
        .collect();
    assert_eq!(
        said,
        [("in".into(), "a.c".into(), 3, true), ("out".into(), "b.c".into(), 9, false)]
    );
    // Times are absolute if the boot time is known.
    let source = SourceOptions::default().boot_time(1_000).trace_fields(true);
    let reading = read(text, &ReadOptions::default().source(source)).unwrap();
    let sample = reading.profiles.iter().next().unwrap().samples().get(0).unwrap();
    assert_eq!(sample.timestamps_unix_nano, [1_500_001_000]);
    assert!(reading.findings.is_empty());
    let traced =
        reading.profiles.iter().find(|p| p.sums() == [1]).unwrap().samples().get(0).unwrap();
    let traced = reading.profiles.dictionary().resolve(traced.attributes);
    assert_eq!(traced.get("prev_pid").and_then(|pid| pid.as_i64()), Some(7));
    let findings = read(text, &Default::default()).unwrap().findings;
    assert_eq!((findings[0].code, findings[0].count), ("time.no_anchor", 3));
}

#[test]
fn perf_script_has_modules_of_the_kernel_however_they_are_packed() {
    let kinds = ["[kernel.kallsyms]", "/lib/a.ko", "/lib/a.ko.xz", "/lib/a.ko.zst", "/lib/a.kon"];
    let kinds = kinds.map(|binary| {
        let text = format!("x 7 2.5: 1 cpu-clock:\n\tffff w+0x1 ({binary})\n\n");
        let profiles = detected(text.as_bytes(), Format::PERF_SCRIPT);
        let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
        profiles
            .dictionary()
            .frames(sample.stack)
            .next()
            .unwrap()
            .frame_type()
            .unwrap_or_default()
            .to_owned()
    });
    assert_eq!(kinds, ["kernel", "kernel", "kernel", "kernel", ""]);
}

#[test]
fn perf_script_is_read_whatever_fields_were_asked_for() {
    let frames = "\t 123a f+0x5e (/bin/a)\n\t 98 main+0x1 (/bin/a (deleted))\n\n";
    let with = |event: &str| event.replace(" | ", &format!("\n{frames}")) + "\n" + frames;
    let alone =
        "   dd 7 2.5: 3 cycles: 7fa68b1f2d84 f+0x4 (/bin/a)\n   x y 8 2.6: 4 cycles: 1 g (b)\n";
    let bare =
        with("java 7 cycles: | java 8 cycles:").replace(['\t', ' '], " ").replace("\n ", "\n");
    let blanks = with("a 7 cycles: | a 8 cycles:").replace('\t', "        ");
    for (text, name, samples, sum) in [
        (with("a 7/7 [001] cycles: | a 7/8 [001] cycles:"), "cycles", 2, 2),
        (with("a 7 5 cycles: | a b 8 6 cycles:"), "cycles", 2, 11),
        (with("a 2.5: 3 cycles: | b 2.6: 4 cycles:"), "cycles", 2, 7),
        (with("7 2.5: cycles: | 8 2.6: cycles:"), "cycles", 2, 2),
        (with("a 7 2.5: | a 8 2.6:"), "samples", 2, 2),
        (with("a 7 2.5: cpu-clock: | a 7 2.6: cpu-clock:"), "cpu-clock", 1, 2),
        (with("a 7 2.5: 9 cpu-clock: | a 7 2.6: 9 cpu-clock:"), "cpu", 1, 18),
        (alone.to_owned(), "cycles", 2, 7),
        (alone.replace("   ", "").replace("a68b1f2d84", "1          7fa68b1f2d84"), "cycles", 2, 7),
        (bare, "cycles", 2, 2),
        (blanks, "cycles", 2, 2),
    ] {
        let profiles = detected(text.as_bytes(), Format::PERF_SCRIPT);
        let unit = if name == "cpu" { "nanoseconds" } else { "count" };
        let resources = profiles.entries().count();
        let expected = format!("{name} {unit}");
        let all = sums(&profiles);
        assert_eq!(all.keys().collect::<Vec<_>>(), [&expected], "{text}");
        let total: i128 = profiles.iter().map(|p| p.sums()[0]).sum();
        let rows: usize = profiles.iter().map(|p| p.samples().len()).sum();
        assert_eq!((total, rows, resources), (sum, samples, 1), "{text}");
        let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
        let leaf = profiles.dictionary().frames(sample.stack).next().unwrap();
        assert_eq!((leaf.to_string(), leaf.mapping_filename()), ("f".into(), "/bin/a"), "{text}");
    }
}

#[test]
fn the_date_of_a_recording_is_when_it_ended() {
    let text = b"# captured on: Fri Nov 20 10:25:30 2026\n\
a 7 2126.500000: 3 c:\n\t12 f (b)\n\na 7 2126.582903: 3 c:\n\t12 f (b)\n\n";
    let times = |options: &ReadOptions| {
        let reading = read(text, options).unwrap();
        let samples = reading.profiles.iter().next().unwrap().samples().iter();
        let times: Vec<u64> = samples.flat_map(|s| s.timestamps_unix_nano.to_vec()).collect();
        (times, reading.findings.iter().map(|finding| finding.code).collect::<Vec<_>>())
    };
    let end = 1_795_170_330_000_000_000;
    assert_eq!(times(&Default::default()), (vec![end - 82_903_000, end], vec!["time.coarse"]));
    let boot = ReadOptions::default().source(SourceOptions::default().boot_time(1));
    assert_eq!(times(&boot), (vec![2_126_500_000_001, 2_126_582_903_001], vec![]));
}

#[test]
fn pprofs_rarer_old_forms_are_read_as_go_reads_them() {
    // Nothing was freed, so allocated memory equals memory in use.
    let heap = "heap profile: 3: 9 [3: 9] @ heapprofile\n1: 4 [1: 4] @ 0x12\n2: 5 [2: 5] @ 0x15\n\
                --- Memory map: ---\n\tsource=/home\n  00000010-00000014: $source/a\n\n";
    for text in [heap.to_owned(), heap.replace("heapprofile", "growthz")] {
        let profiles = detected(text.as_bytes(), Format::PPROF_LEGACY);
        is(&profiles, &[("objects count", 2, 3), ("space bytes", 2, 9)]);
        let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
        let leaf = profiles.dictionary().frames(sample.stack).next().unwrap();
        assert_eq!((leaf.address(), leaf.mapping_filename()), (0x11, "/home/a"));
    }
    let threads = "--- threadz 1 ---\n\n--- Thread 7f79 (name: main/1) stack: ---\n  PC:  0x20: f(arg *)\n  0x20: g\n  0x30: main\n\
                   --- Thread 7f80 (name: a/2) stack: ---\n  PC: 0x20 0x40\n      creator: 0x50\n--- Thread 7f81 (name: b/3) stack: ---\n  [same as previous thread]\n";
    let profiles = detected(threads.as_bytes(), Format::PPROF_LEGACY);
    is(&profiles, &[("thread count", 2, 3)]);
    let stacks: Vec<Vec<u64>> = profiles
        .iter()
        .next()
        .unwrap()
        .samples()
        .iter()
        .map(|sample| {
            profiles.dictionary().frames(sample.stack).map(|frame| frame.address()).collect()
        })
        .collect();
    assert_eq!(stacks, [[0x20, 0x2f].to_vec(), [0x20, 0x3f, 0x4f].to_vec()]);
}

/// Path names may refer to variables. Each of these lines expands to 200 times the one before.
#[test]
fn names_in_lists_of_mappings_take_no_memory_out_of_proportion() {
    let names = (1..9).map(|at| format!("a{at}={}\n", format!("$a{}", at - 1).repeat(200)));
    let text = format!(
        "heap profile: 1: 4 [1: 4] @ heapprofile\n1: 4 [1: 4] @ 0x12\nMAPPED_LIBRARIES:\na0=/bin\n{}\
         10-20 r-xp 00000000 08:02 1 $a0/server\n30-40 r-xp 00000000 08:02 1 $a8\n",
        names.collect::<String>()
    );
    let profiles = detected(text.as_bytes(), Format::PPROF_LEGACY);
    let dictionary = profiles.dictionary();
    let names = dictionary.mappings().rows()[1..].iter().map(|row| dictionary.text(row.filename));
    let names: Vec<&str> = names.collect();
    assert_eq!((names[0], names.len()), ("/bin/server", 2));
    assert!(names[1].len() <= 64 << 10, "{}", names[1].len());
}

/// The list is sorted by address, and a library may be below the program.
#[test]
fn mappings_that_no_address_hits_stay_where_pprof_has_them() {
    let text = "heap profile: 1: 4 [1: 4] @ heapprofile\n1: 4 [1: 4] @ 0x3001\n\nMAPPED_LIBRARIES:\n\
                1000-2000 r-xp 00000000 08:02 1 /lib/libm-2.15.so\n2000-2800 r--p 00000000 08:02 1 /lib/data\n\
                3000-4000 r-xp 00000000 08:02 1 /lib/libc.so.6\n5000-6000 r-xp 00001000 08:02 1 /bin/server\n\
                7000-8000 r-xp 00000000 00:00 0 [vdso]\n";
    let names = |profiles: &Profiles| -> Vec<String> {
        let dictionary = profiles.dictionary();
        let rows = dictionary.mappings().rows()[1..].iter();
        rows.map(|mapping| dictionary.text(mapping.filename).to_owned()).collect()
    };
    let listed = ["/bin/server", "/lib/libm-2.15.so", "/lib/libc.so.6", "[vdso]"];
    let profiles = detected(text.as_bytes(), Format::PPROF_LEGACY);
    assert_eq!(names(&profiles), listed);
    let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    let leaf = profiles.dictionary().frames(sample.stack).next().unwrap();
    assert_eq!((leaf.address(), leaf.mapping_filename()), (0x3000, "/lib/libc.so.6"));

    let pprof = write(&profiles, Format::PPROF, &WriteOptions::default()).unwrap();
    assert_eq!(names(&read(&pprof.payload, &Default::default()).unwrap().profiles), listed);
}

/// Symbols in Java's form, listed after the samples.
const SYMBOLS: &str = "\n 0x0000003 com.example.Server.run (Server.java:39)\n 0x0000004 GC\n\
    0x5 memcpy (/usr/lib/jvm/libjvm.so)\n 0x6 generated stub/JIT of 4\n 0x7 com.example.Init.<init> (Unknown:-1)\n";

fn java_heap() -> String {
    format!(
        "--- heapz 1 ---\nformat = java\nresolution=bytes\n 7048  1 @ 0x3 0x4\n  4752 9 @ 0x5 0x99\n{SYMBOLS}"
    )
}

fn java_contention() -> String {
    format!(
        "--- contentionz 1 ---\nformat=java\nresolution = microseconds\nsampling period = 100\n\
         ms since reset = 6000\n 14 1 @ 0x6 0x7\n 2 3 @ 0x3\n{SYMBOLS}"
    )
}

/// A CPU profile of Java, in words of 8 or 4 bytes.
fn java_cpu(is_wide: bool) -> Vec<u8> {
    let words = [0u64, 3, 1, 10_000, 0, 2, 2, 3, 4, 1, 1, 5, 0, 1, 0];
    let words: Vec<u8> = match is_wide {
        true => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        false => words.iter().flat_map(|word| (*word as u32).to_be_bytes()).collect(),
    };
    [&words, SYMBOLS.as_bytes()].concat()
}

#[test]
fn javas_old_forms_are_read_with_their_symbols() {
    let heap = java_heap();
    let profiles = detected(heap.as_bytes(), Format::PPROF_LEGACY);
    // Scaled like Go scales such samples, by Java's rate.
    is(
        &profiles,
        &[("inuse_objects count", 2, 74 + 8_941), ("inuse_space bytes", 2, 527_819 + 4_720_968)],
    );
    assert_eq!(frames(&profiles), ["com.example.Server.run Server.java 39", "GC  0"]);
    let second = profiles.iter().next().unwrap().samples().get(1).unwrap();
    let second = profiles.dictionary().frames(second.stack);
    let second: Vec<_> =
        second.map(|f| format!("{f} {} {:#x}", f.filename(), f.address())).collect();
    assert_eq!(second, ["memcpy libjvm.so 0x0", "0x99  0x99"]);

    let contention = java_contention();
    let profiles = detected(contention.as_bytes(), Format::PPROF_LEGACY);
    is(&profiles, &[("contentions count", 2, 400), ("delay microseconds", 2, 1_600)]);
    let profile = profiles.iter().next().unwrap();
    assert_eq!((profile.period(), profile.duration_nanos()), (100, 6_000_000_000));
    assert_eq!(frames(&profiles), ["STUB  0", "com.example.Init.<init> Unknown 0"]);

    for cpu in [java_cpu(true), java_cpu(false)] {
        let profiles = detected(&cpu, Format::PPROF_LEGACY);
        is(&profiles, &[("samples count", 2, 3), ("cpu nanoseconds", 2, 30_000_000)]);
        assert_eq!(frames(&profiles), ["com.example.Server.run Server.java 39", "GC  0"]);
    }
    for (wrong, message) in [
        (heap.replace("7048  1", "7048 0"), "line 4: the sample has 7048 bytes in 0 objects"),
        (heap.replace("7048  1", "7048"), "line 4: a sample needs two numbers"),
        (heap.replace("@ 0x3", "@ x3y"), "line 4: \"x3y\" is not an address"),
        (
            heap.replace("= java", "= cobol"),
            "line 2: expected a sample or `NAME = VALUE`, found \"format = cobol\"",
        ),
        (
            contention.replace(" 14 1", " 9223372036854775807 1"),
            "line 6: 9223372036854775807 times 100 overflows 64 bits",
        ),
    ] {
        let error = read(wrong.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn the_profilers_own_frame_is_left_out_of_many_stacks() {
    let file = |samples: u64| {
        let mut words = vec![0, 3, 0, 10_000, 0];
        for at in 0..samples {
            words.extend([1, 3, 0x1000 + at, 0x99, 0x2000 + at]);
        }
        words.extend([0, 1, 0]);
        words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
    };
    for (samples, depth, codes) in [(31, 3, vec![]), (32, 2, vec!["stack.handler"])] {
        let reading = read(&file(samples), &ReadOptions::default()).unwrap();
        let found: Vec<_> = reading.findings.iter().map(|finding| finding.code).collect();
        let sample = reading.profiles.iter().next().unwrap().samples().get(0).unwrap();
        assert_eq!(reading.profiles.dictionary().frames(sample.stack).count(), depth);
        assert_eq!(found, codes);
    }
}

#[test]
fn speedscope_is_read_and_written() {
    let profiles = detected(&testdata("speedscope.json"), Format::SPEEDSCOPE);
    let each: Vec<_> =
        profiles.iter().map(|p| (p.samples().len(), p.sums()[0], p.duration_nanos())).collect();
    assert_eq!(
        each,
        [
            (1, 10_000_000, 10_000_000),
            (134, 1_340_000_000, 1_340_000_000),
            (145, 1_450_000_000, 1_450_000_000),
            (34, 340_000_000, 340_000_000),
        ]
    );
    let sample = profiles.iter().nth(1).unwrap().samples().get(0).unwrap();
    let attributes = profiles.dictionary().resolve(sample.attributes);
    assert_eq!(attributes.get_str("thread.name"), Some("t-cpu"));
    let written = write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap();
    let again = detected(&written.payload, Format::SPEEDSCOPE);
    assert_eq!(sums(&again), sums(&profiles));
    assert_eq!(frames(&again), frames(&profiles));
    let twice = write(&again, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap();
    assert_eq!(twice.payload, written.payload);

    let evented = detected(&testdata("speedscope-evented.json"), Format::SPEEDSCOPE);
    assert_eq!(evented.iter().next().unwrap().sums(), [39_556_789]);

    let go = read(&testdata("go-cpu-labels.pb.gz"), &Default::default()).unwrap().profiles;
    let written = write(&go, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap();
    is(
        &detected(&written.payload, Format::SPEEDSCOPE),
        &[("samples count", 143, 163), ("cpu nanoseconds", 143, 1_630_000_000)],
    );
}

#[test]
fn frames_that_speedscopes_events_leave_open_are_said() {
    for (events, open, sum) in [
        (r#"{"type":"O","frame":0,"at":1}"#, 1, 9),
        (r#"{"type":"O","frame":0,"at":1},{"type":"O","frame":0,"at":2}"#, 2, 9),
        (
            r#"{"type":"O","frame":0,"at":1},{"type":"O","frame":0,"at":2},{"type":"C","frame":0,"at":10}"#,
            1,
            9,
        ),
        (r#"{"type":"O","frame":0,"at":1},{"type":"C","frame":0,"at":4}"#, 0, 3),
    ] {
        let file = format!(
            r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"f"}}]}},"profiles":[{{"type":"evented","unit":"none","endValue":10,"events":[{events}]}}]}}"#
        );
        let reading = read(file.as_bytes(), &Default::default()).unwrap();
        assert_eq!(reading.profiles.iter().next().unwrap().sums(), [sum]);
        let said = reading.findings.iter().find(|finding| finding.code == "frame.unclosed");
        assert_eq!(said.map_or(0, |finding| finding.count), open, "{events}");
    }
}

/// Go prints such profiles for a program without contention, and if no thread was created.
#[test]
fn a_profile_without_samples_keeps_what_it_says() {
    let types = |bytes: &[u8], format| {
        let profiles = detected(bytes, format);
        let written = write(&profiles, Format::PPROF, &WriteOptions::default()).unwrap();
        assert!(read(&written.payload, &Default::default()).is_ok());
        sums(&profiles).into_keys().collect::<Vec<_>>()
    };
    let mutex = b"--- mutex:\ncycles/second=1000000000\nsampling period=1\n";
    let threads = b"threadcreate profile: total 0\n";
    assert_eq!(types(mutex, Format::PPROF_LEGACY), ["contentions count", "delay nanoseconds"]);
    assert_eq!(types(threads, Format::PPROF_LEGACY), ["threadcreate count"]);
    let empty = FILE.replace("[[0],[0,1]]", "[]").replace("[1,2]", "[]");
    assert_eq!(detected(empty.as_bytes(), Format::SPEEDSCOPE).iter().count(), 2);
}

#[test]
fn what_perf_prints_besides_samples_is_passed_over_and_said() {
    let text = "ls 10 [000] 1.000001: PERF_RECORD_COMM: ls:10/10\n\
        ls 10 [000] U 1.000002: 10 cycles: \n\t7f1 main+0x10 (/bin/ls+0x7f1)\n\n\
        ls 10 [000] 1.000003: PERF_RECORD_LOST lost 12\n\n\
        ls 10 [000] 1.000004: 1 cycles:  7f1a main+0x10 (/bin/ls) => 7f2b foo+0x0 (/bin/ls)\n\
        \x20 ls 10 [000] 1.000003: PERF_RECORD_LOST lost 12\n\
        ls 10 [000] 1.000005: 1 cycles: \n\t12 fib+0x1\n\t12 fib+0x1\n\n";
    let reading = read(text.as_bytes(), &Default::default()).unwrap();
    is(&reading.profiles, &[("cycles count", 3, 12)]);
    let left = reading.findings.iter().find(|found| found.code == "source.left_out").unwrap();
    assert_eq!(left.count, 4);
    assert!(left.message.contains("PERF_RECORD_COMM"), "{}", left.message);
    let dictionary = reading.profiles.dictionary();
    let samples = reading.profiles.iter().next().unwrap().samples();
    let frames = |row| {
        let frames = dictionary.frames(samples.get(row).unwrap().stack);
        frames.map(|f| format!("{f} {}", f.mapping_filename())).collect::<Vec<_>>()
    };
    assert_eq!(frames(0), ["main /bin/ls"]);
    assert_eq!(frames(1), ["main /bin/ls"]);
    assert_eq!(frames(2), ["fib ", "fib "]);
}

#[test]
fn goroutines_have_the_labels_that_go_prints() {
    let text = |labels: &str| {
        format!(
            "goroutine profile: total 3\n2 @ 0x12 0x34\n# labels: {labels}\n#\t0x11\tf+0x1\t/a.go:1\n\n1 @ 0x12\n"
        )
    };
    let profiles =
        detected(text("{\"k\":\"v\", \"a\":\"\\tb \\\"c\\\"\"}").as_bytes(), Format::PPROF_LEGACY);
    let profile = profiles.iter().next().unwrap();
    let labels = |row| {
        let sample = profile.samples().get(row).unwrap();
        let attributes = sample.attributes.iter();
        let said = attributes.map(|id| {
            let attribute = profiles.dictionary().attribute(*id).unwrap();
            let Value::String(value) = attribute.value else { panic!("{attribute:?}") };
            [attribute.key, value].map(|text| profiles.dictionary().text(text).to_owned())
        });
        let mut said: Vec<_> = said.collect();
        said.sort();
        said
    };
    assert_eq!(sums(&profiles)["goroutine count"], (2, 3));
    assert_eq!(labels(0), [["a", "\tb \"c\""], ["k", "v"]]);
    assert!(labels(1).is_empty());
    let broken = read(text("{\"k\"}").as_bytes(), &Default::default()).unwrap_err();
    assert_eq!(
        broken.to_string(),
        "line 2: expected labels, `{\"KEY\":\"VALUE\", …}`, found \"{\\\"k\\\"}\""
    );
}

#[test]
fn values_of_speedscope_are_brought_to_the_unit_that_is_asked_for() {
    let file = FILE.replace("\"unit\":\"none\"", "\"unit\":\"milliseconds\",\"endValue\":4");
    let with = |unit: &str| {
        let source = SourceOptions::default().sample_type("cpu", unit);
        let reading = read(file.as_bytes(), &ReadOptions::default().source(source));
        reading.map(|reading| {
            let first = reading.profiles.iter().next().unwrap().clone();
            (first.sums(), first.duration_nanos())
        })
    };
    assert_eq!(with("nanoseconds").unwrap(), (vec![3_000_000], 4_000_000));
    assert_eq!(with("microseconds").unwrap(), (vec![3_000], 4_000_000));
    // Values without a unit of speedscope stay unchanged.
    assert_eq!(with("ms").unwrap(), (vec![3], 4_000_000));
    // The second profile is in seconds.
    assert_eq!(with("milliseconds").unwrap(), (vec![3], 4_000_000));
    for (unit, said) in [("seconds", "milliseconds"), ("bytes", "milliseconds")] {
        let error = with(unit).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOption);
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// A file written unchanged loses nothing. Data without a field is reported.
#[test]
fn what_speedscope_cannot_say_is_said() {
    let codes = |file: &str| {
        let reading = read(file.as_bytes(), &Default::default()).unwrap();
        let written = write(&reading.profiles, Format::SPEEDSCOPE, &Default::default()).unwrap();
        let read: Vec<_> = reading.findings.iter().map(|found| found.code).collect();
        let lost: Vec<_> = written.losses.iter().map(|loss| loss.code.as_str()).collect();
        (read, lost)
    };
    let file = |profile: &str| {
        let schema = "https://www.speedscope.app/file-format-schema.json";
        format!(
            r#"{{"$schema":"{schema}","shared":{{"frames":[{{"name":"a"}}]}},"profiles":[{{{profile}}}]}}"#
        )
    };
    let sampled = |more: &str| {
        file(&format!(
            r#""type":"sampled","name":"n","unit":"seconds","samples":[[0]],"weights":[2]{more}"#
        ))
    };
    let (nothing, left): (Vec<&str>, _) = (Vec::new(), vec!["source.left_out"]);
    assert_eq!(codes(&sampled("")), (nothing.clone(), nothing.clone()));
    assert_eq!(codes(&sampled(",\"endValue\":2")).1, nothing);
    assert_eq!(codes(&sampled(",\"endValue\":9")).1, ["time.dropped"]);
    assert_eq!(codes(&sampled(",\"startValue\":1,\"endValue\":3")), (left.clone(), nothing));
    let named = sampled("").replacen('{', "{\"name\":\"x\",", 1);
    assert_eq!(codes(&named).0, left);
    let event = |kind: &str, at: u8| format!(r#"{{"type":"{kind}","frame":0,"at":{at}}}"#);
    let evented = |last: u8| {
        let events = [event("O", 1), event("C", last)].join(",");
        file(&format!(r#""type":"evented","unit":"none","endValue":5,"events":[{events}]"#))
    };
    assert_eq!(codes(&evented(1)).0, ["source.left_out"]);
    assert_eq!(codes(&evented(2)).0, [""; 0]);
    let events = [event("O", 1), event("O", 1), event("C", 1), event("C", 1)].join(",");
    let nested = file(&format!(r#""type":"evented","unit":"none","events":[{events}]"#));
    let findings = read(nested.as_bytes(), &Default::default()).unwrap().findings;
    assert_eq!(findings.iter().map(|found| found.count).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_line_of_json_is_cut_wherever_the_look_at_it_ends() {
    for padding in some(0..40) {
        let numbers = "[1, 22, 333], ".repeat(500);
        let file = format!(
            "{}, \"{}\": [{numbers}1]}}",
            FILE.strip_suffix('}').unwrap(),
            "x".repeat(padding)
        );
        detected(file.as_bytes(), Format::SPEEDSCOPE);
        let json =
            format!("{{\"resourceProfiles\": [], \"x{}\": [{numbers}1]}}\n", "x".repeat(padding));
        assert_eq!(
            otlp_profiles::detect(json.as_bytes(), &Default::default()).unwrap().format,
            Format::OTLP_JSON
        );
    }
    // The same after anything that may precede a text.
    for padding in some(0..40) {
        let numbers = "1, 22, 333, ".repeat(6_000);
        let name = "x".repeat(padding);
        for before in ["\u{feff}", " ", "\n"] {
            let json = format!("{before}{{\"resourceProfiles\": [], \"{name}\": [{numbers}1]}}");
            let detected = otlp_profiles::detect(json.as_bytes(), &Default::default()).unwrap();
            assert_eq!(detected.format, Format::OTLP_JSON);
        }
    }
    // A frame may be as long.
    let folded = format!("[1234];{} 3\n", "main;".repeat(2_000));
    assert_eq!(sums(&detected(folded.as_bytes(), Format::FOLDED))["samples count"], (1, 3));
    let longer = format!("main;{} 3", "x".repeat(70_000));
    let error = read(longer.as_bytes(), &Default::default()).unwrap_err();
    assert!(error.to_string().contains("if it is folded stacks"), "{error}");
}

#[test]
fn speedscope_gets_no_negative_weights() {
    let profiles = read(b"a;b -5\na 3\nc 0\n", &Default::default()).unwrap().profiles;
    let written = write(&profiles, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap();
    let text = String::from_utf8(written.payload).unwrap();
    assert!(text.contains(r#""endValue":3,"samples":[[0],[1]],"weights":[3,0]"#), "{text}");
    let loss = written.losses.get("value.negative_dropped").unwrap();
    assert_eq!((loss.count, &loss.first[..]), (1, &["samples".to_owned()][..]));
}

#[test]
fn speedscope_has_a_profile_for_each_thread_where_that_is_wanted() {
    let mut builder = otlp_profiles::Builder::new();
    let cpu = builder.profile("cpu", "ms");
    for (name, value) in [("a", 5), ("b", 7), ("a", 11)] {
        let stack = otlp_profiles::builder::root_first(["main", name]);
        builder.sample(cpu, stack).value(value).attr("thread.name", name);
    }
    let profiles = builder.finish().unwrap();
    let text = |options: &WriteOptions| {
        String::from_utf8(write(&profiles, Format::SPEEDSCOPE, options).unwrap().payload).unwrap()
    };
    let by_thread = WriteOptions::default().by_thread(true);
    let lost = |options: &WriteOptions| {
        let losses = write(&profiles, Format::SPEEDSCOPE, options).unwrap().losses;
        losses.get("attr.sample.dropped").map_or(0, |loss| loss.count)
    };
    assert_eq!((lost(&by_thread), lost(&WriteOptions::default())), (0, 2));
    let both = text(&by_thread);
    assert!(both.contains(r#""name":"cpu, thread a","unit":"milliseconds","startValue":0,"endValue":16,"samples":[[0,1]],"weights":[16]"#), "{both}");
    assert!(both.contains(r#""name":"cpu, thread b""#), "{both}");
    assert!(text(&WriteOptions::default()).contains(r#""weights":[16,7]"#));
}

#[test]
fn what_speedscope_says_finer_than_the_model_is_rounded_and_said() {
    let codes = |from: &str, to: &str| {
        assert!(FILE.contains(from));
        let file = FILE.replace(from, to);
        let reading = read(file.as_bytes(), &Default::default()).unwrap();
        let codes: Vec<_> =
            reading.findings.iter().map(|found| (found.code, found.count)).collect();
        let sums: Vec<_> = reading.profiles.iter().flat_map(|profile| profile.sums()).collect();
        (codes, sums)
    };
    let (anchor, open) = (("time.no_anchor", 1), ("frame.unclosed", 1));
    assert_eq!(codes("[1,2]", "[1e0,2.0]"), (vec![anchor, open], vec![3, 2_500_000_000]));
    assert_eq!(
        codes("[1,2]", "[0.4,1.5]"),
        (vec![("value.rounded", 2), anchor, open], vec![2, 2_500_000_000])
    );
    assert_eq!(
        codes("\"at\":1.5", "\"at\":1.50000000049"),
        (vec![anchor, ("value.rounded", 1), open], vec![3, 2_500_000_000])
    );
}

const FILE: &str = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[{"type":"sampled","unit":"none","name":"n","samples":[[0],[0,1]],"weights":[1,2]},{"type":"evented","unit":"seconds","endValue":3,"events":[{"type":"O","frame":0,"at":0.5},{"type":"O","frame":1,"at":1},{"type":"C","frame":1,"at":1.5}]}],"shared":{"frames":[{"name":"a"},{"name":"b","file":"f","line":3,"col":4}]}}"#;

#[test]
fn what_speedscope_says_of_the_file_itself_is_left_out_with_a_finding() {
    let left = |members: &str| {
        let file = FILE.replacen('{', &format!("{{{members},"), 1);
        let findings = read(file.as_bytes(), &Default::default()).unwrap().findings;
        let left = findings.iter().find(|found| found.code == "source.left_out");
        left.map_or((0, String::new()), |found| (found.count, found.place.clone()))
    };
    let nothing = r#""name":"","exporter":"otlp-profiles","activeProfileIndex":0"#;
    assert_eq!(left(nothing), (0, String::new()));
    let said = r#""name":"n","exporter":"py-spy","activeProfileIndex":1"#;
    assert_eq!(left(said), (2, "name".to_owned()));
    let beyond = r#""activeProfileIndex":7"#;
    assert_eq!(left(beyond), (1, "activeProfileIndex".to_owned()));
}

#[test]
fn types_and_the_default_type_come_back_from_speedscope() {
    let reading = read(FILE.as_bytes(), &Default::default()).unwrap();
    let again = |profiles: &Profiles| {
        let written = write(profiles, Format::SPEEDSCOPE, &WriteOptions::default()).unwrap();
        assert!(written.losses.get("sample_type.dropped").is_none());
        read(&written.payload, &Default::default()).unwrap().profiles
    };
    assert_eq!(again(&reading.profiles).sample_types(), reading.profiles.sample_types());
    let types = SourceOptions::default().sample_type("idle", "count");
    let idle = read(FILE.as_bytes(), &ReadOptions::default().source(types)).unwrap().profiles;
    assert_eq!(again(&idle).sample_types(), idle.sample_types());

    let heap = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    let heap = read(&heap, &Default::default()).unwrap().profiles;
    let back = again(&heap);
    assert_eq!(back.sample_types(), heap.sample_types());
    assert_eq!(back.default_sample_type().unwrap().name, "inuse_space");
}

#[test]
fn what_is_broken_is_said_with_its_place() {
    is(
        &detected(FILE.as_bytes(), Format::SPEEDSCOPE),
        &[("samples count", 2, 3), ("wall nanoseconds", 3, 2_500_000_000)],
    );
    let perf = "a 1 2.5: 3 c:\n\t12 f (b)\n";
    let heap = "heap profile: 1: 2 [1: 2] @ heap/512\n1: 2 [1: 2] @ 0x12\n";
    for (good, from, to, place, message) in [
        (
            FILE,
            "[0,1]",
            "[0,2]",
            "profiles[0].samples[1]",
            "index 2 is out of range: there are 2 frames",
        ),
        (FILE, "[1,2]", "[1]", "profiles[0].weights", "sample 1 has no weight"),
        (
            FILE,
            "[1,2]",
            "[1,2,3]",
            "profiles[0].weights",
            "the profile has 2 samples and more weights",
        ),
        (FILE, "\"seconds\"", "\"weeks\"", "profiles[1].unit", "speedscope has no unit \"weeks\""),
        (
            FILE,
            "\"C\",\"frame\":1",
            "\"C\",\"frame\":0",
            "profiles[1].events[2]",
            "the event closes frame 0",
        ),
        (FILE, "\"at\":1}", "\"at\":0}", "profiles[1].events[1]", "the time 0 is earlier than"),
        (FILE, "[1,2]", "[1,9e99]", "profiles[0]", "the weight 9e99 overflows"),
        (perf, "2.5:", "2,5:", "line 1", "expected the first line of an event"),
        (perf, "12 f", "xy f", "line 2", "expected `ADDRESS SYMBOL"),
        (perf, " 3 ", " 99999999999999999999 ", "line 1", "overflows 64 bits"),
        (heap, "0x12", "0xgg", "line 2", "is not an address"),
        (heap, "heap/512", "heap/x", "line 1", "is not an integer"),
        (heap, "[1: 2] @ 0x", "[0: 2] @ 0x", "line 2", "bytes in 0 objects"),
        (
            "--- mutex:\ncycles/second=5\n1 1 @ 0x1\n",
            "second=5",
            "second=x",
            "line 2",
            "is not an integer",
        ),
        ("goroutine profile: total 1\n1 @ 0x1\n", "1 @", "@", "line 2", "expected a sample"),
    ] {
        let broken = good.replacen(from, to, 1);
        let format = match good {
            FILE => Format::SPEEDSCOPE,
            good if good == perf => Format::PERF_SCRIPT,
            _ => Format::PPROF_LEGACY,
        };
        let options = ReadOptions::default().format(format);
        let error = read(broken.as_bytes(), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{broken}");
        assert_eq!(error.place(), place, "{broken}: {error}");
        assert!(error.message().contains(message), "{broken}: {error}");
    }
    let broken = perf.replace("12 f", "xy f");
    let reading = read(broken.as_bytes(), &ReadOptions::default().policy(Policy::Repair)).unwrap();
    assert_eq!(reading.findings[0].code, "text.bad_line");
}

#[test]
fn a_hundred_thousand_of_anything_take_linear_time() {
    let many = sized(100_000);
    let rows = |row: fn(usize) -> String| (0..many).map(row).collect::<Vec<_>>();
    let perf =
        rows(|at| format!("a {at}/{at} 2.{at}: 3 e{at}:\n\t{at:x} f{at} (b{at})\n\n")).concat();
    let deep = format!("a 1 2.5: 3 c:\n{}", "\t12 f (b)\n".repeat(many));
    let inlined = format!("a 1 2.5: 3 c:\n{}", "\t12 f\n  a.c:1 (inlined)\n".repeat(many));
    let heap =
        rows(|at| format!("1: 2 [1: 2] @ {at:#x}\n#\t{at:#x}\tf{at}+0x1\ta.go:{at}\n")).concat();
    let heap = format!("heap profile: 1: 2 [1: 2] @ heap/512\n{heap}");
    let frames = rows(|at| format!("{{\"name\":\"f{at}\"}}")).join(",");
    let samples = rows(|at| format!("[{at}]")).join(",");
    let scope = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{frames}]}},"profiles":[{{"type":"sampled","unit":"none","samples":[{samples}],"weights":null}}]}}"#
    );
    for (text, samples) in [(perf, many), (deep, 1), (inlined, 1), (heap, many), (scope, many)] {
        let options = ReadOptions::default().limits(Limits::unlimited());
        let profiles = read(text.as_bytes(), &options).unwrap().profiles;
        assert_eq!(profiles.iter().map(|p| p.samples().len()).sum::<usize>(), samples);
        assert!(
            !write(&profiles, Format::SPEEDSCOPE, &Default::default()).unwrap().payload.is_empty()
        );
    }
    // The labels of one sample, one of which is its thread.
    let mut builder = otlp_profiles::Builder::with_limits(
        Limits::unlimited(),
        otlp_profiles::builder::WhenFull::Refuse,
    );
    let cpu = builder.profile("cpu", "ms");
    let mut sample = builder.sample(cpu, otlp_profiles::builder::root_first(["main"])).value(1);
    for at in 0..many / 5 {
        sample = sample.attr(format!("k{at}"), "");
    }
    sample.attr("thread.name", "t");
    let options = WriteOptions::default().by_thread(true);
    let written = write(&builder.finish().unwrap(), Format::SPEEDSCOPE, &options).unwrap();
    let lost = written.losses.get("attr.sample.dropped").map(|loss| loss.count);
    assert_eq!(lost, Some(many as u64 / 5));
    // Frames that only open would create a stack of every depth, which exceeds a limit.
    let events = rows(|at| format!("{{\"type\":\"O\",\"frame\":0,\"at\":{at}}}")).join(",");
    let nested = format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"f"}}]}},"profiles":[{{"type":"evented","unit":"none","events":[{events}]}}]}}"#
    );
    assert_eq!(read(nested.as_bytes(), &Default::default()).unwrap_err().kind(), ErrorKind::Limit);
}

/// A file with any byte changed, or truncated anywhere, never causes a panic.
#[test]
fn broken_variants_are_survived() {
    let files: [(Format, Vec<u8>); 8] = [
        (Format::PPROF_LEGACY, java_heap().into()),
        (Format::PPROF_LEGACY, java_contention().into()),
        (Format::PPROF_LEGACY, java_cpu(true)),
        (Format::SPEEDSCOPE, FILE.into()),
        (Format::PERF_SCRIPT, b"# a : b\na b 7/8 [003] 1.5: 64 e:u: k=v\n\t12 f+0x5e (/b)\n  a.c:3 (inlined)\n\t12 g (c)\n".to_vec()),
        (Format::PPROF_LEGACY, testdata("gperftools.heap")[..400].to_vec()),
        (Format::PPROF_LEGACY, testdata("gperftools-cpu.prof")[..400].to_vec()),
        (Format::PPROF_LEGACY, testdata("go-mutex.txt")),
    ];
    for (format, bytes) in files {
        let try_read = |bytes: &[u8]| {
            for policy in [Policy::Refuse, Policy::Repair] {
                let options = ReadOptions::default().format(format).policy(policy);
                if let Ok(reading) = read(bytes, &options) {
                    for to in [Format::SPEEDSCOPE, Format::FOLDED, Format::OTLP] {
                        drop(otlp_profiles::write_all(&reading.profiles, to, &Default::default()));
                    }
                }
            }
        };
        for at in some(0..bytes.len()) {
            try_read(&bytes[..at]);
            for byte in [0, b' ', b'\n', b'9', b'"', b'-', b':', 0xff] {
                let mut broken = bytes.clone();
                broken[at] = byte;
                try_read(&broken);
            }
        }
    }
}

/// 500 variants of every file, with bytes changed, added or removed.
#[test]
fn broken_files_are_refused_or_read() {
    let mut next = files::random();
    for (name, format) in [
        ("otep.folded", Format::FOLDED),
        ("pyspy.folded", Format::FOLDED),
        ("odd-frames.folded", Format::FOLDED),
        ("speedscope.json", Format::SPEEDSCOPE),
        ("speedscope-evented.json", Format::SPEEDSCOPE),
        ("linux-perf-script.txt", Format::PERF_SCRIPT),
        ("go-goroutine.txt", Format::PPROF_LEGACY),
        ("go-mutex.txt", Format::PPROF_LEGACY),
        ("go-threadcreate.txt", Format::PPROF_LEGACY),
        ("go-heap.txt", Format::PPROF_LEGACY),
        ("gperftools.heap", Format::PPROF_LEGACY),
        ("gperftools-cpu.prof", Format::PPROF_LEGACY),
        ("jemalloc.heap", Format::PPROF_LEGACY),
    ] {
        // The beginning of each file covers its whole grammar.
        let mut file = testdata(name);
        if format != Format::SPEEDSCOPE {
            file.truncate(6_000);
        }
        for _ in 0..sized(500) {
            let mut broken = file.clone();
            let at = next() % broken.len();
            match next() % 5 {
                0 => broken.truncate(at),
                1 => broken[at] ^= 1 << (next() % 8),
                2 => broken[at] = b" \n;:@[]{}\"=-09"[next() % 14],
                3 => drop(broken.drain(at..(at + next() % 50).min(file.len()))),
                _ => drop(broken.splice(at..at, [next() as u8, next() as u8])),
            }
            for policy in [Policy::Refuse, Policy::Repair] {
                let options = ReadOptions::default().format(format).policy(policy);
                match read(&broken, &options) {
                    Ok(reading) => assert!(reading.profiles.iter().count() < 100),
                    Err(error) => {
                        let is_placed = !error.place().is_empty() || error.byte().is_some();
                        let is_whole = ["no \"shared\"", "no sample", "empty"];
                        let text = error.to_string();
                        assert!(
                            is_placed || is_whole.iter().any(|w| text.contains(w)),
                            "{name}: {text}"
                        );
                    }
                }
            }
            drop(read(&broken, &ReadOptions::default()));
        }
    }
}

#[test]
fn the_command_that_was_recorded_is_kept_when_asked_for() {
    let text = b"# cmdline : /usr/bin/perf record -p 7 --token hush\n# hostname : h\na 7/7 1.5: 3 c:\n\t12 f (b)\n";
    let resource = |source: SourceOptions| {
        let options = ReadOptions::default().format(Format::PERF_SCRIPT).source(source);
        let profiles = read(text, &options).unwrap().profiles;
        let entry = profiles.entries().next().unwrap();
        format!("{:?}", entry.resource_attributes())
    };
    assert!(!resource(SourceOptions::default()).contains("hush"));
    let all = resource(SourceOptions::default().secrets(true));
    assert!(all.contains("process.command_args") && all.contains("\"--token\",\"hush\""), "{all}");
}

#[test]
fn what_is_only_read_is_not_written() {
    for format in [Format::PERF_SCRIPT, Format::PPROF_LEGACY] {
        assert!(format.can_read() && !format.can_write());
        let error = write(&Profiles::default(), format, &WriteOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("{format} is read-only"));
    }
}

#[test]
fn messages_of_perf_are_ignored_and_counted() {
    let event = "app 1 [000] 1.0: 1 cycles: \n\t10 main (/bin/app)\n\n";
    let warning = "Warning:\nProcessed 10 events and lost 2 chunks!\n\nCheck IO/CPU overload!\n\n\
        Was the 'perf record' command properly terminated?\n";
    let symbols = "[k] with build id 12 not found, continuing without symbols\n";
    for (text, messages) in [
        (format!("{warning}{event}{event}"), 4),
        (format!("{symbols}{event}{symbols}{event}"), 2),
        (format!("[ perf record: Woken up 1 times to write data ]\n{event}{event}{warning}"), 5),
    ] {
        let reading = read(text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(reading.detected.format, Format::PERF_SCRIPT, "{text}");
        is(&reading.profiles, &[("cycles count", 1, 2)]);
        let left_out = reading.findings.iter().find(|found| found.code == "source.left_out");
        assert_eq!(left_out.unwrap().count, messages, "{text}");
    }
    // Any other text is an error.
    let text = format!("{event}some text\n{event}");
    let error = read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("line 4: expected the first line of an event"), "{error}");
}

#[test]
fn simpleperf_is_read_in_both_its_forms() {
    let script = "Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:\n\
        \t    7b0da4f360 syscall (/system/lib64/libc.so)\n\t      10 main (/data/app)\n\n";
    let profiles = detected(script.as_bytes(), Format::PERF_SCRIPT);
    is(&profiles, &[("cpu nanoseconds", 1, 1_000_000)]);
    assert_eq!(frames(&profiles), ["syscall  0", "main  0"]);
    let sample = |symbol: &str| {
        format!(
            "sample:\n  event_type: cpu-clock:u\n  time: 123216683338189\n  event_count: 250000\n  \
            thread_id: 28287\n  thread_name: sh: x\n  vaddr_in_file: 1644a0\n  file: /system/lib64/libc.so\n  \
            symbol: {symbol}\n  execution_type: jit_jvm_method\n  callchain:\n    vaddr_in_file: 10\n    file: unknown\n    symbol: unknown\n    \
            vaddr_in_file: 20\n    file: /system/bin/sh\n    symbol: a::b(int, char*)\n"
        )
    };
    let meta = "meta_info:\n  trace_offcpu: false\n";
    let lost = "lost_situation:\n  record_count: 9\n  sample_lost: 2\n";
    let text = [meta, &sample("read"), &sample("write"), lost].concat();
    let reading = read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(reading.detected.format, Format::PERF_SCRIPT);
    is(&reading.profiles, &[("cpu nanoseconds", 2, 500_000)]);
    assert_eq!(frames(&reading.profiles)[0], "read  0");
    assert_eq!(frames(&reading.profiles)[2], "a::b(int, char*)  0");
    assert_eq!(
        reading.findings.iter().map(|f| (f.code, f.count)).collect::<Vec<_>>(),
        [("source.left_out", 4), ("time.no_anchor", 2)]
    );
    // Read line by line: records may end anywhere.
    let long = text.repeat(2_000);
    let mut reader = otlp_profiles::Reader::new(long.as_bytes(), &ReadOptions::default()).unwrap();
    let streamed = reader.next().unwrap().unwrap();
    assert_eq!(sums(&streamed.profiles)["cpu nanoseconds"].1, 1_000_000_000);
    for (from, to, wrong) in [
        ("time: 1", "time: -1", "line 5: expected `KEY: VALUE`, found \"time: -123216683338189\""),
        ("vaddr_in_file: 10", "vaddr_in_file: xy", "line 14: expected `KEY: VALUE`"),
        ("  thread_id: ", "  thread_no: ", "line 7: expected a field of a simpleperf sample"),
    ] {
        let text = text.replacen(from, to, 1);
        let error = read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with(wrong), "{error}");
        let repair = ReadOptions::default().policy(Policy::Repair);
        assert!(read(text.as_bytes(), &repair).is_ok());
    }
}

#[test]
fn symbols_of_gperftools_name_addresses() {
    let symbols = "--- symbol\nbinary=/bin/app\n0x0000000000401136 main\n\
        0x0000000000401200 work--operator--(int)--inl\n---\n";
    let heap = "--- heap\nheap profile: 1: 100 [ 2: 200] @ heapprofile\n\
        1: 100 [ 2: 200] @ 0x00401200 0x00401137\n";
    let text = [symbols, heap].concat();
    for text in [text.clone(), text.replace('\n', "\r\n")] {
        let profiles = detected(text.as_bytes(), Format::PPROF_LEGACY);
        assert_eq!(sums(&profiles)["inuse_space bytes"], (1, 100));
        let names: Vec<_> = frames(&profiles);
        assert_eq!(names, ["inl  0", "operator--(int)  0", "work  0", "main  0"]);
    }
    let contention = "--- contention\n--- contention:\ncycles/second=1000000000\n50 2 @ 0x401137\n";
    let profiles = detected([symbols, contention].concat().as_bytes(), Format::PPROF_LEGACY);
    assert_eq!(frames(&profiles), ["main  0"]);
    let words =
        |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let cpu = words(&[0, 3, 0, 10_000, 0, 7, 2, 0x40_1200, 0x40_1137, 0, 1, 0]);
    let file = [symbols.as_bytes(), b"--- profile\n", &cpu].concat();
    let profiles = detected(&file, Format::PPROF_LEGACY);
    is(&profiles, &[("samples count", 1, 7), ("cpu nanoseconds", 1, 70_000_000)]);
    assert_eq!(frames(&profiles)[3], "main  0");
    let wrong =
        |text: &str| read(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    for (text, error) in [
        (symbols.to_owned(), "line 6: the text ends before the profile"),
        (text.replace("0x0000000000401136 main", "main"), "line 3: expected `0xADDRESS NAME`"),
        (text.replace("--- heap\n", "heap\n"), "line 6: expected `--- heap` or `--- profile`"),
        (text.replace("1: 100 [ 2: 200] @ 0", "1: x [ 2: 200] @ 0"), "line 8: "),
    ] {
        assert!(wrong(&text).starts_with(error), "{}", wrong(&text));
    }
    let cut = &file[..file.len() - 30];
    let error = read(cut, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error, format!("the file ends inside a sample (byte {})", cut.len()));
}
