//! Protobuf conformance: the groups of `protocolbuffers/protobuf/conformance/binary_*_test.cc` for every field of every
//! generation. The cases derive from the compiled schemas, so a new field gets its cases without a change here.
//!
//! prost is the reference. Its verdict must be the crate's, and both must read the same values. The only
//! differences, listed in SECURITY.md, are tags and lengths of more than five bytes, nesting, text of pprof that is not
//! UTF-8, references of more than 32 bits, and several payloads joined into one.
#![cfg(feature = "proto-all")]

use std::collections::{BTreeMap, VecDeque};

use otlp_profiles::proto::prost::{DecodeError, Message};
use otlp_profiles::proto::{self, pprof};
use otlp_profiles::{ErrorKind, Policy, Profiles};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

use crate::oracle::is_meaning;
use crate::support::doc::{self, Doc};
use crate::support::forms::FORMS;
use crate::support::model::doc_of;
use crate::support::wire::{
    FIXED32, FIXED64, GROUP, GROUP_END, LEN, VARINT, int, len, nest, overlong, tag, varint,
};
use crate::support::{options, some};

type Again = fn(&[u8]) -> Result<Vec<u8>, DecodeError>;

/// A format, its schema, the message of a payload, and decoding and encoding by prost.
struct Schema {
    name: &'static str,
    /// A payload that only this format fits. It precedes each case, so that detection always finds the format.
    base: Vec<u8>,
    descriptors: &'static [u8],
    root: &'static str,
    again: Again,
}

fn schemas() -> Vec<Schema> {
    let pprof: Again = |bytes| Ok(pprof::Profile::decode(bytes)?.encode_to_vec());
    let otlp = FORMS.iter().map(|form| Schema {
        name: form.name,
        base: (form.lower)(&document()),
        descriptors: form.descriptors,
        root: "ProfilesData",
        again: form.again,
    });
    let kind = len(1, &[int(1, 1), int(2, 1)].concat());
    let pprof = Schema {
        name: "pprof",
        base: [len(6, b""), len(6, b"cpu"), kind, len(2, &len(2, &[1]))].concat(),
        descriptors: proto::pprof::FILE_DESCRIPTOR_SET,
        root: "Profile",
        again: pprof,
    };
    otlp.chain([pprof]).collect()
}

/// One profile, with the id that most generations require.
fn document() -> Doc {
    let types = vec![doc::Type { name: "cpu".into(), ..Default::default() }];
    let profile = doc::Profile { id: [1; 16], types, ..Default::default() };
    let scope = doc::Scope { profiles: vec![profile], ..Default::default() };
    Doc {
        resources: vec![doc::Resource { scopes: vec![scope], ..Default::default() }],
        ..Default::default()
    }
}

/// Every message that a payload can contain, with the numbers of the fields around its shortest place.
fn messages(schema: &Schema) -> Vec<(DescriptorProto, Vec<u32>)> {
    let set = FileDescriptorSet::decode(schema.descriptors).expect("a file descriptor set");
    let mut types: BTreeMap<String, DescriptorProto> = BTreeMap::new();
    for file in set.file {
        let package = format!(".{}.", file.package());
        types.extend(file.message_type.into_iter().map(|m| (format!("{package}{}", m.name()), m)));
    }
    let root = types.keys().find(|name| name.ends_with(&format!(".{}", schema.root))).cloned();
    let mut left = VecDeque::from([(root.expect("the root"), Vec::new())]);
    let mut found = Vec::new();
    while let Some((name, path)) = left.pop_front() {
        let Some(message) = types.remove(&name) else { continue };
        for field in message.field.iter().filter(|field| field.r#type() == Type::Message) {
            left.push_back((
                field.type_name().to_owned(),
                [&path[..], &[field.number() as u32]].concat(),
            ));
        }
        found.push((message, path));
    }
    found
}

/// The wire type of a field that is not packed.
fn wire_type(field: &FieldDescriptorProto) -> u8 {
    match field.r#type() {
        Type::Fixed64 | Type::Double => FIXED64,
        Type::String | Type::Bytes | Type::Message => LEN,
        Type::Fixed32 => FIXED32,
        _ => VARINT,
    }
}

fn is_packable(field: &FieldDescriptorProto) -> bool {
    field.label() == Label::Repeated && wire_type(field) != LEN
}

/// A complete value of a wire type.
fn value(kind: u8) -> Vec<u8> {
    match kind {
        VARINT => vec![1],
        FIXED64 => vec![1, 0, 0, 0, 0, 0, 0, 0],
        FIXED32 => vec![1, 0, 0, 0],
        _ => vec![0],
    }
}

