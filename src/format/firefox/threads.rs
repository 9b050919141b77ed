//! The samples of a sample type by process and thread, in the order of their times.
//!
//! A thread is what `thread.name` and `thread.id` of samples say together; samples that say neither
//! are of one thread. Several columns of one resource share its process.
//!
//! ```text
//! resource 0 ─► process, pid 42 ─► thread "main", 42      samples by time, those without one first
//!                               └► thread "gc", 43
//! ```

use crate::format::assembly::Met;
use crate::format::view::Column;
use crate::model::id::{AttributeId, LinkId, StackId};
use crate::model::{Attributes, Profiles, SampleRef};

/// A process, by its resource, and its threads.
pub(super) struct Process<'a> {
    /// The executable, else the service, else the command; `process` where the resource says none.
    pub(super) name: String,
    /// `process.pid`, else a number of its own: the viewer needs one.
    pub(super) pid: u32,
    /// In the order in which they were met.
    pub(super) threads: Vec<Thread<'a>>,
}

/// A thread, and its samples.
pub(super) struct Thread<'a> {
    pub(super) name: String,
    /// `None` where `thread.id` is missing or no number of 32 bits.
    pub(super) id: Option<u32>,
    /// One for each observation: a sample of three timestamps is three here.
    pub(super) samples: Vec<Sample<'a>>,
}

/// A sample: when it was, in nanoseconds since 1970, if that is known.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a> {
    /// None where the sample has no timestamp.
    pub(super) at: Option<u64>,
    /// A row of the dictionary; each thread makes its own of it.
    pub(super) stack: StackId,
    /// In the unit of the sample type.
    pub(super) value: i64,
    /// For the marker, as are the attributes.
    pub(super) link: LinkId,
    pub(super) attributes: &'a [AttributeId],
}

/// The processes of some columns: one for each resource.
///
/// Linear in the samples, but for the sort by time. All are in memory at once, as the viewer wants
/// a thread's samples together and in order.
pub(super) fn processes<'a>(profiles: &Profiles, columns: &[Column<'a>]) -> Vec<Process<'a>> {
    let (mut met, mut threads_met) = (Met::default(), Met::default());
    let mut processes: Vec<Process<'a>> = Vec::new();
    // By the number of each thread met: its number within its process.
    let mut within: Vec<usize> = Vec::new();
    for column in columns {
        let (number, is_new) = met.number(column.resource);
        if is_new {
            processes.push(process(profiles, column.resource));
        }
        let process = &mut processes[number];
        for sample in column.profile.samples.iter() {
            let attributes = profiles.dictionary.resolve(sample.attributes);
            let name = attributes.get_str("thread.name").unwrap_or_default();
            let id = attributes.get("thread.id").map(|id| id.to_string());
            let (thread, is_new) = threads_met.number((number, name, id.clone()));
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

/// The id of a thread as the viewer has it, a number of 32 bits.
pub(super) fn thread_id(said: &str) -> Option<u32> {
    said.parse().ok()
}

/// The keys of those attributes of a resource that its process says.
pub(super) fn said_of_process(attributes: &Attributes) -> [Option<&'static str>; 2] {
    [pid(attributes).map(|_| "process.pid"), name(attributes).map(|(key, _)| key)]
}

/// What a process is called, and the attribute that says it.
fn name<'a>(attributes: &Attributes<'a>) -> Option<(&'static str, &'a str)> {
    let keys = ["process.executable.name", "service.name", "process.command"];
    keys.into_iter().find_map(|key| Some((key, attributes.get_str(key)?)))
}

/// `None` for one that is no number of 32 bits, too.
fn pid(attributes: &Attributes) -> Option<u32> {
    u32::try_from(attributes.get("process.pid")?.as_i64()?).ok()
}

/// What a resource says of its process.
///
/// A pid that is missing is replaced by the number of the resource.
fn process<'a>(profiles: &Profiles, resource: usize) -> Process<'a> {
    let attributes = profiles.resources.get(resource).map(|of| &of.resource.attributes[..]);
    let attributes = profiles.dictionary.resolve(attributes.unwrap_or_default());
    Process {
        name: name(&attributes).map_or("process", |(_, name)| name).to_owned(),
        pid: pid(&attributes).unwrap_or(resource as u32 + 1),
        threads: Vec::new(),
    }
}
