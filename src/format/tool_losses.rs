//! Counting of data that formats of other tools cannot represent.
//!
//! All such formats share this code. A format declares in [`SupportedData`] which data it represents; everything else
//! in the model is counted under its code. [`unsupported`](crate::tables::write::unsupported) counts the data that pprof lacks as well.

use crate::format::assembly::Numbering;
use crate::losses::{self, Losses};
use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, LocationId, StringId};
use crate::model::profile::Profile;
use crate::model::samples::SampleRef;
use crate::model::{AttributeRef, Profiles};
use crate::semconv::PROFILE_FRAME_TYPE;
use crate::tables::attributes::semantic_attributes::AttributeRoles;
use crate::tables::write::unsupported::{SupportedKeys, UnsupportedData, envelope, is_one_of};

/// The data that a format represents: of frames besides their names, and of profiles besides their samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SupportedData {
    /// Sample types.
    pub(crate) types: bool,
    /// The duration of a profile.
    pub(crate) duration: bool,
    /// The start time of a profile.
    pub(crate) time: bool,
    /// Source files and lines.
    pub(crate) lines: bool,
    /// Columns of source lines.
    pub(crate) columns: bool,
    /// Frame types.
    pub(crate) frame_types: bool,
    /// Addresses and their binaries.
    pub(crate) binaries: bool,
    /// Attributes, links and timestamps of samples.
    pub(crate) samples: bool,
    /// The attributes of a sample that the format represents, if it does not represent all.
    pub(crate) of_sample: Option<SupportedKeys>,
    /// The attributes of a resource that the format represents.
    pub(crate) of_resource: Option<SupportedKeys>,
    /// The key of the profile attribute that the format represents; empty if there is no such attribute.
    pub(crate) attribute: &'static str,
    /// Returns whether the string of that attribute contains an attribute of all samples of the profile.
    pub(crate) in_attribute: Option<fn(&str, AttributeRef<'_>) -> bool>,
}

/// A profile and one of its sample types.
#[derive(Clone, Copy)]
pub(crate) struct Column<'a> {
    /// The number of the resource that contains the profile.
    #[cfg_attr(not(feature = "firefox"), expect(dead_code, reason = "processes are told by it"))]
    pub(crate) resource: usize,
    pub(crate) profile: &'a Profile,
    pub(crate) column: usize,
}

/// Groups the columns of all profiles by sample type.
pub(crate) fn by_type(profiles: &Profiles) -> Vec<Vec<Column<'_>>> {
    let text = |id: StringId| profiles.dictionary.text(id);
    let mut numbering = Numbering::default();
    let mut groups: Vec<Vec<Column>> = Vec::new();
    let resources = profiles.resources.iter().enumerate();
    let each = resources.flat_map(|(row, resource)| {
        let profiles = resource.scopes.iter().flat_map(|scope| &scope.profiles);
        profiles.map(move |profile| (row, profile))
    });
    for (resource, profile) in each {
        for column in 0..profile.sample_types.len().max(1) {
            let kind = profile.sample_types.get(column).copied().unwrap_or_default();
            let (group, is_new) = numbering.number((text(kind.name), text(kind.unit)));
            if is_new {
                groups.push(Vec::new());
            }
            groups[group].push(Column { resource, profile, column });
        }
    }
    groups
}

/// Counts the data that the format does not represent.
pub(crate) fn count_unsupported(
    profiles: &Profiles,
    supported: SupportedData,
    losses: &mut Losses,
) {
    let dictionary = &profiles.dictionary;
    let texts = dictionary.strings.not_utf8().len() as u64;
    losses.add_many(losses::INVALID_UTF8, texts, String::new);
    envelope(profiles, supported.of_resource, losses);
    let roles = AttributeRoles::of(dictionary);
    let mut fields = UnsupportedData::of(dictionary, &roles);
    for scope in profiles.resources.iter().flat_map(|resource| &resource.scopes) {
        fields.scope(scope, losses);
        scope
            .profiles
            .iter()
            .for_each(|profile| count_profile(profile, dictionary, supported, losses));
    }
    locations(dictionary, supported, losses);
    functions(dictionary, supported, losses);
    mappings(dictionary, supported, losses);
}

