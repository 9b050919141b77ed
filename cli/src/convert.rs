//! `otlp-profiles convert`: converts profiles from one format to another.
//!
//! | file | contents |
//! |---|---|
//! | `plan` | the output and the format of each input, decided and validated before the first is read |
//! | `run` | the loop over the inputs: writing and reporting |
//! | `conversion` | the path of one input: read, transform, encode, compress |
//! | `encode` | the encoded messages of an input, with losses and verdict |
//! | `types` | the choice of sample types |
//! | `report`, `tally` | losses by input, and of the whole run |
//! | `origin` | resource attributes and scopes, which a pprof lacks and the caller supplies |
//!
//! ```text
//! Args ─► Plan (jobs) ─► Run ─► Content::each ─► Converted ─► blobs ─► output
//!           rejected here: exit 2    one message at a time      all or nothing
//! ```
//!
//! The doc comments of [`Args`] are the help text. The functions below, which turn flags into
//! options of the library, have the comments for readers of the code.

pub(crate) mod conversion;
pub(crate) mod encode;
pub(crate) mod origin;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod tally;
pub(crate) mod types;

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use otlp_profiles::compression::Level;
use otlp_profiles::format::{Layout, Receiver, StringEncoding, Timestamps};
use otlp_profiles::model::ProfileId;
use otlp_profiles::{Ambiguity, Format, Limits, ReadOptions, WriteOptions};

use crate::console::{self, Console};
use crate::convert::origin::Origin;
use crate::convert::report::Form;
use crate::filters::Selection;
use crate::formats::FormatParser;
use crate::limits::{OutputLimits, WriteLimits};
use crate::reading::ReadArgs;

/// Arguments of `convert`, and of all subcommands that write profiles.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Output")]
#[group(skip)]
pub(crate) struct Args {
    /// Files, directories, quoted patterns, or - for stdin
    #[arg(required = true, value_name = "IN", help_heading = "Input")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output file or directory, or - for stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The format to write [default: by the extension of OUT]
    #[arg(long, value_name = "FORMAT", value_parser = FormatParser::Write)]
    to: Option<Format>,
    /// Write what this receiver accepts as a request: the format, the string encoding, and a file for each message
    #[arg(long = "for", value_name = "RECEIVER", value_parser = receivers(), conflicts_with_all = ["to", "refs"])]
    receiver: Option<Receiver>,
    /// Fail instead of writing a lossy output
    #[arg(long)]
    deny_loss: bool,
    /// Replace files; write binary to a terminal
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) origin: Origin,
    /// Where OTLP 1.10 stores the strings of resources, scopes and values [default: inline]
    #[arg(long, value_enum, hide_possible_values = true, value_name = "inline|dictionary")]
    #[arg(help_heading = OTLP, hide_short_help = true)]
    refs: Option<RefsArg>,
    /// Write one sample with a label for each timestamp, or drop timestamps
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_possible_values = true,
        value_name = "label|drop"
    )]
    #[arg(help_heading = PPROF, hide_short_help = true)]
    timestamps: TimestampsArg,
    /// Keep the labels trace_id and span_id as labels, and drop links when writing
    #[arg(long, help_heading = PPROF, hide_short_help = true)]
    no_links: bool,
    /// Read the time of a sample from this numeric label, such as end_timestamp_ns
    #[arg(long, value_name = "NAME", help_heading = PPROF, hide_short_help = true)]
    timestamp_label: Option<String>,
    /// Write attributes, links and timestamps after the value, as OTEP 0239 does; flame graph tools skip such
    /// lines [default for OUT.otep.folded]
    #[arg(long, help_heading = "Options for folded stacks", hide_short_help = true)]
    folded_labels: bool,
    /// Write one profile per thread
    #[arg(long, help_heading = "Options for speedscope", hide_short_help = true)]
    per_thread: bool,
    /// Set the id of the profile (of its first sample type): 32 hex digits
    #[arg(long, value_name = "HEX", value_parser = parse_profile_id)]
    #[arg(help_heading = OTLP, hide_short_help = true)]
    profile_id: Option<ProfileId>,
    /// The order of samples and table rows
    #[arg(long, value_enum, hide_possible_values = true, value_name = "default|keep|compact")]
    #[arg(conflicts_with = "compact", hide_short_help = true)]
    layout: Option<LayoutArg>,
    /// Write small files (--layout compact, --level 9)
    #[arg(long)]
    compact: bool,
    /// The level of gzip or zstd [default: 6; with --compact 9]
    #[arg(long, value_name = "0-9", value_parser = clap::value_parser!(u32).range(0..=9), allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    level: Option<u32>,
    /// Compress the output with gzip, whatever its name
    #[arg(long, conflicts_with = "no_gzip", hide_short_help = true)]
    gzip: bool,
    /// Do not compress the output, whatever its name
    #[arg(long, hide_short_help = true)]
    no_gzip: bool,
    /// Print a JSON object for each input to stderr, and messages as JSON too
    #[arg(long)]
    json: bool,
    /// The former name of --json
    #[arg(long, value_enum, hide = true, conflicts_with = "json")]
    report: Option<Form>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    pub(crate) output_limits: OutputLimits,
    #[command(flatten)]
    limits: WriteLimits,
}

/// Headings of the options for one format.
const OTLP: &str = "Options for OTLP";
const PPROF: &str = "Options for pprof and folded stacks";

/// Examples that work as typed: `cli/tests` runs similar commands.
const AFTER_HELP: &str = "\
Examples:
  otlp-profiles convert cpu.pb.gz -o cpu.otlp --set-resource service.name=checkout
  otlp-profiles convert old.otlp --to otlp-1.10 -o new.otlp
  otlp-profiles convert 'profiles/**/*.pb.gz' --to otlp -o converted/
  curl -s host:6060/debug/pprof/heap | otlp-profiles convert - --to otlp > heap.otlp";

