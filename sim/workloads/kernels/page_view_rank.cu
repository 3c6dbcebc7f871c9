// Pages ranked by their views, in the form of Mars: a record is the number of views of a page and where its line begins.
#include "mars_group.h"

__device__ static void count_record(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(int), sizeof(int));
}

__device__ static void map_record(char *key, const char *value, char *scratch, const Output &to)
{
    int *record = (int *)scratch;
    record[0] = *(const int *)key;
    record[1] = *(const int *)value;
    __syncthreads();
    emit(to, scratch, scratch + sizeof(int), sizeof(int), sizeof(int));
}

// More views come first.
__device__ static int compare(const char *one, const char *other)
{
    int a = *(const int *)one, b = *(const int *)other;
    return (a < b) - (a > b);
}
