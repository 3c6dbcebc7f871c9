//! The instructions of assist warps, and their 64-bit words in the assist warp store.
//!
//! An instruction works on the lanes of a warp. Registers r0 to r3 are pairs and hold 64 bits, r4 to r15 hold 32 bits.
//! Predicates are p1 to p6; p7 is preset to the lower half of the lanes, and p0 to all of them. Loads read the line of the
//! assist warp in the form in which it arrived. Stores write the resulting line. Both use the address in r11, which `addr`
//! sets. An assist warp for a load has one lane for each of the load's line transactions, and metadata that outlive the assist
//! warp.
use selvedge_state::State;
use std::fmt;

/// Number of 64-bit registers, which are the first ones.
pub const WIDE_REGISTERS: u8 = 4;

/// Number of registers.
pub const REGISTERS: u8 = 16;

/// Number of the register with the line's address.
pub const ADDRESS: u8 = 11;

/// Number of predicates, with the preset ones.
pub const PREDICATES: u8 = 8;

/// Words of an entry of the look-up table.
pub const TABLE_WORDS: usize = 4;

/// An operation. `a` and `b` are source registers, `p` is a source predicate, `at` and `step` are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
#[repr(u8)]
pub enum AssistOp {
    /// Copies the line's address from the parent's register.
    Addr = 0,
    /// The constant `at`.
    Li = 1,
    /// Loads `bytes` at `at + step * lane`, zero-extended.
    Ldu = 2,
    /// Loads `bytes` at `at + step * lane`, sign-extended.
    Lds = 3,
    /// Stores the low `bytes` of `a` at `at + step * lane`.
    St = 4,
    /// `a + b`.
    Add = 5,
    /// `a - b`.
    Sub = 6,
    /// `a`.
    Mov = 7,
    /// The low `bytes` of `a`, sign-extended.
    Sext = 8,
    /// Predicate: the low `bytes` of `a` and `b` are equal.
    Eq = 9,
    /// Predicate: the low `bytes` of `a` and `b` are equal, or `p` holds.
    EqOr = 10,
    /// Predicate: the low `bytes` of `a` and `b` are equal, and `p` holds.
    EqAnd = 11,
    /// Predicate: bit `at + lane` of `a`.
    Bit = 12,
    /// The running lanes in which `p` holds, one bit each, from bit `at` on.
    Ballot = 13,
    /// The running lanes in which `p` does not hold, one bit each, from bit `at` on.
    Nobal = 14,
    /// `a | b`.
    Or = 15,
    /// Number of the lowest bit that is set in `a`; 64 if no bit is set.
    Ffs = 16,
    /// `a` of lane `b - at`; 0 if that lane does not exist.
    Shfl = 17,
    /// Predicate: `true` in all running lanes if `p` holds in every running lane (the global predicate register), else
    /// `false` in all lanes.
    All = 18,
    /// Completes the resulting line, with encoding `at` and `step` bytes, and ends the routine.
    Done = 19,
    /// Number of the lane.
    Lane = 20,
    /// The destination shifted left by 16 bits, plus a 16-bit constant: `step` is the high byte, `at` the low one.
    Lih = 21,
    /// `a` shifted left by `at` bits.
    Shl = 22,
    /// `a` shifted right by `at` bits, with zeros.
    Shr = 23,
    /// The low 32 bits of `a`, sign-extended and shifted right by `at` bits.
    Sar = 24,
    /// `a` shifted left by `b` bits.
    Shlv = 25,
    /// `a` shifted right by `b` bits, with zeros.
    Shrv = 26,
    /// `a & b`.
    And = 27,
    /// `a & at`.
    Andi = 28,
    /// `a | at`.
    Ori = 29,
    /// `a ^ at`.
    Xori = 30,
    /// `a + at`.
    Addi = 31,
    /// `a * b`.
    Mul = 32,
    /// `a * at`.
    Muli = 33,
    /// Four bytes that the four digits of a 16-bit constant select, the lowest digit for the lowest byte. Digits 0 to 3
    /// select the bytes of `a`, 4 to 7 zero, and 8 to 11 the signs of the bytes of `a` (`prmt` of PTX).
    Prmt = 34,
    /// Predicate: the low 32 bits of `a` are `at`.
    Eqi = 35,
    /// Predicate: `a & at` is not zero.
    Tst = 36,
    /// Predicate: `true` in all running lanes if `p` holds in some running lane, else `false` in all lanes.
    Any = 37,
    /// Loads `bytes` at `a + at`, zero-extended. Bytes beyond the line are zero.
    Ldx = 38,
    /// Stores the low `bytes` of `a` at `b + at`. Bytes beyond the line are ignored.
    Stx = 39,
    /// As `done`, with `a + step` bytes. It has no effect if the line would save no DRAM burst.
    Donev = 40,
    /// Number of the line that the parent's load requests with the transaction of this lane.
    Line = 41,
    /// Word `at` of the metadata that the parent keeps for the load.
    Getm = 42,
    /// Sets word `at` of the metadata to the low 32 bits of `a`.
    Setm = 43,
    /// Prefetches the line with the number `a + b`, where `b` is its low 32 bits, sign-extended.
    Pref = 44,
    /// As `st`, but writes to the registers of the parent's lanes that load those bytes.
    Out = 45,
    /// Word `at` of the parent's words for its region: tag, shift, inputs, and the computed results.
    Par = 46,
    /// Gives `a` to the parent as word `at` of its region's results.
    Give = 47,
    /// Loads the four words of entry `a` of the look-up table into the destination and the three registers after it.
    Ldv = 48,
    /// Stores `a` and the three registers after it into entry `b` of the look-up table.
    Stv = 49,
}

