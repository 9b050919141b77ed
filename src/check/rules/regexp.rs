//! Regular expressions, as far as can be told without compiling them.
//!
//! pprof's `drop_frames` and `keep_frames`, and the attributes that took their place, are
//! expressions in RE2's syntax, as Go's package `regexp` compiles them. A library for one question
//! would be the largest dependency of the crate; one pass over the text says what Go says:
//!
//! | | refused |
//! |---|---|
//! | brackets | `(`, `a)`, `[a`, `[b-a]`, `[[:foo:]]` |
//! | repetitions | `*a`, `a**`, `a{1001}`, `a{2,1}`, `(a{1000}){2}` |
//! | groups | `(?=a)`, `(?i-)`, `(?P<n>a)(?P<n>b)` |
//! | escapes | `\y`, `(a)\1`, `\xg`, `\pX`, and `a\` |
//!
//! Two things are taken though Go refuses them, as a warning should rather be silent than wrong: names of
//! Unicode's classes that there are not (`\p{Nope}`), and expressions nested more than 1,000 deep.

use std::mem;

use crate::check::state::Set;

/// Whether a text is a regular expression. Time and memory grow with the text.
pub(crate) fn is_regexp(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let last_name = text.rfind(":]").unwrap_or(0);
    let mut parser = Parser { rest: text, last_name: text.len() - last_name, ..Parser::default() };
    parser.parse().is_some()
}

/// Go and RE2 repeat nothing more often, repetitions of repetitions included.
const MOST: u32 = 1000;

/// How often a part of an expression may be matched again by the counted repetitions in it: 1 without any.
type Times = u32;

/// A walk over an expression: every method that returns `None` has found what is none.
#[derive(Default)]
struct Parser<'t> {
    /// What was not looked at yet.
    rest: &'t str,
    /// How long what begins with the last `:]` is.
    last_name: usize,
    /// The branch that is read.
    branch: Branch,
    /// The branches around it, one for each open group.
    around: Vec<Branch>,
    /// Whether a repetition was read just before.
    repeated: bool,
    /// The names of groups.
    names: Set<&'t str>,
}

/// What was read of a group, or of the whole expression.
#[derive(Clone, Copy, Default)]
struct Branch {
    /// The most of all parts but the last.
    most: Times,
    /// The last part, which may be repeated: none at the beginning and behind `|`.
    last: Option<Times>,
}

impl Branch {
    /// Adds a part.
    fn add(&mut self, times: Times) {
        self.most = self.times();
        self.last = Some(times);
    }

    /// The most of all parts.
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

    /// Passes over a text, if it is next.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A repetition of the part before it: not of another repetition.
    fn repeat(&mut self, repeated: bool, count: Times) -> Option<()> {
        // One more may say that it is lazy.
        self.skip("?");
        let times = self.branch.last.filter(|_| !repeated)? * count;
        self.branch.last = Some(times);
        self.repeated = true;
        (count < 2 || times <= MOST).then_some(())
    }

    /// What follows a brace: `2}`, `2,}` or `2,3}`. `None` where the brace is one like any character, `Some(None)` where
    /// such numbers may not be.
    ///
    /// As Go reads it: `{` begins a repetition only if numbers without leading zeros and `}` follow,
    /// else it is a character. So `a{,2}` and `a{01}` are texts.
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

    /// What follows `(`: a name, flags, or what the group holds. There is no looking ahead or back.
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
            // Flags behind the one `-` are taken back: one at the least.
            let fits = flags
                .split_once('-')
                .is_none_or(|(_, off)| !matches!(off, "") && !off.contains('-'));
            match self.next().filter(|_| fits)? {
                ':' => {}
                // Flags alone are no part.
                ')' => return Some(()),
                _ => return None,
            }
        }
        self.around.push(mem::take(&mut self.branch));
        Some(())
    }

    /// What follows a backslash outside of a class.
    fn escape(&mut self) -> Option<()> {
        if self.skip("Q") {
            // What stands up to `\E` is taken as it is.
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

    /// Whether what follows a backslash is a set of characters, such as `d` or `pL`.
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

    /// The character that follows a backslash, which is that or stands for another one.
    ///
    /// A digit that is not 0 and stands alone is a reference back, which there are none of.
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

    /// A class of characters, behind its `[`.
    ///
    /// A `]` that comes first is a member, and so is a `-` at either end.
    fn class(&mut self) -> Option<()> {
        self.skip("^");
        let mut first = true;
        while first || !self.skip("]") {
            first = false;
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

    /// A character in a class.
    fn member(&mut self) -> Option<u32> {
        if self.skip("\\") {
            return self.character();
        }
        self.next().map(u32::from)
    }
}

/// The classes of characters that have names.
///
/// POSIX names, as in `[[:alpha:]]`.
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
