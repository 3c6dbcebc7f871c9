//! Choices for emission.
use selvedge_hw::BlockEntry;
use serde_json::Value;
use strum::{Display, EnumString, VariantNames};

/// Reset style of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = UnknownReset, parse_err_fn = UnknownReset::new)]
pub enum ResetStyle {
    /// `rst_ni`: asynchronous, active low, of control alone; data registers have no reset and start unknown.
    #[default]
    Control,
    /// `rst_ni`: asynchronous, active low, of data registers, too.
    AsyncLow,
    /// `rst_i`: synchronous, active high, of data registers, too.
    SyncHigh,
    /// No reset input; registers have initial values.
    None,
}

impl ResetStyle {
    /// The name of the reset input, if there is one.
    pub fn port(self) -> Option<&'static str> {
        match self {
            ResetStyle::Control | ResetStyle::AsyncLow => Some("rst_ni"),
            ResetStyle::SyncHigh => Some("rst_i"),
            ResetStyle::None => None,
        }
    }
}

/// A word that names no reset style.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown reset style '{0}': must be {names}", names = ResetStyle::VARIANTS.join(", "))]
pub struct UnknownReset(pub String);

impl UnknownReset {
    fn new(text: &str) -> Self {
        UnknownReset(text.into())
    }
}

/// Owner of the modules of the kit's cells: memories, pipelines, packers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// All blocks share modules such as `selvedge_mem`. The same name always has the same text.
    #[default]
    Shared,
    /// Each block has its own modules, named after it, so that its files are self-contained.
    Own,
}

/// The language of emitted modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// Verilog-2005, in files `.v`.
    #[default]
    Verilog,
    /// SystemVerilog, in files `.sv`: `logic`, `always_comb`, `always_ff`.
    SystemVerilog,
}

impl Language {
    /// Returns the file extension of the language.
    pub const fn extension(self) -> &'static str {
        match self {
            Language::Verilog => "v",
            Language::SystemVerilog => "sv",
        }
    }
}

/// Contents of the comment at the head of every file, in addition to the block's doc comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHeader {
    /// Elaboration parameters and their values, in order.
    pub parameters: Vec<(String, String)>,
    /// The paper's section that the design follows: `CABA, section 5.1`.
    pub source: String,
    /// Name and version of the tool: `selvedge 0.1.0`.
    pub tool: String,
    /// The license as an SPDX expression.
    pub license: String,
    /// The documentation of the block, in Markdown. It is written into the head of the block's module.
    pub documentation: String,
}

/// The options of emission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmitOptions {
    /// Reset style of registers.
    pub reset: ResetStyle,
    /// Contents of the head comment.
    pub header: FileHeader,
    /// Owner of the modules of the kit's cells.
    pub cells: Cells,
    /// Language of all modules.
    pub language: Language,
    /// `true` to gate the clocks of registers with conditions.
    pub clock_gating: bool,
    /// Prefix of all module names, for designs with other modules of the same names.
    pub prefix: String,
}

impl EmitOptions {
    /// Returns the options for a block. `params` must be complete. The head comment contains the block's documentation,
    /// parameters, source and license, and the version of Selvedge. The block shares the kit's cells.
    pub fn of(entry: &dyn BlockEntry, params: &Value, reset: ResetStyle) -> Self {
        let value = |name: &str| (name.to_string(), params[name].to_string());
        EmitOptions {
            reset,
            header: FileHeader {
                parameters: entry.schema().iter().map(|spec| value(spec.name)).collect(),
                source: entry.source().into(),
                tool: concat!("selvedge ", env!("CARGO_PKG_VERSION")).into(),
                license: env!("CARGO_PKG_LICENSE").into(),
                documentation: entry.documentation(),
            },
            ..EmitOptions::default()
        }
    }
}
