//! Round trips over the registry: pprof through every format, and every generation of OTLP through every other.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::doc::{self, Doc, Mask, Val, meaning, same};
use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, docs, pprofs};
use crate::support::model::doc_of;
use crate::support::{codes, kept, read, write};
use otlp_profiles::losses::LossKind;
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Format, Losses, Severity, WriteOptions};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// A pprof comes back from every format, and no more losses are reported than occur.
fn pprof_comes_back(before: &pprof::Profile) -> Result<(), TestCaseError> {
    let said = support::pprof::meaning(before);
    let model = read("pprof", &before.encode_to_vec());
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let name = format.name();
        let (there, losses) = write(name, &model);
        let worse = |losses: &Losses, but: &[&str]| {
            let worse = losses.iter().find(|l| {
                l.code.kind() >= LossKind::Approximated && !but.contains(&l.code.as_str())
            });
            worse.map(|loss| loss.to_string())
        };
        prop_assert_eq!(worse(&losses, &["unit.key_conflict"]), None, "pprof to {}", name);
        // A value chosen by rule is not lost on the way back, unless the profile changed, because the rule would
        // then choose another id.
        let changed = codes(&losses).contains(&"unit.key_conflict");
        let made_up: &[&str] = if changed { &["profile_id.dropped"] } else { &[] };
        let (back, losses) = write("pprof", &read(name, &there));
        prop_assert_eq!(worse(&losses, made_up), None, "{} to pprof", name);
        let after = pprof::Profile::decode(&back[..]).expect("a pprof that prost decodes");
        same(name, &said, &support::pprof::meaning(&after))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn pprof_through_every_format(profile in pprofs()) {
        pprof_comes_back(&profile)?;
    }

    #[test]
    fn the_same_bytes_on_every_run(profile in pprofs()) {
        let bytes = profile.encode_to_vec();
        for format in Format::ALL.iter().filter(|format| format.is_whole()) {
            let once = write(format.name(), &read("pprof", &bytes));
            let twice = write(format.name(), &read("pprof", &bytes));
            prop_assert_eq!(once, twice);
        }
    }
}

#[test]
fn a_period_type_of_a_temporality_alone_is_kept_or_reported() {
    let profile = support::doc::Profile {
        id: [1; 16],
        period_type: support::doc::Type { temporality: 2, ..Default::default() },
        ..Default::default()
    };
    let mut doc = Doc::default();
    doc.resources.push(support::doc::Resource::default());
    doc.resources[0].scopes.push(support::doc::Scope::default());
    doc.resources[0].scopes[0].profiles.push(profile);
    let model = read("otlp-1.5", &(form("otlp-1.5").lower)(&doc));
    for to in FORMS {
        let (there, losses) = write(to.name, &model);
        let said = (to.raise)(&there).unwrap();
        let kept = said.resources[0].scopes[0].profiles[0].period_type.temporality == 2;
        let told = codes(&losses).contains(&"temporality.dropped");
        assert!(kept || told, "{}: {:?}", to.name, codes(&losses));
    }
}

#[test]
fn values_of_no_sample_type_come_back() {
    for (values, times) in [(vec![20], vec![]), (vec![7, 8], vec![1, 2])] {
        let sample = doc::Sample { values: values.clone(), times, ..Default::default() };
        let profile = doc::Profile { id: [1; 16], samples: vec![sample], ..Default::default() };
        let mut payload = Doc::default();
        payload.resources.push(doc::Resource::default());
        payload.resources[0].scopes.push(doc::Scope::default());
        payload.resources[0].scopes[0].profiles.push(profile);
        let model = read("otlp", &(form("otlp").lower)(&payload));
        for to in Format::ALL.iter().filter(|to| to.is_whole()) {
            let back = read(to.name(), &write(to.name(), &model).0);
            let samples = back.iter().flat_map(|profile| profile.samples().iter());
            let total: i64 = samples.flat_map(|sample| sample.values.to_vec()).sum();
            assert_eq!(total, values.iter().sum::<i64>(), "{}", to.name());
        }
    }
}

