//! Splitting and joining of profiles, and the scope attributes that record it.
//!
//! pprof and OTLP up to 1.7 have several sample types per profile, later OTLP has one. A profile with several
//! sample types is split for the latter. It is joined again for the former if its scope records the split:
//! `pprof.scope.sample_type_order`.
//!
//! ```text
//! model    profile [cpu, wall]   profile [heap]
//! 1.8 on   cpu │ wall │ heap     scope: pprof.scope.sample_type_order = [0, 1, 2]
//! to 1.7   [cpu, wall] │ [heap]
//! ```
//!
//! The order is that of the columns in the source. The default sample type is written first, wherever it was,
//! so the list may be `[1, 0]`.

use std::slice;

use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{StackId, StringId};
use crate::model::order::sample_type_order;
use crate::model::profile::{Profile, ValueType};
use crate::model::sample_types::{default_of, scope_default};
use crate::model::value::Value;
use crate::model::{ResourceProfiles, ScopeProfiles};
use crate::schema::Generation;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::profile::columns::{self, DefaultTypeCarrier, Join, Joined};
use crate::tables::write::unsupported;

/// The model data that is encoded as one profile.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// A column of a profile, if the generation has one sample type per profile. The values are those of the
    /// column; stacks, attributes and timestamps are repeated for each column.
    Column(Column<'a>),
    /// All columns, if the generation allows several sample types.
    Joined(Joined<'a>),
}

/// A column of a profile. A profile may have many columns, so facts about all of them are determined once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) profile: &'a Profile,
    /// The index of the column among the profile's sample types.
    pub(crate) column: usize,
    /// The index of the column that is written first: the default sample type.
    pub(crate) first: usize,
}

/// A scope and its profiles as encoded.
#[derive(Debug)]
pub(crate) struct ScopeParts<'a> {
    /// The scope in the model.
    pub(crate) scope: &'a ScopeProfiles,
    /// The parts in the order of writing.
    pub(crate) parts: Vec<Part<'a>>,
    /// The default sample type that the scope stores.
    default: Option<&'a Value>,
    /// The original order of sample types, if profiles are split.
    pub(crate) order: Option<Vec<i64>>,
    /// Where default sample types must be added.
    pub(crate) default_carrier: DefaultTypeCarrier,
    /// Whether fields represent the scope's default sample type.
    ///
    /// If so, its attribute is not written.
    default_hidden: bool,
}

impl<'a> Part<'a> {
    /// Returns the first profile, whose times, ids and attributes are written. Differences in the others are
    /// counted as losses.
    pub(crate) fn first(&self) -> &'a Profile {
        match self {
            Self::Column(column) => column.profile,
            Self::Joined(joined) => joined.first(),
        }
    }

    /// Iterates over the stacks of its samples in the order of writing.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = StackId> {
        let (profile, order) = match self {
            Self::Column(column) => (column.profile, None),
            Self::Joined(joined) => (joined.first(), joined.order.as_deref()),
        };
        let stacks = &profile.samples.stacks;
        (0..stacks.len()).map(move |at| stacks[order.map_or(at, |order| order[at] as usize)])
    }

    /// Returns the profiles of this part.
    pub(crate) fn profiles(&self) -> &[&'a Profile] {
        match self {
            Self::Column(column) => slice::from_ref(&column.profile),
            Self::Joined(joined) => &joined.profiles,
        }
    }

    /// Returns the sample types: one for a column, several for joined profiles.
    pub(crate) fn sample_types(&self) -> Vec<ValueType> {
        match self {
            Self::Column(Column { profile, column, .. }) => {
                profile.sample_types.get(*column).copied().into_iter().collect()
            }
            Self::Joined(joined) => joined.written_types(),
        }
    }
}

/// Returns the scopes of a payload in order, with their profiles as encoded.
pub(crate) fn scopes<'a, G: Generation>(
    resources: &'a [ResourceProfiles],
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Vec<ScopeParts<'a>> {
    let scopes = resources.iter().flat_map(|resource| &resource.scopes);
    scopes.map(|scope| ScopeParts::of::<G>(scope, dictionary, losses)).collect()
}

