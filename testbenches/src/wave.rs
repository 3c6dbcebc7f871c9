//! Records waveforms of blocks, and writes additional files for viewers: save files and names of values.
use crate::fst::fst;
use crate::gtkwave::save_file;
use crate::name_files::NameFiles;
use crate::surfer::command_file;
use crate::vectors::{side, stimulus};
use selvedge_hw::rtl::layout::SignalLayout;
use selvedge_hw::rtl::registers::BlockRegisters;
use selvedge_hw::wave::{CycleSample, Trace, write_vcd};
use selvedge_hw::{BlockEntry, Clock, ClockedBits, Direction, ParamError};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Extensions of waveform formats that are unsupported.
const OTHERS: [&str; 8] = ["fsdb", "ghw", "lxt", "lxt2", "lx2", "shm", "vpd", "vzt"];

/// A format of waveforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFormat {
    /// Text that every viewer reads (VCD).
    Vcd,
    /// GTKWave's compressed format (FST).
    Fst,
}

impl WaveFormat {
    /// Returns the format of a file from its extension: FST for `.fst`, otherwise VCD.
    ///
    /// # Errors
    /// A message if the extension belongs to an unsupported format.
    pub fn of(path: &Path) -> Result<Self, String> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("fst") => Ok(WaveFormat::Fst),
            Some(other) if OTHERS.contains(&other) => {
                Err(format!("cannot write {}: must end in .vcd or .fst", path.display()))
            }
            _ => Ok(WaveFormat::Vcd),
        }
    }
}

/// Recorded block instances.
#[derive(Clone, Debug)]
pub struct Waveform {
    /// The trace of each instance.
    pub traces: Vec<Trace>,
}

impl Waveform {
    /// Returns the VCD file. It contains `clk_i`, `rst_ni`, every port and every recorded register under
    /// `selvedge.<instance>`, and the cycle number under `selvedge`. A cycle begins with the rising edge. Outputs are
    /// unknown in reset.
    ///
    /// # Panics
    /// Never: writing to memory cannot fail.
    pub fn vcd(&self) -> Vec<u8> {
        let mut text = Vec::new();
        write_vcd(&mut text, &self.traces).expect("writing to memory cannot fail");
        text
    }

    /// Returns the contents of [`Self::vcd`] as an FST file.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn fst(&self) -> io::Result<Vec<u8>> {
        fst(&self.traces)
    }

    /// Returns the waveform in the format that the extension of `path` selects.
    ///
    /// # Errors
    /// A message if the format is unsupported or the writer fails.
    pub fn bytes(&self, path: &Path) -> Result<Vec<u8>, String> {
        match WaveFormat::of(path)? {
            WaveFormat::Vcd => Ok(self.vcd()),
            WaveFormat::Fst => self.fst().map_err(|e| format!("cannot write {}: {e}", path.display())),
        }
    }

    /// Returns the additional files of the waveform at `path`: GTKWave's save file, Surfer's command file, and the files
    /// with names of values.
    ///
    /// # Errors
    /// A message if `path` is not a file name.
    pub fn beside(&self, path: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
        let no_file = || format!("cannot write {}: it is no file name", path.display());
        let name = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned()).ok_or_else(no_file)
        };
        let (name, stem) = (name(path.file_name())?, name(path.file_stem())?);
        let save = save_file(&self.traces, &name, &stem).into_bytes();
        let commands = command_file(&self.traces).into_bytes();
        let mut files = vec![(save_path(path), save), (path.with_extension("sucl"), commands)];
        for (name, text) in NameFiles::of(&self.traces).files(&stem) {
            files.push((path.with_file_name(name), text.into_bytes()));
        }
        Ok(files)
    }
}

/// Returns the path of the save file of a waveform.
pub fn save_path(waveform: &Path) -> PathBuf {
    waveform.with_extension("gtkw")
}

/// The options of a recording.
#[derive(Clone, Copy, Debug)]
pub struct RecordingOptions {
    /// Cycles of stimulus, the first of them in reset.
    pub cycles: u64,
    /// Seed of the stimulus.
    pub seed: u64,
    /// The block's clock.
    pub clock: Clock,
    /// `true` to record the registers too.
    pub inside: bool,
}

/// Runs a block's stimulus through its RTL, and records it.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn run(
    entry: &dyn BlockEntry,
    params: &Value,
    recording: RecordingOptions,
) -> Result<Waveform, ParamError> {
    run_on(&mut *entry.rtl(params)?, entry, params, recording)
}

/// Records like [`run`], with another circuit instead of the RTL. A circuit that is not RTL has no registers to record.
///
/// # Errors
/// The same as [`run`].
pub fn run_on(
    rtl: &mut dyn ClockedBits,
    entry: &dyn BlockEntry,
    params: &Value,
    recording: RecordingOptions,
) -> Result<Waveform, ParamError> {
    let ports = entry.ports(params)?;
    let registers = match (recording.inside, rtl.block()) {
        (true, Some(block)) => BlockRegisters::of(block),
        _ => BlockRegisters::default(),
    };
    let in_reset: Vec<Vec<u64>> = side(&ports, Direction::Output).map(|port| vec![0; port.words()]).collect();
    let mut samples = Vec::new();
    for (cycle, clock) in (0..recording.cycles).zip(stimulus(entry, params, recording.seed)?) {
        if clock.reset {
            rtl.reset();
        }
        // A step ends with the edge that updates the registers, so this reads them before the step.
        let held = rtl.block().filter(|_| recording.inside).map(|block| registers.read(block));
        let outputs = if clock.reset { in_reset.clone() } else { rtl.step(&clock.inputs) };
        let mut values = clock.inputs;
        values.extend(outputs);
        samples.push(CycleSample { cycle, reset: clock.reset, values, registers: held.unwrap_or_default() });
    }
    let elaborated;
    let block = match rtl.block() {
        Some(block) => block,
        None => {
            elaborated = entry.elaborate(params)?;
            &*elaborated
        }
    };
    let trace = Trace {
        instance: entry.name().to_string(),
        clock: recording.clock,
        is_gated: false,
        fields: SignalLayout::of_ports(block, &ports),
        ports,
        names: entry.value_names(),
        events: entry.events(),
        registers: registers.list().to_vec(),
        samples,
    };
    Ok(Waveform { traces: vec![trace] })
}
