//! Decodes a kernel's instructions: opcode text and operands become the compact form that the executor runs.
//!
//! Arithmetic forms are looked up in the table of [`super::alu`]; the forms of memory, conversion, carry-chain, move and
//! warp instructions are read modifier by modifier.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::alu::{Alu, OperandType, ROWS, Row};
use super::ast::{Ast, Function, Operand, RawInstruction, RegisterId, ScopeId, VariableId, VariableSpace};
use super::error::{PtxError, quote};
use super::float::Rounding;
use super::instr::{
    AtomicOp, CacheOp, CarryForm, Combine, ConvertForm, Instr, MAX_NAMED, MemoryForm, NO_PC, NONE, Number,
    NumberType, Op, OpClass, PredicateOp, ShuffleMode, Space, VoteMode,
};
use super::lane::{FLUSH, SATURATE};
use super::module::Addresses;
use super::special::{self, Source, Special};
use super::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};

/// Rows of the arithmetic table by form.
static FORMS: LazyLock<HashMap<&'static str, &'static Row>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.forms.iter().map(move |form| (*form, row))).collect());

/// What is wrong with an instruction, without its place.
type Result<T> = std::result::Result<T, String>;

/// The decoded body of a kernel.
#[derive(Debug)]
pub(crate) struct Body {
    pub code: Vec<Instr>,
    pub texts: Vec<Box<str>>,
    pub words: usize,
    pub doubles: usize,
    pub predicates: usize,
    /// 32-bit registers that each scoreboard number takes.
    pub weights: Vec<u8>,
    pub word_pool: Vec<[u32; 32]>,
    pub double_pool: Vec<[u64; 32]>,
    pub specials: Vec<(u16, Special)>,
}

/// Place of a register: its file by width, and its index there.
#[derive(Debug, Clone, Copy)]
struct Place {
    width: u8,
    index: u16,
}

struct Decoder<'a> {
    ast: &'a Ast,
    function: &'a Function,
    /// Address of each variable that this kernel can name, in its own space.
    addresses: &'a Addresses,
    places: Vec<Place>,
    /// Registers of each file that the PTX names.
    named: [usize; 3],
    /// Registers of each file, hidden ones included.
    total: [usize; 3],
    word_constants: HashMap<u32, u16>,
    double_constants: HashMap<u64, u16>,
    body: Body,
    carry_flag: Option<u16>,
    /// The instruction being decoded.
    instr: Instr,
    dests: Vec<u16>,
    sources: Vec<u16>,
}

const fn file_of(width: u8) -> usize {
    match width {
        1 => 2,
        64 => 1,
        _ => 0,
    }
}

/// Decodes `function`'s code.
pub(crate) fn decode(
    file: &str,
    source: &str,
    ast: &Ast,
    function: &Function,
    addresses: &Addresses,
) -> std::result::Result<Body, PtxError> {
    let error = |line, message: String| PtxError { file: file.to_owned(), line, message };
    let mut decoder =
        Decoder::new(ast, function, addresses).map_err(|message| error(function.line, message))?;
    for raw in &function.code {
        decoder.instruction(raw).map_err(|message| {
            let form = quote(&raw.opcode);
            error(raw.line, format!("unsupported instruction form `{form}`: {message}"))
        })?;
        let text = source.get(raw.span.0 as usize..raw.span.1 as usize).unwrap_or_default();
        decoder.body.texts.push(text.split_whitespace().collect::<Vec<_>>().join(" ").into());
    }
    decoder.finish().map_err(|message| error(function.line, message))
}

fn blank(line: u32) -> Instr {
    Instr {
        line,
        class: OpClass::Control,
        flags: 0,
        guard_negated: false,
        op: Op::Nothing,
        guard: NONE,
        d: NONE,
        a: NONE,
        b: NONE,
        c: NONE,
        vector: [NONE; 8],
        target: NO_PC,
        reconvergence: NO_PC,
        offset: 0,
        named: [0; MAX_NAMED],
        dest_count: 0,
        source_count: 0,
    }
}

/// An operand list of exactly `N`.
fn exactly<const N: usize>(operands: &[Operand]) -> Result<&[Operand; N]> {
    operands.try_into().map_err(|_| format!("it takes {N} operands, got {}", operands.len()))
}

fn number_type(name: &str) -> Option<NumberType> {
    let (number, bits) = match name.split_at_checked(1)? {
        ("u" | "b", bits) => (Number::Unsigned, bits),
        ("s", bits) => (Number::Signed, bits),
        ("f", bits) => (Number::Float, bits),
        _ => return None,
    };
    let bits = match bits {
        "8" if number != Number::Float => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return None,
    };
    Some(NumberType { number, bits })
}

