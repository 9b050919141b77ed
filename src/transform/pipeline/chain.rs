//! The chain of stages.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::losses::Losses;
use crate::model::Profiles;
use crate::model::id::StringId;
use crate::model::value::Value;
use crate::semconv::PPROF_SCOPE_DEFAULT_SAMPLE_TYPE;
use crate::transform::merge::MergeOptions;
use crate::transform::pipeline::item::Item;
use crate::transform::pipeline::stage::{Context, Stage};

/// A chain of stages that profiles walk through, as in Ceilometer's pipelines.
///
/// [`push`](Self::push) sends the profiles of a payload through the chain, one after the other; a stage may hold them.
/// [`flush`](Self::flush) lets each stage emit what it held long enough, into the next stage. [`take`](Self::take)
/// returns what left the last stage. The time is that of the profiles, so equal input gives equal output.
///
/// A profile that a stage cannot convert is dropped and its error returned; others go on. A stage holds as much memory as
/// the profiles in it, `delta` and `rate_of_change` the last profile of each identity. The time is linear in the
/// profiles.
///
/// ```
/// use otlp_profiles::transform::{Pipeline, Stage, Target};
/// # let files = ["testdata/go-heap.pb.gz", "testdata/go-allocs.pb.gz"].map(|file| std::fs::read(file).unwrap());
///
/// let mut pipeline = Pipeline::new(vec![Stage::delta(true, Target::default())]);
/// for file in &files {
///     pipeline.push(otlp_profiles::read(file, &Default::default())?.profiles);
///     pipeline.flush();
/// }
/// pipeline.finish();
/// let published = pipeline.take()?;
/// assert!(published.errors.is_empty());
/// assert!(published.losses.get("delta.first").is_some(), "the first heap profile has no predecessor");
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Debug)]
pub struct Pipeline {
    stages: Vec<Stage>,
    context: Context,
    /// The profiles that left the last stage.
    published: Vec<Item>,
    errors: Vec<Error>,
    /// The end of the latest profile.
    now: i128,
}

/// The result of a [`Pipeline`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Published {
    /// The profiles that left the last stage, in one payload, if any did.
    pub profiles: Option<Profiles>,
    /// Data that stages dropped or changed, but for what their options ask for.
    pub losses: Losses,
    /// Why profiles were dropped: a value does not fit 64 bits, or a limit was reached.
    pub errors: Vec<Error>,
}

impl Pipeline {
    /// Creates a pipeline. Without stages, profiles pass through.
    pub fn new(stages: Vec<Stage>) -> Self {
        let context = Context { limits: Limits::file(), losses: Losses::default() };
        Self { stages, context, published: Vec::new(), errors: Vec::new(), now: 0 }
    }

    /// Sets the limits of merged profiles; [`Limits::file`] by default.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.context.limits = limits;
        self
    }

    /// Sends the profiles of a payload through the stages.
    pub fn push(&mut self, profiles: Profiles) {
        for item in Item::divide(profiles) {
            self.advance(item.end());
            self.walk(0, item);
        }
    }

    /// Moves the clock on to a time in nanoseconds since 1970, such as the end of a profile that this pipeline does not
    /// get. Earlier times are ignored.
    pub fn advance(&mut self, time_unix_nano: i128) {
        self.now = self.now.max(time_unix_nano);
    }

    /// Emits the profiles that stages hold and that are due.
    pub fn flush(&mut self) {
        self.flush_at(Some(self.now));
    }

    /// Emits all profiles that stages hold, since no more come.
    pub fn finish(&mut self) {
        self.flush_at(None);
    }

    /// Returns a sentence for each stage that got profiles, but none with a sample type that it is for.
    pub fn unmatched(&self) -> Vec<String> {
        self.stages.iter().filter_map(|stage| stage.0.unmatched()).collect()
    }

    fn flush_at(&mut self, now: Option<i128>) {
        for at in 0..self.stages.len() {
            match self.stages[at].0.flush(now, &mut self.context) {
                Ok(items) => items.into_iter().for_each(|item| self.walk(at + 1, item)),
                Err(error) => self.errors.push(error),
            }
        }
    }

    /// Sends a profile through the stages from one on.
    fn walk(&mut self, from: usize, item: Item) {
        let mut item = item;
        for stage in &mut self.stages[from..] {
            match stage.0.handle(item, &mut self.context) {
                Ok(Some(next)) => item = next,
                Ok(None) => return,
                Err(error) => return self.errors.push(error),
            }
        }
        forget_default(&mut item.0);
        self.published.push(item);
    }

    /// Takes what left the last stage since the last call.
    ///
    /// # Errors
    ///
    /// The profiles together exceed a limit.
    pub fn take(&mut self) -> Result<Published> {
        let mut items = std::mem::take(&mut self.published);
        let mut published = Published {
            profiles: None,
            losses: std::mem::take(&mut self.context.losses),
            errors: std::mem::take(&mut self.errors),
        };
        if items.len() > 1 {
            let options = MergeOptions::default().limits(self.context.limits);
            let options = options.keep_apart(true).add_repeats(true);
            let merged = Item::merge(&items, options)?;
            published.losses.merge(&merged.losses);
            items = vec![Item(merged.profiles)];
        }
        published.profiles = items.pop().map(|Item(mut profiles)| {
            profiles.compact();
            profiles
        });
        Ok(published)
    }
}

/// Removes default sample types that are not there any more.
fn forget_default(profiles: &mut Profiles) {
    let Profiles { dictionary, resources } = profiles;
    for scope in resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
        let types = scope.profiles.iter().flat_map(|profile| &profile.sample_types);
        let names: Vec<&str> = types.map(|of| dictionary.text(of.name)).collect();
        for profile in &mut scope.profiles {
            if !names.contains(&dictionary.text(profile.default_sample_type)) {
                profile.default_sample_type = StringId::NONE;
            }
        }
        scope.scope.attributes.retain(|pair| match pair.value {
            Value::String(name) if dictionary.text(pair.key) == PPROF_SCOPE_DEFAULT_SAMPLE_TYPE => {
                names.contains(&dictionary.text(name))
            }
            _ => true,
        });
    }
}
