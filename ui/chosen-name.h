/* chosen-name.h: the name that a person chose in a save dialog, with its ending. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A name without one of @suffixes (".h5", ended by NULL) gets the first: other programs go by it. One that would then replace a
 * file is refused with LAM_ERROR_INVALID, since the dialog asked about another name. */
GFile *lam_chosen_name (GFile *file, const char *const *suffixes, GError **error);

G_END_DECLS
