//! Sums and comparisons: which sample type, several inputs, units, periods, snapshots.

use otlp_profiles::builder::root_first;
use otlp_profiles::{Builder, Format, WriteOptions, write};

use crate::*;

const SECOND: u64 = 1_000_000_000;

/// A profile to write: its types with the values of one sample of `main;NAME`.
struct One<'a> {
    types: &'a [(&'a str, &'a str)],
    period: (&'a str, &'a str, i64),
    /// Seconds since 1970.
    time: u64,
    duration: u64,
}

const CPU: One<'static> = One {
    types: &[("samples", "count"), ("cpu", "nanoseconds")],
    period: ("cpu", "nanoseconds", 10_000_000),
    time: 1_700_000_000,
    duration: 10,
};

const HEAP: One<'static> = One {
    types: &[("alloc_space", "bytes"), ("inuse_space", "bytes")],
    period: ("space", "bytes", 524_288),
    time: 1_700_000_000,
    duration: 0,
};

/// Writes one pprof.
fn put(room: &Path, file: &str, one: &One<'_>, samples: &[(&str, &[i64])]) {
    let mut builder = Builder::new();
    let profile = builder.profile_of(one.types.iter().copied());
    let (name, unit, period) = one.period;
    let header = builder.profile_mut(profile).time(one.time * SECOND);
    header.duration(one.duration * SECOND).period(name, unit, period);
    for (name, values) in samples {
        builder.sample(profile, root_first(["main", name])).values(values.iter().copied());
    }
    let profiles = builder.finish().unwrap();
    let written = write(&profiles, Format::PPROF, &WriteOptions::default()).unwrap();
    fs::write(room.join(file), written.payload).unwrap();
}

/// The sample type, its unit and the total that `top` reports.
fn top(room: &Path, arguments: &str) -> (String, String, i64, String) {
    let output = run(room, &format!("top --json {arguments}"), 0);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| json[key].as_str().or(json["header"][key].as_str()).unwrap().to_owned();
    let total = json["total"].as_i64().or(json["header"]["total"].as_i64()).unwrap();
    (text("sample_type"), text("unit"), total, stderr(&output))
}

