//! Conversion of fields of pprof and older generations to the attributes of the semantic conventions, and
//! validation of samples.
//!
//! Fields are converted before tables are validated, so that the new attributes are rows like any other. They
//! are numbered after those of the payload ([`NewAttributes`](crate::tables::read::string_interner::NewAttributes)).
//! The writer converts in the other direction: [`attributes_to_fields`](crate::tables::attributes::attributes_to_fields).
//!
//! The keys are those of the semantic conventions for pprof (`src/semconv.rs`). Data without a convention (a
//! default sample type, the times of the container) becomes a field of the model instead.

use crate::error::{Error, Result, Shown};
use crate::losses;
use crate::model::dictionary::Attribute;
use crate::model::id::{AttributeId, LinkId, LocationId, MappingId, StringId};
use crate::model::profile::{Profile, ProfileParts};
use crate::model::ragged::Ragged;
use crate::model::value::{KeyValue, Value};
use crate::read_context::ReadContext;
use crate::schema::{Generation, Rows, Table, Version};
use crate::semconv;
use crate::tables::attributes::build_id;
use crate::tables::attributes::semantic_attributes::is_pprof;
use crate::tables::read::common;
use crate::tables::read::tables::{MappingPprof, Tables};
use crate::tables::resolve::targets::{Target, Targets};
use crate::tables::resolve::time_unit;
use crate::tables::resolve::validate;
use crate::tables::resolve::value_counts;
use crate::tables::resolve::value_types;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::reach::Reach;

/// The fields of a profile in older generations that the model represents by attributes or not at all.
///
/// One for each profile with such fields. Numbers are indices into the string table; 0 means unset.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct LegacyFields {
    /// Attributes with inline keys: those of a container, and those of a profile in 1.4.
    pub(crate) attributes: Vec<KeyValue>,
    /// The comments in their order.
    pub(crate) comments: Vec<u32>,
    /// A string index up to 1.5; the number of a column in 1.6 and 1.7.
    pub(crate) default_sample_type: u32,
    /// The string index of a regular expression, like the next field.
    pub(crate) drop_frames: u32,
    pub(crate) keep_frames: u32,
    /// The start time of the container, in nanoseconds since 1970.
    pub(crate) start: u64,
    /// The end time. If both are 0, the container has no time.
    pub(crate) end: u64,
}

impl LegacyFields {
    /// Converts the fields to attributes, and validates everything in the profile except its samples.
    ///
    /// Attributes are in the order of the fields.
    ///
    /// # Errors
    ///
    /// A string index or a column out of range, unless the policy is to repair.
    pub(crate) fn into_attributes<G: Generation>(
        self,
        profile: &mut ProfileParts,
        tables: &mut Tables,
        targets: &Targets,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let place = |error: Error, row: usize| error.element(row).within("attribute_indices");
        let attributes = targets.of(Table::Attribute);
        // Before attributes are added, whose rows follow those of the payload and are out of range for it.
        validate::attribute_list(&mut profile.attributes, attributes, cx, place)?;
        if G::CAPABILITIES.containers {
            self.check_time_unit(profile, cx);
        }
        self.merge_container_times(profile, cx);
        value_types::validate::<G>(profile, &tables.texts, cx)?;
        // After `validate`, because it compares the names of sample types by their ids.
        profile.default_sample_type = self.default_name::<G>(profile, tables, cx)?;
        let out = &mut profile.attributes;
        for KeyValue { key, value } in self.attributes {
            let unit = targets.unit_of(key);
            let id = tables.new_attributes.intern(Attribute { key, value, unit }, cx)?;
            cx.budget.push(out, id)?;
        }
        comments_to_attribute(&self.comments, out, tables, cx)?;
        for (index, key, field) in [
            (self.drop_frames, semconv::PPROF_PROFILE_DROP_FRAMES, "drop_frames"),
            (self.keep_frames, semconv::PPROF_PROFILE_KEEP_FRAMES, "keep_frames"),
        ] {
            if index != 0 {
                let text =
                    common::table_text(index, &tables.texts, cx).map_err(|e| e.within(field))?;
                let Tables { texts, new_attributes, .. } = tables;
                let id = new_attributes.named(key, Value::String(text), texts, cx)?;
                cx.budget.push(out, id)?;
            }
        }
        Ok(())
    }

    /// Checks the unit of timestamps against the time range of the container, or else of the profile.
    fn check_time_unit(&self, profile: &ProfileParts, cx: &mut ReadContext) {
        let ProfileParts { time_unix_nano: time, duration_nanos: took, .. } = *profile;
        let (start, end) = match (self.start, self.end) {
            (0, 0) => (time, time + took),
            (start, end) => (start.into(), end.into()),
        };
        time_unit::check(&profile.samples.timestamps, start, end, cx);
    }

