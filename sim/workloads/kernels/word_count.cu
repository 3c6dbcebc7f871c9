// Occurrences of words in a text: each thread takes the words that begin in its piece of the text, hashes them letter by
// letter, and counts them in a hash table with open addressing.
#define PIECE 16

extern "C" __global__ void word_count(const unsigned char *text, unsigned *slots, unsigned *counts, int length,
                                      int slot_count)
{
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * PIECE;
    int end = from + PIECE < length ? from + PIECE : length;
    for (int at = from; at < end; at++) {
        bool begins = text[at] >= 'a' && (at == 0 || text[at - 1] < 'a');
        if (!begins)
            continue;
        unsigned hash = 2166136261u;
        for (int letter = at; letter < length && text[letter] >= 'a'; letter++)
            hash = (hash ^ text[letter]) * 16777619u;
        hash |= 1;
        int slot = hash % slot_count;
        while (true) {
            unsigned taken = __nvvm_atom_cas_gen_i((int *)&slots[slot], 0, (int)hash);
            if (taken == 0 || taken == hash)
                break;
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        }
        __nvvm_atom_add_gen_i((int *)&counts[slot], 1);
    }
}
