//! Selvedge's own trace format, `.strace`: the launches of a program with their instructions, addresses and written values.
//!
//! A file begins with eight bytes for the format and its version. Sections follow. Each has a letter, the number of bytes
//! (8 bytes, little-endian), the bytes, and a digest of all of these. Section `H` describes the recorded run and `K` a
//! kernel. `M` contains the host's changes of memory. `L` is a launch with the records of its warps ([`super::stream`]).
//! `E` is the end, with a digest of memory.
use super::bytes::{Damage, DecodeResult, EMPTY_DIGEST, TraceDecoder, TraceEncoder, digest, number_of};
use super::change;
use super::error::TraceError;
use super::launch::{LaunchSummary, TraceLaunch};
use super::record::LaunchRecorder;
use super::stream::SPACES;
use crate::config::GpuConfig;
use crate::sm::launch::INSTRUCTION_BYTES;
use selvedge_hw::file::read_known;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Instr, Kernel, LaunchDims, MOST_MATRIX_WORK, OpClass};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// First bytes of the file. The first byte does not occur in text.
const MAGIC: [u8; 7] = *b"\x89STRACE";
/// Version of the format. Files of other versions are rejected.
const VERSION: u8 = 1;

const HEADER: u8 = b'H';
const KERNEL: u8 = b'K';
const HOST: u8 = b'M';
const LAUNCH: u8 = b'L';
const END: u8 = b'E';

const NO_SPACE: u8 = u8::MAX;
/// Classes by their number in a file. The work of a matrix product follows its class.
const CLASSES: [OpClass; 21] = [
    OpClass::Int,
    OpClass::IntMul,
    OpClass::IntDiv,
    OpClass::Fp32,
    OpClass::Fp32Div,
    OpClass::Fp64,
    OpClass::Fp64Div,
    OpClass::Sfu,
    OpClass::Convert,
    OpClass::Control,
    OpClass::Warp,
    OpClass::Load,
    OpClass::Store,
    OpClass::Atomic,
    OpClass::Texture,
    OpClass::System,
    OpClass::Barrier,
    OpClass::Fence,
    OpClass::Exit,
    OpClass::Matrix(0),
    OpClass::MatrixFp64(0),
];

/// Description of a recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// Name of the workload.
    pub workload: String,
    /// Size of the workload.
    pub size: String,
    /// Name of the configuration.
    pub config: String,
    /// Mechanism, as written on the command line.
    pub mechanism: String,
    /// Digest of the configuration.
    pub(super) machine: u64,
}

impl RecordedRun {
    /// Creates the description of a run.
    pub fn new(workload: &str, size: &str, config: &GpuConfig, mechanism: &str) -> Self {
        Self {
            workload: workload.to_owned(),
            size: size.to_owned(),
            config: config.name.clone(),
            mechanism: mechanism.to_owned(),
            machine: machine_digest(config),
        }
    }

    /// Returns whether configuration and mechanism are the recorded ones. A replay then takes the same cycles.
    pub fn is_same_machine(&self, config: &GpuConfig, mechanism: &str) -> bool {
        self.machine == machine_digest(config) && self.mechanism == mechanism
    }
}

fn machine_digest(config: &GpuConfig) -> u64 {
    digest(EMPTY_DIGEST, format!("{config:?}").as_bytes())
}

/// Returns a digest of the values in memory.
pub(super) fn memory_digest(memory: &DeviceMemory) -> u64 {
    memory
        .contents()
        .fold(EMPTY_DIGEST, |sum, (address, bytes)| digest(digest(sum, &address.to_le_bytes()), bytes))
}

/// A recording in progress.
pub struct TraceRecording {
    out: Vec<u8>,
    kernels: Vec<Arc<Kernel>>,
    running: Option<(usize, LaunchDims, Arc<LaunchRecorder>)>,
}

impl TraceRecording {
    /// Starts a recording of the described run. From now on, `memory` records its changes.
    pub fn new(what: &RecordedRun, memory: &mut DeviceMemory) -> Self {
        memory.record_changes();
        let mut recording = Self { out: Vec::new(), kernels: Vec::new(), running: None };
        recording.out.extend(MAGIC);
        recording.out.push(VERSION);
        let mut payload = TraceEncoder::default();
        for text in [&what.workload, &what.size, &what.config, &what.mechanism] {
            payload.text(text);
        }
        payload.long(what.machine);
        recording.section(HEADER, &payload);
        recording
    }

