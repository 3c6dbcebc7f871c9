//! An SM's compressed L1D. A miss gets a mode, its line goes to a compressor, and a hit on a compressed line goes to a
//! decompressor.
//!
//! ```text
//!  misses --set--> [controller] --mode--> the line's tag
//!                                           v
//!  replies --> L1D --> [arrived] --> [BDI] or [SC] or [BPC] --sub-blocks--> L1D
//!               |          \-- data go to the warps at once; the line can be read while it waits here
//!               \--hits on compressed lines--> [queue] and [decompressors] --> warps
//! ```
use super::controller::Controller;
use super::hits::Hits;
use super::statistical::{Statistical, Tag};
use super::{ControllerSets, High, ModeSource, Settings};
use rustc_hash::FxHashMap;
use selvedge_compressed_memory::CodecLatencies;
use selvedge_compressed_memory::codecs::{
    Bdi, Bpc, CodecStage, Compressing, Decompressing, Form, LINE_BYTES, WrongValue,
};
use selvedge_compressed_memory::lines::has_values;
use selvedge_gpu::cache::index::SetFunction;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::events::BlockOperations;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::sm::part::{
    Hit, L1dEvent, L1dFill, L1dObserver, L1dPlacement, LineSpace, ScheduleObserver, SmPart,
};
use selvedge_gpu::stage::{MechanismFault, Offer, Stage};
use selvedge_gpu::stats::AccessResult;
use selvedge_hw::wave::Trace;
use selvedge_hw_codecs::bpc::{self, BpcParams};
use selvedge_hw_codecs::line::{Line, words_of};
use selvedge_hw_codecs::{bdi, sc};
use selvedge_hw_latte_cc::latte_controller::{LatteControllerOut, LatteControllerParams, Mode};
use selvedge_ptx::memory::{DeviceMemory, program_of};
use selvedge_state::State;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Counters of lines in a compressed L1D.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_lines_high_capacity", "lines filled into the L1Ds in the high-capacity mode"),
    Counter::new(
        "l1d_lines_kept_whole",
        "lines filled into the L1Ds uncompressed: no codec made them smaller, or they had no mode or no codes",
    ),
    Counter::new("l1d_lines_low_latency", "lines filled into the L1Ds in the low-latency mode"),
    Counter::new("l1d_lines_none", "lines filled into the L1Ds without a mode"),
    Counter::new("l1d_stale_lines", "L1D lines invalidated because their codes were replaced"),
    Counter::new("l1d_sub_blocks", "sub-blocks of 32 bytes that lines filled into the L1Ds took"),
];

/// Max lines that wait for their mode and a compressor.
const ARRIVED: usize = 4;

/// A line that arrived in the L1D.
#[derive(Clone, Copy, State)]
struct ArrivedLine {
    line: u64,
    values: Line,
}

fn values_of(line: u64, memory: &DeviceMemory) -> Line {
    let mut bytes = [0u8; LINE_BYTES];
    memory.line(line, &mut bytes);
    words_of(&bytes)
}

/// A compressed line in the L1D.
#[derive(Clone, Copy, State)]
struct Stored {
    mode: Mode,
    form: Form,
    values: Line,
}

/// BPC's two codecs.
#[derive(State)]
struct BpcCodecs {
    compressor: CodecStage<Compressing<Bpc>, Tag>,
    decompressor: CodecStage<Decompressing<Bpc>, Tag>,
}

/// The compressed L1D of one SM.
#[derive(State)]
pub struct CompressedL1d {
    prefix: String,
    settings: Settings,
    /// The modes of the launches, if each has its own, and the number of launches that have begun.
    #[state(skip = "an option")]
    launch_modes: Arc<[Mode]>,
    launches: usize,
    index: SetFunction,
    controller_sets: ControllerSets,
    controller: Option<Controller>,
    bdi_compressor: CodecStage<Compressing<Bdi>, Tag>,
    bdi_decompressor: CodecStage<Decompressing<Bdi>, Tag>,
    sc: Option<Statistical>,
    bpc: Option<BpcCodecs>,
    hits: Hits,
    arrived: VecDeque<ArrivedLine>,
    /// Lines of misses: the controller looks up the set of `missed` in the next clock, and gives the mode of `looked_up` then.
    missed: Option<u64>,
    looked_up: Option<u64>,
    /// The mode of the sets that are not dedicated to a mode.
    common_mode: Mode,
    // Looked up by address only, so the order of the maps has no effect.
    /// Modes of the lines in flight.
    allocated: HashMap<u64, Mode>,
    stored: FxHashMap<u64, Stored>,
    placements: VecDeque<(u64, u32)>,
    stale: Vec<u64>,
    /// `true` if the controller wants values to be counted in this EP.
    counts_values: bool,
    fault: Option<WrongValue>,
    lines: [u64; 3],
    raw_lines: u64,
    sub_blocks: u64,
    stale_lines: u64,
}

