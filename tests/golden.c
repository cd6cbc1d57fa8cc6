#include "golden.h"

#include <math.h>
#include <string.h>

/* Beside the source tree, which the test's environment names; else beside the current folder. */
static char *
shared_dir (const char *variable, const char *name)
{
  const char *dir = g_getenv (variable), *tests = g_getenv ("G_TEST_SRCDIR");
  if (dir && *dir)
    return g_strdup (dir);
  return tests ? g_build_filename (tests, "..", "..", "shared", name, NULL)
               : g_build_filename ("..", "shared", name, NULL);
}

const char *
golden_dir (void)
{
  static char *dir;
  return dir ? dir : (dir = shared_dir ("LAMINA_GOLDEN_DIR", "golden"));
}

const char *
golden_data_dir (void)
{
  static char *dir;
  return dir ? dir : (dir = shared_dir ("LAMINA_DATA_DIR", "data"));
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

char **
golden_files (const char *prefix)
{
  g_autoptr (GDir) dir = g_dir_open (golden_dir (), 0, NULL);
  GPtrArray *paths = g_ptr_array_new ();
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, ".h5"))
      g_ptr_array_add (paths, g_build_filename (golden_dir (), name, NULL));
  g_ptr_array_sort (paths, compare_strings);
  g_ptr_array_add (paths, NULL);
  return (char **) g_ptr_array_free (paths, FALSE);
}

