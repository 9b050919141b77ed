//! Stacks, as callers pass them: frames of any kind, in either order.

use std::borrow::Cow;
use std::sync::Arc;

use crate::builder::builder::Builder;
use crate::builder::key::Key;
use crate::builder::number::SampleValue;
use crate::builder::parts::Frame;
use crate::model::id::{LocationId, StackId};

/// Creates a stack from frames listed from the root to the leaf, as in a folded stack: `main` first.
///
/// Frames are strings, owned or borrowed, [`Frame`]s, tuples of a
/// function, a file and a line, or keys of locations, in an array, a slice, a vector or an iterator.
///
/// ```
/// use otlp_profiles::{Builder, builder::{Frame, root_first}};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main", "parse"])).value(1);
/// builder.sample(cpu, root_first("main;parse".split(';'))).value(1);
/// builder.sample(cpu, root_first(&vec![String::from("main"), String::from("parse")])).value(1);
/// builder.sample(cpu, root_first([Frame::new("main"), Frame::new("parse")])).value(1);
/// let keys = ["main", "parse"].map(|name| builder.frame(name));
/// builder.sample(cpu, root_first(keys)).value(1);
/// let samples = builder.finish()?;
/// assert_eq!(samples.iter().next().unwrap().samples().get(0).unwrap().values, [5]);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[inline]
pub fn root_first<I: IntoIterator>(frames: I) -> OrderedFrames<I> {
    OrderedFrames { frames, order: Order::RootFirst }
}

/// Creates a stack from frames listed from the leaf to the root, as in OTLP and unwinders: `main` last.
///
/// It accepts the same frames as [`root_first`].
///
/// ```
/// use otlp_profiles::{Builder, builder::{leaf_first, root_first}};
///
/// let mut builder = Builder::new();
/// assert_eq!(builder.stack(leaf_first(["parse", "main"])), builder.stack(root_first(["main", "parse"])));
/// ```
#[inline]
pub fn leaf_first<I: IntoIterator>(frames: I) -> OrderedFrames<I> {
    OrderedFrames { frames, order: Order::LeafFirst }
}

/// Frames in one of the two orders, returned by [`root_first`] and [`leaf_first`].
/// They are iterated once, when the stack is built.
#[derive(Clone, Copy, Debug)]
pub struct OrderedFrames<I> {
    pub(crate) frames: I,
    pub(crate) order: Order,
}

/// The end of a stack that comes first.
/// OTLP, pprof and the tables list the leaf first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    RootFirst,
    LeafFirst,
}

/// A type that can be a sample's stack: frames from [`root_first`] or [`leaf_first`], or the key of a stack.
///
/// ```
/// use otlp_profiles::{Builder, builder::root_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let stack = builder.stack(root_first(["main", "parse"]));
/// builder.sample(cpu, stack).value(1);
/// ```
pub trait IntoStack: sealed::Stack {
    #[doc(hidden)]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId>;
}

/// A type that can be a frame of a stack: a string, a [`Frame`], a tuple of a function, a file and a line, or the
/// key of a location. See [`root_first`].
///
/// No other type implements it. All frames of a stack have the same type.
///
/// ```
/// use otlp_profiles::{Builder, builder::leaf_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, leaf_first([("parse", "src/parse.rs", 40), ("main", "src/main.rs", 3)])).value(1);
/// ```
pub trait IntoFrame: sealed::Frame {
    /// Returns its location.
    #[doc(hidden)]
    fn location(self, builder: &mut Builder) -> Key<LocationId>;
}

mod sealed {
    pub trait Stack {}
    pub trait Frame {}
}

impl sealed::Stack for Key<StackId> {}
impl IntoStack for Key<StackId> {
    #[inline]
    fn into_stack(self, _: &mut Builder) -> Self {
        self
    }
}

impl<I> sealed::Stack for OrderedFrames<I> {}
impl<I: IntoIterator<Item: IntoFrame>> IntoStack for OrderedFrames<I> {
    #[inline]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId> {
        let frames = self.frames.into_iter();
        builder.stack_of(frames, self.order, |builder, frame| frame.location(builder))
    }
}

/// Implements `IntoFrame`, first for types that lend their strings, then for those that own them.
macro_rules! frames {
    ($([$($generic:tt)*] $frame:ty => |$value:ident| $new:expr;)*) => {$(
        impl<$($generic)*> From<$frame> for Frame<'a> {
            #[inline]
            fn from($value: $frame) -> Self {
                $new
            }
        }
        frames!(located [$($generic)*] $frame => |frame| frame.into(););
    )*};
    (owned $([$($generic:tt)*] $frame:ty;)*) => {
        frames!(located $([$($generic)*] $frame => |frame| (&frame).into();)*);
    };
    (located $([$($generic:tt)*] $frame:ty => |$value:ident| $new:expr;)*) => {$(
        impl<$($generic)*> sealed::Frame for $frame {}
        impl<$($generic)*> IntoFrame for $frame {
            #[inline]
            fn location(self, builder: &mut Builder) -> Key<LocationId> {
                let $value = self;
                builder.location_of(&$new)
            }
        }
    )*};
}

