//! A rule: its name, statement, source and severity.
//!
//! A rule is an immutable `static`, declared by [`rules!`] in a file of [`catalogue`](super::catalogue). Code that
//! detects a violation names the constant; all other code uses this type.
//!
//! ```text
//! severity "W6-7/I1-5"  generations "1-7"     for people
//! levels   P:- 1:I 2:I 3:I 4:I 5:I 6:W 7:W    for lookups, derived from both at compile time
//! ```

use std::fmt;

use crate::check::levels::GENERATIONS;
use crate::error::Severity;
use crate::format::Receiver;
use crate::schema::Version;

/// A rule of the catalogue. Ids are stable: they never change their meaning and are never reused.
///
/// ```
/// use otlp_profiles::check::Rule;
///
/// let rule = Rule::find("OP3101").unwrap();
/// assert_eq!(rule.name(), "index-sample-stack-index");
/// assert_eq!(rule.place(), "Sample.stack_index");
/// ```
pub struct Rule {
    /// The name of the constant, so the two cannot differ.
    pub(crate) id: &'static str,
    /// In lower case with dashes, and unique; command lines accept it.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) facts: &'static [Fact],
    /// Severities by generation, as in `W6-7/I1-5`, or one for all.
    pub(crate) severity: &'static str,
    /// Generations, as in `1-7,P`; `A` is any input, containers included.
    pub(crate) generations: &'static str,
    /// The same as `severity`, by [generation]: a table, because every finding looks it up.
    pub(crate) levels: [Option<Severity>; GENERATIONS],
    /// The message and field, as in `Sample.stack_index`.
    pub(crate) place: &'static str,
    /// The violation in words, without the value.
    pub(crate) statement: &'static str,
    /// The statement with `{v}` for the value found and `{b}` for what is valid; if empty, they are appended to
    /// `statement`.
    pub(crate) finding: &'static str,
    /// Why the rule matters: the lines of its doc comment.
    pub(crate) why: &'static [&'static str],
    /// The documents that require it, by the names of [`SOURCES`](super::sources).
    pub(crate) source: &'static str,
    /// A value that violates the rule.
    pub(crate) example: &'static str,
    /// The same value, corrected.
    pub(crate) correction: &'static str,
    /// Advice for people; `fixed` is the change that a program can make.
    pub(crate) fix: &'static str,
    /// The change that [`fix`](super::fix()) makes.
    pub(crate) fixed: Option<&'static str>,
    /// The reaction of known receivers: an error means that they reject the payload, a warning that they silently
    /// drop or damage data. Based on the code of the receivers, at the releases that
    /// [`catalogue`](super::catalogue) names.
    pub(crate) receivers: &'static [(Receiver, Severity)],
}

/// The topic of a rule, encoded in the first two digits of its id. Each topic is a file of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    File,
    Wire,
    Structure,
    Zero,
    Index,
    Duplicates,
    Orphan,
    Repeats,
    Samples,
    Attributes,
    Identity,
    Frames,
    Conventions,
    Limit,
    Hint,
    Receiver,
    Pprof,
}

/// A special property of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The rule runs only if it is named.
    Off,
    /// The message cannot be decoded past the violation.
    Breaking,
    /// The file cannot be read.
    Unreadable,
    /// A limit was reached. It may be raised, whereas a malformed payload stays malformed.
    Limit,
    /// Rewriting the payload would lose data, so `fix` leaves it alone.
    Lossy,
    /// The rule is about the bytes of a message, not their meaning, although its topic is not.
    OfBytes,
}

