//! Pipelines: the configuration, the order of inputs, publishers.

use otlp_profiles::builder::root_first;
use otlp_profiles::{Builder, Format, Profiles, WriteOptions};

use crate::*;

/// A heap profile: bytes and objects of one stack since the start of the process.
pub(crate) fn heap(second: u64, space: i64, objects: i64) -> Profiles {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "shop");
    let heap =
        builder.profile_of([("alloc_objects", "count"), ("alloc_space", "By"), ("cpu", "ns")]);
    // 2026-01-01T00:00:00Z.
    builder.profile_mut(heap).time((1_767_225_600 + second) * 1_000_000_000);
    builder.sample(heap, root_first(["main", "new_user"])).values([objects, space, 7]);
    builder.finish().unwrap()
}

pub(crate) fn save(profiles: &Profiles, path: &Path) {
    let written = otlp_profiles::write(profiles, Format::OTLP, &WriteOptions::default()).unwrap();
    fs::write(path, written.payload).unwrap();
}

/// Writes three snapshots, whose names are not in the order of their times, and a configuration.
fn prepare(name: &str, config: &str) -> PathBuf {
    let room = room(name);
    save(&heap(0, 4800, 100), &room.join("c.otlp"));
    save(&heap(60, 7200, 150), &room.join("a.otlp"));
    save(&heap(120, 1000, 20), &room.join("b.otlp"));
    fs::write(room.join("pipeline.yaml"), config).unwrap();
    room
}

const RUN: &str = "pipeline -c pipeline.yaml a.otlp b.otlp c.otlp";

/// A source of allocations, and a sink with some transformers and publishers.
fn config(transformers: &str, publishers: &str) -> String {
    format!(
        "sources: [{{name: heap, meters: [\"alloc_*\"], sinks: [out]}}]\nsinks:\n  - name: out\n    transformers: {transformers}\n    publishers: [{publishers}]\n"
    )
}

