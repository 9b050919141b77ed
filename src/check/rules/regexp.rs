//! Validates regular expressions without compiling them.
//!
//! pprof's `drop_frames` and `keep_frames`, and the attributes that replace them, are expressions in RE2's syntax,
//! as Go's package `regexp` compiles them. A regular-expression library for this one question would be the largest
//! dependency of the crate. One pass over the text gives the same answers as Go:
//!
//! | | rejected |
//! |---|---|
//! | brackets | `(`, `a)`, `[a`, `[b-a]`, `[[:foo:]]` |
//! | repetitions | `*a`, `a**`, `a{1001}`, `a{2,1}`, `(a{1000}){2}` |
//! | groups | `(?=a)`, `(?i-)`, `(?P<n>a)(?P<n>b)` |
//! | escapes | `\y`, `(a)\1`, `\xg`, `\pX`, and `a\` |
//!
//! Two constructs are accepted though Go rejects them, because a missing warning is better than a false one:
//! unknown Unicode class names (`\p{Nope}`), and expressions nested more than 1,000 deep.

use std::mem;

use crate::check::state::Set;

/// Whether a text is a regular expression. Takes time and memory linear in its length.
pub(crate) fn is_regexp(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let last_name = text.rfind(":]").unwrap_or(0);
    let mut parser = Parser { rest: text, last_name: text.len() - last_name, ..Parser::default() };
    parser.parse().is_some()
}

/// The maximum repeat count of Go and RE2, nested repetitions included.
const MOST: u32 = 1000;

/// How often the counted repetitions inside a part may repeat it: 1 without any.
type Times = u32;

/// A parser of expressions: its methods return `None` if the expression is invalid.
#[derive(Default)]
struct Parser<'t> {
    /// The rest of the text.
    rest: &'t str,
    /// The length of the suffix of the text that begins with the last `:]`.
    last_name: usize,
    /// The current branch.
    branch: Branch,
    /// The enclosing branches, one for each open group.
    around: Vec<Branch>,
    /// Whether the last element was a repetition.
    repeated: bool,
    /// The names of groups so far.
    names: Set<&'t str>,
}

/// The state of a group, or of the whole expression, so far.
#[derive(Clone, Copy, Default)]
struct Branch {
    /// The maximum over all parts except the last.
    most: Times,
    /// The last part, which may be repeated; `None` at the beginning and after `|`.
    last: Option<Times>,
}

impl Branch {
    /// Adds a part.
    fn add(&mut self, times: Times) {
        self.most = self.times();
        self.last = Some(times);
    }

    /// The maximum over all parts.
    fn times(self) -> Times {
        self.most.max(self.last.unwrap_or(0))
    }
}

