//! Replaces the vector instructions on processors without any.
//! The functions are never called, because [`Instructions`] has no values.

/// The absent instructions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {}

pub(super) fn instructions() -> Option<Instructions> {
    None
}

pub(super) fn read(has: Instructions, _: &[u8], _: u32, _: &mut [u32]) -> Option<usize> {
    match has {}
}

pub(super) fn most(has: Instructions, _: &[u32]) -> Option<u32> {
    match has {}
}
