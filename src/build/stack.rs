//! Stacks, as a caller has them: frames of any kind, and which end of the stack comes first.

use std::borrow::Cow;
use std::sync::Arc;

use crate::build::builder::Builder;
use crate::build::key::{Generation, Key};
use crate::build::number::SampleValue;
use crate::build::parts::Frame;
use crate::build::room::Full;
use crate::model::id::{LocationId, StackId};

/// A stack whose frames are listed from the root to the leaf, as in a folded stack: `main` first.
///
/// The frames are whatever a caller has: texts, owned or borrowed, [`Frame`]s, tuples of a
/// function, a file and a line, or keys of locations, in an array, a slice, a vector or an iterator.
///
/// ```
/// use otlp_profiles::{Builder, build::{Frame, root_first}};
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
pub fn root_first<I: IntoIterator>(frames: I) -> Ordered<I> {
    Ordered { frames, order: Order::RootFirst }
}

/// A stack whose frames are listed from the leaf to the root, as OTLP and unwinders do: `main` last.
///
/// It takes what [`root_first`] takes.
///
/// ```
/// use otlp_profiles::{Builder, build::{leaf_first, root_first}};
///
/// let mut builder = Builder::new();
/// assert_eq!(builder.stack(leaf_first(["parse", "main"])), builder.stack(root_first(["main", "parse"])));
/// ```
#[inline]
pub fn leaf_first<I: IntoIterator>(frames: I) -> Ordered<I> {
    Ordered { frames, order: Order::LeafFirst }
}

/// Frames in one of the two orders a stack can be listed in: what [`root_first`] and [`leaf_first`]
/// return.
/// The frames are walked once, when the stack is built.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<I> {
    pub(crate) frames: I,
    pub(crate) order: Order,
}

/// Which end of a stack comes first.
/// OTLP and pprof list the leaf first, and so do the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    RootFirst,
    LeafFirst,
}

/// What can be a sample's stack: [`root_first`] or [`leaf_first`] of some frames, or the key of a
/// stack.
///
/// ```
/// use otlp_profiles::{Builder, build::root_first};
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

/// What can be a frame of a stack: a text, a [`Frame`], a tuple of a function, a file and a line,
/// or the key of a location. See [`root_first`].
///
/// No other type can be one. All frames of a stack are of one type.
///
/// ```
/// use otlp_profiles::{Builder, build::leaf_first};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, leaf_first([("parse", "src/parse.rs", 40), ("main", "src/main.rs", 3)])).value(1);
/// ```
pub trait IntoFrame: sealed::Frame + Sized {
    /// Its location.
    #[doc(hidden)]
    fn location(self, builder: &mut Builder) -> Key<LocationId>;

    /// The stack of such frames.
    #[doc(hidden)]
    #[inline]
    fn stack(
        builder: &mut Builder,
        frames: impl Iterator<Item = Self>,
        order: Order,
    ) -> Key<StackId> {
        builder.stack_of(frames, order, |builder, frame| frame.location(builder))
    }
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

impl<I> sealed::Stack for Ordered<I> {}
impl<I: IntoIterator<Item: IntoFrame>> IntoStack for Ordered<I> {
    #[inline]
    fn into_stack(self, builder: &mut Builder) -> Key<StackId> {
        I::Item::stack(builder, self.frames.into_iter(), self.order)
    }
}

/// Frames by name that lend their texts.
macro_rules! borrowed {
    ($([$($generic:tt)+] $frame:ty => |$value:ident| $new:expr;)*) => {$(
        impl<$($generic)+> From<$frame> for Frame<'a> {
            #[inline]
            fn from($value: $frame) -> Self {
                $new
            }
        }
        borrowed!(impl [$($generic)+] $frame);
    )*};
    (impl [$($generic:tt)+] $frame:ty) => {
        impl<$($generic)+> sealed::Frame for $frame {}
        impl<$($generic)+> IntoFrame for $frame {
            #[inline]
            fn location(self, builder: &mut Builder) -> Key<LocationId> {
                builder.location_of(&self.into())
            }

            #[inline]
            fn stack(
                builder: &mut Builder,
                frames: impl Iterator<Item = Self>,
                order: Order,
            ) -> Key<StackId> {
                builder.stack_of_names(frames.map(Into::into), order)
            }
        }
    };
}

