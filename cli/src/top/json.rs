//! Reports as JSON. Numbers are exact: those beyond 64 bits are strings. Releases only add keys.

use otlp_profiles::look::{Call, Header, Inline, Row, Top, Traces, Tree, Trimmed};
use serde_json::{Value as Json, json};

const SCHEMA: &str = "otlp-profiles/top/1";

/// Converts to a JSON number, or to a string if 64 bits are too few.
fn number(value: i128) -> Json {
    i64::try_from(value).map_or_else(|_| value.to_string().into(), Json::from)
}

fn header(header: &Header, trimmed: Option<&Trimmed>) -> Json {
    let others = header.other_types.iter();
    let others: Vec<_> = others.map(|(name, unit)| json!({ "type": name, "unit": unit })).collect();
    let mut document = json!({
        "schema": SCHEMA,
        "sample_type": header.sample_type,
        "unit": header.unit,
        "mean": header.mean,
        "total": number(header.total),
        "time_unix_nano": number(header.time_unix_nano),
        "duration_nanos": number(header.duration_nanos),
        "filters": header.filters,
        "unmatched_filters": header.unmatched_filters,
        "other_types": others,
    });
    if let Some(trimmed) = trimmed {
        document["shown"] = number(trimmed.shown);
        document["small_rows"] = trimmed.dropped.into();
        document["further_rows"] = (trimmed.rows - trimmed.kept).into();
    }
    document
}

fn row(row: &Row) -> Json {
    let inline = match row.inline {
        Inline::No => "no",
        Inline::Partial => "partial",
        Inline::Yes => "yes",
    };
    let [flat, cum] = [row.flat, row.cum].map(number);
    json!({ "name": row.name, "flat": flat, "cum": cum, "inline": inline })
}

fn call(call: &Call) -> Json {
    json!({ "name": call.name, "value": number(call.weight), "inline": call.is_inline })
}

pub(super) fn top(top: &Top) -> Json {
    let mut document = header(&top.header, Some(&top.trimmed));
    document["rows"] = top.rows.iter().map(row).collect();
    document
}

pub(super) fn tree(tree: &Tree) -> Json {
    let mut document = header(&tree.header, Some(&tree.trimmed));
    let rows = tree.rows.iter().map(|one| {
        let mut object = row(&one.row);
        object["callers"] = one.callers.iter().map(call).collect();
        object["callees"] = one.callees.iter().map(call).collect();
        object
    });
    document["rows"] = rows.collect();
    document
}

pub(super) fn traces(traces: &Traces) -> Json {
    let mut document = header(&traces.header, None);
    let each = traces.traces.iter().map(|trace| {
        let frame = |(name, is_inline): (&str, bool)| json!({ "name": name, "inline": is_inline });
        let labels = trace.labels.iter().map(|(key, text)| (key.clone(), Json::from(&text[..])));
        json!({
            "value": number(trace.value),
            "labels": labels.collect::<serde_json::Map<_, _>>(),
            "frames": traces.frames(trace).map(frame).collect::<Vec<_>>(),
        })
    });
    document["traces"] = each.collect();
    document
}
