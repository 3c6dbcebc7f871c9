//! A block's emitted Verilog with its ports and reset style.
use crate::properties;
use crate::tool::{self, ToolError};
use selvedge_gen::{Design, EmitError, EmitOptions, Family, Language, ResetStyle, emit};
use selvedge_gen::{MemoryForm, MemoryInstance, memories, with_macros};
use selvedge_hw::{BlockEntry, ParamError, Port};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the level of the reset port while reset is active or inactive.
pub(crate) fn reset_level(style: ResetStyle, active: bool) -> bool {
    active == (style == ResetStyle::SyncHigh)
}

/// A Verilog file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerilogFile {
    /// Name of its module and stem of its file.
    pub module: String,
    /// Its language, which determines the file extension.
    pub language: Language,
    /// Its text.
    pub text: String,
}

impl VerilogFile {
    /// Returns the name of the file.
    pub fn file(&self) -> String {
        format!("{}.{}", self.module, self.language.extension())
    }
}

/// A block as Verilog.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Name of the top module and of the block.
    pub name: String,
    /// All ports except clock and reset, inputs first.
    pub ports: Vec<Port>,
    /// Reset style.
    pub reset: ResetStyle,
    /// All modules.
    pub sources: Vec<VerilogFile>,
}

/// A block could not be written as Verilog.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmittedError {
    /// The parameters are not valid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The back end refused the block.
    #[error(transparent)]
    Emit(#[from] EmitError),
}

impl Emitted {
    /// Emits a block with the given parameters. Its top module has the block's name and the parameters of the block's
    /// Verilog.
    ///
    /// # Errors
    /// [`EmittedError`] if the parameters are invalid, or if the back end cannot translate the block.
    pub fn of(entry: &dyn BlockEntry, params: &Value, options: &EmitOptions) -> Result<Self, EmittedError> {
        let design = Family::of(entry, params)?.emit(entry.name(), options)?;
        Ok(Self::of_design(entry, params, options, design)?)
    }

    /// Emits a block. Macros replace its memories that read at a clock edge.
    ///
    /// # Errors
    /// The same as [`Self::of`].
    pub fn with_macros(
        entry: &dyn BlockEntry,
        params: &Value,
        options: &EmitOptions,
        form: MemoryForm,
    ) -> Result<Self, EmittedError> {
        let design = Family::of(entry, params)?.emit(entry.name(), options)?;
        let shapes = memories(&*entry.elaborate(params)?).iter().filter_map(MemoryInstance::shape).collect();
        Ok(Self::of_design(entry, params, options, with_macros(design, &shapes, form, options))?)
    }

    /// Emits the same module as [`Self::of`] does for default parameters, and changes the defaults of its Verilog parameters
    /// to the values in `params`.
    ///
    /// # Errors
    /// The same as [`Self::of`].
    ///
    /// # Panics
    /// If the top module does not declare each parameter, which is a bug of the back end.
    pub fn with_values(
        entry: &dyn BlockEntry,
        params: &Value,
        options: &EmitOptions,
    ) -> Result<Self, EmittedError> {
        let (defaults, mut fixed) = (entry.defaults(), params.clone());
        for name in entry.verilog_parameters() {
            fixed[*name] = defaults[*name].clone();
        }
        let design = Family::of(entry, &fixed)?.emit(entry.name(), options)?;
        let mut emitted = Self::of_design(entry, params, options, design)?;
        let top =
            &mut emitted.sources.last_mut().expect("a design has at least the module of its block").text;
        for name in entry.verilog_parameters() {
            let declared = |value: &Value| format!(" {} = {value}", name.to_ascii_uppercase());
            let declares = |line: &&str| {
                line.trim_start().starts_with("parameter ")
                    && line.trim_end_matches(',').ends_with(&declared(&defaults[*name]))
            };
            let line = top.lines().find(declares).map(String::from);
            let line = line.unwrap_or_else(|| panic!("{} declares `{name}`", entry.name()));
            *top =
                top.replacen(&line, &line.replace(&declared(&defaults[*name]), &declared(&params[*name])), 1);
        }
        Ok(emitted)
    }

    /// Emits a block with the values of all parameters fixed in the text.
    ///
    /// # Errors
    /// The same as [`Self::of`].
    pub fn fixed(
        entry: &dyn BlockEntry,
        params: &Value,
        options: &EmitOptions,
    ) -> Result<Self, EmittedError> {
        let design = emit(&*entry.elaborate(params)?, entry.name(), options)?;
        Ok(Self::of_design(entry, params, options, design)?)
    }

    /// Emits a block with its properties as assertions; some blocks have none. The assertions are valid for the given
    /// parameters, whose values are fixed in the text.
    ///
    /// # Errors
    /// The same as [`Self::of`].
    pub fn with_properties(
        entry: &dyn BlockEntry,
        params: &Value,
        options: &EmitOptions,
    ) -> Result<Self, EmittedError> {
        let mut design = emit(&*entry.elaborate(params)?, entry.name(), options)?;
        if let Some(properties) = properties::of(entry.name(), params) {
            properties::attach(&mut design, &properties, &entry.ports(params)?, options.reset);
        }
        Ok(Self::of_design(entry, params, options, design)?)
    }

    fn of_design(
        entry: &dyn BlockEntry,
        params: &Value,
        options: &EmitOptions,
        design: Design,
    ) -> Result<Self, ParamError> {
        let source = |module: selvedge_gen::VerilogModule| VerilogFile {
            module: module.name,
            language: module.language,
            text: module.text,
        };
        Ok(Emitted {
            name: entry.name().to_string(),
            ports: entry.ports(params)?,
            reset: options.reset,
            sources: design.modules.into_iter().map(source).collect(),
        })
    }

    /// Writes each module to its file in `folder`. Returns the file names.
    ///
    /// # Errors
    /// [`ToolError::Io`] if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let write = |source: &VerilogFile| {
            let name = PathBuf::from(source.file());
            tool::write(&folder.join(&name), &source.text).map(|()| name)
        };
        self.sources.iter().map(write).collect()
    }
}
