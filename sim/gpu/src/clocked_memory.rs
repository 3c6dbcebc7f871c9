//! The memory system with its clocks, for SMs or L1Ds outside the simulator.
//!
//! ```text
//! offer()  -->  request crossbar  -->  L2 slices  <-->  DRAM
//! reply()  <--  reply crossbar    <--
//! ```
//!
//! [`ClockedMemory::tick`] runs a core cycle of [`crate::gpu::Gpu`] without its SMs. A request offered between two ticks takes as
//! long as one that an SM sends in the first of the two cycles. Packets carry no data.
use crate::cache::SECTOR_BYTES;
use crate::config::GpuConfig;
use crate::dram::ADDRESS_BITS;
use crate::gpu::ClockDomain;
use crate::packet::{Operations, Packet, PacketKind};
use crate::partition::{AddressMap, MemoryStats, MemorySystem};
use crate::stage::MechanismFault;
use selvedge_ptx::memory::DeviceMemory;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperation {
    /// Reads every sector of the line that contains one of the bytes.
    Read,
    /// Writes the bytes.
    Write,
    /// Reads and writes the bytes at the L2, with one operation per word of 4 bytes.
    Atomic,
}

/// A request to one line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRequest {
    /// Number of the SM that sends the request.
    pub sm: u32,
    /// Kind of the request.
    pub operation: MemoryOperation,
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes. All must lie in one line.
    pub bytes: u32,
    /// Tag of the sender, returned in the reply.
    pub tag: u64,
}

/// The reply to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineReply {
    /// The request.
    pub request: LineRequest,
    /// Core cycle in which the request was accepted.
    pub sent: u64,
    /// Core cycle in which the reply was received.
    pub received: u64,
}

/// A request that no SM can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRequest {
    /// The SM does not exist.
    #[error("SM {sm}: must be 0 to {last}")]
    Sm {
        /// Number of the SM.
        sm: u32,
        /// Number of the last SM.
        last: u32,
    },
    /// The request has no bytes, or bytes of several lines.
    #[error("{bytes} bytes at {address:#x}: must be 1 or more of one line of {line_bytes} bytes")]
    Bytes {
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        bytes: u32,
        /// Bytes per line.
        line_bytes: u32,
    },
    /// The address is beyond the DRAM.
    #[error("address {address:#x}: must be below {end:#x}")]
    Address {
        /// The address.
        address: u64,
        /// First address beyond the DRAM.
        end: u64,
    },
}

/// Crossbars, L2 slices and DRAM without a mechanism, with the clocks that drive them.
pub struct ClockedMemory {
    system: MemorySystem,
    map: AddressMap,
    /// Bytes per L1D line. A packet stays within one line.
    line_bytes: u32,
    interconnect: ClockDomain,
    l2: ClockDomain,
    dram: ClockDomain,
    now: u64,
    /// Memory values, which only mechanisms read. Stays empty here.
    values: DeviceMemory,
    /// Requests in flight, indexed by the token of their packets, each with the cycle in which it was accepted.
    in_flight: Vec<(LineRequest, u64)>,
    free: Vec<u32>,
    /// For each SM, the cycle in which it last received a packet.
    received: Vec<u64>,
}

impl ClockedMemory {
    /// Creates an idle memory system with empty caches, in core cycle 0.
    pub fn new(config: &GpuConfig) -> Self {
        let clock = config.clock;
        let domain = |mhz| ClockDomain::new(mhz, clock.core_mhz);
        ClockedMemory {
            system: MemorySystem::base(config),
            map: AddressMap::new(&config.l2),
            line_bytes: config.l1d.line_bytes,
            interconnect: domain(clock.interconnect_mhz),
            l2: domain(clock.l2_mhz),
            dram: domain(clock.dram_mhz),
            now: 0,
            values: DeviceMemory::new(),
            in_flight: Vec::new(),
            free: Vec::new(),
            received: vec![u64::MAX; config.sm.count as usize],
        }
    }