#[test]
fn every_verb_shows_the_same_sample_type() {
    let room = room("sums-default");
    let config = "sources: [{name: all, meters: ['*'], sinks: [out]}]\nsinks: [{name: out, publishers: ['file://piped.otlp']}]\n";
    fs::write(room.join("all.yaml"), config).unwrap();
    let mut files: Vec<PathBuf> =
        fs::read_dir(testdata("")).unwrap().map(|one| one.unwrap().path()).collect();
    if let Some(corpus) = std::env::var_os("OTLP_PROFILES_CORPUS") {
        let folders = fs::read_dir(corpus).unwrap().map(|one| one.unwrap().path());
        let all = folders.filter(|one| one.is_dir()).flat_map(|one| fs::read_dir(one).unwrap());
        files.extend(all.map(|one| one.unwrap().path()));
    }
    let ends = [".pb.gz", ".pb", ".binpb", ".otlp"];
    files.retain(|file| ends.iter().any(|end| file.to_string_lossy().ends_with(end)));
    files.sort();
    let mut compared = 0;
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let Ok(bytes) = fs::read(&file) else { continue };
        let Ok(reading) = otlp_profiles::read(&bytes, &Default::default()) else { continue };
        let Some(expected) = reading.profiles.default_sample_type() else { continue };
        if reading.profiles.iter().all(|profile| profile.samples().is_empty())
            || expected.name.is_empty()
        {
            continue;
        }
        compared += 1;
        let (sample_type, unit, ..) = top(&room, &name);
        assert_eq!((&*sample_type, &*unit), (expected.name, expected.unit), "top {name}");
        let diff = run(&room, &format!("diff --format json {name} {name}"), 0);
        let diff: Value = serde_json::from_slice(&diff.stdout).unwrap();
        assert_eq!(diff["sample_type"], expected.name, "diff {name}");
        run(&room, &format!("convert {name} --to folded -o all.folded --type all --force"), 0);
        let folded = run(&room, &format!("convert {name} --to folded -o one.folded --force"), 0);
        let said = stderr(&folded);
        if let Some((_, wrote)) =
            said.split_once("otlp-profiles: wrote ").filter(|(_, rest)| rest.contains("left out"))
        {
            assert!(wrote.starts_with(&expected.to_string()), "convert {name}: {said}");
        }
        for merged in ["m.pb.gz", "m.otlp"] {
            run(&room, &format!("merge {name} -o {merged} --force"), 0);
            if room.join(merged).exists() {
                assert_eq!(top(&room, merged).0, expected.name, "merge {name} -o {merged}");
                fs::remove_file(room.join(merged)).unwrap();
            }
        }
        run(&room, &format!("view {name} -o page.html --force"), 0);
        let page = fs::read_to_string(room.join("page.html")).unwrap();
        let shown = serde_json::json!({ "type": expected.name, "unit": expected.unit }).to_string();
        assert!(page.contains(&format!("\"type\":{shown}")), "view {name}: {shown}");

        // One that comes back must not change either. Each part of a split has a default of its own.
        run(&room, &format!("pipeline -c all.yaml {name} --force"), 0);
        assert_eq!(top(&room, "piped.otlp").0, expected.name, "pipeline {name}");
        run(&room, &format!("split {name} --by resource -o part.otlp --force"), 0);
        if reading.profiles.resource_profiles().len() == 1 {
            assert_eq!(top(&room, "part.otlp").0, expected.name, "split {name}");
        }
        if cfg!(feature = "parquet") {
            _ = fs::remove_dir_all(room.join("dataset"));
            run(&room, &format!("export {name} -o dataset"), 0);
            let sql = stdout(&run(&room, "sql top --dir dataset", 0));
            let wanted = format!("type = '{}'", expected.name.replace('\'', "''"));
            assert!(sql.contains(&wanted), "sql {name}: {wanted} in {sql}");
            run(&room, "import dataset -o back.otlp --force", 0);
            assert_eq!(top(&room, "back.otlp").0, expected.name, "import {name}");
        }
    }
    assert!(compared > 15, "{compared} files");
}

#[test]
fn several_inputs_show_the_default_type_of_the_first() {
    let room = room("sums-default-several");
    let of = |types| One { types, ..CPU };
    let ab: &[(&str, &str)] = &[("samples", "count"), ("cpu", "nanoseconds")];
    let bc: &[(&str, &str)] = &[("cpu", "nanoseconds"), ("wall", "nanoseconds")];
    put(&room, "ab.pb", &of(ab), &[("f", &[1, 2])]);
    put(&room, "bc.pb", &of(bc), &[("f", &[30, 40])]);
    for (inputs, shown, sum) in
        [("ab.pb bc.pb", "cpu", 32), ("bc.pb ab.pb", "wall", 40), ("ab.pb ab.pb bc.pb", "cpu", 34)]
    {
        let (sample_type, _, total, ..) = top(&room, inputs);
        assert_eq!((&*sample_type, total), (shown, sum), "top {inputs}");
        for merged in ["m.otlp", "m.pb"] {
            run(&room, &format!("merge {inputs} -o {merged} --force"), 0);
            assert_eq!(top(&room, merged).0, shown, "merge {inputs} -o {merged}");
        }
    }
    // A comparison needs a type of both sides.
    for inputs in ["ab.pb bc.pb", "bc.pb ab.pb"] {
        let diff = run(&room, &format!("diff --format json {inputs}"), 0);
        let diff: Value = serde_json::from_slice(&diff.stdout).unwrap();
        assert_eq!(diff["sample_type"], "cpu", "diff {inputs}");
    }
    put(&room, "other.pb", &of(&[("wall", "nanoseconds")]), &[("f", &[1])]);
    for diff in ["diff ab.pb other.pb", "diff ab.pb other.pb -o d.pb"] {
        assert!(
            stderr(&run(&room, diff, if diff.ends_with(".pb -o d.pb") { 4 } else { 3 }))
                .contains("wall")
        );
    }
    assert!(!room.join("d.pb").exists());
}