impl<'a> Decoder<'a> {
    fn new(ast: &'a Ast, function: &'a Function, addresses: &'a Addresses) -> Result<Self> {
        let mut named = [0; 3];
        let mut places = Vec::with_capacity(function.registers.len());
        for register in &function.registers {
            let file = file_of(register.width);
            if register.width > 64 {
                return Err(format!("register '{}' is wider than 64 bits", register.name));
            }
            if named[file] >= usize::from(u16::MAX / 4) {
                return Err(format!(
                    "function '{}' uses more than {} registers of a kind",
                    function.name,
                    u16::MAX / 4
                ));
            }
            places.push(Place { width: register.width, index: named[file] as u16 });
            named[file] += 1;
        }
        let body = Body {
            code: Vec::with_capacity(function.code.len() + 1),
            texts: Vec::with_capacity(function.code.len() + 1),
            words: 0,
            doubles: 0,
            predicates: 0,
            weights: Vec::new(),
            word_pool: Vec::new(),
            double_pool: Vec::new(),
            specials: Vec::new(),
        };
        Ok(Self {
            ast,
            function,
            addresses,
            places,
            named,
            total: named,
            word_constants: HashMap::new(),
            double_constants: HashMap::new(),
            body,
            carry_flag: None,
            instr: blank(0),
            dests: Vec::new(),
            sources: Vec::new(),
        })
    }

    fn finish(mut self) -> Result<Body> {
        // Running off the end of the code ends the thread.
        let ends =
            self.body.code.last().is_some_and(|i| i.guard == NONE && matches!(i.op, Op::Exit | Op::Branch));
        let label_at_end = self.function.labels.values().any(|&place| place as usize == self.body.code.len());
        if !ends || label_at_end {
            let line = self.body.code.last().map_or(self.function.line, |i| i.line);
            self.body.code.push(Instr { op: Op::Exit, class: OpClass::Exit, ..blank(line) });
            self.body.texts.push("ret".into());
        }
        let numbered = self.named[0] + self.named[1] + self.total[2];
        let pools = self.body.word_pool.len().max(self.body.double_pool.len());
        if numbered.max(self.total[0] + pools).max(self.total[1] + pools) >= usize::from(u16::MAX) {
            return Err(format!("function '{}' uses too many registers and constants", self.function.name));
        }
        self.body.weights = [(self.named[0], 1), (self.named[1], 2), (self.total[2], 0)]
            .iter()
            .flat_map(|&(count, weight)| std::iter::repeat_n(weight, count))
            .collect();
        (self.body.words, self.body.doubles, self.body.predicates) =
            (self.total[0], self.total[1], self.total[2]);
        super::control_flow::set_reconvergence(&mut self.body.code);
        Ok(self.body)
    }

    fn instruction(&mut self, raw: &RawInstruction) -> Result<()> {
        self.instr = blank(raw.line);
        self.dests.clear();
        self.sources.clear();
        if let Some((register, negated)) = raw.guard {
            self.instr.guard = self.register_source(register, 1)?;
            self.instr.guard_negated = negated;
        }
        self.form(&raw.opcode, &raw.operands)?;
        let count = self.dests.len() + self.sources.len();
        if count > MAX_NAMED {
            return Err(format!("it names {count} registers; at most {MAX_NAMED} are supported"));
        }
        self.instr.dest_count = self.dests.len() as u8;
        self.instr.source_count = self.sources.len() as u8;
        for (slot, &register) in self.instr.named.iter_mut().zip(self.dests.iter().chain(&self.sources)) {
            *slot = register;
        }
        self.body.code.push(self.instr.clone());
        Ok(())
    }

    fn form(&mut self, opcode: &str, operands: &[Operand]) -> Result<()> {
        let mut parts = opcode.split('.');
        let name = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        match name {
            "ld" | "ldu" => self.load(&modifiers, operands),
            "st" => self.store(&modifiers, operands),
            "atom" | "red" => self.atomic(name == "red", &modifiers, operands),
            "mov" => self.mov(opcode, &modifiers, operands),
            "setp" => self.setp(&modifiers, operands),
            "cvt" => self.cvt(opcode, &modifiers, operands),
            "cvta" => self.cvta(&modifiers, operands),
            "and" | "or" | "xor" | "not" if modifiers == ["pred"] => self.predicate_logic(name, operands),
            "add" | "addc" | "sub" | "subc" | "mad" | "madc"
                if name.ends_with('c') || modifiers.contains(&"cc") =>
            {
                self.carry(name, &modifiers, operands)
            }
            "bra" => self.branch(&modifiers, operands),
            "ret" | "exit" => {
                exactly::<0>(operands)?;
                self.plain(Op::Exit, OpClass::Exit)
            }
            "bar" | "barrier" => self.barrier(&modifiers, operands),
            "membar" | "fence" => self.plain(Op::Fence, OpClass::Fence),
            "shfl" => self.shuffle(&modifiers, operands),
            "vote" => self.vote(&modifiers, operands),
            "bfi" => self.insert(&modifiers, operands),
            "lop3" => self.lop3(&modifiers, operands),
            "activemask" => {
                let [d] = exactly(operands)?;
                self.instr.d = self.dest(d, 32)?;
                self.plain(Op::ActiveMask, OpClass::Warp)
            }
            "prefetch" | "prefetchu" | "pmevent" | "nanosleep" | "discard" | "applypriority" => {
                self.plain(Op::Nothing, OpClass::Control)
            }
            _ => self.table(opcode, operands),
        }
    }

    fn plain(&mut self, op: Op, class: OpClass) -> Result<()> {
        self.instr.op = op;
        self.instr.class = class;
        Ok(())
    }

    // ---- operands ----

