/* units.h: reads what a person types into a numeric field: "0.3 px", "2 cm", "1,2 rad". */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads @text as a value in @unit; a typed unit of the same kind is converted. A decimal comma is a decimal point; a
 * second sign of that kind is refused rather than guessed to be a thousands separator. @pixel is the length of one px
 * in mm, or 0 when it is not known: then px and mm do not mix, and the message says so. */
gboolean lam_units_parse (const char *text, const char *unit, double pixel, double *value, GError **error);

/* A number with @digits decimals and the typographic minus, without unit, in the user's locale. */
char *lam_units_format (double value, int digits);
/* "about 7 s left" in the unit that suits; NULL when it is not known (negative). */
char *lam_units_format_left (double seconds);

G_END_DECLS
