//! Reports on stdout, printed in the order of the inputs while others are checked.

use otlp_profiles::check::output::{Checked, Document};

use super::baseline::Baselined;
use super::text;
use crate::exit::Failure;
use crate::output;

/// The reports of a run, less the known findings.
pub(super) struct Results<'a> {
    baseline: Option<Baselined<'a>>,
    page: Page,
    /// Whether files are written, so that the run continues after stdout is closed.
    writes: bool,
}

pub(super) enum Page {
    /// Text has colours, and no infos with `-q`.
    Text(Box<text::Page>),
    Document(Document),
    /// Stdout carries the fixed bytes, or is closed.
    None,
}

impl<'a> Results<'a> {
    pub(super) fn new(baseline: Option<Baselined<'a>>, page: Page, writes: bool) -> Self {
        Self { baseline, page, writes }
    }

    /// Prints a file; returns `false` if stdout is closed, so that the run can end.
    ///
    /// # Errors
    ///
    /// stdout cannot be written.
    pub(super) fn add(&mut self, file: &mut Checked) -> Result<bool, Failure> {
        if let Some(baseline) = &mut self.baseline {
            baseline.apply(file);
        }
        let is_read = match &mut self.page {
            Page::Text(page) => output::text_to_stdout(&page.add(file))?,
            Page::Document(document) => output::to_stdout(document.add(file).as_bytes(), true)?,
            Page::None => return Ok(true),
        };
        if !is_read {
            self.page = Page::None;
        }
        Ok(is_read || self.writes)
    }

    /// Writes the baseline, and prints what follows the files.
    ///
    /// # Errors
    ///
    /// stdout or the baseline cannot be written.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let updates = self.baseline.as_ref().is_some_and(|baseline| baseline.updates);
        let known = self.baseline.map(Baselined::finish).transpose()?;
        match self.page {
            Page::Text(page) => output::text_to_stdout(&page.finish(known, updates)).map(drop),
            Page::Document(page) => output::to_stdout(page.finish().as_bytes(), true).map(drop),
            Page::None => Ok(()),
        }
    }
}