    fn describe(&self, id: RegisterId) -> String {
        let register = &self.function.registers[id as usize];
        format!("register '{}' has {} bits", quote(&register.name), register.width)
    }

    fn number(&self, place: Place) -> u16 {
        let before = match file_of(place.width) {
            0 => 0,
            1 => self.named[0],
            _ => self.named[0] + self.named[1],
        };
        before as u16 + place.index
    }

    /// A register read as `width` bits.
    fn register_source(&mut self, id: RegisterId, width: u8) -> Result<u16> {
        let place = self.places[id as usize];
        if place.width != width {
            return Err(format!("{} where {width} are needed", self.describe(id)));
        }
        let number = self.number(place);
        self.sources.push(number);
        Ok(place.index)
    }

    /// A register of any integer width from `least` bits, and its width.
    fn wide_source(&mut self, id: RegisterId, least: u8) -> Result<Place> {
        let place = self.places[id as usize];
        if place.width < least || place.width == 1 {
            return Err(format!("{} where {least} or more are needed", self.describe(id)));
        }
        let number = self.number(place);
        self.sources.push(number);
        Ok(place)
    }

    fn hidden(&mut self, width: u8) -> u16 {
        let file = file_of(width);
        self.total[file] += 1;
        (self.total[file] - 1) as u16
    }

    fn dest_register(&mut self, id: RegisterId, width: u8) -> Result<u16> {
        let place = self.places[id as usize];
        if place.width != width {
            return Err(format!("{} where {width} are needed", self.describe(id)));
        }
        let number = self.number(place);
        self.dests.push(number);
        Ok(place.index)
    }

    fn dest(&mut self, operand: &Operand, width: u8) -> Result<u16> {
        match operand {
            Operand::Register(id) => self.dest_register(*id, width),
            Operand::Sink => Ok(self.hidden(width)),
            _ => Err("its first operand must be a register".to_owned()),
        }
    }

    /// A destination that may be wider than `least` bits.
    fn wide_dest(&mut self, operand: &Operand, least: u8) -> Result<Place> {
        let Operand::Register(id) = operand else {
            return Err("its destination must be a register".to_owned());
        };
        let place = self.places[*id as usize];
        if place.width < least || place.width == 1 {
            return Err(format!("{} where {least} or more are needed", self.describe(*id)));
        }
        let number = self.number(place);
        self.dests.push(number);
        Ok(place)
    }

    fn word_constant(&mut self, value: u32) -> u16 {
        let pool = &mut self.body.word_pool;
        *self.word_constants.entry(value).or_insert_with(|| {
            pool.push([value; 32]);
            u16::MAX - (pool.len().min(usize::from(u16::MAX)) - 1) as u16
        })
    }

    fn constant(&mut self, bits: u64, width: u8) -> u16 {
        if width != 64 {
            return self.word_constant(bits as u32 & (u32::MAX >> (32 - u32::from(width.min(32)))));
        }
        let pool = &mut self.body.double_pool;
        *self.double_constants.entry(bits).or_insert_with(|| {
            pool.push([bits; 32]);
            u16::MAX - (pool.len().min(usize::from(u16::MAX)) - 1) as u16
        })
    }

    /// A variable's address in its own space, and the space.
    fn address_of(&self, id: VariableId) -> Result<(u64, Space)> {
        let variable = &self.ast.variables[id as usize];
        let address = self.addresses.get(&id).copied();
        address.ok_or_else(|| format!("variable '{}' has no storage here", quote(&variable.name)))
    }

    fn special(&mut self, name: &str) -> Result<u16> {
        match special::find(name) {
            Some(Source::Fixed(special)) => {
                if let Some((index, _)) = self.body.specials.iter().find(|(_, known)| *known == special) {
                    return Ok(*index);
                }
                let index = self.hidden(32);
                self.body.specials.push((index, special));
                Ok(index)
            }
            Some(Source::Live(_)) => Err(format!("special register '{name}' can only be read by 'mov'")),
            None => Err(format!("special register '{}' is not supported", quote(name))),
        }
    }

    /// A source operand of a type.
    fn source(&mut self, operand: &Operand, of: OperandType) -> Result<u16> {
        let width = of.width;
        let literal = |bits: Result<u64>| bits;
        let bits = match operand {
            Operand::Register(id) => return self.register_source(*id, width),
            Operand::Special(name) if width == 32 || width == 16 => return self.special(name),
            Operand::Special(_) => return Err(format!("a special register cannot be read as {width} bits")),
            _ if width == 1 => return Err("a predicate register is needed".to_owned()),
            Operand::Integer(value) if of.float => literal(Ok(if width == 32 {
                u64::from((*value as f32).to_bits())
            } else {
                (*value as f64).to_bits()
            })),
            Operand::Integer(value) => fit(*value, width),
            Operand::Single(bits) if width == 64 && of.float => {
                Ok(f64::from(f32::from_bits(*bits)).to_bits())
            }
            Operand::Single(bits) if width >= 32 => Ok(u64::from(*bits)),
            Operand::Double(bits) if width == 64 => Ok(*bits),
            Operand::Double(bits) if width == 32 => Ok(u64::from((f64::from_bits(*bits) as f32).to_bits())),
            Operand::Variable(id, offset) if width >= 32 => {
                Ok(self.address_of(*id)?.0.wrapping_add(*offset as u64))
            }
            Operand::Name(name, _) => Err(format!("'{}' is not declared", quote(name))),
            _ => Err(format!("an operand does not suit {width} bits")),
        }?;
        Ok(self.constant(bits, width))
    }

