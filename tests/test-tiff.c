/* Image stacks and pictures. */
#include <glib/gstdio.h>
#include <math.h>
#include <png.h>
#include <string.h>
#include <tiffio.h>

#include "core/error.h"
#include "core/memory.h"
#include "io-util.h"
#include "io/png.h"
#include "io/tiff.h"

#define R 3
#define C 4
#define K 5

static void
fill (float *x)
{
  for (int i = 0; i < R * C * K; i++)
    x[i] = (float) i / 7;
}

static void
test_stack (void)
{
  float x[R * C * K], y[R * C * K];
  g_autofree char *folder = test_path ("stack"), *fourth = g_build_filename (folder, "recon_0003.tif", NULL);
  g_autoptr (GError) error = NULL;
  fill (x);
  x[3] = INFINITY;
  TestControl c;
  const LamVolumeInfo info = {.units = "1/mm",
                              .length_unit = "mm",
                              .voxel_size = {0.1, 0.05, 0.0123456789},
                              .provenance = "{\"scan\":\"b\303\244r.h5\"}"};
  test_control (&c, 0);
  g_assert_true (lam_tiff_write_stack (folder, "recon", x, R, C, K, &info, &c.control, &error));
  g_assert_no_error (error);
  g_assert_cmpint (test_leftovers (fourth), ==, 0);
  g_autoptr (LamTiffStack) s = lam_tiff_stack_open (folder, &error);
  g_assert_no_error (error);
  g_assert_cmpint (s->files->len, ==, K);
  g_assert_cmpmem (s->voxel_size, sizeof s->voxel_size, info.voxel_size, sizeof info.voxel_size);
  g_assert_cmpstr (s->length_unit, ==, "mm");
  g_assert_cmpstr (s->units, ==, "1/mm");
  g_assert_null (s->long_name);
  g_assert_cmpstr (s->provenance, ==, info.provenance);
  g_assert_cmpint (s->width, ==, C);
  g_assert_cmpint (s->height, ==, R);
  g_assert_cmpstr (s->files->pdata[3], ==, fourth);
  test_control (&c, 0);
  g_assert_true (lam_tiff_stack_read (s, y, &c.control, &error));
  g_assert_cmpmem (y, sizeof y, x, sizeof x);
  float pixel = 0;
  TIFF *tif = TIFFOpen (fourth, "r");
  float per_cm = 0;
  TIFFGetField (tif, TIFFTAG_XRESOLUTION, &per_cm);
  g_assert_cmpfloat (per_cm, ==, 200);
  float line[C];
  g_assert_cmpint (TIFFReadScanline (tif, line, 1, 0), ==, 1);
  pixel = line[2];
  TIFFClose (tif);
  g_assert_cmpfloat (pixel, ==, x[(1 * C + 2) * K + 3]);

  g_remove (fourth);
  g_assert_null (lam_tiff_stack_open (folder, &error)); /* F1: the missing name */
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "recon_0003.tif is missing", NULL);
  test_control (&c, 4);
  g_autofree char *half = test_path ("half");
  g_assert_false (lam_tiff_write_stack (half, "recon", x, R, C, K, NULL, &c.control, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_CANCELLED, "after 3 of 5 slices", NULL);
  g_assert_null (lam_tiff_stack_open ("/nowhere", &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_IO, "/nowhere", NULL);
}

/* F1 as reported: 514 names, number 0321 missing. */
static void
test_missing_name (void)
{
  g_autofree char *folder = test_path ("names");
  g_autoptr (GError) error = NULL;
  g_mkdir (folder, 0700);
  for (int i = 0; i < 515; i++) {
    g_autofree char *name = g_strdup_printf ("proj_%04d.tiff", i), *path = g_build_filename (folder, name, NULL);
    if (i != 321)
      test_write_file (path, "", 0);
  }
  g_assert_null (lam_tiff_stack_open (folder, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "proj_0321.tiff is missing", NULL);
}

static void
put_tiff (const char *path, int bits, int format, int samples, gboolean tiles, const void *data, int64_t bytes)
{
  TIFF *tif = TIFFOpen (path, "w");
  TIFFSetField (tif, TIFFTAG_IMAGEWIDTH, 16);
  TIFFSetField (tif, TIFFTAG_IMAGELENGTH, 16);
  TIFFSetField (tif, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField (tif, TIFFTAG_SAMPLEFORMAT, format);
  TIFFSetField (tif, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField (tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField (tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField (tif, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  if (tiles) {
    TIFFSetField (tif, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField (tif, TIFFTAG_TILELENGTH, 16);
    TIFFWriteEncodedTile (tif, 0, (void *) data, bytes);
  } else {
    TIFFSetField (tif, TIFFTAG_ROWSPERSTRIP, 16);
    TIFFWriteEncodedStrip (tif, 0, (void *) data, bytes);
  }
  TIFFClose (tif);
}

#define PUT(path, type, bits, format)                                                                                  \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    type put_values[256];                                                                                              \
    for (int put_i = 0; put_i < 256; put_i++)                                                                          \
      put_values[put_i] = (type) (put_i / 2);                                                                          \
    put_tiff (path, bits, format, 1, FALSE, put_values, sizeof put_values);                                            \
  }                                                                                                                    \
  G_STMT_END

static void
test_kinds (void)
{
  g_autofree char *path = test_path ("kind.tif");
  g_autoptr (GError) error = NULL;
  float y[256];
  for (int kind = 0; kind < 8; kind++) {
    switch (kind) {
    case 0:
      PUT (path, uint8_t, 8, SAMPLEFORMAT_UINT);
      break;
    case 1:
      PUT (path, int8_t, 8, SAMPLEFORMAT_INT);
      break;
    case 2:
      PUT (path, uint16_t, 16, SAMPLEFORMAT_UINT);
      break;
    case 3:
      PUT (path, int16_t, 16, SAMPLEFORMAT_INT);
      break;
    case 4:
      PUT (path, uint32_t, 32, SAMPLEFORMAT_UINT);
      break;
    case 5:
      PUT (path, int32_t, 32, SAMPLEFORMAT_INT);
      break;
    case 6:
      PUT (path, float, 32, SAMPLEFORMAT_IEEEFP);
      break;
    case 7:
      PUT (path, double, 64, SAMPLEFORMAT_IEEEFP);
      break;
    }
    g_assert_true (lam_tiff_read_plane (path, y, 16, 16, &error));
    for (int i = 0; i < 256; i++)
      g_assert_cmpfloat (y[i], ==, i / 2);
  }
  g_assert_false (lam_tiff_read_plane (path, y, 16, 15, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "16 x 16 pixels", "16 x 15", NULL);
  uint8_t rgb[768] = {0};
  put_tiff (path, 8, SAMPLEFORMAT_UINT, 3, FALSE, rgb, sizeof rgb);
  g_assert_false (lam_tiff_read_plane (path, y, 16, 16, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "3 samples a pixel", NULL);
  put_tiff (path, 8, SAMPLEFORMAT_UINT, 1, TRUE, rgb, 256);
  g_assert_false (lam_tiff_read_plane (path, y, 16, 16, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "in tiles", NULL);
  test_write_file (path, "no picture", 10);
  g_assert_false (lam_tiff_read_plane (path, y, 16, 16, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_FORMAT, "not a TIFF file", NULL);
}

static gboolean
try_tiff (const char *path)
{
  static float y[64 * 64];
  int64_t width, height;
  return lam_tiff_size (path, &width, &height, NULL) && width * height <= 64 * 64
         && lam_tiff_read_plane (path, y, width, height, NULL);
}

static void
try_damaged (const char *path)
{
  try_tiff (path);
}

/* The tags lie at the end: a file that lost only a remark still holds its picture, and no other. */
static void
try_cut (const char *path)
{
  float x[R * C * K], y[R * C * K];
  int64_t width, height;
  fill (x);
  if (lam_tiff_size (path, &width, &height, NULL) && width == 10 && height == 6
      && lam_tiff_read_plane (path, y, width, height, NULL) && memcmp (x, y, sizeof x) != 0)
    abort ();
}

static void
test_faults (void)
{
  float x[R * C * K], y[R * C * K];
  g_autofree char *path = test_path ("faults.tif"), *folder = test_path ("faults");
  g_autoptr (GError) error = NULL;
  fill (x);
  g_assert_true (lam_tiff_write_plane (path, x, 10, 6, 0, "a note", &error));
  test_damage (path, g_test_thorough () ? 5000 : 200, 5, try_damaged);
  test_cut (path, 400, try_cut);
  char *disk = test_small_disk (64);
  if (disk) {
    g_autofree char *full = g_build_filename (disk, "full.tif", NULL);
    float *big = lam_alloc_n (256 * 256, sizeof *big, "test", &error);
    memset (big, 0, 256 * 256 * sizeof *big);
    g_assert_false (lam_tiff_write_plane (full, big, 256, 256, 0, NULL, &error));
    test_error (g_steal_pointer (&error), LAM_ERROR_IO, "No space left", NULL);
    g_assert_cmpint (test_leftovers (full), ==, 0);
    g_assert_false (lam_png_write (full, big, 256, 256, 0, 1, NULL, 1, NULL) && FALSE);
    g_assert_cmpint (test_leftovers (full), ==, 0);
    lam_free (big);
    test_small_disk_free (disk);
  }
  gboolean done = FALSE;
  int failed = 0;
  for (int64_t n = 1; !done && n < 50; n++) {
    lam_memory_fail_at (n);
    g_autoptr (LamTiffStack) s = NULL;
    done = lam_tiff_write_stack (folder, "f", x, R, C, K, NULL, NULL, &error)
           && (s = lam_tiff_stack_open (folder, &error)) && lam_tiff_stack_read (s, y, NULL, &error)
           && lam_png_write (path, x, 10, 6, 0, 1, NULL, 1, &error);
    lam_memory_fail_at (0);
    if (!done)
      g_assert_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY);
    g_clear_error (&error);
    failed += !done;
  }
  g_test_message ("%d refused allocations", failed);
  g_assert_true (done && failed >= 4);
}

/* Reads a PNG back with libpng's simple interface, as RGB. */
static unsigned char *
read_png (const char *path, int *width, int *height)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  g_assert_true (png_image_begin_read_from_file (&image, path));
  gboolean grey = !(image.format & PNG_FORMAT_FLAG_COLOR);
  image.format = PNG_FORMAT_RGB;
  unsigned char *pixels = g_malloc (PNG_IMAGE_SIZE (image));
  g_assert_true (png_image_finish_read (&image, NULL, pixels, 0, NULL));
  *width = (int) image.width * (grey ? 1 : -1); /* negative: a colour file */
  *height = (int) image.height;
  return pixels;
}

static void
test_png (void)
{
  g_autofree char *path = test_path ("picture.png");
  g_autoptr (GError) error = NULL;
  const float x[6] = {-1, 0, 0.25f, 0.5f, 1, 2};
  const int want[6] = {0, 0, 64, 128, 255, 255};
  int w, h;
  g_assert_true (lam_png_write (path, x, 3, 2, 0, 1, NULL, 1, &error));
  g_autofree unsigned char *p = read_png (path, &w, &h);
  g_assert_cmpint (w, ==, 3);
  g_assert_cmpint (h, ==, 2);
  for (int i = 0; i < 6; i++)
    g_assert_cmpint (p[3 * i], ==, want[i]);
  g_assert_true (lam_png_write (path, x, 3, 2, 1, 0, NULL, 2, &error)); /* inverted, doubled */
  g_autofree unsigned char *q = read_png (path, &w, &h);
  g_assert_cmpint (w, ==, 6);
  g_assert_cmpint (h, ==, 4);
  g_assert_cmpint (q[3 * 0], ==, 255);
  g_assert_cmpint (q[3 * (6 + 3)], ==, 255);
  g_assert_cmpint (q[3 * (3 * 6 + 5)], ==, 0);
  /* Bad pixels are hatched in a colour that no grey has. */
  float bad[64];
  for (int i = 0; i < 64; i++)
    bad[i] = i % 2 ? NAN : 0.5f;
  g_assert_true (lam_png_write (path, bad, 8, 8, 0, 1, NULL, 1, &error));
  g_autofree unsigned char *b = read_png (path, &w, &h);
  g_assert_cmpint (w, ==, -8);
  int red = 0;
  for (int i = 0; i < 64; i++)
    red += b[3 * i] != b[3 * i + 1];
  g_assert_cmpint (red, ==, 16);
  g_assert_true (lam_png_write (path, x, 3, 2, 0, 0, NULL, 1, &error)); /* an empty window: no division by 0 */
  g_assert_false (lam_png_write (path, x, 3, 2, NAN, 1, NULL, 1, &error));
  test_error (g_steal_pointer (&error), LAM_ERROR_INVALID, path, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tiff/stack", test_stack);
  g_test_add_func ("/tiff/missing-name", test_missing_name);
  g_test_add_func ("/tiff/kinds", test_kinds);
  g_test_add_func ("/tiff/faults", test_faults);
  g_test_add_func ("/png/picture", test_png);
  int result = g_test_run ();
  test_clean ();
  return result;
}
