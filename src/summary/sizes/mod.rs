//! Measures which parts of a payload use the bytes: by table and field, uncompressed and gzipped, with the saving
//! of another layout and the largest items.

mod largest;
mod parts;
#[cfg(feature = "serde")]
mod serialize;
mod tree;
mod walk;
mod without;

pub use self::parts::{CompactSize, FieldSize, StackSize, StringSize, TableSize};

use crate::compression::{Level, deflated_length};
use crate::error::{Error, ErrorKind, Result};
use crate::format::detect::{Depth, Detected, detect_payload};
use crate::format::{Encoding, Format, Layout};
use crate::reader::{Ambiguity, ReadOptions, of_one, read, read_detected};
use crate::schema::Version;
use crate::write_options::WriteOptions;
use crate::writer::write;

use self::largest::Largest;
use self::tree::{Part, Tree};
use self::walk::{Count, Counted};

/// The bytes of a payload by table and field.
///
/// ```text
/// payload = Profile.sample 6,115 + Profile.location 4,374 + Profile.string_table 4,091 + …
///           └─ tags and lengths 286 + location_id 1,660 + value 1,001 + label.key 1,056 + …
/// ```
///
/// The bytes of all tables add up to the payload's, and those of its fields to the table's. A field counts
/// its tag, its length and its value; a message counts only its tag and length. Measuring takes one
/// walk over the payload, up to 20 compressions without one field each, and one reading and writing
/// for the saving of [`Layout::Compact`].
///
/// ```
/// use otlp_profiles::ReadOptions;
/// use otlp_profiles::summary::Sizes;
///
/// let file = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
/// let sizes = Sizes::of(&file, &ReadOptions::default())?;
/// let largest = &sizes.tables()[0];
/// println!("{}.{}: {} of {} bytes", largest.message, largest.field, largest.bytes, sizes.bytes());
/// assert_eq!(sizes.tables().iter().map(|table| table.bytes).sum::<u64>(), sizes.bytes());
///
/// let compact = sizes.compact().unwrap();
/// assert!(compact.gzipped < sizes.gzipped());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// With the feature `serde`, sizes serialise with the keys of `info --sizes --json`. If the compact size is an
/// error, it serialises as `{"error": {"place": …, "message": …, "byte": …}}`.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Sizes {
    #[cfg_attr(feature = "serde", serde(skip))]
    detected: Detected,
    bytes: u64,
    #[cfg_attr(feature = "serde", serde(rename = "gzipped_bytes"))]
    gzipped: u64,
    tables: Vec<TableSize>,
    strings: Vec<StringSize>,
    stacks: Vec<StackSize>,
    #[cfg_attr(feature = "serde", serde(serialize_with = "serialize::compact"))]
    compact: Result<CompactSize>,
}

/// Maximum number of copies without a field to deflate.
const MOST_DEFLATED: usize = 20;

/// Maximum characters to return of a large string.
const MOST_CHARS: usize = 80;

impl Sizes {
    /// Measures one message: decompresses it, removes the framing and detects the format.
    ///
    /// # Errors
    ///
    /// - As [`read`], if the bytes are of no known format, exceed a limit, or are several messages in one file.
    /// - [`ErrorKind::Unrepresentable`]: the format has no protobuf fields to measure.
    /// - [`ErrorKind::Malformed`]: a field is cut short. Only [`compact`](Self::compact) detects other faults.
    pub fn of(bytes: &[u8], options: &ReadOptions) -> Result<Self> {
        of_one(bytes, &options.limits, |payload| {
            let detected = detected(payload, options)?;
            let version = version_of(detected.format)?;
            measured(payload, detected, version, options).map_err(|error| error.located(payload))
        })
    }

    /// Returns the format, its certainty and the evidence.
    pub fn detected(&self) -> &Detected {
        &self.detected
    }

