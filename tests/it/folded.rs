//! Reads folded stacks by their grammar, and writes them back.

mod support {
    pub fn corpus(name: &str) -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/");
        std::fs::read(format!("{path}{name}")).unwrap()
    }
}

use crate::support::sized;
use otlp_profiles::format::{Dialect, SourceOptions, TimeUnit};
use otlp_profiles::{
    Certainty, ErrorKind, Format, Limits, Policy, Profiles, ReadOptions, Reading, WriteOptions,
    detect, read, write, write_all,
};

fn options(source: SourceOptions) -> ReadOptions {
    ReadOptions::default().format(Format::FOLDED).source(source)
}

fn read_with(text: &[u8], source: SourceOptions) -> otlp_profiles::Result<Reading> {
    read(text, &options(source))
}

fn folded(text: &[u8]) -> Profiles {
    read_with(text, SourceOptions::default()).unwrap().profiles
}

fn again(profiles: &Profiles) -> String {
    let written = write(profiles, Format::FOLDED, &labelled()).unwrap();
    String::from_utf8(written.payload).unwrap()
}

/// Options that write attributes, links and timestamps after the value.
fn labelled() -> WriteOptions {
    WriteOptions::default().folded_labels(true)
}

/// Formats every sample as `root;leaf values {attributes} link times`.
fn samples(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let mut lines = Vec::new();
    for profile in profiles {
        for sample in profile.samples() {
            let frames = dictionary.frames(sample.stack).rev();
            let names: Vec<_> = frames.map(|frame| frame.to_string()).collect();
            let attributes = dictionary.resolve(sample.attributes);
            let mut line = format!("{} {:?}", names.join(";"), sample.values);
            if !attributes.is_empty() {
                line.push_str(&format!(" {attributes:?}"));
            }
            if sample.link != Default::default() {
                line.push_str(" linked");
            }
            if !sample.timestamps_unix_nano.is_empty() {
                line.push_str(&format!(" at {:?}", sample.timestamps_unix_nano));
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn lines_are_taken_apart_by_the_grammar() {
    const T: &str = "1687841528000000000";
    for (line, said) in [
        ("main;run 42", "main;run [42]".to_owned()),
        ("x 12 5", "x 12 [5]".to_owned()),
        (";a;;b 7", "[unknown];a;[unknown];b [7]".to_owned()),
        ("main;op =(x) 7", "main;op =(x) [7]".to_owned()),
        ("main;\tx\t10", "main;\tx [10]".to_owned()),
        ("a 00012", "a [12]".to_owned()),
        ("a -3", "a [-3]".to_owned()),
        ("a 1 k=v", "a [1] {\"k\": \"v\"}".to_owned()),
        (
            "a b 2 k=v,w=\"x, y=z\",n=5,f=1.5,t=true,b=0x01ff 1687841528000000",
            format!(
                "a b [2] {{\"k\": \"v\", \"w\": \"x, y=z\", \"n\": 5, \"f\": 1.5, \"t\": true, \"b\": \"01ff\"}} at [{T}]"
            ),
        ),
        ("a 3 - 1687841528", format!("a [3] at [{T}]")),
        ("a 3 - 1687841528000", format!("a [3] at [{T}]")),
        ("a 2 - 1,2", "a [] at [1000000000, 2000000000]".to_owned()),
        ("a 5,6 k=v 1,2", "a [5, 6] {\"k\": \"v\"} at [1000000000, 2000000000]".to_owned()),
        (
            "a 1 trace_id=0x01020304010203040102030401020304,span_id=0x9999999999999999",
            "a [1] linked".to_owned(),
        ),
        ("a 1 trace_id=xyz", "a [1] {\"trace_id\": \"xyz\"}".to_owned()),
        ("a 1 span_id=0x9999999999999999", "a [1] {\"span_id\": \"9999999999999999\"}".to_owned()),
    ] {
        assert_eq!(samples(&folded(line.as_bytes())), [said], "{line}");
    }
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    for (text, message) in [
        (
            "a 1\nmain;c 2.5\n",
            "line 2: the value \"2.5\" is not an integer; the option scale makes integers",
        ),
        ("main;e", "line 1: the stack \"main;e\" has no value after it"),
        (
            "# c\n\na 1e3",
            "line 3: the value \"1e3\" is not an integer; the option scale makes integers",
        ),
        ("a 99999999999999999999", "line 1: the value \"99999999999999999999\" overflows 64 bits"),
        (
            "a 9223372036854775807\na 1",
            "line 2: the sum of 9223372036854775807 and 1 overflows 64 bits",
        ),
        (
            "a 8 k=v 1,2",
            "line 1: the sample has 1 values and 2 timestamps: it needs one value for each timestamp, or one value that counts them",
        ),
        ("a 1 k=v,k=w", "line 1: the attribute \"k\" occurs twice"),
        (
            "a 1 trace_id=0102030405060708090a0b0c0d0e0f10,span_id=0102030405060708,span_id=1112030405060708",
            "line 1: the attribute \"span_id\" occurs twice",
        ),
        ("a 1 - -5", "line 1: the timestamp \"-5\" overflows 64 bits of nanoseconds"),
        (
            "a 1 - 99999999999999999999",
            "line 1: the timestamp \"99999999999999999999\" overflows 64 bits of nanoseconds",
        ),
    ] {
        let error = read_with(text.as_bytes(), SourceOptions::default()).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Malformed, message.to_owned()));
        // Under repair, the line is skipped and reported.
        let repairing = options(SourceOptions::default()).policy(Policy::Repair);
        let finding = &read(text.as_bytes(), &repairing).unwrap().findings[0];
        assert_eq!((finding.code, &*finding.place), ("text.bad_line", &message[..6]));
    }
}

#[test]
fn extended_lines_come_back_through_every_generation() {
    let text = "\
foo;bar;baz 100 region=us,span_id=0x9999999999999999,trace_id=0x01020304010203040102030401020304 1687841528000000000
foo;bar 200 region=us
foo;bar 200 region=us
a b;c -3
a b;c 7 b=0x00ff,d=-1.5,e=1e300,i=-5,\"k ey\"=\"x, y=\\\"z\\\"\",s=007,t=true,w=\"5\"
a b;c 2 - 1687841528000000000,1687841528000000001
a b;c 5 - 00000000000000007
x 12 k=v 5 -
";
    let model = folded(text.as_bytes());
    let whole = |format: &&Format| format.is_otlp();
    for format in Format::ALL.iter().filter(whole) {
        let there = write(&model, *format, &WriteOptions::default()).unwrap().payload;
        let middle = read(&there, &ReadOptions::default().format(*format)).unwrap().profiles;
        assert_eq!(again(&middle), text, "{format}");
    }
    // Since 1.8, several timestamps may have separate values.
    let text = "a 5,6 - 1687841528000000000,1687841528000000001\n";
    let there = write(&folded(text.as_bytes()), Format::OTLP, &Default::default()).unwrap();
    assert_eq!(again(&read(&there.payload, &Default::default()).unwrap().profiles), text);
}

#[test]
fn plain_lines_are_added_up_and_extended_ones_are_not() {
    assert_eq!(again(&folded(b"main;a 1\nmain;a 2\nmain;b 3\nmain;a 4")), "main;a 7\nmain;b 3\n");
    let model = folded(b"a 1 k=v,l=w\nb 5\na 2 trace_id=0x01020304010203040102030401020304,span_id=0x9999999999999999 1687841528\n");
    let written = write(&model, Format::FOLDED, &WriteOptions::default()).unwrap();
    assert_eq!(String::from_utf8_lossy(&written.payload), "a 3\nb 5\n");
    let codes: Vec<_> = written.losses.iter().map(|l| (l.code.as_str(), l.count)).collect();
    assert_eq!(codes, [("attr.sample.dropped", 2), ("link.dropped", 1), ("timestamps.dropped", 1)]);
}

#[test]
fn links_are_left_out_when_they_are_to_be() {
    let linked = "trace_id=0x01020304010203040102030401020304,span_id=0x9999999999999999";
    for (line, without) in [("a 1 k=v", "a 1 k=v,"), ("a 1", "a 1 ")] {
        let model = folded(format!("{without}{linked}\n").as_bytes());
        let options = labelled().links(false);
        let written = write(&model, Format::FOLDED, &options).unwrap();
        assert_eq!(String::from_utf8_lossy(&written.payload), format!("{line}\n"));
        let codes: Vec<_> = written.losses.iter().map(|l| (l.code.as_str(), l.count)).collect();
        assert_eq!(codes, [("link.dropped", 1)], "{line}");
    }
}

#[test]
fn what_is_odd_is_noted() {
    let text = b"a -3\nb 1 trace_id=xyz\nc 1 span_id=0x99\n";
    let reading = read_with(text, SourceOptions::default()).unwrap();
    let codes: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
    assert_eq!(codes, [("value.negative", 1), ("link.as_attribute", 2)]);
}

#[test]
fn several_columns_come_when_they_are_asked_for() {
    let text = b"main;a 10 20\nmain;b 5 0\n";
    assert_eq!(samples(&folded(text)), ["main;a 10 [20]", "main;b 5 [0]"]);
    let source = SourceOptions::default().columns(2).sample_type("before", "ms");
    let model = read_with(text, source).unwrap().profiles;
    assert_eq!(samples(&model), ["main;a [10, 20]", "main;b [5, 0]"]);
    let (files, losses) = write_all(&model, Format::FOLDED, &labelled()).unwrap();
    assert_eq!(files, [&b"main;a 10\nmain;b 5\n"[..], b"main;a 20\nmain;b 0\n"]);
    assert_eq!(losses.get("sample_type.dropped").unwrap().count, 1);
    let text = b"# austin: 3\nP1;T0:2;a:b:1 5\nP3;T0:4;a:b:1 6\n";
    let model =
        read_with(text, SourceOptions::default().dialect(Dialect::Austin)).unwrap().profiles;
    let written = write(&model, Format::FOLDED, &WriteOptions::default()).unwrap();
    assert_eq!(String::from_utf8_lossy(&written.payload), "b 11000\n");
    assert_eq!(written.losses.get("profiles.merged").unwrap().count, 1);
    let error = read_with(b"a 5", SourceOptions::default().columns(2)).unwrap_err();
    assert_eq!(error.to_string(), "line 1: the stack \"a\" has no value after it");
}

#[test]
fn options_say_what_lines_do_not() {
    let scaled = SourceOptions::default().scale(1000.0).sample_type("cpu", "us");
    assert_eq!(samples(&read_with(b"a 2.5\n", scaled).unwrap().profiles), ["a [2500]"]);
    let nanos = SourceOptions::default().timestamp_unit(TimeUnit::Nanoseconds);
    assert_eq!(samples(&read_with(b"a 1 - 5", nanos).unwrap().profiles), ["a [1] at [5]"]);
    let annotated = SourceOptions::default().annotations(true);
    let model = read_with(b"main_[k];foo_[j];bar_[i];baz_[i] 2", annotated).unwrap().profiles;
    let dictionary = model.dictionary();
    let frames = dictionary.frames(model.iter().next().unwrap().samples().get(0).unwrap().stack);
    let said: Vec<_> = frames.map(|f| (f.name(), f.frame_type(), f.is_inlined())).collect();
    let jvm = Some("jvm");
    let expected = [
        ("baz", jvm, true),
        ("bar", jvm, true),
        ("foo", jvm, false),
        ("main", Some("kernel"), false),
    ];
    assert_eq!(said, expected);
    // A format without lines does not accept these options.
    let pprof = ReadOptions::default().source(SourceOptions::default().columns(2));
    let error = read(&support::corpus("rust-cpu.pb"), &pprof).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    assert_eq!(error.to_string(), "columns does not apply to pprof: it applies to folded");
    assert_eq!(
        write(&model, Format::OTLP, &labelled()).unwrap_err().kind(),
        ErrorKind::InvalidOption
    );
}

#[test]
fn a_dialect_that_fits_no_line_is_refused() {
    let with = |text: &[u8], dialect| read_with(text, SourceOptions::default().dialect(dialect));
    for (text, dialect, name) in [
        (&b"process 7:\"a\";loop (app.py:28) 37\n"[..], Dialect::Austin, "austin"),
        (b"main;run 4\nmain;idle 2\n", Dialect::Austin, "austin"),
        (b"P1;T0:2;a:b:1 5\n", Dialect::PySpy, "py-spy"),
    ] {
        let error = with(text, dialect).unwrap_err();
        let said = format!(
            "dialect {name} matches no stack of the file: drop the option, or choose another dialect"
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidOption, said));
    }
    for (text, dialect) in [
        (&b"main;run 4\nP1;T0:2 271\n"[..], Dialect::Austin),
        (b"a:b:1 5\n", Dialect::Austin),
        (b"# austin: 3.7.0\n", Dialect::Austin),
        (b"main;0x7f (libc.so.6) 5\n", Dialect::PySpy),
    ] {
        with(text, dialect).unwrap();
    }
}

#[test]
fn what_a_scale_rounds_is_said() {
    let with = |text: &[u8], scale: f64| {
        let reading = read_with(text, SourceOptions::default().scale(scale)).unwrap();
        let codes: Vec<_> = reading.findings.iter().map(|f| (f.code, f.count)).collect();
        (samples(&reading.profiles), codes)
    };
    let rounded = |count: u64| vec![("value.rounded", count)];
    let lines = |lines: [&str; 2]| lines.map(str::to_owned).to_vec();
    assert_eq!(with(b"a 1.4\nb 2.5\n", 1.0), (lines(["a [1]", "b [3]"]), rounded(2)));
    assert_eq!(with(b"a 1.4\nb 2.55\n", 10.0), (lines(["a [14]", "b [26]"]), rounded(1)));
    // Computing with doubles would change these values.
    let text = b"a 0.07\nb 90071992547409.93\n";
    assert_eq!(with(text, 100.0), (lines(["a [7]", "b [9007199254740993]"]), vec![]));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = read_with(b"a 1\n", SourceOptions::default().scale(scale)).unwrap_err();
        let said = format!("scale is {scale}, and must be greater than 0");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidOption, said));
    }
}

