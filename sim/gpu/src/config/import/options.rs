//! The options of a GPGPU-Sim file, with their lines.

/// One option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    /// The file's name.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// The option's name, its dash included.
    pub name: String,
    /// Its value: words joined by a space, without quotation marks.
    pub value: String,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `-name value`, comments from `#` on.
    Simulator,
    /// `name = value;`, comments from `//` on.
    Interconnect,
}

/// Every option of `text`, in order. Whatever the text is, it can be read: words before the first option are an option
/// of their own, which has no counterpart.
pub fn parse(file: &str, text: &str, syntax: Syntax) -> Vec<Opt> {
    match syntax {
        Syntax::Simulator => parse_simulator(file, text),
        Syntax::Interconnect => parse_interconnect(file, text),
    }
}

/// Returns whether a word is the name of an option of the simulator.
pub fn is_name(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn parse_simulator(file: &str, text: &str) -> Vec<Opt> {
    let mut options: Vec<Opt> = Vec::new();
    let mut in_quotes = false;
    for (number, line) in text.lines().enumerate() {
        let line = if in_quotes { line } else { line.split('#').next().unwrap_or_default() };
        for word in line.split_whitespace() {
            let is_name = !in_quotes && is_name(word);
            in_quotes ^= word.matches('"').count() % 2 == 1;
            match options.last_mut() {
                Some(option) if !is_name => {
                    let joined = option.value.is_empty() || in_continued_list(&option.value);
                    option.value += if joined { "" } else { " " };
                    option.value += &word.replace('"', "");
                }
                _ => options.push(Opt {
                    file: file.into(),
                    line: number + 1,
                    name: word.into(),
                    value: String::new(),
                }),
            }
        }
    }
    options
}

/// A list that was broken after a separator goes on without a space.
fn in_continued_list(value: &str) -> bool {
    value.ends_with([':', ';', ','])
}

fn parse_interconnect(file: &str, text: &str) -> Vec<Opt> {
    let mut options = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for statement in line.split(';').filter(|s| !s.trim().is_empty()) {
            let (name, value) = statement.split_once('=').unwrap_or((statement, ""));
            options.push(Opt {
                file: file.into(),
                line: number + 1,
                name: name.trim().into(),
                value: value.trim().into(),
            });
        }
    }
    options
}
