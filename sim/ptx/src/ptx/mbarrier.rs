//! Mbarrier objects: 64-bit words in shared memory that count arrivals and the bytes of asynchronous copies.
//!
//! A phase ends when no arrival and no byte is pending. The next phase then expects the same number of arrivals.

use super::access::{AccessKind, Completion, CompletionEffect, Fault, MemAccess};
use super::forms::{AtomicOp, CacheOp, MbarrierForm, MbarrierOp, MemoryForm, Number, NumberType, Space};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, lanes};
use super::warp::{Step, Warp};
use super::{Env, memory_ops, special};
use crate::clusters;

/// Max arrivals of a phase, and max magnitude of the bytes pending.
const MOST: i64 = (1 << 20) - 1;
/// Bits of a state that hold the pending arrivals.
pub(super) const PENDING: u32 = MOST as u32;
/// Bytes of an object.
const BYTES: u8 = 8;
/// Longest time for which `try_wait` suspends a warp, in nanoseconds.
const SUSPENSION: u32 = 1000;

/// Position of each field in the word. Arrivals have 20 bits, bytes 21 bits.
const EXPECTED: u32 = 20;
const PENDING_BYTES: u32 = 40;
const VALID: u64 = 1 << 61;
const PHASE: u64 = 1 << 63;

/// The state of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mbarrier {
    /// Arrivals pending in this phase.
    pending: i64,
    /// Arrivals of the next phase.
    expected: i64,
    /// Bytes of copies pending in this phase. Negative if copies complete before they are expected.
    bytes: i64,
    /// Number of the phase, modulo 2.
    odd: bool,
}

type Result<T> = std::result::Result<T, String>;

impl Mbarrier {
    /// Returns an object whose phases expect `count` arrivals.
    fn new(count: u32) -> Result<Self> {
        let count = i64::from(count);
        if !(1..=MOST).contains(&count) {
            return Err(format!("initializes an mbarrier for {count} arrivals; must be 1 to {MOST}"));
        }
        Ok(Self { pending: count, expected: count, bytes: 0, odd: false })
    }

    fn unpack(word: u64) -> Result<Self> {
        if word & VALID == 0 {
            return Err("uses an mbarrier that is not initialized".to_owned());
        }
        let count = |shift: u32| (word >> shift) as i64 & MOST;
        // Moves the 21 bits to the top, and extends the sign.
        let bytes = (word << (64 - 21 - PENDING_BYTES)) as i64 >> (64 - 21);
        Ok(Self { pending: count(0), expected: count(EXPECTED), bytes, odd: word & PHASE != 0 })
    }

    fn pack(self) -> u64 {
        let bytes = (self.bytes as u64 & ((1 << 21) - 1)) << PENDING_BYTES;
        let phase = if self.odd { PHASE } else { 0 };
        self.pending as u64 | (self.expected as u64) << EXPECTED | bytes | VALID | phase
    }

    /// Changes the number of pending arrivals by -`count`.
    fn arrive(&mut self, count: u32) -> Result<()> {
        let count = i64::from(count);
        if count < 1 || count > self.pending {
            return Err(format!(
                "arrives {count} times, but the mbarrier expects {} more arrivals",
                self.pending
            ));
        }
        self.pending -= count;
        Ok(())
    }

    /// Expects one more arrival in this phase.
    fn expect_one(&mut self) -> Result<()> {
        if self.pending == MOST {
            return Err(format!("expects more than {MOST} arrivals"));
        }
        self.pending += 1;
        Ok(())
    }

    /// Changes the number of pending bytes.
    fn expect_bytes(&mut self, bytes: i64) -> Result<()> {
        self.bytes += bytes;
        if self.bytes.abs() > MOST {
            return Err(format!("makes {} bytes pending; must be -{MOST} to {MOST}", self.bytes));
        }
        Ok(())
    }

    /// Starts the next phase if this one has ended. Returns whether it has.
    fn end_phase(&mut self) -> bool {
        let ended = self.pending == 0 && self.bytes == 0;
        if ended {
            (self.pending, self.odd) = (self.expected, !self.odd);
        }
        ended
    }
}

