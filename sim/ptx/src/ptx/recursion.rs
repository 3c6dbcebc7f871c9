//! Recursive functions: which ones there are, and the frames that hold the state of their calls in local memory.
//!
//! A kernel has one copy of each recursive function that it reaches. A frame has the number of the place to return to, then the
//! function's parameters, results and local variables, and the registers that are live across its calls of recursive functions.

use std::collections::{HashMap, HashSet};

use super::ast::{
    Ast, Function, FunctionParameter, Operand, RawInstruction, RegisterId, ScopeId, VariableId, VariableSpace,
};

/// Result whose error has a line.
type Result<T> = std::result::Result<T, (u32, String)>;

/// Bytes of a thread's stack of frames, and of that of `alloca`.
pub(super) const STACK_BYTES: u64 = 8192;
/// Frames begin at multiples of so many bytes.
const ALIGNMENT: u64 = 16;
/// Bytes of the number of the place to return to.
const RETURN_BYTES: u64 = 4;
/// Max words of register sets for the liveness of a function, which real functions do not reach.
const MOST_WORDS: usize = 1 << 22;
/// Instructions whose first operand is written, and not read.
const WRITING: [&str; 42] = [
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "copysign", "cos", "cvt",
    "cvta", "div", "ex2", "fma", "ld", "lg2", "mad", "max", "min", "mov", "mul", "mul24", "neg", "not", "or",
    "popc", "prmt", "rcp", "rem", "rsqrt", "selp", "set", "setp", "shl", "shr", "sin", "sqrt", "sub", "xor",
];

/// Returns the functions that a function calls by name.
fn callees<'a>(function: &'a Function, names: &'a HashMap<&str, usize>) -> impl Iterator<Item = usize> + 'a {
    let calls = function.code.iter().filter(|raw| raw.opcode.split('.').next() == Some("call"));
    calls.flat_map(|raw| &raw.operands).filter_map(|operand| match operand {
        Operand::Name(name, _) => names.get(name.as_str()).copied(),
        _ => None,
    })
}

/// Returns the functions on cycles of calls, and those on paths from one cycle to another.
pub(super) fn recursive(ast: &Ast, names: &HashMap<&str, usize>) -> HashSet<usize> {
    let edges: Vec<Vec<usize>> =
        ast.functions.iter().map(|function| callees(function, names).collect()).collect();
    let mut left: HashSet<usize> = (0..edges.len()).collect();
    let mut reversed = vec![Vec::new(); edges.len()];
    for (caller, callees) in edges.iter().enumerate() {
        callees.iter().for_each(|callee| reversed[*callee].push(caller));
    }
    // Removes functions that no function, or only removed ones, call or are called by.
    for (out, back) in [(&edges, &reversed), (&reversed, &edges)] {
        let mut degree: Vec<usize> =
            out.iter().map(|list| list.iter().filter(|other| left.contains(other)).count()).collect();
        let mut leaves: Vec<usize> = left.iter().copied().filter(|index| degree[*index] == 0).collect();
        while let Some(leaf) = leaves.pop() {
            left.remove(&leaf);
            for next in back[leaf].iter().filter(|next| left.contains(next)) {
                degree[*next] -= 1;
                if degree[*next] == 0 {
                    leaves.push(*next);
                }
            }
        }
    }
    left
}

/// Returns whether a function reaches a recursive one, or calls through a pointer.
pub(super) fn reaches(
    ast: &Ast,
    function: &Function,
    names: &HashMap<&str, usize>,
    recursive: &HashSet<usize>,
) -> bool {
    let mut seen: HashSet<usize> = HashSet::new();
    let mut open: Vec<usize> = callees(function, names).collect();
    if has_pointer_call(function) {
        return true;
    }
    while let Some(index) = open.pop() {
        if recursive.contains(&index) || has_pointer_call(&ast.functions[index]) {
            return true;
        }
        if seen.insert(index) {
            open.extend(callees(&ast.functions[index], names));
        }
    }
    false
}

/// Returns whether a function calls through a pointer.
fn has_pointer_call(function: &Function) -> bool {
    let mut calls = function.code.iter().filter(|raw| raw.opcode.split('.').next() == Some("call"));
    calls.any(|raw| raw.operands.iter().any(|operand| matches!(operand, Operand::Register(_))))
}

/// Returns whether a function allocates memory on the stack of `alloca`.
pub(super) fn uses_dynamic_stack(function: &Function) -> bool {
    let dynamic = ["alloca", "stacksave", "stackrestore"];
    function.code.iter().any(|raw| dynamic.contains(&raw.opcode.split('.').next().unwrap_or_default()))
}

/// Frame of a recursive function.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Offsets of the parameters, results and local variables.
    pub variables: HashMap<VariableId, u64>,
    /// Offsets of the registers that are live across a call.
    pub registers: HashMap<RegisterId, u64>,
    /// Registers to save at each call of a recursive function, by the number of the instruction in the function.
    pub saved: HashMap<usize, Vec<RegisterId>>,
    /// Offset of the top of the stack of `alloca` before the call, in a function that uses it.
    pub dynamic: Option<u64>,
    pub bytes: u64,
}

