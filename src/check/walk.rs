//! The walk through a payload: decodes each message once, applies its rules, and then walks its nested messages.
//! Rows of tables come first, so that all facts of a row are known before references to it are checked.
//!
//! ```text
//! message ─► canonical, and no violation? ─► done
//!    │ no
//!    ▼
//! decode: fields into a Record ─► enter: rules of the message ─► rows of tables ─► rows compared ─► other messages ─► leave
//! ```
//!
//! `enter` applies the rules that need only the message. Nested messages may depend on it: samples need the time
//! range of their profile, which follows them in the bytes. `leave` applies the rules that need everything inside:
//! orphans, sums, empty tables. A malformed message is left where decoding failed; its neighbours are still walked.
//!
//! Walking tables first is also faster: if rows are known, a reference costs one comparison and one addition to a
//! row's count. In the bytes tables may follow their references, so the headers are surveyed first. The walk
//! recurses as deep as messages nest, up to `limits.max_nesting`, so its frames are kept small.

use super::canonical::Message;
use super::catalogue::{OP4019, OP5018, PP1038};
use super::context::{Broken, CheckContext};
use super::fields::Fields;
use super::findings::{Position, Step};
use super::layout::{CELLS, MessageLayout, ROOT, Take};
use super::lists;
use super::record::Record;
use super::rules::{
    attributes, cardinality, conventions, duplicate_ids, duplicates, entries, function, identity,
    labels, limits, location, mapping, orphans, pprof, pprof_rows, pprof_samples, receivers,
    resources, samples, sliced, stacks, structure, units, values, zero,
};
use super::run::Run;
use super::tables::Tables;
use crate::schema::{MessageKind, PROFILES_DATA, Version};

/// Walks a whole payload, in linear time.
///
/// Versions up to 1.5 and pprof have tables in each profile, which are surveyed there.
pub(crate) fn walk(cx: &mut CheckContext<'_>) {
    cx.check_key_style = cx.findings.is_enabled(&OP5018);
    cx.check_zero_values = cx.findings.is_enabled(&OP4019);
    let shape = cx.shapes.get(ROOT);
    let end = cx.bytes.len();
    match cx.version {
        Version::V1_6 => {
            cx.tables.survey(cx.bytes, shape, 0, end);
            ready(cx);
        }
        version if version >= Version::V1_7 => {
            survey_dictionaries(cx, shape);
            ready(cx);
        }
        _ => {}
    }
    // A fault was reported where it is. The hints still apply to everything before it.
    let _ = message(cx, shape, 0, end, &mut cx.pool.get());
    limits::hints(cx);
}

/// Cell of the tables in the payload.
const DICTIONARY: usize = PROFILES_DATA.cell("dictionary");

/// Locates the rows of the dictionary before the walk, because it follows the profiles that refer to it. The rows
/// of several dictionaries, which decoders merge, are concatenated.
///
/// Without a dictionary, references are not checked (`missing`), and `OP2005` reports that once.
fn survey_dictionaries(cx: &mut CheckContext<'_>, root: &'static MessageLayout) {
    let Some(slot) = root.of_cell(DICTIONARY) else { return };
    let dictionary = cx.shapes.get(slot.child);
    let mut found = false;
    for (start, end) in Fields::new(cx.bytes, 0, cx.bytes.len()).bodies(slot.field.number) {
        found = true;
        cx.tables.survey(cx.bytes, dictionary, start, end);
    }
    cx.tables.missing = !found;
}

/// Prepares the facts about rows that rules need before the first row is walked: keys of attributes, ranges of
/// mappings, start lines, ids of pprof. Each takes a pass over headers.
fn ready(cx: &mut CheckContext<'_>) {
    cx.tables.close();
    cx.tables.unmarked = !orphans::is_enabled(cx) && !cx.findings.is_enabled(&PP1038);
    lists::attributes(cx);
    limits::tables(cx);
    cx.payload.mappings = mapping::mapping_facts(cx);
    cx.payload.start_lines = function::start_lines(cx);
    if cx.version == Version::Pprof {
        pprof_rows::ids(cx);
    }
}

/// Compares the rows of all tables, after they were walked.
///
/// Runs before samples, because samples are compared by the equality of their rows. Extends the path by hand, since
/// the walk is one level higher.
fn compare_rows(cx: &mut CheckContext<'_>) {
    let in_dictionary = cx.version >= Version::V1_7;
    if in_dictionary {
        cx.findings.path.push(Step { name: "dictionary", row: None });
    }
    if cx.version != Version::Pprof {
        duplicates::tables(cx);
    }
    if in_dictionary {
        cx.findings.path.pop();
    }
}

/// Whether a message contains all tables: the profile if each has separate tables, otherwise the payload.
///
/// Rows are compared when its tables were walked, and orphans are counted when the walk leaves it.
fn is_above_tables(cx: &CheckContext<'_>, kind: MessageKind) -> bool {
    match cx.version <= Version::V1_5 {
        true => kind == MessageKind::Profile,
        false => kind == MessageKind::ProfilesData,
    }
}