impl CompressedL1d {
    pub(super) fn new(
        sm: u32,
        settings: Settings,
        launch_modes: Arc<[Mode]>,
        config: &GpuConfig,
        probes: &Probes,
    ) -> Self {
        let prefix = format!("sm{sm}.l1d");
        let l1d = &config.l1d;
        let controller = settings.controller_policy().map(|policy| {
            let (sets, schedulers) = (ControllerSets(l1d.sets).count(), config.sm.schedulers);
            let schedulers = schedulers.next_power_of_two().max(2);
            let params = LatteControllerParams { sets, schedulers, policy, ..Default::default() };
            Controller::new(format!("{prefix}.latte"), &params, probes)
        });
        let latencies = CodecLatencies { compress: super::BDI_COMPRESS, decompress: super::BDI_DECOMPRESS };
        let (bdi_compress, bdi_decompress) = latencies.params();
        let named = |block: &str| format!("{prefix}.{block}");
        let uses = |high| settings.uses(Mode::HighCapacity) && settings.high == high;
        CompressedL1d {
            index: SetFunction::new(l1d.index, l1d.sets, l1d.line_bytes),
            controller_sets: ControllerSets(l1d.sets),
            controller,
            bdi_compressor: CodecStage::new(named("bdi_compressor"), &bdi_compress, probes),
            bdi_decompressor: CodecStage::new(named("bdi_decompressor"), &bdi_decompress, probes),
            sc: uses(High::Sc).then(|| Statistical::new(&prefix, settings.instant_codes, probes)),
            bpc: uses(High::Bpc).then(|| BpcCodecs {
                compressor: CodecStage::new(named("bpc_compressor"), &BpcParams::default(), probes),
                decompressor: CodecStage::new(named("bpc_decompressor"), &BpcParams::default(), probes),
            }),
            hits: Hits::new(named("queue"), settings.queue, probes),
            arrived: VecDeque::with_capacity(ARRIVED),
            missed: None,
            looked_up: None,
            common_mode: Mode::None,
            allocated: HashMap::new(),
            stored: FxHashMap::default(),
            placements: VecDeque::new(),
            stale: Vec::new(),
            counts_values: false,
            fault: None,
            lines: [0; 3],
            raw_lines: 0,
            sub_blocks: 0,
            stale_lines: 0,
            prefix,
            settings,
            launch_modes,
            launches: 0,
        }
    }

    /// Returns whether every compressor has a free entry.
    fn compressors_have_room(&self) -> bool {
        self.bdi_compressor.has_room()
            && self.sc.as_ref().is_none_or(|sc| sc.compressor.has_room())
            && self.bpc.as_ref().is_none_or(|bpc| bpc.compressor.has_room())
    }

    /// Clocks the controller once. The miss whose set it looked up in the clock before gets its mode.
    fn clock_controller(&mut self, now: u64) -> Result<(), MechanismFault> {
        let Some(controller) = self.controller.as_mut().filter(|controller| controller.is_busy()) else {
            return Ok(());
        };
        let outputs = controller.tick(now)?;
        let mode = |number: u8| Mode::ALL.get(usize::from(number)).copied().unwrap_or(Mode::None);
        self.common_mode = mode(outputs.mode_o);
        if let Some(line) = self.looked_up.take() {
            self.allocated.insert(line, mode(outputs.lookup_mode_o));
        }
        self.looked_up = self.missed.take();
        self.follow_phases(&outputs);
        Ok(())
    }

    /// Sends the next line to the compressor of its mode.
    fn compress_next(&mut self) {
        if !self.compressors_have_room() {
            return;
        }
        let Some(next) = self.arrived.pop_front() else { return };
        let mode = match self.settings.source {
            ModeSource::Fixed(mode) => mode,
            ModeSource::Launch => self.launch_mode(),
            // A line that no load requested has no mode.
            ModeSource::Controller(_) => self.allocated.remove(&next.line).unwrap_or(self.common_mode),
        };
        self.compress(next, mode);
    }

