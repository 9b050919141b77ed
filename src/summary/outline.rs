//! Builds an outline of a payload in one walk. The walk counts and sums samples and counts table rows. It copies
//! everything else into the outline: resources, scopes and the heads of profiles, with the table rows that these
//! refer to. The outline is a small valid payload for the normal reader.
//!
//! ```text
//! payload   Profile { sample_type …, sample ×10⁶, time, attribute_indices } Dictionary { 10⁵ rows }
//! outline   Profile { sample_type …,              time, attribute_indices } Dictionary { "" … }
//!                                           referenced rows at their index; the others are empty
//! ```
//!
//! Rows keep their indices, because references are copied unchanged. Unreferenced rows become empty, and each table
//! ends after its last referenced row. Time is linear in the payload; memory is linear in everything except samples
//! and rows.

use std::collections::BTreeSet;

use super::refs::{Refs, Rows, begin_empty, have_unique_ids};
use super::samples::{SampleTotals, Samples, samples};
use crate::schema::{
    ATTRIBUTE_UNIT, KEY_VALUE, KEY_VALUE_AND_UNIT, Kind, MessageType, PROFILE, PROFILE_CONTAINER,
    PROFILES_DATA, PROFILES_DICTIONARY, RESOURCE_PROFILES, Role, SCOPE_PROFILES, Table, Version,
};
use crate::wire::read::Reader;
use crate::wire::write::varint;
use crate::wire::{LEN, VARINT, tag};

/// The treatment of a field in the walk, by its tag.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// The version has no such field.
    Unsupported,
    Copy,
    /// Walk this message, too.
    Enter(&'static MessageType),
    Sample,
    Row(Table),
    LeaveOut,
}

/// Actions by tag, for the messages above samples and rows. All their tags are below 256.
type Actions = [Action; 256];

/// Returns the actions for a message: count table rows, sum samples, omit lists that stacks are slices of (because
/// heads do not refer to them), walk the messages above them, and copy everything else. A packable number has
/// entries for both encodings.
fn actions(message: &MessageType, version: Version) -> Actions {
    const ENTERED: [&MessageType; 5] =
        [&RESOURCE_PROFILES, &SCOPE_PROFILES, &PROFILE_CONTAINER, &PROFILE, &PROFILES_DICTIONARY];
    let mut actions = [Action::Unsupported; 256];
    for field in message.fields_in(version) {
        let action = match (field.role, field.kind) {
            (Role::Row(Table::SampleType), _) => Action::Copy,
            (Role::Row(table), _) => Action::Row(table),
            (Role::Sliced(_), _) => Action::LeaveOut,
            (_, Kind::Message(inner)) if inner.name == "Sample" => Action::Sample,
            (_, Kind::Message(inner)) if ENTERED.iter().any(|one| std::ptr::eq(*one, inner)) => {
                Action::Enter(inner)
            }
            _ => Action::Copy,
        };
        let mut put = |wire| {
            // A field whose tag has no place here ends the outline, like an unknown one.
            if let Some(place) = actions.get_mut(tag(field.number, wire) as usize) {
                *place = action;
            }
        };
        put(field.kind.wire());
        // A repeated number occurs packed and unpacked.
        if field.is_repeated() && field.kind.wire() == VARINT {
            put(LEN);
        }
    }
    actions
}

/// The result of a walk.
pub(super) struct Outline {
    /// A valid payload of the same version.
    pub(super) payload: Vec<u8>,
    pub(super) tallies: Vec<SampleTotals>,
    /// The number of rows by table, including row 0, over all profiles.
    pub(super) tables: [u64; Table::COUNT],
    /// The number of string tables. Each begins with the empty string.
    pub(super) string_tables: u64,
    /// Its length in bytes, to check the limit on strings.
    pub(super) longest_string: u64,
}

/// The tables in one message, and the end of the message.
#[derive(Default)]
struct Tables {
    rows: [Rows; Table::COUNT],
    /// Offset in the payload.
    end: usize,
}

