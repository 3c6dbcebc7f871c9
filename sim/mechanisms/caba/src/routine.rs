//! Routines of assist warps, their places in the assist warp store, and the events that start them.
use super::instruction::Instruction;
use super::lanes::registers_of;
use selvedge_hw_caba::awc::AwcIn;
use selvedge_state::State;

/// Words of a slot of the store. A routine starts at the first word of a slot.
const SLOT_WORDS: usize = 16;

/// Slots of the store.
pub const SLOTS: usize = 32;

/// A subroutine of an assist warp.
#[derive(Clone, Debug, State)]
pub struct Routine {
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The active mask: the lanes in which it runs.
    pub mask: u32,
}

impl Routine {
    /// Returns the routine with the second set of registers.
    pub(crate) fn in_second_set(&self) -> Routine {
        let code = self.code.iter().map(|instruction| Instruction { second: true, ..*instruction });
        Routine { code: code.collect(), mask: self.mask }
    }
}

/// A routine with the event that starts it.
#[derive(Clone, Debug, State)]
struct EventRoutine {
    /// Number of the event.
    pub event: u8,
    /// `true` for high priority.
    pub high: bool,
    /// The routine.
    pub routine: Routine,
}

/// The routines of a mechanism.
#[derive(Clone, Debug, Default, State)]
pub struct Routines {
    entries: Vec<EventRoutine>,
    /// `true` if the routines of high priority exist for two sets of registers.
    doubled: bool,
}

impl Routines {
    /// Adds a routine. No other routine may have the same event.
    pub fn add(&mut self, event: u8, high: bool, routine: Routine) {
        debug_assert!(self.entries.iter().all(|entry| entry.event != event), "one routine per event");
        self.entries.push(EventRoutine { event, high, routine });
    }

    /// Returns the active mask of an event's routine.
    pub fn mask(&self, event: u8) -> u32 {
        self.entries.iter().find(|entry| entry.event == event).map_or(0, |entry| entry.routine.mask)
    }

    /// Returns whether a routine of this priority exists.
    pub fn have(&self, high: bool) -> bool {
        self.entries.iter().any(|entry| entry.high == high)
    }

    /// Returns the 32-bit registers of each thread that suffice for any routine of one priority.
    pub(crate) fn registers_of(&self, high: bool) -> u32 {
        let mine = self.entries.iter().filter(|entry| entry.high == high);
        mine.map(|entry| registers_of(&entry.routine.code)).max().unwrap_or(0)
    }

    /// Returns the 32-bit registers of each thread that the assist warps need. A warp has one routine of low priority at a
    /// time, or one of high priority in each set.
    pub fn registers(&self) -> u32 {
        self.registers_of(false).max(u32::from(self.sets()) * self.registers_of(true))
    }

    /// Returns the number of sets of registers for routines of high priority.
    pub fn sets(&self) -> u8 {
        1 + u8::from(self.doubled)
    }

    /// Returns the slots of the store that the routines of one priority need.
    pub(crate) fn slots_of(&self, high: bool) -> usize {
        let mine = self.entries.iter().filter(|entry| entry.high == high);
        mine.map(|entry| entry.routine.code.len().div_ceil(SLOT_WORDS)).sum()
    }

    /// Adds each routine of high priority again, with the second set of registers and the event that `second` returns.
    pub fn double(&mut self, second: impl Fn(u8) -> u8) {
        let high: Vec<EventRoutine> = self.entries.iter().filter(|entry| entry.high).cloned().collect();
        for EventRoutine { event, high, routine } in high {
            self.add(second(event), high, routine.in_second_set());
        }
        self.doubled = true;
    }

    /// Returns the inputs with which a controller loads the store and the event map, one per cycle.
    pub fn loading(&self) -> Vec<AwcIn> {
        let mut cycles = Vec::new();
        let mut slot = 0;
        for EventRoutine { event, high, routine } in &self.entries {
            let first = slot * SLOT_WORDS;
            let words = routine.code.iter().enumerate().map(|(index, instruction)| AwcIn {
                load_i: true,
                load_address_i: (first + index) as u16,
                load_data_i: instruction.word(),
                ..AwcIn::default()
            });
            cycles.extend(words);
            // The routine's last word also writes the event's entry of the map.
            if let Some(last) = cycles.last_mut() {
                last.map_write_i = true;
                last.map_event_i = *event;
                last.map_enable_i = true;
                last.map_high_i = *high;
                last.map_sr_i = slot as u8;
                last.map_end_i = (routine.code.len() - 1) as u8;
            }
            slot += routine.code.len().div_ceil(SLOT_WORDS);
        }
        debug_assert!(slot <= SLOTS, "the store holds them all");
        cycles
    }
}
