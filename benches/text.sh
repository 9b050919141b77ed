#!/bin/sh
# Measures time and memory for reading 100 MB of text, compared with inferno's collapsers on one thread
# (cargo install inferno). Needs python3 and GNU time.
# usage: text.sh [DIRECTORY]   The generated files stay in DIRECTORY (default: /tmp).
set -eu
cd "$(dirname "$0")/.."
folder="${1:-/tmp}"
cargo build --release
command="${CARGO_TARGET_DIR:-target}/release/otlp-profiles"
python3 - "$folder" <<'END'
import pathlib, random, re, sys
random.seed(1)
folder, size = pathlib.Path(sys.argv[1]), 100_000_000

# Folded stacks: some 56,000 stacks, each three times, with 20 frames from 4,000 function names.
folded, written = folder / "100MB.folded", 0
def frame():
    number = random.randrange(4000)
    return f"frame_{number}_of_module_{number % 40}"
with folded.open("w") as out:
    while written < size:
        stacks = [";".join(["main"] + [frame() for _ in range(20)]) for _ in range(1000)]
        for _ in range(3):
            random.shuffle(stacks)
            written += sum(out.write(f"{stack} {random.randrange(1, 1000)}\n") for stack in stacks)

# perf script text: repeats the events of a real recording, each a millisecond later.
events = pathlib.Path("testdata/linux-perf-script.txt").read_text().strip().split("\n\n")
script, written, at = folder / "100MB.script.txt", 0, 0
with script.open("w") as out:
    while written < size:
        time = f"{1000 + at // 1000}.{at % 1000:03}000: "
        written += out.write(re.sub(r"\d+\.\d+: ", time, events[at % len(events)], count=1) + "\n\n")
        at += 1
END
gzip -1 -kf "$folder/100MB.folded" "$folder/100MB.script.txt"
measure() {
    for _ in 1 2 3 4 5; do
        /usr/bin/time -f "%e s, %U s in user mode, %M kB" "$@" 2>&1 >/dev/null | tail -1
    done | sort -n | sed -n 3p
}
echo "folded, otlp-profiles: $(measure "$command" info "$folder/100MB.folded")"
echo "folded, gzip, otlp-profiles: $(measure "$command" info "$folder/100MB.folded.gz")"
echo "folded, to pprof: $(measure "$command" convert --to pprof -o - "$folder/100MB.folded")"
echo "folded, inferno: $(measure inferno-collapse-recursive -n 1 "$folder/100MB.folded")"
echo "perf script, otlp-profiles: $(measure "$command" info "$folder/100MB.script.txt")"
echo "perf script, gzip, otlp-profiles: $(measure "$command" info "$folder/100MB.script.txt.gz")"
echo "perf script, inferno: $(measure inferno-collapse-perf --all -n 1 "$folder/100MB.script.txt")"
