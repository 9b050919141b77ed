//! What is asked of a payload.

use super::catalogue::{OP9008, is_limit, is_unreadable};
use super::receivers;
use super::rule::Rule;
use crate::error::Severity;
use crate::format::{Format, Receiver};
use crate::limits::{Limits, setters};
use crate::schema::Version;

/// What to ask of a payload, and how much may be said.
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
    /// What the payload may cost. Past a limit nothing is checked any more: that is an error of its own, and
    /// [`Report::is_limited`](super::Report::is_limited) tells.
    pub limits: Limits,
    /// The format, where it is known; otherwise the bytes decide. OTLP/JSON is checked only if it is named.
    pub format: Option<Format>,
    /// The rules to ask, and no others; all, where it is empty. Naming a rule asks it even if it is
    /// [off](Rule::is_on).
    pub only: Vec<&'static Rule>,
    /// The rules not to ask, also if another list has them. What cannot be read, or not within the limits, is told
    /// whatever is asked.
    pub ignore: Vec<&'static Rule>,
    /// The rules whose findings are errors, whatever the catalogue says.
    pub deny: Vec<&'static Rule>,
    /// The rules whose findings are infos, whatever the catalogue says.
    pub allow: Vec<&'static Rule>,
    /// Findings below this severity are neither listed nor counted.
    pub min_severity: Severity,
    /// How many findings of a rule are listed; the others are counted.
    pub max_findings: u64,
    /// The receiver whose demands are asked too.
    pub receiver: Option<Receiver>,
    /// To give profcheck's verdict: its checks are made of the bytes as they are, taken for OTLP 1.10, and no
    /// other. Which rules are asked, and how much they matter, is not up to the other options then.
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
    compat: impl Into<Option<Profcheck>>,
} }

/// Which of its checks profcheck is asked for; its flags have these names.
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
    /// Equal strings, and equal mappings. Not by default.
    pub check_dupes: bool,
    /// Rows that nothing refers to; texts that resources, scopes and values refer to are such for it. Not by
    /// default.
    pub check_orphans: bool,
    /// Samples with values or timestamps, as many of both, and all samples of a profile alike.
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
    /// Whether the severity of a rule is given here.
    pub(crate) fn names(&self, rule: &'static Rule) -> bool {
        self.deny.contains(&rule) || self.allow.contains(&rule)
    }

    /// How much a rule matters in a version; `None` where it is not asked.
    ///
    /// In this order: profcheck's verdict knows errors alone; what cannot be read is always told;
    /// what is left out is not; then counts what the caller says, what the receiver makes of it,
    /// and at last the catalogue.
    pub(crate) fn level(&self, rule: &'static Rule, version: Option<Version>) -> Option<Severity> {
        if self.compat.is_some() {
            let counts = *rule == OP9008;
            return Some(if counts { Severity::Info } else { Severity::Error });
        }
        let level = rule.level(version)?;
        if level == Severity::Error && (is_unreadable(rule) || is_limit(rule)) {
            // What could not be looked at would pass for what has no findings.
            return Some(level);
        }
        // How many more there are is asked with the rules they are of.
        let named = self.only.contains(&rule) || *rule == OP9008;
        if self.ignore.contains(&rule) || (!self.only.is_empty() && !named) {
            return None;
        }
        match () {
            () if self.deny.contains(&rule) => Some(Severity::Error),
            () if self.allow.contains(&rule) => Some(Severity::Info),
            () => match self.receiver.and_then(|receiver| receivers::level(receiver, rule)) {
                None if rule.off && !named => None,
                None => Some(level),
                // Of what is asked for receivers alone, they say how much it matters.
                Some(wanted) if rule.off => Some(wanted),
                Some(wanted) => Some(wanted.max(level)),
            },
        }
    }
}
