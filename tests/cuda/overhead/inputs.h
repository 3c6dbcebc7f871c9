// What the programs of this folder share: numbers, and files of them.
#pragma once
#include "../check.h"
#include <string>
#include <utility>

static unsigned next(unsigned &seed) {
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

template <typename T>
void write(const char *folder, const char *name, const std::vector<T> &values) {
    std::FILE *file = std::fopen((std::string(folder) + "/" + name + ".bin").c_str(), "wb");
    DEMAND(file && std::fwrite(values.data(), sizeof(T), values.size(), file) == values.size() && std::fclose(file) == 0);
}
