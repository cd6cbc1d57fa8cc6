#include "io/dictionary-file.h"

#include <math.h>
#include <string.h>

#include "config.h"
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf5-arrays.h"

#define FORMAT "lamina dictionary 1"

static void
add_text (GChecksum *sum, const char *text)
{
  if (text)
    g_checksum_update (sum, (const guchar *) text, -1);
  g_checksum_update (sum, (const guchar *) "", 1);
}

/* What a Pulseq sequence was, and how it was played. */
static void
add_pulseq (GChecksum *sum, const LamDictionaryPulseq *p)
{
  const LamBlochModelOptions *o = &p->options;
  const double numbers[2] = {(double) o->spins, isnan (o->f0_hz) ? 0x1p-1000 : o->f0_hz};
  add_text (sum, o->file);
  add_text (sum, o->checksum);
  add_text (sum, lam_bloch_sampling_name (o->sampling));
  g_checksum_update (sum, (const guchar *) numbers, sizeof numbers);
  g_checksum_update (sum, (const guchar *) o->size_mm, sizeof o->size_mm);
  g_checksum_update (sum, (const guchar *) o->at_mm, sizeof o->at_mm);
  g_checksum_update (sum, (const guchar *) p->number, (gssize) (p->samples * (gssize) sizeof *p->number));
  g_checksum_update (sum, (const guchar *) p->time, (gssize) (p->samples * (gssize) sizeof *p->time));
}

/* What ties the small numbers to each other: parameters, protocol or sequence, singular values. */
static char *
small_checksum (const LamDictionary *d)
{
  const LamAtoms *a = d->atoms;
  const LamProtocol *p = d->protocol;
  const LamSubspace *s = d->subspace;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  const int64_t sizes[4] = {a->n, a->columns, d->samples, s ? s->rank : 0};
  g_checksum_update (sum, (const guchar *) sizes, sizeof sizes);
  for (int i = 0; i < a->columns; i++) { /* by name, as a file lists them */
    g_checksum_update (sum, (const guchar *) a->names[i], -1);
    g_checksum_update (sum, (const guchar *) (a->values + i * a->n), (gssize) (a->n * sizeof *a->values));
  }
  for (const LamField *f = p ? lam_protocol_template (p)->fields : NULL; f && f->name; f++) {
    int n;
    const double *v = lam_protocol_get (p, f->name, &n);
    g_checksum_update (sum, (const guchar *) f->name, -1);
    for (int i = 0; i < n; i++) { /* one NaN is as good as another */
      double x = isnan (v[i]) ? 0x1p-1000 : v[i];
      g_checksum_update (sum, (const guchar *) &x, sizeof x);
    }
  }
  if (d->pulseq)
    add_pulseq (sum, d->pulseq);
  if (s)
    g_checksum_update (sum, (const guchar *) s->singular, s->values * (gssize) sizeof *s->singular);
  return g_strconcat ("sha256:", g_checksum_get_string (sum), NULL);
}

/* ---- writing ---- */

static gboolean
put_tables (LamH5File *file, const LamDictionary *d, GError **error)
{
  const LamAtoms *a = d->atoms;
  for (int i = 0; i < a->columns; i++) {
    const LamTissueInfo *info = lam_tissue_find (a->names[i]);
    g_autofree char *path = g_strconcat ("/parameters/", a->names[i], NULL);
    if (!lam_h5_write_doubles (file, path, a->values + i * a->n, a->n, *info->unit ? info->unit : "1", info->title,
                               error))
      return FALSE;
  }
  if (!lam_h5_write_doubles (file, "/norm", d->norm, a->n, "1", "length of each signal", error))
    return FALSE;
  for (const LamField *f = d->protocol ? lam_protocol_template (d->protocol)->fields : NULL; f && f->name; f++) {
    int n;
    const double *v = lam_protocol_get (d->protocol, f->name, &n);
    g_autofree char *path = g_strconcat ("/protocol/", f->name, NULL);
    if (n > 0 && !lam_h5_write_doubles (file, path, v, n, *f->unit ? f->unit : "1", f->title, error))
      return FALSE;
  }
  return !d->subspace
         || lam_h5_write_doubles (file, "/basis/singular_values", d->subspace->singular, d->subspace->values, "1",
                                  "singular values of the signals", error);
}

