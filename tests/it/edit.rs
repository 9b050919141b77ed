//! Compares edits of real and random profiles with the same edits of plain data, which use no code of the crate.
//! Edits change nothing else.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::doc::{self, Doc, Mask, Val, difference, meaning};
use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, docs};
use crate::support::model::doc_of;
use crate::support::{kept, read, testdata, write};
use crate::support::{sized, some};
use otlp_profiles::model::{AttributeOwner, StringField};
use otlp_profiles::proto::pprof;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Format, Limits, Profiles};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Every profile of testdata, unchanged and converted through every format.
fn every_form() -> impl Iterator<Item = (String, Profiles)> {
    testdata(&[".pb", ".pb.gz", ".binpb"]).into_iter().flat_map(|(name, bytes)| {
        let format = match &*name {
            name if name.starts_with("otlp-1.3") => "otlp-1.3",
            name if name.ends_with(".binpb") => "otlp",
            _ => "pprof",
        };
        let model = read(format, &bytes);
        let through: Vec<_> = ["otlp-1.3", "otlp-1.7", "otlp"]
            .into_iter()
            .map(|to| (format!("{name} as {to}"), read(to, &write(to, &model).0)))
            .collect();
        [(name, model)].into_iter().chain(through)
    })
}

/// An edit: its name, the edit of the model, and the same edit of plain data.
type Case = (&'static str, fn(&mut Profiles, &str), fn(&mut Doc, &str));

/// All edits. Their string argument is a key that some attribute has.
const CASES: &[Case] = &[
    (
        "a label is dropped",
        |profiles, key| {
            edit(profiles, AttributeOwner::Sample, |labels| {
                labels.remove(key);
            });
        },
        |doc, key| {
            each_list(doc, AttributeOwner::Sample, |list| list.retain(|(other, ..)| other != key))
        },
    ),
    (
        "a key is dropped everywhere",
        |profiles, key| {
            for owner in AttributeOwner::ALL {
                edit(profiles, owner, |attributes| attributes.retain(|one| one.key != key));
            }
        },
        |doc, key| {
            for owner in AttributeOwner::ALL {
                each_list(doc, owner, |list| list.retain(|(other, ..)| other != key));
            }
        },
    ),
    (
        "a value is hidden",
        |profiles, key| {
            for owner in AttributeOwner::ALL {
                edit(profiles, owner, |attributes| {
                    if attributes.get(key).is_some() {
                        attributes.set(key, "redacted");
                    }
                });
            }
        },
        |doc, key| {
            for owner in AttributeOwner::ALL {
                each_list(doc, owner, |list| {
                    for one in list.iter_mut().filter(|(other, ..)| other == key) {
                        (one.1, one.2) = (Val::str("redacted"), String::new());
                    }
                });
            }
        },
    ),
    (
        "a key is renamed",
        |profiles, key| {
            for owner in AttributeOwner::ALL {
                edit(profiles, owner, |attributes| {
                    attributes.rename(key, "renamed");
                });
            }
        },
        |doc, key| {
            for resource in &mut doc.resources {
                let has = resource.attributes.iter().any(|(other, _)| other == key);
                let entities = resource.entities.iter_mut().filter(|_| has);
                for name in entities.flat_map(|(.., ids, more)| ids.iter_mut().chain(more)) {
                    if name == key {
                        *name = "renamed".into();
                    }
                }
            }
            for owner in AttributeOwner::ALL {
                each_list(doc, owner, |list| {
                    for one in list.iter_mut().filter(|(other, ..)| other == key) {
                        one.0 = "renamed".into();
                    }
                });
            }
        },
    ),
    (
        "a number is set on everything",
        |profiles, _| {
            for owner in AttributeOwner::ALL {
                edit(profiles, owner, |attributes| attributes.set("added", 7));
            }
        },
        |doc, _| {
            for owner in AttributeOwner::ALL {
                each_list(doc, owner, |list| {
                    list.push(("added".into(), Val::Int(7), String::new()))
                });
            }
        },
    ),
    (
        "functions and files are renamed",
        |profiles, _| {
            let names = [
                StringField::FunctionName,
                StringField::FunctionSystemName,
                StringField::FunctionFilename,
            ];
            profiles.rewrite_strings(&names, |name| Some(format!("new/{name}"))).unwrap();
            profiles
                .rewrite_strings(&[StringField::MappingFilename], |_| Some("binary".into()))
                .unwrap();
        },
        |doc, _| {
            let names = doc.tables.functions.iter_mut().flat_map(|function| &mut function.names);
            for name in names.filter(|name| !name.is_empty()) {
                *name = format!("new/{name}");
            }
            for mapping in &mut doc.tables.mappings {
                if !mapping.filename.is_empty() {
                    mapping.filename = "binary".into();
                }
            }
        },
    ),
    (
        "types are renamed",
        |profiles, _| {
            let rename = |text: &str| Some(text.to_uppercase());
            let names = [
                StringField::SampleTypeName,
                StringField::SampleTypeUnit,
                StringField::PeriodTypeName,
            ];
            profiles.rewrite_strings(&names, rename).unwrap();
            profiles.rewrite_strings(&[StringField::ScopeName], |_| Some(String::new())).unwrap();
        },
        |doc, _| {
            for scope in doc.resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
                scope.name = String::new();
                for (key, value) in &mut scope.attributes {
                    if let (true, Val::Str(text)) =
                        (key == "pprof.scope.default_sample_type", value)
                    {
                        *text = text.to_uppercase();
                    }
                }
            }
            for attribute in &mut doc.tables.attributes {
                if let ("pprof.profile.default_sample_type", Val::Str(text)) =
                    (&*attribute.key, &mut attribute.value)
                {
                    *text = text.to_uppercase();
                }
            }
            for profile in profiles_of(doc) {
                for kind in &mut profile.types {
                    (kind.name, kind.unit) = (kind.name.to_uppercase(), kind.unit.to_uppercase());
                }
                profile.default = profile.default.to_uppercase();
                profile.period_type.name = profile.period_type.name.to_uppercase();
            }
        },
    ),
    (
        "samples of a key are kept",
        |profiles, key| {
            profiles.retain_samples(|entry, sample| {
                entry.dictionary().resolve(sample.attributes).get(key).is_some()
            });
        },
        |doc, key| {
            let Doc { resources, tables } = doc;
            let has = |row: &usize| tables.attributes[*row].key == key;
            for scope in resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
                for profile in &mut scope.profiles {
                    profile.samples.retain(|sample| sample.attributes.iter().any(has));
                }
            }
        },
    ),
    (
        "resources of a key are dropped",
        |profiles, key| profiles.retain_resources(|resource| resource.get(key).is_none()),
        |doc, key| doc.resources.retain(|one| one.attributes.iter().all(|(other, _)| other != key)),
    ),
    (
        "profiles with samples are kept",
        |profiles, _| profiles.retain_profiles(|entry| !entry.profile().samples().is_empty()),
        |doc, _| keep_profiles(doc, |profile| !profile.samples.is_empty()),
    ),
    (
        "the last sample type is dropped",
        |profiles, _| {
            profiles.retain_sample_types(|entry, kind| {
                entry.profile().sample_types().last() != Some(&kind)
            });
        },
        |doc, _| {
            for profile in profiles_of(doc) {
                let Some(last) = profile.types.last().cloned() else { continue };
                let keep: Vec<bool> = profile.types.iter().map(|kind| *kind != last).collect();
                if !keep.contains(&true) {
                    // Mark the profile for removal.
                    profile.types =
                        vec![doc::Type { name: "gone".into(), ..Default::default() }; 99];
                    continue;
                }
                for sample in &mut profile.samples {
                    let mut keep = keep.iter();
                    sample.values.retain(|_| *keep.next().unwrap());
                }
                if profile.default == last.name
                    && profile
                        .types
                        .iter()
                        .zip(&keep)
                        .all(|(kind, keep)| !keep || kind.name != last.name)
                {
                    profile.default = String::new();
                }
                let mut keep = keep.iter();
                profile.types.retain(|_| *keep.next().unwrap());
            }
            keep_profiles(doc, |profile| profile.types.len() != 99);
        },
    ),
];

