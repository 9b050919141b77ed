//! Adds reports of the `pprof` crate.
//!
//! That crate stores a report as a map from stacks to counts in random order. So the entries are sorted by their
//! whole content before they are added. Functions inlined at one address are one location.

use std::path::PathBuf;

use pprof::{Frames, Report, Symbol as Native};

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::parts::{NewFunction, NewLine, NewLocation};
use crate::builder::stack::leaf_first;
use crate::model::id::LocationId;
use crate::model::profile::Profile;

impl Builder {
    /// Adds a report of the `pprof` crate as a profile of `samples` and `cpu`: how often each stack was seen, and
    /// the corresponding time.
    ///
    /// Unlike that crate's own encoder, it keeps inlining, functions of equal names in several files, lines,
    /// addresses of functions, and the thread id in addition to the thread name. Equal reports give equal profiles.
    ///
    /// ```no_run
    /// # fn work() {}
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let guard = pprof::ProfilerGuard::new(99)?;
    /// work();
    /// let mut builder = otlp_profiles::Builder::new();
    /// builder.report(&guard.report().build()?);
    /// let profiles = builder.finish()?;
    /// # Ok(()) }
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "pprof")))]
    pub fn report(&mut self, report: &Report) -> Key<Profile> {
        let period = 1_000_000_000 / i64::from(report.timing.frequency).max(1);
        let profile = self.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
        self.profile_mut(profile)
            .time(report.timing.start_time)
            .duration(report.timing.duration)
            .period("cpu", "nanoseconds", period);
        let mut entries: Vec<_> = report.data.iter().collect();
        // Cached, because each key is a copy of the stack.
        entries.sort_by_cached_key(|(frames, _)| content(frames));
        for (frames, &count) in entries {
            self.report_entry(profile, frames, count as i64, period);
        }
        profile
    }

    /// Adds an entry of a report as a sample.
    fn report_entry(&mut self, profile: Key<Profile>, frames: &Frames, count: i64, period: i64) {
        let locations: Vec<_> = frames.frames.iter().map(|symbols| self.symbols(symbols)).collect();
        let sample = self
            .sample(profile, leaf_first(locations))
            .values([count, count.saturating_mul(period)])
            .attr("thread.id", frames.thread_id);
        if !frames.thread_name.is_empty() {
            sample.attr("thread.name", &frames.thread_name);
        }
    }

    /// Returns the location of the functions inlined at one address, the innermost first.
    ///
    /// Its address is that of the outermost function with an address.
    fn symbols(&mut self, symbols: &[Native]) -> Key<LocationId> {
        let lines: Vec<_> = symbols.iter().map(|symbol| self.symbol(symbol)).collect();
        let address = symbols.iter().rev().find_map(address).unwrap_or(0);
        self.location(NewLocation::new().address(Key::NONE, address).lines(&lines))
    }

    /// Returns the line of a symbol. A symbol without a name keeps its file and line, so that its location stays
    /// distinct.
    fn symbol(&mut self, symbol: &Native) -> NewLine {
        let (name, system_name) = match symbol.name {
            Some(_) => (symbol.name(), symbol.sys_name()),
            None => Default::default(),
        };
        let file = symbol.filename.as_ref().map(|file| file.to_string_lossy()).unwrap_or_default();
        let function = NewFunction::new(name).system_name(system_name).filename(file);
        NewLine::new(self.function(function)).line(symbol.lineno.unwrap_or(0))
    }
}

/// Returns the address of a symbol.
fn address(symbol: &Native) -> Option<u64> {
    symbol.addr.map(|address| address.addr() as u64)
}

/// The content of a symbol.
type Content = (Option<Vec<u8>>, Option<PathBuf>, Option<u32>, Option<u64>);

/// Returns the content of an entry, as a sort key.
fn content(frames: &Frames) -> (u64, String, Vec<Vec<Content>>) {
    let symbol = |symbol: &Native| {
        (symbol.name.clone(), symbol.filename.clone(), symbol.lineno, address(symbol))
    };
    let symbols = |symbols: &Vec<Native>| symbols.iter().map(symbol).collect();
    (frames.thread_id, frames.thread_name.clone(), frames.frames.iter().map(symbols).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::{Duration, UNIX_EPOCH};

    use pprof::Report;

    use super::*;
    use crate::model::value::Value;

    fn native(name: &[u8], file: &str, line: u32) -> Native {
        let filename = Some(PathBuf::from(file));
        Native { name: Some(name.to_vec()), addr: None, lineno: Some(line), filename }
    }

    fn entry(thread_id: u64, seconds: u64) -> Frames {
        let inlined = vec![native(b"_ZN3foo3barE", "a.rs", 3), native(b"main", "main.rs", 9)];
        Frames {
            frames: vec![inlined, vec![native(b"start", "b.rs", 1)]],
            thread_name: "worker".into(),
            thread_id,
            sample_timestamp: UNIX_EPOCH + Duration::from_secs(seconds),
        }
    }

    /// Two entries of one stack that were first seen at different times, and one of another thread.
    fn report() -> Report {
        let data = HashMap::from([(entry(7, 1), 2), (entry(7, 2), 3), (entry(8, 1), 1)]);
        let mut report = Report { data, timing: Default::default() };
        report.timing.frequency = 100;
        report.timing.start_time = UNIX_EPOCH + Duration::from_secs(60);
        report.timing.duration = Duration::from_secs(5);
        report
    }

    #[test]
    fn a_report_keeps_what_its_own_encoder_loses() {
        let mut builder = Builder::new();
        builder.report(&report());
        let profiles = builder.finish().unwrap();
        let dictionary = profiles.dictionary();
        let profile = profiles.iter().next().unwrap();
        assert_eq!(
            (profile.time_unix_nano(), profile.duration_nanos()),
            (60_000_000_000, 5_000_000_000)
        );
        assert_eq!(profile.period(), 10_000_000);
        assert_eq!(profile.samples().len(), 2);

        let sample = profile.samples().get(0).unwrap();
        assert_eq!(sample.values, [5, 50_000_000]);
        let thread = dictionary.attribute(sample.attributes[0]).unwrap();
        assert_eq!((dictionary.text(thread.key), &thread.value), ("thread.id", &Value::Int(7)));

        let stack = dictionary.stack(sample.stack);
        let lines = dictionary.locations().lines(stack[0]);
        let found: Vec<_> = lines
            .iter()
            .map(|line| {
                let function = dictionary.function(line.function);
                let text = |id| dictionary.text(id);
                (
                    text(function.name),
                    text(function.system_name),
                    text(function.filename),
                    line.line,
                )
            })
            .collect();
        assert_eq!(
            found,
            [("foo::bar", "_ZN3foo3barE", "a.rs", 3), ("main", "main", "main.rs", 9)]
        );
    }

    #[test]
    fn equal_reports_give_equal_profiles() {
        let made = || {
            let mut builder = Builder::new();
            builder.report(&report());
            builder.finish().unwrap()
        };
        assert_eq!(made(), made());
    }
}