    /// Returns the mode of the present launch. Launches beyond the known ones have the last known mode.
    fn launch_mode(&self) -> Mode {
        let running = self.launches.saturating_sub(1);
        self.launch_modes.get(running).or(self.launch_modes.last()).copied().unwrap_or(Mode::None)
    }

    /// Makes SC's training follow the controller's EPs.
    fn follow_phases(&mut self, outputs: &LatteControllerOut) {
        if let Some(sc) = &mut self.sc {
            if outputs.build_o && !self.counts_values {
                sc.begin_training();
            }
            if outputs.new_codes_o {
                sc.end_training();
            }
        }
        self.counts_values = outputs.build_o;
    }

    fn compress(&mut self, ArrivedLine { line, values }: ArrivedLine, mode: Mode) {
        if let Some(sc) = &mut self.sc {
            sc.see(&values);
        }
        self.lines[mode as usize] += 1;
        match (mode, &mut self.sc, &mut self.bpc) {
            (Mode::LowLatency, ..) => {
                self.bdi_compressor.push(0, line, values, || bdi::compress_words(&values, LINE_BYTES));
            }
            (Mode::HighCapacity, Some(sc), _) if sc.can_compress() => sc.compress(0, line, &values),
            (Mode::HighCapacity, _, Some(bpc)) => {
                bpc.compressor.push(0, line, values, || bpc::compress_words(&values, LINE_BYTES));
            }
            _ => self.place(line, Stored { mode, form: Form::Raw, values }),
        }
    }

    /// Stores a line in its form in the L1D's array.
    fn place(&mut self, line: u64, stored: Stored) {
        let form = stored.form.if_smaller();
        self.sub_blocks += u64::from(form.sub_blocks());
        self.placements.push_back((line, form.sub_blocks()));
        if form == Form::Raw {
            self.raw_lines += 1;
        } else {
            self.stored.insert(line, Stored { form, ..stored });
        }
    }

    fn clock_codecs(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.bdi_compressor.tick(now)?;
        while let Some(done) = self.bdi_compressor.pop() {
            let stored = Stored { mode: Mode::LowLatency, form: Form::Bdi(done.output), values: done.input };
            self.place(done.address, stored);
        }
        self.bdi_decompressor.tick(now)?;
        while let Some(done) = self.bdi_decompressor.pop() {
            self.hits.decompressed(done.what);
            if let Some(sc) = &mut self.sc {
                sc.see(&done.output);
            }
        }
        self.clock_sc(now)?;
        self.clock_bpc(now)
    }

    fn clock_sc(&mut self, now: u64) -> Result<(), MechanismFault> {
        let Some(sc) = &mut self.sc else { return Ok(()) };
        if sc.is_busy() {
            sc.tick(now)?;
        }
        let mut compressed = Vec::new();
        while let Some(done) = sc.compressor.pop() {
            // While the codes are being replaced, a line in the old codes is stored uncompressed.
            let form = if sc.can_compress() { Form::Sc(done.output) } else { Form::Raw };
            compressed.push((done.address, Stored { mode: Mode::HighCapacity, form, values: done.input }));
        }
        while let Some(done) = sc.decompressor.pop() {
            self.hits.decompressed(done.what);
            sc.see(&done.output);
        }
        let gives_up = sc.take_give_up();
        compressed.into_iter().for_each(|(line, stored)| self.place(line, stored));
        if gives_up {
            self.give_up_coded();
        }
        Ok(())
    }

    /// Evicts the lines in the old codes.
    fn give_up_coded(&mut self) {
        let coded = self.stored.iter().filter(|(_, stored)| matches!(stored.form, Form::Sc(_)));
        let mut lines: Vec<u64> = coded.map(|(line, _)| *line).collect();
        lines.sort_unstable();
        lines.iter().for_each(|line| _ = self.stored.remove(line));
        // These include lines that the compressor has just given.
        self.stale_lines += lines.len() as u64;
        self.stale.append(&mut lines);
    }

