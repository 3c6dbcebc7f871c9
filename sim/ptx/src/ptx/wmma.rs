//! Replaces `wmma` instructions: fragments are loaded and stored register by register, and a product becomes one or two
//! `mma`.
//!
//! PTX leaves the layout of a fragment open. Here a fragment of a 16-row factor has the layout of the first factor of
//! `mma.m16n8`, one of an 8-column factor that of the second, as in ptxas since Turing. A product m8n32 is computed as
//! the transposed m32n8.

use super::ast::{Operand, PtxRegister, RawInstruction, RegisterId};

/// Opcode of a product that stands for a part of another. PTX opcodes contain no blank, so no file can contain it.
pub(super) const PART: &str = "mma part";

/// Operand of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FragmentRole {
    A,
    B,
    Sum,
}

/// Rows, columns and inner size of a product.
#[derive(Debug, Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
}

impl Shape {
    fn named(name: &str) -> Option<Self> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let side = |text: &str| text.parse().ok().filter(|side| *side <= 256);
        Some(Self { m: side(m)?, n: side(n)?, k: side(k)? })
    }

    /// Returns the rows and columns of an operand.
    fn of(self, role: FragmentRole) -> (usize, usize) {
        match role {
            FragmentRole::A => (self.m, self.k),
            FragmentRole::B => (self.k, self.n),
            FragmentRole::Sum => (self.m, self.n),
        }
    }

    /// Returns whether the product is computed transposed.
    fn is_transposed(self) -> bool {
        self.n == 32
    }

    /// Returns the rows of a part.
    fn rows(self) -> usize {
        if self.m == 8 && self.n == 8 { 8 } else { 16 }
    }

    /// Returns the number of parts.
    fn parts(self) -> usize {
        self.m * self.n / 8 / self.rows()
    }
}

/// Returns the bits of an element.
fn element_bits(of: &str) -> Option<usize> {
    Some(match of {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" => 8,
        "f16" | "bf16" => 16,
        "tf32" | "f32" | "s32" => 32,
        "f64" => 64,
        _ => return None,
    })
}

/// Elements of a fragment in the registers of a lane. Lane 4 g + t holds the elements at distance (g, `step` t) of those
/// in `places`.
#[derive(Debug)]
struct Fragment {
    /// `true`: the outer position of an element is its row; `false`: its column.
    outer_is_row: bool,
    step: usize,
    bits: usize,
    /// Outer and inner position of each element of each register.
    places: Vec<Vec<(usize, usize)>>,
    /// Number of registers in the operand. Those beyond `places` repeat the first.
    registers: usize,
}

impl Fragment {
    fn new(shape: Shape, role: FragmentRole, of: &str) -> Option<Self> {
        let known = match of {
            "f16" | "bf16" | "s8" | "u8" => {
                matches!((shape.m, shape.n, shape.k), (16, 16, 16) | (32, 8, 16) | (8, 32, 16))
            }
            "tf32" => matches!((shape.m, shape.n, shape.k), (16, 16, 8)),
            "f64" => matches!((shape.m, shape.n, shape.k), (8, 8, 4)),
            "s4" | "u4" => matches!((shape.m, shape.n, shape.k), (8, 8, 32)),
            "b1" => matches!((shape.m, shape.n, shape.k), (8, 8, 128)),
            // The shape is checked with the factors.
            "f32" | "s32" => true,
            _ => false,
        };
        let bits = element_bits(of).filter(|_| known)?;
        if (role == FragmentRole::Sum) != matches!(of, "f32" | "s32") && !matches!(of, "f16" | "f64") {
            return None;
        }
        let rows = shape.rows();
        let transposed = shape.is_transposed();
        let per_register = (32 / bits).max(1);
        let row =
            |outer: usize, inner: usize| (0..per_register).map(|e| (outer, inner + e)).collect::<Vec<_>>();
        let is_first = role == if transposed { FragmentRole::B } else { FragmentRole::A };
        let (places, step): (Vec<Vec<(usize, usize)>>, usize) = match role {
            FragmentRole::Sum => {
                let block = |part: usize| -> Vec<Vec<(usize, usize)>> {
                    let (outer, inner) = if shape.m == 16 { (0, 8 * part) } else { (16 * part, 0) };
                    let of_row = |down: usize| match per_register {
                        2 => vec![row(outer + down, inner)],
                        _ => vec![row(outer + down, inner), row(outer + down, inner + 1)],
                    };
                    (0..rows / 8).flat_map(|half| of_row(8 * half)).collect()
                };
                ((0..shape.parts()).flat_map(block).collect(), 2)
            }
            _ => {
                let columns = shape.k / (4 * per_register);
                let blocks = match (is_first, shape.m) {
                    (true, 16) | (false, 8 | 32) => 1,
                    _ => shape.parts(),
                };
                let block = |part: usize| -> Vec<Vec<(usize, usize)>> {
                    let inner = |column: usize| 4 * per_register * column;
                    if !is_first {
                        return (0..columns).map(|column| row(8 * part, inner(column))).collect();
                    }
                    let down = rows / 8;
                    (0..columns * down).map(|r| row(16 * part + 8 * (r % down), inner(r / down))).collect()
                };
                ((0..blocks).flat_map(block).collect(), per_register)
            }
        };
        let registers = if role != FragmentRole::Sum && of == "f16" { 8 } else { places.len() };
        let outer_is_row = match role {
            FragmentRole::A => true,
            FragmentRole::B => false,
            FragmentRole::Sum => !transposed,
        };
        Some(Self { outer_is_row, step, bits, places, registers })
    }
}

