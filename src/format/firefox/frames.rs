//! Converts frames to those of the Firefox Profiler: named, or an address in a library, with the category of
//! their code.
//!
//! A frame with a function becomes a label with file and line. A frame without one becomes an address
//! relative to the file of its library, so that the viewer can look up its name by the build id of the
//! library.
//!
//! ```text
//! main (a.c:3)                 Label "\u{1}label 0"; `labels` stores name, file and line for `finish`
//! 0x401234 in libc.so.6        relative address 0x1234 in the library, whose build id is known
//! 0x7f00 without a mapping     Label, named by its address
//! ```

use crate::wire::hex::hex_bytes;
use std::collections::HashMap;

use fxprof_processed_profile::debugid::{CodeId, DebugId};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, Frame, FrameFlags, FrameHandle, FrameInfo, LibraryHandle,
    LibraryInfo, Profile, StackHandle, ThreadHandle,
};

use super::output_budget::OutputBudget;
use crate::error::Result;
use crate::format::assembly::Numbering;
use crate::model::FrameRef;
use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, MappingId, StackId};
use crate::semconv::{BUILD_ID_GNU, PROFILE_FRAME_TYPE};

/// The colours of categories by `profile.frame.type`. Other categories are purple.
const COLORS: [(&str, CategoryColor); 6] = [
    ("kernel", CategoryColor::Orange),
    ("native", CategoryColor::Blue),
    ("go", CategoryColor::LightBlue),
    ("rust", CategoryColor::Brown),
    ("jvm", CategoryColor::Green),
    ("v8js", CategoryColor::Yellow),
];

/// The maximum number of frame types with a separate category. The viewer numbers categories with 16 bits.
const MOST_CATEGORIES: usize = 250;

/// A function at a line of its file, which the crate cannot represent. Its frame has a placeholder name with
/// a number, which [`label`] parses.
pub(super) struct Label<'a> {
    /// The name to display: the function, or its address.
    pub(super) name: String,
    /// The file, or empty if unknown.
    pub(super) file: &'a str,
    /// The line from 1, or 0 if unknown.
    pub(super) line: i64,
    pub(super) column: i64,
}

/// The prefix of placeholder names.
///
/// It contains a control character, so that no function name of a program is mistaken for a placeholder.
const LABEL: &str = "\u{1}label ";

/// Parses the number of a placeholder name.
pub(super) fn label(name: &str) -> Option<usize> {
    name.strip_prefix(LABEL)?.parse().ok()
}

/// The frames and stacks that exist so far.
pub(super) struct Frames<'a> {
    dictionary: &'a Dictionary,
    /// Categories by `profile.frame.type`, created on first use, because the viewer lists every existing one.
    categories: HashMap<&'a str, CategoryHandle>,
    libraries: HashMap<MappingId, LibraryHandle>,
    /// Stacks by thread number and stack: each thread has separate handles.
    stacks: HashMap<(usize, StackId), Option<StackHandle>>,
    /// The last rows of the current thread's stack and frame tables.
    last_stack: Option<StackHandle>,
    last_frame: Option<FrameHandle>,
    /// Numbers of `labels` by function, line and column, and by address if there is no function.
    label_numbering: Numbering<(FunctionId, i64, i64, u64)>,
    /// The functions and lines behind the placeholder names that [`label`] recognises.
    pub(super) labels: Vec<Label<'a>>,
    /// Whether any frame is only an address, so that the viewer has to resolve its name.
    pub(super) has_addresses: bool,
}

impl<'a> Frames<'a> {
    pub(super) fn of(dictionary: &'a Dictionary) -> Self {
        Self {
            dictionary,
            categories: HashMap::new(),
            libraries: HashMap::new(),
            stacks: HashMap::new(),
            last_stack: None,
            last_frame: None,
            label_numbering: Numbering::default(),
            labels: Vec::new(),
            has_addresses: false,
        }
    }

    /// Returns the handle of a stack in a thread, or `None` if it has no frames.
    ///
    /// Creates each stack once per thread, from the root to the leaf, because a row of the viewer's table
    /// refers to the row of its caller.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) if its new rows exceed the limit of the output.
    pub(super) fn stack(
        &mut self,
        (profile, budget): (&mut Profile, &mut OutputBudget),
        (thread, number): (ThreadHandle, usize),
        stack: StackId,
    ) -> Result<Option<StackHandle>> {
        if let Some(known) = self.stacks.get(&(number, stack)) {
            return Ok(*known);
        }
        let dictionary = self.dictionary;
        let mut made = None;
        for frame in dictionary.frames(stack).rev() {
            let info = self.frame(profile, &frame);
            let frame = profile.intern_frame(thread, info);
            made = Some(profile.intern_stack(thread, made, frame));
            // Handles are row numbers, and threads are created one after the other, so a larger handle is a
            // new row.
            if Some(frame) > self.last_frame {
                budget.row(0)?;
                self.last_frame = Some(frame);
            }
            if made > self.last_stack {
                budget.row(OutputBudget::STACK)?;
                self.last_stack = made;
            }
        }
        self.stacks.insert((number, stack), made);
        Ok(made)
    }

