/* wrap-layout.h: widgets beside each other, in as many lines as the width asks for. Those that expand share what is left of
 * their line. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LAM_TYPE_WRAP_LAYOUT (lam_wrap_layout_get_type ())
G_DECLARE_FINAL_TYPE (LamWrapLayout, lam_wrap_layout, LAM, WRAP_LAYOUT, GtkLayoutManager)

GtkLayoutManager *lam_wrap_layout_new (void);

G_END_DECLS
