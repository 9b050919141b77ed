//! The document: style and script of the page, facts about the inputs, and the profiles.

use std::collections::BTreeMap;
use std::path::Path;

use hmac_sha256::Hash;
use otlp_profiles::escape;
use otlp_profiles::model::SampleType;
use otlp_profiles::stream::{PAGE_START, base64, page_script};
use otlp_profiles::transform::{Caution, InputTypes, snapshots};
use otlp_profiles::units::{Dimension, Unit};
use otlp_profiles::{Profiles, Result};
use serde_json::{Value as Json, json};

/// A message in the page.
pub(super) struct Embedded {
    /// Facts about the input: file, format, certainty, findings, losses.
    pub(super) about: Json,
    pub(super) gzip: Vec<u8>,
    /// The profiles without stacks.
    pub(super) totals: Profiles,
}

/// The contents of a page.
#[derive(Default)]
pub(super) struct Page {
    /// The name and the unit of the sample type to show first.
    sample_type: (String, String),
    /// The messages, those of the base first.
    pub(super) messages: Vec<Embedded>,
}

const STYLE: &str = include_str!("../../view/style.css");
const BODY: &str = include_str!("../../view/body.html");

/// The parts of the script, in the order of their dependencies.
const SCRIPTS: &[&str] = &[
    include_str!("../../view/bytes.js"),
    include_str!("../../view/values.js"),
    include_str!("../../view/otlp.js"),
    include_str!("../../view/samples.js"),
    include_str!("../../view/tree.js"),
    include_str!("../../view/text.js"),
    include_str!("../../view/model.js"),
    include_str!("../../view/weigh.js"),
    include_str!("../../view/group.js"),
    include_str!("../../view/graph.js"),
    include_str!("../../view/table.js"),
    include_str!("../../view/details.js"),
    include_str!("../../view/filters.js"),
    include_str!("../../view/time.js"),
    include_str!("../../view/save.js"),
    include_str!("../../view/app.js"),
    include_str!("../../view/main.js"),
];

impl Page {
    /// Chooses the sample type to show first, as every report does: of the new messages, or else of the base. Returns what
    /// readers must know about its values.
    ///
    /// # Errors
    ///
    /// No profile has the sample type.
    pub(super) fn choose(&mut self, wanted: Option<&str>) -> Result<Vec<Caution>> {
        let (base, new): (Vec<_>, Vec<_>) =
            self.messages.iter().partition(|message| message.about["base"] == true);
        let mut inputs = InputTypes::default();
        for message in &self.messages {
            inputs.add(message.about["file"].as_str().unwrap_or_default(), &message.totals);
        }
        let all: Vec<&Profiles> = new.iter().chain(&base).map(|message| &message.totals).collect();
        let mut found = SampleType::default();
        let mut tried = Ok(());
        for profiles in &all {
            let has_samples = profiles.iter().any(|profile| !profile.samples().is_empty());
            let one = match wanted {
                Some(wanted) => profiles.find_sample_type(wanted),
                None => Ok(profiles.default_sample_type().unwrap_or_default()),
            };
            tried = one.map(|one| found = one);
            if tried.is_ok() && (has_samples || wanted.is_some()) {
                break;
            }
        }
        tried?;
        let mut summed = Vec::new();
        for side in [base, new] {
            summed.extend(snapshots(side.iter().map(|message| &message.totals))?);
        }
        let cautions = Caution::of(&all, found, &inputs, &summed);
        self.sample_type = (found.name.to_owned(), found.unit.to_owned());
        Ok(cautions)
    }

    /// The number of messages.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Formats the document. Its policy allows only its script and style.
    pub(super) fn document(&self) -> String {
        let script: String = SCRIPTS.iter().map(|part| bare(part)).collect();
        let script = format!("\"use strict\";\n(() => {{\n{script}}})();\n");
        let (script_hash, style_hash) = (hash(&script), hash(STYLE));
        let policy = format!(
            "default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; img-src blob: data:; base-uri 'none'; form-action 'none'"
        );
        let messages = self.messages.iter().map(|message| &message.about);
        let about = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "type": { "type": self.sample_type.0, "unit": self.sample_type.1 },
            "units": self.units(),
            "messages": messages.collect::<Vec<_>>(),
        });
        // A script element ends at "</script", so escape "<" in JSON.
        let about = escape::json(&about.to_string()).replace('<', "\\u003c");
        let title = self.title();
        let title = escape::markup(&title);
        let mut document = format!(
            "{PAGE_START}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{BODY}\
             <script type=\"application/json\" id=\"about\">{about}</script>\n"
        );
        for (row, message) in self.messages.iter().enumerate() {
            let hash = Hash::hash(&message.gzip);
            let sha: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let attributes =
                format!("id=\"profile-{row}\" data-order=\"name\" data-sha256=\"{sha}\"");
            document += &page_script(&attributes, &message.gzip);
            document.push('\n');
        }
        document + "<script>" + &script + "</script>\n</body>\n</html>\n"
    }

    /// The dimension and the factor of the units of sample types that convert into others.
    fn units(&self) -> BTreeMap<&str, (&'static str, f64)> {
        let profiles = self.messages.iter().map(|message| &message.totals);
        let units = profiles.flat_map(|profiles| {
            let types = profiles.iter().flat_map(|profile| profile.sample_types());
            types.map(|of| profiles.dictionary().text(of.unit))
        });
        let known = units.filter_map(|name| {
            let unit = Unit::of(name)?;
            let dimension = match unit.dimension() {
                Dimension::Count => "count",
                Dimension::Time => "time",
                Dimension::Bytes => "bytes",
                _ => "other",
            };
            Some((name, (dimension, unit.factor() as f64)))
        });
        known.collect()
    }

    /// The title: the names of the first new file and the first base file.
    fn title(&self) -> String {
        let name = |is_base: bool| {
            let of_side = |message: &&Embedded| message.about["base"] == is_base;
            let path = self.messages.iter().find(of_side)?.about["file"].as_str()?;
            Some(Path::new(path).file_name()?.to_string_lossy().into_owned())
        };
        match (name(false), name(true)) {
            (Some(new), Some(base)) => format!("{new} compared with {base}"),
            (Some(new), None) => new,
            _ => "Profile".to_owned(),
        }
    }
}

/// Removes comments and indentation from a part of the script, because every page contains it.
fn bare(script: &str) -> String {
    let is_comment =
        |line: &str| ["//", "/**", "* ", "*/"].iter().any(|start| line.starts_with(start));
    let lines = script.lines().map(str::trim_start);
    lines
        .filter(|line| !line.is_empty() && !is_comment(line))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The hash of a text as a source of a content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Hash::hash(text.as_bytes())))
}
