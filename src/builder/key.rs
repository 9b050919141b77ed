//! Keys: row numbers that know which builder, and which of its generations, they belong to.

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
/// // The next generation: the profile is still declared, the location is forgotten.
/// builder.sample(cpu, leaf_first([serve])).value(1);
/// assert_eq!(builder.dropped().samples, 1);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub struct Key<T> {
    row: u32,
    /// The generation it was made in; 0 for the two keys that belong to none.
    generation: u32,
    /// Of what: a key owns no `T`, so it is `Send` and `Copy` whatever that is.
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

    /// Stands for what did not fit: whatever refers to it does not fit either.
    const DROPPED: Self = Self { row: u32::MAX, generation: 0, of: PhantomData };

    /// The number of its row, whosever it is.
    #[inline(always)]
    pub(crate) fn row_number(self) -> u32 {
        self.row
    }
}

// Not derived, because `T` need not be any of these.
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

/// A generation of a builder: makes keys, and knows its own. No two have the same number.
#[derive(Debug)]
pub(crate) struct Generation(u32);

/// A cloned builder goes its own way, so it is another generation.
impl Clone for Generation {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Generation {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // 0 belongs to no generation. The counter begins again after 2^32 generations.
        Self(NEXT.fetch_add(1, Ordering::Relaxed).max(1))
    }

    /// The key of a row; of none when the row did not fit.
    #[inline]
    pub(crate) fn key<T>(&self, row: Option<u32>) -> Key<T> {
        match row {
            None => Key::DROPPED,
            Some(0) => Key::NONE,
            Some(row) => Key { row, generation: self.0, of: PhantomData },
        }
    }

    /// The row of a key: row 0 of [`Key::NONE`], `None` of a key from elsewhere and of what did not
    /// fit.
    #[inline]
    pub(crate) fn row<T>(&self, key: Key<T>) -> Option<u32> {
        (self.made(key) || key == Key::NONE).then_some(key.row)
    }

    /// The key of an id; of none when its row did not fit.
    #[inline]
    pub(crate) fn key_of<I: Id>(&self, id: Option<I>) -> Key<I> {
        self.key(id.map(I::number))
    }

    /// The id of a key, as [`row`](Self::row).
    #[inline]
    pub(crate) fn id<I: Id>(&self, key: Key<I>) -> Option<I> {
        self.row(key).map(I::from_row)
    }

    /// Whether it made the key.
    #[inline(always)]
    pub(crate) fn made<T>(&self, key: Key<T>) -> bool {
        key.generation == self.0
    }

    /// The same generation, which a clone is not.
    #[inline(always)]
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
