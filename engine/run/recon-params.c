/* recon-params.c: the parameters of a reconstruction: defaults, checks, text. */
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/recon.h"

void
lam_recon_params_init (LamReconParams *params)
{
  *params = (LamReconParams){
      .method = LAM_METHOD_VCD,
      .iterations = 15,
      .stop_percent = 0.2,
      .snr_db = LAM_SNR_DB_DEFAULT,
      .sharpness = LAM_SHARPNESS_DEFAULT,
      .p = 2,
      .q = 1.2,
      .t = 1,
      .neighbours = {1, 1, 1},
      .max_step = 1.5,
      .damping = TRUE,
  };
}

void
lam_recon_params_clear (LamReconParams *params)
{
  g_clear_pointer (&params->devices, g_free);
  g_clear_pointer (&params->init_path, g_free);
  g_clear_pointer (&params->command, g_free);
  g_clear_pointer (&params->checkpoint, g_free);
}

void
lam_recon_params_copy (const LamReconParams *from, LamReconParams *to)
{
  *to = *from;
  to->devices = g_strdup (from->devices);
  to->init_path = g_strdup (from->init_path);
  to->command = g_strdup (from->command);
  to->checkpoint = g_strdup (from->checkpoint);
}

gboolean
lam_recon_params_check (const LamReconParams *k, GError **error)
{
  const struct {
    const char *option;
    double value, low, high;
  } ranges[] = {
      {"iterations", (double) k->iterations, 1, 100000},
      {"stop-threshold", k->stop_percent, 0, 100},
      {"snr-db", k->snr_db, -20, 120},
      {"sharpness", k->sharpness, -20, 20},
      {"sigma-y", k->sigma_y, 0, 1e30},
      {"sigma-x", k->sigma_x, 0, 1e30},
      {"p", k->p, 1, 2},
      {"q", k->q, 1, k->p},
      {"T", k->t, 1e-6, 1e6},
      {"largest step", k->max_step, 1e-3, 2},
      {"row neighbours' weight", k->neighbours[0], 0, 1e6},
      {"column neighbours' weight", k->neighbours[1], 0, 1e6},
      {"slice neighbours' weight", k->neighbours[2], 0, 1e6},
  };
  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (!(ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "%s = %g: expected %g to %g", ranges[i].option, ranges[i].value,
                   ranges[i].low, ranges[i].high);
      return FALSE;
    }
  if (k->neighbours[0] + k->neighbours[1] + k->neighbours[2] <= 0) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "neighbour weights: at least one must be above 0");
    return FALSE;
  }
  if (k->init == LAM_INIT_FILE && !k->init_path) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "init: a file is to be started from, but none is named");
    return FALSE;
  }
  if (k->resume && !k->checkpoint) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, "resume: no checkpoint is named");
    return FALSE;
  }
  return TRUE;
}

static const char *
init_name (const LamReconParams *k)
{
  switch (k->init) {
  case LAM_INIT_DIRECT:
    return "direct";
  case LAM_INIT_ZERO:
    return "zero";
  case LAM_INIT_FILE:
    return k->init_path;
  case LAM_INIT_CURRENT:
    return "current";
  }
  return "";
}

char *
lam_json_fix_numbers (const char *text)
{
  GString *out = g_string_new (NULL);
  gboolean quoted = FALSE, exponent = FALSE;
  for (const char *c = text; *c; c++) {
    if (quoted && *c == '\\' && c[1]) { /* an escaped character */
      g_string_append_len (out, c++, 2);
      continue;
    }
    if (*c == '"')
      quoted = !quoted;
    if (!quoted && (*c == 'e' || *c == 'E') && c > text && g_ascii_isdigit (c[-1]))
      exponent = TRUE;
    else if (!quoted && exponent && *c == '.' && c[1] == '0') {
      c++;
      continue;
    } else if (!g_ascii_isdigit (*c) && *c != '+' && *c != '-')
      exponent = FALSE;
    g_string_append_c (out, *c);
  }
  return g_string_free (out, FALSE);
}

char *
lam_recon_params_json (const LamReconParams *k)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  gboolean vcd = k->method == LAM_METHOD_VCD;
  json_builder_begin_object (b);
  const struct {
    const char *name;
    double value;
  } numbers[] = {
      {"iterations", (double) k->iterations},
      {"stop_threshold_percent", k->stop_percent},
      {"snr_db", k->snr_db},
      {"sharpness", k->sharpness},
      {"sigma_y_given", k->sigma_y},
      {"sigma_x_given", k->sigma_x},
      {"p", k->p},
      {"q", k->q},
      {"T", k->t},
      {"largest_step", k->max_step},
      {"neighbours_row", k->neighbours[0]},
      {"neighbours_column", k->neighbours[1]},
      {"neighbours_slice", k->neighbours[2]},
      {"seed", (double) k->seed},
  };
  json_builder_set_member_name (b, "method");
  json_builder_add_string_value (b, vcd ? "vcd" : "direct");
  json_builder_set_member_name (b, "devices");
  json_builder_add_string_value (b, k->devices ? k->devices : "auto");
  for (guint i = 0; vcd && i < G_N_ELEMENTS (numbers); i++) {
    json_builder_set_member_name (b, numbers[i].name);
    json_builder_add_double_value (b, numbers[i].value);
  }
  if (vcd) {
    json_builder_set_member_name (b, "positivity");
    json_builder_add_boolean_value (b, k->positivity);
    json_builder_set_member_name (b, "slice_damping");
    json_builder_add_boolean_value (b, k->damping);
    json_builder_set_member_name (b, "init");
    json_builder_add_string_value (b, init_name (k));
  }
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  json_generator_set_root (generator, root);
  g_autofree char *text = json_generator_to_data (generator, NULL);
  return lam_json_fix_numbers (text);
}