/* Numbers are written as doubles, exact to 2^53. */
static gboolean
put_pulseq (LamH5File *file, const LamDictionaryPulseq *p, GError **error)
{
  const LamBlochModelOptions *o = &p->options;
  g_autofree double *number = g_new (double, p->samples);
  const struct {
    const char *name, *text;
  } texts[] = {{"sequence_file", o->file ? o->file : ""},
               {"sequence_checksum", o->checksum ? o->checksum : ""},
               {"sequence_samples", lam_bloch_sampling_name (o->sampling)}};
  for (int64_t i = 0; i < p->samples; i++)
    number[i] = (double) p->number[i];
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!lam_h5_put_text (file->id, texts[i].name, texts[i].text, file->path, error))
      return FALSE;
  return lam_h5_write_doubles (file, "/sequence/sample", number, p->samples, "1", "number of the sample, from 0", error)
         && lam_h5_write_doubles (file, "/sequence/time", p->time, p->samples, "s", "time of the sample", error)
         && lam_h5_put_int (file->id, "spins", o->spins, file->path, error)
         && lam_h5_put_doubles (file->id, "voxel_size_mm", o->size_mm, 3, file->path, error)
         && lam_h5_put_doubles (file->id, "voxel_position_mm", o->at_mm, 3, file->path, error)
         && (isnan (o->f0_hz) || lam_h5_put_double (file->id, "f0_hz", o->f0_hz, file->path, error));
}

static gboolean
put_beside (LamH5File *file, gpointer data, GError **error)
{
  const LamDictionary *d = data;
  g_autofree char *sum = small_checksum (d);
  g_autofree char *names = g_strjoinv (",", d->atoms->names);
  const struct {
    const char *name, *text;
  } texts[] = {{"format", FORMAT},    {"template", d->template ? d->template : ""},
               {"parameters", names}, {"checksum", sum},
               {"program", "Lamina"}, {"version", LAMINA_VERSION}};
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {
      {"orders", d->orders}, {"playings", d->played}, {"excluded", d->atoms->excluded}, {"dropped", d->dropped}};
  if (!put_tables (file, d, error) || (d->pulseq && !put_pulseq (file, d->pulseq, error)))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (!lam_h5_put_text (file->id, texts[i].name, texts[i].text, file->path, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!lam_h5_put_int (file->id, numbers[i].name, numbers[i].value, file->path, error))
      return FALSE;
  return lam_h5_put_double (file->id, "residual", d->residual, file->path, error);
}

gboolean
lam_dictionary_save (const LamDictionary *d, const char *path, const LamIoControl *control, GError **error)
{
  const LamSubspace *s = d->subspace;
  const struct {
    const char *path;
    int64_t rows;
    const float *data;
    const char *long_name, *axes;
  } planes[] = {
      {"/signals/real", d->atoms->n, d->re, "signals of the atoms, real part", "atom,contrast"},
      {"/signals/imaginary", d->atoms->n, d->im, "signals of the atoms, imaginary part", "atom,contrast"},
      {"/basis/real", s ? s->rank : 0, s ? s->re : NULL, "modes of the signals, real part", "mode,contrast"},
      {"/basis/imaginary", s ? s->rank : 0, s ? s->im : NULL, "modes of the signals, imaginary part", "mode,contrast"}};
  LamH5Array arrays[4];
  int n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (planes); i++)
    if (planes[i].data)
      arrays[n++] = (LamH5Array){.path = planes[i].path,
                                 .rank = 2,
                                 .dims = {planes[i].rows, d->samples},
                                 .data = planes[i].data,
                                 .units = "1",
                                 .long_name = planes[i].long_name,
                                 .axes = planes[i].axes};
  return lam_h5_write_arrays (path, arrays, n, put_beside, (gpointer) d, control, error);
}

/* ---- reading ---- */

static gboolean
damaged (const LamH5File *file, const char *what, GError **error)
{
  g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: %s; the dictionary is damaged, make it again", file->path,
               what);
  return FALSE;
}

static gboolean
check_format (LamH5File *file, GError **error)
{
  g_autofree char *format = lam_h5_attribute_text (file->id, "format", file->path, NULL);
  if (g_strcmp0 (format, FORMAT) == 0)
    return TRUE;
  if (format && g_str_has_prefix (format, "lamina dictionary"))
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT, "%s: a \"%s\": made by another version of this program",
                 file->path, format);
  else
    g_set_error (error, LAM_ERROR, LAM_ERROR_FORMAT,
                 "%s: no dictionary of this program; make one with `lamina dictionary'", file->path);
  return FALSE;
}

