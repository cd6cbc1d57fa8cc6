#include "io/nifti.h"

#include <errno.h>
#include <math.h>
#include <nifti/nifti1_io.h>
#include <nifti/nifti2.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

#define PIECE (INT64_C (1) << 20) /* samples */
#define MOST_AXIS (INT64_C (1) << 40)
/* A byte of deflate makes no more than so many. */
#define INFLATE 1032

G_STATIC_ASSERT (sizeof (struct nifti_1_header) == 348 && sizeof (struct nifti_2_header) == 540);

static const struct {
  int code, bytes, swap; /* swap: bytes of a number */
  const char *name;
} types[] = {{2, 1, 1, "uint8"},      {4, 2, 2, "int16"},    {8, 4, 4, "int32"},     {16, 4, 4, "float32"},
             {32, 8, 4, "complex64"}, {64, 8, 8, "float64"}, {256, 1, 1, "int8"},    {512, 2, 2, "uint16"},
             {768, 4, 4, "uint32"},   {1024, 8, 8, "int64"}, {1280, 8, 8, "uint64"}, {1792, 16, 8, "complex128"}};

static int
type_of (int code)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].code == code)
      return (int) i;
  return -1;
}

const char *
lam_nifti_type_name (int datatype)
{
  int t = type_of (datatype);
  return t >= 0 ? types[t].name : "unknown";
}

static void
refuse (GError **error, const char *path, const char *what)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s", path, what);
}

/* ---- headers ---- */

typedef union {
  struct nifti_1_header one;
  struct nifti_2_header two;
  unsigned char bytes[540];
} Header;

/* The numbers of a NIfTI-2 header in the other byte order. */
static void
swap_two (struct nifti_2_header *h)
{
  nifti_swap_4bytes (1, &h->sizeof_hdr);
  nifti_swap_2bytes (2, &h->datatype);
  nifti_swap_8bytes (19, h->dim);        /* … pixdim */
  nifti_swap_8bytes (9, &h->vox_offset); /* … slice_end */
  nifti_swap_4bytes (2, &h->qform_code);
  nifti_swap_8bytes (18, &h->quatern_b); /* … srow_z */
  nifti_swap_4bytes (3, &h->slice_code);
}

G_STATIC_ASSERT (G_STRUCT_OFFSET (struct nifti_2_header, vox_offset) - G_STRUCT_OFFSET (struct nifti_2_header, dim)
                 == 8 * 19);
G_STATIC_ASSERT (G_STRUCT_OFFSET (struct nifti_2_header, descrip) - G_STRUCT_OFFSET (struct nifti_2_header, vox_offset)
                 == 8 * 9);
G_STATIC_ASSERT (G_STRUCT_OFFSET (struct nifti_2_header, slice_code)
                     - G_STRUCT_OFFSET (struct nifti_2_header, quatern_b)
                 == 8 * 18);

/* The fields that count, of either version. */
typedef struct {
  int64_t dim[8];
  double pixdim[8], offset, slope, inter, quatern[3], qoffset[3], srow[3][4];
  int datatype, qform, sform, units;
  char what[81];
} Fields;

