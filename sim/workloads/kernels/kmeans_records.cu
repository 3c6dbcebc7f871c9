// k-means clustering in the form of Mars: the map assigns a point to the nearest centre, points are sorted by their clusters,
// and the reduction of a cluster computes its new centre.
#include "mars_reduce.h"

struct Point {
    int number, dimensions, clusters;
    int *cluster_of;
};

struct Arrays {
    const int *points;
    int *centres, *changed;
};

__device__ static void count_record(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(Point), sizeof(Arrays));
}

__device__ static int distance(const int *point, const int *centre, int dimensions)
{
    int sum = 0;
    for (int at = 0; at < dimensions; at++) {
        int apart = point[at] - centre[at];
        sum += apart * apart;
    }
    return sum;
}

__device__ static void map_record(char *key, const char *value, char *, const Output &to)
{
    const Point *record = (const Point *)key;
    const Arrays *arrays = (const Arrays *)value;
    int dimensions = record->dimensions, clusters = record->clusters, number = record->number;
    int before = record->cluster_of[number];
    const int *point = arrays->points + number * dimensions, *centres = arrays->centres;
    int least = distance(point, centres + before * dimensions, dimensions);
    int nearest = before;
    for (int cluster = 0; cluster < clusters; cluster++) {
        int here = distance(point, centres + cluster * dimensions, dimensions);
        if (here < least) {
            nearest = cluster;
            least = here;
        }
    }
    if (nearest != before) {
        *arrays->changed = 1;
        record->cluster_of[number] = nearest;
    }
    __syncthreads();
    emit(to, key, value, sizeof(Point), sizeof(Arrays));
}

__device__ static int compare(const char *one, const char *other)
{
    const Point *a = (const Point *)one, *b = (const Point *)other;
    int a_cluster = a->cluster_of[a->number], b_cluster = b->cluster_of[b->number];
    return (a_cluster > b_cluster) - (a_cluster < b_cluster);
}

__device__ static void count_group(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(Point), sizeof(Arrays));
}

// Emits nothing.
__device__ static void reduce_group(char *key, char *values, int count, int key_size, const Output &)
{
    const Point *record = (const Point *)key;
    const Arrays *arrays = (const Arrays *)values;
    int dimensions = record->dimensions;
    int *centre = arrays->centres + record->cluster_of[record->number] * dimensions;
    const int *points = arrays->points;
    for (int at = 0; at < dimensions; at++)
        centre[at] = 0;
    for (int member = 0; member < count; member++) {
        const int *point = points + ((const Point *)(key + member * key_size))->number * dimensions;
        for (int at = 0; at < dimensions; at++)
            centre[at] += point[at];
    }
    for (int at = 0; at < dimensions; at++)
        centre[at] /= count;
}
