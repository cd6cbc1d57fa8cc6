/* select.h: the value of a rank, without sorting. */
#pragma once

#include <stdint.h>

/* The @k-th smallest, from 0, of @n > 0 numbers, none of them a NaN; @x is reordered (Hoare's selection). */
float lam_select (float *x, int64_t n, int64_t k);
