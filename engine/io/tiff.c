#include "io/tiff.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

/* Largest side of an image that is taken. */
#define MAX_SIDE (INT64_C (1) << 20)
/* Floats of a block of planes while a volume is turned. */
#define PIECE (INT64_C (8) << 20)

/* The library's message for one handle (its global handlers are not thread safe). */
typedef struct {
  char text[256];
} Complaint;

static int
take_complaint (TIFF *tif, void *data, const char *module, const char *format, va_list args)
{
  Complaint *c = data;
  if (!*c->text)
    g_vsnprintf (c->text, sizeof c->text, format, args);
  return 1; /* handled: nothing goes to stderr */
}

static int
ignore_warning (TIFF *tif, void *data, const char *module, const char *format, va_list args)
{
  return 1;
}

static TIFF *
open_handle (int fd, const char *path, const char *mode, Complaint *complaint)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  if (!options)
    return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR (options, take_complaint, complaint);
  TIFFOpenOptionsSetWarningHandlerExtR (options, ignore_warning, NULL);
  TIFF *tif = fd >= 0 ? TIFFFdOpenExt (fd, path, mode, options) : TIFFOpenExt (path, mode, options);
  TIFFOpenOptionsFree (options);
  return tif;
}

static void
fail (GError **error, int code, const char *path, const char *what, const Complaint *complaint)
{
  g_autofree char *why = g_utf8_make_valid (complaint->text, -1);
  g_set_error (error, LAM_ERROR, code, "%s: %s%s%s%s", path, what, *why ? " (libtiff: " : "", why, *why ? ")" : "");
}

/* ---- writing ---- */

static gboolean
put_plane (TIFF *tif, const float *plane, int64_t width, int64_t height, double pitch_mm, const char *description)
{
  gboolean ok = TIFFSetField (tif, TIFFTAG_IMAGEWIDTH, (uint32_t) width)
                && TIFFSetField (tif, TIFFTAG_IMAGELENGTH, (uint32_t) height)
                && TIFFSetField (tif, TIFFTAG_BITSPERSAMPLE, 32) && TIFFSetField (tif, TIFFTAG_SAMPLESPERPIXEL, 1)
                && TIFFSetField (tif, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP)
                && TIFFSetField (tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK)
                && TIFFSetField (tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG)
                && TIFFSetField (tif, TIFFTAG_COMPRESSION, COMPRESSION_NONE)
                && TIFFSetField (tif, TIFFTAG_SOFTWARE, "Lamina " LAMINA_VERSION);
  if (description)
    ok = ok && TIFFSetField (tif, TIFFTAG_IMAGEDESCRIPTION, description);
  if (pitch_mm > 0 && isfinite (pitch_mm)) {
    float per_cm = (float) (10 / pitch_mm);
    ok = ok && TIFFSetField (tif, TIFFTAG_XRESOLUTION, per_cm) && TIFFSetField (tif, TIFFTAG_YRESOLUTION, per_cm)
         && TIFFSetField (tif, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
  }
  int64_t strip = LAM_CLAMP ((INT64_C (1) << 20) / (width * 4), 1, height);
  ok = ok && TIFFSetField (tif, TIFFTAG_ROWSPERSTRIP, (uint32_t) strip);
  for (int64_t y = 0; ok && y < height; y += strip) {
    int64_t n = LAM_MIN (strip, height - y) * width * 4;
    ok = TIFFWriteEncodedStrip (tif, (uint32_t) (y / strip), (void *) (plane + y * width), n) == n;
  }
  return ok;
}

gboolean
lam_tiff_write_plane (const char *path, const float *plane, int64_t width, int64_t height, double pitch_mm,
                      const char *description, GError **error)
{
  Complaint complaint = {""};
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE
      || lam_mul_size (width, height) > INT64_C (900) << 20) { /* 4 bytes each, below the 4 GiB of a classic TIFF */
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 "%s: a picture of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " does not fit into a TIFF file", path,
                 width, height);
    return FALSE;
  }
  g_autoptr (LamAtomicFile) file = lam_atomic_new (path, error);
  if (!file || !lam_atomic_reserve (file, width * height * 4 + 4096, error))
    return FALSE;
  if (ftruncate (file->fd, 0) != 0) { /* libtiff grows it again; the space was there a moment ago */
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: could not be written: %s", path, g_strerror (errno));
    return FALSE;
  }
  int fd = dup (file->fd); /* the library closes its own */
  TIFF *tif = fd < 0 ? NULL : open_handle (fd, path, "w", &complaint);
  gboolean ok = tif && put_plane (tif, plane, width, height, pitch_mm, description) && TIFFFlush (tif);
  if (tif)
    TIFFClose (tif);
  else if (fd >= 0)
    close (fd);
  if (!ok || *complaint.text) {
    fail (error, LAM_ERROR_IO, path, "could not be written", &complaint);
    return FALSE;
  }
  return lam_atomic_commit (file, error);
}

