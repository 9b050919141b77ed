//! What the crate has no place for, put into the JSON that it makes: weights as they are, and the
//! files of functions.

use std::collections::HashMap;

use serde_json::{Value, json};

/// What is put into the JSON of a thread: its weights, in the order of its samples.
pub(super) struct Finish<'a> {
    /// By the id of the thread as the JSON has it.
    pub(super) weights: HashMap<String, Vec<Value>>,
    pub(super) files: &'a HashMap<&'a str, Option<&'a str>>,
    /// Whether weights are time on the CPU, by which the viewer draws how busy a thread is.
    pub(super) is_cpu: bool,
}

impl Finish<'_> {
    /// Puts them into the JSON of a profile.
    pub(super) fn apply(mut self, json: &mut Value) {
        let threads = json.get_mut("threads").and_then(Value::as_array_mut);
        for thread in threads.into_iter().flatten() {
            self.weights(thread);
            self.files(thread);
        }
    }

    fn weights(&mut self, thread: &mut Value) {
        let id = thread.get("tid").and_then(Value::as_str).unwrap_or_default();
        let Some(weights) = self.weights.remove(id) else { return };
        let Some(samples) = thread.get_mut("samples").and_then(Value::as_object_mut) else {
            return;
        };
        samples.insert("weight".to_owned(), Value::Array(weights));
        if !self.is_cpu {
            samples.remove("threadCPUDelta");
        }
    }

    fn files(&self, thread: &mut Value) {
        let Some(strings) = thread.get("stringArray").and_then(Value::as_array) else { return };
        let mut added: Vec<&str> = Vec::new();
        let mut rows: HashMap<&str, usize> = HashMap::new();
        let names = thread.pointer("/funcTable/name").and_then(Value::as_array);
        let file = |name: &Value| {
            let text = strings.get(usize::try_from(name.as_u64()?).ok()?)?.as_str()?;
            let file = self.files.get(text).copied().flatten()?;
            Some(*rows.entry(file).or_insert_with(|| {
                added.push(file);
                strings.len() + added.len() - 1
            }))
        };
        let files: Vec<Value> =
            names.into_iter().flatten().map(file).map(|row| json!(row)).collect();
        if added.is_empty() {
            return;
        }
        if let Some(strings) = thread.get_mut("stringArray").and_then(Value::as_array_mut) {
            strings.extend(added.into_iter().map(|file| json!(file)));
        }
        if let Some(functions) = thread.get_mut("funcTable").and_then(Value::as_object_mut) {
            functions.insert("fileName".to_owned(), Value::Array(files));
        }
    }
}
