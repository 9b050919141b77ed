//! `otlp-profiles merge`: merges many files into one.
//!
//! Each thread merges the messages of one file, and the results are appended in the order of the
//! files. Memory holds the merged profiles and the files being processed.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use otlp_profiles::model::Entry;
use otlp_profiles::transform::{Caution, Columns, Combine, MergeOptions, Merged, ResourceKeys};
use otlp_profiles::{Profile, Profiles};

use crate::console::Console;
use crate::convert;
use crate::convert::conversion::{Conversion, Outcome, Verb};
use crate::convert::plan::{Outputs, Plan};
use crate::convert::run::Run;
use crate::exit::{Exit, Failure};
use crate::numbers::{counted, value};
use crate::session::Session;
use crate::sum::{Sum, warn};

/// Arguments of `merge`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Merge")]
pub(crate) struct Args {
    /// Combine snapshots of one process, such as heap profiles, by sum, last, mean or max; kind: the last of
    /// totals and the mean of states
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, value_name = "HOW")]
    combine: CombineArg,
    /// Add up profiles whose resources differ in this attribute, such as k8s.pod.name; repeatable
    #[arg(long, value_name = "KEY")]
    ignore_resource: Vec<String>,
    /// Add up profiles whose resources agree in this attribute; others are dropped; repeatable
    #[arg(long, value_name = "KEY", conflicts_with = "ignore_resource")]
    only_resource: Vec<String>,
    /// Keep every profile apart, and share only the tables
    #[arg(long)]
    keep_apart: bool,
    /// Drop sample types that not all inputs have
    #[arg(long)]
    intersect: bool,
    /// Write timestamped samples as totals
    #[arg(long)]
    drop_timestamps: bool,
    /// Drop samples whose values are all 0
    #[arg(long)]
    drop_zero: bool,
    /// Drop the frames that inputs declare to be of no interest (drop_frames and keep_frames), as pprof does
    #[arg(long)]
    apply_frames: bool,
    /// Keep mappings of one binary at different addresses apart
    #[arg(long, hide_short_help = true)]
    exact_addresses: bool,
    /// Add up profiles with different periods into one without a period
    #[arg(long, hide_short_help = true)]
    join_periods: bool,
    /// Also add profiles that repeat the id and contents of an earlier one
    #[arg(long, hide_short_help = true)]
    add_repeats: bool,
    /// Set the duration to the sum of all durations, as pprof does, instead of the span
    #[arg(long, hide_short_help = true)]
    sum_durations: bool,
    /// Sort by content: the same bytes whatever the order of the inputs
    #[arg(long)]
    canonical: bool,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
}

/// The library's `Combine` for clap. Its variants have no doc comments, which would appear in the
/// help.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CombineArg {
    #[default]
    Sum,
    Last,
    Mean,
    Max,
    Kind,
}

const AFTER_HELP: &str = "\
Examples:
  otlp-profiles merge night/ -o night.pb.gz
  otlp-profiles merge 'heap-*.pb.gz' --combine last -o heap.otlp
  otlp-profiles merge pods/ --ignore-resource k8s.pod.name -o service.otlp";

impl Args {
    /// Converts flags to options of the library. pprof stores one profile per file, so missing
    /// sample types get zeros.
    fn options(&self, conversion: &Conversion<'_>) -> MergeOptions {
        let combine = match self.combine {
            CombineArg::Sum => Combine::Sum,
            CombineArg::Last => Combine::Last,
            CombineArg::Mean => Combine::Mean,
            CombineArg::Max => Combine::Max,
            CombineArg::Kind => Combine::ByKind,
        };
        let resources = match (&self.only_resource[..], &self.ignore_resource[..]) {
            ([], []) => ResourceKeys::All,
            ([], keys) => ResourceKeys::Without(keys.to_vec()),
            (keys, _) => ResourceKeys::Only(keys.to_vec()),
        };
        let columns = match self.intersect {
            true => Columns::Intersect,
            false if conversion.to.is_otlp() => Columns::Apart,
            false => Columns::ZeroFill,
        };
        MergeOptions::default()
            .limits(conversion.limits())
            .keep_apart(self.keep_apart)
            .resources(resources)
            .combine(combine)
            .columns(columns)
            .sum_durations(self.sum_durations)
            .add_repeats(self.add_repeats)
            .drop_timestamps(self.drop_timestamps)
            .drop_zero(self.drop_zero)
            .exact_addresses(self.exact_addresses)
            .join_periods(self.join_periods)
            .canonical(self.canonical)
    }
}

const MERGE: Verb = Verb { name: "merge", noun: "Merge", past: "merged" };

/// The most values that a message lists.
const MOST_LISTED: usize = 10;

