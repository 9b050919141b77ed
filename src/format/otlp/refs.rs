//! Which texts of resources, scopes and values are said by their index in the string table.

use hashbrown::HashMap;

use crate::format::options::{Refs, WriteOptions};
use crate::format::otlp::schema::Generation;
use crate::format::select::StringTable;
use crate::model::Profiles;
use crate::model::id::StringId;

/// The texts said by reference: only OTLP 1.10 can.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRefs {
    /// The texts said by reference, and the first of equal ones.
    wanted: Vec<(StringId, StringId)>,
    /// By string: its index, or 0 for those said in place.
    index: Vec<u32>,
    /// The values of the attribute table are said by reference too.
    pub(crate) values: bool,
}

impl TextRefs {
    /// Chooses: all, none, or those of resources and scopes that occur twice or more.
    pub(crate) fn of<G: Generation>(profiles: &Profiles, options: &WriteOptions) -> Self {
        if G::SCHEMA.string_value_strindex == 0 || options.refs == Refs::Inline {
            return Self::default();
        }
        let least = if options.refs == Refs::Dictionary { 1 } else { 2 };
        let strings = &profiles.dictionary.strings;
        let mut uses: Vec<(StringId, u32)> = Vec::new();
        let mut by_text: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
        let mut same: Vec<(StringId, usize)> = Vec::new();
        let mut count = |id: StringId| {
            if id != StringId::NONE {
                let at = *by_text.entry(strings.get(id)).or_insert_with(|| {
                    uses.push((id, 0));
                    uses.len() - 1
                });
                uses[at].1 += 1;
                same.push((id, at));
            }
        };
        for resource in &profiles.resources {
            let attributes = &resource.resource.attributes;
            attributes.iter().for_each(|pair| pair.for_each_text(&mut count));
            for scope in &resource.scopes {
                scope.scope.attributes.iter().for_each(|pair| pair.for_each_text(&mut count));
            }
        }
        let values = options.refs == Refs::Dictionary;
        if values {
            let attributes = &profiles.dictionary.attributes;
            attributes.iter().for_each(|attribute| attribute.value.for_each_text(&mut count));
        }
        let wanted =
            |(id, at): (StringId, usize)| (uses[at].1 >= least).then_some((id, uses[at].0));
        let wanted = same.into_iter().filter_map(wanted).collect();
        Self { wanted, index: Vec::new(), values }
    }

    /// Marks the texts that the string table must have for it.
    pub(crate) fn mark(&self, strings: &mut StringTable) {
        self.wanted.iter().for_each(|(_, first)| strings.mark(*first));
    }

    /// Takes the indices the texts got.
    pub(crate) fn number(&mut self, strings: &StringTable) {
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
}
