//! Matrix products of warp groups (`wgmma`). Each of the four warps computes 16 rows.
//!
//! A descriptor of a factor in shared memory has the address and the distances in units of 16 bytes, and the swizzle. Rows of the
//! first factor and columns of the second are called lines here.

use super::Env;
use super::access::Fault;
use super::forms::{Factor, Sum, WarpGroupForm};
use super::instr::Instr;
use super::kernel::Kernel;
use super::lane::lanes;
use super::matrix::{COLUMNS, addend_value, sum_bits};
use super::warp::Warp;

/// Rows of a warp's part.
const ROWS: usize = 16;
/// Warps of a group.
const WARPS: u32 = 4;
/// Bytes of a row of a core matrix, which has eight rows.
const PIECE: u64 = 16;

/// A factor in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SharedFactor {
    address: u64,
    /// Bytes between core matrices in the leading and in the other dimension.
    leading: u64,
    stride: u64,
    /// Bytes of a swizzled row: 16 without swizzle, 32, 64 or 128.
    row: u64,
    by_line: bool,
}

impl SharedFactor {
    fn new(descriptor: u64, by_line: bool) -> Self {
        let field = |low: u32| (descriptor >> low & 0x3fff) * PIECE;
        let row = [PIECE, 128, 64, 32][(descriptor >> 62) as usize];
        SharedFactor { address: field(0), leading: field(16), stride: field(32), row, by_line }
    }

    /// Returns the address of the 16 bytes with an element, and the number of the element there. `per_piece`: elements in 16 bytes.
    fn place(self, line: u64, inner: u64, per_piece: u64) -> (u64, u64) {
        let swizzled = self.row > PIECE;
        let (offset, element) = if self.by_line {
            let between = if swizzled { PIECE } else { self.leading };
            let offset = line % 8 * self.row + line / 8 * self.stride + inner / per_piece * between;
            (offset, inner % per_piece)
        } else {
            let per_row = self.row / PIECE * per_piece;
            let (to_line, to_inner) =
                if swizzled { (self.leading, self.stride) } else { (self.stride, self.leading) };
            let offset = line % per_row / per_piece * PIECE
                + line / per_row * to_line
                + inner % 8 * self.row
                + inner / 8 * to_inner;
            (offset, line % per_piece)
        };
        let address = self.address + offset;
        (address ^ (address >> 3 & (self.row - PIECE)), element)
    }

    /// Returns `lines` lines of `count` elements, beginning at line `first`.
    fn read(
        self,
        shared: &[u8],
        (first, lines): (u64, u64),
        count: usize,
        of: Factor,
    ) -> Result<Vec<f64>, String> {
        let bits = u64::from(of.bits());
        let per_piece = 8 * PIECE / bits;
        let mut values = Vec::with_capacity(lines as usize * count);
        for (line, inner) in (first..first + lines).flat_map(|line| (0..count as u64).map(move |k| (line, k)))
        {
            let (address, element) = self.place(line, inner, per_piece);
            let piece = shared.get(address as usize..).and_then(|bytes| bytes.first_chunk::<16>());
            let piece = piece.ok_or_else(|| {
                let size = shared.len();
                format!("reads a factor at {address:#x} of the shared memory, which has {size} bytes")
            })?;
            let word = u128::from_le_bytes(*piece) >> (element * bits);
            values.push(of.element(u64::from(word as u32), 0));
        }
        Ok(values)
    }
}

