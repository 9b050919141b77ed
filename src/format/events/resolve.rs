//! Resolution of events: sums the deltas of clocks, fills in defaults, and assigns types.
//!
//! ```text
//! types   0: cpu in ms, default 10, clock 0        clocks   0: 2 GHz from T
//! events  {type 0, stack 1, time +2000000}    ─►   stack 1, at T + 1 ms, 10
//!         {type 0, stack 2, time -1000000}    ─►   stack 2, at T + 0.5 ms, 10
//!         {type 0, stack 2, time 0, value 5}  ─►   stack 2, at T + 0.5 ms, 5
//! ```

use super::tables::{Parts, Tables};
use crate::error::{Error, Result};
use crate::losses;
use crate::model::event_form::{EventClock, ValueFields};
use crate::model::id::{AttributeId, LinkId, StackId, StringId};
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::tables::fields::fields;
use crate::tables::read::common::{find, show, text_at};
use crate::tables::read::references::indices;
use crate::units::ucum::is_ucum;
use crate::wire::read::Reader;

/// A clock, its attributes, and the cycles of its events so far.
pub(super) struct Clock {
    pub(super) clock: EventClock,
    pub(super) attributes: Vec<AttributeId>,
    cycles: i128,
}

/// The type of events.
pub(super) struct EventType {
    pub(super) name: StringId,
    pub(super) unit: StringId,
    pub(super) clock: Option<usize>,
    pub(super) default_value: u64,
    pub(super) attributes: Vec<AttributeId>,
    /// Whether the type has events, and whether any of them uses the default value.
    has_events: bool,
    uses_default: bool,
}

/// A resolved event.
pub(super) struct Event {
    pub(super) kind: usize,
    pub(super) stack: StackId,
    pub(super) link: LinkId,
    pub(super) attributes: Vec<AttributeId>,
    /// The time; `None` for an event that was added up.
    pub(super) at: Option<u64>,
    pub(super) duration: i64,
    pub(super) count: i64,
    pub(super) total: i64,
    /// How its value and count were encoded, if not in the default way.
    pub(super) deviation: Deviation,
}

/// The deviations of an event from the default encoding.
#[derive(Clone, Copy, Default)]
pub(super) struct Deviation {
    /// With a time: the count is 1 and encoded. Without a time: the count is 1 and omitted.
    pub(super) count: bool,
    /// The fields that hold the value, if not only the default one.
    pub(super) value_fields: Option<ValueFields>,
}

/// The fields of an event.
#[derive(Default)]
struct Fields {
    kind: u32,
    stack: u32,
    link: Option<u32>,
    time: i64,
    duration: u64,
    value: u64,
    count: u64,
    sum: u64,
}

/// The state for resolving events.
pub(super) struct Resolver {
    pub(super) types: Vec<EventType>,
    pub(super) clocks: Vec<Clock>,
    /// The time range of the profile.
    within: std::ops::RangeInclusive<i128>,
    /// Whether the time of an event with a duration is its end.
    is_end: bool,
}

impl Resolver {
    /// Reads the clocks, then the types: a type refers to its clock by row, and events refer to both.
    ///
    /// # Errors
    ///
    /// A clock without a frequency; a reference to a missing clock or string.
    pub(super) fn of(parts: &Parts, tables: &mut Tables, cx: &mut ReadContext) -> Result<Self> {
        let end = i128::from(parts.time_unix_nano);
        let mut resolver = Self {
            types: Vec::new(),
            clocks: Vec::new(),
            within: match end {
                0 => i128::MIN..=i128::MAX,
                end => end - i128::from(parts.duration_nanos)..=end,
            },
            is_end: cx.source.event_time == Some(crate::source_options::EventTime::End),
        };
        for (row, body) in parts.clocks.iter().enumerate() {
            let inside = [("clocks", row)];
            let clock = cx.inside(&inside, |cx| clock(body, tables, cx))?;
            cx.budget.push(&mut resolver.clocks, clock)?;
        }
        for (row, body) in parts.types.iter().enumerate() {
            let inside = [("event_types", row)];
            let kind = cx.inside(&inside, |cx| event_type(body, tables, &resolver.clocks, cx))?;
            cx.budget.push(&mut resolver.types, kind)?;
        }
        Ok(resolver)
    }

