//! Redaction: names and values become pseudonyms.

use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{AttributeId, StringId};
use crate::model::lazy_box::LazyBox;
use crate::model::profile::{Profile, ProfileParts};
use crate::model::strings::Strings;
use crate::model::value::{KeyValue, Value};
use crate::model::{EntityRef, Profiles, ResourceProfiles};
use crate::semconv;

/// Parts of a key that mark a secret.
const SECRET_KEYS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "credential",
    "authorization",
    "cookie",
    "api_key",
    "apikey",
    "api-key",
    "private_key",
    "session",
];

/// Beginnings of values that are secrets, whatever their key: tokens of GitHub, GitLab, Slack, AWS, and others.
const SECRET_VALUES: &[&str] = &[
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "eyJ",
    "sk-",
    "Bearer ",
    "Basic ",
    "-----BEGIN",
];

/// Attributes that hold free text or names in regular expressions, and are dropped.
const FREE_TEXT: [&str; 4] = [
    semconv::PPROF_PROFILE_COMMENT,
    semconv::PPROF_PROFILE_DROP_FRAMES,
    semconv::PPROF_PROFILE_KEEP_FRAMES,
    semconv::PPROF_PROFILE_DOC_URL,
];

/// The use of a text: equal texts of one role get one pseudonym.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Role {
    Function,
    File,
    Value,
    BuildId,
}

/// Replaces names and values by pseudonyms, so that a profile can be given to others.
///
/// Equal texts get equal pseudonyms in all profiles that one redactor processes: `function_1`, `file_1`, `value_1`.
/// They are numbered by first appearance and cannot be reversed. Pseudonyms of an earlier redaction stay, so
/// redacting the result again in its format gives the same bytes.
///
/// | part | result |
/// |---|---|
/// | names of functions | pseudonyms, unless `keep` accepts the name |
/// | files and binaries | pseudonyms, unless `keep` accepts the path |
/// | texts in attributes of samples, profiles, scopes, resources, locations and mappings | pseudonyms, unless `keep` accepts the value |
/// | whole numbers without a unit | numbered for each key, in ascending order |
/// | build ids, bytes, trace, span and profile ids | other digits of the same length, in ascending order |
/// | attributes that look like secrets, by key or value; comments; original payloads | dropped |
/// | keys, units, sample types, frame types, the names and versions of scopes, schema URLs | kept |
/// | values, times, addresses, line numbers | kept |
///
/// ```
/// use otlp_profiles::transform::Redactor;
/// # let file = std::fs::read("testdata/go-heap.pb.gz").unwrap();
///
/// let mut profiles = otlp_profiles::read(&file, &Default::default())?.profiles;
/// let keep = |text: &str| text.starts_with("runtime.");
/// let losses = Redactor::new(&keep).redact(&mut profiles);
/// let strings: Vec<&str> = profiles.dictionary().strings().iter().collect();
/// assert!(strings.contains(&"function_1") && strings.contains(&"runtime.main"));
/// assert!(!strings.contains(&"main.leak"));
/// assert!(losses.is_empty());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct Redactor<'a> {
    keep: &'a (dyn Fn(&str) -> bool + Sync),
    /// The pseudonyms by role and text.
    names: HashMap<(Role, String), String, RandomState>,
    /// The pseudonyms in use.
    taken: BTreeSet<(Role, String)>,
    /// The number of pseudonyms of each role.
    counts: [usize; 4],
    /// The numbers of whole numbers by key.
    numbers: HashMap<(String, i64), i64, RandomState>,
    /// How many numbers each key has.
    number_counts: HashMap<String, i64, RandomState>,
    /// The ids by their bytes.
    ids: HashMap<Vec<u8>, u64, RandomState>,
    /// What the profiles hold that has no pseudonym yet, if it is being collected.
    collected: Option<Collected>,
    /// The names that stay, with their use.
    kept: BTreeSet<(&'static str, String)>,
}

/// The parts of profiles that get pseudonyms in ascending order, and the pseudonyms that they hold already.
#[derive(Default)]
struct Collected {
    numbers: BTreeSet<(String, i64)>,
    /// By their digits without leading zeroes, so that pseudonyms keep their order.
    ids: BTreeSet<(usize, Vec<u8>, Vec<u8>)>,
    names: BTreeSet<(Role, String)>,
}

impl std::fmt::Debug for Redactor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("names", &self.names.len()).finish_non_exhaustive()
    }
}

