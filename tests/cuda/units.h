// What the two translation units of one program share.
#pragma once
int half_of_it(int *values, int count);
