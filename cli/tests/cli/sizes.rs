//! `info --sizes`: the sizes of the fields of a payload.

use std::fs;

use otlp_profiles::framing;

use crate::*;

#[test]
fn the_manual_shows_sizes_as_they_are() {
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/CLI.md")).unwrap();
    let example = manual.split("```\n").find(|part| part.starts_with("  sizes ")).unwrap();
    let page = stdout(&run(
        &room("manual"),
        &format!("info {} --sizes", testdata(PPROFS[0]).display()),
        0,
    ));
    for line in example.lines().filter(|line| *line != "  …") {
        assert!(page.contains(&format!("\n{line}\n")), "{line} is not in {page}");
    }
}

#[test]
fn sizes_are_told_of_every_message() {
    let room = room("info_sizes");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    run(&room, "convert a.pb.gz -o a.otlp", 0);
    copy("pyspy.folded", &room.join("a.folded"));
    run(&room, "convert a.otlp --compact -o compact.otlp.gz", 0);
    run(&room, "convert a.otlp --compact -o compact.otlp", 0);
    let length = |name: &str| fs::metadata(room.join(name)).unwrap().len();
    for flags in ["a.otlp --sizes", "a.otlp --sizes --full"] {
        let message = info(&room, flags)["messages"][0].clone();
        let sizes = &message["sizes"];
        assert_eq!(
            (&sizes["bytes"], &message["bytes"]),
            (&length("a.otlp").into(), &sizes["bytes"])
        );
        let compact = &sizes["compact"];
        assert_eq!(compact["bytes"], length("compact.otlp"));
        assert_eq!(compact["gzipped_bytes"], length("compact.otlp.gz"));
        let tables = sizes["tables"].as_array().unwrap();
        let sum = tables.iter().map(|table| table["bytes"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum, length("a.otlp"), "{sizes}");
        let strings = tables.iter().find(|table| table["field"] == "string_table").unwrap();
        assert!(strings["in_gzip"].as_i64().unwrap() > 1000, "{strings}");
        assert_eq!(sizes["stacks"][0]["depth"], 20);
        assert_eq!(sizes["strings"][0]["bytes"], 54);
    }
    let page = stdout(&run(&room, "info a.otlp --sizes", 0));
    for line in ["  --compact  ", "    ProfilesDictionary.string_table  ", "      lines.line  "] {
        assert!(page.contains(&format!("\n{line}")), "{page}");
    }
    assert!(page.contains("  stack      20 locations, "), "{page}");
    // Folded stacks have no fields, so only sizes are missing from the description.
    let page = stdout(&run(&room, "info a.folded --sizes", 0));
    assert!(page.contains("sizes      folded has no fields"), "{page}");
    let sizes = info(&room, "a.folded --sizes")["messages"][0]["sizes"].clone();
    assert!(sizes["error"]["message"].as_str().unwrap().contains("no fields"), "{sizes}");
    // Without the flag there are no sizes.
    assert!(info(&room, "a.otlp")["messages"][0].get("sizes").is_none());
    // Each framed message has its own sizes.
    let one = fs::read(room.join("a.otlp")).unwrap();
    let two = framing::frame(framing::Framing::Grpc, [&one[..], &one[..]]).unwrap();
    fs::write(room.join("two.otlp"), two).unwrap();
    let messages = info(&room, "two.otlp --sizes")["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!(messages[0]["sizes"], messages[1]["sizes"]);
}