/// The string table of the redacted profiles.
#[derive(Default)]
struct Texts {
    old: Strings,
    new: Strings,
    index: HashMap<String, StringId, RandomState>,
}

impl Texts {
    fn intern(&mut self, text: &str) -> StringId {
        match self.index.get(text) {
            _ if text.is_empty() => StringId::NONE,
            Some(id) => *id,
            None => {
                let id = self.new.push(text);
                self.index.insert(text.to_owned(), id);
                id
            }
        }
    }

    fn keep(&mut self, id: &mut StringId) {
        let text = self.old.get(*id).to_owned();
        *id = self.intern(&text);
    }
}

impl<'a> Redactor<'a> {
    /// A redactor that keeps the names, paths and values that `keep` accepts.
    pub fn new(keep: &'a (dyn Fn(&str) -> bool + Sync)) -> Self {
        let (names, counts, numbers, number_counts, ids) = Default::default();
        let (taken, collected, kept) = Default::default();
        Self { keep, names, taken, counts, numbers, number_counts, ids, collected, kept }
    }

    /// Returns the names that redacted profiles keep, with their use: `scope`, `scope version`, `sample type`, `unit`,
    /// `key` or `schema URL`. They are sorted. A custom one may tell who made the profiles.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.kept.iter().map(|(kind, name)| (*kind, &name[..]))
    }

    /// Redacts profiles. Returns what was dropped. The time is linear in their size but for sorting, and the memory is
    /// that of a copy.
    pub fn redact(&mut self, profiles: &mut Profiles) -> Losses {
        self.collected = Some(Collected::default());
        _ = self.replace(&mut profiles.clone());
        let Collected { numbers, ids, names } = self.collected.take().unwrap_or_default();
        for (role, name) in names {
            // Unless it stands for another text of an earlier input.
            if self.taken.insert((role, name.clone())) {
                self.names.insert((role, name.clone()), name);
            }
        }
        numbers.into_iter().for_each(|(key, number)| _ = self.number(&key, number));
        ids.into_iter().for_each(|(_, _, mut id)| self.bytes(&mut id));
        self.replace(profiles)
    }

    /// Replaces everything by its pseudonym, or collects what needs one.
    fn replace(&mut self, profiles: &mut Profiles) -> Losses {
        let mut losses = Losses::default();
        let Profiles { dictionary, resources } = profiles;
        // Every reference is visited once: a new id must not be looked up among the old strings.
        let mut texts = Texts { old: std::mem::take(&mut dictionary.strings), ..Texts::default() };
        let dropped = self.attributes(dictionary, &mut texts);
        self.tables(dictionary, &mut texts);
        for resource in resources.iter_mut() {
            self.resource(resource, &mut texts, &mut losses);
            for scope in &mut resource.scopes {
                let profiles = scope.profiles.iter_mut();
                profiles
                    .for_each(|profile| self.profile(profile, &mut texts, &dropped, &mut losses));
            }
        }
        dictionary.strings = texts.new;
        let is_kept = |id: AttributeId| !dropped[id.row()];
        dictionary.mappings.attributes.retain(is_kept);
        dictionary.locations.attributes.retain(is_kept);
        losses
    }

    /// Records a name that stays, before the table of old names is gone.
    fn record(&mut self, kind: &'static str, id: StringId, texts: &Texts) {
        let text = texts.old.get(id);
        if !text.is_empty() && self.collected.is_none() {
            self.kept.insert((kind, text.to_owned()));
        }
    }

    /// The pseudonym of a text.
    fn text(&mut self, role: Role, id: &mut StringId, texts: &mut Texts) {
        let text = texts.old.get(*id).to_owned();
        if text.is_empty() || (self.keep)(&text) {
            *id = texts.intern(&text);
            return;
        }
        if let Some(collected) = &mut self.collected {
            if is_pseudonym(role, &text) {
                collected.names.insert((role, text));
            }
            return;
        }
        let Self { names, counts, taken, .. } = self;
        let name = names.entry((role, text)).or_insert_with_key(|(role, text)| {
            loop {
                let count = &mut counts[*role as usize];
                *count += 1;
                let name = pseudonym(*role, *count, text.len());
                if taken.insert((*role, name.clone())) {
                    return name;
                }
            }
        });
        *id = texts.intern(name);
    }

    /// Redacts the attribute table. Returns by row whether the attribute is dropped.
    fn attributes(&mut self, dictionary: &mut Dictionary, texts: &mut Texts) -> Vec<bool> {
        let mut dropped = vec![false; dictionary.attributes.len()];
        for (row, attribute) in dictionary.attributes.iter_mut().enumerate().skip(1) {
            let key = texts.old.get(attribute.key).to_owned();
            if is_dropped(&key, &attribute.value, &texts.old) {
                dropped[row] = true;
                *attribute = Default::default();
                continue;
            }
            let has_unit = attribute.unit != StringId::NONE;
            self.value(&key, has_unit, &mut attribute.value, texts);
            self.record("key", attribute.key, texts);
            self.record("unit", attribute.unit, texts);
            texts.keep(&mut attribute.key);
            texts.keep(&mut attribute.unit);
        }
        dropped
    }

    fn tables(&mut self, dictionary: &mut Dictionary, texts: &mut Texts) {
        for function in &mut dictionary.functions {
            self.text(Role::Function, &mut function.name, texts);
            self.text(Role::Function, &mut function.system_name, texts);
            self.text(Role::File, &mut function.filename, texts);
        }
        for mapping in &mut dictionary.mappings.rows {
            self.text(Role::File, &mut mapping.filename, texts);
        }
        for link in &mut dictionary.links {
            self.bytes(&mut link.trace_id);
            self.bytes(&mut link.span_id);
        }
    }

    fn resource(
        &mut self,
        resource: &mut ResourceProfiles,
        texts: &mut Texts,
        losses: &mut Losses,
    ) {
        let Some(resource) = resource.parts_mut() else { return };
        self.record("schema URL", resource.schema_url, texts);
        texts.keep(&mut resource.schema_url);
        let dropped = self.pairs(&mut resource.resource.attributes, texts);
        losses.add_many(losses::RESOURCE_DROPPED, dropped.len() as u64, String::new);
        resource.resource.entity_refs.retain_mut(|entity| {
            let EntityRef { schema_url, entity_type, id_keys, description_keys } = entity;
            let had_id = !id_keys.is_empty();
            for keys in [&mut *id_keys, &mut *description_keys] {
                keys.retain(|key| !dropped.contains(key));
            }
            let has_id = !id_keys.is_empty();
            let texts_of =
                [schema_url, entity_type].into_iter().chain(id_keys).chain(description_keys);
            texts_of.for_each(|id| texts.keep(id));
            has_id || !had_id
        });
        for scope in &mut resource.scopes {
            let Some(scope) = scope.parts_mut() else { continue };
            self.record("schema URL", scope.schema_url, texts);
            texts.keep(&mut scope.schema_url);
            self.record("scope", scope.scope.name, texts);
            self.record("scope version", scope.scope.version, texts);
            texts.keep(&mut scope.scope.name);
            texts.keep(&mut scope.scope.version);
            let dropped = self.pairs(&mut scope.scope.attributes, texts).len();
            losses.add_many(losses::SCOPE_DROPPED, dropped as u64, String::new);
        }
    }

    fn profile(
        &mut self,
        profile: &mut Profile,
        texts: &mut Texts,
        dropped: &[bool],
        losses: &mut Losses,
    ) {
        let Some(profile) = profile.parts_mut() else { return };
        let original = !profile.original_payload.is_empty();
        losses.add_many(losses::ORIGINAL_DROPPED, original.into(), String::new);
        profile.original_payload = LazyBox::NONE;
        profile.original_payload_format = StringId::NONE;
        for of in profile.sample_types.iter().chain([&profile.period_type]) {
            self.record("sample type", of.name, texts);
            self.record("unit", of.unit, texts);
        }
        profile.texts_mut().for_each(|id| texts.keep(id));
        self.bytes(&mut profile.profile_id.0);
        let ProfileParts { attributes, samples, .. } = profile;
        let count = |ids: &[AttributeId]| ids.iter().filter(|id| dropped[id.row()]).count() as u64;
        losses.add_many(losses::ATTR_PROFILE_DROPPED, count(attributes), String::new);
        losses.add_many(losses::ATTR_SAMPLE_DROPPED, count(&samples.attributes.items), String::new);
        if let Some(attributes) = attributes.get_mut() {
            attributes.retain(|id| !dropped[id.row()]);
        }
        samples.attributes.retain(|id| !dropped[id.row()]);
        for id in samples.stacktrace_ids.get_mut().into_iter().flatten() {
            self.text(Role::Value, id, texts);
        }
    }

    /// Redacts named values. Returns the keys of those that were dropped.
    fn pairs(&mut self, pairs: &mut Vec<KeyValue>, texts: &mut Texts) -> Vec<StringId> {
        let mut dropped = Vec::new();
        pairs.retain_mut(|pair| {
            let key = texts.old.get(pair.key).to_owned();
            if is_dropped(&key, &pair.value, &texts.old) {
                dropped.push(pair.key);
                return false;
            }
            self.value(&key, false, &mut pair.value, texts);
            self.record("key", pair.key, texts);
            texts.keep(&mut pair.key);
            true
        });
        dropped
    }

    fn value(&mut self, key: &str, has_unit: bool, value: &mut Value, texts: &mut Texts) {
        let is_kept = key.starts_with("pprof.") || key == semconv::PROFILE_FRAME_TYPE;
        match value {
            Value::String(id) if is_kept => texts.keep(id),
            Value::String(id) if key.starts_with("process.executable.build_id.") => {
                self.text(Role::BuildId, id, texts);
            }
            Value::String(id) => self.text(Role::Value, id, texts),
            Value::Int(number) if !is_kept && !has_unit => *number = self.number(key, *number),
            Value::Bytes(bytes) if !is_kept => self.bytes(bytes),
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.value(key, has_unit, value, texts));
            }
            Value::KeyValues(pairs) => {
                let mut kept = std::mem::take(pairs).into_vec();
                self.pairs(&mut kept, texts);
                *pairs = kept.into();
            }
            _ => {}
        }
    }

    /// Numbers the values of a key from 1.
    fn number(&mut self, key: &str, number: i64) -> i64 {
        if let Some(collected) = &mut self.collected {
            collected.numbers.insert((key.to_owned(), number));
            return number;
        }
        let Self { numbers, number_counts, .. } = self;
        *numbers.entry((key.to_owned(), number)).or_insert_with(|| {
            let count = number_counts.entry(key.to_owned()).or_default();
            *count += 1;
            *count
        })
    }

    /// Replaces an id by its number; all zeroes stay.
    fn bytes(&mut self, bytes: &mut [u8]) {
        if let Some(collected) = &mut self.collected {
            let digits: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
            if !digits.is_empty() {
                collected.ids.insert((digits.len(), digits, bytes.to_vec()));
            }
            return;
        }
        // All zeros stay: in an id they mean that it is absent.
        if bytes.iter().any(|byte| *byte != 0) {
            let next = self.ids.len() as u64 + 1;
            let number = *self.ids.entry(bytes.to_vec()).or_insert(next);
            bytes.fill(0);
            let digits = number.to_le_bytes();
            // Of short values only the low digits fit: more than 255 of one byte get equal pseudonyms.
            bytes.iter_mut().rev().zip(digits).for_each(|(byte, digit)| *byte = digit);
        }
    }
}