/// Merges all inputs into one output. An unreadable input fails the run before it writes, unless
/// `--skip-unreadable` is given.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let plan = match Plan::of(&args.convert, Outputs::One, MERGE.name) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage("merge", args.convert.json(), message),
    };
    let mut conversion = Conversion::new(&args.convert, &MERGE, plan.format);
    conversion.apply_frames = args.apply_frames;
    let mut session = Session::new("merge", console);
    session.skips_unreadable = args.convert.skips_unreadable();
    let mut run = Run::new(&conversion, console);
    let (mut merged, mut has_failed) = (Outcome::default(), false);
    let failed = |session: &mut Session<'_>, name: &str, failure: &Failure| {
        has_failed = true;
        run.failed(session, name, failure, None);
    };
    let (inputs, options) = (&plan.inputs, args.options(&conversion));
    let see = |_: &Sum| Ok(());
    let sum = conversion.sum(&mut session, inputs, &options, &mut merged.converted, see, failed);
    let sum = sum.filter(|_| !has_failed || args.convert.skips_unreadable());
    if let (Some(sum), Some(job)) = (sum, plan.jobs.first()) {
        let name = counted(plan.inputs.all.len() as u64, "input");
        let step = console.step("merge", "encode", &name);
        let blobs = encode(&conversion, sum, &mut merged)
            .and_then(|()| conversion.pack(&mut merged.converted, job, console));
        drop(step);
        run.job(&mut session, &name, job, (merged, blobs));
    }
    run.finish(session)
}

/// Encodes the merged profiles.
fn encode(conversion: &Conversion<'_>, sum: Sum, outcome: &mut Outcome) -> Result<(), Failure> {
    let (merged, inputs) = sum.finish()?;
    let Merged { mut profiles, losses, snapshots, .. } = merged;
    if losses.get("merge.snapshots_summed").is_some() {
        let cautions = snapshots.iter().map(Caution::of_snapshots);
        warn(cautions, "--combine last keeps those", &mut outcome.notices);
    }
    outcome.converted.losses.merge(&losses);
    conversion.choose_types(&mut profiles, outcome, "the sum")?;
    let left_out = inputs.without(&profiles.sample_types()).into_iter().map(Caution::LeftOut);
    warn(left_out, "", &mut outcome.notices);
    conversion.set_origin(&mut profiles)?;
    let reasons = if conversion.to.is_otlp() { Vec::new() } else { differences(&profiles) };
    conversion.encode(&mut outcome.converted, (String::new(), profiles))?;
    let files = outcome.converted.payloads();
    if files > 1 && !reasons.is_empty() {
        outcome.notices.note("several files", "", || {
            format!("the sum needs {}: {}", counted(files as u64, "file"), reasons.join("; "))
        });
    }
    Ok(())
}

/// Describes why merged profiles do not fit into one file, and the options that make one.
fn differences(profiles: &Profiles) -> Vec<String> {
    let dictionary = profiles.dictionary();
    let listed = |all: BTreeSet<String>| -> Option<String> {
        (all.len() > 1).then(|| all.into_iter().take(MOST_LISTED).collect::<Vec<_>>().join(", "))
    };
    let period = |of: &Profile| {
        let (name, unit) = (of.period_type().name, of.period_type().unit);
        format!("{} of {}", value(of.period().into(), dictionary.text(unit)), dictionary.text(name))
    };
    let periods = listed(profiles.iter().map(period).collect());
    let periods = periods
        .map(|all| format!("the sampling periods differ ({all}): --join-periods adds them up"));
    // By key: the number of resources with it, and its first values.
    let mut values: BTreeMap<&str, (usize, BTreeSet<String>)> = BTreeMap::new();
    let resources = profiles.resource_profiles();
    for resource in resources {
        let attributes = dictionary.resolve(resource.resource().attributes());
        for pair in attributes.iter() {
            let (count, values) = values.entry(pair.key).or_default();
            *count += 1;
            if values.len() < 2 {
                values.insert(pair.value.to_string());
            }
        }
    }
    let differs =
        |count: usize, values: &BTreeSet<String>| count < resources.len() || values.len() > 1;
    let keys = values.into_iter().filter(|(_, (count, values))| differs(*count, values));
    let keys: Vec<_> = keys.map(|(key, _)| key).take(MOST_LISTED).collect();
    let differing = (!keys.is_empty()).then(|| {
        let flags: Vec<_> = keys.iter().map(|key| format!("--ignore-resource {key}")).collect();
        format!("resources differ: {} adds them up", flags.join(" "))
    });
    let scope = |of: Entry<'_>| {
        let (name, version) = (of.scope().name(), of.scope().version());
        format!("{}@{}", dictionary.text(name), dictionary.text(version))
    };
    let scopes = listed(profiles.entries().map(scope).collect());
    let scopes = scopes.map(|all| format!("scopes differ ({all})"));
    periods.into_iter().chain(differing).chain(scopes).collect()
}
