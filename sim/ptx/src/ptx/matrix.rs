//! Matrix products of a warp, and loads of their fragments from shared memory.

use super::access::{AccessKind, Fault, MemAccess};
use super::float::{self, Rounding};
use super::forms::{
    AtomicOp, CacheOp, CopyForm, Factor, LoadMatrixForm, MatrixForm, MemoryForm, Number, NumberType, Space,
    Sum, Variant,
};
use super::instr::Instr;
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::small_float::SmallFloat;
use super::warp::Warp;
use super::{Env, memory_ops};

/// Columns of the result.
pub(super) const COLUMNS: usize = 8;

impl Warp {
    /// Multiplies two matrices and adds a third. Sums are computed in double precision, in the order of k with the
    /// addend last, and rounded once. In double precision, each product is added with one rounding, the addend first.
    /// Elements of lanes that do not execute the instruction are 0.
    pub(crate) fn multiply_matrices(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        form: MatrixForm,
        mask: u32,
    ) {
        if mask != u32::MAX {
            let executing = mask.count_ones();
            let what = || format!("is executed by {executing} of 32 lanes, and gets 0 from the others");
            self.note_idle(kernel, env, mask.trailing_zeros(), what);
        }
        let list = &kernel.operand_lists[instr.target as usize];
        let [sums, firsts, seconds, addends] = form.registers();
        let (d, rest) = list.split_at(sums);
        let (a, rest) = rest.split_at(firsts);
        let (b, c) = rest.split_at(seconds);
        debug_assert_eq!(c.len(), addends);
        let wide = form.to == Sum::Double;
        let read = |list: &[u16]| -> Vec<[u64; 32]> {
            list.iter().map(|&index| self.bits(kernel, index, wide)).collect()
        };
        let (a, b, c) = (read(a), read(b), read(c));
        let out = match form.variant {
            Variant::Quarters { a_by_row, b_by_row, left } => {
                quarters(form, (a_by_row, b_by_row, left), [&a, &b, &c], mask)
            }
            _ => product(form, [&a, &b, &c], mask),
        };
        for (&index, values) in d.iter().zip(&out) {
            self.set_bits(index, if wide { 64 } else { 32 }, values, mask);
        }
    }

    /// Transposes a matrix of which each lane holds two elements of a row.
    pub(super) fn transpose_matrix(&mut self, kernel: &Kernel, instr: &Instr, mask: u32) {
        let words = *self.word(kernel, instr.a);
        let element = |row: usize, column: usize| {
            let lane = 4 * row + column / 2;
            let executes = mask & LANE_BIT[lane] != 0;
            if executes { words[lane] >> (16 * (column % 2)) & 0xffff } else { 0 }
        };
        let values = std::array::from_fn(|lane| {
            let (row, column) = (lane / 4, lane % 4 * 2);
            u64::from(element(column, row) | element(column + 1, row) << 16)
        });
        self.set_bits(instr.d, 32, &values, mask);
    }
}

impl MatrixForm {
    /// Returns the rows of the first factor, which is in registers in the layout of `mma.m16n8` or `mma.m8n8`.
    pub(super) fn rows_of(self, a: &[[u64; 32]], mask: u32) -> Vec<f64> {
        let (k, per_register, blocks) = (self.k(), self.a.per_register(), self.blocks());
        let mut rows = vec![0f64; 8 * blocks * k];
        for lane in lanes(mask) {
            for (number, values) in a.iter().enumerate() {
                let row = lane / 4 + 8 * (number % blocks);
                let column = (lane % 4 + 4 * (number / blocks)) * per_register;
                for element in 0..per_register {
                    rows[row * k + column + element] = self.a.element(values[lane], element);
                }
            }
        }
        rows
    }
}

/// Returns the sum as bits of its type.
pub(super) fn sum_bits(form: MatrixForm, products: f64, addend: f64) -> u64 {
    match form.to {
        Sum::Half => SmallFloat::Half.encode(products + addend, Rounding::Nearest).into(),
        Sum::Single => SmallFloat::Single.encode(products + addend, Rounding::Nearest).into(),
        Sum::Double => (products + addend).to_bits(),
        Sum::Integer => {
            let sum = products as i64 + addend as i64;
            let clamped = sum.clamp(i32::MIN.into(), i32::MAX.into());
            (if form.variant == Variant::Finite { clamped } else { sum }) as u32 as u64
        }
    }
}

/// Returns the value of an element of the addend.
pub(super) fn addend_value(of: Sum, bits: u64) -> f64 {
    match of {
        Sum::Half => SmallFloat::Half.decode(bits as u32 & 0xffff),
        Sum::Single => f32::from_bits(bits as u32).into(),
        Sum::Double => f64::from_bits(bits),
        Sum::Integer => f64::from(bits as u32 as i32),
    }
}

