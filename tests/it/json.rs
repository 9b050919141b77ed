//! Writes OTLP/JSON as the specification requires, reads more forms than it writes, and survives damaged text.
#![cfg(feature = "proto-all")]

use crate::support;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::forms::{FORMS, form};
use crate::support::generate::{Room, docs};
use crate::support::{inflated, options, read, testdata, try_read, write};
use otlp_profiles::format::StringEncoding;
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{
    ErrorKind, Format, Limits, Policy, Profiles, ReadFinding, ReadOptions, WriteOptions,
};
use proptest::prelude::*;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorSet};

/// Protobuf's JSON mapping with OTLP's three exceptions, derived from the compiled schemas. It shares no code with
/// the crate.
struct Oracle(FileDescriptorSet);

#[derive(Clone, Copy)]
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl Oracle {
    fn of(generation: &str) -> Self {
        Self(FileDescriptorSet::decode(form(generation).descriptors).unwrap())
    }

    fn json(&self, payload: &[u8]) -> String {
        let mut out = String::new();
        self.message(&mut out, ".ProfilesData", payload);
        out
    }

    fn message(&self, out: &mut String, name: &str, body: &[u8]) {
        let mut said: BTreeMap<u32, Vec<Wire>> = BTreeMap::new();
        let mut rest = body;
        while !rest.is_empty() {
            let tag = varint(&mut rest);
            let value = match tag & 7 {
                0 => Wire::Number(varint(&mut rest)),
                1 => Wire::Number(fixed64(&mut rest)),
                _ => Wire::Bytes(delimited(&mut rest)),
            };
            said.entry((tag >> 3) as u32).or_default().push(value);
        }
        let mut messages = self.0.file.iter().flat_map(|file| &file.message_type);
        let short = name.rsplit('.').next();
        let message = messages.find(|message| Some(message.name()) == short);
        out.push('{');
        for (at, (number, values)) in said.iter().enumerate() {
            let mut fields = message.unwrap().field.iter();
            let field = fields.find(|field| field.number() as u32 == *number);
            let separator = if at > 0 { "," } else { "" };
            write!(out, "{separator}\"{}\":", field.unwrap().json_name()).unwrap();
            self.field(out, field.unwrap(), values);
        }
        out.push('}');
    }

    fn field(&self, out: &mut String, field: &FieldDescriptorProto, values: &[Wire]) {
        if field.label() != Label::Repeated {
            self.value(out, field, *values.last().unwrap());
            return;
        }
        let mut elements = Vec::new();
        for value in values {
            let packed = !matches!(field.r#type(), Type::String | Type::Bytes | Type::Message);
            match *value {
                Wire::Bytes(mut body) if packed => {
                    while !body.is_empty() {
                        let fixed = matches!(field.r#type(), Type::Fixed64);
                        let number = if fixed { fixed64 } else { varint };
                        elements.push(Wire::Number(number(&mut body)));
                    }
                }
                value => elements.push(value),
            }
        }
        out.push('[');
        for (at, element) in elements.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            self.value(out, field, *element);
        }
        out.push(']');
    }

    fn value(&self, out: &mut String, field: &FieldDescriptorProto, value: Wire) {
        let hex = ["trace_id", "span_id", "profile_id"].contains(&field.name());
        match (field.r#type(), value) {
            (Type::Message, Wire::Bytes(body)) => self.message(out, field.type_name(), body),
            (Type::String, Wire::Bytes(text)) => {
                *out += &serde_json::to_string(std::str::from_utf8(text).unwrap()).unwrap();
            }
            (Type::Bytes, Wire::Bytes(bytes)) if hex => {
                out.push('"');
                bytes.iter().for_each(|byte| write!(out, "{byte:02x}").unwrap());
                out.push('"');
            }
            (Type::Bytes, Wire::Bytes(bytes)) => write!(out, "\"{}\"", base64(bytes)).unwrap(),
            (Type::Bool, Wire::Number(number)) => write!(out, "{}", number != 0).unwrap(),
            (Type::Int32 | Type::Enum, Wire::Number(number)) => {
                write!(out, "{}", number as i32).unwrap()
            }
            (Type::Uint32, Wire::Number(number)) => write!(out, "{number}").unwrap(),
            (Type::Int64, Wire::Number(number)) => write!(out, "\"{}\"", number as i64).unwrap(),
            (Type::Uint64 | Type::Fixed64, Wire::Number(number)) => {
                write!(out, "\"{number}\"").unwrap()
            }
            (Type::Double, Wire::Number(bits)) => match f64::from_bits(bits) {
                number if number.is_nan() => *out += "\"NaN\"",
                number if number.is_infinite() => {
                    *out += if number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" };
                }
                number => write!(out, "{number:?}").unwrap(),
            },
            (kind, _) => panic!("{} is {kind:?}", field.name()),
        }
    }
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for at in 0.. {
        let byte = rest[at];
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            *rest = &rest[at + 1..];
            return value;
        }
    }
    unreachable!()
}

