//! A kernel's trace (`.traceg`): header, then thread blocks, their warps, and the instructions of the warps.
use super::copies::{CopyRole, WarpCopies};
use super::header::{KernelHeader, place};
use super::instruction::InstructionLine;
use super::lines::LineFile;
use crate::sm::launch::INSTRUCTION_BYTES;
use crate::trace::error::TraceError;
use crate::trace::launch::{LaunchSummary, TraceLaunch};
use crate::trace::stream::{Executed, StreamWriter};
use selvedge_ptx::ptx::{Instr, Kernel, LOCAL_REGION, LaunchDims, MemAccess, OpClass, Space, Step};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Max bytes of the address space above [`LOCAL_REGION`] for local memory.
const LOCAL_BYTES: u64 = 3 << 40;

/// Properties that distinguish instructions with the same program counter. Each function has its own program counters.
#[derive(Debug, PartialEq, Eq)]
struct Static {
    opcode: String,
    class: OpClass,
    line: u32,
    dests: Vec<u16>,
    sources: Vec<u16>,
}

/// State of reading a kernel.
struct Reading<'a> {
    lines: LineFile,
    header: &'a KernelHeader,
    code: Vec<Instr>,
    statics: Vec<Static>,
    /// Numbers of the instructions at each program counter.
    at_pc: HashMap<u64, Vec<u32>>,
    bytes: Vec<u8>,
    /// Range of each warp's records in `bytes`, by the number of the warp in the grid.
    streams: BTreeMap<u64, Range<usize>>,
    access: MemAccess,
    /// Copies of the current warp.
    copies: WarpCopies,
    local_bytes: u64,
    /// Range of the records of warps without instructions, after the first of them.
    empty: Option<Range<usize>>,
}

/// Reads a kernel's trace.
///
/// # Errors
/// Returns an error of one line if the file violates the format.
pub(super) fn read(mut lines: LineFile) -> Result<TraceLaunch, TraceError> {
    let mut line = String::new();
    let header = KernelHeader::read(&mut lines, &mut line)?;
    let mut reading = Reading {
        lines,
        header: &header,
        code: Vec::new(),
        statics: Vec::new(),
        at_pc: HashMap::new(),
        bytes: Vec::new(),
        streams: BTreeMap::new(),
        access: MemAccess::new(),
        copies: WarpCopies::default(),
        local_bytes: 0,
        empty: None,
    };
    reading.blocks(&mut line)?;
    reading.finish()
}

