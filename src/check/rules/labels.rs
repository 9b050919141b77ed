//! The labels of samples, in OTEP 0239.
//!
//! They are pprof's labels word for word, deprecated from the start ("superseded by attributes"),
//! and gone in 1.4. pprof's own are in [`pprof_samples`](super::pprof_samples); what both ask of a
//! list of labels is [`labels`].

use super::*;

/// Cell of the list in a sample, then those of `Label`: key, text, number and its unit, of which
/// all but the number are strings of the table.
const LABELS: usize = SAMPLE.cell("label");

const LABEL_KEY: usize = LABEL.cell("key_strindex");
const LABEL_STR: usize = LABEL.cell("str_strindex");
const LABEL_NUM: usize = LABEL.cell("num");
const LABEL_UNIT: usize = LABEL.cell("num_unit_strindex");

/// A label, in OTEP 0239.
///
/// 0 is "not there" for all four fields, so a number 0 without a unit cannot be told from no number
/// at all.
pub(crate) fn label(cx: &mut CheckContext<'_>, record: &Record) {
    let key = record.number(LABEL_KEY);
    let here = Position::at(record.start);
    if key == 0 || cx.string(key).is_some_and(<[u8]>::is_empty) {
        cx.report(&OP4021, record.field(LABEL_KEY), "", "");
    }
    let (text, number) = (record.number(LABEL_STR), record.number(LABEL_NUM));
    if text != 0 && number != 0 {
        cx.report(&OP4022, here, "str and num", "one of them");
    }
    if text != 0 && number == 0 && record.number(LABEL_UNIT) != 0 {
        let unit = cx.string(record.number(LABEL_UNIT)).unwrap_or_default();
        cx.report(&OP4023, record.field(LABEL_UNIT), Shown(unit), "number");
    }
}

/// The labels of a sample: no more than the limit, and no key twice, which is `repeated`: OTLP and pprof name it each
/// by a rule of its own.
pub(super) fn labels(cx: &mut CheckContext<'_>, record: &Record, repeated: &'static Rule) {
    let count = record.count(LABELS);
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.report(&OP9010, record.field(LABELS), Counted(count, "label"), most);
    }
    attributes::repeated(cx, record, LABELS, Noun::Label, repeated, |cx, label| {
        let key = label.number(LABEL_KEY);
        cx.string(key).filter(|_| key > 0)
    });
}
