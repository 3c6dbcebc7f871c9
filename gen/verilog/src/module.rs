//! Writes one block as one module.

use crate::aliases::{name_pins, remove_copies};
use crate::builder::{ModuleBuilder, concatenation, counting, highest, literal};
use crate::check;
use crate::clean::clean;
use crate::condense::condense;
use crate::elaborate::{AtomInfo, BlockNode, parse_literal};
use crate::enumeration::{Enumerations, NamedValue};
use crate::error::{EmitError, Problem};
use crate::gating::{
    CLOCK_GATE_MODULE, CLOCK_GATE_PORTS, ClockGate, TEST_ENABLE, TEST_ENABLE_DOC, plan_gates,
};
use crate::hoist::hoist;
use crate::ir::{Role, Signal, SignalId, Stmt};
use crate::layout::Layout;
use crate::leaf;
use crate::lower::{BodyNames, Lowering};
use crate::names;
use crate::options::{Language, ResetStyle};
use crate::schedule::{ModulePlan, Pin, Process, schedule, whole_copy};
use crate::simplify::simplify;
use crate::verilog::{
    Body, Code, EnumerationType, EnumerationValue, Head, Item, ModuleInstance, VerilogBlock, code,
};
use crate::write::paragraphs;
use num_bigint::BigUint;
use rust_hdl_core::prelude::{AtomKind, Verilog};
use selvedge_hw::rtl::describe::Description;
use selvedge_hw::rtl::mem::{FILLED_TEMPLATE, TEMPLATE};
use selvedge_hw::rtl::reg::{DATA_REGISTER, is_register};
use std::collections::{BTreeMap, BTreeSet};

type Result<T> = std::result::Result<T, EmitError>;

/// A port of a Verilog module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerilogPort {
    /// Name in Verilog.
    pub name: String,
    /// Path in Rust, with `.` between parts and without array indices.
    pub field: String,
    /// Width in bits, over all elements.
    pub width: usize,
    /// Number of elements, if the port is an array of signals. Element 0 has the low bits.
    pub elements: Option<usize>,
    /// `true` for an input, `false` for an output.
    pub input: bool,
    /// `true` for the clock.
    pub clock: bool,
    /// `true` for the reset.
    pub reset: bool,
    /// Paragraphs of its Rust documentation.
    pub doc: Vec<String>,
}

impl VerilogPort {
    /// Returns the words before its range. An `always` block assigns a variable.
    pub(crate) fn kind(&self, variable: bool) -> &'static str {
        match (self.input, variable) {
            (true, _) => "input  wire",
            (false, true) => "output reg ",
            (false, false) => "output wire",
        }
    }
}

/// A module without a name.
#[derive(Clone, Debug)]
pub(crate) struct ModuleDraft {
    pub body: Body,
    pub ports: Vec<VerilogPort>,
}

/// The style of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModuleStyle {
    pub reset: ResetStyle,
    pub language: Language,
    pub clock_gating: bool,
    /// `true` if the module may have packed arrays. All modules that become one must have the same types.
    pub is_typed: bool,
}

/// The types of signals that are not plain vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignalTypes {
    /// Signals that are structs, with their struct names.
    pub structs: BTreeMap<SignalId, String>,
    /// Bits of the lanes of signals or of their elements.
    pub lanes: BTreeMap<SignalId, usize>,
    pub enumerations: Enumerations,
    /// Signals that only one labelled process uses, by the number of the process. The process declares them.
    pub scratch: BTreeMap<SignalId, usize>,
}

/// The elements of a field with their indices.
type FieldElements<'a> = Vec<(Vec<usize>, &'a AtomInfo)>;

/// The sub-blocks of one field: one, or an array.
struct Child {
    name: String,
    /// Numbers of the modules, by element.
    modules: Vec<usize>,
    ports: Vec<VerilogPort>,
    /// The signal at each port, in the order of `ports`; `None` for clock and reset.
    pins: Vec<Option<SignalId>>,
}

/// Registers that share a clocked process.
#[derive(Clone, Default)]
struct ClockedGroup {
    inputs: Vec<SignalId>,
    /// The inputs that a combinational process assigns.
    copies: Vec<SignalId>,
    /// Statements that assign the other inputs.
    body: Vec<Stmt>,
    /// The gated clock.
    clock: Option<SignalId>,
}

/// Writes a block as a module.
pub(crate) struct ModuleWriter<'a> {
    block: String,
    nodes: &'a [BlockNode],
    node: &'a BlockNode,
    reset: ResetStyle,
    style: ModuleStyle,
    /// Module number of each written node, and the drafts by number.
    module_of: &'a BTreeMap<usize, usize>,
    drafts: &'a [ModuleDraft],
    names: BodyNames,
    children: Vec<Child>,
    /// Outputs of registers by their inputs.
    output_of: BTreeMap<SignalId, SignalId>,
    layouts: Vec<Layout>,
}

impl<'a> ModuleWriter<'a> {
    pub fn new(
        nodes: &'a [BlockNode],
        id: usize,
        style: ModuleStyle,
        module_of: &'a BTreeMap<usize, usize>,
        drafts: &'a [ModuleDraft],
    ) -> Self {
        let node = &nodes[id];
        let block = match &node.description {
            Some(description) => description.type_name.clone(),
            None => node.path.key.replace('$', "."),
        };
        let (names, children, output_of, layouts) = Default::default();
        ModuleWriter {
            block,
            nodes,
            node,
            reset: style.reset,
            style,
            module_of,
            drafts,
            names,
            children,
            output_of,
            layouts,
        }
    }

    fn refuse<T>(&self, subject: impl Into<String>, problem: Problem) -> Result<T> {
        Err(EmitError { block: self.block.clone(), subject: subject.into(), problem })
    }

