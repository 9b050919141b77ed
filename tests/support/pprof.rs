//! The meaning of a pprof, from prost's types: lines of text that are equal exactly if two files have the same
//! meaning.

use std::collections::BTreeMap;
use std::collections::HashMap;

use otlp_profiles::proto::pprof::{Function, Label, Location, Mapping, Profile};

/// Returns the meaning of a pprof: its fields, its mappings in order, its samples as a multiset.
pub fn meaning(profile: &Profile) -> Vec<String> {
    let text = |index: i64| &profile.string_table[index as usize];
    let mut out = Vec::new();
    for kind in &profile.sample_type {
        out.push(format!("type {:?} in {:?}", text(kind.r#type), text(kind.unit)));
    }
    out.push(format!("default {:?}", text(profile.default_sample_type)));
    out.push(format!("time {} duration {}", profile.time_nanos, profile.duration_nanos));
    let period_type = profile.period_type.unwrap_or_default();
    out.push(format!(
        "period {} of {:?} in {:?}",
        profile.period,
        text(period_type.r#type),
        text(period_type.unit)
    ));
    out.push(format!("drop {:?} keep {:?}", text(profile.drop_frames), text(profile.keep_frames)));
    out.push(format!("doc {:?}", text(profile.doc_url)));
    out.push(format!(
        "comments {:?}",
        profile.comment.iter().map(|index| text(*index)).collect::<Vec<_>>()
    ));
    let mut mappings = Vec::new();
    for mapping in &profile.mapping {
        let said = say_mapping(mapping, profile);
        if !mappings.contains(&said) {
            mappings.push(said);
        }
    }
    out.extend(mappings);
    out.extend(samples(profile));
    out
}

fn say_mapping(mapping: &Mapping, profile: &Profile) -> String {
    let text = |index: i64| &profile.string_table[index as usize];
    let Mapping { memory_start, memory_limit, file_offset, filename, build_id, .. } = *mapping;
    let flags = [
        mapping.has_functions,
        mapping.has_filenames,
        mapping.has_line_numbers,
        mapping.has_inline_frames,
    ];
    // Parca writes this build id where there is none.
    let build_id = Some(text(build_id)).filter(|id| *id != "unknown").map_or("", String::as_str);
    let names = (text(filename), build_id);
    format!("mapping {memory_start:x} {memory_limit:x} {file_offset:x} {names:?} {flags:?}")
}

fn samples(profile: &Profile) -> Vec<String> {
    let text = |index: i64| &profile.string_table[index as usize];
    let mappings: HashMap<u64, String> =
        profile.mapping.iter().map(|m| (m.id, say_mapping(m, profile))).collect();
    let functions: HashMap<u64, &Function> = profile.function.iter().map(|f| (f.id, f)).collect();
    let say_location = |location: &Location| {
        let line = |line: &otlp_profiles::proto::pprof::Line| {
            let f = functions.get(&line.function_id).copied().copied().unwrap_or_default();
            let names = [f.name, f.system_name, f.filename].map(text);
            format!("{names:?}@{}:{}:{}", f.start_line, line.line, line.column)
        };
        let lines: Vec<String> = location.line.iter().map(line).collect();
        format!(
            "{:x} {} {lines:?} in {:?}",
            location.address,
            location.is_folded,
            mappings.get(&location.mapping_id)
        )
    };
    let locations: HashMap<u64, String> =
        profile.location.iter().map(|l| (l.id, say_location(l))).collect();
    let mut samples: Vec<String> = profile
        .sample
        .iter()
        .map(|sample| {
            let stack: Vec<&str> = sample.location_id.iter().map(|id| &*locations[id]).collect();
            let mut labels: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for Label { key, str, num, num_unit } in &sample.label {
                let said = if *str == 0 {
                    format!("{num} {:?}", text(*num_unit))
                } else {
                    format!("{:?}", text(*str))
                };
                labels.entry(text(*key)).or_default().push(said);
            }
            format!("sample {:?} {labels:?}\n  {}", sample.value, stack.join("\n  "))
        })
        .collect();
    samples.sort();
    samples
}