/// The instructions that replace one.
struct OpcodeParts<'a> {
    raw: &'a RawInstruction,
    registers: &'a mut Vec<PtxRegister>,
    out: Vec<RawInstruction>,
}

impl OpcodeParts<'_> {
    fn fresh(&mut self, width: u8) -> Operand {
        self.registers.push(PtxRegister { name: "wmma".to_owned(), width });
        Operand::Register(self.registers.len() as RegisterId - 1)
    }

    fn push(&mut self, opcode: String, operands: Vec<Operand>) {
        self.out.push(RawInstruction { opcode, operands, ..self.raw.clone() });
    }

    /// Appends an instruction with a result of `width` bits, and returns the result.
    fn value(&mut self, width: u8, opcode: &str, sources: Vec<Operand>) -> Operand {
        let to = self.fresh(width);
        self.push(opcode.to_owned(), [vec![to.clone()], sources].concat());
        to
    }
}

fn number(value: usize) -> Operand {
    Operand::Integer(value as i128)
}

/// Returns the instructions that replace `raw`, a `wmma`; `None` if its form is not known.
pub(super) fn expand(raw: &RawInstruction, registers: &mut Vec<PtxRegister>) -> Option<Vec<RawInstruction>> {
    let modifiers: Vec<&str> = raw.opcode.split('.').skip(1).collect();
    let mut parts = OpcodeParts { raw, registers, out: Vec::new() };
    match modifiers[..] {
        ["load", role @ ("a" | "b" | "c"), ref rest @ ..] => {
            let role = match role {
                "a" => FragmentRole::A,
                "b" => FragmentRole::B,
                _ => FragmentRole::Sum,
            };
            let [list, address, stride @ ..] = &raw.operands[..] else { return None };
            transfer(&mut parts, false, role, rest, (list, address, stride))?;
        }
        ["store", "d", ref rest @ ..] => {
            let [address, list, stride @ ..] = &raw.operands[..] else { return None };
            transfer(&mut parts, true, FragmentRole::Sum, rest, (list, address, stride))?;
        }
        ["mma", ref rest @ ..] => product(&mut parts, rest)?,
        _ => return None,
    }
    Some(parts.out)
}

