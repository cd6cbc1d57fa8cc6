#include "config.h"

#include "cli/maps.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "core/error.h"
#include "core/memory.h"
#include "draw/map-picture.h"
#include "io/map-file.h"
#include "run/colour-map.h"

/* Numbers of a map that are looked at unasked. */
#define LOOK_VALUES (INT64_C (64) << 20)
/* A small plane is made about as long, in pixels. */
#define USUAL_SIDE 512
#define MOST_SIDE 16384

static char *map_text, *contrast_text;

const GOptionEntry lam_cli_render_map_entries[] = {
    {"map", 0, 0, G_OPTION_ARG_STRING, &map_text, N_ ("Maps: which one (default: the first)"), "NAME"},
    {"contrast", 0, 0, G_OPTION_ARG_STRING, &contrast_text,
     N_ ("NIfTI series: which of its images, from 0 (default: 0)"), "N"},
    {NULL},
};

gboolean
lam_cli_render_map_given (void)
{
  return map_text || contrast_text;
}

/* ---- info ---- */

static const char *
kind_name (const LamMapFile *f)
{
  return f->kind == LAM_MAP_HDF5     ? _ ("maps in HDF5")
         : f->kind == LAM_MAP_FOLDER ? _ ("folder of NIfTI images")
                                     : _ ("NIfTI image");
}

/* What the match left beside its maps. */
static void
print_origin (const LamMapFile *f)
{
  g_autoptr (JsonNode) root = f->parameters ? json_from_string (f->parameters, NULL) : NULL;
  JsonObject *o = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const char *dictionary = o ? json_object_get_string_member_with_default (o, "dictionary", NULL) : NULL,
             *template = o ? json_object_get_string_member_with_default (o, "template", NULL) : NULL,
             *mask = o ? json_object_get_string_member_with_default (o, "mask", NULL) : NULL;
  int64_t rank = o ? json_object_get_int_member_with_default (o, "rank", 0) : 0;
  if (f->series)
    lam_cli_print (_ ("made of: %s%s%s"), f->series, mask ? _ (", mask ") : "", mask ? mask : "");
  const char *sequence = o ? json_object_get_string_member_with_default (o, "sequence_file", template) : NULL;
  if (dictionary)
    lam_cli_print (_ ("by: dictionary %s, %" G_GINT64_FORMAT " atoms of %s%s"), dictionary,
                   json_object_get_int_member_with_default (o, "atoms", 0), sequence ? sequence : "?",
                   rank > 0 ? _ (", on a basis") : "");
}

static void
print_nifti (const LamNifti *n)
{
  static const char *const places[] = {N_ ("voxel sizes alone (neither sform nor qform)"), "qform", "sform"};
  lam_cli_print (_ ("samples: %s%s, NIfTI-%d%s; placed by %s"), lam_nifti_type_name (n->datatype),
                 n->swapped ? _ (" in the other byte order") : "", n->version, n->compressed ? _ (", compressed") : "",
                 _ (places[n->place]));
  if (n->scaled)
    lam_cli_print (_ ("scaled: by %s, then %s added"), lam_cli_number (n->slope), lam_cli_number (n->inter));
  if ((n->units & 7) == 0)
    lam_cli_print (_ ("no unit of length is stated: mm assumed"));
}

static const char *
unit_text (const LamMapEntry *e)
{
  return !e->units || g_str_equal (e->units, "1") ? "" : e->units;
}