    /// Merges the times of the container into the profile. Times of the inner profile win if set.
    fn merge_container_times(&self, profile: &mut ProfileParts, cx: &mut ReadContext) {
        let (start, end) = (i128::from(self.start), i128::from(self.end));
        if start == 0 && end == 0 {
            return;
        }
        let duration = (end - start).max(0);
        let (time, took) = (profile.time_unix_nano, profile.duration_nanos);
        let agrees =
            (time == 0 || time == start) && (took <= 0 || took == duration) && end >= start;
        if !agrees {
            cx.note(losses::TIME_CONFLICT, String::new, || {
                format!("the container covers {start} to {end} ns, the profile starts at {time} ns and takes {took} ns: the profile's time was read")
            });
        }
        if time == 0 {
            profile.time_unix_nano = start;
        }
        if took == 0 {
            profile.duration_nanos = duration;
        }
    }

    /// Returns the name of the default sample type.
    ///
    /// `NONE` if the field is unset, or if it names the last column, which readers show by default.
    fn default_name<G: Generation>(
        &self,
        profile: &ProfileParts,
        tables: &Tables,
        cx: &mut ReadContext,
    ) -> Result<StringId> {
        let types = &profile.sample_types;
        if !G::CAPABILITIES.default_by_name && !G::CAPABILITIES.default_by_column {
            return Ok(StringId::NONE);
        }
        if G::CAPABILITIES.default_by_name {
            return common::table_text(self.default_sample_type, &tables.texts, cx)
                .map_err(|e| e.within("default_sample_type"));
        }
        // A column number: 0 if the field is omitted. pprof shows the last column by default.
        let column = self.default_sample_type as usize;
        if column + 1 == types.len() {
            return Ok(StringId::NONE);
        }
        // 0 may be an omitted field, which is valid without sample types.
        if column != 0 && column >= types.len() {
            let error = Error::malformed(format!(
                "{} is out of range: there are {} sample types",
                common::show(self.default_sample_type),
                types.len()
            ));
            cx.repair(losses::INDEX_OUT_OF_RANGE, error.within("default_sample_type_index"))?;
        }
        let Some(default) = types.get(column) else { return Ok(StringId::NONE) };
        let text = |id: StringId| tables.texts.raw.get(id.row()).unwrap_or_default();
        let named = types.iter().position(|other| text(other.name) == text(default.name));
        if text(default.name).is_empty() || named != Some(column) {
            let place = || "default_sample_type_index".to_owned();
            cx.note(losses::DEFAULT_AMBIGUOUS, place, || {
                format!("the default sample type, {column}, shares its name with another")
            });
        }
        Ok(default.name)
    }
}

/// Converts pprof's comments to one attribute, a list of strings.
fn comments_to_attribute(
    comments: &[u32],
    out: &mut Vec<AttributeId>,
    tables: &mut Tables,
    cx: &mut ReadContext,
) -> Result<()> {
    if comments.is_empty() {
        return Ok(());
    }
    let mut texts = Vec::new();
    for &index in comments {
        let text = common::table_text(index, &tables.texts, cx)
            .map_err(|e| e.within("comment_strindices"))?;
        cx.budget.push(&mut texts, Value::String(text))?;
    }
    let value = Value::Array(texts.into());
    let key = semconv::PPROF_PROFILE_COMMENT;
    let id = tables.new_attributes.named(key, value, &mut tables.texts, cx)?;
    cx.budget.push(out, id)
}

/// Validates the samples of a profile: each column against its table, in the order of the fields.
///
/// # Errors
///
/// The first reference past its table, with the sample and the field, unless the policy is to repair.
pub(crate) fn validate_samples<G: Generation>(
    profile: &mut ProfileParts,
    targets: &Targets,
    cx: &mut ReadContext,
) -> Result<()> {
    let samples = &mut profile.samples;
    value_counts::check::<G>(samples, profile.sample_types.len(), cx)?;
    let place = |field: &'static str| {
        move |error: Error, row: usize| error.within(field).within_row("samples", row)
    };
    validate::column(&mut samples.stacks, targets.of(Table::Stack), cx, place("stack_index"))?;
    let is_row_0 = targets.rows == Rows::NullFirst;
    if is_row_0 && targets.own(Table::Link) > 0 {
        // Samples past the end of the column refer to link 0, which a repair made row 1.
        samples.links.resize(samples.stacks.len(), LinkId::NONE);
    }
    if let Some(links) = samples.links.get_mut() {
        targets.resolve_optional(Table::Link, links.iter_mut().map(|link| (&mut link.0, is_row_0)));
        validate::column(links, targets.of_rows(Table::Link), cx, place("link_index"))?;
    }
    let attributes = targets.of(Table::Attribute);
    if G::VERSION >= Version::V1_10 && samples.values.items.is_empty() {
        refuse_misread(&samples.attributes, attributes)?;
    }
    validate::attributes(&mut samples.attributes, attributes, cx, |error, row, at| {
        place("attribute_indices")(error.element(at), row)
    })?;
    if let Some(ids) = samples.stacktrace_ids.get_mut() {
        validate::column(ids, targets.of_rows(Table::String), cx, place("stacktrace_id_index"))?;
    }
    Ok(())
}

