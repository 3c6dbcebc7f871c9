//! Reads fat binaries: the PTX that nvcc and clang embed in a host program, uncompressed or compressed by LZ4 or zstd.
use ruzstd::decoding::StreamingDecoder;
use selvedge_ptx::ptx::DEVICE_RUNTIME;
use std::io::Read;

/// First word of a fat binary.
const MAGIC: u32 = 0xba55_ed50;
/// Entry kind for PTX.
const PTX: u16 = 1;
/// Flags for the compression of an entry.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// Max size of uncompressed PTX in bytes.
const MOST_TEXT_BYTES: u64 = 1 << 30;

/// PTX from a fat binary.
#[derive(Debug, PartialEq, Eq)]
pub struct Ptx {
    /// Compute capability that the PTX was compiled for, such as 60 for `sm_60`.
    pub architecture: u32,
    /// PTX as text.
    pub text: String,
}

impl Ptx {
    /// Returns whether the PTX is CUDA's device runtime, which is linked to programs with relocatable device code.
    #[must_use]
    pub fn is_device_runtime(&self) -> bool {
        self.text.contains(DEVICE_RUNTIME)
    }
}

/// Reasons for which a fat binary gives no PTX.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FatbinError {
    /// It is not a fat binary, or is truncated.
    #[error("byte {at} of the fat binary: {what}")]
    Malformed {
        /// Offset of the error in bytes.
        at: usize,
        /// Description of the error.
        what: &'static str,
    },
    /// It has no entry.
    #[error("the program has an empty fat binary, without PTX")]
    Empty,
    /// It has only machine code.
    #[error(
        "the program has {found} and no PTX: compile it with PTX, such as nvcc -gencode arch=compute_75,code=compute_75, or \
         clang++ --cuda-gpu-arch=sm_60"
    )]
    NoPtx {
        /// Description of its entries.
        found: String,
    },
}

/// Header and payload of an entry.
struct FatbinEntry<'a> {
    kind: u16,
    architecture: u32,
    flags: u64,
    /// Size of the uncompressed payload in bytes; 0 if it is not compressed.
    unpacked: u64,
    payload: &'a [u8],
}

/// Returns `N` bytes at offset `at`.
fn field<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], FatbinError> {
    let cut = FatbinError::Malformed { at, what: "it ends here, within a head" };
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(cut)
}

fn word16(bytes: &[u8], at: usize) -> Result<u16, FatbinError> {
    field(bytes, at).map(u16::from_le_bytes)
}

fn word32(bytes: &[u8], at: usize) -> Result<u32, FatbinError> {
    field(bytes, at).map(u32::from_le_bytes)
}

fn word64(bytes: &[u8], at: usize) -> Result<u64, FatbinError> {
    field(bytes, at).map(u64::from_le_bytes)
}

/// Returns the entry at offset `at`, and the offset of the next one.
fn entry(bytes: &[u8], at: usize) -> Result<(FatbinEntry<'_>, usize), FatbinError> {
    let malformed = |what| FatbinError::Malformed { at, what };
    let head = word32(bytes, at + 4)? as usize;
    let padded = usize::try_from(word64(bytes, at + 8)?).unwrap_or(usize::MAX);
    let packed = word32(bytes, at + 16)? as usize;
    let flags = word64(bytes, at + 40)?;
    let start = at.saturating_add(head);
    let end = start.saturating_add(padded);
    if head < 64 || end > bytes.len() {
        return Err(malformed("an entry that is larger than the fat binary"));
    }
    let is_packed = flags & (LZ4 | ZSTD) != 0;
    if is_packed && packed > padded {
        return Err(malformed("compressed PTX that is larger than its entry"));
    }
    let payload = &bytes[start..if is_packed { start + packed } else { end }];
    let unpacked = if is_packed { word64(bytes, at + 56)? } else { 0 };
    let entry = FatbinEntry {
        kind: word16(bytes, at)?,
        architecture: word32(bytes, at + 28)?,
        flags,
        unpacked,
        payload,
    };
    Ok((entry, end))
}

