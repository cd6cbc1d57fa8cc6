/* route.h: where a call is computed: in the thread that asks, or on the devices. Under "auto" little work stays where it
 * is asked for, since asking the devices costs more than the work. Where that turns is measured on this machine, once for
 * a set of devices and each kind of call, and kept in the user's cache folder. Devices that were named are obeyed at any
 * size. The answer's bits do not depend on it. */
#pragma once

#include <glib.h>

#include "core/device.h"

G_BEGIN_DECLS

typedef enum { LAM_ROUTE_AUTO, LAM_ROUTE_HERE, LAM_ROUTE_DEVICES } LamRoute;
typedef enum { LAM_CALL_VALUES, LAM_CALL_JACOBIAN, LAM_CALL_GRADIENT, LAM_CALLS } LamCall;

/* Work (voxels x positions x passes of packed events) from which on @set is faster than the calling thread; INFINITY:
 * never, since they are one thread. Measured at the first question, in some 10 ms, unless an earlier process kept it. */
double lam_route_crossover (LamDevices *set, LamCall call);
gboolean lam_route_is_here (LamDevices *set, LamCall call, LamRoute asked, double work);
/* For tests: what this process knows is forgotten, and read or measured again. */
void lam_route_forget (void);

G_END_DECLS
