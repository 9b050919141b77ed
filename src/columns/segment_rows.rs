//! The rows of a segment in memory: the dictionary, texts of attributes, and headers of profiles.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::columns::spill::Chunk;
use crate::error::Result;
use crate::model::dictionary::Dictionary;
use crate::model::ragged::Ragged;
use crate::model::value::{KeyValue, Value};
use crate::model::{MappingId, ResourceProfiles, ScopeProfiles, StackId, StringId};
use crate::tables::rows::interner::Interner;
use crate::wire::hex::hex;

/// A hash table whose order does not matter: it is only searched.
pub(super) type Rows<K> = HashMap<K, u32, FixedState>;

/// Everything that is written, except samples.
pub(super) struct SegmentRows {
    pub(super) interner: Interner,
    pub(super) keys: Keys,
    /// By attribute: its value as text, and whether that is everything.
    pub(super) labels: Vec<Label>,
    /// By link: the trace and the span in hex.
    pub(super) links: Vec<(StringId, StringId)>,
    /// Attributes of resources, scopes and profiles as text.
    pub(super) pairs: Ragged<(StringId, StringId)>,
    pub(super) heads: Vec<Head>,
    /// One for each service; a single one without partitions.
    pub(super) groups: Vec<Group>,
    pub(super) mapping_rows: Rows<(u32, MappingId)>,
}

/// Attribute keys that have a column.
pub(super) struct Keys {
    pub(super) frame_type: StringId,
    pub(super) build_ids: [StringId; 3],
}

/// An attribute as text.
#[derive(Clone, Copy, Default)]
pub(super) struct Label {
    pub(super) text: StringId,
    /// Whether the value is a string.
    pub(super) is_text: bool,
    /// Whether the attribute is a string without unit.
    pub(super) is_plain: bool,
}

/// The stacks and mappings of a service, with their rows in the segment.
#[derive(Default)]
pub(super) struct Group {
    pub(super) service: StringId,
    pub(super) stacks: Vec<(u32, StackId)>,
    pub(super) mappings: Vec<(u32, MappingId)>,
}

/// A row of the table of profiles.
#[derive(Clone, Default)]
pub(super) struct Head {
    pub(super) group: u32,
    pub(super) type_index: u32,
    /// The number of sample types, at least 1.
    pub(super) types: u32,
    pub(super) profile_id: Option<StringId>,
    pub(super) time: i64,
    pub(super) duration: i64,
    pub(super) name: StringId,
    pub(super) unit: StringId,
    pub(super) temporality: Option<i32>,
    pub(super) default_sample_type: Option<StringId>,
    pub(super) period: (StringId, StringId, i64),
    pub(super) origin: Origin,
    pub(super) attributes: u32,
    pub(super) samples: i64,
    pub(super) sum: i64,
    pub(super) input: StringId,
    pub(super) format: StringId,
    /// The header as OTLP 1.10, if columns cannot represent it. Empty if they can.
    pub(super) exact: Chunk,
    pub(super) rows: Chunk,
}

/// Columns of the resource and the scope.
#[derive(Clone, Copy, Default)]
pub(super) struct Origin {
    pub(super) service: StringId,
    pub(super) version: Option<StringId>,
    pub(super) host: Option<StringId>,
    /// Rows of `Segment::pairs`.
    pub(super) resource: u32,
    pub(super) scope: u32,
    pub(super) scope_name: StringId,
    pub(super) scope_version: StringId,
    /// Whether the columns hold everything.
    pub(super) is_plain: bool,
}

impl Head {
    /// Returns the start in microseconds; `None` if it is unknown.
    pub(super) fn micros(&self) -> Option<i64> {
        (self.time != 0).then_some(self.time.div_euclid(1_000))
    }

    /// Returns the day of the start, from 1970-01-01.
    pub(super) fn day(&self) -> i64 {
        self.time.div_euclid(86_400_000_000_000)
    }
}

impl SegmentRows {
    /// Interns the texts of new attributes and links.
    pub(super) fn add_texts(&mut self) -> Result<()> {
        let Self { interner, labels, links, .. } = self;
        for row in labels.len()..interner.dictionary.attributes.len() {
            let attribute = &interner.dictionary.attributes[row];
            let (value, unit) = (&attribute.value, attribute.unit);
            labels.push(match *value {
                Value::String(text) => {
                    Label { text, is_text: true, is_plain: unit == StringId::NONE }
                }
                _ => {
                    let text = interner.dictionary.value(value).to_string();
                    Label { text: interner.string(text.as_bytes())?, ..Label::default() }
                }
            });
        }
        for row in links.len()..interner.dictionary.links.len() {
            let link = interner.dictionary.links[row];
            let [trace, span] = [hex(&link.trace_id), hex(&link.span_id)];
            let trace = interner.string(trace.as_bytes())?;
            links.push((trace, interner.string(span.as_bytes())?));
        }
        Ok(())
    }

    /// Interns a list of attributes as text, and returns whether that is everything.
    fn texts(&mut self, dictionary: &Dictionary, pairs: &[KeyValue]) -> Result<(u32, bool)> {
        let mut is_plain = true;
        for KeyValue { key, value } in pairs {
            is_plain &= matches!(value, Value::String(_));
            let key = self.interner.string(dictionary.text(*key).as_bytes())?;
            let text = self.interner.string(dictionary.value(value).to_string().as_bytes())?;
            self.pairs.items.push((key, text));
        }
        Ok((self.end_pairs()?, is_plain))
    }

    pub(super) fn end_pairs(&mut self) -> Result<u32> {
        let row = self.pairs.len() as u32;
        let added = self.pairs.items.len() - self.pairs.open_row();
        self.interner.budget.bytes(4 + added * size_of::<(StringId, StringId)>())?;
        self.pairs.end_row();
        Ok(row)
    }

    pub(super) fn resource(
        &mut self,
        dictionary: &Dictionary,
        of: &ResourceProfiles,
    ) -> Result<Origin> {
        let (row, has_texts) = self.texts(dictionary, &of.resource.attributes)?;
        let of_key = |key: &str| {
            let pairs = self.pairs.row(row as usize);
            pairs
                .iter()
                .find(|pair| self.interner.dictionary.text(pair.0) == key)
                .map(|pair| pair.1)
        };
        let is_plain = has_texts
            && of.schema_url == StringId::NONE
            && of.resource.dropped_attributes_count == 0
            && of.resource.entity_refs.is_empty();
        Ok(Origin {
            service: of_key("service.name").unwrap_or_default(),
            version: of_key("service.version"),
            host: of_key("host.name"),
            resource: row,
            is_plain,
            ..Origin::default()
        })
    }

    pub(super) fn scope(
        &mut self,
        dictionary: &Dictionary,
        of: &ScopeProfiles,
        origin: Origin,
    ) -> Result<Origin> {
        let (row, has_texts) = self.texts(dictionary, &of.scope.attributes)?;
        let mut text = |id| self.interner.string(dictionary.text(id).as_bytes());
        let is_plain = origin.is_plain
            && has_texts
            && of.schema_url == StringId::NONE
            && of.scope.dropped_attributes_count == 0;
        let (scope_name, scope_version) = (text(of.scope.name)?, text(of.scope.version)?);
        Ok(Origin { scope: row, scope_name, scope_version, is_plain, ..origin })
    }
}
