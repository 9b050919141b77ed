//! Parts of names that change with every build or run.

use std::ops::Range;

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
    /// Returns a name without the parts of this rule, in one pass.
    fn apply(&self, name: String) -> String {
        if !name.contains(self.mark) {
            return name;
        }
        let (mut stripped, mut rest) = (String::with_capacity(name.len()), &name[..]);
        while let Some((before, after)) = rest.split_once(self.mark) {
            let length = self.part.length(after).filter(|length| {
                let next = after[*length..].bytes().next();
                !self.ends || matches!(next, None | Some(b'.' | b'-'))
            });
            stripped.push_str(before);
            if self.keeps || length.is_none() {
                stripped.push_str(self.mark);
            }
            rest = &after[length.unwrap_or_default()..];
        }
        stripped + rest
    }
}

/// Removes the hashes of bundlers from the names of script files: `main.4f3c2b1a.js`, `index-BfX3kz9a.js`.
fn strip_bundle_hashes(name: &str) -> String {
    const ENDS: [&str; 3] = [".js", ".mjs", ".css"];
    let (mut stripped, mut copied) = (String::with_capacity(name.len()), 0);
    // Where the name of the next file may begin.
    let mut start = 0;
    for (end, _) in name.match_indices('.') {
        if ENDS.iter().any(|suffix| name[end..].starts_with(suffix)) {
            start += name[start..end].rfind(['/', ' ', '(']).map_or(0, |at| at + 1);
            if let Some(hash) = bundle_hash(&name[start..end]) {
                stripped.push_str(&name[copied..start + hash.start]);
                copied = start + hash.end;
            }
            start = end + 1;
        }
    }
    stripped + &name[copied..]
}

/// Finds the hash in the name of a file without its extension: the last part after a dot or a hyphen.
fn bundle_hash(file: &str) -> Option<Range<usize>> {
    let mut end = file.len();
    // The first part is the name of the bundle.
    while let Some(mark) = file[..end].rfind(['.', '-']).filter(|mark| *mark > 0) {
        match &file[mark + 1..end] {
            part if is_hash(part) => return Some(mark..end),
            "chunk" | "bundle" | "min" | "module" | "esm" => end = mark,
            _ => return None,
        }
    }
    None
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
    let stripped = RULES.iter().fold(name.replace("[...]", ""), |name, rule| rule.apply(name));
    let stripped = strip_bundle_hashes(&stripped);
    (stripped != name && !stripped.is_empty()).then_some(stripped)
}
