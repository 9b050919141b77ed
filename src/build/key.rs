//! Ids that know their builder while debugging.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::build::index::Number;

/// What a [`Builder`](crate::Builder) calls one of its rows: `Key<LocationId>` is a location,
/// `Key<Profile>` a profile being built.
///
/// A key is four bytes and means something to the builder it came from, until that builder is
/// reset. Debug builds give it the name of its builder and panic where it is used elsewhere; in
/// release builds a foreign key is some row of its table or, past the end, none.
///
/// ```
/// use otlp_profiles::model::{LocationId};
/// use otlp_profiles::{Builder, build::Key};
///
/// let mut builder = Builder::new();
/// let serve = builder.frame("serve", "src/main.rs", 7);
/// assert_eq!(serve, builder.frame("serve", "src/main.rs", 7));
/// assert_ne!(serve, Key::<LocationId>::NONE);
/// ```
pub struct Key<T> {
    row: u32,
    #[cfg(debug_assertions)]
    owner: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// None.
    pub const NONE: Self = Self::unowned(0);

    /// What did not fit any more: whatever is made of it does not fit either.
    const DROPPED: Self = Self::unowned(u32::MAX);

    const fn unowned(row: u32) -> Self {
        Self {
            row,
            #[cfg(debug_assertions)]
            owner: 0,
            of: PhantomData,
        }
    }
}

impl<T> Number for Key<T> {
    #[inline]
    fn number(self) -> u32 {
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
        self.row == other.row
    }
}
impl<T> Eq for Key<T> {}
impl<T> Hash for Key<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.row.hash(state);
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

/// The name of a builder, in debug builds.
#[derive(Clone, Debug)]
pub(crate) struct Brand {
    #[cfg(debug_assertions)]
    owner: u32,
}

impl Brand {
    /// A name no other builder has.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(debug_assertions)]
            owner: {
                use std::sync::atomic::{AtomicU32, Ordering};
                static NEXT: AtomicU32 = AtomicU32::new(1);
                NEXT.fetch_add(1, Ordering::Relaxed)
            },
        }
    }

    /// The key of a row; of none when the row did not fit.
    #[inline]
    pub(crate) fn key<T>(&self, row: Option<u32>) -> Key<T> {
        match row {
            None => Key::DROPPED,
            Some(0) => Key::NONE,
            Some(row) => Key {
                row,
                #[cfg(debug_assertions)]
                owner: self.owner,
                of: PhantomData,
            },
        }
    }

    /// Panics, while debugging, at a key of another builder.
    #[inline]
    pub(crate) fn check<T>(&self, _keys: &[Key<T>]) {
        #[cfg(debug_assertions)]
        for key in _keys {
            assert!(
                key.owner == self.owner || *key == Key::NONE || *key == Key::DROPPED,
                "a key of another builder, or from before a reset: {key:?}"
            );
        }
    }

    /// Whether all keys are rows, other than row 0, of a table of `rows`.
    #[inline]
    pub(crate) fn all_rows<T>(&self, keys: &[Key<T>], rows: usize) -> bool {
        // Without a branch per key: row 0 becomes the largest number.
        let last = rows as u32 - 1;
        !keys.iter().fold(false, |any, key| any | (key.row.wrapping_sub(1) >= last))
    }

    /// The row of a key in a table of `rows`: row 0 when it is not one of them, `None` when what
    /// it was to name did not fit.
    #[inline]
    pub(crate) fn row<T>(&self, key: Key<T>, rows: usize) -> Option<u32> {
        self.check(&[key]);
        match key.row {
            row if (row as usize) < rows => Some(row),
            u32::MAX => None,
            _ => Some(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_past_the_end_is_none() {
        let brand = Brand::new();
        let key: Key<()> = brand.key(Some(3));
        assert_eq!(brand.row(key, 4), Some(3));
        assert_eq!(brand.row(key, 3), Some(0));
        assert_eq!(brand.row(Key::<()>::DROPPED, 3), None);
        assert_eq!(brand.row(Key::<()>::NONE, 3), Some(0));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "another builder")]
    fn a_foreign_key_is_caught() {
        let key: Key<()> = Brand::new().key(Some(1));
        Brand::new().row(key, 4);
    }
}