#[test]
fn snapshots_with_units_of_several_spellings_are_combined() {
    let room = room("sums-snapshot-units");
    for (row, (unit, value)) in
        [("bytes", 4096), ("By", 8192), ("kilobytes", 12)].iter().enumerate()
    {
        let time = CPU.time + row as u64 * 60;
        let heap = One { types: &[("inuse_space", unit)], time, ..HEAP };
        put(&room, &format!("{row}.pb"), &heap, &[("f", &[*value])]);
    }
    for (how, sum) in [("sum", 24_576), ("last", 12_288), ("max", 12_288), ("mean", 8_192)] {
        run(&room, &format!("merge 0.pb 1.pb 2.pb --combine {how} -o m.otlp --force"), 0);
        assert_eq!(top(&room, "m.otlp").2, sum, "{how}");
        run(&room, &format!("merge 2.pb 0.pb 1.pb --combine {how} -o m.otlp --force"), 0);
        assert_eq!(top(&room, "m.otlp").2, sum, "{how}, in another order");
    }
    run(&room, "merge 0.pb 1.pb 2.pb --combine last -o m.otlp --force", 0);
    let time = &profiles(&info(&room, "m.otlp")["messages"][0])[0]["time_unix_nano"];
    assert_eq!(time.to_string().trim_matches('"'), (SECOND * (CPU.time + 120)).to_string());
    says(&run(&room, "top 0.pb 1.pb 2.pb", 0), "3 snapshots of one process");
}

#[test]
fn values_of_one_dimension_are_added_after_conversion() {
    let room = room("sums-units");
    let in_ms = One {
        types: &[("samples", "1"), ("cpu", "milliseconds")],
        period: ("cpu", "milliseconds", 10),
        ..CPU
    };
    let in_us = One {
        types: &[("samples", "{samples}"), ("cpu", "us")],
        period: ("cpu", "us", 10_000),
        ..CPU
    };
    put(&room, "ns.pb", &CPU, &[("a", &[1, 5_000_000])]);
    put(&room, "ms.pb", &in_ms, &[("a", &[2, 7]), ("b", &[1, 1])]);
    put(&room, "us.pb", &in_us, &[("b", &[4, 30])]);
    for files in ["ns.pb ms.pb us.pb", "us.pb ns.pb ms.pb", "ms.pb us.pb ns.pb"] {
        let (name, unit, total, said) = top(&room, files);
        assert_eq!(
            (&*name, &*unit, total, &*said),
            ("cpu", "nanoseconds", 13_030_000, ""),
            "{files}"
        );
        assert_eq!(top(&room, &format!("{files} --type samples")).2, 8);
        for merged in ["m.pb.gz", "m.otlp"] {
            run(&room, &format!("merge {files} -o {merged} --force"), 0);
            assert_eq!(top(&room, merged).2, 13_030_000, "{files} {merged}");
            assert_eq!(
                info(&room, merged)["messages"][0]["resources"].as_array().unwrap().len(),
                1
            );
        }
    }
    let diff = run(&room, "diff ns.pb ms.pb", 0);
    assert!(
        stdout(&diff).starts_with("cpu: 5,000,000 nanoseconds (5 ms) before, 8,000,000"),
        "{}",
        stdout(&diff)
    );
    // Several profiles of one file are added up as well.
    run(&room, "merge --keep-apart ns.pb ms.pb -o both.otlp", 0);
    assert_eq!(top(&room, "both.otlp").2, 13_000_000);
    run(&room, "convert both.otlp -o both.folded", 0);
    assert!(fs::read_to_string(room.join("both.folded")).unwrap().contains("main;a 12000000\n"));
}

