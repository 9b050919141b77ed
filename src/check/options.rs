//! The options of a check.

use super::catalogue::{OP0010, OP9008};
use super::rule::{Fact, Rule};
use crate::error::Severity;
use crate::format::{Format, Receiver};
use crate::limits::{Limits, setters};
use crate::schema::Version;

/// Options of [`validate()`](super::validate): which rules run and how many findings are listed.
///
/// ```
/// use otlp_profiles::check::{Options, Rule, validate};
///
/// let mut options = Options::default();
/// options.ignore = vec![Rule::find("OP2001").unwrap()];
/// assert!(validate(b"", &options).findings().all(|finding| finding.rule.id() != "OP2001"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Limits on the payload. Checking stops at a limit, which is a separate error;
    /// [`Report::is_limited`](super::Report::is_limited) reports it.
    pub limits: Limits,
    /// The format, if known; otherwise detection decides.
    pub format: Option<Format>,
    /// The only rules to run; all, if empty. A rule named here runs even if it is
    /// [off](Rule::is_on).
    pub only: Vec<&'static Rule>,
    /// Rules to skip, even if another list contains them. Unreadable input and exceeded limits are always
    /// reported.
    pub ignore: Vec<&'static Rule>,
    /// Rules whose findings are errors, regardless of the catalogue.
    pub deny: Vec<&'static Rule>,
    /// Rules whose findings are infos, regardless of the catalogue.
    pub allow: Vec<&'static Rule>,
    /// The lowest severity that is listed and counted.
    pub min_severity: Severity,
    /// The number of findings listed per rule; the rest are only counted.
    pub max_findings: u64,
    /// The receiver whose requirements are checked too.
    pub receiver: Option<Receiver>,
    /// Whether the input is the body of a request in protobuf. OTLP/JSON and several messages in one file are errors
    /// then (`OP0008`, `OP0010`); otherwise they are checked as files.
    pub wire: bool,
    /// Reproduces the verdict of profcheck: runs exactly its checks, on the bytes read as OTLP 1.10. The options
    /// that select rules and severities have no effect then.
    pub compat: Option<Profcheck>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::network(),
            format: None,
            only: Vec::new(),
            ignore: Vec::new(),
            deny: Vec::new(),
            allow: Vec::new(),
            min_severity: Severity::Info,
            max_findings: 100,
            receiver: None,
            wire: false,
            compat: None,
        }
    }
}

setters! { Options {
    limits: Limits,
    format: impl Into<Option<Format>>,
    only: Vec<&'static Rule>,
    ignore: Vec<&'static Rule>,
    deny: Vec<&'static Rule>,
    allow: Vec<&'static Rule>,
    min_severity: Severity,
    max_findings: u64,
    receiver: impl Into<Option<Receiver>>,
    wire: bool,
    compat: impl Into<Option<Profcheck>>,
} }

/// The checks that profcheck runs, named like its flags.
///
/// ```
/// use otlp_profiles::check::{Options, Profcheck, validate};
///
/// let profcheck = Profcheck::default().check_orphans(true);
/// let report = validate(b"", &Options::default().compat(profcheck));
/// assert_eq!(report.findings().next().unwrap().rule.id(), "OP2001");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profcheck {
    /// Equal strings and equal mappings. Off by default.
    pub check_dupes: bool,
    /// Unreferenced rows. As in profcheck, strings that only resources, scopes and values refer to count as unreferenced. Off by
    /// default.
    pub check_orphans: bool,
    /// Samples with values or timestamps, equally many of both, and the same shape in all samples of a profile.
    pub check_sample_shapes: bool,
}

impl Default for Profcheck {
    fn default() -> Self {
        Self { check_dupes: false, check_orphans: false, check_sample_shapes: true }
    }
}

setters! { Profcheck {
    check_dupes: bool,
    check_orphans: bool,
    check_sample_shapes: bool,
} }

impl Options {
    /// Whether the options set the severity of a rule.
    pub(crate) fn names(&self, rule: &'static Rule) -> bool {
        self.deny.contains(&rule) || self.allow.contains(&rule)
    }

    /// The severity of a rule in a version; `None` if it does not run.
    ///
    /// The first match decides: profcheck's verdict has only errors; unreadable input is always reported; ignored
    /// rules do not run. Then come the severities set by the caller, by the receiver and by the catalogue.
    pub(crate) fn level(&self, rule: &'static Rule, version: Option<Version>) -> Option<Severity> {
        if self.compat.is_some() {
            let counts = *rule == OP9008;
            return Some(if counts { Severity::Info } else { Severity::Error });
        }
        let level = rule.level(version)?;
        if level == Severity::Error && (rule.is_unreadable() || rule.is(Fact::Limit)) {
            // Otherwise unreadable input would pass as input without findings.
            return Some(level);
        }
        // The count of unlisted findings runs with the rules that it counts.
        let named = self.only.contains(&rule) || *rule == OP9008;
        if self.ignore.contains(&rule) || (!self.only.is_empty() && !named) {
            return None;
        }
        match () {
            () if self.deny.contains(&rule) => Some(Severity::Error),
            () if self.allow.contains(&rule) => Some(Severity::Info),
            () if self.wire && *rule == OP0010 => Some(Severity::Error),
            () => match self.receiver.and_then(|receiver| rule.receiver_level(receiver)) {
                None if rule.is(Fact::Off) && !named => None,
                None => Some(level),
                // Rules that run only for receivers have the receiver's severity.
                Some(wanted) if rule.is(Fact::Off) => Some(wanted),
                Some(wanted) => Some(wanted.max(level)),
            },
        }
    }
}
