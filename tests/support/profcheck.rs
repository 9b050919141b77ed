//! The rules of the SIG's profcheck, including its checks for duplicates and orphans, and the corresponding rules
//! of older generations: everything that the specification calls an error.
//!
//! Uses none of the crate's readers and writers. Decodes a payload strictly, by the descriptors of the generation's
//! proto files: an unknown field is a problem, too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;

use prost::Message as _;
use prost::encoding::{WireType, decode_key, decode_varint};
use prost_types::field_descriptor_proto::Type;
use prost_types::{FieldDescriptorProto, FileDescriptorSet};

use super::forms::form;

/// Returns descriptions of the rules that a payload of the generation breaks.
pub fn problems(name: &str, payload: &[u8], orphans: Orphans) -> Vec<String> {
    let schema = Schema::of(name);
    let root = schema.decode(&schema.root, payload);
    let mut problems = Vec::new();
    if root.nodes("resource_profiles").is_empty() {
        problems.push("no resource profiles".into());
    }
    root.each(&mut |node| {
        for list in ["scope_profiles", "profiles"] {
            if schema.has(&node.kind, list) && node.nodes(list).is_empty() {
                problems.push(format!("{} without {list}", node.kind));
            }
        }
    });
    for (tables, user) in homes(&root) {
        let check = Check {
            name,
            zeros: schema.has("ProfilesDictionary", "stack_table"),
            temporality: schema.has("ValueType", "aggregation_temporality"),
            tables,
            user,
            orphans,
        };
        problems.extend(check.problems());
    }
    problems
}

/// The references that count in the check for orphaned strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    /// All references.
    Any,
    /// The references that profcheck counts: not those of resources, scopes and values.
    Profcheck,
}

/// A message: its fields by name, with nested messages and decoded numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Node {
    kind: String,
    fields: BTreeMap<String, Vec<Field>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Field {
    Number(i128),
    Text(String),
    Bytes(Vec<u8>),
    Node(Node),
}

/// The messages of a generation.
struct Schema {
    root: String,
    fields: HashMap<String, HashMap<u32, FieldDescriptorProto>>,
}

impl Schema {
    fn of(name: &str) -> Self {
        let files = FileDescriptorSet::decode(form(name).descriptors).expect("prost's own").file;
        let messages = files.iter().flat_map(|file| {
            let package = file.package();
            file.message_type
                .iter()
                .map(move |message| (format!(".{package}.{}", message.name()), message))
        });
        let fields: HashMap<_, _> = messages
            .map(|(name, message)| {
                let fields = message.field.iter();
                (name, fields.map(|field| (field.number() as u32, field.clone())).collect())
            })
            .collect();
        let root = |name: &&String| name.ends_with(".ProfilesData");
        let root = fields.keys().find(root).expect("every generation has one").clone();
        Self { root, fields }
    }

    fn has(&self, message: &str, field: &str) -> bool {
        self.fields.iter().any(|(name, fields)| {
            name.rsplit('.').next() == Some(message)
                && fields.values().any(|there| there.name() == field)
        })
    }

    fn decode(&self, name: &str, mut bytes: &[u8]) -> Node {
        let mut node =
            Node { kind: name.rsplit('.').next().unwrap_or_default().into(), ..Node::default() };
        while !bytes.is_empty() {
            let (number, wire) = decode_key(&mut bytes).expect("a tag");
            let field = self.fields[name]
                .get(&number)
                .unwrap_or_else(|| panic!("{name} has no field {number}"));
            let list = node.fields.entry(field.name().into()).or_default();
            self.field(field, wire, &mut bytes, list);
        }
        node
    }

