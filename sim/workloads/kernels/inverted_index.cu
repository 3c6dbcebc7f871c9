// Which files link to each page, in the form of Mars: the map looks for links in a piece of a file, a state per byte, and
// the links are sorted by their hashes and texts.
#include "mars_group.h"

struct Link {
    char *file;
    int offset, hash;
};

struct Piece {
    int offset, size, file;
};

enum State { OUTSIDE, TAG, ANCHOR, REFERENCE, LINK };

// Calls found(at, end) with the ends of each link.
template <typename Found> __attribute__((always_inline)) __device__ static void each_link(char *text, int size, Found &found)
{
    State state = OUTSIDE;
    for (int at = 0; at < size; at++) {
        char letter = text[at];
        switch (state) {
        case OUTSIDE:
            state = letter == '<' ? TAG : OUTSIDE;
            break;
        case TAG:
            state = letter == 'a' ? ANCHOR : letter == ' ' ? TAG : OUTSIDE;
            break;
        case ANCHOR:
            if (letter == 'h' && text[at + 1] == 'r' && text[at + 2] == 'e' && text[at + 3] == 'f') {
                state = REFERENCE;
                at += 3;
            } else if (letter != ' ') {
                state = OUTSIDE;
            }
            break;
        case REFERENCE:
            state = letter == '"' ? LINK : letter == ' ' || letter == '=' ? REFERENCE : OUTSIDE;
            break;
        case LINK:
            int end = at;
            while (text[end] != '"')
                end++;
            found(at, end);
            at = end;
            state = OUTSIDE;
            break;
        }
    }
}

struct Counted {
    const Sizes &sizes;

    __device__ void operator()(int, int) const
    {
        emit_size(sizes, sizeof(Link), sizeof(int));
    }
};

struct Mapped {
    Link *link;
    const Piece *piece;
    const Output &to;

    __device__ void operator()(int at, int end) const
    {
        char *text = link->file + piece->offset;
        text[end] = 0;
        link->offset = at + piece->offset;
        int hash = end - at;
        for (int letter = at; letter < end; letter++)
            hash = (hash << 4) ^ (hash >> 28) ^ text[letter];
        link->hash = hash;
        emit(to, (const char *)link, (const char *)&piece->file, sizeof(Link), sizeof(int));
    }
};

__device__ static void count_record(const char *key, const char *value, const Sizes &sizes)
{
    const Piece *piece = (const Piece *)value;
    Counted counted = {sizes};
    each_link(((const Link *)key)->file + piece->offset, piece->size, counted);
}

__device__ static void map_record(char *key, const char *value, char *, const Output &to)
{
    const Piece *piece = (const Piece *)value;
    Mapped mapped = {(Link *)key, piece, to};
    each_link(mapped.link->file + piece->offset, piece->size, mapped);
}

__device__ static int compare(const char *one, const char *other)
{
    const Link *a = (const Link *)one, *b = (const Link *)other;
    int a_hash = a->hash, b_hash = b->hash;
    if (a_hash != b_hash)
        return a_hash > b_hash ? 1 : -1;
    const char *left = a->file + a->offset, *right = b->file + b->offset;
    for (; *left == *right && *left != 0; left++)
        right++;
    return (*left > *right) - (*left < *right);
}
