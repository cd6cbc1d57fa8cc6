/* dictionary-file.h: a dictionary in one HDF5 file, with all that it takes to match with it again.
 *
 * /signals/real, /signals/imaginary [atoms][samples], one of which may be absent; /norm [atoms]; /parameters/NAME [atoms];
 * /protocol/NAME; /basis/real, /basis/imaginary [rank][samples] and /basis/singular_values where it is compressed. Attributes
 * of the root: format, template, orders, playings, residual, excluded, dropped, program, version, checksum. */
#pragma once

#include "io/control.h"
#include "mr/dictionary.h"

G_BEGIN_DECLS

/* The old file stays until the new one is whole. */
gboolean lam_dictionary_save (const LamDictionary *d, const char *path, const LamIoControl *control, GError **error);
/* LAM_ERROR_FORMAT: not one of ours, cut off, or its numbers are not those that were written (checksum). */
LamDictionary *lam_dictionary_load (const char *path, const LamIoControl *control, GError **error);
/* Whether @path says that it is a dictionary. */
gboolean lam_dictionary_is_file (const char *path);

G_END_DECLS
