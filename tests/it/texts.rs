//! Reads long texts line by line: the result equals that of a text in memory, however the input is split, and
//! memory depends on the distinct content.

use std::fmt::Write as _;
use std::io::{self, Read};

use crate::support::alloc::cost;
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::format::{Dialect, SourceOptions};
use otlp_profiles::stream::MessageReader;
use otlp_profiles::{
    ErrorKind, Format, Limits, Policy, ReadOptions, Reader, Reading, read, read_text, write,
};

/// A reader that returns a number of bytes per call.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.1.min(buffer.len());
        self.0.read(&mut buffer[..most])
    }
}

/// Formats a reading or its error.
fn said(reading: otlp_profiles::Result<Reading>) -> String {
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => return format!("{:?} {error}", error.kind()),
    };
    let mut said = format!("{} {:?}", reading.detected.format, reading.detected.evidence);
    for finding in &reading.findings {
        write!(said, "\n{finding}").unwrap();
    }
    let written = write(&reading.profiles, Format::OTLP, &Default::default()).unwrap();
    write!(said, "\n{:?}", written.payload).unwrap();
    said
}

/// Reads a text in memory and as a stream, compares the results and returns them.
#[track_caller]
fn alike(text: &[u8], options: &ReadOptions) -> String {
    let wanted = said(read(text, options));
    let gzip = deflate(text, Level::FAST);
    let mut files = vec![text.to_vec(), gzip.clone()];
    #[cfg(feature = "zstd")]
    files.push(otlp_profiles::compression::zstd(text, Level::FAST));
    for file in files {
        for size in [1, 7, 64 << 10] {
            let mut payloads = MessageReader::new(Slow(&file, size), options.limits).unwrap();
            let reading = read_text(&mut payloads, options).expect("it is read by lines");
            assert!(said(reading) == wanted, "{size} bytes at once");
            assert!(payloads.next().is_none());
        }
        let mut reader = Reader::new(&file[..], options).unwrap();
        assert!(said(reader.next().unwrap()) == wanted);
        assert!(reader.next().is_none());
    }
    wanted
}

/// Lines of folded stacks, some of which are equal.
fn folded(lines: usize) -> String {
    let line = |at: usize| {
        let (f, g) = (at % 97, at % 61);
        format!("main;app::run_until_done;app::f{f};app::g{g} {}\n", at % 7 + 1)
    };
    (0..lines).map(line).collect()
}

