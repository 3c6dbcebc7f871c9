//! The text of a launch as a kernel's trace (`.traceg`), with SASS opcodes of Volta.
//!
//! An opcode represents the class of its instruction: every integer operation is `IADD3`. A division, which is several
//! instructions on hardware, is one instruction of its pipe. A load of a parameter is a `MOV`, because SASS reads parameters as
//! operands. Accel-Sim reads at most one destination and four sources; further sources are omitted.
use crate::trace::launch::TraceLaunch;
use crate::trace::stream::{Cursor, lanes};
use selvedge_ptx::ptx::{AccessKind, CacheOp, Instr, MemAccess, OpClass, Space, Step};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Bytes between program counters, as since Volta.
const INSTRUCTION_BYTES: u32 = 16;
/// Compute capability of the opcodes, times ten.
const BINARY_VERSION: u32 = 70;
/// Version of the tracer whose format is written.
const TRACER_VERSION: u32 = 5;
/// Registers that a line can name, R0 to R254.
const MOST_REGISTERS: u16 = 255;
/// Sources of a line that Accel-Sim reads.
const MOST_SOURCES: usize = 4;

/// Returns the text of a launch with this number in its program, from 1.
///
/// # Errors
/// Returns a message if the format cannot express the launch.
pub fn kernel_text(launch: &TraceLaunch, number: usize) -> Result<String, String> {
    let names = RegisterNames::of(&launch.kernel.code, &CodeUse::of(launch)?)?;
    let mut text = header(launch, number);
    let per_cta = u64::from(launch.dims.warps_per_cta());
    for cta in 0..launch.dims.ctas() {
        let [x, y, z] = launch.dims.cta(cta);
        push(&mut text, format_args!("\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n"));
        for warp in 0..per_cta {
            let mut lines = String::new();
            let mut count = 0;
            each_record(launch, (cta * per_cta + warp) as usize, |pc, active, step, access| {
                count += 1;
                let instr = &launch.kernel.code[pc as usize];
                line(&mut lines, pc, active, instr, step, access, &names)
            })?;
            push(&mut text, format_args!("\nwarp = {warp}\ninsts = {count}\n{lines}"));
        }
        text.push_str("\n#END_TB\n");
    }
    Ok(text)
}

fn push(text: &mut String, what: std::fmt::Arguments) {
    text.write_fmt(what).unwrap_or_else(|_| unreachable!("a string takes all text"));
}

fn header(launch: &TraceLaunch, number: usize) -> String {
    let sides = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let (kernel, dims) = (&launch.kernel, &launch.dims);
    // The windows of generic addresses contain no global address, because these have at most 40 bits.
    format!(
        "-kernel name = {}\n-kernel id = {number}\n-grid dim = {}\n-block dim = {}\n-shmem = {}\n-nregs = {}\n\
         -binary version = {BINARY_VERSION}\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n\
         -local mem base_addr = 0x00007f0002000000\n-accelsim tracer version = {TRACER_VERSION}\n\
         -enable lineinfo = 0\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width \
         [adrrescompress?] [mem_addresses] immediate\n",
        kernel.name,
        sides(dims.grid),
        sides(dims.block),
        kernel.shared_bytes + dims.dynamic_shared,
        kernel.registers,
    )
}

/// Passes each record of a warp to `each`: index in the code, active lanes, step and access.
fn each_record(
    launch: &TraceLaunch,
    warp: usize,
    mut each: impl FnMut(u32, u32, Step, &MemAccess) -> Result<(), String>,
) -> Result<(), String> {
    let mut from = launch.decoder(&launch.streams[warp]);
    let (mut cursor, mut access) = (Cursor::default(), MemAccess::new());
    while !from.is_at_end() {
        let head = cursor.head(&mut from, launch.kernel.code.len());
        let head = head.expect("the stream was checked when it was read");
        let step = cursor.body(&mut from, &head, &mut access, |_| Ok(()));
        let step = step.expect("the stream was checked when it was read");
        each(head.pc, head.lanes, step, &access)?;
    }
    Ok(())
}

