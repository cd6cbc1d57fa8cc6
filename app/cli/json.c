#include "cli/json.h"

#include "run/recon.h"

#include <math.h>
#include <stdio.h>

JsonBuilder *
lam_json_begin (void)
{
  JsonBuilder *b = json_builder_new ();
  json_builder_begin_object (b);
  return b;
}

JsonBuilder *
lam_json_event (const char *event)
{
  JsonBuilder *b = lam_json_begin ();
  lam_json_text (b, "event", event);
  return b;
}

void
lam_json_print (JsonBuilder *b)
{
  json_builder_end_object (b);
  g_autoptr (JsonNode) root = json_builder_get_root (b);
  g_autofree char *raw = json_to_string (root, FALSE), *text = lam_json_fix_numbers (raw);
  fputs (text, stdout);
  fputc ('\n', stdout);
  fflush (stdout);
  g_object_unref (b);
}

static void
name_it (JsonBuilder *b, const char *name)
{
  if (name)
    json_builder_set_member_name (b, name);
}

void
lam_json_text (JsonBuilder *b, const char *name, const char *value)
{
  name_it (b, name);
  if (!value) {
    json_builder_add_null_value (b);
    return;
  }
  /* Text of a file need not be UTF-8; a line of JSON must. */
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  json_builder_add_string_value (b, valid);
}

void
lam_json_int (JsonBuilder *b, const char *name, int64_t value)
{
  name_it (b, name);
  json_builder_add_int_value (b, value);
}

void
lam_json_bytes (JsonBuilder *b, const char *name, int64_t value)
{
  name_it (b, name);
  if (value < 0)
    json_builder_add_null_value (b);
  else
    json_builder_add_int_value (b, value);
}

void
lam_json_number (JsonBuilder *b, const char *name, double value)
{
  name_it (b, name);
  if (isfinite (value))
    json_builder_add_double_value (b, value);
  else
    json_builder_add_null_value (b);
}

void
lam_json_bool (JsonBuilder *b, const char *name, gboolean value)
{
  name_it (b, name);
  json_builder_add_boolean_value (b, value);
}

void
lam_json_ints (JsonBuilder *b, const char *name, const int64_t *values, int n)
{
  lam_json_open_array (b, name);
  for (int i = 0; i < n; i++)
    lam_json_int (b, NULL, values[i]);
  lam_json_close_array (b);
}

void
lam_json_numbers (JsonBuilder *b, const char *name, const double *values, int n)
{
  lam_json_open_array (b, name);
  for (int i = 0; i < n; i++)
    lam_json_number (b, NULL, values[i]);
  lam_json_close_array (b);
}

void
lam_json_raw (JsonBuilder *b, const char *name, const char *json)
{
  g_autoptr (JsonNode) node = json ? json_from_string (json, NULL) : NULL;
  if (!node) {
    lam_json_text (b, name, json);
    return;
  }
  name_it (b, name);
  json_builder_add_value (b, g_steal_pointer (&node));
}

void
lam_json_open (JsonBuilder *b, const char *name)
{
  name_it (b, name);
  json_builder_begin_object (b);
}

void
lam_json_close (JsonBuilder *b)
{
  json_builder_end_object (b);
}

void
lam_json_open_array (JsonBuilder *b, const char *name)
{
  name_it (b, name);
  json_builder_begin_array (b);
}

void
lam_json_close_array (JsonBuilder *b)
{
  json_builder_end_array (b);
}
