//! RTL of a residue modulo a prime, without a divider. Two or three folds add chunks of the address, each weighted by the residue
//! of its position. A few subtractions complete the residue.
//!
//! ```text
//! value_i --> [fold: sum of chunk x residue] --> [fold] --> [>= 2p? -2p] --> [>= p? -p] --> residue_o
//! ```
//!
//! A chunk of C bits at position i represents chunk x 2^(C i), and 2^(C i) may be replaced by its residue modulo p. The residue
//! with the smallest magnitude is used. If it is negative, as for 2^4 = -1 modulo 17, the chunk is inverted, because -chunk =
//! ~chunk - (2^C - 1). The constants of all inverted chunks are collected in the initial value of the last fold's sum, which is the
//! narrowest. For a Mersenne prime 2^C - 1, all residues are 1: the fold is a plain sum of the chunks.

use selvedge_hw::rtl::prelude::*;

/// The signed weight of a chunk.
struct Weight {
    magnitude: u64,
    negative: bool,
}

/// Returns the residue of 2^`exponent` modulo `prime` with the smallest magnitude.
const fn weight(exponent: usize, prime: u64) -> Weight {
    let (mut residue, mut i) = (1 % prime, 0);
    while i < exponent {
        residue = residue * 2 % prime;
        i += 1;
    }
    let negative = residue > prime / 2;
    Weight { magnitude: if negative { prime - residue } else { residue }, negative }
}

/// A fold of values up to `most`, which have `width` bits, in chunks of `chunk` bits.
#[derive(Clone, Copy)]
struct FoldShape {
    prime: u64,
    chunk: usize,
    width: usize,
    most: u64,
}

impl FoldShape {
    const fn count(&self) -> usize {
        self.width.div_ceil(self.chunk)
    }

    /// Returns ones in the bits of chunk `i` that the value has.
    const fn ones(&self, i: usize) -> u64 {
        let left = self.width - i * self.chunk;
        (1 << if left < self.chunk { left } else { self.chunk }) - 1
    }

    const fn weight(&self, i: usize) -> Weight {
        weight(i * self.chunk, self.prime)
    }

    /// Returns the bits of chunk `i` that are inverted.
    const fn inverted(&self, i: usize) -> u64 {
        if self.weight(i).negative { self.ones(i) } else { 0 }
    }

    /// Returns by how much the inverted chunks make the sum too large, modulo the prime.
    const fn excess(&self) -> u64 {
        let (mut excess, mut i) = (0, 0);
        while i < self.count() {
            excess += self.inverted(i) * self.weight(i).magnitude;
            i += 1;
        }
        excess % self.prime
    }

    /// Returns the maximum sum.
    const fn largest_sum(&self) -> u64 {
        let (mut sum, mut i) = (0, 0);
        while i < self.count() {
            let left = self.most >> (i * self.chunk);
            let ones = self.ones(i);
            let largest = if self.weight(i).negative || left > ones { ones } else { left };
            sum += largest * self.weight(i).magnitude;
            i += 1;
        }
        sum
    }
}

/// Returns the initial sum of the last fold, which compensates for an excess.
const fn start(prime: u64, excess: u64) -> u64 {
    (prime - excess % prime) % prime
}

rtl_block! {
    /// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each times the residue of its
    /// position.
    ///
    /// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
    #[derive(LogicBlock)]
    pub struct Fold<const IN: usize, const CHUNK: usize, const COUNT: usize, const PADDED: usize, const OUT: usize> {
        /// value to fold
        pub value_i: Signal<In, U<IN>>,
        /// smaller number with the same residue
        pub sum_o: Signal<Out, U<OUT>>,
        /// initial value of the sum: in the last fold, it compensates for all inverted chunks
        start: Constant<U<OUT>>,
        /// all ones for an inverted chunk, whose residue is negative
        inverted: [Constant<U<CHUNK>>; COUNT],
        /// magnitude of the residue of each chunk's position
        factor: [Constant<U<OUT>>; COUNT],
        padded: Signal<Local, U<PADDED>>,
        chunk: Signal<Local, U<CHUNK>>,
        sum: Signal<Local, U<OUT>>,
    }
}