    /// Returns the size of the payload in bytes, neither compressed nor framed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the size of the payload as gzip of level 6.
    pub fn gzipped(&self) -> u64 {
        self.gzipped
    }

    /// Returns all tables, and fields outside tables, in the payload: the largest first, then by name.
    pub fn tables(&self) -> &[TableSize] {
        &self.tables
    }

    /// Returns the ten largest strings, in tables or inline. Strings in lists of values are not included.
    pub fn strings(&self) -> &[StringSize] {
        &self.strings
    }

    /// Returns the ten deepest distinct stacks.
    pub fn stacks(&self) -> &[StackSize] {
        &self.stacks
    }

    /// Returns the size that [`Layout::Compact`] would have.
    ///
    /// # Errors
    ///
    /// The payload cannot be read in full, or its format has a fixed order.
    pub fn compact(&self) -> std::result::Result<&CompactSize, &Error> {
        self.compact.as_ref()
    }
}

/// Detects the format of a payload as [`read`] does.
fn detected(payload: &[u8], options: &ReadOptions) -> Result<Detected> {
    let refuse = options.ambiguity == Ambiguity::Refuse && options.format.is_none();
    let depth = if refuse { Depth::Whole } else { Depth::Bounded };
    let detected = detect_payload(payload, options.format, options.endpoint, depth)?;
    if refuse && detected.certainty.is_guess() {
        return Ok(read(payload, options)?.detected);
    }
    Ok(detected)
}

/// Returns the version whose schema describes a format, or an error if the format is not protobuf.
fn version_of(format: Format) -> Result<Version> {
    match format.encoding() {
        Encoding::Pprof => Ok(Version::Pprof),
        Encoding::Otlp(version) => Ok(version),
        Encoding::Events => Ok(Version::Events),
        Encoding::OtlpJson | Encoding::Own { .. } => {
            let message = format!(
                "{format} has no fields to measure: convert it to otlp or pprof, and measure that"
            );
            Err(Error::new(ErrorKind::Unrepresentable, message))
        }
    }
}

/// Measures a payload in order of cost: one walk, then up to 20 deflations, then a full reading and writing.
fn measured(
    payload: &[u8],
    detected: Detected,
    version: Version,
    options: &ReadOptions,
) -> Result<Sizes> {
    let levels = options.limits.max_nesting;
    let tree = Tree::of(version);
    let Counted { counts, largest } = walk::counted(payload, &tree, levels)?;
    let nodes = to_leave_out(&tree, &counts);
    let (gzipped, saved) = without::saved(payload, &tree, &nodes, levels)?;
    let saved: Vec<(usize, i64)> = nodes.into_iter().zip(saved).collect();
    let compact = compacted(payload, &detected, options);
    let (strings, stacks) = named(payload, &tree, largest);
    let tables = tables(&tree, &counts, &saved);
    let bytes = payload.len() as u64;
    Ok(Sizes { detected, bytes, gzipped, tables, strings, stacks, compact })
}

/// Returns the bytes of a field, including all fields below it.
fn whole(tree: &Tree, counts: &[Count], node: usize) -> u64 {
    let end = match tree.nodes.get(node) {
        Some(of) if of.part != Part::Container => of.end,
        _ => node + 1,
    };
    counts.get(node..end).unwrap_or_default().iter().map(|count| count.bytes).sum()
}

/// Returns the largest tables and fields, for which a deflation is worth its cost.
fn to_leave_out(tree: &Tree, counts: &[Count]) -> Vec<usize> {
    let is_one = |node: &usize| match tree.nodes.get(*node) {
        Some(of) => of.table == Some(*node) || (of.table.is_some() && of.part != Part::Message),
        None => false,
    };
    let mut nodes: Vec<usize> = (1..tree.nodes.len())
        .filter(is_one)
        .filter(|node| whole(tree, counts, *node) > 0)
        .collect();
    nodes.sort_by_key(|node| (std::cmp::Reverse(whole(tree, counts, *node)), *node));
    nodes.truncate(MOST_DEFLATED);
    nodes
}

