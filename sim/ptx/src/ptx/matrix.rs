//! Matrix products of a warp, and loads of their fragments from shared memory.

use super::access::{AccessKind, Fault, MemAccess};
use super::float::Rounding;
use super::forms::{
    AtomicOp, CacheOp, CopyForm, LoadMatrixForm, MatrixForm, MemoryForm, Number, NumberType, Space, Sum,
};
use super::instr::Instr;
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::small_float::SmallFloat;
use super::warp::Warp;
use super::{Env, memory_ops};

/// Rows of the result.
const ROWS: usize = 16;
/// Columns of the result.
const COLUMNS: usize = 8;

impl Warp {
    /// Multiplies two matrices and adds a third. Sums are computed in double precision, in the order of k with the
    /// addend last, and rounded once. Elements of lanes that do not execute the instruction are 0.
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
        let [sums, firsts, seconds] = form.registers();
        let (d, rest) = list.split_at(sums);
        let (a, rest) = rest.split_at(firsts);
        let (b, c) = rest.split_at(seconds);
        debug_assert_eq!(c.len(), sums);
        let per_register = 32 / usize::from(form.a.bits());
        let k = usize::from(form.k);
        let mut first = vec![0f64; ROWS * k];
        let mut second = vec![0f64; k * COLUMNS];
        for lane in lanes(mask) {
            let (group, inner) = (lane / 4, lane % 4 * per_register);
            for (number, &index) in a.iter().enumerate() {
                let word = self.word(kernel, index)[lane];
                let (row, column) = (group + 8 * (number % 2), inner + 4 * per_register * (number / 2));
                for element in 0..per_register {
                    first[row * k + column + element] = form.a.element(word, element);
                }
            }
            for (number, &index) in b.iter().enumerate() {
                let word = self.word(kernel, index)[lane];
                let row = inner + 4 * per_register * number;
                for element in 0..per_register {
                    second[(row + element) * COLUMNS + group] = form.b.element(word, element);
                }
            }
        }
        let product = |row: usize, column: usize| -> f64 {
            (0..k).map(|inner| first[row * k + inner] * second[inner * COLUMNS + column]).sum()
        };
        let mut out = [[0u64; 32]; 4];
        for (number, values) in out.iter_mut().enumerate().take(sums) {
            for (lane, value) in values.iter_mut().enumerate() {
                let addend = self.word(kernel, c[number])[lane];
                let column = lane % 4 * 2;
                *value = u64::from(match form.sum {
                    Sum::Half => {
                        let row = lane / 4 + 8 * number;
                        let half = |element: usize| {
                            let bits = addend >> (16 * element) & 0xffff;
                            let sum = product(row, column + element) + SmallFloat::Half.decode(bits);
                            SmallFloat::Half.encode(sum, Rounding::Nearest) << (16 * element)
                        };
                        half(0) | half(1)
                    }
                    Sum::Single => {
                        let sum = product(lane / 4 + 8 * (number / 2), column + number % 2);
                        let sum = sum + f64::from(f32::from_bits(addend));
                        SmallFloat::Single.encode(sum, Rounding::Nearest)
                    }
                    Sum::Integer { finite } => {
                        let sum = product(lane / 4 + 8 * (number / 2), column + number % 2) as i64;
                        let sum = sum + i64::from(addend as i32);
                        if finite { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
                    }
                });
            }
        }
        for (&index, values) in d.iter().zip(&out) {
            self.set_bits(index, 32, values, mask);
        }
    }
}

/// Bytes per row of a matrix.
const ROW_BYTES: u8 = 16;

impl LoadMatrixForm {
    /// Returns the load of one row, for each lane that supplies an address.
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

/// Loads matrices. Lane n supplies the address of row n % 8 of matrix n / 8.
pub(crate) fn load_matrix(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: LoadMatrixForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<(), Box<Fault>> {
    let lane = mask.trailing_zeros();
    if mask != u32::MAX {
        let what = format!("needs all 32 lanes of the warp, got {}", mask.count_ones());
        return Err(warp.fault(kernel, env.launch, lane, 0, what));
    }
    let addressed = u32::MAX >> (32 - 8 * u32::from(form.count));
    access.kind = AccessKind::Load;
    let others = memory_ops::addresses(warp, kernel, instr, form.memory_form(), addressed, access);
    if others != 0 || access.space != Space::Shared {
        let what = "needs addresses in shared memory".to_owned();
        return Err(warp.fault(kernel, env.launch, lane, access.address[0], what));
    }
    let mut rows = [[0u16; 8]; 32];
    memory_ops::load_checked(warp, kernel, env, access, |bytes, offset, lane| {
        for (element, pair) in rows[lane].iter_mut().zip(bytes[offset..].as_chunks::<2>().0) {
            *element = u16::from_le_bytes(*pair);
        }
    })?;
    for (number, &index) in instr.vector.iter().enumerate().take(form.count.into()) {
        let matrix = &rows[8 * number..][..8];
        let values = std::array::from_fn(|lane| {
            let (row, column) = (lane / 4, lane % 4 * 2);
            let element = |step: usize| {
                u64::from(if form.transpose {
                    matrix[column + step][row]
                } else {
                    matrix[row][column + step]
                })
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