#[test]
fn inputs_without_the_sample_type_are_named() {
    let room = room("sums-left-out");
    put(&room, "cpu.pb", &CPU, &[("a", &[1, 10_000_000])]);
    put(&room, "heap.pb", &HEAP, &[("a", &[10, 5])]);
    put(&room, "heap2.pb", &HEAP, &[("b", &[10, 5])]);
    let left_out = "heap.pb has no cpu:nanoseconds and is left out: it has alloc_space:bytes, inuse_space:bytes";
    for verb in [
        "top cpu.pb heap.pb",
        "view cpu.pb heap.pb",
        "view cpu.pb heap.pb --flame",
        "view cpu.pb heap.pb -o page.html",
        "view cpu.pb heap.pb -o icicle.svg",
        "merge cpu.pb heap.pb -o m.folded",
        "merge cpu.pb heap.pb --type cpu -o t.otlp",
        "diff cpu.pb heap.pb -- cpu.pb cpu.pb",
    ] {
        says(&run(&room, verb, 0), left_out);
    }
    says(
        &run(&room, "top cpu.pb heap.pb heap2.pb", 0),
        "heap.pb, heap2.pb have no cpu:nanoseconds and are left out",
    );
    assert_eq!(top(&room, "heap.pb cpu.pb").0, "inuse_space", "the first input decides");
    for verb in [
        "top cpu.pb heap.pb --type wall",
        "view cpu.pb --type wall",
        "view cpu.pb --type wall -o w.html",
        "merge cpu.pb heap.pb --type wall -o w.otlp",
        "diff cpu.pb heap.pb --type wall",
        "diff cpu.pb heap.pb",
        "convert cpu.pb --type wall -o w.otlp",
        "top cpu.pb --type cpu:bytes",
    ] {
        run(&room, verb, 3);
    }
    assert!(!room.join("w.otlp").exists() && !room.join("w.html").exists());
}

#[test]
fn sampling_periods_of_compared_counts_are_named() {
    let room = room("sums-periods");
    let fast = One { period: ("cpu", "nanoseconds", 1_000_000), ..CPU };
    let same = One { period: ("cpu", "ms", 10), ..CPU };
    put(&room, "slow.pb", &CPU, &[("a", &[100, 1_000_000_000])]);
    put(&room, "fast.pb", &fast, &[("a", &[1_000, 1_000_000_000])]);
    put(&room, "same.pb", &same, &[("a", &[100, 1_000_000_000])]);
    let warning = "the sampling periods differ (1ms, 10ms), so numbers of samples do not compare: cpu does (--type cpu)";
    says(&run(&room, "diff slow.pb fast.pb --type samples", 0), warning);
    says(&run(&room, "top slow.pb fast.pb --type samples", 0), warning);
    says(&run(&room, "view fast.pb --diff slow.pb --type samples -o d.html", 0), warning);
    for quiet in [
        "diff slow.pb fast.pb --type cpu",
        "diff slow.pb same.pb --type samples",
        "top slow.pb fast.pb",
    ] {
        assert_eq!(stderr(&run(&room, quiet, 0)), "", "{quiet}");
    }
    let merged = run(&room, "merge slow.pb fast.pb -o m.pb.gz", 0);
    says(&merged, "the sampling periods differ");
    says(&merged, "--join-periods");
    run(&room, "merge slow.pb fast.pb --join-periods -o one.pb.gz", 0);
    assert_eq!(top(&room, "one.pb.gz").2, 2_000_000_000);
}