    fn integer(&mut self, operand: &Operand, width: u8) -> Result<u16> {
        self.source(operand, OperandType { width, float: false })
    }

    fn predicate(&mut self, operand: &Operand) -> Result<(u16, bool)> {
        match operand {
            Operand::Register(id) => Ok((self.register_source(*id, 1)?, false)),
            Operand::NegatedRegister(id) => Ok((self.register_source(*id, 1)?, true)),
            _ => Err("a predicate register is needed".to_owned()),
        }
    }

    // ---- arithmetic ----

    fn table(&mut self, opcode: &str, operands: &[Operand]) -> Result<()> {
        let (row, flags) = find_row(opcode).ok_or("it is not known")?;
        self.row(row, flags, operands)
    }

    fn row(&mut self, row: &'static Row, flags: u8, operands: &[Operand]) -> Result<()> {
        let wanted = row.operands.len() + 1;
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], row.result.width)?;
        self.row_sources(row, &operands[1..])?;
        self.instr.flags = flags;
        self.plain(Op::Alu(row.op), row.class)
    }

    fn row_sources(&mut self, row: &'static Row, operands: &[Operand]) -> Result<()> {
        let mut indexes = [NONE; 3];
        for (index, (operand, of)) in indexes.iter_mut().zip(operands.iter().zip(row.operands)) {
            *index = self.source(operand, *of)?;
        }
        [self.instr.a, self.instr.b, self.instr.c] = indexes;
        Ok(())
    }

    fn setp(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let combine = |name: &&str| match *name {
            "and" => Some(PredicateOp::And),
            "or" => Some(PredicateOp::Or),
            "xor" => Some(PredicateOp::Xor),
            _ => None,
        };
        let op = modifiers.iter().find_map(combine);
        let plain: Vec<&str> = modifiers.iter().copied().filter(|m| combine(m).is_none()).collect();
        let (row, flags) = find_row(&format!("setp.{}", plain.join("."))).ok_or("it is not known")?;
        let wanted = 3 + usize::from(op.is_some());
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        let mut second = NONE;
        self.instr.d = match &operands[0] {
            Operand::Pair(first, other) => {
                second = self.dest_register(*other, 1)?;
                self.dest_register(*first, 1)?
            }
            other => self.dest(other, 1)?,
        };
        self.row_sources(row, &operands[1..3])?;
        self.instr.flags = flags;
        let mut negate = false;
        if op.is_some() {
            (self.instr.c, negate) = self.predicate(&operands[3])?;
        }
        if op.is_none() && second == NONE {
            return self.plain(Op::Alu(row.op), row.class);
        }
        self.plain(Op::SetPredicate(row.op, Combine { op, negate, second }), row.class)
    }

    fn predicate_logic(&mut self, name: &str, operands: &[Operand]) -> Result<()> {
        if name == "not" {
            let [d, a] = exactly(operands)?;
            self.instr.d = self.dest(d, 1)?;
            self.instr.a = self.integer(a, 1)?;
            return self.plain(Op::Predicate(PredicateOp::Not), OpClass::Int);
        }
        let [d, a, b] = exactly(operands)?;
        self.instr.d = self.dest(d, 1)?;
        self.instr.a = self.integer(a, 1)?;
        self.instr.b = self.integer(b, 1)?;
        let op = match name {
            "and" => PredicateOp::And,
            "or" => PredicateOp::Or,
            _ => PredicateOp::Xor,
        };
        self.plain(Op::Predicate(op), OpClass::Int)
    }

    fn mov(&mut self, opcode: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a] = exactly(operands)?;
        match (d, a) {
            _ if modifiers == ["pred"] => self.mov_predicate(d, a),
            (_, Operand::Vector(parts)) => self.pack(opcode, d, parts),
            (Operand::Vector(parts), _) => self.unpack(opcode, parts, a),
            (_, Operand::Special(name)) if matches!(special::find(name), Some(Source::Live(_))) => {
                let Some(Source::Live(live)) = special::find(name) else {
                    return Err("it is not known".to_owned());
                };
                let width = if name == "%clock64" { 64 } else { 32 };
                self.instr.d = self.dest(d, width)?;
                self.plain(Op::ReadLive(live), OpClass::Int)
            }
            _ => self.table(opcode, operands),
        }
    }

    fn mov_predicate(&mut self, d: &Operand, a: &Operand) -> Result<()> {
        self.instr.d = self.dest(d, 1)?;
        let op = match a {
            Operand::Integer(0) => PredicateOp::False,
            Operand::Integer(_) => PredicateOp::True,
            Operand::NegatedRegister(id) => {
                self.instr.a = self.register_source(*id, 1)?;
                PredicateOp::Not
            }
            _ => {
                self.instr.a = self.integer(a, 1)?;
                PredicateOp::Move
            }
        };
        self.plain(Op::Predicate(op), OpClass::Int)
    }

    /// Bits of one part when `parts` make a whole of the opcode's type.
    fn part_bits(opcode: &str, parts: usize) -> Result<u8> {
        let whole = opcode.rsplit('.').next().and_then(number_type).ok_or("its type is not known")?.bits;
        let bits = usize::from(whole) / parts.max(1);
        if matches!(parts, 2 | 4) && matches!(bits, 16 | 32) {
            Ok(bits as u8)
        } else {
            Err(format!("{whole} bits cannot be made of {parts} registers"))
        }
    }

    fn pack(&mut self, opcode: &str, d: &Operand, parts: &[Operand]) -> Result<()> {
        let bits = Self::part_bits(opcode, parts.len())?;
        self.instr.d = self.dest(d, bits * parts.len() as u8)?;
        for (index, part) in parts.iter().enumerate() {
            self.instr.vector[index] = self.integer(part, bits)?;
        }
        self.instr.offset = i64::from(bits);
        self.plain(Op::Pack(parts.len() as u8), OpClass::Int)
    }

    fn unpack(&mut self, opcode: &str, parts: &[Operand], a: &Operand) -> Result<()> {
        let bits = Self::part_bits(opcode, parts.len())?;
        for (index, part) in parts.iter().enumerate() {
            self.instr.vector[index] = if *part == Operand::Sink { NONE } else { self.dest(part, bits)? };
        }
        self.instr.a = self.integer(a, bits * parts.len() as u8)?;
        self.instr.offset = i64::from(bits);
        self.plain(Op::Unpack(parts.len() as u8), OpClass::Int)
    }

    fn cvta(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (to, rest) = match modifiers {
            ["to", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let [space, size] = rest else { return Err("it needs a space and a size".to_owned()) };
        let window = match *space {
            "global" => 0,
            "shared" | "shared::cta" => SHARED_WINDOW,
            "local" => LOCAL_WINDOW,
            "const" => CONST_WINDOW,
            "param" => PARAM_WINDOW,
            other => return Err(format!("space '{}' is not supported", quote(other))),
        };
        let (width, add, mov) = match *size {
            "u64" => (64, Alu::Add64, Alu::Move64),
            "u32" => (32, Alu::Add32, Alu::Move32),
            other => return Err(format!("size '{}' is not u32 or u64", quote(other))),
        };
        let [d, a] = exactly(operands)?;
        self.instr.d = self.dest(d, width)?;
        self.instr.a = self.integer(a, width)?;
        if window == 0 {
            return self.plain(Op::Alu(mov), OpClass::Int);
        }
        let shift = if to { window.wrapping_neg() } else { window };
        self.instr.b = self.constant(shift, width);
        self.plain(Op::Alu(add), OpClass::Int)
    }

    fn cvt(&mut self, opcode: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a] = exactly(operands)?;
        // Common conversions between registers of just their types are rows of the table.
        if let Some((row, flags)) = find_row(opcode) {
            let width = |operand: &Operand| match operand {
                Operand::Register(id) => Some(self.places[*id as usize].width),
                Operand::Special(_) => Some(32),
                _ => None,
            };
            if width(d) == Some(row.result.width) && width(a) == Some(row.operands[0].width) {
                return self.row(row, flags, operands);
            }
        }
        let mut form = convert_form(modifiers)?;
        let to = self.wide_dest(d, form.to.bits)?;
        form.to_register_bits = to.width;
        self.instr.d = to.index;
        match a {
            Operand::Register(id) => {
                let from = self.wide_source(*id, form.from.bits)?;
                form.from_wide = from.width == 64;
                self.instr.a = from.index;
            }
            _ => {
                let width = form.from.bits.max(16);
                form.from_wide = width == 64;
                self.instr.a =
                    self.source(a, OperandType { width, float: form.from.number == Number::Float })?;
            }
        }
        self.plain(Op::Convert(form), OpClass::Convert)
    }

    fn carry(&mut self, name: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = CarryForm {
            subtract: name.starts_with("sub"),
            reads: name.ends_with('c'),
            writes: false,
            product: None,
            wide: false,
        };
        for modifier in modifiers {
            match *modifier {
                "cc" => form.writes = true,
                "lo" if name.starts_with("mad") => form.product = Some(false),
                "hi" if name.starts_with("mad") => form.product = Some(true),
                "u32" | "s32" | "b32" => form.wide = false,
                "u64" | "s64" | "b64" => form.wide = true,
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        // The high half of a signed product would need its own multiplication.
        if form.product == Some(true) && modifiers.iter().any(|m| m.starts_with('s')) {
            return Err("signed high products with carry are not supported".to_owned());
        }
        if name.starts_with("mad") != form.product.is_some() {
            return Err("'.lo' or '.hi' is missing".to_owned());
        }
        let width = if form.wide { 64 } else { 32 };
        let wanted = 3 + usize::from(form.product.is_some());
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], width)?;
        self.instr.a = self.integer(&operands[1], width)?;
        self.instr.b = self.integer(&operands[2], width)?;
        if form.product.is_some() {
            self.instr.c = self.integer(&operands[3], width)?;
        }
        let flag = match self.carry_flag {
            Some(flag) => flag,
            None => {
                // The carry flag is a hidden predicate, but instructions depend on each other through it.
                let flag = self.hidden(1);
                self.carry_flag = Some(flag);
                flag
            }
        };
        self.instr.vector[7] = flag;
        let number = (self.named[0] + self.named[1]) as u16 + flag;
        if form.reads {
            self.sources.push(number);
        }
        if form.writes {
            self.dests.push(number);
        }
        let class = if form.product.is_some() { OpClass::IntMul } else { OpClass::Int };
        self.plain(Op::Carry(form), class)
    }

    fn insert(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let width = match modifiers {
            ["b32"] => 32,
            ["b64"] => 64,
            _ => return Err("its type must be b32 or b64".to_owned()),
        };
        let [d, a, b, position, length] = exactly(operands)?;
        self.instr.d = self.dest(d, width)?;
        self.instr.a = self.integer(a, width)?;
        self.instr.b = self.integer(b, width)?;
        self.instr.c = self.integer(position, 32)?;
        self.instr.vector[0] = self.integer(length, 32)?;
        self.plain(Op::Insert { wide: width == 64 }, OpClass::Int)
    }

    fn lop3(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a, b, c, Operand::Integer(table @ 0..=255)] = exactly(operands)? else {
            return Err("its fifth operand must be a number from 0 to 255".to_owned());
        };
        if modifiers != ["b32"] {
            return Err("its type must be b32".to_owned());
        }
        self.instr.d = self.dest(d, 32)?;
        self.instr.a = self.integer(a, 32)?;
        self.instr.b = self.integer(b, 32)?;
        self.instr.c = self.integer(c, 32)?;
        self.instr.offset = *table as i64;
        self.plain(Op::Lop3, OpClass::Int)
    }

    // ---- control ----

    fn label(&self, name: &str, scope: ScopeId) -> Result<u32> {
        let mut scope = Some(scope);
        while let Some(here) = scope {
            if let Some(&place) = self.function.labels.get(&(here, name.to_owned())) {
                return Ok(place);
            }
            scope = self.function.scopes[here as usize].parent;
        }
        Err(format!("label '{}' is not defined", quote(name)))
    }

    fn branch(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        if !matches!(modifiers, [] | ["uni"]) {
            return Err("only 'bra' and 'bra.uni' are known".to_owned());
        }
        let [Operand::Name(name, scope)] = exactly(operands)? else {
            return Err("its operand must be a label".to_owned());
        };
        self.instr.target = self.label(name, *scope)?;
        self.plain(Op::Branch, OpClass::Control)
    }

    fn barrier(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let kinds: Vec<&str> =
            modifiers.iter().copied().filter(|m| !matches!(*m, "cta" | "aligned")).collect();
        let arrive = match kinds[..] {
            ["sync"] => false,
            ["arrive"] => true,
            // The lanes of a path run in lock-step, so they are together already.
            ["warp", "sync"] => return self.plain(Op::Nothing, OpClass::Control),
            _ => return Err("only 'sync' and 'arrive' are known".to_owned()),
        };
        let (id, threads) = match operands {
            [id] if !arrive => (id, None),
            [id, threads] => (id, Some(threads)),
            _ => {
                return Err(format!(
                    "it takes a barrier and a number of threads, got {} operands",
                    operands.len()
                ));
            }
        };
        self.instr.a = self.integer(id, 32)?;
        if let Some(threads) = threads {
            self.instr.b = self.integer(threads, 32)?;
        }
        self.plain(Op::Barrier { arrive }, OpClass::Barrier)
    }

    fn shuffle(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (sync, rest) = match modifiers {
            ["sync", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let mode = match rest {
            ["up", "b32"] => ShuffleMode::Up,
            ["down", "b32"] => ShuffleMode::Down,
            ["bfly", "b32"] => ShuffleMode::Butterfly,
            ["idx", "b32"] => ShuffleMode::Index,
            _ => return Err("its mode must be up, down, bfly or idx, its type b32".to_owned()),
        };
        let wanted = 4 + usize::from(sync);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = match &operands[0] {
            Operand::Pair(value, found) => {
                self.instr.vector[0] = self.dest_register(*found, 1)?;
                self.dest_register(*value, 32)?
            }
            other => self.dest(other, 32)?,
        };
        self.instr.a = self.integer(&operands[1], 32)?;
        self.instr.b = self.integer(&operands[2], 32)?;
        self.instr.c = self.integer(&operands[3], 32)?;
        if sync {
            self.integer(&operands[4], 32)?;
        }
        self.plain(Op::Shuffle(mode), OpClass::Warp)
    }

    fn vote(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let sync = modifiers.contains(&"sync");
        let kinds: Vec<&str> = modifiers.iter().copied().filter(|m| *m != "sync").collect();
        let mode = match kinds[..] {
            ["all", "pred"] => VoteMode::All,
            ["any", "pred"] => VoteMode::Any,
            ["uni", "pred"] => VoteMode::Uniform,
            ["ballot", "b32"] => VoteMode::Ballot,
            _ => return Err("it must be all, any or uni of pred, or ballot of b32".to_owned()),
        };
        let wanted = 2 + usize::from(sync);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], if mode == VoteMode::Ballot { 32 } else { 1 })?;
        let (source, negated) = self.predicate(&operands[1])?;
        self.instr.a = source;
        self.instr.offset = i64::from(negated);
        if sync {
            self.integer(&operands[2], 32)?;
        }
        self.plain(Op::Vote(mode), OpClass::Warp)
    }

    // ---- memory ----

    fn load(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = memory_form(modifiers)?;
        let [d, address] = exactly(operands)?;
        let elements = elements(d, form.elements)?;
        for (index, element) in elements.iter().enumerate() {
            if *element == Operand::Sink {
                continue;
            }
            let place = self.wide_dest(element, form.element.bits)?;
            if index > 0 && form.register_bits != 0 && form.register_bits != place.width {
                return Err("its destinations differ in width".to_owned());
            }
            form.register_bits = place.width;
            self.instr.vector[index] = place.index;
        }
        form.wide_register = form.register_bits == 64;
        self.address(address, &mut form)?;
        self.plain(Op::Load(form), OpClass::Load)
    }

    fn store(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = memory_form(modifiers)?;
        let [address, values] = exactly(operands)?;
        for (index, element) in elements(values, form.elements)?.iter().enumerate() {
            let (place, width) = self.stored(element, form.element)?;
            if index > 0 && form.wide_register != (width == 64) {
                return Err("its values differ in width".to_owned());
            }
            form.wide_register = width == 64;
            self.instr.vector[index] = place;
        }
        self.address(address, &mut form)?;
        self.plain(Op::Store(form), OpClass::Store)
    }

    /// A stored value: a register at least as wide as the element, or a literal.
    fn stored(&mut self, operand: &Operand, element: NumberType) -> Result<(u16, u8)> {
        if let Operand::Register(id) = operand {
            let place = self.wide_source(*id, element.bits)?;
            return Ok((place.index, place.width));
        }
        let width = element.bits.max(16);
        let index = self.source(operand, OperandType { width, float: element.number == Number::Float })?;
        Ok((index, width))
    }

    fn atomic(&mut self, reduction: bool, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let op = modifiers.iter().find_map(|m| atomic_op(m)).ok_or("its operation is not known")?;
        let rest: Vec<&str> =
            modifiers.iter().copied().filter(|m| atomic_op(m).is_none() && *m != "noftz").collect();
        let mut form = memory_form(&rest)?;
        (form.atomic, form.reduction) = (op, reduction);
        let float = form.element.number == Number::Float;
        if form.elements != 1 || form.element.bits < 32 || (float && op != AtomicOp::Add) {
            return Err("its type does not suit the operation".to_owned());
        }
        let wanted = 2 + usize::from(!reduction) + usize::from(op == AtomicOp::Cas);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        let width = form.element.bits;
        (form.wide_register, form.register_bits) = (width == 64, width);
        let mut operands = operands.iter();
        let mut next = || operands.next().ok_or("an operand is missing".to_owned());
        if !reduction {
            let d = next()?;
            if *d != Operand::Sink {
                self.instr.d = self.dest(d, width)?;
            }
        }
        let address = next()?;
        self.instr.b = self.source(next()?, OperandType { width, float })?;
        if op == AtomicOp::Cas {
            self.instr.c = self.integer(next()?, width)?;
        }
        self.address(address, &mut form)?;
        form.reduction |= self.instr.d == NONE;
        self.plain(Op::Atomic(form), OpClass::Atomic)
    }

    fn address(&mut self, operand: &Operand, form: &mut MemoryForm) -> Result<()> {
        let Operand::Address(base, offset) = operand else {
            return Err("it needs an address in brackets".to_owned());
        };
        self.instr.offset = *offset;
        match &**base {
            Operand::Register(id) => {
                let place = self.wide_source(*id, 32)?;
                form.wide_address = place.width == 64;
                self.instr.a = place.index;
                Ok(())
            }
            Operand::Variable(id, _) => {
                let (address, space) = self.address_of(*id)?;
                let declared_param = self.ast.variables[*id as usize].space == VariableSpace::Param;
                let same = form.space == space || (declared_param && form.space == Space::Param);
                if !same && form.space != Space::Generic {
                    let name = quote(&self.ast.variables[*id as usize].name);
                    return Err(format!("variable '{name}' is in another state space"));
                }
                form.space = space;
                self.instr.offset = offset.wrapping_add(address as i64);
                Ok(())
            }
            Operand::Integer(value) => {
                self.instr.offset = offset.wrapping_add(*value as i64);
                Ok(())
            }
            Operand::Name(name, _) => Err(format!("'{}' is not declared", quote(name))),
            _ => Err("its address must be a register, a variable or a number".to_owned()),
        }
    }
}