/// Rejects samples without values whose attribute indices dangle, under either policy: dropping the indices would
/// delete the last trace of the values.
///
/// Until 1.9 field 2 of a sample holds values, since 1.10 attribute indices. A relay of 1.10 that reads an older payload
/// takes the one for the other.
fn refuse_misread(attributes: &Ragged<AttributeId>, target: Target) -> Result<()> {
    if attributes.items.iter().all(|id| target.holds(id.0)) {
        return Ok(());
    }
    Err(Error::malformed(
        "the samples have no values and attribute indices past the table: it looks like OTLP 1.8 or 1.9 that a relay \
         of 1.10 took for its own and sent on; the values are lost: write OTLP 1.10 at the source",
    ))
}

/// Converts pprof's fields of mappings to attributes: pairs of a row of the model and an attribute, sorted by
/// row.
pub(crate) fn mappings(
    tables: &mut Tables,
    targets: &Targets,
    cx: &mut ReadContext,
) -> Result<Vec<(u32, AttributeId)>> {
    // Each mapping has one attribute, a few have more.
    cx.budget.charge::<[u64; 6]>(tables.mapping_pprof.len())?;
    let (mut from_fields, mut of_row) =
        (Vec::with_capacity(tables.mapping_pprof.len()), Vec::new());
    for (row, pprof) in std::mem::take(&mut tables.mapping_pprof).into_iter().enumerate() {
        let wire = targets.on_wire(Table::Mapping, row);
        let build_id = common::table_text(pprof.build_id, &tables.texts, cx)
            .map_err(|e| e.within("build_id").within_row("mapping_table", wire))?;
        mapping(pprof, build_id, tables, &mut of_row, cx)?;
        from_fields.extend(of_row.drain(..).map(|id| (row as u32, id)));
    }
    Ok(from_fields)
}

/// Converts pprof's fields of one mapping to attributes.
///
/// The reader of pprof uses it too, because its mappings have the same fields.
///
/// A flag that is false is absent, as in proto3; see [`unset_flag`] for the consequences.
pub(crate) fn mapping(
    pprof: MappingPprof,
    build_id: StringId,
    tables: &mut Tables,
    out: &mut Vec<AttributeId>,
    cx: &mut ReadContext,
) -> Result<()> {
    let is_unknown = build_id::is_unknown(tables.texts.raw.get(build_id.row()).unwrap_or_default());
    if is_unknown {
        let message = || "the build id is the text unknown: it was left out".to_owned();
        cx.note(losses::BUILD_ID_UNKNOWN, String::new, message);
    }
    if build_id != StringId::NONE && !is_unknown {
        let key = build_id_key(pprof.build_id_kind, build_id, tables, cx);
        out.push(tables.new_attributes.named(
            key,
            Value::String(build_id),
            &mut tables.texts,
            cx,
        )?);
    }
    for (bit, key) in semconv_flags().into_iter().enumerate() {
        if pprof.flags & 1 << bit != 0 {
            out.push(tables.new_attributes.named(key, Value::Bool(true), &mut tables.texts, cx)?);
        }
    }
    Ok(())
}

/// Creates an attribute for an unset flag if there are lines, but no other attribute of pprof. Without it,
/// readers would infer the flags from the locations.
pub(crate) fn unset_flag(tables: &mut Tables, cx: &mut ReadContext) -> Result<Option<AttributeId>> {
    let Tables { texts, new_attributes, dictionary, .. } = &*tables;
    let pprof = |attribute: &Attribute| {
        texts.raw.get(attribute.key.row()).is_some_and(|key| key.starts_with(b"pprof."))
    };
    let lines = &dictionary.locations.lines;
    let mut attributes = dictionary.attributes.iter().chain(&new_attributes.rows);
    if lines.items.is_empty() || attributes.any(pprof) {
        return Ok(None);
    }
    let key = semconv::PPROF_MAPPING_HAS_FUNCTIONS;
    tables.new_attributes.named(key, Value::Bool(false), &mut tables.texts, cx).map(Some)
}