/// The library's `StringEncoding` for clap. Its variants have no doc comments, which would appear
/// in the help.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RefsArg {
    Inline,
    Dictionary,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LayoutArg {
    Default,
    Keep,
    Compact,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum TimestampsArg {
    #[default]
    Label,
    Drop,
}

/// Parses 32 hex digits. Rejects an id of zeros, which means that the id is unset.
fn parse_profile_id(text: &str) -> Result<ProfileId, String> {
    let digits = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u128::from_str_radix(text, 16) {
        Ok(0) if digits => Err("an id of zeros is none".to_owned()),
        Ok(id) if digits => Ok(ProfileId(id.to_be_bytes())),
        _ => Err("expected 32 hexadecimal digits".to_owned()),
    }
}

/// Parses the name of a receiver that the library supports.
fn receivers() -> impl TypedValueParser<Value = Receiver> {
    let names = Receiver::ALL.iter().map(|receiver| receiver.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Receiver>())
}

impl Args {
    /// Whether the output is the body of a request, which holds one message (`--for`).
    pub(crate) fn is_for_receiver(&self) -> bool {
        self.receiver.is_some()
    }

    /// Whether the arguments name an output.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some() || self.to().is_some()
    }

    /// Whether the output goes to stdout.
    pub(crate) fn is_stdout(&self) -> bool {
        self.output.as_deref().is_none_or(|path| path.as_os_str() == "-")
    }

    /// Whether to continue without inputs and messages that cannot be read.
    pub(crate) fn skips_unreadable(&self) -> bool {
        self.read.skips_unreadable()
    }

    /// The sample type that `--type` selects.
    pub(crate) fn sample_type(&self) -> Option<String> {
        self.read.sample_type()
    }

    /// The compression level.
    ///
    /// An explicit `--level` takes precedence over `--compact`, in either order.
    fn level(&self) -> Level {
        let level = self.level.and_then(Level::new);
        level.unwrap_or(if self.compact { Level::BEST } else { Level::DEFAULT })
    }

    /// The requested layout.
    ///
    /// `None` lets the library choose. This differs from `--layout default`: a format with a fixed
    /// order accepts no layout, and rejects one only if the user requested it.
    fn layout(&self) -> Option<Layout> {
        match self.layout {
            _ if self.compact => Some(Layout::Compact),
            Some(LayoutArg::Compact) => Some(Layout::Compact),
            Some(LayoutArg::Keep) => Some(Layout::Keep),
            Some(LayoutArg::Default) => Some(Layout::Default),
            None => None,
        }
    }

    /// Whether the output has the name of a file in OTEP 0239's form of folded stacks.
    fn is_otep_folded(&self) -> bool {
        let folded = self.to().is_none_or(|to| to == Format::FOLDED);
        let name = self.output.as_deref().and_then(|output| output.file_name());
        let name = name.filter(|_| folded);
        let name = name.unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        name.trim_end_matches(".gz").trim_end_matches(".zst").ends_with(".otep.folded")
    }

    /// The requested format.
    ///
    /// A receiver implies its format, so clap rejects `--to` together with `--for`.
    fn to(&self) -> Option<Format> {
        self.to.or(self.receiver.map(Receiver::format))
    }

    /// Whether the arguments request JSON for everything on stderr.
    pub(crate) fn json(&self) -> bool {
        self.json || self.report == Some(Form::Json)
    }

    /// The form of the report on each input: as requested, else in the form of stderr. A text log
    /// has no reports; one line gives the losses of the run.
    fn report(&self, console: &Console) -> Option<Form> {
        match self.report {
            _ if self.json() => Some(Form::Json),
            Some(form) => Some(form),
            None if !console.shows(console::Level::Warning) => None,
            None => match console.form() {
                console::Form::Words => Some(Form::Text),
                console::Form::Json => Some(Form::Json),
                console::Form::Log => None,
            },
        }
    }

    /// Converts flags to options of the library. Limits are those of files unless a flag changes
    /// them.
    fn read_options(&self) -> ReadOptions {
        let options = self.read.options();
        // A guess may lose data, so --deny-loss also denies guesses.
        let ambiguity = if self.deny_loss { Ambiguity::Refuse } else { options.ambiguity };
        options
            .ambiguity(ambiguity)
            .links(!self.no_links)
            .timestamp_label(self.timestamp_label.clone())
    }

    /// Converts flags to options of the library. `--for` is applied first, so other flags override
    /// it. The string encoding is the one that the receiver accepts in files, where some accept
    /// references that they reject when sent.
    ///
    /// The size of an output is limited to that of a file, because all of it is in memory before it
    /// is written.
    fn write_options(&self) -> WriteOptions {
        let timestamps = match self.timestamps {
            TimestampsArg::Label => Timestamps::Label,
            TimestampsArg::Drop => Timestamps::Drop,
        };
        let options = match self.receiver {
            Some(receiver) => WriteOptions::for_receiver(receiver)
                .string_encoding(receiver.string_encoding_in_files()),
            None => WriteOptions::default(),
        };
        let options = options
            .timestamps(timestamps)
            .links(!self.no_links)
            .layout(self.layout().unwrap_or_default())
            .profile_id(self.profile_id)
            .folded_labels(self.folded_labels || self.is_otep_folded())
            .by_thread(self.per_thread)
            .max_output_bytes(Limits::file().max_output_bytes);
        let options = match self.refs {
            Some(RefsArg::Inline) => options.string_encoding(StringEncoding::Inline),
            Some(RefsArg::Dictionary) => options.string_encoding(StringEncoding::Dictionary),
            None => options,
        };
        self.limits.set(self.output_limits.set(options))
    }
}
