//! The codes of BPC: one for the base word, and one for each bit plane or run of zero planes.
//!
//! Bit 0 of a code's value is its first bit. The prefix comes first, so that at most five bits determine the kind. The field
//! after the prefix begins with its lowest bit.

/// Planes of a line: one for each bit of a 33-bit difference.
pub const PLANES: usize = 33;

/// A code word, or several code words one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneCode {
    /// Bits of the code, the first one in bit 0.
    pub value: u64,
    /// Number of these bits.
    pub bits: usize,
}

/// The kinds of codes. DBX is a plane after the exclusive-or with the plane above, DBP the plane before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// Base word 0: `000`.
    BaseZero,
    /// Base word that is the sign-extension of its lowest 4 bits: `001`, 4 bits.
    Base4,
    /// Base word that is the sign-extension of its lowest 8 bits: `010`, 8 bits.
    Base8,
    /// Base word that is the sign-extension of its lowest 16 bits: `011`, 16 bits.
    Base16,
    /// Any other base word: `1`, 32 bits.
    BaseRaw,
    /// A single plane with zero DBX: `001`.
    ZeroPlane,
    /// 2 to 33 planes with zero DBX: `01`, the number less 2 in 5 bits.
    ZeroRun,
    /// DBX is all ones: `00000`.
    AllOnes,
    /// DBP is zero, DBX is not zero: `00001`.
    ZeroDbp,
    /// DBX has exactly two ones, which are neighbours: `00010`, the lower position.
    TwoOnes,
    /// DBX has a single one: `00011`, its position.
    SingleOne,
    /// Any other plane: `1`, DBX.
    RawPlane,
}

impl CodeKind {
    /// All kinds of codes.
    pub const ALL: [CodeKind; 12] = {
        use CodeKind::*;
        [
            BaseZero, Base4, Base8, Base16, BaseRaw, ZeroPlane, ZeroRun, AllOnes, ZeroDbp, TwoOnes,
            SingleOne, RawPlane,
        ]
    };

    /// Returns the name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            CodeKind::BaseZero => "base zero",
            CodeKind::Base4 => "base of 4 bits",
            CodeKind::Base8 => "base of 8 bits",
            CodeKind::Base16 => "base of 16 bits",
            CodeKind::BaseRaw => "base of 32 bits",
            CodeKind::ZeroPlane => "single zero plane",
            CodeKind::ZeroRun => "run of zero planes",
            CodeKind::AllOnes => "plane of ones",
            CodeKind::ZeroDbp => "zero before the exclusive-or",
            CodeKind::TwoOnes => "two neighbouring ones",
            CodeKind::SingleOne => "single one",
            CodeKind::RawPlane => "raw plane",
        }
    }
}

/// The shape of planes. A plane has one bit per difference, which is one less than the line's 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneShape {
    /// Bits of a plane: 7, 15 or 31.
    pub plane_bits: usize,
    /// Bits of a position in a plane: 3, 4 or 5.
    pub place_bits: usize,
}

impl PlaneShape {
    /// Returns the shape for lines of 32, 64 or 128 bytes.
    pub const fn of(line_bytes: usize) -> Self {
        let words = line_bytes / 4;
        PlaneShape { plane_bits: words - 1, place_bits: words.ilog2() as usize }
    }

    /// Returns a plane of ones.
    pub const fn ones(self) -> u32 {
        (1 << self.plane_bits) - 1
    }
}

/// Returns the kind and the code of a base word.
pub fn base_code(base: u32) -> (CodeKind, PlaneCode) {
    let fits = |bits: u32| (base as i32) << (32 - bits) >> (32 - bits) == base as i32;
    let field = |prefix: u64, bits: u32| PlaneCode {
        value: prefix | (u64::from(base) & ((1 << bits) - 1)) << 3,
        bits: 3 + bits as usize,
    };
    match base {
        0 => (CodeKind::BaseZero, PlaneCode { value: 0, bits: 3 }),
        _ if fits(4) => (CodeKind::Base4, field(0b100, 4)),
        _ if fits(8) => (CodeKind::Base8, field(0b010, 8)),
        _ if fits(16) => (CodeKind::Base16, field(0b110, 16)),
        _ => (CodeKind::BaseRaw, PlaneCode { value: 1 | u64::from(base) << 1, bits: 33 }),
    }
}

/// Returns the kind and the code of a run of 1 to 33 planes with zero DBX.
pub fn run_code(planes: usize) -> (CodeKind, PlaneCode) {
    match planes {
        1 => (CodeKind::ZeroPlane, PlaneCode { value: 0b100, bits: 3 }),
        _ => (CodeKind::ZeroRun, PlaneCode { value: 0b10 | (planes as u64 - 2) << 2, bits: 7 }),
    }
}

/// Returns the kind and the code of a plane with non-zero DBX.
pub fn plane_code(shape: PlaneShape, dbx: u32, dbp: u32) -> (CodeKind, PlaneCode) {
    let place = u64::from(dbx.trailing_zeros()) << 5;
    let with_place = |prefix: u64| PlaneCode { value: prefix | place, bits: 5 + shape.place_bits };
    if dbx == shape.ones() {
        return (CodeKind::AllOnes, PlaneCode { value: 0, bits: 5 });
    }
    if dbp == 0 {
        return (CodeKind::ZeroDbp, PlaneCode { value: 0b10000, bits: 5 });
    }
    match dbx >> dbx.trailing_zeros() {
        0b11 => (CodeKind::TwoOnes, with_place(0b01000)),
        0b1 => (CodeKind::SingleOne, with_place(0b11000)),
        _ => (CodeKind::RawPlane, PlaneCode { value: 1 | u64::from(dbx) << 1, bits: 1 + shape.plane_bits }),
    }
}

/// Returns the base word whose code is at the start of `bits`, and the length of that code in bits.
pub fn read_base(bits: u64) -> (u32, usize) {
    let signed = |width: u32| ((bits >> 3) as u32 as i32) << (32 - width) >> (32 - width);
    match bits & 0b111 {
        value if value & 1 == 1 => ((bits >> 1) as u32, 33),
        0b100 => (signed(4) as u32, 7),
        0b010 => (signed(8) as u32, 11),
        0b110 => (signed(16) as u32, 19),
        _ => (0, 3),
    }
}

/// A code of planes, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodedPlanes {
    /// Bits of the code.
    pub bits: usize,
    /// Number of planes that the code represents.
    pub planes: usize,
    /// DBX of each of these planes.
    pub dbx: u32,
}

/// Decodes the code at the start of `bits`. `above` is the previous plane before the exclusive-or. A position outside the
/// plane selects no bit.
pub fn read_symbol(shape: PlaneShape, bits: u64, above: u32) -> DecodedPlanes {
    let place = (bits >> 5) as u32 & ((1 << shape.place_bits) - 1);
    let one = |bits: usize, dbx: u32| DecodedPlanes { bits, planes: 1, dbx: dbx & shape.ones() };
    if bits & 1 == 1 {
        return one(1 + shape.plane_bits, (bits >> 1) as u32);
    }
    if bits & 0b10 != 0 {
        return DecodedPlanes { bits: 7, planes: (bits >> 2 & 31) as usize + 2, dbx: 0 };
    }
    if bits & 0b100 != 0 {
        return one(3, 0);
    }
    match bits >> 3 & 0b11 {
        0b00 => one(5, shape.ones()),
        0b10 => one(5, above),
        0b01 => one(5 + shape.place_bits, 0b11 << place),
        _ => one(5 + shape.place_bits, 1 << place),
    }
}
