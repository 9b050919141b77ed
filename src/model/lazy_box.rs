//! Rarely used fields, boxed to keep the common case small.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A boxed `T` that is allocated only when something is written into it.
///
/// A payload may hold millions of empty messages of two bytes each, which must not take the memory of full ones.
/// Mutable access allocates, so passes that may have nothing to write use [`get_mut`](Self::get_mut).
#[derive(Clone)]
pub struct LazyBox<T>(Option<Box<T>>);

/// The value that an unallocated [`LazyBox`] dereferences to.
pub trait EmptyDefault: Default + 'static {
    /// A value that equals the default.
    const EMPTY: &'static Self;
}

impl<T: 'static> EmptyDefault for Vec<T> {
    const EMPTY: &'static Self = &Self::new();
}

impl<T> LazyBox<T> {
    /// An unallocated value, which dereferences to [`EmptyDefault::EMPTY`].
    pub(crate) const NONE: Self = Self(None);

    /// Returns the value, if it is allocated.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: EmptyDefault> Deref for LazyBox<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: EmptyDefault> DerefMut for LazyBox<T> {
    /// Allocates the value if necessary.
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: EmptyDefault + PartialEq> From<T> for LazyBox<T> {
    /// Does not allocate a blank value.
    fn from(parts: T) -> Self {
        Self((parts != *T::EMPTY).then(|| Box::new(parts)))
    }
}

impl<'a, T: 'static> IntoIterator for &'a LazyBox<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Default for LazyBox<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: EmptyDefault + PartialEq> PartialEq for LazyBox<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: EmptyDefault + Eq> Eq for LazyBox<T> {}

impl<T: EmptyDefault + fmt::Debug> fmt::Debug for LazyBox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Dereferences a public struct to the parts in its [`LazyBox`], so that code uses them like fields.
macro_rules! lazy_box {
    ($($name:ident of $parts:ident;)*) => {$(
        #[doc(hidden)]
        impl std::ops::Deref for $name {
            type Target = $parts;

            #[inline]
            fn deref(&self) -> &$parts {
                &self.0
            }
        }

        #[doc(hidden)]
        impl std::ops::DerefMut for $name {
            #[inline]
            fn deref_mut(&mut self) -> &mut $parts {
                &mut self.0
            }
        }

        impl $name {
            /// Returns the parts, if they are allocated.
            pub(crate) fn parts_mut(&mut self) -> Option<&mut $parts> {
                self.0.get_mut()
            }
        }
    )*};
}
pub(crate) use lazy_box;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_what_is_blank() {
        let mut lazy_box = LazyBox::<Vec<u32>>::default();
        assert_eq!(size_of_val(&lazy_box), size_of::<usize>());
        assert!(lazy_box.is_empty() && lazy_box.get_mut().is_none());
        assert!(LazyBox::from(Vec::<u32>::new()).get_mut().is_none());
        lazy_box.push(7);
        assert_eq!(lazy_box, LazyBox::from(vec![7]));
        assert_eq!(lazy_box.get_mut(), Some(&mut vec![7]));
    }
}
