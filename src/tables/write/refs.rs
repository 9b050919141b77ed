//! Strings of resources, scopes and values that are written as references into the string table.
//!
//! In 1.10 either all of these strings of a payload are inline or all are references. Current receivers
//! support one of the two forms ([`Receiver`](crate::format::Receiver)), but no mixture.
//!
//! There are three steps, because indices are known only after all strings of the payload are collected: `of`
//! collects the strings, `mark` requests them from the string table, `number` stores their indices. Equal
//! strings share the first row, so a reference never points to a duplicate.

use hashbrown::HashMap;

use crate::model::Profiles;
use crate::model::id::StringId;
use crate::schema::Generation;
use crate::semconv::{PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, PPROF_SCOPE_SAMPLE_TYPE_ORDER};
use crate::tables::profile::columns::DefaultTypeCarrier;
use crate::tables::write::extra_strings::ExtraStrings;
use crate::tables::write::parts::ScopeParts;
use crate::tables::write::select::{RowSelection, StringTable};
use crate::write_options::{StringEncoding, WriteOptions};

/// The strings written as references: all of them, or an empty set. OTLP 1.10 only.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRefs {
    /// The strings written as references, each with the first equal string.
    referenced: Vec<(StringId, StringId)>,
    /// The index of each string; 0 for inline strings.
    ///
    /// Ends at the last string that is a reference.
    index: Vec<u32>,
    /// The keys that the writer adds to scopes, and their indices.
    keys: Vec<(&'static str, u32)>,
}

impl TextRefs {
    /// Collects the strings. Returns an empty set unless references are requested and the generation has
    /// them.
    pub(crate) fn of<G: Generation>(
        profiles: &Profiles,
        attributes: &RowSelection,
        scopes: &[ScopeParts],
        options: &WriteOptions,
    ) -> Self {
        if !G::CAPABILITIES.string_references || options.string_encoding == StringEncoding::Inline {
            return Self::default();
        }
        let strings = &profiles.dictionary.strings;
        let mut first: HashMap<&str, StringId, foldhash::fast::RandomState> = HashMap::default();
        let mut referenced = Vec::new();
        for_each_text(profiles, attributes, scopes, &mut |id| {
            if id != StringId::NONE {
                referenced.push((id, *first.entry(strings.get(id)).or_insert(id)));
            }
        });
        let ordered = scopes.iter().any(|scope| scope.order.is_some());
        let default = scopes
            .iter()
            .any(|scope| matches!(scope.default_carrier, DefaultTypeCarrier::Scope(_)));
        let keys = [
            ordered.then_some((PPROF_SCOPE_SAMPLE_TYPE_ORDER, 0)),
            default.then_some((PPROF_SCOPE_DEFAULT_SAMPLE_TYPE, 0)),
        ];
        Self { referenced, index: Vec::new(), keys: keys.into_iter().flatten().collect() }
    }

    /// Marks the strings that the string table must contain.
    pub(crate) fn mark(&self, strings: &mut StringTable, own: &mut ExtraStrings) {
        self.referenced.iter().for_each(|(_, first)| strings.mark(*first));
        self.keys.iter().for_each(|(key, _)| own.request(key));
    }

    /// Stores the indices of the strings.
    ///
    /// Call it after [`ExtraStrings::number`], whose indices it uses.
    pub(crate) fn number(&mut self, strings: &StringTable, own: &ExtraStrings) {
        self.keys.iter_mut().for_each(|(key, index)| *index = own.index(key, strings));
        for (id, first) in &self.referenced {
            if self.index.len() <= id.row() {
                self.index.resize(id.row() + 1, 0);
            }
            self.index[id.row()] = strings.index(*first);
        }
    }

    /// Returns the index of a string, or 0 if it is inline.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.index.get(id.row()).copied().unwrap_or(0)
    }

    /// Returns the index of a key that the writer adds, or 0 if it is inline.
    pub(crate) fn key(&self, key: &str) -> u32 {
        let own = self.keys.iter().find(|(own, _)| *own == key);
        own.map_or(0, |(_, index)| *index)
    }
}

/// Calls `f` for every string that may be a reference: those of resources, scopes and values, and of default
/// sample types that become values.
fn for_each_text(
    profiles: &Profiles,
    attributes: &RowSelection,
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
        match parts.default_carrier {
            DefaultTypeCarrier::Unwritten => {}
            DefaultTypeCarrier::Scope(name) => f(name),
            DefaultTypeCarrier::Profiles => {
                parts.scope.profiles.iter().for_each(|profile| f(profile.default_sample_type));
            }
        }
    }
}
