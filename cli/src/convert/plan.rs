//! Decides the format, the output and the compression of each input before any input is read.
//!
//! A plan reads and writes no profiles, so invalid arguments are rejected before any output exists,
//! and the same arguments give the same plan. Names of outputs derive from names of inputs:
//!
//! ```text
//! a.pb.gz, b/c.pprof  -o out/ --to otlp   ─►  out/a.otlp, out/b/c.otlp
//! a.pb, a.pb.gz       -o out/ --to otlp   ─►  out/a.pb.otlp, out/a.pb.gz.otlp
//! ```
//!
//! Checks run in this order: at most one stdin; the output; the format; options that the format
//! does not support; the names of all outputs; their compression. An option without effect is an
//! error, because the user expects one.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use otlp_profiles::Format;

use crate::convert::Args;
use crate::files::{Packing, extension, known_extensions, renamed};
use crate::input::{Input, Inputs, quoted};
use crate::output::is_null;
use crate::text::shown_path;

/// The destination of an output.
#[derive(Debug)]
pub(crate) enum Target {
    /// Takes one output only: a reader could not separate two concatenated files.
    Stdout,
    File(PathBuf),
}

/// One input and its output.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) input: Input,
    /// The destination. If the input becomes several files, their labels are inserted into this
    /// name.
    pub(crate) target: Target,
    /// The compression, chosen by flags, the name and the format's convention, never by the
    /// content.
    pub(crate) packing: Packing,
    /// Whether to create missing directories, as needed when a directory tree is converted.
    pub(crate) make_directories: bool,
}

impl Job {
    /// Whether the output replaces its input, or the input is not named like a profile.
    fn is_in_place(&self) -> bool {
        let path = self.input.path.as_deref().unwrap_or(Path::new(""));
        let is_own = matches!(&self.target, Target::File(target) if target == path);
        is_own || self.input.found && Format::of_path(path).is_none()
    }
}

impl Borrow<Input> for Job {
    fn borrow(&self) -> &Input {
        &self.input
    }
}

/// How the inputs map to outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// One output for each input.
    Each,
    /// One output for all inputs.
    One,
}

/// Everything that one run does.
#[derive(Debug)]
pub(crate) struct Plan {
    /// All inputs that the arguments name, and the names that match no file; the run reports these.
    pub(crate) inputs: Inputs,
    /// The format of all outputs.
    pub(crate) format: Format,
    pub(crate) jobs: Vec<Job>,
    /// A warning if the name of the output suggests another format.
    pub(crate) misnamed: Option<String>,
}

impl Plan {
    /// Plans a run.
    ///
    /// # Errors
    ///
    /// A sentence about the invalid or missing argument.
    pub(crate) fn of(args: &Args, outputs: Outputs, verb: &str) -> Result<Self, String> {
        let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
        let mut inputs = Inputs::but(&args.inputs, output);
        if outputs == Outputs::One {
            inputs.single = true;
            if let Some(path) = output.filter(|path| says_directory(path)) {
                let path = shown_path(path);
                return Err(format!("{path} is a directory: give -o FILE, the name of one output"));
            }
        }
        if inputs.stdins() > 1 {
            return Err("stdin can be read once".to_owned());
        }
        if let Some(message) = lacks_output(args, verb) {
            return Err(message);
        }
        args.origin.check(verb)?;
        let format = format(args, &inputs, output)?;
        if let Some(option) = args.origin.option().filter(|_| !format.is_otlp()) {
            return Err(format!("{format} cannot store {option}: write OTLP, or omit the option"));
        }
        if args.refs.is_some() && format != Format::OTLP_JSON && format != Format::OTLP {
            return Err(format!("--refs does not apply to {format}, only to {}", Format::OTLP));
        }
        if args.layout().is_some() && format.can_write() && !format.is_whole() {
            return Err(format!(
                "--layout and --compact do not apply to {format}, only to OTLP and pprof"
            ));
        }
        if !format.can_write() {
            return Err(format!("{format} is only read: give --to FORMAT"));
        }
        let options = args.write_options().specified();
        let not_taken = |name: &&str| !format.options().contains(name);
        if let Some(name) = options.into_iter().find(not_taken) {
            return Err(format!("--{name} does not apply to writing {format}"));
        }
        if args.profile_id.is_some() && inputs.all.len() > 1 && outputs == Outputs::Each {
            let inputs = inputs.all.len();
            return Err(format!(
                "--profile-id sets one profile's id, and there are {inputs} inputs"
            ));
        }
        let jobs = jobs(args, &inputs, output, format)?;
        if let Some(path) = output.filter(|_| inputs.walks_outputs) {
            refuse_folder_of_inputs(path, &jobs, verb)?;
        }
        if !jobs.iter().all(|job| job.packing.is_built()) {
            let message = "this build writes no zstd, which .zst needs: install it with --features zstd (feature zstd), or write .gz";
            return Err(message.to_owned());
        }
        if args.level.is_some() && jobs.iter().any(|job| job.packing == Packing::None) {
            let message = "--level has no effect because nothing is compressed: name the output .gz, or give --gzip";
            return Err(message.to_owned());
        }
        let misnamed = output.filter(|path| !is_directory(path, &inputs));
        let misnamed = misnamed.and_then(|path| misnamed_as(path, format));
        Ok(Self { format, jobs, inputs, misnamed })
    }
}