impl<'a> ScopeParts<'a> {
    /// Splits or joins the profiles of a scope, as the generation requires.
    ///
    /// The place of a default sample type depends on the generation: a field with its name; a field with its
    /// column number, if that works for every profile; else attributes of the scope or of the profiles.
    fn of<G: Generation>(
        scope: &'a ScopeProfiles,
        dictionary: &Dictionary,
        losses: &mut Losses,
    ) -> Self {
        let mut parts = Self {
            scope,
            parts: Vec::new(),
            default: scope_default(scope, dictionary),
            order: None,
            default_carrier: DefaultTypeCarrier::Unwritten,
            default_hidden: false,
        };
        if !G::CAPABILITIES.several_sample_types {
            parts.split(dictionary, losses);
        } else {
            let joined = columns::join(scope, dictionary, Join::Ordered, losses);
            joined.iter().for_each(|joined| unsupported::other_columns(joined, losses));
            parts.parts.extend(joined.into_iter().map(Part::Joined));
        }
        let by_name = G::CAPABILITIES.default_by_name;
        let by_number = G::CAPABILITIES.default_by_column;
        let in_fields = by_name || by_number && parts.columns_say(dictionary);
        if !in_fields {
            parts.default_carrier = columns::default_type_carrier(scope, dictionary);
        }
        // Without profiles, no field can hold the default.
        parts.default_hidden = in_fields && !parts.parts.is_empty();
        parts
    }

    /// Splits every profile into its columns. The default is first, because readers that ignore the order
    /// show the first.
    fn split(&mut self, dictionary: &Dictionary, losses: &mut Losses) {
        let mut order = Vec::new();
        for profile in &self.scope.profiles {
            let default = default_of(profile, self.default, dictionary);
            let first = columns::default_column(&profile.sample_types, default, dictionary);
            let before = order.len();
            // A profile without sample types becomes one profile as well.
            for column in columns::split_order(profile.sample_types.len().max(1), first) {
                order.push((before + column) as i64);
                self.parts.push(Part::Column(Column { profile, column, first }));
            }
        }
        let several = self.scope.profiles.iter().any(|profile| profile.sample_types.len() > 1);
        self.order = several.then_some(order);
        // The order of this split replaces an order that the scope already stores.
        let replaced = several && sample_type_order(self.scope, dictionary).is_some();
        losses.add_many(losses::BAD_ORDER, u64::from(replaced), || {
            PPROF_SCOPE_SAMPLE_TYPE_ORDER.to_owned()
        });
    }

    /// Returns the default sample type of a profile, or else that of its scope; `NONE` if both are unset.
    pub(crate) fn default(&self, part: &Part, dictionary: &Dictionary) -> StringId {
        default_of(part.first(), self.default, dictionary)
    }

    /// Returns whether column numbers represent all default sample types. The last column means that no
    /// default is set.
    ///
    /// In 1.6 and 1.7 column 0 and an omitted field are encoded alike, and the reader treats the last column
    /// as no default. So a default that is the last column needs an attribute.
    fn columns_say(&self, dictionary: &Dictionary) -> bool {
        self.parts.iter().all(|part| {
            let default = self.default(part, dictionary);
            let types = part.sample_types();
            let column = columns::default_column(&types, default, dictionary);
            default == StringId::NONE || column + 1 < types.len()
        })
    }

    /// Returns the keys of scope attributes that this generation represents in other ways.
    pub(crate) fn hidden(&self) -> Vec<&'static str> {
        // If profiles were joined in the stored order, the order of the sample types represents it.
        let joined = |part: &Part| matches!(part, Part::Joined(joined) if joined.ordered && joined.profiles.len() > 1);
        let ordered = self.order.is_some() || self.parts.iter().any(joined);
        let mut hidden = Vec::new();
        hidden.extend(ordered.then_some(PPROF_SCOPE_SAMPLE_TYPE_ORDER));
        hidden.extend(self.default_hidden.then_some(PPROF_SCOPE_DEFAULT_SAMPLE_TYPE));
        hidden
    }
}
