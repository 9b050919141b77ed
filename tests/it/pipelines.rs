//! Pipelines: cases of Ceilometer, if they are there, and cases of our own.

use std::path::PathBuf;

use regex::Regex;
use serde_json::Value as Json;

use otlp_profiles::builder::root_first;
use otlp_profiles::model::AggregationTemporality as Temporality;
use otlp_profiles::transform::{
    AggregatorOptions, Expression, Keep, Pipeline, Published, RateOptions, Stage, Target,
};
use otlp_profiles::{Builder, Profiles, Result};

/// Cases whose results differ from Ceilometer's: what we publish at each step, and the reason.
const DIFFERENT: &[(&str, &[&[f64]], &str)] = &[
    ("unit/doc-string-scale", &[&[4.0]], "a scale without the value is a factor, as documented"),
    ("agg/doc-60s", &[&[], &[], &[], &[42.0]], "with a retention time there is no default size"),
    ("agg/gauge-renamed-bug", &[&[3.0]], "counts are kept under the name of the input"),
    ("acc/0", &[&[1.0]], "a size of 0 is no error; Ceilometer publishes the sample and fails"),
    ("delta/plain", &[&[16.0, 37.0]], "a total that fell was reset"),
    ("delta/growth-only", &[&[16.0, 37.0]], "the same: what grew since the reset is growth"),
];

/// The first second of 2026.
const START: f64 = 1_767_225_600.0;
const SECOND: f64 = 1e9;