/// All operations, by number.
const OPS: [AssistOp; 50] = [
    AssistOp::Addr,
    AssistOp::Li,
    AssistOp::Ldu,
    AssistOp::Lds,
    AssistOp::St,
    AssistOp::Add,
    AssistOp::Sub,
    AssistOp::Mov,
    AssistOp::Sext,
    AssistOp::Eq,
    AssistOp::EqOr,
    AssistOp::EqAnd,
    AssistOp::Bit,
    AssistOp::Ballot,
    AssistOp::Nobal,
    AssistOp::Or,
    AssistOp::Ffs,
    AssistOp::Shfl,
    AssistOp::All,
    AssistOp::Done,
    AssistOp::Lane,
    AssistOp::Lih,
    AssistOp::Shl,
    AssistOp::Shr,
    AssistOp::Sar,
    AssistOp::Shlv,
    AssistOp::Shrv,
    AssistOp::And,
    AssistOp::Andi,
    AssistOp::Ori,
    AssistOp::Xori,
    AssistOp::Addi,
    AssistOp::Mul,
    AssistOp::Muli,
    AssistOp::Prmt,
    AssistOp::Eqi,
    AssistOp::Tst,
    AssistOp::Any,
    AssistOp::Ldx,
    AssistOp::Stx,
    AssistOp::Donev,
    AssistOp::Line,
    AssistOp::Getm,
    AssistOp::Setm,
    AssistOp::Pref,
    AssistOp::Out,
    AssistOp::Par,
    AssistOp::Give,
    AssistOp::Ldv,
    AssistOp::Stv,
];

