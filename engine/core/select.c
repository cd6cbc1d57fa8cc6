#include "core/select.h"

float
lam_select (float *x, int64_t n, int64_t k)
{
  int64_t lo = 0, hi = n - 1;
  while (lo < hi) {
    float pivot = x[(lo + hi) / 2];
    int64_t i = lo, j = hi;
    while (i <= j) {
      while (x[i] < pivot)
        i++;
      while (x[j] > pivot)
        j--;
      if (i <= j) {
        float swap = x[i];
        x[i++] = x[j];
        x[j--] = swap;
      }
    }
    if (k <= j)
      hi = j;
    else if (k >= i)
      lo = i;
    else
      break;
  }
  return x[k];
}
