//! Regular expressions, as far as can be told without compiling them.
//!
//! pprof's `drop_frames` and `keep_frames`, and the attributes that took their place, are
//! expressions in RE2's syntax, as Go's package `regexp` compiles them. A library for one question
//! would be the largest dependency of the crate; one pass over the bytes, with no memory but a
//! counter, finds the mistakes that people make:
//!
//! | | refused |
//! |---|---|
//! | brackets | `(`, `a)`, `[a`, `[b-a]`, `[[:foo:]]` |
//! | repetitions | `*a`, `a**`, `a{1001}`, `a{2,1}` |
//! | what RE2 lacks | `(?=a)`, `(a)\1` |
//! | ends | `a\` |
//!
//! What it takes for an expression may still be none (`\y`, `\pX`): a rule that is a warning should
//! rather be silent than wrong.

/// Whether a text is a regular expression, as far as can be told by its brackets and its repetitions.
///
/// `open` counts parentheses, `repeatable` says whether there is something in front of a
/// repetition: not at the beginning, behind `(` or `|`, nor behind another repetition. Each branch
/// moves on by at least a byte, and no byte is looked at more than a constant number of times.
pub(crate) fn is_regexp(text: &[u8]) -> bool {
    let (mut open, mut at, mut repeatable) = (0u32, 0, false);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            // There are no references back.
            b'\\' if matches!(text.get(at), None | Some(b'1'..=b'9')) => return false,
            // What stands up to `\E` is taken as it is.
            b'\\' if text.get(at) == Some(&b'Q') => {
                let rest = text.get(at + 1..).unwrap_or_default();
                let length = rest.windows(2).position(|pair| pair == b"\\E");
                repeatable |= length != Some(0) && !rest.is_empty();
                at += 1 + length.map_or(rest.len(), |length| length + 2);
            }
            b'\\' => {
                at += 1;
                repeatable = true;
            }
            b'[' => match class_end(text, at) {
                Some(end) => (at, repeatable) = (end, true),
                None => return false,
            },
            b'(' => {
                open += 1;
                repeatable = false;
                if text.get(at) == Some(&b'?') {
                    match group_start(text, at + 1) {
                        Some(start) => at = start,
                        None => return false,
                    }
                }
            }
            b')' if open == 0 => return false,
            b')' => {
                open -= 1;
                repeatable = true;
            }
            b'{' if count(text, at).is_none() => repeatable = true,
            b'*' | b'+' | b'?' | b'{' => {
                let counted = if *byte == b'{' { count(text, at) } else { None };
                let (end, fits) = counted.unwrap_or((at, true));
                if !repeatable || !fits {
                    return false;
                }
                // One more may say that it is lazy.
                at = end + usize::from(text.get(end) == Some(&b'?'));
                repeatable = false;
            }
            b'|' => repeatable = false,
            _ => repeatable = true,
        }
    }
    open == 0
}

/// Where `2}`, `2,}` or `2,3}` ends, and whether such numbers may be; `None` where the brace is one like any character.
///
/// As Go reads it: `{` begins a repetition only if numbers without leading zeros and `}` follow,
/// else it is a character. So `a{,2}` and `a{01}` are texts.
fn count(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let rest = text.get(at..)?;
    let length = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b',')?;
    if rest.get(length) != Some(&b'}') {
        return None;
    }
    let numbers = std::str::from_utf8(rest.get(..length)?).ok()?;
    let number = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit())
            && !text.is_empty()
            && (text == "0" || !text.starts_with('0'));
        is_number.then(|| text.parse().unwrap_or(u32::MAX))
    };
    let (least, most) = match numbers.split_once(',') {
        None => (number(numbers)?, None),
        Some((least, "")) => (number(least)?, None),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
    };
    let fits = least.max(most.unwrap_or(0)) <= MOST && most.is_none_or(|most| least <= most);
    Some((at + length + 1, fits))
}

/// Go and RE2 repeat nothing more often.
const MOST: u32 = 1000;

/// As far as the end of a name is looked for: without a bound that would take time with every bracket.
///
/// The longest name is `[:^xdigit:]`; sixteen bytes leave room.
const LONGEST: usize = 16;

/// The classes of characters that have names.
///
/// POSIX names, as in `[[:alpha:]]`.
const CLASSES: [&[u8]; 14] = [
    b"alnum", b"alpha", b"ascii", b"blank", b"cntrl", b"digit", b"graph", b"lower", b"print",
    b"punct", b"space", b"upper", b"word", b"xdigit",
];

/// Where what a group holds begins, behind its name or its flags: there is no looking ahead or back.
///
/// `(?P<name>`, `(?<name>`, `(?flags:` and `(?flags)`. The last has no body, so where it ends is
/// given, at its `)`.
fn group_start(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let word = |from: usize| {
        let name = rest.get(from..)?;
        let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
        (end > 0 && name[end] == b'>').then_some(at + from + end + 1)
    };
    match rest {
        [b'P', b'<', ..] => word(2),
        [b'<', ..] => word(1),
        _ => {
            let flags = rest.iter().position(|byte| !b"imsU-".contains(byte))?;
            let end = at + flags;
            match rest[flags] {
                b':' => Some(end + 1),
                b')' if flags > 0 => Some(end),
                _ => None,
            }
        }
    }
}

/// Where a class of characters ends that begins at `at`.
///
/// A `]` that comes first is a member, and so is a `-` at either end. Ranges are compared for bytes
/// of ASCII alone; others are passed over byte by byte.
fn class_end(text: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(text.get(at) == Some(&b'^'));
    at += usize::from(text.get(at) == Some(&b']'));
    loop {
        match text.get(at)? {
            b']' => return Some(at + 1),
            b'\\' => at += 2,
            from @ 0..0x80 if text.get(at + 1) == Some(&b'-') => match text.get(at + 2)? {
                b']' | b'\\' | b'[' | 0x80.. => at += 1,
                to if to < from => return None,
                _ => at += 3,
            },
            b'[' if text.get(at + 1) == Some(&b':') => {
                let rest = text.get(at + 2..)?;
                match rest.windows(2).take(LONGEST).position(|pair| pair == b":]") {
                    Some(length) => {
                        let name = rest.get(..length)?;
                        let name = name.strip_prefix(b"^").unwrap_or(name);
                        CLASSES.contains(&name).then_some(())?;
                        at += 4 + length;
                    }
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    }
}

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
            "(?=a)",
            r"a\",
        ] {
            assert!(!is_regexp(text.as_bytes()), "{text}");
        }
    }
}
