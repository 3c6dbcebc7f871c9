//! The SM's share of `hw-bdi`: replies are decompressed before the L1D, full-line stores compressed before the crossbar.
use super::form::{Algorithm, LineForms};
use super::lines::{LINE_BYTES, has_values};
use super::{Latencies, SharedLines};
use crate::codec_stage::{CodecStage, compressed};
use selvedge_blocks::bdi::{BdiCompressor, BdiDecompressor};
use selvedge_gpu::energy::CodecEvents;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::part::{Fill, SmPart};
use selvedge_gpu::stage::{MechanismFault, Offer, Stage};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;

/// The codecs of one SM.
pub struct SmCodecs {
    compressor: CodecStage<BdiCompressor, Packet>,
    decompressor: CodecStage<BdiDecompressor, Fill>,
    store: SharedLines,
}

impl SmCodecs {
    pub(super) fn new(id: u32, latencies: Latencies, store: SharedLines, probes: &Probes) -> Self {
        let Latencies { compress, decompress } = latencies;
        let bytes = LINE_BYTES as u32;
        SmCodecs {
            compressor: CodecStage::new(format!("sm{id}.compressor"), bytes, compress, probes),
            decompressor: CodecStage::new(format!("sm{id}.decompressor"), bytes, decompress, probes),
            store,
        }
    }
}

impl SmPart for SmCodecs {
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

    fn codec_events(&self, out: &mut CodecEvents) {
        out.bdi_compressed += self.compressor.lines;
        out.bdi_decompressed += self.decompressor.lines;
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sm_lines_compressed", self.compressor.lines);
        count(out, "sm_lines_decompressed", self.decompressor.lines);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }

    has!(fills: Stage<Fill>, stores: Stage<Packet>);
}

impl Stage<Fill> for SmCodecs {
    fn offer(&mut self, _: u64, fill: &mut Fill, _: &DeviceMemory) -> Offer {
        let packet = fill.packet;
        if packet.payload == 0 {
            return Offer::Pass;
        }
        if !self.decompressor.has_room() {
            return Offer::Full;
        }
        let line = self.store.borrow_mut().receive(packet.payload);
        self.decompressor.push(*fill, packet.line, compressed(line.values, LINE_BYTES as u32));
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Fill> {
        self.decompressor.pop().map(|(fill, ..)| fill)
    }
}

impl Stage<Packet> for SmCodecs {
    fn offer(&mut self, _: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Offer::Pass;
        }
        if !self.compressor.has_room() {
            return Offer::Full;
        }
        let line = self.store.borrow().forms(memory, packet.line);
        self.compressor.push(*packet, packet.line, compressed(line.values, LINE_BYTES as u32));
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Packet> {
        let (mut packet, _, line) = self.compressor.pop()?;
        let line = LineForms::of(Algorithm::Bdi, line.values);
        if line.is_compressed() {
            packet.data_bytes = u16::from(line.size);
            packet.payload = self.store.borrow_mut().send(line);
        }
        Some(packet)
    }
}
