// A condition of a test program, which ends with 3 if it does not hold.
#pragma once
#include <cstdio>
#include <cstdlib>

#define DEMAND(condition) \
    do { \
        if (!(condition)) { \
            std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            std::exit(3); \
        } \
    } while (0)
