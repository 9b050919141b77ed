//! The frames that profiles declare to be of no interest.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::look::frames::without_arguments;
use crate::look::pattern::Pattern;
use crate::model::Profiles;
use crate::model::dictionary::Dictionary;
use crate::model::id::{LocationId, StackId, StringId};
use crate::semconv::{PPROF_PROFILE_DROP_FRAMES, PPROF_PROFILE_KEEP_FRAMES};

/// The most frames of all stacks together.
const MAX_FRAMES: usize = 1 << 28;

/// Drops the frames that profiles declare to be of no interest, as `pprof` does: the expressions of each profile
/// (`drop_frames` and `keep_frames`) apply to its own samples. `compile` makes the pattern of a regular expression.
///
/// Of each stack, the rootmost frame that matches and all frames below it are dropped. Frames before the first one
/// without a match stay. Unreferenced rows stay in the tables: see [`Profiles::compact`]. Takes time linear in the
/// size of the profiles.
///
/// # Errors
///
/// An expression does not compile, or the stacks exceed what the model can hold. Some profiles may have lost frames
/// then.
///
/// ```
/// use otlp_profiles::look::{Pattern, drop_declared_frames};
/// # let bytes = std::fs::read("testdata/gperftools-cpu.pb.gz").unwrap();
/// let mut profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
/// // A program passes the text to its library of regular expressions.
/// drop_declared_frames(&mut profiles, |text| Ok(Pattern::new(text, |name| name == "ProfileHandler::SignalHandler")))?;
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub fn drop_declared_frames(
    profiles: &mut Profiles,
    compile: impl Fn(&str) -> Result<Pattern, String>,
) -> Result<()> {
    let Profiles { dictionary, resources } = profiles;
    let mut declared: HashMap<[String; 2], Declared, RandomState> = HashMap::default();
    let scopes = resources.iter_mut().flat_map(|resource| &mut resource.scopes);
    for profile in scopes.flat_map(|scope| &mut scope.profiles) {
        let attributes = dictionary.resolve(profile.attributes());
        let keys = [PPROF_PROFILE_DROP_FRAMES, PPROF_PROFILE_KEEP_FRAMES];
        let texts = keys.map(|key| attributes.get_str(key).unwrap_or_default().to_owned());
        if texts[0].is_empty() {
            continue;
        }
        if !declared.contains_key(&texts) {
            let [drop, keep] = &texts;
            let pattern = |text: &String| compile(&format!("^(?:{text})$")).map_err(wrong);
            let keep = (!keep.is_empty()).then(|| pattern(keep)).transpose()?;
            let new = Declared::new(pattern(drop)?, keep);
            declared.insert(texts.clone(), new);
        }
        let Some(declared) = declared.get_mut(&texts) else { continue };
        for stack in &mut profile.samples.stacks {
            *stack = declared.stack(dictionary, *stack)?;
        }
    }
    Ok(())
}

fn wrong(error: String) -> Error {
    let message =
        format!("the profile declares frames to drop by a wrong regular expression: {error}");
    Error::new(ErrorKind::Unrepresentable, message)
}

/// The expressions of some profiles, with what is known about the rows of their stacks.
struct Declared {
    drop: Pattern,
    keep: Option<Pattern>,
    names: HashMap<StringId, bool, RandomState>,
    locations: HashMap<LocationId, Matched, RandomState>,
    stacks: HashMap<StackId, StackId, RandomState>,
}

/// Whether frames of a location match.
#[derive(Clone, Copy)]
enum Matched {
    /// No frame.
    No,
    /// The outermost frame, so that the location is dropped.
    Whole,
    /// An inner frame. This location has the frames that stay.
    Inner(LocationId),
}

impl Declared {
    fn new(drop: Pattern, keep: Option<Pattern>) -> Self {
        let (names, locations, stacks) = Default::default();
        Self { drop, keep, names, locations, stacks }
    }

    /// The stack without the frames to drop.
    fn stack(&mut self, dictionary: &mut Dictionary, stack: StackId) -> Result<StackId> {
        if let Some(id) = self.stacks.get(&stack) {
            return Ok(*id);
        }
        let own = dictionary.stack(stack).to_vec();
        let matched: Vec<Matched> =
            own.iter().map(|location| self.location(dictionary, *location)).collect();
        let is_match = |of: &Matched| !matches!(of, Matched::No);
        let first = matched.iter().rposition(|of| !is_match(of)).unwrap_or(0);
        let from = match matched[..first].iter().rposition(is_match) {
            Some(cut) => cut + usize::from(matches!(matched[cut], Matched::Whole)),
            None => 0,
        };
        let kept = own[from..].iter().zip(&matched[from..]);
        let kept: Vec<LocationId> = kept
            .map(|(location, matched)| match matched {
                Matched::Inner(rest) => *rest,
                _ => *location,
            })
            .collect();
        let id = if kept == own { stack } else { push(dictionary, &kept)? };
        self.stacks.insert(stack, id);
        Ok(id)
    }

    fn location(&mut self, dictionary: &mut Dictionary, location: LocationId) -> Matched {
        if let Some(matched) = self.locations.get(&location) {
            return *matched;
        }
        let lines = dictionary.locations.lines(location).to_vec();
        let name = |line: &crate::model::Line| dictionary.functions[line.function.row()].name;
        let matched = match lines.iter().rposition(|line| self.name(dictionary, name(line))) {
            None => Matched::No,
            Some(at) if at + 1 == lines.len() => Matched::Whole,
            Some(at) => {
                let locations = &mut dictionary.locations;
                let row = locations.len();
                let attributes = locations.attributes(location).to_vec();
                locations.mappings.push(locations.mapping(location));
                locations.addresses.push(locations.address(location));
                locations.lines.push_at(row, &lines[at + 1..]);
                locations.attributes.push_at(row, &attributes);
                Matched::Inner(LocationId(row as u32))
            }
        };
        self.locations.insert(location, matched);
        matched
    }

    fn name(&mut self, dictionary: &Dictionary, id: StringId) -> bool {
        let Self { drop, keep, names, .. } = self;
        *names.entry(id).or_insert_with(|| {
            let name = without_arguments(dictionary.text(id));
            !dictionary.text(id).is_empty()
                && drop.matches(name)
                && !keep.as_ref().is_some_and(|keep| keep.matches(name))
        })
    }
}

fn push(dictionary: &mut Dictionary, stack: &[LocationId]) -> Result<StackId> {
    let stacks = &mut dictionary.stacks;
    if stacks.items.len() + stack.len() > MAX_FRAMES {
        let message = format!("stacks without dropped frames have more than {MAX_FRAMES} frames");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let id = StackId(stacks.len() as u32);
    stacks.push(stack);
    Ok(id)
}
