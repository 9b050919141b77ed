//! The verdict of profcheck on bytes, pass or fail, after its source of August 2026 and Go's protobuf: an oracle
//! for the library's verdict. Uses only the crate's descriptors of the proto files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use otlp_profiles::proto::v1_10::FILE_DESCRIPTOR_SET;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorSet};

/// The flags of profcheck.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    pub dupes: bool,
    pub orphans: bool,
    pub shapes: bool,
}

/// The messages by the last part of their names.
pub struct Oracle(HashMap<String, HashMap<u64, FieldDescriptorProto>>);

#[derive(Debug, Default)]
struct Node {
    numbers: BTreeMap<String, Vec<u64>>,
    texts: BTreeMap<String, Vec<Vec<u8>>>,
    nodes: BTreeMap<String, Vec<Node>>,
    unknown: bool,
}

type Bytes<'a> = &'a [u8];

fn varint(bytes: &mut Bytes<'_>) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 9 && *byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut Bytes<'a>, length: u64) -> Option<Bytes<'a>> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Skips a value of any type.
fn skip(number: u64, wire: u64, bytes: &mut Bytes<'_>, depth: u32) -> Option<()> {
    match wire {
        0 => varint(bytes).map(drop),
        1 => take(bytes, 8).map(drop),
        2 => {
            let length = varint(bytes)?;
            take(bytes, length).map(drop)
        }
        3 if depth <= 10_000 => loop {
            let tag = varint(bytes)?;
            if tag >> 3 == 0 || tag >> 3 > 0x7fff_ffff {
                return None;
            }
            if tag & 7 == 4 {
                return (tag >> 3 == number).then_some(());
            }
            skip(tag >> 3, tag & 7, bytes, depth + 1)?;
        },
        5 => take(bytes, 4).map(drop),
        _ => None,
    }
}

impl Oracle {
    pub fn new() -> Self {
        let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("prost's own").file;
        let messages = files.into_iter().flat_map(|file| file.message_type);
        let fields = |fields: Vec<FieldDescriptorProto>| {
            fields.into_iter().map(|field| (field.number() as u64, field)).collect()
        };
        Self(messages.map(|message| (message.name().to_owned(), fields(message.field))).collect())
    }

    fn decode(&self, name: &str, mut bytes: Bytes<'_>) -> Option<Node> {
        let mut node = Node::default();
        let mut once: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let (number, wire) = (tag >> 3, tag & 7);
            if number == 0 || number >= 1 << 29 || wire == 4 {
                return None;
            }
            let before = bytes;
            skip(number, wire, &mut bytes, 0)?;
            let mut value = &before[..before.len() - bytes.len()];
            let Some(field) = self.0[name].get(&number) else {
                node.unknown = true;
                continue;
            };
            if wire == 2 {
                varint(&mut value)?;
            }
            let many = field.label() == Label::Repeated;
            let fixed = matches!(field.r#type(), Type::Fixed64 | Type::Double);
            let key = field.name().to_owned();
            match (field.r#type(), wire) {
                (Type::Message, 2) => {
                    let inner = field.type_name().rsplit('.').next().expect("a name");
                    let found = self.decode(inner, value)?;
                    if many {
                        node.nodes.entry(key).or_default().push(found);
                    } else {
                        // Messages are merged by concatenating their bytes.
                        let all = once.entry(number).or_default();
                        all.extend(value);
                        node.nodes.insert(key, vec![self.decode(inner, all)?]);
                    }
                }
                (Type::String, 2) => {
                    std::str::from_utf8(value).ok()?;
                    node.texts.entry(key).or_default().push(value.to_vec());
                }
                (Type::Bytes, 2) => node.texts.entry(key).or_default().push(value.to_vec()),
                (Type::String | Type::Bytes | Type::Message, _) => node.unknown = true,
                (_, 2) if many => {
                    let list = node.numbers.entry(key).or_default();
                    while !value.is_empty() {
                        list.push(match fixed {
                            true => u64::from_le_bytes(take(&mut value, 8)?.try_into().ok()?),
                            false => varint(&mut value)?,
                        });
                    }
                }
                (_, 1) if fixed => {
                    let word = u64::from_le_bytes(value.try_into().ok()?);
                    node.numbers.entry(key).or_default().push(word);
                }
                (_, 0) if !fixed => node.numbers.entry(key).or_default().push(varint(&mut value)?),
                _ => node.unknown = true,
            }
        }
        Some(node)
    }

