#include "config.h"

#include "model/facts.h"

struct _LamFact {
  GObject parent_instance;
  LamFactKind kind;
  char *label, *value, *note;
};

G_DEFINE_FINAL_TYPE (LamFact, lam_fact, G_TYPE_OBJECT)

LamFactKind
lam_fact_get_kind (LamFact *self)
{
  return self->kind;
}

const char *
lam_fact_get_label (LamFact *self)
{
  return self->label;
}

const char *
lam_fact_get_value (LamFact *self)
{
  return self->value;
}

const char *
lam_fact_get_note (LamFact *self)
{
  return self->note;
}

static void
lam_fact_finalize (GObject *object)
{
  LamFact *self = LAM_FACT (object);
  g_free (self->label);
  g_free (self->value);
  g_free (self->note);
  G_OBJECT_CLASS (lam_fact_parent_class)->finalize (object);
}

static void
lam_fact_class_init (LamFactClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = lam_fact_finalize;
}

static void
lam_fact_init (LamFact *self)
{
}

LamFact *
lam_fact_new (LamFactKind kind, const char *label, const char *value, const char *note)
{
  LamFact *self = g_object_new (LAM_TYPE_FACT, NULL);
  self->kind = kind;
  self->label = g_strdup (label);
  self->value = g_strdup (value);
  self->note = g_strdup (note);
  return self;
}
