// Clusters: shared memory of other blocks, the cluster's barrier, and messages to mbarriers of other blocks.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/ptx>
#include <vector>

namespace cg = cooperative_groups;

static int failures = 0;

static void check(bool holds, const char *what)
{
    if (!holds) {
        printf("failed: %s (%s)\n", what, cudaGetErrorString(cudaGetLastError()));
        failures++;
    }
}

static const int THREADS = 128;

// Each block reads the numbers of the next block of its cluster, in three rounds.
__global__ void __cluster_dims__(4, 1, 1) rotate(int *out)
{
    __shared__ int numbers[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    int mine = blockIdx.x * THREADS + threadIdx.x;
    int *next = cluster.map_shared_rank(numbers, (cluster.block_rank() + 1) % cluster.num_blocks());
    for (int round = 0; round < 3; round++) {
        numbers[threadIdx.x] = mine;
        cluster.sync();
        mine = next[threadIdx.x];
        cluster.sync();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = mine;
}

// A histogram whose counters are in the shared memory of the whole cluster.
__global__ void histogram(const int *values, int count, int *bins, int per_block)
{
    extern __shared__ int counters[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int bin = threadIdx.x; bin < per_block; bin += blockDim.x)
        counters[bin] = 0;
    cluster.sync();
    int blocks = cluster.num_blocks();
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) {
        int bin = values[at] % (per_block * blocks);
        atomicAdd(cluster.map_shared_rank(counters, bin / per_block) + bin % per_block, 1);
    }
    cluster.sync();
    int *mine = bins + cluster.block_rank() * per_block;
    for (int bin = threadIdx.x; bin < per_block; bin += blockDim.x)
        atomicAdd(mine + bin, counters[bin]);
}

// Block 0 of a cluster waits until every block has stored its number in block 0 with st.async.
__global__ void __cluster_dims__(2, 2, 1) gather(int *out)
{
    __shared__ int slots[4];
    __shared__ uint64_t arrived;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    if (rank == 0 && threadIdx.x == 0) {
        cuda::ptx::mbarrier_init(&arrived, 1);
        cuda::ptx::mbarrier_arrive_expect_tx(
            cuda::ptx::sem_release, cuda::ptx::scope_cluster, cuda::ptx::space_shared, &arrived, 16);
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        int *slot = cluster.map_shared_rank(slots + rank, 0);
        uint64_t *barrier = cluster.map_shared_rank(&arrived, 0);
        cuda::ptx::st_async(slot, int(100 * (blockIdx.y * gridDim.x + blockIdx.x) + rank), barrier);
    }
    if (rank == 0) {
        while (!cuda::ptx::mbarrier_try_wait_parity(&arrived, 0)) {
        }
        int cluster_number = blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2;
        if (threadIdx.x < 4)
            out[4 * cluster_number + threadIdx.x] = slots[threadIdx.x];
    }
    cluster.sync();
}

// The facts of a block about its cluster.
__global__ void __cluster_dims__(2, 1, 2) facts(unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    dim3 index = cluster.block_index(), blocks = cluster.dim_blocks();
    __shared__ int here;
    unsigned *mine = out + 8 * (blockIdx.x + gridDim.x * blockIdx.z);
    mine[0] = cluster.block_rank();
    mine[1] = index.x + 10 * index.y + 100 * index.z;
    mine[2] = blocks.x + 10 * blocks.y + 100 * blocks.z;
    mine[3] = cluster.num_threads();
    mine[4] = cluster.thread_rank();
    mine[5] = cluster.query_shared_rank(cluster.map_shared_rank(&here, 3));
    mine[6] = __isGlobal(mine) && !__isShared(mine) && __isShared(&here);
    mine[7] = __isClusterShared(cluster.map_shared_rank(&here, 1));
    cluster.sync();
}

// One warp sends, and exits before its copy has arrived. Block 2 arrives and exits, and must not count for the others.
__global__ void __cluster_dims__(3, 1, 1) early_exits(int *out, const int *input)
{
    __shared__ alignas(128) int tile[32];
    __shared__ uint64_t arrived;
    __shared__ int late;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        late = 0;
        cuda::ptx::mbarrier_init(&arrived, 1);
    }
    cluster.sync();
    if (threadIdx.x == 32) {
        cuda::ptx::mbarrier_arrive_expect_tx(
            cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &arrived, sizeof(tile));
        cuda::ptx::cp_async_bulk(
            cuda::ptx::space_cluster, cuda::ptx::space_global, tile, input + 32 * rank, sizeof(tile), &arrived);
        cluster.barrier_arrive();
        return;
    }
    if (threadIdx.x > 32) {
        cluster.barrier_arrive();
        return;
    }
    while (!cuda::ptx::mbarrier_try_wait_parity(&arrived, 0)) {
    }
    out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
    if (rank == 1 && threadIdx.x == 0) {
        long long start = clock64();
        while (clock64() - start < 5000) {
        }
        *cluster.map_shared_rank(&late, 0) = 7;
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0)
        out[1000 + blockIdx.x] = late;
}

