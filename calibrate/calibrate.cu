// Microbenchmarks that measure an NVIDIA GPU, or a GPU that `selvedge cuda` simulates. Writes one JSON document.
//
//   nvcc -O2 -cudart shared -gencode arch=compute_80,code=compute_80 calibrate.cu -o calibrate
//   ./calibrate [FILE.json [REPETITIONS [PREFIX]]]
//
// The PTX runs on GPUs from compute capability 8.0 on; 7.5 needs compute_75. Each run is repeated, 5 times by default, and the min
// counts. For a simulated GPU, one repetition suffices; kernels that events measure then do less work. PREFIX restricts the suite to
// kernels whose names begin with it.
//
// Most measurements are the difference between a long and a short run, so that fixed costs cancel. `cycles` are core cycles for `count`
// units. Their source is `clock64`, read by the kernel on its SM, or `event`: time between two events, times the measured core clock.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CUDA(call) \
    do { \
        cudaError_t code = (call); \
        if (code != cudaSuccess) { \
            std::fprintf(stderr, "calibrate: %s: %s\n", #call, cudaGetErrorString(code)); \
            std::exit(2); \
        } \
    } while (0)

using Word = unsigned long long;

static int repetitions = 5;
static FILE *out = stdout;
static std::string prefix;
static bool is_first = true;
static double core_mhz = 0;

// Factor for the work of kernels that events measure. Events of a real GPU have a resolution of about half a microsecond.
static int more_work() {
    return repetitions > 1 ? 32 : 1;
}

static bool chosen(const std::string &name) {
    return name.compare(0, prefix.size(), prefix) == 0;
}

// Writes a measurement. `parameters` and `more` are members of JSON objects.
static void record(const std::string &name, const std::string &parameters, double cycles, double count, const char *unit,
                   const char *source, const std::string &more = "") {
    const char *form = "%s\n    {\"name\": \"%s\", \"parameters\": {%s}, \"cycles\": %.1f, \"count\": %.0f, "
                       "\"unit\": \"%s\", \"source\": \"%s\"%s}";
    std::fprintf(out, form, is_first ? "" : ",", name.c_str(), parameters.c_str(), cycles, count, unit, source, more.c_str());
    std::fflush(out);
    is_first = false;
}

static std::string number(const char *name, Word value) {
    return "\"" + std::string(name) + "\": " + std::to_string(value);
}

__device__ __forceinline__ long long now() {
    long long time;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(time)::"memory");
    return time;
}

// Lets the thread go on when a value is there. No address is 1.
__device__ __forceinline__ void wait_for(Word value) {
    asm volatile("{\n\t.reg .pred is_one;\n\tsetp.eq.u64 is_one, %0, 1;\n\t@is_one trap;\n\t}" ::"l"(value) : "memory");
}

// ---- Arithmetic: a chain of dependent instructions. One warp measures the latency, 32 warps the rate.

// Integer instructions of one latency. Two kinds alternate, because an assembler may merge additions.
struct Int {
    using Value = unsigned;
    static constexpr const char *name = "int";
    static constexpr int per_step = 2;
    static __device__ __forceinline__ void step(unsigned *x, const unsigned *y) {
        asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;" : "+r"(x[0]) : "r"(y[0]), "r"(y[1]));
    }
};
struct IntMultiply {
    using Value = unsigned;
    static constexpr const char *name = "int_multiply";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(unsigned *x, const unsigned *y) {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x[0]) : "r"(y[0]), "r"(y[1]));
    }
};
struct IntDivide {
    using Value = unsigned;
    static constexpr const char *name = "int_divide";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(unsigned *x, const unsigned *y) {
        asm volatile("div.u32 %0, %1, %0;" : "+r"(x[0]) : "r"(y[0]));
    }
};
struct Fp32 {
    using Value = float;
    static constexpr const char *name = "fp32";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(float *x, const float *y) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[0]) : "f"(y[0]), "f"(y[1]));
    }
};
struct Fp32Divide {
    using Value = float;
    static constexpr const char *name = "fp32_divide";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(float *x, const float *y) {
        asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(x[0]) : "f"(y[0]));
    }
};
struct Special {
    using Value = float;
    static constexpr const char *name = "special";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(float *x, const float *) {
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[0]));
    }
};
struct Fp64 {
    using Value = double;
    static constexpr const char *name = "fp64";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(double *x, const double *y) {
        asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x[0]) : "d"(y[0]), "d"(y[1]));
    }
};
struct Fp64Divide {
    using Value = double;
    static constexpr const char *name = "fp64_divide";
    static constexpr int per_step = 1;
    static __device__ __forceinline__ void step(double *x, const double *y) {
        asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(x[0]) : "d"(y[0]));
    }
};

