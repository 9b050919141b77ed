//! Adds complete profiles to a builder: all their data is kept, and equal rows become one.
#![cfg(feature = "proto-all")]

use crate::support;

use crate::support::doc::{Doc, Mask, Profile, Resource, Scope, Type, Val, meaning, same};
use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, docs, pprofs};
use crate::support::model::doc_of;
use crate::support::sized;
use crate::support::{read, testdata, try_read, write};
use otlp_profiles::builder::{WhenFull, root_first};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Builder, ErrorKind, Limits, Profiles, ReadOptions};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

fn builder() -> Builder {
    Builder::with_limits(Limits::file(), WhenFull::Refuse)
}

/// All these profiles, added to one builder.
fn added(all: &[&Profiles]) -> Profiles {
    let mut builder = builder();
    all.iter().for_each(|profiles| builder.add(profiles).unwrap());
    builder.finish().unwrap()
}

/// The expected result: resources and scopes joined by comparing each with each.
fn joined(docs: &[&Doc]) -> Doc {
    let mut all = Doc::default();
    for resource in docs.iter().flat_map(|doc| &doc.resources) {
        let key = |resource: &Resource| {
            let mut key = Resource { scopes: Vec::new(), ..resource.clone() };
            key.attributes.sort_by(|a, b| a.0.cmp(&b.0));
            key
        };
        let there = all.resources.iter().position(|there| key(there) == key(resource));
        let row = there.unwrap_or(all.resources.len());
        if there.is_none() {
            all.resources.push(Resource { scopes: Vec::new(), ..resource.clone() });
        }
        resource.scopes.iter().for_each(|scope| join_scope(&mut all.resources[row].scopes, scope));
    }
    all
}

fn join_scope(scopes: &mut Vec<Scope>, scope: &Scope) {
    let key = |scope: &Scope| {
        let mut key = Scope { profiles: Vec::new(), ..scope.clone() };
        key.attributes.sort_by(|a, b| a.0.cmp(&b.0));
        key
    };
    // Do not join the columns of different pprofs.
    let is_free = !scope.attributes.iter().any(|(key, _)| key == "pprof.scope.sample_type_order");
    match scopes.iter_mut().find(|there| is_free && key(there) == key(scope)) {
        Some(there) => there.profiles.extend(scope.profiles.iter().cloned()),
        None => scopes.push(scope.clone()),
    }
}

/// Converts profiles to a document that includes their tables, so that documents can be concatenated.
fn with_tables(profiles: &Profiles) -> Doc {
    let mut doc = doc_of(profiles);
    let scopes = doc.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        profile.tables = Some(doc.tables.clone());
    }
    doc
}

fn nothing_is_lost(before: &[&Profiles]) -> Result<(), TestCaseError> {
    let after = added(before);
    let docs: Vec<_> = before.iter().map(|profiles| with_tables(profiles)).collect();
    let expected = meaning(&joined(&docs.iter().collect::<Vec<_>>()), Mask::default());
    same("added", &expected, &meaning(&doc_of(&after), Mask::default()))
}

/// Recorded profiles of every format, and those of the corpus if it is present.
fn recorded() -> Vec<(String, Profiles)> {
    let mut files = testdata(&[".pb", ".pb.gz", ".binpb"]);
    let corpus = support::files::corpus_files().into_iter();
    files.extend(corpus.map(|(name, path)| (name, std::fs::read(path).unwrap())));
    let options = ReadOptions::default().limits(Limits::file());
    let read = |(name, bytes): (String, Vec<u8>)| {
        Some((name, otlp_profiles::read(&bytes, &options).ok()?.profiles))
    };
    files.into_iter().filter_map(read).collect()
}

/// Counts the non-empty rows of each table. Unreferenced rows are kept.
fn rows(profiles: &Profiles) -> [usize; 7] {
    let dictionary = profiles.dictionary();
    let functions = dictionary.functions().iter();
    [
        dictionary.strings().len(),
        dictionary.mappings().rows().len(),
        functions.filter(|function| **function != Default::default()).count(),
        dictionary.locations().len(),
        dictionary.links().len(),
        dictionary.attributes().len(),
        dictionary.stacks().len(),
    ]
}

