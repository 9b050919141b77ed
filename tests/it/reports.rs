//! Reports equal pprof's: recorded answers, if the corpus is there, and own cases.

use crate::support;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use otlp_profiles::builder::{Frame, root_first};
use otlp_profiles::look::{self, By, Filter, Options, Pattern, TagFilter};
use otlp_profiles::{Builder, Format, Limits, Profiles, ReadOptions};
use regex::Regex;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

fn compile(text: &str) -> Result<Pattern, regex::Error> {
    let regex = Regex::new(text)?;
    Ok(Pattern::new(text, move |name| regex.is_match(name)))
}

/// A command line of pprof.
struct Command {
    /// `top`, `tree`, `peek` or `traces`.
    name: String,
    peek: Option<Pattern>,
    options: Options,
}

/// Parses the arguments of a pprof command. `None` for reports that this library does not have.
fn command(arguments: &[&str]) -> Option<Command> {
    let mut options = Options::default();
    let mut filter = Filter::default();
    let (mut name, mut peek, mut is_untrimmed) = (String::new(), None, false);
    let keys = |text: &str| text.split(',').map(str::to_owned).collect();
    for argument in arguments {
        let (flag, value) = argument
            .trim_start_matches('-')
            .split_once('=')
            .unwrap_or((argument.trim_start_matches('-'), ""));
        let pattern = || Some(compile(value).unwrap());
        match flag {
            "top" | "tree" | "traces" => flag.clone_into(&mut name),
            "peek" => (name, peek) = (flag.to_owned(), pattern()),
            "cum" => options.cum = true,
            "functions" => options.by = By::Function,
            "filefunctions" => options.by = By::FileFunction,
            "files" => options.by = By::File,
            "lines" => options.by = By::Line,
            "addresses" => options.by = By::Address,
            "noinlines" => options.inlines = false,
            "showcolumns" => options.columns = true,
            "mean" => options.mean = true,
            "drop_negative" => options.drop_negative = true,
            "relative_percentages" => options.relative_percentages = true,
            "nodecount" => options.node_count = value.parse().ok(),
            "nodefraction" => options.node_fraction = value.parse().unwrap(),
            "edgefraction" => options.edge_fraction = value.parse().unwrap(),
            "trim" => is_untrimmed = value == "false",
            "unit" => options.unit = Some(value.to_owned()),
            "trim_path" => value.clone_into(&mut options.trim_path),
            "sample_index" => options.sample_type = Some(value.to_owned()),
            "focus" => filter.focus = pattern(),
            "ignore" => filter.ignore = pattern(),
            "hide" => filter.hide = pattern(),
            "show" => filter.show = pattern(),
            "show_from" => filter.show_from = pattern(),
            "prune_from" => filter.prune_from = pattern(),
            "tagfocus" => filter.tag_focus = Some(TagFilter::parse(value, compile).unwrap()),
            "tagignore" => filter.tag_ignore = Some(TagFilter::parse(value, compile).unwrap()),
            "tagshow" => filter.tag_show = pattern(),
            "taghide" => filter.tag_hide = pattern(),
            "tagroot" => filter.tag_root = keys(value),
            "tagleaf" => filter.tag_leaf = keys(value),
            _ => return None,
        }
    }
    if is_untrimmed {
        options = options.untrimmed();
    }
    (!name.is_empty()).then(|| Command { name, peek, options: options.filter(filter) })
}

fn command_line(arguments: &str) -> Command {
    command(&arguments.split(' ').collect::<Vec<_>>()).unwrap()
}

/// The profiles without the frames that they declare to be of no interest, as pprof shows them.
fn dropped(profiles: &Profiles) -> Profiles {
    let mut profiles = profiles.clone();
    let compile = |text: &str| compile(text).map_err(|error| error.to_string());
    look::drop_declared_frames(&mut profiles, compile).unwrap();
    profiles
}

