//! Runs microbenchmarks on a GPU: short PTX of known instructions, on memory that the benchmark lays out.
use super::measurement::FidelityError;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::dram::{BankMap, Location};
use selvedge_gpu::gpu::{Control, Gpu};
use selvedge_gpu::partition::AddressMap;
use selvedge_gpu::parts::Parts;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_gpu::snapshot::Snapshot;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Arg, LaunchDims, Module};
use std::fmt::Display;
use std::sync::Arc;

/// A fresh GPU, with the checker of DRAM commands, and its memory.
pub struct FidelityBench {
    gpu: Gpu,
    memory: DeviceMemory,
    config: Arc<GpuConfig>,
}

fn unfit(why: impl Display) -> FidelityError {
    FidelityError::Unfit(why.to_string())
}

fn fault(why: impl Display) -> FidelityError {
    FidelityError::Fault(why.to_string())
}

/// Returns the PTX of a kernel with `body`. It has a pointer parameter in `%rd1` and the thread's index in the grid in `%r1`.
fn kernel(body: &str) -> String {
    format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .pred %p<2>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<4>;\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
         mad.lo.s32 %r1, %r2, %r3, %r1;\n{body}\nret;\n}}\n"
    )
}

impl FidelityBench {
    /// Creates the GPU of this configuration.
    pub fn new(config: &Arc<GpuConfig>) -> Self {
        let parts = Parts::none(config);
        let mut gpu = Gpu::new(config, parts, Arc::new(Control::default()));
        gpu.system_mut().check_dram(true);
        FidelityBench { gpu, memory: DeviceMemory::new(), config: Arc::clone(config) }
    }

    /// Runs a kernel with `body` and returns its duration in core cycles.
    pub fn run(&mut self, body: &str, grid: u32, block: u32, pointer: u64) -> Result<u64, FidelityError> {
        self.launch(&kernel(body), grid, block, pointer)
    }

    /// Runs one cluster of `ctas` CTAs of a kernel with `body`, and returns its duration in core cycles.
    pub fn run_cluster(&mut self, body: &str, ctas: u32, block: u32) -> Result<u64, FidelityError> {
        let demand = format!("(.param .u64 p) .reqnctapercluster {ctas}, 1, 1");
        self.launch(&kernel(body).replace("(.param .u64 p)", &demand), ctas, block, 0)
    }

    /// Runs a kernel of one warp that returns at once, and returns its duration in core cycles.
    pub fn run_empty(&mut self) -> Result<u64, FidelityError> {
        let text =
            ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {\nret;\n}\n";
        self.launch(text, 1, 32, 0)
    }

    fn launch(&mut self, text: &str, grid: u32, block: u32, pointer: u64) -> Result<u64, FidelityError> {
        let module = Module::parse("microbenchmark", text).map_err(unfit)?;
        let kernel = module.kernel("k").ok_or_else(|| unfit("the microbenchmark has no kernel"))?;
        let params = kernel.pack(&[Arg::Ptr(pointer)]).map_err(unfit)?;
        let dims = LaunchDims::new([grid, 1, 1], [block, 1, 1]);
        let launched = LaunchedKernel::new(kernel, dims, params, 0, self.gpu.config()).map_err(unfit)?;
        let before = self.gpu.cycle();
        self.gpu.run(launched, &mut self.memory).map_err(fault)?;
        match self.gpu.system().dram_violation() {
            Some(violation) => Err(fault(violation)),
            None => Ok(self.gpu.cycle() - before),
        }
    }

    /// Returns the counters of all runs so far.
    pub fn snapshot(&self) -> Snapshot {
        self.gpu.snapshot()
    }

    /// Allocates a buffer of zeros and returns its address.
    pub fn buffer(&mut self, bytes: u64) -> Result<u64, FidelityError> {
        self.memory.alloc(bytes, "microbenchmark").map_err(unfit)
    }

    pub fn point(&mut self, place: u64, target: u64) -> Result<(), FidelityError> {
        self.memory.write(place, &target.to_le_bytes()).map_err(unfit)
    }

    /// Links `places` into a ring: each holds the address of the next, and the last that of the first.
    pub fn chain(&mut self, places: &[u64]) -> Result<(), FidelityError> {
        let next = places.iter().cycle().skip(1);
        for (place, next) in places.iter().zip(next) {
            self.point(*place, *next)?;
        }
        Ok(())
    }

    /// Allocates a buffer with at least `rows` rows in each bank of partition 0, and returns its map of locations to addresses.
    pub fn rows(&mut self, rows: u64) -> Result<RowMap, FidelityError> {
        let (l2, dram) = (&self.config.l2, &self.config.dram);
        let (map, banks) = (AddressMap::new(l2), BankMap::new(dram));
        let row_bytes = u64::from(dram.banks) * u64::from(dram.row_bytes) * map.round();
        // Hashed and prime mappings give some addresses of a round to other partitions: two more rows on either side make up for
        // them.
        let base = self.buffer((rows + 4) * row_bytes)?;
        let first_row = banks.locate(map.local(base)).row + 2;
        Ok(RowMap { map, banks, first_row })
    }
}

/// Map of rows of partition 0 to addresses.
pub struct RowMap {
    map: AddressMap,
    banks: BankMap,
    first_row: u64,
}

impl RowMap {
    /// Returns whether the address belongs to the partition's first slice.
    pub fn is_in_first_slice(&self, address: u64) -> bool {
        self.map.slice(address) == 0
    }

    /// Returns the address of a byte; `row` counts from the buffer's first usable row.
    pub fn address(&self, bank: u32, row: u64, column: u32) -> u64 {
        let place = Location { bank, row: self.first_row + row, column };
        self.map.global(0, self.banks.address(place))
    }
}