fn testdata(name: &str) -> String {
    std::fs::read_to_string(format!("{}/testdata/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Repeats the events of a perf script, each later than the one before.
fn perf_script(events: usize) -> String {
    let text = testdata("linux-perf-script.txt");
    let known: Vec<&str> = text.trim_end().split("\n\n").collect();
    let mut all = String::new();
    for (at, event) in known.iter().cycle().take(events).enumerate() {
        let (line, stack) = event.split_once('\n').unwrap();
        let (before, behind) = line.split_once(": ").unwrap();
        let before = &before[..=before.rfind(' ').unwrap()];
        write!(all, "{before}{}.{at:06}: {behind}\n{stack}\n\n", at / 1000).unwrap();
    }
    all
}

fn options() -> ReadOptions {
    ReadOptions::default()
}

#[test]
fn folded_stacks_are_the_same_however_they_come() {
    let text = folded(2_500);
    assert!(alike(text.as_bytes(), &options()).starts_with("folded"));
    alike(text.replace('\n', "\r\n").as_bytes(), &options());
    alike(text.trim_end().as_bytes(), &options());
    alike(format!("\u{feff}{text}").as_bytes(), &options());
    let wide: Vec<u8> =
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    alike(&wide, &options());
    let two = text.replace(" 1\n", " 1 2\n").replace(" 3\n", " 3 4\n");
    let source = SourceOptions::default();
    alike(two.as_bytes(), &options().source(source.clone().columns(2)));
    alike(two.as_bytes(), &options().source(source.clone().annotations(true)));
    let sampled = testdata("pyspy.folded").repeat(40);
    let with = |dialect| options().format(Format::FOLDED).source(source.clone().dialect(dialect));
    alike(sampled.as_bytes(), &with(Dialect::PySpy));
    let austin = format!("# mode: cpu\n# interval: 100\n\n{}", "P1;T2;a.py:f:3 5\n".repeat(9_000));
    alike(austin.as_bytes(), &with(Dialect::Austin));
    alike(testdata("otep.folded").repeat(600).as_bytes(), &options());
}

#[test]
fn a_perf_script_is_the_same_however_it_comes() {
    let text = perf_script(400);
    assert!(alike(text.as_bytes(), &options()).starts_with("perf-script"));
    let anchored = options().source(SourceOptions::default().boot_time(1_700_000_000 << 30));
    alike(text.as_bytes(), &anchored);
    alike(format!("# hostname : web-1\n{text}").as_bytes(), &anchored);
    // Without blank lines between events, and all lines as one event.
    alike(text.replace("\n\n", "\n").as_bytes(), &anchored);
    let frame = "\t 123a sort_work+0x5e (/home/build/busy)\n";
    let long = format!("busy 1 2.5: 1 cycles: \n{}", frame.repeat(20_000));
    let limits = Limits::network().max_stack_depth(1 << 20);
    alike(long.as_bytes(), &options().limits(limits));
    assert!(
        alike(long.as_bytes(), &options())
            .starts_with("Limit line 16386: 16385 locations of one stack exceed")
    );
}

#[test]
fn what_is_broken_is_said_with_the_same_line() {
    let folded = folded(3_000);
    let broken = format!("{folded}main;run\n{folded}");
    let refused = alike(broken.as_bytes(), &options());
    assert!(
        refused.starts_with("Malformed line 3001: the stack \"main;run\" has no value after it"),
        "{refused}"
    );
    let mended = alike(broken.as_bytes(), &options().policy(Policy::Repair));
    assert!(mended.contains("line 3001"));
    let long = format!("{folded}main;{} 1\n{folded}", "f".repeat(3 << 20));
    let refused = alike(long.as_bytes(), &options());
    assert!(refused.starts_with("Limit line 3001: "), "{refused}");
    assert!(refused.contains("bytes of one string exceed the limit of"), "{refused}");
    alike(long.as_bytes(), &options().limits(Limits::file()));
    let script = perf_script(300);
    let broken = format!("{script}nothing of it\n{script}");
    assert!(alike(broken.as_bytes(), &options()).starts_with("Malformed line "));
    alike(broken.as_bytes(), &options().policy(Policy::Repair));
    let wrong = options().source(SourceOptions::default().boot_time(1));
    assert!(
        alike(folded.as_bytes(), &wrong)
            .starts_with("InvalidOption boot-time does not apply to folded")
    );
}

#[test]
fn an_attribute_far_down_keeps_lines_apart_from_there_on() {
    let plain = "main;run 1\n".repeat(10_000);
    let text = format!("{plain}main;run 2 k=v\nmain;run 3\nmain;run 4\n");
    let profiles = read(text.as_bytes(), &options()).unwrap().profiles;
    let samples = profiles.iter().next().unwrap().samples();
    let values: Vec<&[i64]> = samples.iter().map(|sample| sample.values).collect();
    assert_eq!(values, [&[10_000][..], &[2], &[3], &[4]]);
    alike(text.as_bytes(), &options());
    // In the first lines, an attribute separates all lines.
    let text = format!("main;run 2 k=v\n{plain}");
    let profiles = read(text.as_bytes(), &options()).unwrap().profiles;
    assert_eq!(profiles.iter().next().unwrap().samples().len(), 10_001);
}

#[test]
fn limits_and_broken_files_are_errors_as_of_files_in_memory() {
    let text = folded(3_000);
    let gzip = deflate(text.as_bytes(), Level::FAST);
    let error = |file: &[u8], limits: Limits| {
        let options = options().limits(limits);
        let mut reader = Reader::new(file, &options).unwrap();
        let error = reader.next().unwrap().unwrap_err();
        assert!(reader.next().is_none());
        error
    };
    let limits = Limits::network();
    let much = error(text.as_bytes(), limits.max_input_bytes(100_000));
    assert_eq!((much.kind(), much.limit()), (ErrorKind::Limit, Some("max_input_bytes")));
    let much = error(&gzip, limits.max_decompressed_bytes(100_000));
    assert_eq!(much.limit(), Some("max_decompressed_bytes"));
    let mut bent = gzip.clone();
    bent[gzip.len() - 6] ^= 1;
    let garbage = [&gzip[..], b"garbage"].concat();
    for file in [&gzip[..gzip.len() - 9], &gzip[..gzip.len() - 3], &bent, &garbage] {
        let wanted = read(file, &options()).unwrap_err().to_string();
        assert_eq!(error(file, limits).to_string(), wanted);
    }
}

#[test]
fn what_has_no_lines_is_read_whole() {
    let heap = testdata("go-heap.txt");
    let heap = format!("{heap}{}", "\n".repeat(100_000));
    let mut payloads = MessageReader::new(heap.as_bytes(), Limits::file()).unwrap();
    assert!(payloads.text().is_some());
    assert!(read_text(&mut payloads, &options()).is_none());
    assert_eq!(payloads.next().unwrap().unwrap(), heap.as_bytes());
    assert!(payloads.next().is_none());
    let reading = Reader::new(heap.as_bytes(), &options()).unwrap().next().unwrap().unwrap();
    assert_eq!(reading.detected.format, Format::PPROF_LEGACY);
    // A text in a format that is not read by lines is returned whole, too.
    let text = folded(2_500);
    let mut payloads = MessageReader::new(text.as_bytes(), Limits::file()).unwrap();
    assert_eq!(payloads.next().unwrap().unwrap(), text.as_bytes());
}

/// Repeats a text, without the whole text in memory.
struct Again<'a> {
    part: &'a [u8],
    at: usize,
    left: usize,
}

impl<'a> Again<'a> {
    fn of(part: &'a [u8], times: usize) -> Self {
        Self { part, at: 0, left: times }
    }
}

impl Read for Again<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let rest = &self.part[self.at..];
        let given = rest.len().min(buffer.len());
        buffer[..given].copy_from_slice(&rest[..given]);
        self.at += given;
        if self.at == self.part.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        Ok(given)
    }
}

