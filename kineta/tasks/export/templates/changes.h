/* Names of contacts, ends of limits and joints with dry friction, then of switches. */
extern const char *const NAME_contact_names[PREFIX_CONTACTS + PREFIX_SWITCHES];
/*
 * The number of changes at the time, after NAME_begin, after NAME_hold, and where NAME_advance has returned PREFIX_CHANGED; and of
 * each, from 0 on, the contact or switch by number, and what it does: "strikes", "rests", "leaves", "sticks", "slips", "reverses", "switches".
 */
int NAME_changes(const NAME_run *run);
int NAME_changed_contact(const NAME_run *run, int change);
const char *NAME_change(const NAME_run *run, int change);
