//! `merge`, `split` and other subcommands that read and write like `convert`.

use crate::*;

fn copied(test: &str, names: &[&str]) -> PathBuf {
    let room = room(test);
    names.iter().for_each(|name| copy(name, &room.join(name)));
    room
}

/// The sums of all files by sample type.
fn totals(room: &Path, files: &[String]) -> Vec<(String, i64)> {
    let mut totals = std::collections::BTreeMap::new();
    for (name, unit, sum) in files.iter().flat_map(|file| sums(room, file)) {
        *totals.entry(format!("{name}:{unit}")).or_insert(0) += sum;
    }
    totals.into_iter().collect()
}

fn matching(room: &Path, start: &str) -> Vec<String> {
    let names = files(room).into_iter().filter(|name| name.starts_with(start));
    names.collect()
}

#[test]
fn merging_adds_up_and_warns_of_snapshots() {
    // The default sample type is that of the sum: the inputs have different ones.
    let room_of_types = copied("verbs_merge_types", &["go-heap.pb.gz", "go-allocs.pb.gz"]);
    run(&room_of_types, "merge go-heap.pb.gz go-allocs.pb.gz -o sum.folded", 0);
    let text = fs::read_to_string(room_of_types.join("sum.folded")).unwrap();
    let value = |line: &str| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap();
    assert_eq!(text.lines().map(value).sum::<i64>(), 2 * 285_436_847);
    let room = copied("verbs_merge", &["go-heap.pb.gz", "go-allocs.pb.gz", "go-cpu-labels.pb.gz"]);
    let output = run(&room, "merge go-cpu-labels.pb.gz go-cpu-labels.pb.gz -o cpu.pb.gz", 0);
    assert_eq!(stderr(&output), "");
    let double = |(name, unit, sum): (String, String, i64)| (name, unit, 2 * sum);
    let one: Vec<_> = sums(&room, "go-cpu-labels.pb.gz").into_iter().map(double).collect();
    assert_eq!(sums(&room, "cpu.pb.gz"), one);

    // Heap profiles hold totals since the start of the process, so the later one includes the
    // earlier one.
    let inputs = "go-heap.pb.gz go-allocs.pb.gz";
    let output = run(&room, &format!("merge {inputs} -o sum.otlp"), 0);
    says(&output, "inuse_space: 2 snapshots of one process were added up to");
    says(&output, "--combine last keeps those");
    let output = run(&room, &format!("merge {inputs} --combine last -o last.otlp"), 0);
    assert!(!stderr(&output).contains("added up"), "{}", stderr(&output));
    let [last, heap] = ["last.otlp", "go-heap.pb.gz"].map(|file| totals(&room, &[file.to_owned()]));
    assert_eq!(last, heap);
}

#[test]
fn an_unreadable_input_fails_a_merge_unless_it_is_skipped() {
    let room = copied("verbs_merge_broken", &["go-cpu-labels.pb.gz"]);
    fs::write(room.join("cut.pb"), &fs::read(testdata("rust-cpu.pb")).unwrap()[..500]).unwrap();
    let output = run(&room, "merge go-cpu-labels.pb.gz cut.pb -o all.otlp", 3);
    says(&output, "cut.pb");
    assert!(!room.join("all.otlp").exists());
    run(&room, "merge go-cpu-labels.pb.gz cut.pb missing.pb -o all.otlp --skip-unreadable", 0);
    assert_eq!(sums(&room, "all.otlp"), sums(&room, "go-cpu-labels.pb.gz"));
    run(&room, "merge go-cpu-labels.pb.gz -o .", 2);
    run(&room, "merge go-cpu-labels.pb.gz -o all.otlp", 4);
}

