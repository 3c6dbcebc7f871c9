// The map stage of a MapReduce program in the form of Mars. A record is a key and a value; an entry of its index says where
// both lie. One thread per record: a first pass counts what each thread emits, prefix sums say where it goes, and a second
// pass emits it byte by byte.
//
// The including source defines what a thread does with its record.
#pragma once
#define THREADS 256
#define SCANNED (2 * THREADS)

struct alignas(16) Entry {
    int key, key_size, value, value_size;
};

struct alignas(8) Emitted {
    int key, value;
};

struct alignas(16) Four {
    float x, y, z, w;
};

// What each thread emits: bytes of keys, bytes of values, records.
struct Sizes {
    int *keys, *values, *records;
};

// Where it goes.
struct Output {
    const int *keys_before, *values_before, *records_before;
    Emitted *emitted;
    char *keys, *values;
    Entry *index;
    int *records;
};

__device__ static void count_record(const char *key, const char *value, const Sizes &sizes);
__device__ static void map_record(char *key, const char *value, char *scratch, const Output &to);

__device__ static int global_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static void emit_size(const Sizes &sizes, int key_size, int value_size)
{
    int thread = global_thread();
    sizes.keys[thread] += key_size;
    sizes.values[thread] += value_size;
    sizes.records[thread]++;
}

// Threads that emit one record each wait for each other before.
__device__ static void emit(const Output &to, const char *key, const char *value, int key_size, int value_size)
{
    int thread = global_thread();
    Emitted emitted = to.emitted[thread];
    char *to_key = to.keys + to.keys_before[thread] + emitted.key;
    char *to_value = to.values + to.values_before[thread] + emitted.value;
    for (int byte = 0; byte < key_size; byte++)
        to_key[byte] = key[byte];
    for (int byte = 0; byte < value_size; byte++)
        to_value[byte] = value[byte];
    emitted.key += key_size;
    emitted.value += value_size;
    to.emitted[thread] = emitted;

    int records = to.records[thread];
    int at = records + to.records_before[thread];
    Entry entry = to.index[at];
    if (records != 0) {
        Entry before = to.index[at - 1];
        entry.key = before.key + before.key_size;
        entry.value = before.value + before.value_size;
    }
    entry.key_size = key_size;
    entry.value_size = value_size;
    to.index[at] = entry;
    to.records[thread] = records + 1;
}

extern "C" __global__ void map_count(const char *keys, const char *values, const Entry *index, int *key_sizes,
                                     int *value_sizes, int *records, int count)
{
    int record = global_thread();
    if (record >= count)
        return;
    Entry entry = index[record];
    count_record(keys + entry.key, values + entry.value, {key_sizes, value_sizes, records});
}

extern "C" __global__ void map(char *keys, const char *values, const Entry *index, const int *keys_before,
                               const int *values_before, const int *records_before, Emitted *emitted, char *to_keys,
                               char *to_values, Entry *to_index, int *records, int count)
{
    __shared__ char scratch[THREADS * 5 * sizeof(int)];
    int record = global_thread();
    if (record >= count)
        return;
    int first = records_before[record];
    Entry entry = to_index[first];
    entry.key = keys_before[record];
    entry.value = values_before[record];
    to_index[first] = entry;
    Entry from = index[record];
    map_record(keys + from.key, values + from.value, scratch + threadIdx.x * 5 * sizeof(int),
               {keys_before, values_before, records_before, emitted, to_keys, to_values, to_index, records});
}

// Exclusive prefix sums of the elements of each block, and the blocks' totals.
extern "C" __global__ void sums(const int *from, int *to, int *totals, int count)
{
    __shared__ int tree[SCANNED];
    int thread = threadIdx.x;
    int low = blockIdx.x * SCANNED + thread, high = low + THREADS;
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
        totals[blockIdx.x] = tree[SCANNED - 1];
        tree[SCANNED - 1] = 0;
    }
    for (int active = 1; active <= THREADS; active *= 2) {
        step /= 2;
        __syncthreads();
        if (thread < active) {
            int left = step * (2 * thread + 1) - 1, right = step * (2 * thread + 2) - 1;
            int before = tree[left];
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

// Adds the sum of all blocks before each.
extern "C" __global__ void add_sums(int *to, const int *before, int count)
{
    int at = global_thread();
    if (at < count)
        to[at] += before[at / SCANNED];
}
