//! The SM's share of `ideal-bdi`: lines are compressed and decompressed as they pass.
use super::SharedLines;
use super::lines::{LINE_BYTES, has_values};
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::partition::Stage;
use selvedge_gpu::sm::policy::SmPolicy;
use selvedge_ptx::memory::DeviceMemory;

/// An SM whose codecs take no time.
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

impl SmPolicy for IdealSm {
    fn fill_enter(&mut self, packet: &Packet, _: u8, _: &DeviceMemory) -> Stage {
        if packet.payload != 0 {
            self.lines.borrow_mut().receive(packet.payload);
            self.decompressed += 1;
        }
        Stage::Through
    }

    fn store_enter(&mut self, _: u64, packet: &mut Packet, memory: &DeviceMemory) -> Stage {
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Stage::Through;
        }
        let line = self.lines.borrow().forms(memory, packet.line);
        if line.is_compressed() {
            packet.data_bytes = u16::from(line.size);
            packet.payload = self.lines.borrow_mut().send(line);
            self.compressed += 1;
        }
        Stage::Through
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sm_lines_compressed", self.compressed);
        count(out, "sm_lines_decompressed", self.decompressed);
    }
}