// Lanes of a warp pass the barrier on different paths.
__global__ void __cluster_dims__(2, 1, 1) diverged(int *out)
{
    int rounds = 0;
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x % 2) {
            asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
            rounds += 1;
        } else {
            asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
            rounds += 100;
        }
    }
    out[blockIdx.x * 32 + threadIdx.x] = rounds;
}

// A dependent chain of loads from the shared memory of block `from`, whose cycles `out` gets.
__global__ void chase(unsigned *out, unsigned from, unsigned rounds)
{
    __shared__ unsigned next[32];
    cg::cluster_group cluster = cg::this_cluster();
    next[threadIdx.x] = (threadIdx.x + 1) % 32;
    cluster.sync();
    if (cluster.block_rank() == 0) {
        const unsigned *there = cluster.map_shared_rank(next, from);
        unsigned at = threadIdx.x, before = clock();
        for (unsigned round = 0; round < rounds; round++)
            at = there[at];
        unsigned after = clock();
        if (threadIdx.x == 0)
            out[0] = (after - before) / rounds;
        out[1 + threadIdx.x] = at;
    }
    cluster.sync();
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(void (*kernel)(Parameters...), int blocks, int threads, int shared, int cluster,
                          Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {unsigned(cluster), 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename Value>
static std::vector<Value> fetched(const Value *from, int count)
{
    std::vector<Value> values(count);
    check(cudaMemcpy(values.data(), from, count * sizeof(Value), cudaMemcpyDeviceToHost) == cudaSuccess, "a copy");
    return values;
}

int main(int argc, char **)
{
    int *numbers;
    cudaMalloc(&numbers, 1 << 20);

    rotate<<<8, THREADS>>>(numbers);
    auto rotated = fetched(numbers, 8 * THREADS);
    bool all = true;
    for (int block = 0; block < 8; block++)
        for (int thread = 0; thread < THREADS; thread++)
            all &= rotated[block * THREADS + thread] == (block / 4 * 4 + (block + 3) % 4) * THREADS + thread;
    check(all, "three rotations in clusters of four");

    std::vector<int> values(10000);
    for (int at = 0; at < 10000; at++)
        values[at] = int(1103515245u * at >> 8 & 0xffff);
    for (int cluster = 1; cluster <= 8; cluster *= 2) {
        int *bins = numbers, *input = numbers + 4096, per_block = 512 / cluster;
        cudaMemset(bins, 0, 512 * sizeof(int));
        cudaMemcpy(input, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
        check(launch(histogram, 16, THREADS, per_block * int(sizeof(int)), cluster, (const int *)input, 10000, bins,
                     per_block) == cudaSuccess, "a launch with clusters");
        std::vector<int> expected(512);
        for (int value : values)
            expected[value % 512]++;
        check(fetched(bins, 512) == expected, "a histogram in the shared memory of a cluster");
    }

    gather<<<dim3(4, 4), 32>>>(numbers);
    auto gathered = fetched(numbers, 16);
    all = true;
    for (int cluster = 0; cluster < 4; cluster++)
        for (int rank = 0; rank < 4; rank++) {
            int x = cluster % 2 * 2 + rank % 2, y = cluster / 2 * 2 + rank / 2;
            all &= gathered[4 * cluster + rank] == 100 * (y * 4 + x) + rank;
        }
    check(all, "stores to the shared memory of block 0 that an mbarrier counts");

    facts<<<dim3(4, 1, 2), 64>>>((unsigned *)numbers);
    auto told = fetched((unsigned *)numbers, 64);
    all = true;
    for (unsigned z = 0; z < 2; z++)
        for (unsigned x = 0; x < 4; x++) {
            const unsigned *of = &told[8 * (x + 4 * z)];
            unsigned rank = x % 2 + 2 * z;
            all &= of[0] == rank && of[1] == x % 2 + 100 * z && of[2] == 212 && of[3] == 256 && of[5] == 3;
            all &= of[4] / 64 == rank && of[6] == 1 && of[7] == 1;
        }
    check(all, "what a block knows about its cluster");

    std::vector<int> input(96);
    for (int at = 0; at < 96; at++)
        input[at] = 3 * at + 1;
    cudaMemcpy(numbers + 4096, input.data(), 96 * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(numbers, 0, 4096 * sizeof(int));
    early_exits<<<6, 64>>>(numbers, numbers + 4096);
    auto exits = fetched(numbers, 1004);
    all = exits[1000] == 7 && exits[1003] == 7;
    for (int at = 0; at < 192; at++)
        all &= exits[at] == input[at % 96];
    check(all, "warps that exit before their copies and the barrier");

    diverged<<<4, 32>>>(numbers);
    auto rounds = fetched(numbers, 128);
    all = true;
    for (int at = 0; at < 128; at++)
        all &= rounds[at] == (at % 2 ? 2 : 200);
    check(all, "lanes that pass the barrier on different paths");

    unsigned latency[2];
    for (unsigned from = 0; from < 2; from++) {
        check(launch(chase, 2, 32, 0, 2, (unsigned *)numbers, from, 64u) == cudaSuccess, "a chain of loads");
        auto chain = fetched((unsigned *)numbers, 33);
        latency[from] = chain[0];
        check(chain[1] == 0 && chain[32] == 31, "the end of a chain of loads");
    }
    if (argc > 1)
        printf("a load takes %u cycles in the own block, %u cycles in the other\n", latency[0], latency[1]);

    int supported = 0, largest = 0, active = 0;
    cudaDeviceGetAttribute(&supported, cudaDevAttrClusterLaunch, 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(16);
    config.blockDim = dim3(THREADS);
    check(cudaOccupancyMaxPotentialClusterSize(&largest, chase, &config) == cudaSuccess, "the largest cluster");
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {8, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaOccupancyMaxActiveClusters(&active, chase, &config) == cudaSuccess, "the number of clusters");
    check(supported == 1 && largest == 8 && active > 0, "clusters are supported");
    int per_sm = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rotate, THREADS, 0) == cudaSuccess && per_sm > 0,
          "the occupancy of a kernel that demands clusters");
    config.numAttrs = 0;
    check(cudaOccupancyMaxPotentialClusterSize(&largest, rotate, &config) == cudaSuccess && largest == 4,
          "the cluster that a kernel demands");
    check(launch(chase, 16, 32, 0, 16, (unsigned *)numbers, 0u, 1u) == cudaErrorInvalidClusterSize,
          "a cluster of 16 blocks needs an attribute");
    cudaGetLastError();
    cudaFuncSetAttribute(chase, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    check(launch(chase, 16, 32, 0, 16, (unsigned *)numbers, 0u, 1u) == cudaSuccess, "a cluster of 16 blocks");
    check(launch(chase, 32, 32, 0, 32, (unsigned *)numbers, 0u, 1u) != cudaSuccess, "a cluster of 32 blocks is refused");
    cudaGetLastError();
    check(launch(chase, 3, 32, 0, 2, (unsigned *)numbers, 0u, 1u) != cudaSuccess, "half a cluster is refused");
    cudaGetLastError();

    printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
    return failures != 0;
}
