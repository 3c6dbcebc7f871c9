// Scalar products of many pairs of vectors, as the CUDA samples' scalarProd: each block takes every n-th pair.
#define SUMS 1024

// Adds up `sums`, with as many terms per sum as fit, then the sums in pairs.
__device__ static void products_of(float *products, const float *a, const float *b, float *sums, int pairs, int length,
                                   int blocks)
{
    for (int pair = blockIdx.x; pair < pairs; pair += blocks) {
        int begin = length * pair;
        int end = begin + length;
        for (int sum = threadIdx.x; sum < SUMS; sum += blockDim.x) {
            float total = 0.0f;
            for (int at = begin + sum; at < end; at += SUMS)
                total += a[at] * b[at];
            sums[sum] = total;
        }
        for (int half = SUMS / 2; half > 0; half >>= 1) {
            __syncthreads();
            for (int sum = threadIdx.x; sum < half; sum += blockDim.x)
                sums[sum] += sums[half + sum];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            products[pair] = sums[0];
    }
}

extern "C" __global__ void scalar_product(float *products, const float *a, const float *b, int pairs, int length,
                                          int blocks)
{
    __shared__ float sums[SUMS];
    products_of(products, a, b, sums, pairs, length, blocks);
}

// The same with the sums behind the L1D: each block has its part of `sums` in global memory.
extern "C" __global__ void scalar_product_cached(float *products, const float *a, const float *b, int pairs, int length,
                                                 int blocks, float *sums)
{
    products_of(products, a, b, sums + blockIdx.x * SUMS, pairs, length, blocks);
}
