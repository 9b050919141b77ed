//! `view`: pages that are profile files. `cli/tests/browser/` tests what browsers show.

use sha2::{Digest, Sha256};

use crate::*;

/// The files of `testdata/` that the command reads as one message or several.
fn readable(room: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = (fs::read_dir(testdata("")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .filter(|path| {
            let mut command = command("convert --to otlp -o check.otlp --force --type all");
            let output = command.arg(path).current_dir(room).output().unwrap();
            output.status.success()
        })
        .collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files
}

/// The canonical bytes of the profiles of a file.
fn canonical(room: &Path, file: &Path) -> Vec<u8> {
    let mut command = command("merge --keep-apart --canonical --to otlp -o canonical.otlp --force");
    let output = command.arg(file).current_dir(room).output().unwrap();
    assert!(output.status.success(), "{}: {}", file.display(), stderr(&output));
    fs::read(room.join("canonical.otlp")).unwrap()
}

#[test]
fn a_page_gives_the_profiles_back() {
    let room = room("view-back");
    for file in readable(&room) {
        // A page contains the model in OTLP 1.10.
        let mut convert = command("convert --to otlp -o check.otlp --force --type all");
        assert!(convert.arg(&file).current_dir(&room).output().unwrap().status.success());
        let mut command = command("view -o page.html --force");
        let output = command.arg(&file).current_dir(&room).output().unwrap();
        assert!(output.status.success(), "{}: {}", file.display(), stderr(&output));
        let same =
            canonical(&room, &room.join("check.otlp")) == canonical(&room, &room.join("page.html"));
        assert!(same, "{}", file.display());
    }
    // A page changes only the order of the stack table, which pprof lacks.
    copy(PPROFS[1], &room.join("heap.pb.gz"));
    run(&room, "view heap.pb.gz -o heap.html", 0);
    run(&room, "convert heap.html -o back.pb", 0);
    run(&room, "convert heap.pb.gz -o heap.pb", 0);
    assert_eq!(fs::read(room.join("back.pb")).unwrap(), fs::read(room.join("heap.pb")).unwrap());
}

#[test]
fn every_subcommand_reads_pages() {
    let room = room("view-reads");
    for (row, name) in PPROFS.iter().enumerate() {
        copy(name, &room.join(format!("{row}.pb.gz")));
    }
    run(&room, "view 0.pb.gz 1.pb.gz --diff 2.pb.gz -o page.html", 0);
    let info = run(&room, "info page.html --json", 0);
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["files"][0]["messages"].as_array().unwrap().len(), 3, "{info}");
    run(&room, "convert page.html -o messages.otlp", 0);
    run(&room, "view 0.pb.gz -o one.html", 0);
    run(&room, "validate one.html", 0);
    let page = stdout(&run(&room, "top one.html -n 3", 0));
    assert_eq!(page, stdout(&run(&room, "top 0.pb.gz -n 3", 0)));
    let diff = stdout(&run(&room, "diff one.html 0.pb.gz --by stack", 0));
    assert!(diff.ends_with("No difference.\n"), "{diff}");
    let text = fs::read_to_string(room.join("one.html")).unwrap();
    fs::write(room.join("cut.html"), &text[..text.find("data-encoding").unwrap() + 100]).unwrap();
    let cut = stderr(&run(&room, "convert cut.html -o cut.otlp", 3));
    assert!(cut.contains("the page with profiles"), "{cut}");
}

/// The text between two markers.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).unwrap().0
}

