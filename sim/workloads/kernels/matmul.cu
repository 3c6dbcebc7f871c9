// Matrix product in the form of Mars: a record is a row of the one matrix and a column of the other, which is stored
// transposed. The key has the addresses of both matrices.
#include "mars.h"

struct Matrices {
    const float *a, *b;
};

struct alignas(16) Element {
    int row, column, rows, columns;
};

__device__ static void count_record(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(float), 2 * sizeof(int));
}

__device__ static void map_record(char *key, const char *value, char *scratch, const Output &to)
{
    Matrices matrices = *(const Matrices *)key;
    Element element = *(const Element *)value;
    const Four *row = (const Four *)(matrices.a + element.row * element.columns);
    const Four *column = (const Four *)(matrices.b + element.column * element.columns);
    float sum = 0.0f;
    for (int at = 0; at < element.columns / 4; at++) {
        Four one = row[at], other = column[at];
        sum += one.x * other.x;
        sum += one.y * other.y;
        sum += one.z * other.z;
        sum += one.w * other.w;
    }
    *(float *)scratch = sum;
    int *position = (int *)(scratch + sizeof(float));
    position[0] = element.row;
    position[1] = element.column;
    __syncthreads();
    emit(to, scratch, scratch + sizeof(float), sizeof(float), 2 * sizeof(int));
}
