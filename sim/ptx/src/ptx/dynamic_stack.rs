//! The stack of `alloca`: its instructions become arithmetic on the top of the stack.
use super::ast::{Function, Operand, RawInstruction};
use super::inline::{Binding, Inliner, Result, bind};

impl Inliner<'_> {
    /// Gives the kernel a stack for `alloca`.
    pub(super) fn begin_dynamic_stack(&mut self, kernel: &Function) -> Result<()> {
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
    pub(super) fn dynamic_stack(&mut self, raw: &RawInstruction, binding: &Binding) -> Result<()> {
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
}
