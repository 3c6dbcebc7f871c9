// Two kernels, of which one has an instruction that the simulator does not execute. It is launched only where an argument is given.
#include <cstdio>

__global__ void good(int *out)
{
    out[threadIdx.x] = threadIdx.x * 7;
}

__global__ void bad(unsigned *out)
{
    unsigned sum;
    asm("vmad.u32.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(out[1]), "r"(out[2]), "r"(0));
    out[0] = sum;
}

int main(int argc, char **)
{
    int *device;
    int host[32] = {};
    cudaMalloc(&device, sizeof host);
    if (argc > 1)
        bad<<<1, 1>>>(reinterpret_cast<unsigned *>(device));
    good<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %s\n", host[31], cudaGetErrorName(cudaGetLastError()));
}
