//! Spins: warps that repeat instructions for ever and have no effect on anything but themselves.
use super::access::{Fault, MemAccess};
use super::instr::{Kernel, Op, Space};
use super::warp::Warp;
use super::{Env, memory_ops};

/// Most instructions that the search for a spin executes.
const STEPS: u32 = 4096;

/// The PTX lines that a warp repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin {
    /// The first of them in the file.
    pub first: u32,
    /// The last of them in the file.
    pub last: u32,
}

/// Returns where `warp` spins: executes a copy of it, one instruction per cycle, until its whole state is one that it has had
/// before. Without memory that somebody else changes, it then comes to that state again and again.
///
/// None when the warp reaches an effect that others see (a store or an atomic that changes something, a barrier, an exit, a
/// call of the system, a fault), or no earlier state within some thousand instructions. Memory stays as it is.
pub fn find(warp: &Warp, kernel: &Kernel, env: &mut Env) -> Option<Spin> {
    let mut warp = warp.clone();
    let mut access = MemAccess::default();
    // Brent's algorithm: the mark moves up to the warp after 1, 2, 4, ... instructions.
    let mut mark = warp.clone();
    let (mut until_move, mut since) = (1, 0);
    let mut spin = Spin { first: u32::MAX, last: 0 };
    for _ in 0..STEPS {
        let line = kernel.code[warp.pc()? as usize].line;
        spin = Spin { first: spin.first.min(line), last: spin.last.max(line) };
        if !step(&mut warp, kernel, env, &mut access).ok()? {
            return None;
        }
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

/// Does the next instruction, if others see nothing of it.
fn step(warp: &mut Warp, kernel: &Kernel, env: &mut Env, access: &mut MemAccess) -> Result<bool, Box<Fault>> {
    let Some(pc) = warp.pc() else { return Ok(false) };
    let instr = &kernel.code[pc as usize];
    let mask = warp.guarded(instr);
    let unseen = mask == 0
        || match instr.op {
            Op::Exit | Op::Barrier { .. } | Op::BarrierReduce(_) | Op::System(_) => false,
            Op::Store(form) => form.space == Space::Local,
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
