//! The lanes of an assist warp: registers, predicates and lines, and the execution of an instruction.
use super::instruction::{AssistOp, Instruction, PREDICATES, REGISTERS, WIDE_REGISTERS};
use super::memo::table::{self, SharedTable};
use selvedge_gpu::sm::part::Word;
use selvedge_state::State;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Bytes of a line.
pub const LINE_BYTES: usize = 128;

/// Max bytes of a compressed line that saves a DRAM burst of 32 bytes.
pub const SAVING_BYTES: usize = LINE_BYTES - 32;

/// The result of an assist warp that compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Made {
    /// The encoding's number.
    pub encoding: u8,
    /// Bytes of the payload.
    pub size: u8,
}

/// Words of metadata per lane that a warp keeps for a load instruction.
pub const METADATA: usize = 2;

/// The metadata that a warp keeps for a load instruction between its assist warps.
pub type LoadMetadata = [[u32; METADATA]; LANES];

/// The parent's region: its inputs to the assist warp, and the results that it gets.
#[derive(Clone, Default, State)]
pub struct ParentRegion {
    /// The words that `par` reads, each with a value for every lane.
    pub words: Vec<Word>,
    /// The words that `give` has written.
    pub given: Vec<Word>,
    /// The look-up table of the SM.
    pub table: Option<SharedTable>,
}

/// The load of an assist warp.
#[derive(Clone, State)]
pub struct ParentLoad {
    /// The numbers of the lines that the load requests, one per lane.
    pub lines: [u64; LANES],
    /// The metadata that the parent keeps for the load.
    pub metadata: LoadMetadata,
    /// The numbers of the prefetched lines.
    pub prefetched: Vec<u64>,
}

impl Default for ParentLoad {
    fn default() -> Self {
        ParentLoad { lines: [0; LANES], metadata: LoadMetadata::default(), prefetched: Vec::new() }
    }
}

/// The error of an access beyond the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an assist warp reaches byte {0} of a line of 128")]
pub struct OutsideLine(pub usize);

/// The state of an assist warp's lanes.
#[derive(Clone, State)]
pub struct Lanes {
    registers: [[u64; LANES]; REGISTERS as usize],
    predicates: [u32; PREDICATES as usize],
    input: [u8; LINE_BYTES],
    /// The resulting line.
    pub output: [u8; LINE_BYTES],
    /// The result that `done` has given.
    pub made: Option<Made>,
    /// The parent's load, if the assist warp is for a load.
    pub load: ParentLoad,
    /// The parent's region, if the assist warp is for a region.
    pub region: ParentRegion,
}

impl Lanes {
    /// Returns lanes with the line `input`.
    pub fn new(input: [u8; LINE_BYTES]) -> Self {
        let mut predicates = [0; PREDICATES as usize];
        predicates[0] = u32::MAX;
        predicates[usize::from(PREDICATES) - 1] = 0xffff;
        Lanes {
            registers: [[0; LANES]; REGISTERS as usize],
            predicates,
            input,
            output: [0; LINE_BYTES],
            made: None,
            load: ParentLoad::default(),
            region: ParentRegion::default(),
        }
    }

    /// Returns lanes with a region.
    pub(crate) fn of_region(region: ParentRegion) -> Self {
        Lanes { region, ..Lanes::new([0; LINE_BYTES]) }
    }

    /// Returns lanes with a load.
    pub(crate) fn of_load(load: ParentLoad) -> Self {
        Lanes { load, ..Lanes::new([0; LINE_BYTES]) }
    }

    /// Runs a routine on a line.
    #[cfg(test)]
    pub fn run(routine: &super::routine::Routine, input: [u8; LINE_BYTES]) -> Self {
        let mut lanes = Lanes::new(input);
        for instruction in &routine.code {
            lanes.execute(instruction, routine.mask).expect("it stays within the line");
            if lanes.made.is_some() {
                break;
            }
        }
        lanes
    }

