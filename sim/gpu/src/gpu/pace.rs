//! Pace of warps that execute without timing: a simple model of the time that their instructions take. It decides which warp executes
//! next. Warps that share lines then meet them as they do in a simulation in detail.
use crate::config::GpuConfig;
use crate::partition::closed_form::{
    crossbar_latency, dram_peak_bytes_per_core_cycle, dram_read_round_trip, l2_hit_round_trip,
    l2_peak_bytes_per_core_cycle,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Resolution of the model, in parts of a core cycle.
const TICKS: u64 = 16;

/// The level that supplies the data of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupplyLevel {
    L1d,
    L2,
    Dram,
}

/// A time of the model, in parts of a core cycle since the beginning of a fast-forward.
pub type Time = u64;

/// A resource that serves one request at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    free_at: Time,
}

impl Server {
    /// Serves a request of time `at` for `ticks`. Returns the end.
    fn serve(&mut self, at: Time, ticks: u64) -> Time {
        self.free_at = self.free_at.max(at) + ticks;
        self.free_at
    }
}

/// The resources of an SM.
#[derive(Clone, Debug, Default)]
struct SmPace {
    schedulers: Server,
    l1d_port: Server,
    replies: Server,
    /// Times at which instructions leave the load/store unit.
    lsu: BinaryHeap<Reverse<Time>>,
    /// Ends of the misses that occupy MSHRs.
    misses: BinaryHeap<Reverse<Time>>,
}

/// Times of the instructions and accesses of all SMs. A resource serves requests in the order in which they are asked for.
pub struct Pace {
    sms: Vec<SmPace>,
    l2: Vec<Server>,
    dram: Vec<Server>,
    slices_per_partition: usize,
    mshrs: usize,
    lsu_entries: usize,
    issue: u64,
    l1d_hit: u64,
    l2_hit: u64,
    dram_read: u64,
    /// Ticks that the reply of a sector occupies each resource.
    reply: u64,
    l2_sector: u64,
    dram_sector: u64,
    /// Latest time at which data of the current turn come.
    data_at: Time,
}

impl Pace {
    /// Returns the pace of a GPU in which nothing is in flight.
    pub fn new(config: &GpuConfig) -> Self {
        let ticks = |cycles: f64| (cycles * TICKS as f64).round() as u64;
        let (l2, sm) = (&config.l2, &config.sm);
        let slices = (l2.partitions * l2.slices) as usize;
        let sector = f64::from(crate::cache::SECTOR_BYTES);
        let whole = config.l1d.line_bytes;
        let per_core = f64::from(config.clock.core_mhz) / f64::from(config.clock.interconnect_mhz);
        let reply = crossbar_latency(config, whole) - crossbar_latency(config, 0) + 1;
        let served = |bytes_per_cycle: f64, servers: usize| ticks(sector * servers as f64 / bytes_per_cycle);
        Pace {
            sms: vec![SmPace::default(); sm.count as usize],
            l2: vec![Server::default(); slices],
            dram: vec![Server::default(); l2.partitions as usize],
            slices_per_partition: l2.slices as usize,
            mshrs: config.l1d.mshr_entries as usize,
            lsu_entries: sm.lsu.queue as usize,
            issue: TICKS / u64::from(sm.schedulers).clamp(1, TICKS),
            l1d_hit: u64::from(config.l1d.hit_latency) * TICKS,
            l2_hit: ticks(l2_hit_round_trip(config)),
            dram_read: ticks(dram_read_round_trip(config)),
            reply: ticks(reply as f64 * per_core * sector / f64::from(whole)),
            l2_sector: served(l2_peak_bytes_per_core_cycle(config), slices),
            dram_sector: served(dram_peak_bytes_per_core_cycle(config), l2.partitions as usize),
            data_at: 0,
        }
    }

    /// Returns the time at which the load/store unit has room; `None` if it has room at time `at`.
    pub fn room_at(&mut self, sm: usize, at: Time) -> Option<Time> {
        let lsu = &mut self.sms[sm].lsu;
        while lsu.peek().is_some_and(|Reverse(left)| *left <= at) {
            lsu.pop();
        }
        lsu.peek().filter(|_| lsu.len() >= self.lsu_entries).map(|Reverse(left)| *left)
    }

    /// Ends the transactions of a memory instruction, which leaves the load/store unit after the last one.
    pub fn end_access(&mut self, sm: usize) {
        let SmPace { lsu, l1d_port, .. } = &mut self.sms[sm];
        lsu.push(Reverse(l1d_port.free_at));
    }

