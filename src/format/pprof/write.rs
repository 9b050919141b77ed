//! Writer of pprof: one payload for each set of profiles that are columns of one profile.
//!
//! A payload is written in one pass over the samples, which copies precomputed bytes:
//!
//! | computed once | by |
//! |---|---|
//! | labels of every attribute | `encode_labels`, a slice of bytes for each |
//! | ids of locations and functions | `encode_ids`, as [`EncodedIndices`] |
//! | the ids of a stack | its first sample; later ones copy them from the output |
//!
//! ```text
//! Profiles ─► join: which profiles are columns of one ─► Set ─► subset, if there are several ─► Writer
//!             mark strings ─► encode labels, ids ─► samples ─► tables ─► header ─► strings
//! ```

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::error::Result;
use crate::format::pprof::labels::{LabelValue, attribute_labels, write_label};
use crate::limits::within;
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::profile::ValueType;
use crate::model::ragged::Ragged;
use crate::model::sample_types::{default_of, scope_default};
use crate::model::value::Value;
use crate::model::{Profiles, ScopeProfiles};
use crate::schema::Version::Pprof;
use crate::tables::attributes::semantic_attributes::{self, AttributeRoles};
use crate::tables::fields::number;
use crate::tables::layout::{self, Order, Target};
use crate::tables::profile::columns::{self, Join, Joined};
use crate::tables::rows::orphans::{self, Kept};
use crate::tables::rows::reach::Reach;
use crate::tables::rows::subset::Subsets;
use crate::tables::write::select::{RowSelection, marks};
use crate::tables::write::sizes::check_rows;
use crate::tables::write::strings::StringTable;
use crate::tables::write::unsupported::{self, UnsupportedData};
use crate::wire::codes::EncodedIndices;
use crate::wire::write::field_message;
use crate::write_options::WriteOptions;

/// Writes the profiles: one payload for each set of columns.
///
/// [`columns::join`] determines which columns become one payload with several sample types. Fields are
/// written in ascending order.
///
/// `spare` is a buffer of the caller, reused for the first payload.
///
/// # Errors
///
/// [`Limit`](crate::ErrorKind::Limit) if `max_output_bytes` is exceeded by all payloads together.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    mut spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let dictionary = &profiles.dictionary;
    let roles = AttributeRoles::of(dictionary);
    unsupported::envelope(profiles, None, losses);
    let (mut order, resources) = layout::laid_out(profiles, options.layout, Target::PPROF);
    let scopes = resources.iter().flat_map(|resource| &resource.scopes);
    let sets: Vec<(&ScopeProfiles, Vec<Joined>)> = scopes
        .map(|scope| (scope, columns::join(scope, dictionary, Join::Compatible, losses)))
        .collect();
    // A single pprof keeps the tables as they are; each of several gets the rows that it reaches.
    let count = sets.iter().map(|(_, joined)| joined.len()).sum();
    note_orphans(profiles, count == 1, order.as_ref(), losses);
    let mut subsets = (count != 1).then(|| Subsets::of(dictionary, order.take()));
    let mut unsupported = UnsupportedData::of(dictionary, &roles);
    let mut payloads = Vec::with_capacity(count);
    let mut written = 0;
    for (scope, joined) in &sets {
        let from_pprof = columns::has_pprof_attribute(scope, dictionary);
        let of_scope = scope_default(scope, dictionary);
        for joined in joined {
            let default = default_name(joined, of_scope, dictionary, losses);
            unsupported.profile(joined, default, losses);
            let rows = order.take().unwrap_or_else(|| Order::whole(dictionary));
            let set = Set { dictionary, roles: &roles, rows, joined, default, from_pprof };
            let spare = std::mem::take(&mut spare);
            let payload = set.payload(subsets.as_mut(), options, losses, spare)?;
            written += payload.len() as u64;
            within("max_output_bytes", options.max_output_bytes, written)?;
            payloads.push(payload);
        }
    }
    Ok(payloads)
}

/// The columns that become one pprof, before the choice between whole tables and a subset.
struct Set<'a> {
    /// The dictionary of all profiles, or of the subset.
    dictionary: &'a Dictionary,
    /// The classification of attributes.
    roles: &'a AttributeRoles,
    /// The rows to write, if there is only one pprof.
    rows: Order,
    joined: &'a Joined<'a>,
    /// If `NONE`, readers show the last column.
    default: StringId,
    /// Whether the scope has an attribute of pprof.
    from_pprof: bool,
}

