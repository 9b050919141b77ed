//! Regular expressions, as far as can be told without compiling them.

/// Whether a text is a regular expression, as far as can be told by its brackets and its repetitions.
pub(crate) fn is_regexp(text: &[u8]) -> bool {
    let (mut open, mut at, mut repeatable) = (0u32, 0, false);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            // There are no references back.
            b'\\' if matches!(text.get(at), None | Some(b'1'..=b'9')) => return false,
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
            b'*' | b'+' | b'?' if !repeatable => return false,
            b'*' | b'+' => {
                // One more may say that it is lazy.
                at += usize::from(text.get(at) == Some(&b'?'));
                repeatable = false;
            }
            b'?' => {
                at += usize::from(text.get(at) == Some(&b'?'));
                repeatable = false;
            }
            b'|' | b'^' => repeatable = false,
            _ => repeatable = true,
        }
    }
    open == 0
}

/// Where what a group holds begins, behind its name or its flags: there is no looking ahead or back.
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
                at += 4 + rest.windows(2).position(|pair| pair == b":]")?;
            }
            _ => at += 1,
        }
    }
}
