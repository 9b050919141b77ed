//! Signals that end a run.
#![cfg(unix)]

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::*;

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Waits up to ten seconds for a condition, and returns whether it came true.
fn comes(mut is: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if is() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// Whether the test process ignores a signal, as under `nohup`. Its children then ignore it too,
/// and the signal does not end them.
fn is_ignored(name: &str) -> bool {
    let bit = match name {
        "HUP" => 0,
        "INT" => 1,
        _ => 14,
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> bit & 1 == 1)
}

#[test]
fn a_signal_ends_a_run_that_waits_for_its_input() {
    let room = room("waiting");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    let part = fs::read(room.join("in.pb.gz")).unwrap();
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if is_ignored(name) {
            continue;
        }
        let mut child = command("convert in.pb.gz - --to otlp -o out/")
            .current_dir(&room)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&part[..100]).unwrap();
        // The first input is finished, and the second remains open.
        assert!(comes(|| room.join("out/in.otlp").exists()));
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(pipe);
        assert_eq!(files(&room), ["in.pb.gz", "out/in.otlp"]);
        fs::remove_dir_all(room.join("out")).unwrap();
    }
}

/// One of two outputs is a pipe without a reader, so the other keeps its temporary name.
#[test]
fn a_signal_leaves_no_temporary_file() {
    let room = room("ended");
    for name in &PPROFS[..2] {
        copy(name, &room.join(name));
        run(&room, &format!("convert {name} -o {name}.otlp"), 0);
    }
    let message = |name: &str| fs::read(room.join(format!("{name}.otlp"))).unwrap();
    let two = [message(PPROFS[0]), message(PPROFS[1])];
    let framed =
        otlp_profiles::framing::frame(otlp_profiles::framing::Framing::LengthPrefixed, two)
            .unwrap();
    fs::write(room.join("in.otlp"), framed).unwrap();
    let pipe = Command::new("mkfifo").arg(room.join("x.inuse_space.pb.gz")).status();
    assert!(pipe.unwrap().success());
    let before = files(&room);
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        if is_ignored(name) {
            continue;
        }
        let mut child = command("convert in.otlp -o x.pb.gz")
            .current_dir(&room)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let temporary = room.join(format!(".x.cpu.pb.gz.{}.tmp", child.id()));
        assert!(comes(|| temporary.exists()));
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(files(&room), before);
    }
}

/// `nohup` makes its children ignore SIGHUP, and shells make background jobs ignore SIGINT.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_stays_so() {
    let room = room("ignored");
    copy(PPROFS[0], &room.join("in.pb.gz"));
    let bytes = fs::read(room.join("in.pb.gz")).unwrap();
    for (ignored, other, code) in [("HUP", "TERM", 143), ("INT", "TERM", 143)] {
        let run = |name: &str| {
            let shell = format!(
                "trap '' {ignored}; exec {} convert in.pb.gz - --to otlp -o {name}/",
                env!("CARGO_BIN_EXE_otlp-profiles")
            );
            let mut command = Command::new("sh");
            let command = command.args(["-c", &shell]).current_dir(&room).stdin(Stdio::piped());
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            let pipe = child.stdin.take().unwrap();
            assert!(comes(|| room.join(name).join("in.otlp").exists()));
            signal(&child, ignored);
            (child, pipe)
        };
        let (mut child, mut pipe) = run("whole");
        pipe.write_all(&bytes).unwrap();
        drop(pipe);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{ignored}");
        let (mut child, pipe) = run("ended");
        signal(&child, other);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{other}");
        drop(pipe);
        let found = files(&room);
        assert_eq!(found, ["ended/in.otlp", "in.pb.gz", "whole/in.otlp", "whole/stdin.otlp"]);
        fs::remove_dir_all(room.join("whole")).unwrap();
        fs::remove_dir_all(room.join("ended")).unwrap();
    }
}
