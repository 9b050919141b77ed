//! Parts that most things lack, behind one word.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A `T` behind one word, which takes nothing else until something is written into it.
///
/// A payload may hold millions of messages with nothing in them, of two bytes each; none may cost
/// what a full one does. Writing through it allocates, so passes over all of them that may have
/// nothing to write go by [`get_mut`](Self::get_mut).
#[derive(Clone)]
pub struct Thin<T>(Option<Box<T>>);

/// What a [`Thin`] shows of a `T` that it does not hold.
pub trait Blank: Default + 'static {
    /// Equal to the default.
    const BLANK: &'static Self;
}

impl<T: 'static> Blank for Vec<T> {
    const BLANK: &'static Self = &Self::new();
}

impl<T> Thin<T> {
    /// Nothing: shown as [`Blank::BLANK`].
    pub(crate) const NONE: Self = Self(None);

    /// What it holds, if it was written into.
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
    /// Makes it hold something, if only a blank one.
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Blank + PartialEq> From<T> for Thin<T> {
    /// What is blank is not kept.
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

/// Lets a public struct that is a [`Thin`] of its parts be used as if it had them as fields.
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
            /// The parts, if anything was written into them.
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
