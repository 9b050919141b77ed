//! Sample types that are computed from others.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::losses::{self, LossCode};
use crate::model::profile::AggregationTemporality;
use crate::transform::arithmetic::{Expression, Sources, derive_types};
use crate::transform::merge::{Columns, MergeOptions};
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Seen, Stage, Transformer};
use crate::transform::pipeline::target::Target;

/// Losses of a union of sample types of which one leaves.
const UNITED: [LossCode; 2] = [losses::COLUMNS_ZERO_FILLED, losses::BAD_ORDER];

struct Arithmetic {
    name: String,
    unit: String,
    expression: Expression,
    target: Target,
    /// By place, the newest profile of each sample type, and when the place came first.
    held: HashMap<String, (usize, Vec<Item>), RandomState>,
    places: usize,
    /// The sample types of the expression that have not come.
    missing: Vec<String>,
    seen: Seen,
}

impl Stage {
    /// Computes a sample type from others of the same resource and scope, sample by sample.
    ///
    /// At a flush, the newest profiles of all sample types in the expression become one profile with the computed type, and
    /// leave; if one is missing, the others wait for it. Nothing else leaves this stage. A missing value counts as 0. A
    /// sample whose result is undefined is dropped (`derive.undefined`). So are profiles that still wait at the end.
    ///
    /// # Errors
    ///
    /// The expression names no sample type, or the `value`.
    ///
    /// ```
    /// use otlp_profiles::transform::{Expression, Stage};
    ///
    /// let mean = Expression::parse("$(alloc_space) / $(alloc_objects)")?;
    /// let stage = Stage::arithmetic("mean_size", "By", None, mean)?;
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn arithmetic(
        name: &str,
        unit: &str,
        temporality: Option<AggregationTemporality>,
        expression: Expression,
    ) -> Result<Self> {
        let problem = match expression.types().is_empty() {
            true => Some("expr: it names no sample type, such as $(alloc_space)"),
            false if expression.names_value() => Some("expr: there is no `value`, use $(TYPE)"),
            false => None,
        };
        if let Some(problem) = problem {
            return Err(Error::new(ErrorKind::InvalidOption, problem));
        }
        let [name, unit] = [name, unit].map(str::to_owned);
        let target = Target { rename: None, temporality };
        let missing = expression.types().into_iter().map(str::to_owned).collect();
        Ok(Self(Box::new(Arithmetic {
            missing,
            name,
            unit,
            expression,
            target,
            held: HashMap::default(),
            places: 0,
            seen: Seen::default(),
        })))
    }
}

impl Transformer for Arithmetic {
    fn handle(&mut self, item: Item, _context: &mut Context) -> Result<Option<Item>> {
        let Item(mut profiles) = item;
        let wanted = self.expression.types();
        let missing = &mut self.missing;
        self.seen.note(&profiles, |name, _| {
            missing.retain(|of| of != name);
            missing.is_empty()
        });
        let mut newest = Vec::new();
        profiles.retain_sample_types(|entry, of| {
            let name = entry.dictionary().text(of.name);
            newest.extend(wanted.contains(&name).then(|| name.to_owned()));
            wanted.contains(&name)
        });
        if newest.is_empty() {
            return Ok(None);
        }
        let item = Item(profiles);
        let (_, held) = self.held.entry(item.place()).or_insert_with(|| {
            self.places += 1;
            (self.places, Vec::new())
        });
        for Item(older) in &mut *held {
            older.retain_sample_types(|entry, of| {
                newest.iter().all(|name| name != entry.dictionary().text(of.name))
            });
        }
        held.retain(|item| !item.0.is_empty());
        held.push(item);
        Ok(None)
    }

    fn flush(&mut self, now: Option<i128>, context: &mut Context) -> Result<Vec<Item>> {
        let Context { limits, losses } = context;
        let complete = self.held.extract_if(|_, (_, items)| is_complete(&self.expression, items));
        let mut complete: Vec<_> = complete.map(|(_, place)| place).collect();
        complete.sort_by_key(|(first, _)| *first);
        let (mut computed, mut failed) = (Vec::new(), None);
        for (_, items) in complete {
            let options = MergeOptions::default().limits(*limits).add_repeats(true);
            let options = options.columns(Columns::ZeroFill).join_periods(true);
            let result = Item::merge(&items, options.drop_timestamps(true)).and_then(|merged| {
                let lost = merged.losses.iter().filter(|loss| !UNITED.contains(&loss.code));
                lost.for_each(|loss| losses.add_many(loss.code, loss.count, String::new));
                let (mut profiles, to) = (merged.profiles, [&*self.name, &*self.unit]);
                losses.merge(&derive_types(&mut profiles, to, &self.expression, Sources::Drop)?);
                self.target.apply(&mut profiles, |_, _| true);
                Ok(Item::divide(profiles))
            });
            match result {
                Ok(items) => computed.extend(items),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if now.is_none() {
            let waiting = self.held.drain().flat_map(|(_, (_, items))| items);
            let samples = |item: Item| item.0.iter().map(|of| of.samples.len() as u64).sum::<u64>();
            let waiting = waiting.map(samples).sum();
            losses.add_many(losses::DERIVE_UNDEFINED, waiting, || self.name.clone());
        }
        failed.map_or(Ok(computed), Err)
    }

    fn unmatched(&self) -> Option<String> {
        let missing = self.missing.join(", ");
        self.seen.unmatched(&format!("arithmetic found no sample type {missing}"))
    }
}

/// Whether some profiles have all sample types of an expression.
fn is_complete(expression: &Expression, items: &[Item]) -> bool {
    let has = |item: &Item, name: &str| {
        let mut types = item.0.iter().flat_map(|profile| &profile.sample_types);
        types.any(|of| item.0.dictionary.text(of.name) == name)
    };
    expression.types().iter().all(|name| items.iter().any(|item| has(item, name)))
}