    /// Returns the complete module.
    pub fn write(mut self) -> Result<ModuleDraft> {
        self.declare_atoms()?;
        self.declare_children()?;
        self.declare_numbers();
        self.declare_layouts()?;
        self.check_names()?;
        match &self.node.code {
            Verilog::Combinatorial(code) => {
                let body = Lowering::new(&self.block, &mut self.names).body(code)?;
                let body = hoist(body, &mut self.names.signals);
                self.check_pins(&body, true)?;
                check::check(&self.block, &self.names.signals, &body)?;
                self.check_clock()?;
                let body = clean(body, &mut self.names.signals);
                let body = simplify(body, &self.names.signals);
                let mut plan = schedule(body, &self.names.signals, &self.output_of);
                remove_copies(&mut plan, &self.names.signals);
                self.gate_clocks(&mut plan)?;
                condense(&mut plan, &self.names.signals);
                let taken = self.other_names().collect();
                name_pins(&plan, &mut self.names.signals, taken);
                Ok(self.assemble(&plan))
            }
            Verilog::Wrapper(w) if [TEMPLATE, FILLED_TEMPLATE].contains(&w.cores.as_str()) => {
                self.assemble_leaf(&w.code)
            }
            Verilog::Empty | Verilog::Custom(_) | Verilog::Blackbox(_) | Verilog::Wrapper(_) => {
                self.refuse("hdl", Problem::ForeignVerilog)
            }
        }
    }

    // --- names ---

    fn doc(&self, key: &str) -> Vec<String> {
        let field = key.split('$').next().unwrap_or(key);
        let description = self.node.description.as_ref();
        let found = description.and_then(|d| d.fields.iter().find(|(name, _)| name == field));
        found.map(|(_, doc)| paragraphs(doc)).unwrap_or_default()
    }

    fn add(&mut self, signal: Signal) -> SignalId {
        self.names.by_key.insert(signal.key.clone(), self.names.signals.len());
        self.names.signals.push(signal);
        self.names.signals.len() - 1
    }

    fn add_variants(&mut self, atom: &AtomInfo) {
        for (value, variant) in atom.variants.iter().enumerate() {
            let named = (names::variant(variant), value, atom.bits);
            self.names.variants.insert(variant.replace("::", "$"), named);
        }
    }

    /// Declares one signal for all elements of a field.
    fn declare(&mut self, key: &str, elements: &[(Vec<usize>, &AtomInfo)], role: Role) -> Result<SignalId> {
        let first = elements[0].1;
        let uniform = |a: &AtomInfo| {
            (a.bits, a.signed, a.kind, &a.variants) == (first.bits, first.signed, first.kind, &first.variants)
        };
        let dimensions = self.dimensions(key, elements.iter().map(|(indices, _)| indices.as_slice()))?;
        if !elements.iter().all(|(_, atom)| uniform(atom)) {
            return self.refuse(key.replace('$', "."), Problem::UnevenArray);
        }
        self.add_variants(first);
        let (doc, values) = (self.doc(key), elements.iter().map(|(_, atom)| atom.value.clone()).collect());
        let mut name = names::signal(key);
        if role == Role::Constant {
            name = name.to_uppercase();
        }
        let signal = Signal {
            key: key.into(),
            name,
            dimensions,
            width: first.bits,
            signed: first.signed,
            role,
            doc,
            values,
            is_data: false,
            variants: first.variants.clone(),
            layout: None,
        };
        Ok(self.add(signal))
    }

