//! The destination of a message's findings.
//!
//! Nearly all messages of a payload are written canonically and break no rule, and to decode such a message into a
//! [`Record`] costs more than to check it. So the rules of such messages are functions of a row, a plain struct that both
//! decoders fill. Each rule is written once and compiled for two sinks: [`First`] ends the rules at the first finding,
//! and a [`Record`] reports each finding with its place.
//!
//! ```text
//! bytes ─► canonical decoder ─► row ─► rules with First ─► Some: note what the row refers to
//!   │                                                  └─► None: walk the message
//!   └────► Record ────────────► row ─► rules with the Record ─► findings
//! ```

use super::context::CheckContext;
use super::record::Record;

/// Receives the findings of a message's rules.
pub(crate) trait Sink {
    /// Receives a finding; `report` reports it about the message in the record. `None` ends the rules.
    fn found<'a>(
        &self,
        cx: &mut CheckContext<'a>,
        report: impl FnOnce(&mut CheckContext<'a>, &Record),
    ) -> Option<()>;
}

impl Sink for Record {
    #[inline]
    fn found<'a>(
        &self,
        cx: &mut CheckContext<'a>,
        report: impl FnOnce(&mut CheckContext<'a>, &Record),
    ) -> Option<()> {
        report(cx, self);
        Some(())
    }
}

/// Ends the rules of a canonical message at the first finding. Rules that change state run last, because the walk
/// runs all rules again.
pub(crate) struct First;

impl Sink for First {
    #[inline]
    fn found<'a>(
        &self,
        _: &mut CheckContext<'a>,
        _: impl FnOnce(&mut CheckContext<'a>, &Record),
    ) -> Option<()> {
        None
    }
}
