//! A line of a kernel's trace that holds an instruction.
use super::copies::CopyRole;
use super::header::{KernelHeader, hexadecimal};
use super::opcode::{OpcodeTiming, operation};
use crate::trace::stream::lanes;
use selvedge_ptx::ptx::{AccessKind, CacheOp, MemAccess, OpClass, Space};
use std::fmt::Display;
use std::num::NonZeroU32;

/// Bytes of the windows of generic addresses for shared and for local memory.
const WINDOW_BYTES: u64 = 32 << 20;
/// Bits of device addresses that the simulator uses. On real GPUs, all device addresses have the same higher bits.
const ADDRESS_MASK: u64 = (1 << 40) - 1;
/// Bits of a shared-memory address.
const SHARED_MASK: u64 = u32::MAX as u64;
/// Max registers in one list of a line.
const MOST_REGISTERS: usize = 8;
/// Registers that always read zero, and the predicate that is always true.
const ZERO_REGISTER: u16 = 255;
const ZERO_UNIFORM: u16 = 63;
const TRUE_PREDICATE: u16 = 7;
/// Max bytes of the pieces in which a bulk copy accesses memory.
const PIECE_BYTES: u64 = 16;
/// Max pieces of a bulk copy: 256 KiB, more than the largest shared memory.
const MOST_PIECES: u64 = 1 << 14;
/// Max immediate numbers of a line.
const IMMEDIATES: usize = 2;
/// Barriers of a CTA.
const BARRIERS: u64 = 16;
/// Max threads of a CTA.
const MOST_THREADS: u64 = 1024;

/// An instruction as parsed from its line.
#[derive(Debug)]
pub(super) struct InstructionLine<'a> {
    pub pc: u64,
    pub mask: u32,
    pub opcode: &'a str,
    pub operation: OpcodeTiming,
    /// Class of the operation. A bulk copy with addresses is a load or a store.
    pub class: OpClass,
    pub copies: CopyRole,
    /// Number and threads of a barrier. `None` for all threads of the CTA.
    pub barrier: (u8, Option<NonZeroU32>),
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

    /// Reads the number of registers and the registers. Returns the number.
    fn registers(&mut self, what: &str, out: &mut Vec<u16>) -> Result<usize, String> {
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
        Ok(count)
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
    let files = [
        ("UR", ZERO_UNIFORM, 256),
        ("UP", TRUE_PREDICATE, 328),
        ("P", TRUE_PREDICATE, 320),
        ("R", ZERO_REGISTER, 0),
    ];
    let (number, constant, first) =
        files.into_iter().find_map(|(prefix, constant, first)| Some((number(prefix)?, constant, first)))?;
    (number <= constant).then(|| (number != constant).then_some(first + number))
}

/// Returns the number of a general register among `registers`, if it is the only one.
fn only_general(registers: &[u16]) -> Option<u16> {
    let mut general = registers.iter().filter(|register| **register < ZERO_REGISTER);
    general.next().copied().filter(|_| general.next().is_none())
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
        let dest_count = words.registers("destination", &mut dests)?;
        let opcode = words.next("the opcode")?;
        let operation = operation(opcode)
            .ok_or_else(|| format!("opcode `{}`: must be those of Pascal to Hopper GPUs", shown(opcode)))?;
        let source_words = words.0.clone().skip(1);
        let source_count = words.registers("source", &mut sources)?;
        access.mask = 0;
        access.more.clear();
        let (mut class, mut barrier) = (operation.class, (0, None));
        // A product of warp groups names its group before the width.
        let root = opcode.split('.').next().unwrap_or_default();
        let is_group_product = root.ends_with("GMMA");
        let width: u32 = if is_group_product { 0 } else { words.decimal("the width of the access")? };
        if let Some(kind) = operation.bulk {
            if words.has_bulk_addresses() {
                bulk_addresses(&mut words, width.into(), access)?;
                (access.kind, access.space, access.cache) = (kind, Space::Global, CacheOp::Global);
                class = if kind == AccessKind::Store { OpClass::Store } else { OpClass::Load };
                dests.clear();
            }
            access.mask = if mask == 0 { 0 } else { access.mask };
        } else if width > 0 {
            addresses(&mut words, mask, access)?;
        } else if class == OpClass::Barrier && mask != 0 && header.version >= 6 {
            let source_words: Vec<&str> = source_words.take(source_count).collect();
            barrier = numbered_barrier(&mut words, dest_count, &source_words)?;
        }
        let immediate = words.0.next().unwrap_or("0");
        // Version 6 appends values of registers.
        let has_more = header.version >= 6 || operation.bulk.is_some() || is_group_product;
        let is_number = |word: &str| word.parse::<i64>().is_ok() || hexadecimal(word).is_some();
        if !has_more
            && (!is_number(immediate)
                || words.0.next().is_some_and(|word| !is_number(word))
                || words.0.next().is_some())
        {
            return Err("the line goes on after its end: must be one or two immediate numbers".into());
        }
        let copies = CopyRole::of(root, mask, immediate);
        if copies == CopyRole::Start {
            // The address in shared memory may be the first operand.
            sources.append(&mut dests);
        }
        match (operation.access, operation.bulk) {
            (None, None) => access.mask = 0,
            (Some(by_opcode), _) if mask != 0 && width == 0 && by_opcode.space != Space::Const => {
                return Err(format!("`{opcode}` has no addresses"));
            }
            _ => {}
        }
        // A wide load names only the first register that it writes.
        if class == OpClass::Load
            && let Some(first) = only_general(&dests)
        {
            dests.extend(first + 1..ZERO_REGISTER.min(first + operation.registers));
        }
        Ok(Self { pc, mask, opcode, operation, class, copies, barrier, line, dests, sources })
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

impl LineWords<'_> {
    /// Reads the value of a register in the lowest lane. A value is in all lanes, or each lane has its own.
    fn value(&mut self) -> Result<u64, String> {
        let count: usize = self.decimal("the number of values")?;
        let value = self.hexadecimal("the value of a register")?;
        self.0.by_ref().take(count.saturating_sub(1)).for_each(drop);
        Ok(value)
    }

    /// Returns whether the rest of the line has the addresses of a bulk copy: the mbarrier, the CTAs that receive the data, two
    /// numbers of bytes and the mode. Old tracers do not record them.
    fn has_bulk_addresses(&self) -> bool {
        let mut words = self.0.clone().skip(1);
        let is_multicast = words.next() == Some("1");
        let mode = words.nth(if is_multicast { 3 } else { 2 });
        matches!(mode, Some("3" | "4"))
    }
}

