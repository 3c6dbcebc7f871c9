//! Writes GTKWave's save file: the signals of a waveform in groups, with a zoom and a time at which the block is active.
use crate::name_files::NameFiles;
use crate::vectors::side;
use crate::wave::WaveFormat;
use selvedge_hw::rtl::registers::Register;
use selvedge_hw::wave::{CycleSample, ROOT, Trace, clocks, cycle_variable, fields_scope};
use selvedge_hw::wave_event::EventRow;
use selvedge_hw::{Clock, Direction, Port};
use std::fmt::Write;
use std::path::Path;

/// Size of the window, pixels.
const WINDOW: (u32, u32) = (1600, 900);
/// Width of the panel with names and values, pixels.
const NAMES: u32 = 420;
/// Width of the waves while the tree of scopes is folded, pixels.
const WAVES: f64 = 1140.0;
/// Width to which GTKWave's zoom refers, pixels: at zoom Z it shows 2^-Z units of time.
const FRAME: f64 = 200.0;
/// Cycles that fill the window.
const CYCLES: f64 = 20.0;
/// Cycles before the first interesting one that are visible.
const BEFORE: u64 = 2;
/// Ports with more bits are also shown as words of 32 bits.
const WIDE: usize = 64;
const WORD: usize = 32;

const IN_MEMORY: &str = "writing to memory cannot fail";

// Flags of lines, which save files write in hexadecimal.
const HEXADECIMAL: u32 = 0x2;
const DECIMAL: u32 = 0x4;
const BINARY: u32 = 0x8;
const RIGHT: u32 = 0x20;
const BLANK: u32 = 0x200;
const ASCII: u32 = 0x800;
const COLLAPSED: u32 = 0x1000;
const TRANSLATED: u32 = 0x2000;
const CLOSED: u32 = 0x40_0000;
const BEGIN: u32 = 0x80_0000;
const END: u32 = 0x100_0000;

/// Returns the save file of the waveform with the file name `waveform` in the same folder. `stem` is that name without
/// extension.
pub fn save_file(traces: &[Trace], waveform: &str, stem: &str) -> String {
    let names = NameFiles::of(traces);
    let mut file = SaveFile {
        text: String::new(),
        has_strings: WaveFormat::of(Path::new(waveform)) == Ok(WaveFormat::Vcd),
        files: names.files(stem).into_iter().map(|(name, _)| name).collect(),
    };
    let title: Vec<&str> = traces.iter().map(|trace| trace.instance.as_str()).collect();
    let view = InitialView::of(traces);
    // If both names lack a folder, GTKWave looks for the waveform next to the save file, not in the current folder.
    write!(
        file.text,
        "[*]\n[*] {} of Selvedge\n[*]\n[dumpfile] \"{waveform}\"\n[savefile] \"{stem}.gtkw\"\n[timestart] {}\n\
         [size] {} {}\n[pos] -1 -1\n*{:.6} {}{}\n",
        title.join(", "),
        view.start,
        WINDOW.0,
        WINDOW.1,
        view.zoom,
        view.marker,
        // The named markers a to z.
        " -1".repeat(26),
    )
    .expect(IN_MEMORY);
    writeln!(file.text, "[treeopen] {ROOT}.").expect(IN_MEMORY);
    for trace in traces {
        writeln!(file.text, "[treeopen] {ROOT}.{}.", trace.instance).expect(IN_MEMORY);
    }
    writeln!(file.text, "[sst_width] 1\n[signals_width] {NAMES}\n[sst_expanded] 0").expect(IN_MEMORY);
    for clock in clocks(traces) {
        // In GTKWave a number has no range, unlike a vector with the same number of bits.
        file.line(DECIMAL | RIGHT, &format!("{ROOT}.{}", cycle_variable(traces, clock)), None);
    }
    for trace in traces {
        match traces.len() {
            1 => file.trace(trace, &names),
            _ => file.group(&trace.instance, |file| file.trace(trace, &names)),
        }
    }
    file.text
}

/// The initial view of the window.
pub(crate) struct InitialView {
    /// Time at the left edge, picoseconds.
    start: u64,
    /// Time of the marker, whose values are listed next to the names, picoseconds.
    pub(crate) marker: u64,
    zoom: f64,
}