impl Reading<'_> {
    /// Reads thread blocks until the end of the file. `line` holds the first line after the header.
    fn blocks(&mut self, line: &mut String) -> Result<(), TraceError> {
        let mut block = None;
        loop {
            match line.as_str() {
                "#BEGIN_TB" if block.is_none() => block = Some(None),
                "#END_TB" if block.is_some() => block = None,
                "#BEGIN_TB" | "#END_TB" => return Err(self.bad(format!("`{line}` is out of its place"))),
                text if text.is_empty() || text.starts_with('#') => {}
                text => self.in_block(text.to_owned().as_str(), &mut block, line)?,
            }
            if !self.lines.next(line)? {
                break;
            }
        }
        if block.is_some() { Err(self.bad("the file ends within a thread block")) } else { Ok(()) }
    }

    /// Reads a line of a thread block: its position in the grid, or a warp with its instructions.
    fn in_block(
        &mut self,
        text: &str,
        block: &mut Option<Option<u64>>,
        line: &mut String,
    ) -> Result<(), TraceError> {
        let value = |key: &str| {
            let (name, value) = text.split_once('=')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        };
        let Some(cta) = block else {
            return Err(self.bad("allowed between thread blocks is `#BEGIN_TB`"));
        };
        if let Some(at) = value("thread block") {
            let dims = self.header.dims;
            let grid = dims.grid;
            let inside = |at: &[u32; 3]| at.iter().zip(grid).all(|(at, side)| *at < side);
            let at = place(&at).filter(inside);
            let allowed = || self.bad(format!("`{text}`: must be a block of the grid {grid:?}"));
            let [x, y, z] = at.ok_or_else(allowed)?.map(u64::from);
            *cta = Some(x + u64::from(grid[0]) * (y + u64::from(grid[1]) * z));
            return Ok(());
        }
        if let Some(warp) = value("warp") {
            let cta =
                cta.ok_or_else(|| self.bad("allowed before the first warp is `thread block = x,y,z`"))?;
            let warps = self.header.dims.warps_per_cta();
            let warp = warp.parse().ok().filter(|warp| *warp < warps);
            let warp = warp.ok_or_else(|| self.bad(format!("`{text}`: must be 0 to {}", warps - 1)))?;
            return self.warp(cta, warp, line);
        }
        // Places in a cluster do not change the timing.
        if text.starts_with("cluster ") && text.contains('=') {
            return Ok(());
        }
        Err(self.bad(
            "allowed in a thread block are `thread block = x,y,z`, `cluster ... = n`, `warp = n` and `insts = n`",
        ))
    }

    /// Reads a warp after its number: the number of its instructions, then the instructions.
    fn warp(&mut self, cta: u64, warp: u32, line: &mut String) -> Result<(), TraceError> {
        self.line_that_says_something(line)?;
        let count = line.split_once('=').filter(|(key, _)| key.trim() == "insts");
        let count = count.and_then(|(_, count)| count.trim().parse::<u64>().ok());
        let count = count.ok_or_else(|| self.bad("allowed after the number of a warp is `insts = n`"))?;
        if count == 0 {
            let range = self.empty_warp();
            return self.add_warp(cta, warp, range);
        }
        let mut writer = StreamWriter::default();
        self.copies = WarpCopies::default();
        let mut last = None;
        for number in 0..count {
            self.line_that_says_something(line)?;
            if line.starts_with('#') || line.contains('=') {
                return Err(
                    self.bad(format!("the warp has {number} instructions, but {count} are announced"))
                );
            }
            last = Some(self.instruction(line, &mut writer).map_err(|what| self.bad(what))?);
        }
        if last != Some(Step::Exit) {
            return Err(self.bad("the warp's instructions do not end with EXIT"));
        }
        let range = self.append(&mut writer);
        self.add_warp(cta, warp, range)
    }

    /// Appends the records of a warp, and returns their range.
    fn append(&mut self, writer: &mut StreamWriter) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.append(&mut writer.take());
        start..self.bytes.len()
    }

    /// Returns the records of a warp without instructions: its exit.
    fn empty_warp(&mut self) -> Range<usize> {
        if let Some(range) = &self.empty {
            return range.clone();
        }
        let mut writer = StreamWriter::default();
        let pc = self.code.len() as u32;
        self.code.extend(Instr::of_trace(0, OpClass::Exit, None, &[], &[]));
        let (dests, sources) = (Vec::new(), Vec::new());
        let blank = Static { opcode: String::new(), class: OpClass::Exit, line: 0, dests, sources };
        self.statics.push(blank);
        self.access.mask = 0;
        writer.push(&Executed {
            pc,
            active: u32::MAX,
            step: Step::Exit,
            access: &self.access,
            changes: None,
        });
        let range = self.append(&mut writer);
        self.empty = Some(range.clone());
        range
    }

    fn add_warp(&mut self, cta: u64, warp: u32, range: Range<usize>) -> Result<(), TraceError> {
        let number = cta.saturating_mul(self.header.dims.warps_per_cta().into()).saturating_add(warp.into());
        if self.streams.insert(number, range).is_some() {
            return Err(self.bad(format!("warp {warp} of this thread block has been there already")));
        }
        Ok(())
    }

    fn line_that_says_something(&mut self, line: &mut String) -> Result<(), TraceError> {
        loop {
            if !self.lines.next(line)? {
                return Err(self.bad("the file ends within a warp"));
            }
            if !line.is_empty() {
                return Ok(());
            }
        }
    }

    /// Appends an instruction to its warp's records.
    fn instruction(&mut self, text: &str, writer: &mut StreamWriter) -> Result<Step, String> {
        let mut line = InstructionLine::parse(text, self.header, &mut self.access)?;
        match line.copies {
            CopyRole::None => {}
            CopyRole::Start => line.dests.push(self.copies.start()),
            CopyRole::End => self.copies.end_group(),
            CopyRole::Await(left) => line.sources.extend(self.copies.awaited(left)),
        }
        let step = match line.class {
            // The guard disabled the instruction in every lane.
            _ if line.mask == 0 => Step::Alu { active: 0 },
            _ if line.operation.bulk.is_some() => match self.access.mask {
                0 => Step::Alu { active: line.mask },
                _ => Step::Async,
            },
            OpClass::Load | OpClass::Store | OpClass::Atomic => Step::Memory,
            OpClass::Barrier => {
                let (id, threads) = line.barrier;
                Step::Barrier { id, threads, arrive_only: line.operation.arrives_only }
            }
            OpClass::Fence => Step::Fence,
            OpClass::Exit => Step::Exit,
            _ => Step::Alu { active: line.mask },
        };
        if step == Step::Memory {
            let reach = line.place(self.header, &mut self.access)?;
            self.local_bytes = self.local_bytes.max(reach.next_multiple_of(16));
        }
        let pc = self.number_of(&line)?;
        writer.push(&Executed { pc, active: line.mask, step, access: &self.access, changes: None });
        Ok(step)
    }

    /// Returns the number of an instruction in the code. Adds a new instruction.
    fn number_of(&mut self, line: &InstructionLine) -> Result<u32, String> {
        let same = |number: &&u32| {
            let known = &self.statics[**number as usize];
            known.opcode == line.opcode
                && known.class == line.class
                && known.line == line.line
                && known.dests == line.dests
                && known.sources == line.sources
        };
        let numbers = self.at_pc.entry(line.pc).or_default();
        if let Some(number) = numbers.iter().find(same) {
            return Ok(*number);
        }
        let number = self.code.len() as u32;
        numbers.push(number);
        let is_bulk = line.operation.bulk.is_some() && line.class != line.operation.class;
        let bulk = is_bulk.then_some(Space::Global);
        let space = line.operation.access.map(|access| access.space).or(bulk);
        let instr = Instr::of_trace(line.line, line.class, space, &line.dests, &line.sources);
        self.code
            .push(instr.ok_or("the instruction names more registers than an instruction here can hold")?);
        self.statics.push(Static {
            opcode: line.opcode.to_owned(),
            class: line.class,
            line: line.line,
            dests: line.dests.clone(),
            sources: line.sources.clone(),
        });
        Ok(number)
    }

    fn bad(&self, message: impl Into<String>) -> TraceError {
        self.lines.bad(message)
    }

    /// Returns the bytes of an instruction, by the min distance of two program counters: 16 since Volta, 8 before.
    fn instruction_bytes(&self) -> u64 {
        let mut places: Vec<u64> = self.at_pc.keys().copied().collect();
        places.sort_unstable();
        let least = places.windows(2).map(|pair| pair[1] - pair[0]).min();
        if least.is_some_and(|least| least >= 16) { 16 } else { INSTRUCTION_BYTES }
    }

    /// Adds the thread blocks that are missing, because post-processing drops those without instructions. Returns their number.
    ///
    /// # Errors
    /// Returns an error if the file has no thread block, or only some warps of one.
    fn fill(&mut self, total: u64, per_cta: u64) -> Result<u64, TraceError> {
        let missing: Vec<u64> = match self.streams.len() as u64 {
            count if count == total => return Ok(0),
            0 => vec![0],
            _ => (0..total).filter(|number| !self.streams.contains_key(number)).collect(),
        };
        let is_whole = |cta: u64| self.streams.range(cta * per_cta..(cta + 1) * per_cta).next().is_none();
        let partial = missing.iter().find(|number| self.streams.is_empty() || !is_whole(**number / per_cta));
        if let Some(number) = partial {
            let [x, y, z] = self.header.dims.cta(number / per_cta);
            let warp = number % per_cta;
            return Err(self.bad(format!("the file ends without warp {warp} of thread block {x},{y},{z}")));
        }
        let range = self.empty_warp();
        let count = missing.len() as u64;
        self.streams.extend(missing.into_iter().map(|number| (number, range.clone())));
        Ok(count / per_cta)
    }

    /// Checks that the trace contains every warp of the grid, and builds the launch.
    fn finish(mut self) -> Result<TraceLaunch, TraceError> {
        let header = self.header;
        let dims: LaunchDims = header.dims;
        let per_cta = u64::from(dims.warps_per_cta());
        let total = TraceLaunch::warps(&dims).ok_or_else(|| self.bad("the grid has too many warps"))?;
        let empty_ctas = self.fill(total as u64, per_cta)?;
        if (total as u64).saturating_mul(self.local_bytes * 32) > LOCAL_BYTES {
            let (bytes, most) = (self.local_bytes, LOCAL_BYTES);
            return Err(self.bad(format!(
                "{total} warps of {bytes} bytes of local memory a thread: must be {most} bytes in all, above \
                 {LOCAL_REGION:#x}"
            )));
        }
        let file = self.lines.file();
        let instruction_bytes = self.instruction_bytes();
        let kernel =
            Kernel::of_trace(&header.name, file, self.code, header.shared_bytes, header.registers.max(1));
        let launch = TraceLaunch {
            kernel: Arc::new(kernel),
            dims,
            streams: self.streams.into_values().collect(),
            bytes: Arc::new(self.bytes),
            instruction_bytes,
            local_bytes: Some(self.local_bytes),
            summary: LaunchSummary::default(),
            empty_ctas,
        };
        let lines = &self.lines;
        launch.checked().map_err(|damage| lines.bad(damage.what))
    }
}
