//! Writing pprof: one payload for each set of profiles that are columns of one.

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use crate::build::reach::Reach;
use crate::error::Result;
use crate::format::columns::{self, Join, Joined};
use crate::format::known::{self, BuildId, Known, KnownAttributes};
use crate::format::losses::{self, Losses};
use crate::format::options::WriteOptions;
use crate::format::orphans::{self, Kept};
use crate::format::otlp::schema::{Generation as _, Pprof};
use crate::format::otlp::write::sizes::check_rows;
use crate::format::pprof::flags;
use crate::format::pprof::labels::{PprofStrings, Said, said, write_label};
use crate::format::pprof::unsaid::{self, Unsaid, numbered_comment};
use crate::format::select::holds_none;
use crate::format::subset::Subsets;
use crate::limits::within;
use crate::model::dictionary::{Dictionary, Line};
use crate::model::id::{AttributeId, FunctionId, StringId};
use crate::model::profile::ValueType;
use crate::model::ragged::Ragged;
use crate::model::value::Value;
use crate::model::{Profiles, ScopeProfiles};
use crate::wire::record::{Codes, Fields, field_varint, field_varints, records};
use crate::wire::write::{field_bytes, field_message, field_text};

/// Writes the profiles, each set of columns a payload.
pub(crate) fn write(
    profiles: &Profiles,
    options: &WriteOptions,
    losses: &mut Losses,
    mut spare: Vec<u8>,
) -> Result<Vec<Vec<u8>>> {
    let dictionary = &profiles.dictionary;
    let known = KnownAttributes::of(dictionary);
    unsaid::envelope(profiles, losses);
    let scopes = profiles.resources.iter().flat_map(|resource| &resource.scopes);
    let sets: Vec<(&ScopeProfiles, Vec<Joined>)> = scopes
        .map(|scope| (scope, columns::join(scope, dictionary, Join::Compatible, losses)))
        .collect();
    // One pprof has the tables as they are; of several, each has what it reaches.
    let count = sets.iter().map(|(_, joined)| joined.len()).sum();
    let mut subsets = (count != 1).then(|| Subsets::of(dictionary));
    note_orphans(profiles, subsets.is_none(), losses);
    let mut unsaid = Unsaid::of(dictionary, &known);
    let mut payloads = Vec::with_capacity(count);
    let mut written = 0;
    for (scope, joined) in &sets {
        let from_pprof = columns::says_pprof(scope, dictionary);
        let of_scope = columns::scope_default(scope, dictionary);
        for joined in joined {
            let default = default_name(joined, of_scope, dictionary, losses);
            unsaid.profile(joined, default, losses);
            let set = Set { dictionary, known: &known, joined, default, from_pprof };
            let spare = std::mem::take(&mut spare);
            let payload = set.payload(subsets.as_mut(), options, losses, spare)?;
            written += payload.len() as u64;
            within("max_output_bytes", options.max_output_bytes, written)?;
            payloads.push(payload);
        }
    }
    Ok(payloads)
}

/// The columns that become one pprof.
struct Set<'a> {
    dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    joined: &'a Joined<'a>,
    default: StringId,
    /// Whether the scope says anything of pprof.
    from_pprof: bool,
}

impl Set<'_> {
    fn payload(
        self,
        subsets: Option<&mut Subsets>,
        options: &WriteOptions,
        losses: &mut Losses,
        spare: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let Some(subsets) = subsets else {
            let from_pprof = self.from_pprof || self.known.from_pprof;
            return Writer::new(self, options, losses).payload(from_pprof, spare);
        };
        let (subset, [default]) = subsets.take(self.joined, [self.default], losses);
        let dictionary = &subset.dictionary;
        let known = &KnownAttributes::of(dictionary);
        let joined = &subset.joined(self.joined.ordered);
        let set = Set { dictionary, known, joined, default, ..self };
        set.payload(None, options, losses, spare)
    }
}

