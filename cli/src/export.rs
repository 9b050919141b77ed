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
mod staging;
mod text;

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use otlp_profiles::columns::{
    Batch, PageCompression, ParquetWriter, Part, Partition, Segment, SegmentOptions, Table, Tables,
};
use otlp_profiles::{Format, Losses, Profiles, ReadOptions};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::console::{Console, Level, Line};
use crate::convert::encode::Converted;
use crate::convert::origin::Origin;
use crate::convert::tally::Tally;
use crate::convert::types;
use crate::exit::{Exit, Failure};
use crate::export::staging::{Folders, Staging};
use crate::export::text::{Form, TextWriter};
use crate::input::{Input, Inputs, same_file};
use crate::limits::parse_size;
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
    origin: Origin,
    #[command(flatten)]
    read: ReadArgs,
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
  otlp-profiles export v1/ -o dataset --resource service.name=checkout --resource service.version=1.0
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
}

/// Exports all inputs as one segment.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let mut session = Session::new("export", console);
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
    let mut staging = Staging::new(&args.output)?;
    let options = args.segment_options();
    let segment = Segment::new(options, staging.scratch()?).map_err(|error| failure(&error))?;
    let mut export = Export { args, segment, hashes: Vec::new(), tally: Tally::default() };
    export.add_inputs(inputs, session)?;
    for path in datasets {
        export.add_dataset(path, session)?;
    }
    let Export { segment, hashes, tally, .. } = export;
    if hashes.is_empty() {
        // Every input failed, which was reported.
        return Ok(());
    }
    let tables = segment.finish(args.id(hashes)).map_err(|error| failure(&error))?;
    write(args, tables, staging, session.console)?;
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

    /// Returns the id of a segment: the hash of all inputs in any order, and of the options that change rows.
    fn id(&self, mut hashes: Vec<u128>) -> [u8; 12] {
        hashes.sort_unstable();
        let mut bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect();
        let ReadOptions { format, policy, source, .. } = self.read.options();
        let value = (format, policy, source, self.read.types(), &self.origin);
        let options = format!("{value:?}");
        bytes.extend_from_slice(options.as_bytes());
        let mut id = [0; 12];
        id.copy_from_slice(&xxh3_128(&bytes).to_be_bytes()[..12]);
        id
    }

    /// Reads an input, on any thread.
    fn read(&self, input: &Input, options: &ReadOptions, console: &Console) -> (Read, Noticed) {
        let mut read = Read::default();
        let mut payloads = Xxh3::new();
        let mut noticed = readings(input, options, console, |message, noticed| {
            payloads.update(&message.payload);
            let format = message.reading.detected.format;
            let mut profiles = message.reading.profiles;
            // Types of an input without types are options of reading.
            let is_named = format.options().contains(&"type");
            let asked = if is_named { &[] } else { self.read.types() };
            let name = input.name();
            let notices = (&mut noticed.notices, &*name);
            types::choose(&mut profiles, asked, Format::OTLP, &mut read.losses, notices)?;
            let set = self.origin.set(&mut profiles);
            set.and_then(|()| Segment::<File>::check(&profiles, &options.limits))
                .map_err(|error| Failure::of(&error, Exit::Input))?;
            read.messages.push((profiles, format.name()));
            Ok(())
        });
        // Reading again costs less than reading and hashing through one buffer, and covers all bytes.
        read.hash = match &input.path {
            None => payloads.digest128(),
            Some(path) => hash_file(path).unwrap_or_else(|error| {
                noticed.failures.push(crate::input::unreadable(&error));
                0
            }),
        };
        (read, noticed)
    }
}

fn hash_file(path: &Path) -> std::io::Result<u128> {
    use std::io::Read;
    let (mut file, mut hash) = (File::open(path)?, Xxh3::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.digest128()),
            read => hash.update(&buffer[..read]),
        }
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
    mut staging: Staging,
    console: &Console,
) -> Result<(), Failure> {
    let segment = crate::text::hex(&tables.id());
    let parts = tables.parts().to_vec();
    if parts.is_empty() {
        return Err(Failure::new(Exit::Output, "there is no profile to export"));
    }
    let existing = staging.files_of(&segment)?;
    if let Some(path) = existing.first().filter(|_| !args.force) {
        let path = shown_path(path);
        let message = format!(
            "these inputs were exported before: {path} exists, and their values would count twice; --force replaces the files"
        );
        return Err(Failure::new(Exit::Output, message));
    }
    let folders = Folders::of(&parts);
    let mut samples = 0;
    for part in &parts {
        let path = folders.path(part, &segment, args.to.extension());
        let _step = console.step("export", "write", &path.to_string_lossy());
        let file = staging.create(&path)?;
        let rows = write_part(args, &mut tables, part, (&path, file))?;
        samples += if part.table == Table::Samples { rows } else { 0 };
    }
    staging.publish(&existing)?;
    let files = counted(parts.len() as u64, "file");
    let line = Line::new(Level::Notice, "export", format!("{files} written"));
    let line = line.count("samples", samples).with("segment", segment);
    console.log(&line.with("out", shown_path(&args.output)));
    Ok(())
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

/// Writes a file, and returns its number of rows.
fn write_part(
    args: &Args,
    tables: &mut Tables<File>,
    part: &Part,
    (path, file): (&Path, File),
) -> Result<u64, Failure> {
    let (output, table, segment) = (BufWriter::new(file), part.table, tables.id());
    let mut rows = 0;
    let mut each = |write: &mut dyn FnMut(&Batch<'_>) -> otlp_profiles::Result<()>| {
        tables.each(part, |batch| {
            rows += batch.len() as u64;
            write(batch)
        })
    };
    let form = match args.to {
        To::Parquet => {
            let codec = match args.compression {
                CompressionArg::Gzip => PageCompression::Gzip,
                CompressionArg::Lz4 => PageCompression::Lz4,
                CompressionArg::None => PageCompression::None,
            };
            let writer = ParquetWriter::new(output, table, segment, codec);
            let written = writer.and_then(|mut writer| {
                each(&mut |batch| writer.write(batch))?;
                writer.finish()
            });
            return written.map(|_| rows).map_err(|error| failure(&error));
        }
        #[cfg(feature = "arrow")]
        To::Arrow => {
            let writer = otlp_profiles::columns::ArrowWriter::new(output, table, segment);
            let written = writer.and_then(|mut writer| {
                each(&mut |batch| writer.write(batch))?;
                writer.finish()
            });
            return written.map(|_| rows).map_err(|error| failure(&error));
        }
        To::Ndjson => Form::Ndjson,
        To::Csv => Form::Csv,
    };
    let unwritable = |error| output::unwritable(path, &error);
    let mut writer = TextWriter::new(output, table, form).map_err(unwritable)?;
    let mut written = Ok(());
    each(&mut |batch| {
        if written.is_ok() {
            written = writer.write(batch);
        }
        Ok(())
    })
    .map_err(|error| failure(&error))?;
    written.and_then(|()| writer.finish()).map_err(unwritable)?;
    Ok(rows)
}
