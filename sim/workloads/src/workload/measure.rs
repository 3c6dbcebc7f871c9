//! Counts the work of workloads without timing, and reads the checked-in table of the counts.
//!
//! The table, `sim/workloads/kernels/measured.tsv`, is never edited by hand. The example `measure_workloads` runs every
//! workload, verifies its results and writes the counts. Tests repeat all counts except the `paper` counts.
use super::{Launch, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{
    ArgError, FunctionalError, LOCAL_REGION, MemAccess, Module, PtxError, watch_functional,
};
use thiserror::Error;

/// The checked-in table.
pub const TABLE: &str = include_str!("../../kernels/measured.tsv");

/// First line of the table.
const HEAD: &str = "workload\tsize\tlaunches\twarp instructions\tmemory instructions\tlines touched\n";

/// Bytes of a line of global memory.
const LINE_BYTES: u64 = 128;

/// Work of a workload at one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkloadWork {
    /// Kernel launches.
    pub launches: u64,
    /// Warp instructions.
    pub warp_instructions: u64,
    /// Warp instructions in which at least one lane accesses global, local or shared memory, textures included.
    pub memory_instructions: u64,
    /// Distinct 128-byte lines of global memory that are read or written.
    pub lines: u64,
}

/// Error of a measurement.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The host program failed, or a result was wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The PTX is invalid.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// A launch names a kernel that is missing in the PTX.
    #[error("no kernel '{0}' in the PTX")]
    NoKernel(String),
    /// The arguments do not fit the kernel.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// A kernel failed.
    #[error(transparent)]
    Run(#[from] FunctionalError),
}

/// A set of lines of global memory.
#[derive(Clone, Debug, Default)]
pub struct LineSet {
    /// One bit per line, from address 0 on.
    bits: Vec<u64>,
}

impl LineSet {
    /// Adds the lines that `access` reads or writes, if it accesses global memory.
    pub fn add(&mut self, access: &MemAccess) {
        if access.space != selvedge_ptx::ptx::Space::Global {
            return;
        }
        let rounds = access.more.iter().map(|(mask, addresses)| (*mask, addresses));
        for (mask, addresses) in std::iter::once((access.mask, &access.address)).chain(rounds) {
            for (_, address) in addresses.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                debug_assert!(*address < LOCAL_REGION, "global memory lies below local memory");
                // An access is aligned to its size, so it lies in one line.
                let line = address / LINE_BYTES;
                let word = (line / 64) as usize;
                if word >= self.bits.len() {
                    self.bits.resize(word + 1, 0);
                }
                self.bits[word] |= 1 << (line % 64);
            }
        }
    }

    /// Returns the number of lines in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the addresses of the lines, the lowest first.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        let of_word = |(at, word): (usize, &u64)| {
            let word = *word;
            let lines = (0..64).filter(move |bit| word >> bit & 1 == 1);
            lines.map(move |bit| (64 * at as u64 + bit) * LINE_BYTES)
        };
        self.bits.iter().enumerate().flat_map(of_word)
    }
}

/// Runs launches without timing and counts their work.
#[derive(Debug, Default)]
pub struct Meter {
    counts: WorkloadWork,
    touched: LineSet,
}

impl Meter {
    /// Runs `launch` and adds its work to the counts.
    ///
    /// # Errors
    /// [`MeasureError`] for a launch that the module's kernels do not permit, and for a fault.
    pub fn launch(
        &mut self,
        module: &Module,
        launch: &Launch,
        memory: &mut DeviceMemory,
    ) -> Result<(), MeasureError> {
        let kernel =
            module.kernel(&launch.kernel).ok_or_else(|| MeasureError::NoKernel(launch.kernel.clone()))?;
        let params = kernel.pack(&launch.args)?;
        let touched = &mut self.touched;
        let stats = watch_functional(module, &kernel, &launch.dims, &params, memory, &mut |access| {
            touched.add(access);
        })?;
        self.counts.launches += 1;
        self.counts.warp_instructions += stats.warp_instructions;
        self.counts.memory_instructions += stats.memory_instructions;
        Ok(())
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn measured(&self) -> WorkloadWork {
        WorkloadWork { lines: self.touched.count(), ..self.counts }
    }
}

/// Runs `workload` without timing on its built-in input, verifies its results and counts its work.
///
/// # Errors
/// [`MeasureError`], also if a result differs from the CPU reference.
pub fn measure(workload: &dyn Workload, size: Size) -> Result<WorkloadWork, MeasureError> {
    let module = workload.module()?;
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).map_err(WorkloadError::from)?;
    let mut program = workload.start(size, None)?;
    let mut meter = Meter::default();
    while let Some(launch) = program.next(&mut memory)? {
        meter.launch(&module, &launch, &mut memory)?;
    }
    program.verify(&memory)?;
    Ok(meter.measured())
}

