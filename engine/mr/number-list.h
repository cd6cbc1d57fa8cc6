/* number-list.h: a list of numbers as a person types it: "10,20", "5:60:188" (188 values from 5 to 60), "2*124" (124 times
 * 2), or a formula of n (from 0) and N such as "30 + 20*sin(2*pi*n/N)", in a list as FORMULA:COUNT. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* @count: how many values a formula without a count makes; 0: it must say so. "inf" and "nan" are numbers. g_free (). NULL:
 * refused, with the place. */
double *lam_number_list_parse (const char *text, int count, int *n, GError **error);
/* Whether @text is a formula (or nothing at all) whose count another must give. */
gboolean lam_number_list_wants_count (const char *text);
/* The value of a formula at @n of @count. */
gboolean lam_formula (const char *text, double n, double count, double *value, GError **error);

G_END_DECLS