static void
print_entry (const LamMapEntry *e, const LamMapRange *r)
{
  const char *unit = unit_text (e);
  g_autofree char *what = e->contrasts > 1 ? g_strdup_printf (_ (", %" G_GINT64_FORMAT " contrasts%s"), e->contrasts,
                                                              e->is_complex ? _ (", complex") : "")
                                           : g_strdup (e->is_complex ? _ (", complex") : "");
  if (!r)
    lam_cli_print ("  %-10s%s%s%s", e->name, what, e->long_name ? "  " : "", e->long_name ? e->long_name : "");
  else if (r->finite == 0)
    lam_cli_print (_ ("  %-10s no finite value%s"), e->name, what);
  else
    lam_cli_print (_ ("  %-10s %s to %s%s%s, median %s%s%s%s"), e->name, lam_cli_format ("%.4g", r->least),
                   lam_cli_format ("%.4g", r->most), *unit ? " " : "", unit, lam_cli_format ("%.4g", r->middle), what,
                   e->long_name ? "; " : "", e->long_name ? e->long_name : "");
  if (r && r->finite > 0 && r->finite < r->counted)
    lam_cli_print (_ ("             %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " values are not finite"),
                   r->counted - r->finite, r->counted);
}

static void
json_entry (JsonBuilder *b, const LamMapEntry *e, const LamMapRange *r)
{
  lam_json_open (b, NULL);
  lam_json_text (b, "name", e->name);
  lam_json_text (b, "unit", e->units);
  lam_json_text (b, "long_name", e->long_name);
  lam_json_int (b, "contrasts", e->contrasts);
  lam_json_bool (b, "complex", e->is_complex);
  if (r) {
    lam_json_int (b, "values", r->counted);
    lam_json_int (b, "finite", r->finite);
    lam_json_number (b, "least", r->least);
    lam_json_number (b, "most", r->most);
    lam_json_number (b, "mean", r->mean);
    lam_json_number (b, "median", r->middle);
    lam_json_number (b, "low", r->low);
    lam_json_number (b, "high", r->high);
  }
  lam_json_close (b);
}

static JsonBuilder *
json_head (const LamMapFile *f, int64_t voxels, int64_t inside)
{
  static const char *const kinds[] = {"hdf5", "nifti", "nifti-folder"};
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "file", f->path);
  lam_json_text (b, "type", "maps");
  lam_json_text (b, "format", kinds[f->kind]);
  lam_json_ints (b, "shape", f->shape, 3);
  lam_json_numbers (b, "voxel_size", f->voxel_size, 3);
  lam_json_text (b, "length_unit", f->length_unit);
  lam_json_int (b, "voxels", voxels);
  if (inside >= 0)
    lam_json_int (b, "inside_mask", inside);
  lam_json_text (b, "series", f->series);
  lam_json_raw (b, "parameters", f->parameters);
  const LamNifti *n = lam_map_file_entry (f, 0)->nifti;
  if (n)
    lam_json_numbers (b, "affine", &n->affine[0][0], 12);
  lam_json_open_array (b, "maps");
  return b;
}

static gboolean
show (const LamMapFile *f, gboolean all, GError **error)
{
  int64_t voxels = f->shape[0] * f->shape[1] * f->shape[2], inside = -1;
  LamMapRange range;
  float *mask = NULL;
  gboolean ok = TRUE;
  if (f->mask >= 0) {
    mask = lam_map_file_read (f, f->mask, 0, lam_cli_io (), error);
    ok = mask && lam_map_range (mask, mask, voxels, &range, error);
    inside = range.counted;
  }
  JsonBuilder *b = ok && lam_cli_json ? json_head (f, voxels, inside) : NULL;
  if (ok) {
    lam_cli_print ("%s: %s", f->path, kind_name (f));
    print_origin (f);
    lam_cli_print (_ ("shape: %" G_GINT64_FORMAT " rows x %" G_GINT64_FORMAT " columns x %" G_GINT64_FORMAT " slices"),
                   f->shape[0], f->shape[1], f->shape[2]);
    if (!isnan (f->voxel_size[0]))
      lam_cli_print (_ ("voxel: %s x %s x %s %s (row, column, slice)"), lam_cli_number (f->voxel_size[0]),
                     lam_cli_number (f->voxel_size[1]), lam_cli_number (f->voxel_size[2]),
                     f->length_unit ? f->length_unit : "");
    if (lam_map_file_entry (f, 0)->nifti)
      print_nifti (lam_map_file_entry (f, 0)->nifti);
    if (inside >= 0)
      lam_cli_print (_ ("mask: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " voxels, %" G_GINT64_FORMAT " left out"),
                     inside, voxels, voxels - inside);
    lam_cli_print (inside >= 0 ? _ ("maps, over the mask:") : _ ("values:"));
  }
  for (int i = 0; ok && i < (int) f->entries->len; i++) {
    const LamMapEntry *e = lam_map_file_entry (f, i);
    int64_t n = lam_map_file_values (f, i);
    gboolean look = all || n <= LOOK_VALUES;
    float *values = NULL;
    if (i == f->mask)
      continue;
    if (look) {
      values = lam_map_file_read (f, i, e->contrasts > 1 ? -1 : 0, lam_cli_io (), error);
      ok = values && lam_map_range (values, e->contrasts > 1 ? NULL : mask, n, &range, error);
      lam_free (values);
    }
    if (!ok)
      break;
    lam_cli_progress_clear ();
    print_entry (e, look ? &range : NULL);
    if (!look)
      lam_cli_print (_ ("             its values were not looked at: they are %s; --samples looks at all of them"),
                     lam_cli_bytes (lam_mul_size (n, 4)));
    if (b)
      json_entry (b, e, look ? &range : NULL);
  }
  lam_free (mask);
  if (b && ok) {
    lam_json_close_array (b);
    lam_json_print (b);
  } else if (b)
    g_object_unref (b);
  return ok;
}

int
lam_cli_show_maps (const char *path, gboolean all)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LamMapFile) f = lam_map_file_open (path, &error);
  return f && show (f, all, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}

