//! Fixes: the finding disappears, no rule breaks, and the payload keeps its meaning.

use otlp_profiles::check::fix;
use otlp_profiles::check::{Options, Report, validate};
use otlp_profiles::compression::{Level, deflate, inflate};
use otlp_profiles::format::Receiver;
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::{Format, Limits, Severity};
use prost::Message;

use super::bases::{GENERATIONS, base, format};
use super::doc::{Mask, difference, meaning};
use super::forms::form;
use super::pprof;

/// The rule, the generations, the edits that break it, and the edits of a payload with the meaning
/// of the fixed one. `None` if prost reads the broken payload with that meaning.
const CASES: &[(&str, &str, &str, Option<&str>)] = &[
    (
        "OP2002",
        "1-7",
        "resource_profiles[1].resource.attributes[0].key=\"a\"; resource_profiles[1].resource.attributes[0].value.int_value=1",
        Some(""),
    ),
    ("OP2003", "1-7", "$R.scope_profiles[1].scope.name=\"b\"", Some("")),
    ("OP2004", "2-7", "$K.profiles[1].profile_id=x04*16", Some("")),
    (
        "OP3001",
        "1-3",
        "$T.string_table=-; $P.sample_type=-; $P.period_type=-; $P.period=-; $P.$s=-; $T.$M=-; $T.$F=-; $T.$N=-; $P.location_indices=-",
        Some(
            "$T.string_table=-; $T.string_table[0]=\"\"; $P.sample_type=-; $P.period_type=-; $P.period=-; $P.$s=-; $T.$M=-; $T.$F=-; $T.$N=-; $P.location_indices=-",
        ),
    ),
    ("OP3002", "1-7", "$T.string_table[0]=\"a\"", Some("")),
    ("OP3003", "5-7", "$D.link_table=-; $S.link_index=-", None),
    ("OP3004", "5-7", "$D.mapping_table[0].memory_start=1", Some("")),
    ("OP3004", "5-7", "$D.location_table[0].address=1", Some("")),
    ("OP3004", "5-7", "$D.function_table[0].start_line=1", Some("")),
    ("OP3004", "5-7", "$D.stack_table[0].location_indices[0]=1", Some("")),
    ("OP3005", "5-7", "$D.link_table[0].trace_id=x01*16; $D.link_table[0].span_id=x00*8", Some("")),
    ("OP3005", "5-7", "$D.link_table[0].trace_id=x00*15; $D.link_table[0].span_id=x00*8", Some("")),
    ("OP3008", "5-7", "$D.attribute_table[0].key_strindex=1", Some("")),
    ("OP3102", "2-7", "$S.attribute_indices[1]=99", Some("")),
    ("OP3102", "1", "$S.attributes[1]=99", Some("")),
    ("OP3103", "2-7", "$S.link_index=2", Some("$S.link_index=-")),
    (
        "OP3105",
        "5-7",
        "$D.location_table[1].mapping_index=7",
        Some("$D.location_table[1].mapping_index=-"),
    ),
    (
        "OP3105",
        "2-4",
        "$T.location_table[0].mapping_index=7",
        Some("$T.location_table[0].mapping_index=-"),
    ),
    ("OP3106", "5-7", "$D.location_table[1].attribute_indices[0]=5", Some("")),
    ("OP3109", "5-7", "$D.function_table[1].system_name_strindex=999", Some("")),
    (
        "OP3110",
        "5-7",
        "$D.function_table[1].filename_strindex=-1",
        Some("$D.function_table[1].filename_strindex=-"),
    ),
    (
        "OP3111",
        "5-7",
        "$D.mapping_table[1].filename_strindex=99",
        Some("$D.mapping_table[1].filename_strindex=-"),
    ),
    ("OP3112", "5-7", "$D.mapping_table[1].attribute_indices[1]=9", Some("")),
    ("OP3113", "1", "$P.mapping[0].build_id=99", Some("")),
    (
        "OP3115",
        "5-7",
        "$D.attribute_table[1].unit_strindex=99",
        Some("$D.attribute_table[1].unit_strindex=-"),
    ),
    ("OP3116", "2-7", "$P.attribute_indices[0]=7", Some("")),
    ("OP3201", "5-7", "$D.string_table[9]=\"main\"; $D.function_table[1].name_strindex=9", None),
    ("OP3201", "1-4", "$T.string_table[6]=\"main\"", None),
    (
        "OP3202",
        "5-7",
        "$D.mapping_table[2].memory_start=4096; $D.mapping_table[2].memory_limit=8192; $D.mapping_table[2].filename_strindex=5; $D.mapping_table[2].attribute_indices[0]=2",
        None,
    ),
    (
        "OP3203",
        "5-7",
        "$D.location_table[2].mapping_index=1; $D.location_table[2].address=4100; $D.location_table[2].$L[0].function_index=1; $D.location_table[2].$L[0].line=10; $D.stack_table[1].location_indices[1]=2",
        None,
    ),
    (
        "OP3204",
        "5-7",
        "$D.function_table[2].name_strindex=3; $D.function_table[2].filename_strindex=4; $D.function_table[2].start_line=5",
        None,
    ),
    ("OP3205", "5-7", "$D.link_table[2].trace_id=x01*16; $D.link_table[2].span_id=x02*8", None),
    (
        "OP3206",
        "5-7",
        "$D.attribute_table[3].key_strindex=6; $D.attribute_table[3].value.string_value=\"v1\"; $D.attribute_table[3].unit_strindex=8",
        None,
    ),
    ("OP3207", "5-7", "$D.stack_table[2].location_indices[0]=1", None),
    ("OP3208", "5-7", "$D.function_table[2]={}", None),
    ("OP3301", "1-4", "$T.string_table[6]=\"spare\"", None),
    ("OP3301", "5-7", "$D.string_table[9]=\"spare\"", None),
    ("OP3305", "5-7", "$D.link_table[2].trace_id=x01*16; $D.link_table[2].span_id=x03*8", None),
    (
        "OP3306",
        "5-7",
        "$D.attribute_table[3].key_strindex=6; $D.attribute_table[3].value.string_value=\"v2\"",
        None,
    ),
    (
        "OP3307",
        "5-7",
        "$D.stack_table[2].location_indices[0]=1; $D.stack_table[2].location_indices[1]=1",
        None,
    ),
    (
        "OP3308",
        "5-7",
        "$D.location_table[2].address=4101; $D.location_table[2].mapping_index=1; $D.stack_table[2].location_indices[0]=2",
        None,
    ),
    (
        "OP3401",
        "1",
        "$P.function[1].id=1; $P.function[1].name=4; $P.location[0].line[1].function_index=1",
        None,
    ),
    (
        "OP3502",
        "2-4",
        "$T.attribute_units[0].attribute_key_strindex=3; $T.attribute_units[0].unit_strindex=2",
        None,
    ),
    ("OP4013", "5-7", "$S.timestamps_unix_nano[1]=1700000000000000000; $S.values[1]=9", None),
    ("OP5012", "5-7", "$S.attribute_indices[1]=0", Some("")),
    // A link without ids equals no link, whether a sample refers to it or not.
    ("OP3205", "5-7", "$D.link_table[2]={}", Some("")),
    ("OP3205", "5-7", "$D.link_table[2]={}; $S.link_index=2", Some("$S.link_index=-")),
    (
        "OP5021",
        "1-7",
        "resource_profiles[1].resource.attributes[0].key=\"service.name\"; resource_profiles[1].resource.attributes[0].value.string_value=\"shop\"; resource_profiles[1].scope_profiles[0].scope.name=\"other\"",
        Some(""),
    ),
    ("OP6001", "2-4", "$P.profile_id=-", None),
    ("OP6001", "1", "$C.profile_id=-", None),
    ("OP6003", "5-7", "$P.profile_id=x00*16", None),
    ("PP1001", "P", "string_table[0]=\"a\"", Some("")),
    ("PP1008", "P", "location[0].mapping_id=9", Some("location[0].mapping_id=-")),
    ("PP1026", "P", "location[0].id=7; sample[0].location_id[0]=7", None),
    ("PP1031", "P", "string_table[7]=\"main\"", None),
];