/// Counts the rows that are left out: of one pprof's tables none, but what samples do not refer to
/// has no table there.
fn note_orphans(profiles: &Profiles, whole: bool, losses: &mut Losses) {
    let reach = (!whole).then(|| Reach::by(&profiles.dictionary, profiles.iter()));
    let kept = Kept { tables: whole, links: false, attributes: false, stacks: false };
    orphans::note(profiles, reach.as_ref(), kept, losses);
}

/// The default sample type: the profile's or the scope's; or the first profile's, where the scope
/// does not say which order the columns had, since pprof would show the last.
fn default_name(
    joined: &Joined,
    of_scope: Option<&Value>,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> StringId {
    let first = joined.first();
    let default = columns::default_of(first, of_scope, dictionary);
    if default != StringId::NONE || joined.profiles.len() < 2 || joined.ordered {
        return default;
    }
    losses.add(losses::DEFAULT_SYNTHESIZED, || "default_sample_type".to_owned());
    first.sample_types.first().map_or(StringId::NONE, |value_type| value_type.name)
}

/// What a line of a location may take.
const LINE: usize = Fields::MESSAGE + Fields::INDEX + 2 * Fields::VARINT;

/// One pprof being written.
pub(crate) struct Writer<'a, 'l> {
    pub(crate) dictionary: &'a Dictionary,
    known: &'a KnownAttributes,
    pub(crate) joined: &'a Joined<'a>,
    pub(crate) options: &'a WriteOptions,
    pub(crate) losses: &'l mut Losses,
    pub(crate) strings: PprofStrings,
    /// The labels that attributes become, ready to be copied into samples.
    pub(crate) labels: Vec<u8>,
    /// By attribute: where its labels begin and end.
    label_parts: Vec<[u32; 2]>,
    /// The attributes whose labels have the key of those that timestamps become.
    pub(crate) time_labels: HashSet<AttributeId, RandomState>,
    /// By location and by function: its id.
    pub(crate) locations: Codes,
    functions: Codes,
    /// By stack: where in the payload its location ids are, once they were written.
    pub(crate) stacks: Vec<[u32; 2]>,
    default: StringId,
    /// The id of a function for lines that have none.
    no_function: u32,
    /// The id of a location for frames that are none.
    no_location: u32,
}

impl<'a, 'l> Writer<'a, 'l> {
    fn new(set: Set<'a>, options: &'a WriteOptions, losses: &'l mut Losses) -> Self {
        let Set { dictionary, known, joined, default, .. } = set;
        let strings = PprofStrings::new(dictionary.strings.len());
        Self {
            dictionary,
            known,
            joined,
            options,
            losses,
            strings,
            labels: Vec::new(),
            label_parts: Vec::new(),
            time_labels: HashSet::default(),
            locations: Codes::default(),
            functions: Codes::default(),
            stacks: vec![[0; 2]; dictionary.stacks.len()],
            default,
            no_function: dictionary.functions.len() as u32,
            no_location: dictionary.locations.len() as u32,
        }
    }

    fn payload(mut self, from_pprof: bool, mut out: Vec<u8>) -> Result<Vec<u8>> {
        check_rows("location", self.dictionary.locations.len())?;
        let said = self.mark_strings();
        self.encode_labels(said);
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
            field_message(&mut out, 1, |out| self.value_type(out, value_type));
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

    /// The sample types; a profile without any measures something that has no name.
    pub(crate) fn sample_types(&self) -> Vec<ValueType> {
        let types: Vec<ValueType> = self.joined.sample_types().collect();
        if types.is_empty() { vec![ValueType::default()] } else { types }
    }

    /// Marks every string the payload uses; the labels of the attributes that samples use.
    fn mark_strings(&mut self) -> Ragged<Said> {
        let Self { dictionary, strings, joined, .. } = self;
        let table = &mut strings.table;
        for function in dictionary.functions.iter().skip(1) {
            [function.name, function.system_name, function.filename]
                .into_iter()
                .for_each(|id| table.mark(id));
        }
        for (row, mapping) in dictionary.mappings.rows.iter().enumerate().skip(1) {
            table.mark(mapping.filename);
            for id in dictionary.mappings.attributes.row(row) {
                if let Some(Value::String(text)) =
                    dictionary.attribute(*id).map(|attribute| &attribute.value)
                {
                    table.mark(*text);
                }
            }
        }
        for profile in &joined.profiles {
            for value_type in profile.sample_types.iter().chain([&profile.period_type]) {
                table.mark(value_type.name);
                table.mark(value_type.unit);
            }
            for attribute in profile.attributes.iter().filter_map(|id| dictionary.attribute(*id)) {
                known::texts(&attribute.value).for_each(|text| table.mark(text));
            }
        }
        table.mark(self.default);
        self.mark_labels()
    }

    fn mark_labels(&mut self) -> Ragged<Said> {
        let mut used = vec![false; self.dictionary.attributes.len()];
        for id in &self.joined.first().samples.attributes.items {
            if let Some(used) = used.get_mut(id.row()) {
                *used = true;
            }
        }
        let mut all = Ragged::default();
        for (attribute, used) in self.dictionary.attributes.iter().zip(used) {
            let before = all.items.len();
            if used {
                said(attribute, self.dictionary, self.losses, &mut all.items);
            }
            if all.items.len() > before {
                self.strings.table.mark(attribute.key);
            }
            for said in &all.items[before..] {
                match said {
                    Said::Text(id) | Said::Number(_, id) => self.strings.table.mark(*id),
                    Said::Made(_) => {}
                }
            }
            all.end_row();
        }
        self.strings.table.number();
        all
    }

    fn encode_labels(&mut self, all: Ragged<Said>) {
        for (attribute, said) in self.dictionary.attributes.iter().zip(all.rows()) {
            let key = self.strings.table.index(attribute.key);
            let begin = self.labels.len() as u32;
            for said in said {
                write_label(&mut self.labels, key, said, &mut self.strings);
            }
            self.label_parts.push([begin, self.labels.len() as u32]);
        }
        // So that the last ones are copied as fast as the others.
        self.labels.extend_from_slice(&[0; 64]);
    }

    /// Where the labels of an attribute are.
    #[inline]
    pub(crate) fn label_of(&self, id: AttributeId) -> Range<usize> {
        let part = self.label_parts.get(id.row());
        part.map_or(0..0, |&[begin, end]| begin as usize..end as usize)
    }

    fn encode_ids(&mut self) {
        let ids = |rows: usize, none: u32| {
            let or_none = |row| if row == 0 { none } else { row };
            Codes::of(&(0..rows as u32).map(or_none).collect::<Vec<u32>>())
        };
        self.locations = ids(self.dictionary.locations.len(), self.no_location);
        self.functions = ids(self.dictionary.functions.len(), self.no_function);
    }

    /// How many locations the stacks of all samples have.
    fn cells(&self) -> usize {
        let stacks = &self.joined.first().samples.stacks;
        stacks.iter().map(|id| self.dictionary.stack(*id).len()).sum()
    }

    fn value_type(&self, out: &mut Vec<u8>, value_type: ValueType) {
        field_varint(out, 1, self.strings.table.index(value_type.name).into());
        field_varint(out, 2, self.strings.table.index(value_type.unit).into());
    }

    fn mappings(&mut self, out: &mut Vec<u8>, from_pprof: bool) {
        let inferred = (!from_pprof).then(|| flags::infer(self.dictionary));
        for (at, mapping) in self.dictionary.mappings.rows.iter().skip(1).enumerate() {
            let row = at + 1;
            let mut flags = 0;
            let mut build_ids: Vec<(BuildId, StringId)> = Vec::new();
            for id in self.dictionary.mappings.attributes.row(row) {
                let Some(attribute) = self.dictionary.attribute(*id) else {
                    continue;
                };
                match (self.known.get(*id), &attribute.value) {
                    (Known::MappingFlag(bit), value) => {
                        flags |= u32::from(*value == Value::Bool(true)) << bit
                    }
                    (Known::BuildId(kind), Value::String(text)) if kind != BuildId::Other => {
                        build_ids.push((kind, *text))
                    }
                    _ => self.losses.add(losses::ATTR_MAPPING_DROPPED, || {
                        format!("mapping[{at}].attribute[{}]", self.dictionary.text(attribute.key))
                    }),
                }
            }
            build_ids.sort_by_key(|(kind, _)| *kind);
            self.losses.add_many(
                losses::BUILD_ID_EXTRA,
                build_ids.len().saturating_sub(1) as u64,
                || format!("mapping[{at}]"),
            );
            if let Some(inferred) = &inferred {
                flags = inferred.get(row).copied().unwrap_or(0);
                self.losses.add_many(losses::FLAGS_INFERRED, u64::from(flags != 0), || {
                    format!("mapping[{at}]")
                });
            }
            let build_id = build_ids.first().map_or(StringId::NONE, |(_, text)| *text);
            let kind = build_ids.first().map(|(kind, _)| *kind);
            self.losses.add_many(
                losses::BUILD_ID_KIND,
                u64::from(kind == Some(BuildId::Htlhash)),
                || format!("mapping[{at}]"),
            );
            field_message(out, 3, |out| {
                field_varint(out, 1, at as u64 + 1);
                field_varint(out, 2, mapping.memory_start);
                field_varint(out, 3, mapping.memory_limit);
                field_varint(out, 4, mapping.file_offset);
                field_varint(out, 5, self.strings.table.index(mapping.filename).into());
                field_varint(out, 6, self.strings.table.index(build_id).into());
                (0..4).for_each(|bit| field_varint(out, 7 + bit, (flags >> bit & 1).into()));
            });
        }
    }

    #[inline(never)]
    fn locations(&mut self, out: &mut Vec<u8>) {
        let locations = &self.dictionary.locations;
        records(out, |out| {
            for row in 1..locations.len() {
                let attributes = locations.attributes.row(row);
                let folded =
                    !attributes.is_empty() && self.location_attributes(row - 1, attributes);
                let mapping = locations.mappings[row].0;
                let lines = locations.lines.row(row);
                let room = Fields::INDEX + 3 * Fields::VARINT + LINE * lines.len();
                out.record(4, room, |fields| {
                    fields.code(1, self.locations.get(row));
                    fields.index(2, mapping);
                    fields.varint(3, locations.addresses[row]);
                    for line in lines {
                        self.line(fields, line);
                    }
                    fields.varint(5, folded.into());
                });
            }
        });
        if holds_none(&self.dictionary.stacks.items) {
            field_message(out, 4, |out| field_varint(out, 1, self.no_location.into()));
        }
    }

    #[inline(always)]
    fn line(&self, fields: &mut Fields, line: &Line) {
        fields.message(4, |fields| {
            fields.code(1, self.functions.get(line.function.row()));
            fields.varint(2, line.line as u64);
            fields.varint(3, line.column as u64);
        });
    }

    /// Whether a location is folded; what else is said of it is lost.
    fn location_attributes(&mut self, at: usize, attributes: &[AttributeId]) -> bool {
        let mut folded = false;
        for id in attributes {
            let Some(attribute) = self.dictionary.attribute(*id) else {
                continue;
            };
            let code = match self.known.get(*id) {
                Known::Folded => {
                    folded |= attribute.value == Value::Bool(true);
                    continue;
                }
                Known::FrameType => losses::FRAME_TYPE_DROPPED,
                _ => losses::ATTR_LOCATION_DROPPED,
            };
            self.losses.add(code, || {
                format!("location[{at}].attribute[{}]", self.dictionary.text(attribute.key))
            });
        }
        folded
    }

    #[inline(never)]
    fn functions(&mut self, out: &mut Vec<u8>) {
        let strings = &self.strings.table;
        records(out, |out| {
            for (row, function) in self.dictionary.functions.iter().enumerate().skip(1) {
                out.record(5, 4 * Fields::INDEX + Fields::VARINT, |fields| {
                    fields.code(1, self.functions.get(row));
                    fields.code(2, strings.code(function.name));
                    fields.code(3, strings.code(function.system_name));
                    fields.code(4, strings.code(function.filename));
                    fields.varint(5, function.start_line as u64);
                });
            }
        });
        let lines = self.dictionary.locations.lines.items.iter();
        let without = lines.filter(|line| line.function == FunctionId::NONE).count();
        if without > 0 {
            self.losses.add_many(losses::FUNCTION_SYNTHESIZED, without as u64, || {
                "location.line.function_id".to_owned()
            });
            field_message(out, 5, |out| field_varint(out, 1, self.no_function.into()));
        }
    }

    #[inline(never)]
    fn string_table(&self, out: &mut Vec<u8>) {
        let strings = &self.dictionary.strings;
        let arena = strings.arena().as_bytes();
        let utf8 = strings.not_utf8().len() == 0;
        for id in self.strings.table.ids() {
            match strings.range(id) {
                Some(part) if utf8 => field_text(out, 6, arena, part),
                _ => field_bytes(out, 6, strings.bytes(id)),
            }
        }
        self.strings.made.iter().for_each(|text| field_bytes(out, 6, text.as_bytes()));
    }

    /// The fields after the string table.
    fn header(&mut self) -> Vec<u8> {
        let profile = self.joined.first();
        let mut out = Vec::new();
        let drop_frames = self.attribute_text(Known::DropFrames);
        let keep_frames = self.attribute_text(Known::KeepFrames);
        let doc_url = self.attribute_text(Known::DocUrl);
        field_varint(&mut out, 7, drop_frames.into());
        field_varint(&mut out, 8, keep_frames.into());
        let time = self.nanos(profile.time_unix_nano, "time_nanos");
        let duration = self.nanos(profile.duration_nanos, "duration_nanos");
        field_varint(&mut out, 9, time as u64);
        field_varint(&mut out, 10, duration as u64);
        if !profile.period_type.is_none() {
            field_message(&mut out, 11, |out| self.value_type(out, profile.period_type));
        }
        field_varint(&mut out, 12, profile.period as u64);
        let comments = self.comments();
        field_varints(&mut out, 13, comments.into_iter().map(u64::from));
        field_varint(&mut out, 14, self.strings.table.index(self.default).into());
        field_varint(&mut out, Pprof::SCHEMA.profile.doc_url, doc_url.into());
        out
    }

    /// The text of the first attribute of a kind.
    fn attribute_text(&self, wanted: Known) -> u32 {
        let mut of =
            self.joined.first().attributes.iter().filter(|id| self.known.get(**id) == wanted);
        let attribute = of.next().and_then(|id| self.dictionary.attribute(*id));
        let text = attribute.and_then(|attribute| known::texts(&attribute.value).next());
        text.map_or(0, |text| self.strings.table.index(text))
    }

    /// The comments: of one list, or each with a number of its own.
    fn comments(&self) -> Vec<u32> {
        let attributes = || self.joined.first().attributes.iter();
        let listed = attributes()
            .filter(|id| self.known.get(**id) == Known::Comment)
            .filter_map(|id| self.dictionary.attribute(*id));
        let mut comments: Vec<StringId> =
            listed.flat_map(|attribute| known::texts(&attribute.value)).collect();
        let mut numbered: Vec<(u64, StringId)> = attributes()
            .filter_map(|id| self.dictionary.attribute(*id))
            .filter_map(|attribute| {
                match (numbered_comment(self.dictionary.text(attribute.key)), &attribute.value) {
                    (Some(number), Value::String(text)) => Some((number, *text)),
                    _ => None,
                }
            })
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        comments.extend(numbered.into_iter().map(|(_, text)| text));
        comments.into_iter().map(|text| self.strings.table.index(text)).collect()
    }

    fn nanos(&mut self, nanos: i128, field: &'static str) -> i64 {
        i64::try_from(nanos).unwrap_or_else(|_| {
            self.losses.add(losses::TIME_OVERFLOW, || field.to_owned());
            i64::MAX
        })
    }
}