    /// Executes an instruction in the lanes of the active mask, or in all lanes.
    ///
    /// # Errors
    /// If it accesses bytes beyond the line.
    pub fn execute(&mut self, i: &Instruction, mask: u32) -> Result<(), OutsideLine> {
        let guard = self.predicates[usize::from(i.guard)];
        let mask = if i.every { u32::MAX } else { mask };
        let running = mask & if i.inverted { !guard } else { guard };
        match i.op {
            AssistOp::Eq
            | AssistOp::EqOr
            | AssistOp::EqAnd
            | AssistOp::Bit
            | AssistOp::Eqi
            | AssistOp::Tst => self.set_predicate(i, running),
            AssistOp::All => {
                let holds = self.predicates[usize::from(i.p)] & running == running;
                self.predicates[usize::from(i.dest)] = if holds { running } else { 0 };
            }
            AssistOp::Any => {
                let holds = self.predicates[usize::from(i.p)] & running != 0;
                self.predicates[usize::from(i.dest)] = if holds { running } else { 0 };
            }
            AssistOp::Done => {
                if running != 0 {
                    self.made = Some(Made { encoding: i.at, size: i.step });
                }
            }
            AssistOp::Donev => {
                let size = lanes_of(running).next().map(|lane| self.register(i.a, lane) + u64::from(i.step));
                let saves = |size: &u64| *size <= SAVING_BYTES as u64;
                if let Some(size) = size.filter(saves) {
                    self.made = Some(Made { encoding: i.at, size: size as u8 });
                }
            }
            AssistOp::Setm => {
                for lane in lanes_of(running) {
                    self.load.metadata[lane][usize::from(i.at) % METADATA] = self.register(i.a, lane) as u32;
                }
            }
            AssistOp::Pref => {
                for lane in lanes_of(running) {
                    let offset = sign_extended(self.register(i.b, lane), 4);
                    self.load.prefetched.push(self.register(i.a, lane).wrapping_add(offset));
                }
            }
            AssistOp::Give => {
                let given = &mut self.region.given;
                given.resize(given.len().max(usize::from(i.at) + 1), [0; LANES]);
                for lane in lanes_of(running) {
                    self.region.given[usize::from(i.at)][lane] = self.register(i.a, lane) as u32;
                }
            }
            AssistOp::Ldv => self.load_entries(i, running),
            AssistOp::Stv => self.store_entries(i, running),
            AssistOp::Stx => {
                for lane in lanes_of(running) {
                    self.store_indexed(i, lane);
                }
            }
            AssistOp::St | AssistOp::Out => {
                for lane in lanes_of(running) {
                    self.store(i, lane)?;
                }
            }
            _ => {
                // All lanes read before any lane writes, because a shuffle may read a register that another lane writes.
                let mut results = self.registers[usize::from(i.dest)];
                for lane in lanes_of(running) {
                    results[lane] = self.result(i, lane, running)?;
                }
                self.registers[usize::from(i.dest)] = results;
            }
        }
        Ok(())
    }

    fn load_entries(&mut self, i: &Instruction, running: u32) {
        let Some(table) = self.region.table.clone() else { return };
        for lane in lanes_of(running) {
            let entry = table.lock().get(self.register(i.a, lane) as u32);
            for (register, word) in self.registers[usize::from(i.dest)..].iter_mut().zip(entry) {
                register[lane] = u64::from(word);
            }
        }
    }

    /// Stores entries. If several lanes store the same entry, the last lane wins.
    fn store_entries(&mut self, i: &Instruction, running: u32) {
        let Some(table) = self.region.table.clone() else { return };
        for lane in lanes_of(running) {
            let word = |number: usize| self.register(i.a + number as u8, lane) as u32;
            table.lock().put(self.register(i.b, lane) as u32, std::array::from_fn(word));
        }
    }

    /// Returns the cycles for which an access to the look-up table uses the banks of shared memory.
    pub fn bank_cycles(&self, i: &Instruction, mask: u32) -> u32 {
        let guard = self.predicates[usize::from(i.guard)];
        let mask = if i.every { u32::MAX } else { mask };
        let running = mask & if i.inverted { !guard } else { guard };
        let index = if i.op == AssistOp::Ldv { i.a } else { i.b };
        let entries: [Option<u32>; LANES] =
            std::array::from_fn(|lane| (running >> lane & 1 == 1).then(|| self.register(index, lane) as u32));
        table::bank_cycles(&entries)
    }

    /// Returns the lanes in which a predicate holds.
    pub fn predicate(&self, predicate: u8) -> u32 {
        self.predicates[usize::from(predicate)]
    }

    fn register(&self, register: u8, lane: usize) -> u64 {
        self.registers[usize::from(register)][lane]
    }

    fn place(i: &Instruction, lane: usize) -> Result<std::ops::Range<usize>, OutsideLine> {
        let first = usize::from(i.at) + usize::from(i.step) * lane;
        let end = first + usize::from(i.bytes);
        if end > LINE_BYTES { Err(OutsideLine(end - 1)) } else { Ok(first..end) }
    }

    fn store(&mut self, i: &Instruction, lane: usize) -> Result<(), OutsideLine> {
        let bytes = self.register(i.a, lane).to_le_bytes();
        self.output[Self::place(i, lane)?].copy_from_slice(&bytes[..usize::from(i.bytes)]);
        Ok(())
    }

