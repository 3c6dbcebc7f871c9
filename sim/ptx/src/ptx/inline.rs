//! Inlines calls: replaces every `call` of a function in the module by the function's code.
//!
//! PTX functions share no registers or parameters with their caller. Each copy therefore gets new registers. Its
//! formal parameters are bound to the call's arguments, and its `ret` branches past the copy. Parameters passed in
//! memory become local variables. A system function becomes one instruction between loads of its arguments and a
//! store of its result. A call through a pointer becomes calls of all functions with a matching signature.
//!
//! A recursive function is not inlined: a kernel has one copy of it behind its own code, and each call has a frame on a stack in
//! local memory ([`super::recursion`]). `alloca` moves the top of another stack, which returns to its place with the function.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ast::{
    Ast, Function, FunctionParameter, NameScope, Operand, PtxRegister, RawInstruction, RegisterId, ScopeId,
    VariableId, VariableSpace,
};
use super::expand::expand;
use super::recursion::{Frame, reaches, recursive, uses_dynamic_stack};
use super::signatures::{NO_FUNCTION, SIGNATURES, SYSTEM_CALL, Signature};

/// Max instructions of a kernel after inlining.
const MAX_INSTRUCTIONS: usize = 1 << 20;
/// Max copies of functions in a kernel. A few functions that call each other twice would otherwise grow
/// exponentially.
const MAX_COPIES: u32 = 1 << 14;
/// Max depth of nested calls.
const MAX_CALL_DEPTH: usize = 64;

/// Result whose error has the line of the call.
type Result<T> = std::result::Result<T, (u32, String)>;

/// Mapping of a copy's names to the kernel's.
#[derive(Default)]
struct Binding {
    /// Offset added to register numbers.
    registers: RegisterId,
    /// Offset added to scope numbers.
    scopes: ScopeId,
    /// Formal parameters in memory, and the variables bound to them.
    variables: HashMap<VariableId, VariableId>,
}

struct Inliner<'a> {
    ast: &'a Ast,
    functions: &'a Functions<'a>,
    out: Function,
    /// Functions being copied, outermost first.
    chain: Vec<usize>,
    /// Number of copies so far, from which their end labels get names.
    copies: u32,
    /// The frames of recursive functions, in a kernel that calls any.
    calls: Option<RecursiveCalls>,
    /// Register with the top of the stack of `alloca`, in a module that uses it.
    top: Option<RegisterId>,
}

/// Calls of recursive functions in a kernel.
struct RecursiveCalls {
    /// Register with the address of the current frame.
    frame: RegisterId,
    frames: HashMap<usize, Frame>,
    /// Function whose copy is being made; `None`: the kernel.
    current: Option<usize>,
    /// Labels behind the calls of each function, whose copy is made in the end.
    returns: BTreeMap<usize, Vec<String>>,
    /// Functions whose copy is not made yet.
    open: Vec<usize>,
}