/// Properties of a kernel's instructions that only its execution shows.
struct CodeUse {
    /// Registers of 32 bits that each instruction loads, at least 1.
    loaded: Vec<u16>,
    /// Instructions that follow each instruction in a warp.
    next: Vec<Vec<u32>>,
}

impl CodeUse {
    fn of(launch: &TraceLaunch) -> Result<Self, String> {
        let length = launch.kernel.code.len();
        let (mut loaded, mut next) = (vec![1; length], vec![Vec::new(); length]);
        for warp in 0..launch.streams.len() {
            let mut last = None;
            each_record(launch, warp, |pc, _, step, access| {
                if step == Step::Memory && access.kind == AccessKind::Load && access.space != Space::Param {
                    let entry = &mut loaded[pc as usize];
                    *entry = u16::from(access.bytes).div_ceil(4).max(*entry);
                }
                if let Some(before) = last.replace(pc) {
                    let next: &mut Vec<u32> = &mut next[before as usize];
                    if !next.contains(&pc) {
                        next.push(pc);
                    }
                }
                Ok(())
            })?;
        }
        Ok(Self { loaded, next })
    }
}

/// Registers of a kernel in groups. Registers that one instruction writes are in one group, because a line names one
/// destination.
struct RegisterGroups {
    /// Group of each register: its lowest register.
    group: Vec<usize>,
    /// Numbers that each group takes; 0 for registers in the group of another. A reader expands the destination of a wide
    /// load to the numbers that follow.
    width: Vec<u16>,
}

impl RegisterGroups {
    fn of(code: &[Instr], loaded: &[u16]) -> Self {
        let named = code.iter().flat_map(|instr| instr.dests().iter().chain(instr.sources()));
        let count = named.max().map_or(0, |most| usize::from(*most) + 1);
        let mut group: Vec<usize> = (0..count).collect();
        let root = |group: &[usize], mut register: usize| {
            while group[register] != register {
                register = group[register];
            }
            register
        };
        for instr in code {
            for pair in instr.dests().windows(2) {
                let [a, b] = [pair[0], pair[1]].map(|register| root(&group, register.into()));
                group[a.max(b)] = a.min(b);
            }
        }
        for register in 0..count {
            group[register] = root(&group, register);
        }
        let mut width = vec![0; count];
        for (instr, loaded) in code.iter().zip(loaded) {
            for register in instr.sources() {
                let width = &mut width[group[usize::from(*register)]];
                *width = (*width).max(1);
            }
            for register in instr.dests() {
                let width = &mut width[group[usize::from(*register)]];
                *width = (*width).max(*loaded);
            }
        }
        Self { group, width }
    }

    /// Returns the groups of a list of registers.
    fn all<'a>(&'a self, registers: &'a [u16]) -> impl Iterator<Item = usize> + 'a {
        registers.iter().map(|register| self.group[usize::from(*register)])
    }

    /// Returns for each group the groups whose values a write of it would overwrite if they shared a number.
    fn conflicts(&self, code: &[Instr], next: &[Vec<u32>]) -> Vec<BTreeSet<usize>> {
        // Groups that are read after the instruction before they are written.
        let mut live: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); code.len()];
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for pc in (0..code.len()).rev() {
                let mut after = live[pc].clone();
                for next in next[pc].iter().map(|next| *next as usize) {
                    let written: Vec<usize> = self.all(code[next].dests()).collect();
                    after.extend(live[next].iter().filter(|group| !written.contains(group)));
                    after.extend(self.all(code[next].sources()));
                }
                is_changed |= after.len() != live[pc].len();
                live[pc] = after;
            }
        }
        let mut conflicts = vec![BTreeSet::new(); self.group.len()];
        for (instr, live) in code.iter().zip(&live) {
            for written in self.all(instr.dests()) {
                for other in live.iter().copied().filter(|other| *other != written) {
                    conflicts[written].insert(other);
                    conflicts[other].insert(written);
                }
            }
        }
        conflicts
    }
}

/// Numbers of the registers of a kernel in its trace.
struct RegisterNames(Vec<u16>);

