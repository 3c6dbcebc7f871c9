//! The slice's part of the compressing mechanisms: codecs between L2 and DRAM, the metadata cache, compressed replies.
use crate::SharedLines;
use crate::codecs::{Form, LINE_BYTES};
use crate::lines::{L2Form, has_values};
use crate::md_cache::{MdAccess, MetadataCache};
use crate::partition_codecs::Codecs;
use crate::recompression::Recompression;
use selvedge_gpu::cache::LinePart;
use selvedge_gpu::events::{BlockOperations, LineBursts};
use selvedge_gpu::has;
use selvedge_gpu::mechanism::difference::FirstDifference;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::partition::AddressMap;
use selvedge_gpu::partition::part::{self, DramPlan, DramPlans, Eviction, Replies, SlicePart};
use selvedge_gpu::stage::{MechanismFault, Offer, Stage};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// Counters of a partition with codecs.
pub const COUNTERS: &[Counter] = &[
    Counter::new("compressed_replies", "read replies that crossed the crossbar compressed"),
    Counter::new("data_bursts", "data bursts that DRAM moved, without metadata"),
    Counter::new("l2_lines_left_raw", "L2 lines left uncompressed after a partial store, for lack of room"),
    Counter::new("l2_lines_placed", "lines given room in the compressed L2 by a fill or a write"),
    Counter::new("l2_lines_recompressed", "L2 lines compressed again after a partial store"),
    Counter::new("l2_sub_blocks", "sub-blocks that lines took in the compressed L2"),
    Counter::new("metadata_accesses", "look-ups in the partitions' metadata caches"),
    Counter::new("metadata_bursts", "DRAM bursts of metadata"),
    Counter::new("metadata_hits", "look-ups that found their line in a metadata cache"),
    Counter::new("partition_lines_compressed", "lines compressed in the memory partitions"),
    Counter::new("partition_lines_decompressed", "lines decompressed in the memory partitions"),
    Counter::new("raw_replies", "read replies that crossed the crossbar uncompressed"),
    Counter::new("uncompressed_bursts", "data bursts that DRAM would have moved without compression"),
];

/// Address of the metadata region in a partition's channel, above all data.
const METADATA_BASE: u64 = 1 << 44;

/// The places where lines are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum CompressionReach {
    /// Only in DRAM (`hw-bdi-mem`).
    Dram,
    /// In DRAM, L2 and crossbar (`hw-bdi`).
    Crossbar,
}

/// A line in a decompressor: a fill from DRAM, or the line of a partial write.
#[derive(Clone, Copy, State)]
pub(super) enum Inbound {
    Fill,
    Write(Packet),
}

/// A line in a compressor: an eviction, or a line that a partial write has made uncompressed in the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(super) enum Outbound {
    Eviction,
    Again,
}

/// The logic of a partition that compresses and decompresses lines.
#[derive(State)]
pub enum Logic {
    /// The partition's own codecs.
    Dedicated(Box<Codecs>),
    /// Codecs that take no time.
    Ideal,
    /// No codecs: a line that is partly written or arrives uncompressed stays so until a compressed line replaces it.
    None,
}

impl Logic {
    fn codecs(&mut self) -> Option<&mut Codecs> {
        match self {
            Logic::Dedicated(codecs) => Some(codecs),
            Logic::Ideal | Logic::None => None,
        }
    }
}

/// The codecs and the metadata cache of one partition.
#[derive(State)]
pub struct CompressedPartition {
    reach: CompressionReach,
    logic: Logic,
    /// `true` if compressible full-line stores may arrive uncompressed.
    stores_may_be_raw: bool,
    /// `true` if the L2 stores lines uncompressed, although they arrive and leave compressed.
    keeps_raw: bool,
    /// Tags for each way of the L2.
    tags_per_way: u32,
    /// The metadata cache. Without it, looking up a line's bursts costs nothing.
    metadata: Option<MetadataCache>,
    /// The first difference between the metadata cache's engines. After it, the metadata cache is not used.
    difference: FirstDifference,
    map: AddressMap,
    store: SharedLines,
    again: Recompression,
    bursts: LineBursts,
    compressed_replies: u64,
    raw_replies: u64,
    /// Lines that were allocated in the L2, and their sub-blocks.
    rooms: u64,
    sub_blocks: u64,
    /// DRAM bursts of an uncompressed line.
    raw_bursts: u32,
}