// Matrix products that add to one sum. `ARCHITECTURE` is the oldest with the product; older ones do nothing.
#ifdef __CUDA_ARCH__
#define HAS(ARCHITECTURE) (__CUDA_ARCH__ >= ARCHITECTURE)
#else
#define HAS(ARCHITECTURE) true
#endif
#define PRODUCT(NAME, TEXT, ARCHITECTURE, VALUE, ...) \
    struct NAME { \
        using Value = VALUE; \
        static constexpr const char *name = "tensor_" TEXT; \
        static constexpr int architecture = ARCHITECTURE; \
        static constexpr int per_step = 1; \
        static __device__ __forceinline__ void step(VALUE *x, const VALUE *y) { \
            if constexpr (HAS(10 * ARCHITECTURE)) __VA_ARGS__; \
        } \
    }
__device__ __forceinline__ unsigned bits(float value) { return __float_as_uint(value); }
__device__ __forceinline__ unsigned bits(int value) { return value; }

#define MMA_4_2(FORM, LETTER) \
    asm volatile("mma.sync.aligned." FORM " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                 : "+" LETTER(x[0]), "+" LETTER(x[1]), "+" LETTER(x[2]), "+" LETTER(x[3]) \
                 : "r"(bits(y[0])), "r"(bits(y[1])), "r"(bits(y[2])), "r"(bits(y[3])), "r"(bits(y[4])), "r"(bits(y[5])))
#define MMA_2_1(FORM) \
    asm volatile("mma.sync.aligned." FORM " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
                 : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) \
                 : "r"(bits(y[0])), "r"(bits(y[1])), "r"(bits(y[2])))
#define MMA_FP64(FORM) \
    asm volatile("mma.sync.aligned." FORM " {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(x[0]), "+d"(x[1]) : "d"(y[0]), "d"(y[1]))

PRODUCT(TensorF16, "m16n8k16_f16", 80, float, MMA_4_2("m16n8k16.row.col.f32.f16.f16.f32", "f"));
PRODUCT(TensorF16Short, "m16n8k8_f16", 75, float, MMA_2_1("m16n8k8.row.col.f32.f16.f16.f32"));
PRODUCT(TensorTf32, "m16n8k8_tf32", 80, float, MMA_4_2("m16n8k8.row.col.f32.tf32.tf32.f32", "f"));
PRODUCT(TensorInt8, "m16n8k32_s8", 80, int, MMA_4_2("m16n8k32.row.col.s32.s8.s8.s32", "r"));
PRODUCT(TensorFp64, "m8n8k4_f64", 80, double, MMA_FP64("m8n8k4.row.col.f64.f64.f64.f64"));

// Runs `Steps` steps in every warp of a block, and measures them between two barriers. A store of each result to shared memory makes the
// second barrier wait for the chains. The first pass fills the instruction cache.
template <class Op, int Steps>
__global__ void __launch_bounds__(1024) chain(const typename Op::Value *in, typename Op::Value *result, long long *cycles) {
    using Value = typename Op::Value;
    __shared__ volatile Value place[1024];
    Value x[4], y[6];
    for (int n = 0; n < 4; n++) x[n] = in[n];
    for (int n = 0; n < 6; n++) y[n] = in[4 + n];
    long long start = 0, end = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        place[threadIdx.x] = x[0];
        __syncthreads();
        start = now();
        x[0] = place[threadIdx.x];
#pragma unroll
        for (int step = 0; step < Steps; step++) Op::step(x, y);
        place[threadIdx.x] = x[0];
        __syncthreads();
        end = now();
    }
    if (threadIdx.x == 0) *cycles = end - start;
    result[threadIdx.x] = x[0];
}

// ---- Memory of the suite.

static long long *cycles_on_device;

static long long read_cycles() {
    long long cycles;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&cycles, cycles_on_device, sizeof cycles, cudaMemcpyDeviceToHost));
    return cycles;
}

// Returns the min cycles that a kernel reports.
template <class Launch>
static double least_cycles(Launch launch) {
    double least = 1e300;
    for (int n = 0; n < repetitions; n++) {
        launch();
        CUDA(cudaGetLastError());
        least = std::min(least, double(read_cycles()));
    }
    return least;
}