    fn clock_bpc(&mut self, now: u64) -> Result<(), MechanismFault> {
        let Some(bpc) = &mut self.bpc else { return Ok(()) };
        bpc.compressor.tick(now)?;
        bpc.decompressor.tick(now)?;
        while let Some(done) = bpc.decompressor.pop() {
            self.hits.decompressed(done.what);
        }
        let mut compressed = Vec::new();
        while let Some(done) = bpc.compressor.pop() {
            let form = Form::Bpc(done.output);
            compressed.push((done.address, Stored { mode: Mode::HighCapacity, form, values: done.input }));
        }
        compressed.into_iter().for_each(|(line, stored)| self.place(line, stored));
        Ok(())
    }

    /// Puts the line of a hit into its decompressor.
    fn decompress(&mut self, tag: Tag, line: u64, Stored { form, values, .. }: Stored) {
        match (form, &mut self.sc, &mut self.bpc) {
            (Form::Bdi(form), ..) => self.bdi_decompressor.push(tag, line, form, || values),
            (Form::Sc(form), Some(sc), _) => sc.decompressor.push(tag, line, form, || values),
            (Form::Bpc(form), _, Some(bpc)) => bpc.decompressor.push(tag, line, form, || values),
            _ => unreachable!("a line has the form of a codec that there is"),
        }
    }

    /// Returns whether the form represents the values, by the codec's definition.
    fn is_right(&self, Stored { form, values, .. }: &Stored) -> bool {
        match form {
            Form::Raw | Form::Fpc(_) | Form::Cpack(_) => true,
            Form::Bdi(form) => bdi::decompress(form, LINE_BYTES) == *values,
            Form::Bpc(form) => bpc::decompress(form, LINE_BYTES).line == *values,
            Form::Sc(form) => {
                let words = self.sc.as_ref().and_then(|sc| sc.decode(form));
                words.is_some_and(|words| words == sc::words_of(values))
            }
        }
    }

    /// Counts the values of an uncompressed line that a hit uses.
    fn see_whole(&mut self, line: u64, memory: &DeviceMemory) {
        if let Some(sc) = self.sc.as_mut().filter(|sc| sc.is_training() && has_values(line)) {
            sc.see(&values_of(line, memory));
        }
    }

    fn codecs_are_busy(&self) -> bool {
        self.bdi_compressor.is_busy()
            || self.bdi_decompressor.is_busy()
            || self.bpc.as_ref().is_some_and(|bpc| bpc.compressor.is_busy() || bpc.decompressor.is_busy())
    }
}

impl SmPart for CompressedL1d {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        if let Some(fault) = self.fault.take() {
            return Err(Box::new(fault));
        }
        self.clock_controller(now)?;
        self.compress_next();
        self.clock_codecs(now)?;
        if self.hits.is_busy()
            && let Some((mode, cycles)) = self.hits.tick(now)?
            && let Some(controller) = &mut self.controller
        {
            controller.hit_latency(mode, cycles);
        }
        Ok(())
    }

    /// Checks the parts that are busy most often first, because an SM calls this several times in each cycle.
    fn busy(&self) -> bool {
        self.sc.as_ref().is_some_and(Statistical::is_busy)
            || self.controller.as_ref().is_some_and(Controller::is_busy)
            || self.hits.is_busy()
            || self.fault.is_some()
            || !self.is_drained()
    }

    fn is_drained(&self) -> bool {
        self.arrived.is_empty()
            && !self.hits.holds_hits()
            && !self.codecs_are_busy()
            && !self.sc.as_ref().is_some_and(Statistical::holds_lines)
    }

    fn operations(&self, out: &mut BlockOperations) {
        self.bdi_compressor.operations(out);
        self.bdi_decompressor.operations(out);
        if let Some(sc) = &self.sc {
            sc.compressor.operations(out);
            sc.decompressor.operations(out);
        }
        if let Some(bpc) = &self.bpc {
            bpc.compressor.operations(out);
            bpc.decompressor.operations(out);
        }
    }

    fn counters(&self, out: &mut MechanismCounters) {
        let names = ["l1d_lines_none", "l1d_lines_low_latency", "l1d_lines_high_capacity"];
        names.into_iter().zip(self.lines).for_each(|(name, lines)| count(out, name, lines));
        count(out, "l1d_lines_kept_whole", self.raw_lines);
        count(out, "l1d_sub_blocks", self.sub_blocks);
        count(out, "l1d_stale_lines", self.stale_lines);
        self.hits.counters(out);
        if let Some(controller) = &self.controller {
            controller.counters(out);
        }
        if let Some(sc) = &self.sc {
            sc.counters(out);
        }
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.controller.as_ref().and_then(Controller::trace));
        out.extend(self.bdi_compressor.trace());
        out.extend(self.bdi_decompressor.trace());
        if let Some(sc) = &self.sc {
            sc.traces(out);
        }
        if let Some(bpc) = &self.bpc {
            out.extend(bpc.compressor.trace());
            out.extend(bpc.decompressor.trace());
        }
        out.extend(self.hits.trace());
    }

    fn schedule_observer(&mut self) -> Option<&mut dyn ScheduleObserver> {
        (self.settings.source == ModeSource::Controller(super::AMAT_WITH_TOLERANCE)).then_some(self)
    }

    has!(fills: Stage<L1dFill>, placement: L1dPlacement, l1d_observer: L1dObserver, hits: Stage<Hit>);
}

