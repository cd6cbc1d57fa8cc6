/* dictionary-file.h: a dictionary in one HDF5 file, with all that it takes to match with it again.
 *
 * /signals/real, /signals/imaginary [atoms][samples], one of which may be absent; /norm [atoms]; /parameters/NAME [atoms];
 * /protocol/NAME; /basis/real, /basis/imaginary [rank][samples] and /basis/singular_values where it is compressed. Attributes
 * of the root: format, template, orders, playings, residual, excluded, dropped, program, version, checksum. Of a Pulseq sequence
 * (template "Pulseq") there are /sequence/sample [samples], numbers in the sequence from 0, /sequence/time [samples] in s, and
 * attributes of the root: sequence_file, sequence_checksum, sequence_samples, spins, voxel_size_mm and voxel_position_mm [3], f0_hz
 * where it was given. */
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