/// The functions of a module.
pub(crate) struct Functions<'a> {
    /// Indices by name.
    names: HashMap<&'a str, usize>,
    recursive: HashSet<usize>,
    /// `true` if a function uses the stack of `alloca`.
    has_dynamic_stack: bool,
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
    fn copy(&mut self, function: &Function, binding: &Binding, end: Option<&Operand>) -> Result<()> {
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
        for size in signature.result.iter().chain(signature.parameters) {
            let id = self.out.registers.len() as RegisterId;
            self.out.registers.push(PtxRegister { name: format!("{name} {id}"), width: size * 8 });
            operands.push(Operand::Register(id));
        }
        let (result, values) = operands.split_at(results.len());
        for ((value, argument), size) in values.iter().zip(arguments).zip(signature.parameters) {
            let (form, from) = match argument {
                Operand::Variable(id, 0) => {
                    ("ld.param", Operand::Address(Box::new(Operand::Variable(*id, 0)), 0))
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

/// Kernel-wide scope of the labels of recursive functions.
const KERNEL: ScopeId = 0;

fn entry_label(index: usize) -> String {
    format!("function {index}")
}

impl Inliner<'_> {
    /// Returns a new register.
    fn hidden(&mut self, width: u8) -> RegisterId {
        self.out.registers.push(PtxRegister { name: "call".to_owned(), width });
        self.out.registers.len() as RegisterId - 1
    }

    /// Appends an instruction without a guard. `operands` have the kernel's numbers.
    fn emit(&mut self, raw: &RawInstruction, opcode: &str, operands: Vec<Operand>) {
        self.out.code.push(RawInstruction {
            guard: None,
            opcode: opcode.to_owned(),
            operands,
            ..raw.clone()
        });
    }

    fn label(&mut self, name: String) {
        self.out.labels.insert((KERNEL, name), self.out.code.len() as u32);
    }

    /// Gives the kernel a stack, and sets the current frame to its start.
    fn begin_stack(&mut self, kernel: &Function) -> Result<()> {
        let (Some(raw), Some(stack)) = (kernel.code.first(), self.ast.call_stack) else { return Ok(()) };
        if self.ast.address_bits != 64 {
            return Err((raw.line, "recursive functions need addresses of 64 bits".to_owned()));
        }
        let frame = self.hidden(64);
        self.out.locals.push(stack);
        self.emit(raw, "mov.u64", vec![Operand::Register(frame), Operand::Variable(stack, 0)]);
        self.calls = Some(RecursiveCalls {
            frame,
            frames: HashMap::new(),
            current: None,
            returns: BTreeMap::new(),
            open: Vec::new(),
        });
        Ok(())
    }

    /// Gives the kernel a stack for `alloca`.
    fn begin_dynamic_stack(&mut self, kernel: &Function) -> Result<()> {
        let (Some(raw), Some(stack)) = (kernel.code.first(), self.ast.dynamic_stack) else { return Ok(()) };
        if self.ast.address_bits != 64 {
            return Err((raw.line, "`alloca` needs addresses of 64 bits".to_owned()));
        }
        let top = self.hidden(64);
        self.out.locals.push(stack);
        self.emit(raw, "mov.u64", vec![Operand::Register(top), Operand::Variable(stack, 0)]);
        self.top = Some(top);
        Ok(())
    }

    /// Replaces an instruction of the stack of `alloca` by arithmetic on its top.
    fn dynamic_stack(&mut self, raw: &RawInstruction, binding: &Binding) -> Result<()> {
        let Some(top) = self.top.map(Operand::Register) else { return Ok(()) };
        let mut operands = raw.operands.clone();
        operands.iter_mut().for_each(|operand| bind(operand, binding));
        let mut emit = |opcode: &str, operands| {
            let guard = raw.guard.map(|(register, negated)| (register + binding.registers, negated));
            let opcode = opcode.to_owned();
            self.out.code.push(RawInstruction { guard, opcode, operands, ..raw.clone() });
        };
        match (raw.opcode.as_str(), &operands[..]) {
            ("stacksave.u64", [to]) => emit("mov.b64", vec![to.clone(), top]),
            ("stackrestore.u64", [from]) => emit("mov.b64", vec![top, from.clone()]),
            ("alloca.u64", [to, bytes, rest @ ..]) if to != bytes => {
                let alignment = match rest {
                    [] => 8,
                    [Operand::Integer(alignment @ 1..=4096)] if alignment.count_ones() == 1 => *alignment,
                    _ => {
                        return Err((
                            raw.line,
                            "the alignment of `alloca` must be a power of two".to_owned(),
                        ));
                    }
                };
                let step = |by: Operand| vec![top.clone(), top.clone(), by];
                emit("add.s64", step(Operand::Integer(alignment - 1)));
                emit("and.b64", step(Operand::Integer(-alignment)));
                emit("mov.b64", vec![to.clone(), top.clone()]);
                emit("add.s64", step(bytes.clone()));
            }
            _ => return Err((raw.line, format!("unsupported instruction form `{}`", raw.opcode))),
        }
        Ok(())
    }

    /// Returns the frame of a recursive function.
    fn frame(&mut self, index: usize) -> Result<Frame> {
        let (ast, functions) = (self.ast, self.functions);
        let Some(calls) = &mut self.calls else { return Ok(Frame::default()) };
        if let Some(frame) = calls.frames.get(&index) {
            return Ok(frame.clone());
        }
        let frame = Frame::new(ast, &ast.functions[index], &functions.names, &functions.recursive)?;
        calls.frames.insert(index, frame.clone());
        Ok(frame)
    }

    /// Appends a call of a recursive function: saves the live registers, passes the arguments in the new frame, and branches to the
    /// function. It returns by the number of the label behind the branch.
    fn call_recursive(
        &mut self,
        index: usize,
        place: usize,
        raw: &RawInstruction,
        binding: &Binding,
        results: &[Operand],
        arguments: &[Operand],
    ) -> Result<()> {
        let callee = &self.ast.functions[index];
        let inner = self.frame(index)?;
        let Some(calls) = &self.calls else { return Ok(()) };
        let (base, current) = (calls.frame, calls.current);
        let outer = current.map(|current| self.frame(current)).transpose()?.unwrap_or_default();
        let after = format!("after recursive call {}", self.copies);
        self.copies += 1;
        if let Some((register, negated)) = raw.guard {
            let around = vec![Operand::Name(after.clone(), KERNEL)];
            let guard = Some((register + binding.registers, !negated));
            self.out.code.push(RawInstruction {
                guard,
                opcode: "bra".to_owned(),
                operands: around,
                ..raw.clone()
            });
        }
        let at = |offset: u64| Operand::Address(Box::new(Operand::Register(base)), offset as i64);
        let saved: Vec<(RegisterId, u8, u64)> = outer
            .saved
            .get(&place)
            .into_iter()
            .flatten()
            .map(|register| {
                let width =
                    self.ast.functions[current.unwrap_or_default()].registers[*register as usize].width;
                (register + binding.registers, width, outer.registers[register])
            })
            .collect();
        let word = self.hidden(32);
        for (register, width, offset) in &saved {
            let mut value = Operand::Register(*register);
            if *width == 1 {
                let chosen = vec![Operand::Register(word), Operand::Integer(1), Operand::Integer(0), value];
                self.emit(raw, "selp.b32", chosen);
                value = Operand::Register(word);
            }
            self.emit(
                raw,
                &format!("st.local.b{}", if *width == 1 { 32 } else { *width }),
                vec![at(*offset), value],
            );
        }
        for (formal, actual) in callee.parameters.iter().zip(arguments) {
            self.copy_value(callee, raw, (*formal, actual), outer.bytes, &inner, true)?;
        }
        let Some(calls) = &mut self.calls else { return Ok(()) };
        let known = calls.returns.contains_key(&index);
        let returns = calls.returns.entry(index).or_default();
        let number = returns.len();
        let label = format!("return {number} of function {index}");
        returns.push(label.clone());
        if !known {
            calls.open.push(index);
        }
        let number = Operand::Integer(number as i128);
        self.emit(raw, "mov.b32", vec![Operand::Register(word), number]);
        self.emit(raw, "st.local.b32", vec![at(outer.bytes), Operand::Register(word)]);
        let step = |bytes: i64| {
            let base = Operand::Register(base);
            vec![base.clone(), base, Operand::Integer(bytes.into())]
        };
        if outer.bytes > 0 {
            self.emit(raw, "add.s64", step(outer.bytes as i64));
        }
        self.emit(raw, "bra", vec![Operand::Name(entry_label(index), KERNEL)]);
        self.label(label);
        if outer.bytes > 0 {
            self.emit(raw, "add.s64", step(-(outer.bytes as i64)));
        }
        for (register, width, offset) in &saved {
            let to = Operand::Register(*register);
            if *width == 1 {
                self.emit(raw, "ld.local.b32", vec![Operand::Register(word), at(*offset)]);
                self.emit(raw, "setp.ne.b32", vec![to, Operand::Register(word), Operand::Integer(0)]);
            } else {
                self.emit(raw, &format!("ld.local.b{width}"), vec![to, at(*offset)]);
            }
        }
        for (formal, actual) in callee.returns.iter().zip(results) {
            self.copy_value(callee, raw, (*formal, actual), outer.bytes, &inner, false)?;
        }
        self.label(after);
        Ok(())
    }

    /// Copies an argument to the frame at offset `frame`, or a result from there.
    fn copy_value(
        &mut self,
        callee: &Function,
        raw: &RawInstruction,
        (formal, actual): (FunctionParameter, &Operand),
        frame: u64,
        inner: &Frame,
        is_argument: bool,
    ) -> Result<()> {
        let (FunctionParameter::Memory(formal), Operand::Variable(actual, 0)) = (formal, actual) else {
            let name = &callee.name;
            return Err((raw.line, format!("recursive function '{name}' has a parameter in a register")));
        };
        let Some(calls) = &self.calls else { return Ok(()) };
        let base = calls.frame;
        let variable = &self.ast.variables[formal as usize];
        let mut offset = 0;
        while offset < variable.bytes {
            let mut bytes = 8;
            while offset + bytes > variable.bytes || u64::from(variable.alignment.max(1)) < bytes {
                bytes /= 2;
            }
            let value = Operand::Register(self.hidden(if bytes == 8 { 64 } else { 32 }));
            let here = Operand::Address(Box::new(Operand::Variable(*actual, 0)), offset as i64);
            let there = frame + inner.variables[&formal] + offset;
            let there = Operand::Address(Box::new(Operand::Register(base)), there as i64);
            let bits = 8 * bytes;
            if is_argument {
                self.emit(raw, &format!("ld.param.b{bits}"), vec![value.clone(), here]);
                self.emit(raw, &format!("st.local.b{bits}"), vec![there, value]);
            } else {
                self.emit(raw, &format!("ld.local.b{bits}"), vec![value.clone(), there]);
                self.emit(raw, &format!("st.param.b{bits}"), vec![here, value]);
            }
            offset += bytes;
        }
        Ok(())
    }

    /// Returns the top of the stack of `alloca`, and its place in the frame of a recursive function that uses the stack.
    fn kept_top(&mut self, index: usize) -> Result<Option<(Operand, Operand)>> {
        let offset = self.frame(index)?.dynamic;
        let (Some(calls), Some(top), Some(offset)) = (&self.calls, self.top, offset) else { return Ok(None) };
        let place = Operand::Address(Box::new(Operand::Register(calls.frame)), offset as i64);
        Ok(Some((Operand::Register(top), place)))
    }

    /// Appends the copies of the recursive functions, and replaces their variables by places in frames.
    fn copy_recursive(&mut self) -> Result<()> {
        let Some(raw) = self.out.code.last().cloned().filter(|_| self.calls.is_some()) else { return Ok(()) };
        self.emit(&raw, "ret", Vec::new());
        while let Some(index) = self.calls.as_mut().and_then(|calls| calls.open.pop()) {
            let callee = &self.ast.functions[index];
            callee.readable()?;
            self.frame(index)?;
            let scope = self.out.scopes.len() as ScopeId;
            let parent =
                |scopes: &NameScope| NameScope { parent: scopes.parent.map(|parent| parent + scope) };
            self.out.scopes.extend(callee.scopes.iter().map(parent));
            let registers = self.out.registers.len() as RegisterId;
            let binding = Binding { registers, scopes: scope, variables: HashMap::new() };
            self.out.registers.extend(callee.registers.iter().cloned());
            let shared = callee
                .locals
                .iter()
                .filter(|id| self.ast.variables[**id as usize].space == VariableSpace::Shared);
            self.out.locals.extend(shared);
            if let Some(calls) = &mut self.calls {
                calls.current = Some(index);
            }
            self.chain = vec![index];
            self.label(entry_label(index));
            let kept = self.kept_top(index)?;
            if let Some((top, place)) = &kept {
                self.emit(&raw, "st.local.b64", vec![place.clone(), top.clone()]);
            }
            let end = format!("end of function {index}");
            self.copy(callee, &binding, Some(&Operand::Name(end.clone(), KERNEL)))?;
            self.label(end);
            if let Some((top, place)) = kept {
                self.emit(&raw, "ld.local.b64", vec![top, place]);
            }
            let number = self.hidden(32);
            let Some(calls) = &self.calls else { return Ok(()) };
            let frame = Operand::Address(Box::new(Operand::Register(calls.frame)), 0);
            self.emit(&raw, "ld.local.b32", vec![Operand::Register(number), frame]);
            let list = Operand::Name(entry_label(index), KERNEL);
            self.emit(&raw, "brx.idx", vec![Operand::Register(number), list]);
        }
        let Some(calls) = self.calls.take() else { return Ok(()) };
        for (index, returns) in calls.returns {
            self.out.target_lists.insert((KERNEL, entry_label(index)), returns);
        }
        let framed: HashMap<VariableId, u64> =
            calls.frames.into_values().flat_map(|frame| frame.variables).collect();
        self.out.code.iter_mut().try_for_each(|raw| place_in_frame(raw, &framed, calls.frame))
    }
}

fn has_register_address(raw: &RawInstruction) -> bool {
    raw.operands.iter().any(|operand| match operand {
        Operand::Address(base, _) => matches!(**base, Operand::Register(_)),
        _ => false,
    })
}

/// Returns the opcode of an access to local memory instead of parameters.
fn local_form(opcode: &str) -> String {
    let local = |part| if str::starts_with(part, "param") { "local" } else { part };
    opcode.split('.').map(local).collect::<Vec<_>>().join(".")
}

/// Replaces the variables of recursive functions in an instruction by places in the frame at the address in register `frame`.
fn place_in_frame(
    raw: &mut RawInstruction,
    framed: &HashMap<VariableId, u64>,
    frame: RegisterId,
) -> Result<()> {
    let mut is_framed = false;
    for operand in &mut raw.operands {
        let Operand::Address(base, offset) = operand else { continue };
        let Operand::Variable(id, more) = **base else { continue };
        if let Some(place) = framed.get(&id) {
            *offset += more + *place as i64;
            **base = Operand::Register(frame);
            is_framed = true;
        }
    }
    if is_framed {
        raw.opcode = local_form(&raw.opcode);
    }
    let variable = raw.operands.iter().find_map(|operand| match operand {
        Operand::Variable(id, offset) => framed.get(id).map(|place| (*place as i64) + offset),
        _ => None,
    });
    let Some(place) = variable else { return Ok(()) };
    match (raw.opcode.as_str(), &raw.operands[..]) {
        ("mov.u64" | "mov.b64" | "mov.s64", [to, Operand::Variable(..)]) => {
            raw.operands = vec![to.clone(), Operand::Register(frame), Operand::Integer(place.into())];
            raw.opcode = "add.s64".to_owned();
            Ok(())
        }
        _ => Err((
            raw.line,
            format!("`{}` with the address of a variable of a recursive function", raw.opcode),
        )),
    }
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
fn bind(operand: &mut Operand, binding: &Binding) {
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