fn edit(
    profiles: &mut Profiles,
    owner: AttributeOwner,
    edit: impl FnMut(&mut otlp_profiles::model::AttributesMut<'_>),
) {
    profiles.edit_attributes(owner, edit).expect("tables have room");
}

fn profiles_of(doc: &mut Doc) -> impl Iterator<Item = &mut doc::Profile> {
    let scopes = doc.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    scopes.flat_map(|scope| &mut scope.profiles)
}

/// Keeps some profiles, and the scopes and resources that keep some or had none. The order of sample types is
/// updated.
fn keep_profiles(doc: &mut Doc, keep: impl Fn(&doc::Profile) -> bool) {
    for resource in &mut doc.resources {
        let had_scopes = !resource.scopes.is_empty();
        for scope in &mut resource.scopes {
            let kept: Vec<bool> = scope.profiles.iter().map(&keep).collect();
            let order =
                scope.attributes.iter_mut().find(|(key, _)| key == "pprof.scope.sample_type_order");
            if let Some((_, Val::Array(order))) = order
                && kept.contains(&false)
            {
                let column = |val: &Val| {
                    if let Val::Int(column) = val { *column } else { panic!("{val:?}") }
                };
                let left: Vec<i64> = order
                    .iter()
                    .zip(&kept)
                    .filter(|(_, kept)| **kept)
                    .map(|(val, _)| column(val))
                    .collect();
                let rank = |one: &i64| left.iter().filter(|other| *other < one).count();
                *order = left.iter().map(|one| Val::Int(rank(one) as i64)).collect();
            }
            let mut kept = kept.into_iter();
            let had = !scope.profiles.is_empty();
            scope.profiles.retain(|_| kept.next().unwrap());
            if had && scope.profiles.is_empty() {
                scope.name = "gone".into();
            }
        }
        resource.scopes.retain(|scope| scope.name != "gone");
        if had_scopes && resource.scopes.is_empty() {
            resource.schema_url = "gone".into();
        }
    }
    doc.resources.retain(|resource| resource.schema_url != "gone");
}

type Pair = (String, Val, String);

/// Changes every attribute list of an owner, as keys, values and units.
fn each_list(doc: &mut Doc, owner: AttributeOwner, mut change: impl FnMut(&mut Vec<Pair>)) {
    let Doc { resources, tables } = doc;
    let rows = &mut tables.attributes;
    let mut ids = |list: &mut Vec<usize>| {
        let said = |row: &usize| {
            let doc::Attribute { key, value, unit } = rows[*row].clone();
            (key, value, unit)
        };
        let mut pairs: Vec<Pair> = list.iter().map(said).collect();
        change(&mut pairs);
        *list = (rows.len()..rows.len() + pairs.len()).collect();
        rows.extend(pairs.into_iter().map(|(key, value, unit)| doc::Attribute {
            key,
            value,
            unit,
        }));
    };
    match owner {
        AttributeOwner::Mapping => {
            tables.mappings.iter_mut().for_each(|one| ids(&mut one.attributes))
        }
        AttributeOwner::Location => {
            tables.locations.iter_mut().for_each(|one| ids(&mut one.attributes))
        }
        AttributeOwner::Profile | AttributeOwner::Sample => {
            for scope in resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
                for profile in &mut scope.profiles {
                    match owner {
                        AttributeOwner::Profile => ids(&mut profile.attributes),
                        _ => profile.samples.iter_mut().for_each(|one| ids(&mut one.attributes)),
                    }
                }
            }
        }
        AttributeOwner::Scope => {
            for scope in resources.iter_mut().flat_map(|resource| &mut resource.scopes) {
                pairs(&mut scope.attributes, &mut change);
            }
        }
        _ => {
            for doc::Resource { attributes, entities, .. } in resources {
                let had = attributes.clone();
                pairs(attributes, &mut change);
                let has = |list: &[(String, Val)], key: &String| list.iter().any(|(k, _)| k == key);
                // Entities lose removed keys, and disappear with their last identifying key.
                entities.retain_mut(|(.., ids, more)| {
                    let identified = !ids.is_empty();
                    ids.retain(|key| has(attributes, key) || !has(&had, key));
                    more.retain(|key| has(attributes, key) || !has(&had, key));
                    !identified || !ids.is_empty()
                });
            }
        }
    }
}

