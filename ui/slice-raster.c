#include "config.h"

#include "slice-raster.h"

#include <math.h>
#include <string.h>

static const guint8 surround[3] = {LAM_SURROUND}, hatch_light[3] = {LAM_HATCH_LIGHT}, hatch_dark[3] = {LAM_HATCH_DARK},
                    quiet_light[3] = {LAM_QUIET_LIGHT}, quiet_dark[3] = {LAM_QUIET_DARK};

/* Which source pixel lies under the middle of device pixel @i, or -1; @edge = the first device pixel of it. */
static int64_t
source (int i, double origin, double scale, int64_t n, gboolean *edge)
{
  double at = (i + 0.5 - origin) / scale, before = (i - 0.5 - origin) / scale;
  int64_t k = (int64_t) floor (at);
  *edge = k != (int64_t) floor (before);
  return at < 0 || k >= n ? -1 : k;
}

/* One row of the picture in colours; a value that is not finite is 0, which no colour is. */
static void
colour_row (const float *pixels, int64_t n, const LamSliceLook *look, const guint32 *colours, guint32 *out)
{
  float low = look->low, gain = 255.0f / (look->high - look->low);
  for (int64_t i = 0; i < n; i++) {
    float t = (pixels[i] - low) * gain + 0.5f;
    t = t > 0 ? t : 0; /* also what is not a number */
    out[i] = colours[(int) (t < 255 ? t : 255)];
  }
  for (int64_t i = 0; i < n; i++)
    if (!isfinite (pixels[i]))
      out[i] = 0;
}

static guint32
pack (const guint8 *rgb)
{
  return 0xff000000u | (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];
}

static guint32
hatch (float value, int x, int y)
{
  int along = isnan (value) ? x + y : x - y + (1 << 20);
  gboolean light = along % LAM_HATCH_PERIOD < LAM_HATCH_PERIOD / 2, quiet = lam_is_quiet (value);
  return pack (quiet ? (light ? quiet_light : quiet_dark) : light ? hatch_light : hatch_dark);
}

/* Between the pixels of a large picture: a thin line of grey. */
static guint32
on_grid (guint32 colour)
{
  guint8 c[3] = {colour >> 16 & 255, colour >> 8 & 255, colour & 255};
  for (int i = 0; i < 3; i++)
    c[i] = (guint8) (c[i] * 0.65f + 128 * 0.35f + 0.5f);
  return pack (c);
}

void
lam_slice_raster (const LamSnapshot *shot, const LamSliceLook *look, const guint8 *map, int width, int height,
                  guint32 *argb)
{
  g_return_if_fail (look != NULL && map != NULL && argb != NULL);
  const LamSnapshotInfo none = {.width = 0}, *info = shot != NULL ? lam_snapshot_info (shot) : &none;
  const float *pixels = shot != NULL ? lam_snapshot_pixels (shot) : NULL;
  gboolean grid = fmin (look->scale_x, look->scale_y) >= LAM_GRID_SCALE;
  g_autofree int64_t *columns = g_new (int64_t, MAX (width, 1));
  g_autofree gboolean *edges = g_new (gboolean, MAX (width, 1));
  g_autofree guint32 *colours = g_new (guint32, MAX (info->width, 1));
  guint32 table[256], around = pack (surround);
  for (int x = 0; x < width; x++)
    columns[x] = source (x, look->origin_x, look->scale_x, info->width, &edges[x]);
  for (int i = 0; i < 256; i++)
    table[i] = pack (map + 4 * (look->inverted ? 255 - i : i));

  int64_t coloured = -1;      /* the picture's row in @colours ... */
  const guint32 *same = NULL; /* ... and the last line made of it, if every line of it looks so */
  for (int y = 0; y < height; y++) {
    gboolean row_edge, bad = FALSE;
    int64_t row = source (y, look->origin_y, look->scale_y, info->height, &row_edge);
    guint32 *out = argb + (size_t) y * width;
    if (row == coloured && same != NULL && !grid) {
      memcpy (out, same, (size_t) width * 4);
      continue;
    }
    if (row >= 0 && row != coloured) {
      colour_row (pixels + row * info->width, info->width, look, table, colours);
      coloured = row;
    }
    for (int x = 0; x < width; x++) {
      if (row < 0 || columns[x] < 0) {
        out[x] = around;
        continue;
      }
      guint32 c = colours[columns[x]];
      if (c == 0) {
        c = hatch (pixels[row * info->width + columns[x]], x, y);
        bad = TRUE;
      }
      out[x] = grid && (row_edge || edges[x]) ? on_grid (c) : c;
    }
    same = bad || row < 0 ? NULL : out;
  }
}