impl AssistOp {
    /// Returns the name in assembly.
    pub const fn name(self) -> &'static str {
        match self {
            AssistOp::Addr => "addr",
            AssistOp::Li => "li",
            AssistOp::Ldu => "ldu",
            AssistOp::Lds => "lds",
            AssistOp::St => "st",
            AssistOp::Add => "add",
            AssistOp::Sub => "sub",
            AssistOp::Mov => "mov",
            AssistOp::Sext => "sext",
            AssistOp::Eq => "eq",
            AssistOp::EqOr => "eqor",
            AssistOp::EqAnd => "eqand",
            AssistOp::Bit => "bit",
            AssistOp::Ballot => "ballot",
            AssistOp::Nobal => "nobal",
            AssistOp::Or => "or",
            AssistOp::Ffs => "ffs",
            AssistOp::Shfl => "shfl",
            AssistOp::All => "all",
            AssistOp::Done => "done",
            AssistOp::Lane => "lane",
            AssistOp::Lih => "lih",
            AssistOp::Shl => "shl",
            AssistOp::Shr => "shr",
            AssistOp::Sar => "sar",
            AssistOp::Shlv => "shlv",
            AssistOp::Shrv => "shrv",
            AssistOp::And => "and",
            AssistOp::Andi => "andi",
            AssistOp::Ori => "ori",
            AssistOp::Xori => "xori",
            AssistOp::Addi => "addi",
            AssistOp::Mul => "mul",
            AssistOp::Muli => "muli",
            AssistOp::Prmt => "prmt",
            AssistOp::Eqi => "eqi",
            AssistOp::Tst => "tst",
            AssistOp::Any => "any",
            AssistOp::Ldx => "ldx",
            AssistOp::Stx => "stx",
            AssistOp::Donev => "donev",
            AssistOp::Line => "line",
            AssistOp::Getm => "getm",
            AssistOp::Setm => "setm",
            AssistOp::Pref => "pref",
            AssistOp::Out => "out",
            AssistOp::Par => "par",
            AssistOp::Give => "give",
            AssistOp::Ldv => "ldv",
            AssistOp::Stv => "stv",
        }
    }

    /// Returns the operation with a name.
    pub fn named(name: &str) -> Option<AssistOp> {
        OPS.into_iter().find(|op| op.name() == name)
    }

    /// Returns the kinds of its operands, in the order of the assembly. `d` and `D` are a destination register and predicate,
    /// `a` and `b` source registers, and `p` a source predicate. `f` and `g` are the first of four registers, with the fields
    /// of `d` and `a`. `i` is the constant `at`, `s` the constant `step`, and `w` both as one of 16 bits.
    pub const fn operands(self) -> &'static str {
        match self {
            AssistOp::Addr | AssistOp::Lane | AssistOp::Line => "d",
            AssistOp::Pref => "ab",
            AssistOp::Ldv => "fa",
            AssistOp::Stv => "gb",
            AssistOp::Setm | AssistOp::Give => "ai",
            AssistOp::Lih => "dw",
            AssistOp::Prmt => "daw",
            AssistOp::Stx => "abi",
            AssistOp::Donev => "ias",
            AssistOp::Li | AssistOp::Getm | AssistOp::Par => "di",
            AssistOp::Ldu | AssistOp::Lds => "dis",
            AssistOp::St | AssistOp::Out => "ais",
            AssistOp::Add
            | AssistOp::Sub
            | AssistOp::Or
            | AssistOp::And
            | AssistOp::Mul
            | AssistOp::Shlv
            | AssistOp::Shrv => "dab",
            AssistOp::Mov | AssistOp::Sext | AssistOp::Ffs => "da",
            AssistOp::Eq => "Dab",
            AssistOp::EqOr | AssistOp::EqAnd => "Dabp",
            AssistOp::Shl
            | AssistOp::Shr
            | AssistOp::Sar
            | AssistOp::Andi
            | AssistOp::Ori
            | AssistOp::Xori
            | AssistOp::Addi
            | AssistOp::Muli
            | AssistOp::Ldx => "dai",
            AssistOp::Bit | AssistOp::Eqi | AssistOp::Tst => "Dai",
            AssistOp::Ballot | AssistOp::Nobal => "dpi",
            AssistOp::Shfl => "dabi",
            AssistOp::All | AssistOp::Any => "Dp",
            AssistOp::Done => "is",
        }
    }

    /// Returns whether the operation has a number of bytes.
    pub(crate) const fn has_bytes(self) -> bool {
        self.is_in_line() || matches!(self, AssistOp::Sext | AssistOp::Eq | AssistOp::EqOr | AssistOp::EqAnd)
    }

    /// Returns whether the operation uses the load/store unit.
    pub(crate) const fn is_memory(self) -> bool {
        self.is_in_line() && !matches!(self, AssistOp::Out)
            || matches!(self, AssistOp::Pref)
            || self.is_in_table()
    }

    /// Returns whether the operation reads or writes the look-up table.
    pub(crate) const fn is_in_table(self) -> bool {
        matches!(self, AssistOp::Ldv | AssistOp::Stv)
    }

    /// Returns whether the operation reads the line of the assist warp, or writes the resulting line.
    pub(crate) const fn is_in_line(self) -> bool {
        matches!(
            self,
            AssistOp::Ldu | AssistOp::Lds | AssistOp::St | AssistOp::Ldx | AssistOp::Stx | AssistOp::Out
        )
    }
}

/// An instruction of an assist warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Instruction {
    /// The operation.
    pub op: AssistOp,
    /// The guard predicate: lanes in which it does not hold do nothing. p0 is always true.
    pub guard: u8,
    /// `true` if the guard is inverted.
    pub inverted: bool,
    /// `true` if the instruction runs in all lanes, independently of the active mask.
    pub every: bool,
    /// `true` if it uses the second set of registers. Each assist warp has its own lanes here, so only the word depends on
    /// this.
    pub second: bool,
    /// Destination register or predicate.
    pub dest: u8,
    /// First source register.
    pub a: u8,
    /// Second source register.
    pub b: u8,
    /// Source predicate.
    pub p: u8,
    /// Number of bytes of the operands: 1, 2, 4 or 8.
    pub bytes: u8,
    /// A constant: an offset, a shift, an encoding.
    pub at: u8,
    /// A constant: bytes from one lane to the next, a size.
    pub step: u8,
}

/// The error of a word that is not an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:#018x} is no instruction of an assist warp")]
pub struct NoInstruction(pub u64);

