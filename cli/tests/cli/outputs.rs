//! What the command prints, draws and writes: texts of a file in their place, outputs within their limit, differences.

use otlp_profiles::escape::is_hidden;
use otlp_profiles::model::{AttributeOwner, StringField};
use otlp_profiles::{Format, WriteOptions, read, write};

use crate::*;

/// Characters that act on a terminal, a log, a page or a query.
const HOSTILE: &str = "::error file=a::b\n::error::c\r\u{1b}[31m\u{9b}1m\u{202e}\u{61c}\u{e0041}\u{feff}##[group]<b>&\"'";

/// Writes a profile of which every text holds hostile characters.
fn hostile(path: &Path) {
    let bytes = fs::read(testdata(PPROFS[0])).unwrap();
    let mut profiles = read(&bytes, &Default::default()).unwrap().profiles;
    let fields = [
        StringField::FunctionName,
        StringField::FunctionSystemName,
        StringField::FunctionFilename,
        StringField::MappingFilename,
        StringField::SampleTypeName,
        StringField::ScopeName,
        StringField::ScopeVersion,
    ];
    profiles.rewrite_strings(&fields, |text| Some(format!("{HOSTILE}{text}"))).unwrap();
    for owner in [AttributeOwner::Sample, AttributeOwner::Profile, AttributeOwner::Resource] {
        profiles.edit_attributes(owner, |labels| labels.set(HOSTILE, HOSTILE)).unwrap();
    }
    let comment = AttributeOwner::Profile;
    profiles.edit_attributes(comment, |all| all.set("pprof.profile.doc_url", HOSTILE)).unwrap();
    fs::write(path, write(&profiles, Format::OTLP, &WriteOptions::default()).unwrap().payload)
        .unwrap();
}

/// Checks that no text of a file acts where a report is printed.
#[track_caller]
fn is_harmless(text: &str, arguments: &str) {
    for line in text.split('\n') {
        let hidden = line.chars().find(|char| is_hidden(*char) && *char != '\t');
        assert_eq!(hidden, None, "{arguments}: {line:?}");
        assert!(!line.trim_start().starts_with("::error"), "{arguments}: {line:?}");
        assert!(!line.contains("##["), "{arguments}: {line:?}");
    }
}

#[test]
fn texts_of_a_file_do_not_act_in_any_report() {
    let room = room("outputs-hostile");
    hostile(&room.join("h.otlp"));
    run(&room, "convert h.otlp -o h.pb.gz --force", 0);
    for arguments in [
        "top h.otlp",
        "top h.otlp --by file",
        "top h.otlp --by line --cum",
        "top h.otlp --by mapping",
        "top h.otlp --tree",
        "top h.otlp --traces",
        "top h.otlp --peek error",
        "top h.otlp --json",
        "top h.otlp --traces --json",
        "view h.otlp --flame",
        "view h.otlp --flame --color never",
        "diff h.otlp h.pb.gz",
        "diff h.pb.gz h.otlp --by stack",
        "info h.otlp",
        "info h.otlp --json",
        "info h.otlp --full",
        "validate h.otlp",
        "validate h.otlp --format json",
        "validate h.otlp --format sarif",
        "validate h.otlp --format junit",
        "convert h.otlp -o out.pb.gz --force -v",
        "convert h.otlp -o out.folded --force -v",
        "convert h.otlp -o out.pb.gz --force --json",
        "merge h.otlp h.pb.gz -o merged.otlp --force -v",
        "redact h.otlp -o redacted.otlp --force -v",
        "split h.otlp --by resource -o part.otlp --force -v",
    ] {
        for log in ["human", "text", "json"] {
            let mut command = command(arguments);
            let output = command.current_dir(&room).env("OTLP_PROFILES_LOG", log).output().unwrap();
            is_harmless(&stdout(&output), arguments);
            is_harmless(&stderr(&output), arguments);
        }
    }
    // Annotations are commands, of our own only.
    let github =
        stdout(&command("validate h.otlp --format github").current_dir(&room).output().unwrap());
    for line in github.lines() {
        assert!(line.starts_with("::") && !line.chars().any(is_hidden), "{line:?}");
        assert!(line.contains(" file=h.otlp"), "{line:?}");
    }
    run(&room, "view h.otlp -o h.svg", 0);
    let svg = fs::read_to_string(room.join("h.svg")).unwrap();
    assert!(!svg.contains("<b>") && svg.matches("<svg").count() == 1, "{svg}");
    assert!(svg.chars().all(|char| char == '\n' || !is_hidden(char)));
    assert!(
        svg.replace("&amp;", "")
            .replace("&#91;", "")
            .replace("&lt;", "")
            .replace("&gt;", "")
            .replace("&quot;", "")
            .find('&')
            .is_none()
    );
}

