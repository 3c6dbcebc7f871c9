//! Inlines calls: replaces every `call` of a function in the module by the function's code.
//!
//! PTX functions share no registers or parameters with their caller. Each copy therefore gets new registers. Its
//! formal parameters are bound to the call's arguments, and its `ret` branches past the copy. Parameters passed in
//! memory become local variables. A system function becomes one instruction between loads of its arguments and a
//! store of its result. A call through a pointer becomes calls of all functions with a matching signature.
//!
//! A recursive function is not inlined: a kernel has one copy of it behind its own code, and each call has a frame on a stack in
//! local memory ([`super::recursion`]). `alloca` moves the top of another stack, which returns to its place with the function.

use std::collections::{HashMap, HashSet};

use super::ast::{
    Ast, Function, FunctionParameter, NameScope, Operand, PtxRegister, RawInstruction, RegisterId, ScopeId,
    VariableId,
};
use super::expand::expand;
use super::recursion::{reaches, recursive, uses_dynamic_stack};
use super::recursive_calls::RecursiveCalls;
use super::signatures::{NO_FUNCTION, SIGNATURES, SYSTEM_CALL, Signature, words};

/// Max instructions of a kernel after inlining.
const MAX_INSTRUCTIONS: usize = 1 << 20;
/// Max copies of functions in a kernel. A few functions that call each other twice would otherwise grow
/// exponentially.
const MAX_COPIES: u32 = 1 << 14;
/// Max depth of nested calls.
const MAX_CALL_DEPTH: usize = 64;

/// Result whose error has the line of the call.
pub(super) type Result<T> = std::result::Result<T, (u32, String)>;

/// Mapping of a copy's names to the kernel's.
#[derive(Default)]
pub(super) struct Binding {
    /// Offset added to register numbers.
    pub(super) registers: RegisterId,
    /// Offset added to scope numbers.
    pub(super) scopes: ScopeId,
    /// Formal parameters in memory, and the variables bound to them.
    pub(super) variables: HashMap<VariableId, VariableId>,
}

/// Copy of a kernel that is being made.
pub(super) struct Inliner<'a> {
    pub(super) ast: &'a Ast,
    pub(super) functions: &'a Functions<'a>,
    pub(super) out: Function,
    /// Functions being copied, outermost first.
    pub(super) chain: Vec<usize>,
    /// Number of copies so far, from which their end labels get names.
    pub(super) copies: u32,
    /// The frames of recursive functions, in a kernel that calls any.
    pub(super) calls: Option<RecursiveCalls>,
    /// Register with the top of the stack of `alloca`, in a module that uses it.
    pub(super) top: Option<RegisterId>,
}

/// The functions of a module.
pub(crate) struct Functions<'a> {
    /// Indices by name.
    pub(super) names: HashMap<&'a str, usize>,
    pub(super) recursive: HashSet<usize>,
    /// `true` if a function uses the stack of `alloca`.
    pub(super) has_dynamic_stack: bool,
}

/// Returns the functions of a module.
pub(crate) fn functions(ast: &Ast) -> Functions<'_> {
    let names = ast.functions.iter().enumerate().map(|(index, f)| (f.name.as_str(), index)).collect();
    let recursive = recursive(ast, &names);
    Functions { names, recursive, has_dynamic_stack: ast.functions.iter().any(uses_dynamic_stack) }
}

/// Returns `function` with all calls inlined.
///
/// # Errors
/// The function, or one that it calls, cannot be read, or its calls cannot be inlined.
pub(crate) fn inline(ast: &Ast, functions: &Functions, function: &Function) -> Result<Function> {
    function.readable()?;
    let out = Function { code: Vec::new(), labels: HashMap::new(), ..function.clone() };
    let mut inliner = Inliner { ast, functions, out, chain: Vec::new(), copies: 0, calls: None, top: None };
    if functions.has_dynamic_stack {
        inliner.begin_dynamic_stack(function)?;
    }
    if !functions.recursive.is_empty() && reaches(ast, function, &functions.names, &functions.recursive) {
        inliner.begin_stack(function)?;
    }
    inliner.copy(function, &Binding::default(), None)?;
    inliner.copy_recursive()?;
    Ok(inliner.out)
}