/// The pseudonym of a number for a text of a length.
fn pseudonym(role: Role, number: usize, length: usize) -> String {
    match role {
        Role::Function => format!("function_{number}"),
        Role::File => format!("file_{number}"),
        Role::Value => format!("value_{number}"),
        Role::BuildId => format!("{number:0length$x}"),
    }
}

/// Whether an earlier redaction may have made a text.
fn is_pseudonym(role: Role, text: &str) -> bool {
    let number = match role {
        // A real one has a digit other than 0 among its first.
        Role::BuildId if !text.starts_with("00000") => return false,
        Role::BuildId => usize::from_str_radix(text, 16),
        _ => text.rsplit('_').next().unwrap_or_default().parse(),
    };
    number.is_ok_and(|number| number > 0 && pseudonym(role, number, text.len()) == text)
}

/// Whether an attribute is free text or looks like a secret.
fn is_dropped(key: &str, value: &Value, strings: &Strings) -> bool {
    let lower = key.to_ascii_lowercase();
    let is_secret = |text: &str| {
        let has_password = text.split_once("://").is_some_and(|(_, rest)| {
            let authority = rest.split('/').next().unwrap_or_default();
            authority.split_once('@').is_some_and(|(user, _)| user.contains(':'))
        });
        has_password || SECRET_VALUES.iter().any(|start| text.starts_with(start))
    };
    let mut holds_secret = false;
    value.for_each_text(&mut |id| holds_secret |= is_secret(strings.get(id)));
    FREE_TEXT.contains(&key) || SECRET_KEYS.iter().any(|part| lower.contains(part)) || holds_secret
}
