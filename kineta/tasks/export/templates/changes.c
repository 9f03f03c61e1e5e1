int NAME_changes(const NAME_run *run)
{
    return (int)within(run)->FIELD_FOUND;
}

int NAME_changed_contact(const NAME_run *run, int change)
{
    return (int)within(run)->FIELD_TOLD[2 * change];
}

const char *NAME_change(const NAME_run *run, int change)
{
    static const char *const words[] = {
CHANGES    };
    return words[(int)within(run)->FIELD_TOLD[2 * change + 1]];
}

