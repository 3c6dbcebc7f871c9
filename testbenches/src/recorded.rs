//! Reads a recorded stimulus: the inputs and outputs of a block instance in a waveform, clock by clock.
//!
//! The value of a port in a clock is its value just before the next rising edge of `clk_i`, as a register would store it.
//! Waveforms of `selvedge run --vcd` and `selvedge wave` are supported. So is any other whose scope has `clk_i` and ports
//! with the block's names and widths. A recording with a pause (`$dumpoff`) is refused, because the block's behavior during
//! the pause is unknown.
#[cfg(test)]
mod tests;

use crate::vectors::{side, zeros};
use crate::wave::WaveFormat;
use selvedge_hw::{Direction, Port, PortBits, StimulusBits};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::{Path, PathBuf};
use vcd::{Command, IdCode, Parser, SimulationCommand, Value};

/// The name of the clock. The names of the possible resets, each with its active level.
const CLOCK: &str = "clk_i";
const RESETS: [(&str, bool); 2] = [("rst_ni", false), ("rst_i", true)];

/// Max size of a waveform's header in bytes, and max depth of nested scopes.
const MOST_HEADER: u64 = 64 << 20;
const MOST_SCOPES: usize = 256;

/// The recording of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedInstance {
    /// The path of the instance: scopes joined by dots.
    pub instance: String,
    /// The clocks, in order. The first one is in reset and precedes the recording.
    pub clocks: Vec<RecordedClock>,
}

/// A recorded clock of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedClock {
    /// The inputs of the instance. Bits that are unknown in the waveform are 0.
    pub stimulus: StimulusBits,
    /// The outputs of the instance. `None` in reset, if a bit is unknown, or if the waveform lacks a port.
    pub outputs: Option<PortBits>,
}

/// A reason why a waveform contains no usable stimulus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// The file is not a waveform, has no such instance, or has several.
    #[error("{path}: {problem}", path = path.display())]
    NoStimulus {
        /// The file.
        path: PathBuf,
        /// The problem with the contents of the file.
        problem: String,
    },
    /// The file cannot be opened.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The value of a variable: its bits, lowest first, with 0 for unknown bits, and a flag for unknown bits.
#[derive(Clone, Debug, Default)]
struct Seen {
    words: Vec<u64>,
    unknown: bool,
}

/// The variables of an instance's ports in a waveform.
struct PortVariables {
    clock: IdCode,
    reset: Option<(IdCode, bool)>,
    inputs: Vec<(IdCode, usize)>,
    outputs: Option<Vec<(IdCode, usize)>>,
}

/// Reads the inputs and outputs of the instance `instance` in at most `limit` clocks. `instance` is its path from the top,
/// or the end of that path. Without it, the waveform must contain a single instance with the block's ports.
///
/// # Errors
/// [`RecordedError`] if the file cannot be read, is not a waveform, has no such instance, or has several.
pub fn read(
    path: &Path,
    instance: Option<&str>,
    ports: &[Port],
    limit: usize,
) -> Result<RecordedInstance, RecordedError> {
    let bad = |problem: String| RecordedError::NoStimulus { path: path.to_path_buf(), problem };
    let file = File::open(path).map_err(|source| RecordedError::Io { path: path.to_path_buf(), source })?;
    let mut parser = Parser::new(BufReader::new(file).take(MOST_HEADER));
    if WaveFormat::of(path) == Ok(WaveFormat::Fst) {
        return Err(bad("must be VCD, not FST; fst2vcd of GTKWave converts it".into()));
    }
    let scopes = header(&mut parser).map_err(|error| bad(format!("no waveform (VCD): {error}")))?;
    parser.reader().set_limit(u64::MAX);
    let (instance, variables) = find(scopes, instance, ports).map_err(bad)?;
    let mut clocks =
        vec![RecordedClock { stimulus: StimulusBits { inputs: zeros(ports), reset: true }, outputs: None }];
    sample(parser, &variables, &mut clocks, limit)
        .map_err(|error| bad(format!("no waveform (VCD): {error}")))?;
    if clocks.len() < 2 {
        return Err(bad(format!("{instance}: nothing was recorded in a clock")));
    }
    Ok(RecordedInstance { instance, clocks })
}

struct Scope {
    /// Path from the top.
    path: String,
    variables: Vec<Variable>,
}

struct Variable {
    name: String,
    bits: u32,
    code: IdCode,
}

