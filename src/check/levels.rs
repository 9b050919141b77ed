//! The severities of a rule by generation, parsed from its row in the catalogue when the crate is compiled.

use crate::error::Severity;

/// The number of generations: pprof, then generations 1 to 7 of OTLP.
///
/// The catalogue counts schemas, not releases: 1.4 and 1.5 differ so little that they share their rules.
pub(crate) const GENERATIONS: usize = 8;

/// Parses the severities by generation from a row of the catalogue.
///
/// Evaluated at compile time for each row, hence the loops over bytes. Later parts override earlier ones. A
/// generation is `None` if no part or the rule itself does not include it.
pub(crate) const fn levels(severity: &str, generations: &str) -> [Option<Severity>; GENERATIONS] {
    let required = members(generations.as_bytes(), 0, generations.len());
    let text = severity.as_bytes();
    let mut levels = [None; GENERATIONS];
    let mut at = 0;
    while at < text.len() {
        let level = match text[at] {
            b'E' => Severity::Error,
            b'W' => Severity::Warning,
            b'I' => Severity::Info,
            _ => panic!("a severity is E, W or I"),
        };
        let mut end = at + 1;
        while end < text.len() && text[end] != b'/' {
            end += 1;
        }
        let of = if end == at + 1 { [true; GENERATIONS] } else { members(text, at + 1, end) };
        let mut row = 0;
        while row < GENERATIONS {
            if of[row] && required[row] {
                levels[row] = Some(level);
            }
            row += 1;
        }
        at = end + 1;
    }
    levels
}

/// Parses a list of generations such as `1-4,6,P`; `A` is all.
///
/// A range continues from the digit before it, which is a member already.
const fn members(text: &[u8], start: usize, end: usize) -> [bool; GENERATIONS] {
    let mut of = [false; GENERATIONS];
    let mut at = start;
    let mut last = 0;
    while at < end {
        match text[at] {
            b'A' => of = [true; GENERATIONS],
            b'P' => of[0] = true,
            b',' => {}
            b'-' => {
                let to = digit(text[at + 1]);
                while last < to {
                    last += 1;
                    of[last] = true;
                }
                at += 1;
            }
            other => {
                last = digit(other);
                of[last] = true;
            }
        }
        at += 1;
    }
    of
}

/// Parses a generation's digit. Any other byte stops the compiler.
const fn digit(byte: u8) -> usize {
    assert!(byte >= b'1' && byte < b'0' + GENERATIONS as u8, "generations are the digits from 1");
    (byte - b'0') as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_are_by_generation() {
        use Severity::{Error as E, Info as I, Warning as W};
        for (severity, generations, expected) in [
            ("E", "A", [Some(E); 8]),
            (
                "W6-7/I1-5",
                "1-7",
                [None, Some(I), Some(I), Some(I), Some(I), Some(I), Some(W), Some(W)],
            ),
            ("I", "P,1-4", [Some(I), Some(I), Some(I), Some(I), Some(I), None, None, None]),
            (
                "W5/I1-4,6-7",
                "1-7",
                [None, Some(I), Some(I), Some(I), Some(I), Some(W), Some(I), Some(I)],
            ),
            ("E", "5-7,P", [Some(E), None, None, None, None, Some(E), Some(E), Some(E)]),
        ] {
            assert_eq!(levels(severity, generations)[..8], expected, "{severity} {generations}");
        }
    }
}
