/* reschedule_event.h - one move of a running application, and what it cost. */
#ifndef GRIDPLAN_RESCHEDULE_EVENT_H
#define GRIDPLAN_RESCHEDULE_EVENT_H

enum { RESCHEDULE_PHASES_MAX = 1000 }; /* of an application */

/* NAN is "not known" unless said otherwise. */
struct reschedule_event {
    const char *run_id;        /* the run of the application; never NULL */
    const char *from_site_id;  /* never NULL */
    const char *to_site_id;    /* the same: to other machines of the site; never NULL */
    double phase;              /* at whose end it moved, whole, from 1 */
    double checkpoint_bytes;   /* >= 0 */
    double cost_s;             /* from its stop until it went on, >= 0; never NAN */
    double predicted_saving_s; /* may be negative */
    double moved_at_s;         /* instant of the stop; never NAN */
};

#endif