static LamAtoms *
read_atoms (LamH5File *file, GError **error)
{
  g_autofree char *text = lam_h5_attribute_text (file->id, "parameters", file->path, NULL);
  g_auto (GStrv) names = g_strsplit (text ? text : "", ",", -1);
  int columns = (int) g_strv_length (names);
  g_autofree LamAtomAxis *axes = g_new0 (LamAtomAxis, columns + 1);
  g_autofree double **values = g_new0 (double *, columns + 1);
  LamAtoms *a = NULL;
  gboolean ok = columns > 0 && columns <= 64;
  if (!ok)
    damaged (file, "it does not say what its atoms are", error);
  for (int i = 0; ok && i < columns; i++) {
    g_autofree char *path = g_strconcat ("/parameters/", names[i], NULL);
    values[i] = lam_h5_read_doubles (file, path, &axes[i].n, error);
    axes[i].name = names[i];
    axes[i].values = values[i];
    ok = values[i] != NULL;
    if (ok && axes[i].n != axes[0].n)
      ok = damaged (file, "its lists of parameters differ in length", error);
  }
  if (ok)
    a = lam_atoms_new (LAM_ATOMS_LIST, axes, columns, TRUE, error);
  for (int i = 0; i < columns; i++)
    lam_free (values[i]);
  return a;
}

