/* table.h: a column of numbers of a table in a text file, as `lamina design -o' writes it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of double. Cells are parted by commas, semicolons, tabs or blanks; lines of # and empty ones do not count. With a line of names
 * the column called @name, or the only one; without names there must be one. It ends at its first empty cell. */
GArray *lam_cli_table_column (const char *path, const char *name, GError **error);

/* Refuses an @output that is one of the tables read so far. */
gboolean lam_cli_spares_tables (const char *output, GError **error);

G_END_DECLS
