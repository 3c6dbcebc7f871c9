//! Waveforms: recorded port values of one or several block instances, written as a VCD file.
use crate::ports::{Direction, Port};
use std::io::{self, Write};
use std::path::Path;
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Nanoseconds of VCD time per clock cycle: cycle `c` shows from time `10 c`, where `clk_i` rises, up to `10 (c + 1)`. In a cycle
/// in which an instance is not clocked its `clk_i` stays low.
pub const CYCLE_NS: u64 = 10;

/// The port values of one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Number of the cycle.
    pub cycle: u64,
    /// Was `rst_ni` low?
    pub reset: bool,
    /// Little-endian words of every port, in the order of [`Trace::ports`].
    pub values: Vec<Vec<u64>>,
}

/// The history of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Instance name; its dots become nested scopes ("sm0.milg").
    pub instance: String,
    /// The recorded ports.
    pub ports: Vec<Port>,
    /// Samples with rising cycle numbers. In a cycle without a sample the instance is not clocked, and its ports are as before.
    pub samples: Vec<Sample>,
}

/// The VCD identifiers of one trace.
struct Variables {
    clock: IdCode,
    reset: IdCode,
    ports: Vec<IdCode>,
}

/// Writes the traces as VCD text: for each instance `clk_i`, `rst_ni` and every port, and at the top the number `cycle`.
///
/// # Errors
/// What the writer reports.
pub fn write_vcd(out: impl Write, traces: &[Trace]) -> io::Result<()> {
    let mut vcd = Writer::new(out);
    vcd.timescale(1, TimescaleUnit::NS)?;
    vcd.add_module("selvedge")?;
    let cycle = vcd.add_var(VarType::Integer, 64, "cycle", None)?;
    let variables = declare(&mut vcd, traces)?;
    vcd.upscope()?;
    vcd.enddefinitions()?;

    let cycles = || traces.iter().flat_map(|trace| trace.samples.iter().map(|sample| sample.cycle));
    let (Some(first), Some(last)) = (cycles().min(), cycles().max()) else {
        return vcd.flush();
    };
    let mut next = vec![0usize; traces.len()];
    for now in first..=last {
        vcd.timestamp(now * CYCLE_NS)?;
        vcd.change_vector(cycle, bits(&[now], 64))?;
        let mut clocked = Vec::new();
        for ((trace, variables), next) in traces.iter().zip(&variables).zip(&mut next) {
            let earlier = next.checked_sub(1).map(|index| &trace.samples[index]);
            if let Some(sample) = trace.samples.get(*next).filter(|sample| sample.cycle == now) {
                vcd.change_scalar(variables.clock, Value::V1)?;
                change(&mut vcd, trace, variables, earlier, sample)?;
                clocked.push(variables.clock);
                *next += 1;
            } else if now == first {
                vcd.change_scalar(variables.clock, Value::V0)?;
            }
        }
        vcd.timestamp(now * CYCLE_NS + CYCLE_NS / 2)?;
        for clock in clocked {
            vcd.change_scalar(clock, Value::V0)?;
        }
    }
    vcd.timestamp((last + 1) * CYCLE_NS)?;
    vcd.flush()
}

/// Writes the traces to a file, whole or not at all: the text goes to a sibling file that then takes the name.
///
/// # Errors
/// When the file cannot be created, written or renamed.
pub fn write_vcd_file(path: &Path, traces: &[Trace]) -> io::Result<()> {
    let mut text = Vec::new();
    write_vcd(&mut text, traces)?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = std::fs::write(&partial, &text).and_then(|()| std::fs::rename(&partial, path));
    if written.is_err() {
        // Best effort: the error worth reporting is the first one.
        let _ = std::fs::remove_file(&partial);
    }
    written
}

/// Declares every trace's variables. Instances that share the first parts of their names share scopes.
fn declare<W: Write>(vcd: &mut Writer<W>, traces: &[Trace]) -> io::Result<Vec<Variables>> {
    let scopes = |index: usize| traces[index].instance.split('.').collect::<Vec<_>>();
    let mut by_name: Vec<usize> = (0..traces.len()).collect();
    by_name.sort_by_key(|index| scopes(*index));
    let mut open: Vec<&str> = Vec::new();
    let mut declared = Vec::new();
    for index in by_name {
        let path = scopes(index);
        let shared = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
        for _ in shared..open.len() {
            vcd.upscope()?;
        }
        for scope in &path[shared..] {
            vcd.add_module(scope)?;
        }
        open = path;
        let clock = vcd.add_wire(1, "clk_i")?;
        let reset = vcd.add_wire(1, "rst_ni")?;
        let ports = &traces[index].ports;
        let ports =
            ports.iter().map(|port| vcd.add_wire(port.bits as u32, port.name)).collect::<io::Result<_>>()?;
        declared.push((index, Variables { clock, reset, ports }));
    }
    for _ in open {
        vcd.upscope()?;
    }
    declared.sort_by_key(|(index, _)| *index);
    Ok(declared.into_iter().map(|(_, variables)| variables).collect())
}