    /// Resolves the next event.
    pub(super) fn event(
        &mut self,
        body: &[u8],
        tables: &mut Tables,
        cx: &mut ReadContext,
    ) -> Result<Event> {
        let fields = event_fields(body, &mut tables.indices, cx)?;
        let index = fields.kind as usize;
        let Some(kind) = self.types.get(index) else {
            let types = self.types.len();
            let message = format!("{} is out of range: there are {types} types", show(fields.kind));
            return Err(Error::malformed(message).within("event_type_index"));
        };
        let stack = find(&tables.stacks, fields.stack, cx).map_err(|e| e.within("stack_index"))?;
        let link = match fields.link {
            None => LinkId::NONE,
            // Row 0 is an ordinary link, so index 0 into an empty table is out of range.
            Some(0) if tables.links.is_empty() => {
                let message = "index 0 is out of range: the table has 0 rows";
                let error = Error::malformed(message).within("link_index");
                cx.repair(losses::INDEX_OUT_OF_RANGE, error)?;
                LinkId::NONE
            }
            Some(link) => find(&tables.links, link, cx).map_err(|e| e.within("link_index"))?,
        };
        let attributes = tables.attributes(cx)?;
        check_keys(&attributes, tables, cx);
        let total = fields.total(kind, cx)?;
        let (at, duration) = match kind.clock.and_then(|clock| self.clocks.get_mut(clock)) {
            Some(clock) => fields.times(clock)?,
            None => fields.no_times()?,
        };
        let mut event = Event {
            kind: index,
            stack,
            link,
            attributes,
            at,
            duration,
            count: whole(fields.count.max(1), "count")?,
            total,
            deviation: Deviation::default(),
        };
        self.normalize_time(&mut event, cx)?;
        let default_value = self.types.get(index).map_or(0, |kind| kind.default_value);
        event.deviation = fields.deviation(event.at.is_some(), default_value);
        if let Some(kind) = self.types.get_mut(index) {
            kind.has_events = true;
            kind.uses_default |= fields.sum == 0 && fields.value == 0;
        }
        Ok(event)
    }

    /// Reports types without events and unused default values, after all events are read.
    pub(super) fn finish(&self, cx: &mut ReadContext) {
        for (row, kind) in self.types.iter().enumerate() {
            let place = || format!("event_types[{row}]");
            if !kind.has_events {
                let message = || "the type has no events".to_owned();
                cx.note(losses::PROFILES_MERGED, place, message);
            } else if kind.default_value > 0 && !kind.uses_default {
                let message = || "no event of the type uses the default value".to_owned();
                cx.note(losses::EVENT_DEFAULT_UNUSED, place, message);
            }
        }
    }

    /// Converts the time of an event to that of its start. Drops the time of events that were added up.
    fn normalize_time(&self, event: &mut Event, cx: &mut ReadContext) -> Result<()> {
        let Some(at) = &mut event.at else { return Ok(()) };
        if event.count > 1 {
            let message = || "dropped the time of an event with a count above 1".to_owned();
            cx.note(losses::TIMESTAMPS_DROPPED, || "events.time".to_owned(), message);
            event.at = None;
            return Ok(());
        }
        if self.is_end {
            *at = u64::try_from(i128::from(*at) - i128::from(event.duration))
                .map_err(|_| Error::malformed("the event starts before 1970").within("duration"))?;
        }
        if !self.within.contains(&i128::from(*at)) {
            let message = || format!("{at} ns is outside the profile's time range");
            cx.note(losses::EVENT_OUTSIDE, || "events.time".to_owned(), message);
        }
        Ok(())
    }
}

