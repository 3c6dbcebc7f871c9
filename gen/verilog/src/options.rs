//! Choices for emission.
use selvedge_hw::BlockEntry;
use serde_json::Value;
use strum::{Display, EnumString, VariantNames};

/// How registers are reset.
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
#[error("unknown reset style `{0}`: must be {names}", names = ResetStyle::VARIANTS.join(", "))]
pub struct UnknownReset(pub String);

impl UnknownReset {
    fn new(text: &str) -> Self {
        UnknownReset(text.into())
    }
}

/// Whose modules the kit's cells are: memories, pipelines, packers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// `selvedge_mem` and its like: modules that all blocks share, the same text for the same name.
    #[default]
    Shared,
    /// Each block's own, named after it, so that a block stands alone.
    Own,
}

/// The language that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// Verilog-2005, in files `.v`.
    #[default]
    Verilog,
    /// SystemVerilog, in files `.sv`: `logic`, `always_comb`, `always_ff`.
    SystemVerilog,
}

impl Language {
    /// Returns what the names of files in the language end with.
    pub const fn extension(self) -> &'static str {
        match self {
            Language::Verilog => "v",
            Language::SystemVerilog => "sv",
        }
    }
}

/// What the comment at the head of every file says beside the block's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Elaboration parameters and their values, in order.
    pub parameters: Vec<(String, String)>,
    /// The paper's section that the design follows: `CABA, section 5.1`.
    pub source: String,
    /// Name and version of the tool: `selvedge 0.1.0`.
    pub tool: String,
    /// The license as an SPDX expression.
    pub license: String,
    /// The documentation of the block, in Markdown, for the head of its own module.
    pub documentation: String,
}

/// All choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmitOptions {
    /// How registers are reset.
    pub reset: ResetStyle,
    /// The head comment.
    pub header: Header,
    /// Whose modules the kit's cells are.
    pub cells: Cells,
    /// The language.
    pub language: Language,
    /// What the names of all modules begin with, for designs with other modules of the same names.
    pub prefix: String,
}

impl EmitOptions {
    /// Returns the choices for a block under complete parameters: Verilog whose head comment has the block's documentation and names the
    /// parameters, the source, the license and Selvedge. The block shares the kit's cells.
    pub fn of(entry: &dyn BlockEntry, params: &Value, reset: ResetStyle) -> Self {
        let value = |name: &str| (name.to_string(), params[name].to_string());
        EmitOptions {
            reset,
            header: Header {
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
