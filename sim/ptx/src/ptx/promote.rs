//! Moves parameters of inlined calls from memory to registers, as calling conventions do. A parameter qualifies if
//! every access stores or loads all of it, as one word. Other parameters stay in local memory.

use std::collections::BTreeMap;

use super::ast::{
    Ast, Function, FunctionParameter, Operand, PtxRegister, RawInstruction, RegisterId, VariableId,
    VariableSpace,
};

/// Access of an instruction to the parameter that it names.
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

/// Replaces parameters of calls by registers in `function`, whose calls must have been inlined.
pub(crate) fn promote(ast: &Ast, function: &mut Function) {
    let own = |id: &VariableId| {
        function.parameters.iter().any(|own| matches!(own, FunctionParameter::Memory(own) if own == id))
    };
    let is_candidate = |id: &&VariableId| {
        let variable = &ast.variables[**id as usize];
        variable.space == VariableSpace::Param && matches!(variable.bytes, 4 | 8) && !own(id)
    };
    // Several copies of a function may share a parameter. They execute one after the other, so they can share its
    // register.
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
        function.registers.push(PtxRegister { name: variable.name.clone(), width: 8 * variable.bytes as u8 });
    }
    let register_of = |id| registers.get(&id).copied().map(Operand::Register);
    let mut code = std::mem::take(&mut function.code);
    for raw in &mut code {
        let Some(found) = whole_use(ast, function, raw) else { continue };
        let id = found.variable();
        let Some(register) = register_of(id) else { continue };
        raw.opcode = format!("mov.b{}", 8 * ast.variables[id as usize].bytes);
        // The register replaces the address. In `mov`, as in loads and stores, the destination comes first.
        raw.operands[match found {
            Use::Store(_) => 0,
            Use::Load(_) => 1,
        }] = register;
    }
    function.code = code;
    function.locals.retain(|id| register_of(*id).is_none());
}

/// Returns the use, if an instruction loads or stores all of a parameter in one register or constant.
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

/// Returns the variables that an operand names.
fn variables(operand: &Operand) -> Vec<VariableId> {
    match operand {
        Operand::Variable(id, _) => vec![*id],
        Operand::Address(base, _) => variables(base),
        Operand::Vector(list) | Operand::Arguments(list) => list.iter().flat_map(variables).collect(),
        _ => Vec::new(),
    }
}
