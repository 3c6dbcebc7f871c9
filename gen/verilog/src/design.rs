//! Writes a block and all blocks below it as modules.

use crate::cells::{self, SharedCell, cell};
use crate::clock_gate::{self, CLOCK_GATE};
use crate::elaborate::{BlockNode, elaborate};
use crate::error::{EmitError, Problem};
use crate::family::Family;
use crate::gating::TEST_ENABLE;
use crate::head;
use crate::limits::{NumberLimit, checks};
use crate::merge::{GroupMember, Merged, merge, merge_family, skeleton};
use crate::module::{ModuleDraft, ModuleStyle, ModuleWriter, VerilogPort};
use crate::names;
use crate::options::{Cells, EmitOptions, Language, ResetStyle};
use crate::twins::{merge_twins, without_reset_values};
use crate::verilog::{Body, Code};
use crate::write::{module_text, paragraphs, wrap_comment};
use rust_hdl_core::prelude::{Block, Verilog};
use selvedge_hw::rtl::reg::is_register;
use std::collections::{BTreeMap, BTreeSet};

/// A module and the text of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerilogModule {
    /// Name in Verilog.
    pub name: String,
    /// Language of `text`.
    pub language: Language,
    /// Text of the complete file.
    pub text: String,
    /// Its ports, in order. If the module has parameters, ports have their default widths.
    pub ports: Vec<VerilogPort>,
    /// `true` for a cell of the kit that blocks share.
    pub cell: bool,
}

impl VerilogModule {
    /// Returns the name of its file, `<name>.v` or `<name>.sv`.
    pub fn file(&self) -> String {
        format!("{}.{}", self.name, self.language.extension())
    }
}

/// The modules of a block, each once. Sub-modules precede the modules that use them; the last one is the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The modules, that of the block last.
    pub modules: Vec<VerilogModule>,
}

impl Design {
    /// Returns the module of the block.
    pub fn top(&self) -> &VerilogModule {
        self.modules.last().expect("a design has at least the module of its block")
    }

    /// Returns the design with the text of all modules in the file of the block's module.
    #[must_use]
    pub fn in_one_file(self) -> Design {
        let text = self.text();
        let top = self.modules.into_iter().next_back().map(|top| VerilogModule { text, ..top });
        Design { modules: top.into_iter().collect() }
    }