    fn section(&mut self, tag: u8, payload: &TraceEncoder) {
        let start = self.out.len();
        self.out.push(tag);
        self.out.extend((payload.bytes.len() as u64).to_le_bytes());
        self.out.extend(&payload.bytes);
        let sum = digest(EMPTY_DIGEST, &self.out[start..]);
        self.out.extend(sum.to_le_bytes());
    }

    fn host(&mut self, memory: &mut DeviceMemory) {
        let changes = memory.take_changes();
        let mut payload = TraceEncoder::default();
        change::encode(&changes, memory, &mut payload);
        self.section(HOST, &payload);
    }

    /// Starts the recording of a launch. Returns the recorder for its warps.
    pub fn begin(
        &mut self,
        kernel: &Arc<Kernel>,
        dims: LaunchDims,
        memory: &mut DeviceMemory,
    ) -> Arc<LaunchRecorder> {
        self.host(memory);
        let known = self.kernels.iter().position(|other| Arc::ptr_eq(other, kernel));
        let number = known.unwrap_or_else(|| {
            self.section(KERNEL, &encode_kernel(kernel));
            self.kernels.push(Arc::clone(kernel));
            self.kernels.len() - 1
        });
        let recorder = Arc::new(LaunchRecorder::new(TraceLaunch::warps(&dims).unwrap_or(0)));
        self.running = Some((number, dims, Arc::clone(&recorder)));
        recorder
    }

    /// Ends the recording of a launch.
    pub fn end(&mut self) {
        let Some((number, dims, recorder)) = self.running.take() else { return };
        let mut payload = TraceEncoder::default();
        payload.number(number as u64);
        for side in dims.grid.into_iter().chain(dims.block).chain([dims.dynamic_shared]) {
            payload.number(side.into());
        }
        recorder.take().iter().for_each(|stream| payload.block(stream));
        self.section(LAUNCH, &payload);
    }

    /// Ends the recording and returns the contents of the file. The program must have ended.
    pub fn finish(mut self, memory: &mut DeviceMemory) -> Vec<u8> {
        self.host(memory);
        let mut payload = TraceEncoder::default();
        payload.long(memory_digest(memory));
        self.section(END, &payload);
        self.out
    }
}

fn encode_kernel(kernel: &Kernel) -> TraceEncoder {
    let mut out = TraceEncoder::default();
    out.text(&kernel.name);
    out.number(kernel.registers.into());
    out.number(kernel.shared_bytes.into());
    out.number(kernel.code.len() as u64);
    for instr in &kernel.code {
        encode_class(instr.class, &mut out);
        out.byte(instr.space().map_or(NO_SPACE, |space| number_of(&SPACES, &space)));
        out.number(instr.line.into());
        for registers in [instr.dests(), instr.sources()] {
            out.number(registers.len() as u64);
            registers.iter().for_each(|register| out.number((*register).into()));
        }
    }
    out
}

fn encode_class(class: OpClass, out: &mut TraceEncoder) {
    let (kind, work) = match class {
        OpClass::Matrix(work) => (OpClass::Matrix(0), Some(work)),
        OpClass::MatrixFp64(work) => (OpClass::MatrixFp64(0), Some(work)),
        other => (other, None),
    };
    out.byte(number_of(&CLASSES, &kind));
    if let Some(work) = work {
        out.number(work.into());
    }
}

fn decode_class(from: &mut TraceDecoder) -> DecodeResult<OpClass> {
    let class = from.entry(&CLASSES, "class")?;
    let mut work =
        || from.at_most(MOST_MATRIX_WORK.into(), "work of a matrix product").map(|work| work as u16);
    Ok(match class {
        OpClass::Matrix(_) => OpClass::Matrix(work()?),
        OpClass::MatrixFp64(_) => OpClass::MatrixFp64(work()?),
        other => other,
    })
}