#define TAKE(h)                                                                                                        \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    for (int i = 0; i < 8; i++) {                                                                                      \
      f->dim[i] = (h)->dim[i];                                                                                         \
      f->pixdim[i] = (double) (h)->pixdim[i];                                                                          \
    }                                                                                                                  \
    f->offset = (double) (h)->vox_offset;                                                                              \
    f->slope = (double) (h)->scl_slope;                                                                                \
    f->inter = (double) (h)->scl_inter;                                                                                \
    f->datatype = (h)->datatype;                                                                                       \
    f->qform = (h)->qform_code;                                                                                        \
    f->sform = (h)->sform_code;                                                                                        \
    f->units = (h)->xyzt_units;                                                                                        \
    memcpy (f->what, (h)->descrip, 80);                                                                                \
    f->quatern[0] = (double) (h)->quatern_b;                                                                           \
    f->quatern[1] = (double) (h)->quatern_c;                                                                           \
    f->quatern[2] = (double) (h)->quatern_d;                                                                           \
    f->qoffset[0] = (double) (h)->qoffset_x;                                                                           \
    f->qoffset[1] = (double) (h)->qoffset_y;                                                                           \
    f->qoffset[2] = (double) (h)->qoffset_z;                                                                           \
    for (int i = 0; i < 4; i++) {                                                                                      \
      f->srow[0][i] = (double) (h)->srow_x[i];                                                                         \
      f->srow[1][i] = (double) (h)->srow_y[i];                                                                         \
      f->srow[2][i] = (double) (h)->srow_z[i];                                                                         \
    }                                                                                                                  \
  }                                                                                                                    \
  G_STMT_END

static gboolean
take_header (LamNifti *n, Header *h, size_t got, Fields *f, GError **error)
{
  int32_t size = 0;
  memcpy (&size, h->bytes, 4);
  int32_t turned = GINT32_FROM_LE (GUINT32_SWAP_LE_BE (size));
  n->swapped = turned == 348 || turned == 540;
  n->version = size == 348 || turned == 348 ? 1 : size == 540 || turned == 540 ? 2 : 0;
  if (n->version == 0 || got < 348) {
    refuse (error, n->path, got < 348 ? "it is cut off within its header" : "it is no NIfTI file");
    return FALSE;
  }
  if (n->version == 1) {
    if (memcmp (h->one.magic, "ni1", 4) == 0) {
      refuse (error, n->path, "it is one half of a .hdr and .img pair; make one .nii file of both");
      return FALSE;
    }
    if (memcmp (h->one.magic, "n+1", 4) != 0) {
      refuse (error, n->path, "it is an ANALYZE file or damaged: it lacks the mark of NIfTI");
      return FALSE;
    }
    if (n->swapped)
      swap_nifti_header (&h->one, 1);
    TAKE (&h->one);
    return TRUE;
  }
  if (got < 540 || memcmp (h->two.magic, "n+2\0\r\n\032\n", 8) != 0) {
    refuse (error, n->path,
            got < 540 ? "it is cut off within its header" : "it is damaged: its mark is not that of a NIfTI-2 file");
    return FALSE;
  }
  if (n->swapped)
    swap_two (&h->two);
  TAKE (&h->two);
  return TRUE;
}

static gboolean
take_shape (LamNifti *n, const Fields *f, GError **error)
{
  int rank = (int) f->dim[0];
  n->contrasts = 1;
  if (f->dim[0] < 1 || f->dim[0] > 7) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: it states %" G_GINT64_FORMAT " axes; 1 to 7 are possible",
                 n->path, f->dim[0]);
    return FALSE;
  }
  for (int i = 1; i <= 7; i++) {
    int64_t d = i <= rank ? f->dim[i] : 1;
    if (d < 1 || d > MOST_AXIS) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: axis %d has %" G_GINT64_FORMAT " elements", n->path, i, d);
      return FALSE;
    }
    if (i <= 3)
      n->dims[i - 1] = d;
    else
      n->contrasts = lam_mul_size (n->contrasts, d);
  }
  n->voxels = lam_mul_size (lam_mul_size (n->dims[0], n->dims[1]), n->dims[2]);
  int t = type_of (f->datatype);
  if (t < 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: samples of type %d are no numbers that can be used%s",
                 n->path, f->datatype, f->datatype == 128 || f->datatype == 2304 ? " (colours)" : "");
    return FALSE;
  }
  n->datatype = f->datatype;
  n->is_complex = f->datatype == 32 || f->datatype == 1792;
  return TRUE;
}