impl Completion {
    /// Changes the barrier. Returns whether a phase has ended in the CTA, in whose environment it must be called. Wakes
    /// other CTAs of the cluster ([`RunningClusters`](crate::clusters::RunningClusters)). Does not change an mbarrier of an
    /// ended CTA. `place` is the CTA and the number of the warp.
    ///
    /// # Errors
    /// A [`Fault`] if the object is not initialized or expects no arrival.
    pub fn apply(
        self,
        kernel: &Kernel,
        env: &mut Env,
        (cta, warp): ([u32; 3], u32),
    ) -> std::result::Result<bool, Box<Fault>> {
        let (address, op, operand) = match self.effect {
            CompletionEffect::Mbarrier { address, op, operand } => (address, op, operand),
            CompletionEffect::ClusterPhase => {
                env.memory.clusters_mut().show_phase();
                return Ok(false);
            }
        };
        let own = env.rank();
        let rank = clusters::rank(address.into(), own);
        if env.memory.clusters().has_ended(rank) {
            return Ok(false);
        }
        let changed =
            env.shared_at(address.into(), BYTES.into()).and_then(|word| change(op, word, operand, 0));
        let (_, ended) = changed.map_err(|what| {
            Box::new(Fault {
                file: kernel.file.clone(),
                kernel: kernel.name.clone(),
                line: kernel.code[self.pc as usize].line,
                text: kernel.text(self.pc).to_owned(),
                cta,
                thread: special::thread_index(env.launch, warp, self.lane.into()),
                address: address.into(),
                what,
            })
        })?;
        if ended && rank != own {
            env.memory.clusters_mut().wake(rank);
        }
        Ok(ended && rank == own)
    }
}

/// Checks the address of an object.
pub(super) fn check_address(address: u64, env: &mut Env) -> Result<()> {
    let bytes = u64::from(BYTES);
    if !address.is_multiple_of(bytes) {
        return Err(format!("needs an mbarrier at a multiple of {bytes}, got {address:#x}"));
    }
    env.check_shared(address, bytes, |shared_bytes| {
        format!("needs an mbarrier in shared memory, which has {shared_bytes} bytes, got {address:#x}")
    })
}

/// Applies an operation to the eight bytes of an object. Returns as [`apply`] does.
fn change(op: MbarrierOp, bytes: &mut [u8], operand: u32, state: u64) -> Result<(u64, bool)> {
    let mut word = u64::from_le_bytes(<[u8; 8]>::try_from(&*bytes).expect("a word has eight bytes"));
    let result = apply(op, &mut word, operand, state)?;
    bytes.copy_from_slice(&word.to_le_bytes());
    Ok(result)
}

/// Applies an operation to an object. Returns the result, and whether a phase has ended.
fn apply(op: MbarrierOp, word: &mut u64, operand: u32, state: u64) -> Result<(u64, bool)> {
    let before = *word;
    if op == MbarrierOp::Init {
        *word = Mbarrier::new(operand)?.pack();
        return Ok((0, false));
    }
    let mut object = Mbarrier::unpack(before)?;
    match op {
        MbarrierOp::Init => {}
        MbarrierOp::Invalidate => {
            *word = 0;
            return Ok((0, false));
        }
        MbarrierOp::Arrive { drops, expects_bytes, completes } => {
            let count = if expects_bytes { 1 } else { operand };
            if expects_bytes {
                object.expect_bytes(operand.into())?;
            }
            object.arrive(count)?;
            object.expected -= if drops { i64::from(count) } else { 0 };
            if object.expected < 0 {
                return Err("drops more arrivals than a phase expects".to_owned());
            }
            if !completes && object.pending == 0 {
                return Err("completes the phase, which .noComplete forbids".to_owned());
            }
        }
        MbarrierOp::ArriveLater { counted } => {
            if !counted {
                object.expect_one()?;
            }
        }
        MbarrierOp::ExpectBytes => object.expect_bytes(operand.into())?,
        MbarrierOp::CompleteBytes => object.expect_bytes(-i64::from(operand))?,
        MbarrierOp::Wait { parity, .. } => {
            let odd = if parity { operand & 1 != 0 } else { state & PHASE != 0 };
            return Ok(((object.odd != odd).into(), false));
        }
    }
    let ended = op != MbarrierOp::ExpectBytes && object.end_phase();
    *word = object.pack();
    Ok((before, ended))
}

