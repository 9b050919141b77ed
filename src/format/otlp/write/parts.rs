//! What becomes one profile on the wire, and what its scope says for it.
//!
//! pprof and OTLP up to 1.7 measure several things in one profile, later OTLP one. A profile of several sample
//! types is split when it goes to the latter, and put together again on its way back if its scope says that it
//! was one: `pprof.scope.sample_type_order`.
//!
//! ```text
//! model    profile [cpu, wall]   profile [heap]
//! 1.8 on   cpu │ wall │ heap     scope: pprof.scope.sample_type_order = [0, 1, 2]
//! to 1.7   [cpu, wall] │ [heap]
//! ```
//!
//! The order is that of the columns in the source; a default sample type is written first, whatever
//! its place, so the list may be `[1, 0]`.

use std::slice;

use crate::format::columns::{self, DefaultSaid, Join, Joined};
use crate::format::losses::{self, Losses};
use crate::format::unsaid;
use crate::model::dictionary::Dictionary;
use crate::model::id::{StackId, StringId};
use crate::model::order::sample_type_order;
use crate::model::profile::{Profile, ValueType};
use crate::model::value::Value;
use crate::model::{ResourceProfiles, ScopeProfiles};
use crate::schema::Generation;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};

/// What becomes one profile on the wire.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// A column of a profile, where a profile has one sample type.
    /// Values are those of one sample type; stacks, attributes and timestamps are written with each.
    Column(Column<'a>),
    /// All columns, where it may have several.
    Joined(Joined<'a>),
}

/// A column of a profile. There may be as many as a profile has sample types, so what is to be known of all of
/// them is found once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) profile: &'a Profile,
    /// Its place among the profile's sample types.
    pub(crate) column: usize,
    /// That of the one that is written first: the default sample type.
    pub(crate) first: usize,
}

/// A scope, and the profiles it has on the wire.
#[derive(Debug)]
pub(crate) struct ScopeParts<'a> {
    /// As it is in the model.
    pub(crate) scope: &'a ScopeProfiles,
    /// In the order in which they are written.
    pub(crate) parts: Vec<Part<'a>>,
    /// The scope's own word for the default sample type.
    default: Option<&'a Value>,
    /// Where profiles become several, the order their sample types had.
    pub(crate) order: Option<Vec<i64>>,
    /// What the generation must add to say the default sample types.
    pub(crate) said: DefaultSaid,
    /// Whether columns' numbers or names say the scope's default sample type.
    ///
    /// Then its attribute is not written as well.
    default_hidden: bool,
}

impl<'a> Part<'a> {
    /// Times, ids and attributes are those of the first profile; what the others say differently is counted as a
    /// loss.
    pub(crate) fn first(&self) -> &'a Profile {
        match self {
            Self::Column(column) => column.profile,
            Self::Joined(joined) => joined.first(),
        }
    }

    /// The stacks of its samples, as these are written.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = StackId> {
        let (profile, order) = match self {
            Self::Column(column) => (column.profile, None),
            Self::Joined(joined) => (joined.first(), joined.order.as_deref()),
        };
        let stacks = &profile.samples.stacks;
        (0..stacks.len()).map(move |at| stacks[order.map_or(at, |order| order[at] as usize)])
    }

    /// The profiles it is made of.
    pub(crate) fn profiles(&self) -> &[&'a Profile] {
        match self {
            Self::Column(column) => slice::from_ref(&column.profile),
            Self::Joined(joined) => &joined.profiles,
        }
    }

    /// One for a column, several where they are joined.
    pub(crate) fn sample_types(&self) -> Vec<ValueType> {
        match self {
            Self::Column(Column { profile, column, .. }) => {
                profile.sample_types.get(*column).copied().into_iter().collect()
            }
            Self::Joined(joined) => joined.written_types(),
        }
    }
}

