//! Files of several messages, of which some cannot be read, and payloads that a relay of another generation damaged.

use otlp_profiles::framing::{Framing, frame};

use crate::*;

/// A field with a length.
fn field(number: u8, body: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(body.len()).unwrap()], body].concat()
}

/// A message of 1.10 with samples of these values. With `is_misread` the values are in the field of the attribute
/// indices, as after a relay that took 1.9 for 1.10.
fn message(values: &[u32], is_misread: bool) -> Vec<u8> {
    let sample = |value: &u32| {
        let mut packed = Vec::new();
        let mut rest = *value;
        while rest >= 0x80 {
            packed.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        packed.push(rest as u8);
        field(2, &field(if is_misread { 2 } else { 4 }, &packed))
    };
    let samples: Vec<u8> = values.iter().flat_map(sample).collect();
    // A sample type of the strings 1 and 2.
    let profile = [&field(1, b"\x08\x01\x10\x02")[..], &samples].concat();
    let scope = field(2, &field(2, &profile));
    // An attribute with a key by reference, which only 1.10 has.
    let resource = field(1, &field(1, b"\x18\x03\x12\x03\x0a\x01v"));
    let tables = [1, 2, 3, 4, 6, 7].map(|table| field(table, b""));
    let strings = [&b""[..], b"cpu", b"ns", b"a"].map(|text| field(5, text));
    let dictionary = [tables.concat(), strings.concat()].concat();
    [field(1, &[resource, scope].concat()), field(2, &dictionary)].concat()
}

const CAUSE: &str = "a relay of 1.10 took for its own";

#[test]
fn what_a_relay_of_another_generation_damaged_is_named() {
    let room = room("messages_relay");
    fs::write(room.join("good.otlp"), message(&[700, 70], false)).unwrap();
    assert_eq!(sums(&room, "good.otlp")[0].2, 770);
    for (name, values) in [("all.otlp", &[700, 70][..]), ("one.otlp", &[700, 0])] {
        fs::write(room.join(name), message(values, true)).unwrap();
        let output = run(&room, &format!("info {name}"), 3);
        says(&output, CAUSE);
        assert!(!stderr(&output).contains("--repair"), "{}", stderr(&output));
        // Dropping the indices would delete the last trace of the values.
        run(&room, &format!("convert {name} --repair -o out.otlp"), 3);
        assert!(!room.join("out.otlp").exists());
        says(&run(&room, &format!("info {name} --from otlp-1.9"), 3), "the values are lost");
        let page = stdout(&run(&room, &format!("validate {name}"), 1));
        assert!(page.contains("OP4026 values-misread") && !page.contains("OP3102"), "{page}");
        assert!(!page.contains("--fix"), "nothing is fixable: {page}");
        let before = fs::read(room.join(name)).unwrap();
        run(&room, &format!("validate --fix {name}"), 1);
        assert_eq!(fs::read(room.join(name)).unwrap(), before);
    }
}

#[test]
fn a_file_loses_only_the_messages_that_cannot_be_read() {
    let room = room("messages_skipped");
    let (good, bad) = (message(&[700, 70], false), message(&[700, 70], true));
    fs::write(room.join("good.otlp"), &good).unwrap();
    let json = run(&room, "convert good.otlp --to otlp-json -o -", 0).stdout;
    let json = json.trim_ascii_end();
    let broken = &json[..json.len() - 3];
    let files = [
        ("some.pb", frame(Framing::LengthPrefixed, [&good, &bad, &good, &bad]).unwrap()),
        ("some.json", frame(Framing::JsonLines, [json, broken, json, broken]).unwrap()),
    ];
    for (name, file) in files {
        fs::write(room.join(name), file).unwrap();
        let skipped = format!("{name}: 2 unreadable messages skipped: message[1]");
        for shows in
            ["top NAME", "view NAME -f -o page.html", "view NAME --flame", "diff NAME NAME"]
        {
            let output = run(&room, &shows.replace("NAME", name), 0);
            says(&output, &skipped);
            says(&output, "; message[3]");
        }
        let writes = [
            "convert NAME -f -o out.otlp",
            "merge NAME -f -o out.otlp",
            "filter NAME -f -o out.otlp",
            "split NAME --by resource -f -o out.otlp",
            "redact NAME -f -o out.otlp",
            "diff NAME NAME -f -o out.otlp",
        ];
        for writes in writes.map(|writes| writes.replace("NAME", name)) {
            let output = run(&room, &writes, 3);
            says(&output, "--skip-unreadable skips this message");
            let output = run(&room, &format!("{writes} --skip-unreadable"), 0);
            says(&output, &skipped);
        }
        run(&room, &format!("merge {name} --skip-unreadable -f -o merged.otlp"), 0);
        let repeated = sums(&room, "merged.otlp");
        assert_eq!(repeated.len(), 1, "{repeated:?}");
        run(&room, &format!("merge {name} --skip-unreadable --deny-loss -f -o denied.otlp"), 1);
    }
}

#[test]
fn a_run_without_a_readable_input_fails() {
    let room = room("messages_none");
    let (good, bad) = (message(&[700], false), message(&[700], true));
    fs::write(room.join("good.otlp"), &good).unwrap();
    fs::write(room.join("bad.otlp"), &bad).unwrap();
    fs::write(room.join("framed.pb"), frame(Framing::LengthPrefixed, [&bad, &bad]).unwrap())
        .unwrap();
    for command in ["merge", "convert", "filter"] {
        for inputs in ["bad.otlp", "framed.pb"] {
            let output =
                run(&room, &format!("{command} {inputs} --skip-unreadable -o out.otlp"), 3);
            says(&output, CAUSE);
            assert!(!room.join("out.otlp").exists(), "{command} {inputs}");
        }
    }
    for command in ["top", "info", "merge -o all.otlp"] {
        run(&room, &format!("{command} bad.otlp absent.otlp --skip-unreadable"), 3);
        let output =
            run(&room, &format!("{command} good.otlp bad.otlp absent.otlp --skip-unreadable"), 0);
        says(&output, CAUSE);
        says(&output, "absent.otlp: cannot be read");
    }
}

#[test]
fn a_receiver_gets_one_message_a_file() {
    let room = room("messages_requests");
    let (one, two) = (message(&[700], false), message(&[70], false));
    fs::write(room.join("two.pb"), frame(Framing::LengthPrefixed, [&one, &two]).unwrap()).unwrap();
    fs::write(room.join("one.pb"), &one).unwrap();
    for receiver in ["collector", "parca", "pyroscope"] {
        run(&room, &format!("convert two.pb --for {receiver} -f -o new.otlp"), 0);
        for (file, sum) in [("new.0.otlp", 700), ("new.1.otlp", 70)] {
            assert_eq!(sums(&room, file)[0].2, sum);
            run(&room, &format!("validate --wire {file}"), 0);
        }
        assert!(!room.join("new.otlp").exists());
        let output = run(&room, &format!("convert two.pb --for {receiver}"), 4);
        says(&output, "otlp-profiles merge");
        says(&output, "otlp-profiles split");
    }
    run(&room, "convert one.pb --for collector -o alone.otlp", 0);
    run(&room, "merge two.pb --for collector -o merged.otlp", 0);
    run(&room, "validate --wire alone.otlp merged.otlp", 0);
}

#[test]
fn tables_without_their_first_rows_are_explained() {
    let room = room("messages_rows");
    // The dictionary without the rows that pdata's MergeTo leaves out.
    let profile = field(1, b"\x08\x00\x10\x01");
    let sample = field(2, b"\x22\x01\x07");
    let scope = field(2, &field(2, &[profile, sample].concat()));
    let dictionary = [field(5, b"cpu"), field(5, b"ns")].concat();
    let payload = [field(1, &scope), field(2, &dictionary)].concat();
    fs::write(room.join("empty.otlp"), payload).unwrap();
    let output = run(&room, "info empty.otlp --from otlp", 3);
    says(&output, "MergeTo leaves out");
    says(&output, "--repair");
}