fn text(profiles: &Profiles, command: &Command) -> otlp_profiles::Result<String> {
    let Command { name, peek, options } = command;
    let profiles = &dropped(profiles);
    Ok(match (&name[..], peek) {
        ("top", _) => look::top(profiles, options)?.to_string(),
        ("tree", _) => look::tree(profiles, options)?.to_string(),
        ("traces", _) => look::traces(profiles, options)?.to_string(),
        (_, Some(peek)) => look::peek(profiles, peek, options)?.to_string(),
        _ => unreachable!(),
    })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folders of the corpus and of pprof's answers, if both are there.
fn goldens() -> Option<(PathBuf, PathBuf)> {
    let corpus = PathBuf::from(std::env::var_os("OTLP_PROFILES_CORPUS")?);
    let goldens = corpus.join("../goldens/pprof");
    goldens.exists().then_some((corpus, goldens))
}

fn read(path: &Path) -> Option<Profiles> {
    let bytes = std::fs::read(path).unwrap();
    let options = ReadOptions::default().format(Format::PPROF).limits(Limits::file());
    Some(otlp_profiles::read(&bytes, &options).ok()?.profiles)
}

/// Answers that differ from pprof's on purpose: the profile, a part of the command, and why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("min.pb", "", "pprof takes the absolute value of the smallest 64-bit number, which overflows"),
    (
        "austin.wall.pb",
        "",
        "pprof does not know the other letter mu of μs, and prints the unit as it is",
    ),
    ("unit-kib.pb", "", "KiB is 1,024 bytes, and pprof prints the unit as it is"),
    (
        "startline.pb",
        "-top -files",
        "pprof prints two rows of one name, for functions of one file with other first lines",
    ),
    ("cpp.pb", "-top -trim=false", "without -symbolize=none, pprof shortens names of C++"),
    ("", "-top -mean", "means do not add up: no column sum%, no share of the total that is shown"),
    ("", "-tree -mean", "the same"),
];

/// A recorded answer of pprof about one profile.
struct Case {
    source: String,
    arguments: Vec<String>,
    answer: Json,
}

fn cases(goldens: &Path) -> Vec<Case> {
    let files = ["made", "synthetic"].iter().flat_map(|folder| {
        std::fs::read_dir(goldens.join(folder)).unwrap().map(|entry| entry.unwrap().path())
    });
    let mut cases = Vec::new();
    for path in files.filter(|path| path.extension().is_some_and(|one| one == "json")) {
        let file: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for answer in file["cases"].as_array().unwrap() {
            let source = answer.get("profile").or(file.get("profile")).and_then(Json::as_str);
            let is_of_one = answer.get("files").is_none() && answer.get("error").is_none();
            let Some(source) = source.filter(|_| is_of_one).map(str::to_owned) else { continue };
            let arguments = answer["args"].as_array().unwrap();
            let arguments = arguments.iter().map(|one| one.as_str().unwrap().to_owned()).collect();
            let answer = answer.clone();
            cases.push(Case { source, arguments, answer });
        }
    }
    cases
}

/// The hash of the numbers and names of a report of means.
fn rows(profiles: &Profiles, options: &Options) -> (String, i64) {
    let top = look::top(profiles, options).unwrap();
    let line = |row: &look::Row| format!("{}\t{}\t{}\n", row.flat, row.cum, row.name);
    let text: String = top.rows.iter().map(line).collect();
    (sha256(text.as_bytes()), i64::try_from(top.header.total).unwrap())
}