/// Replays the recorded cases: a meter is a profile of one frame, and a sample its only one.
#[test]
fn ceilometers_cases_give_the_same_volumes() {
    let corpus = std::env::var_os("OTLP_PROFILES_CORPUS").map(PathBuf::from);
    let file = corpus.map(|corpus| corpus.join("made/ceilometer/transformers.golden.json"));
    let Some(text) = file.and_then(|file| std::fs::read(file).ok()) else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set or has no cases of Ceilometer");
        return;
    };
    let file: Json = serde_json::from_slice(&text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let (mut wrong, mut different) = (Vec::new(), Vec::new());
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let case = Case::of(case);
        let (expected, actual) = (case.published(), case.replay());
        let ours: Option<Vec<Vec<i64>>> =
            DIFFERENT.iter().find(|(of, ..)| *of == name).map(|(_, ours, _)| {
                ours.iter().map(|step| step.iter().map(|of| case.scaled(*of)).collect()).collect()
            });
        let volumes = |steps: &[Vec<(String, i64)>]| -> Vec<Vec<i64>> {
            steps.iter().map(|step| step.iter().map(|(_, volume)| *volume).collect()).collect()
        };
        match ours {
            Some(ours) => {
                different.push(name);
                assert_eq!(volumes(&actual), ours, "{name}");
                if name != "acc/0" {
                    assert_ne!(actual, expected, "{name} is the same");
                }
            }
            None if actual == expected => {}
            None => wrong.push(format!("{name}: {actual:?} instead of {expected:?}")),
        }
    }
    assert_eq!((cases.len(), different.len()), (55, DIFFERENT.len()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A recorded case. Values with fractions count in thousandths.
struct Case<'a> {
    json: &'a Json,
    scale: f64,
}

impl<'a> Case<'a> {
    fn of(json: &'a Json) -> Self {
        let steps = json["steps"].as_array().unwrap().iter();
        let inputs = steps.flat_map(|step| step["publish"].as_array().unwrap());
        let outputs = json["published"].as_array().unwrap().iter();
        let all = inputs.chain(outputs.flat_map(|step| step.as_array().unwrap()));
        let is_whole = |sample: &Json| sample["volume"].as_f64().unwrap().fract() == 0.0;
        Self { json, scale: if all.clone().all(is_whole) { 1.0 } else { 1000.0 } }
    }

    fn scaled(&self, volume: f64) -> i64 {
        (volume * self.scale).round() as i64
    }

    /// The resources, names and volumes of each step.
    fn published(&self) -> Vec<Vec<(String, i64)>> {
        let steps = self.json["published"].as_array().unwrap().iter();
        let row = |sample: &Json| {
            let [resource, name] = ["resource_id", "name"].map(|key| sample[key].as_str().unwrap());
            (format!("{resource} {name}"), self.scaled(sample["volume"].as_f64().unwrap()))
        };
        steps.map(|step| sorted(step.as_array().unwrap().iter().map(row))).collect()
    }

    fn replay(&self) -> Vec<Vec<(String, i64)>> {
        let steps = self.json["steps"].as_array().unwrap();
        let stages = self.json["transformers"].as_array().unwrap().iter();
        let stages: Result<Vec<Stage>> = stages.map(|stage| self.stage(stage)).collect();
        // Expressions that Ceilometer refuses when they are evaluated are refused here at once.
        let Ok(stages) = stages else { return vec![Vec::new(); steps.len()] };
        let mut pipeline = Pipeline::new(stages);
        let step = |step: &Json| {
            for sample in step["publish"].as_array().unwrap() {
                pipeline.push(self.sample(sample));
            }
            let now = step["now"].as_f64().unwrap_or(0.0);
            pipeline.advance(((START + now) * SECOND) as i128);
            if step["flush"] != false {
                pipeline.flush();
            }
            let Published { profiles, errors, .. } = pipeline.take().unwrap();
            assert!(errors.is_empty(), "{errors:?}");
            sorted(rows(&profiles.unwrap_or_default()).into_iter())
        };
        steps.iter().map(step).collect()
    }

    /// The transformers that change values identify a sample by its resource alone: no user and project there.
    fn sample(&self, sample: &Json) -> Profiles {
        let text = |key: &str| sample[key].as_str();
        let mut builder = Builder::new();
        builder.resource().attr("resource_id", text("resource_id").unwrap());
        let meter = builder.profile(text("name").unwrap(), text("unit").unwrap());
        let clock = text("timestamp").unwrap().rsplit('T').next().unwrap().split(':');
        let clock = clock.fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap());
        let time = START + sample["monotonic_time"].as_f64().unwrap_or(clock);
        let temporality = match text("type").unwrap() {
            "delta" => Temporality::DELTA,
            "cumulative" => Temporality::CUMULATIVE,
            _ => Temporality::UNSPECIFIED,
        };
        builder.profile_mut(meter).time((time * SECOND) as u64).temporality(temporality);
        let value = self.scaled(sample["volume"].as_f64().unwrap());
        let frame = root_first([text("resource_id").unwrap()]);
        let mut new = builder.sample(meter, frame).value(value);
        let is_aggregated = self.json["name"].as_str().unwrap().starts_with("agg/");
        for key in ["user_id", "project_id"].iter().filter(|_| is_aggregated) {
            if let Some(value) = text(key) {
                new = new.attr(key, value);
            }
        }
        for (key, value) in sample["resource_metadata"].as_object().unwrap() {
            new = match value.as_i64() {
                Some(number) => new.attr(key, number),
                None => new.attr(key, value.as_str().unwrap()),
            };
        }
        drop(new);
        builder.finish().unwrap()
    }

    fn stage(&self, stage: &Json) -> Result<Stage> {
        let parameters = &stage["parameters"];
        let to = &parameters["target"];
        Ok(match stage["name"].as_str().unwrap() {
            "accumulator" => Stage::accumulator(parameters["size"].as_u64().unwrap_or(1)),
            "aggregator" => Stage::aggregator(self.aggregator(parameters), target(parameters)),
            "delta" => Stage::delta(parameters["growth_only"] == true, target(parameters)),
            "rate_of_change" => {
                let scale = to["scale"].as_str().map(Expression::parse).transpose()?;
                let max = to["max"].as_f64().map(|max| max * self.scale);
                Stage::rate_of_change(
                    RateOptions::default().scale(scale).max(max),
                    target(parameters),
                )?
            }
            "unit_conversion" => {
                let scale = match &to["scale"] {
                    Json::String(text) if text.contains("volume") && self.scale > 1.0 => {
                        Some(format!("({}) * 1000", text.replace("volume", "(volume / 1000)")))
                    }
                    Json::String(text) => Some(text.clone()),
                    Json::Number(number) => Some(number.to_string()),
                    _ => None,
                };
                let scale = scale.as_deref().map(Expression::parse).transpose()?;
                let unit = parameters["source"]["unit"].as_str().map(str::to_owned);
                Stage::unit_conversion(unit, scale, target(parameters))?
            }
            _ => {
                let text = to["expr"].as_str().unwrap();
                let types = Regex::new(r"\$\([^)]*\)").unwrap();
                let text = match self.scale > 1.0 {
                    true => format!("({}) * 1000", types.replace_all(text, "($0 / 1000)")),
                    false => text.to_owned(),
                };
                let unit = to["unit"].as_str().unwrap_or_default();
                Stage::arithmetic(
                    to["name"].as_str().unwrap(),
                    unit,
                    None,
                    Expression::parse(&text)?,
                )?
            }
        })
    }

    fn aggregator(&self, parameters: &Json) -> AggregatorOptions {
        let keep = |key: &str| match parameters[key].as_str() {
            Some("first") => Some(Keep::First),
            Some("drop") => Some(Keep::Drop),
            Some(_) => Some(Keep::Last),
            None => None,
        };
        let metadata = keep("resource_metadata").unwrap_or(Keep::Last);
        let metadata = ["version", "k"].map(|key| (key.to_owned(), metadata));
        let ids = ["user_id", "project_id"].iter();
        let ids = ids.filter_map(|key| Some(((*key).to_owned(), keep(key)?)));
        let retention =
            parameters["retention_time"].as_u64().map(|seconds| seconds * 1_000_000_000);
        AggregatorOptions::default()
            .size(parameters["size"].as_u64())
            .retention_nanos(retention)
            .attributes(ids.chain(metadata).collect())
    }
}

