//! Compares with prost in both directions: the crate reads prost's encoding with the same meaning, and prost
//! decodes the crate's output and would encode it to the same bytes. On broken bytes both agree, except for listed
//! differences.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::doc::{Doc, Mask, meaning, same};
use crate::support::forms::{FORMS, Form, form};
use crate::support::generate::{Room, Tape, docs, pprofs, tapes};
use crate::support::model::doc_of;
use crate::support::{codes, read, try_read, write};
use otlp_profiles::ErrorKind;
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Compares a payload of a generation with the crate's reading and writing of it.
fn agrees(form: &Form, doc: &Doc) -> Result<(), TestCaseError> {
    let name = form.name;
    let bytes = (form.lower)(doc);
    let prost = (form.raise)(&bytes).expect("prost decodes what it encoded");
    let said = meaning(&prost, Mask::default());
    let model = read(name, &bytes);
    let ours = doc_of(&model);
    same(&format!("{name} as read"), &said, &meaning(&ours, Mask::default()))?;
    let (written, losses) = write(name, &model);
    let harmless = ["mapping.build_id_guess", "temporality.assumed", "orphan.dropped"];
    let codes: Vec<_> =
        codes(&losses).into_iter().filter(|code| !harmless.contains(code)).collect();
    prop_assert_eq!(codes, Vec::<&str>::new(), "{} to itself", name);
    let again = (form.raise)(&written).expect("prost decodes what we write");
    same(&format!("{name} as written"), &said, &meaning(&again, Mask::default()))?;
    // Standard form: fields in order, packed, the shortest varints, no defaults.
    prop_assert_eq!(
        &(form.again)(&written).expect("prost decodes what we write"),
        &written,
        "{} as prost writes it",
        name
    );
    // If row 0 is the empty row, the other tables keep their rows and order.
    if !form.caps.units_by_key {
        let tables = [&prost.tables, &again.tables]
            .map(|t| (t.stacks.clone(), t.links.clone(), t.functions.clone(), t.said_locations()));
        prop_assert_eq!(&tables[0], &tables[1], "{}", name);
        // Unreferenced attributes may be missing if others became fields.
        let mut source = prost.tables.attributes.iter();
        let in_order = again.tables.attributes.iter().all(|row| source.any(|before| before == row));
        prop_assert!(in_order, "{}: {:?}", name, again.tables.attributes);
        if !form.caps.comments {
            prop_assert_eq!(
                prost.tables.attributes.len(),
                again.tables.attributes.len(),
                "{}",
                name
            );
        }
    }
    // Writing reaches a fixed point: at once, or the second time if every profile has tables.
    let again = |bytes: &[u8]| write(name, &read(name, bytes)).0;
    let second = again(&written);
    prop_assert_eq!(&again(&second), &second, "{} written three times", name);
    if form.caps.entities {
        prop_assert_eq!(&second, &written, "{} written twice", name);
    }
    Ok(())
}

fn every_room() -> impl Strategy<Value = (usize, Doc)> {
    (0..FORMS.len()).prop_flat_map(|at| {
        docs(Room { caps: FORMS[at].caps, portable: false }).prop_map(move |doc| (at, doc))
    })
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn every_generation_is_read_and_written_as_prost_means_it((at, doc) in every_room()) {
        agrees(&FORMS[at], &doc)?;
    }

    #[test]
    fn pprof_is_written_in_standard_form(profile in pprofs()) {
        standard_form(&profile)?;
    }

    /// Mutated bytes: prost and the crate reject the same, except for the documented differences.
    #[test]
    fn broken_bytes_are_refused_by_both((at, doc) in every_room(), numbers in tapes()) {
        let form = &FORMS[at];
        let mut bytes = (form.lower)(&doc);
        mutate(&mut bytes, &mut Tape::new(numbers));
        verdicts_agree(form.name, &bytes, (form.again)(&bytes))?;
    }

    #[test]
    fn broken_pprof_is_refused_by_both(profile in pprofs(), numbers in tapes()) {
        let mut bytes = profile.encode_to_vec();
        mutate(&mut bytes, &mut Tape::new(numbers));
        let prost = pprof::Profile::decode(&bytes[..]).map(|profile| profile.encode_to_vec());
        verdicts_agree("pprof", &bytes, prost)?;
    }
}

