/* mbirjax.c: YAML texts as MBIRJAX writes and reads them. The builder keeps a tree of its own; libyaml emits it. */
#include "io/mbirjax.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

#include "core/error.h"
#include "core/memory.h"

typedef enum {
  NODE_SCALAR, /* text, written as it is */
  NODE_TEXT,   /* text, quoted where YAML would read something else */
  NODE_LIST,
  NODE_MAP,
} NodeKind;

typedef struct _Node Node;
struct _Node {
  NodeKind kind;
  char *text;
  GPtrArray *names; /* map */
  GPtrArray *nodes; /* list, map */
};

struct _LamYaml {
  gboolean parameters;
  gboolean no_memory; /* an entry is missing for want of it */
  Node *root;
};

static void
node_free (Node *n)
{
  g_free (n->text);
  g_clear_pointer (&n->names, g_ptr_array_unref);
  g_clear_pointer (&n->nodes, g_ptr_array_unref);
  g_free (n);
}

static Node *
node_new (NodeKind kind, char *text_take)
{
  Node *n = g_new0 (Node, 1);
  n->kind = kind;
  n->text = text_take;
  if (kind >= NODE_LIST)
    n->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) node_free);
  if (kind == NODE_MAP)
    n->names = g_ptr_array_new_with_free_func (g_free);
  return n;
}

static void
map_add (Node *map, const char *name, Node *value_take)
{
  g_ptr_array_add (map->names, g_strdup (name));
  g_ptr_array_add (map->nodes, value_take);
}

/* Always with a point, so that it is read as a real number: 1.0, 1.0e-05, .inf. */
static char *
real_text (double x)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (isnan (x))
    return g_strdup (".nan");
  if (isinf (x))
    return g_strdup (x < 0 ? "-.inf" : ".inf");
  for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back the same */
    char format[] = "%.15g";
    format[3] = (char) ('0' + digits % 10);
    g_ascii_formatd (buffer, sizeof buffer, format, x);
    if (g_ascii_strtod (buffer, NULL) == x)
      break;
  }
  if (strchr (buffer, '.'))
    return g_strdup (buffer);
  char *e = strchr (buffer, 'e');
  return e ? g_strdup_printf ("%.*s.0%s", (int) (e - buffer), buffer, e) : g_strconcat (buffer, ".0", NULL);
}

static Node *
real_node (double x)
{
  return node_new (NODE_SCALAR, real_text (x));
}

static Node *
int_node (int64_t x)
{
  return node_new (NODE_SCALAR, g_strdup_printf ("%" G_GINT64_FORMAT, x));
}

LamYaml *
lam_yaml_new (gboolean parameters)
{
  LamYaml *y = g_new0 (LamYaml, 1);
  y->parameters = parameters;
  y->root = node_new (NODE_MAP, NULL);
  return y;
}

void
lam_yaml_free (LamYaml *y)
{
  if (!y)
    return;
  node_free (y->root);
  g_free (y);
}

/* The entry @name; @shape may be NULL. */
static void
add (LamYaml *y, const char *name, Node *value_take, Node *shape_take, gboolean recompile)
{
  if (!y->parameters) {
    map_add (y->root, name, value_take);
    return;
  }
  Node *entry = node_new (NODE_MAP, NULL);
  map_add (entry, "val", value_take);
  if (shape_take)
    map_add (entry, "shape", shape_take);
  map_add (entry, "recompile_flag", node_new (NODE_SCALAR, g_strdup (recompile ? "true" : "false")));
  map_add (y->root, name, entry);
}

void
lam_yaml_add_double (LamYaml *y, const char *name, double value, gboolean recompile)
{
  add (y, name, real_node (value), NULL, recompile);
}

void
lam_yaml_add_int (LamYaml *y, const char *name, int64_t value, gboolean recompile)
{
  add (y, name, int_node (value), NULL, recompile);
}

void
lam_yaml_add_bool (LamYaml *y, const char *name, gboolean value, gboolean recompile)
{
  add (y, name, node_new (NODE_SCALAR, g_strdup (value ? "true" : "false")), NULL, recompile);
}

void
lam_yaml_add_text (LamYaml *y, const char *name, const char *value, gboolean recompile)
{
  add (y, name, value ? node_new (NODE_TEXT, g_utf8_make_valid (value, -1)) : node_new (NODE_SCALAR, g_strdup ("")),
       NULL, recompile);
}

void
lam_yaml_add_doubles (LamYaml *y, const char *name, const double *values, int64_t n, gboolean recompile)
{
  Node *list = node_new (NODE_LIST, NULL);
  for (int64_t i = 0; i < n; i++)
    g_ptr_array_add (list->nodes, real_node (values[i]));
  add (y, name, list, NULL, recompile);
}

