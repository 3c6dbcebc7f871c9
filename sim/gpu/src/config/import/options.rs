//! Parser for the options of a GPGPU-Sim file.

/// An option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opt {
    /// Name of the file.
    pub file: String,
    /// Position of the file in reading order, from 0.
    pub order: usize,
    /// Line number, from 1.
    pub line: usize,
    /// Name of the option, including its dash.
    pub name: String,
    /// Value: the words joined by spaces, without quotation marks.
    pub value: String,
}

/// Syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `-name value`, with comments that begin with `#`.
    Simulator,
    /// `name = value;`, with comments that begin with `//`.
    Interconnect,
}

/// Returns all options of `text`, which is file number `order`. Any text can be parsed: words before the first option become an
/// option without a counterpart.
pub fn parse(order: usize, file: &str, text: &str, syntax: Syntax) -> Vec<Opt> {
    match syntax {
        Syntax::Simulator => parse_simulator(order, file, text),
        Syntax::Interconnect => parse_interconnect(order, file, text),
    }
}

/// Returns whether a word is the name of a GPGPU-Sim option.
pub fn is_name(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn parse_simulator(order: usize, file: &str, text: &str) -> Vec<Opt> {
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
                    order,
                    line: number + 1,
                    name: word.into(),
                    value: String::new(),
                }),
            }
        }
    }
    options
}

/// Returns whether a list continues after a line break, so that the next word is appended without a space.
fn in_continued_list(value: &str) -> bool {
    value.ends_with([':', ';', ','])
}

fn parse_interconnect(order: usize, file: &str, text: &str) -> Vec<Opt> {
    let mut options = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for statement in line.split(';').filter(|s| !s.trim().is_empty()) {
            let (name, value) = statement.split_once('=').unwrap_or((statement, ""));
            options.push(Opt {
                file: file.into(),
                order,
                line: number + 1,
                name: name.trim().into(),
                value: value.trim().into(),
            });
        }
    }
    options
}
