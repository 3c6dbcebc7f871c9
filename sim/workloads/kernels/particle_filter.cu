// Steps of a particle filter: normalised weights and their running sums, then each particle's successor.

// Each thread divides by the sum of all weights, which it adds up from the blocks' sums.
extern "C" __global__ void particle_normalize(float *weights, const float *block_sums, int blocks, int count)
{
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle < count) {
        float sum = 0.0f;
        for (int block = 0; block < blocks; block++)
            sum += block_sums[block];
        weights[particle] = weights[particle] / sum;
    }
}

// Each thread looks for the first running sum that reaches its position, from the beginning.
extern "C" __global__ void particle_find(const float *running, const float *position, const float *x, const float *y,
                                         float *next_x, float *next_y, int count)
{
    int particle = blockIdx.x * blockDim.x + threadIdx.x;
    if (particle < count) {
        int chosen = count - 1;
        for (int other = 0; other < count; other++) {
            if (running[other] >= position[particle]) {
                chosen = other;
                break;
            }
        }
        next_x[particle] = x[chosen];
        next_y[particle] = y[chosen];
    }
}