/* ---- what a stack says of its volume ---- */

#define DESCRIPTION "Lamina volume"

static void
add_line (GString *text, const char *name, const char *value)
{
  if (!value || !*value)
    return;
  g_autofree char *plain = g_strdelimit (g_strdup (value), "\r\n", ' ');
  g_string_append_printf (text, "\n%s=%s", name, plain);
}

static char *
describe (const LamVolumeInfo *info)
{
  GString *text = g_string_new (DESCRIPTION);
  char number[3][G_ASCII_DTOSTR_BUF_SIZE];
  const double *v = info->voxel_size;
  if (v[0] > 0 && v[1] > 0 && v[2] > 0) {
    for (int i = 0; i < 3; i++)
      g_ascii_dtostr (number[i], sizeof number[i], v[i]);
    g_string_append_printf (text, "\nvoxel_size=%s %s %s", number[0], number[1], number[2]);
  }
  add_line (text, "length_unit", info->length_unit);
  add_line (text, "units", info->units);
  add_line (text, "long_name", info->long_name);
  add_line (text, "provenance", info->provenance);
  return g_string_free (text, FALSE);
}

static void
take_description (LamTiffStack *s, const char *text)
{
  const struct {
    const char *name;
    char **field;
  } fields[] = {
      {"length_unit=", &s->length_unit},
      {"units=", &s->units},
      {"long_name=", &s->long_name},
      {"provenance=", &s->provenance},
  };
  s->voxel_size[0] = s->voxel_size[1] = s->voxel_size[2] = NAN;
  if (!text || !g_str_has_prefix (text, DESCRIPTION "\n") || !g_utf8_validate (text, -1, NULL))
    return;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines + 1; *line; line++) {
    if (g_str_has_prefix (*line, "voxel_size=")) {
      char *at = *line + strlen ("voxel_size=");
      double v[3] = {0};
      for (int i = 0; i < 3; i++)
        v[i] = g_ascii_strtod (at, &at);
      if (v[0] > 0 && v[1] > 0 && v[2] > 0 && isfinite (v[0] + v[1] + v[2]))
        memcpy (s->voxel_size, v, sizeof v);
    }
    for (size_t i = 0; i < G_N_ELEMENTS (fields); i++)
      if (g_str_has_prefix (*line, fields[i].name) && !*fields[i].field)
        *fields[i].field = g_strdup (*line + strlen (fields[i].name));
  }
}

