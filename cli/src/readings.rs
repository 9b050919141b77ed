//! The messages of an input, for subcommands that show what is readable and report the rest.

use otlp_profiles::losses::LossKind;
use otlp_profiles::{ReadFinding, ReadOptions, Reading};

use crate::console::Console;
use crate::convert::encode::kind_of;
use crate::exit::Failure;
use crate::filters::{Selected, Selection};
use crate::input::Input;
use crate::notices::Notices;
use crate::reading::{Content, Message};
use crate::session::Session;

/// The notices and failures of reading an input.
#[derive(Default)]
pub(crate) struct Noticed {
    pub(crate) notices: Notices,
    pub(crate) failures: Vec<Failure>,
    /// The hash of the bytes of the input.
    pub(crate) hash: u128,
}

/// Passes each message of an input to `f`, unless it is ambiguous. Skips unreadable messages of several,
/// with a warning. An error of `f` ends the reading.
pub(crate) fn readings(
    input: &Input,
    options: &ReadOptions,
    selection: &Selection,
    console: &Console,
    mut f: impl FnMut(Message<'_>, &mut Noticed) -> Result<(), Failure>,
) -> Noticed {
    let (mut noticed, name) = (Noticed::default(), input.name());
    let result = Content::open(input, &options.limits, console).and_then(|mut content| {
        content.types_may_choose = true;
        content.skips_messages = true;
        let mut selected = Selected::default();
        let read = content.each::<Reading>(options, console, |message| {
            let checked = message.and_then(|message| {
                message.check_certainty(&name, &mut noticed.notices)?;
                Ok(message)
            });
            match checked {
                Ok(mut message) => {
                    warn_of_repairs(&name, &message.reading.findings, &mut noticed.notices);
                    let Message { reading, .. } = &mut message;
                    selection.apply(&mut reading.profiles, &mut selected);
                    f(message, &mut noticed)?;
                }
                Err(failure) => noticed.failures.push(failure),
            }
            Ok(())
        });
        if read.is_ok() {
            noticed.hash = content.hash();
            content.skipped.warn(&name, &mut noticed.notices);
        }
        read.and_then(|()| selected.finish())
    });
    noticed.failures.extend(result.err());
    noticed
}

/// Warns about data that reading dropped or changed, once for each code. Subcommands that convert list
/// it in their reports.
pub(crate) fn warn_of_repairs(name: &str, findings: &[ReadFinding], notices: &mut Notices) {
    for finding in findings.iter().filter(|finding| kind_of(finding) > LossKind::Synthesized) {
        let ReadFinding { code, count, message, .. } = finding;
        notices.warn(code, name, || format!("{name}: {count} × {code}: {message}"));
    }
}

impl Noticed {
    /// Reports the failures of an input, and keeps its notices for the end of the run. Returns whether
    /// there were no failures, or `None` if the run skips the input.
    pub(crate) fn tell(self, what: &str, input: &Input, session: &mut Session<'_>) -> Option<bool> {
        if let [failure] = &self.failures[..]
            && session.skip(input, failure)
        {
            return None;
        }
        let name = input.name();
        self.failures.iter().for_each(|failure| session.failed(what, Some(&name), failure));
        session.notices.merge(self.notices);
        Some(self.failures.is_empty())
    }
}
