//! Frames as the Firefox Profiler has them: by name, or by an address in a library, in the colour of
//! what kind of code they are.
//!
//! A frame with a function is a label with a file and a line. One without is an address relative to
//! its library's file, so that the viewer can find its name by the library's build id.
//!
//! ```text
//! main (a.c:3)                 Label "\u{1}label 0"; name, file and line are kept beside it, for `finish`
//! 0x401234 in libc.so.6        relative address 0x1234 in the library, whose build id is known
//! 0x7f00 without a mapping     Label, named by its address
//! ```

use std::collections::HashMap;

use fxprof_processed_profile::debugid::{CodeId, DebugId};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, Frame, FrameFlags, FrameHandle, FrameInfo, LibraryHandle,
    LibraryInfo, Profile, StackHandle, ThreadHandle,
};

use super::room::Room;
use crate::error::Result;
use crate::format::assembly::Met;
use crate::model::FrameRef;
use crate::model::dictionary::Dictionary;
use crate::model::id::{FunctionId, MappingId, StackId};
use crate::semconv::{BUILD_ID_GNU, PROFILE_FRAME_TYPE};

/// The colours of kinds of code.
///
/// By `profile.frame.type`; other kinds are purple.
const COLORS: [(&str, CategoryColor); 6] = [
    ("kernel", CategoryColor::Orange),
    ("native", CategoryColor::Blue),
    ("go", CategoryColor::LightBlue),
    ("rust", CategoryColor::Brown),
    ("jvm", CategoryColor::Green),
    ("v8js", CategoryColor::Yellow),
];

/// As many kinds of code as get a category of their own; the viewer numbers them with 16 bits.
const MOST_CATEGORIES: usize = 250;

/// What the crate has no place for: a function at a line of its file. It is given a number for a name,
/// which [`label`] takes apart.
pub(super) struct Label<'a> {
    /// As people read it: the function, or its address.
    pub(super) name: String,
    /// Empty where it is not known.
    pub(super) file: &'a str,
    /// From 1; 0 is unknown.
    pub(super) line: i64,
    pub(super) column: i64,
}

/// What the numbers of labels begin with: no name does.
///
/// A control character, so that what a program calls its functions is not taken for one.
const LABEL: &str = "\u{1}label ";

/// The number of a label, if a name is one.
pub(super) fn label(name: &str) -> Option<usize> {
    name.strip_prefix(LABEL)?.parse().ok()
}

/// The frames and stacks that were made.
pub(super) struct Frames<'a> {
    dictionary: &'a Dictionary,
    /// By `profile.frame.type`; made when first needed, as the viewer lists all that there are.
    categories: HashMap<&'a str, CategoryHandle>,
    libraries: HashMap<MappingId, LibraryHandle>,
    /// By the number of a thread and a stack: handles are a thread's own.
    stacks: HashMap<(usize, StackId), Option<StackHandle>>,
    /// The newest row of the tables of stacks, and that of those of frames.
    last_stack: Option<StackHandle>,
    last_frame: Option<FrameHandle>,
    /// By function, line, column, and the address where there is no function.
    ///
    /// Its numbers are rows of `labels`.
    labels_met: Met<(FunctionId, i64, i64, u64)>,
    /// What the names of functions stand for that [`label`] knows.
    pub(super) labels: Vec<Label<'a>>,
    /// Whether any frame is to be named by whoever shows it.
    pub(super) has_addresses: bool,
}

impl<'a> Frames<'a> {
    /// Nothing is made yet.
    pub(super) fn of(dictionary: &'a Dictionary) -> Self {
        Self {
            dictionary,
            categories: HashMap::new(),
            libraries: HashMap::new(),
            stacks: HashMap::new(),
            last_stack: None,
            last_frame: None,
            labels_met: Met::default(),
            labels: Vec::new(),
            has_addresses: false,
        }
    }

    /// A stack of a thread; none has no frames.
    ///
    /// Made once for each thread that has it.
    ///
    /// Made from the root to the leaf, since a row of the viewer's table refers to its caller's.
    ///
    /// # Errors
    ///
    /// [`Limit`](crate::ErrorKind::Limit) where there is no room for its new rows.
    pub(super) fn stack(
        &mut self,
        (profile, room): (&mut Profile, &mut Room),
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
            // Handles are numbers of rows, and threads are made one after the other.
            if Some(frame) > self.last_frame {
                room.row(0)?;
                self.last_frame = Some(frame);
            }
            if made > self.last_stack {
                room.row(Room::STACK)?;
                self.last_stack = made;
            }
        }
        self.stacks.insert((number, stack), made);
        Ok(made)
    }

    /// A frame with its category and flags, both by the type of frame that its location says.
    fn frame(&mut self, profile: &mut Profile, frame: &FrameRef<'a>) -> FrameInfo {
        let locations = &self.dictionary.locations;
        let attributes = self.dictionary.resolve(locations.attributes(frame.location()));
        let kind = attributes.get_str(PROFILE_FRAME_TYPE).unwrap_or_default();
        let category = self.category(profile, kind);
        let flags = match kind {
            "v8js" => FrameFlags::IS_JS,
            _ => FrameFlags::empty(),
        };
        let frame = self.place(profile, frame);
        FrameInfo { frame, category_pair: category.into(), flags }
    }

    /// The name of a frame, or where it is in a library.
    ///
    /// A function is preferred to its address, although the address then is lost (and counted):
    /// with both the viewer would show neither file nor line.
    fn place(&mut self, profile: &mut Profile, frame: &FrameRef<'a>) -> Frame {
        if frame.function_id() == FunctionId::NONE
            && let Some((library, address)) = self.in_library(profile, frame)
        {
            self.has_addresses = true;
            return Frame::RelativeAddressFromInstructionPointer(library, address);
        }
        let (function, line, column) = (frame.function_id(), frame.line(), frame.column());
        // Without a function, it is its address.
        let address = if function == FunctionId::NONE { frame.address() } else { 0 };
        let (number, is_new) = self.labels_met.number((function, line, column, address));
        if is_new {
            let (name, file) = (frame.to_string(), frame.filename());
            self.labels.push(Label { name, file, line, column });
        }
        Frame::Label(profile.intern_string(&format!("{LABEL}{number}")))
    }

    /// `None` where the location has no mapping, or lies before it or more than 4 GiB behind the
    /// file's start.
    ///
    /// Relative to the file's first byte, as symbol servers count, and not to where it was loaded.
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

    /// A binary, under its file's name. The viewer asks symbol servers by its build id, in the form of Breakpad.
    ///
    /// Only GNU's build ids are known to symbol servers; without one the library has an id of
    /// zeros.
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

    /// The category of a type of frames; there is room for so many, and the others are one.
    ///
    /// A frame whose type is not known is of the viewer's category `Other`.
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

/// The id by which symbol servers know a binary: the first bytes of its build id, as a GUID of
/// little-endian fields.
///
/// None where the first 32 digits are not hex; a shorter id is filled up with zeros. Breakpad reads
/// a build id as a GUID, whose first three fields are numbers and so turned around.
fn debug_id(build_id: &str) -> Option<DebugId> {
    let bytes = build_id.as_bytes().as_chunks::<2>().0.iter().map(|pair| {
        let text = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(text, 16).ok()
    });
    let mut guid = [0; 16];
    for (out, byte) in guid.iter_mut().zip(bytes) {
        *out = byte?;
    }
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    DebugId::from_guid_age(&guid, 0).ok()
}
