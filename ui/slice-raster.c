#include "config.h"

#include "slice-raster.h"

#include <math.h>
#include <string.h>

static const guint8 surround[3] = {LAM_SURROUND}, hatch_light[3] = {LAM_HATCH_LIGHT}, hatch_dark[3] = {LAM_HATCH_DARK};

/* Which source pixel lies under the middle of device pixel @i, or -1; @edge = the first device pixel of it. */
static int64_t
source (int i, double origin, double scale, int64_t n, gboolean *edge)
{
  double at = (i + 0.5 - origin) / scale, before = (i - 0.5 - origin) / scale;
  int64_t k = (int64_t) floor (at);
  *edge = k != (int64_t) floor (before);
  return at < 0 || k >= n ? -1 : k;
}

void
lam_slice_raster (const LamSnapshot *shot, const LamSliceLook *look, const guint8 *map, int width, int height,
                  guint8 *rgba)
{
  g_return_if_fail (look != NULL && map != NULL && rgba != NULL);
  const LamSnapshotInfo none = {.width = 0}, *info = shot != NULL ? lam_snapshot_info (shot) : &none;
  const float *pixels = shot != NULL ? lam_snapshot_pixels (shot) : NULL;
  float gain = 255.0f / (look->high - look->low);
  gboolean grid = fmin (look->scale_x, look->scale_y) >= LAM_GRID_SCALE;
  g_autofree int64_t *columns = g_new (int64_t, MAX (width, 1));
  g_autofree gboolean *edges = g_new (gboolean, MAX (width, 1));
  for (int x = 0; x < width; x++)
    columns[x] = source (x, look->origin_x, look->scale_x, info->width, &edges[x]);

  for (int y = 0; y < height; y++) {
    gboolean row_edge;
    int64_t row = source (y, look->origin_y, look->scale_y, info->height, &row_edge);
    guint8 *out = rgba + (size_t) y * width * 4;
    for (int x = 0; x < width; x++, out += 4) {
      const guint8 *colour = surround;
      gboolean inside = row >= 0 && columns[x] >= 0;
      if (inside) {
        float v = pixels[row * info->width + columns[x]];
        if (isfinite (v)) {
          float t = (v - look->low) * gain;
          int i = t <= 0 ? 0 : t >= 255 ? 255 : (int) (t + 0.5f);
          colour = map + 4 * (look->inverted ? 255 - i : i);
        } else {
          int along = isnan (v) ? x + y : x - y + (1 << 20);
          colour = along % LAM_HATCH_PERIOD < LAM_HATCH_PERIOD / 2 ? hatch_light : hatch_dark;
        }
      }
      memcpy (out, colour, 3);
      out[3] = 255;
      if (grid && inside && (row_edge || edges[x]))
        for (int c = 0; c < 3; c++)
          out[c] = (guint8) (out[c] * 0.65f + 128 * 0.35f + 0.5f);
    }
  }
}