borrowed!(impl ['a] Frame<'a>);
borrowed! {
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

/// Frames that own their texts: each is looked up as it comes.
macro_rules! owned {
    ($([$($generic:tt)*] $frame:ty;)*) => {$(
        impl<$($generic)*> sealed::Frame for $frame {}
        impl<$($generic)*> IntoFrame for $frame {
            fn location(self, builder: &mut Builder) -> Key<LocationId> {
                builder.location_of(&(&self).into())
            }
        }
    )*};
}

owned! {
    [] String;
    ['b] Cow<'b, str>;
    [] Arc<str>;
    [L: SampleValue] (String, String, L);
}

/// A line, which is unknown where it is none.
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

    #[inline]
    fn stack(
        builder: &mut Builder,
        frames: impl Iterator<Item = Self>,
        order: Order,
    ) -> Key<StackId> {
        builder.stack_of_keys(frames, order)
    }
}

impl sealed::Frame for &Key<LocationId> {}
impl IntoFrame for &Key<LocationId> {
    #[inline]
    fn location(self, _: &mut Builder) -> Key<LocationId> {
        *self
    }

    #[inline]
    fn stack(
        builder: &mut Builder,
        frames: impl Iterator<Item = Self>,
        order: Order,
    ) -> Key<StackId> {
        builder.stack_of_keys(frames.copied(), order)
    }
}

impl Builder {
    /// The stack of some frames, or of the key it has already.
    ///
    /// Frames that are [`Key::NONE`], or have no name at all, are left out; `max_stack_depth` counts them.
    ///
    /// ```
    /// use otlp_profiles::{Builder, build::{leaf_first, root_first}};
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

    /// The stack of frames by name, without those that have none.
    fn stack_of_names<'a>(
        &mut self,
        frames: impl Iterator<Item = Frame<'a>>,
        order: Order,
    ) -> Key<StackId> {
        let Self { frames: known, interner, locations, .. } = self;
        // One too many at most, even of frames without an end.
        let most = interner.room.max_stack_depth().saturating_add(1);
        locations.clear();
        let (mut depth, mut full) = (0, Ok(()));
        for frame in frames.take(most) {
            depth += 1;
            match known.location(interner, &frame) {
                Ok(LocationId::NONE) => {}
                Ok(location) => locations.push(location),
                Err(error) => full = Err(error),
            }
        }
        if order == Order::RootFirst {
            locations.reverse();
        }
        // Frames without a name count: behind one too many there may be others that have one.
        let id = full.and_then(|()| interner.room.stack(depth));
        let id = id.and_then(|()| interner.stack(locations));
        let id = self.fit(id);
        self.generation.key(id.map(|id| id.0))
    }

    /// The stack of frames whose locations are found one by one.
    pub(crate) fn stack_of<F>(
        &mut self,
        frames: impl Iterator<Item = F>,
        order: Order,
        mut key: impl FnMut(&mut Self, F) -> Key<LocationId>,
    ) -> Key<StackId> {
        // Taken out while `key` needs the builder.
        let mut locations = std::mem::take(&mut self.locations);
        let (generation, most) = (self.generation.same(), self.interner.room.max_stack_depth());
        let keys = frames.map(|frame| key(self, frame));
        let own = gather(&mut locations, keys, &generation, most);
        self.locations = locations;
        self.stack_of_gathered(own, order)
    }

    /// The stack of these locations.
    #[inline]
    fn stack_of_keys(
        &mut self,
        keys: impl Iterator<Item = Key<LocationId>>,
        order: Order,
    ) -> Key<StackId> {
        let Self { locations, generation, interner, .. } = self;
        let own = gather(locations, keys, generation, interner.room.max_stack_depth());
        self.stack_of_gathered(own, order)
    }

    /// The stack of the gathered locations, of which so many are of this generation.
    #[inline]
    fn stack_of_gathered(&mut self, own: usize, order: Order) -> Key<StackId> {
        let Self { locations, interner, .. } = self;
        if order == Order::RootFirst {
            locations.reverse();
        }
        let id = match own == locations.len() {
            true => interner.stack(locations).map(Some),
            false => self.stack_of_some(own),
        };
        let id = self.fit(id).flatten();
        self.generation.key(id.map(|id| id.0))
    }

    /// The stack of the gathered locations without those that are none; nothing if a key did not
    /// fit or is from elsewhere, as keys are that are neither of this generation nor none.
    #[cold]
    fn stack_of_some(&mut self, own: usize) -> Result<Option<StackId>, Full> {
        let Self { locations, interner, .. } = self;
        interner.room.stack(locations.len())?;
        locations.retain(|id| *id != LocationId::NONE);
        match own == locations.len() {
            true => interner.stack(locations).map(Some),
            false => Ok(None),
        }
    }
}

/// Puts the rows of keys into an empty list, one more than `most` of those that are more or have no
/// end. Returns how many keys are of the generation.
///
/// There is no branch for each key, so the processor takes several at once.
#[inline(always)]
fn gather(
    list: &mut Vec<LocationId>,
    keys: impl Iterator<Item = Key<LocationId>>,
    generation: &Generation,
    most: usize,
) -> usize {
    let (mut own, generation) = (0u32, generation.same());
    list.clear();
    let rows = keys.map(|key| {
        own += u32::from(generation.made(key));
        LocationId(key.row_number())
    });
    match rows.size_hint() {
        (_, Some(len)) if len <= most => list.extend(rows),
        _ => list.extend(rows.take(most.saturating_add(1))),
    }
    own as usize
}
