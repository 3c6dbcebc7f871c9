//! Golden model of the AWT: a list of entries, and the valid entries as a set of bits.
use super::params::AwtParams;
use super::rtl::{AwtIn, AwtOut};
use crate::widths::WARPS;
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// An entry of the table. It keeps its contents after it becomes free.
#[derive(Clone, Copy, Debug, Default, State)]
struct AwtEntry {
    warp: u8,
    sr: u8,
    high: bool,
    /// Inst.ID of the next instruction.
    inst: u8,
    context: DeployedContext,
}

/// The part of an entry that is in a memory, which has no reset.
#[derive(Clone, Copy, Debug, Default, State)]
struct DeployedContext {
    mask: u32,
    live_in: u16,
    live_out: u16,
    end: u8,
}

/// Golden model of the AWT.
#[derive(Clone, Debug, State)]
pub struct AwtModel {
    params: AwtParams,
    entries: Vec<AwtEntry>,
    /// Entries in use, one bit each.
    valid: u64,
    /// The entry that was deployed last.
    last: u32,
}

/// Returns the bits of a set, lowest first.
fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest as usize)
    })
}

impl AwtModel {
    /// Returns a model with an empty table. The parameters must be valid.
    pub fn new(params: &AwtParams) -> Self {
        AwtModel {
            params: *params,
            entries: vec![AwtEntry::default(); params.entries as usize],
            valid: 0,
            last: params.entries - 1,
        }
    }

    /// Returns the entries in use for which `test` holds, one bit each.
    fn which(&self, test: impl Fn(&AwtEntry) -> bool) -> u64 {
        members(self.valid).filter(|index| test(&self.entries[*index])).fold(0, |set, index| set | 1 << index)
    }

    /// Returns the entry for a trigger, or `None` if the trigger is refused.
    fn place(&self, inputs: &AwtIn) -> Option<u32> {
        let same = |e: &AwtEntry| e.warp == inputs.trigger_warp_i && e.sr == inputs.trigger_sr_i;
        let from = if inputs.trigger_high_i { 0 } else { self.params.high_only() };
        let free = (from..self.params.entries).find(|index| self.valid >> index & 1 == 0);
        free.filter(|_| self.which(same) == 0)
    }

    fn killed(&self, inputs: &AwtIn) -> u64 {
        if !inputs.kill_high_i && !inputs.kill_low_i {
            return 0;
        }
        let class = |e: &AwtEntry| if e.high { inputs.kill_high_i } else { inputs.kill_low_i };
        self.which(|e| e.warp == inputs.kill_warp_i && class(e))
    }

    /// Returns the first ready entry after the entry that was deployed last, or else the first ready entry.
    fn next(&self, inputs: &AwtIn, killed: u64) -> Option<usize> {
        let high = |e: &AwtEntry| usize::from(e.warp) < WARPS && inputs.high_room_i >> e.warp & 1 == 1;
        let ready = self.which(|e| if e.high { high(e) } else { inputs.low_room_i }) & !killed;
        let behind = ready & !((2u64 << self.last).wrapping_sub(1));
        members(if behind == 0 { ready } else { behind }).next()
    }

    fn outputs(&self, inputs: &AwtIn, next: Option<usize>) -> AwtOut {
        // The memory is read at address 0 when nothing is deployed.
        let context = self.entries[next.unwrap_or(0)].context;
        let entry = next.map(|index| self.entries[index]).unwrap_or_default();
        AwtOut {
            trigger_ready_o: self.place(inputs).is_some(),
            full_o: self.valid.count_ones() == self.params.entries,
            deploy_valid_o: next.is_some(),
            deploy_warp_o: entry.warp,
            deploy_high_o: entry.high,
            deploy_sr_o: entry.sr,
            deploy_inst_o: entry.inst,
            deploy_last_o: next.is_some() && entry.inst == context.end,
            deploy_mask_o: context.mask,
            deploy_live_in_o: context.live_in,
            deploy_live_out_o: context.live_out,
            active_o: self.valid,
        }
    }
}

impl Clocked<AwtIn, AwtOut> for AwtModel {
    #[inline]
    fn step(&mut self, inputs: &AwtIn) -> AwtOut {
        let killed = self.killed(inputs);
        let next = self.next(inputs, killed);
        let outputs = self.outputs(inputs, next);
        let place = self.place(inputs).filter(|_| inputs.trigger_valid_i);
        self.valid &= !killed;
        if let Some(index) = next {
            self.last = index as u32;
            self.entries[index].inst = (self.entries[index].inst + 1) % 128;
            if outputs.deploy_last_o {
                self.valid &= !(1 << index);
            }
        }
        if let Some(index) = place {
            self.valid |= 1 << index;
            self.entries[index as usize] = AwtEntry {
                warp: inputs.trigger_warp_i,
                sr: inputs.trigger_sr_i,
                high: inputs.trigger_high_i,
                inst: 0,
                context: DeployedContext {
                    mask: inputs.trigger_mask_i,
                    live_in: inputs.trigger_live_in_i,
                    live_out: inputs.trigger_live_out_i,
                    end: inputs.trigger_end_i,
                },
            };
        }
        outputs
    }