fn change<W: Write>(
    vcd: &mut Writer<W>,
    trace: &Trace,
    variables: &Variables,
    earlier: Option<&Sample>,
    sample: &Sample,
) -> io::Result<()> {
    if earlier.is_none_or(|earlier| earlier.reset != sample.reset) {
        vcd.change_scalar(variables.reset, !sample.reset)?;
    }
    for (index, port) in trace.ports.iter().enumerate() {
        // Outputs in reset are not sampled: they keep what they showed, or read as unknown.
        let unknown = sample.reset && port.direction == Direction::Output;
        if unknown {
            if earlier.is_none_or(|earlier| !earlier.reset) {
                show(vcd, variables.ports[index], std::iter::repeat_n(Value::X, port.bits))?;
            }
        } else if earlier.is_none_or(|earlier| earlier.reset || earlier.values[index] != sample.values[index])
        {
            show(vcd, variables.ports[index], bits(&sample.values[index], port.bits))?;
        }
    }
    Ok(())
}

/// Writes a value: a scalar for a single bit, else a vector.
fn show<W: Write>(
    vcd: &mut Writer<W>,
    variable: IdCode,
    bits: impl ExactSizeIterator<Item = Value>,
) -> io::Result<()> {
    let mut bits = bits;
    if bits.len() == 1 {
        bits.try_for_each(|bit| vcd.change_scalar(variable, bit))
    } else {
        vcd.change_vector(variable, bits)
    }
}

/// The bits of a value, highest first.
fn bits(words: &[u64], bits: usize) -> impl ExactSizeIterator<Item = Value> + '_ {
    (0..bits).rev().map(|bit| Value::from(words[bit / 64] >> (bit % 64) & 1 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn trace(instance: &str, samples: Vec<Sample>) -> Trace {
        let port = |name, bits, direction| Port { name, bits, direction, doc: "", valid: None };
        let ports = vec![port("a_i", 1, Direction::Input), port("line_o", 70, Direction::Output)];
        Trace { instance: instance.to_string(), ports, samples }
    }

    fn sample(cycle: u64, a: u64, line: [u64; 2]) -> Sample {
        Sample { cycle, reset: false, values: vec![vec![a], line.to_vec()] }
    }

    /// Value of a variable at the end of each time stamp, as text with the highest bit first.
    fn history(text: &[u8], path: &[&str]) -> Vec<(u64, String)> {
        let mut parser = vcd::Parser::new(BufReader::new(text));
        let header = parser.parse_header().unwrap();
        let wanted = header.find_var(path).unwrap().code;
        let mut time = 0;
        let mut changes = Vec::new();
        for command in parser {
            match command.unwrap() {
                vcd::Command::Timestamp(now) => time = now,
                vcd::Command::ChangeVector(code, value) if code == wanted => {
                    changes.push((time, value.to_string()))
                }
                vcd::Command::ChangeScalar(code, value) if code == wanted => {
                    changes.push((time, value.to_string()))
                }
                _ => {}
            }
        }
        changes
    }

    #[test]
    fn values_show_from_the_start_of_their_cycle_and_only_when_they_change() {
        let samples = vec![sample(3, 1, [5, 0]), sample(4, 1, [5, 0x21]), sample(6, 0, [5, 0x21])];
        let mut text = Vec::new();
        write_vcd(&mut text, &[trace("sm0.milg", samples)]).unwrap();
        let line = history(&text, &["selvedge", "sm0", "milg", "line_o"]);
        let bits = |high: u64, low: u64| format!("{high:06b}{low:064b}");
        assert_eq!(line, [(30, bits(0, 5)), (40, bits(0x21, 5))]);
        assert_eq!(history(&text, &["selvedge", "sm0", "milg", "a_i"]), [(30, "1".into()), (60, "0".into())]);
        let clock = history(&text, &["selvedge", "sm0", "milg", "clk_i"]);
        assert_eq!(
            clock.iter().filter(|(_, level)| level == "1").map(|(time, _)| *time).collect::<Vec<_>>(),
            [30, 40, 60],
            "in cycle 5 it is not clocked"
        );
    }

    #[test]
    fn outputs_in_reset_are_unknown_and_return_after_it() {
        let reset = Sample { cycle: 1, reset: true, values: vec![vec![0], vec![0, 0]] };
        let mut text = Vec::new();
        let samples = vec![sample(0, 0, [9, 0]), reset, sample(2, 0, [9, 0])];
        write_vcd(&mut text, &[trace("c", samples)]).unwrap();
        let line: Vec<_> = history(&text, &["selvedge", "c", "line_o"]);
        assert_eq!(line.len(), 3);
        assert!(line[1].0 == 10 && line[1].1.contains('x') && line[2].1.ends_with("1001"), "{line:?}");
        assert_eq!(
            history(&text, &["selvedge", "c", "rst_ni"]),
            [(0, "1".into()), (10, "0".into()), (20, "1".into())]
        );
    }

    #[test]
    fn several_instances_share_the_time() {
        let traces = [trace("a", vec![sample(0, 1, [0, 0])]), trace("b", vec![sample(2, 1, [0, 0])])];
        let mut text = Vec::new();
        write_vcd(&mut text, &traces).unwrap();
        assert_eq!(history(&text, &["selvedge", "a", "a_i"]), [(0, "1".into())]);
        assert_eq!(history(&text, &["selvedge", "b", "a_i"]), [(20, "1".into())]);
        assert_eq!(history(&text, &["selvedge", "cycle"]).len(), 3);
    }

    #[test]
    fn an_unwritable_file_leaves_nothing_behind() {
        let path = std::env::temp_dir().join("selvedge-no-such-folder").join("x.vcd");
        assert!(write_vcd_file(&path, &[]).is_err());
        assert!(!path.exists());
    }
}
