//! A launch, and the environment in which its warps execute.

use crate::clusters;
use crate::memory::DeviceMemory;

/// Number of barriers a CTA has.
pub(crate) const BARRIERS: u32 = 16;

/// Size of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchDims {
    /// CTAs in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y and z.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y and z.
    pub cluster: [u32; 3],
    /// Bytes of `.extern .shared` memory per CTA.
    pub dynamic_shared: u32,
}

impl LaunchDims {
    /// Returns a launch without clusters and dynamic shared memory.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, cluster: [1; 3], dynamic_shared: 0 }
    }

    /// Returns the threads per CTA.
    #[must_use]
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().fold(1u32, |product, &side| product.saturating_mul(side))
    }

    /// Returns the warps per CTA.
    #[must_use]
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// Returns the CTAs of the grid.
    #[must_use]
    #[inline]
    pub fn ctas(&self) -> u64 {
        self.grid.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side)))
    }

    /// Returns the position in the grid of CTA number `index`. Numbers count along x first, cluster by cluster.
    #[must_use]
    pub fn cta(&self, index: u64) -> [u32; 3] {
        if self.cluster == [1; 3] {
            return place(index, self.grid);
        }
        let ctas = u64::from(self.cluster_ctas());
        let clusters = std::array::from_fn(|axis| self.grid[axis] / self.cluster[axis]);
        let (first, inside) = (place(index / ctas, clusters), place(index % ctas, self.cluster));
        std::array::from_fn(|axis| first[axis] * self.cluster[axis] + inside[axis])
    }

    /// Returns the CTAs of a cluster.
    #[must_use]
    pub fn cluster_ctas(&self) -> u32 {
        self.cluster.iter().fold(1, |product: u32, &side| product.saturating_mul(side))
    }

    /// Returns the rank in its cluster of the CTA at a position in the grid.
    #[must_use]
    pub fn rank(&self, cta: [u32; 3]) -> u32 {
        let [x, y, z] = std::array::from_fn(|axis| cta[axis] % self.cluster[axis]);
        x + self.cluster[0] * (y + self.cluster[1] * z)
    }
}

/// Returns the position of element `index` of a box, counted along x first.
fn place(index: u64, sides: [u32; 3]) -> [u32; 3] {
    let [x, y] = [u64::from(sides[0]), u64::from(sides[1])];
    [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
}

/// Environment of a warp that executes an instruction.
#[derive(Debug)]
pub struct Env<'a> {
    /// Global memory.
    pub memory: &'a mut DeviceMemory,
    /// The CTA's shared memory: [`Kernel::shared_bytes`](super::Kernel::shared_bytes) plus [`LaunchDims::dynamic_shared`] bytes.
    pub shared: &'a mut [u8],
    /// Parameter bytes, in the layout of [`Kernel::pack`](super::Kernel::pack).
    pub params: &'a [u8],
    /// Constant bank: [`Kernel::constants`](super::Kernel::constants), or a copy that the host has changed.
    pub constants: &'a [u8],
    /// Size of the launch.
    pub launch: &'a LaunchDims,
    /// Kernel slot of the launch, which requests of the kernel state.
    pub slot: u8,
    /// Value of `%clock64`, in cycles.
    pub clock: u64,
    /// Cycles in a microsecond, for `%globaltimer`.
    pub core_mhz: u32,
    /// Value of `%smid`.
    pub sm: u32,
    /// Value of `%nsmid`.
    pub sms: u32,
}

impl Env<'_> {
    /// Returns `bytes` bytes of the shared memory of the CTA, or of another CTA of its cluster.
    ///
    /// # Errors
    /// Describes the bytes that do not exist.
    #[inline]
    pub(crate) fn shared_at(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], String> {
        if address.saturating_add(bytes) <= self.shared.len() as u64 {
            return Ok(&mut self.shared[address as usize..][..bytes as usize]);
        }
        self.shared_in_cluster(address, bytes)
    }

    #[cold]
    fn shared_in_cluster(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], String> {
        let own = self.rank();
        let rank = clusters::rank(address, own);
        let shared = match self.memory.clusters().current() {
            _ if rank != own => self.memory.clusters_mut().shared_of(rank)?,
            Some(_) => &mut *self.shared,
            None => &mut [],
        };
        let (size, offset) = (shared.len(), address % clusters::RANK_BYTES);
        shared.get_mut(offset as usize..(offset + bytes) as usize).ok_or_else(|| {
            format!(
                "needs {bytes} bytes at shared address {offset:#x}, but the shared memory has {size} bytes"
            )
        })
    }

    /// Checks that `bytes` bytes at a shared address exist. `own` describes the fault of an address in the CTA's own shared memory, whose
    /// size in bytes it gets.
    ///
    /// # Errors
    /// Describes the fault.
    pub(crate) fn check_shared(
        &mut self,
        address: u64,
        bytes: u64,
        own: impl FnOnce(usize) -> String,
    ) -> Result<(), String> {
        let (is_remote, size) = (self.is_remote(address), self.shared.len());
        let checked = self.shared_at(address, bytes).map(|_| ());
        checked.map_err(|what| if is_remote { what } else { own(size) })
    }

    /// Returns the rank of the executing CTA in its cluster.
    pub(crate) fn rank(&self) -> u32 {
        self.memory.clusters().current().map_or(0, |member| member.rank)
    }

    /// Returns whether a shared address belongs to another CTA.
    pub(crate) fn is_remote(&self, address: u64) -> bool {
        let current = self.memory.clusters().current();
        current.is_some_and(|member| clusters::rank(address, member.rank) != member.rank)
    }

    /// Returns the time since cycle 0, in nanoseconds.
    pub(crate) fn nanoseconds(&self) -> u64 {
        (u128::from(self.clock) * 1000 / u128::from(self.core_mhz.max(1))) as u64
    }
}