/* ---- render ---- */

/* A plane of [rows][columns][slices], and what is drawn of it. */
typedef struct {
  float *plane;
  LamMapPicture p;
  char *what; /* "T1, slice 3" */
} Job;

static gboolean
choose_map (const LamMapFile *f, int *map, int64_t *contrast, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  *map = map_text ? lam_map_file_find (f, map_text) : 0;
  for (guint i = 0; i < f->entries->len; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", lam_map_file_entry (f, (int) i)->name);
  if (*map < 0) {
    lam_cli_usage_error (error, _ ("--map %s: %s has %s"), map_text, f->path, names->str);
    return FALSE;
  }
  return lam_cli_int ("--contrast", contrast_text, 0, lam_map_file_entry (f, *map)->contrasts - 1, contrast, error);
}

static gboolean
take_plane (const LamMapFile *f, const float *values, const LamCliMapLook *look, const char *name, Job *j,
            GError **error)
{
  static const char *const planes[] = {"slice", "row", "column", NULL};
  static const int axes[][3] = {{2, 0, 1}, {0, 2, 1}, {1, 2, 0}}; /* across the plane, down it, along it */
  int plane = 0;
  if (!lam_cli_choice ("--plane", look->plane, planes, &plane, error))
    return FALSE;
  const int *axis = axes[plane];
  int64_t at[3] = {0}, index = f->shape[axis[0]] / 2;
  if (!lam_cli_int (look->index_option, look->index, 0, f->shape[axis[0]] - 1, &index, error))
    return FALSE;
  j->p.height = f->shape[axis[1]];
  j->p.width = f->shape[axis[2]];
  j->plane = lam_alloc_n (lam_mul_size (j->p.width, j->p.height), sizeof *j->plane, "picture", error);
  at[axis[0]] = index;
  for (int64_t r = 0; j->plane && r < j->p.height; r++)
    for (int64_t c = 0; c < j->p.width; c++) {
      at[axis[1]] = r;
      at[axis[2]] = c;
      j->plane[r * j->p.width + c] = values[(at[0] * f->shape[1] + at[1]) * f->shape[2] + at[2]];
    }
  j->p.values = j->plane;
  /* Voxels are as long as they are; the finest has @zoom pixels. */
  double down = f->voxel_size[axis[1]], across = f->voxel_size[axis[2]];
  if (!(down > 0 && across > 0 && isfinite (down) && isfinite (across)))
    down = across = 1;
  double finest = fmin (down, across), longest = fmax (down * (double) j->p.height, across * (double) j->p.width);
  double zoom = look->zoom > 0 ? (double) look->zoom : fmax (1, rint (USUAL_SIDE * finest / longest));
  j->p.across = zoom * across / finest;
  j->p.down = zoom * down / finest;
  j->what = g_strdup_printf ("%s, %s %" G_GINT64_FORMAT, name, planes[plane], index);
  return j->plane != NULL;
}

/* The same for all planes of a map, so that they can be compared. */
static gboolean
choose_level (const LamMapEntry *e, const LamMapRange *r, LamColourMap colours, const char *text, Job *j,
              GError **error)
{
  if (text && !lam_cli_pair ("--level", "LOW:HIGH", text, &j->p.low, &j->p.high, error))
    return FALSE;
  if (!text && r->finite == 0)
    lam_cli_warn (_ ("%s has no finite value: all of it is hatched"), e->name);
  if (!text && colours == LAM_COLOUR_MAP_CYCLIC) {
    j->p.low = -G_PI;
    j->p.high = G_PI;
  } else if (!text && r->finite > 0) {
    j->p.low = colours == LAM_COLOUR_MAP_DIVERGING ? -fmax (fabs (r->low), fabs (r->high)) : r->low;
    j->p.high = colours == LAM_COLOUR_MAP_DIVERGING ? -j->p.low : r->high;
  }
  if (text && !(j->p.high > j->p.low)) {
    lam_cli_usage_error (error, _ ("--level %s: the second number must be above the first"), text);
    return FALSE;
  }
  if (!(j->p.high > j->p.low)) { /* all alike */
    j->p.low -= 0.5 * fmax (fabs (j->p.low), 1);
    j->p.high += 0.5 * fmax (fabs (j->p.high), 1);
  }
  return TRUE;
}

static gboolean
draw (const Job *j, const char *output, int64_t *width, int64_t *height, GError **error)
{
  LamCanvas canvas = lam_canvas_paper ();
  lam_map_picture_size (&j->p, width, height);
  if (*width > MOST_SIDE || *height > MOST_SIDE) {
    lam_cli_usage_error (error,
                         _ ("the picture would have %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                            " pixels, and %d are possible: give a smaller --zoom"),
                         *width, *height, MOST_SIDE);
    return FALSE;
  }
  cairo_surface_t *surface = lam_cli_picture_new (*width, *height, error);
  if (!surface)
    return FALSE;
  cairo_t *cr = cairo_create (surface);
  lam_map_picture_draw (cr, &canvas, &j->p);
  cairo_destroy (cr);
  gboolean ok = lam_cli_picture_write (surface, output, error);
  cairo_surface_destroy (surface);
  return ok;
}

static void
report (const LamMapEntry *e, const Job *j, int64_t contrast, const char *output, int64_t width, int64_t height)
{
  const char *unit = unit_text (e);
  lam_cli_print (_ ("%s: %s, %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " pixels, colours from %s to %s%s%s"), output,
                 j->what, width, height, lam_cli_number (j->p.low), lam_cli_number (j->p.high), *unit ? " " : "", unit);
  if (!lam_cli_json)
    return;
  JsonBuilder *b = lam_json_event ("result");
  lam_json_text (b, "output", output);
  lam_json_text (b, "picture", j->what);
  lam_json_text (b, "map", e->name);
  lam_json_text (b, "unit", e->units);
  lam_json_int (b, "contrast", contrast);
  lam_json_int (b, "width", width);
  lam_json_int (b, "height", height);
  lam_json_number (b, "low", j->p.low);
  lam_json_number (b, "high", j->p.high);
  lam_json_print (b);
}

static gboolean
render (const char *path, const LamCliMapLook *look, const char *output, GError **error)
{
  g_autoptr (LamMapFile) f = lam_map_file_open (path, error);
  int map = 0;
  int64_t contrast = 0, width, height;
  if (!f || !choose_map (f, &map, &contrast, error))
    return FALSE;
  const LamMapEntry *e = lam_map_file_entry (f, map);
  g_autofree char *name = e->contrasts > 1
                              ? g_strdup_printf (_ ("%s, contrast %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT), e->name,
                                                 contrast, e->contrasts)
                              : g_strdup (e->name);
  LamColourMap colours = lam_colour_map_for (e->name);
  if (colours == LAM_COLOUR_MAP_VIRIDIS && !e->units) /* an image, for all that is known */
    colours = LAM_COLOUR_MAP_GREY;
  guint8 rgba[256 * 4];
  LamMapRange range;
  Job j = {.p = {.colours = rgba, .unit = unit_text (e), .low = 0, .high = 1}};
  int64_t voxels = f->shape[0] * f->shape[1] * f->shape[2];
  float *values = lam_map_file_read (f, map, contrast, lam_cli_io (), error);
  float *mask =
      values && f->mask >= 0 && map != f->mask ? lam_map_file_read (f, f->mask, 0, lam_cli_io (), error) : NULL;
  gboolean ok = values && (mask || f->mask < 0 || map == f->mask) && lam_map_range (values, mask, voxels, &range, error)
                && choose_level (e, &range, colours, look->level, &j, error)
                && take_plane (f, values, look, name, &j, error);
  lam_free (values);
  lam_free (mask);
  lam_cli_progress_clear ();
  lam_colour_map_fill (colours, rgba);
  j.p.title = j.what;
  ok = ok && draw (&j, output, &width, &height, error);
  if (ok)
    report (e, &j, contrast, output, width, height);
  lam_free (j.plane);
  g_free (j.what);
  return ok;
}

int
lam_cli_render_map (const char *path, const LamCliMapLook *look, const char *output)
{
  g_autoptr (GError) error = NULL;
  return render (path, look, output, &error) ? LAM_EXIT_DONE : lam_cli_fail (error);
}
