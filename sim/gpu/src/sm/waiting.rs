//! The waiting warps and requests of an SM, for the report of a deadlock.
use super::Sm;
use super::pipes::PipeKind;
use super::warp_slot::{Hold, WarpSlot};
use crate::stats::FailCause;
use selvedge_ptx::ptx::AccessKind;

impl Sm {
    /// Returns a line for each warp, and for the requests of the load/store unit, the L1D and the mechanism, with the resource it
    /// waits for.
    pub fn describe_waiting(&self) -> Vec<String> {
        let warps = self.residents.warps.iter().enumerate();
        let mut lines: Vec<String> =
            warps.filter_map(|(index, slot)| Some(self.describe_warp(index, slot.as_ref()?))).collect();
        if let Some(head) = self.memory.lsu.head() {
            let inst = self.memory.lsu.peek(head);
            let what = match (self.memory.blocked, inst.shared) {
                (Some(cause), _) => format!("waits for {}", resource(cause)),
                (None, true) => "waits for the shared-memory banks".into(),
                (None, false) => "waits for its turn at the L1D".into(),
            };
            let line = inst.transactions.get(inst.next).map_or(0, |t| t.line);
            lines.push(format!(
                "sm{} load/store unit: {} instructions, the first a {} of line {line:#x} by warp {}, which {what}",
                self.id,
                self.memory.lsu.waiting(),
                noun(inst.kind),
                inst.warp
            ));
        }
        if let Some(oldest) = self.memory.latency_queue.oldest().map(|queued| queued.inst) {
            let what = self.memory.latency_queue.blocked.map_or("its turn at the L1D", resource);
            let warp = self.memory.lsu.peek(oldest).warp;
            let count = self.memory.latency_queue.len();
            lines.push(format!(
                "sm{} in front of the L1D: {count} transactions, the first by warp {warp}, which waits for {what}",
                self.id
            ));
        }
        lines.extend(
            self.memory.l1d.describe_waiting().into_iter().map(|line| format!("sm{} {line}", self.id)),
        );
        if let Some(packet) = &self.memory.held_reply {
            lines.push(format!(
                "sm{} reply register: {:?} of line {:#x} waits for room in the mechanism",
                self.id, packet.kind, packet.line
            ));
        }
        if self.parts.busy() {
            lines.push(format!("sm{} mechanism: busy", self.id));
        }
        lines
    }

    fn describe_warp(&self, index: usize, slot: &WarpSlot) -> String {
        let cta = self.residents.ctas[usize::from(slot.cta)].as_ref();
        let place = cta.map_or([0; 3], |cta| cta.cta);
        let kernel = &slot.kernel.kernel;
        let at = slot.warp.pc().map_or(0, |pc| kernel.code[pc as usize].line);
        let what = match slot.hold {
            Hold::Barrier(id) => {
                let barrier = cta.map(|cta| (cta.barriers[id as usize], cta.live));
                let (arrived, expected) = barrier.map_or((0, 0), |(barrier, live)| {
                    (barrier.arrived, if barrier.threads == 0 { live } else { barrier.threads.div_ceil(32) })
                });
                format!(
                    "waits at barrier {id} for {} more of {expected} warps",
                    expected.saturating_sub(arrived)
                )
            }
            Hold::Fence { .. } => {
                format!(
                    "waits at a fence for {} acknowledgements and {} results",
                    slot.stores, slot.in_flight
                )
            }
            Hold::Exited => {
                format!(
                    "has ended and waits for {} acknowledgements and {} results",
                    slot.stores, slot.in_flight
                )
            }
            Hold::Reads { .. } => "waits for bulk copies to read shared memory".into(),
            Hold::Suspended { .. } => "waits for a phase of an mbarrier or of its cluster's barrier".into(),
            Hold::Control => "waits for its next instruction".into(),
            Hold::None => self.describe_next(index, slot),
        };
        format!(
            "sm{} warp {index} (kernel {}, CTA {},{},{}, before PTX line {at}) {what}",
            self.id, kernel.name, place[0], place[1], place[2]
        )
    }

    /// Returns the resource that the next instruction of a warp waits for, if the warp is not held.
    fn describe_next(&self, index: usize, slot: &WarpSlot) -> String {
        let bit = 1 << index;
        if self.issue_stage.needs.dependent() & bit != 0 {
            let of = if slot.scoreboard.awaits_memory() { " of a load" } else { "" };
            return format!("waits for a result{of}");
        }
        if self.issue_stage.stopped(&self.residents.program_warps) & bit != 0 {
            return "waits for its kernel's next quota of instructions".into();
        }
        if self.issue_stage.needs.ready(PipeKind::Memory) & bit == 0 {
            return "waits for a pipe".into();
        }
        if !self.parts.may_issue_memory(slot.kernel.program) {
            return "waits for the mechanism to let its kernel issue a memory instruction".into();
        }
        "waits for room in the load/store unit".into()
    }
}

/// Returns a description of the resource that a transaction lacks.
fn resource(cause: FailCause) -> &'static str {
    match cause {
        FailCause::MshrEntry => "a free MSHR of the L1D",
        FailCause::MshrMerge => "room in the MSHR of its line",
        FailCause::Line => "a way of its set in the L1D that is not reserved",
        FailCause::MissQueue => "room in the L1D's miss queue",
        FailCause::BypassSlot => "a free slot for loads that bypass the L1D",
    }
}

fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Atomic { .. } => "atomic",
    }
}
