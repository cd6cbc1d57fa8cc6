/* golden.h: reading the reference numbers (HDF5), and counting what was compared.
 *
 * Nothing is known here about any case: every parameter comes from attributes and datasets. A missing one ends the
 * test program with its name, since a check that silently reads nothing would pass. */
#pragma once

#include <glib.h>
#include <hdf5.h>

#include "ct/geometry.h"

G_BEGIN_DECLS

#define GOLDEN_MAX_RANK 8

/* $LAMINA_GOLDEN_DIR and $LAMINA_DATA_DIR, or ../shared/golden and ../shared/data beside the source tree. */
const char *golden_dir (void);
const char *golden_data_dir (void);
/* The files in it named @prefix*.h5, full paths in order; NULL-terminated and maybe empty. Freed with g_strfreev (). */
char **golden_files (const char *prefix);
/* Calls @check once for each of those files; with none, skips the test with a reason and returns FALSE. */
typedef void (*GoldenFileFunc) (hid_t file, gpointer data);
gboolean golden_each_file (const char *prefix, GoldenFileFunc check, gpointer data);

/* Calls @check for each subgroup of @loc/@path in name order. No such path: nothing happens, returns 0. */
typedef void (*GoldenGroupFunc) (hid_t group, const char *name, gpointer data);
int golden_each_group (hid_t loc, const char *path, GoldenGroupFunc check, gpointer data);

gboolean golden_has (hid_t loc, const char *name);
hid_t golden_open_group (hid_t loc, const char *name);

gboolean golden_has_attr (hid_t object, const char *name);
double golden_attr_double (hid_t object, const char *name);
int64_t golden_attr_int (hid_t object, const char *name);
char *golden_attr_string (hid_t object, const char *name); /* g_free () */
/* @values gets the first @n numbers; their count is returned. */
int64_t golden_attr_doubles (hid_t object, const char *name, double *values, int64_t n);
/* Attributes of the dataset @loc/@dataset; @values gets @n of them at most and the count is returned. */
double golden_dataset_attr_double (hid_t loc, const char *dataset, const char *name);
int64_t golden_dataset_attr_doubles (hid_t loc, const char *dataset, const char *name, double *values, int64_t n);

/* Whole datasets converted to the type asked for, freed with g_free (). @shape may be NULL; unused axes get 1. */
double *golden_read_double (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK]);
float *golden_read_float (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK]);
int32_t *golden_read_int32 (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK]);
int64_t *golden_read_int64 (hid_t loc, const char *name, int64_t shape[GOLDEN_MAX_RANK]);
int64_t golden_count (const int64_t shape[GOLDEN_MAX_RANK]);

/* The geometry a case describes in its attributes, angles and axial_shifts, with its volume; NULL for a kind that is
 * not built (translation, multi-axis). */
LamGeometry *golden_geometry (hid_t group);

/* What was compared: cases and worst error, a line for each kind. */
typedef struct _GoldenTally GoldenTally;
GoldenTally *golden_tally_new (void);
void golden_tally_free (GoldenTally *tally);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GoldenTally, golden_tally_free)
/* One case of @kind with @error, which must be a number <= @bound: else the test fails, naming @where. */
void golden_tally_add (GoldenTally *tally, const char *kind, const char *where, double error, double bound);
/* Prints "kind: N cases, worst E (bound B)" as TAP comments; fails the test when nothing was compared. */
void golden_tally_print (GoldenTally *tally);
int golden_tally_cases (const GoldenTally *tally, const char *kind);

/* |a - b|_2 / |b|_2, sums in double; |a|_2 when b is all zero. */
double golden_relative_float (const float *a, const double *b, int64_t n);
double golden_relative_double (const double *a, const double *b, int64_t n);

G_END_DECLS
