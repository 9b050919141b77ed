//! The commands in docs/TASKS.md print the output that the page shows.

use crate::*;

/// Returns the page with the actual output of the commands in its console blocks.
pub(crate) fn ran(page: &str, room: &Path) -> String {
    let mut text = String::new();
    let mut in_block = false;
    for line in page.lines() {
        match line {
            "```console" => in_block = true,
            "```" => in_block = false,
            _ => {}
        }
        let Some(arguments) = line.strip_prefix("$ otlp-profiles ").filter(|_| in_block) else {
            if !in_block || line == "```console" {
                text.extend([line, "\n"]);
            }
            continue;
        };
        let output = command(arguments).current_dir(room).output().unwrap();
        text.extend([line, "\n", &stdout(&output), &stderr(&output)]);
        if !output.status.success() {
            text += &format!("(exit status {})\n", output.status.code().unwrap());
        }
    }
    text
}

#[test]
fn commands_print_what_the_page_shows() {
    let room = room("tasks");
    fs::create_dir(room.join("night")).unwrap();
    copy("go-cpu-labels.pb.gz", &room.join("cpu.pb.gz"));
    copy("go-heap.pb.gz", &room.join("night/1.pb.gz"));
    copy("go-allocs.pb.gz", &room.join("night/2.pb.gz"));
    for (name, text) in [
        ("before.folded", "main;parse 600\nmain;render 300\nmain;log 100\n"),
        ("after.folded", "main;parse 1500\nmain;render 300\nmain;compress 200\n"),
    ] {
        fs::write(room.join(name), text).unwrap();
    }
    fs::create_dir(room.join("heaps")).unwrap();
    for (row, (space, objects)) in [(4800, 100), (7200, 150), (1000, 20)].into_iter().enumerate() {
        let heap = pipeline::heap(60 * row as u64, space, objects);
        pipeline::save(&heap, &room.join(format!("heaps/{row}.otlp")));
    }
    let path = Path::new(ROOT).join("docs/TASKS.md");
    let page = fs::read_to_string(&path).unwrap();
    let config = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    fs::write(room.join("growth.yaml"), config.unwrap()).unwrap();
    let ran = ran(&page, &room);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &ran).unwrap();
    } else {
        assert!(ran == page, "docs/TASKS.md is out of date: run with BLESS=1\n{ran}");
    }
    assert!(ran.matches("\n$ ").count() > 8 && ran.contains("(exit status 7)"), "{ran}");
}