// Returns the min time of the launches in `work`, in core cycles.
template <class Work>
static double least_time(Work work) {
    cudaEvent_t start, end;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&end));
    float least = 1e30f;
    for (int n = 0; n < repetitions; n++) {
        CUDA(cudaEventRecord(start));
        work();
        CUDA(cudaEventRecord(end));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaGetLastError());
        float time;
        CUDA(cudaEventElapsedTime(&time, start, end));
        least = std::min(least, time);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(end));
    return least * core_mhz * 1e3;
}

template <class Op, int Short, int Long>
static void arithmetic(int warps) {
    std::string name = std::string(Op::name) + (warps == 1 ? "_latency" : "_rate");
    if (!chosen(name)) return;
    using Value = typename Op::Value;
    // Factors near 1 keep the values normal.
    std::vector<Value> values(10, Value(1));
    Value *in, *result;
    CUDA(cudaMalloc(&in, values.size() * sizeof(Value)));
    CUDA(cudaMalloc(&result, 1024 * sizeof(Value)));
    CUDA(cudaMemcpy(in, values.data(), values.size() * sizeof(Value), cudaMemcpyHostToDevice));
    double few = least_cycles([&] { chain<Op, Short><<<1, 32 * warps>>>(in, result, cycles_on_device); });
    double many = least_cycles([&] { chain<Op, Long><<<1, 32 * warps>>>(in, result, cycles_on_device); });
    record(name, number("warps", warps), many - few, double(Long - Short) * Op::per_step * warps, "instruction", "clock64");
    CUDA(cudaFree(in));
    CUDA(cudaFree(result));
}

template <class Op>
static void both() {
    arithmetic<Op, 16, 80>(1);
    arithmetic<Op, 16, 80>(32);
}

template <class Op>
static void product(int architecture) {
    if (architecture < Op::architecture) return;
    arithmetic<Op, 4, 20>(1);
    arithmetic<Op, 4, 20>(32);
}

// ---- Clock and launch.

__global__ void spin(long long length, long long *cycles) {
    long long start = now(), end = start;
    while (end - start < length) end = now();
    *cycles = end - start;
}

// Measures the core clock: cycles of the SM over the time between events. Without a measurement, the device's property.
static void clock_of_core(int khz) {
    core_mhz = 1;
    // A real GPU raises its clocks under load.
    auto begin = std::chrono::steady_clock::now();
    while (repetitions > 1 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500)) {
        spin<<<1, 1>>>(1000000, cycles_on_device);
        CUDA(cudaDeviceSynchronize());
    }
    long long lengths[2] = {20000, 20000 + 200000 * more_work()};
    double cycles[2], time[2];
    for (int n = 0; n < 2; n++) {
        time[n] = least_time([&] { spin<<<1, 1>>>(lengths[n], cycles_on_device); });
        cycles[n] = double(read_cycles());
    }
    // `least_time` counts microseconds while the clock is 1 MHz.
    core_mhz = (cycles[1] - cycles[0]) / (time[1] - time[0]);
    if (!(core_mhz > 0)) core_mhz = khz / 1e3;
}

__global__ void nothing() {}

static void launches() {
    if (!chosen("launch")) return;
    auto time = [](int count) {
        return least_time([=] {
            for (int n = 0; n < count; n++) nothing<<<1, 32>>>();
        });
    };
    time(1);
    int count = 16 * more_work();
    double few = time(2), many = time(2 + count);
    record("launch", "", many - few, count, "launch", "event");
}

// ---- Chains of loads. Each word holds the address of the next.

enum Level { L1, L2 };

