//! Reads speedscope's files.
//!
//! ```text
//! shared.frames     [main, serve, read]           a location each: name, file, line, column
//! sampled           samples [[0,1],[0,1,2]]       stacks of frames, root first; weights [5, 1]
//! evented           O main 0, O serve 2, C serve 7, C main 9
//!                   ─► main 2, main;serve 5, main 2
//! ```
//!
//! JSON members have no fixed order, so the reader first finds the positions of `shared` and `profiles`. Each
//! profile has one sample type, which follows from its unit ([`UNITS`]). Values are scaled to the unit of the
//! model. Equal samples are not added up, because their order is part of the measurement.

use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, FrameName, ResourceGroup, Rows};
use crate::format::json::lexer::Lexer;
use crate::format::json::object::{List, int, pick, scaled, string};
use crate::format::speedscope::{PROFILE_NAME, SAMPLE_TYPE, UNITS, scale, thread_in};
use crate::losses::{BAD_LINE, FRAME_UNCLOSED, LEFT_OUT, TIME_NO_ANCHOR, VALUE_ROUNDED};
use crate::model::Profiles;
use crate::model::id::{AttributeId, LinkId, LocationId};
use crate::model::profile::Profile;
use crate::model::value::Value;
use crate::read_context::ReadContext;
use crate::tables::rows::samples::Identity;

/// The members of a file. All but the first three are dropped; `NOTHING` has the values of those without
/// information.
const MEMBERS: [&str; 5] = ["shared", "profiles", "activeProfileIndex", "name", "exporter"];
const NOTHING: [&str; 2] = ["\"\"", "\"otlp-profiles\""];

/// Reads a file.
///
/// # Errors
///
/// The text is not JSON, `shared` or `profiles` is missing, an index is out of range, or the numbers of
/// weights and samples differ. With repairs, a broken event is a finding.
pub(crate) fn read(payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
    let nesting = cx.limits().max_nesting;
    let mut text = Lexer::new(payload)?;
    let [shared, profiles, active, rest @ ..] = pick(&mut text, MEMBERS, nesting)?;
    text.end()?;
    let (Some(mut shared), Some(profiles)) = (shared, profiles) else {
        return Err(Error::malformed("the keys \"shared\" and \"profiles\" are missing"));
    };
    for ((key, member), nothing) in MEMBERS[3..].iter().zip(rest).zip(NOTHING) {
        if member.is_some_and(|mut member| !member.word(nothing)) {
            let what = || format!("dropped the {key} of the file");
            cx.note(LEFT_OUT, || (*key).to_owned(), what);
        }
    }
    let mut reader = Reader { assembly: Assembly::new(cx), frames: Vec::new(), nesting };
    let [frames] = pick(&mut shared, ["frames"], nesting)?;
    if let Some(frames) = frames {
        let mut frames = List::of(frames)?;
        while frames.another()? {
            let row = frames.row - 1;
            reader
                .frame(&mut frames.text, cx)
                .map_err(|e| e.within_row("frames", row).within("shared"))?;
        }
    }
    let mut list = List::of(profiles)?;
    let mut group = ResourceGroup::default();
    while list.another()? {
        let row = list.row - 1;
        let profile = reader.profile(&mut list.text, cx);
        group.profiles.push(profile.map_err(|error| error.within_row("profiles", row))?);
    }
    if let Some(mut active) = active {
        let active = int(&mut active, "a number")?;
        let shown = usize::try_from(active).ok().and_then(|row| group.profiles.get(row));
        match (shown.map(|of| of.sample_types[0]), &mut group.profiles[..]) {
            // Readers show the type of the first profile, unless it names another.
            (Some(shown), [first, ..]) if shown != first.sample_types[0] => {
                first.default_sample_type = shown.name;
            }
            _ if active != 0 => {
                let what = || "dropped the activeProfileIndex of the file".to_owned();
                cx.note(LEFT_OUT, || "activeProfileIndex".to_owned(), what);
            }
            _ => {}
        }
    }
    reader.assembly.charge(cx)?;
    Ok(reader.assembly.finish(vec![group]))
}

/// Reads a file. All profiles share its frames.
struct Reader {
    /// The dictionary of all profiles.
    assembly: Assembly,
    /// The location of each frame of the file.
    frames: Vec<LocationId>,
    /// The nesting limit of skipped values.
    nesting: u64,
}

