//! Measures the size of a profile in each form.

use otlp_profiles::compression::{Level, deflate, zstd};
use otlp_profiles::format::Layout;
use otlp_profiles::model::ProfileId;
use otlp_profiles::proto::pprof::Profile;
use otlp_profiles::proto::prost::Message as _;
use otlp_profiles::{Format, Limits, Profiles, ReadOptions, WriteOptions};

use crate::alloc::cost;
use crate::inputs::{Input, same_information};
use crate::objects::{self, Shape, objects};
use crate::otep::{self, Form};
use crate::{contrib, go};

pub const LAYOUTS: [(&str, Layout); 3] =
    [("default", Layout::Default), ("keep", Layout::Keep), ("compact", Layout::Compact)];

/// Size raw, with gzip at level 6 and 9, and with zstd at its default level.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub raw: usize,
    pub gzip: usize,
    pub best: usize,
    pub zstd: usize,
}

pub fn size(bytes: &[u8]) -> Size {
    let gzip = |level| deflate(bytes, level).len();
    let zstd = zstd(bytes, Level::new(3).expect("a level")).len();
    Size { raw: bytes.len(), gzip: gzip(Level::DEFAULT), best: gzip(Level::BEST), zstd }
}

fn options(format: Format) -> ReadOptions {
    ReadOptions::default().limits(Limits::file()).format(format)
}

pub fn read(bytes: &[u8], format: Format) -> Profiles {
    otlp_profiles::read(bytes, &options(format)).expect("readable").profiles
}

pub fn write(
    profiles: &Profiles,
    format: Format,
    layout: Layout,
    id: Option<ProfileId>,
) -> Vec<u8> {
    let options = WriteOptions::default().max_output_bytes(u64::MAX).layout(layout).profile_id(id);
    otlp_profiles::write(profiles, format, &options).expect("writable").payload
}

/// One profile in one form, with all measurements.
pub struct Row {
    pub name: String,
    pub size: Size,
    /// Go's compressor at level 6.
    pub go: usize,
    pub objects: usize,
    /// Allocations of this library when reading it.
    pub allocations: Option<u64>,
}

fn row(name: String, bytes: &[u8], shape: &Shape, format: Option<Format>) -> Row {
    let allocations = format.map(|format| cost(|| read(bytes, format)).1.count);
    let (size, go) = (size(bytes), go::gzip_len(bytes));
    Row { name, size, go, objects: objects(bytes, shape), allocations }
}

/// The forms of the OTEP's table.
pub fn of_the_otep(profile: &Profile) -> Vec<Row> {
    let shapes = [
        &objects::OTEP_PPROF,
        &objects::OTEP_DENORMALIZED,
        &objects::OTEP_NORMALIZED,
        &objects::OTEP_ARRAYS,
        &objects::OTEP_EXTENDED,
    ];
    let rows = Form::ALL.into_iter().zip(shapes).map(|(form, shape)| {
        row(format!("OTEP {}", form.name()), &otep::payload(profile, form), shape, None)
    });
    rows.collect()
}

/// All forms.
pub fn all_forms(bytes: &[u8], profile: &Profile) -> Vec<Row> {
    let mut rows = vec![row("the pprof".to_owned(), bytes, &objects::PPROF, Some(Format::PPROF))];
    rows.extend(of_the_otep(profile));
    rows.push(row(
        "contrib-style".to_owned(),
        &contrib::payload(profile),
        &objects::OTLP_1_10,
        None,
    ));
    let model = read(bytes, Format::PPROF);
    for (format, shape) in
        [(Format::OTLP_1_3, &objects::OTLP_1_3), (Format::OTLP_1_10, &objects::OTLP_1_10)]
    {
        for (name, layout) in LAYOUTS {
            let bytes = write(&model, format, layout, None);
            rows.push(row(format!("{format} {name}"), &bytes, shape, Some(format)));
        }
    }
    rows
}

/// A recorded profile in the compared forms.
pub struct Compared {
    pub name: String,
    pub pprof: Size,
    pub otep: Size,
    pub contrib: Size,
    /// By layout: OTLP 1.3 with the information that the OTEP keeps, OTLP 1.3 with everything, and OTLP 1.10.
    pub same: [Size; 3],
    pub full: [Size; 3],
    pub newest: [Size; 3],
}

pub fn compared(input: &Input) -> Compared {
    let full = read(&input.bytes, Format::PPROF);
    let same = read(&same_information(&input.profile).encode_to_vec(), Format::PPROF);
    let by_layout = |model: &Profiles, format, id: Option<ProfileId>| {
        LAYOUTS.map(|(_, layout)| size(&write(model, format, layout, id)))
    };
    // The same information has the same id.
    let id = ProfileId(otep::ID);
    Compared {
        name: input.name.clone(),
        pprof: size(&input.bytes),
        otep: size(&otep::payload(&input.profile, Form::PprofExtended)),
        contrib: size(&contrib::payload(&input.profile)),
        same: by_layout(&same, Format::OTLP_1_3, Some(id)),
        full: by_layout(&full, Format::OTLP_1_3, None),
        newest: by_layout(&full, Format::OTLP_1_10, None),
    }
}