    /// Returns whether profcheck passes the bytes.
    pub fn passes(&self, bytes: &[u8], flags: Flags) -> bool {
        let Some(root) = self.decode("ProfilesData", bytes) else { return false };
        let (profiles, Some(tables)) =
            (root.nodes("resource_profiles"), root.nodes("dictionary").first())
        else {
            return false;
        };
        let check = Check { tables, flags };
        !profiles.is_empty()
            && profiles.iter().all(|resource| {
                let scopes = resource.nodes("scope_profiles");
                !scopes.is_empty()
                    && scopes.iter().all(|scope| {
                        let profiles = scope.nodes("profiles");
                        !profiles.is_empty() && profiles.iter().all(|one| check.profile(one))
                    })
            })
            && check.dictionary()
            && (!flags.orphans || check.no_orphans(profiles))
    }
}

impl Node {
    fn nodes(&self, name: &str) -> &[Node] {
        self.nodes.get(name).map_or(&[], Vec::as_slice)
    }

    fn list(&self, name: &str) -> &[u64] {
        self.numbers.get(name).map_or(&[], Vec::as_slice)
    }

    fn number(&self, name: &str) -> u64 {
        self.list(name).last().copied().unwrap_or(0)
    }

    fn index(&self, name: &str) -> i32 {
        self.number(name) as i32
    }

    fn indices(&self, name: &str) -> Vec<i32> {
        self.list(name).iter().map(|value| *value as i32).collect()
    }

    fn text(&self, name: &str) -> &[u8] {
        self.texts.get(name).and_then(|list| list.last()).map_or(&[], Vec::as_slice)
    }

    /// Whether it equals the message without fields; `lists` and `indices` name its fields of these types.
    fn is_zero(&self, lists: &[&str], indices: &[&str]) -> bool {
        let zero = |(name, values): (&String, &Vec<u64>)| match values.last() {
            None => true,
            Some(_) if lists.contains(&name.as_str()) => false,
            Some(last) if indices.contains(&name.as_str()) => *last as i32 == 0,
            Some(last) => *last == 0,
        };
        !self.unknown
            && self.nodes.is_empty()
            && self.numbers.iter().all(zero)
            && self.texts.values().all(|texts| texts.last().is_none_or(Vec::is_empty))
    }
}

struct Check<'a> {
    tables: &'a Node,
    flags: Flags,
}

