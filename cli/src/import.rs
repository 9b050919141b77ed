//! `otlp-profiles import`: reads profiles from a directory that `export` wrote, and writes them in any format.
//!
//! Nothing is lost between the two. Memory holds the profiles that the filters choose.

use otlp_profiles::builder::WhenFull;
use otlp_profiles::columns::ProfileRow;
use otlp_profiles::{Builder, Profiles};

use crate::console::Console;
use crate::convert;
use crate::convert::conversion::{Conversion, Outcome, Verb};
use crate::convert::plan::{Outputs, Plan};
use crate::convert::run::Run;
use crate::exit::{Exit, Failure};
use crate::export::dataset;
use crate::filters::Selected;
use crate::session::Session;
use crate::text::shown_path;
use crate::time::parse_time;

/// Arguments of `import`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP, next_help_heading = "Import")]
pub(crate) struct Args {
    /// Only profiles of this service; repeatable
    #[arg(long, value_name = "NAME")]
    service: Vec<String>,
    /// Only profiles that begin at this time or later, such as 2026-11-20T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<u64>,
    /// Only profiles that begin before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<u64>,
    /// Only the profile with this profile_key, in hex; repeatable
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    profile: Vec<[u8; 16]>,
    #[command(flatten)]
    pub(crate) convert: convert::Args,
}

const AFTER_HELP: &str = "\
IN is a directory that export wrote.

Examples:
  otlp-profiles import dataset -o all.otlp
  otlp-profiles import dataset --service checkout --since 2026-11-20T10:00:00Z -o checkout.otlp
  otlp-profiles import dataset --profile 5c1f0a3b9e8d7c6b5a49382700000007 -o slow.pb.gz";

const IMPORT: Verb = Verb { name: "import", noun: "Import", past: "imported" };

fn parse_key(text: &str) -> Result<[u8; 16], String> {
    let key = u128::from_str_radix(text, 16).ok().filter(|_| text.len() == 32);
    key.map(u128::to_be_bytes).ok_or_else(|| "expected 32 hexadecimal digits".to_owned())
}

impl Args {
    /// Whether a filter may leave out profiles.
    fn chooses(&self) -> bool {
        let is_timed = self.since.is_some() || self.until.is_some();
        is_timed || !self.service.is_empty() || !self.profile.is_empty()
    }

    fn selects(&self, row: &ProfileRow<'_>) -> bool {
        // Times before 1970 are before every limit.
        let time = u64::try_from(row.time_unix_nano).ok();
        (self.service.is_empty() || self.service.iter().any(|name| name == row.service_name))
            && self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_none_or(|time| time < until))
            && (self.profile.is_empty() || self.profile.contains(&row.profile_key))
    }
}

/// Writes the profiles of all datasets to one output.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    let inputs = &args.convert.inputs;
    if let Some(path) = inputs.iter().find(|path| !dataset::is_dataset(path)) {
        let path = shown_path(path);
        let message = format!("{path} is not a directory that otlp-profiles export wrote");
        return crate::wrong_usage("import", args.convert.json(), message);
    }
    let plan = match Plan::of(&args.convert, Outputs::One, IMPORT.name) {
        Ok(plan) => plan,
        Err(message) => return crate::wrong_usage("import", args.convert.json(), message),
    };
    let conversion = Conversion::new(&args.convert, &IMPORT, plan.format);
    let mut session = Session::new("import", console);
    let mut run = Run::new(&conversion, console);
    let name = shown_path(&inputs[0]);
    let mut outcome = Outcome::default();
    match read(args, &conversion, &mut outcome, console) {
        Err(failure) => run.failed(&mut session, &name, &failure, None),
        Ok(mut profiles) => {
            if let Some(job) = plan.jobs.first() {
                let blobs = conversion
                    .choose_types(&mut profiles, &mut outcome, &name)
                    .and_then(|()| conversion.set_origin(&mut profiles))
                    .and_then(|()| {
                        conversion.encode(&mut outcome.converted, (String::new(), profiles))
                    })
                    .and_then(|()| conversion.pack(&mut outcome.converted, job, console));
                run.job(&mut session, &name, job, (outcome, blobs));
            }
        }
    }
    run.finish(session)
}

/// Reads the profiles that the filters choose.
fn read(
    args: &Args,
    conversion: &Conversion<'_>,
    outcome: &mut Outcome,
    console: &Console,
) -> Result<Profiles, Failure> {
    let limits = conversion.limits();
    let failure = |error: otlp_profiles::Error| Failure::of(&error, Exit::Input);
    let (mut only, mut joined) = (None, Builder::with_limits(limits, WhenFull::Refuse));
    for root in &args.convert.inputs {
        for unit in dataset::units(root)? {
            let name = unit.name();
            let _step = console.step("import", "decode", &name);
            let named = |failure: Failure| {
                let message = format!("{name}: {}", failure.message);
                Failure { message, ..failure }
            };
            let read = unit
                .load()
                .and_then(|files| dataset::restored(files, &limits, |row| args.selects(row)))
                .map_err(named)?;
            if read.profiles.is_empty() {
                continue;
            }
            outcome.converted.messages += 1;
            // One segment keeps the order of its tables.
            match (outcome.converted.messages, only.take()) {
                (1, _) => only = Some(read.profiles),
                (_, first) => {
                    first.iter().try_for_each(|first| joined.add(first)).map_err(failure)?;
                    joined.add(&read.profiles).map_err(failure)?;
                }
            }
        }
    }
    if outcome.converted.messages == 0 {
        let message = "no profile of the dataset matches the filters";
        return Err(Failure::new(Exit::Input, message));
    }
    let mut profiles = only.map_or_else(|| joined.finish().map_err(failure), Ok)?;
    let mut selected = Selected::default();
    args.convert.selection.apply(&mut profiles, &mut selected);
    selected.finish()?;
    // Rows of profiles that were not chosen.
    if args.chooses() {
        profiles.compact();
    }
    Ok(profiles)
}
