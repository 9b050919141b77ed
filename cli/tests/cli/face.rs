//! Output for people, for logs and for programs.

use std::fs;

use serde_json::Value;

use crate::*;

/// Runs the command with messages for people, as on a terminal.
#[track_caller]
fn as_a_person(room: &Path, arguments: &str, exit: i32) -> Output {
    let mut command = command(arguments);
    let output = command.current_dir(room).env("OTLP_PROFILES_LOG", "human").output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{arguments}: {}", stderr(&output));
    output
}

#[test]
fn a_person_reads_one_plain_line_for_each_problem() {
    let room = room("person");
    copy("java.jfr", &room.join("a b.jfr"));
    copy(PPROFS[0], &room.join("a.pb.gz"));
    fs::write(room.join("args"), "").unwrap();
    let mut info = command("info");
    info.arg("a b.jfr").arg("absent.pb").arg("a.pb.gz").env("OTLP_PROFILES_LOG", "human");
    let output = info.current_dir(&room).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    let jfr = "otlp-profiles: a b.jfr: this is a Java Flight Recorder file, which is not supported: `jfrconv -o pb.gz 'a b.jfr' profile.pb.gz`";
    assert!(lines[0].starts_with(jfr), "{said}");
    assert!(lines[1].starts_with("otlp-profiles: absent.pb: cannot be read: "), "{said}");
    let page = stdout(&output);
    assert!(page.starts_with("a.pb.gz\n"), "nothing is said of what was not read: {page}");
    assert!(!page.contains("error") && !page.contains("0 bytes"), "{page}");
}

/// Regression: a truncated OTLP 1.7 file was reported as certainly 1.6, though the missing part
/// decides between them.
#[test]
fn a_file_that_was_cut_off_is_certain_to_be_nothing() {
    let room = room("cut");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "convert a.pb.gz --to 1.7 -o a.otlp", 0);
    let whole = fs::read(room.join("a.otlp")).unwrap();
    fs::write(room.join("cut.otlp"), &whole[..3000]).unwrap();
    assert!(stdout(&run(&room, "info a.otlp", 0)).contains("otlp-1.7 (certain)"));
    let page = stdout(&run(&room, "info cut.otlp", 3));
    assert!(page.contains("seems") && page.contains(" (the nearest): "), "{page}");
    let json: Value =
        serde_json::from_slice(&run(&room, "info cut.otlp --json", 3).stdout).unwrap();
    assert_eq!(json["files"][0]["seems"]["certainty"], "nearest");
}

/// Words of other tools, and names of files, get the command that does the same.
#[test]
fn words_of_other_tools_are_understood() {
    let room = room("face_tips");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for (arguments, tip) in [
        ("list main cpu.pb.gz", "top --peek"),
        ("tags cpu.pb.gz", "attribute"),
        ("flamegraph cpu.pb.gz", "view FILE -o page.html"),
        ("compare a.pb.gz b.pb.gz", "diff BEFORE AFTER"),
        ("top cpu.pb.gz --sort cum", "top --cum"),
        ("top cpu.pb.gz --sort=cum", "top --cum"),
        ("cpu.pb.gz", "top cpu.pb.gz"),
        ("absent.pb.gz", "info absent.pb.gz"),
        ("convert cpu.pb.gz -o cpu.html", "otlp-profiles view cpu.pb.gz -o cpu.html"),
        ("convert cpu.pb.gz -o cpu.svg", "otlp-profiles view cpu.pb.gz -o cpu.svg"),
    ] {
        let output = as_a_person(&room, arguments, 2);
        says(&output, tip);
        for wrong in ["--secrets", "'validate'", "-- --sort"] {
            assert!(!stderr(&output).contains(wrong), "{arguments}: {}", stderr(&output));
        }
    }
    let output = as_a_person(&room, "top http://localhost:6060/debug/pprof/profile?seconds=5", 3);
    says(&output, "download it first with `curl -f -o profile.pb.gz 'http://localhost:6060/");
}

/// The title of a page explains why a download is no profile.
#[test]
fn a_page_is_quoted_by_its_title() {
    let room = room("face_title");
    let page =
        "<!doctype html>\n<html><head><style>a{}</style>\n<Title lang=en>Sign in\n to X</title>";
    fs::write(room.join("cpu.pb.gz"), page).unwrap();
    says(&as_a_person(&room, "info cpu.pb.gz", 3), "its title is \"Sign in to X\"");
    fs::write(room.join("cpu.pb.gz"), "<html><body>no title</body></html>").unwrap();
    says(&as_a_person(&room, "info cpu.pb.gz", 3), "it begins with \"<html><body>");
}

