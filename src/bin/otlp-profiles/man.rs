//! `otlp-profiles man`: the manual pages.
//!
//! The command's own page goes to stdout, or one for each subcommand to a directory, as packagers
//! want them; both are made from the declarations of the arguments.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::output;

/// Where to.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory to write all pages to, such as ~/.local/share/man/man1; without it the page of
    /// the command itself goes to stdout
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Writes the pages.
pub(crate) fn run(args: &Args, console: &Console) -> Exit {
    match write(args) {
        Ok(pages) => {
            console
                .log(&Line::new(Level::Info, "man", "Pages written").count("pages", pages as u64));
            Exit::Done
        }
        Err(failure) => {
            let line = Line::new(Level::Critical, "man", "Writing of pages failed");
            console.log(&line.because(&failure));
            failure.exit
        }
    }
}

/// Gives how many pages were written. clap builds the subcommands only when told to, so `build`
/// comes first; the page of `help`, which has nothing of its own, is left out.
///
/// Pages that exist are replaced: a package is built again over the last one.
fn write(args: &Args) -> Result<usize, Failure> {
    let mut command = crate::Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(directory) = &args.directory else {
        output::to_stdout(&page(&Man::new(command))?, true)?;
        return Ok(1);
    };
    let mut files = Vec::new();
    for command in command.get_subcommands().chain([&command]) {
        let source = concat!("otlp-profiles ", env!("CARGO_PKG_VERSION"));
        let man = Man::new(command.clone()).source(source);
        files.push((directory.join(man.get_filename()), page(&man)?));
    }
    output::make_directory(directory)?;
    output::to_files(&files, None, true, output::Sync::Now)?;
    Ok(files.len())
}

/// roff, as `man` formats it.
fn page(man: &Man) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    match man.render(&mut page) {
        Ok(()) => Ok(page),
        Err(error) => Err(Failure::new(Exit::Output, format!("a page cannot be made: {error}"))),
    }
}