impl CompressedPartition {
    pub(super) fn new(
        reach: CompressionReach,
        logic: Logic,
        metadata: Option<MetadataCache>,
        map: AddressMap,
        store: SharedLines,
    ) -> Self {
        let raw_bursts = store.lock().raw_bursts();
        CompressedPartition {
            reach,
            logic,
            stores_may_be_raw: false,
            keeps_raw: false,
            tags_per_way: 1,
            metadata,
            difference: FirstDifference::default(),
            map,
            store,
            again: Recompression::default(),
            bursts: LineBursts::default(),
            compressed_replies: 0,
            raw_replies: 0,
            rooms: 0,
            sub_blocks: 0,
            raw_bursts,
        }
    }

    /// Returns the partition for SMs that may send compressible full-line stores uncompressed.
    pub(super) fn with_raw_stores(self) -> Self {
        CompressedPartition { stores_may_be_raw: true, ..self }
    }

    /// Returns the partition with `keeps_raw` set: replies to hits are uncompressed, replies to misses have the form of DRAM.
    pub(super) fn keeping_raw(self, keeps_raw: bool) -> Self {
        CompressedPartition { keeps_raw, ..self }
    }

    /// Returns the partition with the given number of tags for each way of the L2.
    pub(super) fn with_tags(self, tags_per_way: u32) -> Self {
        CompressedPartition { tags_per_way, ..self }
    }

    /// Looks up the line's metadata, if the partition has a metadata cache, and replaces them by `written` bursts if given.
    fn look_up(&mut self, line: u64, written: Option<u32>) -> MdAccess {
        let number = self.map.slice_local(line) / LINE_BYTES as u64;
        let Some(cache) = self.metadata.as_mut().filter(|_| !self.difference.is_broken()) else {
            return MdAccess::default();
        };
        self.difference.catch(cache.access(number, written)).unwrap_or_default()
    }

    fn plan(&mut self, bursts: u32, cost: MdAccess) -> DramPlan {
        self.bursts.data += u64::from(bursts);
        self.bursts.uncompressed += u64::from(self.raw_bursts);
        let fetches = cost.fetch.is_some() && !cost.in_flight;
        self.bursts.metadata += u64::from(fetches) + u64::from(cost.write_back.is_some());
        DramPlan {
            bursts,
            metadata: cost.fetch.map(|block| METADATA_BASE + block),
            metadata_writeback: cost.write_back.map(|block| METADATA_BASE + block),
        }
    }

    /// Handles a write to an L2 that stores lines uncompressed: a compressed line must be decompressed first.
    fn write_raw(&mut self, packet: &Packet) -> Offer {
        let mut store = self.store.lock();
        let stage = match self.logic.codecs() {
            Some(codecs) if packet.payload != 0 => {
                if codecs.has_write() {
                    return Offer::Full;
                }
                codecs.decompress(Inbound::Write(*packet), packet.line, store.in_flight(packet.payload))
            }
            _ => Offer::Pass,
        };
        if stage != Offer::Full {
            if packet.payload != 0 {
                store.receive(packet.payload);
            }
            store.set_l2_form(packet.line, L2Form::Raw);
        }
        stage
    }

    /// Returns whether the L2 compresses lines again after partial writes. It does not if SMs compress lines, because a line that
    /// they left uncompressed must stay so.
    fn compresses_again(&self) -> bool {
        self.reach == CompressionReach::Crossbar
            && !self.stores_may_be_raw
            && matches!(self.logic, Logic::Dedicated(_))
    }