/// The names and units of a case, set or mapped.
fn target(parameters: &Json) -> Target {
    let (from, to) = (parameters["source"]["map_from"].clone(), parameters["target"].clone());
    let mapped = move |key: &str, text: &str| {
        let (pattern, result) = (from[key].as_str(), to["map_to"][key].as_str());
        match pattern.zip(result) {
            Some((pattern, result)) => {
                let result = Regex::new(r"\\(\d)").unwrap().replace_all(result, "$${$1}");
                Regex::new(pattern).unwrap().replace_all(text, &*result).into_owned()
            }
            None => to[key].as_str().unwrap_or(text).to_owned(),
        }
    };
    Target::default().rename(move |name, unit| (mapped("name", name), mapped("unit", unit)))
}

fn sorted(rows: impl Iterator<Item = (String, i64)>) -> Vec<(String, i64)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

/// The leaf, the name of the sample type, and the value of each sample.
fn rows(profiles: &Profiles) -> Vec<(String, i64)> {
    let dictionary = profiles.dictionary();
    let mut rows = Vec::new();
    for profile in profiles {
        for sample in profile.samples() {
            let leaf = dictionary.frames(sample.stack).next().unwrap();
            for (of, value) in profile.sample_types().iter().zip(profile.totals(sample)) {
                rows.push((format!("{} {}", leaf.name(), dictionary.text(of.name)), value));
            }
        }
    }
    rows
}

/// A heap profile at a second: stacks with the values of two totals and a state.
fn heap(second: u64, samples: &[(&str, [i64; 3])]) -> Profiles {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "shop").attr("host.cpus", 4);
    let types = [("alloc_objects", "count"), ("alloc_space", "By"), ("inuse_space", "By")];
    let heap = builder.profile_of(types);
    builder.profile_mut(heap).time(second * 1_000_000_000);
    for (frame, values) in samples {
        builder.sample(heap, root_first(["main", frame])).values(*values).attr("size", 8);
    }
    builder.finish().unwrap()
}