impl Inliner<'_> {
    /// Copies a function's code. Its `ret` branches to the label `end`, which is `None` for the kernel itself.
    pub(super) fn copy(
        &mut self,
        function: &Function,
        binding: &Binding,
        end: Option<&Operand>,
    ) -> Result<()> {
        let mut places = Vec::with_capacity(function.code.len() + 1);
        for (place, raw) in function.code.iter().enumerate() {
            places.push(self.out.code.len() as u32);
            if self.out.code.len() > MAX_INSTRUCTIONS {
                return Err((
                    raw.line,
                    format!("inlined calls make more than {MAX_INSTRUCTIONS} instructions"),
                ));
            }
            let name = raw.opcode.split('.').next().unwrap_or_default();
            match (name, end) {
                ("call", _) => self.call(function, place, binding)?,
                ("alloca" | "stacksave" | "stackrestore", _) => self.dynamic_stack(raw, binding)?,
                ("ret", Some(end)) => {
                    let branch = RawInstruction {
                        opcode: "bra".to_owned(),
                        operands: vec![end.clone()],
                        ..raw.clone()
                    };
                    self.push(branch, binding, false);
                }
                // The parameters of a function are local memory of the thread, also where a register has their address.
                ("ld" | "st", Some(_)) if has_register_address(raw) => {
                    let opcode = local_form(&raw.opcode);
                    self.push(RawInstruction { opcode, ..raw.clone() }, binding, true);
                }
                _ => self.push(raw.clone(), binding, true),
            }
        }
        places.push(self.out.code.len() as u32);
        for ((scope, name), targets) in &function.target_lists {
            self.out.target_lists.insert((scope + binding.scopes, name.clone()), targets.clone());
        }
        for ((scope, name), &place) in &function.labels {
            self.out.labels.insert((scope + binding.scopes, name.clone()), places[place as usize]);
        }
        Ok(())
    }

    fn push(&mut self, mut raw: RawInstruction, binding: &Binding, rename: bool) {
        if let Some((register, _)) = &mut raw.guard {
            *register += binding.registers;
        }
        if rename {
            raw.operands.iter_mut().for_each(|operand| bind(operand, binding));
        }
        match expand(&raw, &mut self.out.registers) {
            Some(parts) => self.out.code.extend(parts),
            None => self.out.code.push(raw),
        }
    }

    /// Copies the call at `place` of `caller`.
    fn call(&mut self, caller: &Function, place: usize, binding: &Binding) -> Result<()> {
        let raw = &caller.code[place];
        let fail = |message: String| (raw.line, message);
        let mut operands = raw.operands.clone();
        operands.iter_mut().for_each(|operand| bind(operand, binding));
        let mut operands = operands.into_iter().peekable();
        let results = match operands.next_if(|o| matches!(o, Operand::Arguments(_))) {
            Some(Operand::Arguments(list)) => flat(list),
            _ => Vec::new(),
        };
        let target = operands.next();
        let arguments = match operands.next() {
            Some(Operand::Arguments(list)) => flat(list),
            _ => Vec::new(),
        };
        let name = match target {
            Some(Operand::Name(name, _)) => name,
            Some(Operand::Register(pointer)) => {
                return self.call_pointer(pointer, place, raw, binding, &results, &arguments);
            }
            _ => return Err(fail("its target must be a function or a register".to_owned())),
        };
        let index = self.functions.names.get(name.as_str()).copied();
        let index = index.ok_or_else(|| fail(format!("function '{name}' is not declared")))?;
        let ast = self.ast;
        let callee = &ast.functions[index];
        callee.readable()?;
        if results.len() != callee.returns.len() || arguments.len() != callee.parameters.len() {
            let (takes, gives) = (callee.parameters.len(), callee.returns.len());
            return Err(fail(format!("function '{name}' takes {takes} arguments and gives {gives} results")));
        }
        if !callee.defined {
            let signature = SIGNATURES.iter().find(|signature| signature.name == name);
            let signature =
                signature.ok_or_else(|| fail(format!("function '{name}' has no body in this file")))?;
            return self.call_system(signature, callee, raw, binding, &results, &arguments);
        }
        if self.functions.recursive.contains(&index) && self.calls.is_some() {
            return self.call_recursive(index, place, raw, binding, &results, &arguments);
        }
        if self.chain.contains(&index) || callee.name == self.out.name || self.chain.len() >= MAX_CALL_DEPTH {
            return Err(fail(format!("'{}' calls '{name}' recursively or too deeply", caller.name)));
        }
        self.enter(index, raw, binding, &results, &arguments)
    }

    /// Appends a copy of function `index`. Fails if there are too many copies.
    fn enter(
        &mut self,
        index: usize,
        raw: &RawInstruction,
        binding: &Binding,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<()> {
        if self.copies == MAX_COPIES {
            return Err((raw.line, format!("inlining takes more than {MAX_COPIES} copies of functions")));
        }
        let callee = &self.ast.functions[index];
        callee.readable()?;
        self.chain.push(index);
        self.insert(callee, raw, binding, results, arguments)?;
        self.chain.pop();
        Ok(())
    }

    /// Inlines a call through a pointer. Each candidate function is called by the lanes whose pointer equals its
    /// address.
    fn call_pointer(
        &mut self,
        pointer: RegisterId,
        place: usize,
        raw: &RawInstruction,
        caller: &Binding,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<()> {
        let fits = |formals: &[FunctionParameter], actuals: &[Operand]| {
            let same = |(formal, actual): (&FunctionParameter, &Operand)| match (formal, actual) {
                (FunctionParameter::Memory(a), Operand::Variable(b, _)) => {
                    self.ast.variables[*a as usize].bytes == self.ast.variables[*b as usize].bytes
                }
                (FunctionParameter::Register(_), _) => true,
                _ => false,
            };
            formals.len() == actuals.len() && formals.iter().zip(actuals).all(same)
        };
        // A recursive function is not called again before the lanes have found their functions.
        let is_inner = self.calls.as_ref().is_some_and(|calls| calls.current.is_some());
        let recursive = &self.functions.recursive;
        let candidates: Vec<usize> = (0..self.ast.functions.len())
            .filter(|index| !(is_inner && recursive.contains(index)))
            .filter(|index| {
                let function = &self.ast.functions[*index];
                let callable = function.defined && !function.entry && !self.chain.contains(index);
                callable && fits(&function.parameters, arguments) && fits(&function.returns, results)
            })
            .collect();
        if self.chain.len() >= MAX_CALL_DEPTH {
            return Err((raw.line, format!("calls are nested more than {MAX_CALL_DEPTH} deep")));
        }
        // `left`: lanes that have not found their function. `chosen`: lanes that call the current candidate.
        let [left, chosen] = [0, 1].map(|n| self.out.registers.len() as RegisterId + n);
        let hidden = PtxRegister { name: "call".to_owned(), width: 1 };
        self.out.registers.extend([hidden.clone(), hidden]);
        let operand = Operand::Register;
        let unguarded = RawInstruction { guard: None, ..raw.clone() };
        self.push_with(&unguarded, caller, "mov.pred".into(), vec![operand(left), Operand::Integer(0)]);
        self.push_with(raw, caller, "mov.pred".into(), vec![operand(left), Operand::Integer(1)]);
        let width = self.out.registers[pointer as usize].width;
        for index in candidates {
            let address = Operand::Integer(super::ast::function_address(index).into());
            let compare = |comparison: &str| format!("setp.{comparison}.and.b{width}");
            let sources = |to| vec![operand(to), operand(pointer), address.clone(), operand(left)];
            self.push_with(&unguarded, caller, compare("eq"), sources(chosen));
            self.push_with(&unguarded, caller, compare("ne"), sources(left));
            // Renaming adds `caller.registers` to the guard.
            let guarded = RawInstruction { guard: Some((chosen - caller.registers, false)), ..raw.clone() };
            if self.calls.is_some() && self.functions.recursive.contains(&index) {
                self.call_recursive(index, place, &guarded, caller, results, arguments)?;
            } else {
                self.enter(index, &guarded, caller, results, arguments)?;
            }
        }
        let mut pointer = pointer;
        if width != 64 {
            let wide = self.out.registers.len() as RegisterId;
            self.out.registers.push(PtxRegister { name: "call".to_owned(), width: 64 });
            self.push_with(
                &unguarded,
                caller,
                format!("cvt.u64.u{width}"),
                vec![operand(wide), operand(pointer)],
            );
            pointer = wide;
        }
        let lost = RawInstruction { guard: Some((left - caller.registers, false)), ..raw.clone() };
        self.push_with(&lost, caller, format!("{SYSTEM_CALL}{NO_FUNCTION}"), vec![operand(pointer)]);
        Ok(())
    }

    /// Replaces a call of a system function by loads of its arguments, the call, and a store of its result.
    fn call_system(
        &mut self,
        signature: &Signature,
        callee: &Function,
        raw: &RawInstruction,
        caller: &Binding,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<()> {
        let name = signature.name;
        let bytes = |formal: &FunctionParameter| match formal {
            FunctionParameter::Memory(id) => self.ast.variables[*id as usize].bytes,
            FunctionParameter::Register(id) => u64::from(callee.registers[*id as usize].width / 8),
        };
        let fits = |formals: &[FunctionParameter], sizes: &[u8]| {
            formals.iter().map(bytes).eq(sizes.iter().map(|&size| u64::from(size)))
        };
        if !fits(&callee.parameters, signature.parameters)
            || !fits(&callee.returns, signature.result.as_slice())
        {
            let (takes, gives) = (signature.parameters, signature.result.as_slice());
            return Err((raw.line, format!("'{name}' takes values of {takes:?} bytes and gives {gives:?}")));
        }
        let mut operands = Vec::new();
        let parts: Vec<(&Operand, u8, u8)> = (arguments.iter().zip(signature.parameters))
            .flat_map(|(argument, bytes)| words(*bytes).map(move |(offset, size)| (argument, offset, size)))
            .collect();
        for size in signature.result.into_iter().chain(parts.iter().map(|(.., size)| *size)) {
            let id = self.out.registers.len() as RegisterId;
            self.out.registers.push(PtxRegister { name: format!("{name} {id}"), width: size * 8 });
            operands.push(Operand::Register(id));
        }
        let (result, values) = operands.split_at(results.len());
        for (value, (argument, offset, size)) in values.iter().zip(parts) {
            let (form, from) = match argument {
                Operand::Variable(id, 0) => {
                    ("ld.param", Operand::Address(Box::new(Operand::Variable(*id, 0)), offset.into()))
                }
                other => ("mov", other.clone()),
            };
            let opcode = format!("{form}.b{}", size * 8);
            self.push_with(raw, caller, opcode, vec![value.clone(), from]);
        }
        self.push_with(raw, caller, format!("{SYSTEM_CALL}{name}"), operands.clone());
        if let ([value], [to], Some(size)) = (result, results, signature.result) {
            let (form, list) = match to {
                Operand::Variable(id, 0) => (
                    "st.param",
                    vec![Operand::Address(Box::new(Operand::Variable(*id, 0)), 0), value.clone()],
                ),
                other => ("mov", vec![other.clone(), value.clone()]),
            };
            self.push_with(raw, caller, format!("{form}.b{}", size * 8), list);
        }
        Ok(())
    }

    /// Appends an instruction that replaces `raw`, under the same guard. `operands` already have the kernel's
    /// numbers.
    fn push_with(&mut self, raw: &RawInstruction, caller: &Binding, opcode: String, operands: Vec<Operand>) {
        self.push(RawInstruction { opcode, operands, ..raw.clone() }, caller, false);
    }

    /// Appends a copy of `callee`. A guarded call becomes a branch around the copy.
    fn insert(
        &mut self,
        callee: &Function,
        raw: &RawInstruction,
        caller: &Binding,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<()> {
        let scope = self.out.scopes.len() as ScopeId;
        self.out
            .scopes
            .extend(callee.scopes.iter().map(|s| NameScope { parent: s.parent.map(|p| p + scope) }));
        let mut binding = Binding {
            registers: self.out.registers.len() as RegisterId,
            scopes: scope,
            variables: HashMap::new(),
        };
        self.out.registers.extend(callee.registers.iter().cloned());
        self.out.locals.extend(callee.locals.iter().filter(|id| !is_formal(callee, **id)));
        self.copies += 1;
        let end_name = format!("end of call {}", self.copies);
        let end = Operand::Name(end_name.clone(), scope);
        // Lanes that do not call skip the call's results too.
        let after_name = format!("after call {}", self.copies);
        if let Some((register, negated)) = raw.guard {
            let around = RawInstruction {
                guard: Some((register, !negated)),
                opcode: "bra".to_owned(),
                operands: vec![Operand::Name(after_name.clone(), scope)],
                ..raw.clone()
            };
            self.push(around, caller, false);
        }
        let first = self.out.code.len() as u32;
        for (formal, actual) in callee.parameters.iter().zip(arguments) {
            self.pass(callee, raw, *formal, actual, &mut binding)?;
        }
        let mut returned = Vec::new();
        for (formal, actual) in callee.returns.iter().zip(results) {
            match (formal, actual) {
                (FunctionParameter::Memory(formal), Operand::Variable(actual, 0)) => {
                    binding.variables.insert(*formal, *actual);
                }
                (FunctionParameter::Register(formal), Operand::Register(actual)) => {
                    returned.push((*formal, *actual))
                }
                _ => return Err((raw.line, format!("a result of '{}' is not a variable", callee.name))),
            }
        }
        let top = self.top.filter(|_| uses_dynamic_stack(callee)).map(|top| (top, self.hidden(64)));
        if let Some((top, before)) = top {
            self.emit(raw, "mov.b64", vec![Operand::Register(before), Operand::Register(top)]);
        }
        self.copy(callee, &binding, Some(&end))?;
        self.out.labels.insert((scope, end_name), self.out.code.len() as u32);
        if let Some((top, before)) = top {
            self.emit(raw, "mov.b64", vec![Operand::Register(top), Operand::Register(before)]);
        }
        for (formal, actual) in returned {
            let value = Operand::Register(formal + binding.registers);
            self.push_move(callee, raw, formal, actual, value);
        }
        let after = self.out.code.len() as u32;
        self.out.labels.insert((scope, after_name), after);
        self.out.bodies.push((first, after));
        Ok(())
    }

    fn pass(
        &mut self,
        callee: &Function,
        raw: &RawInstruction,
        formal: FunctionParameter,
        actual: &Operand,
        binding: &mut Binding,
    ) -> Result<()> {
        match (formal, actual) {
            (FunctionParameter::Memory(formal), Operand::Variable(actual, 0)) => {
                binding.variables.insert(formal, *actual);
            }
            (FunctionParameter::Register(formal), value) => {
                self.push_move(callee, raw, formal, formal + binding.registers, value.clone());
            }
            _ => return Err((raw.line, format!("an argument of '{}' is not a variable", callee.name))),
        }
        Ok(())
    }

    /// Appends a `mov` to a register as wide as the callee's `formal`.
    fn push_move(
        &mut self,
        callee: &Function,
        raw: &RawInstruction,
        formal: RegisterId,
        to: RegisterId,
        value: Operand,
    ) {
        let opcode = match callee.registers[formal as usize].width {
            1 => "mov.pred".to_owned(),
            width => format!("mov.b{width}"),
        };
        let operands = vec![Operand::Register(to), value];
        self.out.code.push(RawInstruction { guard: None, opcode, operands, ..raw.clone() });
    }
}

fn has_register_address(raw: &RawInstruction) -> bool {
    raw.operands.iter().any(|operand| match operand {
        Operand::Address(base, _) => matches!(**base, Operand::Register(_)),
        _ => false,
    })
}

/// Returns the opcode of an access to local memory instead of parameters.
pub(super) fn local_form(opcode: &str) -> String {
    let local = |part| if str::starts_with(part, "param") { "local" } else { part };
    opcode.split('.').map(local).collect::<Vec<_>>().join(".")
}

/// Replaces vectors by their elements, as [`Function::parameters`] has them.
fn flat(list: Vec<Operand>) -> Vec<Operand> {
    let elements = |operand| match operand {
        Operand::Vector(list) => list,
        other => vec![other],
    };
    list.into_iter().flat_map(elements).collect()
}

fn is_formal(function: &Function, id: VariableId) -> bool {
    let same = |p: &FunctionParameter| matches!(p, FunctionParameter::Memory(formal) if *formal == id);
    function.parameters.iter().chain(&function.returns).any(same)
}

/// Renames the registers, scopes and formal parameters of a copy to the kernel's.
pub(super) fn bind(operand: &mut Operand, binding: &Binding) {
    match operand {
        Operand::Register(id) | Operand::NegatedRegister(id) | Operand::Part(id, _) => {
            *id += binding.registers
        }
        Operand::Pair(first, second) => {
            *first += binding.registers;
            *second += binding.registers;
        }
        Operand::Name(_, scope) => *scope += binding.scopes,
        Operand::Variable(id, _) => *id = binding.variables.get(id).copied().unwrap_or(*id),
        Operand::Address(base, _) => bind(base, binding),
        Operand::Vector(list) | Operand::Arguments(list) => {
            list.iter_mut().for_each(|item| bind(item, binding))
        }
        _ => {}
    }
}
