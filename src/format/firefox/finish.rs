//! Adds data to the JSON that `fxprof-processed-profile` cannot represent: exact weights, names of main
//! threads, files of functions, and lines of frames.
//!
//! ```text
//! stringArray  ["\u{1}label 0", "\u{1}label 1"]    ─►  ["f", "f", "f.c"]
//! funcTable    name [0, 1]                         ─►  name [0], fileName [2]
//! frameTable   func [0, 1]                         ─►  func [0, 0], line [3, 7]
//! samples      weight [1, 1]                       ─►  weight [5000000000, 1]
//! ```
//!
//! If a member is missing because that crate changed its output, the JSON stays as it is: the file is still
//! valid, with less data.

use std::collections::{BTreeMap, HashMap};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::frames::{Label, label};
use crate::format::assembly::Numbering;

/// Data to add to the JSON.
pub(super) struct Finish<'a> {
    /// Data of each thread, by the thread's id in the JSON. Ids are unique in a file, and each entry is
    /// removed when its thread is finished.
    pub(super) threads: HashMap<String, ThreadDetails>,
    /// The functions and lines behind the placeholder names that [`label`] recognises.
    pub(super) labels: &'a [Label<'a>],
    /// Whether weights are CPU time. The viewer draws the load of a thread from those.
    pub(super) is_cpu: bool,
}

/// Data to add to a thread.
pub(super) struct ThreadDetails {
    /// The name, or empty if the thread has no name. The crate names a main thread after its process.
    pub(super) name: String,
    /// Weights in the order of the samples.
    pub(super) weights: Vec<Value>,
}

impl Finish<'_> {
    /// Writes the JSON of a profile with the added data.
    ///
    /// Parses one thread at a time, because parsed values take several times the memory of their text.
    ///
    /// # Errors
    ///
    /// The input is not valid JSON, which is a defect of the encoder.
    pub(super) fn apply(mut self, json: &[u8], out: &mut Vec<u8>) -> serde_json::Result<()> {
        let members: BTreeMap<&str, &RawValue> = serde_json::from_slice(json)?;
        let mut before = b'{';
        for (key, value) in members {
            out.push(before);
            serde_json::to_writer(&mut *out, key)?;
            out.push(b':');
            match key {
                "threads" => self.threads(value, out)?,
                _ => {
                    serde_json::to_writer(&mut *out, &serde_json::from_str::<Value>(value.get())?)?
                }
            }
            before = b',';
        }
        out.push(b'}');
        Ok(())
    }

    fn threads(&mut self, threads: &RawValue, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.push(b'[');
        let threads: Vec<&RawValue> = serde_json::from_str(threads.get())?;
        for (at, thread) in threads.into_iter().enumerate() {
            let mut thread = serde_json::from_str(thread.get())?;
            self.add_details(&mut thread);
            self.lines(&mut thread);
            if at > 0 {
                out.push(b',');
            }
            serde_json::to_writer(&mut *out, &thread)?;
        }
        out.push(b']');
        Ok(())
    }

    /// Sets name and weights. Removes the CPU times unless weights are such, because the viewer would draw
    /// the thread as idle.
    fn add_details(&mut self, thread: &mut Value) {
        let id = thread.get("tid").and_then(Value::as_str).unwrap_or_default();
        let Some(ThreadDetails { name, weights }) = self.threads.remove(id) else { return };
        if let Some(member) = thread.get_mut("name").filter(|_| !name.is_empty()) {
            *member = Value::String(name);
        }
        let Some(samples) = thread.get_mut("samples").and_then(Value::as_object_mut) else {
            return;
        };
        samples.insert("weight".to_owned(), Value::Array(weights));
        if !self.is_cpu {
            samples.remove("threadCPUDelta");
        }
    }

    /// Merges the functions that the encoder created for each line, and moves the lines to their frames.
    ///
    /// Functions are equal if name and file are. Functions without a label stay as they are. Returns `None`
    /// if a table is missing, and leaves the thread unchanged.
    fn lines(&self, thread: &mut Value) -> Option<()> {
        let column = |thread: &Value, path: &str| thread.pointer(path)?.as_array().cloned();
        let mut strings = column(thread, "/stringArray")?;
        let labels: Vec<Option<&Label>> =
            strings.iter().map(|text| self.labels.get(label(text.as_str()?)?)).collect();
        for (text, label) in strings.iter_mut().zip(&labels) {
            if let Some(label) = label {
                *text = json!(label.name);
            }
        }
        // `moved` maps old rows of functions to new ones. `firsts` and `files` have an entry for each new
        // row: its first old row and its file.
        let (mut moved, mut firsts, mut files) = (Vec::new(), Vec::new(), Vec::new());
        let (mut functions, mut file_rows) = (Numbering::default(), HashMap::new());
        for (row, name) in column(thread, "/funcTable/name")?.iter().enumerate() {
            let label = labels.get(row_of(name)?).copied().flatten();
            let (number, is_new) = match label {
                Some(label) => functions.number((Some((&label.name, label.file)), 0)),
                None => functions.number((None, row)),
            };
            moved.push((number, label));
            if is_new {
                firsts.push(row);
                let file = label.map(|label| label.file).filter(|file| !file.is_empty());
                files.push(file.map(|file| {
                    *file_rows.entry(file).or_insert_with(|| {
                        strings.push(json!(file));
                        strings.len() - 1
                    })
                }));
            }
        }
        let of_functions = thread.get_mut("funcTable")?.as_object_mut()?;
        for (_, column) in of_functions.iter_mut() {
            if let Value::Array(rows) = column {
                let kept = firsts.iter().map(|row| rows.get(*row).cloned().unwrap_or_default());
                *column = kept.collect();
            }
        }
        of_functions.insert("length".to_owned(), json!(firsts.len()));
        of_functions.insert("fileName".to_owned(), json!(files));
        let of_frames = thread.get_mut("frameTable")?.as_object_mut()?;
        let functions = of_frames.get("func")?.as_array()?.clone();
        let moved = functions.iter().map(|row| moved.get(row_of(row)?).copied());
        let moved: Vec<_> = moved.map(Option::unwrap_or_default).collect();
        let place = |of: fn(&Label) -> i64| -> Value {
            let positive = |label: Option<&Label>| label.map(of).filter(|number| *number > 0);
            moved.iter().map(|(_, label)| json!(positive(*label))).collect()
        };
        let (lines, columns) = (place(|label| label.line), place(|label| label.column));
        let functions = moved.iter().map(|(row, _)| json!(row)).collect();
        for (key, rows) in [("func", functions), ("line", lines), ("column", columns)] {
            of_frames.insert(key.to_owned(), rows);
        }
        thread.as_object_mut()?.insert("stringArray".to_owned(), Value::Array(strings));
        Some(())
    }
}

/// Converts a row number. The tables contain null if a row is unknown; that gives `None`.
fn row_of(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}
