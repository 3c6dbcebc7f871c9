//! Workloads: kernels that the papers ran, each with its host program, its inputs and a CPU reference.
//!
//! A [`Workload`] is a description and a factory. [`Workload::start`] returns a [`HostProgram`], the host side as a
//! state machine that a simulator drives. It allocates and fills device memory, returns one [`Launch`] after another,
//! and reads flags back between them. Finally it compares the results with the CPU reference. A seeded generator
//! makes the inputs, so that two runs have the same bytes. Some workloads can read a real input file instead. The
//! CUDA C sources and the compiled PTX are in `sim/workloads/kernels/`.
mod atax;
mod backprop;
mod barnes_hut;
mod betweenness;
mod bfs;
mod bfs_worklist;
mod bicg;
mod binomial;
mod btree;
mod check;
mod coloring;
mod conv2d;
mod convolution_separable;
mod covariance;
mod dct;
mod error;
mod fdtd2d;
mod floyd_warshall;
mod gesummv;
mod graph;
mod group;
mod heartwall;
mod histogram;
mod hotspot;
mod input;
#[cfg(test)]
mod input_fuzz;
mod kmeans;
mod laplace;
mod lavamd;
mod lud;
mod map_reduce;
mod matmul;
mod measure;
mod mis;
mod monte_carlo;
mod mst;
mod mummer;
mod mvt;
mod needleman_wunsch;
mod neural_net;
mod octree;
mod pagerank;
mod particle_filter;
mod pathfinder;
mod plan;
pub(crate) mod random;
mod raytrace;
#[cfg(test)]
mod run_tests;
mod scalar_product;
mod scan;
mod similarity;
mod spmv;
mod spmv_jds;
mod srad;
mod sssp;
mod streamcluster;
mod suffix_tree;
mod survey_propagation;
mod syr2k;
mod syrk;
#[cfg(test)]
mod testing;
mod tone_map;
mod transpose;
mod vecadd;
mod walsh;
mod weather;
mod word_count;

use std::path::{Path, PathBuf};

pub use error::WorkloadError;
pub use group::Group;
pub use measure::{Lines, MeasureError, Measured, Meter, TABLE, measure, measured, rows, table};
use selvedge_hw::names;
use selvedge_ptx::memory::DeviceMemory;
pub use selvedge_ptx::ptx::{Arg, LaunchDims};
use strum::{Display, EnumString, VariantNames};

/// Size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = WorkloadError, parse_err_fn = unknown_size)]
pub enum Size {
    /// For tests: at most 100,000 warp instructions.
    Tiny,
    /// For a quick look: at most 1.5 million warp instructions.
    Small,
    /// For comparisons: the papers' access pattern with a footprint above the L2's size, in less than 3 million
    /// cycles.
    Study,
    /// For reproduction: the size that the papers ran.
    Paper,
}

impl Size {
    /// Every size, in ascending order.
    pub const ALL: [Self; 4] = [Self::Tiny, Self::Small, Self::Study, Self::Paper];
}

fn unknown_size(name: &str) -> WorkloadError {
    WorkloadError::UnknownSize { name: name.to_owned() }
}

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Name of the kernel, as its `.entry` in the PTX.
    pub kernel: String,
    /// CTAs, threads per CTA, and dynamic shared memory.
    pub dims: LaunchDims,
    /// Arguments, in the order of the kernel's parameters.
    pub args: Vec<Arg>,
}

/// The host side of a running workload. It is a state machine, so that several can run concurrently.
pub trait HostProgram {
    /// Returns the next launch, or `None` when the program has finished, and on every further call. Must be called at
    /// the start, and again after each returned launch has completed.
    ///
    /// # Errors
    /// [`WorkloadError::Memory`] if device memory is too small for the buffers.
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError>;

    /// Compares the device's results with the CPU reference, which it recomputes from the inputs.
    ///
    /// # Errors
    /// [`WorkloadError::Mismatch`] for the first difference; [`WorkloadError::Unfinished`] before [`HostProgram::next`] has
    /// returned `None`.
    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError>;

    /// Returns whether [`HostProgram::verify`] has expected results to compare with.
    fn checks(&self) -> bool {
        true
    }

    /// Returns the files to write after [`HostProgram::next`] has returned `None`.
    ///
    /// # Errors
    /// [`WorkloadError::Memory`] if their contents are not in device memory.
    fn outputs(&self, _memory: &DeviceMemory) -> Result<Vec<OutputFile>, WorkloadError> {
        Ok(Vec::new())
    }
}

