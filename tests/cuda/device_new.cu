// new and delete in kernels: objects that one launch makes and another one uses.
#include "check.h"

struct Particle {
    int id, steps;
    __device__ Particle(int id) : id(id), steps(0) {}
    __device__ void step() { steps += id; }
};

__global__ void make(Particle **all) { all[threadIdx.x] = new Particle(threadIdx.x); }

__global__ void step(Particle **all) { all[threadIdx.x]->step(); }

__global__ void collect(Particle **all, int *out) {
    out[threadIdx.x] = all[threadIdx.x]->steps;
    delete all[threadIdx.x];
}

int main() {
    Particle **all;
    int *out;
    CUDA(cudaMalloc(&all, 32 * sizeof(Particle *)));
    CUDA(cudaMalloc(&out, 32 * sizeof(int)));
    make<<<1, 32>>>(all);
    for (int i = 0; i < 5; i++) step<<<1, 32>>>(all);
    collect<<<1, 32>>>(all, out);
    auto got = from_device(out, 32);
    for (int i = 0; i < 32; i++) DEMAND(got[i] == 5 * i);
    std::printf("particles agree\n");
    return 0;
}
