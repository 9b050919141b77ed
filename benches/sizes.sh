#!/bin/sh
# Regenerates docs/SIZES.md. Set OTLP_PROFILES_CORPUS to the directory of the corpus.
set -eu
cd "$(dirname "$0")/.."
cargo bench --features proto,zstd --bench sizes -- --write "$PWD/docs/SIZES.md"
