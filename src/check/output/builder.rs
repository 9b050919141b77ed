//! Indented JSON, written member by member.

use std::fmt::Display;
use std::io::Write;

use crate::format::json::object::write_string;

/// JSON on its way. Elements of lists have empty keys.
#[derive(Default)]
pub(super) struct Json {
    out: Vec<u8>,
    depth: usize,
    /// Whether a member was written since the last bracket.
    behind: bool,
}

impl Json {
    /// An object as a whole document, with a line feed at its end.
    pub(super) fn document(fill: impl FnOnce(&mut Self)) -> String {
        let mut json = Self::default();
        json.nested("", ['{', '}'], fill);
        let text = String::from_utf8_lossy(json.out.trim_ascii_start()).into_owned();
        text + "\n"
    }

    pub(super) fn object(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.nested(key, ['{', '}'], fill);
    }

    /// A list, with a call for each element, which writes one value without a key.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        elements: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.nested(key, ['[', ']'], |json| {
            elements.into_iter().for_each(|element| each(json, element));
        });
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        write_string(&mut self.out, text);
    }

    /// A number, a truth value or null.
    pub(super) fn value(&mut self, key: &str, value: impl Display) {
        self.key(key);
        self.print(value);
    }

    /// The value, or null.
    pub(super) fn maybe(&mut self, key: &str, value: Option<u64>) {
        match value {
            Some(value) => self.value(key, value),
            None => self.value(key, "null"),
        }
    }

    fn nested(&mut self, key: &str, [open, close]: [char; 2], fill: impl FnOnce(&mut Self)) {
        self.key(key);
        self.print(open);
        self.depth += 1;
        self.behind = false;
        fill(self);
        self.depth -= 1;
        if self.behind {
            self.line();
        }
        self.print(close);
        self.behind = true;
    }

    fn key(&mut self, key: &str) {
        if std::mem::replace(&mut self.behind, true) {
            self.out.push(b',');
        }
        self.line();
        if !key.is_empty() {
            write_string(&mut self.out, key);
            self.print(": ");
        }
    }

    fn line(&mut self) {
        self.print(format_args!("\n{:1$}", "", 2 * self.depth));
    }

    fn print(&mut self, text: impl Display) {
        // A vector takes whatever is written to it.
        write!(self.out, "{text}").ok();
    }
}
