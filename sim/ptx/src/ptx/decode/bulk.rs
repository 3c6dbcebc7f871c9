//! Decodes bulk copies.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{BulkDirection, BulkForm, OpClass, SentForm, Space, TensorForm};
use super::super::instr::Op;
use super::memory::elements;
use super::{FunctionDecoder, Result, exactly};

/// Modifier of copies that an mbarrier counts.
const COMPLETES: &str = "mbarrier::complete_tx::bytes";

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
        let direction = direction(modifiers)?;
        let (to, from, bytes, barrier) = match (operands, direction) {
            ([to, from, bytes], BulkDirection::ToGlobal) => (to, from, bytes, None),
            ([to, from, bytes, barrier], BulkDirection::ToShared | BulkDirection::BetweenCtas) => {
                (to, from, bytes, Some(barrier))
            }
            ([to, from, bytes, barrier, ranks], BulkDirection::Multicast) => {
                self.instr.vector[0] = self.integer(ranks, 16)?;
                (to, from, bytes, Some(barrier))
            }
            _ => return Err(format!("it does not take {} operands", operands.len())),
        };
        let (global, shared) = if direction == BulkDirection::ToGlobal { (to, from) } else { (from, to) };
        let other = if direction == BulkDirection::BetweenCtas { Space::Shared } else { Space::Global };
        let [global, shared] = [self.place(global, other)?, self.place(shared, Space::Shared)?];
        (self.instr.a, self.instr.offset) = (global.register, global.offset);
        (self.instr.b, self.instr.target) = (shared.register, shared.offset as u32);
        self.instr.c = self.integer(bytes, 32)?;
        let wide_barrier = barrier.map(|barrier| self.barrier_of_copy(barrier)).transpose()?.unwrap_or(false);
        let form = BulkForm { direction, wide_global: global.wide, wide_shared: shared.wide, wide_barrier };
        self.plain(Op::Bulk(form), class(direction))
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
        let direction = direction(&rest)?;
        let (shared, tensor, barrier) = match (operands, direction) {
            ([shared, tensor, barrier], BulkDirection::ToShared) => (shared, tensor, Some(barrier)),
            ([shared, tensor, barrier, ranks], BulkDirection::Multicast) => {
                self.instr.c = self.integer(ranks, 16)?;
                (shared, tensor, Some(barrier))
            }
            ([tensor, shared], BulkDirection::ToGlobal) => (shared, tensor, None),
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
        let form = TensorForm { direction, rank, wide_shared: shared.wide, wide_barrier };
        self.plain(Op::Tensor(form), class(direction))
    }

    /// `st.async` or, if it `reduces`, `red.async`: an address, a value and an mbarrier.
    pub(super) fn send(&mut self, reduces: bool, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [operands @ .., barrier] = operands else { return Err("it takes operands".to_owned()) };
        if !modifiers.contains(&COMPLETES) {
            return Err("only forms with mbarrier::complete_tx::bytes are known".to_owned());
        }
        let plain = |name: &&str| *name != COMPLETES && *name != "async";
        let rest: Vec<&str> = modifiers.iter().copied().filter(plain).collect();
        if reduces {
            self.atomic(true, &rest, operands)?;
        } else {
            self.store(&rest, operands)?;
        }
        let access = match self.instr.op {
            Op::Store(form) | Op::Atomic(form) => form,
            _ => return Err("it is not known".to_owned()),
        };
        if access.elements > 4 {
            return Err("it moves at most 4 elements".to_owned());
        }
        let form = SentForm { access, reduces, wide_barrier: self.barrier_of_copy(barrier)? };
        self.plain(Op::Sent(form), self.instr.class)
    }

    /// Decodes the mbarrier of a copy. Returns whether its register has 64 bits.
    pub(super) fn barrier_of_copy(&mut self, operand: &Operand) -> Result<bool> {
        let place = self.place(operand, Space::Shared)?;
        (self.instr.vector[7], self.instr.reconvergence) = (place.register, place.offset as u32);
        Ok(place.wide)
    }
}

/// Returns the class of a copy.
fn class(direction: BulkDirection) -> OpClass {
    match direction {
        BulkDirection::ToShared | BulkDirection::Multicast => OpClass::Load,
        BulkDirection::ToGlobal | BulkDirection::BetweenCtas => OpClass::Store,
    }
}

/// Returns the direction of a copy.
fn direction(modifiers: &[&str]) -> Result<BulkDirection> {
    let (mut spaces, mut completes, mut multicast) = (Vec::new(), None, false);
    for modifier in modifiers {
        match *modifier {
            "shared" | "shared::cta" | "shared::cluster" => spaces.push(Space::Shared),
            "global" => spaces.push(Space::Global),
            COMPLETES => completes = Some(true),
            "bulk_group" => completes = Some(false),
            "multicast::cluster" => multicast = true,
            hint if hint.starts_with("L2::") => {}
            other => return Err(format!("modifier '{}' is not known", quote(other))),
        }
    }
    match (&spaces[..], completes, multicast) {
        ([Space::Shared, Space::Global], Some(true), false) => Ok(BulkDirection::ToShared),
        ([Space::Shared, Space::Global], Some(true), true) => Ok(BulkDirection::Multicast),
        ([Space::Shared, Space::Shared], Some(true), false) => Ok(BulkDirection::BetweenCtas),
        ([Space::Global, Space::Shared], Some(false), false) => Ok(BulkDirection::ToGlobal),
        _ => Err("known are copies from .global or .shared to .shared with mbarrier::complete_tx::bytes, and from .shared \
                  to .global with bulk_group"
            .to_owned()),
    }
}
