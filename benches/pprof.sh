#!/bin/sh
# Compares `merge` and `top` with `go tool pprof` (Debian: golang-go) on the same files: CPU time, wall time and peak memory,
# medians of five runs that alternate. Needs GNU time.
# usage: pprof.sh FILE...   All files are merged, and reported on together.
set -eu
command="${OTLP_PROFILES:-target/release/otlp-profiles}"
pprof="$(go env GOTOOLDIR)/pprof"
folder="$(mktemp -d)"
trap 'rm -r "$folder"' EXIT
measure() {
    name="$1"
    shift
    /usr/bin/time -a -o "$folder/$name" -f "%U %S %e %M" "$@" >"$folder/out" 2>&1
}
for _ in 1 2 3 4 5; do
    measure "merge, otlp-profiles" "$command" merge "$@" -o "$folder/ours.pb.gz" --force
    measure "merge, pprof" "$pprof" -symbolize=none -proto -output="$folder/theirs.pb.gz" "$@"
    measure "top, otlp-profiles" "$command" top "$@"
    measure "top, pprof" "$pprof" -symbolize=none -top "$@"
done
for name in "merge, otlp-profiles" "merge, pprof" "top, otlp-profiles" "top, pprof"; do
    awk '{ print $1 + $2, $3, $4 }' "$folder/$name" | sort -n | sed -n 3p |
        awk -v name="$name" '{ printf "%s: %.2f s CPU, %.2f s wall, %.0f MiB\n", name, $1, $2, $3 / 1024 }'
done