/// A file that the host program writes at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

/// Workloads with races: their threads relax, claim or insert items concurrently.
const RACING: [&str; 6] = ["betweenness", "bfs_worklist", "mis", "mst", "sssp", "word_count"];

/// A kernel that the papers ran, with everything needed to run it.
pub trait Workload: Sync {
    /// Returns the name, as users type it.
    fn name(&self) -> &'static str;

    /// Returns a description of the computation in one line.
    fn summary(&self) -> &'static str;

    /// Returns the papers that ran this algorithm, with their name for it, in one line.
    fn papers(&self) -> &'static str;

    /// Returns the kind of program.
    fn group(&self) -> Group;

    /// Returns the name and text of the PTX file.
    fn ptx(&self) -> (&'static str, &'static str);

    /// Returns the problem dimensions and bytes of device memory at `size`, in one line.
    fn description(&self, size: Size) -> String;

    /// Returns the kind of input file that can replace the generated input.
    fn input(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether the execution races. A thread's reads then depend on the order of other threads' writes, which
    /// every mechanism changes. Instruction counts differ slightly between mechanisms; results do not.
    fn races(&self) -> bool {
        RACING.contains(&self.name())
    }

    /// Returns the files that are read for `input`: the file and its companion, if any.
    fn inputs(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.to_path_buf()]
    }

    /// Returns a host program at its start. `input` is a file in the format of the real benchmark that replaces the
    /// generated input. `size` then only sets values that the file leaves open, such as the number of time steps.
    ///
    /// # Errors
    /// [`WorkloadError::NoInput`] if the workload reads no file; [`WorkloadError::Unreadable`] or
    /// [`WorkloadError::BadInput`] if the file is unreadable or malformed.
    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError>;
}

/// Returns all built-in workloads, in the order of tables.
pub fn all() -> &'static [&'static dyn Workload] {
    &[
        &vecadd::VecAdd,
        &atax::Atax,
        &bicg::BICG,
        &mvt::MVT,
        &gesummv::GESUMMV,
        &syrk::SYRK,
        &syr2k::SYR2K,
        &covariance::COVARIANCE,
        &matmul::MATMUL,
        &matmul::MM3,
        &conv2d::CONV2D,
        &fdtd2d::FDTD2D,
        &tone_map::TONE_MAP,
        &transpose::TRANSPOSE,
        &pathfinder::PATHFINDER,
        &needleman_wunsch::NEEDLEMAN_WUNSCH,
        &spmv::SPMV,
        &lud::LUD,
        &floyd_warshall::FLOYD_WARSHALL,
        &laplace::LAPLACE,
        &histogram::HISTOGRAM,
        &scalar_product::SCALAR_PRODUCT,
        &scan::SCAN,
        &walsh::WALSH,
        &backprop::BACKPROP,
        &srad::SRAD,
        &srad::SRAD_TILED,
        &streamcluster::STREAMCLUSTER,
        &particle_filter::PARTICLE_FILTER,
        &convolution_separable::CONVOLUTION_SEPARABLE,
        &dct::DCT,
        &binomial::BINOMIAL,
        &similarity::SIMILARITY,
        &btree::BTREE,
        &word_count::WORD_COUNT,
        &survey_propagation::SURVEY_PROPAGATION,
        &barnes_hut::BARNES_HUT,
        &raytrace::RAYTRACE,
        &lavamd::LAVAMD,
        &mummer::MUMMER,
        &monte_carlo::MONTE_CARLO,
        &neural_net::NEURAL_NET,
        &weather::WEATHER,
        &spmv_jds::SPMV_JDS,
        &heartwall::HEARTWALL,
        &map_reduce::INVERTED_INDEX,
        &map_reduce::PAGE_VIEW_COUNT,
        &map_reduce::PAGE_VIEW_RANK,
        &sssp::SSSP,
        &pagerank::PAGERANK,
        &betweenness::BETWEENNESS,
        &mis::MIS,
        &coloring::COLORING,
        &mst::MST,
        &bfs_worklist::BFS_WORKLIST,
        &bfs::Bfs,
        &hotspot::Hotspot,
        &kmeans::KMeans,
    ]
}

/// Returns the workload called `name`.
///
/// # Errors
/// [`WorkloadError::UnknownWorkload`] with the nearest names.
pub fn find(name: &str) -> Result<&'static dyn Workload, WorkloadError> {
    let found = all().iter().copied().find(|workload| workload.name() == name);
    found.ok_or_else(|| WorkloadError::UnknownWorkload {
        name: name.to_owned(),
        allowed: names::allowed(
            name,
            all().iter().map(|workload| workload.name()),
            "selvedge list workloads",
        ),
    })
}

