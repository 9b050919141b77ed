//! Rejects profiles inside other data: the error names the wrapping and the command that extracts them.

use crate::support::{options, try_read};
use otlp_profiles::check::{Options, validate};
use otlp_profiles::{ErrorKind, Format, Policy, ReadOptions};

/// A message of one profile with one sample, without the enclosing braces.
const MESSAGE: &str = r#""resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"values":["5"]}]}]}]}],"dictionary":{"stringTable":[""]}"#;

/// Returns the error of a text, which must be the same from every function that reads it.
#[track_caller]
fn refused(text: &str) -> String {
    let repair = ReadOptions::default().policy(Policy::Repair);
    let errors = [&ReadOptions::default(), &options("otlp-json"), &repair]
        .map(|options| otlp_profiles::read(text.as_bytes(), options).unwrap_err());
    let [error, ..] = &errors;
    assert_eq!(error.kind(), ErrorKind::Unrecognised);
    assert!(errors.iter().all(|other| other.to_string() == error.to_string()), "{errors:?}");
    for options in [Options::default(), Options::default().format(Format::OTLP_JSON)] {
        let report = validate(text.as_bytes(), &options);
        let [finding] = &*report.findings().collect::<Vec<_>>() else { panic!("{report:?}") };
        assert_eq!((finding.rule.id(), &*finding.value), ("OP0004", error.message()), "{text}");
    }
    error.message().to_owned()
}

#[test]
fn an_envelope_is_never_read_as_a_message_without_profiles() {
    let message = format!("{{{MESSAGE}}}");
    let original = message.replace("resourceProfiles", "resource_profiles");
    let string = format!("{message:?}");
    for (text, place, filter) in [
        (format!(r#"{{"request":{message}}}"#), "`request`", ".request"),
        (format!("{{\n  \"request\": {message}\n}}"), "`request`", ".request"),
        (format!(r#"{{"id":1,"data":{original}}}"#), "`data`", ".data"),
        (format!(r#"{{"resourceProfiles":[],"body":{message}}}"#), "`body`", ".body"),
        (format!(r#"{{"resourceProfiles":null,"payload":{message}}}"#), "`payload`", ".payload"),
        (
            format!(r#"{{"records":[{{"key":null}},{{"value":{message}}}]}}"#),
            "`records[].value`",
            ".records[].value",
        ),
        (format!(r#"{{"http-body":{message}}}"#), r#"`"http-body"`"#, r#"."http-body""#),
        (format!("[{message},{message}]"), "an array or object", ".[]"),
        // A key with special characters of the shell is not part of a command.
        (format!(r#"{{"'; rm -rf ~":{message}}}"#), "an array or object", ".[]"),
        (format!(r#"{{"body":{string}}}"#), "a string, `body`", ".body | fromjson"),
    ] {
        assert_eq!(
            refused(&text),
            format!(
                "`resourceProfiles` is within {place}, not at the top level: extract it with `jq -c '{filter}' FILE > profiles.json`"
            )
        );
    }
    // An unknown key of a newer generation is not an envelope.
    let newer = format!(r#"{{{MESSAGE},"later":{{"resourceProfiles":[]}}}}"#);
    assert_eq!(try_read("otlp-json", newer.as_bytes()).unwrap().iter().count(), 1);
}

#[test]
fn json_of_other_keys_is_not_read_as_a_message_without_profiles() {
    for (text, key) in [
        (format!("{{{}}}", MESSAGE.replace("resourceP", "ResourceP")), "ResourceProfiles"),
        (r#"{"scopeProfiles":[{}],"dictionary":{"stringTable":[""]}}"#.to_owned(), "scopeProfiles"),
    ] {
        assert_eq!(
            refused(&text),
            format!(
                r#"this JSON has no `resourceProfiles`, but "{key}": OTLP/JSON of profiles is {{"resourceProfiles": […], "dictionary": {{…}}}}"#
            )
        );
    }
    // Empty messages contain no profiles to lose.
    for empty in [
        "{}",
        r#"{"resourceProfiles":[]}"#,
        r#"{"resourceProfiles":[],"later":[1]}"#,
        r#"{"later":1}"#,
    ] {
        assert_eq!(try_read("otlp-json", empty.as_bytes()).unwrap().iter().count(), 0);
    }
}

#[test]
fn lines_of_envelopes_are_refused_as_well() {
    let line = format!("{{\"request\":{{{MESSAGE}}}}}\n");
    let mut reader = otlp_profiles::Reader::new(
        std::io::Cursor::new(format!("{line}{line}")),
        &ReadOptions::default(),
    )
    .unwrap();
    let error = reader.next().unwrap().unwrap_err();
    assert!(error.message().starts_with("`resourceProfiles` is within `request`"), "{error}");
}

#[test]
fn json_values_one_after_the_other_are_named() {
    let message = format!("{{\n{MESSAGE}\n}}\n");
    assert_eq!(
        refused(&format!("{message}{message}")),
        "another JSON value follows the message: `jq -c . FILE > profiles.json` writes one message a line, which is read"
    );
}
