//! The codecs of a partition: a compressor and a decompressor for each algorithm that its lines are compressed by.
use super::Latencies;
use super::form::{Algorithm, Choice, LineForms};
use super::lines::{LINE_BYTES, has_values};
use super::partition::Inbound;
use crate::codec_stage::{Codec, CodecStage, compressed};
use selvedge_blocks::bdi::{BdiCompressor, BdiDecompressor};
use selvedge_blocks::cpack::{self, CpackCompressor, CpackDecompressor, CpackParams};
use selvedge_blocks::fpc::{self, FpcCompressor, FpcDecompressor};
use selvedge_blocks::line::Line;
use selvedge_gpu::energy::CodecEvents;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::packet::Packet;
use selvedge_gpu::stage::{MechanismFault, Offer};
use selvedge_hw::wave::Trace;

/// A line in the two forms that a codec of FPC has.
#[derive(Clone, Copy, Debug)]
pub struct FpcForms {
    form: fpc::Compressed,
    values: Line,
}

impl FpcForms {
    fn of(values: Line) -> Self {
        FpcForms { form: fpc::compress(&values, LINE_BYTES, fpc::Variant::Segments), values }
    }
}

impl Codec for FpcCompressor {
    type Forms = FpcForms;

    fn inputs(offered: Option<&FpcForms>, ready: bool) -> fpc::CompressorIn {
        let line_i = offered.map_or_else(Line::default, |line| line.values);
        fpc::CompressorIn { valid_i: offered.is_some(), line_i, ready_i: ready }
    }

    fn took(out: &fpc::CompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &fpc::CompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &fpc::CompressorOut, line: &FpcForms) -> bool {
        let fpc::Compressed { compressed, bits, payload } = line.form;
        (out.encoding_o, out.size_o, out.payload_o) == (u8::from(compressed), bits, payload)
    }
}

impl Codec for FpcDecompressor {
    type Forms = FpcForms;

    fn inputs(offered: Option<&FpcForms>, ready: bool) -> fpc::DecompressorIn {
        fpc::DecompressorIn {
            valid_i: offered.is_some(),
            encoding_i: offered.map_or(0, |line| u8::from(line.form.compressed)),
            payload_i: offered.map_or_else(Line::default, |line| line.form.payload),
            ready_i: ready,
        }
    }

    fn took(out: &fpc::DecompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &fpc::DecompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &fpc::DecompressorOut, line: &FpcForms) -> bool {
        !out.error_o && out.line_o == line.values
    }
}

/// A line in the two forms that a codec of C-Pack has.
#[derive(Clone, Copy, Debug)]
pub struct CpackForms {
    form: cpack::Compressed,
    values: Line,
}

impl CpackForms {
    fn of(values: Line) -> Self {
        CpackForms { form: cpack::compress(&values, LINE_BYTES, cpack::Variant::Small4), values }
    }
}

impl Codec for CpackCompressor {
    type Forms = CpackForms;

    fn inputs(offered: Option<&CpackForms>, ready: bool) -> cpack::CompressorIn {
        let line_i = offered.map_or_else(Line::default, |line| line.values);
        cpack::CompressorIn { valid_i: offered.is_some(), line_i, ready_i: ready }
    }

    fn took(out: &cpack::CompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &cpack::CompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &cpack::CompressorOut, line: &CpackForms) -> bool {
        let cpack::Compressed { encoding, bits, payload } = line.form;
        (out.encoding_o, out.size_o, out.payload_o) == (encoding.tag(), bits, payload)
    }
}

impl Codec for CpackDecompressor {
    type Forms = CpackForms;

    fn inputs(offered: Option<&CpackForms>, ready: bool) -> cpack::DecompressorIn {
        cpack::DecompressorIn {
            valid_i: offered.is_some(),
            encoding_i: offered.map_or(0, |line| line.form.encoding.tag()),
            payload_i: offered.map_or_else(Line::default, |line| line.form.payload),
            ready_i: ready,
        }
    }

