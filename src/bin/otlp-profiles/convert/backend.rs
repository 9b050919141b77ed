//! Backends whose releases are known: docs/GENERATIONS.md says which, and where that was seen.

use clap::ValueEnum;
use otlp_profiles::Format;
use otlp_profiles::format::Refs;

/// Who shall read it, in releases since spring 2026.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// The OpenTelemetry Collector since 0.148, also from files
    Collector,
    /// Parca since 0.27
    Parca,
    /// Grafana Pyroscope since 1.20
    Pyroscope,
}

impl Backend {
    /// What it reads.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Collector | Self::Parca | Self::Pyroscope => Format::OTLP_1_10,
        }
    }

    /// How it reads texts: some know no references, and a Collector before 0.161 erases the keys
    /// of texts that are in place in files.
    pub(crate) fn refs(self) -> Refs {
        match self {
            Self::Collector => Refs::Dictionary,
            Self::Parca | Self::Pyroscope => Refs::Inline,
        }
    }
}
