//! What other tools write, and what is no profile at all: one table of signs by which a file is known:
//! to be read, or to be named, so that the error says what to do.

use super::decide::unrecognised;
use super::{Certainty, Detected, signs};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::framing::ONE_DOCUMENT;

/// A kind of file that is told by how it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreign {
    /// `a perf.data file`.
    what: &'static str,
    /// The command that makes something of `FILE` that is read here, in backquotes, or why there is
    /// none; of what is read, how it is known.
    hint: &'static str,
    /// The format that reads it.
    pub(super) format: Option<Format>,
    /// Whether it holds a profile, though one that is not read.
    is_profile: bool,
    sign: Sign,
}

impl Foreign {
    /// The format that reads it, unless another was asked for, or the error that names it.
    pub(super) fn answer(self, hint: Option<Format>) -> Result<Detected> {
        let what = match self.sign {
            Compression => format!("compressed with {}", self.what),
            _ => self.what.to_owned(),
        };
        let Some(format) = self.format else {
            let error = unrecognised(&what, self.hint);
            return Err(if self.is_profile { error } else { error.no_profile() });
        };
        if let Some(hint) = hint.filter(|hint| *hint != format) {
            return Err(Error::malformed(format!(
                "the payload is {what}, not {hint}: omit the format, or choose {format}"
            )));
        }
        let evidence = vec![match self.hint {
            "" => format!("its first bytes are those of {what}"),
            hint => format!("it is {what}: {hint}"),
        }];
        Ok(Detected { format, certainty: Certainty::Certain, evidence })
    }
}

/// What a kind is known by.
#[derive(Clone, Copy, Debug)]
enum Sign {
    /// What a [compression](crate::compression) begins with.
    Compression,
    /// One of these first bytes, which no message of profiles begins with.
    Magic(&'static [&'static [u8]]),
    /// More than the first bytes, of what need not be text.
    Bytes(fn(&[u8]) -> bool),
    /// JSON that has all of these in its first kilobytes.
    Json(&'static [&'static str]),
    /// Text whose first line begins with one of these.
    Line(&'static [&'static str]),
    /// Text by more than its beginning.
    Text(fn(&str) -> bool),
}
use Sign::{Bytes, Compression, Json, Line, Magic, Text};

/// A profile that is not read; the hint says what makes one of it that is.
const fn profile(what: &'static str, sign: Sign, hint: &'static str) -> Foreign {
    Foreign { what, hint, format: None, is_profile: true, sign }
}

/// What is read, and how it is known.
const fn read(format: Format, what: &'static str, sign: Sign, hint: &'static str) -> Foreign {
    Foreign { what, hint, format: Some(format), is_profile: true, sign }
}

/// Nothing that profiles anything: a directory of profiles may hold it all the same.
const fn no_profile(what: &'static str, sign: Sign, hint: &'static str) -> Foreign {
    Foreign { what, hint, format: None, is_profile: false, sign }
}

/// What pprof calls legacy, by its first line.
const fn legacy(what: &'static str, sign: Sign) -> Foreign {
    read(Format::PPROF_LEGACY, what, sign, "its first line names the type")
}

/// What makes a pprof of what a script folds.
macro_rules! folded_by {
    ($command:literal) => {
        concat!("`", $command, " | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it")
    };
}

/// What has no first bytes that something else has: it is looked for before protobuf.
pub(super) fn of_bytes(payload: &[u8]) -> Option<Foreign> {
    let compressed =
        |name| profile(name, Compression, "decompress it first: one layer of gzip is supported");
    let named = || {
        FOREIGN.iter().copied().find(|foreign| match foreign.sign {
            Magic(magics) => magics.iter().any(|magic| payload.starts_with(magic)),
            Bytes(is) => is(payload),
            _ => false,
        })
    };
    crate::compression::magic(payload).map(compressed).or_else(named)
}

/// What the beginning of a JSON document shows.
pub(super) fn of_json(start: &str) -> Option<Foreign> {
    FOREIGN.iter().copied().find(|foreign| match foreign.sign {
        Json(names) => names.iter().all(|name| start.contains(name)),
        _ => false,
    })
}