impl ScheduleObserver for CompressedL1d {
    fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        if let Some(controller) = &mut self.controller {
            controller.schedule(scheduler, cycles, warps);
        }
    }
}

impl Stage<L1dFill> for CompressedL1d {
    fn offer(&mut self, _: u64, _: &mut L1dFill, _: &DeviceMemory) -> Offer {
        if self.arrived.len() < ARRIVED { Offer::Pass } else { Offer::Full }
    }

    fn pop(&mut self) -> Option<L1dFill> {
        None
    }
}

impl L1dPlacement for CompressedL1d {
    fn space(&mut self, line: u64, memory: &DeviceMemory) -> LineSpace {
        self.stored.remove(&line);
        if !has_values(line) {
            return LineSpace::Whole;
        }
        self.arrived.push_back(ArrivedLine { line, values: values_of(line, memory) });
        LineSpace::Later
    }

    fn placed(&mut self) -> Option<(u64, u32)> {
        self.placements.pop_front()
    }

    fn stale_line(&mut self) -> Option<u64> {
        self.stale.pop()
    }
}

impl L1dObserver for CompressedL1d {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        match event {
            L1dEvent::Load { load, decision } => {
                if let Some(controller) = &mut self.controller {
                    let set = self.controller_sets.number(self.index.set(load.line));
                    controller.access(set, *decision);
                    if *decision == AccessResult::Miss
                        && matches!(self.settings.source, ModeSource::Controller(_))
                    {
                        controller.look_up(set);
                        self.missed = Some(load.line);
                    }
                }
            }
            L1dEvent::Prefetch { .. } | L1dEvent::Fetched(_) | L1dEvent::PredictionUsed(_) => {}
            L1dEvent::Evicted { line, .. } => _ = self.stored.remove(line),
            L1dEvent::Returned { cycles } => {
                if let Some(controller) = &mut self.controller {
                    controller.miss_returned(*cycles);
                }
            }
            L1dEvent::Flushed { program: None } => {
                self.stored.clear();
                self.launches += 1;
            }
            L1dEvent::Flushed { program: Some(program) } => {
                self.stored.retain(|line, _| program_of(*line) != *program);
            }
        }
    }
}

impl Stage<Hit> for CompressedL1d {
    fn offer(&mut self, now: u64, hit: &mut Hit, memory: &DeviceMemory) -> Offer {
        let line = hit.line;
        if hit.after_fill {
            return Offer::Pass;
        }
        let Some(stored) = self.stored.get(&line) else {
            self.see_whole(line, memory);
            return Offer::Pass;
        };
        let latency = self.settings.latency(stored.mode);
        // A hit that waits for a free entry asks in every cycle, so the line is copied only when there is one.
        if latency != 0 && !self.hits.has_room() {
            return Offer::Full;
        }
        let stored = *stored;
        if latency == 0 {
            if !self.is_right(&stored) {
                let instance = format!("{}: decompression in no time", self.prefix);
                self.fault = Some(WrongValue { instance, line });
            }
            if let Some(sc) = &mut self.sc {
                sc.see(&stored.values);
            }
            return Offer::Pass;
        }
        let tag = self.hits.push(*hit, stored.mode, latency, now);
        self.decompress(tag, line, stored);
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Hit> {
        self.hits.pop()
    }
}