impl Tables {
    /// Returns the rows of a table.
    #[inline]
    fn of(&mut self, table: Table) -> &mut Rows {
        &mut self.rows[table as usize % Table::COUNT]
    }

    /// Counts consecutive rows of any tables, while their tags and lengths are short.
    // Always inlined. Without any in the library, summaries take up to 25 % more instructions.
    #[inline(always)]
    fn count(&mut self, reader: &mut Reader<'_>, actions: &Actions) {
        loop {
            let mut ahead = *reader;
            let Some((tag, row)) = ahead.record() else { return };
            let Some(Action::Row(table)) = actions.get(tag as usize) else { return };
            let (mut count, mut longest, mut empty) = (1, row.left(), u64::from(row.is_empty()));
            while let Some(row) = ahead.record_of(tag) {
                count += 1;
                empty += u64::from(row.is_empty());
                longest = longest.max(row.left());
            }
            self.of(*table).add((reader.at(), tag), count, longest as u64, empty);
            *reader = ahead;
        }
    }
}

/// The state of a walk.
struct Walk<'a> {
    payload: &'a [u8],
    version: Version,
    /// Maximum nesting of skipped fields: `Limits::max_nesting`.
    levels: u64,
    samples: Samples,
    /// The actions of the messages seen so far.
    actions: Vec<(&'static MessageType, Box<Actions>)>,
    /// The outline so far.
    out: Vec<u8>,
    tallies: Vec<SampleTotals>,
    counts: [u64; Table::COUNT],
    /// The references of all heads copied so far; if profiles have tables, of the current head only.
    refs: Refs,
    /// The dictionary, with its tag.
    dictionary: Option<(u32, Tables)>,
    string_tables: u64,
    longest_string: u64,
}

/// Walks a payload. `None` if it is irregular, so that only a reader can interpret it.
pub(super) fn outline(payload: &[u8], version: Version, levels: u64) -> Option<Outline> {
    let mut walk = Walk {
        payload,
        version,
        levels,
        samples: Samples::of(version),
        actions: Vec::new(),
        out: Vec::new(),
        tallies: Vec::new(),
        counts: [0; Table::COUNT],
        refs: Refs::default(),
        dictionary: None,
        string_tables: 0,
        longest_string: 0,
    };
    let reader = Reader::new(payload);
    if version == Version::Pprof {
        walk.profile(reader)?;
    } else {
        let tables = walk.message(&PROFILES_DATA, reader)?;
        // All references are known now.
        match walk.dictionary.take() {
            Some((_, t)) if !begin_empty(&t.rows, version, payload, t.end, levels) => return None,
            Some((tag, tables)) => {
                let start = walk.open(tag);
                walk.tables(&tables)?;
                walk.close(start)?;
            }
            None if version == Version::V1_6 => walk.tables(&tables)?,
            None => {}
        }
    }
    let Walk { out, tallies, counts, string_tables, longest_string, .. } = walk;
    Some(Outline { payload: out, tallies, tables: counts, string_tables, longest_string })
}

impl<'a> Walk<'a> {
    /// Takes the actions of a message, which are computed once. They are removed while in use, so a recursive
    /// message computes separate ones.
    fn actions_of(&mut self, message: &'static MessageType) -> Option<Box<Actions>> {
        let known = self.actions.iter().position(|(known, _)| std::ptr::eq(*known, message));
        match known {
            // Taken out, because the walk of the message borrows `self`; callers put it back.
            Some(known) => Some(self.actions.swap_remove(known).1),
            None => Some(Box::new(actions(message, self.version))),
        }
    }

