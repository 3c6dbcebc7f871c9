// Map, sort and reduce over lines of text: each line gives a pair of a key (upper word) and a value (lower word), the pairs
// are sorted, and runs of equal keys are counted. One thread per line or pair.
//
// line[n] is where line n begins. Pairs beyond the lines, and of lines that give none, have all bits set.
typedef unsigned long long Pair;
#define NONE 0xffffffffffffffffull

// The hash of the letters from `at` on up to `end`; moves `at` behind `end`.
__device__ static unsigned hash(const unsigned char *text, int &at, unsigned char end)
{
    unsigned hash = 2166136261u;
    while (text[at] != end)
        hash = (hash ^ text[at++]) * 16777619u;
    at++;
    return hash & 0x7fffffffu;
}

// Lines of a server's log, `PAGE\tVISITOR\n`: who saw what.
extern "C" __global__ void map_view(const unsigned char *text, const int *line, Pair *pairs, int lines, int slots)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= slots)
        return;
    Pair pair = NONE;
    if (number < lines) {
        int at = line[number];
        unsigned page = hash(text, at, '\t');
        pair = (Pair)page << 32 | hash(text, at, '\n');
    }
    pairs[number] = pair;
}

// Lines of a table, `PAGE\tVIEWS\n`: how often which line's page was seen.
extern "C" __global__ void map_total(const unsigned char *text, const int *line, Pair *pairs, int lines, int slots)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= slots)
        return;
    Pair pair = NONE;
    if (number < lines) {
        int at = line[number];
        while (text[at] != '\t')
            at++;
        unsigned views = 0;
        for (at++; text[at] != '\n'; at++)
            views = 10 * views + (text[at] - '0');
        pair = (Pair)views << 32 | (unsigned)number;
    }
    pairs[number] = pair;
}

// Lines of documents with at most one link each, href="PAGE": which page is linked from which document.
extern "C" __global__ void map_link(const unsigned char *text, const int *line, const unsigned *document, Pair *pairs,
                                    int lines, int slots)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= slots)
        return;
    Pair pair = NONE;
    if (number < lines) {
        for (int at = line[number]; text[at] != '\n'; at++) {
            if (text[at] == '=' && text[at + 1] == '"' && text[at - 1] == 'f' && text[at - 2] == 'e') {
                at += 2;
                pair = (Pair)hash(text, at, '"') << 32 | document[number];
                break;
            }
        }
    }
    pairs[number] = pair;
}

// One pass of a bitonic sort: runs of `run` pairs rise and fall in turn. One thread per two pairs.
extern "C" __global__ void sort_pass(Pair *pairs, int run, int distance, int slots)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= slots / 2)
        return;
    int low = 2 * thread - (thread & (distance - 1));
    Pair one = pairs[low], other = pairs[low + distance];
    bool rises = (low & run) == 0;
    if (rises == (one > other)) {
        pairs[low] = other;
        pairs[low + distance] = one;
    }
}

// Where a key's run of sorted pairs begins, the number of its different values; 0 elsewhere.
extern "C" __global__ void reduce_runs(const Pair *pairs, int *counts, int slots)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= slots)
        return;
    Pair pair = pairs[at];
    int count = 0;
    if (pair != NONE && (at == 0 || pairs[at - 1] >> 32 != pair >> 32)) {
        count = 1;
        for (int next = at + 1; next < slots && pairs[next] >> 32 == pair >> 32; next++)
            count += pairs[next] != pairs[next - 1];
    }
    counts[at] = count;
}

// Each value's place among the sorted pairs, from the greatest key down.
extern "C" __global__ void reduce_rank(const Pair *pairs, int *rank, int lines)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < lines)
        rank[(unsigned)pairs[at]] = lines - 1 - at;
}

// The same in Mars' form: a pair is a record that says where key and value lie, and a sort compares the texts themselves. A
// key below 0 is none. A value without letters is a number.
struct __attribute__((aligned(16))) Record {
    int key, key_size, value, value_size;
};

// Where the text from `at` on has its first `end`.
__device__ static int find(const unsigned char *text, int at, unsigned char end)
{
    while (text[at] != end)
        at++;
    return at;
}

extern "C" __global__ void map_view_record(const unsigned char *text, const int *line, Record *records, int lines,
                                           int slots)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= slots)
        return;
    Record record = {-1, 0, 0, 0};
    if (number < lines) {
        record.key = line[number];
        int tab = find(text, record.key, '\t');
        record.key_size = tab - record.key;
        record.value = tab + 1;
        record.value_size = find(text, record.value, '\n') - record.value;
    }
    records[number] = record;
}

extern "C" __global__ void map_link_record(const unsigned char *text, const int *line, const int *document,
                                           Record *records, int lines, int slots)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= slots)
        return;
    Record record = {-1, 0, 0, 0};
    if (number < lines) {
        for (int at = line[number]; text[at] != '\n'; at++) {
            if (text[at] == '=' && text[at + 1] == '"' && text[at - 1] == 'f' && text[at - 2] == 'e') {
                record.key = at + 2;
                record.key_size = find(text, at + 2, '"') - record.key;
                record.value = document[number];
                break;
            }
        }
    }
    records[number] = record;
}

// The order of two texts as in a dictionary: below 0, 0 or above it.
__device__ static int order_of_texts(const unsigned char *text, int one, int one_size, int other, int other_size)
{
    int both = one_size < other_size ? one_size : other_size;
    for (int at = 0; at < both; at++) {
        int apart = text[one + at] - text[other + at];
        if (apart != 0)
            return apart;
    }
    return one_size - other_size;
}

// The order of two records by their keys, then by their values; none comes last.
__device__ static int order_of_records(const unsigned char *text, const Record &one, const Record &other)
{
    if (one.key < 0 || other.key < 0)
        return (one.key < 0) - (other.key < 0);
    int apart = order_of_texts(text, one.key, one.key_size, other.key, other.key_size);
    if (apart != 0)
        return apart;
    if (one.value_size == 0)
        return one.value - other.value;
    return order_of_texts(text, one.value, one.value_size, other.value, other.value_size);
}

extern "C" __global__ void sort_records(const unsigned char *text, Record *records, int run, int distance, int slots)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= slots / 2)
        return;
    int low = 2 * thread - (thread & (distance - 1));
    Record one = records[low], other = records[low + distance];
    int order = order_of_records(text, one, other);
    bool rises = (low & run) == 0;
    if (order != 0 && rises == (order > 0)) {
        records[low] = other;
        records[low + distance] = one;
    }
}

// Where a key's run of sorted records begins, the number of its different values; 0 elsewhere.
extern "C" __global__ void reduce_records(const unsigned char *text, const Record *records, int *counts, int slots)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= slots)
        return;
    Record first = records[at];
    int count = 0;
    if (first.key >= 0) {
        Record before = at > 0 ? records[at - 1] : first;
        bool begins = at == 0 || order_of_texts(text, before.key, before.key_size, first.key, first.key_size) != 0;
        count = begins;
        Record last = first;
        for (int next = at + 1; begins && next < slots; next++) {
            Record here = records[next];
            if (here.key < 0 || order_of_texts(text, here.key, here.key_size, first.key, first.key_size) != 0)
                break;
            count += order_of_records(text, here, last) != 0;
            last = here;
        }
    }
    counts[at] = count;
}