impl Fields {
    /// Returns the total value of the event.
    fn total(&self, kind: &EventType, cx: &mut ReadContext) -> Result<i64> {
        let Self { value, count, sum, .. } = *self;
        if kind.clock.is_none() && value == 0 && count == 0 && sum == 0 {
            let message = "an event without a clock needs a count, a value or a sum";
            return Err(Error::malformed(message));
        }
        if sum > 0 && value > 0 && sum != value {
            let message = || format!("the sum is {sum} and the value is {value}: the sum was read");
            cx.note(losses::EVENT_SUM_CONFLICT, || "events.sum".to_owned(), message);
        }
        let total = match (sum, value) {
            (0, 0) => count.max(1).checked_mul(kind.default_value).ok_or_else(|| {
                let default = kind.default_value;
                let message =
                    format!("{count} times the default value {default} overflows 64 bits");
                Error::malformed(message).within("count")
            })?,
            (0, value) => value,
            (sum, _) => sum,
        };
        whole(total, if sum > 0 { "sum" } else { "value" })
    }

    /// Returns how the encoding of an event differs from that of the writer, so that the writer can restore
    /// the bytes.
    ///
    /// By default the value is in `value` with a time and in `sum` without one, and is omitted if it equals
    /// the default of the type.
    fn deviation(&self, is_timed: bool, default_value: u64) -> Deviation {
        let Self { value, count, sum, .. } = *self;
        let value_fields = match (value, sum) {
            (0, 0) => None,
            (_, 0) => Some(ValueFields::Value),
            (0, _) => Some(ValueFields::Sum),
            // If both are set and differ, the sum wins, which is reported elsewhere.
            _ => (value == sum).then_some(ValueFields::Both),
        };
        let is_implied = count.max(1).checked_mul(default_value) == Some(value.max(sum));
        let usual = if is_timed { ValueFields::Value } else { ValueFields::Sum };
        Deviation {
            count: if is_timed { count == 1 } else { count == 0 },
            value_fields: value_fields.filter(|value_fields| is_implied || *value_fields != usual),
        }
    }

    /// Returns the time and the duration in nanoseconds.
    fn times(&self, clock: &mut Clock) -> Result<(Option<u64>, i64)> {
        clock.cycles += i128::from(self.time);
        let EventClock { time_unix_nano, frequency } = clock.clock;
        let nanos = |cycles: i128| {
            let nanos = cycles.checked_mul(i128::from(EventClock::NANOS));
            nanos.map(|nanos| nanos.div_euclid(i128::from(frequency.max(1))))
        };
        let at = nanos(clock.cycles).map(|nanos| i128::from(time_unix_nano) + nanos);
        let Some(at) = at.and_then(|at| u64::try_from(at).ok()) else {
            let cycles = clock.cycles;
            let message = format!(
                "{cycles} cycles after {time_unix_nano} ns overflow 64 bits of nanoseconds"
            );
            return Err(Error::malformed(message).within("time"));
        };
        let duration = nanos(self.duration.into()).and_then(|nanos| i64::try_from(nanos).ok());
        let duration = duration.ok_or_else(|| {
            let message = format!("{} cycles overflow 64 bits of nanoseconds", self.duration);
            Error::malformed(message).within("duration")
        })?;
        Ok((Some(at), duration))
    }

    /// Checks that an event without a clock has neither a time nor a duration.
    fn no_times(&self) -> Result<(Option<u64>, i64)> {
        if self.time == 0 && self.duration == 0 {
            return Ok((None, 0));
        }
        let field = if self.time != 0 { "time" } else { "duration" };
        Err(Error::malformed("the event's type has no clock: a time or duration needs one")
            .within(field))
    }
}

/// Decodes the fields of an event. Stores its attributes in a list that all events reuse.
fn event_fields(body: &[u8], attributes: &mut Vec<u32>, cx: &mut ReadContext) -> Result<Fields> {
    let mut reader = Reader::new(body);
    let mut fields = Fields::default();
    attributes.clear();
    fields!(reader, EVENT in Version::Events, cx; {
        "event_type_index" => fields.kind = reader.index()?,
        "stack_index" => fields.stack = reader.index()?,
        "link_index" => fields.link = Some(reader.index()?),
        "attribute_indices" as tag => indices(tag, &mut reader, attributes, cx)?,
        "time" => fields.time = reader.varint()? as i64,
        "duration" => fields.duration = reader.varint()?,
        "value" => fields.value = reader.varint()?,
        "count" => fields.count = reader.varint()?,
        "sum" => fields.sum = reader.varint()?,
    });
    Ok(fields)
}

