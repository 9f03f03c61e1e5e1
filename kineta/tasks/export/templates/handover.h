/* How often the run has gone over to time stepping so far, and in *seconds, unless it is a null pointer, for how long. */
int NAME_stepped(const NAME_run *run, double *seconds);
