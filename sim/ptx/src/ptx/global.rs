//! Global memory as an instruction finds it: all of it, or as it was when a window of cycles began, with a log of what is to
//! happen to it.
//!
//! Who executes instructions of several SMs at the same time lets each find the memory of the window's beginning, and
//! replays the logs in the order that the instructions have ([`Warp::replay`](super::Warp::replay)).
use super::access::MemAccess;
use super::instr::Kernel;
use super::memory_ops;
use super::warp::Warp;
use crate::memory::DeviceMemory;
use std::ops::Deref;

/// Global memory as an instruction finds it.
#[derive(Debug)]
pub enum Global<'a> {
    /// All of it: what the instruction does happens at once.
    Whole(&'a mut DeviceMemory),
    /// As it was when a window began: what the instruction does is logged.
    Frozen {
        /// The memory.
        memory: &'a DeviceMemory,
        /// What is to happen to it.
        log: &'a mut AccessLog,
    },
}

impl Deref for Global<'_> {
    type Target = DeviceMemory;

    #[inline]
    fn deref(&self) -> &DeviceMemory {
        match self {
            Global::Whole(memory) => memory,
            Global::Frozen { memory, .. } => memory,
        }
    }
}

impl Global<'_> {
    /// Returns the same memory for a shorter time, with the address space of `program`. Of a frozen one, which has had only one, it is
    /// selected.
    #[inline]
    pub fn of_program(&mut self, program: u8) -> Global<'_> {
        match self {
            Global::Whole(memory) => {
                memory.select(program);
                Global::Whole(memory)
            }
            Global::Frozen { memory, log } => Global::Frozen { memory, log },
        }
    }

    /// Returns the memory, to change it.
    ///
    /// # Panics
    /// When it is frozen: a kernel that calls the system never finds it so.
    #[inline]
    pub fn whole(&mut self) -> &mut DeviceMemory {
        match self {
            Global::Whole(memory) => memory,
            Global::Frozen { .. } => unreachable!("a frozen memory is only read"),
        }
    }
}

/// What is to happen at an access to global memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    /// The value that was read comes into the register, from buffers with these bits.
    Load { buffers: u64 },
    /// The bytes of the log from `from` on are written, those of each lane in turn.
    Store { from: usize },
    /// The operands of the log from `from` on, two rows of lanes, go into the memory; the old value comes into the register.
    Atomic { from: usize },
}

/// An access to global memory that is to happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    pub pc: u32,
    pub mask: u32,
    /// Bytes of each lane.
    pub bytes: u8,
    pub address: [u64; 32],
    pub effect: Effect,
}

/// Accesses to global memory that are to happen, in order.
#[derive(Debug, Default)]
pub struct AccessLog {
    pub(super) accesses: Vec<Logged>,
    pub(super) bytes: Vec<u8>,
    pub(super) operands: Vec<[u64; 32]>,
    /// The buffer that was accessed last.
    pub(super) last_hit: usize,
}

impl AccessLog {
    /// Returns how many accesses there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.accesses.clear();
        self.bytes.clear();
        self.operands.clear();
    }

    pub(super) fn push(&mut self, pc: u32, access: &MemAccess, effect: Effect) {
        let MemAccess { mask, bytes, address, .. } = *access;
        self.accesses.push(Logged { pc, mask, bytes, address, effect });
    }
}

impl Warp {
    /// Lets access `number` of a log, which is one of this warp, happen to `memory`. A load reads again what has been written
    /// since [`DeviceMemory::take_written`] was called.
    pub fn replay(&mut self, kernel: &Kernel, memory: &mut DeviceMemory, log: &AccessLog, number: usize) {
        let logged = &log.accesses[number];
        match logged.effect {
            Effect::Load { buffers } if !memory.has_written(buffers) => {}
            Effect::Load { .. } => memory_ops::load_again(self, kernel, memory, logged),
            Effect::Store { from } => memory_ops::store_logged(memory, logged, &log.bytes[from..]),
            Effect::Atomic { from } => {
                let rows = [log.operands[from], log.operands[from + 1]];
                memory_ops::atomic_logged(self, kernel, memory, logged, rows);
            }
        }
    }
}
