//! `otlp-profiles export`: writes profiles as tables for query engines.
//!
//! ```text
//! files ────► read, on all cores ─► Segment: dictionary in memory, samples in a temporary file
//! datasets ─►                         └► Tables ─► one file for each part ─► all renamed, samples last
//! ```
//!
//! One run adds one segment to a directory. Its id derives from the bytes of the inputs, so a second run with the same
//! inputs is refused, and values never count twice.

pub(crate) mod dataset;
mod text;

use std::fmt::Debug;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use otlp_profiles::columns::{
    Dataset, PageCompression, Part, Partition, Segment, SegmentOptions, Table, TableFormat, Tables,
    segment_id, write_part,
};
use otlp_profiles::{Format, Losses, OutputLimit, Profiles, ReadOptions};
use xxhash_rust::xxh3::xxh3_128;

use crate::console::{Console, Level, Line};
use crate::convert::encode::Converted;
use crate::convert::origin::Origin;
use crate::convert::tally::Tally;
use crate::convert::types::Choice;
use crate::exit::{Exit, Failure};
use crate::export::text::{Form, TextWriter};
use crate::filters::Selection;
use crate::input::{Input, Inputs, same_file};
use crate::interrupt::Temporary;
use crate::limits::{OutputLimits, parse_size};
use crate::numbers::counted;
use crate::output;
use crate::reading::ReadArgs;
use crate::readings::{Noticed, readings};
use crate::session::{Session, Turn};
use crate::text::shown_path;

/// Arguments of `export`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Output")]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin; a directory that export wrote is read as a whole
    #[arg(required = true, value_name = "FILE", help_heading = "Input")]
    inputs: Vec<PathBuf>,
    /// The directory of the tables; each run adds files to it
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The format of the tables: parquet, arrow, ndjson or csv
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    to: To,
    /// The compression of Parquet: gzip, lz4 or none
    #[arg(long, value_enum, default_value_t, value_name = "CODEC", hide_possible_values = true)]
    compression: CompressionArg,
    /// How to divide the tables into files: service,date, service or none
    #[arg(long, value_name = "KEYS", value_parser = parse_partition, default_value = "service,date")]
    partition: Partition,
    /// Put an apostrophe before texts that spreadsheets take for formulas: those with =, +, - or @ first
    #[arg(long)]
    csv_guard: bool,
    /// Replace the files of an earlier run with the same inputs
    #[arg(short, long)]
    force: bool,
    /// The most files of samples that a run may write
    #[arg(long, value_name = "N", value_parser = parse_size, default_value = "1024", hide_short_help = true)]
    max_partitions: u64,
    /// The most stacks of a run
    #[arg(long, value_name = "N", value_parser = parse_size, default_value = "16Mi", hide_short_help = true)]
    max_segment_stacks: u64,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    origin: Origin,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    limits: OutputLimits,
}

/// The formats of tables.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum To {
    #[default]
    Parquet,
    #[cfg(feature = "arrow")]
    Arrow,
    Ndjson,
    Csv,
}

/// The library's `PageCompression` for clap.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CompressionArg {
    #[default]
    Gzip,
    Lz4,
    None,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles export night/ -o dataset
  otlp-profiles export v1/ -o dataset --set-resource service.name=checkout --set-resource service.version=1.0
  otlp-profiles export dataset -o compacted";

/// The name of this work in messages.
const WHAT: &str = "Export";

fn parse_partition(text: &str) -> Result<Partition, String> {
    match text {
        "service,date" => Ok(Partition::ServiceDate),
        "service" => Ok(Partition::Service),
        "none" => Ok(Partition::None),
        _ => Err("expected service,date, service or none".to_owned()),
    }
}

