//! Sample types of groups that differ in sample types only.
//!
//! ```text
//! heap      alloc_space, inuse_space (bytes)  ─┐   alloc_space   of the first
//! jemalloc  inuse_space (KiB)                 ─┴►  inuse_space   of both, in bytes
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, ErrorKind, Result};
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{StackId, StringId};
use crate::model::profile::ValueType;
use crate::tables::rows::interner::Interner;
use crate::tables::rows::samples::Identity;
use crate::transform::merge::merger::Group;
use crate::transform::merge::options::{Columns, Combine, MergeOptions};
use crate::transform::merge::rows::{Rows, Snapshot};
use crate::transform::merge::units::{Kind, factor, finest, kinds_of, report_converted};

/// Sample types that form one merged profile.
pub(super) struct Class {
    /// With the finest unit of the members.
    pub(super) types: Vec<ValueType>,
    pub(super) members: Vec<Member>,
}

/// A group in a class.
pub(super) struct Member {
    /// Its position among the groups that differ in sample types only.
    pub(super) group: usize,
    /// The sample types of the class that the group has, ascending. The others are not stored, because many groups
    /// may have one of many types each.
    pub(super) columns: Vec<Column>,
}

/// A sample type of a class in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The column of the class.
    pub(super) of_class: usize,
    /// The column of the group, and the factor of its values.
    pub(super) of_group: usize,
    pub(super) factor: i128,
}

impl Member {
    /// Whether the columns are those of the group, unchanged.
    fn is_whole(&self, group: &Group) -> bool {
        let columns = self.columns.iter().enumerate();
        self.columns.len() == group.key.types.len().max(1)
            && columns
                .into_iter()
                .all(|(at, column)| *column == Column { of_class: at, of_group: at, factor: 1 })
    }
}

/// For each group the group that leads its pprof file: the first of the groups that were columns of one file and have the
/// same samples, or the group itself.
pub(super) fn blocks(groups: &[Group]) -> Vec<usize> {
    let by_row: BTreeMap<usize, usize> =
        groups.iter().enumerate().map(|(at, group)| (group.row, at)).collect();
    let leader = |(at, group): (usize, &Group)| {
        let leader = group.column.all().and_then(|(leader, _)| by_row.get(leader).copied());
        let is_column = |leader: &usize| {
            let (ours, theirs) = (&group.rows, &groups[*leader].rows);
            group.key.types.len() == 1 && ours.points.is_empty() && ours.samples == theirs.samples
        };
        leader.filter(is_column).unwrap_or(at)
    };
    groups.iter().enumerate().map(leader).collect()
}

