//! Recorded stimulus: what an instance of a block got and gave in a waveform, clock by clock.
//!
//! A port has the value in a clock that it shows just before `clk_i` rises again, as a register takes it. Waveforms of
//! `selvedge run --vcd` and `selvedge wave` are read, and any other whose scope has `clk_i` and ports of the block's names and
//! widths. A recording that pauses (`$dumpoff`) is refused: nobody knows what the block did meanwhile.
use crate::vectors::{side, zeros};
use selvedge_gen::area::AreaError;
use selvedge_hw::{Direction, Port, PortBits, StimulusBits};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use vcd::{Command, Header, IdCode, Parser, Scope, ScopeItem, SimulationCommand, Value, Var};

/// The name of the clock, and of the resets that a block may have, with the value that resets.
const CLOCK: &str = "clk_i";
const RESETS: [(&str, bool); 2] = [("rst_ni", false), ("rst_i", true)];

/// What was recorded of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The instance, its scopes joined by dots.
    pub instance: String,
    /// The clocks, in order; the first is one in reset that stands before the recording.
    pub clocks: Vec<RecordedClock>,
}

/// One clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedClock {
    /// What the instance got; bits that are unknown in the waveform are 0.
    pub stimulus: StimulusBits,
    /// What it gave; none in reset, and where a bit is unknown or the waveform lacks a port.
    pub outputs: Option<PortBits>,
}

/// A variable's value: its bits, lowest first, where 0 stands for an unknown bit, and whether there is one.
#[derive(Clone, Debug, Default)]
struct Seen {
    words: Vec<u64>,
    unknown: bool,
}

/// Where the ports of an instance are in a waveform.
struct Variables {
    clock: IdCode,
    reset: Option<(IdCode, bool)>,
    inputs: Vec<(IdCode, usize)>,
    outputs: Option<Vec<(IdCode, usize)>>,
}

/// Reads what the instance called `instance` got and gave, in `limit` clocks at most: its path from the top, or the end of it.
/// Without a name it is the only one that has the block's ports.
///
/// # Errors
/// A file that cannot be read or is no waveform, and one that has no such instance, or several.
pub fn read(
    path: &Path,
    instance: Option<&str>,
    ports: &[Port],
    limit: usize,
) -> Result<Recorded, AreaError> {
    let bad = |problem: String| AreaError::BadFile { path: path.to_path_buf(), problem };
    let file = File::open(path).map_err(|source| AreaError::Io { path: path.to_path_buf(), source })?;
    let mut parser = Parser::new(BufReader::new(file));
    let header = parser.parse_header().map_err(|error| bad(format!("no waveform (VCD): {error}")))?;
    let (instance, variables) = find(&header, instance, ports).map_err(bad)?;
    let mut clocks =
        vec![RecordedClock { stimulus: StimulusBits { inputs: zeros(ports), reset: true }, outputs: None }];
    sample(parser, &variables, &mut clocks, limit)
        .map_err(|error| bad(format!("no waveform (VCD): {error}")))?;
    if clocks.len() < 2 {
        return Err(bad(format!("{instance}: nothing was recorded in a clock")));
    }
    Ok(Recorded { instance, clocks })
}

