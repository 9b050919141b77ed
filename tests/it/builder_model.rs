//! Compares the builder with a slow and simple model, for random sequences of calls, and checks the rules of the
//! format.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::support::sized;
use otlp_profiles::builder::{
    Frame, Key, NewEntity, NewFunction, NewLine, NewLocation, NewMapping, NewValue, leaf_first,
    root_first,
};
use otlp_profiles::model::{
    AttributeId, FunctionId, KeyValue, LinkId, LocationId, MappingId, ProfileId, Resource,
    ResourceProfiles, SampleRef, Scope, StackId, Value,
};
use otlp_profiles::{Builder, Dictionary, Profile, Profiles};
use proptest::prelude::*;
use proptest::sample::Index;

/// One call. An [`Index`] selects one of the existing keys, or no key.
#[derive(Clone, Debug)]
enum Call {
    Function([&'static str; 3], u32),
    Mapping(&'static str, [u64; 3], Vec<Index>),
    Location(Index, u64, Vec<(Index, u32, u32)>, Vec<Index>),
    Frame([&'static str; 3], u32),
    Stack(Vec<Index>),
    /// Names, leaf first or root first.
    Path(Vec<&'static str>, bool),
    Attribute(&'static str, Any, &'static str),
    Link(u8, u8),
    /// Attributes, a schema, and the type and keys of an entity.
    Resource(Vec<(&'static str, Any)>, &'static str, Entity),
    Scope(&'static str, Vec<(&'static str, Any)>, &'static str),
    Enter(Index),
    EnterResource(Index),
    Profile(Vec<(&'static str, &'static str)>),
    Window(Index, u64, u64),
    Details(Index, Vec<Index>),
    Sample {
        profile: Index,
        stack: Index,
        values: Vec<i64>,
        times: Vec<u64>,
        attributes: Vec<Index>,
        link: Index,
    },
    /// Another builder receives the following calls; it is merged at the end.
    Fork,
}

/// A type, its identifying keys and its describing keys.
type Entity = (&'static str, Vec<&'static str>, Vec<&'static str>);

#[derive(Clone, Debug, PartialEq)]
enum Any {
    Empty,
    Text(&'static str),
    Int(i64),
    Bits(u64),
    Pairs(Vec<(&'static str, i64)>),
}

fn text() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just(""),
        Just("a"),
        Just("b"),
        Just("ü"),
        Just("main.rs"),
        Just("profile.frame.type")
    ]
}

fn any_value() -> impl Strategy<Value = Any> {
    prop_oneof![
        Just(Any::Empty),
        text().prop_map(Any::Text),
        (-1i64..2).prop_map(Any::Int),
        prop_oneof![Just(f64::NAN.to_bits()), Just(0), Just(1u64 << 63)].prop_map(Any::Bits),
        prop::collection::vec((text(), 0i64..2), 0..3).prop_map(Any::Pairs),
    ]
}

fn picks(most: usize) -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..most)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..3, 1 => Just(1_763_640_000_000_000_000), 1 => Just(u64::MAX)]
}

fn call() -> impl Strategy<Value = Call> {
    let pairs = || prop::collection::vec((text(), any_value()), 0..3);
    let keys = || prop::collection::vec(text(), 0..3);
    let lines = prop::collection::vec((any::<Index>(), 0u32..3, 0u32..2), 0..3);
    let tables = prop_oneof![
        ([text(), text(), text()], 0u32..2).prop_map(|(names, line)| Call::Function(names, line)),
        (text(), [number(), number(), number()], picks(3))
            .prop_map(|(file, range, a)| Call::Mapping(file, range, a)),
        (any::<Index>(), number(), lines, picks(3))
            .prop_map(|(m, address, l, a)| Call::Location(m, address, l, a)),
        ([text(), text(), text()], 0u32..2).prop_map(|(names, line)| Call::Frame(names, line)),
        picks(4).prop_map(Call::Stack),
        (prop::collection::vec(text(), 0..4), any::<bool>())
            .prop_map(|(names, root_first)| Call::Path(names, root_first)),
        (text(), any_value(), text())
            .prop_map(|(key, value, unit)| Call::Attribute(key, value, unit)),
        (0u8..3, 0u8..3).prop_map(|(trace, span)| Call::Link(trace, span)),
    ];
    let tree = prop_oneof![
        (pairs(), text(), (text(), keys(), keys()))
            .prop_map(|(attributes, url, entity)| Call::Resource(attributes, url, entity)),
        (text(), pairs(), text())
            .prop_map(|(name, attributes, url)| Call::Scope(name, attributes, url)),
        any::<Index>().prop_map(Call::Enter),
        any::<Index>().prop_map(Call::EnterResource),
        prop::collection::vec((text(), text()), 0..3).prop_map(Call::Profile),
        (any::<Index>(), number(), number())
            .prop_map(|(p, start, duration)| Call::Window(p, start, duration)),
        (any::<Index>(), picks(4)).prop_map(|(p, attributes)| Call::Details(p, attributes)),
        Just(Call::Fork),
    ];
    let values = prop::collection::vec(prop_oneof![-2i64..3, Just(i64::MAX), Just(i64::MIN)], 0..4);
    let times = prop::collection::vec(1u64..9, 0..3);
    let sample = (any::<Index>(), any::<Index>(), values, times, picks(4), any::<Index>())
        .prop_map(|(profile, stack, values, times, attributes, link)| Call::Sample {
            profile,
            stack,
            values,
            times,
            attributes,
            link,
        });
    prop_oneof![3 => tables, 1 => tree, 3 => sample]
}

/// A key and its value, or a name and its unit.
type Word = (String, String);

/// The resource, the scope and the types of a profile.
type Home = (Set, (String, Set), Vec<Word>);

/// Attributes by key.
type Set = BTreeMap<String, String>;

/// The identity of a sample as strings, including its profile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    resource: Set,
    scope: (String, Set),
    types: Vec<(String, String)>,
    shape: &'static str,
    stack: Vec<String>,
    attributes: Set,
    link: String,
}

/// The data of a sample: totals, or timestamps with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    totals: Vec<i128>,
    times: Vec<(u64, Option<i64>)>,
}

/// A builder and its simple model, which has a string for each key and a map of all samples.
struct Pair {
    builder: Builder,
    functions: Vec<(Key<FunctionId>, String)>,
    mappings: Vec<(Key<MappingId>, String)>,
    locations: Vec<(Key<LocationId>, String)>,
    stacks: Vec<(Key<StackId>, Vec<String>)>,
    attributes: Vec<(Key<AttributeId>, Option<Word>)>,
    links: Vec<(Key<LinkId>, String)>,
    resources: Vec<(Key<Resource>, Set)>,
    scopes: Vec<(Key<Scope>, (Set, String, Set))>,
    profiles: Vec<(Key<Profile>, Home)>,
    current: (Set, String, Set),
    samples: BTreeMap<Identity, Seen>,
}

fn pick<T: Clone>(list: &[T], index: Index) -> T {
    list[index.index(list.len())].clone()
}

fn value_of(value: &Any) -> String {
    match value {
        Any::Empty => "()".into(),
        Any::Text(text) => format!("{text:?}"),
        Any::Int(number) => number.to_string(),
        Any::Bits(bits) => format!("double {bits:x}"),
        Any::Pairs(pairs) => {
            let pairs: BTreeMap<_, _> =
                pairs.iter().filter(|pair| !pair.0.is_empty()).map(|&(k, v)| (k, v)).collect();
            format!("{pairs:?}")
        }
    }
}

/// Converts a value to the builder's type.
fn borrowed(value: &Any) -> NewValue<'static> {
    match value {
        Any::Empty => NewValue::Empty,
        Any::Text(text) => (*text).into(),
        Any::Int(number) => (*number).into(),
        Any::Bits(bits) => f64::from_bits(*bits).into(),
        Any::Pairs(pairs) => NewValue::key_values(pairs.iter().copied()),
    }
}

/// Returns an id that is unique to a profile.
fn id_of(home: &Home) -> ProfileId {
    let mut hasher = DefaultHasher::new();
    home.hash(&mut hasher);
    let [id, odd] = [hasher.finish(), 1].map(u64::to_be_bytes);
    ProfileId([id, odd].concat().try_into().unwrap())
}

fn set_of<'a>(pairs: impl IntoIterator<Item = &'a (&'static str, Any)>) -> Set {
    let pairs = pairs.into_iter().filter(|pair| !pair.0.is_empty());
    pairs.map(|(key, value)| (key.to_string(), value_of(value))).collect()
}

impl Pair {
    fn new() -> Self {
        Self {
            builder: Builder::new(),
            functions: vec![(Key::NONE, String::new())],
            mappings: vec![(Key::NONE, String::new())],
            locations: vec![(Key::NONE, String::new())],
            stacks: vec![(Key::NONE, Vec::new())],
            attributes: vec![(Key::NONE, None)],
            links: vec![(Key::NONE, String::new())],
            resources: vec![(Key::NONE, Set::new())],
            scopes: vec![(Key::NONE, Default::default())],
            profiles: Vec::new(),
            current: Default::default(),
            samples: BTreeMap::new(),
        }
    }

    fn set(&self, picks: &[Index]) -> (Vec<Key<AttributeId>>, Set) {
        let picked = picks.iter().map(|&index| pick(&self.attributes, index));
        let (keys, pairs): (Vec<_>, Vec<_>) = picked.unzip();
        (keys, pairs.into_iter().flatten().collect())
    }

    fn call(&mut self, call: &Call) {
        match call {
            Call::Function([name, system_name, file], start_line) => {
                let function = NewFunction::new(*name).system_name(*system_name).filename(*file);
                let key = self.builder.function(function.start_line(*start_line));
                self.functions
                    .push((key, function_word(name, system_name, file, *start_line as i64)));
            }
            Call::Mapping(file, [start, limit, offset], attributes) => {
                let (keys, set) = self.set(attributes);
                let mapping = NewMapping::new(*file).memory(*start, *limit).file_offset(*offset);
                let key = self.builder.mapping(mapping.attributes(&keys));
                let (start, limit) = if start < limit { (*start, *limit) } else { (0, 0) };
                self.mappings.push((key, mapping_word(file, start, limit, *offset, &set)));
            }
            Call::Location(mapping, address, lines, attributes) => {
                let (mapping, mapping_word) = pick(&self.mappings, *mapping);
                let (keys, set) = self.set(attributes);
                let (lines, words): (Vec<_>, Vec<_>) = lines
                    .iter()
                    .map(|&(function, line, column)| {
                        let (function, word) = pick(&self.functions, function);
                        let word = (word, line.into(), column.into());
                        (NewLine::new(function).line(line).column(column), word)
                    })
                    .unzip();
                let words: Vec<_> = words.into_iter().filter(|word| !word.0.is_empty()).collect();
                let location = NewLocation::new().address(mapping, *address).lines(&lines);
                let key = self.builder.location(location.attributes(&keys));
                self.locations.push((key, location_word(&mapping_word, *address, &words, &set)));
            }
            Call::Frame([name, file, kind], line) => {
                let key = self.builder.frame(Frame::new(name).at(file, *line).frame_type(kind));
                self.locations.push((key, frame_word(name, file, kind, *line)));
            }
            Call::Stack(locations) => {
                let picked = locations.iter().map(|&index| pick(&self.locations, index));
                let (keys, words): (Vec<_>, Vec<_>) = picked.unzip();
                let words = words.into_iter().filter(|word| !word.is_empty()).collect();
                self.stacks.push((self.builder.stack(leaf_first(&keys)), words));
            }
            Call::Path(names, from_root) => {
                let from_leaf = names.iter().rev();
                let key = match from_root {
                    true => self.builder.stack(root_first(names)),
                    false => self.builder.stack(leaf_first(from_leaf.clone())),
                };
                let words = from_leaf.map(|name| frame_word(name, "", "", 0));
                self.stacks.push((key, words.filter(|word| !word.is_empty()).collect()));
            }
            Call::Attribute(name, value, unit) => {
                let key = self.builder.attribute(*name, (borrowed(value), *unit));
                let word = (name.to_string(), format!("{} {unit}", value_of(value)));
                self.attributes.push((key, (!name.is_empty()).then_some(word)));
            }
            Call::Link(trace, span) => {
                let key = self.builder.link([*trace; 16], [*span; 8]);
                self.links.push((key, link_word([*trace; 16], [*span; 8])));
            }
            tree => self.call_tree(tree),
        }
    }

    fn call_tree(&mut self, call: &Call) {
        match call {
            Call::Resource(attributes, url, (kind, id_keys, description_keys)) => {
                let entity = NewEntity::new(kind, id_keys).description_keys(description_keys);
                let resource = self.builder.resource().schema_url(url).entity(entity);
                let resource = attributes
                    .iter()
                    .fold(resource, |resource, (key, value)| resource.attr(*key, borrowed(value)));
                let key = resource.key();
                let mut set = with_schema(set_of(attributes), url);
                set.extend(entity_word(&set, kind, id_keys, description_keys));
                self.current = (set.clone(), String::new(), Set::new());
                self.resources.push((key, set));
            }
            Call::Scope(name, attributes, url) => {
                let scope = self.builder.scope(name);
                let scope = attributes
                    .iter()
                    .fold(scope, |scope, (key, value)| scope.attr(*key, borrowed(value)));
                let key = scope.schema_url(url).key();
                let set = with_schema(set_of(attributes), url);
                self.current = (self.current.0.clone(), name.to_string(), set);
                self.scopes.push((key, self.current.clone()));
            }
            Call::Enter(scope) => {
                let (key, current) = pick(&self.scopes, *scope);
                self.builder.enter(key);
                self.current = current;
            }
            Call::EnterResource(resource) => {
                let (key, resource) = pick(&self.resources, *resource);
                self.builder.enter(key);
                self.current = (resource, String::new(), Set::new());
            }
            Call::Profile(types) => {
                let key = self.builder.profile_of(types.iter().copied());
                let (resource, scope, attributes) = self.current.clone();
                let mut types: Vec<_> =
                    types.iter().map(|(name, unit)| (name.to_string(), unit.to_string())).collect();
                if types.is_empty() {
                    types.push(Default::default());
                }
                self.profiles.push((key, (resource, (scope, attributes), types)));
            }
            Call::Window(profile, start, duration) if !self.profiles.is_empty() => {
                let (key, home) = pick(&self.profiles, *profile);
                let details = self.builder.profile_mut(key).time(*start).duration(*duration);
                details.id(id_of(&home));
            }
            Call::Details(profile, attributes) if !self.profiles.is_empty() => {
                let (key, _) = pick(&self.profiles, *profile);
                let (keys, _) = self.set(attributes);
                let details = self.builder.profile_mut(key).period("a", "b", 1);
                keys.into_iter().fold(details, |details, key| details.attribute(key));
            }
            Call::Sample { profile, stack, values, times, attributes, link }
                if !self.profiles.is_empty() =>
            {
                let (profile, place) = pick(&self.profiles, *profile);
                let (stack, words) = pick(&self.stacks, *stack);
                let (keys, set) = self.set(attributes);
                let (link, link_word) = pick(&self.links, *link);
                let sample = self.builder.sample(profile, stack).values(values).link(link);
                let sample = times.iter().fold(sample, |sample, &time| sample.timestamp(time));
                keys.into_iter().fold(sample, |sample, key| sample.attribute(key));
                self.see(place, words, set, link_word, values, times);
            }
            _ => {}
        }
    }

    fn see(
        &mut self,
        (resource, scope, types): (Set, (String, Set), Vec<(String, String)>),
        stack: Vec<String>,
        attributes: Set,
        link: String,
        values: &[i64],
        times: &[u64],
    ) {
        let mut columns = values.to_vec();
        let default = i64::from(values.is_empty());
        columns.resize(types.len(), default);
        let identity =
            Identity { resource, scope, types, shape: "totals", stack, attributes, link };
        if times.is_empty() {
            let seen = self.samples.entry(identity).or_default();
            seen.totals.resize(columns.len(), 0);
            seen.totals
                .iter_mut()
                .zip(&columns)
                .for_each(|(total, value)| *total += i128::from(*value));
            return;
        }
        for (column, &value) in columns.iter().enumerate() {
            let types = vec![identity.types[column].clone()];
            let (shape, value) =
                if values.is_empty() { ("events", None) } else { ("series", Some(value)) };
            let seen =
                self.samples.entry(Identity { types, shape, ..identity.clone() }).or_default();
            seen.times.extend(times.iter().map(|&time| (time, value)));
        }
    }

    /// Merges the data of another pair.
    fn merge(&mut self, other: Self) {
        self.builder.merge(&other.builder);
        for (identity, seen) in other.samples {
            let ours = self.samples.entry(identity).or_default();
            ours.totals.resize(seen.totals.len(), 0);
            ours.totals.iter_mut().zip(&seen.totals).for_each(|(total, value)| *total += value);
            ours.times.extend(seen.times);
        }
    }
}

/// Adds other distinguishing data of resources and scopes, under keys that no attribute uses.
fn with_schema(mut set: Set, url: &str) -> Set {
    set.extend((!url.is_empty()).then(|| (" schema".to_string(), url.to_string())));
    set
}

/// Returns the string of an entity, with those of its keys that the resource has, each once.
fn entity_word(
    set: &Set,
    kind: &str,
    id_keys: &[&str],
    description_keys: &[&str],
) -> Option<(String, String)> {
    let mut seen = BTreeSet::new();
    let mut keep = |keys: &[&str]| -> Vec<String> {
        let keys =
            keys.iter().filter(|key| set.contains_key(**key) && seen.insert(key.to_string()));
        keys.map(|key| key.to_string()).collect()
    };
    let (id_keys, description_keys) = (keep(id_keys), keep(description_keys));
    let is_one = !kind.is_empty() && !id_keys.is_empty();
    is_one.then(|| (" entity".to_string(), format!("{kind} {id_keys:?} {description_keys:?}")))
}

fn function_word(name: &str, system_name: &str, file: &str, start_line: i64) -> String {
    match [name, system_name, file].iter().all(|text| text.is_empty()) {
        true => String::new(),
        false => format!("{name:?} {system_name:?} {file:?} {start_line}"),
    }
}

fn mapping_word(file: &str, start: u64, limit: u64, offset: u64, attributes: &Set) -> String {
    match (file, start, limit, offset, attributes.len()) {
        ("", 0, 0, 0, 0) => String::new(),
        _ => format!("{file:?} {start}..{limit} {offset} {attributes:?}"),
    }
}

fn location_word(
    mapping: &str,
    address: u64,
    lines: &[(String, i64, i64)],
    attributes: &Set,
) -> String {
    match mapping.is_empty() && address == 0 && lines.is_empty() && attributes.is_empty() {
        true => String::new(),
        false => format!("{mapping} {address} {lines:?} {attributes:?}"),
    }
}

fn frame_word(name: &str, file: &str, kind: &str, line: u32) -> String {
    if name.is_empty() && file.is_empty() {
        return String::new();
    }
    let kind = (!kind.is_empty()).then(|| ("profile.frame.type".to_string(), format!("{kind:?} ")));
    location_word(
        "",
        0,
        &[(function_word(name, "", file, 0), line.into(), 0)],
        &kind.into_iter().collect(),
    )
}

fn link_word(trace_id: [u8; 16], span_id: [u8; 8]) -> String {
    match trace_id == [0; 16] || span_id == [0; 8] {
        true => String::new(),
        false => format!("{trace_id:?} {span_id:?}"),
    }
}

/// Converts the builder's result to strings.
struct Words<'a>(&'a Dictionary);

impl Words<'_> {
    fn value(&self, value: &Value) -> String {
        value_of(&match value {
            Value::Empty => Any::Empty,
            Value::String(text) => return format!("{:?}", self.0.text(*text)),
            Value::Int(number) => Any::Int(*number),
            Value::Double(number) => Any::Bits(number.to_bits()),
            Value::KeyValues(pairs) => {
                let pairs = pairs.iter().map(|pair| match pair.value {
                    Value::Int(number) => (self.0.text(pair.key), number),
                    _ => panic!("{pair:?}"),
                });
                return format!("{:?}", pairs.collect::<BTreeMap<_, _>>());
            }
            other => panic!("{other:?}"),
        })
    }

    fn attributes(&self, ids: &[AttributeId]) -> Set {
        let words = ids.iter().map(|&id| {
            let attribute = self.0.attribute(id).unwrap();
            let word = format!("{} {}", self.value(&attribute.value), self.0.text(attribute.unit));
            (self.0.text(attribute.key).to_string(), word)
        });
        let set: Set = words.collect();
        assert_eq!(set.len(), ids.len(), "a key stands once");
        set
    }

    fn pairs(&self, pairs: &[KeyValue]) -> Set {
        let set: Set = pairs
            .iter()
            .map(|pair| (self.0.text(pair.key).to_string(), self.value(&pair.value)))
            .collect();
        assert_eq!(set.len(), pairs.len(), "a key stands once");
        assert!(!set.contains_key(""));
        set
    }

    fn resource(&self, resource: &ResourceProfiles) -> Set {
        let texts = |ids: &[_]| ids.iter().map(|id| self.0.text(*id)).collect::<Vec<_>>();
        let mut set = self.pairs(resource.resource().attributes());
        for entity in resource.resource().entity_refs() {
            let kind = self.0.text(entity.entity_type);
            let (id_keys, description_keys) =
                (texts(&entity.id_keys), texts(&entity.description_keys));
            let word = entity_word(&set, kind, &id_keys, &description_keys);
            set.extend([word.expect("its keys are the resource's")]);
        }
        with_schema(set, self.0.text(resource.schema_url()))
    }

    fn location(&self, id: LocationId) -> String {
        let table = self.0.locations();
        let mapping = self.0.mappings().get(table.mapping(id));
        let mapping = mapping_word(
            self.0.text(mapping.filename),
            mapping.memory_start,
            mapping.memory_limit,
            mapping.file_offset,
            &self.attributes(self.0.mappings().attributes(table.mapping(id))),
        );
        let lines: Vec<_> = table
            .lines(id)
            .iter()
            .map(|line| {
                let function = self.0.function(line.function);
                let [name, system_name, file] =
                    [function.name, function.system_name, function.filename]
                        .map(|id| self.0.text(id));
                (
                    function_word(name, system_name, file, function.start_line),
                    line.line,
                    line.column,
                )
            })
            .collect();
        location_word(&mapping, table.address(id), &lines, &self.attributes(table.attributes(id)))
    }

    fn samples(&self, profiles: &Profiles) -> BTreeMap<Identity, Seen> {
        let mut all = BTreeMap::<Identity, Seen>::new();
        for resource in profiles.resource_profiles() {
            let of_resource = self.resource(resource);
            for scope in resource.scope_profiles() {
                let attributes = self.pairs(scope.scope().attributes());
                let attributes = with_schema(attributes, self.0.text(scope.schema_url()));
                let of_scope = (self.0.text(scope.scope().name()).to_string(), attributes);
                for profile in scope.profiles() {
                    self.profile(&of_resource, &of_scope, profile, &mut all);
                }
            }
        }
        all
    }

    fn profile(
        &self,
        resource: &Set,
        scope: &(String, Set),
        profile: &Profile,
        all: &mut BTreeMap<Identity, Seen>,
    ) {
        let text = |id| self.0.text(id).to_string();
        let types: Vec<_> =
            profile.sample_types().iter().map(|kind| (text(kind.name), text(kind.unit))).collect();
        for sample in profile.samples().iter() {
            let shape = match (sample.values, sample.timestamps_unix_nano) {
                ([], _) => "events",
                (_, []) => "totals",
                _ => "series",
            };
            let link = self.0.link(sample.link);
            let identity = Identity {
                resource: resource.clone(),
                scope: scope.clone(),
                types: types.clone(),
                shape,
                stack: self.0.stack(sample.stack).iter().map(|&id| self.location(id)).collect(),
                attributes: self.attributes(sample.attributes),
                link: link_word(link.trace_id, link.span_id),
            };
            let seen = all.entry(identity).or_default();
            let times = sample.timestamps_unix_nano.iter().enumerate();
            seen.times.extend(times.map(|(at, &time)| (time, sample.values.get(at).copied())));
            if shape == "totals" {
                seen.totals = sample.values.iter().map(|value| i128::from(*value)).collect();
            }
        }
    }
}

/// Checks the rules that every result must follow.
fn assert_rules(profiles: &Profiles) {
    let dictionary = profiles.dictionary();
    assert_used(profiles);
    assert_distinct("strings", dictionary.strings().iter());
    assert_distinct("functions", dictionary.functions());
    assert_distinct("links", dictionary.links());
    assert_distinct("attributes", dictionary.attributes());
    assert_distinct("stacks", dictionary.stacks().rows());
    let (mappings, locations) = (dictionary.mappings(), dictionary.locations());
    let mapping = |&id: &MappingId| (mappings.get(id), sorted(mappings.attributes(id)));
    assert_distinct("mappings", ids::<MappingId>(profiles).iter().map(mapping));
    let location = |&id: &LocationId| {
        let (lines, attributes) = (locations.lines(id).to_vec(), sorted(locations.attributes(id)));
        (locations.mapping(id), locations.address(id), lines, attributes)
    };
    assert_distinct("locations", ids::<LocationId>(profiles).iter().map(location));
    for mapping in mappings.rows() {
        let range = (mapping.memory_start, mapping.memory_limit);
        assert!(range.0 < range.1 || range == (0, 0), "{range:?}");
    }
    assert!(dictionary.attributes()[1..].iter().all(|attribute| attribute.key.some().is_some()));
    for function in &dictionary.functions()[1..] {
        let names = [function.name, function.system_name, function.filename];
        assert!(names.iter().any(|id| id.some().is_some()));
    }
    for resource in profiles.resource_profiles() {
        assert!(!resource.scope_profiles().is_empty());
        assert!(resource.scope_profiles().iter().all(|scope| !scope.profiles().is_empty()));
    }
    profiles.iter().for_each(|profile| assert_profile(dictionary, profile));
}

fn sorted(ids: &[AttributeId]) -> Vec<AttributeId> {
    let mut ids = ids.to_vec();
    ids.sort();
    ids
}

fn assert_distinct<T: Hash + Eq>(table: &str, rows: impl IntoIterator<Item = T>) {
    let mut seen = HashSet::new();
    assert!(rows.into_iter().all(|row| seen.insert(row)), "equal rows in {table}");
}

fn assert_profile(dictionary: &Dictionary, profile: &Profile) {
    Words(dictionary).attributes(profile.attributes());
    assert!(!profile.samples().is_empty(), "no profile without samples");
    let end = profile.time_unix_nano() + profile.duration_nanos();
    assert!((0..=i128::from(u64::MAX)).contains(&end));
    let shape =
        |sample: &SampleRef<'_>| (sample.values.is_empty(), sample.timestamps_unix_nano.is_empty());
    let first = shape(&profile.samples().get(0).unwrap());
    let mut identities = HashSet::new();
    for sample in profile.samples().iter() {
        let (values, times) = (sample.values.len(), sample.timestamps_unix_nano);
        assert_eq!(shape(&sample), first, "one shape");
        match first {
            (_, true) => assert_eq!(values, profile.sample_types().len()),
            (true, _) => assert_eq!(profile.sample_types().len(), 1),
            (false, _) => assert_eq!((values, profile.sample_types().len()), (times.len(), 1)),
        }
        assert!(times.is_sorted());
        let in_window = |&time: &u64| (profile.time_unix_nano()..end).contains(&time.into());
        assert!(times.iter().all(in_window), "{times:?} outside the window");
        let attributes: BTreeSet<_> = sample.attributes.iter().copied().collect();
        assert!(
            identities.insert((sample.stack, attributes, sample.link)),
            "equal samples are one"
        );
    }
}

/// Checks that every id is in range, and that every row except the first of each table is referenced.
fn assert_used(profiles: &Profiles) {
    let dictionary = profiles.dictionary();
    let mut strings = Marks::new("strings", dictionary.strings().len());
    let mut mappings = Marks::new("mappings", dictionary.mappings().rows().len());
    let mut functions = Marks::new("functions", dictionary.functions().len());
    let mut locations = Marks::new("locations", dictionary.locations().len());
    let mut links = Marks::new("links", dictionary.links().len());
    let mut attributes = Marks::new("attributes", dictionary.attributes().len());
    let mut stacks = Marks::new("stacks", dictionary.stacks().len());
    for resource in profiles.resource_profiles() {
        mark_pairs(&mut strings, resource.resource().attributes());
        strings.mark(resource.schema_url().row());
        for entity in resource.resource().entity_refs() {
            strings.mark(entity.entity_type.row());
            strings.mark(entity.schema_url.row());
        }
        for scope in resource.scope_profiles() {
            strings.mark(scope.scope().name().row());
            strings.mark(scope.schema_url().row());
            mark_pairs(&mut strings, scope.scope().attributes());
        }
    }
    for profile in profiles.iter() {
        for kind in profile.sample_types().iter().chain([&profile.period_type()]) {
            strings.mark(kind.name.row());
            strings.mark(kind.unit.row());
        }
        profile.attributes().iter().for_each(|id| attributes.mark(id.row()));
        for sample in profile.samples().iter() {
            stacks.mark(sample.stack.row());
            links.mark(sample.link.row());
            sample.attributes.iter().for_each(|id| attributes.mark(id.row()));
        }
    }
    dictionary.stacks().items().iter().for_each(|id| {
        assert_ne!(id.row(), 0, "no empty location in a stack");
        locations.mark(id.row());
    });
    for id in ids::<LocationId>(profiles) {
        mappings.mark(dictionary.locations().mapping(id).row());
        dictionary.locations().attributes(id).iter().for_each(|id| attributes.mark(id.row()));
        for line in dictionary.locations().lines(id) {
            assert_ne!(line.function.row(), 0, "no line without a function");
            functions.mark(line.function.row());
        }
        let attributes_of_mapping =
            dictionary.mappings().attributes(dictionary.locations().mapping(id));
        attributes_of_mapping.iter().for_each(|id| attributes.mark(id.row()));
    }
    dictionary.mappings().rows().iter().for_each(|mapping| strings.mark(mapping.filename.row()));
    for function in dictionary.functions() {
        [function.name, function.system_name, function.filename]
            .iter()
            .for_each(|id| strings.mark(id.row()));
    }
    for attribute in dictionary.attributes() {
        strings.mark(attribute.key.row());
        strings.mark(attribute.unit.row());
        mark_value(&mut strings, &attribute.value);
    }
    for marks in [strings, mappings, functions, locations, links, attributes, stacks] {
        assert!(marks.used[1..].iter().all(|&used| used), "an unused row in {}", marks.table);
    }
}

struct Marks {
    table: &'static str,
    used: Vec<bool>,
}

impl Marks {
    fn new(table: &'static str, rows: usize) -> Self {
        assert!(rows > 0, "row 0 of {table}");
        Self { table, used: vec![false; rows] }
    }

