//! A partition's share of `hw-bdi` and `hw-bdi-mem`: codecs between L2 and DRAM, the metadata cache, compressed replies.
use super::Options;
use super::lines::{L2Form, LineStore, has_values, is_compressed};
use crate::cache::LinePart;
use crate::mechanism::codec_stage::CodecStage;
use crate::mechanism::md_cache::MdCache;
use crate::mechanism::probe::Probes;
use crate::mechanism::{MechanismCounters, count};
use crate::memory::DeviceMemory;
use crate::packet::Packet;
use crate::partition::{AddressMap, DramPlan, MechanismFault, PartitionPolicy, Stage};
use selvedge_hw::bdi::{BdiCompressor, BdiDecompressor};
use selvedge_hw::wave::Trace;
use std::cell::RefCell;
use std::rc::Rc;

/// Where the metadata region begins in a partition's channel: above all data.
const METADATA_BASE: u64 = 1 << 44;

/// How far compressed lines reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only in DRAM (`hw-bdi-mem`).
    Dram,
    /// In DRAM, L2 and crossbar (`hw-bdi`).
    Crossbar,
}

/// What passes the decompressor: a line on its way from DRAM, or a partial write that must wait for its line.
#[derive(Clone, Copy)]
enum Inbound {
    Fill,
    Write(Packet),
}

/// The codecs and the metadata cache of one partition.
pub struct Partition {
    reach: Reach,
    map: AddressMap,
    line_bytes: u32,
    compressor: CodecStage<BdiCompressor, ()>,
    decompressor: CodecStage<BdiDecompressor, Inbound>,
    /// A fill or write that has left the decompressor.
    ready: Option<(Inbound, u64)>,
    metadata: MdCache,
    store: Rc<RefCell<LineStore>>,
    data_bursts: u64,
    uncompressed_bursts: u64,
    metadata_bursts: u64,
    compressed_replies: u64,
    raw_replies: u64,
}

impl Partition {
    pub(super) fn new(
        id: u32,
        options: Options,
        reach: Reach,
        map: AddressMap,
        store: Rc<RefCell<LineStore>>,
        probes: &Probes,
    ) -> Self {
        let bytes = options.line_bytes;
        Partition {
            reach,
            map,
            line_bytes: bytes,
            compressor: CodecStage::new(format!("l2.p{id}.compressor"), bytes, options.compress, probes),
            decompressor: CodecStage::new(
                format!("l2.p{id}.decompressor"),
                bytes,
                options.decompress,
                probes,
            ),
            ready: None,
            metadata: MdCache::new(options.md_kb, options.md_ways),
            store,
            data_bursts: 0,
            uncompressed_bursts: 0,
            metadata_bursts: 0,
            compressed_replies: 0,
            raw_replies: 0,
        }
    }

    fn plan(&mut self, line: u64, bursts: u32, write: bool) -> DramPlan {
        let cost = self.metadata.access(self.map.local(line) / u64::from(self.line_bytes), write);
        self.data_bursts += u64::from(bursts);
        self.uncompressed_bursts += u64::from(self.line_bytes.div_ceil(32));
        let fetches = cost.fetch.is_some() && !cost.on_its_way;
        self.metadata_bursts += u64::from(fetches) + u64::from(cost.write_back.is_some());
        DramPlan {
            bursts,
            metadata: cost.fetch.map(|block| METADATA_BASE + block),
            metadata_writeback: cost.write_back.map(|block| METADATA_BASE + block),
        }
    }

    /// Offers a compressed line to the decompressor.
    fn decompress(&mut self, what: Inbound, line: u64, memory: &DeviceMemory) -> Stage {
        let forms = LineStore::forms(memory, line);
        if !has_values(line) || !is_compressed(&forms.form) {
            return Stage::Through;
        }
        if !self.decompressor.has_room() {
            return Stage::Full;
        }
        self.decompressor.push(what, line, forms);
        Stage::Taken
    }

    /// All sectors of a line; lines with sectors are refused.
    fn whole(&self, line: u64) -> LinePart {
        LinePart { line, sectors: u32::MAX >> (32 - self.line_bytes / 32) }
    }