template <Level level>
__device__ __forceinline__ Word load(Word address) {
    Word value;
    if (level == L1) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    else asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

// Follows the chain for `before` loads, and then measures `count` loads.
template <Level level>
__global__ void chase(Word *first, int before, int count, long long *cycles) {
    Word at = Word(first);
    for (int n = 0; n < before; n++) at = load<level>(at);
    wait_for(at);
    long long start = now();
#pragma unroll 8
    for (int n = 0; n < count; n++) at = load<level>(at);
    wait_for(at);
    *cycles = now() - start;
}

// Links `count` places into a ring: place n holds the address of place n + 1.
__global__ void link(Word *base, Word count, Word stride_words, Word jump) {
    for (Word n = blockIdx.x * Word(blockDim.x) + threadIdx.x; n < count; n += Word(gridDim.x) * blockDim.x) {
        Word here = n * jump % count, next = (n + 1) % count * jump % count;
        base[here * stride_words] = Word(base + next * stride_words);
    }
}

// Links pairs of words `distance` bytes apart into a chain, one pair in each block of `block_words` words.
__global__ void link_pairs(Word *base, Word count, Word block_words, Word distance_words) {
    for (Word n = blockIdx.x * Word(blockDim.x) + threadIdx.x; n < count; n += Word(gridDim.x) * blockDim.x) {
        Word *here = base + n * block_words, *next = base + (n + 1) % count * block_words;
        here[0] = Word(here + distance_words);
        here[distance_words] = Word(next);
    }
}

// Reads a buffer with the whole GPU past the L1D, `passes` times.
__global__ void stream(const float4 *base, Word count, int passes, float *sum) {
    float total = 0;
    for (int pass = 0; pass < passes; pass++) {
#pragma unroll 4
        for (Word n = blockIdx.x * Word(blockDim.x) + threadIdx.x; n < count; n += Word(gridDim.x) * blockDim.x) {
            float4 value;
            asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                         : "l"(base + n));
            total += value.x + value.y + value.z + value.w;
        }
    }
    if (total == 1.2345f) *sum = total;
}

// Follows a chain of `count` loads from `last`, and counts the loads that hit in the level. A hit takes less than the time of the first
// load plus `slack`. The block fills the L1D first, in the opposite order, so that the loads before the first miss evict nothing. It uses
// no shared memory, which could take space of the L1D. Stores the hits and the cycles of all loads.
template <Level level>
__global__ void resident(const Word *base, Word *last, int count, int slack, long long *results) {
    for (int n = threadIdx.x; level == L1 && n < count; n += blockDim.x) wait_for(load<L1>(Word(base + 16 * n)));
    __syncthreads();
    if (threadIdx.x > 0) return;
    Word at = Word(last);
    long long first = 0, total = 0, hits = 0;
    for (int n = 0; n < count; n++) {
        long long start = now();
        at = load<level>(at);
        wait_for(at);
        long long time = now() - start;
        if (n == 0) first = time;
        hits += time < first + slack;
        total += time;
    }
    results[0] = hits;
    results[1] = total;
}

static int sms, blocks;
static Word l2_bytes;
static Word *buffer, *other;
static Word buffer_bytes;

// Evicts everything from the L2, although sets get different numbers of lines.
static void flush() {
    stream<<<blocks, 256>>>((const float4 *)other, 2 * l2_bytes / 16, 1, (float *)cycles_on_device);
    CUDA(cudaDeviceSynchronize());
}

static double l1d_latency, l2_latency, dram_latency;

template <Level level>
static double latency(const char *name, Word bytes, Word stride, Word jump, int before, int count) {
    Word places = bytes / stride;
    double cycles = least_cycles([&] {
        link<<<64, 64>>>(buffer, places, stride / 8, jump);
        // A first pass would bring the lines to the L2.
        if (before == 0) flush();
        chase<level><<<1, 1>>>(buffer, before, count, cycles_on_device);
    });
    if (chosen(name))
        record(name, number("bytes", bytes) + ", " + number("stride", stride), cycles, count, "load", "clock64");
    return cycles / count;
}