/// A sum beyond a limit causes one error and no output.
#[test]
fn a_sum_beyond_the_limits_ends_the_run() {
    let names = ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "rust-heap.pb.gz", "go-mutex.pb.gz"];
    let room = copied("verbs_merge_limit", &names);
    let inputs = names.join(" ");
    for arguments in ["merge IN -o all.otlp", "merge IN -o all.otlp --skip-unreadable", "top IN"] {
        let arguments = arguments.replace("IN", &inputs);
        let output = run(&room, &format!("{arguments} --max-strings 700"), 5);
        says(&output, "rust-heap.pb.gz: the sum of 3 inputs failed: ");
        says(&output, "(--max-strings raises it); or merge fewer inputs");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert!(!room.join("all.otlp").exists());
    }
}

#[test]
fn frames_of_no_interest_are_dropped_before_merging() {
    let room = room("verbs_merge_frames");
    // main calls malloc, which calls lock; the profile declares malloc to be of no interest.
    let text = "main;malloc;lock 3\nmain;work 4\n";
    fs::write(room.join("a.folded"), text).unwrap();
    run(&room, "convert a.folded -o a.pb --no-gzip", 0);
    let mut bytes = fs::read(room.join("a.pb")).unwrap();
    let strings = info(&room, "a.pb")["messages"][0]["tables"]["strings"].as_u64().unwrap();
    // The empty string comes first, and is not counted. Field 6 is a string of the table, field 7 is drop_frames.
    bytes.extend_from_slice(b"\x32\x06malloc\x38");
    bytes.push(u8::try_from(strings + 1).unwrap());
    fs::write(room.join("a.pb"), bytes).unwrap();
    let stacks = |flags: &str| {
        run(&room, &format!("merge a.pb a.pb -o b.folded --force{flags}"), 0);
        fs::read_to_string(room.join("b.folded")).unwrap()
    };
    assert_eq!(stacks(""), "main;malloc;lock 6\nmain;work 8\n");
    assert_eq!(stacks(" --apply-frames"), "main 6\nmain;work 8\n");
}

/// The bytes do not depend on threads, nor with --canonical on the order of the files.
#[test]
fn merges_have_the_same_bytes() {
    let names = ["go-heap.pb.gz", "go-cpu-labels.pb.gz", "go-mutex.pb.gz", "go-allocs.pb.gz"];
    let room = copied("verbs_merge_order", &names);
    let merge = |inputs: &str, flags: &str| {
        run(&room, &format!("merge {inputs} -o out.otlp -q --force{flags}"), 0);
        fs::read(room.join("out.otlp")).unwrap()
    };
    let forwards = names.join(" ");
    let backwards = names.iter().rev().copied().collect::<Vec<_>>().join(" ");
    let first = merge(&forwards, "");
    assert!((0..5).all(|_| merge(&forwards, "") == first));
    assert!(merge(&forwards, " --canonical") == merge(&backwards, " --canonical"));
}

#[test]
fn parts_fit_and_merge_into_the_whole() {
    let room = copied("verbs_split", &["go-heap.pb.gz", "go-cpu-labels.pb.gz"]);
    run(&room, "merge go-heap.pb.gz go-cpu-labels.pb.gz -o all.otlp", 0);
    let whole = totals(&room, &["all.otlp".to_owned()]);
    let output = run(&room, "split all.otlp --max-bytes 8KiB -o part.otlp", 0);
    says(&output, "wrote part.0001.otlp, part.0002.otlp");
    let parts = matching(&room, "part.");
    assert!(parts.len() > 2, "{parts:?}");
    for part in &parts {
        assert!(fs::metadata(room.join(part)).unwrap().len() <= 8 << 10, "{part}");
    }
    assert_eq!(totals(&room, &parts), whole);
    run(&room, &format!("merge {} -o back.otlp", parts.join(" ")), 0);
    assert_eq!(totals(&room, &["back.otlp".to_owned()]), whole);

    for (by, prefix, most) in [("type", "type", 6), ("resource", "one", 1)] {
        run(&room, &format!("split all.otlp --by {by} -o {prefix}.otlp"), 0);
        let parts = matching(&room, &format!("{prefix}."));
        assert_eq!(parts.len(), most, "{parts:?}");
        assert_eq!(totals(&room, &parts), whole);
    }
    run(&room, "split go-cpu-labels.pb.gz --by attribute:endpoint -o cpu.pb.gz", 0);
    assert_eq!(matching(&room, "cpu.").len(), 3);
    let output = run(&room, "split all.otlp --max-bytes 40 -o tiny.otlp", 5);
    says(&output, "40");
    run(&room, "split all.otlp -o x.otlp", 2);
    run(&room, "split all.otlp --by time:10 -o x.otlp", 2);
}

