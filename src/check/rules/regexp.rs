//! Regular expressions, as far as can be told without compiling them.

/// Whether a text is a regular expression, as far as can be told by its brackets and its repetitions.
pub(crate) fn is_regexp(text: &[u8]) -> bool {
    let (mut open, mut at, mut repeatable) = (0u32, 0, false);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' if text.get(at).is_none() => return false,
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
                    at += 1;
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

/// Where a class of characters ends that begins at `at`.
fn class_end(text: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(text.get(at) == Some(&b'^'));
    at += usize::from(text.get(at) == Some(&b']'));
    loop {
        match text.get(at)? {
            b']' => return Some(at + 1),
            b'\\' => at += 2,
            b'[' if text.get(at + 1) == Some(&b':') => {
                let rest = text.get(at + 2..)?;
                at += 4 + rest.windows(2).position(|pair| pair == b":]")?;
            }
            _ => at += 1,
        }
    }
}