// Measures hits by footprint. Begins with the first multiple of `unit` bytes, and doubles it until a quarter misses.
template <Level level>
static void capacity(const char *name, const char *parameter, Word from, Word most, double unit, double gap) {
    if (!chosen(name)) return;
    CUDA(cudaFuncSetAttribute(resident<level>, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    for (; from <= most; from *= 2) {
        Word bytes = Word(double(from) * unit) / 128 * 128;
        // Of the L2, a sample of the lines, up to the last one.
        Word lines = bytes / 128, count = level == L1 ? lines : std::min<Word>(lines, 1024), stride = lines / count;
        Word *first = buffer + (lines - 1 - (count - 1) * stride) * 16, *last = buffer + (lines - 1) * 16;
        link<<<64, 64>>>(first, count, stride * 16, count - 1);
        if (level == L2) stream<<<sms, 256>>>((const float4 *)buffer, bytes / 16, 1, (float *)cycles_on_device);
        resident<level><<<1, level == L1 ? 64 : 1>>>(buffer, last, count, gap / 2, cycles_on_device);
        CUDA(cudaDeviceSynchronize());
        long long results[2];
        CUDA(cudaMemcpy(results, cycles_on_device, sizeof results, cudaMemcpyDeviceToHost));
        record(name, number(parameter, from), results[1], count, "load", "clock64", ", " + number("hits", results[0]));
        if (results[0] < long(count) * 3 / 4) break;
    }
}

// Measures chains of pairs of words. Both words are absent before. The second hits if the level fetches it with the first.
template <Level level>
static void sectors(const char *name) {
    if (!chosen(name)) return;
    const Word pairs = 64, block = 1024, distances[] = {16, 32, 64, 128, 256, 512};
    // The L2 then has every byte, and not just the words that are written.
    if (level == L1) stream<<<blocks, 256>>>((const float4 *)buffer, 6 * pairs * block / 16, 1, (float *)cycles_on_device);
    Word *region = buffer;
    for (Word distance : distances) {
        link_pairs<<<1, 64>>>(region, pairs, block / 8, distance / 8);
        region += pairs * block / 8;
    }
    if (level == L2) flush();
    region = buffer;
    for (Word distance : distances) {
        chase<level><<<1, 1>>>(region, 0, 2 * pairs, cycles_on_device);
        record(name, number("distance", distance), read_cycles(), 2 * pairs, "load", "clock64");
        region += pairs * block / 8;
    }
}

// ---- Rates of loads.

// Loads one word per lane, `stride` words apart, again and again. All loads hit in the L1D.
__global__ void __launch_bounds__(1024) l1d_loads(const float *base, int stride, int count, long long *cycles, float *sum) {
    const float *mine = base + threadIdx.x % 32 * stride;
    float total = 0, value;
    long long start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = now();
#pragma unroll 8
        for (int n = 0; n < count; n++) {
            asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(value) : "l"(mine) : "memory");
            total += value;
        }
        if (total == 1.2345f) *sum = total;
        __syncthreads();
        end = now();
    }
    if (threadIdx.x == 0) *cycles = end - start;
}

static void l1d_rates() {
    if (!chosen("l1d_rate")) return;
    // 40 words lead neighboring lanes to different sectors of different lines.
    for (int stride : {1, 2, 4, 8, 16, 32, 40}) {
        auto run = [=](int count) {
            return least_cycles([=] { l1d_loads<<<1, 1024>>>((const float *)buffer, stride, count, cycles_on_device, (float *)other); });
        };
        double cycles = run(40) - run(8);
        record("l1d_rate", number("stride", stride * 4), cycles, 32 * 32, "instruction", "clock64");
    }
}

static void stream_rate(const char *name, Word l2_percent) {
    if (!chosen(name)) return;
    Word bytes = l2_bytes * l2_percent / 100 / 128 * 128;
    auto time = [=](int passes) {
        return least_time([=] { stream<<<blocks, 256>>>((const float4 *)other, bytes / 16, passes, (float *)cycles_on_device); });
    };
    // Without a hit, no pass differs from the first.
    bool hits = l2_percent < 100;
    if (hits) time(1);
    int passes = (hits ? 2 : 1) * more_work();
    double cycles = time(1 + passes) - time(1);
    record(name, number("l2_percent", l2_percent), cycles, double(passes) * bytes, "byte", "event");
}

// ---- Shared memory: each lane loads the address of its next load. Lanes are `stride` words apart.

__global__ void shared_loads(unsigned stride, int count, long long *cycles) {
    __shared__ volatile unsigned words[32 * 64];
    unsigned at = (unsigned)__cvta_generic_to_shared((void *)&words[threadIdx.x * stride]);
    words[threadIdx.x * stride] = at;
    long long start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = now();
#pragma unroll 8
        for (int n = 0; n < count; n++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
        words[threadIdx.x * stride] = at;
        __syncthreads();
        end = now();
    }
    if (threadIdx.x == 0) *cycles = end - start;
}

static void shared_latencies() {
    if (!chosen("shared_latency")) return;
    for (unsigned stride = 1; stride <= 64; stride *= 2) {
        auto run = [=](int count) { return least_cycles([=] { shared_loads<<<1, 32>>>(stride, count, cycles_on_device); }); };
        record("shared_latency", number("stride", stride * 4), run(80) - run(16), 64, "load", "clock64");
    }
}

// ---- Atomics.

__global__ void atomic_chain(unsigned *word, unsigned zero, int count, long long *cycles) {
    unsigned old = atomicAdd(word, 0) & zero;
    wait_for(old);
    long long start = now();
    for (int n = 0; n < count; n++) old = atomicAdd(word, old) & zero;
    wait_for(old);
    *cycles = now() - start;
}