/// The worked example of a comparison: 10 s with f 600, g 300, h 100, then 20 s with f 1500, g 300,
/// n 200.
const DIFF: [(&str, &str); 2] = [
    ("a.folded", "main;f 600\nmain;g 300\nmain;h 100\n"),
    ("b.folded", "main;f 1500\nmain;g 300\nmain;n 200\n"),
];

#[test]
fn differences_have_the_values_of_the_worked_example() {
    let room = room("verbs_diff");
    DIFF.iter().for_each(|(name, text)| fs::write(room.join(name), text).unwrap());
    let page = stdout(&run(&room, "diff a.folded b.folded", 0));
    let rows: Vec<Vec<&str>> =
        page.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let wanted = [
        ["1,000", "2,000", "+1,000", "+100.0", "%", "main"].to_vec(),
        ["600", "1,500", "+900", "+150.0", "%", "f"].to_vec(),
        ["0", "200", "+200", "new", "n"].to_vec(),
        ["100", "0", "-100", "gone", "h"].to_vec(),
    ];
    assert_eq!(rows, wanted, "{page}");
    let normalized = stdout(&run(&room, "diff a.folded b.folded --normalize --format json", 0));
    let document: Value = serde_json::from_str(&normalized).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let of =
        |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["difference"].clone();
    assert_eq!([of("f"), of("g"), of("h"), of("n")], [150, -150, -100, 100]);
    let page = stdout(&run(&room, "diff a.folded b.folded --format folded", 0));
    assert_eq!(page, "main;f 600 1500\nmain;n 0 200\nmain;h 100 0\nmain;g 300 300\n");
    let page = stdout(&run(&room, "diff a.folded b.folded --format markdown", 0));
    assert!(page.contains("| 600 | 1,500 | +900 | +150.0 % | f |"), "{page}");

    for file in ["a.folded", "b.folded"] {
        assert!(
            stdout(&run(&room, &format!("diff {file} {file}"), 0)).ends_with("No difference.\n")
        );
    }
    run(&room, "diff a.folded b.folded -o d.pb.gz", 0);
    assert_eq!(sums(&room, "d.pb.gz")[0].2, 1000);
    run(&room, "diff a.folded", 2);
    run(&room, "diff a.folded missing.folded", 3);
}

#[test]
fn a_gate_fails_with_a_code_of_its_own() {
    let room = room("verbs_gate");
    DIFF.iter().for_each(|(name, text)| fs::write(room.join(name), text).unwrap());
    let page = stdout(&run(&room, "diff a.folded b.folded --fail-over 9% --sigma 0", 7));
    assert!(page.starts_with("failed: "), "{page}");
    run(&room, "diff a.folded b.folded --fail-over 15% --sigma 0", 0);
    run(&room, "diff a.folded b.folded --fail-over total:99%", 7);
    run(&room, "diff a.folded a.folded --fail-over 0%", 0);
    run(&room, "diff a.folded b.folded --fail-under 10% --sigma 0", 7);
    for wrong in ["5", "NaN%", "-1%", "inf%", "lines:5%"] {
        run(&room, &format!("diff a.folded b.folded --fail-over={wrong}"), 2);
    }
    // A gate that cannot reach a verdict never passes.
    fs::write(room.join("zero.folded"), "main;f 0\n").unwrap();
    run(&room, "diff zero.folded b.folded --fail-over 5%", 3);
    let files = "diff a.folded a.folded a.folded -- b.folded b.folded b.folded";
    run(&room, &files.replace("diff", "diff --repeats separate --sigma 0 --fail-over 5%"), 7);
    run(&room, "diff a.folded b.folded --repeats separate --fail-over 5%", 2);
}

