#!/bin/sh
# Writes docs/SIZES.md anew. Set OTLP_PROFILES_CORPUS to the folder of the corpus.
set -eu
cd "$(dirname "$0")/.."
cargo bench --features proto,zstd --bench sizes -- --write "$PWD/docs/SIZES.md"
