//! The documents that rules cite, with their addresses.

use super::rule::Rule;

/// A document per line: the name that [`Rule::source`] cites, a tab, the address.
const SOURCES: &str = include_str!("sources.txt");

impl Rule {
    /// Returns the name and address of each document in its [source](Self::source).
    ///
    /// ```
    /// let rule = otlp_profiles::check::Rule::find("OP0024").unwrap();
    /// assert_eq!(rule.links(), [("RFC 1951", "https://www.rfc-editor.org/rfc/rfc1951")]);
    /// ```
    pub fn links(&self) -> Vec<(&'static str, &'static str)> {
        let sources = SOURCES.lines().filter_map(|line| line.split_once('\t'));
        sources.filter(|(name, _)| self.source.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_link() {
        let bare: Vec<_> = Rule::all().filter(|rule| rule.links().is_empty()).collect();
        assert!(bare.is_empty(), "{bare:?}");
    }
}