    /// Offers a request. Returns `false` if the SM's port of the crossbar has no space for it.
    ///
    /// # Errors
    /// Returns [`BadRequest`] for a request that no SM can send.
    pub fn offer(&mut self, request: &LineRequest) -> Result<bool, BadRequest> {
        let mut packet = self.packet(request)?;
        let sm = request.sm as usize;
        if !self.system.can_send(sm, &packet) {
            return Ok(false);
        }
        let entry = (*request, self.now);
        packet.token = match self.free.pop() {
            Some(token) => {
                self.in_flight[token as usize] = entry;
                token
            }
            None => {
                self.in_flight.push(entry);
                self.in_flight.len() as u32 - 1
            }
        };
        self.system.send(sm, packet);
        Ok(true)
    }

    /// Returns the packet of a request, without its token.
    fn packet(&self, request: &LineRequest) -> Result<Packet, BadRequest> {
        let &LineRequest { sm, operation, address, bytes, .. } = request;
        let sms = self.received.len() as u32;
        if sm >= sms {
            return Err(BadRequest::Sm { sm, last: sms - 1 });
        }
        let end = 1 << ADDRESS_BITS;
        if address >= end {
            return Err(BadRequest::Address { address, end });
        }
        let offset = (address % u64::from(self.line_bytes)) as u32;
        if bytes == 0 || bytes > self.line_bytes - offset {
            return Err(BadRequest::Bytes { address, bytes, line_bytes: self.line_bytes });
        }
        let line = address - u64::from(offset);
        let beyond = offset + bytes;
        let is_read = operation == MemoryOperation::Read;
        let words = match operation {
            MemoryOperation::Read => 0,
            MemoryOperation::Write => ones(offset.div_ceil(4), beyond / 4),
            MemoryOperation::Atomic => ones(offset / 4, beyond.div_ceil(4)),
        };
        let operations = match operation {
            MemoryOperation::Atomic => {
                Operations { all: words.count_ones() as u8, on_one_word: 1, returns: true }
            }
            _ => Operations::default(),
        };
        Ok(Packet {
            kind: match operation {
                MemoryOperation::Read => PacketKind::Read,
                MemoryOperation::Write => PacketKind::Write,
                MemoryOperation::Atomic => PacketKind::Atomic,
            },
            line,
            sectors: ones(offset / SECTOR_BYTES, beyond.div_ceil(SECTOR_BYTES)) as u32,
            full_sectors: offset.is_multiple_of(SECTOR_BYTES) && beyond.is_multiple_of(SECTOR_BYTES),
            words,
            operations,
            data_bytes: if is_read { 0 } else { bytes as u16 },
            sm: sm as u16,
            slice: self.map.slice(line),
            kernel: 0,
            token: 0,
            payload: 0,
            witness: 0,
        })
    }

    /// Runs one core cycle, and the cycles of the other clock domains that fall into it.
    ///
    /// # Errors
    /// Returns the errors of [`MemorySystem::tick_l2`].
    pub fn tick(&mut self) -> Result<(), MechanismFault> {
        self.now += 1;
        let (system, values) = (&mut self.system, &self.values);
        self.dram.step(|cycle| {
            system.tick_dram(cycle);
            Ok::<_, MechanismFault>(())
        })?;
        self.l2.step(|cycle| system.tick_l2(cycle, values))?;
        self.interconnect.step(|cycle| {
            system.tick_interconnect(cycle);
            Ok(())
        })
    }

    /// Removes and returns a reply that has arrived at an SM. An SM receives at most one packet per core cycle.
    ///
    /// # Errors
    /// Returns [`BadRequest::Sm`] if the SM does not exist.
    pub fn reply(&mut self, sm: u32) -> Result<Option<LineReply>, BadRequest> {
        let last = self.received.len() as u32 - 1;
        let Some(received) = self.received.get_mut(sm as usize) else {
            return Err(BadRequest::Sm { sm, last });
        };
        if *received == self.now || !self.system.has_reply(sm as usize) {
            return Ok(None);
        }
        let Some(packet) = self.system.receive(sm as usize) else { return Ok(None) };
        *received = self.now;
        // A fragment of a reply uses the cycle of the SM, but completes no request.
        if packet.kind == PacketKind::Fragment {
            return Ok(None);
        }
        let (request, sent) = self.in_flight[packet.token as usize];
        self.free.push(packet.token);
        Ok(Some(LineReply { request, sent, received: self.now }))
    }