/// Walks a message and everything in it.
///
/// Leaves a malformed message at once, after comparing the rows of its tables. Applies the rules of the message
/// before those of its children, which read the state that they set.
fn message(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    start: usize,
    end: usize,
    record: &mut Record,
) -> Result<(), Broken> {
    let above_tables = is_above_tables(cx, shape.kind);
    if above_tables && cx.version <= Version::V1_5 {
        // References never lead into the tables of another profile.
        cx.tables = Tables::default();
        cx.tables.survey(cx.bytes, shape, start, end);
        ready(cx);
    }
    let taken = cx.decode(shape, start, end, record);
    if taken.is_ok() {
        limits::owned(cx, record);
        enter(cx, record);
        if let Some(receiver) = cx.receiver {
            receivers::message(cx, record, receiver);
        }
        if record.seen & shape.tables != 0 {
            children(cx, shape, record, true);
        }
    }
    if above_tables {
        compare_rows(cx);
    }
    taken?;
    if record.seen & shape.children & !shape.tables != 0 {
        children(cx, shape, record, false);
    }
    leave(cx, record);
    Ok(())
}

/// Walks the nested messages of a message: the rows of tables, or the others.
///
/// Called twice for messages that have both kinds. Rows are numbered by field, and continue across several
/// dictionaries. Other fields are skipped, by the rows that the survey knows or by their headers.
fn children(
    cx: &mut CheckContext<'_>,
    shape: &'static MessageLayout,
    record: &Record,
    tables: bool,
) {
    if cx.depth >= cx.limits.max_nesting {
        // A message of both kinds comes here twice and is reported once.
        if tables || record.seen & shape.tables == 0 {
            cx.too_deep(Position::at(record.start));
        }
        return;
    }
    let parent = std::mem::replace(&mut cx.parent, shape.kind);
    cx.depth += 1;
    let mut rows = [0u32; CELLS];
    // Rows of a second dictionary continue the numbers of the first.
    let several = shape.kind == MessageKind::Dictionary && !cx.payload.rows_before.is_empty();
    if several {
        rows.iter_mut().zip(&cx.payload.rows_before).for_each(|(row, before)| *row = *before);
    }
    let mut inner = cx.pool.get();
    let mut fields = Fields::new(cx.bytes, record.start, record.end);
    loop {
        let (at, tag) = (fields.at(), fields.tag());
        let Some((number, body)) = fields.next() else { break };
        let (Some(slot), Some(body)) = (shape.slot(number), body) else { continue };
        if slot.take != Take::Message || (shape.tables >> slot.cell & 1 == 1) != tables {
            // Skip the whole stretch of rows, or the fields with the same tag.
            match cx.tables.following(at).last() {
                Some((_, to)) => fields = Fields::new(cx.bytes, *to as usize, record.end),
                None => while slot.repeated && fields.again(tag).is_some() {},
            }
            continue;
        }
        // A test of the layouts keeps cells below `CELLS`. The remainder spares the check of bounds.
        let row = &mut rows[slot.cell % CELLS];
        let mut run = Run::new(cx.shapes.get(slot.child), slot, (tag, *row), body, &mut fields);
        while !pass(cx, &mut run) {
            let Message { shape, step, start, end } = run.message;
            cx.findings.path.push(step);
            let _ = message(cx, shape, start, end, &mut inner);
            cx.findings.path.pop();
            if !run.next() {
                break;
            }
        }
        *row = run.rows();
    }
    if shape.kind == MessageKind::Dictionary {
        cx.payload.rows_before = rows.to_vec();
    }
    cx.depth -= 1;
    cx.parent = parent;
}

/// Passes over the canonical messages of a run that break no rule, and returns whether none is left. Otherwise the
/// current message of the run has to be walked.
fn pass(cx: &mut CheckContext<'_>, run: &mut Run<'_, '_>) -> bool {
    let of_pprof = cx.version == Version::Pprof;
    // A row contains two levels of messages, which canonical decoding does not count.
    let deep = cx.depth + 2 > cx.limits.max_nesting;
    match run.message.shape.kind {
        _ if !cx.canonical || deep => false,
        MessageKind::Sample if of_pprof => run.pass(cx, pprof_samples::canonical),
        MessageKind::Sample if cx.version < Version::V1_8 => run.pass(cx, sliced::canonical),
        MessageKind::Sample => run.pass(cx, samples::canonical),
        MessageKind::Location if of_pprof => run.pass(cx, location::canonical::<true>),
        MessageKind::Location => run.pass(cx, location::canonical::<false>),
        MessageKind::Function if of_pprof => run.pass(cx, function::canonical::<true>),
        MessageKind::Function => run.pass(cx, function::canonical::<false>),
        MessageKind::Stack => stacks::stacks(cx, run),
        MessageKind::KeyValueAndUnit => run.pass(cx, entries::canonical),
        _ => false,
    }
}