impl<'t> Parser<'t> {
    fn parse(&mut self) -> Option<()> {
        while let Some(c) = self.next() {
            let repeated = mem::take(&mut self.repeated);
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' => {
                    let times = self.branch.times().max(1);
                    self.branch = self.around.pop()?;
                    self.branch.add(times);
                }
                '|' => self.branch = Branch { most: self.branch.times(), last: None },
                '*' | '+' | '?' => self.repeat(repeated, 1)?,
                '{' => match self.count() {
                    Some(count) => self.repeat(repeated, count?)?,
                    None => self.branch.add(1),
                },
                _ => self.branch.add(1),
            }
        }
        self.around.is_empty().then_some(())
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// Skips `text` if the rest begins with it.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Repeats the last part, which must not be a repetition itself.
    fn repeat(&mut self, repeated: bool, count: Times) -> Option<()> {
        // A `?` after a repetition makes it lazy.
        self.skip("?");
        // Both factors are at most `MOST`, so the product fits.
        let times = self.branch.last.filter(|_| !repeated)? * count;
        self.branch.last = Some(times);
        self.repeated = true;
        (count < 2 || times <= MOST).then_some(())
    }

    /// Parses the rest of a counted repetition after its `{`: `2}`, `2,}` or `2,3}`. Returns `None` if the brace is
    /// a literal character, `Some(None)` if the counts are invalid.
    ///
    /// As in Go, `{` begins a repetition only if counts without leading zeros and `}` follow; otherwise it is a
    /// literal. So `a{,2}` and `a{01}` are literal texts.
    fn count(&mut self) -> Option<Option<Times>> {
        let length = self.rest.find(|c: char| !c.is_ascii_digit() && c != ',')?;
        let (numbers, rest) = self.rest.split_at(length);
        let rest = rest.strip_prefix('}')?;
        let number = |text: &str| {
            let is_number = !text.is_empty() && (text == "0" || !text.starts_with('0'));
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            (is_number && digits).then(|| text.parse().unwrap_or(u32::MAX))
        };
        let (least, most) = match numbers.split_once(',') {
            None => (number(numbers)?, Some(number(numbers)?)),
            Some((least, "")) => (number(least)?, None),
            Some((least, most)) => (number(least)?, Some(number(most)?)),
        };
        self.rest = rest;
        let fits = least.max(most.unwrap_or(0)) <= MOST && most.is_none_or(|most| least <= most);
        Some(fits.then_some(most.unwrap_or(least.max(1))))
    }

    /// Parses the start of a group after its `(`: a name or flags, if any. Look-around is rejected.
    fn group(&mut self) -> Option<()> {
        if self.skip("?P<") || self.skip("?<") {
            let (name, rest) = self.rest.split_once('>')?;
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let is_name = !name.is_empty() && name.bytes().all(is_word);
            self.rest = rest;
            (is_name && self.names.insert(name)).then_some(())?;
        } else if self.skip("?") {
            let length = self.rest.find(|c| !"imsU-".contains(c))?;
            let (flags, rest) = self.rest.split_at(length);
            self.rest = rest;
            // Flags after the single `-` are turned off; at least one is required.
            let fits = flags
                .split_once('-')
                .is_none_or(|(_, off)| !matches!(off, "") && !off.contains('-'));
            match self.next().filter(|_| fits)? {
                ':' => {}
                // Flags alone are not a part that can be repeated.
                ')' => return Some(()),
                _ => return None,
            }
        }
        self.around.push(mem::take(&mut self.branch));
        Some(())
    }

    /// Parses the rest of an escape outside of a class, after its backslash.
    fn escape(&mut self) -> Option<()> {
        if self.skip("Q") {
            // Text up to `\E` is literal.
            let (text, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
            self.rest = rest;
            text.chars().for_each(|_| self.branch.add(1));
            return Some(());
        }
        let is_place = ["A", "b", "B", "z"].iter().any(|place| self.skip(place));
        if !is_place && !self.is_set()? {
            self.character()?;
        }
        self.branch.add(1);
        Some(())
    }

    /// Whether the text after a backslash is a character set such as `d` or `pL`.
    fn is_set(&mut self) -> Option<bool> {
        if ["d", "D", "s", "S", "w", "W"].iter().any(|set| self.skip(set)) {
            return Some(true);
        }
        if !self.skip("p") && !self.skip("P") {
            return Some(false);
        }
        if !self.skip("{") {
            return "CLMNPSZ".contains(self.next()?).then_some(true);
        }
        let (name, rest) = self.rest.split_once('}')?;
        self.rest = rest;
        let name = name.strip_prefix('^').unwrap_or(name);
        let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        (!name.is_empty() && name.bytes().all(is_letter)).then_some(true)
    }

    /// Parses the character after a backslash and returns the character that the escape represents.
    ///
    /// A single digit other than 0 is a back reference, which RE2 does not support.
    fn character(&mut self) -> Option<u32> {
        let digit =
            |parser: &Self, radix| parser.rest.chars().next().and_then(|c| c.to_digit(radix));
        let c = self.next()?;
        Some(match c {
            '1'..='7' if digit(self, 8).is_none() => return None,
            '0'..='7' => {
                let mut value = c.to_digit(8)?;
                for _ in 0..2 {
                    let Some(more) = digit(self, 8) else { break };
                    self.next();
                    value = value * 8 + more;
                }
                value
            }
            'x' if self.skip("{") => {
                let (number, rest) = self.rest.split_once('}')?;
                self.rest = rest;
                let is_number = number.bytes().all(|byte| byte.is_ascii_hexdigit());
                let value = u32::from_str_radix(number.trim_start_matches('0'), 16);
                let value = if number.bytes().all(|byte| byte == b'0') { Ok(0) } else { value };
                let fits = is_number && !number.is_empty();
                value.ok().filter(|value| fits && *value <= u32::from(char::MAX))?
            }
            'x' => {
                let first = self.next()?.to_digit(16)?;
                first * 16 + self.next()?.to_digit(16)?
            }
            'a' => 7,
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            _ if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
            _ => return None,
        })
    }

    /// Parses the rest of a character class after its `[`.
    ///
    /// A leading `]` is a member, and so is a `-` at either end.
    fn class(&mut self) -> Option<()> {
        self.skip("^");
        let mut first = true;
        while first || !self.skip("]") {
            first = false;
            // A `:]` follows. Without this test, each of many `[:` would search the rest of the text.
            if self.rest.starts_with("[:") && self.rest.len() >= self.last_name + 2 {
                let (name, rest) = self.rest.get(2..)?.split_once(":]")?;
                self.rest = rest;
                CLASSES.contains(&name.strip_prefix('^').unwrap_or(name)).then_some(())?;
                continue;
            }
            let before = self.rest;
            if self.skip("\\") && self.is_set()? {
                continue;
            }
            self.rest = before;
            let from = self.member()?;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") && self.rest.len() > 1 {
                self.skip("-");
                (self.member()? >= from).then_some(())?;
            }
        }
        self.branch.add(1);
        Some(())
    }

    /// Parses a character of a class.
    fn member(&mut self) -> Option<u32> {
        if self.skip("\\") {
            return self.character();
        }
        self.next().map(u32::from)
    }
}

