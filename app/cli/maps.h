/* maps.h: what `info' and `render' do with maps of tissue and with NIfTI images. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Says what is in it; @all: however much there is to be looked at. The exit status. */
int lam_cli_show_maps (const char *path, gboolean all);

/* --map, --contrast. */
extern const GOptionEntry lam_cli_render_map_entries[];
gboolean lam_cli_render_map_given (void);

typedef struct {
  const char *plane, *index, *index_option; /* as given, or NULL; the option that @index is from */
  const char *level;                        /* "LOW:HIGH", or NULL */
  int64_t zoom;                             /* 0: so that the picture can be seen */
} LamCliMapLook;

/* The exit status. */
int lam_cli_render_map (const char *path, const LamCliMapLook *look, const char *output);

G_END_DECLS
