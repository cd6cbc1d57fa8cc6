/* mr-options.h: what the MR commands read alike: a template with its protocol, tissues, and lists of numbers. */
#pragma once

#include "cli/json.h"
#include "mr/model.h"

G_BEGIN_DECLS

extern const GOptionEntry lam_mr_entries[];
/* Of these --tissue and --preset alone. */
extern const GOptionEntry lam_mr_tissue_entries[];

/* A list of numbers (number-list.h), or "@FILE", the column @name of a table (table.h): a GArray of double. @count: as
 * lam_number_list_parse (). */
GArray *lam_mr_list (const char *name, const char *text, int count, GError **error);
/* The NAME of "NAME=VALUES" (its @form), word @at of @all, for g_free (); @values gets what follows. A word before it of the same name is
 * wrong usage. */
char *lam_mr_name (const char *option, const char *form, GStrv all, int at, const char **values, GError **error);
/* The template with --set and --orders; usage errors list what there is. */
LamModel *lam_mr_model (const char *template, GError **error);
/* A tissue quantity as it is called, whatever the case it is typed in; NULL: there is none. */
const char *lam_mr_quantity (const char *name);
/* --tissue "T1=1000 T2=80", again for each voxel, or one with lists: "T1=200:3000:50 T2=80"; --preset NAME. Names of the
 * voxels stand in @labels (may be NULL). What @model needs and is not given is an error. */
LamTissues *lam_mr_tissues (GStrv *labels, GError **error);
gboolean lam_mr_tissues_given (void);
/* Whether samples can depend on a tissue quantity: closed forms know those that they declare, trains all
 * physics, Pulseq files T1, T2, M0, B0 and B1. */
gboolean lam_mr_knows (const LamModel *m, const char *quantity);
/* "MRF", or the file's name. */
const char *lam_mr_model_name (const LamModel *m);
/* Says which quantities of @t the model does not know, but for T1 and T2, which are given from habit. */
void lam_mr_warn_unknown (const LamModel *m, const LamTissues *t);
/* FALSE where an option of templates is given for a file. */
gboolean lam_mr_no_template_options (GError **error);
/* FALSE where --tissue or --preset is given to a command that takes none. */
gboolean lam_mr_no_tissues (GError **error);
/* Of a train that is played until it has settled, and may not have: a line, and members "residual" or, where it is no number,
 * "residual_unknown". @asked: the residual that was to be reached; 0: the usual. */
void lam_mr_say_settled (int played, double residual, double asked);
void lam_mr_json_settled (JsonBuilder *b, int played, double residual);
/* What the orders left out cost: @cut of the peak, NAN: not known. One that changes the signal by less than 1e-4 is not worth a
 * word. */
void lam_mr_say_cut (int orders, double cut);
/* Makes an error about a quantity that was not given, such as T2, one of usage. Always FALSE. */
gboolean lam_mr_missing (GError **error);
const char *lam_mr_devices (void);
/* Devices of @spec; one that cannot be read is wrong usage, one that is not there is not. */
LamDevices *lam_mr_device_set (const char *spec, GError **error);
/* --across-slice, --settle, --chunk; what was not given is 0. */
gboolean lam_mr_simulate_options (LamSimulateOptions *o, GError **error);

G_END_DECLS