/* What the header asks for against what the file can hold. */
static gboolean
check_size (LamNifti *n, const Fields *f, GError **error)
{
  LamFileStamp stamp;
  double least = n->version == 1 ? 352 : 544, offset = f->offset < least && n->version == 1 ? least : f->offset;
  if (!(offset >= least) || !(offset < 1e15) || offset != floor (offset)) {
    refuse (error, n->path, "its samples begin nowhere; the header is damaged");
    return FALSE;
  }
  n->offset = (int64_t) offset;
  int64_t bytes = lam_mul_size (lam_mul_size (n->voxels, n->contrasts), types[type_of (n->datatype)].bytes);
  if (!lam_file_stamp (n->path, &stamp, error))
    return FALSE;
  int64_t most = n->compressed ? lam_mul_size (stamp.size, INFLATE) : stamp.size;
  if (bytes < 0 || lam_mul_size (bytes, 2) < 0 || (most >= 0 && n->offset + bytes > most)) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: it states %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " voxels of %" G_GINT64_FORMAT
                 " contrasts, and the file is too short for them; it is cut off or damaged",
                 n->path, n->dims[0], n->dims[1], n->dims[2], n->contrasts);
    return FALSE;
  }
  return TRUE;
}

static gboolean
take_place (LamNifti *n, const Fields *f, GError **error)
{
  double mm = (f->units & 7) == 1 ? 1000 : (f->units & 7) == 3 ? 0.001 : 1; /* m, um; else mm, or not said */
  gboolean fine = TRUE;
  n->sform_code = f->sform;
  n->qform_code = f->qform;
  n->units = f->units;
  g_autofree char *what = g_utf8_make_valid (f->what, -1);
  g_strlcpy (n->what, g_strstrip (what), sizeof n->what);
  memcpy (n->sform, f->srow, sizeof n->sform);
  memcpy (n->quatern, f->quatern, sizeof n->quatern);
  memcpy (n->qoffset, f->qoffset, sizeof n->qoffset);
  memcpy (n->pixdim, f->pixdim, sizeof n->pixdim);
  n->place = f->sform > 0 ? LAM_NIFTI_SFORM : f->qform > 0 ? LAM_NIFTI_QFORM : LAM_NIFTI_PIXDIM;
  for (int i = 0; i < 3; i++) {
    double size = fabs (f->pixdim[i + 1]) * mm;
    n->voxel_size[i] = isfinite (size) && size > 0 ? size : 1;
  }
  if (n->place == LAM_NIFTI_QFORM) {
    mat44 m = nifti_quatern_to_mat44 ((float) f->quatern[0], (float) f->quatern[1], (float) f->quatern[2],
                                      (float) f->qoffset[0], (float) f->qoffset[1], (float) f->qoffset[2],
                                      (float) f->pixdim[1], (float) f->pixdim[2], (float) f->pixdim[3],
                                      f->pixdim[0] < 0 ? -1 : 1);
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++)
        n->affine[r][c] = (double) m.m[r][c] * mm;
  } else
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++)
        n->affine[r][c] = n->place == LAM_NIFTI_SFORM ? f->srow[r][c] * mm : c == r ? n->voxel_size[r] : 0;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 4; c++)
      fine = fine && isfinite (n->affine[r][c]);
  if (!fine)
    refuse (error, n->path, "where its voxels lie (sform, qform) is not finite; the header is damaged");
  n->scaled = isfinite (f->slope) && f->slope != 0 && isfinite (f->inter) && (f->slope != 1 || f->inter != 0);
  n->slope = n->scaled ? f->slope : 1;
  n->inter = n->scaled ? f->inter : 0;
  return fine;
}

static znzFile
open_file (const char *path, gboolean *compressed, GError **error)
{
  unsigned char head[2] = {0};
  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR)) {
    refuse (error, path, "is not a plain file");
    return NULL;
  }
  FILE *f = fopen (path, "rb");
  if (!f) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened: %s", path, g_strerror (errno));
    return NULL;
  }
  *compressed = fread (head, 1, 2, f) == 2 && head[0] == 0x1f && head[1] == 0x8b;
  fclose (f);
  znzFile z = znzopen (path, "rb", *compressed);
  if (znz_isnull (z))
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: cannot be opened", path);
  return z;
}

