//! The codecs of a partition: a compressor and a decompressor for each of its algorithms.
use crate::CodecLatencies;
use crate::codecs::{
    Algorithm, Bdi, Codec, CodecChoice, CodecStage, Compressing, Cpack, Decompressing, Form, Fpc, LineForms,
};
use crate::lines::has_values;
use crate::partition::{Inbound, Outbound};
use selvedge_gpu::events::BlockOperations;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::packet::Packet;
use selvedge_gpu::stage::{MechanismFault, Offer};
use selvedge_hw::wave::Trace;
use selvedge_hw_codecs::cpack::{self, CpackParams};
use selvedge_hw_codecs::fpc;
use selvedge_hw_codecs::line::Line;
use selvedge_state::State;

/// A compressor and a decompressor of one algorithm.
trait Stages: State + Send {
    /// Offers a line to the compressor.
    fn compress(&mut self, what: Outbound, line: u64, values: Line) -> Offer;
    /// Removes and returns a line that has left the compressor.
    fn compressed(&mut self) -> Option<(Outbound, u64)>;
    /// Offers a line to the decompressor.
    fn decompress(&mut self, what: Inbound, line: u64, forms: &LineForms) -> Offer;
    /// Removes and returns a line that has left the decompressor.
    fn decompressed(&mut self) -> Option<(Inbound, u64)>;
    /// Advances both by one cycle.
    fn tick(&mut self, now: u64) -> Result<(), MechanismFault>;
    /// Returns whether a line is in one of them.
    fn is_busy(&self) -> bool;
    /// Returns the numbers of lines that were compressed and decompressed.
    fn lines(&self) -> [u64; 2];
    /// Adds these numbers to the blocks' operations.
    fn operations(&self, out: &mut BlockOperations);
    /// Adds the recorded ports of the blocks that are probed.
    fn traces(&self, out: &mut Vec<Trace>);
}

/// The codecs of one algorithm.
#[derive(State)]
struct Pair<C: Codec> {
    algorithm: Algorithm,
    compressor: CodecStage<Compressing<C>, Outbound>,
    decompressor: CodecStage<Decompressing<C>, Inbound>,
    /// Returns the form of this codec, or nothing if the line has another form.
    #[state(skip = "a function")]
    own: fn(Form) -> Option<C::Form>,
}

impl<C: Codec> Stages for Pair<C> {
    fn compress(&mut self, what: Outbound, line: u64, values: Line) -> Offer {
        if !self.compressor.has_room() {
            return Offer::Full;
        }
        let (own, algorithm) = (self.own, self.algorithm);
        let expected = || own(algorithm.compress(&values)).expect("an algorithm has a form of its own");
        self.compressor.push(what, line, values, expected);
        Offer::Taken
    }

    fn compressed(&mut self) -> Option<(Outbound, u64)> {
        self.compressor.pop().map(|done| (done.what, done.address))
    }

    fn decompress(&mut self, what: Inbound, line: u64, forms: &LineForms) -> Offer {
        let Some(form) = (self.own)(forms.form) else { return Offer::Pass };
        if !self.decompressor.has_room() {
            return Offer::Full;
        }
        self.decompressor.push(what, line, form, || forms.values);
        Offer::Taken
    }

    fn decompressed(&mut self) -> Option<(Inbound, u64)> {
        self.decompressor.pop().map(|done| (done.what, done.address))
    }

    fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.compressor.tick(now)?;
        self.decompressor.tick(now)
    }

    fn is_busy(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    fn lines(&self) -> [u64; 2] {
        [self.compressor.lines(), self.decompressor.lines()]
    }

    fn operations(&self, out: &mut BlockOperations) {
        self.compressor.operations(out);
        self.decompressor.operations(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}

/// Builds the codecs of an algorithm in partition `id`. `latencies` apply to BDI; FPC and C-Pack have their blocks' defaults.
fn stages(algorithm: Algorithm, id: u32, latencies: CodecLatencies, probes: &Probes) -> Box<dyn Stages> {
    let named = |what: &str| format!("l2.p{id}.{what}");
    match algorithm {
        Algorithm::Bdi => {
            let (compress, decompress) = latencies.params();
            Box::new(Pair::<Bdi> {
                algorithm,
                compressor: CodecStage::new(named("compressor"), &compress, probes),
                decompressor: CodecStage::new(named("decompressor"), &decompress, probes),
                own: |form| if let Form::Bdi(form) = form { Some(form) } else { None },
            })
        }
        Algorithm::Fpc => {
            let compress = fpc::FpcCompressorParams { segmented: true, ..Default::default() };
            let decompress = fpc::FpcDecompressorParams { segmented: true, ..Default::default() };
            Box::new(Pair::<Fpc> {
                algorithm,
                compressor: CodecStage::new(named("fpc_compressor"), &compress, probes),
                decompressor: CodecStage::new(named("fpc_decompressor"), &decompress, probes),
                own: |form| if let Form::Fpc(form) = form { Some(form) } else { None },
            })
        }
        Algorithm::Cpack => {
            let params = CpackParams { dictionary: cpack::VALUES, ..CpackParams::default() };
            Box::new(Pair::<Cpack> {
                algorithm,
                compressor: CodecStage::new(named("cpack_compressor"), &params, probes),
                decompressor: CodecStage::new(named("cpack_decompressor"), &params, probes),
                own: |form| if let Form::Cpack(form) = form { Some(form) } else { None },
            })
        }
    }
}

selvedge_state::boxed_state!(dyn Stages);

/// The codecs of one partition.
#[derive(State)]
pub struct Codecs {
    stages: Vec<(Algorithm, Box<dyn Stages>)>,
    /// A fill whose line has left a decompressor.
    ready_fill: Option<u64>,
    /// A write whose line has left a decompressor.
    ready_write: Option<Packet>,
    /// Number of writes in the decompressors, and of the ready one.
    writes: usize,
    /// An eviction whose line has left a compressor.
    ready_eviction: Option<u64>,
    /// A line that stays in the L2 and has left a compressor.
    ready_again: Option<u64>,
}

impl Codecs {
    pub(super) fn new(id: u32, choice: CodecChoice, latencies: CodecLatencies, probes: &Probes) -> Self {
        let one = |algorithm: &Algorithm| (*algorithm, stages(*algorithm, id, latencies, probes));
        Codecs {
            stages: choice.algorithms().iter().map(one).collect(),
            ready_fill: None,
            ready_write: None,
            writes: 0,
            ready_eviction: None,
            ready_again: None,
        }
    }

    /// Returns the codecs of the line's algorithm, or the codecs of the first algorithm for an uncompressed line.
    fn of(&mut self, form: &Form) -> &mut dyn Stages {
        let algorithm = form.algorithm();
        let at = self.stages.iter().position(|(own, _)| Some(*own) == algorithm);
        self.stages[at.unwrap_or(0)].1.as_mut()
    }

    /// Offers a compressed line to its decompressor.
    pub(super) fn decompress(&mut self, what: Inbound, line: u64, forms: &LineForms) -> Offer {
        if !has_values(line) || !forms.is_compressed() {
            return Offer::Pass;
        }
        let stage = self.of(&forms.form).decompress(what, line, forms);
        self.writes += usize::from(stage == Offer::Taken && matches!(what, Inbound::Write(_)));
        stage
    }

    /// Returns whether a write is in flight through the decompressors. If fills use the decompressors, too, a second write could
    /// block the fill that the first one waits for.
    pub(super) fn has_write(&self) -> bool {
        self.writes > 0
    }

    /// Offers a line to the compressor of its algorithm.
    pub(super) fn compress(&mut self, what: Outbound, line: u64, forms: &LineForms) -> Offer {
        self.of(&forms.form).compress(what, line, forms.values)
    }

    /// Moves a line that has left a compressor to `ready_eviction` or `ready_again`, if both are empty.
    fn settle(&mut self) {
        if self.ready_eviction.is_some() || self.ready_again.is_some() {
            return;
        }
        match self.stages.iter_mut().find_map(|(_, stages)| stages.compressed()) {
            Some((Outbound::Eviction, line)) => self.ready_eviction = Some(line),
            Some((Outbound::Again, line)) => self.ready_again = Some(line),
            None => {}
        }
    }

    /// Removes and returns the line of an eviction that has left a compressor.
    pub(super) fn eviction(&mut self) -> Option<u64> {
        self.settle();
        self.ready_eviction.take()
    }

    /// Removes and returns a line that stays in the L2 and has left a compressor.
    pub(super) fn again(&mut self) -> Option<u64> {
        self.settle();
        self.ready_again.take()
    }

    /// Moves a line that has left a decompressor to `ready_fill` or `ready_write`. It waits while a fill is ready, or while a
    /// write is ready and another one follows.
    fn advance(&mut self) {
        if self.ready_fill.is_some() || self.ready_write.is_some() && self.writes > 1 {
            return;
        }
        match self.stages.iter_mut().find_map(|(_, stages)| stages.decompressed()) {
            Some((Inbound::Fill, line)) => self.ready_fill = Some(line),
            Some((Inbound::Write(packet), _)) => self.ready_write = Some(packet),
            None => {}
        }
    }

    /// Removes and returns the line of a fill that has left a decompressor.
    pub(super) fn fill(&mut self) -> Option<u64> {
        self.advance();
        self.ready_fill.take()
    }

    /// Removes and returns a write whose line has left a decompressor.
    pub(super) fn write(&mut self) -> Option<Packet> {
        self.advance();
        let packet = self.ready_write.take()?;
        self.writes -= 1;
        Some(packet)
    }

    pub(super) fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.stages.iter_mut().try_for_each(|(_, stages)| stages.tick(now))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.ready_fill.is_some()
            || self.ready_write.is_some()
            || self.ready_eviction.is_some()
            || self.ready_again.is_some()
            || self.stages.iter().any(|(_, stages)| stages.is_busy())
    }

    /// Returns the numbers of lines that were compressed and decompressed.
    pub(super) fn lines(&self) -> [u64; 2] {
        let lines = self.stages.iter().map(|(_, stages)| stages.lines());
        lines.fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]])
    }

    pub(super) fn operations(&self, out: &mut BlockOperations) {
        self.stages.iter().for_each(|(_, stages)| stages.operations(out));
    }

    pub(super) fn traces(&self, out: &mut Vec<Trace>) {
        self.stages.iter().for_each(|(_, stages)| stages.traces(out));
    }
}
