//! Hints that several kinds of files share.

/// Shows the command that converts the output of a stackcollapse script to pprof.
macro_rules! folded_by {
    ($command:literal) => {
        concat!("`", $command, " | otlp-profiles convert - -o profile.pb.gz` makes a pprof of it")
    };
}
pub(super) use folded_by;

pub(super) const LEGACY: &str = "`go tool pprof -proto FILE > profile.pb.gz` makes a pprof of it; the program before FILE gives addresses names";
pub(super) const GO_DUMP: &str = "Go makes a pprof without debug=2 in the URL: `curl -o goroutine.pb.gz http://localhost:6060/debug/pprof/goroutine`";
pub(super) const RECORD_PYTHON: &str = "no converter is known; `py-spy record --format raw -o profile.folded -- python APP.py` records what `otlp-profiles convert profile.folded -o profile.pb.gz` makes a pprof of";
pub(super) const RECORD_HEAP: &str = "no converter is known; `HEAPPROFILE=/tmp/heap LD_PRELOAD=libtcmalloc.so PROGRAM` records what `go tool pprof -proto PROGRAM /tmp/heap.0001.heap > profile.pb.gz` makes a pprof of";
pub(super) const RECORD_CPU: &str = "no converter is known; `perf record -g PROGRAM` records what `perf script | otlp-profiles convert - -o profile.pb.gz` makes a pprof of";
pub(super) const ASK_SERVER: &str = "if a server sent it instead of a profile, it may have refused the request: check URL, login and query, and let `curl -f -o profile.pb.gz URL` report the error";
pub(super) const MEMRAY: &str = "`python -m memray transform csv -f -o allocations.csv FILE` and then `python -c 'import csv; [print(\";\".join(f.split(\";\")[0] for f in r[\"stack_trace\"].split(\"|\")[::-1]), r[\"size\"]) for r in csv.DictReader(open(\"allocations.csv\"))]' | otlp-profiles convert - --from folded --type space:bytes -o profile.pb.gz` makes a pprof of a recording";
pub(super) const OTHER_SIGNAL: &str = "this reads profiles only";

/// For profiles of browsers and Node.js.
pub(super) const SPEEDSCOPE_SAVES: &str = "open it in https://www.speedscope.app and press Ctrl+S, or Cmd+S: `otlp-profiles convert profile.speedscope.json -o profile.pb.gz` makes a pprof of the file that it saves";
