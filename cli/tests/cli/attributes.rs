//! The attributes of samples: those of the sample, its link, its profile, its scope and its resource, for every option.

use crate::*;

/// The rows of `top --json`: name and cumulative value.
fn top(room: &Path, arguments: &str) -> Vec<(String, i64)> {
    let document: Value =
        serde_json::from_slice(&run(room, &format!("top --json {arguments}"), 0).stdout).unwrap();
    let rows = document["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["cum"].as_i64().unwrap()))
        .collect()
}

fn total(room: &Path, arguments: &str) -> i64 {
    let output = run(room, &format!("top --json --relative {arguments}"), 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["total"].as_i64().unwrap()
}

/// The services of a file.
fn services(room: &Path, file: &str) -> Vec<String> {
    let info = info(room, file);
    let resources = info["messages"][0]["resources"].as_array().unwrap().iter();
    resources
        .map(|one| one["attributes"]["service.name"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Two services in one file, `two.otlp`.
fn two_services(test: &str) -> std::path::PathBuf {
    let room = room(test);
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    for service in ["cart", "checkout"] {
        let set = format!("--set-resource service.name={service} -o {service}.otlp");
        run(&room, &format!("convert cpu.pb.gz {set}"), 0);
    }
    run(&room, "merge cart.otlp checkout.otlp -o two.otlp", 0);
    room
}

#[test]
fn attributes_of_resources_choose_and_group_samples() {
    let room = two_services("attributes");
    let one = total(&room, "cart.otlp");
    assert_eq!(total(&room, "two.otlp"), 2 * one);
    for choice in [
        "--where service.name=cart",
        "--tagfocus service.name=cart",
        "--tagignore service.name=checkout",
        "--tagfocus service.name:cart",
        "--tagfocus checkout",
    ] {
        assert_eq!(total(&room, &format!("two.otlp {choice}")), one, "{choice}");
    }
    let both = [("cart".to_owned(), one), ("checkout".to_owned(), one)];
    assert_eq!(top(&room, "two.otlp --by attribute:service.name"), both);
    let rooted = top(&room, "two.otlp --tagroot service.name --all");
    assert!(both.iter().all(|row| rooted.contains(row)), "{rooted:?}");
    assert_eq!(top(&room, "two.otlp --tagleaf service.name -n 2"), both);

    for (verb, part) in [
        ("filter two.otlp --tagfocus service.name=cart -o focus.otlp", "focus.otlp"),
        ("filter two.otlp --where service.name=cart -o where.otlp", "where.otlp"),
        ("convert two.otlp --where service.name=cart -o convert.otlp", "convert.otlp"),
        ("merge two.otlp --where service.name=cart -o merge.otlp", "merge.otlp"),
        ("redact two.otlp --keep . --where service.name=cart -o redact.otlp", "redact.otlp"),
    ] {
        run(&room, verb, 0);
        assert_eq!(total(&room, part), one, "{verb}");
        if !verb.contains("tagfocus") && !verb.contains("redact") {
            assert_eq!(services(&room, part), ["cart"], "{verb}");
        }
    }
    run(&room, "split two.otlp --by attribute:service.name -o part.otlp", 0);
    assert_eq!(files(&room).iter().filter(|name| name.starts_with("part.")).count(), 2);
    let diff = stdout(&run(&room, "diff two.otlp cart.otlp --by attribute:service.name", 0));
    assert!(diff.contains("gone") && diff.trim_end().ends_with("checkout"), "{diff}");
    let same = "diff two.otlp cart.otlp --where service.name=cart";
    assert!(stdout(&run(&room, same, 0)).contains("No difference"), "{same}");
}

#[test]
fn the_ids_of_links_are_attributes() {
    let room = room("attributes-link");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let rows = top(&room, "cpu.pb.gz --by attribute:span_id");
    assert!(rows.iter().any(|(name, _)| name.len() == 16), "{rows:?}");
    let (id, value) = rows.iter().find(|(name, _)| name.len() == 16).unwrap();
    assert_eq!(total(&room, &format!("cpu.pb.gz --where span_id={id}")), *value);
    run(&room, "split cpu.pb.gz --by attribute:trace_id -o part.pb.gz", 0);
    assert!(files(&room).len() >= 3, "{:?}", files(&room));
    run(&room, &format!("filter cpu.pb.gz --where span_id={id} -o span.pb.gz"), 0);
    let diff = run(&room, "diff cpu.pb.gz span.pb.gz --by attribute:span_id -n 0", 0);
    assert!(stdout(&diff).contains("gone") && !stdout(&diff).contains(id.as_str()));
}

#[test]
fn keys_without_attributes_are_reported_with_the_nearest() {
    let room = room("attributes-typo");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    let hint = "no attribute has the key endpont: the nearest is endpoint";
    for arguments in [
        "top cpu.pb.gz --by attribute:endpont",
        "top cpu.pb.gz --tagfocus endpont=sort",
        "top cpu.pb.gz --tagroot endpont,endpoint",
        "view cpu.pb.gz --flame --tagignore endpont=sort",
        "filter cpu.pb.gz --tagleaf endpont -o leaf.pb.gz",
        "split cpu.pb.gz --by attribute:endpont -o part.pb.gz",
        "diff cpu.pb.gz cpu.pb.gz --by attribute:endpont",
    ] {
        says(&run(&room, arguments, 0), hint);
    }
    // The same for every subcommand: 3, a message, and no output.
    copy(PPROFS[1], &room.join("other.pb.gz"));
    let mut verbs = vec![
        "top cpu.pb.gz",
        "view cpu.pb.gz -o out.html",
        "view cpu.pb.gz --flame",
        "diff cpu.pb.gz cpu.pb.gz",
        "convert cpu.pb.gz -o out.otlp",
        "merge cpu.pb.gz other.pb.gz -o out.otlp",
        "filter cpu.pb.gz -o out.otlp",
        "split cpu.pb.gz --by type -o out.otlp",
        "redact cpu.pb.gz -o out.otlp",
    ];
    if cfg!(feature = "parquet") {
        run(&room, "export cpu.pb.gz -o dataset", 0);
        verbs.extend(["export cpu.pb.gz -o empty", "import dataset -o out.otlp"]);
    }
    for verb in verbs {
        says(&run(&room, &format!("{verb} --where endpont=sort"), 3), hint);
    }
    let written = fs::read_dir(&room).unwrap().map(|file| file.unwrap().file_name());
    assert!(written.into_iter().all(|name| !name.to_string_lossy().starts_with("out")));
    // One with a match is enough.
    let some = run(&room, "top cpu.pb.gz other.pb.gz --where endpoint=.", 0);
    says(&some, "other.pb.gz: no sample matches --where");
    let output = run(&room, "top cpu.pb.gz --by attribute:endpoint --tagroot endpoint", 0);
    assert_eq!(stderr(&output), "");
    run(&room, "top cpu.pb.gz --tagroot endpont,endpoint --require-match", 2);
    says(&run(&room, "top cpu.pb.gz --where endpoint", 2), "expected KEY=REGEX");
}

#[test]
fn missing_values_are_unknown() {
    let room = room("attributes-missing");
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    run(&room, "filter cpu.pb.gz --tagfocus endpoint=. -o with.pb.gz", 0);
    let diff = stdout(&run(&room, "diff cpu.pb.gz with.pb.gz --by attribute:endpoint", 0));
    assert!(diff.trim_end().ends_with("<unknown>"), "{diff}");
    // As in pprof, a label without a value has no text.
    let rows = top(&room, "cpu.pb.gz --by attribute:endpoint");
    assert!(rows.iter().any(|(name, _)| name == "<unknown>"), "{rows:?}");
}

#[test]
fn resources_are_set_or_chosen_by_options_of_their_own() {
    let room = two_services("attributes-resource");
    for verb in ["filter", "split --by resource", "merge", "redact"] {
        let command = format!("{verb} two.otlp --resource service.name=cart -o x.otlp");
        says(&run(&room, &command, 2), "--where service.name=cart keeps");
    }
    let diff = "diff two.otlp two.otlp --resource service.name=cart";
    says(&run(&room, diff, 2), "--set-resource service.name=cart changes all resources");
    run(&room, "convert two.otlp --resource service.name=one -o a.otlp", 0);
    run(&room, "filter two.otlp --set-resource service.name=one -o b.otlp", 0);
    for file in ["a.otlp", "b.otlp"] {
        assert!(services(&room, file).iter().all(|name| name == "one"), "{file}");
    }
}
