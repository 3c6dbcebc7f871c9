#include "factor.h"

/* Returns 0 unless the first number is negative. The file is C: `class` is a name. */
int check(float first) {
    int class = first < 0;
    return class;
}