#[test]
fn sums_of_snapshots_are_named_once() {
    let room = room("sums-snapshots");
    for (at, file) in ["a.pb", "b.pb", "c.pb"].iter().enumerate() {
        put(
            &room,
            file,
            &One { time: HEAP.time + 10 * at as u64, ..HEAP },
            &[("leak", &[500, 400])],
        );
    }
    run(&room, "merge --keep-apart a.pb b.pb -o both.otlp", 0);
    for verb in [
        "top a.pb b.pb c.pb",
        "top both.otlp",
        "convert both.otlp --to folded -o f.folded",
        "view a.pb b.pb",
        "view a.pb b.pb --flame",
        "view a.pb b.pb -o p.html",
        "merge a.pb b.pb -o m.pb.gz",
        "diff a.pb b.pb -- a.pb b.pb c.pb",
    ] {
        let output = run(&room, verb, 0);
        let said = stderr(&output);
        let of_type = said
            .lines()
            .filter(|line| {
                line.contains("inuse_space") && line.contains("snapshots of one process")
            })
            .count();
        // Each side of a comparison has its own sum.
        let sums = if verb.starts_with("diff") { 2 } else { 1 };
        assert_eq!(of_type, sums, "{verb}: {said}");
        assert!(said.contains("--combine last"), "{verb}: {said}");
    }
    for quiet in ["top a.pb", "diff a.pb b.pb", "view a.pb --diff b.pb -o q.html"] {
        assert_eq!(stderr(&run(&room, quiet, 0)), "", "{quiet}");
    }
    let profile = &profiles(&info(&room, "m.pb.gz")["messages"][0])[0];
    assert_eq!(
        profile["duration_nanos"].as_i64().unwrap_or(0),
        0,
        "snapshots cover no time: {profile}"
    );
}

#[test]
fn a_type_without_values_names_another() {
    let room = room("sums-zero");
    put(&room, "heap.pb", &HEAP, &[("a", &[1_000, 0]), ("b", &[24, 0])]);
    let warning =
        "all values of inuse_space are 0, but alloc_space has 1,024 bytes (--type alloc_space)";
    for verb in ["top heap.pb", "view heap.pb", "view heap.pb -o p.html", "view heap.pb -o p.svg"] {
        says(&run(&room, verb, 0), warning);
    }
    // Both sides of a comparison count.
    says(
        &run(&room, "diff heap.pb heap.pb", 0),
        "but alloc_space has 2,048 bytes (--type alloc_space)",
    );
    assert_eq!(stderr(&run(&room, "top heap.pb --type alloc_space", 0)), "");
}

#[test]
fn each_input_drops_its_own_frames() {
    let room = room("sums-frames");
    let mut builder = Builder::new();
    for (service, drop) in [("a", Some("alloc.*")), ("b", None), ("c", Some("keep.*|alloc.*"))] {
        builder.resource().attr("service.name", service);
        let profile = builder.profile("samples", "count");
        if let Some(drop) = drop {
            builder.profile_mut(profile).attr("pprof.profile.drop_frames", drop);
        }
        if service == "c" {
            builder.profile_mut(profile).attr("pprof.profile.keep_frames", "keep.*");
        }
        builder.sample(profile, root_first(["main", "user", "alloc1"])).value(10);
        builder.sample(profile, root_first(["main", "user", "keep1"])).value(1);
        let written =
            write(&builder.finish().unwrap(), Format::OTLP, &WriteOptions::default()).unwrap();
        fs::write(room.join(format!("{service}.otlp")), written.payload).unwrap();
    }
    for files in ["a.otlp b.otlp c.otlp", "c.otlp b.otlp a.otlp"] {
        let text = stdout(&run(&room, &format!("top {files}"), 0));
        let has = |row: &str| {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).any(
                |line| {
                    let words: Vec<_> = line.split(' ').collect();
                    words.len() > 5 && format!("{} {}", words[0], words[words.len() - 1]) == row
                },
            )
        };
        assert!(has("20 user") && has("10 alloc1") && has("3 keep1"), "{files}: {text}");
        let all = stdout(&run(&room, &format!("top {files} --all-frames"), 0));
        assert!(
            all.lines()
                .any(|line| line.trim_start().starts_with("30 ") && line.ends_with("alloc1")),
            "{all}"
        );
    }
    run(&room, "merge a.otlp b.otlp c.otlp -o one.otlp", 0);
    let one = stdout(&run(&room, "top one.otlp", 0));
    assert!(
        one.lines().any(|line| line.trim_start().starts_with("20 ") && line.ends_with("user")),
        "{one}"
    );
    assert!(stdout(&run(&room, "diff a.otlp b.otlp", 0)).contains("alloc1"));
}

