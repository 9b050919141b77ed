//! Walks a payload, or the beginnings of its lists, by a grammar.
//!
//! The message types of a grammar have no cycles, so the grammar and not the input limits the depth of the
//! walk. A walk takes memory for one outcome, whatever the size of the payload. After the beginnings, it
//! walks the probes of a [`ScanResult`].

use super::bounds::Bounds;
use super::grammar::{Grammar, Texts, bit, inner};
use super::rows::Rows;
use super::scan::{DictionaryRows, Part, Probe, ScanResult};
use super::score::{HARD, Misfit, MisfitKind, Outcome, Path};
use crate::schema::{Field, Kind, MessageKind, MessageType, Role, Rows as RowZero, Table};
use crate::wire::packed::count_packed;
use crate::wire::read::Reader;
use crate::wire::{FIXED32, FIXED64, LEN, VARINT};

/// Walks the beginnings of `payload`.
pub(super) fn walk(grammar: &Grammar, payload: &[u8], bounds: Bounds) -> Outcome {
    Walk::new(grammar, payload, bounds, None).finish()
}

/// Walks the beginnings of `payload`, then the probes of a scan over it.
pub(super) fn walk_probes(grammar: &Grammar, payload: &[u8], found: &ScanResult) -> Outcome {
    let mut walk = Walk::new(grammar, payload, Bounds::SECOND, Some(&found.rows));
    walk.rows_elsewhere();
    for probe in &found.probes {
        walk.probe(probe);
    }
    walk.finish()
}

/// One walk of a payload by one grammar. It never fails, and stops at the first contradiction unless it is
/// tolerant.
pub(super) struct Walk<'g> {
    pub(super) grammar: &'g Grammar,
    pub(super) bounds: Bounds,
    /// The rows of the dictionary by field number, if a scan counted them.
    pub(super) counted: Option<&'g DictionaryRows>,
    pub(super) outcome: Outcome,
    pub(super) rows: Rows,
    /// Number of messages walked, by kind.
    pub(super) messages: [u32; MessageKind::COUNT],
    pub(super) fields: [u32; MessageKind::COUNT],
    pub(super) texts: u32,
    /// The path of the current message.
    pub(super) path: Path,
    /// The current field: its number and wire type.
    pub(super) at: (u32, u32),
    /// Whether any field refers to a row.
    pub(super) referred: bool,
    /// Set at a contradiction, unless the walk is tolerant.
    pub(super) stopped: bool,
}

/// Facts about the fields of one message.
#[derive(Default)]
struct State {
    seen: u32,
    values: usize,
    times: usize,
    attributes: usize,
    slice_start: u64,
    slice_length: u64,
    /// The keys of the first attributes, and how many are stored.
    keys: [u32; 16],
    key_count: usize,
}

impl<'g> Walk<'g> {
    fn new(
        grammar: &'g Grammar,
        payload: &[u8],
        bounds: Bounds,
        counted: Option<&'g DictionaryRows>,
    ) -> Self {
        let mut walk = Self {
            grammar,
            bounds,
            counted,
            outcome: Outcome::default(),
            rows: Rows::new(),
            messages: [0; MessageKind::COUNT],
            fields: [0; MessageKind::COUNT],
            texts: 0,
            path: Path::default(),
            at: (0, 0),
            referred: false,
            stopped: false,
        };
        walk.message(grammar.root, payload);
        walk
    }

    fn message(&mut self, message: &'static MessageType, body: &[u8]) {
        if !step(&mut self.messages[message.kind as usize], self.bounds.messages) {
            self.outcome.cut = true;
            return;
        }
        self.count_tables(message, body);
        self.walk_fields(message, body, true);
    }

    /// Walks a probe in the message that its path leads to.
    fn probe(&mut self, probe: &Probe) {
        if self.stopped {
            return;
        }
        if let Some(message) = self.grammar.follow(probe.path.numbers()) {
            (self.messages, self.fields) = ([0; MessageKind::COUNT], [0; MessageKind::COUNT]);
            self.path = probe.path;
            match probe.part {
                Part::Whole(body) => self.walk_fields(message, body, true),
                Part::Field(body) => self.walk_fields(message, body, false),
                Part::Fields(seen) => self.missing(message, seen),
            }
        }
    }

    /// Walks the fields of a message, or some of them if not `whole`.
    fn walk_fields(&mut self, message: &'static MessageType, body: &[u8], mut whole: bool) {
        let mut state = State::default();
        let mut reader = Reader::new(body);
        while !self.stopped {
            let Some(tag) = reader.try_tag() else {
                self.add_misfit(MisfitKind::Broken);
                break;
            };
            let Some(tag) = tag else { break };
            if !step(&mut self.fields[message.kind as usize], self.bounds.fields) {
                (self.outcome.cut, whole) = (true, false);
                break;
            }
            self.at = (tag >> 3, tag & 7);
            let Some((number, body)) = self.value(&mut reader, tag) else { break };
            self.field(message, number, body, &mut state);
        }
        self.leave(message, &state, whole);
    }