LamNifti *
lam_nifti_open (const char *path, GError **error)
{
  g_autoptr (LamNifti) n = g_new0 (LamNifti, 1);
  Header h = {0};
  Fields f = {0};
  n->path = g_strdup (path);
  znzFile z = open_file (path, &n->compressed, error);
  if (!z)
    return NULL;
  size_t got = znzread (h.bytes, 1, sizeof h, z);
  znzclose (z);
  got = got <= sizeof h ? got : 0; /* what the decompressor did not like */
  if (!take_header (n, &h, got, &f, error) || !take_shape (n, &f, error) || !check_size (n, &f, error)
      || !take_place (n, &f, error))
    return NULL;
  return g_steal_pointer (&n);
}

LamNifti *
lam_nifti_new (const int64_t dims[3], const double voxel_size[3], int64_t contrasts)
{
  LamNifti *n = g_new0 (LamNifti, 1);
  n->version = 1;
  n->datatype = 16;
  n->voxels = 1;
  n->contrasts = contrasts;
  n->slope = 1;
  n->place = LAM_NIFTI_SFORM;
  n->sform_code = n->qform_code = 1;
  n->units = 2;
  n->pixdim[0] = 1;
  for (int i = 0; i < 3; i++) {
    n->dims[i] = dims[i];
    n->voxels *= dims[i];
    n->voxel_size[i] = n->pixdim[i + 1] = n->affine[i][i] = n->sform[i][i] = voxel_size[i];
    n->affine[i][3] = n->sform[i][3] = n->qoffset[i] = -0.5 * voxel_size[i] * (double) (dims[i] - 1);
  }
  return n;
}

void
lam_nifti_free (LamNifti *n)
{
  g_free (n->path);
  g_free (n);
}

gboolean
lam_nifti_is_one (const char *path)
{
  gboolean compressed;
  unsigned char head[348] = {0};
  int32_t size = 0;
  znzFile z = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? open_file (path, &compressed, NULL) : NULL;
  if (!z)
    return FALSE;
  size_t got = znzread (head, 1, sizeof head, z);
  znzclose (z);
  memcpy (&size, head, 4);
  int32_t turned = (int32_t) GUINT32_SWAP_LE_BE ((guint32) size);
  return got == sizeof head && (size == 348 || size == 540 || turned == 348 || turned == 540);
}

/* ---- samples ---- */

/* Number @i of @raw, of type @t. */
static double
number_at (const void *raw, int code, int64_t i)
{
  switch (code) {
  case 2:
    return ((const uint8_t *) raw)[i];
  case 4:
    return ((const int16_t *) raw)[i];
  case 8:
    return ((const int32_t *) raw)[i];
  case 16:
  case 32:
    return ((const float *) raw)[i];
  case 256:
    return ((const int8_t *) raw)[i];
  case 512:
    return ((const uint16_t *) raw)[i];
  case 768:
    return ((const uint32_t *) raw)[i];
  case 1024:
    return (double) ((const int64_t *) raw)[i];
  case 1280:
    return (double) ((const uint64_t *) raw)[i];
  default: /* 64, 1792 */
    return ((const double *) raw)[i];
  }
}

/* Samples [first, first + count) of contrast @t to their places. */
static void
spread (const LamNifti *n, const void *raw, int64_t t, int64_t first, int64_t count, float *re, float *im)
{
  for (int64_t i = 0; i < count; i++) {
    int64_t at = (first + i) * n->contrasts + t;
    if (n->is_complex) {
      re[at] = (float) (number_at (raw, n->datatype, 2 * i) * n->slope + n->inter);
      if (im)
        im[at] = (float) (number_at (raw, n->datatype, 2 * i + 1) * n->slope);
    } else {
      re[at] = (float) (number_at (raw, n->datatype, i) * n->slope + n->inter);
      if (im)
        im[at] = 0;
    }
  }
}

