//! Finds vectors that consist of equal lanes: every selection of bits lies in one lane, or begins and ends with a lane.
//! SystemVerilog declares them as packed arrays, `logic [N-1:0][W-1:0] x`, and selects `x[i]` in place of `x[i*W +: W]`.

use crate::ir::{Index, IndexOp, Signal, SignalId};
use std::collections::{BTreeMap, BTreeSet};

/// The bits that a module selects from vectors: the first bit in the element, and the number of bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneUses(BTreeMap<SignalId, Vec<(Index, usize)>>);

impl LaneUses {
    /// Records a selection from a signal, or from an element of an array.
    pub fn add(&mut self, signal: SignalId, from: &Index, bits: usize) {
        self.0.entry(signal).or_default().push((from.clone(), bits));
    }

    /// Returns the bits of a lane for each signal that consists of lanes.
    pub fn lanes(&self, signals: &[Signal]) -> BTreeMap<SignalId, usize> {
        let of = |(id, uses): (&SignalId, &Vec<(Index, usize)>)| Some((*id, lane(&signals[*id], uses)?));
        self.0.iter().filter_map(of).collect()
    }
}

/// Returns the bits of the widest lanes of which a signal consists. At least one selection must depend on a loop.
fn lane(signal: &Signal, uses: &[(Index, usize)]) -> Option<usize> {
    if signal.layout.is_some() {
        return None;
    }
    let mut strides = BTreeSet::new();
    uses.iter().for_each(|(from, _)| collect_strides(from, 1, &mut strides));
    let fits = |width: usize, (from, bits): &(Index, usize)| match split(from, width) {
        Some((_, offset)) => offset + bits <= width || (offset == 0 && bits % width == 0),
        None => false,
    };
    let is_lane = |width: &usize| {
        *width > 1
            && *width < signal.width
            && signal.width.is_multiple_of(*width)
            && uses.iter().all(|one| fits(*width, one))
    };
    strides.into_iter().rev().find(is_lane)
}

/// Collects the factors of loop variables in an index.
fn collect_strides(index: &Index, factor: usize, out: &mut BTreeSet<usize>) {
    match index {
        Index::Loop(..) => {
            out.insert(factor);
        }
        Index::Operation(a, IndexOp::Mul, b) => match (a.constant(), b.constant()) {
            (Some(number), _) => collect_strides(b, factor * number, out),
            (_, Some(number)) => collect_strides(a, factor * number, out),
            _ => {}
        },
        Index::Operation(a, _, b) => {
            collect_strides(a, factor, out);
            collect_strides(b, factor, out);
        }
        Index::Number(_) | Index::Parameter(..) | Index::Value(_) => {}
    }
}

/// Returns the lane in which a bit lies, and the bit in the lane. Returns `None` if the bit in the lane is not constant.
pub(crate) fn split(index: &Index, width: usize) -> Option<(Index, usize)> {
    if let Some(number) = index.constant() {
        return Some((Index::Number(number / width), number % width));
    }
    let Index::Operation(a, op, b) = index else { return None };
    let product = |value: &Index, factor: &Index| {
        let number = factor.constant()?;
        if number % width == 0 {
            return Some(Index::operation(value.clone(), IndexOp::Mul, Index::Number(number / width)));
        }
        let (lane, offset) = split(value, width)?;
        (offset == 0).then(|| Index::operation(lane, IndexOp::Mul, Index::Number(number)))
    };
    match op {
        IndexOp::Mul => product(a, b).or_else(|| product(b, a)).map(|lane| (lane, 0)),
        IndexOp::Add => {
            let ((a, low), (b, high)) = (split(a, width)?, split(b, width)?);
            let (carry, offset) = ((low + high) / width, (low + high) % width);
            let sum = Index::operation(a, IndexOp::Add, b);
            Some((Index::operation(sum, IndexOp::Add, Index::Number(carry)), offset))
        }
        IndexOp::Sub => {
            let ((a, low), (b, less)) = (split(a, width)?, split(b, width)?);
            let borrow = usize::from(low < less);
            let difference = Index::operation(a, IndexOp::Sub, b);
            let lane = Index::operation(difference, IndexOp::Sub, Index::Number(borrow));
            Some((lane, low + borrow * width - less))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Role;

    fn turn(factor: usize, offset: usize) -> Index {
        let product = Index::operation(Index::Loop("i".into(), 7), IndexOp::Mul, Index::Number(factor));
        Index::operation(product, IndexOp::Add, Index::Number(offset))
    }

    #[test]
    fn lanes_are_as_wide_as_the_stride_of_a_loop() {
        let of = |uses: &[(Index, usize)]| lane(&Signal::new("x", 72, Role::Local), uses);
        assert_eq!(of(&[(turn(9, 0), 3), (turn(9, 3), 6), (Index::Number(18), 9)]), Some(9));
        assert_eq!(of(&[(turn(9, 0), 9), (Index::Number(0), 72), (Index::Number(9), 27)]), Some(9));
        assert_eq!(of(&[(turn(36, 0), 9), (turn(9, 0), 9)]), Some(9));
    }

    #[test]
    fn a_selection_across_lanes_leaves_a_vector() {
        let of = |uses: &[(Index, usize)]| lane(&Signal::new("x", 72, Role::Local), uses);
        assert_eq!(of(&[(turn(9, 0), 9), (Index::Number(8), 2)]), None);
        assert_eq!(of(&[(turn(9, 7), 3)]), None);
        assert_eq!(of(&[(turn(10, 0), 9)]), None, "72 bits are not lanes of 10");
        assert_eq!(of(&[(turn(1, 0), 1)]), None, "bits are no lanes");
        assert_eq!(of(&[(Index::Number(9), 9)]), None, "no loop");
    }

    #[test]
    fn a_bit_is_a_lane_and_a_bit_in_the_lane() {
        let lane = Index::operation(Index::Loop("i".into(), 7), IndexOp::Add, Index::Number(1));
        assert_eq!(split(&turn(9, 12), 9), Some((lane, 3)));
        assert_eq!(split(&turn(18, 0), 9), Some((turn(2, 0), 0)));
        assert_eq!(split(&turn(6, 0), 9), None);
        let less = Index::operation(turn(9, 3), IndexOp::Sub, Index::Number(4));
        let lane = Index::operation(turn(1, 0), IndexOp::Sub, Index::Number(1));
        assert_eq!(split(&less, 9), Some((lane, 8)));
    }
}
