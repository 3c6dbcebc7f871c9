//! Decodes operations on mbarrier objects.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{MbarrierForm, MbarrierOp, OpClass, Space};
use super::super::instr::{NONE, Op};
use super::{FunctionDecoder, Result, exactly};

impl FunctionDecoder<'_> {
    /// `mbarrier`: a result or none, an address in shared memory, and an operand or none.
    pub(super) fn mbarrier(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [name, modifiers @ ..] = modifiers else { return Err("its operation is missing".to_owned()) };
        let (mut generic, mut parity, mut expects_bytes, mut completes) = (true, false, false, true);
        for modifier in modifiers {
            match *modifier {
                "shared" | "shared::cta" | "shared::cluster" => generic = false,
                "parity" => parity = true,
                "expect_tx" => expects_bytes = true,
                "noComplete" => completes = false,
                "release" | "acquire" | "relaxed" | "cta" | "cluster" | "b64" | "layout::v0" => {}
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        let arrive = |drops| MbarrierOp::Arrive { drops, expects_bytes, completes };
        let op = match *name {
            "init" => MbarrierOp::Init,
            "inval" => MbarrierOp::Invalidate,
            "arrive" => arrive(false),
            "arrive_drop" => arrive(true),
            "expect_tx" => MbarrierOp::ExpectBytes,
            "complete_tx" => MbarrierOp::CompleteBytes,
            "test_wait" => MbarrierOp::Wait { parity, suspends: false },
            "try_wait" => MbarrierOp::Wait { parity, suspends: true },
            other => return Err(format!("operation '{}' is not known", quote(other))),
        };
        let is_arrival = matches!(op, MbarrierOp::Arrive { .. });
        let is_wait = matches!(op, MbarrierOp::Wait { .. });
        if parity && !is_wait || (expects_bytes || !completes) && !is_arrival || expects_bytes && !completes {
            return Err("its modifiers and operation do not go together".to_owned());
        }
        let (result, address, operand, limit) = match (operands, op) {
            ([address], MbarrierOp::Invalidate) => (None, address, None, None),
            ([state, address], _) if is_arrival && !expects_bytes && completes => {
                (Some(state), address, None, None)
            }
            ([state, address, operand], _) if is_arrival => (Some(state), address, Some(operand), None),
            ([done, address, operand], _) if is_wait => (Some(done), address, Some(operand), None),
            ([done, address, operand, limit], MbarrierOp::Wait { suspends: true, .. }) => {
                (Some(done), address, Some(operand), Some(limit))
            }
            ([address, operand], MbarrierOp::Init | MbarrierOp::ExpectBytes | MbarrierOp::CompleteBytes) => {
                (None, address, Some(operand), None)
            }
            _ => return Err(format!("it does not take {} operands", operands.len())),
        };
        match result {
            Some(Operand::Sink) if is_arrival => {}
            Some(result) => self.instr.d = self.dest(result, if is_wait { 1 } else { 64 })?,
            None => {}
        }
        let place = self.place(address, Space::Shared)?;
        (self.instr.a, self.instr.offset) = (place.register, place.offset);
        if let Some(operand) = operand {
            let by_state = is_wait && !parity;
            self.instr.b = self.integer(operand, if by_state { 64 } else { 32 })?;
        }
        if let Some(limit) = limit {
            self.instr.c = self.integer(limit, 32)?;
        }
        self.plain_mbarrier(op, generic && place.register != NONE, place.wide)
    }

    /// `cp.async.mbarrier.arrive`: an address in shared memory.
    pub(super) fn arrive_later(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (mut generic, mut counted) = (true, false);
        for modifier in modifiers {
            match *modifier {
                "shared" | "shared::cta" => generic = false,
                "noinc" => counted = true,
                "b64" => {}
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        let [address] = exactly(operands)?;
        let place = self.place(address, Space::Shared)?;
        (self.instr.a, self.instr.offset) = (place.register, place.offset);
        self.plain_mbarrier(
            MbarrierOp::ArriveLater { counted },
            generic && place.register != NONE,
            place.wide,
        )
    }

    fn plain_mbarrier(&mut self, op: MbarrierOp, generic: bool, wide_address: bool) -> Result<()> {
        let class = match op {
            MbarrierOp::Init | MbarrierOp::Invalidate => OpClass::Store,
            MbarrierOp::Wait { .. } => OpClass::Load,
            _ => OpClass::Atomic,
        };
        self.plain(Op::Mbarrier(MbarrierForm { op, wide_address, generic }), class)
    }
}
