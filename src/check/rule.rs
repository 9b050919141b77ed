//! What a rule is: its name, what it asks, where that is said, and how much it matters.
//!
//! A rule is a `static` that nothing changes, declared by [`rules!`] in a file of
//! [`catalogue`](super::catalogue). Code that finds it broken names the constant; everyone else
//! sees this type.
//!
//! ```text
//! severity "W6-7/I1-5"  generations "1-7"     what people read
//! levels   P:- 1:I 2:I 3:I 4:I 5:I 6:W 7:W    what findings ask, made of both when the crate is compiled
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
    /// Lower case with dashes, and unique, as command lines take it.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) facts: &'static [Fact],
    /// As in `W6-7/I1-5`: severities by generation, or one for all.
    pub(crate) severity: &'static str,
    /// As in `1-7,P`; `A` is all, and what contains them.
    pub(crate) generations: &'static str,
    /// The same as `severity`, by [generation]: a table, since every finding asks it.
    pub(crate) levels: [Option<Severity>; GENERATIONS],
    /// As in `Sample.stack_index`.
    pub(crate) place: &'static str,
    /// What is wrong where it is broken, without the value.
    pub(crate) statement: &'static str,
    /// The same with `{v}` for the value found and `{b}` for what is valid; empty where they are appended.
    pub(crate) finding: &'static str,
    /// Why it matters: the lines of its doc comment.
    pub(crate) why: &'static [&'static str],
    /// The documents that demand it, by the names of [`SOURCES`](super::sources).
    pub(crate) source: &'static str,
    /// A value that breaks it.
    pub(crate) example: &'static str,
    /// The same value, corrected.
    pub(crate) correction: &'static str,
    /// Advice for people; what a program can do is `fixed`.
    pub(crate) fix: &'static str,
    /// What [`fix`](super::fix()) does where it is broken.
    pub(crate) fixed: Option<&'static str>,
    /// What known receivers make of it: an error is refused, a warning dropped or damaged without a word. The ground of
    /// the claims is the receivers' own code, at the releases that [`catalogue`](super::catalogue) names.
    pub(crate) receivers: &'static [(Receiver, Severity)],
}

/// The topic of a rule, which the first two digits of its id stand for: each is a file of the catalogue.
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

/// What is special about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// It runs only if it is named.
    Off,
    /// The message cannot be decoded behind the violation.
    Breaking,
    /// The file cannot be read.
    Unreadable,
    /// A limit was reached: it may be raised, where a broken payload stays broken.
    Limit,
    /// Rewriting the payload would lose data, so `fix` leaves it alone.
    Lossy,
    /// It is about the bytes of a message, not their meaning, although its family is not.
    OfBytes,
}

/// Declares the rules of a [`Family`], each a constant of its id, and `RULES` of them all. The doc comment of a row tells
/// why the rule matters.
///
/// ```text
/// OP9202 "reader-reference" ["E" "7"] Off "KeyValue.key_strindex"      id, name, severity, generations, facts, place
///     "the receiver cannot …" finding "text {v} is a reference"       statement, finding
///     source "…" example "…" => "…"
///     fix "…" fixed "…" for Parca Error, Pyroscope Warning;           advice, what --fix does, receivers
/// ```
///
/// The compiler rejects unknown severities and generations ([`levels`](crate::check::levels::levels) panics while it is evaluated), two rules of one
/// id in a file, and a row without a source.
macro_rules! rules {
    ($family:ident: $($(#[doc = $why:literal])* $id:ident $name:literal [$severity:literal $generations:literal] $($fact:ident)* $place:literal
        $statement:literal $(finding $finding:tt)? source $source:tt
        example $example:literal => $correction:literal
        fix $fix:tt $(fixed $fixed:tt)? $(for $($receiver:ident $reaction:ident),*)?;)*) => {
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
                source: $source,
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

/// The first release of OTLP and the last that are of each; pprof is none.
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
        // No rules are for events: they are not checked.
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

    /// As in `info in OTLP 1.3 to 1.7, warning in OTLP 1.8 to 1.11`; of what contains them the severity alone.
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

    /// Returns what [`fix`](super::fix()) does where the rule is broken; `None` if there is no single right answer.
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

    /// How much it matters at least to a receiver; `None` if the receiver has no opinion.
    pub(crate) fn receiver_level(&self, receiver: Receiver) -> Option<Severity> {
        self.receivers.iter().find(|(of, _)| *of == receiver).map(|(_, level)| *level)
    }

    pub(crate) fn is(&self, fact: Fact) -> bool {
        self.facts.contains(&fact)
    }

    /// Whether a file or a message cannot be read where it is broken.
    ///
    /// Such rules are asked whatever [`Options`](super::Options) leave out: a payload that could not be
    /// looked at would otherwise pass for one without findings.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.is(Fact::Unreadable) || self.is(Fact::Breaking)
    }

    /// Whether it is about how a message is written, whatever it means: told also of one that cannot be taken apart.
    pub(crate) fn is_of_bytes(&self) -> bool {
        matches!(self.family, Family::File | Family::Wire | Family::Limit) || self.is(Fact::OfBytes)
    }

    /// How much it matters in a version; `None` where it is not asked.
    pub(crate) fn level(&self, version: Option<Version>) -> Option<Severity> {
        match version {
            Some(version) => self.levels.get(generation(version)).copied().flatten(),
            None => Some(self.worst()),
        }
    }
}

impl PartialEq for Rule {
    /// By address: comparing texts would be slower and say the same.
    fn eq(&self, other: &Self) -> bool {
        // Each rule is one static, and nobody can make another.
        std::ptr::eq(self, other)
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}

/// All of it: what `--explain` prints.
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
        let said = |id| Rule::find(id).unwrap().severity_in_words();
        assert_eq!(said("OP0001"), "error");
        assert_eq!(said("OP8009"), "warning in OTLP 1.8 to 1.11");
        assert_eq!(said("OP1019"), "warning in OTLP 1.3 to 1.11, warning in pprof");
        assert_eq!(said("PP1001"), "error in pprof");
    }
}
