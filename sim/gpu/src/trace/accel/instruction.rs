//! A line of a kernel's trace that holds an instruction.
use super::header::{KernelHeader, hexadecimal};
use super::opcode::{OpcodeTiming, operation};
use crate::trace::stream::lanes;
use selvedge_ptx::ptx::{MemAccess, OpClass, Space};
use std::fmt::Display;

/// Bytes of the windows of generic addresses for shared and for local memory.
const WINDOW_BYTES: u64 = 32 << 20;
/// Bits of device addresses that the simulator uses. On real GPUs, all device addresses have the same higher bits.
const ADDRESS_MASK: u64 = (1 << 40) - 1;
/// Bits of a shared-memory address.
const SHARED_MASK: u64 = u32::MAX as u64;
/// Max registers in one list of a line.
const MOST_REGISTERS: usize = 8;
/// Registers that always read zero.
const ZERO_REGISTER: u16 = 255;
const ZERO_UNIFORM: u16 = 63;

/// An instruction as parsed from its line.
#[derive(Debug)]
pub(super) struct InstructionLine<'a> {
    pub pc: u64,
    pub mask: u32,
    pub opcode: &'a str,
    pub operation: OpcodeTiming,
    /// Line in the source; 0 if the trace does not contain it.
    pub line: u32,
    pub dests: Vec<u16>,
    pub sources: Vec<u16>,
}

/// The remaining words of a line.
struct LineWords<'a>(std::str::SplitAsciiWhitespace<'a>);

impl<'a> LineWords<'a> {
    /// Returns the next word. At the end of the line, `what` names the missing word in the error.
    fn next(&mut self, what: impl Display) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("the line ends where {what} should follow"))
    }

    fn decimal<T: std::str::FromStr>(&mut self, what: impl Display) -> Result<T, String> {
        let word = self.next(&what)?;
        word.parse().map_err(|_| format!("{what} = `{}`: must be a number", shown(word)))
    }

    fn hexadecimal(&mut self, what: &str) -> Result<u64, String> {
        let word = self.next(what)?;
        hexadecimal(word).ok_or_else(|| format!("{what} = `{}`: must be a hexadecimal number", shown(word)))
    }

    fn registers(&mut self, what: &str, out: &mut Vec<u16>) -> Result<(), String> {
        let count: usize = self.decimal(format_args!("the number of {what} registers"))?;
        if count > MOST_REGISTERS {
            return Err(format!("{count} {what} registers: must be 0 to {MOST_REGISTERS}"));
        }
        for _ in 0..count {
            let word = self.next(format_args!("a {what} register"))?;
            let wrong = || format!("{what} register `{}`: must be R0 to R255 or the like", shown(word));
            if let Some(number) = register(word).ok_or_else(wrong)?
                && !out.contains(&number)
            {
                out.push(number);
            }
        }
        Ok(())
    }
}

/// Returns a word, shortened for error messages.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Returns the scoreboard number of a register; `Some(None)` for one that always reads zero, `None` for a word that is not a
/// register.
fn register(word: &str) -> Option<Option<u16>> {
    let number = |prefix| word.strip_prefix(prefix)?.parse::<u16>().ok();
    if let Some(number) = number("UR") {
        return (number <= ZERO_UNIFORM).then(|| (number != ZERO_UNIFORM).then_some(256 + number));
    }
    let number = number("R")?;
    (number <= ZERO_REGISTER).then(|| (number != ZERO_REGISTER).then_some(number))
}

