//! The labels of samples, in pprof and OTEP 0239.
//!
//! The labels of OTEP 0239 are copied verbatim from pprof, were deprecated from the start ("superseded by
//! attributes"), and are removed in 1.4.

use super::*;
use crate::check::canonical::Window;
use crate::check::sink::{First, Sink};

/// Cell of the list in a sample.
const LABELS: usize = SAMPLE.cell("label");

/// The prefix of keys reserved for pprof itself.
const RESERVED: &[u8] = b"pprof::";

/// Cells of `Label`.
const KEY: usize = LABEL.cell("key_strindex");
const STR: usize = LABEL.cell("str_strindex");
const NUM: usize = LABEL.cell("num");
const UNIT: usize = LABEL.cell("num_unit_strindex");

/// A label. In each of its fields 0 means unset.
#[derive(Clone, Copy)]
struct LabelRow {
    key: u64,
    text: u64,
    number: u64,
    unit: u64,
    /// The first unit of the label's key, if the label has a unit and no text.
    first: u64,
}

/// The key, the text and the unit of a label that passed.
pub(super) type Texts = (u64, u64, u64);

impl LabelRow {
    /// Whether the label's unit is compared with that of its key: a unit of a text is another finding.
    #[inline]
    fn has_unit(&self) -> bool {
        self.unit != 0 && self.text == 0
    }
}

/// Checks a label that the walk decoded. Stores the first unit of each key for the whole file.
pub(crate) fn label<const PPROF: bool>(cx: &mut CheckContext<'_>, record: &Record) {
    let [key, text, number, unit] = [KEY, STR, NUM, UNIT].map(|cell| record.number(cell));
    let mut label = LabelRow { key, text, number, unit, first: 0 };
    if PPROF && label.has_unit() {
        label.first = *cx.payload.units.entry(key).or_insert(unit);
    }
    rules::<PPROF>(cx, &label, record);
}

/// Decodes and checks canonical labels with distinct keys. The first label of a key with a unit is left to the
/// walk.
#[inline]
pub(super) fn canonical(
    cx: &mut CheckContext<'_>,
    bodies: &[(usize, usize)],
    labels: &mut [Texts],
) -> Option<()> {
    let shape = cx.label_shape?;
    for (row, (start, end)) in bodies.iter().enumerate() {
        let mut fields = Window::within(cx.bytes, *start, *end)?;
        let (key, text) = (fields.exact(shape.tags[KEY]), fields.exact(shape.tags[STR]));
        let (number, unit) = (fields.exact(shape.tags[NUM]), fields.exact(shape.tags[UNIT]));
        let mut label = LabelRow { key, text, number, unit, first: 0 };
        if label.has_unit() {
            label.first = *cx.payload.units.get(&key)?;
        }
        fields.is_done().then_some(())?;
        rules::<true>(cx, &label, &First)?;
        cx.has(Table::String, text)?;
        cx.has(Table::String, unit)?;
        let name = cx.string(key)?;
        let mut before = labels.get(..row)?.iter();
        let again = before.any(|(other, ..)| {
            *other == key || cx.string(*other).is_some_and(|other| cx.memo.same(other, name))
        });
        if again {
            return None;
        }
        *labels.get_mut(row)? = (key, text, unit);
    }
    Some(())
}

/// Checks that a label has a key, and either a text or a number, and that the unit of a number is the unit of its
/// key.
///
/// Compares units as rows first, and as strings if the rows differ. A conflict is folded by key.
#[inline]
fn rules<const PPROF: bool>(
    cx: &mut CheckContext<'_>,
    label: &LabelRow,
    out: &impl Sink,
) -> Option<()> {
    let LabelRow { key, text, number, unit, first } = *label;
    let (name, shown) = (cx.string(key), |text: Option<_>| Shown(text.unwrap_or_default()));
    if key == 0 || name == Some(b"") {
        let rule = if PPROF { &PP1017 } else { &OP4021 };
        out.found(cx, |cx, at| cx.report(rule, at.field(KEY), "", ""))?;
    } else if let Some(name) = name.filter(|name| PPROF && name.starts_with(RESERVED)) {
        out.found(cx, |cx, at| cx.report(&PP1019, at.field(KEY), Shown(name), ""))?;
    }
    if text != 0 && number != 0 {
        let rule = if PPROF { &PP1015 } else { &OP4022 };
        out.found(cx, |cx, at| {
            cx.report(rule, Position::at(at.start), "str and num", "one of them");
        })?;
    }
    if text != 0 && unit != 0 && (PPROF || number == 0) {
        let (rule, bound) = if PPROF { (&PP1016, "") } else { (&OP4023, "number") };
        out.found(cx, |cx, at| cx.report(rule, at.field(UNIT), shown(cx.string(unit)), bound))?;
    }
    if PPROF && (text, number, unit) == (0, 0, 0) {
        out.found(cx, |cx, at| cx.report(&PP1037, Position::at(at.start), "", ""))?;
    }
    if PPROF && label.has_unit() && first != unit {
        let (first, unit) = (cx.string(first), cx.string(unit));
        let same = first.zip(unit).is_some_and(|(first, unit)| cx.memo.same(first, unit));
        if !same {
            out.found(cx, |cx, at| {
                let spot = at.field(UNIT);
                cx.findings.report_folded(&PP1040, key, spot, shown(unit), shown(first));
            })?;
        }
    }
    Some(())
}

/// Checks the labels of a sample: no more than the limit, and no key twice. `repeated` is the rule for duplicate
/// keys, which differs between OTLP and pprof.
pub(super) fn labels(cx: &mut CheckContext<'_>, record: &Record, repeated: &'static Rule) {
    let count = record.count(LABELS);
    let most = cx.limits.max_attributes_per_item;
    if count as u64 > most {
        cx.report(&OP9010, record.field(LABELS), Counted(count, "label"), most);
    }
    attributes::repeated(cx, record, LABELS, MessageKind::Label, repeated, |cx, label| {
        let key = label.number(KEY);
        cx.string(key).filter(|_| key > 0)
    });
}