impl Frame {
    /// Returns the frame of a function.
    ///
    /// # Errors
    /// The line and the reason, if the function is too large.
    pub fn new(
        ast: &Ast,
        function: &Function,
        names: &HashMap<&str, usize>,
        recursive: &HashSet<usize>,
    ) -> Result<Self> {
        let mut frame = Frame { bytes: RETURN_BYTES, ..Frame::default() };
        let formals = function.parameters.iter().chain(&function.returns).filter_map(|formal| match formal {
            FunctionParameter::Memory(id) => Some(id),
            FunctionParameter::Register(_) => None,
        });
        for id in formals.chain(&function.locals) {
            let variable = &ast.variables[*id as usize];
            if matches!(variable.space, VariableSpace::Local | VariableSpace::Param)
                && !frame.variables.contains_key(id)
            {
                let offset = frame.bytes.next_multiple_of(u64::from(variable.alignment).max(1));
                frame.variables.insert(*id, offset);
                frame.bytes = offset + variable.bytes;
            }
        }
        let calls: Vec<usize> = function
            .code
            .iter()
            .enumerate()
            .filter(|(_, raw)| raw.opcode.split('.').next() == Some("call"))
            .filter(|(_, raw)| {
                raw.operands.iter().any(|operand| match operand {
                    Operand::Name(name, _) => {
                        names.get(name.as_str()).is_some_and(|index| recursive.contains(index))
                    }
                    _ => false,
                })
            })
            .map(|(place, _)| place)
            .collect();
        for (place, live) in live_after(function, &calls)? {
            for register in &live {
                let width = u64::from(function.registers[*register as usize].width).div_ceil(8).max(4);
                let end = &mut frame.bytes;
                frame.registers.entry(*register).or_insert_with(|| {
                    let offset = end.next_multiple_of(width);
                    *end = offset + width;
                    offset
                });
            }
            frame.saved.insert(place, live);
        }
        if uses_dynamic_stack(function) {
            let offset = frame.bytes.next_multiple_of(8);
            (frame.dynamic, frame.bytes) = (Some(offset), offset + 8);
        }
        frame.bytes = frame.bytes.next_multiple_of(ALIGNMENT);
        Ok(frame)
    }
}

/// Calls `each` for the registers of an operand.
fn registers(operand: &Operand, each: &mut dyn FnMut(RegisterId)) {
    match operand {
        Operand::Register(id) | Operand::NegatedRegister(id) | Operand::Part(id, _) => each(*id),
        Operand::Pair(first, second) => [*first, *second].into_iter().for_each(each),
        Operand::Address(base, _) => registers(base, each),
        Operand::Vector(list) | Operand::Arguments(list) => list.iter().for_each(|one| registers(one, each)),
        _ => {}
    }
}

/// Updates the live registers backwards across an instruction.
fn step_back(live: &mut [u64], raw: &RawInstruction) {
    let name = raw.opcode.split('.').next().unwrap_or_default();
    let writes = raw.guard.is_none() && WRITING.contains(&name);
    let (written, read) = raw.operands.split_at(usize::from(writes).min(raw.operands.len()));
    let whole =
        |operand: &&Operand| matches!(operand, Operand::Register(_) | Operand::Pair(..) | Operand::Vector(_));
    written.iter().filter(whole).for_each(|operand| {
        registers(operand, &mut |id| live[id as usize / 64] &= !(1 << (id % 64)));
    });
    let mut read_one = |id: RegisterId| live[id as usize / 64] |= 1 << (id % 64);
    written.iter().filter(|operand| !whole(operand)).for_each(|operand| registers(operand, &mut read_one));
    read.iter().for_each(|operand| registers(operand, &mut read_one));
    raw.guard.iter().for_each(|(id, _)| read_one(*id));
}

/// Returns the instruction at a label that is visible in a scope.
fn place_of(function: &Function, name: &str, scope: ScopeId) -> Option<usize> {
    let mut scope = Some(scope);
    while let Some(at) = scope {
        if let Some(place) = function.labels.get(&(at, name.to_owned())) {
            return Some(*place as usize);
        }
        scope = function.scopes.get(at as usize).and_then(|one| one.parent);
    }
    None
}

/// Returns the instructions that may follow each instruction. The number of instructions represents the end.
fn successors(function: &Function) -> Vec<Vec<usize>> {
    let follow = |(place, raw): (usize, &RawInstruction)| {
        let name = raw.opcode.split('.').next().unwrap_or_default();
        let mut out = Vec::new();
        let ends = matches!(name, "bra" | "brx" | "ret" | "exit") && raw.guard.is_none();
        if !ends {
            out.push(place + 1);
        }
        if let "bra" | "brx" = name {
            for operand in &raw.operands {
                let Operand::Name(name, scope) = operand else { continue };
                out.extend(place_of(function, name, *scope));
                let list = function.target_lists.get(&(*scope, name.clone())).into_iter().flatten();
                out.extend(list.filter_map(|name| place_of(function, name, *scope)));
            }
        }
        out
    };
    function.code.iter().enumerate().map(follow).collect()
}

/// Returns the registers that are live after some instructions.
fn live_after(function: &Function, places: &[usize]) -> Result<Vec<(usize, Vec<RegisterId>)>> {
    let (count, words) = (function.code.len(), function.registers.len().div_ceil(64));
    if (count + 1) * words > MOST_WORDS {
        return Err((function.line, format!("recursive function '{}' is too large", function.name)));
    }
    let successors = successors(function);
    let mut before = vec![vec![0u64; words]; count + 1];
    let after = |before: &[Vec<u64>], place: usize| {
        let mut live = vec![0; words];
        for next in &successors[place] {
            live.iter_mut().zip(&before[*next]).for_each(|(to, from)| *to |= from);
        }
        live
    };
    let mut changed = true;
    while changed {
        changed = false;
        for place in (0..count).rev() {
            let mut live = after(&before, place);
            step_back(&mut live, &function.code[place]);
            changed |= live != before[place];
            before[place] = live;
        }
    }
    let listed = |live: Vec<u64>| {
        let all = 0..function.registers.len() as RegisterId;
        all.filter(|id| live[*id as usize / 64] >> (id % 64) & 1 == 1).collect()
    };
    Ok(places.iter().map(|place| (*place, listed(after(&before, *place)))).collect())
}