fn pairs(list: &mut Vec<(String, Val)>, change: &mut impl FnMut(&mut Vec<Pair>)) {
    let said = std::mem::take(list).into_iter();
    let mut pairs: Vec<Pair> = said.map(|(key, value)| (key, value, String::new())).collect();
    change(&mut pairs);
    list.extend(pairs.into_iter().map(|(key, value, _)| (key, value)));
}

/// Compares an edit of the model with that of plain data.
fn same_edit(model: &Profiles, key: &str, case: &Case) -> Result<(), TestCaseError> {
    let (name, edit, naive) = case;
    let mut expected = doc_of(model);
    naive(&mut expected, key);
    let mut edited = model.clone();
    edit(&mut edited, key);
    let said = |profiles: &Profiles| meaning(&doc_of(profiles), Mask::default());
    let expected = meaning(&expected, Mask::default());
    prop_assert_eq!(difference(&expected, &said(&edited)), None, "{} ({})", name, key);
    edited.compact();
    prop_assert_eq!(difference(&expected, &said(&edited)), None, "{} ({}), compact", name, key);
    Ok(())
}

/// Some keys of a payload, or one that it lacks.
fn keys(model: &Profiles) -> Vec<String> {
    let dictionary = model.dictionary();
    let rows = dictionary.attributes().iter().map(|row| dictionary.text(row.key).to_owned());
    let resources = model.resource_profiles().iter();
    let more =
        resources.flat_map(|resource| dictionary.resolve(resource.resource().attributes()).iter());
    let mut keys: Vec<String> = rows.chain(more.map(|one| one.key.to_owned())).collect();
    keys.retain(|key| !key.is_empty());
    keys.sort();
    keys.dedup();
    keys.truncate(2);
    if keys.is_empty() {
        keys.push("no such key".to_owned());
    }
    keys
}

