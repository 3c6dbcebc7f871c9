//! `selvedge completions` and `selvedge man`: completions for shells, and manual pages.
use crate::command_line::command;
use crate::error::Failure;
use crate::output::{print, write_files};
use clap::Command;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Name of the command on a command line.
const NAME: &str = "selvedge";

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    generate(shell, &mut command(), NAME, &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Writes a manual page for the program and each of its commands.
pub fn man(folder: &Path) -> Result<(), Failure> {
    let mut root = command();
    root.build();
    let commands = root.get_subcommands().filter(|command| command.get_name() != "help");
    let pages = commands.map(|command| (format!("{NAME}-{}", command.get_name()), command.clone()));
    let pages: Vec<(String, Command)> = [(NAME.to_string(), root.clone())].into_iter().chain(pages).collect();
    let files: Vec<(PathBuf, String)> =
        pages.into_iter().map(|(name, command)| page(folder, &name, command)).collect::<Result<_, _>>()?;
    write_files(&files)
}

fn page(folder: &Path, name: &str, command: Command) -> Result<(PathBuf, String), Failure> {
    let mut text = Vec::new();
    let man = Man::new(command).title(name.to_uppercase()).section("1");
    man.render(&mut text)
        .map_err(|e| Failure::simulation(format!("the page of {name} cannot be written: {e}")))?;
    Ok((folder.join(format!("{name}.1")), String::from_utf8_lossy(&text).into_owned()))
}