/// Declares the rules of a [`Family`], each as a constant named like its id, and `RULES` with all of them. The doc
/// comment of a row explains why the rule matters.
///
/// ```text
/// OP9202 "reader-reference" ["E" "7"] Off "KeyValue.key_strindex"      id, name, severity, generations, facts, place
///     "the receiver cannot …" finding "text {v} is a reference"       statement, finding
///     source "…" example "…" => "…"
///     fix "…" fixed "…" for Parca Error, Pyroscope Warning;           advice, what --fix does, receivers
/// ```
///
/// A family may name a source before its rows, for the rows without one.
///
/// The compiler rejects unknown severities and generations ([`levels`](crate::check::levels::levels) panics during
/// constant evaluation), and two rules with the same id in a file.
macro_rules! rules {
    ($family:ident $(source $default:literal)?: $($(#[doc = $why:literal])* $id:ident $name:literal [$severity:literal $generations:literal] $($fact:ident)* $place:literal
        $statement:literal $(finding $finding:tt)? $(source $source:tt)?
        example $example:literal => $correction:literal
        fix $fix:tt $(fixed $fixed:tt)? $(for $($receiver:ident $reaction:ident),*)?;)*) => {
        /// The source of the rules without their own.
        const SOURCE: &str = concat!($($default)?);

        $(
            #[doc = $statement]
            #[doc = ""]
            $(#[doc = $why])*
            pub(crate) static $id: $crate::check::rule::Rule = $crate::check::rule::Rule {
                id: stringify!($id),
                name: $name,
                family: $crate::check::rule::Family::$family,
                facts: &[$($crate::check::rule::Fact::$fact),*],
                severity: $severity,
                generations: $generations,
                levels: $crate::check::levels::levels($severity, $generations),
                place: $place,
                statement: $statement,
                finding: rules!(@or "" $($finding)?),
                why: &[$($why),*],
                source: $crate::check::rule::first(&[$($source,)? SOURCE]),
                example: $example,
                correction: $correction,
                fix: $fix,
                fixed: rules!(@or None $((Some($fixed)))?),
                receivers: &[$($(
                    ($crate::format::Receiver::$receiver, $crate::error::Severity::$reaction)
                ),*)?],
            };
        )*

        /// The rules of this family.
        pub(crate) static RULES: &[&$crate::check::rule::Rule] = &[$(&$id),*];
    };
    (@or $default:tt) => { $default };
    (@or $default:tt $given:tt) => { $given };
}
pub(crate) use rules;

/// The first of several texts.
pub(crate) const fn first(texts: &[&'static str]) -> &'static str {
    texts[0]
}

/// The first and the last release of OTLP in each generation; empty for pprof.
const RELEASES: [(&str, &str); GENERATIONS] = [
    ("", ""),
    ("1.3", "1.3"),
    ("1.4", "1.5"),
    ("1.6", "1.6"),
    ("1.7", "1.7"),
    ("1.8", "1.8"),
    ("1.9", "1.9"),
    ("1.10", "1.11"),
];

/// The generation of the catalogue that a version belongs to; 0 is pprof.
pub(crate) fn generation(version: Version) -> usize {
    match version {
        // Events have no rules: they are not checked.
        Version::Pprof | Version::Events => 0,
        Version::V1_3 => 1,
        Version::V1_4 | Version::V1_5 => 2,
        Version::V1_6 => 3,
        Version::V1_7 => 4,
        Version::V1_8 => 5,
        Version::V1_9 => 6,
        Version::V1_10 => 7,
    }
}

impl Rule {
    /// Returns the id, such as `OP3101`: `OP` for OTLP and files, `PP` for pprof, then the topic in two digits, such as 31 for
    /// indices. `--only`, `--ignore`, `--deny` and `--allow` accept it.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Returns the name, such as `index-sample-stack-index`. [`Rule::find`] accepts the name and the id.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the severity by generation: `E`, or `W6-7/I1-5` for a warning in generations 6 and 7 and an info before.
    ///
    /// A [finding](super::Finding::severity) has the severity for its own payload.
    pub fn severity(&self) -> &'static str {
        self.severity
    }

    /// Returns the generations the rule applies to, as the catalogue counts them: 1 is OTLP 1.3, 2 is 1.4 and 1.5, 3 to 7
    /// are 1.6 to 1.10; P is pprof, A is anything.
    pub fn generations(&self) -> &'static str {
        self.generations
    }

    /// Returns the message and field that the rule checks.
    pub fn place(&self) -> &'static str {
        self.place
    }

    /// Returns the statement of a violation.
    pub fn statement(&self) -> &'static str {
        self.statement
    }

    /// Returns why the rule matters.
    pub fn why(&self) -> String {
        self.why.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the documents that require it. [`Rule::links`] has their addresses.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Returns a value that violates the rule.
    pub fn example(&self) -> &'static str {
        self.example
    }

    /// Returns the [example](Self::example), corrected.
    pub fn correction(&self) -> &'static str {
        self.correction
    }

    /// Returns the correction to make, in the imperative.
    ///
    /// ```
    /// use otlp_profiles::check::Rule;
    ///
    /// assert_eq!(Rule::find("OP7011").unwrap().fix(), "set mapping_index");
    /// ```
    pub fn fix(&self) -> &'static str {
        self.fix
    }

    /// Returns the address of the page that documents the rule.
    ///
    /// ```
    /// let rule = otlp_profiles::check::Rule::find("OP7011").unwrap();
    /// assert!(rule.url().ends_with("/docs/RULES.md#op7011"));
    /// ```
    pub fn url(&self) -> String {
        let (repository, id) = (env!("CARGO_PKG_REPOSITORY"), self.id.to_ascii_lowercase());
        format!("{repository}/blob/main/docs/RULES.md#{id}")
    }

    /// Returns whether the rule runs by default. Hints about size and the requirements of receivers run only if named.
    pub fn is_on(&self) -> bool {
        !self.is(Fact::Off)
    }

    /// Returns the highest severity in any generation, for machine output with one level per rule.
    pub fn worst(&self) -> Severity {
        self.levels.iter().flatten().max().copied().unwrap_or(Severity::Info)
    }

    /// Formats the severities, as in `info in OTLP 1.3 to 1.7, warning in OTLP 1.8 to 1.11`; without generations
    /// for rules about any input.
    fn severity_in_words(&self) -> String {
        if self.generations == "A" {
            return self.worst().to_string();
        }
        let (mut parts, mut from) = (Vec::new(), 1);
        for run in self.levels[from..].chunk_by(PartialEq::eq) {
            let of = (RELEASES[from].0, RELEASES[from + run.len() - 1].1);
            from += run.len();
            parts.extend(run[0].map(|level| match of {
                (first, last) if first == last => format!("{level} in OTLP {first}"),
                (first, last) => format!("{level} in OTLP {first} to {last}"),
            }));
        }
        parts.extend(self.levels[0].map(|level| format!("{level} in pprof")));
        parts.join(", ")
    }

    /// Returns the change that [`fix`](super::fix()) makes; `None` if a violation has no single right correction.
    ///
    /// ```
    /// use otlp_profiles::check::Rule;
    ///
    /// let rule = Rule::find("duplicate-string").unwrap();
    /// assert_eq!(rule.fixed_by(), Some("the equal rows became one"));
    /// ```
    pub fn fixed_by(&self) -> Option<&'static str> {
        self.fixed
    }

    /// Returns the other checkers and receivers that check the same, with their reaction.
    pub fn checked_by(&self) -> Vec<String> {
        let receivers = Receiver::ALL.iter().filter_map(|receiver| {
            let does = match self.receiver_level(*receiver)? {
                Severity::Error if *receiver != Receiver::Collector => "rejects the payload",
                _ => "drops or damages the data",
            };
            Some(format!("{receiver}: {does}"))
        });
        let tools = [("profcheck", "profcheck"), ("CheckValid", "google/pprof: rejects the file")];
        let tools = tools.iter().filter(|(name, _)| self.source.contains(name));
        receivers.chain(tools.map(|(_, does)| (*does).to_owned())).collect()
    }

    /// The least severity for a receiver; `None` if the receiver does not enforce the rule.
    pub(crate) fn receiver_level(&self, receiver: Receiver) -> Option<Severity> {
        self.receivers.iter().find(|(of, _)| *of == receiver).map(|(_, level)| *level)
    }

    pub(crate) fn is(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    /// Whether a violation makes a file or a message unreadable.
    ///
    /// Such rules run whatever [`Options`](super::Options) exclude: unreadable input would otherwise pass as input
    /// without findings.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.is(Fact::Unreadable) || self.is(Fact::Breaking)
    }

    /// Whether the rule is about the encoding of a message, not its meaning. Such findings are kept for malformed
    /// messages.
    pub(crate) fn is_of_bytes(&self) -> bool {
        matches!(self.family, Family::File | Family::Wire | Family::Limit) || self.is(Fact::OfBytes)
    }

    /// The severity in a version; `None` if the rule does not apply to it.
    pub(crate) fn level(&self, version: Option<Version>) -> Option<Severity> {
        match version {
            Some(version) => self.levels.get(generation(version)).copied().flatten(),
            None => Some(self.worst()),
        }
    }
}