/// Reads the addresses of a bulk copy, which accesses `width` bytes at each. They are a list, or a base and differences.
fn bulk_addresses(words: &mut LineWords, width: u64, access: &mut MemAccess) -> Result<(), String> {
    words.next("the mbarrier")?;
    if words.next("1 for several CTAs")? == "1" {
        words.next("the CTAs that receive the data")?;
    }
    words.next("the bytes")?;
    words.next("the bytes out of bounds")?;
    let mode: u32 = words.decimal("the mode of the addresses")?;
    let mut starts = Vec::new();
    if mode == 3 {
        let count: u64 = words.decimal("the number of addresses")?;
        for _ in 0..count {
            starts.push(words.hexadecimal("an address")?);
        }
    } else {
        let mut address = words.hexadecimal("the base address")?;
        let count: usize = words.decimal("the number of addresses")?;
        // The tracer counts addresses out of bounds, too, but has no differences for them. A single one has no base.
        let numbers = words.0.clone().take_while(|word| !matches!(*word, "Val" | "NoVal")).count();
        let differences = numbers.saturating_sub(IMMEDIATES).min(count.saturating_sub(1));
        if count > 0 && address != 0 {
            starts.push(address);
        }
        for _ in 0..differences {
            address = address.wrapping_add(words.decimal::<i64>("a difference of addresses")? as u64);
            starts.push(address);
        }
    }
    let bits = starts.iter().fold(width | PIECE_BYTES, |bits, start| bits | start);
    let bytes = 1u64 << bits.trailing_zeros();
    let count = (starts.len() as u64).saturating_mul(width / bytes);
    if count > MOST_PIECES {
        return Err(format!("a bulk copy of {count} pieces of {bytes} bytes: must be at most {MOST_PIECES}"));
    }
    access.bytes = bytes as u8;
    let pieces = starts
        .iter()
        .flat_map(|start| (0..width / bytes).map(move |piece| start.wrapping_add(piece * bytes)));
    let pieces: Vec<u64> = pieces.map(|address| address & ADDRESS_MASK).collect();
    let mut groups = pieces.chunks(32).map(|group| {
        let mut addresses = [0; 32];
        addresses[..group.len()].copy_from_slice(group);
        (u32::MAX >> (32 - group.len()), addresses)
    });
    if let Some((mask, addresses)) = groups.next() {
        (access.mask, access.address) = (mask, addresses);
        access.more.extend(groups);
    }
    Ok(())
}

/// Reads number and threads of a barrier, which has `dests` destinations and these sources. Its operands are immediates or
/// registers. The number is in the destination or in the first immediate. The threads are in the next immediate or in the first
/// general register among the sources. The values of the registers follow the immediates.
fn numbered_barrier(
    words: &mut LineWords,
    dests: usize,
    sources: &[&str],
) -> Result<(u8, Option<NonZeroU32>), String> {
    let first: u64 = words.decimal("the barrier")?;
    let mut rest = LineWords(words.0.clone());
    let Some(second) = rest.0.next().and_then(|word| word.parse::<u64>().ok()) else {
        // Early tracers of version 6 record only the last immediate.
        return Ok((0, None));
    };
    let mut values = Vec::new();
    if rest.0.next() == Some("Val") {
        for _ in 0..dests + sources.len() {
            values.push(rest.value()?);
        }
    }
    let (id, immediate) = match values.first().filter(|_| dests > 0) {
        Some(number) => (*number, first),
        None => (first, second),
    };
    let register = sources.iter().position(|source| source.starts_with('R'));
    let in_register = register.and_then(|source| values.get(dests + source)).copied();
    let threads = if immediate == 0 { in_register.unwrap_or(0) } else { immediate };
    if id >= BARRIERS {
        return Err(format!("barrier {id}: must be 0 to {}", BARRIERS - 1));
    }
    if threads > MOST_THREADS || !threads.is_multiple_of(32) {
        return Err(format!(
            "threads of a barrier = {threads}: must be multiples of 32, up to {MOST_THREADS}"
        ));
    }
    Ok((id as u8, NonZeroU32::new(threads as u32)))
}
