//! Files that cannot be written, and runs that are killed: an output is the old file or the new one.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use crate::*;

/// Runs a shell script with the command as `$0`, without the privileges of root.
fn shell(room: &Path, script: &str) -> Output {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    let mut command = Command::new(if is_root { "setpriv" } else { "sh" });
    if is_root {
        command.args(["--reuid=65534", "--clear-groups", "sh"]);
    }
    command.args(["-c", script, env!("CARGO_BIN_EXE_otlp-profiles")]);
    command.current_dir(room).stdin(Stdio::null()).output().unwrap()
}

/// Every place that takes no file: the exit code is 4, the message names it, and no file changes.
#[test]
fn a_place_that_cannot_be_written_is_named() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let room = room("unwritable");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    symlink("in.pb.gz/x", room.join("into-file.otlp")).unwrap();
    symlink("in.pb.gz", room.join("to-input.otlp")).unwrap();
    fs::hard_link(room.join("in.pb.gz"), room.join("same.otlp")).unwrap();
    let before = fs::read(room.join("in.pb.gz")).unwrap();
    let found = files(&room);
    for (output, force, message) in [
        ("into-file.otlp", "--force", "into-file.otlp cannot be written"),
        ("in.pb.gz/x.otlp", "--force", "in.pb.gz/x.otlp cannot be written"),
        ("same.otlp", "", "same.otlp is the input itself"),
        ("to-input.otlp", "", "to-input.otlp is the input itself"),
        ("no/x.otlp", "", "its folder does not exist"),
    ] {
        let arguments = format!("convert in.pb.gz -o {output} --to otlp {force}");
        says(&run(&room, arguments.trim(), 4), message);
        assert_eq!(files(&room), found, "{output}");
    }
    assert!(fs::read(room.join("in.pb.gz")).unwrap() == before);

    fs::create_dir(room.join("readonly")).unwrap();
    fs::write(room.join("readonly/x.otlp"), "old").unwrap();
    fs::set_permissions(room.join("readonly"), fs::Permissions::from_mode(0o555)).unwrap();
    let output = shell(&room, "exec \"$0\" convert in.pb.gz -o readonly/x.otlp --force");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    says(&output, "readonly/x.otlp cannot be written: Permission denied");
    assert_eq!(fs::read(room.join("readonly/x.otlp")).unwrap(), b"old");
    assert_eq!(files(&room.join("readonly")), ["x.otlp"]);
}

/// `ulimit -f` sends SIGXFSZ, whose default action kills the process.
#[test]
fn a_file_past_the_size_limit_is_an_error_and_leaves_the_old_file() {
    let room = room("ulimit");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    let run = |arguments: &str| {
        let script =
            format!("ulimit -f 1; exec {} {arguments}", env!("CARGO_BIN_EXE_otlp-profiles"));
        Command::new("sh").args(["-c", &script]).current_dir(&room).output().unwrap()
    };
    for arguments in [
        "convert in.pb.gz -o x.otlp --force",
        "merge in.pb.gz -o x.otlp --force",
        "split in.pb.gz --by type -o x.otlp --force",
        "view in.pb.gz -o x.html --force",
    ] {
        for name in ["x.otlp", "x.samples.otlp", "x.cpu.otlp", "x.html"] {
            fs::write(room.join(name), "old").unwrap();
        }
        let found = files(&room);
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(4), "{arguments}: {}", stderr(&output));
        says(&output, "cannot be written: File too large");
        assert_eq!(files(&room), found, "{arguments}");
        for name in &found[1..] {
            assert_eq!(fs::read(room.join(name)).unwrap(), b"old", "{arguments}: {name}");
        }
    }
}

/// Only regular files with the temporary name of the output and the id of a dead process are removed.
#[cfg(target_os = "linux")]
#[test]
fn temporary_files_of_dead_runs_are_removed_and_no_others() {
    let room = room("stale");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    // Linux numbers processes up to 4,194,304.
    let stale = [".x.otlp.999999999.tmp", ".x.otlp.999999999-7.tmp"];
    let own = format!(".x.otlp.{}.tmp", std::process::id());
    let kept = [
        &own,
        ".y.otlp.999999999.tmp",
        ".xx.otlp.999999999.tmp",
        ".x.otlp.999999999",
        ".x.otlp.9999x.tmp",
        ".x.otlp..tmp",
        ".x.otlp.-1.tmp",
        ".x.otlp.999999999-.tmp",
        ".999999999.tmp",
        "x.otlp.999999999.tmp",
        "deep/.x.otlp.999999999.tmp",
    ];
    fs::create_dir(room.join("deep")).unwrap();
    for name in stale.iter().chain(&kept) {
        fs::write(room.join(name), "part").unwrap();
    }
    fs::create_dir(room.join(".x.otlp.999999998.tmp")).unwrap();
    std::os::unix::fs::symlink("in.pb.gz", room.join(".x.otlp.999999997.tmp")).unwrap();
    // Reading alone removes nothing, and neither does a write of another file.
    run(&room, "info in.pb.gz", 0);
    run(&room, "convert in.pb.gz -o z.otlp", 0);
    assert!(stale.iter().all(|name| room.join(name).exists()));
    run(&room, "convert in.pb.gz -o x.otlp", 0);
    assert!(!stale.iter().any(|name| room.join(name).exists()), "{:?}", files(&room));
    for name in kept {
        assert_eq!(fs::read(room.join(name)).unwrap(), b"part", "{name}");
    }
    assert!(room.join(".x.otlp.999999998.tmp").is_dir());
    assert!(room.join(".x.otlp.999999997.tmp").is_symlink());
    assert!(fs::metadata(room.join("in.pb.gz")).unwrap().len() > 1_000);
}

