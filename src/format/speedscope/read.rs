//! Reading speedscope's files.
//!
//! ```text
//! shared.frames     [main, serve, read]           each a location: name, file, line, column
//! sampled           samples [[0,1],[0,1,2]]       stacks of frames, the root first; weights [5, 1]
//! evented           O main 0, O serve 2, C serve 7, C main 9
//!                   ─► main 2, main;serve 5, main 2
//! ```
//!
//! Members of JSON come in any order, so the places of `shared` and `profiles` are found first and
//! read afterwards. Each profile has one sample type, of the unit that speedscope names
//! ([`UNITS`]); values are brought to the model's unit by the unit's scale. Samples stay apart:
//! their order is what was measured.

use crate::builder::samples::Identity;
use crate::error::{Error, Result};
use crate::format::assembly::{Assembly, Group, Named, Rows};
use crate::format::intake::Intake;
use crate::format::json::object::{List, int, pick, scaled, string};
use crate::format::json::text::Text;
use crate::format::losses::{BAD_LINE, FRAME_UNCLOSED, LEFT_OUT, TIME_NO_ANCHOR, VALUE_ROUNDED};
use crate::format::speedscope::{PROFILE_NAME, UNITS, scale, thread_in};
use crate::model::Profiles;
use crate::model::id::{AttributeId, LinkId, LocationId};
use crate::model::profile::Profile;
use crate::model::value::Value;

/// What a file has; all but the first two is left out. Then what each of those says where it says nothing.
const MEMBERS: [&str; 5] = ["shared", "profiles", "name", "exporter", "activeProfileIndex"];
const NOTHING: [&str; 3] = ["\"\"", "\"otlp-profiles\"", "0"];

/// Reads a file.
///
/// # Errors
///
/// What is no JSON or lacks `shared` or `profiles`; an index past the frames; weights that are not
/// as many as samples. A broken event is a finding where repairs are asked for.
pub(crate) fn read(payload: &[u8], intake: &mut Intake) -> Result<Profiles> {
    let nesting = intake.limits().max_nesting;
    let mut text = Text::new(payload)?;
    let [shared, profiles, rest @ ..] = pick(&mut text, MEMBERS, nesting)?;
    text.end()?;
    let (Some(mut shared), Some(profiles)) = (shared, profiles) else {
        return Err(Error::malformed("the keys \"shared\" and \"profiles\" are missing"));
    };
    for ((key, said), nothing) in MEMBERS[2..].iter().zip(rest).zip(NOTHING) {
        if said.is_some_and(|mut said| !said.word(nothing)) {
            let what = || format!("dropped the {key} of the file");
            intake.note(LEFT_OUT, || (*key).to_owned(), what);
        }
    }
    let mut reader = Reader { assembly: Assembly::new(intake), frames: Vec::new(), nesting };
    let [frames] = pick(&mut shared, ["frames"], nesting)?;
    if let Some(frames) = frames {
        let mut frames = List::of(frames)?;
        while frames.another()? {
            let row = frames.row - 1;
            reader
                .frame(&mut frames.text, intake)
                .map_err(|e| e.within_row("frames", row).within("shared"))?;
        }
    }
    let mut list = List::of(profiles)?;
    let mut group = Group::default();
    while list.another()? {
        let row = list.row - 1;
        let profile = reader.profile(&mut list.text, intake);
        group.profiles.push(profile.map_err(|error| error.within_row("profiles", row))?);
    }
    reader.assembly.settle(intake)?;
    Ok(reader.assembly.finish(vec![group]))
}

/// A file on its way: frames are shared by all profiles of it.
struct Reader {
    /// The dictionary that all profiles share.
    assembly: Assembly,
    /// By the file's index.
    frames: Vec<LocationId>,
    /// How deep values that are passed over may nest.
    nesting: u64,
}

impl Reader {
    /// Equal frames of the file are one location; both indices lead to it.
    ///
    /// # Errors
    ///
    /// A frame without a name or with one that is no text; numbers that are not whole.
    fn frame(&mut self, text: &mut Text, intake: &mut Intake) -> Result<()> {
        let [name, file, line, col] = pick(text, ["name", "file", "line", "col"], self.nesting)?;
        let [name, file] = [string(name, "a name")?, string(file, "a file")?];
        let number = |text: Option<Text>| text.map_or(Ok(0), |mut text| int(&mut text, "a number"));
        let [line, column] = [number(line)?, number(col)?];
        let named = Named { name: name.as_bytes(), file: file.as_bytes(), line, column };
        let line = self.assembly.line(&named)?;
        let location = self.assembly.location(Default::default(), &[line], "")?;
        self.assembly.settle(intake)?;
        intake.budget.push(&mut self.frames, location)
    }