    /// Returns the concatenated files, for tools that read one file.
    pub fn text(&self) -> String {
        self.modules.iter().map(|module| module.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// A distinct module before it has a name.
#[derive(Clone)]
struct Distinct {
    draft: ModuleDraft,
    /// The node whose elaboration is `draft`.
    node: usize,
    /// Const generics and sizes with the same value in all uses.
    fixed: Vec<(String, usize)>,
    /// Parameters with their values in all uses, if the module replaces several.
    parameters: Vec<(String, Vec<i64>)>,
    /// The parameters of the family that this module has.
    open: Vec<String>,
    /// Const generics and sizes derived from the parameters, with their expressions.
    derived: Vec<(String, String)>,
    /// The replacement in instances: the number of the module that replaces a group, and the values of its parameters. That
    /// module is itself a member of the group.
    stand_in: Option<(usize, Vec<(String, i64)>)>,
    /// The name, if the module is a cell that blocks share.
    cell: Option<String>,
    /// The limits of its parameters.
    limits: Vec<NumberLimit>,
    /// `true` for the clock gate, which is no block in Rust.
    is_gate: bool,
}

impl Distinct {
    fn new(draft: ModuleDraft, node: usize, fixed: Vec<(String, usize)>) -> Self {
        let (parameters, open, derived, limits) = Default::default();
        Distinct {
            draft,
            node,
            fixed,
            parameters,
            open,
            derived,
            stand_in: None,
            cell: None,
            limits,
            is_gate: false,
        }
    }

    /// Returns whether module `number` is written, because no other module replaces it.
    fn stands(&self, number: usize) -> bool {
        self.stand_in.as_ref().is_none_or(|(stand_in, _)| *stand_in == number)
    }
}

/// Writes `block` as Verilog. `top` is the name of its module and the prefix of all other names.
///
/// The block must be a fresh instance: memories are written with their initial contents.
///
/// # Errors
/// [`EmitError`] if the block, or a block inside it, has no exact counterpart. Nothing is emitted then.
pub fn emit(block: &dyn Block, top: &str, options: &EmitOptions) -> Result<Design, EmitError> {
    check_name(top, options)?;
    let nodes = elaborate(block, top);
    let distinct = prepare(top, &nodes, options, &plain_stems(top, &nodes, options)?)?;
    let names = decide_names(top, &nodes, &distinct);
    Ok(finish(top, &nodes, &distinct, &names, options))
}

/// Returns the syntax trees of a block's modules with their names.
#[cfg(test)]
pub(crate) fn trees(
    block: &dyn Block,
    top: &str,
    options: &EmitOptions,
) -> Result<Vec<(String, Body)>, EmitError> {
    let nodes = elaborate(block, top);
    let distinct = prepare(top, &nodes, options, &plain_stems(top, &nodes, options)?)?;
    let names = decide_names(top, &nodes, &distinct);
    let named = distinct.iter().zip(names).enumerate().filter(|(number, (module, _))| module.stands(*number));
    let folded = |(_, (module, name)): (usize, (&Distinct, String))| {
        let mut body = module.draft.body.clone();
        body.fold_selections();
        (name, body)
    };
    Ok(named.map(folded).collect())
}

/// Writes a family of blocks as Verilog. A module has the parameters of the family on which it depends. `top` is the name of
/// the block's module and the prefix of all other names. The defaults of the parameters are the values of the last sample.
///
/// # Errors
/// [`EmitError`] if a block has no exact counterpart, or if the samples differ in more than numbers derived from the
/// parameters.
pub fn emit_family(family: &Family, top: &str, options: &EmitOptions) -> Result<Design, EmitError> {
    check_name(top, options)?;
    let samples: Vec<Vec<BlockNode>> =
        family.samples.iter().map(|sample| elaborate(sample.block.as_ref(), top)).collect();
    let mut plain = Stems::new();
    for nodes in &samples {
        plain.extend(plain_stems(top, nodes, options)?);
    }
    loop {
        match merge_family_of(family, &samples, top, options, &plain) {
            Err(Unmerged { stems, .. }) if !stems.is_subset(&plain) => plain.extend(stems),
            Err(Unmerged { error, .. }) => return Err(error),
            Ok(design) => return Ok(design),
        }
    }
}

/// The reason why a family is not one design.
struct Unmerged {
    /// Stems of the modules that may merge with plain vectors.
    stems: Stems,
    error: EmitError,
}

/// Writes a family from its elaborated samples. The modules of the stems in `plain` keep plain vectors.
fn merge_family_of(
    family: &Family,
    samples: &[Vec<BlockNode>],
    top: &str,
    options: &EmitOptions,
    plain: &Stems,
) -> Result<Design, Unmerged> {
    let untyped = |stems: Stems, error: EmitError| {
        let stems = if options.language == Language::Verilog { Stems::new() } else { stems };
        Unmerged { stems, error }
    };
    let everything = || samples.iter().flatten().map(stem).collect::<Stems>();
    let samples: Vec<(&Vec<BlockNode>, Vec<Distinct>)> = samples
        .iter()
        .map(|nodes| Ok((nodes, prepare(top, nodes, options, plain)?)))
        .collect::<Result<_, EmitError>>()
        .map_err(|error| untyped(Stems::new(), error))?;
    let all: Vec<Vec<String>> =
        samples.iter().map(|(nodes, distinct)| decide_names(top, nodes, distinct)).collect();
    let Some((names, (nodes, last))) = all.last().zip(samples.last()) else {
        return Err(untyped(Stems::new(), family.error(top, top)));
    };
    if all.iter().any(|other| other != names) {
        return Err(untyped(everything(), family.error(top, top)));
    }
    let body = |module: &Distinct| module.draft.body.clone();
    let mut bodies: Vec<Vec<Body>> =
        samples.iter().map(|(_, distinct)| distinct.iter().map(body).collect()).collect();
    let mut merged = last.clone();
    for module in (0..merged.len()).filter(|module| last[*module].stands(*module)) {
        if bodies.iter().any(|sample| sample[module] != bodies[0][module]) {
            let of_samples: Vec<&Distinct> = samples.iter().map(|(_, distinct)| &distinct[module]).collect();
            let found = merge_samples(family, &of_samples, module, &bodies).ok_or_else(|| {
                let stems = Stems::from([stem(&nodes[last[module].node])]);
                untyped(stems, family.error(top, &names[module]))
            })?;
            pass_on(module, &found, &mut bodies);
            let is_derived =
                |name: &str| found.derived.iter().any(|(derived, _)| *derived == names::parameter(name));
            merged[module].fixed.retain(|(name, _)| !is_derived(name));
            merged[module].limits = NumberLimit::of_uses(&found.parameters).into_iter().collect();
            merged[module].open = found.parameters.into_iter().map(|(name, _)| name).collect();
            merged[module].derived = found.derived;
            merged[module].draft.body = found.body;
        } else if !last[module].parameters.is_empty() && !last[module].limits.is_empty() {
            let of_samples = samples.iter().map(|(_, distinct)| distinct[module].parameters.as_slice());
            merged[module].limits = NumberLimit::of_uses(&all_uses(of_samples)).into_iter().collect();
        }
    }
    Ok(finish(top, nodes, &merged, names, options))
}

/// Merges one module of a family's samples. Its bodies are `bodies[sample][module]`. Returns `None` if the module is a cell or
/// already replaces several modules, or if a number has no expression.
fn merge_samples(
    family: &Family,
    of_samples: &[&Distinct],
    module: usize,
    bodies: &[Vec<Body>],
) -> Option<Merged> {
    if of_samples.iter().any(|one| !one.parameters.is_empty() || one.cell.is_some()) {
        return None;
    }
    let parameters: Vec<Vec<(String, usize)>> = of_samples
        .iter()
        .enumerate()
        .map(|(sample, one)| family.parameters_of(sample, &one.fixed))
        .collect::<Option<_>>()?;
    let members: Vec<GroupMember> = of_samples
        .iter()
        .zip(bodies)
        .zip(&parameters)
        .map(|((one, bodies), parameters)| GroupMember {
            body: &bodies[module],
            ports: &one.draft.ports,
            parameters,
        })
        .collect();
    merge_family(&members, &family.parameters)
}

/// Returns the parameters of a module with their values in the uses of all samples.
fn all_uses<'a>(samples: impl Iterator<Item = &'a [(String, Vec<i64>)]>) -> Vec<(String, Vec<i64>)> {
    let mut all: Vec<(String, Vec<i64>)> = vec![];
    for parameters in samples {
        for (at, (name, values)) in parameters.iter().enumerate() {
            match all.get_mut(at) {
                Some((_, known)) => known.extend(values),
                None => all.push((name.clone(), values.clone())),
            }
        }
    }
    all
}

/// Sets the parameters of a merged module at its instances, to their values in each sample.
fn pass_on(module: usize, merged: &Merged, bodies: &mut [Vec<Body>]) {
    for (sample, bodies) in bodies.iter_mut().enumerate() {
        let value = |(name, values): &(String, Vec<i64>)| (name.clone(), Code::from(values[sample]));
        for instance in bodies.iter_mut().flat_map(Body::instances).filter(|found| found.module == module) {
            instance.parameters = merged.parameters.iter().map(value).collect();
        }
    }
}

/// Checks the name of the block's module.
fn check_name(top: &str, options: &EmitOptions) -> Result<(), EmitError> {
    let prefixed = format!("{}{top}", options.prefix);
    if !names::is_usable(&prefixed) {
        let problem = if names::is_reserved(&prefixed) { Problem::ReservedName } else { Problem::BadName };
        return Err(EmitError { block: top.into(), subject: prefixed, problem });
    }
    if options.cells == Cells::Shared && top.starts_with(cells::PREFIX) {
        return Err(EmitError { block: top.into(), subject: top.into(), problem: Problem::CellName });
    }
    Ok(())
}

/// Writes all modules without their names, and merges modules that differ only in numbers. The modules of the stems in `plain`
/// keep plain vectors.
fn prepare(
    top: &str,
    nodes: &[BlockNode],
    options: &EmitOptions,
    plain: &Stems,
) -> Result<Vec<Distinct>, EmitError> {
    let gate = options.clock_gating.then(|| match options.cells {
        Cells::Shared => CLOCK_GATE.to_string(),
        Cells::Own => format!("{top}_clock_gate"),
    });
    let mut distinct = write_all(nodes, options, plain, gate)?;
    merge_all(nodes, &mut distinct, options, plain)?;
    Ok(distinct)
}

/// Returns the stems of the modules that keep plain vectors in SystemVerilog: with packed arrays, they would not merge as they
/// do in Verilog.
fn plain_stems(top: &str, nodes: &[BlockNode], options: &EmitOptions) -> Result<Stems, EmitError> {
    let mut plain = Stems::new();
    if options.language == Language::Verilog {
        return Ok(plain);
    }
    let modules = |plain: &Stems| -> Result<BTreeSet<(String, String)>, EmitError> {
        let distinct = prepare(top, nodes, options, plain)?;
        let names = decide_names(top, nodes, &distinct);
        let named = distinct.iter().zip(names).enumerate().filter(|(at, (module, _))| module.stands(*at));
        Ok(named.map(|(_, (module, name))| (name, stem(&nodes[module.node]))).collect())
    };
    let all: Stems = nodes.iter().map(stem).collect();
    let wanted = modules(&all)?;
    loop {
        let found = modules(&plain)?;
        let before = plain.len();
        plain.extend(found.symmetric_difference(&wanted).map(|(_, stem)| stem.clone()));
        match (found == wanted, plain.len() == before) {
            (true, _) => return Ok(plain),
            (false, true) => return Ok(all),
            (false, false) => {}
        }
    }
}

/// Returns the style of a node's module.
fn style(node: &BlockNode, options: &EmitOptions, plain: &Stems) -> ModuleStyle {
    let EmitOptions { reset, language, clock_gating, .. } = *options;
    let is_typed = language == Language::SystemVerilog && !plain.contains(&stem(node));
    ModuleStyle { reset, language, clock_gating, is_typed }
}

/// Adds names and head comments to the modules.
fn finish(
    top: &str,
    nodes: &[BlockNode],
    distinct: &[Distinct],
    names: &[String],
    options: &EmitOptions,
) -> Design {
    let with_prefix = |name: &String| format!("{}{name}", options.prefix);
    let (prefixed, names) = (with_prefix(&top.into()), names.iter().map(with_prefix).collect::<Vec<_>>());
    let is_gated = distinct.iter().any(|m| m.draft.ports.iter().any(|port| port.name == TEST_ENABLE));
    let modules = distinct
        .iter()
        .zip(&names)
        .enumerate()
        .filter(|(number, (module, _))| module.stands(*number) && (!module.is_gate || is_gated))
        .map(|(_, (module, name))| {
            if module.is_gate {
                return clock_gate::module(name, options);
            }
            let mut body = module.draft.body.clone();
            body.fold_selections();
            body.items.splice(0..0, checks(name, &module.limits));
            let head = comment(name, &prefixed, module, &nodes[module.node], options);
            let text = module_text(name, &body, &names, options.language);
            let text = format!("`default_nettype none\n\n{text}\n`default_nettype wire\n");
            let text = if module.cell.is_some() { guarded(name, &text) } else { text };
            let (ports, cell) = (module.draft.ports.clone(), module.cell.is_some());
            VerilogModule { name: name.clone(), language: options.language, text: head + &text, ports, cell }
        })
        .collect();
    Design { modules }
}

/// Wraps a cell's module in an include guard, because the file lists of several blocks may name its file.
pub(crate) fn guarded(name: &str, text: &str) -> String {
    let guard = format!("{}_V", name.to_uppercase());
    format!("`ifndef {guard}\n`define {guard}\n\n{text}\n`endif\n")
}

/// Writes every distinct module once. Sub-modules precede the modules that use them. `gate` is the name of the clock gate,
/// which is the first module.
fn write_all(
    nodes: &[BlockNode],
    options: &EmitOptions,
    plain: &Stems,
    gate: Option<String>,
) -> Result<Vec<Distinct>, EmitError> {
    let mut distinct: Vec<Distinct> = vec![];
    let mut drafts: Vec<ModuleDraft> = vec![];
    let mut module_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut by_body: BTreeMap<(String, Body), usize> = BTreeMap::new();
    if let Some(gate) = gate {
        let draft = ModuleDraft { body: Body::default(), ports: vec![] };
        drafts.push(draft.clone());
        distinct.push(Distinct { cell: Some(gate), is_gate: true, ..Distinct::new(draft, 0, vec![]) });
    }
    for id in (0..nodes.len()).rev() {
        if matches!(&nodes[id].code, Verilog::Wrapper(w) if is_register(&w.cores)) {
            continue;
        }
        let style = style(&nodes[id], options, plain);
        let draft = ModuleWriter::new(nodes, id, style, &module_of, &drafts).write()?;
        let identity = (stem(&nodes[id]), draft.body.clone());
        let module = *by_body.entry(identity).or_insert_with(|| {
            drafts.push(draft.clone());
            let fixed = parameters(&nodes[id]);
            distinct.push(Distinct::new(draft, id, fixed));
            distinct.len() - 1
        });
        module_of.insert(id, module);
    }
    Ok(distinct)
}

/// Returns the stem of a module's name: the type of its block, or its field if the type is unknown.
fn stem(node: &BlockNode) -> String {
    match &node.description {
        Some(description) => names::snake_case(&description.type_name),
        None => names::signal(&node.path.key),
    }
}

fn parameters(node: &BlockNode) -> Vec<(String, usize)> {
    node.description.as_ref().map(|d| d.parameters.clone()).unwrap_or_default()
}

/// Stems of modules.
type Stems = BTreeSet<String>;

/// Modules by stem and body.
type Groups = BTreeMap<(String, Body), Vec<usize>>;

/// Merges modules that differ only in their numbers or reset values, and replaces modules by the cells that blocks share.
/// Inner modules are merged first, so that the modules that instantiate them can be merged too.
///
/// The module that replaces a group has the position of the first member, before all modules that use any member. It has the
/// body of the last member, which is the first in the source.
fn merge_all(
    nodes: &[BlockNode],
    distinct: &mut [Distinct],
    options: &EmitOptions,
    plain: &Stems,
) -> Result<(), EmitError> {
    let mut heights: Vec<usize> = vec![];
    for module in distinct.iter_mut() {
        let used = module.draft.body.instances();
        heights.push(used.iter().map(|instance| heights[instance.module] + 1).max().unwrap_or(0));
    }
    for height in 0..=heights.iter().copied().max().unwrap_or(0) {
        let (mut groups, mut twins) = (Groups::new(), Groups::new());
        for module in (0..distinct.len()).filter(|module| heights[*module] == height) {
            let (inner, outer) = distinct.split_at_mut(module);
            for instance in outer[0].draft.body.instances() {
                if let Some((stand_in, values)) = &inner[instance.module].stand_in {
                    instance.module = *stand_in;
                    let value = |(name, value): &(String, i64)| (name.clone(), Code::from(*value));
                    instance.parameters = values.iter().map(value).collect();
                }
            }
            let id = distinct[module].node;
            if id == 0 || nodes[id].description.is_none() {
                continue;
            }
            if options.cells == Cells::Shared
                && let Some(cell) =
                    cell(nodes, id, &distinct[module].draft, style(&nodes[id], options, plain))?
            {
                share(distinct, module, cell);
            } else {
                let body = without_reset_values(&distinct[module].draft.body, options.reset);
                twins.entry((stem(&nodes[id]), body)).or_default().push(module);
            }
        }
        for ((stem, _), twins) in twins {
            if twins.len() > 1 {
                merge_resets(distinct, &twins, options.reset);
            } else {
                let skeleton = skeleton(&distinct[twins[0]].draft.body);
                groups.entry((stem, skeleton)).or_default().push(twins[0]);
            }
        }
        for mut group in groups.into_values().filter(|group| group.len() > 1) {
            group.sort_unstable();
            merge_group(distinct, &group);
        }
    }
    Ok(())
}

/// Merges modules that differ only in the values of registers after a reset.
fn merge_resets(distinct: &mut [Distinct], twins: &[usize], reset: ResetStyle) {
    let bodies: Vec<&Body> = twins.iter().map(|module| &distinct[*module].draft.body).collect();
    let (body, parameters) = merge_twins(&bodies, reset);
    let (first, last) = (twins[0], twins[twins.len() - 1]);
    for (position, module) in twins.iter().enumerate() {
        let value = |(name, values): &(String, Vec<i64>)| (name.clone(), values[position]);
        distinct[*module].stand_in = Some((first, parameters.iter().map(value).collect()));
    }
    distinct[first].node = distinct[last].node;
    distinct[first].draft = ModuleDraft { body, ports: distinct[last].draft.ports.clone() };
    distinct[first].parameters = parameters;
}

/// Replaces the module by the cell. The first module that is the cell is written; later ones refer to it.
fn share(distinct: &mut [Distinct], module: usize, cell: SharedCell) {
    let first = distinct.iter().position(|other| other.cell.as_ref() == Some(&cell.name)).unwrap_or(module);
    distinct[module].stand_in = Some((first, cell.values.clone()));
    if first == module {
        distinct[module].draft = cell.draft;
        distinct[module].fixed = cell.fixed;
        distinct[module].cell = Some(cell.name);
        let limit = |(name, _): (String, i64)| {
            let most = (name == cells::ADDRESS_BITS).then_some(cells::MOST_ADDRESS_BITS);
            NumberLimit::From(name, 1, most)
        };
        distinct[module].limits = cell.values.into_iter().map(limit).collect();
    }
}

/// Merges a group, if every number in it has an expression.
fn merge_group(distinct: &mut [Distinct], group: &[usize]) {
    let members: Vec<GroupMember> = group
        .iter()
        .map(|module| &distinct[*module])
        .map(|m| GroupMember { body: &m.draft.body, ports: &m.draft.ports, parameters: &m.fixed })
        .collect();
    let Some(merged) = merge(&members) else { return };
    let (first, last) = (group[0], group[group.len() - 1]);
    let mut fixed = distinct[last].fixed.clone();
    fixed.retain(|entry| group.iter().all(|module| distinct[*module].fixed.contains(entry)));
    for (position, module) in group.iter().enumerate() {
        let value = |(name, values): &(String, Vec<i64>)| (name.clone(), values[position]);
        distinct[*module].stand_in = Some((first, merged.parameters.iter().map(value).collect()));
    }
    distinct[first].node = distinct[last].node;
    distinct[first].draft = ModuleDraft { body: merged.body, ports: distinct[last].draft.ports.clone() };
    distinct[first].fixed = fixed;
    distinct[first].limits = NumberLimit::of_uses(&merged.parameters).into_iter().collect();
    distinct[first].parameters = merged.parameters;
}

/// Chooses names for all modules: the stem, followed by the min number of parameter values that makes the names distinct.
fn decide_names(top: &str, nodes: &[BlockNode], distinct: &[Distinct]) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (module, entry) in distinct.iter().enumerate() {
        if entry.node == 0 || entry.cell.is_some() || !entry.stands(module) {
            continue;
        }
        let stem = stem(&nodes[entry.node]);
        let stem = stem.strip_prefix(&format!("{top}_")).unwrap_or(&stem).to_string();
        groups.entry(format!("{top}_{stem}")).or_default().push(module);
    }
    let mut names: Vec<String> =
        distinct.iter().map(|module| module.cell.clone().unwrap_or(top.to_string())).collect();
    for (stem, modules) in groups {
        let parameters: Vec<&Vec<(String, usize)>> =
            modules.iter().map(|module| &distinct[*module].fixed).collect();
        let most = parameters.iter().map(|p| p.len()).max().unwrap_or(0);
        let with = |count: usize| -> Vec<String> {
            let suffix = |p: &[(String, usize)]| {
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

/// The rule for an asynchronous reset.
const RESET_RELEASE: &str =
    "rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i";

/// Returns the comment at the head of a file.
fn comment(name: &str, top: &str, module: &Distinct, node: &BlockNode, options: &EmitOptions) -> String {
    let (header, is_top, is_cell) = (&options.header, module.node == 0, module.cell.is_some());
    let mut lines = head::license(header);
    lines.extend([format!("// {name}"), "//".into()]);
    if let Some(description) = &node.description {
        for paragraph in paragraphs(&description.doc) {
            lines.extend(wrap_comment("", &paragraph));
            lines.push("//".into());
        }
    }
    let is_fixed = |name: &String| !module.open.contains(&names::parameter(name));
    // inside a block, a number that neither the code nor the documentation names tells a reader nothing
    let mut named = module.draft.body.names();
    named.extend(documented_names(node));
    let own: Vec<String> = module
        .fixed
        .iter()
        .filter(|(name, _)| is_fixed(name) && (is_top || named.contains(&names::parameter(name))))
        .map(|(name, value)| format!("{} = {value}", names::parameter(name)))
        .collect();
    let given: Vec<String> = header
        .parameters
        .iter()
        .filter(|(name, _)| is_fixed(name))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let named_by_user = is_top && !header.parameters.is_empty();
    let shown = if named_by_user { &given } else { &own };
    if !shown.is_empty() {
        lines.extend(wrap_comment("", &format!("Parameters: {}", shown.join(", "))));
    }
    let explained = explained(node, module);
    if named_by_user && !explained.is_empty() {
        lines.extend(wrap_comment("", &format!("In this file: {}", explained.join(", "))));
    }
    if !module.parameters.is_empty() {
        lines.extend(wrap_comment("", &format!("Used with: {}", uses(&module.parameters).join("; "))));
    }
    if !is_top && !is_cell {
        lines.push(format!("// Part of: {top}"));
    }
    if !is_cell && !header.source.is_empty() {
        lines.extend(wrap_comment("", &format!("Source: {}", header.source)));
    }
    if !header.tool.is_empty() {
        let any_reset = is_cell && !cells::has_reset(node);
        let reset = if any_reset { String::new() } else { format!(" with reset {}", options.reset) };
        lines.extend(wrap_comment("", &format!("Written by {}{reset}", header.tool)));
        let resets = is_top && module.draft.ports.iter().any(|port| port.reset);
        if resets && options.reset.port() == ResetStyle::Control.port() {
            lines.extend(wrap_comment("", RESET_RELEASE));
        }
    }
    if is_top && !header.documentation.is_empty() {
        lines.push("//".into());
        lines.extend(head::documentation(&header.documentation));
    }
    lines.push(String::new());
    lines.join("\n") + "\n"
}

/// Returns the words of the module's documentation, which may name const generics and sizes.
fn documented_names(node: &BlockNode) -> BTreeSet<String> {
    let doc = node.description.as_ref().map(|description| description.doc.join(" ")).unwrap_or_default();
    doc.split(|c: char| !c.is_alphanumeric() && c != '_').map(String::from).collect()
}

/// Returns the values or expressions of the const generics and sizes that the module's documentation names.
fn explained(node: &BlockNode, module: &Distinct) -> Vec<String> {
    let names = documented_names(node);
    let values: BTreeMap<String, String> = module
        .fixed
        .iter()
        .map(|(name, value)| (names::parameter(name), value.to_string()))
        .chain(module.derived.iter().cloned())
        .collect();
    let is_named = |name: &str| names.contains(name) && !module.open.contains(&names::parameter(name));
    let in_order = parameters(node).into_iter().filter(|(name, _)| is_named(name));
    in_order
        .filter_map(|(name, _)| {
            let name = names::parameter(&name);
            values.get(&name).map(|value| format!("{name} = {value}"))
        })
        .collect()
}

/// Returns the values of a module's parameters in each use, in source order.
fn uses(parameters: &[(String, Vec<i64>)]) -> Vec<String> {
    let count = parameters.first().map_or(0, |(_, values)| values.len());
    let setting = |position: usize| -> String {
        let values = parameters.iter().map(|(name, values)| format!("{name} = {}", values[position]));
        values.collect::<Vec<_>>().join(", ")
    };
    (0..count).rev().map(setting).collect()
}
