        if (status >= PREFIX_PENETRATES && status <= PREFIX_HELD)
            fprintf(stderr, "'%s': ", NAME_contact_names[NAME_culprit(&run)]);
