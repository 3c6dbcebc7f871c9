//! Puts the parameters of inlined calls into registers, where calling conventions pass them: each that is only ever
//! stored and loaded whole, in words of its own size. Others stay memory of the thread.

use std::collections::BTreeMap;

use super::ast::{
    Ast, Function, FunctionParameter, Operand, RawInstruction, Register, RegisterId, VariableId,
    VariableSpace,
};

/// What an instruction does to the one parameter that it names.
#[derive(Clone, Copy)]
enum Use {
    Store(VariableId),
    Load(VariableId),
}

impl Use {
    fn variable(self) -> VariableId {
        let (Use::Store(id) | Use::Load(id)) = self;
        id
    }
}

/// Replaces parameters of calls by registers in `function`, which has no calls any more.
pub(crate) fn promote(ast: &Ast, function: &mut Function) {
    let own = |id: &VariableId| {
        function.parameters.iter().any(|own| matches!(own, FunctionParameter::Memory(own) if own == id))
    };
    let is_candidate = |id: &&VariableId| {
        let variable = &ast.variables[**id as usize];
        variable.space == VariableSpace::Param && matches!(variable.bytes, 4 | 8) && !own(id)
    };
    // A parameter may be a local of several copies of a function: they follow each other, and share its register.
    let mut registers: BTreeMap<VariableId, RegisterId> =
        function.locals.iter().filter(is_candidate).map(|id| (*id, 0)).collect();
    for raw in &function.code {
        let whole = whole_use(ast, function, raw).map(Use::variable);
        for id in raw.operands.iter().flat_map(variables).filter(|id| Some(*id) != whole) {
            registers.remove(&id);
        }
    }
    for (id, register) in &mut registers {
        let variable = &ast.variables[*id as usize];
        *register = function.registers.len() as RegisterId;
        function.registers.push(Register { name: variable.name.clone(), width: 8 * variable.bytes as u8 });
    }
    let register_of = |id| registers.get(&id).copied().map(Operand::Register);
    let mut code = std::mem::take(&mut function.code);
    for raw in &mut code {
        let Some(found) = whole_use(ast, function, raw) else { continue };
        let id = found.variable();
        let Some(register) = register_of(id) else { continue };
        raw.opcode = format!("mov.b{}", 8 * ast.variables[id as usize].bytes);
        // The address is what the register takes the place of; a `mov` has its destination first, as both have.
        raw.operands[match found {
            Use::Store(_) => 0,
            Use::Load(_) => 1,
        }] = register;
    }
    function.code = code;
    function.locals.retain(|id| register_of(*id).is_none());
}

/// A load or store of all of a parameter in one register or constant.
fn whole_use(ast: &Ast, function: &Function, raw: &RawInstruction) -> Option<Use> {
    let (is_store, bits) = match raw.opcode.split('.').collect::<Vec<_>>()[..] {
        ["st", "param", kind] => (true, kind.get(1..)?.parse::<u64>().ok()?),
        ["ld", "param", kind] => (false, kind.get(1..)?.parse::<u64>().ok()?),
        _ => return None,
    };
    let [first, second] = &raw.operands[..] else { return None };
    let (address, value) = if is_store { (first, second) } else { (second, first) };
    let Operand::Address(base, 0) = address else { return None };
    let Operand::Variable(id, 0) = **base else { return None };
    let fits = match value {
        Operand::Register(register) => u64::from(function.registers[*register as usize].width) == bits,
        Operand::Integer(_) => is_store,
        Operand::Single(_) => is_store && bits == 32,
        Operand::Double(_) => is_store && bits == 64,
        _ => false,
    };
    let is_whole = fits && bits == 8 * ast.variables[id as usize].bytes;
    is_whole.then_some(if is_store { Use::Store(id) } else { Use::Load(id) })
}

/// The variables that an operand names.
fn variables(operand: &Operand) -> Vec<VariableId> {
    match operand {
        Operand::Variable(id, _) => vec![*id],
        Operand::Address(base, _) => variables(base),
        Operand::Vector(list) | Operand::Arguments(list) => list.iter().flat_map(variables).collect(),
        _ => Vec::new(),
    }
}
