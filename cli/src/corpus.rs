//! `otlp-profiles corpus`: writes a file that breaks each rule, and one that nearly does, for tests of other tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use otlp_profiles::Severity;
use otlp_profiles::check::validate;
use otlp_profiles::fuzzing::{Case, File, cases};
use serde_json::{Value, json};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::output;

/// Arguments of `corpus`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Output")]
pub(crate) struct Args {
    /// The directory to write to
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Replace files
    #[arg(short, long)]
    force: bool,
}

const AFTER_HELP: &str = "\
manifest.json lists each file with its format, the rule, whether the file breaks it, the place and severity of the
finding, all rules that report an error or warning, and the options of `validate` that give this verdict. Equal versions
write equal files. docs/FUZZING.md explains the corpus.

Examples:
  otlp-profiles corpus rules/
  otlp-profiles validate --from otlp-1.10 rules/OP3101/otlp-1.10/";

/// The name of the manifest's form.
const SCHEMA: &str = "otlp-profiles/corpus/1";

/// Writes the files and logs their number.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    match write(args) {
        Ok(files) => {
            let line = Line::new(Level::Info, "corpus", "Corpus written");
            console.log(&line.count("files", files as u64));
            Exit::Done
        }
        Err(failure) => {
            let line = Line::new(Level::Critical, "corpus", "Writing of the corpus failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}

/// Writes the files and the manifest. Returns the number of files.
fn write(args: &Args) -> Result<usize, Failure> {
    let (mut files, mut entries) = (Vec::new(), Vec::new());
    let mut numbers = BTreeMap::<(&str, &str), usize>::new();
    for case in cases() {
        let number = numbers.entry((case.rule().id(), case.format().name())).or_default();
        *number += 1;
        for (breaks, made) in [(true, case.broken()), (false, case.near_miss())] {
            let made = made.map_err(|error| Failure::new(Exit::Output, error.to_string()))?;
            let kind = if breaks { "broken" } else { "near-miss" };
            let (rule, format) = (case.rule().id(), case.format().name());
            let name = format!("{rule}/{format}/{kind}-{number}.bin");
            entries.push(entry(case, &made, breaks, &name));
            files.push((args.directory.join(name), made.bytes));
        }
    }
    let count = files.len();
    let manifest =
        json!({"schema": SCHEMA, "version": env!("CARGO_PKG_VERSION"), "files": entries});
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
    files.push((args.directory.join("manifest.json"), text.into_bytes()));
    let directories: BTreeSet<&Path> = files.iter().filter_map(|(path, _)| path.parent()).collect();
    directories.into_iter().try_for_each(output::make_directory)?;
    output::to_files(&files, None, args.force, output::Sync::Deferred)?;
    Ok(count)
}

/// The entry of a file in the manifest.
fn entry(case: &Case, file: &File, breaks: bool, name: &str) -> Value {
    let report = validate(&file.bytes, &file.options);
    let of = |severity: Severity| -> BTreeSet<&str> {
        let found = report.rule_counts().filter(|count| count.severity == severity);
        found.map(|count| count.rule.id()).collect()
    };
    json!({
        "file": name,
        "rule": case.rule().id(),
        "format": case.format().name(),
        "breaks": breaks,
        "severity": case.severity().map(|severity| severity.to_string()),
        "place": case.place(),
        "arguments": file.arguments,
        "errors": of(Severity::Error),
        "warnings": of(Severity::Warning),
    })
}
