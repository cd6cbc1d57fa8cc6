#include "io/png.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

#define MAX_SIDE (INT64_C (1) << 17)
/* A diagonal stripe of the hatch, in pixels of the picture. */
#define HATCH 4

typedef struct {
  LamAtomicFile *file;
  int64_t offset;
  GError *error;
  char complaint[200];
} Sink;

static void
sink_error (png_structp png, png_const_charp text)
{
  Sink *s = png_get_error_ptr (png);
  g_strlcpy (s->complaint, text, sizeof s->complaint);
  longjmp (png_jmpbuf (png), 1);
}

static void
sink_warning (png_structp png, png_const_charp text)
{
}

static void
sink_write (png_structp png, png_bytep data, size_t bytes)
{
  Sink *s = png_get_io_ptr (png);
  if (!lam_atomic_pwrite (s->file, data, (int64_t) bytes, s->offset, &s->error))
    png_error (png, "the disk refused");
  s->offset += (int64_t) bytes;
}

static void
sink_flush (png_structp png)
{
}

/* Nothing that setjmp could spoil lives in this frame. */
static gboolean
encode (png_structp png, png_infop info, const unsigned char *pixels, uint32_t width, uint32_t height, int channels)
{
  if (setjmp (png_jmpbuf (png)))
    return FALSE;
  png_set_IHDR (png, info, width, height, 8, channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info (png, info);
  for (uint32_t y = 0; y < height; y++)
    png_write_row (png, pixels + (size_t) y * width * channels);
  png_write_end (png, info);
  return TRUE;
}

gboolean
lam_png_write_pixels (const char *path, const unsigned char *pixels, int64_t width, int64_t height, int channels,
                      GError **error)
{
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || (channels != 1 && channels != 3)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: a picture of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " with %d channels cannot be written",
                 path, width, height, channels);
    return FALSE;
  }
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (!file)
    return FALSE;
  Sink sink = {.file = file};
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, &sink, sink_error, sink_warning);
  png_infop info = png ? png_create_info_struct (png) : NULL;
  gboolean ok = info != NULL;
  if (ok) {
    png_set_write_fn (png, &sink, sink_write, sink_flush);
    ok = encode (png, info, pixels, (uint32_t) width, (uint32_t) height, channels);
  }
  if (png)
    png_destroy_write_struct (&png, info ? &info : NULL);
  if (ok)
    return lam_atomic_commit (file, error);
  if (sink.error)
    g_propagate_error (error, sink.error);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FAILED, "%s: the PNG could not be made: %s", path,
                 *sink.complaint ? sink.complaint : "out of memory");
  return FALSE;
}

static int
level (float value, double low, double high)
{
  if (high == low)
    return value < low ? 0 : value > high ? 255 : 128;
  double t = ((double) value - low) / (high - low) * 255;
  return (int) lrint (LAM_CLAMP (t, 0, 255));
}

gboolean
lam_png_write (const char *path, const float *plane, int64_t width, int64_t height, double low, double high,
               const unsigned char *rgb, int zoom, GError **error)
{
  if (width < 1 || height < 1 || zoom < 1 || zoom > 64 || width > MAX_SIDE / zoom || height > MAX_SIDE / zoom
      || !isfinite (low) || !isfinite (high)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: a picture of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " at zoom %d cannot be made, or its levels are not finite",
                 path, width, height, zoom);
    return FALSE;
  }
  gboolean bad = FALSE;
  for (int64_t i = 0; i < width * height && !bad; i++)
    bad = !isfinite (plane[i]);
  int channels = rgb || bad ? 3 : 1;
  int64_t w = width * zoom, h = height * zoom;
  unsigned char *pixels = lam_alloc (w * h * channels, "making a picture", error);
  if (!pixels)
    return FALSE;
  unsigned char *out = pixels;
  for (int64_t y = 0; y < h; y++)
    for (int64_t x = 0; x < w; x++, out += channels) {
      float value = plane[(y / zoom) * width + x / zoom];
      int grey = isfinite (value) ? level (value, low, high) : -1;
      if (channels == 1)
        out[0] = (unsigned char) grey;
      else if (grey < 0) /* red and white stripes: neither is in a grey picture */
        memcpy (out, (x + y) / HATCH % 2 ? "\xe0\x1b\x24" : "\xff\xff\xff", 3);
      else
        memcpy (out, rgb ? rgb + 3 * grey : (const unsigned char[3]){grey, grey, grey}, 3);
    }
  gboolean ok = lam_png_write_pixels (path, pixels, w, h, channels, error);
  lam_free (pixels);
  return ok;
}
