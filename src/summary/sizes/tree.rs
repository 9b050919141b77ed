//! The tree of fields whose bytes are counted. It has every field of a version's schema by its position, from the
//! payload down to the values of attributes. Nested values are leaves, although values may nest without limit.
//!
//! ```text
//! ProfilesData                      container
//! ├─ resource_profiles              container
//! │  └─ scope_profiles … profiles   container
//! │     ├─ samples                  message, table 1
//! │     │  ├─ stack_index           leaf, in table 1
//! │     │  └─ values                leaf, in table 1
//! │     └─ time_unix_nano           leaf, a separate table
//! └─ dictionary                     container
//!    └─ string_table                text, a separate table
//! ```
//!
//! Nodes are in a list, each before its descendants. So the descendants of a node are a range, and the counts of a
//! walk are one array by node.

use crate::schema::{
    Field, Kind, MessageType, PROFILE, PROFILE_CONTAINER, PROFILES_DATA, PROFILES_DICTIONARY,
    RESOURCE_PROFILES, Role, SCOPE_PROFILES, Table, Version,
};

/// The messages that contain tables. Their fields are tables or contain tables.
const CONTAINERS: [&MessageType; 5] =
    [&RESOURCE_PROFILES, &SCOPE_PROFILES, &PROFILE_CONTAINER, &PROFILE, &PROFILES_DICTIONARY];

/// The treatment of a field in the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A message that contains tables. Only its tags and lengths count for it.
    Container,
    /// A message whose fields are counted separately.
    Message,
    /// A string, which may be long.
    Text,
    /// Locations of a stack.
    Locations,
    /// The start of a slice in a list that stacks share.
    SliceStart,
    /// The length of the slice.
    SliceLength,
    Leaf,
}

/// The messages that have one stack each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackOf {
    Sample,
    /// A row of the stack table.
    Row,
}

/// A field at its position in the tree.
#[derive(Debug)]
pub(super) struct Node {
    /// The message that contains the field.
    pub(super) message: &'static str,
    /// The name of the field. `unknown` for all fields of a message that the version lacks.
    pub(super) name: &'static str,
    pub(super) part: Part,
    /// The kind of stack, if this is a message with a stack.
    pub(super) stack: Option<StackOf>,
    /// The table that contains the field, or the node itself if it is a table.
    pub(super) table: Option<usize>,
    /// The node that contains this one.
    pub(super) parent: usize,
    /// The node after the last descendant.
    pub(super) end: usize,
    /// The fields of the message by number. Index 0 is the node for all unknown fields.
    fields: Vec<usize>,
}

/// All fields of a version in the order of the schema, each before its descendants.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The field number of a profile's list that stacks are slices of, if there is one.
    pub(super) slices: Option<u32>,
}

/// The payload itself.
pub(super) const ROOT: usize = 0;

/// The name of all fields that a version lacks.
const UNKNOWN: &str = "unknown";

impl Tree {
    /// Builds the tree of a version.
    pub(super) fn of(version: Version) -> Self {
        let root = match version {
            Version::Events | Version::Pprof => &PROFILE,
            _ => &PROFILES_DATA,
        };
        let is_slice = |field: &&Field| matches!(field.role, Role::Sliced(_));
        let slices = PROFILE.fields_in(version).find(is_slice).map(|field| field.number);
        let mut tree = Self { nodes: Vec::new(), slices };
        tree.push("", root.name, Part::Container, ROOT);
        tree.fields(root, version, ROOT);
        tree
    }

    /// Adds a node. Returns its index.
    fn push(
        &mut self,
        message: &'static str,
        name: &'static str,
        part: Part,
        parent: usize,
    ) -> usize {
        let node = self.nodes.len();
        let table = match self.nodes.get(parent) {
            Some(parent) if parent.table.is_some() => parent.table,
            Some(_) if part != Part::Container => Some(node),
            _ => None,
        };
        let (end, fields) = (node + 1, Vec::new());
        self.nodes.push(Node { message, name, part, stack: None, table, parent, end, fields });
        node
    }