#[test]
fn filters_keep_what_matches() {
    let room = copied("verbs_filter", &["go-cpu-labels.pb.gz", "otlp-1.11-timestamped-cpu.binpb"]);
    let sum = |file: &str| sums(&room, file)[1].2;
    for verb in ["filter", "merge", "redact"] {
        run(&room, &format!("{verb} go-cpu-labels.pb.gz --type cpu -f -o cpu.otlp"), 0);
        assert_eq!(sums(&room, "cpu.otlp").len(), 1, "{verb}");
    }
    run(&room, "filter go-cpu-labels.pb.gz --focus sort -o kept.pb.gz", 0);
    run(&room, "filter go-cpu-labels.pb.gz --ignore sort -o rest.pb.gz", 0);
    // With filters by name, pprof drops samples without a stack.
    assert_eq!(sum("kept.pb.gz") + sum("rest.pb.gz"), sum("go-cpu-labels.pb.gz"));
    let output = run(&room, "filter go-cpu-labels.pb.gz --focus nowhere -o none.pb.gz", 0);
    says(&output, "no sample matches --focus");
    run(&room, "filter go-cpu-labels.pb.gz --focus nowhere --require-match -o no.pb.gz", 2);
    run(&room, "filter go-cpu-labels.pb.gz --focus ( -o no.pb.gz", 2);
    assert!(!room.join("no.pb.gz").exists());

    let file = "otlp-1.11-timestamped-cpu.binpb";
    let range = "2009-11-10T00:00:00Z..2009-11-12T00:00:00Z";
    run(&room, &format!("filter {file} --time {range} -o all.otlp"), 0);
    assert_eq!(sums(&room, "all.otlp"), sums(&room, file));
    run(&room, &format!("filter {file} --time 0..1000000000 -o early.otlp"), 0);
    assert_eq!(sums(&room, "early.otlp")[0].2, 0);
    let output = run(&room, &format!("filter {file} --where-resource a=b -o none.otlp"), 3);
    says(&output, "no sample matches --where");
    run(&room, &format!("filter {file} --time 5..4 -o none.otlp"), 2);
    let none = run(&room, "filter go-cpu-labels.pb.gz --time 0..1 -f -o none.pb", 0);
    says(&none, "the filters leave no sample");
}

