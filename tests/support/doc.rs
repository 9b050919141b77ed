//! The content of a payload as plain data, independent of the crate's code. Generators, prost's types of every
//! generation and the model convert to it.
//!
//! [`meaning`] converts it to lines of text that are equal exactly if two payloads have the same meaning. Row
//! numbers, duplicates and unreferenced rows do not matter: references are replaced by their content, attributes
//! are a map, and samples with one identity are merged.
#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::test_runner::TestCaseError;

#[derive(Clone, Default, PartialEq)]
pub struct Doc {
    pub resources: Vec<Resource>,
    /// The rows that profiles refer to, unless they have separate tables.
    pub tables: Tables,
}

/// Always formats on one line, even with `{:#?}`.
impl std::fmt::Debug for Doc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {:?}", self.resources, self.tables)
    }
}

/// Rows as on the wire, without an empty first one. References count from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    pub mappings: Vec<Mapping>,
    pub locations: Vec<Location>,
    pub functions: Vec<Function>,
    pub stacks: Vec<Vec<usize>>,
    pub links: Vec<([u8; 16], [u8; 8])>,
    pub attributes: Vec<Attribute>,
    /// Whether an empty row precedes the others, even if the generation does not require it.
    pub empty_rows: bool,
    /// Whether the table repeats strings.
    pub repeat_strings: bool,
    /// String 0, which must be empty in a valid payload.
    pub string_0: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    pub attributes: Vec<(String, Val)>,
    pub dropped: u32,
    pub entities: Vec<(String, String, Vec<String>, Vec<String>)>,
    pub schema_url: String,
    pub scopes: Vec<Scope>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    pub name: String,
    pub version: String,
    pub attributes: Vec<(String, Val)>,
    pub dropped: u32,
    pub schema_url: String,
    pub profiles: Vec<Profile>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    pub id: [u8; 16],
    pub time: i128,
    pub duration: i128,
    pub types: Vec<Type>,
    pub default: String,
    pub period_type: Type,
    pub period: i64,
    pub comments: Vec<String>,
    pub drop_frames: String,
    pub keep_frames: String,
    pub attributes: Vec<usize>,
    pub dropped: u32,
    pub original: (String, Vec<u8>),
    pub samples: Vec<Sample>,
    pub tables: Option<Tables>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type {
    pub name: String,
    pub unit: String,
    pub temporality: i32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    pub stack: Option<usize>,
    pub attributes: Vec<usize>,
    pub link: Option<usize>,
    pub stacktrace_id: String,
    pub values: Vec<i64>,
    pub times: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    pub range: [u64; 3],
    pub filename: String,
    /// In generations without a field for them, these two are attributes.
    pub build_id: String,
    pub flags: u8,
    pub attributes: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    pub mapping: Option<usize>,
    pub address: u64,
    pub lines: Vec<(Option<usize>, i64, i64)>,
    /// In generations without a field for them, these two are attributes.
    pub folded: bool,
    pub frame_type: String,
    pub attributes: Vec<usize>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    pub names: [String; 3],
    pub start_line: i64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribute {
    pub key: String,
    pub value: Val,
    pub unit: String,
}

#[derive(Clone, Debug, Default)]
pub enum Val {
    #[default]
    Empty,
    Str(String),
    Bool(bool),
    Int(i64),
    Double(f64),
    Bytes(Vec<u8>),
    Array(Vec<Val>),
    Map(Vec<(String, Val)>),
}

/// Compares the formatted value, so that a NaN equals itself.
impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        self.show() == other.show()
    }
}

impl Val {
    pub fn str(text: &str) -> Self {
        Self::Str(text.to_owned())
    }

    fn show(&self) -> String {
        match self {
            Self::Double(number) => format!("Double({:#x})", number.to_bits()),
            Self::Array(values) => {
                format!("Array{:?}", values.iter().map(Self::show).collect::<Vec<_>>())
            }
            Self::Map(pairs) => {
                format!("Map{:?}", pairs.iter().map(|(k, v)| (k, v.show())).collect::<Vec<_>>())
            }
            other => format!("{other:?}"),
        }
    }
}

/// Data to leave out of a comparison, because one of two generations cannot represent it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mask {
    pub temporality: bool,
    pub stacktrace_ids: bool,
    pub entities: bool,
    pub profile_ids: bool,
}

