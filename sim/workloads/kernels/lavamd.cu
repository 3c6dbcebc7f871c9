// Potential and forces of particles in boxes, each on those of its own and of the neighbouring boxes. One block per box,
// one thread per particle; a neighbour's particles lie in shared memory while they act.
//
// Box b has particles b * per_box to b * per_box + per_box - 1; its neighbours, itself among them, are neighbour[first[b]]
// to neighbour[first[b + 1]].
#pragma clang fp contract(off)
#define MOST 128

// A particle's place; a force, and the potential in `v`.
struct alignas(16) Four {
    float v, x, y, z;
};

// The places' v is half of the square of their distance from the origin.
extern "C" __global__ void lavamd(const int *first, const int *neighbour, const Four *places, const float *charges,
                                  Four *forces, float decay, int per_box)
{
    __shared__ Four there[MOST];
    __shared__ float charge[MOST];
    int box = blockIdx.x;
    int thread = threadIdx.x;
    bool acts = thread < per_box;
    int own = box * per_box + (acts ? thread : 0);
    Four here = places[own];
    Four sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int at = first[box]; at < first[box + 1]; at++) {
        int other = neighbour[at] * per_box + thread;
        if (acts) {
            there[thread] = places[other];
            charge[thread] = charges[other];
        }
        __syncthreads();
        for (int i = 0; acts && i < per_box; i++) {
            float product =
                __builtin_fmaf(here.x, there[i].x, __builtin_fmaf(here.y, there[i].y, here.z * there[i].z));
            float distance = here.v + there[i].v - product;
            float potential = charge[i] * __nvvm_ex2_approx_f(distance * decay);
            float pull = 2.0f * potential;
            sum.v = sum.v + potential;
            sum.x = __builtin_fmaf(pull, here.x - there[i].x, sum.x);
            sum.y = __builtin_fmaf(pull, here.y - there[i].y, sum.y);
            sum.z = __builtin_fmaf(pull, here.z - there[i].z, sum.z);
        }
        __syncthreads();
    }
    if (acts)
        forces[own] = sum;
}