#[test]
fn recorded_answers_of_pprof_are_reproduced() {
    let Some((corpus, goldens)) = goldens() else {
        let message =
            "SKIPPED: OTLP_PROFILES_CORPUS is not set or has no answers of pprof beside it\n";
        let _ = std::io::stderr().write_all(message.as_bytes());
        return;
    };
    let mut profiles: BTreeMap<String, Option<Profiles>> = BTreeMap::new();
    let (mut equal, mut explained, mut different) = (0, vec![0; DIFFERENT.len()], Vec::new());
    for Case { source, arguments, answer } in cases(&goldens) {
        let folder = if source.contains('/') { &corpus } else { &goldens.join("synthetic") };
        let profiles =
            profiles.entry(source.clone()).or_insert_with(|| read(&folder.join(&source)));
        let Some(profiles) = profiles else { continue };
        let parts: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (Some(command), arguments) = (command(&parts), parts.join(" ")) else {
            continue;
        };
        let text = text(profiles, &command).unwrap();
        if sha256(text.as_bytes()) == answer["text_sha256"] {
            equal += 1;
            continue;
        }
        let reason = DIFFERENT
            .iter()
            .position(|(of, part, _)| source.ends_with(of) && arguments.starts_with(part));
        match reason {
            Some(reason) => explained[reason] += 1,
            None => different.push(format!("{source} {arguments}\n{text}")),
        }
        if command.options.mean {
            let (hash, total) = rows(profiles, &command.options);
            assert_eq!(
                (&Json::from(hash), total),
                (&answer["rows_sha256"], answer["total"].as_i64().unwrap())
            );
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(explained.iter().all(|count| *count > 0), "an explanation is obsolete: {explained:?}");
    assert!(equal > 640, "only {equal} answers were compared");
}

/// Profiles of folded stacks in nanoseconds, with labels in brackets.
fn folded(text: &str) -> Profiles {
    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    for line in text.lines() {
        let (stack, value) = line.rsplit_once(' ').unwrap();
        let (stack, labels) = stack.split_once(" [").unwrap_or((stack, ""));
        let frames = stack.split(';').filter(|name| !name.is_empty()).map(|name| {
            let (name, file) = name.split_once('@').unwrap_or((name, ""));
            Frame::new(name).at(file, 0)
        });
        let mut sample = builder.sample(cpu, root_first(frames.collect::<Vec<_>>()));
        for label in labels.trim_end_matches(']').split(',').filter(|label| !label.is_empty()) {
            let (key, value) = label.split_once('=').unwrap();
            sample = match value.parse::<i64>() {
                Ok(number) => sample.attr(key, number),
                Err(_) => sample.attr(key, value),
            };
        }
        sample.value(value.parse::<i64>().unwrap());
    }
    builder.finish().unwrap()
}

/// Formats the rows of `-top`, or of `-tree` with their callees, on one line: `name flat/cum >callee weight`.
fn short(profiles: &Profiles, command: &Command) -> String {
    let call = |call: &look::Call| format!(" >{} {}", call.name, call.weight);
    let row = |row: &look::Row| format!("{} {}/{}", row.name, row.flat, row.cum);
    let rows: Vec<String> = match (&command.name[..], &command.peek) {
        ("top", _) => look::top(profiles, &command.options).unwrap().rows.iter().map(row).collect(),
        (_, peek) => {
            let tree = match peek {
                Some(peek) => look::peek(profiles, peek, &command.options),
                None => look::tree(profiles, &command.options),
            };
            let rows = tree.unwrap().rows;
            let callees = |one: &look::TreeRow| one.callees.iter().map(call).collect::<String>();
            rows.iter().map(|one| row(&one.row) + &callees(one)).collect()
        }
    };
    rows.join(", ")
}

const CALLS: &str = "main;a;b 40\nmain;a;c 30\nmain;d 20\nmain 10";
const LABELS: &str = "main;a [route=/x,size=2048] 5\nmain;a [route=/y,size=10] 3\nmain;b 2";

#[test]
fn reports_of_small_profiles_follow_the_rules() {
    let mut wrong = Vec::new();
    let recursive = "main;fib;fib;fib 100\nmain;fib 20\nmain;a;b;a;b 7";
    for (profile, arguments, expected) in [
        (CALLS, "-top", "b 40/40, c 30/30, d 20/20, main 10/100, a 0/70"),
        (CALLS, "-top -cum", "main 10/100, a 0/70, b 40/40, c 30/30, d 20/20"),
        (CALLS, "-top -nodecount=2", "b 40/40, c 30/30"),
        // No other row gets the flat value of a leaf that was left out.
        (CALLS, "-top -nodefraction=0.35", "b 40/40, main 10/100, a 0/70"),
        (CALLS, "-tree -nodecount=3", "b 40/40, c 30/30, d 20/20"),
        // A call bridges the function that was left out.
        (
            "main;a;b 50\nmain;a;c 40\nmain 10",
            "-tree -nodecount=3",
            "b 50/50, c 40/40, main 10/100 >b 50 >c 40",
        ),
        (
            CALLS,
            "-tree -edgefraction=0.25",
            "b 40/40, c 30/30, d 20/20, main 10/100 >a 70, a 0/70 >b 40 >c 30",
        ),
        (CALLS, "-peek=^[ad]$", "d 20/20, a 0/70 >b 40 >c 30"),
        (recursive, "-top", "fib 120/120, b 7/7, a 0/7, main 0/127"),
        (recursive, "-peek=fib|main", "fib 120/120, main 0/127 >fib 120 >a 7"),
        (recursive, "-peek=^[ab]$", "b 7/7 >a 7, a 0/7 >b 7"),
        (CALLS, "-top -focus=^a$", "b 40/40, c 30/30, a 0/70, main 0/70"),
        (CALLS, "-top -ignore=c", "b 40/40, d 20/20, main 10/70, a 0/40"),
        (CALLS, "-top -hide=^b$", "a 40/70, c 30/30, d 20/20, main 10/100"),
        (CALLS, "-top -show=^[ad]$", "a 70/70, d 20/20"),
        (CALLS, "-top -show_from=^a$", "b 40/40, c 30/30, a 0/70"),
        (CALLS, "-top -prune_from=^a$", "a 70/70, d 20/20, main 10/100"),
        (LABELS, "-top -tagfocus=route=x|z", "a 5/5, main 0/5"),
        (LABELS, "-top -tagfocus=route", "a 8/8, main 0/8"),
        (LABELS, "-top -tagignore=size=1024:", "a 3/3, b 2/2, main 0/5"),
        (
            LABELS,
            "-tree -tagroot=route",
            "a 8/8, b 2/2, /x 0/5 >main 5, /y 0/3 >main 3, <unknown> 0/2 >main 2, main 0/10 >a 8 >b 2",
        ),
        (LABELS, "-top -tagleaf=route -files", "route 10/10, <unknown> 0/10"),
        ("f@/a/./x.c;g@/a/b/../x.c 4", "-top -files", "/a/x.c 4/4"),
        ("f@x.c;g@x.c 4", "-top -filefunctions", "g x.c 4/4, f x.c 0/4"),
        ("a;b -3\na;c 1", "-top", "b -3/-3, c 1/1, a 0/-2"),
        ("a;b -3\na;c 1", "-top -drop_negative", "c 1/1"),
        ("a;b [k=x] -3\na;b 3\na 1", "-tree", "a 1/1 >b 0"),
        ("a;b 0\n 7", "-top", ""),
    ] {
        let profiles = folded(profile);
        let command = command_line(arguments);
        let found = short(&profiles, &command);
        if found != expected {
            wrong.push(format!("{arguments} of {profile}\n{found}\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn top(profiles: &Profiles, options: &Options) -> Vec<(String, i128, i128)> {
    let rows = look::top(profiles, options).unwrap().rows;
    rows.into_iter().map(|row| (row.name, row.flat, row.cum)).collect()
}

#[test]
fn samples_of_all_resources_are_added_up_and_grouped_by_attributes() {
    let mut builder = Builder::new();
    for (service, value) in [("cart", i64::MAX), ("shop", i64::MAX - 2)] {
        builder.resource().attr("service.name", service);
        let cpu = builder.profile("cpu", "nanoseconds");
        let wall = builder.profile("wall", "nanoseconds");
        let frames = || {
            let kernel = Frame::new("read").frame_type("kernel");
            root_first([Frame::new("main").frame_type("native"), kernel])
        };
        builder.sample(wall, frames()).value(5);
        builder.sample(cpu, frames()).value(value).attr("thread.id", value % 2);
    }
    let profiles = builder.finish().unwrap();
    let options = Options::default().sample_type("cpu".to_owned());
    let sum = 2 * i128::from(i64::MAX) - 2;
    let report = look::top(&profiles, &options).unwrap();
    assert_eq!((report.header.total, report.header.sample_type.as_str()), (sum, "cpu"));
    assert_eq!(report.header.other_types, [("wall".to_owned(), "nanoseconds".to_owned())]);
    let by = |key: &str| top(&profiles, &options.clone().by(By::Attribute(key.to_owned())));
    let (cart, shop) = (i128::from(i64::MAX), i128::from(i64::MAX) - 2);
    assert_eq!(
        by("service.name"),
        [("cart".to_owned(), cart, cart), ("shop".to_owned(), shop, shop)]
    );
    assert_eq!(by("thread.id"), [("1".to_owned(), sum, sum)]);
    assert_eq!(
        by("profile.frame.type"),
        [("kernel".to_owned(), sum, sum), ("native".to_owned(), 0, sum)]
    );
    assert_eq!(by("absent"), [("<unknown>".to_owned(), sum, sum)]);
    // That of the first profile without a choice, by name and by number, and a missing one.
    assert_eq!(top(&profiles, &Options::default())[0].1, sum);
    assert_eq!(top(&profiles, &Options::default().sample_type("1".to_owned()))[0].1, 10);
    assert_eq!(top(&profiles, &Options::default().sample_type("0".to_owned()))[0].1, sum);
    let error =
        look::top(&profiles, &Options::default().sample_type("heap".to_owned())).unwrap_err();
    assert_eq!(
        error.message(),
        "no profile has the sample type heap: there are cpu:nanoseconds, wall:nanoseconds"
    );
    assert!(look::top(&Profiles::default(), &Options::default()).is_err());
}

#[test]
fn every_format_of_a_profile_gives_the_same_report() {
    for name in ["go-heap.pb.gz", "go-cpu-labels.pb.gz", "rust-cpu.pb.gz"] {
        let profiles = support::read("pprof", &support::testdata(&[name])[0].1);
        let otlp = support::read("otlp", &support::write("otlp", &profiles).0);
        for arguments in ["-top", "-tree -lines", "-traces"] {
            let command = command_line(arguments);
            let [pprof, otlp] = [&profiles, &otlp].map(|one| text(one, &command).unwrap());
            assert_eq!(pprof, otlp, "{name} {arguments}");
        }
    }
}

#[test]
fn a_filter_without_a_match_is_named() {
    let profiles = folded(CALLS);
    let arguments = "-top -focus=zzz -ignore=b -show_from=b -tagfocus=k=v -prune_from=zzz";
    let report = look::top(&profiles, &command_line(arguments).options).unwrap();
    assert_eq!(report.header.unmatched_filters, ["focus", "tagfocus", "prune_from"]);
    assert!(report.rows.is_empty() && report.header.total == 100);
    assert!(report.to_string().contains("Active filters:\n   focus=zzz\n   ignore=b\n"));
    let peek = look::peek(&profiles, &compile("zzz").unwrap(), &Options::default());
    assert_eq!(peek.unwrap_err().message(), "no row matches zzz");
}

#[test]
fn many_functions_and_deep_recursion_take_linear_time() {
    let mut text: String =
        (0..100_000).map(|row| format!("main;f{row};f{} 1\n", row / 2)).collect();
    text += &"r;".repeat(16_000);
    text += "s 5\n";
    let profiles = folded(&text);
    let options = Options::default().untrimmed();
    let tree = look::tree(&profiles, &options).unwrap();
    assert_eq!((tree.rows.len(), tree.rows[0].row.flat), (100_003, 5));
    let calls: usize = tree.rows.iter().map(|row| row.callees.len()).sum();
    assert_eq!(calls, 100_000 + 99_999 + 1, "f0 calls itself");
    let mut filter = Filter::default();
    filter.hide = Some(compile("^r$").unwrap());
    let rows = top(&profiles, &options.filter(filter));
    assert_eq!(rows.len(), 100_002);
}

#[test]
fn bounds_of_numeric_labels_are_inclusive() {
    let mut builder = otlp_profiles::Builder::new();
    let key = builder.profile("cpu", "ns");
    for bytes in [63, 64, 65] {
        let stack = otlp_profiles::builder::root_first(["main"]);
        builder.sample(key, stack).attr("bytes", bytes).values([1]);
    }
    let all = builder.finish().unwrap();
    for (range, count) in [(":64b", 2), ("64b:", 2), ("64b", 1), ("63b:64b", 2), (":62b", 0)] {
        let mut filter = Filter::default();
        filter.tag_focus = Some(TagFilter::parse(range, compile).unwrap());
        let mut profiles = all.clone();
        filter.apply(&mut profiles).unwrap();
        assert_eq!(profiles.iter().next().unwrap().samples().len(), count, "{range}");
    }
}
