//! The routines of look-ups and stores, for each shape of a region.
use crate::assembly::assemble;
use crate::routine::{Routine, Routines};

/// The numbers of input and result words of a region. Each shape has its own events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionShape {
    pub(super) inputs: usize,
    pub(super) results: usize,
}

/// The shapes of regions that fit into an entry.
pub(super) const SHAPES: [RegionShape; 3] = [
    RegionShape { inputs: 1, results: 1 },
    RegionShape { inputs: 1, results: 2 },
    RegionShape { inputs: 2, results: 1 },
];

impl RegionShape {
    /// Returns the shape of a region, if it fits into an entry.
    pub(super) fn of(inputs: usize, results: usize) -> Option<RegionShape> {
        SHAPES.into_iter().find(|shape| (shape.inputs, shape.results) == (inputs, results))
    }

    fn number(self) -> u8 {
        SHAPES.iter().position(|shape| *shape == self).unwrap_or(0) as u8
    }

    /// Returns the event of a look-up.
    pub(super) fn lookup_event(self) -> u8 {
        2 * self.number()
    }

    /// Returns the event of a store of results.
    pub(super) fn store_event(self) -> u8 {
        2 * self.number() + 1
    }

    /// Returns code that computes into r4 a hash of the inputs from register `first` on: products with the golden ratio,
    /// which goes into `golden`. Its highest bits are the number of the first entry. A further product with `golden` gives
    /// the second entry.
    fn hash(self, first: usize, golden: &str) -> String {
        let more: String = (1..self.inputs)
            .map(|input| format!("add r4, r4, r{}\nmul r4, r4, {golden}\n", first + input))
            .collect();
        format!("lih {golden}, 0x9e37\nlih {golden}, 0x79b1\nmul r4, r{first}, {golden}\n{more}")
    }

    /// Returns code that reads `count` words of the parent, from word `from` on, into the registers from `to` on.
    fn moves(count: usize, from: usize, to: usize) -> String {
        (0..count).map(|word| format!("par r{}, {}\n", to + word, from + word)).collect()
    }

    /// Returns code that loads the entry of the hash in r4 into r8 to r11. It sets `found` in the lanes in which tag and
    /// inputs are equal, and copies the results into r13 and r14 there.
    fn compare(self, found: &str) -> String {
        let RegionShape { inputs, results } = self;
        let same: String =
            (0..inputs).map(|n| format!("eqand.4 {found}, r{}, r{}, {found}\n", 9 + n, 5 + n)).collect();
        let taken: String =
            (0..results).map(|n| format!("@{found} mov r{}, r{}\n", 13 + n, 9 + inputs + n)).collect();
        format!("par r7, 1\nshrv r7, r4, r7\nldv r8, r7\npar r7, 0\neq.4 {found}, r8, r7\n{same}{taken}")
    }

    /// Returns the look-up routine. It succeeds if in every running lane one of the two entries matches. p2 keeps the
    /// matching lanes.
    pub(super) fn lookup(self) -> Routine {
        let RegionShape { inputs, results } = self;
        let given: String = (0..results).map(|n| format!("@p3 give r{}, {n}\n", 13 + n)).collect();
        let code = [
            Self::moves(inputs, 2, 5),
            self.hash(5, "r12"),
            self.compare("p1"),
            "mul r4, r4, r12\n".into(),
            self.compare("p2"),
            "@p1 eq.4 p2, r4, r4\nall p3, p2\n".into(),
            given,
            "@p3 done 1, 0\n".into(),
        ];
        routine(&code.concat())
    }

    /// Returns code that sets `free` if the entry of the hash is empty, or if another warp has stored the same inputs there
    /// in the meantime. `place` gets the entry's number.
    fn is_free(self, place: &str, free: &str) -> String {
        let same: String =
            (0..self.inputs).map(|n| format!("eqand.4 {free}, r{}, r{}, {free}\n", 13 + n, 9 + n)).collect();
        format!(
            "shrv {place}, r4, r7\nldv r12, {place}\neq.4 {free}, r12, r8\n{same}@!{free} eqi {free}, r12, 0\n"
        )
    }

    /// Returns the store routine. The entry in r8 to r11 goes to the first of its two places that is free. If none is free, the
    /// places are replaced alternately.
    pub(super) fn store(self) -> Routine {
        let words = self.inputs + self.results;
        let code = [
            Self::moves(words, 2, 9),
            self.hash(9, "r5"),
            "par r8, 0\npar r7, 1\n".into(),
            self.is_free("r6", "p1"),
            "mul r4, r4, r5\n".into(),
            self.is_free("r7", "p2"),
            format!("par r4, {}\ntst p3, r4, 1\n@p2 eq.4 p3, r4, r4\n@p1 tst p3, r4, 0\n", 2 + words),
            "@p3 mov r6, r7\nstv r8, r6\n".into(),
        ];
        routine(&code.concat())
    }
}

fn routine(text: &str) -> Routine {
    Routine { code: assemble(text).expect("the routine is right"), mask: u32::MAX }
}

pub(super) fn routines() -> Routines {
    let mut routines = Routines::default();
    for shape in SHAPES {
        routines.add(shape.lookup_event(), true, shape.lookup());
        routines.add(shape.store_event(), true, shape.store());
    }
    routines
}