/// A speedscope file of one long name that a stack repeats.
fn repeated(bytes: usize, frames: usize, samples: usize) -> String {
    let stack = vec!["0"; frames].join(",");
    let stacks = vec![format!("[{stack}]"); samples].join(",");
    let weights = vec!["1"; samples].join(",");
    let name = "n".repeat(bytes);
    format!(
        r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"{name}"}}]}},"profiles":[{{"type":"sampled","name":"cpu","unit":"none","startValue":0,"endValue":{samples},"samples":[{stacks}],"weights":[{weights}]}}]}}"#
    )
}

#[test]
fn every_text_has_the_output_limit() {
    let room = room("outputs-limit");
    // 400 kB that folded stacks repeat to 80 MB, and traces to 160 MB.
    fs::write(room.join("a.speedscope.json"), repeated(400_000, 200, 2)).unwrap();
    for arguments in [
        "convert a.speedscope.json -o out.folded",
        "top a.speedscope.json --traces",
        "top a.speedscope.json --traces --json",
        "diff a.speedscope.json a.speedscope.json --by stack",
        "view a.speedscope.json -o out.svg",
        #[cfg(feature = "parquet")]
        "export a.speedscope.json --to csv -o d",
        #[cfg(feature = "parquet")]
        "export a.speedscope.json --to ndjson -o d",
    ] {
        let output = run(&room, arguments, 5);
        says(&output, "bytes of output");
        says(&output, "--max-output-per-byte");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
    let names = fs::read_dir(&room).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name != "a.speedscope.json" && name != "d").collect();
    assert!(left.is_empty(), "{left:?}");
    if let Ok(entries) = fs::read_dir(room.join("d")) {
        assert_eq!(entries.count(), 0);
    }
    // The option raises it, and the absolute limit holds.
    run(&room, "convert a.speedscope.json -o out.folded --max-output-per-byte unlimited", 0);
    assert!(fs::metadata(room.join("out.folded")).unwrap().len() > 80_000_000);
    let traces = "top a.speedscope.json --traces --max-output-per-byte unlimited --max-output 1MiB";
    says(&run(&room, traces, 5), "(--max-output-bytes raises it)");
    run(&room, "top a.speedscope.json", 0);
    run(&room, "view a.speedscope.json --flame", 0);
}

#[test]
fn a_difference_is_drawn_as_one() {
    let room = room("outputs-difference");
    fs::write(room.join("a.folded"), "main;a 100\nmain;b 50\nmain;gone 30\n").unwrap();
    fs::write(room.join("b.folded"), "main;a 60\nmain;b 90\nmain;new 40\n").unwrap();
    for (flags, rows) in [
        (
            "",
            [
                "a, -40 count (100 count -&gt; 60 count)",
                "b, +40 count (50 count -&gt; 90 count)",
                "new, +40 count (0 count -&gt; 40 count)",
                "gone, -30 count (30 count -&gt; 0 count)",
            ],
        ),
        (" --cancel", ["a, -40 count", "b, +40 count", "new, +40 count", "gone, -30 count"]),
    ] {
        run(&room, &format!("diff a.folded b.folded -o d.pb.gz --force{flags}"), 0);
        run(&room, "view d.pb.gz -o d.svg --force", 0);
        let svg = fs::read_to_string(room.join("d.svg")).unwrap();
        for row in rows {
            assert!(svg.contains(&format!("<title>{row},")), "{row}: {svg}");
        }
        assert!(svg.contains("orange +: growth, blue -: decline"), "{svg}");
        let flame = stdout(&run(&room, "view d.pb.gz --flame --color always", 0));
        assert!(flame.contains("a  -40 count") && flame.contains("\u{1b}[48;5;"), "{flame}");
        assert!(flame.contains("+10 count") && flame.contains("orange +: growth"), "{flame}");
        let plain = stdout(&run(&room, "view d.pb.gz --flame --color never", 0));
        assert!(!plain.contains('\u{1b}') && plain.contains("gone"), "{plain}");
    }
    // Boxes too narrow to draw add up exactly, beyond the precision of a float.
    let lines: String = (0..3000).map(|row| format!("main;f{row} 1000003\n")).collect();
    fs::write(room.join("w.folded"), lines).unwrap();
    run(&room, "view w.folded -o w.svg", 0);
    let svg = fs::read_to_string(room.join("w.svg")).unwrap();
    assert!(svg.contains("3,000 more functions, 3,000,009,000 count"), "{svg}");
}

