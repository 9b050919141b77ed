//! The measured profiles, from `OTLP_PROFILES_CORPUS` and `testdata`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use otlp_profiles::Limits;
use otlp_profiles::proto::pprof::Profile;
use otlp_profiles::proto::prost::Message as _;

/// A profile and its pprof message.
pub struct Input {
    pub name: String,
    pub bytes: Vec<u8>,
    pub profile: Profile,
}

impl Input {
    fn read(path: &Path, name: String) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let bytes = otlp_profiles::compression::inflate(&bytes, &Limits::file()).ok()?.into_owned();
        let profile = Profile::decode(&bytes[..]).ok().filter(|p| !p.sample.is_empty())?;
        // Other formats may decode as pprof, with ids out of range.
        let texts = profile.string_table.len() as i64;
        let names = profile.function.iter().map(|row| row.name);
        let fits = names.chain(profile.sample_type.iter().map(|row| row.r#type));
        let fits = fits.into_iter().all(|text| (0..texts).contains(&text));
        fits.then_some(Self { name, bytes, profile })
    }
}

/// The directory of the corpus, if it exists.
pub fn corpus() -> Option<PathBuf> {
    std::env::var_os("OTLP_PROFILES_CORPUS").map(PathBuf::from).filter(|path| path.is_dir())
}

/// One file of the corpus.
pub fn one(path: &str) -> Option<Input> {
    let path = corpus()?.join(path);
    Input::read(&path, path.file_name()?.to_string_lossy().into_owned())
}

/// All recorded pprofs, sorted by path, without duplicates and stand-ins. Files below 1,000 bytes are
/// skipped: they are mostly overhead.
pub fn recorded() -> Vec<Input> {
    let mut paths = Vec::new();
    let root = match corpus() {
        Some(root) => root,
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata"),
    };
    files(&root, &mut paths);
    paths.sort();
    let mut met = HashSet::new();
    let inputs = paths.into_iter().filter_map(|path| {
        let name = path.strip_prefix(&root).ok()?.to_string_lossy().into_owned();
        let pprof = [".pb", ".pb.gz", ".pprof", ".cpu"].iter().any(|end| name.ends_with(end));
        let input = Input::read(&path, name).filter(|_| pprof)?;
        let real = input.bytes.len() >= 1000 && !input.name.contains("standins");
        (real && met.insert(input.bytes.clone())).then_some(input)
    });
    inputs.collect()
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// The profile without the data that the OTEP's conversion to pprofextended omits. Keeps an unnamed type
/// for each value.
pub fn same_information(profile: &Profile) -> Profile {
    let mut said = Profile {
        sample: profile.sample.clone(),
        mapping: profile.mapping.clone(),
        location: profile.location.clone(),
        function: profile.function.clone(),
        string_table: profile.string_table.clone(),
        sample_type: vec![Default::default(); profile.sample_type.len()],
        ..Default::default()
    };
    said.sample.iter_mut().for_each(|sample| sample.label.clear());
    said.location.iter_mut().for_each(|location| location.is_folded = false);
    for mapping in &mut said.mapping {
        mapping.has_functions = false;
        mapping.has_filenames = false;
        mapping.has_line_numbers = false;
        mapping.has_inline_frames = false;
    }
    said
}
