//! Reads text in UTF-16 and UTF-32, as PowerShell redirects it.

use otlp_profiles::check::{Options, validate};
use otlp_profiles::compression::{Level, deflate};
use otlp_profiles::{Format, Limits, ReadOptions, Reader, Summary, detect, read, write};

/// A text in all encodings, with a byte order mark.
fn encoded(text: &str) -> [Vec<u8>; 5] {
    let text = format!("\u{feff}{text}");
    let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect();
    let utf32 =
        |unit: fn(u32) -> [u8; 4]| text.chars().flat_map(|char| unit(char.into())).collect();
    [
        text.as_bytes().to_vec(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        utf32(u32::to_le_bytes),
        utf32(u32::to_be_bytes),
    ]
}

#[test]
fn every_text_format_is_read_in_every_encoding() {
    let folded = read("main;é 4\nmain;𝄞 5\n".as_bytes(), &ReadOptions::default()).unwrap().profiles;
    let text_of = |format: Format| {
        let payload = write(&folded, format, &Default::default()).unwrap().payload;
        String::from_utf8(payload).unwrap()
    };
    let perf = "busy 7 1.5: 3 cycles:\n\t12 f (b)\n\n";
    let heap = "heap profile: 1: 100 [2: 200] @ heapprofile\n1: 100 [2: 200] @ 0x12\n";
    let mut texts = vec![perf.to_owned(), perf.repeat(20_000), heap.to_owned()];
    texts.extend([Format::FOLDED, Format::OTLP_JSON, Format::SPEEDSCOPE].map(text_of));
    texts.push("main;run;é 42\n".repeat(30_000));
    let options = ReadOptions::default();
    let samples = |profiles: &otlp_profiles::Profiles| {
        let mut canonical = profiles.clone();
        canonical.compact();
        write(&canonical, Format::OTLP, &Default::default()).unwrap().payload
    };
    for text in texts {
        let wanted = read(text.as_bytes(), &options).unwrap();
        for bytes in encoded(&text) {
            for file in [deflate(&bytes, Level::FAST), bytes] {
                let reading = read(&file, &options).unwrap();
                assert_eq!(reading.detected.format, wanted.detected.format);
                assert!(samples(&reading.profiles) == samples(&wanted.profiles));
                assert_eq!(detect(&file, &options).unwrap().format, wanted.detected.format);
                assert!(Summary::of(&file, &options).is_ok());
                let all: Vec<_> = Reader::new(&file[..], &options).unwrap().collect();
                assert_eq!(all.len(), 1);
                assert!(samples(&all[0].as_ref().unwrap().profiles) == samples(&wanted.profiles));
            }
        }
    }
}

#[test]
fn lines_of_json_are_messages_in_every_encoding() {
    let folded = read(b"main;a 4\n", &ReadOptions::default()).unwrap().profiles;
    let json = write(&folded, Format::OTLP_JSON, &Default::default()).unwrap().payload;
    let lines = format!("{0}\n{0}\n", String::from_utf8(json).unwrap());
    for bytes in &encoded(&lines)[1..] {
        let readings = Reader::new(&bytes[..], &ReadOptions::default()).unwrap();
        assert_eq!(readings.filter(|reading| reading.is_ok()).count(), 2);
        let options = Options::default().format(Format::OTLP_JSON);
        assert!(validate(bytes, &options).findings().any(|found| found.rule.id() == "OP0010"));
    }
}

#[test]
fn what_is_not_a_character_is_invalid_text() {
    let [_, mut bytes, ..] = encoded("main;run 4\nmain;x 5\n");
    bytes[2 + 2 * 5] = 0; // `r` becomes the first half of a pair.
    bytes[2 + 2 * 5 + 1] = 0xd8;
    let options = ReadOptions::default().limits(Limits::network());
    // Names keep such bytes, like invalid UTF-8, and JSON is rejected.
    let profiles = read(&bytes, &options).unwrap().profiles;
    let stack = profiles.iter().next().unwrap().samples().get(0).unwrap().stack;
    let names: Vec<_> = profiles.dictionary().frames(stack).map(|f| f.to_string()).collect();
    assert_eq!(names, ["\u{fffd}un", "main"]);
    let [_, mut bytes, ..] = encoded("{\"resourceProfiles\": []} ");
    let end = bytes.len() - 2;
    bytes[end..].copy_from_slice(&[0, 0xd8]);
    assert!(read(&bytes, &options).is_err());
    let [_, bytes, ..] = encoded(&"main;run 4\n".repeat(1_000));
    for limits in
        [Limits::network().max_decompressed_bytes(9_000), Limits::network().max_input_bytes(9_000)]
    {
        assert!(read(&bytes, &options.clone().limits(limits)).unwrap_err().limit().is_some());
    }
}