/// Applies the rules of a message before the walk of its nested messages.
///
/// pprof shares messages with OTLP, and has separate functions if its rules differ.
fn enter(cx: &mut CheckContext<'_>, record: &Record) {
    let of_pprof = cx.version == Version::Pprof;
    match record.shape.kind {
        MessageKind::Sample if of_pprof => pprof_samples::sample(cx, record),
        MessageKind::Sample => samples::sample(cx, record),
        MessageKind::Location if of_pprof => location::location::<true>(cx, record),
        MessageKind::Location => location::location::<false>(cx, record),
        MessageKind::Line if of_pprof => location::line::<true>(cx, record),
        MessageKind::Line => location::line::<false>(cx, record),
        MessageKind::Function if of_pprof => function::function::<true>(cx, record),
        MessageKind::Function => function::function::<false>(cx, record),
        MessageKind::Stack => stacks::stack(cx, record),
        MessageKind::Link => identity::link(cx, record),
        MessageKind::Mapping if of_pprof => mapping::mapping::<true>(cx, record),
        MessageKind::Mapping => {
            mapping::mapping::<false>(cx, record);
            conventions::mapping(cx, record);
        }
        MessageKind::KeyValueAndUnit => entries::entry(cx, record),
        MessageKind::KeyValue => {
            attributes::key_value(cx, record);
            entries::in_place(cx, record);
        }
        MessageKind::AnyValue => attributes::value(cx, record),
        MessageKind::ArrayValue => attributes::array(cx, record),
        MessageKind::KeyValueList => attributes::pairs(cx, record),
        MessageKind::Label if of_pprof => labels::label::<true>(cx, record),
        MessageKind::Label => labels::label::<false>(cx, record),
        MessageKind::ValueType => units::value_type(cx, record),
        MessageKind::Profile if of_pprof => pprof::profile(cx, record),
        MessageKind::Profile => profile(cx, record),
        MessageKind::Container => {
            structure::container(cx, record);
            identity::container(cx, record);
            attributes::of_message(cx, record);
        }
        MessageKind::ProfilesData => structure::root(cx, record),
        MessageKind::Dictionary | MessageKind::AttributeUnit | MessageKind::Other => {}
        // Events have no rules.
        MessageKind::Event | MessageKind::EventType | MessageKind::Clock | MessageKind::Record => {}
        MessageKind::ResourceProfiles => structure::resource(cx, record),
        MessageKind::ScopeProfiles => structure::scope(cx, record),
        MessageKind::Scope => resources::scope(cx, record),
        MessageKind::Resource => resources::resource(cx, record),
        MessageKind::EntityRef => resources::entity(cx, record),
    }
}

/// Checks a profile of OTLP.
///
/// Units and string 0 are checked here if the tables belong to the profile.
fn profile(cx: &mut CheckContext<'_>, record: &Record) {
    structure::profile(cx, record);
    identity::profile(cx, record);
    attributes::of_message(cx, record);
    lists::unique(cx, record, attributes::PROFILE_ATTRIBUTES);
    if cx.version <= Version::V1_5 {
        zero::strings(cx, "string_table");
        duplicate_ids::units(cx);
    }
}

/// Applies the rules of a message after the walk of its nested messages.
///
/// If the dictionary is missing, only that is reported.
fn leave(cx: &mut CheckContext<'_>, record: &Record) {
    match record.shape.kind {
        MessageKind::ArrayValue | MessageKind::KeyValueList => cx.payload.value_depth -= 1,
        MessageKind::Profile => {
            values::after(cx, record);
            if cx.version <= Version::V1_5 {
                after_tables(cx, record);
            }
        }
        MessageKind::Container => cx.payload.container = None,
        MessageKind::ProfilesData if cx.tables.missing => structure::after_root(cx),
        MessageKind::ProfilesData if cx.version == Version::V1_6 => {
            zero::strings(cx, "string_table");
            duplicate_ids::units(cx);
            after_tables(cx, record);
        }
        MessageKind::ProfilesData if cx.version >= Version::V1_7 => {
            cx.findings.path.push(Step { name: "dictionary", row: None });
            zero::strings(cx, "string_table");
            zero::tables(cx);
            duplicate_ids::units(cx);
            after_tables(cx, record);
            cx.findings.path.pop();
        }
        _ => {}
    }
}

/// Applies the rules of tables, once all references to them are known.
///
/// Orphans come last: they subtract references, and `mapping` needs the full counts.
fn after_tables(cx: &mut CheckContext<'_>, record: &Record) {
    match cx.version {
        Version::Pprof => pprof_rows::tables(cx),
        _ => {
            cardinality::tables(cx, record.shape, (record.start, record.end));
            duplicate_ids::ids(cx);
            mapping::tables(cx);
            orphans::tables(cx);
        }
    }
}