/// Does the same for the merged tables of several profiles. Ignores rows that no profile references, because
/// they are not written.
pub(crate) fn unset_flag_of_all(interner: &mut Interner, profiles: &[&Profile]) -> Result<()> {
    let dictionary = &interner.dictionary;
    let used = Reach::by(dictionary, profiles.iter().copied()).rows;
    let lines = &dictionary.locations.lines;
    let lined = |row: &u32| !lines.row(*row as usize).is_empty();
    let pprof = |row: &u32| is_pprof(dictionary, *row as usize);
    let Some(&first) = used.of::<MappingId>().first() else {
        return Ok(());
    };
    let mut locations = used.of::<LocationId>().iter();
    if !locations.any(lined) || used.of::<AttributeId>().iter().any(pprof) {
        return Ok(());
    }
    let key = interner.string(semconv::PPROF_MAPPING_HAS_FUNCTIONS.as_bytes())?;
    let unset =
        interner.attribute(Attribute { key, value: Value::Bool(false), unit: StringId::NONE })?;
    let mappings = &mut interner.dictionary.mappings;
    let before = std::mem::take(&mut mappings.attributes);
    for row in 0..mappings.rows.len() {
        let attributes = &mut mappings.attributes;
        attributes.items.extend_from_slice(before.row(row));
        attributes.items.extend((row == first as usize).then_some(unset));
        attributes.end_row_at(row);
    }
    Ok(())
}

/// Returns the keys of pprof's four mapping flags, in the order of their fields.
pub(crate) fn semconv_flags() -> [&'static str; 4] {
    [
        semconv::PPROF_MAPPING_HAS_FUNCTIONS,
        semconv::PPROF_MAPPING_HAS_FILENAMES,
        semconv::PPROF_MAPPING_HAS_LINE_NUMBERS,
        semconv::PPROF_MAPPING_HAS_INLINE_FRAMES,
    ]
}

/// Returns the key of a build id: by its kind, or else by the form of the string.
///
/// As in pprof and 1.3: kind 1 is the hash of the file; all other ids were written by a linker.
fn build_id_key(kind: u32, text: StringId, tables: &Tables, cx: &mut ReadContext) -> &'static str {
    match kind {
        0 => {}
        1 => return semconv::BUILD_ID_HTLHASH,
        _ => cx.note(losses::BUILD_ID_KIND, String::new, || {
            format!("build id kind {kind} is not defined: the kind was dropped")
        }),
    }
    let text = tables.texts.raw.get(text.row()).unwrap_or_default();
    // Kind 0 includes the ids of GNU and of Go, so the form of the string decides.
    let (key, sure) = build_id::key_of(text);
    if !sure {
        let message = || format!("{} was read as a GNU build id", Shown(text));
        cx.note(losses::BUILD_ID_GUESS, String::new, message);
    }
    key
}

/// Converts pprof's fields of locations to attributes: pairs of a row and an attribute, sorted by row.
///
/// Both source lists are ascending; the result is sorted once.
pub(crate) fn locations(
    tables: &mut Tables,
    cx: &mut ReadContext,
) -> Result<Vec<(u32, AttributeId)>> {
    // Charge for pairs of rows and attributes, and for the attributes of every row.
    let rows = tables.folded.len() + tables.frame_types.len();
    cx.budget.charge::<[u32; 6]>(rows)?;
    let mut from_fields = Vec::with_capacity(rows);
    for row in std::mem::take(&mut tables.folded) {
        let key = semconv::PPROF_LOCATION_IS_FOLDED;
        from_fields.push((
            row,
            tables.new_attributes.named(key, Value::Bool(true), &mut tables.texts, cx)?,
        ));
    }
    for (row, frame_type) in std::mem::take(&mut tables.frame_types) {
        let text = common::table_text(frame_type, &tables.texts, cx)
            .map_err(|e| e.within("type_index"))?;
        let name = tables.texts.raw.get(text.row()).unwrap_or_default();
        let renamed = semconv::FRAME_TYPES.iter().find(|(old, _)| old.as_bytes() == name);
        let text = match renamed {
            Some((_, new)) => tables.texts.name(new, cx)?,
            None => text,
        };
        let key = semconv::PROFILE_FRAME_TYPE;
        from_fields.push((
            row,
            tables.new_attributes.named(key, Value::String(text), &mut tables.texts, cx)?,
        ));
    }
    from_fields.sort_unstable();
    Ok(from_fields)
}
