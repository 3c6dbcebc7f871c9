//! Waveforms of a block at work: its RTL driven by its stimulus, as a VCD file and a GTKWave save file beside it.
use crate::vectors::{side, stimulus};
use selvedge_hw::wave::{Sample, Trace, write_vcd};
use selvedge_hw::{BlockEntry, ClockedBits, Direction, ParamError, Port};
use serde_json::Value;
use std::fmt::Write;

/// The scope under which [`selvedge_hw::wave::write_vcd`] puts every instance.
const ROOT: &str = "selvedge";

/// How GTKWave shows a signal, in the hexadecimal flags that its save files use.
#[derive(Clone, Copy)]
enum Format {
    Binary,
    Decimal,
    Hexadecimal,
}

impl Format {
    /// Bits stand alone, up to 16 bits are read as a number, and what is wider as digits.
    fn of(bits: usize) -> Self {
        match bits {
            1 => Format::Binary,
            2..=16 => Format::Decimal,
            _ => Format::Hexadecimal,
        }
    }

    /// Right-aligned, in the format's base.
    fn flags(self) -> &'static str {
        match self {
            Format::Binary => "@28",
            Format::Decimal => "@24",
            Format::Hexadecimal => "@22",
        }
    }
}

/// A run of a block's RTL.
#[derive(Clone, Debug)]
pub struct Waveform {
    /// The VCD file: `clk_i`, `rst_ni` and every port under `selvedge.<block>`, and the number `cycle` beside them. A cycle
    /// lasts 10 ns and begins with the rising edge; outputs in reset read as unknown.
    pub vcd: Vec<u8>,
    block: &'static str,
    ports: Vec<Port>,
}

impl Waveform {
    /// The GTKWave save file for a VCD of that name in the same folder: signals in the groups "clock and reset", "inputs"
    /// and "outputs".
    pub fn gtkw(&self, vcd_file: &str) -> String {
        let mut text = format!("[*]\n[*] {} of Selvedge\n[*]\n", self.block);
        // When both names lack a folder, GTKWave looks for the VCD where the save file is, not in the current folder.
        let stem = vcd_file.strip_suffix(".vcd").unwrap_or(vcd_file);
        writeln!(text, "[dumpfile] \"{vcd_file}\"\n[savefile] \"{stem}.gtkw\"\n[timestart] 0")
            .expect(IN_MEMORY);
        writeln!(text, "[treeopen] {ROOT}.\n[treeopen] {ROOT}.{}.", self.block).expect(IN_MEMORY);
        let scope = format!("{ROOT}.{}", self.block);
        let own = |port: &Port| (Format::of(port.bits), signal(&scope, port.name, port.bits));
        let clocking = [
            // An integer has no range in GTKWave, unlike a wire of as many bits.
            (Format::Decimal, format!("{ROOT}.cycle")),
            (Format::Binary, signal(&scope, "clk_i", 1)),
            (Format::Binary, signal(&scope, "rst_ni", 1)),
        ];
        group(&mut text, "clock and reset", clocking);
        group(&mut text, "inputs", side(&self.ports, Direction::Input).map(own));
        group(&mut text, "outputs", side(&self.ports, Direction::Output).map(own));
        text
    }
}

const IN_MEMORY: &str = "writing to memory cannot fail";

/// A signal as GTKWave names it: a vector with its range.
fn signal(scope: &str, name: &str, bits: usize) -> String {
    match bits {
        1 => format!("{scope}.{name}"),
        _ => format!("{scope}.{name}[{}:0]", bits - 1),
    }
}

/// An open group: flag 800000 begins it, 1000000 ends it, 200 marks a line that is no signal.
fn group(text: &mut String, name: &str, signals: impl IntoIterator<Item = (Format, String)>) {
    writeln!(text, "@800200\n-{name}").expect(IN_MEMORY);
    for (format, signal) in signals {
        writeln!(text, "{}\n{signal}", format.flags()).expect(IN_MEMORY);
    }
    writeln!(text, "@1000200\n-{name}").expect(IN_MEMORY);
}

/// Runs `cycles` clocks of a block's stimulus through its RTL, the first of them in reset.
///
/// # Errors
/// When the parameters are not valid.
pub fn run(entry: &dyn BlockEntry, params: &Value, cycles: u64, seed: u64) -> Result<Waveform, ParamError> {
    run_on(&mut *entry.rtl(params)?, entry, params, cycles, seed)
}

/// As [`run`], with another circuit in the place of the RTL.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    rtl: &mut dyn ClockedBits,
    entry: &dyn BlockEntry,
    params: &Value,
    cycles: u64,
    seed: u64,
) -> Result<Waveform, ParamError> {
    let ports = entry.ports(params)?;
    let in_reset: Vec<Vec<u64>> = side(&ports, Direction::Output).map(|port| vec![0; port.words()]).collect();
    let samples = (0..cycles).zip(stimulus(entry, params, seed)?).map(|(cycle, clock)| {
        let outputs = if clock.reset {
            rtl.reset();
            in_reset.clone()
        } else {
            rtl.step(&clock.inputs)
        };
        let mut values = clock.inputs;
        values.extend(outputs);
        Sample { cycle, reset: clock.reset, values }
    });
    let trace =
        Trace { instance: entry.name().to_string(), ports: ports.clone(), samples: samples.collect() };
    let mut vcd = Vec::new();
    write_vcd(&mut vcd, &[trace]).expect(IN_MEMORY);
    Ok(Waveform { vcd, block: entry.name(), ports })
}