gboolean
golden_each_file (const char *prefix, GoldenFileFunc check, gpointer data)
{
  g_auto (GStrv) paths = golden_files (prefix);
  if (!paths[0]) {
    g_autofree char *why = g_strdup_printf ("no %s*.h5 in %s (set LAMINA_GOLDEN_DIR)", prefix, golden_dir ());
    g_test_skip (why);
    return FALSE;
  }
  for (char **path = paths; *path; path++) {
    hid_t file = H5Fopen (*path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
      g_error ("%s: cannot be opened as HDF5", *path);
    check (file, data);
    H5Fclose (file);
  }
  return TRUE;
}

gboolean
golden_has (hid_t loc, const char *name)
{
  /* H5Lexists wants every step of the path to exist. */
  g_auto (GStrv) steps = g_strsplit (name, "/", -1);
  g_autoptr (GString) path = g_string_new (NULL);
  for (char **step = steps; *step; step++) {
    g_string_append_printf (path, "%s%s", path->len ? "/" : "", *step);
    if (path->len && H5Lexists (loc, path->str, H5P_DEFAULT) <= 0)
      return FALSE;
  }
  return TRUE;
}

hid_t
golden_open_group (hid_t loc, const char *name)
{
  hid_t group = H5Gopen2 (loc, name, H5P_DEFAULT);
  if (group < 0)
    g_error ("no group %s", name);
  return group;
}

int
golden_each_group (hid_t loc, const char *path, GoldenGroupFunc check, gpointer data)
{
  if (!golden_has (loc, path))
    return 0;
  hid_t parent = golden_open_group (loc, path);
  H5G_info_t info;
  H5Gget_info (parent, &info);
  int groups = 0;
  for (hsize_t i = 0; i < info.nlinks; i++) {
    char name[256];
    H5Lget_name_by_idx (parent, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    hid_t object = H5Oopen (parent, name, H5P_DEFAULT);
    if (H5Iget_type (object) == H5I_GROUP) {
      check (object, name, data);
      groups++;
    }
    H5Oclose (object);
  }
  H5Gclose (parent);
  return groups;
}

/* --- Attributes --- */

gboolean
golden_has_attr (hid_t object, const char *name)
{
  return H5Aexists (object, name) > 0;
}

static void
read_attr (hid_t object, const char *name, hid_t type, void *value)
{
  hid_t attr = golden_has_attr (object, name) ? H5Aopen (object, name, H5P_DEFAULT) : -1;
  if (attr < 0 || H5Aread (attr, type, value) < 0)
    g_error ("no attribute %s of the type asked for", name);
  H5Aclose (attr);
}

double
golden_attr_double (hid_t object, const char *name)
{
  double value = 0;
  read_attr (object, name, H5T_NATIVE_DOUBLE, &value);
  return value;
}

int64_t
golden_attr_int (hid_t object, const char *name)
{
  int64_t value = 0;
  read_attr (object, name, H5T_NATIVE_INT64, &value);
  return value;
}

char *
golden_attr_string (hid_t object, const char *name)
{
  char *raw = NULL;
  hid_t type = H5Tcopy (H5T_C_S1);
  H5Tset_size (type, H5T_VARIABLE);
  H5Tset_cset (type, H5T_CSET_UTF8);
  read_attr (object, name, type, &raw);
  char *value = g_strdup (raw);
  H5free_memory (raw);
  H5Tclose (type);
  return value;
}

int64_t
golden_attr_doubles (hid_t object, const char *name, double *values, int64_t n)
{
  hid_t attr = H5Aopen (object, name, H5P_DEFAULT);
  hid_t space = H5Aget_space (attr);
  int64_t count = H5Sget_simple_extent_npoints (space);
  g_autofree double *all = g_new0 (double, LAM_MAX (count, 1));
  if (attr < 0 || H5Aread (attr, H5T_NATIVE_DOUBLE, all) < 0)
    g_error ("no attribute %s of numbers", name);
  memcpy (values, all, sizeof (double) * (size_t) LAM_MIN (count, n));
  H5Sclose (space);
  H5Aclose (attr);
  return count;
}

int64_t
golden_dataset_attr_doubles (hid_t loc, const char *dataset, const char *name, double *values, int64_t n)
{
  hid_t object = H5Dopen2 (loc, dataset, H5P_DEFAULT);
  int64_t count = golden_attr_doubles (object, name, values, n);
  H5Dclose (object);
  return count;
}

double
golden_dataset_attr_double (hid_t loc, const char *dataset, const char *name)
{
  double value = 0;
  golden_dataset_attr_doubles (loc, dataset, name, &value, 1);
  return value;
}

/* --- Datasets --- */

static void *
read_dataset (hid_t loc, const char *name, hid_t type, size_t size, int64_t shape[GOLDEN_MAX_RANK])
{
  hid_t set = H5Dopen2 (loc, name, H5P_DEFAULT);
  if (set < 0)
    g_error ("no dataset %s", name);
  hid_t space = H5Dget_space (set);
  hsize_t dims[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_dims (space, dims, NULL);
  g_assert_cmpint (rank, <=, GOLDEN_MAX_RANK);
  for (int i = 0; shape && i < GOLDEN_MAX_RANK; i++)
    shape[i] = i < rank ? (int64_t) dims[i] : 1;
  void *values = g_malloc0_n ((gsize) LAM_MAX (H5Sget_simple_extent_npoints (space), 1), size);
  if (H5Dread (set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    g_error ("dataset %s cannot be read", name);
  H5Sclose (space);
  H5Dclose (set);
  return values;
}

double *
golden_read_double (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK])
{
  return read_dataset (loc, name, H5T_NATIVE_DOUBLE, sizeof (double), shape);
}

float *
golden_read_float (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK])
{
  return read_dataset (loc, name, H5T_NATIVE_FLOAT, sizeof (float), shape);
}

int32_t *
golden_read_int32 (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK])
{
  return read_dataset (loc, name, H5T_NATIVE_INT32, sizeof (int32_t), shape);
}

int64_t *
golden_read_int64 (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK])
{
  return read_dataset (loc, name, H5T_NATIVE_INT64, sizeof (int64_t), shape);
}

int64_t
golden_count (const int64_t shape[GOLDEN_MAX_RANK])
{
  int64_t n = 1;
  for (int i = 0; i < GOLDEN_MAX_RANK; i++)
    n *= shape[i];
  return n;
}

LamGeometry *
golden_geometry (hid_t group)
{
  g_autofree char *kind = golden_attr_string (group, "geometry");
  g_autofree char *mask = golden_attr_string (group, "region_of_reconstruction_mask");
  gboolean cone = g_str_equal (kind, "cone beam");
  if (!cone && !g_str_equal (kind, "parallel beam"))
    return NULL;
  LamGeometry *g =
      lam_geometry_new (cone ? LAM_GEOMETRY_CONE : LAM_GEOMETRY_PARALLEL, golden_attr_int (group, "number_of_views"),
                        golden_attr_int (group, "detector_rows"), golden_attr_int (group, "detector_channels"));
  g->channel_pitch = golden_attr_double (group, "detector_channel_pitch_alu");
  g->row_pitch = golden_attr_double (group, "detector_row_pitch_alu");
  g->channel_offset = golden_attr_double (group, "detector_channel_offset_alu");
  g->row_offset = golden_attr_double (group, "detector_row_offset_alu");
  g->recon_rows = golden_attr_int (group, "recon_rows");
  g->recon_columns = golden_attr_int (group, "recon_columns");
  g->recon_slices = golden_attr_int (group, "recon_slices");
  g->voxel_pitch = golden_attr_double (group, "voxel_pitch_alu");
  g->row_aspect = golden_attr_double (group, "voxel_row_aspect");
  g->slice_aspect = golden_attr_double (group, "voxel_slice_aspect");
  g->mask = g_str_equal (mask, "none") ? LAM_MASK_NONE : LAM_MASK_ELLIPSE;
  if (cone) {
    g_autofree char *shape = golden_attr_string (group, "detector_shape");
    g->detector = g_str_equal (shape, "curved") ? LAM_DETECTOR_CURVED : LAM_DETECTOR_FLAT;
    g->source_detector = golden_attr_double (group, "source_detector_distance_alu");
    g->source_axis = golden_attr_double (group, "source_iso_distance_alu");
    g->slice_offset = golden_attr_double (group, "recon_slice_offset_alu");
  }
  g_free (g->angles);
  g->angles = golden_read_double (group, "angles", NULL);
  if (golden_has (group, "axial_shifts"))
    g->shifts = golden_read_double (group, "axial_shifts", NULL);
  return g;
}

/* --- The tally --- */

typedef struct {
  int cases;
  double worst, bound;
} Entry;

struct _GoldenTally {
  GTree *kinds;
};

static int
compare_names (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (a, b);
}

GoldenTally *
golden_tally_new (void)
{
  GoldenTally *tally = g_new0 (GoldenTally, 1);
  tally->kinds = g_tree_new_full (compare_names, NULL, g_free, g_free);
  return tally;
}

void
golden_tally_free (GoldenTally *tally)
{
  if (!tally)
    return;
  g_tree_unref (tally->kinds);
  g_free (tally);
}

void
golden_tally_add (GoldenTally *tally, const char *kind, const char *where, double error, double bound)
{
  Entry *entry = g_tree_lookup (tally->kinds, kind);
  if (!entry)
    g_tree_insert (tally->kinds, g_strdup (kind), entry = g_new0 (Entry, 1));
  entry->cases++;
  entry->bound = fmax (entry->bound, bound);
  if (!(error <= entry->worst)) /* a NaN stays */
    entry->worst = error;
  if (!(error <= bound))
    g_test_fail_printf ("%s, %s: error %.3g, bound %.3g", kind, where, error, bound);
}

static gboolean
print_entry (gpointer kind, gpointer value, gpointer data)
{
  const Entry *entry = value;
  g_test_message ("%s: %d cases, worst error %.3g (bound %.3g)", (const char *) kind, entry->cases, entry->worst,
                  entry->bound);
  return FALSE;
}

void
golden_tally_print (GoldenTally *tally)
{
  if (g_tree_nnodes (tally->kinds) == 0)
    g_test_fail_printf ("nothing was compared");
  g_tree_foreach (tally->kinds, print_entry, NULL);
}

int
golden_tally_cases (const GoldenTally *tally, const char *kind)
{
  const Entry *entry = g_tree_lookup (tally->kinds, kind);
  return entry ? entry->cases : 0;
}

double
golden_relative_float (const float *a, const double *b, int64_t n)
{
  double difference = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return sqrt (size > 0 ? difference / size : difference);
}

double
golden_relative_double (const double *a, const double *b, int64_t n)
{
  double difference = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return sqrt (size > 0 ? difference / size : difference);
}