/// Loads or stores a fragment. `operands` are the registers, the address and the stride, if any.
fn transfer(
    parts: &mut OpcodeParts,
    store: bool,
    role: FragmentRole,
    modifiers: &[&str],
    (list, address, stride): (&Operand, &Operand, &[Operand]),
) -> Option<()> {
    let (mut by_row, mut shape, mut space, mut of) = (None, None, "", None);
    for modifier in modifiers {
        match *modifier {
            "sync" | "aligned" => {}
            "row" => by_row = Some(true),
            "col" => by_row = Some(false),
            "global" => space = ".global",
            "shared" | "shared::cta" => space = ".shared",
            other if other.starts_with('m') => shape = Some(Shape::named(other)?),
            other => of = Some(other),
        }
    }
    let (by_row, shape) = (by_row?, shape?);
    let fragment = Fragment::new(shape, role, of?)?;
    let single = std::slice::from_ref(list);
    let list = if let Operand::Vector(list) = list { &list[..] } else { single };
    if list.len() != fragment.registers {
        return None;
    }
    let (rows, columns) = shape.of(role);
    let stride = match stride {
        [] => number(if by_row { columns } else { rows }),
        [stride] => stride.clone(),
        _ => return None,
    };
    let contiguous = fragment.outer_is_row == by_row;
    let bits = fragment.bits;
    if !contiguous && bits < 8 {
        return None;
    }
    let places = lane_addresses(parts, &fragment, address, (stride, contiguous))?;
    let op = if store { "st" } else { "ld" };
    let width = bits.max(32);
    let mut at = 0;
    while at < fragment.places.len() {
        let register = &list[at];
        let elements = &fragment.places[at];
        let next = fragment
            .places
            .get(at + 1)
            .filter(|_| contiguous && role == FragmentRole::Sum && elements.len() == 1);
        let paired = next.is_some_and(|next| next[0] == (elements[0].0, elements[0].1 + 1));
        at += 1;
        let ends = |to: Operand, place: &(usize, usize)| {
            let address = places(*place);
            if store { vec![address, to] } else { vec![to, address] }
        };
        if paired {
            let both = Operand::Vector(vec![register.clone(), list[at].clone()]);
            at += 1;
            parts.push(format!("{op}{space}.v2.b{width}"), ends(both, &elements[0]));
        } else if contiguous || elements.len() == 1 {
            parts.push(format!("{op}{space}.b{width}"), ends(register.clone(), &elements[0]));
        } else if bits == 16 {
            let halves = [parts.fresh(16), parts.fresh(16)];
            let whole = Operand::Vector(halves.to_vec());
            if store {
                parts.push("mov.b32".to_owned(), vec![whole.clone(), register.clone()]);
            }
            for (half, place) in halves.iter().zip(elements) {
                parts.push(format!("{op}{space}.b16"), ends(half.clone(), place));
            }
            if !store {
                parts.push("mov.b32".to_owned(), vec![register.clone(), whole]);
            }
        } else {
            let mut word = parts.fresh(32);
            parts.push(format!("ld{space}.u8"), ends(word.clone(), &elements[0]));
            for (index, place) in elements.iter().enumerate().skip(1) {
                let byte = parts.fresh(32);
                parts.push(format!("ld{space}.u8"), ends(byte.clone(), place));
                let field = vec![byte, word, number(8 * index), number(8)];
                word = parts.value(32, "bfi.b32", field);
            }
            parts.push("mov.b32".to_owned(), vec![register.clone(), word]);
        }
    }
    if !store {
        for (index, copy) in list.iter().enumerate().skip(fragment.places.len()) {
            let from = list[index % fragment.places.len()].clone();
            parts.push("mov.b32".to_owned(), vec![copy.clone(), from]);
        }
    }
    Some(())
}

