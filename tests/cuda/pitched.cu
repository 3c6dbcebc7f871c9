// Rows with a pitch, in two and three dimensions: copies, fills, and a kernel that walks over them.
#include "check.h"

__global__ void transpose(const int *in, size_t in_pitch, int *out, size_t out_pitch) {
    int x = threadIdx.x, y = threadIdx.y;
    int value = *(const int *)((const char *)in + y * in_pitch + x * sizeof(int));
    *(int *)((char *)out + x * out_pitch + y * sizeof(int)) = value;
}

int main() {
    int host[4][16], back[16][4];
    for (int i = 0; i < 64; i++) host[i / 16][i % 16] = i;
    int *a, *b;
    size_t pa, pb;
    CUDA(cudaMallocPitch(&a, &pa, sizeof host[0], 4));
    CUDA(cudaMallocPitch(&b, &pb, sizeof back[0], 16));
    DEMAND(pa % 256 == 0 && pb % 256 == 0);
    CUDA(cudaMemset2D(b, pb, 0xff, sizeof back[0], 16));
    CUDA(cudaMemcpy2D(a, pa, host, sizeof host[0], sizeof host[0], 4, cudaMemcpyHostToDevice));
    transpose<<<1, dim3(16, 3)>>>(a, pa, b, pb);
    CUDA(cudaMemcpy2D(back, sizeof back[0], b, pb, sizeof back[0], 16, cudaMemcpyDeviceToHost));
    for (int x = 0; x < 16; x++)
        for (int y = 0; y < 4; y++) DEMAND(back[x][y] == (y < 3 ? host[y][x] : -1));

    cudaPitchedPtr volume;
    cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
    CUDA(cudaMalloc3D(&volume, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 4 * sizeof(int), 4, 3);
    copy.dstPtr = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    int plane[3][4];
    CUDA(cudaMemcpy2D(plane, sizeof plane[0], (char *)volume.ptr + 3 * volume.pitch, volume.pitch, sizeof plane[0], 3,
                      cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++) DEMAND(plane[i / 4][i % 4] == 12 + i);
    // Fills three words of two rows of each plane, and leaves the other words.
    CUDA(cudaMemset3D(volume, 0x11, make_cudaExtent(3 * sizeof(int), 2, 2)));
    CUDA(cudaMemcpy2D(plane, sizeof plane[0], (char *)volume.ptr + 3 * volume.pitch, volume.pitch, sizeof plane[0], 3,
                      cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++) DEMAND(plane[i / 4][i % 4] == (i / 4 < 2 && i % 4 < 3 ? 0x11111111 : 12 + i));
    std::printf("rows agree\n");
    return 0;
}
