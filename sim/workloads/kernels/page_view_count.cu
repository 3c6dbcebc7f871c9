// Which visitors saw each page of a log, in the form of Mars. A first program hashes whole lines and keeps one of equal ones; a
// second one sorts the lines by their pages. A line is PAGE, tab, VISITOR, tab, TIME, zero.
#include "mars_reduce.h"

struct Line {
    char *text;
    int offset, hash;
};

struct alignas(8) Phase {
    int size, number;
};

__device__ static int hash_of(const char *text, int size)
{
    int hash = size;
    for (int at = 0; at < size; at++)
        hash = (hash << 4) ^ (hash >> 28) ^ text[at];
    return hash;
}

__device__ static void count_record(const char *, const char *value, const Sizes &sizes)
{
    if (((const Phase *)value)->number == 0)
        emit_size(sizes, sizeof(Line), sizeof(Phase));
    else
        emit_size(sizes, sizeof(Line), sizeof(int));
}

__device__ static void map_record(char *key, const char *value, char *scratch, const Output &to)
{
    Line *line = (Line *)key;
    const Phase *phase = (const Phase *)value;
    char *text = line->text + line->offset;
    if (phase->number == 0) {
        line->hash = hash_of(text, phase->size);
        __syncthreads();
        emit(to, key, value, sizeof(Line), sizeof(Phase));
    } else {
        int end = 0;
        while (text[end] != '\t')
            end++;
        text[end] = 0;
        int visitor = end + 1;
        for (end = visitor; text[end] != '\t';)
            end++;
        text[end] = 0;
        *(int *)scratch = line->offset + visitor;
        line->hash = hash_of(text, visitor);
        __syncthreads();
        emit(to, key, scratch, sizeof(Line), sizeof(int));
    }
}

__device__ static int compare(const char *one, const char *other)
{
    const Line *a = (const Line *)one, *b = (const Line *)other;
    int a_hash = a->hash, b_hash = b->hash;
    if (a_hash != b_hash)
        return a_hash > b_hash ? 1 : -1;
    const char *left = a->text + a->offset, *right = b->text + b->offset;
    for (; *left == *right && *left != 0; left++)
        right++;
    return (*left > *right) - (*left < *right);
}

__device__ static void count_group(const char *, const char *, const Sizes &sizes)
{
    emit_size(sizes, sizeof(Line), sizeof(Phase));
}

__device__ static void reduce_group(char *key, char *values, int, int, const Output &to)
{
    ((Phase *)values)->number = 1;
    __syncthreads();
    emit(to, key, values, sizeof(Line), sizeof(Phase));
}