/// The environment variable enables the log. Otherwise messages are sentences, even with -v and in
/// a pipe.
#[test]
fn pipes_and_files_get_words_unless_a_log_is_asked_for() {
    let room = room("pipe");
    copy("java.jfr", &room.join("a.jfr"));
    for arguments in ["info a.jfr", "-v info a.jfr"] {
        let output = run(&room, arguments, 3);
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        assert!(stderr(&output).starts_with("otlp-profiles: a.jfr: this is a Java"));
        assert!(output.stdout.is_empty());
    }
    let output = logged(&room, "info a.jfr", 3);
    assert_eq!(lines(&output, "ERROR").len(), 1);
    assert!(stderr(&output).ends_with(" in=a.jfr\n"), "{}", stderr(&output));
    let mut wrong = command("info a.jfr");
    let output = wrong.current_dir(&room).env("OTLP_PROFILES_LOG", "xml").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    says(&output, "human, text or json");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_words_and_colours() {
    let room = room("terminal");
    copy("java.jfr", &room.join("a.jfr"));
    // script(1) runs a command in a terminal.
    let on_terminal = |arguments: &str| {
        let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_otlp-profiles"));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(&room).stdin(Stdio::null());
        script.env_remove("OTLP_PROFILES_LOG").env("TERM", "xterm").env_remove("NO_COLOR");
        script.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(words) = on_terminal("--color never info a.jfr") else {
        eprintln!("skipped: there is no script(1)");
        return;
    };
    assert!(words.starts_with("otlp-profiles: a.jfr: this is a Java"), "{words}");
    assert_eq!(words.matches("Flight Recorder").count(), 1, "{words}");
    let coloured = on_terminal("info a.jfr").unwrap();
    assert!(coloured.contains("\x1b["), "{coloured}");
}

#[test]
fn losses_are_said_once() {
    let room = room("losses-once");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let code = "profile_id.dropped";
    let count = |output: &Output| stderr(output).matches(code).count();
    let table = as_a_person(&room, "convert old.otlp -f -o new.pb", 0);
    assert_eq!(count(&table), 1, "{}", stderr(&table));
    says(&table, "old.otlp: otlp-1.3 to pprof: lossy\n");
    says(&table, "otlp-profiles: warning: otlp-1.3 is deprecated");
    let refused = as_a_person(&room, "convert old.otlp -f -o new.pb --deny-loss", 1);
    assert_eq!(count(&refused), 1, "{}", stderr(&refused));
    says(&refused, "otlp-profiles: old.otlp: --deny-loss refuses the losses listed above");
    let log = logged(&room, "convert old.otlp -f -o new.pb", 0);
    assert_eq!(count(&log), 1, "{}", stderr(&log));
    assert!(!stderr(&log).contains("lossy"), "{}", stderr(&log));
    let refused = run(&room, "convert old.otlp -f -o new.pb --deny-loss", 1);
    assert_eq!(count(&refused), 1, "{}", stderr(&refused));
    let report = run(&room, "convert old.otlp -f -o new.pb --report text", 0);
    assert_eq!(count(&report), 1, "{}", stderr(&report));
    says(&report, "old.otlp: otlp-1.3 to pprof: lossy\n");
}

#[test]
fn json_is_asked_for_in_one_way() {
    let room = room("json");
    copy(OTLP_1_3, &room.join("old.otlp"));
    copy("java.jfr", &room.join("a.jfr"));
    for json in ["--json", "--report json"] {
        let arguments = format!("convert old.otlp a.jfr --to pprof -f -o out {json}");
        let output = run(&room, &arguments, 3);
        let objects: Vec<Value> =
            stderr(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let reports: Vec<_> =
            objects.iter().filter(|one| one["schema"] == "otlp-profiles/convert/1").collect();
        assert_eq!(reports.len(), 2, "{objects:#?}");
        let report = reports[0];
        assert_eq!(report["certainty"], "certain");
        assert_eq!(report["others"], serde_json::json!([]));
        assert!(!report["evidence"].as_array().unwrap().is_empty());
        assert_eq!((&report["guessed"], &report["verdict"]), (&false.into(), &"lossy".into()));
        assert_eq!(reports[1]["error"]["exit"], 3);
        assert_eq!(stderr(&output).matches("Flight Recorder").count(), 1);
        assert_eq!(stderr(&output).matches("profile_id.dropped").count(), 1);
    }
    let output = run(&room, "info --json a.jfr absent", 3);
    let documents: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 2, "a document for each input");
    assert_eq!(documents[0]["files"][0]["error"]["exit"], 3);
    let keys: Vec<_> = documents[1]["files"][0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["error", "path"], "nothing is known of what cannot be opened");
}

/// Regression: usage errors were plain text, log lines appeared between reports, and failures
/// appeared twice.
#[test]
fn all_of_it_is_json_where_json_is_asked_for() {
    let room = room("all-json");
    copy(OTLP_1_3, &room.join("old.otlp"));
    copy("java.jfr", &room.join("a.jfr"));
    let objects = |arguments: &str, form: &str, exit: i32| -> Vec<Value> {
        let mut command = command(arguments);
        let output = command.current_dir(&room).env("OTLP_PROFILES_LOG", form).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{arguments}: {}", stderr(&output));
        let said = stderr(&output);
        said.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    };
    for (arguments, form) in [
        ("convert old.otlp --json --to nope", ""),
        ("convert old.otlp --json", ""),
        ("convert --report json", "text"),
        ("convert old.otlp --to nope", "json"),
        ("info", "json"),
    ] {
        let said = objects(arguments, form, 2);
        assert_eq!((said.len(), &said[0]["level"]), (1, &"ERROR".into()), "{arguments}");
    }
    for form in ["", "text", "human", "json"] {
        let said = objects("convert old.otlp -f -o new.pb --json", form, 0);
        assert_eq!(said[0]["schema"], "otlp-profiles/convert/1", "{form}");
    }
    assert_eq!(objects("convert a.jfr -o a.otlp", "json", 3).len(), 1);
    assert!(stderr(&run(&room, "convert --help", 0)).is_empty());
}

/// Regression: the message about a skipped file read like a failure.
#[test]
fn a_person_reads_that_a_file_was_skipped() {
    let room = room("skipped");
    copy(PPROFS[0], &room.join("in/a.pb.gz"));
    fs::write(room.join("in/README"), "Read me first.\n").unwrap();
    says(&as_a_person(&room, "-v info in", 0), "otlp-profiles: in/README: File skipped: ");
}

#[test]
fn quiet_leaves_failures_alone() {
    let room = room("quiet");
    copy(OTLP_1_3, &room.join("old.otlp"));
    copy("java.jfr", &room.join("a.jfr"));
    for arguments in ["-q convert old.otlp -f -o new.pb", "info old.otlp --quiet"] {
        assert_eq!(stderr(&as_a_person(&room, arguments, 0)), "", "{arguments}");
        assert_eq!(stderr(&run(&room, arguments, 0)), "", "{arguments}");
    }
    assert!(room.join("new.pb").exists());
    says(&run(&room, "-q info a.jfr", 3), "Flight Recorder");
    says(&run(&room, "-q convert old.otlp -f -o new.pb --json", 0), "\"verdict\"");
    run(&room, "-q -v info old.otlp", 2);
}

#[test]
fn colours_are_for_people() {
    let room = room("colour");
    copy(OTLP_1_3, &room.join("old.otlp"));
    let colours = |arguments: &str, form: &str, set: &[(&str, &str)]| {
        let mut command = command(arguments);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.current_dir(&room).env("OTLP_PROFILES_LOG", form).envs(set.iter().copied());
        let output = command.output().unwrap();
        stderr(&output).contains("\x1b[") || stdout(&output).contains("\x1b[")
    };
    for arguments in ["info old.otlp", "convert old.otlp -f -o new.pb", "convert --wrong"] {
        let with = |color: &str| format!("{arguments} {color}");
        assert!(!colours(arguments, "human", &[]), "{arguments}");
        assert!(colours(&with("--color always"), "human", &[]), "{arguments}");
        assert!(colours(&with("--color=always"), "human", &[("NO_COLOR", "1")]), "{arguments}");
        assert!(colours(arguments, "human", &[("CLICOLOR_FORCE", "1")]), "{arguments}");
        let never = with("--color never");
        assert!(!colours(&never, "human", &[("CLICOLOR_FORCE", "1")]), "{arguments}");
    }
    assert!(!colours("convert old.otlp -f -o new.pb --color always", "text", &[]));
    assert!(!colours("convert old.otlp -f -o new.pb --color always", "json", &[]));
}

#[test]
fn the_version_names_what_is_known() {
    let room = room("version");
    let long = stdout(&run(&room, "--version", 0));
    for format in otlp_profiles::Format::ALL {
        assert!(long.contains(&format!("\n  {format} ")), "{format}: {long}");
    }
    let short = stdout(&run(&room, "-V", 0));
    assert_eq!(short, format!("otlp-profiles {}\n", env!("CARGO_PKG_VERSION")));
}

/// The names of the sections of a manual page.
fn manual_sections(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect()
}

/// The short help lists everyday options only and fits a screen of 50 lines; `--help` has the rest.
#[test]
fn short_help_fits_a_screen() {
    let subcommands =
        ["convert", "info", "validate", "merge", "diff", "filter", "redact", "split", "top"];
    for (subcommand, width, most) in
        subcommands.iter().flat_map(|subcommand| [(subcommand, "100", 50), (subcommand, "80", 60)])
    {
        let mut help = command(&format!("{subcommand} -h"));
        let page = stdout(&help.env("COLUMNS", width).output().unwrap());
        assert!(page.lines().count() <= most, "{}: {page}", page.lines().count());
        assert!(page.contains("--from <FORMAT>") && !page.contains("--max-strings"), "{page}");
        assert!(page.contains("\nExamples:\n"), "{page}");
    }
    let long = stdout(&run(&room("long-help"), "convert --help", 0));
    let headings = long.lines().filter(|line| !line.starts_with(' ') && line.ends_with(':'));
    let wanted = [
        "Options:",
        "Input:",
        "Output:",
        "Options for OTLP:",
        "Options for pprof and folded stacks:",
        "Options for folded stacks:",
        "Options for speedscope:",
        "Options for perf script:",
        "Options for events:",
        "Options for OSProfiler:",
        "Limits:",
        "Messages:",
        "Examples:",
    ];
    assert_eq!(headings.collect::<Vec<_>>(), wanted);
}

#[test]
fn reference_lists_the_options_of_all_subcommands() {
    let page = stdout(&run(&room("reference"), "man --markdown", 0));
    let path = Path::new(ROOT).join("docs/CLI_REFERENCE.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "docs/CLI_REFERENCE.md is out of date: run with BLESS=1");
}

#[test]
fn manual_pages_are_printed_and_written() {
    let room = room("man");
    let page = stdout(&run(&room, "man", 0));
    assert!(page.contains(".TH otlp-profiles 1"), "{page}");
    let usual = ["NAME", "SYNOPSIS", "DESCRIPTION", "SUBCOMMANDS", "OPTIONS"];
    let last = ["\"EXIT STATUS\"", "ENVIRONMENT", "EXAMPLES", "\"SEE ALSO\""];
    assert_eq!(manual_sections(&page), [&usual[..], &last].concat());
    run(&room, "man pages/man1", 0);
    let names = [
        "",
        "-completions",
        "-convert",
        "-corpus",
        "-diff",
        "-export",
        "-filter",
        "-import",
        "-info",
        "-man",
        "-merge",
        "-pipeline",
        "-redact",
        "-split",
        "-sql",
        "-top",
        "-view",
        "-validate",
    ];
    let names = names.map(|name| format!("otlp-profiles{name}.1"));
    let mut written = files(&room.join("pages/man1"));
    written.sort();
    let mut wanted = names.to_vec();
    wanted.sort();
    assert_eq!(written, wanted);
    let convert = room.join("pages/man1/otlp-profiles-convert.1");
    let before = fs::read_to_string(&convert).unwrap();
    assert!(before.contains("\\-\\-deny\\-loss") && before.contains(".SS LIMITS"), "{before}");
    assert_eq!(manual_sections(&before), [&usual[..3], &usual[4..], &last].concat());
    run(&room, "man pages/man1", 0);
    assert_eq!(fs::read_to_string(&convert).unwrap(), before);
}

#[test]
fn generations_are_named_as_people_do() {
    let room = room("names");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    for name in ["1.9", "otlp-1.9"] {
        run(&room, &format!("convert a.pb.gz -f -o a.otlp --to {name}"), 0);
        assert_eq!(info(&room, "a.otlp --from 1.9")["messages"][0]["format"], "otlp-1.9");
    }
    for wrong in ["otlp-2", "2", "1.12", "otlp-9.9"] {
        let output = run(&room, &format!("convert a.pb.gz -o b.otlp --to {wrong}"), 2);
        let said = stderr(&output);
        let tip = said.lines().find(|line| line.contains("tip:")).unwrap_or_default();
        assert!(tip.contains("'otlp-1.10' is the newest"), "{wrong}: {said}");
        assert!(said.contains("otlp-1.3,") && said.contains("folded"), "all are listed: {said}");
    }
    let output = run(&room, "convert a.pb.gz -o b.otlp --to OTLP-1.9", 2);
    says(&output, "the name is 'otlp-1.9'");
    let output = run(&room, "convert a.pb.gz -o b.otlp --to perf-script", 2);
    says(&output, "perf-script is only read");
    // Options that neither the input nor the output supports.
    let output = run(&room, "convert a.pb.gz -o b.otlp --columns 2", 2);
    says(&output, "--columns does not apply to pprof: it applies to folded");
    let output = run(&room, "convert a.pb.gz -o b.otlp --folded-labels", 2);
    says(&output, "--folded-labels does not apply to writing otlp-1.10");
    run(&room, "convert a.pb.gz -f -o a.otlp", 0);
    for (arguments, said) in [
        ("a.pb.gz -o b.otlp --timestamps drop", "--timestamps does not apply to writing otlp-1.10"),
        ("a.pb.gz -o b.folded --timestamps drop", "--timestamps does not apply to writing folded"),
        (
            "a.pb.gz -o b.folded --profile-id 01020304050607080102030405060708",
            "--profile-id does not apply to writing folded",
        ),
        (
            "a.otlp -o b.otlp --timestamp-label t",
            "--timestamp-label does not apply to reading otlp",
        ),
        ("a.otlp -o b.speedscope --no-links", "--no-links does not apply to reading otlp-1.10 or"),
    ] {
        says(&run(&room, &format!("convert {arguments}"), 2), said);
    }
    let missing = run(&room, "convert a.otlp -o b.pb --type a", 3);
    says(&missing, "no sample type is called as --type asks: there are");
    run(&room, "convert a.otlp -o b.pb --no-links --timestamps drop", 0);
    let output = run(&room, "convert b.pb -o b.otlp --no-links --timestamp-label t", 0);
    says(&output, "b.pb has no such times: no label has the key \"t\"");
    let output = run(&room, "convert a.pb.gz -o b.otlp --to prof", 2);
    says(&output, "pprof");
}

/// A pprof with one sample, taken in 1970.
fn of_1970() -> Vec<u8> {
    let mut bytes = vec![0x0a, 4, 0x08, 1, 0x10, 2]; // sample_type
    bytes.extend([0x12, 7, 0x12, 5, 0x80, 0xa7, 0x9f, 0x89, 0x06]); // sample: 1,630,000,000
    for text in ["", "cpu", "nanoseconds"] {
        bytes.extend([0x32, text.len() as u8]);
        bytes.extend(text.as_bytes());
    }
    bytes.extend([0x48, 0x80, 0xe2, 0xcf, 0xaa, 0x06]); // time_nanos: seconds, 1,700,000,000
    bytes
}

#[test]
fn people_read_numbers_and_programs_get_them_exactly() {
    let room = room("numbers");
    fs::write(room.join("a.pb"), of_1970()).unwrap();
    let page = stdout(&run(&room, "info a.pb", 0));
    assert!(page.contains("cpu 1,630,000,000 nanoseconds (1.6 s)"), "{page}");
    assert!(page.contains("1970-01-01T00:00:01.7Z (implausible: before 1980)"), "{page}");
    let json = info(&room, "a.pb");
    let profile = &profiles(&json["messages"][0])[0];
    assert_eq!(profile["sample_types"][0]["sum"], 1_630_000_000);
    assert_eq!(profile["time_unix_nano"], 1_700_000_000);
}

/// Counting and reading give the same description, except for tables that only reading creates and
/// for the note that references were not checked.
#[test]
fn a_full_description_is_the_same() {
    let room = room("info_full");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "convert a.pb.gz -o a.otlp", 0);
    for file in ["a.pb.gz", "a.otlp"] {
        let described = |flags: &str| -> serde_json::Value {
            let output = run(&room, &format!("info {file} {flags}"), 0);
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let (full, mut quick) = (described("--json --full"), described("--json"));
        let message = &mut quick["files"][0]["messages"][0];
        assert_eq!(message["checked"], false);
        message.as_object_mut().unwrap().remove("checked");
        message["tables"] = full["files"][0]["messages"][0]["tables"].clone();
        message["findings"] = full["files"][0]["messages"][0]["findings"].clone();
        assert_eq!(quick, full, "{file}");
    }
    let page = String::from_utf8(run(&room, "info a.otlp", 0).stdout).unwrap();
    assert!(page.contains("unchecked"), "{page}");
    // Tables that the format lacks are not listed as empty.
    assert!(!page.contains(" 0 "), "{page}");
    let page = String::from_utf8(run(&room, "info a.otlp --full", 0).stdout).unwrap();
    assert!(!page.contains("unchecked"), "{page}");
}