/// Returns the registers of the result of a product in the layout of `mma.m16n8` or `mma.m8n8`.
fn product(form: MatrixForm, [a, b, c]: [&[[u64; 32]]; 3], mask: u32) -> Vec<[u64; 32]> {
    let (k, per_register) = (form.k(), form.a.per_register());
    let blocks = form.blocks();
    let first = form.rows_of(a, mask);
    let mut second = vec![0f64; k * COLUMNS];
    for lane in lanes(mask) {
        let (group, inner) = (lane / 4, lane % 4 * per_register);
        for (number, values) in b.iter().enumerate() {
            let row = inner + 4 * per_register * number;
            for element in 0..per_register {
                second[(row + element) * COLUMNS + group] = form.b.element(values[lane], element);
            }
        }
    }
    let unequal = form.a == Factor::Bit && form.variant != Variant::And;
    let element = |row: usize, column: usize, addend: f64| -> u64 {
        let pairs = (0..k).map(|inner| (first[row * k + inner], second[inner * COLUMNS + column]));
        if form.to == Sum::Double {
            let add = |sum: f64, (a, b): (f64, f64)| match form.rounding {
                Rounding::Nearest => float::fma64(a, b, sum),
                rounding => float::fma64_toward(a, b, sum, float::fma64(a, b, sum), rounding),
            };
            return pairs.fold(addend, add).to_bits();
        }
        let products = if unequal {
            pairs.map(|(a, b)| f64::from(u8::from(a != b))).sum()
        } else {
            pairs.map(|(a, b)| a * b).sum()
        };
        sum_bits(form, products, addend)
    };
    let addend = |lane: usize, block: usize, column: usize| match form.from {
        Sum::Half => addend_value(Sum::Half, c[block][lane] >> (16 * column)),
        from => addend_value(from, c[2 * block + column][lane]),
    };
    let mut out = vec![[0u64; 32]; form.registers()[0]];
    for (lane, block) in (0..32).flat_map(|lane| (0..blocks).map(move |block| (lane, block))) {
        let place =
            |column: usize| element(lane / 4 + 8 * block, lane % 4 * 2 + column, addend(lane, block, column));
        let values = [place(0), place(1)];
        if form.to == Sum::Half {
            out[block][lane] = values[0] | values[1] << 16;
        } else {
            (out[2 * block][lane], out[2 * block + 1][lane]) = (values[0], values[1]);
        }
    }
    out
}

/// Returns the registers of four columns of `mma.m8n8k4`: four products, each of four lanes and the lanes 16 above.
fn quarters(
    form: MatrixForm,
    (a_by_row, b_by_row, left): (bool, bool, bool),
    [a, b, c]: [&[[u64; 32]]; 3],
    mask: u32,
) -> Vec<[u64; 32]> {
    let halves = |registers: &[[u64; 32]], lane: usize| -> [f64; 4] {
        if mask & LANE_BIT[lane] == 0 {
            return [0.0; 4];
        }
        std::array::from_fn(|i| form.a.element(registers[i / 2][lane], i % 2))
    };
    let mut out = vec![[0u64; 32]; form.registers()[0]];
    for quarter in 0..4 {
        let (mut first, mut second) = ([[0f64; 4]; 8], [[0f64; 8]; 4]);
        for thread in 0..8 {
            let (low, high) = (thread % 4, thread / 4);
            let lane = 4 * quarter + low + 16 * high;
            for (i, value) in halves(a, lane).into_iter().enumerate() {
                let (row, column) = if a_by_row { (low, i) } else { (i, low) };
                first[row + 4 * high][column] = value;
            }
            for (i, value) in halves(b, lane).into_iter().enumerate() {
                let (row, column) = if b_by_row { (low, i) } else { (i, low) };
                second[row][column + 4 * high] = value;
            }
        }
        for thread in 0..8 {
            let (low, high) = (thread % 4, thread / 4);
            let lane = 4 * quarter + low + 16 * high;
            let columns = if left { 0 } else { 4 };
            // Element i of a half is in a row of its own lane; a single is one of a square of four rows and columns.
            let place = |of: Sum, i: usize| match of {
                Sum::Half => (low, columns + i),
                _ => ((low & 1) + (i & 2), columns + (low & 2) + (i & 1)),
            };
            // The addend of an element may be in another lane and register if the types differ.
            let addend = |row: usize, column: usize| {
                let of_row = |row: usize| 4 * quarter + row + 16 * high;
                let along = column - columns;
                match form.from {
                    Sum::Half => addend_value(Sum::Half, c[along / 2][of_row(row)] >> (16 * (along % 2))),
                    from => {
                        let i = (row & 2) | (along & 1);
                        addend_value(from, c[i][of_row((row & 1) | (along & 2))])
                    }
                }
            };
            for i in 0..4 {
                let (row, column) = place(form.to, i);
                let products = (0..4).map(|k| first[row + 4 * high][k] * second[k][column]).sum();
                let bits = sum_bits(form, products, addend(row, column));
                match form.to {
                    Sum::Half => out[i / 2][lane] |= bits << (16 * (i % 2)),
                    _ => out[i][lane] = bits,
                }
            }
        }
    }
    out
}

/// Bytes per row of a matrix.
const ROW_BYTES: u8 = 16;