#[test]
fn dialects_are_read_where_they_are_named() {
    let text =
        b"process 7:\"python a.py\";thread (9): t-json;loop (app.py:28);0x7f (libc.so.6) 37\n";
    let model = read_with(text, SourceOptions::default().dialect(Dialect::PySpy)).unwrap().profiles;
    assert_eq!(samples(&model), ["loop;0x7f [37] {\"thread.id\": 9, \"thread.name\": \"t-json\"}"]);
    let entry = model.entries().next().unwrap();
    assert_eq!(entry.resource_attributes().get("process.pid").unwrap().as_i64(), Some(7));
    let sample = model.iter().next().unwrap().samples().get(0).unwrap();
    let frame = model.dictionary().frames(sample.stack).next_back().unwrap();
    assert_eq!((frame.filename(), frame.line()), ("app.py", 28));

    // Commands and folders keep the names that the user gave them.
    let text =
        b"process 1:\"sh -c a; b\";thread (0x7F): t;f (C:\\a (b)\\c.py:3);g(int) (lib (1).so) 5\n";
    let model = read_with(text, SourceOptions::default().dialect(Dialect::PySpy)).unwrap().profiles;
    assert_eq!(samples(&model), ["f;g(int) [5] {\"thread.id\": 127, \"thread.name\": \"t\"}"]);
    let sample = model.iter().next().unwrap().samples().get(0).unwrap();
    let files: Vec<_> =
        model.dictionary().frames(sample.stack).map(|f| f.filename().to_owned()).collect();
    assert_eq!(files, ["lib (1).so", "C:\\a (b)\\c.py"]);

    let text = b"# austin: 3.7.0\n# interval: 10000\n# mode: wall\n\nP1;T0:2 271\nP1;T0:2;/a.py:<module>:2 5\nP3;T0:4;a:b:1 6\n";
    let detected = detect(text, &Default::default()).unwrap();
    assert!(detected.evidence[0].contains("austin"), "{:?}", detected.evidence);
    let model =
        read_with(text, SourceOptions::default().dialect(Dialect::Austin)).unwrap().profiles;
    assert_eq!(
        samples(&model),
        [
            " [271000] {\"thread.id\": 2}",
            "<module> [5000] {\"thread.id\": 2}",
            "b [6000] {\"thread.id\": 4}"
        ]
    );
    let profile = model.iter().next().unwrap();
    assert_eq!((profile.period(), model.resource_profiles().len()), (10_000_000, 2));
    let text = b"# mode: full\nP1;T0:2;a:b:1 5,1,-7\n";
    let model =
        read_with(text, SourceOptions::default().dialect(Dialect::Austin)).unwrap().profiles;
    assert_eq!(samples(&model), ["b [5000, 1, -7] {\"thread.id\": 2}"]);
}