gboolean
lam_nifti_read (const LamNifti *n, float *re, float *im, const LamIoControl *control, GError **error)
{
  gboolean compressed;
  int t = type_of (n->datatype);
  int64_t piece = MIN (PIECE, n->voxels), bytes = types[t].bytes;
  char *raw = lam_alloc_n (piece, bytes, "NIfTI samples", error);
  znzFile z = raw ? open_file (n->path, &compressed, error) : NULL;
  gboolean ok = z != NULL;
  if (z && znzseek (z, n->offset, SEEK_SET) < 0) {
    refuse (error, n->path, "its samples cannot be reached; it is cut off or damaged");
    ok = FALSE;
  }
  for (int64_t c = 0; z && ok && c < n->contrasts; c++)
    for (int64_t v = 0; ok && v < n->voxels; v += piece) {
      int64_t count = MIN (piece, n->voxels - v);
      double done = ((double) c + (double) v / (double) n->voxels) / (double) n->contrasts;
      ok = lam_io_control_step (control, done, "reading the series", error);
      if (ok && znzread (raw, 1, (size_t) (count * bytes), z) != (size_t) (count * bytes)) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                     "%s: contrast %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is cut off or damaged", n->path, c,
                     n->contrasts);
        ok = FALSE;
      }
      if (ok && n->swapped && types[t].swap > 1)
        nifti_swap_Nbytes ((size_t) (count * bytes / types[t].swap), types[t].swap, raw);
      if (ok)
        spread (n, raw, c, v, count, re, im);
    }
  if (z)
    znzclose (z);
  lam_free (raw);
  return ok && lam_io_control_step (control, 1, "reading the series", error);
}

/* ---- writing ---- */

#define GIVE(h, real)                                                                                                  \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    (h)->dim[0] = contrasts > 1 ? 4 : 3;                                                                               \
    for (int i = 1; i < 8; i++)                                                                                        \
      (h)->dim[i] = i <= 3 ? (int16_t) 0 : 1;                                                                          \
    for (int i = 0; i < 4; i++)                                                                                        \
      (h)->pixdim[i] = (real) like->pixdim[i];                                                                         \
    for (int i = 4; i < 8; i++)                                                                                        \
      (h)->pixdim[i] = 1;                                                                                              \
    (h)->datatype = im ? 32 : 16;                                                                                      \
    (h)->bitpix = im ? 64 : 32;                                                                                        \
    (h)->scl_slope = 1;                                                                                                \
    (h)->qform_code = like->qform_code;                                                                                \
    (h)->sform_code = like->sform_code;                                                                                \
    (h)->xyzt_units = like->units & 7;                                                                                 \
    (h)->quatern_b = (real) like->quatern[0];                                                                          \
    (h)->quatern_c = (real) like->quatern[1];                                                                          \
    (h)->quatern_d = (real) like->quatern[2];                                                                          \
    (h)->qoffset_x = (real) like->qoffset[0];                                                                          \
    (h)->qoffset_y = (real) like->qoffset[1];                                                                          \
    (h)->qoffset_z = (real) like->qoffset[2];                                                                          \
    for (int i = 0; i < 4; i++) {                                                                                      \
      (h)->srow_x[i] = (real) like->sform[0][i];                                                                       \
      (h)->srow_y[i] = (real) like->sform[1][i];                                                                       \
      (h)->srow_z[i] = (real) like->sform[2][i];                                                                       \
    }                                                                                                                  \
    g_strlcpy ((h)->descrip, what ? what : "", sizeof (h)->descrip);                                                   \
  }                                                                                                                    \
  G_STMT_END