fn fixed64(rest: &mut &[u8]) -> u64 {
    let (word, after) = rest.split_at(8);
    *rest = after;
    u64::from_le_bytes(word.try_into().unwrap())
}

fn delimited<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let length = varint(rest) as usize;
    let (body, after) = rest.split_at(length);
    *rest = after;
    body
}

fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: Vec<u8> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let digit = |six: &[u8]| {
        digits[(0..6).fold(0, |all, at| all * 2 + usize::from(*six.get(at).unwrap_or(&0)))]
    };
    let mut text: String = bits.chunks(6).map(digit).collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// The written JSON equals the oracle's conversion of the binary payload, and reads as the same profiles.
#[track_caller]
fn there_and_back(profiles: &Profiles) {
    for refs in [StringEncoding::Inline, StringEncoding::Dictionary] {
        let options = WriteOptions::default().string_encoding(refs);
        let write = |format| otlp_profiles::write(profiles, format, &options).unwrap();
        let (binary, json) = (write(Format::OTLP), write(Format::OTLP_JSON));
        assert_eq!(binary.losses, json.losses);
        let text = String::from_utf8(json.payload).unwrap();
        assert_eq!(text, Oracle::of("otlp").json(&binary.payload));
        let back = otlp_profiles::read(text.as_bytes(), &support::options("otlp-json")).unwrap();
        assert_eq!(back.findings, []);
        let otlp = |profiles| otlp_profiles::write(profiles, Format::OTLP, &options).unwrap();
        let same = read("otlp", &binary.payload);
        assert!(otlp(&back.profiles) == otlp(&same), "{text}");
    }
}

#[test]
fn every_file_comes_back() {
    for (name, bytes) in testdata(&[".pb", ".pb.gz", ".binpb"]) {
        let format = match name.strip_prefix("otlp-1.") {
            Some(rest) if rest.starts_with('3') => "otlp-1.3",
            Some(_) => "otlp",
            None => "pprof",
        };
        there_and_back(&read(format, &inflated(&bytes)));
    }
}

fn every_generation() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    (0..FORMS.len()).prop_flat_map(move |at| {
        let form = &FORMS[at];
        let docs = docs(Room { caps: form.caps, portable: false });
        // A payload without sample types does not show its generation.
        let docs = docs.prop_map(|mut doc| {
            let scopes = doc.resources.iter_mut().flat_map(|resource| &mut resource.scopes);
            scopes.for_each(|scope| scope.profiles.retain(|profile| !profile.types.is_empty()));
            // Neither do tables alone, which might be those of a pprof.
            doc.resources.resize_with(doc.resources.len().max(1), Default::default);
            doc.resources[0].schema_url = "https://example.com".to_owned();
            doc
        });
        docs.prop_map(move |doc| (form.name, (form.lower)(&doc)))
    })
}

