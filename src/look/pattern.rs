//! A named test of a text.

use std::fmt;
use std::sync::Arc;

/// A test of names, with the text that reports show for it.
///
/// The library contains no engine for regular expressions: a caller passes a function. Each distinct name is tested once.
///
/// ```
/// use otlp_profiles::look::Pattern;
///
/// // With the crate `regex`: `let regex = Regex::new(text)?; Pattern::new(text, move |name| regex.is_match(name))`
/// let pattern = Pattern::new("runtime", |name| name.contains("runtime"));
/// assert!(pattern.matches("runtime.mallocgc"));
/// assert_eq!(pattern.text(), "runtime");
/// ```
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    matches: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Pattern {
    /// Makes a pattern from its text and its test.
    pub fn new(text: &str, matches: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { text: text.into(), matches: Arc::new(matches) }
    }

    /// Returns whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        (self.matches)(name)
    }

    /// Returns the text of the pattern.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}
