//! Which texts of resources, scopes and values are said by their index in the string table.
//!
//! In 1.10 all texts of a payload are in place or all are references: receivers of the time understand the one
//! or the other ([`Receiver`](crate::format::Receiver)), and none a mixture.
//!
//! Three steps, since an index is known only when all strings of the payload are: `of` collects the
//! texts, `mark` asks the string table for them, `number` takes the indices. Equal texts share the
//! first row that has them, so a reference never leads to a duplicate.

use hashbrown::HashMap;

use crate::format::columns::DefaultSaid;
use crate::format::options::{StringEncoding, WriteOptions};
use crate::format::otlp::write::own_texts::OwnTexts;
use crate::format::otlp::write::parts::ScopeParts;
use crate::format::select::{Select, StringTable};
use crate::model::Profiles;
use crate::model::id::StringId;
use crate::schema::Generation;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};

/// The texts said by reference: all of them or none. Only OTLP 1.10 can.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRefs {
    /// The texts said by reference, and the first of equal ones.
    wanted: Vec<(StringId, StringId)>,
    /// By string: its index, or 0 for those said in place.
    ///
    /// As long as to the last text that is wanted.
    index: Vec<u32>,
    /// The keys that the writer adds to scopes, and their indices.
    keys: Vec<(&'static str, u32)>,
}

impl TextRefs {
    /// None unless references are asked for and the generation has them.
    pub(crate) fn of<G: Generation>(
        profiles: &Profiles,
        attributes: &Select,
        scopes: &[ScopeParts],
        options: &WriteOptions,
    ) -> Self {
        if !G::CAPABILITIES.string_references || options.string_encoding == StringEncoding::Inline {
            return Self::default();
        }
        let strings = &profiles.dictionary.strings;
        let mut first: HashMap<&str, StringId, foldhash::fast::RandomState> = HashMap::default();
        let mut wanted = Vec::new();
        for_each_text(profiles, attributes, scopes, &mut |id| {
            if id != StringId::NONE {
                wanted.push((id, *first.entry(strings.get(id)).or_insert(id)));
            }
        });
        let ordered = scopes.iter().any(|scope| scope.order.is_some());
        let default = scopes.iter().any(|scope| matches!(scope.said, DefaultSaid::Scope(_)));
        let keys = [
            ordered.then_some((PPROF_SCOPE_SAMPLE_TYPE_ORDER, 0)),
            default.then_some((PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, 0)),
        ];
        Self { wanted, index: Vec::new(), keys: keys.into_iter().flatten().collect() }
    }

    /// Marks the texts that the string table must have for it.
    pub(crate) fn mark(&self, strings: &mut StringTable, own: &mut OwnTexts) {
        self.wanted.iter().for_each(|(_, first)| strings.mark(*first));
        self.keys.iter().for_each(|(key, _)| own.want(key));
    }

    /// Takes the indices the texts got.
    ///
    /// After [`OwnTexts::number`], which it asks.
    pub(crate) fn number(&mut self, strings: &StringTable, own: &OwnTexts) {
        self.keys.iter_mut().for_each(|(key, index)| *index = own.index(key, strings));
        for (id, first) in &self.wanted {
            if self.index.len() <= id.row() {
                self.index.resize(id.row() + 1, 0);
            }
            self.index[id.row()] = strings.index(*first);
        }
    }

    /// The index a text is said by; 0: it is said in place.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.index.get(id.row()).copied().unwrap_or(0)
    }

    /// The index a key that the writer adds is said by; 0: it is said in place.
    pub(crate) fn key(&self, key: &str) -> u32 {
        let own = self.keys.iter().find(|(own, _)| *own == key);
        own.map_or(0, |(_, index)| *index)
    }
}

/// Calls `f` for every text that can be a reference: those of resources, scopes and values, and of
/// the default sample types that become values.
fn for_each_text(
    profiles: &Profiles,
    attributes: &Select,
    scopes: &[ScopeParts],
    f: &mut impl FnMut(StringId),
) {
    for resource in &profiles.resources {
        resource.resource.attributes.iter().for_each(|pair| pair.for_each_text(f));
        for scope in &resource.scopes {
            scope.scope.attributes.iter().for_each(|pair| pair.for_each_text(f));
        }
    }
    for row in attributes.rows() {
        profiles.dictionary.attributes[row].value.for_each_text(f);
    }
    for parts in scopes {
        match parts.said {
            DefaultSaid::Nowhere => {}
            DefaultSaid::Scope(name) => f(name),
            DefaultSaid::Profiles => {
                parts.scope.profiles.iter().for_each(|profile| f(profile.default_sample_type));
            }
        }
    }
}
