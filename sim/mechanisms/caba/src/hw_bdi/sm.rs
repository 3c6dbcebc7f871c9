//! The SM part of `hw-bdi`: it decompresses replies before the L1D, and compresses full-line stores before the crossbar.
use selvedge_compressed_memory::codecs::{
    Bdi, CodecStage, Compressing, Decompressing, Form, LINE_BYTES, LineForms,
};
use selvedge_compressed_memory::lines::{LineStore, has_values};
use selvedge_compressed_memory::{CodecLatencies, SharedLines};
use selvedge_gpu::events::BlockOperations;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::part::{L1dFill, SmPart};
use selvedge_gpu::stage::{MechanismFault, Offer, Stage};
use selvedge_hw::wave::Trace;
use selvedge_hw_codecs::bdi::compress_words;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// The codecs of one SM.
#[derive(State)]
pub struct SmCodecs {
    compressor: CodecStage<Compressing<Bdi>, Packet>,
    decompressor: CodecStage<Decompressing<Bdi>, L1dFill>,
    store: SharedLines,
}

impl SmCodecs {
    pub(super) fn new(id: u32, latencies: CodecLatencies, store: SharedLines, probes: &Probes) -> Self {
        let (compress, decompress) = latencies.params();
        SmCodecs {
            compressor: CodecStage::new(format!("sm{id}.compressor"), &compress, probes),
            decompressor: CodecStage::new(format!("sm{id}.decompressor"), &decompress, probes),
            store,
        }
    }
}

impl SmPart for SmCodecs {
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = memory;
        self.compressor.tick(now)?;
        self.decompressor.tick(now)
    }

    fn busy(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    fn operations(&self, out: &mut BlockOperations) {
        self.compressor.operations(out);
        self.decompressor.operations(out);
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sm_lines_compressed", self.compressor.lines());
        count(out, "sm_lines_decompressed", self.decompressor.lines());
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }

    has!(fills: Stage<L1dFill>, stores: Stage<Packet>);
}

impl Stage<L1dFill> for SmCodecs {
    fn offer(&mut self, _: u64, fill: &mut L1dFill, _: &DeviceMemory) -> Offer {
        let packet = fill.packet;
        if packet.payload == 0 {
            return Offer::Pass;
        }
        if !self.decompressor.has_room() {
            return Offer::Full;
        }
        let line = self.store.lock().receive(packet.payload);
        let Form::Bdi(form) = line.form else { return Offer::Pass };
        self.decompressor.push(*fill, packet.line, form, || line.values);
        Offer::Taken
    }

    fn pop(&mut self) -> Option<L1dFill> {
        self.decompressor.pop().map(|done| done.what)
    }
}

impl Stage<Packet> for SmCodecs {
    fn offer(&mut self, _: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        // A store that passes at once must not overtake one that is in the compressor.
        if usize::from(packet.data_bytes) < LINE_BYTES && self.compressor.holds(packet.line) {
            return Offer::Full;
        }
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Offer::Pass;
        }
        if !self.compressor.has_room() {
            return Offer::Full;
        }
        let values = LineStore::values(memory, packet.line);
        self.compressor.push(*packet, packet.line, values, || compress_words(&values, LINE_BYTES));
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Packet> {
        let done = self.compressor.pop()?;
        let mut packet = done.what;
        let mut store = self.store.lock();
        let line = store.kept(LineForms { form: Form::Bdi(done.output), values: done.input });
        store.remember(done.address, line);
        if line.is_compressed() {
            packet.data_bytes = line.bytes();
            packet.payload = store.send(line);
        }
        Some(packet)
    }

    fn holds(&mut self, line: u64) -> bool {
        self.compressor.holds(line)
    }
}