impl Reader {
    /// Reads a frame. Equal frames share a location.
    ///
    /// # Errors
    ///
    /// The name is not a string, or a number is not an integer.
    fn frame(&mut self, text: &mut Lexer, cx: &mut ReadContext) -> Result<()> {
        let [name, file, line, col] = pick(text, ["name", "file", "line", "col"], self.nesting)?;
        let [name, file] = [string(name, "a name")?, string(file, "a file")?];
        let number =
            |text: Option<Lexer>| text.map_or(Ok(0), |mut text| int(&mut text, "a number"));
        let [line, column] = [number(line)?, number(col)?];
        let named = FrameName { name: name.as_bytes(), file: file.as_bytes(), line, column };
        let line = self.assembly.line(&named)?;
        let location = self.assembly.location(Default::default(), &[line], "")?;
        self.assembly.charge(cx)?;
        cx.budget.push(&mut self.frames, location)
    }

    /// Reads a profile. Its sample type is the first one of the caller (`SourceOptions::sample_types`), or
    /// else follows from the unit. Values are scaled to that unit. Only a unit of time determines a duration.
    ///
    /// # Errors
    ///
    /// The unit is not one of speedscope's, or the type is neither `sampled` nor `evented`.
    fn profile(&mut self, text: &mut Lexer, cx: &mut ReadContext) -> Result<Profile> {
        let keys = [
            "type",
            "name",
            "unit",
            "startValue",
            "endValue",
            "samples",
            "weights",
            "events",
            SAMPLE_TYPE,
        ];
        let [kind, name, unit, start, end, samples, weights, events, sample_type] =
            pick(text, keys, self.nesting)?;
        let (kind, name) = (string(kind, "a type")?, string(name, "a name")?);
        let sample_type =
            sample_type.map(|text| string(Some(text), "a sample type")).transpose()?;
        let unit = match unit {
            None => "none".to_owned(),
            unit => string(unit, "a unit")?,
        };
        let Some(measure) = UNITS.iter().find(|(theirs, ..)| *theirs == unit) else {
            return Err(Error::malformed(format!("speedscope has no unit {unit:?}")).within("unit"));
        };
        let &(_, own, own_unit, nanos) = measure;
        let mut profile = Profile::default();
        let given = cx.source.sample_types.first().cloned();
        let scale = given.as_ref().map_or(Ok(nanos), |(_, unit)| scale(measure, unit))?;
        let own = sample_type.as_deref().unwrap_or(own);
        let own_type = given.as_ref().map_or((own, own_unit), |(name, unit)| (name, unit));
        profile.sample_types.push(self.assembly.value_type(own_type)?);
        let mut bound = |text: Option<Lexer>| {
            text.map_or(Ok(0), |mut text| number(&mut text, scale, "value", cx))
        };
        let [start, end] = [bound(start)?, bound(end)?];
        if start != 0 {
            let message = || format!("dropped the start value {start}");
            cx.note(LEFT_OUT, || "profiles.startValue".to_owned(), message);
        }
        if own_unit == "nanoseconds" {
            let duration = (i128::from(end) - i128::from(start)).max(0);
            profile.duration_nanos = duration * i128::from(nanos / scale);
        }
        if !name.is_empty() {
            profile.attributes.push(self.assembly.text_attribute(PROFILE_NAME, &name)?);
        }
        let mut samples_of =
            ProfileSamples { rows: Rows::apart(), attributes: self.thread(&name)?, scale };
        self.samples(
            &mut samples_of,
            kind.as_str(),
            [samples, weights, events],
            (end, own_unit),
            cx,
        )?;
        profile.samples = samples_of.rows.samples;
        Ok(profile)
    }

