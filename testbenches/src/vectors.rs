//! Vectors: a block's stimulus, clock by clock, with the outputs that its golden model expects.
use selvedge_hw::{BlockEntry, ClockedBits, Direction, ParamError, Port, PortBits, StimulusBits};
use serde_json::Value;

/// Inputs and expected outputs of one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// `true` if reset is active in this clock; the inputs are zero then.
    pub reset: bool,
    /// Value of every input port.
    pub inputs: PortBits,
    /// Value of every output port before the clock edge. `None` in reset, where outputs are not compared.
    pub outputs: Option<PortBits>,
}

/// Returns a block's stimulus. It always begins with a clock in reset, even if the block's own stimulus does not.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub fn stimulus(
    entry: &dyn BlockEntry,
    params: &Value,
    seed: u64,
) -> Result<impl Iterator<Item = StimulusBits> + use<>, ParamError> {
    let mut own = entry.stimulus(params, seed)?.peekable();
    let leading = match own.peek() {
        Some(first) if !first.reset => {
            Some(StimulusBits { inputs: zeros(&entry.ports(params)?), reset: true })
        }
        _ => None,
    };
    Ok(leading.into_iter().chain(own))
}

/// Returns the value zero for every input port.
pub(crate) fn zeros(ports: &[Port]) -> PortBits {
    side(ports, Direction::Input).map(|port| vec![0; port.words()]).collect()
}

/// Returns the ports of one direction, in order.
pub(crate) fn side(ports: &[Port], direction: Direction) -> impl Iterator<Item = &Port> {
    ports.iter().filter(move |port| port.direction == direction)
}

/// An endless stream of vectors. It is the same for the same block, parameters and seed.
pub struct Vectors {
    stimulus: Box<dyn Iterator<Item = StimulusBits>>,
    model: Box<dyn ClockedBits>,
}

impl Vectors {
    /// Returns the vectors of a block. The first clock is in reset; the stimulus determines later resets.
    ///
    /// # Errors
    /// [`ParamError`] if the parameters are invalid.
    pub fn new(entry: &dyn BlockEntry, params: &Value, seed: u64) -> Result<Self, ParamError> {
        Ok(Vectors { stimulus: Box::new(stimulus(entry, params, seed)?), model: entry.model(params)? })
    }

    /// Returns the vectors of a custom stimulus.
    ///
    /// # Errors
    /// [`ParamError`] if the parameters are invalid.
    pub fn of(
        entry: &dyn BlockEntry,
        params: &Value,
        stimulus: Box<dyn Iterator<Item = StimulusBits>>,
    ) -> Result<Self, ParamError> {
        Ok(Vectors { stimulus, model: entry.model(params)? })
    }

    /// Removes the clocks in reset, for Verilog without a reset. Such Verilog starts in its power-up state, which equals the
    /// reset state.
    pub(crate) fn without_resets(self) -> Self {
        Vectors { stimulus: Box::new(self.stimulus.filter(|clock| !clock.reset)), model: self.model }
    }
}

impl Iterator for Vectors {
    type Item = Vector;

    fn next(&mut self) -> Option<Vector> {
        let StimulusBits { inputs, reset } = self.stimulus.next()?;
        let outputs = if reset {
            self.model.reset();
            None
        } else {
            Some(self.model.step(&inputs))
        };
        Some(Vector { reset, inputs, outputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::Accumulator;

    fn vectors() -> Vectors {
        Vectors::new(&Accumulator, &Value::Null, 1).unwrap()
    }

    #[test]
    fn the_first_clock_is_in_reset_and_resets_expect_nothing() {
        let first = vectors().next().unwrap();
        assert!(first.reset && first.outputs.is_none());
        assert_eq!(first.inputs, vec![vec![0], vec![0, 0]]);
        assert!(vectors().take(200).skip(1).any(|vector| vector.reset));
    }

    #[test]
    fn without_resets_none_is_left() {
        let left: Vec<_> = vectors().without_resets().take(500).collect();
        assert_eq!(left.len(), 500, "the stimulus is endless");
        assert!(left.iter().all(|vector| !vector.reset && vector.outputs.is_some()));
    }
}