frames! { located ['a] Frame<'a> => |frame| frame; }
frames! {
    ['a, 'b] &'b Frame<'a> => |frame| *frame;
    ['a] &'a str => |name| Self::new(name);
    ['a, 'b] &'b &'a str => |name| Self::new(name);
    ['a] &'a String => |name| Self::new(name);
    ['a, 'b] &'a Cow<'b, str> => |name| Self::new(name);
    ['a] &'a Arc<str> => |name| Self::new(name);
    ['a, L: SampleValue] (&'a str, &'a str, L) => |frame| Self::new(frame.0).at(frame.1, line(frame.2));
    ['a, 'b, L: SampleValue] &'b (&'a str, &'a str, L) => |frame| Self::new(frame.0).at(frame.1, line(frame.2));
    ['a, L: SampleValue] &'a (String, String, L) => |frame| Self::new(&frame.0).at(&frame.1, line(frame.2));
}
frames! { owned
    [] String;
    ['b] Cow<'b, str>;
    [] Arc<str>;
    [L: SampleValue] (String, String, L);
}

/// Converts a line number. Negative numbers become 0, which is unknown.
#[inline]
fn line(line: impl SampleValue) -> u32 {
    line.saturating().clamp(0, u32::MAX.into()) as u32
}

impl sealed::Frame for Key<LocationId> {}
impl IntoFrame for Key<LocationId> {
    #[inline]
    fn location(self, _: &mut Builder) -> Self {
        self
    }
}

impl sealed::Frame for &Key<LocationId> {}
impl IntoFrame for &Key<LocationId> {
    #[inline]
    fn location(self, _: &mut Builder) -> Key<LocationId> {
        *self
    }
}

impl Builder {
    /// Returns the key of a stack of frames.
    ///
    /// Frames that are [`Key::NONE`] or have no name are left out; `max_stack_depth` counts them.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{leaf_first, root_first}};
    ///
    /// let mut builder = Builder::new();
    /// let [main, parse] = ["main", "parse"].map(|name| builder.frame(name));
    /// let stack = builder.stack(leaf_first([parse, main]));
    /// assert_eq!(stack, builder.stack(root_first(["main", "parse"])));
    /// ```
    #[inline]
    pub fn stack(&mut self, stack: impl IntoStack) -> Key<StackId> {
        stack.into_stack(self)
    }

    /// Builds a stack from frames; `key` returns the location of each.
    ///
    /// It counts the keys of this generation instead of testing each one. Without a branch per key, the processor
    /// handles several at once.
    #[inline]
    pub(crate) fn stack_of<F>(
        &mut self,
        frames: impl Iterator<Item = F>,
        order: Order,
        mut key: impl FnMut(&mut Self, F) -> Key<LocationId>,
    ) -> Key<StackId> {
        let (generation, most) = (self.generation.same(), self.interner.budget.max_stack_depth());
        // Taken out of the builder, because `key` borrows it.
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        let mut own = 0u32;
        let rows = frames.map(|frame| {
            let key = key(self, frame);
            own += u32::from(generation.made(key));
            LocationId(key.row_number())
        });
        match rows.size_hint() {
            (_, Some(len)) if len <= most => locations.extend(rows),
            // Take at most one frame too many, even from an infinite iterator.
            _ => locations.extend(rows.take(most.saturating_add(1))),
        }
        if order == Order::RootFirst {
            locations.reverse();
        }
        // Usually all keys are of this generation, so none of the locations has to be removed.
        let id = match own as usize == locations.len() {
            true => self.intern(&locations[..]),
            false => self.stack_of_some(&mut locations, own as usize),
        };
        self.locations = locations;
        self.generation.key_of(id)
    }

    /// Builds the stack without the locations that are NONE. `None` if a key did not fit or is invalid: such keys
    /// are neither among the `own` ones nor NONE.
    #[cold]
    fn stack_of_some(&mut self, locations: &mut Vec<LocationId>, own: usize) -> Option<StackId> {
        let fits = self.interner.budget.stack(locations.len());
        self.fit(fits)?;
        locations.retain(|id| *id != LocationId::NONE);
        (own == locations.len()).then(|| self.intern(&locations[..]))?
    }
}