    /// The sample type is the caller's (`SourceOptions::sample_types`) if one was given, else by
    /// the unit. A duration is known only where the unit is a time.
    ///
    /// Of the caller's types the first is taken, as a profile has one value a sample; values are brought to
    /// its unit.
    ///
    /// # Errors
    ///
    /// A unit that speedscope does not have, a type that is neither `sampled` nor `evented`.
    fn profile(&mut self, text: &mut Text, intake: &mut Intake) -> Result<Profile> {
        let keys =
            ["type", "name", "unit", "startValue", "endValue", "samples", "weights", "events"];
        let [kind, name, unit, start, end, samples, weights, events] =
            pick(text, keys, self.nesting)?;
        let (kind, name) = (string(kind, "a type")?, string(name, "a name")?);
        let unit = match unit {
            None => "none".to_owned(),
            unit => string(unit, "a unit")?,
        };
        let Some(measure) = UNITS.iter().find(|(theirs, ..)| *theirs == unit) else {
            return Err(Error::malformed(format!("speedscope has no unit {unit:?}")).within("unit"));
        };
        let &(_, own, own_unit, nanos) = measure;
        let mut profile = Profile::default();
        let given = intake.source.sample_types.first().cloned();
        let scale = given.as_ref().map_or(Ok(nanos), |(_, unit)| scale(measure, unit))?;
        let own_type = given.as_ref().map_or((own, own_unit), |(name, unit)| (name, unit));
        profile.sample_types.push(self.assembly.value_type(own_type)?);
        let mut bound = |text: Option<Text>| {
            text.map_or(Ok(0), |mut text| number(&mut text, scale, "value", intake))
        };
        let [start, end] = [bound(start)?, bound(end)?];
        if start != 0 {
            let said = || format!("dropped the start value {start}");
            intake.note(LEFT_OUT, || "profiles.startValue".to_owned(), said);
        }
        if own_unit == "nanoseconds" {
            let duration = (i128::from(end) - i128::from(start)).max(0);
            profile.duration_nanos = duration * i128::from(nanos / scale);
        }
        if !name.is_empty() {
            profile.attributes.push(self.assembly.text_attribute(PROFILE_NAME, &name)?);
        }
        let mut samples_of = Taken { rows: Rows::apart(), attributes: self.thread(&name)?, scale };
        match (kind.as_str(), samples, events) {
            ("sampled", Some(samples), _) => {
                self.sampled(&mut samples_of, samples, weights, intake)?
            }
            ("evented", _, Some(events)) => {
                if own_unit == "nanoseconds" {
                    intake.note(
                        TIME_NO_ANCHOR,
                        || "profiles.events".to_owned(),
                        || "dropped the times: the start of the profile is unknown".to_owned(),
                    );
                }
                self.evented(&mut samples_of, events, end, intake)?;
            }
            _ => {
                return Err(Error::malformed(format!(
                    "unknown profile type {kind:?}: expected \"sampled\" or \"evented\""
                )));
            }
        }
        profile.samples = samples_of.rows.samples;
        Ok(profile)
    }

    /// The attributes of the thread that py-spy names, for every sample of the profile.
    fn thread(&mut self, name: &str) -> Result<Vec<AttributeId>> {
        let Some((id, name)) = thread_in(name) else { return Ok(Vec::new()) };
        let mut attributes = vec![self.assembly.attribute(b"thread.id", Value::Int(id))?];
        if !name.is_empty() {
            attributes.push(self.assembly.text_attribute("thread.name", name)?);
        }
        attributes.sort_unstable();
        Ok(attributes)
    }