    fn took(out: &cpack::DecompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &cpack::DecompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &cpack::DecompressorOut, line: &CpackForms) -> bool {
        !out.error_o && out.line_o == line.values
    }
}

/// A compressor and a decompressor of one algorithm.
trait Stages {
    /// Offers a line to the compressor.
    fn compress(&mut self, line: u64, values: Line) -> Offer;
    /// Takes a line that the compressor is done with.
    fn compressed(&mut self) -> Option<u64>;
    /// Offers a line to the decompressor.
    fn decompress(&mut self, what: Inbound, line: u64, values: Line) -> Offer;
    /// Takes what the decompressor is done with.
    fn decompressed(&mut self) -> Option<(Inbound, u64)>;
    /// One clock.
    fn tick(&mut self, now: u64) -> Result<(), MechanismFault>;
    /// Is anything in one of them?
    fn is_busy(&self) -> bool;
    /// Lines that were compressed and decompressed.
    fn lines(&self) -> [u64; 2];
    /// What was recorded.
    fn traces(&self, out: &mut Vec<Trace>);
}

/// The codecs of one algorithm, with how it sees a line.
struct Pair<C: Codec, D: Codec<Forms = C::Forms>> {
    compressor: CodecStage<C, ()>,
    decompressor: CodecStage<D, Inbound>,
    forms: fn(Line) -> C::Forms,
}

impl<C: Codec, D: Codec<Forms = C::Forms>> Stages for Pair<C, D> {
    fn compress(&mut self, line: u64, values: Line) -> Offer {
        if !self.compressor.has_room() {
            return Offer::Full;
        }
        self.compressor.push((), line, (self.forms)(values));
        Offer::Taken
    }

    fn compressed(&mut self) -> Option<u64> {
        self.compressor.pop().map(|((), line, _)| line)
    }

    fn decompress(&mut self, what: Inbound, line: u64, values: Line) -> Offer {
        if !self.decompressor.has_room() {
            return Offer::Full;
        }
        self.decompressor.push(what, line, (self.forms)(values));
        Offer::Taken
    }

    fn decompressed(&mut self) -> Option<(Inbound, u64)> {
        self.decompressor.pop().map(|(what, line, _)| (what, line))
    }

    fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        if self.compressor.is_busy() {
            self.compressor.tick(now)?;
        }
        if self.decompressor.is_busy() {
            self.decompressor.tick(now)?;
        }
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    fn lines(&self) -> [u64; 2] {
        [self.compressor.lines, self.decompressor.lines]
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}

/// The codecs of an algorithm in partition `id`. Those of FPC and C-Pack have the latencies of their blocks.
fn stages(algorithm: Algorithm, id: u32, latencies: Latencies, probes: &Probes) -> Box<dyn Stages> {
    let bytes = LINE_BYTES as u32;
    match algorithm {
        Algorithm::Bdi => {
            let Latencies { compress, decompress } = latencies;
            Box::new(Pair::<BdiCompressor, BdiDecompressor> {
                compressor: CodecStage::new(format!("l2.p{id}.compressor"), bytes, compress, probes),
                decompressor: CodecStage::new(format!("l2.p{id}.decompressor"), bytes, decompress, probes),
                forms: |values| compressed(values, LINE_BYTES as u32),
            })
        }
        Algorithm::Fpc => {
            let compress = fpc::CompressorParams { segmented: true, ..Default::default() };
            let decompress = fpc::DecompressorParams { segmented: true, ..Default::default() };
            let names = ["compressor", "decompressor"].map(|what| format!("l2.p{id}.fpc_{what}"));
            let [compressor, decompressor] = names;
            Box::new(Pair::<FpcCompressor, FpcDecompressor> {
                compressor: CodecStage::with_params(compressor, &compress, probes),
                decompressor: CodecStage::with_params(decompressor, &decompress, probes),
                forms: FpcForms::of,
            })
        }
        Algorithm::Cpack => {
            let params = CpackParams { dictionary: cpack::VALUES, ..CpackParams::default() };
            let names = ["compressor", "decompressor"].map(|what| format!("l2.p{id}.cpack_{what}"));
            let [compressor, decompressor] = names;
            Box::new(Pair::<CpackCompressor, CpackDecompressor> {
                compressor: CodecStage::with_params(compressor, &params, probes),
                decompressor: CodecStage::with_params(decompressor, &params, probes),
                forms: CpackForms::of,
            })
        }
    }
}

/// The codecs of one partition.
pub struct Codecs {
    stages: Vec<(Algorithm, Box<dyn Stages>)>,
    /// The line of a fill that has left a decompressor.
    ready_fill: Option<u64>,
    /// A write that has left one.
    ready_write: Option<Packet>,
    /// Writes that are in the decompressors or have left them.
    writes: usize,
}

impl Codecs {
    pub(super) fn new(id: u32, choice: Choice, latencies: Latencies, probes: &Probes) -> Self {
        let one = |algorithm: &Algorithm| (*algorithm, stages(*algorithm, id, latencies, probes));
        Codecs {
            stages: choice.algorithms().iter().map(one).collect(),
            ready_fill: None,
            ready_write: None,
            writes: 0,
        }
    }

