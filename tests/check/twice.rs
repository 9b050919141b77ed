//! A message in pieces is merged, and the last value of a repeated scalar applies, as in protobuf
//! decoders.

use otlp_profiles::check::{Options, Rule, validate};
use otlp_profiles::framing::{Framing, frame};
use otlp_profiles::fuzzing::Random;
use otlp_profiles::proto::v1_10::ProfilesData;
use otlp_profiles::{Format, Severity};
use prost::Message;

use super::bases::{GENERATIONS, base, format};
use super::sized::sized;

/// The fields of a message: number, wire type, and the offsets of the tag, the body and the end.
fn fields(bytes: &[u8]) -> Vec<(u64, u64, usize, usize, usize)> {
    let varint = |at: &mut usize| {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[*at];
            *at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    let (mut fields, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let tag = varint(&mut at);
        let mut body = at;
        match tag & 7 {
            0 => drop(varint(&mut at)),
            1 => at += 8,
            2 => {
                let length = varint(&mut at) as usize;
                body = at;
                at += length;
            }
            wire => panic!("wire type {wire}"),
        }
        fields.push((tag >> 3, tag & 7, start, body, at));
    }
    fields
}

fn field(number: u64, body: &[u8]) -> Vec<u8> {
    assert!(number < 16 && body.len() < 1 << 14, "{number}: {}", body.len());
    let length = match body.len() {
        short @ 0..0x80 => vec![short as u8],
        long => vec![long as u8 | 0x80, (long >> 7) as u8],
    };
    [&[(number << 3 | 2) as u8], &length[..], body].concat()
}

/// The payload with the result of `edit` in place of the first message at a path of field numbers.
fn edited(bytes: &[u8], path: &[u64], edit: &dyn Fn(u64, &[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
    let (first, rest) = path.split_first()?;
    let found = fields(bytes).into_iter().find(|(number, wire, ..)| number == first && *wire == 2);
    let (number, _, start, body, end) = found?;
    let inner = &bytes[body..end];
    let new = match rest {
        [] => edit(number, inner),
        rest => field(number, &edited(inner, rest, edit)?),
    };
    Some([&bytes[..start], &new, &bytes[end..]].concat())
}

/// The findings except those about the pieces.
fn found(payload: &[u8], format: Format) -> Vec<(&'static str, String)> {
    let report = validate(payload, &Options::default().format(format));
    let told = report.findings().filter(|found| {
        let is_piece = ["OP1003", "OP1021", "OP1022", "OP2006"].contains(&found.rule.id());
        !is_piece && found.rule.id() != "OP9008"
    });
    told.map(|found| (found.rule.id(), found.path.clone())).collect()
}

/// Singular message fields: the generations, and the path.
const ONCE: [(&str, &[u64]); 6] = [
    ("1234567", &[1, 1]),
    ("1234567", &[1, 2, 1]),
    ("1", &[1, 2, 2, 8]),
    ("567", &[1, 2, 2, 1]),
    ("7", &[2]),
    ("P", &[11]),
];

#[test]
fn pieces_are_checked_as_the_message_they_are() {
    let mut several = 0;
    for (generation, _) in GENERATIONS {
        let of: Format = format(generation);
        let payload = base(generation).encode();
        let whole = found(&payload, of);
        for (_, path) in ONCE.iter().filter(|(generations, _)| generations.contains(generation)) {
            for at in 0..8 {
                let pieces = |number: u64, body: &[u8]| {
                    let ends: Vec<usize> = fields(body).iter().map(|field| field.4).collect();
                    let cut = *[0].iter().chain(&ends).nth(at).unwrap_or(&body.len());
                    [field(number, &body[..cut]), field(number, &body[cut..])].concat()
                };
                let Some(split) = edited(&payload, path, &pieces) else { continue };
                several += 1;
                assert_eq!(found(&split, of), whole, "{generation} {path:?} {at}");
            }
        }
    }
    assert!(several > 100, "{several}");
}

#[test]
fn what_pieces_have_together_is_found_at_its_byte() {
    // Two pieces of one resource, each with an attribute of the same key.
    let pair = field(1, b"\x0a\x01k\x12\x02\x18\x01");
    let payload = field(1, &[field(1, &pair), field(1, &pair)].concat());
    let report = validate(&payload, &Options::default().format(Format::OTLP));
    let twice = report.findings().find(|found| found.rule.id() == "OP5001").expect("a key twice");
    assert_eq!(twice.path, "resource_profiles[0].resource.attributes[1]");
    let second = payload.windows(7).rposition(|bytes| bytes[..2] == b"\x0a\x01"[..]);
    assert_eq!(twice.byte, second.map(|at| at as u64));
}

#[test]
fn the_last_number_counts() {
    let payload = base("7").encode();
    let sample: &[u64] = &[1, 2, 2, 2];
    let with = |before: &'static [u8], after: &'static [u8]| {
        let edit = |number: u64, body: &[u8]| field(number, &[before, body, after].concat());
        edited(&payload, sample, &edit).expect("a sample")
    };
    let whole = found(&payload, Format::OTLP);
    assert_eq!(found(&with(b"\x08\x63", b""), Format::OTLP), whole);
    let last = found(&with(b"", b"\x08\x63"), Format::OTLP);
    assert!(last.iter().any(|(rule, _)| *rule == "OP3101"), "{last:?}");
}

#[test]
fn what_cannot_be_read_is_told_whatever_is_asked() {
    let mut payload = base("7").encode();
    payload.pop();
    let rule = |id: &str| vec![Rule::find(id).expect("a rule")];
    let options = Options::default().format(Format::OTLP);
    for options in [
        options.clone().only(rule("OP4003")),
        options.clone().ignore(rule("OP1009")),
        options.clone().allow(rule("OP1009")),
    ] {
        let report = validate(&payload, &options);
        assert!(!report.is_readable() && report.count(Severity::Error) == 1, "{report:?}");
    }
    let empty = validate(b"", &Options::default().only(rule("OP4003")));
    assert!(!empty.is_readable());
}

/// Regression: a broken message discarded the findings of the messages before and after it.
#[test]
fn messages_of_a_file_are_judged_each_by_itself() {
    let payload = base("7").encode();
    let edit = |number: u64, body: &[u8]| field(number, &[body, b"\x08\x63"].concat());
    let bad = edited(&payload, &[1, 2, 2, 2], &edit).expect("a sample");
    let mut cut = payload.clone();
    cut.pop();
    let file = frame(Framing::LengthPrefixed, [&bad, &cut, &bad]).expect("frames");
    let report = validate(&file, &Options::default().format(Format::OTLP));
    let of = |rule: &str| -> Vec<String> {
        let found = report.findings().filter(|found| found.rule.id() == rule);
        found.map(|found| found.path.split('.').next().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(of("OP3101"), ["message[0]", "message[2]"]);
    assert_eq!(of("OP1009"), ["message[1]"]);

    // A truncated last message is reported once.
    let mut file = frame(Framing::LengthPrefixed, [&payload, &payload]).expect("frames");
    file.pop();
    let report = validate(&file, &Options::default().format(Format::OTLP));
    let cut = report.findings().find(|found| found.rule.id() == "OP1009").expect("a cut message");
    assert_eq!(cut.path, "message[1]");
}

/// A hundred thousand pieces, or as many empty ones, take linear time and memory.
#[test]
fn very_many_pieces_are_one_message() {
    let pair = field(1, b"\x0a\x01k\x12\x02\x18\x01");
    for (piece, keys) in [(field(1, &pair), 99_999), (field(1, b""), 0)] {
        let scope = field(2, &field(2, b""));
        let resource = [piece.repeat(100_000), scope].concat();
        let length = resource.len() as u32;
        let varint = [0, 7, 14, 21].map(|shift| (length >> shift) as u8 | 0x80);
        let payload = [&[0x0a], &varint[..], &[0], &resource].concat();
        let report = validate(&payload, &Options::default().format(Format::OTLP).max_findings(2));
        let twice = report.rule_counts().find(|tally| tally.rule.id() == "OP5001");
        assert_eq!(twice.map_or(0, |tally| tally.count), keys, "{report:?}");
    }
    // The last piece is empty with an overlong tag. The merged length still fits.
    let long = field(1, &field(1, &[&b"\x0a\xc8\x01"[..], &[b'k'; 200]].concat()));
    let resource = [&long[..], b"\x8a\x80\x80\x80\x00\x00"].concat();
    let payload = field(1, &resource);
    let sorted = |payload: &[u8]| {
        let mut found = found(payload, Format::OTLP);
        found.sort();
        found
    };
    assert_eq!(sorted(&payload), sorted(&field(1, &long)));
}

/// A oneof that is set to A, to B and to A again holds only the last A: protobuf merges only
/// consecutive occurrences.
#[test]
fn a_oneof_forgets_a_member_when_another_follows() {
    let map = |key: &[u8]| field(6, &field(1, &[field(1, key), field(2, b"\x18\x01")].concat()));
    let of = |value: &[u8]| {
        let attribute = field(1, &[field(1, b"a"), field(2, value)].concat());
        let report =
            validate(&field(1, &field(1, &attribute)), &Options::default().format(Format::OTLP));
        report
            .rule_counts()
            .find(|tally| tally.rule.id() == "OP5001")
            .map_or(0, |tally| tally.count)
    };
    assert_eq!(of(&[map(b"k"), map(b"k")].concat()), 1, "both are one map");
    assert_eq!(
        of(&[map(b"k"), b"\x18\x01".to_vec(), map(b"k")].concat()),
        0,
        "the last one is all"
    );
}

/// The messages of the newest generation, as paths of field numbers.
const MESSAGES: [&[u64]; 18] = [
    &[],
    &[1],
    &[1, 1],
    &[1, 2],
    &[1, 2, 1],
    &[1, 2, 2],
    &[1, 2, 2, 1],
    &[1, 2, 2, 2],
    &[1, 2, 2, 5],
    &[2],
    &[2, 1],
    &[2, 2],
    &[2, 2, 3],
    &[2, 3],
    &[2, 4],
    &[2, 6],
    &[2, 6, 2],
    &[2, 7],
];

/// Repeats one field of a message, before or after the others.
fn repeated(body: &[u8], numbers: &mut Random) -> Vec<u8> {
    let fields = fields(body);
    let Some(&(number, wire, start, inner, end)) = fields.get(numbers.below(fields.len().max(1)))
    else {
        return body.to_vec();
    };
    let tag = &body[start..=start];
    let again = match wire {
        0 => [tag, &[numbers.below(12) as u8]].concat(),
        2 if inner - start < 4 => field(number, &body[inner..end]),
        _ => body[start..end].to_vec(),
    };
    match numbers.below(2) {
        0 => [&again, body].concat(),
        _ => [body, &again].concat(),
    }
}

/// Repeated fields have the findings of the message that a decoder merges and encodes again.
#[test]
fn what_is_found_is_what_decoders_make_of_it() {
    let mut numbers = Random::new(11);
    let meant = |payload: &[u8]| {
        let found = found(payload, Format::OTLP).into_iter();
        let mut found: Vec<_> =
            found.filter(|(rule, _)| !rule.starts_with("OP10") && *rule != "OP3006").collect();
        found.sort();
        found
    };
    for round in 0..sized(4_000) {
        let mut payload = base("7").encode();
        for _ in 0..=numbers.below(4) {
            let path = MESSAGES[numbers.below(MESSAGES.len())];
            if path.is_empty() {
                payload = repeated(&payload, &mut numbers);
                continue;
            }
            let cell = std::cell::RefCell::new(&mut numbers);
            let edit =
                |number: u64, body: &[u8]| field(number, &repeated(body, &mut cell.borrow_mut()));
            payload = edited(&payload, path, &edit).unwrap_or(payload);
        }
        let left = ProfilesData::decode(&payload[..]).expect("it is well formed").encode_to_vec();
        let (ours, theirs) = (meant(&payload), meant(&left));
        let more: Vec<_> = ours.iter().filter(|found| !theirs.contains(found)).collect();
        let fewer: Vec<_> = theirs.iter().filter(|found| !ours.contains(found)).collect();
        let same = more.is_empty() && fewer.is_empty() && ours.len() == theirs.len();
        assert!(same, "{round}: {more:?}, not {fewer:?} of {payload:02x?}");
    }
}