impl<const IN: usize, const CHUNK: usize, const COUNT: usize, const PADDED: usize, const OUT: usize>
    Fold<IN, CHUNK, COUNT, PADDED, OUT>
{
    /// Returns the fold modulo `prime` of values up to `most` that starts its sum with `start`, and its shape.
    fn new(prime: u64, most: u64, start: u64) -> (Self, FoldShape) {
        const { assert!(COUNT == IN.div_ceil(CHUNK) && PADDED == COUNT * CHUNK && PADDED <= 64) };
        let shape = FoldShape { prime, chunk: CHUNK, width: IN, most };
        let bound = shape.largest_sum() + start;
        assert!(bound <= U::<OUT>::MAX, "modulo {prime}, a fold to {OUT} bits would overflow: {bound}");
        let fold = Fold {
            _activity: Default::default(),
            value_i: Signal::default(),
            sum_o: Signal::default(),
            start: Constant::new(U::new(start)),
            inverted: std::array::from_fn(|i| Constant::new(U::new(shape.inverted(i)))),
            factor: std::array::from_fn(|i| Constant::new(U::new(shape.weight(i).magnitude))),
            padded: Signal::default(),
            chunk: Signal::default(),
            sum: Signal::default(),
        };
        (fold, shape)
    }
}

#[hdl_gen]
impl Logic for Fold {
    fn update(&mut self) {
        self.padded.next = bit_cast::<PADDED, IN>(self.value_i.val());
        drive!(self; sum: start, chunk: 0);
        for i in 0..COUNT {
            self.chunk.next = self.padded.val().get_bits::<CHUNK>(i * CHUNK) ^ self.inverted[i].val();
            self.sum.next = self.sum.val() + bit_cast::<OUT, CHUNK>(self.chunk.val()) * self.factor[i].val();
        }
        self.sum_o.next = self.sum.val();
    }
}

rtl_block! {
    /// The residue of a line address modulo a prime, without a clock: two or three folds, then conditional subtractions.
    ///
    /// CHUNK, COUNT, PADDED and SUM with 0, 1 and 2 belong to the first, second and last fold. If SUM0 is 32, the first fold is absent.
    /// STEPS conditional subtractions, the first of 2^(STEPS-1) times the prime, leave a value below the prime, which has BITS bits.
    #[derive(LogicBlock)]
    pub struct PrimeModulo<
        const CHUNK0: usize, const COUNT0: usize, const PADDED0: usize, const SUM0: usize,
        const CHUNK1: usize, const COUNT1: usize, const PADDED1: usize, const SUM1: usize,
        const CHUNK2: usize, const COUNT2: usize, const PADDED2: usize, const SUM2: usize,
        const STEPS: usize, const BITS: usize,
    > {
        /// the line address
        pub line_i: Signal<In, U<32>>,
        /// residue of the address
        pub residue_o: Signal<Out, U<BITS>>,
        fold0: Vec<Fold<32, CHUNK0, COUNT0, PADDED0, SUM0>>,
        fold1: Fold<SUM0, CHUNK1, COUNT1, PADDED1, SUM1>,
        fold2: Fold<SUM1, CHUNK2, COUNT2, PADDED2, SUM2>,
        /// multiples of the prime, largest first
        multiple: [Constant<U<SUM2>>; STEPS],
        folded: Signal<Local, U<SUM0>>,
        rest: Signal<Local, U<SUM2>>,
        _folds0: usize,
    }
}

impl<
    const CHUNK0: usize,
    const COUNT0: usize,
    const PADDED0: usize,
    const SUM0: usize,
    const CHUNK1: usize,
    const COUNT1: usize,
    const PADDED1: usize,
    const SUM1: usize,
    const CHUNK2: usize,
    const COUNT2: usize,
    const PADDED2: usize,
    const SUM2: usize,
    const STEPS: usize,
    const BITS: usize,