/// What each payload lets out, and at last the end, with the codes of losses and the errors.
fn run(stages: Vec<Stage>, inputs: Vec<Profiles>) -> Vec<String> {
    let mut pipeline = Pipeline::new(stages);
    let count = inputs.len();
    let mut inputs = inputs.into_iter();
    let step = |at: usize| {
        inputs.next().into_iter().for_each(|input| pipeline.push(input));
        if at < count {
            pipeline.flush()
        } else {
            pipeline.finish()
        }
        let Published { profiles, losses, errors, .. } = pipeline.take().unwrap();
        let rows = rows(&profiles.unwrap_or_default());
        let mut words: Vec<String> =
            rows.iter().map(|(of, value)| format!("{of} {value}")).collect();
        words.extend(losses.iter().map(|loss| format!("{}×{}", loss.count, loss.code)));
        words.extend(errors.iter().map(|error| error.message().to_owned()));
        words.join(", ")
    };
    (0..=count).map(step).collect()
}

fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

fn rate(scale: Option<&str>, max: Option<f64>) -> Stage {
    let options = RateOptions::default().scale(scale.map(expression)).max(max);
    Stage::rate_of_change(options, Target::default()).unwrap()
}

fn grown() -> Vec<Profiles> {
    let all = [(0, [100, 4800, 9]), (60, [150, 7200, 8]), (120, [20, 1000, 7])];
    all.map(|(second, values)| heap(1_000 + second, &[("new_user", values)])).into()
}

#[test]
fn totals_grow_from_profile_to_profile() {
    let delta = || Stage::delta(true, Target::default());
    let mean = || {
        let mean = expression("$(alloc_space) / $(alloc_objects)");
        Stage::arithmetic("mean_size", "By", None, mean).unwrap()
    };
    assert_eq!(
        run(vec![delta()], grown()),
        [
            "1×delta.first",
            "new_user alloc_objects 50, new_user alloc_space 2400, new_user inuse_space 8",
            "new_user alloc_objects 20, new_user alloc_space 1000, new_user inuse_space 7, 2×delta.reset",
            "",
        ]
    );
    assert_eq!(
        run(vec![delta(), mean()], grown()),
        ["1×delta.first", "new_user mean_size 48", "new_user mean_size 50, 2×delta.reset", ""]
    );
    assert_eq!(
        run(vec![rate(None, None)], grown()),
        [
            "1×delta.first",
            "new_user alloc_objects 1, new_user alloc_space 40, new_user inuse_space 0, 2×value.rounded",
            "new_user alloc_objects 0, new_user alloc_space 17, new_user inuse_space 0, 3×value.rounded, 2×delta.reset",
            "",
        ]
    );
    let mut late = grown();
    late.swap(0, 1);
    let published = run(vec![delta()], late);
    assert_eq!(published[..2], ["1×delta.first", "1×profile.out_of_order"]);
    let gone = vec![heap(1, &[("f", [1, 2, 3]), ("g", [1, 2, 3])]), heap(2, &[("f", [5, 6, 7])])];
    let kept = "f alloc_objects 4, f alloc_space 4, f inuse_space 7, 2×delta.reset";
    assert_eq!(run(vec![delta()], gone)[1], kept);
}

/// A process is restarted if any of its totals fell: all its stacks start anew, but those of other processes do not.
#[test]
fn a_restart_concerns_all_stacks_of_the_process() {
    let of = |second: u64, service: &str, samples: &[(&str, i64)]| {
        let mut builder = Builder::new();
        builder.resource().attr("service.name", service);
        let heap = builder.profile_of([("alloc_objects", "count"), ("alloc_space", "By")]);
        builder.profile_mut(heap).time(second * 1_000_000_000);
        for (frame, value) in samples {
            builder.sample(heap, root_first(["main", frame])).values([*value, 8 * *value]);
        }
        builder.finish().unwrap()
    };
    let both = |second: u64, [mk, nw]: [i64; 2], other: i64| {
        let mut merger = otlp_profiles::transform::Merger::new(Default::default());
        merger.add(&of(second, "a", &[("mk", mk), ("nw", nw)])).unwrap();
        merger.add(&of(second, "b", &[("nw", other)])).unwrap();
        merger.finish().unwrap().profiles
    };
    let inputs = vec![both(1, [6_400, 300], 100), both(2, [1_280, 900], 150)];
    let delta = run(vec![Stage::delta(false, Target::default())], inputs.clone());
    let expected = "mk alloc_objects 1280, mk alloc_space 10240, nw alloc_objects 900, nw alloc_space 7200, \
                    nw alloc_objects 50, nw alloc_space 400, 4×delta.reset";
    assert_eq!(delta[..2], ["2×delta.first", expected]);
    let options = otlp_profiles::transform::DeltaOptions::default();
    let whole = otlp_profiles::transform::delta(&inputs[0], &inputs[1], &options).unwrap();
    assert_eq!(rows(&whole.profiles).len(), 6);
    assert!(rows(&whole.profiles).contains(&("nw alloc_objects".into(), 900)));
}

