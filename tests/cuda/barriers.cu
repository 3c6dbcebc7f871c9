// Barriers and pipelines of libcu++: threads and asynchronous copies arrive at objects in shared memory.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int THREADS = 128, TILES = 6, STAGES = 2;
#pragma nv_diag_suppress static_var_with_dynamic_init

// All threads copy a tile, wait for it, and read what others have copied.
__global__ void sum_tiles(const int *in, int *out) {
    __shared__ int tile[THREADS];
    __shared__ Barrier barrier;
    cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    int sum = 0;
    for (int i = 0; i < TILES; i++) {
        cuda::memcpy_async(block, tile, in + i * THREADS, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        sum += tile[(threadIdx.x * 7 + i) % THREADS];
        Barrier::arrival_token token = barrier.arrive();
        barrier.wait(std::move(token));
    }
    out[threadIdx.x] = sum;
}

// The copies of the next tile overlap the work on this one.
__global__ void pipelined(const int *in, int *out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    extern __shared__ int tiles[];
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int compute = 0, fetch = 0; compute < TILES; compute++) {
        for (; fetch < TILES && fetch < compute + STAGES; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tiles + fetch % STAGES * THREADS, in + fetch * THREADS, sizeof(int) * THREADS, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[compute * THREADS + threadIdx.x] = 2 * tiles[compute % STAGES * THREADS + (threadIdx.x + 1) % THREADS];
        pipe.consumer_release();
    }
}

// Warp 0 produces, warp 1 consumes, and each waits for the other. Objects 0 and 1 mean empty, 2 and 3 mean full.
__global__ void specialized(const int *in, int *out) {
    __shared__ int tiles[2][32];
    __shared__ Barrier barriers[4];
    if (threadIdx.x < 4) init(&barriers[threadIdx.x], 64);
    __syncthreads();
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < TILES; i++) {
            barriers[i % 2].arrive_and_wait();
            tiles[i % 2][lane] = in[i * 32 + lane] + 1;
            (void)barriers[2 + i % 2].arrive();
        }
    } else {
        (void)barriers[0].arrive();
        (void)barriers[1].arrive();
        for (int i = 0; i < TILES; i++) {
            barriers[2 + i % 2].arrive_and_wait();
            out[i * 32 + lane] = tiles[i % 2][31 - lane] * 3;
            (void)barriers[i % 2].arrive();
        }
    }
}

// Three of four warps leave after the first phase.
__global__ void leaving(int *out) {
    __shared__ Barrier barrier;
    __shared__ int phases;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        phases = 0;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        atomicAdd(&phases, 1);
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    int before = phases;
    barrier.arrive_and_wait();
    out[threadIdx.x] = before;
}

// A thread copies a tile to shared memory and back, where the GPU has bulk copies.
__global__ void bulk(const int *in, int *out) {
#if __CUDA_ARCH__ >= 900
    namespace ptx = cuda::ptx;
    __shared__ alignas(128) int tile[THREADS];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < TILES; i++) {
        Barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile, in + i * THREADS, cuda::aligned_size_t<16>(sizeof tile), barrier);
            token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
        } else {
            token = barrier.arrive();
        }
        barrier.wait(std::move(token));
        tile[threadIdx.x] += i;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * THREADS, tile, sizeof tile);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
#else
    for (int i = 0; i < TILES; i++) out[i * THREADS + threadIdx.x] = in[i * THREADS + threadIdx.x] + i;
#endif
}

int main() {
    const int count = TILES * THREADS;
    std::vector<int> start(count), none(count, -1);
    for (int i = 0; i < count; i++) start[i] = i * i % 1009;
    int *in = on_device(start), *out = on_device(none);
    sum_tiles<<<1, THREADS>>>(in, out);
    std::vector<int> found = from_device(out, count);
    for (int t = 0; t < THREADS; t++) {
        int sum = 0;
        for (int i = 0; i < TILES; i++) sum += start[i * THREADS + (t * 7 + i) % THREADS];
        DEMAND(found[t] == sum);
    }
    pipelined<<<1, THREADS, STAGES * THREADS * sizeof(int)>>>(in, out);
    found = from_device(out, count);
    for (int i = 0; i < count; i++) DEMAND(found[i] == 2 * start[i / THREADS * THREADS + (i + 1) % THREADS]);
    specialized<<<1, 64>>>(in, out);
    found = from_device(out, count);
    for (int i = 0; i < TILES * 32; i++) DEMAND(found[i] == 3 * (start[i / 32 * 32 + 31 - i % 32] + 1));
    leaving<<<1, THREADS>>>(out);
    found = from_device(out, count);
    for (int t = 0; t < 32; t++) DEMAND(found[t] == THREADS - 32);
    bulk<<<1, THREADS>>>(in, out);
    found = from_device(out, count);
    for (int i = 0; i < count; i++) DEMAND(found[i] == start[i] + i / THREADS);
    CUDA(cudaDeviceSynchronize());
    std::printf("all phases ended\n");
    return 0;
}