impl RegisterNames {
    /// Numbers the registers of `code`. Reuses numbers only if the kernel has more registers than the format.
    fn of(code: &[Instr], used: &CodeUse) -> Result<Self, String> {
        let groups = RegisterGroups::of(code, &used.loaded);
        let is_scarce =
            groups.width.iter().map(|width| u32::from(*width)).sum::<u32>() > MOST_REGISTERS.into();
        let conflicts = if is_scarce { groups.conflicts(code, &used.next) } else { Vec::new() };
        let mut first: Vec<Option<u16>> = vec![None; groups.width.len()];
        let mut fresh = 0;
        for (group, width) in groups.width.iter().copied().enumerate().filter(|(_, width)| *width > 0) {
            let is_free = |at: &u16| {
                let mut others =
                    conflicts[group].iter().filter_map(|other| Some((first[*other]?, groups.width[*other])));
                others.all(|(other, size)| at + width <= other || other + size <= *at)
            };
            let at = if fresh + width <= MOST_REGISTERS {
                fresh += width;
                Some(fresh - width)
            } else {
                fresh = MOST_REGISTERS;
                (0..=MOST_REGISTERS - width).find(is_free)
            };
            let at =
                at.ok_or_else(|| format!("its values need more than {MOST_REGISTERS} registers at a time"))?;
            first[group] = Some(at);
        }
        Ok(Self(groups.group.iter().map(|group| first[*group].unwrap_or_default()).collect()))
    }