/// Changes are divided by their own duration, and each result spans one interval.
#[test]
fn rates_of_changes_span_their_own_interval() {
    let cpu = |start: u64, value: i64| {
        let mut builder = Builder::new();
        let cpu = builder.profile_of([("samples", "count"), ("cpu", "nanoseconds")]);
        let nanos = |seconds| std::time::Duration::from_secs(seconds);
        builder.profile_mut(cpu).time(nanos(start)).duration(nanos(60));
        builder.sample(cpu, root_first(["main"])).values([600, value]);
        builder.finish().unwrap()
    };
    let mut pipeline = Pipeline::new(vec![rate(None, None)]);
    for start in [1_000, 1_060, 1_180] {
        pipeline.push(cpu(start, 3_000_000_000));
    }
    let profiles = pipeline.take().unwrap().profiles.unwrap();
    let times: Vec<_> = profiles
        .iter()
        .map(|of| (of.time_unix_nano() / 1_000_000_000, of.duration_nanos() / 1_000_000_000))
        .collect();
    assert_eq!(times, [(1_060, 60), (1_180, 60)]);
    let values = rows(&profiles).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    assert_eq!(values, [10, 50_000_000, 10, 50_000_000]);
    // Totals change between the ends of two snapshots.
    let mut pipeline = Pipeline::new(vec![rate(None, None)]);
    grown().into_iter().for_each(|profiles| pipeline.push(profiles));
    let profiles = pipeline.take().unwrap().profiles.unwrap();
    let spans = profiles.iter().map(|of| of.duration_nanos() / 1_000_000_000).collect::<Vec<_>>();
    assert_eq!(spans, [60, 60]);
}

/// Units are compared by meaning, and a stage that concerns no profile says so.
#[test]
fn units_are_converted_in_any_spelling() {
    let types = |profiles: &Profiles| {
        let text = |id| profiles.dictionary().text(id).to_owned();
        let types = profiles.iter().flat_map(|of| of.sample_types().to_vec());
        types.map(|of| format!("{} {}", text(of.name), text(of.unit))).collect::<Vec<_>>()
    };
    let convert = |unit: Option<&str>, scale: Option<&str>, to: &'static str| {
        let target = Target::default().rename(move |name, _| (name.to_owned(), to.to_owned()));
        Stage::unit_conversion(unit.map(str::to_owned), scale.map(expression), target).unwrap()
    };
    let run = |stage: Stage| {
        let mut pipeline = Pipeline::new(vec![stage]);
        pipeline.push(heap(1, &[("f", [3, 4_096, 2_048])]));
        let profiles = pipeline.take().unwrap().profiles.unwrap();
        let values = rows(&profiles).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        (types(&profiles), values, pipeline.unmatched())
    };
    let converted = ["alloc_objects count", "alloc_space KiBy", "inuse_space KiBy"];
    for unit in ["By", "bytes", "B"] {
        for scale in [Some("1.0 / 1024.0"), None] {
            let (types, values, unmatched) = run(convert(Some(unit), scale, "KiBy"));
            assert_eq!(
                (&types[..], &values[..]),
                (&converted.map(String::from)[..], &[3, 4, 2][..])
            );
            assert!(unmatched.is_empty());
        }
    }
    let mut ms = Pipeline::new(vec![convert(Some("milliseconds"), None, "s")]);
    let mut builder = Builder::new();
    let wall = builder.profile("wall", "ms");
    builder.sample(wall, root_first(["f"])).value(2_000);
    ms.push(builder.finish().unwrap());
    assert_eq!(rows(&ms.take().unwrap().profiles.unwrap()), [("f wall".to_owned(), 2)]);
    let (_, values, unmatched) = run(convert(Some("ms"), Some("2"), "s"));
    let expected = "unit_conversion changed no sample type of the unit ms: there were alloc_objects (count), \
                    alloc_space (By), inuse_space (By)";
    assert_eq!((&values[..], &unmatched[..]), (&[3, 4_096, 2_048][..], &[expected.to_owned()][..]));
    let mean = expression("$(alloc_space) / $(missing)");
    let mut pipeline = Pipeline::new(vec![Stage::arithmetic("m", "By", None, mean).unwrap()]);
    pipeline.push(heap(1, &[("f", [1, 2, 3])]));
    assert!(pipeline.unmatched()[0].starts_with("arithmetic found no sample type missing: there"));
}

