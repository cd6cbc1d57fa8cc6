/* mailbox.h: one slot for each plane; the newest snapshot wins. pthread only: no side ever waits for the other. */
#pragma once

#include "run/snapshot.h"

G_BEGIN_DECLS

typedef struct _LamMailbox LamMailbox;

LamMailbox *lam_mailbox_new (void);
void lam_mailbox_free (LamMailbox *m);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LamMailbox, lam_mailbox_free)
/* Takes the reference; an older snapshot in the slot is dropped. TRUE when the slots were all empty before: the reader
 * must be woken. */
gboolean lam_mailbox_put (LamMailbox *m, LamSnapshot *snapshot);
/* The snapshot of @plane (the caller's now), or NULL. */
LamSnapshot *lam_mailbox_take (LamMailbox *m, LamPlane plane);

G_END_DECLS