#[test]
fn a_long_text_takes_the_memory_of_what_is_distinct_in_it() {
    const MB: usize = 1_000_000;
    let options = ReadOptions::default().limits(Limits::file());
    let peak = |input: &mut dyn Read| {
        let read = || Reader::new(input, &options).unwrap().next().unwrap().unwrap();
        let (reading, cost) = cost(read);
        assert!(reading.profiles.iter().next().is_some());
        cost.peak
    };
    for part in [folded(200), perf_script(200)] {
        let times = MB / part.len();
        let once = peak(&mut Again::of(part.as_bytes(), times));
        let five = peak(&mut Again::of(part.as_bytes(), 5 * times));
        assert!(five < once + (64 << 10), "{five} of five times as much, {once}");
        assert!(once < 1 << 20, "{once}");
        let gzip = deflate(&part.as_bytes().repeat(5 * times), Level::FAST);
        let of_gzip = peak(&mut &gzip[..]);
        assert!(of_gzip < 3 << 20, "{of_gzip}");
        #[cfg(feature = "zstd")]
        {
            let text = part.as_bytes().repeat(5 * times);
            let file = otlp_profiles::compression::zstd(&text, Level::FAST);
            let of_zstd = peak(&mut &file[..]);
            assert!(of_zstd < 3 << 20, "{of_zstd}");
        }
    }
}
