//! A block and everything below it, as modules.

use crate::elaborate::{Node, elaborate};
use crate::error::{EmitError, Problem};
use crate::module::{Draft, ModuleWriter, Port, place_holder};
use crate::names;
use crate::options::EmitOptions;
use crate::print::{paragraphs, wrap_comment};
use rust_hdl_core::prelude::{Block, Verilog};
use selvedge_hw::rtl::reg::REGISTER;
use std::collections::{BTreeMap, BTreeSet};

/// One module and the text of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name; the file is `<name>.v`.
    pub name: String,
    /// The whole file.
    pub text: String,
    /// Its ports, in order.
    pub ports: Vec<Port>,
}

/// All modules of a block, each once, sub-modules before those that use them; the last one is the block itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The modules.
    pub modules: Vec<Module>,
}

impl Design {
    /// The module of the block itself.
    pub fn top(&self) -> &Module {
        self.modules.last().expect("a design has at least the module of its block")
    }

    /// All files one after the other, for tools that read one.
    pub fn text(&self) -> String {
        self.modules.iter().map(|module| module.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// A distinct module before it has a name.
struct Distinct {
    draft: Draft,
    /// The node that it was written for.
    node: usize,
}

/// Writes `block` as Verilog; `top` names its module and begins the names of all others.
///
/// The block must be a fresh instance: memories are written with the contents that they were made with.
///
/// # Errors
/// [`EmitError`] if the block, or one inside it, has no exact counterpart; nothing is emitted then.
pub fn emit(block: &dyn Block, top: &str, options: &EmitOptions) -> Result<Design, EmitError> {
    if !names::is_usable(top) {
        let problem = if names::is_reserved(top) { Problem::ReservedName } else { Problem::BadName };
        return Err(EmitError { block: top.into(), subject: top.into(), problem });
    }
    let nodes = elaborate(block, top);
    let mut distinct: Vec<Distinct> = vec![];
    let mut drafts: Vec<Draft> = vec![];
    let mut module_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut by_text: BTreeMap<(String, String), usize> = BTreeMap::new();
    for id in (0..nodes.len()).rev() {
        if matches!(&nodes[id].code, Verilog::Wrapper(w) if w.cores == REGISTER) {
            continue;
        }
        let draft = ModuleWriter::new(&nodes, id, options.reset, &module_of, &drafts).write()?;
        let identity = (stem(&nodes[id]), draft.text.clone());
        let module = *by_text.entry(identity).or_insert_with(|| {
            drafts.push(draft.clone());
            distinct.push(Distinct { draft, node: id });
            distinct.len() - 1
        });
        module_of.insert(id, module);
    }
    let names = decide_names(top, &nodes, &distinct);
    let modules = distinct
        .iter()
        .zip(&names)
        .map(|(module, name)| {
            let mut body = module.draft.text.clone();
            for (number, other) in names.iter().enumerate() {
                body = body.replace(&place_holder(number), other);
            }
            let is_top = module.node == 0;
            let text = format!(
                "{}module {name} {body}\n`default_nettype wire\n",
                head(name, top, is_top, &nodes[module.node], options)
            );
            Module { name: name.clone(), text, ports: module.draft.ports.clone() }
        })
        .collect();
    Ok(Design { modules })
}

/// What a module is called after: the type of its block, or its field.
fn stem(node: &Node) -> String {
    match &node.description {
        Some(description) => names::snake_case(&description.type_name),
        None => names::signal(&node.path.key),
    }
}

fn parameters(node: &Node) -> Vec<(String, usize)> {
    node.description.as_ref().map(|d| d.parameters.clone()).unwrap_or_default()
}

/// Names for all modules: the stem, with as many parameters as it takes to tell them apart.
fn decide_names(top: &str, nodes: &[Node], distinct: &[Distinct]) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (module, entry) in distinct.iter().enumerate() {
        if entry.node == 0 {
            continue;
        }
        let stem = stem(&nodes[entry.node]);
        let stem = stem.strip_prefix(&format!("{top}_")).unwrap_or(&stem).to_string();
        groups.entry(format!("{top}_{stem}")).or_default().push(module);
    }
    let mut names = vec![top.to_string(); distinct.len()];
    for (stem, modules) in groups {
        let parameters: Vec<Vec<(String, usize)>> =
            modules.iter().map(|module| parameters(&nodes[distinct[*module].node])).collect();
        let most = parameters.iter().map(Vec::len).max().unwrap_or(0);
        let with = |count: usize| -> Vec<String> {
            let suffix = |p: &Vec<(String, usize)>| {
                p.iter().take(count).map(|(_, v)| format!("_{v}")).collect::<String>()
            };
            parameters.iter().map(|p| format!("{stem}{}", suffix(p))).collect()
        };
        let all_differ = |names: &Vec<String>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        let chosen = (0..=most)
            .map(with)
            .find(all_differ)
            .unwrap_or_else(|| (1..).zip(&modules).map(|(number, _)| format!("{stem}_{number}")).collect());
        for (module, name) in modules.into_iter().zip(chosen) {
            names[module] = name;
        }
    }
    names
}

/// The comment at the head of a file.
fn head(name: &str, top: &str, is_top: bool, node: &Node, options: &EmitOptions) -> String {
    let header = &options.header;
    let mut lines = vec![format!("// {name}"), "//".into()];
    if let Some(description) = &node.description {
        for paragraph in paragraphs(&description.doc) {
            lines.extend(wrap_comment("", &paragraph));
            lines.push("//".into());
        }
    }
    let own: Vec<String> = parameters(node)
        .iter()
        .map(|(name, value)| format!("{} = {value}", names::parameter(name)))
        .collect();
    let given: Vec<String> =
        header.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let shown = if is_top && !given.is_empty() { given } else { own };
    if !shown.is_empty() {
        lines.extend(wrap_comment("", &format!("Parameters: {}", shown.join(", "))));
    }
    if !is_top {
        lines.push(format!("// Part of: {top}"));
    }
    if !header.source.is_empty() {
        lines.extend(wrap_comment("", &format!("Source: {}", header.source)));
    }
    if !header.tool.is_empty() {
        lines.extend(wrap_comment(
            "",
            &format!("Written by {} with reset {}", header.tool, options.reset.name()),
        ));
    }
    lines.push(String::new());
    lines.push("`default_nettype none".into());
    lines.push(String::new());
    lines.join("\n") + "\n"
}
