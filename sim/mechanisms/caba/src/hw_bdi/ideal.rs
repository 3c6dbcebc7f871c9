//! The SM part of `ideal-bdi`: it compresses stores and decompresses replies in zero cycles.
use selvedge_compressed_memory::SharedLines;
use selvedge_compressed_memory::codecs::LINE_BYTES;
use selvedge_compressed_memory::lines::has_values;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::part::{L1dFill, SmPart};
use selvedge_gpu::stage::{Offer, Stage};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// An SM whose codecs take no time.
#[derive(State)]
pub struct IdealSm {
    lines: SharedLines,
    compressed: u64,
    decompressed: u64,
}

impl IdealSm {
    pub(super) fn new(lines: SharedLines) -> Self {
        IdealSm { lines, compressed: 0, decompressed: 0 }
    }
}

impl SmPart for IdealSm {
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sm_lines_compressed", self.compressed);
        count(out, "sm_lines_decompressed", self.decompressed);
    }

    has!(fills: Stage<L1dFill>, stores: Stage<Packet>);
}

impl Stage<L1dFill> for IdealSm {
    fn offer(&mut self, _: u64, fill: &mut L1dFill, _: &DeviceMemory) -> Offer {
        if fill.packet.payload != 0 {
            self.lines.lock().receive(fill.packet.payload);
            self.decompressed += 1;
        }
        Offer::Pass
    }

    fn pop(&mut self) -> Option<L1dFill> {
        None
    }
}

impl Stage<Packet> for IdealSm {
    fn offer(&mut self, _: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Offer::Pass;
        }
        let line = self.lines.lock().forms(memory, packet.line);
        if line.is_compressed() {
            packet.data_bytes = line.bytes();
            packet.payload = self.lines.lock().send(line);
            self.compressed += 1;
        }
        Offer::Pass
    }

    fn pop(&mut self) -> Option<Packet> {
        None
    }
}
