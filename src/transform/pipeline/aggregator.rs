//! One profile of several.

use crate::error::Result;
use crate::limits::setters;
use crate::model::Profiles;
use crate::transform::merge::{Combine, MergeOptions};
use crate::transform::pipeline::change::has_totals;
use crate::transform::pipeline::grouping::{Grouping, Keep};
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Stage, Transformer};
use crate::transform::pipeline::target::Target;

/// Options of [`Stage::aggregator`].
///
/// ```
/// use otlp_profiles::transform::{AggregatorOptions, Keep};
///
/// let pairs = AggregatorOptions::default().size(Some(2)).group_by(Some(vec!["endpoint".to_owned()]));
/// let minutes = AggregatorOptions::default()
///     .retention_nanos(Some(60_000_000_000))
///     .attributes(vec![("thread.name".to_owned(), Keep::Drop)]);
/// assert_ne!(pairs, minutes);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AggregatorOptions {
    /// Emits when so many profiles are held. Unset, it is 1 without a retention time.
    pub size: Option<u64>,
    /// Emits when more nanoseconds than this passed since the end of the first profile held.
    pub retention_nanos: Option<u64>,
    /// Adds up samples that agree in these attributes of the sample or its resource, and drops the others.
    pub group_by: Option<Vec<String>>,
    /// Adds up samples that differ in these attributes. `Drop` removes the attributes of resources, too.
    pub attributes: Vec<(String, Keep)>,
}

setters! { AggregatorOptions {
    size: Option<u64>,
    retention_nanos: Option<u64>,
    group_by: Option<Vec<String>>,
    attributes: Vec<(String, Keep)>,
} }

struct Aggregator {
    options: AggregatorOptions,
    target: Target,
    held: Vec<Item>,
}

impl Stage {
    /// Holds profiles until a flush finds enough of them, or the first is old enough, and emits one profile for each
    /// identity.
    ///
    /// Changes are added up, totals take the last value, states their mean, rounded half away from zero: see
    /// [`Combine::ByKind`].
    ///
    /// ```
    /// use otlp_profiles::transform::{AggregatorOptions, Keep, Stage, Target};
    ///
    /// let options = AggregatorOptions::default()
    ///     .retention_nanos(Some(60_000_000_000))
    ///     .attributes(vec![("k8s.pod.name".to_owned(), Keep::Drop)]);
    /// let stage = Stage::aggregator(options, Target::default());
    /// ```
    pub fn aggregator(mut options: AggregatorOptions, target: Target) -> Self {
        if options.retention_nanos.is_none() {
            options.size.get_or_insert(1);
        }
        Self(Box::new(Aggregator { options, target, held: Vec::new() }))
    }
}

impl Transformer for Aggregator {
    fn handle(&mut self, item: Item, _context: &mut Context) -> Result<Option<Item>> {
        self.held.push(item);
        Ok(None)
    }

    fn flush(&mut self, now: Option<i128>, context: &mut Context) -> Result<Vec<Item>> {
        let AggregatorOptions { size, retention_nanos, .. } = &self.options;
        let Some(first) = self.held.first().map(Item::end) else { return Ok(Vec::new()) };
        let is_full = size.is_some_and(|size| self.held.len() as u64 >= size);
        let is_old = retention_nanos
            .is_some_and(|most| now.is_some_and(|now| now - first > i128::from(most)));
        if now.is_some() && !is_full && !is_old {
            return Ok(Vec::new());
        }
        let held = std::mem::take(&mut self.held);
        let merge = MergeOptions::default().limits(context.limits).add_repeats(true);
        let mut united = Item::merge(&held, merge.clone().keep_apart(true))?;
        context.losses.merge(&united.losses);
        let AggregatorOptions { group_by, attributes, .. } = &self.options;
        let grouping = Grouping { group_by: group_by.as_deref(), attributes };
        grouping.apply(&mut united.profiles);
        let merge = merge.combine(Combine::ByKind).resources(grouping.resources());
        let merged = Item::merge(&[Item(united.profiles)], merge)?;
        context.losses.merge(&merged.losses);
        let mut items = Item::divide(merged.profiles);
        let are_snapshots = !held.iter().any(Item::has_duration) && held.iter().any(has_totals);
        let last = held.iter().map(Item::end).max().filter(|_| are_snapshots);
        for item in &mut items {
            if let Some(last) = last {
                set_time(&mut item.0, last);
            }
            self.target.apply(&mut item.0, |_, _| true);
        }
        Ok(items)
    }
}

/// Places snapshots at the last of them. A total of a time would be a change.
fn set_time(profiles: &mut Profiles, last: i128) {
    let scopes = profiles.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        (profile.time_unix_nano, profile.duration_nanos) = (last, 0);
    }
}
