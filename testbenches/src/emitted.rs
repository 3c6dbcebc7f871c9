//! A block's emitted Verilog, together with what is needed to drive it: ports and reset style.
use crate::tool::{self, ToolError};
use selvedge_hw::Port;
use std::path::{Path, PathBuf};

/// The reset of the emitted Verilog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// `rst_ni`, asynchronous, active low.
    AsyncLow,
    /// `rst_i`, synchronous, active high.
    SyncHigh,
    /// No reset port: registers begin with their reset values.
    None,
}

impl Reset {
    /// Name of the reset port, where there is one.
    pub fn port(self) -> Option<&'static str> {
        match self {
            Reset::AsyncLow => Some("rst_ni"),
            Reset::SyncHigh => Some("rst_i"),
            Reset::None => None,
        }
    }

    /// Level of the reset port while reset is active or not.
    pub fn level(self, active: bool) -> bool {
        active == matches!(self, Reset::SyncHigh)
    }
}

/// A Verilog file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its module's name; the file is called after it.
    pub module: String,
    /// Its text.
    pub text: String,
}

/// A block as Verilog.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Name of the top module, which is the block's.
    pub name: String,
    /// Every port but clock and reset, inputs first.
    pub ports: Vec<Port>,
    /// Its reset.
    pub reset: Reset,
    /// Every module.
    pub sources: Vec<Source>,
}

impl Emitted {
    /// Writes each module to a file of its name in `folder`, and returns the file names.
    ///
    /// # Errors
    /// [`ToolError::Io`] when a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let write = |source: &Source| {
            let name = PathBuf::from(format!("{}.v", source.module));
            tool::write(&folder.join(&name), &source.text).map(|()| name)
        };
        self.sources.iter().map(write).collect()
    }
}
