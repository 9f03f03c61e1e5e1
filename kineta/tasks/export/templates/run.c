/* ---- the functions of the header ---- */

/* The memory fits into that of the header. */
typedef char memory_fits[sizeof(struct memory) <= sizeof(NAME_run) ? 1 : -1];

NAMES
static struct memory *inside(NAME_run *run)
{
    return (struct memory *)(void *)run;
}

static const struct memory *within(const NAME_run *run)
{
    return (const struct memory *)(const void *)run;
}

void NAME_defaults(NAME_problem *problem)
{
    static const NAME_problem defaults = {
DEFAULTS    };
    *problem = defaults;
}

int NAME_begin(NAME_run *run, const NAME_problem *problem)
{
    struct memory *m = inside(run);
    place(m);
GIVEN    m->steps = problem->max_steps;
    return (int)kernel_begin(&m->root);
}

int NAME_advance(NAME_run *run, double t)
{
    return (int)kernel_advance(&inside(run)->root, t);
}

int NAME_hold(NAME_run *run, const double tau[PREFIX_NV])
{
    struct memory *m = inside(run);
    memcpy(m->root_given + FORCES, tau, PREFIX_NV * sizeof(double));
    return (int)kernel_change(&m->root);
}

double NAME_time(const NAME_run *run)
{
    return within(run)->root.t;
}

const double *NAME_state(const NAME_run *run)
{
    return within(run)->root_state;
}

const double *NAME_observe(NAME_run *run)
{
    struct memory *m = inside(run);
    kernel_observe(&m->root);
    return m->root_values;
}

int NAME_event(const NAME_run *run)
{
    return (int)within(run)->root.event;
}

void NAME_counts(const NAME_run *run, int64_t counts[3])
{
    const struct memory *m = within(run);
    counts[0] = m->steps - m->root.left;
    counts[1] = m->FIELD_REJECTED;
    counts[2] = m->FIELD_EVALUATIONS;
}

CHANGE_SOURCEint NAME_simulate(NAME_run *run, const NAME_problem *problem, int samples, double *table, int *rows)
{
    const double step = (problem->t1 - problem->t0) / (samples - 1);
    int status = NAME_begin(run, problem);
    *rows = 0;
    while (status == PREFIX_REACHED && *rows < samples) {
        const double t = *rows == samples - 1 ? problem->t1 : *rows * step + problem->t0;
        double *row = table + *rows * (1 + PREFIX_STATES + PREFIX_OBSERVED);
        do {
            status = NAME_advance(run, t);
        } while (status == PREFIX_EVENTPASSED);
        if (status == PREFIX_REACHED || status == PREFIX_ENDED) {
            row[0] = NAME_time(run);
            memcpy(row + 1, NAME_state(run), PREFIX_STATES * sizeof(double));
            memcpy(row + 1 + PREFIX_STATES, NAME_observe(run), PREFIX_OBSERVED * sizeof(double));
            ++*rows;
        }
    }
    return status;
}

const char *NAME_message(int status)
{
    static const char *const messages[] = {
MESSAGES    };
    return status >= 0 && status < (int)(sizeof messages / sizeof *messages) ? messages[status] : "No status of a run.";
}