/// Returns lines that describe the meaning of `doc`.
pub fn meaning(doc: &Doc, mask: Mask) -> Vec<String> {
    let mut out = Vec::new();
    for resource in &doc.resources {
        out.push(format!("resource {} dropped {}", pairs(&resource.attributes), resource.dropped));
        if !mask.entities && !resource.entities.is_empty() {
            out.push(format!("  entities {:?}", resource.entities));
        }
        out.push(format!("  schema {:?}", resource.schema_url));
        for scope in &resource.scopes {
            let Scope { name, version, attributes, dropped, schema_url, profiles } = scope;
            out.push(format!(
                "  scope {name:?} {version:?} {} dropped {dropped} schema {schema_url:?}",
                pairs(attributes)
            ));
            for profile in profiles {
                say_profile(
                    profile,
                    profile.tables.as_ref().unwrap_or(&doc.tables),
                    mask,
                    &mut out,
                );
            }
        }
    }
    out
}

fn pairs(pairs: &[(String, Val)]) -> String {
    let map: BTreeMap<&str, String> =
        pairs.iter().map(|(key, value)| (&**key, value.show())).collect();
    assert_eq!(map.len(), pairs.len(), "a key is repeated: {pairs:?}");
    format!("{map:?}")
}

fn say_profile(profile: &Profile, tables: &Tables, mask: Mask, out: &mut Vec<String>) {
    let named = |kind: &Type| {
        let temporality = if mask.temporality { 0 } else { kind.temporality };
        format!("{:?} in {:?} temporality {temporality}", kind.name, kind.unit)
    };
    if !mask.profile_ids {
        out.push(format!("    profile {:?}", profile.id));
    }
    out.push(format!("      time {} duration {}", profile.time, profile.duration));
    profile.types.iter().for_each(|kind| out.push(format!("      type {}", named(kind))));
    out.push(format!("      default {:?}", profile.default));
    out.push(format!("      period {} of {}", profile.period, named(&profile.period_type)));
    out.push(format!("      dropped {} original {:?}", profile.dropped, profile.original));
    let mut own: Vec<(String, Val)> = Vec::new();
    let comments = Val::Array(profile.comments.iter().map(|text| Val::str(text)).collect());
    own.extend(
        (!profile.comments.is_empty()).then_some(("pprof.profile.comment".to_owned(), comments)),
    );
    for (key, text) in [("drop", &profile.drop_frames), ("keep", &profile.keep_frames)] {
        own.extend(
            (!text.is_empty()).then(|| (format!("pprof.profile.{key}_frames"), Val::str(text))),
        );
    }
    out.push(format!("      attributes {}", tables.attributes(&profile.attributes, &own)));
    for (key, totals, points) in merged(profile, tables, mask) {
        out.push(format!(
            "      sample {key}\n        totals {totals:?}\n        points {points:?}"
        ));
    }
}

type Totals = Vec<Vec<i64>>;
type Points = Vec<(u64, Vec<i64>)>;

/// The samples by identity, with their measurements merged.
fn merged(profile: &Profile, tables: &Tables, mask: Mask) -> Vec<(String, Totals, Points)> {
    let said = tables.said_locations();
    let mut samples: BTreeMap<String, (Totals, Points)> = BTreeMap::new();
    for sample in &profile.samples {
        let mut key = String::new();
        let stack = sample.stack.map_or(&[][..], |row| &tables.stacks[row]);
        stack.iter().for_each(|&row| write!(key, "\n          {}", said[row]).unwrap());
        write!(key, "\n        {}", tables.attributes(&sample.attributes, &[])).unwrap();
        let link =
            sample.link.map(|row| tables.links[row]).filter(|link| *link != Default::default());
        write!(key, " link {link:?}").unwrap();
        if !mask.stacktrace_ids {
            write!(key, " {:?}", sample.stacktrace_id).unwrap();
        }
        let (totals, points) = samples.entry(key).or_default();
        let (values, times) = (&sample.values, &sample.times);
        if times.is_empty() {
            totals.push(values.clone());
        } else if values.len() == times.len() && profile.types.len() < 2 {
            points.extend(times.iter().zip(values).map(|(time, value)| (*time, vec![*value])));
        } else if values.is_empty() {
            points.extend(times.iter().map(|time| (*time, vec![1])));
        } else {
            points.extend(
                times.iter().enumerate().map(|(at, time)| (*time, share(values, times.len(), at))),
            );
        }
    }
    let mut merged: Vec<_> =
        samples.into_iter().map(|(key, (totals, points))| (key, totals, points)).collect();
    merged.iter_mut().for_each(|(_, totals, points)| {
        totals.sort();
        points.sort();
    });
    merged
}