impl Set<'_> {
    /// Writes the payload. If there are several pprofs, each gets a subset of the dictionary; a single one
    /// gets the whole.
    ///
    /// # Errors
    ///
    /// More rows than 32-bit ids can count; the limit of the output.
    fn payload(
        self,
        subsets: Option<&mut Subsets>,
        options: &WriteOptions,
        losses: &mut Losses,
        spare: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let Some(subsets) = subsets else {
            let from_pprof = self.from_pprof || self.roles.from_pprof;
            return Writer::new(self, options, losses).payload(from_pprof, spare);
        };
        let (subset, [default]) = subsets.extract(self.joined, [self.default], losses);
        let dictionary = &subset.dictionary;
        let roles = &AttributeRoles::of(dictionary);
        let joined = &subset.joined(self.joined);
        let rows = Order::whole(dictionary);
        let set = Set { dictionary, roles, rows, joined, default, ..self };
        set.payload(None, options, losses, spare)
    }
}

/// Counts the dropped rows. A single pprof keeps its tables, but pprof has no tables of links, attributes and
/// stacks, so unreferenced rows of these are dropped.
///
/// Counted before writing, once for all payloads: a row that one of several pprofs contains is not an orphan.
fn note_orphans(profiles: &Profiles, whole: bool, order: Option<&Order>, losses: &mut Losses) {
    if let Some(order) = order.filter(|_| whole) {
        return order.note(&profiles.dictionary, losses);
    }
    let reach = (!whole).then(|| Reach::by(&profiles.dictionary, profiles.iter()));
    let kept = Kept { tables: whole, links: false, attributes: false, stacks: false };
    orphans::note(profiles, reach.as_ref(), kept, losses);
}

