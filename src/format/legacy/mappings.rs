//! The binaries that addresses are in: lists of mappings, as Linux prints them and shorter.
//!
//! ```text
//! MAPPED_LIBRARIES:
//! source=/home/me                                          $source stands for /home/me from here on
//! 00400000-00500000 r-xp 00000000 08:02 1 $source/server   as Linux prints /proc/self/maps
//! 00400000-00fcb000: /bin/server (@ff00)                   shorter: range, name, offset
//! ```
//!
//! Every form is brought to Linux's and given to the parser that the builder has for it.

use crate::builder::ProcessMappings;
use crate::error::Result;
use crate::format::lines::{hex, lines};

/// The mappings behind the heading that begins them. Other tools add lines of their own, which are
/// passed over.
///
/// Linear in the text. A file may have the list twice, then all of it is taken.
pub(super) fn mappings(text: &[u8]) -> Result<ProcessMappings> {
    let mut found = String::new();
    let mut begun = false;
    // What `$name` stands for, as `name=/path` says.
    let mut names: Vec<(String, String)> = Vec::new();
    for (_, line) in lines(text) {
        let is_list = begun;
        begun |= is_heading(line);
        if !is_list || line.trim_ascii().is_empty() {
            continue;
        }
        let line = expanded(String::from_utf8_lossy(line).into_owned(), &names);
        if ProcessMappings::parse(&line).is_ok() {
            found.extend([&line, "\n"]);
        } else if let Some(line) = brief(&line) {
            found.push_str(&line);
        } else if let Some((name, path)) = line.split_once('=')
            && names.len() < MOST_NAMES
        {
            names.push((format!("${}", name.trim()), path.trim().to_owned()));
        }
    }
    ProcessMappings::parse(&found)
}

/// As many names are understood; those who write such lists use one.
const MOST_NAMES: usize = 16;

/// As many bytes a line may have with its names replaced: many times the longest path of Linux.
const MOST_EXPANDED: usize = 64 << 10;

/// A line with paths in the place of their names. One that would grow past [`MOST_EXPANDED`] stays as it
/// is: a path may say names as well, so a few lines could stand for any number of bytes.
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

/// Whether what follows is a list of mappings.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"MAPPED_LIBRARIES:") || line.starts_with(b"--- Memory map: ---")
}

/// `00400000-00fcb000: /bin/server (@ff00)` as Linux would print it.
///
/// Without permissions the mapping is taken for code, as only code has addresses in a profile. None
/// of a line that is no range.
fn brief(line: &str) -> Option<String> {
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
        let said: Vec<_> =
            found.iter().map(|m| (m.memory_start, m.file_offset, &*m.filename)).collect();
        let expected = [
            (0xc, 0, "[vdso]"),
            (0x40_0000, 0, "/home/a"),
            (0x60_0000, 0xff00, "/b"),
            (0xa0_0000, 0x1000, "/d e"),
        ];
        assert_eq!(said, expected);
    }
}
