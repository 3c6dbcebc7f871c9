//! Measures the host time per simulated core cycle of the memory system, under full load and without load. The load resembles
//! vector addition: each SM reads two streams and writes a third, in lines of 128 bytes.
//!
//! `cargo run --release -p selvedge-sim --example memory_speed [core cycles]`
use selvedge_sim::config::{ClockConfig, GpuConfig};
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::packet::{Operations, Packet, PacketKind};
use selvedge_sim::partition::{AddressMap, MemorySystem};
use std::time::Instant;

/// Ticks each clock domain in the ratio of its clock to the core clock.
struct Domains {
    clock: ClockConfig,
    phase: [u32; 3],
    cycles: [u64; 3],
}

impl Domains {
    fn tick(&mut self, system: &mut MemorySystem, memory: &DeviceMemory) {
        let mhz = [self.clock.interconnect_mhz, self.clock.l2_mhz, self.clock.dram_mhz];
        for (domain, rate) in mhz.into_iter().enumerate() {
            self.phase[domain] += rate;
            while self.phase[domain] >= self.clock.core_mhz {
                self.phase[domain] -= self.clock.core_mhz;
                self.cycles[domain] += 1;
                let now = self.cycles[domain];
                match domain {
                    0 => system.tick_interconnect(now),
                    1 => system.tick_l2(now, memory).expect("the base GPU has no mechanism that fails"),
                    _ => system.tick_dram(now),
                }
            }
        }
    }
}

/// Returns the packet for access `number`: reads of streams 0 and 1, then a write of stream 2, line by line.
fn access(map: &AddressMap, sm: u16, number: u64) -> Packet {
    const STREAM_BYTES: u64 = 1 << 26;
    let (stream, line) = (number % 3, number / 3);
    let address = (stream * STREAM_BYTES) + line * 128;
    let write = stream == 2;
    Packet {
        kind: if write { PacketKind::Write } else { PacketKind::Read },
        line: address,
        sectors: 0xf,
        full_sectors: true,
        words: u64::MAX,
        operations: Operations::default(),
        data_bytes: if write { 128 } else { 0 },
        sm,
        slice: map.slice(address),
        kernel: 0,
        token: 0,
        payload: 0,
        witness: 0,
    }
}

fn main() {
    let cycles = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(500_000u64);
    let config = GpuConfig::load("gtx480").expect("built in");
    let memory = DeviceMemory::new();
    let map = AddressMap::new(&config.l2);
    let sms = config.sm.count as usize;

    let mut system = MemorySystem::base(&config);
    let mut domains = Domains { clock: config.clock, phase: [0; 3], cycles: [0; 3] };
    let (mut sent, mut received) = (0u64, 0u64);
    let start = Instant::now();
    for cycle in 0..cycles {
        let sm = (cycle % sms as u64) as usize;
        let packet = access(&map, sm as u16, sent);
        if system.can_send(sm, &packet) {
            system.send(sm, packet);
            sent += 1;
        }
        domains.tick(&mut system, &memory);
        for sm in 0..sms {
            if system.has_reply(sm) {
                received += u64::from(system.receive(sm).is_some());
            }
        }
    }
    let loaded = start.elapsed();
    let stats = system.stats();
    println!("loaded: {:.0} ns per core cycle", loaded.as_nanos() as f64 / cycles as f64);
    println!("        {sent} requests sent, {received} answered in {cycles} core cycles");
    println!(
        "        DRAM bus {:.1}% busy, {:.1}% row hits, {} activates",
        100.0 * stats.dram.busy_cycles as f64 / stats.dram.cycles as f64,
        100.0 * stats.dram.row_hits as f64 / (stats.dram.reads + stats.dram.writes) as f64,
        stats.dram.activates
    );

    let mut idle = MemorySystem::base(&config);
    let mut domains = Domains { clock: config.clock, phase: [0; 3], cycles: [0; 3] };
    let start = Instant::now();
    for _ in 0..cycles {
        domains.tick(&mut idle, &memory);
    }
    println!("idle:   {:.1} ns per core cycle", start.elapsed().as_nanos() as f64 / cycles as f64);
}