/// Computes the addresses of a lane. Returns a function from the position of an element to its address.
fn lane_addresses(
    parts: &mut OpcodeParts,
    fragment: &Fragment,
    address: &Operand,
    (stride, contiguous): (Operand, bool),
) -> Option<impl Fn((usize, usize)) -> Operand + use<>> {
    let Operand::Address(base, offset) = address else { return None };
    let offset = *offset;
    let (base, wide) = match &**base {
        Operand::Register(id) => ((**base).clone(), parts.registers[*id as usize].width == 64),
        variable @ Operand::Variable(..) => (parts.value(64, "mov.u64", vec![variable.clone()]), true),
        _ => return None,
    };
    let bits = fragment.bits;
    let lane = parts.value(32, "mov.u32", vec![Operand::Special("%laneid".to_owned())]);
    let group = parts.value(32, "shr.u32", vec![lane.clone(), number(2)]);
    let thread = parts.value(32, "and.b32", vec![lane, number(3)]);
    let thread = match fragment.step {
        1 => thread,
        step => parts.value(32, "mul.lo.u32", vec![thread, number(step)]),
    };
    let (major, minor) = if contiguous { (group, thread) } else { (thread, group) };
    let mut element = parts.value(32, "mad.lo.u32", vec![major, stride.clone(), minor]);
    if bits < 8 {
        element = parts.value(32, "shr.u32", vec![element, number(if bits == 4 { 1 } else { 3 })]);
    }
    let (width, scaled) = if wide { (64, "mad.wide.u32") } else { (32, "mad.lo.u32") };
    let own = parts.value(width, scaled, vec![element, number((bits / 8).max(1)), base]);
    let split =
        move |(outer, inner): (usize, usize)| if contiguous { (outer, inner) } else { (inner, outer) };
    let mut lines: Vec<usize> = fragment.places.iter().flatten().map(|place| split(*place).0).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut starts = Vec::new();
    for line in lines {
        let bytes = line * bits / 8;
        let start = match &stride {
            _ if line == 0 => (own.clone(), 0),
            Operand::Integer(stride) => (own.clone(), *stride as i64 * bytes as i64),
            stride => (parts.value(width, scaled, vec![stride.clone(), number(bytes), own.clone()]), 0),
        };
        starts.push((line, start));
    }
    Some(move |place| {
        let (line, along) = split(place);
        let found = starts.iter().find(|(known, _)| *known == line);
        let (register, start) = found.map_or((own.clone(), 0), |(_, start)| start.clone());
        Operand::Address(Box::new(register), offset + start + (along * bits / 8) as i64)
    })
}

/// Replaces a product by the products of its parts.
fn product(parts: &mut OpcodeParts, modifiers: &[&str]) -> Option<()> {
    let (mut shape, mut kept, mut types, mut end) = (None, Vec::new(), Vec::new(), Vec::new());
    for modifier in modifiers {
        match *modifier {
            "sync" | "aligned" | "row" | "col" => {}
            "rn" | "rz" | "rm" | "rp" | "satfinite" => kept.push(*modifier),
            "xor" | "and" | "popc" => end.push(*modifier),
            other if other.starts_with('m') => shape = Some(Shape::named(other)?),
            other => types.push(other),
        }
    }
    let shape = shape?;
    let [to, a, b, from] = match types[..] {
        [to, from] => {
            // Before PTX 6.5, products of f16 may say .satfinite. It has no effect on finite results.
            kept.retain(|modifier| *modifier != "satfinite");
            [to, "f16", "f16", from]
        }
        [to, a, b, from] => [to, a, b, from],
        _ => return None,
    };
    let fragments =
        [(FragmentRole::Sum, to), (FragmentRole::A, a), (FragmentRole::B, b), (FragmentRole::Sum, from)];
    let mut lists = Vec::new();
    for ((role, of), operand) in fragments.into_iter().zip(&parts.raw.operands) {
        let fragment = Fragment::new(shape, role, of)?;
        let single = std::slice::from_ref(operand);
        let list = if let Operand::Vector(list) = operand { &list[..] } else { single };
        if list.len() != fragment.registers {
            return None;
        }
        lists.push(list[..fragment.places.len()].to_vec());
    }
    let [to_list, a_list, b_list, from_list] = <[Vec<Operand>; 4]>::try_from(lists).ok()?;
    let (first, second) = if shape.is_transposed() { (b_list, a_list) } else { (a_list, b_list) };
    let count = shape.parts();
    let (first_parts, second_parts) = if shape.m == 16 { (1, count) } else { (count, 1) };
    let slice = |list: &[Operand], parts: usize, part: usize| {
        let size = list.len() / parts;
        Operand::Vector(list[part % parts * size..][..size].to_vec())
    };
    let (first_type, second_type) = if shape.is_transposed() { (b, a) } else { (a, b) };
    let name = format!("m{}n8k{}", shape.rows(), shape.k);
    let words: Vec<&str> = [PART, "sync", "aligned", &name, "row", "col"]
        .into_iter()
        .chain(kept)
        .chain([to, first_type, second_type, from])
        .chain(end)
        .collect();
    let opcode = words.join(".");
    let operands = (0..count).map(|part| {
        vec![
            slice(&to_list, count, part),
            slice(&first, first_parts, part),
            slice(&second, second_parts, part),
            slice(&from_list, count, part),
        ]
    });
    push_apart(parts, &opcode, operands.collect());
    Some(())
}