#[test]
fn rates_are_scaled_and_capped() {
    let published = |stage| run(vec![stage], grown())[1].clone();
    let of = |objects: i64, space: i64, inuse: i64| {
        format!(
            "new_user alloc_objects {objects}, new_user alloc_space {space}, new_user inuse_space {inuse}"
        )
    };
    assert_eq!(
        published(rate(Some("60 / attributes.host.cpus"), None)),
        of(13, 600, 0) + ", 2×value.rounded"
    );
    assert_eq!(published(rate(Some("60 * resource_metadata.size"), Some(500.0))), of(400, 500, -8));
    assert_eq!(published(rate(Some("1 / attributes.none"), None)), "1×derive.undefined");
    let same = vec![heap(5, &[("f", [1, 2, 3])]), heap(5, &[("f", [4, 5, 6])])];
    assert_eq!(
        run(vec![rate(None, None)], same)[1],
        "f alloc_objects 0, f alloc_space 0, f inuse_space 0"
    );
    for wrong in ["value * 2", "$(cpu)"] {
        let options = RateOptions::default().scale(Some(expression(wrong)));
        assert!(Stage::rate_of_change(options, Target::default()).is_err(), "{wrong}");
    }
}

#[test]
fn one_profile_with_an_error_is_left_out() {
    let large = heap(2, &[("f", [1, i64::MAX / 2, 3])]);
    let scale =
        Stage::unit_conversion(Some("By".into()), Some(expression("1024")), Target::default());
    let published = run(
        vec![scale.unwrap()],
        vec![heap(1, &[("f", [1, 2, 3])]), large, heap(3, &[("f", [1, 4, 5])])],
    );
    assert_eq!(
        published,
        [
            "f alloc_objects 1, f alloc_space 2048, f inuse_space 3072",
            "value.overflow: 4611686018427387903 × 1024 / 1 exceeds 64 bits",
            "f alloc_objects 1, f alloc_space 4096, f inuse_space 5120",
            "",
        ]
    );
}

#[test]
fn profiles_are_held_until_there_are_enough() {
    let all = || (1..=5).map(|at| heap(at * 30, &[("f", [1, at as i64, 2 * at as i64])])).collect();
    let count = |text: &str| text.matches("alloc_space").count();
    let counts = |stage| run(vec![stage], all()).iter().map(|text| count(text)).collect::<Vec<_>>();
    assert_eq!(counts(Stage::accumulator(2)), [0, 2, 0, 2, 0, 1], "the rest leaves at the end");
    assert_eq!(counts(Stage::accumulator(0)), [1, 1, 1, 1, 1, 0]);
    let aggregator = |options| Stage::aggregator(options, Target::default());
    assert_eq!(counts(aggregator(AggregatorOptions::default())), [1, 1, 1, 1, 1, 0]);
    let minute = AggregatorOptions::default().retention_nanos(Some(60_000_000_000));
    let published = run(vec![aggregator(minute)], all());
    // Totals take the last value, states the mean; at 90 s the first is no more than 60 s old.
    assert_eq!(published[3], "f alloc_objects 1, f alloc_space 4, f inuse_space 5");
    assert_eq!(published[5], "f alloc_objects 1, f alloc_space 5, f inuse_space 10");
    assert_eq!([0, 1, 2, 4].map(|at| published[at].len()), [0; 4]);
}

