//! Decodes bulk copies.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{BulkForm, OpClass, Space};
use super::super::instr::Op;
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
            ["prefetch", ..] => return self.plain(Op::Nothing, OpClass::Control),
            _ => {}
        }
        let mut spaces = Vec::new();
        let mut end = None;
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
        let to_shared = match (&spaces[..], end) {
            ([Space::Shared, Space::Global], Some(true)) => true,
            ([Space::Global, Space::Shared], Some(false)) => false,
            _ => {
                return Err("known are copies from .global to .shared with mbarrier::complete_tx::bytes, and from .shared \
                            to .global with bulk_group"
                    .to_owned());
            }
        };
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

    /// Decodes the mbarrier of a copy. Returns whether its register has 64 bits.
    pub(super) fn barrier_of_copy(&mut self, operand: &Operand) -> Result<bool> {
        let place = self.place(operand, Space::Shared)?;
        (self.instr.vector[0], self.instr.reconvergence) = (place.register, place.offset as u32);
        Ok(place.wide)
    }
}
