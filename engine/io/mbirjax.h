/* mbirjax.h: the two YAML texts of an MBIRJAX result file (spec/ct.md section 12), in its exact layout.
 *
 * A LamYaml is an ordered mapping under construction. In the "parameters" form each entry becomes
 *   name:
 *     val: ...
 *     recompile_flag: false
 * and arrays become ":ARRAY:" + "%.7f" numbers with a shape list; in the plain form entries are just values. Numbers
 * are written in the C locale. */
#pragma once

#include <glib.h>

#include "core/types.h"
#include "ct/geometry.h"

G_BEGIN_DECLS

typedef struct _LamYaml LamYaml;

/* @parameters: the form with val and recompile_flag (model_params); FALSE: the plain one (recon_params). */
LamYaml *lam_yaml_new (gboolean parameters);
void lam_yaml_free (LamYaml *y);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamYaml, lam_yaml_free)

/* @recompile is the entry's recompile_flag; the plain form ignores it. */
void lam_yaml_add_double (LamYaml *y, const char *name, double value, gboolean recompile);
void lam_yaml_add_int (LamYaml *y, const char *name, int64_t value, gboolean recompile);
void lam_yaml_add_bool (LamYaml *y, const char *name, gboolean value, gboolean recompile);
/* NULL is YAML's null. */
void lam_yaml_add_text (LamYaml *y, const char *name, const char *value, gboolean recompile);
void lam_yaml_add_doubles (LamYaml *y, const char *name, const double *values, int64_t n, gboolean recompile);
void lam_yaml_add_ints (LamYaml *y, const char *name, const int64_t *values, int64_t n, gboolean recompile);
/* @values of @shape in C order; parameters form only. */
void lam_yaml_add_array (LamYaml *y, const char *name, const double *values, int rank, const int64_t *shape,
                         gboolean recompile);
/* A nested mapping of doubles (regularization_params); plain form. */
void lam_yaml_add_map (LamYaml *y, const char *name, const char *const *keys, const double *values, int64_t n);
/* geometry_type, file_format, sinogram_shape, pitches, offsets, angles, distances, volume: all that MBIRJAX's model
 * holds of a geometry, and alu_unit. */
void lam_yaml_add_geometry (LamYaml *y, const LamGeometry *g);

/* The text; g_free. NULL with an error when memory ran out. */
char *lam_yaml_text (const LamYaml *y, GError **error);

G_END_DECLS