/// What the beginning of a text shows.
pub(super) fn of_text(start: &str) -> Option<Foreign> {
    FOREIGN.iter().copied().find(|foreign| match foreign.sign {
        Line(begins) => begins.iter().any(|begin| start.starts_with(begin)),
        Text(is) => is(start),
        _ => false,
    })
}

/// A message of OTLP with nothing in it is one as well, see `magic::json`.
pub(super) const OTLP: Foreign =
    read(Format::OTLP_JSON, "OTLP profiles as JSON", Json(&["\"resourceProfiles\""]), "");

const LEGACY: &str = "`go tool pprof -proto FILE > profile.pb.gz` makes a pprof of it; the program before FILE gives addresses names";
const GO_DUMP: &str = "Go makes a pprof without debug=2 in the URL: `curl -o goroutine.pb.gz http://localhost:6060/debug/pprof/goroutine`";
const RECORD_PYTHON: &str = "no converter is known; `py-spy record --format raw -o profile.folded -- python APP.py` records what `otlp-profiles convert profile.folded -o profile.pb.gz` makes a pprof of";
const RECORD_HEAP: &str = "no converter is known; `HEAPPROFILE=/tmp/heap LD_PRELOAD=libtcmalloc.so PROGRAM` records what `go tool pprof -proto PROGRAM /tmp/heap.0001.heap > profile.pb.gz` makes a pprof of";
const RECORD_CPU: &str = "no converter is known; `perf record -g PROGRAM` records what `perf script | otlp-profiles convert - -o profile.pb.gz` makes a pprof of";
const MEMRAY: &str = "no converter to pprof is known, and memray writes none: its own reports show it, such as `python -m memray flamegraph` of the recording";
const OTHER_SIGNAL: &str = "this reads profiles only";