    /// Lets the compressor, if it has a free entry, compress a line again that a partial write made uncompressed in the L2.
    fn recompress(&mut self, memory: &DeviceMemory) {
        let Logic::Dedicated(codecs) = &mut self.logic else { return };
        let mut store = self.store.lock();
        if let Some(line) = codecs.again().filter(|line| self.again.is_done(*line)) {
            store.set_l2_form(line, L2Form::Compressed);
        }
        let Some(line) = self.again.next() else { return };
        // The line was evicted, or replaced by a full-line store.
        if store.l2_form(line) == L2Form::Compressed {
            self.again.forget(line);
        } else if codecs.compress(Outbound::Again, line, &store.forms(memory, line)) != Offer::Full {
            self.again.begin(line);
        }
    }

    /// Returns all sectors of a line. Lines are not divided, because `check` rejects such configurations.
    fn whole(line: u64) -> LinePart {
        LinePart { line, sectors: u32::MAX >> (32 - LINE_BYTES / 32) }
    }
}

impl SlicePart for CompressedPartition {
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.difference.report()?;
        if let Some(cache) = &mut self.metadata {
            cache.advance_to(now);
        }
        self.recompress(memory);
        self.logic.codecs().map_or(Ok(()), |codecs| codecs.tick(now))
    }

    fn busy(&self) -> bool {
        let codecs_are_busy = match &self.logic {
            Logic::Dedicated(codecs) => codecs.is_busy(),
            Logic::Ideal | Logic::None => false,
        };
        codecs_are_busy || self.again.is_pending() || self.difference.is_pending()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "data_bursts", self.bursts.data);
        count(out, "uncompressed_bursts", self.bursts.uncompressed);
        if let Some(cache) = &self.metadata {
            count(out, "metadata_bursts", self.bursts.metadata);
            count(out, "metadata_accesses", cache.accesses);
            count(out, "metadata_hits", cache.hits);
        }
        if let Logic::Dedicated(codecs) = &self.logic {
            let [compressed, decompressed] = codecs.lines();
            count(out, "partition_lines_compressed", compressed);
            count(out, "partition_lines_decompressed", decompressed);
            if self.compresses_again() {
                count(out, "l2_lines_recompressed", self.again.done);
                count(out, "l2_lines_left_raw", self.again.left);
            }
        }
        if self.reach == CompressionReach::Crossbar {
            count(out, "compressed_replies", self.compressed_replies);
            count(out, "raw_replies", self.raw_replies);
        }
        if self.tags_per_way > 1 {
            count(out, "l2_lines_placed", self.rooms);
            count(out, "l2_sub_blocks", self.sub_blocks);
        }
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        if let Logic::Dedicated(codecs) = &self.logic {
            codecs.traces(out);
        }
        out.extend(self.metadata.as_ref().and_then(MetadataCache::trace));
    }

    fn operations(&self, out: &mut BlockOperations) {
        if let Logic::Dedicated(codecs) = &self.logic {
            codecs.operations(out);
        }
    }

    fn line_bursts(&self) -> Option<LineBursts> {
        Some(self.bursts)
    }

    has!(placement: part::L2Placement, dram: DramPlans, fills: Stage<part::L2Fill>, evictions: Stage<Eviction>, writes: Stage<Packet>, replies: Replies);
}

impl part::L2Placement for CompressedPartition {
    fn tags_per_way(&self) -> u32 {
        self.tags_per_way
    }

    fn sub_blocks(&mut self, line: u64, memory: &DeviceMemory) -> u32 {
        let mut store = self.store.lock();
        let is_raw = self.keeps_raw || store.l2_form(line) == L2Form::Raw;
        let blocks = if is_raw { Form::Raw.sub_blocks() } else { store.sub_blocks_now(line, memory) };
        self.rooms += 1;
        self.sub_blocks += u64::from(blocks);
        blocks
    }
}