/// The results of a thread for one input.
#[derive(Default)]
struct Read {
    /// The profiles of each message, with the name of its format.
    messages: Vec<(Profiles, &'static str)>,
    /// The hash of the bytes.
    hash: u128,
    losses: Losses,
}

/// A segment that inputs are added to.
struct Export<'a> {
    args: &'a Args,
    segment: Segment<File>,
    /// The hashes of all inputs.
    hashes: Vec<u128>,
    tally: Tally,
    /// The limit of a table as text: that of all profiles together.
    limit: OutputLimit,
}

/// Exports all inputs as one segment.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let mut session = Session::new("export", console);
    session.skips_unreadable = args.read.skips_unreadable();
    let (datasets, others): (Vec<_>, Vec<_>) =
        args.inputs.iter().cloned().partition(|path| dataset::is_dataset(path));
    let inputs = Inputs::but(&others, Some(&args.output));
    if inputs.stdins() > 1 {
        return crate::wrong_usage("export", false, "stdin can be read once");
    }
    if datasets.iter().any(|path| same_file(path, &args.output)) {
        let message = "a dataset cannot be exported into itself: give another directory";
        return crate::wrong_usage("export", false, message);
    }
    if args.csv_guard && !matches!(args.to, To::Csv) {
        return crate::wrong_usage("export", false, "--csv-guard applies to --to csv only");
    }
    if !datasets.is_empty() && !args.read.types().is_empty() {
        let message = "--type does not apply to a dataset: import chooses types";
        return crate::wrong_usage("export", false, message);
    }
    if let Err(failure) = export(args, (&datasets, &inputs), &mut session) {
        session.failed(WHAT, None, &failure);
    }
    session.finish()
}

fn export(
    args: &Args,
    (datasets, inputs): (&[PathBuf], &Inputs),
    session: &mut Session<'_>,
) -> Result<(), Failure> {
    let staging = Staging::new(&args.output)?;
    let scratch = staging.dataset.scratch();
    let segment = scratch.and_then(|file| Segment::new(args.segment_options(), file));
    let segment = segment.map_err(|error| failure(&error))?;
    let mut export = Export {
        args,
        segment,
        hashes: Vec::new(),
        tally: Tally::default(),
        limit: args.limits.of(&Profiles::default()),
    };
    export.add_inputs(inputs, session)?;
    for path in datasets {
        export.add_dataset(path, session)?;
    }
    let Export { segment, hashes, tally, limit, .. } = export;
    if hashes.is_empty() {
        // Every input failed, which was reported.
        return Ok(());
    }
    let tables = segment.finish(args.id(hashes)).map_err(|error| failure(&error))?;
    write(args, tables, staging, limit, session.console)?;
    tally.tell("export", session.console);
    Ok(())
}

/// The failure of a segment.
fn failure(error: &otlp_profiles::Error) -> Failure {
    Failure::of(error, Exit::Output)
}

impl Args {
    fn segment_options(&self) -> SegmentOptions {
        let mut options = SegmentOptions::default();
        options.partition = self.partition;
        options.max_partitions = self.max_partitions;
        options.max_segment_stacks = self.max_segment_stacks;
        options.limits = self.read.options().limits;
        options
    }

    /// Returns the id of a segment. A segment without these options has the id that the Python package gives it.
    fn id(&self, hashes: Vec<u128>) -> [u8; 12] {
        let (types, origin, selection) = (self.read.types(), &self.origin, &self.selection);
        let is_default = types.is_empty() && origin.is_empty() && selection.is_empty();
        let (both, all) = ((types, origin), (types, origin, selection));
        let others: Option<&dyn Debug> = match selection.is_empty() {
            _ if is_default => None,
            true => Some(&both),
            false => Some(&all),
        };
        segment_id(hashes, &self.read.options(), others)
    }

