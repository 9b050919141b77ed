//! Binaries that processes load at different addresses.
//!
//! While profiles are merged, a location of a known binary holds its offset from the start of the mapping. The base
//! of each binary is chosen at the end, so it does not depend on the order of inputs:
//!
//! ```text
//! input 1   /bin/server at 0x1000..0x3000   location 0x1234 ─┐
//! input 2   /bin/server at 0x7000..0x9000   location 0x7234 ─┴► /bin/server + 0x234 ─► 0x1234
//! ```

use crate::model::dictionary::{Attribute, Dictionary, Mapping};
use crate::model::id::{AttributeId, Id, MappingId, StringId};
use crate::model::ragged::Ragged;
use crate::model::value::Value;
use crate::semconv::PPROF_MAPPING_HAS_FUNCTIONS;
use crate::tables::rows::budget::Full;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::merge::{Relocate, Remap};

/// Sizes of binaries without a build id are compared in pages of this many bytes.
const PAGE: u64 = 4096;

/// The bases of relocatable mappings, by mapping row of the merged dictionary.
#[derive(Clone, Debug, Default)]
pub(super) struct Binaries {
    bases: Vec<Option<Base>>,
    /// Mappings keep their addresses.
    exact: bool,
}

/// Where one binary is loaded, and the mapping fields that are not part of its identity.
#[derive(Clone, Debug)]
struct Base {
    mapping: Mapping,
    /// The flags that all mappings of the binary have.
    flags: Vec<AttributeId>,
    /// Some mapping has a flag, set or not.
    flagged: bool,
    /// Other mappings of the binary have another base.
    moved: bool,
}

impl Binaries {
    pub(super) fn new(exact: bool) -> Self {
        Self { exact, ..Self::default() }
    }

    /// Places the mappings of one input.
    pub(super) fn relocate(&mut self, input: &Dictionary) -> Relocation<'_> {
        Relocation { starts: vec![None; input.mappings.rows.len()], binaries: self }
    }

    fn add(&mut self, id: MappingId, base: Base, dictionary: &Dictionary) {
        if self.bases.len() <= id.row() {
            self.bases.resize(id.row() + 1, None);
        }
        let Some(ours) = &mut self.bases[id.row()] else {
            self.bases[id.row()] = Some(base);
            return;
        };
        let key = |of: &Mapping| (of.memory_start, of.memory_limit, dictionary.text(of.filename));
        ours.moved |= base.moved || ours.mapping.memory_start != base.mapping.memory_start;
        // The least mapping becomes the base, whatever the order of inputs.
        if key(&base.mapping) < key(&ours.mapping) {
            ours.mapping = base.mapping;
        }
        ours.flags.retain(|flag| base.flags.contains(flag));
        ours.flagged |= base.flagged;
    }

    /// Adds the bases of another merger, whose dictionary was absorbed.
    pub(super) fn append(&mut self, other: &Self, remap: &Remap, dictionary: &Dictionary) {
        for (row, base) in other.bases.iter().enumerate() {
            if let Some(Base { mapping, flags, flagged, moved }) = base {
                let mapping = remap.mapping(mapping);
                let flags = remap.ids(flags).collect();
                let base = Base { mapping, flags, flagged: *flagged, moved: *moved };
                self.add(remap.id(MappingId::from_row(row as u32)), base, dictionary);
            }
        }
    }

    /// Gives every location its address again. Returns the binaries that had several bases.
    pub(super) fn restore_addresses(&self, interner: &mut Interner) -> Result<Vec<StringId>, Full> {
        let unset = Attribute {
            key: interner.string(PPROF_MAPPING_HAS_FUNCTIONS.as_bytes())?,
            value: Value::Bool(false),
            unit: StringId::NONE,
        };
        let unset = interner.attribute(unset)?;
        let Dictionary { mappings, locations, .. } = &mut interner.dictionary;
        let old = std::mem::replace(&mut mappings.attributes, Ragged::NONE);
        let mut moved = Vec::new();
        for (row, mapping) in mappings.rows.iter_mut().enumerate() {
            let items = &mut mappings.attributes.items;
            let start = items.len();
            items.extend_from_slice(old.row(row));
            if let Some(base) = self.bases.get(row).and_then(Option::as_ref) {
                *mapping = base.mapping;
                items.extend_from_slice(&base.flags);
                items.extend((base.flagged && base.flags.is_empty()).then_some(unset));
                moved.extend(base.moved.then_some(mapping.filename));
                items[start..].sort_unstable();
            }
            mappings.attributes.end_row_at(row);
        }
        for (address, mapping) in locations.addresses.iter_mut().zip(&locations.mappings) {
            if let Some(Some(base)) = self.bases.get(mapping.row())
                && *address != 0
            {
                // Wraps as `address` did, which restores addresses below the mapping as well.
                *address = address.wrapping_add(base.mapping.memory_start).wrapping_sub(1);
            }
        }
        Ok(moved)
    }
}

/// The mappings of one input on their way into a merged dictionary.
pub(super) struct Relocation<'a> {
    binaries: &'a mut Binaries,
    /// By mapping row of the input: the start of a relocatable mapping.
    starts: Vec<Option<u64>>,
}

impl Relocate for Relocation<'_> {
    fn mapping(
        &mut self,
        into: &mut Interner,
        row: usize,
        mapping: Mapping,
        attributes: &[AttributeId],
    ) -> Result<MappingId, Full> {
        let dictionary = &into.dictionary;
        let key = |id: &AttributeId| {
            dictionary.attribute(*id).map_or("", |attribute| dictionary.text(attribute.key))
        };
        let has_build_id =
            attributes.iter().any(|id| key(id).starts_with("process.executable.build_id."));
        let filename = dictionary.text(mapping.filename);
        let is_file =
            !filename.is_empty() && !filename.starts_with(['[', ' ']) && filename != "//anon";
        if self.binaries.exact || !(has_build_id || is_file) {
            return into.intern((mapping, attributes));
        }
        let is_flag = |id: &&AttributeId| key(id).starts_with("pprof.mapping.has_");
        let flagged = attributes.iter().any(|id| is_flag(&id));
        let is_set = |id: &&AttributeId| {
            dictionary.attribute(**id).is_some_and(|flag| flag.value == Value::Bool(true))
        };
        let flags = attributes.iter().filter(is_flag).filter(is_set).copied().collect();
        let identity: Vec<_> = attributes.iter().filter(|id| !is_flag(id)).copied().collect();
        let size = mapping.memory_limit.saturating_sub(mapping.memory_start);
        let pages = size.checked_next_multiple_of(PAGE).unwrap_or(size);
        // A build id identifies a binary under any name. Without one, the name and the number of pages do.
        let (memory_limit, filename) =
            if has_build_id { (size, StringId::NONE) } else { (pages, mapping.filename) };
        let normal = Mapping { memory_start: 0, memory_limit, filename, ..mapping };
        let id = into.intern((normal, &identity[..]))?;
        let base = Base { mapping, flags, flagged, moved: false };
        self.binaries.add(id, base, &into.dictionary);
        self.starts[row] = Some(mapping.memory_start);
        Ok(id)
    }

    /// Returns the offset plus 1 in a relocatable mapping, as 0 is an unknown address.
    #[inline]
    fn address(&self, row: MappingId, address: u64) -> u64 {
        match self.starts.get(row.row()) {
            Some(Some(start)) if address != 0 => {
                // An address just below the start would become 0, so it moves to the start.
                address.wrapping_sub(*start).wrapping_add(1).max(1)
            }
            _ => address,
        }
    }
}