#[test]
fn text_of_every_encoding_is_detected_and_read() {
    let text = "main;\u{e9}t\u{e9} 5\r\nmain 6\r\n";
    let wide = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
    };
    let narrow = format!("\u{feff}{text}").into_bytes();
    for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes), narrow, text.into()] {
        let reading = read(&bytes, &Default::default()).unwrap();
        assert_eq!(
            (reading.detected.format, reading.detected.certainty),
            (Format::FOLDED, Certainty::Certain)
        );
        assert!(!reading.detected.evidence.is_empty());
        assert_eq!(samples(&reading.profiles), ["main;\u{e9}t\u{e9} [5]", "main [6]"]);
    }
    // Bytes that are not UTF-8 stay unchanged.
    let bytes = b"a\xff;b 5\n";
    assert_eq!(write(&folded(bytes), Format::FOLDED, &labelled()).unwrap().payload, bytes);
}

/// A byte order mark, or the first bytes of gzip or frames, are part of a name anywhere else in a file.
#[test]
fn a_name_like_the_beginning_of_a_file_stays_one() {
    let frames = b"\0\0\0\x02ab\0\0\0\x03";
    for mark in [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b\x08", frames] {
        let rest = if mark == frames { &b" 3\n"[..] } else { b"main 3\n" };
        let text = [b"\n", mark, rest].concat();
        let options = options(SourceOptions::default());
        let profiles = otlp_profiles::read(&text, &options).unwrap().profiles;
        let written = write(&profiles, Format::FOLDED, &labelled()).unwrap().payload;
        assert_eq!(written, text);
    }
}

