//! Writes a waveform as an FST file, GTKWave's compressed binary format, which other viewers read too.
use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType, FstWriteError,
};
use selvedge_hw::wave::{Sink, Trace, VariableKind, WaveVariable, write};
use std::io::{self, Cursor};

type FstBytes = Cursor<Vec<u8>>;

/// One picosecond, as a power of ten of a second.
const PICOSECOND: i8 = -12;

/// Max size in memory of changes that are compressed together, bytes.
const SECTION: usize = 64 << 20;

/// Returns the bytes of an FST file of these traces.
///
/// # Errors
/// The error of the writer.
pub fn fst(traces: &[Trace]) -> io::Result<Vec<u8>> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: PICOSECOND,
        version: "Selvedge".into(),
        // Without a date, the same run gives the same file.
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let header = FstHeaderWriter::new(FstBytes::default(), &info).map_err(broken)?;
    write(Fst { stage: Some(FstStage::Header(header)), has_time: false }, traces)
}

/// Writes an FST file to memory.
struct Fst {
    /// The current stage; `None` only during a transition.
    stage: Option<FstStage>,
    /// `true` if a time after 0 is written. Readers fail on an empty table of times, and the writer omits time 0.
    has_time: bool,
}

enum FstStage {
    Header(FstHeaderWriter<FstBytes>),
    Body(FstBodyWriter<FstBytes>),
}

fn broken(error: FstWriteError) -> io::Error {
    io::Error::other(error)
}

impl Fst {
    fn header(&mut self) -> io::Result<&mut FstHeaderWriter<FstBytes>> {
        match &mut self.stage {
            Some(FstStage::Header(header)) => Ok(header),
            _ => Err(io::Error::other("the declarations have ended")),
        }
    }

    fn body(&mut self) -> io::Result<&mut FstBodyWriter<FstBytes>> {
        match &mut self.stage {
            Some(FstStage::Body(body)) => Ok(body),
            _ => Err(io::Error::other("the declarations have not ended")),
        }
    }
}

impl Sink for Fst {
    type Id = FstSignalId;
    type Output = Vec<u8>;

    fn open(&mut self, scope: &str) -> io::Result<()> {
        self.header()?.scope(scope, "", FstScopeType::Module).map_err(broken)
    }

    fn close(&mut self) -> io::Result<()> {
        self.header()?.up_scope().map_err(broken)
    }

    fn variable(&mut self, variable: &WaveVariable<'_>) -> io::Result<FstSignalId> {
        let (kind, direction) = match variable.kind {
            VariableKind::Number => (FstVarType::Integer, FstVarDirection::Implicit),
            VariableKind::Input => (FstVarType::Wire, FstVarDirection::Input),
            VariableKind::Output => (FstVarType::Wire, FstVarDirection::Output),
            VariableKind::Register | VariableKind::Text => (FstVarType::Reg, FstVarDirection::Implicit),
        };
        // FST names of vectors contain the range.
        let name = match (variable.kind, variable.bits) {
            (VariableKind::Number, _) | (_, 1) => variable.name.to_string(),
            (_, bits) => format!("{} [{}:0]", variable.name, bits - 1),
        };
        let width = FstSignalType::bit_vec(variable.bits as u32);
        self.header()?.var(name, width, kind, direction, None).map_err(broken)
    }

    fn begin(&mut self) -> io::Result<()> {
        let Some(FstStage::Header(header)) = self.stage.take() else {
            return Err(io::Error::other("the declarations have ended"));
        };
        self.stage = Some(FstStage::Body(header.finish().map_err(broken)?));
        Ok(())
    }

    fn time(&mut self, ps: u64) -> io::Result<()> {
        let body = self.body()?;
        if body.size() > SECTION {
            body.flush().map_err(broken)?;
        }
        body.time_change(ps).map_err(broken)?;
        self.has_time |= ps > 0;
        Ok(())
    }

    fn change(&mut self, id: FstSignalId, bits: &[u8]) -> io::Result<()> {
        self.body()?.signal_change(id, bits).map_err(broken)
    }

    fn text(&mut self, id: FstSignalId, text: &str) -> io::Result<()> {
        // The format's writer has no strings. Viewers show these bits as ASCII.
        let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
        self.change(id, bits.as_bytes())
    }

    fn finish(mut self) -> io::Result<Vec<u8>> {
        if !self.has_time {
            self.time(1)?;
        }
        let Some(FstStage::Body(body)) = self.stage.take() else {
            return Err(io::Error::other("the declarations have not ended"));
        };
        Ok(body.finish().map_err(broken)?.into_inner())
    }
}
