// Histogram of the high six bits of bytes, as the CUDA samples' histogram64, with its counters behind the L1D.
//
// The samples keep the counters in shared memory; here each block has its part of `counters` in global memory.
#define BINS 64
#define THREADS 64
#define MERGE_THREADS 256

struct alignas(16) Words {
    unsigned word[4];
};

// Counts in one-byte counters, one per thread and bin: a thread may count 255 bytes at most.
extern "C" __global__ void histogram_count(unsigned *partial, const Words *data, unsigned char *counters,
                                           unsigned count, unsigned blocks)
{
    unsigned thread = threadIdx.x;
    unsigned char *block = counters + blockIdx.x * (THREADS * BINS);
    // Neighbouring threads count in different words; four threads share a word.
    unsigned char *own = block + ((thread & 15) << 2 | thread >> 4);
#pragma unroll
    for (int part = 0; part < BINS / 4; part++)
        ((unsigned *)block)[thread + part * THREADS] = 0;
    __syncthreads();
    for (unsigned at = blockIdx.x * THREADS + thread; at < count; at += THREADS * blocks) {
        Words four = data[at];
#pragma unroll
        for (int word = 0; word < 4; word++)
#pragma unroll
            for (int shift = 2; shift < 32; shift += 8)
                own[(four.word[word] >> shift & 63) * THREADS]++;
    }
    __syncthreads();
    const unsigned char *bin = block + thread * THREADS;
    unsigned sum = 0;
    unsigned at = 4 * (thread & 15);
#pragma unroll
    for (int four = 0; four < THREADS / 4; four++) {
        sum += bin[at] + bin[at + 1] + bin[at + 2] + bin[at + 3];
        at = (at + 4) & (THREADS - 1);
    }
    partial[blockIdx.x * BINS + thread] = sum;
}

// Adds up one bin of all blocks' counts. One block per bin.
extern "C" __global__ void histogram_merge(unsigned *bins, const unsigned *partial, unsigned blocks)
{
    __shared__ unsigned sums[MERGE_THREADS];
    unsigned thread = threadIdx.x;
    unsigned sum = 0;
    for (unsigned block = thread; block < blocks; block += MERGE_THREADS)
        sum += partial[blockIdx.x + block * BINS];
    sums[thread] = sum;
    for (unsigned half = MERGE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            sums[thread] += sums[thread + half];
    }
    if (thread == 0)
        bins[blockIdx.x] = sums[0];
}