/// Returns the default sample type: that of the profile or the scope. If neither is set, it is the type of the first
/// profile, unless pprof shows that as the last column anyway.
///
/// `default_sample_type` is a name, so it cannot distinguish two sample types with the same name.
fn default_name(
    joined: &Joined,
    of_scope: Option<&Value>,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> StringId {
    let default = default_of(joined.first(), of_scope, dictionary);
    if default != StringId::NONE || joined.leader + 1 >= joined.profiles.len() {
        return default;
    }
    losses.add(losses::DEFAULT_SYNTHESIZED, || "default_sample_type".to_owned());
    let shown = joined.profiles[joined.leader].sample_types.first();
    shown.map_or(StringId::NONE, |value_type| value_type.name)
}

/// The state of writing one pprof.
pub(crate) struct Writer<'a, 'l> {
    pub(crate) dictionary: &'a Dictionary,
    pub(super) roles: &'a AttributeRoles,
    /// The rows to write.
    pub(super) rows: Order,
    /// The profiles that are columns of this one.
    pub(crate) joined: &'a Joined<'a>,
    /// Limits, links and timestamps.
    pub(crate) options: &'a WriteOptions,
    pub(crate) losses: &'l mut Losses,
    /// Used strings of the dictionary, followed by new ones.
    pub(crate) strings: StringTable<'a>,
    /// The encoded labels of all attributes, ready to be copied into samples.
    ///
    /// 64 zeros follow the last one, because labels are copied 64 bytes at a time.
    pub(crate) labels: Vec<u8>,
    /// The start and end of the labels of each attribute.
    pub(super) label_parts: Vec<[u32; 2]>,
    /// Attributes whose labels have the same key as those of timestamps.
    pub(crate) time_labels: HashSet<AttributeId, RandomState>,
    /// The encoded id of each location.
    pub(crate) locations: EncodedIndices,
    /// The encoded id of each function.
    pub(super) functions: EncodedIndices,
    /// The place of each stack's location ids in the payload, after they were written.
    ///
    /// Start and end are equal until then.
    pub(crate) stacks: Vec<[u32; 2]>,
    /// As in `Set`.
    pub(super) default: StringId,
    /// The id of the function for lines without one.
    pub(super) no_function: u32,
    /// The id of the location for frames without one.
    pub(super) no_location: u32,
}

impl<'a, 'l> Writer<'a, 'l> {
    /// Creates a writer. Ids of synthesized rows, such as an unknown function, follow those of the tables.
    fn new(set: Set<'a>, options: &'a WriteOptions, losses: &'l mut Losses) -> Self {
        let Set { dictionary, roles, rows, joined, default, .. } = set;
        let strings = StringTable::new(&dictionary.strings);
        Self {
            dictionary,
            roles,
            joined,
            options,
            losses,
            strings,
            labels: Vec::new(),
            label_parts: Vec::new(),
            time_labels: HashSet::default(),
            locations: EncodedIndices::default(),
            functions: EncodedIndices::default(),
            stacks: vec![[0; 2]; dictionary.stacks.len()],
            default,
            no_function: rows.functions.len() as u32 + 1,
            no_location: rows.locations.len() as u32 + 1,
            rows,
        }
    }

    /// Writes the payload.
    ///
    /// Strings, labels and ids are encoded before the samples, which copy them. Fields are in ascending
    /// order, but samples refer to strings. So strings are numbered first and written late. The header may
    /// add strings, so it is encoded before the string table is written.
    ///
    /// The estimate affects only the buffer, which grows once more if it is too small.
    fn payload(mut self, from_pprof: bool, mut out: Vec<u8>) -> Result<Vec<u8>> {
        check_rows("location", self.dictionary.locations.len())?;
        let value = self.mark_strings();
        self.encode_labels(value);
        self.encode_ids();
        let samples: usize = self.joined.first().samples.len();
        let estimate = self.dictionary.strings.text_len()
            + self.dictionary.strings.len() * 2
            + self.dictionary.locations.len() * 22
            + self.dictionary.functions.len() * 14
            + samples * (12 + 6 * self.joined.profiles.len())
            + self.locations.expected(self.cells())
            + 1024;
        out.reserve(estimate);
        for value_type in self.sample_types() {
            field_message(&mut out, number!(PROFILE "sample_type" in Pprof), |out| {
                self.value_type(out, value_type);
            });
        }
        self.samples(&mut out)?;
        self.mappings(&mut out, from_pprof);
        self.locations(&mut out);
        self.functions(&mut out);
        let header = self.header();
        self.string_table(&mut out);
        out.extend_from_slice(&header);
        Ok(out)
    }

    /// Returns the sample types. A profile without sample types gets one without a name.
    pub(crate) fn sample_types(&self) -> Vec<ValueType> {
        let types: Vec<ValueType> = self.joined.sample_types().collect();
        if types.is_empty() { vec![ValueType::default()] } else { types }
    }

    /// Marks every string that the payload uses, and returns the labels of the attributes of samples.
    ///
    /// Includes the strings of all functions and mappings, referenced or not, because a single pprof keeps
    /// unreferenced rows.
    fn mark_strings(&mut self) -> Ragged<LabelValue> {
        let Self { dictionary, rows, strings, joined, .. } = self;
        strings.mark_rows(dictionary, &rows.functions, joined.profiles.iter().copied());
        for row in 1..dictionary.mappings.rows.len() {
            for id in dictionary.mappings.attributes.row(row) {
                if let Some(Value::String(text)) =
                    dictionary.attribute(*id).map(|attribute| &attribute.value)
                {
                    strings.mark(*text);
                }
            }
        }
        for profile in &joined.profiles {
            for attribute in profile.attributes.iter().filter_map(|id| dictionary.attribute(*id)) {
                semantic_attributes::texts(&attribute.value).for_each(|text| strings.mark(text));
            }
        }
        strings.mark(self.default);
        self.mark_labels()
    }

    /// Converts the attributes of samples to labels, once each, however many samples have them.
    ///
    /// Then numbers the table; strings added later follow it.
    fn mark_labels(&mut self) -> Ragged<LabelValue> {
        let of_samples = self.joined.first().samples.attributes.items.iter().copied();
        let used = marks(self.dictionary.attributes.len(), of_samples);
        let mut all = Ragged::default();
        for (attribute, used) in self.dictionary.attributes.iter().zip(used) {
            let before = all.items.len();
            if used {
                attribute_labels(attribute, self.dictionary, self.losses, &mut all.items);
            }
            if all.items.len() > before {
                self.strings.mark(attribute.key);
            }
            for value in &all.items[before..] {
                match value {
                    LabelValue::Text(id) | LabelValue::Number(_, id) => self.strings.mark(*id),
                    LabelValue::Made(_) => {}
                }
            }
            all.end_row();
        }
        self.strings.number(&self.rows.strings);
        all
    }

    /// Encodes the labels. Call it after the strings are numbered. An attribute that no sample has takes no
    /// bytes.
    ///
    /// `all` has a row for each attribute, in their order.
    fn encode_labels(&mut self, all: Ragged<LabelValue>) {
        for (attribute, value) in self.dictionary.attributes.iter().zip(all.rows()) {
            let key = self.strings.index(attribute.key);
            let begin = self.labels.len() as u32;
            for value in value {
                write_label(&mut self.labels, key, value, &mut self.strings);
            }
            self.label_parts.push([begin, self.labels.len() as u32]);
        }
        // Padding, so that the last labels can be copied in blocks too.
        self.labels.extend_from_slice(&[0; 64]);
    }

    /// Returns the place of the labels of an attribute.
    #[inline]
    pub(crate) fn label_of(&self, id: AttributeId) -> Range<usize> {
        let part = self.label_parts.get(id.row());
        part.map_or(0..0, |&[begin, end]| begin as usize..end as usize)
    }

    /// Encodes all ids. The id of a row is its place in its table.
    fn encode_ids(&mut self) {
        let ids = |rows: &RowSelection, table: usize, none: u32| {
            rows.codes(table, |place| if place == 0 { none } else { place })
        };
        let Self { dictionary, rows, .. } = self;
        self.locations = ids(&rows.locations, dictionary.locations.len(), self.no_location);
        self.functions = ids(&rows.functions, dictionary.functions.len(), self.no_function);
    }

    /// Returns the number of locations in the stacks of all samples, to estimate the size of the output.
    fn cells(&self) -> usize {
        let stacks = &self.joined.first().samples.stacks;
        stacks.iter().map(|id| self.dictionary.stack(*id).len()).sum()
    }
}
