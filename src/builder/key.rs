//! Keys: row numbers with the builder and generation that they belong to.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::model::id::Id;

/// A row of a [`Builder`](crate::Builder): `Key<LocationId>` is a location, `Key<Profile>` a profile
/// being built.
///
/// A key is eight bytes: a row number, and the number of the builder's generation that made it. Every use
/// compares the generation. A key of another builder or of a past generation is invalid:
/// its sample, attribute or link is left out and counted in
/// [`dropped`](crate::Builder::dropped). It never refers to another row and never panics.
///
/// | keys of | are valid until |
/// |---|---|
/// | resources, scopes and profiles | [`finish`](crate::Builder::finish) or [`reset`](crate::Builder::reset) |
/// | everything else: strings, functions, mappings, locations, stacks, links, attributes | these, or [`finish_interval`](crate::Builder::finish_interval) |
///
/// ```
/// use otlp_profiles::model::{LocationId};
/// use otlp_profiles::{Builder, builder::{Key, leaf_first}};
///
/// let mut builder = Builder::new();
/// let cpu = builder.profile("cpu", "nanoseconds");
/// let serve = builder.frame("serve");
/// assert_eq!(serve, builder.frame("serve"));
/// assert_ne!(serve, Key::<LocationId>::NONE);
///
/// builder.sample(cpu, leaf_first([serve])).value(1);
/// drop(builder.finish_interval()?);
/// // The next generation: the key of the profile is still valid, that of the location is not.
/// builder.sample(cpu, leaf_first([serve])).value(1);
/// assert_eq!(builder.dropped().samples, 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct Key<T> {
    row: u32,
    /// The generation that made the key; 0 for `NONE` and `DROPPED`, which belong to no generation.
    generation: u32,
    /// The type of the row. A key does not own a `T`, so it is `Send` and `Copy` for any `T`.
    of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// The key of row 0, the empty row.
    /// It is valid in every builder. A location without a mapping has this as its mapping.
    ///
    /// ```
    /// use otlp_profiles::{Builder, builder::{Key, NewFunction}};
    /// let nameless = Builder::new().function(NewFunction::default());
    /// assert_eq!(nameless, Key::NONE);
    /// ```
    pub const NONE: Self = Self { row: 0, generation: 0, of: PhantomData };

    /// The key of data that did not fit. Data that refers to it does not fit either.
    const DROPPED: Self = Self { row: u32::MAX, generation: 0, of: PhantomData };

    /// Returns the row number, without checking the generation.
    #[inline]
    pub(crate) fn row_number(self) -> u32 {
        self.row
    }
}

// Not derived, because derives would require the same traits of `T`.
impl<T> Clone for Key<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}
impl<T> Default for Key<T> {
    fn default() -> Self {
        Self::NONE
    }
}
impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.row, self.generation) == (other.row, other.generation)
    }
}
impl<T> Eq for Key<T> {}
impl<T> Hash for Key<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.row, self.generation).hash(state);
    }
}
impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            0 => f.write_str("Key(none)"),
            u32::MAX => f.write_str("Key(dropped)"),
            row => write!(f, "Key({row})"),
        }
    }
}

/// A generation of a builder. It creates keys and recognises its own. Every generation has a unique number.
#[derive(Debug)]
pub(crate) struct Generation(u32);

/// A cloned builder changes independently, so it is a new generation.
impl Clone for Generation {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Generation {
    /// Creates a generation with a new number.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // 0 marks keys without a generation. The counter wraps after 2^32 generations.
        Self(NEXT.fetch_add(1, Ordering::Relaxed).max(1))
    }

    /// Returns the key of a row, or [`Key::DROPPED`] if the row did not fit.
    #[inline]
    pub(crate) fn key<T>(&self, row: Option<u32>) -> Key<T> {
        match row {
            None => Key::DROPPED,
            Some(0) => Key::NONE,
            Some(row) => Key { row, generation: self.0, of: PhantomData },
        }
    }

    /// Returns the row of a key: row 0 for [`Key::NONE`], and `None` for keys of other generations and of rows that
    /// did not fit.
    #[inline]
    pub(crate) fn row<T>(&self, key: Key<T>) -> Option<u32> {
        (self.made(key) || key == Key::NONE).then_some(key.row)
    }

    /// Returns the key of an id, or [`Key::DROPPED`] if its row did not fit.
    #[inline]
    pub(crate) fn key_of<I: Id>(&self, id: Option<I>) -> Key<I> {
        self.key(id.map(I::number))
    }

    /// Returns the id of a key, like [`row`](Self::row).
    #[inline]
    pub(crate) fn id<I: Id>(&self, key: Key<I>) -> Option<I> {
        self.row(key).map(I::from_row)
    }

    /// Returns whether this generation made the key.
    #[inline]
    pub(crate) fn made<T>(&self, key: Key<T>) -> bool {
        key.generation == self.0
    }

    /// Returns a copy of this generation. A clone would be a new one.
    #[inline]
    pub(crate) fn same(&self) -> Self {
        Self(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_knows_its_own_keys_only() {
        let (one, other) = (Generation::new(), Generation::new());
        let key: Key<()> = one.key(Some(3));
        assert_eq!(one.row(key), Some(3));
        assert_eq!(other.row(key), None);
        assert_eq!(one.clone().row(key), None);
        assert_ne!(key, other.key(Some(3)));
        assert_eq!(one.row(Key::<()>::DROPPED), None);
        assert_eq!(one.row(Key::<()>::NONE), Some(0));
        assert_eq!(size_of_val(&key), 8);
    }
}
