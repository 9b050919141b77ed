//! Which texts of resources, scopes and values are said by their index in the string table.

use crate::format::otlp::schema::Generation;
use crate::format::select::StringTable;
use crate::format::{Refs, WriteOptions};
use crate::model::Profiles;
use crate::model::id::StringId;

/// The texts said by reference: only OTLP 1.10 can.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRefs {
    wanted: Vec<bool>,
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
        let mut uses = vec![0u32; profiles.dictionary.strings.len()];
        let mut count = |id: StringId| {
            if let Some(uses) = uses.get_mut(id.row()) {
                *uses = uses.saturating_add(1);
            }
        };
        for resource in &profiles.resources {
            resource.resource.attributes.iter().for_each(|pair| pair.for_each_text(&mut count));
            for scope in &resource.scopes {
                scope.scope.attributes.iter().for_each(|pair| pair.for_each_text(&mut count));
            }
        }
        let values = options.refs == Refs::Dictionary;
        if values {
            profiles.dictionary.attributes.iter().for_each(|attribute| attribute.value.for_each_text(&mut count));
        }
        if let Some(empty) = uses.first_mut() {
            *empty = 0;
        }
        Self { wanted: uses.into_iter().map(|uses| uses >= least).collect(), index: Vec::new(), values }
    }

    /// Marks the texts that the string table must have for it.
    pub(crate) fn mark(&self, strings: &mut StringTable) {
        let wanted = self.wanted.iter().enumerate().filter(|(_, wanted)| **wanted);
        wanted.for_each(|(row, _)| strings.mark(StringId(row as u32)));
    }

    /// Takes the indices the texts got.
    pub(crate) fn number(&mut self, strings: &StringTable) {
        let index = |(row, &wanted): (usize, &bool)| if wanted { strings.index(StringId(row as u32)) } else { 0 };
        self.index = self.wanted.iter().enumerate().map(index).collect();
    }

    /// The index a text is said by; 0: it is said in place.
    #[inline]
    pub(crate) fn index(&self, id: StringId) -> u32 {
        self.index.get(id.row()).copied().unwrap_or(0)
    }
}
