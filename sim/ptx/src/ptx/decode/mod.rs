//! Decodes a kernel's instructions: opcode text and operands become the compact form that the executor runs.
//!
//! Arithmetic forms are looked up in the table of [`super::alu`]. Memory, conversion, carry-chain, move and warp
//! instructions are parsed modifier by modifier.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::alu::{AluOp, AluRow, OperandType, ROWS};
use super::ast::{Ast, Function, Operand, RawInstruction, RegisterId, VariableId, function_address};
use super::error::{PtxError, quote};
use super::forms::{Number, NumberType, OpClass, Space};
use super::instr::{Instr, MAX_NAMED, NONE, Op};
use super::registers::Literals;
use super::signatures::{SYSTEM_CALL, SystemCall};
use super::special::{self, Special, SpecialSource};
use super::wmma;
use in_flight::InFlight;

mod arithmetic;
mod bulk;
mod control;
mod half;
mod in_flight;
mod lane_ops;
mod matrix;
mod mbarrier;
mod memory;
mod video;
mod warp_group;

/// Rows of the arithmetic table, by [`in_order`] of their forms.
static FORMS_IN_ORDER: LazyLock<HashMap<String, &'static AluRow>> = LazyLock::new(|| {
    ROWS.iter().flat_map(|row| row.forms.iter().map(move |form| (in_order(form), row))).collect()
});

/// Returns a form with its types last and its other modifiers in alphabetical order.
fn in_order(form: &str) -> String {
    let mut parts = form.split('.');
    let name = parts.next().unwrap_or_default();
    let mut modifiers = types_last(&parts.collect::<Vec<_>>());
    let types = modifiers.iter().filter(|modifier| number_type(modifier).is_some()).count();
    let others = modifiers.len() - types;
    modifiers[..others].sort_unstable();
    std::iter::once(name).chain(modifiers).collect::<Vec<_>>().join(".")
}

/// Rows of the arithmetic table, by form.
static FORMS: LazyLock<HashMap<&'static str, &'static AluRow>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.forms.iter().map(move |form| (*form, row))).collect());

/// Max registers of one kind in a kernel. A 16-bit number names a register of any kind, or a constant.
const MAX_REGISTERS: usize = 60_000;

/// Result whose error describes the instruction's fault, without its file and line.
type Result<T> = std::result::Result<T, String>;

/// The decoded body of a kernel.
#[derive(Debug)]
pub(crate) struct DecodedBody {
    pub code: Vec<Instr>,
    pub texts: Vec<Box<str>>,
    pub words: usize,
    pub doubles: usize,
    pub predicates: usize,
    /// Number of 32-bit registers behind each scoreboard number.
    pub weights: Vec<u8>,
    pub literals: Literals,
    pub specials: Vec<(u16, Special)>,
    pub branch_lists: Vec<Vec<u32>>,
    pub operand_lists: Vec<Box<[u16]>>,
    pub true_predicate: Option<u16>,
}

/// A register: the width selects its file, `index` its position there.
#[derive(Debug, Clone, Copy)]
struct RegisterSlot {
    width: u8,
    index: u16,
}

/// Address and state space of each variable.
pub(crate) type Addresses = HashMap<VariableId, (u64, Space)>;

struct FunctionDecoder<'a> {
    ast: &'a Ast,
    function: &'a Function,
    /// Address of each variable that this kernel can name, in the variable's state space.
    addresses: &'a Addresses,
    places: Vec<RegisterSlot>,
    /// Number of registers per file that the PTX names.
    named: [usize; 3],
    /// Number of registers per file, hidden ones included.
    total: [usize; 3],
    word_constants: HashMap<u32, u16>,
    double_constants: HashMap<u64, u16>,
    body: DecodedBody,
    carry_flag: Option<u16>,
    /// Hidden predicate that no instruction writes.
    false_predicate: Option<u16>,
    /// Work in flight by kind.
    in_flight: [InFlight; 2],
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

/// Decodes the code of `function`.
pub(crate) fn decode(
    file: &str,
    source: &str,
    ast: &Ast,
    function: &Function,
    addresses: &Addresses,
) -> std::result::Result<DecodedBody, PtxError> {
    let error = |line, message: String| PtxError { file: file.to_owned(), line, message };
    let mut decoder =
        FunctionDecoder::new(ast, function, addresses).map_err(|message| error(function.line, message))?;
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

/// Removes the cache policy after the operands.
fn without_policy<'a>(modifiers: &[&str], operands: &'a [Operand]) -> &'a [Operand] {
    match operands {
        [rest @ .., Operand::Register(_)] if modifiers.contains(&"L2::cache_hint") => rest,
        _ => operands,
    }
}

