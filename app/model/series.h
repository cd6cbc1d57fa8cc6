/* series.h: growing columns of numbers for charts: one x and any number of named y columns.
 *
 * Rows may be appended as often as they come; "changed" is emitted at most once per main loop turn. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define LAM_TYPE_SERIES (lam_series_get_type ())
G_DECLARE_FINAL_TYPE (LamSeries, lam_series, LAM, SERIES, GObject)

/* Signal "changed" (guint first, guint removed, guint added): as items-changed of a list, several calls folded in one. */
LamSeries *lam_series_new (const char *x_label);

/* Adds a column while there are no rows; returns its index. @label is translated, @unit may be NULL. */
guint lam_series_add_column (LamSeries *self, const char *id, const char *label, const char *unit);
guint lam_series_get_n_columns (LamSeries *self);
int lam_series_find_column (LamSeries *self, const char *id); /* -1 = none */
const char *lam_series_get_label (LamSeries *self, guint column);
const char *lam_series_get_unit (LamSeries *self, guint column);
const char *lam_series_get_x_label (LamSeries *self);

/* One value per column; NaN = not known for this row. */
void lam_series_append (LamSeries *self, double x, const double *values);
void lam_series_clear (LamSeries *self);

guint lam_series_get_n_rows (LamSeries *self);
double lam_series_get_x (LamSeries *self, guint row);
double lam_series_get (LamSeries *self, guint column, guint row);
/* The row whose x is nearest to @x; rows are in ascending x. -1 = no rows. */
int lam_series_nearest (LamSeries *self, double x);

/* Emits what is pending now; for tests and at the end of a run. */
void lam_series_flush (LamSeries *self);

G_END_DECLS
