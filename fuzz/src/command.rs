//! The command, as a child process on files in a temporary directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

use otlp_profiles::fuzzing::{Random, mutate_bytes};
use otlp_profiles::{Format, WriteOptions, write};

/// The command: `OTLP_PROFILES`, or the release build of this repository.
fn binary() -> Option<&'static Path> {
    static BINARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = BINARY.get_or_init(|| {
        let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/otlp-profiles");
        let path = env::var_os("OTLP_PROFILES").map_or_else(|| PathBuf::from(built), PathBuf::from);
        if !path.is_file() {
            eprintln!("{} is not built, so the target `command` does nothing", path.display());
        }
        path.is_file().then_some(path)
    });
    found.as_deref()
}

const SUBCOMMANDS: [&str; 14] = [
    "convert", "merge", "split", "diff", "filter", "redact", "info", "top", "trace", "validate",
    "view", "pipeline", "formats", "--help",
];
const OPTIONS: [&str; 28] = [
    "--to=pprof",
    "--to=otlp",
    "--to=folded",
    "--to=otlp-1.3",
    "--from=otlp-1.9",
    "--from=pprof",
    "--json",
    "-q",
    "-v",
    "--repair",
    "--force",
    "-o=out",
    "-o",
    "--fix",
    "--strict",
    "--only=OP3101",
    "--for=parca",
    "--max-samples=1",
    "--max-strings=0",
    "--max-input-bytes=9",
    "--format=sarif",
    "-c=pipeline.yaml",
    "--by=thread",
    "--sizes",
    "--type=cpu",
    "--baseline=out",
    "--",
    "-",
];
const FILES: [&str; 5] = ["in", "made.pb", "pipeline.yaml", "missing", "."];
const PIPELINE: &str = "sources: [{name: a, meters: [\"*\"], sinks: [b]}]
sinks: [{name: b, transformers: [{name: delta}, {name: unit_conversion, parameters: {source: {unit: By}, \
    target: {name: x, unit: KiBy, scale: value / 1024}}}], publishers: [\"file://out\"]}]
";

/// Any arguments on any files end with a documented exit code, and inputs and directory stay as they were.
pub fn command(input: &[u8]) {
    let Some(binary) = binary() else { return };
    let random = &mut Random::new(
        input.iter().fold(7, |seed, byte| seed * 31 % (1 << 50) + u64::from(*byte)),
    );
    let room = env::temp_dir().join(format!("otlp-profiles-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&room);
    fs::create_dir_all(&room).expect("a temporary directory");
    let made =
        write(&otlp_profiles::fuzzing::profiles(input), Format::PPROF, &WriteOptions::default());
    let made = made.map(|written| written.payload).unwrap_or_default();
    let yaml = match random.below(3) {
        0 => PIPELINE.as_bytes().to_vec(),
        _ => mutate_bytes(PIPELINE.as_bytes(), random),
    };
    let files =
        [("in", input.get(1..).unwrap_or_default()), ("made.pb", &made), ("pipeline.yaml", &yaml)];
    files.iter().for_each(|(name, bytes)| fs::write(room.join(name), bytes).expect("a file"));
    let mut arguments = vec![SUBCOMMANDS[random.below(SUBCOMMANDS.len())]];
    arguments.extend(
        (0..random.below(4))
            .flat_map(|_| OPTIONS[random.below(OPTIONS.len())].split('=').collect::<Vec<_>>()),
    );
    arguments.extend((0..1 + random.below(2)).map(|_| FILES[random.below(FILES.len())]));
    let mut child = Command::new(binary);
    child.args(&arguments).current_dir(&room).stdin(Stdio::null());
    let output = child.output().expect("the command starts");
    let error = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(code.is_some_and(|code| (0..=7).contains(&code)), "{arguments:?} {code:?}: {error}");
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    // `validate --fix` and `-o` with `--force` replace files on request.
    if !arguments.iter().any(|argument| ["--fix", "--force", "-o"].contains(argument)) {
        for (name, bytes) in files {
            assert_eq!(
                fs::read(room.join(name)).ok().as_deref(),
                Some(bytes),
                "{arguments:?}: {name}"
            );
        }
    }
    let temporary = fs::read_dir(&room).expect("the directory").flatten();
    let left: Vec<_> =
        temporary.filter(|file| file.file_name().to_string_lossy().ends_with(".tmp")).collect();
    assert!(left.is_empty(), "{arguments:?}: {left:?}");
    let _ = fs::remove_dir_all(&room);
}
