//! The register files of a warp, and the literals of its kernel.

use selvedge_state::State;

/// The register files of a warp.
#[derive(Debug, Clone, Default, PartialEq, Eq, State)]
pub(crate) struct WarpRegisters {
    pub words: Box<[[u32; 32]]>,
    pub doubles: Box<[[u64; 32]]>,
    pub predicates: Box<[u32]>,
}

impl WarpRegisters {
    /// Returns zeroed registers: the number of words, doubles and predicates.
    pub fn new(words: usize, doubles: usize, predicates: usize) -> Self {
        WarpRegisters {
            words: vec![[0; 32]; words].into(),
            doubles: vec![[0; 32]; doubles].into(),
            predicates: vec![0; predicates].into(),
        }
    }

    pub fn clear(&mut self) {
        self.words.fill([0; 32]);
        self.doubles.fill([0; 32]);
        self.predicates.fill(0);
    }
}

/// Literals of a kernel. A register number counted down from [`u16::MAX`] is an index into them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Literals {
    pub words: Vec<[u32; 32]>,
    pub doubles: Vec<[u64; 32]>,
}