fn decode_kernel(from: &mut TraceDecoder, file: &str) -> DecodeResult<Kernel> {
    let name = from.text()?;
    let registers = from.word("registers")?;
    let shared_bytes = from.word("bytes of shared memory")?;
    let count = from.number()?;
    let mut code = Vec::new();
    for _ in 0..count {
        let at = from.at;
        let class = decode_class(from)?;
        let space = match from.byte()? {
            NO_SPACE => None,
            number => Some(super::bytes::entry(&SPACES, number, "state space", at + 1)?),
        };
        let line = from.word("line")?;
        let mut named = [Vec::new(), Vec::new()];
        for list in &mut named {
            for _ in 0..from.at_most(255, "number of registers")? {
                list.push(from.at_most(u64::from(u16::MAX) - 1, "register")? as u16);
            }
        }
        let instr = Instr::of_trace(line, class, space, &named[0], &named[1]);
        code.push(instr.ok_or_else(|| from.damage("an instruction names too many registers"))?);
    }
    Ok(Kernel::of_trace(name, file, code, shared_bytes, registers))
}

/// An item of a trace, in program order.
#[derive(Debug)]
pub(super) enum TraceItem {
    /// Changes of memory by the host, as a range in the file.
    Host(Range<usize>),
    Launch(Arc<TraceLaunch>),
}