    fn field(
        &self,
        field: &FieldDescriptorProto,
        wire: WireType,
        bytes: &mut &[u8],
        list: &mut Vec<Field>,
    ) {
        match (field.r#type(), wire) {
            (Type::Message, WireType::LengthDelimited) => {
                list.push(Field::Node(self.decode(field.type_name(), delimited(bytes))));
            }
            (Type::String, WireType::LengthDelimited) => {
                let text = String::from_utf8(delimited(bytes).into()).expect("UTF-8");
                list.push(Field::Text(text));
            }
            (Type::Bytes, WireType::LengthDelimited) => {
                list.push(Field::Bytes(delimited(bytes).into()));
            }
            (kind, WireType::LengthDelimited) => {
                let mut packed = delimited(bytes);
                while !packed.is_empty() {
                    list.push(number(kind, &mut packed));
                }
            }
            (kind, _) => list.push(number(kind, bytes)),
        }
    }
}

fn delimited<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = decode_varint(bytes).expect("a length") as usize;
    let (body, rest) = bytes.split_at(length);
    *bytes = rest;
    body
}

fn number(kind: Type, bytes: &mut &[u8]) -> Field {
    Field::Number(match kind {
        Type::Fixed64 | Type::Double => {
            let (eight, rest) = bytes.split_first_chunk().expect("eight bytes");
            *bytes = rest;
            u64::from_le_bytes(*eight).into()
        }
        Type::Uint64 | Type::Uint32 | Type::Bool => decode_varint(bytes).expect("a varint").into(),
        Type::Int64 | Type::Int32 | Type::Enum => {
            (decode_varint(bytes).expect("a varint") as i64).into()
        }
        other => panic!("no generation has {other:?}"),
    })
}

impl Node {
    fn list<'a, T>(&'a self, name: &str, of: fn(&'a Field) -> Option<T>) -> Vec<T> {
        let fields = self.fields.get(name).map_or(&[][..], Vec::as_slice);
        fields.iter().filter_map(of).collect()
    }

    fn nodes(&self, name: &str) -> Vec<&Node> {
        self.list(name, |field| match field {
            Field::Node(node) => Some(node),
            _ => None,
        })
    }