    fn load(&self, i: &Instruction, lane: usize) -> Result<u64, OutsideLine> {
        let mut bytes = [0; 8];
        bytes[..usize::from(i.bytes)].copy_from_slice(&self.input[Self::place(i, lane)?]);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Returns the first byte of an indexed access. The access may lie beyond the line, entirely or partly.
    fn indexed(i: &Instruction, index: u64) -> usize {
        usize::from(i.at).saturating_add(index as usize)
    }

    fn store_indexed(&mut self, i: &Instruction, lane: usize) {
        let bytes = self.register(i.a, lane).to_le_bytes();
        let first = Self::indexed(i, self.register(i.b, lane));
        let places = self.output.iter_mut().skip(first);
        places.zip(&bytes[..usize::from(i.bytes)]).for_each(|(place, byte)| *place = *byte);
    }

    fn load_indexed(&self, i: &Instruction, lane: usize) -> u64 {
        let first = Self::indexed(i, self.register(i.a, lane));
        let bytes = self.input.iter().skip(first).take(usize::from(i.bytes));
        bytes.rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn result(&self, i: &Instruction, lane: usize, running: u32) -> Result<u64, OutsideLine> {
        let (a, b) = (self.register(i.a, lane), self.register(i.b, lane));
        let at = u64::from(i.at);
        let predicate = self.predicates[usize::from(i.p)];
        let value = match i.op {
            AssistOp::Ldu => self.load(i, lane)?,
            AssistOp::Lds => sign_extended(self.load(i, lane)?, i.bytes),
            AssistOp::Par => u64::from(self.region.words.get(usize::from(i.at)).map_or(0, |word| word[lane])),
            AssistOp::Li => u64::from(i.at),
            AssistOp::Add => a.wrapping_add(b),
            AssistOp::Sub => a.wrapping_sub(b),
            AssistOp::Or => a | b,
            AssistOp::Mov => a,
            AssistOp::Sext => sign_extended(a, i.bytes),
            AssistOp::Ballot => u64::from(running & predicate) << i.at,
            AssistOp::Nobal => u64::from(running & !predicate) << i.at,
            AssistOp::Ffs => u64::from(a.trailing_zeros()),
            AssistOp::Shfl => {
                let from = b.checked_sub(u64::from(i.at)).filter(|from| *from < LANES as u64);
                from.map_or(0, |from| self.register(i.a, from as usize))
            }
            AssistOp::Lane => lane as u64,
            AssistOp::Line => self.load.lines[lane],
            AssistOp::Getm => u64::from(self.load.metadata[lane][usize::from(i.at) % METADATA]),
            AssistOp::Lih => self.register(i.dest, lane) << 16 | u64::from(i.constant()),
            AssistOp::Shl => a << (i.at % 64),
            AssistOp::Shr => a >> (i.at % 64),
            AssistOp::Sar => (sign_extended(a, 4) as i64 >> (i.at % 64)) as u64,
            AssistOp::Shlv => a << (b % 64),
            AssistOp::Shrv => a >> (b % 64),
            AssistOp::And => a & b,
            AssistOp::Andi => a & at,
            AssistOp::Ori => a | at,
            AssistOp::Xori => a ^ at,
            AssistOp::Addi => a.wrapping_add(at),
            AssistOp::Mul => a.wrapping_mul(b),
            AssistOp::Muli => a.wrapping_mul(at),
            AssistOp::Prmt => permuted(a as u32, i.constant()),
            AssistOp::Ldx => self.load_indexed(i, lane),
            // The result of `addr` has no effect: loads and stores always use the assist warp's line.
            _ => 0,
        };
        Ok(if i.dest < WIDE_REGISTERS { value } else { value & u64::from(u32::MAX) })
    }

    fn set_predicate(&mut self, i: &Instruction, running: u32) {
        let ones = u64::MAX >> (64 - 8 * u32::from(i.bytes));
        let holds = |lane: usize| {
            let (a, b) = (self.register(i.a, lane), self.register(i.b, lane));
            let p = self.predicates[usize::from(i.p)] >> lane & 1 == 1;
            let equal = a & ones == b & ones;
            match i.op {
                AssistOp::Eq => equal,
                AssistOp::EqOr => equal || p,
                AssistOp::EqAnd => equal && p,
                AssistOp::Eqi => a as u32 == u32::from(i.at),
                AssistOp::Tst => a & u64::from(i.at) != 0,
                _ => a >> ((usize::from(i.at) + lane) % 64) & 1 == 1,
            }
        };
        let holding = lanes_of(running).filter(|lane| holds(*lane)).fold(0, |all, lane| all | 1 << lane);
        let predicate = &mut self.predicates[usize::from(i.dest)];
        *predicate = *predicate & !running | holding;
    }
}

/// Returns the 32-bit registers of each thread that a routine needs: two for each 64-bit register that it uses.
pub(crate) fn registers_of(routine: &[Instruction]) -> u32 {
    let used = routine.iter().fold(0, |all, i| all | (i.touches() & 0xffff));
    let wide = used & ((1 << WIDE_REGISTERS) - 1);
    used.count_ones() + wide.count_ones()
}

fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// Returns the bytes that the digits of `choice` select: bytes of `a`, zeros or signs.
fn permuted(a: u32, choice: u16) -> u64 {
    let bytes = a.to_le_bytes();
    let chosen = |digit: u32| {
        let digit = choice >> (4 * digit) & 0xf;
        let byte = if digit & 4 == 0 { bytes[usize::from(digit & 3)] } else { 0 };
        if digit & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
    };
    u64::from(u32::from_le_bytes([0, 1, 2, 3].map(chosen)))
}

fn sign_extended(value: u64, bytes: u8) -> u64 {
    let shift = 64 - 8 * u32::from(bytes);
    ((value << shift) as i64 >> shift) as u64
}
