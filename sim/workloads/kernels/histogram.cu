// Histogram of bytes: each block counts in shared memory with atomic additions, then adds its counts to the result.
#define BINS 256

extern "C" __global__ void histogram(const unsigned *data, unsigned *bins, int words)
{
    __shared__ unsigned counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        counts[bin] = 0;
    __syncthreads();
    int stride = 64 * blockDim.x;
    for (int word = blockIdx.x * blockDim.x + threadIdx.x; word < words; word += stride) {
        unsigned four = data[word];
        for (int byte = 0; byte < 4; byte++)
            __nvvm_atom_add_gen_i((int *)&counts[four >> (8 * byte) & 255], 1);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x)
        if (counts[bin] > 0)
            __nvvm_atom_add_gen_i((int *)&bins[bin], (int)counts[bin]);
}
