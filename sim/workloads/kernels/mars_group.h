// The group stage of a MapReduce program in the form of Mars: a bitonic sort of the index by the keys that it leads to,
// then keys and values are copied in their new order, and the first record of each key is found.
//
// The including source defines the order of keys.
#pragma once
#include "mars.h"

struct alignas(8) Range {
    int from, to;
};

__device__ static int compare(const char *one, const char *other);

// An entry without a record comes first.
__device__ static int order(const char *keys, int one, int other)
{
    if (one < 0 || other < 0)
        return (other < 0) - (one < 0);
    return compare(keys + one, keys + other);
}

// An entry, as it is moved by a sort.
typedef int Words __attribute__((ext_vector_type(4)));

// One pass over the whole index: entries at `distance` from each other are put in order within runs of `run`.
extern "C" __global__ void sort_pass(const char *keys, Words *index, int run, int distance)
{
    int at = global_thread();
    int partner = at ^ distance;
    if (partner <= at)
        return;
    Words one = index[at], other = index[partner];
    int found = order(keys, one.x, other.x);
    if ((at & run) == 0 ? found > 0 : found < 0) {
        index[at] = other;
        index[partner] = one;
    }
}

// The passes of one run within a block.
__device__ static void merge_block(const char *keys, Words *block, int run, bool falls)
{
    int at = threadIdx.x;
    for (int distance = run / 2; distance > 0; distance /= 2) {
        int partner = at ^ distance;
        Words one = block[at], other = block[partner];
        if (partner > at) {
            int found = order(keys, one.x, other.x);
            if (((at & run) == 0) != falls ? found > 0 : found < 0) {
                block[at] = other;
                block[partner] = one;
            }
        }
        __syncthreads();
    }
}

// The passes of all runs up to the size of a block, which rise and fall in turn.
extern "C" __global__ void sort_blocks(const char *keys, Words *index, int first)
{
    __shared__ Words block[THREADS];
    int number = first + blockIdx.x;
    block[threadIdx.x] = index[number * THREADS + threadIdx.x];
    __syncthreads();
    for (int run = 2; run <= THREADS; run *= 2)
        merge_block(keys, block, run, number & 1);
    index[number * THREADS + threadIdx.x] = block[threadIdx.x];
}

// The last passes of runs of `blocks` blocks, those within a block.
extern "C" __global__ void merge_blocks(const char *keys, Words *index, int first, int blocks)
{
    __shared__ Words block[THREADS];
    int number = first + blockIdx.x;
    block[threadIdx.x] = index[number * THREADS + threadIdx.x];
    __syncthreads();
    merge_block(keys, block, THREADS, number / blocks & 1);
    index[number * THREADS + threadIdx.x] = block[threadIdx.x];
}

// The sizes of all keys, or of all values.
extern "C" __global__ void sizes_of(const Entry *index, int *sizes, int of_values, int count)
{
    int at = global_thread();
    if (at < count) {
        Entry entry = index[at];
        sizes[at] = of_values ? entry.value_size : entry.key_size;
    }
}

// Copies all keys, or all values, to the order of the index.
extern "C" __global__ void copy_sorted(const char *from, Entry *index, const int *before, char *to, int of_values, int count)
{
    int at = global_thread();
    if (at >= count)
        return;
    Entry entry = index[at];
    int source = of_values ? entry.value : entry.key, size = of_values ? entry.value_size : entry.key_size;
    int target = before[at];
    for (int byte = 0; byte < size; byte++)
        to[target + byte] = from[source + byte];
    if (of_values)
        entry.value = target;
    else
        entry.key = target;
    index[at] = entry;
}

// Whether a record is the first of its key.
extern "C" __global__ void find_groups(const char *keys, const Entry *index, int *begins, int count)
{
    int at = global_thread();
    if (at >= count)
        return;
    begins[at] = at == 0 || order(keys, index[at].key, index[at - 1].key) != 0;
}

// Where each key begins.
extern "C" __global__ void write_groups(const int *begins, const int *before, int *groups, int count)
{
    int at = global_thread();
    if (at < count && begins[at])
        groups[before[at]] = at;
}

// From where to where each key lies.
extern "C" __global__ void write_ranges(const int *groups, Range *ranges, int group_count, int count)
{
    int at = global_thread();
    if (at < group_count)
        ranges[at] = {groups[at], at + 1 < group_count ? groups[at + 1] : count};
}
