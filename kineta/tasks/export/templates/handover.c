int NAME_stepped(const NAME_run *run, double *seconds)
{
    if (seconds != 0)
        *seconds = within(run)->FIELD_SPENT;
    return (int)within(run)->FIELD_HANDED;
}