impl FatbinEntry<'_> {
    /// Returns the uncompressed text, up to its first zero byte.
    fn text(&self, at: usize) -> Result<String, FatbinError> {
        let malformed = |what| FatbinError::Malformed { at, what };
        if self.unpacked > MOST_TEXT_BYTES {
            return Err(malformed("PTX of more than a GiB"));
        }
        let bytes = if self.flags & ZSTD != 0 {
            let decoder = StreamingDecoder::new(self.payload)
                .map_err(|_| malformed("PTX that zstd does not unpack"))?;
            let mut text = Vec::new();
            decoder
                .take(self.unpacked)
                .read_to_end(&mut text)
                .map_err(|_| malformed("PTX that zstd does not unpack"))?;
            text
        } else if self.flags & LZ4 != 0 {
            lz4_flex::block::decompress(self.payload, self.unpacked as usize)
                .map_err(|_| malformed("PTX that LZ4 does not unpack"))?
        } else {
            self.payload.to_vec()
        };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8(bytes[..end].to_vec()).map_err(|_| malformed("PTX that is not text"))
    }
}

/// Returns the PTX for the newest architecture of each fat binary in a sequence. Fat binaries without PTX are left out, unless no other
/// one is of the program itself.
///
/// # Errors
/// A fat binary is malformed, or none has PTX.
pub fn ptx(mut bytes: &[u8]) -> Result<Vec<Ptx>, FatbinError> {
    let mut found: Vec<Ptx> = Vec::new();
    let mut without = None;
    loop {
        let end = size(bytes)?.min(bytes.len());
        match newest(&bytes[..end]) {
            Ok((at, entry)) => found.push(Ptx { architecture: entry.architecture, text: entry.text(at)? }),
            Err(error @ FatbinError::Malformed { .. }) => return Err(error),
            Err(error) => without = Some(error),
        }
        bytes = &bytes[end..];
        if bytes.is_empty() {
            break;
        }
    }
    let is_program = found.iter().any(|one| !one.is_device_runtime());
    without.filter(|_| !is_program).map_or(Ok(found), Err)
}

/// Returns the size of the fat binary at the start of `bytes`, as its header states it.
fn size(bytes: &[u8]) -> Result<usize, FatbinError> {
    if word32(bytes, 0)? != MAGIC {
        return Err(FatbinError::Malformed { at: 0, what: "it does not begin as fat binaries do" });
    }
    let size = usize::try_from(word64(bytes, 8)?).unwrap_or(usize::MAX);
    Ok(usize::from(word16(bytes, 6)?).saturating_add(size))
}

/// Returns the newest architecture for which a host program contains PTX, without CUDA's device runtime; `None` if the program contains
/// none.
pub fn architecture(program: &[u8]) -> Option<u32> {
    // Linkers align fat binaries to 8 bytes.
    let starts = (0..program.len()).step_by(8).filter(|at| word32(program, *at) == Ok(MAGIC));
    let found = starts.filter_map(|start| {
        let (at, entry) = newest(&program[start..]).ok()?;
        let ptx = Ptx { architecture: entry.architecture, text: entry.text(at).unwrap_or_default() };
        (!ptx.is_device_runtime()).then_some(ptx.architecture)
    });
    found.max()
}