    /// Ends a turn of `instructions` instructions of a warp that began at `at` and wait for each other for `latency` cycles. Returns
    /// its end, and the end of its loads.
    pub fn end_turn(&mut self, sm: usize, at: Time, instructions: u64, latency: u64) -> (Time, Time) {
        let issued = self.sms[sm].schedulers.serve(at, instructions * self.issue);
        (issued.max(at + latency * TICKS), std::mem::take(&mut self.data_at))
    }

    /// Counts a transaction of a store at time `at`, which no warp waits for.
    pub fn store(&mut self, sm: usize, at: Time) {
        self.sms[sm].l1d_port.serve(at, TICKS);
    }

    /// Counts a transaction of a load at time `at`. `level` in `slice` supplies `sectors` sectors that miss in the L1D.
    pub fn read(&mut self, sm: usize, at: Time, slice: usize, level: SupplyLevel, sectors: u64) {
        let pace = &mut self.sms[sm];
        let mut begin = pace.l1d_port.serve(at, TICKS);
        if level == SupplyLevel::L1d {
            self.data_at = self.data_at.max(begin + self.l1d_hit);
            return;
        }
        if pace.misses.len() >= self.mshrs
            && let Some(Reverse(first)) = pace.misses.pop()
        {
            begin = begin.max(first);
            // The port waits with the transaction.
            pace.l1d_port.free_at = pace.l1d_port.free_at.max(begin);
        }
        let replied = pace.replies.serve(begin, sectors * self.reply);
        let mut end = self.l2[slice].serve(begin, sectors * self.l2_sector).max(replied) + self.l2_hit;
        if level == SupplyLevel::Dram {
            let served =
                self.dram[slice / self.slices_per_partition].serve(begin, sectors * self.dram_sector);
            end = end.max(served + self.dram_read);
        }
        pace.misses.push(Reverse(end));
        self.data_at = self.data_at.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURATIONS: [&str; 3] = ["gtx480", "titan-v", "a100"];

    /// Returns the core cycles from time 0 until the data of a turn of `reads` reads come.
    fn cycles(config: &GpuConfig, reads: impl FnOnce(&mut Pace)) -> f64 {
        let mut pace = Pace::new(config);
        reads(&mut pace);
        pace.end_turn(0, 0, 1, 0).1 as f64 / TICKS as f64
    }

    #[test]
    fn a_read_alone_takes_the_unloaded_round_trip() {
        for name in CONFIGURATIONS {
            let config = GpuConfig::load(name).expect("built in");
            let alone = |level| cycles(&config, |pace| pace.read(0, 0, 0, level, 1));
            let near = |cycles: f64, expected: f64| (0.0..12.0).contains(&(cycles - expected));
            assert!(near(alone(SupplyLevel::L1d), config.l1d.hit_latency.into()), "{name}");
            assert!(near(alone(SupplyLevel::L2), l2_hit_round_trip(&config)), "{name}");
            assert!(near(alone(SupplyLevel::Dram), dram_read_round_trip(&config)), "{name}");
        }
    }

    #[test]
    fn many_reads_take_the_time_of_the_dram_bus() {
        for name in CONFIGURATIONS {
            let mut config = GpuConfig::load(name).expect("built in");
            config.l1d.mshr_entries = 1024;
            let (slices, sms) =
                ((config.l2.partitions * config.l2.slices) as usize, config.sm.count as usize);
            let reads = 1000 * slices;
            let taken = cycles(&config, |pace| {
                (0..reads)
                    .for_each(|number| pace.read(number % sms, 0, number % slices, SupplyLevel::Dram, 4));
            });
            let bus = (reads * 128) as f64 / dram_peak_bytes_per_core_cycle(&config);
            let share = bus / taken;
            assert!((0.85..1.02).contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn a_read_waits_for_the_first_free_mshr() {
        let mut config = GpuConfig::load("gtx480").expect("built in");
        config.l1d.mshr_entries = 1;
        let two =
            cycles(&config, |pace| (0..2).for_each(|slice| pace.read(0, 0, slice, SupplyLevel::Dram, 1)));
        config.l1d.mshr_entries = 2;
        let beside =
            cycles(&config, |pace| (0..2).for_each(|slice| pace.read(0, 0, slice, SupplyLevel::Dram, 1)));
        assert!(two > 2.0 * dram_read_round_trip(&config) && beside < 1.2 * dram_read_round_trip(&config));
    }
}