>
    PrimeModulo<
        CHUNK0,
        COUNT0,
        PADDED0,
        SUM0,
        CHUNK1,
        COUNT1,
        PADDED1,
        SUM1,
        CHUNK2,
        COUNT2,
        PADDED2,
        SUM2,
        STEPS,
        BITS,
    >
{
    /// Returns the RTL of the residue modulo `prime`.
    pub fn new(prime: u32) -> Self {
        let prime = u64::from(prime);
        let (mut fold0, mut excess, mut most) = (Vec::new(), 0, u64::from(u32::MAX));
        if SUM0 < 32 {
            let (fold, shape) = Fold::new(prime, most, 0);
            fold0.push(fold);
            (excess, most) = (shape.excess(), shape.largest_sum());
        }
        let (fold1, shape) = Fold::new(prime, most, 0);
        (excess, most) = (excess + shape.excess(), shape.largest_sum());
        let second = FoldShape { prime, chunk: CHUNK2, width: SUM1, most };
        let (fold2, _) = Fold::new(prime, most, start(prime, excess + second.excess()));
        let most = second.largest_sum() + start(prime, excess + second.excess());
        assert!(most < prime << STEPS, "modulo {prime}, {STEPS} subtractions leave {most} too large");
        assert!(prime <= U::<BITS>::MAX && prime << (STEPS - 1) <= U::<SUM2>::MAX, "{prime} is too wide");
        PrimeModulo {
            _activity: Default::default(),
            line_i: Signal::default(),
            residue_o: Signal::default(),
            _folds0: fold0.len(),
            fold0,
            fold1,
            fold2,
            multiple: std::array::from_fn(|i| Constant::new(U::new(prime << (STEPS - 1 - i)))),
            folded: Signal::default(),
            rest: Signal::default(),
        }
    }
}

#[hdl_gen]
impl Logic for PrimeModulo {
    fn update(&mut self) {
        self.folded.next = bit_cast::<SUM0, 32>(self.line_i.val());
        for i in 0..self._folds0 {
            self.fold0[i].value_i.next = self.line_i.val();
            self.folded.next = self.fold0[i].sum_o.val();
        }
        drive!(self; fold1.value_i: folded, fold2.value_i: fold1.sum_o, rest: fold2.sum_o);
        for i in 0..STEPS {
            if self.rest.val() >= self.multiple[i].val() {
                self.rest.next = self.rest.val() - self.multiple[i].val();
            }
        }
        self.residue_o.next = bit_cast::<BITS, SUM2>(self.rest.val());
    }
}

/// The generics of a [`PrimeModulo`].
pub(super) struct Widths {
    pub chunk0: usize,
    pub count0: usize,
    pub padded0: usize,
    pub sum0: usize,
    pub chunk1: usize,
    pub count1: usize,
    pub padded1: usize,
    pub sum1: usize,
    pub chunk2: usize,
    pub count2: usize,
    pub padded2: usize,
    pub sum2: usize,
    pub steps: usize,
    pub bits: usize,
}

impl Widths {
    /// Returns the widths for a prime. The chunks minimize first the subtractions, then the additions. A first chunk of 32 bits
    /// means two folds.
    pub const fn of(prime: u32) -> Self {
        let (chunk0, chunk1, chunk2) = match prime {
            13 => (32, 6, 2),
            17 => (32, 4, 4),
            31 => (32, 5, 5),
            37 => (18, 10, 5),
            61 | 67 => (32, 6, 6),
            127 | 131 => (32, 7, 7),
            8191 => (32, 13, 13),
            _ => panic!("no chunks are chosen for this prime"),
        };
        let prime = prime as u64;
        let zeroth = FoldShape { prime, chunk: chunk0, width: 32, most: u32::MAX as u64 };
        let sum0 = width_of(zeroth.largest_sum() as usize);
        let first = FoldShape { prime, chunk: chunk1, width: sum0, most: zeroth.largest_sum() };
        let sum1 = width_of(first.largest_sum() as usize);
        let second = FoldShape { prime, chunk: chunk2, width: sum1, most: first.largest_sum() };
        let excess = zeroth.excess() + first.excess() + second.excess();
        let most = second.largest_sum() + start(prime, excess);
        Widths {
            chunk0,
            count0: zeroth.count(),
            padded0: chunk0 * zeroth.count(),
            sum0,
            chunk1,
            count1: first.count(),
            padded1: chunk1 * first.count(),
            sum1,
            chunk2,
            count2: second.count(),
            padded2: chunk2 * second.count(),
            sum2: width_of(most as usize),
            steps: width_of((most / prime) as usize),
            bits: width_of(prime as usize),
        }
    }
}

