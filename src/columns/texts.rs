//! Attributes from tables: texts, or their exact form.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::columns::batch::Array;
use crate::columns::exact;
use crate::error::Result;
use crate::model::dictionary::Attribute;
use crate::model::value::Value;
use crate::model::{AttributeId, StringId};
use crate::tables::rows::interner::Interner;

/// Attributes that were decoded.
#[derive(Default)]
pub(super) struct Texts {
    exact: HashMap<Vec<u8>, Vec<AttributeId>, FixedState>,
    last: (Vec<(StringId, StringId)>, Vec<AttributeId>),
    pub(super) frame_type: StringId,
}

impl Texts {
    /// Interns a list of attributes: the exact ones, or texts.
    pub(super) fn attributes(
        &mut self,
        map: &Array,
        exact: &Array,
        row: usize,
        interner: &mut Interner,
    ) -> Result<&[AttributeId]> {
        if let Some(bytes) = exact.bytes_of(row) {
            return self.exact(bytes, interner);
        }
        let pairs = map.pairs_of(row);
        if !pairs.clone().eq(self.last.0.iter().copied()) {
            self.last.0 = pairs.collect();
            self.last.1.clear();
            for &(key, text) in &self.last.0 {
                let (value, unit) = (Value::String(text), StringId::NONE);
                self.last.1.push(interner.intern(Attribute { key, value, unit })?);
            }
        }
        Ok(&self.last.1)
    }

    pub(super) fn exact(
        &mut self,
        bytes: &[u8],
        interner: &mut Interner,
    ) -> Result<&[AttributeId]> {
        if !self.exact.contains_key(bytes) {
            let (profiles, remap) = exact::decode(bytes, interner)?;
            let profile = profiles.iter().next();
            let ids = profile.into_iter().flat_map(|profile| remap.ids(&profile.attributes));
            let ids = ids.collect();
            interner.budget.bytes(bytes.len() + 64)?;
            self.exact.insert(bytes.to_vec(), ids);
        }
        Ok(self.exact.get(bytes).map_or(&[], |ids| ids))
    }
}