/// Fields that no schema declares correctly: illegal tags, lengths, wire types and groups, for any message.
fn illegal(fields: &[FieldDescriptorProto]) -> Vec<(String, Vec<u8>)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| cases.push((name.to_owned(), bytes));
    for kind in [VARINT, FIXED64, LEN, FIXED32] {
        add("field 0", [vec![kind], value(kind)].concat());
    }
    add("a number too high", [varint(1 << 32), vec![0]].concat());
    add("a number far too high", [varint(u64::MAX >> 3 << 3), vec![0]].concat());
    add("a tag of 11 bytes", [overlong(100 << 3, 11), vec![0]].concat());
    add("a tag that is cut off", vec![0x80]);
    add("a length of 11 bytes", [tag(100, LEN), overlong(0, 11)].concat());
    for length in [1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, u64::MAX] {
        add("a length past the end", [tag(100, LEN), varint(length)].concat());
    }
    add("a varint of 11 bytes", [tag(100, VARINT), overlong(1, 11)].concat());
    add("a varint of more than 64 bits", [tag(100, VARINT), vec![0xff; 9], vec![2]].concat());
    let known = fields.iter().map(|field| field.number() as u32);
    for number in known.chain([100, (1 << 29) - 1]) {
        for kind in [6, 7] {
            add("a wire type that does not exist", [tag(number, kind), vec![0; 8]].concat());
        }
        add("a group that does not start", tag(number, GROUP_END));
        add("a group that does not end", tag(number, GROUP));
        add(
            "a group that ends as another",
            [tag(number, GROUP), tag(number ^ 1 | 2, GROUP_END)].concat(),
        );
    }
    let (start, end) = (tag(100, GROUP), tag(100, GROUP_END));
    add("a group within a group that does not end", [&start[..], &start, &end].concat());
    add("a group that ends within a field", [&start[..], &len(1, &end)].concat());
    add("a group with a broken field", [&start[..], &tag(1, VARINT), &end].concat());
    add("groups that cross", [&start[..], &tag(101, GROUP), &end, &tag(101, GROUP_END)].concat());
    for kind in [VARINT, FIXED64, LEN, FIXED32] {
        add("an unknown field without a value", tag(100, kind));
        let whole = value(kind);
        add("an unknown field", [tag(100, kind), whole.clone()].concat());
        if whole.len() > 1 {
            add(
                "an unknown field that is cut off",
                [&tag(100, kind)[..], &whole[..whole.len() - 1]].concat(),
            );
        }
    }
    add("an unknown field of a large number", [tag((1 << 29) - 1, VARINT), vec![1]].concat());
    add("an empty group", [&start[..], &end].concat());
    add(
        "groups within groups",
        [&start[..], &int(1, 1), &start, &len(2, b"x"), &end, &end].concat(),
    );
    cases
}

/// Values of a type, as the conformance suite lists them: limits, truncation, and more bytes than necessary.
fn scalars(field: &FieldDescriptorProto) -> Vec<Vec<u8>> {
    let varints = [
        0,
        1,
        2,
        127,
        128,
        1 << 31,
        u64::from(u32::MAX),
        1 << 32,
        (1 << 33) - 1,
        1 << 63,
        u64::MAX,
    ];
    let fixed = [
        0,
        1,
        1 << 63,
        u64::MAX,
        f64::MIN_POSITIVE.to_bits(),
        f64::INFINITY.to_bits(),
        (-0.0_f64).to_bits(),
    ];
    match wire_type(field) {
        VARINT => {
            let long = [
                overlong(0, 10),
                overlong(1, 10),
                overlong(7, 3),
                overlong(u64::from(u32::MAX), 8),
            ];
            varints.map(varint).into_iter().chain(long).collect()
        }
        FIXED64 => fixed.map(|value| value.to_le_bytes().to_vec()).into(),
        FIXED32 => vec![vec![0; 4], vec![0xff; 4]],
        _ if field.r#type() == Type::Bytes => {
            vec![
                vec![0],
                vec![1, 0xff],
                [vec![16], vec![7; 16]].concat(),
                [vec![8], vec![7; 8]].concat(),
            ]
        }
        _ if field.r#type() == Type::String => {
            let texts = ["", "a", "\0", "\u{7f}", "é", "\u{10ffff}", "\u{feff}x"];
            texts
                .iter()
                .map(|text| [varint(text.len() as u64), text.as_bytes().to_vec()].concat())
                .collect()
        }
        _ => vec![vec![0]],
    }
}

