#include "cli/strip.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "io/png.h"

enum { LARGEST = 256, PER_ROW = 9, GAP = 4, GLYPH_WIDTH = 5, GLYPH_HEIGHT = 7 };

/* Five bits a line, from the top; the highest bit is at the left. */
static const struct {
  char c;
  unsigned char lines[GLYPH_HEIGHT];
} glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},    {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {31, 2, 4, 2, 1, 17, 14}},     {'4', {2, 6, 10, 18, 31, 2, 2}},   {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},     {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'.', {0, 0, 0, 0, 0, 12, 12}},    {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'e', {0, 0, 14, 17, 31, 16, 14}},
};

typedef struct {
  unsigned char *pixels;
  int64_t width, height;
} Canvas;

static void
put_text (const Canvas *c, int64_t x, int64_t y, int zoom, const char *text)
{
  for (; *text; text++, x += (GLYPH_WIDTH + 1) * zoom)
    for (gsize g = 0; g < G_N_ELEMENTS (glyphs); g++)
      if (glyphs[g].c == *text)
        for (int64_t i = 0; i < GLYPH_HEIGHT * zoom; i++)
          for (int64_t j = 0; j < GLYPH_WIDTH * zoom; j++)
            if (glyphs[g].lines[i / zoom] >> (GLYPH_WIDTH - 1 - j / zoom) & 1 && x + j < c->width && y + i < c->height)
              c->pixels[(y + i) * c->width + x + j] = 255;
}

static void
put_slice (const Canvas *c, int64_t x, int64_t y, const LamSnapshot *slice, int64_t shrink, double low, double high)
{
  const LamSnapshotInfo *info = lam_snapshot_info (slice);
  const float *in = lam_snapshot_pixels (slice);
  for (int64_t i = 0; i < info->height / shrink; i++)
    for (int64_t j = 0; j < info->width / shrink; j++) {
      double sum = 0;
      for (int64_t a = 0; a < shrink; a++)
        for (int64_t b = 0; b < shrink; b++)
          sum += in[(i * shrink + a) * info->width + j * shrink + b];
      double grey = 255 * (sum / (double) (shrink * shrink) - low) / (high - low);
      c->pixels[(y + i) * c->width + x + j] = isfinite (grey) ? (unsigned char) rint (LAM_CLAMP (grey, 0, 255)) : 0;
    }
}

static void
put_frame (const Canvas *c, int64_t x, int64_t y, int64_t width, int64_t height)
{
  for (int64_t i = 0; i < height; i++)
    for (int64_t j = 0; j < width; j++)
      if (i < 2 || j < 2 || i >= height - 2 || j >= width - 2)
        c->pixels[(y + i) * c->width + x + j] = 255;
}

gboolean
lam_cli_strip_write (const char *path, LamSnapshot *const *slices, const char *const *texts, int n, int marked,
                     double low, double high, GError **error)
{
  const LamSnapshotInfo *info = lam_snapshot_info (slices[0]);
  int64_t longest = LAM_MAX (info->width, info->height), shrink = (longest + LARGEST - 1) / LARGEST;
  int64_t width = info->width / shrink, height = info->height / shrink;
  int zoom = width >= 128 ? 2 : 1;
  int64_t cell = width + 2 * GAP, line = height + 3 * GAP + GLYPH_HEIGHT * zoom, columns = LAM_MIN (n, PER_ROW);
  /* Room for the longest text. */
  for (int i = 0; i < n; i++)
    cell = LAM_MAX (cell, (int64_t) strlen (texts[i]) * (GLYPH_WIDTH + 1) * zoom + 2 * GAP);
  Canvas c = {.width = columns * cell, .height = (n + columns - 1) / columns * line};
  c.pixels = lam_alloc (c.width * c.height, "strip of pictures", error);
  if (!c.pixels)
    return FALSE;
  memset (c.pixels, 0, (size_t) (c.width * c.height));
  high = high > low ? high : low + 1;
  for (int i = 0; i < n; i++) {
    int64_t x = i % columns * cell, y = i / columns * line;
    if (i == marked)
      put_frame (&c, x, y, width + 2 * GAP, height + 2 * GAP);
    put_slice (&c, x + GAP, y + GAP, slices[i], shrink, low, high);
    put_text (&c, x + GAP, y + height + 2 * GAP, zoom, texts[i]);
  }
  gboolean ok = lam_png_write_pixels (path, c.pixels, c.width, c.height, 1, error);
  lam_free (c.pixels);
  return ok;
}