    /// Reads the value of a field after its tag: a number or bytes. A tolerant walk gets the bytes that are
    /// left of a truncated value.
    fn value<'a>(&mut self, reader: &mut Reader<'a>, tag: u32) -> Option<(u64, &'a [u8])> {
        let rest = reader.rest();
        let value = match tag & 7 {
            VARINT => reader.try_varint().map(|number| (number, &[][..])),
            LEN => reader.try_message().map(|body| (0, body.rest())),
            kind @ (FIXED64 | FIXED32) => {
                let width = if kind == FIXED64 { 8 } else { 4 };
                (rest.len() >= width).then(|| {
                    reader.pass(width);
                    (0, &[][..])
                })
            }
            // No format here uses groups.
            _ => None,
        };
        if value.is_none() {
            self.add_misfit(MisfitKind::Broken);
            if self.bounds.tolerant && tag & 7 == LEN {
                let mut short = Reader::new(rest);
                short.varint().ok()?;
                *reader = Reader::new(&[]);
                return Some((0, short.rest()));
            }
        }
        value
    }

    /// Checks whether a field is known, has the right wire type and may repeat, then walks its value.
    fn field(&mut self, message: &'static MessageType, value: u64, body: &[u8], state: &mut State) {
        let (number, kind) = self.at;
        let Some(field) = self.grammar.field(message, number) else {
            self.outcome.unknown = self.outcome.unknown.saturating_add(1);
            return self.add_misfit(match self.grammar.is_beyond(message, number) {
                true if self.grammar.is_later(message, number) => MisfitKind::Later,
                true => MisfitKind::Beyond,
                false => MisfitKind::Unknown,
            });
        };
        let (unpacked, is_list) = (field.kind.wire(), field.is_list());
        if kind != unpacked && !(is_list && kind == LEN) {
            return self.add_misfit(MisfitKind::Kind);
        }
        if is_list && kind == unpacked && self.grammar.is_strict() {
            self.add_misfit(MisfitKind::Unpacked);
        }
        let bit = bit(number);
        if state.seen & bit != 0 && !field.is_repeated() {
            self.add_misfit(MisfitKind::Repeated);
        }
        state.seen |= bit;
        self.outcome.known = self.outcome.known.saturating_add(1);
        match kind {
            VARINT => self.number(field, value, state),
            LEN => self.bytes(field, body, state),
            _ => state.times += usize::from(field.role == Role::Times),
        }
    }

    /// Checks a number, or one element of a list that is not packed.
    fn number(&mut self, field: &Field, value: u64, state: &mut State) {
        let role = self.grammar.role(field);
        let is_large = match field.kind {
            Kind::Bool => value > 1,
            Kind::Enum(_) | Kind::Int32 | Kind::Uint32 if role == Role::Plain => {
                value as i32 as i64 as u64 != value && value > u64::from(u32::MAX)
            }
            _ => false,
        };
        if is_large {
            self.add_misfit(MisfitKind::Large);
        }
        match role {
            Role::Ref(Table::Attribute) => self.attribute(value, state),
            Role::Ref(table) | Role::Sliced(table) => self.refer(table, value),
            Role::SliceStart => state.slice_start = value,
            Role::SliceLength => state.slice_length = value,
            Role::Values => state.values += 1,
            Role::Times => state.times += 1,
            _ => {}
        }
    }

    fn bytes(&mut self, field: &Field, body: &[u8], state: &mut State) {
        match (field.kind, field.role) {
            (Kind::Message(_), _) => {
                if let Some(inner) = inner(field) {
                    self.inner(inner, body);
                }
            }
            (Kind::String, _) => self.text(body),
            (Kind::Bytes, Role::Id(length)) => {
                if !body.is_empty() && body.len() != usize::from(length) {
                    self.add_misfit(MisfitKind::IdLength);
                }
            }
            (Kind::Bytes, _) => {}
            (Kind::Fixed64, _) if !body.len().is_multiple_of(8) => {
                self.add_misfit(MisfitKind::Broken)
            }
            (Kind::Fixed64, _) => state.times += body.len() / 8,
            _ => self.packed(field, body, state),
        }
    }

    fn inner(&mut self, message: &'static MessageType, body: &[u8]) {
        let (path, at) = (self.path, self.at);
        self.path = path.into(at.0);
        self.message(message, body);
        (self.path, self.at) = (path, at);
    }

    /// Checks the first numbers of a packed list, up to the bound.
    fn packed(&mut self, field: &Field, body: &[u8], state: &mut State) {
        let mut reader = Reader::new(body);
        for _ in 0..self.bounds.messages {
            if reader.is_empty() || self.stopped {
                return;
            }
            match reader.varint() {
                Ok(value) => self.number(field, value, state),
                Err(_) => return self.add_misfit(MisfitKind::Broken),
            }
        }
        self.outcome.cut |= !reader.is_empty();
        match field.role {
            Role::Values => state.values += count_packed(reader.rest()),
            Role::Times => state.times += count_packed(reader.rest()),
            _ => {}
        }
    }

    /// Checks the first strings only: one that is not UTF-8 is enough.
    fn text(&mut self, body: &[u8]) {
        let is_right = match self.grammar.texts {
            Texts::Any => true,
            Texts::Utf8 => self.texts >= self.bounds.messages || is_text(body),
            Texts::Prose => is_prose(body),
        };
        if !is_right {
            self.add_misfit(MisfitKind::Text);
        }
        self.texts = self.texts.saturating_add(1);
    }

    fn refer(&mut self, table: Table, row: u64) {
        self.referred |= row != 0;
        // Where row 0 is an ordinary row, encoders also wrote pprof's ids, which begin with 1.
        let one_based =
            u64::from(self.grammar.rows() == RowZero::FromZero && table == Table::Location);
        if row != 0 && row >= self.rows.counts[table as usize].saturating_add(one_based) {
            self.add_misfit(MisfitKind::Past(table));
        }
    }

    /// Marks an attribute as used. Checks that it is not null, and that its key occurs once per element.
    fn attribute(&mut self, row: u64, state: &mut State) {
        self.refer(Table::Attribute, row);
        self.rows.use_attribute(row);
        state.attributes += 1;
        if row == 0 && self.grammar.rows() == RowZero::NullFirst {
            self.add_misfit(MisfitKind::Null);
        }
        let key = self.rows.key(row);
        let before = state.keys.iter().take(state.key_count);
        if before.into_iter().any(|&other| other == key) {
            self.add_misfit(MisfitKind::DuplicateAttribute);
        } else if let Some(slot) = state.keys.get_mut(state.key_count) {
            *slot = key;
            state.key_count += 1;
        }
    }

    /// Checks a message after all its fields are known.
    fn leave(&mut self, message: &'static MessageType, state: &State, whole: bool) {
        self.outcome.used[message.kind as usize] |= state.seen;
        if !whole || self.stopped {
            return;
        }
        self.missing(message, state.seen);
        if message.kind == MessageKind::Sample {
            self.sample(state);
        }
        if message.kind == MessageKind::ProfilesData
            && self.referred
            && let Some((number, _)) = self.grammar.dictionary()
            && state.seen & bit(number) == 0
        {
            self.at.0 = number;
            self.add_misfit(MisfitKind::Missing);
        }
    }

    fn missing(&mut self, message: &'static MessageType, seen: u32) {
        if let Some(number) = self.grammar.missing(message, seen) {
            self.at.0 = number;
            self.add_misfit(MisfitKind::Missing);
        }
    }

    fn sample(&mut self, state: &State) {
        self.referred = true;
        self.outcome.samples += 1;
        let listed = if state.values > 0 { state.values } else { state.attributes };
        let one_list = state.values == 0 || state.attributes == 0;
        self.outcome.timed += u32::from(state.times > 0 && listed == state.times && one_list);
        let types = self.rows.counts[Table::SampleType as usize];
        let right = match (self.grammar.is_series(), state.times, state.values) {
            (true, 0, values) => values == 1,
            (true, times, values) => values == 0 || values == times,
            (false, _, values) => types == Rows::UNKNOWN || values as u64 == types,
        };
        if !right {
            self.add_misfit(MisfitKind::Shape);
        }
        if state.slice_start.saturating_add(state.slice_length)
            > self.rows.counts[Table::Slice as usize]
            && state.slice_length > 0
        {
            self.add_misfit(MisfitKind::Past(Table::Slice));
        }
    }

    #[cold]
    pub(super) fn add_misfit(&mut self, cause: MisfitKind) {
        let (number, kind) = self.at;
        self.outcome.add_misfit(Misfit { path: self.path, number, kind, cause });
        self.stopped = self.outcome.score[HARD] > 0 && !self.bounds.tolerant;
    }

    fn finish(self) -> Outcome {
        let mut outcome = self.outcome;
        if self.grammar.rows() == RowZero::NullFirst && !outcome.cut {
            outcome.orphans = self.rows.orphans();
        }
        outcome
    }
}

/// Counts one more of a kind, unless `most` is reached.
#[inline]
fn step(taken: &mut u32, most: u32) -> bool {
    let may = *taken < most;
    *taken += u32::from(may);
    may
}

/// Returns whether a text is UTF-8, and its only control characters are tabs and line breaks.
pub(super) fn is_prose(body: &[u8]) -> bool {
    let mut controls = body.iter().filter(|byte| byte.is_ascii_control());
    controls.all(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) && std::str::from_utf8(body).is_ok()
}

/// Returns whether the first kilobyte of a text is UTF-8.
fn is_text(body: &[u8]) -> bool {
    let start = body.get(..1024).unwrap_or(body);
    match std::str::from_utf8(start) {
        Ok(_) => true,
        // The kilobyte may end within a character.
        Err(error) => start.len() < body.len() && error.error_len().is_none(),
    }
}
