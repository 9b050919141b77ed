//! `validate --compat`: the flags of other checkers.

use clap::ValueEnum;
use otlp_profiles::check::Profcheck;

/// Checkers of other projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Checker {
    /// Of OpenTelemetry's Profiling SIG
    Profcheck,
}

/// The heading of `--compat` and its flags.
pub(super) const HEADING: &str = "Other checkers";

/// The flags of profcheck, with its names and defaults.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = HEADING)]
pub(super) struct ProfcheckFlags {
    /// With --compat profcheck: check for equal strings and mappings, too
    #[arg(long, requires = "compat", hide_short_help = true)]
    check_dupes: bool,
    /// With --compat profcheck: check for unused entries, too
    #[arg(long, requires = "compat", hide_short_help = true)]
    check_orphans: bool,
    /// With --compat profcheck: check that all samples have the same shape
    #[arg(long, requires = "compat", value_name = "BOOL", default_value_t = true,
        action = clap::ArgAction::Set, hide_short_help = true)]
    check_sample_shapes: bool,
}

impl ProfcheckFlags {
    /// Converts the flags to options. The defaults are those of profcheck: it checks shapes, but
    /// neither duplicates nor orphans.
    pub(super) fn checks(self) -> Profcheck {
        Profcheck::default()
            .check_dupes(self.check_dupes)
            .check_orphans(self.check_orphans)
            .check_sample_shapes(self.check_sample_shapes)
    }
}
