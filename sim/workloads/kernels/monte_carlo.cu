// Prices of call options by Monte Carlo: one block per option, whose threads add up the gains over drawn price paths.
#pragma clang fp contract(off)
#define THREADS 128

// Sums of the gains and of their squares. Samples are normally distributed; rates are per power of two.
extern "C" __global__ void monte_carlo(const float *stock, const float *strike, const float *drift,
                                       const float *volatility, const float *samples, float *sums, float *squares,
                                       int count)
{
    __shared__ float shared_sum[THREADS];
    __shared__ float shared_square[THREADS];
    int option = blockIdx.x;
    int thread = threadIdx.x;
    float from = stock[option], wanted = strike[option];
    float mean = drift[option], spread = volatility[option];
    float sum = 0.0f, square = 0.0f;
    for (int sample = thread; sample < count; sample += THREADS) {
        float growth = __nvvm_ex2_approx_f(__builtin_fmaf(spread, samples[sample], mean));
        float gain = from * growth - wanted;
        gain = gain > 0.0f ? gain : 0.0f;
        sum += gain;
        square = __builtin_fmaf(gain, gain, square);
    }
    shared_sum[thread] = sum;
    shared_square[thread] = square;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            shared_sum[thread] += shared_sum[thread + half];
            shared_square[thread] += shared_square[thread + half];
        }
    }
    if (thread == 0) {
        sums[option] = shared_sum[0];
        squares[option] = shared_square[0];
    }
}

// The discounted mean gain and the half-width of its interval of 95 percent confidence. One thread per option.
extern "C" __global__ void monte_carlo_price(const float *sums, const float *squares, const float *discount,
                                             float *price, float *confidence, int samples, int options)
{
    int option = blockIdx.x * blockDim.x + threadIdx.x;
    if (option >= options)
        return;
    float count = (float)samples;
    float mean = sums[option] / count;
    float variance = (squares[option] - mean * sums[option]) / (count - 1.0f);
    price[option] = discount[option] * mean;
    confidence[option] = 1.96f * discount[option] * __nvvm_sqrt_rn_f(variance / count);
}