impl<'a> InstructionLine<'a> {
    /// Parses a line. The addresses of its access go to `access`, whose mask is 0 without an access.
    pub fn parse(text: &'a str, header: &KernelHeader, access: &mut MemAccess) -> Result<Self, String> {
        let mut words = LineWords(text.split_ascii_whitespace());
        if header.version < 3 {
            for what in
                ["x of the thread block", "y of the thread block", "z of the thread block", "the warp"]
            {
                words.decimal::<u32>(what)?;
            }
        }
        let line = if header.line_info { words.decimal("the line in the source")? } else { 0 };
        let pc = words.hexadecimal("the program counter")?;
        let mask = words.next("the active mask")?;
        let mask = u32::from_str_radix(mask, 16).map_err(|_| {
            format!("the active mask = `{}`: must be up to 8 hexadecimal digits", shown(mask))
        })?;
        let (mut dests, mut sources) = (Vec::new(), Vec::new());
        words.registers("destination", &mut dests)?;
        let opcode = words.next("the opcode")?;
        let operation = operation(opcode).ok_or_else(|| {
            format!(
                "opcode `{}`: must be those of Pascal to Hopper GPUs, without products of warp groups",
                shown(opcode)
            )
        })?;
        words.registers("source", &mut sources)?;
        let width: u32 = words.decimal("the width of the access")?;
        access.mask = 0;
        if width > 0 {
            addresses(&mut words, mask, access)?;
        }
        // Version 6 appends a second immediate and values of registers, which do not change the timing.
        if header.version < 6
            && let Some(word) = words.0.next()
            && (word.parse::<i64>().is_err() && hexadecimal(word).is_none() || words.0.next().is_some())
        {
            return Err("the line goes on after its end: must be one immediate number".into());
        }
        if operation.access.is_none() {
            access.mask = 0;
        } else if mask != 0 && width == 0 && operation.access.is_some_and(|a| a.space != Space::Const) {
            return Err(format!("`{opcode}` has no addresses"));
        }
        // A wide load names only the first register that it writes.
        if let [first] = dests[..]
            && operation.class == OpClass::Load
            && first < ZERO_REGISTER
        {
            dests = (first..ZERO_REGISTER.min(first + operation.registers)).collect();
        }
        Ok(Self { pc, mask, opcode, operation, line, dests, sources })
    }

    /// Completes `access` with the properties of the opcode. Generic addresses take the space of the lowest active lane; lanes of
    /// another space are dropped. Returns the bytes of local memory per thread that the access needs.
    pub fn place(&self, header: &KernelHeader, access: &mut MemAccess) -> Result<u64, String> {
        let Some(by_opcode) = self.operation.access else { return Ok(0) };
        (access.kind, access.cache, access.bytes) = (by_opcode.kind, by_opcode.cache, by_opcode.bytes);
        access.space = by_opcode.space;
        access.mask = self.mask;
        access.more.clear();
        if access.space == Space::Const {
            access.address = [0; 32];
            return Ok(0);
        }
        let window = |address: u64| {
            let within = |base: u64| base != 0 && address.wrapping_sub(base) < WINDOW_BYTES;
            match (within(header.shared_base), within(header.local_base)) {
                (true, _) => (Space::Shared, header.shared_base),
                (_, true) => (Space::Local, header.local_base),
                _ => (Space::Global, 0),
            }
        };
        if access.space == Space::Generic {
            let first = self.mask.trailing_zeros() as usize & 31;
            access.space = window(access.address[first]).0;
            access.mask &= lanes(self.mask)
                .filter(|&lane| window(access.address[lane]).0 == access.space)
                .fold(0, |mask, lane| mask | 1 << lane);
        }
        let mut reach = 0;
        for lane in lanes(access.mask) {
            let address = &mut access.address[lane];
            let (space, base) = window(*address);
            *address = match access.space {
                Space::Global => *address & ADDRESS_MASK,
                _ if space == access.space => *address - base,
                Space::Local => *address % WINDOW_BYTES,
                _ => *address & SHARED_MASK,
            };
            let bytes = u64::from(access.bytes);
            if !address.is_multiple_of(bytes) {
                let opcode = self.opcode;
                return Err(format!("address {address:#x} of `{opcode}`: must be multiples of {bytes}"));
            }
            if access.space == Space::Local {
                reach = reach.max(*address + bytes);
            }
        }
        Ok(reach)
    }
}

/// Reads the addresses of the lanes in `mask`, given as a list, as a base and a stride, or as a base and differences.
fn addresses(words: &mut LineWords, mask: u32, access: &mut MemAccess) -> Result<(), String> {
    let mode: u32 = words.decimal("the mode of the addresses")?;
    let mut active = lanes(mask);
    match mode {
        0 => {
            for lane in active {
                access.address[lane] = words.hexadecimal("an address")?;
            }
        }
        1 => {
            let base = words.hexadecimal("the base address")?;
            let stride: i64 = words.decimal("the stride")?;
            for (number, lane) in active.enumerate() {
                access.address[lane] = base.wrapping_add(stride.wrapping_mul(number as i64) as u64);
            }
        }
        2 => {
            let mut address = words.hexadecimal("the base address")?;
            if let Some(first) = active.next() {
                access.address[first] = address;
            }
            for lane in active {
                address = address.wrapping_add(words.decimal::<i64>("a difference of addresses")? as u64);
                access.address[lane] = address;
            }
        }
        other => return Err(format!("the mode of the addresses = {other}: must be 0, 1 or 2")),
    }
    access.mask = mask;
    Ok(())
}