/// Counts the types, period, times and attributes of a profile, then the data of its samples.
fn count_profile(
    profile: &Profile,
    dictionary: &Dictionary,
    supported: SupportedData,
    losses: &mut Losses,
) {
    let mut lost = |code, lost: bool, place: &str| {
        losses.add_many(code, u64::from(lost), || place.to_owned());
    };
    for kind in profile.sample_types.iter().filter(|_| !supported.types) {
        let [name, unit] = [kind.name, kind.unit].map(|text| dictionary.text(text));
        lost(losses::SAMPLE_TYPE_DROPPED, (name, unit) != ("samples", "count"), name);
    }
    let has_period = profile.period != 0 || profile.period_type.name != StringId::NONE;
    lost(losses::PERIOD_DROPPED, has_period, "period");
    let has_time = profile.time_unix_nano != 0 && !supported.time
        || profile.duration_nanos != 0 && !supported.duration;
    lost(losses::TIME_DROPPED, has_time, "time_unix_nano");
    for id in &profile.attributes {
        let key = dictionary.attribute(*id).map(|attribute| dictionary.text(attribute.key));
        let key = key.unwrap_or_default();
        lost(losses::ATTR_PROFILE_DROPPED, key != supported.attribute, key);
    }
    let samples = &profile.samples;
    let counted = |sample: &SampleRef| sample.values.len() + sample.timestamps_unix_nano.len();
    let nothing = samples.iter().filter(|sample| counted(sample) == 0).count() as u64;
    losses.add_many(losses::COLUMNS_ZERO_FILLED, nothing, String::new);
    if supported.samples {
        return;
    }
    let of_profile = dictionary.resolve(&profile.attributes[..]);
    let named = supported.in_attribute.zip(of_profile.get_str(supported.attribute));
    for sample in samples.iter() {
        let attributes = dictionary.resolve(sample.attributes);
        let supported_keys =
            supported.of_sample.map_or([None; 2], |supported_keys| supported_keys(&attributes));
        for pair in attributes.iter() {
            let is_named = named.is_some_and(|(contains, name)| contains(name, pair));
            let lost = u64::from(!is_one_of(&supported_keys, pair.key) && !is_named);
            losses.add_many(losses::ATTR_SAMPLE_DROPPED, lost, || pair.key.to_owned());
        }
    }
    let links = samples.links.iter().filter(|link| link.0 != 0).count() as u64;
    losses.add_many(losses::LINK_DROPPED, links, String::new);
    let times = samples.timestamps.items.len() as u64;
    losses.add_many(losses::TIMESTAMPS_DROPPED, times, String::new);
}

/// Counts the data of locations. An address is lost only if the frame has a name; otherwise the address is
/// the name.
fn locations(dictionary: &Dictionary, supported: SupportedData, losses: &mut Losses) {
    let table = &dictionary.locations;
    for row in 1..table.len() {
        let id = LocationId(row as u32);
        let place = || format!("location_table[{row}]");
        let lines = table.lines(id);
        let unnamed = lines.is_empty();
        if table.address(id) != 0 && !supported.binaries && !unnamed {
            losses.add(losses::ADDRESS_DROPPED, place);
        }
        if lines.len() > 1 {
            losses.add(losses::INLINE_SPREAD, place);
        }
        let placed = |line: u64| line != 0 && !supported.lines;
        let lost = |line: &crate::model::dictionary::Line| {
            placed(line.line.unsigned_abs()) || line.column != 0 && !supported.columns
        };
        if lines.iter().any(lost) {
            losses.add(losses::SOURCE_DROPPED, place);
        }
        for attribute in table.attributes(id).iter().filter_map(|id| dictionary.attribute(*id)) {
            match dictionary.text(attribute.key) {
                PROFILE_FRAME_TYPE if supported.frame_types => {}
                PROFILE_FRAME_TYPE => losses.add(losses::FRAME_TYPE_DROPPED, place),
                _ => losses.add(losses::ATTR_LOCATION_DROPPED, place),
            }
        }
    }
}

/// Counts the data of functions. A system name is lost only if it differs from the name and the name is set.
fn functions(dictionary: &Dictionary, supported: SupportedData, losses: &mut Losses) {
    for row in 1..dictionary.functions.len() {
        let function = dictionary.function(FunctionId(row as u32));
        let place = || format!("function_table[{row}]");
        let other = function.system_name != function.name && function.name != StringId::NONE;
        if other && function.system_name != StringId::NONE {
            losses.add(losses::SYSTEM_NAME_DROPPED, place);
        }
        if function.start_line != 0 || function.filename != StringId::NONE && !supported.lines {
            losses.add(losses::SOURCE_DROPPED, place);
        }
    }
}

fn mappings(dictionary: &Dictionary, supported: SupportedData, losses: &mut Losses) {
    if supported.binaries {
        return;
    }
    for row in 1..dictionary.mappings.rows.len() {
        losses.add(losses::MAPPING_DROPPED, || format!("mapping_table[{row}]"));
    }
}
