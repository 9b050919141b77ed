//! Rarely used fields, boxed to keep the common case small.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A boxed `T` that is allocated only when something is written into it.
///
/// A payload may hold millions of empty messages of two bytes each, which must not take the memory of full ones.
/// Mutable access allocates, so passes that may have nothing to write use [`get_mut`](Self::get_mut).
#[derive(Clone)]
pub struct Thin<T>(Option<Box<T>>);

/// The value that an unallocated [`Thin`] dereferences to.
pub trait Blank: Default + 'static {
    /// A value that equals the default.
    const BLANK: &'static Self;
}

impl<T: 'static> Blank for Vec<T> {
    const BLANK: &'static Self = &Self::new();
}

impl<T> Thin<T> {
    /// An unallocated value, which dereferences to [`Blank::BLANK`].
    pub(crate) const NONE: Self = Self(None);

    /// Returns the value, if it is allocated.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Blank> Deref for Thin<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::BLANK)
    }
}

impl<T: Blank> DerefMut for Thin<T> {
    /// Allocates the value if necessary.
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Blank + PartialEq> From<T> for Thin<T> {
    /// Does not allocate a blank value.
    fn from(parts: T) -> Self {
        Self((parts != *T::BLANK).then(|| Box::new(parts)))
    }
}

impl<'a, T: 'static> IntoIterator for &'a Thin<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Default for Thin<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: Blank + PartialEq> PartialEq for Thin<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Blank + Eq> Eq for Thin<T> {}

impl<T: Blank + fmt::Debug> fmt::Debug for Thin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Dereferences a public struct to the parts in its [`Thin`], so that code uses them like fields.
macro_rules! thin {
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
pub(crate) use thin;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_what_is_blank() {
        let mut thin = Thin::<Vec<u32>>::default();
        assert_eq!(size_of_val(&thin), size_of::<usize>());
        assert!(thin.is_empty() && thin.get_mut().is_none());
        assert!(Thin::from(Vec::<u32>::new()).get_mut().is_none());
        thin.push(7);
        assert_eq!(thin, Thin::from(vec![7]));
        assert_eq!(thin.get_mut(), Some(&mut vec![7]));
    }
}