/// Returns the modifiers in another order: types last.
fn types_last<'a>(modifiers: &[&'a str]) -> Vec<&'a str> {
    let is_type = |modifier: &&&str| number_type(modifier).is_some() || **modifier == "pred";
    let types = modifiers.iter().filter(is_type);
    modifiers.iter().filter(|modifier| !is_type(modifier)).chain(types).copied().collect()
}

/// Returns the operands if there are exactly `N`.
fn exactly<const N: usize>(operands: &[Operand]) -> Result<&[Operand; N]> {
    operands.try_into().map_err(|_| format!("it takes {N} operands, got {}", operands.len()))
}

fn number_type(name: &str) -> Option<NumberType> {
    let (number, bits) = match name.split_at_checked(1)? {
        ("b", "f16") => (Number::Brain, "16"),
        ("u" | "b", bits) => (Number::Unsigned, bits),
        ("s", bits) => (Number::Signed, bits),
        ("f", bits) => (Number::Float, bits),
        _ => return None,
    };
    let bits = match bits {
        "8" if !number.is_float() => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return None,
    };
    Some(NumberType { number, bits })
}

impl<'a> FunctionDecoder<'a> {
    fn new(ast: &'a Ast, function: &'a Function, addresses: &'a Addresses) -> Result<Self> {
        let mut named = [0; 3];
        let mut places = Vec::with_capacity(function.registers.len());
        for register in &function.registers {
            let file = file_of(register.width);
            if register.width > 64 {
                return Err(format!("register '{}' is wider than 64 bits", register.name));
            }
            if named[file] >= MAX_REGISTERS {
                return Err(format!(
                    "function '{}' uses more than {MAX_REGISTERS} registers of a kind",
                    function.name
                ));
            }
            places.push(RegisterSlot { width: register.width, index: named[file] as u16 });
            named[file] += 1;
        }
        let body = DecodedBody {
            code: Vec::with_capacity(function.code.len() + 1),
            texts: Vec::with_capacity(function.code.len() + 1),
            words: 0,
            doubles: 0,
            predicates: 0,
            weights: Vec::new(),
            // The first constant of a pool would have the number of an absent register.
            literals: Literals { words: vec![[0; 32]], doubles: vec![[0; 32]] },
            specials: Vec::new(),
            branch_lists: Vec::new(),
            operand_lists: Vec::new(),
            true_predicate: None,
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
            false_predicate: None,
            in_flight: Default::default(),
            instr: Instr::blank(0),
            dests: Vec::new(),
            sources: Vec::new(),
        })
    }

    fn finish(mut self) -> Result<DecodedBody> {
        // A thread ends when it runs off the end of the code.
        let ends =
            self.body.code.last().is_some_and(|i| {
                i.guard == NONE && matches!(i.op, Op::Exit | Op::Branch | Op::BranchIndexed)
            });
        let label_at_end = self.function.labels.values().any(|&place| place as usize == self.body.code.len());
        if !ends || label_at_end {
            let line = self.body.code.last().map_or(self.function.line, |i| i.line);
            self.body.code.push(Instr { op: Op::Exit, class: OpClass::Exit, ..Instr::blank(line) });
            self.body.texts.push("ret".into());
        }
        let numbered = self.named[0] + self.named[1] + self.total[2];
        let pools = self.body.literals.words.len().max(self.body.literals.doubles.len());
        if numbered.max(self.total[0] + pools).max(self.total[1] + pools) >= usize::from(u16::MAX) {
            return Err(format!("function '{}' uses too many registers and constants", self.function.name));
        }
        self.body.weights = [(self.named[0], 1), (self.named[1], 2), (self.total[2], 0)]
            .iter()
            .flat_map(|&(count, weight)| std::iter::repeat_n(weight, count))
            .collect();
        for work in &self.in_flight {
            work.name(&mut self.body.code);
        }
        (self.body.words, self.body.doubles, self.body.predicates) =
            (self.total[0], self.total[1], self.total[2]);
        super::control_flow::set_reconvergence(&mut self.body.code, &self.body.branch_lists);
        Ok(self.body)
    }

    fn instruction(&mut self, raw: &RawInstruction) -> Result<()> {
        self.instr = Instr::blank(raw.line);
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
        let operands = match name {
            "ld" | "st" | "atom" | "red" | "cp" => without_policy(&modifiers, operands),
            _ => operands,
        };
        match name {
            _ if Self::is_half(name, &modifiers) => self.half(name, &modifiers, operands),
            "ld" | "ldu" => self.load(&modifiers, operands),
            "st" | "red" if modifiers.first() == Some(&"async") => {
                self.send(name == "red", &modifiers, operands)
            }
            "st" => self.store(&modifiers, operands),
            "atom" | "red" => self.atomic(name == "red", &modifiers, operands),
            "mov" => self.mov(opcode, &modifiers, operands),
            "setp" => self.setp(&modifiers, operands),
            "cvt" if modifiers.first() == Some(&"pack") => self.pack_clamped(&modifiers, operands),
            "cvt" if Self::is_narrowing(&modifiers) => self.narrow(&modifiers, operands),
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
            system if system.starts_with(SYSTEM_CALL) => self.system(&system[SYSTEM_CALL.len()..], operands),
            "tex" => self.texture(&modifiers, operands),
            "mma" | wmma::PART => self.matrix(name == "mma", &modifiers, operands),
            "ldmatrix" | "stmatrix" => self.load_matrix(name == "stmatrix", &modifiers, operands),
            "movmatrix" => self.transpose_matrix(&modifiers, operands),
            "elect" => self.elect(&modifiers, operands),
            "wgmma" => self.warp_group(&modifiers, operands),
            "cp" => self.copy(&modifiers, operands),
            "mbarrier" => self.mbarrier(&modifiers, operands),
            "suld" | "sust" => self.surface(name == "sust", &modifiers, operands),
            "trap" | "brkpt" => self.plain(Op::System(SystemCall::Trap), OpClass::System),
            // Copies read shared memory and mbarriers when they issue, so that nothing is left to order.
            "fence" if matches!(modifiers.first(), Some(&("proxy" | "mbarrier_init"))) => {
                self.plain(Op::Nothing, OpClass::Control)
            }
            "membar" | "fence" => self.plain(Op::Fence, OpClass::Fence),
            "shfl" => self.shuffle(&modifiers, operands),
            "vote" => self.vote(&modifiers, operands),
            "bfi" => self.insert(&modifiers, operands),
            "lop3" => self.lop3(&modifiers, operands),
            "mapa" | "getctarank" => self.with_own_rank(opcode, operands),
            "isspacep" if matches!(modifiers[..], ["shared" | "shared::cta"]) => {
                self.with_own_rank(opcode, operands)
            }
            "match" => self.match_values(&modifiers, operands),
            "redux" => self.reduce(&modifiers, operands),
            "brx" => self.branch_indexed(&modifiers, operands),
            "set" => self.set_word(&modifiers, operands),
            "activemask" => {
                let [d] = exactly(operands)?;
                self.instr.d = self.dest(d, 32)?;
                self.plain(Op::ActiveMask, OpClass::Warp)
            }
            "prefetch" | "prefetchu" | "pmevent" | "nanosleep" | "discard" | "applypriority"
            | "griddepcontrol" | "setmaxnreg" => self.plain(Op::Nothing, OpClass::Control),
            "createpolicy" => {
                // A policy is a hint to the L2, which the simulator does not take.
                self.instr.d = self.dest(operands.first().ok_or("it takes operands")?, 64)?;
                self.instr.a = self.constant(0, 64);
                self.plain(Op::Alu(AluOp::Move64), OpClass::Int)
            }
            "selp" => match operands {
                [d, a, b, Operand::NegatedRegister(p)] => {
                    let swapped = [d.clone(), b.clone(), a.clone(), Operand::Register(*p)];
                    self.table(opcode, &swapped)
                }
                _ => self.table(opcode, operands),
            },
            _ => {
                let decoded = match self.lane_op(name, &modifiers, operands) {
                    None => self.video(name, &modifiers, operands),
                    decoded => decoded,
                };
                decoded.unwrap_or_else(|| self.table(opcode, operands))
            }
        }
    }

    /// Decodes a row of the table whose last operand is the rank of the executing CTA in its cluster.
    fn with_own_rank(&mut self, opcode: &str, operands: &[Operand]) -> Result<()> {
        let own = Operand::Special("%cluster_ctarank".into());
        self.table(opcode, &[operands, &[own]].concat())
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

    fn number(&self, place: RegisterSlot) -> u16 {
        let before = match file_of(place.width) {
            0 => 0,
            1 => self.named[0],
            _ => self.named[0] + self.named[1],
        };
        before as u16 + place.index
    }

    /// Adds a source register that must have `width` bits, and returns its index.
    fn register_source(&mut self, id: RegisterId, width: u8) -> Result<u16> {
        let place = self.places[id as usize];
        if place.width != width {
            return Err(format!("{} where {width} are needed", self.describe(id)));
        }
        let number = self.number(place);
        self.sources.push(number);
        Ok(place.index)
    }

    /// Adds a source register that must be an integer of `least` bits or more.
    fn wide_source(&mut self, id: RegisterId, least: u8) -> Result<RegisterSlot> {
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

    /// Adds a destination register that must be an integer of `least` bits or more.
    fn wide_dest(&mut self, operand: &Operand, least: u8) -> Result<RegisterSlot> {
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
        let pool = &mut self.body.literals.words;
        *self.word_constants.entry(value).or_insert_with(|| {
            pool.push([value; 32]);
            u16::MAX - (pool.len().min(usize::from(u16::MAX)) - 1) as u16
        })
    }

    fn constant(&mut self, bits: u64, width: u8) -> u16 {
        if width != 64 {
            return self.word_constant(bits as u32 & (u32::MAX >> (32 - u32::from(width.min(32)))));
        }
        let pool = &mut self.body.literals.doubles;
        *self.double_constants.entry(bits).or_insert_with(|| {
            pool.push([bits; 32]);
            u16::MAX - (pool.len().min(usize::from(u16::MAX)) - 1) as u16
        })
    }

    /// Returns a hidden predicate that is always `value`.
    fn constant_predicate(&mut self, value: bool) -> u16 {
        let known = if value { self.body.true_predicate } else { self.false_predicate };
        known.unwrap_or_else(|| {
            let hidden = self.hidden(1);
            *(if value { &mut self.body.true_predicate } else { &mut self.false_predicate }) = Some(hidden);
            hidden
        })
    }

    /// Returns a variable's address in its state space, and the space.
    fn address_of(&self, id: VariableId) -> Result<(u64, Space)> {
        let variable = &self.ast.variables[id as usize];
        let address = self.addresses.get(&id).copied();
        address.ok_or_else(|| format!("variable '{}' has no storage here", quote(&variable.name)))
    }

    fn special(&mut self, name: &str) -> Result<u16> {
        let workspace = self.ast.grid_workspace.filter(|_| special::is_workspace(name));
        let found = match workspace.map(|id| self.address_of(id)).transpose()? {
            Some((address, _)) => Some(SpecialSource::Fixed(special::workspace_word(name, address))),
            None => special::find(name),
        };
        match found {
            Some(SpecialSource::Fixed(special)) => {
                if let Some((index, _)) = self.body.specials.iter().find(|(_, known)| *known == special) {
                    return Ok(*index);
                }
                let index = self.hidden(32);
                self.body.specials.push((index, special));
                Ok(index)
            }
            Some(SpecialSource::Live(_)) => {
                Err(format!("special register '{name}' can only be read by 'mov'"))
            }
            None => Err(format!("special register '{}' is not supported", quote(name))),
        }
    }

    /// Decodes a source operand of type `of`, and returns its index.
    fn source(&mut self, operand: &Operand, of: OperandType) -> Result<u16> {
        let width = of.width;
        let literal = |bits: Result<u64>| bits;
        let bits = match operand {
            Operand::Register(id) => return self.register_source(*id, width),
            Operand::Special(name) if width == 32 || width == 16 => return self.special(name),
            // The grid number has 64 bits since PTX 3.0.
            Operand::Special(name) if name == "%gridid" => Ok(0),
            Operand::Special(_) => return Err(format!("a special register cannot be read as {width} bits")),
            Operand::Integer(value) if width == 1 => return Ok(self.constant_predicate(*value != 0)),
            _ if width == 1 => return Err("a predicate register is needed".to_owned()),
            Operand::Integer(value) if of.float => literal(Ok(if width == 32 {
                u64::from((*value as f32).to_bits())
            } else {
                (*value as f64).to_bits()
            })),
            // Integers that are too wide are truncated, as ptxas does.
            Operand::Integer(value) => Ok(*value as u64),
            Operand::Single(bits) if width == 64 && of.float => {
                Ok(f64::from(f32::from_bits(*bits)).to_bits())
            }
            Operand::Single(bits) if width >= 32 => Ok(u64::from(*bits)),
            Operand::Double(bits) if width == 64 => Ok(*bits),
            Operand::Double(bits) if width == 32 => Ok(u64::from((f64::from_bits(*bits) as f32).to_bits())),
            Operand::Variable(id, offset) if width >= 32 => {
                Ok(self.address_of(*id)?.0.wrapping_add(*offset as u64))
            }
            Operand::Name(name, _) => match self.ast.functions.iter().position(|f| f.name == *name) {
                Some(index) => Ok(function_address(index)),
                None => Err(format!("'{}' is not declared", quote(name))),
            },
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
            Operand::Integer(value) => Ok((self.constant_predicate(*value != 0), false)),
            _ => Err("a predicate register is needed".to_owned()),
        }
    }
}