    /// The codecs of an algorithm; one that no line is compressed by is not asked for.
    fn of(&mut self, algorithm: Algorithm) -> &mut dyn Stages {
        let at = self.stages.iter().position(|(own, _)| *own == algorithm);
        self.stages[at.unwrap_or(0)].1.as_mut()
    }

    /// Offers a compressed line to its decompressor.
    pub(super) fn decompress(&mut self, what: Inbound, line: u64, forms: &LineForms) -> Offer {
        if !has_values(line) || !forms.is_compressed() {
            return Offer::Pass;
        }
        let stage = self.of(forms.algorithm).decompress(what, line, forms.values);
        self.writes += usize::from(stage == Offer::Taken && matches!(what, Inbound::Write(_)));
        stage
    }

    /// Is a write on its way through the decompressors? Where fills pass them, too, another one behind it could keep
    /// back the fill that it waits for.
    pub(super) fn has_write(&self) -> bool {
        self.writes > 0
    }

    /// Offers a line to the compressor of its algorithm.
    pub(super) fn compress(&mut self, line: u64, forms: &LineForms) -> Offer {
        self.of(forms.algorithm).compress(line, forms.values)
    }

    /// Takes a line that a compressor is done with.
    pub(super) fn compressed(&mut self) -> Option<u64> {
        self.stages.iter_mut().find_map(|(_, stages)| stages.compressed())
    }

    /// Moves what a decompressor is done with to its place, if both places are free.
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

    /// Takes the line of a fill that a decompressor is done with.
    pub(super) fn fill(&mut self) -> Option<u64> {
        self.advance();
        self.ready_fill.take()
    }

    /// Takes a write that a decompressor is done with.
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
            || self.stages.iter().any(|(_, stages)| stages.is_busy())
    }

    /// Lines that were compressed and decompressed.
    pub(super) fn lines(&self) -> [u64; 2] {
        let lines = self.stages.iter().map(|(_, stages)| stages.lines());
        lines.fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]])
    }

    pub(super) fn codec_events(&self, out: &mut CodecEvents) {
        for (algorithm, stages) in &self.stages {
            let [compressed, decompressed] = stages.lines();
            let counts = match algorithm {
                Algorithm::Bdi => [&mut out.bdi_compressed, &mut out.bdi_decompressed],
                Algorithm::Fpc => [&mut out.fpc_compressed, &mut out.fpc_decompressed],
                Algorithm::Cpack => [&mut out.cpack_compressed, &mut out.cpack_decompressed],
            };
            counts.into_iter().zip([compressed, decompressed]).for_each(|(count, lines)| *count += lines);
        }
    }

    pub(super) fn traces(&self, out: &mut Vec<Trace>) {
        self.stages.iter().for_each(|(_, stages)| stages.traces(out));
    }
}
