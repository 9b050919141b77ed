//! `otlp-profiles man`: writes the manual pages, and the reference in Markdown.
//!
//! Both derive from the declarations of the arguments. Each heading of the text after the help,
//! such as the examples, becomes a section.

use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::console::{Console, Level, Line};
use crate::exit::{Exit, Failure};
use crate::output;

/// Arguments of `man`.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Args {
    /// Write all pages to this directory, such as ~/.local/share/man/man1, instead of one page to stdout
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Print the reference of all subcommands in Markdown
    #[arg(long, conflicts_with = "directory")]
    markdown: bool,
}

/// Writes the pages and logs their number.
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

/// Writes the pages and returns their number. `help` gets no page.
///
/// Calls `build` first, because clap builds subcommands on request only. Replaces existing pages,
/// so that a package can be rebuilt.
fn write(args: &Args) -> Result<usize, Failure> {
    let mut root = crate::Cli::command().disable_help_subcommand(true);
    root.build();
    if args.markdown {
        output::text_to_stdout(&markdown(&root))?;
        return Ok(1);
    }
    let Some(directory) = &args.directory else {
        output::to_stdout(&page(&root, &root)?, true)?;
        return Ok(1);
    };
    let mut files = Vec::new();
    for command in root.get_subcommands().chain([&root]) {
        let name = Man::new(command.clone()).get_filename();
        files.push((directory.join(name), page(command, &root)?));
    }
    output::make_directory(directory)?;
    output::to_files(&files, None, true, output::Sync::Now)?;
    Ok(files.len())
}

/// Renders a page in roff. `root` has the sections that all commands share: exit status and
/// environment.
fn page(command: &Command, root: &Command) -> Result<Vec<u8>, Failure> {
    render(command, root).map_err(|error| {
        Failure::new(Exit::Output, format!("the manual page cannot be rendered: {error}"))
    })
}

fn render(command: &Command, root: &Command) -> std::io::Result<Vec<u8>> {
    let version = concat!("otlp-profiles ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version);
    let (mut page, mut options) = (Vec::new(), Vec::new());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    Roff::new().control("SH", ["SYNOPSIS"]).text([roman(usage(command))]).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    man.render_options_section(&mut options)?;
    // clap_mangen makes a section of each heading. Turn them into subsections.
    let options = String::from_utf8_lossy(&options).replace("\n.SH ", "\n.SS ");
    page.extend(options.replacen("\n.SS OPTIONS\n", "\n.SH OPTIONS\n", 1).into_bytes());
    let mut rest = Roff::new();
    let shared = sections(root).into_iter().filter(|(heading, _)| *heading != EXAMPLES);
    let examples = sections(command).into_iter().filter(|(heading, _)| *heading == EXAMPLES);
    for (heading, lines) in shared.chain(examples) {
        rest.control("SH", [heading.to_uppercase().as_str()]).control("nf", []);
        for line in lines.lines() {
            rest.text([roman(line)]);
        }
        rest.control("fi", []);
    }
    let names =
        root.get_subcommands().map(|command| format!("otlp-profiles-{}(1)", command.get_name()));
    let pages: Vec<_> = std::iter::once("otlp-profiles(1)".to_owned()).chain(names).collect();
    let see = format!("{}, {}", pages.join(", "), env!("CARGO_PKG_REPOSITORY"));
    rest.control("SH", ["SEE ALSO"]).text([roman(see)]).to_writer(&mut page)?;
    Ok(page)
}

/// The usage line: `otlp-profiles convert [OPTIONS] <IN>...`
fn usage(command: &Command) -> String {
    command.clone().render_usage().to_string().replace("Usage: ", "")
}

const EXAMPLES: &str = "Examples";

/// Splits the text after the help into headings and their indented lines.
fn sections(command: &Command) -> Vec<(String, String)> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let parts = text.split("\n\n").filter_map(|part| part.split_once(":\n"));
    parts.map(|(heading, lines)| (heading.to_owned(), lines.to_owned())).collect()
}

/// Formats the reference of all commands, with options grouped by heading.
fn markdown(root: &Command) -> String {
    let about =
        "# Reference of the command\n\n<!-- otlp-profiles man --markdown writes this page. -->\n";
    let commands = std::iter::once(root).chain(root.get_subcommands());
    let convert = root.find_subcommand("convert");
    commands.fold(about.to_owned(), |text, command| {
        // Subcommands that share the options of `convert` list only their own.
        let is_like = command.get_name() != "convert" && has(command, "deny_loss");
        text + &reference(command, convert.filter(|_| is_like))
    })
}

/// Whether a command has an argument with this id.
fn has(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == id)
}

/// Formats the section of a command, without the options that it shares with `like`.
fn reference(command: &Command, like: Option<&Command>) -> String {
    let usage = usage(command);
    let name = command.get_bin_name().unwrap_or("otlp-profiles");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("\n## {name}\n\n{about}.\n\n```text\n{usage}\n```\n");
    let mut groups: Vec<(&str, String)> = Vec::new();
    let is_own = |arg: &&Arg| like.is_none_or(|like| !has(like, arg.get_id().as_str()));
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()).filter(is_own) {
        let heading = arg.get_help_heading().unwrap_or("Options");
        match groups.iter_mut().find(|(of, _)| *of == heading) {
            Some((_, list)) => list.push_str(&item(arg)),
            None => groups.push((heading, item(arg))),
        }
    }
    for (heading, list) in groups {
        text += &format!("\n### {heading}\n\n{list}");
    }
    if like.is_some() {
        text += "\nReads, writes and reports as [`convert`](#otlp-profiles-convert) does, and takes its options.\n";
    }
    for (heading, lines) in sections(command) {
        text += &format!("\n### {heading}\n\n```text\n{}\n```\n", lines.trim_end());
    }
    text
}

/// Formats an option: `* `-o, --output <OUT>`: help, with values and default`
fn item(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut item = format!("* `{short}{arg}`: {help}");
    let takes_values = arg.get_action().takes_values();
    let values = arg.get_possible_values();
    if takes_values && !arg.is_hide_possible_values_set() && !values.is_empty() {
        let names: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
        item += &format!("; one of {}", names.join(", "));
    }
    if let [default] = arg.get_default_values()
        && takes_values
    {
        item += &format!(" [default: {}]", default.to_string_lossy());
    }
    item + "\n"
}