fn elements(operand: &Operand, count: u8) -> Result<&[Operand]> {
    let list = match operand {
        Operand::Vector(list) => &list[..],
        other => std::slice::from_ref(other),
    };
    if list.len() == usize::from(count) {
        Ok(list)
    } else {
        Err(format!("it moves {count} elements, got {}", list.len()))
    }
}

/// An integer literal as `width` bits.
fn fit(value: i128, width: u8) -> Result<u64> {
    let limit = 1i128 << width;
    if (-(limit / 2)..limit).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!("the number {value} does not fit {width} bits"))
    }
}

/// The row for a form, looking past `.ftz` and `.sat` of single-precision forms, which become flags.
fn find_row(opcode: &str) -> Option<(&'static Row, u8)> {
    if let Some(row) = FORMS.get(opcode) {
        return Some((row, 0));
    }
    let mut flags = 0;
    let mut kept = Vec::new();
    for part in opcode.split('.') {
        match part {
            "ftz" => flags |= FLUSH,
            "sat" => flags |= SATURATE,
            _ => kept.push(part),
        }
    }
    let row = FORMS.get(&*kept.join("."))?;
    let single = |of: &OperandType| of.float && of.width == 32;
    let floats = row.operands.iter().any(single) || single(&row.result);
    let flush_fits = flags & FLUSH == 0 || floats;
    let saturate_fits = flags & SATURATE == 0 || row.result.float;
    (flags != 0 && flush_fits && saturate_fits).then_some((row, flags))
}