/// Appends instructions that together are one: none may see a result of another.
fn push_apart(parts: &mut OpcodeParts, opcode: &str, mut all: Vec<Vec<Operand>>) {
    let list = |operand: &Operand| match operand {
        Operand::Vector(list) => list.clone(),
        other => vec![other.clone()],
    };
    let results: Vec<Operand> = all.iter().flat_map(|operands| list(&operands[0])).collect();
    let meets = all.iter().enumerate().skip(1).any(|(part, operands)| {
        let earlier = part * results.len() / all.len();
        operands[1..].iter().flat_map(list).any(|source| results[..earlier].contains(&source))
    });
    let mut moves = Vec::new();
    if meets {
        for operands in &mut all {
            let renamed = list(&operands[0]).into_iter().map(|to| {
                let width = match &to {
                    Operand::Register(id) => parts.registers[*id as usize].width,
                    _ => 32,
                };
                let copy = parts.fresh(width);
                moves.push((format!("mov.b{width}"), vec![to, copy.clone()]));
                copy
            });
            operands[0] = Operand::Vector(renamed.collect());
        }
    }
    for operands in all {
        parts.push(opcode.to_owned(), operands);
    }
    for (opcode, operands) in moves {
        parts.push(opcode, operands);
    }
}

/// Returns the halves of an `mma` that names too many registers for one instruction; `None` for others.
pub(super) fn halves(raw: &RawInstruction, registers: &mut Vec<PtxRegister>) -> Option<Vec<RawInstruction>> {
    let modifiers: Vec<&str> = raw.opcode.split('.').skip(1).collect();
    let [to, a, b, from] = &raw.operands[..] else { return None };
    let has = |name| modifiers.contains(&name);
    let list = |operand: &Operand, from: usize, step: usize, count: usize| match operand {
        Operand::Vector(list) if list.len() == count => {
            Some(Operand::Vector(list[from..].iter().step_by(step).cloned().collect()))
        }
        _ => None,
    };
    let mut parts = OpcodeParts { raw, registers, out: Vec::new() };
    if has("m16n8k16") && has("f64") {
        // The upper and the lower eight rows.
        let mut all = Vec::new();
        for half in 0..2 {
            let rows = |operand: &Operand| match operand {
                Operand::Vector(list) if list.len() == 4 => {
                    Some(Operand::Vector(list[2 * half..][..2].to_vec()))
                }
                _ => None,
            };
            all.push(vec![rows(to)?, list(a, half, 2, 8)?, list(b, 0, 1, 4)?, rows(from)?]);
        }
        let opcode = raw.opcode.replacen("mma", PART, 1).replacen("m16n8k16", "m8n8k16", 1);
        push_apart(&mut parts, &opcode, all);
        return Some(parts.out);
    }
    if !has("m8n8k4") || !has("f16") {
        return None;
    }
    // The left and the right four columns.
    let mut all = Vec::new();
    for half in 0..2 {
        let columns = |operand: &Operand| match operand {
            Operand::Vector(list) if matches!(list.len(), 4 | 8) => {
                let size = list.len() / 2;
                Some(Operand::Vector(list[half * size..][..size].to_vec()))
            }
            _ => None,
        };
        all.push(vec![columns(to)?, a.clone(), b.clone(), columns(from)?, Operand::Integer(half as i128)]);
    }
    let opcode = raw.opcode.replacen("mma", PART, 1);
    push_apart(&mut parts, &opcode, all);
    Some(parts.out)
}