    /// Reads an input, on any thread.
    fn read(&self, input: &Input, options: &ReadOptions, console: &Console) -> (Read, Noticed) {
        let mut read = Read::default();
        let mut choice = Choice::default();
        let mut noticed = readings(input, options, &self.selection, console, |message, _| {
            let format = message.reading.detected.format;
            let mut profiles = message.reading.profiles;
            // Types of an input without types are options of reading.
            let is_named = format.options().contains(&"type");
            let asked = if is_named { &[] } else { self.read.types() };
            if !choice.keep(&mut profiles, asked, Format::OTLP, &mut read.losses)? {
                return Ok(());
            }
            let set = self.origin.set(&mut profiles);
            set.and_then(|()| Segment::<File>::check(&profiles, &options.limits))
                .map_err(|error| Failure::of(&error, Exit::Input))?;
            read.messages.push((profiles, format.name()));
            Ok(())
        });
        read.hash = noticed.hash;
        let chosen = choice.finish(&input.name(), &mut noticed.notices);
        noticed.failures.extend(chosen.err());
        (read, noticed)
    }
}

/// A dataset whose temporary files are removed if a signal ends the run.
struct Staging {
    dataset: Dataset,
}

impl Staging {
    fn new(root: &Path) -> Result<Self, Failure> {
        output::make_directory(root)?;
        let mut known = Temporary::lock();
        let dataset = Dataset::open(root).map_err(|error| failure(&error))?;
        known.add(dataset.staging());
        Ok(Self { dataset })
    }

    fn create(&self, part: &Part, segment: [u8; 12], extension: &str) -> Result<File, Failure> {
        // The signal waits, so that it removes this file as well.
        let _known = Temporary::lock();
        self.dataset.create(part, segment, extension).map_err(|error| failure(&error))
    }

    fn publish(self, segment: [u8; 12], force: bool) -> Result<(), Failure> {
        let mut known = Temporary::lock();
        known.forget(self.dataset.staging());
        let existing = self.dataset.publish(segment, force).map_err(|error| failure(&error))?;
        existing.map_or(Ok(()), |path| Err(exported_before(&path)))
    }
}