proptest! {
    #[test]
    fn generated_payloads_come_back((generation, bytes) in every_generation()) {
        there_and_back(&read(generation, &bytes));
    }

    /// JSON of each generation is detected by its names, and reads like its binary payload.
    #[test]
    fn json_of_every_generation_is_read((generation, bytes) in every_generation()) {
        let text = Oracle::of(generation).json(&bytes);
        let current = FORMS[..2].iter().any(|form| form.name == generation);
        // Tables alone have the same names in most generations.
        if !current && !text.contains("\"sampleType\"") {
            return Ok(());
        }
        let reading = otlp_profiles::read(text.as_bytes(), &options("otlp-json"));
        let reading = reading.unwrap_or_else(|error| panic!("{generation}: {error}\n{text}"));
        let evidence = reading.detected.evidence.join("; ");
        let named = [generation, "every generation"].iter().any(|name| evidence.contains(name));
        prop_assert!(named, "{generation}: {evidence}\n{text}");
        let binary = otlp_profiles::read(&bytes, &options(generation)).unwrap();
        prop_assert_eq!(&reading.findings, &binary.findings, "{}: {}", generation, text);
        prop_assert!(write("otlp", &reading.profiles) == write("otlp", &binary.profiles), "{generation}: {text}");
        if !current {
            prop_assert!(write(generation, &reading.profiles) == write(generation, &binary.profiles), "{generation}: {text}");
        }
    }

    /// Text with one change is read or rejected.
    #[test]
    fn damaged_text_is_read_or_refused(
        (generation, bytes) in every_generation(),
        tiny in any::<bool>(),
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(b"\"\\{}[],:0-9.eEtfn \xff\x00".to_vec()),
        cut in any::<bool>(),
    ) {
        let text = if tiny { TINY.to_owned() } else { Oracle::of(generation).json(&bytes) };
        let mut text = text.into_bytes();
        let at = at.index(text.len());
        text[at] = with;
        if cut {
            text.remove(at);
        }
        try_read("otlp-json", &text).ok();
    }
}

/// A payload with every kind of field.
const TINY: &str = r#"{"resourceProfiles":[{"resource":{"attributes":[{"key":"k","value":{"arrayValue":{"values":[{"stringValue":"é\n"},{"boolValue":false},{"doubleValue":-1.5},{}]}}}],"droppedAttributesCount":1},"scopeProfiles":[{"scope":{"name":"s"},"profiles":[{"sampleType":{"typeStrindex":1,"unitStrindex":2},"samples":[{"stackIndex":1,"attributeIndices":[1],"linkIndex":1,"values":["-7"],"timestampsUnixNano":["1001"]}],"timeUnixNano":"1000","durationNano":"9","period":"3","profileId":"000102030405060708090a0b0c0d0e0f","originalPayloadFormat":"x","originalPayload":"Zm9vYg=="}]}]}],"dictionary":{"mappingTable":[{}],"locationTable":[{},{"address":"18446744073709551615","lines":[{"functionIndex":1,"line":"5"}]}],"functionTable":[{},{"nameStrindex":3}],"linkTable":[{},{"traceId":"00112233445566778899aabbccddeeff","spanId":"0123456789abcdef"}],"stringTable":["","cpu","ns","main","k"],"attributeTable":[{},{"keyStrindex":4,"value":{"bytesValue":"+/8="}}],"stackTable":[{},{"locationIndices":[1]}]}}"#;

fn findings(text: &str) -> Vec<ReadFinding> {
    otlp_profiles::read(text.as_bytes(), &options("otlp-json")).unwrap().findings
}

/// Reads a JSON payload and writes it again.
#[track_caller]
fn again(text: &str) -> String {
    String::from_utf8(write("otlp-json", &read("otlp-json", text.as_bytes())).0).unwrap()
}

#[test]
fn a_small_one_comes_back_as_it_is() {
    assert_eq!(again(TINY), TINY);
    assert_eq!(findings(TINY), []);
    assert_eq!(again("{}"), again(" {\t} \r\n"));
}