/// The instance that is asked for among those that have the ports.
fn find(header: &Header, wanted: Option<&str>, ports: &[Port]) -> Result<(String, Variables), String> {
    let mut scopes = Vec::new();
    collect(&header.items, &mut Vec::new(), &mut scopes);
    let is_wanted = |path: &str| {
        wanted.is_none_or(|name| {
            path == name || path.strip_suffix(name).is_some_and(|head| head.ends_with('.'))
        })
    };
    let is_exact = |path: &str| wanted.is_some_and(|name| path == name);
    let has_exact = scopes.iter().any(|(path, _)| is_exact(path));
    scopes.retain(|(path, _)| if has_exact { is_exact(path) } else { is_wanted(path) });
    if let Some(name) = wanted.filter(|_| scopes.is_empty()) {
        return Err(format!("it has no instance `{name}`"));
    }
    let mut problem = None;
    let mut found = Vec::new();
    for (path, scope) in scopes {
        match variables(scope, ports) {
            Ok(variables) => found.push((path, variables)),
            Err(lacks) => problem = problem.or(wanted.map(|_| format!("{path}: {lacks}"))),
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

/// Every scope with its path.
fn collect<'a>(items: &'a [ScopeItem], path: &mut Vec<&'a str>, scopes: &mut Vec<(String, &'a Scope)>) {
    for item in items {
        if let ScopeItem::Scope(scope) = item {
            path.push(&scope.identifier);
            scopes.push((path.join("."), scope));
            collect(&scope.items, path, scopes);
            path.pop();
        }
    }
}

/// The variables of a scope that are the block's ports, or which one it lacks.
fn variables(scope: &Scope, ports: &[Port]) -> Result<Variables, String> {
    let var = |name: &str, bits: usize| -> Result<&Var, String> {
        let mut vars = scope
            .items
            .iter()
            .filter_map(|item| if let ScopeItem::Var(var) = item { Some(var) } else { None });
        let named = vars.find(|var| var.reference == name);
        match named {
            Some(var) if var.size as usize == bits => Ok(var),
            Some(var) => Err(format!("{name} has {} bits, not the block's {bits}", var.size)),
            None => Err(format!("it has no {name}")),
        }
    };
    let codes = |direction| -> Result<Vec<(IdCode, usize)>, String> {
        side(ports, direction).map(|port| Ok((var(port.name, port.bits)?.code, port.bits))).collect()
    };
    Ok(Variables {
        clock: var(CLOCK, 1)?.code,
        reset: RESETS.iter().find_map(|(name, active)| Some((var(name, 1).ok()?.code, *active))),
        inputs: codes(Direction::Input)?,
        outputs: codes(Direction::Output).ok(),
    })
}

/// Adds a clock for each rise of the clock after the first, and one for the time after the last where that is long enough.
fn sample(
    parser: Parser<impl BufRead>,
    variables: &Variables,
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

impl Variables {
    /// Everything that is looked at.
    fn codes(&self) -> HashSet<IdCode> {
        let ports = self.inputs.iter().chain(self.outputs.iter().flatten()).map(|(code, _)| *code);
        ports.chain([self.clock]).chain(self.reset.map(|(code, _)| code)).collect()
    }
}

/// The state of a waveform while it is read.
#[derive(Default)]
struct Sampler {
    /// Values before the present moment.
    seen: HashMap<IdCode, Seen>,
    /// The present moment and its changes.
    now: u64,
    present: Vec<(IdCode, Seen)>,
    last_rise: Option<u64>,
    /// The shortest time from a rise to a fall. From rise to rise it may be long: a gated clock leaves out some.
    high: Option<u64>,
}

impl Sampler {
    /// Takes in the changes of the present moment; where the clock rises in it, a clock that began earlier has ended.
    fn end_of_moment(&mut self, variables: &Variables) -> Option<RecordedClock> {
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

    /// Was recorded after the last rise what lasts a clock, twice the time for which it is high?
    fn last_clock_is_whole(&self) -> bool {
        let since = self.last_rise.map(|rise| self.now - rise);
        since.zip(self.high).is_some_and(|(since, high)| since >= 2 * high)
    }
}

/// A value from its bits, highest first.
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

/// What the ports show.
fn clock(variables: &Variables, seen: &HashMap<IdCode, Seen>) -> RecordedClock {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{Vector, Vectors};
    use crate::wave;
    use selvedge_hw::find;
    use std::path::PathBuf;

    fn port(name: &'static str, bits: usize, direction: Direction) -> Port {
        Port { name, bits, direction, doc: "" }
    }

    fn file(folder: &tempfile::TempDir, text: impl AsRef<[u8]>) -> PathBuf {
        let path = folder.path().join("w.vcd");
        std::fs::write(&path, text).expect("written");
        path
    }

    #[test]
    fn a_blocks_waveform_gives_its_vectors_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let entry = find("milg").expect("a block");
        let params = entry.defaults();
        let recorded = wave::run(entry, &params, 300, 1).expect("a waveform");
        let ports = entry.ports(&params).expect("its ports");
        let read = read(&file(&folder, &recorded.vcd), None, &ports, usize::MAX).expect("it has the block");
        assert_eq!(read.instance, "selvedge.milg");
        let expected: Vec<Vector> = Vectors::new(entry, &params, 1).expect("vectors").take(300).collect();
        // The clock in reset before the recording is one more than the vectors begin with.
        assert_eq!(read.clocks.len(), 1 + 300);
        assert!(read.clocks[0].stimulus.reset);
        for (at, (got, expected)) in read.clocks[1..].iter().zip(expected).enumerate() {
            assert_eq!((got.stimulus.reset, &got.outputs), (expected.reset, &expected.outputs), "clock {at}");
            if !expected.reset {
                assert_eq!(got.stimulus.inputs, expected.inputs, "clock {at}");
            }
        }
    }

    /// Two instances in a simulator's style: inputs change half a clock after the registers, and the end is a rising edge.
    const TWO: &str = "$timescale 1ns $end $scope module tb $end
        $scope module a $end $var wire 1 c clk_i $end $var wire 65 d data_i [64:0] $end $var wire 1 q q_o $end $upscope $end
        $scope module b $end $var wire 1 c clk_i $end $var wire 2 e data_i [1:0] $end $var wire 1 r q_o $end $upscope $end
        $upscope $end $enddefinitions $end
        #0 0c xq bx d b01 e 1r #5 1c #10 0c b1 d #15 1c 1q #20 0c b1x0 d b10 e
        b10000000000000000000000000000000000000000000000000000000000000011 d #25 1c 0q\n";

    #[test]
    fn values_are_those_before_the_next_rise() {
        let folder = tempfile::tempdir().expect("a folder");
        let ports = [port("data_i", 65, Direction::Input), port("q_o", 1, Direction::Output)];
        let read = read(&file(&folder, TWO), None, &ports, usize::MAX).expect("a has such ports");
        assert_eq!(read.instance, "tb.a");
        let clocks: Vec<_> =
            read.clocks[1..].iter().map(|c| (&c.stimulus.inputs[0][..], &c.outputs)).collect();
        let one = Some(vec![vec![1]]);
        assert_eq!(clocks, [(&[1, 0][..], &None), (&[3, 1][..], &one)]);
    }

    #[test]
    fn an_instance_is_named_by_the_end_of_its_path_and_refused_by_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = file(&folder, TWO);
        let q = [port("q_o", 1, Direction::Output)];
        assert_eq!(read(&path, Some("b"), &q, usize::MAX).expect("tb.b").instance, "tb.b");
        let refused = |name: Option<&str>, ports: &[Port]| {
            let error = read(&path, name, ports, usize::MAX).expect_err("refused").to_string();
            assert!(error.contains("w.vcd: "), "{error}");
            error
        };
        assert!(refused(None, &q).ends_with("it has several such instances; name one of tb.a, tb.b"));
        assert!(refused(Some("sm0.b"), &q).ends_with("it has no instance `sm0.b`"));
        let wide = [port("data_i", 66, Direction::Input)];
        assert!(refused(None, &wide).ends_with("it has no instance with clk_i, data_i[66]"));
        assert!(refused(Some("a"), &wide).ends_with("tb.a: data_i has 65 bits, not the block's 66"));
        assert!(refused(Some("a"), &[port("go_i", 1, Direction::Input)]).ends_with("tb.a: it has no go_i"));
        std::fs::write(&path, "no waveform").expect("written");
        assert!(refused(None, &q).contains("no waveform (VCD): "));
        let idle = "$scope module a $end $var wire 1 c clk_i $end $var wire 1 q q_o $end $upscope $end $enddefinitions $end #0 0c\n";
        std::fs::write(&path, idle).expect("written");
        assert!(refused(None, &q).ends_with("a: nothing was recorded in a clock"));
    }

    /// An instance `d` with a bit, and what is recorded of it.
    fn one_bit(recorded: &str) -> Result<Vec<u64>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let head = "$scope module d $end $var wire 1 c clk_i $end $var wire 1 d data_i $end $upscope $end $enddefinitions $end";
        let path = file(&folder, format!("{head} {recorded}\n"));
        let read = read(&path, None, &[port("data_i", 1, Direction::Input)], usize::MAX);
        let values = |read: Recorded| read.clocks[1..].iter().map(|c| c.stimulus.inputs[0][0]).collect();
        read.map(values).map_err(|error| error.to_string())
    }

    #[test]
    fn a_clock_rises_where_it_was_low_and_stays_high() {
        let plain = "#0 0c 0d #5 1c #10 0c 1d #15 1c #20 0c 0d #25 1c";
        assert_eq!(one_bit(plain), Ok(vec![1, 0]));
        // Said again while it is high; a pulse without width; as a vector.
        assert_eq!(one_bit("#0 0c 0d #5 1c #7 1c #10 0c 1d #15 1c #20 0c 0d #25 1c"), Ok(vec![1, 0]));
        assert_eq!(one_bit("#0 0c 0d #5 1c #10 0c 1d #12 1c 0c #15 1c #20 0c 0d #25 1c"), Ok(vec![1, 0]));
        assert_eq!(one_bit("#0 b0 c 0d #5 b1 c #10 b0 c 1d #15 b1 c #20 b0 c 0d #25 b1 c"), Ok(vec![1, 0]));
    }

    #[test]
    fn the_last_clock_counts_when_it_is_whole_though_others_were_gated() {
        assert_eq!(one_bit("#0 1c 1d #5 0c #50 1c 0d #55 0c #60"), Ok(vec![1, 0]));
        assert_eq!(one_bit("#0 1c 1d #5 0c #50 1c 0d #55 0c #59"), Ok(vec![1]));
        assert!(one_bit("#0 0c 0d #5 1c").is_err(), "nothing is known of a clock that has just begun");
    }

    #[test]
    fn broken_recordings_are_errors() {
        let error = one_bit("#0 0c #5 1c #3 0c").expect_err("time");
        assert!(error.ends_with("time goes back from 5 to 3"), "{error}");
        let error = one_bit("#0 0c #5 1c #10 $dumpoff xc $end #20 $dumpon 1c $end").expect_err("a pause");
        assert!(error.ends_with("the recording pauses at 10 ($dumpoff)"), "{error}");
        assert!(one_bit("#0 0c #5 1c #10 b1").is_err() && one_bit("#0 0c #5 1q #10").is_err());
    }

    #[test]
    fn a_whole_path_is_meant_before_the_end_of_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "$scope module a $end $var wire 1 c clk_i $end $var wire 1 d d_i $end $upscope $end
            $scope module tb $end $scope module a $end $var wire 1 c clk_i $end $var wire 1 d d_i $end $upscope $end
            $upscope $end $enddefinitions $end #0 1c 1d #5 0c #10 1c #15 0c #20\n";
        let ports = [port("d_i", 1, Direction::Input)];
        let read = read(&file(&folder, text), Some("a"), &ports, 2).expect("it is there");
        assert_eq!((read.instance.as_str(), read.clocks.len()), ("a", 2));
    }
}