/// The share of a total for one of its timestamps. The last one gets the remainder.
fn share(totals: &[i64], parts: usize, at: usize) -> Vec<i64> {
    let parts = parts as i64;
    let rest = |total: i64| {
        if at as i64 + 1 == parts { total.rem_euclid(parts) } else { 0 }
    };
    totals.iter().map(|&total| total.div_euclid(parts) + rest(total)).collect()
}

impl Tables {
    fn attributes(&self, rows: &[usize], more: &[(String, Val)]) -> String {
        let rows = rows.iter().map(|&row| &self.attributes[row]);
        let mut all: Vec<(&str, String)> =
            rows.map(|a| (&*a.key, format!("{} in {:?}", a.value.show(), a.unit))).collect();
        all.extend(more.iter().map(|(key, value)| (&**key, format!("{} in \"\"", value.show()))));
        let count = all.len();
        let map: BTreeMap<_, _> = all.into_iter().collect();
        assert_eq!(map.len(), count, "a key is repeated: {map:?}");
        // A flag that is false equals an absent flag.
        let unset = |key: &str, said: &str| {
            key.starts_with("pprof.mapping.has_") && said.starts_with("Bool(false)")
        };
        let kept: BTreeMap<_, _> =
            map.into_iter().filter(|(key, said)| !unset(key, said)).collect();
        format!("{kept:?}")
    }

    pub fn said_mapping(&self, mapping: &Mapping) -> String {
        let mut own = flag_attributes(mapping.flags);
        if !mapping.build_id.is_empty() {
            own.push((build_id_key(&mapping.build_id).to_owned(), Val::str(&mapping.build_id)));
        }
        let attributes = self.attributes(&mapping.attributes, &own);
        format!("{:x?} {:?} {attributes}", mapping.range, mapping.filename)
    }

    pub fn said_locations(&self) -> Vec<String> {
        let said = |location: &Location| {
            let mapping = location.mapping.map(|row| self.said_mapping(&self.mappings[row]));
            let mapping = mapping.filter(|said| *said != self.said_mapping(&Mapping::default()));
            let line = |(function, line, column): &(Option<usize>, i64, i64)| {
                let Function { names, start_line } =
                    function.map_or(Function::default(), |row| self.functions[row].clone());
                format!("{names:?}@{start_line}:{line}:{column}")
            };
            let lines: Vec<String> = location.lines.iter().map(line).collect();
            let mut own = Vec::new();
            own.extend(
                location.folded.then_some(("pprof.location.is_folded".to_owned(), Val::Bool(true))),
            );
            let frame_type = match &*location.frame_type {
                "python" => "cpython",
                "hotspot" => "jvm",
                other => other,
            };
            own.extend(
                (!frame_type.is_empty())
                    .then(|| ("profile.frame.type".to_owned(), Val::str(frame_type))),
            );
            let attributes = self.attributes(&location.attributes, &own);
            format!("{:x} {lines:?} {attributes} in {mapping:?}", location.address)
        };
        self.locations.iter().map(said).collect()
    }
}

pub const FLAGS: [&str; 4] = [
    "pprof.mapping.has_functions",
    "pprof.mapping.has_filenames",
    "pprof.mapping.has_line_numbers",
    "pprof.mapping.has_inline_frames",
];

pub fn flag_attributes(flags: u8) -> Vec<(String, Val)> {
    let set = FLAGS.iter().enumerate().filter(|(bit, _)| flags & 1 << bit != 0);
    set.map(|(_, key)| ((*key).to_owned(), Val::Bool(true))).collect()
}

/// Go's build ids are four groups separated by slashes. Everything else counts as GNU's.
pub fn build_id_key(text: &str) -> &'static str {
    let group =
        |g: &str| !g.is_empty() && g.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let go = text.split('/').count() == 4 && text.split('/').all(group);
    if go { "process.executable.build_id.go" } else { "process.executable.build_id.gnu" }
}

/// Fails with the first lines that differ.
pub fn same(what: &str, expected: &[String], got: &[String]) -> Result<(), TestCaseError> {
    difference(expected, got)
        .map_or(Ok(()), |difference| Err(TestCaseError::fail(format!("{what}: {difference}"))))
}

pub fn difference(expected: &[String], got: &[String]) -> Option<String> {
    if expected == got {
        return None;
    }
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let show =
        |lines: &[String]| lines.iter().skip(at).take(2).cloned().collect::<Vec<_>>().join("\n");
    Some(format!(
        "line {at} of {}/{}\nexpected {}\ngot      {}",
        expected.len(),
        got.len(),
        show(expected),
        show(got)
    ))
}