/// Reads the header. Returns all scopes; each precedes the scopes inside it.
fn header(parser: &mut Parser<Take<impl BufRead>>) -> io::Result<Vec<Scope>> {
    let (mut scopes, mut open): (Vec<Scope>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(command) = parser.next() {
        match command.map_err(|error| if parser.reader().limit() == 0 { too_long() } else { error })? {
            Command::Enddefinitions => return Ok(scopes),
            Command::ScopeDef(_, name) => {
                if open.len() == MOST_SCOPES {
                    let why =
                        format!("more than {MOST_SCOPES} scopes in one another: must be at most as many");
                    return Err(io::Error::other(why));
                }
                let above = open.last().map(|at| format!("{}.", scopes[*at].path)).unwrap_or_default();
                open.push(scopes.len());
                scopes.push(Scope { path: above + &name, variables: Vec::new() });
            }
            Command::Upscope => drop(open.pop()),
            Command::VarDef(_, bits, code, name, _) => {
                if let Some(at) = open.last() {
                    scopes[*at].variables.push(Variable { name, bits, code });
                }
            }
            _ => {}
        }
    }
    if parser.reader().limit() == 0 {
        return Err(too_long());
    }
    Err(io::Error::other("it ends before $enddefinitions"))
}

fn too_long() -> io::Error {
    io::Error::other(format!("its header is longer than {MOST_HEADER} bytes: must be at most as long"))
}

/// Finds the requested instance among the scopes with the block's ports.
fn find(
    mut scopes: Vec<Scope>,
    wanted: Option<&str>,
    ports: &[Port],
) -> Result<(String, PortVariables), String> {
    let is_wanted = |path: &str| {
        wanted.is_none_or(|name| {
            path == name || path.strip_suffix(name).is_some_and(|head| head.ends_with('.'))
        })
    };
    let is_exact = |path: &str| wanted.is_some_and(|name| path == name);
    let has_exact = scopes.iter().any(|scope| is_exact(&scope.path));
    scopes.retain(|scope| if has_exact { is_exact(&scope.path) } else { is_wanted(&scope.path) });
    if let Some(name) = wanted.filter(|_| scopes.is_empty()) {
        return Err(format!("it has no instance `{name}`"));
    }
    let mut problem = None;
    let mut found = Vec::new();
    for scope in scopes {
        match variables(&scope, ports) {
            Ok(variables) => found.push((scope.path, variables)),
            Err(lacks) => problem = problem.or(wanted.map(|_| format!("{}: {lacks}", scope.path))),
        }
    }
    match found.len() {
        0 => Err(problem.unwrap_or_else(|| {
            let inputs = side(ports, Direction::Input).map(|port| format!("{}[{}]", port.name, port.bits));
            format!("it has no instance with {CLOCK}, {}", inputs.collect::<Vec<_>>().join(", "))
        })),
        1 => Ok(found.remove(0)),
        _ => {
            let names: Vec<String> = found.into_iter().map(|(path, _)| path).collect();
            Err(format!("it has several such instances; name one of {}", names.join(", ")))
        }
    }
}

/// Returns the variables of the block's ports in a scope. An error names a missing or mismatched port.
fn variables(scope: &Scope, ports: &[Port]) -> Result<PortVariables, String> {
    let var = |name: &str, bits: usize| -> Result<&Variable, String> {
        match scope.variables.iter().find(|variable| variable.name == name) {
            Some(variable) if variable.bits as usize == bits => Ok(variable),
            Some(variable) => Err(format!("{name} has {} bits, not the block's {bits}", variable.bits)),
            None => Err(format!("it has no {name}")),
        }
    };
    let codes = |direction| -> Result<Vec<(IdCode, usize)>, String> {
        side(ports, direction).map(|port| Ok((var(port.name, port.bits)?.code, port.bits))).collect()
    };
    Ok(PortVariables {
        clock: var(CLOCK, 1)?.code,
        reset: RESETS.iter().find_map(|(name, active)| Some((var(name, 1).ok()?.code, *active))),
        inputs: codes(Direction::Input)?,
        outputs: codes(Direction::Output).ok(),
    })
}

/// Adds a clock for each rising edge after the first, and one for the time after the last edge if that is long enough.
fn sample(
    parser: Parser<impl BufRead>,
    variables: &PortVariables,
    clocks: &mut Vec<RecordedClock>,
    limit: usize,
) -> io::Result<()> {
    let bad = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
    let codes = variables.codes();
    let mut sampler = Sampler::default();
    for command in parser {
        match command? {
            Command::Timestamp(time) if time < sampler.now => {
                return Err(bad(format!("time goes back from {} to {time}", sampler.now)));
            }
            Command::Timestamp(time) => {
                clocks.extend(sampler.end_of_moment(variables));
                sampler.now = time;
                if clocks.len() >= limit {
                    return Ok(());
                }
            }
            Command::Begin(SimulationCommand::Dumpoff) => {
                return Err(bad(format!("the recording pauses at {} ($dumpoff)", sampler.now)));
            }
            Command::ChangeScalar(code, value) if codes.contains(&code) => {
                sampler.present.push((code, of(&[value])));
            }
            Command::ChangeVector(code, bits) if codes.contains(&code) => {
                sampler.present.push((code, of(&bits.iter().collect::<Vec<_>>())));
            }
            _ => {}
        }
    }
    clocks.extend(sampler.end_of_moment(variables));
    if sampler.last_clock_is_whole() {
        clocks.push(clock(variables, &sampler.seen));
    }
    Ok(())
}

impl PortVariables {
    /// Returns the codes of all variables that the sampler needs.
    fn codes(&self) -> HashSet<IdCode> {
        let ports = self.inputs.iter().chain(self.outputs.iter().flatten()).map(|(code, _)| *code);
        ports.chain([self.clock]).chain(self.reset.map(|(code, _)| code)).collect()
    }
}

/// The state of a waveform during reading.
#[derive(Default)]
struct Sampler {
    /// Values before the current time.
    seen: HashMap<IdCode, Seen>,
    /// The current time and its changes.
    now: u64,
    present: Vec<(IdCode, Seen)>,
    last_rise: Option<u64>,
    /// The shortest time from a rising to a falling edge. The time between rising edges is longer if a gated clock omits
    /// edges.
    high: Option<u64>,
}

impl Sampler {
    /// Applies the changes of the current time. If the clock rises, returns the clock that ends.
    fn end_of_moment(&mut self, variables: &PortVariables) -> Option<RecordedClock> {
        let level = |value: &Seen| (!value.unknown).then(|| value.words.first() == Some(&1));
        let before = self.seen.get(&variables.clock).and_then(level);
        let changed = self.present.iter().rev().find(|(code, _)| *code == variables.clock);
        let after = changed.map_or(before, |(_, value)| level(value));
        let mut ended = None;
        if before != Some(true) && after == Some(true) {
            ended = self.last_rise.map(|_| clock(variables, &self.seen));
            self.last_rise = Some(self.now);
        } else if let (Some(true), Some(false), Some(rise)) = (before, after, self.last_rise) {
            let high = self.now - rise;
            self.high = Some(self.high.map_or(high, |known| known.min(high)));
        }
        self.seen.extend(self.present.drain(..));
        ended
    }

    /// Returns whether a complete clock, twice the time for which it is high, was recorded after the last rising edge.
    fn last_clock_is_whole(&self) -> bool {
        let since = self.last_rise.map(|rise| self.now - rise);
        since.zip(self.high).is_some_and(|(since, high)| since >= 2 * high)
    }
}

/// Returns a value from its bits, highest first.
fn of(bits: &[Value]) -> Seen {
    let mut seen = Seen::default();
    for (at, bit) in bits.iter().rev().enumerate() {
        if at % 64 == 0 {
            seen.words.push(0);
        }
        match bit {
            Value::V1 => seen.words[at / 64] |= 1 << (at % 64),
            Value::V0 => {}
            Value::X | Value::Z => seen.unknown = true,
        }
    }
    seen
}

/// Returns the current values of the ports as a clock.
fn clock(variables: &PortVariables, seen: &HashMap<IdCode, Seen>) -> RecordedClock {
    let words = |(code, bits): &(IdCode, usize)| {
        let mut words = seen.get(code).map(|seen| seen.words.clone()).unwrap_or_default();
        words.resize(bits.div_ceil(64), 0);
        if let Some(last) = words.last_mut().filter(|_| bits % 64 != 0) {
            *last &= (1 << (bits % 64)) - 1;
        }
        words
    };
    let reset = variables.reset.is_some_and(|(code, active)| {
        seen.get(&code).is_some_and(|seen| !seen.unknown && (seen.words.first() == Some(&1)) == active)
    });
    let is_known = |(code, _): &(IdCode, usize)| seen.get(code).is_some_and(|seen| !seen.unknown);
    let outputs = variables.outputs.as_ref().filter(|outputs| !reset && outputs.iter().all(is_known));
    let zero = |(_, bits): &(IdCode, usize)| vec![0; bits.div_ceil(64)];
    let inputs =
        variables.inputs.iter().map(|input| if reset { zero(input) } else { words(input) }).collect();
    RecordedClock {
        stimulus: StimulusBits { inputs, reset },
        outputs: outputs.map(|outputs| outputs.iter().map(words).collect()),
    }
}