impl InitialView {
    /// Returns a view of the first decision of any trace, or else of the first interesting cycle.
    pub(crate) fn of(traces: &[Trace]) -> Self {
        let period =
            clocks(traces).iter().map(Clock::period).reduce(f64::max).unwrap_or(Clock::default().period());
        let zoom = -(CYCLES * period * FRAME / WAVES).log2();
        let earliest = |find: fn(&Trace) -> Option<&CycleSample>| {
            let found = traces.iter().filter_map(|trace| Some((trace, find(trace)?)));
            found.min_by_key(|(trace, sample)| trace.clock.rise(sample.cycle))
        };
        let first = earliest(first_decision).or_else(|| earliest(first_interesting));
        let Some((trace, sample)) = first else { return InitialView { start: 0, marker: 0, zoom } };
        // Cycles in reset are not interesting, and no signal has a value before the first sample.
        let last_reset = trace.samples.iter().rfind(|one| one.reset && one.cycle < sample.cycle);
        let awake = last_reset.map_or(trace.samples[0].cycle, |one| one.cycle + 1);
        let start = trace.clock.rise(sample.cycle.saturating_sub(BEFORE).max(awake));
        InitialView { start, marker: trace.clock.rise(sample.cycle), zoom }
    }
}

/// Returns the first sample in which a decision begins. It is unknown whether a decision in the first sample begins there.
fn first_decision(trace: &Trace) -> Option<&CycleSample> {
    let rows: Vec<EventRow<'_>> =
        EventRow::of(trace).into_iter().filter(|row| row.event.is_decision).collect();
    let begins = |pair: &&[CycleSample]| rows.iter().any(|row| row.occurs(&pair[1]) && !row.occurs(&pair[0]));
    trace.samples.windows(2).find(begins).map(|pair| &pair[1])
}

/// Returns the first sample in which the block accepts or returns an item. Otherwise returns the first sample out of reset, or
/// else the first sample.
fn first_interesting(trace: &Trace) -> Option<&CycleSample> {
    let awake = || trace.samples.iter().filter(|sample| !sample.reset);
    let first = awake().find(|sample| is_interesting(trace, sample));
    first.or_else(|| awake().next()).or_else(|| trace.samples.first())
}

/// Returns whether a valid input or output is accepted. In a block without valid inputs, returns whether an input bit is
/// set.
fn is_interesting(trace: &Trace, sample: &CycleSample) -> bool {
    let bits = || trace.ports.iter().zip(&sample.values).filter(|(port, _)| port.bits == 1);
    let is_set = |name: &str| bits().find(|(port, _)| port.name == name).map(|(_, value)| value[0] != 0);
    let mut has_valid = false;
    for (port, value) in bits() {
        let accepts = match (port.name.strip_suffix("valid_i"), port.name.strip_suffix("valid_o")) {
            (Some(stem), _) => is_set(&format!("{stem}ready_o")),
            (_, Some(stem)) => is_set(&format!("{stem}ready_i")),
            _ => continue,
        };
        has_valid |= port.direction == Direction::Input;
        if value[0] != 0 && accepts.unwrap_or(true) {
            return true;
        }
    }
    !has_valid && bits().any(|(port, value)| port.direction == Direction::Input && value[0] != 0)
}

/// The text of a save file.
struct SaveFile {
    text: String,
    /// `true` if rows of text are strings, `false` if they are bits of characters.
    has_strings: bool,
    /// The files with names of values.
    files: Vec<String>,
}

