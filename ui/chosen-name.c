#include "config.h"

#include "chosen-name.h"

#include <glib/gi18n.h>

#include "core/error.h"

GFile *
lam_chosen_name (GFile *file, const char *const *suffixes, GError **error)
{
  g_autofree char *name = g_file_get_basename (file), *lower = g_ascii_strdown (name, -1);
  for (int i = 0; suffixes[i] != NULL; i++)
    if (g_str_has_suffix (lower, suffixes[i]))
      return g_object_ref (file);
  g_autofree char *longer = g_strconcat (name, suffixes[0], NULL);
  g_autoptr (GFile) folder = g_file_get_parent (file), whole = g_file_get_child (folder, longer);
  if (!g_file_query_exists (whole, NULL))
    return g_steal_pointer (&whole);
  g_set_error (error, LAM_ERROR, LAM_ERROR_INVALID,
               _ ("%s is there already: choose it by its whole name to replace it"), g_file_peek_path (whole));
  return NULL;
}