/// Returns the row of the checked-in table for a workload at one size.
#[must_use]
pub fn measured(workload: &str, size: Size) -> Option<WorkloadWork> {
    rows(TABLE).find(|(name, of, _)| *name == workload && *of == size).map(|(.., counts)| counts)
}

/// Returns the valid rows of a table.
pub fn rows(table: &str) -> impl Iterator<Item = (&str, Size, WorkloadWork)> {
    table.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        let (name, size) = (cells.next()?, cells.next()?.parse().ok()?);
        let mut number = || cells.next()?.parse().ok();
        let counts = WorkloadWork {
            launches: number()?,
            warp_instructions: number()?,
            memory_instructions: number()?,
            lines: number()?,
        };
        Some((name, size, counts))
    })
}

/// Returns the text of a table: one line per row, with tabs between cells.
pub fn table<'a>(rows: impl IntoIterator<Item = (&'a str, Size, WorkloadWork)>) -> String {
    let row = |(name, size, m): (&str, Size, WorkloadWork)| {
        let WorkloadWork { launches, warp_instructions, memory_instructions, lines } = m;
        format!("{name}\t{size}\t{launches}\t{warp_instructions}\t{memory_instructions}\t{lines}\n")
    };
    std::iter::once(HEAD.to_owned()).chain(rows.into_iter().map(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{LaunchDims, all};
    use super::*;
    use selvedge_ptx::ptx::Arg;

    #[test]
    fn lines_are_listed_once_from_the_lowest_on() {
        let mut lines = LineSet::default();
        let mut access = MemAccess::new();
        access.mask = 0b1011;
        access.address[..4].copy_from_slice(&[9000, 128, 5, 255]);
        lines.add(&access);
        lines.add(&access);
        assert_eq!(lines.addresses().collect::<Vec<_>>(), [128, 8960]);
        assert_eq!(lines.count(), 2);
    }

    #[test]
    fn the_table_has_a_row_for_every_workload_and_size_in_order_and_no_other() {
        // Counting `paper` takes long, so its rows may be missing.
        let is_there = |(name, size): &(&str, Size)| *size != Size::Paper || measured(name, *size).is_some();
        let expected = all().iter().flat_map(|w| Size::ALL.map(|size| (w.name(), size))).filter(is_there);
        let found = rows(TABLE).map(|(name, size, _)| (name, size));
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "run the example measure_workloads"
        );
        assert_eq!(table(rows(TABLE)), TABLE);
    }

    #[test]
    fn lines_are_counted_once_and_shared_memory_has_none() {
        let text = ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {\n\
                    .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b32 s[32];\n\
                    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8;\n\
                    add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;\n\
                    mov.u32 %r3, s; st.shared.u32 [%r3], %r2; ret; }\n";
        let module = Module::parse("k.ptx", text).unwrap();
        let mut memory = DeviceMemory::new();
        let address = memory.alloc(512, "p").unwrap();
        let launch = Launch {
            kernel: "k".into(),
            dims: LaunchDims::new([1, 1, 1], [64, 1, 1]),
            args: vec![Arg::Ptr(address)],
        };
        let mut meter = Meter::default();
        for launches in 1..=2 {
            meter.launch(&module, &launch, &mut memory).unwrap();
            // Two warps of nine instructions, three of them memory instructions. 64 words, eight bytes apart, lie in
            // four lines.
            let expected = WorkloadWork {
                launches,
                warp_instructions: launches * 18,
                memory_instructions: launches * 6,
                lines: 4,
            };
            assert_eq!(meter.measured(), expected);
        }
    }
}