/// Parses generations such as `2-4`.
fn generations(of: &str) -> impl Iterator<Item = &'static str> {
    let (from, to) = of.split_once('-').unwrap_or((of, of));
    let names = GENERATIONS.iter().map(|(name, _)| *name);
    let (from, to) = (from.to_owned(), to.to_owned());
    names.filter(move |name| (from.as_str()..=to.as_str()).contains(name))
}

/// Edits the payload of a generation. In OTEP 0239 it has no links, because index 0 may mean the
/// first link or no link. Its times are stored in both places, as in written payloads.
fn bent(generation: &str, edits: &str) -> Vec<u8> {
    let mut node = base(generation);
    if generation == "1" {
        let times = "$P.time_nanos=1700000000000000000; $P.duration_nanos=1000000000";
        node.edit(&format!("$P.link_table=-; {times}")).expect("it applies");
    }
    node.edit(edits).expect("it applies");
    node.encode()
}

fn options(generation: &str) -> Options {
    Options::default().format(format(generation))
}

fn count(report: &Report, id: &str) -> u64 {
    report.rule_counts().find(|tally| tally.rule.id() == id).map_or(0, |tally| tally.count)
}

/// The meaning of a payload as prost reads it; empty if a reference is out of range.
fn says(generation: &str, payload: &[u8]) -> Vec<String> {
    std::panic::catch_unwind(|| said(generation, payload)).unwrap_or_default()
}