    /// Converts a frame. The frame type of its location determines category and flags.
    fn frame(&mut self, profile: &mut Profile, frame: &FrameRef<'a>) -> FrameInfo {
        let locations = &self.dictionary.locations;
        let attributes = self.dictionary.resolve(locations.attributes(frame.location()));
        let kind = attributes.get_str(PROFILE_FRAME_TYPE).unwrap_or_default();
        let category = self.category(profile, kind);
        let flags = match kind {
            "v8js" => FrameFlags::IS_JS,
            _ => FrameFlags::empty(),
        };
        let frame = self.intern_frame(profile, frame);
        FrameInfo { frame, category_pair: category.into(), flags }
    }

    /// Returns the label of a frame, or its address in a library.
    ///
    /// Prefers a function to an address, which is then lost (and counted): with both, the viewer would show
    /// neither file nor line.
    fn intern_frame(&mut self, profile: &mut Profile, frame: &FrameRef<'a>) -> Frame {
        if frame.function_id() == FunctionId::NONE
            && let Some((library, address)) = self.in_library(profile, frame)
        {
            self.has_addresses = true;
            return Frame::RelativeAddressFromInstructionPointer(library, address);
        }
        let (function, line, column) = (frame.function_id(), frame.line(), frame.column());
        // Without a function, the label is the address.
        let address = if function == FunctionId::NONE { frame.address() } else { 0 };
        let (number, is_new) = self.label_numbering.number((function, line, column, address));
        if is_new {
            let (name, file) = (frame.to_string(), frame.filename());
            self.labels.push(Label { name, file, line, column });
        }
        Frame::Label(profile.intern_string(&format!("{LABEL}{number}")))
    }

    /// Returns the library of a frame and its address, relative to the first byte of the library's file as
    /// symbol servers expect.
    ///
    /// Returns `None` if the location has no mapping, or is before it or more than 4 GiB after the start of
    /// the file.
    fn in_library(
        &mut self,
        profile: &mut Profile,
        frame: &FrameRef<'a>,
    ) -> Option<(LibraryHandle, u32)> {
        let id = self.dictionary.locations.mapping(frame.location());
        let mapping = self.dictionary.mappings.get(id);
        let within = frame.address().checked_sub(mapping.memory_start)?;
        let address = u32::try_from(within.checked_add(mapping.file_offset)?).ok()?;
        if id == MappingId::NONE {
            return None;
        }
        let library = match self.libraries.get(&id) {
            Some(library) => *library,
            None => {
                let library = profile.add_lib(self.library(id));
                self.libraries.insert(id, library);
                library
            }
        };
        Some((library, address))
    }

    /// Describes a library under the name of its file, with the build id in Breakpad's form, which the viewer
    /// sends to symbol servers.
    ///
    /// Symbol servers know only GNU build ids. Without one, the id is zeros.
    fn library(&self, id: MappingId) -> LibraryInfo {
        let path = self.dictionary.text(self.dictionary.mappings.get(id).filename).to_owned();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let attributes = self.dictionary.resolve(self.dictionary.mappings.attributes(id));
        let build_id = attributes.get_str(BUILD_ID_GNU);
        let code_id = build_id.map(|id| CodeId::new(id.to_owned()).to_string());
        LibraryInfo {
            debug_name: name.clone(),
            debug_path: path.clone(),
            name,
            path,
            debug_id: build_id.and_then(debug_id).unwrap_or_default(),
            code_id,
            arch: None,
            symbol_table: None,
        }
    }

    /// Returns the category of a frame type. Frame types beyond [`MOST_CATEGORIES`] share the viewer's
    /// category `Other`, as do frames without a type.
    fn category(&mut self, profile: &mut Profile, kind: &'a str) -> CategoryHandle {
        if let Some(category) = self.categories.get(kind) {
            return *category;
        }
        if kind.is_empty() || self.categories.len() >= MOST_CATEGORIES {
            return CategoryHandle::OTHER;
        }
        let color = COLORS.iter().find(|(known, _)| *known == kind);
        let color = color.map_or(CategoryColor::Purple, |(_, color)| *color);
        let category = profile.add_category(kind, color);
        self.categories.insert(kind, category);
        category
    }
}

/// Returns the id by which symbol servers know a library: the first 16 bytes of its build id as a GUID. The
/// first three fields of a GUID are little-endian numbers, so their bytes are reversed.
///
/// Returns `None` if the first 32 digits are not hexadecimal. A shorter id is padded with zeros.
fn debug_id(build_id: &str) -> Option<DebugId> {
    let whole = build_id.len().min(32) & !1;
    let bytes = hex_bytes(build_id.get(..whole)?)?;
    let mut guid = [0; 16];
    guid.iter_mut().zip(bytes).for_each(|(out, byte)| *out = byte);
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    DebugId::from_guid_age(&guid, 0).ok()
}
