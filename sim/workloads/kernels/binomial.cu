// Prices of call options by a binomial tree of 256 steps: one block per option, which goes through the tree from its
// leaves to its root in shared memory.
#define STEPS 256

extern "C" __global__ void binomial(const float *stock, const float *strike, const float *up_factor, float *price,
                                    float up_share, float down_share)
{
    __shared__ float value[STEPS + 1];
    int option = blockIdx.x;
    int thread = threadIdx.x;
    float factor = up_factor[option];
    float down = 1.0f / factor;
    // The stock's price at leaf `thread` of the tree: so many steps up, all others down.
    float at_leaf = stock[option];
    for (int step = 0; step < STEPS; step++)
        at_leaf *= step < thread ? factor : down;
    float gain = at_leaf - strike[option];
    value[thread] = gain > 0.0f ? gain : 0.0f;
    if (thread == 0) {
        float at_top = stock[option];
        for (int step = 0; step < STEPS; step++)
            at_top *= factor;
        float top_gain = at_top - strike[option];
        value[STEPS] = top_gain > 0.0f ? top_gain : 0.0f;
    }
    for (int left = STEPS; left > 0; left--) {
        __syncthreads();
        float mean = 0.0f;
        if (thread < left)
            mean = up_share * value[thread + 1] + down_share * value[thread];
        __syncthreads();
        if (thread < left)
            value[thread] = mean;
    }
    if (thread == 0)
        price[option] = value[0];
}
