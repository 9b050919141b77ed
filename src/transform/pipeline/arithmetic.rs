//! Sample types that are computed from others.

use crate::error::{Error, ErrorKind, Result};
use crate::format::losses::{self, LossCode};
use crate::model::profile::AggregationTemporality;
use crate::transform::arithmetic::{Expression, Sources, derive_types};
use crate::transform::merge::{Columns, MergeOptions};
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Stage, Transformer};
use crate::transform::pipeline::target::Target;

/// Losses of a union of sample types of which one leaves.
const UNITED: [LossCode; 2] = [losses::COLUMNS_ZERO_FILLED, losses::BAD_ORDER];

struct Arithmetic {
    name: String,
    unit: String,
    expression: Expression,
    target: Target,
    /// The newest profile of each sample type, with their place.
    held: Vec<(String, Item)>,
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
        Ok(Self(Box::new(Arithmetic { name, unit, expression, target, held: Vec::new() })))
    }
}

impl Transformer for Arithmetic {
    fn handle(&mut self, item: Item, _context: &mut Context) -> Result<Option<Item>> {
        let Item(mut profiles) = item;
        let wanted = self.expression.types();
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
        let place = item.place();
        for (_, Item(older)) in self.held.iter_mut().filter(|(of, _)| *of == place) {
            older.retain_sample_types(|entry, of| {
                newest.iter().all(|name| name != entry.dictionary().text(of.name))
            });
        }
        self.held.retain(|(_, item)| !item.0.is_empty());
        self.held.push((place, item));
        Ok(None)
    }

    fn flush(&mut self, now: Option<i128>, context: &mut Context) -> Result<Vec<Item>> {
        let Context { limits, losses } = context;
        let mut places: Vec<(String, Vec<Item>)> = Vec::new();
        for (place, item) in std::mem::take(&mut self.held) {
            match places.iter_mut().find(|(of, _)| *of == place) {
                Some((_, items)) => items.push(item),
                None => places.push((place, vec![item])),
            }
        }
        let mut computed = Vec::new();
        let mut failed = None;
        for (place, items) in places {
            if !self.is_complete(&items) {
                self.held.extend(items.into_iter().map(|item| (place.clone(), item)));
                continue;
            }
            let options = MergeOptions::default().limits(*limits).add_repeats(true);
            let options = options.columns(Columns::ZeroFill).join_periods(true);
            let result = Item::merge(&items, options.drop_timestamps(true)).and_then(|merged| {
                let lost = merged.losses.iter().filter(|loss| !UNITED.contains(&loss.code));
                lost.for_each(|loss| losses.add_many(loss.code, loss.count, String::new));
                let (mut profiles, to) = (merged.profiles, [&*self.name, &*self.unit]);
                losses.merge(&derive_types(&mut profiles, to, &self.expression, Sources::Drop)?);
                self.target.apply(&mut profiles, None);
                Ok(Item::divide(profiles))
            });
            match result {
                Ok(items) => computed.extend(items),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if now.is_none() {
            let waiting = self.held.drain(..).flat_map(|(_, item)| {
                item.0.iter().map(|of| of.samples.len() as u64).collect::<Vec<_>>()
            });
            losses.add_many(losses::DERIVE_UNDEFINED, waiting.sum(), || self.name.clone());
        }
        failed.map_or(Ok(computed), Err)
    }
}

impl Arithmetic {
    /// Whether some profiles have all sample types of the expression.
    fn is_complete(&self, items: &[Item]) -> bool {
        let has = |item: &Item, name: &str| {
            let mut types = item.0.iter().flat_map(|profile| &profile.sample_types);
            types.any(|of| item.0.dictionary.text(of.name) == name)
        };
        self.expression.types().iter().all(|name| items.iter().any(|item| has(item, name)))
    }
}