/// The yaml blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs").join(page)).unwrap();
    let blocks = page.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_example_of_the_page_publishes_what_it_shows() {
    let room = prepare("pipeline", &blocks("PIPELINES.md")[0]);
    let output = logged(&room, &format!("-v {RUN}"), 0);
    let units = lines(&output, "INFO");
    assert_eq!(units.len(), 3, "{units:#?}");
    let first = "Profiles published sink=growth profiles=2 samples=2 bytes=";
    assert!(units[0].contains(first), "{units:#?}");
    let dropped = lines(&output, "WARNING");
    for sink in ["growth", "mean"] {
        for loss in ["dropped 1 × delta.first: ", "synthesized 2 × delta.reset: "] {
            let expected = format!("sink {sink}: {loss}");
            assert!(dropped.iter().any(|line| line.contains(&expected)), "{dropped:#?}");
        }
    }
    let sum = |file: &str| {
        sums(&room, file)
            .into_iter()
            .map(|(of, unit, sum)| format!("{of} {sum} {unit}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        sum("growth-20260101T000100.otlp.gz"),
        ["alloc_objects 50 count", "alloc_space 2400 By"]
    );
    assert_eq!(
        sum("growth-20260101T000200.otlp.gz"),
        ["alloc_objects 20 count", "alloc_space 1000 By"]
    );
    assert_eq!(sum("mean.otlp"), ["mean_size 48 By", "mean_size 50 By"]);
    let before = fs::read(room.join("mean.otlp")).unwrap();
    // Rotation keeps the file of the run before; files of one time are in the way.
    let output = run(&room, RUN, 4);
    says(&output, "growth-20260101T000100.otlp.gz exists; --force replaces it");
    run(&room, &format!("{RUN} --force"), 0);
    for name in ["mean.otlp", "mean.otlp.1", "mean.otlp.2"] {
        assert!(fs::read(room.join(name)).unwrap() == before, "{name} differs");
    }
    assert!(!room.join("mean.otlp.3").exists());
    let rate = config("[{name: rate_of_change}]", "\"file://rate.otlp\"");
    fs::write(room.join("pipeline.yaml"), rate).unwrap();
    run(&room, RUN, 0);
    let rates = fs::read(room.join("rate.otlp")).unwrap();
    run(&room, "pipeline -f -c pipeline.yaml c.otlp b.otlp a.otlp", 0);
    assert!(rates == fs::read(room.join("rate.otlp")).unwrap(), "the order of arguments counts");
    assert_eq!(
        sum("rate.otlp"),
        [
            "alloc_objects 0 count/s",
            "alloc_objects 1 count/s",
            "alloc_space 17 By/s",
            "alloc_space 40 By/s"
        ]
    );
}

/// What matches nothing is named, and losses are those of their sink, without `-v` too.
#[test]
fn what_matches_nothing_is_named() {
    let room = prepare(
        "pipeline-unmatched",
        "sources:
- {name: heap, meters: [alloc_space], sinks: [kilo, delta]}
- {name: none, meters: [wall], sinks: [kilo]}
sinks:
- name: kilo
  transformers: [{name: unit_conversion, parameters: {source: {unit: ms}, target: {unit: s}}}]
  publishers: ['file://kilo.otlp']
- {name: delta, transformers: [{name: delta}], publishers: ['file://delta.otlp']}
",
    );
    let output = run(&room, RUN, 0);
    for expected in [
        "source none matches no sample type of the inputs: alloc_objects, alloc_space, cpu",
        "sink kilo: unit_conversion changed no sample type of the unit ms: there were alloc_space (By)",
        "sink delta: dropped 1 × delta.first: ",
        "sink delta: synthesized 1 × delta.reset: ",
    ] {
        says(&output, expected);
    }
}

#[test]
fn every_example_of_the_page_is_accepted() {
    let examples = blocks("PIPELINES.md");
    assert!(examples.len() > 3);
    for (row, example) in examples.iter().enumerate() {
        let room = prepare(&format!("pipeline-{row}"), example);
        run(&room, RUN, 0);
    }
}

#[test]
fn mistakes_in_the_configuration_have_a_line_and_a_column() {
    let publishers = "publishers: [stdout]";
    let source = |meters: &str| {
        format!(
            "sources:\n- {{name: s, meters: {meters}, sinks: [k]}}\nsinks:\n- {{name: k, {publishers}}}\n"
        )
    };
    let sink = |rest: &str| {
        format!(
            "sources:\n- {{name: s, meters: ['*'], sinks: [k]}}\nsinks:\n- {{name: k, {rest}}}\n"
        )
    };
    let stage = |stage: &str| sink(&format!("{publishers}, transformers:\n  [{stage}]"));
    let of = |name: &str, parameters: &str| {
        stage(&format!("{{name: {name}, parameters: {{{parameters}}}}}"))
    };
    let mut wrong = Vec::new();
    for (config, expected) in [
        (source("[]"), "2:21: meters is empty: give \"*\", names such as \"alloc_*\", or exclusions such as \"!cpu\""),
        (source("[a, '!b']"), "2:25: \"!b\" excludes, and \"a\" includes: leave out either"),
        (source("['*', a]"), "2:21: \"*\" includes \"a\": leave out either"),
        (source("['a[']"), "2:22: \"a[\" is not a pattern: invalid range pattern"),
        (source("cpu"), "2:21: expected a list"),
        (source("[7]"), "2:22: expected a string: quote it"),
        ("sources:\n- {name: s, sinks: [k]}\nsinks:\n- {name: k, publishers: [stdout]}\n".into(), "2:3: the key \"meters\" is missing"),
        ("sources:\n- {name: s, meters: ['*'], sinks: [x]}\nsinks:\n- {name: k, publishers: [stdout]}\n".into(), "2:36: sink \"x\" is not defined: the sinks are k"),
        ("sources:\n- {name: s, meters: ['*'], sinks: [k, k]}\nsinks:\n- {name: k, publishers: [stdout]}\n".into(), "2:39: sink \"k\" is listed twice"),
        ("sources: []\nsinks:\n- {name: k, publishers: [stdout]}\n- {name: k, publishers: ['file://a']}\n".into(), "4:10: the name \"k\" is taken, at 3:10"),
        ("sources: []\nsinks:\n- {name: k, publishers: [stdout]}\n- {name: l, publishers: ['-']}\n".into(), "4:26: another publisher writes stdout, too"),
        ("sinks: []\n".into(), "1:1: the key \"sources\" is missing"),
        ("sources: []\nsinks: []\nsink: []\n".into(), "3:1: unknown key \"sink\": the keys are sources, sinks"),
        ("sources: []\nsinks: []\nsinks: []\n".into(), "3:1: duplicated key in mapping"),
        ("sources: [\n".into(), "2:1: while parsing a node, did not find expected node content"),
        ("- 1\n".into(), "1:1: expected a mapping"),
        ("--- 1\n--- 2\n".into(), "1:1: expected one document, found 2"),
        (sink("publishers: []"), "4:25: publishers is empty: add one, such as file:///var/profiles/heap or stdout"),
        (sink("transformers: []"), "4:3: the key \"publishers\" is missing"),
        (sink("publishers: ['notifier://']"), "4:26: publisher \"notifier://\": notifier is not supported: publish a file and send it, such as with curl --data-binary @FILE URL"),
        (sink("publishers: ['udp://host:1']"), "4:26: publisher \"udp://host:1\": udp is not supported: publish a file and send it, such as with curl --data-binary @FILE URL"),
        (sink("publishers: ['kafka://host']"), "4:26: publisher \"kafka://host\": kafka is not supported: publish a file and send it, such as with curl --data-binary @FILE URL"),
        (sink("publishers: ['http://host/']"), "4:26: publisher \"http://host/\": http is not supported: publish a file and send it, such as with curl --data-binary @FILE URL"),
        (sink("publishers: ['file://']"), "4:26: publisher \"file://\": the path is missing"),
        (sink("publishers: ['file://a?max=1']"), "4:26: publisher \"file://a?max=1\": unknown parameter \"max\": the parameters are max_bytes, backup_count, ttl, format"),
        (sink("publishers: ['file://a?max_bytes=0']"), "4:26: publisher \"file://a?max_bytes=0\": max_bytes is \"0\", and a number of bytes is expected"),
        (sink("publishers: ['file://a?format=perf-script']"), "4:26: publisher \"file://a?format=perf-script\": format is \"perf-script\", and a format that is written, such as otlp is expected"),
        (sink("publishers: ['file://a?ttl=60']"), "4:26: publisher \"file://a?ttl=60\": files expire by the date and time in their names, such as heap-%Y%m%dT%H%M%S.otlp"),
        (sink("publishers: ['file://%Y/a']"), "4:26: publisher \"file://%Y/a\": only the name of the file may contain times, not that of a folder"),
        (stage("{name: multiply}"), "5:11: transformer \"multiply\" is unknown: there are accumulator, aggregator, arithmetic, delta, rate_of_change, unit_conversion"),
        (stage("{name: delta, parameter: 1}"), "5:18: unknown key \"parameter\": the keys are name, parameters"),
        (of("delta", "growth: true"), "5:31: unknown key \"growth\": the keys are growth_only, target"),
        (of("delta", "growth_only: 1"), "5:44: expected true or false"),
        (of("accumulator", "size: many"), "5:43: expected a whole number"),
        (of("aggregator", "retention_time: -1"), "5:52: expected seconds between 0 and 10^9"),
        (of("aggregator", "attributes: {a: least}"), "5:52: \"least\" is unknown: expected first, last or drop"),
        (of("rate_of_change", "target: {scale: '1 +'}"), "5:56: expr: byte 3: a number, `value`, `$(…)` or `(` is missing"),
        (of("rate_of_change", "target: {scale: value}"), "5:56: scale: a rate is multiplied by its scale: leave out `value`"),
        (of("rate_of_change", "target: {type: rate}"), "5:55: type \"rate\" is unknown: expected gauge, delta or cumulative"),
        (of("rate_of_change", "source: {map_from: {name: '('}}, target: {map_to: {name: x}}"), "5:66: not a regular expression: error: unclosed group"),
        (of("unit_conversion", "target: {scale: '$(a)'}"), "5:57: scale: $(a) is not available here: use the stage arithmetic"),
        (of("arithmetic", "target: {name: x, expr: '1'}"), "5:60: expr: it names no sample type, such as $(alloc_space)"),
        (of("arithmetic", "target: {expr: $(a)}"), "5:44: the key \"name\" is missing"),
        (stage("{name: arithmetic}"), "5:4: the key \"target\" is missing"),
    ] {
        let room = prepare("pipeline-mistakes", &config);
        let said = stderr(&run(&room, RUN, 2));
        if said != format!("otlp-profiles: pipeline.yaml:{expected}\n") {
            wrong.push(format!("{config}{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hostile_configurations_are_refused() {
    let room = prepare("pipeline-hostile", "");
    let bomb = (0..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, at| {
        text + &format!("a{}: &a{} [*a{at}, *a{at}, *a{at}, *a{at}]\n", at + 1, at + 1)
    });
    for (text, expected) in [
        (bomb, "alias expansion exceeded the maximum node budget"),
        ("[".repeat(100_000), "pipeline.yaml:1:256: recursion limit exceeded"),
        ("[\n".repeat(100_000), "recursion limit exceeded"),
        ("- ".repeat(100_000), "more than 64 lists and mappings are in each other"),
        ("#".repeat(1 << 20), "the file has 1048576 bytes, and the limit is 262144"),
        ((0..600).map(|at| format!("{}- \n", " ".repeat(at))).collect(), "pipeline.yaml:"),
    ] {
        fs::write(room.join("pipeline.yaml"), text).unwrap();
        says(&run(&room, RUN, 2), expected);
    }
    fs::remove_file(room.join("pipeline.yaml")).unwrap();
    says(&run(&room, RUN, 3), "pipeline.yaml cannot be read: ");
}

#[test]
fn parameters_without_effect_are_warned_about() {
    let text = config("[]", "\"file://out.otlp?max_bytes=5\"")
        .replace("sinks: [out]", "sinks: [out], interval: 60");
    let room = prepare("pipeline-effect", &text);
    let output = run(&room, RUN, 0);
    says(
        &output,
        "warning: interval of source heap has no effect: inputs are the files of the command line",
    );
    says(
        &output,
        "warning: file://out.otlp?max_bytes=5: max_bytes has no effect without backup_count",
    );
    assert_eq!(info(&room, "out.otlp")["messages"].as_array().unwrap().len(), 3);
    fs::write(room.join("pipeline.yaml"), config("[{name: delta}]", "stdout")).unwrap();
    let output = run(&room, "pipeline -c pipeline.yaml a.otlp", 0);
    says(&output, "sink out published nothing: no profile left its last transformer");
    assert!(output.stdout.is_empty());
}

#[test]
fn errors_of_one_profile_input_or_publisher_do_not_stop_the_others() {
    let scale = "[{name: unit_conversion, parameters: {source: {unit: By}, target: {scale: 1000000000000000}}}]";
    let room = prepare(
        "pipeline-errors",
        &config(scale, "\"stdout?format=folded\", \"file://absent/x.otlp\"")
            .replace("alloc_*", "alloc_space"),
    );
    save(&heap(90, 90_000, 1), &room.join("large.otlp"));
    fs::write(room.join("broken.otlp"), b"\x0a\x05\x00").unwrap();
    let output = logged(&room, &format!("{RUN} broken.otlp large.otlp absent.otlp"), 4);
    let errors = lines(&output, "ERROR").join("\n");
    for expected in [
        "Reading failed: cannot be read",
        "in=broken.otlp",
        "Pipeline failed: value.overflow: 90000 × 1000000000000000 / 1 exceeds 64 bits in=\"sink out\"",
        "Publication failed: absent/x.otlp cannot be written: its folder does not exist",
    ] {
        assert!(errors.contains(expected), "no {expected:?} in {errors}");
    }
    assert_eq!(errors.lines().count(), 4, "{errors}");
    let expected =
        [4800, 7200, 1000].map(|value| format!("main;new_user {value}000000000000000\n"));
    assert_eq!(stdout(&output), expected.concat());
}

#[test]
fn files_are_rotated_and_expire() {
    let publish = |name: &str, url: &str, minutes: u64| {
        let room = prepare(name, &config("[]", &format!("\"{url}\"")));
        fs::create_dir(room.join("in")).unwrap();
        for minute in 0..minutes {
            save(&heap(60 * minute, 1, 1), &room.join(format!("in/{:02}.otlp", minutes - minute)));
        }
        run(&room, "pipeline -c pipeline.yaml in", 0);
        let mut names = files(&room);
        names.retain(|name| name.starts_with("heap"));
        names.sort();
        names
    };
    let names = publish("pipeline-ttl", "file://heap-%Y%m%dT%H%M%S.otlp?ttl=600", 15);
    assert_eq!((names.len(), &names[0][..]), (10, "heap-20260101T000500.otlp"), "{names:?}");
    assert_eq!(publish("pipeline-forever", "file://heap-%Y%m%dT%H%M%S.otlp?ttl=-1", 15).len(), 15);
    let names = publish("pipeline-backups", "file://heap.otlp?max_bytes=1&backup_count=2", 5);
    assert_eq!(names, ["heap.otlp", "heap.otlp.1", "heap.otlp.2"]);
    let names =
        publish("pipeline-times", "file://heap-%Y%m%dT%H%M.otlp?max_bytes=1&backup_count=2", 5);
    assert_eq!(names, ["0002", "0003", "0004"].map(|time| format!("heap-20260101T{time}.otlp")));
    let names = publish(
        "pipeline-sizes",
        "file://heap-%Y%m%dT%H%M.otlp?max_bytes=100000&backup_count=2",
        5,
    );
    assert_eq!(names, ["heap-20260101T0000.otlp"]);
    let names = publish("pipeline-hours", "file://heap-%H.otlp", 70);
    assert_eq!(names, ["heap-00.otlp", "heap-01.otlp"]);
}

#[test]
fn inputs_that_cannot_be_sorted_are_refused() {
    let room = prepare("pipeline-stdin", &config("[]", "stdout"));
    says(
        &run(&room, "pipeline -c pipeline.yaml - a.otlp", 2),
        "stdin or a pipe must be the only input",
    );
    let input = fs::read(room.join("a.otlp")).unwrap();
    let output = run_with_stdin(&room, "pipeline -c pipeline.yaml -", &input, 0);
    assert!(!output.stdout.is_empty());
}