/// Includes stacks that begin with a bracket, as JSON does, and files in which all lines have attributes, several
/// values or negative values.
#[test]
fn what_is_written_is_detected() {
    let detected = |text: &[u8]| detect(text, &Default::default()).map(|detected| detected.format);
    for text in [
        "main;serve;parse 42\nmain;serve 1,2 - 1687841528000000000,1687841529000000000\n",
        "main;a 10,10 k=v\nmain;b -5 k=\"x y\"\n",
        "main;a -5 k=v\n",
        "[unknown];main 3\n",
        "[unknown] 5\n[unknown];a 2\n",
        "[1234];main 3\n",
        "{closure};main 3\n",
    ] {
        assert_eq!(detected(text.as_bytes()).unwrap(), Format::FOLDED, "{text}");
    }
    for json in ["[1, 2]", "{\n\"a\": 1\n}", "[\n1\n]"] {
        assert!(detected(json.as_bytes()).unwrap_err().to_string().starts_with("this is JSON"));
    }
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");
    let mut files = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let Ok(reading) = std::fs::read(&path).map(|bytes| read(&bytes, &Default::default()))
        else {
            continue;
        };
        let Ok(Reading { profiles, .. }) = reading else { continue };
        let written = write_all(&profiles, Format::FOLDED, &labelled()).unwrap();
        for text in written.0.iter().filter(|text| !text.is_empty()) {
            files += 1;
            let shown = String::from_utf8_lossy(&text[..text.len().min(200)]);
            assert_eq!(detected(text).ok(), Some(Format::FOLDED), "{}: {shown}", path.display());
        }
    }
    assert!(files > 40, "{files}");
}