/// Cases of one field.
fn of_field(field: &FieldDescriptorProto) -> Vec<(String, Vec<u8>)> {
    let (number, kind) = (field.number() as u32, wire_type(field));
    let mut cases = Vec::new();
    let mut add =
        |name: &str, bytes: Vec<u8>| cases.push((format!("{}: {name}", field.name()), bytes));
    let one = |value: &[u8]| [&tag(number, kind)[..], value].concat();
    add("no value", tag(number, kind));
    let cut = match kind {
        VARINT => vec![0x80],
        LEN => vec![2, b'a'],
        _ => value(kind)[1..].to_vec(),
    };
    add("a value that is cut off", one(&cut));
    add("a value that is cut off after a whole one", [one(&value(kind)), one(&cut)].concat());
    for other in [VARINT, FIXED64, LEN, FIXED32].into_iter().filter(|other| *other != kind) {
        add("another wire type", [tag(number, other), value(other)].concat());
    }
    add("a group", [tag(number, GROUP), tag(number, GROUP_END)].concat());
    let scalars = scalars(field);
    for scalar in &scalars {
        add("a value", one(scalar));
        add(
            "a value and another, of which the last counts",
            [one(&value(kind)), one(scalar)].concat(),
        );
    }
    if field.r#type() == Type::String {
        for broken in
            [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82"]
        {
            add("not UTF-8", len(number, broken));
        }
    }
    if is_packable(field) {
        let (first, rest) = scalars.split_at(scalars.len() / 2);
        let unpacked =
            |values: &[Vec<u8>]| values.iter().flat_map(|value| one(value)).collect::<Vec<u8>>();
        add("packed", len(number, &scalars.concat()));
        add("not packed", unpacked(&scalars));
        add(
            "packed in two parts",
            [len(number, &first.concat()), len(number, &rest.concat())].concat(),
        );
        add("packed, then not", [len(number, &first.concat()), unpacked(rest)].concat());
        add("not packed, then packed", [unpacked(first), len(number, &rest.concat())].concat());
        add(
            "packed, with an unknown field between",
            [len(number, &first.concat()), int(100, 1), unpacked(rest)].concat(),
        );
        add("packed and empty", len(number, b""));
        add("packed and cut off", len(number, &[&scalars.concat()[..], &cut].concat()));
        add(
            "packed and longer than the message",
            [tag(number, LEN), varint(100), value(kind)].concat(),
        );
    }
    cases
}

/// A message in several pieces, each with one of its fields.
fn merged(message: &DescriptorProto, path: &[u32]) -> Option<(String, Vec<u8>)> {
    let (last, around) = path.split_last()?;
    let pieces = message.field.iter().map(|field| {
        let value = &scalars(field)[1.min(scalars(field).len() - 1)];
        len(*last, &[&tag(field.number() as u32, wire_type(field))[..], value].concat())
    });
    Some(("in pieces".to_owned(), nest(around, &pieces.flatten().collect::<Vec<u8>>())))
}

/// Reads a payload and repairs broken references, which are not protobuf's concern.
fn repaired(name: &str, bytes: &[u8]) -> otlp_profiles::Result<Profiles> {
    let options = options(name).policy(Policy::Repair);
    Ok(otlp_profiles::read(bytes, &options)?.profiles)
}

/// Compares the crate with prost. Returns the difference, if there is one.
fn difference(schema: &Schema, bytes: &[u8]) -> Option<String> {
    let ours = otlp_profiles::read(bytes, &options(schema.name));
    let prost = match ((schema.again)(bytes), &ours) {
        (Err(error), Ok(_)) if schema.name == "pprof" && error.to_string().contains("UTF-8") => {
            return None;
        }
        (Err(error), Ok(_)) => return Some(format!("prost alone rejects it: {error}")),
        (Err(_), Err(_)) => return None,
        (Ok(prost), _) => prost,
    };
    match &ours {
        // Detection takes a few unknown fields for those of another signal or generation.
        Err(error) if error.kind() == ErrorKind::Unrecognised => return None,
        Err(error) if error.message().starts_with("the payload is otlp-") => return None,
        // A second string table or a second time is the beginning of another file.
        Err(error) if error.message().contains("several concatenated") => return None,
        Err(error) if error.kind() != ErrorKind::Malformed || !is_meaning(error.message()) => {
            return Some(format!("the crate alone rejects it: {error}"));
        }
        _ => {}
    }
    // Samples without values whose attributes dangle are a damaged payload, under either policy.
    if ours.as_ref().is_err_and(|error| error.message().contains("took for its own")) {
        return None;
    }
    // The crate rejects references of more than 32 bits, of which protobuf reads the low half.
    if ours.is_err_and(|error| error.message().contains("32 bits")) {
        return None;
    }
    match (repaired(schema.name, bytes), repaired(schema.name, &prost)) {
        (Ok(ours), Ok(prost)) if ours == prost => None,
        (Ok(ours), Ok(prost)) => {
            // Unreferenced strings may differ.
            let [ours, prost] =
                [ours, prost].map(|read| doc::meaning(&doc_of(&read), doc::Mask::default()));
            doc::difference(&ours, &prost)
        }
        (Err(_), Err(_)) => None,
        (ours, prost) => {
            Some(format!("repaired: {:?}, as prost writes it: {:?}", ours.err(), prost.err()))
        }
    }
}