    fn numbers(&self, name: &str) -> Vec<i128> {
        self.list(name, |field| match field {
            Field::Number(number) => Some(*number),
            _ => None,
        })
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        self.list(name, |field| match field {
            Field::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    fn number(&self, name: &str) -> i128 {
        self.numbers(name).first().copied().unwrap_or(0)
    }

    fn text(&self, name: &str) -> &str {
        self.texts(name).first().copied().unwrap_or_default()
    }

    fn bytes(&self, name: &str) -> &[u8] {
        let bytes = self.list(name, |field| match field {
            Field::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        bytes.first().copied().unwrap_or_default()
    }

    /// Calls `f` with this message and all nested ones.
    fn each<'a>(&'a self, f: &mut impl FnMut(&'a Node)) {
        f(self);
        for field in self.fields.values().flatten() {
            if let Field::Node(node) = field {
                node.each(f);
            }
        }
    }

    /// Whether all fields have default values, even if they are on the wire.
    fn is_zero(&self) -> bool {
        self.fields.values().flatten().all(|field| match field {
            Field::Number(number) => *number == 0,
            Field::Text(text) => text.is_empty(),
            Field::Bytes(bytes) => bytes.is_empty(),
            Field::Node(node) => node.is_zero(),
        })
    }

    /// Returns the row for comparison: without its id, and with its attributes as a set.
    fn canonical(&self) -> Node {
        let mut row = self.clone();
        row.fields.remove("id");
        for name in ["attribute_indices", "attributes"] {
            if let Some(list) = row.fields.get_mut(name) {
                list.sort();
            }
        }
        row
    }
}

/// Returns the messages that contain tables, each with the message that uses them: a profile and itself, or the
/// dictionary and the payload.
fn homes(root: &Node) -> Vec<(&Node, &Node)> {
    let mut homes = Vec::new();
    root.each(&mut |node| {
        if node.fields.contains_key("string_table") {
            let user = if node.kind == "Profile" { node } else { root };
            homes.push((node, user));
        }
    });
    homes
}

/// Returns the table that a field refers to.
fn table_of(node: &Node, field: &str) -> Option<&'static str> {
    Some(match (node.kind.as_str(), field) {
        (_, "mapping_index") => "mapping",
        (_, "function_index") => "function",
        (_, "link_index") | ("Sample", "link") => "link",
        (_, "stack_index") => "stack",
        (_, "location_indices") | ("Sample", "location_index") => "location",
        (_, "attribute_indices") => "attribute",
        ("Sample" | "Mapping" | "Location", "attributes") => "attribute",
        (_, field) if field.ends_with("_strindex") || field.ends_with("_strindices") => "string",
        ("Mapping", "filename" | "build_id")
        | ("Function", "name" | "system_name" | "filename")
        | ("ValueType", "type" | "unit")
        | ("AttributeUnit", "attribute_key" | "unit")
        | ("Location", "type_index")
        | ("Sample", "stacktrace_id_index")
        | ("Profile", "drop_frames" | "keep_frames" | "comment" | "default_sample_type") => {
            "string"
        }
        _ => return None,
    })
}

const TABLES: [&str; 6] = ["mapping", "location", "function", "link", "attribute", "stack"];

/// Reports a condition that must hold, the fault if it does not, and the item.
type Says<'s> = &'s mut dyn FnMut(bool, &dyn Debug, &dyn Debug);

struct Check<'a> {
    name: &'a str,
    /// Whether row 0 of every table is the zero value, which is so since the stack table exists.
    zeros: bool,
    temporality: bool,
    tables: &'a Node,
    user: &'a Node,
    orphans: Orphans,
}

impl<'a> Check<'a> {
    fn rows(&self, table: &str) -> Vec<&'a Node> {
        let named = self.tables.nodes(&format!("{table}_table"));
        if named.is_empty() { self.tables.nodes(table) } else { named }
    }

    fn len(&self, table: &str) -> usize {
        match table {
            "string" => self.tables.texts("string_table").len(),
            table => self.rows(table).len(),
        }
    }

    fn string(&self, row: i128) -> &'a str {
        let strings = self.tables.texts("string_table");
        strings.get(row as usize).copied().unwrap_or("<no such string>")
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut says = |holds: bool, problem: &dyn Debug, of: &dyn Debug| {
            if !holds {
                problems.push(format!("{}: {problem:?} in {of:?}", self.name));
            }
        };
        self.check_tables(&mut says);
        self.check_references(&mut says);
        let mut ids = HashSet::new();
        self.user.each(&mut |node| {
            self.check_attributes(node, &mut says);
            match node.kind.as_str() {
                "Profile" => self.check_profile(node, &mut says),
                "Mapping" => self.check_mapping(node, &mut says),
                "Line" => {
                    says(node.number("line") >= 0 && node.number("column") >= 0, &"line", node)
                }
                "Function" => says(node.number("start_line") >= 0, &"start line", node),
                "Resource" => self.check_entities(node, &mut says),
                _ => {}
            }
            if node.kind == "ProfileContainer" {
                let (start, end) =
                    (node.number("start_time_unix_nano"), node.number("end_time_unix_nano"));
                says(start <= end, &"end before start", node);
            }
            let id = node.bytes("profile_id");
            let has_id = node.kind == "ProfileContainer"
                || node.kind == "Profile" && self.name != "otlp-1.3";
            if has_id && (!self.zeros || !id.is_empty()) {
                says(id.len() == 16 && id != [0; 16], &"profile id", &id);
                says(ids.insert(id.to_vec()), &"profile id twice", &id);
            }
        });
        problems
    }

    fn check_tables(&self, says: Says<'_>) {
        let strings = self.tables.texts("string_table");
        says(strings.first() == Some(&""), &"string 0", &strings.first());
        let distinct: HashSet<_> = strings.iter().collect();
        says(distinct.len() == strings.len(), &"equal strings", &strings);
        for table in TABLES {
            let rows = self.rows(table);
            if self.zeros {
                says(rows.first().is_some_and(|row| row.is_zero()), &"row 0", &table);
            }
            let distinct: BTreeSet<_> = rows.iter().map(|row| row.canonical()).collect();
            says(distinct.len() == rows.len(), &"equal rows", &(table, &rows));
            for (at, row) in rows.iter().enumerate().skip(usize::from(self.zeros)) {
                match table {
                    "link" => {
                        let ids = (row.bytes("trace_id"), row.bytes("span_id"));
                        says(ids.0.len() == 16 && ids.1.len() == 8, &"link ids", row);
                        let nothing = ids.0 == [0; 16] || ids.1 == [0; 8];
                        says(at == 0 || !nothing, &"link of nothing", row);
                    }
                    "function" => {
                        let mut names =
                            row.fields.iter().filter(|(field, _)| table_of(row, field).is_some());
                        says(
                            names.any(|(field, _)| row.number(field) != 0),
                            &"function without a name",
                            row,
                        );
                    }
                    "attribute" => says(!self.key(row).is_empty(), &"attribute without a key", row),
                    _ => says(!self.zeros || !row.is_zero(), &"zero row", &(table, row)),
                }
            }
        }
    }

    fn check_references(&self, says: Says<'_>) {
        let mut used: HashMap<&str, HashSet<usize>> = HashMap::new();
        let mut refer = |node: &'a Node| {
            for field in node.fields.keys() {
                let Some(table) = table_of(node, field) else {
                    continue;
                };
                let counts = self.orphans == Orphans::Any
                    || !matches!(node.kind.as_str(), "KeyValue" | "AnyValue" | "EntityRef");
                for row in node.numbers(field) {
                    let len = self.len(table);
                    // In generations without an empty row 0, index 0 into an empty table means no entry.
                    let none = row == 0 && len == 0;
                    says(none || (0..len as i128).contains(&row), &(table, row, len), node);
                    if counts {
                        used.entry(table).or_default().insert(row as usize);
                    }
                }
            }
        };
        self.user.each(&mut refer);
        for table in TABLES.iter().chain(&["string"]) {
            let used = used.remove(table).unwrap_or_default();
            // The OTEP does not require references, and represents some attributes as fields or labels.
            if self.name == "otlp-1.3" && ["attribute", "string"].contains(table) {
                continue;
            }
            let orphan = (1..self.len(table)).find(|row| !used.contains(row));
            let what = orphan.map(|row| match *table {
                "string" => self.string(row as i128).to_owned(),
                table => format!("{:?}", self.rows(table)[row]),
            });
            says(orphan.is_none(), &"orphan", &(table, orphan, what));
        }
    }