impl Instruction {
    /// Returns an instruction with the operation `op`, and zeros or defaults otherwise.
    pub const fn new(op: AssistOp) -> Self {
        Instruction {
            op,
            guard: 0,
            inverted: false,
            every: false,
            second: false,
            dest: 0,
            a: 0,
            b: 0,
            p: 0,
            bytes: 8,
            at: 0,
            step: 0,
        }
    }

    /// Returns the 16-bit constant.
    pub const fn constant(&self) -> u16 {
        u16::from_le_bytes([self.at, self.step])
    }

    /// Returns the word. From bit 0 on it has operation (8 bits), guard (5), all lanes (1), second set (1), inversion (1),
    /// and then 8 bits each of destination, a, b, p with bytes, at and step.
    pub fn word(&self) -> u64 {
        let guard = self.guard
            | u8::from(self.every) << 5
            | u8::from(self.second) << 6
            | u8::from(self.inverted) << 7;
        let p = self.p | self.bytes << 4;
        u64::from_le_bytes([self.op as u8, guard, self.dest, self.a, self.b, p, self.at, self.step])
    }

    /// Returns the instruction of a word.
    ///
    /// # Errors
    /// If the word is not an instruction.
    pub fn decode(word: u64) -> Result<Self, NoInstruction> {
        let [op, guard, dest, a, b, p, at, step] = word.to_le_bytes();
        let op = OPS.get(usize::from(op)).copied().ok_or(NoInstruction(word))?;
        let decoded = Instruction {
            op,
            guard: guard & 0x1f,
            inverted: guard >> 7 == 1,
            every: guard >> 5 & 1 == 1,
            second: guard >> 6 & 1 == 1,
            dest,
            a,
            b,
            p: p & 0xf,
            bytes: p >> 4,
            at,
            step,
        };
        let last = if op.is_in_table() { REGISTERS - TABLE_WORDS as u8 } else { REGISTERS - 1 };
        let registers = match op {
            AssistOp::Ldv => dest <= last && a < REGISTERS,
            AssistOp::Stv => a <= last && b < REGISTERS,
            _ => dest < REGISTERS && a < REGISTERS && b < REGISTERS,
        };
        let predicates = decoded.guard < PREDICATES && decoded.p < PREDICATES;
        let bytes = matches!(decoded.bytes, 1 | 2 | 4 | 8);
        if registers && predicates && bytes { Ok(decoded) } else { Err(NoInstruction(word)) }
    }

    /// Returns its sources and destination, which must be ready before it issues: registers in bits 0 to 15, predicates above.
    pub fn touches(&self) -> u32 {
        let register = |r: u8| 1 << r;
        let four = |r: u8| ((1 << TABLE_WORDS) - 1) << r;
        let predicate = |p: u8| 1 << (16 + p);
        let operands = self.op.operands().chars().map(|operand| match operand {
            'd' => register(self.dest),
            'D' => predicate(self.dest),
            'a' => register(self.a),
            'b' => register(self.b),
            'f' => four(self.dest),
            'g' => four(self.a),
            'p' => predicate(self.p),
            _ => 0,
        });
        let address = if self.op.is_in_line() { register(ADDRESS) } else { 0 };
        operands.fold(address | predicate(self.guard), |all, one| all | one)
    }

    /// Returns its destination in the same form; 0 for stores, `out` and `done`.
    pub fn writes(&self) -> u32 {
        match self.op.operands().chars().next() {
            Some('d') => 1 << self.dest,
            Some('D') => 1 << (16 + self.dest),
            Some('f') => ((1 << TABLE_WORDS) - 1) << self.dest,
            _ => 0,
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.second { "second " } else { "" }, if self.every { "every " } else { "" })?;
        if self.guard != 0 || self.inverted {
            write!(f, "@{}p{} ", if self.inverted { "!" } else { "" }, self.guard)?;
        }
        write!(f, "{}", self.op.name())?;
        if self.op.has_bytes() {
            write!(f, ".{}", self.bytes)?;
        }
        for (index, operand) in self.op.operands().chars().enumerate() {
            write!(f, "{}", if index == 0 { " " } else { ", " })?;
            match operand {
                'd' | 'f' => write!(f, "r{}", self.dest)?,
                'D' => write!(f, "p{}", self.dest)?,
                'a' | 'g' => write!(f, "r{}", self.a)?,
                'b' => write!(f, "r{}", self.b)?,
                'p' => write!(f, "p{}", self.p)?,
                'i' => write!(f, "{}", self.at)?,
                'w' => write!(f, "{:#06x}", self.constant())?,
                _ => write!(f, "{}", self.step)?,
            }
        }
        Ok(())
    }
}
