//! The command line as a whole: its parser, the examples and hints below each help text, and messages about mistakes.
use crate::arguments::Arguments;
use crate::error::Failure;
use crate::examples::EXAMPLES;
use crate::output::{be_quiet, print, printed};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Command, CommandFactory, FromArgMatches};
use selvedge_hw::names;
use selvedge_sim::workload;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Address of the source tree in Cargo.toml, or an empty text.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Returns the last lines of each help text. Without an address they name the folder.
fn more(repository: &str) -> String {
    let tree = if repository.is_empty() { String::new() } else { format!(", {repository}") };
    format!(
        "Guides and reference: the folder docs of the source tree{tree}. `selvedge man -o DIR` writes manual pages."
    )
}

/// Parses the words of the command line. Without a command, `selvedge run` is meant.
///
/// # Errors
/// Returns the exit code after printing a help text, the version, or a line about a mistake.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Arguments, ExitCode> {
    let plain = Arguments::command();
    let words = with_command(words.collect(), &plain).map_err(|failure| failure.report())?;
    let color = color(&words);
    let parsed = plain.color(color).try_get_matches_from(&words);
    // Only help needs the decorated texts, whose preparation takes longer than a small simulation.
    let parsed = match parsed {
        Err(error) if is_help(error.kind()) => command().color(color).try_get_matches_from(words),
        parsed => parsed,
    };
    let arguments = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = arguments.map_err(|error| end(&error))?;
    if arguments.quiet {
        be_quiet();
    }
    Ok(arguments)
}

fn is_help(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Returns the command line with the examples and hints in all help texts.
pub fn command() -> Command {
    decorated(Arguments::command(), "selvedge")
}

/// Adds the examples of the command `path`, and moves a default at the end of an option's help to its own paragraph of the
/// long help, where clap prints defaults.
fn decorated(command: Command, path: &str) -> Command {
    let mut command = command;
    let examples = EXAMPLES.iter().find(|(of, _)| *of == path).map_or(&[][..], |(_, examples)| *examples);
    if examples.is_empty() {
        command = command.after_help(more(REPOSITORY));
    } else {
        let lines: Vec<String> =
            examples.iter().map(|(what, line)| format!("  # {what}\n  {line}\n")).collect();
        let short = format!("`{path} --help` prints more, with examples.");
        command = command.after_help(short).after_long_help(format!(
            "Examples:\n{}\n{}",
            lines.join(""),
            more(REPOSITORY)
        ));
    }
    let command = command.mut_args(|arg| {
        let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
        let long = arg.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
        let parts =
            long.split_once(" [default: ").and_then(|(text, rest)| Some((text, rest.split_once(']')?)));
        match parts {
            Some((text, (default, more))) => arg.long_help(format!("{text}{more}\n\n[default: {default}]")),
            None => arg,
        }
    });
    command.mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name());
        decorated(sub, &path)
    })
}

/// Inserts `run` if the words name no command.
///
/// # Errors
/// Fails if the first word is neither an option, a command, a workload nor a file.
fn with_command(mut words: Vec<OsString>, root: &Command) -> Result<Vec<OsString>, Failure> {
    let mut at = 1;
    let first = loop {
        match words.get(at).map(|word| word.to_string_lossy()) {
            Some(word) if word == "-q" || word == "--quiet" || word.starts_with("--color=") => at += 1,
            Some(word) if word == "--color" => at += 2,
            other => break other.map(|word| word.into_owned()),
        }
    };
    let at = at.min(words.len());
    let first = first.unwrap_or_default();
    let is_command = root.get_subcommands().any(|sub| sub.get_name() == first) || first == "help";
    if is_command || ["-h", "--help", "-V", "--version"].contains(&first.as_str()) {
        return Ok(words);
    }
    let is_workload = first.is_empty()
        || first.starts_with('-')
        || first.contains(['.', '+', '/'])
        || workload::find(&first).is_ok();
    if !is_workload {
        return Err(unknown(&first, root));
    }
    words.insert(at, "run".into());
    Ok(words)
}

/// Returns the failure for a first word that is neither a command nor a workload.
fn unknown(word: &str, root: &Command) -> Failure {
    let mut known = vec!["--version".to_owned(), "--help".to_owned()];
    for command in root.get_subcommands() {
        known.push(command.get_name().into());
        known.extend(
            command.get_subcommands().map(|sub| format!("{} {}", command.get_name(), sub.get_name())),
        );
    }
    let known = known.iter().map(String::as_str);
    let near = names::nearest(word, known.chain(workload::all().iter().map(|one| one.name())));
    let near: Vec<String> = near.iter().map(|name| format!("`selvedge {name}`")).collect();
    let near = if near.is_empty() { String::new() } else { format!("nearest {}; ", near.join(", ")) };
    Failure::usage(format!(
        "unknown command or workload '{word}': {near}`selvedge --help` prints the commands, `selvedge list workloads` the workloads"
    ))
}

