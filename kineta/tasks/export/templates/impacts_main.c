        if (status >= PREFIX_PENETRATES && status <= PREFIX_NEGATIVE)
            fprintf(stderr, "'%s': ", NAME_contact_names[NAME_culprit(&run)]);