#[test]
fn edits_of_recorded_profiles_change_what_they_say_alone() {
    for (name, model) in every_form() {
        let keys = keys(&model);
        for (key, case) in
            some(keys.iter().flat_map(|key| CASES.iter().map(move |case| (key, case))))
        {
            same_edit(&model, key, case).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

proptest! {
    #![proptest_config(support::generate::config())]

    #[test]
    fn edits_of_random_payloads_change_what_they_say_alone(
        (at, doc) in (0..FORMS.len()).prop_flat_map(|at| {
            let room = Room { caps: FORMS[at].caps, portable: false };
            docs(room).prop_map(move |doc| (at, doc))
        }),
        case in 0..CASES.len(),
    ) {
        let model = read(FORMS[at].name, &(FORMS[at].lower)(&doc));
        for key in keys(&model) {
            same_edit(&model, &key, &CASES[case])?;
            // The edited profiles still follow the rules that writers rely on.
            let mut edited = model.clone();
            CASES[case].1(&mut edited, &key);
            let said = |profiles: &Profiles| meaning(&doc_of(profiles), Mask::default());
            let again = read(FORMS[at].name, &write(FORMS[at].name, &edited).0);
            if kept(&write(FORMS[at].name, &edited).1) {
                prop_assert_eq!(difference(&said(&edited), &said(&again)), None);
            }
        }
    }
}

#[test]
fn an_edit_that_changes_nothing_changes_nothing() {
    for (name, model) in every_form() {
        let mut edited = model.clone();
        for owner in AttributeOwner::ALL {
            edit(&mut edited, owner, |attributes| {
                attributes.remove("no such key");
                attributes.retain(|_| true);
            });
        }
        for texts in
            [StringField::FunctionName, StringField::SampleTypeName, StringField::ScopeName]
        {
            edited.rewrite_strings(&[texts], |_| None).unwrap();
            edited.rewrite_strings(&[texts], |text| Some(text.to_owned())).unwrap();
        }
        edited.retain_resources(|_| true);
        edited.retain_profiles(|_| true);
        edited.retain_sample_types(|_, _| true);
        edited.retain_samples(|_, _| true);
        assert_eq!(edited, model, "{name}");
    }
}

type Edit = fn(&mut Profiles);

/// The columns of a pprof may be separate profiles while they are edited. In OTLP, the scope names the sample type
/// to show first.
#[test]
fn a_default_sample_type_goes_with_its_profile() {
    let [(_, allocs)] = &testdata(&["go-allocs.pb.gz"])[..] else { panic!() };
    let pprof = otlp_profiles::read(allocs, &Default::default()).unwrap().profiles;
    let written = otlp_profiles::write(&pprof, Format::OTLP_1_10, &Default::default()).unwrap();
    let otlp = otlp_profiles::read(&written.payload, &Default::default()).unwrap().profiles;
    let default = |mut profiles: Profiles, left: &str, edit: fn(&mut Profiles, &str)| {
        edit(&mut profiles, left);
        let written = otlp_profiles::write(&profiles, Format::PPROF, &Default::default()).unwrap();
        let read = otlp_profiles::read(&written.payload, &Default::default()).unwrap().profiles;
        let profile = read.iter().next().unwrap();
        read.dictionary().text(profile.default_sample_type()).to_owned()
    };
    let types: fn(&mut Profiles, &str) = |profiles, left| {
        profiles.retain_sample_types(|entry, kind| {
            entry.dictionary().text(kind.name).starts_with(left)
        });
    };
    let whole: fn(&mut Profiles, &str) = |profiles, left| {
        profiles.retain_profiles(|entry| {
            let kind = entry.profile().sample_types()[0];
            entry.dictionary().text(kind.name).starts_with(left)
        });
    };
    for edit in [types, whole] {
        // OTLP has one type a profile: that of the first one left is the default.
        assert_eq!(default(otlp.clone(), "inuse", edit), "inuse_objects");
        assert_eq!(default(otlp.clone(), "alloc", edit), "alloc_space");
    }
    assert_eq!(default(pprof, "inuse", types), "");
}

#[test]
fn an_edit_of_a_pprof_is_that_of_its_columns() {
    let edits: [(&str, Edit); 5] = [
        ("label", |profiles| {
            edit(profiles, AttributeOwner::Sample, |labels| {
                labels.retain(|label| label.key == "region")
            });
        }),
        ("samples", |profiles| {
            let mut row = 0;
            let leaf = |name: &str| name.len().is_multiple_of(2);
            profiles.retain_samples(|entry, sample| {
                row += 1;
                entry
                    .dictionary()
                    .frames(sample.stack)
                    .next()
                    .is_some_and(|frame| leaf(frame.name()))
            });
            assert!(row > 0);
        }),
        ("names", |profiles| {
            profiles
                .rewrite_strings(&[StringField::FunctionName], |name| Some(format!("{name}!")))
                .unwrap();
        }),
        ("first type", |profiles| {
            let gone = ["samples", "alloc_objects", "contentions", "sample", "objects"];
            profiles.retain_sample_types(|entry, kind| {
                !gone.contains(&entry.dictionary().text(kind.name))
            });
        }),
        ("types", |profiles| {
            profiles
                .rewrite_strings(&[StringField::SampleTypeName], |name| Some(format!("my_{name}")))
                .unwrap();
        }),
    ];
    for (name, bytes) in testdata(&[".pb", ".pb.gz"]) {
        let model = read("pprof", &bytes);
        let columns = read("otlp", &write("otlp", &model).0);
        for (what, edit) in edits {
            let said = |profiles: &Profiles| {
                let mut edited = profiles.clone();
                edit(&mut edited);
                let (bytes, _) = write("pprof", &edited);
                support::pprof::meaning(&pprof::Profile::decode(&bytes[..]).unwrap())
            };
            assert_eq!(difference(&said(&model), &said(&columns)), None, "{name}: {what}");
        }
    }
}

#[test]
fn a_dropped_label_is_dropped_from_the_pprof_and_nothing_else() {
    let (_, bytes) = testdata(&["go-cpu-labels.pb.gz"]).remove(0);
    let mut expected = pprof::Profile::decode(&bytes[..]).unwrap();
    let key = expected.string_table.iter().position(|text| text == "endpoint").unwrap() as i64;
    let labels =
        |profile: &pprof::Profile| profile.sample.iter().map(|s| s.label.len()).sum::<usize>();
    let before = labels(&expected);
    expected.sample.iter_mut().for_each(|sample| sample.label.retain(|label| label.key != key));
    assert!(labels(&expected) < before);
    let mut profiles = read("pprof", &bytes);
    edit(&mut profiles, AttributeOwner::Sample, |labels| {
        labels.remove("endpoint");
    });
    let got = pprof::Profile::decode(&write("pprof", &profiles).0[..]).unwrap();
    let said = support::pprof::meaning;
    assert_eq!(difference(&said(&expected), &said(&got)), None);
}

#[test]
fn what_was_hidden_is_nowhere_in_what_is_written() {
    let (_, bytes) = testdata(&["go-cpu-labels.pb.gz"]).remove(0);
    for format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let model = read("pprof", &bytes);
        let mut profiles = read(format.name(), &write(format.name(), &model).0);
        edit(&mut profiles, AttributeOwner::Sample, |labels| {
            if labels.get_str("endpoint").is_some() {
                labels.set("endpoint", "hidden");
            }
        });
        let names = [StringField::FunctionName, StringField::FunctionSystemName];
        profiles.rewrite_strings(&names, |name| Some(name.replace("main.", "hidden."))).unwrap();
        profiles.compact();
        let (written, _) = write(format.name(), &profiles);
        let holds = |text: &str| written.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(holds("hidden"), "{}", format.name());
        assert!(!holds("/v1/sort") && !holds("main.main"), "{}", format.name());
    }
}

/// A resource with an entity and a sample with attributes, in the newest generation.
fn small() -> Profiles {
    let attribute =
        |key: &str, value, unit: &str| doc::Attribute { key: key.into(), value, unit: unit.into() };
    let tables = doc::Tables {
        attributes: vec![
            attribute("thread", Val::str("worker"), ""),
            attribute("thread.name", Val::str("other"), ""),
            attribute("size", Val::Int(5), "By"),
            attribute("list", Val::Array(vec![Val::Int(1)]), ""),
        ],
        ..Default::default()
    };
    let sample =
        doc::Sample { attributes: vec![0, 1, 2, 3], values: vec![1], ..Default::default() };
    let profile = doc::Profile { samples: vec![sample], ..Default::default() };
    let names = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let resource = doc::Resource {
        attributes: ["service.name", "host.id", "host.name"]
            .map(|key| (key.into(), Val::str("x")))
            .to_vec(),
        entities: vec![
            ("".into(), "service".into(), names(&["service.name"]), names(&["host.name"])),
            ("".into(), "host".into(), names(&["host.id"]), names(&["host.name", "not there"])),
        ],
        scopes: vec![doc::Scope { profiles: vec![profile], ..Default::default() }],
        ..Default::default()
    };
    read("otlp", &(form("otlp").lower)(&Doc { resources: vec![resource], tables }))
}

/// The attributes of the only sample.
fn labels(profiles: &Profiles) -> String {
    let sample = profiles.iter().next().unwrap().samples().get(0).unwrap();
    let labels = profiles.dictionary().resolve(sample.attributes);
    labels.iter().map(|one| format!("{}={}{} ", one.key, one.value, one.unit)).collect()
}

#[test]
fn a_key_stands_once_whatever_is_done() {
    let mut profiles = small();
    edit(&mut profiles, AttributeOwner::Sample, |labels| {
        assert!(labels.rename("thread", "thread.name"), "it replaces what has the new key");
        assert!(!labels.rename("thread", "x") && !labels.rename("size", ""));
        assert!(labels.rename("size", "size"));
        labels.set("list", 2.5);
        labels.set("", "a key is no empty text");
        labels.set("new", true);
        labels.set("new", "text".to_owned());
        labels.set("size", 6);
        assert!(!labels.remove("thread") && labels.get("thread").is_none());
    });
    assert_eq!(labels(&profiles), "thread.name=worker size=6By list=2.5 new=text ");
    edit(&mut profiles, AttributeOwner::Sample, |labels| labels.set("size", "large"));
    assert_eq!(labels(&profiles), "thread.name=worker size=large list=2.5 new=text ", "no unit");
}

#[test]
fn entities_follow_their_keys() {
    let entities = |profiles: &Profiles| doc_of(profiles).resources[0].entities.clone();
    let keys = |(_, kind, ids, more): (String, String, Vec<String>, Vec<String>)| {
        format!("{kind}: {} | {}", ids.join(" "), more.join(" "))
    };
    let after = |change: fn(&mut otlp_profiles::model::AttributesMut<'_>)| {
        let mut profiles = small();
        edit(&mut profiles, AttributeOwner::Resource, change);
        entities(&profiles).into_iter().map(keys).collect::<Vec<_>>()
    };
    let (service, host) =
        ("service: service.name | host.name", "host: host.id | host.name not there");
    assert_eq!(after(|_| ()), [service, host]);
    let renamed = after(|resource| assert!(resource.rename("host.id", "host.ident")));
    assert_eq!(renamed, [service, "host: host.ident | host.name not there"]);
    let gone = after(|resource| assert!(resource.remove("host.id")));
    assert_eq!(gone, [service]);
    let described = after(|resource| assert!(resource.remove("host.name")));
    assert_eq!(described, ["service: service.name | ", "host: host.id | not there"]);
    let again = after(|resource| {
        resource.remove("host.id");
        resource.set("host.id", "another");
    });
    assert_eq!(again, [service, host]);
    let swapped = after(|resource| {
        resource.rename("host.id", "tmp");
        resource.rename("host.name", "host.id");
        resource.rename("tmp", "host.name");
    });
    assert_eq!(swapped, ["service: service.name | host.id", "host: host.name | host.id not there"]);
}

#[test]
fn row_0_of_no_table_gets_attributes() {
    let (_, bytes) = testdata(&["rust-heap.pb.gz"]).remove(0);
    let mut profiles = read("pprof", &bytes);
    for owner in [AttributeOwner::Location, AttributeOwner::Mapping] {
        edit(&mut profiles, owner, |attributes| attributes.set("k", "v"));
    }
    let again = read("otlp", &write("otlp", &profiles).0);
    for profiles in [profiles, again] {
        let (dictionary, mut frames) = (profiles.dictionary(), 0);
        assert!(dictionary.locations().attributes(Default::default()).is_empty());
        assert!(dictionary.mappings().attributes(Default::default()).is_empty());
        for sample in profiles.iter().flat_map(|profile| profile.samples()) {
            for frame in dictionary.frames(sample.stack) {
                assert_eq!(frame.attributes().get_str("k"), Some("v"));
                assert_eq!(frame.mapping_attributes().get_str("k"), Some("v"));
                frames += 1;
            }
        }
        assert!(frames > 0);
    }
}

#[test]
fn bytes_that_are_not_utf8_stay_what_they_were() {
    let (_, bytes) = testdata(&["go-cpu-labels.pb.gz"]).remove(0);
    // A function's name with a byte replaced, in the middle of the string table.
    let at = bytes.windows(9).position(|part| part == b"main.main").unwrap();
    let mut bytes = bytes;
    bytes[at + 8] = 0xff;
    let mut profiles = read("pprof", &bytes);
    assert_eq!(profiles.dictionary().strings().not_utf8().len(), 1);
    let names = [StringField::FunctionName, StringField::FunctionSystemName];
    // Its repaired text is a different string: rewriting that string does not rewrite the bytes.
    profiles
        .rewrite_strings(&names, |name| (name == "runtime.main").then(|| "main.mai\u{fffd}".into()))
        .unwrap();
    let (written, _) = write("pprof", &profiles);
    let holds = |text: &[u8]| written.windows(text.len()).any(|part| part == text);
    assert!(holds(b"main.mai\xff") && holds("main.mai\u{fffd}".as_bytes()));
}

#[test]
fn originals_are_forgotten_when_asked() {
    let original = ("pprof".to_owned(), b"secret".to_vec());
    let profile = doc::Profile { original, ..Default::default() };
    let scope = doc::Scope { profiles: vec![profile], ..Default::default() };
    let resources = vec![doc::Resource { scopes: vec![scope], ..Default::default() }];
    let mut profiles =
        read("otlp", &(form("otlp").lower)(&Doc { resources, ..Default::default() }));
    assert_eq!(profiles.iter().next().unwrap().original_payload().1, b"secret");
    profiles.drop_original_payloads();
    let (format, bytes) = profiles.iter().next().unwrap().original_payload();
    assert_eq!((profiles.dictionary().text(format), bytes), ("", &b""[..]));
}

#[test]
fn the_same_edit_gives_the_same_tables() {
    let name = |name: &str| doc::Function {
        names: [name.into(), name.into(), String::new()],
        start_line: 0,
    };
    let tables = doc::Tables {
        functions: (0..50).map(|at| name(&format!("f{}", at % 5))).collect(),
        repeat_strings: true,
        ..Default::default()
    };
    let model = read("otlp", &(form("otlp").lower)(&Doc { tables, ..Default::default() }));
    let edited = || {
        let mut profiles = model.clone();
        profiles
            .rewrite_strings(&[StringField::FunctionName], |name| Some(name.replace('4', "3")))
            .unwrap();
        profiles
    };
    let first = edited();
    assert!((0..20).all(|_| edited() == first));
}

/// Edits 100,000 items of each kind.
#[test]
fn edits_take_time_in_proportion() {
    let many = sized(100_000);
    let row = |row: usize| row % many;
    let attribute = |at| doc::Attribute {
        key: format!("key {at}"),
        value: Val::str(&format!("value {at}")),
        unit: String::new(),
    };
    let function = |at| doc::Function {
        names: [format!("f {at}"), String::new(), format!("file {at}")],
        start_line: 0,
    };
    let sample = |at| doc::Sample {
        attributes: vec![at, row(at + 1)],
        stack: Some(0),
        values: vec![1],
        ..Default::default()
    };
    let profile = |samples| doc::Profile {
        samples,
        types: vec![doc::Type { name: "cpu".into(), ..Default::default() }],
        ..Default::default()
    };
    let mut profiles: Vec<doc::Profile> = (0..many).map(|at| profile(vec![sample(at)])).collect();
    profiles.push(profile((0..many).map(sample).collect()));
    let numbers = (0..=many).map(|at| Val::Int((many - at) as i64)).collect();
    let keys: Vec<String> = (0..many).map(|at| format!("key {at}")).collect();
    let scope = doc::Scope {
        profiles,
        attributes: vec![("pprof.scope.sample_type_order".into(), Val::Array(numbers))],
        ..Default::default()
    };
    let resource = doc::Resource {
        attributes: keys.iter().map(|key| (key.clone(), Val::Int(1))).collect(),
        entities: vec![("".into(), "all".into(), keys.clone(), Vec::new())],
        scopes: vec![scope],
        ..Default::default()
    };
    let mut resources = vec![doc::Resource::default(); many];
    resources.push(resource);
    let tables = doc::Tables {
        attributes: (0..many).map(attribute).collect(),
        functions: (0..many).map(function).collect(),
        locations: vec![doc::Location {
            lines: (0..many).map(|at| (Some(at), 1, 0)).collect(),
            attributes: vec![0],
            ..Default::default()
        }],
        stacks: vec![vec![0]],
        ..Default::default()
    };
    let options = support::options("otlp").limits(Limits::unlimited());
    let bytes = (form("otlp").lower)(&Doc { resources, tables });
    let mut profiles = otlp_profiles::read(&bytes, &options).unwrap().profiles;

    edit(&mut profiles, AttributeOwner::Resource, |resource| {
        resource.retain(|one| one.key.ends_with('0'));
        resource.rename("key 10", "renamed");
    });
    let mut asked = 0;
    edit(&mut profiles, AttributeOwner::Sample, |labels| {
        let text = labels.view().iter().next().unwrap().value.to_string();
        labels.set("copy", &text);
        labels.remove("key 7");
        asked += 1;
    });
    assert_eq!(asked, 2 * many);
    let mut asked = 0;
    let names = [StringField::FunctionName, StringField::FunctionFilename];
    profiles
        .rewrite_strings(&names, |name| {
            asked += 1;
            Some(format!("new {name}"))
        })
        .unwrap();
    assert_eq!(asked, 2 * many);
    profiles.rewrite_strings(&[StringField::SampleTypeName], |_| Some("wall".into())).unwrap();
    let mut at = 0;
    profiles.retain_samples(|_, _| {
        at += 1;
        at % 2 == 0
    });
    profiles.retain_profiles(|entry| !entry.profile().samples().is_empty());
    profiles.retain_sample_types(|entry, kind| entry.dictionary().text(kind.name) == "wall");
    profiles.retain_resources(|resource| !resource.is_empty());
    profiles.compact();
    assert_eq!(profiles.iter().count(), many / 2 + 1);
    assert_eq!(profiles.iter().map(|profile| profile.samples().len()).sum::<usize>(), many);
    let resource = &doc_of(&profiles).resources[0];
    let ids = &resource.entities[0].2;
    assert!(ids.len() == many / 10 && ids[..3] == ["key 0", "renamed", "key 20"]);
    assert_eq!(
        resource.scopes[0].attributes[0].1,
        Val::Array((0..=many / 2).rev().map(|at| Val::Int(at as i64)).collect())
    );
}
