// The reduce stage of a MapReduce program in the form of Mars: one thread per key, in two passes as the map.
//
// The including source defines what a thread does with the records of its key.
#pragma once
#include "mars_group.h"

__device__ static void count_group(const char *key, const char *values, const Sizes &sizes);
__device__ static void reduce_group(char *key, char *values, int count, int key_size, const Output &to);

extern "C" __global__ void reduce_count(const char *keys, const char *values, const Entry *index, const Range *ranges,
                                        int *key_sizes, int *value_sizes, int *records, int groups)
{
    int group = global_thread();
    if (group >= groups)
        return;
    Entry entry = index[ranges[group].from];
    count_group(keys + entry.key, values + entry.value, {key_sizes, value_sizes, records});
}

extern "C" __global__ void reduce(char *keys, char *values, const Entry *index, const Range *ranges, const int *keys_before,
                                  const int *values_before, const int *records_before, Emitted *emitted, char *to_keys,
                                  char *to_values, Entry *to_index, int *records, int groups)
{
    int group = global_thread();
    if (group >= groups)
        return;
    int first = records_before[group];
    to_index[first].key = keys_before[group];
    to_index[first].value = values_before[group];
    Range range = ranges[group];
    Entry entry = index[range.from];
    reduce_group(keys + entry.key, values + entry.value, range.to - range.from, entry.key_size,
                 {keys_before, values_before, records_before, emitted, to_keys, to_values, to_index, records});
}