    /// Returns the sizes of an array from the indices of its elements, which must be complete and in order.
    fn dimensions<'b>(&self, key: &str, indices: impl Iterator<Item = &'b [usize]>) -> Result<Vec<usize>> {
        let all: Vec<&[usize]> = indices.collect();
        let depth = all[0].len();
        let even = all.iter().all(|i| i.len() == depth);
        let sizes: Vec<usize> = if even {
            (0..depth).map(|d| all.iter().map(|i| i[d] + 1).max().unwrap_or(0)).collect()
        } else {
            vec![]
        };
        if !even || sizes.iter().product::<usize>() != all.len() {
            return self.refuse(key.replace('$', "."), Problem::UnevenArray);
        }
        Ok(sizes)
    }

    fn declare_atoms(&mut self) -> Result<()> {
        for (key, elements) in by_key(self.node.atoms.iter().map(|atom| (&atom.path, atom))) {
            let elements: Vec<(Vec<usize>, &AtomInfo)> =
                elements.into_iter().map(|(path, atom)| (path.indices.clone(), atom)).collect();
            let first = elements[0].1;
            let role = match first.kind {
                AtomKind::InputParameter if first.clock => Role::Clock,
                AtomKind::InputParameter if key == "rst_ni" => Role::Reset,
                AtomKind::InputParameter => Role::Input,
                AtomKind::OutputParameter => Role::Output,
                AtomKind::LocalSignal => Role::Local,
                AtomKind::Constant => Role::Constant,
                _ => {
                    return self.refuse(
                        key,
                        Problem::Unsupported("only In, Out, Local and Constant are translated"),
                    );
                }
            };
            self.declare(&key, &elements, role)?;
        }
        Ok(())
    }

    fn declare_children(&mut self) -> Result<()> {
        let nodes = self.nodes;
        let children = self.node.children.iter().map(|id| (&nodes[*id].path, *id));
        for (key, elements) in by_key(children) {
            let (paths, ids): (Vec<_>, Vec<usize>) = elements.into_iter().unzip();
            let is_register =
                |id: &usize| matches!(&self.nodes[*id].code, Verilog::Wrapper(w) if is_register(&w.cores));
            if ids.iter().all(is_register) {
                self.declare_register(&key, &paths, &ids)?;
            } else {
                self.declare_blocks(&key, &paths, &ids)?;
            }
        }
        Ok(())
    }

    /// Returns the atoms of the same name in all elements of a field of sub-blocks.
    fn child_atoms(
        &self,
        paths: &[&crate::elaborate::NamePath],
        ids: &[usize],
    ) -> Vec<(String, FieldElements<'a>)> {
        let nodes = self.nodes;
        let mut out: Vec<(String, FieldElements)> = vec![];
        for (path, id) in paths.iter().zip(ids) {
            for atom in nodes[*id].atoms.iter().filter(|atom| atom.kind.is_parameter()) {
                let indices = path.indices.iter().chain(&atom.path.indices).copied().collect();
                match out.iter_mut().find(|(key, _)| *key == atom.path.key) {
                    Some((_, elements)) => elements.push((indices, atom)),
                    None => out.push((atom.path.key.clone(), vec![(indices, atom)])),
                }
            }
        }
        out
    }

    fn declare_register(
        &mut self,
        key: &str,
        paths: &[&crate::elaborate::NamePath],
        ids: &[usize],
    ) -> Result<()> {
        let mut ends: BTreeMap<String, SignalId> = BTreeMap::new();
        for (pin, elements) in self.child_atoms(paths, ids) {
            let role = match pin.as_str() {
                "clock" => Role::ClockPin,
                "d" => Role::RegisterInput,
                "q" => Role::RegisterOutput,
                _ => continue,
            };
            let id = self.declare(&format!("{key}${pin}"), &elements, role)?;
            ends.insert(pin, id);
        }
        let (input, output) = (ends["d"], ends["q"]);
        let width = self.names.signals[output].width;
        self.names.signals[output].values = ids
            .iter()
            .map(|id| match &self.nodes[*id].code {
                Verilog::Wrapper(w) => parse_literal(&w.code, width),
                _ => BigUint::default(),
            })
            .collect();
        self.names.signals[output].is_data = ids
            .iter()
            .all(|id| matches!(&self.nodes[*id].code, Verilog::Wrapper(w) if w.cores == DATA_REGISTER));
        self.names.signals[input].doc.clear();
        self.output_of.insert(input, output);
        Ok(())
    }

    fn declare_blocks(
        &mut self,
        key: &str,
        paths: &[&crate::elaborate::NamePath],
        ids: &[usize],
    ) -> Result<()> {
        let child = self.children.len();
        let modules: Vec<usize> = ids.iter().map(|id| self.module_of[id]).collect();
        let ports = self.drafts[modules[0]].ports.clone();
        if modules.iter().any(|module| self.drafts[*module].ports != ports) {
            return self.refuse(key.replace('$', "."), Problem::UnevenArray);
        }
        let mut pins = vec![None; ports.len()];
        for (pin, elements) in self.child_atoms(paths, ids) {
            let first = elements[0].1;
            let role = match first.kind {
                AtomKind::InputParameter if first.clock => Role::ClockPin,
                AtomKind::InputParameter if pin == "rst_ni" => Role::ResetPin,
                AtomKind::InputParameter => Role::ChildInput(child),
                _ => Role::ChildOutput(child),
            };
            let data = matches!(role, Role::ChildInput(_) | Role::ChildOutput(_));
            let id = self.declare(&format!("{key}${pin}"), &elements, role)?;
            self.names.signals[id].doc.clear();
            let port = ports.iter().position(|port| port.field == pin.replace('$', "."));
            if let Some(port) = port.filter(|_| data) {
                pins[port] = Some(id);
            }
        }
        // Refuses an uneven array.
        self.dimensions(key, paths.iter().map(|path| path.indices.as_slice()))?;
        self.children.push(Child { name: names::signal(key), modules, ports, pins });
        Ok(())
    }

    fn declare_numbers(&mut self) {
        if let Some(description) = &self.node.description {
            self.names.parameters.extend(description.parameters.iter().cloned());
        }
    }

    fn declare_layouts(&mut self) -> Result<()> {
        let Some(description) = &self.node.description else { return Ok(()) };
        for (number, layout) in description.layouts.iter().enumerate() {
            let keys: Vec<String> = layout.signals.iter().map(|signal| signal.replace('.', "$")).collect();
            if let Some((name, _)) = layout.fields.iter().find(|(name, _)| !names::is_usable(name)) {
                let reserved = names::is_reserved(name);
                return self.refuse(name, if reserved { Problem::ReservedName } else { Problem::BadName });
            }
            self.layouts.push(Layout::new(&keys[0], &layout.fields));
            let have = self.layouts[number].width();
            for (key, subject) in keys.iter().zip(&layout.signals) {
                let ends = [key.clone(), format!("{key}$d"), format!("{key}$q")];
                let ids: Vec<SignalId> =
                    ends.iter().filter_map(|end| self.names.by_key.get(end).copied()).collect();
                if ids.is_empty() {
                    return self.refuse(subject, Problem::UnknownSignal);
                }
                for id in ids {
                    let want = self.names.signals[id].total();
                    if have != want {
                        return self.refuse(subject, Problem::UnevenLayout { have, want });
                    }
                    self.names.signals[id].layout = Some(number);
                }
            }
        }
        Ok(())
    }

    /// Checks that every name is usable and unique.
    fn check_names(&self) -> Result<()> {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let wired = |s: &&Signal| !matches!(s.role, Role::ClockPin | Role::ResetPin);
        let signals =
            self.names.signals.iter().filter(wired).map(|s| (s.name.clone(), s.key.replace('$', ".")));
        let children = self.children.iter().map(|child| (child.name.clone(), child.name.clone()));
        let numbers = self.names.parameters.keys().map(|key| (names::parameter(key), key.clone()));
        let constant = |name: &str| self.role(name).is_none_or(|role| *role == Role::Constant);
        let layouts =
            self.layouts.iter().flat_map(|layout| layout.names().map(|name| (name, layout.name.clone())));
        for (name, source) in signals.chain(children).chain(numbers).chain(layouts) {
            let lower = if constant(&name) { name.to_lowercase() } else { name.clone() };
            if names::is_reserved(&name) {
                return self.refuse(source, Problem::ReservedName);
            }
            if !names::is_usable(&lower) && !names::is_reserved(&lower) {
                return self.refuse(source, Problem::BadName);
            }
            if let Some(other) = seen.insert(name, source.clone()) {
                return self.refuse(source, Problem::NameClash { other });
            }
        }
        for key in self.names.parameters.keys() {
            if self.names.by_key.contains_key(key) {
                return self.refuse(key, Problem::NameClash { other: key.clone() });
            }
        }
        Ok(())
    }

    fn role(&self, name: &str) -> Option<&Role> {
        self.names.signals.iter().find(|s| s.name == name).map(|s| &s.role)
    }

    /// Checks that clock and reset pins are wired unconditionally.
    fn check_pins(&self, body: &[Stmt], unconditional: bool) -> Result<()> {
        for statement in body {
            match statement {
                Stmt::Assign { place, .. } => {
                    let signal = &self.names.signals[place.signal];
                    if !unconditional && matches!(signal.role, Role::ClockPin | Role::ResetPin) {
                        return self.refuse(signal.key.replace('$', "."), Problem::ForeignClock);
                    }
                }
                Stmt::Loop { body, .. } => self.check_pins(body, unconditional)?,
                Stmt::If { then, otherwise, .. } => {
                    self.check_pins(then, false)?;
                    self.check_pins(otherwise, false)?;
                }
                Stmt::Match { arms, .. } => {
                    arms.iter().try_for_each(|(_, body)| self.check_pins(body, false))?
                }
                Stmt::Comment(_) => {}
            }
        }
        Ok(())
    }

    /// Checks that a block with registers has a clock and a reset.
    fn check_clock(&self) -> Result<()> {
        let has = |role: Role| self.names.signals.iter().filter(|s| s.role == role).count();
        let register = self.names.signals.iter().find(|s| s.role == Role::RegisterOutput);
        match register {
            Some(register) if has(Role::Clock) != 1 || has(Role::Reset) != 1 => {
                self.refuse(register.key.replace('$', "."), Problem::NoClock)
            }
            _ => Ok(()),
        }
    }

    /// Plans clock gates. Adds the input that keeps all clocks running, if this module or one below has a gate.
    fn gate_clocks(&mut self, plan: &mut ModulePlan) -> Result<()> {
        // An SRAM macro may replace the cell, and has an enable.
        let is_macro = |d: &Description| d.is_of_kit() && d.type_name == "SyncMem";
        if self.style.clock_gating && !self.node.description.as_ref().is_some_and(is_macro) {
            let names = self.names.signals.iter().map(|signal| signal.name.clone());
            let taken = names.chain(self.other_names()).collect();
            plan_gates(plan, &mut self.names.signals, &self.output_of, taken);
        }
        let is_gated = |child: &Child| child.ports.iter().any(|port| port.name == TEST_ENABLE);
        if plan.gates.is_empty() && !self.children.iter().any(is_gated) {
            return Ok(());
        }
        if self.names.by_key.contains_key(TEST_ENABLE) {
            return self.refuse(TEST_ENABLE, Problem::NameClash { other: TEST_ENABLE.into() });
        }
        let doc = vec![TEST_ENABLE_DOC.into()];
        self.add(Signal { doc, ..Signal::new(TEST_ENABLE, 1, Role::Input) });
        Ok(())
    }

    /// Returns the names of sub-blocks, numbers and layouts.
    fn other_names(&self) -> impl Iterator<Item = String> {
        let children = self.children.iter().map(|child| child.name.clone());
        let numbers = self.names.parameters.keys().map(|key| names::parameter(key));
        children.chain(numbers).chain(self.layouts.iter().flat_map(Layout::names))
    }

    // --- the module ---

    fn ports(&self) -> Vec<VerilogPort> {
        let port = |signal: &Signal| {
            let name = match signal.role {
                Role::Reset => self.reset.port()?.to_string(),
                Role::Input | Role::Output | Role::Clock => signal.name.clone(),
                _ => return None,
            };
            let doc = match (&signal.role, self.reset) {
                (Role::Reset, ResetStyle::SyncHigh) => vec!["synchronous reset, active high".to_string()],
                _ => signal.doc.clone(),
            };
            Some(VerilogPort {
                name,
                field: signal.key.replace('$', "."),
                width: signal.total(),
                elements: signal.is_array().then(|| signal.length()),
                input: signal.role != Role::Output,
                clock: signal.role == Role::Clock,
                reset: signal.role == Role::Reset,
                doc,
            })
        };
        self.names.signals.iter().filter_map(port).collect()
    }

    /// Returns the declarations of ports. The ports in `variables` are assigned in an `always` block. Without a
    /// builder, ports are vectors, and an array with one element is a vector of one bit, as hand-written templates require.
    fn port_declarations(
        &self,
        ports: &[VerilogPort],
        variables: &BTreeSet<SignalId>,
        builder: Option<&ModuleBuilder>,
    ) -> Vec<Item> {
        let declaration = |port: &VerilogPort| {
            let signals = &self.names.signals;
            let own = signals.iter().position(|signal| signal.name == port.name);
            let is_vector = own.is_some_and(|id| !signals[id].dimensions.is_empty());
            let variable =
                self.names.by_key.get(&port.field.replace('.', "$")).is_some_and(|id| variables.contains(id));
            let kind = port.kind(variable);
            let declaration = match (builder, own) {
                (Some(builder), Some(id)) => builder.declaration(kind, id, None),
                (Some(_), None) => Item::declare(kind, highest(port.width), &port.name, None),
                (None, _) => {
                    let range = highest(port.width).or_else(|| is_vector.then(|| Code::from(0usize)));
                    Item::declare(kind, range, &port.name, None)
                }
            };
            port.doc.iter().cloned().map(Item::Comment).chain([declaration]).collect::<Vec<_>>()
        };
        ports.iter().flat_map(declaration).collect()
    }

    fn assemble_leaf(&self, template: &str) -> Result<ModuleDraft> {
        let ports = self.ports();
        let declarations = self.port_declarations(&ports, &BTreeSet::new(), None);
        let items = leaf::items(template, self.reset);
        Ok(ModuleDraft { body: Body { parameters: vec![], ports: declarations, items }, ports })
    }

    /// Returns the module. SystemVerilog needs a first pass to find the selected bits, which determine the signals that can
    /// be structs.
    fn assemble(&self, plan: &ModulePlan) -> ModuleDraft {
        let (draft, types) = self.assemble_with(plan, SignalTypes::default());
        if types == SignalTypes::default() { draft } else { self.assemble_with(plan, types).0 }
    }

    fn assemble_with(&self, plan: &ModulePlan, types: SignalTypes) -> (ModuleDraft, SignalTypes) {
        let signals = &self.names.signals;
        let mut builder = ModuleBuilder::new(signals, self.style, &self.output_of, &self.layouts, types);
        for child in &self.children {
            builder.label(&child.name);
        }
        let body = self.body(plan, &mut builder);
        let instances = self.instances(plan, &mut builder);
        let mut variables = BTreeSet::new();
        for process in &plan.processes {
            if let Process::Comb { body } = process {
                variables.extend(body.iter().flat_map(Stmt::writes));
            }
        }
        let sink = self.sink(plan, &mut builder);
        let declarations = self.declarations(plan, &variables, &mut builder);
        let ports = self.ports();
        let mut items = vec![];
        for section in [declarations, instances, body, sink].into_iter().filter(|section| !section.is_empty())
        {
            items.push(Item::Blank);
            items.extend(section);
        }
        let declarations = self.port_declarations(&ports, &variables, Some(&builder));
        let body = Body { parameters: vec![], ports: declarations, items };
        let mut types = SignalTypes::default();
        if self.style.language == Language::SystemVerilog {
            types.structs = builder.selections.structs(signals, &plan.outputs.values().copied().collect());
        }
        if self.style.is_typed {
            types.lanes = builder.uses.lanes(signals);
            types.enumerations = Enumerations::of(plan, signals, &self.output_of);
        }
        types.scratch = self.scratch(plan, &builder);
        if self.style.is_typed {
            // Yosys does not find the width of a packed array that a process declares
            types.scratch.retain(|id, _| !signals[*id].is_array() && !types.lanes.contains_key(id));
        }
        (ModuleDraft { body, ports }, types)
    }

    /// Returns the signals that only one process with a label uses, with the number of the process.
    fn scratch(&self, plan: &ModulePlan, builder: &ModuleBuilder) -> BTreeMap<SignalId, usize> {
        let signals = &self.names.signals;
        let mut users: BTreeMap<SignalId, BTreeSet<usize>> = BTreeMap::new();
        for (number, process) in plan.processes.iter().enumerate() {
            for id in process.reads().into_iter().chain(process.writes()) {
                users.entry(id).or_default().insert(number);
            }
        }
        let on_pins: BTreeSet<SignalId> = plan.pins.values().flat_map(Pin::reads).collect();
        let of_process = |(id, users): (SignalId, BTreeSet<usize>)| {
            let number = *users.first().filter(|_| users.len() == 1)?;
            let Process::Comb { body } = &plan.processes[number] else { return None };
            let is_own = matches!(signals[id].role, Role::Local | Role::Temporary)
                && !on_pins.contains(&id)
                && !plan.is_driven(id)
                && plan.gates.iter().all(|gate| ![gate.clock, gate.enable].contains(&id))
                && !builder.structs.contains_key(&id)
                && builder.unused(id).is_empty();
            (is_own && !loop_variables(body, signals).is_empty()).then_some((id, number))
        };
        users.into_iter().filter_map(of_process).collect()
    }

    /// Returns the declarations of numbers, signals and registers.
    fn declarations(
        &self,
        plan: &ModulePlan,
        variables: &BTreeSet<SignalId>,
        builder: &mut ModuleBuilder,
    ) -> Vec<Item> {
        let signals = &self.names.signals;
        self.declare_named_numbers(builder);
        self.declare_structs(builder);
        declare_enumerations(builder);
        for (id, signal) in signals.iter().enumerate() {
            let wanted = match signal.role {
                Role::Local | Role::Temporary => {
                    variables.contains(&id)
                        || plan.is_driven(id)
                        || self.is_assigned(plan, id)
                        || plan.gates.iter().any(|gate| gate.clock == id)
                }
                Role::RegisterInput => variables.contains(&id) || self.is_assigned(plan, id),
                Role::RegisterOutput => true,
                Role::ChildInput(_) => !plan.pins.contains_key(&id),
                Role::ChildOutput(_) => !plan.outputs.contains_key(&id),
                _ => false,
            };
            if !wanted || builder.scratch.contains_key(&id) {
                continue;
            }
            for doc in &signal.doc {
                builder.comment(doc);
            }
            let kind =
                if variables.contains(&id) || signal.role == Role::RegisterOutput { "reg" } else { "wire" };
            match signal.layout.filter(|_| builder.structs.contains_key(&id)) {
                Some(layout) => {
                    builder.push(Item::declare(&self.layouts[layout].type_name(), None, &signal.name, None));
                }
                None => builder.push(builder.declaration(kind, id, None)),
            }
        }
        builder.take_items()
    }

    /// Declares structs, and the structs of ports with their assignments.
    fn declare_structs(&self, builder: &mut ModuleBuilder) {
        let signals = &self.names.signals;
        let structs = builder.structs.clone();
        let used: BTreeSet<usize> = structs.keys().filter_map(|id| signals[*id].layout).collect();
        for layout in used.iter().map(|layout| &self.layouts[*layout]) {
            builder.push(layout.declaration());
        }
        for (id, name) in structs {
            let Signal {
                role: role @ (Role::Input | Role::Output), layout: Some(layout), name: port, ..
            } = &signals[id]
            else {
                continue;
            };
            builder.push(Item::declare(&self.layouts[*layout].type_name(), None, &name, None));
            let (inner, port) = (Code::from(&name), Code::from(port));
            builder.line(if *role == Role::Input { assign(inner, port) } else { assign(port, inner) });
        }
    }

    /// Declares the constants that the module uses by name.
    fn declare_named_numbers(&self, builder: &mut ModuleBuilder) {
        for layout in &self.layouts {
            let numbers = layout.fields.iter().map(|field| (layout.constant(field), field.low));
            let used: Vec<_> = numbers.filter(|(name, _)| builder.offsets.contains(name)).collect();
            if !used.is_empty() {
                builder.comment(&format!("{}: the first bit of each field", layout.name));
            }
            used.into_iter().for_each(|(name, low)| builder.push(constant(name, 1, Code::from(low))));
        }
        for (name, value) in std::mem::take(&mut builder.parameters) {
            builder.push(constant(name, 1, Code::from(value)));
        }
        let of_type = |key: &str| key.split('$').next().unwrap_or_default().to_string();
        let mut variants: Vec<_> = self.names.variants.iter().collect();
        variants.sort_by_key(|(key, (_, value, _))| (of_type(key), *value));
        for (_, (name, value, width)) in variants {
            if builder.variants.contains(name) && !builder.enumerations.has(name) {
                let value = literal(&BigUint::from(*value), *width);
                builder.push(constant(name.clone(), *width, value));
            }
        }
        for (id, signal) in self.names.signals.iter().enumerate() {
            if signal.role == Role::Constant && builder.is_used(id) && !builder.enumerations.has(&signal.name)
            {
                for doc in &signal.doc {
                    builder.comment(doc);
                }
                let all = concatenation(&signal.values, signal.width);
                builder.push(builder.declaration("localparam", id, Some(all)));
            }
        }
    }

    fn is_assigned(&self, plan: &ModulePlan, id: SignalId) -> bool {
        plan.processes.iter().any(|process| match process {
            Process::Assign { place, .. } => place.signal == id,
            Process::Copy { to, .. } => *to == id,
            Process::Constant { signal, .. } => *signal == id,
            Process::Comb { .. } | Process::Clocked { .. } => false,
        })
    }

    /// Returns all processes except clocked ones.
    fn body(&self, plan: &ModulePlan, builder: &mut ModuleBuilder) -> Vec<Item> {
        let signals = &self.names.signals;
        let mut after_assign = false;
        for (number, process) in plan.processes.iter().enumerate() {
            let is_assign =
                matches!(process, Process::Assign { .. } | Process::Copy { .. } | Process::Constant { .. });
            if !(is_assign && after_assign) {
                builder.blank();
            }
            after_assign = is_assign;
            match process {
                Process::Assign { comments, place, value } => {
                    comments.iter().for_each(|comment| builder.comment(comment));
                    let target = builder.target(place, None, value.width);
                    let value = builder.assigned(place.signal, value);
                    builder.line(assign(target, value));
                }
                Process::Copy { comments, to, from } => {
                    comments.iter().for_each(|comment| builder.comment(comment));
                    builder.mark_all(*from);
                    let (to, from) = (&signals[*to].name, &signals[*from].name);
                    builder.line(assign(Code::from(to), Code::from(from)));
                }
                Process::Constant { comments, signal, values } => {
                    comments.iter().for_each(|comment| builder.comment(comment));
                    let all = concatenation(values, signals[*signal].width);
                    builder.line(assign(Code::from(&signals[*signal].name), all));
                }
                Process::Comb { body } => self.comb(number, body, builder),
                Process::Clocked { .. } => {}
            }
        }
        self.clocked(plan, builder);
        builder.take_items()
    }

    fn comb(&self, number: usize, body: &[Stmt], builder: &mut ModuleBuilder) {
        let signals = &self.names.signals;
        let body = self.leading_comments(body, builder);
        let variables = loop_variables(body, signals);
        variables.iter().for_each(|variable| builder.reserve(variable));
        let scratch: Vec<SignalId> =
            builder.scratch.iter().filter(|(_, of)| **of == number).map(|(id, _)| *id).collect();
        let label = (!variables.is_empty()).then(|| {
            let targets: Vec<SignalId> = body.iter().flat_map(Stmt::writes).collect();
            let result = targets.iter().find(|id| !scratch.contains(id)).or(targets.first());
            let stem = result.map_or("", |id| signals[*id].name.as_str());
            builder.label(&format!("comb_{stem}"))
        });
        let body = builder.inside(|p| {
            variables.into_iter().for_each(|v| p.push(Item::declare("integer", None, v, None)));
            for id in scratch {
                signals[id].doc.iter().for_each(|doc| p.comment(doc));
                p.push(p.declaration("reg", id, None));
            }
            p.statements(body, false);
        });
        builder.push(Item::block(Head::Always(Code::from("@(*)")), label, body));
    }

    /// Writes the comments at the start of a process above it. Returns the remaining statements.
    fn leading_comments<'b>(&self, body: &'b [Stmt], builder: &mut ModuleBuilder) -> &'b [Stmt] {
        let count = body.iter().take_while(|s| matches!(s, Stmt::Comment(_))).count();
        for statement in &body[..count] {
            if let Stmt::Comment(text) = statement {
                builder.comment(text);
            }
        }
        &body[count..]
    }

    /// Writes the registers. Those without conditions share one process; each other group has its own.
    fn clocked(&self, plan: &ModulePlan, builder: &mut ModuleBuilder) {
        let mut plain = ClockedGroup::default();
        let mut others: Vec<ClockedGroup> = vec![];
        let mut done: BTreeSet<SignalId> = BTreeSet::new();
        for process in &plan.processes {
            let Process::Clocked { body } = process else { continue };
            let inputs: BTreeSet<SignalId> = body.iter().flat_map(Stmt::writes).collect();
            done.extend(&inputs);
            let simple = |s: &Stmt| matches!(s, Stmt::Assign { .. } | Stmt::Comment(_));
            if body.iter().all(simple) {
                plain.inputs.extend(inputs);
                plain.body.extend(body.iter().cloned());
            } else {
                let inputs = inputs.into_iter().collect();
                others.push(ClockedGroup { inputs, body: body.clone(), ..ClockedGroup::default() });
            }
        }
        // Registers whose next value is the result of a combinational process, and registers that never change.
        for input in self.output_of.keys().filter(|input| !done.contains(input)) {
            plain.inputs.push(*input);
            if self.is_computed(plan, *input) {
                builder.mark_all(*input);
                plain.copies.push(*input);
            }
        }
        if !plain.inputs.is_empty() {
            others.insert(0, plain);
        }
        for group in others {
            for (part, has_reset) in self.parts(group, plan) {
                builder.blank();
                self.clocked_process(&part, has_reset, builder);
            }
        }
    }

    /// Splits a group into registers of each gated clock, and with and without a reset if the style distinguishes them.
    fn parts(&self, group: ClockedGroup, plan: &ModulePlan) -> Vec<(ClockedGroup, bool)> {
        let is_data = |input: &SignalId| {
            self.reset == ResetStyle::Control && self.names.signals[self.output_of[input]].is_data
        };
        let clock = |input: &SignalId| {
            plan.gates.iter().find(|gate| gate.inputs.contains(input)).map(|gate| gate.clock)
        };
        let key = |input: &SignalId| (clock(input), is_data(input));
        let keys: BTreeSet<(Option<SignalId>, bool)> = group.inputs.iter().map(key).collect();
        let has_one = keys.len() == 1;
        let part = |(clock, data): (Option<SignalId>, bool)| {
            if has_one && !data {
                return (ClockedGroup { clock, ..group.clone() }, true);
            }
            let is_here = |input: &SignalId| key(input) == (clock, data);
            let of = |inputs: &[SignalId]| inputs.iter().filter(|input| is_here(input)).copied().collect();
            let (inputs, copies) = (of(&group.inputs), of(&group.copies));
            let body = Stmt::only(&group.body, &|input| is_here(&input));
            (ClockedGroup { inputs, copies, body, clock }, !data)
        };
        keys.into_iter().map(part).collect()
    }

    /// Returns whether a combinational process assigns the signal.
    fn is_computed(&self, plan: &ModulePlan, id: SignalId) -> bool {
        let in_block = plan.processes.iter().any(|process| match process {
            Process::Comb { body } => body.iter().flat_map(Stmt::writes).any(|written| written == id),
            _ => false,
        });
        in_block || self.is_assigned(plan, id)
    }

    fn clocked_process(&self, group: &ClockedGroup, has_reset: bool, builder: &mut ModuleBuilder) {
        // A register that never changes holds its reset value. Without a reset it has no value and needs no process.
        if !has_reset && group.body.is_empty() && group.copies.is_empty() {
            return;
        }
        let signals = &self.names.signals;
        let ClockedGroup { inputs, body, clock: gated, .. } = group;
        let free = signals.iter().position(|s| s.role == Role::Clock);
        let clock = gated.or(free);
        let reset = signals.iter().position(|s| s.role == Role::Reset).filter(|_| has_reset);
        clock.into_iter().chain(reset).for_each(|id| builder.mark_all(id));
        let clock = clock.map_or("clk_i", |id| signals[id].name.as_str());
        let reset = |builder: &mut ModuleBuilder, arrow: &str| -> Vec<Item> {
            let line = |input: &SignalId| {
                let output = self.output_of[input];
                Item::Line(code![&signals[output].name, arrow, builder.reset_value(output)])
            };
            inputs.iter().map(line).collect()
        };
        let body = self.leading_comments(body, builder);
        let variables = loop_variables(body, &self.names.signals);
        variables.iter().for_each(|variable| builder.reserve(variable));
        let label = (!variables.is_empty())
            .then(|| builder.label(&format!("update_{}", signals[self.output_of[&inputs[0]]].name)));
        let style = if has_reset { self.reset } else { ResetStyle::None };
        if self.reset == ResetStyle::None {
            let values = reset(builder, " = ");
            builder.push(match values.as_slice() {
                [Item::Line(one)] => Item::Line(code!["initial ", one.clone()]),
                many => Item::block(Head::Other(Code::from("initial")), None, many.to_vec()),
            });
            builder.blank();
        }
        let body = builder.inside(|p| {
            variables.into_iter().for_each(|v| p.push(Item::declare("integer", None, v, None)));
            let Some(test) = leaf::reset_test(style) else {
                return self.clocked_statements(group, body, p);
            };
            let other = |head, body| VerilogBlock { head: Head::Other(head), label: None, body };
            let mut blocks = vec![other(code!["if (", test, ")"], reset(p, " <= "))];
            match body {
                [] if group.copies.is_empty() => {}
                [chain @ Stmt::If { .. }] if group.copies.is_empty() => {
                    blocks.extend(p.clocked_alternatives(chain));
                }
                _ => {
                    blocks.push(other(Code::default(), p.inside(|p| self.clocked_statements(group, body, p))))
                }
            }
            p.push(Item::Blocks(blocks));
        });
        builder.push(Item::block(Head::Always(Code::from(&leaf::events(style, clock))), label, body));
    }

    fn clocked_statements(&self, group: &ClockedGroup, body: &[Stmt], builder: &mut ModuleBuilder) {
        builder.statements(body, true);
        for input in &group.copies {
            let output = self.output_of[input];
            let signals = &self.names.signals;
            builder.line(code![&signals[output].name, " <= ", &signals[*input].name]);
        }
    }

    /// Writes the instance of a clock gate. A synchronous reset needs the clock.
    fn gate_instance(&self, gate: &ClockGate, builder: &mut ModuleBuilder) -> Item {
        let signals = &self.names.signals;
        let clock = signals.iter().position(|s| s.role == Role::Clock);
        let reset = signals.iter().position(|s| s.role == Role::Reset);
        let reset = reset.filter(|_| self.reset == ResetStyle::SyncHigh);
        let test = self.names.by_key.get(TEST_ENABLE).copied();
        let used = [Some(gate.enable), Some(gate.clock), clock, reset, test];
        used.into_iter().flatten().for_each(|id| builder.mark_all(id));
        let name = |id: SignalId| Code::from(&signals[id].name);
        let enable = match self.reset.port().filter(|_| reset.is_some()) {
            Some(port) => code![port, " | ", name(gate.enable)],
            None => name(gate.enable),
        };
        let clock = clock.map_or(Code::from("clk_i"), name);
        let wires = [clock, enable, Code::from(TEST_ENABLE), name(gate.clock)];
        let pins = CLOCK_GATE_PORTS.iter().map(|port| (*port).to_string()).zip(wires).collect();
        let stem = signals[gate.clock].name.trim_end_matches("_clk");
        let label = builder.label(&format!("gate_{stem}"));
        Item::Instance(ModuleInstance { module: CLOCK_GATE_MODULE, parameters: vec![], name: label, pins })
    }

    /// Writes the instances of clock gates and sub-modules.
    fn instances(&self, plan: &ModulePlan, builder: &mut ModuleBuilder) -> Vec<Item> {
        for gate in &plan.gates {
            builder.blank();
            let instance = self.gate_instance(gate, builder);
            builder.push(instance);
        }
        for child in &self.children {
            builder.blank();
            let equal = child.modules.windows(2).all(|pair| pair[0] == pair[1]);
            if child.modules.len() == 1 {
                let instance = self.instance(plan, child, 0, child.name.clone(), None, builder);
                builder.push(instance);
            } else if equal {
                let (genvar, label) = (builder.label("g"), builder.label(&format!("gen_{}", child.name)));
                let instance = self.instance(plan, child, 0, child.name.clone(), Some(&genvar), builder);
                builder.line(code!["genvar ", &genvar]);
                let head = counting(&genvar, 0, child.modules.len());
                let body = vec![Item::block(head, Some(label), vec![instance])];
                builder.push(Item::Enclosed(Code::from("generate"), body, "endgenerate".into()));
            } else {
                for element in 0..child.modules.len() {
                    builder.blank();
                    let name = builder.label(&format!("{}_{element}", child.name));
                    let index = element.to_string();
                    let instance = self.instance(plan, child, element, name, Some(&index), builder);
                    builder.push(instance);
                }
            }
        }
        builder.take_items()
    }

    fn instance(
        &self,
        plan: &ModulePlan,
        child: &Child,
        element: usize,
        name: String,
        index: Option<&str>,
        builder: &mut ModuleBuilder,
    ) -> Item {
        let signals = &self.names.signals;
        let mut pins = vec![];
        for (port, pin) in child.ports.iter().zip(&child.pins) {
            let own = |id: SignalId| slice_of(&signals[id], self.style.is_typed, port.width, index);
            let wire = match pin {
                None if port.name == TEST_ENABLE => {
                    self.names.by_key.get(TEST_ENABLE).into_iter().for_each(|id| builder.mark_all(*id));
                    Code::from(TEST_ENABLE)
                }
                None => {
                    let role = if port.clock { Role::Clock } else { Role::Reset };
                    let own = signals.iter().position(|s| s.role == role);
                    own.into_iter().for_each(|id| builder.mark_all(id));
                    match own {
                        Some(id) if port.clock => Code::from(&signals[id].name),
                        _ => Code::from(self.reset.port().unwrap_or_default()),
                    }
                }
                Some(id) => match (plan.pins.get(id), plan.outputs.get(id)) {
                    (Some(Pin::Same(value)), _) => match port.width / value.width {
                        1 => builder.code(value),
                        copies => code!["{", copies, "{", builder.code(value), "}", "}"],
                    },
                    (Some(Pin::Element(source)), _) => {
                        builder.mark_all(*source);
                        own(*source)
                    }
                    (_, Some(target)) => own(*target),
                    _ => {
                        if port.input {
                            builder.mark_all(*id);
                        }
                        own(*id)
                    }
                },
            };
            pins.push((port.name.clone(), wire));
        }
        Item::Instance(ModuleInstance { module: child.modules[element], parameters: vec![], name, pins })
    }

    /// Returns a wire that reads all otherwise unread bits, so that linters need no exceptions.
    fn sink(&self, plan: &ModulePlan, builder: &mut ModuleBuilder) -> Vec<Item> {
        let mut parts = vec![];
        for (id, signal) in self.names.signals.iter().enumerate() {
            let present = match signal.role {
                Role::Input | Role::Clock => true,
                Role::Reset => self.reset != ResetStyle::None,
                Role::Local | Role::Temporary => {
                    self.is_assigned(plan, id)
                        || plan.is_driven(id)
                        || plan.processes.iter().any(|p| match p {
                            Process::Comb { body } => body.iter().flat_map(Stmt::writes).any(|w| w == id),
                            _ => false,
                        })
                }
                Role::RegisterOutput => true,
                Role::ChildOutput(_) => !plan.outputs.contains_key(&id),
                _ => false,
            };
            if !present {
                continue;
            }
            if signal.role == Role::Reset {
                parts.extend(self.reset.port().filter(|_| !builder.is_used(id)).map(Code::from));
                continue;
            }
            for (low, high) in builder.unused(id) {
                parts.extend(builder.selection(id, low, high + 1 - low));
            }
        }
        if parts.is_empty() {
            return vec![];
        }
        let label = builder.label("unused");
        builder.comment("unused bits");
        let value = code!["&{", literal(&BigUint::ZERO, 1), ", ", Code::join(parts, ", "), "}"];
        builder.push(Item::declare("wire", None, label, Some(value)));
        builder.take_items()
    }
}