/// Reads a clock and sets it to 0. Each event stores the cycles since the previous one.
fn clock(body: &[u8], tables: &mut Tables, cx: &mut ReadContext) -> Result<Clock> {
    let mut reader = Reader::new(body);
    let mut clock = EventClock { time_unix_nano: 0, frequency: 0 };
    tables.indices.clear();
    fields!(reader, CLOCK in Version::Events, cx; {
        "frequency" => clock.frequency = reader.varint()?,
        "time_unix_nano" => clock.time_unix_nano = reader.fixed64()?,
        "attribute_indices" as tag => indices(tag, &mut reader, &mut tables.indices, cx)?,
    });
    if clock.frequency == 0 {
        let message = "the frequency of the clock is 0 and must be greater than 0";
        return Err(Error::malformed(message).within("frequency"));
    }
    let attributes = tables.attributes(cx)?;
    Ok(Clock { clock, attributes, cycles: 0 })
}

/// Reads an event type with its default value.
fn event_type(
    body: &[u8],
    tables: &mut Tables,
    clocks: &[Clock],
    cx: &mut ReadContext,
) -> Result<EventType> {
    let mut reader = Reader::new(body);
    let (mut name, mut unit) = (StringId::NONE, StringId::NONE);
    let (mut clock, mut default_value) = (None, 0);
    tables.indices.clear();
    fields!(reader, EVENT_TYPE in Version::Events, cx; {
        "name_string_index" => {
            name = text_at(&mut reader, "name_string_index", &tables.texts, cx)?;
        },
        "unit_string_index" => {
            unit = text_at(&mut reader, "unit_string_index", &tables.texts, cx)?;
        },
        "clock_index" => clock = Some(reader.index()?),
        "default_value" => default_value = reader.varint()?,
        "attribute_indices" as tag => indices(tag, &mut reader, &mut tables.indices, cx)?,
    });
    let clock = clock.map(|clock| clock as usize);
    if let Some(clock) = clock.filter(|clock| *clock >= clocks.len()) {
        let known = clocks.len();
        let message = format!("index {clock} is out of range: there are {known} clocks");
        return Err(Error::malformed(message).within("clock_index"));
    }
    let attributes = tables.attributes(cx)?;
    check_unit(unit, tables, cx);
    let (has_events, uses_default) = (false, false);
    Ok(EventType { name, unit, clock, default_value, attributes, has_events, uses_default })
}

/// Reports a unit that UCUM does not define.
fn check_unit(unit: StringId, tables: &Tables, cx: &mut ReadContext) {
    let text = tables.assembly.interner.dictionary.text(unit);
    if !is_ucum(text.as_bytes()) {
        let message = || format!("{text:?} is not a UCUM unit; examples are ns, By and {{event}}");
        cx.note(losses::EVENT_UNIT, || "event_types.unit".to_owned(), message);
    }
}

/// Reports attributes with the same key.
fn check_keys(attributes: &[AttributeId], tables: &Tables, cx: &mut ReadContext) {
    if attributes.len() < 2 {
        return;
    }
    let dictionary = &tables.assembly.interner.dictionary;
    let keys = attributes.iter().filter_map(|id| dictionary.attribute(*id));
    let mut keys: Vec<StringId> = keys.map(|attribute| attribute.key).collect();
    keys.sort_unstable();
    if keys.windows(2).any(|pair| matches!(pair, [one, other] if one == other)) {
        let message = || "the event has two attributes with the same key".to_owned();
        cx.note(losses::ATTR_DUPLICATE_KEY, || "events.attributes".to_owned(), message);
    }
}

/// Converts a number to the signed type of the model.
fn whole(number: u64, field: &'static str) -> Result<i64> {
    i64::try_from(number).map_err(|_| {
        Error::malformed(format!("{number} overflows a signed 64-bit integer")).within(field)
    })
}
