//! Decodes bulk copies.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{BulkForm, OpClass, Space, TensorForm};
use super::super::instr::Op;
use super::memory::elements;
use super::{FunctionDecoder, Result, exactly};

impl FunctionDecoder<'_> {
    /// `cp.async.bulk`: copies, groups and waits.
    pub(super) fn bulk(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        match modifiers {
            ["commit_group"] => {
                exactly::<0>(operands)?;
                return self.plain(Op::Nothing, OpClass::Control);
            }
            ["wait_group", rest @ ..] => {
                let [Operand::Integer(_)] = exactly(operands)? else {
                    return Err("it takes a number of groups".to_owned());
                };
                return match rest {
                    [] => self.plain(Op::Fence, OpClass::Fence),
                    ["read"] => self.plain(Op::AwaitReads, OpClass::Fence),
                    _ => Err("known are .wait_group and .wait_group.read".to_owned()),
                };
            }
            // A prefetch is a hint, as `prefetch` is.
            ["tensor", rank, rest @ ..] => return self.tensor(rank, rest, operands),
            ["prefetch", ..] => return self.plain(Op::Nothing, OpClass::Control),
            _ => {}
        }
        let to_shared = direction(modifiers)?;
        let (to, from, bytes, barrier) = match (operands, to_shared) {
            ([to, from, bytes, barrier], true) => (to, from, bytes, Some(barrier)),
            ([to, from, bytes], false) => (to, from, bytes, None),
            _ => return Err(format!("it does not take {} operands", operands.len())),
        };
        let (global, shared) = if to_shared { (from, to) } else { (to, from) };
        let [global, shared] = [self.place(global, Space::Global)?, self.place(shared, Space::Shared)?];
        (self.instr.a, self.instr.offset) = (global.register, global.offset);
        (self.instr.b, self.instr.target) = (shared.register, shared.offset as u32);
        self.instr.c = self.integer(bytes, 32)?;
        let wide_barrier = barrier.map(|barrier| self.barrier_of_copy(barrier)).transpose()?.unwrap_or(false);
        let form = BulkForm { to_shared, wide_global: global.wide, wide_shared: shared.wide, wide_barrier };
        self.plain(Op::Bulk(form), if to_shared { OpClass::Load } else { OpClass::Store })
    }

    /// `cp.async.bulk.tensor`: a tensor map with coordinates, and an address in shared memory.
    fn tensor(&mut self, rank: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let rank = match rank {
            "1d" => 1,
            "2d" => 2,
            "3d" => 3,
            "4d" => 4,
            "5d" => 5,
            other => return Err(format!("'{}' is not 1d, 2d, 3d, 4d or 5d", quote(other))),
        };
        let rest: Vec<&str> = modifiers.iter().copied().filter(|modifier| *modifier != "tile").collect();
        let to_shared = direction(&rest)?;
        let (shared, tensor, barrier) = match (operands, to_shared) {
            ([shared, tensor, barrier], true) => (shared, tensor, Some(barrier)),
            ([tensor, shared], false) => (shared, tensor, None),
            _ => return Err(format!("it does not take {} operands", operands.len())),
        };
        let Operand::Vector(tensor) = tensor else {
            return Err("it needs a tensor map and coordinates in brackets".to_owned());
        };
        let [map, coordinates] = exactly(tensor)?;
        self.instr.a = self.integer(map, 64)?;
        for (number, coordinate) in elements(coordinates, rank)?.iter().enumerate() {
            self.instr.vector[1 + number] = self.integer(coordinate, 32)?;
        }
        let shared = self.place(shared, Space::Shared)?;
        (self.instr.b, self.instr.target) = (shared.register, shared.offset as u32);
        let wide_barrier = barrier.map(|barrier| self.barrier_of_copy(barrier)).transpose()?.unwrap_or(false);
        let form = TensorForm { to_shared, rank, wide_shared: shared.wide, wide_barrier };
        self.plain(Op::Tensor(form), if to_shared { OpClass::Load } else { OpClass::Store })
    }

    /// Decodes the mbarrier of a copy. Returns whether its register has 64 bits.
    pub(super) fn barrier_of_copy(&mut self, operand: &Operand) -> Result<bool> {
        let place = self.place(operand, Space::Shared)?;
        (self.instr.vector[0], self.instr.reconvergence) = (place.register, place.offset as u32);
        Ok(place.wide)
    }
}

/// Returns whether the modifiers describe a copy to shared memory; otherwise they describe one to global memory.
fn direction(modifiers: &[&str]) -> Result<bool> {
    let (mut spaces, mut end) = (Vec::new(), None);
    for modifier in modifiers {
        match *modifier {
            // The only CTA of the cluster is this one.
            "shared" | "shared::cta" | "shared::cluster" => spaces.push(Space::Shared),
            "global" => spaces.push(Space::Global),
            "mbarrier::complete_tx::bytes" => end = Some(true),
            "bulk_group" => end = Some(false),
            hint if hint.starts_with("L2::") => {}
            other => return Err(format!("modifier '{}' is not known", quote(other))),
        }
    }
    match (&spaces[..], end) {
        ([Space::Shared, Space::Global], Some(true)) => Ok(true),
        ([Space::Global, Space::Shared], Some(false)) => Ok(false),
        _ => Err("known are copies from .global to .shared with mbarrier::complete_tx::bytes, and from .shared to .global \
                  with bulk_group"
            .to_owned()),
    }
}
