//! Adds one merger to another.

use crate::error::{Error, ErrorKind, Result};
use crate::tables::rows::merge::{Remap, absorb};
use crate::tables::rows::samples::Identity;
use crate::transform::merge::header::{Agreed, Header};
use crate::transform::merge::merger::{Group, Key, Merger};
use crate::transform::merge::options::Combine;

impl Merger {
    /// Adds everything in a merger of later inputs. The time is linear in its size.
    ///
    /// The result is the same as if the later inputs had been added to this merger. So inputs can be merged in
    /// several threads: divide them into consecutive parts, one for each thread, and append the mergers in order.
    ///
    /// # Errors
    ///
    /// A limit is reached, or both mergers contain a profile with the same id and contents
    /// ([`shares_a_profile`](Self::shares_a_profile)), which must count once.
    ///
    /// ```
    /// use otlp_profiles::transform::{MergeOptions, Merger};
    /// # let files = ["testdata/go-heap.pb.gz", "testdata/go-cpu-labels.pb.gz"].map(|file| std::fs::read(file).unwrap());
    /// # let files = files.map(|file| otlp_profiles::read(&file, &Default::default()).unwrap().profiles);
    ///
    /// let mut mergers = files.map(|file| {
    ///     let mut merger = Merger::new(MergeOptions::default());
    ///     merger.add(&file).map(|()| merger)
    /// }).into_iter();
    /// let mut merged = mergers.next().unwrap()?;
    /// for later in mergers {
    ///     merged.append(&later?)?;
    /// }
    /// assert_eq!(merged.finish()?.profiles.len(), 2);
    /// # Ok::<(), otlp_profiles::Error>(())
    /// ```
    pub fn append(&mut self, later: &Self) -> Result<()> {
        let remap = absorb(&mut self.interner, &later.interner.dictionary)?;
        let Self { interner, binaries, places, options, .. } = self;
        let dictionary = &interner.dictionary;
        binaries.append(&later.binaries, &remap, dictionary);
        let seed = &interner.seed;
        let rows = places.append(&later.places, &remap, seed, &options.resources, dictionary);
        let ids = later.ids.iter().flat_map(|(key, places)| {
            places.iter().map(|place| (*key, rows[*place as usize])).collect::<Vec<_>>()
        });
        let is_repeated = |(key, place): &(_, u32)| {
            self.ids.get(key).is_some_and(|places| places.contains(place))
        };
        // The least one, because the order of the map is random.
        if let Some(((id, _), _)) = ids.clone().filter(is_repeated).min() {
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                format!(
                    "profile {id} is in both mergers and must count once: add its input to the first merger"
                ),
            ));
        }
        for (key, place) in ids {
            self.ids.entry(key).or_default().insert(place);
        }
        self.losses.merge(&later.losses);
        let mains = std::iter::once(&later.main).chain(&later.mains);
        mains.for_each(|main| self.put_main(remap.id(*main)));
        let mut groups = Vec::with_capacity(later.groups.len());
        for group in &later.groups {
            groups.push(self.append_group(group, &remap, &rows)?);
        }
        for (group, later) in groups.iter().zip(&later.groups) {
            let Agreed { value, conflict, unset } = later.column;
            let value = value.map(|(leader, column)| (groups[leader], column));
            let ours = &mut self.groups[*group];
            ours.column.append(Agreed { value, conflict, unset });
            ours.ordinal = ours.ordinal.max(later.ordinal);
        }
        // Last, because `append_group` counts profiles that stay apart from the inputs so far.
        self.inputs += later.inputs;
        self.payloads += later.payloads;
        Ok(())
    }

    /// Returns whether a merger of later inputs repeats a profile of this one: the same id and contents. Then its
    /// inputs cannot be [appended](Self::append); add them one by one.
    pub fn shares_a_profile(&self, later: &Self) -> bool {
        // Rows of places differ between mergers, so ids and contents alone are compared.
        later.ids.keys().any(|key| self.ids.contains_key(key))
    }

    fn append_group(&mut self, later: &Group, remap: &Remap, places: &[u32]) -> Result<usize> {
        let Group { key, header, rows, .. } = later;
        let mut attributes = Vec::new();
        remap.attribute_set(&key.attributes, &mut attributes);
        let key = Key {
            place: places[key.place as usize],
            types: key.types.iter().map(|kind| remap.value_type(*kind)).collect(),
            period_type: remap.value_type(key.period_type),
            attributes,
            apart: if key.apart == 0 { 0 } else { self.inputs + key.apart },
            ..*key
        };
        let row = self.group(&key, key.shape);
        let Self { groups, interner, options, rows: total, payloads, .. } = self;
        let payloads = *payloads;
        let ours = &mut groups[row];
        let latest =
            |group: &Header| group.tracks.values().filter_map(|track| Some(track.times?.1)).max();
        // Before the headers are joined, which hides the difference.
        let is_latest = latest(header) >= latest(&ours.header);
        ours.header.append(header, Some(remap), |place| places[place as usize], payloads);
        let (columns, mut set) = (key.types.len().max(1), Vec::new());
        let is_combined = !rows.seen.is_empty();
        let mut rows_here = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let Identity { stack, attributes, link } = Identity::of(&rows.samples, row);
            remap.attribute_set(attributes, &mut set);
            let identity =
                Identity { stack: remap.id(stack), attributes: &set, link: remap.id(link) };
            let id = rows.samples.stacktrace_ids.get(row).copied().unwrap_or_default();
            let here = ours.rows.row(interner, total, identity, remap.id(id), columns)?;
            rows_here.push(here);
            let is_stale = rows.is_stale(row, options.combine);
            let sums = rows.sums[row * columns..].iter().take(columns).enumerate();
            for (column, sum) in sums {
                let snapshot = header.snapshots.get(column).copied().unwrap_or_default();
                match (is_combined, snapshot.rule(options.combine)) {
                    (false, _) => ours.rows.sums[here * columns + column] += sum,
                    (true, Some(Combine::Last)) if is_stale => {}
                    (true, _) => ours.rows.pend(here, columns, column, *sum),
                }
            }
        }
        if is_combined {
            ours.rows.latest += u32::from(is_latest || !options.combine.has_latest());
            ours.rows.apply(&ours.header.snapshots.clone(), options.combine, is_latest);
        }
        for (at, (row, time)) in rows.points.iter().enumerate() {
            let value = rows.point_values.get(at).copied();
            ours.rows.add_points(interner, rows_here[*row as usize], &[*time], value.as_slice())?;
        }
        Ok(row)
    }
}