impl MbarrierForm {
    fn memory_form(self) -> MemoryForm {
        MemoryForm {
            space: if self.generic { Space::Generic } else { Space::Shared },
            element: NumberType { number: Number::Unsigned, bits: 8 * BYTES },
            elements: 1,
            wide_register: true,
            register_bits: 64,
            wide_address: self.wide_address,
            cache: CacheOp::All,
            atomic: AtomicOp::Add,
            reduction: false,
        }
    }
}

/// Executes an operation on mbarrier objects. The address is [`Instr::a`] plus [`Instr::offset`]. [`Instr::b`] is the count, the
/// bytes, the state or the parity, and [`Instr::c`] the time limit of a wait.
pub(crate) fn execute(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MbarrierForm,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    access.kind = match form.op {
        MbarrierOp::Init | MbarrierOp::Invalidate => AccessKind::Store,
        MbarrierOp::Wait { .. } => AccessKind::Load,
        _ => AccessKind::Atomic { op: AtomicOp::Add, reduction: instr.d == NONE },
    };
    let others = memory_ops::addresses(warp, kernel, instr, form.memory_form(), mask, access);
    if others != 0 || access.space != Space::Shared {
        let lane = if others != 0 { others } else { mask }.trailing_zeros();
        let what = "needs an mbarrier in shared memory".to_owned();
        return Err(warp.fault(kernel, env.launch, lane, access.address[lane as usize], what));
    }
    if lanes(mask).any(|lane| env.is_remote(access.address[lane])) {
        return message(warp, kernel, env, instr, form.op, mask, access);
    }
    let by_state = matches!(form.op, MbarrierOp::Wait { parity: false, .. });
    let states = if by_state { *warp.double(kernel, instr.b) } else { [0; 32] };
    let operands = if by_state || instr.b == NONE { [1; 32] } else { *warp.word(kernel, instr.b) };
    let (mut results, mut ended, mut refused) = ([0; 32], false, None);
    memory_ops::each_lane(warp, kernel, env, access, |bytes, offset, lane| {
        if refused.is_some() {
            return;
        }
        match change(form.op, &mut bytes[offset..][..BYTES.into()], operands[lane], states[lane]) {
            Ok((result, ends)) => {
                results[lane] = result;
                ended |= ends;
            }
            Err(what) => refused = Some((lane, what)),
        }
    })?;
    if let Some((lane, what)) = refused {
        return Err(warp.fault(kernel, env.launch, lane as u32, access.address[lane], what));
    }
    match form.op {
        MbarrierOp::Wait { suspends, .. } => {
            let done =
                lanes(mask).filter(|&lane| results[lane] != 0).fold(0, |done, lane| done | LANE_BIT[lane]);
            if done != 0 {
                warp.suspended = None;
            } else if suspends {
                let hints = (instr.c != NONE).then(|| *warp.word(kernel, instr.c));
                let hint = hints.and_then(|hints| lanes(mask).map(|lane| hints[lane]).min());
                let limit = SUSPENSION.min(hint.unwrap_or(SUSPENSION));
                if let Some(cycles) = warp.suspend(env, limit) {
                    return Ok(Step::Suspend { cycles });
                }
            }
            warp.write_predicate(instr.d, done, mask);
        }
        MbarrierOp::ArriveLater { .. } => {
            let pc = warp.current.pc;
            access.then.extend(lanes(mask).map(|lane| Completion {
                effect: CompletionEffect::Mbarrier {
                    address: access.address[lane] as u32,
                    op: ARRIVAL,
                    operand: 1,
                },
                pc,
                lane: lane as u8,
            }));
        }
        _ if instr.d != NONE => warp.set_bits(instr.d, 64, &results, mask),
        _ => {}
    }
    warp.advance();
    Ok(match form.op {
        MbarrierOp::ArriveLater { .. } => Step::Async,
        _ if ended => Step::PhaseEnd,
        _ => Step::Memory,
    })
}