#[test]
fn a_merge_of_one_file_is_a_conversion() {
    let room = room("sums-one");
    for (at, pprof) in PPROFS.iter().enumerate() {
        copy(pprof, &room.join("in.pb.gz"));
        run(&room, "convert in.pb.gz -o in.otlp --force", 0);
        run(&room, "convert in.otlp -o converted.pb --no-gzip --force", 0);
        run(&room, "merge in.otlp -o merged.pb --no-gzip --deny-loss --force", 0);
        let types = |file: &str| {
            let profile = &profiles(&info(&room, file)["messages"][0])[0];
            (profile["sample_types"].clone(), profile["default_sample_type"].clone())
        };
        assert_eq!(types("merged.pb"), types("converted.pb"), "{at}");
        assert_eq!(top(&room, "merged.pb"), top(&room, "in.pb.gz"));
        // OTLP beside its pprof keeps the order, too, in both formats.
        for to in ["both.pb", "both.otlp"] {
            run(&room, &format!("merge in.pb.gz in.otlp -o {to} --no-gzip --force"), 0);
            assert_eq!(top(&room, to).0, top(&room, "in.pb.gz").0, "{pprof} {to}");
        }
        run(&room, "convert both.otlp -o back.pb --no-gzip --force", 0);
        let names = |file: &str| -> Vec<String> {
            let types = types(file).0;
            types
                .as_array()
                .unwrap()
                .iter()
                .map(|of| of["type"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names("back.pb"), names("converted.pb"));
        assert_eq!(names("both.pb"), names("converted.pb"));
    }
}

/// Regression: the order of columns differs between the inputs, since each has its default type first.
#[test]
fn columns_of_one_pprof_stay_together() {
    let room = room("sums-columns");
    for name in ["go-allocs", "go-heap"] {
        copy(&format!("{name}.pb.gz"), &room.join(format!("{name}.pb.gz")));
        run(&room, &format!("convert {name}.pb.gz -o {name}.otlp"), 0);
    }
    for order in ["go-allocs.otlp go-heap.otlp", "go-heap.otlp go-allocs.otlp"] {
        run(&room, &format!("merge {order} -o both.pb --no-gzip --force"), 0);
        for (name, sum) in [("alloc_space", 570_873_694), ("inuse_objects", 6_264)] {
            assert_eq!(top(&room, &format!("both.pb --type {name}")).2, sum, "{order}");
        }
        fs::remove_file(room.join("both.pb")).unwrap();
        let (one, other) = order.split_once(' ').unwrap();
        run(&room, &format!("diff {one} {other} -o d.otlp --deny-loss --force"), 0);
        run(&room, &format!("merge {order} -o both.otlp --deny-loss --force"), 0);
    }
}

/// Regression: the first profile decided on the form of the samples even if it had none.
#[test]
fn empty_profiles_change_no_sum() {
    let room = room("sums-empty");
    copy("otlp-1.11-timestamped-cpu.binpb", &room.join("events.otlp"));
    run(&room, "filter events.otlp --focus nothing -o empty.otlp", 0);
    let total = top(&room, "events.otlp").2;
    assert_eq!(total, 30);
    for order in
        ["empty.otlp events.otlp", "events.otlp empty.otlp", "empty.otlp empty.otlp events.otlp"]
    {
        assert_eq!(top(&room, order).2, total, "top {order}");
        run(&room, &format!("merge {order} -o merged.otlp --force --deny-loss"), 0);
        assert_eq!(top(&room, "merged.otlp").2, total, "merge {order}");
        let same = stdout(&run(&room, &format!("diff --by total {order} -- events.otlp"), 0));
        assert!(same.contains("No difference"), "{order}: {same}");
    }
}

#[test]
fn gaps_between_files_are_not_covered() {
    let room = room("sums-gaps");
    put(&room, "a.pb", &CPU, &[("a", &[1, 5_000_000_000])]);
    put(&room, "b.pb", &One { time: CPU.time + 3_600, ..CPU }, &[("a", &[1, 5_000_000_000])]);
    let text = stdout(&run(&room, "top a.pb b.pb", 0));
    assert!(text.contains("Duration: 20s, Total samples = 10s (50.00%)"), "{text}");
}

#[test]
fn parts_by_type_merge_into_the_default_type() {
    let room = room("sums-parts");
    copy(PPROFS[1], &room.join("heap.pb.gz"));
    run(&room, "convert heap.pb.gz -o heap.otlp", 0);
    for (file, to) in [("heap.pb.gz", "p.pb.gz"), ("heap.otlp", "o.otlp")] {
        let split = run(&room, &format!("split {file} --by type -o {to} --deny-loss"), 0);
        let said = stderr(&split);
        assert!(!said.contains("sample_type_order"), "{said}");
        let (stem, end) = to.split_once('.').unwrap();
        let merged = format!("whole-{stem}.{end}");
        let mut parts: Vec<_> =
            fs::read_dir(&room).unwrap().map(|one| one.unwrap().file_name()).collect();
        parts.retain(|part| part.to_string_lossy().starts_with(&format!("{stem}.")));
        parts.sort();
        assert_eq!(parts.len(), 4);
        let parts: Vec<_> = parts.iter().map(|part| part.to_string_lossy()).collect();
        for canonical in ["", " --canonical"] {
            run(&room, &format!("merge {} -o {merged} --force{canonical}", parts.join(" ")), 0);
            assert_eq!(top(&room, &merged).0, "inuse_space", "{merged}{canonical}");
        }
    }
}

#[test]
fn canonical_merges_are_associative() {
    let room = room("sums-associative");
    let xy = One { types: &[("x", "count"), ("y", "bytes")], ..CPU };
    let yz = One { types: &[("y", "kilobytes"), ("z", "count")], duration: 0, ..CPU };
    let zx = One { types: &[("z", "1"), ("x", "count")], time: CPU.time + 5, ..CPU };
    put(&room, "a.pb", &xy, &[("a", &[1, 2]), ("b", &[3, 4])]);
    put(&room, "b.pb", &yz, &[("b", &[1, 2]), ("c", &[5, 6])]);
    put(&room, "c.pb", &zx, &[("c", &[7, 8])]);
    for end in ["pb", "otlp"] {
        let merge = |from: &str, to: &str| {
            run(&room, &format!("merge {from} --canonical --no-gzip -o {to}.{end} --force"), 0);
        };
        let bytes = |name: &str| fs::read(room.join(format!("{name}.{end}"))).unwrap();
        merge("a.pb b.pb c.pb", "abc");
        merge("c.pb a.pb b.pb", "cab");
        merge("a.pb b.pb", "ab");
        merge(&format!("ab.{end} c.pb"), "ab-c");
        merge("b.pb c.pb", "bc");
        merge(&format!("a.pb bc.{end}"), "a-bc");
        merge(&format!("bc.{end} a.pb"), "bc-a");
        for other in ["cab", "ab-c", "a-bc", "bc-a"] {
            assert!(bytes(other) == bytes("abc"), "{other}.{end}");
        }
    }
}

#[test]
fn repeated_profiles_are_named() {
    let room = room("sums-repeated");
    copy(OTLP_1_3, &room.join("a.otlp"));
    run(&room, "convert a.otlp -o new.otlp --profile-id 00112233445566778899aabbccddeeff", 0);
    for verb in ["top new.otlp new.otlp", "diff new.otlp new.otlp -- new.otlp"] {
        says(
            &run(&room, verb, 0),
            "repeated the id and the contents of an earlier one and counted once",
        );
    }
}