/// Returns a launch of `kernel` over `threads` threads in a row, in blocks of `block` threads. The last block may
/// exceed `threads`; the kernels check this.
fn launch_row(kernel: &str, threads: usize, block: u32, args: Vec<Arg>) -> Launch {
    let blocks = (threads as u32).div_ceil(block);
    Launch { kernel: kernel.to_owned(), dims: LaunchDims::new([blocks, 1, 1], [block, 1, 1]), args }
}

/// Returns a launch of `kernel` over a plane of `threads` threads, in blocks of `block`. The last blocks of each
/// direction may exceed the plane; the kernels check this.
fn launch_grid(kernel: &str, threads: [usize; 2], block: [u32; 2], args: Vec<Arg>) -> Launch {
    let blocks = [0, 1].map(|axis| (threads[axis] as u32).div_ceil(block[axis]));
    let dims = LaunchDims::new([blocks[0], blocks[1], 1], [block[0], block[1], 1]);
    Launch { kernel: kernel.to_owned(), dims, args }
}

/// Returns an argument of type `int`. Workloads keep counts below 2^31.
fn int(count: usize) -> Arg {
    Arg::U32(count as u32)
}

/// Allocates a buffer called `name`, fills it with `values` and returns its device address.
fn place_f32s(memory: &mut DeviceMemory, name: &str, values: &[f32]) -> Result<u64, WorkloadError> {
    let address = memory.alloc(size_of_val(values) as u64, name)?;
    memory.write_f32s(address, values)?;
    Ok(address)
}

/// Allocates a buffer called `name`, fills it with 32-bit `values` and returns its device address.
fn place_words(memory: &mut DeviceMemory, name: &str, values: &[u32]) -> Result<u64, WorkloadError> {
    let address = memory.alloc(size_of_val(values) as u64, name)?;
    memory.write_u32s(address, values)?;
    Ok(address)
}

/// Returns an error if a workload that reads no file is given an input file.
fn no_input(workload: &'static str, input: Option<&Path>) -> Result<(), WorkloadError> {
    input.map_or(Ok(()), |file| {
        Err(WorkloadError::NoInput { file: file.display().to_string(), workload, allowed: with_input() })
    })
}

/// Returns the names of the workloads that read an input file.
fn with_input() -> String {
    let names = all().iter().filter(|workload| workload.input().is_some()).map(|workload| workload.name());
    names.collect::<Vec<_>>().join(", ")
}

/// Describes the number of computed terms of each sum, if it is limited.
fn of_each_sum(terms: Option<usize>) -> String {
    terms.map_or_else(String::new, |terms| format!(", {terms} terms of each sum"))
}

/// Describes the bytes of device memory.
fn mebibytes(bytes: usize) -> String {
    format!("{:.2} MiB on the device", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_refused() {
        for workload in all() {
            assert_eq!(find(workload.name()).unwrap().name(), workload.name());
        }
        let refused = find("vecsub").err().unwrap().to_string();
        assert!(refused.starts_with("unknown workload 'vecsub': must be one of "), "{refused}");
        assert!(refused.contains("nearest vecadd, "), "{refused}");
        assert_eq!(all().iter().filter(|workload| workload.races()).count(), RACING.len());
    }

    /// Expected names from the tables of the papers: LATTE-CC's III, LAMAR's 3, Dai's 2.
    #[test]
    fn a_papers_short_name_leads_to_the_workload_that_it_means() {
        for (name, words) in [
            ("pathfinder", "LATTE-CC (PTH)"),
            ("particle_filter", "LATTE-CC (PF)"),
            ("word_count", "LATTE-CC (WC)"),
            ("histogram", "Dai, chapter 2 (HST)"),
            ("scalar_product", "Dai, chapter 2 (SCP)"),
            ("streamcluster", "LAMAR (SCLST)"),
        ] {
            let papers = find(name).unwrap().papers();
            assert!(papers.contains(words), "{name}: {papers}");
        }
    }

    #[test]
    fn sizes_are_lower_case_words() {
        for size in Size::ALL {
            assert_eq!(size.to_string().parse::<Size>().unwrap(), size);
        }
        let refused = "Tiny".parse::<Size>().unwrap_err().to_string();
        assert_eq!(refused, "unknown size 'Tiny': must be tiny, small, study, paper");
    }
}