/// Declares the enumerations of signals.
fn declare_enumerations(builder: &mut ModuleBuilder) {
    let types = builder.enumerations.types.iter().zip(&builder.type_names);
    let declared = types.map(|(own, name)| {
        let value = |value: &NamedValue| EnumerationValue {
            comments: value.doc.clone(),
            name: value.name.clone(),
            value: literal(&value.value, own.bits),
        };
        let (range, values) = (highest(own.bits), own.values.iter().map(value).collect());
        Item::Enumeration(EnumerationType { name: name.clone(), range, values })
    });
    declared.collect::<Vec<_>>().into_iter().for_each(|item| builder.push(item));
}

/// Groups items by name without indices, in the order of first appearance.
fn by_key<'p, T>(
    items: impl Iterator<Item = (&'p crate::elaborate::NamePath, T)>,
) -> Vec<(String, Vec<(&'p crate::elaborate::NamePath, T)>)> {
    let mut out: Vec<(String, Vec<(&crate::elaborate::NamePath, T)>)> = vec![];
    for (path, item) in items {
        match out.iter_mut().find(|(key, _)| *key == path.key) {
            Some((_, group)) => group.push((path, item)),
            None => out.push((path.key.clone(), vec![(path, item)])),
        }
    }
    out
}

/// Returns the part of a signal that belongs to sub-block `index`.
fn slice_of(signal: &Signal, is_typed: bool, width: usize, index: Option<&str>) -> Code {
    let name = &signal.name;
    let Some(index) = index else { return Code::from(name) };
    let number = index.parse::<usize>();
    if is_typed && signal.width > 1 && signal.layout.is_none() {
        let lanes = width / signal.width;
        return match number {
            Ok(number) if lanes == 1 => code![name, "[", number, "]"],
            Ok(number) => code![name, "[", (number + 1) * lanes - 1, ":", number * lanes, "]"],
            Err(_) if lanes == 1 => code![name, "[", index, "]"],
            Err(_) => code![name, "[", index, "*", lanes, " +: ", lanes, "]"],
        };
    }
    match number {
        Ok(number) if width == 1 && signal.width == 1 => code![name, "[", number, "]"],
        Ok(number) => code![name, "[", (number + 1) * width - 1, ":", number * width, "]"],
        Err(_) if width == 1 && signal.width == 1 => code![name, "[", index, "]"],
        Err(_) => code![name, "[", index, "*", width, " +: ", width, "]"],
    }
}

/// Returns a continuous assignment.
fn assign(target: Code, value: Code) -> Code {
    code!["assign ", target, " = ", value]
}

/// Returns the names of the loop variables in a process.
fn loop_variables(body: &[Stmt], signals: &[Signal]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for statement in body {
        statement.visit(&mut |s| match s {
            // Copies of whole arrays are printed without a loop.
            Stmt::Loop { variable, .. } if whole_copy(s, signals).is_none() => {
                out.insert(variable.clone());
            }
            _ => {}
        });
    }
    out
}

/// Returns the declaration of a constant of `bits` bits.
fn constant(name: String, bits: usize, value: Code) -> Item {
    Item::declare("localparam", highest(bits), name, Some(value))
}