/// The POSIX class names, as in `[[:alpha:]]`.
const CLASSES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_those_that_go_takes() {
        for text in [
            "",
            "a|b",
            "^*",
            "$+",
            "a{1000}",
            "a{2,}?",
            "a{0,2}",
            "a{,2}",
            "a{01}",
            "{",
            "{a}",
            "a{1",
            "[[:alpha:]_]",
            "[[:^digit:]]",
            "[[:a]",
            r"\QA(\E",
            r"\Q*",
            r"\Qa\E*",
            r"a\Q\E*",
            "(?i)a",
            "(?P<n>a)+?",
            "[]a]",
            r"\12\0\x{10FFFF}\x41\pL\P{Greek}[\d\pN\x20-\x7e]",
            r"a\_\-\b*",
            "a*(?i)*",
            "(?i-s:a)(?)",
            "((a{10}){10}){10}",
            "(a{1000}){1}",
            "[+-[]",
            "[a-]",
        ] {
            assert!(is_regexp(text.as_bytes()), "{text}");
        }
        for text in [
            "(",
            ")",
            "*",
            "+a",
            "a**",
            "a{2}{3}",
            "{2}",
            "a{1001}",
            "a{2,1}",
            "a{99999999999}",
            "a{0,1001}",
            "[[:foo:]]",
            "[b-a]",
            "[a",
            r"\Q\E*",
            r"\QA\E(",
            r"(a)\1",
            r"\y",
            r"\Z",
            r"\xg",
            r"\x{110000}",
            r"\p",
            r"\pX",
            r"\p{}",
            r"[a-\]]",
            r"[a-\d]",
            r"[\b]",
            "(?P<n>a)(?<n>b)",
            "(?i-)",
            "(?i)*",
            "(a{1000}){2}",
            "((a{10}){10}){11}",
            "(?=a)",
            r"a\",
        ] {
            assert!(!is_regexp(text.as_bytes()), "{text}");
        }
        assert!(!is_regexp(b"\xff"));
    }
}