#[test]
fn negative_times_survive_where_times_are_signed() {
    let profile = pprof::Profile {
        string_table: vec![String::new(), "cpu".to_owned()],
        sample_type: vec![pprof::ValueType { r#type: 1, unit: 0 }],
        time_nanos: -5,
        duration_nanos: -6,
        ..Default::default()
    };
    for name in ["otlp-1.3", "otlp-1.4", "otlp-1.5", "otlp-1.6", "otlp-1.7"] {
        let (there, losses) = write(name, &read("pprof", &profile.encode_to_vec()));
        assert!(kept(&losses), "{name}: {losses:?}");
        let back = write("pprof", &read(name, &there)).0;
        let after = pprof::Profile::decode(&back[..]).unwrap();
        assert_eq!((after.time_nanos, after.duration_nanos), (-5, -6), "{name}");
    }
}

#[test]
fn bytes_that_are_not_utf8_come_back_through_pprof() {
    // string_table: "", "cpu", and a byte that begins no character, which a function and a label use.
    let profile = b"\x0a\x02\x08\x01\x12\x0c\x0a\x01\x01\x12\x01\x05\x1a\x04\x08\x01\x10\x02\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x02\x32\x00\x32\x03cpu\x32\x03\xffab";
    let model = read("pprof", profile);
    let (back, losses) = write("pprof", &model);
    assert!(losses.is_empty(), "{losses:?}");
    assert!(back.windows(5).any(|window| window == b"\x32\x03\xffab"), "{back:x?}");
    let (_, losses) = write("otlp", &model);
    assert_eq!(codes(&losses), ["string.invalid_utf8"]);
}

/// The fields to leave out of a comparison, because one of two generations lacks them.
fn mask(from: &str, to: &str) -> Mask {
    let (from, to) = (form(from).caps, form(to).caps);
    Mask {
        temporality: !(from.temporality && to.temporality),
        stacktrace_ids: !(from.stacktrace_id && to.stacktrace_id),
        entities: !(from.entities && to.entities),
        profile_ids: false,
    }
}

fn every_room(portable: bool) -> impl Strategy<Value = (&'static str, Doc)> {
    (0..FORMS.len()).prop_flat_map(move |at| {
        let form = &FORMS[at];
        docs(Room { caps: form.caps, portable }).prop_map(move |doc| (form.name, doc))
    })
}

/// Data that all generations can represent survives the conversion to any of them and back.
fn comes_back(from: &str, doc: &Doc) -> Result<(), TestCaseError> {
    let raise = form(from).raise;
    let bytes = (form(from).lower)(doc);
    let before = read(from, &bytes);
    for to in FORMS {
        let (there, losses) = write(to.name, &before);
        let worse = losses.iter().find(|loss| loss.code.kind() >= LossKind::Approximated);
        prop_assert_eq!(worse, None, "{} to {}", from, to.name);
        // In the other generation, prost and the crate read the same meaning.
        let middle = read(to.name, &there);
        let raised = (to.raise)(&there).expect("prost decodes what we write");
        let ours = doc_of(&middle);
        same(to.name, &meaning(&raised, Mask::default()), &meaning(&ours, Mask::default()))?;
        let after = raise(&write(from, &middle).0).expect("prost decodes what we write");
        let mask = mask(from, to.name);
        let what = format!("{from} through {}", to.name);
        same(&what, &meaning(&raise(&bytes).unwrap(), mask), &meaning(&after, mask))?;
    }
    Ok(())
}

/// A round trip that reports no loss has lost nothing.
fn losses_are_said(from: &str, doc: &Doc) -> Result<(), TestCaseError> {
    let raise = form(from).raise;
    let bytes = (form(from).lower)(doc);
    let before = raise(&bytes).expect("prost decodes what it encoded");
    let model = read(from, &bytes);
    for to in Format::ALL.iter().filter(|to| to.is_whole()) {
        let Ok((payloads, there)) = otlp_profiles::write_all(&model, *to, &WriteOptions::default())
        else {
            continue;
        };
        let [payload] = &payloads[..] else { continue };
        let timestamp_label = Some("end_timestamp_ns".to_owned());
        let options = support::options(to.name()).timestamp_label(timestamp_label);
        let middle = otlp_profiles::read(payload, &options).expect("we read what we write");
        let (back, here) = write(from, &middle.profiles);
        let after = raise(&back).expect("prost decodes what we write");
        let noticed = middle.findings.iter().any(|finding| finding.severity > Severity::Info);
        if kept(&there) && kept(&here) && !noticed {
            // A value that the source lacks and a rule chose is reported, too.
            let said = [codes(&there), codes(&here)].concat();
            let mask = Mask {
                temporality: said.contains(&"temporality.assumed"),
                profile_ids: said.contains(&"profile_id.synthesized"),
                ..Mask::default()
            };
            let what =
                format!("{from} through {} ({:?}, {:?})", to.name(), codes(&there), codes(&here));
            same(&what, &meaning(&before, mask), &meaning(&after, mask))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn portable_payloads_through_every_generation((from, doc) in every_room(true)) {
        comes_back(from, &doc)?;
    }

    #[test]
    fn no_loss_is_silent((from, doc) in every_room(false)) {
        losses_are_said(from, &doc)?;
    }
}

/// A document with `count` rows in every list, and every number as long as possible.
fn longest_rows(count: usize, columns: bool) -> Doc {
    let rows: Vec<usize> = (0..count).collect();
    let value = |row: usize| match row % 6 {
        0 => Val::Int(i64::MIN),
        1 => Val::str("text"),
        2 => Val::Bool(true),
        3 => Val::Double(-0.0),
        4 => Val::Bytes(vec![0xff; 200]),
        _ => Val::Array(vec![Val::Int(-1), Val::Map(vec![("k".into(), Val::Empty)])]),
    };
    // Every key has two units. Where units belong to keys, half of the attributes lose theirs.
    let attribute = |row: usize| doc::Attribute {
        key: format!("key {}", row % count.max(1)),
        value: value(row),
        unit: format!("unit {}", row / count.max(1)),
    };
    let tables = doc::Tables {
        attributes: (0..2 * count).map(attribute).collect(),
        functions: vec![doc::Function {
            names: ["name", "system name", "file name"].map(str::to_owned),
            start_line: i64::MIN,
        }],
        mappings: vec![doc::Mapping {
            range: [u64::MAX - 1, u64::MAX, u64::MAX],
            filename: "binary".to_owned(),
            build_id: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            flags: 15,
            attributes: rows.clone(),
        }],
        locations: vec![doc::Location {
            mapping: Some(0),
            address: u64::MAX - 1,
            lines: vec![(Some(0), i64::MIN, -1); count],
            folded: true,
            frame_type: "jvm".to_owned(),
            attributes: rows.clone(),
        }],
        stacks: vec![vec![0; count]],
        links: vec![([0xff; 16], [0xff; 8])],
        ..Default::default()
    };
    let sample = |first: usize| doc::Sample {
        stack: Some(0),
        attributes: (first..first + count).collect(),
        link: Some(0),
        values: vec![i64::MIN; if columns { 1 } else { count }],
        times: (0..count as u64).rev().map(|at| u64::MAX - at).collect(),
        ..Default::default()
    };
    let profile = doc::Profile {
        id: [0xff; 16],
        types: vec![doc::Type { name: "cpu".to_owned(), unit: "ns".to_owned(), temporality: 0 }],
        period: i64::MIN,
        samples: vec![sample(0), sample(count)],
        ..Default::default()
    };
    let scope = doc::Scope { profiles: vec![profile], ..Default::default() };
    let resource = doc::Resource { scopes: vec![scope], ..Default::default() };
    Doc { resources: vec![resource], tables }
}

#[test]
fn the_longest_rows_are_written_whole() {
    for from in FORMS {
        for count in [1, 2, 7, 40] {
            let doc = longest_rows(count, from.caps.columns);
            losses_are_said(from.name, &doc).unwrap_or_else(|error| panic!("{count}: {error}"));
            let model = read(from.name, &(from.lower)(&doc));
            for to in FORMS {
                let there = write(to.name, &model).0;
                let raised = (to.raise)(&there).expect("prost decodes what we write");
                let ours = doc_of(&read(to.name, &there));
                let mask = Mask::default();
                let what = format!("{count} from {} to {}", from.name, to.name);
                same(&what, &meaning(&raised, mask), &meaning(&ours, mask))
                    .unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

/// The pprofs of each scope alone, and of all scopes together.
fn alone_and_together(from: &str, doc: &Doc) -> Result<(), TestCaseError> {
    let pprofs = |doc: &Doc, apart: bool| {
        let mut model = read(from, &(form(from).lower)(doc));
        if apart {
            model.compact();
        }
        let written = otlp_profiles::write_all(&model, Format::PPROF, &WriteOptions::default());
        written.map(|(payloads, losses)| {
            let decoded = payloads.iter().map(|bytes| pprof::Profile::decode(&bytes[..]).unwrap());
            (decoded.map(|profile| support::pprof::meaning(&profile)).collect::<Vec<_>>(), losses)
        })
    };
    let Ok((together, losses)) = pprofs(doc, false) else { return Ok(()) };
    if together.len() < 2 || codes(&losses).contains(&"mapping.main_assumed") {
        return Ok(());
    }
    let mut alone = Vec::new();
    for resource in &doc.resources {
        for scope in &resource.scopes {
            let resource = doc::Resource { scopes: vec![scope.clone()], ..resource.clone() };
            let one = Doc { resources: vec![resource], ..doc.clone() };
            let Ok((payloads, _)) = pprofs(&one, true) else { return Ok(()) };
            alone.extend(payloads);
        }
    }
    for (together, alone) in together.iter().zip(&alone) {
        same(from, alone, together)?;
    }
    prop_assert_eq!(together.len(), alone.len());
    Ok(())
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn a_profile_is_the_same_alone_and_in_company((from, doc) in every_room(false)) {
        alone_and_together(from, &doc)?;
    }
}