/// Every kind that is named. The first whose sign is there is it.
static FOREIGN: &[Foreign] = &[
    // By their bytes.
    profile(
        "a Java Flight Recorder file",
        Magic(&[b"FLR\0"]),
        "`jfrconv -o pb.gz FILE profile.pb.gz` (async-profiler) makes a pprof of it",
    ),
    profile(
        "a perf.data file",
        Magic(&[b"PERFILE2", b"2ELIFREP"]),
        "`perf_to_profile -i FILE -o profile.pb` makes a pprof of it, and so does `perf script -i FILE | otlp-profiles convert - -o profile.pb.gz`",
    ),
    profile(
        "Python's cProfile statistics (pstat)",
        // A dictionary whose first key is a tuple of three, marshalled with and without references.
        Magic(&[b"\xfb\x29\x03", b"\xfb\xa9\x03", b"\x7b\x29\x03", b"\x7b\xa9\x03"]),
        "`flameprof --format=log FILE | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it, with stacks guessed from who calls whom, as cProfile keeps none",
    ),
    profile(
        "an austin recording in MOJO form",
        Magic(&[b"MOJ"]),
        "`mojo2austin FILE profile.austin && austin2pprof profile.austin profile.pb` (austin-python) makes a pprof of it",
    ),
    profile("a memray recording", Magic(&[b"memray"]), MEMRAY),
    profile(
        "a Go execution trace",
        Bytes(signs::is_go_trace),
        "`go tool trace -pprof=sched FILE > profile.pb.gz` makes a pprof of its latencies",
    ),
    profile(
        "an SQLite database",
        Magic(&[b"SQLite format 3\0"]),
        "no converter is known; export the profile from the tool that wrote it",
    ),
    read(
        Format::PPROF_LEGACY,
        "a CPU profile in gperftools' old binary form",
        Bytes(signs::is_legacy_cpu),
        "its first words are 0, 3, 0, a period and 0",
    ),
    read(
        Format::PPROF_LEGACY,
        "a Java CPU profile in pprof's old binary form",
        Bytes(signs::is_legacy_java_cpu),
        "its first words are 0, 3, 1, a period and 0",
    ),
    no_profile(
        "an ELF binary",
        Magic(&[b"\x7fELF"]),
        "give the profile, not the program it was taken of",
    ),
    no_profile(
        "a picture",
        Magic(&[b"\x89PNG\r\n", b"GIF8", b"\xff\xd8\xff"]),
        "give the profile the picture was made from",
    ),
    // JSON, by the names in it.
    OTLP,
    Foreign { sign: Json(&["\"resource_profiles\""]), ..OTLP },
    no_profile("OTLP traces as JSON", Json(&["\"resourceSpans\""]), OTHER_SIGNAL),
    no_profile("OTLP metrics as JSON", Json(&["\"resourceMetrics\""]), OTHER_SIGNAL),
    no_profile("OTLP logs as JSON", Json(&["\"resourceLogs\""]), OTHER_SIGNAL),
    // Names of other signals may follow later; profiles have their tables first then.
    Foreign { sign: Json(&["\"dictionary\"", "Table\""]), ..OTLP },
    read(
        Format::SPEEDSCOPE,
        "a speedscope file",
        Json(&["speedscope.app/file-format-schema"]),
        "it names the schema of such files",
    ),
    profile(
        "a Chrome trace",
        Json(&["\"traceEvents\""]),
        "`moon-pprof chrometrace2pprof --no-demangle FILE profile.pb.gz` makes a pprof of the V8 CPU profile in it; without one it has spans and no stacks",
    ),
    profile(
        "a Firefox profile",
        Json(&["\"preprocessedProfileVersion\""]),
        "`moon-pprof firefox2pprof --no-demangle FILE profile.pb.gz` makes a pprof of it, with the names that are in the file",
    ),
    profile(
        "a V8 CPU profile",
        Json(&["\"callFrame\"", "\"nodes\""]),
        "`moon-pprof cpuprofile2pprof --no-demangle FILE profile.pb.gz` makes a pprof of it; `npx pprof-it APP.js` records one",
    ),
    profile(
        "a V8 heap profile",
        Json(&["\"callFrame\"", "\"head\""]),
        "`moon-pprof heapprofile2pprof --no-demangle FILE profile.pb.gz` makes a pprof of it; `npx pprof-it APP.js` records one",
    ),
    profile(
        "perf.data as JSON",
        Json(&["\"linux-perf-json-version\""]),
        "`perf_to_profile -i perf.data -o profile.pb` makes a pprof of the perf.data it was made from",
    ),
    profile("a pyinstrument session", Json(&["\"root_frame\"", "\"sample_count\""]), RECORD_PYTHON),
    profile("a DHAT heap profile", Json(&["\"dhatFileVersion\""]), RECORD_HEAP),
    profile("memray's statistics", Json(&["\"total_num_allocations\""]), MEMRAY),
    profile("a gprof2dot file", Json(&["\"costs\"", "\"callchain\""]), MEMRAY),
    read(
        Format::OSPROFILER,
        "an OSProfiler trace",
        Json(ONE_DOCUMENT),
        "it has the three ids of OSProfiler's messages",
    ),
    read(
        Format::OSPROFILER,
        "an OSProfiler report",
        Json(&["\"last_trace_started\""]),
        "it has the start time of the last point, as reports do",
    ),
    read(
        Format::OSPROFILER,
        "an OSProfiler report",
        Json(&["\"children\"", "\"started\"", "\"finished\"", "\"parent_id\""]),
        "it is a tree of points that started and finished",
    ),
    profile(
        "a Chrome trace",
        Json(&["\"ph\"", "\"ts\"", "\"pid\""]),
        "no converter is known for a bare list of events: `py-spy record --format raw -o profile.folded -- python APP.py` records what `otlp-profiles convert profile.folded -o profile.pb.gz` makes a pprof of",
    ),
    // JSON in a string of JSON, which the reader says how to extract.
    Foreign { sign: Json(&["\\\"resourceProfiles\\\""]), ..OTLP },
    Foreign { sign: Json(&["\\\"resource_profiles\\\""]), ..OTLP },
    no_profile(
        "JSON",
        Json(&[]),
        "OTLP/JSON of profiles has \"resourceProfiles\" or \"dictionary\" at its beginning; if this is some, name its format",
    ),
    // Text, by its first line or its shape.
    read(
        Format::PPROF_LEGACY,
        "a Go count profile in pprof's old text form",
        Text(signs::is_go_count),
        "its first line has a name and a total",
    ),
    profile("a dump of goroutines", Line(&["goroutine "]), GO_DUMP),
    legacy("a thread profile in pprof's old text form", Line(&["--- threadz ", "--- Thread "])),
    legacy(
        "a contention profile in pprof's old text form",
        Line(&["--- contention", "--- mutex:"]),
    ),
    legacy("a Java heap profile in pprof's old text form", Line(&["--- heapz 1 ---"])),
    legacy("a jemalloc heap profile", Line(&["heap_v2/"])),
    legacy("a heap profile in pprof's old text form", Line(&["heap profile:"])),
    profile(
        "a heap profile in pprof's old text form",
        Line(&[
            "--- heapz",
            "--- growthz",
            "growth profile:",
            "fragmentation profile:",
            "heapz_v2/",
            "heapprofile/",
        ]),
        LEGACY,
    ),
    no_profile(
        "a memory map without a profile",
        Line(&["--- Memory map: ---", "MAPPED_LIBRARIES:"]),
        "give the profile it belongs to",
    ),
    no_profile("Prometheus metrics as text", Line(&["# HELP ", "# TYPE "]), OTHER_SIGNAL),
    read(
        Format::PERF_SCRIPT,
        "text of perf script",
        Text(signs::is_perf_script),
        "its first line has a command, a thread id, a time and an event name",
    ),
    profile(
        "output of bpftrace",
        Text(signs::is_bpftrace),
        folded_by!("stackcollapse-bpftrace.pl FILE"),
    ),
    profile(
        "a call graph of FreeBSD's pmcstat",
        Text(signs::is_pmcstat),
        folded_by!("stackcollapse-pmc.pl FILE"),
    ),
    profile("output of DTrace", Text(signs::is_dtrace), folded_by!("stackcollapse.pl FILE")),
    profile("a massif heap profile", Text(signs::is_massif), RECORD_HEAP),
    profile(
        "yappi's callgrind file",
        Text(signs::is_yappi),
        "no converter is known; `yappi -f pstat -o profile.pstat APP.py` writes what `flameprof --format=log profile.pstat | otlp-profiles convert - -o profile.pb.gz` makes a pprof of",
    ),
    profile("a callgrind file", Text(signs::is_callgrind), RECORD_CPU),
    profile("memray's table of allocations", Line(&["allocator,num_allocations,size"]), MEMRAY),
    read(
        Format::FOLDED,
        "austin's folded stacks",
        Text(signs::is_austin),
        "its stacks begin with a process and a thread as austin writes them; the option dialect reads those",
    ),
    profile(
        "protobuf in text form",
        Line(&["# proto-file:", "# proto-message:"]),
        "`protoc --encode=MESSAGE SCHEMA.proto < FILE > profile.binpb` makes bytes of it",
    ),
    no_profile(
        "a report of pprof",
        Text(signs::is_pprof_report),
        "give the profile the report was made from",
    ),
    no_profile(
        "XML or HTML",
        Line(&["<?xml", "<svg", "<!DOCTYPE", "<html"]),
        "give the profile the picture was made from",
    ),
    read(
        Format::FOLDED,
        "folded stacks with attributes, as OTEP 0239 shows them",
        Text(signs::is_extended_folded),
        "its first lines are stacks followed by a number and attributes",
    ),
    read(
        Format::FOLDED,
        "folded stacks",
        Text(signs::is_folded),
        "its first lines are stacks followed by a number",
    ),
    no_profile(
        "plain text",
        Line(&[""]),
        "if it is folded stacks, or another text that can be read, name its format",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_of_a_profile_is_a_command_or_says_that_there_is_none() {
        for foreign in FOREIGN.iter().filter(|f| f.is_profile && f.format.is_none()) {
            let Foreign { what, hint, .. } = foreign;
            assert!(hint.contains('`') || hint.starts_with("no converter"), "{what}: {hint}");
            assert_eq!(hint.matches('`').count() % 2, 0, "{what}: {hint}");
        }
    }
}
