/* json.h: one JSON object a line on stdout. Numbers that JSON cannot hold become null. */
#pragma once

#include <json-glib/json-glib.h>

#include "core/types.h"

G_BEGIN_DECLS

/* Begins an object; lam_json_print () ends it, prints it as one line, and frees the builder. */
JsonBuilder *lam_json_begin (void);
void lam_json_print (JsonBuilder *b);
/* As lam_json_begin (), with "event": @event as its first member. */
JsonBuilder *lam_json_event (const char *event);

/* @name NULL inside an array. */
void lam_json_text (JsonBuilder *b, const char *name, const char *value); /* NULL: null */
void lam_json_int (JsonBuilder *b, const char *name, int64_t value);
void lam_json_bytes (JsonBuilder *b, const char *name, int64_t value); /* below 0 (too large): null */
void lam_json_number (JsonBuilder *b, const char *name, double value);
void lam_json_bool (JsonBuilder *b, const char *name, gboolean value);
void lam_json_ints (JsonBuilder *b, const char *name, const int64_t *values, int n);
void lam_json_numbers (JsonBuilder *b, const char *name, const double *values, int n);
/* @json: a whole JSON text as a member; as a string when it does not parse; null when NULL. */
void lam_json_raw (JsonBuilder *b, const char *name, const char *json);
/* An object inside, an array inside, and their ends. */
void lam_json_open (JsonBuilder *b, const char *name);
void lam_json_close (JsonBuilder *b);
void lam_json_open_array (JsonBuilder *b, const char *name);
void lam_json_close_array (JsonBuilder *b);

G_END_DECLS
