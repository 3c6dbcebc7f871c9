// The functions that testbench.sv imports: libselvedge keeps the time, and this file the values.
#include "svdpi.h"
#include <cstdio>
#include <cstdlib>
#include <selvedge.h>
#include <unordered_map>

namespace {
SelvedgeMemory *memory = nullptr;
std::unordered_map<uint32_t, uint32_t> values;

void check(SelvedgeStatus status) {
    if (status != SELVEDGE_STATUS_OK) {
        std::fprintf(stderr, "testbench: %s\n", selvedge_last_error());
        std::exit(2);
    }
}
} // namespace

extern "C" {
void memory_open(const char *configuration) { check(selvedge_memory_new(configuration, &memory)); }

void memory_close() {
    char *text = nullptr;
    check(selvedge_memory_statistics(memory, &text));
    std::puts(text);
    selvedge_string_free(text);
    selvedge_memory_free(memory);
    memory = nullptr;
}

void memory_cycle(svBit valid, svBit write, unsigned address, unsigned data, svBit *taken, svBit *replied, svBitVecVal *line) {
    bool is_taken = false, is_there = false;
    if (valid) {
        SelvedgeRequest request{};
        request.address = address;
        request.bytes = write ? 4 : 32;
        request.operation = write ? SELVEDGE_WRITE : SELVEDGE_READ;
        check(selvedge_memory_offer(memory, &request, &is_taken));
        if (is_taken && write) {
            values[address] = data;
        }
    }
    check(selvedge_memory_step(memory));
    SelvedgeReply reply{};
    check(selvedge_memory_reply(memory, 0, &reply, &is_there));
    if (is_there) {
        for (unsigned word = 0; word < 8; word++) {
            line[word] = values[uint32_t(reply.request.address) + 4 * word];
        }
    }
    *taken = is_taken;
    *replied = is_there;
}
}
