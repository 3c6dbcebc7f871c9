//! RTL of a residue modulo a prime, without a divider. Two folds add chunks of the address, each weighted by the residue of its
//! position. A few subtractions complete the residue.
//!
//! ```text
//! value_i --> [fold: sum of chunk x residue] --> [fold] --> [>= 2p? -2p] --> [>= p? -p] --> residue_o
//! ```
//!
//! A chunk of C bits at position i represents chunk x 2^(C i), and 2^(C i) may be replaced by its residue modulo p. The residue
//! with the smallest magnitude is used. If it is negative, as for 2^4 = -1 modulo 17, the chunk is inverted, because -chunk =
//! ~chunk - (2^C - 1). The constants of all inverted chunks are collected in the initial value of the sum. For a Mersenne prime
//! 2^C - 1, all residues are 1: the fold is a plain sum of the chunks.

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

/// Returns a chunk of ones.
const fn ones(chunk: usize) -> u64 {
    (1 << chunk) - 1
}

/// Returns the initial value of the sum of `count` chunks of `chunk` bits, which compensates for the inverted chunks.
const fn start(prime: u64, chunk: usize, count: usize) -> u64 {
    let (mut negative, mut i) = (0, 0);
    while i < count {
        let weight = weight(i * chunk, prime);
        if weight.negative {
            negative += weight.magnitude * ones(chunk);
        }
        i += 1;
    }
    (prime - negative % prime) % prime
}

/// Returns the maximum sum of a fold of values up to `most`.
const fn largest_sum(prime: u64, chunk: usize, count: usize, most: u64) -> u64 {
    let (mut sum, mut i) = (start(prime, chunk, count), 0);
    while i < count {
        let weight = weight(i * chunk, prime);
        let left = most >> (i * chunk);
        let largest = if weight.negative || left > ones(chunk) { ones(chunk) } else { left };
        sum += largest * weight.magnitude;
        i += 1;
    }
    sum
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
        /// initial value of the sum, which compensates for the inverted chunks
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
    /// Returns the fold modulo `prime` of values up to `most`, and its maximum sum.
    fn new(prime: u64, most: u64) -> (Self, u64) {
        const { assert!(COUNT == IN.div_ceil(CHUNK) && PADDED == COUNT * CHUNK && PADDED <= 64) };
        let bound = largest_sum(prime, CHUNK, COUNT, most);
        assert!(bound <= U::<OUT>::MAX, "modulo {prime}, a fold to {OUT} bits would overflow: {bound}");
        let fold = Fold {
            _activity: Default::default(),
            value_i: Signal::default(),
            sum_o: Signal::default(),
            start: Constant::new(U::new(start(prime, CHUNK, COUNT))),
            inverted: std::array::from_fn(|i| {
                let negative = weight(i * CHUNK, prime).negative;
                Constant::new(U::new(if negative { ones(CHUNK) } else { 0 }))
            }),
            factor: std::array::from_fn(|i| Constant::new(U::new(weight(i * CHUNK, prime).magnitude))),
            padded: Signal::default(),
            chunk: Signal::default(),
            sum: Signal::default(),
        };
        (fold, bound)
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
    /// The residue of a line address modulo a prime, without a clock: two folds, then conditional subtractions.
    ///
    /// CHUNK1, COUNT1, PADDED1 and SUM1 belong to the first fold; CHUNK2, COUNT2, PADDED2 and SUM2 to the second. STEPS
    /// conditional subtractions, the first of 2^(STEPS-1) times the prime, leave a value below the prime, which has BITS bits.
    #[derive(LogicBlock)]
    pub struct PrimeModulo<
        const CHUNK1: usize, const COUNT1: usize, const PADDED1: usize, const SUM1: usize,
        const CHUNK2: usize, const COUNT2: usize, const PADDED2: usize, const SUM2: usize,
        const STEPS: usize, const BITS: usize,
    > {
        /// the line address
        pub line_i: Signal<In, U<32>>,
        /// residue of the address
        pub residue_o: Signal<Out, U<BITS>>,
        fold1: Fold<32, CHUNK1, COUNT1, PADDED1, SUM1>,
        fold2: Fold<SUM1, CHUNK2, COUNT2, PADDED2, SUM2>,
        /// multiples of the prime, largest first
        multiple: [Constant<U<SUM2>>; STEPS],
        rest: Signal<Local, U<SUM2>>,
    }
}

impl<
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
> PrimeModulo<CHUNK1, COUNT1, PADDED1, SUM1, CHUNK2, COUNT2, PADDED2, SUM2, STEPS, BITS>
{
    /// Returns the RTL of the residue modulo `prime`.
    pub fn new(prime: u32) -> Self {
        let prime = u64::from(prime);
        let (fold1, most) = Fold::new(prime, u64::from(u32::MAX));
        let (fold2, most) = Fold::new(prime, most);
        assert!(most < prime << STEPS, "modulo {prime}, {STEPS} subtractions leave {most} too large");
        assert!(prime <= U::<BITS>::MAX && prime << (STEPS - 1) <= U::<SUM2>::MAX, "{prime} is too wide");
        PrimeModulo {
            _activity: Default::default(),
            line_i: Signal::default(),
            residue_o: Signal::default(),
            fold1,
            fold2,
            multiple: std::array::from_fn(|i| Constant::new(U::new(prime << (STEPS - 1 - i)))),
            rest: Signal::default(),
        }
    }
}

#[hdl_gen]
impl Logic for PrimeModulo {
    fn update(&mut self) {
        drive!(self; fold1.value_i: line_i, fold2.value_i: fold1.sum_o, rest: fold2.sum_o);
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
    /// Returns the widths for a prime. The chunks minimize first the subtractions, then the additions.
    pub const fn of(prime: u32) -> Self {
        let (chunk1, chunk2) = match prime {
            13 => (6, 2),
            17 => (4, 4),
            31 => (5, 5),
            37 => (4, 2),
            61 | 67 => (6, 6),
            127 | 131 => (7, 7),
            8191 => (13, 13),
            _ => panic!("no chunks are chosen for this prime"),
        };
        let count1 = 32usize.div_ceil(chunk1);
        let most1 = largest_sum(prime as u64, chunk1, count1, u32::MAX as u64);
        let sum1 = width_of(most1 as usize);
        let count2 = sum1.div_ceil(chunk2);
        let most2 = largest_sum(prime as u64, chunk2, count2, most1);
        Widths {
            chunk1,
            count1,
            padded1: chunk1 * count1,
            sum1,
            chunk2,
            count2,
            padded2: chunk2 * count2,
            sum2: width_of(most2 as usize),
            steps: width_of((most2 / prime as u64) as usize),
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
            $top<CHUNK1, COUNT1, PADDED1, SUM1, CHUNK2, COUNT2, PADDED2, SUM2, STEPS, BITS, K>, K, $input => $output,
            new($bound: $params) {
                modulo: Gate<PrimeModulo<
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
