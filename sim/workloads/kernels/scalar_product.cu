// Scalar products of many pairs of vectors of `length` elements: one block per pair, which adds up in shared memory.
#define THREADS 128

extern "C" __global__ void scalar_product(const float *a, const float *b, float *products, int length)
{
    __shared__ float sums[THREADS];
    int thread = threadIdx.x;
    const float *left = a + blockIdx.x * length;
    const float *right = b + blockIdx.x * length;
    float sum = 0.0f;
    for (int element = thread; element < length; element += THREADS)
        sum += left[element] * right[element];
    sums[thread] = sum;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            sums[thread] += sums[thread + half];
    }
    if (thread == 0)
        products[blockIdx.x] = sums[0];
}