fn atomic_op(name: &str) -> Option<AtomicOp> {
    Some(match name {
        "add" => AtomicOp::Add,
        "min" => AtomicOp::Min,
        "max" => AtomicOp::Max,
        "inc" => AtomicOp::Inc,
        "dec" => AtomicOp::Dec,
        "and" => AtomicOp::And,
        "or" => AtomicOp::Or,
        "xor" => AtomicOp::Xor,
        "exch" => AtomicOp::Exch,
        "cas" => AtomicOp::Cas,
        _ => return None,
    })
}

/// Reads the modifiers of a memory instruction.
fn memory_form(modifiers: &[&str]) -> Result<MemoryForm> {
    let mut form = MemoryForm {
        space: Space::Generic,
        element: NumberType { number: Number::Unsigned, bits: 0 },
        elements: 1,
        wide_register: false,
        register_bits: 0,
        wide_address: false,
        cache: CacheOp::All,
        atomic: AtomicOp::Add,
        reduction: false,
    };
    for modifier in modifiers {
        match *modifier {
            "global" => form.space = Space::Global,
            "shared" | "shared::cta" => form.space = Space::Shared,
            "local" => form.space = Space::Local,
            "const" => form.space = Space::Const,
            "param" | "param::entry" | "param::func" => form.space = Space::Param,
            "volatile" | "cv" | "wt" => form.cache = CacheOp::Volatile,
            "cg" | "relaxed" | "acquire" | "release" | "acq_rel" => form.cache = CacheOp::Global,
            "cs" | "lu" => form.cache = CacheOp::Streaming,
            "nc" => form.cache = CacheOp::ReadOnly,
            "ca" | "wb" | "weak" | "cta" | "cluster" | "gpu" | "sys" => {}
            "v2" => form.elements = 2,
            "v4" => form.elements = 4,
            "v8" => form.elements = 8,
            hint if hint.starts_with("L1::") || hint.starts_with("L2::") => {}
            other => match number_type(other) {
                Some(element) if form.element.bits == 0 => form.element = element,
                _ => return Err(format!("modifier '{}' is not known", quote(other))),
            },
        }
    }
    if form.element.bits == 0 {
        return Err("its type is missing".to_owned());
    }
    if u32::from(form.element.bits) * u32::from(form.elements) > 256 {
        return Err("its vector is too long".to_owned());
    }
    Ok(form)
}