    fn mark(&mut self, row: usize) {
        assert!(row < self.used.len(), "{} has no row {row}", self.table);
        self.used[row] = true;
    }
}

fn mark_pairs(strings: &mut Marks, pairs: &[KeyValue]) {
    for pair in pairs {
        strings.mark(pair.key.row());
        mark_value(strings, &pair.value);
    }
}

fn mark_value(strings: &mut Marks, value: &Value) {
    match value {
        Value::String(text) => strings.mark(text.row()),
        Value::Array(values) => values.iter().for_each(|value| mark_value(strings, value)),
        Value::KeyValues(pairs) => mark_pairs(strings, pairs),
        _ => {}
    }
}

/// Returns the ids of a table by row. All of them are in use.
fn ids<I: Occurring>(profiles: &Profiles) -> Vec<I> {
    let mut ids = I::all(profiles.dictionary());
    ids.push(I::default());
    ids.sort();
    ids.dedup();
    ids
}

trait Occurring: Copy + Default + Ord {
    fn all(dictionary: &Dictionary) -> Vec<Self>;
}

impl Occurring for LocationId {
    fn all(dictionary: &Dictionary) -> Vec<Self> {
        dictionary.stacks().items().to_vec()
    }
}

impl Occurring for MappingId {
    fn all(dictionary: &Dictionary) -> Vec<Self> {
        let locations = LocationId::all(dictionary);
        locations.iter().map(|&id| dictionary.locations().mapping(id)).collect()
    }
}

/// Runs the calls on as many builders as they request, and merges the builders.
fn play(calls: &[Call]) -> Pair {
    let mut pairs = vec![Pair::new()];
    for call in calls {
        match call {
            Call::Fork => pairs.push(Pair::new()),
            call => pairs.last_mut().unwrap().call(call),
        }
    }
    let mut all = pairs.remove(0);
    pairs.into_iter().for_each(|pair| all.merge(pair));
    all
}

fn assert_same(pair: &mut Pair) -> Profiles {
    let profiles = pair.builder.finish().unwrap();
    assert_what_was_said(&profiles, &mut pair.samples);
    profiles
}

fn assert_what_was_said(profiles: &Profiles, samples: &mut BTreeMap<Identity, Seen>) {
    assert_rules(profiles);
    let mut words = Words(profiles.dictionary()).samples(profiles);
    for seen in words.values_mut().chain(samples.values_mut()) {
        seen.times.sort();
        seen.totals
            .iter_mut()
            .for_each(|sum| *sum = (*sum).clamp(i64::MIN.into(), i64::MAX.into()));
    }
    assert_eq!(words, *samples);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(300) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_is_what_was_said(calls in prop::collection::vec(call(), 0..150)) {
        assert_same(&mut play(&calls));
    }

    #[test]
    fn nothing_shows_of_what_was_forgotten(
        before in prop::collection::vec(call(), 0..40),
        calls in prop::collection::vec(call(), 0..40),
        reset in any::<bool>(),
    ) {
        let calls: Vec<_> = calls.into_iter().filter(|call| !matches!(call, Call::Fork)).collect();
        let expected = play(&calls).builder.finish().unwrap();
        let mut used = play(&before).builder;
        match reset {
            true => used.reset(),
            false => drop(used.finish().unwrap()),
        }
        let mut pair = Pair { builder: used, ..Pair::new() };
        calls.iter().for_each(|call| pair.call(call));
        prop_assert_eq!(assert_same(&mut pair), expected);
    }

    /// Only declarations and their keys survive an interval.
    #[test]
    fn intervals_share_what_was_declared(
        intervals in prop::collection::vec(prop::collection::vec(call(), 0..40), 1..5),
    ) {
        let mut pair = Pair::new();
        for calls in intervals {
            calls.iter().for_each(|call| pair.call(call));
            let Pair { builder, samples, .. } = &mut pair;
            assert_what_was_said(&builder.finish_interval().unwrap(), samples);
            let Pair { builder, resources, scopes, profiles, current, .. } = pair;
            pair = Pair { builder, resources, scopes, profiles, current, ..Pair::new() };
        }
    }
}

/// Checks the payload in every generation, with each encoding of repeated strings in resources.
#[cfg(feature = "proto-all")]
fn assert_valid(profiles: &Profiles) {
    use crate::support::profcheck::{Orphans, problems};
    use otlp_profiles::format::StringEncoding;
    use otlp_profiles::{Format, WriteOptions, write, write_into};

    if profiles.iter().next().is_none() {
        return;
    }
    let generations = Format::ALL.iter().filter(|format| {
        let number = format.name().strip_prefix("otlp-");
        number.is_some_and(|number| number.starts_with('1'))
    });
    for format in generations {
        for refs in [StringEncoding::Inline, StringEncoding::Dictionary] {
            let options = WriteOptions::default().string_encoding(refs);
            let written = write(profiles, *format, &options).unwrap();
            let payload = written.payload;
            let mut buffer = vec![0; 9];
            let losses = write_into(profiles, *format, &options, &mut buffer).unwrap();
            assert_eq!(losses.is_empty(), written.losses.is_empty());
            assert_eq!(buffer, payload, "{}", format.name());
            let orphans = match refs {
                StringEncoding::Inline => Orphans::Profcheck,
                _ => Orphans::Any,
            };
            let mut problems = problems(format.name(), &payload, orphans);
            let is_lost = |code: &str| written.losses.get(code).is_some();
            if is_lost("time.overflow") {
                problems.retain(|problem| !problem.contains("end of time"));
            }
            // An attribute that loses its unit may then equal another one.
            if is_lost("unit.key_conflict") {
                problems.retain(|problem| !problem.contains("\"equal rows\" in (\"attribute\""));
            }
            // A derived id depends on the meaning of a profile only, so equal profiles share it.
            if is_lost("profile_id.synthesized") {
                problems.retain(|problem| !problem.contains("profile id twice"));
            }
            assert!(problems.is_empty(), "{refs:?}: {}", problems.join("\n"));
        }
    }
}

#[cfg(feature = "proto-all")]
proptest! {
    #![proptest_config(ProptestConfig { cases: sized(200) as u32, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_251_121), ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_breaks_no_rule_on_the_wire(calls in prop::collection::vec(call(), 0..120)) {
        assert_valid(&play(&calls).builder.finish().unwrap());
    }
}