/// Whether a file or directory has a temporary name.
fn is_temporary(name: &str) -> bool {
    let states = [".tmp", ".replace", ".publish"];
    name.starts_with('.') && states.iter().any(|state| name.ends_with(state))
}

/// Kills runs at pseudorandom moments. Each output is the old file or the complete new one, and the
/// next run removes the temporary files.
fn killed(test: &str, arguments: &str, prepare: impl Fn(&Path), times: u32) {
    let room = room(test);
    copy(PPROFS[0], &room.join("in.pb.gz"));
    prepare(&room);
    let inputs = files(&room);
    let measured = (0..3).map(|_| {
        let begun = Instant::now();
        run(&room, arguments, 0);
        begun.elapsed()
    });
    let whole = measured.min().unwrap();
    let contents = || -> BTreeMap<String, Vec<u8>> {
        let names = files(&room).into_iter().filter(|name| !inputs.contains(name));
        names.map(|name| (name.clone(), fs::read(room.join(name)).unwrap())).collect()
    };
    let new = contents();
    assert!(!new.is_empty(), "{arguments}");
    let (mut state, mut is_old, mut is_new, mut left) = (0x9e37_79b9_u32, 0, 0, 0);
    for _ in 0..times {
        new.keys().for_each(|name| fs::write(room.join(name), "old").unwrap());
        let mut child = command(arguments)
            .current_dir(&room)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        std::thread::sleep(whole.mul_f64(f64::from(state % 1_000) / 900.0));
        let _ = child.kill();
        child.wait().unwrap();
        for (name, bytes) in contents() {
            let Some(complete) = new.get(&name) else {
                assert!(name.split('/').any(is_temporary), "{arguments}: {name}");
                left += 1;
                continue;
            };
            let replaced = bytes == *complete;
            assert!(replaced || bytes == b"old", "{arguments}: {name} has {} bytes", bytes.len());
            *if replaced { &mut is_new } else { &mut is_old } += 1;
        }
    }
    println!(
        "{arguments}: {is_old} old, {is_new} new, {left} temporary files, {times} runs of {whole:?}"
    );
    // A loaded machine decides where a few kills fall.
    assert!((is_old > 0 && is_new > 0) || times < 100, "{arguments}: {is_old} old, {is_new} new");
    run(&room, arguments, 0);
    assert_eq!(contents(), new, "{arguments}");
}

/// The number of killed runs of a test.
fn times() -> u32 {
    if std::env::var_os("OTLP_PROFILES_SLOW").is_some_and(|value| value == "1") {
        1_000
    } else {
        25
    }
}

#[test]
fn a_killed_conversion_leaves_the_old_or_the_new_file() {
    killed("killed-convert", "convert in.pb.gz -o x.otlp --force", |_| {}, times());
    killed("killed-view", "view in.pb.gz -o x.html --force", |_| {}, times() / 5);
}

#[test]
fn a_killed_run_with_many_outputs_leaves_complete_files() {
    let many =
        |room: &Path| (0..12).for_each(|at| copy(PPROFS[0], &room.join(format!("in/{at}.pb.gz"))));
    killed("killed-split", "split in.pb.gz --by thread -o x.otlp --force", |_| {}, times() / 2);
    killed("killed-many", "convert in --to otlp -o out --force", many, times() / 5);
    let config = |room: &Path| {
        let yaml = "
sources: [{name: all, meters: ['*'], sinks: [file]}]
sinks: [{name: file, publishers: ['file://x.otlp']}]
";
        fs::write(room.join("p.yaml"), yaml).unwrap();
    };
    killed("killed-pipeline", "pipeline -c p.yaml --force in.pb.gz", config, times() / 5);
}