/* The header and the four bytes that say "no extension"; how many bytes. */
static size_t
make_header (const LamNifti *like, const float *im, int64_t contrasts, const char *what, unsigned char bytes[544])
{
  gboolean two = like->version == 2 || contrasts > G_MAXINT16;
  for (int i = 0; i < 3; i++)
    two = two || like->dims[i] > G_MAXINT16;
  memset (bytes, 0, 544);
  if (two) {
    struct nifti_2_header h = {.sizeof_hdr = 540, .magic = "n+2\0\r\n\032\n", .vox_offset = 544};
    GIVE (&h, double);
    for (int i = 0; i < 3; i++)
      h.dim[i + 1] = like->dims[i];
    h.dim[4] = contrasts;
    memcpy (bytes, &h, sizeof h);
    return 544;
  }
  struct nifti_1_header h = {.sizeof_hdr = 348, .magic = "n+1", .vox_offset = 352, .regular = 'r'};
  GIVE (&h, float);
  for (int i = 0; i < 3; i++)
    h.dim[i + 1] = (int16_t) like->dims[i];
  h.dim[4] = (int16_t) contrasts;
  memcpy (bytes, &h, sizeof h);
  return 352;
}

static gboolean
write_samples (znzFile z, const LamNifti *like, const float *re, const float *im, int64_t contrasts, float *raw,
               int64_t piece, const char *path, const LamIoControl *control, GError **error)
{
  for (int64_t c = 0; c < contrasts; c++)
    for (int64_t v = 0; v < like->voxels; v += piece) {
      int64_t count = MIN (piece, like->voxels - v);
      size_t bytes = (size_t) count * (im ? 8 : 4);
      double done = ((double) c + (double) v / (double) like->voxels) / (double) contrasts;
      if (!lam_io_control_step (control, done, "saving", error))
        return FALSE;
      for (int64_t i = 0; i < count; i++) {
        int64_t at = (v + i) * contrasts + c;
        if (im) {
          raw[2 * i] = re[at];
          raw[2 * i + 1] = im[at];
        } else
          raw[i] = re[at];
      }
      if (znzwrite (raw, 1, bytes, z) != bytes) {
        g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: could not be written; is the disk full?", path);
        return FALSE;
      }
    }
  return TRUE;
}

gboolean
lam_nifti_write (const char *path, const LamNifti *like, const float *re, const float *im, int64_t contrasts,
                 const char *what, const LamIoControl *control, GError **error)
{
  unsigned char header[544];
  size_t size = make_header (like, im, contrasts, what, header);
  int64_t piece = MIN (PIECE, like->voxels);
  gboolean zip = g_str_has_suffix (path, ".gz");
  lam_atomic_sweep (path, LAM_SWEEP_SECONDS);
  g_autoptr (LamAtomicFile) f = lam_atomic_new (path, error);
  int64_t bytes = lam_mul_size (lam_mul_size (like->voxels, contrasts), im ? 8 : 4);
  if (!f || (!zip && !lam_atomic_reserve (f, bytes + (int64_t) size, error)))
    return FALSE;
  float *raw = lam_alloc_n (piece, im ? 8 : 4, "NIfTI samples", error);
  znzFile z = raw ? znzopen (f->temporary, zip ? "wb6" : "r+b", zip) : NULL;
  gboolean ok = z != NULL;
  if (raw && !z)
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: could not be written", path);
  if (ok && znzwrite (header, 1, size, z) != size) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: could not be written; is the disk full?", path);
    ok = FALSE;
  }
  ok = ok && write_samples (z, like, re, im, contrasts, raw, piece, path, control, error);
  if (z && znzclose (z) != 0 && ok) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_IO, "%s: could not be written; is the disk full?", path);
    ok = FALSE;
  }
  lam_free (raw);
  return ok && lam_io_control_step (control, 1, "saving", error) && lam_atomic_commit (f, error);
}