static gboolean
read_protocol (LamH5File *file, const char *template, LamProtocol **protocol, GError **error)
{
  const LamTemplate *t = lam_template_find (template);
  *protocol = t ? lam_protocol_new (t) : NULL;
  for (const LamField *f = t ? t->fields : NULL; f && f->name; f++) {
    g_autofree char *path = g_strconcat ("/protocol/", f->name, NULL);
    int64_t n = 0;
    double *v = lam_h5_exists (file, path) ? lam_h5_read_doubles (file, path, &n, error) : NULL;
    /* What is not there has its default; automatic values are NaN and cannot be set. */
    gboolean ok =
        v ? (n == 1 && isnan (v[0])) || (n < G_MAXINT32 && lam_protocol_set (*protocol, f->name, v, (int) n, error))
          : !lam_h5_exists (file, path);
    lam_free (v);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

/* Of a dictionary of @samples that says that it is of a Pulseq sequence. */
static gboolean
read_pulseq (LamH5File *file, int64_t samples, LamDictionaryPulseq **pulseq, GError **error)
{
  LamBlochModelOptions o = {.f0_hz = NAN};
  int64_t numbers = 0, times = 0, sizes = 0, places = 0;
  g_autofree char *name = lam_h5_attribute_text (file->id, "sequence_file", file->path, NULL);
  g_autofree char *checksum = lam_h5_attribute_text (file->id, "sequence_checksum", file->path, NULL);
  g_autofree char *sampling = lam_h5_attribute_text (file->id, "sequence_samples", file->path, NULL);
  if (!name || !checksum || !sampling || !lam_bloch_sampling_from_name (sampling, &o.sampling))
    return damaged (file, "it does not say of which Pulseq file it is", error);
  if (!lam_h5_attribute_int (file->id, "spins", &o.spins, file->path, error)
      || !lam_h5_attribute_doubles (file->id, "voxel_size_mm", o.size_mm, 3, &sizes, file->path, error)
      || !lam_h5_attribute_doubles (file->id, "voxel_position_mm", o.at_mm, 3, &places, file->path, error)
      || !lam_h5_attribute_double (file->id, "f0_hz", &o.f0_hz, file->path, error))
    return FALSE;
  if (sizes != 3 || places != 3)
    return damaged (file, "it does not say where its voxels are", error);
  o.file = *name ? name : NULL;
  o.checksum = *checksum ? checksum : NULL;
  double *number = lam_h5_read_doubles (file, "/sequence/sample", &numbers, error);
  double *time = number ? lam_h5_read_doubles (file, "/sequence/time", &times, error) : NULL;
  gboolean ok = time != NULL;
  if (ok && (numbers != samples || times != samples))
    ok = damaged (file, "its signals and the samples that they are of do not fit together", error);
  if (ok) {
    g_autofree int64_t *whole = g_new (int64_t, samples);
    for (int64_t i = 0; i < samples; i++)
      whole[i] = number[i] >= 0 && number[i] < 0x1p53 ? (int64_t) number[i] : -1;
    *pulseq = lam_dictionary_pulseq_new (&o, samples, whole, time);
  }
  lam_free (number);
  lam_free (time);
  return ok;
}

/* A plane that may be absent. */
static gboolean
read_plane (LamH5File *file, const char *path, int64_t rows, int64_t *samples, float **plane,
            const LamIoControl *control, GError **error)
{
  int64_t dims[H5S_MAX_RANK];
  if (!lam_h5_exists (file, path))
    return TRUE;
  if (!(*plane = lam_h5_read_array (file, path, 2, dims, control, error)))
    return FALSE;
  if (*samples == 0)
    *samples = dims[1];
  if ((rows > 0 && dims[0] != rows) || dims[1] != *samples)
    return damaged (file, "its signals, parameters and modes do not fit together", error);
  return TRUE;
}

static gboolean
read_basis (LamH5File *file, LamDictionary *d, const LamIoControl *control, GError **error)
{
  int64_t samples = d->samples, n = 0, dims[H5S_MAX_RANK];
  if (!lam_h5_exists (file, "/basis/real"))
    return TRUE;
  LamSubspace *s = d->subspace = g_new0 (LamSubspace, 1);
  s->length = samples;
  if (!(s->re = lam_h5_read_array (file, "/basis/real", 2, dims, control, error)))
    return FALSE;
  if (dims[1] != samples || dims[0] < 1 || dims[0] > samples)
    return damaged (file, "its modes do not fit its signals", error);
  s->rank = (int) dims[0];
  double *v = NULL;
  if (!read_plane (file, "/basis/imaginary", s->rank, &samples, &s->im, control, error)
      || !(v = lam_h5_read_doubles (file, "/basis/singular_values", &n, error)))
    return FALSE;
  s->values = (int) MIN (n, G_MAXINT32);
  s->singular = g_memdup2 (v, (gsize) s->values * sizeof *v);
  lam_free (v);
  if (s->values < s->rank || (s->im != NULL) != (d->re && d->im))
    return damaged (file, "its modes do not fit its signals", error);
  s->retained = lam_subspace_energy (s, s->rank);
  return TRUE;
}

static gboolean
read_rest (LamH5File *file, LamDictionary *d, int64_t atoms, const LamIoControl *control, GError **error)
{
  int64_t orders = 0, played = 0;
  g_autofree char *stated = lam_h5_attribute_text (file->id, "checksum", file->path, NULL);
  if (d->atoms->n != atoms)
    return damaged (file, "some of its signals are zero or not finite", error);
  if (!read_basis (file, d, control, error) || !lam_h5_attribute_int (file->id, "orders", &orders, file->path, error)
      || !lam_h5_attribute_int (file->id, "playings", &played, file->path, error)
      || !lam_h5_attribute_int (file->id, "excluded", &d->atoms->excluded, file->path, error)
      || !lam_h5_attribute_int (file->id, "dropped", &d->dropped, file->path, error)
      || !lam_h5_attribute_double (file->id, "residual", &d->residual, file->path, error))
    return FALSE;
  d->orders = (int) orders;
  d->played = (int) played;
  d->template = lam_h5_attribute_text (file->id, "template", file->path, NULL);
  if (!d->template)
    return damaged (file, "it does not say by which template it was made", error);
  if (!read_protocol (file, d->template, &d->protocol, error))
    return FALSE;
  if (g_str_equal (d->template, LAM_DICTIONARY_PULSEQ) && !read_pulseq (file, d->samples, &d->pulseq, error))
    return FALSE;
  g_autofree char *sum = small_checksum (d);
  if (g_strcmp0 (sum, stated) != 0)
    return damaged (file, "its parameters or protocol are not those that were written (checksum)", error);
  return TRUE;
}

LamDictionary *
lam_dictionary_load (const char *path, const LamIoControl *control, GError **error)
{
  g_autoptr (LamH5File) file = lam_h5_open (path, error);
  float *re = NULL, *im = NULL;
  int64_t samples = 0;
  LamAtoms *atoms = file && check_format (file, error) ? read_atoms (file, error) : NULL;
  if (!atoms)
    return NULL;
  int64_t n = atoms->n;
  if (!read_plane (file, "/signals/real", n, &samples, &re, control, error)
      || !read_plane (file, "/signals/imaginary", n, &samples, &im, control, error)) {
    lam_free (re);
    lam_free (im);
    lam_atoms_free (atoms);
    return NULL;
  }
  g_autoptr (LamDictionary) d = lam_dictionary_new_take (atoms, samples, re, im, error);
  if (!d || !read_rest (file, d, n, control, error))
    return NULL;
  return g_steal_pointer (&d);
}

gboolean
lam_dictionary_is_file (const char *path)
{
  g_autoptr (LamH5File) file = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? lam_h5_open (path, NULL) : NULL;
  g_autofree char *format = file ? lam_h5_attribute_text (file->id, "format", path, NULL) : NULL;
  return format && g_str_has_prefix (format, "lamina dictionary");
}
