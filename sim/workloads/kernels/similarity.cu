// How alike are documents? In the form of Mars: a record is a pair of documents, the first with the lower number. The map
// divides the scalar product of their feature vectors by the vectors' lengths, and pairs are sorted by this score.
#include "mars_group.h"

struct Features {
    const float *rows;
};

struct alignas(16) Documents {
    int first, second, features;
    float score;
};

__device__ static void count_record(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(float), 2 * sizeof(int));
}

__device__ static void map_record(char *key, const char *value, char *scratch, const Output &to)
{
    const float *rows = ((const Features *)key)->rows;
    const Documents *documents = (const Documents *)value;
    int first = documents->first, second = documents->second, features = documents->features;
    const Four *one = (const Four *)(rows + first * features);
    const Four *other = (const Four *)(rows + second * features);
    float product = 0.0f, one_square = 0.0f, other_square = 0.0f;
    for (int at = 0; at < features / 4; at++) {
        Four a = one[at], b = other[at];
        product += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        one_square += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
        other_square += b.x * b.x + b.y * b.y + b.z * b.z + b.w * b.w;
    }
    *(float *)scratch = product / (__nvvm_sqrt_rn_f(one_square) * __nvvm_sqrt_rn_f(other_square));
    int *position = (int *)(scratch + sizeof(float));
    position[0] = first;
    position[1] = second;
    __syncthreads();
    emit(to, scratch, scratch + sizeof(float), sizeof(float), 2 * sizeof(int));
}

// Higher scores come first.
__device__ static int compare(const char *one, const char *other)
{
    float a = *(const float *)one, b = *(const float *)other;
    return (a < b) - (a > b);
}
