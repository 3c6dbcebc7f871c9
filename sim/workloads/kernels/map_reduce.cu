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
