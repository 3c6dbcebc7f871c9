// Products of warp groups: each block multiplies tiles of two matrices that it copies by tensor maps, while the next tiles arrive.
#include "tensor_maps.h"
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_fp16.h>

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int M = 128, N = 192, K = 320, TILE = 64, STAGES = 2;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Describes a tile whose rows have 128 bytes, with the swizzle of 128 bytes.
__device__ uint64_t described(const __half *tile) {
    uint64_t address = (uint64_t)__cvta_generic_to_shared(tile) >> 4;
    return address | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

// sums += a (64 x 16) * b (16 x 64)
__device__ void multiply(float (&sums)[32], uint64_t a, uint64_t b) {
    float *d = sums;
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
                 "%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                   "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                   "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                   "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}

__global__ void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *out) {
    __shared__ alignas(1024) __half rows[STAGES][TILE * TILE];
    __shared__ alignas(1024) __half columns[STAGES][TILE * TILE];
    __shared__ Barrier full[STAGES];
    if (threadIdx.x == 0) {
        for (Barrier &barrier : full) init(&barrier, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    auto load = [&](int step) {
        int stage = step % STAGES, row[2] = {step * TILE, int(blockIdx.y) * TILE}, column[2] = {step * TILE, int(blockIdx.x) * TILE};
        auto handle = cuda::device::barrier_native_handle(full[stage]);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, rows[stage], &a, row, handle);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, columns[stage], &b, column, handle);
        (void)cuda::device::barrier_arrive_tx(full[stage], 1, 2 * sizeof rows[0]);
    };
    float sums[32] = {};
    if (threadIdx.x == 0) load(0);
    for (int step = 0; step < K / TILE; step++) {
        if (threadIdx.x == 0 && step + 1 < K / TILE) load(step + 1);
        full[step % STAGES].wait_parity(step / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < TILE; k += 16)
            multiply(sums, described(rows[step % STAGES]) + k / 8, described(columns[step % STAGES]) + k / 8);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int lane = threadIdx.x % 32, row = blockIdx.y * TILE + threadIdx.x / 32 * 16 + lane / 4, column = blockIdx.x * TILE + lane % 4 * 2;
    for (int i = 0; i < 32; i++) out[(row + i / 2 % 2 * 8) * N + column + i / 4 * 8 + i % 2] = sums[i];
}

CUtensorMap map(Encode encode, __half *matrix, int height) {
    CUtensorMap made;
    cuuint64_t sides[2] = {K, cuuint64_t(height)}, stride = K * sizeof(__half);
    cuuint32_t box[2] = {TILE, TILE}, steps[2] = {1, 1};
    CUresult done = encode(&made, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, sides, &stride, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    DEMAND(done == CUDA_SUCCESS);
    return made;
}

int main() {
    std::vector<__half> a(M * K), b(N * K);
    // Small integers: all sums are exact.
    auto left = [](int row, int k) { return (row * 5 + k * 3 + row * k / 7) % 9 - 4; };
    auto right = [](int column, int k) { return (column * 7 + k + column * k / 5) % 7 - 3; };
    for (int i = 0; i < M * K; i++) a[i] = __float2half(float(left(i / K, i % K)));
    for (int i = 0; i < N * K; i++) b[i] = __float2half(float(right(i / K, i % K)));
    float *out = on_device(std::vector<float>(M * N, -1));
    product<<<dim3(N / TILE, M / TILE), 128>>>(map(encoder(), on_device(a), M), map(encoder(), on_device(b), N), out);
    std::vector<float> products = from_device(out, M * N);
    for (int i = 0; i < M * N; i++) {
        int sum = 0;
        for (int k = 0; k < K; k++) sum += left(i / N, k) * right(i % N, k);
        DEMAND(products[i] == sum);
    }
    std::printf("products agree\n");
    return 0;
}