/// Refuses a folder that is walked for inputs, unless each output replaces its input.
fn refuse_folder_of_inputs(path: &Path, jobs: &[Job], verb: &str) -> Result<(), String> {
    if verb != "split" && jobs.iter().all(Job::is_in_place) {
        return Ok(());
    }
    let path = shown_path(path);
    Err(format!(
        "{path} is a folder of inputs, too, and the next run would read the outputs: give another folder, such as -o {path}/out"
    ))
}

/// Returns an error if the last argument looks like an output, as for `cp`: it does not exist and
/// has a format's extension.
fn lacks_output(args: &Args, verb: &str) -> Option<String> {
    let (last, inputs) = args.inputs.split_last()?;
    let is_output = args.output.is_none() && !inputs.is_empty() && !last.exists();
    Format::of_path(last).filter(|format| is_output && format.can_write())?;
    let quote = |path: &PathBuf| quoted(&path.to_string_lossy());
    let names = inputs.iter().map(quote).collect::<Vec<_>>().join(" ");
    let last = quote(last);
    Some(format!(
        "{last} does not exist; to write it, did you mean: otlp-profiles {verb} {names} -o {last}"
    ))
}

/// Returns a warning if the name suggests another format than the one written.
///
/// Formats with the same extensions count as equal: `.otlp` fits every generation.
fn misnamed_as(path: &Path, format: Format) -> Option<String> {
    let named = Format::of_path(path).filter(|named| named.extensions() != format.extensions())?;
    let path = shown_path(path);
    Some(format!("{path} is named like {named}, and {format} is written to it"))
}

/// Whether the output is a directory: several inputs need one, unless they go to the null device.
fn is_directory(path: &Path, inputs: &Inputs) -> bool {
    !inputs.single && !is_null(path) || says_directory(path)
}

/// Whether the path names a directory: it exists as one, or ends in a separator.
fn says_directory(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last().copied();
    last.is_some_and(|byte| std::path::is_separator(byte.into())) || path.is_dir()
}

/// Returns the requested format, or the format of the output's extension.
///
/// # Errors
///
/// A sentence about the missing argument: several inputs without a directory, or neither `--to` nor
/// an extension that names a format.
fn format(args: &Args, inputs: &Inputs, output: Option<&Path>) -> Result<Format, String> {
    let Some(path) = output else {
        if !inputs.single {
            return Err("several inputs need a directory to go to: give -o DIR/".to_owned());
        }
        return args.to().ok_or_else(|| {
            "the output format is missing: give --to FORMAT, or -o OUT with the extension of a format".to_owned()
        });
    };
    let by_name = Format::of_path(path);
    if !inputs.single && by_name.is_some() && !says_directory(path) {
        let path = shown_path(path);
        return Err(format!(
            "several inputs need a directory, and {path} is named like a file: give -o DIR/"
        ));
    }
    if let Some(format) = args.to() {
        return Ok(format);
    }
    match by_name {
        Some(format) if !is_directory(path, inputs) => Ok(format),
        _ if is_directory(path, inputs) => {
            let is = if path.is_dir() { "is" } else { "becomes" };
            let path = shown_path(path);
            Err(format!("{path} {is} a directory and does not name a format: give --to FORMAT"))
        }
        _ if is_page(path) => {
            let (path, inputs) = (quoted(&path.to_string_lossy()), args.inputs.iter());
            let names: Vec<_> = inputs.map(|input| quoted(&input.to_string_lossy())).collect();
            Err(format!(
                "pages and pictures are written by view: otlp-profiles view {} -o {path}",
                names.join(" ")
            ))
        }
        _ => {
            let mut known: Vec<&str> = known_extensions().collect();
            known.sort_unstable();
            known.dedup();
            let (path, known) = (shown_path(path), known.join(", ."));
            Err(format!(
                "the extension of {path} selects no format: give --to FORMAT, or one of the extensions .{known}"
            ))
        }
    }
}

