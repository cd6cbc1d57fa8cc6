#include "mr/number.h"

LamNumber
lam_number_add_scaled (LamNumber a, double s, LamNumber b)
{
  a.value += s * b.value;
  a.constant += s * b.constant;
  a.bent |= b.bent;
  for (int i = 0; i < b.terms; i++) {
    int at = 0;
    while (at < a.terms && a.index[at] != b.index[i])
      at++;
    if (at == LAM_NUMBER_TERMS) { /* too many values in one number: not followed */
      a.bent = true;
      continue;
    }
    if (at == a.terms) {
      a.index[at] = b.index[i];
      a.scale[at] = 0;
      a.terms++;
    }
    a.scale[at] += s * b.scale[i];
  }
  return a;
}
