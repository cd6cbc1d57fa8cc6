/* Shapes are stored as run lengths of their differences: a value that comes twice is followed by how often it comes again. */
#include <math.h>
#include <stdatomic.h>

#include "core/memory.h"
#include "mr/pulseq.h"

gboolean
lam_pulseq_shape_valid (const double *stored, int64_t n, int64_t samples, const char **why)
{
  int64_t have = 0;
  for (int64_t i = 0; i < n;) {
    if (!isfinite (stored[i])) {
      *why = "a sample is not a finite number";
      return FALSE;
    }
    if (i + 1 < n && stored[i] == stored[i + 1]) {
      if (i + 2 >= n) {
        *why = "a repeat count is missing at its end";
        return FALSE;
      }
      double count = stored[i + 2];
      if (!(count >= 0 && count <= (double) LAM_PULSEQ_MAX_SAMPLES) || count != floor (count)) {
        *why = "a repeat count is not a whole number from 0 on";
        return FALSE;
      }
      have += (int64_t) count + 2;
      i += 3;
    } else {
      have++;
      i++;
    }
    if (have > samples) {
      *why = "it decompresses to more samples than num_samples says";
      return FALSE;
    }
  }
  if (have != samples)
    *why = "it decompresses to fewer samples than num_samples says";
  return have == samples;
}

void
lam_pulseq_shape_decompress (const double *stored, int64_t n, double *values, int64_t samples)
{
  double sum = 0;
  int64_t k = 0;
  for (int64_t i = 0; i < n;) {
    int64_t count = 1, step = 1;
    if (i + 2 < n && stored[i] == stored[i + 1]) {
      count = (int64_t) stored[i + 2] + 2;
      step = 3;
    }
    while (count-- > 0 && k < samples)
      values[k++] = sum += stored[i];
    i += step;
  }
}

int64_t
lam_pulseq_shape_compress (const double *values, int64_t samples, double *stored)
{
  int64_t n = 0;
  double sum = 0; /* what a reader has so far, so that rounding does not add up */
  for (int64_t i = 0; i < samples;) {
    double step = values[i] - sum;
    int64_t run = 1;
    sum += step;
    while (i + run < samples && values[i + run] - sum == step) {
      sum += step;
      run++;
    }
    if (run == 1)
      stored[n++] = step;
    else {
      if (n + 3 > samples + 2) /* no longer shorter than the shape */
        return samples;
      stored[n++] = step;
      stored[n++] = step;
      stored[n++] = (double) (run - 2);
    }
    i += run;
    if (n >= samples)
      return samples;
  }
  return n;
}

const double *
lam_pulseq_shape_values (const LamPulseq *seq, int32_t row, GError **error)
{
  LamPulseqShape *s = &seq->shape[row];
  double *values = atomic_load_explicit (&s->values, memory_order_acquire), *other = NULL;
  if (!s->compressed)
    return seq->stored + s->offset;
  if (values)
    return values;
  if (!(values = lam_alloc_n (s->samples, sizeof *values, "samples of a shape", error)))
    return NULL;
  lam_pulseq_shape_decompress (seq->stored + s->offset, s->stored, values, s->samples);
  if (!atomic_compare_exchange_strong (&s->values, &other, values)) { /* another thread was first */
    lam_free (values);
    values = other;
  }
  return values;
}