/// Returns the value of `--color`, which clap needs before it parses.
fn color(words: &[OsString]) -> ColorChoice {
    let words = words.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    let mut choice = ColorChoice::Auto;
    let mut is_value = false;
    for word in words {
        let value = if is_value { Some(&*word) } else { word.strip_prefix("--color=") };
        choice = value.and_then(|value| value.parse().ok()).unwrap_or(choice);
        is_value = word == "--color";
    }
    choice
}

/// Prints clap's answer: help and version unchanged, a mistake as one line. A command that needs a subcommand prints its
/// help if none is given.
fn end(error: &clap::Error) -> ExitCode {
    let done = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => print(&error.to_string()),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printed(error.print().and_then(|()| std::io::stdout().flush()))
        }
        _ => Err(Failure::usage(mistake(error))),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// Returns the line about a mistake: clap's sentence, the values that the option accepts, and similar names if any.
fn mistake(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let (said, values) = text.split_once("[possible values: ").map_or((text, None), |(said, values)| {
        (said.trim_end(), Some(values.trim_end().trim_end_matches(']')))
    });
    let mut line = said.to_owned();
    if let Some(values) = values {
        let one_of = if values.contains(", ") { "one of " } else { "" };
        line += &format!(": must be {one_of}{values}");
    }
    let of = |kind| error.get(kind).map(in_words).unwrap_or_default();
    let wrong = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand].map(of).concat();
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand].map(of).concat();
    for word in &wrong {
        let near = names::nearest(word, similar.iter().map(String::as_str));
        if !near.is_empty() {
            line += &format!(": nearest '{}'", near.join("', '"));
        }
    }
    if line.contains("--probe <INSTANCE>") {
        line += ", one of the instances that `--list-probes` prints";
    }
    line
}

fn in_words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(one) => vec![one.clone()],
        ContextValue::Strings(all) => all.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(Into::into).collect()
    }

    /// Calls `visit` with each command and its path.
    fn each(command: &Command, path: &str, visit: &mut impl FnMut(&Command, &str)) {
        visit(command, path);
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            each(sub, &format!("{path} {}", sub.get_name()), visit);
        }
    }

    #[test]
    fn the_command_run_may_be_left_out() {
        for (given, full) in [
            ("selvedge", "selvedge run"),
            ("selvedge -q", "selvedge -q run"),
            ("selvedge bfs", "selvedge run bfs"),
            ("selvedge --color never bfs+kmeans", "selvedge --color never run bfs+kmeans"),
            ("selvedge --mechanism hw-bdi", "selvedge run --mechanism hw-bdi"),
            ("selvedge my.toml", "selvedge run my.toml"),
            ("selvedge list", "selvedge list"),
            ("selvedge --version", "selvedge --version"),
        ] {
            assert_eq!(with_command(words(given), &Arguments::command()).expect(given), words(full));
        }
        for given in ["selvedge explain l1d", "selvedge version", "selvedge nosuch"] {
            assert!(with_command(words(given), &Arguments::command()).is_err(), "{given}");
        }
    }

    #[test]
    fn the_color_is_known_before_the_words_are_parsed() {
        assert_eq!(color(&words("selvedge --color never run")), ColorChoice::Never);
        assert_eq!(color(&words("selvedge run --color=always")), ColorChoice::Always);
        assert_eq!(color(&words("selvedge cuda -- prog --color never")), ColorChoice::Auto);
    }

    #[test]
    fn help_names_the_address_of_the_source_tree_if_there_is_one() {
        assert!(more("https://example.org/x").contains("source tree, https://example.org/x. "));
        assert!(more("").contains("source tree. "));
        let help = command().render_long_help().to_string();
        assert!(help.ends_with(&format!("{}\n", more(REPOSITORY))), "{help}");
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        let mut paths = Vec::new();
        each(&command(), "selvedge", &mut |command, path| {
            paths.push(path.to_owned());
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{path}: {help}");
        });
        for (path, examples) in EXAMPLES {
            assert!(paths.iter().any(|one| one == path), "{path} is no command");
            assert!((1..=4).contains(&examples.len()), "{path}");
            for (_, line) in *examples {
                assert!(line.starts_with(path), "{line} is not an example of {path}");
                let line = line.split(" > ").next().unwrap_or_default();
                let parsed = with_command(words(line), &Arguments::command())
                    .map(|words| command().try_get_matches_from(words));
                if let Err(error) = parsed.unwrap_or_else(|_| panic!("{line}")) {
                    let only_help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
                    let shows = [only_help, ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
                    assert!(shows.contains(&error.kind()), "{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn help_states_each_default_once_and_in_one_form() {
        each(&command(), "selvedge", &mut |command, path| {
            for arg in command.get_arguments() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.contains("(default"), "{path}: {help}");
                assert!(!help.ends_with('.'), "{path}: {help}");
            }
        });
    }
}
