//! The kit's cells: modules that all blocks share.
//!
//! The name of a cell must determine its text, for every block that uses it. So a cell is either
//!
//! - **sized**: one module with the sizes as Verilog parameters. Its text is the merge of a fixed set of samples of the
//!   type. A block uses the cell if its own elaboration, merged with the samples, leaves that text unchanged; or
//! - **numbered**: one module per elaboration, with the values of all const generics in its name.
//!
//! If a cell has a reset, its name also contains the reset style, except for the default style. With gated clocks, its name
//! ends with `_gated`. A memory or register with
//! nonzero initial contents is not a cell: its contents belong to the block.

use crate::elaborate::{BlockNode, elaborate, parse_literal};
use crate::error::EmitError;
use crate::gating::TEST_ENABLE;
use crate::merge::{GroupMember, merge_with_powers};
use crate::module::{ModuleDraft, ModuleStyle, ModuleWriter};
use crate::names;
use crate::options::ResetStyle;
use num_bigint::BigUint;
use rust_hdl_core::prelude::{Block, Verilog};
use selvedge_hw::rtl::describe::Description;
use selvedge_hw::rtl::mem::FILLED_TEMPLATE;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::reg::is_register;
use std::collections::BTreeMap;

/// Prefix of all cell names.
pub(crate) const PREFIX: &str = "selvedge_";
/// The parameter of a memory with `2**A` words, and its max value: Verilog computes with 32 bits.
pub(crate) const ADDRESS_BITS: &str = "A";
pub(crate) const MOST_ADDRESS_BITS: i64 = 30;

/// A module that blocks share.
pub(crate) struct SharedCell {
    pub name: String,
    /// Its body and ports. If the module has parameters, ports have their default widths.
    pub draft: ModuleDraft,
    /// The const generics and sizes that its name contains.
    pub fixed: Vec<(String, usize)>,
    /// Its parameters, with their values at the instance.
    pub values: Vec<(String, i64)>,
}

/// Samples of a type that become one module.
struct CellFamily {
    /// Suffix of the name after the type.
    suffix: &'static str,
    samples: Vec<Box<dyn Block>>,
}

/// Returns the cell that replaces the block of this node, whose elaboration is `draft`. Returns `None` if the block is not
/// part of the kit, or if no cell name determines its text.
///
/// # Errors
/// [`EmitError`] if a sample cannot be written.
pub(crate) fn cell(
    nodes: &[BlockNode],
    id: usize,
    draft: &ModuleDraft,
    style: ModuleStyle,
) -> Result<Option<SharedCell>, EmitError> {
    let node = &nodes[id];
    let Some(description) = node.description.as_ref().filter(|found| found.is_of_kit()) else {
        return Ok(None);
    };
    if !starts_as_zeros(nodes, node) {
        return Ok(None);
    }
    let stem = format!("{PREFIX}{}", names::snake_case(&description.type_name));
    let is_gated = draft.ports.iter().any(|port| port.name == TEST_ENABLE);
    let suffix = format!("{}{}", reset_name(node, style.reset), if is_gated { "_gated" } else { "" });
    for family in families(description) {
        if let Some(mut cell) = sized(&family, description, draft, style)? {
            cell.name = format!("{stem}{}{}{suffix}", family.suffix, values(&cell.fixed));
            return Ok(Some(cell));
        }
    }
    Ok(numbers_say_all(description).then(|| SharedCell {
        name: format!("{stem}{}{suffix}", values(&description.parameters)),
        draft: draft.clone(),
        fixed: description.parameters.clone(),
        values: vec![],
    }))
}

/// Returns whether the block has a reset in Rust. If so, its text depends on the style.
pub(crate) fn has_reset(node: &BlockNode) -> bool {
    node.atoms.iter().any(|atom| atom.path.key == "rst_ni")
}

/// Returns the suffix of a name for the reset style.
fn reset_name(node: &BlockNode, reset: ResetStyle) -> &'static str {
    match reset {
        ResetStyle::AsyncLow if has_reset(node) => "_async_low",
        ResetStyle::SyncHigh if has_reset(node) => "_sync_high",
        ResetStyle::None if has_reset(node) => "_no_reset",
        _ => "",
    }
}

/// Returns the values of const generics as a suffix of a name.
fn values(parameters: &[(String, usize)]) -> String {
    parameters.iter().map(|(_, value)| format!("_{value}")).collect()
}

/// Returns whether all memories and registers of the block start with zeros.
pub(crate) fn starts_as_zeros(nodes: &[BlockNode], node: &BlockNode) -> bool {
    let is_zero = |code: &str| parse_literal(code, 1) == BigUint::default();
    let filled = matches!(&node.code, Verilog::Wrapper(w) if w.cores == FILLED_TEMPLATE);
    !filled
        && node.children.iter().all(|child| match &nodes[*child].code {
            Verilog::Wrapper(w) => !is_register(&w.cores) || is_zero(&w.code),
            _ => true,
        })
}

/// Returns whether the text of such a block depends only on its const generics and the width of its data.
fn numbers_say_all(description: &Description) -> bool {
    let types = ["BitPacker", "BitSplitter", "BitUnpacker", "Mem", "ReplicatedMem", "SyncMem"];
    types.contains(&description.type_name.as_str())
}

