//! A waveform as a VCD file: times in picoseconds, descriptions of ports as comments.
use crate::wave::{Sink, VariableKind, WaveVariable};
use std::io::{self, Write};
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// A writer of VCD text.
pub struct Vcd<W: Write>(Writer<W>);

impl<W: Write> Vcd<W> {
    /// Returns a writer to `out`.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Writer::new(out);
        writer.timescale(1, TimescaleUnit::PS)?;
        Ok(Vcd(writer))
    }
}

impl<W: Write> Sink for Vcd<W> {
    type Id = IdCode;
    type Output = ();

    fn open(&mut self, scope: &str) -> io::Result<()> {
        self.0.add_module(scope)
    }

    fn close(&mut self) -> io::Result<()> {
        self.0.upscope()
    }

    fn variable(&mut self, variable: &WaveVariable<'_>) -> io::Result<IdCode> {
        let kind = match variable.kind {
            VariableKind::Number => VarType::Integer,
            VariableKind::Input | VariableKind::Output => VarType::Wire,
            VariableKind::Register => VarType::Reg,
            VariableKind::Text => VarType::String,
        };
        // Texts have any length; simulators declare them with one bit.
        let bits = if variable.kind == VariableKind::Text { 1 } else { variable.bits };
        let id = self.0.add_var(kind, bits as u32, variable.name, None)?;
        if !variable.doc.is_empty() {
            // `$end` in the text would end the VCD comment.
            let doc = variable.doc.replace("$end", "end");
            self.0.comment(&format!("{}: {}", variable.name, doc.trim()))?;
        }
        Ok(id)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.0.enddefinitions()
    }

    fn time(&mut self, ps: u64) -> io::Result<()> {
        self.0.timestamp(ps)
    }

    fn change(&mut self, id: IdCode, bits: &[u8]) -> io::Result<()> {
        let value = |bit: &u8| match bit {
            b'0' => Value::V0,
            b'1' => Value::V1,
            _ => Value::X,
        };
        match bits {
            [bit] => self.0.change_scalar(id, value(bit)),
            bits => self.0.change_vector(id, bits.iter().map(value)),
        }
    }

    fn text(&mut self, id: IdCode, text: &str) -> io::Result<()> {
        self.0.change_string(id, text)
    }

    fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}
