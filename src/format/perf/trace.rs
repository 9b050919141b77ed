//! Parses the fields of a tracepoint: `key=value`.
//!
//! ```text
//! prev_comm=Web Content prev_pid=11 prev_state=S ==> next_comm=tokio
//! prev_comm Web Content, prev_pid 11, prev_state S, next_comm tokio
//! ```
//!
//! The format of each tracepoint is defined in the kernel and not in the text. A value may contain spaces,
//! such as the name of a command, so it extends to the next key.

use crate::format::assembly::Numbering;

/// Keys that the attributes of thread and processor use. Fields share their namespace.
const RESERVED_KEYS: [&[u8]; 3] = [b"thread.id", b"thread.name", b"cpu.logical_number"];

/// A key and its value.
pub(super) type Field<'a> = (&'a [u8], &'a [u8]);

/// Returns the fields of a text, and whether it has no other data.
///
/// If a key occurs twice, the first one counts. Takes linear time.
pub(super) fn fields(trace: &[u8]) -> (Vec<Field<'_>>, bool) {
    let starts: Vec<(usize, usize)> = starts(trace).collect();
    let before = starts.first().map_or(trace.len(), |(start, _)| *start);
    let mut is_whole = trace.get(..before).is_none_or(|before| before.trim_ascii().is_empty());
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([trace.len()]);
    let (mut fields, mut numbering) = (Vec::with_capacity(starts.len()), Numbering::default());
    for (&(start, equals), end) in starts.iter().zip(ends) {
        let key = trace.get(start..equals).unwrap_or_default();
        let value = trace.get(equals + 1..end).unwrap_or_default().trim_ascii();
        let is_first = numbering.number(key).1 && !RESERVED_KEYS.contains(&key);
        is_whole &= is_first;
        if is_first {
            fields.push((key, without_separator(value)));
        }
    }
    (fields, is_whole)
}

/// Returns the offsets of the words that begin a field, and of their `=`.
fn starts(trace: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    trace.split(|byte| *byte == b' ').filter_map(move |word| {
        let start = at;
        at += word.len() + 1;
        let equals = word.iter().position(|byte| *byte == b'=')?;
        let key = word.get(..equals)?;
        let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let is_key = !key.is_empty() && key.iter().all(is_of_key);
        is_key.then_some((start, start + equals))
    })
}

/// Strips the separator from a value: a comma, or the arrow of `sched_switch`.
fn without_separator(value: &[u8]) -> &[u8] {
    let value = value.strip_suffix(b"==>").unwrap_or(value);
    value.strip_suffix(b",").unwrap_or(value).trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn values_go_on_to_the_next_key() {
        let parsed = |trace: &'static str| {
            let (fields, is_whole) = fields(trace.as_bytes());
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            let pairs = fields.into_iter().map(|(key, value)| (text(key), text(value)));
            (pairs.collect::<Vec<_>>(), is_whole)
        };
        assert_eq!(
            parsed("prev_comm=Web Content prev_state=S ==> next_comm=rt next_pid=13"),
            (
                vec![
                    ("prev_comm", "Web Content"),
                    ("prev_state", "S"),
                    ("next_comm", "rt"),
                    ("next_pid", "13")
                ],
                true
            )
        );
        assert_eq!(parsed("a=1, b=x=2 "), (vec![("a", "1"), ("b", "x=2")], true));
        assert_eq!(parsed(""), (Vec::new(), true));
        assert_eq!(parsed("8,0 WS a=1"), (vec![("a", "1")], false));
        assert_eq!(parsed("a=1 a=2"), (vec![("a", "1")], false));
        assert_eq!(parsed("thread.id=2"), (Vec::new(), false));
        assert_eq!(parsed("dfd: 0x1, =2 ==>"), (Vec::new(), false));
    }
}
