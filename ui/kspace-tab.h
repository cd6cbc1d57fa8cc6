/* kspace-tab.h: the k-space view with its planes; of a template, why there is none. */
#pragma once

#include <adwaita.h>

#include "model/pulseq-kspace.h"

G_BEGIN_DECLS

#define LAM_TYPE_KSPACE_TAB (lam_kspace_tab_get_type ())
G_DECLARE_FINAL_TYPE (LamKspaceTab, lam_kspace_tab, LAM, KSPACE_TAB, AdwBin)

GtkWidget *lam_kspace_tab_new (LamPulseqModel *model);
GtkWidget *lam_kspace_tab_get_view (LamKspaceTab *self);
LamPulseqKspace *lam_kspace_tab_get_kspace (LamKspaceTab *self);

G_END_DECLS