#[test]
fn names_that_would_end_a_frame_are_replaced_and_said() {
    let mut builder = otlp_profiles::Builder::new();
    let samples = builder.profile("samples", "count");
    let names = ["#a;b", "c\nd", "e"];
    builder.sample(samples, otlp_profiles::builder::root_first(names)).value(1);
    let written = write(&builder.finish().unwrap(), Format::FOLDED, &labelled()).unwrap();
    assert_eq!(String::from_utf8_lossy(&written.payload), "#a:b;c d;e 1\n");
    assert_eq!(written.losses.get("frame.text").unwrap().count, 2);
}

#[test]
fn facts_of_other_tools_hold() {
    for (file, lines, sum) in [("pyspy.folded", 25, 345), ("odd-frames.folded", 10, 75)] {
        let model = read(&support::corpus(file), &Default::default()).unwrap().profiles;
        let profile = model.iter().next().unwrap();
        assert_eq!((profile.samples().len(), profile.sums()), (lines, vec![sum]), "{file}");
    }
}

#[test]
fn a_hundred_thousand_of_anything_take_linear_time() {
    let many = sized(100_000);
    let lines: String = (0..many).map(|at| format!("main;f{at} {at}\n")).collect();
    let extended: String = (0..many).map(|at| format!("main;f 1 k={at} {at}\n")).collect();
    let deep = format!("{} 1\n", "f;".repeat(many));
    let inlined = format!("a{} 1\n", ";f_[i]".repeat(many));
    let attributes: Vec<_> = (0..many).map(|at| format!("k{at}=v")).collect();
    let wide = format!("a 1 {}\n", attributes.join(","));
    let times = vec!["1"; many].join(",");
    let times = format!("a {many} - {times}\n");
    for (text, read) in
        [(lines, many), (extended, many), (deep, 1), (inlined, 1), (wide, 1), (times, 1)]
    {
        let limits = Limits::unlimited();
        let source = SourceOptions::default().annotations(true);
        let model =
            otlp_profiles::read(text.as_bytes(), &options(source).limits(limits)).unwrap().profiles;
        assert_eq!(model.iter().map(|profile| profile.samples().len()).sum::<usize>(), read);
        assert!(!again(&model).is_empty());
    }
}