#[cfg(feature = "proto-all")]
#[test]
fn what_is_broken_is_found() {
    use crate::support::profcheck::{Orphans, problems};
    use otlp_profiles::proto::prost::Message;
    use otlp_profiles::proto::v1_10::{Profile, ProfilesData, ProfilesDictionary, Stack};
    use otlp_profiles::{Format, WriteOptions, write};

    fn tables(data: &mut ProfilesData) -> &mut ProfilesDictionary {
        data.dictionary.as_mut().unwrap()
    }
    fn profile(data: &mut ProfilesData) -> &mut Profile {
        &mut data.resource_profiles[0].scope_profiles[0].profiles[0]
    }

    let mut builder = Builder::new();
    let cpu = builder.profile("cpu", "nanoseconds");
    let link = builder.link([1; 16], [2; 8]);
    let sample = builder.sample(cpu, root_first(["main", "parse"])).value(1).timestamp(9);
    sample.attr("thread.name", "worker-1").link(link);
    let built = builder.finish().unwrap();
    let payload = write(&built, Format::OTLP, &WriteOptions::default()).unwrap().payload;
    type Break = (&'static str, fn(&mut ProfilesData));
    let breaks: [Break; 14] = [
        ("equal strings", |data| tables(data).string_table.push("main".into())),
        ("orphan", |data| tables(data).string_table.push("nobody".into())),
        ("orphan", |data| tables(data).stack_table.push(Stack { location_indices: vec![1] })),
        ("equal rows", |data| {
            let row = tables(data).function_table[1];
            tables(data).function_table.push(row);
        }),
        ("row 0", |data| tables(data).link_table.clear()),
        ("row 0", |data| tables(data).mapping_table[0].memory_limit = 1),
        ("link ids", |data| tables(data).link_table[1].span_id.truncate(7)),
        ("attribute without a key", |data| tables(data).attribute_table[1].key_strindex = 0),
        ("stack", |data| profile(data).samples[0].stack_index = 7),
        ("keys", |data| profile(data).samples[0].attribute_indices.push(1)),
        ("values and times", |data| profile(data).samples[0].values.push(1)),
        ("says nothing", |data| profile(data).samples.push(Default::default())),
        ("equal samples", |data| {
            let sample = profile(data).samples[0].clone();
            profile(data).samples.push(sample);
        }),
        ("in Node { kind: \"Sample\"", |data| profile(data).duration_nano = 0),
    ];
    assert_eq!(problems("otlp-1.10", &payload, Orphans::Any), [""; 0]);
    for (expected, broken) in breaks {
        let mut data = ProfilesData::decode(&payload[..]).unwrap();
        broken(&mut data);
        let found = problems("otlp-1.10", &data.encode_to_vec(), Orphans::Any);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:?}");
    }
}