/// The scopes of a payload, in order, with the profiles they have on the wire.
pub(crate) fn scopes<'a, G: Generation>(
    resources: &'a [ResourceProfiles],
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Vec<ScopeParts<'a>> {
    let scopes = resources.iter().flat_map(|resource| &resource.scopes);
    scopes.map(|scope| ScopeParts::of::<G>(scope, dictionary, losses)).collect()
}

impl<'a> ScopeParts<'a> {
    /// Splits or joins, by what the generation can say.
    ///
    /// Where a default sample type is said follows from what the generation can: a field by name, a
    /// field by column number if that says every profile's, else attributes of the scope or of the
    /// profiles.
    fn of<G: Generation>(
        scope: &'a ScopeProfiles,
        dictionary: &Dictionary,
        losses: &mut Losses,
    ) -> Self {
        let mut parts = Self {
            scope,
            parts: Vec::new(),
            default: columns::scope_default(scope, dictionary),
            order: None,
            said: DefaultSaid::Nowhere,
            default_hidden: false,
        };
        if !G::CAPABILITIES.several_sample_types {
            parts.split(dictionary, losses);
        } else {
            let joined = columns::join(scope, dictionary, Join::Ordered, losses);
            joined.iter().for_each(|joined| unsaid::other_columns(joined, losses));
            parts.parts.extend(joined.into_iter().map(Part::Joined));
        }
        let by_name = G::CAPABILITIES.default_by_name;
        let by_number = G::CAPABILITIES.default_by_column;
        let in_fields = by_name || by_number && parts.columns_say(dictionary);
        if !in_fields {
            parts.said = columns::default_said(scope, dictionary);
        }
        parts.default_hidden = in_fields && !parts.parts.is_empty();
        parts
    }

    /// Makes a profile of every column.
    /// The default comes first: readers that know no order show the first.
    fn split(&mut self, dictionary: &Dictionary, losses: &mut Losses) {
        let mut order = Vec::new();
        for profile in &self.scope.profiles {
            let default = columns::default_of(profile, self.default, dictionary);
            let first = columns::default_column(&profile.sample_types, default, dictionary);
            let before = order.len();
            for column in columns::split_order(profile.sample_types.len().max(1), first) {
                order.push((before + column) as i64);
                self.parts.push(Part::Column(Column { profile, column, first }));
            }
        }
        let several = self.scope.profiles.iter().any(|profile| profile.sample_types.len() > 1);
        self.order = several.then_some(order);
        // An order of what was several already gives way to that of what becomes several.
        let replaced = several && sample_type_order(self.scope, dictionary).is_some();
        losses.add_many(losses::BAD_ORDER, u64::from(replaced), || {
            PPROF_SCOPE_SAMPLE_TYPE_ORDER.to_owned()
        });
    }

    /// The default sample type of a profile.
    ///
    /// Its own, or else its scope's; NONE where neither says one.
    pub(crate) fn default(&self, part: &Part, dictionary: &Dictionary) -> StringId {
        columns::default_of(part.first(), self.default, dictionary)
    }

    /// Whether the numbers of columns say the defaults' names: the last stands for none.
    ///
    /// In 1.6 and 1.7 column 0 and "no field" are the same, and the reader takes the last column
    /// for no default. So a default that is the last column needs an attribute.
    fn columns_say(&self, dictionary: &Dictionary) -> bool {
        self.parts.iter().all(|part| {
            let default = self.default(part, dictionary);
            let types = part.sample_types();
            let column = columns::default_column(&types, default, dictionary);
            default == StringId::NONE || column + 1 < types.len()
        })
    }

    /// The scope's attributes that this generation says in other ways.
    pub(crate) fn hidden(&self) -> Vec<&'static str> {
        let joined = |part: &Part| matches!(part, Part::Joined(joined) if joined.ordered && joined.profiles.len() > 1);
        let ordered = self.order.is_some() || self.parts.iter().any(joined);
        let mut hidden = Vec::new();
        hidden.extend(ordered.then_some(PPROF_SCOPE_SAMPLE_TYPE_ORDER));
        hidden.extend(self.default_hidden.then_some(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE));
        hidden
    }
}