/// Declares the top of a block whose index is the residue modulo a prime, reduced to K bits.
macro_rules! prime_top {
    (
        $(#[doc = $doc:literal])+
        $top:ident, $input:ident => $output:ident, new($bound:ident: $params:ty) for $prime:expr
    ) => {
        set_index_top! {
            $(#[doc = $doc])+
            $top<CHUNK0, COUNT0, PADDED0, SUM0, CHUNK1, COUNT1, PADDED1, SUM1, CHUNK2, COUNT2, PADDED2, SUM2, STEPS, BITS, K>, K, $input => $output,
            new($bound: $params) {
                modulo: Gate<PrimeModulo<
                    CHUNK0, COUNT0, PADDED0, SUM0,
                    CHUNK1, COUNT1, PADDED1, SUM1, CHUNK2, COUNT2, PADDED2, SUM2, STEPS, BITS,
                >> = Gate::new(PrimeModulo::new($prime)),
            }
        }

        #[hdl_gen]
        impl Logic for $top {
            fn update(&mut self) {
                dff_setup!(self, clk_i, valid, index);
                drive!(self; modulo.line_i: line_i, valid.d: valid_i);
                if self.valid_i.val() {
                    self.index.d.next = bit_cast::<K, BITS>(self.modulo.residue_o.val());
                }
                drive!(self; valid_o: valid.q, index_o: index.q);
            }
        }
    };
}
pub(super) use prime_top;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Settles a modulo for each line in sequence. Returns the residues.
    macro_rules! residues {
        ($prime:tt, $lines:expr) => {{
            const W: Widths = Widths::of($prime);
            let mut modulo = PrimeModulo::<
                { W.chunk0 },
                { W.count0 },
                { W.padded0 },
                { W.sum0 },
                { W.chunk1 },
                { W.count1 },
                { W.padded1 },
                { W.sum1 },
                { W.chunk2 },
                { W.count2 },
                { W.padded2 },
                { W.sum2 },
                { W.steps },
                { W.bits },
            >::new($prime);
            modulo.connect_all();
            for line in $lines {
                let line: u32 = line;
                modulo.line_i.next = U::new(u64::from(line));
                settle(&mut modulo).unwrap();
                assert_eq!(
                    modulo.residue_o.val().to_u64(),
                    u64::from(line % $prime),
                    "{line} modulo {}",
                    $prime
                );
            }
        }};
    }

    macro_rules! all_residues {
        ($lines:expr) => {
            residues!(13, $lines);
            residues!(17, $lines);
            residues!(31, $lines);
            residues!(37, $lines);
            residues!(61, $lines);
            residues!(67, $lines);
            residues!(127, $lines);
            residues!(131, $lines);
            residues!(8191, $lines);
        };
    }

    #[test]
    fn every_value_of_every_halfword_has_the_residue_of_the_remainder() {
        all_residues!((0..=u32::from(u16::MAX)).flat_map(|half| [
            half,
            half << 16,
            !half,
            (half << 16) | 0xffff
        ]));
    }

    proptest! {
        #[test]
        fn any_line_has_the_residue_of_the_remainder(lines in prop::collection::vec(any::<u32>(), 100)) {
            all_residues!(lines.iter().copied());
        }

        #[test]
        fn lines_around_multiples_have_it_too(at in any::<u32>(), prime in prop::sample::select(vec![13u32, 31, 61, 8191])) {
            let multiple = at / prime * prime;
            all_residues!((0..5u32).map(|i| multiple.wrapping_add(i).wrapping_sub(2)));
        }
    }
}
