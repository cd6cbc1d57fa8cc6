/* file-signal.h: the signal of a Pulseq file over the time that is looked at, with how far it is, or what it would need. */
#pragma once

#include <gtk/gtk.h>

#include "model/pulseq-look.h"
#include "model/pulseq-signal.h"

G_BEGIN_DECLS

#define LAM_TYPE_FILE_SIGNAL (lam_file_signal_get_type ())
G_DECLARE_FINAL_TYPE (LamFileSignal, lam_file_signal, LAM, FILE_SIGNAL, GtkWidget)

/* @tissues: of LamTissueItem, for names and colours. */
GtkWidget *lam_file_signal_new (LamPulseqSignal *signal, LamPulseqLook *look, GListModel *tissues);
void lam_file_signal_set_part (LamFileSignal *self, LamSignalPart part);
GtkWidget *lam_file_signal_get_chart (LamFileSignal *self);
/* [Start], [Stop]: the one that can be seen. */
GtkWidget *lam_file_signal_get_button (LamFileSignal *self);

G_END_DECLS
