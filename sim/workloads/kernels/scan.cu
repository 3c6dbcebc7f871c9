// Exclusive prefix sums of a large array, in three kernels: sums within blocks, sums over the blocks' totals, and their
// addition. A block takes 512 elements, two per thread, by an up-sweep and a down-sweep of a tree in shared memory.
#define THREADS 256
#define ELEMENTS (2 * THREADS)

extern "C" __global__ void scan_block(const unsigned *from, unsigned *to, unsigned *totals, int count)
{
    __shared__ unsigned tree[ELEMENTS];
    int thread = threadIdx.x;
    int base = blockIdx.x * ELEMENTS;
    int low = base + thread, high = base + thread + THREADS;
    tree[thread] = low < count ? from[low] : 0;
    tree[thread + THREADS] = high < count ? from[high] : 0;
    int step = 1;
    for (int active = THREADS; active > 0; active /= 2) {
        __syncthreads();
        if (thread < active)
            tree[step * (2 * thread + 2) - 1] += tree[step * (2 * thread + 1) - 1];
        step *= 2;
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[ELEMENTS - 1];
        tree[ELEMENTS - 1] = 0;
    }
    for (int active = 1; active <= THREADS; active *= 2) {
        step /= 2;
        __syncthreads();
        if (thread < active) {
            int left = step * (2 * thread + 1) - 1, right = step * (2 * thread + 2) - 1;
            unsigned before = tree[left];
            tree[left] = tree[right];
            tree[right] += before;
        }
    }
    __syncthreads();
    if (low < count)
        to[low] = tree[thread];
    if (high < count)
        to[high] = tree[thread + THREADS];
}

extern "C" __global__ void scan_add(const unsigned *before, unsigned *to, int count)
{
    int element = blockIdx.x * ELEMENTS + threadIdx.x;
    if (element < count)
        to[element] += before[blockIdx.x];
    if (element + THREADS < count)
        to[element + THREADS] += before[blockIdx.x];
}