    fn reset(&mut self) {
        self.valid = 0;
        self.last = self.params.entries - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_ROOM: AwtIn = AwtIn {
        trigger_valid_i: false,
        trigger_warp_i: 0,
        trigger_high_i: true,
        trigger_sr_i: 0,
        trigger_end_i: 0,
        trigger_mask_i: 0,
        trigger_live_in_i: 0,
        trigger_live_out_i: 0,
        kill_high_i: false,
        kill_low_i: false,
        kill_warp_i: 0,
        high_room_i: u64::MAX,
        low_room_i: true,
    };

    fn trigger(awt: &mut AwtModel, warp: u8, sr: u8, end: u8, high: bool) -> bool {
        let trigger_valid_i = true;
        let (trigger_warp_i, trigger_sr_i, trigger_end_i) = (warp, sr, end);
        let quiet = AwtIn { high_room_i: 0, low_room_i: false, ..ALL_ROOM };
        awt.step(&AwtIn {
            trigger_valid_i,
            trigger_warp_i,
            trigger_sr_i,
            trigger_end_i,
            trigger_high_i: high,
            ..quiet
        })
        .trigger_ready_o
    }

    /// Returns warps and Inst.IDs in the order of deployment.
    fn deployed(awt: &mut AwtModel, inputs: &AwtIn) -> Vec<(u8, u8)> {
        let mut all = Vec::new();
        loop {
            let outputs = awt.step(inputs);
            if !outputs.deploy_valid_o {
                return all;
            }
            all.push((outputs.deploy_warp_o, outputs.deploy_inst_o));
        }
    }

    #[test]
    fn entries_take_turns() {
        let mut awt = AwtModel::new(&AwtParams::default());
        for (warp, end) in [(5, 2), (7, 0), (6, 1)] {
            assert!(trigger(&mut awt, warp, 3, end, true));
        }
        assert_eq!(deployed(&mut awt, &ALL_ROOM), [(5, 0), (7, 0), (6, 0), (5, 1), (6, 1), (5, 2)]);
    }

    #[test]
    fn a_warp_without_room_waits_and_no_other_with_it() {
        let mut awt = AwtModel::new(&AwtParams::default());
        trigger(&mut awt, 5, 3, 1, true);
        trigger(&mut awt, 7, 3, 1, true);
        trigger(&mut awt, 8, 3, 0, false);
        let room = AwtIn { high_room_i: 1 << 7, low_room_i: false, ..ALL_ROOM };
        assert_eq!(deployed(&mut awt, &room), [(7, 0), (7, 1)]);
        assert_eq!(deployed(&mut awt, &ALL_ROOM), [(8, 0), (5, 0), (5, 1)]);
    }

    #[test]
    fn a_routine_runs_once_per_warp() {
        let mut awt = AwtModel::new(&AwtParams::default());
        assert!(trigger(&mut awt, 5, 3, 0, true));
        assert!(!trigger(&mut awt, 5, 3, 0, true), "the same");
        assert!(trigger(&mut awt, 5, 4, 0, true) && trigger(&mut awt, 6, 3, 0, true));
        deployed(&mut awt, &ALL_ROOM);
        assert!(trigger(&mut awt, 5, 3, 0, true));
    }

    #[test]
    fn low_priority_leaves_a_quarter_of_the_table_to_high() {
        let mut awt = AwtModel::new(&AwtParams { entries: 8 });
        let taken = (0..20).filter(|warp| trigger(&mut awt, *warp, 0, 9, false)).count();
        assert_eq!(taken, 6);
        let taken = (20..40).filter(|warp| trigger(&mut awt, *warp, 0, 9, true)).count();
        assert_eq!(taken, 2);
        assert!(awt.step(&ALL_ROOM).full_o);
    }

    #[test]
    fn kill_takes_one_priority_of_one_warp() {
        let mut awt = AwtModel::new(&AwtParams::default());
        trigger(&mut awt, 5, 1, 3, true);
        trigger(&mut awt, 5, 2, 0, false);
        trigger(&mut awt, 6, 1, 0, true);
        let outputs = awt.step(&AwtIn { kill_high_i: true, kill_warp_i: 5, ..ALL_ROOM });
        assert_ne!((outputs.deploy_warp_o, outputs.deploy_sr_o), (5, 1), "not even in this cycle");
        let mut rest: Vec<u8> = deployed(&mut awt, &ALL_ROOM).into_iter().map(|(warp, _)| warp).collect();
        rest.push(outputs.deploy_warp_o);
        rest.sort_unstable();
        assert_eq!(rest, [5, 6]);
    }
}
