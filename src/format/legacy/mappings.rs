//! Parses the mappings that contain the addresses, in the form of Linux and in a shorter one.
//!
//! ```text
//! MAPPED_LIBRARIES:
//! source=/home/me                                          $source stands for /home/me in later lines
//! 00400000-00500000 r-xp 00000000 08:02 1 $source/server   as Linux prints /proc/self/maps
//! 00400000-00fcb000: /bin/server (@ff00)                   shorter: range, name, offset
//! ```
//!
//! The shorter form is converted to that of Linux, which the builder parses.

use crate::builder::ProcessMappings;
use crate::error::Result;
use crate::format::lines::{hex, lines};

/// Parses the mappings after their heading. Skips other lines, which some tools add.
///
/// Takes linear time: names are replaced until the list is eight times as long as the text. If the text has several
/// lists, all are read.
pub(super) fn mappings(text: &[u8]) -> Result<ProcessMappings> {
    let mut found = String::new();
    let mut begun = false;
    // The values of `$name`, as defined by `name=/path`.
    let mut names: Vec<(String, String)> = Vec::new();
    for (_, line) in lines(text) {
        let is_list = begun;
        begun |= is_heading(line);
        if !is_list || line.trim_ascii().is_empty() {
            continue;
        }
        let line = String::from_utf8_lossy(line).into_owned();
        let is_long = found.len() > 8 * text.len() + MOST_EXPANDED;
        let line = if is_long { line } else { expanded(line, &names) };
        if ProcessMappings::parse(&line).is_ok() {
            found.extend([&line, "\n"]);
        } else if let Some(line) = parse_brief(&line) {
            found.push_str(&line);
        } else if let Some((name, path)) = line.split_once('=')
            && names.len() < MOST_NAMES
        {
            names.push((format!("${}", name.trim()), path.trim().to_owned()));
        }
    }
    ProcessMappings::parse(&found)
}

/// The maximum number of names. Known writers of such lists use one.
const MOST_NAMES: usize = 16;

/// The maximum length of a line with its names replaced: many times the longest path of Linux.
const MOST_EXPANDED: usize = 64 << 10;

/// Replaces names by their paths. Returns a line unchanged if it would exceed [`MOST_EXPANDED`]: a path may
/// contain names as well, so a few lines could expand to any length.
fn expanded(line: String, names: &[(String, String)]) -> String {
    let mut whole = line.clone();
    for (name, path) in names {
        let grown = whole.matches(name).count().saturating_mul(path.len());
        if grown > MOST_EXPANDED {
            return line;
        }
        whole = whole.replace(name, path);
    }
    if whole.len() > MOST_EXPANDED { line } else { whole }
}

/// Returns whether a list of mappings follows.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"MAPPED_LIBRARIES:") || line.starts_with(b"--- Memory map: ---")
}

/// Converts `00400000-00fcb000: /bin/server (@ff00)` to the form of Linux.
///
/// A mapping without permissions is assumed to be code, because the addresses of a profile are in code.
/// Returns `None` if the line has no range.
fn parse_brief(line: &str) -> Option<String> {
    let (range, rest) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
    let (start, limit) = range.strip_suffix(':').unwrap_or(range).split_once('-')?;
    let address = |word: &str| hex(word.strip_prefix("0x").unwrap_or(word).as_bytes());
    let (start, limit) = (address(start)?, address(limit)?);
    let mut words = rest.split_ascii_whitespace().peekable();
    let is_permission = |word: &&str| word.bytes().all(|byte| b"-rwxp".contains(&byte));
    let permissions = words.next_if(is_permission).unwrap_or("r-xp");
    let name = words.next_if(|word| !word.starts_with("(@")).unwrap_or_default();
    let offset = words.next().and_then(|word| word.strip_prefix("(@")?.strip_suffix(')'));
    let offset = offset.and_then(|digits| hex(digits.as_bytes()));
    let offset = offset.unwrap_or(0);
    Some(format!("{start:x}-{limit:x} {permissions} {offset:x} 00:00 0 {name}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_long_and_short() {
        let text = "--- Memory map: ---\n\tsource=/home\n\n  00400000-00500000: $source/a\n\
                    0x600000-0x700000 /b (@ff00)\n800000-900000 r--p /c\n\
                    a00000-b00000 r-xp 00001000 08:02 1 /d e\nnot=one: of them\nc-d: [vdso]\n";
        let found = mappings(text.as_bytes()).unwrap();
        let parsed: Vec<_> =
            found.iter().map(|m| (m.memory_start, m.file_offset, &*m.filename)).collect();
        let expected = [
            (0xc, 0, "[vdso]"),
            (0x40_0000, 0, "/home/a"),
            (0x60_0000, 0xff00, "/b"),
            (0xa0_0000, 0x1000, "/d e"),
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn names_do_not_multiply_a_text() {
        let lines: String = (1..500u64)
            .map(|row| {
                format!(
                    "{:x}-{:x} r-xp 0 00:00 0 {}\n",
                    row << 12,
                    (row + 1) << 12,
                    "$a".repeat(16)
                )
            })
            .collect();
        let text = format!("MAPPED_LIBRARIES:\na={}\n{lines}", "/x".repeat(1_000));
        let found = mappings(text.as_bytes()).unwrap();
        let bytes: usize = found.iter().map(|mapping| mapping.filename.len()).sum();
        assert_eq!(found.iter().count(), 499);
        assert!(bytes < 8 * text.len() + 2 * MOST_EXPANDED, "{bytes}");
    }
}
