//! SASS opcodes and their operations in the timing model. The root of the name and a few suffixes decide.
//!
//! The table has the opcodes of Pascal to Hopper. The configuration has no uniform datapath or texture units; their instructions use
//! the most similar pipe. docs/reference/accel-sim-traces.md has the list.
use selvedge_ptx::ptx::{AccessKind, AtomicOp, CacheOp, MOST_MATRIX_WORK, OpClass, Space};

/// Properties of an opcode in the timing model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpcodeTiming {
    pub class: OpClass,
    /// Memory access of a load, store or atomic.
    pub access: Option<OpcodeAccess>,
    /// `true` for a barrier at which the warp arrives without waiting.
    pub arrives_only: bool,
    /// Number of consecutive registers that a load writes.
    pub registers: u16,
    /// The access of a bulk copy (TMA), whose addresses only new tracers record.
    pub bulk: Option<AccessKind>,
}

/// Properties of a memory access that follow from the opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpcodeAccess {
    pub space: Space,
    pub kind: AccessKind,
    pub cache: CacheOp,
    /// Bytes per lane.
    pub bytes: u8,
}

/// Returns the operation of an opcode such as `LDG.E.64.SYS`; `None` for an unknown one.
pub(super) fn operation(opcode: &str) -> Option<OpcodeTiming> {
    let mut suffixes = opcode.split('.');
    let root = suffixes.next()?;
    let has = |word: &str| opcode.split('.').skip(1).any(|suffix| suffix == word);
    if let Some((class, space, kind)) = memory(root) {
        let bytes = if matches!(root, "LDSM" | "STSM") { 16 } else { suffixes.find_map(width).unwrap_or(4) };
        let cache = if has("STRONG") && has("GPU") {
            CacheOp::Global
        } else if has("STRONG") && has("SYS") {
            CacheOp::Volatile
        } else if has("CONSTANT") {
            CacheOp::ReadOnly
        } else {
            CacheOp::All
        };
        let matrices = opcode.rsplit('.').next().and_then(|last| last.parse().ok()).filter(|n| *n <= 4);
        let registers = if root == "LDSM" { matrices.unwrap_or(1) } else { u16::from(bytes).div_ceil(4) };
        let access = Some(OpcodeAccess { space, kind, cache, bytes });
        return Some(OpcodeTiming { class, access, arrives_only: false, registers, bulk: None });
    }
    let arrives_only = root == "BAR" && has("ARV");
    let class = class(root).or_else(|| matrix(opcode))?;
    Some(OpcodeTiming { class, access: None, arrives_only, registers: 1, bulk: bulk(opcode) })
}

/// Returns the bytes per lane that a suffix states.
fn width(suffix: &str) -> Option<u8> {
    match suffix {
        "8" | "U8" | "S8" => Some(1),
        "16" | "U16" | "S16" => Some(2),
        "32" | "U32" | "S32" | "F32" => Some(4),
        "64" | "U64" | "S64" | "F64" => Some(8),
        "128" => Some(16),
        _ => None,
    }
}

/// Returns class, state space and kind of a memory instruction. Every atomic becomes an add, because timing does not depend on
/// the operation.
fn memory(root: &str) -> Option<(OpClass, Space, AccessKind)> {
    let load = |space| Some((OpClass::Load, space, AccessKind::Load));
    let store = |space| Some((OpClass::Store, space, AccessKind::Store));
    let atomic = |space, reduction| {
        Some((OpClass::Atomic, space, AccessKind::Atomic { op: AtomicOp::Add, reduction }))
    };
    match root {
        "LD" => load(Space::Generic),
        "LDG" | "LDGSTS" | "LDGMC" => load(Space::Global),
        "LDS" | "LDSM" => load(Space::Shared),
        "LDL" => load(Space::Local),
        "LDC" | "ULDC" => load(Space::Const),
        "ST" => store(Space::Generic),
        "STG" => store(Space::Global),
        "STS" | "STSM" | "STAS" => store(Space::Shared),
        "STL" => store(Space::Local),
        "ATOM" => atomic(Space::Generic, false),
        "ATOMG" => atomic(Space::Global, false),
        "ATOMS" => atomic(Space::Shared, false),
        "RED" | "REDG" => atomic(Space::Global, true),
        "REDAS" => atomic(Space::Shared, true),
        _ => None,
    }
}