/// A trace in Selvedge's own format, checked as a whole.
#[derive(Debug)]
pub struct RecordedTrace {
    /// Description of the recorded run.
    pub recorded: RecordedRun,
    pub(super) items: Vec<TraceItem>,
    /// Digest of memory at the end of the recorded run.
    pub(super) memory: u64,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl RecordedTrace {
    /// Reads and checks a file of at most `most` bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is too large. Returns the offset of the error in a file that is truncated,
    /// damaged or of another format.
    pub fn load(path: &Path, most: u64) -> Result<Self, TraceError> {
        let bytes = read_known(path, &MAGIC, most).map_err(|why| TraceError::unreadable(path, why))?;
        Self::parse(&path.display().to_string(), bytes)
    }

    /// Checks the bytes of a file, as [`RecordedTrace::load`] does.
    ///
    /// # Errors
    /// Returns the errors of [`RecordedTrace::load`] that concern the contents.
    pub fn parse(file: &str, bytes: Vec<u8>) -> Result<Self, TraceError> {
        Self::decode(file, Arc::new(bytes)).map_err(|Damage { at, what }| TraceError::Damaged {
            file: file.to_owned(),
            offset: at,
            message: what,
        })
    }

    fn decode(file: &str, bytes: Arc<Vec<u8>>) -> DecodeResult<Self> {
        let mut from = TraceDecoder::new(&bytes, 0..bytes.len());
        if !bytes.starts_with(&MAGIC) {
            return Err(from.damage("not a trace that `selvedge trace record` has written"));
        }
        from.at = MAGIC.len();
        let version = from.byte()?;
        if version != VERSION {
            let what = format!("version {version} of the format: must be {VERSION}");
            return Err(Damage { at: MAGIC.len(), what });
        }
        let (mut recorded, mut kernels, mut items) = (None, Vec::new(), Vec::new());
        loop {
            let (at, tag, range) = next_section(&mut from, &bytes)?;
            let mut payload = TraceDecoder::new(&bytes, range.clone());
            match (tag, &recorded) {
                (HEADER, None) => recorded = Some(decode_header(&mut payload)?),
                (KERNEL, Some(_)) => kernels.push(Arc::new(decode_kernel(&mut payload, file)?)),
                (HOST, Some(_)) => {
                    change::decode(&mut payload, |_| Ok(()))?;
                    items.push(TraceItem::Host(range));
                }
                (LAUNCH, Some(_)) => {
                    let launch = decode_launch(&mut payload, &kernels, &bytes)?;
                    items.push(TraceItem::Launch(Arc::new(launch)));
                }
                (END, Some(what)) => {
                    let memory = payload.long()?;
                    if !payload.is_at_end() || !from.is_at_end() {
                        return Err(payload.damage("the trace goes on after its end"));
                    }
                    let recorded = what.clone();
                    return Ok(Self { recorded, items, memory, bytes: Arc::clone(&bytes) });
                }
                _ => {
                    let what = format!("section {:?}: must be another one here", char::from(tag));
                    return Err(Damage { at, what });
                }
            }
            if !payload.is_at_end() {
                return Err(payload.damage("a section is longer than what it holds"));
            }
        }
    }

    /// Returns the launches, in order.
    pub(super) fn launches(&self) -> impl Iterator<Item = &Arc<TraceLaunch>> {
        self.items.iter().filter_map(|item| match item {
            TraceItem::Launch(launch) => Some(launch),
            TraceItem::Host(_) => None,
        })
    }

    /// Returns the summaries of the launches, in order.
    pub fn summaries(&self) -> Vec<LaunchSummary> {
        self.launches().map(|launch| launch.summary.clone()).collect()
    }
}

/// Returns the offset, letter and payload of the next section, after checking its digest.
fn next_section(from: &mut TraceDecoder, bytes: &[u8]) -> DecodeResult<(usize, u8, Range<usize>)> {
    let at = from.at;
    let tag = from.byte()?;
    let length = from.long()?;
    let start = from.at;
    from.take(length)?;
    let end = from.at;
    let sum = digest(EMPTY_DIGEST, &bytes[at..end]);
    if from.long()? != sum {
        let what = format!("section {:?} is damaged: its digest is another", char::from(tag));
        return Err(Damage { at, what });
    }
    Ok((at, tag, start..end))
}

fn decode_header(from: &mut TraceDecoder) -> DecodeResult<RecordedRun> {
    Ok(RecordedRun {
        workload: from.text()?.to_owned(),
        size: from.text()?.to_owned(),
        config: from.text()?.to_owned(),
        mechanism: from.text()?.to_owned(),
        machine: from.long()?,
    })
}

fn decode_launch(
    from: &mut TraceDecoder,
    kernels: &[Arc<Kernel>],
    bytes: &Arc<Vec<u8>>,
) -> DecodeResult<TraceLaunch> {
    let at = from.at;
    let number = from.number()?;
    let kernel = usize::try_from(number).ok().and_then(|number| kernels.get(number)).ok_or_else(|| {
        Damage { at, what: format!("kernel {number}: there are {} before this launch", kernels.len()) }
    })?;
    let mut sides = [0; 7];
    for side in &mut sides {
        *side = from.word("size of the launch")?;
    }
    let [x, y, z, a, b, c, dynamic_shared] = sides;
    let dims = LaunchDims { dynamic_shared, ..LaunchDims::new([x, y, z], [a, b, c]) };
    let refused = kernel.check_launch(&dims, &[]).err();
    refused.map_or(Ok(()), |refused| Err(Damage { at, what: refused.to_string() }))?;
    let warps = TraceLaunch::warps(&dims).unwrap_or(usize::MAX);
    let mut streams = Vec::new();
    for _ in 0..warps {
        let block = from.block()?;
        streams.push(from.at - block.len()..from.at);
    }
    let launch = TraceLaunch {
        empty_ctas: 0,
        kernel: Arc::clone(kernel),
        dims,
        streams,
        bytes: Arc::clone(bytes),
        instruction_bytes: INSTRUCTION_BYTES,
        local_bytes: None,
        summary: LaunchSummary::default(),
    };
    launch.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_read_as_it_is_written() {
        let products = [OpClass::Matrix(512), OpClass::Matrix(MOST_MATRIX_WORK), OpClass::MatrixFp64(256)];
        for class in CLASSES.into_iter().chain(products) {
            let mut out = TraceEncoder::default();
            encode_class(class, &mut out);
            let mut from = TraceDecoder::new(&out.bytes, 0..out.bytes.len());
            assert_eq!(decode_class(&mut from).ok(), Some(class));
            assert!(from.is_at_end());
        }
    }

    #[test]
    fn a_product_of_more_work_than_any_instruction_has_is_damage() {
        let mut out = TraceEncoder::default();
        encode_class(OpClass::Matrix(0), &mut out);
        out.bytes.pop();
        out.number(u64::from(MOST_MATRIX_WORK) + 1);
        let found = decode_class(&mut TraceDecoder::new(&out.bytes, 0..out.bytes.len()));
        let says = "work of a matrix product = 65536: must be 0 to 65535";
        assert_eq!(found.err().map(|damage| damage.what).as_deref(), Some(says));
    }
}
