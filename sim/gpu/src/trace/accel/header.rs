//! The header of a kernel's trace.
use super::lines::LineFile;
use crate::trace::error::TraceError;
use selvedge_ptx::ptx::LaunchDims;

/// Supported versions of the tracer.
const VERSIONS: std::ops::RangeInclusive<u32> = 1..=6;

/// Max blocks of a grid in x, y and z.
const MOST_BLOCKS: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];

/// The header of a kernel's trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelHeader {
    pub name: String,
    pub dims: LaunchDims,
    /// Shared memory per CTA in bytes.
    pub shared_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    pub version: u32,
    /// First generic address of shared memory; 0 if unknown.
    pub shared_base: u64,
    /// First generic address of local memory; 0 if unknown.
    pub local_base: u64,
    /// `true` if each instruction begins with its line in the source.
    pub line_info: bool,
}

impl KernelHeader {
    /// Reads up to the first line that begins with `#`. That line is left in `line`.
    pub fn read(lines: &mut LineFile, line: &mut String) -> Result<Self, TraceError> {
        let (mut grid, mut block) = (None, None);
        let (mut shared_bytes, mut registers, mut version) = (None, None, None);
        let (mut name, mut shared_base, mut local_base, mut line_info) = (String::new(), 0, 0, false);
        while lines.next(line)? {
            if line.starts_with('#') {
                let missing = |key: &str| lines.bad(format!("the header above has no line `{key} = ...`"));
                let grid = grid.ok_or_else(|| missing("-grid dim"))?;
                let block = block.ok_or_else(|| missing("-block dim"))?;
                return Ok(Self {
                    name: if name.is_empty() { "kernel".into() } else { name },
                    dims: LaunchDims::new(grid, block),
                    shared_bytes: shared_bytes.ok_or_else(|| missing("-shmem"))?,
                    registers: registers.ok_or_else(|| missing("-nregs"))?,
                    version: version.ok_or_else(|| missing("-accelsim tracer version"))?,
                    shared_base,
                    local_base,
                    line_info,
                });
            }
            if line.is_empty() {
                continue;
            }
            let (key, value) =
                line.split_once('=').filter(|(key, _)| key.starts_with('-')).ok_or_else(|| {
                    lines.bad("no kernel's trace: must be header lines such as `-grid dim = (4,1,1)`")
                })?;
            let (key, value) = (key.trim_end(), value.trim());
            let wrong = |allowed: &str| lines.bad(format!("`{key} = {value}`: must be {allowed}"));
            let number = || value.parse::<u32>().map_err(|_| wrong("a number from 0"));
            let address = || hexadecimal(value).ok_or_else(|| wrong("a hexadecimal address"));
            match key {
                "-kernel name" => name = value.to_owned(),
                "-grid dim" => {
                    let few =
                        |sides: &[u32; 3]| sides.iter().zip(MOST_BLOCKS).all(|(side, most)| *side <= most);
                    let allowed = format!("(x,y,z), each from 1 and {MOST_BLOCKS:?} at most");
                    grid = Some(triple(value).filter(few).ok_or_else(|| wrong(&allowed))?);
                }
                "-block dim" => {
                    let few = |sides: &[u32; 3]| LaunchDims::new([1; 3], *sides).threads_per_cta() <= 1024;
                    let allowed = "(x,y,z), each from 1 and 1024 together at most";
                    block = Some(triple(value).filter(few).ok_or_else(|| wrong(allowed))?);
                }
                "-shmem" => shared_bytes = Some(number()?),
                "-nregs" => registers = Some(number()?),
                "-accelsim tracer version" => {
                    let known = number()?;
                    if !VERSIONS.contains(&known) {
                        return Err(wrong(&format!("{} to {}", VERSIONS.start(), VERSIONS.end())));
                    }
                    version = Some(known);
                }
                "-enable lineinfo" => line_info = number()? != 0,
                "-shmem base_addr" => shared_base = address()?,
                "-local mem base_addr" => local_base = address()?,
                _ => {}
            }
        }
        Err(lines.bad("the file ends within its header"))
    }
}

/// Parses `(x,y,z)`, each at least 1.
fn triple(text: &str) -> Option<[u32; 3]> {
    place(text.strip_prefix('(')?.strip_suffix(')')?).filter(|sides| !sides.contains(&0))
}

/// Parses three numbers, separated by commas.
pub(super) fn place(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(',').map(|word| word.trim().parse().ok());
    let sides = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(sides)
}

/// Parses a hexadecimal number, with or without `0x`.
pub(super) fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}
