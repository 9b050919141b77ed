//! Changes since the profile before: as they are, or per second.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::setters;
use crate::losses;
use crate::model::profile::AggregationTemporality;
use crate::transform::arithmetic::Expression;
use crate::transform::kind::{Kind, kind_of};
use crate::transform::merge::{DeltaOptions, Subtract, changes};
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Seen, Stage, Transformer};
use crate::transform::pipeline::target::{Formula, Target};
use crate::transform::pipeline::unit_conversion::without_types;

/// Options of [`Stage::rate_of_change`].
///
/// ```
/// use otlp_profiles::transform::{Expression, RateOptions, Stage, Target};
///
/// let scale = Expression::parse("100.0 / (10**9 * (attributes.cpu_number or 1))")?;
/// let percent = RateOptions::default().scale(Some(scale)).max(Some(100.0));
/// let stage = Stage::rate_of_change(percent, Target::default())?;
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateOptions {
    /// A factor, such as `100.0 / (10**9 * (attributes.cpu_number or 1))`.
    pub scale: Option<Expression>,
    /// The largest rate.
    pub max: Option<f64>,
}

setters! { RateOptions {
    scale: Option<Expression>,
    max: Option<f64>,
} }

struct Change {
    /// The latest profile of each identity.
    earlier: HashMap<String, Item, RandomState>,
    growth_only: bool,
    rate: Option<RateOptions>,
    target: Target,
    seen: Seen,
}

impl Stage {
    /// Replaces totals since a start, such as `alloc_space`, by their change since the profile before.
    ///
    /// See [`delta`](crate::transform::delta()) for resets. Profiles without totals pass through. The first profile of an
    /// identity is dropped (`delta.first`), as is one that ends before its predecessor (`profile.out_of_order`). With
    /// `growth_only`, samples whose values all fell or stayed are dropped; a reset is growth.
    pub fn delta(growth_only: bool, target: Target) -> Self {
        Self::change(growth_only, None, target)
    }

    /// Replaces all values by their change per second.
    ///
    /// Totals and states change since the profile before, up to the end of the profile; changes such as CPU time are
    /// divided by the duration of their profile. The rules of [`delta`](Self::delta) for first, late and reset profiles
    /// apply; changes of states may be negative. A sample that is gone has no rate. Rates are rounded half away from zero, counted as `value.rounded`: let the scale
    /// and the unit leave enough digits. If no time passed the rate is 0. Unless the target says otherwise, `/s` is added
    /// to units, and the temporality is `UNSPECIFIED`.
    ///
    /// # Errors
    ///
    /// The scale names the `value` or a sample type: it is a factor of rates.
    ///
    /// ```
    /// use otlp_profiles::transform::{Expression, RateOptions, Stage, Target};
    ///
    /// let scale = Expression::parse("100.0 / (10**9 * (attributes.cpu_number or 1))")?;
    /// let target = Target::default().rename(|_name, _unit| ("cpu_util".into(), "%".into()));
    /// let stage = Stage::rate_of_change(RateOptions::default().scale(Some(scale)), target)?;
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn rate_of_change(options: RateOptions, mut target: Target) -> Result<Self> {
        options.scale.iter().try_for_each(without_types)?;
        if options.scale.as_ref().is_some_and(Expression::names_value) {
            let message = "scale: a rate is multiplied by its scale: leave out `value`";
            return Err(Error::new(ErrorKind::InvalidOption, message));
        }
        target.temporality.get_or_insert(AggregationTemporality::UNSPECIFIED);
        if target.rename.is_none() {
            target = target.rename(|name, unit| (name.to_owned(), format!("{unit}/s")));
        }
        Ok(Self::change(false, Some(options), target))
    }

    fn change(growth_only: bool, rate: Option<RateOptions>, target: Target) -> Self {
        let earlier = HashMap::default();
        Self(Box::new(Change { earlier, growth_only, rate, target, seen: Seen::default() }))
    }
}

impl Transformer for Change {
    fn handle(&mut self, item: Item, context: &mut Context) -> Result<Option<Item>> {
        let Context { limits, losses } = context;
        let duration = item.0.iter().map(|profile| profile.duration_nanos).max().unwrap_or(0);
        let totals = types_of(&item, Kind::Cumulative);
        self.seen.note(&item.0, |name, _| totals.contains(name));
        if self.rate.is_none() && totals.is_empty() {
            let Item(mut profiles) = item;
            self.target.apply(&mut profiles, |_, _| true);
            return Ok(Some(Item(profiles)));
        }
        let identity = item.identity();
        let Some(earlier) = self.earlier.get(&identity) else {
            losses.add(losses::DELTA_FIRST, String::new);
            self.earlier.insert(identity, item);
            return Ok(None);
        };
        let elapsed = item.end() - earlier.end();
        if elapsed < 0 {
            losses.add(losses::OUT_OF_ORDER, String::new);
            return Ok(None);
        }
        let what = if self.rate.is_some() { Subtract::All } else { Subtract::Totals };
        let options = DeltaOptions::default().growth_only(self.growth_only).limits(Some(*limits));
        let changed = changes(&earlier.0, &item.0, &options, what);
        let deltas = types_of(&item, Kind::Delta);
        self.earlier.insert(identity, item);
        let changed = changed?;
        losses.merge(&changed.losses);
        let mut profiles = changed.profiles;
        if let Some(RateOptions { scale, max }) = &self.rate {
            let fraction = |name: &str, _unit: &str| {
                let is_delta = duration > 0 && deltas.contains(name);
                let nanos = if is_delta { duration } else { elapsed };
                Some(if nanos > 0 { (1_000_000_000, nanos) } else { (0, 1) })
            };
            let formula = Formula { scale: scale.as_ref(), fraction: &fraction, max: *max };
            formula.apply(&mut profiles, losses)?;
        }
        self.target.apply(&mut profiles, |_, _| true);
        Ok(Some(Item(profiles)))
    }

    fn unmatched(&self) -> Option<String> {
        let is_delta = self.rate.is_none();
        is_delta.then(|| self.seen.unmatched("delta found no total since a start")).flatten()
    }
}

/// The names of the sample types of a kind.
fn types_of(item: &Item, wanted: Kind) -> BTreeSet<String> {
    let dictionary = &item.0.dictionary;
    let types = item
        .0
        .iter()
        .flat_map(|profile| profile.sample_types.iter().map(|of| (*of, profile.duration_nanos)));
    let types = types.filter(|(of, duration)| kind_of(*of, *duration, dictionary) == wanted);
    types.map(|(of, _)| dictionary.text(of.name).to_owned()).collect()
}

/// Whether some sample type is a total since a start.
pub(super) fn has_totals(item: &Item) -> bool {
    !types_of(item, Kind::Cumulative).is_empty()
}
