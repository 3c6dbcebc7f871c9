//! Calls of recursive functions in a kernel: a call saves the live registers, passes its values in a frame, and branches.
use std::collections::{BTreeMap, HashMap};

use super::ast::{
    Function, FunctionParameter, NameScope, Operand, PtxRegister, RawInstruction, RegisterId, ScopeId,
    VariableId, VariableSpace,
};
use super::inline::{Binding, Inliner, Result, local_form};
use super::recursion::Frame;

/// Calls of recursive functions in a kernel.
pub(super) struct RecursiveCalls {
    /// Register with the address of the current frame.
    pub(super) frame: RegisterId,
    pub(super) frames: HashMap<usize, Frame>,
    /// Function whose copy is being made; `None`: the kernel.
    pub(super) current: Option<usize>,
    /// Labels behind the calls of each function, whose copy is made in the end.
    pub(super) returns: BTreeMap<usize, Vec<String>>,
    /// Functions whose copy is not made yet.
    pub(super) open: Vec<usize>,
}

/// Kernel-wide scope of the labels of recursive functions.
const KERNEL: ScopeId = 0;

fn entry_label(index: usize) -> String {
    format!("function {index}")
}

impl Inliner<'_> {
    /// Returns a new register.
    pub(super) fn hidden(&mut self, width: u8) -> RegisterId {
        self.out.registers.push(PtxRegister { name: "call".to_owned(), width });
        self.out.registers.len() as RegisterId - 1
    }

    /// Appends an instruction without a guard. `operands` have the kernel's numbers.
    pub(super) fn emit(&mut self, raw: &RawInstruction, opcode: &str, operands: Vec<Operand>) {
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
    pub(super) fn begin_stack(&mut self, kernel: &Function) -> Result<()> {
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
    pub(super) fn call_recursive(
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
    pub(super) fn copy_recursive(&mut self) -> Result<()> {
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