void
lam_yaml_add_ints (LamYaml *y, const char *name, const int64_t *values, int64_t n, gboolean recompile)
{
  Node *list = node_new (NODE_LIST, NULL);
  for (int64_t i = 0; i < n; i++)
    g_ptr_array_add (list->nodes, int_node (values[i]));
  add (y, name, list, NULL, recompile);
}

void
lam_yaml_add_array (LamYaml *y, const char *name, const double *values, int rank, const int64_t *shape,
                    gboolean recompile)
{
  Node *sizes = node_new (NODE_LIST, NULL);
  int64_t n = 1;
  for (int i = 0; i < rank; i++) {
    n *= shape[i];
    g_ptr_array_add (sizes->nodes, int_node (shape[i]));
  }
  GString *text = g_string_new (":ARRAY:");
  char buffer[512]; /* "%.7f" of the largest double has 309 digits before the point */
  for (int64_t i = 0; i < n; i++) {
    if (i)
      g_string_append_c (text, ' ');
    g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.7f", values[i]));
  }
  add (y, name, node_new (NODE_SCALAR, g_string_free (text, FALSE)), sizes, recompile);
}

void
lam_yaml_add_map (LamYaml *y, const char *name, const char *const *keys, const double *values, int64_t n)
{
  Node *map = node_new (NODE_MAP, NULL);
  for (int64_t i = 0; i < n; i++)
    map_add (map, keys[i], real_node (values[i]));
  add (y, name, map, NULL, FALSE);
}

static void
add_view_numbers (LamYaml *y, const LamGeometry *g)
{
  if (g->kind == LAM_GEOMETRY_PARALLEL) {
    lam_yaml_add_array (y, "angles", g->angles, 1, &g->views, TRUE);
    lam_yaml_add_text (y, "view_params_name", "angles", TRUE);
    return;
  }
  double *pairs = lam_alloc_n (g->views, 2 * sizeof *pairs, "view_params_array", NULL);
  const int64_t shape[2] = {g->views, 2};
  y->no_memory = y->no_memory || !pairs;
  for (int64_t v = 0; pairs && v < g->views; v++) {
    pairs[2 * v] = g->angles[v];
    pairs[2 * v + 1] = g->shifts ? g->shifts[v] : 0;
  }
  if (pairs)
    lam_yaml_add_array (y, "view_params_array", pairs, 2, shape, TRUE);
  lam_free (pairs);
  lam_yaml_add_double (y, "source_detector_dist", g->source_detector, TRUE);
  lam_yaml_add_double (y, "source_iso_dist", g->source_axis, TRUE);
  lam_yaml_add_text (y, "view_params_name", "view_params_array", TRUE);
  Node *names = node_new (NODE_LIST, NULL);
  g_ptr_array_add (names->nodes, node_new (NODE_SCALAR, g_strdup ("angles")));
  g_ptr_array_add (names->nodes, node_new (NODE_SCALAR, g_strdup ("helical_z_shifts")));
  add (y, "view_params_component_names", names, NULL, TRUE);
  lam_yaml_add_double (y, "recon_slice_offset", g->slice_offset, TRUE);
  if (g->pad_top == g->pad_bottom)
    lam_yaml_add_double (y, "axial_pad_fraction", g->pad_top, TRUE);
  else {
    const double pads[2] = {g->pad_top, g->pad_bottom};
    lam_yaml_add_doubles (y, "axial_pad_fraction", pads, 2, TRUE);
  }
  lam_yaml_add_bool (y, "use_curved_detector", g->detector == LAM_DETECTOR_CURVED, TRUE);
}

void
lam_yaml_add_geometry (LamYaml *y, const LamGeometry *g)
{
  const int64_t sinogram[3] = {g->views, g->rows, g->channels};
  const int64_t recon[3] = {g->recon_rows, g->recon_columns, g->recon_slices};
  gboolean cone = g->kind == LAM_GEOMETRY_CONE;
  lam_yaml_add_text (
      y, "geometry_type",
      cone ? "<class 'mbirjax.cone_beam.ConeBeamModel'>" : "<class 'mbirjax.parallel_beam.ParallelBeamModel'>", FALSE);
  lam_yaml_add_double (y, "file_format", 1, FALSE);
  lam_yaml_add_ints (y, "sinogram_shape", sinogram, 3, TRUE);
  lam_yaml_add_double (y, "delta_det_channel", g->channel_pitch, TRUE);
  lam_yaml_add_double (y, "delta_det_row", g->row_pitch, TRUE);
  lam_yaml_add_double (y, "det_row_offset", g->row_offset, TRUE);
  lam_yaml_add_double (y, "det_channel_offset", g->channel_offset, TRUE);
  lam_yaml_add_text (y, "alu_unit", strcmp (g->length_unit, "mm") == 0 ? "mm" : NULL, FALSE);
  lam_yaml_add_double (y, "alu_value", 1, FALSE);
  lam_yaml_add_ints (y, "recon_shape", recon, 3, TRUE);
  lam_yaml_add_double (y, "delta_voxel", g->voxel_pitch, TRUE);
  lam_yaml_add_double (y, "voxel_row_aspect", g->row_aspect, TRUE);
  lam_yaml_add_double (y, "voxel_slice_aspect", g->slice_aspect, TRUE);
  lam_yaml_add_bool (y, "use_ror_mask", g->mask == LAM_MASK_ELLIPSE, FALSE);
  add_view_numbers (y, g);
}

