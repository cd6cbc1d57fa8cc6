/* facts.h: lines of a list that are told, not set: what was found in a file, how large a volume will be. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
  LAM_FACT_PLAIN,
  LAM_FACT_ASSUMED, /* not stated anywhere: marked */
  LAM_FACT_MISSING, /* needed: marked as wrong */
} LamFactKind;

#define LAM_TYPE_FACT (lam_fact_get_type ())
G_DECLARE_FINAL_TYPE (LamFact, lam_fact, LAM, FACT, GObject)

/* Texts are translated; @note may be NULL. A fact never changes: lists are filled anew. */
LamFact *lam_fact_new (LamFactKind kind, const char *label, const char *value, const char *note);
LamFactKind lam_fact_get_kind (LamFact *self);
const char *lam_fact_get_label (LamFact *self);
const char *lam_fact_get_value (LamFact *self);
const char *lam_fact_get_note (LamFact *self);

G_END_DECLS