/// None of these changes to the text alters its meaning.
#[test]
fn many_forms_say_the_same() {
    let same: &[(&str, &str)] = &[
        (r#""1000""#, "1000"),
        (r#""1000""#, "1e3"),
        (r#""1000""#, r#""1.0E+3""#),
        (r#""1000""#, "1000.000"),
        (r#"["-7"]"#, "[-7]"),
        (r#"["-7"]"#, "[-0.7e1]"),
        (r#""stackIndex":1"#, r#""stackIndex":"1""#),
        (r#""stackIndex":1"#, r#""stackIndex":1.0"#),
        (r#""stackIndex":1"#, r#""stack_index":1"#),
        (r#""stackIndex":1"#, r#""\u0073tackIndex":1"#),
        (r#""18446744073709551615""#, "18446744073709551615"),
        (r#""18446744073709551615""#, r#""1844674407370955161.5e1""#),
        ("timestampsUnixNano", "timestamps_unix_nano"),
        ("droppedAttributesCount\":1", "dropped_attributes_count\":\"1\""),
        ("-1.5", r#""-1.5""#),
        ("-1.5", "-15e-1"),
        (r#""Zm9vYg==""#, r#""Zm9vYg""#),
        (r#""+/8=""#, r#""-_8""#),
        (r#""+/8=""#, r#""-_8=""#),
        (r#""+/8=""#, r#""\u002b\/8""#),
        ("00112233445566778899aabbccddeeff", "00112233445566778899AABBccddeeff"),
        (r#"é\n"#, r#"\u00e9\u000a"#),
        (r#""period":"3""#, r#""period":"3","periodType":null"#),
        (
            r#""mappingTable":[{}]"#,
            r#""mappingTable":[{"memoryStart":null,"attributeIndices":null}]"#,
        ),
        (r#""mappingTable":[{}]"#, r#""mappingTable":[{"memoryStart":"0","attributeIndices":[]}]"#),
        (r#""period":"3""#, " \"period\"\n:\t\"3\" "),
        (r#"{"boolValue":false}"#, r#"{"intValue":null,"boolValue":false}"#),
    ];
    for (from, to) in same {
        assert!(TINY.contains(from), "{from}");
        assert_eq!(again(&TINY.replacen(from, to, 1)), TINY, "{to}");
        assert_eq!(findings(&TINY.replacen(from, to, 1)), [], "{to}");
    }
}

#[test]
fn texts_and_numbers_mean_what_they_say() {
    let text = |value: &str| {
        let json = format!(
            r#"{{"resourceProfiles":[{{"resource":{{"attributes":[{{"key":"k","value":{value}}}]}}}}]}}"#
        );
        let back = again(&json);
        let from = back.find(r#""value":"#).unwrap() + 8;
        back[from..back.find("}]}}]").unwrap()].to_owned()
    };
    for (value, said) in [
        (
            r#"{"stringValue":"\ud83d\uDE00\u0000\"\\\/\b\f\u007f"}"#,
            "{\"stringValue\":\"😀\\u0000\\\"\\\\/\\u0008\\u000c\x7f\"}",
        ),
        (r#"{"stringValue":""}"#, r#"{"stringValue":""}"#),
        (r#"{"intValue":"-9223372036854775808"}"#, r#"{"intValue":"-9223372036854775808"}"#),
        (r#"{"intValue":-0}"#, r#"{"intValue":"0"}"#),
        (r#"{"doubleValue":"NaN"}"#, r#"{"doubleValue":"NaN"}"#),
        (r#"{"doubleValue":"-Infinity"}"#, r#"{"doubleValue":"-Infinity"}"#),
        (r#"{"doubleValue":"Infinity"}"#, r#"{"doubleValue":"Infinity"}"#),
        (r#"{"doubleValue":-0.0}"#, r#"{"doubleValue":-0.0}"#),
        (r#"{"doubleValue":1e400000}"#, ""),
        (r#"{"doubleValue":5e-324}"#, r#"{"doubleValue":5e-324}"#),
        (r#"{"doubleValue":1}"#, r#"{"doubleValue":1.0}"#),
        (r#"{"bytesValue":""}"#, r#"{"bytesValue":""}"#),
        (r#"{"arrayValue":{}}"#, r#"{"arrayValue":{}}"#),
        (
            r#"{"kvlistValue":{"values":[{"key":"a","value":{}}]}}"#,
            r#"{"kvlistValue":{"values":[{"key":"a"}]}}"#,
        ),
    ] {
        if !said.is_empty() {
            assert_eq!(text(value), said);
        }
    }
}

#[test]
fn what_is_unknown_is_left_out_and_said() {
    let text = TINY.replacen(
        r#""stackIndex":1"#,
        r#""stackIndex":1,"neu":{"a":[1,{"b":null}]},"stackTable":7"#,
        1,
    );
    assert_eq!(again(&text), TINY);
    let [finding] = &findings(&text)[..] else { panic!("{:?}", findings(&text)) };
    assert_eq!((finding.code, finding.count, &*finding.place), ("field.unknown", 2, "Sample.neu"));
    assert_eq!(finding.message, r#"dropped the unknown key "neu" of Sample"#);
    // Names of older generations are unknown in the current one.
    let [finding] = &findings(&TINY.replacen("stackIndex", "locationsLength", 1))[..] else {
        panic!()
    };
    assert_eq!(finding.place, "Sample.locationsLength");
}

#[test]
fn of_keys_said_twice_the_last_counts() {
    let twice: &[(&str, &str)] = &[
        (r#""stackIndex":1"#, r#""stackIndex":9,"stackIndex":1"#),
        (r#""values":["-7"]"#, r#""values":["1","2"],"values":["-7"]"#),
        (r#""stringTable""#, r#""stringTable":["","x","y"],"string_table":["z"],"stringTable""#),
        (r#""sampleType":{"#, r#""sampleType":{"typeStrindex":3},"sampleType":{"#),
        (
            r#""resourceProfiles":["#,
            r#""dictionary":{"stackTable":[{}]},"resourceProfiles":[{},{}],"resourceProfiles":["#,
        ),
    ];
    for (from, to) in twice {
        let text = TINY.replacen(from, to, 1);
        assert_eq!(again(&text), TINY, "{to}");
        let [finding] = &findings(&text)[..] else { panic!("{to}: {:?}", findings(&text)) };
        assert_eq!(finding.code, "json.duplicate_key");
        assert!(finding.message.ends_with(" occurs twice: the last one was read"), "{finding}");
    }
}

/// A value has one type. If JSON contains others before the last, they are reported.
#[test]
fn of_two_cases_of_a_value_the_last_counts() {
    let with = |value: &str| {
        format!(
            r#"{{"resourceProfiles":[{{"resource":{{"attributes":[{{"key":"a","value":{{{value}}}}}]}}}}]}}"#
        )
    };
    for (value, read) in [
        (r#""intValue":"3","stringValue":"x""#, r#""stringValue":"x""#),
        (r#""arrayValue":{"values":[{"intValue":"1"}]},"boolValue":true"#, r#""boolValue":true"#),
    ] {
        assert_eq!(again(&with(value)), again(&with(read)), "{value}");
        let [finding] = &findings(&with(value))[..] else { panic!("{:?}", findings(&with(value))) };
        assert_eq!(finding.code, "json.duplicate_key");
        assert!(
            finding.message.ends_with(" exclude each other: the last one was read"),
            "{finding}"
        );
    }
    assert!(findings(&with(r#""intValue":null,"stringValue":"x""#)).is_empty());
}

/// The Collector's file exporter writes one message per line.
#[test]
fn lines_are_read_message_by_message() {
    let read_all = |text: &str| support::read_all(text.as_bytes(), &ReadOptions::default());
    let readings = read_all(&format!("{TINY}\n{TINY}\r\n\n{TINY}")).unwrap();
    assert_eq!(readings.len(), 3);
    for reading in readings {
        assert_eq!(reading.detected.format.name(), "otlp-json");
        assert_eq!(write("otlp-json", &reading.profiles).0, TINY.as_bytes());
    }
    let broken = TINY.replacen(r#""stackIndex":1"#, r#""stackIndex":true"#, 1);
    for (text, message) in
        [(format!("{TINY}\n{broken}\n{TINY}\n"), 1), (format!("{broken}\n{TINY}\n"), 0)]
    {
        let error = read_all(&text).unwrap_err();
        let place = format!("message[{message}].resource_profiles[0].scope_profiles[0].");
        assert!(error.place().starts_with(&place), "{error}");
        assert_eq!(error.byte(), Some(broken.find("true").unwrap() as u64));
    }
    let cut = TINY.get(..TINY.len() / 2).unwrap();
    let error = read_all(&format!("{TINY}\n{cut}")).unwrap_err();
    assert!(error.place().starts_with("message[1]"), "{error}");
}

#[test]
fn errors_name_the_place_and_the_byte() {
    let sample = "resource_profiles[0].scope_profiles[0].profiles[0].samples[0]";
    let wrong: &[(&str, &str, String)] = &[
        (r#""stackIndex":1"#, r#""stackIndex":true"#, format!("{sample}.stack_index: expected an integer, found 't'")),
        (r#""stackIndex":1"#, r#""stackIndex":1.5"#, format!("{sample}.stack_index: \"1.5\" is not an integer")),
        (r#""stackIndex":1"#, r#""stackIndex":"""#, format!("{sample}.stack_index: \"\" is not an integer")),
        (r#"["-7"]"#, r#"["-7",1e19]"#, format!("{sample}.values[1]: 1e19 is not between -9223372036854775808 and 9223372036854775807")),
        (r#"["1001"]"#, r#"["-1"]"#, format!("{sample}.timestamps_unix_nano[0]: -1 is not between 0 and 18446744073709551615")),
        (r#"["1001"]"#, r#"["1001""#, format!("{sample}.timestamps_unix_nano[1]: expected ',' or ']', found '}}'")),
        ("0123456789abcdef\"", "ASNFZ4mrzQ==\"", "dictionary.link_table[1].span_id: \"ASNFZ4mrzQ==\" is not hexadecimal digits, as OTLP writes ids".to_owned()),
        (r#""+/8=""#, r#""+/8=a""#, "dictionary.attribute_table[1].value.bytes_value: \"+/8=a\" is not base64".to_owned()),
        ("-1.5", "1e999", "resource_profiles[0].resource.attributes[0].value.array_value.values[2].double_value: 1e999 overflows a double".to_owned()),
        (r#"é\n"#, r#"\ud800"#, "resource_profiles[0].resource.attributes[0].value.array_value.values[0].string_value: unpaired surrogate in a string".to_owned()),
        (r#""mappingTable":[{}]"#, r#""mappingTable":[null]"#, "dictionary.mapping_table[0]: expected an object, found 'n'".to_owned()),
        ("Count\":1", "Count\":4294967296", "resource_profiles[0].resource.dropped_attributes_count: 4294967296 is not between 0 and 4294967295".to_owned()),
    ];
    for (from, to, message) in wrong {
        let text = TINY.replacen(from, to, 1);
        let error = try_read("otlp-json", text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        let said = error.to_string();
        assert!(said.starts_with(message), "{said}");
        let byte = error.byte().expect("a byte") as usize;
        let from = TINY.find(from).unwrap();
        assert!((from - 1..=from + to.len()).contains(&byte), "{said}");
    }
}

/// Errors that only the binary reader detects have a place in the text, too.
#[test]
fn errors_of_the_bytes_are_errors_of_the_text() {
    let text = TINY.replacen(r#""stringValue":"é\n""#, r#""stringValueStrindex":77"#, 1);
    let error = try_read("otlp-json", text.as_bytes()).unwrap_err();
    let place = "resource_profiles[0].resource.attributes[0].value.array_value.values[0].string_value_strindex";
    assert_eq!(
        error.to_string(),
        format!("{place}: index 77 is out of range: the table has 5 strings")
    );

    let text = TINY.replacen("0123456789abcdef\"", "0123\"", 1);
    let error = try_read("otlp-json", text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("id has 2 bytes"), "{error}");
    assert_eq!(error.byte().unwrap() as usize, text.find(r#""0123""#).unwrap());
    let repair = options("otlp-json").policy(Policy::Repair);
    let reading = otlp_profiles::read(text.as_bytes(), &repair).unwrap();
    assert_eq!(reading.findings[0].code, "link.invalid");
}

#[test]
fn every_cut_is_an_error() {
    for cut in 0..TINY.len() {
        let error = try_read("otlp-json", &TINY.as_bytes()[..cut]).unwrap_err();
        assert!(error.byte().is_some(), "{error}");
    }
    for more in ["1", ",", "}", "\0"] {
        let error = try_read("otlp-json", format!("{TINY}{more}").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("unexpected text after the end"), "{error}");
    }
    for more in ["{}", " {}", "\n[]"] {
        let error = try_read("otlp-json", format!("{TINY}{more}").as_bytes()).unwrap_err();
        assert_eq!(
            error.message(),
            "another JSON value follows the message: `jq -c . FILE > profiles.json` writes one message a line, which is read"
        );
        assert_eq!(error.byte(), Some((TINY.len() + more.len() - more.trim_start().len()) as u64));
    }
    for other in ["", " ", "null", "[]", "1", "\"\"", "{}\u{feff}", "{]", "{\"a\"", "{1:2}"] {
        assert!(try_read("otlp-json", other.as_bytes()).is_err(), "{other}");
    }
    for bytes in [&b"\xff"[..], b"{\"\xc3\":1}", b"{\"a\":\"\xed\xa0\x80\"}"] {
        assert!(try_read("otlp-json", bytes).unwrap_err().to_string().contains("not UTF-8"));
    }
}

#[test]
fn depth_is_limited_and_costs_nothing() {
    let many = 100_000;
    let values = r#"{"arrayValue":{"values":["#;
    let deep = [
        "[".repeat(many),
        r#"{"a":"#.repeat(many),
        format!(r#"{{"a":{}"#, "[".repeat(many)),
        format!(
            r#"{{"resourceProfiles":[{{"resource":{{"attributes":[{{"value":{}"#,
            values.repeat(many)
        ),
        format!(r#"{{"resourceProfiles":[{{"sample":{}"#, values.repeat(many)),
    ];
    for text in &deep {
        let error = try_read("otlp-json", text.as_bytes()).unwrap_err();
        let limit = error.kind() == ErrorKind::Limit
            && error
                .to_string()
                .contains("257 levels of nesting exceed the limit of 256, which cannot be raised");
        assert!(limit || text.starts_with('['), "{error}");
    }
    // Text may nest as deep as binary payloads.
    let nested = |depth: usize| {
        let value = values.repeat(depth) + "{}" + &"]}}".repeat(depth);
        let open = r#"{"resourceProfiles":[{"resource":{"attributes":[{"value":"#;
        format!("{open}{value}}}]}}}}]}}")
    };
    let deepest = (1..300)
        .take_while(|&depth| try_read("otlp-json", nested(depth).as_bytes()).is_ok())
        .count();
    let profiles = read("otlp-json", nested(deepest).as_bytes());
    there_and_back(&profiles);
    // An array is two messages, ArrayValue and AnyValue.
    assert_eq!(deepest, (Limits::network().max_nesting as usize - 4) / 2);
}

#[test]
fn limits_hold_for_the_text() {
    let limited = |limits: Limits| {
        let options = options("otlp-json").limits(limits);
        otlp_profiles::read(TINY.as_bytes(), &options).unwrap_err()
    };
    let network = Limits::network();
    for (limits, name) in [
        (network.max_samples(0), "max_samples"),
        (network.max_strings(4), "max_strings"),
        (network.max_string_bytes(3), "max_string_bytes"),
        (network.max_owned_bytes(200), "max_owned_bytes"),
        (network.max_input_bytes(100), "max_input_bytes"),
    ] {
        let error = limited(limits);
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(error.limit(), Some(name), "{error}");
    }
    let options = WriteOptions::default().max_output_bytes(500);
    let profiles = read("otlp-json", TINY.as_bytes());
    let error = otlp_profiles::write(&profiles, Format::OTLP_JSON, &options).unwrap_err();
    assert!(error.limit() == Some("max_output_bytes"), "{error}");
}

/// Repeated keys, with large values between small ones, take linear time.
#[test]
fn repeated_keys_are_cheap() {
    let large = format!(r#""stringTable":["{}"],"#, "x".repeat(1 << 20));
    let small = r#""stackTable":[],"linkTable":[{}],"#.repeat(50_000);
    let text = format!(r#"{{"dictionary":{{{small}{large}{small}"stringTable":[]}}}}"#);
    try_read("otlp-json", text.as_bytes()).unwrap();
    let profile = r#""period":1,"samples":[],"timeUnixNano":1,"#.repeat(50_000);
    let samples = "{},".repeat(100_000);
    let profile = format!(r#"{{{profile}"samples":[{samples}{{}}],{profile}"period":7}}"#);
    let text =
        format!(r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{profile}]}}]}}]}}"#);
    let profiles = read("otlp-json", text.as_bytes());
    assert_eq!(profiles.iter().next().unwrap().period(), 7);
}

/// Detection names the generation of the names in the part that it examines; reading names the generation that it
/// read.
#[test]
fn the_generation_of_a_text_is_named() {
    let evidence = |text: &str| {
        let detected = otlp_profiles::detect(text.as_bytes(), &options("otlp-json")).unwrap();
        detected.evidence.last().unwrap().clone()
    };
    assert_eq!(evidence(TINY), "its field names are those of otlp-1.10 and otlp-1.9");
    assert_eq!(
        evidence(r#"{"resourceProfiles":[]}"#),
        "its field names are those of every generation"
    );
    let older = |samples: usize| {
        let samples = vec![r#"{"value":["4"]}"#; samples].join(",");
        format!(
            r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{{"sampleType":[{{"typeStrindex":1}}],"sample":[{samples}],"é":1}}]}}]}}],"dictionary":{{"stringTable":["","cpu"]}}}}"#
        )
    };
    assert_eq!(evidence(&older(1)), "its field names are those of otlp-1.7, but for 1");
    let large = older(10_000);
    let names = "its field names where it begins are those of otlp-1.7 and otlp-1.6 and otlp-1.5 and otlp-1.4";
    assert_eq!(evidence(&large), names);
    let reading = otlp_profiles::read(large.as_bytes(), &options("otlp-json")).unwrap();
    let evidence = reading.detected.evidence.last().unwrap();
    assert_eq!(evidence, "it was read with the field names of otlp-1.7");
}

#[test]
fn older_names_tell_their_generation() {
    // Only older generations have two of the enums, as numbers or as names.
    for temporality in ["2", r#""2""#, r#""AGGREGATION_TEMPORALITY_CUMULATIVE""#] {
        let text = format!(
            r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{{"sampleType":[{{"typeStrindex":1,"aggregationTemporality":{temporality}}}],"sample":[{{"value":["4"]}}]}}]}}]}}],"dictionary":{{"stringTable":["","cpu"]}}}}"#
        );
        let profiles = read("otlp-json", text.as_bytes());
        let profile = profiles.iter().next().unwrap();
        assert_eq!(profile.sample_types()[0].temporality.unwrap().0, 2);
    }
    let text = TINY.replacen(r#""period":"3""#, r#""period":"3","aggregationTemporality":1"#, 1);
    assert_eq!(
        findings(&text)[0].place,
        "Profile.aggregationTemporality",
        "of one misfit each, the newest"
    );
    let broken = r#"{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sampleType":[{"typeStrindex":1}],"sample":[{"value":[true]}]}]}]}]}"#;
    let error = try_read("otlp-json", broken.as_bytes()).unwrap_err();
    assert_eq!(
        error.place(),
        "resource_profiles[0].scope_profiles[0].profiles[0].sample[0].value[0]"
    );
    assert!(error.message().ends_with("; the payload has the field names of otlp-1.7"), "{error}");
    assert!(form("otlp-1.7").caps.columns);
}

/// Protobuf libraries write base64. Its length distinguishes it from hexadecimal digits.
#[test]
fn ids_in_base64_are_read_and_noted() {
    let text = |profile: &str, trace: &str, span: &str| {
        format!(
            r#"{{"resourceProfiles":[{{"scopeProfiles":[{{"profiles":[{{"profileId":"{profile}","samples":[{{"linkIndex":1,"values":["1"]}}]}}]}}]}}],"dictionary":{{"stackTable":[{{}}],"linkTable":[{{}},{{"traceId":"{trace}","spanId":"{span}"}}]}}}}"#
        )
    };
    let (id, span) = ("0102030405060708090a0b0c0d0e0fff", "01020304050607ff");
    let hex = read("otlp-json", text(id, id, span).as_bytes());
    for (id, span) in [
        ("AQIDBAUGBwgJCgsMDQ4P/w==", "AQIDBAUGB/8="),
        ("AQIDBAUGBwgJCgsMDQ4P/w", "AQIDBAUGB/8"),
        ("AQIDBAUGBwgJCgsMDQ4P_w==", "AQIDBAUGB_8="),
    ] {
        let base64 = text(id, id, span);
        let reading = otlp_profiles::read(base64.as_bytes(), &options("otlp-json")).unwrap();
        assert_eq!(write("otlp", &reading.profiles).0, write("otlp", &hex).0);
        let [finding] = &reading.findings[..] else { panic!("{:?}", reading.findings) };
        assert_eq!((finding.code, finding.count), ("json.id_base64", 3));
        assert_eq!(finding.place, "resource_profiles[0].scope_profiles[0].profiles[0].profile_id");
    }
    // Base64 of other lengths, and hexadecimal digits of a length that base64 has.
    for (wrong, message) in [
        ("AQIDBAUGBwg=", "is not hexadecimal digits"),
        ("AQIDBAUGBwgJCgsMDQ4P/xA=", "is not hexadecimal digits"),
        ("0102030405060708090a0b", "id has 11 bytes"),
    ] {
        let error = try_read("otlp-json", text(id, wrong, span).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
