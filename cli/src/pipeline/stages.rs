//! Stages of the library from the transformers of a configuration.

use otlp_profiles::model::AggregationTemporality;
use otlp_profiles::transform::{AggregatorOptions, Expression, Keep, RateOptions, Stage, Target};
use regex::Regex;

use crate::pipeline::yaml::{Map, Node};

/// Makes a stage of a parameters node and its keys.
type Make = fn(&Map<'_>) -> Option<Stage>;

/// The transformers: name, keys of the parameters, and how they become a stage.
const TRANSFORMERS: &[(&str, &[&str], Make)] = &[
    ("accumulator", &["size"], accumulator),
    ("aggregator", &["size", "retention_time", "group_by", "attributes", "target"], aggregator),
    ("arithmetic", &["target"], arithmetic),
    ("delta", &["growth_only", "target"], delta),
    ("rate_of_change", &["source", "target"], rate_of_change),
    ("unit_conversion", &["source", "target"], unit_conversion),
];

/// Reads a transformer; `None` if it has errors.
pub(super) fn stage(node: Node<'_>) -> Option<Stage> {
    let map = node.map(&["name", "parameters"])?;
    let name = map.needs("name")?;
    let text = name.text()?;
    let Some((_, keys, make)) = TRANSFORMERS.iter().find(|(name, ..)| *name == text) else {
        let known: Vec<&str> = TRANSFORMERS.iter().map(|(name, ..)| *name).collect();
        let known = known.join(", ");
        name.error(format!("transformer {text:?} is unknown: there are {known}"));
        return None;
    };
    match map.get("parameters") {
        Some(parameters) => make(&parameters.map(keys)?),
        // A transformer without parameters has the node of the transformer, for errors.
        None => make(&Map::empty(node)),
    }
}

fn accumulator(map: &Map<'_>) -> Option<Stage> {
    Some(Stage::accumulator(map.get("size").and_then(|node| node.count()).unwrap_or(1)))
}

fn aggregator(map: &Map<'_>) -> Option<Stage> {
    let retention = map.get("retention_time").and_then(|node| {
        let seconds = node.number()?;
        if !(0.0..1e9).contains(&seconds) {
            node.error("expected seconds between 0 and 10^9");
        }
        // After an error the value does not matter: the configuration is rejected.
        Some((seconds * 1e9) as u64)
    });
    let keep = |(key, node): (&str, Node<'_>)| {
        let keep = match node.text()? {
            "first" => Keep::First,
            "last" => Keep::Last,
            "drop" => Keep::Drop,
            other => {
                node.error(format!("{other:?} is unknown: expected first, last or drop"));
                return None;
            }
        };
        Some((key.to_owned(), keep))
    };
    let attributes = map.map("attributes", &[]);
    let attributes = attributes.iter().flat_map(|map| map.pairs()).filter_map(keep);
    let group_by = map.get("group_by").and_then(|node| node.texts());
    let group_by = group_by.map(|keys| keys.into_iter().map(|(key, _)| key.to_owned()).collect());
    let options = AggregatorOptions::default()
        .size(map.get("size").and_then(|node| node.count()))
        .retention_nanos(retention)
        .group_by(group_by)
        .attributes(attributes.collect());
    let to = map.map("target", NAMES);
    Some(Stage::aggregator(options, target(None, to.as_ref(), "")?))
}

fn delta(map: &Map<'_>) -> Option<Stage> {
    let growth_only = map.get("growth_only").and_then(|node| node.flag()).unwrap_or(false);
    let to = map.map("target", NAMES);
    Some(Stage::delta(growth_only, target(None, to.as_ref(), "")?))
}

fn rate_of_change(map: &Map<'_>) -> Option<Stage> {
    let from = map.map("source", &["map_from"]);
    let to = map.map("target", &["name", "unit", "type", "scale", "max", "map_to"]);
    let of = |key: &str| to.as_ref().and_then(|to| to.get(key));
    let scale = of("scale");
    let expression = match scale {
        Some(node) => Some(expression(node)?),
        None => None,
    };
    let max = of("max").and_then(|node| node.number());
    let options = RateOptions::default().scale(expression).max(max);
    let stage = Stage::rate_of_change(options, target(from.as_ref(), to.as_ref(), "/s")?);
    match scale {
        Some(node) => node.checked(stage),
        None => stage.ok(),
    }
}

fn unit_conversion(map: &Map<'_>) -> Option<Stage> {
    let from = map.map("source", &["unit", "map_from"]);
    let to = map.map("target", &["name", "unit", "type", "scale", "map_to"]);
    let unit = from.as_ref().and_then(|from| from.text("unit")).map(str::to_owned);
    let scale = to.as_ref().and_then(|to| to.get("scale"));
    let expression = match scale {
        Some(node) => Some(expression(node)?),
        None => None,
    };
    let target = target(from.as_ref(), to.as_ref(), "")?;
    let stage = Stage::unit_conversion(unit, expression, target);
    match scale {
        Some(node) => node.checked(stage),
        None => stage.ok(),
    }
}

fn arithmetic(map: &Map<'_>) -> Option<Stage> {
    map.needs("target")?;
    let to = map.map("target", &["name", "unit", "type", "expr"])?;
    let (name, node) = (to.needs("name")?.text()?, to.needs("expr")?);
    let unit = to.text("unit").unwrap_or_default();
    let temporality = temporality(&to)?;
    node.checked(Stage::arithmetic(name, unit, temporality, expression(node)?))
}

fn expression(node: Node<'_>) -> Option<Expression> {
    node.checked(Expression::parse(&node.expression()?))
}

/// The keys of a target that names only.
const NAMES: &[&str] = &["name", "unit", "type"];

/// The names, units and types of sample types. `suffix` is that of units that are not set.
fn target(from: Option<&Map<'_>>, to: Option<&Map<'_>>, suffix: &'static str) -> Option<Target> {
    let mut target = Target::default();
    let Some(to) = to else { return Some(target) };
    if let Some(temporality) = temporality(to)? {
        target = target.temporality(temporality);
    }
    let name = renamed("name", from, to, "")?;
    let unit = renamed("unit", from, to, suffix)?;
    Some(target.rename(move |old_name, old_unit| (name(old_name), unit(old_unit))))
}

/// A function from a text to another.
type Rename = Box<dyn Fn(&str) -> String + Send + Sync>;

/// How the name or the unit changes: by `map_from` and `map_to`, by the target, or by a suffix.
fn renamed(
    key: &str,
    from: Option<&Map<'_>>,
    to: &Map<'_>,
    suffix: &'static str,
) -> Option<Rename> {
    let keys = &["name", "unit"];
    let from = from.and_then(|from| from.map("map_from", keys)).and_then(|map| map.get(key));
    let result = to.map("map_to", keys).and_then(|map| map.get(key));
    if let Some((from, result)) = from.zip(result) {
        let pattern = match Regex::new(from.text()?) {
            Ok(pattern) => pattern,
            Err(error) => {
                let error = error.to_string();
                let error = error.lines().last().unwrap_or_default();
                from.error(format!("not a regular expression: {error}"));
                return None;
            }
        };
        // Python's `\1` is `${1}` here.
        let mut template = String::new();
        let mut escaped = false;
        for c in result.text()?.chars() {
            match c {
                c if escaped && c.is_ascii_digit() => template += &format!("${{{c}}}"),
                '\\' if !escaped => {}
                '$' => template += "$$",
                c => template.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        return Some(Box::new(move |text| pattern.replace_all(text, &*template).into_owned()));
    }
    Some(match to.get(key) {
        Some(node) => {
            let text = node.text()?.to_owned();
            Box::new(move |_| text.clone())
        }
        None => Box::new(move |text| format!("{text}{suffix}")),
    })
}

/// The temporality of the type; `None` on an error.
fn temporality(to: &Map<'_>) -> Option<Option<AggregationTemporality>> {
    let Some(node) = to.get("type") else { return Some(None) };
    Some(Some(match node.text()? {
        "gauge" => AggregationTemporality::UNSPECIFIED,
        "delta" => AggregationTemporality::DELTA,
        "cumulative" => AggregationTemporality::CUMULATIVE,
        other => {
            node.error(format!("type {other:?} is unknown: expected gauge, delta or cumulative"));
            return None;
        }
    }))
}