/* ---- emitting ---- */

static int
append (void *data, unsigned char *bytes, size_t n)
{
  g_string_append_len (data, (const char *) bytes, (gssize) n);
  return 1;
}

/* A word that a plain scalar would turn into something that is not text. */
static gboolean
needs_quotes (const char *text)
{
  static const char *const words[] = {"",    "~",  "null", "Null", "NULL",  "true",  "True",  "TRUE",
                                      "yes", "no", "on",   "off",  "false", "False", "FALSE", NULL};
  char *end;
  g_ascii_strtod (text, &end);
  return g_strv_contains (words, text) || (*text && *end == 0) || text[0] == '.';
}

static gboolean
emit_scalar (yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style)
{
  yaml_event_t event;
  return yaml_scalar_event_initialize (&event, NULL, NULL, (const yaml_char_t *) text, (int) strlen (text), 1, 1, style)
         && yaml_emitter_emit (emitter, &event);
}

static gboolean
emit_node (yaml_emitter_t *emitter, const Node *n)
{
  yaml_event_t event;
  gboolean ok;
  if (n->kind <= NODE_TEXT)
    return emit_scalar (emitter, n->text,
                        n->kind == NODE_TEXT && needs_quotes (n->text) ? YAML_SINGLE_QUOTED_SCALAR_STYLE
                                                                       : YAML_PLAIN_SCALAR_STYLE);
  if (n->kind == NODE_LIST) /* an empty one only exists as [] */
    ok = yaml_sequence_start_event_initialize (&event, NULL, NULL, 1,
                                               n->nodes->len ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE);
  else
    ok = yaml_mapping_start_event_initialize (&event, NULL, NULL, 1,
                                              n->nodes->len ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE);
  ok = ok && yaml_emitter_emit (emitter, &event);
  for (guint i = 0; ok && i < n->nodes->len; i++)
    ok = (n->kind == NODE_LIST || emit_scalar (emitter, n->names->pdata[i], YAML_PLAIN_SCALAR_STYLE))
         && emit_node (emitter, n->nodes->pdata[i]);
  ok = ok
       && (n->kind == NODE_LIST ? yaml_sequence_end_event_initialize (&event)
                                : yaml_mapping_end_event_initialize (&event));
  return ok && yaml_emitter_emit (emitter, &event);
}

char *
lam_yaml_text (const LamYaml *y, GError **error)
{
  yaml_emitter_t emitter;
  yaml_event_t event;
  GString *text = g_string_new (NULL);
  if (y->no_memory || !yaml_emitter_initialize (&emitter)) {
    g_string_free (text, TRUE);
    g_set_error (error, LAM_ERROR, LAM_ERROR_NO_MEMORY, "writing YAML: out of memory");
    return NULL;
  }
  yaml_emitter_set_output (&emitter, append, text);
  yaml_emitter_set_width (&emitter, -1); /* an array stays on one line */
  yaml_emitter_set_unicode (&emitter, 1);
  gboolean ok = yaml_stream_start_event_initialize (&event, YAML_UTF8_ENCODING) && yaml_emitter_emit (&emitter, &event)
                && yaml_document_start_event_initialize (&event, NULL, NULL, NULL, 1)
                && yaml_emitter_emit (&emitter, &event) && emit_node (&emitter, y->root)
                && yaml_document_end_event_initialize (&event, 1) && yaml_emitter_emit (&emitter, &event)
                && yaml_stream_end_event_initialize (&event) && yaml_emitter_emit (&emitter, &event)
                && yaml_emitter_flush (&emitter);
  if (!ok)
    g_set_error (error, LAM_ERROR, emitter.error == YAML_MEMORY_ERROR ? LAM_ERROR_NO_MEMORY : LAM_ERROR_FAILED,
                 "writing YAML: %s", emitter.problem ? emitter.problem : "out of memory");
  yaml_emitter_delete (&emitter);
  return g_string_free (text, !ok);
}