    /// Copies the outline of a message above profiles, without the tag and length of the message.
    fn message(&mut self, message: &'static MessageType, mut reader: Reader<'a>) -> Option<Tables> {
        let actions = self.actions_of(message)?;
        let mut tables = Tables { end: reader.at() + reader.left(), ..Tables::default() };
        loop {
            tables.count(&mut reader, &actions);
            let at = reader.at();
            let Some(tag) = reader.tag().ok()? else { break };
            match *actions.get(tag as usize)? {
                Action::Row(table) => {
                    let longest = reader.message().ok()?.left() as u64;
                    tables.of(table).add((at, tag), 1, longest, 0);
                }
                Action::Enter(inner) => self.enter(inner, tag, reader.message().ok()?)?,
                Action::Copy => drop(self.copy(message, at, tag, &mut reader)?),
                Action::Sample | Action::LeaveOut | Action::Unsupported => return None,
            }
        }
        self.actions.push((message, actions));
        self.counted(&tables);
        Some(tables)
    }

    /// Copies the outline of a profile.
    fn profile(&mut self, mut reader: Reader<'a>) -> Option<()> {
        let actions = self.actions_of(&PROFILE)?;
        // Up to 1.5, a profile contains its tables. Since 1.8, it has one sample type.
        let own = self.version <= Version::V1_5;
        let single = self.version >= Version::V1_8;
        let mut tables = Tables { end: reader.at() + reader.left(), ..Tables::default() };
        let mut tally =
            SampleTotals { sums: vec![0; usize::from(single)], ..SampleTotals::default() };
        let mut types = 0;
        loop {
            tables.count(&mut reader, &actions);
            let at = reader.at();
            let Some(tag) = reader.tag().ok()? else { break };
            match *actions.get(tag as usize)? {
                Action::Sample if single => {
                    let add = |sample| tally.single(sample, &mut self.samples);
                    samples(&mut reader, tag, add)?;
                }
                Action::Sample => {
                    let add = |sample| tally.several(sample, &mut self.samples);
                    samples(&mut reader, tag, add)?;
                }
                Action::Row(table) => {
                    let longest = reader.message().ok()?.left() as u64;
                    tables.of(table).add((at, tag), 1, longest, 0);
                }
                Action::LeaveOut => reader.skip(tag, self.levels).ok()?,
                Action::Copy => types += self.copy(&PROFILE, at, tag, &mut reader)?,
                Action::Enter(_) | Action::Unsupported => return None,
            }
        }
        self.actions.push((&PROFILE, actions));
        self.counted(&tables);
        if own {
            self.tables(&tables)?;
            self.refs = Refs::default();
        }
        // A second empty string may begin the table of a concatenated profile.
        let is_joined = own && tables.rows[Table::String as usize].empty > 1;
        let Self { version, payload, levels, .. } = *self;
        if is_joined
            || version == Version::Pprof
                && !have_unique_ids(&tables.rows, payload, tables.end, levels)
            || !single && tally.samples > 0 && tally.sums.len() != types
        {
            return None;
        }
        // Samples without sample types have no values, so each timestamp counts 1.
        let empty = if types == 0 { tally.timestamps.into() } else { 0 };
        tally.sums.resize(if single { 1 } else { types.max(1) }, empty);
        self.tallies.push(tally);
        Some(())
    }

    /// Adds the row counts of a message's tables to the totals.
    fn counted(&mut self, tables: &Tables) {
        let counts = self.counts.iter_mut().zip(&tables.rows);
        counts.for_each(|(count, rows)| *count += rows.count);
        let longest = tables.rows[Table::String as usize].longest;
        self.longest_string = self.longest_string.max(longest);
    }

    /// Copies a field whose tag was read. Returns the number of sample types in it, 0 or 1.
    fn copy(
        &mut self,
        message: &'static MessageType,
        at: usize,
        tag: u32,
        reader: &mut Reader<'a>,
    ) -> Option<usize> {
        let field = message.numbered(tag >> 3, self.version)?;
        self.refs.field(field, tag, *reader, self.version, self.levels)?;
        reader.skip(tag, self.levels).ok()?;
        self.out.extend_from_slice(self.payload.get(at..reader.at())?);
        Some(usize::from(field.role == Role::Row(Table::SampleType)))
    }

