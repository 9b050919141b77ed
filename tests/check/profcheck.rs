//! `--compat profcheck`: its test cases by name, and its verdict on mutated payloads.

use otlp_profiles::Severity;
use otlp_profiles::check::{Options, Profcheck, Report, validate};

use otlp_profiles::Format;
use otlp_profiles::fuzzing::{Payload, Random, mutate_bytes};

use super::bases::base;
use super::verdict::{Flags, Oracle};

/// Tables with only their zero rows, and an empty profile.
const ZERO: &str =
    "$D.mapping_table[0]={}; $D.location_table[0]={}; $D.function_table[0]={}; $D.link_table[0]={};
    $D.string_table[0]=\"\"; $D.attribute_table[0]={}; $D.stack_table[0]={}; $P={}";
/// The same with a time range of [100, 110).
const TIMED: &str = "$P.time_unix_nano=100; $P.duration_nano=10";
/// The flags of profcheck's own test cases, unless they set others.
const OWN: Flags = Flags { dupes: true, orphans: false, shapes: false };
const SHAPES: Flags = Flags { shapes: true, ..OWN };
const ORPHANS: Flags = Flags { orphans: true, ..OWN };
const NO_DUPES: Flags = Flags { dupes: false, ..OWN };

/// A case: its name, the edits of [`ZERO`], the flags, and the broken rule if it fails.
type Case = (&'static str, &'static str, Flags, Option<&'static str>);

const CASES: [Case; 29] = [
    ("no profiles", "resource_profiles=-; dictionary=-", OWN, Some("OP2001")),
    ("minimal valid profile", "", OWN, None),
    ("no scope profiles", "resource_profiles=-; $R={}", OWN, Some("OP2002")),
    ("no profiles in scope", "resource_profiles=-; $K={}", OWN, Some("OP2003")),
    ("no empty string at pos 0", "$D.string_table[0]=\"a\"", OWN, Some("OP3002")),
    (
        "duplicate string",
        "$D.string_table[1]=\"a\"; $D.string_table[2]=\"b\"; $D.string_table[3]=\"a\"",
        OWN,
        Some("OP3201"),
    ),
    ("duplicate mapping", MAPPINGS, OWN, Some("OP3202")),
    (
        "duplicate string (disabled check)",
        "$D.string_table[1]=\"a\"; $D.string_table[2]=\"b\"; $D.string_table[3]=\"a\"",
        NO_DUPES,
        None,
    ),
    (
        "duplicate attribute key in location",
        "$D.string_table[1]=\"k1\"; $D.attribute_table[1].key_strindex=1; $D.attribute_table[1].value.string_value=\"v1\";
         $D.attribute_table[2].key_strindex=1; $D.attribute_table[2].value.string_value=\"v2\";
         $D.location_table[1].attribute_indices[0]=1; $D.location_table[1].attribute_indices[1]=2",
        OWN,
        Some("OP5002"),
    ),
    ("timestamp before start", "$T; $S.timestamps_unix_nano[0]=99", OWN, Some("OP4012")),
    ("timestamp at start", "$T; $S.timestamps_unix_nano[0]=100", OWN, None),
    ("timestamp at end (exclusive)", "$T; $S.timestamps_unix_nano[0]=110", OWN, Some("OP4012")),
    ("timestamp after end", "$T; $S.timestamps_unix_nano[0]=111", OWN, Some("OP4012")),
    ("sample with no values and no timestamps", "$S={}", SHAPES, Some("OP4001")),
    (
        "sample with values and timestamps length mismatch",
        "$T; $S.values[0]=1; $S.timestamps_unix_nano[0]=100; $S.timestamps_unix_nano[1]=101",
        SHAPES,
        Some("OP4002"),
    ),
    ("sample with values only", "$S.values[0]=1", SHAPES, None),
    (
        "sample with multiple values",
        "$S.values[0]=1; $S.values[1]=2; $S.values[2]=3",
        SHAPES,
        Some("OP4003"),
    ),
    ("sample with timestamps only", "$T; $S.timestamps_unix_nano[0]=100", SHAPES, None),
    (
        "sample with values and timestamps matching",
        "$T; $S.values[0]=1; $S.timestamps_unix_nano[0]=100",
        SHAPES,
        None,
    ),
    ("mixed sample types", MIXED, SHAPES, Some("OP4004")),
    (
        "mixed sample types without values",
        "$T; $S.values[0]=1; $P.samples[1]={}; $P.samples[2].timestamps_unix_nano[0]=100",
        SHAPES,
        Some("OP4004"),
    ),
    ("mixed sample types (disabled check)", MIXED, OWN, None),
    ("references check: minimal valid (all zero sentinels)", "", ORPHANS, None),
    (
        "references check: unreferenced string",
        "$D.string_table[1]=\"unreferenced\"",
        ORPHANS,
        Some("OP3301"),
    ),
    (
        "references check: unreferenced string (disabled check)",
        "$D.string_table[1]=\"unreferenced\"",
        OWN,
        None,
    ),
    ("references check: unreferenced mapping", "$D.mapping_table[1]={}", ORPHANS, Some("OP3302")),
    ("references check: unreferenced stack", "$D.stack_table[1]={}", ORPHANS, Some("OP3307")),
    (
        "references check: unreferenced link",
        "$D.link_table[1].trace_id=x00*16; $D.link_table[1].span_id=x00*8",
        ORPHANS,
        Some("OP3305"),
    ),
    ("references check: fully referenced non-zero entries", REFERENCED, ORPHANS, None),
];

const MAPPINGS: &str =
    "$D.string_table[1]=\"filename\"; $D.string_table[2]=\"attr1\"; $D.string_table[3]=\"attr2\";
    $D.attribute_table[1].key_strindex=1; $D.attribute_table[1].value.string_value=\"v1\";
    $D.attribute_table[2].key_strindex=2; $D.attribute_table[2].value.string_value=\"v2\";
    $D.mapping_table[1].filename_strindex=1; $D.mapping_table[1].attribute_indices[0]=1;
    $D.mapping_table[1].attribute_indices[1]=2; $D.mapping_table[1].memory_start=16384;
    $D.mapping_table[1].memory_limit=16896;
    $D.mapping_table[2].filename_strindex=1; $D.mapping_table[2].attribute_indices[0]=2;
    $D.mapping_table[2].attribute_indices[1]=1; $D.mapping_table[2].memory_start=16384;
    $D.mapping_table[2].memory_limit=16896";

const MIXED: &str = "$T; $S.values[0]=1; $P.samples[1].timestamps_unix_nano[0]=100";

const REFERENCED: &str = "$D.string_table[1]=\"fn_name\"; $D.string_table[2]=\"fn_sysname\";
    $D.string_table[3]=\"fn_file\"; $D.string_table[4]=\"map_file\"; $D.string_table[5]=\"type\";
    $D.string_table[6]=\"unit\";
    $D.attribute_table[1].key_strindex=1; $D.attribute_table[1].value.string_value=\"v1\";
    $D.mapping_table[1].filename_strindex=4;
    $D.function_table[1].name_strindex=1; $D.function_table[1].system_name_strindex=2;
    $D.function_table[1].filename_strindex=3;
    $D.location_table[1].mapping_index=1; $D.location_table[1].lines[0].function_index=1;
    $D.stack_table[1].location_indices[0]=1;
    $P.sample_type.type_strindex=5; $P.sample_type.unit_strindex=6;
    $S.stack_index=1; $S.attribute_indices[0]=1; $S.values[0]=42";

fn tree(edits: &str) -> Payload {
    let mut payload = Payload::new(Format::OTLP_1_10).expect("a protobuf format");
    payload.edit(ZERO).expect("it applies");
    payload.edit(&edits.replace("$T", TIMED)).expect(edits);
    payload
}

fn verdict(bytes: &[u8], flags: Flags) -> Report {
    let checks = Profcheck::default()
        .check_dupes(flags.dupes)
        .check_orphans(flags.orphans)
        .check_sample_shapes(flags.shapes);
    validate(bytes, &Options::default().compat(checks))
}

#[test]
fn its_own_cases_get_its_verdict() {
    let oracle = Oracle::new();
    for (name, edits, flags, rule) in CASES {
        let payload = tree(edits).encode();
        let report = verdict(&payload, flags);
        let findings: Vec<String> = report.findings().map(|found| found.to_string()).collect();
        assert_eq!(report.is_ok(), rule.is_none(), "{name}: {findings:#?}");
        assert_eq!(oracle.passes(&payload, flags), rule.is_none(), "{name}");
        assert!(report.findings().all(|found| found.severity == Severity::Error), "{name}");
        let found = report.findings().any(|found| Some(found.rule.id()) == rule);
        assert!(found || rule.is_none(), "{name}: {findings:#?}");
    }
}

/// Behaviour that profcheck's source defines and its tests do not cover. A panic counts as a
/// failure.
#[test]
fn beyond_its_cases_it_is_followed_to_the_letter() {
    let plain = Flags { dupes: false, orphans: false, shapes: true };
    let link = "$D.link_table[0].trace_id=x00*16; $D.link_table[0].span_id=x00*8";
    for (edits, flags, rule) in [
        ("dictionary=-", plain, Some("OP2005")),
        ("$D.mapping_table=-", plain, Some("OP3003")),
        ("$D.link_table=-", plain, Some("OP3003")),
        (link, plain, Some("OP3005")),
        ("$D.attribute_table[0].value={}", plain, None),
        ("$D.function_table[1]={}; $D.function_table[2]={}", SHAPES, None),
        // The end overflows, so every time is outside.
        (
            "$P.time_unix_nano=-1; $P.duration_nano=10; $S.timestamps_unix_nano[0]=-1",
            plain,
            Some("OP4012"),
        ),
        // profcheck does not count this reference, so the entry is an orphan.
        (
            "$D.string_table[1]=\"k\"; $R.resource.attributes[0].key_strindex=1",
            ORPHANS,
            Some("OP3301"),
        ),
        ("$D.stack_table[1].location_indices[0]=-1", plain, Some("OP3104")),
        // Truncated to 32 bits, this is row 0.
        ("$S.stack_index=4294967296; $S.values[0]=1", plain, None),
        (
            "$D.mapping_table[1].memory_start=4096; $D.mapping_table[1].memory_limit=4096",
            plain,
            Some("OP7002"),
        ),
        ("$D.location_table[1].lines[0].line=-1", plain, Some("OP7005")),
    ] {
        let report = verdict(&tree(edits).encode(), flags);
        let findings: Vec<String> = report.findings().map(|found| found.to_string()).collect();
        assert_eq!(
            report.findings().next().map(|found| found.rule.id()),
            rule,
            "{edits}: {findings:#?}"
        );
    }
}

#[test]
fn findings_are_where_they_are() {
    let at = |edits: &str| {
        let report = verdict(&tree(edits).encode(), OWN);
        report.findings().next().map(|found| found.path.clone()).unwrap_or_default()
    };
    assert_eq!(
        at("$D.mapping_table[1].filename_strindex=9"),
        "dictionary.mapping_table[1].filename_strindex"
    );
    assert_eq!(at("$D.link_table[1].trace_id=x00"), "dictionary.link_table[1].trace_id");
    assert_eq!(
        at("$P.attribute_indices[0]=9"),
        "resource_profiles[0].scope_profiles[0].profiles[0].attribute_indices[0]"
    );
    assert_eq!(at("$D.string_table[1]=xff"), "dictionary.string_table[1]");
    assert_eq!(
        at("$D.attribute_table[1].value.string_value=xff"),
        "dictionary.attribute_table[1].value.string_value"
    );
}

/// Go accepts messages and groups 10,000 levels deep, and ignores fields of the wrong wire type.
#[test]
fn bytes_are_taken_as_go_takes_them() {
    let whole = tree("").encode();
    let plain = Flags { dupes: false, orphans: false, shapes: true };
    // A resource with an attribute whose value is nested arrays. Root, resource profiles, resource
    // and attribute enclose them, and each array takes two levels.
    let nested = |arrays: usize| {
        let mut value = vec![0u8; 0];
        for _ in 0..arrays {
            value = super::wire::len(5, &super::wire::len(1, &value));
        }
        let resource = super::wire::nest(&[1, 1, 1, 2], &value);
        [whole.clone(), resource].concat()
    };
    let all = [
        (Vec::new(), true),
        (b"\x08\x01".to_vec(), true),
        (b"\xf8\x01\x01".to_vec(), true),
        (b"\xfb\x01\xfc\x01".to_vec(), true),
        (b"\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x00\x02\x12\x00".to_vec(), false),
        (b"\xfb\x01\xfb\x01\xfc\x01".to_vec(), false),
        (b"\xfb\x01\xf4\x01".to_vec(), false),
        (b"\xfc\x01".to_vec(), false),
        (b"\x07".to_vec(), false),
        (b"\x00\x00".to_vec(), false),
        (b"\x80\x80\x80\x80\x10\x00".to_vec(), false),
        (b"\x12\x80".to_vec(), false),
        (b"\x12\x05\x00".to_vec(), false),
        (b"\xfd\x01\x00".to_vec(), false),
    ];
    let oracle = Oracle::new();
    for (tail, passes) in all {
        let payload = [&whole[..], &tail].concat();
        assert_eq!(verdict(&payload, plain).is_ok(), passes, "{tail:x?}");
        assert_eq!(oracle.passes(&payload, plain), passes, "{tail:x?}");
    }
    assert!(!verdict(&whole[..whole.len() - 1], plain).is_readable());
    // The only other finding is that the resource has no scopes.
    let deep = |arrays| {
        let report = verdict(&nested(arrays), plain);
        report.findings().map(|found| found.rule.id()).collect::<Vec<_>>()
    };
    assert_eq!(deep(4_997), ["OP2002"]);
    assert_eq!(deep(4_998), ["OP1017"]);
}

/// Compares [`verdict`] with the oracle on payloads of the newest generation with mutated bytes and
/// fields.
fn agreement(rounds: usize, seed: u64, mut each: impl FnMut(&[u8])) -> [usize; 2] {
    let oracle = Oracle::new();
    let mut trees: Vec<Payload> = CASES.iter().map(|(_, edits, ..)| tree(edits)).collect();
    // Valid and large payloads, several times.
    let whole = base("7");
    let full = tree(&format!("{MAPPINGS}; $T; $S.values[0]=1; $P.samples[1].values[0]=5"));
    trees.extend(std::iter::repeat_n([whole, full, tree(REFERENCED)], 10).flatten());
    let mut numbers = Random::new(seed);
    let mut counts = [0, 0];
    for round in 0..rounds {
        let mut tree = trees[numbers.below(trees.len())].clone();
        for _ in 0..numbers.below(3) {
            tree.mutate(&mut numbers);
        }
        let mut payload = tree.encode();
        if round % 3 == 0 {
            payload = mutate_bytes(&payload, &mut numbers);
        }
        each(&payload);
        for bits in 0..8 {
            let flags =
                Flags { dupes: bits & 1 != 0, orphans: bits & 2 != 0, shapes: bits & 4 != 0 };
            let expected = oracle.passes(&payload, flags);
            let report = verdict(&payload, flags);
            assert_eq!(
                report.is_ok(),
                expected,
                "{flags:?} {:#?} {payload:x?}",
                report.findings().collect::<Vec<_>>()
            );
            counts[usize::from(expected)] += 1;
        }
    }
    counts
}

#[test]
fn bent_payloads_get_its_verdict() {
    let [failed, passed] = agreement(4_000, 11, |_| {});
    assert!(failed > 3_000 && passed > 3_000, "{failed} {passed}");
}