/// prost would write the same bytes, ids count from 1, and writing reaches a fixed point: it groups labels by key
/// the first time, sorts strings by use the second time, and then changes nothing.
fn standard_form(profile: &pprof::Profile) -> Result<(), TestCaseError> {
    let (written, _) = write("pprof", &read("pprof", &profile.encode_to_vec()));
    let decoded = pprof::Profile::decode(&written[..]).expect("prost decodes what we write");
    prop_assert_eq!(decoded.encode_to_vec(), &written[..]);
    prop_assert!(decoded.location.iter().map(|l| l.id).eq(1..=decoded.location.len() as u64));
    prop_assert!(decoded.function.iter().map(|f| f.id).eq(1..=decoded.function.len() as u64));
    let again = |bytes: &[u8]| write("pprof", &read("pprof", bytes)).0;
    let second = again(&written);
    prop_assert_eq!(&again(&second), &second, "written three times");
    Ok(())
}

/// Changes, inserts or removes one to three bytes.
fn mutate(bytes: &mut Vec<u8>, tape: &mut Tape) {
    for _ in 0..1 + tape.below(3) {
        let at = tape.below(bytes.len());
        match tape.below(4) {
            0 if at < bytes.len() => bytes[at] ^= 1 << tape.below(8),
            1 if at < bytes.len() => bytes[at] = tape.number() as u8,
            2 if at < bytes.len() => _ = bytes.remove(at),
            3 => bytes.truncate(at),
            _ => bytes.insert(at, tape.number() as u8),
        }
    }
}

/// Compares the verdicts on broken bytes. The differences:
///
/// * The crate rejects payloads that prost accepts: references out of range, a first row that is not empty, values
///   that fit neither types nor times, ids of a wrong length, repeated times (their meaning is broken), and tags of
///   more than five bytes.
/// * prost rejects payloads that the crate accepts: a string of pprof that is not UTF-8, and values or groups
///   nested deeper than its limit of 100.
fn verdicts_agree(
    name: &str,
    bytes: &[u8],
    prost: Result<Vec<u8>, otlp_profiles::proto::prost::DecodeError>,
) -> Result<(), TestCaseError> {
    let ours = try_read(name, bytes);
    match (&ours, &prost) {
        (Ok(_), Err(error)) => {
            let known = name == "pprof" && error.to_string().contains("UTF-8")
                || error.to_string().contains("recursion limit");
            prop_assert!(known, "{} refused by prost alone: {} {:02x?}", name, error, bytes);
        }
        (Err(error), Ok(_)) => {
            prop_assert!(
                error.kind() != ErrorKind::Malformed || is_meaning(error.message()),
                "{} refused by us alone: {} {:02x?}",
                name,
                error,
                bytes
            );
        }
        _ => {}
    }
    Ok(())
}

/// Whether an error concerns the meaning of the bytes, and not their encoding.
pub(crate) fn is_meaning(message: &str) -> bool {
    const MEANINGS: [&str; 21] = [
        "out of range",
        "attribute indices past the table",
        "slice ends at",
        "slice is negative",
        "negative index",
        "exceeds 32 bits",
        "more than 32 bits",
        "values, expected",
        "values for",
        "row 0 must be empty",
        "string 0 must be empty",
        "string table is empty",
        "bytes, expected",
        "no function has",
        "no location has",
        "no mapping has",
        "occurs twice",
        "duplicate id",
        "id must not be 0",
        "and no sample type",
        "starts a second time",
    ];
    MEANINGS.iter().any(|meaning| message.contains(meaning))
}

/// Tests the harness: a document survives the conversion to prost's types and back.
#[test]
fn forms_say_what_they_are_given() {
    for seed in 0..200u32 {
        let numbers = (0..600)
            .map(|at| (seed * 7919 + at + 1).wrapping_mul(2_654_435_761))
            .collect::<Vec<u32>>();
        for form in FORMS {
            let doc = support::generate::doc(
                &mut Tape::new(numbers.clone()),
                Room { caps: form.caps, portable: true },
            );
            let raised = (form.raise)(&(form.lower)(&doc)).unwrap();
            let mask = Mask::default();
            assert_eq!(meaning(&doc, mask), meaning(&raised, mask), "{}", form.name);
        }
    }
    assert!(form("otlp-1.10").caps.entities);
}

proptest! {
    #![proptest_config(support::generate::config())]

    /// A string that a payload has both in its table and in place becomes one row of a written table.
    #[test]
    fn no_string_is_written_twice(tape in tapes(), form in 0..FORMS.len()) {
        let form = &FORMS[form];
        let room = Room { caps: form.caps, portable: false };
        let mut doc = support::generate::doc(&mut Tape::new(tape), room);
        doc.tables.repeat_strings = false;
        let model = read(form.name, &(form.lower)(&doc));
        let (written, _) = write("otlp-1.10", &model);
        let written = otlp_profiles::proto::v1_10::ProfilesData::decode(&written[..]).unwrap();
        let strings = written.dictionary.unwrap_or_default().string_table;
        let distinct: std::collections::HashSet<_> = strings.iter().collect();
        prop_assert_eq!(distinct.len(), strings.len(), "{}: {:?}", form.name, strings);
    }
}