#[test]
fn a_page_is_safe_and_the_same_for_the_same_input() {
    let room = room("view-safe");
    let name = "a<b>&\"'.folded";
    let frames = "main;</script><script>alert(1)</script>;<!--;\u{202e}main;x 5\n";
    fs::write(room.join(name), frames).unwrap();
    let view = |out: &str| {
        let output = command("view").args([name, "-o", out]).current_dir(&room).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read_to_string(room.join(out)).unwrap()
    };
    let page = view("1.html");
    assert_eq!(page, view("2.html"));
    assert_eq!(between(&page, "<title>", "</title>"), "a&lt;b&gt;&amp;&quot;'.folded");
    assert!(!page.contains("alert(1)") && !page.contains("a<b>"));
    assert_eq!(page.matches("</script").count(), 3, "facts, profile and program");
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    let hash =
        |text: &str| format!("'sha256-{}'", otlp_profiles::stream::base64(&Sha256::digest(text)));
    let program = between(&page, "<script>", "</script>");
    let style = between(&page, "<style>", "</style>");
    for directive in [
        "default-src 'none'",
        &format!("script-src {}", hash(program)),
        &format!("style-src {}", hash(style)),
    ] {
        assert!(policy.split("; ").any(|one| one == directive), "{policy}: {directive}");
    }
    for word in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch("]
    {
        assert!(!program.contains(word), "{word}");
    }
    assert!(!between(&page, "<body>", "<script").contains(" style="), "the policy forbids it");
}

#[test]
fn wrong_arguments_are_refused() {
    let room = room("view-wrong");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for (arguments, exit, what) in [
        ("view cpu.pb.gz -o page.txt", 2, "must end with .html or .svg"),
        ("view cpu.pb.gz --diff cpu.pb.gz", 2, "--diff needs a page"),
        ("view - --diff - -o page.html", 2, "stdin can be read once"),
        ("view missing.pb.gz -o page.html", 3, "missing.pb.gz"),
        ("view cpu.pb.gz --diff missing.pb.gz -o page.html", 3, "missing.pb.gz"),
    ] {
        let said = stderr(&run(&room, arguments, exit));
        assert!(said.contains(what), "{arguments}: {said}");
        assert!(!room.join("page.html").exists());
    }
    run(&room, "view cpu.pb.gz -o page.html", 0);
    let said = stderr(&run(&room, "view cpu.pb.gz -o page.html", 4));
    assert!(said.contains("--force replaces it"), "{said}");
}

#[test]
fn pictures_show_what_filters_leave() {
    let room = room("view-pictures");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let top = stdout(&run(&room, "view cpu.pb.gz --focus sort", 0));
    assert_eq!(top, stdout(&run(&room, "top cpu.pb.gz -n 20 --focus sort", 0)));
    let flame = stdout(&run(&room, "view cpu.pb.gz --flame", 0));
    let rows: Vec<&str> = flame.lines().collect();
    assert_eq!(rows[0], "cpu: 1,630,000,000 nanoseconds (1.6 s)");
    assert!(
        rows[1].starts_with("│all  1.6 s·") && rows[2].starts_with("│main.main.func1  1.5 s·"),
        "{flame}"
    );
    assert!(rows.iter().skip(1).all(|row| row.chars().count() <= 100), "{flame}");
    run(&room, "view cpu.pb.gz -o cpu.svg --focus sort.pdqsort", 0);
    let svg = fs::read_to_string(room.join("cpu.svg")).unwrap();
    assert!(svg.contains(">sort.pdqsort</text>") && !svg.contains("hashWork"), "{svg}");
    assert!(
        svg.contains("<title>all, 190,000,000 nanoseconds (190 ms), 100.00 %</title>"),
        "{svg}"
    );
    assert!(!svg.contains("<script") && svg.ends_with("</svg>\n"));
    run(&room, "view cpu.pb.gz -o cpu.html --tagfocus endpoint=sort", 0);
    let left = stdout(&run(&room, "top cpu.html -n 5", 0));
    assert_eq!(
        left.lines().last(),
        stdout(&run(&room, "top cpu.pb.gz -n 5 --relative --tagfocus endpoint=sort", 0))
            .lines()
            .last()
    );
    let said = stderr(&run(&room, "view cpu.pb.gz -o none.svg --focus nothing --require-match", 2));
    assert!(said.contains("no sample matches --focus"), "{said}");
}

#[test]
fn the_shell_is_small() {
    let mut all_lines = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("cli/view")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|own| own == "js") {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 150, "{} has {lines} lines", path.display());
            all_lines += lines;
        }
    }
    assert!((1_000..=1_550).contains(&all_lines), "{all_lines} lines");
    let room = room("view-small");
    fs::write(room.join("a.folded"), "main;a 1\n").unwrap();
    run(&room, "view a.folded -o a.html", 0);
    let page = fs::read_to_string(room.join("a.html")).unwrap();
    assert!(page.len() < 66_000, "{} bytes", page.len());
    // Comments and indentation stay in the sources.
    assert!(!page.contains("\n  ") && !page.contains("\n//") && !page.contains("\n/**"));
}

#[test]
fn a_page_of_too_many_messages_is_refused() {
    let room = room("view_many");
    fs::create_dir(room.join("many")).unwrap();
    for number in 0..=1_000 {
        fs::write(room.join(format!("many/{number}.folded")), "main;f 1\n").unwrap();
    }
    says(&run(&room, "view many -o many.html", 2), "1001 messages are too many for a page");
    assert!(!room.join("many.html").exists());
}