gboolean
lam_tiff_write_stack (const char *folder, const char *name, const float *volume, int64_t rows, int64_t columns,
                      int64_t slices, const LamVolumeInfo *info, const LamIoControl *control, GError **error)
{
  g_autofree char *description = info ? describe (info) : NULL;
  double pitch_mm = info && g_strcmp0 (info->length_unit, "mm") == 0 ? info->voxel_size[1] : 0;
  int64_t pixels = lam_mul_size (rows, columns);
  if (pixels < 1 || slices < 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s: an empty volume cannot be written", folder);
    return FALSE;
  }
  if (g_mkdir_with_parents (folder, 0777) != 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: the folder cannot be made: %s", folder, g_strerror (errno));
    return FALSE;
  }
  /* A few slices at a time: their pixels lie side by side in the volume. */
  int64_t step = LAM_CLAMP (PIECE / pixels, 1, LAM_MIN (slices, LAM_LANES));
  int digits = slices > 10000 ? 6 : 4;
  float *block = lam_alloc_n (lam_mul_size (step, pixels), sizeof *block, "writing slices", error);
  if (!block)
    return FALSE;
  gboolean ok = TRUE;
  int64_t done = 0;
  for (int64_t k0 = 0; ok && k0 < slices; k0 += step) {
    int64_t n = LAM_MIN (step, slices - k0);
    for (int64_t p = 0; p < pixels; p++)
      for (int64_t k = 0; k < n; k++)
        block[k * pixels + p] = volume[p * slices + k0 + k];
    for (int64_t k = 0; ok && k < n; k++) {
      g_autofree char *file = g_strdup_printf ("%s_%0*" G_GINT64_FORMAT ".tif", name, digits, k0 + k);
      g_autofree char *path = g_build_filename (folder, file, NULL);
      ok = lam_io_control_step (control, (double) (k0 + k) / (double) slices, "slices", error)
           && lam_tiff_write_plane (path, block + k * pixels, columns, rows, pitch_mm, description, error);
      done += ok;
    }
  }
  lam_free (block);
  if (!ok)
    g_prefix_error (error, "after %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " slices: ", done, slices);
  return ok && lam_io_control_step (control, 1, "slices", error);
}

/* ---- reading ---- */

typedef struct {
  int64_t width, height;
  uint16_t bits, format;
} Shape;

static gboolean
take_shape (TIFF *tif, const char *path, Shape *shape, GError **error)
{
  uint32_t width = 0, height = 0;
  uint16_t samples = 1, planar = PLANARCONFIG_CONTIG;
  shape->bits = 1;
  shape->format = SAMPLEFORMAT_UINT;
  TIFFGetField (tif, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField (tif, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted (tif, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted (tif, TIFFTAG_BITSPERSAMPLE, &shape->bits);
  TIFFGetFieldDefaulted (tif, TIFFTAG_SAMPLEFORMAT, &shape->format);
  TIFFGetFieldDefaulted (tif, TIFFTAG_PLANARCONFIG, &planar);
  shape->width = width;
  shape->height = height;
  gboolean real = shape->format == SAMPLEFORMAT_IEEEFP && (shape->bits == 32 || shape->bits == 64);
  gboolean whole = (shape->format == SAMPLEFORMAT_UINT || shape->format == SAMPLEFORMAT_INT)
                   && (shape->bits == 8 || shape->bits == 16 || shape->bits == 32);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || samples != 1 || TIFFIsTiled (tif)
      || !(real || whole)) {
    g_set_error (
        error, LAM_ERROR, LAM_ERROR_FORMAT,
        "%s: %u x %u, %u samples a pixel of %u bits, kind %u%s; one sample of 8, 16, 32 bits or 32, 64 bits real, in "
        "strips, was expected",
        path, width, height, samples, shape->bits, shape->format, TIFFIsTiled (tif) ? ", in tiles" : "");
    return FALSE;
  }
  return TRUE;
}

static TIFF *
open_read (const char *path, Complaint *complaint, Shape *shape, GError **error)
{
  struct stat s;
  if (stat (path, &s) != 0 || !S_ISREG (s.st_mode)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path,
                 errno ? g_strerror (errno) : "not a plain file");
    return NULL;
  }
  TIFF *tif = open_handle (-1, path, "rm", complaint); /* m: not mapped, so that a file cut off meanwhile is an error */
  if (!tif) {
    fail (error, LAM_ERROR_FORMAT, path, "is not a TIFF file, or is damaged", complaint);
    return NULL;
  }
  if (take_shape (tif, path, shape, error))
    return tif;
  TIFFClose (tif);
  return NULL;
}

gboolean
lam_tiff_size (const char *path, int64_t *width, int64_t *height, GError **error)
{
  Complaint complaint = {""};
  Shape shape;
  TIFF *tif = open_read (path, &complaint, &shape, error);
  if (!tif)
    return FALSE;
  *width = shape.width;
  *height = shape.height;
  TIFFClose (tif);
  return TRUE;
}

static void
convert (const void *in, float *out, int64_t n, const Shape *shape)
{
  gboolean is_signed = shape->format == SAMPLEFORMAT_INT;
#define CASE(type)                                                                                                     \
  for (int64_t i = 0; i < n; i++)                                                                                      \
  out[i] = (float) ((const type *) in)[i]
  if (shape->format == SAMPLEFORMAT_IEEEFP && shape->bits == 64)
    CASE (double);
  else if (shape->format == SAMPLEFORMAT_IEEEFP)
    CASE (float);
  else if (shape->bits == 8 && is_signed)
    CASE (int8_t);
  else if (shape->bits == 8)
    CASE (uint8_t);
  else if (shape->bits == 16 && is_signed)
    CASE (int16_t);
  else if (shape->bits == 16)
    CASE (uint16_t);
  else if (is_signed)
    CASE (int32_t);
  else
    CASE (uint32_t);
#undef CASE
}

gboolean
lam_tiff_read_plane (const char *path, float *plane, int64_t width, int64_t height, GError **error)
{
  Complaint complaint = {""};
  Shape shape;
  TIFF *tif = open_read (path, &complaint, &shape, error);
  if (!tif)
    return FALSE;
  gboolean ok = shape.width == width && shape.height == height;
  if (!ok)
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels; %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " were expected",
                 path, shape.width, shape.height, width, height);
  int64_t line = ok ? (int64_t) TIFFScanlineSize64 (tif) : 0;
  if (ok && line < width * shape.bits / 8) {
    fail (error, LAM_ERROR_FORMAT, path, "its line size is wrong; the file is damaged", &complaint);
    ok = FALSE;
  }
  void *buffer = ok ? lam_alloc (line, "reading a TIFF image", error) : NULL;
  ok = buffer != NULL;
  for (int64_t y = 0; ok && y < height; y++) {
    ok = TIFFReadScanline (tif, buffer, (uint32_t) y, 0) == 1;
    if (ok)
      convert (buffer, plane + y * width, width, &shape);
    else {
      g_autofree char *what =
          g_strdup_printf ("line %" G_GINT64_FORMAT " cannot be read; the file is cut off or damaged", y);
      fail (error, LAM_ERROR_FORMAT, path, what, &complaint);
    }
  }
  lam_free (buffer);
  TIFFClose (tif);
  return ok;
}

/* ---- stacks ---- */

/* The last run of digits before the suffix, or -1; @at and @digits tell where it is. */
static int64_t
file_number (const char *name, size_t *at, size_t *digits)
{
  const char *dot = strrchr (name, '.');
  size_t end = dot ? (size_t) (dot - name) : strlen (name), begin;
  while (end > 0 && !g_ascii_isdigit (name[end - 1]))
    end--;
  for (begin = end; begin > 0 && g_ascii_isdigit (name[begin - 1]);)
    begin--;
  *at = begin;
  *digits = end - begin;
  return *digits > 0 && *digits < 18 ? g_ascii_strtoll (name + begin, NULL, 10) : -1;
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  const char *x = *(char *const *) a, *y = *(char *const *) b;
  size_t at, digits;
  int64_t i = file_number (x, &at, &digits), j = file_number (y, &at, &digits);
  return i != j ? (i < j ? -1 : 1) : strcmp (x, y);
}

static gboolean
check_gaps (const char *folder, GPtrArray *names, GError **error)
{
  for (guint i = 1; i < names->len; i++) {
    size_t at, digits;
    const char *last = names->pdata[i - 1], *name = names->pdata[i];
    int64_t before = file_number (last, &at, &digits), here = file_number (name, &at, &digits);
    if (before < 0 || here == before + 1)
      continue;
    if (here == before) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                   "%s: %s and %s have the same number; keep one series in a folder", folder, last, name);
      return FALSE;
    }
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: %.*s%0*" G_GINT64_FORMAT "%s is missing (%" G_GINT64_FORMAT " between %s and %s)", folder,
                 (int) at, name, (int) digits, before + 1, name + at + digits, here - before - 1, last, name);
    return FALSE;
  }
  return TRUE;
}

