// Tensor maps: a thread copies boxes of a matrix to shared memory and back.
#include "tensor_maps.h"
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int WIDTH = 200, HEIGHT = 50, PITCH = 208, COLUMNS = 32, ROWS = 16;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Each block doubles a box, and copies it to the same coordinates of another matrix.
__global__ void doubled(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(1024) int box[ROWS][COLUMNS];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    int place[2] = {int(blockIdx.x) * COLUMNS, int(blockIdx.y) * ROWS};
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, place,
                                  cuda::device::barrier_native_handle(barrier));
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof box);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(std::move(token));
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) (&box[0][0])[i] *= 2;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, place, box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

// Pieces of 16 bytes are permuted by the number of their row.
__global__ void permuted(const __grid_constant__ CUtensorMap from, int *out) {
    __shared__ alignas(1024) int box[ROWS][COLUMNS];
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int place[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, place,
                                  cuda::device::barrier_native_handle(barrier));
        (void)cuda::device::barrier_arrive_tx(barrier, 1, sizeof box);
    }
    barrier.wait_parity(0);
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x) {
        int row = i / COLUMNS, column = i % COLUMNS;
        out[i] = box[row][(column / 4 ^ row % 8) * 4 + column % 4];
    }
}

CUtensorMap map(Encode encode, int *matrix, CUtensorMapSwizzle swizzle) {
    CUtensorMap made;
    cuuint64_t sides[2] = {WIDTH, HEIGHT}, stride = PITCH * sizeof(int);
    cuuint32_t box[2] = {COLUMNS, ROWS}, steps[2] = {1, 1};
    CUresult done = encode(&made, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, matrix, sides, &stride, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    DEMAND(done == CUDA_SUCCESS);
    return made;
}

int main() {
    Encode encode = encoder();
    std::vector<int> start(PITCH * HEIGHT), none(PITCH * HEIGHT, -1);
    for (int i = 0; i < PITCH * HEIGHT; i++) start[i] = i % 7919;
    int *from = on_device(start), *to = on_device(none), *out = on_device(none);
    CUtensorMap source = map(encode, from, CU_TENSOR_MAP_SWIZZLE_NONE), target = map(encode, to, CU_TENSOR_MAP_SWIZZLE_NONE);
    // The last boxes of a row and of a column reach beyond the matrix.
    doubled<<<dim3((WIDTH + COLUMNS - 1) / COLUMNS, (HEIGHT + ROWS - 1) / ROWS), 64>>>(source, target);
    std::vector<int> copied = from_device(to, PITCH * HEIGHT);
    for (int i = 0; i < PITCH * HEIGHT; i++) DEMAND(copied[i] == (i % PITCH < WIDTH ? 2 * start[i] : -1));
    permuted<<<1, 64>>>(map(encode, from, CU_TENSOR_MAP_SWIZZLE_128B), out);
    std::vector<int> plain = from_device(out, ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) DEMAND(plain[i] == start[i / COLUMNS * PITCH + i % COLUMNS]);
    std::printf("boxes agree\n");
    return 0;
}
