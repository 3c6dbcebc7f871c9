//! The steps for segments of four words, whose data have 0, 16, 32, 64 or 128 bits.

use super::classify::prefix;
use crate::fpc::pattern::Pattern;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Gathers the data of each segment: its four words' data without gaps, from the segment's first bit on.
    ///
    /// The data of a word are at one of four positions, so no shifter is needed.
    #[require(GROUPS * 128 == LINE && PRE == 3 * GROUPS)]
    pub struct FpcGather<
        const LINE: usize, const LW: usize, const GROUPS: usize, const PRE: usize, const PREW: usize,
    > {
        /// the line
        pub line_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// the data of each segment in 128 bits, zero above the data
        pub strings_o: Signal<Out, W<LINE, LW>>,
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        pattern: Signal<Local, U<3>>,
        word: Signal<Local, U<32>>,
        half: Signal<Local, U<16>>,
        fours: Signal<Local, U<16>>,
        bytes: Signal<Local, U<32>>,
        halves: Signal<Local, U<64>>,
        low: Signal<Local, U<64>>,
        high: Signal<Local, U<64>>,
        strings: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcGather {
    fn update(&mut self) {
        drive!(self; pattern: 0, word: 0, half: 0, fours: 0, bytes: 0, halves: 0, low: 0, high: 0,
            strings: 0);
        for g in 0..GROUPS {
            self.pattern.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            comment!("data of the words with 4, 8 and 16 bits");
            for w in 0..4 {
                self.word.next = self.line_i.val().get_bits::<32>(g * 128 + w * 32);
                self.fours.next[w * 4..] = self.word.val().get_bits::<4>(0);
                self.bytes.next[w * 8..] = self.word.val().get_bits::<8>(0);
                self.half.next = 0.into();
                if self.pattern.val() == self.sign16.val() {
                    self.half.next = self.word.val().get_bits::<16>(0);
                }
                if self.pattern.val() == self.upper16.val() {
                    self.half.next = self.half.val() | self.word.val().get_bits::<16>(16);
                }
                if self.pattern.val() == self.two_bytes.val() {
                    self.half.next = self.half.val() | bit_cast::<16, 8>(self.word.val().get_bits::<8>(0));
                    self.half.next[8..] = self.word.val().get_bits::<8>(16);
                }
                self.halves.next[w * 16..] = self.half.val();
            }
            comment!("select one of them, or the uncompressed words");
            drive!(self; low: halves, high: 0);
            if self.pattern.val() == self.sign4.val() {
                self.low.next = self.low.val() | bit_cast::<64, 16>(self.fours.val());
            }
            if (self.pattern.val() == self.sign8.val()) | (self.pattern.val() == self.repeated.val()) {
                self.low.next = self.low.val() | bit_cast::<64, 32>(self.bytes.val());
            }
            if self.pattern.val() == self.raw.val() {
                self.low.next = self.low.val() | self.line_i.val().get_bits::<64>(g * 128);
                self.high.next = self.line_i.val().get_bits::<64>(g * 128 + 64);
            }
            self.strings.next[g * 128..] = self.low.val();
            self.strings.next[g * 128 + 64..] = self.high.val();
        }
        self.strings_o.next = self.strings.val();
    }
}

rtl_block! {
    /// Counts the lanes of 16 bits that the data of the segments leave free, up to each segment.
    ///
    /// The data of a segment move by the lanes that all segments before it leave free. The count of all lanes wraps to 0.
    #[require(8 * GROUPS == 1 << BITS && 2 * PAIRS == GROUPS && PRE == 3 * GROUPS && ALL == BITS * GROUPS)]
    pub struct FpcFreeLanes<
        const GROUPS: usize, const PAIRS: usize, const BITS: usize, const ALL: usize, const PRE: usize, const PREW: usize,
    > {
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// for each segment, the free lanes up to its end, BITS bits each
        pub counts_o: Signal<Out, U<ALL>>,
        zeros: Constant<U<3>> = prefix(Pattern::Zeros),
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        prefix: Signal<Local, U<3>>,
        free: Signal<Local, U<BITS>>,
        /// lanes that each segment leaves free
        lanes: Signal<Local, U<ALL>>,
        left: Signal<Local, U<BITS>>,
        right: Signal<Local, U<BITS>>,
        /// free lanes of all pairs of segments so far
        sum: Signal<Local, U<BITS>>,
        counts: Signal<Local, U<ALL>>,
    }
}

#[hdl_gen]
impl Logic for FpcFreeLanes {
    fn update(&mut self) {
        drive!(self; prefix: 0, free: 0, lanes: 0, left: 0, right: 0, sum: 0, counts: 0);
        for g in 0..GROUPS {
            self.prefix.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            self.free.next = 4.into();
            if self.prefix.val() == self.zeros.val() {
                self.free.next = 8.into();
            } else if self.prefix.val() == self.sign4.val() {
                self.free.next = 7.into();
            } else if (self.prefix.val() == self.sign8.val()) | (self.prefix.val() == self.repeated.val()) {
                self.free.next = 6.into();
            } else if self.prefix.val() == self.raw.val() {
                self.free.next = 0.into();
            }
            self.lanes.next[g * BITS..] = self.free.val();
        }
        comment!("add within all pairs in parallel, then accumulate from pair to pair");
        for p in 0..PAIRS {
            self.left.next = self.lanes.val().get_bits::<BITS>(p * 2 * BITS);
            self.right.next = self.lanes.val().get_bits::<BITS>(p * 2 * BITS + BITS);
            self.counts.next[p * 2 * BITS..] = self.sum.val() + self.left.val();
            self.sum.next = self.sum.val() + (self.left.val() + self.right.val());
            self.counts.next[p * 2 * BITS + BITS..] = self.sum.val();
        }
        self.counts_o.next = self.counts.val();
    }
}

rtl_block! {
    /// Moves the data of each segment down by its distance, so that no lanes between the segments are free.
    ///
    /// A segment never passes the one before it, so all move through one row of lanes. Before a move, a lane belongs to the last
    /// segment that has come down to it by the shorter moves. Lines of fewer than G16 or G32 segments need no move by 16 or 32
    /// lanes.
    #[require(128 * GROUPS == LINE && 8 * GROUPS == 1 << BITS && DISTANCES == BITS * GROUPS - BITS && ALL == 2 * BITS * GROUPS)]
    pub struct FpcClose<
        const LINE: usize, const LW: usize, const GROUPS: usize, const G16: usize, const G32: usize, const BITS: usize,
        const DISTANCES: usize, const ALL: usize, const AW: usize,
    > {
        /// the data of each segment from its first lane on
        pub lanes_i: Signal<In, W<LINE, LW>>,
        /// distance of each segment except the first
        pub distances_i: Signal<In, U<DISTANCES>>,
        /// the data of all segments from bit 0 up
        pub lanes_o: Signal<Out, W<LINE, LW>>,
        /// distances of all segments; behind the last one, its distance repeats
        distances: Signal<Local, W<ALL, AW>>,
        last: Signal<Local, U<BITS>>,
        lanes: Signal<Local, W<LINE, LW>>,
        upper: Signal<Local, W<LINE, LW>>,
        moves: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for FpcClose {
    fn update(&mut self) {
        drive!(self; distances: 0, lanes: lanes_i, upper: 0, moves: false);
        self.distances.next[BITS..] = self.distances_i.val();
        self.last.next = self.distances_i.val().get_bits::<BITS>(DISTANCES - BITS);
        for g in GROUPS..2 * GROUPS {
            self.distances.next[g * BITS..] = self.last.val();
        }
        comment!("by 1 lane: to the last lane of a segment, the first one of the next segment");
        self.upper.next = self.lanes.val() >> 16;
        for g in 0..GROUPS {
            self.moves.next = self.distances.val().get_bit(g * BITS);
            for r in 0..7 {
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
            if self.distances.val().get_bit((g + 1) * BITS) {
                self.lanes.next[g * 128 + 112..] = self.upper.val().get_bits::<16>(g * 128 + 112);
            }
        }
        comment!("by 2 lanes");
        self.upper.next = self.lanes.val() >> 32;
        for g in 0..GROUPS {
            self.moves.next = self.distances.val().get_bit(g * BITS + 1);
            for r in 0..5 {
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
            if self.distances.val().get_bit((g + 1) * BITS) {
                self.moves.next = self.distances.val().get_bit((g + 1) * BITS + 1);
            }
            if self.moves.val() {
                self.lanes.next[g * 128 + 80..] = self.upper.val().get_bits::<16>(g * 128 + 80);
            }
            if self.distances.val().get_bit((g + 1) * BITS + 1) {
                self.lanes.next[g * 128 + 96..] = self.upper.val().get_bits::<32>(g * 128 + 96);
            }
        }
        comment!("by 4 lanes");
        self.upper.next = self.lanes.val() >> 64;
        for g in 0..GROUPS {
            for r in 0..4 {
                self.moves.next = self.distances.val().get_bit(g * BITS + 2);
                if bit_cast::<3, 2>(self.distances.val().get_bits::<2>((g + 1) * BITS))
                    >= (4 - r).to_bits::<3>()
                {
                    self.moves.next = self.distances.val().get_bit((g + 1) * BITS + 2);
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
            if self.distances.val().get_bit((g + 1) * BITS + 2) {
                self.lanes.next[g * 128 + 64..] = self.upper.val().get_bits::<64>(g * 128 + 64);
            }
        }
        comment!("by 8 lanes");
        self.upper.next = self.lanes.val() >> 128;
        for g in 0..GROUPS {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit((g + 1) * BITS + 3);
                if bit_cast::<4, 3>(self.distances.val().get_bits::<3>((g + 2) * BITS))
                    >= (8 - r).to_bits::<4>()
                {
                    self.moves.next = self.distances.val().get_bit((g + 2) * BITS + 3);
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        comment!("by 16 lanes");
        self.upper.next = self.lanes.val() >> 256;
        for g in 0..G16 {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit((g + 2) * BITS + 4);
                for a in 1..3 {
                    if bit_cast::<5, 4>(self.distances.val().get_bits::<4>((g + 2 + a) * BITS))
                        >= (a * 8 - r).to_bits::<5>()
                    {
                        self.moves.next = self.distances.val().get_bit((g + 2 + a) * BITS + 4);
                    }
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        comment!("by 32 lanes");
        self.upper.next = self.lanes.val() >> 512;
        for g in 0..G32 {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit((g + 4) * BITS + 5);
                for a in 1..5 {
                    if bit_cast::<6, 5>(self.distances.val().get_bits::<5>((g + 4 + a) * BITS))
                        >= (a * 8 - r).to_bits::<6>()
                    {
                        self.moves.next = self.distances.val().get_bit((g + 4 + a) * BITS + 5);
                    }
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.upper.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        self.lanes_o.next = self.lanes.val();
    }
}

rtl_block! {
    /// Moves the data of each segment up by 32, 16 and 8 lanes, as its distance says.
    ///
    /// A segment never passes the next one, so all move through one row of lanes. Before the shorter moves, a lane belongs
    /// to the last segment whose data begin there or below.
    #[require(128 * GROUPS == LINE && DISTANCES == BITS * GROUPS - BITS && ALL == BITS * GROUPS + 4 * BITS)]
    pub struct FpcFar<
        const LINE: usize, const LW: usize, const GROUPS: usize, const BITS: usize, const DISTANCES: usize,
        const ALL: usize, const AW: usize,
    > {
        /// the data of all segments from bit 0 up
        pub lanes_i: Signal<In, W<LINE, LW>>,
        /// distance of each segment except the first
        pub distances_i: Signal<In, U<DISTANCES>>,
        /// the data of each segment, less than eight lanes below their place
        pub lanes_o: Signal<Out, W<LINE, LW>>,
        /// distances of all segments, and of four more that do not exist
        distances: Signal<Local, W<ALL, AW>>,
        lanes: Signal<Local, W<LINE, LW>>,
        lower: Signal<Local, W<LINE, LW>>,
        moves: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for FpcFar {
    fn update(&mut self) {
        drive!(self; distances: 0, lanes: lanes_i, lower: 0, moves: false);
        self.distances.next[BITS..] = self.distances_i.val();
        comment!("by 32 lanes");
        self.lower.next = self.lanes.val() << 512;
        for g in 4..GROUPS {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit(g * BITS + 5);
                for a in 1..5 {
                    if bit_cast::<6, 5>(self.distances.val().get_bits::<5>((g + a) * BITS))
                        >= (a * 8 - r).to_bits::<6>()
                    {
                        self.moves.next = self.distances.val().get_bit((g + a) * BITS + 5);
                    }
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.lower.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        comment!("by 16 lanes");
        self.lower.next = self.lanes.val() << 256;
        for g in 2..GROUPS {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit(g * BITS + 4);
                for a in 1..3 {
                    if bit_cast::<5, 4>(self.distances.val().get_bits::<4>((g + a) * BITS))
                        >= (a * 8 - r).to_bits::<5>()
                    {
                        self.moves.next = self.distances.val().get_bit((g + a) * BITS + 4);
                    }
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.lower.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        comment!("by 8 lanes");
        self.lower.next = self.lanes.val() << 128;
        for g in 1..GROUPS {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit(g * BITS + 3);
                if bit_cast::<4, 3>(self.distances.val().get_bits::<3>((g + 1) * BITS))
                    >= (8 - r).to_bits::<4>()
                {
                    self.moves.next = self.distances.val().get_bit((g + 1) * BITS + 3);
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.lower.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        self.lanes_o.next = self.lanes.val();
    }
}

rtl_block! {
    /// Moves the data of each segment up by 4, 2 and 1 lanes, as the lower bits of its distance say.
    #[require(128 * GROUPS == LINE && NEARS == 3 * GROUPS - 3 && ALL == 3 * GROUPS + 3)]
    pub struct FpcNear<
        const LINE: usize, const LW: usize, const GROUPS: usize, const NEARS: usize, const ALL: usize,
    > {
        /// the data of each segment, less than eight lanes below their place
        pub lanes_i: Signal<In, W<LINE, LW>>,
        /// distance modulo eight of each segment except the first
        pub distances_i: Signal<In, U<NEARS>>,
        /// strings of 128 bits, each beginning with the data of its segment
        pub strings_o: Signal<Out, W<LINE, LW>>,
        /// distances of all segments, and of one more that does not exist
        distances: Signal<Local, U<ALL>>,
        lanes: Signal<Local, W<LINE, LW>>,
        lower: Signal<Local, W<LINE, LW>>,
        moves: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for FpcNear {
    fn update(&mut self) {
        drive!(self; distances: 0, lanes: lanes_i, lower: 0, moves: false);
        self.distances.next[3..] = self.distances_i.val();
        comment!("by 4 lanes");
        self.lower.next = self.lanes.val() << 64;
        for g in 0..GROUPS {
            for r in 0..8 {
                self.moves.next = self.distances.val().get_bit(g * 3 + 2);
                if bit_cast::<4, 2>(self.distances.val().get_bits::<2>(g * 3 + 3)) >= (8 - r).to_bits::<4>() {
                    self.moves.next = self.distances.val().get_bit(g * 3 + 5);
                }
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.lower.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
        }
        comment!("by 2 lanes: in the last lane, the data of the next segment if they move one lane more");
        self.lower.next = self.lanes.val() << 32;
        for g in 0..GROUPS {
            self.moves.next = self.distances.val().get_bit(g * 3 + 1);
            for r in 0..7 {
                if self.moves.val() {
                    self.lanes.next[g * 128 + r * 16..] = self.lower.val().get_bits::<16>(g * 128 + r * 16);
                }
            }
            if self.distances.val().get_bit(g * 3 + 3) {
                self.moves.next = self.distances.val().get_bit(g * 3 + 4);
            }
            if self.moves.val() {
                self.lanes.next[g * 128 + 112..] = self.lower.val().get_bits::<16>(g * 128 + 112);
            }
        }
        comment!("by 1 lane");
        self.lower.next = self.lanes.val() << 16;
        for g in 0..GROUPS {
            if self.distances.val().get_bit(g * 3) {
                self.lanes.next[g * 128..] = self.lower.val().get_bits::<64>(g * 128);
                self.lanes.next[g * 128 + 64..] = self.lower.val().get_bits::<64>(g * 128 + 64);
            }
        }
        self.strings_o.next = self.lanes.val();
    }
}

rtl_block! {
    /// Rebuilds the words of each segment from its data.
    #[require(GROUPS * 128 == LINE && PRE == 3 * GROUPS)]
    pub struct FpcRebuild<
        const LINE: usize, const LW: usize, const GROUPS: usize, const PRE: usize, const PREW: usize,
    > {
        /// strings of 128 bits, each beginning with the data of its segment
        pub strings_i: Signal<In, W<LINE, LW>>,
        /// a prefix for each segment
        pub prefixes_i: Signal<In, W<PRE, PREW>>,
        /// the line
        pub line_o: Signal<Out, W<LINE, LW>>,
        sign4: Constant<U<3>> = prefix(Pattern::Sign4),
        sign8: Constant<U<3>> = prefix(Pattern::Sign8),
        sign16: Constant<U<3>> = prefix(Pattern::Sign16),
        upper16: Constant<U<3>> = prefix(Pattern::Upper16),
        two_bytes: Constant<U<3>> = prefix(Pattern::TwoBytes),
        repeated: Constant<U<3>> = prefix(Pattern::Repeated),
        raw: Constant<U<3>> = prefix(Pattern::Raw),
        ones4: Constant<U<4>> = Constant::new(U::new(0xf)),
        ones8: Constant<U<8>> = Constant::new(U::new(0xff)),
        pattern: Signal<Local, U<3>>,
        four: Signal<Local, U<4>>,
        kept_byte: Signal<Local, U<8>>,
        half: Signal<Local, U<16>>,
        /// bits 4 to 7, 8 to 15, 16 to 23 and 24 to 31 are ones
        above4: Signal<Local, Bit>,
        above8: Signal<Local, Bit>,
        above16: Signal<Local, Bit>,
        above24: Signal<Local, Bit>,
        word: Signal<Local, U<32>>,
        line: Signal<Local, W<LINE, LW>>,
    }
}

#[hdl_gen]
impl Logic for FpcRebuild {
    fn update(&mut self) {
        drive!(self; pattern: 0, four: 0, kept_byte: 0, half: 0, above4: false, above8: false, above16: false,
            above24: false, word: 0, line: 0);
        for g in 0..GROUPS {
            self.pattern.next = self.prefixes_i.val().get_bits::<3>(g * 3);
            for w in 0..4 {
                comment!("data of the word with 4, 8 and 16 bits");
                self.four.next = self.strings_i.val().get_bits::<4>(g * 128 + w * 4);
                self.kept_byte.next = self.strings_i.val().get_bits::<8>(g * 128 + w * 8);
                self.half.next = self.strings_i.val().get_bits::<16>(g * 128 + w * 16);
                comment!("ranges of bits that sign extension sets");
                self.above4.next = (self.pattern.val() == self.sign4.val()) & self.four.val().get_bit(3);
                self.above16.next = self.above4.val()
                    | ((self.pattern.val() == self.sign8.val()) & self.kept_byte.val().get_bit(7));
                self.above8.next = self.above16.val()
                    | ((self.pattern.val() == self.two_bytes.val()) & self.half.val().get_bit(7));
                self.above16.next = self.above16.val()
                    | ((self.pattern.val() == self.sign16.val()) & self.half.val().get_bit(15));
                self.above24.next = self.above16.val()
                    | ((self.pattern.val() == self.two_bytes.val()) & self.half.val().get_bit(15));
                self.word.next = 0.into();
                if self.above4.val() {
                    self.word.next[4..] = self.ones4.val();
                }
                if self.above8.val() {
                    self.word.next[8..] = self.ones8.val();
                }
                if self.above16.val() {
                    self.word.next[16..] = self.ones8.val();
                }
                if self.above24.val() {
                    self.word.next[24..] = self.ones8.val();
                }
                comment!("data bits of the word");
                if self.pattern.val() == self.sign4.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 4>(self.four.val());
                }
                if (self.pattern.val() == self.sign8.val()) | (self.pattern.val() == self.repeated.val()) {
                    self.word.next = self.word.val() | bit_cast::<32, 8>(self.kept_byte.val());
                }
                if self.pattern.val() == self.repeated.val() {
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 8);
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 16);
                    self.word.next = self.word.val() | (bit_cast::<32, 8>(self.kept_byte.val()) << 24);
                }
                if self.pattern.val() == self.sign16.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 16>(self.half.val());
                }
                if self.pattern.val() == self.upper16.val() {
                    self.word.next = self.word.val() | (bit_cast::<32, 16>(self.half.val()) << 16);
                }
                if self.pattern.val() == self.two_bytes.val() {
                    self.word.next = self.word.val() | bit_cast::<32, 8>(self.half.val().get_bits::<8>(0));
                    self.word.next =
                        self.word.val() | (bit_cast::<32, 8>(self.half.val().get_bits::<8>(8)) << 16);
                }
                if self.pattern.val() == self.raw.val() {
                    self.word.next = self.word.val() | self.strings_i.val().get_bits::<32>(g * 128 + w * 32);
                }
                self.line.next[g * 128 + w * 32..] = self.word.val();
            }
        }
        self.line_o.next = self.line.val();
    }
}
