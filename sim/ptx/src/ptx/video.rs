//! Video instructions: arithmetic on bytes and half-words of registers.

/// Operation of a video instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VideoOp {
    Add,
    Subtract,
    /// Half of the sum, rounded away from zero.
    Average,
    Difference,
    Minimum,
    Maximum,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Use of the third operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VideoSecond {
    Add,
    Minimum,
    Maximum,
    /// It supplies the parts that the mask or the destination's selector leaves out.
    Merge,
}

/// A video instruction. `Instr::offset` holds its [`Selectors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VideoForm {
    pub op: VideoOp,
    /// Number of parts of a register: 1, 2 or 4.
    pub parts: u8,
    /// Signedness of the result, the first and the second operand.
    pub signed: [bool; 3],
    pub saturate: bool,
    /// `.wrap`: a shift counts modulo 32; otherwise counts above 32 are 32.
    pub wrap: bool,
    pub second: VideoSecond,
}

/// Selected parts of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selectors {
    /// Part of the first and of the second operand: for each part of the result, a part of the pair of both. If
    /// registers have one part, a code: 0 to 3 for bytes, 4 and 5 for half-words, [`WHOLE`].
    pub sources: [[u8; 4]; 2],
    /// Bit for each part of the result that is written. If registers have one part, a code.
    pub result: u8,
}

/// Code of a whole register.
pub(crate) const WHOLE: u8 = 7;

impl Selectors {
    /// Returns the selectors in one word.
    pub(crate) fn pack(self) -> i64 {
        let nibbles = self.sources.iter().flatten().rev().fold(0, |word, part| word << 4 | i64::from(*part));
        nibbles | i64::from(self.result) << 32
    }

    pub(super) fn unpack(word: i64) -> Self {
        let nibble = |place: usize| (word >> (4 * place) & 15) as u8;
        let sources = [0, 4].map(|first| std::array::from_fn(|part| nibble(first + part)));
        Self { sources, result: (word >> 32) as u8 }
    }
}

/// Returns the low `bits` of a word as a number.
fn number(word: u64, bits: u32, signed: bool) -> i64 {
    let unused = 64 - bits;
    if signed { (word << unused) as i64 >> unused } else { (word << unused >> unused) as i64 }
}

/// Returns the position and size in bits of a part by its code.
fn place(code: u8) -> (u32, u32) {
    match code {
        0..=3 => (8 * u32::from(code), 8),
        4 | 5 => (16 * u32::from(code - 4), 16),
        _ => (0, 32),
    }
}

impl VideoForm {
    fn apply(self, a: i64, b: i64) -> i64 {
        match self.op {
            VideoOp::Add => a + b,
            VideoOp::Subtract => a - b,
            VideoOp::Average => (a + b + i64::from(a + b >= 0)) >> 1,
            VideoOp::Difference => (a - b).abs(),
            VideoOp::Minimum => a.min(b),
            VideoOp::Maximum => a.max(b),
            // A saturated shift may exceed 64 bits.
            VideoOp::ShiftLeft if self.saturate => {
                let wide = i128::from(a) << self.count(b);
                wide.clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }
            VideoOp::ShiftLeft => a << self.count(b),
            VideoOp::ShiftRight => a >> self.count(b),
            VideoOp::Equal => i64::from(a == b),
            VideoOp::NotEqual => i64::from(a != b),
            VideoOp::Less => i64::from(a < b),
            VideoOp::LessEqual => i64::from(a <= b),
            VideoOp::Greater => i64::from(a > b),
            VideoOp::GreaterEqual => i64::from(a >= b),
        }
    }

    fn count(self, b: i64) -> i64 {
        if self.wrap { b & 31 } else { b.min(32) }
    }

    /// Clamps to the range of the result's type of `bits` bits, if the instruction saturates.
    fn clamp(self, value: i64, bits: u32) -> i64 {
        let (low, high) =
            if self.signed[0] { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        if self.saturate { value.clamp(low, high) } else { value }
    }

    pub(super) fn compute(self, selectors: Selectors, [a, b, c]: [u32; 3]) -> u32 {
        if self.parts == 1 {
            return self.single(selectors, [a, b, c]);
        }
        let bits = 32 / u32::from(self.parts);
        let both = u64::from(a) | u64::from(b) << 32;
        let mut out = if self.second == VideoSecond::Add { c } else { 0 };
        for part in 0..usize::from(self.parts) {
            let [x, y] = [0, 1].map(|source| {
                let selected = u32::from(selectors.sources[source][part]);
                number(both >> (bits * selected), bits, self.signed[source + 1])
            });
            let value = self.clamp(self.apply(x, y), bits);
            let shift = bits * part as u32;
            let kept = u32::MAX >> (32 - bits);
            let writes = selectors.result >> part & 1 == 1;
            out = match (self.second, writes) {
                (VideoSecond::Add, true) => out.wrapping_add(value as u32),
                (VideoSecond::Add, false) => out,
                (_, true) => out | (value as u32 & kept) << shift,
                (_, false) => out | c & kept << shift,
            };
        }
        out
    }

    /// Computes an instruction on one part of each register.
    fn single(self, selectors: Selectors, [a, b, c]: [u32; 3]) -> u32 {
        let operand = |word: u32, source: usize| {
            let (shift, bits) = place(selectors.sources[source][0]);
            number(u64::from(word >> shift), bits, self.signed[source + 1])
        };
        let (shift, bits) = place(selectors.result);
        let value = self.clamp(self.apply(operand(a, 0), operand(b, 1)), bits);
        let third = number(c.into(), 32, self.signed[0]);
        let kept = u32::MAX >> (32 - bits) << shift;
        match self.second {
            VideoSecond::Add => (value + third) as u32,
            VideoSecond::Minimum => value.min(third) as u32,
            VideoSecond::Maximum => value.max(third) as u32,
            VideoSecond::Merge => (value as u32) << shift & kept | c & !kept,
        }
    }
}
