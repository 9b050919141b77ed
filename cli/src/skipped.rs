//! The messages of an input that were skipped, for warnings and losses.

use crate::exit::Failure;
use crate::notices::Notices;
use crate::numbers::counted;

/// Messages of an input that were skipped because they are malformed.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    /// The failures of the first messages.
    failures: Vec<Failure>,
    pub(crate) count: u64,
}

impl Skipped {
    /// The most messages that a warning lists.
    const LISTED: usize = 10;

    pub(crate) fn add(&mut self, failure: Failure) {
        self.count += 1;
        if self.failures.len() < Self::LISTED {
            self.failures.push(failure);
        }
    }

    /// The failure of the first message.
    pub(crate) fn first(&self) -> Option<&Failure> {
        self.failures.first()
    }

    /// The place of the first message.
    pub(crate) fn place(&self) -> String {
        self.first().map(|failure| failure.place.clone()).unwrap_or_default()
    }

    /// Warns about the messages of an input, with the place and the reason of each.
    pub(crate) fn warn(&self, name: &str, notices: &mut Notices) {
        if self.count == 0 {
            return;
        }
        let listed: Vec<_> = self.failures.iter().map(ToString::to_string).collect();
        let more = match self.count - listed.len() as u64 {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        let (count, listed) = (counted(self.count, "unreadable message"), listed.join("; "));
        notices.warn_of_each(format!("{name}: {count} skipped: {listed}{more}"));
    }
}