    /// Adds the fields of a message and their descendants.
    ///
    /// It recurses over the schema, whose depth is fixed: only values of attributes are recursive, and their lists
    /// are leaves.
    fn fields(&mut self, message: &'static MessageType, version: Version, parent: usize) {
        let most = message.fields_in(version).map(|field| field.number).max().unwrap_or(0);
        // 0 is the payload, which is no field, so it marks numbers without a field.
        let mut fields = vec![0; most as usize + 1];
        for field in message.fields_in(version) {
            let part = part(message, field);
            let node = self.push(message.name, field.name, part, parent);
            if let (Part::Container | Part::Message, Kind::Message(inner)) = (part, field.kind) {
                self.fields(inner, version, node);
                let stack = match (field.role, inner.name) {
                    (Role::Row(Table::Stack), _) => Some(StackOf::Row),
                    (_, "Sample") => Some(StackOf::Sample),
                    _ => None,
                };
                if let Some(node) = self.nodes.get_mut(node) {
                    node.stack = stack;
                }
            }
            if let Some(place) = fields.get_mut(field.number as usize) {
                *place = node;
            }
        }
        let unknown = self.push(message.name, UNKNOWN, Part::Leaf, parent);
        let end = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(parent) {
            node.end = end;
            fields.iter_mut().filter(|field| **field == 0).for_each(|field| *field = unknown);
            node.fields = fields;
        }
    }

    /// Returns the child of a node with a field number.
    #[inline]
    pub(super) fn child(&self, node: usize, number: u32) -> usize {
        let fields = self.nodes.get(node).map_or(&[][..], |node| &node.fields);
        let unknown = fields.first().copied().unwrap_or(ROOT);
        fields.get(number as usize).copied().unwrap_or(unknown)
    }

    /// Returns the path of a field below its table. Empty for the table itself.
    pub(super) fn path(&self, node: usize) -> String {
        let mut names = Vec::new();
        let mut at = node;
        while let Some(of) = self.nodes.get(at).filter(|of| of.table != Some(at) && at != ROOT) {
            names.push(of.name);
            at = of.parent;
        }
        names.reverse();
        names.join(".")
    }
}

/// Classifies a field. The two messages with a stack are identified by name, because other messages have fields
/// with the same roles.
fn part(message: &'static MessageType, field: &Field) -> Part {
    match (field.kind, field.role) {
        (Kind::Message(inner), _) if is_nesting(inner) => Part::Leaf,
        (Kind::Message(inner), _) if CONTAINERS.iter().any(|one| std::ptr::eq(*one, inner)) => {
            Part::Container
        }
        (Kind::Message(_), _) => Part::Message,
        (Kind::String, _) => Part::Text,
        (_, Role::SliceStart) => Part::SliceStart,
        (_, Role::SliceLength) => Part::SliceLength,
        (_, Role::RefById) if message.name == "Sample" => Part::Locations,
        (_, Role::Ref(Table::Location)) if message.name == "Stack" => Part::Locations,
        _ => Part::Leaf,
    }
}

/// Returns whether a message is a list of values in a value.
fn is_nesting(message: &MessageType) -> bool {
    matches!(message.name, "ArrayValue" | "KeyValueList")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_version_has_a_place() {
        for version in Version::ALL {
            let tree = Tree::of(version);
            assert_eq!(tree.nodes[ROOT].end, tree.nodes.len());
            for (node, of) in tree.nodes.iter().enumerate().skip(1) {
                let parent = &tree.nodes[of.parent];
                assert!(of.parent < node && of.end <= parent.end, "{version:?} {of:?}");
                assert!(of.table.is_some() || of.part == Part::Container, "{version:?} {of:?}");
            }
            assert!(tree.nodes.iter().any(|node| node.stack.is_some()), "{version:?}");
        }
    }

    #[test]
    fn fields_are_found_by_number_and_named_below_their_table() {
        let tree = Tree::of(Version::V1_10);
        let dictionary = tree.child(ROOT, 2);
        let location = tree.child(dictionary, 2);
        let line = tree.child(tree.child(location, 3), 2);
        assert_eq!(tree.nodes[location].name, "location_table");
        assert_eq!((tree.path(location), tree.path(line)), (String::new(), "lines.line".into()));
        for number in [0, 4, 99, u32::MAX >> 3] {
            assert_eq!(tree.nodes[tree.child(ROOT, number)].name, UNKNOWN);
        }
        assert_eq!(tree.slices, None);
        assert_eq!(Tree::of(Version::V1_3).slices, Some(15));
    }
}