#[test]
fn redacting_twice_gives_the_same_bytes() {
    let room = room("outputs-redact");
    for entry in fs::read_dir(testdata("")).unwrap() {
        let path = entry.unwrap().path();
        let mut command = command("redact -o r.otlp --force --type all");
        let output = command.arg(&path).current_dir(&room).output().unwrap();
        if !path.is_file() || !output.status.success() {
            continue;
        }
        run(&room, "redact r.otlp -o rr.otlp --force", 0);
        run(&room, "redact rr.otlp -o rrr.otlp --force", 0);
        let bytes = |name: &str| fs::read(room.join(name)).unwrap();
        assert!(bytes("rr.otlp") == bytes("rrr.otlp"), "{}", path.display());
        for name in ["r", "rr"] {
            run(&room, &format!("convert {name}.otlp -o {name}.folded --type all --force"), 0);
        }
        assert!(bytes("r.folded") == bytes("rr.folded"), "{}", path.display());
    }
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    run(&room, "convert cpu.pb.gz -o s.otlp --scope acme-secret-profiler@7.7", 0);
    let output = run(&room, "redact s.otlp -o kept.otlp", 0);
    says(&output, "kept names, check them");
    says(&output, "scope acme-secret-profiler");
}

#[test]
fn folded_output_with_control_characters_is_read_back() {
    let room = room("outputs-control");
    for name in ["a\0b", "\u{1}", "x\u{7f}y\u{1b}", "\u{8}"] {
        for stack in [format!("{name};leaf 25\n"), format!("main;{name} 20\nmain;{name};c 5\n")] {
            fs::write(room.join("a.txt"), &stack).unwrap();
            run(&room, "convert a.txt --from folded -o a.pb.gz --force", 0);
            run(&room, "convert a.pb.gz -o b.folded --force", 0);
            let sums = sums(&room, "b.folded");
            assert_eq!(sums[0].2, 25, "{stack:?}");
        }
    }
    fs::write(room.join("junk"), b"\x01\x02\x03 no stacks\nhere 7\n").unwrap();
    run(&room, "top junk", 3);
}

#[test]
fn messages_name_the_way_forward() {
    let room = room("outputs-messages");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    says(&run(&room, "top cpu.pb.gz --unit furlong", 2), "expected ns, us, ms");
    run(&room, "top cpu.pb.gz --unit ms", 0);
    says(&run(&room, "split cpu.pb.gz --max-bytes 10 -o p.pb.gz", 5), "--keep-oversize");
}

#[cfg(feature = "parquet")]
#[test]
fn csv_tells_null_from_empty_and_guards_formulas() {
    let room = room("outputs-csv");
    fs::write(room.join("a.folded"), "=1+1;@x 5\n").unwrap();
    run(&room, "convert a.folded -o a.otlp --set-resource k==cmd", 0);
    run(&room, "export a.otlp --to csv -o plain --partition none", 0);
    run(&room, "export a.otlp --to csv --csv-guard -o guarded --partition none", 0);
    says(
        &run(&room, "export a.otlp --to ndjson --csv-guard -o n", 2),
        "--csv-guard applies to --to csv",
    );
    let cells = |dir: &str| {
        let mut text = String::new();
        let mut folders = vec![room.join(dir)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    text += &fs::read_to_string(path).unwrap()
                }
            }
        }
        text
    };
    let plain = cells("plain");
    assert!(plain.contains(",\"\",") && plain.contains(",,"), "{plain}");
    // Commas within quotes divide no cells.
    let (guarded, mut quoted) = (cells("guarded"), false);
    let divides = |char: char| {
        quoted ^= char == '"';
        !quoted && matches!(char, ',' | '\n')
    };
    for cell in guarded.split(divides) {
        let cell = cell.trim_start_matches('"');
        let is_formula = cell.starts_with(['=', '+', '@'])
            || cell.starts_with('-') && cell.parse::<i64>().is_err();
        assert!(!is_formula, "{cell}");
    }
}

/// Escaping stands in one module, so that no verb has its own.
#[test]
fn one_module_escapes() {
    let mut folders = vec![Path::new(ROOT).join("src"), Path::new(ROOT).join("cli/src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_home = path.ends_with("src/escape.rs") || path.ends_with("error/shown.rs");
            files += 1;
            for own in ["escape_default", "&lt;\"", "%0A", "202e}'"] {
                let code = text.split("#[cfg(test)]").next().unwrap();
                assert!(is_home || !code.contains(own), "{} escapes {own} itself", path.display());
            }
        }
    }
    assert!(files > 400);
}
