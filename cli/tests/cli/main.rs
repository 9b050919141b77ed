//! The command as users run it: exit codes, files, pipes, messages.

mod attributes;
#[cfg(all(unix, feature = "parquet"))]
mod blocks;
mod corpus;
mod cut;
mod ends;
mod exits;
mod face;
mod faults;
mod files;
mod forms;
mod frames;
mod guess;
mod log;
mod losses;
mod many;
mod messages;
mod origin;
mod outputs;
#[cfg(unix)]
mod pieces;
mod pipeline;
mod release;
mod sizes;
mod sql;
mod sums;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(feature = "arrow")]
mod tables_arrow;
mod top;
#[cfg(all(unix, feature = "parquet"))]
mod untrusted;
mod validate;
mod verbs;
mod view;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
pub(crate) const PPROFS: [&str; 3] = ["go-cpu-labels.pb.gz", "go-heap.pb.gz", "go-mutex.pb.gz"];
/// A message of the oldest generation, which stores its aggregation temporality.
pub(crate) const OTLP_1_3: &str = "otlp-1.3-simple-completed.binpb";

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(ROOT).join("testdata").join(name)
}

/// An empty directory for one test.
pub(crate) fn room(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

pub(crate) fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_otlp-profiles"));
    command.args(arguments.split(' ')).env_remove("OTLP_PROFILES_LOG").stdin(Stdio::null());
    command
}

/// Runs the command in `room` and checks its exit code.
#[track_caller]
pub(crate) fn run(room: &Path, arguments: &str, exit: i32) -> Output {
    let output = command(arguments).current_dir(room).output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{arguments}: {}", stderr(&output));
    output
}

/// Does the same with a log on stderr.
#[track_caller]
pub(crate) fn logged(room: &Path, arguments: &str, exit: i32) -> Output {
    let mut command = command(arguments);
    let output = command.current_dir(room).env("OTLP_PROFILES_LOG", "text").output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{arguments}: {}", stderr(&output));
    output
}

#[track_caller]
pub(crate) fn run_with_stdin(room: &Path, arguments: &str, stdin: &[u8], exit: i32) -> Output {
    let mut command = command(arguments);
    command.current_dir(room).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{arguments}: {}", stderr(&output));
    output
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that stderr contains a text.
#[track_caller]
pub(crate) fn says(output: &Output, text: &str) {
    let stderr = stderr(output);
    assert!(stderr.contains(text), "no {text:?} in {stderr}");
}

/// The lines of a level in the log.
pub(crate) fn lines(output: &Output, level: &str) -> Vec<String> {
    let level = format!(" {level} otlp_profiles.");
    stderr(output).lines().filter(|line| line.contains(&level)).map(str::to_owned).collect()
}

/// The description of a file by `info --json`.
#[track_caller]
pub(crate) fn info(room: &Path, file: &str) -> Value {
    let output = run(room, &format!("info --json {file}"), 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "otlp-profiles/info/1");
    document["files"][0].clone()
}

/// Type, unit and sum of every sample type in a file, sorted, and the number of samples.
pub(crate) fn sums(room: &Path, file: &str) -> Vec<(String, String, i64)> {
    let mut sums = Vec::new();
    for message in info(room, file)["messages"].as_array().unwrap() {
        for profile in profiles(message) {
            for one in profile["sample_types"].as_array().unwrap() {
                let text = |key: &str| one[key].as_str().unwrap().to_owned();
                sums.push((text("type"), text("unit"), one["sum"].as_i64().unwrap()));
            }
        }
    }
    sums.sort();
    sums
}

pub(crate) fn profiles(message: &Value) -> Vec<Value> {
    let list = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
    let scopes = list(message, "resources").into_iter().flat_map(|one| list(&one, "scopes"));
    scopes.flat_map(|one| list(&one, "profiles")).collect()
}

/// All files below a directory, including hidden ones, sorted by relative path.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(one) = left.pop() {
        for path in fs::read_dir(one).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => left.push(path),
                false => names.push(path.strip_prefix(directory).unwrap().display().to_string()),
            }
        }
    }
    names.sort();
    names
}

pub(crate) fn copy(name: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(testdata(name), to).unwrap();
}