impl Warp {
    /// Multiplies a warp's rows of the first factor by the second, and adds the sums of registers, with the rounding of `mma`.
    /// Factors are read when the instruction issues, and sums are written then.
    ///
    /// # Errors
    /// A [`Fault`] if lanes are missing, or if a factor is outside of shared memory.
    pub(crate) fn multiply_in_group(
        &mut self,
        kernel: &Kernel,
        env: &mut Env,
        instr: &Instr,
        form: WarpGroupForm,
        mask: u32,
    ) -> Result<(), Box<Fault>> {
        let lane = mask.trailing_zeros();
        if mask != u32::MAX {
            let what = format!("needs all 32 lanes of the warp, got {}", mask.count_ones());
            return Err(self.fault(kernel, env.launch, lane, 0, what));
        }
        let (part, list) = (form.part(), &kernel.operand_lists[instr.target as usize]);
        let k = part.k();
        let (sums, rest) = list.split_at(form.sums());
        let (first, rest) = rest.split_at(if form.shared_a { 1 } else { part.registers()[1] });
        let descriptor = |register: u16| self.double(kernel, register)[0];
        let fail = |what: String| self.fault(kernel, env.launch, lane, 0, what);
        let mut a = if form.shared_a {
            let factor = SharedFactor::new(descriptor(first[0]), form.a_by_line);
            let row = u64::from(self.warp_in_cta % WARPS) * ROWS as u64;
            factor.read(env.shared, (row, ROWS as u64), k, form.a).map_err(fail)?
        } else {
            let registers: Vec<[u64; 32]> = first.iter().map(|&r| self.bits(kernel, r, false)).collect();
            part.rows_of(&registers, mask)
        };
        let factor = SharedFactor::new(descriptor(rest[0]), form.b_by_line);
        let columns = u64::from(form.blocks) * COLUMNS as u64;
        let mut b = factor.read(env.shared, (0, columns), k, form.b).map_err(fail)?;
        for (values, negate) in [(&mut a, form.negate_a), (&mut b, form.negate_b)] {
            if negate {
                values.iter_mut().for_each(|value| *value = -*value);
            }
        }
        let adds = self.registers.predicates[usize::from(rest[1])];
        let per_block = part.registers()[0];
        for (block, registers) in sums.chunks_exact(per_block).enumerate() {
            let old: Vec<[u64; 32]> = registers.iter().map(|&r| self.bits(kernel, r, false)).collect();
            let mut new = vec![[0; 32]; per_block];
            for (lane, half, column) in lanes(mask).flat_map(|lane| (0..4).map(move |i| (lane, i / 2, i % 2)))
            {
                let (row, line) = (lane / 4 + 8 * half, COLUMNS * block + lane % 4 * 2 + column);
                let pairs = a[row * k..][..k].iter().zip(&b[line * k..][..k]);
                let products = pairs.map(|(a, b)| a * b).sum();
                let (register, shift) = match form.to {
                    Sum::Half => (half, 16 * column),
                    _ => (2 * half + column, 0),
                };
                let addend = match adds >> lane & 1 {
                    0 => 0.0,
                    _ => addend_value(form.to, old[register][lane] >> shift),
                };
                new[register][lane] |= sum_bits(part, products, addend) << shift;
            }
            for (&register, values) in registers.iter().zip(&new) {
                self.set_bits(register, 32, values, mask);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a descriptor of a factor at address 0x1000.
    fn descriptor(swizzle: u64, leading: u64, stride: u64) -> u64 {
        0x1000 >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62
    }

    #[test]
    fn the_places_of_a_factor_by_lines_are_those_of_its_core_matrices() {
        // 16-bit elements: eight in 16 bytes. Each row names line, inner position and offset, computed by hand.
        let place = |swizzle, line, inner| {
            let factor = SharedFactor::new(descriptor(swizzle, 0x100, 0x800), true);
            let (address, element) = factor.place(line, inner, 8);
            (address - 0x1000, element)
        };
        assert_eq!(place(0, 3, 5), (48, 5));
        assert_eq!(place(0, 9, 8), (0x800 + 0x100 + 16, 0));
        // Rows of 128 bytes: row 3 exchanges pieces 0 and 3, 1 and 2.
        assert_eq!((place(1, 3, 5), place(1, 3, 15)), ((3 * 128 + 48, 5), (3 * 128 + 32, 7)));
        // Rows of 64 bytes: the swizzle of row 6 is 6 / 2.
        assert_eq!(place(2, 6, 0), (6 * 64 + 48, 0));
        // Rows of 32 bytes: the swizzle of row 5 is 5 / 4.
        assert_eq!((place(3, 5, 0), place(3, 12, 9)), ((5 * 32 + 16, 0), (0x800 + 4 * 32, 1)));
    }

    #[test]
    fn the_places_of_a_factor_by_inner_positions_are_those_of_its_core_matrices() {
        let place = |swizzle, line, inner| {
            let factor = SharedFactor::new(descriptor(swizzle, 0x100, 0x800), false);
            let (address, element) = factor.place(line, inner, 8);
            (address - 0x1000, element)
        };
        assert_eq!(place(0, 10, 3), (0x800 + 48, 2));
        assert_eq!(place(0, 2, 9), (0x100 + 16, 2));
        // Rows of 128 bytes have 64 lines.
        assert_eq!(place(1, 70, 0), (0x100 + 32, 6));
        assert_eq!(place(1, 9, 11), (0x800 + 3 * 128 + (16 ^ 48), 1));
        assert_eq!(place(3, 17, 4), (0x100 + 4 * 32 + 16, 1));
    }
}
