//! Waveforms: recorded port values of one or several block instances, written as a VCD file.
use crate::ports::{Direction, Port};
use std::io::{self, Write};
use std::path::Path;
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Nanoseconds of VCD time per clock cycle: cycle `c` shows from time `10 c`, where `clk_i` rises, up to `10 (c + 1)`.
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
    /// Samples with rising cycle numbers. A cycle without a sample keeps the values of the one before.
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
    let variables: Vec<Variables> =
        traces.iter().map(|trace| declare(&mut vcd, trace)).collect::<io::Result<_>>()?;
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
        for ((trace, variables), next) in traces.iter().zip(&variables).zip(&mut next) {
            vcd.change_scalar(variables.clock, Value::V1)?;
            let earlier = next.checked_sub(1).map(|index| &trace.samples[index]);
            if let Some(sample) = trace.samples.get(*next).filter(|sample| sample.cycle == now) {
                change(&mut vcd, trace, variables, earlier, sample)?;
                *next += 1;
            }
        }
        vcd.timestamp(now * CYCLE_NS + CYCLE_NS / 2)?;
        for variables in &variables {
            vcd.change_scalar(variables.clock, Value::V0)?;
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

fn declare<W: Write>(vcd: &mut Writer<W>, trace: &Trace) -> io::Result<Variables> {
    let scopes: Vec<&str> = trace.instance.split('.').collect();
    for scope in &scopes {
        vcd.add_module(scope)?;
    }
    let clock = vcd.add_wire(1, "clk_i")?;
    let reset = vcd.add_wire(1, "rst_ni")?;
    let ports = trace
        .ports
        .iter()
        .map(|port| vcd.add_wire(port.bits as u32, port.name))
        .collect::<io::Result<_>>()?;
    for _ in &scopes {
        vcd.upscope()?;
    }
    Ok(Variables { clock, reset, ports })
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
                vcd.change_vector(variables.ports[index], std::iter::repeat_n(Value::X, port.bits))?;
            }
        } else if earlier.is_none_or(|earlier| earlier.reset || earlier.values[index] != sample.values[index])
        {
            vcd.change_vector(variables.ports[index], bits(&sample.values[index], port.bits))?;
        }
    }
    Ok(())
}

/// The bits of a value, highest first.
fn bits(words: &[u64], bits: usize) -> impl Iterator<Item = Value> + '_ {
    (0..bits).rev().map(|bit| Value::from(words[bit / 64] >> (bit % 64) & 1 != 0))
}
