//! Samples outside memory: a temporary file with the samples of each profile, which are read back in the order of
//! the tables.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::error::{Error, Result};
use crate::model::ragged::Ragged;
use crate::model::{AttributeId, LinkId};
use crate::wire::read::Reader;
use crate::wire::write::varint;

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;

/// A temporary file of chunks.
pub(super) struct Spill<S> {
    file: S,
    /// The length of the file without the buffer.
    written: u64,
    /// Bytes that are not yet written.
    buffer: Vec<u8>,
}

/// The place of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    start: u64,
    len: usize,
}

impl Chunk {
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<S: Read + Write + Seek> Spill<S> {
    pub(super) fn new(file: S) -> Self {
        Self { file, written: 0, buffer: Vec::new() }
    }

    /// Appends a chunk, which `fill` adds to the buffer.
    pub(super) fn put(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Chunk> {
        let before = self.buffer.len();
        fill(&mut self.buffer);
        let chunk = Chunk { start: self.written + before as u64, len: self.buffer.len() - before };
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(chunk)
    }

    /// Writes the buffer to the file.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer).map_err(failed)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Reads a chunk of a flushed file.
    pub(super) fn get(&mut self, chunk: Chunk) -> Result<&[u8]> {
        self.buffer.resize(chunk.len, 0);
        self.file.seek(SeekFrom::Start(chunk.start)).map_err(failed)?;
        self.file.read_exact(&mut self.buffer).map_err(failed)?;
        Ok(&self.buffer)
    }
}

fn failed(error: io::Error) -> Error {
    Error::io("the temporary file of the samples cannot be used", error)
}

/// The samples of a profile, by column. Stacks are rows of the segment.
#[derive(Debug, Default)]
pub(super) struct Spilled {
    pub(super) stacks: Vec<u32>,
    pub(super) links: Vec<LinkId>,
    pub(super) attributes: Ragged<AttributeId>,
    pub(super) values: Ragged<i64>,
    pub(super) timestamps: Ragged<u64>,
}

impl Spilled {
    /// Encodes one sample.
    pub(super) fn encode(
        bytes: &mut Vec<u8>,
        (stack, link): (u32, LinkId),
        attributes: impl ExactSizeIterator<Item = AttributeId>,
        values: &[i64],
        timestamps: &[u64],
    ) {
        let mut put = |number: u64| varint(bytes, number);
        put(stack.into());
        put(link.0.into());
        put(attributes.len() as u64);
        attributes.for_each(|id| put(id.0.into()));
        put(values.len() as u64);
        values.iter().for_each(|value| put((value << 1 ^ value >> 63) as u64));
        put(timestamps.len() as u64);
        let mut last = 0;
        for time in timestamps {
            put(time.wrapping_sub(last));
            last = *time;
        }
    }

    /// Decodes the samples of a profile.
    ///
    /// # Errors
    ///
    /// The temporary file was truncated.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<()> {
        let Self { stacks, links, attributes, values, timestamps } = self;
        stacks.clear();
        links.clear();
        attributes.clear();
        values.clear();
        timestamps.clear();
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            stacks.push(reader.varint()? as u32);
            links.push(LinkId(reader.varint()? as u32));
            for _ in 0..reader.varint()? {
                attributes.items.push(AttributeId(reader.varint()? as u32));
            }
            attributes.end_row();
            for _ in 0..reader.varint()? {
                let number = reader.varint()?;
                values.items.push((number >> 1) as i64 ^ -((number & 1) as i64));
            }
            values.end_row();
            let mut last = 0_u64;
            for _ in 0..reader.varint()? {
                last = last.wrapping_add(reader.varint()?);
                timestamps.items.push(last);
            }
            timestamps.end_row();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn samples_are_the_same_after_a_round_trip() {
        let mut spill = Spill::new(Cursor::new(Vec::new()));
        let attributes = [AttributeId(1), AttributeId(300)];
        let (values, times) = ([i64::MIN, -1, 0, i64::MAX], [5, 7, 6, u64::MAX]);
        let mut put = |rows: u32| {
            spill.put(|bytes| {
                for row in 0..rows {
                    let attributes = attributes.iter().copied();
                    Spilled::encode(bytes, (row, LinkId(9)), attributes, &values, &times);
                }
            })
        };
        let chunks = [put(3).unwrap(), put(0).unwrap(), put(40_000).unwrap(), put(1).unwrap()];
        spill.flush().unwrap();
        let mut samples = Spilled::default();
        for (chunk, rows) in chunks.into_iter().zip([3, 0, 40_000, 1]) {
            samples.decode(spill.get(chunk).unwrap()).unwrap();
            assert_eq!(samples.stacks, (0..rows).collect::<Vec<_>>());
            for row in 0..rows as usize {
                assert_eq!(samples.links[row], LinkId(9));
                assert_eq!(samples.attributes.row(row), attributes);
                assert_eq!(samples.values.row(row), values);
                assert_eq!(samples.timestamps.row(row), times);
            }
        }
    }
}