/// Divides the sample types of groups into merged profiles. Units such as `kBy` and `KiB`, of which neither is a
/// multiple of the other, become `bytes`.
pub(super) fn classes(
    groups: &[Group],
    blocks: &[usize],
    options: &MergeOptions,
    bytes: StringId,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Vec<Class> {
    let mut kinds: Vec<Kind> = Vec::new();
    // By kind: groups and their columns.
    let mut columns: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut index: BTreeMap<Kind, usize> = BTreeMap::new();
    for (group, of) in groups.iter().enumerate() {
        for (column, kind) in kinds_of(of, dictionary).into_iter().enumerate() {
            let row = *index.entry(kind).or_insert_with(|| {
                kinds.push(kind);
                columns.push(Vec::new());
                kinds.len() - 1
            });
            columns[row].push((group, column));
        }
    }
    let mut classes: Vec<Vec<usize>> = Vec::new();
    match options.columns {
        Columns::ZeroFill => classes.push((0..kinds.len()).collect()),
        Columns::Intersect => {
            let (kept, dropped): (Vec<_>, _) =
                (0..kinds.len()).partition(|kind| columns[*kind].len() == groups.len());
            for kind in dropped {
                report_dropped(groups, &columns[kind], dictionary, losses);
            }
            classes.extend((!kept.is_empty()).then_some(kept));
        }
        Columns::Apart => classes.extend(apart(groups, blocks, &columns)),
    }
    let mut lists = lists_by_class(&classes, lists(groups, blocks, &columns));
    for (row, class) in classes.iter_mut().enumerate() {
        let lists = lists.remove(&row).unwrap_or_default();
        sort_types(class, lists, &kinds, options.canonical, dictionary);
    }
    let class = |kinds: Vec<usize>| class(groups, &kinds, &columns, bytes, dictionary, losses);
    classes.into_iter().map(class).collect()
}

/// Sample types of the same inputs, by type. They become one profile only if some input has them in one profile.
fn apart(groups: &[Group], blocks: &[usize], columns: &[Vec<(usize, usize)>]) -> Vec<Vec<usize>> {
    let mut index: BTreeMap<(BTreeSet<usize>, Option<usize>), usize> = BTreeMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (kind, columns) in columns.iter().enumerate() {
        let members: BTreeSet<usize> = columns.iter().map(|(group, _)| blocks[*group]).collect();
        let is_joined = columns.iter().any(|(group, _)| groups[*group].key.types.len() > 1);
        let key = (members, (!is_joined).then_some(kind));
        let class = *index.entry(key).or_insert(classes.len());
        classes.resize(classes.len().max(class + 1), Vec::new());
        classes[class].push(kind);
    }
    classes
}

/// The sample types of each pprof file among the inputs, in the order of its columns.
fn lists(groups: &[Group], blocks: &[usize], columns: &[Vec<(usize, usize)>]) -> Vec<Vec<usize>> {
    let mut lists: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (kind, columns) in columns.iter().enumerate() {
        for (group, column) in columns {
            let of_block =
                groups[*group].column.all().filter(|_| groups[*group].key.types.len() == 1);
            let column = of_block.map_or(*column, |(_, column)| *column);
            lists.entry(blocks[*group]).or_default().push((column, kind));
        }
    }
    let sorted = |mut list: Vec<(usize, usize)>| {
        list.sort_unstable();
        list.into_iter().map(|(_, kind)| kind).collect()
    };
    lists.into_values().map(sorted).collect()
}

/// Divides lists of sample types among the classes. A type is in one class.
fn lists_by_class(
    classes: &[Vec<usize>],
    lists: Vec<Vec<usize>>,
) -> BTreeMap<usize, Vec<Vec<usize>>> {
    let rows = classes.iter().enumerate();
    let class_of: BTreeMap<usize, usize> =
        rows.flat_map(|(row, class)| class.iter().map(move |kind| (*kind, row))).collect();
    let mut by_class: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for list in lists {
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for kind in list {
            if let Some(class) = class_of.get(&kind) {
                parts.entry(*class).or_default().push(kind);
            }
        }
        for (class, part) in parts {
            by_class.entry(class).or_default().push(part);
        }
    }
    by_class
}

/// Puts the sample types of a class into the order of the inputs: of the first, then what the others have in addition.
/// A canonical merge sorts by name unless all inputs agree, so that the result does not depend on their order.
fn sort_types(
    class: &mut [usize],
    lists: Vec<Vec<usize>>,
    kinds: &[Kind],
    is_canonical: bool,
    dictionary: &Dictionary,
) {
    if is_canonical && lists.windows(2).any(|pair| pair[0] != pair[1]) {
        class.sort_by_key(|kind| {
            let (name, unit, temporality, nth) = kinds[*kind];
            let text = |id| dictionary.text(id);
            (text(name), unit.map_err(text), temporality, nth)
        });
        return;
    }
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for kind in lists.into_iter().flatten() {
        let next = places.len();
        places.entry(kind).or_insert(next);
    }
    class.sort_by_key(|kind| places.get(kind).copied());
}

fn report_dropped(
    groups: &[Group],
    columns: &[(usize, usize)],
    dictionary: &Dictionary,
    losses: &mut Losses,
) {
    for (group, column) in columns {
        let group = &groups[*group];
        let types = &group.key.types;
        let sum: i128 = group.rows.sums.iter().skip(*column).step_by(types.len().max(1)).sum();
        let of = types.get(*column).copied().unwrap_or_default();
        losses.add(losses::COLUMNS_DROPPED, || {
            format!("{}: {sum} {}", dictionary.text(of.name), dictionary.text(of.unit))
        });
    }
}

/// Finds the finest unit of each sample type of a class and the factors of the others.
fn class(
    groups: &[Group],
    kinds: &[usize],
    columns: &[Vec<(usize, usize)>],
    bytes: StringId,
    dictionary: &Dictionary,
    losses: &mut Losses,
) -> Class {
    let members: Vec<usize> = {
        let all = kinds.iter().flat_map(|kind| columns[*kind].iter().map(|(group, _)| *group));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let member = |group: &usize| Member { group: *group, columns: Vec::new() };
    let mut members: Vec<Member> = members.iter().map(member).collect();
    let mut types = Vec::with_capacity(kinds.len());
    for (at, kind) in kinds.iter().enumerate() {
        let of = |group: usize, column: usize| {
            groups[group].key.types.get(column).copied().unwrap_or_default()
        };
        let all = columns[*kind].iter().map(|(group, column)| of(*group, *column));
        let Some(finest) = finest(all, bytes, dictionary) else { continue };
        types.push(finest);
        for (group, column) in &columns[*kind] {
            let theirs = of(*group, *column);
            if theirs.unit != finest.unit {
                report_converted(theirs, finest, dictionary, losses);
            }
            // Members are sorted, because they come from an ordered set.
            if let Ok(row) = members.binary_search_by_key(group, |member| member.group) {
                let factor = factor(theirs, dictionary) / factor(finest, dictionary);
                members[row].columns.push(Column { of_class: at, of_group: *column, factor });
            }
        }
    }
    Class { types, members }
}

/// The samples of a class, with the values in the units of the class.
///
/// # Errors
///
/// A limit is reached, or a converted value of a series does not fit 64 bits.
pub(super) fn rows_of(
    class: &Class,
    groups: &mut [Group],
    combine: Combine,
    interner: &mut Interner,
    losses: &mut Losses,
) -> Result<Rows> {
    if let [member] = &class.members[..] {
        let group = &mut groups[member.group];
        // Nothing to convert or to combine: take the rows without a copy.
        if member.is_whole(group) && group.rows.seen.is_empty() {
            return Ok(std::mem::take(&mut group.rows));
        }
    }
    let merged = Rows::default();
    let mut copy = Copy { class, combine, interner, merged, total: 0, filled: Vec::new() };
    for member in &class.members {
        let group = &groups[member.group];
        let places = copy.sums(member, group)?;
        copy.points(member, group, &places)?;
    }
    let missing = copy.filled.iter().filter(|is_filled| !**is_filled).count();
    losses.add_many(losses::COLUMNS_ZERO_FILLED, missing as u64, String::new);
    Ok(copy.merged)
}

/// Copies the samples of several groups into those of a class.
struct Copy<'a> {
    class: &'a Class,
    combine: Combine,
    interner: &'a mut Interner,
    merged: Rows,
    /// Rows of `merged`.
    total: usize,
    /// By sum of `merged`, whether some input has a value.
    filled: Vec<bool>,
}

impl Copy<'_> {
    /// Adds the sums of a group. Returns the row of each sample; `None` for one without a value in the latest snapshot.
    fn sums(&mut self, member: &Member, group: &Group) -> Result<Vec<Option<usize>>> {
        let Group { key, rows, header, .. } = group;
        let (ours, theirs) = (self.class.types.len(), key.types.len().max(1));
        let snapshots = header.tracks.values().map(|track| track.snapshots).max().unwrap_or(0);
        let combine = self.combine;
        let rule = |of: &Snapshot| of.rule(combine);
        let all = header.snapshots.iter().all(|of| rule(of) == Some(Combine::Last));
        let mut places = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let is_stale = rows.is_stale(row, self.combine);
            if is_stale && all && !header.snapshots.is_empty() {
                places.push(None);
                continue;
            }
            let id = rows.samples.stacktrace_ids.get(row).copied().unwrap_or_default();
            let identity = Identity::of(&rows.samples, row);
            let at = self.merged.row(self.interner, &mut self.total, identity, id, ours)?;
            places.push(Some(at));
            self.filled.resize(self.merged.sums.len(), false);
            for Column { of_class, of_group, factor } in &member.columns {
                self.filled[at * ours + of_class] = true;
                let value = rows.sums[row * theirs + of_group] * factor;
                let rule = header.snapshots.get(*of_group).and_then(rule);
                self.merged.sums[at * ours + of_class] += match rule {
                    Some(Combine::Last) if is_stale => 0,
                    Some(Combine::Mean) => mean(value, snapshots.into()),
                    _ => value,
                };
            }
        }
        Ok(places)
    }

    fn points(&mut self, member: &Member, group: &Group, places: &[Option<usize>]) -> Result<()> {
        let column = member.columns.first().filter(|column| column.of_class == 0);
        let factor = column.map_or(1, |column| column.factor);
        for (at, (row, time)) in group.rows.points.iter().enumerate() {
            let Some(place) = places[*row as usize] else { continue };
            let value = group.rows.point_values.get(at);
            let converted = value.map(|value| i128::from(*value) * factor);
            let stack = self.merged.samples.stacks[place];
            let dictionary = &self.interner.dictionary;
            let value = converted.map(|value| narrow(value, self.class, 0, stack, dictionary));
            let value = value.transpose()?;
            self.merged.add_points(self.interner, place, &[*time], value.as_slice())?;
        }
        Ok(())
    }
}

/// The mean of so many values by their sum, rounded half away from zero.
fn mean(sum: i128, count: i128) -> i128 {
    let (count, sign) = (count.max(1), sum.signum());
    sign * ((2 * sum.abs() + count) / (2 * count))
}

/// A value in 64 bits.
///
/// # Errors
///
/// It does not fit: `value.overflow` with the sample type and the stack.
pub(super) fn narrow(
    value: i128,
    class: &Class,
    column: usize,
    stack: StackId,
    dictionary: &Dictionary,
) -> Result<i64> {
    i64::try_from(value).map_err(|_| {
        let of = class.types.get(column).copied().unwrap_or_default();
        let frames: Vec<_> = dictionary.frames(stack).rev().map(|frame| frame.to_string()).collect();
        let shown = frames.len().saturating_sub(8);
        Error::new(
            ErrorKind::Unrepresentable,
            format!(
                "value.overflow: the sum of {} of stack {}{} is {value}, beyond 64 bits: add up fewer inputs, or \
                 combine snapshots by --combine last",
                dictionary.text(of.name),
                if shown > 0 { "…;" } else { "" },
                frames[shown..].join(";"),
            ),
        )
    })
}
