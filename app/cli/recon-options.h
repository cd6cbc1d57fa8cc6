/* recon-options.h: the parameters of a reconstruction as options, shared by `reconstruct` and `plan`. */
#pragma once

#include "run/recon.h"

G_BEGIN_DECLS

extern const GOptionEntry lam_cli_prepare_entries[]; /* --slices --bin --tilt --defects --weights */
extern const GOptionEntry lam_cli_recon_entries[];   /* --method --iterations ... */
extern const GOptionEntry lam_cli_start_entries[];   /* --init --center --checkpoint --resume */

typedef struct {
  LamPrepareParams prepare;
  LamReconParams recon; /* lam_recon_params_clear () */
  int method;           /* LAM_CLI_FBP ... */
  LamRange slices;      /* {0, 0}: all */
  gboolean mask_set;
  LamMaskKind mask;
  gboolean center_auto;
  double center;       /* channel; NAN = not given */
  gboolean checkpoint; /* asked for; the path is in recon.checkpoint, or NULL: the usual place */
} LamCliRecon;

enum { LAM_CLI_FBP, LAM_CLI_FDK, LAM_CLI_VCD };

/* The options read and checked; usage errors that name option and range. */
gboolean lam_cli_recon_options (LamCliRecon *out, GError **error);
/* Refuses a method that is not for this kind of beam. */
gboolean lam_cli_check_method (const LamCliRecon *o, LamGeometryKind kind, GError **error);
/* "--checkpoint" with no "=FILE" made "--checkpoint=", so that it never takes the next word, which comes back where it is
 * no option. */
const char *lam_cli_bare_checkpoint (int argc, char **argv);
/* In place of the error that this word led to. */
void lam_cli_checkpoint_error (const char *word, GError **error);
/* The axis where --center puts it, if it does; refuses a channel that the detector does not have. */
gboolean lam_cli_use_center (const LamCliRecon *o, LamScan *scan, GError **error);
/* Cone beam: only slices @slices of the automatic volume of @g. Refuses a range outside. */
gboolean lam_cli_cut_slices (LamGeometry *g, LamRange slices, GError **error);
/* Refuses a --devices that cannot be; usage error. */
gboolean lam_cli_check_devices (const char *spec, GError **error);

G_END_DECLS