/// Returns the access of a bulk copy to global memory. `S.G` names a copy from global to shared memory, `G.S` the opposite one. A
/// prefetch counts as a load, a reduction as a store.
fn bulk(opcode: &str) -> Option<AccessKind> {
    let mut words = opcode.split('.');
    match words.next()? {
        "UTMALDG" | "UTMAPF" | "UBLKPF" => Some(AccessKind::Load),
        "UTMASTG" | "UTMAREDG" | "UBLKRED" => Some(AccessKind::Store),
        "UBLKCP" => match (words.next()?, words.next()?) {
            ("S", "G") => Some(AccessKind::Load),
            ("G", "S") => Some(AccessKind::Store),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the class of a matrix product, whose suffixes tell shape and types: `HMMA.16816.F32` is m16n8k16. `None` for another
/// instruction or an unknown shape.
fn matrix(opcode: &str) -> Option<OpClass> {
    let suffixes: Vec<&str> = opcode.split('.').collect();
    let has = |any: &[&str]| suffixes.iter().any(|suffix| any.contains(suffix));
    let bits = match suffixes[0] {
        "HMMA" | "HGMMA" if has(&["TF32"]) => 32,
        "HMMA" | "HGMMA" => 16,
        "IMMA" if has(&["S4", "U4"]) => 4,
        "IMMA" | "IGMMA" | "QGMMA" => 8,
        "BMMA" | "BGMMA" => 1,
        "DMMA" => 64,
        _ => return None,
    };
    // Each warp of a group computes a quarter of the 64 rows. The largest product has one unit more than fits.
    if let Some((columns, k)) = suffixes.iter().find_map(|suffix| suffix.strip_prefix("64x")?.split_once('x'))
    {
        let multiply_adds = columns.parse::<u32>().ok()?.checked_mul(k.parse().ok()?)?.checked_mul(16)?;
        let work = (multiply_adds.checked_mul(bits)? / 16).min(MOST_MATRIX_WORK.into());
        return u16::try_from(work).ok().filter(|work| *work > 0).map(OpClass::Matrix);
    }
    let (rows, k) = suffixes.iter().find_map(|suffix| {
        let (rows, rest) =
            suffix.strip_prefix("16").map_or_else(|| (8, suffix.strip_prefix('8')), |rest| (16, Some(rest)));
        Some((rows, u32::from(rest?.strip_prefix('8')?.parse::<u16>().ok()?)))
    })?;
    // A step of Volta's product of four 8 x 4 and 4 x 8 matrices: there are four, or two with sums of half precision.
    if bits == 16 && (rows, k) == (8, 4) {
        return Some(OpClass::Matrix(if has(&["F32"]) { 256 } else { 512 }));
    }
    // A sparse product multiplies half of the elements.
    let multiply_adds = rows * 8 * k / if has(&["SP"]) { 2 } else { 1 };
    let work = |work: u32| u16::try_from(work).ok().filter(|work| (1..=MOST_MATRIX_WORK).contains(work));
    if bits == 64 {
        work(multiply_adds).map(OpClass::MatrixFp64)
    } else {
        work(multiply_adds * bits / 16).map(OpClass::Matrix)
    }
}

/// Returns the class of an instruction that accesses no memory, or whose addresses these traces do not contain.
fn class(root: &str) -> Option<OpClass> {
    let class =
        match root {
            "FADD" | "FADD32I" | "FCHK" | "FCMP" | "FFMA" | "FFMA32I" | "FMNMX" | "FMUL" | "FMUL32I"
            | "FSEL" | "FSET" | "FSETP" | "FSWZ" | "FSWZADD" | "HADD2" | "HADD2_32I" | "HFMA2"
            | "HFMA2_32I" | "HMUL2" | "HMUL2_32I" | "HSET2" | "HSETP2" | "HMNMX2" => OpClass::Fp32,
            "DADD" | "DFMA" | "DMUL" | "DMNMX" | "DSET" | "DSETP" => OpClass::Fp64,
            "MUFU" | "RRO" | "IPA" => OpClass::Sfu,
            // The traces do not contain the addresses of texels.
            "TEX" | "TEXS" | "TLD" | "TLD4" | "TLD4S" | "TLDS" | "TMML" | "TXA" | "TXD" | "TXQ"
            | "SUATOM" | "SULD" | "SUQUERY" | "SURED" | "SUST" => OpClass::Sfu,
            "IMAD" | "IMADSP" | "IMUL" | "IMUL32I" | "IDP" | "IDP4A" | "XMAD" | "UIMAD" | "IMAD32I"
            | "CLMAD" => OpClass::IntMul,
            "BFE" | "BFI" | "BMSK" | "BREV" | "FLO" | "IABS" | "IADD" | "IADD3" | "IADD32I" | "ICMP"
            | "IMNMX" | "ISAD" | "ISCADD" | "ISCADD32I" | "ISET" | "ISETP" | "LEA" | "LOP" | "LOP3"
            | "LOP32I" | "POPC" | "SHF" | "SHL" | "SHR" | "VABSDIFF" | "VABSDIFF4" | "VMNMX" | "VMAD"
            | "VADD" | "VSHL" | "VSHR" | "VSET" | "VSETP" | "MOV" | "MOV32I" | "MOVM" | "PRMT" | "SEL"
            | "SGXT" | "PLOP3" | "PSETP" | "PSET" | "P2R" | "R2P" | "CSET" | "CSETP" | "B2R" | "R2B"
            | "CS2R" | "S2R" | "S2UR" | "R2UR" | "LEPC" | "GETLMEMBASE" | "SETLMEMBASE" | "SETCTAID"
            | "CSMTEST" | "VOTE_VTG" | "QSPC" | "BMOV" | "UBMSK" | "UBREV" | "UCLEA" | "UF2FP" | "UFLO"
            | "UIADD3" | "UISETP" | "ULEA" | "ULOP" | "ULOP3" | "ULOP32I" | "UMOV" | "UP2UR" | "UPLOP3"
            | "UPOPC" | "UPRMT" | "UPSETP" | "UR2UP" | "USEL" | "USGXT" | "USHF" | "USHL" | "USHR"
            | "VIADD" | "VIADDMNMX" | "VIMNMX" | "VIMNMX3" | "VHMNMX" | "R2UR_H" | "UVIADD" | "UVIMNMX"
            | "UIMNMX" | "CREDUX" | "UMOV32I" | "ULEPC" | "BITEXTRACT" | "GATHER" | "SCATTER"
            | "GENMETADATA" | "SPMETADATA" | "GETFPFLAGS" | "SETFPFLAGS" => OpClass::Int,
            "F2F" | "F2FP" | "F2I" | "F2IP" | "FRND" | "I2F" | "I2FP" | "I2I" | "I2IP" | "F2F64"
            | "F2I64" | "FRND64" | "I2F64" => OpClass::Convert,
            "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" => OpClass::Warp,
            "BRA" | "BRX" | "BRXU" | "BREAK" | "BRK" | "BSSY" | "BSYNC" | "CAL" | "CALL" | "CONT"
            | "JCAL" | "JMP" | "JMX" | "JMXU" | "LONGJMP" | "PBK" | "PCNT" | "PEXIT" | "PLONGJMP"
            | "PRET" | "RET" | "RPCMOV" | "RTT" | "SSY" | "SYNC" | "WARPSYNC" | "YIELD" | "NANOSLEEP"
            | "BPT" | "RAM" | "SAM" | "CCTL" | "CCTLL" | "CCTLT" | "DEPBAR" | "LDGDEPBAR" | "LDDEP"
            | "NOP" | "PMTRIG" | "ERRBAR" | "ACQBULK" | "ARRIVES" | "CGAERRBAR" | "ELECT"
            | "ENDCOLLECTIVE" | "FENCE" | "PREEXIT" | "SYNCS" | "UBLKCP" | "UBLKPF" | "UBLKRED"
            | "UCGABAR_ARV" | "UCGABAR_WAIT" | "UTMACCTL" | "UTMACMDFLUSH" | "UTMALDG" | "UTMAPF"
            | "UTMAREDG" | "UTMASTG" | "WARPGROUP" | "WARPGROUPSET" | "UCGABAR_GET" | "UCGABAR_SET"
            | "USETMAXREG" | "USETSHMSZ" | "NANOTRAP" | "REPLAY_START" | "REPLAY_END" => OpClass::Control,
            "MEMBAR" => OpClass::Fence,
            "BAR" => OpClass::Barrier,
            "EXIT" | "KILL" => OpClass::Exit,
            _ => return None,
        };
    Some(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(opcode: &str) -> (Space, AccessKind, CacheOp, u8, u16) {
        let operation = operation(opcode).expect(opcode);
        let access = operation.access.expect(opcode);
        (access.space, access.kind, access.cache, access.bytes, operation.registers)
    }

    #[test]
    fn suffixes_tell_width_and_caching() {
        use AccessKind::{Load, Store};
        let none = CacheOp::All;
        assert_eq!(access("LDG.E.SYS"), (Space::Global, Load, none, 4, 1));
        assert_eq!(access("LDG.E.128.CONSTANT.SYS"), (Space::Global, Load, CacheOp::ReadOnly, 16, 4));
        assert_eq!(access("LDG.E.64.STRONG.GPU"), (Space::Global, Load, CacheOp::Global, 8, 2));
        assert_eq!(access("LD.E.U8.STRONG.SYS"), (Space::Generic, Load, CacheOp::Volatile, 1, 1));
        assert_eq!(access("STS.U16"), (Space::Shared, Store, none, 2, 1));
        assert_eq!(access("LDSM.16.M88.4"), (Space::Shared, Load, none, 16, 4));
        let red = AccessKind::Atomic { op: AtomicOp::Add, reduction: true };
        assert_eq!(access("RED.E.ADD.F64.RN.STRONG.GPU"), (Space::Global, red, CacheOp::Global, 8, 2));
    }

    #[test]
    fn shapes_and_types_of_matrix_products_decide_their_work() {
        for (opcode, work) in [
            ("HMMA.884.F32.F32.STEP2", 256),
            ("HMMA.884.F16.F16.STEP1", 512),
            ("HMMA.1688.F32", 1024),
            ("HMMA.16816.F32.BF16", 2048),
            ("HMMA.1684.F32.TF32", 1024),
            ("HMMA.1688.F32.TF32", 2048),
            ("HMMA.SP.16832.F32", 2048),
            ("IMMA.8816.S8.S8", 512),
            ("IMMA.16832.U8.S8.SAT", 2048),
            ("IMMA.8832.S4.S4", 512),
            ("IMMA.16864.U4.U4", 2048),
            ("BMMA.88128.XOR.POPC", 512),
            ("BMMA.168256.AND.POPC", 2048),
            ("HGMMA.64x64x16.F32", 16384),
            ("HGMMA.64x8x8.F32.TF32", 2048),
            ("HGMMA.64x256x16.F32.BF16", 65535),
            ("QGMMA.64x128x32.F32.E4M3.E4M3", 32768),
            ("IGMMA.64x16x32.S8.S8", 4096),
            ("BGMMA.64x16x256.AND.POPC", 4096),
        ] {
            assert_eq!(operation(opcode).map(|o| o.class), Some(OpClass::Matrix(work)), "{opcode}");
        }
        assert_eq!(operation("HGMMA.64x4294967295x16"), None, "no product");
        assert_eq!(operation("DMMA.884").map(|o| o.class), Some(OpClass::MatrixFp64(256)));
    }

    #[test]
    fn roots_decide_the_pipe() {
        let class = |opcode: &str| operation(opcode).map(|operation| operation.class);
        for (opcode, wanted) in [
            ("IMAD.MOV.U32", OpClass::IntMul),
            ("FFMA.FTZ", OpClass::Fp32),
            ("DFMA", OpClass::Fp64),
            ("MUFU.RCP", OpClass::Sfu),
            ("SHFL.IDX", OpClass::Warp),
            ("BRA", OpClass::Control),
            ("MEMBAR.SC.GPU", OpClass::Fence),
            ("BAR.SYNC.DEFER_BLOCKING", OpClass::Barrier),
            ("EXIT", OpClass::Exit),
        ] {
            assert_eq!(class(opcode), Some(wanted), "{opcode}");
        }
        let bulk = |opcode: &str| operation(opcode).and_then(|operation| operation.bulk);
        assert_eq!(bulk("UTMALDG.2D"), Some(AccessKind::Load));
        assert_eq!(bulk("UBLKCP.G.S"), Some(AccessKind::Store));
        assert_eq!((bulk("UBLKCP.S.S"), bulk("LDG")), (None, None));
        assert_eq!(class("WGMMA.MMA_ASYNC"), None);
        assert_eq!(class("HMMA.F32"), None, "no shape");
        assert!(operation("BAR.ARV").is_some_and(|o| o.arrives_only));
        assert!(operation("BAR.SYNC").is_some_and(|o| !o.arrives_only));
    }
}
