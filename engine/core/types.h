/* types.h: sizes and status codes that kernels and hosts share. libc only, so that any compiler can read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a kernel may return. Host functions turn it into a GError (error.h). */
typedef enum {
  LAM_OK = 0,
  LAM_STATUS_CANCELLED,
  LAM_STATUS_NO_MEMORY,
  LAM_STATUS_INVALID,
  LAM_STATUS_NOT_SUPPORTED,
} LamStatus;

/* A half-open range of indices [begin, end). */
typedef struct {
  int64_t begin;
  int64_t end;
} LamRange;

/* Floats in the widest vector; rows of arrays are padded to a multiple of it. */
#define LAM_LANES 16
/* Alignment of every data buffer, in bytes. */
#define LAM_ALIGN 64

#define LAM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LAM_MAX(a, b) ((a) > (b) ? (a) : (b))
#define LAM_CLAMP(x, lo, hi) LAM_MIN (LAM_MAX (x, lo), hi)

static inline int64_t
lam_round_up (int64_t n, int64_t unit)
{
  return (n + unit - 1) / unit * unit;
}

static inline int64_t
lam_range_size (LamRange r)
{
  return r.end > r.begin ? r.end - r.begin : 0;
}

/* a * b, or -1 when the product does not fit (sizes are never negative). */
static inline int64_t
lam_mul_size (int64_t a, int64_t b)
{
  int64_t r;
  return a < 0 || b < 0 || __builtin_mul_overflow (a, b, &r) ? -1 : r;
}