    /// Reads the samples of a profile, or the events that open and close frames.
    fn samples(
        &mut self,
        group: &mut ProfileSamples,
        kind: &str,
        [samples, weights, events]: [Option<Lexer>; 3],
        (end, own_unit): (i64, &str),
        cx: &mut ReadContext,
    ) -> Result<()> {
        match (kind, samples, events) {
            ("sampled", Some(samples), _) => self.sampled(group, samples, weights, cx)?,
            ("evented", _, Some(events)) => {
                if own_unit == "nanoseconds" {
                    cx.note(
                        TIME_NO_ANCHOR,
                        || "profiles.events".to_owned(),
                        || "dropped the times: the start of the profile is unknown".to_owned(),
                    );
                }
                self.evented(group, events, end, cx)?;
            }
            _ => {
                return Err(Error::malformed(format!(
                    "unknown profile type {kind:?}: expected \"sampled\" or \"evented\""
                )));
            }
        }
        Ok(())
    }

    /// Returns the attributes of the thread that py-spy names, for every sample of the profile.
    fn thread(&mut self, name: &str) -> Result<Vec<AttributeId>> {
        let Some((id, name)) = thread_in(name) else { return Ok(Vec::new()) };
        let mut attributes = vec![self.assembly.attribute(b"thread.id", Value::Int(id))?];
        if !name.is_empty() {
            attributes.push(self.assembly.text_attribute("thread.name", name)?);
        }
        attributes.sort_unstable();
        Ok(attributes)
    }

    /// Reads a sampled profile. Without weights, each sample counts one unit of the file.
    ///
    /// Reads weights and samples in parallel, so it stores neither.
    ///
    /// # Errors
    ///
    /// The numbers of weights and samples differ, a stack exceeds `max_stack_depth`, or an index is out of
    /// range.
    fn sampled(
        &mut self,
        group: &mut ProfileSamples,
        samples: Lexer,
        weights: Option<Lexer>,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut samples = List::of(samples)?;
        let mut weights = weights.map(List::of).transpose()?;
        let mut stack = Vec::new();
        while samples.another()? {
            let row = samples.row - 1;
            let mut frames = List::of(samples.text.clone())?;
            stack.clear();
            while frames.another()? {
                let at = frames.text.rest();
                let frame = int(&mut frames.text, "an index")?;
                stack.push(self.location(frame).map_err(|e| e.at(at).within_row("samples", row))?);
                cx.check_depth(stack.len())?;
            }
            samples.text = frames.text;
            let value = match &mut weights {
                None => group.scale,
                Some(weights) => {
                    if !weights.another()? {
                        let message = format!("sample {row} has no weight");
                        return Err(Error::malformed(message).within("weights"));
                    }
                    number(&mut weights.text, group.scale, "the weight", cx)?
                }
            };
            self.add(group, &stack, value, cx)?;
        }
        if weights.map_or(Ok(false), |mut weights| weights.another())? {
            let message = format!("the profile has {} samples and more weights", samples.row);
            return Err(Error::malformed(message).within("weights"));
        }
        Ok(())
    }

    /// Reads an evented profile. The time between two events is the value of the open stack.
    ///
    /// Each event costs the depth of its stack: nested frames produce stacks of all depths, which the budget
    /// limits.
    fn evented(
        &mut self,
        group: &mut ProfileSamples,
        events: Lexer,
        end: i64,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let mut events = List::of(events)?;
        let (mut stack, mut open, mut last) = (Vec::new(), Vec::new(), None);
        // Frames opened since time last advanced.
        let mut fresh = 0_usize;
        while events.another()? {
            let row = events.row - 1;
            let event = pick(&mut events.text, ["type", "at", "frame"], self.nesting);
            let innermost = open.last().copied();
            let step = event.and_then(|event| self.event(event, group.scale, last, innermost, cx));
            let placed = |error: Error| error.within_row("events", row);
            let (is_open, at, frame) = match step.map_err(placed) {
                Ok(step) => step,
                Err(error) => {
                    cx.repair(BAD_LINE, error)?;
                    continue;
                }
            };
            let passed = self.passed(last, at).map_err(placed)?;
            if passed > 0 && !stack.is_empty() {
                self.add(group, &stack, passed, cx).map_err(placed)?;
            }
            last = Some(at);
            fresh = if passed > 0 { 0 } else { fresh };
            if is_open {
                fresh += 1;
                stack.push(self.location(frame).map_err(placed)?);
                open.push(frame);
                cx.check_depth(stack.len()).map_err(placed)?;
            } else {
                (_, _) = (stack.pop(), open.pop());
                if fresh > 0 {
                    let message = || format!("dropped frame {frame}: it has a duration of 0");
                    cx.note(LEFT_OUT, || "profiles.events".to_owned(), message);
                }
                fresh = fresh.saturating_sub(1);
            }
        }
        // Frames that were never closed end with the profile, as in a truncated recording.
        for frame in &open {
            let message = || format!("closed frame {frame} at the end of the profile");
            cx.note(FRAME_UNCLOSED, || "profiles.events".to_owned(), message);
        }
        let passed = self.passed(last, end).unwrap_or_default();
        if passed > 0 && !stack.is_empty() {
            self.add(group, &stack, passed, cx)?;
        }
        Ok(())
    }