impl DramPlans for CompressedPartition {
    fn read_plan(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> DramPlan {
        let found = self.look_up(line, None);
        let bursts = match found.bursts {
            bursts if (1..=self.raw_bursts).contains(&bursts) => bursts,
            _ => self.store.lock().dram_bursts(line, memory),
        };
        self.plan(bursts, found)
    }

    fn write_plan(&mut self, LinePart { line, .. }: LinePart, memory: &DeviceMemory) -> DramPlan {
        let stays_raw = matches!(self.logic, Logic::None) && self.store.lock().l2_form(line) == L2Form::Raw;
        let bursts = if stays_raw { self.raw_bursts } else { self.store.lock().bursts_now(line, memory) };
        let l2 = if stays_raw { L2Form::Raw } else { L2Form::Compressed };
        self.store.lock().written_to_dram(line, bursts, l2);
        let found = self.look_up(line, Some(bursts));
        self.plan(bursts, found)
    }

    fn metadata_arrived(&mut self, address: u64) {
        if let Some(cache) = &mut self.metadata {
            cache.arrived(address - METADATA_BASE);
        }
    }

    fn untimed_access(&mut self, line: u64) {
        if let Some(block) = self.look_up(line, None).fetch {
            self.metadata_arrived(METADATA_BASE + block);
        }
    }
}

impl Stage<part::L2Fill> for CompressedPartition {
    fn offer(&mut self, _: u64, fill: &mut part::L2Fill, memory: &DeviceMemory) -> Offer {
        let line = fill.0.line;
        match self.logic.codecs() {
            Some(codecs) if self.reach == CompressionReach::Dram || self.keeps_raw => {
                let forms = self.store.lock().forms(memory, line);
                codecs.decompress(Inbound::Fill, line, &forms)
            }
            _ => Offer::Pass,
        }
    }

    fn pop(&mut self) -> Option<part::L2Fill> {
        self.logic.codecs()?.fill().map(|line| part::L2Fill(Self::whole(line)))
    }
}

impl Stage<Eviction> for CompressedPartition {
    fn offer(&mut self, _: u64, eviction: &mut Eviction, memory: &DeviceMemory) -> Offer {
        let line = eviction.0.line;
        let as_in_dram =
            self.reach == CompressionReach::Crossbar && self.store.lock().l2_form(line) == L2Form::Compressed;
        let Some(codecs) = self.logic.codecs().filter(|_| !as_in_dram && has_values(line)) else {
            return Offer::Pass;
        };
        let forms = self.store.lock().forms(memory, line);
        codecs.compress(Outbound::Eviction, line, &forms)
    }

    fn pop(&mut self) -> Option<Eviction> {
        self.logic.codecs()?.eviction().map(|line| Eviction(Self::whole(line)))
    }
}

impl Stage<Packet> for CompressedPartition {
    fn offer(&mut self, _: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        if self.reach == CompressionReach::Dram {
            return Offer::Pass;
        }
        if self.keeps_raw {
            return self.write_raw(packet);
        }
        if packet.full_sectors && packet.sectors == Self::whole(packet.line).sectors {
            let mut store = self.store.lock();
            let is_compressed = packet.payload != 0;
            if is_compressed {
                store.receive(packet.payload);
            }
            self.again.written(packet.line);
            let is_raw = self.stores_may_be_raw && !is_compressed;
            store.set_l2_form(packet.line, if is_raw { L2Form::Raw } else { L2Form::Compressed });
            return Offer::Pass;
        }
        if self.store.lock().l2_form(packet.line) == L2Form::Raw {
            self.again.written(packet.line);
            return Offer::Pass;
        }
        let stage = match &mut self.logic {
            Logic::Dedicated(codecs) => {
                let forms = self.store.lock().forms(memory, packet.line);
                codecs.decompress(Inbound::Write(*packet), packet.line, &forms)
            }
            // The line is compressed again in zero cycles.
            Logic::Ideal => return Offer::Pass,
            Logic::None => Offer::Pass,
        };
        if stage != Offer::Full {
            self.store.lock().set_l2_form(packet.line, L2Form::Raw);
            if has_values(packet.line) && self.compresses_again() {
                self.again.add(packet.line, stage == Offer::Pass);
            }
        }
        stage
    }

