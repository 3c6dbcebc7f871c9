// A particle filter that follows a bright disc in a video, in double precision as Rodinia's particlefilter_float.
//
// Rodinia normalises, adds up and spreads in one kernel, whose blocks race for the sum and for the first position.
// Here these are three kernels, so that the results do not depend on the order of the blocks.
#define THREADS 512
#define LAST 2147483647

union Bits {
    double number;
    long long whole;
};

// Natural logarithm of a positive normal number.
__device__ static double logarithm(double x)
{
    Bits bits = {x};
    int exponent = (int)(bits.whole >> 52) - 1023;
    bits.whole = (bits.whole & 0xfffffffffffffLL) | 0x3ff0000000000000LL;
    if (bits.number > 1.4142135623730951) {
        bits.number *= 0.5;
        exponent++;
    }
    double t = (bits.number - 1.0) / (bits.number + 1.0);
    double square = t * t;
    double series = 1.0 / 23.0;
#pragma unroll
    for (int term = 21; term > 0; term -= 2)
        series = __builtin_fma(series, square, 1.0 / term);
    return __builtin_fma(exponent, 0.6931471805599453, 2.0 * t * series);
}

// Cosine of `turns` full turns.
__device__ static double cosine(double turns)
{
    double half_turns = __builtin_rint(2.0 * turns);
    double angle = (turns - 0.5 * half_turns) * 6.283185307179586;
    double square = angle * angle;
    double series = 1.0;
#pragma unroll
    for (int term = 24; term > 0; term -= 2)
        series = __builtin_fma(series * square, -1.0 / (term * (term - 1)), 1.0);
    return (int)half_turns & 1 ? -series : series;
}

// Exponential function of a number between -700 and 700.
__device__ static double exponential(double x)
{
    double power = __builtin_rint(x * 1.4426950408889634);
    double rest = __builtin_fma(power, -0.6931471805599453, x);
    rest = __builtin_fma(power, -2.3190468138462996e-17, rest);
    double series = 1.0;
#pragma unroll
    for (int term = 14; term > 0; term--)
        series = __builtin_fma(series * rest, 1.0 / term, 1.0);
    Bits scale;
    scale.whole = (long long)((int)power + 1023) << 52;
    return series * scale.number;
}

// Advances a seed and returns a number in [0, 1].
__device__ static double uniform(int *seed, int at)
{
    int next = (int)(1103515245u * (unsigned)seed[at] + 12345u);
    seed[at] = next % LAST;
    return __builtin_fabs(seed[at] / (double)LAST);
}

// Draws from the normal distribution by the method of Box and Muller.
__device__ static double normal(int *seed, int at)
{
    double u = uniform(seed, at);
    double v = uniform(seed, at);
    return __nvvm_sqrt_rn_d(-2.0 * logarithm(u)) * cosine(v);
}

__device__ static double truncated(double x)
{
    return (int)x;
}

// Moves each particle, compares the pixels around it with object and background, and weighs it by its likelihood.
// `indices` has a row of `ones` pixel numbers per particle. Each block adds up its weights in shared memory.
extern "C" __global__ void particle_likelihood(double *x, double *y, const double *from_x, const double *from_y,
                                               int *indices, const int *disc, double *likelihood,
                                               const unsigned char *video, double *weights, int *seed, double *sums,
                                               int count, int ones, int pixels, int frame, int height, int frames)
{
    __shared__ double buffer[THREADS];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) {
        x[i] = from_x[i];
        y[i] = from_y[i];
        weights[i] = 1 / (double)count;
        x[i] = x[i] + 1.0 + 5.0 * normal(seed, i);
        y[i] = y[i] - 2.0 + 2.0 * normal(seed, i);
    }
    __syncthreads();
    if (i < count) {
        for (int one = 0; one < ones; one++) {
            int at_x = (int)(truncated(x[i]) + disc[one * 2 + 1]);
            int at_y = (int)(truncated(y[i]) + disc[one * 2]);
            indices[i * ones + one] = __builtin_abs(at_x * height * frames + at_y * frames + frame);
            if (indices[i * ones + one] >= pixels)
                indices[i * ones + one] = 0;
        }
        double sum = 0.0;
        for (int one = 0; one < ones; one++) {
            double from_background = video[indices[i * ones + one]] - 100;
            double from_object = video[indices[i * ones + one]] - 228;
            sum += (from_background * from_background - from_object * from_object) / 50.0;
        }
        likelihood[i] = sum;
        likelihood[i] = likelihood[i] / ones;
        weights[i] = weights[i] * exponential(likelihood[i]);
    }
    buffer[threadIdx.x] = 0.0;
    __syncthreads();
    if (i < count)
        buffer[threadIdx.x] = weights[i];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            buffer[threadIdx.x] += buffer[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = buffer[0];
}

// One thread adds up the sums of all blocks.
extern "C" __global__ void particle_sum(double *sums, int blocks)
{
    if (blockDim.x * blockIdx.x + threadIdx.x == 0) {
        double sum = 0.0;
        for (int block = 0; block < blocks; block++)
            sum += sums[block];
        sums[0] = sum;
    }
}

extern "C" __global__ void particle_normalize(double *weights, const double *sums, int count)
{
    __shared__ double sum;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = sums[0];
    __syncthreads();
    if (i < count)
        weights[i] = weights[i] / sum;
}

// One thread adds up the weights of all particles, from the first on, and draws the first position.
extern "C" __global__ void particle_accumulate(const double *weights, double *running, double *position, int *seed,
                                               int count)
{
    if (blockDim.x * blockIdx.x + threadIdx.x == 0) {
        running[0] = weights[0];
        for (int other = 1; other < count; other++)
            running[other] = weights[other] + running[other - 1];
        position[0] = (1 / (double)count) * uniform(seed, 0);
    }
}

// Spreads positions evenly from the first on.
extern "C" __global__ void particle_spread(double *position, int count)
{
    __shared__ double first;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0)
        first = position[0];
    __syncthreads();
    if (i < count && i > 0)
        position[i] = first + i / (double)count;
}

// Each thread looks for the first running sum that reaches its position, from the beginning.
extern "C" __global__ void particle_find(const double *x, const double *y, const double *running,
                                         const double *position, double *next_x, double *next_y, int count)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) {
        int chosen = count - 1;
        for (int other = 0; other < count; other++) {
            if (running[other] >= position[i]) {
                chosen = other;
                break;
            }
        }
        next_x[i] = x[chosen];
        next_y[i] = y[chosen];
    }
}