    /// Without weights each sample counts one of the file's unit.
    ///
    /// Weights are read along with the samples, so nothing is kept of either.
    ///
    /// # Errors
    ///
    /// Fewer or more weights than samples, a stack past `max_stack_depth`, an index past the
    /// frames.
    fn sampled(
        &mut self,
        taken: &mut Taken,
        samples: Text,
        weights: Option<Text>,
        intake: &mut Intake,
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
                intake.check_depth(stack.len())?;
            }
            samples.text = frames.text;
            let value = match &mut weights {
                None => taken.scale,
                Some(weights) => {
                    if !weights.another()? {
                        let message = format!("sample {row} has no weight");
                        return Err(Error::malformed(message).within("weights"));
                    }
                    number(&mut weights.text, taken.scale, "the weight", intake)?
                }
            };
            self.add(taken, &stack, value, intake)?;
        }
        if weights.map_or(Ok(false), |mut weights| weights.another())? {
            let message = format!("the profile has {} samples and more weights", samples.row);
            return Err(Error::malformed(message).within("weights"));
        }
        Ok(())
    }

    /// Between two events the stack that is open has their distance as its value.
    ///
    /// The stack is what is open now, so each event costs its depth: a file of nested frames alone
    /// makes as many stacks of all depths, which the budget bounds.
    fn evented(
        &mut self,
        taken: &mut Taken,
        events: Text,
        end: i64,
        intake: &mut Intake,
    ) -> Result<()> {
        let mut events = List::of(events)?;
        let (mut stack, mut open, mut last) = (Vec::new(), Vec::new(), None);
        // How many of the innermost were opened since time passed.
        let mut fresh = 0_usize;
        while events.another()? {
            let row = events.row - 1;
            let event = pick(&mut events.text, ["type", "at", "frame"], self.nesting);
            let innermost = open.last().copied();
            let step =
                event.and_then(|event| self.event(event, taken.scale, last, innermost, intake));
            let placed = |error: Error| error.within_row("events", row);
            let (is_open, at, frame) = match step.map_err(placed) {
                Ok(step) => step,
                Err(error) => {
                    intake.repair(BAD_LINE, error)?;
                    continue;
                }
            };
            let passed = self.passed(last, at).map_err(placed)?;
            if passed > 0 && !stack.is_empty() {
                self.add(taken, &stack, passed, intake).map_err(placed)?;
            }
            last = Some(at);
            fresh = if passed > 0 { 0 } else { fresh };
            if is_open {
                fresh += 1;
                stack.push(self.location(frame).map_err(placed)?);
                open.push(frame);
                intake.check_depth(stack.len()).map_err(placed)?;
            } else {
                (_, _) = (stack.pop(), open.pop());
                if fresh > 0 {
                    let said = || format!("dropped frame {frame}: it has a duration of 0");
                    intake.note(LEFT_OUT, || "profiles.events".to_owned(), said);
                }
                fresh = fresh.saturating_sub(1);
            }
        }
        // What was never closed was open to the end, as of a recording that was cut off.
        for frame in &open {
            let said = || format!("closed frame {frame} at the end of the profile");
            intake.note(FRAME_UNCLOSED, || "profiles.events".to_owned(), said);
        }
        let passed = self.passed(last, end).unwrap_or_default();
        if passed > 0 && !stack.is_empty() {
            self.add(taken, &stack, passed, intake)?;
        }
        Ok(())
    }

    /// The time between two events; none before the first.
    ///
    /// # Errors
    ///
    /// Times that are further apart than 64 bits hold, one of them below 0.
    fn passed(&self, last: Option<i64>, at: i64) -> Result<i64> {
        let passed = at.checked_sub(last.unwrap_or(at));
        passed.ok_or_else(|| Error::malformed("the time between two events overflows 64 bits"))
    }

    /// Whether an event opens, when, and which frame.
    ///
    /// `last` is the time of the event before, `open` the innermost frame that is open.
    ///
    /// # Errors
    ///
    /// Times that go back, a frame that is closed while another is inside of it, an unknown type.
    fn event(
        &self,
        [kind, at, frame]: [Option<Text>; 3],
        scale: i64,
        last: Option<i64>,
        open: Option<i64>,
        intake: &mut Intake,
    ) -> Result<(bool, i64, i64)> {
        let (Some(mut at), Some(mut frame)) = (at, frame) else {
            return Err(Error::malformed("an event needs the keys \"type\", \"frame\" and \"at\""));
        };
        let at = number(&mut at, scale, "the time", intake)?;
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

    /// The location of a frame by its index in the file.
    ///
    /// # Errors
    ///
    /// An index below 0 or past the frames.
    fn location(&self, frame: i64) -> Result<LocationId> {
        let found = usize::try_from(frame).ok().and_then(|frame| self.frames.get(frame));
        found.copied().ok_or_else(|| {
            let frames = self.frames.len();
            Error::malformed(format!("index {frame} is out of range: there are {frames} frames"))
        })
    }

    /// Adds a sample of a stack, the root first.
    ///
    /// The model has stacks from the leaf, so it is turned around.
    fn add(
        &mut self,
        taken: &mut Taken,
        stack: &[LocationId],
        value: i64,
        intake: &mut Intake,
    ) -> Result<()> {
        let leaf_first: Vec<LocationId> = stack.iter().rev().copied().collect();
        let stack = self.assembly.stack(&leaf_first)?;
        self.assembly.settle(intake)?;
        let identity = Identity { stack, attributes: &taken.attributes, link: LinkId::NONE };
        self.assembly.sample(&mut taken.rows, identity, (&[value], &[]), intake)
    }
}

/// The samples of a profile, and what they have in common.
struct Taken {
    /// Each sample apart, in the order of the file.
    rows: Rows,
    /// The thread that the profile's name says; sorted.
    attributes: Vec<AttributeId>,
    /// What a value of the file is multiplied by to be in the model's unit.
    scale: i64,
}

/// A number times `scale`; where it is not whole then, that is noted.
///
/// Seconds with ten decimals are not whole nanoseconds.
fn number(text: &mut Text, scale: i64, what: &str, intake: &mut Intake) -> Result<i64> {
    let (number, is_rounded) = scaled(text, scale, what)?;
    if is_rounded {
        let said = || format!("{what} was rounded to {number}");
        intake.note(VALUE_ROUNDED, || "profiles".to_owned(), said);
    }
    Ok(number)
}