/// CPU time of a pod and a thread.
fn cpu(second: u64, pod: &str, thread: &str, value: i64) -> Profiles {
    let mut builder = Builder::new();
    builder.resource().attr("service.name", "shop").attr("k8s.pod.name", pod);
    let cpu = builder.profile("cpu", "ns");
    builder.profile_mut(cpu).time(second * 1_000_000_000).duration(1_000_000_000);
    builder.sample(cpu, root_first(["f"])).value(value).attr("thread.name", thread).attr("x", 1);
    builder.finish().unwrap()
}

#[test]
fn samples_are_added_up_across_attributes() {
    let inputs = || vec![cpu(1, "a", "t1", 1), cpu(2, "b", "t2", 10), cpu(3, "a", "t2", 100)];
    let result = |options: AggregatorOptions| {
        let mut pipeline = Pipeline::new(vec![Stage::aggregator(options, Target::default())]);
        inputs().into_iter().for_each(|input| pipeline.push(input));
        pipeline.finish();
        let profiles = pipeline.take().unwrap().profiles.unwrap();
        let mut rows = Vec::new();
        for entry in profiles.entries() {
            for sample in entry.profile().samples() {
                let own = entry.dictionary().resolve(sample.attributes);
                let pod = entry.resource_attributes().get_str("k8s.pod.name").unwrap_or("-");
                let thread = own.get_str("thread.name").unwrap_or("-");
                let x = own.get("x").map_or("-".into(), |x| x.to_string());
                rows.push(format!("{pod} {thread} {x} {}", sample.values[0]));
            }
        }
        rows.sort();
        rows.join(", ")
    };
    let attributes = |pairs: &[(&str, Keep)]| {
        let pairs = pairs.iter().map(|(key, keep)| ((*key).to_owned(), *keep)).collect();
        AggregatorOptions::default().attributes(pairs)
    };
    let group_by = |keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        AggregatorOptions::default().group_by(Some(keys))
    };
    for (options, expected) in [
        (attributes(&[]), "a t1 1 1, a t2 1 100, b t2 1 10"),
        (attributes(&[("thread.name", Keep::First)]), "a t1 1 101, b t2 1 10"),
        (attributes(&[("thread.name", Keep::Last)]), "a t2 1 101, b t2 1 10"),
        (attributes(&[("thread.name", Keep::Drop)]), "a - 1 101, b - 1 10"),
        (attributes(&[("k8s.pod.name", Keep::Drop)]), "- t1 1 1, - t2 1 110"),
        (group_by(&["thread.name"]), "- t1 - 1, - t2 - 110"),
        (group_by(&["k8s.pod.name"]), "a - - 101, b - - 10"),
        (group_by(&[]), "- - - 111"),
        (group_by(&[]).attributes(vec![("x".into(), Keep::Last)]), "- - 1 111"),
        (attributes(&[("k8s.pod.name", Keep::Drop), ("thread.name", Keep::First)]), "- t1 1 111"),
    ] {
        assert_eq!(result(options.clone()), expected, "{options:?}");
    }
}

#[test]
fn a_payload_of_many_profiles_walks_profile_by_profile() {
    let mut builder = Builder::new();
    for at in 0..3_i64 {
        builder.resource().attr("at", at);
        let heap = builder.profile_of([("alloc_objects", "count"), ("alloc_space", "bytes")]);
        builder.profile_mut(heap).time(1_000_000_000_u64);
        builder.sample(heap, root_first(["f"])).values([at, at]);
    }
    let all = builder.finish().unwrap();
    assert_eq!(all.len(), 3);
    // Each resource has its own predecessor; its two columns are one profile.
    let published =
        run(vec![Stage::delta(false, Target::default())], vec![all.clone(), all.clone()]);
    assert_eq!(published[0], "3×delta.first");
    assert_eq!(published[1].matches("alloc_space 0").count(), 3);
    let twice = [0, 1].map(|_| {
        let mut pipeline = Pipeline::new(vec![Stage::accumulator(9)]);
        pipeline.push(all.clone());
        pipeline.finish();
        pipeline.take().unwrap().profiles.unwrap()
    });
    assert_eq!(twice[0], twice[1]);
    assert_eq!(twice[0].len(), 3);
}