impl SaveFile {
    /// Adds the signals of an instance.
    fn trace(&mut self, trace: &Trace, names: &NameFiles) {
        let scope = format!("{ROOT}.{}", trace.instance);
        self.group("clock and reset", |file| {
            file.line(BINARY | RIGHT, &format!("{scope}.clk_i"), None);
            file.line(BINARY | RIGHT, &format!("{scope}.rst_ni"), None);
        });
        let rows = EventRow::of(trace);
        if !rows.is_empty() {
            self.group("events", |file| {
                for row in &rows {
                    let bits = if file.has_strings { 1 } else { 8 * row.width() };
                    file.line(ASCII | RIGHT, &signal(&scope, row.event.name, bits), None);
                }
            });
        }
        for (title, direction) in [("inputs", Direction::Input), ("outputs", Direction::Output)] {
            self.group(title, |file| {
                side(&trace.ports, direction)
                    .for_each(|port| file.port(&scope, trace, port, names.port(trace, port)));
            });
        }
        if !trace.registers.is_empty() {
            // Registers of a sub-block have a separate group with its name, because many registers have the same name.
            let mut registers: Vec<&Register> = trace.registers.iter().collect();
            registers.sort_by_key(|register| &register.scope);
            self.group("registers", |file| {
                for of_block in registers.chunk_by(|a, b| a.scope == b.scope) {
                    let inner = of_block[0].scope.join(".");
                    match inner.is_empty() {
                        true => file.registers(&scope, of_block, names),
                        false => file.group(&inner, |file| {
                            file.registers(&format!("{scope}.{inner}"), of_block, names)
                        }),
                    }
                }
            });
        }
    }

    /// Adds the registers of a scope.
    fn registers(&mut self, scope: &str, registers: &[&Register], names: &NameFiles) {
        for register in registers {
            let translated = names.register(register);
            let name = signal(scope, &register.name, register.bits);
            self.line(format(register.bits, translated), &name, translated);
        }
    }

    /// Adds a port. A port with a layout gets a group with its fields, a wide port a folded one with its words.
    fn port(&mut self, scope: &str, trace: &Trace, port: &Port, translated: Option<usize>) {
        let name = signal(scope, port.name, port.bits);
        let flags = format(port.bits, translated);
        let fields = trace.fields_of(port.name);
        if fields.is_empty() && port.bits <= WIDE {
            self.line(flags, &name, translated);
            return;
        }
        let folded = if fields.is_empty() { CLOSED } else { 0 };
        self.line(flags | BEGIN | folded, &name, None);
        let inner = format!("{scope}.{}", fields_scope(port.name));
        for field in fields {
            self.line(format(field.bits, None), &signal(&inner, &field.name, field.bits), None);
        }
        if fields.is_empty() {
            self.words(port, &name);
        }
        self.line(END | folded | COLLAPSED | BLANK, "-group_end", None);
    }

    /// Adds the words of a port with the signal `name`, the lowest first.
    fn words(&mut self, port: &Port, name: &str) {
        for low in (0..port.bits).step_by(WORD) {
            let high = (low + WORD).min(port.bits) - 1;
            let mut word = format!("#{{{}[{high}:{low}]}}", port.name);
            // GTKWave numbers the bits of a vector from the left.
            for bit in (low..=high).rev() {
                write!(word, " ({}){name}", port.bits - 1 - bit).expect(IN_MEMORY);
            }
            self.line(HEXADECIMAL | RIGHT, &word, None);
        }
    }

    /// Adds a group, whose contents `fill` adds.
    fn group(&mut self, title: &str, fill: impl FnOnce(&mut Self)) {
        self.line(BEGIN | BLANK, &format!("-{title}"), None);
        fill(self);
        self.line(END | BLANK, &format!("-{title}"), None);
    }

    fn line(&mut self, flags: u32, what: &str, translated: Option<usize>) {
        writeln!(self.text, "@{flags:x}").expect(IN_MEMORY);
        if let Some(at) = translated {
            writeln!(self.text, "^{} {}", at + 1, self.files[at]).expect(IN_MEMORY);
        }
        writeln!(self.text, "{what}").expect(IN_MEMORY);
    }
}

/// Returns the format flags of a line: single bits in binary, up to 16 bits in decimal, and wider values in hexadecimal.
/// Names replace decimal numbers.
fn format(bits: usize, translated: Option<usize>) -> u32 {
    let format = match bits {
        1 => BINARY,
        2..=16 => DECIMAL,
        _ if translated.is_some() => DECIMAL,
        _ => HEXADECIMAL,
    };
    format | RIGHT | if translated.is_some() { TRANSLATED } else { 0 }
}

/// Returns a signal's name in GTKWave: a vector has its range.
fn signal(scope: &str, name: &str, bits: usize) -> String {
    match bits {
        1 => format!("{scope}.{name}"),
        _ => format!("{scope}.{name}[{}:0]", bits - 1),
    }
}