    /// The key of an attribute, in place or from the table.
    fn key(&self, attribute: &'a Node) -> &'a str {
        match attribute.number("key_strindex") {
            0 => attribute.text("key"),
            row => self.string(row),
        }
    }

    /// Keys are unique and not empty, in lists of attributes and in lists of references.
    fn check_attributes(&self, node: &'a Node, says: Says<'_>) {
        let rows = self.rows("attribute");
        for (field, list) in &node.fields {
            let mut keys = Vec::new();
            for entry in list {
                match entry {
                    Field::Number(row) if table_of(node, field) == Some("attribute") => {
                        keys.extend(rows.get(*row as usize).map(|row| self.key(row)));
                    }
                    Field::Node(pair) if pair.kind == "KeyValue" && field != "attribute_table" => {
                        let both = !pair.text("key").is_empty() && pair.number("key_strindex") != 0;
                        says(!both, &"a key in place and by the table", pair);
                        keys.push(self.key(pair));
                    }
                    _ => {}
                }
            }
            let distinct: HashSet<_> = keys.iter().collect();
            says(distinct.len() == keys.len() && !keys.contains(&""), &"keys", &(field, &keys));
        }
    }

    fn check_mapping(&self, node: &Node, says: Says<'_>) {
        let range = (node.number("memory_start"), node.number("memory_limit"));
        says(range == (0, 0) || range.0 < range.1, &"memory range", node);
    }

    fn check_entities(&self, resource: &Node, says: Says<'_>) {
        let attributes = resource.nodes("attributes");
        let known: HashSet<_> = attributes
            .iter()
            .map(|pair| match pair.number("key_strindex") {
                0 => pair.text("key").to_owned(),
                row => self.string(row).to_owned(),
            })
            .collect();
        for entity in resource.nodes("entity_refs") {
            let keys = [entity.texts("id_keys"), entity.texts("description_keys")];
            says(!entity.text("type").is_empty() && !keys[0].is_empty(), &"entity", entity);
            let all = keys.concat();
            says(all.iter().all(|key| known.contains(*key)), &"key of no attribute", entity);
            let distinct: HashSet<_> = all.iter().collect();
            says(distinct.len() == all.len(), &"entity key twice", entity);
        }
    }

    fn check_profile(&self, profile: &Node, says: Says<'_>) {
        let samples = [profile.nodes("sample"), profile.nodes("samples")].concat();
        let types = profile.nodes("sample_type");
        says(!samples.is_empty() && !types.is_empty(), &"nothing measured", profile);
        // Without a duration, the temporality cannot be determined.
        let lasted = profile.number("duration_nano") + profile.number("duration_nanos") > 0;
        for kind in types.iter().filter(|_| self.temporality && lasted) {
            let said = kind.number("aggregation_temporality") != 0;
            says(said, &"temporality", kind);
        }
        let payload = !profile.bytes("original_payload").is_empty();
        says(payload != profile.text("original_payload_format").is_empty(), &"payload", profile);
        if self.zeros {
            self.check_samples(profile, &samples, says);
        } else {
            self.check_columns(profile, &samples, types.len(), says);
        }
    }

    /// Since 1.8: one shape, unique identities, times within the window.
    fn check_samples(&self, profile: &Node, samples: &[&Node], says: Says<'_>) {
        let start = profile.number("time_unix_nano");
        let end = start + profile.number("duration_nano");
        says(end <= u64::MAX.into(), &"end of time", profile);
        let mut identities = HashSet::new();
        let mut shapes = BTreeSet::new();
        for sample in samples {
            let times = sample.numbers("timestamps_unix_nano");
            let values = sample.numbers("values").len();
            says(values + times.len() > 0, &"says nothing", sample);
            says(
                values == 0 || times.is_empty() || values == times.len(),
                &"values and times",
                sample,
            );
            says(values < 2 || !times.is_empty(), &"several values", sample);
            says(times.iter().all(|time| (start..end).contains(time)), &(start, end), sample);
            shapes.insert((values > 0, !times.is_empty()));
            let attributes: BTreeSet<_> = sample.numbers("attribute_indices").into_iter().collect();
            let identity = (sample.number("stack_index"), attributes, sample.number("link_index"));
            says(identities.insert(identity), &"equal samples", sample);
        }
        says(shapes.len() == 1, &"shapes", &shapes);
    }

    /// Until 1.7: a value for every type, stacks as slices.
    fn check_columns(&self, profile: &Node, samples: &[&Node], columns: usize, says: Says<'_>) {
        let end = profile.number("time_nanos") + profile.number("duration_nanos");
        says(end <= i64::MAX.into(), &"end of time", profile);
        let default = profile.number("default_sample_type_index");
        says((0..columns as i128).contains(&default), &"default sample type", &default);
        let locations = profile.numbers("location_indices").len() as i128;
        for sample in samples {
            says(sample.numbers("value").len() == columns, &"columns", sample);
            let (start, length) =
                (sample.number("locations_start_index"), sample.number("locations_length"));
            says(start >= 0 && length >= 0 && start + length <= locations, &"slice", sample);
        }
    }
}