/// The arrival of one thread.
const ARRIVAL: MbarrierOp = MbarrierOp::Arrive { drops: false, expects_bytes: false, completes: true };

/// Sends an operation to mbarrier objects, also in other CTAs.
#[cold]
fn message(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    op: MbarrierOp,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    let is_one_way = match op {
        MbarrierOp::Arrive { .. } => instr.d == NONE,
        MbarrierOp::ExpectBytes | MbarrierOp::CompleteBytes => true,
        _ => false,
    };
    let operands = if instr.b == NONE { [1; 32] } else { *warp.word(kernel, instr.b) };
    access.then.clear();
    for lane in lanes(mask) {
        let address = access.address[lane];
        let checked = if is_one_way {
            check_address(address, env)
        } else {
            Err("is only defined for an mbarrier of the own block".to_owned())
        };
        checked.map_err(|what| warp.fault(kernel, env.launch, lane as u32, address, what))?;
        access.then.push(Completion {
            effect: CompletionEffect::Mbarrier { address: address as u32, op, operand: operands[lane] },
            pc: warp.current.pc,
            lane: lane as u8,
        });
    }
    access.mask = 0;
    warp.advance();
    Ok(Step::Message { bytes: 0 })
}

/// Executes `barrier.cluster.arrive` or, if it `waits`, `barrier.cluster.wait`.
pub(crate) fn cluster_barrier(
    warp: &mut Warp,
    env: &mut Env,
    waits: bool,
    mask: u32,
    access: &mut MemAccess,
) -> Step {
    let (phase, seen) = env.memory.clusters().phases();
    if waits && warp.cluster_arrivals(mask, seen) != 0 {
        if warp.live_mask() == warp.current.mask {
            return Step::Suspend { cycles: u32::MAX };
        }
        // Other lanes of the warp may have to arrive.
        warp.take_turns();
        return Step::Yield;
    }
    let pc = warp.current.pc;
    warp.advance();
    if waits {
        warp.cluster_waits &= !mask;
        return Step::Alu { active: mask };
    }
    warp.cluster_waits |= mask;
    warp.cluster_odd = if phase & 1 == 1 { warp.cluster_odd | mask } else { warp.cluster_odd & !mask };
    if !env.memory.clusters_mut().arrive(mask.count_ones()) {
        return Step::Alu { active: mask };
    }
    access.mask = 0;
    access.then.clear();
    let lane = mask.trailing_zeros() as u8;
    access.then.push(Completion { effect: CompletionEffect::ClusterPhase, pc, lane });
    Step::Message { bytes: 0 }
}

impl Warp {
    /// Returns the lanes of `mask` that have arrived at the cluster's barrier in `phase` and have not passed their wait.
    pub(super) fn cluster_arrivals(&self, mask: u32, phase: u32) -> u32 {
        let of_phase = if phase & 1 == 1 { self.cluster_odd } else { !self.cluster_odd };
        mask & self.cluster_waits & of_phase
    }

    /// Suspends the warp for at most `limit` nanoseconds from the first call on. Returns the cycles that are left; `None` after
    /// that time. Lanes that run by turns are not suspended, because other lanes of the warp may have to arrive.
    fn suspend(&mut self, env: &Env, limit: u32) -> Option<u32> {
        let cycles = u64::from(limit) * u64::from(env.core_mhz) / 1000;
        let until = self.suspended.take().unwrap_or(env.clock + cycles);
        let left = until.saturating_sub(env.clock);
        if left == 0 || !self.strands.is_single() {
            return None;
        }
        self.suspended = Some(until);
        Some(left.min(u32::MAX.into()) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_holds_every_state(pending in 0..=MOST, expected in 0..=MOST, bytes in -MOST..=MOST, odd: bool) {
            let object = Mbarrier { pending, expected, bytes, odd };
            prop_assert_eq!(Mbarrier::unpack(object.pack()), Ok(object));
        }
    }
}