/// Pseudonyms are equal in all inputs, and no original name remains in the bytes.
#[test]
fn redacted_profiles_hold_no_name_of_the_original() {
    let room = copied("verbs_redact", &["go-cpu-labels.pb.gz", "go-heap.pb.gz"]);
    run(&room, "redact go-cpu-labels.pb.gz go-heap.pb.gz --to pprof --no-gzip -o out/", 0);
    for name in ["go-cpu-labels", "go-heap"] {
        let bytes = fs::read(room.join(format!("out/{name}.pb"))).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for word in ["main.", "runtime", "godemo", "/v1/sort", ".go"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
        assert!(text.contains("function_1"), "{name}");
        assert_eq!(sums(&room, &format!("out/{name}.pb")), sums(&room, &format!("{name}.pb.gz")));
        run(&room, &format!("validate out/{name}.pb"), 0);
    }
    let again = "redact go-cpu-labels.pb.gz go-heap.pb.gz --to pprof --no-gzip -o again/";
    run(&room, again, 0);
    let read = |folder: &str| fs::read(room.join(folder).join("go-heap.pb")).unwrap();
    assert!(read("out") == read("again"));
    run(&room, "redact go-cpu-labels.pb.gz --keep ^runtime -o kept.pb.gz", 0);
    assert!(stdout(&run(&room, "top kept.pb.gz", 0)).contains("runtime.mallocgc"));
}

/// Profiles with the same id count once, in files of one or several messages, on any thread.
#[test]
fn repeated_profiles_are_added_once() {
    let room = copied("verbs_repeats", &["otlp-1.11-timestamped-cpu.binpb"]);
    let id = "--profile-id 00112233445566778899aabbccddeeff";
    run(&room, &format!("convert otlp-1.11-timestamped-cpu.binpb {id} -o a.otlp.json"), 0);
    fs::copy(room.join("a.otlp.json"), room.join("b.otlp.json")).unwrap();
    let one = fs::read(room.join("a.otlp.json")).unwrap();
    let wanted = sums(&room, "a.otlp.json");
    let output = run(&room, "merge -v a.otlp.json b.otlp.json -o ab.otlp", 0);
    says(&output, "profile.repeated");
    assert_eq!(sums(&room, "ab.otlp"), wanted);
    run(&room, "diff a.otlp.json b.otlp.json -- a.otlp.json b.otlp.json", 0);

    // Two messages, the second of which repeats a profile.
    run(&room, "convert otlp-1.11-timestamped-cpu.binpb -o other.otlp.json", 0);
    let other = fs::read(room.join("other.otlp.json")).unwrap();
    fs::write(room.join("two.json"), [&other[..], &one].concat()).unwrap();
    run(&room, "merge a.otlp.json two.json -o all.otlp", 0);
    let doubled: Vec<_> = wanted.iter().map(|(name, unit, sum)| (name, unit, 2 * sum)).collect();
    let got = totals(&room, &["all.otlp".to_owned()]);
    let doubled: Vec<_> =
        doubled.into_iter().map(|(name, unit, sum)| (format!("{name}:{unit}"), sum)).collect();
    assert_eq!(got, doubled);
    let two = [&other[..], &one].concat();
    let output = run_with_stdin(&room, "merge a.otlp.json - -o no.otlp", &two, 3);
    says(&output, "stdin cannot be read again");
}

#[test]
fn a_guess_is_reported_by_every_subcommand() {
    let room = copied("verbs_guess", &["ambiguous-1.10-or-1.9.otlp"]);
    for arguments in
        ["top", "merge -o m.otlp", "diff ambiguous-1.10-or-1.9.otlp", "redact -o r.otlp"]
    {
        let output = run(&room, &format!("{arguments} ambiguous-1.10-or-1.9.otlp"), 0);
        says(&output, "which is a guess: otlp-1.9");
    }
}

/// Files skipped on one side do not count on the other.
#[test]
fn repairs_are_reported_by_every_report() {
    let room = room("verbs_repairs");
    let stored = fs::read(testdata("go-cpu-labels.pb.gz")).unwrap();
    let whole = otlp_profiles::compression::inflate(&stored, &Default::default()).unwrap();
    // The string table is last.
    fs::write(room.join("cut.pb"), &whole[..3_000]).unwrap();
    for line in ["top cut.pb", "diff cut.pb cut.pb", "view cut.pb --flame", "view cut.pb -o p.html"]
    {
        let output = run(&room, &format!("{line} --repair"), 0);
        says(&output, " × table.row_0: the string table is empty");
    }
}

#[test]
fn sides_may_be_directories_with_other_files() {
    let room = copied("verbs_sides", &["go-cpu-labels.pb.gz"]);
    fs::create_dir(room.join("base")).unwrap();
    copy("go-cpu-labels.pb.gz", &room.join("base/cpu.pb.gz"));
    fs::write(room.join("base/README"), "Profiles of the base.\n").unwrap();
    let output = run(&room, "diff base -- go-cpu-labels.pb.gz", 0);
    says(&output, "base/README holds no profile and was skipped");
}
