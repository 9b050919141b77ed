//! Parts of names that change with every build or run.

/// What follows a mark and is removed.
#[derive(Clone, Copy)]
enum Part {
    /// Decimal digits, at least one.
    Digits,
    /// Decimal digits, in groups after dots; the mark alone counts as well.
    Groups,
    /// So many hexadecimal digits or more.
    Hex(usize),
    /// Numbers and addresses, each after `$`, `/`, `+` or `.`: `$17/0x00007f`.
    Serial,
}

/// A part of names that changes.
struct Rule {
    /// The text before the part.
    mark: &'static str,
    /// Whether the mark stays.
    keeps: bool,
    part: Part,
    /// Whether the part must end the name or precede a dot.
    ends: bool,
}

const fn rule(mark: &'static str, keeps: bool, part: Part, ends: bool) -> Rule {
    Rule { mark, keeps, part, ends }
}

/// The rules in the order in which they apply: a later one may need the end of the name.
const RULES: &[Rule] = &[
    // LLVM and GCC name the clones and the cold parts of functions.
    rule(".llvm.", false, Part::Digits, true),
    rule(".cold", false, Part::Groups, true),
    rule(".isra", false, Part::Groups, true),
    rule(".constprop", false, Part::Groups, true),
    rule(".part", false, Part::Groups, true),
    rule(".lto_priv", false, Part::Groups, true),
    // Rust.
    rule("::h", false, Part::Hex(16), true),
    // Go numbers closures and the wrappers of go and defer statements.
    rule(".func", true, Part::Groups, true),
    rule(".gowrap", true, Part::Groups, true),
    rule(".deferwrap", true, Part::Groups, true),
    // Java: hidden classes, reflection, proxies, Spring.
    rule("$$Lambda", true, Part::Serial, false),
    rule("LambdaForm$MH", true, Part::Serial, false),
    rule("LambdaForm$DMH", true, Part::Serial, false),
    rule("LambdaForm$BMH", true, Part::Serial, false),
    rule("/0x", false, Part::Hex(6), false),
    rule("MethodAccessor", true, Part::Digits, false),
    rule("ConstructorAccessor", true, Part::Digits, false),
    rule("$Proxy", true, Part::Digits, false),
    rule("jdk.proxy", true, Part::Digits, false),
    rule("jdk/proxy", true, Part::Digits, false),
    rule("CGLIB$$", true, Part::Hex(1), false),
];

impl Part {
    /// The length of the part at the beginning of a text; `None` if the text begins otherwise.
    fn length(self, text: &str) -> Option<usize> {
        let digits = |text: &str, is: fn(&u8) -> bool| text.bytes().take_while(is).count();
        let decimal = |text: &str| digits(text, u8::is_ascii_digit);
        let hex = |text: &str| digits(text, u8::is_ascii_hexdigit);
        match self {
            Self::Digits => Some(decimal(text)).filter(|length| *length > 0),
            Self::Hex(least) => Some(hex(text)).filter(|length| *length >= least),
            Self::Groups => {
                let mut length = decimal(text);
                while let Some(rest) = text[length..].strip_prefix('.') {
                    match decimal(rest) {
                        0 => break,
                        more => length += 1 + more,
                    }
                }
                Some(length)
            }
            Self::Serial => {
                let mut length = 0;
                while let Some(rest) = text[length..].strip_prefix(['$', '/', '+', '.']) {
                    let number = match rest.strip_prefix("0x").map(hex) {
                        Some(hex) if hex > 0 => 2 + hex,
                        _ => decimal(rest),
                    };
                    if number == 0 {
                        break;
                    }
                    length += 1 + number;
                }
                Some(length)
            }
        }
    }
}

impl Rule {
    fn apply(&self, name: &mut String) {
        let mut from = 0;
        while let Some(at) = name.get(from..).and_then(|rest| rest.find(self.mark)) {
            let (start, end) = (from + at, from + at + self.mark.len());
            let rest = &name[end..];
            let length = self.part.length(rest).filter(|length| {
                let after = rest[*length..].bytes().next();
                !self.ends || matches!(after, None | Some(b'.' | b'-'))
            });
            from = if self.keeps || length.is_none() { end } else { start };
            if let Some(length) = length {
                name.replace_range(from..end + length, "");
            }
        }
    }
}

/// Removes the hashes of bundlers from the names of script files: `main.4f3c2b1a.js`, `index-BfX3kz9a.js`.
fn strip_bundle_hashes(name: &mut String) {
    const ENDS: [&str; 3] = [".js", ".mjs", ".css"];
    let mut from = 0;
    while let Some(at) = ENDS.iter().filter_map(|end| name.get(from..)?.find(end)).min() {
        let end = from + at;
        let start = name[..end].rfind(['/', ' ', '(']).map_or(0, |at| at + 1);
        let mut at = end;
        from = end + 1;
        // The parts between dots and hyphens, from the last; the first is the name of the bundle.
        while let Some(before) = name[start..at].rfind(['.', '-']).map(|before| start + before) {
            let part = &name[before + 1..at];
            if is_hash(part) && before > start {
                name.replace_range(before..at, "");
                from = before + 1;
                break;
            }
            if !matches!(part, "chunk" | "bundle" | "min" | "module" | "esm") {
                break;
            }
            at = before;
        }
    }
}

/// Whether a part of a file name is a hash: 8 to 64 letters and digits, of which some are digits, and not a word with a
/// number at its end.
fn is_hash(part: &str) -> bool {
    let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
    let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_word = part.trim_end_matches(|c: char| c.is_ascii_digit()).len() < part.len()
        && part.bytes().skip_while(u8::is_ascii_lowercase).all(|byte| byte.is_ascii_digit());
    (8..=64).contains(&part.len())
        && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && has(u8::is_ascii_digit)
        && (is_hex || !is_word)
}

/// Removes the parts of the name of a function or a file that change with every build or run; `None` if there are no such
/// parts.
///
/// | from | removed |
/// |---|---|
/// | Rust | `::h` and 16 hexadecimal digits |
/// | LLVM, GCC | `.llvm.123`, `.cold`, `.isra.0`, `.constprop.0`, `.part.0`, `.lto_priv.0` |
/// | Go | the type arguments `[...]`; the numbers of closures: `func1.2`, `gowrap1` |
/// | Java | the numbers and addresses of generated classes: `$$Lambda$17/0x00007f`, `LambdaForm$MH/0x00007f`, `GeneratedMethodAccessor12`, `$Proxy7`, `CGLIB$$1a2b` |
/// | JavaScript | the hashes of bundles: `main.4f3c2b1a.js`, `index-BfX3kz9a.js` |
///
/// ```
/// use otlp_profiles::transform::strip_hash;
///
/// assert_eq!(strip_hash("app::main::h0123456789abcdef").as_deref(), Some("app::main"));
/// assert_eq!(strip_hash("slices.Sort[...]").as_deref(), Some("slices.Sort"));
/// assert_eq!(strip_hash("Main$$Lambda$17/0x00007f.run").as_deref(), Some("Main$$Lambda.run"));
/// assert_eq!(strip_hash("main"), None);
/// ```
pub fn strip_hash(name: &str) -> Option<String> {
    let mut stripped = name.replace("[...]", "");
    RULES.iter().for_each(|rule| rule.apply(&mut stripped));
    strip_bundle_hashes(&mut stripped);
    (stripped != name && !stripped.is_empty()).then_some(stripped)
}