/// Builds the results by table. A container is a separate entry that counts only its tags and lengths.
fn tables(tree: &Tree, counts: &[Count], saved: &[(usize, i64)]) -> Vec<TableSize> {
    let gzip = |node: usize| saved.iter().find(|(of, _)| *of == node).map(|(_, saved)| *saved);
    let count = |node: usize| counts.get(node).copied().unwrap_or_default();
    let mut tables = Vec::new();
    for (node, of) in tree.nodes.iter().enumerate().skip(1) {
        let is_table = of.part == Part::Container || of.table == Some(node);
        if !is_table || count(node).times == 0 {
            continue;
        }
        let end = if of.part == Part::Message { of.end } else { node };
        let below = tree.nodes.iter().enumerate().take(end).skip(node);
        let mut fields: Vec<FieldSize> = below
            .filter(|(field, _)| count(*field).times > 0)
            .map(|(field, of)| FieldSize {
                path: tree.path(field),
                is_message: of.part == Part::Message,
                times: count(field).times,
                bytes: count(field).bytes,
                gzip: gzip(field).filter(|_| of.part != Part::Message),
            })
            .collect();
        fields.sort_by(|one, other| {
            other.bytes.cmp(&one.bytes).then_with(|| one.path.cmp(&other.path))
        });
        tables.push(TableSize {
            message: of.message,
            field: of.name,
            rows: count(node).times,
            bytes: whole(tree, counts, node),
            gzip: gzip(node),
            fields,
        });
    }
    tables.sort_by(|one, other| {
        let names = (one.message, one.field).cmp(&(other.message, other.field));
        other.bytes.cmp(&one.bytes).then(names)
    });
    tables
}

/// Converts the largest items to results with the names of their fields.
fn named(payload: &[u8], tree: &Tree, largest: Largest) -> (Vec<StringSize>, Vec<StackSize>) {
    let name = |node: usize| {
        let table = tree.nodes.get(node).and_then(|of| tree.nodes.get(of.table?));
        let (message, field) = table.map_or(("", ""), |table| (table.message, table.name));
        let path = tree.path(node);
        let dot = if path.is_empty() { "" } else { "." };
        format!("{message}.{field}{dot}{path}")
    };
    let strings = largest.texts.into_iter().map(|text| {
        let bytes = payload.get(text.range).unwrap_or_default();
        // A character has at most four bytes.
        let start = String::from_utf8_lossy(bytes.get(..4 * MOST_CHARS).unwrap_or(bytes));
        StringSize {
            field: name(text.node),
            row: text.row,
            bytes: bytes.len() as u64,
            start: start.chars().take(MOST_CHARS).collect(),
        }
    });
    let stacks = largest.stacks.iter();
    let stacks = stacks.map(|stack| StackSize {
        depth: stack.depth,
        bytes: stack.bytes,
        times: stack.times,
    });
    (strings.collect(), stacks.collect())
}

/// Measures the compact layout.
///
/// # Errors
///
/// Those of reading and writing the payload. The other sizes do not depend on this one.
fn compacted(payload: &[u8], detected: &Detected, options: &ReadOptions) -> Result<CompactSize> {
    let format = detected.format;
    if let Encoding::Events = format.encoding() {
        let message = format!("a layout applies to OTLP and pprof, not to {format}");
        return Err(Error::new(ErrorKind::Unrepresentable, message));
    }
    let profiles = read_detected(payload, detected.clone(), options)?.profiles;
    let layout = WriteOptions::default()
        .layout(Layout::Compact)
        .max_output_bytes(options.limits.max_output_bytes);
    let written = write(&profiles, format, &layout)?;
    let gzipped = deflated_length(&written.payload, Level::BEST);
    Ok(CompactSize { bytes: written.payload.len() as u64, gzipped, losses: written.losses })
}