/// Copies a profile as that of several services, each with a folder of its own.
#[cfg(feature = "parquet")]
fn services(room: &Path) {
    copy(PPROFS[0], &room.join("in.pb.gz"));
    fs::create_dir(room.join("in")).unwrap();
    for name in ["a", "b", "c", "d"] {
        run(room, &format!("convert in.pb.gz --resource service.name={name} -o in/{name}.otlp"), 0);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_killed_export_replaces_files_by_complete_ones() {
    killed("killed-export", "export in -o d --force", services, times() / 5);
    killed("killed-arrow", "export in -o d --force --to arrow", services, times() / 10);
}

/// Without `--force`, a kill leaves no file of the run in the tables, or all of them. Between two renames, a sample is
/// there only after all stacks and profiles; the next run publishes the rest.
#[cfg(feature = "parquet")]
#[test]
fn a_killed_export_adds_all_files_or_none() {
    let room = room("killed-export-new");
    services(&room);
    let begun = Instant::now();
    run(&room, "export in -o whole", 0);
    let duration = begun.elapsed();
    let tables = |folder: &str| -> Vec<String> {
        let names = files(&room.join(folder)).into_iter();
        names.filter(|name| !name.starts_with('.')).collect()
    };
    let (whole, mut state) = (tables("whole"), 0x9e37_79b9_u32);
    for _ in 0..times() / 5 {
        let _ = fs::remove_dir_all(room.join("d"));
        fs::create_dir(room.join("d")).unwrap();
        let mut child = command("export in -o d").current_dir(&room).spawn().unwrap();
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(duration.mul_f64(f64::from(state >> 16) / 60_000.0));
        let _ = child.kill();
        child.wait().unwrap();
        let found = tables("d");
        let is_sample = |name: &&String| name.starts_with("samples/");
        let missing = whole.iter().filter(|name| !found.contains(name));
        let has_rest = || {
            let entries = fs::read_dir(room.join("d")).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.to_string_lossy().ends_with(".publish")).count() == 1
        };
        if !found.is_empty() && found != whole {
            assert!(has_rest(), "{found:?}");
            let has_stacks = missing.clone().all(|name| is_sample(&name));
            assert!(has_stacks || !found.iter().any(|name| is_sample(&name)), "{found:?}");
        }
        // The next run, which has other inputs, ends what this one began.
        run(&room, "export in.pb.gz -o d", 0);
        let found = tables("d");
        let of_run = whole.iter().filter(|name| found.contains(name)).count();
        assert!(of_run == 0 || of_run == whole.len(), "{found:?}");
        assert_eq!(files(&room.join("d")).len(), found.len(), "no temporary file is left");
    }
}

/// The states in which a kill leaves the directory, one by one.
#[cfg(all(target_os = "linux", feature = "parquet"))]
#[test]
fn the_next_export_ends_what_a_killed_one_began() {
    let room = room("killed-export-states");
    services(&room);
    run(&room, "export in -o whole --partition service", 0);
    let bytes = |folder: &str| -> BTreeMap<String, Vec<u8>> {
        let read = |name: String| (name.clone(), fs::read(room.join(folder).join(name)).unwrap());
        files(&room.join(folder)).into_iter().map(read).collect()
    };
    let whole = bytes("whole");
    let name = whole.keys().next().unwrap().rsplit('/').next().unwrap();
    let segment = name.strip_suffix(".parquet").unwrap();
    let put = |folder: &str, names: &mut dyn Iterator<Item = &String>| {
        for name in names {
            let path = room.join(folder).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &whole[name]).unwrap();
        }
    };
    // Linux numbers processes up to 4,194,304.
    let pid = 999_999_999;
    for (state, is_published) in [("tmp", false), ("replace", true), ("publish", true)] {
        let staging = match state {
            "tmp" => format!("d/.export.{pid}-3.tmp"),
            _ => format!("d/.{segment}.{pid}-3.{state}"),
        };
        let _ = fs::remove_dir_all(room.join("d"));
        // Stacks and profiles are renamed; of an earlier run, there are samples with other partitions.
        let is_renamed = |name: &&String| state == "publish" && !name.starts_with("samples/");
        put("d", &mut whole.keys().filter(is_renamed));
        put(&staging, &mut whole.keys().filter(|name| !is_renamed(name)));
        let old = format!("samples/service=a/date=2026-01-01/{segment}.parquet");
        if state == "replace" {
            fs::create_dir_all(room.join("d").join(&old).parent().unwrap()).unwrap();
            fs::write(room.join("d").join(&old), "old").unwrap();
        }
        // Directories of living processes, and those of other programs, are kept.
        let own = format!("d/.export.{}.tmp", std::process::id());
        let kept = [&*own, "d/.export.x.tmp", "d/.git", "d/.a.1.b"];
        kept.iter().for_each(|name| fs::create_dir_all(room.join(name)).unwrap());
        let exit = if is_published { 4 } else { 0 };
        run(&room, "export in -o d --partition service", exit);
        assert_eq!(bytes("d"), whole, "{state}");
        assert!(!room.join(&staging).exists() && kept.iter().all(|name| room.join(name).is_dir()));
    }
}