#[test]
fn every_field_of_every_generation_conforms() {
    let (mut count, mut faults) = (0, Vec::new());
    for schema in &schemas() {
        for (message, path) in &messages(schema) {
            let cases =
                illegal(&message.field).into_iter().chain(message.field.iter().flat_map(of_field));
            let cases = cases.map(|(name, bytes)| (name, nest(path, &bytes)));
            for (name, case) in some(cases.chain(merged(message, path))) {
                let bytes = [&schema.base[..], &case].concat();
                count += 1;
                if let Some(difference) = difference(schema, &bytes) {
                    let place = format!("{} {}", schema.name, message.name());
                    faults.push(format!("{place}.{name}: {case:02x?}: {difference}"));
                }
            }
        }
    }
    println!("{count} cases");
    assert!(faults.is_empty(), "{} of {count} cases differ:\n{}", faults.len(), faults.join("\n"));
    assert!(count >= 1_500, "{count} cases");
}

/// The documented differences are there: who relies on them learns if they disappear.
#[test]
fn the_differences_from_prost_are_the_documented_ones() {
    for schema in &schemas() {
        // D1: prost accepts tags of six to ten bytes.
        for bytes in 6..=10 {
            let payload = [overlong(100 << 3, bytes), vec![0]].concat();
            assert!((schema.again)(&payload).is_ok(), "{}: {bytes}", schema.name);
            let error = otlp_profiles::read(&payload, &options(schema.name)).unwrap_err();
            assert!(error.message().contains("protobuf allows 5"), "{}: {error}", schema.name);
        }
        // The same for lengths.
        for bytes in 6..=10 {
            let payload = [tag(100, LEN), overlong(0, bytes)].concat();
            assert!((schema.again)(&payload).is_ok(), "{}: {bytes}", schema.name);
            let error = otlp_profiles::read(&payload, &options(schema.name)).unwrap_err();
            assert!(error.message().contains("protobuf allows 5"), "{}: {error}", schema.name);
        }
        // D2: prost's limit of nesting is 100, the crate's is 256.
        let groups = |depth: usize| {
            let groups = [tag(100, GROUP).repeat(depth), tag(100, GROUP_END).repeat(depth)];
            [schema.base.clone(), groups.concat()].concat()
        };
        for (depth, prost, ours) in
            [(90, true, true), (101, false, true), (256, false, true), (257, false, false)]
        {
            let payload = groups(depth);
            assert_eq!((schema.again)(&payload).is_ok(), prost, "{}: {depth}", schema.name);
            let read = otlp_profiles::read(&payload, &options(schema.name));
            let kind = read.as_ref().err().map(otlp_profiles::Error::kind);
            assert_eq!(kind, (!ours).then_some(ErrorKind::Limit), "{}: {depth}", schema.name);
        }
    }
    // D4: an index of 2³² + 1 is row 1 for prost, and out of range for the crate.
    let sample = len(2, &int(1, (1 << 32) + 1));
    let tables = [len(5, b""), len(7, b""), len(7, b"")].concat();
    let payload = [nest(&[1, 2, 2], &[len(1, b""), sample].concat()), len(2, &tables)].concat();
    let prost = proto::v1_10::ProfilesData::decode(&payload[..]).unwrap();
    assert_eq!(prost.resource_profiles[0].scope_profiles[0].profiles[0].samples[0].stack_index, 1);
    let error = otlp_profiles::read(&payload, &options("otlp")).unwrap_err();
    assert!(error.message().contains("more than 32 bits"), "{error}");
    // D3: prost rejects text of pprof that is not UTF-8. The crate keeps the bytes.
    let payload = [len(6, b""), len(6, b"\xff"), len(1, &int(1, 1))].concat();
    assert!(pprof::Profile::decode(&payload[..]).is_err());
    let profiles = otlp_profiles::read(&payload, &options("pprof")).unwrap().profiles;
    assert_eq!(profiles.dictionary().strings().not_utf8().len(), 1);
}