impl LoadMatrixForm {
    /// Returns the access to one row, for each lane that supplies an address.
    fn memory_form(self) -> MemoryForm {
        MemoryForm {
            space: if self.generic { Space::Generic } else { Space::Shared },
            element: NumberType { number: Number::Unsigned, bits: 32 },
            elements: ROW_BYTES / 4,
            wide_register: false,
            register_bits: 32,
            wide_address: self.wide_address,
            cache: CacheOp::All,
            atomic: AtomicOp::Add,
            reduction: false,
        }
    }
}

/// Loads or stores matrices. Lane n supplies the address of row n % 8 of matrix n / 8.
pub(crate) fn access_matrices(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    (form, store): (LoadMatrixForm, bool),
    mask: u32,
    access: &mut MemAccess,
) -> Result<(), Box<Fault>> {
    let lane = mask.trailing_zeros();
    if mask != u32::MAX {
        let what = format!("needs all 32 lanes of the warp, got {}", mask.count_ones());
        return Err(warp.fault(kernel, env.launch, lane, 0, what));
    }
    let addressed = u32::MAX >> (32 - 8 * u32::from(form.count));
    access.kind = if store { AccessKind::Store } else { AccessKind::Load };
    let others = memory_ops::addresses(warp, kernel, instr, form.memory_form(), addressed, access);
    if others != 0 || access.space != Space::Shared {
        let what = "needs addresses in shared memory".to_owned();
        return Err(warp.fault(kernel, env.launch, lane, access.address[0], what));
    }
    let registers = instr.vector.iter().enumerate().take(form.count.into());
    // The row, and the place in it, of an element of a register.
    let place = |lane: usize, element: usize| match (lane / 4, lane % 4 * 2 + element) {
        (row, column) if form.transpose => (column, row),
        place => place,
    };
    let mut rows = [[0u16; 8]; 32];
    if store {
        for (number, &index) in registers {
            let words = *warp.word(kernel, index);
            for (lane, word) in words.iter().enumerate() {
                for element in 0..2 {
                    let (row, column) = place(lane, element);
                    rows[8 * number + row][column] = (word >> (16 * element)) as u16;
                }
            }
        }
        return memory_ops::each_lane(warp, kernel, env, access, |bytes, offset, lane| {
            for (element, pair) in rows[lane].iter().zip(bytes[offset..].as_chunks_mut::<2>().0) {
                *pair = element.to_le_bytes();
            }
        });
    }
    memory_ops::load_checked(warp, kernel, env, access, |bytes, offset, lane| {
        for (element, pair) in rows[lane].iter_mut().zip(bytes[offset..].as_chunks::<2>().0) {
            *element = u16::from_le_bytes(*pair);
        }
    })?;
    for (number, &index) in registers {
        let values = std::array::from_fn(|lane| {
            let element = |element: usize| {
                let (row, column) = place(lane, element);
                u64::from(rows[8 * number + row][column])
            };
            element(0) | element(1) << 16
        });
        warp.set_bits(index, 32, &values, mask);
    }
    Ok(())
}

/// Copies from global to shared memory immediately. The source address is [`Instr::a`] plus [`Instr::offset`]; the
/// destination is [`Instr::b`] plus the number [`Instr::target`]. [`Instr::c`] limits the bytes read, and zeros fill
/// the rest.
pub(crate) fn copy(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: CopyForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<(), Box<Fault>> {
    let memory_form = MemoryForm {
        space: Space::Global,
        element: NumberType { number: Number::Unsigned, bits: 32 },
        elements: form.bytes / 4,
        wide_register: false,
        register_bits: 32,
        wide_address: form.wide_from,
        cache: form.cache,
        atomic: AtomicOp::Add,
        reduction: false,
    };
    let sizes = match instr.c {
        super::instr::NONE => [u32::from(form.bytes); 32],
        index => self::clamped(warp.word(kernel, index), form.bytes),
    };
    let reading =
        (0..32).filter(|&lane| sizes[lane] > 0).fold(0, |lanes, lane| lanes | LANE_BIT[lane]) & mask;
    let mut read = [[0u8; 16]; 32];
    access.kind = AccessKind::Load;
    memory_ops::addresses(warp, kernel, instr, memory_form, reading, access);
    if reading != 0 {
        memory_ops::load_checked(warp, kernel, env, access, |bytes, offset, lane| {
            let size = sizes[lane] as usize;
            read[lane][..size].copy_from_slice(&bytes[offset..][..size]);
        })?;
    }
    let to = warp.bits(kernel, instr.b, form.wide_to);
    let mut written = access.clone();
    written.kind = AccessKind::Store;
    written.mask = mask;
    written.space = Space::Shared;
    written.address = to.map(|base| {
        let base = if form.wide_to { base } else { u64::from(base as u32) };
        base.wrapping_add(u64::from(instr.target))
    });
    memory_ops::each_lane(warp, kernel, env, &written, |bytes, offset, lane| {
        let size = usize::from(form.bytes);
        bytes[offset..][..size].copy_from_slice(&read[lane][..size]);
    })
}

/// Returns the bytes that each lane reads, at most `most`.
fn clamped(sizes: &[u32; 32], most: u8) -> [u32; 32] {
    sizes.map(|size| size.min(most.into()))
}
