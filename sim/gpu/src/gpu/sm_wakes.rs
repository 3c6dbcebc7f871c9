//! The SMs that have work: cycles in which they must run, and SMs that wait for room in the crossbar.
use crate::id_set::IdSet;
use crate::partition::MemorySystem;
use crate::sm::Sm;
use crate::wakes::Wakes;
use selvedge_state::State;

/// The SMs that have work.
#[derive(State)]
pub struct SmWakes {
    wakes: Wakes,
    /// Per SM, `true` while a packet waits for space in the crossbar.
    port_waits: Vec<bool>,
    /// SMs that must run in this cycle; empty between cycles.
    due: IdSet,
}

impl SmWakes {
    /// Returns `count` SMs that sleep.
    pub fn new(count: usize) -> Self {
        SmWakes { wakes: Wakes::new(count), port_waits: vec![false; count], due: IdSet::new(count) }
    }

    /// Wakes an SM in cycle `at`.
    #[inline(always)]
    pub fn set(&mut self, id: usize, now: u64, at: u64) {
        self.wakes.set(id, now, at);
    }

    /// Returns whether any SM has work in the next cycle.
    #[inline(always)]
    pub fn has_next(&self) -> bool {
        self.wakes.has_next()
    }

    /// Returns the next cycle in which an SM has work; `u64::MAX` if all wait for the memory system.
    #[inline(always)]
    pub fn first(&mut self) -> u64 {
        self.wakes.first()
    }

    /// Begins cycle `now`. Wakes the SMs with an arrived reply, and those with a waiting packet that fits the crossbar now.
    #[inline(always)]
    pub fn begin(&mut self, now: u64, system: &mut MemorySystem) {
        self.wakes.take_due(now, &mut self.due);
        let count = self.port_waits.len();
        if !system.shares_ports() {
            self.due.add_all(system.replies());
        } else if !system.replies().is_empty() {
            let with_reply = (0..count).filter(|id| system.has_reply(*id));
            with_reply.for_each(|id| self.due.insert(id));
        }
        if system.has_room_for_any() {
            for id in 0..count {
                if system.has_room(id) {
                    self.due.insert(id);
                }
            }
        }
    }

    /// Returns the next SM that must run in this cycle.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<usize> {
        // An SM that `share_port` adds during a cycle has a higher number, so that `pop` still finds it in this cycle.
        self.due.pop()
    }

    /// Ends the cycle of an SM, which must run again in cycle `wake`.
    #[inline(always)]
    pub fn end(&mut self, id: usize, now: u64, wake: u64, sm: &Sm, system: &mut MemorySystem) {
        self.wakes.set(id, now, wake);
        let waiting = sm.port_wait();
        if system.shares_ports() {
            self.share_port(id, now, waiting.is_some(), system);
        } else if waiting.is_some() || self.port_waits[id] {
            system.await_room(id, waiting);
            self.port_waits[id] = waiting.is_some();
        }
    }

    /// Lets an SM that shares its port retry it in each cycle. Wakes the next SM if its reply was behind the one taken here.
    #[cold]
    fn share_port(&mut self, id: usize, now: u64, waits: bool, system: &MemorySystem) {
        if waits {
            self.wakes.set(id, now, now + 1);
        }
        if id + 1 < self.port_waits.len() && system.has_reply(id + 1) {
            self.due.insert(id + 1);
        }
    }
}