LamTiffStack *
lam_tiff_stack_open (const char *folder, GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, &why);
  if (!dir) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", folder, why->message);
    return NULL;
  }
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; (name = g_dir_read_name (dir));) {
    g_autofree char *low = g_ascii_strdown (name, -1);
    if (*name != '.' && (g_str_has_suffix (low, ".tif") || g_str_has_suffix (low, ".tiff")))
      g_ptr_array_add (names, g_strdup (name));
  }
  if (names->len == 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: holds no .tif files", folder);
    return NULL;
  }
  g_ptr_array_sort (names, by_number);
  if (!check_gaps (folder, names, error))
    return NULL;
  g_autoptr (LamTiffStack) s = g_new0 (LamTiffStack, 1);
  s->files = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (s->files, g_build_filename (folder, names->pdata[i], NULL));
  Complaint complaint = {""};
  Shape shape;
  TIFF *tif = open_read (s->files->pdata[0], &complaint, &shape, error);
  if (!tif)
    return NULL;
  const char *description = NULL;
  TIFFGetField (tif, TIFFTAG_IMAGEDESCRIPTION, &description);
  take_description (s, description);
  s->width = shape.width;
  s->height = shape.height;
  TIFFClose (tif);
  return g_steal_pointer (&s);
}

void
lam_tiff_stack_free (LamTiffStack *s)
{
  if (!s)
    return;
  g_clear_pointer (&s->files, g_ptr_array_unref);
  g_free (s->length_unit);
  g_free (s->units);
  g_free (s->long_name);
  g_free (s->provenance);
  g_free (s);
}

gboolean
lam_tiff_stack_read (LamTiffStack *s, float *volume, const LamIoControl *control, GError **error)
{
  int64_t pixels = lam_mul_size (s->width, s->height), slices = s->files->len;
  float *plane = lam_alloc_n (pixels, sizeof *plane, "reading slices", error);
  if (!plane)
    return FALSE;
  gboolean ok = TRUE;
  for (int64_t k = 0; ok && k < slices; k++) {
    ok = lam_io_control_step (control, (double) k / (double) slices, "slices", error)
         && lam_tiff_read_plane (s->files->pdata[k], plane, s->width, s->height, error);
    for (int64_t p = 0; ok && p < pixels; p++)
      volume[p * slices + k] = plane[p];
  }
  lam_free (plane);
  return ok && lam_io_control_step (control, 1, "slices", error);
}
