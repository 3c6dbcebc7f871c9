//! Detects spins: warps that repeat instructions forever and have no effect outside themselves.
use super::access::{Fault, MemAccess};
use super::forms::{MbarrierForm, MbarrierOp, Space};
use super::instr::Op;
use super::kernel::Kernel;
use super::strand::Strands;
use super::warp::{Step, Warp};
use super::{Env, memory_ops};

/// Max instructions that the search for a spin executes.
const STEPS: u32 = 4096;

/// Backward branches of a path before the first search for a spin. Each further search takes place after twice as many.
const FIRST_SEARCH: u32 = 16;
/// Backward branches after which a path counts as spinning even if its state does not repeat, as in a loop with backoff.
const MAX_TURNS: u32 = 1 << 12;

/// Range of PTX lines that a warp repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin {
    /// First line in the file.
    pub first: u32,
    /// Last line in the file.
    pub last: u32,
}

/// Returns the lines at which `warp` spins. Executes a copy of the warp, one instruction per cycle, until its
/// complete state repeats. Unless another agent changes memory, the warp then returns to that state forever.
///
/// Returns `None` if the warp reaches an effect that others can observe, or if no state repeats within `STEPS`
/// instructions. Such effects are a store or an atomic that changes memory, a barrier, an exit, a system call, and a
/// fault. Memory stays unchanged.
pub fn find(warp: &Warp, kernel: &Kernel, env: &mut Env) -> Option<Spin> {
    find_in(warp.clone(), kernel, env, |_| ())
}

/// Searches as [`find`] does, in `warp` itself. Calls `after` after each instruction.
fn find_in(mut warp: Warp, kernel: &Kernel, env: &mut Env, after: impl Fn(&mut Warp)) -> Option<Spin> {
    let mut access = MemAccess::default();
    // Brent's algorithm: the mark moves to the current state after 1, 2, 4, ... instructions.
    let mut mark = warp.clone();
    let (mut until_move, mut since) = (1, 0);
    let mut spin = Spin { first: u32::MAX, last: 0 };
    for _ in 0..STEPS {
        let line = kernel.code[warp.pc()? as usize].line;
        spin = Spin { first: spin.first.min(line), last: spin.last.max(line) };
        if !step(&mut warp, kernel, env, &mut access).ok()? {
            return None;
        }
        after(&mut warp);
        env.clock += 1;
        if warp.is_where(&mark) {
            return Some(spin);
        }
        since += 1;
        if since == until_move {
            mark = warp.clone();
            (until_move, since) = (2 * until_move, 0);
            spin = Spin { first: u32::MAX, last: 0 };
        }
    }
    None
}

impl Warp {
    /// Counts a backward branch of a loop that may wait for other threads. If the running lanes spin, other lanes of the warp
    /// run next.
    #[cold]
    pub(super) fn count_turn(&mut self, kernel: &Kernel, env: &mut Env) {
        if self.waiting.is_empty() && self.strands.is_single() {
            return;
        }
        self.strands.turns += 1;
        let turns = self.strands.turns;
        if turns >= FIRST_SEARCH && turns.is_power_of_two() && (turns >= MAX_TURNS || self.spins(kernel, env))
        {
            self.take_turns();
        }
    }

    /// Returns whether the running strand repeats its instructions until another agent changes memory.
    fn spins(&self, kernel: &Kernel, env: &mut Env) -> bool {
        let mut alone = self.clone();
        // Lanes that wait cannot run in the copy, so it takes no turns.
        alone.strands = Strands::default();
        let mine = self.current.mask;
        alone.waiting.retain_mut(|path| {
            path.mask &= mine;
            path.mask != 0
        });
        let clock = env.clock;
        let found = find_in(alone, kernel, env, |warp| warp.strands.turns = 0);
        env.clock = clock;
        found.is_some()
    }
}

/// Executes the next instruction if it has no effect outside the warp. Returns whether it did.
fn step(warp: &mut Warp, kernel: &Kernel, env: &mut Env, access: &mut MemAccess) -> Result<bool, Box<Fault>> {
    let Some(pc) = warp.pc() else { return Ok(false) };
    let instr = &kernel.code[pc as usize];
    let mask = warp.guarded(instr);
    let unseen = mask == 0
        || match instr.op {
            // Lanes that wait at a barrier for the other lanes of their warp have not arrived.
            Op::Barrier { .. } | Op::BarrierReduce(_) if !warp.strands.is_single() => {
                return Ok(matches!(warp.step(kernel, env, access)?, Step::Yield));
            }
            Op::Exit
            | Op::Barrier { .. }
            | Op::BarrierReduce(_)
            | Op::System(_)
            | Op::ClusterBarrier { waits: false }
            | Op::Sent(_)
            | Op::Bulk(_)
            | Op::Tensor(_) => false,
            Op::Store(form) => form.space == Space::Local,
            Op::RareAccess(access) => !access.writes(),
            Op::Mbarrier(MbarrierForm { op: MbarrierOp::Wait { .. }, .. }) => {
                // A wait for a phase is over after a time, whose passing is no repeated state.
                warp.suspended = Some(0);
                true
            }
            Op::Mbarrier(_) => false,
            Op::Atomic(form) => {
                return memory_ops::atomic_unseen(warp, kernel, env, instr, form, mask, access);
            }
            _ => true,
        };
    if unseen {
        warp.step(kernel, env, access)?;
    }
    Ok(unseen)
}