    /// Appends a list of registers: their number, then their distinct names.
    fn push_list(&self, out: &mut String, registers: &[u16], most: usize) {
        let mut numbers: Vec<u16> = Vec::new();
        for number in registers.iter().map(|register| self.0[usize::from(*register)]) {
            if numbers.len() < most && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        push(out, format_args!(" {}", numbers.len()));
        numbers.iter().for_each(|number| push(out, format_args!(" R{number}")));
    }
}

/// Appends the line of a record.
fn line(
    out: &mut String,
    pc: u32,
    active: u32,
    instr: &Instr,
    step: Step,
    access: &MemAccess,
    names: &RegisterNames,
) -> Result<(), String> {
    let opcode = match step {
        Step::Memory => memory_opcode(access)?,
        _ => opcode(instr, active, step)?,
    };
    push(out, format_args!("{:04x} {active:08x}", pc * INSTRUCTION_BYTES));
    names.push_list(out, instr.dests(), 1);
    push(out, format_args!(" {opcode}"));
    names.push_list(out, instr.sources(), MOST_SOURCES);
    match step {
        Step::Memory if !matches!(access.space, Space::Const | Space::Param) => {
            push(out, format_args!(" {}", access.bytes));
            addresses(out, access);
        }
        // Accel-Sim requires the width of an access also without lanes.
        _ if active == 0 && matches!(instr.class, OpClass::Load | OpClass::Store | OpClass::Atomic) => {
            out.push_str(" 4 0");
        }
        _ => out.push_str(" 0"),
    }
    out.push_str(" 0\n");
    Ok(())
}

/// Appends the addresses of an access: as base and stride if these describe a contiguous range of lanes, otherwise as a list.
fn addresses(out: &mut String, access: &MemAccess) {
    let listed: Vec<u64> = lanes(access.mask).map(|lane| access.address[lane]).collect();
    let is_contiguous =
        (access.mask >> access.mask.trailing_zeros().min(31)).wrapping_add(1).is_power_of_two()
            || access.mask == u32::MAX;
    let stride = match listed[..] {
        [first, second, ..] => i32::try_from(second.wrapping_sub(first) as i64).ok(),
        _ => Some(0),
    };
    let stride = stride.filter(|stride| {
        let next = |address: u64| address.wrapping_add(i64::from(*stride) as u64);
        is_contiguous && listed.windows(2).all(|pair| next(pair[0]) == pair[1])
    });
    if let (Some(stride), Some(base)) = (stride, listed.first()) {
        return push(out, format_args!(" 1 {base:#x} {stride}"));
    }
    out.push_str(" 0");
    listed.iter().for_each(|address| push(out, format_args!(" {address:#x}")));
}

/// Returns the opcode of an access, such as `LDG.E.64`.
fn memory_opcode(access: &MemAccess) -> Result<String, String> {
    let root = match (access.space, access.kind) {
        (Space::Param, _) => return Ok("MOV".into()),
        (Space::Const, _) => return Ok("LDC".into()),
        (Space::Global, AccessKind::Load) => "LDG.E",
        (Space::Global, AccessKind::Store) => "STG.E",
        (Space::Global, AccessKind::Atomic { reduction: false, .. }) => "ATOMG.E",
        (Space::Global, AccessKind::Atomic { reduction: true, .. }) => "RED.E",
        (Space::Shared, AccessKind::Load) => "LDS",
        (Space::Shared, AccessKind::Store) => "STS",
        (Space::Shared, AccessKind::Atomic { .. }) => "ATOMS",
        (Space::Local | Space::Generic, _) => return Err("it uses local memory: unsupported".into()),
    };
    let width = match access.bytes {
        1 => ".U8",
        2 => ".U16",
        4 => "",
        8 => ".64",
        16 => ".128",
        bytes => return Err(format!("it accesses {bytes} bytes per lane: must be at most 16")),
    };
    let cache = match access.cache {
        CacheOp::All | CacheOp::Streaming => "",
        CacheOp::Global => ".STRONG.GPU",
        CacheOp::Volatile => ".STRONG.SYS",
        CacheOp::ReadOnly => ".CONSTANT",
    };
    Ok(format!("{root}{width}{cache}"))
}

/// Returns the opcode of an instruction without an access.
fn opcode(instr: &Instr, active: u32, step: Step) -> Result<String, String> {
    let unsupported = |what: &str| Err(format!("it uses {what}: unsupported"));
    let opcode = match (step, instr.class) {
        (Step::Texture { .. }, _) | (_, OpClass::Texture) => return unsupported("textures"),
        (Step::Async | Step::AwaitReads, _) => return unsupported("bulk copies"),
        (Step::Message { .. }, _) => return unsupported("messages between CTAs of a cluster"),
        (Step::Barrier { id: 0, threads: None, arrive_only: false }, _) => "BAR.SYNC",
        (Step::Barrier { .. }, _) => return unsupported("barriers of a part of the CTA"),
        (Step::Fence, _) => "MEMBAR.SC.GPU",
        (_, OpClass::Load | OpClass::Store | OpClass::Atomic) if active == 0 => {
            return memory_opcode(&MemAccess {
                space: instr.space().filter(|space| *space != Space::Generic).unwrap_or(Space::Global),
                kind: if instr.class == OpClass::Store { AccessKind::Store } else { AccessKind::Load },
                ..MemAccess::new()
            });
        }
        (_, OpClass::Load | OpClass::Store | OpClass::Atomic) => "MOV",
        (_, OpClass::Exit) => "EXIT",
        // A guard disabled it in every lane, so the warp must not wait.
        (_, OpClass::Barrier | OpClass::Fence) => "NOP",
        (_, OpClass::Int) => "IADD3",
        (_, OpClass::IntMul) => "IMAD",
        (_, OpClass::Fp32) => "FFMA",
        (_, OpClass::Fp64 | OpClass::Fp64Div) => "DFMA",
        (_, OpClass::Sfu | OpClass::IntDiv | OpClass::Fp32Div) => "MUFU.RCP",
        (_, OpClass::Convert) => "F2F",
        (_, OpClass::Control) => "BRA",
        (_, OpClass::Warp) => "SHFL.IDX",
        (_, OpClass::Matrix(256)) => "HMMA.884.F32.F32",
        (_, OpClass::Matrix(512)) => "HMMA.884.F16.F16",
        (_, OpClass::Matrix(1024)) => "HMMA.1688.F32",
        (_, OpClass::Matrix(2048)) => "HMMA.16816.F32",
        (_, OpClass::Matrix(_)) => return unsupported("matrix products of this shape"),
        (_, OpClass::MatrixFp64(_)) => return unsupported("matrix products in double precision"),
        (_, OpClass::System) => return unsupported("system functions"),
    };
    Ok(opcode.into())
}