#[test]
fn limits_hold() {
    type Set = fn(Limits) -> Limits;
    let cases: [(&str, Set); 7] = [
        ("max_samples", |l| l.max_samples(1)),
        ("max_strings", |l| l.max_strings(2)),
        ("max_string_bytes", |l| l.max_string_bytes(3)),
        ("max_stack_depth", |l| l.max_stack_depth(1)),
        ("max_table_entries", |l| l.max_table_entries(2)),
        ("max_attributes_per_item", |l| l.max_attributes_per_item(0)),
        ("max_owned_bytes", |l| l.max_owned_bytes(100)),
    ];
    for (name, set) in cases {
        let limits = options(SourceOptions::default()).limits(set(Limits::network()));
        let error = read(b"main;a 1 k=v\nmain;b 2\n", &limits).unwrap_err();
        assert_eq!(error.limit(), Some(name), "{error}");
    }
    let model = folded(b"main;a 1\n");
    let error = write(&model, Format::FOLDED, &labelled().max_output_bytes(5));
    assert_eq!(error.unwrap_err().limit(), Some("max_output_bytes"));
}

/// Broken variants of a file never cause a panic, and each error names its line.
#[test]
fn broken_variants_are_survived() {
    let text = b"foo;bar 1 k=\"v\",t=1.5 1687841528\nfoo;bar 2 trace_id=0x01,span_id=0x02\nP1;T0:2;a:b:3 4,5,6\nx (a.py:3) 5\n";
    let odd = [0, b' ', b';', b'"', b'\\', b'=', b',', b'-', b'\n', b'9', b'x', 0xff];
    for at in 0..text.len() {
        for byte in odd {
            let mut broken = text.to_vec();
            broken[at] = byte;
            for dialect in [None, Some(Dialect::PySpy), Some(Dialect::Austin)] {
                let source = SourceOptions::default().dialect(dialect).annotations(at % 2 == 0);
                match read_with(&broken, source) {
                    Ok(reading) => drop(write(&reading.profiles, Format::FOLDED, &labelled())),
                    Err(error) => assert!(error.place().starts_with("line "), "{error}"),
                }
            }
        }
    }
}

#[test]
fn lines_of_something_else_do_not_hide_stacks() {
    let text = b"// a comment\na;b;c 1\na;b 2\na;c 3\nno stack\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.place(), "line 1", "{error}");
    let reading = read(text, &ReadOptions::default().policy(Policy::Repair)).unwrap();
    assert_eq!(
        (reading.profiles.iter().next().unwrap().sums(), reading.findings[0].count),
        (vec![6], 2)
    );
    // Sentences that end with numbers are not stacks.
    let prose = b"we met in 1999\nand again in 2004\nsince then never\n";
    assert_eq!(read(prose, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Unrecognised);
}

#[test]
fn bytes_that_are_no_text_are_said() {
    let profiles = read(b"a;b\xff 1\n", &ReadOptions::default()).unwrap().profiles;
    let written = write(&profiles, Format::FOLDED, &labelled()).unwrap();
    assert_eq!(String::from_utf8_lossy(&written.payload), "a;b\u{fffd} 1\n");
    assert_eq!(written.losses.get("string.invalid_utf8").unwrap().count, 1);
}