/// Returns the families of a type whose sizes can be parameters. The sizes of the samples are unrelated, so that a number
/// derived from one size cannot be derived from another.
fn families(description: &Description) -> Vec<CellFamily> {
    let stages =
        description.parameters.iter().find(|(name, _)| name == "STAGES").map_or(0, |(_, value)| *value);
    let of = |words: Vec<Box<dyn Block>>, bits: Vec<Box<dyn Block>>| {
        vec![CellFamily { suffix: "", samples: words }, CellFamily { suffix: "_bit", samples: bits }]
    };
    macro_rules! samples {
        ($($sample:expr),+) => { vec![$(Box::new($sample) as Box<dyn Block>),+] };
    }
    match description.type_name.as_str() {
        "Mem" => of(
            samples![Mem::<U<3>, 2>::default(), Mem::<W<70, 2>, 5>::default(), Mem::<U<13>, 8>::default()],
            samples![Mem::<Bit, 2>::default(), Mem::<Bit, 5>::default(), Mem::<Bit, 8>::default()],
        ),
        "SyncMem" => of(
            samples![
                SyncMem::<U<3>, 2>::default(),
                SyncMem::<W<70, 2>, 5>::default(),
                SyncMem::<U<13>, 8>::default()
            ],
            samples![
                SyncMem::<Bit, 2>::default(),
                SyncMem::<Bit, 5>::default(),
                SyncMem::<Bit, 8>::default()
            ],
        ),
        "BitArray" => vec![CellFamily {
            suffix: "",
            samples: samples![BitArray::<3>::default(), BitArray::<5>::default(), BitArray::<8>::default()],
        }],
        "ReplicatedMem" => vec![CellFamily {
            suffix: "",
            samples: samples![
                ReplicatedMem::<U<3>, 2, 7>::default(),
                ReplicatedMem::<W<70, 2>, 5, 3>::default(),
                ReplicatedMem::<U<13>, 8, 4>::default()
            ],
        }],
        "ElasticPipe" => of(
            samples![
                ElasticPipe::<U<3>>::new(stages),
                ElasticPipe::<W<70, 2>>::new(stages),
                ElasticPipe::<U<13>>::new(stages)
            ],
            samples![ElasticPipe::<Bit>::new(stages)],
        ),
        "Pipe" => of(
            samples![Pipe::<U<3>>::new(stages), Pipe::<W<70, 2>>::new(stages), Pipe::<U<13>>::new(stages)],
            samples![Pipe::<Bit>::new(stages)],
        ),
        "ValidReady" => of(
            samples![
                ValidReady::<U<3>>::default(),
                ValidReady::<W<70, 2>>::default(),
                ValidReady::<U<13>>::default()
            ],
            samples![ValidReady::<Bit>::default()],
        ),
        _ => vec![],
    }
}

/// Merges the samples into a module without a name. Returns it if the elaboration `draft` is that module for some values.
/// The width of the data is a parameter or in the family's suffix, so `fixed` omits it.
fn sized(
    family: &CellFamily,
    description: &Description,
    draft: &ModuleDraft,
    style: ModuleStyle,
) -> Result<Option<SharedCell>, EmitError> {
    let samples =
        family.samples.iter().map(|sample| written(sample.as_ref(), style)).collect::<Result<Vec<_>, _>>()?;
    let mut members: Vec<GroupMember> =
        samples.iter().map(|(draft, parameters)| member(draft, parameters)).collect();
    let (last, parameters) = samples.last().expect("a family has samples");
    let mut fixed = parameters.clone();
    fixed.retain(|entry| samples.iter().all(|(_, parameters)| parameters.contains(entry)));
    let (body, values) = if samples.len() == 1 {
        (last.body.clone(), (draft.body == last.body).then(Vec::new))
    } else {
        let Some(alone) = merge_with_powers(&members) else { return Ok(None) };
        members.insert(0, member(draft, &description.parameters));
        let together = merge_with_powers(&members).filter(|merged| merged.body == alone.body);
        let of_draft = |(name, values): (String, Vec<i64>)| (name, values[0]);
        (alone.body, together.map(|merged| merged.parameters.into_iter().map(of_draft).collect()))
    };
    let draft = ModuleDraft { body, ports: last.ports.clone() };
    fixed.retain(|(name, _)| name != "BITS");
    Ok(values.map(|values| SharedCell { name: String::new(), draft, fixed, values }))
}

fn member<'a>(draft: &'a ModuleDraft, parameters: &'a [(String, usize)]) -> GroupMember<'a> {
    GroupMember { body: &draft.body, ports: &draft.ports, parameters }
}

/// Writes a sample. Its only sub-blocks are registers.
fn written(sample: &dyn Block, style: ModuleStyle) -> Result<(ModuleDraft, Vec<(String, usize)>), EmitError> {
    let nodes = elaborate(sample, "cell");
    let draft = ModuleWriter::new(&nodes, 0, style, &BTreeMap::new(), &[]).write()?;
    let parameters = nodes[0].description.as_ref().map(|found| found.parameters.clone());
    Ok((draft, parameters.unwrap_or_default()))
}