/// Reads the modifiers of a conversion.
fn convert_form(modifiers: &[&str]) -> Result<ConvertForm> {
    let mut types = Vec::new();
    let (mut rounding, mut integral, mut saturate, mut flush) = (None, false, false, false);
    for modifier in modifiers {
        let to_integral = modifier.len() == 3 && modifier.starts_with('r') && modifier.ends_with('i');
        match modifier.trim_end_matches('i') {
            "rn" => rounding = Some(Rounding::Nearest),
            "rz" => rounding = Some(Rounding::Zero),
            "rm" => rounding = Some(Rounding::Down),
            "rp" => rounding = Some(Rounding::Up),
            "sat" => saturate = true,
            "ftz" => flush = true,
            other => types
                .push(number_type(other).ok_or_else(|| format!("modifier '{}' is not known", quote(other)))?),
        }
        integral |= to_integral;
    }
    let [to, from] = types[..] else { return Err(format!("it needs two types, got {}", types.len())) };
    let float_to_integer = from.number == Number::Float && to.number != Number::Float;
    if float_to_integer && !integral {
        return Err("a conversion to an integer needs .rni, .rzi, .rmi or .rpi".to_owned());
    }
    if integral && from.number != Number::Float {
        return Err("only a conversion from floating point rounds to an integral value".to_owned());
    }
    let narrows = to.number == Number::Float && (from.number != Number::Float || from.bits > to.bits);
    if narrows && rounding.is_none() && from.bits >= to.bits {
        return Err("it needs a rounding: .rn, .rz, .rm or .rp".to_owned());
    }
    Ok(ConvertForm {
        to,
        from,
        rounding: rounding.unwrap_or(Rounding::Nearest),
        integral,
        saturate,
        flush,
        to_register_bits: 0,
        from_wide: false,
    })
}