impl Export<'_> {
    /// Reads files on all cores, and adds them in order. A file that cannot be read does not stop the others.
    fn add_inputs(&mut self, inputs: &Inputs, session: &mut Session<'_>) -> Result<(), Failure> {
        let (args, options) = (self.args, self.args.read.options());
        let mut result = Ok(());
        let work = |input: &Input, console: &Console| args.read(input, &options, console);
        session.for_each(inputs, &inputs.all, work, |session, turn| {
            let (input, read, noticed) = match turn {
                Turn::Done(input, (read, noticed)) => (input, read, noticed),
                Turn::Missing(name, failure) => {
                    session.failed(WHAT, Some(name), failure);
                    return ControlFlow::Continue(());
                }
            };
            if noticed.tell(WHAT, input, session).is_none() || read.messages.is_empty() {
                return ControlFlow::Continue(());
            }
            result = self.add(&input.name(), read, session.console);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result
    }

    /// Adds a dataset, one segment and service after the other. Profiles keep the names of their inputs.
    fn add_dataset(&mut self, root: &Path, session: &mut Session<'_>) -> Result<(), Failure> {
        let limits = self.args.read.options().limits;
        for unit in dataset::units(root)? {
            let name = unit.name();
            session.console.progress().next(&name);
            let mut hashes = Vec::new();
            let restored = unit.load().and_then(|files| {
                hashes.extend(files.files.iter().flatten().map(|bytes| xxh3_128(bytes)));
                dataset::restored(files, &limits, |_| true)
            });
            let mut restored = match restored {
                Ok(restored) => restored,
                Err(failure) => {
                    session.failed(WHAT, Some(&name), &failure);
                    continue;
                }
            };
            self.args.origin.set(&mut restored.profiles).map_err(|error| failure(&error))?;
            self.limit = self.limit.and(self.args.limits.of(&restored.profiles));
            let added = self.segment.add_restored(&restored);
            let losses = added.map_err(|error| failure(&error))?;
            self.tally.written(&name, &Converted::with_losses(losses));
            self.hashes.append(&mut hashes);
        }
        Ok(())
    }

    /// Adds an input.
    fn add(&mut self, name: &str, read: Read, console: &Console) -> Result<(), Failure> {
        let mut converted = Converted::with_losses(read.losses);
        let file = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
        let (mut profiles, mut format) = (0, "");
        for (message, of) in &read.messages {
            self.limit = self.limit.and(self.args.limits.of(message));
            let losses = self.segment.add(message, &file, of).map_err(|error| failure(&error))?;
            converted.losses.merge(&losses);
            (profiles, format) = (profiles + message.len() as u64, of);
        }
        self.hashes.push(read.hash);
        self.tally.written(name, &converted);
        let line = Line::new(Level::Info, "export", "Profiles exported").with("from", format);
        console.log(&line.count("profiles", profiles).about(name));
        Ok(())
    }
}

/// Writes all parts, and publishes them together.
fn write(
    args: &Args,
    mut tables: Tables<File>,
    staging: Staging,
    limit: OutputLimit,
    console: &Console,
) -> Result<(), Failure> {
    let id = tables.id();
    let parts = tables.parts().to_vec();
    if parts.is_empty() {
        return Err(Failure::new(Exit::Output, "there is no profile to export"));
    }
    if let Some(path) = staging.dataset.existing(id).first().filter(|_| !args.force) {
        return Err(exported_before(path));
    }
    let mut samples = 0;
    for part in &parts {
        let extension = args.to.extension();
        let path = part.path(id, extension);
        let _step = console.step("export", "write", &path);
        let file = staging.create(part, id, extension)?;
        let rows = args.write(&mut tables, part, (Path::new(&path), file), limit)?;
        samples += if part.table == Table::Samples { rows } else { 0 };
    }
    // Not all systems can rename the directory of an open file.
    drop(tables);
    staging.publish(id, args.force)?;
    let files = counted(parts.len() as u64, "file");
    let line = Line::new(Level::Notice, "export", format!("{files} written"));
    let line = line.count("samples", samples).with("segment", crate::text::hex(&id));
    console.log(&line.with("out", shown_path(&args.output)));
    Ok(())
}

fn exported_before(path: &Path) -> Failure {
    let path = shown_path(path);
    let message = format!(
        "these inputs were exported before: {path} exists, and their values would count twice; --force replaces the files"
    );
    Failure::new(Exit::Output, message)
}

impl To {
    fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            #[cfg(feature = "arrow")]
            Self::Arrow => "arrow",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }
}

impl Args {
    /// Writes a file, and returns its number of rows.
    fn write(
        &self,
        tables: &mut Tables<File>,
        part: &Part,
        (path, file): (&Path, File),
        limit: OutputLimit,
    ) -> Result<u64, Failure> {
        let compression = match self.compression {
            CompressionArg::Gzip => PageCompression::Gzip,
            CompressionArg::Lz4 => PageCompression::Lz4,
            CompressionArg::None => PageCompression::None,
        };
        let output = BufWriter::new(file);
        let binary = |tables: &mut Tables<File>, output, format| {
            write_part(tables, part, output, format).map_err(|error| failure(&error))
        };
        let form = match self.to {
            To::Parquet => return binary(tables, output, TableFormat::Parquet(compression)),
            #[cfg(feature = "arrow")]
            To::Arrow => return binary(tables, output, TableFormat::Arrow),
            To::Ndjson => Form::Ndjson,
            To::Csv => Form::Csv { guard: self.csv_guard },
        };
        let unwritable = |error| output::unwritable(path, &error);
        let mut writer = TextWriter::new(output, part.table, form, limit).map_err(unwritable)?;
        let (mut written, mut rows) = (Ok(()), 0);
        let each = tables.each(part, |batch| {
            rows += batch.len() as u64;
            if written.is_ok() {
                written = writer.write(batch)?;
            }
            Ok(())
        });
        each.map_err(|error| failure(&error))?;
        written.and_then(|()| writer.finish()).map_err(unwritable)?;
        Ok(rows)
    }
}