    /// Copies the outline of an embedded message. A dictionary is only recorded.
    ///
    /// The dictionary is written at the end, because later profiles may refer to its rows. `None` for a second
    /// dictionary.
    fn enter(&mut self, inner: &'static MessageType, tag: u32, body: Reader<'a>) -> Option<()> {
        if std::ptr::eq(inner, &PROFILES_DICTIONARY) {
            let tables = self.message(inner, body)?;
            // Several dictionaries have to be merged, which only a reader does.
            return self.dictionary.replace((tag, tables)).is_none().then_some(());
        }
        let (start, profiles) = (self.open(tag), self.tallies.len());
        match std::ptr::eq(inner, &PROFILE) {
            true => self.profile(body)?,
            false => {
                self.message(inner, body)?;
            }
        }
        // A reader merges several profiles of a container, and makes an empty one if there is none.
        if std::ptr::eq(inner, &PROFILE_CONTAINER) && self.tallies.len() != profiles + 1 {
            return None;
        }
        self.close(start)
    }

    /// Writes the tag of a message and reserves bytes for its length. Returns the start of its body.
    fn open(&mut self, tag: u32) -> usize {
        // The messages above profiles have tags of one byte.
        self.out.push(tag as u8);
        self.out.extend([0; LENGTH]);
        self.out.len()
    }

    /// Writes the length of the message whose body begins at `start`.
    ///
    /// The length always takes five bytes, padded with continuation bits, so that bodies never move.
    fn close(&mut self, start: usize) -> Option<()> {
        let mut length = u32::try_from(self.out.len() - start).ok().filter(|at| *at >> 31 == 0)?;
        let room = self.out.get_mut(start - LENGTH..start)?;
        let (last, others) = room.split_last_mut()?;
        for byte in others {
            *byte = length as u8 | 0x80;
            length >>= 7;
        }
        *last = length as u8;
        Some(())
    }

    /// Writes the tables of a message with the referenced rows.
    fn tables(&mut self, tables: &Tables) -> Option<()> {
        if !self.refs.attributes.is_empty() {
            let referenced = std::mem::take(&mut self.refs.attributes);
            let row = if self.version >= Version::V1_8 { &KEY_VALUE_AND_UNIT } else { &KEY_VALUE };
            self.rows(
                &tables.rows[Table::Attribute as usize],
                tables.end,
                Some(&referenced),
                Some(row),
            )?;
            self.rows(
                &tables.rows[Table::AttributeUnit as usize],
                tables.end,
                None,
                Some(&ATTRIBUTE_UNIT),
            )?;
        }
        let mut referenced = std::mem::take(&mut self.refs.strings);
        let strings = &tables.rows[Table::String as usize];
        if strings.count > 0 {
            referenced.insert(0);
            self.string_tables += 1;
        }
        self.rows(strings, tables.end, Some(&referenced), None)
    }

    /// Writes the `referenced` rows of a table (all rows if `None`), and empty rows in place of the others before the
    /// last.
    ///
    /// `None` if a referenced row does not exist.
    fn rows(
        &mut self,
        rows: &Rows,
        end: usize,
        referenced: Option<&BTreeSet<u32>>,
        message: Option<&'static MessageType>,
    ) -> Option<()> {
        let (last, payload) = (referenced.map(|referenced| referenced.last()), self.payload);
        let most = match last {
            Some(None) => return Some(()),
            Some(Some(last)) => u64::from(*last) + 1,
            None => rows.count,
        };
        let (Some((_, tag)), true) = (rows.first, most <= rows.count) else {
            return (most == 0).then_some(());
        };
        for (row, body) in (0..).zip(rows.all(payload, end, self.levels)).take(most as usize) {
            let body = body?;
            varint(&mut self.out, tag.into());
            if referenced.is_none_or(|referenced| referenced.contains(&row)) {
                if let Some(message) = message {
                    self.refs.message(body, message, self.version, self.levels)?;
                }
                varint(&mut self.out, body.left() as u64);
                self.out.extend_from_slice(body.rest());
            } else {
                self.out.push(0);
            }
        }
        Some(())
    }
}

/// Bytes to reserve for the length of a message.
const LENGTH: usize = 5;
