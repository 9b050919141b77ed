//! The registry of files of other tools and files without a profile: one row for each, with a command that
//! helps.

use super::foreign::Signature::{Bytes, Json, Line, Magic, Text};
#[cfg(feature = "formats")]
use super::foreign::legacy;
use super::foreign::{Foreign, no_profile, profile, read};
use super::hints::*;
use super::signatures;
use crate::format::Format;
use crate::framing::ONE_DOCUMENT;

/// OTLP/JSON. `magic::json` also returns it for `{}`, an empty message.
pub(super) const OTLP: Foreign =
    read(Format::OTLP_JSON, "OTLP profiles as JSON", Json(&["\"resourceProfiles\""]), "");

const JSON_ERROR: Foreign =
    no_profile("JSON with a message of an error", Json(&["\"error\""]), ASK_SERVER);

/// Every recognised kind. The first one whose sign matches wins.
pub(super) static FOREIGN: &[Foreign] = &[
    // Recognised by bytes.
    profile(
        "a Java Flight Recorder file",
        Magic(&[b"FLR\0"]),
        "`jfrconv -o pb.gz FILE profile.pb.gz` (async-profiler) makes a pprof of it",
    ),
    profile(
        "a perf.data file",
        Magic(&[b"PERFILE2", b"2ELIFREP"]),
        "`perf script -i FILE | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it, and so does `perf_to_profile -i FILE -o profile.pb`",
    ),
    profile(
        "Python's cProfile statistics (pstat)",
        // A dictionary whose first key is a tuple of three, marshalled with and without references.
        Magic(&[b"\xfb\x29\x03", b"\xfb\xa9\x03", b"\x7b\x29\x03", b"\x7b\xa9\x03"]),
        "`flameprof --format=log FILE | otlp-profiles convert - --type cpu:microseconds -o profile.pb.gz` makes a pprof of it, with stacks guessed from who calls whom, as cProfile keeps none",
    ),
    profile(
        "an austin recording in MOJO form",
        Magic(&[b"MOJ"]),
        "`mojo2austin FILE profile.austin && otlp-profiles convert profile.austin --dialect austin -o profile.pb.gz` makes a pprof of it; mojo2austin is part of austin-python",
    ),
    profile("a memray recording", Bytes(signatures::is_memray), MEMRAY),
    profile(
        "a Go execution trace",
        Bytes(signatures::is_go_trace),
        "`go tool trace -pprof=sched FILE > profile.pb.gz` makes a pprof of its latencies",
    ),
    profile(
        "a table of profiles (Parquet or Arrow)",
        Magic(&[b"PAR1", b"ARROW1\0\0"]),
        "`otlp-profiles import DIR -o profiles.otlp` reads the folder that `otlp-profiles export` wrote, DIR, if it holds Parquet",
    ),
    profile(
        "an SQLite database",
        Magic(&[b"SQLite format 3\0"]),
        "no converter is known; export the profile from the tool that wrote it",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::PPROF_LEGACY,
        "a profile with symbols of gperftools (pprof --raw)",
        Magic(&[b"--- symbol\n", b"--- symbol\r\n"]),
        "its symbols come first",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::PPROF_LEGACY,
        "a CPU profile in gperftools' old binary form",
        Bytes(signatures::is_legacy_cpu),
        "its first words are 0, 3, 0, a period and 0",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::PPROF_LEGACY,
        "a Java CPU profile in pprof's old binary form",
        Bytes(signatures::is_legacy_java_cpu),
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
    profile(
        "a .NET trace (nettrace)",
        Magic(&[b"Nettrace"]),
        "`dotnet-trace convert --format Speedscope -o profile FILE && otlp-profiles convert profile.speedscope.json -o profile.pb.gz` makes a pprof of it",
    ),
    profile(
        "a stackprof dump of Ruby",
        // A marshalled hash.
        Magic(&[b"\x04\x08{", b"\x04\x08}"]),
        "`stackprof --stackcollapse FILE | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it if it was recorded with `raw: true`",
    ),
    profile(
        "a Tracy capture",
        Magic(&[b"tr\xfdP", b"tlZ\x04", b"tZst"]),
        "no converter is known; `tracy-csvexport FILE` lists its zones",
    ),
    profile(
        "gmon.out of gprof",
        Magic(&[b"gmon"]),
        "no converter is known, as gprof records no stacks; `gprof PROGRAM FILE` prints it, and `perf record -g PROGRAM` records stacks",
    ),
    profile(
        "raw counters of LLVM (profraw)",
        Magic(&[b"\x81rforpl\xff", b"\xfflprofr\x81", b"\x81Rforpl\xff", b"\xfflprofR\x81"]),
        "no converter is known, as it has counters without stacks; `llvm-profdata merge -o merged.profdata FILE`, of the LLVM release that the compiler uses, prepares it for `llvm-cov`",
    ),
    profile(
        "an indexed profile of LLVM (profdata)",
        Magic(&[b"\xfflprofi\x81"]),
        "no converter is known, as it has counters without stacks; `llvm-profdata show FILE` prints it",
    ),
    profile(
        "an event trace of Windows (ETL)",
        Bytes(signatures::is_etl),
        "no converter is known; PerfView or Windows Performance Analyzer opens it",
    ),
    no_profile(
        "a Java heap dump (hprof)",
        Magic(&[b"JAVA PROFILE 1.0"]),
        "it has objects and no stacks of allocations; record those with async-profiler: `asprof -e alloc -d 30 -f alloc.jfr PID && jfrconv -o pb.gz --alloc alloc.jfr profile.pb.gz`",
    ),
    no_profile(
        "a tar archive",
        Bytes(|payload| payload.get(257..262) == Some(b"ustar")),
        "extract it first: `tar -xf FILE`",
    ),
    no_profile(
        "a zip archive",
        Magic(&[b"PK\x03\x04", b"PK\x05\x06"]),
        "extract it first: `unzip FILE`",
    ),
    no_profile(
        "an HTTP response with its headers",
        Magic(&[b"HTTP/1.", b"HTTP/2 ", b"HTTP/3 "]),
        "extract the body with `LC_ALL=C sed '1,/^\\r*$/d' FILE > profile.pb.gz`, or leave out `-i` of curl; if the status is not 200, the server refused the request",
    ),
    no_profile(
        "a multipart body",
        Bytes(signatures::is_multipart),
        "extract the first part with `python3 -c 'import sys; b = sys.stdin.buffer.read(); sys.stdout.buffer.write(b.split(b\"\\r\\n\\r\\n\", 1)[1].split(b\"\\r\\n\" + b.split(b\"\\r\\n\")[0])[0])' < FILE > profile.pb.gz`",
    ),
    no_profile(
        "a JSON text sequence (RFC 7464)",
        Magic(&[b"\x1e{", b"\x1e\n{", b"\x1e ["]),
        "`tr -d '\\036' < FILE | jq -c . > profiles.json` writes one message a line, which is read",
    ),
    // JSON, recognised by its member names.
    OTLP,
    Foreign { signature: Json(&["\"resource_profiles\""]), ..OTLP },
    no_profile("OTLP traces as JSON", Json(&["\"resourceSpans\""]), OTHER_SIGNAL),
    no_profile("OTLP metrics as JSON", Json(&["\"resourceMetrics\""]), OTHER_SIGNAL),
    no_profile("OTLP logs as JSON", Json(&["\"resourceLogs\""]), OTHER_SIGNAL),
    // Profiles whose dictionary precedes the resources, so that `resourceProfiles` may not be in the examined bytes.
    Foreign { signature: Json(&["\"dictionary\"", "Table\""]), ..OTLP },
    #[cfg(feature = "formats")]
    read(
        Format::SPEEDSCOPE,
        "a speedscope file",
        Json(&["speedscope.app/file-format-schema"]),
        "it names the schema of such files",
    ),
    profile("a Chrome trace", Json(&["\"traceEvents\""]), SPEEDSCOPE_SAVES),
    profile("a Firefox profile", Json(&["\"preprocessedProfileVersion\""]), SPEEDSCOPE_SAVES),
    profile("a V8 CPU profile", Json(&["\"callFrame\"", "\"nodes\""]), SPEEDSCOPE_SAVES),
    profile("a V8 heap profile", Json(&["\"callFrame\"", "\"head\""]), SPEEDSCOPE_SAVES),
    profile(
        "perf.data as JSON",
        Json(&["\"linux-perf-json-version\""]),
        "`perf_to_profile -i perf.data -o profile.pb` makes a pprof of the perf.data it was made from",
    ),
    profile(
        "a pyinstrument session (.pyisession)",
        Json(&["\"sample_count\"", "\"start_call_stack\""]),
        "`pyinstrument --load FILE -r speedscope | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it",
    ),
    profile("a pyinstrument session", Json(&["\"root_frame\"", "\"sample_count\""]), RECORD_PYTHON),
    profile("a DHAT heap profile", Json(&["\"dhatFileVersion\""]), RECORD_HEAP),
    profile("memray's statistics", Json(&["\"total_num_allocations\""]), MEMRAY),
    profile("a gprof2dot file", Json(&["\"costs\"", "\"callchain\""]), MEMRAY),
    #[cfg(feature = "formats")]
    read(
        Format::OSPROFILER,
        "an OSProfiler trace",
        Json(ONE_DOCUMENT),
        "it has the three ids of OSProfiler's messages",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::OSPROFILER,
        "an OSProfiler report",
        Json(&["\"last_trace_started\""]),
        "it has the start time of the last point, as reports do",
    ),
    #[cfg(feature = "formats")]
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
    // JSON in a JSON string. The error of the reader explains how to extract it.
    Foreign { signature: Json(&["\\\"resourceProfiles\\\""]), ..OTLP },
    Foreign { signature: Json(&["\\\"resource_profiles\\\""]), ..OTLP },
    JSON_ERROR,
    Foreign { signature: Json(&["\"errors\""]), ..JSON_ERROR },
    Foreign { signature: Json(&["\"message\""]), ..JSON_ERROR },
    Foreign { signature: Json(&["\"detail\""]), ..JSON_ERROR },
    no_profile(
        "JSON",
        Json(&[]),
        "OTLP/JSON of profiles has \"resourceProfiles\" or \"dictionary\" at its beginning; if this is some, name its format",
    ),
    // Text, recognised by its first line or its structure.
    #[cfg(feature = "formats")]
    read(
        Format::PPROF_LEGACY,
        "a Go count profile in pprof's old text form",
        Text(signatures::is_go_count),
        "its first line has a name and a total",
    ),
    profile("a dump of goroutines", Line(&["goroutine "]), GO_DUMP),
    #[cfg(feature = "formats")]
    legacy("a thread profile in pprof's old text form", Line(&["--- threadz ", "--- Thread "])),
    #[cfg(feature = "formats")]
    legacy(
        "a contention profile in pprof's old text form",
        Line(&["--- contention", "--- mutex:"]),
    ),
    #[cfg(feature = "formats")]
    legacy("a Java heap profile in pprof's old text form", Line(&["--- heapz 1 ---"])),
    #[cfg(feature = "formats")]
    legacy("a jemalloc heap profile", Line(&["heap_v2/", "<jemalloc>: "])),
    #[cfg(feature = "formats")]
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
    #[cfg(feature = "formats")]
    read(
        Format::PERF_SCRIPT,
        "text of Android's simpleperf report-sample",
        Text(signatures::is_simpleperf),
        "its records are named and indented",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::PERF_SCRIPT,
        "text of perf script",
        Text(signatures::is_perf_script),
        "its first line has a command, a thread id, a time and an event name",
    ),
    profile(
        "output of bpftrace",
        Text(signatures::is_bpftrace),
        folded_by!("stackcollapse-bpftrace.pl FILE"),
    ),
    profile(
        "a call graph of FreeBSD's pmcstat",
        Text(signatures::is_pmcstat),
        folded_by!("stackcollapse-pmc.pl FILE"),
    ),
    profile("output of DTrace", Text(signatures::is_dtrace), folded_by!("stackcollapse.pl FILE")),
    profile("a massif heap profile", Text(signatures::is_massif), RECORD_HEAP),
    profile(
        "yappi's callgrind file",
        Text(signatures::is_yappi),
        "no converter is known; `yappi -f pstat -o profile.pstat APP.py` writes what `flameprof --format=log profile.pstat | otlp-profiles convert - --type cpu:microseconds -o profile.pb.gz` makes a pprof of",
    ),
    profile(
        "a cachegrind file of Xdebug",
        Text(|text| signatures::is_callgrind(text) && text.contains("\ncreator: xdebug")),
        "no converter is known, as it has callers without stacks; `php -d xdebug.mode=trace -d xdebug.start_with_request=yes -d xdebug.trace_format=1 -d xdebug.use_compression=0 -d xdebug.output_dir=. APP.php` records a trace, which is recognised",
    ),
    profile(
        "a function trace of Xdebug",
        Text(|text| text.starts_with("Version: ") && text.contains("\nFile format: ")),
        "`php stackcollapse-xdebug.php FILE | otlp-profiles convert - --type wall:microseconds --scale 1 -o profile.pb.gz` makes a pprof of it; the script is part of FlameGraph",
    ),
    profile(
        "a heaptrack recording",
        Text(signatures::is_heaptrack),
        "`heaptrack_print -f FILE --flamegraph-cost-type peak -F profile.folded && otlp-profiles convert profile.folded --type space:bytes -o profile.pb.gz` makes a pprof of its peak",
    ),
    profile("a callgrind file", Text(signatures::is_callgrind), RECORD_CPU),
    profile("memray's table of allocations", Line(&["allocator,num_allocations,size"]), MEMRAY),
    #[cfg(feature = "formats")]
    read(
        Format::FOLDED,
        "austin's folded stacks",
        Text(signatures::is_austin),
        "its stacks begin with a process and a thread as austin writes them; the option dialect reads those",
    ),
    profile(
        "protobuf in text form",
        Line(&["# proto-file:", "# proto-message:"]),
        "`protoc --encode=MESSAGE SCHEMA.proto < FILE > profile.binpb` makes bytes of it",
    ),
    no_profile(
        "a report of pprof",
        Text(signatures::is_pprof_report),
        "give the profile the report was made from",
    ),
    no_profile("an HTML page", Text(signatures::is_html), ASK_SERVER),
    no_profile(
        "a picture (SVG)",
        Text(signatures::is_svg),
        "give the profile the picture was made from",
    ),
    no_profile("XML", Line(&["<?xml", "<Error", "<error"]), ASK_SERVER),
    no_profile(
        "base64 text",
        Text(signatures::is_base64),
        "decode it first: `base64 -d FILE > profile.pb.gz`",
    ),
    no_profile(
        "base64 in a data URL",
        Line(&["data:"]),
        "decode it first: `cut -d, -f2- FILE | base64 -d > profile.pb.gz`",
    ),
    no_profile(
        "a hex dump",
        Line(&["00000000: "]),
        "`xxd -r FILE > profile.pb.gz` restores the bytes",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::FOLDED,
        "folded stacks with attributes, as OTEP 0239 shows them",
        Text(signatures::is_extended_folded),
        "its first lines are stacks followed by a number and attributes",
    ),
    #[cfg(feature = "formats")]
    read(
        Format::FOLDED,
        "folded stacks",
        Text(signatures::is_folded),
        "its first lines are stacks followed by a number",
    ),
    no_profile(
        "plain text",
        Line(&[""]),
        match cfg!(feature = "formats") {
            true => {
                "if a server sent it, it may have refused the request; if it is folded stacks, or another text that can be read, name its format"
            }
            false => "if a server sent it, it may have refused the request",
        },
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
