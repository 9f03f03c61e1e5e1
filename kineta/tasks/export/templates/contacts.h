/* Names of contacts, ends of limits and joints with dry friction. */
extern const char *const NAME_contact_names[PREFIX_CONTACTS];
/*
 * The number of changes at the time, after NAME_begin, after NAME_hold, and where NAME_advance has returned PREFIX_CHANGED; and of
 * each, from 0 on, the contact by number, and what it does: "strikes", "rests", "leaves", "sticks", "slips" or "reverses".
 */
int NAME_changes(const NAME_run *run);
int NAME_changed_contact(const NAME_run *run, int change);
const char *NAME_change(const NAME_run *run, int change);
/*
 * The impacts of these changes, and their number, in rows of nine numbers: contact; impulses along the normal and the axes u, w of
 * the plane [N s]; velocities along the normal before and after [m/s or rad/s]; energy lost [J]; two numbers of the source.
 */
int NAME_impacts(const NAME_run *run, const double **rows);
/* The contact that a run could not carry on with, where the status is about one. */
int NAME_culprit(const NAME_run *run);