    /// Returns the number of core cycles so far.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Returns the number of SMs.
    pub fn sms(&self) -> u32 {
        self.received.len() as u32
    }

    /// Returns the bytes per L1D line. A request must stay within one line.
    pub fn line_bytes(&self) -> u32 {
        self.line_bytes
    }

    /// Returns whether any request, reply or dirty line is in flight.
    pub fn is_busy(&self) -> bool {
        self.system.busy()
    }

    /// Returns the counters so far.
    pub fn stats(&self) -> MemoryStats {
        self.system.stats()
    }
}

/// Returns a mask of the bits from `from` up to, not including, `to`.
fn ones(from: u32, to: u32) -> u64 {
    let below = |bit: u32| if bit >= u64::BITS { u64::MAX } else { (1 << bit) - 1 };
    below(to) & !below(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::closed_form;

    fn config(keys: &str) -> GpuConfig {
        GpuConfig::parse("test.toml", &format!("base = \"gtx480\"\n{keys}")).expect("valid")
    }

    fn read(address: u64, bytes: u32) -> LineRequest {
        LineRequest { sm: 3, operation: MemoryOperation::Read, address, bytes, tag: address | 1 << 63 }
    }

    /// Sends a request to an idle memory system and returns its reply.
    fn serve(memory: &mut ClockedMemory, request: &LineRequest) -> LineReply {
        assert!(!memory.is_busy());
        assert_eq!(memory.offer(request), Ok(true));
        for _ in 0..1000 {
            memory.tick().expect("no mechanism is there");
            if let Some(reply) = memory.reply(request.sm).expect("the SM is there") {
                assert_eq!(reply.request, *request);
                while memory.is_busy() {
                    memory.tick().expect("no mechanism is there");
                }
                return reply;
            }
        }
        panic!("no reply");
    }

    fn latency(memory: &mut ClockedMemory, request: &LineRequest) -> f64 {
        let reply = serve(memory, request);
        (reply.received - reply.sent) as f64
    }

    #[test]
    fn round_trips_without_load_are_the_closed_forms() {
        let equal = "[clock]\ncore_mhz = 1000\ninterconnect_mhz = 1000\nl2_mhz = 1000\ndram_mhz = 1000";
        for keys in ["", equal, "[clock]\ninterconnect_mhz = 700\nl2_mhz = 1400"] {
            let config = config(keys);
            let mut memory = ClockedMemory::new(&config);
            let (partitions, map) = (config.l2.partitions, AddressMap::new(&config.l2));
            // One line per row, in two banks of every partition.
            for n in 0..2 * partitions {
                let local = u64::from(n / partitions * config.dram.row_bytes);
                let line = read(map.global((n % partitions) as u16, local), config.l2.line_bytes);
                let miss = latency(&mut memory, &line) - closed_form::dram_read_round_trip(&config);
                let hit = latency(&mut memory, &line) - closed_form::l2_hit_round_trip(&config);
                assert!(miss.abs() <= closed_form::dram_read_spread(&config), "{keys}: {miss}");
                assert!(hit.abs() <= closed_form::l2_hit_spread(&config), "{keys}: {hit}");
            }
            let cache = memory.stats().l2.cache;
            assert_eq!((cache.hits, cache.misses), (12, 12));
        }
    }

    #[test]
    fn a_request_becomes_the_packet_of_its_bytes() {
        let memory = ClockedMemory::new(&config(""));
        let packet = |operation, address, bytes| {
            let request = LineRequest { operation, ..read(address, bytes) };
            let packet = memory.packet(&request).expect("valid");
            (packet.line, packet.sectors, packet.full_sectors, packet.words, packet.data_bytes)
        };
        assert_eq!(packet(MemoryOperation::Read, 0x1234, 4), (0x1200, 0b10, false, 0, 0));
        assert_eq!(packet(MemoryOperation::Read, 0x1200, 128), (0x1200, 0b1111, true, 0, 0));
        assert_eq!(packet(MemoryOperation::Write, 0x1200, 128), (0x1200, 0b1111, true, 0xffff_ffff, 128));
        assert_eq!(packet(MemoryOperation::Write, 0x1220, 32), (0x1200, 0b10, true, 0xff00, 32));
        // A word is covered only if the write contains all its bytes.
        assert_eq!(packet(MemoryOperation::Write, 0x121e, 8), (0x1200, 0b11, false, 0x100, 8));
        assert_eq!(packet(MemoryOperation::Write, 0x1201, 2), (0x1200, 0b1, false, 0, 2));
        assert_eq!(packet(MemoryOperation::Atomic, 0x1204, 4), (0x1200, 0b1, false, 0b10, 4));
    }

    #[test]
    fn what_no_sm_could_send_is_refused_in_one_line() {
        let mut memory = ClockedMemory::new(&config(""));
        let mut line = |request: LineRequest| memory.offer(&request).expect_err("it is wrong").to_string();
        assert_eq!(line(LineRequest { sm: 15, ..read(0, 4) }), "SM 15: must be 0 to 14");
        let must = "must be 1 or more of one line of 128 bytes";
        assert_eq!(line(read(0x7c, 8)), format!("8 bytes at 0x7c: {must}"));
        assert_eq!(line(read(0x80, 0)), format!("0 bytes at 0x80: {must}"));
        assert_eq!(line(read(u64::MAX, 1)), "address 0xffffffffffffffff: must be below 0x1000000000000");
        assert_eq!(memory.reply(15), Err(BadRequest::Sm { sm: 15, last: 14 }));
        assert!(!memory.is_busy());
    }

    /// The port of an SM accepts only some requests at a time, and each accepted request gets its reply.
    #[test]
    fn each_request_that_is_taken_gets_one_reply_and_one_packet_comes_in_a_cycle() {
        for keys in ["", "[l2]\nsector_bytes = 32\nsplit_requests = true", "[interconnect]\nsms_per_port = 2"]
        {
            let mut memory = ClockedMemory::new(&config(keys));
            let (mut taken, mut refused, mut tags) = (0, 0, Vec::new());
            while tags.len() < 600 {
                for operation in [MemoryOperation::Read, MemoryOperation::Write, MemoryOperation::Atomic] {
                    if taken < 600 {
                        let request = LineRequest { operation, tag: taken, ..read(taken * 64 % 0x8000, 64) };
                        let was_taken = memory.offer(&request).expect("valid");
                        taken += u64::from(was_taken);
                        refused += u64::from(!was_taken);
                    }
                }
                memory.tick().expect("no mechanism is there");
                // Packets accumulate while the SM takes none.
                if memory.cycle().is_multiple_of(4) || tags.len() >= 300 {
                    tags.extend(memory.reply(3).expect("the SM is there").map(|reply| reply.request.tag));
                    assert_eq!(memory.reply(3), Ok(None), "a second packet in one cycle");
                }
                assert!(memory.cycle() < 100_000, "{keys}: {} replies", tags.len());
            }
            tags.sort_unstable();
            assert!(tags.into_iter().eq(0..600), "{keys}");
            assert!(refused > 0, "{keys}");
            let splits = if keys.contains("split") { 2 } else { 1 };
            assert_eq!(memory.stats().l2.cache.accesses, 600 * splits, "{keys}");
            assert!(memory.in_flight.len() < 600, "{keys}: {} tokens", memory.in_flight.len());
        }
    }
}
