//! The SM's share of `hw-bdi`: replies are decompressed before the L1D, full-line stores compressed before the crossbar.
use super::Options;
use super::lines::{InFlight, LineStore, is_compressed};
use crate::mechanism::codec_stage::{CompressorStage, DecompressorStage};
use crate::mechanism::probe::Probes;
use crate::mechanism::{MechanismCounters, count};
use crate::memory::DeviceMemory;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
use crate::sm::policy::SmPolicy;
use selvedge_hw::bdi::decompress;
use selvedge_hw::wave::Trace;
use std::cell::RefCell;
use std::rc::Rc;

/// The codecs of one SM.
pub struct SmCodecs {
    line_bytes: u32,
    compressor: CompressorStage<Packet>,
    decompressor: DecompressorStage<Packet>,
    store: Rc<RefCell<LineStore>>,
}

impl SmCodecs {
    pub(super) fn new(id: u32, options: Options, store: Rc<RefCell<LineStore>>, probes: &Probes) -> Self {
        let bytes = options.line_bytes;
        SmCodecs {
            line_bytes: bytes,
            compressor: CompressorStage::new(format!("sm{id}.compressor"), bytes, options.compress, probes),
            decompressor: DecompressorStage::new(
                format!("sm{id}.decompressor"),
                bytes,
                options.decompress,
                probes,
            ),
            store,
        }
    }
}

impl SmPolicy for SmCodecs {
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = memory;
        if self.compressor.is_busy() {
            self.compressor.tick(now)?;
        }
        if self.decompressor.is_busy() {
            self.decompressor.tick(now)?;
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    fn fill_enter(&mut self, packet: &Packet, _: &DeviceMemory) -> Stage {
        if packet.payload == 0 {
            return Stage::Through;
        }
        if !self.decompressor.has_room() {
            return Stage::Full;
        }
        let InFlight { form, values } = self.store.borrow_mut().receive(packet.payload);
        self.decompressor.push(*packet, packet.line, form, values);
        Stage::Taken
    }

    fn fill_leave(&mut self) -> Option<Packet> {
        self.decompressor.pop().map(|(packet, _)| packet)
    }

    fn store_enter(&mut self, packet: &Packet, memory: &DeviceMemory) -> Stage {
        if u32::from(packet.data_bytes) < self.line_bytes {
            return Stage::Through;
        }
        if !self.compressor.has_room() {
            return Stage::Full;
        }
        self.compressor.push(*packet, packet.line, LineStore::values(memory, packet.line));
        Stage::Taken
    }

    fn store_leave(&mut self) -> Option<Packet> {
        let (mut packet, _, form) = self.compressor.pop()?;
        if is_compressed(&form) {
            packet.data_bytes = u16::from(form.size);
            packet.payload = self
                .store
                .borrow_mut()
                .send(InFlight { form, values: decompress(&form, self.line_bytes as usize) });
        }
        Some(packet)
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sm_lines_compressed", self.compressor.lines);
        count(out, "sm_lines_decompressed", self.decompressor.lines);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}