#[test]
fn recorded_profiles_come_out_as_they_came_in() {
    let files = recorded();
    assert!(files.len() > 15, "{}", files.len());
    for (name, profiles) in files {
        let after = added(&[&profiles]);
        nothing_is_lost(&[&profiles]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(rows(&after), rows(&profiles), "{name}");
        let strings = |profiles: &Profiles| profiles.dictionary().strings().clone();
        assert!(strings(&after) == strings(&profiles), "{name}");
    }
}

#[test]
fn two_recorded_payloads_become_one_that_says_what_both_say() {
    let files = recorded();
    for pair in files.windows(2) {
        let [(one, first), (other, second)] = pair else { continue };
        let result = nothing_is_lost(&[first, second]);
        result.unwrap_or_else(|error| panic!("{one} and {other}: {error}"));
    }
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn whatever_a_generation_says_is_kept(
        documents in prop::collection::vec(0..FORMS.len(), 1..4).prop_flat_map(|forms| {
            let document = |form: usize| {
                docs(Room { caps: FORMS[form].caps, portable: false }).prop_map(move |doc| (form, doc))
            };
            forms.into_iter().map(document).collect::<Vec<_>>()
        }),
    ) {
        let payloads = documents.iter().map(|(form, doc)| (FORMS[*form].name, (FORMS[*form].lower)(doc)));
        let profiles: Vec<_> = payloads.filter_map(|(name, bytes)| try_read(name, &bytes).ok()).collect();
        nothing_is_lost(&profiles.iter().collect::<Vec<_>>())?;
    }

    #[test]
    fn whatever_a_pprof_says_is_kept(profile in pprofs()) {
        let before = read("pprof", &profile.encode_to_vec());
        let after = added(&[&before]);
        nothing_is_lost(&[&before])?;
        // The result equals the input in its own format, including unreferenced mappings.
        let said = |profiles| {
            let (bytes, _) = write("pprof", profiles);
            let pprof = otlp_profiles::proto::pprof::Profile::decode(&bytes[..]);
            let mut said = support::pprof::meaning(&pprof.expect("a pprof that prost decodes"));
            said.retain(|line| line != "mapping 0 0 0 (\"\", \"\") [false, false, false, false]");
            said
        };
        same("pprof", &said(&before), &said(&after))?;
    }
}

/// A payload with this number of resources, scopes per resource and profiles per scope.
fn payload(resources: usize, scopes: usize, profiles: usize) -> Profiles {
    let name = |at: usize| vec![("at".to_owned(), Val::Int(at as i64))];
    let kind = Type { name: "cpu".into(), unit: "nanoseconds".into(), ..Type::default() };
    let profile = Profile { types: vec![kind], ..Profile::default() };
    let profiles = |_: usize| vec![profile.clone(); profiles];
    let scope = |at| Scope { attributes: name(at), profiles: profiles(at), ..Scope::default() };
    let resource = |at| Resource {
        attributes: name(at),
        scopes: (0..scopes).map(scope).collect(),
        ..Resource::default()
    };
    let doc = Doc { resources: (0..resources).map(resource).collect(), ..Doc::default() };
    let options = support::options("otlp").limits(Limits::file());
    otlp_profiles::read(&(form("otlp").lower)(&doc), &options).unwrap().profiles
}

/// Must not take time quadratic in their number, or this test would not finish.
#[test]
fn a_hundred_thousand_resources_scopes_and_profiles_are_added() {
    let many = sized(100_000);
    for [resources, scopes, profiles] in [[many, 1, 1], [1, many, 1], [1, 1, many]] {
        let payload = payload(resources, scopes, profiles);
        let all = added(&[&payload, &payload]);
        assert_eq!(all.resource_profiles().len(), resources);
        assert_eq!(all.resource_profiles()[0].scope_profiles().len(), scopes);
        assert_eq!(all.iter().count(), 2 * many);
        assert_eq!(rows(&all), rows(&payload));
    }
}

#[test]
fn a_builder_declares_a_hundred_thousand_resources_scopes_and_profiles() {
    let mut builder = builder();
    let many = sized(100_000);
    for at in 0..many as i64 {
        builder.resource().attr("at", at);
        builder.scope("profiler").version("1");
        let cpu = builder.profile("cpu", "nanoseconds");
        builder.sample(cpu, root_first(["main"])).value(1);
    }
    let (mut all, mut other) = (self::builder(), self::builder());
    other.merge(&builder);
    other.merge(&builder);
    assert_eq!(builder.finish_interval().unwrap().resource_profiles().len(), many);
    assert_eq!(builder.finish_interval().unwrap().resource_profiles().len(), 0);
    let merged = other.finish().unwrap();
    assert_eq!(merged.resource_profiles().len(), many);
    assert_eq!(merged.iter().next().unwrap().samples().get(0).unwrap().values, [2]);
    all.add(&merged).unwrap();
    assert!(all.finish().unwrap() == merged);
}

/// A small payload with every kind of data of a resource and a scope.
fn small(order: [usize; 2], schema_url: &str) -> Profiles {
    let pairs = [("a".to_owned(), Val::Int(1)), ("b".to_owned(), Val::str("x"))];
    let attributes: Vec<_> = order.iter().map(|&at| pairs[at].clone()).collect();
    let profile = Profile { id: [7; 16], time: 5, ..Profile::default() };
    let scope = Scope {
        name: "s".into(),
        attributes: attributes.clone(),
        profiles: vec![profile],
        ..Scope::default()
    };
    let resource = Resource {
        attributes,
        schema_url: schema_url.into(),
        scopes: vec![scope],
        ..Resource::default()
    };
    let doc = Doc { resources: vec![resource], ..Doc::default() };
    read("otlp", &(form("otlp").lower)(&doc))
}

#[test]
fn equal_resources_and_scopes_become_one_whatever_the_order_of_their_attributes() {
    let (one, other) = (small([0, 1], "url"), small([1, 0], "url"));
    let both = added(&[&one, &other]);
    let [resource] = both.resource_profiles() else { panic!("{both:?}") };
    let [scope] = resource.scope_profiles() else { panic!("{both:?}") };
    assert_eq!(scope.profiles().len(), 2, "appended, though they are the same");
    assert_eq!(added(&[&one, &small([0, 1], "elsewhere")]).resource_profiles().len(), 2);
}

/// Batches the heap profiles of one service. When read from OTLP, each contains the columns of its profiles.
#[test]
fn columns_of_several_pprofs_come_back_as_they_were() {
    let [(_, heap)] = &testdata(&["go-heap.pb.gz"])[..] else { panic!() };
    let pprof = read("pprof", heap);
    let types = |profiles: &Profiles| {
        let profile = profiles.iter().next().unwrap();
        let names = profile.sample_types().iter().map(|kind| profiles.dictionary().text(kind.name));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let otlp = read("otlp-1.10", &write("otlp-1.10", &pprof).0);
    let options = otlp_profiles::WriteOptions::default();
    let both = added(&[&otlp, &otlp]);
    let (payloads, losses) =
        otlp_profiles::write_all(&both, otlp_profiles::Format::PPROF, &options).unwrap();
    assert!(losses.get("scope.bad_sample_type_order").is_none());
    assert_eq!(payloads.len(), 2);
    for payload in &payloads {
        assert_eq!(types(&read("pprof", payload)), types(&pprof));
    }
}

#[test]
fn what_is_added_stands_behind_what_is_built_in_the_same_scope() {
    let mut builder = Builder::new();
    builder.resource().attr("b", "x").attr("a", 1).schema_url("url");
    builder.scope("s").attr("a", 1).attr("b", "x");
    builder.add(&small([0, 1], "url")).unwrap();
    let cpu = builder.profile("cpu", "nanoseconds");
    builder.sample(cpu, root_first(["main"])).value(1);
    let sealed = builder.finish_interval().unwrap();
    assert_eq!(sealed.resource_profiles().len(), 1);
    let profiles: Vec<_> = sealed.iter().map(|profile| profile.samples().len()).collect();
    assert_eq!(profiles, [1, 0]);
    drop(sealed);
    // Added profiles belong to one interval.
    assert_eq!(*builder.finish_interval().unwrap(), Profiles::default());
}

#[test]
fn merging_passes_on_what_was_added_and_drops_what_nothing_needs() {
    let file = &testdata(&["go-heap.pb.gz"])[0].1;
    let heap = read("pprof", file);
    let mut worker = Builder::new();
    worker.string("nobody needs this");
    worker.add(&heap).unwrap();
    let mut all = Builder::new();
    all.merge(&worker);
    let all = all.finish().unwrap();
    assert_eq!(rows(&all), rows(&heap));
    assert_eq!(write("pprof", &all), write("pprof", &heap));
}

#[test]
fn what_does_not_fit_is_an_error_and_leaves_nothing_behind() {
    let file = &testdata(&["go-heap.pb.gz"])[0].1;
    let heap = read("pprof", file);
    let limits = [
        (Limits::network().max_samples(10), "max_samples"),
        (Limits::network().max_strings(10), "max_strings"),
        (Limits::network().max_owned_bytes(8_000), "max_owned_bytes"),
    ];
    for (limits, name) in limits {
        for when_full in [WhenFull::Refuse, WhenFull::Drop] {
            let mut builder = Builder::with_limits(limits, when_full);
            let cpu = builder.profile("cpu", "nanoseconds");
            builder.sample(cpu, root_first(["main"])).value(1);
            let owned = builder.owned_bytes();
            let error = builder.add(&heap).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert_eq!(error.limit(), Some(name), "{error}");
            assert_eq!(builder.owned_bytes(), owned, "{name}");
            builder.sample(cpu, root_first(["main"])).value(1);
            let profiles = builder.finish().unwrap();
            assert_eq!(profiles.iter().count(), 1);
            assert_eq!(profiles.dictionary().strings().iter().collect::<Vec<_>>().len(), 4);
        }
    }
}

#[test]
fn what_fits_is_added_after_what_does_not() {
    let [heap, cpu] =
        ["go-heap.pb.gz", "go-cpu-labels.pb.gz"].map(|name| read("pprof", &testdata(&[name])[0].1));
    let alone = added(&[&cpu]);
    // The limits allow either payload, but not half of the other in addition.
    let strings = cpu.dictionary().strings().len().max(heap.dictionary().strings().len()) as u64;
    let rows = cpu.dictionary().stacks().len().max(cpu.dictionary().locations().len()) as u64;
    for limits in [
        Limits::file().max_strings(strings),
        Limits::file().max_table_entries(rows),
        Limits::file().max_samples(cpu.iter().map(|profile| profile.samples().len() as u64).sum()),
    ] {
        let mut builder = Builder::with_limits(limits, WhenFull::Refuse);
        builder.add(&cpu).unwrap();
        while builder.add(&heap).is_ok() {}
        assert_eq!(write("pprof", &builder.finish().unwrap()), write("pprof", &alone));

        let mut builder = Builder::with_limits(limits, WhenFull::Refuse);
        let owned = builder.owned_bytes();
        if builder.add(&heap).is_err() {
            assert_eq!(builder.owned_bytes(), owned);
            assert_eq!(builder.clone().finish().unwrap(), Profiles::default());
            builder.add(&cpu).unwrap();
            assert_eq!(write("pprof", &builder.finish().unwrap()), write("pprof", &alone));
        }
    }
}
