//! Tips for words and options of other tools, and for file names where a subcommand is expected.

use std::path::Path;

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use otlp_profiles::Format;

use crate::input::quoted;

/// Subcommands and options of other tools, with what does the same here.
const WORDS: [(&str, &str); 17] = [
    (
        "list",
        "'top --peek NAME' shows the callers and callees of a function, 'top --by line' its lines",
    ),
    (
        "tags",
        "'info --full' and 'split --by attribute' work on attributes, 'top --by attribute:KEY' shows one",
    ),
    (
        "flamegraph",
        "'view FILE -o page.html' writes a page with a flame graph, 'view FILE --flame' prints one",
    ),
    (
        "flame",
        "'view FILE -o page.html' writes a page with a flame graph, 'view FILE --flame' prints one",
    ),
    ("web", "'view FILE -o page.html' writes a page"),
    ("svg", "'view FILE -o picture.svg' writes a picture"),
    ("tree", "'top --tree' shows callers and callees"),
    ("traces", "'top --traces' shows every stack"),
    ("peek", "'top --peek NAME' shows the callers and callees of a function"),
    ("compare", "'diff BEFORE AFTER' compares profiles"),
    ("raw", "'convert FILE --to otlp-json' writes everything as text"),
    ("proto", "'convert FILE --to pprof' writes pprof"),
    ("show", "'info FILE' shows what a file contains, 'top FILE' where the time goes"),
    ("check", "'validate FILE' checks a file"),
    ("lint", "'validate FILE' checks a file"),
    ("--sort", "'top --cum' sorts by cumulative value; the default is by own value"),
    ("--diff_base", "'diff BASE FILE' compares profiles"),
];

/// Replaces the suggestions of clap, which go by spelling, where the word is known from another tool or is the name of
/// a file.
pub(crate) fn improve(error: &mut Error) {
    let (kind, suggested) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand)
        }
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        _ => return,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return };
    let Some(tip) = tip(word) else { return };
    error.remove(suggested);
    // The usage has the suggested option.
    error.remove(ContextKind::Usage);
    // clap suggests `-- --sort` for options.
    error.remove(ContextKind::Suggested);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
}

fn tip(word: &str) -> Option<String> {
    let is_word = |known: &&(&str, &str)| known.0 == word.split(['=', ' ']).next().unwrap_or(word);
    if let Some((_, tip)) = WORDS.iter().find(is_word) {
        return Some((*tip).to_owned());
    }
    let path = Path::new(word);
    let is_file = path.exists() || Format::of_path(path).is_some();
    let name = quoted(word);
    (is_file && !word.starts_with('-')).then(|| {
        format!(
            "a subcommand comes first: 'info {name}' shows what it is, 'top {name}' where the time goes, 'view {name} -o page.html' a flame graph; 'convert {name} -o OUT' writes another format"
        )
    })
}
