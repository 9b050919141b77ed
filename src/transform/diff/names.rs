//! Parts of function names that change with every build.

/// Removes the parts of a function name that change with every build; `None` if there are no such parts.
///
/// | from | removed |
/// |---|---|
/// | Rust | `::h` and 16 hexadecimal digits at the end |
/// | LLVM | `.llvm.` and digits at the end |
/// | Java | the number and the address of a lambda: `$$Lambda$17/0x00007f` |
/// | Go | the type arguments `[...]` |
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
    if let Some((start, digits)) = stripped.rsplit_once(".llvm.")
        && !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
    {
        stripped.truncate(start.len());
    }
    if let Some((start, digits)) = stripped.rsplit_once("::h")
        && digits.len() == 16
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        stripped.truncate(start.len());
    }
    if let Some((start, rest)) = stripped.split_once("$$Lambda") {
        let is_part = |c: char| c.is_ascii_hexdigit() || "$/x".contains(c);
        stripped = format!("{start}$$Lambda{}", rest.trim_start_matches(is_part));
    }
    (stripped != name).then_some(stripped)
}