/// Returns the entry with PTX for the newest architecture, and its offset.
fn newest(bytes: &[u8]) -> Result<(usize, FatbinEntry<'_>), FatbinError> {
    let end = size(bytes)?.min(bytes.len());
    let mut at = usize::from(word16(bytes, 6)?);
    let mut best: Option<(usize, FatbinEntry)> = None;
    let mut others = Vec::new();
    while at < end {
        let (entry, next) = entry(&bytes[..end], at)?;
        if entry.kind == PTX {
            if best.as_ref().is_none_or(|(_, best)| best.architecture < entry.architecture) {
                best = Some((at, entry));
            }
        } else {
            others.push(format!("sm_{}", entry.architecture));
        }
        at = next;
    }
    best.ok_or_else(|| match others.is_empty() {
        true => FatbinError::Empty,
        false => FatbinError::NoPtx { found: format!("code of {}", others.join(", ")) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        ".version 7.8\n.target sm_60\n// one of many lines, one of many lines, one of many lines\n";

    /// Returns an entry whose payload has this uncompressed size.
    fn entry(kind: u16, architecture: u32, flags: u64, payload: &[u8], unpacked: usize) -> Vec<u8> {
        let padded = payload.len().next_multiple_of(8);
        let mut out = vec![0; 80 + padded];
        out[..2].copy_from_slice(&kind.to_le_bytes());
        out[4..8].copy_from_slice(&80u32.to_le_bytes());
        out[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        out[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        out[28..32].copy_from_slice(&architecture.to_le_bytes());
        out[40..48].copy_from_slice(&flags.to_le_bytes());
        out[56..64].copy_from_slice(&(unpacked as u64).to_le_bytes());
        out[80..80 + payload.len()].copy_from_slice(payload);
        out
    }

    fn fat(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut out = MAGIC.to_le_bytes().to_vec();
        out.extend([1, 0, 16, 0]);
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(body);
        out
    }

    fn zstd() -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn plain_and_packed_text_is_the_same() {
        let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
        for (flags, payload) in [(0x11, TEXT.as_bytes().to_vec()), (LZ4 | 0x11, lz4), (ZSTD | 0x11, zstd())] {
            let binary = fat(&[entry(PTX, 60, flags, &payload, TEXT.len())]);
            assert_eq!(ptx(&binary), Ok(vec![Ptx { architecture: 60, text: TEXT.into() }]), "{flags:#x}");
        }
    }

    #[test]
    fn the_newest_text_counts_and_code_alone_is_refused() {
        let code = entry(2, 75, 0x11, b"\x7fELF", 0);
        let [old, new] = [50, 70].map(|sm| entry(PTX, sm, 0x11, format!("// {sm}").as_bytes(), 0));
        let found = ptx(&fat(&[old.clone(), code.clone(), new, old])).expect("it has PTX");
        assert_eq!(found, [Ptx { architecture: 70, text: "// 70".into() }]);
        let refused = ptx(&fat(&[code])).expect_err("it has none").to_string();
        assert!(refused.starts_with("the program has code of sm_75 and no PTX: compile it"), "{refused}");
        assert_eq!(ptx(&fat(&[])), Err(FatbinError::Empty));
    }

    #[test]
    fn a_program_has_the_newest_architecture_of_its_fat_binaries() {
        let of = |kind, architecture| fat(&[entry(kind, architecture, 0x11, b"//", 0)]);
        let program = [vec![0; 24], of(PTX, 60), of(PTX, 75), MAGIC.to_le_bytes().to_vec()].concat();
        assert_eq!(architecture(&program), Some(75));
        assert_eq!((architecture(&of(2, 75)), architecture(b"#!/bin/sh")), (None, None));
    }

    #[test]
    fn each_fat_binary_of_a_sequence_has_its_text() {
        let [first, second] = ["// 1", "// 2"].map(|text| fat(&[entry(PTX, 60, 0x11, text.as_bytes(), 0)]));
        let code = fat(&[entry(2, 75, 0x11, b"\x7fELF", 0)]);
        let texts =
            |bytes: &[u8]| ptx(bytes).map(|all| all.into_iter().map(|one| one.text).collect::<Vec<_>>());
        let all = [first.clone(), code.clone(), second.clone()].concat();
        assert_eq!(texts(&all), Ok(vec!["// 1".into(), "// 2".into()]));
        assert_eq!(texts(&[code.clone(), second.clone()].concat()), Ok(vec!["// 2".into()]));
        let runtime = format!(".visible .global .u32 {DEVICE_RUNTIME} = 1;");
        let runtime = fat(&[entry(PTX, 121, 0x11, runtime.as_bytes(), 0)]);
        for without in [code.clone(), runtime] {
            assert!(matches!(texts(&[code.clone(), without].concat()), Err(FatbinError::NoPtx { .. })));
        }
        assert!(matches!(texts(&all[..all.len() - 1]), Err(FatbinError::Malformed { .. })));
    }

    #[test]
    fn the_device_runtime_is_not_the_architecture_of_a_program() {
        let of = |architecture, text: &str| fat(&[entry(PTX, architecture, 0x11, text.as_bytes(), 0)]);
        let runtime = format!(".visible .global .u32 {DEVICE_RUNTIME} = 1;");
        assert_eq!(architecture(&[of(75, "//"), of(121, &runtime)].concat()), Some(75));
    }

    #[test]
    fn every_cut_and_every_changed_byte_ends_with_an_answer() {
        let whole = fat(&[entry(PTX, 60, ZSTD, &zstd(), TEXT.len())]);
        for length in 0..whole.len() {
            assert!(ptx(&whole[..length]).is_err(), "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            // Some bytes have no effect; none may cause a panic.
            let _ = ptx(&changed);
        }
    }
}
