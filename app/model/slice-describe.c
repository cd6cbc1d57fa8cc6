/* slice-describe.c: values of the slice model in words. */
#include "config.h"

#include <glib/gi18n.h>
#include <math.h>

#include "model/slice-model.h"
#include "model/units.h"

char *
lam_slice_model_format_value (double value, double window)
{
  if (isnan (value))
    return g_strdup ("nan");
  if (isinf (value))
    return g_strdup (value > 0 ? "inf" : "−inf");
  /* Three significant digits of the window. */
  int digits = window > 0 ? 3 - (int) ceil (log10 (window)) : 5;
  if (digits > 9 || (digits < 0 && fabs (value) >= 1e7))
    return g_strdup_printf ("%.4g", value);
  return lam_units_format (value, CLAMP (digits, 0, 9));
}

char *
lam_slice_model_describe_cursor (LamSliceModel *self)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (self), NULL);
  LamPlane plane = lam_slice_model_get_cursor_plane (self);
  LamSnapshot *shot = lam_slice_model_peek (self, plane);
  int64_t row, column;
  double low, high;
  float value;
  if (shot == NULL
      || (!lam_slice_model_get_cursor (self, &row, &column) && !lam_slice_model_get_mark (self, &row, &column))
      || !lam_slice_model_get_value (self, row, column, &value))
    return NULL;
  static const char *const names[LAM_ALL_PLANES] = {
      N_ ("row %ld col %ld · %s %s"),     N_ ("slice %ld col %ld · %s %s"),    N_ ("slice %ld row %ld · %s %s"),
      N_ ("row %ld channel %ld · %s %s"), N_ ("view %ld channel %ld · %s %s"),
  };
  const char *absent = lam_slice_model_get_absent (self, value),
             *unit = absent != NULL ? "" : lam_snapshot_info (shot)->value_unit;
  lam_slice_model_get_level (self, &low, &high);
  g_autofree char *number = absent != NULL ? g_strdup (absent) : lam_slice_model_format_value (value, high - low);
  const char *format = _ (names[plane]);
  if (plane == LAM_PLANE_SINOGRAM)
    row = lam_slice_model_get_ordered (self, row);
  return g_strchomp (g_strdup_printf (format, (long) row, (long) column, number, unit));
}

char *
lam_slice_model_describe_bad (LamSliceModel *self, LamSnapshot *shot)
{
  g_return_val_if_fail (LAM_IS_SLICE_MODEL (self) && shot != NULL, NULL);
  const LamSnapshotInfo *info = lam_snapshot_info (shot);
  const gulong n = (gulong) info->bad;
  if (n == 0)
    return NULL;
  if (lam_slice_model_has_absent_words (self))
    return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%ld voxel has no match", "%ld voxels have no match", n),
                            (long) n);
  if (info->bad == info->width * info->height)
    return g_strdup (_ ("no finite value"));
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%ld value is not finite", "%ld values are not finite", n),
                          (long) n);
}