    fn pop(&mut self) -> Option<Packet> {
        let packet = self.logic.codecs()?.write()?;
        self.again.arrived(packet.line);
        Some(packet)
    }
}

impl Replies for CompressedPartition {
    fn reply(&mut self, packet: &mut Packet, is_hit: bool, memory: &DeviceMemory) {
        if self.reach == CompressionReach::Dram {
            return;
        }
        if self.keeps_raw && is_hit {
            self.raw_replies += 1;
            return;
        }
        let mut store = self.store.lock();
        if has_values(packet.line) && store.l2_form(packet.line) == L2Form::Compressed {
            let line = store.forms(memory, packet.line);
            if line.is_compressed() {
                packet.data_bytes = line.bytes();
                packet.payload = store.send(line);
                self.compressed_replies += 1;
                return;
            }
        }
        self.raw_replies += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::CodecChoice;
    use crate::lines::LineStore;
    use crate::md_cache::MetadataRegion;
    use selvedge_gpu::config::GpuConfig;
    use selvedge_gpu::mechanism::Shared;
    use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
    use selvedge_hw::Engine;
    use selvedge_mechanism_testing::{NOTHING, SmallKernel, run_kernel};

    /// An L2 with two lines in each of six partitions.
    const TINY_L2: &str = "base = \"gtx480\"\n[sm]\ncount = 3\n[l2]\nsets = 1\nways = 2\n";

    /// Each warp stores to the half of a random line and loads a random line past the L1D, a hundred times. All warps share 64
    /// lines.
    const SCATTERED_STORES: SmallKernel<'static> = SmallKernel {
        grid: 6,
        block: 256,
        words: 64 * 32,
        fill: "init = \"iota\"",
        body: "shr.u32 %r5, %r1, 5;\nand.b32 %r2, %r1, 31;\nsetp.lt.u32 %p1, %r2, 16;\nmul.wide.u32 %rd2, %r2, 4;\n\
               add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
               LOOP:\nmad.lo.u32 %r5, %r5, 1664525, 1013904223;\nshr.u32 %r6, %r5, 26;\n\
               mul.wide.u32 %rd3, %r6, 128;\nadd.s64 %rd3, %rd2, %rd3;\n@%p1 st.global.u32 [%rd3], %r3;\n\
               mad.lo.u32 %r5, %r5, 1664525, 1013904223;\nshr.u32 %r6, %r5, 26;\n\
               mul.wide.u32 %rd3, %r6, 128;\nadd.s64 %rd3, %rd2, %rd3;\nld.global.cg.u32 %r7, [%rd3];\n\
               add.u32 %r4, %r4, %r7;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 100;\n@%p2 bra LOOP;\n\
               setp.ne.u32 %p2, %r4, 7;\n@%p2 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
        ..NOTHING
    };

    #[test]
    fn metadata_of_an_access_without_timing_are_in_the_cache_when_timing_starts() {
        let config = GpuConfig::load("gtx480").expect("built in");
        let probes = Probes::new(ProbeSpec::default(), Engine::Lockstep);
        let region = MetadataRegion { burst_bytes: 32, slices: 1, slice: 0 };
        let mut partition = CompressedPartition::new(
            CompressionReach::Crossbar,
            Logic::Ideal,
            Some(MetadataCache::new(0, 8, region, &probes)),
            AddressMap::new(&config.l2),
            Shared::new(LineStore::new(CodecChoice::default(), 32)),
        );
        let memory = DeviceMemory::new();
        let cold = partition.read_plan(CompressedPartition::whole(0), &memory).metadata;
        assert_eq!(cold, Some(METADATA_BASE), "a first access reads metadata");
        let far = 1 << 24;
        partition.untimed_access(far);
        let warm = partition.read_plan(CompressedPartition::whole(far), &memory);
        assert_eq!(warm.metadata, None, "they have arrived");
    }

    /// A run fails if a load returns a wrong value.
    #[test]
    fn an_l2_that_thrashes_gives_back_what_waits_to_be_compressed() {
        for mechanism in ["hw-bdi", "hw-bdi-mem", "caba-bdi"] {
            let report = run_kernel(&SCATTERED_STORES, TINY_L2, mechanism, Engine::Model).report;
            let compressed = report.mechanism_counters["partition_lines_compressed"];
            assert!(compressed > 500, "{mechanism}: {compressed} lines");
            assert!(report.totals.l2.miss_rate > 0.5, "{mechanism}: {}", report.totals.l2.miss_rate);
        }
    }
}
