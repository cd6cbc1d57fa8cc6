#include "config.h"

#include "model/series.h"

#include <math.h>

typedef struct {
  char *id, *label, *unit;
  GArray *values; /* of double */
} Column;

struct _LamSeries {
  GObject parent_instance;
  char *x_label;
  GArray *x;
  GPtrArray *columns;
  GSource *pending; /* the one coalesced emission */
  guint told_rows;  /* rows that listeners know of */
  gboolean cleared; /* since they were told: their rows are gone */
};

G_DEFINE_FINAL_TYPE (LamSeries, lam_series, G_TYPE_OBJECT)

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
column_free (gpointer data)
{
  Column *column = data;
  g_free (column->id);
  g_free (column->label);
  g_free (column->unit);
  g_array_unref (column->values);
  g_free (column);
}

static Column *
column_at (LamSeries *self, guint column)
{
  return g_ptr_array_index (self->columns, column);
}

void
lam_series_flush (LamSeries *self)
{
  g_return_if_fail (LAM_IS_SERIES (self));
  if (self->pending == NULL)
    return;
  g_source_destroy (self->pending);
  g_clear_pointer (&self->pending, g_source_unref);
  guint first = self->cleared ? 0 : self->told_rows;
  guint removed = self->cleared ? self->told_rows : 0;
  self->told_rows = self->x->len;
  self->cleared = FALSE;
  g_signal_emit (self, signals[CHANGED], 0, first, removed, self->x->len - first);
}

static gboolean
flush_cb (gpointer self)
{
  lam_series_flush (self);
  return G_SOURCE_REMOVE;
}

static void
schedule (LamSeries *self)
{
  if (self->pending != NULL)
    return;
  self->pending = g_idle_source_new ();
  g_source_set_static_name (self->pending, "lam_series_flush");
  g_source_set_callback (self->pending, flush_cb, g_object_ref (self), g_object_unref);
  g_source_attach (self->pending, NULL);
}

guint
lam_series_add_column (LamSeries *self, const char *id, const char *label, const char *unit)
{
  g_return_val_if_fail (LAM_IS_SERIES (self) && self->x->len == 0, 0);
  Column *column = g_new (Column, 1);
  *column = (Column){g_strdup (id), g_strdup (label), g_strdup (unit), g_array_new (FALSE, FALSE, sizeof (double))};
  g_ptr_array_add (self->columns, column);
  return self->columns->len - 1;
}

void
lam_series_append (LamSeries *self, double x, const double *values)
{
  g_return_if_fail (LAM_IS_SERIES (self) && values != NULL);
  g_array_append_val (self->x, x);
  for (guint c = 0; c < self->columns->len; c++)
    g_array_append_val (column_at (self, c)->values, values[c]);
  schedule (self);
}

void
lam_series_clear (LamSeries *self)
{
  g_return_if_fail (LAM_IS_SERIES (self));
  if (self->x->len == 0)
    return;
  g_array_set_size (self->x, 0);
  for (guint c = 0; c < self->columns->len; c++)
    g_array_set_size (column_at (self, c)->values, 0);
  self->cleared = TRUE;
  schedule (self);
}

guint
lam_series_get_n_columns (LamSeries *self)
{
  return self->columns->len;
}

int
lam_series_find_column (LamSeries *self, const char *id)
{
  for (guint c = 0; c < self->columns->len; c++)
    if (g_str_equal (column_at (self, c)->id, id))
      return (int) c;
  return -1;
}

const char *
lam_series_get_label (LamSeries *self, guint column)
{
  g_return_val_if_fail (column < self->columns->len, NULL);
  return column_at (self, column)->label;
}

const char *
lam_series_get_unit (LamSeries *self, guint column)
{
  g_return_val_if_fail (column < self->columns->len, NULL);
  return column_at (self, column)->unit;
}

const char *
lam_series_get_x_label (LamSeries *self)
{
  return self->x_label;
}

guint
lam_series_get_n_rows (LamSeries *self)
{
  return self->x->len;
}

double
lam_series_get_x (LamSeries *self, guint row)
{
  g_return_val_if_fail (row < self->x->len, NAN);
  return g_array_index (self->x, double, row);
}

double
lam_series_get (LamSeries *self, guint column, guint row)
{
  g_return_val_if_fail (column < self->columns->len && row < self->x->len, NAN);
  return g_array_index (column_at (self, column)->values, double, row);
}

int
lam_series_nearest (LamSeries *self, double x)
{
  guint low = 0, high = self->x->len;
  if (high == 0)
    return -1;
  while (high - low > 1) {
    guint middle = (low + high) / 2;
    if (g_array_index (self->x, double, middle) <= x)
      low = middle;
    else
      high = middle;
  }
  if (low + 1 < self->x->len && lam_series_get_x (self, low + 1) - x < x - lam_series_get_x (self, low))
    low++;
  return (int) low;
}

static void
lam_series_finalize (GObject *object)
{
  LamSeries *self = LAM_SERIES (object);
  g_array_unref (self->x);
  g_ptr_array_unref (self->columns);
  g_free (self->x_label);
  G_OBJECT_CLASS (lam_series_parent_class)->finalize (object);
}

static void
lam_series_class_init (LamSeriesClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_series_finalize;
  signals[CHANGED] = g_signal_new ("changed", LAM_TYPE_SERIES, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                                   G_TYPE_UINT, G_TYPE_UINT, G_TYPE_UINT);
}

static void
lam_series_init (LamSeries *self)
{
  self->x = g_array_new (FALSE, FALSE, sizeof (double));
  self->columns = g_ptr_array_new_with_free_func (column_free);
}

LamSeries *
lam_series_new (const char *x_label)
{
  LamSeries *self = g_object_new (LAM_TYPE_SERIES, NULL);
  self->x_label = g_strdup (x_label);
  return self;
}
