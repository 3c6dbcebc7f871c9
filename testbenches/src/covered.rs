//! Vectors of a block until its stimulus has reached the corner cases.
use crate::vectors::{Vector, Vectors};
use selvedge_hw::{BlockEntry, Corner, CornersBits, ParamError, StimulusBits};
use serde_json::Value;

/// Max number of cycles per operation. A stimulus that needs more is stuck.
const CYCLES_PER_OPERATION: u64 = 1000;

/// Min number of operations if the user states none: it adds random traffic to the corner cases.
const FEWEST_OPERATIONS: u64 = 1000;

/// A reason why a stimulus gives no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StimulusError {
    /// The parameters are not valid.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The stimulus continues without operations.
    #[error("{block}: {operations} operations in {cycles} cycles of its stimulus")]
    Stuck {
        /// The block.
        block: &'static str,
        /// Operations that have ended.
        operations: u64,
        /// Cycles of the stimulus so far.
        cycles: u64,
    },
}

/// Vectors with the corner cases that they reach. They end after the stated number of operations. Without a stated number,
/// they end when each corner case is reached, or after the block's full count of operations ([`BlockEntry::operations`]),
/// because some parameters make a case unreachable. The cycles of the block's latency follow.
pub struct CoveredVectors {
    block: &'static str,
    vectors: Vectors,
    corners: Box<dyn CornersBits>,
    stated: Option<u64>,
    /// Min and max number of operations without a stated number.
    range: [u64; 2],
    cycles: u64,
    /// Number of cycles after the last operation.
    tail: u64,
}

impl CoveredVectors {
    /// Returns the vectors of the block's own stimulus.
    ///
    /// # Errors
    /// [`StimulusError`] if the parameters are invalid.
    pub fn new(
        entry: &dyn BlockEntry,
        params: &Value,
        operations: Option<u64>,
        seed: u64,
    ) -> Result<Self, StimulusError> {
        Self::with(entry, params, operations, Vectors::new(entry, params, seed)?)
    }

    /// Returns the vectors of a custom stimulus.
    ///
    /// # Errors
    /// [`StimulusError`] if the parameters are invalid.
    pub fn of(
        entry: &dyn BlockEntry,
        params: &Value,
        operations: Option<u64>,
        stimulus: Box<dyn Iterator<Item = StimulusBits>>,
    ) -> Result<Self, StimulusError> {
        Self::with(entry, params, operations, Vectors::of(entry, params, stimulus)?)
    }

    fn with(
        entry: &dyn BlockEntry,
        params: &Value,
        stated: Option<u64>,
        vectors: Vectors,
    ) -> Result<Self, StimulusError> {
        let most = entry.operations();
        Ok(CoveredVectors {
            block: entry.name(),
            vectors,
            corners: entry.corners(params)?,
            stated,
            range: [FEWEST_OPERATIONS.min(most), most],
            cycles: 0,
            tail: entry.facts(params)?.latency.into(),
        })
    }

    /// Removes the clocks in reset, for Verilog without a reset.
    pub(crate) fn without_resets(self) -> Self {
        CoveredVectors { vectors: self.vectors.without_resets(), ..self }
    }

    /// Returns the vector of the next cycle, or `None` at the end.
    ///
    /// # Errors
    /// [`StimulusError::Stuck`] if the stimulus does not complete the operations.
    pub fn next_vector(&mut self) -> Result<Option<Vector>, StimulusError> {
        if self.is_enough() {
            if self.tail == 0 {
                return Ok(None);
            }
            self.tail -= 1;
            return Ok(self.vectors.next());
        }
        let operations = self.corners.operations();
        if self.cycles > CYCLES_PER_OPERATION * (operations + 1) {
            return Err(StimulusError::Stuck { block: self.block, operations, cycles: self.cycles });
        }
        let vector = self.beyond();
        match &vector.outputs {
            Some(outputs) => self.corners.clock(&vector.inputs, outputs),
            None => self.corners.reset(),
        }
        self.cycles += 1;
        Ok(Some(vector))
    }

    /// Returns the vector of the next cycle, also after the end, without counting it.
    pub(crate) fn beyond(&mut self) -> Vector {
        self.vectors.next().expect("a stimulus has no end")
    }

    fn is_enough(&self) -> bool {
        let (operations, [fewest, most]) = (self.corners.operations(), self.range);
        match self.stated {
            Some(stated) => operations >= stated,
            None => {
                operations >= most
                    || operations >= fewest && self.seen().iter().all(|corner| corner.times > 0)
            }
        }
    }

    /// Returns the number of operations so far.
    pub fn operations(&self) -> u64 {
        self.corners.operations()
    }

    /// Returns all corner cases with the number of times that each is reached so far.
    pub fn seen(&self) -> Vec<Corner> {
        self.corners.seen()
    }
}
