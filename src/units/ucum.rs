//! UCUM units, case sensitive (<https://ucum.org/ucum>, §2 and §3).
//!
//! ```text
//! term       component, then `.` or `/` and another; a `/` may precede all
//! component  (term) │ a whole number │ unit, an exponent, a {note} │ {note}
//! unit       an atom, or a prefix and a metric atom: `ms`, `KiBy`, `mm[Hg]`
//! ```
//!
//! Atoms in brackets are checked only for their form: there are hundreds of customary and medical units.
//!
//! The semantic conventions of metrics use UCUM (`By`, `ms`, `{request}`). This module checks the grammar and the
//! list of atoms, not whether a prefix suits its atom. The usual units of profiles (`nanoseconds`, `count`) are one
//! component each, which is compared with a few dozen atoms.

/// Prefixes of metric atoms, in any order: every prefix is tried. Includes the binary prefixes, and the empty one
/// for an atom without a prefix.
const PREFIXES: &[&str] = &[
    "", "Ki", "Mi", "Gi", "Ti", "da", "Y", "Z", "E", "P", "T", "G", "M", "k", "h", "d", "c", "m",
    "u", "n", "p", "f", "a", "z", "y",
];

/// Atoms that take a prefix.
const METRIC: &[&str] = &[
    "m", "s", "g", "rad", "K", "C", "cd", "mol", "sr", "Hz", "N", "Pa", "J", "W", "A", "V", "F",
    "Ohm", "S", "Wb", "Cel", "T", "H", "lm", "lx", "Bq", "Gy", "Sv", "kat", "l", "L", "ar", "t",
    "bar", "u", "eV", "pc", "cal", "dyn", "erg", "G", "P", "Np", "B", "bit", "By", "Bd",
];

/// Atoms that take no prefix.
const OTHER: &[&str] = &[
    "min", "h", "d", "wk", "mo", "a", "deg", "gon", "'", "''", "%", "10*", "10^", "atm", "circ",
    "sph", "bit_s",
];

/// Whether a unit is a UCUM unit or empty (unset).
pub(crate) fn is_ucum(unit: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(unit) else { return false };
    let text = text.strip_prefix('/').unwrap_or(text);
    text.is_empty() && unit.is_empty() || is_term(text)
}

/// Whether a text consists of components between dots and slashes. Ignores both inside braces and brackets.
fn is_term(text: &str) -> bool {
    let (mut open, mut depth, mut start) = (None, 0u32, 0);
    for (at, char) in text.char_indices() {
        match (open, char) {
            (Some(close), _) if char == close => open = None,
            (Some(_), _) => {}
            (None, '{') => open = Some('}'),
            (None, '[') => open = Some(']'),
            // Treat terms in parentheses as consecutive components: that needs no recursion.
            (None, '(') if at == start => (depth, start) = (depth + 1, at + 1),
            (None, ')') if depth > 0 && is_closed(&text[start..at]) => {
                (depth, start) = (depth - 1, at);
            }
            (None, '.' | '/') if is_closed(&text[start..at]) => start = at + 1,
            (None, '.' | '/' | '(' | ')') => return false,
            _ => {}
        }
    }
    open.is_none() && depth == 0 && is_closed(&text[start..])
}

/// Whether a text is a component, or the end of a parenthesized term with its exponent.
fn is_closed(text: &str) -> bool {
    match text.strip_prefix(')') {
        Some(rest) => is_exponent(rest),
        None => is_component(text),
    }
}

/// Whether a text is a unit or number with at most one note at the end: `By{used}`, but not `{a}{b}` or `{}x`.
fn is_component(text: &str) -> bool {
    let (unit, note) = match text.find('{') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_note = note.is_empty() || note.find('}') == Some(note.len() - 1);
    let is_number = unit.bytes().all(|byte| byte.is_ascii_digit());
    is_note && (if unit.is_empty() { !note.is_empty() } else { is_number || is_unit(unit) })
}

/// Whether a text is a unit with an optional exponent: `m2`, `s-1`, `10*3`.
fn is_unit(text: &str) -> bool {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_digit());
    let atom = match text.len() - digits.len() {
        0 => text,
        _ => digits.strip_suffix(['+', '-']).unwrap_or(digits),
    };
    let is_metric = |atom: &str| METRIC.contains(&atom) || is_bracketed(atom);
    let mut rests = PREFIXES.iter().filter_map(|prefix| atom.strip_prefix(prefix));
    OTHER.contains(&atom) || rests.any(is_metric)
}

/// Whether an atom is in brackets, `[in_i]`, or in brackets after a unit: `m[Hg]`.
fn is_bracketed(atom: &str) -> bool {
    let inside = atom.strip_prefix('m').unwrap_or(atom).strip_prefix('[');
    let inside = inside.and_then(|inside| inside.strip_suffix(']'));
    inside.is_some_and(|name| !name.is_empty() && !name.contains(['[', ']']))
}

/// Whether a text is an exponent: digits with an optional sign, as in `s-1`, or empty for an exponent of 1.
fn is_exponent(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    text.is_empty() || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_ucum_are_known() {
        let units = [
            "",
            "1",
            "%",
            "s",
            "ms",
            "ns",
            "By",
            "KiBy",
            "MiBy",
            "kBy",
            "bit",
            "By/s",
            "/s",
            "1/s",
            "m/s2",
            "10*3",
            "10*-6",
            "kg.m/s2",
            "[in_i]",
            "mm[Hg]",
            "m2",
            "{request}",
            "{a.b/c}",
            "By{used}",
            "{fault}/s",
            "(m.s)/kg",
            "(m.s)2",
            "s-1",
            "100",
            "h",
            "wk",
            "Cel",
            "dBy",
        ];
        for unit in units {
            assert!(is_ucum(unit.as_bytes()), "{unit}");
        }
        let none = [
            "bytes",
            "count",
            "nanoseconds",
            "By//s",
            "By/",
            "/",
            ".s",
            "m.",
            "s s",
            "{a",
            "a}",
            "{}x",
            "kmin",
            "KB",
            "(m",
            "m)",
            "()",
            "m+",
            "[]",
            "[a",
            "µs",
            "Mbit/",
            "{a}{b}",
        ];
        for unit in none {
            assert!(!is_ucum(unit.as_bytes()), "{unit}");
        }
        assert!(!is_ucum(&[0xff]));
    }
}
