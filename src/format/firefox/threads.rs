//! Groups the samples of a sample type by process and thread, and sorts them by time.
//!
//! The attributes `thread.name` and `thread.id` together identify a thread. Samples with neither belong to
//! one thread. Several columns of one resource share its process.
//!
//! ```text
//! resource 0 ─► process, pid 42 ─► thread "main", 42      samples by time, those without one first
//!                               └► thread "gc", 43
//! ```

use crate::format::assembly::Numbering;
use crate::format::tool_losses::Column;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::{Attributes, Profiles, SampleRef};

/// A process: a resource and its threads.
pub(super) struct Process<'a> {
    /// The executable, else the service, else the command, else `process`.
    pub(super) name: String,
    /// `process.pid`, or a made-up number, because the viewer requires one.
    pub(super) pid: u32,
    /// Threads in order of first appearance.
    pub(super) threads: Vec<Thread<'a>>,
}

/// A thread, and its samples.
pub(super) struct Thread<'a> {
    pub(super) name: String,
    /// `None` if `thread.id` is missing or not a number of 32 bits.
    pub(super) id: Option<u32>,
    /// One entry for each observation: a sample with three timestamps has three.
    pub(super) samples: Vec<Sample<'a>>,
}

/// An observation of a sample.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    /// The time in nanoseconds since 1970, or `None` without a timestamp.
    pub(super) at: Option<u64>,
    /// A stack of the dictionary. Each thread creates a handle for it.
    pub(super) stack: StackId,
    /// The value in the unit of the sample type.
    pub(super) value: i64,
    /// The link and the attributes, for the marker.
    pub(super) link: LinkId,
    pub(super) attributes: &'a [AttributeId],
}

/// Returns the processes of some columns, one for each resource.
///
/// Takes linear time, except for the sort by time. Holds all samples in memory, because the viewer requires
/// the samples of a thread together and in order.
pub(super) fn processes<'a>(profiles: &Profiles, columns: &[Column<'a>]) -> Vec<Process<'a>> {
    let (mut numbering, mut thread_numbering) = (Numbering::default(), Numbering::default());
    let mut processes: Vec<Process<'a>> = Vec::new();
    // Maps the number of each thread to its index within its process.
    let mut within: Vec<usize> = Vec::new();
    for column in columns {
        let (number, is_new) = numbering.number(column.resource);
        if is_new {
            processes.push(process(profiles, column.resource));
        }
        let process = &mut processes[number];
        for sample in column.profile.samples.iter() {
            let attributes = profiles.dictionary.resolve(sample.attributes);
            let name = attributes.get_str("thread.name").unwrap_or_default();
            let id = attributes.get("thread.id").map(|id| id.to_string());
            let (thread, is_new) = thread_numbering.number((number, name, id.clone()));
            if is_new {
                within.push(process.threads.len());
                process.threads.push(Thread {
                    name: name.to_owned(),
                    id: id.as_deref().and_then(thread_id),
                    samples: Vec::new(),
                });
            }
            let samples = &mut process.threads[within[thread]].samples;
            let observed = column.profile.observations(sample, column.column);
            let SampleRef { stack, link, attributes, .. } = sample;
            let sample = |(at, value)| Sample { at, stack, value, link, attributes };
            samples.extend(observed.map(sample));
        }
    }
    for thread in processes.iter_mut().flat_map(|process| &mut process.threads) {
        thread.samples.sort_by_key(|sample| sample.at);
    }
    processes
}

/// Parses the id of a thread, which the viewer limits to 32 bits.
pub(super) fn thread_id(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// Returns the keys of the resource attributes that the process shows.
pub(super) fn process_attribute_keys(attributes: &Attributes) -> [Option<&'static str>; 2] {
    [pid(attributes).map(|_| "process.pid"), name(attributes).map(|(key, _)| key)]
}

/// Returns the name of a process and the attribute it comes from.
fn name<'a>(attributes: &Attributes<'a>) -> Option<(&'static str, &'a str)> {
    let keys = ["process.executable.name", "service.name", "process.command"];
    keys.into_iter().find_map(|key| Some((key, attributes.get_str(key)?)))
}

/// Returns `None` if the pid is missing or not a number of 32 bits.
fn pid(attributes: &Attributes) -> Option<u32> {
    u32::try_from(attributes.get("process.pid")?.as_i64()?).ok()
}

/// Returns the process of a resource.
///
/// Replaces a missing pid by the number of the resource.
fn process<'a>(profiles: &Profiles, resource: usize) -> Process<'a> {
    let attributes = profiles.resources.get(resource).map(|of| &of.resource.attributes[..]);
    let attributes = profiles.dictionary.resolve(attributes.unwrap_or_default());
    Process {
        name: name(&attributes).map_or("process", |(_, name)| name).to_owned(),
        pid: pid(&attributes).unwrap_or(resource as u32 + 1),
        threads: Vec::new(),
    }
}