    /// Returns the time between two events, or 0 before the first.
    ///
    /// # Errors
    ///
    /// The difference exceeds 64 bits.
    fn passed(&self, last: Option<i64>, at: i64) -> Result<i64> {
        let passed = at.checked_sub(last.unwrap_or(at));
        passed.ok_or_else(|| Error::malformed("the time between two events overflows 64 bits"))
    }

    /// Returns whether an event opens a frame, its time, and the frame.
    ///
    /// `last` is the time of the previous event, `open` the innermost open frame.
    ///
    /// # Errors
    ///
    /// The time decreases, the closed frame is not the innermost, or the type is unknown.
    fn event(
        &self,
        [kind, at, frame]: [Option<Lexer>; 3],
        scale: i64,
        last: Option<i64>,
        open: Option<i64>,
        cx: &mut ReadContext,
    ) -> Result<(bool, i64, i64)> {
        let (Some(mut at), Some(mut frame)) = (at, frame) else {
            return Err(Error::malformed("an event needs the keys \"type\", \"frame\" and \"at\""));
        };
        let at = number(&mut at, scale, "the time", cx)?;
        let frame = int(&mut frame, "an index")?;
        if last.is_some_and(|last| at < last) {
            return Err(Error::malformed(format!(
                "the time {at} is earlier than the event before it"
            )));
        }
        match string(kind, "a type")?.as_str() {
            "O" => self.location(frame).map(|_| (true, at, frame)),
            "C" if open == Some(frame) => Ok((false, at, frame)),
            "C" => Err(Error::malformed(format!(
                "the event closes frame {frame}, which is not the innermost open frame"
            ))),
            kind => Err(Error::malformed(format!("the event type {kind:?} is not O or C"))),
        }
    }

    /// Returns the location of a frame by its index in the file.
    ///
    /// # Errors
    ///
    /// The index is out of range.
    fn location(&self, frame: i64) -> Result<LocationId> {
        let found = usize::try_from(frame).ok().and_then(|frame| self.frames.get(frame));
        found.copied().ok_or_else(|| {
            let frames = self.frames.len();
            Error::malformed(format!("index {frame} is out of range: there are {frames} frames"))
        })
    }

    /// Adds a sample of a stack, root first, which it reverses for the model.
    fn add(
        &mut self,
        group: &mut ProfileSamples,
        stack: &[LocationId],
        value: i64,
        cx: &mut ReadContext,
    ) -> Result<()> {
        let leaf_first: Vec<LocationId> = stack.iter().rev().copied().collect();
        let stack = self.assembly.stack(&leaf_first)?;
        self.assembly.charge(cx)?;
        let identity = Identity { stack, attributes: &group.attributes, link: LinkId::NONE };
        self.assembly.sample(&mut group.rows, identity, (&[value], &[]), cx)
    }
}

/// The samples of a profile, and their common data.
struct ProfileSamples {
    /// Separate samples in the order of the file.
    rows: Rows,
    /// The sorted attributes of the thread in the name of the profile.
    attributes: Vec<AttributeId>,
    /// The factor from the file's unit to that of the sample type.
    scale: i64,
}

/// Reads a number and multiplies it by `scale`. Notes if the result was rounded.
///
/// For example, seconds with ten decimals are not whole nanoseconds.
fn number(text: &mut Lexer, scale: i64, what: &str, cx: &mut ReadContext) -> Result<i64> {
    let (number, is_rounded) = scaled(text, scale, what)?;
    if is_rounded {
        let message = || format!("{what} was rounded to {number}");
        cx.note(VALUE_ROUNDED, || "profiles".to_owned(), message);
    }
    Ok(number)
}
