//! Attributes that have another value on nearly every sample.
//!
//! Samples are walked once more only where a key has nearly as many rows as it takes to break the rule.

use crate::check::catalogue::OP5016;
use crate::check::cx::Cx;
use crate::check::fields::Fields;
use crate::check::findings::{Shown, Spot};
use crate::check::lists;
use crate::check::shape::{Kind, Shape, Take};
use crate::check::state::Attribute;
use crate::schema::{SAMPLE, Table};

const ATTRIBUTES: usize = SAMPLE.cell("attribute_indices");

/// Of fewer samples it is not asked.
const FEWEST: usize = 1_000;

/// A key, as far as samples have it.
#[derive(Clone, Copy, Default)]
struct Use {
    rows: usize,
    samples: usize,
    values: usize,
}

impl Use {
    /// Whether more than nine in ten samples have one of their own.
    fn is_high(of: usize, samples: usize) -> bool {
        samples >= FEWEST && of * 10 > samples * 9
    }
}

/// Finds keys with more values than nine for ten samples, in a message that holds samples and their tables.
///
/// Samples are walked once more where a key has rows enough, and nowhere else.
pub(crate) fn tables(cx: &mut Cx<'_>, shape: &'static Shape, body: (usize, usize)) {
    let attributes = &cx.attributes;
    if attributes.len() < FEWEST * 9 / 10 {
        return;
    }
    let mut keys = vec![Use::default(); cx.payload.keys.len()];
    for attribute in attributes.iter().filter(|found| found.key != Attribute::NO_KEY) {
        keys[attribute.key as usize].rows += 1;
    }
    if !keys.iter().any(|key| Use::is_high(key.rows, FEWEST)) || !cx.findings.asks(&OP5016) {
        return;
    }
    let mut met = vec![false; attributes.len()];
    samples(cx, shape, body, &mut |row, attribute| {
        let (key, met) = (&mut keys[attribute.key as usize], &mut met[row]);
        key.samples += 1;
        key.values += usize::from(!std::mem::replace(met, true));
    });
    let name = cx.table_name(Table::Attribute);
    for row in 0..cx.attributes.len() {
        let key = cx.attributes[row].key as usize;
        // Told of the first row of the key.
        let Some(found) = keys.get_mut(key).map(std::mem::take) else { continue };
        if Use::is_high(found.values, found.samples) {
            let at = cx.tables.row(Table::Attribute, row as u64).map_or(0, |(start, _)| start);
            let key = Shown(lists::key_of(cx, row as u64));
            let said = format!("{key}, {} values on {} samples", found.values, found.samples);
            let spot = Spot::at(at).field(name).row(row);
            cx.findings.raise(&OP5016, spot, said, "bounded cardinality");
        }
    }
}

/// Each attribute of each sample in a message: the first row that equals its own.
fn samples(
    cx: &Cx<'_>,
    shape: &'static Shape,
    (start, end): (usize, usize),
    each: &mut impl FnMut(usize, Attribute),
) {
    if shape.kind == Kind::Sample {
        let record = cx.peek(shape, start, end);
        for row in cx.numbers(shape, &record, ATTRIBUTES) {
            let row = cx.tables.first_equal(Table::Attribute, row) as usize;
            let found = cx.attributes.get(row).filter(|found| found.key != Attribute::NO_KEY);
            found.into_iter().for_each(|attribute| each(row, *attribute));
        }
        return;
    }
    let on_the_way = [
        Kind::ProfilesData,
        Kind::ResourceProfiles,
        Kind::ScopeProfiles,
        Kind::Container,
        Kind::Profile,
    ];
    if on_the_way.contains(&shape.kind) {
        for (number, body) in Fields::new(cx.bytes, start, end) {
            let slot = shape.slot(number).filter(|slot| slot.take == Take::Message);
            if let (Some(slot), Some(body)) = (slot, body) {
                samples(cx, cx.shapes.get(slot.child), body, each);
            }
        }
    }
}
