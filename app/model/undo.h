/* undo.h: every edit of the session, as a stack of named steps.
 *
 * An edit is a target, its state before and after, and the function that puts a state back. Edits between begin and
 * end are one step ("a drag is one step"); quick repeats of the same edit (a held spin button) join as well. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define LAM_TYPE_UNDO (lam_undo_get_type ())
G_DECLARE_FINAL_TYPE (LamUndo, lam_undo, LAM, UNDO, GObject)

typedef void (*LamUndoApply) (GObject *target, GVariant *state);

/* Properties: can-undo, can-redo, undo-name, redo-name (the name of the step, NULL when there is none). */
LamUndo *lam_undo_new (void);

/* Records that @target went from @before to @after; the caller has applied it already. Takes floating variants.
 * Ignored while a step is being undone or redone, and when nothing changed. */
void lam_undo_push (LamUndo *self, const char *name, GObject *target, LamUndoApply apply, GVariant *before,
                    GVariant *after);

/* Edits until the matching end are one step. Nests; the outermost @name counts. */
void lam_undo_begin (LamUndo *self, const char *name);
void lam_undo_end (LamUndo *self);

gboolean lam_undo_undo (LamUndo *self);
gboolean lam_undo_redo (LamUndo *self);
void lam_undo_clear (LamUndo *self);

gboolean lam_undo_can_undo (LamUndo *self);
gboolean lam_undo_can_redo (LamUndo *self);
const char *lam_undo_get_undo_name (LamUndo *self);
const char *lam_undo_get_redo_name (LamUndo *self);

/* How many steps can be undone. */
guint lam_undo_get_n_steps (LamUndo *self);

/* Repeats of one edit within @ms of each other join; 0 = never. Default 800. */
void lam_undo_set_merge_window (LamUndo *self, guint ms);

/* Adds the actions "undo" and "redo" to @map; their enabled state follows the stack. */
void lam_undo_add_actions (LamUndo *self, GActionMap *map);

G_END_DECLS