fn said(generation: &str, payload: &[u8]) -> Vec<String> {
    if generation == "P" {
        let profile = otlp_profiles::proto::pprof::Profile::decode(payload).expect("a pprof");
        return pprof::meaning(&profile);
    }
    let doc = (form(format(generation).name()).raise)(payload).expect("a payload");
    meaning(&doc, Mask { profile_ids: generation < "5", ..Mask::default() })
}

#[test]
fn what_has_one_right_answer_is_fixed_and_means_the_same() {
    let mut wrong = Vec::new();
    for (rule, of, edits, same) in CASES {
        for generation in generations(of) {
            let payload = bent(generation, edits);
            let fixed = fix(&payload, &options(generation));
            let before = validate(&payload, &options(generation));
            let mut fail =
                |what: String| wrong.push(format!("{rule} {generation} {edits}: {what}"));
            if count(&before, rule) == 0 {
                fail("is not broken".to_owned());
            }
            if count(&fixed.report, rule) > 0 || !fixed.changes.iter().any(|c| c.rule.id() == *rule)
            {
                fail(format!("stays: {:?} {:?}", fixed.not_fixed, fixed.changes));
                continue;
            }
            let worse = fixed.report.rule_counts().find(|tally| {
                tally.severity > Severity::Info && tally.count > count(&before, tally.rule.id())
            });
            if let Some(worse) = worse {
                fail(format!("breaks {worse:?}"));
            }
            if says(generation, &fixed.bytes).is_empty() {
                fail("says nothing".to_owned());
            }
            let expected = match same {
                None => says(generation, &payload),
                Some(edits) => says(generation, &bent(generation, edits)),
            };
            if let Some(difference) = difference(&expected, &says(generation, &fixed.bytes)) {
                fail(difference);
            }
            let again = fix(&fixed.bytes, &options(generation));
            if again.bytes != fixed.bytes || !again.changes.is_empty() {
                fail(format!("is fixed again: {:?}", again.changes));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// A payload of the newest generation, followed by a resource with one profile whose only sample
/// has these bytes.
fn with_sample(sample: &[u8]) -> Vec<u8> {
    let mut inner = sample.to_vec();
    for tag in [0x12, 0x12, 0x12, 0x0a] {
        inner = [&[tag, inner.len() as u8], &inner[..]].concat();
    }
    [bent("7", ""), inner].concat()
}

#[test]
fn what_is_written_oddly_is_written_plainly() {
    let resource = |body: &[u8]| [&bent("7", "")[..], &[0x0a, body.len() as u8], body].concat();
    for (rule, payload) in [
        ("OP1003", with_sample(b"\x08\x81\x80\x00\x22\x01\x01")),
        ("OP1021", with_sample(b"\x08\x00\x08\x01\x22\x01\x01")),
        ("OP1024", with_sample(b"\x08\x01\x22\x01\x05\x22\x01\x06\x2a\x10\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02")),
        ("OP1027", with_sample(b"\x08\x00\x22\x01\x05")),
        ("OP1022", resource(b"\x0a\x00\x0a\x00\x12\x04\x12\x02\x40\x05")),
        // Arrays merge: [1] and [2] give [1,2], and an empty value adds no element.
        ("OP1022", resource(b"\x0a\x17\x0a\x15\x0a\x01k\x12\x06\x2a\x04\x0a\x02\x18\x01\x12\x06\x2a\x04\x0a\x02\x18\x02\x12\x00\x12\x06\x12\x04\x12\x02\x22\x00")),
        ("OP1022", resource(b"\x0a\x0c\x0a\x0a\x0a\x01k\x12\x03\x0a\x01v\x12\x00\x12\x06\x12\x04\x12\x02\x22\x00")),
        ("OP1023", resource(b"\x0a\x0b\x0a\x09\x0a\x01k\x12\x04\x18\x01\x10\x01\x12\x06\x12\x04\x12\x02\x22\x00")),
    ] {
        let fixed = fix(&payload, &options("7"));
        assert!(fixed.changes.iter().any(|change| change.rule.id() == rule), "{rule} {fixed:?}");
        assert_eq!(count(&fixed.report, rule), 0, "{rule}");
        assert_eq!(says("7", &payload), says("7", &fixed.bytes), "{rule}");
        assert!(fix(&fixed.bytes, &options("7")).changes.is_empty(), "{rule}");
    }
}

/// Faults in both readings do not decide between them, and a guess changes no bytes.
#[test]
fn what_reads_otherwise_as_well_stays_though_both_readings_break_a_rule() {
    let either =
        "$S.link_index=-; $S.attribute_indices=-; $S.values[0]=1; $D.string_table[9]=\"spare\"";
    for oddity in [
        "$D.function_table[1].start_line=-1",
        "$P.original_payload_format=\"pprof\"",
        "$D.attribute_table[2].key_strindex=-",
    ] {
        let payload = bent("6", &format!("{either}; {oddity}"));
        let report = validate(&payload, &Options::default());
        assert_eq!(report.worst(), Some(Severity::Error), "{oddity}");
        assert_eq!(
            (count(&report, "OP0005"), count(&report, "OP0006")),
            (1, 0),
            "{oddity}: {report:?}"
        );
        let fixed = fix(&payload, &Options::default());
        assert!(fixed.changes.is_empty() && *fixed.bytes == payload[..], "{oddity}: {fixed:?}");
        assert!(fixed.not_fixed[0].why.starts_with("OP0005"), "{oddity}: {:?}", fixed.not_fixed);
    }
}

/// Before 1.8, row 0 is an ordinary row, so an empty attribute cannot become row 0.
#[test]
fn an_attribute_that_says_nothing_stays_one() {
    for generation in ["1", "2", "3", "4", "5", "6", "7"] {
        let list = if generation == "1" { "attributes" } else { "attribute_indices" };
        let (empty, spare) = if generation < "5" { (1, 6) } else { (3, 9) };
        let table = format!("$T.attribute_table[{empty}]={{}}; $T.string_table[{spare}]=\"spare\"");
        let payload = bent(generation, &format!("{table}; $S.{list}[1]={empty}"));
        let fixed = fix(&payload, &options(generation));
        assert!(fixed.changes.iter().any(|change| change.rule.id() == "OP3301"), "{fixed:?}");
        assert_eq!(said(generation, &fixed.bytes), said(generation, &payload), "{generation}");
    }
}

/// Before 1.8, a value belongs to a sample type, so times are sorted without their values.
#[test]
fn times_of_old_generations_are_sorted() {
    for generation in ["1", "2", "3", "4"] {
        let payload = bent(generation, "$S.timestamps_unix_nano[1]=1700000000000000000");
        assert_eq!(count(&validate(&payload, &options(generation)), "OP4013"), 1, "{generation}");
        let fixed = fix(&payload, &options(generation));
        assert!(fixed.not_fixed.is_empty(), "{generation}: {:?}", fixed.not_fixed);
        assert_eq!(fixed.changes[0].rule.id(), "OP4013", "{generation}");
        assert_eq!(count(&fixed.report, "OP4013"), 0, "{generation}");
    }
}

/// Profilers list all mapped files and known code, so such unused rows are an info and not a
/// mistake.
#[test]
fn unused_mappings_locations_and_functions_stay() {
    let function = "$D.function_table[2].name_strindex=4";
    let location = "$D.location_table[2].address=4101; $D.location_table[2].mapping_index=2";
    let mapping = "$D.mapping_table[2].memory_start=1; $D.mapping_table[2].memory_limit=8192; $D.mapping_table[2].attribute_indices[0]=2";
    let all = format!("{function}; {location}; {mapping}");
    for generation in ["5", "6", "7"] {
        let payload = bent(generation, &all);
        let report = validate(&payload, &options(generation));
        for (rule, found) in [("OP3302", 0), ("OP3303", 1), ("OP3304", 1), ("OP3308", 0)] {
            assert_eq!(count(&report, rule), found, "{generation}: {rule}");
        }
        let fixed = fix(&payload, &options(generation));
        assert!(fixed.changes.is_empty() && fixed.not_fixed.is_empty(), "{generation}: {fixed:?}");
        // They remain even if another row is fixed.
        let payload = bent(generation, &format!("{all}; $D.string_table[9]=\"spare\""));
        let fixed = fix(&payload, &options(generation));
        assert_eq!(fixed.changes.len(), 1, "{generation}: {fixed:?}");
        assert_eq!(count(&fixed.report, "OP3303"), 1, "{generation}");
        assert_eq!(count(&fixed.report, "OP3304"), 1, "{generation}");
    }
    let mapping = "mapping[1].id=2; mapping[1].memory_start=4096; mapping[1].memory_limit=8192";
    let payload = bent("P", mapping);
    let report = validate(&payload, &options("P"));
    assert!(count(&report, "PP1038") > 0);
    let fixed = fix(&payload, &options("P"));
    assert!(fixed.changes.is_empty() && fixed.not_fixed.is_empty(), "{fixed:?}");
}

/// Data with two valid forms keeps the sender's form, for receivers that support only one.
#[test]
fn empty_messages_and_texts_in_place_stay() {
    let spare = "$D.string_table[9]=\"spare\"";
    let empty = format!("{spare}; $R.resource={{}}; $K.scope={{}}");
    let edits = empty.replace("$K", "$R.scope_profiles[0]");
    let payload = bent("7", &edits);
    let parca = || options("7").receiver(Receiver::Parca);
    assert_eq!(count(&validate(&payload, &parca()), "OP9209"), 0);
    let fixed = fix(&payload, &parca());
    assert_eq!(fixed.changes.len(), 1, "{fixed:?}");
    assert_eq!(fixed.changes[0].rule.id(), "OP3301");
    assert_eq!(count(&fixed.report, "OP9209"), 0, "{:?}", fixed.report);
    // One string by reference among inline strings.
    let one = "$R.resource.attributes[1].key=\"a\"; $R.resource.attributes[1].value.string_value_strindex=1";
    let payload = bent("7", &format!("{spare}; {one}"));
    let fixed = fix(&payload, &options("7"));
    let mut data = otlp_profiles::proto::v1_10::ProfilesData::decode(&fixed.bytes[..]).unwrap();
    let resource = data.resource_profiles.remove(0).resource.unwrap();
    assert_eq!(resource.attributes[0].key, "service.name");
}

/// The choice of a format is not a fix.
#[test]
fn a_guess_is_not_fixed() {
    let payload = bent("6", "$D.string_table[9]=\"spare\"");
    let fixed = fix(&payload, &Options::default());
    let rules: Vec<&str> = fixed.changes.iter().map(|change| change.rule.id()).collect();
    assert!(!rules.is_empty() && !rules.contains(&"OP0006"), "{rules:?}");
}

/// Merged resources and scopes are listed, even scopes that no rule reported because they were in
/// separate resources. Absent messages are equal, and the order of attributes does not matter.
#[test]
fn resources_and_scopes_that_are_put_together_are_told() {
    let resource = |edits: &str| {
        let edits = edits
            .replace("$R", "resource_profiles[1]")
            .replace("$K", "resource_profiles[1].scope_profiles[0]");
        let spare = "$R.resource.attributes[1].key=\"a\"; $R.resource.attributes[1].value.int_value=1; $D.string_table[9]=\"spare\"";
        bent(
            "7",
            &format!(
                "{spare}; {edits}; resource_profiles[1].scope_profiles[0].profiles[0].period=1"
            ),
        )
    };
    for (edits, rules) in [
        // Equal attributes in another order. Scopes are compared within their resource only.
        (
            "$R.resource.attributes[0].key=\"a\"; $R.resource.attributes[0].value.int_value=1; $R.resource.attributes[1].key=\"service.name\"; $R.resource.attributes[1].value.string_value=\"shop\"; $K.scope.name=\"profiler\"",
            &["OP5021", "OP5022"][..],
        ),
        ("$R.resource.attributes[0].key=\"b\"", &[]),
    ] {
        let payload = resource(edits);
        let before = validate(&payload, &options("7"));
        let found = (count(&before, "OP5021"), count(&before, "OP5022"));
        assert_eq!(found, (u64::from(!rules.is_empty()), 0), "{edits}");
        let fixed = fix(&payload, &options("7"));
        let told: Vec<&str> = fixed
            .changes
            .iter()
            .map(|change| change.rule.id())
            .filter(|id| ["OP5021", "OP5022"].contains(id))
            .collect();
        assert_eq!(told, rules, "{edits}: {fixed:?}");
    }
}

/// Two equal strings, both unused.
const TWICE: &str = "$T.string_table[6]=\"a\"; $T.string_table[7]=\"a\"";

#[test]
fn framing_and_compression_stay() {
    let (good, bad) = (bent("7", ""), with_sample(b"\x08\x00\x22\x01\x05"));
    let mended = fix(&bad, &options("7")).bytes.into_owned();
    assert_ne!(mended, bad);
    let gzip = |bytes: &[u8]| deflate(bytes, Level::DEFAULT);
    for framing in [Framing::LengthPrefixed, Framing::Grpc, Framing::Delimited] {
        let file = frame(framing, [&good[..], &bad, &gzip(&bad)]).unwrap();
        let expected = frame(framing, [&good[..], &mended, &gzip(&mended)]).unwrap();
        let fixed = fix(&file, &options("7"));
        assert!(*fixed.bytes == expected, "{framing}");
        let paths: Vec<&str> = fixed.changes.iter().map(|change| &change.path[..]).collect();
        assert!(paths[0].starts_with("message[1].resource_profiles[1]."), "{paths:?}");
        assert!(paths.last().unwrap().starts_with("message[2]."), "{paths:?}");
        let packed = gzip(&file);
        let fixed = fix(&packed, &options("7"));
        assert_eq!(*inflate(&fixed.bytes, &Limits::network()).unwrap(), *expected, "{framing}");
        // A truncated file stays unchanged and is reported. Regression: the report was that it
        // needs no fix.
        let mut cut = frame(framing, [&bad[..], &good]).unwrap();
        cut.pop();
        let fixed = fix(&cut, &options("7"));
        assert!(fixed.changes.is_empty() && *fixed.bytes == cut, "{framing}");
        let left: Vec<&str> = fixed.not_fixed.iter().map(|left| &left.path[..]).collect();
        assert_eq!(left, ["message[1]"], "{framing}");
    }
    // Fixes of the file's compression leave the payload unchanged.
    let (head, tail) = good.split_at(40);
    let padded = [gzip(&good), vec![0; 512]].concat();
    for (file, rule) in [([gzip(head), gzip(tail)].concat(), "OP0027"), (padded, "OP0026")] {
        let fixed = fix(&file, &options("7"));
        let rules: Vec<&str> = fixed.changes.iter().map(|change| change.rule.id()).collect();
        assert_eq!(rules, [rule]);
        assert!(*fixed.bytes == gzip(&good), "{rule}");
    }
}

#[test]
fn texts_that_are_references_stay_so() {
    let edits = "$R.resource.attributes[0].key=-; $R.resource.attributes[0].key_strindex=6; $D.string_table[9]=\"a\"";
    let payload = bent("7", edits);
    let fixed = fix(&payload, &options("7"));
    assert_eq!(fixed.changes[0].rule.id(), "OP3301");
    assert_eq!(says("7", &fixed.bytes), says("7", &payload));
    let mut data = otlp_profiles::proto::v1_10::ProfilesData::decode(&fixed.bytes[..]).unwrap();
    let resource = data.resource_profiles.remove(0).resource.unwrap();
    assert!(resource.attributes[0].key.is_empty() && resource.attributes[0].key_strindex != 0);
}

#[test]
fn what_would_be_lost_stays_and_is_said() {
    for (generation, edits, why) in [
        ("7", "$S.stack_index=9", "OP3101 index-sample-stack-index"),
        ("7", "$S.stack_index=4294967297", "OP1013 int32-truncated"),
        ("7", "$R.resource.attributes[0].key=x6bff", "string.invalid_utf8"),
        ("7", "$D.link_table[1].trace_id=x01*15", "link.invalid"),
        ("7", "$D.link_table[1].span_id=-", "link.half"),
        ("4", "$S.value[1]=9", "pprof.value_count"),
        // This index has no rule, so the reader repairs one more index than findings report.
        ("4", "$P.default_sample_type_index=9", "index.out_of_range"),
        ("P", "sample[0].label[0].str=99", "PP1010 pprof-string-index"),
        ("P", "sample[0].location_id[1]=9", "pprof.dangling_location"),
    ] {
        let twice = match generation {
            "P" => "string_table[7]=\"main\"".to_owned(),
            "7" => TWICE.replace("[6]", "[9]").replace("[7]", "[10]"),
            _ => TWICE.to_owned(),
        };
        let twice = twice.split(';').next().unwrap();
        let payload = bent(generation, &format!("{edits}; {twice}"));
        let fixed = fix(&payload, &options(generation));
        assert!(
            fixed.changes.is_empty() && *fixed.bytes == payload[..],
            "{edits}: {:?}",
            fixed.changes
        );
        assert_eq!(fixed.not_fixed.len(), 1, "{edits}: {:?}", fixed.report);
        assert!(fixed.not_fixed[0].why.contains(why), "{edits}: {:?}", fixed.not_fixed);
    }
    // In OTLP 1.3, an address may be outside the first mapping, although index 0 refers to it.
    let payload = bent("1", "$P.location[0].address=1; $P.string_table[6]=\"spare\"");
    let fixed = fix(&payload, &options("1"));
    assert!(fixed.not_fixed.iter().any(|left| left.why.contains("g1.no_mapping")), "{fixed:?}");
    assert!(*fixed.bytes == payload[..]);
    // A pprof without sample types would get an empty one.
    let fixed = fix(b"\x32\x00\x32\x00", &Options::default().format(Format::PPROF));
    assert!(fixed.not_fixed.iter().any(|left| left.why.contains("PP1021")), "{fixed:?}");
    // An unknown field.
    let payload = [&with_sample(b"\x08\x00\x22\x01\x05")[..], b"\xf8\x01\x01"].concat();
    let fixed = fix(&payload, &options("7"));
    assert!(fixed.not_fixed[0].why.contains("field.unknown"), "{:?}", fixed.not_fixed);
    assert!(*fixed.bytes == payload[..]);
}

/// The number of fixable findings is printed as a promise: a file that has some, and is refused, breaks it.
#[test]
fn findings_are_fixable_only_if_they_are_fixed() {
    let spare = "string_table[7]=\"main\"";
    for (edits, is_fixed) in [
        (spare, true),
        ("sample[0].value[1]=1", false),
        ("location[0].line[0].function_id=9", false),
        ("location[0].line[0].function_id=-", false),
        // A key with a string and a number, which the model keeps as a list and writes as it was.
        ("sample[0].label[1].key=5; sample[0].label[1].num=3", true),
        ("sample[0].label[1].key=5; sample[0].label[1].str=6", true),
    ] {
        let payload = bent("P", &format!("{spare}; {edits}"));
        let fixable = validate(&payload, &options("P")).fixable();
        let fixed = fix(&payload, &options("P"));
        assert_eq!(fixable > 0, is_fixed, "{edits}");
        assert_eq!(!fixed.changes.is_empty(), is_fixed, "{edits}: {:?}", fixed.not_fixed);
        if is_fixed {
            let difference = difference(&says("P", &payload), &says("P", &fixed.bytes));
            assert!(difference.is_none(), "{edits}: {difference:?}");
        }
    }
}

#[test]
fn where_nothing_can_be_fixed_the_bytes_stay() {
    for (generation, _) in GENERATIONS {
        let payload = bent(generation, "");
        let fixed = fix(&payload, &options(generation));
        assert!(fixed.changes.is_empty() && fixed.not_fixed.is_empty(), "{generation} {fixed:?}");
        assert!(matches!(fixed.bytes, std::borrow::Cow::Borrowed(_)), "{generation}");
    }
    for bytes in [&b""[..], b"{}", b"garbage text", b"\x0a\x05\x00", b"\x1f\x8b"] {
        let fixed = fix(bytes, &Options::default());
        assert!(*fixed.bytes == *bytes && fixed.changes.is_empty());
    }
}

#[test]
fn so_many_rows_are_fixed_as_there_can_be() {
    let mut node = base("7");
    let mut edits = String::new();
    for row in 0..20_000 {
        edits.push_str(&format!("$D.string_table[{}]=\"spare\";", row + 9));
    }
    node.edit(&edits).expect("it applies");
    let payload = node.encode();
    let fixed = fix(&payload, &options("7").max_findings(5));
    // One place of each rule, and the count.
    let counts: Vec<_> =
        fixed.changes.iter().map(|change| (change.rule.id(), change.count)).collect();
    assert_eq!(counts, [("OP3301", 20_000), ("OP3201", 19_999)]);
    assert!(*fixed.bytes == bent("7", "")[..]);
}

/// Collects the files below a folder, except large ones.
fn below(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            below(&path, files);
        } else if path.metadata().is_ok_and(|file| file.len() < 300_000) {
            files.push(path);
        }
    }
}

/// Files of real profilers and of this project: a second fix changes no bytes, and the meaning
/// stays.
#[test]
fn files_that_are_fixed_mean_the_same() {
    let mut files = Vec::new();
    below(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata").as_ref(), &mut files);
    match std::env::var_os("OTLP_PROFILES_CORPUS") {
        Some(corpus) => below(corpus.as_ref(), &mut files),
        None => println!("OTLP_PROFILES_CORPUS is not set: its files were skipped"),
    }
    files.sort();
    let (mut changed, mut whole) = (0, 0);
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        let options = Options::default().limits(Limits::file());
        let fixed = fix(&bytes, &options);
        let again = fix(&fixed.bytes, &options);
        assert!(
            again.changes.is_empty() && again.bytes == fixed.bytes,
            "{path:?} {:?}",
            again.changes
        );
        if fixed.changes.is_empty() {
            assert!(*fixed.bytes == bytes[..]);
            whole += 1;
            continue;
        }
        changed += 1;
        let format = fixed.report.format.unwrap();
        let generation = GENERATIONS.iter().find(|(_, name)| *name == format.name());
        let (Some((generation, _)), Ok(old)) = (generation, inflate(&bytes, &Limits::file()))
        else {
            continue;
        };
        let new = inflate(&fixed.bytes, &Limits::file()).unwrap();
        if let Some(difference) = difference(&says(generation, &old), &says(generation, &new)) {
            panic!("{path:?}: {difference}");
        }
    }
    assert!(changed >= 2 && whole > 5, "{changed} fixed, {whole} as they were");
}
