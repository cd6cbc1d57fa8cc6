#include "config.h"

#include "model/units.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "core/error.h"

typedef enum { LENGTH, INVERSE_LENGTH, PIXEL, INVERSE_PIXEL, ANGLE, TIME, DECIBEL, PERCENT } Dimension;

typedef struct {
  const char *name;
  Dimension dimension;
  double factor; /* to mm, 1/mm, px, 1/px, degrees, ms, dB, % */
} Unit;

static const Unit units[] = {
    {"mm", LENGTH, 1},
    {"cm", LENGTH, 10},
    {"m", LENGTH, 1000},
    {"um", LENGTH, 1e-3},
    {"µm", LENGTH, 1e-3}, /* U+00B5 */
    {"μm", LENGTH, 1e-3}, /* U+03BC */
    {"nm", LENGTH, 1e-6},
    {"1/mm", INVERSE_LENGTH, 1},
    {"1/cm", INVERSE_LENGTH, 0.1},
    {"px", PIXEL, 1},
    {"pixel", PIXEL, 1},
    {"pixels", PIXEL, 1},
    {"1/px", INVERSE_PIXEL, 1},
    {"°", ANGLE, 1},
    {"deg", ANGLE, 1},
    {"rad", ANGLE, 180 / G_PI},
    {"mrad", ANGLE, 0.18 / G_PI},
    {"turn", ANGLE, 360},
    {"ms", TIME, 1},
    {"s", TIME, 1000},
    {"us", TIME, 1e-3},
    {"µs", TIME, 1e-3},
    {"min", TIME, 60000},
    {"dB", DECIBEL, 1},
    {"%", PERCENT, 1},
};

static const Unit *
find_unit (const char *name)
{
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_ascii_strcasecmp (units[i].name, name) == 0)
      return &units[i];
  return NULL;
}

/* The factor from @from to @to, or 0 when the two do not measure the same thing. */
static double
conversion (const Unit *from, const Unit *to, double pixel)
{
  if (from->dimension == to->dimension)
    return from->factor / to->factor;
  if (!(pixel > 0))
    return 0;
  if (from->dimension == PIXEL && to->dimension == LENGTH)
    return pixel / to->factor;
  if (from->dimension == LENGTH && to->dimension == PIXEL)
    return from->factor / pixel;
  if (from->dimension == INVERSE_PIXEL && to->dimension == INVERSE_LENGTH)
    return 1 / (pixel * to->factor);
  if (from->dimension == INVERSE_LENGTH && to->dimension == INVERSE_PIXEL)
    return from->factor * pixel;
  return 0;
}

static gboolean
needs_pixel (Dimension a, Dimension b)
{
  return (a == PIXEL && b == LENGTH) || (a == LENGTH && b == PIXEL) || (a == INVERSE_PIXEL && b == INVERSE_LENGTH)
         || (a == INVERSE_LENGTH && b == INVERSE_PIXEL);
}

/* Moves the number at the front of @text into @number as strtod wants it; returns the rest. */
static const char *
take_number (const char *text, GString *number, int *points)
{
  *points = 0;
  if (g_str_has_prefix (text, "−")) { /* U+2212 */
    g_string_append_c (number, '-');
    text += strlen ("−");
  } else if (*text == '-' || *text == '+')
    g_string_append_c (number, *text++);
  if (g_str_has_prefix (text, "∞")) {
    g_string_append (number, "inf");
    return text + strlen ("∞");
  }
  if (g_ascii_strncasecmp (text, "inf", 3) == 0) {
    g_string_append (number, "inf");
    return text + (g_ascii_strncasecmp (text, "infinity", 8) == 0 ? 8 : 3);
  }
  for (; g_ascii_isdigit (*text) || *text == '.' || *text == ','; text++) {
    *points += !g_ascii_isdigit (*text);
    g_string_append_c (number, *text == ',' ? '.' : *text);
  }
  /* An exponent only where digits follow, so that the unit may start with e. */
  if (*text == 'e' || *text == 'E') {
    const char *p = text + 1;
    if (*p == '-' || *p == '+')
      p++;
    if (g_ascii_isdigit (*p)) {
      while (g_ascii_isdigit (*p))
        p++;
      g_string_append_len (number, text, p - text);
      text = p;
    }
  }
  return text;
}

gboolean
lam_units_parse (const char *text, const char *unit, double pixel, double *value, GError **error)
{
  g_return_val_if_fail (text != NULL && value != NULL, FALSE);

  g_autofree char *stripped = g_strstrip (g_strdup (text));
  g_autoptr (GString) number = g_string_new (NULL);
  int points;
  const char *rest = take_number (stripped, number, &points);
  char *end = NULL;
  double v = g_ascii_strtod (number->str, &end);
  if (points > 1) {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                 _ ("“%s” has more than one decimal sign; type it without thousands separators"), stripped);
    return FALSE;
  }
  if (number->len == 0 || end == number->str || *end != '\0') {
    g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("“%s” is not a number"), stripped);
    return FALSE;
  }

  while (g_unichar_isspace (g_utf8_get_char (rest)))
    rest = g_utf8_next_char (rest);
  if (*rest != '\0' && g_strcmp0 (rest, unit) != 0) {
    const Unit *from = find_unit (rest), *to = unit != NULL ? find_unit (unit) : NULL;
    double factor = from != NULL && to != NULL ? conversion (from, to, pixel) : 0;
    if (from == NULL) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("“%s” is not a unit known here"), rest);
      return FALSE;
    }
    if (factor == 0 && to != NULL && needs_pixel (from->dimension, to->dimension)) {
      g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
                   _ ("%s cannot be turned into %s while the pixel pitch is unknown"), rest, unit);
      return FALSE;
    }
    if (factor == 0) {
      if (unit == NULL || *unit == '\0')
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s does not fit: this number has no unit"), rest);
      else
        g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID, _ ("%s does not fit: this number is in %s"), rest, unit);
      return FALSE;
    }
    v *= factor;
  }
  *value = v;
  return TRUE;
}

char *
lam_units_format (double value, int digits)
{
  if (isnan (value))
    return g_strdup ("nan");
  if (isinf (value))
    return g_strdup (value > 0 ? "∞" : "−∞");
  g_autofree char *plain = g_strdup_printf ("%.*f", digits, fabs (value));
  /* No "−0.00". */
  gboolean zero = strspn (plain, "0.,") == strlen (plain);
  return value < 0 && !zero ? g_strconcat ("−", plain, NULL) : g_steal_pointer (&plain);
}

char *
lam_units_format_left (double seconds)
{
  if (!(seconds >= 0))
    return NULL;
  if (seconds < 90)
    return g_strdup_printf (_ ("about %.0f s left"), fmax (seconds, 1));
  if (seconds < 5400)
    return g_strdup_printf (_ ("about %.0f minutes left"), seconds / 60);
  return g_strdup_printf (_ ("about %.1f hours left"), seconds / 3600);
}
