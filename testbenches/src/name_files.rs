//! Writes files with names of values for a waveform. GTKWave reads them as translate filter files, Surfer as mappings.
use selvedge_hw::Port;
use selvedge_hw::rtl::registers::Register;
use selvedge_hw::wave::Trace;
use std::fmt::Write;

/// The names of the values of a signal with a given width.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SignalValueNames {
    what: String,
    bits: usize,
    names: Vec<(u64, String)>,
}

/// The distinct files that the signals of a waveform need.
#[derive(Clone, Debug, Default)]
pub struct NameFiles(Vec<SignalValueNames>);

impl NameFiles {
    /// Returns the files of all ports and registers in these traces.
    pub fn of(traces: &[Trace]) -> Self {
        let mut files = NameFiles::default();
        let ports =
            traces.iter().flat_map(|trace| trace.ports.iter().filter_map(|port| of_port(trace, port)));
        let registers = traces.iter().flat_map(|trace| trace.registers.iter().filter_map(of_register));
        for names in ports.chain(registers) {
            if !files.0.contains(&names) {
                files.0.push(names);
            }
        }
        files
    }

    /// Returns the number of the file of a port, from 0.
    pub fn port(&self, trace: &Trace, port: &Port) -> Option<usize> {
        let names = of_port(trace, port)?;
        self.0.iter().position(|known| *known == names)
    }

    /// Returns the number of the file of a register, from 0.
    pub fn register(&self, register: &Register) -> Option<usize> {
        let names = of_register(register)?;
        self.0.iter().position(|known| *known == names)
    }

    /// Returns the name and text of each file. `stem` is the waveform's file name without extension.
    pub fn files(&self, stem: &str) -> Vec<(String, String)> {
        (0..self.0.len()).map(|at| (format!("{stem}.{}.names", self.title(at)), self.text(at))).collect()
    }

    /// Returns the title of a file. If several files have the same title, the later ones get a number.
    fn title(&self, at: usize) -> String {
        let what = &self.0[at].what;
        match self.0[..at].iter().filter(|earlier| earlier.what == *what).count() {
            0 => what.clone(),
            earlier => format!("{what}_{}", earlier + 1),
        }
    }

    /// Returns the text of a file: the two lines of Surfer's head, then one line per value. GTKWave takes the head as values
    /// that no signal has.
    fn text(&self, at: usize) -> String {
        let mut text = format!("Name: {}\nBits: {}\n", self.title(at), self.0[at].bits);
        for (value, name) in &self.0[at].names {
            writeln!(text, "{value} {name}").expect("writing to memory cannot fail");
        }
        text
    }
}

fn of_port(trace: &Trace, port: &Port) -> Option<SignalValueNames> {
    let found = trace.names.iter().find(|names| names.ports.contains(&port.name))?;
    let names = found.names.iter().map(|(value, name)| (*value, name.to_string())).collect();
    (port.bits > 1).then(|| SignalValueNames { what: found.what.into(), bits: port.bits, names })
}

fn of_register(register: &Register) -> Option<SignalValueNames> {
    let is_named = !register.values.is_empty() && register.bits > 1;
    is_named.then(|| SignalValueNames {
        what: register.what.clone(),
        bits: register.bits,
        names: register.values.clone(),
    })
}