    fn next_ready(&mut self) -> Option<Inbound> {
        if self.ready.is_none() {
            self.ready = self.decompressor.pop().map(|(what, line, _)| (what, line));
        }
        self.ready.map(|(what, _)| what)
    }
}

impl PartitionPolicy for Partition {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        if self.compressor.is_busy() {
            self.compressor.tick(now)?;
        }
        if self.decompressor.is_busy() {
            self.decompressor.tick(now)?;
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.ready.is_some() || self.compressor.is_busy() || self.decompressor.is_busy()
    }

    fn read_plan(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> DramPlan {
        let bursts = self.store.borrow_mut().dram_bursts(line, memory);
        self.plan(line, bursts, false)
    }

    fn write_plan(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> DramPlan {
        let bursts = LineStore::bursts_now(line, memory);
        self.store.borrow_mut().written_to_dram(line, bursts);
        self.plan(line, bursts, true)
    }

    fn metadata_arrived(&mut self, address: u64) {
        self.metadata.arrived(address - METADATA_BASE);
    }

    fn fill_enter(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> Stage {
        match self.reach {
            Reach::Crossbar => Stage::Through,
            Reach::Dram => self.decompress(Inbound::Fill, line, memory),
        }
    }

    fn fill_leave(&mut self) -> Option<LinePart> {
        match self.next_ready() {
            Some(Inbound::Fill) => self.ready.take().map(|(_, line)| self.whole(line)),
            _ => None,
        }
    }

    fn evict_enter(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> Stage {
        let as_in_dram =
            self.reach == Reach::Crossbar && self.store.borrow().l2_form(line) == L2Form::Compressed;
        if as_in_dram || !has_values(line) {
            return Stage::Through;
        }
        if !self.compressor.has_room() {
            return Stage::Full;
        }
        self.compressor.push((), line, LineStore::forms(memory, line));
        Stage::Taken
    }

    fn evict_leave(&mut self) -> Option<LinePart> {
        self.compressor.pop().map(|(_, line, _)| self.whole(line))
    }

    fn write_enter(&mut self, packet: &Packet, memory: &DeviceMemory) -> Stage {
        if self.reach == Reach::Dram {
            return Stage::Through;
        }
        if packet.full_sectors && packet.sectors == self.whole(packet.line).sectors {
            let mut store = self.store.borrow_mut();
            if packet.payload != 0 {
                store.receive(packet.payload);
            }
            store.set_l2_form(packet.line, L2Form::Compressed);
            return Stage::Through;
        }
        if self.store.borrow().l2_form(packet.line) == L2Form::Raw {
            return Stage::Through;
        }
        let stage = self.decompress(Inbound::Write(*packet), packet.line, memory);
        if stage != Stage::Full {
            self.store.borrow_mut().set_l2_form(packet.line, L2Form::Raw);
        }
        stage
    }

    fn write_leave(&mut self) -> Option<Packet> {
        let Some(Inbound::Write(packet)) = self.next_ready() else { return None };
        self.ready = None;
        Some(packet)
    }

    fn reply(&mut self, packet: &mut Packet, memory: &DeviceMemory) {
        if self.reach == Reach::Dram {
            return;
        }
        let mut store = self.store.borrow_mut();
        if has_values(packet.line) && store.l2_form(packet.line) == L2Form::Compressed {
            let line = LineStore::forms(memory, packet.line);
            if is_compressed(&line.form) {
                packet.data_bytes = u16::from(line.form.size);
                packet.payload = store.send(line);
                self.compressed_replies += 1;
                return;
            }
        }
        self.raw_replies += 1;
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "data_bursts", self.data_bursts);
        count(out, "uncompressed_bursts", self.uncompressed_bursts);
        count(out, "metadata_bursts", self.metadata_bursts);
        count(out, "metadata_accesses", self.metadata.accesses);
        count(out, "metadata_hits", self.metadata.hits);
        count(out, "partition_lines_compressed", self.compressor.lines);
        count(out, "partition_lines_decompressed", self.decompressor.lines);
        if self.reach == Reach::Crossbar {
            count(out, "compressed_replies", self.compressed_replies);
            count(out, "raw_replies", self.raw_replies);
        }
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}
