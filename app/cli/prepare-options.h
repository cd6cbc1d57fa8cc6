/* prepare-options.h: corrections of a scan's samples, shared by the commands that prepare one. */
#pragma once

#include "run/prepare.h"

G_BEGIN_DECLS

/* --crop --bad-pixels --background --zingers --stripes --stripe-snr --stripe-size --stripe-sigma. */
extern const GOptionEntry lam_cli_correct_entries[];

/* Puts them into @params; usage errors, and those of a list of bad pixels. */
gboolean lam_cli_correct_options (LamPrepareParams *params, GError **error);
/* Any of them was given. */
gboolean lam_cli_correct_given (void);

G_END_DECLS
