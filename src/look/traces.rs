//! The stack of every sample.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::look::header;
use crate::look::label::{LabelValue, Units, labels};
use crate::look::node::{Frames, Nodes, Rules};
use crate::look::options::Options;
use crate::look::report::{Trace, Traces};
use crate::look::select::select;
use crate::model::{Dictionary, Profiles, SampleRef};
use crate::output_limit::OutputLimit;
use crate::units;

/// Lists the samples with their values, labels and stacks: `pprof -traces`. Samples without a stack are left out.
///
/// It takes time and memory linear in the size of the profiles: samples share stacks, and stacks share names.
///
/// # Errors
///
/// There are no profiles, or none has the sample type.
///
/// ```
/// use otlp_profiles::look::{self, Options};
/// # let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// let traces = look::traces(&profiles, &Options::default())?;
/// for trace in &traces.traces {
///     let (leaf, _) = traces.frames(trace).next().unwrap();
///     println!("{} {:?} {leaf}", trace.value, trace.labels);
/// }
/// # assert_eq!(traces.traces.len(), 143);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn traces(profiles: &Profiles, options: &Options) -> Result<Traces> {
    let units = Units::of(profiles);
    let (profiles, header) = header::prepare(profiles, options)?;
    let dictionary = profiles.dictionary();
    let mut nodes = Nodes::new(Rules::of(options));
    let of_location = nodes.frames(dictionary, Rules::of(options));
    nodes.tell_apart();
    let selection = select(&profiles, options.sample_type.as_deref())?;
    let limit = OutputLimit::or_default(options.limit, [&*profiles]);
    let mut bytes = (0..nodes.len() as u32).map(|node| nodes.name_bytes(node)).sum::<u64>();
    limit.check(bytes)?;
    let mut stacks = vec![Vec::new(); dictionary.stacks().len()];
    let (mut traces, mut without_stack) = (Vec::new(), [0; 2]);
    for (entry, column, factor) in &selection.columns {
        let profile = entry.profile();
        for sample in profile.samples() {
            let divisor = if options.mean { profile.total(sample, 0) } else { 0 };
            let value = factor * i128::from(profile.total(sample, *column));
            let value = if divisor == 0 { value } else { value / i128::from(divisor) };
            let stack = sample.stack.row();
            if dictionary.stack(sample.stack).is_empty() {
                without_stack[usize::from(value < 0)] += value;
                continue;
            }
            if stacks[stack].is_empty() {
                stacks[stack] = frames(dictionary, &of_location, &sample);
            }
            let labels = printed(dictionary, &sample, &units);
            bytes += labels.iter().map(|(key, text)| (key.len() + text.len()) as u64).sum::<u64>();
            limit.check(bytes)?;
            traces.push(Trace { value, labels, stack });
        }
    }
    let names = (0..nodes.len() as u32).map(|node| nodes.name(node)).collect();
    Ok(Traces { header, traces, without_stack, names, stacks })
}

/// The nodes of a stack, leaf first, and whether each was inlined into the next.
fn frames(dictionary: &Dictionary, nodes: &Frames, sample: &SampleRef<'_>) -> Vec<(u32, bool)> {
    let of_location = |location: &crate::model::LocationId| {
        let of_location = nodes.of(*location);
        let is_inlined = move |at| at + 1 < of_location.len();
        of_location.iter().enumerate().map(move |(at, node)| (*node, is_inlined(at)))
    };
    dictionary.stack(sample.stack).iter().flat_map(of_location).collect()
}

/// The labels of a sample as pprof prints them: by key, its values separated by spaces, those with texts first.
fn printed(
    dictionary: &Dictionary,
    sample: &SampleRef<'_>,
    units: &Units,
) -> Vec<(String, String)> {
    let mut by_key: BTreeMap<(bool, &str), String> = BTreeMap::new();
    let labels = labels(dictionary, sample);
    for label in &labels {
        let (is_number, text) = match &label.value {
            LabelValue::Text(text) => (false, text.to_string()),
            LabelValue::Number(number, _) => {
                (true, units::label((*number).into(), units.unit(label.key), units::AUTO))
            }
        };
        let texts = by_key.entry((is_number, label.key)).or_default();
        texts.extend((!texts.is_empty()).then_some(' '));
        texts.push_str(&text);
    }
    let mut printed: Vec<_> = by_key.into_iter().collect();
    // pprof sorts the printed lines, in which keys are padded.
    printed.sort_unstable_by_key(|((is_number, key), _)| (*is_number, format!("{key:>10}")));
    printed.into_iter().map(|((_, key), text)| (key.to_owned(), text)).collect()
}