/// Whether a file has the name of a page or a picture.
fn is_page(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    ["html", "htm", "svg"].iter().any(|page| extension == *page)
}

/// Chooses the compression: by flag, else by name, else gzip for formats that are conventionally
/// gzipped on disk.
///
/// `--gzip` and `--no-gzip` override the name, so `--no-gzip` writes `x.pb.gz` uncompressed.
fn packing(args: &Args, path: Option<&Path>, format: Format) -> Packing {
    let named = path.map_or(Packing::None, Packing::of_path);
    match (args.gzip, args.no_gzip) {
        (true, _) => Packing::Gzip,
        (_, true) => Packing::None,
        _ if named == Packing::None && format.is_gzip_on_disk() => Packing::Gzip,
        _ => named,
    }
}

/// Pairs each input with its output.
///
/// # Errors
///
/// Those of [`into_directory`].
fn jobs(
    args: &Args,
    inputs: &Inputs,
    output: Option<&Path>,
    format: Format,
) -> Result<Vec<Job>, String> {
    let file = |path: &Path| Target::File(path.to_owned());
    match output {
        Some(path) if is_directory(path, inputs) => into_directory(args, inputs, path, format),
        // Only the null device takes several inputs without being a directory.
        Some(path) if !inputs.single => {
            let jobs = inputs.all.iter().map(|input| job(args, input, file(path), format));
            Ok(jobs.collect())
        }
        output => {
            let input = inputs.all.first().cloned().unwrap_or_default();
            Ok(vec![job(args, &input, output.map_or(Target::Stdout, file), format)])
        }
    }
}

/// Creates a job that does not write into a directory.
fn job(args: &Args, input: &Input, target: Target, format: Format) -> Job {
    let packing = match &target {
        Target::File(path) => packing(args, Some(path), format),
        Target::Stdout => packing(args, None, format),
    };
    Job { input: input.clone(), target, packing, make_directories: false }
}

/// Creates a job for each input, with an output named after the input. If two names would be equal,
/// both keep their extension: `a.pb.otlp` and `a.pb.gz.otlp`.
///
/// A name without the extension is preferred, because users do not expect `cpu.pb.gz.otlp`. The
/// first pass counts names and the second assigns them, so the time is linear in the number of
/// inputs.
///
/// # Errors
///
/// Two inputs have the same output even with their extensions. Files that were found in a directory
/// and do not have the extension of a format, such as a README, are exempt: they may be skipped. If
/// they are not, the run rejects the second of them.
fn into_directory(
    args: &Args,
    inputs: &Inputs,
    directory: &Path,
    format: Format,
) -> Result<Vec<Job>, String> {
    let packing = packing(args, None, format);
    let suffix = extension(format, packing);
    let short = |input: &Input| renamed(&input.relative, &suffix, false);
    let mut uses: HashMap<PathBuf, usize> = HashMap::new();
    for input in &inputs.all {
        *uses.entry(short(input)).or_default() += 1;
    }
    let mut taken: HashMap<PathBuf, &Input> = HashMap::new();
    let mut jobs = Vec::with_capacity(inputs.all.len());
    for input in &inputs.all {
        let mut name = short(input);
        if uses.get(&name).is_some_and(|uses| *uses > 1) {
            name = renamed(&input.relative, &suffix, true);
        }
        let path = directory.join(&name);
        let may_be_none = |input: &Input| input.found && Format::of_path(&input.relative).is_none();
        let other = taken.insert(name, input);
        if let Some(other) = other.filter(|other| !may_be_none(other) && !may_be_none(input)) {
            let (path, other, name) = (shown_path(&path), other.name(), input.name());
            let message = format!("{other} and {name} would both be written to {path}");
            return Err(crate::text::shown(&message));
        }
        let (input, target) = (input.clone(), Target::File(path));
        jobs.push(Job { input, target, packing, make_directories: true });
    }
    Ok(jobs)
}