impl PartialEq for Rule {
    /// Compares addresses, which is faster than comparing texts.
    fn eq(&self, other: &Self) -> bool {
        // Each rule is one static, and no other code can create a rule.
        std::ptr::eq(self, other)
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}

/// Formats everything about a rule, as `--explain` prints it.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}: {}", self.id, self.name, self.statement)?;
        writeln!(f, "{}, at {}", self.severity_in_words(), self.place)?;
        if self.is(Fact::Off) {
            let receiver = self.family == Family::Receiver;
            let by = if receiver { "--for" } else { "--only, --deny or --allow" };
            writeln!(f, "off unless {by} names {}", if receiver { "a receiver" } else { "it" })?;
        }
        let (links, checkers) = (self.links(), self.checked_by());
        let links = links.iter().map(|(name, url)| format!("{name}: {url}")).collect();
        let lines = |text: &str| vec![text.to_owned()];
        for (title, lines) in [
            ("Why it matters", lines(&self.why())),
            ("Example", lines(self.example)),
            ("Corrected", lines(self.correction)),
            ("What to do", lines(self.fix)),
            ("Fixed by --fix", self.fixed_by().into_iter().map(str::to_owned).collect()),
            ("Source", [lines(self.source), links].concat()),
            ("Also checked by", checkers),
        ] {
            if !lines.is_empty() {
                writeln!(f, "\n{title}:\n  {}", lines.join("\n  ").replace('`', ""))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_said_by_release() {
        let severity = |id| Rule::find(id).unwrap().severity_in_words();
        assert_eq!(severity("OP0001"), "error");
        assert_eq!(severity("OP8009"), "warning in OTLP 1.8 to 1.11");
        assert_eq!(severity("OP1019"), "warning in OTLP 1.3 to 1.11, warning in pprof");
        assert_eq!(severity("PP1001"), "error in pprof");
    }
}