// Adds from `lanes` lanes of each warp to consecutive words.
__global__ void atomics(unsigned *words, int lanes, int count, unsigned *sum) {
    unsigned lane = threadIdx.x % 32, total = 0, old;
    if (lane >= lanes) return;
#pragma unroll 4
    for (int n = 0; n < count; n++) {
        asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(words + lane) : "memory");
        total += old;
    }
    if (total == 1) *sum = total;
}

static void atomic_rates() {
    unsigned *words = (unsigned *)buffer;
    if (chosen("atomic_latency")) {
        auto run = [=](int count) { return least_cycles([=] { atomic_chain<<<1, 1>>>(words, 0, count, cycles_on_device); }); };
        record("atomic_latency", "", run(80) - run(16), 64, "atomic", "clock64");
    }
    if (!chosen("atomic_rate")) return;
    for (int lanes : {1, 32}) {
        int warps = std::min(sms, 16) * 8;
        auto time = [=](int count) {
            return least_time([=] { atomics<<<warps / 8, 256>>>(words, lanes, count, (unsigned *)other); });
        };
        int count = 32 * more_work();
        double cycles = time(8 + count) - time(8);
        record("atomic_rate", number("words", lanes), cycles, double(count) * warps * lanes, "operation", "event");
    }
}

static int attribute(cudaDeviceAttr of) {
    int value;
    CUDA(cudaDeviceGetAttribute(&value, of, 0));
    return value;
}

int main(int count, char **words) {
    if (count > 1 && !(out = std::fopen(words[1], "w"))) {
        std::perror(words[1]);
        return 2;
    }
    if (count > 2) repetitions = std::max(1, std::atoi(words[2]));
    if (count > 3) prefix = words[3];
    cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    int runtime, driver, core_khz = attribute(cudaDevAttrClockRate);
    CUDA(cudaRuntimeGetVersion(&runtime));
    CUDA(cudaDriverGetVersion(&driver));
    sms = properties.multiProcessorCount;
    blocks = sms * (properties.maxThreadsPerMultiProcessor / 256);
    l2_bytes = properties.l2CacheSize;
    buffer_bytes = std::max<Word>(4 * l2_bytes, 64 << 20);
    CUDA(cudaMalloc(&cycles_on_device, 64));
    CUDA(cudaMalloc(&buffer, buffer_bytes));
    CUDA(cudaMalloc(&other, std::max<Word>(2 * l2_bytes, 1 << 20)));
    clock_of_core(core_khz);
    int architecture = 10 * properties.major + properties.minor;
    std::fprintf(out,
                 "{\n  \"device\": {\"name\": \"%s\", \"capability\": %d, \"sms\": %d, \"core_khz\": %d, \"memory_khz\": %d, "
                 "\"bus_bits\": %d, \"l2_bytes\": %llu, \"runtime\": %d, \"driver\": %d, \"core_mhz\": %.2f},\n  \"kernels\": [",
                 properties.name, architecture, sms, core_khz, attribute(cudaDevAttrMemoryClockRate),
                 attribute(cudaDevAttrGlobalMemoryBusWidth), l2_bytes, runtime, driver, core_mhz);

    both<Int>();
    both<IntMultiply>();
    arithmetic<IntDivide, 4, 12>(1);
    both<Fp32>();
    arithmetic<Fp32Divide, 4, 12>(1);
    both<Special>();
    both<Fp64>();
    arithmetic<Fp64Divide, 4, 12>(1);
    product<TensorF16>(architecture);
    product<TensorF16Short>(architecture);
    product<TensorTf32>(architecture);
    product<TensorInt8>(architecture);
    product<TensorFp64>(architecture);
    shared_latencies();

    l1d_latency = latency<L1>("l1d_latency", 4096, 128, 1, 64, 512);
    l2_latency = latency<L2>("l2_latency", 16384, 128, 1, 256, 512);
    dram_latency = latency<L2>("dram_latency", 512 * 65664, 65664, 199, 0, 512);
    sectors<L1>("l1d_sector");
    sectors<L2>("l2_sector");
    capacity<L1>("l1d_capacity", "bytes", 8192, 1 << 20, 1, l2_latency - l1d_latency);
    capacity<L2>("l2_capacity", "l2_percent", 50, 400, l2_bytes / 100.0, dram_latency - l2_latency);
    l1d_rates();
    stream_rate("l2_rate", 25);
    stream_rate("dram_rate", 200);
    atomic_rates();
    launches();
    std::fprintf(out, "\n  ]\n}\n");
    return std::fclose(out) == 0 ? 0 : 2;
}