impl<'a> Check<'a> {
    fn rows(&self, table: &str) -> &'a [Node] {
        self.tables.nodes(table)
    }

    fn strings(&self) -> &'a [Vec<u8>] {
        self.tables.texts.get("string_table").map_or(&[], Vec::as_slice)
    }

    fn has(&self, table: &str, index: i32) -> bool {
        let len = match table {
            "string_table" => self.strings().len(),
            table => self.rows(table).len(),
        };
        usize::try_from(index).is_ok_and(|index| index < len)
    }

    fn keys_are_unique(&self, node: &Node) -> bool {
        let mut keys = HashSet::new();
        node.indices("attribute_indices").into_iter().all(|index| {
            self.has("attribute_table", index) && {
                let key = self.rows("attribute_table")[index as usize].index("key_strindex");
                self.has("string_table", key) && keys.insert(&self.strings()[key as usize])
            }
        })
    }

    fn profile(&self, profile: &Node) -> bool {
        let named = ["sample_type", "period_type"].iter().all(|kind| {
            profile.nodes(kind).iter().all(|kind| {
                self.has("string_table", kind.index("type_strindex"))
                    && self.has("string_table", kind.index("unit_strindex"))
            })
        });
        let start = profile.number("time_unix_nano");
        let end = start.wrapping_add(profile.number("duration_nano"));
        let mut shapes = BTreeSet::new();
        named
            && self.keys_are_unique(profile)
            && profile.nodes("samples").iter().all(|sample| {
                let values = sample.list("values").len();
                let times = sample.list("timestamps_unix_nano");
                shapes.insert((values > 0, !times.is_empty()));
                let shaped = match (values, times.len()) {
                    (0, times) => times > 0,
                    (values, 0) => values == 1,
                    (values, times) => values == times,
                };
                self.has("stack_table", sample.index("stack_index"))
                    && self.has("link_table", sample.index("link_index"))
                    && self.keys_are_unique(sample)
                    && times.iter().all(|time| start <= *time && *time < end)
                    && (!self.flags.shapes || (shaped && shapes.len() == 1))
            })
    }

    fn dictionary(&self) -> bool {
        let first = |table: &str, lists: &[&str], indices: &[&str]| {
            self.rows(table).first().is_some_and(|row| row.is_zero(lists, indices))
        };
        let names = ["name_strindex", "system_name_strindex", "filename_strindex"];
        let attribute = self.rows("attribute_table").first();
        first("mapping_table", &["attribute_indices"], &names)
            && first("location_table", &["attribute_indices"], &["mapping_index"])
            && first("function_table", &[], &names)
            && first("link_table", &[], &[])
            && first("stack_table", &["location_indices"], &[])
            && self.strings().first().is_some_and(Vec::is_empty)
            && attribute.is_some_and(|first| {
                let value = first.nodes("value").first();
                let member = |value: &Node| {
                    !(value.numbers.is_empty() && value.texts.is_empty() && value.nodes.is_empty())
                };
                first.index("key_strindex") == 0
                    && first.index("unit_strindex") == 0
                    && !value.is_some_and(member)
            })
            && self.rows_are_sound()
            && (!self.flags.dupes || self.no_duplicates())
    }

    fn rows_are_sound(&self) -> bool {
        let text = |row: &Node, field: &str| self.has("string_table", row.index(field));
        let positive = |row: &Node, field: &str| row.number(field) as i64 >= 0;
        self.rows("mapping_table")[1..].iter().all(|row| {
            let range = (row.number("memory_start"), row.number("memory_limit"));
            text(row, "filename_strindex")
                && self.keys_are_unique(row)
                && (range == (0, 0) || range.0 < range.1)
        }) && self.rows("location_table").iter().all(|row| {
            self.has("mapping_table", row.index("mapping_index"))
                && self.keys_are_unique(row)
                && row.nodes("lines").iter().all(|line| {
                    self.has("function_table", line.index("function_index"))
                        && positive(line, "line")
                        && positive(line, "column")
                })
        }) && self.rows("function_table").iter().all(|row| {
            text(row, "name_strindex")
                && text(row, "system_name_strindex")
                && text(row, "filename_strindex")
                && positive(row, "start_line")
        }) && self.rows("link_table")[1..]
            .iter()
            .all(|row| row.text("trace_id").len() == 16 && row.text("span_id").len() == 8)
            && self
                .rows("attribute_table")
                .iter()
                .all(|row| text(row, "key_strindex") && text(row, "unit_strindex"))
            && self.rows("stack_table").iter().all(|row| {
                let locations = row.indices("location_indices");
                locations.into_iter().all(|index| self.has("location_table", index))
            })
    }

    fn no_duplicates(&self) -> bool {
        let texts: HashSet<_> = self.strings().iter().collect();
        let mut mappings = HashSet::new();
        texts.len() == self.strings().len()
            && self.rows("mapping_table")[1..].iter().all(|row| {
                let mut attributes = row.indices("attribute_indices");
                attributes.sort_unstable();
                let numbers = ["memory_start", "memory_limit", "file_offset"];
                let numbers = numbers.map(|field| row.number(field));
                mappings.insert((row.index("filename_strindex"), attributes, numbers))
            })
    }

    fn no_orphans(&self, resources: &'a [Node]) -> bool {
        let mut used: BTreeSet<(&str, i32)> = BTreeSet::new();
        let mut use_all = |node: &Node, fields: &[(&str, &'static str)]| {
            for (field, table) in fields {
                used.extend(node.indices(field).last().map(|index| (*table, *index)));
            }
        };
        let types = [("type_strindex", "string_table"), ("unit_strindex", "string_table")];
        let names = [
            ("name_strindex", "string_table"),
            ("system_name_strindex", "string_table"),
            ("filename_strindex", "string_table"),
            ("key_strindex", "string_table"),
            ("unit_strindex", "string_table"),
            ("mapping_index", "mapping_table"),
            ("function_index", "function_table"),
        ];
        let scopes = resources.iter().flat_map(|resource| resource.nodes("scope_profiles"));
        let profiles: Vec<&Node> = scopes.flat_map(|scope| scope.nodes("profiles")).collect();
        let mut lists: Vec<&Node> = profiles.clone();
        for profile in &profiles {
            for kind in ["sample_type", "period_type"] {
                profile.nodes(kind).iter().for_each(|kind| use_all(kind, &types));
            }
            for sample in profile.nodes("samples") {
                use_all(sample, &[("stack_index", "stack_table"), ("link_index", "link_table")]);
                lists.push(sample);
            }
        }
        for table in ["mapping_table", "location_table", "function_table", "attribute_table"] {
            for row in self.rows(table) {
                use_all(row, &names);
                row.nodes("lines").iter().for_each(|line| use_all(line, &names));
                lists.push(row);
            }
        }
        for node in lists {
            let rows = node.indices("attribute_indices");
            used.extend(rows.into_iter().map(|row| ("attribute_table", row)));
        }
        for stack in self.rows("stack_table") {
            let rows = stack.indices("location_indices");
            used.extend(rows.into_iter().map(|row| ("location_table", row)));
        }
        let tables = ["mapping_table", "location_table", "function_table", "link_table"];
        let tables = tables.into_iter().chain(["attribute_table", "stack_table", "string_table"]);
        tables.into_iter().all(|table| {
            (1..).take_while(|row| self.has(table, *row)).all(|row| used.contains(&(table, row)))
        })
    }
}
